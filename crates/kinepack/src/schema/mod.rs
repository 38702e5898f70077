//! Schemas: an entity's fields, how each is quantized, and the integer lanes that they become.
//!
//! A *field* is a number, a vector, a rotation, an integer, a flag or a choice. A *lane* is one of
//! its integers, of up to 32 bits. A vector has one lane per axis, a rotation four (the dropped
//! component and the other three), and an integer of more than 32 bits two. Snapshots, codecs and
//! captures work on lanes only. `spec/CODEC.md`, section 5.

mod check;
mod components;
mod condition;
pub(crate) mod derived;
mod field;
#[cfg(feature = "arrayvec")]
mod list;
mod optional;
mod pack;
mod plain;
mod precision;
mod raw;

use alloc::sync::Arc;
use alloc::vec::Vec;

pub(crate) use check::{LaneRules, TypeCheck};
pub use components::Components;
pub use condition::Condition;
pub(crate) use condition::{Conditions, Presence};
pub use field::{Field, FieldKind, Lane, LaneArithmetic, Role, any_element};
pub use pack::{Pack, PackWith};
pub use precision::TimePrecision;

use crate::SetupError;
use crate::hash::Fnv1a;

/// An entity's fields in order, their lanes, and a hash that tells two schemas apart.
///
/// ```
/// use kinepack::{Pack, Schema};
///
/// #[derive(Pack)]
/// struct Door {
///     #[pack(range = 0.0..=90.0, precision = 1.0)]
///     angle_deg: f32,
///     locked: bool,
/// }
///
/// let schema = Schema::of::<Door>();
/// assert_eq!(schema.fields()[0].name, "angle_deg");
/// assert_eq!(schema.lanes()[0].max, 90);
/// assert_eq!(schema.bits_per_entity(), 7 + 1);
/// ```
#[derive(Clone, Debug)]
pub struct Schema {
    fields: Vec<Field>,
    lanes: Vec<Lane>,
    rules: Arc<LaneRules>,
    /// The hash, and the types known to have this schema.
    types: TypeCheck,
}

impl Schema {
    /// The schema of a type that implements [`Pack`].
    pub fn of<T: Pack>() -> Self {
        let mut fields = Vec::new();
        T::fields("", &mut fields);
        let made = Self::new(fields);
        Self { types: made.types.made_from::<T>(), ..made }
    }

    /// A schema of these fields, in this order.
    ///
    /// # Panics
    /// If the [`Condition`] of a field names no earlier field that can be its selector. Use
    /// [`try_new`](Self::try_new) for fields that a program does not make itself.
    #[track_caller]
    pub fn new(fields: Vec<Field>) -> Self {
        match Self::try_new(fields) {
            Ok(schema) => schema,
            Err(error) => panic!("{error}"),
        }
    }

    /// A schema of these fields, in this order.
    ///
    /// # Errors
    /// [`SetupError::BadCondition`] if the [`Condition`] of a field names no earlier field that can
    /// be its selector: a flag, a choice, or an integer of one lane.
    pub fn try_new(mut fields: Vec<Field>) -> Result<Self, SetupError> {
        let mut lanes = Vec::new();
        for index in 0..fields.len() {
            let conditions = Conditions::resolve(&fields, index)?;
            let field = &mut fields[index];
            field.conditions = conditions;
            field.first_lane = lanes.len();
            field.kind.append_lanes(&mut lanes);
            field.lane_count = lanes.len() - field.first_lane;
        }
        let mut hasher = Fnv1a::new();
        for field in &fields {
            field.hash_into(&mut |bytes| hasher.add(bytes));
        }
        let rules = Arc::new(LaneRules::new(&fields, &lanes));
        Ok(Self { fields, lanes, rules, types: TypeCheck::new(hasher.finish()) })
    }

    /// The same schema, with the time precision that `precision` returns for each field; it
    /// replaces the old one. The hash does not change.
    #[must_use]
    pub fn with_time_precision(
        mut self,
        mut precision: impl FnMut(&Field) -> Option<TimePrecision>,
    ) -> Self {
        for field in &mut self.fields {
            field.time_precision = precision(field);
        }
        self
    }

    /// The fields in order.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The lanes in order, field by field.
    pub fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    /// A hash over names, kinds, ranges, steps and order. It must be equal on both sides. It
    /// excludes time precision, so snapshots and profiles with and without it fit together. FNV-1a
    /// over the bytes that `spec/CODEC.md`, section 5.3 lists.
    pub fn hash(&self) -> u64 {
        self.types.schema_hash()
    }

    /// Sets the lanes of absent fields to 0, as a snapshot and a stream require. `#[derive(Pack)]`
    /// does it already.
    ///
    /// # Panics
    /// If the number of lanes is not the schema's.
    pub fn clear_absent(&self, lanes: &mut [u32]) {
        assert!(lanes.len() == self.lanes.len(), "the lanes of another schema");
        for (range, conditions) in self.rules.fields() {
            if !conditions.hold(|lane| lanes[lane]) {
                lanes[range.clone()].fill(0);
            }
        }
    }

    pub(crate) fn rules(&self) -> &Arc<LaneRules> {
        &self.rules
    }

    pub(crate) fn types(&self) -> &TypeCheck {
        &self.types
    }

    /// Bits of one entity with every lane in full.
    pub fn bits_per_entity(&self) -> u32 {
        self.lanes.iter().map(Lane::bits).sum()
    }
}

/// Schemas are equal if all of their fields are.
impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.fields == other.fields
    }
}
