//! Templates filled with arguments, and calls to a server on loopback.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::call;
use super::template::Template;
use crate::file::tool::HttpEntry;

fn template(entry: Value) -> Template {
    Template::new(&serde_json::from_value::<HttpEntry>(entry).unwrap()).unwrap()
}

fn wrong(entry: Value) -> (String, String) {
    let entry = serde_json::from_value::<HttpEntry>(entry).unwrap();
    let wrong = Template::new(&entry).unwrap_err();
    (wrong.keys.join("."), wrong.what)
}

fn url(pattern: &str, arguments: &Value) -> Result<String, String> {
    let rendered = template(json!({ "url": pattern })).render(arguments)?;
    Ok(rendered.url.to_string())
}

fn body(entry: Value, arguments: &Value) -> Option<String> {
    let body = template(entry).render(arguments).unwrap().body?;
    Some(String::from_utf8(body.to_vec()).unwrap())
}

#[test]
fn arguments_are_encoded_and_stay_in_their_segment() {
    let to = |value: Value| {
        url(
            "https://a.example/w/{city}/now?q={city}",
            &json!({ "city": value }),
        )
    };
    assert_eq!(
        to(json!("Köln am Rhein")).unwrap(),
        "https://a.example/w/K%C3%B6ln%20am%20Rhein/now?q=K%C3%B6ln%20am%20Rhein"
    );
    assert_eq!(
        to(json!("a/b?c#d&e=%")).unwrap(),
        "https://a.example/w/a%2Fb%3Fc%23d%26e%3D%25/now?q=a%2Fb%3Fc%23d%26e%3D%25"
    );
    assert_eq!(to(json!(7)).unwrap(), "https://a.example/w/7/now?q=7");
    assert_eq!(
        to(json!("@evil.example")).unwrap(),
        "https://a.example/w/%40evil.example/now?q=%40evil.example"
    );
    assert_eq!(
        to(json!("a.b")).unwrap(),
        "https://a.example/w/a.b/now?q=a.b"
    );
}

#[test]
fn arguments_can_not_lead_elsewhere() {
    let to = |value: Value| url("https://a.example/w/{city}/now", &json!({ "city": value }));
    for value in [
        json!(".."),
        json!("."),
        json!(""),
        json!(null),
        json!(["a"]),
        json!({}),
    ] {
        assert!(to(value.clone()).is_err(), "{value}");
    }
    assert!(url("https://a.example/%2e{a}", &json!({ "a": "." })).is_err());
    assert!(
        url("https://a.example/{a}", &json!({}))
            .unwrap_err()
            .contains("\"a\" is missing")
    );
}

#[test]
fn a_url_that_arguments_could_turn_is_refused() {
    for pattern in [
        "https://{host}/x",
        "{url}",
        "https://a.{b}/x",
        "https://a.example{b}",
        "https://a.example:{port}/x",
        "ftp://a.example/x",
        "https://user:pass@a.example/x",
        "no url",
    ] {
        assert_eq!(wrong(json!({ "url": pattern })).0, "url", "{pattern}");
    }
}

#[test]
fn the_body_is_the_arguments_unless_the_file_says_otherwise() {
    let arguments = || json!({ "b": 1, "a": [true], "t": "x" });
    let url = "http://a.example/";
    assert_eq!(
        body(json!({ "url": url }), &arguments()).unwrap(),
        r#"{"b":1,"a":[true],"t":"x"}"#
    );
    assert_eq!(
        body(json!({ "url": url, "method": "GET" }), &arguments()),
        None
    );
    assert_eq!(
        body(json!({ "url": url, "body": null }), &arguments()),
        None
    );
    assert_eq!(
        body(
            json!({ "url": url, "body": { "k": ["{a}", "{none}", "<{t}>", 7], "n": "{none}" } }),
            &arguments()
        )
        .unwrap(),
        r#"{"k":[[true],"<x>",7]}"#
    );
    assert_eq!(
        body(json!({ "url": url, "body": "say {t}" }), &arguments()).unwrap(),
        "say x"
    );
}

#[test]
fn headers_that_belong_to_the_call_are_refused() {
    for name in ["Host", "content-length", "Idempotency-Key", "bad name"] {
        let (keys, _) = wrong(json!({ "url": "http://a/", "headers": { name: "x" } }));
        assert_eq!(keys, format!("headers.{name}"));
    }
    let (keys, what) = wrong(json!({ "url": "http://a/", "headers": { "x-key": "secret\n" } }));
    assert_eq!(keys, "headers.x-key");
    assert!(!what.contains("secret"));
}

#[test]
fn headers_are_filled_as_urls_and_bodies_are() {
    let entry = json!({
        "url": "http://a/",
        "headers": { "X-Q": "{q}", "x-more": "a {q}-{n} {\"b\":1}", "x-plain": "{ q }" },
    });
    let made = template(entry);
    let placeholders = made.placeholders();
    assert_eq!(
        placeholders,
        [
            (vec!["headers", "X-Q"], "q"),
            (vec!["headers", "x-more"], "q"),
            (vec!["headers", "x-more"], "n"),
        ]
    );
    let rendered = |arguments: Value| made.render(&arguments).map(|rendered| rendered.headers);
    let headers = rendered(json!({ "q": "a/b c", "n": 7 })).unwrap();
    assert_eq!(headers["x-q"], "a/b c");
    assert_eq!(headers["x-more"], "a a/b c-7 {\"b\":1}");
    assert_eq!(headers["x-plain"], "{ q }");
    for unsendable in ["a\nb", "\u{7}"] {
        let error = rendered(json!({ "q": unsendable, "n": 7 })).unwrap_err();
        assert!(
            error.starts_with("the header \"X-Q\" can't be sent"),
            "{error}"
        );
        assert!(!error.contains(unsendable), "{error}");
    }
    let error = rendered(json!({ "q": "x" })).unwrap_err();
    assert_eq!(error, "argument \"n\" is missing");
    let optional = template(json!({ "url": "http://a/", "headers": { "x-q": "{q}" } }));
    let headers = optional.render(&json!({})).unwrap().headers;
    assert!(!headers.contains_key("x-q"));
}

