//! Every fault of the reference server gives the right error, and keeps what was delivered.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use antiphon_client::{Dialect, Ended, Error, ErrorKind, Event, Thread};
use antiphon_protocol::{Rule, Tool, Warning};
use serde_json::json;
use support::{
    client, kinds, read,
    reference::{Fault, Reference},
};

/// What became of a run.
struct Seen {
    thread: Thread,
    events: Vec<Event>,
    warnings: Vec<Warning>,
    end: Result<Ended, Error>,
}

/// The agent on which a fault shows.
fn agent_for(fault: Fault) -> &'static str {
    match fault {
        Fault::BadPatch => "shared_state",
        Fault::OpenStep => "agentic_generative_ui",
        Fault::SuccessWithInterrupts | Fault::EmptyInterrupts => "interrupt",
        Fault::NoDowngrade => "cancelled",
        Fault::ErrorHtml => "no_such_agent",
        _ => "agentic_chat",
    }
}

async fn run(fault: Option<Fault>, agent: &str, strict: bool) -> Seen {
    let server = Reference::start(fault).await;
    let mut client = client(&server.url(agent)).strict(strict);
    if fault == Some(Fault::NoDowngrade) {
        client = client.max_protocol(Dialect::V0);
    }
    let mut thread = client.thread("t1");
    let mut words = "hi there";
    if matches!(fault, Some(Fault::PendingWrong | Fault::AnswersFrontend)) {
        thread = thread.tool(Tool::new("change_background", "Change the background."));
        words = "change the background";
    }
    let (mut events, mut warnings) = (Vec::new(), Vec::new());
    let end = match thread.send(words).await {
        Err(error) => Err(error),
        Ok(mut run) => {
            events = read(&mut run).await.0;
            warnings = run.warnings().to_vec();
            run.end()
        }
    };
    Seen {
        thread,
        events,
        warnings,
        end,
    }
}

