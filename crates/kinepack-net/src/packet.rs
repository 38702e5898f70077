//! Reads and writes the headers of datagrams. `spec/NET.md`, sections 2 to 6.
//!
//! Parsing checks what a datagram alone can show. The owner of the views and blocks that it refers
//! to checks the rest.

use core::fmt;

use kinepack::{Baselines, Schema, Tick};

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

/// What both sides must agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hello {
    pub(crate) version: u8,
    pub(crate) schema_hash: u64,
    pub(crate) codec_hash: u64,
    pub(crate) initial_hash: u64,
    /// 0 without events.
    pub(crate) events_hash: u64,
}

/// How the two sides of a connection differ. The hash or version is the hub's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mismatch {
    /// The version of the protocol.
    Version {
        /// The hub's.
        version: u8,
    },
    /// The schema: kinds, fields, ranges, precisions or their order.
    Schema {
        /// The hub's [`Schema::hash`](kinepack::Schema::hash).
        hash: u64,
        /// The first part of the [outline](kinepack::Schema::outline) in which the schemas differ.
        /// `None` if the first 256 parts are equal.
        part: Option<u16>,
    },
    /// The codec: level or profile.
    Codec {
        /// The hub's [`Codec::hash`](kinepack::Codec::hash).
        hash: u64,
    },
    /// The initial state that both sides should know.
    Initial {
        /// The [`state_hash`](kinepack::Snapshot::state_hash) of the hub's.
        hash: u64,
    },
    /// The codec of events ([`EventKinds`](crate::EventKinds)), or only one side has events.
    Events {
        /// The hub's [`Codec::hash`](kinepack::Codec::hash); 0 if it has no events.
        hash: u64,
    },
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, hash) = match self {
            Self::Version { version } => {
                return write!(
                    f,
                    "the two sides speak different versions of the protocol; the hub's is \
                     {version}"
                );
            }
            Self::Schema { hash, .. } => ("schema", hash),
            Self::Codec { hash } => ("codec (level or profile)", hash),
            Self::Initial { hash } => ("initial state", hash),
            Self::Events { hash: 0 } => {
                return write!(f, "this side has events, but the hub has none");
            }
            Self::Events { hash } => ("codec of events", hash),
        };
        write!(f, "the two sides have a different {what}; the hub's hash is {hash:016x}")
    }
}

impl Hello {
    /// How `theirs` differs from this; `None` if it does not.
    pub(crate) fn mismatch(&self, theirs: &Self) -> Option<Mismatch> {
        let Self { version, schema_hash, codec_hash, initial_hash, events_hash } = *self;
        if version != theirs.version {
            return Some(Mismatch::Version { version });
        }
        if schema_hash != theirs.schema_hash {
            return Some(Mismatch::Schema { hash: schema_hash, part: None });
        }
        if codec_hash != theirs.codec_hash {
            return Some(Mismatch::Codec { hash: codec_hash });
        }
        if initial_hash != theirs.initial_hash {
            return Some(Mismatch::Initial { hash: initial_hash });
        }
        (events_hash != theirs.events_hash).then_some(Mismatch::Events { hash: events_hash })
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend([HELLO, self.version]);
        for hash in [self.schema_hash, self.codec_hash, self.initial_hash, self.events_hash] {
            out.extend(hash.to_le_bytes());
        }
    }
}

/// The most parts of a schema's outline in a hello.
const MAX_PARTS: usize = 256;

/// The parts of a schema's outline that fit into a hello.
pub(crate) fn outline(schema: &Schema) -> Vec<u32> {
    schema.outline().take(MAX_PARTS).collect()
}

/// The first part in which two outlines differ. `theirs` is from a hello.
pub(crate) fn first_difference(ours: &[u32], theirs: &[u8]) -> Option<u16> {
    let theirs = theirs.as_chunks().0.iter().map(|part| u32::from_le_bytes(*part));
    let count = theirs.len();
    let equal = ours.iter().zip(theirs).take_while(|(ours, theirs)| *ours == theirs).count();
    // A part that only one side has is a difference. If both lists are equal, the schemas differ
    // only after the last part.
    let differs = equal < ours.len().max(count);
    (differs && count > 0).then_some(equal as u16)
}

