//! Rigid bodies: predicted from their own motion, what moves them, their neighbours, and the floor. `spec/CODEC.md`, section 12.6.

use alloc::vec::Vec;

use super::coding::{Coding, Observer, Scratch, sign_class};
use super::fixed::{FEATURES, length_log2, sixteenths, size_log2};
use super::geometry::{
    NO_TURN, PER_RADIAN, Quaternion, Vector, add, axes, carried, conjugate, cross, dot, multiply, rotate, rotation_of,
    rotation_vector, scale, sub, turn,
};
use super::history::{CAME, History, MOVED, NEW, NEW_BEFORE};
use super::model::{Bodies, body_row, class};
use super::neighbours::{Coded, NEAREST};
use super::plan::{BodyPlan, RotationCodes};
use crate::entropy::Coder;
use crate::{Lane, LaneArithmetic};

use core::f64::consts::FRAC_1_SQRT_2;

/// Movers that are looked at, at most.
const MOST_MOVERS: usize = 64;

/// A body that moves others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mover {
    entity: u32,
    position: Vector,
    /// What is known of it; before it is coded, that it stays.
    coded: Coded,
}

/// What both sides know of a body before it is coded.
struct Known {
    position: Vector,
    position_before: Vector,
    /// How far it would move, as in the last step and in the one before.
    moved: Vector,
    moved_before: Vector,
    rotation: Quaternion,
    /// How it would turn.
    turn: Quaternion,
    turned: Vector,
    turned_before: Vector,
}

/// Sums over the neighbours.
#[derive(Default)]
struct Around {
    moved: Vector,
    moved_before: Vector,
    turned: Vector,
    turned_before: Vector,
    turn_error: Vector,
    position_error: Vector,
    near_turned_before: Vector,
    near_moved: Vector,
    near_carried: Vector,
    near_turned: Vector,
    position_error_log2: i32,
    turn_error_log2: i32,
}

