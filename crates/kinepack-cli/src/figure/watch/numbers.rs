//! Rates over the last second.

use std::collections::VecDeque;
use std::time::Duration;

/// The span of a rate.
const SPAN: Duration = Duration::from_secs(1);
/// The time between two points. It bounds their number.
const STEP: Duration = Duration::from_millis(50);

/// Counters that only grow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counters {
    /// The bytes of datagrams, and those of them that belong to `kinepack-net`.
    pub(super) bytes: u64,
    pub(super) net_bytes: u64,
    pub(super) poses: u64,
}

/// The counters at points of the last second.
#[derive(Debug, Default)]
pub(super) struct Recent(VecDeque<(Duration, Counters)>);

/// The rates of the last second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Rates {
    pub(super) bytes_per_s: f64,
    pub(super) poses_per_s: f64,
    pub(super) bits_per_pose: f64,
}

impl Recent {
    pub(super) fn note(&mut self, now: Duration, counters: Counters) {
        if self.0.back().is_none_or(|(last, _)| now.saturating_sub(*last) >= STEP) {
            self.0.push_back((now, counters));
        }
        while self.0.front().is_some_and(|(first, _)| now.saturating_sub(*first) > SPAN) {
            self.0.pop_front();
        }
    }

    /// Returns the rates from the oldest point to the counters now.
    pub(super) fn rates(&self, now: Duration, counters: Counters) -> Rates {
        let Some((first, before)) = self.0.front() else { return Rates::default() };
        let seconds = now.saturating_sub(*first).as_secs_f64();
        if seconds <= 0.0 {
            return Rates::default();
        }
        let poses = counters.poses - before.poses;
        let bits = 8 * (counters.net_bytes - before.net_bytes);
        Rates {
            bytes_per_s: (counters.bytes - before.bytes) as f64 / seconds,
            poses_per_s: poses as f64 / seconds,
            bits_per_pose: if poses > 0 { bits as f64 / poses as f64 } else { 0.0 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_those_of_the_last_second() {
        let mut recent = Recent::default();
        assert_eq!(recent.rates(Duration::ZERO, Counters::default()), Rates::default());
        let at = |ms: u64| Counters { bytes: 2 * ms, net_bytes: ms, poses: ms / 100 };
        for ms in (0..=5_000).step_by(10) {
            recent.note(Duration::from_millis(ms), at(ms));
            assert!(recent.0.len() <= 22, "{}", recent.0.len());
        }
        let rates = recent.rates(Duration::from_millis(5_000), at(5_000));
        assert_eq!(rates, Rates { bytes_per_s: 2_000.0, poses_per_s: 10.0, bits_per_pose: 800.0 });
    }
}
