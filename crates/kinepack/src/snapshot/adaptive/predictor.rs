//! Linear predictors: the weights of the predictions, and the reaction to actual values. See
//! `spec/CODEC.md`, section 12.3.

use super::counters::{MAX_SCALE_LOG2, MIN_SCALE_LOG2};
use super::numbers::{Row, dot, mean_of, scale_of};
use crate::entropy::{Counter, Decision};

/// The limit of an expected change, in sixteenths. See `spec/CODEC.md`, section 12.3.
const MAX_MEAN: i64 = 1 << 37;

/// Clamps an expected change to ±`MAX_MEAN`.
#[inline]
pub(super) fn held(mean: i64) -> i64 {
    mean.clamp(-MAX_MEAN, MAX_MEAN)
}

/// The weights of the predictions, and the reaction to actual values: fixed weights ignore them, a
/// learner takes a step, a trainer collects statistics.
pub(super) trait Predictor {
    /// The adaptive model that codes each decision.
    type Decision: Decision;

    /// Returns the sum of a row's features times their weights.
    fn sum(&self, row: usize, features: &Row) -> f32;

    /// Reports that an actual value was `target`, in sixteenths, after this row predicted it from
    /// these features. The expected size of the error was 2^`scale_log2`, with the logarithm in
    /// 1/256.
    #[inline]
    fn observe_mean(&mut self, _row: usize, _features: &Row, _target: i64, _scale_log2: i32) {}

    /// Reports that an actual logarithm was `target`, after this row predicted `expected` from
    /// these features. Both logarithms are in 1/256.
    #[inline]
    fn observe_scale(&mut self, _row: usize, _features: &Row, _expected: i32, _target: i32) {}

    /// Predicts a change, in sixteenths.
    #[inline]
    fn predict_mean(&self, row: usize, features: &Row) -> i64 {
        held(mean_of(self.sum(row, features)))
    }

    /// Predicts log₂ of a residual's size, in 1/256, clamped to the range that the contexts
    /// distinguish.
    #[inline]
    fn predict_scale(&self, row: usize, features: &Row) -> i32 {
        let scale = scale_of(self.sum(row, features));
        scale.clamp(i64::from(MIN_SCALE_LOG2), i64::from(MAX_SCALE_LOG2)) as i32
    }
}

/// Predicts with fixed weights.
impl Predictor for &[Row] {
    type Decision = Counter;

    #[inline]
    fn sum(&self, row: usize, features: &Row) -> f32 {
        dot(&self[row], features)
    }
}
