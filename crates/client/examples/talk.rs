//! Talks with any AG-UI server on the terminal.
//!
//! ```sh
//! cargo run -p antiphon-client --example talk -- http://127.0.0.1:8888/agents/recipe
//! ```
//!
//! Every line is said to the agent, whose words and tool calls are shown as they arrive.
//! Questions are asked in place: `y` approves, anything else declines with these words. A token
//! is taken from `AGENT_TOKEN`.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it talks on the terminal"
)]

use std::io::{BufRead as _, Write as _};

use antiphon_client::{Answer, Client, ClientTool, Ended, Event, Handler, Question};
use serde::Deserialize;
use serde_json::json;

type Failure = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let url = std::env::args().nth(1).ok_or("usage: talk URL")?;
    let mut client = Client::connect(url)?;
    if let Ok(token) = std::env::var("AGENT_TOKEN") {
        client = client.token(token);
    }
    let mut thread = client.new_thread().client_tool(change_background());
    while let Some(line) = read("> ")? {
        match thread.converse(line, Terminal).await {
            Ok(Ended::Done(Some(result))) => println!("\n= {result}"),
            Ok(Ended::Cancelled) => println!("\n(stopped)"),
            Ok(Ended::InProgress { .. }) => println!("\n(goes on elsewhere)"),
            Ok(_) => println!(),
            Err(error) => eprintln!("\n{error}"),
        }
    }
    println!("{:#}", thread.state());
    Ok(())
}

/// A tool of this program, as a page would have it.
fn change_background() -> ClientTool {
    #[derive(Deserialize)]
    struct Background {
        background: String,
    }
    let parameters = json!({
        "type": "object",
        "properties": { "background": { "type": "string", "description": "A CSS background." } },
        "required": ["background"],
    });
    ClientTool::new(
        "change_background",
        "Change the background of the chat.",
        parameters,
        |background: Background| async move {
            println!("[the background is {} now]", background.background);
            Ok::<_, std::convert::Infallible>("changed")
        },
    )
}

/// Shows what happens and asks the person.
struct Terminal;

impl Handler for Terminal {
    fn event(&mut self, event: &Event) {
        match event {
            Event::TextMessageContent(content) => print!("{}", content.delta),
            Event::TextMessageEnd(_) => println!(),
            Event::ToolCallStart(call) => print!("[{} ", call.tool_call_name),
            Event::ToolCallArgs(arguments) => print!("{}", arguments.delta),
            Event::ToolCallEnd(_) => println!("]"),
            Event::ToolCallResult(result) => println!("-> {}", result.content.text()),
            _ => return,
        }
        std::io::stdout().flush().ok();
    }

    async fn answer(&mut self, question: &Question) -> Option<Answer> {
        let asked = question.message().unwrap_or(question.reason());
        if question.is_private() {
            // A program of its own would read this without an echo.
            let value = read(&format!("{asked} (private, as JSON) "))
                .ok()
                .flatten()?;
            return Some(match serde_json::from_str::<serde_json::Value>(&value) {
                Ok(value) => question.answer(value),
                Err(_) => question.cancel(),
            });
        }
        let said = read(&format!("{asked} [y/reason] ")).ok().flatten()?;
        Some(match said.as_str() {
            "y" | "yes" => question.approve(),
            reason => question.decline(reason),
        })
    }
}

/// Reads a line, `None` at the end of the input.
fn read(prompt: &str) -> std::io::Result<Option<String>> {
    print!("{prompt}");
    std::io::stdout().flush()?;
    let mut line = String::new();
    let bytes = std::io::stdin().lock().read_line(&mut line)?;
    Ok((bytes > 0).then(|| line.trim().to_owned()))
}
