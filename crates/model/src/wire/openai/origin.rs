//! What a server wants back with the turn that it sent: [`Finish::origin`](crate::Finish::origin).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

use super::PROVIDER;

/// Things to send back verbatim.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Origin {
    provider: String,
    /// The member in which the server sent its reasoning. Some refuse the next call of a tool loop without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reasoning_member: Option<String>,
    /// By call id: what came beside the call, such as Gemini's thought signature.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    extra_content: BTreeMap<String, Value>,
}

impl Origin {
    /// Reads what this wire wrote earlier; nothing of another provider.
    pub(super) fn read(origin: Option<&Value>) -> Option<Self> {
        let origin = origin
            .filter(|origin| origin.get("provider").and_then(Value::as_str) == Some(PROVIDER))?;
        Self::deserialize(origin).ok()
    }

    pub(super) fn write(self) -> Option<Value> {
        if self == Self::default() {
            return None;
        }
        serde_json::to_value(Self {
            provider: PROVIDER.to_owned(),
            ..self
        })
        .ok()
    }

    pub(super) fn reasoning_came_in(&mut self, member: &str) {
        if self.reasoning_member.is_none() {
            self.reasoning_member = Some(member.to_owned());
        }
    }

    /// The member in which reasoning goes back; only names that this wire knows.
    pub(super) fn reasoning_member(&self) -> Option<&'static str> {
        ["reasoning_content", "reasoning"]
            .into_iter()
            .find(|name| self.reasoning_member.as_deref() == Some(name))
    }

    pub(super) fn keep_extra_content(&mut self, call: &str, extra: &RawValue) {
        if let Ok(value) = serde_json::from_str::<Value>(extra.get())
            && !value.is_null()
        {
            self.extra_content.insert(call.to_owned(), value);
        }
    }

    pub(super) fn extra_content(&self, call: &str) -> Option<&Value> {
        self.extra_content.get(call)
    }
}
