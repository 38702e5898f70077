//! The content of a packet: the new values, and the bits that they cost.

use alloc::vec::Vec;
use core::ops::Range;

/// The columns of all new values, or of some lanes.
pub(super) enum Columns<'a> {
    /// In an encoder: the values to code.
    Given(&'a [Vec<u32>]),
    /// In a decoder: the baseline's values, until the packet's values replace them.
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

    /// Stores a decoded value. An encoder already has the value, so it stores nothing.
    #[inline]
    pub(super) fn put(&mut self, lane: usize, entity: usize, value: u32) {
        match self {
            Self::Given(columns) => debug_assert_eq!(columns[lane][entity], value),
            Self::Read(columns) => columns[lane][entity] = value,
        }
    }

    /// Returns the columns of these lanes.
    pub(super) fn slice(&mut self, lanes: Range<usize>) -> Columns<'_> {
        match self {
            Self::Given(columns) => Columns::Given(&columns[lanes]),
            Self::Read(columns) => Columns::Read(&mut columns[lanes]),
        }
    }
}

/// The new values of a packet.
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

    /// Returns the columns of these lanes, for coding.
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

    /// Records that a decoded value is out of its lane's range.
    pub(super) fn refuse(&mut self) {
        self.is_invalid = true;
    }

    /// Returns whether a decoded value was refused, so the bytes are not a snapshot.
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
    /// Starts the counts of a packet of at most `max_bits`: in `fields` for each field, in `lanes`
    /// for each lane.
    pub(super) fn new(max_bits: u64, fields: &'a mut [u64], lanes: &'a mut [u64]) -> Self {
        fields.fill(0);
        lanes.fill(0);
        Self { max: max_bits.saturating_mul(256), fields, lanes }
    }

    /// Returns the limit of the packet, before which an encoder tries to end it.
    pub(super) fn max(&self) -> u64 {
        self.max
    }

    /// Adds bits to the cost of a field. Bits that are not added to any field count as bits of the
    /// sets.
    pub(super) fn add_field(&mut self, field: usize, spent: u64) {
        self.fields[field] += spent;
    }

    /// Adds bits to the cost of a lane's values in entities that are not added. The bits of added
    /// entities count for a field, but not for a lane.
    #[inline]
    pub(super) fn add_lane(&mut self, lane: usize, spent: u64) {
        self.lanes[lane] += spent;
    }
}
