//! A model provider that fails, in every way: the run ends with one stable code, whatever was
//! opened is closed, none of the provider's words reach the client, nothing stays half-written,
//! and the next run on the thread works.

use std::time::Duration;

use antiphon_e2e::{
    play::{Play, Step},
    provider::{
        End, Reply, Write,
        chunks::{Call, calls, chunk, finish, piece, text},
        wire,
    },
    run::Run,
};
use serde_json::{Value, json};
use tokio::time::Instant;

/// What a provider says and nobody else may hear.
const SECRET: &str = "hunter2 at 10.0.0.7";

/// A thread whose model gives up early.
async fn play() -> Step<Play> {
    Play::with(json!({
        "model": {"timeouts": {"connect": "1s", "first_token": "400ms", "idle": "400ms"}},
        "tools": [{"name": "save_note", "parameters": {"type": "object", "properties": {"note": {"type": "string"}}, "required": ["note"]}, "returns": {"saved": true}}],
    }))
    .await
}

/// Plays one run against a provider that fails, and a second one against one that works again.
async fn failing(play: &mut Play, code: &str, reply: Reply) -> Step<Run> {
    play.stage.provider.answer(move |_| reply.clone());
    let body = play.body(&json!({}));
    let run = play.post(&body).await?;
    judge_failure(play, &run, code);
    recovers(play).await?;
    Ok(run)
}

fn judge_failure(play: &mut Play, run: &Run, code: &str) {
    play.check(run.status == 200, format!("HTTP {}", run.status));
    play.check(
        run.terminal() == Some("RUN_ERROR"),
        format!("ended with {}", run.ending()),
    );
    let got = run.error_code().unwrap_or_default();
    play.check(got == code, format!("code {got:?}, expected {code:?}"));
    let message = run
        .first("RUN_ERROR")
        .map(|e| e.text("message").to_owned())
        .unwrap_or_default();
    play.check(!message.is_empty(), "RUN_ERROR without a message");
    let said = run.text_body();
    for needle in [
        "hunter2",
        "10.0.0.7",
        "test-key",
        "127.0.0.1",
        "panicked",
        "reqwest",
        "hyper",
    ] {
        play.check(
            !said.contains(needle),
            format!("the client reads {needle:?}: {said}"),
        );
    }
    play.expect_executions(0);
}

/// The thread is free and whole: what it holds is what the next model request says.
async fn recovers(play: &mut Play) -> Step {
    play.stage
        .provider
        .answer(|_| Reply::stream(text("Better now.")));
    play.open().await?;
    let users = play
        .held
        .messages
        .iter()
        .filter(|m| m["role"] == "user")
        .count();
    play.check(
        users == 1,
        format!("the opened thread holds {users} user messages"),
    );
    let next = play.when_free("and now?").await?;
    play.expect_success(&next, "the next run", Some("Better now."));
    let requests = play.stage.provider.requests();
    if let Some(last) = requests.last() {
        let problems = wire::problems(last.wire, &last.body);
        play.check(
            problems.is_empty(),
            format!("the next model request: {problems:?}"),
        );
    }
    Ok(())
}

fn error_body() -> String {
    json!({"error": {"message": SECRET, "type": "x", "code": SECRET}}).to_string()
}

fn answers(status: u16) -> Reply {
    Reply::body(status, "application/json", error_body())
}

#[tokio::test]
async fn a_refused_connection_is_unavailable() -> Step {
    // A port that was free a moment ago and that nobody listens on.
    let port = std::net::TcpListener::bind("127.0.0.1:0")?
        .local_addr()?
        .port();
    let url = format!("http://127.0.0.1:{port}/v1");
    let mut play =
        Play::with(json!({"model": {"base_url": url, "timeouts": {"connect": "1s"}}})).await?;
    let body = play.body(&json!({}));
    let run = play.post(&body).await?;
    judge_failure(&mut play, &run, "upstream_unavailable");
    play.end().await
}

#[tokio::test]
async fn a_rejected_key_is_unauthorized_and_asked_once() -> Step {
    let mut play = play().await?;
    failing(&mut play, "upstream_unauthorized", answers(401)).await?;
    // One refused call and the one of the next run: a wrong key does not get better by asking.
    play.expect_model_requests(2);
    play.end().await
}

#[tokio::test]
async fn a_rate_limit_is_named_as_one() -> Step {
    let mut play = play().await?;
    failing(
        &mut play,
        "upstream_rate_limited",
        answers(429).header("Retry-After", "600"),
    )
    .await?;
    let asked = play.stage.provider.request_count();
    play.check(asked <= 5, format!("{asked} model requests: a storm"));
    play.end().await
}

