//! Counts bits by purpose.

use kinepack::schema::Role;
use kinepack::{Schema, Size};

/// A value for each purpose.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parts<T> {
    pub flags_and_indices: T,
    pub position: T,
    pub orientation: T,
    pub others: T,
}

/// The purpose of each field of a schema.
#[derive(Clone, Debug)]
pub struct PartOfField(Vec<Part>);

#[derive(Clone, Copy, Debug)]
enum Part {
    Position,
    Orientation,
    Other,
}

impl PartOfField {
    pub fn new(schema: &Schema) -> Self {
        let part = |field: &kinepack::schema::Field| match (field.name.as_str(), field.role) {
            ("position", role) if role != Role::Velocity => Part::Position,
            ("orientation", _) => Part::Orientation,
            _ => Part::Other,
        };
        Self(schema.fields().iter().map(part).collect())
    }
}

impl Parts<u64> {
    /// Adds the bits of a snapshot.
    pub fn add(&mut self, size: &Size, part_of_field: &PartOfField) {
        self.flags_and_indices += size.sets_bits;
        for (bits, part) in size.fields_bits.iter().zip(&part_of_field.0) {
            match part {
                Part::Position => self.position += bits,
                Part::Orientation => self.orientation += bits,
                Part::Other => self.others += bits,
            }
        }
    }
}
