//! The rules that a server is judged by.

use antiphon_protocol::Rule;
use serde::Serialize;

/// How binding a rule is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Without it clients fail, or the protocol demands it.
    Must,
    /// Clients work without it, and worse.
    Should,
}

/// A rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Law {
    pub(super) id: &'static str,
    pub(super) level: Level,
    pub(super) says: &'static str,
}

const fn must(id: &'static str, says: &'static str) -> Law {
    let level = Level::Must;
    Law { id, level, says }
}

const fn should(id: &'static str, says: &'static str) -> Law {
    let level = Level::Should;
    Law { id, level, says }
}

const fn stream_must(rule: Rule, says: &'static str) -> Law {
    must(rule.as_str(), says)
}

const fn stream_should(rule: Rule, says: &'static str) -> Law {
    should(rule.as_str(), says)
}

/// What every stream of events is held to.
pub(super) const STREAM: &[Law] = &[
    must("http-status", "a run that begins is answered with 200"),
    must(
        "content-type",
        "a stream is text/event-stream, or exactly application/vnd.ag-ui.event+proto",
    ),
    must(
        "framing",
        "frames end with LF, are UTF-8, hold one JSON object each and are whole",
    ),
    must("known-events", "events are of AG-UI 1.0, none retired"),
    must("known-members", "events hold no members of their own"),
    must("schema", "members have the types that AG-UI gives them"),
    must("body-ends", "the body ends when its run has ended"),
    must("state-delta", "a delta applies to what the client holds"),
    should("arguments-json", "the arguments of a call are JSON"),
    should("no-cache", "a stream says that it is not to be cached"),
    stream_must(
        Rule::NullOptional,
        "a member without a value is left out, not null",
    ),
    stream_must(
        Rule::FirstEvent,
        "the first event is RUN_STARTED or RUN_ERROR",
    ),
    stream_must(Rule::RunActive, "a run ends before the next one begins"),
    stream_must(Rule::AfterFinish, "nothing comes after RUN_FINISHED"),
    stream_must(Rule::AfterError, "nothing comes after RUN_ERROR"),
    stream_must(Rule::AlreadyOpen, "what is open is not opened again"),
    stream_must(Rule::NotOpen, "only what is open is continued or closed"),
    stream_must(Rule::Owner, "what one subagent opened no other continues"),
    stream_must(
        Rule::Subagent,
        "a subagent begins once, under a parent that has begun",
    ),
    stream_must(
        Rule::Chunk,
        "a chunk names what it begins and does not contradict it later",
    ),
    stream_must(Rule::StillOpen, "everything is closed before the run ends"),
    stream_must(
        Rule::Terminal,
        "a stream ends with RUN_FINISHED or RUN_ERROR",
    ),
    stream_must(Rule::ThreadId, "the thread is the request's"),
    stream_must(Rule::RunId, "the run is the request's, at both ends"),
    stream_must(
        Rule::ProtocolVersion,
        "RUN_STARTED says which version the server speaks",
    ),
    stream_must(
        Rule::MessageIdReused,
        "a message id names one message of the thread",
    ),
    stream_must(
        Rule::SnapshotDuplicateId,
        "a snapshot names each message once",
    ),
    stream_should(
        Rule::ResultUnknownCall,
        "a result answers a call that was made",
    ),
    stream_must(Rule::ResultTwice, "a call is answered once"),
    stream_must(
        Rule::FrontendAnswered,
        "the client's tools are the client's to answer",
    ),
    stream_must(
        Rule::PendingToolCalls,
        "pendingToolCallIds are the unanswered calls, in order",
    ),
    stream_must(Rule::InterruptId, "interrupts have ids, each its own"),
    stream_should(
        Rule::InterruptToolCall,
        "an interrupt names a call that was made",
    ),
    stream_should(Rule::CancelledResult, "a cancelled run has no result"),
    stream_must(
        Rule::ActivityBaseline,
        "an activity changes after its snapshot",
    ),
    stream_must(Rule::UsageTotal, "total tokens are input and output"),
    stream_must(
        Rule::UsagePart,
        "a part of the tokens is not more than the whole",
    ),
    stream_must(
        Rule::OldPeer,
        "a 0.x client is sent nothing that it cannot read",
    ),
];

/// What single requests show.
pub(super) const PROBED: &[Law] = &[
    should("probe", "the run of the probe does not fail"),
    should("streaming", "events arrive as they happen"),
    must(
        "second-turn",
        "a thread goes on with the history that the first run made",
    ),
    must(
        "uncovered-interrupt",
        "a question that is not answered is neither executed nor a success",
    ),
    must(
        "negotiation-sse",
        "who does not name protobuf gets server-sent events",
    ),
    must(
        "negotiation-proto",
        "protobuf, where it is offered, tells the same run",
    ),
    must(
        "version-served",
        "1.x clients, unreadable versions and none are served",
    ),
    must(
        "version-own",
        "the declared version is the server's own and no echo",
    ),
    must(
        "version-foreign",
        "another major version is served, or refused before any stream",
    ),
    must(
        "input-minimal",
        "tools, context, state and forwardedProps may be absent",
    ),
    must(
        "input-unknown-member",
        "unknown members of the input are ignored",
    ),
    must(
        "input-metadata",
        "metadata may be anywhere and hold anything",
    ),
    must("input-state", "state may be any JSON value"),
    must(
        "input-roles",
        "every message role and content form is taken",
    ),
    must("input-text", "any text survives, in ids too"),
    must(
        "input-unknown-role",
        "a message of an unknown role is left out and the run goes on",
    ),
    must(
        "input-unknown-part",
        "a content part of an unknown type is left out and the run goes on",
    ),
    must(
        "input-doubtful",
        "doubtful input is served, or refused before any stream",
    ),
    must(
        "refuses-malformed",
        "a body that is not a JSON object is refused before any stream",
    ),
    must(
        "refuses-fields",
        "a missing or malformed member is refused before any stream",
    ),
    should("error-json", "a refusal's body is a JSON object"),
    should(
        "method",
        "other methods are refused with 405 and Allow: POST",
    ),
    should("path", "an unknown path is refused with 404"),
    must(
        "robust",
        "no request makes the server fail, or stop answering",
    ),
    must("parallel", "runs at the same time do not mix"),
];

/// Returns the rule of this name.
pub(super) fn law(id: &str) -> Option<&'static Law> {
    STREAM.iter().chain(PROBED).find(|law| law.id == id)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_rule_has_its_own_name() {
        let mut ids = HashSet::new();
        for law in STREAM.iter().chain(PROBED) {
            assert!(ids.insert(law.id), "{} is there twice", law.id);
        }
    }
}
