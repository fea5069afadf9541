//! What the script writes is what the tool takes.

use antiphon::model::script::Arguments;
use antiphon::prelude::*;

use crate::{Recipe, update_recipe};

#[test]
fn the_written_recipes_are_recipes() {
    let script: Script = serde_json::from_str(include_str!("script.json")).unwrap();
    let calls: Vec<_> = script.turns.iter().flat_map(|turn| &turn.calls).collect();
    assert_eq!(calls.len(), 2);
    for call in calls {
        assert_eq!(call.tool, update_recipe.tool().name());
        let Arguments::Json(arguments) = &call.arguments else {
            panic!("the arguments are JSON");
        };
        let recipe: Recipe = serde_json::from_value(arguments["recipe"].clone()).unwrap();
        assert_eq!(serde_json::to_value(recipe).unwrap(), arguments["recipe"]);
    }
}
