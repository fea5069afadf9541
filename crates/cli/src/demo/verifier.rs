//! A stand-in for another system: it verifies anything, after some seconds.

use std::time::Duration;

use antiphon::server::Waits;
use antiphon::{Agent, Delivery, Handler, RunContext, Tool, ToolError, ToolOutput};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

/// How long a verification takes.
const WORK: Duration = Duration::from_secs(4);

/// Gives an agent the tool that waits for the verifier.
pub(super) fn verified(agent: Agent, waits: Waits) -> Agent {
    let tool = Tool::external_wait("verify_identity", "kyc.verify", Verifier(waits))
        .description("Have the person's identity verified by another system.")
        .parameters(json!({
            "type": "object",
            "properties": { "document": { "enum": ["passport", "id_card"] } },
            "required": ["document"],
        }));
    agent.tools(tool)
}

/// Begins a verification.
struct Verifier(Waits);

impl Handler for Verifier {
    fn call<'a>(
        &'a self,
        arguments: Value,
        run: RunContext<'a>,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        let waits = self.0.clone();
        let id = run.wait_id().map(str::to_owned);
        async move {
            let id = id.ok_or_else(|| ToolError::new("there is nothing to report to"))?;
            tokio::spawn(verify(waits, id, arguments));
            Ok(ToolOutput::new(json!("begun")))
        }
        .boxed()
    }
}

async fn verify(waits: Waits, id: String, arguments: Value) {
    tokio::time::sleep(WORK).await;
    let report = json!({ "verified": true, "document": arguments["document"] });
    let delivery = Delivery::Complete(report);
    if let Err(error) = waits.deliver(&id, delivery, "demo verifier").await {
        tracing::warn!(%error, "a verification could not be reported");
    }
}
