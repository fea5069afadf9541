//! Calls over HTTP to a provider that answers late, wrongly, half or not at all.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

#[path = "support/provider.rs"]
mod provider;
mod support;

use std::{
    fs,
    path::PathBuf,
    time::{Duration, Instant},
};

use antiphon_model::{
    Collected, Error, ErrorKind, FinishReason, Message, Model, OpenAi, Request,
    http::{Retries, Timeouts},
    wire::Limits,
};
use futures_util::StreamExt;
use tokio::net::TcpListener;

use crate::{
    provider::{End, Provider, Reply},
    support::checked,
};

const KEY: &str = "sk-very-secret-0123456789";
const HELLO: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"Hello\"}}]}\n\n";
const STOP: &str = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";

fn fixture(name: &str) -> Vec<u8> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/openai");
    fs::read(folder.join(name)).unwrap()
}

/// An account at the fake with waits as short as tests need them.
fn account(url: &str) -> OpenAi {
    let short = Duration::from_millis(150);
    let timeouts = Timeouts {
        connect: short,
        first_token: short,
        idle: short,
        total: Duration::from_secs(10),
    };
    let retries = Retries {
        attempts: 3,
        base: Duration::from_millis(2),
        longest: Duration::from_millis(200),
    };
    OpenAi::new(KEY)
        .base_url(url)
        .timeouts(timeouts)
        .retries(retries)
}

async fn call(account: &OpenAi) -> (Collected, Option<Error>) {
    let request = Request {
        messages: vec![Message::user("hi")],
        ..Request::default()
    };
    let stream: Vec<_> = account.model("m").stream(&request).collect().await;
    checked(&stream)
}

async fn answers(replies: impl IntoIterator<Item = Reply>) -> (Provider, Collected, Option<Error>) {
    let provider = Provider::start(replies).await;
    let (turn, failure) = call(&account(&provider.url)).await;
    if let Some(error) = &failure {
        assert!(
            !format!("{error:?} {error}").contains(KEY),
            "the key is in {error:?}"
        );
    }
    (provider, turn, failure)
}

#[tokio::test]
async fn an_answer_in_single_bytes_is_read() {
    let (provider, turn, failure) =
        answers([Reply::stream(fixture("utf8-byte-split.sse")).pieces_of(1)]).await;
    assert!(failure.is_none(), "{failure:?}");
    assert_eq!(turn.message.text, "Grüße 👩🏽\u{200d}🔬 你好 — ½ ok");
    let request = provider.requests().remove(0);
    assert!(
        request.starts_with("POST /v1/chat/completions HTTP/1.1"),
        "{request}"
    );
    let head = request.to_lowercase();
    assert!(head.contains("accept: text/event-stream"), "{request}");
    assert!(
        head.contains(&format!("authorization: bearer {KEY}")),
        "{request}"
    );
    assert!(
        request.ends_with(r#""messages":[{"role":"user","content":"hi"}]}"#),
        "{request}"
    );
}

#[tokio::test]
async fn a_rejected_key_is_reported_once_without_the_key() {
    let body = format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}"}}}}"#);
    let reply = Reply::new("401 Unauthorized\r\ncontent-type: application/json", body);
    let (provider, _, failure) = answers([reply]).await;
    let failure = failure.unwrap();
    assert_eq!(
        (failure.kind(), failure.code()),
        (ErrorKind::Unauthorized, "upstream_unauthorized")
    );
    assert!(
        failure
            .detail()
            .unwrap()
            .contains("Incorrect API key provided: [redacted]")
    );
    assert!(!failure.to_string().contains("Incorrect"));
    assert_eq!(provider.requests().len(), 1);
}

#[tokio::test]
async fn a_rate_limit_is_waited_out_as_long_as_the_provider_asks() {
    let limited = Reply::new("429 Too Many Requests\r\nretry-after-ms: 80", "slow down");
    let began = Instant::now();
    let (provider, turn, failure) = answers([limited, Reply::stream([HELLO, STOP].concat())]).await;
    assert!(failure.is_none(), "{failure:?}");
    assert!(began.elapsed() >= Duration::from_millis(80));
    assert_eq!(turn.message.text, "Hello");
    assert_eq!(provider.requests().len(), 2);
}

