//! Plays a recorded stream through a client: decoder, chunks, verifier, replica.
//!
//! `replay FOLDER` reads `events.sse`, `input.json` (`{"messages", "state"}`) and, if it is
//! there, `delivery.json` of a case folder; `replay JSON < BODY` takes the input as argument
//! and the body on standard input. It prints one JSON object: `messages`, `state`, `status`
//! (`ok` or `failed`), `error` and the number of `warnings`.

use std::error::Error;
use std::io::Read as _;
use std::path::Path;
use std::{env, fs, io};

use antiphon_protocol::{Chunks, Event, Message, Replica, Verifier, sse};
use serde::Deserialize;
use serde_json::{Value, json};

const MAX_EVENT_BYTES: usize = 10 << 20;

#[derive(Deserialize, Default)]
struct Input {
    #[serde(default)]
    messages: Vec<Message>,
    state: Option<Value>,
}

/// How the body is cut on its way.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Delivery {
    split_every_bytes: Option<usize>,
    cut_after: Option<usize>,
}

struct Client {
    chunks: Chunks,
    verifier: Verifier,
    replica: Replica,
    expanded: Vec<Event>,
    run_error: Option<String>,
    warnings: usize,
}

impl Client {
    fn play(&mut self, body: &[u8], delivery: &Delivery) -> Result<(), Box<dyn Error>> {
        let mut decoder = sse::Decoder::new(MAX_EVENT_BYTES);
        let end = delivery.cut_after.unwrap_or(body.len()).min(body.len());
        let size = delivery.split_every_bytes.unwrap_or(4096).max(1);
        for piece in body[..end].chunks(size) {
            decoder.push(piece);
            self.drain(&mut decoder)?;
        }
        decoder.finish();
        self.drain(&mut decoder)?;
        self.chunks.finish(&mut self.expanded);
        self.fold()?;
        self.verifier.finish()?;
        match self.run_error.take() {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }

    fn drain(&mut self, decoder: &mut sse::Decoder) -> Result<(), Box<dyn Error>> {
        while let Some(received) = decoder.next_event() {
            let received = received?;
            self.warnings += received.warnings.len();
            if let Some(event) = received.event {
                self.chunks.expand(event, &mut self.expanded)?;
                self.fold()?;
            }
        }
        Ok(())
    }

    fn fold(&mut self) -> Result<(), Box<dyn Error>> {
        for event in self.expanded.drain(..) {
            self.verifier.check(&event)?;
            self.warnings += self.replica.apply(&event).len();
            match event {
                Event::RunStarted(_) => self.run_error = None,
                Event::RunError(error) => {
                    let code = error
                        .code
                        .map(|code| format!("{code}: "))
                        .unwrap_or_default();
                    self.run_error = Some(code + &error.message);
                }
                _ => {}
            }
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let argument = env::args()
        .nth(1)
        .ok_or("usage: replay FOLDER | replay JSON < BODY")?;
    let folder = Path::new(&argument);
    let (body, input, delivery) = if folder.is_dir() {
        let read = |name| fs::read(folder.join(name));
        let delivery = read("delivery.json").map(|text| serde_json::from_slice(&text));
        (
            read("events.sse")?,
            serde_json::from_slice(&read("input.json")?)?,
            delivery.unwrap_or_else(|_| Ok(Delivery::default()))?,
        )
    } else {
        let mut body = Vec::new();
        io::stdin().read_to_end(&mut body)?;
        (body, serde_json::from_str(&argument)?, Delivery::default())
    };
    let Input { messages, state } = input;
    let mut client = Client {
        chunks: Chunks::default(),
        verifier: Verifier::consumer(),
        replica: Replica::new(messages, state),
        expanded: Vec::new(),
        run_error: None,
        warnings: 0,
    };
    let outcome = client.play(&body, &delivery);
    let mut report = json!({
        "messages": client.replica.messages(),
        "state": client.replica.state(),
        "status": if outcome.is_ok() { "ok" } else { "failed" },
        "warnings": client.warnings,
    });
    if let Err(error) = outcome {
        report["error"] = error.to_string().into();
    }
    #[expect(
        clippy::print_stdout,
        reason = "the report is what this program is for"
    )]
    {
        println!("{report}");
    }
    Ok(())
}
