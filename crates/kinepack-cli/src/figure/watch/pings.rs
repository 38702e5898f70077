//! Measures the network's round trip by numbers that the sender returns at once. The round trip of
//! `kinepack-net` also has the sender's wait for its next tick.
//!
//! The number is random, so its return shows that the sender receives at the address that it gives.

use std::collections::VecDeque;
use std::time::Duration;

use crate::figure::framing::PING_BYTES;
use crate::figure::random;

/// The time between two pings.
const EVERY: Duration = Duration::from_millis(250);
/// The maximum number of pings that wait for their return.
const MOST_WAITING: usize = 16;
/// The weight of a measurement in the mean: one in this many.
const SMOOTHING: u32 = 8;

/// The pings of a session.
#[derive(Debug, Default)]
pub(super) struct Pings {
    next: Duration,
    waiting: VecDeque<([u8; PING_BYTES], Duration)>,
    round_trip: Option<Duration>,
}

impl Pings {
    /// Returns the ping that is due.
    pub(super) fn poll(&mut self, now: Duration) -> Option<[u8; PING_BYTES]> {
        if now < self.next {
            return None;
        }
        self.next = now + EVERY;
        if self.waiting.len() == MOST_WAITING {
            self.waiting.pop_front();
        }
        let number = random::number().to_le_bytes();
        self.waiting.push_back((number, now));
        Some(number)
    }

    /// Takes the return of a ping. Returns false if none waits for it.
    pub(super) fn take(&mut self, now: Duration, contents: &[u8]) -> bool {
        let Some(at) = self.waiting.iter().position(|(number, _)| number == contents) else {
            return false;
        };
        let own = self.waiting.remove(at).map_or(now, |(_, sent)| sent);
        let sample = now.saturating_sub(own);
        self.round_trip = Some(match self.round_trip {
            None => sample,
            Some(mean) => (mean * (SMOOTHING - 1) + sample) / SMOOTHING,
        });
        true
    }

    /// The smoothed round trip; `None` until the sender has returned a ping.
    pub(super) fn round_trip(&self) -> Option<Duration> {
        self.round_trip
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_round_trip_is_the_time_until_a_ping_returns() {
        let (mut pings, ms) = (Pings::default(), Duration::from_millis);
        let first = pings.poll(ms(0)).unwrap();
        assert!(pings.poll(ms(249)).is_none());
        assert!(!pings.take(ms(20), &[0; PING_BYTES]) && !pings.take(ms(20), &first[1..]));
        assert_eq!(pings.round_trip(), None);
        assert!(pings.take(ms(40), &first) && !pings.take(ms(40), &first), "only once");
        assert_eq!(pings.round_trip(), Some(ms(40)));
        for step in 1..100 {
            let ping = pings.poll(ms(250 * step)).unwrap();
            assert!(pings.take(ms(250 * step + 80), &ping));
        }
        let smoothed = pings.round_trip().unwrap();
        assert!(smoothed.abs_diff(ms(80)) < ms(1), "{smoothed:?}");
        assert!((100..200).all(|step| pings.poll(ms(250 * step)).is_some()));
        assert_eq!(pings.waiting.len(), MOST_WAITING);
    }
}
