//! The agent's tools and the state that it shares with the page.

use antiphon::prelude::*;

/// What agent and page share. The page may put keys of its own beside these.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Desk {
    /// How often the agent has spoken.
    #[serde(default)]
    pub(crate) turns: u32,
    /// The recipe that is being written.
    #[serde(default)]
    recipe: Option<Recipe>,
}

/// A recipe.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Recipe {
    title: String,
    ingredients: Vec<String>,
}

/// How it is outside.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Weather {
    degrees: i32,
    sky: String,
}

/// Look up the weather of a city.
#[tool]
pub(crate) async fn get_weather(city: String) -> Weather {
    let sky = format!("sunny over {city}");
    Weather { degrees: 21, sky }
}

/// Write the whole recipe, also when only a part of it changes.
#[tool]
pub(crate) async fn update_recipe(recipe: Recipe) -> String {
    format!(
        "{} has {} ingredients.",
        recipe.title,
        recipe.ingredients.len()
    )
}

/// Delete a file. No file is touched: what is tried is the question before it.
#[tool(approval(message = "Delete {path}?", timeout = "15m"))]
pub(crate) async fn delete_file(path: String) -> Value {
    json!({ "approved": true, "deleted": path })
}

/// Ask the person as agents did before the protocol had interrupts: with a CUSTOM event, whose answer
/// comes with a later run in `forwardedProps.command.resume`.
#[tool]
pub(crate) async fn ask_the_old_way(question: String, run: RunContext<'_>) -> &'static str {
    let value = json!({ "message": question }).to_string();
    run.emit("on_interrupt", value.into());
    "The person was asked."
}
