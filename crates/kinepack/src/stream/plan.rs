//! Lists the parts of a record, in the order in which they are coded.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use crate::Schema;
use crate::hash::Fnv1a;
use crate::quantize::{FloatLimits, SmallestThree};
use crate::rle::MAX_LANES;
use crate::schema::{Conditions, Field, FieldKind, Kinds, Lane, LaneRules, Role};

/// Lanes that are coded together.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) kind: PartKind,
    /// The index of the part's first lane.
    pub(super) first: usize,
    /// The number of the part's lanes.
    pub(super) count: usize,
    /// The index of the first lane of the part's velocities, which are coded before the part.
    pub(super) velocity: Option<usize>,
    /// The conditions under which the part's field is present. The selectors in them are coded
    /// before the part.
    pub(super) conditions: Conditions,
}

/// The parts of a record, in coding order.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) lanes: Vec<Lane>,
    kinds: Arc<Kinds>,
    pub(super) parts: Vec<Part>,
    /// The index of the part that is the time stamp.
    pub(super) clock: Option<usize>,
    /// The code of the value 0 in each lane.
    pub(super) zeros: Vec<f64>,
}

impl Plan {
    /// Makes the parts in schema order. If the level predicts, the time stamp comes first, and each
    /// field follows its velocity.
    pub(super) fn new(schema: &Schema, is_predicted: bool) -> Self {
        let mut parts = parts(schema);
        let mut clock = None;
        if is_predicted {
            for part in &mut parts {
                part.velocity = velocity(schema, part.first);
            }
            let time = time_stamp(schema).map(|field| field.lanes().start);
            parts.sort_by_key(|part| (Some(part.first) != time, part.velocity.is_some()));
            clock = time.map(|_| 0);
        }
        let (lanes, kinds) = (schema.lanes().to_vec(), Arc::clone(schema.kinds_arc()));
        Self { lanes, kinds, parts, clock, zeros: zeros(schema) }
    }

    /// The rules for the values that the lanes may have.
    pub(super) fn rules(&self) -> &LaneRules {
        self.kinds.list[0].rules()
    }
}

impl Plan {
    /// Adds the pairs of fields and their velocities to a hash.
    pub(super) fn hash_into(&self, schema: &Schema, hasher: &mut Fnv1a) {
        for field in schema.fields() {
            // A field without lanes begins at the same lane as the next field, so `contains` must
            // exclude it.
            let first = self.parts.iter().find(|part| field.lanes().contains(&part.first));
            let velocity = first.and_then(|part| part.velocity).map_or(0, |lane| lane as u32 + 1);
            hasher.add(&velocity.to_le_bytes());
        }
    }
}

/// Finds the field that the rates of the other fields refer to: the first numeric field with the
/// role `Clock` that is always present.
fn time_stamp(schema: &Schema) -> Option<&Field> {
    let is_numbers = |field: &Field| {
        matches!(field.kind, FieldKind::Floats(_) | FieldKind::Integer(_) | FieldKind::Raw { .. })
    };
    let is_time = |field: &&Field| {
        field.role == Role::Clock
            && is_numbers(field)
            && !field.lanes().is_empty()
            && field.condition.is_none()
    };
    schema.fields().iter().find(is_time)
}

/// Finds the lane with the velocity of `lane`, unless that velocity has a velocity itself. A time
/// stamp is coded before all other fields, so it has no velocity.
fn velocity(schema: &Schema, lane: usize) -> Option<usize> {
    let owner = schema.fields().iter().find(|field| field.lanes().contains(&lane))?;
    if time_stamp(schema).is_some_and(|time| time.lanes() == owner.lanes()) {
        return None;
    }
    let is_float = |field: &Field| matches!(field.kind, FieldKind::Floats(_));
    let is_velocity_of = |field: &Field, owner: &Field| {
        let of = field.velocity_of.as_ref();
        of == Some(&owner.name)
            && is_float(field)
            && is_float(owner)
            && field.lanes().len() == owner.lanes().len()
    };
    let velocity = schema.fields().iter().find(|field| is_velocity_of(field, owner))?;
    let moves_itself = schema.fields().iter().any(|field| is_velocity_of(field, velocity));
    (!moves_itself).then(|| velocity.lanes().start + lane - owner.lanes().start)
}

fn zeros(schema: &Schema) -> Vec<f64> {
    let zero = |axis: &FloatLimits| {
        Some(-axis.min() / axis.step()).filter(|code| code.abs() <= u32::MAX.into())
    };
    let of_field = |field: &Field| match &field.kind {
        FieldKind::Floats(axes) => axes.iter().map(|axis| zero(axis).unwrap_or(0.0)).collect(),
        _ => vec![0.0; field.lanes().len()],
    };
    schema.fields().iter().flat_map(of_field).collect()
}

#[derive(Clone, Copy, Debug)]
pub(super) enum PartKind {
    /// The part has 1 to 4 numbers.
    Numbers,
    /// The part has the index of the dropped component and three numbers.
    Rotation(SmallestThree),
    /// The part has one lane whose value is not coded as a difference.
    Choice,
    /// The part has 1 to [`MAX_LANES`] bytes, one per lane.
    Bytes,
}

/// The maximum number of numbers in one part, because a class covers no more.
pub(super) const MAX_NUMBERS: usize = 4;

/// Makes the parts of the fields, in order. A field with more lanes than a part may have is split
/// into several parts.
fn parts(schema: &Schema) -> Vec<Part> {
    let mut parts = Vec::new();
    for field in schema.fields() {
        let (kind, most) = match field.kind {
            FieldKind::Floats(_) | FieldKind::Raw { .. } => (PartKind::Numbers, MAX_NUMBERS),
            // The two lanes of a large integer do not share a class.
            FieldKind::Integer(_) => (PartKind::Numbers, 1),
            FieldKind::Rotation(rotation) => (PartKind::Rotation(rotation), 4),
            FieldKind::Bool | FieldKind::Choice { .. } => (PartKind::Choice, 1),
            FieldKind::Bytes { .. } => (PartKind::Bytes, MAX_LANES),
        };
        let lanes = field.lanes();
        for first in lanes.clone().step_by(most) {
            parts.push(Part {
                kind,
                first,
                count: most.min(lanes.end - first),
                velocity: None,
                conditions: field.conditions().clone(),
            });
        }
    }
    parts
}

impl Part {
    /// Returns the part's items in a list with one item for each lane of a record.
    #[inline]
    pub(super) fn slice<'a, T>(&self, lanes: &'a [T]) -> &'a [T] {
        &lanes[self.lanes()]
    }

    /// Returns the indices of the part's lanes.
    #[inline]
    pub(super) fn lanes(&self) -> Range<usize> {
        self.first..self.first + self.count
    }

    /// Like [`slice`](Self::slice), but mutable.
    #[inline]
    pub(super) fn slice_mut<'a, T>(&self, lanes: &'a mut [T]) -> &'a mut [T] {
        &mut lanes[self.lanes()]
    }
}
