//! The fields of a form, made of a JSON Schema, and what a person may say to each.

use serde_json::Value;

use crate::chat::console::fold;

/// How many references are followed to find what a field is.
const MAX_REFERENCES: usize = 8;

/// A field of a form.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: String,
    label: String,
    kind: Kind,
    choices: Vec<Value>,
    usual: Option<Value>,
    required: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Boolean,
    Integer,
    Number,
    /// Anything else, written as JSON.
    Json,
    /// JSON, or text that is none.
    Any,
}

/// The fields of an object's schema, in its order; `None` if it is no object's.
pub(super) fn fields(schema: &Value) -> Option<Vec<Field>> {
    let object = resolve(schema, schema);
    let properties = object.get("properties")?.as_object()?;
    let required = object.get("required").and_then(Value::as_array);
    let field = |(name, of): (&String, &Value)| {
        let is_required = required.is_some_and(|names| names.iter().any(|known| known == name));
        Field::new(name, schema, of, is_required)
    };
    Some(properties.iter().map(field).collect())
}

impl Field {
    /// The one value of a schema that is no object's.
    pub(super) fn whole(schema: &Value) -> Self {
        Self::new("answer", schema, schema, true)
    }

    fn new(name: &str, root: &Value, of: &Value, required: bool) -> Self {
        let schema = resolve(root, of);
        let text = |key: &str| {
            let here = of.get(key).or_else(|| schema.get(key));
            here.and_then(Value::as_str)
        };
        let mut label = fold(text("title").unwrap_or(name), 60);
        if let Some(description) = text("description") {
            label.push_str(&format!(", {}", fold(description, 200)));
        }
        let choices = schema.get("enum").and_then(Value::as_array).cloned();
        Self {
            name: name.to_owned(),
            label,
            kind: kind(schema),
            choices: choices.unwrap_or_default(),
            usual: of.get("default").or_else(|| schema.get("default")).cloned(),
            required,
        }
    }

    /// What to ask.
    pub(super) fn prompt(&self) -> String {
        let mut prompt = self.label.clone();
        let choices = self.choices.iter().enumerate();
        let choices = choices.map(|(at, choice)| format!("{} {}", at + 1, plain(choice)));
        let choices = choices.collect::<Vec<_>>().join(", ");
        prompt.push_str(&match self.kind {
            _ if !choices.is_empty() => format!(" [{choices}]"),
            Kind::Boolean => " [y/n]".to_owned(),
            Kind::Integer => " (a whole number)".to_owned(),
            Kind::Number => " (a number)".to_owned(),
            Kind::Json => " (JSON)".to_owned(),
            Kind::Text | Kind::Any => String::new(),
        });
        match &self.usual {
            Some(usual) => prompt.push_str(&format!(" ({} if empty)", plain(usual))),
            None if !self.required => prompt.push_str(" (may stay empty)"),
            None => {}
        }
        prompt.push_str(" > ");
        prompt
    }

    /// Reads what was said; `None`: nothing, which the field allows.
    pub(super) fn read(&self, said: &str) -> Result<Option<Value>, String> {
        let trimmed = said.trim();
        if trimmed.is_empty() {
            return match &self.usual {
                Some(usual) => Ok(Some(usual.clone())),
                None if self.required => Err("this is needed".to_owned()),
                None => Ok(None),
            };
        }
        if !self.choices.is_empty() {
            return self.choose(trimmed).map(Some);
        }
        self.convert(said, trimmed).map(Some)
    }

    fn choose(&self, said: &str) -> Result<Value, String> {
        let named = self.choices.iter().find(|choice| plain(choice) == said);
        let number = said.parse::<usize>().ok();
        let number = number.and_then(|number| number.checked_sub(1));
        let numbered = number.and_then(|at| self.choices.get(at));
        let chosen = named.or(numbered).cloned();
        chosen.ok_or_else(|| "it must be one of these, or its number".to_owned())
    }

    fn convert(&self, said: &str, trimmed: &str) -> Result<Value, String> {
        let value = match self.kind {
            Kind::Text => Some(Value::String(said.to_owned())),
            Kind::Boolean => match trimmed.to_lowercase().as_str() {
                "y" | "yes" | "true" => Some(Value::Bool(true)),
                "n" | "no" | "false" => Some(Value::Bool(false)),
                _ => None,
            },
            Kind::Integer => trimmed.parse::<i64>().ok().map(Value::from),
            Kind::Number => serde_json::from_str(trimmed).ok().filter(Value::is_number),
            Kind::Json => serde_json::from_str(trimmed).ok(),
            Kind::Any => {
                let json = serde_json::from_str(trimmed).ok();
                Some(json.unwrap_or_else(|| Value::String(said.to_owned())))
            }
        };
        value.ok_or_else(|| {
            let wanted = match self.kind {
                Kind::Boolean => "please say y or n",
                Kind::Integer => "it must be a whole number, such as 7",
                Kind::Number => "it must be a number, such as 2.5",
                _ => "it must be JSON, such as [1, 2] or {\"a\": 1}",
            };
            wanted.to_owned()
        })
    }
}

