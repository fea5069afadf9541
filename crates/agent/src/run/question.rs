//! Pauses as rows, and as what clients read.

use antiphon_protocol::{Custom, Interrupt};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::agent::BuiltAgent;
use crate::ask::Asks;
use crate::store::{Call, Interaction, InteractionKind, InteractionStatus, ThreadKey};
use crate::tool::{APPROVAL_TIMEOUT, Execution, PAGE_TIMEOUT};

/// Who asks, and under which names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asker<'a> {
    pub(crate) agent: &'a BuiltAgent,
    pub(crate) key: &'a ThreadKey,
    pub(crate) run_id: &'a str,
    pub(crate) response_id: &'a str,
    pub(crate) now: Timestamp,
}

impl Asker<'_> {
    /// Opens an interaction for a call.
    pub(crate) fn ask(
        &self,
        id: String,
        kind: InteractionKind,
        call: &Call,
        arguments: &Map<String, Value>,
    ) -> Interaction {
        let timeout = self.timeout(kind, &call.tool);
        Interaction {
            id,
            key: self.key.clone(),
            run_id: self.run_id.to_owned(),
            response_id: self.response_id.to_owned(),
            call_id: call.id.clone(),
            kind,
            status: InteractionStatus::Open,
            request: self.request(kind, call, arguments),
            answer: None,
            early: None,
            opened_at: self.now,
            expires_at: timeout.and_then(|timeout| self.now.checked_add(timeout).ok()),
        }
    }

    /// Opens the question that a call's code stopped at.
    pub(crate) fn question(&self, id: String, call: &Call, asks: &Asks) -> Interaction {
        let arguments = self.agent.tools.arguments(&call.tool, &call.arguments);
        // A call whose arguments do not fit never came as far as to ask.
        let arguments = arguments.unwrap_or_default();
        let mut interaction = self.ask(id, InteractionKind::Question, call, &arguments);
        interaction.request["message"] = json!(asks.message);
        interaction.request["schema"] = asks.schema.clone();
        interaction.request["confirms"] = json!(asks.confirms);
        interaction
    }

    fn timeout(&self, kind: InteractionKind, tool: &str) -> Option<jiff::SignedDuration> {
        let tool = self.agent.tools.get(tool);
        let declared = tool.map(|tool| match &tool.execution {
            Execution::Server { .. } => PAGE_TIMEOUT,
            Execution::Client { timeout, .. }
            | Execution::PrivateInput { timeout, .. }
            | Execution::ExternalWait { timeout, .. } => *timeout,
        });
        let approval = tool.and_then(|tool| tool.approval.as_ref());
        let timeout = match kind {
            InteractionKind::Approval => {
                approval.map_or(APPROVAL_TIMEOUT, |approval| approval.timeout)
            }
            InteractionKind::Question => APPROVAL_TIMEOUT,
            InteractionKind::ClientTool
            | InteractionKind::PrivateInput
            | InteractionKind::ExternalWait => declared.unwrap_or(PAGE_TIMEOUT),
            InteractionKind::OutcomeUnknown => return None,
        };
        jiff::SignedDuration::try_from(timeout).ok()
    }

    fn request(&self, kind: InteractionKind, call: &Call, arguments: &Map<String, Value>) -> Value {
        let tool = self.agent.tools.get(&call.tool);
        let mut request =
            json!({ "agent": self.agent.name, "name": call.tool, "arguments": arguments });
        match (
            kind,
            tool.map(|tool| (&tool.execution, tool.approval.as_ref())),
        ) {
            (InteractionKind::Approval, Some((_, approval))) => {
                let template = approval.and_then(|approval| approval.message.as_deref());
                request["message"] = json!(message(template, &call.tool, arguments));
                request["edits"] = json!(approval.is_some_and(|approval| approval.edits));
                if request["edits"] == true {
                    request["parameters"] =
                        tool.map_or(Value::Null, |tool| tool.spec.parameters.clone());
                }
            }
            (InteractionKind::PrivateInput, Some((Execution::PrivateInput { form, .. }, _))) => {
                request["form"] = form.clone();
            }
            (
                InteractionKind::ExternalWait,
                Some((Execution::ExternalWait { capability, .. }, _)),
            ) => {
                request["capability"] = json!(capability);
            }
            _ => {}
        }
        request
    }
}

/// What the person reads; `{name}` in a template stands for an argument.
fn message(template: Option<&str>, tool: &str, arguments: &Map<String, Value>) -> String {
    let Some(template) = template else {
        return format!("Allow {tool}?");
    };
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(start) = rest.find('{') {
        let (before, from) = rest.split_at(start);
        text.push_str(before);
        let named = from
            .find('}')
            .and_then(|end| Some((from.get(1..end)?, from.get(end + 1..)?)));
        match named.and_then(|(name, after)| Some((arguments.get(name)?, after))) {
            Some((Value::String(value), after)) => {
                text.push_str(value);
                rest = after;
            }
            Some((value, after)) => {
                text.push_str(&value.to_string());
                rest = after;
            }
            None => {
                text.push('{');
                rest = from.get(1..).unwrap_or_default();
            }
        }
    }
    text.push_str(rest);
    text
}

