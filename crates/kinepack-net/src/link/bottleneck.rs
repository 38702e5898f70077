//! The slowest hop of the path: a queue with tail drop before a transmitter. The transmitter has a
//! constant rate, or sends when a trace has opportunities.

use std::time::Duration;

use super::{LinkConfig, LinkTrace};

const NANOS_PER_S: u128 = 1_000_000_000;

/// Stores no packets: a packet's departure is known when it arrives.
#[derive(Clone, Debug, Default)]
pub(super) struct Bottleneck {
    /// When the last accepted packet has been sent. At a constant rate, this time also determines
    /// how many bytes are queued.
    busy_until: Duration,
    followed: Option<Followed>,
}

/// A trace that decides when bytes are sent, instead of a constant rate.
#[derive(Clone, Debug)]
struct Followed {
    trace: LinkTrace,
    /// The time at which the trace began.
    begin: Duration,
    /// The position in the trace after the last byte of the last accepted packet. All bytes before
    /// it are used or lost.
    taken_bytes: u128,
}

impl Bottleneck {
    /// Replaces what decides when bytes are sent: a trace from `now` on, or the constant rate.
    /// Packets that wait keep their departures, and later packets wait for them.
    pub(super) fn follow(&mut self, now: Duration, trace: Option<LinkTrace>) {
        self.followed = trace.map(|trace| {
            let wait = self.busy_until.saturating_sub(now);
            Followed { taken_bytes: trace.first_byte_after(wait), begin: now, trace }
        });
    }

    /// How long the last byte in the queue waits from `now` on.
    pub(super) fn queueing(&self, now: Duration) -> Duration {
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
        let departure = match (&mut self.followed, config.bandwidth_bps) {
            (Some(followed), _) => followed.pass(config, now, packet_bytes)?,
            (None, None) => return Some(now),
            (None, Some(bandwidth_bps)) => {
                let wait = self.busy_until.saturating_sub(now);
                let transmission = transmission(config, wait, packet_bytes, bandwidth_bps)?;
                self.busy_until.max(now).saturating_add(transmission)
            }
        };
        self.busy_until = departure;
        Some(departure)
    }
}

impl Followed {
    fn pass(&mut self, config: &LinkConfig, now: Duration, packet_bytes: u64) -> Option<Duration> {
        let next = self.trace.first_byte_after(now.saturating_sub(self.begin));
        let queued_bytes = self.taken_bytes.saturating_sub(next);
        if !has_room(config, queued_bytes, packet_bytes) {
            return None;
        }
        self.taken_bytes = self.taken_bytes.max(next) + u128::from(packet_bytes);
        // A packet departs with its last byte. At the end of time, that byte may lie before `now`.
        let departure = self.begin.saturating_add(self.trace.time_of(self.taken_bytes - 1));
        Some(departure.max(now))
    }
}

/// How long a constant rate sends a packet that arrives while the transmitter is busy for `wait`.
fn transmission(
    config: &LinkConfig,
    wait: Duration,
    packet_bytes: u64,
    bandwidth_bps: u32,
) -> Option<Duration> {
    let bandwidth_bps = u128::from(bandwidth_bps);
    // Rounded up, so that the queue never exceeds its size.
    let queued_bytes = (wait.as_nanos() * bandwidth_bps).div_ceil(8 * NANOS_PER_S);
    if !has_room(config, queued_bytes, packet_bytes) {
        return None;
    }
    // The longest transmission is 65,535 bytes at 1 bit/s, which is far below the limit of 64 bits.
    let transmission_ns = (u128::from(packet_bytes) * 8 * NANOS_PER_S).div_ceil(bandwidth_bps);
    Some(Duration::from_nanos(transmission_ns as u64))
}

fn has_room(config: &LinkConfig, queued_bytes: u128, packet_bytes: u64) -> bool {
    queued_bytes == 0 || queued_bytes + u128::from(packet_bytes) <= u128::from(config.queue_bytes)
}
