//! What each agent says.

use antiphon_protocol::{Content, Message, PROTOCOL_VERSION, ResumeStatus, Role, RunAgentInput};
use serde_json::{Map, Value, json};

/// The events of an agent's turn, and what is in its RUN_FINISHED besides the ids.
type Turn = (Vec<Value>, Result<Value, Value>);

const AGENTS: [&str; 13] = [
    "agentic_chat",
    "backend_tool_rendering",
    "interrupt",
    "shared_state",
    "agentic_generative_ui",
    "snapshot",
    "reasoning",
    "activity",
    "chunks",
    "subagents",
    "cancelled",
    "error",
    "passthrough",
];

pub(crate) fn is_known(agent: &str) -> bool {
    AGENTS.contains(&agent)
}

/// All events of a run.
pub(crate) fn run(agent: &str, input: &RunAgentInput) -> Vec<Value> {
    let ids = json!({"threadId": input.thread_id, "runId": input.run_id});
    let with_ids = |kind: &str, more: Value| {
        let mut event = json!({"type": kind});
        for members in [ids.clone(), more] {
            merge(&mut event, members);
        }
        event
    };
    let started = with_ids("RUN_STARTED", json!({"protocolVersion": PROTOCOL_VERSION}));
    let (events, end) = turn(agent, input);
    let end = match end {
        Ok(more) => with_ids("RUN_FINISHED", more),
        Err(mut error) => {
            error["type"] = json!("RUN_ERROR");
            error
        }
    };
    [started].into_iter().chain(events).chain([end]).collect()
}

fn merge(into: &mut Value, from: Value) {
    if let (Value::Object(into), Value::Object(from)) = (into, from) {
        into.extend(from);
    }
}

