//! A store in memory: for tests, demos and agents whose threads need not outlive the process.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use jiff::{SignedDuration, Timestamp};

use super::{
    Audit, Call, CallPhase, Claim, Commit, Early, Error, Interaction, InteractionStatus, Lease,
    Opened, Result, RunRecord, RunStatus, Store, Thread, ThreadKey, ThreadSummary,
};
use crate::clock::Clock;

/// Threads in memory. Everything is gone with the process.
#[derive(Debug)]
pub struct MemoryStore {
    clock: Arc<dyn Clock>,
    rows: Mutex<Rows>,
}

#[derive(Debug, Default)]
struct Rows {
    threads: BTreeMap<ThreadKey, Entry>,
    /// Which thread an interaction belongs to.
    interactions: HashMap<String, ThreadKey>,
    /// Which thread and attempt a response names, by user and response id.
    responses: HashMap<(String, String), (ThreadKey, String, u32)>,
    next_token: u64,
}

#[derive(Debug)]
struct Entry {
    thread: Thread,
    /// Messages that cuts took out, with the branch they form.
    branches: Vec<(String, Vec<super::StoredMessage>)>,
    lease: Option<Held>,
    runs: Vec<RunRecord>,
    calls: Vec<Call>,
    interactions: Vec<Interaction>,
    audit: Vec<Audit>,
}

#[derive(Debug)]
struct Held {
    run_id: String,
    token: u64,
    until: Timestamp,
}

impl MemoryStore {
    /// An empty store that reads the time from `clock`.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            rows: Mutex::default(),
        }
    }

    fn rows(&self) -> MutexGuard<'_, Rows> {
        // A panic while the lock was held can't leave half a commit: rows change only after all checks.
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn until(&self, ttl: Duration) -> Timestamp {
        let ttl = SignedDuration::try_from(ttl).unwrap_or(SignedDuration::MAX);
        self.clock
            .now()
            .saturating_add(ttl)
            .unwrap_or(Timestamp::MAX)
    }
}

impl Entry {
    fn new(key: ThreadKey, now: Timestamp) -> Self {
        Self {
            thread: Thread::new(key, now),
            branches: Vec::new(),
            lease: None,
            runs: Vec::new(),
            calls: Vec::new(),
            interactions: Vec::new(),
            audit: Vec::new(),
        }
    }

    fn load(&self) -> Thread {
        let open = |i: &&Interaction| i.status == InteractionStatus::Open;
        Thread {
            calls: self
                .calls
                .iter()
                .filter(|call| call.phase != CallPhase::Settled)
                .cloned()
                .collect(),
            interactions: self.interactions.iter().filter(open).cloned().collect(),
            ..self.thread.clone()
        }
    }

    fn holder(&self, now: Timestamp) -> Option<&Held> {
        self.lease.as_ref().filter(|held| held.until > now)
    }

    fn owned_by(&mut self, lease: &Lease, now: Timestamp) -> Result<&mut Held> {
        match &mut self.lease {
            Some(held) if held.token == lease.token && held.until > now => Ok(held),
            _ => Err(Error::LeaseLost {
                thread: lease.key.thread.clone(),
            }),
        }
    }

    fn apply(&mut self, commit: Commit, now: Timestamp) {
        self.thread.updated_at = now;
        self.thread.stored = true;
        if let Some(cut) = commit.cut {
            let (kept, gone) = self
                .thread
                .messages
                .drain(..)
                .partition(|m| m.place < cut.from_place);
            self.thread.messages = kept;
            self.branches.push((cut.branch, gone));
        }
        for message in commit.messages {
            upsert(&mut self.thread.messages, message, |a, b| {
                a.message.id() == b.message.id()
            });
        }
        self.thread.messages.sort_by_key(|message| message.place);
        if commit.state.is_some() {
            self.thread.state = commit.state;
        }
        if commit.title.is_some() {
            self.thread.title = commit.title;
        }
        if let Some(run) = commit.run {
            upsert(&mut self.runs, run, |a, b| {
                a.run_id == b.run_id && a.attempt == b.attempt
            });
        }
        for call in commit.calls {
            upsert(&mut self.calls, call, |a, b| a.id == b.id);
        }
        self.calls.sort_by_key(|call| call.place);
        for mut interaction in commit.interactions {
            let mut known = self.interactions.iter();
            let known = known.find(|known| known.id == interaction.id);
            interaction.early = known.and_then(|known| known.early.clone());
            upsert(&mut self.interactions, interaction, |a, b| a.id == b.id);
        }
        self.audit.extend(commit.audit);
        if commit.release {
            self.lease = None;
        }
    }
}

