//! A budget in bytes per second: a token bucket that time fills and every datagram drains.
//!
//! In any span of `t` seconds, a receiver gets at most `t` times its budget, plus the burst of a
//! full bucket. The burst after the first datagram is at most a tenth of a second of the budget.

use std::time::Duration;

/// How long an unused budget accumulates. At the start, the bucket contains the budget for this
/// span.
const KEPT: Duration = Duration::from_millis(100);
const BYTE: u64 = 1_000_000_000;

/// A bucket of bytes that may be sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket {
    bytes_per_s: u32,
    /// The content in billionths of a byte (bytes per second times nanoseconds), so that rounding
    /// loses nothing.
    bucket: u64,
    /// The size of the bucket. It is at least one datagram, because otherwise a small budget could
    /// never send a full datagram.
    full: u64,
    /// The part of the bucket that events may spend, in the same unit as `bucket`. It fills at half
    /// the rate, so that events never starve snapshots.
    of_events: u64,
    /// The maximum of `of_events`: at least one datagram, for the same reason as `full`.
    full_of_events: u64,
    filled_at: Duration,
}

impl Bucket {
    /// A budget from `now` on. `datagram_bytes` is the largest datagram with its headers.
    pub(super) fn new(bytes_per_s: u32, datagram_bytes: usize, now: Duration) -> Self {
        let kept = u64::from(bytes_per_s) * KEPT.as_nanos() as u64;
        let datagram = (datagram_bytes as u64).saturating_mul(BYTE);
        Self {
            bytes_per_s,
            bucket: kept,
            full: kept.max(datagram),
            of_events: kept / 2,
            full_of_events: (kept / 2).max(datagram),
            filled_at: now,
        }
    }

    /// The same bucket, filled at another rate from `now` on. The bucket keeps its content, up to
    /// the new size.
    pub(super) fn changed(
        mut self,
        bytes_per_s: u32,
        datagram_bytes: usize,
        now: Duration,
    ) -> Self {
        self.fill(now);
        let new = Self::new(bytes_per_s, datagram_bytes, self.filled_at);
        Self {
            bucket: self.bucket.min(new.full),
            of_events: self.of_events.min(new.full_of_events),
            ..new
        }
    }

    pub(super) fn bytes_per_s(&self) -> u32 {
        self.bytes_per_s
    }

    pub(super) fn fill(&mut self, now: Duration) {
        // Even the smallest budget fills a bucket of the largest datagram in this time, so a longer
        // time would add nothing.
        let longest = Duration::from_secs(300);
        let elapsed_ns = now.saturating_sub(self.filled_at).min(longest).as_nanos() as u64;
        self.filled_at = self.filled_at.max(now);
        let more = elapsed_ns.saturating_mul(u64::from(self.bytes_per_s));
        self.bucket = self.bucket.saturating_add(more).min(self.full);
        self.of_events = self.of_events.saturating_add(more / 2).min(self.full_of_events);
    }

    /// The number of bytes that may be sent now.
    pub(super) fn bytes(&self) -> usize {
        (self.bucket / BYTE) as usize
    }

    /// The number of bytes that events may take now.
    pub(super) fn bytes_for_events(&self) -> usize {
        self.bytes_owed_to_events().min(self.bytes())
    }

    /// The number of bytes that events may take once the bucket contains them.
    pub(super) fn bytes_owed_to_events(&self) -> usize {
        (self.of_events / BYTE) as usize
    }

    /// Notes how many of the bytes that [`spend`](Self::spend) takes belong to events.
    pub(super) fn note_events(&mut self, bytes: usize) {
        self.of_events = self.of_events.saturating_sub((bytes as u64).saturating_mul(BYTE));
    }

    pub(super) fn spend(&mut self, bytes: usize) {
        self.bucket = self.bucket.saturating_sub((bytes as u64).saturating_mul(BYTE));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_brings_the_same_budget_in_any_number_of_steps() {
        let mut budget = Bucket::new(64_000, 1_200, Duration::ZERO);
        budget.spend(budget.bytes());
        let (mut now, mut spent) = (Duration::ZERO, 0);
        for _ in 0..60 {
            now += Duration::from_nanos(16_666_667);
            budget.fill(now);
            spent += budget.bytes();
            budget.spend(budget.bytes());
        }
        assert!((63_999..=64_000).contains(&spent), "{spent}");
        budget.fill(now + Duration::from_secs(60));
        assert_eq!(budget.bytes(), 6_400, "an unused budget expires");
        budget.fill(now);
        budget.fill(Duration::MAX);
        assert_eq!(budget.bytes(), 6_400);
    }

    #[test]
    fn a_burst_is_bounded_by_the_budget() {
        for bytes_per_s in [256, 1_000, 12_279, 12_280, 64_000] {
            let mut budget = Bucket::new(bytes_per_s, 1_228, Duration::ZERO);
            assert_eq!(budget.bytes(), bytes_per_s as usize / 10, "a tenth of a second");
            budget.fill(Duration::from_secs(60));
            assert_eq!(budget.bytes(), (bytes_per_s as usize / 10).max(1_228));
            let changed = budget.changed(1_000, 1_228, Duration::from_secs(60));
            assert_eq!(changed.bytes(), 1_228, "the bucket keeps what has room");
            let mut changed = changed.changed(64_000, 1_228, Duration::from_secs(60));
            assert_eq!(changed.bytes(), 1_228, "a larger budget brings nothing at once");
            changed.fill(Duration::from_millis(60_050));
            assert_eq!(changed.bytes(), 1_228 + 3_200);
        }
    }

    #[test]
    fn events_get_at_most_half() {
        let mut budget = Bucket::new(60_000, 1_200, Duration::ZERO);
        let (mut of_events, mut rest) = (0, 0);
        for tick in 1..=600u32 {
            budget.fill(Duration::from_secs(1) * tick / 60);
            let bytes = budget.bytes_for_events();
            budget.note_events(bytes);
            budget.spend(bytes);
            of_events += bytes;
            // This datagram must wait until the bucket has room for it.
            if budget.bytes() >= 1_200 {
                budget.spend(1_200);
                rest += 1_200;
            }
        }
        assert!((298_000..=303_000).contains(&of_events), "{of_events}");
        assert!((298_000..=304_000).contains(&rest), "{rest}");
    }
}
