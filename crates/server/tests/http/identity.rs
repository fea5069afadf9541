//! Ways in which a person is known.

use antiphon_server::{Authenticators, Jwt, Server, StaticTokens, TrustedHeader};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::Method;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::{Value, json};

use crate::support::client::Answer;
use crate::support::model::Parrot;
use crate::support::provider::{AUDIENCE, ISSUER, Pair, Provider, claims, now};
use crate::support::{Running, agent, input};

async fn start(authenticator: impl antiphon_server::Authenticator) -> Running {
    let server = Server::new([agent(Parrot::new("ok"))]).authenticator(authenticator);
    Running::start(server).await
}

async fn ask(server: &Running, token: &str) -> Answer {
    let bearer = format!("Bearer {token}");
    server
        .get_with("/sessions", &[("authorization", &bearer)])
        .await
}

/// Who the server takes the bearer for.
async fn user(server: &Running, token: &str) -> Value {
    let bearer = format!("Bearer {token}");
    let headers = [("authorization", bearer.as_str())];
    let body = json!({ "id": format!("of-{}", now()) });
    let made = server
        .post_with("/sessions", &body, &headers)
        .await
        .json()
        .await;
    let path = format!("/sessions/{}", body["id"].as_str().unwrap());
    server.send(Method::DELETE, &path, &headers, None).await;
    made["userId"].clone()
}

#[tokio::test]
async fn a_token_of_the_provider_names_its_subject_in_every_algorithm() {
    let (rsa, p256, ed) = (Pair::rsa("r"), Pair::p256("p"), Pair::ed25519("e"));
    let provider = Provider::publish(&[&rsa, &p256, &ed]).await;
    let server = start(provider.authenticator()).await;
    for pair in [&rsa, &p256, &ed] {
        let token = pair.sign(&claims("alice"));
        assert_eq!(user(&server, &token).await, "alice", "{:?}", pair.algorithm);
    }
    let mut several = claims("bob");
    several["aud"] = json!(["others", AUDIENCE]);
    assert_eq!(user(&server, &ed.sign(&several)).await, "bob");
    assert_eq!(provider.asked(), 1, "the keys are kept");
}

#[tokio::test]
async fn a_token_that_is_not_for_here_and_now_names_nobody() {
    let pair = Pair::ed25519("e");
    let provider = Provider::publish(&[&pair]).await;
    let server = start(provider.authenticator()).await;
    for (member, value) in [
        ("iss", json!("https://elsewhere.example.com")),
        ("iss", json!([ISSUER])),
        ("iss", json!(null)),
        ("aud", json!("others")),
        ("aud", json!(null)),
        ("exp", json!(now() - 60)),
        ("exp", json!(0)),
        ("exp", json!(null)),
        ("exp", json!("tomorrow")),
        ("nbf", json!(now() + 120)),
        ("sub", json!("")),
        ("sub", json!(" alice")),
        ("sub", json!("a\nb")),
        ("sub", json!("a".repeat(300))),
        ("sub", json!(7)),
        ("sub", json!(null)),
    ] {
        let mut claims = claims("alice");
        claims[member] = value.clone();
        let token = pair.sign(&claims);
        let mut answer = ask(&server, &token).await;
        let text = answer.text().await;
        assert_eq!(answer.status, 401, "{member} {value}: {text}");
        assert!(!text.contains(&token), "{text}");
        assert_eq!(answer.header("www-authenticate"), "Bearer");
    }
    let mut late = claims("alice");
    late["exp"] = json!(now() - 5);
    assert_eq!(
        ask(&server, &pair.sign(&late)).await.status,
        200,
        "clocks differ a little"
    );
}

