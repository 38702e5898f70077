//! Generates random numbers that are the same on every run.

/// A linear congruential generator, which holds its state.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Returns a random number that is at least `min` and below `max`.
    pub(crate) fn between(&mut self, min: f32, max: f32) -> f32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        min + (max - min) * (self.0 >> 40) as f32 / (1 << 24) as f32
    }
}
