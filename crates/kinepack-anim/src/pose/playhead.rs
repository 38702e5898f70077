//! The playback time of a clip: rates, loops, and the interval between two frames.

/// The time of a playing clip. A playhead is a plain value, and an engine stores one for each
/// playback.
///
/// ```
/// use kinepack_anim::pose::Playhead;
///
/// // A clip of two seconds, at half its speed.
/// let mut playhead = Playhead::looped(2.0).at_rate(0.5);
/// let passed = playhead.advance(3.0);
/// assert_eq!((playhead.time_s(), passed.wraps), (1.5, 0));
///
/// // It restarts at its end, so the interval that passed has two pieces.
/// let passed = playhead.advance(2.0);
/// assert_eq!((playhead.time_s(), passed.wraps), (0.5, 1));
/// let pieces: Vec<_> = passed.pieces().map(|piece| (piece.from_s, piece.to_s)).collect();
/// assert_eq!(pieces, [(1.5, 2.0), (0.0, 0.5)]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Playhead {
    duration_s: f64,
    /// The current time, from 0 to the duration. In a loop it is below the duration, because the
    /// end of the clip is its beginning.
    time_s: f64,
    /// The speed: 1 is the clip's own speed, and negative numbers play backwards.
    pub rate: f32,
    /// Whether the clip restarts at its end. Otherwise time stops there.
    pub looping: bool,
}

impl Playhead {
    /// Returns a playhead at the beginning of a clip of `duration_s` seconds that does not loop. A
    /// duration that is not positive and finite counts as 0, so that time stays at 0.
    pub fn new(duration_s: f32) -> Self {
        Self { duration_s: duration(duration_s), time_s: 0.0, rate: 1.0, looping: false }
    }

    /// Returns a playhead at the beginning of a clip of `duration_s` seconds that loops.
    pub fn looped(duration_s: f32) -> Self {
        Self { looping: true, ..Self::new(duration_s) }
    }

    /// Returns the same playhead at another rate.
    #[must_use]
    pub fn at_rate(self, rate: f32) -> Self {
        Self { rate, ..self }
    }

    /// Returns the time to sample, in seconds from the first sample of the clip.
    pub fn time_s(&self) -> f32 {
        self.time_s as f32
    }

    /// Seconds from the first sample to the last.
    pub fn duration_s(&self) -> f32 {
        self.duration_s as f32
    }

    /// Returns whether time has stopped, because the clip does not loop and the rate points past
    /// its end.
    pub fn is_at_end(&self) -> bool {
        let end = if self.rate < 0.0 { 0.0 } else { self.duration_s };
        !self.looping && self.time_s == end
    }

    /// Jumps to a time. The time is wrapped or clamped as in [`advance`](Self::advance), but a jump
    /// counts as no passed time. NaN and infinite times leave the playhead where it is.
    pub fn seek(&mut self, time_s: f32) {
        if time_s.is_finite() {
            self.time_s = self.within(f64::from(time_s)).0;
        }
    }

    /// Advances by `dt_s` seconds times the rate. In a loop, time wraps at the ends of the clip.
    /// Otherwise it stops there. If the product is not finite, no time passes.
    pub fn advance(&mut self, dt_s: f32) -> Passed {
        let step = f64::from(dt_s) * f64::from(self.rate);
        let step = if step.is_finite() { step } else { 0.0 };
        let from_s = self.time_s;
        let (to_s, wraps) = self.within(from_s + step);
        self.time_s = to_s;
        let duration_s = self.duration_s();
        Passed { from_s: from_s as f32, to_s: to_s as f32, wraps, duration_s }
    }

    /// Wraps or clamps a time into the clip, and returns it with the number of wraps.
    fn within(&self, time_s: f64) -> (f64, i64) {
        if self.looping {
            wrapped(time_s, self.duration_s)
        } else {
            (time_s.clamp(0.0, self.duration_s), 0)
        }
    }
}

