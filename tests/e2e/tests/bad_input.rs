//! Input that a server must refuse, each before any stream and any side effect: the model sees
//! no request and the thread does not come into being.

use antiphon_e2e::{
    http::{Answer, Request},
    play::{AGENT, Play, Setting, Step},
    provider::{Reply, chunks::text},
};
use serde_json::{Value, json};

/// A thread that nothing has been said in, and a model that would answer.
async fn play() -> Step<Play> {
    let agent = json!({
        "tools": [{"name": "get_weather", "returns": "sunny"}],
        "state": {"schema": {"recipe": {"type": "object"}, "servings": {"type": "integer", "minimum": 1}}},
    });
    let play = Play::with(agent).await?;
    play.stage
        .provider
        .answer(|_| Reply::stream(text("Hello.")));
    Ok(play)
}

/// Sends a request and expects this status with the body of a refusal, and nothing else to have
/// happened.
async fn refused(play: &mut Play, what: &str, request: Request, status: u16) -> Step<Answer> {
    let asked = play.stage.provider.request_count();
    let answer = play.stage.server.fetch(&request).await?;
    let body = answer.json();
    let error = &body["error"];
    play.check(
        answer.status == status,
        format!(
            "{what}: HTTP {} {}, expected {status}",
            answer.status,
            answer.text()
        ),
    );
    let kind = answer.header("content-type").unwrap_or_default();
    play.check(
        kind.starts_with("application/json"),
        format!("{what}: content type {kind:?}"),
    );
    let known = ["code", "message", "field"];
    let shape = error["code"].is_string()
        && error["message"].is_string()
        && error.get("field").is_none_or(Value::is_string)
        && body["detail"] == error["message"];
    play.check(shape, format!("{what}: the body of the refusal is {body}"));
    let extra = error
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(key, _)| !known.contains(&key.as_str()));
    for (key, value) in extra {
        // A conflict names what is in the way; input that is wrong has no more to say.
        play.check(
            status == 409,
            format!("{what}: the refusal also has {key}: {value}"),
        );
    }
    nothing_happened(play, what, asked).await?;
    Ok(answer)
}

async fn nothing_happened(play: &mut Play, what: &str, asked_before: usize) -> Step {
    let asked = play.stage.provider.request_count() - asked_before;
    play.check(asked == 0, format!("{what}: the model was asked"));
    let thread = play.get(&format!("/sessions/{}", play.thread)).await?;
    play.check(
        thread.status == 404,
        format!("{what}: the thread exists (HTTP {})", thread.status),
    );
    Ok(())
}

/// Sends a body and expects 400 that names the field.
async fn refused_field(play: &mut Play, body: &Value, field: &str) -> Step {
    let what = format!(
        "{field} in {}",
        body.to_string().chars().take(150).collect::<String>()
    );
    let answer = refused(play, &what, play.request(body), 400).await?;
    let named = answer.json()["error"]["field"].clone();
    play.check(
        named == *field,
        format!("{what}: the refusal names {named}, expected {field:?}"),
    );
    Ok(())
}

/// Ends a play in which nothing was to happen.
async fn end(mut play: Play) -> Step {
    play.is_stored = false;
    play.end().await
}

#[tokio::test]
async fn a_body_that_is_not_json_is_refused() -> Step {
    let mut play = play().await?;
    for raw in [
        &b"{not json"[..],
        b"",
        b"{\"threadId\":\"thread-1\"",
        b"\xff\xfe{}",
        b"{} {}",
    ] {
        let request = play.request(&Value::Null).body(raw);
        refused(&mut play, &String::from_utf8_lossy(raw), request, 400).await?;
    }
    end(play).await
}

#[tokio::test]
async fn a_body_that_is_not_an_object_is_refused() -> Step {
    let mut play = play().await?;
    for raw in [&b"[]"[..], b"7", b"\"text\"", b"null"] {
        let request = play.request(&Value::Null).body(raw);
        refused(&mut play, &String::from_utf8_lossy(raw), request, 400).await?;
    }
    end(play).await
}

#[tokio::test]
async fn a_body_above_the_limit_is_413() -> Step {
    let mut play = play().await?;
    let large = play.body(&json!({"forwardedProps": "x".repeat(5 << 20)}));
    let request = play.request(&large);
    refused(&mut play, "5 MiB", request, 413).await?;
    end(play).await
}

#[tokio::test]
async fn a_body_above_a_limit_of_the_agent_file_is_413() -> Step {
    let setting = Setting {
        top: json!({"limits": {"body": "2KiB"}}),
        ..Setting::default()
    };
    let mut play = Play::set(json!({}), setting).await?;
    play.stage
        .provider
        .answer(|_| Reply::stream(text("Hello.")));
    let large = play.body(&json!({"forwardedProps": "x".repeat(4 << 10)}));
    let request = play.request(&large);
    refused(&mut play, "4 KiB", request, 413).await?;
    let small = play.body(&json!({}));
    let run = play.post(&small).await?;
    play.expect_success(&run, "a body below the limit", Some("Hello."));
    play.end().await
}

