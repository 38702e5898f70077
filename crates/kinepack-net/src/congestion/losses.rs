//! Tells loss that comes from sending too much from loss that the link always has.
//!
//! A Wi-Fi that loses every twentieth datagram does so at any rate. A link without a queue, or a
//! policer, loses what is too much. So if more than usual is lost, the rate is lowered for a moment
//! as a test. If as much is lost as before, the loss is not ours, and the rate returns.

use std::time::Duration;

/// The number of datagrams that a share is measured with. Losses in bursts need many.
const COUNT: u32 = 240;
/// If this many are lost, fewer are enough.
const ENOUGH_LOST: u32 = 60;
/// The share of datagrams, in addition to the usual one, that is a reason for a test.
const UNUSUAL: f64 = 0.08;
/// The shortest span that a share is measured in.
const LEAST_SPAN: Duration = Duration::from_millis(500);
/// How long a test lasts at most.
const LONGEST_TEST: Duration = Duration::from_secs(3);

/// What the losses of a span mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Verdict {
    /// Unusually many: lower the rate to see whether it helps.
    Test,
    /// The lower rate did not help.
    Random,
    /// The lower rate helped.
    Congestion,
}

/// The losses of a link.
#[derive(Clone, Debug, Default)]
pub(super) struct Losses {
    settled: u32,
    lost: u32,
    arrived_bytes: u64,
    since: Duration,
    /// The bytes that arrived in a second of the last span.
    arrived_bytes_per_s: f64,
    /// The share lost in the last span.
    ratio: f64,
    /// The share that the link loses at any rate.
    usual: f64,
    test: Option<Test>,
}

#[derive(Clone, Copy, Debug)]
struct Test {
    ratio_before: f64,
    /// The first span of a test still has datagrams from before it.
    has_begun: bool,
}

impl Losses {
    pub(super) fn note_lost(&mut self) {
        self.settled += 1;
        self.lost += 1;
    }

    pub(super) fn note_arrived(&mut self, bytes: usize) {
        self.settled += 1;
        self.arrived_bytes = self.arrived_bytes.saturating_add(bytes as u64);
    }

    /// The bytes that arrived in a second of the span that was judged last.
    pub(super) fn arrived_bytes_per_s(&self) -> f64 {
        self.arrived_bytes_per_s
    }

    /// The share of datagrams lost recently.
    pub(super) fn ratio(&self) -> f64 {
        self.ratio
    }

    pub(super) fn is_testing(&self) -> bool {
        self.test.is_some()
    }

    pub(super) fn begin_test(&mut self) {
        self.test = Some(Test { ratio_before: self.ratio, has_begun: false });
    }

    /// Ends a span of losses once it has enough datagrams, and says what they mean.
    pub(super) fn judge(&mut self, now: Duration, trip: Duration) -> Option<Verdict> {
        let span = now.saturating_sub(self.since);
        if let Some(test) = &mut self.test
            && !test.has_begun
            && span > trip
        {
            test.has_begun = true;
            self.begin_span(now);
            return None;
        }
        let is_enough = self.settled >= COUNT || self.lost >= ENOUGH_LOST;
        let is_late = self.test.is_some() && span > LONGEST_TEST && self.settled > 0;
        if !is_enough && !is_late || span <= trip.max(LEAST_SPAN) {
            return None;
        }
        self.ratio = f64::from(self.lost) / f64::from(self.settled);
        self.arrived_bytes_per_s = self.arrived_bytes as f64 / span.as_secs_f64();
        self.begin_span(now);
        if let Some(test) = self.test.take() {
            if self.ratio < test.ratio_before / 2.0 {
                return Some(Verdict::Congestion);
            }
            self.usual = self.usual.max(self.ratio.min(test.ratio_before));
            return Some(Verdict::Random);
        }
        if self.ratio < self.usual {
            self.usual += (self.ratio - self.usual) / 4.0;
        }
        (self.ratio > self.usual * 1.5 + UNUSUAL).then_some(Verdict::Test)
    }

    fn begin_span(&mut self, now: Duration) {
        (self.settled, self.lost, self.arrived_bytes, self.since) = (0, 0, 0, now);
    }
}
