//! Agents declared for Microsoft's Agent Framework: files with `kind: Prompt`, read as they are.
//!
//! Such a file describes one agent. Its functions are declared without code, so they are tools of the
//! page here. `=Env.NAME` stands for a variable, as `${NAME}` does in our own files.

mod expressions;
mod origin;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use super::error::Problem;
use super::path::KeyPath;
use super::read;
use super::tree::{Content, Node, Text};

pub(super) use expressions::rename_variables;
pub(super) use origin::located;

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
    let file = json!({ "agents": { name: agent } });
    Ok(origin::node(file, &KeyPath::default(), tree))
}

/// The kind of a file that is none of ours and none that is read here.
///
/// # Errors
/// It is of such a kind.
pub(super) fn known_kind(tree: &Node) -> Result<(), Problem> {
    let root = KeyPath::default();
    let kind = root.key("kind");
    let (Some(node), None) = (tree.get(&kind), tree.get(&root.key("agents"))) else {
        return Ok(());
    };
    let what = match &node.content {
        Content::Text(Text {
            text,
            filled: false,
            ..
        }) => format!("this is a file of kind {text:?}"),
        _ => "this is a file of another kind".to_owned(),
    };
    let what =
        format!("{what}, and only those of kind Prompt are read; our own files have no kind");
    Err(Problem::new(node.at, kind, what))
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
    #[serde(default, rename = "apiType", deserialize_with = "chat")]
    _api_type: (),
    #[serde(default)]
    options: Options,
    connection: Option<Connection>,
}

/// The only API of a provider that is spoken here.
fn chat<'de, D: Deserializer<'de>>(word: D) -> Result<(), D::Error> {
    one_of(word, &["Chat"])
}

/// The connections that need nothing but a key and an address.
fn connection<'de, D: Deserializer<'de>>(word: D) -> Result<(), D::Error> {
    one_of(word, &["key", "apiKey", "anonymous"])
}

/// The only kind of tool whose work the page can do.
fn function<'de, D: Deserializer<'de>>(word: D) -> Result<(), D::Error> {
    one_of(word, &["function"])
}

/// Reads a word in whatever case.
fn one_of<'de, D: Deserializer<'de>>(
    word: D,
    known: &'static [&'static str],
) -> Result<(), D::Error> {
    let word = String::deserialize(word)?;
    match known.iter().any(|known| known.eq_ignore_ascii_case(&word)) {
        true => Ok(()),
        false => Err(D::Error::unknown_variant(&word, known)),
    }
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
    #[serde(default, rename = "kind", deserialize_with = "connection")]
    _kind: (),
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
    #[serde(rename = "kind", deserialize_with = "function")]
    _kind: (),
    name: String,
    description: Option<String>,
    #[serde(rename = "bindings")]
    _bindings: Option<Value>,
    #[serde(default)]
    parameters: Parameters,
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

    use crate::agents::{ModelChoice, agents, built};
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
        let kind = refused("kind: key", "kind: remote");
        let says = "a.yaml:11:23: model.connection.kind: \"remote\" is none of key, apiKey";
        assert!(kind.contains(says), "{kind}");
        let code = refused("kind: function", "kind: codeInterpreter");
        assert!(code.contains("codeInterpreter"), "{code}");
    }
    #[test]
    fn expressions_other_than_variables_are_not_taken_for_text() {
        let says = "expressions other than =Env.NAME are not supported yet";
        for (from, to, place) in [
            (
                "=Env.KEY",
                "=Foo.K",
                "a.yaml:11:36: model.connection.apiKey: ",
            ),
            (
                "=Env.KEY",
                "=Env.KEY.More",
                "a.yaml:11:36: model.connection.apiKey: ",
            ),
            (
                "You are helpful.",
                "=Concat(\"a\", Env.KEY)",
                "a.yaml:5:15: instructions: ",
            ),
            (
                "Get the weather",
                "=Env.A & Env.B",
                "a.yaml:15:18: tools[0].description: ",
            ),
        ] {
            let error = parse(&ASSISTANT.replace(from, to)).unwrap_err();
            assert!(error.starts_with(&format!("{place}{says}")), "{error}");
        }
    }

    /// As `parse`, with the agents made.
    fn made(text: &str) -> String {
        let variables = Variables::of(&[("KEY", "s3cret"), ("EMPTY", ""), ("WORD", "s3cret")]);
        let made = AgentFile::parse(Path::new("a.yaml"), text, &variables).and_then(|file| {
            let made = agents(&file, &variables, &ModelChoice::AsWritten)?;
            built(&file, made).map(|_| ())
        });
        made.map_err(|error| error.to_string()).unwrap_err()
    }

    #[test]
    fn errors_name_the_keys_and_places_of_the_file_itself() {
        for (from, to, expected) in [
            (
                "id: gpt-5-mini",
                "id: ''",
                "a.yaml:6:1: model: the key \"id\" is empty: the model's name at the provider",
            ),
            (
                "provider: OpenAI",
                "provider: Foo",
                "a.yaml:8:3: model.provider: \"foo\" is none of openai,",
            ),
            (
                "provider: OpenAI",
                "provider: =Env.WORD",
                "a.yaml:8:3: model.provider: the variable's value is none of openai,",
            ),
            (
                "provider: OpenAI",
                "provider: AzureOpenAI",
                "model.provider: this provider is not supported yet",
            ),
            (
                "=Env.KEY",
                "=Env.EMPTY",
                "a.yaml:11:28: model.connection.apiKey: the variable EMPTY is empty; set it in the environment or in .env, or leave `connection.apiKey` out",
            ),
            (
                "apiKey: =Env.KEY",
                "key: =Env.KEY, endpoint: nowhere",
                "a.yaml:11:43: model.connection.endpoint: the model's endpoint is no http",
            ),
            (
                "name: GetWeather",
                "name: ''",
                "tools[0].name: expected 1 to 128 bytes",
            ),
            (
                "kind: string, enum",
                "kind: strng, enum",
                "a.yaml:17:5: tools[0].parameters: /properties/unit/type: \"strng\" is no type",
            ),
        ] {
            let error = made(&ASSISTANT.replace(from, to));
            assert!(error.contains(expected), "{error}");
            assert!(
                !error.contains("s3cret") && !error.contains("agents."),
                "{error}"
            );
        }
    }

    #[test]
    fn other_kinds_of_files_are_named() {
        let error = parse("kind: Workflow\ntrigger: {}\n").unwrap_err();
        assert_eq!(
            error,
            "a.yaml:1:7: kind: this is a file of kind \"Workflow\", and only those of kind Prompt are read; our own files have no kind"
        );
    }
}
