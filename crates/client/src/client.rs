//! Where an agent is and how it is spoken to.

use std::{fmt, sync::Arc};

use antiphon_protocol::Dialect;
use uuid::Uuid;

use crate::http::{Address, Transport};
use crate::options::{History, Limits, Rejoin, Timeouts};
use crate::{Error, Thread};

/// An agent somewhere. Cheap to clone; every [`Thread`] holds one.
///
/// Its debug output holds no token, no header's value and no query of the URL.
///
/// ```
/// use antiphon_client::Client;
///
/// let client = Client::connect("http://127.0.0.1:8888/agents/recipe")?.token("s3cret");
/// assert!(!format!("{client:?}").contains("s3cret"));
/// # Ok::<(), antiphon_client::Error>(())
/// ```
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

#[derive(Clone)]
struct Inner {
    transport: Transport,
    limits: Limits,
    rejoin: Rejoin,
    history: History,
    dialect: Dialect,
    strict: bool,
}

impl Client {
    /// Makes a client for the agent at this URL. No connection is made before the first run.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Setup`](crate::ErrorKind::Setup): it is not an http or https URL.
    pub fn connect(url: impl AsRef<str>) -> Result<Self, Error> {
        let inner = Inner {
            transport: Transport::new(Address::new(url.as_ref())?),
            limits: Limits::default(),
            rejoin: Rejoin::default(),
            history: History::default(),
            dialect: Dialect::V1,
            strict: false,
        };
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    fn with(mut self, change: impl FnOnce(&mut Inner)) -> Self {
        change(Arc::make_mut(&mut self.inner));
        self
    }

    /// Sends this token as `Authorization: Bearer` with every request.
    #[must_use]
    pub fn token(self, token: impl AsRef<str>) -> Self {
        self.with(|inner| inner.transport.headers.token(token.as_ref()))
    }

    /// Sends this header with every request. It is taken for a secret.
    ///
    /// One that cannot be sent is an error of the first request.
    #[must_use]
    pub fn header(self, name: impl AsRef<str>, value: impl AsRef<str>) -> Self {
        self.with(|inner| {
            let headers = &mut inner.transport.headers;
            headers.insert(name.as_ref(), value.as_ref());
        })
    }

    /// Sets how long to wait.
    #[must_use]
    pub fn timeouts(self, timeouts: Timeouts) -> Self {
        self.with(|inner| inner.transport.set_timeouts(timeouts))
    }

    /// Sets how much to take.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        self.with(|inner| inner.limits = limits)
    }

    /// Sets how often a run that was cut off is joined again.
    #[must_use]
    pub fn rejoin(self, rejoin: Rejoin) -> Self {
        self.with(|inner| inner.rejoin = rejoin)
    }

    /// Sets who keeps the history.
    #[must_use]
    pub fn history(self, history: History) -> Self {
        self.with(|inner| inner.history = history)
    }

    /// Sets the dialect to speak. [`Dialect::V0`] declares no version and sends only what 0.x
    /// servers know; what they answer is read in either case.
    #[must_use]
    pub fn max_protocol(self, dialect: Dialect) -> Self {
        self.with(|inner| inner.dialect = dialect)
    }

    /// Asks for events as protobuf. Numbers inside of free JSON become doubles there, and a run
    /// that is cut off cannot be joined again.
    #[must_use]
    pub fn protobuf(self, protobuf: bool) -> Self {
        self.with(|inner| inner.transport.protobuf = protobuf)
    }

    /// Holds the server to every duty that it has: what is otherwise a
    /// [warning](crate::Run::warnings) fails the run.
    #[must_use]
    pub fn strict(self, strict: bool) -> Self {
        self.with(|inner| inner.strict = strict)
    }

    /// Sets the URL under which the server keeps `runs/{id}/events` and `runs/{id}/cancel`.
    /// Without it they are looked for beside the agent: for `https://host/x/agents/recipe` below
    /// `https://host/x/`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Setup`](crate::ErrorKind::Setup): it is not an http or https URL.
    pub fn runs_url(self, url: impl AsRef<str>) -> Result<Self, Error> {
        let address = self
            .inner
            .transport
            .address
            .clone()
            .with_runs(url.as_ref())?;
        Ok(self.with(|inner| inner.transport.address = address))
    }

    /// Returns a thread with this id, of which nothing is known here yet.
    #[must_use]
    pub fn thread(&self, id: impl Into<String>) -> Thread {
        Thread::new(self.clone(), id.into())
    }

    /// Returns a thread with a new id.
    #[must_use]
    pub fn new_thread(&self) -> Thread {
        self.thread(new_id())
    }

    pub(crate) fn transport(&self) -> &Transport {
        &self.inner.transport
    }

    pub(crate) fn limit(&self) -> Limits {
        self.inner.limits
    }

    pub(crate) fn rejoining(&self) -> Rejoin {
        self.inner.rejoin
    }

    pub(crate) fn keeps(&self) -> History {
        self.inner.history
    }

    pub(crate) fn dialect(&self) -> Dialect {
        self.inner.dialect
    }

    pub(crate) fn is_strict(&self) -> bool {
        self.inner.strict
    }
}

/// A new id for a thread, a run or a message.
pub(crate) fn new_id() -> String {
    Uuid::now_v7().to_string()
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &self.inner;
        f.debug_struct("Client")
            .field("url", &inner.transport.address.shown())
            .field("headers", &inner.transport.headers)
            .field("timeouts", &inner.transport.timeouts)
            .field("limits", &inner.limits)
            .field("rejoin", &inner.rejoin)
            .field("history", &inner.history)
            .field("dialect", &inner.dialect)
            .field("strict", &inner.strict)
            .finish()
    }
}