impl Mismatch {
    /// The mismatch in words, with the name of the first part in which the schemas differ, if that
    /// is known. `schema` is this side's.
    ///
    /// ```
    /// use kinepack::Schema;
    /// use kinepack::schema::{Field, FieldKind};
    /// use kinepack_net::Mismatch;
    ///
    /// let fields = vec![Field::new("lit", FieldKind::Bool)];
    /// let schema = Schema::builder().kind_of_fields("lamp", fields).build()?;
    /// let of_part = |part| Mismatch::Schema { hash: 7, part: Some(part) }.describe(&schema);
    /// assert_eq!(of_part(1), "the two sides have different schemas; they differ first in lamp.lit");
    /// assert!(of_part(2).ends_with("has all parts of this side's, and more"));
    /// # Ok::<(), kinepack::SetupError>(())
    /// ```
    pub fn describe(&self, schema: &Schema) -> String {
        let Self::Schema { part: Some(part), .. } = *self else { return self.to_string() };
        match schema.part_name(part.into()) {
            Some(name) => {
                format!("the two sides have different schemas; they differ first in {name}")
            }
            None => String::from(
                "the two sides have different schemas; the other side's has all parts of this \
                 side's, and more",
            ),
        }
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let (reason, value) = match *self {
            Self::Version { version } => (0, u64::from(version)),
            Self::Schema { hash, .. } => (1, hash),
            Self::Codec { hash } => (2, hash),
            Self::Initial { hash } => (3, hash),
            Self::Events { hash } => (4, hash),
        };
        out.extend([REFUSAL, reason]);
        out.extend(value.to_le_bytes());
        if let Self::Schema { part: Some(part), .. } = self {
            out.extend(part.to_le_bytes());
        }
    }
}

/// Which datagrams were received: the newest sequence, and which of the 32 before it.
///
/// [`Receiver::poll_acknowledgement`](crate::Receiver::poll_acknowledgement) makes one, and
/// [`Hub::acknowledge`](crate::Hub::acknowledge) takes it. In between, it may travel in one of your
/// own messages.
///
/// ```
/// use kinepack_net::{Acknowledgement, Sequence};
///
/// let received = Acknowledgement { latest: Sequence(10), before: 0 };
/// let received = received.with(Sequence(11)).with(Sequence(13)); // 12 is lost, or late
/// assert_eq!(received, Acknowledgement { latest: Sequence(13), before: 0b110 });
///
/// let message = received.to_bytes();
/// assert_eq!(Acknowledgement::from_bytes(message), received);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledgement {
    /// The newest sequence received.
    pub latest: Sequence,
    /// Bit i: `latest` − 1 − i was received too.
    pub before: u32,
}

impl Acknowledgement {
    /// Six bytes that may travel in any message from the receiver to the sender.
    pub fn to_bytes(self) -> [u8; 6] {
        let ([a, b], [c, d, e, f]) = (self.latest.0.to_le_bytes(), self.before.to_le_bytes());
        [a, b, c, d, e, f]
    }

    /// Reads six bytes. Any six bytes are an acknowledgement, but a sender may refuse it.
    pub fn from_bytes([a, b, c, d, e, f]: [u8; 6]) -> Self {
        Self {
            latest: Sequence(u16::from_le_bytes([a, b])),
            before: u32::from_le_bytes([c, d, e, f]),
        }
    }

