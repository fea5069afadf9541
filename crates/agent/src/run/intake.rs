//! Reading a request against the thread: what of it is new, what it answers, what it must not do.

use antiphon_protocol::{Content, Message, RunAgentInput, ToolMessage};
use antiphon_state::{reserved_key, shallow_merge};
use serde_json::{Map, Value, json};

use super::Purpose;
use super::accept::Start;
use super::answers::{self, Taken};
use super::conversation::Conversation;
use super::decision::{Decision, Pending};
use super::echo::Echoes;
use super::news::News;
use super::shared::SharedState;
use crate::agent::{BuiltAgent, History};
use crate::clock::{Clock, Ids};
use crate::error::Refusal;
use crate::store::{
    Call, CallPhase, Commit, Interaction, InteractionKind, InteractionStatus, Store, Thread,
};

/// The longest title made of a first message, in characters.
const TITLE: usize = 80;

/// Reads one request.
pub(super) struct Intake<'a> {
    pub(super) agent: &'a BuiltAgent,
    pub(super) clock: &'a dyn Clock,
    pub(super) ids: &'a dyn Ids,
    pub(super) store: &'a dyn Store,
    pub(super) coverage: Coverage,
}

/// How many of the open questions the answers of a request have to settle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coverage {
    All,
    /// What is left goes on waiting.
    Some,
}

/// What a request comes to.
pub(super) enum Plan {
    /// Something to do.
    Run(Box<Start>),
    /// It repeats answers that were taken before; this is where the thread stands.
    Replay(Box<Thread>),
}

/// Checks what can be checked without the thread.
pub(super) fn check(agent: &BuiltAgent, input: &RunAgentInput) -> Result<(), Refusal> {
    for (field, id) in [("threadId", &input.thread_id), ("runId", &input.run_id)] {
        if id.is_empty() {
            return Err(Refusal::invalid(
                "invalid_input",
                field,
                format!("{field} must not be empty"),
            ));
        }
    }
    match &input.state {
        None => {}
        Some(Value::Object(state)) => {
            if let Some(key) = state.keys().find(|key| reserved_key(key)) {
                let message = format!("the state key {key:?} is reserved");
                return Err(Refusal::invalid(
                    "state_reserved_key",
                    format!("state.{key}"),
                    message,
                ));
            }
        }
        Some(_) => tracing::warn!("a state that is not an object holds no keys and is not taken"),
    }
    let mut names = std::collections::HashSet::new();
    for (index, tool) in input.tools.iter().enumerate() {
        let field = || format!("tools[{index}].name");
        if tool.name.is_empty() {
            return Err(Refusal::invalid(
                "invalid_input",
                field(),
                "a tool needs a name",
            ));
        }
        if agent.tools.get(&tool.name).is_some() && !is_offered_by_page_too(agent, &tool.name) {
            let message = format!(
                "the tool {:?} is the server's; a page can't put its own in its place",
                tool.name
            );
            return Err(Refusal::invalid("tool_shadows_server", field(), message));
        }
        if !names.insert(tool.name.as_str()) {
            return Err(Refusal::invalid(
                "invalid_input",
                field(),
                format!("the tool {:?} is there twice", tool.name),
            ));
        }
    }
    Ok(())
}

/// Whether a tool is one that the agent leaves to the page anyway.
fn is_offered_by_page_too(agent: &BuiltAgent, name: &str) -> bool {
    let execution = agent.tools.get(name).map(|tool| &tool.execution);
    matches!(execution, Some(crate::tool::Execution::Client { .. }))
}

