//! Agents declared for Microsoft's Agent Framework: files with `kind: Prompt`, read as they are.
//!
//! Such a file describes one agent. Its functions are declared without code, so they are tools of the
//! page here. `=Env.NAME` stands for a variable, as `${NAME}` does in our own files.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::error::Problem;
use super::read;
use super::tree::{Content, Node};

/// Whether a file is of this kind.
pub(super) fn is_prompt(tree: &Node) -> bool {
    let Content::Map(entries) = &tree.content else {
        return false;
    };
    entries.iter().any(|entry| {
        let is_prompt = |text: &str| text.eq_ignore_ascii_case("prompt");
        entry.key == "kind"
            && matches!(&entry.value.content, Content::Text(text) if is_prompt(&text.text))
    })
}

/// Puts variables into our own form, so that they are filled in by the same rules.
pub(super) fn rename_variables(node: &mut Node) {
    match &mut node.content {
        Content::Text(text) => {
            if let Some(name) = text.text.strip_prefix("=Env.") {
                text.text = format!("${{{name}}}");
            }
        }
        Content::List(items) => items.iter_mut().for_each(rename_variables),
        Content::Map(entries) => entries
            .iter_mut()
            .for_each(|entry| rename_variables(&mut entry.value)),
        Content::Null | Content::Bool(_) | Content::Number(_) => {}
    }
}

/// The same agent as a file of ours.
///
/// # Errors
/// A key that is not known, or something that this server does not do.
pub(super) fn translate(tree: &Node) -> Result<Node, Problem> {
    let prompt: Prompt = read::read(tree)?;
    let name = prompt
        .name
        .as_deref()
        .map_or_else(|| "agent".to_owned(), segment);
    let mut agent = json!({ "model": prompt.model.into_entry() });
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            agent[key] = value;
        }
    };
    put("description", prompt.description.map(Value::from));
    put("instructions", prompt.instructions.map(Value::from));
    let tools: Vec<Value> = prompt.tools.into_iter().map(Function::into_entry).collect();
    put(
        "tools",
        Some(tools.into()).filter(|tools| *tools != json!([])),
    );
    let mut node = Node::parse(&json!({ "agents": { name: agent } }).to_string())?;
    hide(&mut node);
    Ok(node)
}

/// Values may come from variables: no error quotes them.
fn hide(node: &mut Node) {
    match &mut node.content {
        Content::Text(text) => text.filled = true,
        Content::List(items) => items.iter_mut().for_each(hide),
        Content::Map(entries) => entries.iter_mut().for_each(|entry| hide(&mut entry.value)),
        Content::Null | Content::Bool(_) | Content::Number(_) => {}
    }
}

