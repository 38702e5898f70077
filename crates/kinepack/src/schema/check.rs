//! Checks whether a type has a given schema. Every push and read makes this check, so the check
//! must not build the type's schema each time.
//!
//! The address of [`Pack::fields`] identifies the type. The linker may merge the functions of two
//! types into one address, but only if both have the same code. Then the types also have the same
//! fields. One type may have several addresses, because each crate may hold a copy of the code.
//! Each further address costs another full check, so `TypeCheck` remembers the last two.

use alloc::vec::Vec;
use core::ops::Range;
use core::sync::atomic::{AtomicUsize, Ordering};

use super::coarser::Coarseness;
use super::condition::Conditions;
use super::resolve::ResolvedFields;
use super::{Field, Lane, Pack};
use crate::coarse::coarsened;

/// The hash of a schema, and the types that were found to have this schema.
///
/// A check compares two numbers if the type is one of the last two that passed. Otherwise it lists
/// and hashes the type's fields.
#[derive(Debug)]
pub(crate) struct TypeCheck {
    schema_hash: u64,
    /// The addresses of [`Pack::fields`] of the last types that passed, the newest first; 0 if
    /// there is no such type. Relaxed operations are enough, because any address that a thread
    /// reads here belongs to a type that has passed.
    passed: [AtomicUsize; 2],
}

impl TypeCheck {
    /// Makes a check against the schema with this hash. At first, no type has passed.
    pub(super) fn new(schema_hash: u64) -> Self {
        Self { schema_hash, passed: [const { AtomicUsize::new(0) }; 2] }
    }

    /// The schema's hash.
    #[inline]
    pub(crate) fn schema_hash(&self) -> u64 {
        self.schema_hash
    }

    /// Checks that `T` has the schema.
    ///
    /// # Errors
    /// The hash of `T`'s schema, if it is another one.
    #[inline]
    pub(crate) fn check<T: Pack>(&self) -> Result<(), u64> {
        if self.knows::<T>() { Ok(()) } else { self.check_anew::<T>() }
    }

    /// Returns whether `T` is one of the last two types that passed.
    #[inline]
    pub(super) fn knows<T: Pack>(&self) -> bool {
        let address = address_of::<T>();
        let [newest, older] = &self.passed;
        newest.load(Ordering::Relaxed) == address || older.load(Ordering::Relaxed) == address
    }

    #[cold]
    #[inline(never)]
    fn check_anew<T: Pack>(&self) -> Result<(), u64> {
        let hash = hash_of_type::<T>();
        if hash != self.schema_hash {
            return Err(hash);
        }
        self.remember::<T>();
        Ok(())
    }

    /// Remembers that `T` has the schema.
    pub(super) fn remember<T: Pack>(&self) {
        let [newest, older] = &self.passed;
        older.store(newest.load(Ordering::Relaxed), Ordering::Relaxed);
        newest.store(address_of::<T>(), Ordering::Relaxed);
    }
}

/// Computes the hash of the schema of `T` alone.
///
/// # Panics
/// In the same cases as [`Schema::of`](super::Schema::of).
pub(super) fn hash_of_type<T: Pack>() -> u64 {
    let mut fields = Vec::new();
    T::fields("", &mut fields);
    ResolvedFields::valid(fields).hash()
}

/// Returns the address that identifies `T`: that of [`Pack::fields`] of `T`.
#[inline]
fn address_of<T: Pack>() -> usize {
    T::fields as fn(&str, &mut Vec<Field>) as usize
}

/// The values that the lanes of an entity may have.
#[derive(Debug)]
pub(crate) struct LaneRules {
    /// The largest value of each lane.
    maxima: Vec<u32>,
    /// The lanes of each field, and the conditions under which the field is present.
    fields: Vec<(Range<usize>, Conditions)>,
    /// True if the schema has a field that may be absent.
    has_optional: bool,
    coarse: Vec<CoarseRule>,
}

