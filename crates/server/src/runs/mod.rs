//! Running runs. They belong to the server: connections come and go.
//!
//! A thread has at most one run here. Its place is taken before the request is looked at any further,
//! so two requests that come at once can't both start, and it is given back when the run's task ends,
//! however that comes about.

mod active;
mod ended;
mod gist;
mod play;
mod ticket;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use antiphon_agent::store::ThreadKey;
use antiphon_agent::{Reader, Refusal, Run, RunLog};
use antiphon_protocol::Dialect;
use http::StatusCode;
use tokio::sync::oneshot;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

pub(crate) use gist::Gist;
pub(crate) use play::{Asked, carry};
pub(crate) use ticket::Ticket;

use crate::error::ApiError;
use crate::limits::Limits;
use crate::metrics::Metrics;
use active::{Active, Stage};
use ended::{Ended, EndedRun};
use ticket::refuse_all;

/// How long cancelled runs have to record their end when the server stops.
const RECORDING: Duration = Duration::from_secs(5);

/// What a request that starts or joins a run is answered with.
pub(crate) type Entrance = Result<Reader, ApiError>;

/// All running runs of this process, and the logs of those that ended a moment ago.
#[derive(Debug)]
pub(crate) struct Runs {
    inner: Mutex<Inner>,
    tasks: TaskTracker,
    draining: AtomicBool,
    total: usize,
    per_user: usize,
    metrics: Arc<Metrics>,
}

#[derive(Debug)]
struct Inner {
    active: HashMap<ThreadKey, Active>,
    users: HashMap<String, usize>,
    started: u64,
    ended: Ended,
    sweeper: Option<AbortOnDropHandle<()>>,
}

/// A request for a thread.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) key: ThreadKey,
    pub(crate) run_id: String,
    pub(crate) agent: String,
    pub(crate) dialect: Dialect,
    /// What it asks for: it joins a run that is at work only if that was asked for the same.
    pub(crate) gist: Option<Gist>,
}

/// A run that this process knows.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) thread: String,
    pub(crate) dialect: Dialect,
    pub(crate) log: FoundLog,
}

/// Its log.
#[derive(Debug)]
pub(crate) enum FoundLog {
    /// There is none yet; here comes a reader.
    Starting(oneshot::Receiver<Entrance>),
    /// The run plays, or has ended a moment ago.
    Here(Arc<RunLog>),
}

impl Runs {
    pub(crate) fn new(limits: &Limits, metrics: Arc<Metrics>) -> Arc<Self> {
        Arc::new(Self {
            inner: Mutex::new(Inner {
                active: HashMap::new(),
                users: HashMap::new(),
                started: 0,
                ended: Ended::new(limits),
                sweeper: None,
            }),
            tasks: TaskTracker::new(),
            draining: AtomicBool::new(false),
            total: limits.concurrent_runs,
            per_user: limits.runs_per_user,
            metrics,
        })
    }

    /// The tasks that have to end before the server may.
    pub(crate) fn tasks(&self) -> &TaskTracker {
        &self.tasks
    }

    /// How many runs there are.
    pub(crate) fn count(&self) -> usize {
        self.inner().active.len()
    }

    /// How many connections read runs that are at work.
    pub(crate) fn readers(&self) -> usize {
        let inner = self.inner();
        let logs = inner
            .active
            .values()
            .filter_map(|active| match &active.stage {
                Stage::Playing { log, .. } => Some(log),
                Stage::Starting { .. } => None,
            });
        logs.map(|log| log.readers()).sum()
    }

    /// Takes the thread for a new run, or joins the run that a repeated request names.
    ///
    /// With a ticket the caller has to play the run; either way the receiver brings a reader.
    pub(crate) fn enter(
        self: &Arc<Self>,
        order: Order,
    ) -> Result<(Option<Ticket>, oneshot::Receiver<Entrance>), ApiError> {
        self.clear(&order.key);
        let mut inner = self.inner();
        if let Some(active) = inner.active.get_mut(&order.key) {
            if !active.is_asked_again(&order) {
                return Err(Refusal::busy(&active.run_id).into());
            }
            return Ok((None, active.reader()?));
        }
        if self.is_draining() {
            return Err(ApiError::draining());
        }
        let mine = inner.users.get(&order.key.user).copied().unwrap_or(0);
        if mine >= self.per_user || inner.active.len() >= self.total {
            return Err(too_many_runs());
        }
        let (sender, receiver) = oneshot::channel();
        let stage = Stage::Starting {
            waiting: vec![sender],
            cancelled: false,
        };
        let (serial, key) = inner.take(order, stage);
        drop(inner);
        Ok((Some(self.ticket(key, serial)), receiver))
    }