#[tokio::test]
async fn a_rate_limit_that_passes_is_waited_for() -> Step {
    let mut play = play().await?;
    play.stage.provider.answer(|request| {
        if request.number == 1 {
            answers(429).header("Retry-After", "0")
        } else {
            Reply::stream(text("Thanks for waiting."))
        }
    });
    let body = play.body(&json!({}));
    let run = play.post(&body).await?;
    play.expect_success(&run, "the run", Some("Thanks for waiting."));
    play.end().await
}

#[tokio::test]
async fn a_broken_provider_is_unavailable() -> Step {
    let mut play = play().await?;
    failing(&mut play, "upstream_unavailable", answers(500)).await?;
    let asked = play.stage.provider.request_count();
    play.check(asked <= 5, format!("{asked} model requests: a storm"));
    play.end().await
}

#[tokio::test]
async fn a_request_that_the_provider_does_not_accept_is_not_repeated() -> Step {
    let mut play = play().await?;
    failing(&mut play, "upstream_bad_request", answers(400)).await?;
    play.expect_model_requests(2);
    play.end().await
}

#[tokio::test]
async fn silence_before_the_head_is_a_timeout() -> Step {
    let mut play = play().await?;
    let began = Instant::now();
    failing(&mut play, "upstream_timeout", Reply::silence()).await?;
    let took = began.elapsed();
    play.check(took < Duration::from_secs(8), format!("took {took:?}"));
    play.end().await
}

#[tokio::test]
async fn silence_before_the_first_token_is_a_timeout() -> Step {
    let mut play = play().await?;
    failing(
        &mut play,
        "upstream_timeout",
        Reply::stream(vec![Write::Hold]),
    )
    .await?;
    play.end().await
}

#[tokio::test]
async fn silence_between_tokens_is_a_timeout_and_closes_the_text() -> Step {
    let mut play = play().await?;
    let reply = Reply::stream(vec![piece("Half a "), Write::Hold]);
    let run = failing(&mut play, "upstream_timeout", reply).await?;
    play.check(
        run.text() == "Half a ",
        format!("the text is {:?}", run.text()),
    );
    // The model request was let go, not left hanging.
    let open = play.stage.provider.open_streams();
    play.check(open == 0, format!("{open} model streams are still open"));
    play.end().await
}

#[tokio::test]
async fn a_page_instead_of_a_stream_is_malformed() -> Step {
    let mut play = play().await?;
    let page = format!("<!doctype html><title>{SECRET}</title>");
    failing(
        &mut play,
        "upstream_malformed",
        Reply::body(200, "text/html", page),
    )
    .await?;
    play.end().await
}

#[tokio::test]
async fn a_stream_that_is_not_json_is_malformed() -> Step {
    let mut play = play().await?;
    let reply = Reply::stream(vec![
        piece("Look: "),
        Write::Bytes(format!("data: {SECRET}\n\n").into()),
    ]);
    failing(&mut play, "upstream_malformed", reply).await?;
    play.end().await
}

#[tokio::test]
async fn an_error_in_the_stream_ends_the_run() -> Step {
    let mut play = play().await?;
    let error = format!("data: {}\n\n", error_body());
    let reply = Reply::stream(vec![piece("Look: "), Write::Bytes(error.into())]);
    let run = failing(&mut play, "upstream_error", reply).await?;
    play.check(
        run.text() == "Look: ",
        format!("the text is {:?}", run.text()),
    );
    play.end().await
}

#[tokio::test]
async fn a_stream_without_its_finish_is_truncated_however_it_ends() -> Step {
    let mut play = play().await?;
    for (n, end) in [End::Chunked, End::Abort, End::Eof].into_iter().enumerate() {
        play.turn_to(&format!("cut-{n}"));
        failing(
            &mut play,
            "upstream_truncated",
            Reply::stream(vec![piece("Half a ")]).ending(end),
        )
        .await?;
    }
    play.end().await
}

