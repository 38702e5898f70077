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
    /// When the last bit of a packet that arrives now is sent. `None` if the queue has no room for
    /// the packet. If the transmitter is idle, the packet always passes, because it is never
    /// queued.
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
        // At most 65,535 bytes at 1 bit/s: far within 64 bits.
        let transmission_ns = (u128::from(packet_bytes) * 8 * NANOS_PER_S).div_ceil(bandwidth_bps);
        let departure =
            self.busy_until.max(now).saturating_add(Duration::from_nanos(transmission_ns as u64));
        self.busy_until = departure;
        Some(departure)
    }
}
