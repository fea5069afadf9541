//! Agents: a model, its instructions and tools, and the state it shares with the page.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use antiphon_model::{Model, ToolSpec};
use antiphon_protocol::Event;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::context::ContextProvider;
use crate::error::BuildError;
use crate::mapping::{CallMapping, FinishedCall, Mappings, Prediction, ResultMapping};
use crate::middleware::{Middleware, Outgoing, Stateless};
use crate::resource::Resources;
use crate::schema::Schema;
use crate::tool::{Argument, IntoTools, Tool, ToolOutput, ToolSet};

/// What of a conversation the server keeps and the model sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum History {
    /// The stored thread is the truth; the client's list is read for what is new.
    #[default]
    Thread,
    /// The client's list is the whole history; only the run and its interactions are stored.
    Client,
    /// The thread is stored, and the model sees only the current turn.
    Turn,
}

/// What becomes of a run when its last reader leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum OnDisconnect {
    /// It is cancelled within a second.
    #[default]
    Cancel,
    /// It goes on and is stored.
    Detach,
}

/// What becomes of a run when a person declines a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum OnDecline {
    /// The model is told and goes on.
    #[default]
    Continue,
    /// The run ends with RUN_ERROR `approval_declined`.
    Stop,
}

/// Bounds of one run. Waiting for people is not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Model calls.
    pub turns: u32,
    /// Tool calls.
    pub calls: u32,
    /// Tool calls that run at the same time.
    pub parallel_calls: usize,
    /// Time.
    pub time: Duration,
    /// Size of the shared state as JSON, in bytes.
    pub state_bytes: usize,
    /// Size of one tool result, in bytes; what is longer is cut with a notice.
    pub result_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            turns: 16,
            calls: 128,
            parallel_calls: 16,
            time: Duration::from_secs(300),
            state_bytes: 1 << 20,
            result_bytes: 1 << 20,
        }
    }
}

/// Describes an agent; [`build`](Self::build) checks it.
pub struct Agent {
    name: String,
    settings: Settings,
    model: Option<Arc<dyn Model>>,
    tools: Vec<Tool>,
    schema: Option<Value>,
    /// Whether the schema is a type's, which has no other keys than its own.
    typed: bool,
    initial: Map<String, Value>,
    inject_state: Option<bool>,
}

/// What a built agent keeps as it was described.
pub(crate) struct Settings {
    pub(crate) description: String,
    pub(crate) instructions: Option<String>,
    pub(crate) parameters: Map<String, Value>,
    pub(crate) history: History,
    pub(crate) inject_context: bool,
    pub(crate) on_disconnect: OnDisconnect,
    pub(crate) on_decline: OnDecline,
    pub(crate) limits: Limits,
    pub(crate) mappings: Mappings,
    pub(crate) require_confirmation: bool,
    pub(crate) namespace: String,
    pub(crate) resources: Resources,
    pub(crate) providers: Vec<Arc<dyn ContextProvider>>,
    pub(crate) middleware: Vec<Arc<dyn Middleware>>,
    pub(crate) replay_answers: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            description: String::new(),
            instructions: None,
            parameters: Map::new(),
            history: History::default(),
            inject_context: false,
            on_disconnect: OnDisconnect::default(),
            on_decline: OnDecline::default(),
            limits: Limits::default(),
            mappings: Mappings::default(),
            require_confirmation: false,
            namespace: "harnest".to_owned(),
            resources: Resources::default(),
            providers: Vec::new(),
            middleware: Vec::new(),
            replay_answers: true,
        }
    }
}

/// An agent that has been checked and can run.
pub struct BuiltAgent {
    pub(crate) name: String,
    pub(crate) settings: Settings,
    pub(crate) model: Arc<dyn Model>,
    pub(crate) tools: ToolSet,
    pub(crate) specs: Arc<[ToolSpec]>,
    pub(crate) state_schema: Option<Schema>,
    pub(crate) initial: Map<String, Value>,
    pub(crate) inject_state: bool,
}