/// The lanes of a field that may be coarser.
#[derive(Debug)]
pub(crate) struct CoarseRule {
    pub(crate) lanes: Range<usize>,
    pub(crate) coarseness: Coarseness,
    /// The conditions under which the coarseness is present.
    pub(crate) conditions: Conditions,
}

impl CoarseRule {
    /// Makes the rule of a field among those of its kind. Returns `None` if the field is always
    /// exact.
    fn new(field: &Field, fields: &[Field]) -> Option<Self> {
        let coarseness = field.coarseness()?;
        let conditions = fields[coarseness.field].conditions().clone();
        Some(Self { lanes: field.coarse_lanes(), coarseness, conditions })
    }
}

impl LaneRules {
    pub(super) fn new(fields: &[Field], lanes: &[Lane]) -> Self {
        Self {
            maxima: lanes.iter().map(|lane| lane.max).collect(),
            fields: fields
                .iter()
                .map(|field| (field.lanes(), field.conditions().clone()))
                .collect(),
            has_optional: fields.iter().any(|field| !field.conditions().is_empty()),
            coarse: fields.iter().filter_map(|field| CoarseRule::new(field, fields)).collect(),
        }
    }

    /// The lanes of each field, and the conditions under which the field is present.
    pub(crate) fn fields(&self) -> &[(Range<usize>, Conditions)] {
        &self.fields
    }

    /// The largest value of each lane.
    #[inline]
    pub(crate) fn maxima(&self) -> &[u32] {
        &self.maxima
    }

    /// Returns whether some field may be absent.
    #[inline]
    pub(crate) fn has_optional(&self) -> bool {
        self.has_optional
    }

    /// The lanes of each field that may be coarser.
    #[inline]
    pub(crate) fn coarse(&self) -> &[CoarseRule] {
        &self.coarse
    }

    /// Returns whether the lanes of an entity depend on one another.
    #[inline]
    pub(crate) fn are_linked(&self) -> bool {
        self.has_optional || !self.coarse.is_empty()
    }

    /// The number of lanes.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.maxima.len()
    }

    /// Finds the first lane in `row` that is above its maximum, or that is not 0 although its field
    /// is absent. Returns the lane's index and value. `row` holds the lanes of one entity.
    #[inline]
    pub(crate) fn first_wrong(&self, row: &[u32]) -> Option<(usize, u32)> {
        // Compares all lanes without a branch. In most cases all are within their limits, and the
        // compiler can compare several at once.
        let is_any =
            row.iter().zip(&self.maxima).fold(false, |any, (value, max)| any | (value > max));
        if is_any || self.has_optional { self.find_wrong(row) } else { None }
    }

    /// Finds the first lane in `row` that is finer than the entity's coarseness allows. Returns the
    /// lane's index and value. `row` holds the lanes of one entity.
    #[inline]
    pub(crate) fn first_too_fine(&self, row: &[u32]) -> Option<(usize, u32)> {
        self.coarse.iter().find_map(|CoarseRule { lanes, coarseness, .. }| {
            let shift = coarseness.shift(row[coarseness.lane]);
            let is_fine = |lane: &usize| {
                shift > 0 && coarsened(row[*lane], shift, self.maxima[*lane]) != row[*lane]
            };
            lanes.clone().find(is_fine).map(|lane| (lane, row[lane]))
        })
    }

    fn find_wrong(&self, row: &[u32]) -> Option<(usize, u32)> {
        let beyond = || row.iter().zip(&self.maxima).position(|(value, max)| value > max);
        let absent = || {
            self.fields.iter().find_map(|(lanes, conditions)| {
                let lane = lanes.clone().find(|lane| row[*lane] != 0)?;
                (!conditions.hold(|lane| row[lane])).then_some(lane)
            })
        };
        beyond().or_else(absent).map(|lane| (lane, row[lane]))
    }
}