    /// This acknowledgement with one more received sequence.
    #[must_use]
    pub fn with(self, sequence: Sequence) -> Self {
        let Self { latest, before } = self;
        match sequence.since(latest) {
            0 => self,
            behind @ -32..=-1 => Self { before: before | 1 << (-behind - 1), ..self },
            ..-32 => self,
            // The previous newest sequence moves into the field, and the oldest one out of it.
            ahead @ 1..=32 => {
                let before = ((u64::from(before) << 1 | 1) << (ahead - 1)) & u64::from(u32::MAX);
                Self { latest: sequence, before: before as u32 }
            }
            _ => Self { latest: sequence, before: 0 },
        }
    }

    /// Appends a datagram that holds this acknowledgement alone.
    pub fn write(self, out: &mut Vec<u8>) {
        out.push(ACKNOWLEDGEMENT);
        out.extend(self.to_bytes());
    }
}

/// The header of a snapshot datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SnapshotHeader {
    pub(crate) sequence: Sequence,
    pub(crate) baseline: Baseline,
    pub(crate) left_out: bool,
    pub(crate) time: Time,
    /// The merge field; `None` for merge 0 (section 4.1).
    pub(crate) merge: Option<u32>,
    /// Empty if the baseline is a reference state.
    pub(crate) older: OlderViews,
    /// The state check before the snapshot.
    pub(crate) check: Option<u16>,
}

/// The older views that a snapshot is coded against. Each entry is a distance in sequences, 1 to
/// 127: the first from the baseline, each other one from the view before it. Unused entries at the
/// end are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OlderViews([u8; Baselines::OLDER]);

impl OlderViews {
    /// The views of these sequences, newest first, for a baseline of sequence `baseline`. `None` if
    /// a header cannot name them: there are too many, they are too far apart, or they are not in
    /// order.
    pub(crate) fn new(
        baseline: Sequence,
        sequences: impl IntoIterator<Item = Sequence>,
    ) -> Option<Self> {
        let (mut older, mut newer) = (Self::default(), baseline);
        let mut places = older.0.iter_mut();
        for sequence in sequences {
            let distance = u8::try_from(newer.since(sequence)).ok();
            *places.next()? = distance.filter(|distance| (1..MORE_OLDER).contains(distance))?;
            newer = sequence;
        }
        Some(older)
    }

    fn is_empty(&self) -> bool {
        self.0[0] == 0
    }

    pub(crate) fn count(&self) -> usize {
        self.0.iter().take_while(|distance| **distance != 0).count()
    }

    /// The sequences of the older views, for a baseline of sequence `baseline`.
    pub(crate) fn sequences(self, baseline: Sequence) -> impl Iterator<Item = Sequence> {
        let before = |sequence: &mut Sequence, distance: u8| {
            *sequence = sequence.before(u16::from(distance));
            Some(*sequence)
        };
        self.0.into_iter().take(self.count()).scan(baseline, before)
    }

    fn write(&self, out: &mut Vec<u8>) {
        let distances = &self.0[..self.count()];
        if let Some((last, others)) = distances.split_last() {
            out.extend(others.iter().map(|distance| distance | MORE_OLDER));
            out.push(*last);
        }
    }

    fn parse(parts: &mut Parts<'_>) -> Result<Self, Refused> {
        let mut older = Self::default();
        for place in &mut older.0 {
            let [byte] = parts.take()?;
            *place = byte & !MORE_OLDER;
            if *place == 0 {
                return Err(Refused::BadOlder);
            }
            if byte & MORE_OLDER == 0 {
                return Ok(older);
            }
        }
        Err(Refused::BadOlder)
    }
}

/// What a snapshot is coded against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Baseline {
    /// The view this many sequences before, at least 1.
    Back(u8),
    /// The reference state with this number.
    Reference(u8),
}

impl Baseline {
    /// The *back* byte of the header; 0 for a reference state.
    pub(crate) fn back(self) -> u8 {
        match self {
            Self::Back(back) => back,
            Self::Reference(_) => 0,
        }
    }
}

/// Ticks from one sequence to the next: 1 to 7, the range of the bits in the first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stride(u8);

