//! Reads and writes the headers of datagrams. `spec/NET.md`, sections 2 to 6.
//!
//! Parsing checks what a datagram alone can show. The owner of the views and full states that it
//! refers to checks the rest.

mod acknowledgement;
mod hello;
mod snapshot;
#[cfg(test)]
mod tests;

pub use acknowledgement::Acknowledgement;
use hello::MAX_PARTS;
pub use hello::Mismatch;
pub(crate) use hello::{Hello, first_difference, outline};
use snapshot::parse_snapshot;
pub(crate) use snapshot::{Baseline, OlderViews, SnapshotHeader, Stride, Time};

use crate::events::{EventsAlone, split_front};
use crate::{Refused, Sequence};

pub(crate) const SNAPSHOT: u8 = 0;
pub(crate) const FRAGMENT: u8 = 1;
const REFUSAL: u8 = 2;
pub(crate) const SNAPSHOT_WITH_OLDER: u8 = 3;
const HELLO: u8 = 4;
pub(crate) const ACKNOWLEDGEMENT: u8 = 5;
pub(crate) const STREAM_PACKET: u8 = 6;
pub(crate) const STREAM_ACKNOWLEDGEMENT: u8 = 7;
pub(crate) const KIND_MASK: u8 = 0b111;
const LEFT_OUT: u8 = 1 << 3;
const MERGE: u8 = 1 << 4;
const STRIDE_SHIFT: u32 = 5;
/// A state check, in front of a snapshot.
pub(crate) const CHECK: u8 = REFUSAL | 1 << 3;
/// Events in front of a snapshot.
pub(crate) const EVENTS_IN_FRONT: u8 = REFUSAL | 1 << 3 | 1 << 4;
/// Events without a snapshot.
pub(crate) const EVENTS_ALONE: u8 = REFUSAL | 1 << 3 | 1 << 5;
const ANEW: u8 = HELLO | 1 << 3;
/// A channel's number in front of any datagram, in the bits from [`CHANNEL_SHIFT`] on.
pub(crate) const CHANNEL: u8 = REFUSAL;
pub(crate) const CHANNEL_SHIFT: u32 = 4;
/// In the byte of an older view: another older view follows. The other bits are the distance.
const MORE_OLDER: u8 = 1 << 7;

/// The version of `spec/NET.md` that this crate speaks.
pub const VERSION: u8 = 4;

/// Bytes before a fragment's part.
pub(crate) const FRAGMENT_HEADER_BYTES: usize = 8;

/// Bytes of the state check before a snapshot.
pub(crate) const CHECK_BYTES: usize = 3;

/// The longest snapshot header, including its state check. Each older view adds
/// [`OLDER_VIEW_BYTES`].
pub(crate) const LONGEST_HEADER_BYTES: usize = CHECK_BYTES + 4 + 5 + 4;

/// Bytes that name an older view.
pub(crate) const OLDER_VIEW_BYTES: usize = 1;

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
    /// The receiver does not hold what the datagram with this sequence needs.
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
        let mut parts = Parts::new(bytes);
        let [first_byte] = parts.take()?;
        match first_byte & KIND_MASK {
            SNAPSHOT | SNAPSHOT_WITH_OLDER => parse_snapshot(first_byte, parts, None, events),
            REFUSAL if first_byte == CHECK => {
                let check = Some(u16::from_le_bytes(parts.take()?));
                let [first_byte] = parts.take()?;
                match first_byte & KIND_MASK {
                    SNAPSHOT | SNAPSHOT_WITH_OLDER => {
                        parse_snapshot(first_byte, parts, check, events)
                    }
                    _ => Err(Refused::Kind { first_byte }),
                }
            }
            // Only a snapshot has events in front.
            _ if events.is_some() => Err(Refused::Kind { first_byte }),
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

/// Reads a datagram from front to back.
#[derive(Clone, Copy)]
struct Parts<'a> {
    bytes: usize,
    rest: &'a [u8],
}

impl<'a> Parts<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { bytes: bytes.len(), rest: bytes }
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], Refused> {
        let (first, rest) = self.rest.split_first_chunk().ok_or(self.wrong_length())?;
        self.rest = rest;
        Ok(*first)
    }

    fn end(&self) -> Result<(), Refused> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.wrong_length()) }
    }

    fn wrong_length(&self) -> Refused {
        Refused::Length { bytes: self.bytes }
    }
}
