//! Playback: the arithmetic of a state between two states.
//!
//! A receiver shows the world some milliseconds ago, between two snapshots that it has. What
//! "between" means is the schema's to say, and [`Pack::interpolate`](crate::Pack::interpolate) goes
//! through the fields; here is what it does with their numbers: a line, the short way round, a
//! cubic through both ends with both velocities (Hermite), and a turn of constant speed (slerp;
//! Shoemake, "Animating Rotation with Quaternion Curves", 1985).
//!
//! It starts from reconstructed values and its results are for eyes: nothing of it is sent, so
//! `spec/CODEC.md` says nothing of it. `f64` and `libm` throughout, the same on every platform.
//! Cost: some ten operations a number; `atan2` and three `sin` a rotation that turns.

use crate::quantize::FloatLimits;
use crate::schema::{Lane, LaneArithmetic};

/// A place between two states.
///
/// ```
/// use kinepack::{Between, Pack};
///
/// #[derive(Pack)]
/// struct Ball {
///     #[pack(range = -64.0..64.0, precision = 0.125)]
///     height: f32,
///     #[pack(velocity, range = -32.0..32.0, precision = 0.125)]
///     climb: f32,
///     bounces: u8,
/// }
///
/// // Thrown up at 16 m/s under 16 m/s² of gravity: half a second later it is 6 m high.
/// let mut lanes = [[0; Ball::LANES]; 2];
/// Ball { height: 0.0, climb: 16.0, bounces: 0 }.quantize(&mut lanes[0])?;
/// Ball { height: 0.0, climb: -16.0, bounces: 1 }.quantize(&mut lanes[1])?;
/// let at = Between { ratio: 0.25, seconds: 2.0 };
/// let ball = Ball::interpolate(&lanes[0], &lanes[1], at);
/// assert_eq!((ball.height, ball.climb, ball.bounces), (6.0, 8.0, 0));
///
/// // Without the time there is no path, but a line.
/// let ball = Ball::interpolate(&lanes[0], &lanes[1], Between { seconds: 0.0, ..at });
/// assert_eq!((ball.height, ball.climb), (0.0, 8.0));
/// # Ok::<(), kinepack::EncodeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Between {
    /// From the first state, 0, to the second, 1. What lies outside counts as the nearer end, NaN
    /// as 0.
    pub ratio: f32,
    /// Time from the first state to the second in seconds; negative where the second is the earlier
    /// one. Only fields with a velocity look at it: where it is 0 or not finite, they go along a
    /// line.
    pub seconds: f32,
}

impl Between {
    /// `from`, and `to` from ratio 1 on: what flags do.
    #[inline]
    pub fn step<T>(self, from: T, to: T) -> T {
        if self.ratio >= 1.0 { to } else { from }
    }

    /// On the line from `from` to `to`: never outside of the two, and both ends exact. Steps where
    /// one is not finite.
    #[inline]
    pub fn linear(self, from: f64, to: f64) -> f64 {
        if let Some(end) = self.end(from, to) {
            return end;
        }
        if !(from.is_finite() && to.is_finite()) {
            return from;
        }
        let ratio = f64::from(self.ratio);
        // Two products, since a difference could overflow; the clamp takes what their rounding
        // adds, so that what does not move stays.
        (from * (1.0 - ratio) + to * ratio).clamp(from.min(to), from.max(to))
    }

    /// What is there at ratio 0 and below or 1 and above; `None` between them.
    #[inline]
    pub(crate) fn end<T>(self, from: T, to: T) -> Option<T> {
        if self.ratio >= 1.0 {
            Some(to)
        } else if self.ratio > 0.0 {
            None
        } else {
            Some(from)
        }
    }

    /// The short way round from one code of limits that wrap to another, upwards where both ways
    /// are alike: from the minimum up to, not including, a period above it. `single` where the
    /// result becomes an `f32`.
    #[inline]
    pub(crate) fn around(self, limits: &FloatLimits, from: u32, to: u32, single: bool) -> f64 {
        if let Some(end) = self.end(from, to) {
            return limits.reconstruct(end);
        }
        let max_code = limits.max_code();
        let (from, to) = (from.min(max_code), to.min(max_code));
        let steps = Lane { max: max_code, arithmetic: LaneArithmetic::Cyclic }.difference(from, to);
        let codes = f64::from(max_code) + 1.0;
        let mut code = f64::from(from) + steps as f64 * f64::from(self.ratio);
        if code < 0.0 {
            code += codes;
        }
        if code >= codes {
            code -= codes;
        }
        let (value, end) =
            (limits.min() + code * limits.step(), limits.min() + codes * limits.step());
        // The last part of the last step may round to the end, which is the beginning.
        let at_end = if single { value as f32 >= end as f32 } else { value >= end };
        if at_end { limits.min() } else { value }
    }

    /// On the cubic that leaves `from` and reaches `to` with these velocities, units a second; on
    /// the line without a time or where the cubic is beyond all numbers.
    #[inline]
    pub(crate) fn hermite(self, from: f64, to: f64, velocities: [f64; 2]) -> f64 {
        if self.ratio > 0.0 && self.ratio < 1.0 && self.seconds != 0.0 {
            let (ratio, seconds) = (f64::from(self.ratio), f64::from(self.seconds));
            let rest = 1.0 - ratio;
            let line = (to - from) * (ratio * ratio * (3.0 - 2.0 * ratio));
            let bend =
                ratio * rest * (velocities[0] * seconds * rest - velocities[1] * seconds * ratio);
            let value = from + line + bend;
            if value.is_finite() {
                return value;
            }
        }
        self.linear(from, to)
    }

    /// The rotation on the shorter way from one to the other at constant angular speed, of length
    /// 1; `None` where one has no direction. At the ends it is the rotation, not its sign, that is
    /// met.
    #[inline]
    pub(crate) fn slerp(self, from: [f64; 4], to: [f64; 4]) -> Option<[f64; 4]> {
        let (from, mut to) = (unit(from)?, unit(to)?);
        let dot: f64 = from.iter().zip(to).map(|(from, to)| from * to).sum();
        if dot < 0.0 {
            to = to.map(|component| -component);
        }
        // From the chord: `acos` of the dot product loses everything for small angles. At most a
        // right angle, so that the sum below is never zero.
        let chord = length(core::array::from_fn(|index| to[index] - from[index]));
        let sum = length(core::array::from_fn(|index| to[index] + from[index]));
        let angle_rad = 2.0 * libm::atan2(chord, sum);
        let ratio = f64::from(self.ratio).clamp(0.0, 1.0);
        let weights = if angle_rad < ALMOST_EQUAL_RAD {
            [1.0 - ratio, ratio]
        } else {
            let sine = libm::sin(angle_rad);
            [libm::sin((1.0 - ratio) * angle_rad) / sine, libm::sin(ratio * angle_rad) / sine]
        };
        unit(core::array::from_fn(|index| from[index] * weights[0] + to[index] * weights[1]))
    }
}

/// Below this angle the chord is the arc: they differ by its cube, less than `f64` can tell.
const ALMOST_EQUAL_RAD: f64 = 1e-6;

fn length(xyzw: [f64; 4]) -> f64 {
    libm::sqrt(xyzw.iter().map(|component| component * component).sum())
}

fn unit(xyzw: [f64; 4]) -> Option<[f64; 4]> {
    let length = length(xyzw);
    (length > 0.0 && length.is_finite()).then(|| xyzw.map(|component| component / length))
}
