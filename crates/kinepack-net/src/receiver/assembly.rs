//! A block, put together from fragments in any order. `spec/NET.md`, section 5.
//!
//! Memory: the parts that came, at most the limit, and 40 bytes a fragment.

use std::collections::BTreeMap;

use crate::packet::FragmentHeader;
use crate::{Refused, Sequence};

/// The newest block, as far as it is there.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    block: Option<Block>,
    /// The number of the block that was whole last, until another begins: parts of it that come again say nothing.
    whole: Option<u8>,
}

#[derive(Debug)]
struct Block {
    number: u8,
    newest: Sequence,
    count: u16,
    parts: BTreeMap<u16, Box<[u8]>>,
    bytes: usize,
}

/// What a fragment did.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Added {
    /// It is kept, or was there; the block is not whole.
    Part,
    /// The block is whole: its number and bytes.
    Whole(u8, Vec<u8>),
}

impl Assembly {
    /// Takes a fragment.
    pub(super) fn add(&mut self, header: &FragmentHeader, part: &[u8], limit_bytes: usize) -> Result<Added, Refused> {
        let FragmentHeader { sequence, block: number, index, count } = *header;
        let is_newer = self.block.as_ref().is_none_or(|block| sequence.since(block.newest) > 0);
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
                    block.bytes += part.len();
                    block.parts.insert(index, part.into());
                }
                if is_newer {
                    block.newest = sequence;
                }
            }
            // A part of a block that is whole, or that the sender gave up.
            _ if self.whole == Some(number) || !is_newer => return Ok(Added::Part),
            _ => {
                if part.len() > limit_bytes {
                    return Err(Refused::BlockTooLarge { limit_bytes });
                }
                let parts = BTreeMap::from([(index, part.into())]);
                self.whole = None;
                self.block = Some(Block { number, newest: sequence, count, parts, bytes: part.len() });
            }
        }
        let is_whole = self.block.as_ref().is_some_and(|block| block.parts.len() == usize::from(block.count));
        match self.block.take_if(|_| is_whole) {
            Some(block) => {
                self.whole = Some(number);
                Ok(Added::Whole(number, block.parts.into_values().flatten().collect()))
            }
            None => Ok(Added::Part),
        }
    }

    /// Parts that came of the block at hand, and all.
    pub(super) fn progress(&self) -> Option<(usize, usize)> {
        self.block.as_ref().map(|block| (block.parts.len(), usize::from(block.count)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(assembly: &mut Assembly, sequence: u16, block: u8, index: u16, count: u16) -> Result<Added, Refused> {
        let header = FragmentHeader { sequence: Sequence(sequence), block, index, count };
        assembly.add(&header, &[index as u8; 10], 35)
    }

    #[test]
    fn any_order_and_again_and_again() {
        let mut assembly = Assembly::default();
        assert_eq!(add(&mut assembly, 9, 1, 2, 3), Ok(Added::Part));
        assert_eq!(add(&mut assembly, 7, 1, 0, 3), Ok(Added::Part));
        assert_eq!(add(&mut assembly, 12, 1, 0, 3), Ok(Added::Part));
        assert_eq!(assembly.progress(), Some((2, 3)));
        let Ok(Added::Whole(1, bytes)) = add(&mut assembly, 8, 1, 1, 3) else { panic!() };
        assert_eq!(bytes, [[0; 10], [1; 10], [2; 10]].concat());
        assert_eq!(add(&mut assembly, 14, 1, 1, 3), Ok(Added::Part), "of the one that is whole");
        assert_eq!(assembly.progress(), None);
    }

    #[test]
    fn a_newer_block_takes_the_place_of_an_older_one() {
        let mut assembly = Assembly::default();
        assert_eq!(add(&mut assembly, 5, 1, 0, 2), Ok(Added::Part));
        assert_eq!(add(&mut assembly, 8, 2, 0, 2), Ok(Added::Part));
        assert_eq!(add(&mut assembly, 6, 1, 1, 2), Ok(Added::Part), "given up");
        assert!(matches!(add(&mut assembly, 9, 2, 1, 2), Ok(Added::Whole(2, _))));
    }

    #[test]
    fn contradictions_and_too_much_are_refused() {
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
