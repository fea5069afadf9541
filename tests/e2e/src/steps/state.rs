//! Shared state: large predictions, and many threads at once.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::{by_role, together};
use crate::{
    json::{arguments, same},
    play::{AGENT, Play, Step},
    provider::{
        Reply, Write,
        chunks::{Call, calls, fragmented, text},
    },
    run::read_all,
};

/// What a large argument may cost.
struct Allowance {
    /// STATE_DELTA bytes for each byte of the argument.
    factor: usize,
    /// The whole run.
    time: Duration,
}

pub(super) async fn large_document(play: &mut Play) -> Step {
    let lines = (0..6000).map(|i| format!("A line of the report, number {i:05}.\n"));
    let document: String = lines.collect::<String>().chars().take(200_000).collect();
    let answers: Vec<_> = (0..50)
        .map(|i| json!({"id": i, "text": "answer ".repeat(20), "citations": [{"doc": format!("d{i}"), "page": i}]}))
        .collect();
    let allowed = Allowance {
        factor: 20,
        time: Duration::from_secs(20),
    };
    stream_large(
        play,
        ("write_document", "document"),
        json!(document),
        json!({"answers": answers}),
        allowed,
    )
    .await
}

pub(super) async fn large_object(play: &mut Play) -> Step {
    let (mut items, mut size) = (Vec::new(), 0);
    while size < 64_000 {
        let number = items.len();
        items.push(json!({"name": format!("item {number}"), "amount": number * 3, "fresh": number % 2 == 0, "note": "as ripe as possible"}));
        size += items.last().map_or(0, |item| item.to_string().len());
    }
    let recipe = json!({"title": "Big", "ingredients": items});
    let allowed = Allowance {
        factor: 4,
        time: Duration::from_secs(20),
    };
    stream_large(
        play,
        ("update_recipe", "recipe"),
        recipe,
        json!({"recipe": {"title": "old"}}),
        allowed,
    )
    .await
}

/// Several writes as one.
fn in_one(writes: &[Write]) -> Write {
    Write::Bytes(Reply::stream(writes.to_vec()).bytes().into())
}

/// Streams an argument in 4-byte fragments, several of them in one write as models do.
async fn stream_large(
    play: &mut Play,
    (tool, key): (&str, &str),
    value: Value,
    state: Value,
    allowed: Allowance,
) -> Step {
    let argument = json!({ key: value });
    let size = argument.to_string().len();
    let pieces = fragmented(&[Call::new("c1", tool, &argument)], 4);
    let writes: Vec<Write> = pieces.chunks(16).map(in_one).collect();
    by_role(play, move |_| writes.clone(), |_| text("All set."));
    let body = play.body(&json!({"state": state}));
    let request = play.request(&body).within(allowed.time * 2);
    let began = Instant::now();
    let run = play.start_with(&body, &request).await?;
    let run = play.finish(run).await;
    let took = began.elapsed();
    play.expect_success(&run, "the run", Some("All set."));
    let deltas = run.of("STATE_DELTA");
    let spent: usize = deltas.iter().map(|e| e.size).sum();
    play.check(
        deltas.len() >= 10,
        format!(
            "{} STATE_DELTA events for {size} bytes: not a stream",
            deltas.len()
        ),
    );
    play.check(
        spent <= allowed.factor * size,
        format!(
            "{spent} bytes of STATE_DELTA for {size} bytes of arguments, allowed {} times",
            allowed.factor
        ),
    );
    play.check(
        took <= allowed.time,
        format!("took {took:?}, allowed {:?}", allowed.time),
    );
    let mut want = state;
    want[key] = argument[key].clone();
    play.check(
        run.final_state().is_some_and(|got| same(got, &want)),
        "the final state is not the argument",
    );
    let executions = play.stage.provider.executions();
    let whole = executions.len() == 1 && executions.iter().all(|e| same(&e.args, &argument));
    play.check(whole, "the tool did not get the argument exactly once");
    Ok(())
}

pub(super) async fn fifty_at_once(play: &mut Play) -> Step {
    play.is_stored = false;
    play.executions_are_streamed = false;
    by_role(
        play,
        |request| {
            let who = arguments(request.last_user().trim_start_matches("who=")).unwrap_or_default();
            calls(&[Call::new(
                &format!("call-{who}"),
                "set_echo",
                &json!({"who": who}),
            )])
        },
        |_| text("Done."),
    );
    let mut starting = Vec::new();
    let shared = &*play;
    for who in 1..=50 {
        let body = shared.body(&json!({
            "threadId": format!("{AGENT}-{who}"), "state": {"who": who},
            "messages": [{"id": "u1", "role": "user", "content": format!("who={who}")}],
        }));
        starting.push(async move { shared.start(&body).await });
    }
    let mut runs = Vec::new();
    for run in together(starting).await {
        runs.push(run?);
    }
    read_all(&mut runs).await;
    for (run, who) in runs.iter_mut().zip(1..) {
        play.judge(run);
        let want = json!({"who": who, "echo": who});
        play.expect_success(run, &format!("run {who}"), None);
        let held = run.final_state().cloned().unwrap_or_default();
        play.check(
            same(&held, &want),
            format!("run {who} ended with the state {held}"),
        );
        let stored = play.get(&format!("/sessions/{AGENT}-{who}")).await?.json();
        play.check(
            same(&stored["state"], &want),
            format!("the stored state of {who} is {}", stored["state"]),
        );
    }
    play.expect_executions(50);
    Ok(())
}
