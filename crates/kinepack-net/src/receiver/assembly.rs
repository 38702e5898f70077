//! Puts a block together from fragments in any order. `spec/NET.md`, section 5.
//!
//! Memory: the parts that arrived, up to the limit, and 40 bytes for each fragment.

use std::collections::BTreeMap;

use crate::packet::FragmentHeader;
use crate::trace::event;
use crate::{Refused, Sequence};

/// The parts of the newest block that have arrived.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    block: Option<Block>,
    /// The number and newest sequence of the last complete block. Further parts of it, and of older
    /// blocks, are ignored.
    whole: Option<(u8, Sequence)>,
}

/// A block is given up after this many newer sequences. This is far below half the number space,
/// beyond which older sequences would seem newer.
const FORGOTTEN: i32 = 0x4000;

#[derive(Debug)]
struct Block {
    number: u8,
    newest: Sequence,
    count: u16,
    parts: BTreeMap<u16, Box<[u8]>>,
    bytes: usize,
}

/// The effect of a fragment.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Added {
    /// The part is kept or was already there; the block is incomplete.
    Part,
    /// This part would complete the block: its number and bytes. Nothing has changed yet;
    /// [`Assembly::finish`] changes it.
    Whole(u8, Vec<u8>),
}

impl Assembly {
    /// Takes a fragment.
    pub(super) fn add(
        &mut self,
        header: &FragmentHeader,
        part: &[u8],
        limit_bytes: usize,
    ) -> Result<Added, Refused> {
        let FragmentHeader { sequence, block: number, index, count } = *header;
        let newest =
            self.block.as_ref().map(|block| block.newest).or(self.whole.map(|(_, newest)| newest));
        let is_newer = newest.is_none_or(|newest| sequence.since(newest) > 0);
        match &mut self.block {
            Some(block) if block.number == number => {
                if block.count != count {
                    return Err(Refused::BadFragment);
                }
                let known = block.parts.get(&index);
                if known.is_some_and(|known| **known != *part) {
                    return Err(Refused::BadFragment);
                }
                if known.is_none() {
                    if block.bytes + part.len() > limit_bytes {
                        return Err(Refused::BlockTooLarge { limit_bytes });
                    }
                    if block.parts.len() + 1 == usize::from(count) {
                        let before = block.parts.range(..index).map(|(_, part)| &**part);
                        let after = block.parts.range(index..).map(|(_, part)| &**part);
                        let bytes = before.chain([part]).chain(after).flatten().copied().collect();
                        return Ok(Added::Whole(number, bytes));
                    }
                    block.bytes += part.len();
                    block.parts.insert(index, part.into());
                }
                if is_newer {
                    block.newest = sequence;
                }
            }
            // A part of a block that is complete, or that the sender gave up.
            _ if self.whole.is_some_and(|(whole, _)| whole == number) || !is_newer => {}
            _ => {
                if part.len() > limit_bytes {
                    return Err(Refused::BlockTooLarge { limit_bytes });
                }
                if count == 1 {
                    return Ok(Added::Whole(number, part.to_vec()));
                }
                let parts = BTreeMap::from([(index, part.into())]);
                self.whole = None;
                event!(debug, block = number, fragments = count, "block started");
                self.block =
                    Some(Block { number, newest: sequence, count, parts, bytes: part.len() });
            }
        }
        Ok(Added::Part)
    }

    /// Takes out the completed block, after it was decoded.
    pub(super) fn finish(&mut self, number: u8, sequence: Sequence) {
        let newest =
            self.block.take().filter(|block| block.number == number).map(|block| block.newest);
        self.whole =
            Some((number, newest.filter(|newest| sequence.since(*newest) < 0).unwrap_or(sequence)));
    }

    /// Forgets blocks so old that their sequences would soon seem new.
    pub(super) fn tidy(&mut self, newest: Sequence) {
        self.block.take_if(|block| newest.since(block.newest) > FORGOTTEN);
        self.whole.take_if(|(_, sequence)| newest.since(*sequence) > FORGOTTEN);
    }

    /// How many parts of the current block arrived, and how many it has.
    pub(super) fn progress(&self) -> Option<(usize, usize)> {
        self.block.as_ref().map(|block| (block.parts.len(), usize::from(block.count)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(
        assembly: &mut Assembly,
        sequence: u16,
        block: u8,
        index: u16,
        count: u16,
    ) -> Result<Added, Refused> {
        let header = FragmentHeader { sequence: Sequence(sequence), block, index, count };
        assembly.add(&header, &[index as u8; 10], 35)
    }

    #[test]
    fn fragments_arrive_in_any_order_and_repeatedly() {
        let mut assembly = Assembly::default();
        assert_eq!(add(&mut assembly, 9, 1, 2, 3), Ok(Added::Part));
        assert_eq!(add(&mut assembly, 7, 1, 0, 3), Ok(Added::Part));
        assert_eq!(add(&mut assembly, 12, 1, 0, 3), Ok(Added::Part));
        assert_eq!(assembly.progress(), Some((2, 3)));
        let Ok(Added::Whole(1, bytes)) = add(&mut assembly, 8, 1, 1, 3) else { panic!() };
        assembly.finish(1, Sequence(8));
        assert_eq!(bytes, [[0; 10], [1; 10], [2; 10]].concat());
        assert_eq!(add(&mut assembly, 14, 1, 1, 3), Ok(Added::Part), "part of a complete block");
        assert_eq!(assembly.progress(), None);
    }

    #[test]
    fn a_newer_block_replaces_an_older_one() {
        let mut assembly = Assembly::default();
        assert_eq!(add(&mut assembly, 5, 1, 0, 2), Ok(Added::Part));
        assert_eq!(add(&mut assembly, 8, 2, 0, 2), Ok(Added::Part));
        assert_eq!(add(&mut assembly, 6, 1, 1, 2), Ok(Added::Part), "given up");
        assert!(matches!(add(&mut assembly, 9, 2, 1, 2), Ok(Added::Whole(2, _))));
    }

    #[test]
    fn contradictory_and_oversized_blocks_are_refused() {
        let mut assembly = Assembly::default();
        assert_eq!(add(&mut assembly, 1, 1, 0, 9), Ok(Added::Part));
        assert_eq!(add(&mut assembly, 2, 1, 1, 8), Err(Refused::BadFragment));
        let header = FragmentHeader { sequence: Sequence(3), block: 1, index: 0, count: 9 };
        assert_eq!(assembly.add(&header, &[9; 10], 35), Err(Refused::BadFragment));
        assert_eq!(add(&mut assembly, 4, 1, 1, 9), Ok(Added::Part));
        assert_eq!(add(&mut assembly, 5, 1, 2, 9), Ok(Added::Part));
        assert_eq!(add(&mut assembly, 6, 1, 3, 9), Err(Refused::BlockTooLarge { limit_bytes: 35 }));
        assert_eq!(assembly.progress(), Some((3, 9)));
    }
}
