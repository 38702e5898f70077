//! Lays out the rows of weights in a set, and holds their values before training. See
//! `spec/CODEC.md`, sections 12.8 and 12.9.

use core::ops::Range;

use super::numbers::{FEATURES, Row};
use crate::geometry::UP;

/// The number of classes of a field outside the body: without history, at rest, just begun to move,
/// moving.
pub(super) const FIELD_CLASSES: usize = 4;

/// The rows of a class of bodies. The rows of means come first: for the level axes, for the axis
/// up, and for turns about these axes. The rows of scales follow.
#[derive(Clone, Copy, Debug)]
pub(super) struct BodyRows {
    first: usize,
}

impl BodyRows {
    const LEVEL: usize = 0;
    const UP: usize = 1;
    const TURN_LEVEL: usize = 2;
    const TURN_UP: usize = 3;
    const POSITION_SCALE: usize = 4;
    const TURN_SCALE: usize = Self::POSITION_SCALE + 3;

    /// The number of rows of one class.
    pub(super) const COUNT: usize = Self::TURN_SCALE + 3;

    /// Returns the rows of a set's `classes` classes of bodies, with their tasks.
    #[cfg(feature = "training")]
    pub(super) fn tasks(classes: usize) -> impl Iterator<Item = (usize, BodyTask)> {
        (0..classes * Self::COUNT).map(|row| match row % Self::COUNT {
            Self::LEVEL => (row, BodyTask::Level),
            Self::UP => (row, BodyTask::Up),
            Self::TURN_LEVEL | Self::TURN_UP => (row, BodyTask::Turn),
            Self::POSITION_SCALE..Self::TURN_SCALE => (row, BodyTask::PositionScale),
            _ => (row, BodyTask::TurnScale),
        })
    }

    pub(super) fn new(class: usize) -> Self {
        Self { first: class * Self::COUNT }
    }

    /// Writes the untrained weights into the rows of a set that has `classes` classes of bodies.
    pub(super) fn fill_untrained(rows: &mut [Row], classes: usize) {
        fill_untrained(rows, Self::COUNT, classes, Self::POSITION_SCALE);
    }

    /// Returns the row of the mean of the position's axis.
    #[inline]
    pub(super) fn position(self, axis: usize) -> usize {
        self.first + if axis == UP { Self::UP } else { Self::LEVEL }
    }

    /// Returns the row of the mean of the turn about an axis.
    #[inline]
    pub(super) fn turn(self, axis: usize) -> usize {
        self.first + if axis == UP { Self::TURN_UP } else { Self::TURN_LEVEL }
    }

    /// Returns the row of the scale of the position's `nth` lane in the order of coding.
    #[inline]
    pub(super) fn position_scale(self, nth: usize) -> usize {
        self.first + Self::POSITION_SCALE + nth
    }

    /// Returns the first row of the three scales of the rotation's components.
    #[inline]
    pub(super) fn turn_scales(self) -> usize {
        self.first + Self::TURN_SCALE
    }
}

/// The quantity that a row of a body predicts, which determines its features.
#[cfg(feature = "training")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyTask {
    Level,
    Up,
    Turn,
    PositionScale,
    TurnScale,
}

/// The rows of a field of numbers: a mean and a scale for each class and lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct NumberRows {
    first: usize,
    lanes: usize,
}

impl NumberRows {
    const MEAN: usize = 0;
    const SCALE: usize = 1;
    const PER_LANE: usize = 2;

    pub(super) fn new(first: usize, lanes: usize) -> Self {
        Self { first, lanes }
    }

    pub(super) fn count(self) -> usize {
        FIELD_CLASSES * self.lanes * Self::PER_LANE
    }

    /// Returns all rows of the field.
    pub(super) fn all(self) -> Range<usize> {
        self.first..self.first + self.count()
    }

    /// Returns pairs of ranges of rows: the rows of a lane, and those of the same lane of another
    /// field. If the other field has more lanes, the last lane is the source of them all.
    pub(super) fn pairs(self, to: Self) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
        let lanes =
            (0..FIELD_CLASSES).flat_map(move |class| (0..to.lanes).map(move |lane| (class, lane)));
        let rows = |first: usize| first..first + Self::PER_LANE;
        lanes.map(move |(class, lane)| {
            let source = self.lane_rows(class, lane.min(self.lanes - 1));
            (rows(source), rows(to.lane_rows(class, lane)))
        })
    }

    /// Writes the untrained weights into the field's rows of a set.
    pub(super) fn fill_untrained(self, rows: &mut [Row]) {
        fill_untrained(
            &mut rows[self.first..],
            Self::PER_LANE,
            FIELD_CLASSES * self.lanes,
            Self::SCALE,
        );
    }

    #[inline]
    fn lane_rows(self, class: usize, lane: usize) -> usize {
        self.first + (class * self.lanes + lane) * Self::PER_LANE
    }

    #[inline]
    pub(super) fn mean(self, class: usize, lane: usize) -> usize {
        self.lane_rows(class, lane) + Self::MEAN
    }

    #[inline]
    pub(super) fn scale(self, class: usize, lane: usize) -> usize {
        self.lane_rows(class, lane) + Self::SCALE
    }
}

/// The rows of a rotation outside the body: for each class three means, three scales, and two
/// unused rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct RotationRows {
    first: usize,
}

impl RotationRows {
    const MEAN: usize = 0;
    const SCALE: usize = 3;
    const PER_CLASS: usize = 8;

    /// The number of rows of one field.
    pub(super) const COUNT: usize = FIELD_CLASSES * Self::PER_CLASS;

    pub(super) fn new(first: usize) -> Self {
        Self { first }
    }

    /// Returns all rows of the field.
    pub(super) fn all(self) -> Range<usize> {
        self.first..self.first + Self::COUNT
    }

    /// Writes the untrained weights into the field's rows of a set.
    pub(super) fn fill_untrained(self, rows: &mut [Row]) {
        fill_untrained(&mut rows[self.first..], Self::PER_CLASS, FIELD_CLASSES, Self::SCALE);
    }

    /// Returns the row of the mean of the turn about an axis.
    #[inline]
    pub(super) fn mean(self, class: usize, axis: usize) -> usize {
        self.first + class * Self::PER_CLASS + Self::MEAN + axis
    }

    /// Returns the first row of the three scales of the components.
    #[inline]
    pub(super) fn scales(self, class: usize) -> usize {
        self.first + class * Self::PER_CLASS + Self::SCALE
    }
}

/// The first weights of an untrained row for a mean, which expects 0.9 of the last change. See
/// `spec/CODEC.md`, section 12.9.
const UNTRAINED_MEAN: [f32; 1] = [3686.0 / 4096.0];

/// The first weights of an untrained row for a scale: 1, 0.4 and 0.4. See `spec/CODEC.md`, section
/// 12.9.
const UNTRAINED_SCALE: [f32; 3] = [1.0, 1638.0 / 4096.0, 1638.0 / 4096.0];

/// Writes the untrained weights of each class. Of the `per_class` rows of a class, the first
/// `means` are for means, and the others, including unused rows, for scales.
fn fill_untrained(rows: &mut [Row], per_class: usize, classes: usize, means: usize) {
    let (mut mean, mut scale) = ([0.0; FEATURES], [0.0; FEATURES]);
    mean[..UNTRAINED_MEAN.len()].copy_from_slice(&UNTRAINED_MEAN);
    scale[..UNTRAINED_SCALE.len()].copy_from_slice(&UNTRAINED_SCALE);
    for class in rows.chunks_mut(per_class).take(classes) {
        class[..means].fill(mean);
        class[means..].fill(scale);
    }
}
