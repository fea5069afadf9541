//! Methods, paths, abuse and parallel runs.

use antiphon_protocol::Event;
use futures_util::future::join_all;

use super::{Prober, asked, is_setup, posting, to_bytes};
use crate::check::stream::judge;
use crate::client::new_id;
use crate::http::Method;

/// The size of a body that no client sends, in bytes.
const HUGE: usize = 16 << 20;
/// The nesting of a document that no client sends.
const DEEP: usize = 20_000;
/// How many runs go on at the same time.
const PARALLEL: usize = 8;

impl Prober<'_> {
    pub(super) async fn probe_http(&mut self) {
        self.probe_methods().await;
        self.probe_path().await;
        self.probe_media_type().await;
        self.probe_abuse().await;
        self.probe_parallel().await;
    }

    async fn probe_methods(&mut self) {
        // Not DELETE: on a server that is something else it may do something.
        for method in [Method::PUT, Method::PATCH] {
            let place = format!("{method} instead of POST");
            let mut ask = posting(to_bytes(&self.input()));
            ask.method = method;
            let Some(exchange) = self.answered(&place, ask).await else {
                continue;
            };
            let found = match exchange.status {
                405 if exchange.allow.to_ascii_uppercase().contains("POST") => Ok(()),
                405 => Err(format!("405 with Allow: {:?}", exchange.allow)),
                status => Err(format!("status {status}")),
            };
            self.record.note("method", &place, found);
            if exchange.status == 405 {
                self.check_error_body(&place, &exchange);
            }
        }
    }

    async fn probe_path(&mut self) {
        let place = "an unknown path";
        let mut ask = posting(to_bytes(&self.input()));
        ask.path = Some(format!("/no/such/endpoint-{}", new_id()));
        let Some(exchange) = self.answered(place, ask).await else {
            return;
        };
        let found = match exchange.status {
            404 => Ok(()),
            status => Err(format!("status {status}")),
        };
        self.record.note("path", place, found);
        if exchange.status == 404 {
            self.check_error_body(place, &exchange);
        }
    }

    async fn probe_media_type(&mut self) {
        let mut ask = posting(to_bytes(&self.input()));
        ask.content_type = Some("text/plain");
        self.answered("a body declared as text/plain", ask).await;
    }

    async fn probe_abuse(&mut self) {
        let mut body = self.input();
        body["messages"][0]["content"] = "x".repeat(HUGE).into();
        self.endured("a body of 16 MiB", to_bytes(&body)).await;
        let deep = format!(
            r#"{{"threadId":"t","runId":"r","messages":[],"state":{}{}}}"#,
            "[".repeat(DEEP),
            "]".repeat(DEEP)
        );
        self.endured("JSON nested 20000 deep", deep).await;
        for _ in 0..3 {
            let mut ask = posting(to_bytes(&self.input()));
            ask.leave = true;
            self.answered("a client that leaves", ask).await;
        }
        self.alive("three abandoned runs").await;
    }

    /// Sends what a server may refuse, or hang up on, but must survive.
    async fn endured(&mut self, place: &str, body: impl Into<bytes::Bytes>) {
        let ask = posting(body);
        match self.ask(ask).await {
            Ok(exchange) if exchange.status >= 500 => {
                let seen = format!("status {}", exchange.status);
                self.record.broken("robust", place, seen);
            }
            Err(error) if is_setup(&error) => {}
            // A server may close the connection on the rest of a body that it does not want.
            Ok(_) | Err(_) => self.record.kept("robust"),
        }
        self.alive(place).await;
    }

    async fn alive(&mut self, after: &str) {
        let place = format!("after {after}");
        let body = self.input();
        self.served("robust", &place, &body).await;
    }

    async fn probe_parallel(&mut self) {
        let bodies: Vec<_> = (0..PARALLEL).map(|_| self.input()).collect();
        let asks = bodies.iter().map(|body| self.ask(posting(to_bytes(body))));
        let answers = join_all(asks).await;
        for (number, (body, answer)) in bodies.iter().zip(answers).enumerate() {
            let place = format!("run {number} of {PARALLEL} at the same time");
            let exchange = match answer {
                Ok(exchange) => exchange,
                Err(error) => {
                    self.record.broken("parallel", &place, error.to_string());
                    continue;
                }
            };
            let heard = judge(&mut self.record, &place, &exchange, &asked(body));
            let own = heard.is_some_and(|heard| {
                heard.events.iter().all(|event| match event {
                    Event::RunStarted(started) => body["threadId"] == started.thread_id.as_str(),
                    _ => true,
                })
            });
            let found = if own {
                Ok(())
            } else {
                Err("it is not its own run".to_owned())
            };
            self.record.note("parallel", &place, found);
        }
    }
}
