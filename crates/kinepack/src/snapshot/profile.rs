//! Profiles: the parameters of the stages, for one schema. Plain data; a [`Codec`](super::Codec)
//! checks them.
//!
//! The article's ladder uses fixed small and large widths. Here a field has a list of *classes*,
//! each with a width a lane, told by a prefix code whose lengths may depend on what was coded just
//! before. The article's scheme is the list of its eight combinations of small and large; a trained
//! profile has a class for each magnitude. `spec/CODEC.md`, sections 7 and 9.

use alloc::vec;
use alloc::vec::Vec;

use super::adaptive::Model;
use crate::hash::Fnv1a;
use crate::schema::{Field, FieldKind, Lane, LaneArithmetic};
use crate::{Schema, SetupError, prefix};

/// The parameters of all stages for one schema.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// [`Schema::hash`] of the schema that it was made for.
    pub schema_hash: u64,
    /// Distances between changed entities.
    pub entities: GapCode,
    /// Distances between the entities, among the changed ones, that changed a field (or did not).
    pub flags: GapCode,
    /// One code a field, in the schema's order.
    pub fields: Vec<FieldCode>,
    /// What the adaptive level predicts with; without it that level starts from a model that knows
    /// nothing but the schema.
    pub model: Option<Model>,
}

/// The code of distances within a sorted list of indices: a class, then an offset within it.
///
/// Class `k` holds the `2^width` distances that follow those of class `k` − 1; one more class, the
/// last, holds the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GapCode {
    /// Offset bits of each class but the last.
    pub widths_bits: Vec<u8>,
    /// Length of each class's word: one more than there are widths.
    pub lengths_bits: Vec<u8>,
}

/// The code of a field's differences from the baseline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldCode {
    /// What the lengths depend on.
    pub context: Context,
    /// Classes in order of preference: the first that fits is taken. Behind them stands one more,
    /// the field in full. Fields that have no differences (flags, choices) have none.
    pub classes: Vec<Class>,
    /// For each state of the context, the length of each class's word: one more than there are
    /// classes.
    pub lengths_bits: Vec<Vec<u8>>,
}

/// What a field's code depends on. Its state is 0 where there is nothing to depend on, else 1 + a
/// class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Context {
    /// Nothing.
    None,
    /// The class of the same field in the entity coded before.
    Previous,
    /// The class of this field of the schema, an earlier one, in the same entity.
    Field(usize),
}

/// Widths of one class, and what its differences are taken from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// Where differences begin.
    pub reference: Reference,
    /// Width of each lane; of a rotation's three components.
    pub lanes: Vec<LaneWidth>,
}

/// What the differences of a class are taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Reference {
    /// The baseline's value; for rotations, where the dropped component is the same.
    Baseline = 0,
    /// For rotations: the baseline's, brought into the form without the component that is dropped
    /// now. Two more bits tell which that is.
    Turned = 1,
    /// For numbers: the baseline's value, moved as the entity coded before moved from its own.
    /// Things that are carried together move alike.
    Carried = 2,
}

/// Width of a lane's difference in one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneWidth {
    /// Bits of the difference in two's complement; 0 for no difference at all.
    pub bits: u8,
    /// Where not 0: differences that fit in this many bits are not in this class, and its range
    /// begins beyond them.
    pub beyond_bits: u8,
}

impl Profile {
    /// `spec/CODEC.md`, section 11.
    pub(super) fn hash_into(&self, hasher: &mut Fnv1a) {
        for gaps in [&self.entities, &self.flags] {
            hasher.add_list(&gaps.widths_bits);
            hasher.add_list(&gaps.lengths_bits);
        }
        for field in &self.fields {
            let (tag, other) = match field.context {
                Context::None => (0, 0),
                Context::Previous => (1, 0),
                Context::Field(index) => (2, index as u32),
            };
            hasher.add(&[tag]);
            hasher.add(&other.to_le_bytes());
            hasher.add(&(field.classes.len() as u32).to_le_bytes());
            for class in &field.classes {
                hasher.add(&[class.reference as u8]);
                class.lanes.iter().for_each(|lane| hasher.add(&[lane.bits, lane.beyond_bits]));
            }
            hasher.add(&(field.lengths_bits.len() as u32).to_le_bytes());
            field.lengths_bits.iter().for_each(|lengths| hasher.add_list(lengths));
        }
    }
}

impl GapCode {
    /// The article's: 1 to 8 in 4 bits, 9 to 40 in 7, the rest in 2 and the bits that the number of
    /// entities asks for.
    pub fn article() -> Self {
        Self { widths_bits: vec![3, 5], lengths_bits: vec![1, 2, 2] }
    }

