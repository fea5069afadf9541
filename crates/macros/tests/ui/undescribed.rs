use antiphon::prelude::*;

#[tool]
async fn update_recipe(recipe: String) -> &'static str {
    "Recipe updated."
}

fn main() {
    // The one mistake is one error: the tool still has its name.
    let _ = Agent::new("recipe").tools(update_recipe);
}
