//! What coding newcomers needs of the schema: the counters of each field, and the heading.

use alloc::string::String;
use alloc::vec::Vec;
use core::mem::discriminant;

use super::SHARED;
use super::field::{NewcomerField, SECTORS_LOG2};
use crate::quantize::FloatLimits;
use crate::schema::{Field, FieldKind, Lane, LaneArithmetic};

/// What coding newcomers needs of the schema.
#[derive(Clone, Debug, Default)]
pub(in crate::snapshot::adaptive) struct NewcomerPlan {
    /// In the schema's order.
    pub(super) fields: Vec<NewcomerField>,
    /// The lane of an angle that every entity has: where it faces.
    pub(super) heading: Option<(usize, Lane)>,
    /// The number of counters.
    pub(in crate::snapshot::adaptive) counters: usize,
}

/// Whether the field is an angle that every entity has.
fn is_heading(field: &Field) -> bool {
    let is_angle = |axes: &[FloatLimits]| axes.len() == 1 && axes[0].wraps();
    matches!(&field.kind, FieldKind::Floats(axes) if is_angle(axes)) && field.condition.is_none()
}

/// The name without the indices of array elements.
fn common_name(name: &str) -> String {
    let mut common = String::new();
    let mut is_index = false;
    for letter in name.chars() {
        is_index = (is_index && letter != ']') || letter == '[';
        if !is_index || letter == '[' {
            common.push(letter);
        }
    }
    common
}

impl NewcomerPlan {
    pub(in crate::snapshot::adaptive) fn new(fields: &[Field], lanes: &[Lane]) -> Self {
        let heading = fields.iter().find(|field| is_heading(field)).map(|field| {
            let lane = field.lanes().start;
            (lane, lanes[lane])
        });
        let mut plan = Self { fields: Vec::new(), heading, counters: SHARED };
        for (index, field) in fields.iter().enumerate() {
            let kinds = lanes[field.lanes()].to_vec();
            let is_place = matches!(field.kind, FieldKind::Floats(_));
            let has_sectors = is_place && heading.is_some() && !is_heading(field);
            let mut made = NewcomerField {
                lanes: field.lanes(),
                conditions: field.conditions().clone(),
                rotation: match field.kind {
                    FieldKind::Rotation(rotation) => Some(rotation),
                    _ => None,
                },
                has_differences: kinds
                    .iter()
                    .any(|lane| lane.arithmetic != LaneArithmetic::Category),
                are_alike: matches!(field.kind, FieldKind::Raw { .. } | FieldKind::Bytes { .. }),
                is_place,
                origin_sets: if has_sectors { kinds.len() << SECTORS_LOG2 } else { 1 },
                kinds,
                counters: 0..0,
            };
            let is_same = |(other, earlier): &(&Field, &NewcomerField)| {
                discriminant(&other.kind) == discriminant(&field.kind)
                    && earlier.kinds == made.kinds
                    && common_name(&other.name) == common_name(&field.name)
            };
            let earlier = fields[..index].iter().zip(&plan.fields).find(is_same);
            made.counters = earlier.map_or_else(
                || plan.counters..plan.counters + made.own_counters(),
                |(_, earlier)| earlier.counters.clone(),
            );
            plan.counters = plan.counters.max(made.counters.end);
            plan.fields.push(made);
        }
        plan
    }
}
