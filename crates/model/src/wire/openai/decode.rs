//! From the bytes of an answer to events.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    PROVIDER,
    calls::Calls,
    chunk::{CallDelta, Choice, Chunk, Delta, Text, some},
    failure,
    origin::Origin,
};
use crate::{
    Error, ErrorKind, FinishReason, ModelEvent, Usage,
    wire::{CallIds, Decode, Limits, Turn},
};

const END: &[u8] = b"[DONE]";

/// Reads one answer.
///
/// ```
/// use antiphon_model::{ModelEvent, Request, wire::{CallIds, Decode, Limits, openai::Decoder}};
///
/// let mut decoder = Decoder::new("m", CallIds::new(&Request::default()), Limits::default());
/// decoder.push(b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n");
/// assert_eq!(decoder.next_event().unwrap()?, ModelEvent::Text("Hi".into()));
/// assert!(decoder.next_event().is_none(), "more bytes are needed");
/// decoder.finish();
/// assert!(decoder.next_event().unwrap().is_err(), "the answer has no finish");
/// # Ok::<(), antiphon_model::Error>(())
/// ```
#[derive(Debug)]
pub struct Decoder {
    events: antiphon_sse::Decoder,
    turn: Turn,
    calls: Calls,
    origin: Origin,
    model: String,
    usage: Option<Usage>,
    reason: Option<FinishReason>,
    refused: bool,
    /// No more bytes will come.
    ending: bool,
    bytes_left: usize,
}

impl Decoder {
    /// A decoder for an answer of `model`, with ids for the calls that have none.
    #[must_use]
    pub fn new(model: &str, ids: CallIds, limits: Limits) -> Self {
        Self {
            events: antiphon_sse::Decoder::new(limits.event_bytes),
            turn: Turn::new(ids),
            calls: Calls::default(),
            origin: Origin::default(),
            model: model.to_owned(),
            usage: None,
            reason: None,
            refused: false,
            ending: false,
            bytes_left: limits.turn_bytes,
        }
    }

    /// Reads one server-sent event; false if there is none to read.
    fn step(&mut self) -> bool {
        if self.turn.is_over() {
            return false;
        }
        match self.events.next_event() {
            Some(Ok(event)) => {
                if let Err(error) = self.read(&event.data, event.event.as_deref()) {
                    self.turn.fail(error);
                }
                true
            }
            Some(Err(error)) => {
                self.turn
                    .fail(Error::of(ErrorKind::TooLarge).with_detail(error.to_string()));
                true
            }
            None => {
                if self.ending {
                    self.end();
                }
                false
            }
        }
    }

    fn read(&mut self, data: &[u8], event: Option<&str>) -> Result<(), Error> {
        let data = data.trim_ascii();
        if data.is_empty() {
            return Ok(());
        }
        if data == END {
            self.end();
            return Ok(());
        }
        let chunk: Chunk<'_> =
            serde_json::from_slice(data).map_err(|error| self.unreadable(data, &error))?;
        if let Some(error) = chunk.error {
            return Err(failure::in_stream(error.get()));
        }
        if event == Some("error") || some(&chunk.object) == Some("error") {
            return Err(failure::in_stream(&String::from_utf8_lossy(data)));
        }
        if let Some(model) = some(&chunk.model).filter(|model| *model != self.model) {
            model.clone_into(&mut self.model);
        }
        if let Some(usage) = chunk.usage {
            self.read_usage(usage);
        }
        for choice in chunk.choices.into_iter().flatten() {
            self.read_choice(choice)?;
        }
        Ok(())
    }

    fn read_choice(&mut self, choice: Choice<'_>) -> Result<(), Error> {
        if choice.index.is_some_and(|index| index > 0) {
            return Ok(());
        }
        if let Some(delta) = choice.delta {
            self.read_delta(delta)?;
        }
        if let Some(word) = some(&choice.finish_reason) {
            let reason = finish_reason(word)?;
            // A second finish has nothing to say but its usage.
            self.reason.get_or_insert(reason);
            self.calls.close(&mut self.turn)?;
        }
        Ok(())
    }

    fn read_delta(&mut self, delta: Delta<'_>) -> Result<(), Error> {
        // Servers in transition send the same reasoning under both names.
        let reasoning = [
            ("reasoning_content", delta.reasoning_content),
            ("reasoning", delta.reasoning),
        ];
        let told = |text: &Option<Text<'_>>| some(text).is_some();
        if let Some((member, Some(text))) = reasoning.into_iter().find(|(_, text)| told(text)) {
            self.origin.reasoning_came_in(member);
            self.turn.reasoning(text.into_owned());
        }
        if let Some(text) = delta.content {
            self.turn.text(text.into_owned());
        }
        if let Some(text) = delta.refusal {
            self.refused |= !text.0.is_empty();
            self.turn.text(text.into_owned());
        }
        for call in delta.tool_calls.into_iter().flatten() {
            self.calls.push(&call, &mut self.turn, &mut self.origin)?;
        }
        if let Some(function) = delta.function_call {
            let call = CallDelta {
                index: None,
                id: None,
                function: Some(function),
                extra_content: None,
            };
            self.calls.push(&call, &mut self.turn, &mut self.origin)?;
        }
        Ok(())
    }

