//! What each predictor looks at, by name. Each `row` puts the names into the order that the
//! specification gives them. `spec/CODEC.md`, sections 12.6 and 12.7.

use super::fixed::{FEATURES, LOG_BITS, Row, sixteenths};

/// In a row of means: the change as it was before.
pub(super) const OWN: usize = 0;

/// In a row of scales: the feature that is always the same.
pub(super) const BIAS: usize = 0;

/// The value of that feature: one octave.
const OCTAVE: i32 = 1 << LOG_BITS;

/// A row of these features; those behind them are 0.
#[inline]
fn row<const N: usize>(features: [i32; N]) -> Row {
    let mut row = [0; FEATURES];
    row[..N].copy_from_slice(&features);
    row
}

/// A row of these features, each times `factor`, as sixteenths.
#[inline]
fn row_of_sixteenths<const N: usize>(features: [f64; N], factor: f64) -> Row {
    let mut row = [0; FEATURES];
    row.iter_mut().zip(features).for_each(|(place, feature)| *place = sixteenths(feature * factor));
    row
}

/// How a body turns about one axis. Section 12.6, "Rotation".
pub(super) struct TurnFeatures {
    pub(super) own: f64,
    pub(super) own_before: f64,
    pub(super) mover: f64,
    pub(super) mover_before: f64,
    pub(super) around: f64,
    /// As it would turn together with the mover.
    pub(super) with_mover: f64,
    /// As it would roll.
    pub(super) rolled: f64,
    pub(super) around_error: f64,
    pub(super) near: f64,
    /// As it would roll with the motion of what is near.
    pub(super) near_rolled: f64,
    pub(super) around_before: f64,
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
            self.around,
            self.with_mover,
            self.rolled,
            self.around_error,
            self.near,
            self.near_rolled,
            self.around_before,
            self.rolled_on_floor,
            self.near_before,
        ];
        row_of_sixteenths(features, 1.0)
    }
}

/// How a body moves along one level axis. Section 12.6, "Position".
pub(super) struct LevelFeatures {
    pub(super) own: f64,
    pub(super) mover: f64,
    pub(super) mover_before: f64,
    /// As the mover would carry it.
    pub(super) carried: f64,
    pub(super) carried_before: f64,
    pub(super) around: f64,
    pub(super) around_before: f64,
    pub(super) near: f64,
    /// As what is near would carry it.
    pub(super) near_carried: f64,
    /// How it moved against the mover.
    pub(super) drift: f64,
    /// As its turn rolls it over its lowest point.
    pub(super) roll: f64,
    /// As the mover moves it by the error of its turn.
    pub(super) twist: f64,
    pub(super) own_before: f64,
    /// As a ball of its size rolls by its turn.
    pub(super) rolled: f64,
    pub(super) around_error: f64,
    pub(super) own_on_floor: f64,
}

impl LevelFeatures {
    /// The features are in steps of the position's first axis; `per_step` of the predicted axis'
    /// steps are one of these.
    #[inline]
    pub(super) fn row(&self, per_step: f64) -> Row {
        let features = [
            self.own,
            self.mover,
            self.mover_before,
            self.carried,
            self.carried_before,
            self.around,
            self.around_before,
            self.near,
            self.near_carried,
            self.drift,
            self.roll,
            self.twist,
            self.own_before,
            self.rolled,
            self.around_error,
            self.own_on_floor,
        ];
        row_of_sixteenths(features, per_step)
    }
}

/// How a body moves up or down. Section 12.6, "Position".
pub(super) struct UpFeatures {
    pub(super) own: f64,
    pub(super) own_before: f64,
    pub(super) mover: f64,
    pub(super) mover_before: f64,
    /// As the mover would carry it.
    pub(super) carried: f64,
    /// As it falls from above the floor, or is lifted out of it.
    pub(super) fall_to_floor: f64,
    /// How far it would be below where it lies.
    pub(super) below_rest: f64,
    pub(super) near: f64,
    /// As what is near would carry it.
    pub(super) near_carried: f64,
    /// How much higher a box lies as it is turned now.
    pub(super) raised: f64,
    /// How far it is below the height at which it lies.
    pub(super) sunk: f64,
    /// As the mover moves it by the error of its turn.
    pub(super) twist: f64,
    /// As it falls freely.
    pub(super) fall: f64,
    pub(super) around: f64,
    pub(super) around_before: f64,
    pub(super) own_on_floor: f64,
}

