//! A conversation with an agent: messages, shared state, and what is open.

use std::collections::HashSet;

use antiphon_protocol::{
    AssistantMessage, Content, Context, Dialect, Event, Interrupt, Message, PROTOCOL_VERSION,
    Replica, ResumeEntry, Role, RunAgentInput, StateSnapshot, TokenUsage, Tool, ToolCall,
    ToolMessage, UserMessage, Warning,
};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::client::new_id;
use crate::intake::{Intake, Judge, Terminal};
use crate::question::value;
use crate::request::{Body, Messages};
use crate::{Answer, Client, ClientTool, Error, ErrorKind, History, Question, Run};

/// A conversation with an agent. It keeps the messages and the shared state as the agent's
/// events make them, and what the agent waits for.
///
/// One run at a time: a [`Run`] borrows its thread.
#[derive(Debug)]
pub struct Thread {
    client: Client,
    id: String,
    replica: Replica,
    /// What the last run stopped to ask.
    interrupts: Vec<Interrupt>,
    /// The calls that the last run left to be answered here.
    pending: Vec<String>,
    tools: Vec<ClientTool>,
    declared: Vec<Tool>,
    context: Vec<Context>,
    forwarded_props: Value,
    /// Messages that were added here since the last request.
    unsent: HashSet<String>,
    /// State that was set here since the last request.
    patch: Map<String, Value>,
    usage: Vec<TokenUsage>,
}

/// What a request is for.
#[derive(Default)]
struct Turn {
    message: Option<Message>,
    resume: Vec<ResumeEntry>,
    /// Whether neither messages nor state are sent.
    bare: bool,
}

impl Thread {
    pub(crate) fn new(client: Client, id: String) -> Self {
        Self {
            client,
            id,
            replica: Replica::new(Vec::new(), None),
            interrupts: Vec::new(),
            pending: Vec::new(),
            tools: Vec::new(),
            declared: Vec::new(),
            context: Vec::new(),
            forwarded_props: Value::Object(Map::new()),
            unsent: HashSet::new(),
            patch: Map::new(),
            usage: Vec::new(),
        }
    }

    /// Goes on from messages and a state that were kept elsewhere.
    #[must_use]
    pub fn restore(mut self, messages: Vec<Message>, state: Value) -> Self {
        self.replica = Replica::new(messages, state);
        self
    }

    /// Lets the agent call this function. One of the same name is replaced.
    #[must_use]
    pub fn client_tool(mut self, tool: ClientTool) -> Self {
        self.tools.retain(|known| known.name() != tool.name());
        self.tools.push(tool);
        self
    }

    /// Tells the agent of a tool whose calls are answered by hand, with
    /// [`tool_result`](Self::tool_result).
    #[must_use]
    pub fn tool(mut self, tool: Tool) -> Self {
        self.declared.push(tool);
        self
    }

    /// Lets the agent know something. An entry of the same description is replaced.
    pub fn set_context(&mut self, description: impl Into<String>, value: impl Into<String>) {
        let context = Context::new(description, value);
        self.context
            .retain(|known| known.description != context.description);
        self.context.push(context);
    }

    /// Sets what is passed through to the agent with every run.
    pub fn set_forwarded_props(&mut self, props: impl Serialize) {
        self.forwarded_props = value(props);
    }

    /// Returns the thread's id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the client that it is a thread of.
    #[must_use]
    pub const fn client(&self) -> &Client {
        &self.client
    }

