//! Whole files: what is taken, and what each mistake is called.

use super::*;
use crate::agents::{ModelChoice, agents, built};

/// A good file; lines are added at its three levels.
fn file(top: &str, agent: &str, tool: &str) -> String {
    format!(
        "agents:
  recipe:
    model: {{ provider: script }}
    state:
      schema: {{ recipe: {{ type: object }} }}
{agent}    tools:
      - name: update_recipe
        parameters: {{ type: object, properties: {{ recipe: {{ type: object }} }} }}
{tool}{top}"
    )
}

const RETURNS: &str = "        returns: ok\n";

fn load(text: &str) -> Result<AgentFile, String> {
    let variables = Variables::of(&[
        ("KEY", "very-secret"),
        ("WORD", "very-secret-word"),
        ("EMPTY", ""),
        ("LINES", "very-secret\nline"),
    ]);
    let file = AgentFile::parse(Path::new("a.yaml"), text, &variables)
        .map_err(|error| error.to_string())?;
    let agents = agents(&file, &variables, &ModelChoice::AsWritten);
    agents
        .and_then(|agents| built(&file, agents))
        .map_err(|error| error.to_string())?;
    Ok(file)
}

#[track_caller]
fn refused(text: &str, expected: &str) {
    let Err(error) = load(text) else {
        panic!("taken:\n{text}")
    };
    assert!(
        error.contains(expected),
        "{error:?} is not {expected:?}, for:\n{text}"
    );
    assert!(!error.contains("very-secret"), "{error}");
}

#[test]
fn a_file_with_every_key_is_taken() {
    let text = include_str!("../../tests/fixtures/every-key.yaml");
    let file = load(text).unwrap();
    let agents = &file.document.agents.0;
    assert_eq!(agents[0].0, "recipe");
    assert_eq!(agents.len(), 3);
    assert_eq!(file.document.cors, ["http://localhost:3000"]);
    let tools: Vec<_> = agents[0]
        .1
        .tools
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    assert_eq!(tools.len(), 7);
}

#[test]
fn unknown_keys_are_named_with_the_nearest() {
    for (text, expected) in [
        (
            file("heartbeet: 15s\n", "", RETURNS),
            "a.yaml:10:1: unknown key \"heartbeet\" (did you mean \"heartbeat\"?)",
        ),
        (
            file("", "    instrutions: x\n", RETURNS),
            "a.yaml:6:5: agents.recipe: unknown key \"instrutions\" (did you mean \"instructions\"?)",
        ),
        (
            file("", "", "        return: ok\n"),
            "a.yaml:9:9: agents.recipe.tools[0]: unknown key \"return\" (did you mean \"returns\"?)",
        ),
        (
            file("", "", "        http: { verb: GET, url: 'http://x' }\n"),
            "agents.recipe.tools[0].http: unknown key \"verb\"; the keys here are method, url",
        ),
        (
            file("", "    model: { provider: openia }\n", RETURNS).replacen(
                "    model: { provider: script }\n",
                "",
                1,
            ),
            "a.yaml:5:24: agents.recipe.model.provider: \"openia\" is none of openai,",
        ),
    ] {
        refused(&text, expected);
    }
}

