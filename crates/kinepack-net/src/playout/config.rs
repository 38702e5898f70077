//! The settings of playout.

use core::fmt;
use std::time::Duration;

use kinepack::Tick;

/// How a [`JitterBuffer`](super::JitterBuffer) trades delay for smoothness.
///
/// ```
/// use std::time::Duration;
/// use kinepack_net::PlayoutConfig;
///
/// // A fixed delay of 100 ms for a simulation of 30 ticks per second.
/// let delay = Duration::from_millis(100);
/// let config =
///     PlayoutConfig { min_delay: delay, max_delay: delay, ..PlayoutConfig::at_hz(30) };
/// assert_eq!(config.validate(), Ok(()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlayoutConfig {
    /// The number of ticks per second of the sender's simulation, however often it sends snapshots.
    /// If this is wrong, playback starves or lags.
    pub tick_hz: u32,
    /// The shortest target delay. With 0, the target depends on the network alone.
    pub min_delay: Duration,
    /// The longest target delay. If the network needs a longer delay, the motion stops and resumes.
    /// After a stop that is longer than `max_delay` by more than half a second, playback skips the
    /// missed part and continues at its target. The default of 500 ms suits games, because other
    /// players' motion is of little use later than that. A viewer of a recording may wait for
    /// seconds.
    ///
    /// Playback never lags by more than `max_delay`, except for a moment after
    /// [`set_delays`](super::JitterBuffer::set_delays) has lowered it.
    pub max_delay: Duration,
    /// The share of states that should arrive in time. With 0.99, the late 1 % are the states of
    /// loss bursts. A burst delays few states, but delays them for long, so the share of time
    /// without a state can be larger. Waiting for the last of these states would cost more delay
    /// than it is worth.
    pub coverage_ratio: f32,
    /// How much faster or slower the clock may run to reach its target. 0.05 is half of what
    /// viewers notice in animation. Once playback lags its target by more than 0.25 s, the clock
    /// runs faster than this until the lag is below 0.1 s. The extra speed is two thirds of the lag
    /// in seconds. So the clock makes up a lag of half a second in at most 2.4 seconds.
    pub slew_ratio: f32,
    /// The age of the oldest arrivals that the estimates use. At 60 Hz, 2 s are enough for a
    /// quantile of 0.99 of the states: longer windows give the same delays and starve as often. At
    /// 10 Hz, 2 s contain 20 states, and the quantile is the worst of these. If the network
    /// improves, the delay falls only after this time. Clocks that drift by 200 ppm cost 0.2 ms of
    /// delay for each second of the window.
    pub window: Duration,
    /// The maximum number of states stored.
    pub max_states: usize,
}

/// The maximum for a delay and for the window: a minute.
const MAX_SPAN: Duration = Duration::from_secs(60);

impl PlayoutConfig {
    /// Settings for a game at `tick_hz` ticks per second, on the open Internet.
    pub fn at_hz(tick_hz: u32) -> Self {
        Self {
            tick_hz,
            min_delay: Duration::ZERO,
            max_delay: Duration::from_millis(500),
            coverage_ratio: 0.99,
            slew_ratio: 0.05,
            window: Duration::from_secs(2),
            // Enough for twice the longest delay at 128 ticks per second.
            max_states: 128,
        }
    }

    /// Checks that each setting is in its range.
    ///
    /// # Errors
    /// Returns [`PlayoutError`] for the first setting that is out of range.
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

    /// The sender's time at a tick. It is at most 2³² seconds, so the difference of two times also
    /// fits into an `i64`.
    pub(super) fn tick_ns(&self, tick: Tick) -> i64 {
        (u64::from(tick.0) * 1_000_000_000 / u64::from(self.tick_hz)) as i64
    }

    /// The fractional tick at a time on the sender's clock.
    pub(super) fn ticks(&self, tick_ns: i64) -> f64 {
        tick_ns as f64 * f64::from(self.tick_hz) / 1e9
    }
}

/// Why a [`PlayoutConfig`] was refused.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum PlayoutError {
    /// The number of ticks per second is 0.
    NoTickRate,
    /// The longest delay is below the shortest one, or above a minute.
    BadDelays {
        /// The shortest delay.
        min: Duration,
        /// The longest delay.
        max: Duration,
    },
    /// The coverage ratio is not above 0 and at most 1.
    BadCoverage {
        /// The given ratio.
        ratio: f32,
    },
    /// The slew ratio is not above 0 and at most 0.5.
    BadSlew {
        /// The given ratio.
        ratio: f32,
    },
    /// The window is zero, or longer than a minute.
    BadWindow {
        /// The given window.
        window: Duration,
    },
    /// The buffer has room for fewer than the two states that interpolation needs.
    TooFewStates {
        /// The given number of states.
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
