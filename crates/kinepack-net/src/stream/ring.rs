//! The last records of a stream by number, and what was learned with the packets among them. Both ends keep one; never allocates after
//! construction.

use kinepack::stream::{Learned, StreamBase, StreamCodec};

use crate::Sequence;

/// What there is of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Held {
    /// Nothing.
    #[default]
    Nothing,
    /// The record alone.
    Record,
    /// The record as the newest of its packet: a base.
    Packet,
}

/// The place of a number is its remainder by the length, which divides 2¹⁶, so that numbers may wrap.
///
/// Invariant: what is held is of the `len` newest numbers, each in its place.
#[derive(Clone, Debug)]
pub(super) struct Ring {
    lanes_per_record: usize,
    /// `None` before the first record.
    newest: Option<Sequence>,
    held: Vec<Held>,
    lanes: Vec<u32>,
    learned: Vec<Learned>,
}

impl Ring {
    /// A ring for so many records, a power of two up to 256.
    pub(super) fn new(codec: &StreamCodec, len: usize) -> Self {
        debug_assert!(len.is_power_of_two() && len <= 256);
        Self {
            lanes_per_record: codec.lanes(),
            newest: None,
            held: vec![Held::Nothing; len],
            lanes: vec![0; len * codec.lanes()],
            learned: (0..len).map(|_| codec.nothing_learned()).collect(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.held.len()
    }

    pub(super) fn newest(&self) -> Option<Sequence> {
        self.newest
    }

    fn place(&self, number: Sequence) -> usize {
        usize::from(number.0) % self.held.len()
    }

    /// What there is of `number`; nothing of those ahead of the newest or too far behind it.
    pub(super) fn held(&self, number: Sequence) -> Held {
        let behind = self.newest.map(|newest| newest.since(number));
        let is_within = behind.is_some_and(|behind| (0..self.len() as i32).contains(&behind));
        if is_within { self.held[self.place(number)] } else { Held::Nothing }
    }

    /// The lanes of a record, while it is held.
    pub(super) fn record(&self, number: Sequence) -> Option<&[u32]> {
        let is_held = self.held(number) != Held::Nothing;
        is_held.then(|| &self.lanes[self.place(number) * self.lanes_per_record..][..self.lanes_per_record])
    }

    /// A packet as the base of a record `lag` later, while it is held.
    pub(super) fn base(&self, number: Sequence, lag: u16) -> Option<StreamBase<'_>> {
        let lanes = self.record(number).filter(|_| self.held(number) == Held::Packet)?;
        Some(StreamBase { lanes, learned: &self.learned[self.place(number)], lag })
    }

    /// Makes `number`, which is ahead of the newest, the newest; what falls out of the ring is forgotten.
    pub(super) fn advance(&mut self, number: Sequence) {
        let ahead = self.newest.map_or(self.len(), |newest| number.since(newest).unsigned_abs() as usize);
        for behind in 0..ahead.min(self.len()) {
            let place = self.place(number.before(behind as u16));
            self.held[place] = Held::Nothing;
        }
        self.newest = Some(number);
    }

    /// Forgets everything, as before the first record.
    pub(super) fn clear(&mut self) {
        self.newest = None;
        self.held.fill(Held::Nothing);
    }

    /// Puts a record into its place. It must be less than the ring's length behind the newest.
    pub(super) fn put(&mut self, number: Sequence, lanes: &[u32]) {
        debug_assert!(self.newest.is_some_and(|newest| (0..self.len() as i32).contains(&newest.since(number))));
        let place = self.place(number);
        self.lanes[place * self.lanes_per_record..][..self.lanes_per_record].copy_from_slice(lanes);
        self.held[place] = Held::Record;
    }

    /// Makes a record that is held a base, with what was learned up to it: `learned` is exchanged for something of the same size.
    pub(super) fn make_base(&mut self, number: Sequence, learned: &mut Learned) {
        debug_assert!(self.held(number) != Held::Nothing);
        let place = self.place(number);
        self.held[place] = Held::Packet;
        std::mem::swap(&mut self.learned[place], learned);
    }

    /// Bytes on the heap.
    pub(super) fn memory_bytes(&self) -> usize {
        self.held.capacity() * size_of::<Held>()
            + self.lanes.capacity() * size_of::<u32>()
            + self.learned.capacity() * size_of::<Learned>()
            + self.learned.iter().map(Learned::memory_bytes).sum::<usize>()
    }
}
