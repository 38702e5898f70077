//! Generates seeded random numbers for the tests.

/// A linear congruential generator, which holds its state.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((u64::from((self.0 >> 32) as u32) * u64::from(bound)) >> 32) as u32
    }

    pub(crate) fn between(&mut self, min: f32, max: f32) -> f32 {
        min + (max - min) * self.below(1 << 20) as f32 / (1 << 20) as f32
    }
}
