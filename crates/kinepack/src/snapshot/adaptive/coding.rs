//! The way of a packet, one description for both directions. `spec/CODEC.md`, section 12.5.

use alloc::vec::Vec;

use super::counters::{
    COARSE, EXPONENTS, FLAGS, LIMIT, MAX_SCALE_LOG2, MIN_SCALE_LOG2, RESIDUAL, SCALES, SIGNS, changed_context,
    flag_context,
};
use super::features::{FieldFeatures, NumberSizes, TurnSizes};
use super::fixed::{Row, dot, sixteenths, size_log2, steps};
use super::geometry::{self, multiply, rotation_of, rotation_vector, turn};
use super::model::Model;
use super::neighbours::Neighbours;
use super::plan::{FieldCoding, FieldPlan, Plan, RotationCodes};
use super::rotation::{rotation_at, vector_log2};
use super::rows::{NumberRows, RotationRows};
use crate::Lane;
use crate::entropy::{Coder, Counter, Signed, code_signed, code_tree};
use crate::snapshot::Baselines;
use crate::snapshot::history::{CAME, History, MOVED, MOVED_BEFORE, NEW, NEW_BEFORE};
use crate::snapshot::precision::{Shifts, coarse_code, coarse_value};
use crate::snapshot::store::EntityId;

/// Probability in 1/65536 that a packet ends before the next entity. Section 12.5.
const END: u16 = 32;

/// An encoder leaves room for an entity of this size before it has coded any, in 1/256 bit.
const USUAL_ENTITY: u64 = 64 << 8;

/// And for the end of the packet.
const ROOM_FOR_END: u64 = 8 << 8;

/// The largest change that is expected, in sixteenths. Section 12.3.
const MAX_MEAN: i64 = 1 << 37;

/// The largest change and error that an entity leaves for the next, in sixteenths. Section 12.7.
const MAX_LEFT: i64 = 1 << 30;

/// The weights that predict, and what they learn from what comes: nothing, a step, or all that a trainer wants to know.
pub(super) trait Predictor {
    /// The weights of a row.
    fn row(&self, row: usize) -> &Row;

    /// The row's prediction of a value, from the same features, was for `target`; the residual's size was expected to be 2^`scale_log2`.
    /// In sixteenths and 1/256.
    #[inline]
    fn mean(&mut self, _row: usize, _features: &Row, _target: i64, _scale_log2: i32) {}

    /// The row's prediction of a size's logarithm was for `target`, in 1/256.
    #[inline]
    fn scale(&mut self, _row: usize, _features: &Row, _target: i32) {}

    /// What is expected, in sixteenths.
    #[inline]
    fn expect(&self, row: usize, features: &Row) -> i64 {
        dot(self.row(row), features).clamp(-MAX_MEAN, MAX_MEAN)
    }

    /// log₂ of a residual's expected size, in 1/256, within what the contexts tell apart.
    #[inline]
    fn expect_scale(&self, row: usize, features: &Row) -> i32 {
        dot(self.row(row), features).clamp(i64::from(MIN_SCALE_LOG2), i64::from(MAX_SCALE_LOG2)) as i32
    }
}

/// Weights that stay.
impl Predictor for &[Row] {
    #[inline]
    fn row(&self, row: usize) -> &Row {
        &self[row]
    }
}

/// Memory that packets use again.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) neighbours: Neighbours,
    pub(super) movers: Vec<super::movers::Mover>,
    pub(super) nearness: Vec<u8>,
    /// Of each entity, for those that changed.
    pub(super) order: Vec<(u64, u32)>,
    /// The entities that an encoder knows to have changed, and those that the packet says have.
    pub(super) told: Vec<u32>,
    pub(super) changed: Vec<u32>,
    /// Those of the latter for which there was no room.
    pub(super) unsent: Vec<u32>,
    /// Where somebody asks: what each entity took, in 1/256 bit, in the order of the packet.
    pub(super) entities_spent: Option<Vec<(u32, u64)>>,
    /// For each field, what the entity before left.
    pub(super) previous: Vec<Vec<Previous>>,
}