    /// Plays a run that no request started: one that a crash had cut, or one that goes on because
    /// another system delivered a result.
    pub(crate) fn adopt(self: &Arc<Self>, run: Box<Run>) {
        let record = run.record();
        let order = Order {
            key: record.key.clone(),
            run_id: record.run_id.clone(),
            agent: record.agent.clone(),
            dialect: Dialect::V1,
            gist: None,
        };
        let stage = Stage::Playing {
            log: run.log(),
            cancel: run.cancel_token(),
        };
        let mut inner = self.inner();
        // A request may be on its way to the same thread. The thread is not its to have.
        let displaced = inner.displace(&order.key);
        let (serial, key) = inner.take(order, stage);
        drop(inner);
        let busy = ApiError::from(Refusal::busy(&record.run_id));
        refuse_all(displaced, &busy);
        let ticket = self.ticket(key, serial);
        self.tasks.spawn(play::play(ticket, run));
    }

    /// Finds a user's run. Without a thread, the newest one with this id.
    pub(crate) fn find(&self, user: &str, run_id: &str, thread: Option<&str>) -> Option<Found> {
        let mut inner = self.inner();
        let is_named =
            |key: &ThreadKey| key.user == user && thread.is_none_or(|thread| key.thread == thread);
        let newest = inner
            .active
            .iter_mut()
            .filter(|(key, active)| active.run_id == run_id && is_named(key))
            .max_by_key(|(_, active)| active.serial);
        if let Some((key, active)) = newest {
            let log = match &active.stage {
                Stage::Playing { log, .. } => FoundLog::Here(Arc::clone(log)),
                Stage::Starting { .. } => FoundLog::Starting(active.reader().ok()?),
            };
            return Some(Found {
                thread: key.thread.clone(),
                dialect: active.dialect,
                log,
            });
        }
        let ended = inner
            .ended
            .find(|run| run.run_id == run_id && is_named(&run.key))?;
        Some(Found {
            thread: ended.key.thread.clone(),
            dialect: ended.dialect,
            log: FoundLog::Here(Arc::clone(&ended.log)),
        })
    }

    /// Cancels a user's run; says which thread's it was. `None` when no such run is at work.
    pub(crate) fn cancel(&self, user: &str, run_id: &str, thread: Option<&str>) -> Option<String> {
        let mut inner = self.inner();
        let (key, active) = inner
            .active
            .iter_mut()
            .filter(|(key, active)| {
                active.run_id == run_id
                    && !active.has_ended()
                    && key.user == user
                    && thread.is_none_or(|thread| key.thread == thread)
            })
            .max_by_key(|(_, active)| active.serial)?;
        active.cancel();
        Some(key.thread.clone())
    }

    /// The run that is at work on a thread.
    pub(crate) fn at_work(&self, key: &ThreadKey) -> Option<FoundLog> {
        let mut inner = self.inner();
        let active = inner.active.get_mut(key);
        let active = active.filter(|active| !active.has_ended())?;
        match &active.stage {
            Stage::Playing { log, .. } => Some(FoundLog::Here(Arc::clone(log))),
            Stage::Starting { .. } => active.reader().ok().map(FoundLog::Starting),
        }
    }

    /// Cancels whatever run is at work on a thread; false when there is none.
    pub(crate) fn cancel_in(&self, key: &ThreadKey) -> bool {
        let mut inner = self.inner();
        let active = inner
            .active
            .get_mut(key)
            .filter(|active| !active.has_ended());
        active.map(Active::cancel).is_some()
    }

