//! Questions, tools of the client, and whole conversations.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use std::sync::{Arc, Mutex};

use antiphon_client::{
    Answer, ClientTool, Ended, ErrorKind, Event, Handler, History, Question, Thread, Tool,
};
use serde::Deserialize;
use serde_json::{Value, json};
use support::{
    client, json as value,
    raw::{Reply, Server},
    reference::Reference,
    stream::{frames, run, saying},
};

async fn asked(thread: &mut Thread, words: &str) -> Vec<Question> {
    match thread.send(words).await.unwrap().finish().await.unwrap() {
        Ended::Asked(questions) => questions,
        other => panic!("nothing was asked: {other:?}"),
    }
}

#[tokio::test]
async fn a_question_says_what_is_asked() {
    let server = Reference::start(None).await;
    let mut thread = client(&server.url("interrupt")).thread("t1");
    let questions = asked(&mut thread, "transfer").await;
    let [question] = questions.as_slice() else {
        panic!("one question: {questions:?}");
    };
    assert_eq!(
        (question.id(), question.reason()),
        ("int-transfer", "approval")
    );
    assert_eq!(question.message(), Some("Transfer 100?"));
    let call = question.call().unwrap();
    assert_eq!(call.function.name, "transfer_funds");
    assert_eq!(call.function.arguments, r#"{"amount":100}"#);
    assert_eq!(
        value(question.schema())["properties"]["approved"]["type"],
        "boolean"
    );
    assert!(!question.is_private() && !question.is_editable() && !question.is_client_tool());
    assert_eq!(
        thread.questions(),
        questions,
        "they stay open in the thread"
    );
}

#[tokio::test]
async fn each_answer_does_what_it_says() {
    let server = Reference::start(None).await;
    type Choose = fn(&Question) -> Answer;
    let cases: [(Choose, &str); 4] = [
        (Question::approve, "Done."),
        (|question| question.decline("no"), "Refused."),
        (Question::cancel, "Cancelled."),
        (
            |question| question.answer(json!({"approved": "yes"})),
            "Refused.",
        ),
    ];
    for (choose, words) in cases {
        let mut thread = client(&server.url("interrupt")).new_thread();
        let questions = asked(&mut thread, "transfer").await;
        let answers = questions.iter().map(choose);
        let ended = thread
            .answer(answers)
            .await
            .unwrap()
            .finish()
            .await
            .unwrap();
        let approved = words == "Done.";
        assert_eq!(ended, Ended::Done(Some(json!({"approved": approved}))));
        assert_eq!(thread.text(), words);
        assert_eq!(thread.questions(), []);
    }
}

/// An approval as an agent words it that names every member of the answer and takes no other.
fn closed_schema(verdict: &str, more: &Value) -> Value {
    let mut properties = json!({ verdict: {"type": "boolean"} });
    properties
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    json!({
        "type": "object",
        "properties": properties,
        "required": [verdict],
        "additionalProperties": false,
    })
}

#[tokio::test]
async fn an_answer_holds_what_the_question_takes() {
    type Choose = fn(&Question) -> Answer;
    let approve: Choose = Question::approve;
    let decline: Choose = |question| question.decline("not that one");
    let nothing = json!({});
    let reason = json!({"reason": {"type": "string"}});
    let cases = [
        (
            closed_schema("approved", &nothing),
            approve,
            json!({"approved": true}),
        ),
        (
            closed_schema("approved", &nothing),
            decline,
            json!({"approved": false}),
        ),
        (
            closed_schema("approved", &reason),
            decline,
            json!({"approved": false, "reason": "not that one"}),
        ),
        (
            closed_schema("accepted", &nothing),
            approve,
            json!({"accepted": true}),
        ),
        (
            closed_schema("accepted", &nothing),
            decline,
            json!({"accepted": false}),
        ),
        (
            json!({"type": "object"}),
            decline,
            json!({"approved": false, "reason": "not that one"}),
        ),
    ];
    for (schema, choose, expected) in cases {
        let server = Server::answering(move |number, request| {
            if number > 0 {
                return Reply::stream(frames(&saying(request, "ok")));
            }
            let interrupts = json!([{"id": "i1", "reason": "tool_call", "responseSchema": schema}]);
            let end = json!({"outcome": {"type": "interrupt", "interrupts": interrupts}});
            Reply::stream(frames(&run(request, Vec::new(), &end)))
        })
        .await;
        let mut thread = client(&server.url).thread("t1");
        let questions = asked(&mut thread, "delete it").await;
        let answers = questions.iter().map(choose);
        let run = thread.answer(answers).await.unwrap();
        run.finish().await.unwrap();
        assert_eq!(server.bodies()[1]["resume"][0]["payload"], expected);
    }
}

#[tokio::test]
async fn nothing_is_sent_while_something_is_left_unanswered() {
    let server = Server::answering(|_, request| {
        let interrupts = json!([{"id": "i1", "reason": "confirmation", "message": "Sure?"}, {"id": "i2", "reason": "x"}]);
        let end = json!({"outcome": {"type": "interrupt", "interrupts": interrupts}});
        Reply::stream(frames(&run(request, Vec::new(), &end)))
    })
    .await;
    let mut thread = client(&server.url).thread("t1");
    let questions = asked(&mut thread, "go").await;
    let error = thread.send("and?").await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Unanswered);
    assert_eq!(error.to_string(), "the question \"Sure?\" is not answered");
    let error = thread.answer([questions[0].approve()]).await.unwrap_err();
    assert_eq!(error.to_string(), "the question \"x\" is not answered");
    let twice = [
        questions[0].approve(),
        questions[0].cancel(),
        questions[1].approve(),
    ];
    let error = thread.answer(twice).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the question \"Sure?\" is answered twice"
    );
    assert_eq!(server.requests().len(), 1);
    assert_eq!(thread.questions().len(), 2, "they stay open");
}

