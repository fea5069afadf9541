//! Runs made at random, but legal: nothing that judges or folds them may object.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use antiphon_protocol::*;
use common::object;
use proptest::prelude::*;
use serde_json::{Value, json};

/// One step of a run: what to do, and with which of the things that are there.
type Move = (u8, usize, String);

/// Makes a legal run out of moves. A move that is impossible at its moment is skipped.
struct Maker {
    events: Vec<Event>,
    replica: Replica,
    open: Vec<Open>,
    closed_texts: Vec<(String, Option<String>)>,
    unanswered: Vec<String>,
    subagents: Vec<String>,
    activities: Vec<String>,
    count: usize,
}

#[derive(Clone)]
enum Open {
    Text(String, Option<String>),
    Call(String, Option<String>),
    Reasoning(String, Option<String>),
    Span(String, Option<String>),
    Step(String, Option<String>),
}

impl Maker {
    fn new() -> Self {
        let mut maker = Self {
            events: Vec::new(),
            replica: Replica::new(Vec::new(), None),
            open: Vec::new(),
            closed_texts: Vec::new(),
            unanswered: Vec::new(),
            subagents: Vec::new(),
            activities: Vec::new(),
            count: 0,
        };
        let started = RunStarted {
            protocol_version: Some(PROTOCOL_VERSION.to_owned()),
            ..RunStarted::new("t1", "r1")
        };
        maker.emit(started);
        maker
    }

    fn emit(&mut self, event: impl Into<Event>) {
        let event = event.into();
        assert_eq!(self.replica.apply(&event), [], "{event:?}");
        self.events.push(event);
    }

    fn id(&mut self, prefix: &str) -> String {
        self.count += 1;
        format!("{prefix}{}", self.count)
    }

    fn owner(&self, pick: usize) -> Option<String> {
        self.subagents
            .get(pick % (self.subagents.len() + 2))
            .cloned()
    }

    fn play(&mut self, (what, pick, text): Move) {
        let subagent_run_id = self.owner(pick);
        match what % 16 {
            0 => self.start_text(pick, subagent_run_id),
            1 => self.start_call(pick, subagent_run_id),
            2 => {
                let id = self.id("reasoning");
                self.open
                    .push(Open::Reasoning(id.clone(), subagent_run_id.clone()));
                self.emit(ReasoningMessageStart {
                    subagent_run_id,
                    ..ReasoningMessageStart::new(id)
                });
            }
            3 => {
                let id = self.id("span");
                self.open
                    .push(Open::Span(id.clone(), subagent_run_id.clone()));
                self.emit(ReasoningStart {
                    subagent_run_id,
                    ..ReasoningStart::new(id)
                });
            }
            4 => {
                let name = self.id("step");
                self.open
                    .push(Open::Step(name.clone(), subagent_run_id.clone()));
                self.emit(StepStarted {
                    subagent_run_id,
                    ..StepStarted::new(name)
                });
            }
            5..=8 => self.continue_one(pick, &text),
            9 => {
                if !self.open.is_empty() {
                    let item = self.open.remove(pick % self.open.len());
                    self.close(item);
                }
            }
            10 => self.answer(pick, &text),
            11 => self.change_state(pick, &text),
            12 => self.emit(MessagesSnapshot::new(self.replica.messages().to_vec())),
            13 => self.show_activity(pick, &text),
            14 => self.subagent(pick),
            _ => self.emit(Custom::new("acme:note", text)),
        }
    }

    fn start_text(&mut self, pick: usize, owner: Option<String>) {
        let (id, subagent_run_id) = if pick.is_multiple_of(3) && !self.closed_texts.is_empty() {
            self.closed_texts.remove(pick % self.closed_texts.len())
        } else {
            (self.id("text"), owner)
        };
        self.open
            .push(Open::Text(id.clone(), subagent_run_id.clone()));
        let mut start = TextMessageStart {
            subagent_run_id,
            ..TextMessageStart::new(id)
        };
        if pick % 4 == 1 {
            start.base.metadata = Some(object(json!({"pick": pick})));
        }
        self.emit(start);
    }

    fn start_call(&mut self, pick: usize, owner: Option<String>) {
        let id = self.id("call");
        let mut start = ToolCallStart::new(id.clone(), "search");
        let mut parents = self.closed_texts.clone();
        parents.extend(self.open.iter().filter_map(|item| match item {
            Open::Text(id, owner) => Some((id.clone(), owner.clone())),
            _ => None,
        }));
        start.subagent_run_id = owner;
        if pick.is_multiple_of(2) && !parents.is_empty() {
            let (parent, owner) = parents.swap_remove(pick % parents.len());
            start.parent_message_id = Some(parent);
            start.subagent_run_id = owner;
        } else if pick % 5 == 1 {
            start.parent_message_id = Some(self.id("parent"));
        }
        self.open
            .push(Open::Call(id.clone(), start.subagent_run_id.clone()));
        self.unanswered.push(id);
        self.emit(start);
    }