    /// Forgets what is kept of a thread that was deleted.
    pub(crate) fn forget(&self, key: &ThreadKey) {
        self.inner().ended.forget(key);
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Acquire)
    }

    /// Starts no more runs, gives those that are at work this much time, then cancels them and waits
    /// until their end is recorded.
    pub(crate) async fn drain(&self, grace: Duration) {
        self.draining.store(true, Ordering::Release);
        self.tasks.close();
        if tokio::time::timeout(grace, self.tasks.wait()).await.is_ok() {
            return;
        }
        tracing::warn!(runs = self.count(), "the server stops: runs are cancelled");
        self.cancel_all();
        if tokio::time::timeout(RECORDING, self.tasks.wait())
            .await
            .is_err()
        {
            tracing::error!(runs = self.count(), "runs did not end in time");
        }
    }

    fn cancel_all(&self) {
        let mut inner = self.inner();
        inner.active.values_mut().for_each(Active::cancel);
    }

    fn ticket(self: &Arc<Self>, key: ThreadKey, serial: u64) -> Ticket {
        Ticket {
            runs: Arc::clone(self),
            key,
            serial,
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // Nothing in here panics half-way through a change.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the place of a run that has sent its end: a client may be back before the run's task is
    /// done.
    fn clear(self: &Arc<Self>, key: &ThreadKey) {
        let mut inner = self.inner();
        let over = inner.active.get(key).filter(|active| active.has_ended());
        let Some(serial) = over.map(|active| active.serial) else {
            return;
        };
        let ended = inner.remove(key, serial);
        drop(inner);
        if let Some(ended) = ended {
            self.keep(key.clone(), ended);
        }
    }

    /// Keeps the log of an ended run for a while.
    fn keep(self: &Arc<Self>, key: ThreadKey, run: Active) {
        let Stage::Playing { log, .. } = run.stage else {
            return;
        };
        if !log.has_ended() {
            // A panic cut it; there is nothing that a reader could wait for.
            return;
        }
        let mut inner = self.inner();
        inner
            .ended
            .push(EndedRun::new(key, run.run_id, run.dialect, log));
        if inner.sweeper.is_none() {
            let runs = Arc::downgrade(self);
            let sweep = async move {
                while let Some(next) = runs.upgrade().and_then(|runs| runs.sweep()) {
                    tokio::time::sleep_until(next).await;
                }
            };
            inner.sweeper = Some(AbortOnDropHandle::new(tokio::spawn(sweep)));
        }
    }

    /// Drops logs whose time is over; says when the next one's is.
    fn sweep(&self) -> Option<tokio::time::Instant> {
        let mut inner = self.inner();
        let next = inner.ended.sweep();
        if next.is_none() {
            inner.sweeper = None;
        }
        next
    }
}

impl Inner {
    fn take(&mut self, order: Order, stage: Stage) -> (u64, ThreadKey) {
        self.started += 1;
        let active = Active {
            serial: self.started,
            run_id: order.run_id,
            agent: order.agent,
            dialect: order.dialect,
            gist: order.gist,
            stage,
        };
        *self.users.entry(order.key.user.clone()).or_default() += 1;
        self.active.insert(order.key.clone(), active);
        (self.started, order.key)
    }

    /// Takes a thread's place from whoever has it; says who waits there.
    fn displace(&mut self, key: &ThreadKey) -> Vec<oneshot::Sender<Entrance>> {
        let serial = self.active.get(key).map(|active| active.serial);
        let displaced = serial.and_then(|serial| self.remove(key, serial));
        displaced.map(Active::into_waiting).unwrap_or_default()
    }

    /// Gives a thread's place back.
    fn remove(&mut self, key: &ThreadKey, serial: u64) -> Option<Active> {
        if self.active.get(key)?.serial != serial {
            return None;
        }
        if let Some(count) = self.users.get_mut(&key.user) {
            *count -= 1;
            if *count == 0 {
                self.users.remove(&key.user);
            }
        }
        self.active.remove(key)
    }
}

fn too_many_runs() -> ApiError {
    let message = "too many runs are at work; wait for one to end";
    ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_many_runs", message).retry_after(1)
}