impl Intake<'_> {
    /// Takes the request into the thread. `told` are results that were made for the thread since its
    /// last run, `before` the calls that had none then.
    pub(super) async fn plan(
        &self,
        thread: Thread,
        told: Vec<ToolMessage>,
        before: &[Call],
        input: &mut RunAgentInput,
    ) -> Result<Plan, Refusal> {
        let sent = std::mem::take(&mut input.messages);
        let echoes = Echoes::new(self.agent, &thread, before, &sent);
        let opens = sent.is_empty() && input.resume.is_empty();
        let (mut conversation, news) = self.conversation(&thread, sent, input)?;
        let taken = self.answers(&thread, &conversation, &news, input).await?;
        let brings_new = !news.users.is_empty() || news.back.is_some();
        let says_new = brings_new || answers_by_command(input);
        if taken.repeats && taken.answered.is_empty() && !says_new {
            return Ok(Plan::Replay(Box::new(thread)));
        }
        if !opens && (self.coverage == Coverage::All || brings_new) {
            covers(self.agent, &thread, brings_new, &taken)?;
        }
        let is_client_turn =
            self.agent.settings.history == History::Client && !conversation.is_empty();
        let goes_on = says_new || is_client_turn;
        if !opens && taken.answered.is_empty() && !goes_on {
            let message = "there is nothing new to answer: a run needs a user message that the thread does not have";
            return Err(Refusal::invalid("no_input", "messages", message));
        }
        let shared = self.state(&thread, input, opens, &echoes)?;
        let mut commit = Commit::default();
        if thread.title.is_none() {
            commit.title = news.users.first().map(|message| title(&message.content));
        }
        if self.agent.settings.history == History::Client {
            conversation.restore_calls(&thread.calls);
        }
        let response_id = taken
            .answered
            .first()
            .map(|answer| answer.interaction.response_id.clone());
        let decided = decide(&thread, taken, brings_new, &mut commit);
        take_news(&mut conversation, news, &mut commit, &input.run_id);
        self.invocation(&thread, input).await?;
        Ok(Plan::Run(Box::new(Start {
            purpose: if opens { Purpose::Open } else { Purpose::Turn },
            held_messages: conversation.messages(),
            held_state: input.state.clone().unwrap_or_else(|| json!({})),
            conversation,
            shared,
            pending: decided.pending,
            open: decided.open,
            approved: decided.approved,
            told,
            commit,
            response_id,
            declined: decided.declined,
        })))
    }

    /// The conversation as it was, and what the client's list has beyond it.
    fn conversation(
        &self,
        thread: &Thread,
        sent: Vec<Message>,
        input: &RunAgentInput,
    ) -> Result<(Conversation, News), Refusal> {
        match self.agent.settings.history {
            History::Thread | History::Turn => {
                let conversation = Conversation::new(thread.messages.clone());
                let news = News::read(&conversation, sent, input.resume.is_empty())?;
                Ok((conversation, news))
            }
            History::Client => {
                let news = News {
                    sent: sent.len(),
                    ..News::default()
                };
                Ok((Conversation::of_client(for_model(sent)), news))
            }
        }
    }

    async fn answers(
        &self,
        thread: &Thread,
        conversation: &Conversation,
        news: &News,
        input: &mut RunAgentInput,
    ) -> Result<Taken, Refusal> {
        let context = answers::Context {
            agent: self.agent,
            store: self.store,
            ids: self.ids,
            thread,
            now: self.clock.now(),
        };
        if input.resume.is_empty() {
            return match self.agent.settings.history {
                History::Client => Ok(context.results_in_history(conversation)),
                History::Thread | History::Turn => {
                    context.results(conversation, &news.results).await
                }
            };
        }
        if news.users.len() > 1 {
            return Err(Refusal::invalid(
                "invalid_input",
                "messages",
                "a resume may bring one new user message",
            ));
        }
        let has_state = input
            .state
            .as_ref()
            .and_then(Value::as_object)
            .is_some_and(|state| !state.is_empty());
        let entries = std::mem::take(&mut input.resume);
        let taken = context.resume(&entries, news.sent == 0 && !has_state).await;
        input.resume = entries.into_iter().map(without_payload).collect();
        let mut taken = taken?;
        taken.hold(&news.results);
        Ok(taken)
    }

    /// The thread's state with the client's patch. What only shows a call is not taken.
    fn state(
        &self,
        thread: &Thread,
        input: &RunAgentInput,
        opens: bool,
        echoes: &Echoes,
    ) -> Result<SharedState, Refusal> {
        let stored = thread.state.clone().unwrap_or_else(|| json!({}));
        let base = thread
            .state
            .clone()
            .unwrap_or_else(|| Value::Object(self.agent.initial.clone()));
        let is_new_turn = !opens && input.resume.is_empty();
        let patch = input
            .state
            .as_ref()
            .and_then(Value::as_object)
            .filter(|patch| is_new_turn && !patch.is_empty());
        let Some(patch) = patch else {
            return Ok(SharedState::changed(&stored, base));
        };
        let taken: Map<String, Value> = patch
            .iter()
            .filter(|(key, value)| !echoes.contain(key, value))
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect();
        let mut next = base.clone();
        shallow_merge(&mut next, taken);
        super::Run::rules(self.agent)
            .check(&next)
            .map_err(|why| Refusal::invalid("state_invalid", "state", why))?;
        Ok(SharedState::changed(&stored, next))
    }

    /// A continuation goes on with the tools and the context of the run that stopped, unless it
    /// brings its own.
    async fn invocation(&self, thread: &Thread, input: &mut RunAgentInput) -> Result<(), Refusal> {
        let Some(call) = thread.calls.first().filter(|_| input.tools.is_empty()) else {
            return Ok(());
        };
        let key = &thread.key;
        let Some(run) = self
            .store
            .run(&key.user, &call.run_id, Some(&key.thread))
            .await?
        else {
            return Ok(());
        };
        let member = |name: &str| run.invocation.get(name).cloned().unwrap_or(Value::Null);
        input.tools = serde_json::from_value(member("tools")).unwrap_or_default();
        if input.context.is_empty() {
            input.context = serde_json::from_value(member("context")).unwrap_or_default();
        }
        if input.forwarded_props.is_none() {
            input.forwarded_props = Some(member("forwardedProps")).filter(|props| !props.is_null());
        }
        Ok(())
    }
}

