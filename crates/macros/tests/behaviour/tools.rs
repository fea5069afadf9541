//! `#[tool]`: what the model is told, how a call reaches the function, and what comes back.

use std::fmt;
use std::sync::Mutex;

use crate::support::Stage;
use antiphon::prelude::*;
use antiphon::protocol::Custom;

/// What an order is worth.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Item {
    /// What it is.
    name: String,
    count: u32,
}

#[derive(Serialize)]
struct Receipt {
    total: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// Place an order.
///
///   - all items at once
#[tool]
async fn order(
    /// The items, at least one.
    #[schemars(length(min = 1))]
    items: Vec<Item>,
    note: Option<String>,
    #[serde(rename = "express", default)] fast: bool,
) -> Receipt {
    let total = items.iter().map(|item| item.count).sum::<u32>() + u32::from(fast);
    Receipt { total, note }
}

#[test]
fn the_model_is_told_what_the_code_says() {
    let tool = order.tool();
    let spec = tool.spec();
    assert_eq!(spec.name, "order");
    assert_eq!(spec.description, "Place an order.\n\n  - all items at once");
    let item = json!({
        "description": "What an order is worth.",
        "type": "object",
        "properties": {
            "name": { "description": "What it is.", "type": "string" },
            "count": { "type": "integer", "format": "uint32", "minimum": 0 },
        },
        "required": ["name", "count"],
    });
    let expected = json!({
        "type": "object",
        "properties": {
            "items": { "description": "The items, at least one.", "type": "array", "items": item, "minItems": 1 },
            "note": { "type": ["string", "null"] },
            "express": { "type": "boolean", "default": false },
        },
        "required": ["items"],
    });
    assert_eq!(spec.parameters, expected);
}

#[tokio::test]
async fn arguments_arrive_typed_and_the_result_leaves_as_json() {
    let arguments = json!({ "items": [{ "name": "egg", "count": 6 }], "express": true });
    let played = Stage::calling("order", &arguments, |a| a.tools(order))
        .ask()
        .await;
    assert_eq!(played.result(), r#"{"total":7}"#);
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_refused_in_words() {
    let arguments = json!({ "items": [{ "name": "egg", "count": "six" }] });
    let played = Stage::calling("order", &arguments, |a| a.tools(order))
        .ask()
        .await;
    assert!(
        played.result().contains("/items/0/count"),
        "{}",
        played.result()
    );
}

#[tokio::test]
async fn the_function_itself_can_be_called() {
    let receipt = order::call(Vec::new(), Some("later".to_owned()), false).await;
    assert_eq!((receipt.total, receipt.note.as_deref()), (0, Some("later")));
}

#[derive(Default, Serialize, Deserialize, JsonSchema)]
struct Counter {
    counter: u32,
}

struct Steps(Mutex<Vec<u32>>);

/// Count on.
#[tool]
async fn tick(
    run: RunContext<'_>,
    by: u32,
    state: State<'_, Counter>,
    steps: Resource<Steps>,
) -> Result<String> {
    steps.0.lock().unwrap().push(by);
    let now = state.update(|state| {
        state.counter += by;
        state.counter
    })?;
    Ok(format!("{} counts {now}", run.agent()))
}

#[tokio::test]
async fn what_the_run_offers_is_found_by_type() {
    assert_eq!(
        tick.tool().spec().parameters["properties"],
        json!({ "by": { "type": "integer", "format": "uint32", "minimum": 0 } })
    );
    let mut stage = Stage::calling("tick", &json!({ "by": 3 }), |agent| {
        agent
            .tools(tick)
            .state::<Counter>()
            .resource(Steps(Mutex::default()))
    });
    let played = stage.ask().await;
    assert_eq!(played.result(), "tested counts 3");
    let settled = played.all("STATE_SNAPSHOT").last().unwrap();
    assert_eq!(settled["snapshot"], json!({ "counter": 3 }));
}

#[tokio::test]
async fn a_resource_that_the_agent_lacks_fails_the_call_and_not_the_run() {
    let mut stage = Stage::calling("tick", &json!({ "by": 3 }), |a| {
        a.tools(tick).state::<Counter>()
    });
    let played = stage.ask().await;
    assert!(played.result().contains("the tool is not set up"));
    assert_eq!(played.events.last().unwrap()["type"], "RUN_FINISHED");
}

/// An error that is shown and nothing else.
struct OutOfPaper;

impl fmt::Display for OutOfPaper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("out of paper")
    }
}

type Printed<T> = std::result::Result<T, OutOfPaper>;

/// Print a label.
#[tool]
fn print_label(copies: u32) -> Printed<&'static str> {
    if copies > 1 {
        Err(OutOfPaper)
    } else {
        Ok("printed")
    }
}

