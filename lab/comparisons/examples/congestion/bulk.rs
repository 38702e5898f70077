//! A bulk flow with the window of TCP.

use std::collections::BTreeMap;
use std::time::Duration;

/// The bytes of a packet without headers.
pub(crate) const PACKET_BYTES: usize = 1_472;

/// A sender that always has more to send. After slow start, its window grows by a packet in a round
/// trip, and it halves at most once in a round trip if a packet is lost (RFC 5681).
#[derive(Default)]
pub(crate) struct Bulk {
    window: f64,
    threshold: f64,
    next: u32,
    /// When each packet in flight was sent.
    in_flight: BTreeMap<u32, Duration>,
    /// Losses of packets before this one belong to the last fall.
    recovers_until: u32,
    trip: Duration,
}

impl Bulk {
    pub(crate) fn new() -> Self {
        Self { window: 10.0, threshold: f64::INFINITY, ..Self::default() }
    }

    /// The number of the next packet to send, if the window has room.
    pub(crate) fn send(&mut self, now: Duration) -> Option<u32> {
        if self.in_flight.len() as f64 >= self.window {
            return None;
        }
        let number = self.next;
        self.next += 1;
        self.in_flight.insert(number, now);
        Some(number)
    }

    pub(crate) fn acknowledge(&mut self, now: Duration, number: u32) {
        if let Some(sent) = self.in_flight.remove(&number) {
            self.trip = now - sent;
            self.window += if self.window < self.threshold { 1.0 } else { 1.0 / self.window };
        }
        // Three packets after a missing one show that it is lost (RFC 6675).
        let missing: Vec<u32> =
            self.in_flight.range(..number.saturating_sub(3)).map(|(number, _)| *number).collect();
        missing.into_iter().for_each(|lost| self.lose(lost));
    }

    /// Packets that were never answered.
    pub(crate) fn expire(&mut self, now: Duration) {
        let patience = (self.trip * 2).max(Duration::from_secs(1));
        let late = |(number, sent): (&u32, &Duration)| (now - *sent > patience).then_some(*number);
        let missing: Vec<u32> = self.in_flight.iter().filter_map(late).collect();
        missing.into_iter().for_each(|lost| self.lose(lost));
    }

    fn lose(&mut self, number: u32) {
        self.in_flight.remove(&number);
        if number >= self.recovers_until {
            self.window = (self.window / 2.0).max(2.0);
            self.threshold = self.window;
            self.recovers_until = self.next;
        }
    }
}
