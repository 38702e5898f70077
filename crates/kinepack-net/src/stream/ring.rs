//! The last records of a stream by number, and what was learned with the packets among them. Both
//! ends keep one; never allocates after construction.

use kinepack::stream::{Learned, StreamBase, StreamCodec};

use super::config::MOST_PACKETS;
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

/// The place of a number is its remainder by the length, which divides 2¹⁶, so that numbers may
/// wrap.
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
    /// A ring for so many records: a power of two up to [`MOST_PACKETS`], or else the next one that
    /// is.
    pub(super) fn new(codec: &StreamCodec, len: usize) -> Self {
        let len = len.min(MOST_PACKETS).next_power_of_two();
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

    /// Where a number has its place; `None` for those ahead of the newest or too far behind it.
    fn place(&self, number: Sequence) -> Option<usize> {
        let behind = self.newest?.since(number);
        (0..self.len() as i32).contains(&behind).then(|| usize::from(number.0) % self.len())
    }

    /// What there is of `number`; nothing of those ahead of the newest or too far behind it.
    pub(super) fn held(&self, number: Sequence) -> Held {
        self.place(number).map_or(Held::Nothing, |place| self.held[place])
    }

    /// The lanes of a record, while it is held.
    pub(super) fn record(&self, number: Sequence) -> Option<&[u32]> {
        let place = self.place(number).filter(|place| self.held[*place] != Held::Nothing)?;
        Some(&self.lanes[place * self.lanes_per_record..][..self.lanes_per_record])
    }

    /// A packet as the base of a record `lag` later, while it is held.
    pub(super) fn base(&self, number: Sequence, lag: u16) -> Option<StreamBase<'_>> {
        let place = self.place(number).filter(|place| self.held[*place] == Held::Packet)?;
        let lanes = &self.lanes[place * self.lanes_per_record..][..self.lanes_per_record];
        Some(StreamBase { lanes, learned: &self.learned[place], lag })
    }

    /// Makes `number`, which is ahead of the newest, the newest; what falls out of the ring is
    /// forgotten.
    pub(super) fn advance(&mut self, number: Sequence) {
        let ahead =
            self.newest.map_or(self.len(), |newest| number.since(newest).unsigned_abs() as usize);
        self.newest = Some(number);
        for behind in 0..ahead.min(self.len()) {
            if let Some(place) = self.place(number.before(behind as u16)) {
                self.held[place] = Held::Nothing;
            }
        }
    }

    /// Forgets everything, as before the first record.
    pub(super) fn clear(&mut self) {
        self.newest = None;
        self.held.fill(Held::Nothing);
    }

    /// Puts a record into its place. One that has none, ahead of the newest or too far behind it,
    /// is not kept.
    pub(super) fn put(&mut self, number: Sequence, lanes: &[u32]) {
        let Some(place) = self.place(number) else { return };
        self.lanes[place * self.lanes_per_record..][..self.lanes_per_record].copy_from_slice(lanes);
        self.held[place] = Held::Record;
    }

    /// Makes a record that is held a base, with what was learned up to it: `learned` is exchanged
    /// for something of the same size. Does nothing where the record is not held.
    pub(super) fn make_base(&mut self, number: Sequence, learned: &mut Learned) {
        let place = self.place(number).filter(|place| self.held[*place] != Held::Nothing);
        let Some(place) = place else { return };
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
