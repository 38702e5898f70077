//! What a packet is about: the new values, and what they cost.

use alloc::vec::Vec;

/// The new values: an encoder's as they are, a decoder's as in the baseline, to be overwritten.
pub(super) struct Values<'a> {
    columns: &'a mut [Vec<u32>],
    is_bad: bool,
}

impl<'a> Values<'a> {
    pub(super) fn new(columns: &'a mut [Vec<u32>]) -> Self {
        Self { columns, is_bad: false }
    }

    #[inline]
    pub(super) fn columns(&self) -> &[Vec<u32>] {
        self.columns
    }

    #[inline]
    pub(super) fn at(&self, lane: usize, entity: usize) -> u32 {
        self.columns[lane][entity]
    }

    #[inline]
    pub(super) fn put(&mut self, lane: usize, entity: usize, value: u32) {
        self.columns[lane][entity] = value;
    }

    /// Puts a value that has to be in 0..=max.
    #[inline]
    pub(super) fn put_within(&mut self, lane: usize, entity: usize, value: u32, max: u32) {
        self.is_bad |= value > max;
        self.columns[lane][entity] = value.min(max);
    }

    /// Notes that a value left its lane.
    pub(super) fn refuse(&mut self) {
        self.is_bad = true;
    }

    /// Whether a value left its lane: the bytes are nobody's snapshot.
    pub(super) fn is_bad(&self) -> bool {
        self.is_bad
    }
}

/// What a packet takes, in 1/256 bit.
pub(super) struct Spent<'a> {
    most: u64,
    fields: &'a mut [u64],
    lanes: &'a mut [u64],
}

impl<'a> Spent<'a> {
    /// Begins to count for a packet of at most `most_bits`, by field and by lane.
    pub(super) fn new(most_bits: u64, fields: &'a mut [u64], lanes: &'a mut [u64]) -> Self {
        fields.fill(0);
        lanes.fill(0);
        Self { most: most_bits.saturating_mul(256), fields, lanes }
    }

    /// What the packet may take: an encoder ends it before.
    pub(super) fn most(&self) -> u64 {
        self.most
    }

    /// A field took this; what no field took is for who changed.
    pub(super) fn by_field(&mut self, field: usize, spent: u64) {
        self.fields[field] += spent;
    }

    /// The value of a lane took this; who came is among the rest.
    #[inline]
    pub(super) fn by_lane(&mut self, lane: usize, spent: u64) {
        self.lanes[lane] += spent;
    }
}
