//! Counts the bits that each entity and each lane of a packet takes. Only tools need these counts,
//! so counting is off by default.

use alloc::vec::Vec;

/// The number of bits of each entity and of each lane. A tally keeps its memory from packet to
/// packet.
#[derive(Debug, Default)]
pub(super) struct Tally {
    is_wanted: bool,
    /// The index and the bits of each entity; empty if counts are not wanted.
    bits: Vec<(u32, u32)>,
    /// The bits of the values of all entities, for each lane of the schema; empty if counts are not
    /// wanted.
    lanes_bits: Vec<u64>,
}

impl Tally {
    pub(super) fn new(is_wanted: bool) -> Self {
        Self { is_wanted, bits: Vec::new(), lanes_bits: Vec::new() }
    }

    /// Returns whether counts are wanted.
    pub(super) fn is_wanted(&self) -> bool {
        self.is_wanted
    }

    /// Begins a packet of these entities, with zero bits for each entity and for each of `lanes`
    /// lanes.
    pub(super) fn begin(&mut self, entities: impl Iterator<Item = u32>, lanes: usize) {
        self.bits.clear();
        self.lanes_bits.clear();
        if self.is_wanted {
            self.bits.extend(entities.map(|entity| (entity, 0)));
            self.lanes_bits.resize(lanes, 0);
        }
    }

    /// Adds bits to the packet's `nth` entity. Call this only if counts are wanted.
    pub(super) fn add(&mut self, nth: usize, bits: u64) {
        self.bits[nth].1 += bits as u32;
    }

    /// The counts of the lanes, which the caller may increase. The slice is empty if counts are not
    /// wanted.
    pub(super) fn lanes_mut(&mut self) -> &mut [u64] {
        &mut self.lanes_bits
    }

    /// Replaces the counts of the lanes with `spent`, which is in 1/256 bit.
    pub(super) fn replace_lanes(&mut self, spent: &[u64]) {
        self.lanes_bits.iter_mut().zip(spent).for_each(|(bits, spent)| *bits = (spent + 128) >> 8);
    }

    /// Replaces the counts of the entities with `spent`, which is in 1/256 bit and in the order of
    /// a packet of `packet_bits`. Rounding errors carry over to the next entity, so that the sum is
    /// exact.
    pub(super) fn replace(&mut self, spent: &[(u32, u64)], packet_bits: u64) {
        self.bits.clear();
        let (mut spent_so_far, mut bits_so_far) = (0, 0);
        self.bits.extend(spent.iter().map(|&(entity, spent)| {
            spent_so_far += spent;
            let before = bits_so_far;
            bits_so_far = ((spent_so_far + 128) >> 8).min(packet_bits);
            (entity, (bits_so_far - before) as u32)
        }));
        self.bits.sort_unstable();
    }

    pub(super) fn bits(&self) -> &[(u32, u32)] {
        &self.bits
    }

    pub(super) fn lanes_bits(&self) -> &[u64] {
        &self.lanes_bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_preserves_the_sum() {
        let mut tally = Tally::new(true);
        let thirds: Vec<(u32, u64)> =
            (0..300).rev().map(|entity| (entity, 85 + u64::from(entity % 3 == 0))).collect();
        tally.replace(&thirds, 1000);
        assert!(tally.bits().is_sorted() && tally.bits().iter().all(|(_, bits)| *bits <= 1));
        assert_eq!(tally.bits().iter().map(|(_, bits)| bits).sum::<u32>(), 100);
        tally.replace(&thirds, 99);
        assert_eq!(
            tally.bits().iter().map(|(_, bits)| bits).sum::<u32>(),
            99,
            "at most the bits of the packet"
        );
    }
}
