//! Showing a run on the terminal while its events arrive.

mod calls;
mod progress;

use std::io::Write;
use std::time::Instant;

use antiphon_client::Event;
use serde_json::Value;

use super::console::{Screen, Style, fold};
use super::markdown::Markdown;
use calls::Calls;
pub(super) use calls::{seconds, show_call};
use progress::Progress;

/// What of a run is on the terminal.
#[derive(Debug, Default)]
pub(super) struct View {
    open: Open,
    calls: Calls,
    /// Of the run that is shown.
    progress: Option<Progress>,
}

/// What is being written. Events of several messages may come in turn.
#[derive(Debug, Default)]
enum Open {
    #[default]
    Nothing,
    Text(String, Markdown),
    Thought(String),
}

impl View {
    /// Starts to count the time of a run.
    pub(super) fn begin(&mut self, now: Instant) {
        self.progress = Some(Progress::new(now));
    }

    /// Shows an event.
    pub(super) fn event<W: Write>(&mut self, event: &Event, screen: &mut Screen<W>) {
        if let Some(progress) = &mut self.progress {
            progress.event(event);
        }
        match event {
            Event::TextMessageContent(content) => {
                self.say(&content.message_id, &content.delta, screen);
            }
            Event::ReasoningMessageContent(content) => {
                self.think(&content.message_id, &content.delta, screen);
            }
            Event::TextMessageEnd(_) | Event::ReasoningMessageEnd(_) => self.close(screen),
            Event::ToolCallEnd(_) | Event::ToolCallResult(_) => {
                self.close(screen);
                self.calls.event(event, Instant::now(), screen);
            }
            Event::RunStarted(_) | Event::ToolCallStart(_) | Event::ToolCallArgs(_) => {
                self.calls.event(event, Instant::now(), screen);
            }
            _ => {
                if let Some(line) = aside(event, screen.width()) {
                    self.close(screen);
                    screen.line(Style::DIM, &line);
                }
            }
        }
        screen.flush();
    }

    /// Shows that time passes.
    pub(super) fn tick<W: Write>(&mut self, now: Instant, screen: &mut Screen<W>) {
        let Some(progress) = &mut self.progress else {
            return;
        };
        if screen.looks().moves {
            screen.status(&progress.line(now));
        } else if screen.is_at_start()
            && let Some(line) = progress.line_once(now)
        {
            screen.line(Style::DIM, &line);
            screen.flush();
        }
    }

    /// Ends what was being written.
    pub(super) fn end<W: Write>(&mut self, screen: &mut Screen<W>) {
        self.close(screen);
        screen.hide_status();
        screen.flush();
        self.progress = None;
    }

    fn say<W: Write>(&mut self, id: &str, delta: &str, screen: &mut Screen<W>) {
        if !matches!(&self.open, Open::Text(open, _) if open == id) {
            self.close(screen);
            self.open = Open::Text(id.to_owned(), Markdown::default());
        }
        if let Open::Text(_, markdown) = &mut self.open {
            markdown.push(delta, screen);
        }
    }

    fn think<W: Write>(&mut self, id: &str, delta: &str, screen: &mut Screen<W>) {
        if !matches!(&self.open, Open::Thought(open) if open == id) {
            self.close(screen);
            self.open = Open::Thought(id.to_owned());
            screen.verbatim(Style::DIM, "· ");
            screen.set_indent(2);
        }
        screen.write(Style::DIM, delta);
    }

    fn close<W: Write>(&mut self, screen: &mut Screen<W>) {
        match std::mem::take(&mut self.open) {
            Open::Nothing => {}
            Open::Text(_, mut markdown) => markdown.finish(screen),
            Open::Thought(_) => {
                screen.end_line();
                screen.set_indent(0);
            }
        }
    }
}

/// Events that are worth a line of their own.
fn aside(event: &Event, width: usize) -> Option<String> {
    let line = match event {
        Event::StepStarted(step) => format!("step: {}", step.step_name),
        Event::SubagentStarted(agent) => format!("{} begins", agent.name),
        Event::SubagentError(agent) => format!("a subagent failed: {}", agent.message),
        Event::ActivitySnapshot(activity) => {
            let content = Value::Object(activity.content.clone());
            format!("{}: {content}", activity.activity_type)
        }
        _ => return None,
    };
    Some(fold(&line, width))
}

#[cfg(test)]
mod tests;
