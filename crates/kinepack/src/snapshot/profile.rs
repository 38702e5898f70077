//! Profiles: the parameters of all stages for one schema. A profile is plain data, which a
//! [`Codec`](super::Codec) checks.
//!
//! The article uses fixed small and large widths. Here a field has a list of *classes*, each with a
//! width for each lane. A prefix code selects the class. The lengths of its words may depend on a
//! class that was coded just before. In these terms, the article's scheme has eight classes, one
//! for each combination of small and large lanes. A trained profile has a class for each magnitude.
//! See `spec/CODEC.md`, sections 7 and 9.

use alloc::vec;
use alloc::vec::Vec;

use super::adaptive::Model;
use crate::hash::Fnv1a;
use crate::schema::{Field, Lane};
use crate::{Schema, SetupError, prefix};

/// The maximum number of classes of a field. Together with the class of the field in full, they fit
/// in a mask of 64 bits.
pub(super) const MAX_CLASSES: usize = 63;

/// The parameters of all stages for one schema.
///
/// ```
/// use kinepack::quantize::{IntegerLimits};
/// use kinepack::schema::{Field, FieldKind};
/// use kinepack::{Profile, Schema};
///
/// let height = FieldKind::Integer(IntegerLimits::new(0, 255, 1)?);
/// let schema = Schema::new(vec![Field::new("height", height)]);
/// let profile = Profile::untrained(&schema);
/// // There are three widths, each relative to the baseline and to the carried baseline.
/// assert_eq!(profile.fields[0].classes.len(), 6);
/// let bytes = profile.to_bytes();
/// assert_eq!(Profile::from_bytes(&bytes, &schema)?, profile);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// The [`Schema::hash`] of the schema that the profile is for.
    pub schema_hash: u64,
    /// The code of the distances between changed entities.
    pub entities: GapCode,
    /// The code of the distances between entities that changed a field (or between those that did
    /// not), in the list of changed entities.
    pub flags: GapCode,
    /// One code per field, in the schema's order.
    pub fields: Vec<FieldCode>,
    /// The model of the adaptive level. Without a model, that level starts from an untrained model
    /// that depends on the schema alone.
    pub model: Option<Model>,
}

/// The code of the distances within a sorted list of indices: a class, then an offset within it.
///
/// Class `k` holds the `2^width` distances after those of class `k` − 1. One further class, the
/// last, holds all larger distances.
///
/// ```
/// use kinepack::profile::GapCode;
///
/// // The classes are distances 1 to 8, 9 to 40, and all larger ones.
/// let code = GapCode::article();
/// assert_eq!(code.widths_bits, [3, 5]);
/// assert_eq!(code.lengths_bits, [1, 2, 2]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GapCode {
    /// The number of offset bits of each class except the last.
    pub widths_bits: Vec<u8>,
    /// The length of each class's word, in bits; this has one element more than `widths_bits`.
    pub lengths_bits: Vec<u8>,
}

/// The code of a field's differences from the baseline.
///
/// ```
/// use kinepack::profile::{Context, FieldCode};
///
/// // Three lanes of 5 or 9 bits have eight combinations; the last word is the field in full.
/// let code = FieldCode::small_or_large(3, 5, 9);
/// assert_eq!(code.classes.len(), 8);
/// assert_eq!(code.lengths_bits, [[4, 4, 4, 4, 4, 4, 4, 4, 1]]);
/// assert_eq!(code.context, Context::None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldCode {
    /// The context that selects the lengths of the words.
    pub context: Context,
    /// The classes in order of preference: an encoder takes the first class that holds the
    /// differences. One further class, the field in full, follows them. Fields without differences
    /// (flags, choices) have no classes.
    pub classes: Vec<Class>,
    /// For each state of the context, the length of each class's word; each list has one element
    /// more than `classes`.
    pub lengths_bits: Vec<Vec<u8>>,
}

/// The context of a field's code: the earlier class that the code depends on. The context's state
/// is 1 + that class, or 0 if there is no such class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Context {
    /// The code depends on no other class.
    None,
    /// The code depends on the class of the same field in the previous entity.
    Previous,
    /// The code depends on the class of another field in the same entity. That field precedes this
    /// one in the same kind, and the number is its index in the schema.
    Field(usize),
}