#[tokio::test]
async fn questions_stay_open_where_their_answer_was_refused_or_failed() {
    let server = Server::answering(|number, request| {
        let question = json!([{"id": "i1", "reason": "confirmation"}]);
        let end = json!({"outcome": {"type": "interrupt", "interrupts": question}});
        match number {
            0 => Reply::stream(frames(&run(request, Vec::new(), &end))),
            1 => Reply::new("503 Service Unavailable", ""),
            2 => {
                let mut events = run(request, Vec::new(), &json!({}));
                events[1] = json!({"type": "RUN_ERROR", "message": "no"});
                Reply::stream(frames(&events))
            }
            _ => Reply::stream(frames(&saying(request, "ok"))),
        }
    })
    .await;
    let mut thread = client(&server.url).thread("t1");
    let answer = asked(&mut thread, "go").await[0].approve();
    thread.answer([answer.clone()]).await.unwrap_err();
    assert_eq!(thread.questions().len(), 1);
    thread
        .answer([answer.clone()])
        .await
        .unwrap()
        .finish()
        .await
        .unwrap_err();
    assert_eq!(thread.questions().len(), 1);
    thread
        .answer([answer])
        .await
        .unwrap()
        .finish()
        .await
        .unwrap();
    assert_eq!(thread.questions(), []);
}

