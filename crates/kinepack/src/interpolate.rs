//! Playback: the arithmetic that finds a state between two states.
//!
//! A receiver shows the world as it was some milliseconds ago, between two snapshots that it has.
//! The schema defines what "between" means, and [`Pack::interpolate`](crate::Pack::interpolate)
//! applies that to each field. This module has the arithmetic for four ways to interpolate: a line,
//! the short way round, a cubic (Hermite), and rotation at constant angular speed. The cubic passes
//! through both ends with their velocities. Rotation at constant angular speed is slerp (Shoemake,
//! "Animating Rotation with Quaternion Curves", 1985). If the next state is late, a ratio above 1
//! continues straight beyond the second state, with the same arithmetic.
//!
//! The functions take reconstructed values, and their results are only shown, never sent. No packet
//! depends on these results, so `spec/CODEC.md` does not cover interpolation. The arithmetic is
//! `f64` and `libm` throughout, and gives the same results on every platform. A number costs about
//! ten operations. A rotation that turns costs one `atan2` and three `sin`.

use crate::quantize::FloatLimits;
use crate::schema::{Lane, LaneArithmetic};
use crate::sqrt::sqrt;

/// A point in time between two states.
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
/// // The ball is thrown up at 16 m/s under 16 m/s² of gravity. After half a second it is at 6 m.
/// let mut lanes = [[0; Ball::LANES]; 2];
/// Ball { height: 0.0, climb: 16.0, bounces: 0 }.quantize(&mut lanes[0])?;
/// Ball { height: 0.0, climb: -16.0, bounces: 1 }.quantize(&mut lanes[1])?;
/// let at = Between { ratio: 0.25, seconds: 2.0 };
/// let ball = Ball::interpolate(&lanes[0], &lanes[1], at);
/// assert_eq!((ball.height, ball.climb, ball.bounces), (6.0, 8.0, 0));
///
/// // If `seconds` is 0, the path is a line.
/// let ball = Ball::interpolate(&lanes[0], &lanes[1], Between { seconds: 0.0, ..at });
/// assert_eq!((ball.height, ball.climb), (0.0, 8.0));
/// # Ok::<(), kinepack::EncodeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Between {
    /// 0 stands for the first state, 1 for the second. A ratio above 1 extrapolates: it is a point
    /// in time after the second state. A ratio below 0 counts as 0, an infinite one as 1, and NaN
    /// as 0.
    pub ratio: f32,
    /// The time from the first state to the second, in seconds; negative if the second is earlier.
    /// Only fields with a velocity use `seconds`. If `seconds` is 0 or not finite, these fields
    /// move on a line.
    pub seconds: f32,
}

impl Between {
    /// Returns `from` until the ratio reaches 1, then `to`. Flags are interpolated this way.
    #[inline]
    pub fn step<T>(self, from: T, to: T) -> T {
        if self.ratio >= 1.0 { to } else { from }
    }

    /// Returns this point in time, or the second state's if this one is after it. Fields that hold
    /// instead of extrapolating use this.
    #[inline]
    #[must_use]
    pub fn within(self) -> Self {
        Self { ratio: self.step(self.ratio, 1.0), ..self }
    }

    /// Returns a point on the line from `from` to `to`, exact at both ends. It is beyond `to` only
    /// if the ratio is above 1. If an end or the point is not finite, the value changes like
    /// [`step`](Self::step).
    #[inline]
    pub fn linear(self, from: f64, to: f64) -> f64 {
        if let Some(end) = self.end(from, to) {
            return end;
        }
        if !(from.is_finite() && to.is_finite()) {
            return self.step(from, to);
        }
        let ratio = f64::from(self.ratio);
        if ratio > 1.0 {
            return finite_or(to + (to - from) * (ratio - 1.0), to);
        }
        // Sums two products, because a difference could overflow. The clamp removes the rounding
        // error of these products, so that a value that does not move stays exact.
        (from * (1.0 - ratio) + to * ratio).clamp(from.min(to), from.max(to))
    }

    /// Returns `from` for a ratio of at most 0, `to` for a ratio of 1 or an infinite one, and
    /// `None` between and beyond them.
    #[inline]
    pub(crate) fn end<T>(self, from: T, to: T) -> Option<T> {
        if self.ratio == 1.0 || self.ratio == f32::INFINITY {
            Some(to)
        } else if self.ratio > 0.0 {
            None
        } else {
            Some(from)
        }
    }