#[tokio::test]
async fn a_token_that_the_provider_did_not_sign_names_nobody() {
    let (pair, rsa) = (Pair::ed25519("e"), Pair::rsa("r"));
    let provider = Provider::publish(&[&pair, &rsa]).await;
    let server = start(provider.authenticator()).await;
    let good = pair.sign(&claims("alice"));
    assert_eq!(ask(&server, &good).await.status, 200);
    let [head, body, signature] = parts(&good);
    let encode = |json: Value| URL_SAFE_NO_PAD.encode(json.to_string());
    let admin = encode(claims("admin"));
    let none = encode(json!({ "alg": "none", "typ": "JWT" }));
    let named = |kid: &str| {
        let mut header = Header::new(Algorithm::EdDSA);
        header.kid = Some(kid.to_owned());
        pair.sign_as(&header, &claims("alice"))
    };
    for token in [
        format!("{head}.{admin}.{signature}"),
        format!("{none}.{body}."),
        format!("{none}.{body}.{signature}"),
        format!("{head}.{body}."),
        format!("{head}.{body}"),
        format!("{good}.{signature}"),
        Pair::stranger("e").sign(&claims("alice")),
        with_public_key_as_secret(&rsa),
        pair.sign_as(&Header::new(Algorithm::EdDSA), &claims("alice")) + "x",
        named("r"),
        named("../../e"),
        named(""),
        "x".repeat(20_000),
        "a.b.c".to_owned(),
    ] {
        let mut answer = ask(&server, &token).await;
        answer.refusal(401, "unauthenticated").await;
    }
}

/// The three parts of a token.
fn parts(token: &str) -> [&str; 3] {
    let parts: Vec<&str> = token.split('.').collect();
    parts.try_into().unwrap()
}

/// A token whose "secret" is what everybody may know.
fn with_public_key_as_secret(pair: &Pair) -> String {
    let public = pair.published()["n"].as_str().unwrap().to_owned();
    let mut header = Header::new(Algorithm::HS256);
    header.kid = Some(pair.id.to_owned());
    let key = EncodingKey::from_secret(public.as_bytes()).unwrap();
    jsonwebtoken::encode(&header, &claims("admin"), &key).unwrap()
}

#[tokio::test]
async fn only_pinned_algorithms_count() {
    let (rsa, ed) = (Pair::rsa("r"), Pair::ed25519("e"));
    let provider = Provider::publish(&[&rsa, &ed]).await;
    let jwt = provider.authenticator().algorithms(["RS256"]).unwrap();
    let server = start(jwt).await;
    assert_eq!(ask(&server, &rsa.sign(&claims("alice"))).await.status, 200);
    assert_eq!(ask(&server, &ed.sign(&claims("alice"))).await.status, 401);
}

#[tokio::test]
async fn a_new_key_counts_without_a_restart_and_a_withdrawn_one_does_not() {
    let (old, new) = (Pair::ed25519("old"), Pair::p256("new"));
    let provider = Provider::publish(&[&old]).await;
    let server = start(provider.authenticator()).await;
    assert_eq!(ask(&server, &old.sign(&claims("alice"))).await.status, 200);
    provider.replace(&[&new]);
    assert_eq!(ask(&server, &new.sign(&claims("alice"))).await.status, 200);
    assert_eq!(ask(&server, &old.sign(&claims("alice"))).await.status, 401);
    assert_eq!(provider.asked(), 2);
}

#[tokio::test]
async fn tokens_with_made_up_keys_do_not_make_the_server_ask_again_and_again() {
    let pair = Pair::ed25519("e");
    let provider = Provider::publish(&[&pair]).await;
    let server = start(provider.authenticator()).await;
    let asks = (0..20).map(|index| {
        let mut header = Header::new(Algorithm::EdDSA);
        header.kid = Some(format!("made-up-{index}"));
        let token = pair.sign_as(&header, &claims("alice"));
        let server = &server;
        async move { ask(server, &token).await.status }
    });
    let statuses = futures_util::future::join_all(asks).await;
    assert!(statuses.iter().all(|status| *status == 401), "{statuses:?}");
    assert!(provider.asked() <= 2, "{}", provider.asked());
    assert_eq!(ask(&server, &pair.sign(&claims("alice"))).await.status, 200);
}

