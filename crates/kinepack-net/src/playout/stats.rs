//! How playout does.

use std::time::Duration;

/// Measurements of a [`JitterBuffer`](super::JitterBuffer).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlayoutStats {
    /// By how much the clock is behind what the fastest states of late would show on their arrival.
    /// The time that the network takes comes on top; a receiver cannot know it. 0 before the first
    /// state.
    pub delay: Duration,
    /// The delay that the clock is steered to.
    pub target_delay: Duration,
    /// Smoothed difference of the transit times of successive states: the interarrival jitter of
    /// RFC 3550.
    pub jitter: Duration,
    /// Number of states that came too late to be shown, copies included. Where all are, the sender
    /// has restarted: [`reset`](super::JitterBuffer::reset).
    pub late: u64,
    /// Share of the time in which the next state was needed and not there. Pauses that a state's
    /// `unchanged_until` explains afterwards do not count.
    pub starved_ratio: f64,
    /// How often the clock jumped: after gaps longer than any delay, and where ticks and arrivals
    /// do not fit those before.
    pub jumps: u64,
}
