//! The last records of a stream by number, and the learned models of their packets. Each end keeps
//! one ring, which never allocates after construction.

use kinepack::stream::{Learned, StreamBase, StreamCodec};

use super::config::MOST_PACKETS;
use crate::Sequence;

/// What the ring holds for a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Held {
    /// The ring holds nothing.
    #[default]
    Nothing,
    /// The ring holds the record only.
    Record,
    /// The ring holds the record as the newest record of its packet, so it can be a base.
    Packet,
}

/// A ring of records. The place of a number is the number modulo the length. The length divides
/// 2¹⁶, so numbers may wrap.
///
/// Invariant: the ring holds only the `len` newest numbers, each in its place.
#[derive(Clone, Debug)]
pub(super) struct Ring {
    lanes_per_record: usize,
    /// The newest number. `None` before the first record.
    newest: Option<Sequence>,
    held: Vec<Held>,
    /// How early each record arrived. `None` if nothing was measured.
    early_parts: Vec<Option<i16>>,
    lanes: Vec<u32>,
    learned: Vec<Learned>,
}

impl Ring {
    /// Makes a ring for `len` records, rounded up to a power of two, and at most [`MOST_PACKETS`].
    pub(super) fn new(codec: &StreamCodec, len: usize) -> Self {
        let len = len.min(MOST_PACKETS).next_power_of_two();
        Self {
            lanes_per_record: codec.lanes(),
            newest: None,
            held: vec![Held::Nothing; len],
            early_parts: vec![None; len],
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

    /// The place of a number; `None` if the number is ahead of the newest or too far before it.
    fn place(&self, number: Sequence) -> Option<usize> {
        let behind = self.newest?.since(number);
        (0..self.len() as i32).contains(&behind).then(|| usize::from(number.0) % self.len())
    }

    /// What the ring holds for `number`. The ring holds nothing if the number is ahead of the
    /// newest or too far before it.
    pub(super) fn held(&self, number: Sequence) -> Held {
        self.place(number).map_or(Held::Nothing, |place| self.held[place])
    }

    /// The lanes of a record, as long as the ring holds it.
    pub(super) fn record(&self, number: Sequence) -> Option<&[u32]> {
        let place = self.place(number).filter(|place| self.held[*place] != Held::Nothing)?;
        Some(&self.lanes[place * self.lanes_per_record..][..self.lanes_per_record])
    }

    /// A packet as the base of a record `lag` numbers later, as long as the ring holds the packet.
    pub(super) fn base(&self, number: Sequence, lag: u16) -> Option<StreamBase<'_>> {
        let place = self.place(number).filter(|place| self.held[*place] == Held::Packet)?;
        let lanes = &self.lanes[place * self.lanes_per_record..][..self.lanes_per_record];
        Some(StreamBase { lanes, learned: &self.learned[place], lag })
    }

    /// Makes `number`, which must be ahead of the newest, the newest number. Forgets the records
    /// that fall out of the ring.
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

    /// Forgets all records.
    pub(super) fn clear(&mut self) {
        self.newest = None;
        self.held.fill(Held::Nothing);
    }

    /// Stores a record. Ignores a record whose number is ahead of the newest or too far before it.
    pub(super) fn put(&mut self, number: Sequence, lanes: &[u32]) {
        let Some(place) = self.place(number) else { return };
        self.lanes[place * self.lanes_per_record..][..self.lanes_per_record].copy_from_slice(lanes);
        self.held[place] = Held::Record;
        self.early_parts[place] = None;
    }

    /// Notes how early a held record arrived. Does nothing if the ring does not hold the record.
    pub(super) fn note_early(&mut self, number: Sequence, parts: i16) {
        if let Some(place) = self.place(number) {
            self.early_parts[place] = Some(parts);
        }
    }

    /// How early a record arrived, if the ring holds the record and this was measured.
    pub(super) fn early_parts(&self, number: Sequence) -> Option<i16> {
        let place = self.place(number).filter(|place| self.held[*place] != Held::Nothing)?;
        self.early_parts[place]
    }

    /// Makes a held record a base, with the models learned up to it. Swaps `learned` with the old
    /// models of the record's place, which have the same size, so that nothing is allocated. Does
    /// nothing if the ring does not hold the record.
    pub(super) fn make_base(&mut self, number: Sequence, learned: &mut Learned) {
        let place = self.place(number).filter(|place| self.held[*place] != Held::Nothing);
        let Some(place) = place else { return };
        self.held[place] = Held::Packet;
        std::mem::swap(&mut self.learned[place], learned);
    }

    /// The number of heap bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.held.capacity() * size_of::<Held>()
            + self.early_parts.capacity() * size_of::<Option<i16>>()
            + self.lanes.capacity() * size_of::<u32>()
            + self.learned.capacity() * size_of::<Learned>()
            + self.learned.iter().map(Learned::memory_bytes).sum::<usize>()
    }
}