/// What a fault has to lead to.
#[derive(Debug)]
enum Expected {
    Fails(ErrorKind),
    /// The run goes on, with a warning that says this.
    Warns(&'static str),
    Passes,
}

fn expected(fault: Fault) -> Expected {
    let illegal = |rule| Expected::Fails(ErrorKind::Illegal { rule });
    match fault {
        Fault::NoRunStarted => illegal(Rule::FirstEvent),
        Fault::NoTerminal | Fault::CutFrame => Expected::Fails(ErrorKind::Truncated),
        Fault::WrongRunId => illegal(Rule::RunId),
        Fault::WrongThreadId => illegal(Rule::ThreadId),
        Fault::NoProtocolVersion => Expected::Warns("protocol-version"),
        Fault::AfterFinished => illegal(Rule::AfterFinish),
        Fault::OpenMessage | Fault::OpenStep => illegal(Rule::StillOpen),
        Fault::ContentBeforeStart => illegal(Rule::NotOpen),
        Fault::UnknownEvent => Expected::Warns("PRIVATE_EVENT"),
        Fault::UnknownField => Expected::Warns("color"),
        Fault::NullOptional => Expected::Warns("null"),
        Fault::FloatTimestamp | Fault::BadRole | Fault::EmptyInterrupts | Fault::TwoPerFrame => {
            Expected::Fails(ErrorKind::Malformed)
        }
        Fault::BadPatch => Expected::Warns("does not apply"),
        Fault::PendingWrong => illegal(Rule::PendingToolCalls),
        Fault::AnswersFrontend => Expected::Warns("frontend-answered"),
        Fault::SuccessWithInterrupts => Expected::Warns("interrupts"),
        Fault::UsageSum => Expected::Warns("usage-total"),
        Fault::ReuseMessageId => Expected::Warns("message-id-reused"),
        Fault::JsonContentType => Expected::Fails(ErrorKind::NotAgUi),
        Fault::ErrorHtml => Expected::Fails(ErrorKind::Status {
            status: 404,
            code: None,
        }),
        Fault::NoDowngrade => Expected::Warns("pre-1.0-peer"),
        Fault::Thinking => Expected::Warns("retired"),
        Fault::Crlf | Fault::Buffered | Fault::LenientInput => Expected::Passes,
    }
}

#[tokio::test]
async fn every_fault_gives_the_right_error_or_warning() {
    for &fault in Fault::ALL {
        let name = fault.name();
        let seen = run(Some(fault), agent_for(fault), false).await;
        let warned: Vec<String> = seen.warnings.iter().map(ToString::to_string).collect();
        match (expected(fault), &seen.end) {
            (Expected::Fails(kind), Err(error)) => {
                assert_eq!(error.kind(), &kind, "{name}: {error}");
            }
            (Expected::Warns(word), Ok(_)) => {
                assert!(
                    warned.iter().any(|warning| warning.contains(word)),
                    "{name}: {warned:?}"
                );
            }
            (Expected::Passes, Ok(_)) => assert!(warned.is_empty(), "{name}: {warned:?}"),
            (expected, end) => panic!("{name}: expected {expected:?}, got {end:?}"),
        }
    }
}

#[tokio::test]
async fn a_strict_client_takes_no_fault_of_a_stream() {
    for &fault in Fault::ALL {
        let seen = run(Some(fault), agent_for(fault), true).await;
        // These are no matter between this client and the stream that it reads.
        let harmless = matches!(fault, Fault::Crlf | Fault::Buffered | Fault::LenientInput);
        assert_eq!(
            seen.end.is_ok(),
            harmless,
            "{}: {:?}",
            fault.name(),
            seen.end
        );
    }
}

#[tokio::test]
async fn without_a_fault_nothing_is_wrong() {
    for agent in [
        "agentic_chat",
        "backend_tool_rendering",
        "interrupt",
        "shared_state",
        "agentic_generative_ui",
        "snapshot",
        "reasoning",
        "activity",
        "chunks",
        "subagents",
        "cancelled",
        "passthrough",
    ] {
        let seen = run(None, agent, true).await;
        assert!(seen.end.is_ok(), "{agent}: {:?}", seen.end);
        assert_eq!(seen.warnings, [], "{agent}");
        assert!(seen.events.len() > 2, "{agent}");
    }
}

#[tokio::test]
async fn what_was_delivered_before_a_failure_is_kept() {
    let seen = run(Some(Fault::CutFrame), "agentic_chat", false).await;
    assert_eq!(seen.end.unwrap_err().kind(), &ErrorKind::Truncated);
    assert_eq!(kinds(&seen.events).last(), Some(&"TEXT_MESSAGE_END"));
    assert_eq!(seen.thread.text(), "you said: hi there");
    assert_eq!(seen.thread.messages().len(), 2);
}

#[tokio::test]
async fn a_patch_that_does_not_apply_leaves_the_state_as_it_was() {
    let seen = run(Some(Fault::BadPatch), "shared_state", false).await;
    assert_eq!(
        seen.thread.state(),
        &json!({"recipe": {"title": "Soup", "ingredients": []}})
    );
}

#[tokio::test]
async fn an_agent_that_fails_is_a_failed_run() {
    let seen = run(None, "error", false).await;
    assert_eq!(kinds(&seen.events).last(), Some(&"RUN_ERROR"));
    let error = seen.end.unwrap_err();
    let kind = ErrorKind::RunFailed {
        code: Some("upstream".to_owned()),
        message: "the model is down".to_owned(),
    };
    assert_eq!(error.kind(), &kind);
    assert_eq!(
        error.to_string(),
        "the run failed with upstream: the model is down"
    );
    assert_eq!(seen.thread.text(), "about to fail");
}

#[tokio::test]
async fn retired_events_are_read_as_reasoning() {
    let seen = run(Some(Fault::Thinking), "agentic_chat", false).await;
    assert_eq!(
        kinds(&seen.events)[1..3],
        ["REASONING_START", "REASONING_END"]
    );
}
