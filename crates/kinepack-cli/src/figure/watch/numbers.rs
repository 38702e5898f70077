//! Rates over the last second.

use std::collections::VecDeque;
use std::time::Duration;

/// The span of a rate.
const SPAN: Duration = Duration::from_secs(1);
/// The time between two points. It bounds their number.
const STEP: Duration = Duration::from_millis(50);

/// Counters since the beginning of the session.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counters {
    /// The bytes of datagrams, without the headers of UDP and IP.
    pub(super) bytes: u64,
    pub(super) poses: u64,
    /// The datagrams that arrived, and those that are missing.
    pub(super) arrived: u64,
    pub(super) missing: u64,
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
    /// The share of datagrams that are missing, from 0 to 1.
    pub(super) lost_ratio: f64,
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
        let bytes = counters.bytes - before.bytes;
        let arrived = counters.arrived - before.arrived;
        // A datagram that arrives late is no longer missing.
        let missing = counters.missing.saturating_sub(before.missing);
        Rates {
            bytes_per_s: bytes as f64 / seconds,
            poses_per_s: poses as f64 / seconds,
            bits_per_pose: if poses > 0 { 8.0 * bytes as f64 / poses as f64 } else { 0.0 },
            lost_ratio: missing as f64 / (missing + arrived).max(1) as f64,
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
        // For the first four seconds, half of the datagrams are lost.
        let at = |ms: u64| Counters {
            bytes: 2 * ms,
            poses: ms / 100,
            arrived: ms / 10,
            missing: ms.min(4_000) / 10,
        };
        let mut lost_ratio = 0.0;
        for ms in (0..=5_000).step_by(10) {
            let now = Duration::from_millis(ms);
            recent.note(now, at(ms));
            assert!(recent.0.len() <= 22, "{}", recent.0.len());
            lost_ratio = recent.rates(now, at(ms)).lost_ratio;
            assert!(ms == 0 || ms > 4_000 || lost_ratio == 0.5, "{ms}: {lost_ratio}");
        }
        assert_eq!(lost_ratio, 0.0, "the losses are more than a second ago");
        let rates = recent.rates(Duration::from_millis(5_000), at(5_000));
        let bits_per_pose = 1_600.0;
        let expected = Rates { bytes_per_s: 2_000.0, poses_per_s: 10.0, bits_per_pose, lost_ratio };
        assert_eq!(rates, expected);
    }
}
