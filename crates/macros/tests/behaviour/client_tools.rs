//! `#[client_tool]`: a declaration that the page fills.

use crate::support::{Played, Stage};
use antiphon::prelude::*;

/// What the page has done.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Painted {
    color: String,
}

/// Change the page's background.
#[client_tool(timeout = "30s")]
fn change_background(
    /// A CSS color.
    color: String,
    #[serde(default)] slowly: bool,
) -> Painted;

/// Ring a bell.
#[client_tool(name = "ring", approval(message = "Ring {times} times?"))]
pub(crate) fn ring_bell(times: u8);

#[test]
fn the_model_is_told_what_the_declaration_says() {
    let tool = change_background.tool();
    let spec = tool.spec();
    assert_eq!(spec.name, "change_background");
    assert_eq!(spec.description, "Change the page's background.");
    let properties = json!({
        "color": { "description": "A CSS color.", "type": "string" },
        "slowly": { "type": "boolean", "default": false },
    });
    assert_eq!(spec.parameters["properties"], properties);
    assert_eq!(spec.parameters["required"], json!(["color"]));
    let argument = change_background.argument("color");
    assert_eq!(
        (argument.tool.as_str(), argument.argument.as_str()),
        ("change_background", "color")
    );
}

fn pending(played: &Played) -> Value {
    let end = played.events.last().unwrap();
    assert_eq!(end["type"], "RUN_FINISHED", "{end}");
    end["outcome"]["pendingToolCallIds"][0].clone()
}

#[tokio::test]
async fn the_run_waits_for_the_page_and_checks_its_answer() {
    let mut stage = Stage::calling(
        "change_background",
        &json!({ "color": "violet" }),
        |agent| agent.tools(change_background),
    );
    let call = pending(&stage.ask().await);
    let answer = |id: &str, content: &str| {
        let message = json!({ "id": id, "role": "tool", "toolCallId": call, "content": content });
        json!({ "messages": [message] })
    };
    let refused = stage.post(answer("t1", r#"{"hue":1}"#)).await;
    assert!(refused.is_err(), "the answer has no color");
    let played = stage
        .post(answer("t2", r#"{"color":"violet"}"#))
        .await
        .unwrap();
    assert_eq!(
        played.all("TEXT_MESSAGE_CONTENT").next().unwrap()["delta"],
        "done"
    );
}

#[tokio::test]
async fn a_person_can_be_asked_before_the_page() {
    let mut stage = Stage::calling("ring", &json!({ "times": 2 }), |a| a.tools(ring_bell));
    let asked = stage.ask().await;
    assert_eq!(asked.interrupt()["message"], "Ring 2 times?");
    pending(&stage.answer(&asked, &json!({ "approved": true })).await);
}
