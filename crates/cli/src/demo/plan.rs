//! Tools whose results are state: a whole plan, and patches of it.

use antiphon::prelude::*;

/// Adds the tools of a planner: the plan comes as a snapshot, each step of it as a delta.
pub(super) fn planner(agent: Agent) -> Agent {
    agent
        .tools((create_plan, update_plan_step))
        .result_as_snapshot("create_plan")
        .result_as_delta("update_plan_step")
}

/// How far a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    Pending,
    Completed,
}

/// A plan, and the whole state of its thread.
#[derive(Debug, Serialize)]
pub(super) struct Plan {
    steps: Vec<Step>,
}

#[derive(Debug, Serialize)]
struct Step {
    description: String,
    status: Status,
}

/// Create a plan with these steps, all of them pending.
#[tool(idempotent)]
pub(super) fn create_plan(
    /// What is to be done, one short sentence for each step.
    #[schemars(length(min = 1, max = 20))]
    steps: Vec<String>,
) -> Plan {
    let pending = |description| Step {
        description,
        status: Status::Pending,
    };
    Plan {
        steps: steps.into_iter().map(pending).collect(),
    }
}

/// Change one step of the plan.
#[tool(idempotent)]
pub(super) fn update_plan_step(
    /// The step, counted from 0.
    index: usize,
    /// How far it is now.
    status: Option<Status>,
    /// What it is now.
    description: Option<String>,
) -> Value {
    let changes = [
        ("status", status.map(|status| json!(status))),
        ("description", description.map(Value::from)),
    ];
    let operation = |(member, value): (&str, Option<Value>)| {
        Some(
            json!({ "op": "replace", "path": format!("/steps/{index}/{member}"), "value": value? }),
        )
    };
    changes.into_iter().filter_map(operation).collect()
}

#[cfg(test)]
mod tests {
    use antiphon::state::Patch;

    use super::*;

    #[test]
    fn a_plan_begins_pending_and_changes_by_patches() {
        let plan = create_plan::call(vec!["a".to_owned(), "b".to_owned()]);
        let mut state = serde_json::to_value(plan).unwrap();
        assert_eq!(
            state["steps"][1],
            json!({ "description": "b", "status": "pending" })
        );
        let patch = update_plan_step::call(1, Some(Status::Completed), Some("c".to_owned()));
        let patch: Patch = serde_json::from_value(patch).unwrap();
        patch.apply(&mut state).unwrap();
        assert_eq!(
            state["steps"][1],
            json!({ "description": "c", "status": "completed" })
        );
        assert_eq!(state["steps"][0]["status"], "pending");
    }
}
