//! What each route takes and answers.

use crate::routes::Route;
use Shape::{Events, Json, JsonOrEvents, Nothing, Text};

/// What is to be known of a route beyond its place in the inventory.
#[derive(Debug)]
pub(super) struct Operation {
    method: &'static str,
    path: &'static str,
    pub(super) summary: &'static str,
    /// Name, type, whether it is required, and what it is for.
    pub(super) query: &'static [(&'static str, &'static str, bool, &'static str)],
    /// The shape of the body that it takes.
    pub(super) body: Option<&'static str>,
    /// Whether there has to be one.
    pub(super) needs_body: bool,
    pub(super) answers: &'static [Answer],
}

/// One answer of a route.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) says: &'static str,
    pub(super) shape: Shape,
}

/// What the body of an answer is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    Nothing,
    /// A shape of this name.
    Json(&'static str),
    /// Text of this media type.
    Text(&'static str),
    /// A run's events, in either binding.
    Events,
    /// A shape of this name, or a stream of events where one was asked for.
    JsonOrEvents(&'static str),
}

impl Operation {
    pub(super) fn of(route: &Route) -> Option<&'static Self> {
        let is_it = |known: &&Self| known.method == route.method && known.path == route.path;
        OPERATIONS.iter().find(is_it)
    }

    const fn new(method: &'static str, path: &'static str, summary: &'static str) -> Self {
        Self {
            method,
            path,
            summary,
            query: &[],
            body: None,
            needs_body: false,
            answers: &[],
        }
    }

    const fn asks(
        mut self,
        query: &'static [(&'static str, &'static str, bool, &'static str)],
    ) -> Self {
        self.query = query;
        self
    }

    const fn takes(self, body: &'static str) -> Self {
        Self {
            needs_body: true,
            ..self.may_take(body)
        }
    }

    const fn may_take(mut self, body: &'static str) -> Self {
        self.body = Some(body);
        self
    }

    const fn answers(mut self, answers: &'static [Answer]) -> Self {
        self.answers = answers;
        self
    }
}

const fn on(status: u16, says: &'static str, shape: Shape) -> Answer {
    Answer {
        status,
        says,
        shape,
    }
}

const THREAD: (&str, &str, bool, &str) = (
    "threadId",
    "string",
    false,
    "The thread, where the run id is used in several; else the newest run counts.",
);
const LIMIT: (&str, &str, bool, &str) = (
    "limit",
    "integer",
    false,
    "How many, 100 at most and by default.",
);
const CURSOR: (&str, &str, bool, &str) = (
    "cursor",
    "string",
    false,
    "`nextCursor` of the page before.",
);

const RUN: &[Answer] = &[
    on(200, "The events of the run, to its end.", Events),
    on(406, "None of the bindings is accepted.", Json("Error")),
    on(
        409,
        "The thread is busy (`thread_busy`), or waits for answers that the request does not give (`interaction_pending`, with the open ids).",
        Json("Error"),
    ),
    on(429, "Too many runs are at work.", Json("Error")),
    on(
        503,
        "The server is shutting down, or the store is away.",
        Json("Error"),
    ),
];
const RESPONSE: &[Answer] = &[
    on(
        200,
        "How the response stands now that its run has ended. With `stream`, its events: response.created; response.text.delta, response.thinking.delta, response.tool_call, response.tool_result, response.state_delta, response.state_snapshot, response.agent_activity; then response.completed (after approval.requested, client_tool.requested or question.requested where it waits for the client), response.in_progress (where it waits for another system) or error.",
        JsonOrEvents("Response"),
    ),
    on(
        409,
        "The session is busy or waits for answers.",
        Json("Error"),
    ),
    on(500, "The run failed.", Json("Response")),
    on(502, "The model failed.", Json("Response")),
    on(504, "The run took too long.", Json("Response")),
];
const SETTLED: &[Answer] = &[
    on(
        200,
        "The result was taken, now or before; the run goes on by itself.",
        Json("Accepted"),
    ),
    on(403, "It is no service's token.", Json("Error")),
    on(404, "There is no such wait.", Json("Error")),
    on(
        409,
        "Another result was taken (`interaction_settled`), or the wait is over (`interaction_expired`).",
        Json("Error"),
    ),
];
const ANSWERED: &[Answer] = &[
    on(
        200,
        "How the response stands now that the run that goes on has ended.",
        Json("Response"),
    ),
    on(404, "There is no such interaction.", Json("Error")),
    on(
        409,
        "Others are open too (`interaction_pending`, with their ids): answer all of them in the `resume` of one AG-UI request. Or it is settled (`interaction_settled`) or over (`interaction_expired`).",
        Json("Error"),
    ),
];

const GONE: &[Answer] = &[on(204, "It is gone, with all that belongs to it.", Nothing)];

const fn get(path: &'static str, summary: &'static str) -> Operation {
    Operation::new("GET", path, summary)
}

const fn post(path: &'static str, summary: &'static str) -> Operation {
    Operation::new("POST", path, summary)
}

const fn patch(path: &'static str, summary: &'static str) -> Operation {
    Operation::new("PATCH", path, summary)
}

const fn delete(path: &'static str, summary: &'static str) -> Operation {
    Operation::new("DELETE", path, summary).answers(GONE)
}