/// The tool that an interaction is about.
pub(crate) fn tool_name(interaction: &Interaction) -> &str {
    interaction.request["name"].as_str().unwrap_or_default()
}

/// An open interaction as an interrupt of RUN_FINISHED.
pub(crate) fn interrupt(interaction: &Interaction, namespace: &str) -> Interrupt {
    let request = &interaction.request;
    let mut interrupt = Interrupt::new(&interaction.id, reason(interaction, namespace));
    interrupt.message = request["message"].as_str().map(str::to_owned);
    interrupt.tool_call_id = Some(interaction.call_id.clone());
    interrupt.response_schema = response_schema(interaction);
    interrupt.expires_at = interaction.expires_at.map(|at| at.to_string());
    let mut metadata = Map::new();
    metadata.insert(namespace.to_owned(), Value::Object(details(interaction)));
    interrupt.metadata = Some(metadata);
    interrupt
}

fn reason(interaction: &Interaction, namespace: &str) -> String {
    match interaction.kind {
        InteractionKind::Approval | InteractionKind::ClientTool => "tool_call".to_owned(),
        InteractionKind::Question if interaction.request["confirms"] == true => {
            "confirmation".to_owned()
        }
        InteractionKind::Question => "input_required".to_owned(),
        InteractionKind::PrivateInput => "private_input".to_owned(),
        InteractionKind::ExternalWait => format!("{namespace}:external_wait"),
        InteractionKind::OutcomeUnknown => format!("{namespace}:outcome_unknown"),
    }
}

/// The JSON Schema of an answer's payload.
pub(crate) fn response_schema(interaction: &Interaction) -> Option<Map<String, Value>> {
    let request = &interaction.request;
    let schema = match interaction.kind {
        InteractionKind::Approval => {
            let mut properties = json!({
                "approved": { "type": "boolean" },
                "reason": { "type": "string", "description": "Why not; passed on to the model." },
            });
            if request["edits"] == true {
                properties["editedArgs"] = request["parameters"].clone();
            }
            json!({ "type": "object", "properties": properties, "required": ["approved"], "additionalProperties": false })
        }
        InteractionKind::PrivateInput => request["form"].clone(),
        InteractionKind::Question => request["schema"].clone(),
        InteractionKind::OutcomeUnknown => json!({
            "type": "object",
            "properties": { "outcome": { "enum": ["retry", "done", "failed"] } },
            "required": ["outcome"],
            "additionalProperties": false,
        }),
        InteractionKind::ClientTool | InteractionKind::ExternalWait => return None,
    };
    match schema {
        Value::Object(schema) => Some(schema),
        _ => None,
    }
}

/// An interaction's members as metadata and CUSTOM values carry them.
fn details(interaction: &Interaction) -> Map<String, Value> {
    let request = &interaction.request;
    let kind = match interaction.kind {
        InteractionKind::Approval => "human_approval",
        InteractionKind::ClientTool | InteractionKind::PrivateInput => "client_tool",
        InteractionKind::Question => "question",
        InteractionKind::ExternalWait => "external_continuation",
        InteractionKind::OutcomeUnknown => "outcome_unknown",
    };
    let mut details = Map::new();
    let mut put = |name: &str, value: Value| {
        if !value.is_null() {
            details.insert(name.to_owned(), value);
        }
    };
    put("type", json!(kind));
    put("id", json!(interaction.id));
    put("callId", json!(interaction.response_id));
    put("toolCallId", json!(interaction.call_id));
    put("name", request["name"].clone());
    put("arguments", request["arguments"].clone());
    put("message", request["message"].clone());
    put("expiresAt", json!(interaction.expires_at));
    match interaction.kind {
        InteractionKind::Approval => put(
            "action",
            json!(format!(
                "tool:{}",
                request["name"].as_str().unwrap_or_default()
            )),
        ),
        InteractionKind::PrivateInput => {
            put("privateInput", json!(true));
            put("inputSchema", request["form"].clone());
        }
        _ => {}
    }
    details
}

/// CUSTOM `<ns>.client_tool`: the page is asked to run a tool.
pub(crate) fn client_tool(interaction: &Interaction, namespace: &str) -> Custom {
    Custom::new(
        format!("{namespace}.client_tool"),
        Value::Object(details(interaction)),
    )
}

/// CUSTOM `<ns>.external_wait`: another system will deliver a result.
pub(crate) fn external_wait(interaction: &Interaction, namespace: &str) -> Custom {
    let value = json!({
        "responseId": interaction.response_id,
        "sessionId": interaction.key.thread,
        "pendingAction": pending_action(interaction),
    });
    Custom::new(format!("{namespace}.external_wait"), value)
}

/// An external wait as `GET /responses/{id}` names it.
pub(crate) fn pending_action(interaction: &Interaction) -> Value {
    json!({
        "type": "external_continuation",
        "id": interaction.id,
        "capability": interaction.request["capability"],
    })
}
