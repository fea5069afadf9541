//! Requests: what starts a run.

use antiphon_protocol::{
    Content, Dialect, Message, PROTOCOL_VERSION, Replica, ResumeEntry, RunAgentInput, UserMessage,
};
use bytes::Bytes;
use serde_json::{Map, Value};

use super::Thread;
use crate::client::new_id;
use crate::http;
use crate::intake::{Intake, Judge};
use crate::request::{Body, Messages};
use crate::{Answer, ClientTool, Error, ErrorKind, History, Question, Run};

/// What a request is for.
#[derive(Default)]
struct Turn {
    message: Option<Message>,
    resume: Vec<ResumeEntry>,
    /// Whether neither messages nor state are sent.
    bare: bool,
}

impl Thread {
    /// Says something and starts a run.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unanswered`] if something is open, before anything is sent; or the server
    /// could not be reached, refused the request, or did not answer with events. The thread is
    /// as it was before.
    pub async fn send(&mut self, text: impl Into<Content>) -> Result<Run<'_>, Error> {
        self.start(Turn {
            message: Some(said(text)),
            ..Turn::default()
        })
        .await
    }

    /// Goes on after the last call that waited was answered.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub async fn proceed(&mut self) -> Result<Run<'_>, Error> {
        self.start(Turn::default()).await
    }

    /// Answers what the agent asked: each open question once.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unanswered`] if a question is left out or answered twice, before anything is
    /// sent; otherwise as [`send`](Self::send). The questions stay open then.
    pub async fn answer(
        &mut self,
        answers: impl IntoIterator<Item = Answer>,
    ) -> Result<Run<'_>, Error> {
        let turn = self.answering(answers);
        self.start(turn).await
    }

    /// Answers what the agent asked and says something, which the agent takes after the
    /// answers: all questions cancelled, then something else.
    ///
    /// # Errors
    ///
    /// As [`answer`](Self::answer). A private value can't be sent with anything else.
    pub async fn answer_and_send(
        &mut self,
        answers: impl IntoIterator<Item = Answer>,
        text: impl Into<Content>,
    ) -> Result<Run<'_>, Error> {
        let mut turn = self.answering(answers);
        if turn.bare {
            return Err(Error::new(
                ErrorKind::Unanswered,
                "a private value is answered alone: send the message afterwards",
            ));
        }
        turn.message = Some(said(text));
        self.start(turn).await
    }

    /// Opens the thread: a server that keeps it sends its messages, its state and what is open,
    /// and calls no model.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub async fn open(&mut self) -> Result<Run<'_>, Error> {
        let input = self.input(Vec::new());
        let nothing = Value::Object(Map::new());
        let body = self.body(&input, &nothing, None, &|_| false);
        let answer = self.client.transport().start(body).await?;
        Ok(self.run(input, answer))
    }

    /// Joins a run of this thread that is under way or over: the server shows where it stands,
    /// with snapshots, and what follows.
    ///
    /// # Errors
    ///
    /// The server could not be reached, or does not know the run or keep any.
    pub async fn join(&mut self, run_id: impl Into<String>) -> Result<Run<'_>, Error> {
        let mut input = self.input(Vec::new());
        input.run_id = run_id.into();
        let transport = self.client.transport();
        let answer = transport.join(&self.id, &input.run_id, None).await?;
        Ok(self.run(input, answer))
    }

    fn answering(&self, answers: impl IntoIterator<Item = Answer>) -> Turn {
        let questions = self.questions();
        let private = |answer: &Answer| {
            let asked = questions
                .iter()
                .find(|question| question.id() == answer.id());
            asked.map_or(answer.is_private(), Question::is_private)
        };
        let mut turn = Turn::default();
        for answer in answers {
            turn.bare |= private(&answer);
            turn.resume.push(answer.into_entry());
        }
        turn
    }

    async fn start(&mut self, turn: Turn) -> Result<Run<'_>, Error> {
        self.check_settled(&turn)?;
        self.order_results();
        let input = self.input(turn.resume);
        let nothing = Value::Object(Map::new());
        let patch;
        let keeps = self.client.keeps();
        let state = match keeps {
            _ if turn.bare => &nothing,
            History::Full => match self.state() {
                Value::Null => &nothing,
                state => state,
            },
            History::New => {
                patch = Value::Object(self.patch.clone());
                &patch
            }
        };
        let chosen = |message: &Message| match keeps {
            _ if turn.bare => false,
            History::Full => true,
            History::New => self.unsent.contains(message.id()),
        };
        let body = self.body(&input, state, turn.message.as_ref(), &chosen);
        let answer = self.client.transport().start(body).await?;
        if !turn.bare {
            self.unsent.clear();
            self.patch.clear();
        }
        let run = self.run_behind(turn.message, input, answer);
        Ok(run)
    }

    /// Checks that nothing that is open is left unanswered.
    fn check_settled(&self, turn: &Turn) -> Result<(), Error> {
        let unanswered = |message| Err(Error::new(ErrorKind::Unanswered, message));
        for interrupt in &self.interrupts {
            let answers = turn
                .resume
                .iter()
                .filter(|entry| entry.interrupt_id == interrupt.id);
            let asked = interrupt.message.as_deref().unwrap_or(&interrupt.reason);
            match answers.count() {
                1 => {}
                0 => return unanswered(format!("the question {asked:?} is not answered")),
                _ => return unanswered(format!("the question {asked:?} is answered twice")),
            }
        }
        match self.waiting().first() {
            // A resume may settle the call itself.
            Some(call) if turn.resume.is_empty() => unanswered(format!(
                "the call of {:?} is not answered",
                call.function.name
            )),
            _ => Ok(()),
        }
    }

    /// The request, without messages and state.
    fn input(&self, resume: Vec<ResumeEntry>) -> RunAgentInput {
        let mut input = RunAgentInput::new(self.id.clone(), new_id(), Vec::new());
        if self.client.dialect() == Dialect::V1 {
            input.protocol_version = Some(PROTOCOL_VERSION.to_owned());
        }
        let functions = self.tools.iter().map(ClientTool::tool);
        input.tools = functions.chain(&self.declared).cloned().collect();
        input.context.clone_from(&self.context);
        input.resume = resume;
        input
    }

    fn body(
        &self,
        input: &RunAgentInput,
        state: &Value,
        new: Option<&Message>,
        chosen: &dyn Fn(&Message) -> bool,
    ) -> Bytes {
        let messages = Messages {
            kept: self.messages(),
            chosen,
            new,
            dialect: self.client.dialect(),
        };
        Body::new(input, state, &self.forwarded_props, messages).to_json()
    }

    fn run(&mut self, input: RunAgentInput, answer: http::Answer) -> Run<'_> {
        let judge = Judge::new(input, None, self.client.is_strict());
        self.reading(judge, answer)
    }

    /// The run that a request has started, with what was said now part of the thread.
    fn run_behind(
        &mut self,
        message: Option<Message>,
        input: RunAgentInput,
        answer: http::Answer,
    ) -> Run<'_> {
        let replica = std::mem::replace(&mut self.replica, Replica::new(Vec::new(), None));
        let (mut messages, state) = replica.into_parts();
        messages.extend(message);
        let keeps_all = self.client.keeps() == History::Full;
        let history = keeps_all.then_some(messages.as_slice());
        let judge = Judge::new(input, history, self.client.is_strict());
        self.replica = Replica::new(messages, state);
        self.reading(judge, answer)
    }

    fn reading(&mut self, judge: Judge, answer: http::Answer) -> Run<'_> {
        self.usage.clear();
        let run_id = judge.run_id().to_owned();
        let intake = Intake::new(answer.wire, self.client.limit().event, judge);
        Run::new(self, run_id, intake, answer)
    }
}

fn said(text: impl Into<Content>) -> Message {
    UserMessage::new(new_id(), text).into()
}
