//! Starting: what is wrong with an agent file or its surroundings is said with place and remedy.

use std::net::TcpListener;

use antiphon_e2e::{
    binary::{Ended, Home},
    play::{Step, Stop},
};
use serde_json::{Value, json};

/// A good file, with room for one more line in the agent and one at the top.
fn file(top: &str, agent: &str) -> String {
    format!(
        "{top}agents:
  recipe:
    description: Recipes
    instructions: Be helpful.
    model:
      provider: openai
      name: gpt-5-mini
      base_url: http://127.0.0.1:9/v1
      api_key: none
{agent}"
    )
}

async fn serve(text: &str, args: &[&str]) -> Step<Ended> {
    let home = Home::new(text)?;
    Ok(home
        .run(&[&["serve", "antiphon.yaml", "--store", "memory"], args].concat())
        .await?)
}

/// The command ended with this code, printed nothing that looks ready, and said all of these.
fn expect(ended: &Ended, code: i32, says: &[&str]) -> Step {
    let said = ended.stderr.as_str();
    if ended.code != Some(code) {
        return Err(Stop::new(format!(
            "exit code {:?}, expected {code}; it said: {said}",
            ended.code
        )));
    }
    if !ended.stdout.is_empty() {
        return Err(Stop::new(format!(
            "standard output says {:?}",
            ended.stdout
        )));
    }
    let missing: Vec<_> = says.iter().filter(|w| !said.contains(**w)).collect();
    if missing.is_empty() {
        Ok(())
    } else {
        Err(Stop::new(format!("{missing:?} is not in: {said}")))
    }
}

#[tokio::test]
async fn an_unset_variable_is_named_with_its_key_and_place() -> Step {
    let text = file("", "").replace("api_key: none", "api_key: ${NO_SUCH_KEY}");
    let ended = serve(&text, &["--listen", "127.0.0.1:0"]).await?;
    expect(&ended, 2, &["antiphon.yaml:9:", "NO_SUCH_KEY", "api_key"])
}

#[tokio::test]
async fn a_variable_of_the_environment_or_of_dot_env_is_filled_in() -> Step {
    let text = file("", "").replace("api_key: none", "api_key: ${SOME_KEY}");
    let home = Home::new(&text)?.env("SOME_KEY", "k");
    home.serve().await?.stop().await?;
    let home = Home::new(&text)?;
    std::fs::write(home.path().join(".env"), "SOME_KEY=from-file\n")?;
    home.serve().await?.stop().await?;
    Ok(())
}

#[tokio::test]
async fn an_unknown_key_is_named_with_its_place_and_the_nearest_key() -> Step {
    let text = file("", "").replace("instructions:", "instrutions:");
    let ended = serve(&text, &["--listen", "127.0.0.1:0"]).await?;
    expect(
        &ended,
        2,
        &["antiphon.yaml:4:5", "instrutions", "instructions"],
    )
}

#[tokio::test]
async fn an_unknown_key_at_the_top_is_named() -> Step {
    let ended = serve(&file("heartbeet: 15s\n", ""), &["--listen", "127.0.0.1:0"]).await?;
    expect(&ended, 2, &["antiphon.yaml:1:1", "heartbeet", "heartbeat"])
}

#[tokio::test]
async fn wrong_values_are_named_with_their_place() -> Step {
    let table = [
        (
            file("heartbeat: soon\n", ""),
            &["antiphon.yaml:1:", "heartbeat"][..],
        ),
        (
            file("", "    on_disconnect: maybe\n"),
            &["antiphon.yaml:10:", "cancel", "detach"],
        ),
        (
            file("", "    max_turns: many\n"),
            &["antiphon.yaml:10:", "max_turns"],
        ),
        (
            file(
                "",
                "    tools:\n      - { name: both, returns: 1, fails: no }\n",
            ),
            &["antiphon.yaml:11:", "both"],
        ),
        (
            file("", "    tools:\n      - { name: neither }\n"),
            &["antiphon.yaml:11:", "neither"],
        ),
        (file("default_agent: nobody\n", ""), &["nobody", "recipe"]),
        (
            file("", "").replace("provider: openai", "provider: openia"),
            &["antiphon.yaml:6:", "openia", "openai"],
        ),
        ("agents: [\n".to_owned(), &["antiphon.yaml"]),
        ("agents: {}\n".to_owned(), &["antiphon.yaml", "agent"]),
    ];
    for (text, says) in table {
        let ended = serve(&text, &["--listen", "127.0.0.1:0"]).await?;
        expect(&ended, 2, says).map_err(|stop| Stop::new(format!("{stop}\nfile:\n{text}")))?;
    }
    Ok(())
}