    fn continue_one(&mut self, pick: usize, text: &str) {
        if self.open.is_empty() {
            return;
        }
        match self.open[pick % self.open.len()].clone() {
            Open::Text(id, subagent_run_id) => {
                let mut content = TextMessageContent {
                    subagent_run_id,
                    ..TextMessageContent::new(id, text)
                };
                if pick.is_multiple_of(7) {
                    content.base.metadata = Some(object(json!({"seen": text})));
                }
                self.emit(content);
            }
            Open::Call(id, subagent_run_id) => {
                self.emit(ToolCallArgs {
                    subagent_run_id,
                    ..ToolCallArgs::new(id, text)
                });
            }
            Open::Reasoning(id, subagent_run_id) => self.emit(ReasoningMessageContent {
                subagent_run_id,
                ..ReasoningMessageContent::new(id, text)
            }),
            Open::Span(..) | Open::Step(..) => {}
        }
    }

    fn close(&mut self, item: Open) {
        match item {
            Open::Text(id, subagent_run_id) => {
                self.closed_texts
                    .push((id.clone(), subagent_run_id.clone()));
                self.emit(TextMessageEnd {
                    subagent_run_id,
                    ..TextMessageEnd::new(id)
                });
            }
            Open::Call(id, subagent_run_id) => {
                self.emit(ToolCallEnd {
                    subagent_run_id,
                    ..ToolCallEnd::new(id)
                });
            }
            Open::Reasoning(id, subagent_run_id) => {
                self.emit(ReasoningMessageEnd {
                    subagent_run_id,
                    ..ReasoningMessageEnd::new(id)
                });
            }
            Open::Span(id, subagent_run_id) => {
                self.emit(ReasoningEnd {
                    subagent_run_id,
                    ..ReasoningEnd::new(id)
                });
            }
            Open::Step(name, subagent_run_id) => {
                self.emit(StepFinished {
                    subagent_run_id,
                    ..StepFinished::new(name)
                });
            }
        }
    }

    fn answer(&mut self, pick: usize, text: &str) {
        let closed: Vec<_> = self
            .unanswered
            .iter()
            .filter(|id| {
                !self
                    .open
                    .iter()
                    .any(|open| matches!(open, Open::Call(call, _) if call == *id))
            })
            .cloned()
            .collect();
        if closed.is_empty() {
            return;
        }
        let call = closed[pick % closed.len()].clone();
        self.unanswered.retain(|id| *id != call);
        let id = self.id("result");
        self.emit(ToolCallResult::new(id, call, text));
    }

    fn change_state(&mut self, pick: usize, text: &str) {
        if pick.is_multiple_of(3) {
            self.emit(StateSnapshot::new(json!({"text": text})));
        } else {
            let path = format!("/k{}", pick % 3);
            let patch: antiphon_state::Patch =
                serde_json::from_value(json!([{"op": "add", "path": path, "value": text}]))
                    .unwrap();
            self.emit(StateDelta::new(patch));
        }
    }

    fn show_activity(&mut self, pick: usize, text: &str) {
        if pick.is_multiple_of(2) || self.activities.is_empty() {
            let id = self.id("activity");
            self.activities.push(id.clone());
            self.emit(ActivitySnapshot::new(
                id,
                "plan",
                object(json!({"text": text})),
            ));
        } else {
            let id = self.activities[pick % self.activities.len()].clone();
            let patch: antiphon_state::Patch =
                serde_json::from_value(json!([{"op": "add", "path": "/more", "value": text}]))
                    .unwrap();
            self.emit(ActivityDelta::new(id, "plan", patch));
        }
    }

    fn subagent(&mut self, pick: usize) {
        let owned = |item: &Open, of: &str| match item {
            Open::Text(_, owner)
            | Open::Call(_, owner)
            | Open::Reasoning(_, owner)
            | Open::Span(_, owner)
            | Open::Step(_, owner) => owner.as_deref() == Some(of),
        };
        if pick.is_multiple_of(2) || self.subagents.is_empty() {
            let id = self.id("subagent");
            let parent_subagent_run_id = self.owner(pick);
            self.subagents.push(id.clone());
            self.emit(SubagentStarted {
                parent_subagent_run_id,
                ..SubagentStarted::new(id, "helper")
            });
        } else {
            let id = self.subagents.remove(pick % self.subagents.len());
            let (mine, others) = self.open.drain(..).partition(|item| owned(item, &id));
            self.open = others;
            for item in mine {
                self.close(item);
            }
            self.emit(SubagentFinished::new(id));
        }
    }

    fn finish(mut self, ending: u8) -> Vec<Event> {
        for item in std::mem::take(&mut self.open).into_iter().rev() {
            self.close(item);
        }
        for id in std::mem::take(&mut self.subagents) {
            self.emit(SubagentError::new(id, "stopped"));
        }
        let mut finished = RunFinished::new("t1", "r1");
        finished.outcome = match ending % 5 {
            0 => None,
            1 => Some(Outcome::Success {
                pending_tool_call_ids: Some(self.unanswered.clone()),
            }),
            2 => Some(Outcome::Interrupt {
                interrupts: vec![Interrupt::new("i1", "confirmation")],
            }),
            3 => Some(Outcome::Cancelled),
            _ => {
                self.emit(RunError::new("the model is away"));
                return self.events;
            }
        };
        self.emit(finished);
        self.events
    }
}

