//! The two users, the thread that waits, and the refusal that changes nothing.

use antiphon_e2e::{
    binary::Store,
    http::{Answer, Request},
    json::{list, text as member},
    play::{Play, Setting, Step, Stop},
    provider::{
        ModelRequest, Reply,
        chunks::{Call, calls, text},
    },
    run::Run,
};
use serde_json::{Value, json};

/// Why a request is refused: the status, and the codes that are right.
pub(crate) type Why<'a> = (u16, &'a [&'a str]);

/// Something else is open.
pub(crate) const PENDING: Why<'static> = (409, &["interaction_pending"]);
/// It was answered before.
pub(crate) const SETTLED: Why<'static> = (409, &["interaction_settled"]);
/// Nothing of that name is open, and nothing else is.
pub(crate) const UNKNOWN: Why<'static> = (409, &["interaction_unknown"]);
/// There is no such external wait.
pub(crate) const NO_WAIT: Why<'static> = (404, &["interaction_unknown"]);
/// There is nothing of that name for this user.
pub(crate) const NOT_FOUND: Why<'static> = (404, &["not_found"]);
/// The answer cannot be taken as it is.
pub(crate) const INVALID: Why<'static> = (400, &["invalid_resume"]);
/// The request cannot be taken as it is.
pub(crate) const BAD_INPUT: Why<'static> = (400, &["invalid_input"]);
/// The answer is wrong in itself, or the request that brings it.
pub(crate) const MALFORMED: Why<'static> = (400, &["invalid_resume", "invalid_input"]);
/// The answer does not fit its schema.
pub(crate) const UNFIT: Why<'static> = (400, &["answer_unfit"]);
/// The question does not offer edits.
pub(crate) const NO_EDITS: Why<'static> = (400, &["edits_not_allowed"]);
/// A private answer came with something else.
pub(crate) const NOT_ALONE: Why<'static> = (400, &["private_input_not_alone"]);
/// The thread never made the call.
pub(crate) const NO_CALL: Why<'static> = (400, &["tool_call_unknown"]);
/// Another kind of principal may do that.
pub(crate) const FORBIDDEN: Why<'static> = (403, &["forbidden"]);
/// Nobody that the server knows asks.
pub(crate) const NOBODY: Why<'static> = (401, &["unauthenticated"]);

/// The agent file's users and its service.
pub(crate) fn auth() -> Value {
    json!({"auth": {
        "tokens": [{"token": "alice-token", "user": "alice"}, {"token": "bob-token", "user": "bob"}],
        "service_tokens": [{"token": "worker-token", "name": "kyc-worker"}],
    }})
}

/// A header that says who asks.
pub(crate) fn bearer(token: &str) -> (String, String) {
    ("Authorization".to_owned(), format!("Bearer {token}"))
}

/// A setting with the users, and with these members of the agent file.
pub(crate) fn setting(store: Store, more: &Value) -> Setting {
    let mut top = auth();
    for (key, value) in more.as_object().into_iter().flatten() {
        top[key] = value.clone();
    }
    Setting {
        store,
        top,
        ..Setting::default()
    }
}

/// Alice's play with an agent of these tools, in memory.
pub(crate) async fn alice(agent: Value) -> Step<Play> {
    alice_on(agent, setting(Store::Memory, &json!({}))).await
}

/// Alice's play in a setting of its own.
pub(crate) async fn alice_on(agent: Value, setting: Setting) -> Step<Play> {
    let mut play = Play::set(agent, setting).await?;
    play.headers = vec![bearer("alice-token")];
    Ok(play)
}

/// The gated tool of most tests.
pub(crate) fn pay() -> Value {
    let parameters =
        json!({"type": "object", "properties": {"eur": {"type": "integer"}}, "required": ["eur"]});
    json!({"name": "pay", "parameters": parameters, "returns": "paid", "approval": true})
}

/// A model that makes these calls for `go`, and answers results and other words with a text.
pub(crate) fn calls_for_go(play: &Play, made: Vec<Call>) {
    play.stage.provider.answer(move |request| {
        Reply::stream(match request.last_user().as_str() {
            _ if request.ends_with_result() => text("All set."),
            "go" => calls(&made),
            _ => text("Noted."),
        })
    });
}

/// One payment of this amount.
pub(crate) fn payment(id: &str, eur: u32) -> Call {
    Call::new(id, "pay", &json!({ "eur": eur }))
}

/// Plays the first run up to its interrupts; returns how many there are.
pub(crate) async fn asked(play: &mut Play) -> Step<usize> {
    let body = play.body(&json!({}));
    let run = play.post(&body).await?;
    match run.interrupts().len() {
        0 => Err(Stop::new(format!("nothing is asked: {}", run.ending()))),
        count => Ok(count),
    }
}

/// A thread of Alice's that waits for the approval of one payment.
pub(crate) async fn waiting() -> Step<Play> {
    let mut play = alice(json!({"tools": [pay()]})).await?;
    calls_for_go(&play, vec![payment("c1", 5)]);
    asked(&mut play).await?;
    Ok(play)
}

/// A resume entry of any shape for the n-th open interrupt.
pub(crate) fn entry(play: &Play, at: usize, change: &Value) -> Value {
    let open = play.open.get(at).cloned().unwrap_or_default();
    let mut entry = json!({"interruptId": open["id"], "status": "resolved"});
    for (key, value) in change.as_object().into_iter().flatten() {
        entry[key] = value.clone();
    }
    entry
}

/// The body that answers with these entries and holds what the client holds.
pub(crate) fn resume(play: &Play, entries: &[Value]) -> Value {
    play.next_body(&[], &json!({ "resume": entries }))
}

/// Everything that a refused request must leave as it is.
#[derive(Debug, PartialEq)]
pub(crate) struct Look {
    executions: usize,
    model_requests: usize,
    messages: Value,
    interactions: Value,
}

/// Looks at Alice's thread.
pub(crate) async fn look(play: &Play) -> Step<Look> {
    let thread = format!("/sessions/{}", play.thread);
    Ok(Look {
        executions: play.stage.provider.execution_count(),
        model_requests: play.stage.provider.request_count(),
        messages: play.get(&format!("{thread}/messages")).await?.json(),
        interactions: play.get(&format!("{thread}/interactions")).await?.json(),
    })
}

/// The ids of what is open in Alice's thread, by any route.
pub(crate) async fn open_ids(play: &Play) -> Step<Vec<String>> {
    let path = format!("/sessions/{}/interactions", play.thread);
    let record = play.get(&path).await?.json();
    let ids = list(&record, "open").iter();
    Ok(ids.map(|i| member(i, "id").to_owned()).collect())
}

/// The decisions of a thread: word and who took it.
pub(crate) async fn decisions(play: &Play) -> Step<Vec<(String, String)>> {
    let path = format!("/sessions/{}/interactions", play.thread);
    let record = play.get(&path).await?.json();
    let all = list(&record, "decisions").iter();
    Ok(all
        .map(|d| (member(d, "decision").to_owned(), member(d, "by").to_owned()))
        .collect())
}

/// Posts a body that must be refused with this status and one of these codes, and must change
/// nothing.
pub(crate) async fn refused(
    play: &mut Play,
    what: &str,
    body: &Value,
    (status, codes): Why<'_>,
) -> Step<Run> {
    let before = look(play).await?;
    let run = play.start(body).await?;
    let run = play.finish_aside(run).await;
    let code = run.error_code().unwrap_or_default();
    play.check(
        run.status == status && codes.contains(&code.as_str()),
        format!(
            "{what}: HTTP {} {}, expected {status} {codes:?}",
            run.status,
            run.text_body()
        ),
    );
    unchanged(play, what, &before).await?;
    Ok(run)
}

/// As [`refused`], for a request to another route, by whoever it says.
pub(crate) async fn refused_request(
    play: &mut Play,
    what: &str,
    request: &Request,
    (status, codes): Why<'_>,
) -> Step<Answer> {
    let before = look(play).await?;
    let answer = play.stage.server.fetch(request).await?;
    let body = answer.json();
    let code = member(&body["error"], "code");
    play.check(
        answer.status == status && codes.contains(&code),
        format!(
            "{what}: HTTP {} {}, expected {status} {codes:?}",
            answer.status,
            answer.text()
        ),
    );
    unchanged(play, what, &before).await?;
    Ok(answer)
}

async fn unchanged(play: &mut Play, what: &str, before: &Look) -> Step {
    let after = look(play).await?;
    let text = format!("{what}: it changed {before:?} to {after:?}");
    play.check(after == *before, text);
    Ok(())
}

/// Approves everything that is open, to show that it still can be.
pub(crate) async fn approve_all(play: &mut Play) -> Step<Run> {
    let count = play.open.len();
    let yes = json!({"payload": {"approved": true}});
    let entries: Vec<_> = (0..count).map(|at| entry(play, at, &yes)).collect();
    let body = resume(play, &entries);
    let run = play.post(&body).await?;
    play.expect_success(&run, "the right answer afterwards", Some("All set."));
    Ok(run)
}

/// What a model was told about a call, in its newest request.
pub(crate) fn told(play: &Play, call: &str) -> String {
    let requests = play.stage.provider.requests();
    let results = requests.last().map(|r: &ModelRequest| r.results_of(call));
    results.unwrap_or_default().concat()
}
