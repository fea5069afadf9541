//! A recipe that a page and an agent write together, shown while the model still writes it.

use std::sync::Arc;

use antiphon::prelude::*;

/// The state that the page and the agent share.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
struct Kitchen {
    /// The current recipe.
    recipe: Option<Recipe>,
}

/// A complete recipe.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Recipe {
    title: String,
    skill_level: SkillLevel,
    /// Dietary preferences (e.g., Vegetarian, Gluten-free).
    #[serde(default)]
    special_preferences: Vec<String>,
    cooking_time: CookingTime,
    /// The complete list of ingredients.
    ingredients: Vec<Ingredient>,
    /// Step-by-step cooking instructions.
    instructions: Vec<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
enum SkillLevel {
    Beginner,
    Intermediate,
    Advanced,
}

#[derive(Serialize, Deserialize, JsonSchema)]
enum CookingTime {
    #[serde(rename = "5 min")]
    Five,
    #[serde(rename = "15 min")]
    Fifteen,
    #[serde(rename = "30 min")]
    Thirty,
    #[serde(rename = "45 min")]
    FortyFive,
    #[serde(rename = "60+ min")]
    SixtyPlus,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Ingredient {
    /// One emoji for the ingredient (e.g., 🥕).
    icon: String,
    name: String,
    amount: String,
}

/// Write the complete recipe, with ALL fields, even when only a few change.
///
/// When modifying, include ALL existing ingredients and instructions plus your changes. NEVER delete
/// existing data: only add or modify.
#[tool]
async fn update_recipe(recipe: Recipe) -> &'static str {
    "Recipe updated."
}

#[tokio::main]
async fn main() -> Result<()> {
    tracing_subscriber::fmt().init();
    let agent = Agent::new("recipe")
        .description("Creates and modifies recipes with streaming state updates")
        .instructions(include_str!("recipe.md"))
        .model(model()?)
        .state::<Kitchen>()
        .predict("recipe", update_recipe.argument("recipe"))
        .tools(update_recipe);

    Ok(Server::new([agent]).serve("127.0.0.1:8888").await?)
}

/// OpenAI where the environment names an account, otherwise two recipes that were written down.
fn model() -> Result<Arc<dyn Model>> {
    Ok(match OpenAi::from_env() {
        Ok(openai) => Arc::new(openai.model("gpt-5-mini")),
        Err(_) => {
            let script: Script = serde_json::from_str(include_str!("script.json"))?;
            Arc::new(ScriptModel::new("recipe", script))
        }
    })
}

#[cfg(test)]
mod tests;
