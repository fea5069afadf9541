//! Readers that leave, come back, or stop the run.

use std::{collections::BTreeSet, time::Duration};

use serde_json::json;
use tokio::time::Instant;

use super::{need, pay};
use crate::{
    http::Request,
    play::{Play, Step},
    provider::{
        Gate, Log, Reply, Tool, Write,
        chunks::{finish, piece, text},
    },
    run::Run,
    stream::Event,
};

/// How long the server may take to notice, with some room for a busy machine.
const SOON: Duration = Duration::from_millis(1500);
/// A bound for what must happen at all.
const AT_ALL: Duration = Duration::from_secs(10);

fn is_executed(log: &Log) -> Option<()> {
    log.executions.first().map(|_| ())
}

/// The payment first, then an answer.
fn pay_then_hello(play: &Play) {
    play.stage.provider.answer(|request| {
        Reply::stream(if request.number == 1 {
            pay("c1")
        } else {
            text("Hello again.")
        })
    });
}

pub(super) async fn during_a_tool(play: &mut Play) -> Step {
    pay_then_hello(play);
    let gate = Gate::new();
    play.stage.provider.tool(
        "pay",
        Tool::returns(json!("paid")).after(Write::Gate(gate.clone())),
    );
    let body = play.body(&json!({}));
    let mut run = play.start(&body).await?;
    run.read_to("TOOL_CALL_END").await?;
    play.stage
        .provider
        .until(AT_ALL, "the payment", is_executed)
        .await?;
    run.leave();
    play.judge(&mut run);
    gate.open();
    let next = play.when_free("still there?").await?;
    play.expect_success(&next, "a new run on the thread", Some("Hello again."));
    play.expect_executions(1);
    let open = play.stage.provider.open_streams();
    play.check(open == 0, format!("{open} model streams are still open"));
    let requests = play.stage.provider.requests();
    let answers = requests.last().map_or(0, |r| r.results_of("c1").len());
    play.check(
        answers <= 1,
        format!("the call is answered {answers} times"),
    );
    play.open().await?;
    Ok(())
}

pub(super) async fn during_an_answer(play: &mut Play) -> Step {
    play.stage.provider.answer(|request| {
        Reply::stream(if request.number == 1 {
            vec![piece("Once upon "), Write::Hold]
        } else {
            text("Hello again.")
        })
    });
    let body = play.body(&json!({}));
    let mut run = play.start(&body).await?;
    run.read_to("TEXT_MESSAGE_CONTENT").await?;
    let left = Instant::now();
    run.leave();
    play.judge(&mut run);
    let closed = |log: &Log| log.requests.first().and_then(|r| r.closed_by_peer);
    let closed = play
        .stage
        .provider
        .until(AT_ALL, "the end of the model request", closed)
        .await?;
    let took = closed.duration_since(left);
    play.check(
        took <= SOON,
        format!("the model request ended {took:?} after the reader left"),
    );
    play.open().await?;
    let next = play.when_free("next").await?;
    play.expect_success(&next, "the next message", Some("Hello again."));
    Ok(())
}

pub(super) async fn cancel_route(play: &mut Play) -> Step {
    pay_then_hello(play);
    play.stage
        .provider
        .tool("pay", Tool::returns(json!("paid")).after(Write::Hold));
    let body = play.body(&json!({}));
    let mut run = play.start(&body).await?;
    run.read_to("TOOL_CALL_END").await?;
    play.stage
        .provider
        .until(AT_ALL, "the payment", is_executed)
        .await?;
    let asked = Instant::now();
    let answer = play.cancel(&run).await?;
    play.check(
        (200..300).contains(&answer.status),
        format!("cancel: HTTP {}", answer.status),
    );
    let run = play.finish(run).await;
    let ended = run.outcome() == Some("cancelled") || run.terminal() == Some("RUN_ERROR");
    play.check(
        ended,
        format!("the cancelled run ended with {}", run.ending()),
    );
    let took = run
        .events()
        .last()
        .map_or(AT_ALL, |e| e.at.duration_since(asked));
    play.check(
        took <= SOON,
        format!("the stream ended {took:?} after the cancel"),
    );
    let again = play.cancel(&run).await?;
    play.check(
        again.status < 500,
        format!("cancel of an ended run: HTTP {}", again.status),
    );
    let unknown = play
        .fetch(Request::post("/runs/no-such-run/cancel", &json!({})))
        .await?;
    play.check(
        unknown.status == 404,
        format!("cancel of an unknown run: HTTP {}", unknown.status),
    );
    play.open().await?;
    let next = play.when_free("next").await?;
    play.expect_success(&next, "the next message", Some("Hello again."));
    play.expect_executions(1);
    Ok(())
}

pub(super) async fn last_event_id(play: &mut Play) -> Step {
    let gate = Gate::new();
    let words: Vec<String> = (0..12).map(|i| format!("word{i} ")).collect();
    let mut writes: Vec<Write> = words.iter().map(|word| piece(word)).collect();
    writes.insert(6, Write::Gate(gate.clone()));
    writes.push(finish("stop"));
    play.stage.provider.turns(vec![writes]);
    let body = play.body(&json!({}));
    let mut run = play.start(&body).await?;
    run.read_to("TEXT_MESSAGE_CONTENT").await?;
    run.leave();
    let seen: Vec<Event> = run.events().cloned().collect();
    let last = seen.last().and_then(|e| e.id.clone()).unwrap_or_default();
    need(!last.is_empty(), "the events carry no id")?;
    let mut again = play.follow(&run, Some(&last)).await?;
    need(
        again.status == 200,
        format!("GET /runs/../events: HTTP {}", again.status),
    )?;
    gate.open();
    again.read().await;
    let all: Vec<&Event> = seen.iter().chain(again.events()).collect();
    let ids: BTreeSet<_> = all.iter().filter_map(|e| e.id.as_deref()).collect();
    play.check(ids.len() == all.len(), "an event came twice, or has no id");
    let said: String = all
        .iter()
        .filter(|e| e.kind() == "TEXT_MESSAGE_CONTENT")
        .map(|e| e.text("delta"))
        .collect();
    play.check(
        said == words.concat(),
        format!("the two halves say {said:?}"),
    );
    play.check(
        again.terminal() == Some("RUN_FINISHED"),
        format!("the tail ends with {}", again.ending()),
    );
    // Both halves together are one stream to be judged.
    let tail: Vec<_> = again.reader.items.clone();
    run.reader.items.extend(tail);
    run.left_early = false;
    let run = play.finish(run).await;
    after_the_end(play, &run).await
}

/// An ended run still knows its last positions; a run that never was is 404.
async fn after_the_end(play: &mut Play, run: &Run) -> Step {
    let all: Vec<&Event> = run.events().collect();
    let (before, end) = match all.as_slice() {
        [.., before, end] => (before.id.clone().unwrap_or_default(), end.id.clone()),
        _ => Default::default(),
    };
    let mut late = play.follow(run, Some(&before)).await?;
    late.read().await;
    let rest: Vec<_> = late.events().map(|e| e.id.clone()).collect();
    play.check(
        rest == [end],
        format!("after the last event but one came {:?}", late.kinds()),
    );
    let unknown = play.get("/runs/no-such-run/events").await?;
    play.check(
        unknown.status == 404,
        format!("events of an unknown run: HTTP {}", unknown.status),
    );
    Ok(())
}