impl Stride {
    /// `None` if the first byte has no room for this number, and for 0.
    pub(crate) fn new(ticks: u8) -> Option<Self> {
        (1..1 << (u8::BITS - STRIDE_SHIFT)).contains(&ticks).then_some(Self(ticks))
    }

    pub(crate) fn ticks(self) -> u8 {
        self.0
    }
}

/// The tick of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Time {
    /// This many ticks for each sequence after the baseline.
    Stride(Stride),
    /// This tick. The state before it held until `interval_ticks` ticks earlier.
    Explicit { tick: Tick, interval_ticks: u8 },
}

impl SnapshotHeader {
    /// The header's length in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let reference = usize::from(matches!(self.baseline, Baseline::Reference(_)));
        let time = if matches!(self.time, Time::Explicit { .. }) { 5 } else { 0 };
        let merge = if self.merge.is_some() { 4 } else { 0 };
        let check = if self.check.is_some() { CHECK_BYTES } else { 0 };
        check + 4 + reference + time + merge + OLDER_VIEW_BYTES * self.older.count()
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        if let Some(check) = self.check {
            out.push(CHECK);
            out.extend(check.to_le_bytes());
        }
        let stride = match self.time {
            Time::Stride(stride) => stride.ticks(),
            Time::Explicit { .. } => 0,
        };
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        let kind = if self.older.is_empty() { SNAPSHOT } else { SNAPSHOT_WITH_OLDER };
        out.push(
            kind | flag(self.left_out, LEFT_OUT)
                | flag(self.merge.is_some(), MERGE)
                | (stride << STRIDE_SHIFT),
        );
        out.extend(self.sequence.0.to_le_bytes());
        match self.baseline {
            Baseline::Back(back) => out.push(back),
            Baseline::Reference(number) => out.extend([0, number]),
        }
        if let Time::Explicit { tick, interval_ticks } = self.time {
            out.extend(tick.0.to_le_bytes());
            out.push(interval_ticks);
        }
        if let Some(field) = self.merge {
            out.extend(field.to_le_bytes());
        }
        if !self.older.is_empty() {
            self.older.write(out);
        }
    }
}

/// The header of a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FragmentHeader {
    pub(crate) sequence: Sequence,
    pub(crate) block: u8,
    pub(crate) index: u16,
    pub(crate) count: u16,
}