    /// A class for each power of two, shorter words for shorter distances.
    pub(super) fn doubling() -> Self {
        let widths_bits = vec![0, 0, 1, 2, 3, 4, 5, 6, 8, 10];
        let lengths_bits = vec![1, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5];
        Self { widths_bits, lengths_bits }
    }

    /// The same classes with the best lengths for what was counted.
    #[cfg(feature = "training")]
    pub(super) fn trained(&self, counts: &[u64]) -> Self {
        Self { widths_bits: self.widths_bits.clone(), lengths_bits: prefix::lengths_bits(counts) }
    }
}

impl FieldCode {
    /// The article's: each lane small or large, large begins where small ends, and one bit for the
    /// field in full.
    pub fn small_or_large(lanes: usize, small_bits: u8, large_bits: u8) -> Self {
        Self::two_widths(lanes, small_bits, large_bits, small_bits)
    }

    /// As [`small_or_large`](Self::small_or_large) without extending the large range past the small
    /// one.
    pub fn small_or_large_unextended(lanes: usize, small_bits: u8, large_bits: u8) -> Self {
        Self::two_widths(lanes, small_bits, large_bits, 0)
    }

    fn two_widths(lanes: usize, small_bits: u8, large_bits: u8, beyond_bits: u8) -> Self {
        let small = LaneWidth { bits: small_bits, beyond_bits: 0 };
        let large = LaneWidth { bits: large_bits, beyond_bits };
        let mut combinations: Vec<u32> = (0..1 << lanes).collect();
        combinations.sort_by_key(|large_lanes| large_lanes.count_ones());
        let class = |large_lanes: &u32| {
            let width = |lane| if large_lanes >> lane & 1 == 1 { large } else { small };
            Class { reference: Reference::Baseline, lanes: (0..lanes).map(width).collect() }
        };
        let mut lengths_bits = vec![1 + lanes as u8; combinations.len()];
        lengths_bits.push(1);
        let classes = combinations.iter().map(class).collect();
        Self { context: Context::None, classes, lengths_bits: vec![lengths_bits] }
    }

    /// A class for each of `widths_bits`, the same for each lane less the lane's entry in
    /// `narrower_bits`, never wider than the lane; for rotations also the turned ones. The lengths
    /// are all alike: for training.
    pub fn magnitudes(
        field: &Field,
        schema: &Schema,
        context: Context,
        widths_bits: &[u8],
        narrower_bits: &[u8],
    ) -> Self {
        let (lanes, is_rotation) = differenced(field, schema);
        let class = |reference, width: u8| {
            let lanes = lanes.iter().enumerate().map(|(index, lane)| {
                let narrower_bits = narrower_bits.get(index).copied().unwrap_or(0);
                LaneWidth {
                    bits: width.saturating_sub(narrower_bits).min(lane.bits() as u8),
                    beyond_bits: 0,
                }
            });
            Class { reference, lanes: lanes.collect() }
        };
        let other = if is_rotation { Reference::Turned } else { Reference::Carried };
        let references = [Reference::Baseline, other];
        let classes: Vec<Class> = widths_bits
            .iter()
            .flat_map(|width| references.map(|reference| class(reference, *width)))
            .collect();
        let mut code = Self { context, classes, lengths_bits: Vec::new() };
        code.lengths_bits = vec![prefix::lengths_bits(&vec![1; code.classes.len() + 1])];
        code
    }

    /// The code of a field without differences.
    pub fn none() -> Self {
        Self { context: Context::None, classes: Vec::new(), lengths_bits: vec![vec![0]] }
    }

    /// Number of states that a context has which is the class of a field with this code.
    pub(super) fn states(&self) -> usize {
        self.classes.len() + 2
    }
}

impl Profile {
    /// A profile that knows nothing of the data: seven classes a field, all alike. Correct for any
    /// schema; training (`training::Trainer`) is what makes it small.
    pub fn untrained(schema: &Schema) -> Self {
        Self::with_fields(schema, |_, field| {
            let widest_bits =
                differenced(field, schema).0.iter().map(Lane::bits).max().unwrap_or(0);
            let classes = 3;
            let widths_bits: Vec<u8> =
                (1..=classes).map(|n| (n * widest_bits / (classes + 1)).max(1) as u8).collect();
            FieldCode::magnitudes(field, schema, Context::None, &widths_bits, &[])
        })
    }

