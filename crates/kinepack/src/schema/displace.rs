//! Moves states by a share of the way between two others: the arithmetic of
//! [`Pack::displace`](super::Pack::displace).
//!
//! Only what playback blends moves. A number moves on a line, one that wraps the short way round,
//! and a rotation about one axis. The results are only shown, never sent. The arithmetic is `f64`
//! and `libm`, so every platform gets the same results.

use super::Components;
use super::derived::axis;
use crate::geometry::{Quaternion, multiply, turn};
use crate::quantize::FloatLimits;
use crate::sqrt::sqrt;

/// How much of the way between two states [`Pack::displace`](super::Pack::displace) moves a third
/// one. The ratios may be negative or above 1; 0 moves nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// The ratio for numbers and vectors.
    pub position_ratio: f64,
    /// The ratio for rotations, and for numbers that `wrap`.
    pub rotation_ratio: f64,
}

impl Share {
    /// The whole way.
    pub const WHOLE: Self = Self::of(1.0);

    /// The same ratio for everything.
    pub const fn of(ratio: f64) -> Self {
        Self { position_ratio: ratio, rotation_ratio: ratio }
    }
}

/// Moves `now` by a share of the way from `from` to `to`. `axes` is as for
/// [`quantize_floats`](super::derived::quantize_floats), or empty if there are no limits. A
/// component that would not be finite does not move.
pub fn displace_floats<T: Components>(
    now: &mut T,
    from: &T,
    to: &T,
    axes: &[FloatLimits],
    share: Share,
) {
    let mut components = now.components();
    let (from, to) = (from.components(), to.components());
    let ends = from.as_ref().iter().zip(to.as_ref());
    for (index, (value, (from, to))) in components.as_mut().iter_mut().zip(ends).enumerate() {
        let moved = match axes {
            [] => *value + (to - from) * share.position_ratio,
            axes if axis(axes, index).wraps() => {
                around(axis(axes, index), *value, to - from, share.rotation_ratio)
            }
            axes => {
                let axis = axis(axes, index);
                (*value + (to - from) * share.position_ratio).clamp(axis.min(), axis.max())
            }
        };
        let is_finite = if T::SINGLE { (moved as f32).is_finite() } else { moved.is_finite() };
        if is_finite {
            *value = moved;
        }
    }
    *now = T::from_components(components);
}

/// Moves a value that wraps by `ratio` times the difference `way`, the short way round.
fn around(limits: &FloatLimits, value: f64, way: f64, ratio: f64) -> f64 {
    let period = (f64::from(limits.max_code()) + 1.0) * limits.step();
    let short = way - period * libm::round(way / period);
    let above = libm::fmod(value + short * ratio - limits.min(), period);
    let above = if above < 0.0 { above + period } else { above };
    // The end equals the minimum.
    limits.min() + if above < period { above } else { 0.0 }
}

/// Turns `now` by a share of the shorter turn from `from` to `to`. Quaternions without a
/// direction do not turn.
pub fn displace_rotation<T: Components>(now: &mut T, from: &T, to: &T, share: Share) {
    let xyzw = |value: &T| {
        let components = value.components();
        unit(core::array::from_fn(|index| components.as_ref()[index]))
    };
    let (Some(current), Some(from), Some(to)) = (xyzw(now), xyzw(from), xyzw(to)) else { return };
    let turn = part_of(turn(from, to), share.rotation_ratio);
    let Some(turned) = unit(multiply(turn, current)) else { return };
    if from != to {
        let mut components = T::ZERO;
        components.as_mut().copy_from_slice(&turned);
        *now = T::from_components(components);
    }
}

/// Returns `ratio` times the turn `q`, about the same axis.
fn part_of([x, y, z, w]: Quaternion, ratio: f64) -> Quaternion {
    let sine = sqrt(x * x + y * y + z * z);
    if sine == 0.0 {
        return crate::geometry::NO_TURN;
    }
    // The quaternion and its negative are the same turn; this is the shorter one.
    let sign = if w < 0.0 { -1.0 } else { 1.0 };
    let half_rad = libm::atan2(sine, w * sign) * ratio;
    let factor = sign * libm::sin(half_rad) / sine;
    [x * factor, y * factor, z * factor, libm::cos(half_rad)]
}

fn unit(xyzw: Quaternion) -> Option<Quaternion> {
    let length = sqrt(xyzw.iter().map(|component| component * component).sum());
    (length > 0.0 && length.is_finite()).then(|| xyzw.map(|component| component / length))
}