#[tokio::test]
async fn a_private_value_travels_alone_and_is_kept_nowhere() {
    for history in [History::Full, History::New] {
        let server = Server::answering(|number, request| {
            if number > 0 {
                return Reply::stream(frames(&saying(request, "stored")));
            }
            let question = json!([{"id": "i1", "reason": "private_input"}]);
            let end = json!({"outcome": {"type": "interrupt", "interrupts": question}});
            Reply::stream(frames(&run(request, Vec::new(), &end)))
        })
        .await;
        let mut thread = client(&server.url).history(history).thread("t1");
        let questions = asked(&mut thread, "connect").await;
        assert!(questions[0].is_private());
        thread.set_state(json!({"mine": 1}));
        let answer = questions[0].answer(json!({"token": "hunter2"}));
        let error = thread
            .answer_and_send([answer.clone()], "and go on")
            .await
            .unwrap_err();
        assert_eq!(error.kind(), &ErrorKind::Unanswered);
        thread
            .answer([answer])
            .await
            .unwrap()
            .finish()
            .await
            .unwrap();
        let body = &server.bodies()[1];
        assert_eq!(
            (&body["messages"], &body["state"]),
            (&json!([]), &json!({}))
        );
        assert_eq!(body["resume"][0]["payload"], json!({"token": "hunter2"}));
        let kept = format!("{}{thread:?}", value(thread.messages()));
        assert!(!kept.contains("hunter2"));
        assert_eq!(thread.state()["mine"], 1);
    }
}

#[tokio::test]
async fn all_can_be_cancelled_to_say_something_else() {
    let server = Reference::start(None).await;
    let mut thread = client(&server.url("interrupt")).thread("t1");
    let questions = asked(&mut thread, "transfer").await;
    let answers = questions.iter().map(Question::cancel);
    let run = thread.answer_and_send(answers, "rather not").await.unwrap();
    run.finish().await.unwrap();
    assert_eq!(thread.text(), "Cancelled.");
    assert!(
        thread
            .messages()
            .iter()
            .any(|message| value(message)["content"] == "rather not")
    );
}

fn background(seen: &Arc<Mutex<Vec<String>>>) -> ClientTool {
    #[derive(Deserialize)]
    struct Background {
        background: String,
    }
    let seen = seen.clone();
    ClientTool::new(
        "change_background",
        "Change it.",
        json!({"type": "object"}),
        move |arguments: Background| {
            seen.lock().unwrap().push(arguments.background);
            async { Ok::<_, String>(json!({"status": "changed"})) }
        },
    )
}

#[tokio::test]
async fn calls_of_the_clients_tools_are_answered_by_hand() {
    let server = Reference::start(None).await;
    let mut thread = client(&server.url("agentic_chat"))
        .strict(true)
        .thread("t1");
    thread = thread.tool(Tool::new("change_background", "Change it."));
    let ended = thread
        .send("change the background")
        .await
        .unwrap()
        .finish()
        .await
        .unwrap();
    let Ended::Waiting(calls) = ended else {
        panic!("no call: {ended:?}");
    };
    let error = thread.send("well?").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the call of \"change_background\" is not answered"
    );
    thread.tool_result(&calls[0], json!({"status": "changed"}));
    assert_eq!(thread.waiting(), []);
    let ended = thread.proceed().await.unwrap().finish().await.unwrap();
    assert_eq!(ended, Ended::Done(None));
    assert_eq!(thread.text(), "background changed");
    let answer = value(&thread.messages()[2]);
    assert_eq!(answer["role"], "tool");
    assert_eq!(answer["content"], r#"{"status":"changed"}"#);
}

#[tokio::test]
async fn a_result_that_is_text_comes_back_as_text() {
    for (result, content) in [
        (json!("teal"), "teal"),
        (json!("5"), "\"5\""),
        (json!(5), "5"),
        (json!(null), "null"),
    ] {
        let server = Reference::start(None).await;
        let tool = Tool::new("change_background", "Change it.");
        let mut thread = client(&server.url("agentic_chat")).thread("t1").tool(tool);
        thread
            .send("background")
            .await
            .unwrap()
            .finish()
            .await
            .unwrap();
        let call = thread.waiting().remove(0);
        thread.tool_result(&call, result);
        assert_eq!(value(&thread.messages()[2])["content"], content);
    }
}