#[test]
fn wrong_values_say_what_was_expected() {
    for (text, expected) in [
        (
            file("heartbeat: soon\n", "", RETURNS),
            "10:12: heartbeat: expected a duration",
        ),
        (
            file("heartbeat: 10\n", "", RETURNS),
            "heartbeat: expected a duration above 0 such as",
        ),
        (
            file("heartbeat: 1ms\n", "", RETURNS),
            "heartbeat: expected at least 100ms",
        ),
        (
            file("limits: { body: lots }\n", "", RETURNS),
            "limits.body: expected a size such as",
        ),
        (
            file("limits: { body: 0 }\n", "", RETURNS),
            "10:17: limits.body: expected a size such as 64KiB, 4MiB or 1048576, at least 1 byte",
        ),
        (
            file("limits: { state: 0KiB }\n", "", RETURNS),
            "limits.state: expected a size such as 64KiB, 4MiB or 1048576, at least 1 byte",
        ),
        (
            file("limits: { messages: 0 }\n", "", RETURNS),
            "limits.messages: expected a whole number of at least 1",
        ),
        (
            file("limits: { json_depth: 129 }\n", "", RETURNS),
            "limits.json_depth: expected at most 128",
        ),
        (
            file("", "    max_turns: many\n", RETURNS),
            "6:16: agents.recipe.max_turns: expected a whole number",
        ),
        (
            file("", "    max_turns: 99999999999\n", RETURNS),
            "6:16: agents.recipe.max_turns: expected a whole number from 1 to 4294967295",
        ),
        (
            file("", "    max_turns: 0\n", RETURNS),
            "agents.recipe.max_turns: expected a whole number from 1 to 4294967295",
        ),
        (
            file("listen: foo\n", "", RETURNS),
            "a.yaml:10:1: listen: the port is missing; write it as HOST:PORT, such as 127.0.0.1:8888",
        ),
        (
            file("listen: 127.0.0.1:99999\n", "", RETURNS),
            "a.yaml:10:1: listen: the port is no number from 0 to 65535; write it as HOST:PORT",
        ),
        (
            file("listen: ''\n", "", RETURNS),
            "a.yaml:10:1: listen: the address is empty; write it as HOST:PORT",
        ),
        (
            file("", "    on_disconnect: maybe\n", RETURNS),
            "\"maybe\" is none of cancel or detach",
        ),
        (
            file("", "    description: 7\n", RETURNS),
            "expected text, found a number; put it in quotes",
        ),
        (
            file("", "", "        returns: 1\n        timeout: 0s\n"),
            "timeout: expected a duration above 0",
        ),
        (
            file("", "", "        returns: 1\n        approval: sometimes\n"),
            "approval: expected true, false, or a mapping",
        ),
        (
            file(
                "",
                "",
                "        returns: 1\n        approval: { massage: x }\n",
            ),
            "approval: unknown key \"massage\" (did you mean \"message\"?)",
        ),
        (
            file("cors: ['*']\n", "", RETURNS),
            "cors[0]: expected an origin",
        ),
        (
            file("cors: ['http://a/b']\n", "", RETURNS),
            "cors[0]: expected an origin",
        ),
        (
            file("namespace: a b\n", "", RETURNS),
            "namespace: a name is",
        ),
        (
            "agents: {}\n".to_owned(),
            "a.yaml:1:1: agents: at least one agent is needed",
        ),
        ("{}".to_owned(), "the key \"agents\" is missing"),
        ("agents: [\n".to_owned(), "not readable as YAML"),
        (
            "agents: { 'a/b': { model: { provider: script } } }".to_owned(),
            "agents.a/b: a name is",
        ),
        (
            "agents: { a: {} }".to_owned(),
            "agents.a: the key \"model\" is missing",
        ),
        (
            "agents: { a: { model: { provider: openai, api_key: x } } }".to_owned(),
            "agents.a.model: the key \"name\" is missing",
        ),
        (
            "agents: { a: { model: { provider: openai, name: m, base_url: 'ftp://x' } } }"
                .to_owned(),
            "agents.a.model.base_url: the model's base_url is no http or https url",
        ),
        (
            "agents: { a: { model: { provider: openai, name: m } } }".to_owned(),
            "agents.a.model.api_key: no key is given; set the variable OPENAI_API_KEY",
        ),
    ] {
        refused(&text, expected);
    }
}