/// The widths of one class, and the reference of its differences.
///
/// ```
/// use kinepack::profile::{FieldCode, LaneWidth, Reference};
///
/// // In the second class the first lane is large: it begins where 5 bits end.
/// let class = &FieldCode::small_or_large(2, 5, 9).classes[1];
/// assert_eq!(class.reference, Reference::Baseline);
/// assert_eq!(class.lanes[0], LaneWidth { bits: 9, beyond_bits: 5 });
/// assert_eq!(class.lanes[1], LaneWidth { bits: 5, beyond_bits: 0 });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// The value from which differences are taken.
    pub reference: Reference,
    /// The width of each lane; for a rotation, of each of its three components.
    pub lanes: Vec<LaneWidth>,
}

/// The value from which a class takes its differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Reference {
    /// The baseline's value; for rotations, only if the same component is dropped in the baseline.
    Baseline = 0,
    /// For rotations: the baseline's rotation, rewritten to drop the component that is dropped now.
    /// Two further bits select that component.
    Turned = 1,
    /// For numbers: the baseline's value plus the change of the previous entity, because things
    /// that are carried together move alike.
    Carried = 2,
}

/// The width of a lane's difference in one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneWidth {
    /// The number of bits of the difference in two's complement; 0 if the class holds only a
    /// difference of zero.
    pub bits: u8,
    /// If not 0, the class excludes differences that fit in this many bits, and its range begins
    /// beyond those differences.
    pub beyond_bits: u8,
}

impl Profile {
    /// Adds the profile to a hash, as in `spec/CODEC.md`, section 11.
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
    /// Makes the article's code: distances 1 to 8 take 4 bits, and 9 to 40 take 7. Larger distances
    /// take 2 bits plus the number of bits that the number of entities requires.
    pub fn article() -> Self {
        Self { widths_bits: vec![3, 5], lengths_bits: vec![1, 2, 2] }
    }

    /// Makes classes of about a power of two each, with shorter words for shorter distances.
    pub(super) fn doubling() -> Self {
        let widths_bits = vec![0, 0, 1, 2, 3, 4, 5, 6, 8, 10];
        let lengths_bits = vec![1, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5];
        Self { widths_bits, lengths_bits }
    }

    /// Returns the same classes with the best word lengths for these counts.
    #[cfg(feature = "training")]
    pub(super) fn trained(&self, counts: &[u64]) -> Self {
        Self { widths_bits: self.widths_bits.clone(), lengths_bits: prefix::lengths_bits(counts) }
    }
}

impl FieldCode {
    /// Makes the article's code: each lane is small or large, and the large range begins where the
    /// small one ends. One bit selects the field in full.
    pub fn small_or_large(lanes: usize, small_bits: u8, large_bits: u8) -> Self {
        Self::two_widths(lanes, small_bits, large_bits, small_bits)
    }

    /// Like [`small_or_large`](Self::small_or_large), but the large range is not extended beyond
    /// the small one.
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

    /// Makes two classes for each of `widths_bits`: one relative to the baseline, and one relative
    /// to the field's other reference. That reference is [`Reference::Turned`] for rotations and
    /// [`Reference::Carried`] for numbers. Each lane has that width minus its element of
    /// `narrower_bits`, and is never wider than the lane. The words have about the same length:
    /// this code is a starting point for training.
    pub fn magnitudes(
        field: &Field,
        schema: &Schema,
        context: Context,
        widths_bits: &[u8],
        narrower_bits: &[u8],
    ) -> Self {
        let (lanes, is_rotation) = schema.differenced(field);
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

    /// Makes the code of a field without differences.
    pub fn none() -> Self {
        Self { context: Context::None, classes: Vec::new(), lengths_bits: vec![vec![0]] }
    }

    /// The number of states of a context that depends on the class of a field with this code.
    pub(super) fn states(&self) -> usize {
        self.classes.len() + 2
    }
}

impl Profile {
    /// Makes a profile that does not depend on data: seven classes per field, with words of about
    /// the same length. This profile is correct for any schema; training (`training::Trainer`)
    /// makes packets small.
    pub fn untrained(schema: &Schema) -> Self {
        Self::with_fields(schema, |_, field| {
            let widest_bits = schema.differenced(field).0.iter().map(Lane::bits).max().unwrap_or(0);
            let classes = 3;
            let widths_bits: Vec<u8> =
                (1..=classes).map(|n| (n * widest_bits / (classes + 1)).max(1) as u8).collect();
            FieldCode::magnitudes(field, schema, Context::None, &widths_bits, &[])
        })
    }

