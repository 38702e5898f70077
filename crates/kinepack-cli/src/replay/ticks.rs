//! Maps the ticks of a capture to the ticks that a replay sends.

use kinepack::Tick;

/// The largest number of sent ticks for each tick of the capture.
const MOST_PARTS: u32 = 10_000;
/// The largest relative error of the rounded rate. A receiver's clock follows the sender's, so this
/// error does no harm.
const TOLERANCE: f64 = 0.002;

/// Converts ticks to sent ticks, which count from 1. A receiver needs a whole number of ticks per
/// second. If a capture has a slow or fractional rate, several sent ticks belong to each tick of
/// the capture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SentTicks {
    /// The receiver's ticks per second, rounded and exact.
    pub(super) tick_hz: u32,
    pub(super) rate_hz: f64,
    /// The number of sent ticks for each tick of the capture.
    parts: u32,
}

impl SentTicks {
    /// Returns the mapping for a capture with `rate_hz` ticks per second.
    pub(super) fn new(rate_hz: f64) -> Self {
        let off = |parts: u32| {
            let exact = rate_hz * f64::from(parts);
            (exact.round() - exact).abs() / exact
        };
        let is_close = |parts: &u32| off(*parts) < TOLERANCE;
        // A receiver needs at least one tick per second.
        let least = (1.0 / rate_hz).round().clamp(1.0, MOST_PARTS.into()) as u32;
        let parts = (least..=MOST_PARTS).find(is_close).unwrap_or(MOST_PARTS);
        let rate_hz = rate_hz * f64::from(parts);
        // The cast saturates at 0, which becomes 1.
        Self { tick_hz: (rate_hz.round() as u32).max(1), rate_hz, parts }
    }

    /// Returns the sent tick for a tick of the capture, which begins at `first`. Returns `None` if
    /// the sent tick would exceed the last tick that can be sent.
    pub(super) fn of(&self, first: Tick, tick: Tick) -> Option<Tick> {
        let since = tick.0.checked_sub(first.0)?;
        since.checked_mul(self.parts)?.checked_add(1).map(Tick)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_and_uneven_rates_are_sent_in_parts_of_ticks() {
        for (rate_hz, tick_hz, parts) in [
            (60.0, 60, 1),
            (59.94, 60, 1),
            (0.1, 1, 10),
            (0.001, 1, 1000),
            (2.5, 5, 2),
            (1e6, 1_000_000, 1),
        ] {
            let ticks = SentTicks::new(rate_hz);
            assert_eq!((ticks.tick_hz, ticks.parts), (tick_hz, parts), "{rate_hz}");
        }
        let slow = SentTicks::new(0.1);
        assert_eq!(slow.of(Tick(7), Tick(9)), Some(Tick(21)));
        assert_eq!(slow.of(Tick(0), Tick(u32::MAX)), None);
    }
}