#[tokio::test]
async fn a_missing_file_is_named() -> Step {
    let home = Home::new("")?;
    let ended = home.run(&["serve", "nowhere.yaml"]).await?;
    expect(&ended, 2, &["nowhere.yaml"])
}

#[tokio::test]
async fn a_wrong_option_is_wrong_usage() -> Step {
    let home = Home::new(&file("", ""))?;
    let ended = home
        .run(&["serve", "antiphon.yaml", "--no-such-option"])
        .await?;
    expect(&ended, 2, &["--no-such-option"])
}

#[tokio::test]
async fn a_taken_port_is_named_with_a_way_out() -> Step {
    let taken = TcpListener::bind("127.0.0.1:0")?;
    let addr = taken.local_addr()?.to_string();
    let ended = serve(&file("", ""), &["--listen", &addr]).await?;
    expect(&ended, 1, &[&addr, "--listen"])
}

#[tokio::test]
async fn an_address_that_others_reach_needs_auth() -> Step {
    let ended = serve(&file("", ""), &["--listen", "0.0.0.0:0"]).await?;
    expect(&ended, 2, &["auth", "0.0.0.0"])?;
    let ended = serve(&file("listen: 0.0.0.0:0\n", ""), &[]).await?;
    expect(&ended, 2, &["auth", "0.0.0.0"])
}

#[tokio::test]
async fn the_file_may_be_json() -> Step {
    let text = json!({"agents": {"one": {"model": {"provider": "script", "name": "x"}}}});
    let home = Home::new(&text.to_string())?;
    let mut server = home.serve().await?;
    server.stop().await?;
    Ok(())
}

#[tokio::test]
async fn the_schema_takes_a_good_file_and_refuses_a_bad_one() -> Step {
    let home = Home::new("")?;
    let ended = home.run(&["schema"]).await?;
    if ended.code != Some(0) {
        return Err(Stop::new(format!(
            "exit code {:?}: {}",
            ended.code, ended.stderr
        )));
    }
    let schema: Value = serde_json::from_str(&ended.stdout)?;
    let schema = jsonschema::validator_for(&schema).map_err(|e| Stop::new(e.to_string()))?;
    let agent = |tool: Value| {
        json!({"listen": "127.0.0.1:8888", "agents": {"recipe": {
            "instructions": "Be helpful.",
            "model": {"provider": "openai", "name": "gpt-5-mini", "parameters": {"temperature": 0.2}},
            "state": {"schema": {"recipe": {"type": "object"}}, "predict": [{"state_key": "recipe", "tool": "update_recipe", "tool_argument": "recipe"}]},
            "tools": [tool],
        }}})
    };
    let good = agent(
        json!({"name": "update_recipe", "description": "d", "parameters": {"type": "object"}, "returns": "Updated."}),
    );
    if let Err(error) = schema.validate(&good) {
        return Err(Stop::new(format!(
            "a good file is refused: {error} at {}",
            error.instance_path()
        )));
    }
    let mut unknown = good.clone();
    unknown["agents"]["recipe"]["instrutions"] = json!("x");
    let mut wrong = good;
    wrong["agents"]["recipe"]["model"]["provider"] = json!("openia");
    for bad in [unknown, wrong, agent(json!({"description": "no name"}))] {
        if schema.is_valid(&bad) {
            return Err(Stop::new(format!("a bad file is accepted: {bad}")));
        }
    }
    Ok(())
}
