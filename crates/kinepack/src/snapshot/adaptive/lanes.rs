//! Coding a lane against what is expected of it. `spec/CODEC.md`, section 12.3, "A lane".

use super::coding::{Coding, Predictor};
use super::counters::{LIMIT, MIN_SCALE_LOG2};
use crate::entropy::{Coder, code_signed};
use crate::schema::Lane;
use crate::snapshot::precision::{coarse_code, coarse_value};

/// A lane of an entity: which of the schema's, from what value it changes, and in steps of 2^shift.
pub(super) struct LaneAt<'a> {
    pub(super) lane: usize,
    pub(super) entity: usize,
    pub(super) base: u32,
    pub(super) kind: &'a Lane,
    pub(super) shift: u32,
}

/// Which of the group's counters serve a residual.
#[derive(Clone, Copy)]
pub(super) struct Residuals {
    pub(super) group: usize,
    /// The class, of those that have counters of their own.
    pub(super) coarse: usize,
}

/// What is expected of a lane.
#[derive(Clone, Copy)]
pub(super) struct Expected {
    /// The change, in sixteenths.
    pub(super) mean: i64,
    /// log₂ of the size of what that misses, in 1/256.
    pub(super) scale_log2: i32,
    /// The context of the sign.
    pub(super) sign: usize,
}

impl<C: Coder, P: Predictor> Coding<'_, C, P> {
    /// Codes one lane, and puts its value. Returns that and its change in sixteenths.
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
        let expected = match codes.offset(0, rounded) {
            Some(expected) => expected,
            None if rounded < 0 => 0,
            None => codes.max,
        };
        let residual = codes.difference(expected, coarse_code(self.values.at(lane, entity), shift));
        let scale_log2 = (scale_log2 - 256 * shift as i32).max(MIN_SCALE_LOG2);
        let Residuals { group, coarse } = residuals;
        let model = self.counters.residual(group, coarse, scale_log2, sign);
        let residual = code_signed(self.coder, residual, model, LIMIT);
        self.spent.by_lane(lane, self.coder.spent() - begin);
        let code = codes.offset(expected, residual).unwrap_or_else(|| {
            self.values.refuse();
            expected
        });
        let value = coarse_value(code, shift, kind.max);
        self.values.put(lane, entity, value);
        (value, kind.difference(base, value) << 4)
    }
}

/// Sixteenths in steps of 2^shift, to the nearest.
#[inline]
fn in_steps(sixteenths: i64, shift: u32) -> i64 {
    (sixteenths + (8 << shift)) >> (4 + shift)
}

/// 0 to 15: the sign and the magnitude of a distance in sixteenths, by powers of two.
#[inline]
pub(super) fn sign_class(distance: i64, shift: u32) -> usize {
    let steps = in_steps(distance, shift);
    let magnitude = (64 - steps.unsigned_abs().leading_zeros()).min(7) as usize;
    if steps < 0 { magnitude + 8 } else { magnitude }
}

/// The context of a body's sign: the distance from what is expected to `reference`, and in which
/// quarter of a step the expected value lies, in steps of 2^shift.
#[inline]
pub(super) fn sign_context(reference: i64, mean: i64, (base, shift): (u32, u32)) -> usize {
    let quarters = ((i64::from(base) << 4) + mean + (8 << shift)) >> (2 + shift);
    sign_class(reference - mean, shift) * 4 + (quarters & 3) as usize
}