#[tokio::test]
async fn known_keys_go_on_counting_while_the_provider_is_away() {
    let (pair, other) = (Pair::ed25519("e"), Pair::p256("p"));
    let provider = Provider::publish(&[&pair]).await;
    let server = start(provider.authenticator()).await;
    let good = pair.sign(&claims("alice"));
    assert_eq!(ask(&server, &good).await.status, 200);
    provider.set_broken(true);
    assert_eq!(
        ask(&server, &other.sign(&claims("alice"))).await.status,
        401
    );
    assert_eq!(ask(&server, &good).await.status, 200);
}

#[tokio::test]
async fn without_any_key_it_is_not_the_client_s_fault() {
    let pair = Pair::ed25519("e");
    let provider = Provider::publish(&[&pair]).await;
    provider.set_broken(true);
    let server = start(provider.authenticator()).await;
    let mut answer = ask(&server, &pair.sign(&claims("alice"))).await;
    answer.refusal(503, "auth_unavailable").await;
    assert!(!answer.header("retry-after").is_empty());

    let nowhere = Jwt::new("http://127.0.0.1:9/keys", ISSUER, AUDIENCE).unwrap();
    let server = start(nowhere.algorithms(["EdDSA"]).unwrap()).await;
    let mut answer = ask(&server, &pair.sign(&claims("alice"))).await;
    answer.refusal(503, "auth_unavailable").await;
}

#[tokio::test]
async fn service_tokens_stand_beside_the_provider_s() {
    let pair = Pair::ed25519("e");
    let provider = Provider::publish(&[&pair]).await;
    let services = StaticTokens::new().service("s3cret", "kyc").unwrap();
    let both = Authenticators::new()
        .with(services)
        .with(provider.authenticator());
    let server = start(both).await;
    assert_eq!(ask(&server, &pair.sign(&claims("alice"))).await.status, 200);
    assert_eq!(ask(&server, "s3cret").await.status, 403);
    assert_eq!(ask(&server, "s3cret-not").await.status, 401);
    let report = json!({ "result": 1 });
    for (token, status) in [("s3cret".to_owned(), 404), (pair.sign(&claims("kyc")), 403)] {
        let bearer = format!("Bearer {token}");
        let headers = [("authorization", bearer.as_str())];
        let answer = server
            .post_with("/external-waits/w/complete", &report, &headers)
            .await;
        assert_eq!(answer.status, status);
    }
}

#[tokio::test]
async fn a_header_names_the_user_on_connections_of_the_proxy_only() {
    let trusted = TrustedHeader::new("x-user", ["127.0.0.1", "::1"]).unwrap();
    let server = start(trusted).await;
    let mut made = server
        .post_with("/sessions", &json!({}), &[("x-user", "alice")])
        .await;
    assert_eq!(made.json().await["userId"], "alice");
    for headers in [&[][..], &[("authorization", "Bearer alice")]] {
        let mut answer = server.get_with("/sessions", headers).await;
        answer.refusal(401, "unauthenticated").await;
    }
    let elsewhere = TrustedHeader::new("x-user", ["10.0.0.0/8"]).unwrap();
    let server = start(elsewhere).await;
    let mut answer = server.get_with("/sessions", &[("x-user", "alice")]).await;
    answer.refusal(401, "unauthenticated").await;
}

#[tokio::test]
async fn nothing_else_in_a_request_names_a_user() {
    let tokens = StaticTokens::new().user("t", "alice").unwrap();
    let server = start(tokens).await;
    let mut body = input("t1", "r1", "hi");
    body["state"] = json!({ "userId": "bob" });
    body["forwardedProps"] = json!({ "user_id": "bob" });
    body["context"] = json!([{ "description": "userId", "value": "bob" }]);
    let headers = [
        ("authorization", "Bearer t"),
        ("x-user", "bob"),
        ("x-forwarded-user", "bob"),
        ("cookie", "user=bob"),
    ];
    let mut run = server
        .post_with("/?userId=bob&user=bob", &body, &headers)
        .await;
    run.events().await;
    let shown = server.get_with("/sessions/t1", &headers).await.json().await;
    assert_eq!(shown["userId"], "alice");
}