fn upsert<T>(rows: &mut Vec<T>, row: T, same: impl Fn(&T, &T) -> bool) {
    match rows.iter_mut().rev().find(|old| same(old, &row)) {
        Some(old) => *old = row,
        None => rows.push(row),
    }
}

impl Store for MemoryStore {
    fn open(&self, claim: Claim) -> BoxFuture<'_, Result<Opened>> {
        let (now, until) = (self.clock.now(), self.until(claim.ttl));
        let mut rows = self.rows();
        rows.next_token += 1;
        let token = rows.next_token;
        let entry = rows
            .threads
            .entry(claim.key.clone())
            .or_insert_with(|| Entry::new(claim.key.clone(), now));
        if let Some(held) = entry.holder(now) {
            return ready(Ok(Opened::Busy {
                run_id: held.run_id.clone(),
            }))
            .boxed();
        }
        if !entry.thread.stored {
            // What an earlier claim left without a commit never was a thread.
            entry.thread = Thread::new(claim.key.clone(), now);
        }
        entry.lease = Some(Held {
            run_id: claim.run_id.clone(),
            token,
            until,
        });
        let thread = Box::new(entry.load());
        let earlier = entry
            .runs
            .iter()
            .filter(|run| run.run_id == claim.run_id)
            .max_by_key(|run| run.attempt);
        let earlier = earlier.cloned().map(Box::new);
        ready(Ok(Opened::Ours(
            Lease {
                key: claim.key,
                run_id: claim.run_id,
                token,
            },
            thread,
            earlier,
        )))
        .boxed()
    }

    fn renew<'a>(&'a self, lease: &'a Lease, ttl: Duration) -> BoxFuture<'a, Result<()>> {
        let (now, until) = (self.clock.now(), self.until(ttl));
        let mut rows = self.rows();
        let renewed = match rows.threads.get_mut(&lease.key) {
            Some(entry) => entry.owned_by(lease, now).map(|held| held.until = until),
            None => Err(Error::LeaseLost {
                thread: lease.key.thread.clone(),
            }),
        };
        ready(renewed).boxed()
    }

    fn commit<'a>(&'a self, lease: &'a Lease, commit: Commit) -> BoxFuture<'a, Result<()>> {
        let now = self.clock.now();
        let mut rows = self.rows();
        let rows = &mut *rows;
        let Some(entry) = rows.threads.get_mut(&lease.key) else {
            return ready(Err(Error::LeaseLost {
                thread: lease.key.thread.clone(),
            }))
            .boxed();
        };
        if let Err(lost) = entry.owned_by(lease, now) {
            return ready(Err(lost)).boxed();
        }
        let elsewhere = |i: &&Interaction| {
            let owner = rows.interactions.get(&i.id);
            owner.is_some_and(|key| *key != lease.key)
        };
        if let Some(taken) = commit.interactions.iter().find(elsewhere) {
            let why = format!("interaction {:?} belongs to another thread", taken.id);
            return ready(Err(Error::Unavailable(why.into()))).boxed();
        }
        for interaction in &commit.interactions {
            rows.interactions
                .insert(interaction.id.clone(), lease.key.clone());
        }
        if let Some(run) = &commit.run {
            rows.responses.insert(
                (lease.key.user.clone(), run.response_id.clone()),
                (lease.key.clone(), run.run_id.clone(), run.attempt),
            );
        }
        entry.apply(commit, now);
        ready(Ok(())).boxed()
    }

    fn release<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<()>> {
        let mut rows = self.rows();
        let is_ours = |held: &Held| held.token == lease.token;
        if let Some(entry) = rows.threads.get_mut(&lease.key)
            && entry.lease.as_ref().is_some_and(is_ours)
        {
            entry.lease = None;
            if !entry.thread.stored {
                rows.threads.remove(&lease.key);
            }
        }
        ready(Ok(())).boxed()
    }

    fn thread<'a>(&'a self, key: &'a ThreadKey) -> BoxFuture<'a, Result<Option<Thread>>> {
        let found = self
            .rows()
            .threads
            .get(key)
            .filter(|entry| entry.thread.stored)
            .map(Entry::load);
        ready(Ok(found)).boxed()
    }

    fn threads<'a>(
        &'a self,
        user: &'a str,
        after: Option<&'a str>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<ThreadSummary>>> {
        let rows = self.rows();
        let mine = rows
            .threads
            .iter()
            .filter(|(key, entry)| key.user == user && entry.thread.stored);
        let mut all: Vec<ThreadSummary> = mine
            .map(|(key, entry)| ThreadSummary {
                thread: key.thread.clone(),
                title: entry.thread.title.clone(),
                created_at: entry.thread.created_at,
                updated_at: entry.thread.updated_at,
            })
            .collect();
        all.sort_by(|a, b| {
            b.updated_at
                .cmp(&a.updated_at)
                .then_with(|| a.thread.cmp(&b.thread))
        });
        let start = match after {
            None => 0,
            // After a thread that is gone there is nothing: from the start would never end.
            Some(id) => all
                .iter()
                .position(|t| t.thread == id)
                .map_or(all.len(), |i| i + 1),
        };
        ready(Ok(all.into_iter().skip(start).take(limit).collect())).boxed()
    }

    fn delete_thread<'a>(&'a self, key: &'a ThreadKey) -> BoxFuture<'a, Result<bool>> {
        let now = self.clock.now();
        let mut rows = self.rows();
        let rows = &mut *rows;
        let deleted = match rows.threads.get(key) {
            Some(entry) if entry.holder(now).is_some() => Err(Error::LeaseLost {
                thread: key.thread.clone(),
            }),
            Some(entry) => Ok(entry.thread.stored),
            None => Ok(false),
        };
        if deleted.is_ok() && rows.threads.remove(key).is_some() {
            rows.interactions.retain(|_, of| of != key);
            rows.responses.retain(|_, (of, _, _)| of != key);
        }
        ready(deleted).boxed()
    }

    fn run<'a>(
        &'a self,
        user: &'a str,
        run_id: &'a str,
        thread: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Option<RunRecord>>> {
        let rows = self.rows();
        let threads = rows
            .threads
            .iter()
            .filter(|(key, _)| key.user == user && thread.is_none_or(|t| key.thread == t));
        let runs = threads
            .flat_map(|(_, entry)| entry.runs.iter())
            .filter(|run| run.run_id == run_id);
        let found = runs
            .max_by_key(|run| (run.started_at, run.attempt))
            .cloned();
        ready(Ok(found)).boxed()
    }

    fn response<'a>(
        &'a self,
        user: &'a str,
        response_id: &'a str,
    ) -> BoxFuture<'a, Result<Option<RunRecord>>> {
        let rows = self.rows();
        let named = rows
            .responses
            .get(&(user.to_owned(), response_id.to_owned()));
        let found = named.and_then(|(key, run_id, attempt)| {
            rows.threads
                .get(key)?
                .runs
                .iter()
                .find(|run| run.run_id == *run_id && run.attempt == *attempt)
                .cloned()
        });
        ready(Ok(found)).boxed()
    }

    fn interaction<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<Interaction>>> {
        let rows = self.rows();
        let entry = rows
            .interactions
            .get(id)
            .and_then(|key| rows.threads.get(key));
        let found = entry.and_then(|entry| entry.interactions.iter().find(|i| i.id == id).cloned());
        ready(Ok(found)).boxed()
    }

    fn keep_early<'a>(
        &'a self,
        id: &'a str,
        early: Early,
    ) -> BoxFuture<'a, Result<Option<Interaction>>> {
        let mut rows = self.rows();
        let rows = &mut *rows;
        let entry = rows.interactions.get(id);
        let entry = entry.and_then(|key| rows.threads.get_mut(key));
        let found = entry.and_then(|entry| entry.interactions.iter_mut().find(|i| i.id == id));
        let kept = found.map(|interaction| {
            if interaction.status == InteractionStatus::Open {
                interaction.early.get_or_insert(early);
            }
            interaction.clone()
        });
        ready(Ok(kept)).boxed()
    }

    fn kept_early(&self) -> BoxFuture<'_, Result<Vec<Interaction>>> {
        let rows = self.rows();
        let all = rows.threads.values().flat_map(|entry| &entry.interactions);
        let kept = all.filter(|i| i.status == InteractionStatus::Open && i.early.is_some());
        let mut kept: Vec<_> = kept.cloned().collect();
        kept.sort_by_key(|interaction| interaction.opened_at);
        ready(Ok(kept)).boxed()
    }

    fn audit<'a>(&'a self, key: &'a ThreadKey) -> BoxFuture<'a, Result<Vec<Audit>>> {
        let found = self
            .rows()
            .threads
            .get(key)
            .map(|entry| entry.audit.clone())
            .unwrap_or_default();
        ready(Ok(found)).boxed()
    }

    fn orphans(&self) -> BoxFuture<'_, Result<Vec<RunRecord>>> {
        let now = self.clock.now();
        let rows = self.rows();
        let idle = rows
            .threads
            .values()
            .filter(|entry| entry.holder(now).is_none());
        let runs = idle
            .flat_map(|entry| entry.runs.iter())
            .filter(|run| run.status == RunStatus::Running);
        ready(Ok(runs.cloned().collect())).boxed()
    }

    fn ping(&self) -> BoxFuture<'_, Result<()>> {
        ready(Ok(())).boxed()
    }
}
