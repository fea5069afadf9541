//! An agent that waits for people in every way there is, on a script.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use antiphon_agent::{
    Agent, Approval, Handler, OnDisconnect, PrivateHandler, PrivateValue, RunContext, Tool,
    ToolError, ToolOutput,
};
use antiphon_model::script::{Script, ScriptModel};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

/// How often the tools with an effect ran.
#[derive(Debug, Clone, Default)]
pub(crate) struct Effects(Arc<AtomicUsize>);

impl Effects {
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    fn happen(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// The agent `desk`, with approvals that are open as long as `approval` has it.
pub(crate) fn desk(effects: &Effects, approval: Approval) -> Agent {
    let pay = Tool::server("pay", Pays(effects.clone()))
        .parameters(json!({ "type": "object", "properties": { "amount": { "type": "number" } } }))
        .approval(approval);
    let color = json!({ "type": "object", "properties": { "color": { "type": "string" } }, "required": ["color"] });
    let form = json!({ "type": "object", "properties": { "token": { "type": "string" } }, "required": ["token"] });
    Agent::new("desk")
        .model(model())
        .tools(pay)
        .tools(Tool::fixed("look", json!("it rains")))
        .tools(Tool::client("pick_color").result(color))
        .tools(Tool::private_input(
            "connect",
            form,
            Connects(effects.clone()),
            json!("connected"),
        ))
        .tools(Tool::external_wait("verify", "kyc.verify", Begins))
        .tools(Tool::server("careful", Careful(effects.clone())))
        .on_disconnect(OnDisconnect::Detach)
}

fn model() -> ScriptModel {
    let calls = |tool: &str| json!({ "when": { "user": tool }, "calls": [{ "tool": tool }] });
    let script = json!({
        "pace": "0ms",
        "turns": [
            { "when": { "user": "pay twice", "turn": 1 },
              "calls": [{ "tool": "pay", "arguments": { "amount": 1 } },
                        { "tool": "pay", "arguments": { "amount": 2 } }] },
            { "when": { "user": "pay", "turn": 1 }, "say": "One moment.",
              "calls": [{ "tool": "pay", "id": "p1", "arguments": { "amount": 7 } }] },
            { "when": { "user": "look", "turn": 1 }, "think": "Where?", "say": "Let me see.",
              "calls": [{ "tool": "look", "id": "l1" }] },
            calls("pick_color"), calls("connect"), calls("verify"), calls("careful"),
            { "when": { "user": "break" }, "say": "I will", "fail": { "kind": "unavailable" } },
            { "when": { "after_tool": "*", "result": "declined" }, "say": "Then not." },
            { "when": { "after_tool": "*" }, "say": "All set: {{result}}" },
            { "say": "You said {{user}}." },
        ],
    });
    let script: Script = serde_json::from_value(script).unwrap();
    ScriptModel::new("desk", script)
}

struct Pays(Effects);

impl Handler for Pays {
    fn call<'a>(
        &'a self,
        _: Value,
        _: RunContext<'a>,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        self.0.happen();
        async { Ok(ToolOutput::new(json!("paid"))) }.boxed()
    }
}

struct Careful(Effects);

impl Handler for Careful {
    fn call<'a>(
        &'a self,
        _: Value,
        run: RunContext<'a>,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        async move {
            if !run.confirm("Are you sure?").await? {
                return Ok(ToolOutput::new(json!("kept")));
            }
            self.0.happen();
            Ok(ToolOutput::new(json!("done")))
        }
        .boxed()
    }
}

struct Begins;

impl Handler for Begins {
    fn call<'a>(
        &'a self,
        _: Value,
        _: RunContext<'a>,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        async { Ok(ToolOutput::new(json!("begun"))) }.boxed()
    }
}

struct Connects(Effects);

impl PrivateHandler for Connects {
    fn deliver<'a>(
        &'a self,
        value: PrivateValue,
        _: RunContext<'a>,
    ) -> BoxFuture<'a, Result<(), ToolError>> {
        drop(value);
        self.0.happen();
        async { Ok(()) }.boxed()
    }
}
