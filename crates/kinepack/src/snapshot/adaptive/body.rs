//! Predicts rigid bodies from their own motion, the nearest mover, their neighbours, and the floor.
//! `spec/CODEC.md`, section 12.6, defines the features.

use alloc::vec::Vec;

use super::bodies::{Bodies, class};
use super::coding::Coding;
use super::counters::{Residuals, body_group};
use super::features::{LevelFeatures, OWN, PositionSizes, TurnFeatures, TurnSizes, UpFeatures};
use super::lanes::{Expected, LaneAt, sign_context};
use super::neighbours::CodedBody;
use super::numbers::{FEATURES, Row, mean_of, sixteenths, size_log2, steps, vector_log2};
use super::plan::BodyPlan;
use super::predictor::Predictor;
use super::rotation::rotation_at;
use super::rows::BodyRows;
use super::scratch::Scratch;
use super::surroundings::{Surroundings, surroundings};
use crate::entropy::Coder;
use crate::geometry::{
    PER_RADIAN, Quaternion, UP, Vector, add, axes, carried, conjugate, cross, multiply, rotate,
    rotation_of, rotation_vector, scale, sub, turn,
};
use crate::schema::{Lane, LaneArithmetic};
use crate::snapshot::status::{MOVED, NEW};

/// A body touches the floor if its centre is less than `TOUCH_MARGIN` sizes above the height at
/// which it rests. See `spec/CODEC.md`, section 12.6, "Class".
const TOUCH_MARGIN: f64 = 0.16;

/// An edge steeper than 1 / `EDGE_SLOPE` touches the floor with its end, and a more level one with
/// its middle. See `spec/CODEC.md`, section 12.4, "arm".
const EDGE_SLOPE: f64 = 15.0;

// The constants below are those of `spec/CODEC.md`, section 12.6, "Position". Lengths are in half
// edges, `ext` in the specification.

/// The distance of a fall grows with the square of its duration. This factor makes that square 1 at
/// 6 ticks, a tenth of a second.
const FALL_PER_SQUARED_TICK: f64 = 1.0 / 36.0;

/// The distance that a body falls in 6 ticks, as a share of its height above its resting height.
/// Heights above `MAX_FALL_HEIGHT` count as `MAX_FALL_HEIGHT`.
const FALL_OF_HEIGHT: f64 = 0.3;
const MAX_FALL_HEIGHT: f64 = 3.0;

/// The distance that a body in free fall falls in 6 ticks, in steps.
const FREE_FALL: f64 = 30.0;

/// The height below which the floor is expected to stop a falling body.
const REST_HEIGHT: f64 = 1.5;

/// The maximum depth of the predicted position below the floor.
const MAX_SINK: f64 = 0.04;

/// A body's motion before the packet, which both sides know.
struct Motion {
    position: Vector,
    position_before: Vector,
    /// The body's motion in the last step and in the step before it, scaled to the lag.
    moved: Vector,
    moved_before: Vector,
    rotation: Quaternion,
    /// The body's turn in the last step, scaled to the lag, as a quaternion and as a vector.
    turn: Quaternion,
    turned: Vector,
    turned_before: Vector,
}

/// The inputs of a body's prediction, except the body's own values that are already coded.
struct Inputs {
    motion: Motion,
    /// The nearest mover and its weight. If there is no mover, `mover` is at rest in the body's own
    /// position.
    mover: CodedBody,
    weight: f64,
    surroundings: Surroundings,
    /// The rows of the body's class, and the coarse class, which selects counters.
    rows: BodyRows,
    coarse_class: usize,
    /// Half the edges of the body's box, in the order level, level, up.
    extents: Vector,
    /// Half an edge of a typical body.
    size: f64,
    /// The centre's height above the floor, if there is a floor. `height` is the height that the
    /// centre has if the box lies on the floor with its present rotation.
    above: Option<f64>,
    height: f64,
    /// 1.0 if the body touches the floor, and 0.0 otherwise.
    contact: f64,
}

/// A body's coded turn, and the error of its prediction.
struct Turned {
    rotation: Quaternion,
    turn: Quaternion,
    vector: Vector,
    error: Vector,
    error_log2: i32,
}

impl Inputs {
    /// Returns the turn of a body that rolls by the motion `v`.
    fn rolled(&self, v: Vector) -> Vector {
        [-v[1] / self.size * PER_RADIAN, v[0] / self.size * PER_RADIAN, 0.0]
    }