/// What an entity leaves for the next, a lane each.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Previous {
    moved: i32,
    error: i32,
    error_log2: i32,
}

/// A field of an entity, with its class.
struct FieldAt<'a> {
    field: &'a FieldPlan,
    entity: usize,
    class: usize,
}

/// A lane of an entity: which of the schema's, from what value it changes, and in steps of 2^shift.
pub(super) struct LaneAt<'a> {
    pub(super) lane: usize,
    pub(super) base: u32,
    pub(super) kind: &'a Lane,
    pub(super) shift: u32,
}

/// A packet on its way.
pub(super) struct Coding<'a, C, P> {
    pub(super) coder: &'a mut C,
    pub(super) predictor: &'a mut P,
    pub(super) plan: &'a Plan,
    pub(super) model: &'a Model,
    /// log₂ of the lag, in 1/256.
    pub(super) lag_log2: i32,
    pub(super) counters: &'a mut [Counter],
    pub(super) baselines: Baselines<'a>,
    pub(super) ids: &'a [EntityId],
    pub(super) base: &'a [Vec<u32>],
    pub(super) history: &'a History,
    /// How coarse each value is.
    pub(super) shifts: &'a Shifts,
    /// The new values: an encoder's as they are, a decoder's as in `base`, to be overwritten.
    pub(super) columns: &'a mut [Vec<u32>],
    /// A value left its lane: the bytes are nobody's snapshot.
    pub(super) is_bad: bool,
    /// What the packet may take, in 1/256 bit: an encoder ends it before.
    pub(super) most_spent: u64,
    /// What each field took, in 1/256 bit; the rest is for who changed.
    pub(super) spent: &'a mut [u64],
    /// What the values of each lane took; who came is among the rest.
    pub(super) lanes_spent: &'a mut [u64],
}

