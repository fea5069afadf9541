//! How long things take, in a few classes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The upper bounds of the classes, in seconds: from a script's answer to a long run.
pub(super) const BOUNDS: [f64; 12] = [
    0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0,
];

/// Counts durations by class.
#[derive(Debug, Default)]
pub(super) struct Histogram {
    classes: [AtomicU64; BOUNDS.len()],
    /// Those beyond the last bound.
    beyond: AtomicU64,
    micros: AtomicU64,
}

/// A histogram at one moment.
#[derive(Debug, PartialEq)]
pub(super) struct Reading {
    /// How many took at most as long as each bound, in the order of the bounds.
    pub(super) up_to: Vec<u64>,
    pub(super) count: u64,
    pub(super) seconds: f64,
}

impl Histogram {
    pub(super) fn observe(&self, duration: Duration) {
        let seconds = duration.as_secs_f64();
        let fitting = BOUNDS.iter().zip(&self.classes);
        let class = fitting.into_iter().find(|(bound, _)| seconds <= **bound);
        let class = class.map_or(&self.beyond, |(_, class)| class);
        class.fetch_add(1, Ordering::Relaxed);
        let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }

    pub(super) fn read(&self) -> Reading {
        let mut count = 0;
        let up_to = self.classes.iter().map(|class| {
            count += class.load(Ordering::Relaxed);
            count
        });
        Reading {
            up_to: up_to.collect(),
            count: count + self.beyond.load(Ordering::Relaxed),
            seconds: Duration::from_micros(self.micros.load(Ordering::Relaxed)).as_secs_f64(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_counts_in_its_class_and_all_above() {
        let histogram = Histogram::default();
        for millis in [1, 10, 11, 400_000] {
            histogram.observe(Duration::from_millis(millis));
        }
        let reading = histogram.read();
        assert_eq!(reading.up_to[0], 2);
        assert!(reading.up_to[1..].iter().all(|count| *count == 3));
        assert_eq!(reading.count, 4);
        assert!((reading.seconds - 400.022).abs() < 1e-9);
    }
}
