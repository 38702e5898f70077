//! The rate at which datagrams are acknowledged.

use std::collections::VecDeque;
use std::time::Duration;

/// The span of the measurement. It covers several ticks, so that a tick more or less matters little.
const SPAN: Duration = Duration::from_millis(250);
/// A shorter measurement is too uncertain.
const LEAST_SPAN: Duration = Duration::from_millis(50);
const MOST_SAMPLES: usize = 256;

/// The acknowledged bytes of the last quarter of a second.
#[derive(Clone, Debug, Default)]
pub(super) struct Delivery {
    /// When bytes were acknowledged, and how many.
    samples: VecDeque<(Duration, u64)>,
}

impl Delivery {
    pub(super) fn note(&mut self, now: Duration, bytes: usize) {
        match self.samples.back_mut() {
            Some((at, sum)) if *at >= now => *sum += bytes as u64,
            _ => {
                if self.samples.len() == MOST_SAMPLES {
                    self.samples.pop_front();
                }
                self.samples.push_back((now, bytes as u64));
            }
        }
        // Two samples are kept, because a slow link has few.
        while self.samples.len() > 3
            && self.samples.front().is_some_and(|(at, _)| now.saturating_sub(*at) > SPAN)
        {
            self.samples.pop_front();
        }
    }

    /// Bytes a second; `None` if the measurement is too short. The first sample only begins the
    /// span, because its bytes were sent before.
    pub(super) fn bytes_per_s(&self) -> Option<f64> {
        let ((first, _), (last, _)) = (self.samples.front()?, self.samples.back()?);
        let span = last.saturating_sub(*first);
        let bytes: u64 = self.samples.iter().skip(1).map(|(_, bytes)| bytes).sum();
        (span >= LEAST_SPAN).then(|| bytes as f64 / span.as_secs_f64())
    }
}
