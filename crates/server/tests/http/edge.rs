//! What is refused before a handler sees it, and how.

use std::time::Duration;

use antiphon_protocol::proto;
use antiphon_server::{Limits, Server};
use http::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::client::spoken;
use crate::support::model::Parrot;
use crate::support::{Running, agent, input, within};

const SSE: &str = "text/event-stream";

async fn server() -> Running {
    Running::start(Server::new([agent(Parrot::new("ok"))])).await
}

#[tokio::test]
async fn accept_decides_the_binding() {
    let server = server().await;
    let proto = proto::MEDIA_TYPE;
    let table = [
        ("", SSE),
        (SSE, SSE),
        ("application/json", SSE),
        ("*/*", SSE),
        ("text/*", SSE),
        (&format!("{proto};q=0, {SSE}"), SSE),
        (&format!("{SSE};q=1, {proto};q=0.1"), SSE),
        (&format!("{proto};q=0.1, */*"), SSE),
        (&format!("application/json, {SSE}"), SSE),
        (proto, proto),
        (&format!("{proto}, {SSE}"), proto),
        (&format!("{SSE};q=0.5, {proto};q=0.5"), proto),
        (&format!("{SSE};q=0.4, {proto};q=0.8"), proto),
    ];
    for (index, (accept, expected)) in table.iter().enumerate() {
        let body = input(&format!("t{index}"), "r1", "hi");
        let mut answer = server.post_with("/", &body, &[("accept", accept)]).await;
        assert_eq!(answer.status, 200, "{accept}");
        assert_eq!(answer.header("content-type"), *expected, "{accept}");
        assert!(!answer.bytes().await.is_empty());
    }
    for accept in [
        "image/png",
        "text/event-stream;q=0",
        "text/html, application/xml;q=0.9",
    ] {
        let mut answer = server
            .post_with("/", &input("t", "r", "hi"), &[("accept", accept)])
            .await;
        answer.refusal(406, "not_acceptable").await;
    }
}

#[tokio::test]
async fn a_loopback_server_answers_only_to_names_of_this_machine() {
    let server = server().await;
    let port = server.address.port();
    let body = input("t1", "r1", "hi").to_string().into_bytes();
    for host in [
        format!("localhost:{port}"),
        format!("127.0.0.1:{port}"),
        format!("[::1]:{port}"),
        "app.localhost".to_owned(),
        "LOCALHOST".to_owned(),
    ] {
        let answer = server
            .send(Method::GET, "/agents", &[("host", &host)], None)
            .await;
        assert_eq!(answer.status, 200, "{host}");
    }
    for host in [
        "evil.example",
        "evil.example:8888",
        "localhost.evil.example",
        "evil@127.0.0.1",
        "localhost.",
        "0x7f000001",
        "192.168.0.1",
    ] {
        for path in ["/", "/agents/echo", "/no/such/path"] {
            let headers = [("host", host), ("x-forwarded-host", "localhost")];
            let mut answer = server
                .send(Method::POST, path, &headers, Some(body.clone()))
                .await;
            let error = answer.refusal(421, "misdirected").await;
            let message = error["message"].as_str().unwrap();
            assert!(
                message.contains("localhost"),
                "it says how to fix it: {message}"
            );
        }
    }
}

#[tokio::test]
async fn a_request_without_a_host_or_with_two_is_malformed() {
    let server = server().await;
    for head in [
        "GET /agents HTTP/1.1\r\n\r\n",
        "GET /agents HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
    ] {
        let answer = exchange(&server, head).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
        assert!(answer.contains("invalid_host"), "{answer}");
    }
    let answer = exchange(
        &server,
        "GET http://evil.example/agents HTTP/1.1\r\nHost: localhost\r\n\r\n",
    )
    .await;
    assert!(answer.starts_with("HTTP/1.1 421"), "{answer}");
}

