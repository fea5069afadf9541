//! The server dies at every place where it could matter, and nothing that was said is lost,
//! nothing happens twice.
//!
//! A debug build dies where `ANTIPHON_FAILPOINT=name:n` says. Each scenario is played by one
//! stubborn [client](Client) for the first, second, ... passing of every place, until the server
//! survives the scenario.

mod client;

use std::{collections::BTreeSet, path::Path};

use antiphon_e2e::{
    play::{Step, Stop},
    provider::{Reply, chunks::text},
    secret::Secret,
};
use serde_json::{Value, json};

use client::{CANARY, Client, tool};

/// Every place where a debug build can be made to die.
const FAILPOINTS: [&str; 10] = [
    "accept.before",
    "accept.stored",
    "call.before",
    "call.stored",
    "ending.before",
    "ending.stored",
    "run.announced",
    "tool.begins",
    "tool.ran",
    "turn.streamed",
];

// Every place ------------------------------------------------------------------------------

/// Plays a scenario for every passing of these places; it passes each of them.
async fn everywhere(
    agent: Value,
    approves: bool,
    places: &[&str],
    judge: impl Fn(&mut Client) -> usize,
) -> Step {
    let (mut died, mut problems) = (BTreeSet::new(), Vec::new());
    for name in places.iter().copied() {
        for passing in 1..=9 {
            let failpoint = format!("{name}:{passing}");
            let mut client = Client::new(agent.clone(), &failpoint).await?;
            client.approves = approves;
            let played = client.go().await;
            let (deaths, effects) = (client.deaths, judge(&mut client));
            let ended = match played {
                Ok(()) => client.end(effects).await,
                Err(stop) => Err(stop),
            };
            problems.extend(ended.err().map(|stop| format!("{failpoint}: {stop}")));
            if deaths == 0 {
                break;
            }
            died.insert(name);
        }
    }
    if !problems.is_empty() {
        return Err(Stop::new(problems.join("\n")));
    }
    let missed: Vec<_> = places.iter().filter(|name| !died.contains(*name)).collect();
    if missed.is_empty() {
        Ok(())
    } else {
        Err(Stop::new(format!("the server never died at {missed:?}")))
    }
}

/// The call happened at most once.
fn once(client: &mut Client) -> usize {
    let executions = client.play.stage.provider.execution_count();
    let text = format!("{executions} executions");
    client.play.check(executions <= 1, text);
    1
}

fn never(client: &mut Client) -> usize {
    client.play.expect_executions(0);
    0
}

/// Places around the work of a call.
const CALL: [&str; 5] = [
    "accept.stored",
    "call.before",
    "call.stored",
    "tool.begins",
    "tool.ran",
];

/// Places of a run in which the server does no work for a call.
const TALK: [&str; 8] = [
    "accept.before",
    "accept.stored",
    "call.before",
    "call.stored",
    "ending.before",
    "ending.stored",
    "run.announced",
    "turn.streamed",
];

fn sources(folder: &Path, found: &mut BTreeSet<String>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            sources(&path, found)?;
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = std::fs::read_to_string(&path)?;
            let names = text.split("failpoint::reach(\"").skip(1);
            found.extend(
                names
                    .filter_map(|rest| rest.split('"').next())
                    .map(str::to_owned),
            );
        }
    }
    Ok(())
}

#[test]
fn the_list_has_every_place_of_the_sources() -> Step {
    let mut found = BTreeSet::new();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates");
    for entry in std::fs::read_dir(crates)? {
        let folder = entry?.path().join("src");
        if folder.is_dir() {
            sources(&folder, &mut found)?;
        }
    }
    let listed: BTreeSet<_> = FAILPOINTS.iter().map(|name| (*name).to_owned()).collect();
    if found == listed {
        Ok(())
    } else {
        Err(Stop::new(format!(
            "the sources have {found:?}, the list has {listed:?}"
        )))
    }
}

#[tokio::test]
async fn d4_a_plain_answer_survives_every_crash() -> Step {
    let agent = json!({"instructions": "Say Noted.", "on_disconnect": "detach"});
    let mut died = 0;
    for name in FAILPOINTS {
        let mut client = Client::new(agent.clone(), name).await?;
        client
            .play
            .stage
            .provider
            .answer(|_| Reply::stream(text("Noted.")));
        let at = |stop: Stop| Stop::new(format!("{name}: {stop}"));
        client.go().await.map_err(at)?;
        died += client.deaths;
        client.end(0).await.map_err(at)?;
    }
    if died == 6 {
        Ok(())
    } else {
        Err(Stop::new(format!("{died} deaths in a run without calls")))
    }
}

#[tokio::test]
async fn d4_a_tool_runs_at_most_once_over_every_crash() -> Step {
    everywhere(tool(&json!({})), true, &FAILPOINTS, once).await
}

