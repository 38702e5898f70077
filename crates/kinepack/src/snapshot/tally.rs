//! What each entity and each lane of a packet took: for tools, and only where one asks.

use alloc::vec::Vec;

/// Bits by entity, and by lane. Keeps its memory.
#[derive(Debug, Default)]
pub(super) struct Tally {
    is_wanted: bool,
    /// Indices and bits; empty where nobody asks.
    bits: Vec<(u32, u32)>,
    /// Of the values of all entities, by the schema's lanes; empty where nobody asks.
    lanes_bits: Vec<u64>,
}

impl Tally {
    pub(super) fn new(is_wanted: bool) -> Self {
        Self { is_wanted, bits: Vec::new(), lanes_bits: Vec::new() }
    }

    /// Whether somebody asks.
    pub(super) fn is_wanted(&self) -> bool {
        self.is_wanted
    }

    /// Begins a packet of these entities and so many lanes, with none of their bits.
    pub(super) fn begin(&mut self, entities: impl Iterator<Item = u32>, lanes: usize) {
        self.bits.clear();
        self.lanes_bits.clear();
        if self.is_wanted {
            self.bits.extend(entities.map(|entity| (entity, 0)));
            self.lanes_bits.resize(lanes, 0);
        }
    }

    /// Bits of the `nth` of them, where somebody asks.
    pub(super) fn add(&mut self, nth: usize, bits: u64) {
        self.bits[nth].1 += bits as u32;
    }

    /// Where bits of lanes are added, where somebody asks.
    pub(super) fn lanes_mut(&mut self) -> &mut [u64] {
        &mut self.lanes_bits
    }

    /// Takes instead what lanes took in 1/256 bit, where somebody asks.
    pub(super) fn replace_lanes(&mut self, spent: &[u64]) {
        self.lanes_bits.iter_mut().zip(spent).for_each(|(bits, spent)| *bits = (spent + 128) >> 8);
    }

    /// Takes instead what entities took in 1/256 bit, in the order of their packet, which has
    /// `packet_bits`. What is rounded off is carried on, so that all together are right too.
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
    fn nothing_is_lost_by_rounding() {
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
            "no more than the packet has"
        );
    }
}