/// Whether a request answers a question that an agent asked with CUSTOM `on_interrupt`, as agents did
/// before there were interrupts: CopilotKit and LangGraph clients answer in `forwardedProps`. What the
/// answer says is for the agent's own code; here it only stands for something new.
fn answers_by_command(input: &RunAgentInput) -> bool {
    let props = input.forwarded_props.as_ref();
    props
        .and_then(|props| props.pointer("/command/resume"))
        .is_some_and(|answer| !answer.is_null())
}

/// A request answers everything that the page can answer, or brings nothing new.
///
/// A call whose outcome a crash left unknown does not hold a person back: a new message leaves it
/// unknown for good.
fn covers(
    agent: &BuiltAgent,
    thread: &Thread,
    brings_new: bool,
    taken: &Taken,
) -> Result<(), Refusal> {
    let is_answered = |i: &Interaction| {
        taken
            .answered
            .iter()
            .any(|answer| answer.interaction.id == i.id)
    };
    let mut left = thread.interactions.iter().filter(|i| !is_answered(i));
    let blocks = |i: &Interaction| match i.kind {
        InteractionKind::OutcomeUnknown => !brings_new,
        InteractionKind::ExternalWait => brings_new,
        _ => true,
    };
    match left.any(blocks) {
        true => Err(pending_refusal(agent, &thread.interactions)),
        false => Ok(()),
    }
}

/// A thread's unsettled calls with the answers that came for them.
struct Decided {
    pending: Vec<Pending>,
    /// Interactions that stay open.
    open: Vec<Interaction>,
    /// Approvals that were given.
    approved: Vec<Interaction>,
    /// Whether a person declined a call.
    declined: bool,
}

