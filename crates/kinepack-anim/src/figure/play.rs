//! The clip that a body plays, and its time at any tick. See `spec/FIGURE.md`, section 6.
//!
//! A play has no clock. It has a tick, the clip's time at this tick, and a speed. The time at any
//! other tick follows in wrapping integers, so nothing drifts, and a clip that plays at constant
//! speed is the same value at every tick.
//!
//! The time at tick 0 would be one number instead of two. It was measured: a change of the speed
//! then moves this number by the whole time since tick 0, and takes 37 bits instead of 23 to 30.

use kinepack::{Between, Tick};

use super::FigureError;

/// The number of steps of a time in a tick, and of a speed in 1.
pub(super) const STEPS: f64 = 1024.0;
/// The largest speed.
pub(super) const MAX_SPEED: f64 = 16.0;
/// The number of steps of the weight.
pub(super) const WEIGHT_STEPS: u8 = u8::MAX;
/// The first time that a signed number of 32 bits cannot hold, in ticks.
const END_TICKS: f64 = (1u64 << 31) as f64 / STEPS;

/// A clip that a body plays: which clip, its time, its speed and its weight.
///
/// Start it, keep it, and give it to each tick's [`FigurePose`](super::FigurePose). While it stays
/// the same, it takes no bits, although its time runs.
///
/// ```
/// use kinepack::Tick;
/// use kinepack_anim::figure::ClipPlay;
///
/// // Clip 2 starts at tick 100. At tick 130 it gets half as fast.
/// let play = ClipPlay::start(2, Tick(100));
/// let play = play.with_speed(Tick(130), 0.5)?;
/// assert_eq!(play.time_ticks(130.0), 30.0);
/// assert_eq!(play.time_ticks(140.25), 35.125);
///
/// // A fade sends other weights, and the time runs on.
/// let play = play.with_weight(0.2)?;
/// assert_eq!(play.time_ticks(150.0), 40.0);
/// # Ok::<(), kinepack_anim::figure::FigureError>(())
/// ```
///
/// Times are ticks: multiply by the seconds of a tick before you sample a clip. Times and speeds
/// have steps of 1/1024, so a speed is off by up to 1/2048. Both sides compute with the rounded
/// speed. Their times are equal however long the clip plays, but after 2048 ticks, they may be a
/// tick away from a clock that the game runs for itself. Ask the play for the time instead.
///
/// A time lies within 2²¹ ticks of 0, which is 9.7 hours at 60 ticks per second, and wraps there. A
/// loop's time grows from round to round, so a game [sets it back](Self::with_time) into the first
/// round now and then, if bodies play a loop for longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClipPlay {
    pub(super) clip: usize,
    /// The tick at which the clip started, or at which its time or speed changed last.
    pub(super) since: u32,
    /// The clip's time at that tick in steps, as the lower 32 bits of a signed number.
    pub(super) time: u32,
    /// The steps that pass per tick.
    pub(super) speed: i32,
    pub(super) weight: u8,
}

impl ClipPlay {
    /// Starts the clip with this index at a tick, from its beginning, with speed and weight 1.
    pub fn start(clip: usize, tick: Tick) -> Self {
        Self { clip, since: tick.0, time: 0, speed: STEPS as i32, weight: WEIGHT_STEPS }
    }

    /// Returns the play with another time at a tick, in ticks from −2²¹ to below 2²¹.
    ///
    /// # Errors
    /// Returns [`FigureError::BadPlay`] if the time is not finite or out of range.
    pub fn with_time(self, tick: Tick, time_ticks: f64) -> Result<Self, FigureError> {
        let time = checked("time", time_ticks, -END_TICKS, END_TICKS - 1.0 / STEPS)?;
        let time = (time * STEPS).round() as i32 as u32;
        Ok(Self { since: tick.0, time, ..self })
    }

    /// Returns the play with another speed, from a tick on, at which the time stays the same. The
    /// speed is from −16 to 16. It is 0 for a paused clip, and negative for one that plays
    /// backwards.
    ///
    /// # Errors
    /// Returns [`FigureError::BadPlay`] if the speed is not finite or out of range.
    pub fn with_speed(self, tick: Tick, speed: f64) -> Result<Self, FigureError> {
        let speed = checked("speed", speed, -MAX_SPEED, MAX_SPEED)?;
        let speed = (speed * STEPS).round() as i32;
        if speed == self.speed {
            return Ok(self);
        }
        Ok(Self { since: tick.0, time: self.steps(tick), speed, ..self })
    }

