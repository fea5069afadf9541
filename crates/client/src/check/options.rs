//! What to judge, and how.

use std::time::Duration;

use antiphon_protocol::Tool;

/// What part of a server's behaviour is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Group {
    /// The run of the probe, and a second one on the same thread.
    Run,
    /// Which encoding the server chooses.
    Negotiation,
    /// Which clients it serves, and how.
    Versions,
    /// What it takes.
    Input,
    /// What it refuses.
    Refusals,
    /// Methods, paths, abuse, parallel runs.
    Http,
}

impl Group {
    /// All groups, in the order in which they are judged.
    pub const ALL: [Self; 6] = [
        Self::Run,
        Self::Negotiation,
        Self::Versions,
        Self::Input,
        Self::Refusals,
        Self::Http,
    ];
}

/// How a server is judged.
///
/// Judging one in all groups starts some fifty runs, each with the probe's text. Where a run
/// costs money, [`only`](Self::only) the run itself may be judged.
#[derive(Clone)]
pub struct Options {
    pub(super) probe: String,
    pub(super) tools: Vec<Tool>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) groups: Vec<Group>,
    pub(super) idle: Duration,
}

impl Default for Options {
    /// All groups with the text "Hello", at most 30 s of silence.
    fn default() -> Self {
        Self {
            probe: "Hello".to_owned(),
            tools: Vec::new(),
            headers: Vec::new(),
            groups: Group::ALL.to_vec(),
            idle: Duration::from_secs(30),
        }
    }
}

impl Options {
    /// Says this to the agent in every probe. It should be answered without side effects.
    #[must_use]
    pub fn probe(mut self, text: impl Into<String>) -> Self {
        self.probe = text.into();
        self
    }

    /// Offers this tool of the client in the probes.
    #[must_use]
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Sends this token as `Authorization: Bearer`.
    #[must_use]
    pub fn token(self, token: impl AsRef<str>) -> Self {
        self.header("authorization", format!("Bearer {}", token.as_ref()))
    }

    /// Sends this header with every request.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Judges these groups and no others.
    #[must_use]
    pub fn only(mut self, groups: impl IntoIterator<Item = Group>) -> Self {
        self.groups = groups.into_iter().collect();
        self
    }

    /// Sets how long the server may be silent.
    #[must_use]
    pub const fn idle(mut self, idle: Duration) -> Self {
        self.idle = idle;
        self
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let headers: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("Options")
            .field("probe", &self.probe)
            .field("tools", &self.tools)
            .field("headers", &headers)
            .field("groups", &self.groups)
            .field("idle", &self.idle)
            .finish()
    }
}
