//! What code of the application sees of a run.

use std::marker::PhantomData;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use antiphon_protocol::{Custom, RunAgentInput};
use antiphon_state::{Patch, diff, shallow_merge};
use futures_util::future::BoxFuture;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::ask::Code;
use crate::canonical;
use crate::emitter::Emitter;
use crate::resource::Resources;
use crate::store::ThreadKey;
use crate::tool::ToolError;

/// The facts of a run, the same for all its tools.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) agent: String,
    pub(crate) key: ThreadKey,
    pub(crate) run_id: String,
    pub(crate) response_id: String,
    pub(crate) input: Arc<RunAgentInput>,
    pub(crate) resources: Resources,
    pub(crate) metadata: OnceLock<Value>,
}

/// One use of a run by tool code: its call and its own copy of the state.
#[derive(Debug)]
pub(crate) struct Scope {
    pub(crate) facts: Arc<Facts>,
    pub(crate) emitter: Arc<Emitter>,
    /// The journal of the call's code; a context provider has none.
    pub(crate) code: Option<Code>,
    call_id: String,
    wait_id: Option<String>,
    base: Arc<Value>,
    /// The state with the code's own changes, from its first change on.
    working: Mutex<Option<Value>>,
}

impl Scope {
    pub(crate) fn new(
        facts: Arc<Facts>,
        emitter: Arc<Emitter>,
        code: Option<Code>,
        call_id: String,
        state: Arc<Value>,
    ) -> Self {
        let working = Mutex::new(None);
        Self {
            facts,
            emitter,
            code,
            call_id,
            wait_id: None,
            working,
            base: state,
        }
    }

    /// The scope of a call that begins the work of another system.
    pub(crate) fn waiting(mut self, wait_id: Option<String>) -> Self {
        self.wait_id = wait_id;
        self
    }

    /// What the code changed of the state, if anything.
    pub(crate) fn changes(&self) -> Option<Patch> {
        let working = self.working.lock().unwrap_or_else(PoisonError::into_inner);
        let patch = diff(&self.base, working.as_ref()?);
        (!patch.is_empty()).then_some(patch)
    }
}

/// A run, as tools and context providers see it.
#[derive(Debug, Clone, Copy)]
pub struct RunContext<'a> {
    scope: &'a Scope,
}

impl<'a> RunContext<'a> {
    pub(crate) fn new(scope: &'a Scope) -> Self {
        Self { scope }
    }