#[tokio::test]
async fn d4_an_approved_call_runs_at_most_once_over_every_crash() -> Step {
    everywhere(tool(&json!({"approval": true})), true, &FAILPOINTS, once).await
}

#[tokio::test]
async fn d4_a_declined_call_never_runs_over_every_crash() -> Step {
    everywhere(tool(&json!({"approval": true})), false, &TALK, never).await
}

#[tokio::test]
async fn d4_an_answer_of_the_page_survives_every_crash() -> Step {
    everywhere(tool(&json!({"kind": "client"})), true, &TALK, never).await
}

#[tokio::test]
async fn d4_an_external_wait_survives_every_crash() -> Step {
    let agent = tool(&json!({"kind": "external_wait", "capability": "kyc.verify"}));
    everywhere(agent, true, &FAILPOINTS, once).await
}

#[tokio::test]
async fn d9_a_private_value_is_kept_by_no_crash() -> Step {
    let form = json!({"type": "object", "properties": {"token": {"type": "string"}}, "required": ["token"]});
    let agent =
        tool(&json!({"kind": "private_input", "responseSchema": form, "model_sees": "stored"}));
    let secret = Secret::new(CANARY);
    everywhere(agent, true, &CALL, |client| {
        let found = secret.found_in_files(client.play.stage.home.path());
        client.play.check(
            found.as_ref().is_ok_and(Vec::is_empty),
            format!("{found:?}"),
        );
        once(client)
    })
    .await
}

#[tokio::test]
async fn d3_an_idempotent_call_runs_again_under_its_key() -> Step {
    let agent = tool(&json!({"idempotent": true, "approval": true}));
    everywhere(agent, true, &CALL, |client| {
        let executions = client.play.stage.provider.execution_count();
        let text = format!("{executions} executions after one crash");
        client.play.check(executions <= 2, text);
        let asked = format!("{} questions about an idempotent call", client.doubts);
        client.play.check(client.doubts == 0, asked);
        1
    })
    .await
}

// A call that was cut in the middle ---------------------------------------------------------

/// Dies in the middle of the call, says what became of it, and returns what the model heard.
async fn cut(failpoint: &str, outcome: &'static str, executions: usize) -> Step<String> {
    let mut client = Client::new(tool(&json!({"approval": true})), failpoint).await?;
    client.outcome = outcome;
    client.go().await?;
    client.play.check(
        client.deaths == 1,
        format!("{} deaths at {failpoint}", client.deaths),
    );
    client.play.expect_executions(executions);
    let requests = client.play.stage.provider.requests();
    let heard = requests.last().map(|r| r.results_of("c1").concat());
    client.end(1).await?;
    Ok(heard.unwrap_or_default())
}

#[tokio::test]
async fn d3_a_cut_call_runs_again_when_the_person_says_retry() -> Step {
    for (failpoint, executions) in [("tool.begins", 1), ("tool.ran", 2)] {
        let heard = cut(failpoint, "retry", executions).await?;
        expect(heard.contains("paid"), failpoint, &heard)?;
    }
    Ok(())
}

#[tokio::test]
async fn d3_a_cut_call_stays_as_it_is_when_the_person_says_done() -> Step {
    for (failpoint, executions) in [("tool.begins", 0), ("tool.ran", 1)] {
        let heard = cut(failpoint, "done", executions).await?;
        let fair = !heard.contains("paid") && !heard.contains("Error");
        expect(fair, failpoint, &heard)?;
    }
    Ok(())
}

#[tokio::test]
async fn d3_a_cut_call_has_failed_when_the_person_says_failed() -> Step {
    for (failpoint, executions) in [("tool.begins", 0), ("tool.ran", 1)] {
        let heard = cut(failpoint, "failed", executions).await?;
        expect(heard.contains("failed"), failpoint, &heard)?;
    }
    Ok(())
}

fn expect(holds: bool, failpoint: &str, heard: &str) -> Step {
    if holds {
        Ok(())
    } else {
        Err(Stop::new(format!("{failpoint}: the model heard {heard:?}")))
    }
}

#[tokio::test]
async fn c12_an_answer_that_was_taken_is_carried_out_after_a_crash() -> Step {
    for (approves, executions) in [(true, 1), (false, 0)] {
        for failpoint in ["accept.stored:2", "run.announced:2", "call.before:2"] {
            let agent = tool(&json!({"approval": true}));
            let mut client = Client::new(agent, failpoint).await?;
            client.approves = approves;
            client.go().await?;
            let text = format!("{failpoint}: {} deaths", client.deaths);
            client.play.check(client.deaths == 1, text);
            client.play.expect_executions(executions);
            client.end(1).await?;
        }
    }
    Ok(())
}
