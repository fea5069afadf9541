//! The cases that need code, keyed by their id.

mod approvals;
mod leaving;
mod sessions;
mod state;
mod streams;
mod waits;

use serde_json::{Value, json};

use crate::{
    play::{Play, Step, Stop},
    provider::{
        ModelRequest, Reply, Write,
        chunks::{Call, calls},
    },
    run::Run,
};

/// Plays a scripted case in one of its variants.
///
/// # Errors
///
/// There is no script for the case, or it could not go on.
pub async fn play(id: &str, variant: &str, play: &mut Play) -> Step {
    match id {
        "D01" => sessions::cold_restart(play, variant).await,
        "D03" => sessions::busy_thread(play).await,
        "D04" => sessions::one_history(play).await,
        "D07" => waits::external_wait(play).await,
        "I04" => approvals::twenty_answers(play, variant).await,
        "I13" => waits::private_input(play).await,
        "I14" => waits::page_answers_twice(play).await,
        "J12" => state::large_document(play).await,
        "S05" => streams::snapshot_says_the_same(play).await,
        "S07" => streams::broken_input(play).await,
        "S15" => state::fifty_at_once(play).await,
        "S16" => streams::heartbeat(play).await,
        "S17" => streams::headers(play).await,
        "S18" => leaving::during_a_tool(play).await,
        "X01" => approvals::killed_while_open(play).await,
        "X02" => approvals::killed_while_executing(play, variant).await,
        "X04" => leaving::last_event_id(play).await,
        "X05" => leaving::cancel_route(play).await,
        "X06" => state::large_object(play).await,
        "X07" => leaving::during_an_answer(play).await,
        "X08" => waits::private_value_is_nowhere(play).await,
        "X12" => waits::declared_client_tool(play).await,
        "X14" => sessions::again_and_edit(play).await,
        _ => Err(Stop::new(format!("no script for the case {id}"))),
    }
}

/// The arguments of the payment that many cases make.
fn payment() -> Value {
    json!({"to": "a", "eur": 5})
}

/// A turn that makes the payment under this id.
fn pay(id: &str) -> Vec<Write> {
    calls(&[Call::new(id, "pay", &payment())])
}

/// Answers a tool result with one thing and everything else with another.
fn by_role(
    play: &Play,
    call: impl Fn(&ModelRequest) -> Vec<Write> + Send + Sync + 'static,
    answer: impl Fn(&ModelRequest) -> Vec<Write> + Send + Sync + 'static,
) {
    play.stage.provider.answer(move |request| {
        let is_result = request.ends_with_result();
        Reply::stream(if is_result {
            answer(request)
        } else {
            call(request)
        })
    });
}

/// Plays the first run up to its approval.
async fn gated(play: &mut Play) -> Step<Run> {
    let body = play.body(&json!({}));
    let run = play.post(&body).await?;
    if run.outcome() != Some("interrupt") {
        return Err(Stop::new(format!(
            "run 1 does not wait for approval: {}",
            run.ending()
        )));
    }
    play.check(
        play.stage.provider.execution_count() == 0,
        "the gated call ran before its approval",
    );
    Ok(run)
}

/// Stops unless the condition holds.
fn need(holds: bool, why: impl Into<String>) -> Step {
    if holds { Ok(()) } else { Err(Stop::new(why)) }
}

/// Waits for all of them side by side; the outputs keep the order.
async fn together<F: Future>(futures: Vec<F>) -> Vec<F::Output> {
    let mut waiting: Vec<_> = futures.into_iter().map(|f| (Box::pin(f), None)).collect();
    std::future::poll_fn(|context| {
        let mut is_ready = true;
        for (future, output) in waiting.iter_mut().filter(|(_, output)| output.is_none()) {
            match future.as_mut().poll(context) {
                std::task::Poll::Ready(done) => *output = Some(done),
                std::task::Poll::Pending => is_ready = false,
            }
        }
        if is_ready {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
    waiting
        .into_iter()
        .filter_map(|(_, output)| output)
        .collect()
}
