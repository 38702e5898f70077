//! Codes fields outside a body. See `spec/CODEC.md`, section 12.7.

use alloc::vec::Vec;

use super::coding::{Coding, FieldAt};
use super::counters::Residuals;
use super::features::{FieldFeatures, NumberSizes, TurnSizes};
use super::lanes::{Expected, LaneAt, sign_class};
use super::numbers::{STEP_BITS, sixteenths, size_log2, steps, vector_log2};
use super::plan::{FieldCoding, RotationCodes};
use super::predictor::Predictor;
use super::rotation::rotation_at;
use super::rows::{NumberRows, RotationRows};
use super::scratch::Previous;
use crate::entropy::Coder;
use crate::geometry::{multiply, rotation_of, rotation_vector, sub, turn};
use crate::schema::{Lane, LaneArithmetic};

impl<C: Coder, P: Predictor> Coding<'_, C, P> {
    pub(super) fn code_field(&mut self, at: &FieldAt<'_>, previous: &mut [Previous]) {
        let FieldAt { field, entity, .. } = *at;
        match field.coding {
            FieldCoding::Choice { tree, bits } => {
                let lane = &field.lanes[0];
                let base = self.past.base()[field.first_lane][entity];
                let encoder_value = self.values.at(field.first_lane, entity);
                // A flag that changed has only one possible new value.
                let value = if lane.max == 1 {
                    1 - base
                } else {
                    let low_bits = lane.bits() - bits;
                    let high = encoder_value >> low_bits;
                    let high = self.counters.code_tree(self.coder, (tree, bits), high);
                    high << low_bits
                        | self.coder.code_direct(encoder_value & ((1 << low_bits) - 1), low_bits)
                };
                self.values.put_within(field.first_lane, entity, value, lane.max);
            }
            FieldCoding::Numbers { group, rows } => self.code_numbers(at, previous, group, rows),
            FieldCoding::Rotation { group, rows, quantizer } => {
                self.code_rotation_field(at, previous, group, rows, &quantizer);
            }
        }
    }

    fn code_numbers(
        &mut self,
        at: &FieldAt<'_>,
        previous: &mut [Previous],
        group: usize,
        rows: NumberRows,
    ) {
        let FieldAt { field, entity, status, class } = *at;
        let mut lane_before = 0;
        for (nth, kind) in field.lanes.iter().enumerate() {
            let lane = field.first_lane + nth;
            let base = self.past.base()[lane][entity];
            let change = |from, to, per_step| kind.difference(from, to) as f64 * per_step;
            let at = |columns: &[Vec<u32>]| columns[lane][entity];
            let [own, own_before] = self.past.recent_changes(status, base, at, change);
            let Previous {
                moved: previous_change,
                error: previous_error,
                error_log2: previous_error_log2,
            } = previous[nth];
            let features = FieldFeatures { own, own_before, previous_change, previous_error }.row();
            let (mean_row, scale_row) = (rows.mean(class, nth), rows.scale(class, nth));
            let mean = self.predictor.predict_mean(mean_row, &features);
            let [own, own_before] = [own, own_before].map(|own| i64::from(sixteenths(own)));
            let sizes = NumberSizes {
                own: size_log2(own),
                acceleration: size_log2(own - own_before),
                lane_before,
                previous_error: previous_error_log2,
                expected: size_log2(mean),
                lag: self.past.lag_log2(),
            };
            let sizes = sizes.row();
            let scale_log2 = self.predictor.predict_scale(scale_row, &sizes);
            let shift = self.shift(lane, entity);
            let sign = sign_class(own - mean, shift);
            let residuals = Residuals { group, coarse_class: class };
            let lane_at = LaneAt { lane, entity, base, kind, shift };
            let (_, change) =
                self.code_lane(residuals, Expected { mean, scale_log2, sign }, lane_at);
            let error = error_of(kind, change - mean);
            lane_before = size_log2(error);
            self.predictor.observe_mean(mean_row, &features, mean + error, scale_log2);
            self.predictor.observe_scale(scale_row, &sizes, scale_log2, lane_before);
            previous[nth] =
                Previous { moved: steps(change), error: steps(error), error_log2: lane_before };
        }
    }

    fn code_rotation_field(
        &mut self,
        at: &FieldAt<'_>,
        previous: &mut [Previous],
        group: usize,
        rows: RotationRows,
        codes: &RotationCodes,
    ) {
        let FieldAt { field, entity, status, class } = *at;
        let lane = field.first_lane;
        let base = rotation_at(codes, lane, self.past.base(), entity);
        let [turned, turned_before] = self.recent_turns(codes, lane, (entity, status), base);
        let features = [0, 1, 2].map(|axis| {
            let features = FieldFeatures {
                own: turned[axis],
                own_before: turned_before[axis],
                previous_change: previous[axis].moved,
                previous_error: previous[axis].error,
            };
            features.row()
        });
        let expected = [0, 1, 2]
            .map(|axis| self.predictor.predict_mean(rows.mean(class, axis), &features[axis]));
        let expected = expected.map(steps);
        let sizes = TurnSizes {
            own: vector_log2(sub(turned, turned_before), 3.0),
            neighbours_error: previous[0].error_log2,
            moved: vector_log2(turned, 1.0),
            mover_error: 0,
            expected: vector_log2(expected, 1.0),
            near_error: previous[0].error_log2,
            lag: self.past.lag_log2(),
        };
        let predicted = multiply(rotation_of(expected), base);
        let scale_rows = rows.scales(class);
        let residuals = Residuals { group, coarse_class: class };
        let scale =
            self.code_rotation(codes, lane, entity, predicted, base, residuals, scale_rows, &sizes);
        let now =
            rotation_vector(turn(base, rotation_at(codes, lane, self.values.columns(), entity)));
        let error = sub(now, expected);
        let error_log2 = vector_log2(error, 3.0);
        for axis in 0..3 {
            self.predictor.observe_mean(
                rows.mean(class, axis),
                &features[axis],
                i64::from(sixteenths(now[axis])),
                scale,
            );
            previous[axis] = Previous { moved: now[axis], error: error[axis], error_log2 };
        }
    }
}

/// Returns the error of a prediction that missed a lane's change by `miss`, both in sixteenths. On
/// a cyclic lane the error is measured the short way round. On other lanes it is limited to the
/// lane's range.
fn error_of(lane: &Lane, miss: i64) -> i64 {
    let range = i64::from(lane.max) << STEP_BITS;
    match lane.arithmetic {
        LaneArithmetic::Cyclic => {
            let cycle = range + (1 << STEP_BITS);
            (miss + cycle / 2).rem_euclid(cycle) - cycle / 2
        }
        _ => miss.clamp(-range, range),
    }
}
