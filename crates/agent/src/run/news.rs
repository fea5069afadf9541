//! What of a client's list of messages its thread does not have.

use antiphon_protocol::{Message, ToolMessage, UserMessage};

use super::conversation::{Conversation, same_words};
use crate::error::Refusal;
use crate::store::StoredMessage;

/// The new parts of a client's list of messages.
#[derive(Default)]
pub(super) struct News {
    /// How many messages the list has.
    pub(super) sent: usize,
    /// What the person says, in the order of the list.
    pub(super) users: Vec<UserMessage>,
    pub(super) results: Vec<Given>,
    /// Where the person goes back to.
    pub(super) back: Option<Back>,
}

/// A known user message that the thread goes back to.
pub(super) struct Back {
    pub(super) id: String,
    place: i64,
    /// Whether the message is among what the person says now, so that its old form goes, too.
    pub(super) edited: bool,
}

/// A tool message of a client's list that may be an answer.
pub(super) struct Given {
    pub(super) message: ToolMessage,
    /// Whether nothing but such messages follows, so that they are what asks for a run.
    pub(super) asks: bool,
    /// Whether the thread has a result of the same call under the same message id.
    pub(super) known: bool,
}

/// A client's list while it is read.
struct List<'a> {
    conversation: &'a Conversation,
    news: News,
    /// The last message.
    last: usize,
    /// The last message that a person did not write.
    last_reply: usize,
    /// From here on there are only results.
    results_at_end: usize,
    /// Whether known user messages may change the thread.
    may_go_back: bool,
}

impl News {
    /// What is new in a list. Everything else that differs is not taken: the stored thread is the truth,
    /// and only a person's own words may change it. An answer goes on where the thread stopped: with one
    /// the thread does not go back.
    ///
    /// Some clients make new ids for the whole history in every request. A user message that was answered
    /// already, in the same words, is known whatever its id.
    pub(super) fn read(
        conversation: &Conversation,
        messages: Vec<Message>,
        may_go_back: bool,
    ) -> Result<Self, Refusal> {
        let is_reply = |m: &Message| matches!(m, Message::Assistant(_) | Message::Tool(_));
        let is_other = |m: &Message| !matches!(m, Message::Tool(_));
        let mut list = List {
            conversation,
            news: Self {
                sent: messages.len(),
                ..Self::default()
            },
            last: messages.len().saturating_sub(1),
            last_reply: messages.iter().rposition(is_reply).unwrap_or(0),
            results_at_end: messages.iter().rposition(is_other).map_or(0, |i| i + 1),
            may_go_back,
        };
        for (index, message) in messages.into_iter().enumerate() {
            list.take(index, message)?;
        }
        let mut news = list.news;
        // Once more from a known message only where nothing else is said.
        news.back = news
            .back
            .filter(|back| back.edited || news.users.is_empty());
        Ok(news)
    }
}

impl List<'_> {
    fn take(&mut self, index: usize, message: Message) -> Result<(), Refusal> {
        let known = self.conversation.find(message.id());
        match (known, message) {
            (None, Message::User(message)) => self.unknown(index, message),
            (Some(known), Message::User(message)) => self.known(index, known, message),
            (known, Message::Tool(message)) => {
                self.result(index, known, message);
                Ok(())
            }
            (None, message) => {
                tracing::warn!(
                    id = message.id(),
                    role = message.role().as_str(),
                    "a message that the server did not make is left out"
                );
                Ok(())
            }
            (Some(_), _) => Ok(()),
        }
    }

    /// Whether the thread is cut before what stands here.
    fn is_behind_edit(&self) -> bool {
        self.news.back.as_ref().is_some_and(|back| back.edited)
    }

    fn unknown(&mut self, index: usize, message: UserMessage) -> Result<(), Refusal> {
        let is_answered = !self.is_behind_edit() && index < self.last_reply;
        if is_answered && self.conversation.has_said(&message.content) {
            let id = message.id;
            tracing::debug!(id, "an answered message came again under another id");
            return Ok(());
        }
        self.say(index, message)
    }

    fn known(
        &mut self,
        index: usize,
        known: &StoredMessage,
        message: UserMessage,
    ) -> Result<(), Refusal> {
        let Message::User(said) = &known.message else {
            return Ok(());
        };
        if !self.may_go_back {
            return Ok(());
        }
        let edited = !same_words(&said.content, &message.content);
        if let Some(back) = self.news.back.as_mut().filter(|back| back.edited) {
            // Its old place is cut away, or has to be: it is said here now.
            if known.place < back.place {
                back.id.clone_from(&message.id);
                back.place = known.place;
            }
            return self.say(index, message);
        }
        if edited || index == self.last {
            self.news.back = Some(Back {
                id: message.id.clone(),
                place: known.place,
                edited,
            });
        }
        match edited {
            true => self.say(index, message),
            false => Ok(()),
        }
    }

    fn say(&mut self, index: usize, message: UserMessage) -> Result<(), Refusal> {
        if message.content.is_empty() {
            let field = format!("messages[{index}].content");
            let message = "a user message needs content";
            return Err(Refusal::invalid("invalid_input", field, message));
        }
        self.news.users.push(message);
        Ok(())
    }

    fn result(&mut self, index: usize, known: Option<&StoredMessage>, message: ToolMessage) {
        let asks = index >= self.results_at_end;
        let is_same_call = |stored: &StoredMessage| matches!(&stored.message, Message::Tool(result) if result.tool_call_id == message.tool_call_id);
        // A known one in the middle is history.
        if known.is_none_or(|stored| asks && is_same_call(stored)) {
            self.news.results.push(Given {
                known: known.is_some(),
                message,
                asks,
            });
        }
    }
}
