//! Scripts as people write them, played to their end.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use std::time::Duration;

use antiphon_model::{
    Collected, Error, ErrorKind, FinishReason, Message, Model, ModelEvent, Request, ToolSpec,
    script::{Script, ScriptModel},
};
use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::support::checked;

const EXAMPLE: &str = include_str!("../src/script/example.yaml");

fn script(yaml: &str) -> Script {
    serde_saphyr::from_str(yaml).unwrap()
}

async fn stream(script: Script, request: &Request) -> Vec<Result<ModelEvent, Error>> {
    ScriptModel::new("player", script)
        .stream(request)
        .collect()
        .await
}

async fn play(yaml: &str, messages: Vec<Message>) -> (Collected, Option<Error>) {
    let request = Request {
        messages,
        ..Request::default()
    };
    checked(&stream(script(yaml).pace(Duration::ZERO), &request).await)
}

fn offering(tool: &str, messages: Vec<Message>) -> Request {
    let tool = ToolSpec {
        name: tool.into(),
        description: String::new(),
        parameters: Value::Null,
    };
    Request {
        messages,
        tools: vec![tool].into(),
        ..Request::default()
    }
}

#[tokio::test(start_paused = true)]
async fn the_documented_script_plays_a_call_and_its_closing_words() {
    let mut request = offering("update_recipe", vec![Message::user("a Recipe, please")]);
    let (turn, _) = checked(&stream(script(EXAMPLE), &request).await);
    assert_eq!(turn.message.reasoning[0].text, "They want a recipe.");
    assert_eq!(turn.message.text, "I write one down.");
    assert_eq!(turn.finish, Some(FinishReason::ToolCalls));
    let call = turn.message.calls[0].clone();
    let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
    assert_eq!(
        arguments,
        json!({"recipe": {"title": "Pizza", "ingredients": ["flour", "a Recipe, please"]}})
    );

    request.messages.push(Message::Assistant(turn.message));
    request
        .messages
        .push(Message::tool_result(call.id, call.name, "Recipe updated."));
    let (turn, _) = checked(&stream(script(EXAMPLE), &request).await);
    assert_eq!(
        (turn.message.text.as_str(), turn.finish),
        ("Done: Recipe updated.", Some(FinishReason::Stop))
    );
}

#[tokio::test]
async fn a_tool_that_is_not_offered_is_not_called() {
    let (turn, _) = play(EXAMPLE, vec![Message::user("a recipe")]).await;
    assert_eq!(turn.message.text, "I can write recipes.");
}

#[tokio::test]
async fn a_failure_comes_after_what_was_said() {
    let (turn, failure) = play(EXAMPLE, vec![Message::user("break")]).await;
    assert_eq!(turn.message.text, "I was about to");
    assert_eq!(failure.unwrap().kind(), ErrorKind::Unavailable);
}

#[tokio::test(start_paused = true)]
async fn fragments_come_at_the_pace_and_in_the_size_of_the_script() {
    let began = Instant::now();
    let script = script("{ pace: 20ms, fragment: 3, turns: [{ say: héllo wörld }] }");
    let stream = stream(
        script,
        &Request {
            messages: vec![Message::user("x")],
            ..Request::default()
        },
    )
    .await;
    let texts = stream.into_iter().filter_map(|item| match item.unwrap() {
        ModelEvent::Text(text) => Some(text),
        _ => None,
    });
    assert_eq!(texts.collect::<Vec<_>>(), ["hél", "lo ", "wör", "ld"]);
    assert_eq!(began.elapsed(), Duration::from_millis(80));
}

#[tokio::test]
async fn arguments_may_be_broken_on_purpose_and_a_turn_may_be_cut() {
    let yaml =
        "turns: [{ calls: [{ tool: save, arguments_text: '{\"title\": \"Big' }], finish: length }]";
    let (turn, _) = play(yaml, vec![Message::user("x")]).await;
    assert_eq!(turn.message.calls[0].arguments, "{\"title\": \"Big");
    assert!(!turn.finish.unwrap().is_complete());
}

#[tokio::test]
async fn ids_are_kept_where_they_are_given_and_unique_in_any_case() {
    let yaml = "turns: [{ calls: [{ tool: a, id: one }, { tool: b, id: one }, { tool: c }] }]";
    let (turn, _) = play(yaml, vec![Message::user("x")]).await;
    let ids: Vec<_> = turn
        .message
        .calls
        .iter()
        .map(|call| call.id.as_str())
        .collect();
    assert_eq!(&ids[..2], ["one", "one-2"]);
    assert!(ids[2].starts_with("call_"));
    assert_eq!(turn.message.calls[0].arguments, "{}");
}

#[tokio::test]
async fn without_a_turn_the_model_says_so() {
    let (turn, _) = play("turns: []", vec![Message::user("x")]).await;
    assert_eq!(turn.message.text, "My script has no turn for this.");
    let after = vec![
        Message::user("x"),
        Message::Assistant(turn.message),
        Message::tool_result("c", "t", "ok"),
    ];
    assert_eq!(play("turns: []", after).await.0.message.text, "Done.");
}

#[tokio::test]
async fn usage_is_reported() {
    let (turn, _) = play(
        "turns: [{ say: four score }]",
        vec![Message::user("12345678")],
    )
    .await;
    let usage = turn.usage.unwrap();
    assert_eq!(
        (usage.provider.as_str(), usage.model.as_str()),
        ("script", "player")
    );
    assert_eq!(
        (usage.input_tokens, usage.output_tokens, usage.total_tokens),
        (Some(2), Some(3), Some(5))
    );
}

#[test]
fn a_wrong_key_is_named() {
    let error = serde_saphyr::from_str::<Script>("turns: [{ when: { usr: x } }]").unwrap_err();
    assert!(error.to_string().contains("unknown field `usr`"), "{error}");
}
