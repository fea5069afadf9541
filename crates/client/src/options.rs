//! What a client may take, and how long it waits.

use std::time::Duration;

/// How long a client waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// From the start of connecting to the connection.
    pub connect: Duration,
    /// Without any byte, comments included: from the request to the answer, and within the
    /// answer.
    pub idle: Duration,
    /// From `RUN_FINISHED` or `RUN_ERROR` to the end of the stream. Servers close it at once; a
    /// run that has ended does not wait for one that doesn't.
    pub end: Duration,
}

impl Default for Timeouts {
    /// 10 s to connect, 5 min of silence, 2 s to close.
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            idle: Duration::from_mins(5),
            end: Duration::from_secs(2),
        }
    }
}

/// How much a client takes of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The bytes of one event.
    pub event: usize,
    /// The bytes of the whole stream, from all connections that it was read over.
    pub run: u64,
}

impl Default for Limits {
    /// 10 MiB in an event, as the official client has it, and 1 GiB in a run.
    fn default() -> Self {
        Self {
            event: 10 << 20,
            run: 1 << 30,
        }
    }
}

/// How often a run that was cut off is joined again.
///
/// It is tried only where the server numbers its events, which is the sign that it keeps them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rejoin {
    /// Attempts in a row that bring nothing new; 0 never joins again.
    pub attempts: u32,
    /// The longest wait before the first attempt; it doubles with each further one. The wait
    /// itself is drawn between half of it and the whole.
    pub base: Duration,
    /// The longest wait of all.
    pub longest: Duration,
}

impl Default for Rejoin {
    /// Six attempts, from a quarter of a second up to 10 s.
    fn default() -> Self {
        Self {
            attempts: 6,
            base: Duration::from_millis(250),
            longest: Duration::from_secs(10),
        }
    }
}

impl Rejoin {
    /// Returns how long to wait before the attempt of this number, counted from 1; `draw` is
    /// from 0 to 1. `None`: give up.
    pub(crate) fn wait(&self, attempt: u32, draw: f64) -> Option<Duration> {
        if attempt > self.attempts {
            return None;
        }
        let doublings = 2_u32.saturating_pow(attempt.saturating_sub(1));
        let bound = self.base.saturating_mul(doublings).min(self.longest);
        Some(bound.mul_f64(f64::midpoint(1.0, draw.clamp(0.0, 1.0))))
    }
}

/// Who keeps the thread's history.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum History {
    /// Every request carries all messages and the whole state, as the official client does it.
    /// It works with every server.
    #[default]
    Full,
    /// A request carries what is new: the server keeps the thread. Begin with
    /// [`Thread::open`](crate::Thread::open) to see what it has kept.
    New,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_their_bound_and_then_end() {
        let rejoin = Rejoin {
            attempts: 4,
            base: Duration::from_secs(1),
            longest: Duration::from_secs(3),
        };
        let waits: Vec<_> = (1..=5).map(|attempt| rejoin.wait(attempt, 1.0)).collect();
        let seconds = |number| Some(Duration::from_secs(number));
        assert_eq!(
            waits,
            [seconds(1), seconds(2), seconds(3), seconds(3), None]
        );
        assert_eq!(rejoin.wait(1, 0.0), Some(Duration::from_millis(500)));
    }
}
