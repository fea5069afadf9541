//! The bare translator: the least that still does an AG-UI server's job. Every provider chunk becomes an
//! event, arguments become STATE_DELTAs leaf by leaf, the tool is answered, the state stands at the end.
//! It keeps, checks and owns nothing: a measure, not a server.

use antiphon_bench_rig::http::{Provider, serve, stream};
use antiphon_bench_rig::leaves::Leaves;
use antiphon_bench_rig::{Error, option};
use bytes::Bytes;
use futures_util::stream::try_unfold;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper_util::client::legacy::ResponseFuture;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Input {
    thread_id: String,
    run_id: String,
    messages: Vec<Value>,
}

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow)]
    choices: Vec<Choice<'a>>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow)]
    delta: Delta<'a>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow)]
    content: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    tool_calls: Vec<CallPart<'a>>,
}

#[derive(Deserialize)]
struct CallPart<'a> {
    id: Option<String>,
    #[serde(borrow)]
    function: FunctionPart<'a>,
}

#[derive(Deserialize)]
struct FunctionPart<'a> {
    name: Option<String>,
    #[serde(borrow)]
    arguments: Option<Cow<'a, str>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "SCREAMING_SNAKE_CASE", rename_all_fields = "camelCase")]
enum Event<'a> {
    RunStarted { thread_id: &'a str, run_id: &'a str },
    TextMessageStart { message_id: &'a str, role: &'a str },
    TextMessageContent { message_id: &'a str, delta: &'a str },
    TextMessageEnd { message_id: &'a str },
    ToolCallStart { tool_call_id: &'a str, tool_call_name: &'a str },
    ToolCallArgs { tool_call_id: &'a str, delta: &'a str },
    ToolCallEnd { tool_call_id: &'a str },
    ToolCallResult { message_id: &'a str, tool_call_id: &'a str, content: &'a str },
    RunFinished { thread_id: &'a str, run_id: &'a str },
}

fn emit(out: &mut Vec<u8>, event: &Event<'_>) -> Result<(), Error> {
    out.extend_from_slice(b"data: ");
    serde_json::to_writer(&mut *out, event)?;
    out.extend_from_slice(b"\n\n");
    Ok(())
}

/// An event around JSON text that need not be read again.
fn emit_raw(out: &mut Vec<u8>, parts: [&str; 3]) {
    out.extend_from_slice(b"data: {\"type\":\"");
    parts.iter().for_each(|part| out.extend_from_slice(part.as_bytes()));
    out.extend_from_slice(b"}\n\n");
}

struct Call {
    id: String,
    name: String,
    arguments: String,
    leaves: Leaves,
}

enum Turn {
    Calling(ResponseFuture),
    Reading(Incoming),
    Ended,
}

struct Run {
    provider: Provider,
    input: Input,
    turn: Turn,
    turns: usize,
    /// Bytes of a line that has not ended.
    rest: Vec<u8>,
    message: Option<String>,
    call: Option<Call>,
}

impl Run {
    async fn read(mut self) -> Result<Option<(Frame<Bytes>, Self)>, Error> {
        let mut out = Vec::new();
        while out.is_empty() {
            match &mut self.turn {
                Turn::Ended => return Ok(None),
                Turn::Calling(response) => {
                    self.turn = Turn::Reading(response.await?.into_body());
                    if self.turns == 0 {
                        emit(
                            &mut out,
                            &Event::RunStarted { thread_id: &self.input.thread_id, run_id: &self.input.run_id },
                        )?;
                    }
                }
                Turn::Reading(body) => match body.frame().await.transpose()? {
                    Some(frame) => self.lines(frame.data_ref().map_or(&[], |data| data), &mut out)?,
                    None => self.end_turn(&mut out)?,
                },
            }
        }
        Ok(Some((Frame::data(out.into()), self)))
    }

    fn lines(&mut self, data: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let mut text = std::mem::take(&mut self.rest);
        text.extend_from_slice(data);
        let mut lines = text.split(|&byte| byte == b'\n').peekable();
        while let Some(line) = lines.next() {
            if lines.peek().is_none() {
                self.rest = line.to_vec();
            } else if let Some(chunk) = line.strip_prefix(b"data: ").filter(|data| *data != b"[DONE]") {
                self.chunk(chunk, out)?;
            }
        }
        Ok(())
    }

    fn chunk(&mut self, chunk: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let Chunk { choices } = serde_json::from_slice(chunk)?;
        let Some(Choice { delta }) = choices.into_iter().next() else { return Ok(()) };
        if let Some(text) = delta.content.filter(|text| !text.is_empty()) {
            if self.message.is_none() {
                let id = format!("{}-{}", self.input.run_id, self.turns);
                emit(out, &Event::TextMessageStart { message_id: &id, role: "assistant" })?;
                self.message = Some(id);
            }
            let message_id = self.message.as_deref().unwrap_or_default();
            emit(out, &Event::TextMessageContent { message_id, delta: &text })?;
        }
        for part in delta.tool_calls {
            self.call_part(part, out)?;
        }
        Ok(())
    }

    fn call_part(&mut self, CallPart { id, function }: CallPart<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        if let (Some(id), Some(name)) = (id, function.name) {
            emit(out, &Event::ToolCallStart { tool_call_id: &id, tool_call_name: &name })?;
            self.call = Some(Call { id, name, arguments: String::new(), leaves: Leaves::default() });
        }
        let (Some(call), Some(text)) = (&mut self.call, function.arguments.filter(|text| !text.is_empty())) else {
            return Ok(());
        };
        emit(out, &Event::ToolCallArgs { tool_call_id: &call.id, delta: &text })?;
        call.arguments.push_str(&text);
        let mut operations = String::new();
        call.leaves.read(&text, &mut operations);
        if !operations.is_empty() {
            emit_raw(out, ["STATE_DELTA\",\"delta\":[", &operations, "]"]);
        }
        Ok(())
    }

    /// The provider's turn is over: answers the call and asks again, or ends the run.
    fn end_turn(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        self.turns += 1;
        if let Some(id) = self.message.take() {
            emit(out, &Event::TextMessageEnd { message_id: &id })?;
        }
        let Some(call) = self.call.take() else {
            self.turn = Turn::Ended;
            return emit(out, &Event::RunFinished { thread_id: &self.input.thread_id, run_id: &self.input.run_id });
        };
        emit(out, &Event::ToolCallEnd { tool_call_id: &call.id })?;
        let message_id = format!("{}-result", self.input.run_id);
        emit(out, &Event::ToolCallResult { message_id: &message_id, tool_call_id: &call.id, content: "Done." })?;
        let said =
            json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}});
        self.input.messages.push(json!({"role": "assistant", "content": null, "tool_calls": [said]}));
        self.input.messages.push(json!({"role": "tool", "tool_call_id": call.id, "content": "Done."}));
        self.turn = Turn::Calling(self.provider.call(&self.input.messages)?);
        emit_raw(out, ["STATE_SNAPSHOT\",\"snapshot\":", &call.arguments, ""]);
        Ok(())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let listen = option("--listen").unwrap_or("127.0.0.1:9200".into());
    let provider = Provider::new(&option("--upstream").unwrap_or("http://127.0.0.1:9100/v1".into()));
    serve(&listen, move |request| {
        let provider = provider.clone();
        async move {
            let body = request.into_body().collect().await?.to_bytes();
            let input: Input = serde_json::from_slice(&body)?;
            let turn = Turn::Calling(provider.call(&input.messages)?);
            let run = Run { provider, input, turn, turns: 0, rest: vec![], message: None, call: None };
            stream(StreamBody::new(Box::pin(try_unfold(run, Run::read))))
        }
    })
    .await
}
