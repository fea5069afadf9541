//! Tool calls: their names and arguments, what came of them, and how long they took.

use std::io::Write;
use std::time::{Duration, Instant};

use antiphon_client::Event;

use crate::chat::console::{Screen, Style, fold};

/// How much of a call's arguments is kept to be shown, in bytes. The thread has them whole.
const SHOWN_ARGUMENTS: usize = 4096;
/// How many calls are followed at once.
const MAX_CALLS: usize = 256;

/// The calls whose results have not come yet.
#[derive(Debug, Default)]
pub(super) struct Calls(Vec<Call>);

#[derive(Debug)]
struct Call {
    id: String,
    name: String,
    arguments: String,
    /// When the arguments were complete.
    called: Option<Instant>,
}

impl Calls {
    pub(super) fn event<W: Write>(&mut self, event: &Event, now: Instant, screen: &mut Screen<W>) {
        match event {
            Event::ToolCallStart(start) => {
                if self.0.len() == MAX_CALLS {
                    self.0.remove(0);
                }
                self.0.push(Call {
                    id: start.tool_call_id.clone(),
                    name: start.tool_call_name.clone(),
                    arguments: String::new(),
                    called: None,
                });
            }
            Event::ToolCallArgs(args) => {
                if let Some(call) = self.call(&args.tool_call_id)
                    && call.arguments.len() < SHOWN_ARGUMENTS
                {
                    call.arguments.push_str(&args.delta);
                }
            }
            Event::ToolCallEnd(end) => {
                if let Some(call) = self.call(&end.tool_call_id) {
                    call.called = Some(now);
                    show_call(&call.name, &call.arguments, screen);
                }
            }
            Event::ToolCallResult(result) => {
                let at = self
                    .0
                    .iter()
                    .position(|call| call.id == result.tool_call_id);
                let others = self.0.len() > 1;
                let call = at.map(|at| self.0.remove(at));
                let name = call
                    .as_ref()
                    .filter(|_| others)
                    .map(|call| call.name.as_str());
                let called = call.as_ref().and_then(|call| call.called);
                let took = called.map(|called| now.saturating_duration_since(called));
                show_result(name, &result.content.text(), took, screen);
            }
            Event::RunStarted(_) => {
                // What waited for a person was not running meanwhile.
                for call in &mut self.0 {
                    call.called = Some(now);
                }
            }
            _ => {}
        }
    }

    fn call(&mut self, id: &str) -> Option<&mut Call> {
        self.0.iter_mut().find(|call| call.id == id)
    }
}

/// Shows a call in one line.
pub(in crate::chat) fn show_call<W: Write>(name: &str, arguments: &str, screen: &mut Screen<W>) {
    screen.end_line();
    screen.verbatim(Style::GOOD, "▸ ");
    let name = fold(name, screen.width() / 2);
    screen.verbatim(Style::BOLD, &name);
    let room = screen.width().saturating_sub(name.chars().count() + 3);
    screen.verbatim(Style::DIM, &format!(" {}", fold(arguments, room)));
    screen.newline();
}

fn show_result<W: Write>(
    name: Option<&str>,
    result: &str,
    took: Option<Duration>,
    screen: &mut Screen<W>,
) {
    let name = name.map(|name| format!("{name}: ")).unwrap_or_default();
    let took = took
        .map(|took| format!(" ({})", seconds(took)))
        .unwrap_or_default();
    let room = screen.width().saturating_sub(4 + took.chars().count());
    let line = format!("  ↳ {}{took}", fold(&format!("{name}{result}"), room));
    screen.end_line();
    screen.verbatim(Style::DIM, &line);
    screen.newline();
}

/// A duration as people read it.
pub(in crate::chat) fn seconds(duration: Duration) -> String {
    match duration.as_secs() {
        0..=9 => format!("{:.1} s", duration.as_secs_f64()),
        seconds @ 10..=59 => format!("{seconds} s"),
        seconds @ 60..=3599 => format!("{} min {} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_well() {
        let of = |millis| seconds(Duration::from_millis(millis));
        assert_eq!(of(340), "0.3 s");
        assert_eq!(of(12_900), "12 s");
        assert_eq!(of(125_000), "2 min 5 s");
        assert_eq!(of(7_260_000), "2 h 1 min");
    }
}