    /// Returns the messages, in order.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        self.replica.messages()
    }

    /// Returns the shared state.
    #[must_use]
    pub const fn state(&self) -> &Value {
        self.replica.state()
    }

    /// Returns the text that the agent said last, empty if it has said nothing.
    #[must_use]
    pub fn text(&self) -> &str {
        let said = self
            .messages()
            .iter()
            .rev()
            .find_map(|message| match message {
                Message::Assistant(AssistantMessage { content, .. }) => content.as_deref(),
                _ => None,
            });
        said.unwrap_or_default()
    }

    /// Returns what the last run used, one entry per model, where the agent says so.
    #[must_use]
    pub fn usage(&self) -> &[TokenUsage] {
        &self.usage
    }

    /// Returns the questions that are open.
    #[must_use]
    pub fn questions(&self) -> Vec<Question> {
        let question = |interrupt: &Interrupt| {
            let call = interrupt.tool_call_id.as_deref();
            let call = call.and_then(|id| self.call(id)).cloned();
            Question::new(interrupt.clone(), call)
        };
        self.interrupts.iter().map(question).collect()
    }

    /// Returns the calls that wait for a result from here, in call order.
    #[must_use]
    pub fn waiting(&self) -> Vec<ToolCall> {
        let open = self.pending.iter().filter(|id| !self.is_answered(id));
        open.filter_map(|id| self.call(id).cloned()).collect()
    }

    /// Changes the shared state: members that are left out stay, a value replaces its member
    /// whole. The agent learns of it with the next run.
    pub fn set_state(&mut self, patch: impl Serialize) {
        let state = match (value(patch), self.state()) {
            (Value::Object(patch), Value::Object(state)) => {
                let mut state = state.clone();
                for (key, value) in patch {
                    self.patch.insert(key.clone(), value.clone());
                    state.insert(key, value);
                }
                Value::Object(state)
            }
            (state, _) => {
                self.patch = state.as_object().cloned().unwrap_or_default();
                state
            }
        };
        self.replica.apply(&StateSnapshot::new(state).into());
    }

    /// Answers a call of one of this client's tools.
    pub fn tool_result(&mut self, call: &ToolCall, result: impl Serialize) {
        self.answer_call(call, Content::Text(content(value(result))), None);
    }

    /// Answers a call with why it failed.
    pub fn tool_failure(&mut self, call: &ToolCall, why: impl Into<String>) {
        let why = why.into();
        self.answer_call(call, Content::Text(why.clone()), Some(why));
    }

    fn answer_call(&mut self, call: &ToolCall, content: Content, error: Option<String>) {
        let mut answer = ToolMessage::new(new_id(), call.id.clone(), content);
        answer.error = error;
        self.unsent.insert(answer.id.clone());
        let replica = std::mem::replace(&mut self.replica, Replica::new(Vec::new(), None));
        let (mut messages, state) = replica.into_parts();
        let of_call = messages
            .iter()
            .rposition(|message| message.tool_calls().iter().any(|made| made.id == call.id));
        let at = of_call.map_or(messages.len(), |of_call| {
            let behind = messages.iter().skip(of_call + 1);
            let results = behind.take_while(|message| message.role() == Role::Tool);
            of_call + 1 + results.count()
        });
        messages.insert(at, answer.into());
        self.replica = Replica::new(messages, state);
    }

    /// Runs the functions of this client that the agent waits for, one after the other, and
    /// answers the calls. Returns whether all calls are answered now. If one of them is not a
    /// call of a function here, none is run.
    pub async fn run_client_tools(&mut self) -> bool {
        let calls = self.waiting();
        let tools: Option<Vec<ClientTool>> = calls
            .iter()
            .map(|call| self.function(&call.function.name).cloned())
            .collect();
        let Some(tools) = tools else {
            return false;
        };
        for (call, tool) in calls.iter().zip(tools) {
            match tool.call(&call.function.arguments).await {
                Ok(result) => self.tool_result(call, result),
                Err(why) => self.tool_failure(call, why),
            }
        }
        true
    }

    pub(crate) fn function(&self, name: &str) -> Option<&ClientTool> {
        self.tools.iter().find(|tool| tool.name() == name)
    }

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
    ) -> bytes::Bytes {
        let messages = Messages {
            kept: self.messages(),
            chosen,
            new,
            dialect: self.client.dialect(),
        };
        Body::new(input, state, &self.forwarded_props, messages).to_json()
    }

    fn run(&mut self, input: RunAgentInput, answer: crate::http::Answer) -> Run<'_> {
        let judge = Judge::new(input, None, self.client.is_strict());
        self.reading(judge, answer)
    }

    /// The run that a request has started, with what was said now part of the thread.
    fn run_behind(
        &mut self,
        message: Option<Message>,
        input: RunAgentInput,
        answer: crate::http::Answer,
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

    fn reading(&mut self, judge: Judge, answer: crate::http::Answer) -> Run<'_> {
        self.usage.clear();
        let run_id = judge.run_id().to_owned();
        let intake = Intake::new(answer.wire, self.client.limit().event, judge);
        Run::new(self, run_id, intake, answer)
    }

    pub(crate) fn fold(&mut self, event: &Event) -> Vec<Warning> {
        self.replica.apply(event)
    }

    /// Notes what is open after a run has ended. One that failed leaves open what was.
    pub(crate) fn note_end(&mut self, terminal: Option<&Terminal>) {
        match terminal {
            Some(Terminal::Finished { usage, .. }) => {
                self.interrupts = self.replica.interrupts().to_vec();
                self.pending = self.replica.pending_tool_call_ids().to_vec();
                self.usage.clone_from(usage);
            }
            Some(Terminal::Failed { usage, .. }) => self.usage.clone_from(usage),
            None => {}
        }
    }

    /// Returns the call with this id.
    pub(crate) fn call(&self, id: &str) -> Option<&ToolCall> {
        let calls = self.messages().iter().rev().flat_map(Message::tool_calls);
        calls.into_iter().find(|call| call.id == id)
    }

    fn is_answered(&self, call: &str) -> bool {
        let mut messages = self.messages().iter().rev();
        messages.any(|message| matches!(message, Message::Tool(m) if m.tool_call_id == call))
    }
}

fn said(text: impl Into<Content>) -> Message {
    UserMessage::new(new_id(), text).into()
}

/// Returns a result as the text of a tool message: JSON, but for a string, whose quotes would
/// only be in the model's way. One that looks like JSON itself keeps them, so that a server that
/// decodes the text gets the string back.
fn content(result: Value) -> String {
    match result {
        Value::String(text) if serde_json::from_str::<Value>(&text).is_err() => text,
        result => result.to_string(),
    }
}