impl<C: Coder, O: Observer> Coding<'_, C, O> {
    /// The movers, as the baseline has them.
    pub(super) fn find_movers(&self, scratch: &mut Scratch) {
        scratch.movers.clear();
        let (Some(body), Some(bodies)) = (&self.plan.body, &self.model.bodies) else { return };
        let movers = bodies.mover_ranges().flat_map(|(first, end)| {
            let begin = self.ids.partition_point(|id| u64::from(id.0) < first);
            let end = self.ids.partition_point(|id| u64::from(id.0) < end);
            begin..end
        });
        let flagged = body.mover.map(|lane| &self.base[lane][..]).unwrap_or_default();
        let flagged = (0..).zip(flagged).filter(|(_, flag)| **flag != 0).map(|(entity, _)| entity);
        for entity in movers.chain(flagged).take(MOST_MOVERS) {
            if scratch.history.status[entity] & CAME == 0 {
                let position = position(body, self.base, entity);
                let coded = Coded { position, position_before: position, ..Coded::default() };
                scratch.movers.push(Mover { entity: entity as u32, position, coded });
            }
        }
    }

    /// The nearest mover and the squared distance to it.
    fn nearest_mover(movers: &[Mover], position: Vector) -> Option<(usize, f64)> {
        let mut best = None;
        for (index, mover) in movers.iter().enumerate() {
            let away = sub(position, mover.position);
            let distance = dot(away, away);
            if best.is_none_or(|(_, least)| distance < least) {
                best = Some((index, distance));
            }
        }
        best
    }

    /// For each entity, 0 to 6 by the distance to the nearest mover, 7 for a mover.
    pub(super) fn find_nearness(&self, scratch: &mut Scratch) {
        let Scratch { movers, nearness, .. } = scratch;
        nearness.clear();
        let (Some(body), Some(bodies)) = (&self.plan.body, &self.model.bodies) else {
            nearness.resize(self.ids.len(), 0);
            return;
        };
        let unit = f64::from(bodies.reach) * 0.5;
        let edges = [1.0, 4.0, 9.0, 16.0, 25.0, 36.0].map(|square| square * unit * unit);
        nearness.extend((0..self.ids.len()).map(|entity| {
            let nearest = Self::nearest_mover(movers, position(body, self.base, entity));
            nearest.map_or(6, |(_, distance)| edges.iter().map(|edge| u8::from(distance >= *edge)).sum())
        }));
        movers.iter().for_each(|mover| nearness[mover.entity as usize] = 7);
    }

    /// The movers first, then the others from near to far.
    pub(super) fn sort(&self, scratch: &mut Scratch) {
        let Scratch { order, changed, movers, neighbours, .. } = scratch;
        order.clear();
        let (Some(body), Some(bodies)) = (&self.plan.body, &self.model.bodies) else {
            order.extend(changed.iter().map(|entity| (0, *entity)));
            return;
        };
        order.extend(changed.iter().map(|&entity| {
            let nearest = Self::nearest_mover(movers, position(body, self.base, entity as usize));
            let key = match nearest {
                Some((mover, _)) if movers[mover].entity == entity => 0,
                // Not negative, so that the bits rise with the value. What is no number has no bits that all platforms agree on.
                Some((_, distance)) if distance < f64::INFINITY => distance.to_bits() + 1,
                Some(_) => u64::MAX,
                None => 0,
            };
            (key, entity)
        }));
        order.sort_unstable();
        neighbours.reset(changed.len(), 7.0 * f64::from(bodies.size));
    }

    /// Codes the rotation, then the position.
    pub(super) fn code_body(&mut self, scratch: &mut Scratch, body: &BodyPlan, entity: usize) {
        let Some(bodies) = &self.model.bodies else { return };
        let history = &scratch.history;
        let status = history.status[entity];
        let known = self.known(history, body, entity);
        let kind = bodies.kind(self.ids[entity].0);
        let is_mover = scratch.movers.iter().position(|mover| mover.entity as usize == entity);
        let nearest = Self::nearest_mover(&scratch.movers, known.position);
        let (mover, distance_squared) = match (is_mover, nearest) {
            (None, Some((mover, distance))) => (scratch.movers[mover].coded, distance),
            _ => (Coded { position: known.position, position_before: known.position_before, ..Coded::default() }, 0.0),
        };
        let has_mover = is_mover.is_none() && nearest.is_some();
        let reach = f64::from(bodies.reach);
        let weight = {
            let share = distance_squared / (reach * reach);
            if has_mover { 1.0 / (1.0 + share * share) } else { 0.0 }
        };
        let around = around(scratch, bodies, &known, &mover);
        let is_touched = body.touched.is_none_or(|lane| self.base[lane][entity] != 0);
        let class = if is_mover.is_some() {
            class::MOVER
        } else if status & NEW != 0 {
            class::NEW
        } else if status & MOVED == 0 {
            class::RESTED
        } else if !is_touched || !has_mover {
            class::FAR
        } else {
            let far = |edge: &&u32| distance_squared >= f64::from(**edge) * f64::from(**edge);
            let band = bodies.bands.iter().take_while(far).count();
            if band == bodies.bands.len() { class::FAR } else { class::NEAR + band }
        };
        let coarse = match class {
            class::MOVER => 0,
            class::RESTED | class::NEW => 3,
            class::FAR => 2,
            _ => 1,
        };
        let extents = body.axes.map(|axis| f64::from(kind.half_extents[axis]));
        let has_size = extents != [0.0; 3];
        let floor = bodies.floor.filter(|_| has_size).map(|floor| f64::from(floor) * body.ratios[2]);
        let height = height_of(known.rotation, extents);
        let margin = f64::from(bodies.size) * 0.16;
        let is_touching = floor.is_some_and(|floor| known.position[2] - floor - height < margin);
        let contact = if is_touching { 1.0 } else { 0.0 };
        let class = class + if is_touching { bodies.classes() / 2 } else { 0 };
        let first_row = class * body_row::COUNT;
        let size = if has_size { extents[0] } else { f64::from(bodies.size) };

        // The rotation.
        let up = |v: Vector| [-v[1] / size * PER_RADIAN, v[0] / size * PER_RADIAN, 0.0];
        let mover_turn = mover.turn;
        let with_mover = rotation_vector(multiply(mover_turn, multiply(known.turn, conjugate(mover.turn_before))));
        let from_moved = up(known.moved);
        let from_near = up(around.near_moved);
        let mut features = [[0; FEATURES]; 3];
        let mut expected = [0i64; 3];
        for axis in 0..3 {
            let values = [
                known.turned[axis],
                known.turned_before[axis],
                mover.turned[axis] * weight,
                mover.turned_before[axis] * weight,
                around.turned[axis],
                with_mover[axis] * weight,
                from_moved[axis],
                around.turn_error[axis],
                around.near_turned[axis],
                from_near[axis],
                around.turned_before[axis],
                from_moved[axis] * contact,
                around.near_turned_before[axis],
            ];
            features[axis].iter_mut().zip(values).for_each(|(feature, value)| *feature = sixteenths(value));
            let row = first_row + if axis == 2 { body_row::TURN_UP } else { body_row::TURN_LEVEL };
            expected[axis] = self.predict(row, &features[axis]);
        }
        let expected_turn = expected.map(|x| x as f64 / 16.0);
        let own_turn_log2 = vector_log2(sub(known.turned, known.turned_before), 3);
        let sizes = TurnSizes {
            own: own_turn_log2,
            around: around.turn_error_log2,
            moved: vector_log2(known.moved, 1),
            mover: mover.turn_error_log2,
            expected: vector_log2(expected_turn, 1),
            near: around.position_error_log2,
        };
        let predicted = multiply(rotation_of(expected_turn), known.rotation);
        let begin = self.coder.spent();
        let scales = self.code_rotation(
            &body.quantizer,
            body.rotation,
            entity,
            predicted,
            known.rotation,
            (2, coarse),
            first_row + body_row::TURN_SCALE,
            &sizes,
        );
        let middle = self.coder.spent();
        self.spent[bodies.rotation] += middle - begin;
        let rotation = rotation_at(&body.quantizer, body.rotation, self.columns, entity);
        let turn_now = turn(known.rotation, rotation);
        let turned = rotation_vector(turn_now);
        let turn_error = sub(turned, expected_turn);
        let turn_error_log2 = vector_log2(turn_error, 3);
        for axis in 0..3 {
            let row = first_row + if axis == 2 { body_row::TURN_UP } else { body_row::TURN_LEVEL };
            self.observer.mean(
                (self.set, row),
                &self.rows[row],
                &features[axis],
                i64::from(sixteenths(turned[axis])),
                scales,
            );
        }

        // The position.
        let from_mover = sub(known.position, mover.position);
        let from_mover_before = sub(known.position_before, mover.position_before);
        let by_mover = carried(mover.turn, from_mover);
        let by_mover_before = carried(mover.turn_before, from_mover_before);
        let drift = rotate(mover.turn, sub(sub(known.moved, mover.moved_before), by_mover_before));
        let height_now = height_of(rotation, extents);
        let arm = lowest(known.rotation, extents);
        let roll = sub(rotate(turn_now, arm), arm);
        let twist = scale(cross(turn_error, from_mover), weight / PER_RADIAN);
        // What falls goes as far as the square of the time; in a tenth of a second, 1.
        let lag = f64::from(history.lag);
        let fall = lag * lag * (1.0 / 36.0);
        let above = floor.map_or(0.0, |floor| known.position[2] - floor);
        let mut features = [[0; FEATURES]; 3];
        let mut expected = [0i64; 3];
        for axis in 0..3 {
            let values = if axis == 2 {
                [
                    known.moved[2],
                    known.moved_before[2],
                    mover.moved[2] * weight,
                    mover.moved_before[2] * weight,
                    by_mover[2] * weight,
                    0.3 * (above - size).min(3.0 * size) * fall,
                    (above + known.moved[2] - 1.5 * size).min(0.0),
                    around.near_moved[2],
                    around.near_carried[2],
                    (height_now - height) * contact,
                    (height - above) * contact,
                    twist[2],
                    30.0 * fall,
                    around.moved[2],
                    around.moved_before[2],
                    known.moved[2] * contact,
                ]
            } else {
                [
                    known.moved[axis],
                    mover.moved[axis] * weight,
                    mover.moved_before[axis] * weight,
                    by_mover[axis] * weight,
                    by_mover_before[axis] * weight,
                    around.moved[axis],
                    around.moved_before[axis],
                    around.near_moved[axis],
                    around.near_carried[axis],
                    drift[axis] * weight,
                    roll[axis] * contact,
                    twist[axis],
                    known.moved_before[axis],
                    up(turned)[axis] * -contact * size / PER_RADIAN,
                    around.position_error[axis],
                    known.moved[axis] * contact,
                ]
            };
            // In steps of this axis.
            let per_step = 1.0 / body.ratios[axis];
            features[axis].iter_mut().zip(values).for_each(|(feature, value)| *feature = sixteenths(value * per_step));
            let row = first_row + if axis == 2 { body_row::UP } else { body_row::LEVEL };
            expected[axis] = self.predict(row, &features[axis]);
        }
        if floor.is_some() {
            let lowest = sixteenths((height_now - 0.04 * size - above) / body.ratios[2]);
            expected[2] = expected[2].max(i64::from(lowest));
        }
        let mut errors = [0i64; 3];
        let mut moved = [0.0; 3];
        let own_log2 = vector_log2(sub(known.moved, known.moved_before), 3);
        for (nth, axis) in [2, 0, 1].into_iter().enumerate() {
            let mut row = [0; FEATURES];
            row[..9].copy_from_slice(&[
                256,
                self.lag_log2,
                own_log2,
                around.position_error_log2,
                size_log2(if nth == 0 { expected[2] } else { errors[2] }),
                if nth == 2 { size_log2(errors[0]) } else { mover.position_error_log2 },
                turn_error_log2,
                size_log2(i64::from(features[axis][0])),
                size_log2(expected[axis] - i64::from(features[axis][0])),
            ]);
            let scale_row = first_row + body_row::POSITION_SCALE + nth;
            let scale_log2 = self.predict_scale(scale_row, &row);
            let lane = body.position[axis];
            let sign = sign_class(i64::from(features[axis][0]) - expected[axis]);
            let kind = Lane { max: body.max[axis], arithmetic: LaneArithmetic::Linear };
            let group = usize::from(axis == 2);
            let value = self.columns[lane][entity];
            let base = self.base[lane][entity];
            let sign = sign * 4 + ((expected[axis] + 8) & 15) as usize / 4;
            let (value, change) = self.code_lane(group, coarse, scale_log2, sign, expected[axis], (base, &kind), value);
            self.columns[lane][entity] = value;
            moved[axis] = change as f64 / 16.0 * body.ratios[axis];
            errors[axis] = change - expected[axis];
            self.observer.scale((self.set, scale_row), &self.rows[scale_row], &row, size_log2(errors[axis]));
            let mean_row = first_row + if axis == 2 { body_row::UP } else { body_row::LEVEL };
            self.observer.mean((self.set, mean_row), &self.rows[mean_row], &features[axis], change, scale_log2);
        }
        self.spent[bodies.position] += self.coder.spent() - middle;
        let position_error = [0, 1, 2].map(|axis| errors[axis] as f64 / 16.0 * body.ratios[axis]);
        let coded = Coded {
            position: known.position,
            position_before: known.position_before,
            moved,
            moved_before: known.moved,
            turn: turn_now,
            turn_before: known.turn,
            turned,
            turned_before: known.turned,
            position_error,
            turn_error,
            position_error_log2: vector_log2(position_error, 3),
            turn_error_log2,
        };
        match is_mover {
            Some(mover) => scratch.movers[mover].coded = coded,
            None => scratch.neighbours.push(coded),
        }
    }

    fn known(&self, history: &History, body: &BodyPlan, entity: usize) -> Known {
        let position_now = position(body, self.base, entity);
        let rotation = rotation_at(&body.quantizer, body.rotation, self.base, entity);
        let mut known = Known {
            position: position_now,
            position_before: position_now,
            moved: [0.0; 3],
            moved_before: [0.0; 3],
            rotation,
            turn: NO_TURN,
            turned: [0.0; 3],
            turned_before: [0.0; 3],
        };
        if history.status[entity] & NEW != 0 {
            return known;
        }
        let before = history.columns(&self.baselines, 0);
        let position_before = position(body, before, entity);
        known.moved = scale(sub(position_now, position_before), history.per_step[0]);
        known.position_before = sub(position_now, known.moved);
        known.moved_before = known.moved;
        let rotation_before = rotation_at(&body.quantizer, body.rotation, before, entity);
        known.turned = scale(rotation_vector(turn(rotation_before, rotation)), history.per_step[0]);
        known.turn = rotation_of(known.turned);
        known.turned_before = known.turned;
        if history.status[entity] & NEW_BEFORE == 0 {
            let long_before = history.columns(&self.baselines, 1);
            let position_long_before = position(body, long_before, entity);
            known.moved_before = scale(sub(position_before, position_long_before), history.per_step[1]);
            let rotation_long_before = rotation_at(&body.quantizer, body.rotation, long_before, entity);
            known.turned_before =
                scale(rotation_vector(turn(rotation_long_before, rotation_before)), history.per_step[1]);
        }
        known
    }

    /// Codes a rotation that is expected to be `predicted`. Returns the mean of the scales.
    #[expect(clippy::too_many_arguments, reason = "what is known of one rotation")]
    pub(super) fn code_rotation(
        &mut self,
        codes: &RotationCodes,
        lane: usize,
        entity: usize,
        predicted: Quaternion,
        before: Quaternion,
        (group, coarse): (usize, usize),
        first_scale_row: usize,
        sizes: &TurnSizes,
    ) -> i32 {
        // In the schema's order.
        let mut q = [0.0; 4];
        let mut q0 = [0.0; 4];
        for (index, component) in codes.component.into_iter().enumerate() {
            q[component] = predicted[index];
            q0[component] = before[index];
        }
        let dropped = self.code_dropped(&q, self.columns[lane][entity], sizes);
        self.columns[lane][entity] = dropped as u32;
        let sign = if q[dropped] < 0.0 { -1.0 } else { 1.0 };
        let sign_before = if q0[dropped] * q[dropped] < 0.0 { -sign } else { sign };
        let (mut left_predicted, mut left) = (1.0f64, 1.0f64);
        let mut errors_log2 = [0; 3];
        let mut sum = 0;
        let kept = (0..4).filter(|component| *component != dropped);
        for (nth, component) in kept.enumerate() {
            let part = q[component] * sign;
            // What is left for the others is known by now.
            let stretch = libm::sqrt(left.max(1e-4) / left_predicted.max(1e-4));
            let value = (part * stretch).clamp(-FRAC_1_SQRT_2, FRAC_1_SQRT_2);
            let to_code = |value: f64| (value + FRAC_1_SQRT_2) / (2.0 * FRAC_1_SQRT_2) * codes.max_code;
            let mean = i64::from(sixteenths(to_code(value)));
            let reference = i64::from(sixteenths(to_code(q0[component] * sign_before)));
            let mut row = [0; FEATURES];
            row[..8].copy_from_slice(&[
                256,
                sizes.own,
                sizes.around,
                if nth > 0 { errors_log2[0] } else { sizes.moved },
                if nth > 1 { errors_log2[1] } else { sizes.mover },
                sizes.expected,
                sizes.near,
                self.lag_log2,
            ]);
            let scale_row = first_scale_row + nth;
            let scale_log2 = self.predict_scale(scale_row, &row);
            sum += scale_log2;
            let kind = Lane { max: codes.max_code as u32, arithmetic: LaneArithmetic::Linear };
            let told = self.columns[lane + 1 + nth][entity];
            let sign_context = sign_class(reference - mean) * 4 + ((mean + 8) & 15) as usize / 4;
            let (code, change) = self.code_lane(group, coarse, scale_log2, sign_context, mean, (0, &kind), told);
            self.columns[lane + 1 + nth][entity] = code;
            errors_log2[nth] = size_log2(change - mean);
            self.observer.scale((self.set, scale_row), &self.rows[scale_row], &row, errors_log2[nth]);
            let actual = f64::from(code) / codes.max_code * (2.0 * FRAC_1_SQRT_2) - FRAC_1_SQRT_2;
            left -= actual * actual;
            left_predicted -= part * part;
        }
        sum / 3
    }

    /// Which component is dropped: the largest that is predicted, or the next, and so on.
    fn code_dropped(&mut self, predicted: &Quaternion, told: u32, sizes: &TurnSizes) -> usize {
        let mut order = [0usize, 1, 2, 3];
        // Insertion keeps the order of equal components.
        for end in 1..4 {
            let mut place = end;
            while place > 0 && predicted[order[place]].abs() > predicted[order[place - 1]].abs() {
                order.swap(place, place - 1);
                place -= 1;
            }
        }
        let told = order.iter().position(|component| *component as u32 == told).unwrap_or(0);
        let gap = |first: usize, unit: f64| {
            ((predicted[order[first]].abs() - predicted[order[first + 1]].abs()) * unit) as u64
        };
        let gap_log2 = (super::fixed::log2(gap(0, 400.0) + 1) >> 7).min(20) as usize;
        let near = ((sizes.near + 256) >> 7).clamp(0, 15) as usize;
        const LIMIT: u8 = 250;
        let first = &mut self.counters[self.plan.at.largest + gap_log2 * 16 + near];
        if !first.code(self.coder, told > 0, LIMIT) {
            return order[0];
        }
        let second = &mut self.counters[self.plan.at.second + gap(1, 100.0).min(31) as usize];
        if !second.code(self.coder, told > 1, LIMIT) {
            return order[1];
        }
        order[2 + usize::from(self.counters[self.plan.at.third].code(self.coder, told > 2, LIMIT))]
    }
}

