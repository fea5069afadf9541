//! Questions and recorded steps in the middle of a tool's code.
//!
//! Code can't be frozen while a person thinks. So it isn't: when it asks, it returns to the run, the
//! run ends with the question, and when the answer is there the code is called **again from its
//! start**, with the answers given so far, in order. Whatever stands before a question and must not be
//! done twice goes into [`RunContext::step`], whose result is recorded once. The order of questions
//! and steps must be the same each time; another order is an error.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::context::RunContext;
use crate::store::{Call, Commit, Entry, Lease, Store};
use crate::tool::ToolError;

/// The journal of a call while its code runs.
#[derive(Debug)]
pub(crate) struct Code {
    inner: Mutex<Inner>,
    records: Option<Records>,
}

#[derive(Debug)]
struct Inner {
    call: Call,
    /// How many entries of the journal this run of the code has come by.
    passed: usize,
    asks: Option<Asks>,
}

/// Where steps are recorded while the code runs.
#[derive(Debug)]
pub(crate) struct Records {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) lease: Lease,
}

/// A question that the code stopped at.
#[derive(Debug, Clone)]
pub(crate) struct Asks {
    pub(crate) message: String,
    pub(crate) schema: Value,
    /// Whether yes or no is all it wants.
    pub(crate) confirms: bool,
}

impl Code {
    pub(crate) fn new(call: Call, records: Option<Records>) -> Self {
        Self {
            inner: Mutex::new(Inner {
                call,
                passed: 0,
                asks: None,
            }),
            records,
        }
    }

    /// The call with its journal as the code left it, and the question that it stopped at.
    pub(crate) fn into_parts(self) -> (Call, Option<Asks>) {
        let inner = self
            .inner
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        (inner.call, inner.asks)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The recorded answer, or stops at the question.
    fn ask(&self, asks: Asks) -> Result<Value, ToolError> {
        let mut inner = self.inner();
        if inner.asks.is_some() {
            return Err(ToolError::new(
                "a question is open already; ask one after the other",
            ));
        }
        let passed = inner.passed;
        match inner.call.journal.entries.get(passed) {
            Some(Entry::Asked {
                message,
                answer: Some(answer),
            }) if *message == asks.message => {
                let answer = answer.clone();
                inner.passed += 1;
                Ok(answer)
            }
            None => {
                inner.call.journal.entries.push(Entry::Asked {
                    message: asks.message.clone(),
                    answer: None,
                });
                inner.asks = Some(asks);
                Err(ToolError::new("the call waits for an answer"))
            }
            Some(other) => Err(out_of_order(other, &format!("question {:?}", asks.message))),
        }
    }

    /// The recorded result of a step, if it was done before.
    fn recorded(&self, name: &str) -> Result<Option<Value>, ToolError> {
        let mut inner = self.inner();
        let passed = inner.passed;
        match inner.call.journal.entries.get(passed) {
            None => Ok(None),
            Some(Entry::Step {
                name: known,
                result,
            }) if known == name => {
                let result = result.clone();
                inner.passed += 1;
                Ok(Some(result))
            }
            Some(other) => Err(out_of_order(other, &format!("step {name:?}"))),
        }
    }

    /// Records a step before anything else happens.
    async fn record(&self, name: &str, result: Value) -> Result<(), ToolError> {
        let call = {
            let mut inner = self.inner();
            inner.call.journal.entries.push(Entry::Step {
                name: name.to_owned(),
                result,
            });
            inner.passed += 1;
            inner.call.clone()
        };
        let Some(records) = &self.records else {
            return Ok(());
        };
        let commit = Commit {
            calls: vec![call],
            ..Commit::default()
        };
        records
            .store
            .commit(&records.lease, commit)
            .await
            .map_err(|error| {
                tracing::error!(%error, step = name, "a step could not be recorded");
                ToolError::new("the step could not be recorded")
            })
    }
}

fn out_of_order(recorded: &Entry, now: &str) -> ToolError {
    let before = match recorded {
        Entry::Asked { message, .. } => format!("question {message:?}"),
        Entry::Step { name, .. } => format!("step {name:?}"),
    };
    ToolError::new(format!(
        "the code went another way than before: {before} was recorded, and now comes {now}"
    ))
}

/// A question to the person; `await` it.
///
/// While the person thinks nothing waits: the run ends with the question, and with the answer the
/// tool is called again from its start, the answers given so far in hand. What stands before a
/// question and must not be done twice goes into [`RunContext::step`].
#[derive(Debug)]
#[must_use = "a question is asked when it is awaited"]
pub struct Question<'a, T> {
    run: RunContext<'a>,
    asks: Asks,
    of: PhantomData<fn() -> T>,
}

impl<'a> RunContext<'a> {
    /// Asks the person; the answer is any JSON unless a [schema](Question::schema) says more.
    pub fn ask(&self, message: impl Into<String>) -> Question<'a, Value> {
        let asks = Asks {
            message: message.into(),
            schema: json!({}),
            confirms: false,
        };
        Question {
            run: *self,
            asks,
            of: PhantomData,
        }
    }

    /// Asks the person for a yes or a no.
    ///
    /// # Errors
    /// The question stops the call until the answer is there; hand the error on.
    pub async fn confirm(&self, message: impl Into<String>) -> Result<bool, ToolError> {
        let schema = json!({
            "type": "object",
            "properties": { "approved": { "type": "boolean" } },
            "required": ["approved"],
            "additionalProperties": false,
        });
        let answer = self.code()?.ask(Asks {
            message: message.into(),
            schema,
            confirms: true,
        })?;
        Ok(answer["approved"] == true)
    }

    /// Does something once, however often the code runs: the result is recorded before the code goes
    /// on.
    ///
    /// # Errors
    /// What `work` returns; nothing is recorded then. Also when the result can't be recorded, or the
    /// code went another way than before.
    pub async fn step<T, E, F>(&self, name: &str, work: F) -> Result<T, ToolError>
    where
        T: Serialize + DeserializeOwned,
        E: fmt::Display,
        F: Future<Output = Result<T, E>>,
    {
        let wrong = |error: serde_json::Error| ToolError::new(format!("step {name:?}: {error}"));
        if let Some(recorded) = self.code()?.recorded(name)? {
            return serde_json::from_value(recorded).map_err(wrong);
        }
        let result = work.await.map_err(ToolError::new)?;
        self.code()?
            .record(name, serde_json::to_value(&result).map_err(wrong)?)
            .await?;
        Ok(result)
    }
}

impl<'a, T> Question<'a, T> {
    /// Asks for a value of a type; the page shows a form for it.
    pub fn schema<U: JsonSchema + DeserializeOwned>(self) -> Question<'a, U> {
        let schema = schemars::schema_for!(U).to_value();
        Question {
            run: self.run,
            asks: Asks {
                schema,
                ..self.asks
            },
            of: PhantomData,
        }
    }
}

impl<'a, T: DeserializeOwned + Send + 'static> IntoFuture for Question<'a, T> {
    type Output = Result<T, ToolError>;
    type IntoFuture = BoxFuture<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        let answer = self.run.code().and_then(|code| code.ask(self.asks));
        let typed = answer.and_then(|answer| {
            serde_json::from_value(answer)
                .map_err(|e| ToolError::new(format!("the answer does not fit: {e}")))
        });
        std::future::ready(typed).boxed()
    }
}
