//! The features of each predictor, by name. Each `row` method puts the features in the order of the
//! specification, `spec/CODEC.md`, sections 12.6 and 12.7.
//!
//! `own` is the last change before the packet, scaled to the lag. All other features are changes in
//! this packet. `mover` is the change of the nearest mover, `neighbours` the mean over the
//! neighbours, and `near` a mean that favours the nearest of them. `_before` marks the change one
//! step earlier, and `_error` the error of a prediction.

use super::numbers::{FEATURES, LOG_BITS, Row, feature};

/// The position of `own` in a row of features for a mean.
pub(super) const OWN: usize = 0;

/// The position of the constant feature in a row for a scale.
pub(super) const BIAS: usize = 0;

/// The value of the constant feature: one octave.
const OCTAVE: i32 = 1 << LOG_BITS;

/// Makes a row of these logarithms, padded with zeros.
#[inline]
fn logarithms<const N: usize>(features: [i32; N]) -> Row {
    let mut row = [0.0; FEATURES];
    row.iter_mut().zip(features).for_each(|(place, feature)| *place = feature as f32);
    row
}

/// Makes a row of these features times `factor`, padded with zeros.
#[inline]
fn changes<const N: usize>(features: [f64; N], factor: f64) -> Row {
    let mut row = [0.0; FEATURES];
    row.iter_mut().zip(features).for_each(|(place, value)| *place = feature(value * factor));
    row
}

/// The features of a body's turn about one axis. See `spec/CODEC.md`, section 12.6, "Rotation".
pub(super) struct TurnFeatures {
    pub(super) own: f64,
    pub(super) own_before: f64,
    pub(super) mover: f64,
    pub(super) mover_before: f64,
    pub(super) neighbours: f64,
    /// The turn if the body turns together with the mover.
    pub(super) with_mover: f64,
    /// The turn if the body rolls along its own last motion.
    pub(super) rolled: f64,
    pub(super) neighbours_error: f64,
    pub(super) near: f64,
    /// The turn if the body rolls along the motion of its near neighbours.
    pub(super) near_rolled: f64,
    pub(super) neighbours_before: f64,
    pub(super) rolled_on_floor: f64,
    pub(super) near_before: f64,
}

impl TurnFeatures {
    #[inline]
    pub(super) fn row(&self) -> Row {
        let features = [
            self.own,
            self.own_before,
            self.mover,
            self.mover_before,
            self.neighbours,
            self.with_mover,
            self.rolled,
            self.neighbours_error,
            self.near,
            self.near_rolled,
            self.neighbours_before,
            self.rolled_on_floor,
            self.near_before,
        ];
        changes(features, 1.0)
    }
}

/// The features of a body's motion along one level axis. See `spec/CODEC.md`, section 12.6,
/// "Position".
pub(super) struct LevelFeatures {
    pub(super) own: f64,
    pub(super) mover: f64,
    pub(super) mover_before: f64,
    /// The motion if the mover carries the body.
    pub(super) carried: f64,
    pub(super) carried_before: f64,
    pub(super) neighbours: f64,
    pub(super) neighbours_before: f64,
    pub(super) near: f64,
    /// The motion if the body's near neighbours carry it.
    pub(super) near_carried: f64,
    /// The body's motion relative to the mover.
    pub(super) drift: f64,
    /// The motion if the body rolls over its lowest point as far as it turned.
    pub(super) roll: f64,
    /// The motion that the error of the predicted turn would cause if the body turned about the
    /// mover.
    pub(super) twist: f64,
    pub(super) own_before: f64,
    /// The motion of a ball of the body's size that rolls by as much as the body turned.
    pub(super) rolled: f64,
    pub(super) neighbours_error: f64,
    pub(super) own_on_floor: f64,
}

impl LevelFeatures {
    /// Converts the features from steps of the position's first axis to steps of the predicted
    /// axis, and makes their row. `per_step` steps of the predicted axis make one step of the
    /// first.
    #[inline]
    pub(super) fn row(&self, per_step: f64) -> Row {
        let features = [
            self.own,
            self.mover,
            self.mover_before,
            self.carried,
            self.carried_before,
            self.neighbours,
            self.neighbours_before,
            self.near,
            self.near_carried,
            self.drift,
            self.roll,
            self.twist,
            self.own_before,
            self.rolled,
            self.neighbours_error,
            self.own_on_floor,
        ];
        changes(features, per_step)
    }
}