fn turn(agent: &str, input: &RunAgentInput) -> Turn {
    let nothing = || Ok(json!({}));
    let id = |name: &str| format!("{name}-{}", input.run_id);
    match agent {
        "agentic_chat" => chat(input),
        "backend_tool_rendering" => {
            let mut events = call(
                "call",
                "get_weather",
                &json!({"location": "San Francisco"}),
                Some(&id("m")),
            );
            events.push(result(&id("tool"), "call", r#"{"temperature":20}"#));
            events.extend(text(&id("m2"), "It is sunny."));
            (events, nothing())
        }
        "interrupt" => interrupt(input),
        "shared_state" => (shared_state(input), nothing()),
        "agentic_generative_ui" => (steps(), nothing()),
        "snapshot" => (snapshot(input), nothing()),
        "reasoning" => (reasoning(&id("r"), &id("m")), nothing()),
        "activity" => {
            let mut events = vec![
                json!({"type": "ACTIVITY_SNAPSHOT", "messageId": id("a"), "activityType": "search", "content": {"found": 0}}),
                json!({"type": "ACTIVITY_DELTA", "messageId": id("a"), "activityType": "search", "patch": [{"op": "replace", "path": "/found", "value": 3}]}),
            ];
            events.extend(text(&id("m"), "found 3"));
            (events, nothing())
        }
        "chunks" => (chunks(&id("c"), &id("call"), &id("t")), nothing()),
        "subagents" => (subagents(&id("s"), &id("m")), nothing()),
        "cancelled" => (
            text(&id("m"), "partial"),
            Ok(json!({"outcome": {"type": "cancelled"}})),
        ),
        "error" => {
            let failure = json!({"message": "the model is down", "code": "upstream"});
            (text(&id("m"), "about to fail"), Err(failure))
        }
        "passthrough" => {
            let events = vec![
                json!({"type": "RAW", "event": {"a": [null, 1.5, "x"]}, "source": "test"}),
                json!({"type": "CUSTOM", "name": "com.example.cart", "value": null}),
            ];
            (events, Ok(json!({"result": [1, "two", {"three": null}]})))
        }
        other => panic!("no agent {other}"),
    }
}

fn text(id: &str, words: &str) -> Vec<Value> {
    let mut events =
        vec![json!({"type": "TEXT_MESSAGE_START", "messageId": id, "role": "assistant"})];
    for word in words.split_inclusive(' ') {
        events.push(json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": id, "delta": word}));
    }
    events.push(json!({"type": "TEXT_MESSAGE_END", "messageId": id}));
    events
}

fn call(id: &str, tool: &str, arguments: &Value, parent: Option<&str>) -> Vec<Value> {
    let mut start = json!({"type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": tool});
    if let Some(parent) = parent {
        start["parentMessageId"] = json!(parent);
    }
    let arguments = arguments.to_string();
    let (first, second) = arguments.split_at(arguments.len() / 2);
    let args = |delta| json!({"type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": delta});
    let end = json!({"type": "TOOL_CALL_END", "toolCallId": id});
    vec![start, args(first), args(second), end]
}

fn result(message: &str, call: &str, content: &str) -> Value {
    json!({"type": "TOOL_CALL_RESULT", "messageId": message, "toolCallId": call, "content": content})
}

fn chat(input: &RunAgentInput) -> Turn {
    let id = format!("m-{}", input.run_id);
    let last = input.messages.last();
    if last.is_some_and(|message| message.role() == Role::Tool) {
        return (text(&id, "background changed"), Ok(json!({})));
    }
    let words = match last {
        Some(Message::User(user)) => Content::text(&user.content).into_owned(),
        _ => String::new(),
    };
    if words.contains("background") && !input.tools.is_empty() {
        let call_id = format!("call-{}", input.run_id);
        let events = call(
            &call_id,
            "change_background",
            &json!({"background": "teal"}),
            None,
        );
        let outcome = json!({"type": "success", "pendingToolCallIds": [call_id]});
        return (events, Ok(json!({"outcome": outcome})));
    }
    let usage =
        json!([{"provider": "test", "inputTokens": 10, "outputTokens": 4, "totalTokens": 14}]);
    (
        text(&id, &format!("you said: {words}")),
        Ok(json!({"usage": usage})),
    )
}

fn interrupt(input: &RunAgentInput) -> Turn {
    let asked = json!({
        "id": "int-transfer", "reason": "approval", "message": "Transfer 100?",
        "toolCallId": "call-transfer", "metadata": {"risk": "high"},
        "responseSchema": {"type": "object", "properties": {"approved": {"type": "boolean"}}},
    });
    let asking = || Ok(json!({"outcome": {"type": "interrupt", "interrupts": [asked]}}));
    let made = |message: &Message| {
        message
            .tool_calls()
            .iter()
            .any(|call| call.id == "call-transfer")
    };
    if !input.messages.iter().any(made) {
        let events = call(
            "call-transfer",
            "transfer_funds",
            &json!({"amount": 100}),
            None,
        );
        return (events, asking());
    }
    let Some(answer) = input
        .resume
        .iter()
        .find(|entry| entry.interrupt_id == "int-transfer")
    else {
        return (Vec::new(), asking());
    };
    let payload = answer.payload.as_ref();
    let approved = answer.status == ResumeStatus::Resolved
        && payload.is_some_and(|payload| payload["approved"] == true);
    let words = match (approved, answer.status) {
        (true, _) => "Done.",
        (false, ResumeStatus::Cancelled) => "Cancelled.",
        (false, ResumeStatus::Resolved) => "Refused.",
    };
    let mut events = vec![result(
        &format!("tool-{}", input.run_id),
        "call-transfer",
        words,
    )];
    events.extend(text(&format!("m-{}", input.run_id), words));
    (events, Ok(json!({"result": {"approved": approved}})))
}

fn shared_state(input: &RunAgentInput) -> Vec<Value> {
    let mut state = match &input.state {
        Some(Value::Object(state)) => state.clone(),
        _ => Map::new(),
    };
    state.insert(
        "recipe".to_owned(),
        json!({"title": "Soup", "ingredients": []}),
    );
    vec![
        json!({"type": "STATE_SNAPSHOT", "snapshot": state}),
        json!({"type": "STATE_DELTA", "delta": [
            {"op": "add", "path": "/recipe/ingredients/-", "value": "Salt"},
            {"op": "replace", "path": "/recipe/title", "value": "Salty soup"},
        ]}),
    ]
}

fn steps() -> Vec<Value> {
    let mut events =
        vec![json!({"type": "STATE_SNAPSHOT", "snapshot": {"steps": ["pending", "pending"]}})];
    for step in 0..2 {
        events.extend([
            json!({"type": "STEP_STARTED", "stepName": format!("s{step}")}),
            json!({"type": "STATE_DELTA", "delta": [{"op": "replace", "path": format!("/steps/{step}"), "value": "completed"}]}),
            json!({"type": "STEP_FINISHED", "stepName": format!("s{step}")}),
        ]);
    }
    events
}

fn snapshot(input: &RunAgentInput) -> Vec<Value> {
    let mut messages = match serde_json::to_value(&input.messages).unwrap() {
        Value::Array(messages) => messages,
        _ => Vec::new(),
    };
    let run = &input.run_id;
    messages.push(
        json!({"id": format!("m-{run}"), "role": "assistant", "toolCalls": [
            {"id": "c9", "type": "function", "function": {"name": "haiku", "arguments": "{}"}},
        ]}),
    );
    messages.push(
        json!({"id": format!("t-{run}"), "role": "tool", "toolCallId": "c9", "content": [
            {"type": "text", "text": "made"},
            {"type": "image", "source": {"type": "url", "value": "https://example.com/h.png"}},
        ]}),
    );
    vec![json!({"type": "MESSAGES_SNAPSHOT", "messages": messages})]
}

fn reasoning(id: &str, answer: &str) -> Vec<Value> {
    let mut events = vec![
        json!({"type": "REASONING_START", "messageId": id}),
        json!({"type": "REASONING_MESSAGE_START", "messageId": id, "role": "reasoning"}),
        json!({"type": "REASONING_MESSAGE_CONTENT", "messageId": id, "delta": "let me see"}),
        json!({"type": "REASONING_MESSAGE_END", "messageId": id}),
        json!({"type": "REASONING_ENCRYPTED_VALUE", "subtype": "message", "entityId": id, "encryptedValue": "b3BhcXVl"}),
        json!({"type": "REASONING_END", "messageId": id}),
    ];
    events.extend(text(answer, "42"));
    events
}

fn chunks(message: &str, call: &str, tool: &str) -> Vec<Value> {
    vec![
        json!({"type": "TEXT_MESSAGE_CHUNK", "messageId": message, "delta": "Hel"}),
        json!({"type": "TEXT_MESSAGE_CHUNK", "delta": "lo"}),
        json!({"type": "TOOL_CALL_CHUNK", "toolCallId": call, "toolCallName": "search", "parentMessageId": message, "delta": "{\"q\":"}),
        json!({"type": "TOOL_CALL_CHUNK", "delta": "\"x\"}"}),
        result(tool, call, "r"),
    ]
}

fn subagents(subagent: &str, message: &str) -> Vec<Value> {
    vec![
        json!({"type": "SUBAGENT_STARTED", "subagentRunId": subagent, "name": "researcher"}),
        json!({"type": "TEXT_MESSAGE_START", "messageId": message, "role": "assistant", "subagentRunId": subagent}),
        json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": message, "delta": "one"}),
        json!({"type": "TEXT_MESSAGE_END", "messageId": message}),
        json!({"type": "SUBAGENT_ERROR", "subagentRunId": subagent, "message": "gave up", "code": "E"}),
    ]
}