/// The interval of a clip between two frames. [`Playhead::advance`] returns it. Code without a
/// playhead can construct it with [`new`](Self::new) for a clip that does not loop, or with
/// [`looped`](Self::looped) for a clip that does.
///
/// ```
/// use kinepack_anim::pose::Passed;
///
/// // From 0.5 s before the beginning of a clip of 2 s to 0.5 s after its end, without a loop.
/// let passed = Passed::new(2.0, -0.5, 2.5);
/// assert_eq!((passed.from_s, passed.to_s, passed.wraps), (0.0, 2.0, 0));
///
/// // From 0.5 s before the first beginning of a clip of 2 s to 0.5 s after the second.
/// let passed = Passed::looped(2.0, -0.5, 2.5);
/// assert_eq!((passed.from_s, passed.to_s, passed.wraps), (1.5, 0.5, 2));
/// assert_eq!(passed.pieces().count(), 3);
/// assert_eq!(Passed::looped(2.0, 2.5, -0.5).wraps, -2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Passed {
    /// The clip's time at the start, in seconds.
    pub from_s: f32,
    /// The clip's time at the end, in seconds.
    pub to_s: f32,
    /// The number of times that the clip restarted. It is negative for a clip that plays backwards.
    pub wraps: i64,
    /// Seconds from the first sample of the clip to the last.
    pub duration_s: f32,
}

impl Passed {
    /// Returns the interval between two times of a clip that does not loop. Times outside the clip
    /// are clamped to its ends, and NaN counts as 0.
    pub fn new(duration_s: f32, from_s: f64, to_s: f64) -> Self {
        let length = duration(duration_s);
        let within = |time_s: f64| time_s.max(0.0).min(length) as f32;
        let (from_s, to_s) = (within(from_s), within(to_s));
        Self { from_s, to_s, wraps: 0, duration_s: length as f32 }
    }

    /// Returns the interval between two times of a loop. The times continue to grow from round to
    /// round. They are `f64`, because a game may run for days.
    pub fn looped(duration_s: f32, from_s: f64, to_s: f64) -> Self {
        let length = duration(duration_s);
        let (from_s, before) = wrapped(from_s, length);
        let (to_s, after) = wrapped(to_s, length);
        let wraps = after.saturating_sub(before);
        Self { from_s: from_s as f32, to_s: to_s as f32, wraps, duration_s: length as f32 }
    }

    /// Returns whether time ran backwards.
    pub fn is_backwards(&self) -> bool {
        self.wraps < 0 || (self.wraps == 0 && self.to_s < self.from_s)
    }

    /// Returns the pieces of the interval between the wraps, in the order in which they passed. In
    /// backward playback, a piece leads from its later time to its earlier one. Pieces of no length
    /// are omitted. There may be a piece for each wrap, so a long time in a short loop has many
    /// pieces.
    ///
    /// To find each marker of a loop once, take the markers from the earlier time of a piece,
    /// inclusive, to the later time, exclusive.
    pub fn pieces(&self) -> impl Iterator<Item = Piece> + use<> {
        let Self { from_s, to_s, wraps, duration_s } = *self;
        let (start, end) = if wraps < 0 { (duration_s, 0.0) } else { (0.0, duration_s) };
        let whole = Piece { from_s: start, to_s: end };
        let first = Piece { from_s, to_s: if wraps == 0 { to_s } else { end } };
        let last = (wraps != 0).then_some(Piece { from_s: start, to_s });
        let between = wraps.unsigned_abs().saturating_sub(1);
        let pieces = std::iter::once(first).chain((0..between).map(move |_| whole)).chain(last);
        pieces.filter(|piece| piece.from_s != piece.to_s)
    }
}

/// An interval of a clip without a wrap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// The start of the interval, in seconds.
    pub from_s: f32,
    /// The end of the interval, in seconds. It is earlier than the start if time ran backwards.
    pub to_s: f32,
}

/// Returns 0 for a duration that is not positive and finite.
fn duration(duration_s: f32) -> f64 {
    if duration_s > 0.0 && duration_s.is_finite() { f64::from(duration_s) } else { 0.0 }
}

/// Wraps a time into a loop, so that it is at least 0 and below `duration_s`. Also returns the
/// number of wraps.
fn wrapped(time_s: f64, duration_s: f64) -> (f64, i64) {
    if duration_s == 0.0 || !time_s.is_finite() {
        return (0.0, 0);
    }
    let within = time_s.rem_euclid(duration_s);
    // A tiny negative time rounds to the duration, which is the beginning of the next loop.
    let within = if within < duration_s { within } else { 0.0 };
    (within, ((time_s - within) / duration_s).round() as i64)
}
