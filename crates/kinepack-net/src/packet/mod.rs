//! Reads and writes the headers of datagrams. See `spec/NET.md`, sections 2 to 6.
//!
//! Parsing checks everything that does not depend on earlier datagrams. The owner of the views and
//! full states that a datagram refers to checks the rest.

mod acknowledgement;
mod events;
mod hello;
mod kinds;
mod parts;
mod snapshot;
#[cfg(test)]
mod tests;

pub use acknowledgement::Acknowledgement;
pub(crate) use events::{
    EventsAlone, LONGEST_IN_FRONT_BYTES, LONGEST_LIST_BYTES, split_front, write_in_front,
};
use hello::MAX_PARTS;
pub use hello::Mismatch;
pub(crate) use hello::{Hello, first_difference, outline};
pub(crate) use kinds::{
    ACKNOWLEDGEMENT, CHANNEL, CHANNEL_SHIFT, CHECK, EVENTS_ALONE, FRAGMENT, KIND_MASK, SNAPSHOT,
    SNAPSHOT_WITH_OLDER, STREAM_ACKNOWLEDGEMENT, STREAM_PACKET,
};
use kinds::{ANEW, HELLO, REFUSAL};
use parts::Parts;
use snapshot::parse_snapshot;
pub(crate) use snapshot::{
    Baseline, CHECK_BYTES, LONGEST_HEADER_BYTES, OLDER_VIEW_BYTES, OlderViews, SnapshotHeader,
    Stride, Time, split_turns,
};

use crate::{Refused, Sequence};

/// The version of `spec/NET.md` that this crate speaks.
pub const VERSION: u8 = 4;

/// The number of bytes in a fragment before its part of the state.
pub(crate) const FRAGMENT_HEADER_BYTES: usize = 8;

/// The header of a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FragmentHeader {
    pub(crate) sequence: Sequence,
    pub(crate) full_state: u8,
    pub(crate) index: u16,
    pub(crate) count: u16,
}

impl FragmentHeader {
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.push(FRAGMENT);
        out.extend(self.sequence.0.to_le_bytes());
        out.push(self.full_state);
        out.extend(self.index.to_le_bytes());
        out.extend(self.count.to_le_bytes());
    }
}

/// A datagram from sender to receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Downstream<'a> {
    /// The header, the coded snapshot, and the list of events in front of it.
    Snapshot(SnapshotHeader, &'a [u8], Option<&'a [u8]>),
    Events(EventsAlone, &'a [u8]),
    Fragment(FragmentHeader, &'a [u8]),
    Refusal(Mismatch),
}

/// A datagram from receiver to sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Upstream<'a> {
    /// The hello, and the outline of the receiver's schema.
    Hello(Hello, &'a [u8]),
    Acknowledgement(Acknowledgement),
    /// The receiver lacks a view that the datagram with this sequence needs.
    Anew(Sequence),
}

/// Appends the datagram that asks for the state anew.
pub(crate) fn write_anew(refused: Sequence, out: &mut Vec<u8>) {
    out.push(ANEW);
    out.extend(refused.0.to_le_bytes());
}

impl<'a> Downstream<'a> {
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, Refused> {
        let (events, bytes) = split_front(bytes)?;
        let (turns, bytes) = split_turns(bytes)?;
        let mut parts = Parts::new(bytes);
        let [first_byte] = parts.take()?;
        match first_byte & KIND_MASK {
            SNAPSHOT | SNAPSHOT_WITH_OLDER => {
                let (header, snapshot) = parse_snapshot(first_byte, parts, None, turns)?;
                Ok(Self::Snapshot(header, snapshot, events))
            }
            REFUSAL if first_byte == CHECK => {
                let check = Some(u16::from_le_bytes(parts.take()?));
                let [first_byte] = parts.take()?;
                if !matches!(first_byte & KIND_MASK, SNAPSHOT | SNAPSHOT_WITH_OLDER) {
                    return Err(Refused::Kind { first_byte });
                }
                let (header, snapshot) = parse_snapshot(first_byte, parts, check, turns)?;
                Ok(Self::Snapshot(header, snapshot, events))
            }
            // Only a snapshot has something in front.
            _ if events.is_some() || turns > 1 => Err(Refused::Kind { first_byte }),
            REFUSAL if first_byte == EVENTS_ALONE => {
                let (header, list) = EventsAlone::parse(bytes)?;
                Ok(Self::Events(header, list))
            }
            FRAGMENT if first_byte == FRAGMENT => {
                let header = FragmentHeader {
                    sequence: Sequence(u16::from_le_bytes(parts.take()?)),
                    full_state: u8::from_le_bytes(parts.take()?),
                    index: u16::from_le_bytes(parts.take()?),
                    count: u16::from_le_bytes(parts.take()?),
                };
                if parts.rest.is_empty() {
                    return Err(parts.wrong_length());
                }
                if header.index >= header.count || header.full_state == 0 {
                    return Err(Refused::BadFragment);
                }
                Ok(Self::Fragment(header, parts.rest))
            }
            REFUSAL if first_byte == REFUSAL => {
                let [reason] = parts.take()?;
                let hash = u64::from_le_bytes(parts.take()?);
                let part = match (reason, parts.rest) {
                    (1, [_, ..]) => Some(u16::from_le_bytes(parts.take()?)),
                    _ => None,
                };
                parts.end()?;
                Ok(Self::Refusal(match reason {
                    0 => Mismatch::Version { version: u8::try_from(hash).unwrap_or(u8::MAX) },
                    1 => Mismatch::Schema { hash, part },
                    2 => Mismatch::Codec { hash },
                    3 => Mismatch::Initial { hash },
                    4 => Mismatch::Events { hash },
                    _ => return Err(Refused::Kind { first_byte: reason }),
                }))
            }
            _ => Err(Refused::Kind { first_byte }),
        }
    }
}

impl<'a> Upstream<'a> {
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, Refused> {
        let mut parts = Parts::new(bytes);
        let [first_byte] = parts.take()?;
        let parsed = match first_byte {
            HELLO => {
                let hello = Hello {
                    version: u8::from_le_bytes(parts.take()?),
                    schema_hash: u64::from_le_bytes(parts.take()?),
                    codec_hash: u64::from_le_bytes(parts.take()?),
                    initial_hash: u64::from_le_bytes(parts.take()?),
                    events_hash: u64::from_le_bytes(parts.take()?),
                };
                let outline = parts.rest;
                if !outline.len().is_multiple_of(4) || outline.len() > 4 * MAX_PARTS {
                    return Err(parts.wrong_length());
                }
                return Ok(Self::Hello(hello, outline));
            }
            ACKNOWLEDGEMENT => Self::Acknowledgement(Acknowledgement::from_bytes(parts.take()?)),
            ANEW => Self::Anew(Sequence(u16::from_le_bytes(parts.take()?))),
            _ => return Err(Refused::Kind { first_byte }),
        };
        parts.end()?;
        Ok(parsed)
    }
}
