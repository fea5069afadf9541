//! Event streams as bytes.

use serde_json::{Value, json};

/// The thread and the run of a request, from its body or from the path of a join.
pub(crate) fn ids(request: &str) -> (String, String) {
    if let Some(rest) = request.strip_prefix("GET /runs/") {
        let (run, rest) = rest.split_once('/').unwrap();
        let thread = rest.split_once("threadId=").unwrap().1;
        let thread = thread.split_whitespace().next().unwrap();
        return (thread.to_owned(), run.to_owned());
    }
    let body = request.split_once("\r\n\r\n").unwrap().1;
    let body: Value = serde_json::from_str(body).unwrap();
    let id = |key: &str| body[key].as_str().unwrap().to_owned();
    (id("threadId"), id("runId"))
}

/// The value of a request's header.
pub(crate) fn header(request: &str, name: &str) -> Option<String> {
    let head = request.split_once("\r\n\r\n")?.0;
    head.lines().find_map(|line| {
        let (key, value) = line.split_once(": ")?;
        key.eq_ignore_ascii_case(name).then(|| value.to_owned())
    })
}

/// RUN_STARTED of the run that the request asks for.
pub(crate) fn started(request: &str) -> Value {
    let (thread, run) = ids(request);
    json!({"type": "RUN_STARTED", "threadId": thread, "runId": run, "protocolVersion": "1.0"})
}

/// RUN_FINISHED of the run that the request asks for.
pub(crate) fn finished(request: &str, more: &Value) -> Value {
    let (thread, run) = ids(request);
    let mut event = json!({"type": "RUN_FINISHED", "threadId": thread, "runId": run});
    if let (Some(event), Some(more)) = (event.as_object_mut(), more.as_object()) {
        event.extend(more.clone());
    }
    event
}

/// A text message with this id, a delta for every word.
pub(crate) fn text(id: &str, words: &str) -> Vec<Value> {
    let mut events = vec![json!({"type": "TEXT_MESSAGE_START", "messageId": id})];
    for word in words.split_inclusive(' ') {
        events.push(json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": id, "delta": word}));
    }
    events.push(json!({"type": "TEXT_MESSAGE_END", "messageId": id}));
    events
}

/// A whole run that says these words.
pub(crate) fn saying(request: &str, words: &str) -> Vec<Value> {
    run(
        request,
        text(&format!("m-{}", ids(request).1), words),
        &json!({}),
    )
}

/// A whole run with these events; `end` is in RUN_FINISHED besides the ids.
pub(crate) fn run(request: &str, events: Vec<Value>, end: &Value) -> Vec<Value> {
    let mut all = vec![started(request)];
    all.extend(events);
    all.push(finished(request, end));
    all
}

/// The frames of events.
pub(crate) fn frames(events: &[Value]) -> Vec<u8> {
    let frames = events.iter().map(|event| format!("data: {event}\n\n"));
    frames.collect::<String>().into_bytes()
}

/// The frames of events, numbered from this one on.
pub(crate) fn numbered(events: &[Value], first: usize) -> Vec<u8> {
    let frames = events
        .iter()
        .zip(first..)
        .map(|(event, number)| format!("id: r:{number}\ndata: {event}\n\n"));
    frames.collect::<String>().into_bytes()
}
