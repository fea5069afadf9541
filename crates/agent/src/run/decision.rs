//! What became of a pause, and what a call does next.

use antiphon_protocol::ToolMessage;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::agent::BuiltAgent;
use crate::store::{Call, Entry, InteractionKind};
use crate::tool::{Execution, PrivateValue, Tool};

/// An answer that was checked and recorded, on its way to the call that waits for it.
///
/// It is stored with the call until the call acts on it, so that a crash in between loses nothing.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Decision {
    /// A person approved the call, maybe with other arguments.
    Approved { edited: Option<Map<String, Value>> },
    /// A person declined it.
    Declined { reason: Option<String> },
    /// The question was abandoned.
    Cancelled,
    /// Nobody answered in time.
    Expired,
    /// The page delivered the call's result, or another system did. The page holds the message where
    /// it sent it as one.
    Result {
        message: ToolMessage,
        failed: bool,
        from_page: bool,
        #[serde(default)]
        held: bool,
    },
    /// A person gave a private value. It is in memory only: a delivery that a crash cuts is not
    /// made again.
    #[serde(skip)]
    Private(PrivateValue),
    /// A person answered a question of the call's code.
    Answer(Value),
    /// A person knows what became of a call that a crash cut.
    Outcome(Outcome),
}

/// A person's word on a call that a crash cut in the middle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    /// It did not happen, or may happen again.
    Retry,
    /// It happened.
    Done,
    /// It failed for good.
    Failed,
}

/// A call that is not settled, with the answer that came for it, if any.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) call: Call,
    pub(crate) decision: Option<Decision>,
    /// Whether an interaction of this call is open.
    pub(crate) asked: bool,
    /// Why the call must not run, known before anything else.
    pub(crate) refused: Option<String>,
}

/// What a call does next.
#[derive(Debug)]
pub(crate) enum Step {
    /// It has its result: text, or why it failed.
    Settle(Result<String, String>),
    /// Somebody else delivered its result.
    Take {
        message: ToolMessage,
        failed: bool,
        from_page: bool,
        held: bool,
    },
    /// The server's tool runs.
    Execute { arguments: Map<String, Value> },
    /// The private value goes to its handler.
    Deliver { value: PrivateValue },
    /// The work of another system begins.
    Begin { arguments: Map<String, Value> },
    /// Someone has to be asked.
    Ask {
        kind: InteractionKind,
        arguments: Map<String, Value>,
    },
    /// Someone was asked already.
    Wait,
}

impl Step {
    fn failed(why: impl Into<String>) -> Self {
        Self::Settle(Err(why.into()))
    }
}

impl Pending {
    pub(crate) fn new(call: Call) -> Self {
        let decided = call.journal.decided.clone();
        Self {
            decision: decided.and_then(|decided| serde_json::from_value(decided).ok()),
            call,
            asked: false,
            refused: None,
        }
    }

    /// Takes the answer to the call; it is stored with the call until the call acts on it.
    pub(crate) fn decide(&mut self, decision: Decision) {
        if let Decision::Approved {
            edited: Some(edited),
        } = &decision
        {
            self.call.arguments = Value::Object(edited.clone()).to_string();
        }
        // A private value has no stored form.
        self.call.journal.decided = serde_json::to_value(&decision).ok();
        self.decision = Some(decision);
    }