#[tokio::test]
async fn a_call_cut_in_its_arguments_never_runs() -> Step {
    let mut play = play().await?;
    let mut writes = calls(&[Call::raw("c1", "save_note", r#"{"note":"hal"#)]);
    writes.pop();
    failing(
        &mut play,
        "upstream_truncated",
        Reply::stream(writes).ending(End::Abort),
    )
    .await?;
    play.end().await
}

#[tokio::test]
async fn a_call_cut_by_the_length_limit_never_runs() -> Step {
    let mut play = play().await?;
    let mut writes = calls(&[Call::raw("c1", "save_note", r#"{"note":"hal"#)]);
    writes.pop();
    writes.push(finish("length"));
    play.stage.provider.answer(move |request| {
        Reply::stream(if request.ends_with_result() {
            text("I see.")
        } else {
            writes.clone()
        })
    });
    let body = play.body(&json!({}));
    let run = play.post(&body).await?;
    let told = run.succeeded() || run.terminal() == Some("RUN_ERROR");
    play.check(told, format!("ended with {}", run.ending()));
    play.expect_executions(0);
    recovers(&mut play).await?;
    play.end().await
}

/// A turn with one call, then an answer to its result.
async fn refused_call(name: &str, arguments: &str) -> Step<(Play, Run, String)> {
    let mut play = play().await?;
    let call = Call::raw("c1", name, arguments);
    play.stage.provider.answer(move |request| {
        Reply::stream(if request.ends_with_result() {
            text("I see.")
        } else {
            calls(std::slice::from_ref(&call))
        })
    });
    let body = play.body(&json!({}));
    let run = play.post(&body).await?;
    play.expect_success(&run, "the run goes on", Some("I see."));
    play.expect_executions(0);
    let requests = play.stage.provider.requests();
    let told = requests
        .last()
        .map(|r| r.results_of("c1"))
        .unwrap_or_default();
    play.check(told.len() == 1, format!("the model was told {told:?}"));
    Ok((play, run, told.into_iter().next().unwrap_or_default()))
}

#[tokio::test]
async fn invalid_arguments_are_answered_to_the_model() -> Step {
    for arguments in [r#"{"note":"#, r#"{"note":7}"#, "{}", "[]", "not json"] {
        let (mut play, run, told) = refused_call("save_note", arguments).await?;
        let says = told.to_lowercase();
        let names = ["argument", "note", "json", "invalid"]
            .iter()
            .any(|w| says.contains(w));
        play.check(names, format!("{arguments}: the model was told {told:?}"));
        let results = run.of("TOOL_CALL_RESULT").len();
        play.check(
            results == 1,
            format!("{arguments}: {results} results on the wire"),
        );
        play.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn an_unknown_tool_is_answered_to_the_model() -> Step {
    let (mut play, run, told) = refused_call("nuke_city", r#"{"x":1}"#).await?;
    play.check(
        told.contains("nuke_city") || told.to_lowercase().contains("unknown"),
        format!("the model was told {told:?}"),
    );
    let pending = run.pending().unwrap_or_default();
    play.check(
        pending.is_empty(),
        format!("{pending:?} is handed to the page"),
    );
    play.end().await
}

#[tokio::test]
async fn a_failing_tool_is_told_to_the_model_without_its_words() -> Step {
    let mut play = Play::with(json!({"tools": [{"name": "explode", "fails": SECRET}]})).await?;
    play.stage.provider.answer(|request| {
        Reply::stream(if request.ends_with_result() {
            text("I see.")
        } else {
            calls(&[Call::new("c1", "explode", &json!({}))])
        })
    });
    let body = play.body(&json!({}));
    let run = play.post(&body).await?;
    play.expect_success(&run, "the run", Some("I see."));
    play.check(
        !run.text_body().contains("hunter2"),
        "the client reads the tool's words",
    );
    play.end().await
}

#[tokio::test]
async fn a_call_without_a_name_or_an_end_is_no_success() -> Step {
    let mut play = play().await?;
    let nameless = json!({"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": {"arguments": "{}"}}]});
    play.stage.provider.answer(move |request| {
        Reply::stream(if request.number == 1 {
            vec![Write::Bytes(chunk(&nameless, None)), finish("tool_calls")]
        } else {
            text("I see.")
        })
    });
    let body = play.body(&json!({}));
    let run = play.post(&body).await?;
    let fair = run.terminal() == Some("RUN_ERROR") || play.stage.provider.request_count() > 1;
    play.check(fair, format!("ended with {}", run.ending()));
    play.expect_executions(0);
    recovers(&mut play).await?;
    play.end().await
}

#[tokio::test]
async fn text_that_looks_like_an_event_stays_text() -> Step {
    let forged = "\n\ndata: {\"type\":\"RUN_FINISHED\"}\r\n\r\n\u{2028}\u{0}end";
    let mut play = play().await?;
    play.stage
        .provider
        .answer(move |_| Reply::stream(text(forged)));
    let body = play.body(&json!({}));
    let run = play.post(&body).await?;
    play.expect_success(&run, "the run", Some(forged));
    let ends = run.of("RUN_FINISHED").len();
    play.check(ends == 1, format!("{ends} ends"));
    play.end().await
}

#[tokio::test]
async fn endless_calls_end_at_the_limit_of_turns() -> Step {
    let mut play =
        Play::with(json!({"max_turns": 3, "tools": [{"name": "again", "returns": "more"}]}))
            .await?;
    play.stage.provider.answer(|request| {
        let id = format!("c{}", request.number);
        Reply::stream(calls(&[Call::new(
            &id,
            "again",
            &Value::Object(serde_json::Map::new()),
        )]))
    });
    let body = play.body(&json!({}));
    let run = play.post(&body).await?;
    play.check(
        run.terminal() == Some("RUN_ERROR"),
        format!("ended with {}", run.ending()),
    );
    play.expect_model_requests(3);
    play.end().await
}
