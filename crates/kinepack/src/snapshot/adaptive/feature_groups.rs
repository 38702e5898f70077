//! Groups of the features of rigid bodies. Training can leave groups out, to measure what each is
//! worth. `spec/CODEC.md`, section 12.6, lists the features in this order.

use alloc::vec;
use alloc::vec::Vec;

use super::numbers::{FEATURES, Row};
use super::rows::{BodyRows, BodyTask};

/// A group of the features from which the adaptive level predicts rigid bodies.
///
/// [`Training::without`](crate::training::Training::without) leaves groups out, so that the size of
/// packets shows what they are worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeatureGroup {
    /// Motion one step earlier, from which the prediction sees accelerations.
    Before,
    /// The nearest mover: its motion, what it carries, and its error.
    Mover,
    /// Means over the neighbours: their motion and their errors.
    Neighbours,
    /// Means that favour the nearest neighbours: their motion, and what they carry.
    Near,
    /// Motion of a body that rolls.
    Rolling,
    /// Motion of a body that falls to the floor, lies on it or tips over.
    Floor,
}

impl FeatureGroup {
    /// All groups.
    pub const ALL: [Self; 6] =
        [Self::Before, Self::Mover, Self::Neighbours, Self::Near, Self::Rolling, Self::Floor];

    /// The group's name, in lower case.
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

    /// The group's features in the rows of a task.
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

/// The features that remain without these groups: 1 for each that remains, else 0. A set has `rows`
/// rows, beginning with those of `classes` classes of bodies.
pub(super) fn remaining(rows: usize, classes: usize, without: &[FeatureGroup]) -> Vec<Row> {
    let mut remaining = vec![[1.0; FEATURES]; rows];
    for (row, task) in BodyRows::tasks(classes) {
        for feature in without.iter().flat_map(|group| group.members(task)) {
            remaining[row][*feature] = 0.0;
        }
    }
    remaining
}
