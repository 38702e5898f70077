//! Measurements of playout.

use std::time::Duration;

/// Measurements of a [`JitterBuffer`](super::JitterBuffer).
///
/// ```
/// use std::time::Duration;
/// use kinepack::Tick;
/// use kinepack_net::{JitterBuffer, PlayoutConfig};
///
/// let mut buffer = JitterBuffer::new(PlayoutConfig::at_hz(50))?;
/// for tick in 0..100 {
///     // Every second state arrives 10 ms late.
///     let arrival = Duration::from_millis(20) * tick + Duration::from_millis(10) * (tick % 2);
///     let _ = buffer.push(arrival, Tick(tick), Tick(0), ());
///     buffer.at(arrival);
/// }
/// let stats = buffer.stats();
/// assert!(stats.jitter > Duration::from_millis(5));
/// assert!(stats.target_delay >= Duration::from_millis(20), "a state's interval at least");
/// assert_eq!(stats.late, 0);
/// # Ok::<(), kinepack_net::PlayoutError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlayoutStats {
    /// How far the clock lags a state that would arrive now with the shortest recent transit time.
    /// The network's own transit time adds to this, but a receiver cannot know it. 0 before the
    /// first state.
    pub delay: Duration,
    /// The delay that the clock aims at.
    pub target_delay: Duration,
    /// The smoothed difference between the transit times of successive states: the interarrival
    /// jitter of RFC 3550.
    pub jitter: Duration,
    /// The number of states that arrived too late to be shown, including copies. If all states are
    /// late, the sender has restarted: call [`reset`](super::JitterBuffer::reset).
    pub late: u64,
    /// The share of time in which the next state was needed but missing. Pauses that a state's
    /// `unchanged_until` explains later do not count.
    pub starved_ratio: f64,
    /// How many times the clock jumped. The clock jumps after gaps longer than any delay, and if a
    /// state's tick and arrival time do not fit the earlier states. It also jumps if states arrive
    /// so much sooner that the clock would lag by more than
    /// [`max_delay`](super::PlayoutConfig::max_delay). Such a jump counts only if it is at least
    /// 0.1 s long.
    pub jumps: u64,
}
