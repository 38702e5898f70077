//! The part of the schema that coding newcomers needs: the counters of each field, and the heading.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem::discriminant;
use core::ops::Range;

use super::field::{DIFFERENCES, NewcomerField, SECTORS_LOG2};
use crate::Schema;
use crate::entropy::MANTISSAS;
use crate::quantize::FloatLimits;
use crate::schema::{EntityKind, Field, FieldKind, Lane, any_element};

/// The index of the counter that codes whether a newcomer has an origin.
pub(super) const ORIGIN: usize = 0;
/// The index of the first counter of the origin's number.
pub(super) const NUMBER: usize = 1;
/// The number of counters of each kind that belong to no field.
pub(super) const SHARED: usize = NUMBER + DIFFERENCES + MANTISSAS;

/// The part of the schema that coding newcomers needs.
#[derive(Clone, Debug, Default)]
pub(in crate::snapshot::adaptive) struct NewcomerPlan {
    /// The fields of all kinds, in the schema's order.
    pub(super) fields: Vec<NewcomerField>,
    pub(super) kinds: Vec<NewcomerKind>,
    /// The total number of counters of newcomers.
    pub(in crate::snapshot::adaptive) counters: usize,
}

/// The fields of one kind, and the kind's heading.
#[derive(Clone, Debug)]
pub(super) struct NewcomerKind {
    /// The indices of the kind's fields in the schema.
    pub(super) fields: Range<usize>,
    /// The lane of an angle that every entity of the kind has, taken as the direction in which the
    /// entity faces.
    pub(super) heading: Option<(usize, Lane)>,
}

/// Returns whether the field is an angle that every entity has.
fn is_heading(field: &Field) -> bool {
    let is_angle = |axes: &[FloatLimits]| axes.len() == 1 && axes[0].wraps();
    matches!(&field.kind, FieldKind::Floats(axes) if is_angle(axes)) && field.condition.is_none()
}

/// Returns the counters of a kind that belong to no field.
pub(in crate::snapshot::adaptive) fn kind_counters(kind: usize) -> Range<usize> {
    kind * SHARED..(kind + 1) * SHARED
}

impl NewcomerPlan {
    /// Returns the counters of a field of the schema, which other fields may share.
    pub(in crate::snapshot::adaptive) fn field_counters(&self, field: usize) -> Range<usize> {
        self.fields[field].counters.clone()
    }

    pub(in crate::snapshot::adaptive) fn new(schema: &Schema) -> Self {
        let (fields, lanes) = (schema.fields(), schema.lanes());
        let kinds = schema.kinds().iter().map(|kind| {
            let heading = fields[kind.fields()].iter().find(|field| is_heading(field));
            let heading = heading.map(|field| (field.lanes().start, lanes[field.lanes().start]));
            NewcomerKind { fields: kind.fields(), heading }
        });
        let kinds: Vec<NewcomerKind> = kinds.collect();
        let has_heading = kinds.iter().any(|kind| kind.heading.is_some());
        let counters = SHARED * kinds.len();
        let mut plan = Self { fields: Vec::new(), kinds, counters };
        for kind in schema.kinds() {
            // Maps the name that a field has in all elements of an array to the fields of that name
            // that own counters.
            let mut known: BTreeMap<String, Vec<usize>> = BTreeMap::new();
            for index in kind.fields() {
                let field = &fields[index];
                let kinds = lanes[field.lanes()].to_vec();
                let is_place = matches!(field.kind, FieldKind::Floats(_));
                let has_sectors = is_place && has_heading && !is_heading(field);
                let mut made = NewcomerField {
                    lanes: field.lanes(),
                    conditions: field.conditions().clone(),
                    rotation: match field.kind {
                        FieldKind::Rotation(rotation) => Some(rotation),
                        _ => None,
                    },
                    has_differences: !schema.differenced(field).0.is_empty(),
                    are_alike: matches!(
                        field.kind,
                        FieldKind::Raw { .. } | FieldKind::Bytes { .. }
                    ),
                    is_place,
                    least_id: match &field.kind {
                        FieldKind::Integer(limits) if kinds.len() == 1 && limits.step() == 1 => {
                            Some(limits.min())
                        }
                        _ => None,
                    },
                    origins: origins(schema, index),
                    origin_sets: if has_sectors { kinds.len() << SECTORS_LOG2 } else { 1 },
                    kinds,
                    counters: 0..0,
                };
                let owners = known.entry(any_element(&field.name)).or_default();
                let is_same = |owner: &&usize| {
                    discriminant(&fields[**owner].kind) == discriminant(&field.kind)
                        && plan.fields[**owner].kinds == made.kinds
                };
                if let Some(owner) = owners.iter().find(is_same) {
                    made.counters = plan.fields[*owner].counters.clone();
                } else {
                    made.counters = plan.counters..plan.counters + made.own_counters();
                    plan.counters = made.counters.end;
                    owners.push(index);
                }
                plan.fields.push(made);
            }
        }
        plan
    }
}

/// Returns, for each kind, the first lane of the field that has the same name and limits as the
/// field at `index`. In the kind of that field, this is the field itself.
fn origins(schema: &Schema, index: usize) -> Vec<Option<usize>> {
    let fields = schema.fields();
    let field = &fields[index];
    let same = |kind: &EntityKind| {
        if kind.fields().contains(&index) {
            return Some(field.lanes().start);
        }
        let is_same = |other: &&Field| other.name == field.name && other.kind == field.kind;
        fields[kind.fields()].iter().find(is_same).map(|other| other.lanes().start)
    };
    schema.kinds().iter().map(same).collect()
}