/// Follows references and looks through what only says that something may be null.
fn resolve<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let mut schema = schema;
    for _ in 0..MAX_REFERENCES {
        let reference = schema.get("$ref").and_then(Value::as_str);
        let referred = reference
            .and_then(|reference| reference.strip_prefix('#'))
            .and_then(|pointer| root.pointer(pointer));
        let either = ["anyOf", "oneOf", "allOf"]
            .iter()
            .find_map(|key| schema.get(key));
        let first = either.and_then(Value::as_array).and_then(|list| {
            let mut other = list
                .iter()
                .filter(|entry| entry.get("type") != Some(&"null".into()));
            // A choice between several forms is no form of its own.
            let first = other.next();
            first.filter(|_| other.next().is_none())
        });
        match referred.or(first) {
            Some(next) => schema = next,
            None => break,
        }
    }
    schema
}

fn kind(schema: &Value) -> Kind {
    let named = match schema.get("type") {
        Some(Value::Array(types)) => types.iter().find(|name| *name != "null"),
        named => named,
    };
    match named.and_then(Value::as_str) {
        Some("string") => Kind::Text,
        Some("boolean") => Kind::Boolean,
        Some("integer") => Kind::Integer,
        Some("number") => Kind::Number,
        None => Kind::Any,
        Some(_) => Kind::Json,
    }
}

fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn form() -> Vec<Field> {
        fields(&json!({
            "type": "object",
            "required": ["name", "seat"],
            "properties": {
                "name": { "type": "string", "title": "Your name" },
                "seat": { "$ref": "#/$defs/Seat", "description": "where to sit" },
                "age": { "anyOf": [{ "type": "integer" }, { "type": "null" }] },
                "vegan": { "type": ["boolean", "null"], "default": false },
                "tags": { "type": "array" },
            },
            "$defs": { "Seat": { "type": "string", "enum": ["aisle", "window"] } },
        }))
        .unwrap()
    }

    #[test]
    fn each_field_says_what_it_wants() {
        let prompts: Vec<String> = form().iter().map(Field::prompt).collect();
        assert_eq!(
            prompts,
            [
                "Your name > ",
                "seat, where to sit [1 aisle, 2 window] > ",
                "age (a whole number) (may stay empty) > ",
                "vegan [y/n] (false if empty) > ",
                "tags (JSON) (may stay empty) > ",
            ]
        );
    }

    #[test]
    fn what_is_said_becomes_a_value_or_a_reason_why_not() {
        let form = form();
        let read = |at: usize, said: &str| form[at].read(said);
        assert_eq!(read(0, "Ida B"), Ok(Some(json!("Ida B"))));
        assert_eq!(read(0, " "), Err("this is needed".to_owned()));
        assert_eq!(read(1, "window"), Ok(Some(json!("window"))));
        assert_eq!(read(1, "1"), Ok(Some(json!("aisle"))));
        assert!(read(1, "3").is_err() && read(1, "0").is_err());
        assert_eq!(read(2, ""), Ok(None));
        assert_eq!(read(2, "42"), Ok(Some(json!(42))));
        assert!(read(2, "4.5").is_err());
        assert_eq!(read(3, ""), Ok(Some(json!(false))));
        assert_eq!(read(3, "Y"), Ok(Some(json!(true))));
        assert!(read(3, "maybe").is_err());
        assert_eq!(read(4, "[1]"), Ok(Some(json!([1]))));
        assert!(read(4, "one").is_err());
    }

    #[test]
    fn a_schema_that_is_no_objects_asks_for_one_value() {
        let number = json!({ "type": "number" });
        assert!(fields(&number).is_none());
        assert_eq!(Field::whole(&number).read("2.5"), Ok(Some(json!(2.5))));
        let any = Field::whole(&Value::Null);
        assert_eq!(any.read("free text"), Ok(Some(json!("free text"))));
        assert_eq!(any.read("{\"a\":1}"), Ok(Some(json!({ "a": 1 }))));
    }

    #[test]
    fn references_in_a_circle_end() {
        let circle = json!({ "$ref": "#/$defs/A", "$defs": { "A": { "$ref": "#/$defs/A" } } });
        assert!(fields(&circle).is_none());
    }
}