impl<C: Coder, P: Predictor> Coding<'_, C, P> {
    /// Codes all that changed.
    pub(super) fn run(&mut self, scratch: &mut Scratch) {
        scratch.unsent.clear();
        scratch.entities_spent.iter_mut().for_each(Vec::clear);
        let has_changes = !scratch.told.is_empty();
        if !self.counters[self.plan.at.any].code(self.coder, has_changes, LIMIT) {
            return;
        }
        self.find_movers(scratch);
        self.find_nearness(scratch);
        self.code_changed(scratch);
        self.sort(scratch);
        scratch.previous.resize_with(self.plan.fields.len(), Vec::new);
        for (previous, field) in scratch.previous.iter_mut().zip(&self.plan.fields) {
            previous.clear();
            previous.resize(field.lanes.len(), Previous::default());
        }
        let order = core::mem::take(&mut scratch.order);
        let has_come = |(_, entity): &(u64, u32)| self.history.status[*entity as usize] & CAME != 0;
        // Who came must be told of: the packet cannot end before that.
        let first_end = order.iter().rposition(has_come).map_or(0, |last| last + 1);
        let begin = self.coder.spent();
        for (nth, &(_, entity)) in order.iter().enumerate() {
            if nth >= first_end && self.coder.code(self.is_full(begin, nth), END) {
                scratch.unsent.extend(order[nth..].iter().map(|(_, entity)| *entity));
                break;
            }
            let begin = if scratch.entities_spent.is_some() { self.coder.spent() } else { 0 };
            self.code_entity(scratch, entity as usize);
            if let Some(entities) = &mut scratch.entities_spent {
                entities.push((entity, self.coder.spent() - begin));
            }
            if self.is_bad || self.coder.is_exhausted() {
                break;
            }
        }
        scratch.order = order;
    }

    /// Whether another entity might not fit, where `coded` took what was spent since `begin`: one a quarter above the mean of these and of one
    /// of 64 bits, and a byte.
    fn is_full(&self, begin: u64, coded: usize) -> bool {
        let spent = self.coder.spent();
        let mean = (spent - begin + USUAL_ENTITY) / (coded as u64 + 1);
        spent + mean + mean / 4 + ROOM_FOR_END > self.most_spent
    }

    /// Which entities changed, one flag each.
    fn code_changed(&mut self, scratch: &mut Scratch) {
        let Scratch { told, changed, nearness, .. } = scratch;
        changed.clear();
        let mut told_next = told.iter().peekable();
        let mut previous = 0;
        for (entity, (status, nearness)) in self.history.status.iter().zip(nearness.iter()).enumerate() {
            let is_told = told_next.next_if(|next| **next as usize == entity).is_some();
            if status & CAME != 0 {
                changed.push(entity as u32);
                continue;
            }
            let moved = usize::from(status & (MOVED | MOVED_BEFORE)) | usize::from(status & NEW != 0) << 1;
            let context = changed_context(moved & 3, self.is_touched(entity), *nearness, previous);
            let is_changed = self.counters[self.plan.at.changed + context].code(self.coder, is_told, LIMIT);
            previous = (previous << 1 | usize::from(is_changed)) & 3;
            if is_changed {
                changed.push(entity as u32);
            }
            if entity & 63 == 0 && self.coder.is_exhausted() {
                break;
            }
        }
    }

    fn is_touched(&self, entity: usize) -> bool {
        let touched = self.plan.body.as_ref().and_then(|body| body.touched);
        touched.is_some_and(|lane| self.base[lane][entity] != 0)
    }

    fn code_entity(&mut self, scratch: &mut Scratch, entity: usize) {
        if self.history.status[entity] & CAME != 0 {
            return self.code_full(entity);
        }
        let plan = self.plan;
        let mut body_changed = false;
        if let Some(body) = &plan.body {
            let lanes = body.position.iter().copied().chain(body.rotation..body.rotation + 4);
            let told = { lanes }.any(|lane| self.columns[lane][entity] != self.base[lane][entity]);
            body_changed = plan.fields.is_empty() || {
                let context = usize::from(self.history.status[entity] & MOVED);
                self.counters[plan.at.flags + context].code(self.coder, told, LIMIT)
            };
            if body_changed {
                self.code_body(scratch, body, entity);
            }
        }
        let mut last_changed = body_changed;
        for (nth, field) in plan.fields.iter().enumerate() {
            let status = self.history.status[entity];
            let told = field.lanes().any(|lane| self.columns[lane][entity] != self.base[lane][entity]);
            let rested = if status & MOVED != 0 { 0 } else { 1 + usize::from(status & MOVED_BEFORE == 0) };
            let begin = self.coder.spent();
            let class = match field.coding {
                FieldCoding::Choice { .. } => self.base[field.first_lane][entity].min(3) as usize,
                _ => self.field_class(field, entity),
            };
            let context = flag_context(rested, last_changed, scratch.nearness[entity], class);
            let counter = plan.at.flags + (nth + 1) * FLAGS + context;
            last_changed = self.counters[counter].code(self.coder, told, LIMIT);
            if last_changed {
                let at = FieldAt { field, entity, class };
                self.code_field(&at, &mut scratch.previous[nth]);
            }
            self.spent[field.index] += self.coder.spent() - begin;
        }
    }

    /// An entity that the baseline does not have: all lanes as they are.
    fn code_full(&mut self, entity: usize) {
        let Self { coder, columns, .. } = self;
        for (column, &max) in columns.iter_mut().zip(&self.plan.maxima) {
            let value = coder.code_direct(column[entity], crate::bits_for(u64::from(max)));
            self.is_bad |= value > max;
            column[entity] = value.min(max);
        }
    }

    /// 0 without history, then at rest, begun to move, moving.
    fn field_class(&self, field: &FieldPlan, entity: usize) -> usize {
        let history = self.history;
        if history.status[entity] & NEW != 0 {
            return 0;
        }
        let before = history.columns(&self.baselines, 0);
        if field.lanes().all(|lane| self.base[lane][entity] == before[lane][entity]) {
            return 1;
        }
        if history.status[entity] & NEW_BEFORE != 0 {
            return 2;
        }
        let long_before = history.columns(&self.baselines, 1);
        2 + usize::from(field.lanes().any(|lane| before[lane][entity] != long_before[lane][entity]))
    }

    fn code_field(&mut self, at: &FieldAt<'_>, previous: &mut [Previous]) {
        let FieldAt { field, entity, .. } = *at;
        match field.coding {
            FieldCoding::Choice { tree, bits } => {
                let lane = &field.lanes[0];
                let base = self.base[field.first_lane][entity];
                let column = &mut self.columns[field.first_lane];
                // A flag that changed is the other one.
                column[entity] = if lane.max == 1 {
                    1 - base
                } else {
                    let low_bits = lane.bits() - bits;
                    let high = code_tree(
                        self.coder,
                        &mut self.counters[tree..][..1 << bits],
                        column[entity] >> low_bits,
                        bits,
                        LIMIT,
                    );
                    high << low_bits | self.coder.code_direct(column[entity] & ((1 << low_bits) - 1), low_bits)
                };
                self.is_bad |= column[entity] > lane.max;
                column[entity] = column[entity].min(lane.max);
            }
            FieldCoding::Numbers { group, rows } => self.code_numbers(at, previous, group, rows),
            FieldCoding::Rotation { group, rows, quantizer } => {
                self.code_rotation_field(at, previous, group, rows, &quantizer);
            }
        }
    }

    fn code_numbers(&mut self, at: &FieldAt<'_>, previous: &mut [Previous], group: usize, rows: NumberRows) {
        let FieldAt { field, entity, class } = *at;
        let mut lane_before = 0;
        for (nth, kind) in field.lanes.iter().enumerate() {
            let lane = field.first_lane + nth;
            let base = self.base[lane][entity];
            let change = |from, to, per_step| sixteenths(kind.difference(from, to) as f64 * per_step);
            let paces = self.history.paces(&self.baselines, entity, base, |columns| columns[lane][entity], change);
            let [own, own_before] = paces.unwrap_or_default();
            let Previous { moved: their_change, error: their_error, error_log2: their_error_log2 } = previous[nth];
            let features = FieldFeatures { own, own_before, their_change, their_error }.row();
            let (mean_row, scale_row) = (rows.mean(class, nth), rows.scale(class, nth));
            let mean = self.predictor.expect(mean_row, &features);
            let sizes = NumberSizes {
                own: size_log2(i64::from(own)),
                acceleration: size_log2(i64::from(own) - i64::from(own_before)),
                lane_before,
                their_error: their_error_log2,
                expected: size_log2(mean),
                lag: self.lag_log2,
            };
            let sizes = sizes.row();
            let scale_log2 = self.predictor.expect_scale(scale_row, &sizes);
            let shift = self.shifts.at(lane, entity);
            let sign = sign_class(i64::from(own) - mean, shift);
            let value = self.columns[lane][entity];
            let lane_at = LaneAt { lane, base, kind, shift };
            let target = self.code_lane(group, class, scale_log2, sign, mean, lane_at, value);
            self.columns[lane][entity] = target.0;
            let error = target.1 - mean;
            lane_before = size_log2(error);
            self.predictor.mean(mean_row, &features, target.1, scale_log2);
            self.predictor.scale(scale_row, &sizes, lane_before);
            previous[nth] = Previous {
                moved: target.1.clamp(-MAX_LEFT, MAX_LEFT) as i32,
                error: error.clamp(-MAX_LEFT, MAX_LEFT) as i32,
                error_log2: lane_before,
            };
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
        let FieldAt { field, entity, class } = *at;
        let lane = field.first_lane;
        let base = rotation_at(codes, lane, self.base, entity);
        let [turned, turned_before] = self.turns(codes, lane, entity, base);
        let features = [0, 1, 2].map(|axis| {
            let features = FieldFeatures {
                own: sixteenths(turned[axis]),
                own_before: sixteenths(turned_before[axis]),
                their_change: previous[axis].moved,
                their_error: previous[axis].error,
            };
            features.row()
        });
        let expected = [0, 1, 2].map(|axis| self.predictor.expect(rows.mean(class, axis), &features[axis]));
        let expected = expected.map(steps);
        let sizes = TurnSizes {
            own: vector_log2(geometry::sub(turned, turned_before), 3),
            around_error: previous[0].error_log2,
            moved: vector_log2(turned, 1),
            mover_error: 0,
            expected: vector_log2(expected, 1),
            near_error: previous[0].error_log2,
            lag: self.lag_log2,
        };
        let predicted = multiply(rotation_of(expected), base);
        let scale_rows = rows.scales(class);
        let scale = self.code_rotation(codes, lane, entity, predicted, base, (group, class), scale_rows, &sizes);
        let now = rotation_vector(turn(base, rotation_at(codes, lane, self.columns, entity)));
        let error = geometry::sub(now, expected);
        let error_log2 = vector_log2(error, 3);
        for axis in 0..3 {
            let [moved, error] = [sixteenths(now[axis]), sixteenths(error[axis])];
            self.predictor.mean(rows.mean(class, axis), &features[axis], i64::from(moved), scale);
            previous[axis] = Previous { moved, error, error_log2 };
        }
    }

    /// Codes one lane whose change is expected to be `mean` sixteenths. Returns the value and its change in sixteenths.
    #[expect(clippy::too_many_arguments, reason = "what is known of one lane")]
    #[inline]
    pub(super) fn code_lane(
        &mut self,
        group: usize,
        coarse: usize,
        scale_log2: i32,
        sign: usize,
        mean: i64,
        LaneAt { lane, base, kind, shift }: LaneAt<'_>,
        value: u32,
    ) -> (u32, i64) {
        let begin = self.coder.spent();
        let codes = Lane { max: coarse_code(kind.max, shift), ..*kind };
        let rounded = in_steps((i64::from(base) << 4) + mean, shift);
        let expected = match codes.offset(0, rounded) {
            Some(expected) => expected,
            None if rounded < 0 => 0,
            None => codes.max,
        };
        let residual = codes.difference(expected, coarse_code(value, shift));
        let scale_log2 = (scale_log2 - 256 * shift as i32).max(MIN_SCALE_LOG2);
        let residual = self.code_residual(group, coarse, scale_log2, sign, residual);
        self.lanes_spent[lane] += self.coder.spent() - begin;
        let code = codes.offset(expected, residual).unwrap_or_else(|| {
            self.is_bad = true;
            expected
        });
        let value = coarse_value(code, shift, kind.max);
        (value, kind.difference(base, value) << 4)
    }

    #[inline]
    fn code_residual(&mut self, group: usize, coarse: usize, scale_log2: i32, sign: usize, residual: i64) -> i64 {
        // In thirds of an octave.
        let scale = (((scale_log2 - MIN_SCALE_LOG2) * 3) >> 8) as usize;
        let context = coarse * SCALES + scale;
        let begin = self.plan.at.residuals + group * RESIDUAL;
        let (zero, rest) = self.counters[begin..][..RESIDUAL].split_at_mut(COARSE * SCALES);
        let (signs, rest) = rest.split_at_mut(SIGNS);
        let (exponents, mantissas) = rest.split_at_mut(COARSE * SCALES * EXPONENTS);
        let model = Signed {
            zero: &mut zero[context],
            sign: &mut signs[sign],
            exponents: &mut exponents[context * EXPONENTS..][..EXPONENTS],
            mantissas,
        };
        code_signed(self.coder, residual, model, LIMIT)
    }
}

/// Sixteenths in steps of 2^shift, to the nearest.
#[inline]
fn in_steps(sixteenths: i64, shift: u32) -> i64 {
    (sixteenths + (8 << shift)) >> (4 + shift)
}

/// 0 to 15: the sign and the magnitude of a distance in sixteenths, by powers of two.
#[inline]
fn sign_class(distance: i64, shift: u32) -> usize {
    let steps = in_steps(distance, shift);
    let magnitude = (64 - steps.unsigned_abs().leading_zeros()).min(7) as usize;
    if steps < 0 { magnitude + 8 } else { magnitude }
}

/// The context of a body's sign: the distance from what is expected to `reference`, and in which quarter of a step the expected value lies,
/// in steps of 2^shift.
#[inline]
pub(super) fn sign_context(reference: i64, mean: i64, (base, shift): (u32, u32)) -> usize {
    let quarters = ((i64::from(base) << 4) + mean + (8 << shift)) >> (2 + shift);
    sign_class(reference - mean, shift) * 4 + (quarters & 3) as usize
}
