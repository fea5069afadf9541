//! The whole file: where it listens, what it keeps, who may come, and its agents.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::num::NonZeroUsize;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

use super::agent::AgentEntry;
use super::units::{Secret, Size, Time};

/// An agent file of Antiphon.
#[derive(Debug, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Antiphon agent file")]
pub(crate) struct Document {
    /// Where to listen, as HOST:PORT; 127.0.0.1:8888 if absent. Port 0 takes a free one. An address
    /// that other machines reach needs `auth`.
    pub(crate) listen: Option<String>,
    /// Where threads are kept: `memory` or `sqlite:PATH`, relative to the file; sqlite:antiphon.db if
    /// absent.
    pub(crate) store: Option<String>,
    /// How several replicas share live runs; `local`, which is one process, if absent.
    pub(crate) bus: Option<String>,
    /// Prefix of CUSTOM event names and member of an interrupt's metadata; `harnest` if absent.
    pub(crate) namespace: Option<String>,
    /// Web origins whose pages may call, such as http://localhost:3000; none if absent.
    #[serde(default)]
    pub(crate) cors: Vec<String>,
    /// A comment line goes out after this much silence on a stream; 15s if absent.
    pub(crate) heartbeat: Option<Time>,
    /// What becomes of an answer that repeats one already given; `replay` if absent.
    #[serde(default)]
    pub(crate) repeated_answers: RepeatedAnswers,
    /// Who may come; if absent, one local user, over loopback only.
    pub(crate) auth: Option<AuthEntry>,
    /// Bounds of requests and runs.
    #[serde(default)]
    pub(crate) limits: LimitsEntry,
    /// The agent at `POST /` and `POST /agui`; the first one if absent.
    pub(crate) default_agent: Option<String>,
    /// The agents by name, each at `POST /agents/NAME`.
    #[schemars(extend("minProperties" = 1))]
    pub(crate) agents: InOrder<AgentEntry>,
}

/// What becomes of an answer that repeats one already given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RepeatedAnswers {
    /// It is answered with the recorded outcome.
    #[default]
    Replay,
    /// It is refused with 409.
    Reject,
}

/// Who may come.
#[derive(Debug, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AuthEntry {
    /// Bearer tokens of users.
    #[serde(default)]
    pub(crate) tokens: Vec<UserToken>,
    /// Tokens of an identity provider; the user is the claim `sub`.
    pub(crate) jwt: Option<JwtEntry>,
    /// Bearer tokens of other systems, which may settle external waits and nothing else.
    #[serde(default)]
    pub(crate) service_tokens: Vec<ServiceToken>,
}

/// Whose tokens are taken, and how they must be signed.
#[derive(Debug, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct JwtEntry {
    /// Where the provider publishes its keys: an https address.
    pub(crate) jwks_url: String,
    /// The provider, as the claim `iss` names it.
    pub(crate) issuer: String,
    /// This server, as the claim `aud` names it.
    pub(crate) audience: String,
    /// Signature algorithms; RS256 if absent.
    #[serde(default)]
    pub(crate) algorithms: Vec<String>,
}

/// A user's bearer token.
#[derive(Debug, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UserToken {
    /// The token.
    pub(crate) token: Secret,
    /// The user that it stands for.
    pub(crate) user: String,
}

/// A system's bearer token.
#[derive(Debug, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ServiceToken {
    /// The token.
    pub(crate) token: Secret,
    /// The system's name, for the record.
    pub(crate) name: String,
}

/// Bounds of requests and runs.
#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LimitsEntry {
    /// Size of a request's body; 4MiB if absent.
    pub(crate) body: Option<Size>,
    /// Runs at the same time; 1024 if absent.
    pub(crate) concurrent_runs: Option<NonZeroUsize>,
    /// Runs of one user at the same time; 64 if absent.
    pub(crate) runs_per_user: Option<NonZeroUsize>,
    /// Size of a thread's state as JSON; 1MiB if absent.
    pub(crate) state: Option<Size>,
    /// Messages in a request; 2000 if absent.
    pub(crate) messages: Option<NonZeroUsize>,
    /// Depth of a request's JSON; 128 if absent.
    pub(crate) json_depth: Option<NonZeroUsize>,
}

/// A mapping whose order is kept.
#[derive(Debug, Clone)]
pub(crate) struct InOrder<T>(pub(crate) Vec<(String, T)>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for InOrder<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = Vec<(String, T)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a mapping of names")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(entries)
            }
        }
        deserializer.deserialize_map(Entries(PhantomData)).map(Self)
    }
}

impl<T: JsonSchema> JsonSchema for InOrder<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        BTreeMap::<String, T>::json_schema(generator)
    }
}
