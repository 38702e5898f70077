//! Codes a lane against its expected value. See `spec/CODEC.md`, section 12.3, "A lane".

use super::coding::Coding;
use super::counters::{MIN_SCALE_LOG2, Residuals};
use super::predictor::Predictor;
use crate::coarse::{coarse_code, coarse_value};
use crate::entropy::Coder;
use crate::schema::Lane;

/// A lane of an entity: its index in the schema, its value in the baseline, and its shift, for
/// steps of 2^shift.
pub(super) struct LaneAt<'a> {
    pub(super) lane: usize,
    pub(super) entity: usize,
    pub(super) base: u32,
    pub(super) kind: &'a Lane,
    pub(super) shift: u32,
}

/// The prediction of a lane.
#[derive(Clone, Copy)]
pub(super) struct Expected {
    /// The expected change of the lane, in sixteenths.
    pub(super) mean: i64,
    /// log₂ of the expected size of the error, in 1/256.
    pub(super) scale_log2: i32,
    /// The context of the residual's sign.
    pub(super) sign: usize,
}

impl<C: Coder, P: Predictor> Coding<'_, C, P> {
    /// Codes one lane and sets the lane's value. Returns that value, and its change in sixteenths.
    #[inline]
    pub(super) fn code_lane(
        &mut self,
        residuals: Residuals,
        Expected { mean, scale_log2, sign }: Expected,
        LaneAt { lane, entity, base, kind, shift }: LaneAt<'_>,
    ) -> (u32, i64) {
        let begin = self.coder.spent();
        let codes = Lane { max: coarse_code(kind.max, shift), ..*kind };
        let rounded = in_steps((i64::from(base) << 4) + mean, shift);
        let expected = codes.held_offset(0, rounded);
        let residual = codes.difference(expected, coarse_code(self.values.at(lane, entity), shift));
        let scale_log2 = (scale_log2 - 256 * shift as i32).max(MIN_SCALE_LOG2);
        let residual =
            self.counters.code_residual(self.coder, residuals, scale_log2, sign, residual);
        self.spent.add_lane(lane, self.coder.spent() - begin);
        let code = codes.offset(expected, residual).unwrap_or_else(|| {
            self.values.refuse();
            expected
        });
        let value = coarse_value(code, shift, kind.max);
        self.values.put(lane, entity, value);
        (value, kind.difference(base, value) << 4)
    }
}

/// Converts sixteenths to steps of 2^shift, rounded to the nearest.
#[inline]
fn in_steps(sixteenths: i64, shift: u32) -> i64 {
    (sixteenths + (8 << shift)) >> (4 + shift)
}

/// Returns the class of a distance in sixteenths, by sign and power of two: 0 to 15.
#[inline]
pub(super) fn sign_class(distance: i64, shift: u32) -> usize {
    let steps = in_steps(distance, shift);
    let magnitude = (64 - steps.unsigned_abs().leading_zeros()).min(7) as usize;
    if steps < 0 { magnitude + 8 } else { magnitude }
}

/// Returns the context of the sign of a body's residual. The context combines the distance from the
/// expected change to `reference` and the quarter of a step in which the expected value lies. The
/// size of a step is 2^shift.
#[inline]
pub(super) fn sign_context(reference: i64, mean: i64, (base, shift): (u32, u32)) -> usize {
    let quarters = ((i64::from(base) << 4) + mean + (8 << shift)) >> (2 + shift);
    sign_class(reference - mean, shift) * 4 + (quarters & 3) as usize
}
