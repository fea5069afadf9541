//! The line that says what a run is at, while it says nothing else.

use std::time::{Duration, Instant};

use antiphon_client::Event;

use super::calls::seconds;

/// How long a frame of the spinner stays.
const FRAME: Duration = Duration::from_millis(100);
const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// How long a run is silent before a terminal that can't take a line back says so.
const PATIENCE: Duration = Duration::from_secs(1);

/// What a run is at.
#[derive(Debug)]
pub(super) struct Progress {
    began: Instant,
    /// Whether it was said in a line that stays.
    is_said: bool,
    at: String,
    /// Calls whose arguments are arriving: what changes the state meanwhile is a prediction.
    writing: usize,
    /// Bytes of arguments of the call under way.
    bytes: usize,
}

impl Progress {
    /// Of a run that begins now.
    pub(super) fn new(now: Instant) -> Self {
        Self {
            began: now,
            is_said: false,
            at: "waiting".to_owned(),
            writing: 0,
            bytes: 0,
        }
    }

    pub(super) fn event(&mut self, event: &Event) {
        match event {
            Event::RunStarted(_) | Event::ToolCallResult(_) => "thinking".clone_into(&mut self.at),
            Event::ToolCallStart(start) => {
                self.writing += 1;
                self.bytes = 0;
                self.at = format!("writing {}", start.tool_call_name);
            }
            Event::ToolCallArgs(args) => self.bytes += args.delta.len(),
            Event::ToolCallEnd(_) => {
                self.writing = self.writing.saturating_sub(1);
                "running tools".clone_into(&mut self.at);
            }
            Event::StateDelta(delta) => {
                let what = if self.writing > 0 {
                    "predicted state"
                } else {
                    "state"
                };
                if let Some(change) = delta.delta.last() {
                    self.at = format!("{what} {}", change.path());
                }
            }
            Event::StepStarted(step) => self.at = format!("step {}", step.step_name),
            _ => {}
        }
    }

    /// The line that stays, once, where the run is silent for a while.
    pub(super) fn line_once(&mut self, now: Instant) -> Option<String> {
        if self.is_said || now.duration_since(self.began) < PATIENCE {
            return None;
        }
        self.is_said = true;
        Some(format!("{} · Ctrl-C stops", self.at))
    }

    /// The line as it looks now.
    pub(super) fn line(&self, now: Instant) -> String {
        let passed = now.duration_since(self.began);
        let number = passed.as_millis() / FRAME.as_millis();
        let frame = FRAMES
            .get((number % FRAMES.len() as u128) as usize)
            .unwrap_or(&"");
        let bytes = match self.bytes {
            0 => String::new(),
            bytes if self.writing > 0 => format!(", {bytes} bytes"),
            _ => String::new(),
        };
        format!(
            "{frame} {}{bytes} · {} · Ctrl-C stops",
            self.at,
            seconds(passed)
        )
    }
}
