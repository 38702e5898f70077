//! The decay of a difference between two motions: the quintic polynomial of inertial blending and
//! its limits, by David Bollo.
//!
//! The length begins with a given velocity and ends after the duration with velocity and
//! acceleration zero. Its first acceleration is the one with which the jerk ends at zero too, but
//! never one towards zero. It never grows, and it never becomes negative: that is why the first
//! velocity must not lead away from zero, and why a fast decay takes less time.

/// The lengths of a frame and of the transition.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub(super) dt_s: f32,
    pub(super) duration_s: f32,
}

/// A vector that keeps its direction and decays to zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Along {
    direction: [f32; 3],
    /// One over the seconds that the decay takes; 0 if there is nothing to decay.
    per_s: f32,
    /// The coefficients of the length, by power of the share of the time.
    powers: [f32; 6],
}

impl Along {
    const NONE: Self = Self { direction: [0.0; 3], per_s: 0.0, powers: [0.0; 6] };

    /// Lengths below this, in cm, as a factor or as a tangent, are nothing.
    const SMALLEST: f32 = 1e-6;

    /// `before` gives the length along the direction one frame earlier.
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
            // Away from the new motion counts as 0, and so does NaN.
            (0.0, step.duration_s)
        };
        let per_s = 1.0 / duration_s;
        if !(duration_s > 0.0 && per_s.is_finite()) {
            return Self::NONE;
        }
        // In units of the decay's duration: velocity, and the acceleration with which the jerk ends
        // at zero.
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

    /// The rest of the vector, unless it is zero.
    #[inline]
    pub(super) fn at(&self, elapsed_s: f32) -> Option<[f32; 3]> {
        let share = elapsed_s * self.per_s;
        if self.per_s == 0.0 || share >= 1.0 {
            return None;
        }
        let [a, b, c, d, e, f] = self.powers;
        let length = a + share * (b + share * (c + share * (d + share * (e + share * f))));
        // Near the end, rounding leaves a last negative bit.
        let length = length.max(0.0);
        Some(self.direction.map(|c| c * length))
    }
}

#[inline]
pub(super) fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
