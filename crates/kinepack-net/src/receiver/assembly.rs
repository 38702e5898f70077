//! Puts a full state together from fragments in any order. See `spec/NET.md`, section 5.
//!
//! Memory: the parts that arrived, up to the limit, and 40 bytes for each fragment of the full
//! state.

use std::collections::BTreeMap;

use crate::packet::FragmentHeader;
use crate::trace::event;
use crate::{Refused, Sequence};

/// The parts of the newest full state that have arrived.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    full_state: Option<FullState>,
    /// The number and newest sequence of the last completed full state. Later parts of this full
    /// state, and parts of older full states, are ignored.
    whole: Option<(u8, Sequence)>,
}

/// A full state is given up after this many newer sequences. This distance is far below half of all
/// sequences. Beyond half, an older sequence would seem newer.
const FORGOTTEN: i32 = 0x4000;

#[derive(Debug)]
struct FullState {
    number: u8,
    newest: Sequence,
    count: u16,
    parts: BTreeMap<u16, Box<[u8]>>,
    bytes: usize,
}

/// The effect of a fragment.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Added {
    /// The part is kept or was already there, and the full state is still incomplete.
    Part,
    /// The part would complete the full state with the number and the bytes in this variant. The
    /// assembly has not changed yet; [`Assembly::finish`] changes it.
    Whole(u8, Vec<u8>),
}

impl Assembly {
    /// Takes a fragment with the header `header` and the contents `part`.
    pub(super) fn add(
        &mut self,
        header: &FragmentHeader,
        part: &[u8],
        limit_bytes: usize,
    ) -> Result<Added, Refused> {
        let FragmentHeader { sequence, full_state: number, index, count } = *header;
        let newest = self
            .full_state
            .as_ref()
            .map(|full_state| full_state.newest)
            .or(self.whole.map(|(_, newest)| newest));
        let is_newer = newest.is_none_or(|newest| sequence.since(newest) > 0);
        match &mut self.full_state {
            Some(full_state) if full_state.number == number => {
                if full_state.count != count {
                    return Err(Refused::BadFragment);
                }
                let known = full_state.parts.get(&index);
                if known.is_some_and(|known| **known != *part) {
                    return Err(Refused::BadFragment);
                }
                if known.is_none() {
                    if full_state.bytes + part.len() > limit_bytes {
                        return Err(Refused::FullStateTooLarge { limit_bytes });
                    }
                    if full_state.parts.len() + 1 == usize::from(count) {
                        let before = full_state.parts.range(..index).map(|(_, part)| &**part);
                        let after = full_state.parts.range(index..).map(|(_, part)| &**part);
                        let bytes = before.chain([part]).chain(after).flatten().copied().collect();
                        return Ok(Added::Whole(number, bytes));
                    }
                    full_state.bytes += part.len();
                    full_state.parts.insert(index, part.into());
                }
                if is_newer {
                    full_state.newest = sequence;
                }
            }
            // The part belongs to a full state that is complete, or that the sender gave up.
            _ if self.whole.is_some_and(|(whole, _)| whole == number) || !is_newer => {}
            _ => {
                if part.len() > limit_bytes {
                    return Err(Refused::FullStateTooLarge { limit_bytes });
                }
                if count == 1 {
                    return Ok(Added::Whole(number, part.to_vec()));
                }
                let parts = BTreeMap::from([(index, part.into())]);
                self.whole = None;
                event!(debug, full_state = number, fragments = count, "full state started");
                self.full_state =
                    Some(FullState { number, newest: sequence, count, parts, bytes: part.len() });
            }
        }
        Ok(Added::Part)
    }

    /// Removes the completed full state after it was decoded.
    pub(super) fn finish(&mut self, number: u8, sequence: Sequence) {
        let newest = self
            .full_state
            .take()
            .filter(|full_state| full_state.number == number)
            .map(|full_state| full_state.newest);
        self.whole =
            Some((number, newest.filter(|newest| sequence.since(*newest) < 0).unwrap_or(sequence)));
    }

    /// Forgets full states that are so old that their sequences would soon seem new.
    pub(super) fn tidy(&mut self, newest: Sequence) {
        self.full_state.take_if(|full_state| newest.since(full_state.newest) > FORGOTTEN);
        self.whole.take_if(|(_, sequence)| newest.since(*sequence) > FORGOTTEN);
    }

    /// How many parts of the current full state arrived, and how many parts the state has.
    pub(super) fn progress(&self) -> Option<(usize, usize)> {
        self.full_state
            .as_ref()
            .map(|full_state| (full_state.parts.len(), usize::from(full_state.count)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(
        assembly: &mut Assembly,
        sequence: u16,
        full_state: u8,
        index: u16,
        count: u16,
    ) -> Result<Added, Refused> {
        let header = FragmentHeader { sequence: Sequence(sequence), full_state, index, count };
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
        assert_eq!(
            add(&mut assembly, 14, 1, 1, 3),
            Ok(Added::Part),
            "part of a complete full state"
        );
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
        let header = FragmentHeader { sequence: Sequence(3), full_state: 1, index: 0, count: 9 };
        assert_eq!(assembly.add(&header, &[9; 10], 35), Err(Refused::BadFragment));
        assert_eq!(add(&mut assembly, 4, 1, 1, 9), Ok(Added::Part));
        assert_eq!(add(&mut assembly, 5, 1, 2, 9), Ok(Added::Part));
        assert_eq!(
            add(&mut assembly, 6, 1, 3, 9),
            Err(Refused::FullStateTooLarge { limit_bytes: 35 })
        );
        assert_eq!(assembly.progress(), Some((3, 9)));
    }
}
