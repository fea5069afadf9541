//! Plays turns with any AG-UI server and prints, for each, one line of JSON with what it saw.
//!
//! ```sh
//! cargo run -p antiphon-client --example peer -- http://127.0.0.1:9000/ approve hello weather
//! ```
//!
//! All turns are of one thread, which offers the tool `change_background`. The second argument
//! says what every question is answered with: `approve`, `cancel`, `leave`, `decline:WHY` or
//! `edit:JSON`. The kinds of the events go to standard error as they arrive. A turn that fails is
//! told like any other; it is the last one, and the exit code is 1.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "what it saw is its output"
)]

use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use antiphon_client::{
    Answer, Client, ClientTool, Ended, Error, Event, Handler, Message, Question, Thread,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

type Failure = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> Result<ExitCode, Failure> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().ok_or("usage: peer URL ANSWER WORDS...")?;
    let policy = arguments.next().ok_or("usage: peer URL ANSWER WORDS...")?;
    let painted = Arc::default();
    let mut thread = Client::connect(url)?
        .new_thread()
        .client_tool(change_background(&painted));
    for words in arguments {
        let mut turn = Turn::default();
        let watch = Watch {
            turn: &mut turn,
            policy: &policy,
        };
        let ended = thread.converse(words.as_str(), watch).await;
        let failed = ended.is_err();
        turn.painted = std::mem::take(&mut *painted.lock().unwrap_or_else(PoisonError::into_inner));
        println!("{}", turn.told(&words, &thread, ended));
        if failed {
            return Ok(ExitCode::FAILURE);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What a turn showed, over all of its runs.
#[derive(Default, Serialize)]
struct Turn {
    runs: usize,
    /// The pieces of text, as they came.
    text: Vec<String>,
    calls: Vec<Call>,
    results: Vec<String>,
    /// How often the state was sent whole, and changed.
    snapshots: usize,
    deltas: usize,
    questions: Vec<Value>,
    /// What the tool of this program was called with.
    painted: Vec<String>,
}

#[derive(Serialize)]
struct Call {
    name: String,
    /// The pieces of the arguments, as they came.
    arguments: Vec<String>,
}

impl Turn {
    /// The turn as a line of JSON, with what the thread holds after it.
    fn told(&self, words: &str, thread: &Thread, ended: Result<Ended, Error>) -> Value {
        let (ended, error) = match ended {
            Ok(ended) => (name(&ended), None),
            Err(error) => ("failed", Some(error)),
        };
        json!({
            "said": words,
            "saw": self,
            "ended": ended,
            "error": error.map(|error| {
                json!({ "kind": format!("{:?}", error.kind()), "message": error.to_string() })
            }),
            "text": thread.text(),
            "roles": thread.messages().iter().map(Message::role).collect::<Vec<_>>(),
            "state": thread.state(),
        })
    }
}

fn name(ended: &Ended) -> &'static str {
    match ended {
        Ended::Done(_) => "done",
        Ended::Asked(_) => "asked",
        Ended::Waiting(_) => "waiting",
        Ended::InProgress { .. } => "in progress",
        Ended::Cancelled => "cancelled",
    }
}

/// Watches a turn and answers as it was told to.
struct Watch<'a> {
    turn: &'a mut Turn,
    policy: &'a str,
}

impl Handler for Watch<'_> {
    fn event(&mut self, event: &Event) {
        eprintln!("{}", event.kind().as_str());
        let turn = &mut *self.turn;
        match event {
            Event::RunStarted(_) => turn.runs += 1,
            Event::TextMessageContent(content) => turn.text.push(content.delta.clone()),
            Event::ToolCallStart(call) => turn.calls.push(Call {
                name: call.tool_call_name.clone(),
                arguments: Vec::new(),
            }),
            Event::ToolCallArgs(arguments) => {
                if let Some(call) = turn.calls.last_mut() {
                    call.arguments.push(arguments.delta.clone());
                }
            }
            Event::ToolCallResult(result) => {
                turn.results.push(result.content.text().into_owned());
            }
            Event::StateSnapshot(_) => turn.snapshots += 1,
            Event::StateDelta(_) => turn.deltas += 1,
            _ => {}
        }
    }

    async fn answer(&mut self, question: &Question) -> Option<Answer> {
        let call = question.call().map(|call| &call.function);
        self.turn.questions.push(json!({
            "reason": question.reason(),
            "message": question.message(),
            "tool": call.map(|function| &function.name),
            "arguments": call.map(|function| &function.arguments),
            "editable": question.is_editable(),
        }));
        match self.policy.split_once(':') {
            Some(("decline", why)) => Some(question.decline(why)),
            Some(("edit", arguments)) => {
                let arguments: Value = serde_json::from_str(arguments).ok()?;
                Some(question.edit(arguments))
            }
            _ => match self.policy {
                "approve" => Some(question.approve()),
                "cancel" => Some(question.cancel()),
                _ => None,
            },
        }
    }
}

/// A tool of this program, as a page would have it. It notes what it is called with.
fn change_background(painted: &Arc<Mutex<Vec<String>>>) -> ClientTool {
    #[derive(Deserialize)]
    struct Background {
        background: String,
    }
    let painted = Arc::clone(painted);
    let parameters = json!({
        "type": "object",
        "properties": { "background": { "type": "string", "description": "A CSS background." } },
        "required": ["background"],
    });
    ClientTool::new(
        "change_background",
        "Change the background of the chat.",
        parameters,
        move |Background { background }: Background| {
            let result = format!("it is {background} now");
            painted
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(background);
            async { Ok::<_, std::convert::Infallible>(result) }
        },
    )
}