impl Agent {
    /// An agent with this name; it is served at `POST /agents/{name}`.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            settings: Settings::default(),
            model: None,
            tools: Vec::new(),
            schema: None,
            typed: false,
            initial: Map::new(),
            inject_state: None,
        }
    }

    /// What it is for, as listings show it.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.settings.description = description.into();
        self
    }

    /// What the model is told first.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.settings.instructions = Some(instructions.into());
        self
    }

    /// The model that it calls.
    #[must_use]
    pub fn model(mut self, model: impl Model) -> Self {
        self.model = Some(Arc::new(model));
        self
    }

    /// The model that it calls, already shared.
    #[must_use]
    pub fn shared_model(mut self, model: Arc<dyn Model>) -> Self {
        self.model = Some(model);
        self
    }

    /// Parameters that go to the provider with every call, in its own names where they differ.
    #[must_use]
    pub fn parameters(mut self, parameters: Map<String, Value>) -> Self {
        self.settings.parameters = parameters;
        self
    }

    /// Adds tools.
    #[must_use]
    pub fn tools(mut self, tools: impl IntoTools) -> Self {
        self.tools.extend(tools.into_tools());
        self
    }

    /// Takes the shared state's schema and its initial value from a type.
    #[must_use]
    pub fn state<T: JsonSchema + Serialize + Default>(mut self) -> Self {
        self.typed = true;
        let schema = schemars::schema_for!(T).to_value();
        let initial = match serde_json::to_value(T::default()) {
            Ok(Value::Object(initial)) => initial,
            _ => Map::new(),
        };
        self.state_schema(schema).initial_state(initial)
    }

    /// The JSON Schema of the shared state, an object.
    #[must_use]
    pub fn state_schema(mut self, schema: Value) -> Self {
        self.schema = Some(schema);
        self
    }

    /// The shared state of a new thread, before the client's own keys.
    #[must_use]
    pub fn initial_state(mut self, initial: Map<String, Value>) -> Self {
        self.initial = initial;
        self
    }

    /// Whether the model sees the current state; it does where there is a schema, unless set here.
    #[must_use]
    pub fn inject_state(mut self, inject: bool) -> Self {
        self.inject_state = Some(inject);
        self
    }

    /// Whether the model sees the context that the page sends.
    #[must_use]
    pub fn inject_context(mut self, inject: bool) -> Self {
        self.settings.inject_context = inject;
        self
    }

    /// Shows a tool's argument under a key of the state while the model still writes it.
    #[must_use]
    pub fn predict(mut self, state_key: impl Into<String>, argument: Argument) -> Self {
        self.settings.mappings.predictions.push(Prediction {
            state_key: state_key.into(),
            argument,
        });
        self
    }

    /// Makes every predicting tool wait for approval before it runs.
    #[must_use]
    pub fn require_confirmation(mut self, require: bool) -> Self {
        self.settings.require_confirmation = require;
        self
    }

    /// Makes an argument of a finished call state.
    #[must_use]
    pub fn call_as_state(mut self, state_key: impl Into<String>, argument: Argument) -> Self {
        self.settings.mappings.calls.push(CallMapping::State {
            state_key: state_key.into(),
            argument,
        });
        self
    }

    /// Turns each finished call of a tool into events, sent before the tool runs. State events are a
    /// prediction: they are taken back if the call fails, and become state when it succeeds. The members
    /// of a STATE_SNAPSHOT replace those of the state, and the other ones stay; a STATE_DELTA that does
    /// not apply is left out and logged.
    #[must_use]
    pub fn map_call<I>(
        mut self,
        tool: impl Into<String>,
        map: impl Fn(&FinishedCall<'_>) -> I + Send + Sync + 'static,
    ) -> Self
    where
        I: IntoIterator,
        I::Item: Into<Event>,
    {
        let events = Arc::new(move |call: &FinishedCall<'_>| {
            map(call).into_iter().map(Into::into).collect()
        });
        self.settings.mappings.calls.push(CallMapping::Events {
            tool: tool.into(),
            events,
        });
        self
    }

    /// Makes a tool's JSON result the whole state.
    #[must_use]
    pub fn result_as_snapshot(mut self, tool: impl Into<String>) -> Self {
        self.settings
            .mappings
            .results
            .push(ResultMapping::Snapshot { tool: tool.into() });
        self
    }

    /// Applies a tool's result, a JSON Patch, to the state.
    #[must_use]
    pub fn result_as_delta(mut self, tool: impl Into<String>) -> Self {
        self.settings
            .mappings
            .results
            .push(ResultMapping::Delta { tool: tool.into() });
        self
    }

    /// Turns each result of a tool into events, sent after it. State events change the thread's state:
    /// a STATE_SNAPSHOT is the whole state from then on, and a STATE_DELTA that does not apply fails
    /// the call.
    #[must_use]
    pub fn map_result<I>(
        mut self,
        tool: impl Into<String>,
        map: impl Fn(&FinishedCall<'_>, &ToolOutput) -> I + Send + Sync + 'static,
    ) -> Self
    where
        I: IntoIterator,
        I::Item: Into<Event>,
    {
        let events = Arc::new(move |call: &FinishedCall<'_>, output: &ToolOutput| {
            map(call, output).into_iter().map(Into::into).collect()
        });
        self.settings.mappings.results.push(ResultMapping::Events {
            tool: tool.into(),
            events,
        });
        self
    }

    /// What of a conversation is kept and seen.
    #[must_use]
    pub fn history(mut self, history: History) -> Self {
        self.settings.history = history;
        self
    }

    /// What becomes of a run when its last reader leaves.
    #[must_use]
    pub fn on_disconnect(mut self, policy: OnDisconnect) -> Self {
        self.settings.on_disconnect = policy;
        self
    }

    /// What becomes of a run when a person declines a call.
    #[must_use]
    pub fn on_decline(mut self, policy: OnDecline) -> Self {
        self.settings.on_decline = policy;
        self
    }

    /// Bounds of one run.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.settings.limits = limits;
        self
    }

    /// The prefix of CUSTOM names and the member of an interrupt's metadata; `harnest` unless set.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.settings.namespace = namespace.into();
        self
    }

    /// Whether an answer that repeats one already given is answered with the recorded outcome (the
    /// default) or refused.
    #[must_use]
    pub fn replay_answers(mut self, replay: bool) -> Self {
        self.settings.replay_answers = replay;
        self
    }

    /// Adds a value that tools may ask for by its type.
    #[must_use]
    pub fn resource<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.settings.resources.insert(value);
        self
    }

    /// Adds text to what the model is told in each run, marked as data.
    ///
    /// ```
    /// use antiphon_agent::{Agent, RunContext};
    ///
    /// async fn place(run: RunContext<'_>) -> Option<String> {
    ///     let page = run.context("Current page")?;
    ///     Some(format!("The person looks at {page}."))
    /// }
    ///
    /// let agent = Agent::new("guide").context(place);
    /// ```
    #[must_use]
    pub fn context(mut self, provider: impl ContextProvider) -> Self {
        self.settings.providers.push(Arc::new(provider));
        self
    }

    /// Puts a hook around the event stream of each run.
    #[must_use]
    pub fn middleware(mut self, middleware: impl Middleware) -> Self {
        self.settings.middleware.push(Arc::new(middleware));
        self
    }

    /// Puts a function around the event stream of each run.
    #[must_use]
    pub fn on_event(
        self,
        filter: impl Fn(Event, &mut Outgoing) + Clone + Send + Sync + 'static,
    ) -> Self {
        self.middleware(Stateless(filter))
    }

    /// Checks the description and makes the agent ready to run.
    ///
    /// # Errors
    /// When the agent has no model, a schema can't be compiled, a tool has no proper name or one that
    /// is taken, a mapping names a tool, an argument or a key that does not exist, or the initial state
    /// does not fit.
    pub fn build(self) -> Result<BuiltAgent, BuildError> {
        let name = self.name.clone();
        self.checked()
            .map_err(|error| error.within(format_args!("agents.{name}")))
    }

    fn checked(self) -> Result<BuiltAgent, BuildError> {
        let Some(model) = self.model else {
            return Err(BuildError::new("no model is set"));
        };
        let tools = ToolSet::build(self.tools)?;
        let schema = self.schema.as_ref().map(whole_state);
        let state_schema = schema
            .as_ref()
            .zip(self.schema.as_ref())
            .map(|(whole, written)| compile_state(whole, written))
            .transpose()
            .map_err(|e| e.within("state.schema"))?;
        let keys = schema
            .as_ref()
            .and_then(|schema| all_keys(schema, self.typed));
        self.settings.mappings.check(&tools, keys)?;
        let initial = Value::Object(self.initial);
        if let Some(schema) = &state_schema {
            schema
                .check(&initial)
                .map_err(|e| BuildError::new(e).within("state.initial"))?;
        }
        let Value::Object(initial) = initial else {
            return Err(BuildError::new("state.initial is not an object"));
        };
        Ok(BuiltAgent {
            name: self.name,
            specs: tools.specs().into(),
            inject_state: self.inject_state.unwrap_or(state_schema.is_some()),
            settings: self.settings,
            model,
            tools,
            state_schema,
            initial,
        })
    }
}

