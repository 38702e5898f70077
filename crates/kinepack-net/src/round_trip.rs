//! The smoothed round trip: the time from sending a datagram to its acknowledgement. Source: RFC
//! 6298, sections 2 and 3.

use std::time::Duration;

/// How long to wait for an answer while no round trip was measured yet.
const UNKNOWN: Duration = Duration::from_millis(500);
/// The least time that [`RoundTrip::patience`] allows for variation.
const GRANULARITY: Duration = Duration::from_millis(30);

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
