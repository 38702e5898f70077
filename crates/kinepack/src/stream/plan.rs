//! What a record consists of, in the order in which it is told.

use alloc::vec::Vec;

use crate::rle::MAX_LANES;
use crate::{FieldKind, Schema, SmallestThree};

/// Lanes that are told together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) kind: PartKind,
    /// The first of its lanes.
    pub(super) first: usize,
    /// How many there are.
    pub(super) count: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum PartKind {
    /// 1 to 4 numbers.
    Numbers,
    /// The dropped component and three numbers.
    Rotation(SmallestThree),
    /// One lane without differences.
    Choice,
    /// 1 to [`MAX_LANES`] bytes, one a lane.
    Bytes,
}

/// The most numbers in one part: a class holds for no more.
pub(super) const MAX_NUMBERS: usize = 4;

/// The parts of the fields, in their order. Fields of more lanes than a part may have are several.
pub(super) fn parts(schema: &Schema) -> Vec<Part> {
    let mut parts = Vec::new();
    for field in schema.fields() {
        let (kind, most) = match field.kind {
            FieldKind::Floats(_) | FieldKind::Raw { .. } => (PartKind::Numbers, MAX_NUMBERS),
            // The halves of one number have no class in common.
            FieldKind::Integer(_) => (PartKind::Numbers, 1),
            FieldKind::Rotation(rotation) => (PartKind::Rotation(rotation), 4),
            FieldKind::Bool | FieldKind::Choice { .. } => (PartKind::Choice, 1),
            FieldKind::Bytes { .. } => (PartKind::Bytes, MAX_LANES),
        };
        let lanes = field.lanes();
        for first in lanes.clone().step_by(most) {
            parts.push(Part { kind, first, count: most.min(lanes.end - first) });
        }
    }
    parts
}

impl Part {
    /// Its lanes among those of the schema, or their values among those of a record.
    #[inline]
    pub(super) fn of<'a, T>(&self, lanes: &'a [T]) -> &'a [T] {
        &lanes[self.first..self.first + self.count]
    }

    #[inline]
    pub(super) fn of_mut<'a>(&self, record: &'a mut [u32]) -> &'a mut [u32] {
        &mut record[self.first..self.first + self.count]
    }
}