#[tokio::test]
async fn a_body_that_is_too_deep_is_refused() -> Step {
    let mut play = play().await?;
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    for member in ["forwardedProps", "context", "messages"] {
        let raw =
            format!(r#"{{"threadId":"thread-1","runId":"run-1","messages":[],"{member}":{deep}}}"#);
        let request = play.request(&Value::Null).body(raw);
        refused(&mut play, &format!("200 levels in {member}"), request, 400).await?;
    }
    let far = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let request = play.request(&Value::Null).body(far);
    refused(&mut play, "100000 levels", request, 400).await?;
    end(play).await
}

#[tokio::test]
async fn missing_members_are_named() -> Step {
    let mut play = play().await?;
    for member in ["threadId", "runId", "messages"] {
        let request = play.body(&json!({ member: null }));
        refused_field(&mut play, &request, member).await?;
    }
    end(play).await
}

#[tokio::test]
async fn wrong_types_are_named() -> Step {
    let mut play = play().await?;
    let user = |member: &str, value: Value| {
        let mut message = json!({"id": "u1", "role": "user", "content": "hi"});
        message[member] = value;
        json!({"messages": [message]})
    };
    let call = |call: Value| json!({"messages": [{"id": "a1", "role": "assistant", "toolCalls": [call]}, {"id": "u1", "role": "user", "content": "hi"}]});
    let table = [
        (json!({"threadId": 7}), "threadId"),
        (json!({"threadId": ""}), "threadId"),
        (json!({"threadId": "x".repeat(257)}), "threadId"),
        (json!({"threadId": "a\u{1}b"}), "threadId"),
        (json!({"runId": {}}), "runId"),
        (json!({"runId": "x\ny"}), "runId"),
        (json!({"parentRunId": 5}), "parentRunId"),
        (json!({"messages": {}}), "messages"),
        (json!({"messages": "hi"}), "messages"),
        (json!({"messages": [5]}), "messages[0]"),
        (user("id", json!(5)), "messages[0].id"),
        (user("role", json!(5)), "messages[0].role"),
        (user("content", json!(5)), "messages[0].content"),
        (user("content", json!({})), "messages[0].content"),
        (user("content", json!([5])), "messages[0].content[0]"),
        (
            user("content", json!([{"type": "text"}])),
            "messages[0].content[0].text",
        ),
        (call(json!(5)), "messages[0].toolCalls[0]"),
        (
            call(
                json!({"id": 5, "type": "function", "function": {"name": "f", "arguments": "{}"}}),
            ),
            "messages[0].toolCalls[0].id",
        ),
        (
            json!({"messages": [{"id": "t1", "role": "tool", "content": "x"}]}),
            "messages[0].toolCallId",
        ),
        (json!({"tools": {}}), "tools"),
        (json!({"tools": [5]}), "tools[0]"),
        (
            json!({"tools": [{"name": 5, "description": "d", "parameters": {}}]}),
            "tools[0].name",
        ),
        (json!({"context": {}}), "context"),
        (
            json!({"context": [{"description": 1, "value": "x"}]}),
            "context[0].description",
        ),
        (json!({"resume": "x"}), "resume"),
        (json!({"resume": [5]}), "resume[0]"),
        (
            json!({"resume": [{"interruptId": 5, "status": "resolved"}]}),
            "resume[0].interruptId",
        ),
        (
            json!({"resume": [{"interruptId": "i", "status": "maybe"}]}),
            "resume[0].status",
        ),
    ];
    for (change, field) in table {
        let request = play.body(&change);
        refused_field(&mut play, &request, field).await?;
    }
    end(play).await
}

#[tokio::test]
async fn a_member_in_two_spellings_with_different_values_is_refused() -> Step {
    let mut play = play().await?;
    let request = play.body(&json!({"thread_id": "another"}));
    let request = play.request(&request);
    refused(&mut play, "two thread ids", request, 400).await?;
    end(play).await
}

#[tokio::test]
async fn too_many_messages_are_refused() -> Step {
    let mut play = play().await?;
    let messages: Vec<_> = (0..2001)
        .map(|i| json!({"id": format!("u{i}"), "role": "user", "content": "hi"}))
        .collect();
    let request = play.body(&json!({"messages": messages}));
    refused_field(&mut play, &request, "messages").await?;
    end(play).await
}

#[tokio::test]
async fn duplicate_message_ids_with_different_content_are_refused() -> Step {
    let mut play = play().await?;
    let message = |words: &str| json!({"id": "u1", "role": "user", "content": words});
    let request = play.body(&json!({"messages": [message("one"), message("two")]}));
    refused_field(&mut play, &request, "messages[1].id").await?;
    end(play).await
}

#[tokio::test]
async fn reserved_state_keys_are_refused() -> Step {
    let mut play = play().await?;
    for key in ["_x", "app:x", "user:role", "temp:x"] {
        let request = play.body(&json!({"state": {"recipe": {}, key: 1}}));
        let request = play.request(&request);
        let answer = refused(&mut play, key, request, 400).await?;
        play.check(
            answer.text().contains(key),
            format!("the refusal of {key} does not name it: {}", answer.text()),
        );
    }
    end(play).await
}

#[tokio::test]
async fn a_state_that_breaks_its_schema_is_refused() -> Step {
    let mut play = play().await?;
    for state in [
        json!({"recipe": "soup"}),
        json!({"servings": 0}),
        json!({"servings": "many"}),
    ] {
        let request = play.body(&json!({ "state": state }));
        let request = play.request(&request);
        let answer = refused(&mut play, &state.to_string(), request, 400).await?;
        let field = answer.json()["error"]["field"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        play.check(
            field.starts_with("state"),
            format!("{state}: the refusal names {field:?}"),
        );
    }
    end(play).await
}

#[tokio::test]
async fn a_client_tool_may_not_shadow_a_server_tool() -> Step {
    let mut play = play().await?;
    let tool =
        |name: &str| json!({"name": name, "description": "mine", "parameters": {"type": "object"}});
    let request = play.body(&json!({"tools": [tool("get_weather")]}));
    refused_field(&mut play, &request, "tools[0].name").await?;
    let request = play.body(&json!({"tools": [tool("twice"), tool("twice")]}));
    refused_field(&mut play, &request, "tools[1].name").await?;
    end(play).await
}

#[tokio::test]
async fn a_resume_that_answers_nothing_open_is_refused() -> Step {
    let mut play = play().await?;
    let request = play.body(&json!({"resume": [{"interruptId": "made-up", "status": "resolved", "payload": {"approved": true}}]}),
    );
    let answer = play.stage.server.fetch(&play.request(&request)).await?;
    play.check(
        (400..500).contains(&answer.status),
        format!("HTTP {}", answer.status),
    );
    let asked = play.stage.provider.request_count();
    play.check(asked == 0, format!("the model was asked {asked} times"));
    end(play).await
}

#[tokio::test]
async fn an_unknown_agent_is_404() -> Step {
    let mut play = play().await?;
    let good = play.body(&json!({}));
    refused(
        &mut play,
        "an unknown agent",
        Request::post("/agents/nobody", &good),
        404,
    )
    .await?;
    refused(
        &mut play,
        "an unknown route",
        Request::get("/no/such/route"),
        404,
    )
    .await?;
    refused(
        &mut play,
        "the description of an unknown agent",
        Request::get("/agents/nobody"),
        404,
    )
    .await?;
    end(play).await
}

#[tokio::test]
async fn a_wrong_method_is_405_and_says_what_is_allowed() -> Step {
    let mut play = play().await?;
    let agent = format!("/agents/{AGENT}");
    for (method, path) in [
        ("PUT", agent.as_str()),
        ("DELETE", agent.as_str()),
        ("PATCH", "/healthz"),
    ] {
        let what = format!("{method} {path}");
        let answer = refused(&mut play, &what, Request::new(method, path), 405).await?;
        play.check(
            answer.header("allow").is_some(),
            format!("{what}: no allow header"),
        );
    }
    end(play).await
}

#[tokio::test]
async fn a_body_that_is_not_declared_as_json_is_415() -> Step {
    let mut play = play().await?;
    let good = play.body(&json!({}));
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
    ] {
        let request = play.request(&good).header("Content-Type", kind);
        refused(&mut play, kind, request, 415).await?;
    }
    let request = play.request(&good).without("Content-Type");
    refused(&mut play, "no content type", request, 415).await?;
    end(play).await
}

#[tokio::test]
async fn an_accept_header_that_nothing_fits_is_406() -> Step {
    let mut play = play().await?;
    let good = play.body(&json!({}));
    let request = play.request(&good).header("Accept", "image/png");
    refused(&mut play, "image/png", request, 406).await?;
    end(play).await
}

#[tokio::test]
async fn another_host_name_is_421() -> Step {
    let mut play = play().await?;
    let good = play.body(&json!({}));
    for host in [
        "evil.example",
        "127.0.0.1.evil.example:80",
        "169.254.169.254",
    ] {
        let request = play.request(&good).header("Host", host);
        refused(&mut play, host, request, 421).await?;
    }
    let port = play.stage.server.addr.port();
    for host in [
        format!("localhost:{port}"),
        "localhost".to_owned(),
        format!("[::1]:{port}"),
    ] {
        let answer = play
            .fetch(Request::get("/healthz").header("Host", &host))
            .await?;
        play.check(
            answer.status == 200,
            format!("Host {host}: HTTP {}", answer.status),
        );
    }
    end(play).await
}

#[tokio::test]
async fn a_cross_site_browser_request_is_refused() -> Step {
    let mut play = play().await?;
    let good = play.body(&json!({}));
    let request = play
        .request(&good)
        .header("Origin", "https://evil.example")
        .header("Sec-Fetch-Site", "cross-site");
    refused(&mut play, "cross-site", request, 403).await?;
    let request = play.request(&good).header("Origin", "https://evil.example");
    refused(&mut play, "a foreign origin", request, 403).await?;
    end(play).await
}

#[tokio::test]
async fn an_origin_of_the_agent_file_is_let_in() -> Step {
    let setting = Setting {
        top: json!({"cors": ["http://localhost:3000"]}),
        ..Setting::default()
    };
    let mut play = Play::set(json!({}), setting).await?;
    play.stage
        .provider
        .answer(|_| Reply::stream(text("Hello.")));
    let good = play.body(&json!({}));
    let request = play
        .request(&good)
        .header("Origin", "http://localhost:3000")
        .header("Sec-Fetch-Site", "cross-site");
    let run = play.start_with(&good, &request).await?;
    let run = play.finish(run).await;
    play.expect_success(&run, "an allowed origin", Some("Hello."));
    let allowed = run.header("access-control-allow-origin").map(str::to_owned);
    play.check(
        allowed.as_deref() == Some("http://localhost:3000"),
        format!("access-control-allow-origin {allowed:?}"),
    );
    let preflight = Request::new("OPTIONS", &format!("/agents/{AGENT}"))
        .header("Origin", "http://localhost:3000")
        .header("Access-Control-Request-Method", "POST")
        .header("Access-Control-Request-Headers", "content-type");
    let answer = play.fetch(preflight).await?;
    play.check(
        matches!(answer.status, 200 | 204),
        format!("preflight: HTTP {}", answer.status),
    );
    play.end().await
}

#[tokio::test]
async fn unknown_roles_and_parts_do_not_stop_a_run() -> Step {
    let mut play = play().await?;
    for (n, messages) in [
        json!([{"id": "x1", "role": "alien", "content": "?"}, {"id": "u1", "role": "user", "content": "hi"}]),
        json!([{"id": "u1", "role": "user", "content": [{"type": "hologram", "beam": 1}, {"type": "text", "text": "hi"}]}]),
        json!([{"id": "u1", "role": "user", "content": "hi", "sparkle": true}]),
    ]
    .into_iter()
    .enumerate()
    {
        play.turn_to(&format!("tolerant-{n}"));
        let request = play.body(&json!({"messages": messages, "futureField": {"a": 1}}));
        let run = play.post(&request).await?;
        play.expect_success(&run, &messages.to_string(), Some("Hello."));
        let requests = play.stage.provider.requests();
        let told = requests.last().is_some_and(|r| r.last_user().contains("hi"));
        play.check(told, format!("{messages}: the model did not get the text"));
    }
    play.end().await
}

#[tokio::test]
async fn a_state_that_is_no_object_changes_nothing_and_is_answered_with_the_state() -> Step {
    let mut play = Play::with(json!({"state": {"initial": {"n": 1}}})).await?;
    play.stage
        .provider
        .answer(|_| Reply::stream(text("Hello.")));
    for state in [json!([1]), json!("text"), json!(0), json!(false)] {
        play.turn_to(&format!("state-{state}").replace(['"', '[', ']'], ""));
        let request = play.body(&json!({ "state": state }));
        let run = play.post(&request).await?;
        play.expect_success(&run, &state.to_string(), Some("Hello."));
        let held = run.final_state().cloned().unwrap_or_default();
        play.check(
            held == json!({"n": 1}),
            format!("after {state} the client holds {held}"),
        );
    }
    play.end().await
}

#[tokio::test]
async fn members_are_read_in_both_spellings() -> Step {
    let mut play = play().await?;
    play.is_stored = false;
    let request = json!({"thread_id": "snake", "run_id": "run-s", "protocol_version": "1.0", "forwarded_props": {},
        "messages": [{"id": "u1", "role": "user", "content": "hi"}]});
    let run = play.start(&request).await?;
    let run = play.finish_aside(run).await;
    play.expect_success(&run, "snake case", Some("Hello."));
    play.end().await
}