#[tokio::test]
async fn a_result_is_known_by_its_type_under_any_name() {
    let one = json!({ "copies": 1 });
    let played = Stage::calling("print_label", &one, |a| a.tools(print_label))
        .ask()
        .await;
    assert_eq!(played.result(), "printed");
    let two = json!({ "copies": 2 });
    let played = Stage::calling("print_label", &two, |a| a.tools(print_label))
        .ask()
        .await;
    assert!(
        played.result().contains("out of paper"),
        "{}",
        played.result()
    );
}

/// Not a `Result`, whatever its name says.
#[derive(Serialize)]
struct SearchResult {
    hits: u32,
}

/// Search.
#[tool]
async fn search() -> SearchResult {
    SearchResult { hits: 2 }
}

#[tokio::test]
async fn a_value_whose_name_ends_in_result_is_a_value() {
    let played = Stage::calling("search", &json!({}), |a| a.tools(search))
        .ask()
        .await;
    assert_eq!(played.result(), r#"{"hits":2}"#);
}

/// Paint.
#[tool]
async fn paint(color: String) -> Result<ToolOutput, ToolError> {
    if color.is_empty() {
        return Err(ToolError::new("no color"));
    }
    Ok(ToolOutput::new(json!("painted")).event(Custom::new("app.painted", json!(color))))
}

/// Paint it white.
#[tool]
fn whitewash() -> ToolOutput {
    ToolOutput::new(json!("white"))
}

#[tokio::test]
async fn an_output_is_taken_as_it_is() {
    let red = json!({ "color": "red" });
    let played = Stage::calling("paint", &red, |a| a.tools((paint, whitewash)))
        .ask()
        .await;
    assert_eq!(played.result(), "painted");
    assert_eq!(played.all("CUSTOM").last().unwrap()["value"], "red");
    let played = Stage::calling("whitewash", &json!({}), |a| a.tools((paint, whitewash)));
    assert_eq!({ played }.ask().await.result(), "white");
}

/// Keep the page informed.
#[tool]
async fn update_recipe(recipe: Value) -> &'static str {
    "Recipe updated."
}

#[tokio::test]
async fn an_argument_can_be_for_the_page_alone() {
    let arguments = json!({ "recipe": { "title": "Carbonara" } });
    let mut stage = Stage::calling("update_recipe", &arguments, |agent| {
        agent
            .tools(update_recipe)
            .predict("recipe", update_recipe.argument("recipe"))
    });
    let played = stage.ask().await;
    assert_eq!(played.result(), "Recipe updated.");
    assert!(played.all("STATE_DELTA").next().is_some());
}

/// Delete a customer's record.
#[tool(
    name = "delete-customer",
    approval(message = "Delete customer {id}?", timeout = "15m", edits),
    timeout = "30s",
    idempotent
)]
async fn delete_customer(id: u32) -> String {
    format!("{id} deleted")
}

#[tokio::test]
async fn a_person_is_asked_first_where_the_tool_says_so() {
    let mut stage = Stage::calling("delete-customer", &json!({ "id": 7 }), |a| {
        a.tools(delete_customer)
    });
    let asked = stage.ask().await;
    assert_eq!(asked.interrupt()["message"], "Delete customer 7?");
    assert!(asked.interrupt()["responseSchema"]["properties"]["editedArgs"].is_object());
    let edited = json!({ "approved": true, "editedArgs": { "id": 8 } });
    assert_eq!(stage.answer(&asked, &edited).await.result(), "8 deleted");
}

mod elsewhere {
    use antiphon::tool;

    #[doc = concat!("Say ", "hello.")]
    #[tool]
    #[allow(clippy::missing_const_for_fn)]
    pub(super) fn r#move(r#type: String, mut count: u8) -> String {
        count += 1;
        format!("{type} {count}", type = r#type)
    }
}

#[tokio::test]
async fn raw_names_are_plain_names_to_the_model() {
    use elsewhere::r#move;
    assert_eq!(r#move.tool().name(), "move");
    assert_eq!(r#move.tool().spec().description, "Say hello.");
    assert_eq!(r#move::call("a".to_owned(), 1), "a 2");
    let arguments = json!({ "type": "b", "count": 1 });
    let played = Stage::calling("move", &arguments, |a| a.tools(r#move))
        .ask()
        .await;
    assert_eq!(played.result(), "b 2");
}

#[test]
fn a_tool_can_be_written_in_a_function() {
    /// Do nothing.
    #[tool]
    fn nothing() {}
    assert_eq!(nothing.tool().spec().parameters["properties"], json!({}));
}
