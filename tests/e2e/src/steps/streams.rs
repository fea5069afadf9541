//! Streams, their headers and their silence; broken input.

use std::time::Duration;

use serde_json::{Value, json};

use super::{by_role, need};
use crate::{
    flow::last_text,
    http::Request,
    play::{AGENT, Play, Step},
    provider::{
        Reply, Tool, Write,
        chunks::{Call, calls, text},
    },
    rules::same_said,
    stream::Item,
};

pub(super) async fn snapshot_says_the_same(play: &mut Play) -> Step {
    let body = play.body(&json!({}));
    let run = play.post(&body).await?;
    play.expect_success(&run, "the run", None);
    play.expect_model_requests(2);
    let held = play.held.messages.clone();
    play.open().await?;
    let same = same_said(&held, &play.held.messages);
    play.check(
        same,
        format!(
            "the opened thread holds {:?}, the stream said {held:?}",
            play.held.messages
        ),
    );
    Ok(())
}

pub(super) async fn broken_input(play: &mut Play) -> Step {
    play.is_stored = false;
    play.stage
        .provider
        .answer(|_| Reply::stream(text("Hello.")));
    for (body, field) in broken_bodies() {
        let label: String = String::from_utf8_lossy(&body).chars().take(60).collect();
        let request = play.request(&Value::Null).body(body);
        let run = play.start_with(&Value::Null, &request).await?;
        let run = play.finish_aside(run).await;
        play.check(
            run.is_refused(),
            format!("{label}: HTTP {}, expected 4xx", run.status),
        );
        play.check(
            run.text_body().contains(field),
            format!("{label}: {} does not name {field}", run.text_body()),
        );
    }
    play.expect_model_requests(0);
    let user = json!({"id": "u", "role": "user", "content": "hi"});
    for body in [
        json!({"threadId": "i", "runId": "i", "messages": [user], "futureField": 1}),
        json!({"threadId": "j", "runId": "j", "messages": [user]}),
        json!({"thread_id": "k", "run_id": "k", "messages": [user], "forwarded_props": {}}),
    ] {
        let run = play.start(&body).await?;
        let run = play.finish_aside(run).await;
        play.expect_success(&run, &body.to_string(), Some("Hello."));
    }
    Ok(())
}

/// Bodies that are refused, and the fields that the refusals name.
fn broken_bodies() -> Vec<(Vec<u8>, &'static str)> {
    let user = json!({"id": "u", "role": "user", "content": "hi"});
    let raw: [&[u8]; 4] = [b"{not json", b"", b"[]", b"\xff\xfe{}"];
    let mut broken: Vec<_> = raw.iter().map(|bytes| (bytes.to_vec(), "")).collect();
    for (body, field) in [
        (json!({"threadId": "a", "runId": "a"}), "messages"),
        (
            json!({"threadId": "b", "runId": "b", "messages": {}}),
            "messages",
        ),
        (
            json!({"threadId": 7, "runId": "c", "messages": []}),
            "threadId",
        ),
        (json!({"threadId": "d", "messages": [user]}), "runId"),
        (
            json!({"threadId": "e", "runId": "e", "messages": [{"id": "u", "role": "user", "content": 5}]}),
            "messages[0].content",
        ),
        (
            json!({"threadId": "f", "runId": "f", "messages": [user], "resume": {}}),
            "resume",
        ),
        (
            json!({"threadId": "g", "runId": "g", "messages": [user], "state": {"a": "x".repeat(5 << 20)}}),
            "",
        ),
    ] {
        broken.push((body.to_string().into_bytes(), field));
    }
    broken
}

/// The case's server sends a comment after a second of silence.
pub(super) async fn heartbeat(play: &mut Play) -> Step {
    let silence = Duration::from_millis(1600);
    play.is_stored = false;
    play.stage.provider.tool(
        "nap",
        Tool::returns(json!("rested")).after(Write::Pause(silence)),
    );
    by_role(
        play,
        move |request| match request.last_user().as_str() {
            "quiet" => [vec![Write::Pause(silence)], text("Woke.")].concat(),
            _ => calls(&[Call::new("c1", "nap", &json!({}))]),
        },
        |_| text("Rested."),
    );
    let quiet = json!({"threadId": "quiet", "messages": [{"id": "q1", "role": "user", "content": "quiet"}]});
    let (slow, silent) = (play.body(&json!({})), play.body(&quiet));
    let (slow, silent) = tokio::join!(play.start(&slow), play.start(&silent));
    let mut runs = [slow?, silent?];
    crate::run::read_all(&mut runs).await;
    for run in &mut runs {
        play.judge(run);
    }
    let [slow, silent] = &runs;
    play.expect_success(slow, "the slow tool", Some("Rested."));
    play.expect_success(silent, "the silent model", Some("Woke."));
    let place = |kind: &str| {
        let is = |item: &Item| matches!(item, Item::Event(e) if e.kind() == kind);
        slow.reader.items.iter().position(is).unwrap_or_default()
    };
    let between = slow
        .reader
        .items
        .get(place("TOOL_CALL_END")..place("TOOL_CALL_RESULT"));
    let is_comment = |item: &Item| matches!(item, Item::Comment(_));
    let during = between.is_some_and(|items| items.iter().any(is_comment));
    play.check(during, "no comment while the tool was silent");
    play.check(
        silent.reader.items.iter().any(is_comment),
        "no comment while the model was silent",
    );
    Ok(())
}

pub(super) async fn headers(play: &mut Play) -> Step {
    play.is_stored = false;
    let gate = crate::provider::Gate::new();
    let held_back = gate.clone();
    play.stage.provider.answer(move |_| {
        Reply::stream([vec![Write::Gate(held_back.clone())], text("Hello.")].concat())
    });
    let body = play.body(&json!({}));
    let request = play.request(&body).header("Accept-Encoding", "gzip, br");
    let mut run = play.start_with(&body, &request).await?;
    need(run.status == 200, format!("HTTP {}", run.status))?;
    // The model is silent until the gate opens, so what comes now does not wait for it.
    run.read_to("RUN_STARTED").await?;
    gate.open();
    let run = play.finish(run).await;
    play.expect_success(&run, "the run", Some("Hello."));
    play.check(last_text(&run) == "Hello.", "the text is not held");
    let of = |name: &str| run.header(name).unwrap_or_default().to_owned();
    let cache = of("cache-control");
    play.check(
        cache.contains("no-cache") && cache.contains("no-transform"),
        format!("cache-control {cache:?}"),
    );
    play.check(
        of("x-accel-buffering") == "no",
        format!("x-accel-buffering {:?}", of("x-accel-buffering")),
    );
    play.check(
        run.header("content-encoding").is_none(),
        "the stream is compressed",
    );
    let agents = play
        .fetch(Request::get(&format!("/agents/{AGENT}")))
        .await?;
    play.check(
        agents
            .header("cache-control")
            .is_some_and(|c| c.contains("no-store")),
        "an API answer may be stored",
    );
    Ok(())
}