/// Takes the answers to the calls that wait for them.
fn decide(thread: &Thread, taken: Taken, brings_new: bool, commit: &mut Commit) -> Decided {
    let is_answered = |i: &&Interaction| {
        taken
            .answered
            .iter()
            .any(|answer| answer.interaction.id == i.id)
    };
    let mut open: Vec<Interaction> = thread
        .interactions
        .iter()
        .filter(|i| !is_answered(i))
        .cloned()
        .collect();
    let mut pending: Vec<Pending> = thread.calls.iter().cloned().map(Pending::new).collect();
    if brings_new {
        leave_unknown(&mut pending, &mut open, commit);
    }
    for one in &mut pending {
        one.asked = open.iter().any(|i| i.call_id == one.call.id);
    }
    let (mut approved, mut declined) = (Vec::new(), false);
    for answer in taken.answered {
        match answer.decision {
            Decision::Approved { .. } => approved.push(answer.interaction.clone()),
            Decision::Declined { .. } => declined = true,
            _ => {}
        }
        commit.audit.push(answer.audit);
        let Some(index) = pending
            .iter()
            .position(|one| one.call.id == answer.interaction.call_id)
        else {
            continue;
        };
        commit.interactions.push(answer.interaction);
        if answer.in_history {
            let call = pending.remove(index).call;
            commit.calls.push(Call {
                phase: CallPhase::Settled,
                ..call
            });
        } else if let Some(one) = pending.get_mut(index) {
            one.decide(answer.decision);
            commit.calls.push(one.call.clone());
        }
    }
    Decided {
        pending,
        open,
        approved,
        declined,
    }
}

/// Calls whose outcome a crash left unknown stay so when the person goes on without a word on them.
fn leave_unknown(pending: &mut [Pending], open: &mut Vec<Interaction>, commit: &mut Commit) {
    for mut interaction in open.extract_if(.., |i| i.kind == InteractionKind::OutcomeUnknown) {
        interaction.status = InteractionStatus::Cancelled;
        if let Some(one) = pending
            .iter_mut()
            .find(|one| one.call.id == interaction.call_id)
        {
            one.refused =
                Some("its outcome is unknown: the server stopped while it ran".to_owned());
        }
        commit.interactions.push(interaction);
    }
}

/// Puts what is new into the conversation, cutting it first where the person went back.
fn take_news(conversation: &mut Conversation, news: News, commit: &mut Commit, run_id: &str) {
    if let Some(back) = news.back {
        commit.cut = match back.edited {
            true => conversation.cut_from(&back.id, run_id),
            false => conversation.cut_after(&back.id, run_id),
        };
    }
    news.users
        .into_iter()
        .for_each(|message| conversation.push(Message::User(message), None));
}

/// Roles that only the server may speak in do not come from a client.
fn for_model(messages: Vec<Message>) -> Vec<Message> {
    let keep = |message: &Message| {
        !matches!(
            message,
            Message::System(_) | Message::Developer(_) | Message::Activity(_)
        )
    };
    messages.into_iter().filter(keep).collect()
}

fn without_payload(mut entry: antiphon_protocol::ResumeEntry) -> antiphon_protocol::ResumeEntry {
    if let Some(payload) = &mut entry.payload {
        crate::tool::wipe(payload);
    }
    entry.payload = None;
    entry
}

fn title(content: &Content) -> String {
    let text = content.text();
    let line = text
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default()
        .trim();
    line.chars().take(TITLE).collect()
}

/// The refusal of anything that does not answer what is open. Where another agent asked, it says which.
pub(super) fn pending_refusal(agent: &BuiltAgent, open: &[Interaction]) -> Refusal {
    let ids: Vec<&str> = open.iter().map(|i| i.id.as_str()).collect();
    let list = ids.join(", ");
    let mut askers = open.iter().filter_map(|i| i.request["agent"].as_str());
    let Some(other) = askers.find(|asker| *asker != agent.name) else {
        let message = format!("the thread waits for answers; answer each of these first: {list}");
        return Refusal::conflict("interaction_pending", message).with(json!({ "open": ids }));
    };
    let message = format!(
        "the thread waits for answers to the agent {other:?}; answer each of these there first: {list}"
    );
    Refusal::conflict("interaction_pending", message).with(json!({ "open": ids, "agent": other }))
}
