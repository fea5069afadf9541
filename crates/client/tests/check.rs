//! Judging servers: every fault is found, and a server without one is found without.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use std::time::Duration;

use antiphon_client::check::{self, Group, Options, Report, Verdict};
use antiphon_client::{ErrorKind, Tool};
use serde_json::Value;
use support::{
    raw::{End, Reply, Server},
    reference::{Fault, Reference},
    stream::{frames, saying},
};

async fn judge(fault: Option<Fault>, agent: &str, options: Options) -> Report {
    let server = Reference::start(fault).await;
    check::judge(server.url(agent), options).await.unwrap()
}

fn with_tool() -> Options {
    let tool = Tool::new("change_background", "Change the background.");
    Options::default().probe("change the background").tool(tool)
}

/// The rules that a report finds broken.
fn broken(report: &Report) -> Vec<&'static str> {
    report.broken().map(|finding| finding.rule).collect()
}

/// The agent on which a fault shows, and the rule that has to be found broken.
fn expected(fault: Fault) -> (&'static str, &'static str) {
    let chat = "agentic_chat";
    match fault {
        Fault::NoRunStarted => (chat, "first-event"),
        Fault::NoTerminal => (chat, "terminal"),
        Fault::WrongRunId => (chat, "run-id"),
        Fault::WrongThreadId => (chat, "thread-id"),
        Fault::NoProtocolVersion => (chat, "protocol-version"),
        Fault::AfterFinished => (chat, "after-finish"),
        Fault::OpenMessage => (chat, "still-open"),
        Fault::ContentBeforeStart => (chat, "not-open"),
        Fault::UnknownEvent | Fault::Thinking => (chat, "known-events"),
        Fault::UnknownField => (chat, "known-members"),
        Fault::NullOptional => (chat, "null-optional"),
        Fault::FloatTimestamp | Fault::BadRole => (chat, "schema"),
        Fault::BadPatch => ("shared_state", "state-delta"),
        Fault::PendingWrong => (chat, "pending-tool-calls"),
        Fault::AnswersFrontend => (chat, "frontend-answered"),
        Fault::SuccessWithInterrupts => ("interrupt", "known-members"),
        Fault::EmptyInterrupts => ("interrupt", "schema"),
        Fault::UsageSum => (chat, "usage-total"),
        Fault::ReuseMessageId => (chat, "message-id-reused"),
        Fault::OpenStep => ("agentic_generative_ui", "still-open"),
        Fault::Crlf | Fault::TwoPerFrame | Fault::CutFrame => (chat, "framing"),
        Fault::JsonContentType => (chat, "content-type"),
        Fault::Buffered => (chat, "streaming"),
        Fault::ErrorHtml => (chat, "error-json"),
        Fault::LenientInput => (chat, "refuses-fields"),
        Fault::NoDowngrade => ("cancelled", "pre-1.0-peer"),
    }
}

#[tokio::test]
async fn every_fault_is_found_by_its_rule_and_with_its_place() {
    for &fault in Fault::ALL {
        let (agent, rule) = expected(fault);
        let options = match fault {
            Fault::PendingWrong | Fault::AnswersFrontend => with_tool(),
            _ => Options::default(),
        };
        // The group that the fault is of, for speed; a fault that shows in all streams shows here.
        let group = match fault {
            Fault::ErrorHtml | Fault::LenientInput => Group::Refusals,
            Fault::NoDowngrade => Group::Versions,
            _ => Group::Run,
        };
        let report = judge(Some(fault), agent, options.only([group])).await;
        let name = fault.name();
        let finding = report.broken().find(|finding| finding.rule == rule);
        let finding = finding.unwrap_or_else(|| panic!("{name}: {rule} is not found: {report}"));
        let Verdict::Broken { seen, .. } = &finding.verdict else {
            panic!("{name}: broken, and how: {finding:?}");
        };
        assert!(
            !seen[0].place.is_empty() && !seen[0].what.is_empty(),
            "{name}"
        );
        assert!(report.to_string().contains(&seen[0].place), "{name}");
        // One fault is not told as many; what it hides or drags along may be.
        assert!(broken(&report).len() <= 3, "{name}: {:?}", broken(&report));
    }
}