    /// The article's: positions small 5 and large 9, rotations small 5 and large 8, other numbers
    /// as positions.
    pub fn article(schema: &Schema) -> Self {
        let profile = Self::with_fields(schema, |_, field| match differenced(field, schema) {
            (lanes, true) => FieldCode::small_or_large(lanes.len(), 5, 8),
            (lanes, false) if lanes.len() <= 5 => FieldCode::small_or_large(lanes.len(), 5, 9),
            _ => FieldCode::magnitudes(field, schema, Context::None, &[5, 9], &[]),
        });
        Self { entities: GapCode::article(), ..profile }
    }

    /// A class for every width, and the contexts that pay for most data: the first number's class
    /// depends on the entity before, those of all others on the first number's. What
    /// `training::Trainer` starts from.
    pub fn magnitudes(schema: &Schema) -> Self {
        let first =
            schema.fields().iter().position(|field| !differenced(field, schema).0.is_empty());
        Self::with_fields(schema, |index, field| {
            let widest_bits =
                differenced(field, schema).0.iter().map(Lane::bits).max().unwrap_or(0);
            let widths_bits: Vec<u8> = (1..(widest_bits as u8).min(25)).collect();
            let context = match first {
                Some(first) if first < index => Context::Field(first),
                _ => Context::Previous,
            };
            FieldCode::magnitudes(field, schema, context, &widths_bits, &[])
        })
    }

    fn with_fields(schema: &Schema, mut code: impl FnMut(usize, &Field) -> FieldCode) -> Self {
        let fields = schema.fields().iter().enumerate().map(|(index, field)| {
            if differenced(field, schema).0.is_empty() {
                FieldCode::none()
            } else {
                code(index, field)
            }
        });
        let mut profile = Self {
            schema_hash: schema.hash(),
            entities: GapCode::doubling(),
            flags: GapCode::doubling(),
            fields: fields.collect(),
            model: None,
        };
        profile.spread();
        profile
    }

    /// Repeats the lengths of a field that has them only once, for each state of its context.
    pub fn spread(&mut self) {
        for index in 0..self.fields.len() {
            let states = self.states(index);
            let field = &mut self.fields[index];
            if let [only] = &field.lengths_bits[..] {
                field.lengths_bits = vec![only.clone(); states];
            }
        }
    }

    /// Number of states of a field's context.
    pub(super) fn states(&self, field: usize) -> usize {
        match self.fields[field].context {
            Context::None => 1,
            Context::Previous => self.fields[field].states(),
            Context::Field(other) => self.fields.get(other).map_or(1, FieldCode::states),
        }
    }

    /// Checks what the codec's tables take for granted.
    pub(super) fn validate(&self, schema: &Schema) -> Result<(), SetupError> {
        if self.schema_hash != schema.hash() || self.fields.len() != schema.fields().len() {
            return Err(SetupError::ProfileMismatch);
        }
        for (index, (code, field)) in self.fields.iter().zip(schema.fields()).enumerate() {
            let (lanes, is_rotation) = differenced(field, schema);
            let width_fits = |width: &LaneWidth| {
                width.bits <= 32
                    && width.beyond_bits <= width.bits
                    && (width.bits > 0 || width.beyond_bits == 0)
            };
            let reference_fits = |reference| match reference {
                Reference::Baseline => true,
                Reference::Turned => is_rotation,
                Reference::Carried => !is_rotation,
            };
            let class_fits = |class: &Class| {
                class.lanes.len() == lanes.len()
                    && class.lanes.iter().all(width_fits)
                    && reference_fits(class.reference)
            };
            let context_fits = !matches!(code.context, Context::Field(other) if other >= index);
            // 63 classes and the field in full fit in a mask of 64 bits.
            let well_formed = code.classes.len() < 64
                && code.classes.iter().all(class_fits)
                && context_fits
                && code.lengths_bits.len() == self.states(index)
                && code.lengths_bits.iter().all(|lengths| lengths.len() == code.classes.len() + 1);
            if !well_formed {
                return Err(SetupError::BadFieldCode { field: index });
            }
        }
        Ok(())
    }
}

/// The lanes of a field that have differences, and whether they are a rotation's components.
pub(super) fn differenced<'a>(field: &Field, schema: &'a Schema) -> (&'a [Lane], bool) {
    let lanes = &schema.lanes()[field.lanes()];
    match field.kind {
        FieldKind::Rotation(_) => (&lanes[1..], true),
        _ if lanes.iter().any(|lane| lane.arithmetic == LaneArithmetic::Category) => (&[], false),
        _ => (lanes, false),
    }
}