#[tokio::test]
async fn a_conversation_runs_the_clients_functions() {
    let server = Reference::start(None).await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let mut thread = client(&server.url("agentic_chat"))
        .strict(true)
        .thread("t1");
    thread = thread.client_tool(background(&seen));
    let mut kinds = Vec::new();
    let ended = thread
        .converse("change the background", |event: &Event| {
            kinds.push(event.kind().as_str());
        })
        .await
        .unwrap();
    assert_eq!(ended, Ended::Done(None));
    assert_eq!(*seen.lock().unwrap(), ["teal"]);
    assert_eq!(thread.text(), "background changed");
    assert_eq!(
        kinds.iter().filter(|kind| **kind == "RUN_FINISHED").count(),
        2
    );
}

#[tokio::test]
async fn a_function_that_fails_or_cannot_take_the_arguments_tells_the_agent() {
    let tool = |schema: Value| {
        ClientTool::new("t", "d", schema, |number: u8| async move {
            if number == 7 {
                Err("not seven")
            } else {
                Ok(number + 1)
            }
        })
    };
    let tool = tool(json!({"type": "integer"}));
    assert_eq!(tool.call("1").await, Ok(json!(2)));
    assert_eq!(tool.call("7").await, Err("not seven".to_owned()));
    assert!(
        tool.call("{}")
            .await
            .unwrap_err()
            .starts_with("the arguments do not fit: ")
    );
    assert!(
        tool.call("{")
            .await
            .unwrap_err()
            .starts_with("the arguments are not JSON: ")
    );
    assert!(
        tool.call("")
            .await
            .unwrap_err()
            .starts_with("the arguments do not fit: ")
    );
}

#[tokio::test]
async fn no_function_runs_where_another_call_cannot_be_answered_here() {
    let server = Server::answering(|_, request| {
        let call = |id: &str, tool: &str| {
            [
                json!({"type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": tool, "parentMessageId": "m"}),
                json!({"type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": "{\"background\":\"teal\"}"}),
                json!({"type": "TOOL_CALL_END", "toolCallId": id}),
            ]
        };
        let events = [call("c1", "change_background"), call("c2", "elsewhere")].concat();
        Reply::stream(frames(&run(request, events, &json!({}))))
    })
    .await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let mut thread = client(&server.url)
        .thread("t1")
        .client_tool(background(&seen));
    let ended = thread.converse("go", |_: &Event| {}).await.unwrap();
    let Ended::Waiting(calls) = ended else {
        panic!("not waiting: {ended:?}");
    };
    assert_eq!(calls.len(), 2);
    assert_eq!(*seen.lock().unwrap(), Vec::<String>::new());
}

/// Gives one answer to everything, and counts.
struct Saying<'a>(&'static str, &'a mut usize);

impl Handler for Saying<'_> {
    async fn answer(&mut self, question: &Question) -> Option<Answer> {
        *self.1 += 1;
        match self.0 {
            "yes" => Some(question.approve()),
            "no" => Some(question.decline("no")),
            _ => None,
        }
    }
}

#[tokio::test]
async fn a_conversation_asks_its_handler_and_ends_where_it_does_not_answer() {
    let server = Reference::start(None).await;
    for (answer, words) in [("yes", "Done."), ("no", "Refused.")] {
        let mut thread = client(&server.url("interrupt")).new_thread();
        thread
            .converse("transfer", Saying(answer, &mut 0))
            .await
            .unwrap();
        assert_eq!(thread.text(), words);
    }
    let mut thread = client(&server.url("interrupt")).new_thread();
    let ended = thread
        .converse("transfer", Saying("", &mut 0))
        .await
        .unwrap();
    assert!(matches!(ended, Ended::Asked(_)));
    assert_eq!(thread.questions().len(), 1);
}