#[tokio::test]
async fn pages_of_other_sites_are_refused_and_listed_origins_are_not() {
    let server = Server::new([agent(Parrot::new("ok"))]).cors(["http://localhost:3000"]);
    let server = Running::start(server).await;
    let own = format!("http://{}", server.address);
    let post = async |headers: &[(&str, &str)]| {
        let run = headers.iter().map(|(_, value)| *value).collect::<Vec<_>>();
        let body = input(&format!("t {}", run.join(" ")), "r1", "hi");
        server.post_with("/", &body, headers).await
    };
    for headers in [
        &[][..],
        &[("origin", &*own)],
        &[("origin", &*own), ("sec-fetch-site", "same-origin")],
    ] {
        let answer = post(headers).await;
        assert_eq!(answer.status, 200, "{headers:?}");
        assert_eq!(answer.header("access-control-allow-origin"), "");
    }
    let listed = post(&[
        ("origin", "http://localhost:3000"),
        ("sec-fetch-site", "same-site"),
    ])
    .await;
    assert_eq!(listed.status, 200);
    assert_eq!(
        listed.header("access-control-allow-origin"),
        "http://localhost:3000"
    );
    assert_eq!(listed.header("vary"), "origin");
    assert_eq!(listed.header("access-control-allow-credentials"), "");
    for headers in [
        &[
            ("origin", "https://evil.example"),
            ("sec-fetch-site", "cross-site"),
        ][..],
        &[("origin", "https://evil.example")],
        &[("origin", "null")],
        &[("origin", "http://localhost:3001")],
        &[("sec-fetch-site", "cross-site")],
    ] {
        let mut answer = post(headers).await;
        answer.refusal(403, "cross_site").await;
        assert_eq!(answer.header("access-control-allow-origin"), "");
    }
}

#[tokio::test]
async fn a_browser_that_asks_first_is_told_what_a_listed_origin_may_send() {
    let server = Server::new([agent(Parrot::new("ok"))]).cors(["http://localhost:3000"]);
    let server = Running::start(server).await;
    let ask = async |origin: &str, path: &str| {
        let headers = [
            ("origin", origin),
            ("access-control-request-method", "POST"),
            ("access-control-request-headers", "content-type"),
        ];
        server.send(Method::OPTIONS, path, &headers, None).await
    };
    for path in ["/", "/agents/echo", "/runs/r1/cancel"] {
        let answer = ask("http://localhost:3000", path).await;
        assert_eq!(answer.status, 204, "{path}");
        assert_eq!(
            answer.header("access-control-allow-origin"),
            "http://localhost:3000"
        );
        assert!(
            answer
                .header("access-control-allow-methods")
                .contains("POST")
        );
        assert!(
            answer
                .header("access-control-allow-headers")
                .contains("content-type")
        );
    }
    ask("https://evil.example", "/")
        .await
        .refusal(403, "cross_site")
        .await;
}

#[tokio::test]
async fn what_a_listed_page_is_refused_it_may_read() {
    let server = Server::new([agent(Parrot::new("ok"))]).cors(["http://localhost:3000"]);
    let server = Running::start(server).await;
    let headers = [("origin", "http://localhost:3000")];
    let mut answer = server.post_with("/", &json!({}), &headers).await;
    answer.refusal(400, "invalid_input").await;
    assert_eq!(
        answer.header("access-control-allow-origin"),
        "http://localhost:3000"
    );
}

#[tokio::test]
async fn a_body_that_is_not_declared_as_json_is_refused() {
    let server = server().await;
    let body = input("t1", "r1", "hi").to_string().into_bytes();
    for declared in [
        "",
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
    ] {
        for path in ["/", "/agents/echo", "/sessions"] {
            let mut answer = server
                .send(
                    Method::POST,
                    path,
                    &[("content-type", declared)],
                    Some(body.clone()),
                )
                .await;
            answer.refusal(415, "unsupported_media_type").await;
        }
    }
}

