//! Schemas: which fields an entity has, how each is quantized, and the integer lanes that they
//! become.
//!
//! A *field* is a number, a vector, a rotation, an integer, a flag or a choice. A *lane* is one
//! integer of it, up to 32 bits: a vector has one an axis, a rotation four (the dropped component
//! and the other three), an integer of more than 32 bits two. Snapshots, codecs and captures know
//! lanes only. `spec/CODEC.md`, section 5.

mod check;
pub(crate) mod derived;
mod field;
mod pack;
mod precision;
mod raw;

use alloc::vec::Vec;

use crate::hash::Fnv1a;

pub(crate) use check::{TypeCheck, first_beyond};
pub use field::{Field, FieldKind, Lane, LaneArithmetic, Role};
pub use pack::{Components, Pack, PackWith};
pub use precision::TimePrecision;

/// The fields of an entity in order, the lanes that they become, and a hash that tells two schemas
/// apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    fields: Vec<Field>,
    lanes: Vec<Lane>,
    /// The hash, and the types that have this schema.
    types: TypeCheck,
}

impl Schema {
    /// The schema of a type that derives [`Pack`].
    pub fn of<T: Pack>() -> Self {
        let mut fields = Vec::new();
        T::fields("", &mut fields);
        let Self { fields, lanes, types } = Self::new(fields);
        Self { fields, lanes, types: types.made_from::<T>() }
    }

    /// A schema of these fields, in this order.
    pub fn new(mut fields: Vec<Field>) -> Self {
        let mut lanes = Vec::new();
        for field in &mut fields {
            field.first_lane = lanes.len();
            field.kind.append_lanes(&mut lanes);
            field.lane_count = lanes.len() - field.first_lane;
        }
        let mut hasher = Fnv1a::new();
        for field in &fields {
            field.hash_into(&mut |bytes| hasher.add(bytes));
        }
        Self { fields, lanes, types: TypeCheck::new(hasher.finish()) }
    }

    /// The same schema, with the time precision of each field that `precision` says; what the
    /// fields had is forgotten. The hash stays.
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

    /// A hash over names, kinds, ranges, steps and order: equal on both sides or they do not speak
    /// the same language. Time precision is left out: snapshots and profiles with and without it
    /// fit together. FNV-1a over the bytes that `spec/CODEC.md`, section 5.3 lists.
    pub fn hash(&self) -> u64 {
        self.types.schema_hash()
    }

    pub(crate) fn types(&self) -> &TypeCheck {
        &self.types
    }

    /// Bits of one entity when every lane is sent in full.
    pub fn bits_per_entity(&self) -> u32 {
        self.lanes.iter().map(Lane::bits).sum()
    }
}
