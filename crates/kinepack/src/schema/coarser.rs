//! Fields that are coarser in some entities, such as those that are far away. `spec/CODEC.md`,
//! section 5.9, defines them.

use alloc::string::String;

use super::{Field, FieldKind};
use crate::coarse::MAX_SHIFT;

/// Lets a field be coarser in some entities: an earlier field of the same kind, the *coarseness*,
/// holds by how many bits. With a coarseness of 3, the field's values are multiples of 8 of its
/// steps, and packets take fewer bits for them.
///
/// Numbers that do not wrap and rotations can be coarser. The coarseness is an integer of one lane.
/// `#[derive(Pack)]` makes it for the attribute `coarser = n`, and always writes 0 into it:
/// [`Snapshot::coarser`](crate::Snapshot::coarser) makes a coarser copy of a state.
///
/// ```
/// use kinepack::{EntityId, Pack, Schema, Snapshot, Tick};
///
/// #[derive(Pack)]
/// struct Ship {
///     #[pack(range = -100.0..=100.0, precision = 0.01, coarser = 4)]
///     x: f64,
/// }
///
/// let schema = Schema::of::<Ship>();
/// let names: Vec<&str> = schema.fields().iter().map(|field| field.name.as_str()).collect();
/// assert_eq!(names, ["coarser~", "x"]);
/// let mut world = Snapshot::new(&schema, Tick(1));
/// world.push(EntityId(7), &Ship { x: 1.23 })?;
/// // Two bits coarser, the steps are 0.04 instead of 0.01.
/// let far = world.coarser(2);
/// assert_eq!([world.lane(1), far.lane(1)], [[10_123], [10_124]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coarser {
    /// The name of the coarseness. If several earlier fields have this name, the last of them is
    /// meant.
    pub coarseness: String,
    /// The most bits by which this field becomes coarser, from 1 to 31, even if the coarseness is
    /// higher.
    pub most_bits: u8,
}

impl Coarser {
    /// The largest value of [`most_bits`](Self::most_bits), and of a coarseness.
    pub const MOST_BITS: u8 = MAX_SHIFT;

    /// Makes a field coarser by as many bits as the field with the name `coarseness` holds, but at
    /// most by `most_bits`.
    pub fn new(coarseness: impl Into<String>, most_bits: u8) -> Self {
        Self { coarseness: coarseness.into(), most_bits }
    }
}

/// The coarseness of a field, as a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Coarseness {
    /// The number of the coarseness among the fields of its kind.
    pub(super) field: usize,
    /// The lane of the coarseness.
    pub(crate) lane: usize,
    most_bits: u8,
}

impl Coarseness {
    /// Finds the coarseness of the field at `index` among a kind's fields. All earlier fields must
    /// be resolved already. Returns `None` if no earlier field can be the coarseness, or if the
    /// field cannot be coarse; `Some(None)` if it is always exact.
    pub(super) fn find(fields: &[Field], index: usize) -> Option<Option<Self>> {
        let field = &fields[index];
        let Some(Coarser { coarseness, most_bits }) = &field.coarser else { return Some(None) };
        let place = fields[..index].iter().rposition(|field| field.name == *coarseness)?;
        let is_right = match &fields[place].kind {
            FieldKind::Integer(limits) => limits.max_code() <= Coarser::MOST_BITS.into(),
            _ => false,
        };
        let bits = 1..=Coarser::MOST_BITS;
        if !is_right
            || fields[place].is_spawn
            || !field.can_be_coarse()
            || !bits.contains(most_bits)
        {
            return None;
        }
        let lane = fields[place].first_lane;
        Some(Some(Self { field: place, lane, most_bits: *most_bits }))
    }

    /// Returns the same coarseness, with its lane shifted up by `lanes`.
    pub(super) fn after(self, lanes: usize) -> Self {
        Self { lane: self.lane + lanes, ..self }
    }

    pub(super) fn hash_into(self, add: &mut impl FnMut(&[u8])) {
        add(&(self.field as u32).to_le_bytes());
        add(&[self.most_bits]);
    }

    /// Returns the shift of the field's values if the coarseness is `value`: they are multiples of
    /// 2^shift.
    #[inline]
    pub(crate) fn shift(self, value: u32) -> u32 {
        value.min(self.most_bits.into())
    }
}
