//! Tools that this client runs for an agent.

use std::{fmt, sync::Arc};

use antiphon_protocol::Tool;
use futures_util::future::BoxFuture;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::question::value;
use crate::{Client, Ended};

type Function = dyn Fn(Value) -> BoxFuture<'static, Result<Value, String>> + Send + Sync;

/// A function that an agent may call here.
///
/// ```
/// use antiphon_client::{Client, ClientTool};
/// use serde::Deserialize;
/// use serde_json::json;
///
/// #[derive(Deserialize)]
/// struct Background { color: String }
///
/// let change_background = ClientTool::new(
///     "change_background",
///     "Change the page's background.",
///     json!({
///         "type": "object",
///         "properties": { "color": { "type": "string" } },
///         "required": ["color"],
///     }),
///     |background: Background| async move {
///         if background.color == "plaid" {
///             return Err("plaid is not a color");
///         }
///         Ok(json!({ "changed_to": background.color }))
///     },
/// );
/// let thread = Client::connect("http://127.0.0.1:8888/agents/recipe")?
///     .thread("t1")
///     .client_tool(change_background);
/// # let _ = thread;
/// # Ok::<(), antiphon_client::Error>(())
/// ```
#[derive(Clone)]
pub struct ClientTool {
    tool: Tool,
    function: Arc<Function>,
}

impl ClientTool {
    /// Makes a tool of a function. `parameters` is the JSON Schema of its argument.
    ///
    /// Arguments that the function's type cannot hold, and what the function fails with, are
    /// told to the agent, which may try again.
    #[must_use]
    pub fn new<A, R, E, F, Fut>(
        name: impl Into<String>,
        description: impl Into<String>,
        parameters: Value,
        function: F,
    ) -> Self
    where
        A: DeserializeOwned,
        R: Serialize,
        E: fmt::Display,
        F: Fn(A) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, E>> + Send + 'static,
    {
        let mut tool = Tool::new(name, description);
        tool.parameters = Some(parameters);
        let function = move |arguments: Value| -> BoxFuture<'static, Result<Value, String>> {
            match serde_json::from_value(arguments) {
                Err(error) => {
                    let why = format!("the arguments do not fit: {error}");
                    Box::pin(async move { Err(why) })
                }
                Ok(arguments) => {
                    let result = function(arguments);
                    Box::pin(
                        async move { result.await.map(value).map_err(|error| error.to_string()) },
                    )
                }
            }
        };
        Self {
            tool,
            function: Arc::new(function),
        }
    }

    /// Makes a tool of another agent: its argument is the task as text, its result the text that
    /// the agent answers with. Every call is a thread of its own.
    ///
    /// An agent that stops to ask fails the call: there is nobody here to answer.
    #[must_use]
    pub fn agent(name: impl Into<String>, description: impl Into<String>, agent: Client) -> Self {
        #[derive(serde::Deserialize)]
        struct Task {
            task: String,
        }
        let parameters = json!({
            "type": "object",
            "properties": { "task": { "type": "string", "description": "What to do, in full." } },
            "required": ["task"],
        });
        Self::new(name, description, parameters, move |Task { task }: Task| {
            let agent = agent.clone();
            async move { ask(&agent, &task).await }
        })
    }

    /// Returns the tool as the agent is told of it.
    #[must_use]
    pub const fn tool(&self) -> &Tool {
        &self.tool
    }

    /// Returns the name, by which the agent calls it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.tool.name
    }

    /// Runs the function. `arguments` is JSON text, as a call holds it; empty text is `{}`.
    ///
    /// # Errors
    ///
    /// Why it failed, in words for the agent.
    pub async fn call(&self, arguments: &str) -> Result<Value, String> {
        let arguments = match arguments.trim() {
            "" => json!({}),
            text => serde_json::from_str(text)
                .map_err(|error| format!("the arguments are not JSON: {error}"))?,
        };
        (self.function)(arguments).await
    }
}

/// Lets an agent do a task on a thread of its own.
async fn ask(agent: &Client, task: &str) -> Result<String, String> {
    let mut thread = agent.new_thread();
    let ended = match thread.send(task).await {
        Ok(run) => run.finish().await,
        Err(error) => Err(error),
    };
    match ended.map_err(|error| error.to_string())? {
        Ended::Done(_) => Ok(thread.text().to_owned()),
        Ended::Asked(questions) => {
            let asked = questions.iter().find_map(|question| question.message());
            Err(format!(
                "the agent stopped to ask: {}",
                asked.unwrap_or("something without words")
            ))
        }
        Ended::Waiting(_) => Err("the agent waits for a tool that is not here".to_owned()),
        Ended::InProgress { .. } => Err("the agent waits for another system".to_owned()),
        Ended::Cancelled => Err("the agent was stopped".to_owned()),
    }
}

impl fmt::Debug for ClientTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientTool")
            .field("tool", &self.tool)
            .finish_non_exhaustive()
    }
}
