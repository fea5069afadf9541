//! Plays a case in one of its variants.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::timeout;

use crate::{
    binary::Store,
    case::{Case, RunStep, Variation},
    client,
    play::{Play, Setting, Stage, Step, Stop},
    provider::Script,
    run::Run,
    steps,
    upstream::Assembled,
};

/// Plays a case in all its variants, one after the other.
///
/// # Errors
///
/// Something was not as it must be; every variant is played before.
pub async fn play(case: &Case) -> Step {
    if let Some(want) = &case.spec.client {
        return client::play(case, want);
    }
    let mut wrong = Vec::new();
    for variation in case.variations()? {
        let whole = Duration::from_secs(case.spec.timeout_s);
        let played = timeout(whole, vary(case, &variation)).await;
        let late = |_| Err(Stop::new(format!("not over within {whole:?}")));
        if let Err(stop) = played.unwrap_or_else(late) {
            wrong.push(format!("[{}] {stop}", variation.name));
        }
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(Stop::new(wrong.join("\n")))
    }
}

async fn vary(case: &Case, variation: &Variation) -> Step {
    let server = &case.spec.own_server;
    let setting = Setting {
        store: match server.store.as_deref() {
            None => Store::Memory,
            Some("sqlite") => Store::Sqlite,
            Some(other) => return Err(Stop::new(format!("no such store: {other}"))),
        },
        top: Value::Object(server.top.clone()),
        env: texts(&server.env),
        args: Vec::new(),
    };
    let mut play = Play::new(Stage::new(variation.agent.clone(), setting).await?);
    play.start_from(case.request.clone());
    play.stage.provider.script(Script::InOrder {
        replies: case
            .upstream
            .iter()
            .map(|file| variation.delivery.reply(file))
            .collect(),
        // A provider that answers with a status does so however often it is asked.
        repeat: case.spec.repeat_upstream || variation.delivery.status.is_some(),
    });
    let played = if case.spec.script {
        steps::play(case.id(), &variation.name, &mut play).await
    } else {
        declared(case, variation, &mut play).await
    };
    if let Err(stop) = played {
        play.bad(stop.to_string());
        return play.report();
    }
    play.end().await
}

fn texts(env: &Map<String, Value>) -> Vec<(String, String)> {
    let pairs = env
        .iter()
        .filter_map(|(name, value)| Some((name, value.as_str()?)));
    pairs
        .map(|(name, value)| (name.clone(), value.to_owned()))
        .collect()
}

/// Plays the runs of `expect.json`.
async fn declared(case: &Case, variation: &Variation, play: &mut Play) -> Step {
    let mut runs = Vec::new();
    for (number, step) in variation.agui.runs.iter().enumerate() {
        let body = body(variation, play, step, number == 0)?;
        let run = play.post(&body).await?;
        let wrong = step.expect.problems(play, &run);
        play.problems.extend(
            wrong
                .into_iter()
                .map(|p| format!("run {}: {p}", number + 1)),
        );
        runs.push(run);
    }
    let last = runs
        .last()
        .ok_or_else(|| Stop::new("the case makes no request"))?;
    let requests = play.stage.provider.requests();
    if requests.is_empty() && !case.upstream.is_empty() && last.status == 200 {
        play.bad("the model was never asked");
    }
    let mut wrong = variation.agui.over_all.problems(play);
    wrong.extend(
        variation
            .agui
            .upstream
            .iter()
            .flat_map(|check| check.problems(&requests)),
    );
    if !case.spec.assembled.is_empty() {
        wrong.extend(Assembled::problems(
            &case.spec.assembled,
            &runs,
            requests.len(),
        ));
    }
    let paced = variation.delivery.pause_ms.is_some();
    wrong.extend(
        case.spec
            .states
            .iter()
            .flat_map(|check| check.problems(&runs, paced)),
    );
    play.problems.extend(wrong);
    Ok(())
}

/// The body of a step: the case's own at first, then what the client holds.
fn body(variation: &Variation, play: &Play, step: &RunStep, is_first: bool) -> Step<Value> {
    let send = &step.send;
    if is_first && send.is_plain() {
        return Ok(play.body(&Value::Object(variation.request.clone())));
    }
    let mut change = Map::new();
    // What a variant says about the peer holds for all its requests.
    if let Some(version) = variation.request.get("protocolVersion") {
        change.insert("protocolVersion".to_owned(), version.clone());
    }
    if let Some(answers) = &send.resume {
        let mut entries = Vec::new();
        for answer in answers {
            let mut entry = play.entry(&answer.call, &Value::Null)?;
            if let Some(status) = &answer.status {
                entry["status"] = json!(status);
            }
            match (&answer.payload, entry.as_object_mut()) {
                (Some(payload), _) => entry["payload"] = payload.clone(),
                (None, Some(entry)) => drop(entry.remove("payload")),
                (None, None) => {}
            }
            entries.push(entry);
        }
        change.insert("resume".to_owned(), json!(entries));
    }
    if let Some(state) = &send.state {
        change.insert("state".to_owned(), state.clone());
    }
    let append: Vec<_> = send.append.iter().map(|m| named(play, m)).collect();
    Ok(play.next_body(&append, &Value::Object(change)))
}

/// Replaces `@id`, a provider's call id, by the id on the wire.
fn named(play: &Play, value: &Value) -> Value {
    match value {
        Value::String(text) => match text.strip_prefix('@') {
            Some(id) => json!(play.wire_call(id).unwrap_or_else(|| id.to_owned())),
            None => value.clone(),
        },
        Value::Object(members) => members
            .iter()
            .map(|(k, v)| (k.clone(), named(play, v)))
            .collect(),
        Value::Array(items) => items.iter().map(|v| named(play, v)).collect(),
        _ => value.clone(),
    }
}

/// The text that a finished run left with its client.
pub fn last_text(run: &Run) -> &str {
    run.held
        .as_ref()
        .and_then(|held| held.last_text())
        .unwrap_or_default()
}
