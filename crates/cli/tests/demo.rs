//! The demo's agents, played through the binary.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use antiphon::state::Patch;
use serde_json::{Value, json};
use support::{Home, Server, input, of, outline, text};

fn demo() -> Server {
    Home::new().serve(&["demo", "--listen", "127.0.0.1:0", "--store", "memory"])
}

/// Applies the state events of a run, each of which must apply, and gives back every state on the way.
fn states(events: &[Value], mut held: Value) -> Vec<Value> {
    let mut states = Vec::new();
    for event in events {
        match event["type"].as_str().unwrap() {
            "STATE_SNAPSHOT" => held = event["snapshot"].clone(),
            "STATE_DELTA" => {
                let patch: Patch = serde_json::from_value(event["delta"].clone()).unwrap();
                patch.apply(&mut held).unwrap();
            }
            _ => continue,
        }
        states.push(held.clone());
    }
    states
}

/// The arguments of the last call of a tool.
fn arguments(events: &[Value], tool: &str) -> Value {
    let start = of(events, "TOOL_CALL_START");
    let start = start
        .iter()
        .rfind(|event| event["toolCallName"] == tool)
        .unwrap();
    let pieces = of(events, "TOOL_CALL_ARGS").into_iter();
    let pieces = pieces.filter(|event| event["toolCallId"] == start["toolCallId"]);
    let whole: String = pieces
        .map(|event| event["delta"].as_str().unwrap())
        .collect();
    serde_json::from_str(&whole).unwrap()
}

/// Whether a value can grow into another: strings and lists by their ends, objects by members.
fn grows_into(small: &Value, large: &Value) -> bool {
    match (small, large) {
        (Value::String(small), Value::String(large)) => large.starts_with(small.as_str()),
        (Value::Array(small), Value::Array(large)) => {
            small.len() <= large.len() && small.iter().zip(large).all(|(s, l)| grows_into(s, l))
        }
        (Value::Object(small), Value::Object(large)) => small
            .iter()
            .all(|(key, s)| large.get(key).is_some_and(|l| grows_into(s, l))),
        (small, large) => small == large,
    }
}

fn answers(events: &[Value], result: &Value) -> Vec<Value> {
    let calls = of(events, "TOOL_CALL_START").into_iter();
    calls
        .map(|call| {
            let id = call["toolCallId"].as_str().unwrap();
            json!({ "id": format!("answer-{id}"), "role": "tool", "toolCallId": id, "content": result.to_string() })
        })
        .collect()
}

#[tokio::test]
async fn a_recipe_grows_in_legal_deltas_and_is_changed_by_the_next_turn() {
    let demo = demo();
    let first = demo
        .run("recipe", input("t", "r1", Some("Make me a carbonara")))
        .await;
    let predicted = &of(&first, "CUSTOM")[0];
    assert_eq!(predicted["name"], "PredictState");
    assert_eq!(
        predicted["value"],
        json!([{ "state_key": "recipe", "tool": "update_recipe", "tool_argument": "recipe" }])
    );
    let written = arguments(&first, "update_recipe")["recipe"].clone();
    let states = states(&first, json!({}));
    assert!(states.len() > 10, "only {} states", states.len());
    for state in &states {
        assert!(grows_into(&state["recipe"], &written), "{state}");
    }
    assert_eq!(states.last().unwrap()["recipe"], written);
    assert_eq!(text(&first), "Here's your recipe!");
    assert_eq!(
        of(&first, "TOOL_CALL_RESULT")[0]["content"],
        "Recipe updated."
    );
    assert_eq!(first.last().unwrap()["type"], "RUN_FINISHED");

    let mut second = input("t", "r2", Some("Make it vegetarian"));
    second["state"] = json!({ "recipe": written });
    let second = demo.run("recipe", second).await;
    let changed = arguments(&second, "update_recipe")["recipe"].clone();
    assert_ne!(changed, written);
    let states = self::states(&second, json!({ "recipe": written }));
    assert_eq!(states.last().unwrap()["recipe"], changed);
}

#[tokio::test]
async fn a_plan_comes_as_a_snapshot_and_advances_in_deltas() {
    let demo = demo();
    let run = demo
        .run("plan", input("t", "r", Some("Plan a trip to Mars")))
        .await;
    let snapshot = &of(&run, "STATE_SNAPSHOT")[0]["snapshot"];
    assert_eq!(snapshot["steps"].as_array().unwrap().len(), 5);
    assert!(
        snapshot["steps"]
            .as_array()
            .unwrap()
            .iter()
            .all(|step| step["status"] == "pending")
    );
    assert_eq!(of(&run, "STATE_DELTA").len(), 5);
    let done = states(&run, json!({})).pop().unwrap();
    assert!(
        done["steps"]
            .as_array()
            .unwrap()
            .iter()
            .all(|step| step["status"] == "completed")
    );
    assert_eq!(of(&run, "TOOL_CALL_RESULT").len(), 6);
}