/// What the scale of a rotation's residuals depends on: logarithms in 1/256.
pub(super) struct TurnSizes {
    pub(super) own: i32,
    pub(super) around: i32,
    pub(super) moved: i32,
    pub(super) mover: i32,
    pub(super) expected: i32,
    pub(super) near: i32,
}

/// log₂ of a vector's length, or of the root of a mean square.
pub(super) fn vector_log2(v: Vector, mean: u64) -> i32 {
    let square = |x: f64| {
        let x = i64::from(sixteenths(x));
        (x * x) as u64
    };
    length_log2(square(v[0]) + square(v[1]) + square(v[2]), mean)
}

/// In steps of the first axis, in the order level, level, up.
fn position(body: &BodyPlan, columns: &[Vec<u32>], entity: usize) -> Vector {
    let at = |axis: usize| f64::from(columns[body.position[axis]][entity]) * body.ratios[axis];
    [at(0), at(1), at(2)]
}

/// The unit quaternion of a rotation's lanes.
pub(super) fn rotation_at(codes: &RotationCodes, lane: usize, columns: &[Vec<u32>], entity: usize) -> Quaternion {
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
        q[dropped] = libm::sqrt(1.0 - squares);
    } else {
        let length = libm::sqrt(squares);
        q = q.map(|value| value / length);
    }
    let [a, b, c, d] = codes.component;
    [q[a], q[b], q[c], q[d]]
}

