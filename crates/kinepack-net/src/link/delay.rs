//! Computes how long a datagram takes: latency, jitter that keeps the order, and single reordered
//! datagrams.
//!
//! Independent delays would reorder datagrams: at 60 Hz, 20 ms of jitter would swap every third
//! pair. Real paths do not do that, because queues cause most of the delay, and a queue keeps the
//! order. So jitter works like a queue here: datagrams after a late one wait for it. Reordering is
//! a separate decision.

use std::time::Duration;

use super::LinkConfig;
use super::random::Random;

/// Decides when each datagram arrives.
#[derive(Clone, Debug)]
pub(super) struct DelayLine {
    jitter: Random,
    reordering: Random,
    /// The due time of the last datagram, by latency and jitter. Later datagrams are due no
    /// earlier.
    in_order_due: Duration,
}

impl DelayLine {
    pub(super) fn new(jitter: Random, reordering: Random) -> Self {
        Self { jitter, reordering, in_order_due: Duration::ZERO }
    }

    /// The due time of a datagram that departs at `departure`.
    pub(super) fn due(&mut self, config: &LinkConfig, departure: Duration) -> Duration {
        // The smaller of two uniform numbers resembles the wait in a queue: it is mostly near 0 and
        // rarely near the maximum.
        let jitter = self.jitter.up_to(config.jitter).min(self.jitter.up_to(config.jitter));
        let due = departure.saturating_add(config.latency).saturating_add(jitter);
        self.in_order_due = self.in_order_due.max(due);
        // Later datagrams are due at `in_order_due` or after, so a datagram is overtaken by at most
        // `reorder_delay`.
        if self.reordering.chance(config.reorder_ratio) {
            self.in_order_due.saturating_add(self.reordering.up_to(config.reorder_delay))
        } else {
            self.in_order_due
        }
    }
}
