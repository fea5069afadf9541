//! One commit: one transaction, one trip.
//!
//! Every statement takes the thread from the lease that the commit carries. Where the lease is lost
//! none of them finds a thread, so nothing is written, and the first one's answer says so.

use antiphon_agent::store::{
    Audit, Call, Commit, Cut, Interaction, Lease, Result, RunRecord, StoredMessage,
};
use serde_json::Value;

use super::Sqlite;
use super::lease::{lost, number};
use super::script::{BEGIN, COMMIT, Script};
use crate::rows::{json, json_or_null, nanoseconds, word};

const THREAD: &str = "
INSERT INTO threads (user, thread, created_at, updated_at, title)
SELECT user, thread, claimed_at, ?, ? FROM leases WHERE token = ? AND until > ?
ON CONFLICT (user, thread) DO UPDATE SET
    updated_at = excluded.updated_at,
    title = coalesce(excluded.title, threads.title)
RETURNING id";

const CUT: &str = "
UPDATE messages SET branch = ?, cut_at = ?
WHERE branch IS NULL AND place >= ?
    AND thread_id = (SELECT thread_id FROM held WHERE token = ? AND until > ?)";

const STATE: &str = "
INSERT INTO states (thread_id, state)
SELECT thread_id, ? FROM held WHERE token = ? AND until > ?
ON CONFLICT (thread_id) DO UPDATE SET state = excluded.state";

const MESSAGE: &str = "
INSERT INTO messages (thread_id, place, id, origin, message)
SELECT thread_id, ?, ?, ?, ? FROM held WHERE token = ? AND until > ?
ON CONFLICT (thread_id, id) WHERE branch IS NULL DO UPDATE SET
    place = excluded.place,
    origin = excluded.origin,
    message = excluded.message";

const RUN: &str = "
INSERT INTO runs (thread_id, run_id, attempt, agent, response_id, status, input_hash, started_at,
    ended_at, ending, invocation)
SELECT thread_id, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM held WHERE token = ? AND until > ?
ON CONFLICT (thread_id, run_id, attempt) DO UPDATE SET
    agent = excluded.agent,
    response_id = excluded.response_id,
    status = excluded.status,
    input_hash = excluded.input_hash,
    started_at = excluded.started_at,
    ended_at = excluded.ended_at,
    ending = excluded.ending,
    invocation = excluded.invocation";

const CALL: &str = "
INSERT INTO calls (thread_id, id, run_id, place, message_id, tool, phase, journal, arguments)
SELECT thread_id, ?, ?, ?, ?, ?, ?, ?, ? FROM held WHERE token = ? AND until > ?
ON CONFLICT (thread_id, id) DO UPDATE SET
    run_id = excluded.run_id,
    place = excluded.place,
    message_id = excluded.message_id,
    tool = excluded.tool,
    phase = excluded.phase,
    journal = excluded.journal,
    arguments = excluded.arguments";

/// An id that another thread has is an error, not a way into that thread: the row can't be without
/// its thread, so the commit fails.
const INTERACTION: &str = "
INSERT INTO interactions (thread_id, id, run_id, response_id, call_id, kind, status, opened_at,
    expires_at, answer, request)
SELECT thread_id, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM held WHERE token = ? AND until > ?
ON CONFLICT (id) DO UPDATE SET
    thread_id = CASE WHEN thread_id = excluded.thread_id THEN thread_id END,
    run_id = excluded.run_id,
    response_id = excluded.response_id,
    call_id = excluded.call_id,
    kind = excluded.kind,
    status = excluded.status,
    opened_at = excluded.opened_at,
    expires_at = excluded.expires_at,
    answer = excluded.answer,
    request = excluded.request";

const AUDIT: &str = "
INSERT INTO audit (thread_id, decision)
SELECT thread_id, ? FROM held WHERE token = ? AND until > ?";

const RELEASE: &str = "DELETE FROM leases WHERE token = ?";

impl Sqlite {
    /// Applies a commit whole, or not at all.
    pub(super) async fn write(&self, lease: &Lease, commit: Commit) -> Result<()> {
        // Written out before the writer is asked for, so that others need not wait for that. The
        // time can't grow stale: whoever takes a lapsed lease over removes it.
        let now = nanoseconds(self.clock.now());
        let script = Writing::of(lease, &commit, now)?;
        let results = self.writer.lock().await.transaction(script).await?;
        if results.get(1).is_none_or(Vec::is_empty) {
            return Err(lost(&lease.key));
        }
        Ok(())
    }
}

