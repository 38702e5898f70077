//! Codes a rotation's smallest three against a predicted quaternion. See `spec/CODEC.md`, section
//! 12.6.

use alloc::vec::Vec;
use core::f64::consts::FRAC_1_SQRT_2;

use super::coding::Coding;
use super::counters::{GAP_ERRORS, GAPS, Residuals, SECOND};
use super::features::TurnSizes;
use super::lanes::{Expected, LaneAt, sign_context};
use super::numbers::{log2, sixteenths, size_log2};
use super::plan::RotationCodes;
use super::predictor::Predictor;
use crate::entropy::Coder;
use crate::geometry::{Quaternion, Vector, rotation_vector, scale, turn};
use crate::schema::{Lane, LaneArithmetic};
use crate::snapshot::status::STEPS;
use crate::sqrt::sqrt;

/// The numbers of classes per 1 of the gap between the two largest components, and of the gap
/// between the second and the third. See `spec/CODEC.md`, section 12.6, "Coding a rotation".
const FIRST_GAP: f64 = 400.0;
const SECOND_GAP: f64 = 100.0;

/// The smallest square that is assumed to remain for the components still to be coded. See
/// `spec/CODEC.md`, section 12.6, "Coding a rotation".
const MIN_REMAINING: f64 = 1e-4;

impl<C: Coder, P: Predictor> Coding<'_, C, P> {
    /// Returns the turns in the last two steps of a rotation that is `now` in the baseline. They
    /// are zero if `status` marks the rotation as new.
    pub(super) fn recent_turns(
        &self,
        codes: &RotationCodes,
        lane: usize,
        (entity, status): (usize, u8),
        now: Quaternion,
    ) -> [Vector; STEPS] {
        let at = |columns: &[Vec<u32>]| rotation_at(codes, lane, columns, entity);
        let change = |from, to, per_step| scale(rotation_vector(turn(from, to)), per_step);
        self.past.recent_changes(status, now, at, change)
    }

    /// Codes a rotation against its predicted value. Returns the mean of the three components'
    /// scales.
    #[expect(clippy::too_many_arguments, reason = "the parameters of one rotation")]
    pub(super) fn code_rotation(
        &mut self,
        codes: &RotationCodes,
        lane: usize,
        entity: usize,
        predicted: Quaternion,
        before: Quaternion,
        residuals: Residuals,
        first_scale_row: usize,
        sizes: &TurnSizes,
    ) -> i32 {
        // `q` and `q0` are in the schema's order of components.
        let mut q = [0.0; 4];
        let mut q0 = [0.0; 4];
        for (index, component) in codes.component.into_iter().enumerate() {
            q[component] = predicted[index];
            q0[component] = before[index];
        }
        let begin = self.coder.spent();
        let dropped = self.code_dropped(&q, self.values.at(lane, entity), sizes);
        self.spent.add_lane(lane, self.coder.spent() - begin);
        self.values.put(lane, entity, dropped as u32);
        let sign = if q[dropped] < 0.0 { -1.0 } else { 1.0 };
        let sign_before = if q0[dropped] * q[dropped] < 0.0 { -sign } else { sign };
        let (mut remaining_predicted, mut remaining) = (1.0f64, 1.0f64);
        let mut errors_log2 = [0; 3];
        let mut sum = 0;
        let kept = (0..4).filter(|component| *component != dropped);
        for (nth, component) in kept.enumerate() {
            let part = q[component] * sign;
            // The components that are already coded determine how much remains for the others.
            let stretch =
                sqrt(remaining.max(MIN_REMAINING) / remaining_predicted.max(MIN_REMAINING));
            let value = (part * stretch).clamp(-FRAC_1_SQRT_2, FRAC_1_SQRT_2);
            let to_code =
                |value: f64| (value + FRAC_1_SQRT_2) / (2.0 * FRAC_1_SQRT_2) * codes.max_code;
            let mean = i64::from(sixteenths(to_code(value)));
            let reference = i64::from(sixteenths(to_code(q0[component] * sign_before)));
            let row = sizes.row(nth, &errors_log2);
            let scale_row = first_scale_row + nth;
            let scale_log2 = self.predictor.predict_scale(scale_row, &row);
            sum += scale_log2;
            let kind = Lane { max: codes.max_code as u32, arithmetic: LaneArithmetic::Linear };
            let shift = self.shift(lane + 1 + nth, entity);
            let sign = sign_context(reference, mean, (0, shift));
            let lane_at = LaneAt { lane: lane + 1 + nth, entity, base: 0, kind: &kind, shift };
            let (code, change) =
                self.code_lane(residuals, Expected { mean, scale_log2, sign }, lane_at);
            errors_log2[nth] = size_log2(change - mean);
            self.predictor.observe_scale(scale_row, &row, scale_log2, errors_log2[nth]);
            let actual = f64::from(code) / codes.max_code * (2.0 * FRAC_1_SQRT_2) - FRAC_1_SQRT_2;
            remaining -= actual * actual;
            remaining_predicted -= part * part;
        }
        sum / 3
    }

    /// Codes which component is dropped: the largest of the predicted rotation, or the second
    /// largest, and so on.
    fn code_dropped(&mut self, predicted: &Quaternion, dropped: u32, sizes: &TurnSizes) -> usize {
        let mut order = [0usize, 1, 2, 3];
        // Insertion keeps the order of equal components.
        for end in 1..4 {
            let mut place = end;
            while place > 0 && predicted[order[place]].abs() > predicted[order[place - 1]].abs() {
                order.swap(place, place - 1);
                place -= 1;
            }
        }
        let rank = order.iter().position(|component| *component as u32 == dropped).unwrap_or(0);
        let gap = |first: usize, unit: f64| {
            ((predicted[order[first]].abs() - predicted[order[first + 1]].abs()) * unit) as u64
        };
        let gap_log2 = (log2(gap(0, FIRST_GAP) + 1) >> 7).min(GAPS as i32 - 1) as usize;
        let near = ((sizes.near_error + 256) >> 7).clamp(0, GAP_ERRORS as i32 - 1) as usize;
        if !self.counters.code_largest(self.coder, (gap_log2, near), rank > 0) {
            return order[0];
        }
        let second_gap = gap(1, SECOND_GAP).min(SECOND as u64 - 1) as usize;
        if !self.counters.code_second(self.coder, second_gap, rank > 1) {
            return order[1];
        }
        order[2 + usize::from(self.counters.code_third(self.coder, rank > 2))]
    }
}

/// Returns the unit quaternion of an entity's rotation, whose lanes begin at `lane`.
pub(super) fn rotation_at(
    codes: &RotationCodes,
    lane: usize,
    columns: &[Vec<u32>],
    entity: usize,
) -> Quaternion {
    let dropped = columns[lane][entity] as usize;
    let mut q = [0.0; 4];
    let mut squares = 0.0;
    for (nth, component) in (0..4).filter(|component| *component != dropped).enumerate() {
        let share = f64::from(columns[lane + 1 + nth][entity]) / codes.max_code;
        let value = share * (2.0 * FRAC_1_SQRT_2) - FRAC_1_SQRT_2;
        q[component] = value;
        squares += value * value;
    }
    if squares < 1.0 {
        q[dropped] = sqrt(1.0 - squares);
    } else {
        let length = sqrt(squares);
        q = q.map(|value| value / length);
    }
    let [a, b, c, d] = codes.component;
    [q[a], q[b], q[c], q[d]]
}