impl UpFeatures {
    /// The features are in steps of the position's first axis; `per_step` of the predicted axis'
    /// steps are one of these.
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
            self.around,
            self.around_before,
            self.own_on_floor,
        ];
        row_of_sixteenths(features, per_step)
    }
}

/// What the scale of a position's residual depends on: logarithms in 1/256. Section 12.6,
/// "Position".
pub(super) struct PositionSizes {
    pub(super) lag: i32,
    /// How its motion changed before.
    pub(super) own: i32,
    pub(super) around_error: i32,
    /// What is expected of the axis up; for the axes after it, what its prediction missed.
    pub(super) up: i32,
    /// What the mover's prediction missed; for the last axis, what that of the level axis before it
    /// did.
    pub(super) mover_error: i32,
    pub(super) turn_error: i32,
    /// The axis' own motion before.
    pub(super) moved: i32,
    /// By how much the prediction differs from that.
    pub(super) correction: i32,
}

impl PositionSizes {
    #[inline]
    pub(super) fn row(&self) -> Row {
        row([
            OCTAVE,
            self.lag,
            self.own,
            self.around_error,
            self.up,
            self.mover_error,
            self.turn_error,
            self.moved,
            self.correction,
        ])
    }
}

/// What the scale of a rotation's residuals depends on: logarithms in 1/256. Section 12.6, "Coding
/// a rotation".
pub(super) struct TurnSizes {
    /// How its turning changed before.
    pub(super) own: i32,
    pub(super) around_error: i32,
    pub(super) moved: i32,
    pub(super) mover_error: i32,
    /// The turn that is expected.
    pub(super) expected: i32,
    /// What predictions of positions around it missed.
    pub(super) near_error: i32,
    pub(super) lag: i32,
}

impl TurnSizes {
    /// For the `nth` component, where the predictions of those before missed by `errors`: these
    /// then stand in the places of motion and mover.
    #[inline]
    pub(super) fn row(&self, nth: usize, errors: &[i32; 3]) -> Row {
        row([
            OCTAVE,
            self.own,
            self.around_error,
            if nth > 0 { errors[0] } else { self.moved },
            if nth > 1 { errors[1] } else { self.mover_error },
            self.expected,
            self.near_error,
            self.lag,
        ])
    }
}

/// How a lane of numbers changes, or how a rotation that is not of a body turns about an axis: in
/// sixteenths. Section 12.7.
pub(super) struct FieldFeatures {
    pub(super) own: i32,
    pub(super) own_before: i32,
    /// The same of the last entity of which the field was told, and what its prediction missed.
    pub(super) their_change: i32,
    pub(super) their_error: i32,
}

impl FieldFeatures {
    #[inline]
    pub(super) fn row(&self) -> Row {
        row([self.own, self.own_before, self.their_change, self.their_error])
    }
}

/// What the scale of a number's residual depends on: logarithms in 1/256. Section 12.7.
pub(super) struct NumberSizes {
    pub(super) own: i32,
    /// By how much that differs from the change before.
    pub(super) acceleration: i32,
    /// What the prediction of the lane before missed.
    pub(super) lane_before: i32,
    pub(super) their_error: i32,
    pub(super) expected: i32,
    pub(super) lag: i32,
}

impl NumberSizes {
    #[inline]
    pub(super) fn row(&self) -> Row {
        row([
            OCTAVE,
            self.own,
            self.acceleration,
            self.lane_before,
            self.their_error,
            self.expected,
            self.lag,
        ])
    }
}
