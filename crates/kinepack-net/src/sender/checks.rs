//! Decides which snapshots of one receiver get a state check. See `spec/NET.md`, section 4.6.

use std::time::Duration;

use kinepack::Tick;

/// On average, one in this many ticks makes state checks.
const TICKS: u32 = 2;

/// When one receiver's next state check is due, and how many times the state was sent anew.
#[derive(Debug)]
pub(super) struct Checks {
    /// Whether the next snapshot gets a check even in a tick that makes no checks.
    is_asked: bool,
    /// The number of bytes to send before the next check.
    bytes_left: u64,
    /// How many times the state was sent anew.
    pub(super) sent_anew: u64,
    last_anew: Option<Duration>,
}

impl Checks {
    /// A schedule in which the first snapshot gets a check.
    pub(super) fn new() -> Self {
        Self { is_asked: true, bytes_left: 0, sent_anew: 0, last_anew: None }
    }

    /// Whether a snapshot of tick `tick` gets a check, if the hub makes checks at all.
    pub(super) fn is_due(&self, tick: Tick) -> bool {
        self.is_asked || (self.bytes_left == 0 && makes_checks(tick))
    }

    /// Requests a check in the next snapshot.
    pub(super) fn ask(&mut self) {
        self.is_asked = true;
    }

    /// Notes that a datagram of `bytes` bytes was sent.
    pub(super) fn note_sent(&mut self, bytes: usize) {
        self.bytes_left = self.bytes_left.saturating_sub(bytes as u64);
    }

    /// Notes that a snapshot with a check was sent, whose state has `values` values. `every` is
    /// [`HubConfig::check_every_bytes`](super::HubConfig::check_every_bytes). A check takes time
    /// for each value, so the next check of a large state is due later.
    pub(super) fn note_checked(&mut self, every: u32, values: usize) {
        self.is_asked = every == 0;
        self.bytes_left = u64::from(every).max(values as u64 / 4);
    }

    /// Notes that the receiver asks for the state anew. Returns false if a request was accepted
    /// less than `rest` ago; then the caller ignores this request.
    pub(super) fn begin_anew(&mut self, now: Duration, rest: Duration) -> bool {
        if self.last_anew.is_some_and(|last| now.saturating_sub(last) < rest) {
            return false;
        }
        self.last_anew = Some(now);
        self.sent_anew += 1;
        self.ask();
        true
    }
}

/// Whether receivers are checked in tick `tick`. All receivers are checked in the same ticks, so
/// receivers with equal views share the work.
///
/// A fault spreads from a view to the views coded against it. At a steady round trip, about every
/// third view is faulty then. Checks at equal intervals could miss all faulty views for a long
/// time, so a hash of the tick decides (the finalizer of MurmurHash3).
fn makes_checks(tick: Tick) -> bool {
    let hash = (tick.0 ^ tick.0 >> 16).wrapping_mul(0x85EB_CA6B);
    let hash = (hash ^ hash >> 13).wrapping_mul(0xC2B2_AE35);
    (hash ^ hash >> 16).is_multiple_of(TICKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_are_at_varying_distances() {
        for stride in 1..=12 {
            let ticks: Vec<u32> =
                (0..8_000).filter(|nth| makes_checks(Tick(nth * stride))).collect();
            assert!((3_700..=4_300).contains(&ticks.len()), "{stride}: {}", ticks.len());
            let gaps: Vec<u32> = ticks.windows(2).map(|pair| pair[1] - pair[0]).collect();
            assert!(gaps.iter().all(|gap| *gap <= 20), "{stride}: {gaps:?}");
            // A check soon meets a view with the fault, whatever the distance between such views.
            for (every, first) in
                (1..=12).flat_map(|every| (0..every).map(move |first| (every, first)))
            {
                let hits = ticks.iter().filter(|tick| *tick % every == first).count();
                assert!(hits as u32 * every > 3_000, "{stride}, {every}, {first}: {hits}");
            }
        }
    }
}
