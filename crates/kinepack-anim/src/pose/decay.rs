//! The decay of a difference between two motions. It follows the quintic polynomial of inertial
//! blending and its limits, by David Bollo.
//!
//! The length of the difference starts with a given velocity. After the duration, its velocity and
//! acceleration are zero. The initial acceleration is never negative, and apart from that is chosen
//! so that the final jerk is zero too. The length never grows and never becomes negative. To
//! guarantee that, the initial velocity must not be positive, and a fast decay takes less time than
//! the duration.

/// The length of a frame and of the transition, in seconds.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub(super) dt_s: f32,
    pub(super) duration_s: f32,
}

/// A vector that keeps its direction and decays to zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Along {
    direction: [f32; 3],
    /// The inverse of the decay's duration in seconds, or 0 if there is nothing to decay.
    per_s: f32,
    /// The coefficients of the length as a polynomial of the elapsed share of the duration.
    powers: [f32; 6],
}

impl Along {
    const NONE: Self = Self { direction: [0.0; 3], per_s: 0.0, powers: [0.0; 6] };

    /// A vector that is shorter than this counts as zero. The unit is cm for translations, a factor
    /// for scales, and the tangent of a quarter of the angle for rotations.
    const SMALLEST: f32 = 1e-6;

    /// Returns the decay of `vector`. `before` returns the length along a direction, as it was one
    /// frame earlier.
    pub(super) fn new(vector: [f32; 3], before: impl Fn([f32; 3]) -> f32, step: Step) -> Self {
        let length = dot(vector, vector).sqrt();
        if !(length > Self::SMALLEST && length.is_finite()) {
            return Self::NONE;
        }
        let direction = vector.map(|c| c / length);
        let velocity = if step.dt_s > 0.0 { (length - before(direction)) / step.dt_s } else { 0.0 };
        let (velocity, duration_s) = if velocity < 0.0 {
            // A longer decay would overshoot.
            (velocity, step.duration_s.min(-5.0 * length / velocity))
        } else {
            // A velocity away from the new motion counts as 0, and so does NaN.
            (0.0, step.duration_s)
        };
        let per_s = 1.0 / duration_s;
        if !(duration_s > 0.0 && per_s.is_finite()) {
            return Self::NONE;
        }
        // The velocity, and the acceleration for which the final jerk is zero, are in units of the
        // decay's duration.
        let velocity = velocity * duration_s;
        let acceleration = (-8.0 * velocity - 20.0 * length).max(0.0);
        let powers = [
            length,
            velocity,
            0.5 * acceleration,
            -0.5 * (3.0 * acceleration + 12.0 * velocity + 20.0 * length),
            0.5 * (3.0 * acceleration + 16.0 * velocity + 30.0 * length),
            -0.5 * (acceleration + 6.0 * velocity + 12.0 * length),
        ];
        Self { direction, per_s, powers }
    }

    /// Returns the vector `elapsed_s` seconds after the start, or `None` once the vector has
    /// decayed to zero.
    #[inline]
    pub(super) fn at(&self, elapsed_s: f32) -> Option<[f32; 3]> {
        let share = elapsed_s * self.per_s;
        if self.per_s == 0.0 || share >= 1.0 {
            return None;
        }
        let [a, b, c, d, e, f] = self.powers;
        let length = a + share * (b + share * (c + share * (d + share * (e + share * f))));
        // Near the end, rounding can make the length slightly negative.
        let length = length.max(0.0);
        Some(self.direction.map(|c| c * length))
    }
}

#[inline]
pub(super) fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
