//! Runs and their readers: one run per thread, joining, leaving, coming back, draining, crashes.

use std::time::Duration;

use antiphon_e2e::{
    binary::Store,
    http::Request,
    json::same,
    play::{Play, Setting, Step, Stop},
    provider::{
        Gate, Log, Reply, Tool, Write,
        chunks::{Call, calls, finish, piece, text},
    },
    rules::same_messages,
    run::{Run, read_all},
    stream::{Event, Item},
};
use serde_json::{Value, json};
use tokio::time::Instant;

/// A bound for what must happen at all.
const AT_ALL: Duration = Duration::from_secs(10);
/// A second, as the contract says, and some room for a busy machine.
const SOON: Duration = Duration::from_millis(1500);

/// A model that stops in the middle of its answer until the gate opens.
fn halting(play: &Play) -> Gate {
    let gate = Gate::new();
    let door = gate.clone();
    play.stage.provider.answer(move |request| {
        Reply::stream(if request.last_user() == "go" {
            vec![
                piece("Slow "),
                piece("and "),
                Write::Gate(door.clone()),
                piece("steady."),
                finish("stop"),
            ]
        } else {
            text("Quick.")
        })
    });
    gate
}

/// Starts the first run and reads it up to its second piece of text.
async fn started(play: &Play) -> Step<Run> {
    let body = play.body(&json!({}));
    let mut run = play.start(&body).await?;
    run.read_to("TEXT_MESSAGE_CONTENT").await?;
    Ok(run)
}

fn ids(events: &[Event]) -> Vec<&str> {
    events.iter().filter_map(|e| e.id.as_deref()).collect()
}

fn sqlite() -> Setting {
    Setting {
        store: Store::Sqlite,
        ..Setting::default()
    }
}

// One run per thread -----------------------------------------------------------------------