/// Events that are shown as JSON when a test fails.
#[derive(Clone)]
struct Run(Vec<Event>);

impl std::fmt::Debug for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0
            .iter()
            .try_for_each(|event| writeln!(f, "{}", String::from_utf8_lossy(&event.to_json())))
    }
}

fn legal_run() -> impl Strategy<Value = Run> {
    let moves = prop::collection::vec((any::<u8>(), 0usize..1000, "[a-zé🧪\"\\\\]{0,4}"), 0..60);
    (moves, any::<u8>()).prop_map(|(moves, ending)| {
        let mut maker = Maker::new();
        for one in moves {
            maker.play(one);
        }
        Run(maker.finish(ending))
    })
}

fn verify(mut verifier: Verifier, events: &[Event]) {
    for (at, event) in events.iter().enumerate() {
        if let Err(violation) = verifier.check(event) {
            panic!(
                "event {at} {}: {}: {violation}",
                event.kind(),
                violation.rule
            );
        }
    }
    verifier.finish().unwrap();
}

fn fold(events: &[Event]) -> (Vec<Message>, Value) {
    let mut replica = Replica::new(Vec::new(), None);
    for event in events {
        assert_eq!(replica.apply(event), []);
    }
    replica.into_parts()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn no_legal_run_is_rejected(Run(events) in legal_run()) {
        verify(Verifier::consumer(), &events);
        verify(Verifier::producer().after(&[]), &events);
        let input = RunAgentInput { protocol_version: Some("1.1".to_owned()), ..RunAgentInput::new("t1", "r1", Vec::new()) };
        verify(Verifier::producer().answering(&input), &events);
    }

    #[test]
    fn a_compacted_run_means_the_same(Run(events) in legal_run()) {
        let compacted = compact(events.clone());
        prop_assert!(compacted.len() <= events.len());
        verify(Verifier::producer().after(&[]), &compacted);
        prop_assert_eq!(fold(&compacted), fold(&events));
        prop_assert_eq!(compact(compacted.clone()), compacted);
    }

    #[test]
    fn every_wire_carries_a_run_unchanged(Run(events) in legal_run()) {
        let mut json = sse::Decoder::new(1 << 20);
        let mut protobuf = proto::Decoder::new(1 << 20);
        for event in &events {
            json.push(&sse::frame(None, &event.to_json()));
            protobuf.push(&proto::frame(event));
            let received = json.next_event().unwrap().unwrap();
            prop_assert_eq!(received.event.as_ref(), Some(event));
            let mut received = protobuf.next_event().unwrap().unwrap().event.unwrap();
            // An empty list is an absent one in protobuf.
            if let (Event::RunFinished(received), Event::RunFinished(sent)) = (&mut received, event)
                && sent.outcome == Some(Outcome::Success { pending_tool_call_ids: Some(Vec::new()) })
            {
                received.outcome = sent.outcome.clone();
            }
            prop_assert_eq!(&received, event);
        }
    }

    #[test]
    fn chunks_leave_a_run_without_chunks_alone(Run(events) in legal_run()) {
        let mut chunks = Chunks::default();
        let mut expanded = Vec::new();
        for event in events.clone() {
            chunks.expand(event, &mut expanded).unwrap();
        }
        chunks.finish(&mut expanded);
        prop_assert_eq!(expanded, events);
    }

    #[test]
    fn who_joins_in_the_middle_holds_what_all_hold(Run(events) in legal_run(), at in any::<prop::sample::Index>()) {
        let at = at.index(events.len());
        let (before, after) = events.split_at(at + 1);
        let mut leader = Replica::new(Vec::new(), None);
        for event in before {
            leader.apply(event);
        }
        // The terminal event comes to the joiner as well.
        let ended = after.is_empty();
        let started = events[0].clone();
        let mut stream = vec![
            started,
            StateSnapshot::new(leader.state().clone()).into(),
            MessagesSnapshot::new(leader.closed_messages()).into(),
        ];
        stream.extend(leader.open_items());
        let mut joiner = Replica::new(vec![UserMessage::new("stale", "x").into()], json!({"stale": 1}));
        for event in &stream {
            prop_assert_eq!(joiner.apply(event), []);
        }
        prop_assert_eq!(joiner.messages(), leader.messages());
        prop_assert_eq!(joiner.state(), leader.state());
        for event in after {
            leader.apply(event);
            prop_assert_eq!(joiner.apply(event), []);
        }
        prop_assert_eq!(joiner.messages(), leader.messages());
        prop_assert_eq!(joiner.state(), leader.state());
        stream.extend(after.iter().cloned());
        if !ended {
            verify(Verifier::consumer(), &stream);
        }
    }
}