    /// The agent's name.
    #[must_use]
    pub fn agent(&self) -> &'a str {
        &self.scope.facts.agent
    }

    /// The user, as the authenticator named them. This, and nothing that the client sent, is who
    /// the run works for.
    #[must_use]
    pub fn user(&self) -> &'a str {
        &self.scope.facts.key.user
    }

    /// The thread id.
    #[must_use]
    pub fn thread_id(&self) -> &'a str {
        &self.scope.facts.key.thread
    }

    /// The run id.
    #[must_use]
    pub fn run_id(&self) -> &'a str {
        &self.scope.facts.run_id
    }

    /// The server's own name of this run, as in `GET /responses/{id}`.
    #[must_use]
    pub fn response_id(&self) -> &'a str {
        &self.scope.facts.response_id
    }

    /// The tool call id; empty in a context provider.
    #[must_use]
    pub fn tool_call_id(&self) -> &'a str {
        &self.scope.call_id
    }

    /// The id under which another system delivers its result, in a tool that begins such work.
    #[must_use]
    pub fn wait_id(&self) -> Option<&'a str> {
        self.scope.wait_id.as_deref()
    }

    pub(crate) fn code(&self) -> Result<&'a Code, ToolError> {
        self.scope
            .code
            .as_ref()
            .ok_or_else(|| ToolError::new("only a tool can ask and record steps"))
    }

    /// A key that is the same whenever this call is made again, and no other call's, for
    /// `Idempotency-Key` headers: SHA-256 of user, thread and call, in hexadecimal.
    #[must_use]
    pub fn idempotency_key(&self) -> String {
        let key = &self.scope.facts.key;
        canonical::hash(&json!([key.user, key.thread, self.scope.call_id]))
    }

    /// What the client posted to start this run. It is data, never authority.
    #[must_use]
    pub fn input(&self) -> &'a RunAgentInput {
        &self.scope.facts.input
    }

    /// The value of the context entry with this description, as the page sent it.
    #[must_use]
    pub fn context(&self, description: &str) -> Option<&'a str> {
        self.input()
            .context
            .iter()
            .find(|c| c.description == description)
            .map(|c| c.value.as_str())
    }

    /// Invocation metadata: `{"agui": {"context": [...], "tools": [...], "forwardedProps": ...}}`.
    #[must_use]
    pub fn metadata(&self) -> &'a Value {
        let input = self.input();
        self.scope.facts.metadata.get_or_init(|| {
            json!({ "agui": {
                "context": input.context,
                "tools": input.tools,
                "forwardedProps": input.forwarded_props,
            } })
        })
    }

    /// A value of the application, added with [`Agent::resource`](crate::Agent::resource).
    ///
    /// # Errors
    /// When the agent has no value of this type.
    pub fn resource<T: Send + Sync + 'static>(&self) -> Result<Resource<T>, ToolError> {
        let found = self.scope.facts.resources.find::<T>();
        found.map(Resource).ok_or_else(|| {
            tracing::error!(
                agent = self.agent(),
                wanted = std::any::type_name::<T>(),
                "a tool wants a resource that the agent does not have"
            );
            ToolError::new("the tool is not set up")
        })
    }

    /// The shared state as a type of the application.
    #[must_use]
    pub fn state<T>(&self) -> State<'a, T> {
        State {
            scope: self.scope,
            of: PhantomData,
        }
    }

    /// Sends a CUSTOM event. Names without a prefix are reserved by AG-UI; use `<yours>.<name>`.
    pub fn emit(&self, name: impl Into<String>, value: Value) {
        self.scope.emitter.emit(Custom::new(name, value));
    }
}

/// A value of the application, shared by all runs.
#[derive(Debug)]
pub struct Resource<T>(Arc<T>);

impl<T> Clone for Resource<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> std::ops::Deref for Resource<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// The shared state, as a tool sees it: its own copy, made when the call began. What the tool changes
/// is applied to the thread's state and sent to the page when the tool has run well.
#[derive(Debug)]
pub struct State<'a, T> {
    scope: &'a Scope,
    of: PhantomData<fn() -> T>,
}

impl<T> Clone for State<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for State<'_, T> {}

impl<T: DeserializeOwned> State<'_, T> {
    /// Reads it.
    ///
    /// # Errors
    /// When the state does not have the shape of `T`.
    pub fn get(&self) -> Result<T, ToolError> {
        let working = self
            .scope
            .working
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        T::deserialize(working.as_ref().unwrap_or(&self.scope.base))
            .map_err(|e| ToolError::new(format!("the shared state does not fit: {e}")))
    }
}

impl<T: DeserializeOwned + Serialize> State<'_, T> {
    /// Changes it. Keys that `T` does not know stay as they are.
    ///
    /// # Errors
    /// When the state does not have the shape of `T`, or `T` is not written as a JSON object.
    pub fn update<R>(&self, change: impl FnOnce(&mut T) -> R) -> Result<R, ToolError> {
        let mut typed = self.get()?;
        let result = change(&mut typed);
        let written = serde_json::to_value(&typed)
            .map_err(|e| ToolError::new(format!("the new state is not JSON: {e}")))?;
        let Value::Object(written) = written else {
            return Err(ToolError::new("the new state is not a JSON object"));
        };
        let mut working = self
            .scope
            .working
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        shallow_merge(
            working.get_or_insert_with(|| (*self.scope.base).clone()),
            written,
        );
        Ok(result)
    }
}

/// Adds text to what the model is told in a run, marked as data. Every
/// `async fn(RunContext<'_>) -> String` is one; it may also return an `Option`, or a `Result` of either.
pub trait ContextProvider: Send + Sync + 'static {
    /// The text, or nothing.
    ///
    /// # Errors
    /// The run goes on without the text; the error is logged.
    fn provide<'a>(
        &'a self,
        run: RunContext<'a>,
    ) -> BoxFuture<'a, Result<Option<String>, ToolError>>;
}
