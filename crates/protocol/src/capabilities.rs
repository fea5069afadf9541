//! What an agent says it can do. Everything is optional; what is left out is undeclared, which
//! is not the same as unsupported.

use crate::wire::object::object;
use crate::{Metadata, Tool};

macro_rules! group {
    ($(#[$meta:meta])* $name:ident { $($body:tt)* }) => {
        object! {
            $(#[$meta])*
            #[derive(Default)]
            pub struct $name { optional { $($body)* } }
        }
    };
}

group! {
    /// What an agent says it can do.
    AgentCapabilities {
        /// Who the agent is.
        identity: IdentityCapabilities = "identity",
        /// How it is reached.
        transport: TransportCapabilities = "transport",
        /// Which tools it uses.
        tools: ToolsCapabilities = "tools",
        /// What it returns.
        output: OutputCapabilities = "output",
        /// What it does with shared state.
        state: StateCapabilities = "state",
        /// How it works with other agents.
        multi_agent: MultiAgentCapabilities = "multiAgent",
        /// How it shows its reasoning.
        reasoning: ReasoningCapabilities = "reasoning",
        /// Which media it takes and makes.
        multimodal: MultimodalCapabilities = "multimodal",
        /// What it executes.
        execution: ExecutionCapabilities = "execution",
        /// How people take part.
        human_in_the_loop: HumanInTheLoopCapabilities = "humanInTheLoop",
        /// Anything else.
        custom: Metadata = "custom",
    }
}

group! {
    /// Who an agent is.
    IdentityCapabilities {
        /// Its name.
        name: String = "name",
        /// What it is built with.
        kind: String = "type",
        /// What it is for.
        description: String = "description",
        /// Its version.
        version: String = "version",
        /// Who runs it.
        provider: String = "provider",
        /// Where it is documented.
        documentation_url: String = "documentationUrl",
        /// Application data.
        metadata: Metadata = "metadata",
    }
}

group! {
    /// How an agent is reached.
    TransportCapabilities {
        /// It streams.
        streaming: bool = "streaming",
        /// It speaks WebSocket.
        websocket: bool = "websocket",
        /// It speaks the protobuf binding.
        http_binary: bool = "httpBinary",
        /// It notifies.
        push_notifications: bool = "pushNotifications",
        /// A stream can be joined again.
        resumable: bool = "resumable",
    }
}

group! {
    /// Which tools an agent uses.
    ToolsCapabilities {
        /// It calls tools.
        supported: bool = "supported",
        /// Its own tools.
        items: Vec<Tool> = "items",
        /// It calls several at once.
        parallel_calls: bool = "parallelCalls",
        /// It calls the client's tools.
        client_provided: bool = "clientProvided",
    }
}

group! {
    /// What an agent returns.
    OutputCapabilities {
        /// It returns structured results.
        structured_output: bool = "structuredOutput",
        /// Media types of its results.
        supported_mime_types: Vec<String> = "supportedMimeTypes",
    }
}

group! {
    /// What an agent does with shared state.
    StateCapabilities {
        /// It sends snapshots.
        snapshots: bool = "snapshots",
        /// It sends deltas.
        deltas: bool = "deltas",
        /// It remembers between threads.
        memory: bool = "memory",
        /// It keeps the state.
        persistent_state: bool = "persistentState",
    }
}

group! {
    /// How an agent works with others.
    MultiAgentCapabilities {
        /// It does.
        supported: bool = "supported",
        /// It delegates.
        delegation: bool = "delegation",
        /// It hands over.
        handoffs: bool = "handoffs",
        /// The agents it works with.
        subagents: Vec<SubagentInfo> = "subagents",
    }
}

object! {
    /// An agent that another one works with.
    pub struct SubagentInfo {
        required {
            /// Its name.
            name: String = "name",
        }
        optional {
            /// What it is for.
            description: String = "description",
        }
    }
}

group! {
    /// How an agent shows its reasoning.
    ReasoningCapabilities {
        /// It reasons.
        supported: bool = "supported",
        /// The reasoning streams.
        streaming: bool = "streaming",
        /// The reasoning is encrypted.
        encrypted: bool = "encrypted",
    }
}

group! {
    /// Which media an agent takes and makes.
    MultimodalCapabilities {
        /// What it takes.
        input: MultimodalInputCapabilities = "input",
        /// What it makes.
        output: MultimodalOutputCapabilities = "output",
    }
}

group! {
    /// Which media an agent takes.
    MultimodalInputCapabilities {
        /// Pictures.
        image: bool = "image",
        /// Recordings.
        audio: bool = "audio",
        /// Films.
        video: bool = "video",
        /// PDF documents.
        pdf: bool = "pdf",
        /// Any file.
        file: bool = "file",
    }
}

group! {
    /// Which media an agent makes.
    MultimodalOutputCapabilities {
        /// Pictures.
        image: bool = "image",
        /// Recordings.
        audio: bool = "audio",
    }
}

group! {
    /// What an agent executes.
    ExecutionCapabilities {
        /// It runs code.
        code_execution: bool = "codeExecution",
        /// The code runs in a sandbox.
        sandboxed: bool = "sandboxed",
        /// Model calls in one run, at most.
        max_iterations: u64 = "maxIterations",
        /// Milliseconds of one run, at most.
        max_execution_time: u64 = "maxExecutionTime",
    }
}

group! {
    /// How people take part.
    HumanInTheLoopCapabilities {
        /// They do.
        supported: bool = "supported",
        /// They approve calls.
        approvals: bool = "approvals",
        /// They intervene.
        interventions: bool = "interventions",
        /// They give feedback.
        feedback: bool = "feedback",
        /// Runs stop to ask them.
        interrupts: bool = "interrupts",
        /// They change arguments while approving.
        approve_with_edits: bool = "approveWithEdits",
    }
}
