//! A byte budget a second: a token bucket that time fills and every datagram drains.

use std::time::Duration;

/// How long an unused budget accumulates.
const KEPT: Duration = Duration::from_millis(100);
/// The bucket holds at least two datagrams; otherwise a small budget could never send a full one.
const DATAGRAMS_KEPT: u64 = 2;

/// What may be sent to one receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    bytes_per_s: u32,
    /// In billionths of a byte, so that rounding loses nothing: bytes a second times nanoseconds.
    bucket: u64,
    full: u64,
    /// What events may spend of it: half of what time brings, so that they never starve snapshots.
    of_events: u64,
    filled_at: Duration,
}

impl Budget {
    pub(super) fn new(bytes_per_s: u32, datagram_bytes: usize, now: Duration) -> Self {
        let kept = u64::from(bytes_per_s) * KEPT.as_nanos() as u64;
        let full = kept.max(DATAGRAMS_KEPT * datagram_bytes as u64 * 1_000_000_000);
        Self { bytes_per_s, bucket: full, full, of_events: full / 2, filled_at: now }
    }

    pub(super) fn fill(&mut self, now: Duration) {
        // The bucket is full long before a second has passed.
        let elapsed_ns =
            now.saturating_sub(self.filled_at).min(Duration::from_secs(1)).as_nanos() as u64;
        self.filled_at = self.filled_at.max(now);
        let more = elapsed_ns * u64::from(self.bytes_per_s);
        self.bucket = self.bucket.saturating_add(more).min(self.full);
        self.of_events = self.of_events.saturating_add(more / 2).min(self.full / 2);
    }

    /// Bytes that may be sent now.
    pub(super) fn bytes(&self) -> usize {
        (self.bucket / 1_000_000_000) as usize
    }

    /// Bytes that events may take of that.
    pub(super) fn bytes_for_events(&self) -> usize {
        (self.of_events.min(self.bucket) / 1_000_000_000) as usize
    }

    /// Notes that this many of the bytes that are spent are for events.
    pub(super) fn note_events(&mut self, bytes: usize) {
        self.of_events = self.of_events.saturating_sub(bytes as u64 * 1_000_000_000);
    }

    pub(super) fn spend(&mut self, bytes: usize) {
        self.bucket = self.bucket.saturating_sub(bytes as u64 * 1_000_000_000);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_brings_the_same_budget_in_any_number_of_steps() {
        let mut budget = Budget::new(64_000, 1_200, Duration::ZERO);
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
    fn events_get_at_most_half() {
        let mut budget = Budget::new(60_000, 1_200, Duration::ZERO);
        let (mut of_events, mut rest) = (0, 0);
        for tick in 1..=600u32 {
            budget.fill(Duration::from_secs(1) * tick / 60);
            let bytes = budget.bytes_for_events();
            budget.note_events(bytes);
            budget.spend(bytes);
            of_events += bytes;
            // A datagram that must wait until there is room for it.
            if budget.bytes() >= 1_200 {
                budget.spend(1_200);
                rest += 1_200;
            }
        }
        assert!((298_000..=303_000).contains(&of_events), "{of_events}");
        assert!((298_000..=304_000).contains(&rest), "{rest}");
    }
}