#[test]
fn names_must_exist() {
    let state =
        |lines: &str| file("", "", RETURNS).replace("    tools:", &format!("{lines}    tools:"));
    for (text, expected) in [
        (
            state(
                "      predict: [{ state_key: recipe, tool: update_recipe, tool_argument: recpie }]\n",
            ),
            "agents.recipe.state.predict[0]: tool \"update_recipe\" has no argument \"recpie\" (did you mean \"recipe\"?)",
        ),
        (
            state(
                "      predict: [{ state_key: recipe, tool: updaterecipe, tool_argument: recipe }]\n",
            ),
            "a.yaml:6:17: agents.recipe.state.predict[0]: there is no tool \"updaterecipe\" (did you mean \"update_recipe\"?)",
        ),
        (
            state(
                "      calls: [{ state_key: recipes, tool: update_recipe, tool_argument: '*' }]\n",
            ),
            "state.calls[0].state_key: state.schema has no key \"recipes\" (did you mean \"recipe\"?)",
        ),
        (
            state("      results: [{ tool: nothing, as: delta }]\n"),
            "agents.recipe.state.results[0]: there is no tool \"nothing\"",
        ),
        (
            state("      initial: { _hidden: 1 }\n"),
            "state.initial._hidden: \"_hidden\" begins with \"_\"",
        ),
        (
            state("      initial: { recipe: 7 }\n"),
            "a.yaml:6:7: agents.recipe.state.initial: /recipe: value is not of type \"object\"",
        ),
        (
            file("default_agent: nobody\n", "", RETURNS),
            "10:1: default_agent: there is no agent \"nobody\"; there is recipe",
        ),
        (
            file(
                "",
                "",
                "        returns: 1\n        approval: { message: 'Do {recipy}?' }\n",
            ),
            "tools[0].approval.message: tool \"update_recipe\" has no argument \"recipy\" (did you mean \"recipe\"?)",
        ),
        (
            file("", "", "        http: { url: 'http://x/{recipy}' }\n"),
            "tools[0].http.url: tool \"update_recipe\" has no argument \"recipy\"",
        ),
        (
            file(
                "",
                "",
                "        http: { url: 'http://x/', headers: { a: b, X-Q: '{recipy}' } }\n",
            ),
            "a.yaml:9:52: agents.recipe.tools[0].http.headers.X-Q: tool \"update_recipe\" has no argument \"recipy\" (did",
        ),
        (
            file(
                "",
                "",
                "        http: { url: 'http://x/', body: { a: '{none}' } }\n",
            ),
            "tools[0].http.body: tool \"update_recipe\" has no argument \"none\"",
        ),
    ] {
        refused(&text, expected);
    }
}

#[test]
fn a_tool_has_exactly_one_worker() {
    refused(
        &file("", "", "        returns: 1\n        fails: no\n"),
        "a.yaml:7:9: agents.recipe.tools[0]: tool \"update_recipe\" has returns and fails; exactly one of",
    );
    refused(
        &file("", "", ""),
        "tool \"update_recipe\" needs one of returns, fails, http,",
    );
    let twice = file(
        "",
        "",
        "        returns: 1\n      - { name: update_recipe, returns: 2 }\n",
    );
    refused(
        &twice,
        "a.yaml:10:11: agents.recipe.tools[1].name: the tool \"update_recipe\" is declared twice",
    );
    load(&file("", "", "        returns: null\n")).unwrap();
}

#[test]
fn what_this_build_lacks_is_said_and_not_ignored() {
    for (text, expected) in [
        (
            file("bus: 'nats://x'\n", "", RETURNS),
            "10:1: bus: a NATS bus is not supported yet by this build",
        ),
        (
            file("", "    mcp: []\n", RETURNS),
            "a.yaml:6:5: agents.recipe.mcp: \"mcp\" is not supported yet",
        ),
        (
            "agents: { a: { graph: {} } }".to_owned(),
            "agents.a.graph: \"graph\" is not supported yet",
        ),
        (
            "agents: { a: { remote: {} } }".to_owned(),
            "agents.a.remote: \"remote\" is not supported yet",
        ),
        (
            "agents: { a: { model: { provider: anthropic, name: x } } }".to_owned(),
            "agents.a.model.provider: this provider is not supported yet",
        ),
    ] {
        refused(&text, expected);
        assert!(!load(&text).unwrap_err().contains("missing"), "{text}");
    }
}

#[test]
fn no_error_quotes_a_value_of_a_variable() {
    for (text, expected) in [
        (
            file("heartbeat: ${KEY}\n", "", RETURNS),
            "heartbeat: expected a duration",
        ),
        (
            file("", "    on_decline: ${WORD}\n", RETURNS),
            "the variable's value is none of continue or stop",
        ),
        (
            file("", "    max_turns: ${KEY}\n", RETURNS),
            "expected a whole number",
        ),
        (
            file(
                "auth: { tokens: [{ token: '${KEY} x', user: a }] }\n",
                "",
                RETURNS,
            ),
            "auth.tokens[0].token: expected visible",
        ),
        (
            file("", "    description: ${UNSET_HERE}\n", RETURNS),
            "a.yaml:6:18: agents.recipe.description: the variable UNSET_HERE is not set",
        ),
        (
            file("listen: ${KEY}\n", "", RETURNS),
            "a.yaml:10:1: listen: the port is missing; write it",
        ),
        (
            file("default_agent: ${KEY}\n", "", RETURNS),
            "a.yaml:10:1: default_agent: there is no agent (the variable's value); there is recipe",
        ),
        (
            file(
                "",
                "",
                "        returns: 1\n      - { name: '${WORD}', returns: 1 }\n      - { name: '${WORD}', returns: 1 }\n",
            ),
            "agents.recipe.tools[2].name: the tool (the variable's value) is declared twice",
        ),
        (
            file("", "", "        http: { url: 'http://x/{none}' }\n")
                .replace("update_recipe", "${WORD}"),
            "tools[0].http.url: tool (the variable's value) has no argument \"none\"",
        ),
    ] {
        refused(&text, expected);
    }
}