/// The features of a body's motion up or down. See `spec/CODEC.md`, section 12.6, "Position".
pub(super) struct UpFeatures {
    pub(super) own: f64,
    pub(super) own_before: f64,
    pub(super) mover: f64,
    pub(super) mover_before: f64,
    /// The motion if the mover carries the body.
    pub(super) carried: f64,
    /// The motion if the body falls to the floor, or is lifted out of it.
    pub(super) fall_to_floor: f64,
    /// The height of the body above its resting height after the motion, if that is negative;
    /// otherwise 0.
    pub(super) below_rest: f64,
    pub(super) near: f64,
    /// The motion if the body's near neighbours carry it.
    pub(super) near_carried: f64,
    /// The distance by which the new rotation raises the centre of the lying box.
    pub(super) raised: f64,
    /// The distance of the body below the height at which it lies on the floor.
    pub(super) sunk: f64,
    /// The motion that the error of the predicted turn would cause if the body turned about the
    /// mover.
    pub(super) twist: f64,
    /// The motion in free fall.
    pub(super) fall: f64,
    pub(super) neighbours: f64,
    pub(super) neighbours_before: f64,
    pub(super) own_on_floor: f64,
}

impl UpFeatures {
    /// Converts the features from steps of the position's first axis to steps of the predicted
    /// axis, and makes their row. `per_step` steps of the predicted axis make one step of the
    /// first.
    #[inline]
    pub(super) fn row(&self, per_step: f64) -> Row {
        let features = [
            self.own,
            self.own_before,
            self.mover,
            self.mover_before,
            self.carried,
            self.fall_to_floor,
            self.below_rest,
            self.near,
            self.near_carried,
            self.raised,
            self.sunk,
            self.twist,
            self.fall,
            self.neighbours,
            self.neighbours_before,
            self.own_on_floor,
        ];
        changes(features, per_step)
    }
}

/// The features of the scale of a position's residual, as logarithms in 1/256. See `spec/CODEC.md`,
/// section 12.6, "Position".
pub(super) struct PositionSizes {
    pub(super) lag: i32,
    /// The difference between the body's motion in the last step and in the step before.
    pub(super) own: i32,
    pub(super) neighbours_error: i32,
    /// The expected change along the axis up. For the level axes, which are coded later, `up` is
    /// the error of that expected change.
    pub(super) up: i32,
    /// The error of the mover's prediction. For the last axis, `mover_error` is the error of the
    /// level axis before it.
    pub(super) mover_error: i32,
    pub(super) turn_error: i32,
    /// The last motion along the predicted axis.
    pub(super) moved: i32,
    /// The difference between the predicted motion and `moved`.
    pub(super) correction: i32,
}

impl PositionSizes {
    #[inline]
    pub(super) fn row(&self) -> Row {
        logarithms([
            OCTAVE,
            self.lag,
            self.own,
            self.neighbours_error,
            self.up,
            self.mover_error,
            self.turn_error,
            self.moved,
            self.correction,
        ])
    }
}

/// The features of the scales of a rotation's residuals, as logarithms in 1/256. See
/// `spec/CODEC.md`, section 12.6, "Coding a rotation".
pub(super) struct TurnSizes {
    /// The difference between the body's turn in the last step and in the step before.
    pub(super) own: i32,
    pub(super) neighbours_error: i32,
    pub(super) moved: i32,
    pub(super) mover_error: i32,
    /// The expected turn.
    pub(super) expected: i32,
    /// The errors of the neighbours' predicted positions.
    pub(super) near_error: i32,
    pub(super) lag: i32,
}

impl TurnSizes {
    /// Makes the row for the `nth` component. The `errors` of the components coded before it
    /// replace `moved` and `mover_error`.
    #[inline]
    pub(super) fn row(&self, nth: usize, errors: &[i32; 3]) -> Row {
        logarithms([
            OCTAVE,
            self.own,
            self.neighbours_error,
            if nth > 0 { errors[0] } else { self.moved },
            if nth > 1 { errors[1] } else { self.mover_error },
            self.expected,
            self.near_error,
            self.lag,
        ])
    }
}

/// The features of a lane of numbers, or of an axis of a rotation outside a body. See
/// `spec/CODEC.md`, section 12.7.
pub(super) struct FieldFeatures {
    pub(super) own: f64,
    pub(super) own_before: f64,
    /// The change of the last entity whose field was coded, and the error of that change's
    /// prediction.
    pub(super) previous_change: f64,
    pub(super) previous_error: f64,
}

impl FieldFeatures {
    #[inline]
    pub(super) fn row(&self) -> Row {
        changes([self.own, self.own_before, self.previous_change, self.previous_error], 1.0)
    }
}

/// The features of the scale of a number's residual, as logarithms in 1/256. See `spec/CODEC.md`,
/// section 12.7.
pub(super) struct NumberSizes {
    pub(super) own: i32,
    /// The difference between the last change and the one before it.
    pub(super) acceleration: i32,
    /// The error of the field's previous lane.
    pub(super) lane_before: i32,
    pub(super) previous_error: i32,
    pub(super) expected: i32,
    pub(super) lag: i32,
}

impl NumberSizes {
    #[inline]
    pub(super) fn row(&self) -> Row {
        logarithms([
            OCTAVE,
            self.own,
            self.acceleration,
            self.lane_before,
            self.previous_error,
            self.expected,
            self.lag,
        ])
    }
}