/// A commit as it becomes a script.
struct Writing {
    script: Script,
    token: i64,
    now: i64,
}

impl Writing {
    fn of(lease: &Lease, commit: &Commit, now: i64) -> Result<Script> {
        let mut writing = Self {
            script: Script::default(),
            token: number(lease.token),
            now,
        };
        writing.script.statement(BEGIN);
        writing.thread(commit.title.as_deref());
        if let Some(cut) = &commit.cut {
            writing.cut(cut);
        }
        for message in &commit.messages {
            writing.message(message)?;
        }
        if let Some(state) = &commit.state {
            writing.state(state)?;
        }
        if let Some(run) = &commit.run {
            writing.run(run)?;
        }
        for call in &commit.calls {
            writing.call(call)?;
        }
        for interaction in &commit.interactions {
            writing.interaction(interaction)?;
        }
        for decision in &commit.audit {
            writing.decision(decision)?;
        }
        if commit.release {
            writing.script.statement(RELEASE).bind(writing.token);
        }
        writing.script.statement(COMMIT);
        Ok(writing.script)
    }

    /// Binds what a statement finds the thread by: its last two arguments.
    fn held(&mut self) {
        self.script.bind(self.token).bind(self.now);
    }

    fn thread(&mut self, title: Option<&str>) {
        self.script.statement(THREAD).bind(self.now).bind(title);
        self.held();
    }

    fn cut(&mut self, cut: &Cut) {
        self.script
            .statement(CUT)
            .bind(cut.branch.as_str())
            .bind(self.now)
            .bind(cut.from_place);
        self.held();
    }

    fn message(&mut self, stored: &StoredMessage) -> Result<()> {
        self.script
            .statement(MESSAGE)
            .bind(stored.place)
            .bind(stored.message.id())
            .bind(json_or_null("origin", stored.origin.as_ref())?)
            .bind(json("message", &stored.message)?);
        self.held();
        Ok(())
    }

    fn state(&mut self, state: &Value) -> Result<()> {
        self.script.statement(STATE).bind(json("state", state)?);
        self.held();
        Ok(())
    }

    fn run(&mut self, run: &RunRecord) -> Result<()> {
        self.script
            .statement(RUN)
            .bind(run.run_id.as_str())
            .bind(run.attempt)
            .bind(run.agent.as_str())
            .bind(run.response_id.as_str())
            .bind(word("status", run.status)?)
            .bind(run.input_hash.as_str())
            .bind(nanoseconds(run.started_at))
            .bind(run.ended_at.map(nanoseconds))
            .bind(json_or_null("ending", run.ending.as_ref())?)
            .bind(json("invocation", &run.invocation)?);
        self.held();
        Ok(())
    }

    fn call(&mut self, call: &Call) -> Result<()> {
        self.script
            .statement(CALL)
            .bind(call.id.as_str())
            .bind(call.run_id.as_str())
            .bind(call.place)
            .bind(call.message_id.as_str())
            .bind(call.tool.as_str())
            .bind(word("phase", call.phase)?)
            .bind(json("journal", &call.journal)?)
            .bind(call.arguments.as_str());
        self.held();
        Ok(())
    }

    fn interaction(&mut self, interaction: &Interaction) -> Result<()> {
        self.script
            .statement(INTERACTION)
            .bind(interaction.id.as_str())
            .bind(interaction.run_id.as_str())
            .bind(interaction.response_id.as_str())
            .bind(interaction.call_id.as_str())
            .bind(word("kind", interaction.kind)?)
            .bind(word("status", interaction.status)?)
            .bind(nanoseconds(interaction.opened_at))
            .bind(interaction.expires_at.map(nanoseconds))
            .bind(json_or_null("answer", interaction.answer.as_ref())?)
            .bind(json("request", &interaction.request)?);
        self.held();
        Ok(())
    }

    fn decision(&mut self, decision: &Audit) -> Result<()> {
        self.script
            .statement(AUDIT)
            .bind(json("decision", decision)?);
        self.held();
        Ok(())
    }
}
