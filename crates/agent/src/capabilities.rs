//! What an agent can do, in the protocol's own terms.

use antiphon_protocol::{
    AgentCapabilities, ExecutionCapabilities, HumanInTheLoopCapabilities, IdentityCapabilities,
    OutputCapabilities, StateCapabilities, Tool as Declared, ToolsCapabilities,
};

use crate::agent::{BuiltAgent, History};
use crate::run::needs_approval;
use crate::tool::{Execution, Tool};

impl BuiltAgent {
    /// What the agent can do. The transport is for its server to add.
    #[must_use]
    pub fn capabilities(&self) -> AgentCapabilities {
        AgentCapabilities {
            identity: Some(self.identity()),
            tools: Some(self.tool_capabilities()),
            output: Some(OutputCapabilities {
                structured_output: Some(false),
                ..OutputCapabilities::default()
            }),
            state: Some(self.state_capabilities()),
            execution: Some(self.execution_capabilities()),
            human_in_the_loop: Some(self.human_capabilities()),
            ..AgentCapabilities::default()
        }
    }

    fn identity(&self) -> IdentityCapabilities {
        IdentityCapabilities {
            name: Some(self.name.clone()),
            description: Some(self.settings.description.clone()).filter(|text| !text.is_empty()),
            provider: Some(self.model.provider().to_owned()),
            ..IdentityCapabilities::default()
        }
    }

    fn tool_capabilities(&self) -> ToolsCapabilities {
        let declared = |tool: &Tool| {
            let mut declared = Declared::new(tool.name(), &tool.spec().description);
            declared.parameters = Some(tool.spec().parameters.clone());
            declared
        };
        ToolsCapabilities {
            supported: Some(true),
            items: Some(self.tools.iter().map(declared).collect()),
            parallel_calls: Some(self.settings.limits.parallel_calls > 1),
            client_provided: Some(true),
        }
    }

    fn state_capabilities(&self) -> StateCapabilities {
        let is_kept = self.settings.history != History::Client;
        StateCapabilities {
            snapshots: Some(true),
            deltas: Some(true),
            memory: Some(self.settings.history == History::Thread),
            persistent_state: Some(is_kept),
        }
    }

    fn execution_capabilities(&self) -> ExecutionCapabilities {
        ExecutionCapabilities {
            code_execution: Some(false),
            max_iterations: Some(u64::from(self.settings.limits.turns)),
            max_execution_time: u64::try_from(self.settings.limits.time.as_millis()).ok(),
            ..ExecutionCapabilities::default()
        }
    }

    fn human_capabilities(&self) -> HumanInTheLoopCapabilities {
        let approvals = self.tools.iter().any(|tool| needs_approval(self, tool));
        let edits = self.tools.iter().any(|tool| {
            tool.approval
                .as_ref()
                .is_some_and(|approval| approval.edits)
        });
        let asks = self
            .tools
            .iter()
            .any(|tool| !matches!(tool.execution, Execution::ExternalWait { .. }));
        HumanInTheLoopCapabilities {
            supported: Some(true),
            approvals: Some(approvals),
            approve_with_edits: Some(edits),
            interrupts: Some(approvals || asks),
            ..HumanInTheLoopCapabilities::default()
        }
    }
}
