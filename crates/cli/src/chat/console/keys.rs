//! The keyboard, and the terminal's mode.

use std::io::{self, Write};

use crossterm::event::{
    DisableBracketedPaste, EnableBracketedPaste, Event, EventStream, KeyEvent, KeyEventKind,
};
use crossterm::{execute, terminal};
use futures_util::StreamExt;
use zeroize::Zeroizing;

/// What a person did at the terminal.
#[derive(Debug)]
pub(crate) enum Input {
    Key(KeyEvent),
    /// Text that was pasted.
    Paste(Zeroizing<String>),
    /// The terminal is this many columns wide now.
    Width(usize),
    /// The terminal is gone, or the program is to end.
    Gone,
}

/// The keyboard in raw mode: every key comes at once and none is echoed. The mode goes back to
/// what it was when this is dropped.
#[derive(Debug)]
pub(crate) struct Keys {
    events: EventStream,
    end: EndSignal,
    _mode: RawMode,
}

impl Keys {
    /// # Errors
    /// It is no terminal, or its mode can't be changed.
    pub(crate) fn new() -> io::Result<Self> {
        let mode = RawMode::begin()?;
        Ok(Self {
            events: EventStream::new(),
            end: EndSignal::new()?,
            _mode: mode,
        })
    }

    /// Waits for what the person does next. Safe to cancel.
    pub(crate) async fn next(&mut self) -> Input {
        loop {
            let event = tokio::select! {
                event = self.events.next() => event,
                () = self.end.recv() => return Input::Gone,
            };
            if let Some(input) = input(event) {
                return input;
            }
        }
    }

    /// Forgets the keys that were pressed already: whoever types ahead must not answer a question
    /// that was not there yet.
    pub(crate) async fn forget(&mut self) {
        // At most what a terminal holds; a key that is held down must not keep this busy.
        for _ in 0..4096 {
            // The stream wakes whoever has polled it first, so it is polled by this task.
            tokio::select! {
                biased;
                Some(Ok(_)) = self.events.next() => {}
                () = std::future::ready(()) => return,
            }
        }
    }
}

fn input(event: Option<io::Result<Event>>) -> Option<Input> {
    match event {
        None | Some(Err(_)) => Some(Input::Gone),
        Some(Ok(Event::Key(key))) if key.kind != KeyEventKind::Release => Some(Input::Key(key)),
        Some(Ok(Event::Paste(text))) => Some(Input::Paste(Zeroizing::new(text))),
        Some(Ok(Event::Resize(width, _))) => Some(Input::Width(usize::from(width))),
        Some(Ok(_)) => None,
    }
}

#[derive(Debug)]
struct RawMode;

impl RawMode {
    fn begin() -> io::Result<Self> {
        terminal::enable_raw_mode()?;
        let mode = Self;
        execute!(io::stdout(), EnableBracketedPaste)?;
        Ok(mode)
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        // There is nobody left to tell.
        let _ = execute!(io::stdout(), DisableBracketedPaste);
        let _ = terminal::disable_raw_mode();
        let _ = io::stdout().flush();
    }
}

/// SIGTERM, taken so that the terminal's mode goes back before the program ends.
#[cfg(unix)]
#[derive(Debug)]
struct EndSignal(tokio::signal::unix::Signal);

#[cfg(unix)]
impl EndSignal {
    fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self(signal(SignalKind::terminate())?))
    }

    async fn recv(&mut self) {
        if self.0.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(not(unix))]
#[derive(Debug)]
struct EndSignal;

#[cfg(not(unix))]
impl EndSignal {
    fn new() -> io::Result<Self> {
        Ok(Self)
    }

    async fn recv(&mut self) {
        std::future::pending().await
    }
}
