//! The agent file for the binary: an agent whose model and backend tools are the fake provider.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::provider::{Provider, Tool, wire::Wire};

/// An agent as a case or a test describes it.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct AgentSpec {
    /// The wire of its model.
    #[serde(default)]
    pub provider: Wire,
    /// Its tools.
    #[serde(default)]
    pub tools: Vec<ToolSpec>,
    /// Everything else goes to the agent file as it is.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// Who does the work of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    /// The server, over HTTP, so that each execution is seen.
    #[default]
    Backend,
    /// The page.
    Client,
    /// The person, in private.
    PrivateInput,
    /// Somebody else, later.
    ExternalWait,
}

/// A tool of an agent.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// Who does its work.
    #[serde(default)]
    pub kind: ToolKind,
    /// What the model reads.
    pub description: Option<String>,
    /// The schema of its arguments.
    pub parameters: Option<Value>,
    /// Whether it needs approval, as in the agent file.
    pub approval: Option<Value>,
    /// Whether it may run again after a crash.
    pub idempotent: Option<bool>,
    /// Its timeout, as in the agent file.
    pub timeout: Option<String>,
    /// Its result; `{"ok": true}` if absent.
    pub returns: Option<Value>,
    /// Makes it fail with this text in the body of an HTTP 500.
    pub fails: Option<String>,
    /// The schema of a client's result.
    pub result: Option<Value>,
    /// The form of a private input.
    #[serde(rename = "responseSchema")]
    pub response_schema: Option<Value>,
    /// What the model is told after a private input.
    pub model_sees: Option<String>,
    /// The capability of an external wait.
    pub capability: Option<String>,
}

impl ToolSpec {
    /// A backend tool with this name and schema.
    pub fn backend(name: &str, parameters: Value) -> Self {
        Self {
            name: name.to_owned(),
            parameters: Some(parameters),
            ..Self::default()
        }
    }

    /// The tool's entry in the agent file.
    fn entry(&self, provider: &str) -> Value {
        let endpoint =
            json!({"http": {"method": "POST", "url": format!("{provider}/tool/{}", self.name)}});
        let description = self.description.as_ref().unwrap_or(&self.name);
        let mut entry = json!({"name": self.name, "description": description});
        if self.kind != ToolKind::PrivateInput {
            let none = json!({"type": "object", "properties": {}});
            entry["parameters"] = self.parameters.clone().unwrap_or(none);
        }
        match self.kind {
            ToolKind::Backend => {
                entry["http"] = endpoint["http"].clone();
                set(&mut entry, "timeout", self.timeout.as_ref());
            }
            ToolKind::Client => {
                entry["client"] = json!({});
                set(&mut entry["client"], "result", self.result.as_ref());
                set(&mut entry["client"], "timeout", self.timeout.as_ref());
            }
            ToolKind::PrivateInput => {
                entry["private_input"] = json!({"schema": self.response_schema, "deliver": endpoint, "response": self.model_sees});
                set(
                    &mut entry["private_input"],
                    "timeout",
                    self.timeout.as_ref(),
                );
            }
            ToolKind::ExternalWait => {
                let timeout = self.timeout.as_deref().unwrap_or("1h");
                entry["external_wait"] =
                    json!({"capability": self.capability, "start": endpoint, "timeout": timeout});
            }
        }
        set(&mut entry, "approval", self.approval.as_ref());
        set(&mut entry, "idempotent", self.idempotent.as_ref());
        entry
    }

    /// What the fake tool does when it is called.
    fn behaviour(&self) -> Tool {
        let returns = || self.returns.clone().unwrap_or_else(|| json!({"ok": true}));
        Tool {
            wait: None,
            answer: self.fails.clone().map_or_else(|| Ok(returns()), Err),
        }
    }
}

fn set(entry: &mut Value, key: &str, value: Option<&impl serde::Serialize>) {
    if let Some(value) = value {
        entry[key] = json!(value);
    }
}

impl AgentSpec {
    /// Reads a spec that is written as JSON in a test.
    ///
    /// # Errors
    ///
    /// A member has the wrong type, or a tool an unknown one.
    pub fn read(value: Value) -> Result<Self, serde_json::Error> {
        serde_json::from_value(value)
    }

    /// The agent's entry in the agent file.
    pub fn entry(&self, provider: &str) -> Value {
        let mut entry = json!({
            "description": "An agent under test",
            "instructions": "You are a test agent.",
            "model": {
                "provider": self.provider.name(), "name": "fake-model", "api_key": "test-key",
                "base_url": format!("{provider}{}", self.provider.base_path()),
            },
        });
        if !self.tools.is_empty() {
            let tools: Vec<_> = self.tools.iter().map(|t| t.entry(provider)).collect();
            entry["tools"] = json!(tools);
        }
        for (key, value) in &self.rest {
            // A test may set a member of the model, such as its timeouts.
            crate::json::merge(&mut entry, &json!({ key: value }));
        }
        entry
    }

    /// Tells the fake provider what the agent's tools do.
    pub fn teach(&self, provider: &Provider) {
        for tool in &self.tools {
            provider.tool(&tool.name, tool.behaviour());
        }
    }

    /// The tools that the page answers.
    pub fn client_tools(&self) -> impl Iterator<Item = &str> {
        let tools = self.tools.iter().filter(|t| t.kind == ToolKind::Client);
        tools.map(|t| t.name.as_str())
    }
}

/// An agent file with these agents and these members beside them.
pub fn file(agents: &[(&str, Value)], top: &Value) -> String {
    let mut file = json!({"agents": {}});
    for (name, entry) in agents {
        file["agents"][*name] = entry.clone();
    }
    crate::json::merge(&mut file, top);
    file.to_string()
}