/// How high the centre of a box is that lies on the floor.
fn height_of(rotation: Quaternion, extents: Vector) -> f64 {
    let [a, b, c] = axes(rotation);
    extents[0] * a[2].abs() + extents[1] * b[2].abs() + extents[2] * c[2].abs()
}

/// From the lowest vertex, or the middle of the lowest edge or face, to the centre.
fn lowest(rotation: Quaternion, extents: Vector) -> Vector {
    let mut sum = [0.0; 3];
    for (axis, extent) in axes(rotation).into_iter().zip(extents) {
        sum = add(sum, scale(axis, extent * (axis[2] * 15.0).clamp(-1.0, 1.0)));
    }
    sum
}

/// Sums up the nearest bodies that were coded.
fn around(scratch: &Scratch, bodies: &Bodies, known: &Known, mover: &Coded) -> Around {
    let mut found = [(0.0, 0); NEAREST];
    let count = scratch.neighbours.nearest(known.position, &mut found);
    let mut around = Around::default();
    if count == 0 {
        around.position_error_log2 = mover.position_error_log2;
        around.turn_error_log2 = mover.turn_error_log2;
        return around;
    }
    let soft = 1.38 * f64::from(bodies.size);
    let soft_squared = soft * soft;
    let (mut all, mut steep_all) = (0.0, 0.0);
    let (mut position_error_log2, mut turn_error_log2) = (0.0, 0.0);
    for (distance_squared, index) in &found[..count] {
        let other = &scratch.neighbours.coded[*index as usize];
        let weight = soft_squared / (distance_squared + soft_squared);
        let steep = weight * weight * weight;
        all += weight;
        steep_all += steep;
        around.moved = add(around.moved, scale(other.moved, weight));
        around.moved_before = add(around.moved_before, scale(other.moved_before, weight));
        around.turned = add(around.turned, scale(other.turned, weight));
        around.turned_before = add(around.turned_before, scale(other.turned_before, weight));
        around.turn_error = add(around.turn_error, scale(other.turn_error, weight));
        around.position_error = add(around.position_error, scale(other.position_error, weight));
        around.near_turned_before = add(around.near_turned_before, scale(other.turned_before, steep));
        around.near_moved = add(around.near_moved, scale(other.moved, steep));
        around.near_turned = add(around.near_turned, scale(other.turned, steep));
        let carries = carried(other.turn, sub(known.position, other.position));
        around.near_carried = add(around.near_carried, scale(carries, steep));
        position_error_log2 += weight * f64::from(other.position_error_log2);
        turn_error_log2 += weight * f64::from(other.turn_error_log2);
    }
    // Less sure of what is far.
    let sure = all / (all + 0.02);
    for sum in [
        &mut around.moved,
        &mut around.moved_before,
        &mut around.turned,
        &mut around.turned_before,
        &mut around.turn_error,
        &mut around.position_error,
    ] {
        *sum = scale(*sum, sure / all);
    }
    for sum in
        [&mut around.near_moved, &mut around.near_turned_before, &mut around.near_turned, &mut around.near_carried]
    {
        *sum = scale(*sum, sure / steep_all);
    }
    around.position_error_log2 = (position_error_log2 / all) as i32;
    around.turn_error_log2 = (turn_error_log2 / all) as i32;
    around
}