/// All of them, in the order of the inventory.
pub(super) const OPERATIONS: &[Operation] = &[
    post("/", "Runs the default agent").takes("RunAgentInput").answers(RUN),
    post("/agui", "Runs the default agent").takes("RunAgentInput").answers(RUN),
    get("/agents", "Lists the agents").answers(&[on(200, "All agents.", Json("AgentList"))]),
    get("/agents/{name}", "Describes an agent")
        .answers(&[on(200, "The agent and its capabilities.", Json("Agent"))]),
    post("/agents/{name}", "Runs an agent").takes("RunAgentInput").answers(RUN),
    get("/runs/{runId}/events", "Comes back to a run")
        .asks(&[
            THREAD,
            ("protocolVersion", "string", false, "The protocol version that the client reads."),
        ])
        .answers(&[on(
            200,
            "What follows `Last-Event-ID`, or snapshots of the present and what follows.",
            Events,
        )]),
    post("/runs/{runId}/cancel", "Stops a run").asks(&[THREAD]).answers(&[
        on(202, "It was told to stop.", Json("RunStatus")),
        on(200, "It is over already.", Json("RunStatus")),
    ]),
    get("/sessions", "Lists the sessions, the one changed last first")
        .asks(&[LIMIT, CURSOR])
        .answers(&[on(200, "A page of them.", Json("SessionList"))]),
    post("/sessions", "Makes a session").takes("NewSession").answers(&[
        on(201, "The session.", Json("Session")),
        on(409, "It exists already.", Json("Error")),
    ]),
    get("/sessions/{id}", "Shows a session").answers(&[on(200, "The session.", Json("Session"))]),
    patch("/sessions/{id}", "Changes a session's state or title")
        .takes("SessionChange")
        .answers(&[
            on(200, "The session as it is now.", Json("Session")),
            on(409, "The session has an active run.", Json("Error")),
        ]),
    delete("/sessions/{id}", "Deletes a session"),
    get("/sessions/{id}/messages", "Lists a session's messages, oldest first")
        .asks(&[LIMIT, CURSOR])
        .answers(&[on(200, "A page of them.", Json("MessageList"))]),
    get("/sessions/{id}/interactions", "Lists what is open and every decision")
        .answers(&[on(200, "Both.", Json("InteractionList"))]),
    post("/responses", "Runs one turn and answers with what came of it")
        .takes("ResponseRequest")
        .answers(RESPONSE),
    get("/responses/{id}", "Says how a response stands")
        .asks(&[("sessionId", "string", true, "The session of the response.")])
        .answers(&[on(200, "The response.", Json("Response"))]),
    post("/approvals/{id}", "Approves or denies a tool call").takes("Decision").answers(&[
        on(
            200,
            "Approved: how the response stands now that the run that goes on has ended. Denied: that it was, and how the response stands.",
            Json("Decided"),
        ),
        on(404, "There is no such approval.", Json("Error")),
        on(
            409,
            "Others are open too (`interaction_pending`), or it is settled or over.",
            Json("Error"),
        ),
    ]),
    post("/client-tools/{id}", "Gives a tool's result, a private value or an answer")
        .takes("Output")
        .answers(ANSWERED),
    post("/external-waits/{id}/complete", "Reports the result of an external wait")
        .takes("ExternalResult")
        .answers(SETTLED),
    post("/external-waits/{id}/fail", "Reports that an external wait failed")
        .takes("ExternalFailure")
        .answers(SETTLED),
    post("/copilotkit", "CopilotKit's runtime at a single endpoint")
        .takes("CopilotCall")
        .answers(&[on(200, "As the method has it.", JsonOrEvents("Object"))]),
    get("/copilotkit/info", "What the CopilotKit runtime can do")
        .answers(&[on(200, "Agents and abilities.", Json("Object"))]),
    post("/copilotkit/agent/{id}/run", "Runs an agent for CopilotKit")
        .takes("RunAgentInput")
        .answers(RUN),
    post("/copilotkit/agent/{id}/connect", "Shows a thread to CopilotKit and follows its run")
        .takes("RunAgentInput")
        .answers(RUN),
    post("/copilotkit/agent/{id}/stop/{threadId}", "Stops the run of a thread")
        .may_take("Stop")
        .answers(&[on(200, "Whether a run was told to stop.", Json("Object"))]),
    get("/copilotkit/threads", "Lists the threads for CopilotKit")
        .asks(&[("agentId", "string", false, "The agent to name in the list."), LIMIT, CURSOR])
        .answers(&[on(200, "The threads.", Json("Object"))]),
    patch("/copilotkit/threads/{id}", "Renames a thread")
        .takes("ThreadName")
        .answers(&[on(200, "The thread's new name.", Json("Object"))]),
    delete("/copilotkit/threads/{id}", "Deletes a thread"),
    get("/copilotkit/threads/{id}/messages", "Shows a thread's messages")
        .answers(&[on(200, "The messages.", Json("Object"))]),
    get("/copilotkit/threads/{id}/state", "Shows a thread's state")
        .answers(&[on(200, "The state.", Json("Object"))]),
    get("/copilotkit/threads/{id}/events", "Tells a thread as events")
        .answers(&[on(200, "The events.", Json("Object"))]),
    get("/healthz", "Whether the process lives").answers(&[on(200, "It does.", Json("Health"))]),
    get("/readyz", "Whether runs can be started").answers(&[
        on(200, "They can.", Json("Health")),
        on(503, "The store is away, or the server is shutting down.", Json("Error")),
    ]),
    get("/metrics", "What the process counts, for Prometheus").answers(&[on(
        200,
        "All counters.",
        Text("text/plain"),
    )]),
    get("/openapi.json", "This description")
        .answers(&[on(200, "An OpenAPI 3.1 document.", Json("Object"))]),
    get("/docs", "This description as a page").answers(&[on(200, "A page.", Text("text/html"))]),
];