/// A schema of the whole state: either it is one already, or it lists the keys with theirs.
fn whole_state(schema: &Value) -> Value {
    const MARKS: [&str; 6] = ["$schema", "$ref", "properties", "allOf", "anyOf", "oneOf"];
    let is_whole = schema.get("type").is_some_and(Value::is_string)
        || MARKS.iter().any(|mark| schema.get(mark).is_some());
    if is_whole {
        schema.clone()
    } else {
        json!({ "type": "object", "properties": schema })
    }
}

/// Compiles the schema of the whole state; an error names the place in what was written.
fn compile_state(schema: &Value, written: &Value) -> Result<Schema, BuildError> {
    match schema.get("type").and_then(Value::as_str) {
        None | Some("object") => Schema::compile(schema).map_err(|why| {
            let inner = why
                .strip_prefix("/properties")
                .filter(|_| schema != written);
            BuildError::new(inner.unwrap_or(&why))
        }),
        Some(other) => Err(BuildError::new(format!(
            "the state is an object, and this is the schema of type {other:?}"
        ))),
    }
}

/// The keys of the state where its schema allows no other ones.
fn all_keys(schema: &Value, typed: bool) -> Option<&Map<String, Value>> {
    const MORE: [&str; 5] = ["$ref", "allOf", "anyOf", "oneOf", "patternProperties"];
    let closed = match schema.get("additionalProperties") {
        Some(additional) => *additional == Value::Bool(false),
        None => typed,
    };
    let is_whole = !MORE.iter().any(|word| schema.get(word).is_some());
    schema
        .get("properties")
        .filter(|_| closed && is_whole)?
        .as_object()
}

impl BuiltAgent {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it is for.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.settings.description
    }

    /// Puts something around its model, such as a meter.
    #[must_use]
    pub fn wrap_model(mut self, wrap: impl FnOnce(Arc<dyn Model>) -> Arc<dyn Model>) -> Self {
        self.model = wrap(self.model);
        self
    }

    /// What of a conversation the server keeps.
    #[must_use]
    pub fn history(&self) -> History {
        self.settings.history
    }

    /// What becomes of a run when its last reader leaves.
    #[must_use]
    pub fn on_disconnect(&self) -> OnDisconnect {
        self.settings.on_disconnect
    }

    /// What its runs may use up.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.settings.limits
    }

    /// Its tools.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.tools.iter()
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent")
            .field("name", &self.name)
            .field("tools", &self.tools.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for BuiltAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BuiltAgent")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
