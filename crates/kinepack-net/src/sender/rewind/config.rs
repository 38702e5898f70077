//! The settings of rewinding.

use std::time::Duration;

use crate::{NetError, ReceiverConfig};

/// How receivers show the world, and how far back players may reach: see
/// [`Hub::set_rewind`](crate::Hub::set_rewind).
///
/// ```
/// use std::time::Duration;
/// use kinepack_net::RewindConfig;
///
/// let config = RewindConfig { longest: Duration::from_millis(300), ..RewindConfig::at_hz(60) };
/// assert_eq!(config.validate(), Ok(()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RewindConfig {
    /// Ticks per second, as in the receivers'
    /// [`PlayoutConfig::tick_hz`](crate::PlayoutConfig::tick_hz).
    pub tick_hz: u32,
    /// The same as the receivers' [`ReceiverConfig::longest_blend`].
    pub longest_blend: Duration,
    /// How long ago a player may have seen what he acts on: at most 250 ticks. What he saw is as old
    /// as the round trip, his playout delay and the time that his input waits on both sides
    /// together. The longer this is, the longer a player may be hit by one with a bad connection
    /// after he has taken cover.
    pub longest: Duration,
}

/// A stamp has the moment modulo 256 ticks.
const MOST_TICKS: f64 = 250.0;

impl RewindConfig {
    /// Settings for a world of `tick_hz` ticks per second: up to half a second back, and the
    /// receivers' default blend.
    pub fn at_hz(tick_hz: u32) -> Self {
        let longest_blend = ReceiverConfig::at_hz(tick_hz).longest_blend;
        Self { tick_hz, longest_blend, longest: Duration::from_millis(500) }
    }

    /// Checks that each setting is in its range.
    ///
    /// # Errors
    /// Returns [`NetError::NoTime`] if a setting is 0, and [`NetError::RewindTooLong`].
    pub fn validate(&self) -> Result<(), NetError> {
        if self.tick_hz == 0 || self.longest_blend.is_zero() || self.longest.is_zero() {
            return Err(NetError::NoTime);
        }
        let ticks = self.longest_ticks();
        if ticks > MOST_TICKS {
            Err(NetError::RewindTooLong { ticks: ticks as u64 })
        } else {
            Ok(())
        }
    }

    pub(in crate::sender) fn longest_ticks(&self) -> f64 {
        self.longest.as_secs_f64() * f64::from(self.tick_hz)
    }
}
