//! Where rows of weights stand in a set, and what they are before training. `spec/CODEC.md`,
//! sections 12.8 and 12.9.

use alloc::vec;
use alloc::vec::Vec;

use super::fixed::{FEATURES, Row};
use super::geometry::UP;
use super::model::Bodies;
use super::plan::{FieldCoding, Plan};

/// Classes of a field that is not of a body: without history, at rest, begun to move, moving.
pub(super) const FIELD_CLASSES: usize = 4;

/// The rows of a class of bodies: means of level axes, of up, of turns about these; then scales.
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

    /// Rows of one class.
    pub(super) const COUNT: usize = Self::TURN_SCALE + 3;

    pub(super) fn of(class: usize) -> Self {
        Self { first: class * Self::COUNT }
    }

    /// Of the position's axis.
    #[inline]
    pub(super) fn position(self, axis: usize) -> usize {
        self.first + if axis == UP { Self::UP } else { Self::LEVEL }
    }

    /// Of the turn about the axis.
    #[inline]
    pub(super) fn turn(self, axis: usize) -> usize {
        self.first + if axis == UP { Self::TURN_UP } else { Self::TURN_LEVEL }
    }

    /// The scale of the `nth` of the position's lanes as coded.
    #[inline]
    pub(super) fn position_scale(self, nth: usize) -> usize {
        self.first + Self::POSITION_SCALE + nth
    }

    /// The first of three scales of the rotation's components.
    #[inline]
    pub(super) fn turn_scales(self) -> usize {
        self.first + Self::TURN_SCALE
    }
}

/// The rows of a field of numbers: for each class and lane a mean and a scale.
#[derive(Clone, Copy, Debug)]
pub(super) struct NumberRows {
    first: usize,
    lanes: usize,
}

impl NumberRows {
    const MEAN: usize = 0;
    const SCALE: usize = 1;
    const OF_LANE: usize = 2;

    pub(super) fn new(first: usize, lanes: usize) -> Self {
        Self { first, lanes }
    }

    pub(super) fn count(self) -> usize {
        FIELD_CLASSES * self.lanes * Self::OF_LANE
    }

    #[inline]
    fn of_lane(self, class: usize, lane: usize) -> usize {
        self.first + (class * self.lanes + lane) * Self::OF_LANE
    }

    #[inline]
    pub(super) fn mean(self, class: usize, lane: usize) -> usize {
        self.of_lane(class, lane) + Self::MEAN
    }

    #[inline]
    pub(super) fn scale(self, class: usize, lane: usize) -> usize {
        self.of_lane(class, lane) + Self::SCALE
    }
}

/// The rows of a rotation that is not of a body: for each class three means, three scales, and two
/// that are not used.
#[derive(Clone, Copy, Debug)]
pub(super) struct RotationRows {
    first: usize,
}

impl RotationRows {
    const MEAN: usize = 0;
    const SCALE: usize = 3;
    const OF_CLASS: usize = 8;

    /// Rows of one field.
    pub(super) const COUNT: usize = FIELD_CLASSES * Self::OF_CLASS;

    pub(super) fn new(first: usize) -> Self {
        Self { first }
    }

    /// Of the turn about the axis.
    #[inline]
    pub(super) fn mean(self, class: usize, axis: usize) -> usize {
        self.first + class * Self::OF_CLASS + Self::MEAN + axis
    }

    /// The first of three scales of the components.
    #[inline]
    pub(super) fn scales(self, class: usize) -> usize {
        self.first + class * Self::OF_CLASS + Self::SCALE
    }
}

/// The first weights of rows of means before training: things go on as they did, by 0.9.
/// Section 12.9.
const FIRST_MEAN: [i32; 1] = [58976];

/// The first weights of rows of scales before training: 1 and twice 0.4. Section 12.9.
const FIRST_SCALE: [i32; 3] = [65536, 26208, 26208];

/// The weights of a set that nobody trained.
pub(super) fn first_rows(plan: &Plan, bodies: Option<&Bodies>) -> Vec<Row> {
    let mut rows = vec![[0; FEATURES]; plan.rows];
    let (mut mean, mut scale) = ([0; FEATURES], [0; FEATURES]);
    mean[..FIRST_MEAN.len()].copy_from_slice(&FIRST_MEAN);
    scale[..FIRST_SCALE.len()].copy_from_slice(&FIRST_SCALE);
    // In each class the means stand before the scales; what is not used is as these.
    let mut fill = |first: usize, of_class: usize, classes: usize, means: usize| {
        for class in rows[first..].chunks_mut(of_class).take(classes) {
            class[..means].fill(mean);
            class[means..].fill(scale);
        }
    };
    if let Some(bodies) = bodies {
        fill(0, BodyRows::COUNT, bodies.classes(), BodyRows::POSITION_SCALE);
    }
    for field in &plan.fields {
        match field.coding {
            FieldCoding::Numbers { rows: NumberRows { first, lanes }, .. } => {
                fill(first, NumberRows::OF_LANE, FIELD_CLASSES * lanes, NumberRows::SCALE);
            }
            FieldCoding::Rotation { rows: RotationRows { first }, .. } => {
                fill(first, RotationRows::OF_CLASS, FIELD_CLASSES, RotationRows::SCALE);
            }
            FieldCoding::Choice { .. } => {}
        }
    }
    rows
}