/// A name as a part of a path.
fn segment(name: &str) -> String {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    name.chars()
        .map(|letter| if fits(letter) { letter } else { '-' })
        .collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Prompt {
    #[serde(rename = "kind")]
    _kind: String,
    name: Option<String>,
    #[serde(rename = "displayName")]
    _display_name: Option<String>,
    description: Option<String>,
    instructions: Option<String>,
    model: Model,
    #[serde(default)]
    tools: Vec<Function>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Model {
    id: String,
    provider: Option<String>,
    #[serde(rename = "apiType")]
    _api_type: Option<Chat>,
    #[serde(default)]
    options: Options,
    connection: Option<Connection>,
}

/// The only API of a provider that is spoken here.
#[derive(Deserialize)]
enum Chat {
    #[serde(alias = "chat")]
    Chat,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Options {
    temperature: Option<f64>,
    top_p: Option<f64>,
    #[serde(alias = "maxTokens")]
    max_output_tokens: Option<u64>,
    seed: Option<i64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Connection {
    #[serde(rename = "kind")]
    _kind: Option<String>,
    #[serde(alias = "key")]
    api_key: Option<String>,
    endpoint: Option<String>,
}

impl Model {
    fn into_entry(self) -> Value {
        let provider = self.provider.as_deref().unwrap_or("OpenAI");
        let provider = match provider.to_ascii_lowercase().as_str() {
            "azureopenai" => "azure-openai".to_owned(),
            other => other.to_owned(),
        };
        let mut entry = json!({ "provider": provider, "name": self.id });
        let options = [
            ("temperature", self.options.temperature.map(Value::from)),
            ("top_p", self.options.top_p.map(Value::from)),
            (
                "max_output_tokens",
                self.options.max_output_tokens.map(Value::from),
            ),
            ("seed", self.options.seed.map(Value::from)),
        ];
        let parameters: Map<String, Value> = options
            .into_iter()
            .filter_map(|(key, value)| Some((key.to_owned(), value?)))
            .collect();
        if !parameters.is_empty() {
            entry["parameters"] = parameters.into();
        }
        if let Some(Connection {
            api_key, endpoint, ..
        }) = self.connection
        {
            for (key, value) in [("api_key", api_key), ("base_url", endpoint)] {
                if let Some(value) = value {
                    entry[key] = value.into();
                }
            }
        }
        entry
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Function {
    #[serde(rename = "kind")]
    _kind: FunctionKind,
    name: String,
    description: Option<String>,
    #[serde(rename = "bindings")]
    _bindings: Option<Value>,
    #[serde(default)]
    parameters: Parameters,
}

/// The only kind of tool whose work the page can do.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum FunctionKind {
    Function,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    #[serde(default)]
    properties: Map<String, Value>,
}

impl Function {
    fn into_entry(self) -> Value {
        let mut required = Vec::new();
        let mut properties = Map::new();
        for (name, mut property) in self.parameters.properties {
            if property["required"] == true {
                required.push(name.clone());
            }
            if let Value::Object(members) = &mut property {
                members.shift_remove("required");
                if let Some(kind) = members.shift_remove("kind") {
                    members.insert("type".to_owned(), kind);
                }
            }
            properties.insert(name, property);
        }
        json!({
            "name": self.name,
            "description": self.description.unwrap_or_default(),
            "parameters": { "type": "object", "properties": properties, "required": required },
            "client": {},
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::file::{AgentFile, Variables};

    const ASSISTANT: &str = "
kind: Prompt
name: Weather Assistant
description: Knows the weather
instructions: You are helpful.
model:
  id: gpt-5-mini
  provider: OpenAI
  apiType: Chat
  options: { temperature: 0.9, topP: 0.95 }
  connection: { kind: key, apiKey: =Env.KEY }
tools:
  - kind: function
    name: GetWeather
    description: Get the weather for a location.
    bindings: { get_weather: get_weather }
    parameters:
      properties:
        location: { kind: string, description: The city, required: true }
        unit: { kind: string, enum: [celsius, fahrenheit] }
";

    fn parse(text: &str) -> Result<AgentFile, String> {
        let variables = Variables::of(&[("KEY", "s3cret")]);
        AgentFile::parse(Path::new("a.yaml"), text, &variables).map_err(|error| error.to_string())
    }

    #[test]
    fn a_declared_agent_is_read_as_it_is() {
        let file = parse(ASSISTANT).unwrap();
        let (name, agent) = file.document.agents.0.first().unwrap();
        assert_eq!(name, "Weather-Assistant");
        assert_eq!(agent.instructions.as_deref(), Some("You are helpful."));
        let tool = agent.tools.first().unwrap();
        assert_eq!(tool.name, "GetWeather");
        let parameters = serde_json::to_value(&tool.parameters).unwrap();
        assert_eq!(parameters["required"], serde_json::json!(["location"]));
        assert_eq!(parameters["properties"]["unit"]["type"], "string");
    }

    #[test]
    fn variables_are_written_in_either_way() {
        use secrecy::ExposeSecret;
        for variable in ["=Env.KEY", "${KEY}", "'${KEY}'"] {
            let file = parse(&ASSISTANT.replace("=Env.KEY", variable)).unwrap();
            let model = file.document.agents.0[0].1.model.as_ref().unwrap();
            let key = model.api_key.as_ref().unwrap();
            assert_eq!(key.0.expose_secret(), "s3cret", "{variable}");
        }
    }

    #[test]
    fn what_is_wrong_or_not_done_here_is_said_with_its_place() {
        let refused = |from: &str, to: &str| parse(&ASSISTANT.replace(from, to)).unwrap_err();
        let unset = refused("=Env.KEY", "=Env.NOKEY");
        assert!(
            unset.contains("NOKEY") && unset.contains("apiKey"),
            "{unset}"
        );
        let responses = refused("apiType: Chat", "apiType: Responses");
        assert!(responses.contains("apiType"), "{responses}");
        let unknown = refused("description: Knows", "descripton: Knows");
        assert!(unknown.contains("descripton"), "{unknown}");
        let code = refused("kind: function", "kind: codeInterpreter");
        assert!(code.contains("codeInterpreter"), "{code}");
    }
}