#[tokio::test]
async fn one_long_string_and_all_arguments_are_predicted() {
    let demo = demo();
    for (agent, asks, tool, argument) in [
        (
            "document",
            "Write a story",
            "write_document",
            Some("document"),
        ),
        ("report", "Write a report", "create_document", None),
    ] {
        let run = demo.run(agent, input(agent, "r", Some(asks))).await;
        let arguments = arguments(&run, tool);
        let written = argument.map_or(&arguments, |name| &arguments[name]);
        let states = states(&run, json!({}));
        assert!(states.len() > 3, "{agent}: {} states", states.len());
        assert!(
            states
                .iter()
                .all(|state| grows_into(&state["document"], written)),
            "{agent}"
        );
        assert_eq!(&states.last().unwrap()["document"], written, "{agent}");
    }
}

#[tokio::test]
async fn the_chat_counts_down_and_uses_the_tools_of_page_and_server() {
    let demo = demo();
    let run = demo
        .run("agentic_chat", input("t1", "r", Some("Hey there")))
        .await;
    let types = [
        "RUN_STARTED",
        "TEXT_MESSAGE_START",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_END",
        "RUN_FINISHED",
    ];
    assert_eq!(outline(&run), types);
    assert!(text(&run).contains("counting down: 10 9 8 7 6 5 4 3 2 1 ✓"));

    let mut asks = input("t2", "r1", Some("tool"));
    asks["tools"] = json!([{ "name": "change_background", "description": "", "parameters": { "type": "object" } }]);
    let run = demo.run("agentic_chat", asks.clone()).await;
    let types = [
        "RUN_STARTED",
        "TOOL_CALL_START",
        "TOOL_CALL_ARGS",
        "TOOL_CALL_END",
        "RUN_FINISHED",
    ];
    assert_eq!(outline(&run), types);
    assert!(
        !arguments(&run, "change_background")["background"]
            .as_str()
            .unwrap()
            .is_empty()
    );
    asks["runId"] = "r2".into();
    asks["messages"] = answers(&run, &json!({ "status": "success" })).into();
    assert!(text(&demo.run("agentic_chat", asks).await).contains("background is changed"));

    let run = demo
        .run(
            "backend_tool_rendering",
            input("t3", "r", Some("What's the weather in Tokyo?")),
        )
        .await;
    let weather = of(&run, "TOOL_CALL_RESULT")[0]["content"].as_str().unwrap();
    let weather: Value = serde_json::from_str(weather).unwrap();
    assert_eq!(weather["city"], "Tokyo");
    assert!(weather["temperature"].is_number() && weather["conditions"].is_string());
}

#[tokio::test]
async fn a_person_chooses_steps_and_may_refuse_them() {
    let demo = demo();
    for (thread, accepted, says) in [
        ("t1", true, "Ok! I'm working on it."),
        ("t2", false, "Ok! What should I do differently?"),
    ] {
        let mut asks = input(thread, "r1", Some("Hi"));
        asks["tools"] = json!([{ "name": "generate_task_steps", "description": "", "parameters": { "type": "object" } }]);
        let run = demo.run("human_in_the_loop", asks.clone()).await;
        assert_eq!(
            run.last().unwrap()["outcome"]["pendingToolCallIds"]
                .as_array()
                .unwrap()
                .len(),
            1
        );
        assert_eq!(
            arguments(&run, "generate_task_steps")["steps"][0]["status"],
            "enabled"
        );
        asks["runId"] = "r2".into();
        asks["messages"] = answers(&run, &json!({ "accepted": accepted, "steps": [] })).into();
        assert_eq!(text(&demo.run("human_in_the_loop", asks).await), says);
    }
    let alone = demo
        .run("human_in_the_loop", input("t3", "r", Some("Hi")))
        .await;
    assert!(text(&alone).contains("does not offer"));
}

