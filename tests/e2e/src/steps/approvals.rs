//! Approvals under pressure: twenty answers at once, a killed server.

use std::time::Duration;

use serde_json::{Value, json};

use super::{by_role, gated, need, pay, payment};
use crate::{
    json::same,
    play::{Play, Step},
    provider::{Tool, Write, chunks::text},
    run::read_all,
};

pub(super) async fn twenty_answers(play: &mut Play, variant: &str) -> Step {
    play.stage.provider.turns(vec![pay("k1"), text("All set.")]);
    let slow = Tool::returns(json!("paid")).after(Write::Pause(Duration::from_millis(200)));
    play.stage.provider.tool("pay", slow);
    gated(play).await?;
    let entry = play.entry("k1", &json!({"approved": true}))?;
    let first = play.next_body(&[], &json!({"resume": [entry]}));
    let shared = &*play;
    let posts = (0..20).map(|_| {
        let mut body = first.clone();
        if variant != "same-run-id" {
            body["runId"] = json!(shared.new_run_id());
        }
        async move { shared.start(&body).await }
    });
    let mut runs = Vec::new();
    for run in super::together(posts.collect()).await {
        runs.push(run?.again());
    }
    read_all(&mut runs).await;
    for run in &mut runs {
        play.judge(run);
    }
    let won = runs.iter().position(crate::run::Run::succeeded);
    play.check(won.is_some(), "none of twenty equal answers went through");
    for run in &runs {
        let fair = run.succeeded() || run.status == 409 || run.terminal() == Some("RUN_ERROR");
        play.check(
            fair,
            format!(
                "an answer is neither the outcome nor a conflict: {}",
                run.ending()
            ),
        );
    }
    play.expect_executions(1);
    play.expect_model_requests(2);
    if let Some(held) = won
        .and_then(|at| runs.get(at))
        .and_then(|run| run.held.clone())
    {
        play.held = held;
    }
    late_answers(play, first).await
}

/// The answer again is no conflict, another one is; neither runs anything.
async fn late_answers(play: &mut Play, mut late: Value) -> Step {
    late["runId"] = json!(play.new_run_id());
    let run = play.post_again(&late).await?;
    let fair = run.status == 409 || run.terminal().is_some();
    play.check(fair, format!("the same answer later: {}", run.ending()));
    late["runId"] = json!(play.new_run_id());
    late["resume"][0]["payload"]["approved"] = json!(false);
    let run = play.post_again(&late).await?;
    play.check(
        run.status == 409,
        format!("another answer to a settled interrupt: {}", run.ending()),
    );
    play.expect_executions(1);
    Ok(())
}

pub(super) async fn killed_while_open(play: &mut Play) -> Step {
    play.stage.provider.turns(vec![pay("k1"), text("All set.")]);
    gated(play).await?;
    let entry = play.entry("k1", &json!({"approved": true}))?;
    play.stage.kill_and_restart().await?;
    play.open().await?;
    play.check(
        !play.held.messages.is_empty(),
        "the thread is empty after the restart",
    );
    let run = play.resume(&[entry]).await?;
    play.expect_success(&run, "the answer after the restart", Some("All set."));
    let executions = play.stage.provider.executions();
    let once = executions.len() == 1 && executions.iter().all(|e| same(&e.args, &payment()));
    play.check(
        once,
        format!("executed {executions:?}, expected one payment"),
    );
    play.expect_model_requests(2);
    Ok(())
}

pub(super) async fn killed_while_executing(play: &mut Play, variant: &str) -> Step {
    by_role(
        play,
        |request| {
            if request.number == 1 {
                pay("k1")
            } else {
                text("Noted.")
            }
        },
        |_| text("All set."),
    );
    play.stage
        .provider
        .tool("pay", Tool::returns(json!("paid")).after(Write::Hold));
    let mut body = play.body(&json!({}));
    if variant == "approved" {
        gated(play).await?;
        let entry = play.entry("k1", &json!({"approved": true}))?;
        body = play.next_body(&[], &json!({"resume": [entry]}));
    }
    let mut run = play.start(&body).await?;
    need(run.status == 200, format!("HTTP {}", run.status))?;
    let executed = |log: &crate::provider::Log| log.executions.first().map(|_| ());
    play.stage
        .provider
        .until(Duration::from_secs(10), "the payment", executed)
        .await?;
    run.leave();
    play.stage.server.kill().await?;
    play.stage
        .provider
        .tool("pay", Tool::returns(json!("paid")));
    play.stage.restart().await?;
    // The call was streamed in a run whose reader died with the server.
    play.executions_are_streamed = false;
    if variant == "approved" {
        let again = play.post_again(&body).await?;
        let fair = matches!(again.status, 200 | 409);
        play.check(
            fair,
            format!("the same answer after the crash: {}", again.ending()),
        );
    }
    thread_goes_on(play).await
}

/// The call is not run again; the person may be asked, and the model hears nothing untrue.
async fn thread_goes_on(play: &mut Play) -> Step {
    let opened = play.open().await?;
    for question in opened.interrupts() {
        let reason = question["reason"].as_str().unwrap_or_default();
        let text = format!("the half-executed call is asked about with the reason {reason:?}");
        play.check(reason.ends_with(":outcome_unknown"), text);
    }
    let run = play.when_free("did it work?").await?;
    play.expect_success(&run, "the next message after the crash", None);
    play.expect_executions(1);
    let requests = play.stage.provider.requests();
    let told: Vec<_> = requests.iter().flat_map(|r| r.results_of("k1")).collect();
    let honest = !told.is_empty() && told.iter().all(|text| !text.contains("paid"));
    play.check(
        honest,
        format!("the model was told {told:?} about a call whose outcome is unknown"),
    );
    Ok(())
}
