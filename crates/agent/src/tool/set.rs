//! The tools of one agent, with their schemas compiled once.

use std::collections::HashMap;

use antiphon_model::ToolSpec;
use serde_json::{Map, Value};

use super::{Execution, Tool};
use crate::error::BuildError;
use crate::schema::Schema;

/// The longest name of a tool, in bytes.
const MAX_NAME: usize = 128;

/// Names an argument of a tool, for state mappings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// The tool.
    pub tool: String,
    /// The argument; `*` means all of them, as one object.
    pub argument: String,
}

/// Anything that gives tools: one, a list, or a tuple of such.
pub trait IntoTools {
    /// Hands them over.
    fn into_tools(self) -> Vec<Tool>;
}

impl IntoTools for Tool {
    fn into_tools(self) -> Vec<Tool> {
        vec![self]
    }
}

impl<T: IntoTools> IntoTools for Vec<T> {
    fn into_tools(self) -> Vec<Tool> {
        self.into_iter().flat_map(IntoTools::into_tools).collect()
    }
}

impl<T: IntoTools, const N: usize> IntoTools for [T; N] {
    fn into_tools(self) -> Vec<Tool> {
        self.into_iter().flat_map(IntoTools::into_tools).collect()
    }
}

macro_rules! tuples {
    ($($name:ident)*) => {
        impl<$($name: IntoTools),*> IntoTools for ($($name,)*) {
            #[allow(non_snake_case, reason = "the type parameters name the members")]
            fn into_tools(self) -> Vec<Tool> {
                let ($($name,)*) = self;
                let mut tools = Vec::new();
                $(tools.extend($name.into_tools());)*
                tools
            }
        }
    };
}

tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E F);
tuples!(A B C D E F G);
tuples!(A B C D E F G H);
tuples!(A B C D E F G H I);
tuples!(A B C D E F G H I J);
tuples!(A B C D E F G H I J K);
tuples!(A B C D E F G H I J K L);

/// An agent's tools by name.
#[derive(Debug, Default)]
pub(crate) struct ToolSet {
    tools: Vec<Checked>,
    by_name: HashMap<String, usize>,
}

/// The schema that a tool's answer must fit, with the key that it has in an agent file.
fn answer_of(tool: &Tool) -> Option<(&'static str, &Value)> {
    match &tool.execution {
        Execution::Client { result, .. } => result.as_ref().map(|schema| ("client.result", schema)),
        Execution::PrivateInput { form, .. } => Some(("private_input.schema", form)),
        _ => None,
    }
}

#[derive(Debug)]
struct Checked {
    tool: Tool,
    parameters: Schema,
    answer: Option<Schema>,
}

/// Why arguments can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unusable {
    #[error("the arguments are not valid JSON: {0}")]
    NotJson(String),
    #[error("the arguments are not a JSON object")]
    NotAnObject,
    #[error("the arguments do not fit: {0}")]
    Unfit(String),
    #[error("argument {0}")]
    Missing(String),
}

impl ToolSet {
    pub(crate) fn build(tools: Vec<Tool>) -> Result<Self, BuildError> {
        let mut set = Self::default();
        for tool in tools {
            let name = tool.spec.name.clone();
            let is_odd = |letter: char| letter.is_whitespace() || letter.is_control();
            if !(1..=MAX_NAME).contains(&name.len()) || name.contains(is_odd) {
                return Err(BuildError::new(format!(
                    "tool {name:?}: a name is 1 to {MAX_NAME} bytes, without spaces"
                )));
            }
            let place =
                |what: &str, why: String| BuildError::new(format!("tool {name:?}: {what}: {why}"));
            let parameters =
                Schema::compile(&tool.spec.parameters).map_err(|e| place("parameters", e))?;
            let answer = answer_of(&tool)
                .map(|(key, schema)| Schema::compile(schema).map_err(|e| place(key, e)))
                .transpose()?;
            if set.by_name.insert(name.clone(), set.tools.len()).is_some() {
                return Err(BuildError::new(format!("tool {name:?} is declared twice")));
            }
            set.tools.push(Checked {
                tool,
                parameters,
                answer,
            });
        }
        Ok(set)
    }

    fn checked(&self, name: &str) -> Option<&Checked> {
        self.by_name
            .get(name)
            .and_then(|&index| self.tools.get(index))
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Tool> {
        self.checked(name).map(|checked| &checked.tool)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Tool> {
        self.tools.iter().map(|checked| &checked.tool)
    }

    pub(crate) fn specs(&self) -> Vec<ToolSpec> {
        self.iter().map(|tool| tool.spec.clone()).collect()
    }

    /// The schema that a client tool's result or a private form's value must fit.
    pub(crate) fn answer_schema(&self, name: &str) -> Option<&Schema> {
        self.checked(name)?.answer.as_ref()
    }

    /// Reads a call's arguments and checks them; an empty text means no arguments.
    pub(crate) fn arguments(&self, name: &str, text: &str) -> Result<Map<String, Value>, Unusable> {
        let arguments = read_arguments(text)?;
        let Some(checked) = self.checked(name) else {
            return Ok(arguments);
        };
        let value = Value::Object(arguments);
        checked.parameters.check(&value).map_err(unfit)?;
        match value {
            Value::Object(arguments) => Ok(arguments),
            _ => Err(Unusable::NotAnObject),
        }
    }
}

/// A missing argument reads as a sentence of its own.
fn unfit(why: String) -> Unusable {
    if why.starts_with('"') && why.ends_with("is missing") {
        Unusable::Missing(why)
    } else {
        Unusable::Unfit(why)
    }
}

fn read_arguments(text: &str) -> Result<Map<String, Value>, Unusable> {
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        Ok(_) => Err(Unusable::NotAnObject),
        Err(error) => Err(Unusable::NotJson(error.to_string())),
    }
}