#[tokio::test]
async fn pages_see_what_they_want_and_no_more() {
    let demo = demo();
    let run = demo
        .run(
            "agentic_generative_ui",
            input("t1", "r", Some("Build a plan to go to mars in 5 steps")),
        )
        .await;
    assert_eq!(
        outline(&run),
        [
            "RUN_STARTED",
            "STATE_SNAPSHOT",
            "STATE_DELTA",
            "TEXT_MESSAGE_START",
            "TEXT_MESSAGE_CONTENT",
            "TEXT_MESSAGE_END",
            "RUN_FINISHED"
        ]
    );

    let mut asks = input("t2", "r", Some("Give me all the ingredients"));
    asks["state"] = json!({ "recipe": { "title": "Make Your Recipe" } });
    let run = demo.run("shared_state", asks).await;
    let recipe = &of(&run, "STATE_SNAPSHOT").pop().unwrap()["snapshot"]["recipe"];
    assert_eq!(recipe["instructions"].as_array().unwrap().len(), 3);
    assert!(
        recipe["ingredients"]
            .as_array()
            .unwrap()
            .iter()
            .any(|i| i["name"] == "Salt")
    );

    let mut asks = input("t3", "r1", Some("Write a story"));
    let run = demo.run("predictive_state_updates", asks.clone()).await;
    let types = [
        "RUN_STARTED",
        "CUSTOM",
        "TOOL_CALL_START",
        "TOOL_CALL_ARGS",
        "TOOL_CALL_END",
        "TOOL_CALL_START",
        "TOOL_CALL_ARGS",
        "TOOL_CALL_END",
        "RUN_FINISHED",
    ];
    assert_eq!(outline(&run), types);
    asks["runId"] = "r2".into();
    asks["messages"] = answers(&run, &json!({ "accepted": true })).into();
    let confirmed = demo.run("predictive_state_updates", asks).await;
    assert_eq!(text(&confirmed), "Ok!");
    let state = states(&confirmed, json!({})).pop().unwrap();
    assert_eq!(
        state["document"],
        arguments(&run, "write_document")["document"]
    );

    let mut asks = input("t4", "r", Some("Generate Haiku for \"I will always win\""));
    asks["tools"] = json!([{ "name": "generate_haiku", "description": "", "parameters": { "type": "object" } }]);
    let run = demo.run("tool_based_generative_ui", asks).await;
    assert_eq!(
        arguments(&run, "generate_haiku")["japanese"],
        json!(["エーアイの", "橋つなぐ道", "コパキット"])
    );
}

#[tokio::test]
async fn a_plain_page_lists_the_agents_and_loads_nothing_from_elsewhere() {
    let demo = demo();
    let answer = demo.get("/curl").await;
    assert_eq!(answer.status(), 200);
    let policy = answer.headers()["content-security-policy"]
        .to_str()
        .unwrap()
        .to_owned();
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
    let page = answer.text().await.unwrap();
    for agent in [
        "recipe",
        "plan",
        "document",
        "report",
        "agentic_chat",
        "shared_state",
    ] {
        assert!(
            page.contains(&format!("curl -N {}/agents/{agent}", demo.url)),
            "{agent}"
        );
    }
    assert!(!page.contains("<script") && !page.contains(" style="));
    assert!(page.contains("stand-in that plays fixed turns"));
    let style = demo.get("/demo.css").await;
    assert_eq!(style.headers()["content-type"], "text/css; charset=utf-8");
    let (status, body) = demo.post("/", &input("t", "r", Some("Hello"))).await;
    assert_eq!(status, 200);
    assert!(text(&support::events(&body)).contains("I write recipes"));
}

#[tokio::test]
async fn a_restarted_demo_goes_on_where_it_was() {
    let home = Home::new();
    let args = ["demo", "--listen", "127.0.0.1:0"];
    let demo = home.serve(&args);
    demo.run("recipe", input("t", "r1", Some("Make me a carbonara")))
        .await;
    assert_eq!(demo.signal("TERM").code, Some(0));
    assert!(home.path().join(".local/share/antiphon/demo.db").exists());
    let demo = home.serve(&args);
    let opened = demo.run("recipe", input("t", "r2", None)).await;
    let state = &of(&opened, "STATE_SNAPSHOT")[0]["snapshot"];
    assert_eq!(state["recipe"]["title"], "Classic Pasta Carbonara");

    let elsewhere = home.path().join("data");
    let mut command = home.command(&args);
    command.env("XDG_DATA_HOME", &elsewhere);
    drop(Server::start(command));
    assert!(elsewhere.join("antiphon/demo.db").exists());
}

#[tokio::test]
async fn with_a_key_the_same_agents_call_the_real_model() {
    let home = Home::new();
    let mut command = home.command(&["demo", "--listen", "127.0.0.1:0", "--store", "memory"]);
    command
        .env("OPENAI_API_KEY", "a-key")
        .env("OPENAI_BASE_URL", "http://127.0.0.1:9/v1");
    let demo = Server::start(command);
    let page = demo.get("/curl").await.text().await.unwrap();
    assert!(
        page.contains("openai/gpt-5-mini") && !page.contains("fixed script"),
        "{page}"
    );
    let list: Value = demo.get("/agents").await.json().await.unwrap();
    assert!(!list.to_string().contains("fixed script"), "{list}");
}

#[tokio::test]
async fn the_page_is_served_with_its_assets_under_a_strict_policy() {
    let demo = demo();
    let answer = demo.get("/").await;
    let policy = answer.headers()["content-security-policy"]
        .to_str()
        .unwrap()
        .to_owned();
    assert!(
        policy.contains("require-trusted-types-for 'script'"),
        "{policy}"
    );
    let page = answer.text().await.unwrap();
    let script = page
        .split("src=\"./")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .unwrap();
    let script = demo.get(&format!("/{script}")).await;
    assert_eq!(
        script.headers()["content-type"],
        "text/javascript; charset=utf-8"
    );
    assert_eq!(demo.get("/assets/nothing.js").await.status(), 404);
}
