//! Describes in words how often a stream has frames.

use std::fmt;

use kinepack_capture::analysis::shown_rate;

/// The ticks per second and frames per second of a stream. There are fewer frames than ticks if
/// some ticks have no frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    pub(crate) rate_hz: f64,
    pub(crate) frames_per_s: f64,
}

impl Pace {
    /// Describes the baseline of each frame, for a lag in ticks.
    pub(crate) fn against(&self, lag: u32) -> String {
        if self.is_even() {
            format!("each against the one {lag} before")
        } else {
            format!("each against the newest one that is {lag} ticks older or more")
        }
    }

    /// Returns whether all ticks have frames.
    pub(crate) fn is_even(&self) -> bool {
        self.frames_per_s > 0.999 * self.rate_hz
    }
}

impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rate_hz, frames_per_s } = self;
        if self.is_even() {
            return write!(f, "{} Hz", shown_rate(*rate_hz));
        }
        write!(f, "{frames_per_s:.1} a second (ticks at {} Hz)", shown_rate(*rate_hz))
    }
}