fn marks(key: &str) -> call::Marks {
    call::Marks {
        key: key.to_owned(),
        wait: Some("wait_1".to_owned()),
    }
}

/// Answers each connection with the next of these, and gives back what was asked.
async fn server(answers: Vec<String>) -> (String, tokio::task::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let here = address.clone();
    let played = tokio::spawn(async move {
        let mut asked = Vec::new();
        for answer in answers {
            let (mut socket, _) = listener.accept().await.unwrap();
            let mut request = Vec::new();
            let mut piece = [0; 4096];
            while !is_whole(&request) {
                let read = socket.read(&mut piece).await.unwrap();
                assert!(read > 0, "the request was cut off");
                request.extend_from_slice(&piece[..read]);
            }
            asked.push(String::from_utf8(request).unwrap());
            let answer = answer.replace("HERE", &here);
            socket.write_all(answer.as_bytes()).await.ok();
        }
        asked
    });
    (address, played)
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    body.len() >= length.map_or(0, |length| length.parse().unwrap())
}

fn answer(status: &str, kind: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}

fn redirect(to: &str) -> String {
    format!(
        "HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    )
}

async fn ask(method: &str, answers: Vec<String>) -> (Result<String, String>, Vec<String>) {
    let (address, played) = server(answers).await;
    let entry = json!({ "method": method, "url": format!("{address}/start/{{id}}"), "headers": { "x-key": "k" } });
    let rendered = template(entry).render(&json!({ "id": "7" })).unwrap();
    let answer = call::call("tool", rendered, &marks("the-key")).await;
    let text = answer.map(|answer| String::from_utf8(answer.body).unwrap());
    (text, played.await.unwrap())
}

#[tokio::test]
async fn a_call_carries_its_key_its_headers_and_its_body() {
    let (result, asked) = ask(
        "POST",
        vec![answer("200 OK", "application/json", "{\"a\":1}")],
    )
    .await;
    assert_eq!(result.unwrap(), "{\"a\":1}");
    let request = &asked[0];
    assert!(
        request.starts_with("POST /start/7 HTTP/1.1\r\n"),
        "{request}"
    );
    for line in [
        "idempotency-key: the-key\r\n",
        "x-key: k\r\n",
        "content-type: application/json\r\n",
    ] {
        assert!(request.contains(line), "{line}: {request}");
    }
    assert!(request.ends_with("\r\n\r\n{\"id\":\"7\"}"), "{request}");
}

#[tokio::test]
async fn a_refusal_says_its_status_and_nothing_else() {
    let (result, _) = ask(
        "POST",
        vec![answer("503 Busy", "text/plain", "internal words")],
    )
    .await;
    assert_eq!(result.unwrap_err(), "its server answered with status 503");
}

#[tokio::test]
async fn a_get_follows_redirects_on_its_host_only() {
    let good = || answer("200 OK", "text/plain", "there");
    let (result, asked) = ask(
        "GET",
        vec![redirect("/next"), redirect("HERE/last"), good()],
    )
    .await;
    assert_eq!(result.unwrap(), "there");
    assert!(asked[2].starts_with("GET /last "));
    assert!(asked[2].contains("idempotency-key: the-key"));
    for to in ["http://127.0.0.2:1/x", "https://a.example/"] {
        let (result, asked) = ask("GET", vec![redirect(to)]).await;
        assert_eq!(result.unwrap_err(), "its server answered with status 302");
        assert_eq!(asked.len(), 1);
    }
    let (result, _) = ask("POST", vec![redirect("/next")]).await;
    assert_eq!(result.unwrap_err(), "its server answered with status 302");
    let (result, _) = ask("GET", (0..6).map(|_| redirect("/round")).collect()).await;
    assert_eq!(result.unwrap_err(), "its server redirects without end");
}

#[tokio::test]
async fn an_answer_without_end_is_refused() {
    let huge = answer("200 OK", "text/plain", &"x".repeat((1 << 20) + 1));
    let (result, _) = ask("POST", vec![huge]).await;
    assert!(result.unwrap_err().contains("larger than 1048576 bytes"));
    let cut = answer("200 OK", "text/plain", "whole").replace("length: 5", "length: 50");
    let (result, _) = ask("POST", vec![cut]).await;
    assert_eq!(result.unwrap_err(), "its server's answer was cut off");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_an_error_without_the_url() {
    let rendered = template(json!({ "url": "http://127.0.0.1:9/{id}" }))
        .render(&json!({ "id": "private" }))
        .unwrap();
    let error = call::call("tool", rendered, &marks("k"))
        .await
        .err()
        .unwrap();
    assert_eq!(error, "its server cannot be reached");
}

#[tokio::test]
async fn a_delivery_reads_nothing_of_the_answer() {
    let (address, played) =
        server(vec![answer("400 Bad", "text/plain", "the value is secret")]).await;
    let rendered = template(json!({ "url": address + "/token", "method": "PUT" }))
        .render(&json!({ "token": "secret" }))
        .unwrap();
    let error = call::deliver("tool", rendered, &marks("k"))
        .await
        .unwrap_err();
    assert_eq!(error, "its server answered with status 400");
    assert!(played.await.unwrap()[0].ends_with("{\"token\":\"secret\"}"));
}