#[tokio::test]
async fn a_second_run_on_a_busy_thread_is_refused_at_once_and_names_the_first() -> Step {
    let mut play = Play::with(json!({})).await?;
    let gate = halting(&play);
    let first = started(&play).await?;
    let hurry = play.body(&json!({"messages": [{"id": "u9", "role": "user", "content": "hurry"}]}));
    let began = Instant::now();
    let second = play.start(&hurry).await?;
    let second = play.finish_aside(second).await;
    play.check(began.elapsed() < SOON, "the refusal waited");
    play.check(second.status == 409, format!("HTTP {}", second.status));
    play.check(
        second.error_code().as_deref() == Some("thread_busy"),
        second.text_body(),
    );
    let active = first.request["runId"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    play.check(
        second.text_body().contains(&active),
        format!("{active} is not named: {}", second.text_body()),
    );
    gate.open();
    let first = play.finish(first).await;
    play.expect_success(&first, "the first run", Some("Slow and steady."));
    let next = play.say("hurry").await?;
    play.expect_success(&next, "the thread is free again", Some("Quick."));
    play.end().await
}

#[tokio::test]
async fn other_threads_never_wait_for_a_busy_one() -> Step {
    let mut play = Play::with(json!({})).await?;
    let gate = halting(&play);
    let first = started(&play).await?;
    let other = json!({"threadId": "other", "messages": [{"id": "o1", "role": "user", "content": "other"}]});
    let other = play.body(&other);
    let other = play.start(&other).await?;
    let other = play.finish_aside(other).await;
    play.expect_success(&other, "the other thread", Some("Quick."));
    gate.open();
    let first = play.finish(first).await;
    play.expect_success(&first, "the first run", None);
    play.end().await
}

#[tokio::test]
async fn the_same_run_id_joins_the_active_run() -> Step {
    let mut play = Play::with(json!({})).await?;
    let gate = halting(&play);
    let first = started(&play).await?;
    let mut joined = play.start(&first.request.clone()).await?.again();
    joined.read_to("RUN_STARTED").await?;
    gate.open();
    let mut both = [first, joined];
    read_all(&mut both).await;
    let [first, joined] = both;
    let joined = play.finish_aside(joined).await;
    let first = play.finish(first).await;
    play.expect_success(&first, "the first reader", Some("Slow and steady."));
    play.expect_success(&joined, "the joined reader", None);
    expect_same_end(&mut play, "the joined reader", &joined);
    play.expect_model_requests(1);
    play.end().await
}

/// A reader that came later holds what the first one holds.
fn expect_same_end(play: &mut Play, who: &str, run: &Run) {
    let held = run.held.clone().unwrap_or_default();
    let alike =
        same_messages(&held.messages, &play.held.messages) && same(&held.state, &play.held.state);
    play.check(
        alike,
        format!("{who} holds {held:?}, the first {:?}", play.held),
    );
}

#[tokio::test]
async fn a_run_id_posted_again_after_its_end_is_answered_with_the_recorded_ending() -> Step {
    let mut play = Play::with(json!({})).await?;
    play.stage.provider.turns(vec![text("Once.")]);
    let body = play.body(&json!({}));
    let run = play.post(&body).await?;
    play.expect_success(&run, "the run", Some("Once."));
    let again = play.post_again(&body).await?;
    play.expect_success(&again, "posted again", None);
    for kind in ["MESSAGES_SNAPSHOT", "STATE_SNAPSHOT"] {
        play.check(
            again.first(kind).is_some(),
            format!("no {kind} in the recorded ending"),
        );
    }
    expect_same_end(&mut play, "the second post", &again);
    play.expect_model_requests(1);
    play.end().await
}

#[tokio::test]
async fn opening_a_new_thread_asks_no_model() -> Step {
    let mut play =
        Play::with(json!({"state": {"schema": {"n": {"type": "integer"}}, "initial": {"n": 1}}}))
            .await?;
    let run = play.open().await?;
    play.expect_success(&run, "opening", None);
    play.check(
        play.held.state == json!({"n": 1}),
        format!("the state is {}", play.held.state),
    );
    play.check(play.held.messages.is_empty(), "a new thread holds messages");
    // Nothing was said yet, so nothing has to be stored.
    play.is_stored = false;
    play.end().await
}

// Stopping and leaving ---------------------------------------------------------------------

#[tokio::test]
async fn cancelling_drops_the_model_request_and_ends_the_stream() -> Step {
    let mut play = Play::with(json!({})).await?;
    halting(&play);
    let run = started(&play).await?;
    let asked = Instant::now();
    let answer = play.cancel(&run).await?;
    play.check(
        (200..300).contains(&answer.status),
        format!("cancel: HTTP {} {}", answer.status, answer.text()),
    );
    let run = play.finish(run).await;
    play.check(
        run.outcome() == Some("cancelled"),
        format!("ended with {}", run.ending()),
    );
    let took = run
        .events()
        .last()
        .map_or(AT_ALL, |e| e.at.duration_since(asked));
    play.check(
        took <= SOON,
        format!("the stream ended {took:?} after the cancel"),
    );
    let closed = |log: &Log| log.requests.first().and_then(|r| r.closed_by_peer);
    play.stage
        .provider
        .until(AT_ALL, "the end of the model request", closed)
        .await?;
    let again = play.cancel(&run).await?;
    play.check(
        again.status < 500,
        format!("a second cancel: HTTP {}", again.status),
    );
    let next = play.when_free("next").await?;
    play.expect_success(&next, "the next run", Some("Quick."));
    play.end().await
}

#[tokio::test]
async fn a_cancelled_run_of_an_old_peer_ends_in_its_dialect() -> Step {
    let mut play = Play::with(json!({})).await?;
    halting(&play);
    let body = play.body(&json!({"protocolVersion": null}));
    let mut run = play.start(&body).await?;
    run.read_to("TEXT_MESSAGE_CONTENT").await?;
    play.cancel(&run).await?;
    // The rules refuse the cancelled outcome in a stream to a 0.x peer.
    let run = play.finish(run).await;
    play.check(
        run.terminal().is_some(),
        format!("ended with {}", run.ending()),
    );
    play.end().await
}

#[tokio::test]
async fn cancelling_an_unknown_run_is_404() -> Step {
    let mut play = Play::with(json!({})).await?;
    let answer = play
        .fetch(Request::post("/runs/no-such-run/cancel", &json!({})))
        .await?;
    play.check(answer.status == 404, format!("HTTP {}", answer.status));
    play.check(answer.json()["error"]["code"].is_string(), answer.text());
    play.end().await
}

#[tokio::test]
async fn when_the_last_reader_leaves_the_run_is_cancelled() -> Step {
    let mut play = Play::with(json!({"on_disconnect": "cancel"})).await?;
    halting(&play);
    let mut run = started(&play).await?;
    let second = play.follow(&run, None).await?;
    run.leave();
    play.judge(&mut run);
    // A reader is left, so the run goes on.
    let answer = play.get(&format!("/runs/{}/events", "no-such-run")).await?;
    play.check(
        answer.status == 404,
        format!("an unknown run: HTTP {}", answer.status),
    );
    let running = play.stage.provider.open_streams();
    play.check(running == 1, "the run ended although a reader was left");
    let left = Instant::now();
    drop(second);
    let closed = |log: &Log| log.requests.first().and_then(|r| r.closed_by_peer);
    let closed = play
        .stage
        .provider
        .until(AT_ALL, "the end of the model request", closed)
        .await?;
    let took = closed.duration_since(left);
    play.check(
        took <= SOON,
        format!("the model request ended {took:?} after the last reader left"),
    );
    play.open().await?;
    let next = play.when_free("next").await?;
    play.expect_success(&next, "the next run", Some("Quick."));
    play.end().await
}

#[tokio::test]
async fn a_detached_run_goes_on_without_readers_and_is_stored() -> Step {
    let mut play = Play::with(json!({"on_disconnect": "detach"})).await?;
    let gate = halting(&play);
    let mut run = started(&play).await?;
    run.leave();
    play.judge(&mut run);
    gate.open();
    let answered = |log: &Log| log.requests.first().filter(|r| r.answered).map(|_| ());
    play.stage
        .provider
        .until(AT_ALL, "the end of the answer", answered)
        .await?;
    let mut late = play.follow(&run, None).await?;
    late.read().await;
    play.judge(&mut late);
    play.expect_success(&late, "the reader that came later", None);
    play.open().await?;
    let said = play.held.last_text().map(str::to_owned);
    play.check(
        said.as_deref() == Some("Slow and steady."),
        format!("the thread ends with {said:?}"),
    );
    play.end().await
}

#[tokio::test]
async fn leaving_during_a_tool_drops_its_request() -> Step {
    let mut play = Play::with(json!({"tools": [{"name": "pay", "returns": "paid"}]})).await?;
    play.stage.provider.answer(|request| {
        Reply::stream(if request.number == 1 {
            calls(&[Call::new("c1", "pay", &json!({}))])
        } else {
            text("Quick.")
        })
    });
    play.stage
        .provider
        .tool("pay", Tool::returns(json!("paid")).after(Write::Hold));
    let body = play.body(&json!({}));
    let mut run = play.start(&body).await?;
    run.read_to("TOOL_CALL_END").await?;
    let executed = |log: &Log| log.executions.first().map(|_| ());
    play.stage
        .provider
        .until(AT_ALL, "the execution", executed)
        .await?;
    let left = Instant::now();
    run.leave();
    play.judge(&mut run);
    let closed = |log: &Log| log.executions.first().and_then(|e| e.closed_by_peer);
    let closed = play
        .stage
        .provider
        .until(AT_ALL, "the end of the tool request", closed)
        .await?;
    let took = closed.duration_since(left);
    play.check(
        took <= SOON,
        format!("the tool request ended {took:?} after the reader left"),
    );
    play.expect_executions(1);
    play.open().await?;
    let next = play.when_free("next").await?;
    play.expect_success(&next, "the next run", Some("Quick."));
    play.expect_executions(1);
    play.end().await
}

// Coming back ------------------------------------------------------------------------------

#[tokio::test]
async fn last_event_id_continues_at_every_event_without_gap_or_repeat() -> Step {
    let mut play = Play::with(json!({
        "on_disconnect": "detach",
        "tools": [{"name": "look", "returns": {"found": 1}}],
    }))
    .await?;
    let gate = Gate::new();
    let door = gate.clone();
    play.stage.provider.answer(move |request| {
        Reply::stream(if request.ends_with_result() {
            vec![
                piece("Found "),
                piece("one."),
                Write::Gate(door.clone()),
                piece(" Done."),
                finish("stop"),
            ]
        } else {
            [
                vec![piece("Looking.")],
                calls(&[Call::new("c1", "look", &json!({"q": "x"}))]),
            ]
            .concat()
        })
    });
    let body = play.body(&json!({}));
    let mut first = play.start(&body).await?;
    let one = |item: &Item| matches!(item, Item::Event(e) if e.text("delta").ends_with("one."));
    first.read_until(one).await?;
    let seen: Vec<Event> = first.events().cloned().collect();
    let positions: Vec<String> = ids(&seen).into_iter().map(str::to_owned).collect();
    play.check(
        positions.len() == seen.len() && seen.len() >= 10,
        format!("{} events, {} ids", seen.len(), positions.len()),
    );
    let mut tails = Vec::new();
    for position in &positions {
        let tail = play.follow(&first, Some(position)).await?;
        play.check(
            tail.status == 200,
            format!("after {position}: HTTP {}", tail.status),
        );
        tails.push(tail);
    }
    gate.open();
    read_all(&mut tails).await;
    let first = play.finish(first).await;
    play.expect_success(&first, "the first reader", None);
    expect_tails(&mut play, &first, &tails);
    play.end().await
}

/// The n-th tail is what follows the n-th event, id by id and byte by byte of JSON.
fn expect_tails(play: &mut Play, first: &Run, tails: &[Run]) {
    let whole: Vec<&Event> = first.events().collect();
    for (at, tail) in tails.iter().enumerate() {
        let got: Vec<&Event> = tail.events().collect();
        let want: Vec<&Event> = whole.iter().skip(at + 1).copied().collect();
        let alike = got.len() == want.len()
            && got
                .iter()
                .zip(&want)
                .all(|(a, b)| a.id == b.id && a.value == b.value);
        let (got, count) = (tail.kinds(), want.len());
        play.check(
            alike,
            format!("after event {at} came {got:?}, expected the {count} events that follow"),
        );
        play.problems.extend(tail.reader.problems.iter().cloned());
    }
}

#[tokio::test]
async fn joining_without_a_position_gives_snapshots_open_items_and_the_tail() -> Step {
    let mut play = Play::with(json!({})).await?;
    let gate = halting(&play);
    let first = started(&play).await?;
    let mut joined = play.follow(&first, None).await?;
    play.check(joined.is_stream(), format!("HTTP {}", joined.status));
    joined.read_to("RUN_STARTED").await?;
    gate.open();
    let mut both = [first, joined];
    read_all(&mut both).await;
    let [first, mut joined] = both;
    let first = play.finish(first).await;
    play.expect_success(&first, "the first reader", Some("Slow and steady."));
    // The reader that comes holds nothing yet.
    joined.base.messages.clear();
    play.judge(&mut joined);
    play.expect_success(&joined, "the joined reader", None);
    expect_same_end(&mut play, "the joined reader", &joined);
    play.expect_model_requests(1);
    play.end().await
}

#[tokio::test]
async fn a_position_that_nobody_gave_is_answered_with_snapshots_or_refused() -> Step {
    let mut play = Play::with(json!({})).await?;
    let gate = halting(&play);
    let first = started(&play).await?;
    let mut joined = Vec::new();
    for position in ["garbage", "other-run:1", "run-1:999999999", "run-1:-1"] {
        let run = play.follow(&first, Some(position)).await?;
        play.check(
            run.status == 200 || run.is_refused(),
            format!("{position}: HTTP {}", run.status),
        );
        joined.push(run);
    }
    gate.open();
    read_all(&mut joined).await;
    let first = play.finish(first).await;
    play.expect_success(&first, "the first reader", None);
    for mut run in joined.into_iter().filter(Run::is_stream) {
        run.base.messages.clear();
        play.judge(&mut run);
        expect_same_end(&mut play, "a reader with a strange position", &run);
    }
    play.end().await
}

#[tokio::test]
async fn an_ended_run_is_answered_with_its_ending_also_after_a_restart() -> Step {
    let mut play = Play::set(json!({}), sqlite()).await?;
    play.stage.provider.turns(vec![text("Once.")]);
    let body = play.body(&json!({}));
    let run = play.post(&body).await?;
    play.expect_success(&run, "the run", Some("Once."));
    for restarted in [false, true] {
        if restarted {
            play.stage.kill_and_restart().await?;
        }
        let mut late = play.follow(&run, None).await?;
        late.base.messages.clear();
        late.read().await;
        play.judge(&mut late);
        play.expect_success(&late, &format!("restarted: {restarted}"), None);
        expect_same_end(&mut play, "a late reader", &late);
    }
    play.expect_model_requests(1);
    play.end().await
}

#[tokio::test]
async fn a_comment_goes_out_after_the_silence_of_the_agent_file() -> Step {
    let setting = Setting {
        top: json!({"heartbeat": "1s"}),
        ..Setting::default()
    };
    let mut play = Play::set(json!({}), setting).await?;
    let gate = halting(&play);
    let mut run = started(&play).await?;
    let began = Instant::now();
    for _ in 0..2 {
        run.read_until(|item| matches!(item, Item::Comment(_)))
            .await?;
    }
    let took = began.elapsed();
    let steady = took >= Duration::from_millis(1500) && took <= Duration::from_secs(4);
    play.check(steady, format!("two comments within {took:?}"));
    gate.open();
    let run = play.finish(run).await;
    play.expect_success(&run, "the run", Some("Slow and steady."));
    play.end().await
}

// The end of the server --------------------------------------------------------------------

#[tokio::test]
async fn sigterm_lets_a_running_run_end_and_takes_no_new_one() -> Step {
    let mut play = Play::with(json!({})).await?;
    let gate = halting(&play);
    let run = started(&play).await?;
    play.stage.server.terminate().await?;
    let refused = draining(&play).await?;
    play.check(
        refused["error"]["code"].is_string(),
        format!("the refusal is {refused}"),
    );
    gate.open();
    let run = play.finish(run).await;
    play.expect_success(&run, "the run that was there", Some("Slow and steady."));
    let status = play.stage.server.ended().await?;
    play.check(status.code() == Some(0), format!("{status}"));
    play.report()
}

/// Posts to another thread until it is refused because the server drains.
async fn draining(play: &Play) -> Step<Value> {
    let end = Instant::now() + Duration::from_secs(5);
    for n in 0.. {
        let body = play.body(&json!({"threadId": format!("late-{n}"), "messages": [{"id": "o1", "role": "user", "content": "other"}]}));
        let mut run = play.start(&body).await?;
        run.read().await;
        if run.status == 503 {
            return Ok(run.json());
        }
        if Instant::now() > end {
            break;
        }
    }
    Err(Stop::new("new runs are taken five seconds after SIGTERM"))
}

#[tokio::test]
async fn sigterm_cancels_and_records_what_does_not_end_in_time() -> Step {
    let setting = Setting {
        args: vec!["--drain".to_owned(), "1s".to_owned()],
        ..sqlite()
    };
    let mut play = Play::set(json!({}), setting).await?;
    halting(&play);
    let run = started(&play).await?;
    let began = Instant::now();
    play.stage.server.terminate().await?;
    let run = play.finish(run).await;
    play.check(
        run.terminal().is_some(),
        format!("the cut run ended with {}", run.ending()),
    );
    let status = play.stage.server.ended().await?;
    let took = began.elapsed();
    play.check(status.code() == Some(0), format!("{status}"));
    play.check(
        took <= Duration::from_secs(5),
        format!("the drain of one second took {took:?}"),
    );
    play.stage.restart().await?;
    play.open().await?;
    let next = play.when_free("next").await?;
    play.expect_success(&next, "the next run", Some("Quick."));
    play.end().await
}

#[tokio::test]
async fn a_thread_survives_kill_9() -> Step {
    let agent = json!({
        "tools": [{"name": "set_echo", "parameters": {"type": "object", "properties": {"who": {"type": "integer"}}, "required": ["who"]}, "returns": "ok"}],
        "state": {"calls": [{"tool": "set_echo", "state_key": "echo", "tool_argument": "who"}]},
    });
    let mut play = Play::set(agent, sqlite()).await?;
    let call = calls(&[Call::new("c1", "set_echo", &json!({"who": 7}))]);
    play.stage
        .provider
        .turns(vec![call, text("First."), text("Second.")]);
    let body = play.body(&json!({}));
    let run = play.post(&body).await?;
    play.expect_success(&run, "turn 1", Some("First."));
    let held = play.held.clone();
    play.stage.kill_and_restart().await?;
    play.open().await?;
    let kept = same_messages(&held.messages, &play.held.messages);
    play.check(
        kept,
        format!(
            "messages after the restart {:?}, before {:?}",
            play.held.messages, held.messages
        ),
    );
    play.check(
        same(&held.state, &json!({"echo": 7})),
        format!("the state before was {}", held.state),
    );
    play.check(
        same(&held.state, &play.held.state),
        format!("the state after is {}", play.held.state),
    );
    let next = play.say("more").await?;
    play.expect_success(&next, "turn 2", Some("Second."));
    play.end().await
}

#[tokio::test]
async fn a_run_cut_by_kill_9_has_an_ending_and_leaves_a_thread_that_works() -> Step {
    let mut play = Play::set(json!({}), sqlite()).await?;
    let gate = halting(&play);
    let mut run = started(&play).await?;
    run.leave();
    play.stage.server.kill().await?;
    gate.open();
    play.stage.restart().await?;
    let mut late = play.follow(&run, None).await?;
    late.read().await;
    play.check(
        late.status == 200,
        format!(
            "the cut run's events: HTTP {} {}",
            late.status,
            late.text_body()
        ),
    );
    play.check(
        late.terminal().is_some(),
        format!("the cut run ends with {}", late.ending()),
    );
    play.open().await?;
    let next = play.when_free("next").await?;
    play.expect_success(&next, "the next run", Some("Quick."));
    play.end().await
}
