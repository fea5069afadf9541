//! A server within an application that listens itself.

use std::time::Duration;

use antiphon_agent::OnDisconnect;
use antiphon_server::{Error, Server};
use axum::Router;
use http::Method;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::support::client::send;
use crate::support::model::Parrot;
use crate::support::model::puppet;
use crate::support::store::Faulty;
use crate::support::{agent, input, within};

#[tokio::test]
async fn the_application_ends_its_runs_in_order() {
    let (model, strings) = puppet();
    let agent = agent(model).on_disconnect(OnDisconnect::Detach);
    let server = Server::new([agent]).drain(Duration::from_millis(50));
    let (agents, life) = server.embed().unwrap();
    life.ready().await.unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let draining = life.clone();
    let serving = axum::serve(listener, Router::new().nest("/ai", agents)).with_graceful_shutdown(
        async move {
            let _ = stopped.await;
            draining.drain().await;
        },
    );
    let serving = tokio::spawn(async move { serving.await });
    let body = input("t1", "r1", "hi").to_string().into_bytes();
    let mut run = send(address, Method::POST, "/ai/agents/echo", &[], Some(body)).await;
    let call = strings.call().await;
    call.say("The first word");
    stop.send(()).unwrap();
    let ending = within(run.events()).await.pop().unwrap();
    assert_eq!(ending["outcome"], json!({ "type": "cancelled" }));
    drop(run);
    within(serving).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_store_that_is_away_is_told_when_the_application_begins() {
    let store = Faulty::new();
    store.set_away(true);
    let server = Server::new([agent(Parrot::new("back"))]).shared_store(store.clone());
    let (_agents, life) = server.embed().unwrap();
    assert!(matches!(life.ready().await, Err(Error::StoreAway)));
    store.set_away(false);
    life.ready().await.unwrap();
}
