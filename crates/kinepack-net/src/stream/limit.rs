//! Limits how many new records one client may send, by a bucket of credit that time refills. See
//! `spec/NET.md`, section 8.3.

use std::time::Duration;

use super::StreamConfig;

/// A bucket of credit, measured in time. A record costs the time in which its credit returns.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RateLimit {
    per_record: Duration,
    most: Duration,
    /// Invariant: at most `most`.
    credit: Duration,
    /// The latest `now` of any call.
    now: Duration,
}

impl RateLimit {
    /// A full bucket. It refills at 9/8 of the rate, because a client's clock, or its timer of
    /// whole milliseconds, may be fast.
    pub(super) fn new(config: &StreamConfig) -> Self {
        let per_record = Duration::from_secs(8) / (9 * config.rate_hz);
        let most = per_record * u32::from(config.burst_records);
        Self { per_record, most, credit: most, now: Duration::ZERO }
    }

    /// Takes the credit for `records` records. Returns false if there is not enough credit. If
    /// `now` is before the `now` of an earlier call, no credit is added.
    pub(super) fn take(&mut self, now: Duration, records: u32) -> bool {
        let elapsed = now.saturating_sub(self.now);
        self.now = self.now.max(now);
        self.credit = self.credit.saturating_add(elapsed).min(self.most);
        let remaining = self.credit.checked_sub(self.per_record * records);
        self.credit = remaining.unwrap_or(self.credit);
        remaining.is_some()
    }

    /// Returns the credit of one record.
    pub(super) fn give_back(&mut self) {
        self.credit = (self.credit + self.per_record).min(self.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_a_burst_and_then_nine_eighths_of_the_rate() {
        let config = StreamConfig { burst_records: 20, ..StreamConfig::at_hz(80) };
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
