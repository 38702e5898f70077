//! Conditions: when a field is present. `spec/CODEC.md`, section 5.5.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::RangeInclusive;

use super::{Field, FieldKind};

/// The most conditions of a field, including those of its selectors. Each field stores all of them,
/// so without a limit the memory would be quadratic in the number of fields.
const MAX_CONDITIONS: usize = 64;

/// The condition under which a field is present: an earlier field, its *selector*, is present and
/// has one of these values.
///
/// The selector is a flag, a choice, or an integer of one lane. The selector of a spawn field is a
/// spawn field too. A selector may have a selector itself, in a chain of up to 64. An absent field
/// has 0 in all of its lanes, and takes no bits in a packet. `#[derive(Pack)]` makes conditions for
/// `Option`, enums with fields, and [`ArrayVec`](crate::ArrayVec).
///
/// ```
/// use kinepack::quantize::IntegerLimits;
/// use kinepack::schema::{Condition, Field, FieldKind};
/// use kinepack::{EncodeError, EntityId, Schema, Snapshot, Tick};
///
/// // What `#[derive(Pack)]` makes of `fuel: Option<u8>` with `max = 100`.
/// let fuel = FieldKind::Integer(IntegerLimits::new(0, 100, 1)?);
/// let schema = Schema::new(vec![
///     Field::new("fuel?", FieldKind::Bool),
///     Field::new("fuel", fuel).with_condition(Condition::new("fuel?", 1..=1)),
/// ]);
/// let mut world = Snapshot::new(&schema, Tick(0));
/// world.push_lanes(EntityId(1), &[1, 80])?;
/// world.push_lanes(EntityId(2), &[0, 0])?;
/// let refused = world.push_lanes(EntityId(3), &[0, 80]);
/// assert_eq!(refused, Err(EncodeError::LaneOutOfRange { id: Some(3), lane: 1, value: 80 }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The name of the selector. If several earlier fields have this name, the last of them.
    pub selector: String,
    /// The values of the selector's lane.
    pub values: RangeInclusive<u32>,
}

impl Condition {
    /// A condition on the field with this name.
    pub fn new(selector: impl Into<String>, values: RangeInclusive<u32>) -> Self {
        Self { selector: selector.into(), values }
    }
}

/// Whether a field is present now and was present before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// The field is absent now.
    Absent,
    /// The field is present, but was absent before.
    Added,
    /// The field is present now and was present before.
    Kept,
}

/// The conditions of a field and of its selectors, by lane. A field without conditions is always
/// present.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Conditions {
    /// The index of the field's selector in its kind; 0 without conditions.
    selector: usize,
    /// The selectors' lanes and the values that they must have: first the selector's own
    /// conditions, then the selector.
    lanes: Vec<(usize, RangeInclusive<u32>)>,
}

impl Conditions {
    /// Whether the field is always present.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.lanes.is_empty()
    }

    /// Whether the field is present in the entity that has these lanes.
    #[inline]
    pub(crate) fn hold(&self, lane: impl Fn(usize) -> u32) -> bool {
        self.lanes.iter().all(|(selector, values)| values.contains(&lane(*selector)))
    }

    /// Whether the field of the entity at `index` is present in a snapshot with these columns.
    #[inline]
    pub(crate) fn hold_at(&self, columns: &[Vec<u32>], index: usize) -> bool {
        self.hold(|lane| columns[lane][index])
    }

    /// Compares the field's presence in an entity now and before. The selectors' lanes must be
    /// known already.
    #[inline]
    pub(crate) fn presence(
        &self,
        before: impl Fn(usize) -> u32,
        now: impl Fn(usize) -> u32,
    ) -> Presence {
        if self.is_empty() {
            Presence::Kept
        } else if !self.hold(now) {
            Presence::Absent
        } else if self.hold(before) {
            Presence::Kept
        } else {
            Presence::Added
        }
    }

    /// The conditions of the field at `index` among a kind's fields. The earlier fields must be
    /// resolved. `None` if no earlier field can be the selector, if the range of values is empty,
    /// or if the chain is too long.
    pub(super) fn resolve(fields: &[Field], index: usize) -> Option<Self> {
        let Some(condition) = &fields[index].condition else { return Some(Self::default()) };
        let place = fields[..index].iter().rposition(|field| field.name == condition.selector);
        let fits = |place: &usize| {
            let field = &fields[*place];
            matches!(field.kind, FieldKind::Bool | FieldKind::Choice { .. } | FieldKind::Integer(_))
                && field.lane_count == 1
        };
        // The selector of a spawn field must not change either.
        let is_lasting = |place: &usize| fields[*place].is_spawn || !fields[index].is_spawn;
        let place = place.filter(fits).filter(is_lasting);
        let place = place.filter(|_| !condition.values.is_empty());
        let selector = place?;
        let mut lanes = fields[selector].conditions.lanes.clone();
        if lanes.len() == MAX_CONDITIONS {
            return None;
        }
        lanes.push((fields[selector].first_lane, condition.values.clone()));
        Some(Self { selector, lanes })
    }

    /// The same conditions, with all lanes shifted up by `lanes`.
    pub(super) fn after(mut self, lanes: usize) -> Self {
        self.lanes.iter_mut().for_each(|(lane, _)| *lane += lanes);
        self
    }

    /// Adds the field's own condition to the schema's hash.
    pub(super) fn hash_into(&self, add: &mut impl FnMut(&[u8])) {
        if let Some((_, values)) = self.lanes.last() {
            add(&(self.selector as u32).to_le_bytes());
            add(&values.start().to_le_bytes());
            add(&values.end().to_le_bytes());
        }
    }
}
