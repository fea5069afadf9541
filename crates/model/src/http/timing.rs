//! How long to wait, and how often to try again.

use std::time::Duration;

/// How long one model call may take and be silent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// From the start of connecting to the connection.
    pub connect: Duration,
    /// From sending the request to the first byte of the answer's body. A provider that sends keep-alive comments
    /// while its model thinks is not silent.
    pub first_token: Duration,
    /// Between two pieces of the body.
    pub idle: Duration,
    /// From the first attempt to the finish.
    pub total: Duration,
}

impl Default for Timeouts {
    /// 10 s to connect, 60 s of silence, 15 min in all.
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_token: Duration::from_secs(60),
            idle: Duration::from_secs(60),
            total: Duration::from_mins(15),
        }
    }
}

/// How often a call is tried again, which happens only before anything of the answer was read: after the status 408,
/// 429 or 5xx, and where there was no connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retries {
    /// Attempts in all; 1 tries once.
    pub attempts: u32,
    /// The longest wait after the first attempt; it doubles with each further one. The wait itself is drawn evenly
    /// between nothing and this bound, so that many callers do not come back at once.
    pub base: Duration,
    /// The longest wait of all. A provider that asks for more with `Retry-After` is not tried again.
    pub longest: Duration,
}

impl Default for Retries {
    /// Three attempts, from half a second up to 20 s.
    fn default() -> Self {
        Self {
            attempts: 3,
            base: Duration::from_millis(500),
            longest: Duration::from_secs(20),
        }
    }
}

impl Retries {
    /// How long to wait after the failed attempt with this number, counted from 1. `None`: give up.
    pub(super) fn wait(
        &self,
        attempt: u32,
        asked: Option<Duration>,
        draw: f64,
    ) -> Option<Duration> {
        if attempt >= self.attempts {
            return None;
        }
        if let Some(asked) = asked {
            return (asked <= self.longest).then_some(asked);
        }
        let doublings = 2_u32.saturating_pow(attempt.saturating_sub(1));
        let bound = self.base.saturating_mul(doublings).min(self.longest);
        Some(bound.mul_f64(draw.clamp(0.0, 1.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RETRIES: Retries = Retries {
        attempts: 4,
        base: Duration::from_secs(1),
        longest: Duration::from_secs(3),
    };

    #[test]
    fn the_wait_doubles_up_to_its_bound_and_then_ends() {
        let waits: Vec<_> = (1..=4)
            .map(|attempt| RETRIES.wait(attempt, None, 1.0))
            .collect();
        let seconds = |number| Some(Duration::from_secs(number));
        assert_eq!(waits, [seconds(1), seconds(2), seconds(3), None]);
        assert_eq!(
            RETRIES.wait(2, None, 0.25),
            Some(Duration::from_millis(500))
        );
    }

    #[test]
    fn what_the_provider_asks_for_counts_unless_it_is_too_long() {
        assert_eq!(
            RETRIES.wait(1, Some(Duration::from_secs(3)), 0.0),
            Some(Duration::from_secs(3))
        );
        assert_eq!(RETRIES.wait(1, Some(Duration::from_secs(4)), 0.0), None);
    }
}
