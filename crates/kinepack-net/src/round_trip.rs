//! The smoothed round trip: the time from sending a datagram to its acknowledgement. Source: RFC
//! 6298, sections 2 and 3.

use std::time::Duration;

/// How long to wait for an answer while no round trip was measured yet.
const UNKNOWN: Duration = Duration::from_millis(500);
/// The least time that [`RoundTrip::patience`] allows for variation.
const GRANULARITY: Duration = Duration::from_millis(30);

/// The shortest round trip is the minimum over the last one to two spans of this length.
const SHORTEST_SPAN: Duration = Duration::from_secs(5);

/// A smoothed round trip and its variation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RoundTrip {
    smoothed: Option<Duration>,
    variation: Duration,
}

impl RoundTrip {
    pub(crate) fn sample(&mut self, sample: Duration) {
        match self.smoothed {
            None => (self.smoothed, self.variation) = (Some(sample), sample / 2),
            Some(smoothed) => {
                self.variation =
                    self.variation.saturating_mul(3).saturating_add(smoothed.abs_diff(sample)) / 4;
                self.smoothed = Some(smoothed.saturating_mul(7).saturating_add(sample) / 8);
            }
        }
    }

    /// The smoothed round trip; `None` before the first measurement.
    pub(crate) fn smoothed(&self) -> Option<Duration> {
        self.smoothed
    }

    /// How long to wait for an answer before a datagram counts as lost.
    pub(crate) fn patience(&self) -> Duration {
        self.smoothed.map_or(UNKNOWN, |smoothed| {
            smoothed.saturating_add(self.variation.saturating_mul(4).max(GRANULARITY))
        })
    }
}

/// The shortest recent round trip.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shortest {
    /// The shortest of the current span, and of the previous one.
    spans: [Option<Duration>; 2],
    began: Duration,
}

impl Shortest {
    pub(crate) fn sample(&mut self, now: Duration, sample: Duration) {
        if now.saturating_sub(self.began) > SHORTEST_SPAN {
            self.spans[1] = self.spans[0].take();
            self.began = now;
        }
        self.spans[0] = Some(self.spans[0].map_or(sample, |shortest| shortest.min(sample)));
    }

    /// Begins the current span again.
    pub(crate) fn hold(&mut self, now: Duration) {
        self.began = now;
    }

    pub(crate) fn get(&self) -> Option<Duration> {
        self.spans.into_iter().flatten().min()
    }
}
