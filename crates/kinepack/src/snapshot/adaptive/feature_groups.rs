//! Groups of the features of rigid bodies. Training can leave groups out, to measure how much each
//! group saves. `spec/CODEC.md`, section 12.6, lists the features in this order.

use alloc::vec;
use alloc::vec::Vec;

use super::numbers::{FEATURES, Row};
use super::rows::{BodyRows, BodyTask};

/// A group of the features from which the adaptive level predicts rigid bodies.
///
/// [`Training::without`](crate::training::Training::without) leaves groups out, so that the size of
/// packets shows how much the groups save.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeatureGroup {
    /// The motion one step earlier, which shows accelerations.
    Before,
    /// The nearest mover: its motion, the motion of what it carries, and the error of its
    /// prediction.
    Mover,
    /// Means over the neighbours: of their motion and of the errors of their predictions.
    Neighbours,
    /// Means that favour the nearest neighbours: of their motion, and of the motion of a body that
    /// they carry.
    Near,
    /// The motion of a body that rolls.
    Rolling,
    /// The motion of a body that falls to the floor, lies on it or tips over.
    Floor,
}

impl FeatureGroup {
    /// All groups.
    pub const ALL: [Self; 6] =
        [Self::Before, Self::Mover, Self::Neighbours, Self::Near, Self::Rolling, Self::Floor];

    /// Returns the group's name, in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::Mover => "mover",
            Self::Neighbours => "neighbours",
            Self::Near => "near",
            Self::Rolling => "rolling",
            Self::Floor => "floor",
        }
    }

    /// Returns the group's features in the rows of a task.
    fn members(self, task: BodyTask) -> &'static [usize] {
        use BodyTask::{Level, PositionScale, Turn, TurnScale, Up};
        match (self, task) {
            (Self::Before, Level) => &[2, 4, 6, 12],
            (Self::Before, Up) => &[1, 3, 14],
            (Self::Before, Turn) => &[1, 3, 10, 12],
            (Self::Mover, Level) => &[1, 2, 3, 4, 9, 11],
            (Self::Mover, Up) => &[2, 3, 4, 11],
            (Self::Mover, Turn) => &[2, 3, 5],
            (Self::Mover, PositionScale) => &[5],
            (Self::Mover, TurnScale) => &[4],
            (Self::Neighbours, Level) => &[5, 6, 14],
            (Self::Neighbours, Up) => &[13, 14],
            (Self::Neighbours, Turn) => &[4, 7, 10],
            (Self::Neighbours, PositionScale) => &[3],
            (Self::Neighbours, TurnScale) => &[2, 6],
            (Self::Near, Level | Up) => &[7, 8],
            (Self::Near, Turn) => &[8, 9, 12],
            (Self::Rolling, Level) => &[10, 13],
            (Self::Rolling, Turn) => &[6, 9, 11],
            (Self::Floor, Level) => &[15],
            (Self::Floor, Up) => &[5, 6, 9, 10, 12, 15],
            (Self::Floor, Turn) => &[11],
            _ => &[],
        }
    }
}

/// Returns 1 for each feature that remains without these groups, and 0 for all other features. A
/// set has `rows` rows, and the rows of `classes` classes of bodies come first.
pub(super) fn remaining(rows: usize, classes: usize, without: &[FeatureGroup]) -> Vec<Row> {
    let mut remaining = vec![[1.0; FEATURES]; rows];
    for (row, task) in BodyRows::tasks(classes) {
        for feature in without.iter().flat_map(|group| group.members(task)) {
            remaining[row][*feature] = 0.0;
        }
    }
    remaining
}
