//! The settings of an input clock.

use core::fmt;
use std::time::Duration;

/// How an [`InputClock`](super::InputClock) trades delay for inputs that arrive in time.
///
/// ```
/// use kinepack_net::InputClockConfig;
///
/// // A game in which a missed input is worse than a longer delay.
/// let config = InputClockConfig { in_time_ratio: 0.9999, ..InputClockConfig::at_hz(60) };
/// assert_eq!(config.validate(), Ok(()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InputClockConfig {
    /// The number of ticks per second of the server's simulation. There is one input for each tick.
    pub tick_hz: u32,
    /// The share of inputs that should arrive in time. A late input costs a wrong prediction; a
    /// longer lead costs delay in each input's effect.
    pub in_time_ratio: f32,
    /// How early the latest of these inputs should arrive. It is for the server's own delays: a
    /// server that reads its socket only once in each tick, or whose ticks are not on time.
    pub margin: Duration,
    /// How much faster or slower the clock may run.
    pub slew_ratio: f32,
    /// If inputs are later than they should be by more than this, the clock jumps forward, and the
    /// client simulates several ticks at once. Until then, the clock only runs faster.
    pub jump_forward: Duration,
    /// If inputs are earlier than they should be by more than this, the clock jumps back, and the
    /// client simulates nothing until the time of its last tick has come again. Until then, the
    /// clock only runs slower. Early inputs harm less than late ones, and players notice the pause,
    /// so this is longer than [`jump_forward`](Self::jump_forward).
    pub jump_back: Duration,
    /// How long a late input is remembered. With a longer time, inputs are in time more often on a
    /// network that stalls now and then. The lead falls only after this time if the network
    /// improves.
    pub window: Duration,
    /// The longest time between two calls of [`ticks`](super::InputClock::ticks) that counts as
    /// usual. Inputs after a longer pause are late because the client stopped, so the clock does
    /// not learn from them.
    pub longest_frame: Duration,
}

/// The maximum for each time: a minute.
const MAX_SPAN: Duration = Duration::from_secs(60);

impl InputClockConfig {
    /// Settings for a game at `tick_hz` ticks per second, on the open Internet.
    pub fn at_hz(tick_hz: u32) -> Self {
        Self {
            tick_hz,
            in_time_ratio: 0.998,
            margin: Duration::from_millis(2),
            slew_ratio: 0.05,
            jump_forward: Duration::from_millis(70),
            jump_back: Duration::from_millis(500),
            window: Duration::from_secs(10),
            longest_frame: Duration::from_millis(100),
        }
    }

    /// Checks that each setting is in its range.
    ///
    /// # Errors
    /// Returns [`InputClockError`] for the first setting that is out of range.
    pub fn validate(&self) -> Result<(), InputClockError> {
        if self.tick_hz == 0 || self.tick_hz > 10_000 {
            return Err(InputClockError::BadTickRate { tick_hz: self.tick_hz });
        }
        if !(self.in_time_ratio > 0.0 && self.in_time_ratio <= 1.0) {
            return Err(InputClockError::BadInTime { ratio: self.in_time_ratio });
        }
        if !(self.slew_ratio > 0.0 && self.slew_ratio <= 0.5) {
            return Err(InputClockError::BadSlew { ratio: self.slew_ratio });
        }
        if self.margin > MAX_SPAN {
            return Err(InputClockError::BadTime { time: self.margin });
        }
        for time in [self.jump_forward, self.jump_back, self.window, self.longest_frame] {
            if time.is_zero() || time > MAX_SPAN {
                return Err(InputClockError::BadTime { time });
            }
        }
        Ok(())
    }
}

/// Why an [`InputClockConfig`] was refused.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum InputClockError {
    /// The tick rate is 0, or above 10,000 ticks per second.
    BadTickRate {
        /// The given rate.
        tick_hz: u32,
    },
    /// The share of inputs in time is not above 0 and at most 1.
    BadInTime {
        /// The given share.
        ratio: f32,
    },
    /// The slew ratio is not above 0 and at most 0.5.
    BadSlew {
        /// The given ratio.
        ratio: f32,
    },
    /// A time is zero, or longer than a minute. Only the margin may be zero.
    BadTime {
        /// The given time.
        time: Duration,
    },
}

impl fmt::Display for InputClockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadTickRate { tick_hz } => {
                write!(f, "{tick_hz} ticks a second; 1 to 10000 are possible")
            }
            Self::BadInTime { ratio } => {
                write!(f, "a share of {ratio} of the inputs in time is not above 0 and at most 1")
            }
            Self::BadSlew { ratio } => {
                write!(f, "a slew ratio of {ratio} is not above 0 and at most 0.5")
            }
            Self::BadTime { time } => {
                write!(f, "a time of {time:?} is not above 0 and at most {MAX_SPAN:?}")
            }
        }
    }
}

impl core::error::Error for InputClockError {}