/// The value of a text once its variables are filled in, as JSON.
fn value(text: &str) -> serde_json::Value {
    let variables = Variables::of(&[("KEY", "k: {x"), ("WORD", "w, ]}"), ("N", "7")]);
    let tree = filled(text, &variables).unwrap_or_else(|problems| panic!("{text}: {problems:?}"));
    read::read(&tree).unwrap()
}

#[test]
fn variables_stand_unquoted_wherever_text_may_stand() {
    for (text, expected) in [
        (
            "{ a: ${KEY}, b: [${WORD}, x${N}y, ${KEY}${WORD}] }",
            r#"{"a": "k: {x", "b": ["w, ]}", "x7y", "k: {xw, ]}"]}"#,
        ),
        ("{a: ${KEY}}\n# not ${UNSET} } here\n", r#"{"a": "k: {x"}"#),
        ("[${N}]", r#"["7"]"#),
        ("[$${KEY}, a$${KEY}b]", r#"["${KEY}", "a${KEY}b"]"#),
        ("{ a: '${N}', b: \"${N}\\n\" }", r#"{"a": "7", "b": "7\n"}"#),
        (
            r#"{"a": ["${N}", "\ue000${N}"]}"#,
            r#"{"a": ["7", "\ue0007"]}"#,
        ),
        (
            "a: |\n  ${N} {\n  $${N}\nb: >\n  ${N}\n  x\n",
            r#"{"a": "7 {\n${N}\n", "b": "7 x\n"}"#,
        ),
        ("{ ${N}: 1 }", r#"{"${N}": 1}"#),
        ("a: ${KEY} # ${UNSET}\n", r#"{"a": "k: {x"}"#),
    ] {
        let expected: serde_json::Value = serde_json::from_str(expected).unwrap();
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn a_token_of_a_variable_needs_no_quotes() {
    let auth = "auth: { tokens: [{ token: ${KEY}, user: alice }] }\n";
    let file = load(&file(auth, "", RETURNS)).unwrap();
    use secrecy::ExposeSecret;
    let token = &file.document.auth.unwrap().tokens[0].token;
    assert_eq!(token.0.expose_secret(), "very-secret");
}

#[test]
fn variables_move_no_place() {
    refused(
        "agents: { a: { model: { provider: script, name: ${WORD}, naem: x } } }",
        "a.yaml:1:58: agents.a.model: unknown key \"naem\"",
    );
    refused(
        "agents: { a: { description: ${WORD}, instructions: ${UNSET} } }",
        "a.yaml:1:52: agents.a.instructions: the variable UNSET is not set",
    );
    refused(
        "{ a: ${WORD}, b: *${WORD} }",
        "a.yaml:1:18: not readable as YAML: ",
    );
    let error = load("{ ${WORD}: 1, ${WORD}: 2 }").unwrap_err();
    assert!(error.contains("${WORD}"), "{error}");
}

#[test]
fn a_file_that_is_no_yaml_says_what_to_do() {
    let many = format!("a: [{}]", "1,".repeat(260_000));
    let repeated = "x: &a [1]\n".to_owned() + &aliases(400);
    for (text, expected) in [
        (
            "a: 1\na: 2\n",
            "2:1: not readable as YAML: the key \"a\" is there twice; leave",
        ),
        (
            "a: 1\n---\nb: 1\n",
            "3:1: not readable as YAML: a second document begins here",
        ),
        (
            "a:\n  ~: 1\n",
            "2:3: not readable as YAML: a key is missing or null; name it",
        ),
        (
            "? [a]\n: 1\n",
            "1:3: not readable as YAML: a key must be text",
        ),
        (
            "a: *x\n",
            "1:4: not readable as YAML: no \"&\" before this names",
        ),
        (
            "a: &x [*x]\n",
            "1:8: not readable as YAML: a value can't hold itself",
        ),
        (
            "a:\n\tb: 1\n",
            "2:2: not readable as YAML: a tab stands where lines are indented",
        ),
        (
            "a: .nan\n",
            "1:4: not readable as YAML: a number must be finite",
        ),
        (
            "a: !!int x\n",
            "1:10: not readable as YAML: the value is not of the type",
        ),
        (
            "a: !!bool x\n",
            "not readable as YAML: expected true or false",
        ),
        (
            "a: !!binary x\n",
            "not readable as YAML: bytes can't stand here",
        ),
        (
            "a:\n  <<: 3\n",
            "2:7: not readable as YAML: \"<<\" takes in a mapping",
        ),
        (
            "a: b: c\n",
            "1:5: not readable as YAML: a second \": \" stands in this line",
        ),
        (
            "a: \"x\n",
            "1:4: not readable as YAML: a quote is not closed",
        ),
        (
            "a: [1\nb: 2\n",
            "2:2: not readable as YAML: a \":\" stands where none may",
        ),
        (
            "a: }\n",
            "1:4: not readable as YAML: a bracket closes what is not open",
        ),
        (
            "a: @x\n",
            "1:4: not readable as YAML: this sign can't begin a value",
        ),
        (
            &many,
            "not readable as YAML: the file holds too many values",
        ),
        (
            &repeated,
            "not readable as YAML: \"&\", \"*\" and \"<<\" are used too often",
        ),
    ] {
        refused(text, expected);
        let error = load(text).unwrap_err();
        assert!(error.starts_with("a.yaml:"), "{error}");
        for word in [
            "Option",
            "from_str",
            "DuplicateKey",
            "budget",
            "policy",
            "null into",
        ] {
            assert!(!error.contains(word), "{error}");
        }
    }
}

#[test]
fn a_file_that_is_nested_too_deeply_says_how_deep_it_may_be() {
    let deep = "{ a: ".repeat(100) + &"}".repeat(100);
    // As much stack as the program's own thread has.
    let whole = std::thread::Builder::new()
        .stack_size(8 << 20)
        .spawn(move || {
            refused(
                &deep,
                "a.yaml:1:481: not readable as YAML: collections stand more than 96 deep",
            );
        });
    whole.unwrap().join().unwrap();
}

fn aliases(number: usize) -> String {
    (0..number).map(|key| format!("k{key}: *a\n")).collect()
}

#[test]
fn tokens_are_distinct_and_somebody_can_come_in() {
    refused(
        &file("auth: {}\n", "", RETURNS),
        "auth: nobody could come in",
    );
    let twice =
        "auth: { tokens: [{ token: t, user: a }], service_tokens: [{ token: t, name: b }] }\n";
    refused(
        &file(twice, "", RETURNS),
        "auth.service_tokens[0].token: the same token is there twice",
    );
}

#[test]
fn a_script_may_stand_in_its_own_file() {
    let folder = tempfile::tempdir().unwrap();
    let text = "agents: { a: { model: { provider: script, file: turns.yaml } } }";
    let path = folder.path().join("a.yaml");
    let variables = Variables::of(&[]);
    let made = || {
        let file = AgentFile::parse(&path, text, &variables).unwrap();
        agents(&file, &variables, &ModelChoice::AsWritten).map_err(|error| error.to_string())
    };
    let turns = folder.path().join("turns.yaml");
    assert_eq!(
        made().unwrap_err(),
        format!(
            "{}:1:43: agents.a.model.file: there is no file {turns:?}; name one, relative to the folder of this file",
            path.display()
        )
    );
    std::fs::write(&turns, "turns:\n  - sey: hello\n").unwrap();
    let error = made().unwrap_err();
    assert!(
        error.contains("turns.yaml:2:5: turns[0]: unknown key \"sey\" (did you mean \"say\"?)"),
        "{error}"
    );
    std::fs::write(&turns, "turns: [{ say: hello }]").unwrap();
    assert_eq!(made().unwrap().len(), 1);
}

#[test]
fn a_key_that_is_empty_or_can_not_be_sent_is_named() {
    let model = |key: &str| {
        format!(
            "agents: {{ a: {{ model: {{ provider: openai, name: m, base_url: 'http://x/', api_key: {key} }} }} }}"
        )
    };
    for (key, expected) in [
        (
            "${EMPTY}",
            "a.yaml:1:75: agents.a.model.api_key: the variable EMPTY is empty; set it",
        ),
        (
            "''",
            "agents.a.model.api_key: the key is empty; write one, or leave `api_key` out",
        ),
        ("' '", "agents.a.model.api_key: the key is empty"),
        (
            "${LINES}",
            "agents.a.model.api_key: the key can't be sent: the variable LINES holds a line break",
        ),
        (
            r#""a\nb""#,
            "agents.a.model.api_key: the key can't be sent: it holds a line break",
        ),
        ("clé", "agents.a.model.api_key: the key can't be sent"),
    ] {
        refused(&model(key), expected);
    }
    load(&model("${KEY}")).unwrap();
}

#[test]
fn a_placeholder_of_a_variable_is_not_named() {
    let text = file(
        "",
        "",
        "        http: { url: 'http://x/', headers: { X-Q: 'a${HOLE}' } }\n",
    );
    let variables = Variables::of(&[("HOLE", "{secret}")]);
    let error = AgentFile::parse(Path::new("a.yaml"), &text, &variables).unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("headers.X-Q: the variable's value names an argument"),
        "{error}"
    );
    assert!(!error.contains("secret"), "{error}");
}

#[test]
fn a_script_of_a_variable_is_not_named() {
    refused(
        "agents: { a: { model: { provider: script, file: ${WORD} } } }",
        "a.yaml:1:43: agents.a.model.file: there is no file of the variable's value; name one",
    );
}

#[test]
fn mistakes_in_schemas_are_found_in_the_file() {
    let no_type = "is no type; the types are array, boolean,";
    let tool = |worker: &str| {
        format!(
            "agents:\n  a:\n    model: {{ provider: script }}\n    tools:\n      - name: x\n{worker}"
        )
    };
    let state = |state: &str| {
        format!("agents:\n  a:\n    model: {{ provider: script }}\n    state:\n{state}")
    };
    let schema = "{ properties: { b: { type: strng } } }";
    for (text, expected) in [
        (
            tool(&format!("        returns: 1\n        parameters: {schema}\n")),
            format!("a.yaml:7:9: agents.a.tools[0].parameters: /properties/b/type: \"strng\" {no_type}"),
        ),
        (
            tool(&format!("        client:\n          result: {schema}\n")),
            format!("a.yaml:7:11: agents.a.tools[0].client.result: /properties/b/type: \"strng\" {no_type}"),
        ),
        (
            tool(&format!(
                "        private_input:\n          deliver: {{ http: {{ url: 'http://x/' }} }}\n          schema: {schema}\n"
            )),
            format!("a.yaml:8:11: agents.a.tools[0].private_input.schema: /properties/b/type: \"strng\" {no_type}"),
        ),
        (
            tool("        returns: 1\n        parameters: { properties: { b: { $ref: 'http://a.example/b' } } }\n"),
            "parameters: /properties/b/$ref: this leads to another document, and none is fetched".to_owned(),
        ),
        (
            tool("        returns: 1\n        parameters: { type: ${WORD} }\n"),
            "a.yaml:7:9: agents.a.tools[0].parameters: /type: the variable's value does not fit here".to_owned(),
        ),
        (
            state("      schema: { b: { type: strng } }\n"),
            format!("a.yaml:5:7: agents.a.state.schema: /b/type: \"strng\" {no_type}"),
        ),
        (
            state("      schema: { type: object, properties: { b: { type: strng } } }\n"),
            format!("a.yaml:5:7: agents.a.state.schema: /properties/b/type: \"strng\" {no_type}"),
        ),
        (
            state("      schema: { type: object, required: [b] }\n"),
            "a.yaml:4:5: agents.a.state.initial: \"b\" is missing".to_owned(),
        ),
    ] {
        refused(&text, &expected);
    }
}

#[test]
fn errors_of_agents_find_their_place() {
    let file = load(&file("", "", RETURNS)).unwrap();
    let line = |sentence: &str| file.error_in_words(sentence).to_string();
    assert_eq!(
        line("agents.recipe.tools[0].name: is odd"),
        "a.yaml:7:9: agents.recipe.tools[0].name: is odd"
    );
    assert_eq!(
        line("agents.recipe: tool \"x\": odd"),
        "a.yaml:2:3: agents.recipe: tool \"x\": odd"
    );
    assert_eq!(
        line("agents.recipe: tool \"update_recipe\": parameters: odd"),
        "a.yaml:8:9: agents.recipe.tools[0].parameters: odd"
    );
    assert_eq!(
        line("agents.recipe: tool \"update_recipe\": is odd"),
        "a.yaml:2:3: agents.recipe: tool \"update_recipe\": is odd"
    );
    assert_eq!(line("nothing known"), "a.yaml:1:1: nothing known");
}