    /// Interpolates the short way round between two codes of limits that wrap; upwards if both ways
    /// are equally long. The result is at least the minimum and less than one period above it. That
    /// also holds after `round`, which rounds the result to the field's type.
    #[inline]
    pub(crate) fn around(
        self,
        limits: &FloatLimits,
        from: u32,
        to: u32,
        round: impl Fn(f64) -> f64,
    ) -> f64 {
        if let Some(end) = self.end(from, to) {
            return limits.reconstruct(end);
        }
        let max_code = limits.max_code();
        let (from, to) = (from.min(max_code), to.min(max_code));
        let steps = Lane { max: max_code, arithmetic: LaneArithmetic::Cyclic }.difference(from, to);
        let codes = f64::from(max_code) + 1.0;
        let mut code = f64::from(from) + steps as f64 * f64::from(self.ratio);
        // Beyond `to`, the way may be several periods long. The remainder is exact.
        code = libm::fmod(code, codes);
        if code < 0.0 {
            code += codes;
        }
        if code >= codes {
            code -= codes;
        }
        let (value, end) =
            (limits.min() + code * limits.step(), limits.min() + codes * limits.step());
        // A value just below the end may round to the end, which is the minimum again.
        if round(value) >= round(end) { limits.min() } else { value }
    }

    /// Returns a point on the cubic that leaves `from` and reaches `to` with these velocities, in
    /// units per second. Beyond `to`, it continues straight at the second velocity. Returns a point
    /// on the line if `seconds` is 0 or the cubic is not finite.
    #[inline]
    pub(crate) fn hermite(self, from: f64, to: f64, velocities: [f64; 2]) -> f64 {
        if self.ratio > 1.0 && self.ratio.is_finite() && self.seconds != 0.0 {
            let passed_s = f64::from(self.seconds) * (f64::from(self.ratio) - 1.0);
            return finite_or(to + velocities[1] * passed_s, to);
        }
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

    /// Returns the unit quaternion on the shorter arc from `from` to `to`, at constant angular
    /// speed. Beyond `to`, the rotation continues about the same axis. Returns `None` if `from` or
    /// `to` has no direction. The ends are exact as rotations, but a quaternion's sign may differ
    /// from that of `from` or `to`.
    #[inline]
    pub(crate) fn slerp(self, from: [f64; 4], to: [f64; 4]) -> Option<[f64; 4]> {
        let (from, mut to) = (unit(from)?, unit(to)?);
        let dot: f64 = from.iter().zip(to).map(|(from, to)| from * to).sum();
        if dot < 0.0 {
            to = to.map(|component| -component);
        }
        // The angle follows from the chord, because `acos` of the dot product loses all precision
        // for small angles. The angle between the quaternions is at most a right angle, so the sum
        // below is never zero.
        let chord = length(core::array::from_fn(|index| to[index] - from[index]));
        let sum = length(core::array::from_fn(|index| to[index] + from[index]));
        let angle_rad = 2.0 * libm::atan2(chord, sum);
        let ratio = f64::from(self.end(0.0, 1.0).unwrap_or(self.ratio));
        let weights = if angle_rad < ALMOST_EQUAL_RAD {
            [1.0 - ratio, ratio]
        } else {
            let sine = libm::sin(angle_rad);
            [libm::sin((1.0 - ratio) * angle_rad) / sine, libm::sin(ratio * angle_rad) / sine]
        };
        unit(core::array::from_fn(|index| from[index] * weights[0] + to[index] * weights[1]))
    }
}

/// Below this angle, interpolation follows the chord instead of the arc. The two differ by the
/// angle's cube, which `f64` cannot resolve.
const ALMOST_EQUAL_RAD: f64 = 1e-6;

fn finite_or(value: f64, otherwise: f64) -> f64 {
    if value.is_finite() { value } else { otherwise }
}

fn length(xyzw: [f64; 4]) -> f64 {
    sqrt(xyzw.iter().map(|component| component * component).sum())
}

fn unit(xyzw: [f64; 4]) -> Option<[f64; 4]> {
    let length = length(xyzw);
    (length > 0.0 && length.is_finite()).then(|| xyzw.map(|component| component / length))
}