    /// Computes the features of the position's coordinates. `height_now` is the centre's height if
    /// the box lies on the floor with the coded rotation. `lag` is the number of ticks from the
    /// baseline to the packet.
    #[inline]
    fn position_features(
        &self,
        body: &BodyPlan,
        turned: &Turned,
        height_now: f64,
        lag: f64,
    ) -> [Row; 3] {
        let Self { motion, mover, surroundings, .. } = self;
        let Self { weight, extents, size, height, contact, .. } = *self;
        let from_mover = sub(motion.position, mover.position);
        let from_mover_before = sub(motion.position_before, mover.position_before);
        let by_mover = carried(mover.turn, from_mover);
        let by_mover_before = carried(mover.turn_before, from_mover_before);
        let drift = rotate(mover.turn, sub(sub(motion.moved, mover.moved_before), by_mover_before));
        let arm = lowest(motion.rotation, extents);
        let roll = sub(rotate(turned.turn, arm), arm);
        let twist = scale(cross(turned.error, from_mover), weight / PER_RADIAN);
        let fall = lag * lag * FALL_PER_SQUARED_TICK;
        let above = self.above.unwrap_or(0.0);
        let rolled = self.rolled(turned.vector);
        // Returns the number of an axis' steps in one step of the first axis.
        let per_step = |axis: usize| 1.0 / body.ratios[axis];
        let mut features = [[0.0; FEATURES]; 3];
        for axis in [0, 1] {
            let level = LevelFeatures {
                own: motion.moved[axis],
                mover: mover.moved[axis] * weight,
                mover_before: mover.moved_before[axis] * weight,
                carried: by_mover[axis] * weight,
                carried_before: by_mover_before[axis] * weight,
                neighbours: surroundings.moved[axis],
                neighbours_before: surroundings.moved_before[axis],
                near: surroundings.near_moved[axis],
                near_carried: surroundings.near_carried[axis],
                drift: drift[axis] * weight,
                roll: roll[axis] * contact,
                twist: twist[axis],
                own_before: motion.moved_before[axis],
                rolled: rolled[axis] * -contact * size / PER_RADIAN,
                neighbours_error: surroundings.position_error[axis],
                own_on_floor: motion.moved[axis] * contact,
            };
            features[axis] = level.row(per_step(axis));
        }
        let up = UpFeatures {
            own: motion.moved[UP],
            own_before: motion.moved_before[UP],
            mover: mover.moved[UP] * weight,
            mover_before: mover.moved_before[UP] * weight,
            carried: by_mover[UP] * weight,
            fall_to_floor: FALL_OF_HEIGHT * (above - size).min(MAX_FALL_HEIGHT * size) * fall,
            below_rest: (above + motion.moved[UP] - REST_HEIGHT * size).min(0.0),
            near: surroundings.near_moved[UP],
            near_carried: surroundings.near_carried[UP],
            raised: (height_now - height) * contact,
            sunk: (height - above) * contact,
            twist: twist[UP],
            fall: FREE_FALL * fall,
            neighbours: surroundings.moved[UP],
            neighbours_before: surroundings.moved_before[UP],
            own_on_floor: motion.moved[UP] * contact,
        };
        features[UP] = up.row(per_step(UP));
        features
    }
}