#[tokio::test]
async fn a_malformed_body_is_refused_and_the_member_named() {
    let server = server().await;
    let raw = async |body: &[u8]| {
        server
            .send(Method::POST, "/", &[], Some(body.to_vec()))
            .await
    };
    for body in [
        &b""[..],
        b"{\"threadId\": \"t\", ",
        b"{} trailing",
        b"\xef\xbb\xbf{}",
        b"{\"threadId\":\"\xff\xfe\",\"runId\":\"r\",\"messages\":[]}",
        b"{\"a\": NaN}",
        b"{\"a\": 1e999}",
    ] {
        raw(body).await.refusal(400, "invalid_json").await;
    }
    let twice = br#"{"threadId":"t","runId":"r","messages":[],"resume":[{"interruptId":"i",
        "status":"cancelled","status":"resolved","payload":{"pin":"4711","pin":"4712"}}]}"#;
    let answer = raw(twice).await.refusal(400, "invalid_json").await;
    assert_eq!(answer["field"], "resume[0].status");
    let private = br#"{"output":{"pin":"4711","pin":"4712"}}"#;
    let answer = raw(private).await.refusal(400, "invalid_json").await;
    assert_eq!(answer["field"], "output.pin");
    assert!(!answer.to_string().contains("471"), "{answer}");
    let session = Some(br#"{"state":{"a":1,"a":2}}"#.to_vec());
    let mut answer = server.send(Method::POST, "/sessions", &[], session).await;
    let answer = answer.refusal(400, "invalid_json").await;
    assert_eq!(answer["field"], "state.a");
    for body in [&b"[]"[..], b"\"x\"", b"null", b"7"] {
        raw(body).await.refusal(400, "invalid_input").await;
    }
    let deep = ["{\"state\":", &"[".repeat(20_000), &"]".repeat(20_000), "}"].concat();
    raw(deep.as_bytes()).await.refusal(400, "too_deep").await;

    let user = json!({ "id": "u", "role": "user", "content": "hi" });
    for (body, field) in [
        (json!({ "runId": "r", "messages": [] }), "threadId"),
        (json!({ "threadId": "t", "messages": [] }), "runId"),
        (json!({ "threadId": "t", "runId": "r" }), "messages"),
        (
            json!({ "threadId": 7, "runId": "r", "messages": [] }),
            "threadId",
        ),
        (
            json!({ "threadId": "t", "runId": "r", "messages": {} }),
            "messages",
        ),
        (
            json!({ "threadId": "t", "runId": "r", "messages": [user, { "id": "v", "role": "user" }] }),
            "messages[1].content",
        ),
        (
            json!({ "threadId": "t", "thread_id": "u", "runId": "r", "messages": [] }),
            "threadId",
        ),
        (
            json!({ "threadId": "t", "runId": "a\nb", "messages": [] }),
            "runId",
        ),
        (
            json!({ "threadId": "t".repeat(257), "runId": "r", "messages": [] }),
            "threadId",
        ),
    ] {
        let error = server
            .post("/", &body)
            .await
            .refusal(400, "invalid_input")
            .await;
        assert_eq!(error["field"], field, "{body}");
    }
}

#[tokio::test]
async fn counts_are_limited() {
    let limits = Limits {
        messages: 2,
        tools: 1,
        context: 1,
        answers: 1,
        ..Limits::default()
    };
    let server = Server::new([agent(Parrot::new("ok"))]).limits(limits);
    let server = Running::start(server).await;
    let tool = |name: &str| json!({ "name": name, "description": "" });
    let answer = |id: &str| json!({ "interruptId": id, "status": "cancelled" });
    let context = json!({ "description": "d", "value": "v" });
    let message = |id: &str| json!({ "id": id, "role": "user", "content": "x" });
    for (member, value) in [
        (
            "messages",
            json!([message("a"), message("b"), message("c")]),
        ),
        ("tools", json!([tool("a"), tool("b")])),
        ("context", json!([context, context])),
        ("resume", json!([answer("a"), answer("b")])),
    ] {
        let mut body = input("t1", "r1", "hi");
        body[member] = value;
        let error = server
            .post("/", &body)
            .await
            .refusal(400, "limit_exceeded")
            .await;
        assert_eq!(error["field"], member);
    }
}

