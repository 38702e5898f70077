//! Conditions, which decide when a field is present. `spec/CODEC.md`, section 5.5, defines them.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::RangeInclusive;

/// The maximum number of conditions of a field, including those of its selectors. Each field stores
/// all of its conditions, so without a limit the memory could grow with the square of the number of
/// fields.
const MAX_CONDITIONS: usize = 64;

/// The condition under which a field is present: an earlier field, its *selector*, is present and
/// has one of the values in [`values`](Self::values).
///
/// The selector is a flag, a choice, or an integer of one lane. The selector of a spawn field is a
/// spawn field too. A selector may have a selector of its own, in a chain of up to 64. An absent
/// field has 0 in all of its lanes, and takes no bits in a packet. `#[derive(Pack)]` makes
/// conditions for `Option`, enums with fields, and [`ArrayVec`](crate::ArrayVec).
///
/// ```
/// use kinepack::quantize::IntegerLimits;
/// use kinepack::schema::{Condition, Field, FieldKind};
/// use kinepack::{EncodeError, EntityId, Schema, Snapshot, Tick};
///
/// // `#[derive(Pack)]` makes these fields from `fuel: Option<u8>` with `max = 100`.
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
    /// The name of the selector. If several earlier fields have this name, the last of them is the
    /// selector.
    pub selector: String,
    /// The values of the selector's lane for which the field is present.
    pub values: RangeInclusive<u32>,
}

impl Condition {
    /// Makes a condition on the field with the name `selector`.
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

/// The conditions of a field and of its selectors, as lanes and values. A field without conditions
/// is always present.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Conditions {
    /// The index of the field's selector in its kind; 0 if the field has no conditions.
    selector: usize,
    /// The selectors' lanes and the values that these lanes must have: first the lanes of the
    /// selector's own conditions, then the selector's lane.
    lanes: Vec<(usize, RangeInclusive<u32>)>,
}

impl Conditions {
    /// Returns whether the field is always present.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.lanes.is_empty()
    }

    /// The lanes of the selector and of its own selectors.
    pub(crate) fn selectors(&self) -> impl Iterator<Item = usize> + '_ {
        self.lanes.iter().map(|(lane, _)| *lane)
    }

    /// Returns whether the field is present in the entity that has these lanes.
    #[inline]
    pub(crate) fn hold(&self, lane: impl Fn(usize) -> u32) -> bool {
        self.lanes.iter().all(|(selector, values)| values.contains(&lane(*selector)))
    }

    /// Returns whether the field of the entity at `index` is present in a snapshot with these
    /// columns.
    #[inline]
    pub(crate) fn hold_at(&self, columns: &[Vec<u32>], index: usize) -> bool {
        self.hold(|lane| columns[lane][index])
    }

    /// Compares whether the field is present in an entity now with whether it was before. The
    /// selectors' lanes must already be known.
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

    /// Makes the conditions of a field whose selector has the index `selector` in its kind, the
    /// lane `lane`, and the conditions `of_selector`. Returns `None` if the chain of selectors is
    /// too long.
    pub(super) fn on(
        selector: usize,
        lane: usize,
        of_selector: &Self,
        values: RangeInclusive<u32>,
    ) -> Option<Self> {
        if of_selector.lanes.len() == MAX_CONDITIONS {
            return None;
        }
        let mut lanes = of_selector.lanes.clone();
        lanes.push((lane, values));
        Some(Self { selector, lanes })
    }

    /// Returns the same conditions, with all lanes shifted up by `lanes`.
    pub(super) fn after(mut self, lanes: usize) -> Self {
        self.lanes.iter_mut().for_each(|(lane, _)| *lane += lanes);
        self
    }

    /// Returns the only condition, as a lane and its values; `Some(None)` if there is none, and
    /// `None` if the selector has conditions of its own.
    pub(super) fn only(&self) -> Option<Option<&(usize, RangeInclusive<u32>)>> {
        match &self.lanes[..] {
            [] => Some(None),
            [only] => Some(Some(only)),
            _ => None,
        }
    }

    /// The lane of the field's selector, if the field has conditions.
    pub(super) fn selector_lane(&self) -> Option<usize> {
        self.lanes.last().map(|(lane, _)| *lane)
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