#[tokio::test]
async fn a_rate_limit_that_lasts_too_long_is_reported_with_its_wait() {
    let (provider, _, failure) =
        answers([Reply::new("429 Too Many Requests\r\nretry-after: 3600", "")]).await;
    let failure = failure.unwrap();
    assert_eq!(failure.kind(), ErrorKind::RateLimited);
    assert_eq!(failure.retry_after(), Some(Duration::from_secs(3600)));
    assert_eq!(provider.requests().len(), 1);
}

#[tokio::test]
async fn a_broken_provider_is_tried_three_times() {
    let (provider, _, failure) =
        answers([Reply::new("500 Internal Server Error", "stack trace")]).await;
    let failure = failure.unwrap();
    assert_eq!(
        (failure.kind(), failure.code()),
        (ErrorKind::Unavailable, "upstream_unavailable")
    );
    assert!(failure.detail().unwrap().contains("stack trace"));
    assert_eq!(provider.requests().len(), 3);
}

#[tokio::test]
async fn a_provider_that_recovers_is_not_an_error() {
    let replies = [
        Reply::new("503 Unavailable", ""),
        Reply::new("408 Timeout", ""),
        Reply::stream([HELLO, STOP].concat()),
    ];
    let (provider, turn, failure) = answers(replies).await;
    assert!(failure.is_none(), "{failure:?}");
    assert_eq!(turn.finish, Some(FinishReason::Stop));
    assert_eq!(provider.requests().len(), 3);
}

#[tokio::test]
async fn a_request_that_is_not_accepted_is_not_tried_again() {
    let reply = Reply::new(
        "400 Bad Request",
        r#"{"error":{"code":"content_filter","message":"no"}}"#,
    );
    let (provider, _, failure) = answers([reply]).await;
    assert_eq!(failure.unwrap().kind(), ErrorKind::Refused);
    assert_eq!(provider.requests().len(), 1);
    let (_, _, failure) = answers([Reply::new("422 Unprocessable", "?")]).await;
    assert_eq!(failure.unwrap().kind(), ErrorKind::BadRequest);
}

#[tokio::test]
async fn a_refused_connection_is_reported() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let (_, failure) = call(&account(&url)).await;
    let failure = failure.unwrap();
    assert_eq!(
        (failure.kind(), failure.code()),
        (ErrorKind::Connect, "upstream_unavailable")
    );
}

#[tokio::test]
async fn silence_before_the_status_is_a_timeout_and_not_tried_again() {
    let (provider, _, failure) = answers([Reply::stream("").end(End::Silent)]).await;
    assert_eq!(failure.unwrap().code(), "upstream_timeout");
    assert_eq!(provider.requests().len(), 1);
}

#[tokio::test]
async fn silence_before_the_first_token_is_a_timeout() {
    let (_, turn, failure) = answers([Reply::stream("").end(End::Hang)]).await;
    assert_eq!(failure.unwrap().kind(), ErrorKind::Timeout);
    assert_eq!(turn, Collected::default());
}

#[tokio::test]
async fn silence_between_tokens_is_a_timeout_and_not_tried_again() {
    let (provider, turn, failure) = answers([Reply::stream(HELLO).end(End::Hang)]).await;
    assert_eq!(failure.unwrap().kind(), ErrorKind::Timeout);
    assert_eq!(turn.message.text, "Hello");
    assert_eq!(provider.requests().len(), 1);
}

#[tokio::test]
async fn keep_alive_comments_do_not_go_on_for_ever() {
    let provider = Provider::start([Reply::stream(": wait\n\n".repeat(100_000))
        .pieces_of(1)
        .end(End::Hang)])
    .await;
    let timeouts = Timeouts {
        total: Duration::from_millis(100),
        ..Timeouts::default()
    };
    let (_, failure) = call(&account(&provider.url).timeouts(timeouts)).await;
    assert_eq!(failure.unwrap().kind(), ErrorKind::Timeout);
}

#[tokio::test]
async fn silence_after_the_finish_is_harmless() {
    let (_, turn, failure) = answers([Reply::stream([HELLO, STOP].concat()).end(End::Hang)]).await;
    assert!(failure.is_none(), "{failure:?}");
    assert_eq!(turn.message.text, "Hello");
}

#[tokio::test]
async fn a_stream_that_is_cut_is_an_error_and_not_tried_again() {
    let (provider, turn, failure) = answers([Reply::stream(HELLO).end(End::Cut)]).await;
    assert_eq!(failure.unwrap().code(), "upstream_truncated");
    assert_eq!(turn.message.text, "Hello");
    assert_eq!(provider.requests().len(), 1);
}

