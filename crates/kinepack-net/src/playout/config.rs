//! What can be chosen about playout.

use core::fmt;
use std::time::Duration;

use kinepack::Tick;

/// How a [`JitterBuffer`](super::JitterBuffer) trades delay for smoothness.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlayoutConfig {
    /// Ticks a second of the sender's simulation, however often it sends.
    pub tick_hz: u32,
    /// The delay is never aimed below this. 0: what the network needs is enough.
    pub min_delay: Duration,
    /// The delay is never aimed above this; the motion stops and goes on where the network would
    /// need more. 500 ms: later than that, others' motion is of little use to a player. Watching a
    /// recording may take seconds.
    pub max_delay: Duration,
    /// Share of the states that are to be there in time. 0.99: what is left are bursts of loss.
    /// They make few states late, but by much, so the share of time without a state can be larger
    /// than that of states, and waiting for the last of them costs more delay than it is worth.
    pub coverage_ratio: f32,
    /// By how much the clock may run fast or slow to reach its target. 0.05: half of what is
    /// noticed in animation.
    pub slew_ratio: f32,
    /// How far the estimates look back. 2 s: at 60 Hz that is enough for a quantile of 0.99 of the
    /// states (longer windows give the same delays and starve as much), at 10 Hz the worst of 20.
    /// What got better is believed after this time, and a drift of the clocks costs 0.2 ms of delay
    /// for each second of it, at 200 ppm.
    pub window: Duration,
    /// States that are stored at most.
    pub max_states: usize,
}

/// The longest delay and window: a minute.
const MAX_SPAN: Duration = Duration::from_secs(60);

impl Default for PlayoutConfig {
    /// For a game at 60 ticks a second, on the open Internet.
    fn default() -> Self {
        Self {
            tick_hz: 60,
            min_delay: Duration::ZERO,
            max_delay: Duration::from_millis(500),
            coverage_ratio: 0.99,
            slew_ratio: 0.05,
            window: Duration::from_secs(2),
            // Twice the longest delay at 128 ticks a second.
            max_states: 128,
        }
    }
}

impl PlayoutConfig {
    /// Checks the ranges.
    ///
    /// # Errors
    /// [`PlayoutError`], the first that is found.
    pub fn validate(&self) -> Result<(), PlayoutError> {
        if self.tick_hz == 0 {
            return Err(PlayoutError::NoTickRate);
        }
        if self.min_delay > self.max_delay || self.max_delay > MAX_SPAN {
            return Err(PlayoutError::BadDelays { min: self.min_delay, max: self.max_delay });
        }
        if !(self.coverage_ratio > 0.0 && self.coverage_ratio <= 1.0) {
            return Err(PlayoutError::BadCoverage { ratio: self.coverage_ratio });
        }
        if !(self.slew_ratio > 0.0 && self.slew_ratio <= 0.5) {
            return Err(PlayoutError::BadSlew { ratio: self.slew_ratio });
        }
        if self.window.is_zero() || self.window > MAX_SPAN {
            return Err(PlayoutError::BadWindow { window: self.window });
        }
        if self.max_states < 2 {
            return Err(PlayoutError::TooFewStates { max_states: self.max_states });
        }
        Ok(())
    }

    /// The sender's time at a tick. At most 2³² seconds, so differences of two fit as well.
    pub(super) fn tick_ns(&self, tick: Tick) -> i64 {
        (u64::from(tick.0) * 1_000_000_000 / u64::from(self.tick_hz)) as i64
    }

    /// The tick, with its fraction, at a time of the sender.
    pub(super) fn ticks(&self, tick_ns: i64) -> f64 {
        tick_ns as f64 * f64::from(self.tick_hz) / 1e9
    }
}

/// Why a [`PlayoutConfig`] was refused.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum PlayoutError {
    /// 0 ticks a second.
    NoTickRate,
    /// The longest delay is below the shortest, or above a minute.
    BadDelays {
        /// The shortest.
        min: Duration,
        /// The longest.
        max: Duration,
    },
    /// A coverage that is not above 0 and at most 1.
    BadCoverage {
        /// What was given.
        ratio: f32,
    },
    /// A slew that is not above 0 and at most 0.5.
    BadSlew {
        /// What was given.
        ratio: f32,
    },
    /// A window of no time, or above a minute.
    BadWindow {
        /// What was given.
        window: Duration,
    },
    /// Fewer than the two states that it takes to show what is between them.
    TooFewStates {
        /// What was given.
        max_states: usize,
    },
}

impl fmt::Display for PlayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTickRate => write!(f, "0 ticks a second"),
            Self::BadDelays { min, max } => {
                write!(f, "delays from {min:?} to {max:?} (at most {MAX_SPAN:?})")
            }
            Self::BadCoverage { ratio } => {
                write!(f, "a coverage of {ratio} is not above 0 and at most 1")
            }
            Self::BadSlew { ratio } => {
                write!(f, "a slew of {ratio} is not above 0 and at most 0.5")
            }
            Self::BadWindow { window } => {
                write!(f, "a window of {window:?} is not above 0 and at most {MAX_SPAN:?}")
            }
            Self::TooFewStates { max_states } => {
                write!(f, "{max_states} states stored, at least 2 are needed")
            }
        }
    }
}

impl core::error::Error for PlayoutError {}
