//! The headers of events: alone, and in front of a snapshot. See `spec/NET.md`, section 10.1.

use kinepack::Tick;

use super::kinds::{EVENTS_ALONE, EVENTS_IN_FRONT};
use crate::{Refused, Sequence};

/// The maximum length of a list in front of a snapshot.
pub(crate) const LONGEST_LIST_BYTES: usize = (1 << 14) - 1;
/// The maximum number of bytes that a list in front of a snapshot takes in addition to the list
/// itself.
pub(crate) const LONGEST_IN_FRONT_BYTES: usize = 3;

/// The header of events without a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EventsAlone {
    pub(crate) sequence: Sequence,
    pub(crate) tick: Tick,
}

impl EventsAlone {
    pub(crate) const BYTES: usize = 7;

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.push(EVENTS_ALONE);
        out.extend(self.sequence.0.to_le_bytes());
        out.extend(self.tick.0.to_le_bytes());
    }

    /// Splits a datagram into the header and the list after it.
    pub(crate) fn parse(datagram: &[u8]) -> Result<(Self, &[u8]), Refused> {
        let ([_, a, b, c, d, e, f], list) = datagram
            .split_first_chunk::<{ Self::BYTES }>()
            .ok_or(Refused::Length { bytes: datagram.len() })?;
        let sequence = Sequence(u16::from_le_bytes([*a, *b]));
        Ok((Self { sequence, tick: Tick(u32::from_le_bytes([*c, *d, *e, *f])) }, list))
    }
}

/// Writes a list in front of a snapshot.
pub(crate) fn write_in_front(list: &[u8], out: &mut Vec<u8>) {
    debug_assert!(list.len() <= LONGEST_LIST_BYTES);
    out.push(EVENTS_IN_FRONT);
    let (low, high) = ((list.len() & 0x7F) as u8, (list.len() >> 7) as u8);
    if high == 0 {
        out.push(low);
    } else {
        out.extend([low | 0x80, high]);
    }
    out.extend_from_slice(list);
}

/// Splits a datagram into the list in front of a snapshot, if there is one, and the snapshot.
pub(crate) fn split_front(datagram: &[u8]) -> Result<(Option<&[u8]>, &[u8]), Refused> {
    let wrong_length = Refused::Length { bytes: datagram.len() };
    let (len, rest) = match datagram {
        [EVENTS_IN_FRONT, low, rest @ ..] if *low < 0x80 => (usize::from(*low), rest),
        [EVENTS_IN_FRONT, low, high @ 1..0x80, rest @ ..] => {
            (usize::from(low & 0x7F) | usize::from(*high) << 7, rest)
        }
        [EVENTS_IN_FRONT, ..] => return Err(wrong_length),
        _ => return Ok((None, datagram)),
    };
    rest.split_at_checked(len).map(|(list, rest)| (Some(list), rest)).ok_or(wrong_length)
}
