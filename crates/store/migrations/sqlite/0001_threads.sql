-- Threads and all that belongs to them. Times are nanoseconds since 1970 in UTC, columns named after
-- a value of any shape hold JSON text.

-- A thread is here from its first commit on.
CREATE TABLE threads (
    id         INTEGER PRIMARY KEY,
    user       TEXT    NOT NULL,
    thread     TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    title      TEXT,
    UNIQUE (user, thread)
) STRICT;

CREATE INDEX threads_by_change ON threads (user, updated_at DESC, thread);

-- Who may write a thread, stored or not: as many rows as there are runs at work. The token grows with every claim for as long as the
-- database exists: AUTOINCREMENT never goes back.
CREATE TABLE leases (
    token      INTEGER PRIMARY KEY AUTOINCREMENT,
    user       TEXT    NOT NULL,
    thread     TEXT    NOT NULL,
    owner      TEXT    NOT NULL,
    run_id     TEXT    NOT NULL,
    claimed_at INTEGER NOT NULL,
    until      INTEGER NOT NULL,
    UNIQUE (user, thread)
) STRICT;

-- The stored threads that somebody may write. Every statement of a commit goes through it.
CREATE VIEW held AS
SELECT l.token, l.until, t.id AS thread_id
FROM leases AS l
JOIN threads AS t ON t.user = l.user AND t.thread = l.thread;

-- The committed state, apart from its thread so that a commit that leaves a large state alone does
-- not copy it.
CREATE TABLE states (
    thread_id INTEGER PRIMARY KEY REFERENCES threads (id) ON DELETE CASCADE,
    state     TEXT    NOT NULL
) STRICT;

-- Messages without a branch are the thread; the others were cut from it by the run that gave the
-- branch its name.
CREATE TABLE messages (
    seq       INTEGER PRIMARY KEY,
    thread_id INTEGER NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    branch    TEXT,
    cut_at    INTEGER,
    place     INTEGER NOT NULL,
    id        TEXT    NOT NULL,
    origin    TEXT,
    message   TEXT    NOT NULL
) STRICT;

CREATE UNIQUE INDEX messages_by_id ON messages (thread_id, id) WHERE branch IS NULL;
CREATE INDEX messages_by_place ON messages (thread_id, branch, place);

-- One row for each attempt. Attempts that continue one response share its id.
CREATE TABLE runs (
    seq         INTEGER PRIMARY KEY,
    thread_id   INTEGER NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    run_id      TEXT    NOT NULL,
    attempt     INTEGER NOT NULL,
    agent       TEXT    NOT NULL,
    response_id TEXT    NOT NULL,
    status      TEXT    NOT NULL,
    input_hash  TEXT    NOT NULL,
    started_at  INTEGER NOT NULL,
    ended_at    INTEGER,
    ending      TEXT,
    invocation  TEXT    NOT NULL,
    UNIQUE (thread_id, run_id, attempt)
) STRICT;

CREATE INDEX runs_by_id ON runs (run_id);
CREATE INDEX runs_by_response ON runs (response_id);
CREATE INDEX runs_at_work ON runs (status) WHERE status = 'running';

CREATE VIEW run_records AS
SELECT t.user, t.thread, r.*
FROM runs AS r
JOIN threads AS t ON t.id = r.thread_id;

CREATE TABLE calls (
    seq        INTEGER PRIMARY KEY,
    thread_id  INTEGER NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    id         TEXT    NOT NULL,
    run_id     TEXT    NOT NULL,
    place      INTEGER NOT NULL,
    message_id TEXT    NOT NULL,
    tool       TEXT    NOT NULL,
    phase      TEXT    NOT NULL,
    journal    TEXT    NOT NULL,
    arguments  TEXT    NOT NULL,
    UNIQUE (thread_id, id)
) STRICT;

CREATE INDEX calls_to_settle ON calls (thread_id, place) WHERE phase <> 'settled';

-- An interaction is looked up by its id alone, so the id is unique among all threads.
CREATE TABLE interactions (
    seq         INTEGER PRIMARY KEY,
    id          TEXT    NOT NULL UNIQUE,
    thread_id   INTEGER NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    run_id      TEXT    NOT NULL,
    response_id TEXT    NOT NULL,
    call_id     TEXT    NOT NULL,
    kind        TEXT    NOT NULL,
    status      TEXT    NOT NULL,
    opened_at   INTEGER NOT NULL,
    expires_at  INTEGER,
    answer      TEXT,
    request     TEXT    NOT NULL
) STRICT;

CREATE INDEX interactions_by_thread ON interactions (thread_id, status);

CREATE VIEW interaction_records AS
SELECT t.user, t.thread, i.*
FROM interactions AS i
JOIN threads AS t ON t.id = i.thread_id;

-- Decisions, oldest first. Rows are only added.
CREATE TABLE audit (
    seq       INTEGER PRIMARY KEY,
    thread_id INTEGER NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    decision  TEXT    NOT NULL
) STRICT;

CREATE INDEX audit_by_thread ON audit (thread_id);
