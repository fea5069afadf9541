//! Playing a turn: its fragments, at its pace.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use futures_util::stream;

use super::{Script, ScriptTurn, description::Arguments, select::Scene};
use crate::{
    Error, EventStream, FinishReason, Message, Model, ModelEvent, Part, Request, Usage,
    wire::{CallIds, Turn},
};

const PROVIDER: &str = "script";

/// A model that plays a [`Script`].
///
/// ```
/// use antiphon_model::{Model, script::{Script, ScriptModel}};
///
/// let script: Script = serde_json::from_str(r#"{"turns": [{"say": "Hello"}]}"#)?;
/// let model = ScriptModel::new("greeter", script);
/// assert_eq!((model.provider(), model.name()), ("script", "greeter"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ScriptModel {
    name: Arc<str>,
    script: Arc<Script>,
}

impl ScriptModel {
    /// A model of this name.
    #[must_use]
    pub fn new(name: impl Into<Arc<str>>, script: Script) -> Self {
        Self {
            name: name.into(),
            script: Arc::new(script),
        }
    }

    /// The events that answer a request, and how it fails, if it does.
    fn events(&self, request: &Request) -> VecDeque<Result<ModelEvent, Error>> {
        let scene = Scene::of(request);
        let fallback;
        let turn = match scene.choose(&self.script) {
            Some(turn) => turn,
            None => {
                let text = if scene.is_after_tools() {
                    "Done."
                } else {
                    "My script has no turn for this."
                };
                fallback = ScriptTurn {
                    say: Some(text.to_owned()),
                    ..ScriptTurn::default()
                };
                &fallback
            }
        };
        let mut performance = Performance {
            turn: Turn::new(CallIds::new(request)),
            fragment: self.script.fragment.get(),
            written: 0,
        };
        performance.play(turn, &scene);
        match turn.fail {
            Some(fail) => performance
                .turn
                .fail(Error::of(fail.kind.into()).with_detail("the script says so")),
            None => {
                let usage = usage(&self.name, read_characters(request), performance.written);
                let reason = turn.finish.map_or(FinishReason::Stop, Into::into);
                performance.turn.finish(reason, Some(usage), None);
            }
        }
        std::iter::from_fn(|| performance.turn.next_event()).collect()
    }
}

impl Model for ScriptModel {
    fn provider(&self) -> &str {
        PROVIDER
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn stream(&self, request: &Request) -> EventStream {
        let events = self.events(request);
        let pace = self.script.pace;
        Box::pin(stream::unfold(events, move |mut events| async move {
            let item = events.pop_front()?;
            if is_fragment(&item) && pace > Duration::ZERO {
                tokio::time::sleep(pace).await;
            }
            Some((item, events))
        }))
    }
}

fn is_fragment(item: &Result<ModelEvent, Error>) -> bool {
    matches!(
        item,
        Ok(ModelEvent::Text(_) | ModelEvent::Reasoning(_) | ModelEvent::CallArguments { .. })
    )
}

struct Performance {
    turn: Turn,
    /// Characters in one fragment.
    fragment: usize,
    /// Characters so far.
    written: usize,
}

impl Performance {
    fn play(&mut self, turn: &ScriptTurn, scene: &Scene<'_>) {
        if let Some(think) = &turn.think {
            self.write(&scene.fill(think), Turn::reasoning);
        }
        if let Some(say) = &turn.say {
            self.write(&scene.fill(say), Turn::text);
        }
        for call in &turn.calls {
            let arguments = match &call.arguments {
                Arguments::Json(value) => scene.fill_json(value).to_string(),
                Arguments::Text(text) => text.clone(),
            };
            let index = self.turn.begin(call.id.as_deref(), &call.tool);
            self.write(&arguments, |turn, piece| turn.arguments(index, piece));
            if turn.fail.is_none() {
                self.turn.end(index);
            }
        }
    }

    /// Writes text piece by piece.
    fn write(&mut self, text: &str, say: impl Fn(&mut Turn, String)) {
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest
                .char_indices()
                .nth(self.fragment)
                .map_or(rest.len(), |(at, _)| at);
            let (piece, after) = rest.split_at(end);
            self.written += piece.chars().count();
            say(&mut self.turn, piece.to_owned());
            rest = after;
        }
    }
}

/// About what a model would count: four characters to a token.
fn usage(model: &str, read: usize, written: usize) -> Usage {
    let tokens = |characters: usize| u64::try_from(characters.div_ceil(4)).unwrap_or(u64::MAX);
    let (input, output) = (tokens(read), tokens(written));
    Usage {
        provider: PROVIDER.to_owned(),
        model: model.to_owned(),
        input_tokens: Some(input),
        output_tokens: Some(output),
        total_tokens: Some(input.saturating_add(output)),
        ..Usage::default()
    }
}

fn read_characters(request: &Request) -> usize {
    let content = |parts: &[Part]| {
        parts
            .iter()
            .filter_map(Part::as_text)
            .map(str::len)
            .sum::<usize>()
    };
    let messages = request.messages.iter().map(|message| match message {
        Message::User { content: parts } | Message::ToolResult { content: parts, .. } => {
            content(parts)
        }
        Message::Assistant(turn) => {
            turn.text.len()
                + turn
                    .calls
                    .iter()
                    .map(|call| call.arguments.len())
                    .sum::<usize>()
        }
    });
    request.instructions.as_deref().map_or(0, str::len) + messages.sum::<usize>()
}
