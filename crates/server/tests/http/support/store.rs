//! A store that a test can hold up and take away.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use antiphon_agent::clock::SystemClock;
use antiphon_agent::store::{
    Audit, Claim, Commit, Early, Error, Interaction, Lease, MemoryStore, Opened, Result, RunRecord,
    Store, Thread, ThreadKey, ThreadSummary,
};
use futures_util::future::BoxFuture;
use tokio::sync::Semaphore;

#[derive(Debug)]
pub(crate) struct Faulty {
    inner: MemoryStore,
    /// Whether it does not answer at all.
    away: AtomicBool,
    /// Claims pass while this has permits.
    gate: Semaphore,
    waiting: AtomicBool,
}

impl Faulty {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            inner: MemoryStore::new(Arc::new(SystemClock)),
            away: AtomicBool::new(false),
            gate: Semaphore::new(1_000_000),
            waiting: AtomicBool::new(false),
        })
    }

    pub(crate) fn set_away(&self, away: bool) {
        self.away.store(away, Ordering::SeqCst);
    }

    /// Lets no claim pass until [`let_pass`](Self::let_pass).
    pub(crate) fn hold_claims(&self) {
        self.gate.forget_permits(1_000_000);
    }

    pub(crate) fn let_pass(&self) {
        self.gate.add_permits(1_000_000);
    }

    /// Whether a claim is held up.
    pub(crate) fn is_waited_for(&self) -> bool {
        self.waiting.load(Ordering::SeqCst)
    }

    fn check(&self) -> Result<()> {
        match self.away.load(Ordering::SeqCst) {
            true => Err(Error::Unavailable("no connection".into())),
            false => Ok(()),
        }
    }
}

impl Store for Faulty {
    fn open(&self, claim: Claim) -> BoxFuture<'_, Result<Opened>> {
        Box::pin(async move {
            self.check()?;
            self.waiting.store(true, Ordering::SeqCst);
            let passed = self.gate.acquire().await;
            self.waiting.store(false, Ordering::SeqCst);
            drop(passed);
            self.inner.open(claim).await
        })
    }

    fn renew<'a>(&'a self, lease: &'a Lease, ttl: Duration) -> BoxFuture<'a, Result<()>> {
        self.inner.renew(lease, ttl)
    }

    fn commit<'a>(&'a self, lease: &'a Lease, commit: Commit) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.check()?;
            self.inner.commit(lease, commit).await
        })
    }

    fn release<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<()>> {
        self.inner.release(lease)
    }

    fn thread<'a>(&'a self, key: &'a ThreadKey) -> BoxFuture<'a, Result<Option<Thread>>> {
        self.inner.thread(key)
    }

    fn threads<'a>(
        &'a self,
        user: &'a str,
        after: Option<&'a str>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<ThreadSummary>>> {
        self.inner.threads(user, after, limit)
    }

    fn delete_thread<'a>(&'a self, key: &'a ThreadKey) -> BoxFuture<'a, Result<bool>> {
        self.inner.delete_thread(key)
    }

    fn run<'a>(
        &'a self,
        user: &'a str,
        run_id: &'a str,
        thread: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Option<RunRecord>>> {
        self.inner.run(user, run_id, thread)
    }

    fn response<'a>(
        &'a self,
        user: &'a str,
        response_id: &'a str,
    ) -> BoxFuture<'a, Result<Option<RunRecord>>> {
        self.inner.response(user, response_id)
    }

    fn interaction<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<Interaction>>> {
        self.inner.interaction(id)
    }

    fn keep_early<'a>(
        &'a self,
        id: &'a str,
        early: Early,
    ) -> BoxFuture<'a, Result<Option<Interaction>>> {
        self.inner.keep_early(id, early)
    }

    fn kept_early(&self) -> BoxFuture<'_, Result<Vec<Interaction>>> {
        self.inner.kept_early()
    }

    fn audit<'a>(&'a self, key: &'a ThreadKey) -> BoxFuture<'a, Result<Vec<Audit>>> {
        self.inner.audit(key)
    }

    fn orphans(&self) -> BoxFuture<'_, Result<Vec<RunRecord>>> {
        Box::pin(async move {
            self.check()?;
            self.inner.orphans().await
        })
    }

    fn ping(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move { self.check() })
    }
}