    /// Keeps the latest counts; servers may repeat them, growing, in every chunk.
    fn read_usage(&mut self, json: &RawValue) {
        match serde_json::from_str::<Counts>(json.get()) {
            Ok(counts) => self.usage = Some(counts.into_usage()),
            Err(error) => tracing::warn!(%error, "usage of a model call cannot be read"),
        }
    }

    /// Ends the turn at the sentinel or at the end of the body.
    fn end(&mut self) {
        let Some(reason) = self.reason.take() else {
            self.turn.fail(
                Error::of(ErrorKind::Truncated).with_detail("the stream has no finish_reason"),
            );
            return;
        };
        if let Err(error) = self.calls.close(&mut self.turn) {
            self.turn.fail(error);
            return;
        }
        let reason = if self.refused && reason == FinishReason::Stop {
            FinishReason::Refusal
        } else {
            reason
        };
        let model = std::mem::take(&mut self.model);
        let usage = self.usage.take().map(|usage| Usage { model, ..usage });
        self.turn
            .finish(reason, usage, std::mem::take(&mut self.origin).write());
    }

    fn unreadable(&self, data: &[u8], error: &serde_json::Error) -> Error {
        // The last event of a cut stream is half an event, not a wrong one.
        let kind = if self.ending && error.is_eof() {
            ErrorKind::Truncated
        } else {
            ErrorKind::Malformed
        };
        let start = data.get(..200).unwrap_or(data);
        Error::of(kind).with_detail(format!(
            "{error}, in a chunk that begins {}",
            String::from_utf8_lossy(start)
        ))
    }
}

impl Decode for Decoder {
    fn push(&mut self, bytes: &[u8]) {
        match self.bytes_left.checked_sub(bytes.len()) {
            Some(left) => {
                self.bytes_left = left;
                self.events.push(bytes);
            }
            None => self
                .turn
                .fail(Error::of(ErrorKind::TooLarge).with_detail("the answer exceeds its limit")),
        }
    }

    fn finish(&mut self) {
        // What is complete is read as such; only what is left can be half an event.
        while self.step() {}
        self.ending = true;
        self.events.finish();
    }

    fn next_event(&mut self) -> Option<Result<ModelEvent, Error>> {
        loop {
            if let Some(event) = self.turn.next_event() {
                return Some(event);
            }
            if !self.step() {
                return self.turn.next_event();
            }
        }
    }

    fn is_settled(&self) -> bool {
        self.reason.is_some() || self.turn.is_over()
    }
}

/// What a provider's word for the end means.
fn finish_reason(word: &str) -> Result<FinishReason, Error> {
    Ok(match word {
        "stop" | "stop_sequence" | "eos" | "eos_token" | "end_turn" => FinishReason::Stop,
        "tool_calls" | "function_call" | "tool_use" => FinishReason::ToolCalls,
        "length" | "max_tokens" | "model_length" => FinishReason::Length,
        "content_filter" | "sensitive" => FinishReason::ContentFilter,
        "error" | "network_error" | "insufficient_system_resource" | "abort" => {
            let detail = format!("finish_reason is {word}");
            return Err(Error::of(ErrorKind::Unavailable).with_detail(detail));
        }
        other => FinishReason::Other(other.to_owned()),
    })
}

/// Token counts in OpenAI's names and in the two others that are in use.
#[derive(Deserialize)]
struct Counts {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    total_tokens: Option<u64>,
    prompt_tokens_details: Option<PromptDetails>,
    completion_tokens_details: Option<CompletionDetails>,
    /// DeepSeek's name for `cached_tokens`.
    prompt_cache_hit_tokens: Option<u64>,
}

#[derive(Default, Deserialize)]
struct PromptDetails {
    cached_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
}

#[derive(Default, Deserialize)]
struct CompletionDetails {
    reasoning_tokens: Option<u64>,
}

impl Counts {
    fn into_usage(self) -> Usage {
        let prompt = self.prompt_tokens_details.unwrap_or_default();
        Usage {
            provider: PROVIDER.to_owned(),
            model: String::new(),
            input_tokens: self.prompt_tokens,
            output_tokens: self.completion_tokens,
            total_tokens: self.total_tokens,
            reasoning_tokens: self
                .completion_tokens_details
                .and_then(|details| details.reasoning_tokens),
            cached_input_tokens: prompt.cached_tokens.or(self.prompt_cache_hit_tokens),
            cache_write_input_tokens: prompt.cache_write_tokens,
        }
    }
}