impl FragmentHeader {
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.push(FRAGMENT);
        out.extend(self.sequence.0.to_le_bytes());
        out.push(self.block);
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
                    block: u8::from_le_bytes(parts.take()?),
                    index: u16::from_le_bytes(parts.take()?),
                    count: u16::from_le_bytes(parts.take()?),
                };
                if parts.rest.is_empty() {
                    return Err(parts.wrong_length());
                }
                if header.index >= header.count || header.block == 0 {
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

fn parse_snapshot<'a>(
    first_byte: u8,
    mut parts: Parts<'a>,
    check: Option<u16>,
    events: Option<&'a [u8]>,
) -> Result<Downstream<'a>, Refused> {
    let sequence = Sequence(u16::from_le_bytes(parts.take()?));
    let baseline = match parts.take()? {
        [0] => Baseline::Reference(u8::from_le_bytes(parts.take()?)),
        [back] => Baseline::Back(back),
    };
    let time = match (Stride::new(first_byte >> STRIDE_SHIFT), baseline) {
        (None, _) => {
            let tick = Tick(u32::from_le_bytes(parts.take()?));
            Time::Explicit { tick, interval_ticks: u8::from_le_bytes(parts.take()?) }
        }
        (Some(_), Baseline::Reference(_)) => return Err(Refused::Kind { first_byte }),
        (Some(stride), Baseline::Back(_)) => Time::Stride(stride),
    };
    let merge = match (first_byte & MERGE != 0, baseline) {
        (false, _) => None,
        (true, Baseline::Back(_)) => Some(u32::from_le_bytes(parts.take()?)),
        (true, Baseline::Reference(_)) => return Err(Refused::BadMerge),
    };
    let older = match (first_byte & KIND_MASK, baseline) {
        (SNAPSHOT, _) => OlderViews::default(),
        (_, Baseline::Back(_)) => OlderViews::parse(&mut parts)?,
        (_, Baseline::Reference(_)) => return Err(Refused::BadOlder),
    };
    let left_out = first_byte & LEFT_OUT != 0;
    let header = SnapshotHeader { sequence, baseline, left_out, time, merge, older, check };
    Ok(Downstream::Snapshot(header, parts.rest, events))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::write_in_front;

    const EMPTY: &[u8] = &[];

    fn snapshot_bytes(header: &SnapshotHeader) -> Vec<u8> {
        let mut bytes = Vec::new();
        header.write(&mut bytes);
        bytes
    }

    fn stride(ticks: u8) -> Time {
        Time::Stride(Stride::new(ticks).unwrap())
    }

    #[test]
    fn a_steady_header_has_four_bytes() {
        let header = SnapshotHeader {
            sequence: Sequence(0x1234),
            baseline: Baseline::Back(6),
            left_out: true,
            time: stride(1),
            merge: None,
            older: OlderViews::default(),
            check: None,
        };
        let bytes = snapshot_bytes(&header);
        assert_eq!(bytes, [0b0010_1000, 0x34, 0x12, 6]);
        assert_eq!(Downstream::parse(&bytes), Ok(Downstream::Snapshot(header, EMPTY, None)));
        let older = OlderViews::new(Sequence(8), [Sequence(2), Sequence(65_531)]).unwrap();
        let header = SnapshotHeader { older, ..header };
        let bytes = snapshot_bytes(&header);
        assert_eq!(bytes, [0b0010_1011, 0x34, 0x12, 6, 0x86, 7]);
        assert_eq!(Downstream::parse(&bytes), Ok(Downstream::Snapshot(header, EMPTY, None)));
        let sequences: Vec<Sequence> = header.older.sequences(Sequence(8)).collect();
        assert_eq!(sequences, [Sequence(2), Sequence(65_531)]);
    }

    #[test]
    fn a_state_check_precedes_snapshots_only() {
        let header = SnapshotHeader {
            sequence: Sequence(16),
            baseline: Baseline::Back(6),
            left_out: false,
            time: stride(1),
            merge: None,
            older: OlderViews::default(),
            check: Some(0xC5E1),
        };
        let bytes = snapshot_bytes(&header);
        assert_eq!(bytes, [0x0A, 0xE1, 0xC5, 0x20, 16, 0, 6]);
        assert_eq!(Downstream::parse(&bytes), Ok(Downstream::Snapshot(header, EMPTY, None)));
        let fragment = [FRAGMENT, 0, 0, 1, 0, 0, 1, 0, 9];
        let refusal = [REFUSAL, 0, 1, 0, 0, 0, 0, 0, 0, 0];
        for rest in [&fragment[..], &refusal, &bytes] {
            let refused = Err(Refused::Kind { first_byte: rest[0] });
            assert_eq!(Downstream::parse(&[&[0x0A, 0, 0], rest].concat()), refused);
        }
        let known = [REFUSAL, CHECK, EVENTS_IN_FRONT, EVENTS_ALONE];
        let unknown = |first: &u8| first & KIND_MASK == REFUSAL && !known.contains(first);
        for first_byte in (0..=u8::MAX).filter(unknown) {
            let datagram = [&[first_byte], &bytes[1..]].concat();
            assert_eq!(Downstream::parse(&datagram), Err(Refused::Kind { first_byte }));
        }
    }

    #[test]
    fn a_header_names_one_to_three_older_views() {
        for older in [&[0][..], &[0x80, 1], &[0x81, 0], &[0x81, 0x81, 0x81], &[0x81, 0x81, 0x80]] {
            let datagram = [&[0b0010_0011, 0, 0, 6], older].concat();
            assert_eq!(Downstream::parse(&datagram), Err(Refused::BadOlder), "{older:?}");
        }
        let from_reference = [3, 0, 0, 0, 9, 1, 0, 0, 0, 1, 1];
        assert_eq!(Downstream::parse(&from_reference), Err(Refused::BadOlder));
    }

    #[test]
    fn events_precede_snapshots_only() {
        let snapshot = [CHECK, 0xE1, 0xC5, 0x20, 16, 0, 6];
        let in_front = |list: &[u8], rest: &[u8]| {
            let mut bytes = Vec::new();
            write_in_front(list, &mut bytes);
            [&bytes, rest].concat()
        };
        for len in [0, 1, 127, 128, 129, 255, 1_000, (1 << 14) - 1] {
            let list = vec![7; len];
            let bytes = in_front(&list, &snapshot);
            assert_eq!(bytes.len() - list.len() - 7, if len < 128 { 2 } else { 3 });
            let Ok(Downstream::Snapshot(header, rest, Some(events))) = Downstream::parse(&bytes)
            else {
                panic!("{len}")
            };
            assert_eq!((header.check, rest, events), (Some(0xC5E1), EMPTY, &list[..]));
            for end in 1..bytes.len() {
                assert!(Downstream::parse(&bytes[..end]).is_err(), "{len} {end}");
            }
        }
        let alone = [EVENTS_ALONE, 5, 0, 9, 0, 0, 0, 1, 2];
        let header = EventsAlone { sequence: Sequence(5), tick: Tick(9) };
        assert_eq!(Downstream::parse(&alone), Ok(Downstream::Events(header, &[1, 2])));
        assert_eq!(Downstream::parse(&alone[..6]), Err(Refused::Length { bytes: 6 }));
        let fragment = [FRAGMENT, 0, 0, 1, 0, 0, 1, 0, 9];
        let refusal = [REFUSAL, 0, 1, 0, 0, 0, 0, 0, 0, 0];
        for rest in [&fragment[..], &refusal, &alone, &in_front(&[1], &snapshot)] {
            let refused = Err(Refused::Kind { first_byte: rest[0] });
            assert_eq!(Downstream::parse(&in_front(&[1], rest)), refused);
        }
        // A length of two bytes whose high bits are 0, or that has a bit too many.
        for high in [0, 0x80] {
            let bytes = [&[EVENTS_IN_FRONT, 0x81, high, 7][..], &snapshot].concat();
            assert_eq!(Downstream::parse(&bytes), Err(Refused::Length { bytes: bytes.len() }));
        }
    }

    #[test]
    fn sequences_that_a_header_cannot_name_are_refused() {
        let views = |before: &[u16]| {
            let sequences = before.iter().map(|distance| Sequence(5).before(*distance));
            OlderViews::new(Sequence(5), sequences).map(|older| older.0)
        };
        assert_eq!(views(&[]), Some([0; 3]));
        assert_eq!(views(&[127, 128, 130]), Some([127, 1, 2]));
        for before in [&[0][..], &[128], &[3, 3], &[3, 2], &[1, 129], &[256], &[1, 2, 3, 4]] {
            assert_eq!(views(before), None, "{before:?}");
        }
        assert_eq!(
            [0, 1, 7, 8, 255].map(|ticks| Stride::new(ticks).is_some()),
            [false, true, true, false, false]
        );
    }

    #[test]
    fn every_header_round_trips_and_no_prefix_parses() {
        let explicit = Time::Explicit { tick: Tick(70_000), interval_ticks: 3 };
        let merge = Some(0x8000_0001);
        let headers = [
            (Baseline::Reference(9), explicit, None, [0, 0, 0], 10),
            (Baseline::Back(255), explicit, merge, [0, 0, 0], 13),
            (Baseline::Back(255), explicit, merge, [1, 127, 1], 16),
            (Baseline::Back(1), stride(7), merge, [0, 0, 0], 8),
            (Baseline::Back(1), stride(7), None, [64, 0, 0], 5),
        ];
        for (baseline, time, merge, older, len) in headers {
            let sequence = Sequence(65_535);
            let older = OlderViews(older);
            let header = SnapshotHeader {
                sequence,
                baseline,
                left_out: false,
                time,
                merge,
                older,
                check: None,
            };
            let bytes = snapshot_bytes(&header);
            assert_eq!(bytes.len(), len);
            assert_eq!(header.bytes(), len);
            assert!(len <= LONGEST_HEADER_BYTES + OLDER_VIEW_BYTES * older.count());
            assert_eq!(Downstream::parse(&bytes), Ok(Downstream::Snapshot(header, EMPTY, None)));
            for end in 0..len {
                assert_eq!(Downstream::parse(&bytes[..end]), Err(Refused::Length { bytes: end }));
            }
        }
    }

    #[test]
    fn upstream_datagrams_round_trip() {
        let hello =
            Hello { version: 1, schema_hash: 2, codec_hash: 3, initial_hash: 4, events_hash: 5 };
        let mut bytes = Vec::new();
        hello.write(&mut bytes);
        assert_eq!(bytes.len(), 34);
        assert_eq!(Upstream::parse(&bytes), Ok(Upstream::Hello(hello, &[])));
        let other = Hello { codec_hash: 9, ..hello };
        assert_eq!(hello.mismatch(&hello), None);
        let mismatch = hello.mismatch(&other).unwrap();
        assert_eq!(mismatch, Mismatch::Codec { hash: 3 });
        let mut refusal = Vec::new();
        mismatch.write(&mut refusal);
        assert!(refusal.len() < 26, "no amplification");
        assert_eq!(Downstream::parse(&refusal), Ok(Downstream::Refusal(mismatch)));
        let acknowledgement = Acknowledgement { latest: Sequence(7), before: 0b101 };
        let mut bytes = Vec::new();
        acknowledgement.write(&mut bytes);
        assert_eq!(bytes, [5, 7, 0, 0b101, 0, 0, 0]);
        assert_eq!(Upstream::parse(&bytes), Ok(Upstream::Acknowledgement(acknowledgement)));
        bytes.push(0);
        assert_eq!(Upstream::parse(&bytes), Err(Refused::Length { bytes: 8 }));
        let mut bytes = Vec::new();
        write_anew(Sequence(16), &mut bytes);
        assert_eq!(bytes, [0x0C, 16, 0]);
        assert_eq!(Upstream::parse(&bytes), Ok(Upstream::Anew(Sequence(16))));
        assert_eq!(Upstream::parse(&bytes[..2]), Err(Refused::Length { bytes: 2 }));
        bytes.push(0);
        assert_eq!(Upstream::parse(&bytes), Err(Refused::Length { bytes: 4 }));
    }

    #[test]
    fn foreign_kinds_and_reserved_bits_are_refused() {
        for first_byte in [6, 7, 4, 5, 8 | 1, 16 | 2] {
            let bytes = [first_byte; 40];
            assert_eq!(Downstream::parse(&bytes), Err(Refused::Kind { first_byte }));
        }
        for first_byte in [0, 1, 2, 3, 6, 7, 16 | 4, 128 | 5] {
            assert_eq!(Upstream::parse(&[first_byte; 40]), Err(Refused::Kind { first_byte }));
        }
        // A stride without a view to count from, a fragment outside its block, a fragment of block
        // 0.
        assert!(Downstream::parse(&[0b0010_0000, 0, 0, 0, 0, 0, 0, 0, 0, 0]).is_err());
        assert_eq!(Downstream::parse(&[1, 0, 0, 1, 5, 0, 5, 0, 9]), Err(Refused::BadFragment));
        assert_eq!(Downstream::parse(&[1, 0, 0, 0, 0, 0, 5, 0, 9]), Err(Refused::BadFragment));
    }
}