impl<C: Coder, P: Predictor> Coding<'_, C, P> {
    /// Codes a body: the rotation, then the position.
    pub(super) fn code_body(&mut self, scratch: &mut Scratch, body: &BodyPlan, entity: usize) {
        let Some(bodies) = &self.model.bodies else { return };
        let index = self.past.index(entity);
        let is_mover = scratch.movers.iter().position(|mover| mover.entity as usize == index);
        let inputs = self.inputs(scratch, bodies, body, entity, is_mover.is_some());
        let begin = self.coder.spent();
        let turned = self.code_turn(body, entity, &inputs);
        let middle = self.coder.spent();
        let (moved, position_error) = self.code_position(body, entity, &inputs, &turned);
        self.spent.add_field(body.rotation_field, middle - begin);
        self.spent.add_field(body.position_field, self.coder.spent() - middle);
        let motion = inputs.motion;
        let coded = CodedBody {
            position: motion.position,
            position_before: motion.position_before,
            moved,
            moved_before: motion.moved,
            turn: turned.turn,
            turn_before: motion.turn,
            turned: turned.vector,
            turned_before: motion.turned,
            position_error,
            turn_error: turned.error,
            position_error_log2: vector_log2(position_error, 3.0),
            turn_error_log2: turned.error_log2,
        };
        match is_mover {
            Some(mover) => scratch.movers[mover].coded = coded,
            None => scratch.neighbours.push(coded),
        }
    }

    fn inputs(
        &self,
        scratch: &Scratch,
        bodies: &Bodies,
        body: &BodyPlan,
        entity: usize,
        is_mover: bool,
    ) -> Inputs {
        let status = self.past.status(entity);
        let motion = self.motion(body, entity);
        let kind = bodies.kind(self.past.ids()[entity].0);
        let nearest = scratch.nearest.mover(self.past.index(entity));
        let (mover, distance_squared) = match (is_mover, nearest) {
            (false, Some((mover, distance))) => (scratch.movers[mover as usize].coded, distance),
            _ => (
                CodedBody {
                    position: motion.position,
                    position_before: motion.position_before,
                    ..CodedBody::default()
                },
                0.0,
            ),
        };
        let has_mover = !is_mover && nearest.is_some();
        let reach = f64::from(bodies.reach);
        let weight = {
            let share = distance_squared / (reach * reach);
            if has_mover { 1.0 / (1.0 + share * share) } else { 0.0 }
        };
        let surroundings =
            surroundings(&scratch.neighbours, f64::from(bodies.size), motion.position, &mover);
        let is_touched = body.touched.is_none_or(|lane| self.past.base()[lane][entity] != 0);
        let class = if is_mover {
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
        let coarse_class = match class {
            class::MOVER => 0,
            class::RESTED | class::NEW => 3,
            class::FAR => 2,
            _ => 1,
        };
        let extents = body.axes.map(|axis| f64::from(kind.half_extents[axis]));
        let has_size = extents != [0.0; 3];
        let floor = self.plan.floor.filter(|_| has_size);
        let height = height_of(motion.rotation, extents);
        let margin = f64::from(bodies.size) * TOUCH_MARGIN;
        let above = floor.map(|floor| motion.position[UP] - floor);
        let is_touching = above.is_some_and(|above| above - height < margin);
        let class = class + if is_touching { bodies.classes() / 2 } else { 0 };
        Inputs {
            motion,
            mover,
            weight,
            surroundings,
            rows: BodyRows::new(class),
            coarse_class,
            extents,
            size: if has_size { extents[0] } else { f64::from(bodies.size) },
            above,
            height,
            contact: if is_touching { 1.0 } else { 0.0 },
        }
    }

    fn code_turn(&mut self, body: &BodyPlan, entity: usize, inputs: &Inputs) -> Turned {
        let Inputs { motion, mover, surroundings, .. } = inputs;
        let Inputs { weight, rows, coarse_class, contact, .. } = *inputs;
        let with_mover = rotation_vector(multiply(
            mover.turn,
            multiply(motion.turn, conjugate(mover.turn_before)),
        ));
        let from_moved = inputs.rolled(motion.moved);
        let from_near = inputs.rolled(surroundings.near_moved);
        let (mut features, mut expected) = ([[0.0; FEATURES]; 3], [0; 3]);
        for axis in 0..3 {
            let turn = TurnFeatures {
                own: motion.turned[axis],
                own_before: motion.turned_before[axis],
                mover: mover.turned[axis] * weight,
                mover_before: mover.turned_before[axis] * weight,
                neighbours: surroundings.turned[axis],
                with_mover: with_mover[axis] * weight,
                rolled: from_moved[axis],
                neighbours_error: surroundings.turn_error[axis],
                near: surroundings.near_turned[axis],
                near_rolled: from_near[axis],
                neighbours_before: surroundings.turned_before[axis],
                rolled_on_floor: from_moved[axis] * contact,
                near_before: surroundings.near_turned_before[axis],
            };
            features[axis] = turn.row();
            expected[axis] = self.predictor.predict_mean(rows.turn(axis), &features[axis]);
        }
        let expected_turn = expected.map(steps);
        let own_turn_log2 = vector_log2(sub(motion.turned, motion.turned_before), 3.0);
        let sizes = TurnSizes {
            own: own_turn_log2,
            neighbours_error: surroundings.turn_error_log2,
            moved: vector_log2(motion.moved, 1.0),
            mover_error: mover.turn_error_log2,
            expected: vector_log2(expected_turn, 1.0),
            near_error: surroundings.position_error_log2,
            lag: self.past.lag_log2(),
        };
        let predicted = multiply(rotation_of(expected_turn), motion.rotation);
        let scales = self.code_rotation(
            &body.quantizer,
            body.rotation,
            entity,
            predicted,
            motion.rotation,
            Residuals { group: body_group::ROTATION, coarse_class },
            rows.turn_scales(),
            &sizes,
        );
        let rotation = rotation_at(&body.quantizer, body.rotation, self.values.columns(), entity);
        let turn = turn(motion.rotation, rotation);
        let vector = rotation_vector(turn);
        let error = sub(vector, expected_turn);
        for axis in 0..3 {
            self.predictor.observe_mean(
                rows.turn(axis),
                &features[axis],
                i64::from(sixteenths(vector[axis])),
                scales,
            );
        }

        Turned { rotation, turn, vector, error, error_log2: vector_log2(error, 3.0) }
    }

    /// Codes the position of a body. Returns the distance that the body moved, and the error of the
    /// prediction.
    fn code_position(
        &mut self,
        body: &BodyPlan,
        entity: usize,
        inputs: &Inputs,
        turned: &Turned,
    ) -> (Vector, Vector) {
        let Inputs { motion, mover, surroundings, .. } = inputs;
        let Inputs { rows, size, .. } = *inputs;
        let height_now = height_of(turned.rotation, inputs.extents);
        let lag = f64::from(self.past.lag());
        let features = inputs.position_features(body, turned, height_now, lag);
        let mut expected = [0; 3];
        for axis in [0, 1, UP] {
            expected[axis] = self.predictor.predict_mean(rows.position(axis), &features[axis]);
        }
        if let Some(above) = inputs.above {
            let lowest = sixteenths((height_now - MAX_SINK * size - above) / body.ratios[UP]);
            expected[UP] = expected[UP].max(i64::from(lowest));
        }
        let mut errors = [0i64; 3];
        let mut moved = [0.0; 3];
        let own_log2 = vector_log2(sub(motion.moved, motion.moved_before), 3.0);
        for (nth, axis) in [UP, 0, 1].into_iter().enumerate() {
            let own = mean_of(features[axis][OWN]);
            let sizes = PositionSizes {
                lag: self.past.lag_log2(),
                own: own_log2,
                neighbours_error: surroundings.position_error_log2,
                up: size_log2(if nth == 0 { expected[UP] } else { errors[UP] }),
                mover_error: if nth == 2 {
                    size_log2(errors[0])
                } else {
                    mover.position_error_log2
                },
                turn_error: turned.error_log2,
                moved: size_log2(own),
                correction: size_log2(expected[axis] - own),
            };
            let sizes = sizes.row();
            let scale_row = rows.position_scale(nth);
            let scale_log2 = self.predictor.predict_scale(scale_row, &sizes);
            let lane = body.position[axis];
            let kind = Lane { max: body.max[axis], arithmetic: LaneArithmetic::Linear };
            let group = if axis == UP { body_group::UP } else { body_group::LEVEL };
            let (base, shift) = (self.past.base()[lane][entity], self.shift(lane, entity));
            let mean = expected[axis];
            let sign = sign_context(own, mean, (base, shift));
            let lane_at = LaneAt { lane, entity, base, kind: &kind, shift };
            let residuals = Residuals { group, coarse_class: inputs.coarse_class };
            let (_, change) =
                self.code_lane(residuals, Expected { mean, scale_log2, sign }, lane_at);
            moved[axis] = steps(change) * body.ratios[axis];
            errors[axis] = change - mean;
            self.predictor.observe_scale(scale_row, &sizes, scale_log2, size_log2(errors[axis]));
            self.predictor.observe_mean(rows.position(axis), &features[axis], change, scale_log2);
        }
        (moved, [0, 1, 2].map(|axis| steps(errors[axis]) * body.ratios[axis]))
    }

    fn motion(&self, body: &BodyPlan, entity: usize) -> Motion {
        let now = position(body, self.past.base(), entity);
        let at = |columns: &[Vec<u32>]| position(body, columns, entity);
        let change = |from, to, per_step| scale(sub(to, from), per_step);
        let known = (entity, self.past.status(entity));
        let [moved, moved_before] = self.past.recent_changes(known.1, now, at, change);
        let rotation = rotation_at(&body.quantizer, body.rotation, self.past.base(), entity);
        let [turned, turned_before] =
            self.recent_turns(&body.quantizer, body.rotation, known, rotation);
        Motion {
            position: now,
            position_before: sub(now, moved),
            moved,
            moved_before,
            rotation,
            turn: rotation_of(turned),
            turned,
            turned_before,
        }
    }
}

/// Returns a body's position in the space of all bodies, in the order level, level, up.
pub(super) fn position(body: &BodyPlan, columns: &[Vec<u32>], entity: usize) -> Vector {
    let at = |axis: usize| body.coordinate(axis, columns[body.position[axis]][entity]);
    [at(0), at(1), at(2)]
}

/// Returns the height of a box's centre above the floor if the box lies on it.
fn height_of(rotation: Quaternion, extents: Vector) -> f64 {
    let [a, b, c] = axes(rotation);
    extents[0] * a[UP].abs() + extents[1] * b[UP].abs() + extents[2] * c[UP].abs()
}

/// Returns the vector from a box's lowest vertex, or the middle of its lowest edge or face, to the
/// centre.
fn lowest(rotation: Quaternion, extents: Vector) -> Vector {
    let mut sum = [0.0; 3];
    for (axis, extent) in axes(rotation).into_iter().zip(extents) {
        sum = add(sum, scale(axis, extent * (axis[UP] * EDGE_SLOPE).clamp(-1.0, 1.0)));
    }
    sum
}
