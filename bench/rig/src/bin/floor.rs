//! The floor: makes the provider calls that a run needs and passes the provider's bytes on unchanged.

use antiphon_bench_rig::http::{Provider, serve, stream};
use antiphon_bench_rig::scenario::Scenario;
use antiphon_bench_rig::{Error, option};
use futures_util::stream::try_unfold;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Incoming;
use hyper_util::client::legacy::ResponseFuture;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Input {
    messages: Vec<Value>,
}

enum Turn {
    Calling(ResponseFuture),
    Reading(Incoming),
}

struct Relay {
    turn: Turn,
    provider: Provider,
    /// The messages of the call after the tool's result, if the scenario has one.
    next: Option<Vec<Value>>,
}

impl Relay {
    async fn read(mut self) -> Result<Option<(hyper::body::Frame<bytes::Bytes>, Self)>, Error> {
        loop {
            match &mut self.turn {
                Turn::Calling(response) => self.turn = Turn::Reading(response.await?.into_body()),
                Turn::Reading(body) => match (body.frame().await, self.next.take()) {
                    (Some(frame), next) => {
                        self.next = next;
                        return Ok(Some((frame?, self)));
                    }
                    (None, Some(messages)) => self.turn = Turn::Calling(self.provider.call(&messages)?),
                    (None, None) => return Ok(None),
                },
            }
        }
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
            let Input { mut messages } = serde_json::from_slice(&body)?;
            let asked = messages.last().and_then(|m| Scenario::find(m["content"].as_str()?));
            let turn = Turn::Calling(provider.call(&messages)?);
            let next = asked.and_then(|scenario| scenario.turn.call()).map(|_| {
                messages.push(json!({"role": "tool", "tool_call_id": "call_1", "content": "Done."}));
                messages
            });
            stream(StreamBody::new(Box::pin(try_unfold(Relay { turn, provider, next }, Relay::read))))
        }
    })
    .await
}