#[tokio::test]
async fn a_stream_that_is_cut_after_its_finish_is_whole() {
    let (_, turn, failure) = answers([Reply::stream([HELLO, STOP].concat()).end(End::Cut)]).await;
    assert!(failure.is_none(), "{failure:?}");
    assert_eq!(turn.finish, Some(FinishReason::Stop));
}

#[tokio::test]
async fn a_page_in_the_place_of_a_stream_is_an_error() {
    let page = "<!doctype html>\n<title>Sign in</title>\n";
    let (provider, _, failure) = answers([Reply::new(
        "200 OK\r\ncontent-type: text/html; charset=utf-8",
        page,
    )])
    .await;
    let failure = failure.unwrap();
    assert_eq!(failure.code(), "upstream_malformed");
    assert!(failure.detail().unwrap().contains("Sign in"));
    assert_eq!(provider.requests().len(), 1);
    // The same without a truthful content type.
    let (_, _, failure) = answers([Reply::stream(page)]).await;
    assert_eq!(failure.unwrap().code(), "upstream_truncated");
}

#[tokio::test]
async fn an_error_with_the_status_of_success_is_an_error() {
    let body = r#"{"error":{"code":"rate_limit_exceeded","message":"later"}}"#;
    let reply = Reply::new("200 OK\r\ncontent-type: application/json", body);
    let (_, _, failure) = answers([reply]).await;
    assert_eq!(failure.unwrap().kind(), ErrorKind::RateLimited);
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = Provider::start([Reply::stream([HELLO, STOP].concat())]).await;
    let head = format!(
        "307 Temporary Redirect\r\nlocation: {}/chat/completions",
        elsewhere.url
    );
    let (_, _, failure) = answers([Reply::new(&head, "")]).await;
    assert_eq!(failure.unwrap().kind(), ErrorKind::Other);
    assert!(elsewhere.requests().is_empty());
}

#[tokio::test]
async fn an_answer_beyond_its_limits_is_an_error() {
    let provider = Provider::start([Reply::stream(HELLO.repeat(50))]).await;
    let limits = Limits {
        turn_bytes: 1000,
        ..Limits::default()
    };
    let (_, failure) = call(&account(&provider.url).limits(limits)).await;
    assert_eq!(failure.unwrap().code(), "upstream_too_large");
    let limits = Limits {
        event_bytes: 16,
        ..Limits::default()
    };
    let (_, failure) = call(&account(&provider.url).limits(limits)).await;
    assert_eq!(failure.unwrap().code(), "upstream_too_large");
}

#[tokio::test]
async fn leaving_the_stream_closes_the_request() {
    let mut provider = Provider::start([Reply::stream(HELLO).end(End::Hang)]).await;
    let model = OpenAi::new("").base_url(&provider.url).model("m");
    let mut stream = model.stream(&Request::default());
    stream.next().await.unwrap().unwrap();
    drop(stream);
    tokio::time::timeout(Duration::from_secs(5), provider.is_left())
        .await
        .unwrap();
}

#[tokio::test]
async fn nothing_is_sent_before_the_stream_is_polled() {
    let provider = Provider::start([Reply::stream([HELLO, STOP].concat())]).await;
    drop(
        account(&provider.url)
            .model("m")
            .stream(&Request::default()),
    );
    let (_, failure) = call(&account(&provider.url)).await;
    assert!(failure.is_none());
    assert_eq!(provider.requests().len(), 1);
}

#[tokio::test]
async fn a_model_that_is_set_up_wrongly_says_so() {
    for account in [
        OpenAi::new("a\nb"),
        OpenAi::new("").base_url("ftp://x"),
        OpenAi::new("").header("a b", "c"),
    ] {
        let model = account.model("m");
        assert_eq!(model.check().unwrap_err().code(), "model_setup");
        let mut stream = model.stream(&Request::default());
        assert_eq!(
            stream.next().await.unwrap().unwrap_err().code(),
            "model_setup"
        );
        assert!(stream.next().await.is_none());
    }
}

#[test]
fn the_key_is_in_no_debug_output() {
    let account = OpenAi::new(KEY).header("x-extra", "another-secret");
    let shown = format!("{account:?} {:?}", account.model("m"));
    assert!(
        !shown.contains("sk-very") && !shown.contains("another-secret"),
        "{shown}"
    );
}
