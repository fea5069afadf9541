//! The model: it plays a script, and says what it was shown where the script has nothing.

use antiphon::model::script::ScriptTurn;
use antiphon::model::{EventStream, Request};
use antiphon::prelude::*;

use crate::seen::Seen;

const NAME: &str = "witness";

/// A script whose last turn tells what the page sent.
#[derive(Debug)]
pub(crate) struct Witness {
    script: Script,
}

impl Witness {
    pub(crate) fn new() -> Result<Self> {
        let script = serde_json::from_str(include_str!("script.json"))?;
        Ok(Self { script })
    }

    /// The script with what only this request can tell.
    fn script_for(&self, seen: &Seen) -> Script {
        let mut script = self.script.clone();
        let says = |say: String| ScriptTurn {
            say: Some(say),
            ..ScriptTurn::default()
        };
        script.turns.push(says(format!(
            "You said: '{{{{user}}}}'. I can see state keys {:?}, {} client tools {:?} and {} context items.",
            seen.state, seen.tools.len(), seen.tools, seen.context
        )));
        script
    }
}

impl Model for Witness {
    fn provider(&self) -> &str {
        "script"
    }

    fn name(&self) -> &str {
        NAME
    }

    fn stream(&self, request: &Request) -> EventStream {
        let seen = Seen::of(request);
        if let Some(answer) = &seen.resume {
            return legacy_answer(answer, self.script.pace).stream(&Request::default());
        }
        ScriptModel::new(NAME, self.script_for(&seen)).stream(request)
    }
}

/// What is said to an answer that came in the old way, whatever the person said last.
fn legacy_answer(answer: &Value, pace: std::time::Duration) -> ScriptModel {
    let say = Some(format!("Legacy resume received: {answer}."));
    let turn = ScriptTurn {
        say,
        ..ScriptTurn::default()
    };
    ScriptModel::new(NAME, Script::new(vec![turn]).pace(pace))
}
