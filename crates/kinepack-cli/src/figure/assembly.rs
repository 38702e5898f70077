//! Splits a description into datagrams, and puts it together again. Fragments are repeated until
//! the other side answers, so each may be lost, repeated or reordered.

use std::net::SocketAddr;
use std::time::Duration;

use super::description::MAX_BYTES;
use super::framing::MAX_CONTENTS_BYTES;

/// The numbers before the bytes of a fragment: its index and the number of fragments, `u16` each.
const HEADER_BYTES: usize = 4;
const FRAGMENT_BYTES: usize = MAX_CONTENTS_BYTES - HEADER_BYTES;
const MAX_FRAGMENTS: usize = MAX_BYTES.div_ceil(FRAGMENT_BYTES);

/// An incomplete description is forgotten after this time without a new fragment. Copies do not
/// count: otherwise anyone could hold the place with a single fragment.
const PATIENCE: Duration = Duration::from_secs(2);
/// An incomplete description is forgotten after this time in any case.
const LONGEST: Duration = Duration::from_secs(20);

/// Returns the contents of the datagrams of a description, of at most [`MAX_BYTES`].
pub(super) fn fragments(description: &[u8]) -> Vec<Vec<u8>> {
    let parts = description.chunks(FRAGMENT_BYTES);
    let count = (parts.len() as u16).to_le_bytes();
    let numbered = (0u16..).zip(parts);
    numbered.map(|(index, part)| [&index.to_le_bytes(), &count[..], part].concat()).collect()
}

/// Puts the description of one session together. Until it is complete or forgotten, fragments of
/// other sessions are ignored.
#[derive(Debug)]
pub(super) struct Assembly {
    from: SocketAddr,
    session: u32,
    parts: Vec<Option<Vec<u8>>>,
    began: Duration,
    /// When a new fragment last arrived.
    last: Duration,
}

impl Assembly {
    /// Takes a fragment. Returns the description if it is complete; `assembly` is then empty again.
    pub(super) fn take(
        assembly: &mut Option<Self>,
        now: Duration,
        (from, session): (SocketAddr, u32),
        contents: &[u8],
    ) -> Option<Vec<u8>> {
        let (numbers, part) = contents.split_at_checked(HEADER_BYTES)?;
        let number = |at: usize| usize::from(u16::from_le_bytes([numbers[at], numbers[at + 1]]));
        let (index, count) = (number(0), number(2));
        let is_last = index + 1 == count;
        let fits = part.len() == FRAGMENT_BYTES || (is_last && part.len() < FRAGMENT_BYTES);
        if count > MAX_FRAGMENTS || index >= count || part.is_empty() || !fits {
            return None;
        }
        assembly.take_if(|own| {
            let since = |time| now.saturating_sub(time);
            since(own.last) > PATIENCE || since(own.began) > LONGEST
        });
        let begin = || Self { from, session, parts: vec![None; count], began: now, last: now };
        let own = assembly.get_or_insert_with(begin);
        if (own.from, own.session, own.parts.len()) != (from, session, count) {
            return None;
        }
        own.parts[index].get_or_insert_with(|| {
            own.last = now;
            part.to_vec()
        });
        if own.parts.contains(&None) {
            return None;
        }
        let complete = assembly.take()?;
        Some(complete.parts.into_iter().flatten().flatten().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sender(port: u16) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], port))
    }

    #[test]
    fn fragments_arrive_in_any_order_and_more_than_once() {
        for bytes in [1, FRAGMENT_BYTES, FRAGMENT_BYTES + 1, MAX_BYTES] {
            let description: Vec<u8> = (0..bytes).map(|index| (index / 7) as u8).collect();
            let fragments = fragments(&description);
            assert!(fragments.iter().all(|fragment| fragment.len() <= MAX_CONTENTS_BYTES));
            let (mut assembly, from) = (None, (sender(1), 5));
            let mut complete = None;
            for fragment in fragments[1..].iter().rev().chain(&fragments) {
                assert!(complete.is_none());
                complete = Assembly::take(&mut assembly, Duration::ZERO, from, fragment);
                if complete.is_some() {
                    break;
                }
            }
            assert!(complete == Some(description) && assembly.is_none(), "{bytes}");
        }
    }

    #[test]
    fn a_session_is_not_disturbed_by_another_until_it_is_forgotten() {
        let fragments = fragments(&vec![7; 2 * FRAGMENT_BYTES]);
        let mut assembly = None;
        let mut take = |ms, from, index: usize| {
            Assembly::take(&mut assembly, Duration::from_millis(ms), from, &fragments[index])
        };
        assert!(take(0, (sender(1), 5), 0).is_none());
        assert!(take(1, (sender(2), 5), 0).is_none() && take(1, (sender(2), 5), 1).is_none());
        assert!(take(2, (sender(1), 5), 1).is_some());
        assert!(take(3, (sender(1), 6), 0).is_none());
        assert!(take(2_500, (sender(2), 7), 0).is_none());
        assert!(take(2_501, (sender(2), 7), 1).is_some());
    }

    #[test]
    fn copies_of_a_fragment_do_not_hold_the_place() {
        let fragments = fragments(&vec![7; 20 * FRAGMENT_BYTES]);
        let mut assembly = None;
        let mut holder = |ms, from, index: usize| {
            let now = Duration::from_millis(ms);
            Assembly::take(&mut assembly, now, (sender(from), 5), &fragments[index]);
            assembly.as_ref().is_some_and(|own| own.from == sender(from))
        };
        assert!((0..20).all(|step| holder(100 * step, 1, 0)));
        assert!(!holder(2_000, 2, 0), "the time is not over");
        assert!(holder(2_001, 2, 0), "copies did not prolong it");
        // New fragments prolong the time, but not for ever.
        assert!((0..11).all(|step| holder(3_000 + 1_900 * step, 2, 1 + step as usize)));
        assert!(holder(22_100, 3, 0));
    }

    #[test]
    fn bad_fragments_are_ignored() {
        let (mut assembly, from) = (None, (sender(1), 5));
        let mut refused = |contents: &[u8]| {
            let taken = Assembly::take(&mut assembly, Duration::ZERO, from, contents);
            assert!(taken.is_none() && assembly.is_none(), "{contents:?}");
        };
        refused(&[]);
        refused(&[0, 0, 1, 0]);
        refused(&[1, 0, 1, 0, 9]);
        refused(&[0, 0, 2, 0, 9]);
        refused(&[0, 0, 255, 255, 9]);
        refused(&[&[0, 0, 1, 0][..], &[0; FRAGMENT_BYTES + 1]].concat());
    }
}