    /// Makes the article's profile: 5 bits for small and 9 for large positions, 5 and 8 for
    /// rotations, and other numbers like positions.
    pub fn article(schema: &Schema) -> Self {
        let profile = Self::with_fields(schema, |_, field| match schema.differenced(field) {
            (lanes, true) => FieldCode::small_or_large(lanes.len(), 5, 8),
            (lanes, false) if lanes.len() <= 5 => FieldCode::small_or_large(lanes.len(), 5, 9),
            _ => FieldCode::magnitudes(field, schema, Context::None, &[5, 9], &[]),
        });
        Self { entities: GapCode::article(), ..profile }
    }

    /// Makes a profile with a class for every width, and with the contexts that help with most
    /// data. For the first field of a kind that has differences, the class depends on the previous
    /// entity. For all other fields of the kind, the class depends on that first field. The profile
    /// is a starting point for a `training::Trainer`.
    pub fn magnitudes(schema: &Schema) -> Self {
        // For each field, the first field of its kind that has differences.
        let firsts: Vec<Option<usize>> = schema
            .kinds()
            .iter()
            .flat_map(|kind| {
                // A coarseness hardly ever changes, so it says nothing about other fields.
                let tells = |index: &usize| {
                    let field = &schema.fields()[*index];
                    !schema.differenced(field).0.is_empty() && !schema.is_coarseness(field)
                };
                let first = kind.fields().find(tells);
                kind.fields().map(move |_| first)
            })
            .collect();
        Self::with_fields(schema, |index, field| {
            let widest_bits = schema.differenced(field).0.iter().map(Lane::bits).max().unwrap_or(0);
            let widths_bits: Vec<u8> = (1..(widest_bits as u8).min(25)).collect();
            let context = match firsts[index] {
                Some(first) if first < index => Context::Field(first),
                _ => Context::Previous,
            };
            FieldCode::magnitudes(field, schema, context, &widths_bits, &[])
        })
    }

    fn with_fields(schema: &Schema, mut code: impl FnMut(usize, &Field) -> FieldCode) -> Self {
        let fields = schema.fields().iter().enumerate().map(|(index, field)| {
            if schema.differenced(field).0.is_empty() {
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

    /// Repeats a field's word lengths for each state of its context, if the field has only one list
    /// of them.
    pub fn spread(&mut self) {
        for index in 0..self.fields.len() {
            let states = self.states(index);
            let field = &mut self.fields[index];
            if let [only] = &field.lengths_bits[..] {
                field.lengths_bits = vec![only.clone(); states];
            }
        }
    }

    /// The number of states of a field's context.
    pub(super) fn states(&self, field: usize) -> usize {
        match self.fields[field].context {
            Context::None => 1,
            Context::Previous => self.fields[field].states(),
            Context::Field(other) => self.fields.get(other).map_or(1, FieldCode::states),
        }
    }

    /// Checks the properties that the codec's tables rely on.
    pub(super) fn validate(&self, schema: &Schema) -> Result<(), SetupError> {
        if self.schema_hash != schema.hash() || self.fields.len() != schema.fields().len() {
            return Err(SetupError::ProfileMismatch);
        }
        let firsts = schema.kinds().iter().flat_map(|kind| {
            let fields = kind.fields();
            fields.clone().map(move |index| (index, fields.start))
        });
        for ((index, first), (code, field)) in firsts.zip(self.fields.iter().zip(schema.fields())) {
            let (lanes, is_rotation) = schema.differenced(field);
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
            let context_fits = match code.context {
                Context::Field(other) => (first..index).contains(&other),
                Context::None | Context::Previous => true,
            };
            let well_formed = code.classes.len() <= MAX_CLASSES
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