#[tokio::test]
async fn a_body_above_the_limit_is_refused_however_it_is_sent_and_one_below_is_not() {
    let limits = Limits {
        body: 64 << 10,
        ..Limits::default()
    };
    let server = Server::new([agent(Parrot::new("ok"))]).limits(limits);
    let server = Running::start(server).await;
    let sized = |size: usize| input("t1", "r1", &"x".repeat(size));
    let mut answer = server.post("/", &sized(64 << 10)).await;
    answer.refusal(413, "body_too_large").await;
    let answer = server.post("/", &sized((64 << 10) - 400)).await;
    assert_eq!(answer.status, 200);

    let mut chunked = TcpStream::connect(server.address).await.unwrap();
    chunked
        .write_all(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
        .await
        .unwrap();
    let chunk = [b"4000\r\n".as_slice(), &[b' '; 0x4000], b"\r\n"].concat();
    let (mut reading, mut writing) = chunked.split();
    let endless = async {
        while writing.write_all(&chunk).await.is_ok() {}
        std::future::pending::<()>().await;
    };
    let mut read = [0; 12];
    tokio::select! {
        got = within(reading.read_exact(&mut read)) => { got.unwrap(); }
        () = endless => {}
    }
    assert_eq!(&read, b"HTTP/1.1 413");
}

#[tokio::test]
async fn a_client_that_sends_everything_before_it_reads_is_told_that_it_was_too_much() {
    let limits = Limits {
        body: 64 << 10,
        ..Limits::default()
    };
    let server = Server::new([agent(Parrot::new("ok"))]).limits(limits);
    let server = Running::start(server).await;
    let size = 32 << 20;
    let head = format!(
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {size}\r\n\r\n"
    );
    let mut client = TcpStream::connect(server.address).await.unwrap();
    client.write_all(head.as_bytes()).await.unwrap();
    within(client.write_all(&vec![b' '; size])).await.unwrap();
    let mut answer = String::new();
    within(client.read_to_string(&mut answer)).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    assert!(answer.contains("body_too_large"), "{answer}");
}

#[tokio::test]
async fn a_client_that_dawdles_is_given_up() {
    let limits = Limits {
        header_time: Duration::from_millis(200),
        body_time: Duration::from_millis(200),
        ..Limits::default()
    };
    let server = Server::new([agent(Parrot::new("ok"))]).limits(limits);
    let server = Running::start(server).await;
    for beginning in [
        "",
        "P",
        "PRI * HTTP/2",
        "GET /agents HTTP/1.1\r\nHost: local",
    ] {
        let mut slow = TcpStream::connect(server.address).await.unwrap();
        slow.write_all(beginning.as_bytes()).await.unwrap();
        let mut rest = Vec::new();
        within(slow.read_to_end(&mut rest)).await.unwrap();
        assert!(!rest.starts_with(b"HTTP/1.1 200"), "{beginning:?}");
    }
    let head = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{";
    let answer = exchange(&server, head).await;
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");

    let mut idle = TcpStream::connect(server.address).await.unwrap();
    idle.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .await
        .unwrap();
    let mut rest = Vec::new();
    within(idle.read_to_end(&mut rest)).await.unwrap();
    assert!(
        rest.starts_with(b"HTTP/1.1 200"),
        "it is answered, then closed"
    );
}

#[tokio::test]
async fn a_head_that_is_too_large_is_refused() {
    let server = server().await;
    let long = format!(
        "GET /agents HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n",
        "x".repeat(80 << 10)
    );
    let many = format!(
        "GET /agents HTTP/1.1\r\nHost: localhost\r\n{}\r\n",
        "X: y\r\n".repeat(200)
    );
    for head in [long, many] {
        let answer = exchange(&server, &head).await;
        assert!(answer.starts_with("HTTP/1.1 431"), "{answer}");
    }
    assert_eq!(server.get("/healthz").await.status, 200);
}

#[tokio::test]
async fn unknown_paths_and_methods_are_refused_in_json_and_name_what_is_allowed() {
    let server = server().await;
    for path in [
        "/no/such/path",
        "/agents/echo/",
        "/runs",
        "//",
        "/agents/a%2Fb",
    ] {
        server.get(path).await.refusal(404, "not_found").await;
    }
    for (path, allowed) in [
        ("/", "POST"),
        ("/agui", "POST"),
        ("/agents/echo", "GET,HEAD,POST"),
        ("/runs/r1/cancel", "POST"),
        ("/sessions/s1", "GET,HEAD,PATCH,DELETE"),
    ] {
        for method in [Method::PUT, Method::OPTIONS] {
            let mut answer = server.send(method.clone(), path, &[], None).await;
            answer.refusal(405, "method_not_allowed").await;
            assert_eq!(answer.header("allow"), allowed, "{method} {path}");
        }
    }
    let mut answer = server.get("/agui").await;
    answer.refusal(405, "method_not_allowed").await;
    let mut answer = server.get("/agents/%ff").await;
    answer.refusal(400, "invalid_path").await;
    let mut answer = server.get("/sessions?limit=none").await;
    answer.refusal(400, "invalid_query").await;
}

#[tokio::test]
async fn one_connection_serves_many_requests() {
    let server = server().await;
    let request = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let last = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let answers = exchange(&server, &[request, request, last].concat()).await;
    assert_eq!(answers.matches("HTTP/1.1 200 OK").count(), 3, "{answers}");
}

#[tokio::test]
async fn http_2_is_spoken_to_those_who_know_that_it_is() {
    use http_body_util::{BodyExt, Full};
    let server = server().await;
    let stream = TcpStream::connect(server.address).await.unwrap();
    let io = hyper_util::rt::TokioIo::new(stream);
    let executor = hyper_util::rt::TokioExecutor::new();
    let (mut sender, connection) = hyper::client::conn::http2::handshake(executor, io)
        .await
        .unwrap();
    tokio::spawn(connection);
    for (host, status) in [("localhost", 200), ("evil.example", 421)] {
        let body = input(host, "r1", "hi").to_string();
        let request = http::Request::post(format!("http://{host}/"))
            .header("content-type", "application/json")
            .body(Full::new(bytes::Bytes::from(body)))
            .unwrap();
        let answer = within(sender.send_request(request)).await.unwrap();
        assert_eq!(answer.status(), status, "{host}");
        let body = within(answer.into_body().collect())
            .await
            .unwrap()
            .to_bytes();
        let text = String::from_utf8(body.to_vec()).unwrap();
        assert_eq!(text.contains("RUN_FINISHED"), status == 200, "{text}");
    }
}

#[tokio::test]
async fn text_that_looks_like_an_event_stays_text() {
    let forged =
        "a\n\ndata: {\"type\":\"RUN_ERROR\",\"message\":\"x\"}\n\n\r\n: c\u{2028}\u{0}\u{feff} end";
    let server = Running::start(Server::new([agent(Parrot::new(forged))])).await;
    let mut answer = server.post("/", &input("t1", "r1", "hi")).await;
    let bytes = answer.bytes().await;
    assert!(!bytes.contains(&b'\r'), "line ends are LF alone");
    let text = String::from_utf8(bytes).unwrap();
    let events: Vec<&str> = text.split_terminator("\n\n").collect();
    assert!(
        events.iter().all(|event| event.starts_with("id: r1:")),
        "{text}"
    );
    let again = server
        .get_with("/runs/r1/events", &[("last-event-id", "r1:1")])
        .await;
    let mut again = again;
    assert_eq!(spoken(&again.events().await), forged);
}

/// Sends bytes as they are and reads to the end.
async fn exchange(server: &Running, bytes: &str) -> String {
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(bytes.as_bytes()).await.unwrap();
    let mut read = Vec::new();
    // A peer that closes early may reset the connection after its answer.
    let _ = tokio::time::timeout(Duration::from_secs(1), stream.read_to_end(&mut read)).await;
    String::from_utf8_lossy(&read).into_owned()
}