#[tokio::test]
async fn a_server_without_a_fault_is_found_without() {
    let report = judge(None, "agentic_chat", Options::default()).await;
    assert_eq!(broken(&report), Vec::<&str>::new(), "{report}");
    assert!(report.is_ok());
    // What the other agents show: questions, pending calls, snapshots, chunks, failures.
    for agent in [
        "interrupt",
        "shared_state",
        "agentic_generative_ui",
        "snapshot",
        "chunks",
        "subagents",
    ] {
        let options = Options::default().only([Group::Run, Group::Negotiation, Group::Versions]);
        let report = judge(None, agent, options).await;
        assert_eq!(broken(&report), Vec::<&str>::new(), "{agent}: {report}");
    }
    let report = judge(None, "agentic_chat", with_tool().only([Group::Run])).await;
    assert_eq!(broken(&report), Vec::<&str>::new(), "{report}");
}

#[tokio::test]
async fn a_run_that_fails_is_told_and_is_no_broken_rule_of_the_protocol() {
    let report = judge(None, "error", Options::default().only([Group::Run])).await;
    assert_eq!(broken(&report), ["probe"]);
    assert!(report.is_ok());
    assert!(report.to_string().contains("the model is down"), "{report}");
}

#[tokio::test]
async fn questions_are_left_alone() {
    let server = Server::answering(|number, request| {
        assert!(!request.contains("resume"), "nothing is answered");
        let question = serde_json::json!([{"id": "i1", "reason": "confirmation"}]);
        let end = serde_json::json!({"outcome": {"type": "interrupt", "interrupts": question}});
        let events = match number {
            0 => support::stream::run(request, Vec::new(), &end),
            _ => saying(request, "went on anyway"),
        };
        let head = "200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-store";
        Reply::new(head, frames(&events))
    })
    .await;
    let options = Options::default().only([Group::Run]);
    let report = check::judge(&server.url, options).await.unwrap();
    assert_eq!(broken(&report), ["uncovered-interrupt"], "{report}");
}

#[tokio::test]
async fn a_body_that_stays_open_and_one_that_breaks_are_found() {
    for (end, rule) in [(End::Hang, "body-ends"), (End::Cut, "framing")] {
        let server = Server::answering(move |_, request| {
            let head = "200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-store";
            Reply::new(head, frames(&saying(request, "Hello")))
                .end(end)
                .pieces_of(99)
        })
        .await;
        let options = Options::default()
            .only([Group::Run])
            .idle(Duration::from_millis(400));
        let report = check::judge(&server.url, options).await.unwrap();
        assert_eq!(broken(&report), [rule], "{report}");
    }
}

#[tokio::test]
async fn where_there_is_nothing_to_judge_is_an_error() {
    let error = check::judge("nowhere", Options::default())
        .await
        .unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Setup);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let error = check::judge(url, Options::default()).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Connect);
    let server = Reference::start(None).await;
    let error = check::judge(server.url("no_such_agent"), Options::default())
        .await
        .unwrap_err();
    assert_eq!(error.status_code(), Some(404));
    let refusing = Server::start([Reply::new("401 Unauthorized", "no token s3cret-t0ken")]).await;
    let options = Options::default().token("s3cret-t0ken");
    assert!(!format!("{options:?}").contains("s3cret"));
    let error = check::judge(&refusing.url, options).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the server answered 401: no token [redacted]"
    );
}

#[tokio::test]
async fn a_report_is_for_people_for_programs_and_for_ci() {
    let report = judge(
        Some(Fault::UsageSum),
        "agentic_chat",
        Options::default().only([Group::Run]),
    )
    .await;
    let text = report.to_string();
    assert!(text.contains("must usage-total: total tokens are input and output\n    first run, event 6 RUN_FINISHED: "), "{text}");
    let json: Value = serde_json::from_str(&report.to_json()).unwrap();
    let findings = json["findings"].as_array().unwrap();
    let finding = findings
        .iter()
        .find(|finding| finding["rule"] == "usage-total")
        .unwrap();
    assert_eq!(
        (&finding["level"], &finding["verdict"]),
        (&"must".into(), &"broken".into())
    );
    assert_eq!(
        finding["seen"][0]["place"],
        "first run, event 6 RUN_FINISHED"
    );
    let junit = report.to_junit();
    assert!(junit.contains("failures=\"1\""), "{junit}");
    assert!(junit.contains("<testcase classname=\"must.usage-total\" name=\"total tokens are input and output\"><failure"));
    assert_eq!(junit.matches("<testcase").count(), report.findings.len());
}

#[tokio::test]
async fn a_report_repeats_no_token_that_a_server_repeats() {
    let server = Server::start([Reply::new("500 Oops", "who is s3cret-t0ken?")]).await;
    let options = Options::default().token("s3cret-t0ken").only([Group::Run]);
    let report = check::judge(&server.url, options).await.unwrap();
    assert!(broken(&report).contains(&"http-status"), "{report}");
    assert!(!report.to_json().contains("s3cret"), "{report}");
}
