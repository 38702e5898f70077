//! How long a datagram takes: latency, jitter that keeps the order, and single datagrams that fall
//! behind.
//!
//! Independent delays reorder by themselves: at 60 Hz, 20 ms of jitter would turn around every
//! third pair, which real paths do not do, since what delays a packet is mostly a queue, and a
//! queue keeps the order. So jitter goes through one, and what is behind a late datagram waits for
//! it. Reordering is a decision of its own.

use std::time::Duration;

use super::LinkConfig;
use super::random::Random;

/// The time of flight of one datagram after the other.
#[derive(Clone, Debug)]
pub(super) struct DelayLine {
    jitter: Random,
    reordering: Random,
    /// When the last datagram was due by latency and jitter. Those sent after it are due no
    /// earlier.
    in_order_due: Duration,
}

impl DelayLine {
    pub(super) fn new(jitter: Random, reordering: Random) -> Self {
        Self { jitter, reordering, in_order_due: Duration::ZERO }
    }

    /// When a datagram that departs at `departure` is due.
    pub(super) fn due(&mut self, config: &LinkConfig, departure: Duration) -> Duration {
        // The smaller of two uniform numbers: most are near 0 and few near the end, as the wait in
        // a queue is.
        let jitter = self.jitter.up_to(config.jitter).min(self.jitter.up_to(config.jitter));
        let due = departure.saturating_add(config.latency).saturating_add(jitter);
        self.in_order_due = self.in_order_due.max(due);
        // Whoever is sent later is due at `in_order_due` or after, so none is overtaken by more
        // than `reorder_delay`.
        if self.reordering.chance(config.reorder_ratio) {
            self.in_order_due.saturating_add(self.reordering.up_to(config.reorder_delay))
        } else {
            self.in_order_due
        }
    }
}
