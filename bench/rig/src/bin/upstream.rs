//! A mock model provider (OpenAI chat completions, streamed). It plays the scenario that the last user
//! message names, and a short closing text after a tool's result. Every byte is made once per scenario.

use antiphon_bench_rig::http::{serve, stream};
use antiphon_bench_rig::scenario::{Scenario, Turn, chunks};
use antiphon_bench_rig::{Error, option};
use bytes::{Bytes, BytesMut};
use futures_util::stream::unfold;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;
use serde::Deserialize;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// Text chunks of the answer after a tool's result.
const CLOSING: usize = 12;
/// An unpaced turn goes out in writes of this size.
const BURST: usize = 16 * 1024;

#[derive(Deserialize)]
struct Asked {
    messages: Vec<Message>,
}

#[derive(Deserialize)]
struct Message {
    role: String,
    #[serde(default)]
    content: Value,
}

impl Message {
    fn text(&self) -> String {
        match &self.content {
            Value::String(text) => text.clone(),
            Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
            _ => String::new(),
        }
    }
}

/// The turn that answers these messages.
fn answer(messages: &[Message]) -> Option<Scenario> {
    let user = messages.iter().rfind(|m| m.role == "user" && Scenario::find(&m.text()).is_some())?;
    let asked = Scenario::find(&user.text())?;
    let answered = messages.last().is_some_and(|m| m.role == "tool");
    Some(if answered { Scenario { turn: Turn::Text(CLOSING), ..asked } } else { asked })
}

fn chunk(delta: &Value, finish: Option<&str>) -> Bytes {
    let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish});
    let chunk = json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_760_000_000, "model": "bench", "choices": [choice]});
    Bytes::from(format!("data: {chunk}\n\n"))
}

fn script(turn: Turn) -> Vec<Bytes> {
    let mut script = vec![chunk(&json!({"role": "assistant", "content": ""}), None)];
    if let Turn::Text(count) = turn {
        script.extend((0..count).map(|n| chunk(&json!({"content": format!("word{n} ")}), None)));
    }
    if let Some((name, arguments)) = turn.call() {
        let part = |function: Value, id: Option<&str>| {
            let mut call = json!({"index": 0, "function": function});
            if let Some(id) = id {
                call["id"] = json!(id);
                call["type"] = json!("function");
            }
            chunk(&json!({"tool_calls": [call]}), None)
        };
        script.push(part(json!({"name": name, "arguments": ""}), Some("call_1")));
        script.extend(chunks(&arguments).map(|piece| part(json!({"arguments": piece}), None)));
    }
    script.push(chunk(&json!({}), Some(if matches!(turn, Turn::Text(_)) { "stop" } else { "tool_calls" })));
    script.push(Bytes::from_static(b"data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1760000000,\"model\":\"bench\",\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":10,\"total_tokens\":20}}\n\n"));
    script.push(Bytes::from_static(b"data: [DONE]\n\n"));
    script
}

/// Joins chunks so that an unpaced turn goes out in large writes.
fn joined(script: &[Bytes]) -> Vec<Bytes> {
    let mut writes = vec![];
    let mut write = BytesMut::new();
    for chunk in script {
        write.extend_from_slice(chunk);
        if write.len() >= BURST {
            writes.push(write.split().freeze());
        }
    }
    writes.push(write.freeze());
    writes
}

/// Plays writes, each at its own deadline so that delays don't add up.
fn play(writes: Arc<[Bytes]>, pace: Duration) -> impl hyper::body::Body<Data = Bytes, Error = Error> + Send {
    let start = Instant::now();
    StreamBody::new(Box::pin(unfold(0, move |at| {
        let write = writes.get(at).cloned();
        async move {
            let write = write?;
            if !pace.is_zero() {
                sleep_until(start + pace * u32::try_from(at + 1).ok()?).await;
            }
            Some((Ok(Frame::data(write)), at + 1))
        }
    })))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let listen = option("--listen").unwrap_or("127.0.0.1:9100".into());
    let scripts: Rc<RefCell<HashMap<Scenario, Arc<[Bytes]>>>> = Rc::default();
    serve(&listen, move |request| {
        let scripts = scripts.clone();
        async move {
            let body = request.into_body().collect().await?.to_bytes();
            let Asked { messages } = serde_json::from_slice(&body)?;
            let scenario = answer(&messages).ok_or("no message names a scenario")?;
            let make = || {
                let script = script(scenario.turn);
                if scenario.pace.is_zero() { joined(&script).into() } else { script.into() }
            };
            let writes = scripts.borrow_mut().entry(scenario).or_insert_with(make).clone();
            stream(play(writes, scenario.pace))
        }
    })
    .await
}
