//! Plays runs of an agent whose model makes the calls that a test names.

use std::sync::Arc;
use std::time::Duration;

use antiphon::clock::SystemClock;
use antiphon::model::script::{Script, ScriptModel};
use antiphon::protocol::RunAgentInput;
use antiphon::store::MemoryStore;
use antiphon::{Accepted, Agent, Batch, BuiltAgent, Refusal, Runtime};
use serde_json::{Value, json};

/// An agent on a store of its own, and the thread `t1` on it.
pub(crate) struct Stage {
    agent: Arc<BuiltAgent>,
    runtime: Runtime,
    runs: usize,
}

impl Stage {
    /// An agent whose model answers the first message with one call, and a result with "done".
    pub(crate) fn calling(
        tool: &str,
        arguments: &Value,
        describe: impl FnOnce(Agent) -> Agent,
    ) -> Self {
        let turns = json!({ "turns": [
            { "calls": [{ "tool": tool, "arguments": arguments }] },
            { "when": { "after_tool": "*" }, "say": "done" },
        ] });
        let script: Script = serde_json::from_value(turns).unwrap();
        let model = ScriptModel::new("caller", script.pace(Duration::ZERO));
        let agent = describe(Agent::new("tested").model(model)).build().unwrap();
        Self {
            agent: Arc::new(agent),
            runtime: Runtime::new(Arc::new(MemoryStore::new(Arc::new(SystemClock)))),
            runs: 0,
        }
    }

    /// Sends a first message and plays the run to its end.
    pub(crate) async fn ask(&mut self) -> Played {
        let message = json!({ "id": "m1", "role": "user", "content": "go" });
        self.post(json!({ "messages": [message] })).await.unwrap()
    }

    /// Answers the interrupt of an earlier run.
    pub(crate) async fn answer(&mut self, played: &Played, payload: &Value) -> Played {
        let id = played.interrupt()["id"].clone();
        let entry = json!({ "interruptId": id, "status": "resolved", "payload": payload });
        self.post(json!({ "messages": [], "resume": [entry] }))
            .await
            .unwrap()
    }

    /// Posts a request on the thread and plays the run to its end.
    pub(crate) async fn post(&mut self, mut request: Value) -> Result<Played, Refusal> {
        self.runs += 1;
        request["threadId"] = json!("t1");
        request["runId"] = json!(format!("r{}", self.runs));
        request["protocolVersion"] = json!("1.0");
        let input = RunAgentInput::read(request).unwrap().value;
        let accepted = self
            .runtime
            .accept(Arc::clone(&self.agent), "local", input)
            .await?;
        let log = match accepted {
            Accepted::Run(run) => {
                let log = run.log();
                run.play().await;
                log
            }
            Accepted::Replay(log) => log,
        };
        let mut reader = log.read();
        let mut events = Vec::new();
        while let Batch::Frames(frames) = reader.next().await {
            let read = |frame: &antiphon::Frame| serde_json::from_slice(&frame.json()).unwrap();
            events.extend(frames.iter().map(read));
        }
        Ok(Played { events })
    }
}

/// The events of a run.
pub(crate) struct Played {
    pub(crate) events: Vec<Value>,
}

impl Played {
    /// The events of a type.
    pub(crate) fn all<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Value> {
        self.events
            .iter()
            .filter(move |event| event["type"] == kind)
    }

    /// The one result of the run's one call.
    pub(crate) fn result(&self) -> String {
        let results: Vec<&Value> = self.all("TOOL_CALL_RESULT").collect();
        assert_eq!(results.len(), 1, "{:#?}", self.events);
        results[0]["content"].as_str().unwrap().to_owned()
    }

    /// The interrupt that the run ended with.
    pub(crate) fn interrupt(&self) -> &Value {
        let end = self.events.last().unwrap();
        assert_eq!(end["type"], "RUN_FINISHED", "{end}");
        &end["outcome"]["interrupts"][0]
    }
}
