//! The content of a packet: the new values, and what they cost.

use alloc::vec::Vec;
use core::ops::Range;

/// The columns of the new values, or some of them.
pub(super) enum Columns<'a> {
    /// An encoder's: the values to code.
    Given(&'a [Vec<u32>]),
    /// A decoder's: the baseline's values, until the packet's values replace them.
    Read(&'a mut [Vec<u32>]),
}

impl Columns<'_> {
    #[inline]
    pub(super) fn all(&self) -> &[Vec<u32>] {
        match self {
            Self::Given(columns) => columns,
            Self::Read(columns) => columns,
        }
    }

    #[inline]
    pub(super) fn at(&self, lane: usize, entity: usize) -> u32 {
        self.all()[lane][entity]
    }

    /// Stores a coded value. An encoder already has it.
    #[inline]
    pub(super) fn put(&mut self, lane: usize, entity: usize, value: u32) {
        match self {
            Self::Given(columns) => debug_assert_eq!(columns[lane][entity], value),
            Self::Read(columns) => columns[lane][entity] = value,
        }
    }

    /// The columns of these lanes.
    pub(super) fn slice(&mut self, lanes: Range<usize>) -> Columns<'_> {
        match self {
            Self::Given(columns) => Columns::Given(&columns[lanes]),
            Self::Read(columns) => Columns::Read(&mut columns[lanes]),
        }
    }
}

/// The new values.
pub(super) struct Values<'a> {
    columns: Columns<'a>,
    is_invalid: bool,
}

impl<'a> Values<'a> {
    pub(super) fn new(columns: Columns<'a>) -> Self {
        Self { columns, is_invalid: false }
    }

    #[inline]
    pub(super) fn columns(&self) -> &[Vec<u32>] {
        self.columns.all()
    }

    /// The columns of these lanes, to code.
    pub(super) fn slice(&mut self, lanes: Range<usize>) -> Columns<'_> {
        self.columns.slice(lanes)
    }

    #[inline]
    pub(super) fn at(&self, lane: usize, entity: usize) -> u32 {
        self.columns.at(lane, entity)
    }

    #[inline]
    pub(super) fn put(&mut self, lane: usize, entity: usize, value: u32) {
        self.columns.put(lane, entity, value);
    }

    /// Sets a value that must be at most `max`.
    #[inline]
    pub(super) fn put_within(&mut self, lane: usize, entity: usize, value: u32, max: u32) {
        self.is_invalid |= value > max;
        self.put(lane, entity, value.min(max));
    }

    /// Records that a decoded value is not possible.
    pub(super) fn refuse(&mut self) {
        self.is_invalid = true;
    }

    /// Whether a decoded value was not possible, so the bytes are not a snapshot.
    pub(super) fn is_invalid(&self) -> bool {
        self.is_invalid
    }
}

/// The cost of a packet, in 1/256 bit.
pub(super) struct Spent<'a> {
    max: u64,
    fields: &'a mut [u64],
    lanes: &'a mut [u64],
}

impl<'a> Spent<'a> {
    /// Starts the counts of a packet of at most `max_bits`: in `fields` by field, in `lanes` by
    /// lane.
    pub(super) fn new(max_bits: u64, fields: &'a mut [u64], lanes: &'a mut [u64]) -> Self {
        fields.fill(0);
        lanes.fill(0);
        Self { max: max_bits.saturating_mul(256), fields, lanes }
    }

    /// The limit of the packet, before which an encoder tries to end it.
    pub(super) fn max(&self) -> u64 {
        self.max
    }

    /// Adds to a field's cost. Whatever is not added to a field counts as sets.
    pub(super) fn add_field(&mut self, field: usize, spent: u64) {
        self.fields[field] += spent;
    }

    /// Adds to the cost of a lane's values. The lanes of added entities are not counted here.
    #[inline]
    pub(super) fn add_lane(&mut self, lane: usize, spent: u64) {
        self.lanes[lane] += spent;
    }
}
