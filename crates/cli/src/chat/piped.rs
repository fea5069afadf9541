//! A message from a pipe: its answer goes to standard output, as text or as events.

use std::io::{self, IsTerminal, Read, Stdout, Write, stdin, stdout};
use std::pin::{Pin, pin};
use std::time::Duration;

use antiphon_client::{Canceller, Ended as RunEnded, Event, Run, Thread};
use tokio::time::timeout;

use super::console::{Screen, clean, fold, looks};
use super::view::View;
use crate::failure::{Code, Ended, Failure};
use crate::target::Target;
use crate::target::failure;

/// The longest message that is taken, in bytes.
const LONGEST: u64 = 16 << 20;
/// How long the server may take to confirm that a run is stopped.
const STOP_TIME: Duration = Duration::from_secs(2);

/// Says what comes from standard input and prints the answer.
///
/// # Errors
/// There is no message, or the run failed, or waits for a person.
pub(super) async fn run(target: &Target, mut thread: Thread, json: bool) -> Result<Ended, Failure> {
    let message = message()?;
    let thread_id = thread.id().to_owned();
    let mut output = Output::new(json);
    let mut interrupted = pin!(interrupted());
    let started = tokio::select! {
        started = thread.send(message) => started.map_err(|error| failure(&error))?,
        () = &mut interrupted => return Ok(Ended::Interrupted),
    };
    let Some(ended) = read(started, &mut output, interrupted).await? else {
        return Ok(Ended::Interrupted);
    };
    if output.is_closed() {
        // Whoever read it, such as `head`, has had enough.
        return Ok(Ended::Found(Code::Failed));
    }
    let whom = match &ended {
        RunEnded::Done(_) => return Ok(Ended::Well),
        RunEnded::Cancelled => return Err(Failure::failed("the run was cancelled")),
        waiting => waits_for(waiting),
    };
    let agent = target.agent.as_deref();
    let agent = agent.map(|name| format!(" --agent {name}"));
    Err(Failure::waiting(format!(
        "the run waits for {whom}; go on with: antiphon chat {}{} --thread {thread_id}",
        target.url,
        agent.unwrap_or_default()
    )))
}

/// For whom or what a run waits.
fn waits_for(ended: &RunEnded) -> String {
    match ended {
        RunEnded::Asked(questions) => {
            let asked = questions.iter().map(|question| {
                let asked = question.message().unwrap_or(question.reason());
                fold(asked, 200)
            });
            format!("a person: {}", asked.collect::<Vec<_>>().join("; "))
        }
        RunEnded::Waiting(calls) => {
            let names = calls.iter().map(|call| fold(&call.function.name, 100));
            format!("the result of {}", names.collect::<Vec<_>>().join(", "))
        }
        _ => "another system".to_owned(),
    }
}

/// Reads the run to its end; `None` if Ctrl-C has stopped it.
async fn read(
    mut run: Run<'_>,
    output: &mut Output,
    mut interrupted: Pin<&mut impl Future<Output = ()>>,
) -> Result<Option<RunEnded>, Failure> {
    let canceller = run.canceller();
    loop {
        let event = tokio::select! {
            event = run.next() => event,
            () = &mut interrupted => {
                drop(run);
                stop(&canceller).await;
                output.end();
                return Ok(None);
            }
        };
        match event {
            Ok(Some(event)) => output.event(&event),
            Ok(None) => break,
            Err(error) => {
                output.end();
                return Err(failure(&error));
            }
        }
        if output.is_closed() {
            stop(&canceller).await;
            return Ok(Some(RunEnded::Cancelled));
        }
    }
    output.end();
    run.end().map(Some).map_err(|error| failure(&error))
}

/// Asks the server to stop the run. One that does not offer that notices that nobody reads.
async fn stop(canceller: &Canceller) {
    let _ = timeout(STOP_TIME, canceller.cancel()).await;
}

/// Waits for Ctrl-C. One future is kept for the whole run: it remembers a signal that comes while
/// something else is done, where one made anew for each event would miss it.
async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// The whole of standard input, as one message.
fn message() -> Result<String, Failure> {
    if stdin().is_terminal() {
        // Where this can't be written nobody waits for it.
        let _ = writeln!(io::stderr(), "type the message, then Ctrl-D");
    }
    let mut bytes = Vec::new();
    let read = stdin().lock().take(LONGEST + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::failed(format!("standard input can't be read: {error}")))?;
    if bytes.len() as u64 > LONGEST {
        return Err(Failure::usage(format!(
            "the message is longer than {LONGEST} bytes"
        )));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::usage("the message on standard input is not UTF-8 text"))?;
    let text = text.trim();
    if text.is_empty() {
        return Err(Failure::usage(
            "there is no message: write it to standard input, as in echo hi | antiphon chat",
        ));
    }
    Ok(text.to_owned())
}

/// Where the answer goes.
enum Output {
    /// Events as JSON, one in a line.
    Events(Writer),
    /// What the agent says, and nothing else.
    Text(Writer, Option<String>),
    /// A terminal, which shows more than the text.
    Terminal(Box<(View, Screen<Stdout>)>),
}

#[derive(Default)]
struct Writer {
    failed: bool,
}

impl Writer {
    fn write(&mut self, text: &str) {
        let mut out = stdout().lock();
        let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        self.failed |= written.is_err();
    }
}

impl Output {
    fn new(json: bool) -> Self {
        if json {
            Self::Events(Writer::default())
        } else if stdout().is_terminal() {
            let screen = Screen::new(stdout(), looks("\n"));
            Self::Terminal(Box::new((View::default(), screen)))
        } else {
            Self::Text(Writer::default(), None)
        }
    }

    fn event(&mut self, event: &Event) {
        match self {
            Self::Events(writer) => writer.write(&json_line(event)),
            Self::Text(writer, last) => {
                if let Event::TextMessageContent(content) = event {
                    let is_new = last.as_ref() != Some(&content.message_id);
                    if is_new && last.replace(content.message_id.clone()).is_some() {
                        writer.write("\n\n");
                    }
                    writer.write(&clean(&content.delta));
                }
            }
            Self::Terminal(terminal) => {
                let (view, screen) = terminal.as_mut();
                view.event(event, screen);
            }
        }
    }

    fn end(&mut self) {
        match self {
            Self::Events(_) | Self::Text(_, None) => {}
            Self::Text(writer, Some(_)) => writer.write("\n"),
            Self::Terminal(terminal) => {
                let (view, screen) = terminal.as_mut();
                view.end(screen);
            }
        }
    }

    fn is_closed(&self) -> bool {
        match self {
            Self::Events(writer) | Self::Text(writer, _) => writer.failed,
            Self::Terminal(_) => false,
        }
    }
}

/// An event as one line of JSON in which no character can be taken for a terminal's command.
fn json_line(event: &Event) -> String {
    let json = String::from_utf8_lossy(&event.to_json()).into_owned();
    let mut line = String::with_capacity(json.len() + 1);
    for char in json.chars() {
        if char.is_control() {
            line.push_str(&format!("\\u{:04x}", u32::from(char)));
        } else {
            line.push(char);
        }
    }
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_json_holds_no_control_character() {
        let event = Event::read(serde_json::json!({
            "type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "a\u{9b}2J\u{7f}\u{1b}\nb"
        }));
        let line = json_line(&event.unwrap().value.unwrap());
        assert!(!line.trim_end().contains(char::is_control), "{line:?}");
        let back: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(back["delta"], "a\u{9b}2J\u{7f}\u{1b}\nb");
    }
}
