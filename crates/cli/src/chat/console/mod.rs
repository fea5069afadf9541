//! The terminal that a person sits at.

mod clean;
mod draw;
mod keys;
mod line;
mod screen;
mod style;

use std::io::{self, IsTerminal, Stdout, stdin, stdout};

use crossterm::event::{KeyCode, KeyModifiers};
use zeroize::Zeroizing;

pub(crate) use clean::{clean, fold};
use draw::Drawing;
pub(crate) use keys::Input;
use keys::Keys;
use line::{Did, Line};
pub(crate) use screen::{Looks, Screen};
pub(crate) use style::Style;

/// How many lines are kept to come back to.
const KEPT_LINES: usize = 500;
/// How wide a terminal is taken for that doesn't say it.
const USUAL_WIDTH: usize = 80;

/// Returns whether a person sits here: keys come from a terminal and text goes to one.
pub(crate) fn is_interactive() -> bool {
    stdin().is_terminal() && stdout().is_terminal()
}

/// What the terminal at standard output can show, with this end of its lines.
pub(crate) fn looks(newline: &'static str) -> Looks {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let width = crossterm::terminal::size().map_or(0, |(width, _)| usize::from(width));
    let moves = stdout().is_terminal() && !is_dumb;
    Looks {
        width: if width == 0 { USUAL_WIDTH } else { width },
        styled: moves && !is_set("NO_COLOR"),
        moves,
        newline,
    }
}

/// A terminal with keyboard and screen.
#[derive(Debug)]
pub(crate) struct Console {
    /// `None` while another program has the terminal.
    keys: Option<Keys>,
    pub(crate) screen: Screen<Stdout>,
    /// Lines that were entered before, the last one last.
    kept: Vec<String>,
    /// What was typed while a run went on.
    ahead: Line,
}

/// What came of asking for a line.
#[derive(Debug)]
pub(crate) enum Reply<T = String> {
    Line(T),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D, or the terminal is gone.
    Ended,
}

impl Console {
    /// # Errors
    /// It is no terminal, or its mode can't be changed.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            keys: Some(Keys::new()?),
            screen: Screen::new(stdout(), looks("\r\n")),
            kept: Vec::new(),
            ahead: Line::default(),
        })
    }

    /// Waits for what the person does next. Safe to cancel.
    pub(crate) async fn input(&mut self) -> Input {
        let Some(keys) = &mut self.keys else {
            return Input::Gone;
        };
        let input = keys.next().await;
        if let Input::Width(width) = input {
            self.screen.resize(width);
        }
        input
    }

    /// Forgets the keys that were pressed already.
    pub(crate) async fn forget_keys(&mut self) {
        if let Some(keys) = &mut self.keys {
            keys.forget().await;
        }
    }

    /// Keeps what is typed while a run goes on, for the prompt that comes after it.
    pub(crate) fn type_ahead(&mut self, input: &Input) {
        match input {
            Input::Key(key) if key.code != KeyCode::Enter => {
                self.ahead.press(*key);
            }
            Input::Paste(text) => self.ahead.insert(text),
            Input::Key(_) | Input::Width(_) | Input::Gone => {}
        }
    }

    /// Takes what was typed ahead.
    pub(crate) fn take_draft(&mut self) -> String {
        let draft = self.ahead.text().to_owned();
        self.ahead.replace("");
        draft
    }

    /// Asks for a line, which begins as `draft`. Earlier lines can be had with the arrow keys.
    pub(crate) async fn ask(&mut self, prompt: &str, style: Style, draft: &str) -> Reply {
        self.screen.end_line();
        self.screen.hide_status();
        let mut line = Line::new(draft);
        let mut drawing = Drawing::default();
        let mut back = 0;
        loop {
            drawing.draw(prompt, style, &line, &mut self.screen);
            let reply = match press(&mut line, self.input().await) {
                Did::Earlier if back < self.kept.len() => {
                    back += 1;
                    self.recall(back, &mut line);
                    continue;
                }
                Did::Later if back > 0 => {
                    back -= 1;
                    self.recall(back, &mut line);
                    continue;
                }
                Did::Nothing | Did::Changed | Did::Earlier | Did::Later => continue,
                Did::Entered => Reply::Line(line.text().to_owned()),
                Did::Interrupted => Reply::Interrupted,
                Did::Ended => Reply::Ended,
            };
            drawing.leave(prompt, &line, &mut self.screen);
            return reply;
        }
    }

    fn recall(&self, back: usize, line: &mut Line) {
        let at = self.kept.len() - back;
        line.replace(self.kept.get(at).map_or("", String::as_str));
    }

    /// Keeps a line to come back to.
    pub(crate) fn keep(&mut self, line: &str) {
        if self.kept.last().is_none_or(|last| last != line) {
            if self.kept.len() == KEPT_LINES {
                self.kept.remove(0);
            }
            self.kept.push(line.to_owned());
        }
    }

    /// Asks for a line that is neither shown nor kept.
    pub(crate) async fn ask_secret(&mut self, prompt: &str) -> Reply<Zeroizing<String>> {
        self.screen.end_line();
        self.screen.hide_status();
        let mut line = Line::default();
        let mut drawing = Drawing::default();
        drawing.draw(prompt, Style::ASKING, &Line::default(), &mut self.screen);
        loop {
            let reply = match press(&mut line, self.input().await) {
                Did::Entered => Reply::Line(Zeroizing::new(line.text().to_owned())),
                Did::Interrupted => Reply::Interrupted,
                Did::Ended => Reply::Ended,
                Did::Nothing | Did::Changed | Did::Earlier | Did::Later => continue,
            };
            drawing.leave(prompt, &Line::default(), &mut self.screen);
            return reply;
        }
    }

    /// Leaves the terminal to another program while `work` lasts.
    ///
    /// # Errors
    /// The terminal can't be had back.
    pub(crate) fn lend<T>(&mut self, work: impl FnOnce() -> T) -> io::Result<T> {
        self.screen.hide_status();
        self.screen.flush();
        self.keys = None;
        let done = work();
        self.keys = Some(Keys::new()?);
        Ok(done)
    }
}

/// Returns whether it is Ctrl-C.
pub(crate) fn is_interrupt(input: &Input) -> bool {
    matches!(input, Input::Key(key)
        if key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL))
}

fn press(line: &mut Line, input: Input) -> Did {
    match input {
        Input::Key(key) => line.press(key),
        Input::Paste(text) => {
            line.insert(&text);
            Did::Changed
        }
        Input::Width(_) => Did::Changed,
        Input::Gone => Did::Ended,
    }
}
