//! What readers are shown while the arguments of a call arrive.

use serde_json::{Value, json};

use super::*;

/// A call whose arguments come in fragments of a few bytes, and readers that apply the patches.
struct Call {
    readers: Value,
    projection: Projection,
    patches: Vec<Patch>,
}

impl Call {
    fn new<const N: usize>(mappings: [(&str, &str); N], readers: Value) -> Self {
        let mappings = mappings.map(|(key, argument)| Mapping::new(key, argument));
        Self {
            projection: Projection::new(mappings, &readers),
            readers,
            patches: Vec::new(),
        }
    }

    fn push(&mut self, text: &str, size: usize) {
        let characters: Vec<char> = text.chars().collect();
        for fragment in characters.chunks(size) {
            let patch = self.projection.push(&fragment.iter().collect::<String>());
            self.show(patch);
        }
    }

    fn finish(&mut self) {
        let patch = self.projection.finish();
        self.show(patch);
    }

    fn show(&mut self, patch: Option<Patch>) {
        if let Some(patch) = patch {
            assert!(!patch.is_empty());
            patch.apply(&mut self.readers).unwrap();
            self.patches.push(patch);
        }
    }
}

/// Runs a whole call and returns what readers held in the end.
fn run<const N: usize>(mappings: [(&str, &str); N], readers: Value, arguments: &Value) -> Call {
    let mut call = Call::new(mappings, readers);
    call.push(&arguments.to_string(), 4);
    call.finish();
    assert!(call.projection.is_settled());
    call
}

fn ops(call: &Call) -> Vec<String> {
    let operations = call.patches.iter().flat_map(|patch| patch.iter());
    operations
        .map(|operation| format!("{} {}", operation.name(), operation.path()))
        .collect()
}

#[test]
fn a_missing_key_is_added_and_a_held_one_replaced() {
    let arguments = json!({"steps": ["plan", "do"]});
    let call = run([("steps", "steps")], json!({}), &arguments);
    assert_eq!(call.readers, arguments);
    assert_eq!(ops(&call)[0], "add /steps");

    let call = run(
        [("steps", "steps")],
        json!({"steps": [], "x": 1}),
        &arguments,
    );
    assert_eq!(call.readers, json!({"steps": ["plan", "do"], "x": 1}));
    assert_eq!(ops(&call)[0], "replace /steps");
}

#[test]
fn readers_that_hold_no_object_get_one_first() {
    for nothing in [Value::Null, json!([]), json!("text")] {
        let call = run([("n", "n")], nothing, &json!({"n": 12}));
        assert_eq!(call.readers, json!({"n": 12}));
        assert_eq!(ops(&call), ["replace ", "add /n"]);
    }
}