#[tokio::test]
async fn a_client_tool_among_questions_is_run_and_answered_with_them() {
    let server = Server::answering(|number, request| {
        if number > 0 {
            return Reply::stream(frames(&saying(request, "both done")));
        }
        let events = vec![
            json!({"type": "TOOL_CALL_START", "toolCallId": "c1", "toolCallName": "change_background"}),
            json!({"type": "TOOL_CALL_ARGS", "toolCallId": "c1", "delta": "{\"background\":\"teal\"}"}),
            json!({"type": "TOOL_CALL_END", "toolCallId": "c1"}),
        ];
        let interrupts = json!([
            {"id": "i1", "reason": "tool_call", "toolCallId": "c1", "metadata": {"harnest": {"type": "client_tool"}}},
            {"id": "i2", "reason": "confirmation", "message": "Sure?"},
        ]);
        let end = json!({"outcome": {"type": "interrupt", "interrupts": interrupts}});
        Reply::stream(frames(&run(request, events, &end)))
    })
    .await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let mut thread = client(&server.url)
        .thread("t1")
        .client_tool(background(&seen));
    let mut asked = 0;
    thread
        .converse("go", Saying("yes", &mut asked))
        .await
        .unwrap();
    assert_eq!(asked, 1, "the person is asked for what is theirs");
    assert_eq!(*seen.lock().unwrap(), ["teal"]);
    let resume = &server.bodies()[1]["resume"];
    assert_eq!(resume.as_array().map(Vec::len), Some(2));
    assert_eq!(resume[1]["payload"], json!({"status": "changed"}));
}

#[tokio::test]
async fn an_agent_that_never_comes_to_an_end_is_given_up() {
    let server = Server::answering(|number, request| {
        let id = format!("c{number}");
        let events = vec![
            json!({"type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": "change_background"}),
            json!({"type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": "{\"background\":\"teal\"}"}),
            json!({"type": "TOOL_CALL_END", "toolCallId": id}),
        ];
        Reply::stream(frames(&run(request, events, &json!({}))))
    })
    .await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let mut thread = client(&server.url)
        .thread("t1")
        .client_tool(background(&seen));
    let error = thread.converse("go", |_: &Event| {}).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Limit);
    assert_eq!(server.requests().len(), 64);
}

#[tokio::test]
async fn another_agent_is_a_tool() {
    let server = Reference::start(None).await;
    let agent =
        |name: &str| ClientTool::agent("ask_chef", "Asks the chef.", client(&server.url(name)));
    let chat = agent("agentic_chat");
    assert_eq!(
        chat.tool().parameters.as_ref().unwrap()["required"],
        json!(["task"])
    );
    let answer = chat.call(r#"{"task":"boil an egg"}"#).await;
    assert_eq!(answer, Ok(json!("you said: boil an egg")));
    let error = agent("interrupt")
        .call(r#"{"task":"pay"}"#)
        .await
        .unwrap_err();
    assert_eq!(error, "the agent stopped to ask: Transfer 100?");
    let error = agent("error").call(r#"{"task":"x"}"#).await.unwrap_err();
    assert_eq!(error, "the run failed with upstream: the model is down");
    let error = agent("cancelled")
        .call(r#"{"task":"x"}"#)
        .await
        .unwrap_err();
    assert_eq!(error, "the agent was stopped");
}

#[tokio::test]
async fn a_run_that_waits_for_another_system_says_so() {
    let server = Server::answering(|_, request| {
        let end = json!({"result": {"status": "in_progress", "responseId": "resp-1"}});
        Reply::stream(frames(&run(request, Vec::new(), &end)))
    })
    .await;
    let mut thread = client(&server.url).thread("t1");
    let ended = thread.send("go").await.unwrap().finish().await.unwrap();
    let response_id = Some("resp-1".to_owned());
    assert_eq!(ended, Ended::InProgress { response_id });
}

#[tokio::test]
async fn what_a_run_used_is_kept() {
    let server = Reference::start(None).await;
    let mut thread = client(&server.url("agentic_chat")).thread("t1");
    thread.send("hi").await.unwrap().finish().await.unwrap();
    assert_eq!(thread.usage()[0].total_tokens, Some(14));
}