    /// Returns the play with another weight, from 0 to 1. It is rounded to a multiple of 1/255. The
    /// caller decides what a weight means, for example the share in a
    /// [`blend`](crate::blend).
    ///
    /// # Errors
    /// Returns [`FigureError::BadPlay`] if the weight is not finite or out of range.
    pub fn with_weight(self, weight: f32) -> Result<Self, FigureError> {
        let weight = checked("weight", weight.into(), 0.0, 1.0)?;
        Ok(Self { weight: (weight * f64::from(WEIGHT_STEPS)).round() as u8, ..self })
    }

    /// Returns the index of the clip.
    pub fn clip(&self) -> usize {
        self.clip
    }

    /// Returns the time in ticks, from the beginning of the clip, at a tick with its fraction. It
    /// may be negative or beyond the end of the clip. A tick that is not finite counts as 0.
    pub fn time_ticks(&self, tick: f64) -> f64 {
        let (whole, fraction) = split(tick);
        (f64::from(self.steps(whole) as i32) + f64::from(self.speed) * fraction) / STEPS
    }

    /// Returns the tick at which the clip started, or at which its time or speed changed last.
    pub fn since(&self) -> Tick {
        Tick(self.since)
    }

    /// Returns the speed: the ticks of the clip that pass per tick.
    pub fn speed(&self) -> f64 {
        f64::from(self.speed) / STEPS
    }

    /// Returns the weight, from 0 to 1.
    pub fn weight(&self) -> f32 {
        f32::from(self.weight) / f32::from(WEIGHT_STEPS)
    }

    /// Returns the time at a tick in steps, as the lower 32 bits of a signed number.
    fn steps(&self, tick: Tick) -> u32 {
        let passed = tick.0.wrapping_sub(self.since);
        self.time.wrapping_add((self.speed as u32).wrapping_mul(passed))
    }

    fn shown(&self, tick: f64) -> ShownClip {
        ShownClip {
            clip: self.clip,
            time_ticks: self.time_ticks(tick),
            speed: self.speed(),
            weight: self.weight(),
        }
    }

    /// Returns by how many ticks `to` jumped when it followed this play. `None` if it is another
    /// clip, or jumped by more than a tick.
    fn jump_ticks(&self, to: &Self) -> Option<f64> {
        let jumped = to.time.wrapping_sub(self.steps(Tick(to.since))) as i32;
        let continues = self.clip == to.clip && jumped.unsigned_abs() <= STEPS as u32;
        continues.then(|| f64::from(jumped) / STEPS)
    }
}

/// A clip at a moment of playback.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShownClip {
    /// The index of the clip.
    pub clip: usize,
    /// The time to show, in ticks from the beginning of the clip.
    pub time_ticks: f64,
    /// The ticks of the clip that pass per tick.
    pub speed: f64,
    /// The weight, from 0 to 1.
    pub weight: f32,
}

impl ShownClip {
    /// Returns the clip of a slot between two states, as
    /// [`Figure::interpolate_clip`](super::Figure::interpolate_clip) does. `from` and `to` are what
    /// the states have in the slot, and `tick` is the shown tick with its fraction.
    pub fn between(
        from: Option<ClipPlay>,
        to: Option<ClipPlay>,
        at: Between,
        tick: f64,
    ) -> Option<Self> {
        if at.ratio >= 1.0 {
            return to.map(|play| play.shown(tick));
        }
        let from = from?;
        let mut shown = from.shown(tick);
        let to = to.and_then(|to| Some((to, from.jump_ticks(&to)?)));
        if let Some((to, jump_ticks)) = to.filter(|_| at.ratio > 0.0) {
            // `to` holds from its tick on. Its jump, if any, is spread over the time between.
            let (whole, _) = split(tick);
            let is_later = whole.0.wrapping_sub(to.since) as i32 >= 0;
            let left = if is_later { f64::from(at.ratio) - 1.0 } else { f64::from(at.ratio) };
            if is_later {
                shown = to.shown(tick);
            }
            shown.time_ticks += jump_ticks * left;
            shown.weight = at.linear(from.weight().into(), to.weight().into()) as f32;
        }
        Some(shown)
    }
}

/// Splits a tick into the whole tick before it, which wraps, and the fraction.
fn split(tick: f64) -> (Tick, f64) {
    let tick = if tick.is_finite() { tick } else { 0.0 };
    let whole = tick.floor();
    (Tick(whole.rem_euclid((1u64 << 32) as f64) as u32), tick - whole)
}

/// Returns a number that is within its limits.
fn checked(number: &'static str, value: f64, min: f64, max: f64) -> Result<f64, FigureError> {
    let is_within = value >= min && value <= max;
    is_within.then_some(value).ok_or(FigureError::BadPlay { number, value })
}