#[test]
fn an_object_grows_member_by_member() {
    let mut call = Call::new([("recipe", "recipe")], json!({}));
    call.push(r#"{"recipe": {"title": "Pasta""#, 100);
    assert_eq!(call.readers, json!({"recipe": {"title": "Pasta"}}));
    call.push(r#", "serves": 1"#, 100);
    assert_eq!(call.readers, json!({"recipe": {"title": "Pasta"}}));
    call.push(r#"2, "steps": ["bo"#, 100);
    let shown = json!({"recipe": {"title": "Pasta", "serves": 12, "steps": ["bo"]}});
    assert_eq!(call.readers, shown);
    assert_eq!(
        ops(&call),
        ["add /recipe", "add /recipe/serves", "add /recipe/steps"]
    );
    call.push(r#"il", "ea"#, 100);
    assert_eq!(
        ops(&call)[3..],
        ["replace /recipe/steps/0", "add /recipe/steps/-"]
    );
    call.push(r#"t"]}}"#, 100);
    call.finish();
    assert_eq!(call.readers["recipe"]["steps"], json!(["boil", "eat"]));
}

#[test]
fn an_empty_beginning_waits_for_its_first_content() {
    let mut call = Call::new([("recipe", "recipe")], json!({"recipe": "old"}));
    call.push(r#"{"recipe": {"title": ""#, 1);
    assert_eq!(call.readers, json!({"recipe": "old"}));
    call.push("P", 1);
    assert_eq!(call.readers, json!({"recipe": {"title": "P"}}));
}

#[test]
fn an_empty_value_is_shown_when_it_is_complete() {
    let mut call = Call::new([("list", "list")], json!({"list": [1]}));
    call.push(r#"{"list": []"#, 1);
    assert_eq!(call.readers, json!({"list": []}));
}

#[test]
fn all_arguments_grow_under_one_key() {
    let arguments = json!({"title": "Memo", "content": "Hi all", "meta": {"tags": ["a", "b"]}});
    let call = run([("document", "*")], json!({}), &arguments);
    assert_eq!(call.readers, json!({"document": arguments}));
    assert!(call.patches.len() >= 4, "{:?}", ops(&call));
}

#[test]
fn several_keys_are_fed_by_one_call() {
    let arguments = json!({"a": {"text": "one"}, "skip": [1, 2], "b": ["two"]});
    let mappings = [("x", "a"), ("y", "b"), ("all", "*"), ("never", "missing")];
    let call = run(mappings, json!({"y": 0}), &arguments);
    assert_eq!(
        call.readers,
        json!({"y": ["two"], "all": arguments, "x": {"text": "one"}})
    );
    assert_eq!(call.projection.value_for("y"), Some(&json!(["two"])));
    assert_eq!(call.projection.value_for("never"), None);
    let keys: Vec<_> = call.projection.values().map(|(key, _)| key).collect();
    assert_eq!(keys, ["x", "y", "all"]);
}

#[test]
fn only_the_argument_itself_is_shown_and_no_inner_one_of_its_name() {
    let arguments = json!({"meta": {"doc": "inner", "list": [{"doc": 1}]}, "doc": "outer"});
    let mut call = Call::new([("doc", "doc")], json!({}));
    for byte in arguments.to_string().chars() {
        call.push(&byte.to_string(), 1);
        let shown = call.readers.get("doc").and_then(Value::as_str);
        assert!("outer".starts_with(shown.unwrap_or_default()));
    }
    assert_eq!(call.readers, json!({"doc": "outer"}));
}

#[test]
fn of_two_mappings_to_a_key_the_later_counts() {
    let call = run(
        [("k", "a"), ("k", "b")],
        json!({}),
        &json!({"a": 1, "b": 2}),
    );
    assert_eq!(call.readers, json!({"k": 2}));
}

#[test]
fn keys_with_slashes_and_tildes_are_escaped() {
    let arguments = json!({"a/b": {"c~d": "text", "e/f~g": [["deep"], {"~": {"/": "x"}}]}});
    let call = run([("k/e~y", "a/b")], json!({}), &arguments);
    assert_eq!(call.readers, json!({"k/e~y": arguments["a/b"]}));
    assert!(ops(&call)[0].ends_with("/k~1e~0y"));
}

#[test]
fn values_that_readers_hold_already_are_not_sent() {
    let held = json!({"n": 3, "flag": null, "recipe": {"title": "Pasta"}});
    let call = run(
        [("n", "n"), ("flag", "f")],
        held.clone(),
        &json!({"n": 3, "f": null}),
    );
    assert!(call.patches.is_empty(), "{:?}", call.patches);
    assert!(call.projection.is_settled());

    let mut call = Call::new([("recipe", "*")], held);
    call.push(r#"{"title": "Pasta"}"#, 100);
    call.finish();
    assert!(call.patches.is_empty());
}

#[test]
fn broken_arguments_stop_the_projection_and_what_was_shown_stays() {
    let mut call = Call::new([("doc", "doc")], json!({}));
    call.push(r#"{"doc": "shown", }"#, 2);
    assert_eq!(call.readers, json!({"doc": "shown"}));
    assert!(call.projection.error().is_some());
    assert_eq!(call.projection.push("more"), None);
    assert_eq!(call.projection.finish(), None);
    assert!(!call.projection.is_settled());
    assert!(call.projection.into_arguments().is_err());
}

#[test]
fn arguments_that_end_early_are_not_settled() {
    let mut call = Call::new([("doc", "doc")], json!({}));
    call.push(r#"{"doc": "cut sh"#, 100);
    call.finish();
    assert!(call.projection.error().unwrap().is_early_end());
    assert!(!call.projection.is_settled());
    assert_eq!(call.readers, json!({"doc": "cut sh"}));
}

#[test]
fn blank_arguments_count_as_an_empty_object() {
    let mut call = Call::new([("all", "*"), ("one", "one")], json!({"one": 1}));
    call.push(" \n", 1);
    call.finish();
    assert!(call.projection.is_settled());
    assert_eq!(call.readers, json!({"one": 1, "all": {}}));
    assert_eq!(call.projection.into_arguments(), Ok(json!({})));
}

#[test]
fn equal_keys_are_shown_with_the_last_value() {
    let text = r#"{"a": {"x": "first", "y": [1], "x": {"deep": "second", "deep": "third"}, "z": 1},
                   "b": "one", "a": {"x": "again", "w": "text", "w": [true, "more"]}, "b": "two"}"#;
    let last: Value = serde_json::from_str(text).unwrap();
    for size in [1, 2, 3, 7, 50, 500] {
        let mut call = Call::new([("a", "a"), ("all", "*"), ("b", "b")], json!({}));
        call.push(text, size);
        call.finish();
        assert_eq!(
            call.readers,
            json!({"a": last["a"], "all": last, "b": "two"})
        );
    }
}

#[test]
fn many_small_elements_are_not_told_one_by_one() {
    let numbers: Value = (0..10_000).collect();
    let call = run(
        [("numbers", "numbers")],
        json!({}),
        &json!({"numbers": numbers}),
    );
    assert_eq!(call.readers["numbers"], numbers);
    let told: usize = call.patches.iter().map(|patch| patch.len()).sum();
    assert!(told < 200, "{told} operations");
    assert!(call.patches.len() > 15, "{} patches", call.patches.len());
}

#[test]
fn a_released_key_is_shown_by_the_other_call() {
    let mut first = Call::new([("doc", "doc"), ("n", "n")], json!({}));
    first.push(r#"{"doc": ["one", "tw"#, 3);
    let mut second = Call::new([("doc", "doc")], first.readers.clone());
    first.projection.release("doc");
    second.push(r#"{"doc": "text"}"#, 3);
    second.finish();
    first.readers = second.readers;
    first.push(r#"o"], "n": 1}"#, 3);
    first.finish();
    assert_eq!(first.readers, json!({"doc": "text", "n": 1}));
    assert_eq!(first.projection.keys().collect::<Vec<_>>(), ["n"]);
}

#[test]
fn a_short_recipe_is_shown_in_many_steps() {
    let arguments = json!({"recipe": {
        "title": "Pasta with tomatoes", "serves": 4,
        "ingredients": [{"name": "pasta", "grams": 500}, {"name": "tomatoes", "grams": 800}],
        "steps": ["Boil the pasta", "Add the tomatoes", "Eat together"],
    }});
    let text = arguments.to_string();
    assert!((180..220).contains(&text.len()), "{}", text.len());
    let call = run([("recipe", "recipe")], json!({"recipe": {}}), &arguments);
    assert!(call.patches.len() >= 10, "{} patches", call.patches.len());
}