    /// Decides what the call does next. Nothing that waits for a person executes here.
    pub(crate) fn step(&mut self, agent: &BuiltAgent, page_tools: &[String]) -> Step {
        if let Some(why) = self.refused.take() {
            return Step::failed(why);
        }
        self.call.journal.decided = None;
        match self.decision.take() {
            None if self.asked => Step::Wait,
            None => self.first_step(agent, page_tools),
            Some(Decision::Approved { edited }) => self.approved_step(agent, page_tools, edited),
            Some(Decision::Declined { reason: None }) => {
                Step::failed("it was declined by a person")
            }
            Some(Decision::Declined {
                reason: Some(reason),
            }) => Step::failed(format!("it was declined by a person: {reason}")),
            Some(Decision::Cancelled) => Step::failed("it was cancelled by a person"),
            Some(Decision::Expired) => Step::failed("nobody answered in time"),
            Some(Decision::Result {
                message,
                failed,
                from_page,
                held,
            }) => Step::Take {
                message,
                failed,
                from_page,
                held,
            },
            Some(Decision::Private(value)) => Step::Deliver { value },
            Some(Decision::Answer(answer)) => {
                if let Some(Entry::Asked { answer: open, .. }) =
                    self.call.journal.entries.last_mut()
                {
                    *open = Some(answer);
                }
                self.approved_step(agent, page_tools, None)
            }
            Some(Decision::Outcome(outcome)) => self.outcome_step(agent, page_tools, outcome),
        }
    }

    fn first_step(&self, agent: &BuiltAgent, page_tools: &[String]) -> Step {
        let name = &self.call.tool;
        let tool = agent.tools.get(name);
        if tool.is_none() && !page_tools.contains(name) {
            return Step::failed("there is no such tool".to_owned());
        }
        let arguments = match agent.tools.arguments(name, &self.call.arguments) {
            Ok(arguments) => arguments,
            Err(why) => return Step::failed(why.to_string()),
        };
        match tool {
            None => Step::Ask {
                kind: InteractionKind::ClientTool,
                arguments,
            },
            Some(tool) if needs_approval(agent, tool) => Step::Ask {
                kind: InteractionKind::Approval,
                arguments,
            },
            Some(tool) => run_step(tool, arguments),
        }
    }

    fn approved_step(
        &self,
        agent: &BuiltAgent,
        page_tools: &[String],
        edited: Option<Map<String, Value>>,
    ) -> Step {
        let name = &self.call.tool;
        let arguments = match edited {
            Some(edited) => Ok(edited),
            None => agent.tools.arguments(name, &self.call.arguments),
        };
        match (agent.tools.get(name), arguments) {
            (Some(tool), Ok(arguments)) => run_step(tool, arguments),
            (None, Ok(arguments)) if page_tools.contains(name) => Step::Ask {
                kind: InteractionKind::ClientTool,
                arguments,
            },
            (None, _) => Step::failed("it is no longer available".to_owned()),
            (_, Err(why)) => Step::failed(why.to_string()),
        }
    }

    fn outcome_step(&self, agent: &BuiltAgent, page_tools: &[String], outcome: Outcome) -> Step {
        let waits = matches!(
            agent.tools.get(&self.call.tool).map(|tool| &tool.execution),
            Some(Execution::ExternalWait { .. })
        );
        match outcome {
            // The other system has begun; its result is still to come.
            Outcome::Done if waits => Step::Wait,
            Outcome::Retry => self.approved_step(agent, page_tools, None),
            Outcome::Done => {
                Step::Settle(Ok("The call was made; its result is not known.".to_owned()))
            }
            Outcome::Failed => Step::failed("it failed"),
        }
    }
}

fn run_step(tool: &Tool, arguments: Map<String, Value>) -> Step {
    match &tool.execution {
        Execution::Server { .. } => Step::Execute { arguments },
        Execution::Client { .. } => Step::Ask {
            kind: InteractionKind::ClientTool,
            arguments,
        },
        Execution::PrivateInput { .. } => Step::Ask {
            kind: InteractionKind::PrivateInput,
            arguments,
        },
        Execution::ExternalWait { .. } => Step::Begin { arguments },
    }
}

/// Whether a person has to agree before a tool runs.
pub(crate) fn needs_approval(agent: &BuiltAgent, tool: &Tool) -> bool {
    tool.approval.is_some()
        || (agent.settings.require_confirmation && agent.settings.mappings.predicts(tool.name()))
}
