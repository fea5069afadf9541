//! Forms: what a response schema asks for, field by field.

use antiphon_client::Question;
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use super::Said;
use super::field::{Field, fields};
use crate::chat::console::{Console, Reply, Style};

/// Asks for everything that the question's schema wants. A private value is not shown while it is
/// typed.
pub(super) async fn ask(console: &mut Console, question: &Question) -> Said<Value> {
    let is_private = question.is_private();
    let note = if is_private {
        "what you type is not shown and kept nowhere here; Ctrl-D gives it up, Ctrl-C leaves it open"
    } else {
        "Ctrl-D gives it up, Ctrl-C leaves it open"
    };
    console.screen.indented(Style::DIM, note);
    let schema = question
        .schema()
        .cloned()
        .map_or(Value::Null, Value::Object);
    let Some(fields) = fields(&schema) else {
        return field(console, &Field::whole(&schema), is_private)
            .await
            .map(Option::unwrap_or_default);
    };
    let mut object = Map::new();
    for wanted in &fields {
        match field(console, wanted, is_private).await {
            Said::This(Some(value)) => {
                object.insert(wanted.name.clone(), value);
            }
            Said::This(None) => {}
            Said::Nothing => return Said::Nothing,
            Said::Later => return Said::Later,
        }
    }
    Said::This(Value::Object(object))
}

/// Asks until the field can hold what was said; `None`: it stays out.
async fn field(console: &mut Console, field: &Field, is_private: bool) -> Said<Option<Value>> {
    let prompt = field.prompt();
    loop {
        let reply = if is_private {
            console.ask_secret(&prompt).await
        } else {
            match console.ask(&prompt, Style::ASKING, "").await {
                Reply::Line(line) => Reply::Line(Zeroizing::new(line)),
                Reply::Interrupted => Reply::Interrupted,
                Reply::Ended => Reply::Ended,
            }
        };
        let said = match reply {
            Reply::Line(line) => line,
            Reply::Interrupted => return Said::Later,
            Reply::Ended => return Said::Nothing,
        };
        match field.read(&said) {
            Ok(value) => return Said::This(value),
            Err(why) => console.screen.indented(Style::BAD, &why),
        }
    }
}
