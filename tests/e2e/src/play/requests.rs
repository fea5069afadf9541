//! Requests for runs and to the other routes.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};

use super::{AGENT, Play, Step, Stop};
use crate::{
    http::{Answer, Request},
    json::text,
    run::{Held, Run},
};

impl Play {
    /// A POST of a body to the agent, to be changed before it is sent.
    pub fn request(&self, body: &Value) -> Request {
        let mut request =
            Request::post(&format!("/agents/{AGENT}"), body).header("Accept", "text/event-stream");
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        request
    }

    /// Sends a body and returns when the head of the response is there.
    ///
    /// # Errors
    ///
    /// No answer.
    pub async fn start(&self, body: &Value) -> Step<Run> {
        self.start_with(body, &self.request(body)).await
    }

    /// As [`start`](Self::start), with a request that was changed.
    ///
    /// # Errors
    ///
    /// No answer.
    pub async fn start_with(&self, body: &Value, request: &Request) -> Step<Run> {
        let base = Held {
            messages: body["messages"].as_array().cloned().unwrap_or_default(),
            state: body
                .get("state")
                .filter(|s| !s.is_null())
                .cloned()
                .unwrap_or_else(|| json!({})),
        };
        let provider = &self.stage.provider;
        let (model, executed) = (provider.request_count(), provider.execution_count());
        let began = Instant::now();
        let response = request.send(self.stage.server.addr).await?;
        let mut run = Run::new(body.clone(), base, began, response);
        run.model_before = model;
        run.executed_before = executed;
        Ok(run)
    }

    /// Posts a body, reads and judges everything, and holds what the client now holds.
    ///
    /// # Errors
    ///
    /// No answer.
    pub async fn post(&mut self, body: &Value) -> Step<Run> {
        let run = self.start(body).await?;
        Ok(self.finish(run).await)
    }

    /// As [`post`](Self::post), for a request that tells again what happened before: it is
    /// judged, but the client's own memory stays.
    ///
    /// # Errors
    ///
    /// No answer.
    pub async fn post_again(&mut self, body: &Value) -> Step<Run> {
        let run = self.start(body).await?.again();
        Ok(self.finish_aside(run).await)
    }

    /// Says something with everything the client holds.
    ///
    /// # Errors
    ///
    /// No answer.
    pub async fn say(&mut self, words: &str) -> Step<Run> {
        let body = self.next_body(&[self.user(words)], &json!({}));
        self.post(&body).await
    }

    /// Answers what is open.
    ///
    /// # Errors
    ///
    /// No answer.
    pub async fn resume(&mut self, entries: &[Value]) -> Step<Run> {
        let body = self.next_body(&[], &json!({"resume": entries}));
        self.post(&body).await
    }

    /// Opens the thread with no messages: snapshots and no model request. The client holds
    /// what came.
    ///
    /// # Errors
    ///
    /// The thread cannot be opened.
    pub async fn open(&mut self) -> Step<Run> {
        let before = self.stage.provider.request_count();
        let body = self.body(&json!({"messages": [], "state": null, "tools": [], "resume": null}));
        let run = self.start(&body).await?.again();
        let run = self.finish(run).await;
        if run.terminal() != Some("RUN_FINISHED") {
            return Err(Stop::new(format!("opening the thread: {}", run.ending())));
        }
        for kind in ["MESSAGES_SNAPSHOT", "STATE_SNAPSHOT"] {
            self.check(
                run.first(kind).is_some(),
                format!("opening the thread gave no {kind}"),
            );
        }
        let asked = self.stage.provider.request_count() - before;
        self.check(asked == 0, "opening the thread asked the model");
        Ok(run)
    }

    /// Posts what `body` makes until the thread is no longer busy.
    ///
    /// # Errors
    ///
    /// No answer, or busy for more than five seconds.
    pub async fn when_free(&mut self, words: &str) -> Step<Run> {
        let end = Instant::now() + Duration::from_secs(5);
        loop {
            let body = self.next_body(&[self.user(words)], &json!({}));
            let run = self.start(&body).await?;
            if run.status != 409 || Instant::now() > end {
                return Ok(self.finish(run).await);
            }
            sleep(Duration::from_millis(20)).await;
        }
    }

    /// Follows a run, after an event id if there is one. It is read but not judged against the
    /// client's memory.
    ///
    /// # Errors
    ///
    /// No answer.
    pub async fn follow(&self, of: &Run, last_event_id: Option<&str>) -> Step<Run> {
        let path = format!("/runs/{}/events", text(&of.request, "runId"));
        let mut request = Request::get(&path).header("Accept", "text/event-stream");
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        if let Some(id) = last_event_id {
            request = request.header("Last-Event-ID", id);
        }
        let began = Instant::now();
        let response = request.send(self.stage.server.addr).await?;
        Ok(Run::new(of.request.clone(), of.base.clone(), began, response).again())
    }

    /// One request to another route, with the headers of this client.
    ///
    /// # Errors
    ///
    /// No answer.
    pub async fn fetch(&self, mut request: Request) -> Step<Answer> {
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        Ok(self.stage.server.fetch(&request).await?)
    }

    /// GET of another route.
    ///
    /// # Errors
    ///
    /// No answer.
    pub async fn get(&self, path: &str) -> Step<Answer> {
        self.fetch(Request::get(path)).await
    }

    /// Asks the server to cancel a run.
    ///
    /// # Errors
    ///
    /// No answer.
    pub async fn cancel(&self, run: &Run) -> Step<Answer> {
        let path = format!("/runs/{}/cancel", text(&run.request, "runId"));
        self.fetch(Request::post(&path, &json!({}))).await
    }

    /// Waits until GET of a route is as a test needs it.
    ///
    /// # Errors
    ///
    /// It did not come to that within ten seconds.
    pub async fn until(
        &self,
        path: &str,
        what: &str,
        fits: impl Fn(&Answer) -> bool,
    ) -> Step<Answer> {
        let waiting = async {
            loop {
                let answer = self.get(path).await?;
                if fits(&answer) {
                    return Ok(answer);
                }
                sleep(Duration::from_millis(20)).await;
            }
        };
        let late = |_| Stop::new(format!("GET {path}: {what} did not come"));
        timeout(Duration::from_secs(10), waiting)
            .await
            .map_err(late)?
    }
}
