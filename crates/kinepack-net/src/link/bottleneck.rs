//! The slowest hop of the path: a queue with tail drop before a transmitter of constant rate.

use std::time::Duration;

use super::LinkConfig;

const NANOS_PER_S: u128 = 1_000_000_000;

/// Stores only the time until which the transmitter is busy. At a constant rate, this time also
/// determines how many bytes are queued.
#[derive(Clone, Debug, Default)]
pub(super) struct Bottleneck {
    busy_until: Duration,
}

impl Bottleneck {
    /// How long a packet that arrives at `now` waits before it is transmitted.
    pub(super) fn wait(&self, now: Duration) -> Duration {
        self.busy_until.saturating_sub(now)
    }

    /// The time at which the last bit of a packet that arrives at `now` is sent. `None` if the
    /// queue has no room for the packet. An idle transmitter accepts any packet, because it sends
    /// the packet without queueing it.
    pub(super) fn pass(
        &mut self,
        config: &LinkConfig,
        now: Duration,
        packet_bytes: u64,
    ) -> Option<Duration> {
        let Some(bandwidth_bps) = config.bandwidth_bps else { return Some(now) };
        let bandwidth_bps = u128::from(bandwidth_bps);
        let wait = self.busy_until.saturating_sub(now);
        if !wait.is_zero() {
            // Rounded up, so that the queue never exceeds its size.
            let queued_bytes = (wait.as_nanos() * bandwidth_bps).div_ceil(8 * NANOS_PER_S);
            if queued_bytes + u128::from(packet_bytes) > u128::from(config.queue_bytes) {
                return None;
            }
        }
        // The longest transmission is 65,535 bytes at 1 bit/s, which is far below the limit of 64
        // bits.
        let transmission_ns = (u128::from(packet_bytes) * 8 * NANOS_PER_S).div_ceil(bandwidth_bps);
        let departure =
            self.busy_until.max(now).saturating_add(Duration::from_nanos(transmission_ns as u64));
        self.busy_until = departure;
        Some(departure)
    }
}
