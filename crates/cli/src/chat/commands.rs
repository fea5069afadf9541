//! The commands of the prompt.

use antiphon_client::{Ended as RunEnded, Message};

use super::console::{Style, fold};
use super::markdown::Markdown;
use super::session::{Next, Session};
use crate::args::thread_id;
use crate::target::failure;

/// How many events `:events` shows.
const USUAL_EVENTS: usize = 20;
/// How many messages of a thread are shown when it is opened.
const SHOWN_MESSAGES: usize = 20;

const HELP: &[(&str, &str)] = &[
    (":state", "shows the shared state"),
    (
        ":events [N]",
        "shows the last N events, 20 if N is left out",
    ),
    (":threads", "lists the threads that the server keeps"),
    (":open ID", "goes on with a thread"),
    (":new", "begins a new thread"),
    (":answer", "asks what is open once more"),
    (":help", "shows this"),
    (":q, quit", "ends; so do Ctrl-D, and Ctrl-C twice"),
    ("Ctrl-C", "stops a run"),
    ("Alt-Enter", "begins a new line"),
];

impl Session {
    pub(super) async fn command(&mut self, line: &str) -> Next {
        let (name, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match (name, argument.trim()) {
            (":q" | ":quit" | "quit", "") => return Next::Leave,
            (":help", "") => self.help(),
            (":state", "") => self.show_state(),
            (":events", count) => self.show_events(count),
            (":threads", "") => self.show_threads().await,
            (":new", "") => {
                self.thread = self.target.client.new_thread();
                self.note("a new thread");
            }
            (":open", "") => self.complain("which thread? :open ID; :threads lists them"),
            (":open", id) => match thread_id(id) {
                Ok(id) => {
                    self.thread = self.target.client.thread(id);
                    return self.open().await;
                }
                Err(why) => self.complain(&why),
            },
            (":answer", "") if self.is_waiting() => {
                if let Some(step) = self.ask_open().await {
                    return self.converse(step).await;
                }
            }
            (":answer", "") => self.note("nothing is open"),
            _ => self.complain(&format!(
                "there is no command {line:?}; :help shows them, a space before it sends it as it is"
            )),
        }
        Next::Prompt
    }

    fn help(&mut self) {
        for (name, does) in HELP {
            let line = format!("  {name:<12} {does}");
            self.console.screen.verbatim(Style::PLAIN, &line);
            self.console.screen.newline();
        }
    }

    fn show_state(&mut self) {
        let state = format!("{:#}", self.thread.state());
        self.console.screen.verbatim(Style::PLAIN, &state);
        self.console.screen.newline();
        if self.is_waiting() {
            self.note("the agent waits for an answer: :answer");
        }
    }

    fn show_events(&mut self, count: &str) {
        let count = match count {
            "" => USUAL_EVENTS,
            "all" => usize::MAX,
            count => match count.parse() {
                Ok(count) => count,
                Err(_) => return self.complain("how many? :events 50, or :events all"),
            },
        };
        for line in self.log.last(count) {
            self.console.screen.verbatim(Style::PLAIN, line);
            self.console.screen.newline();
        }
        let (all, shown) = (self.log.len(), self.log.len().min(count));
        self.note(&format!("{shown} of {all} events"));
    }

    async fn show_threads(&mut self) {
        let Some(server) = &self.target.server else {
            return self.note("this server does not tell which threads it keeps");
        };
        let sessions = match server.sessions().await {
            Ok(sessions) => sessions,
            Err(failure) => return self.complain(&failure.to_string()),
        };
        if sessions.is_empty() {
            self.note("the server keeps no thread yet");
        }
        for session in sessions {
            let mark = if session.id == self.thread.id() {
                "* "
            } else {
                "  "
            };
            let title = session
                .metadata
                .get("title")
                .and_then(|title| title.as_str());
            let line = format!("{} {}", session.id, title.unwrap_or_default());
            let room = self.console.screen.width() - mark.len();
            let line = format!("{mark}{}", fold(&line, room));
            self.console.screen.verbatim(Style::PLAIN, &line);
            self.console.screen.newline();
        }
    }

    /// Opens the thread: fetches what the server has kept of it, and asks what is open.
    pub(super) async fn open(&mut self) -> Next {
        if self.target.server.is_none() {
            self.note("this server may not keep threads: the next message goes on in this one");
            return Next::Prompt;
        }
        let Some(ended) = self.fetch().await else {
            return Next::Prompt;
        };
        self.show_messages(0);
        match ended {
            RunEnded::Asked(_) | RunEnded::Waiting(_) => match self.ask_open().await {
                Some(step) => self.converse(step).await,
                None => Next::Prompt,
            },
            RunEnded::InProgress { response_id } => match self.follow(response_id).await {
                Ok(Some(step)) => self.converse(step).await,
                Ok(None) => Next::Prompt,
                Err(next) => next,
            },
            RunEnded::Done(_) | RunEnded::Cancelled => Next::Prompt,
        }
    }

    /// Fetches what the server has kept of the thread. `None`: it could not, and that was said.
    pub(super) async fn fetch(&mut self) -> Option<RunEnded> {
        let log = &mut self.log;
        let fetched = async {
            let mut run = self.thread.open().await?;
            while let Some(event) = run.next().await? {
                log.push(&event);
            }
            run.end()
        };
        match fetched.await {
            Ok(ended) => Some(ended),
            Err(error) => {
                self.complain(&failure(&error).to_string());
                None
            }
        }
    }

    /// Shows the messages from this one on, at most the last few.
    pub(super) fn show_messages(&mut self, from: usize) {
        let messages = self.thread.messages();
        let skipped = from.max(messages.len().saturating_sub(SHOWN_MESSAGES));
        let screen = &mut self.console.screen;
        if skipped > from {
            let line = format!("({} earlier messages)", skipped - from);
            screen.line(Style::DIM, &line);
        }
        for message in messages.iter().skip(skipped) {
            match message {
                Message::User(said) => {
                    screen.verbatim(Style::BOLD, "> ");
                    screen.set_indent(2);
                    screen.verbatim(Style::PLAIN, &said.content.text());
                    screen.set_indent(0);
                    screen.end_line();
                }
                Message::Assistant(said) => {
                    let mut markdown = Markdown::default();
                    markdown.push(said.content.as_deref().unwrap_or_default(), screen);
                    markdown.finish(screen);
                    for call in &said.tool_calls {
                        super::view::show_call(
                            &call.function.name,
                            &call.function.arguments,
                            screen,
                        );
                    }
                }
                Message::Tool(result) => {
                    let room = screen.width().saturating_sub(4);
                    let line = format!("  ↳ {}", fold(&result.content.text(), room));
                    screen.verbatim(Style::DIM, &line);
                    screen.newline();
                }
                _ => {}
            }
        }
        screen.flush();
    }
}
