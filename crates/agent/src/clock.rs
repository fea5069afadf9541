//! Time and ids, passed in so that tests decide both.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::Timestamp;

/// Tells the time of day.
pub trait Clock: Send + Sync + fmt::Debug + 'static {
    /// The time now.
    fn now(&self) -> Timestamp;
}

/// Makes ids.
pub trait Ids: Send + Sync + fmt::Debug + 'static {
    /// A new id that begins with `prefix`, unique for good.
    fn next(&self, prefix: &str) -> String;
}

/// The system's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// Ids from time-ordered UUIDs.
#[derive(Debug, Clone, Copy, Default)]
pub struct UniqueIds;

impl Ids for UniqueIds {
    fn next(&self, prefix: &str) -> String {
        format!("{prefix}_{}", uuid::Uuid::now_v7().simple())
    }
}

/// Ids that count up, for tests with golden streams.
#[derive(Debug, Default)]
pub struct CountingIds(AtomicU64);

impl Ids for CountingIds {
    fn next(&self, prefix: &str) -> String {
        format!("{prefix}_{}", self.0.fetch_add(1, Ordering::Relaxed) + 1)
    }
}
