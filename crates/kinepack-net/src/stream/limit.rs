//! How many new records one client may bring: a bucket of credit, refilled with time.
//! `spec/NET.md`, section 8.3.

use std::time::Duration;

use super::StreamConfig;

/// Credit, in time: a record costs the time that it takes to regain it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RateLimit {
    per_record: Duration,
    most: Duration,
    /// Invariant: at most `most`.
    credit: Duration,
    /// The latest time that a call gave.
    now: Duration,
}

impl RateLimit {
    /// A full bucket. An eighth above the rate: a client's clock, or its timer of whole
    /// milliseconds, may be fast.
    pub(super) fn new(config: &StreamConfig) -> Self {
        let per_record = Duration::from_secs(8) / (9 * config.rate_hz);
        let most = per_record * u32::from(config.burst_records);
        Self { per_record, most, credit: most, now: Duration::ZERO }
    }

    /// Whether there is credit for so many records; it is then taken. Time that goes backwards
    /// counts as standing still.
    pub(super) fn take(&mut self, now: Duration, records: u32) -> bool {
        let elapsed = now.saturating_sub(self.now);
        self.now = self.now.max(now);
        self.credit = self.credit.saturating_add(elapsed).min(self.most);
        let left = self.credit.checked_sub(self.per_record * records);
        self.credit = left.unwrap_or(self.credit);
        left.is_some()
    }

    /// Gives back what one record cost.
    pub(super) fn give_back(&mut self) {
        self.credit = (self.credit + self.per_record).min(self.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_then_nine_eighths_of_the_rate() {
        let config = StreamConfig { rate_hz: 80, burst_records: 20, ..StreamConfig::default() };
        let mut limit = RateLimit::new(&config);
        let start = Duration::from_secs(1000);
        assert!(
            limit.take(start, 16)
                && !limit.take(start, 16)
                && limit.take(start, 4)
                && !limit.take(start, 1)
        );
        limit.give_back();
        assert!(limit.take(start, 1) && !limit.take(Duration::ZERO, 1));
        let taken = (1..=10_000)
            .filter(|millis| limit.take(start + Duration::from_millis(*millis), 1))
            .count();
        assert!((899..=900).contains(&taken), "{taken} in 10 s");
        assert!(limit.take(Duration::MAX, 20) && !limit.take(Duration::MAX, 1));
    }
}
