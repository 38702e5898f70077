//! Groups: runs of snapshots, each coded against the snapshots just before it. Files and reliable
//! streams lose nothing, so a snapshot can be coded against the previous one. Groups are therefore
//! much smaller than packets, which are coded against acknowledged views. `spec/GROUP.md` defines
//! the format.
//!
//! A group starts either from an empty snapshot or from a view that both sides were given. A file
//! of groups can therefore be read from the beginning of any group. To reach one snapshot, a reader
//! decodes at most one group.
//!
//! ```
//! use kinepack::group::{GroupReader, GroupWriter};
//! use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
//!
//! #[derive(Pack)]
//! struct Ball {
//!     #[pack(range = 0.0..64.0, precision = 0.01)]
//!     height: f32,
//! }
//!
//! let schema = Schema::of::<Ball>();
//! let codec = Codec::new(schema.clone(), Level::LEARNING, Profile::untrained(&schema))?;
//! let mut writer = GroupWriter::new(&codec);
//! let (mut world, mut group) = (Snapshot::new(&schema, Tick(0)), Vec::new());
//! for tick in 0..60 {
//!     world.clear(Tick(tick));
//!     let time = tick as f32 / 60.0;
//!     world.push(EntityId(7), &Ball { height: 10.0 + 5.0 * time - 4.9 * time * time })?;
//!     writer.write(&world, &mut group)?;
//! }
//! assert!(group.len() < 200);
//!
//! let (mut reader, mut bytes, mut count) = (GroupReader::new(&codec), &group[..], 0);
//! while let Some(view) = reader.read(&mut bytes)? {
//!     assert_eq!(view.tick, Tick(count));
//!     count += 1;
//! }
//! assert_eq!(count, 60);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::file_numbers::Writer;
use crate::{
    Baselines, BaselinesError, Codec, DecodeError, DecodeLimits, Decoder, EncodeError, Encoder,
    Size, Snapshot, Tick, View,
};

/// The maximum number of views that a packet is coded against.
const VIEWS: usize = 3;

/// The largest step between the ticks of two frames.
const MAX_STEP: u32 = (1 << 31) - 1;

/// The largest size of a varint, in bytes.
const MAX_VARINT: usize = 5;

/// The views of the last frames of this group, the newest first. Before the group's first frame,
/// `views` holds only the given view, if any.
#[derive(Debug)]
struct Chain {
    views: Vec<View>,
    /// The views of the previous group, whose memory the first frames of this group reuse.
    old: Vec<View>,
}

impl Chain {
    fn new() -> Self {
        let [views, old] = [(); 2].map(|()| Vec::with_capacity(VIEWS + 1));
        Self { views, old }
    }

    /// Begins a group that starts from `given`, if any.
    fn begin(&mut self, given: Option<View>) {
        self.old.clear();
        self.old.append(&mut self.views);
        self.views.extend(given);
    }

    /// Returns the tick of the last frame, or of the given view.
    fn tick(&self) -> Option<Tick> {
        self.views.first().map(|view| view.tick)
    }

    /// Adds the view of a frame. Returns a view that no later frame needs any more, if there is
    /// one.
    fn push(&mut self, view: View) -> Option<View> {
        self.views.insert(0, view);
        if self.views.len() > VIEWS { self.views.pop() } else { self.old.pop() }
    }
}

/// The baseline of a group's first frame if the group has no given view: a snapshot without
/// entities. This snapshot is kept between groups, so that each group reuses the snapshot's memory.
#[derive(Debug)]
struct EmptyBaseline(Arc<Snapshot>);

impl EmptyBaseline {
    fn new(codec: &Codec) -> Self {
        Self(Arc::new(Snapshot::new(codec.schema(), Tick(0))))
    }

    /// Returns the baseline of a frame at `tick`.
    fn before(&mut self, tick: Tick) -> View {
        Arc::make_mut(&mut self.0).tick = Tick(tick.0.wrapping_sub(1));
        View::from(Arc::clone(&self.0))
    }
}

/// Writes groups, one frame after another.
///
/// A writer keeps the last three views. In steady state it allocates nothing.
#[derive(Debug)]
pub struct GroupWriter {
    encoder: Encoder,
    chain: Chain,
    empty: EmptyBaseline,
    packet: Vec<u8>,
}

impl GroupWriter {
    /// Makes a writer at the beginning of a group that starts from an empty snapshot.
    pub fn new(codec: &Codec) -> Self {
        Self {
            encoder: Encoder::new(codec),
            chain: Chain::new(),
            empty: EmptyBaseline::new(codec),
            packet: Vec::new(),
        }
    }

    /// Begins a group. `given` is a view that the reader will also be given, such as the
    /// [last](Self::last) view of the previous group. If `given` is `None`, the group can be read
    /// without the groups before it.
    pub fn begin(&mut self, given: Option<View>) {
        self.chain.begin(given);
    }

    /// Appends a frame with the snapshot to `out`. Returns the view that a reader will have after
    /// that frame.
    ///
    /// The cost is that of [`Encoder::encode`].
    ///
    /// # Errors
    /// [`EncodeError::Baselines`] if the tick is not after the last one, and the errors of
    /// [`Encoder::encode`]. After an error, `out` and the group are unchanged.
    pub fn write(&mut self, world: &Snapshot, out: &mut Vec<u8>) -> Result<&View, EncodeError> {
        let Self { encoder, chain, empty, packet } = self;
        let step = world.tick.0.wrapping_sub(tick_of(chain.tick()).0);
        if let Some(last) = chain.views.first()
            && !(1..=MAX_STEP).contains(&step)
        {
            let (tick, newer) = (last.tick.0, world.tick.0);
            return Err(BaselinesError::NotOlder { tick, newer }.into());
        }
        packet.clear();
        let view = if chain.views.is_empty() {
            encoder.encode(&empty.before(world.tick), world, packet)?
        } else {
            encoder.encode(Baselines::new(&chain.views)?, world, packet)?
        };
        let mut header = Writer(out);
        header.number((packet.len() as u64) << 1 | u64::from(step != 1));
        if step != 1 {
            header.number(step.wrapping_sub(2).into());
        }
        out.extend_from_slice(packet);
        if let Some(old) = chain.push(view) {
            encoder.recycle(old);
        }
        Ok(&self.chain.views[0])
    }

    /// Returns the view of the last frame. Before a group's first frame, this is the given view.
    pub fn last(&self) -> Option<&View> {
        self.chain.views.first()
    }

    /// Returns the number of bits of each part of the last frame. The bits of the frame's header
    /// are not included.
    pub fn size(&self) -> &Size {
        self.encoder.size()
    }
}

/// Reads groups from untrusted bytes, one frame after another.
///
/// A reader keeps the last three views. The memory of a reader is bounded like a [`Decoder`]'s. In
/// steady state a reader allocates nothing.
#[derive(Debug)]
pub struct GroupReader {
    decoder: Decoder,
    chain: Chain,
    empty: EmptyBaseline,
}

impl GroupReader {
    /// Makes a reader with the default limits, at the beginning of a group that starts from an
    /// empty snapshot.
    pub fn new(codec: &Codec) -> Self {
        Self::with_limits(codec, DecodeLimits::default())
    }

    /// Makes a reader with these limits, at the beginning of a group that starts from an empty
    /// snapshot.
    pub fn with_limits(codec: &Codec, limits: DecodeLimits) -> Self {
        Self {
            decoder: Decoder::with_limits(codec, limits),
            chain: Chain::new(),
            empty: EmptyBaseline::new(codec),
        }
    }

    /// Begins a group. `given` is the view that the group's writer was given, if any.
    pub fn begin(&mut self, given: Option<View>) {
        self.chain.begin(given);
    }

    /// Reads the frame at the beginning of `bytes` and advances `bytes` past it. Returns `None` if
    /// `bytes` is empty.
    ///
    /// The storage must guarantee that the bytes are unaltered: see [`Decoder::decode`].
    ///
    /// # Errors
    /// [`DecodeError`] if `bytes` does not begin with a valid frame. After an error, `bytes` and
    /// the group are unchanged.
    pub fn read(&mut self, bytes: &mut &[u8]) -> Result<Option<&View>, DecodeError> {
        if bytes.is_empty() {
            return Ok(None);
        }
        let Self { decoder, chain, empty } = self;
        let frame = Frame::read(bytes, chain.tick())?;
        let view = if chain.views.is_empty() {
            decoder.decode(&empty.before(frame.tick), frame.packet, frame.tick)?
        } else {
            decoder.decode(Baselines::new(&chain.views)?, frame.packet, frame.tick)?
        };
        *bytes = frame.rest;
        if let Some(old) = chain.push(view) {
            decoder.recycle(old);
        }
        Ok(self.last())
    }

    /// Returns the view of the last frame. Before a group's first frame, this is the given view.
    pub fn last(&self) -> Option<&View> {
        self.chain.views.first()
    }
}

/// Iterates over a group's frames: each frame's tick, and the offset of the byte after the frame.
/// Only the headers of the frames are read.
///
/// ```
/// # use kinepack::group::{GroupWriter, FrameHeaders};
/// # use kinepack::schema::{Field, FieldKind};
/// # use kinepack::{Codec, Level, Profile, Schema, Snapshot, Tick};
/// # let schema = Schema::new(vec![Field::new("lit", FieldKind::Bool)]);
/// # let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema))?;
/// # let (mut writer, mut group) = (GroupWriter::new(&codec), Vec::new());
/// for tick in [7, 8, 20] {
///     writer.write(&Snapshot::new(&schema, Tick(tick)), &mut group)?;
/// }
/// let headers = FrameHeaders::new(&group, None).collect::<Result<Vec<_>, _>>()?;
/// assert_eq!(headers.iter().map(|(tick, _)| tick.0).collect::<Vec<_>>(), [7, 8, 20]);
/// assert_eq!(headers[2].1, group.len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct FrameHeaders<'a> {
    bytes: &'a [u8],
    rest: &'a [u8],
    before: Option<Tick>,
}

impl<'a> FrameHeaders<'a> {
    /// Iterates over the frames of `group`. `given` is the tick of the view that the group starts
    /// from, if any.
    pub fn new(group: &'a [u8], given: Option<Tick>) -> Self {
        Self { bytes: group, rest: group, before: given }
    }
}

impl Iterator for FrameHeaders<'_> {
    type Item = Result<(Tick, usize), DecodeError>;

    /// Returns the next frame's tick and the offset of the byte after the frame. An error ends the
    /// iteration.
    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        Some(match Frame::read(self.rest, self.before) {
            Ok(frame) => {
                (self.rest, self.before) = (frame.rest, Some(frame.tick));
                Ok((frame.tick, self.bytes.len() - frame.rest.len()))
            }
            Err(error) => {
                self.rest = &[];
                Err(error)
            }
        })
    }
}

/// A frame of a group, and the bytes that follow it.
struct Frame<'a> {
    tick: Tick,
    packet: &'a [u8],
    rest: &'a [u8],
}

impl<'a> Frame<'a> {
    /// Reads the frame that follows the view of tick `before`, or the first frame if there is no
    /// such view.
    fn read(bytes: &'a [u8], before: Option<Tick>) -> Result<Self, DecodeError> {
        let mut rest = bytes;
        let at_bit = |rest: &[u8]| 8 * (bytes.len() - rest.len()) as u64;
        let header = read_varint(&mut rest, 0)?;
        let mut step = 1;
        if header & 1 != 0 {
            let at = at_bit(rest);
            let gap = read_varint(&mut rest, at)?;
            let most = if before.is_none() { u32::MAX - 1 } else { MAX_STEP - 2 };
            step = gap.wrapping_add(2);
            if gap > most {
                return Err(DecodeError::OutOfRange { at_bit: at_bit(rest) });
            }
        }
        let count = (header >> 1) as usize;
        match rest.split_at_checked(count) {
            Some((packet, rest)) if count > 0 => {
                Ok(Self { tick: Tick(tick_of(before).0.wrapping_add(step)), packet, rest })
            }
            Some(_) => Err(DecodeError::OutOfRange { at_bit: at_bit(rest) }),
            None => Err(DecodeError::EndOfData {
                at_bit: at_bit(rest),
                wanted_bits: (header >> 1).saturating_mul(8),
                left_bits: (rest.len() as u64 * 8).min(u32::MAX.into()) as u32,
            }),
        }
    }
}

/// Returns the tick that the next frame's tick is relative to.
fn tick_of(before: Option<Tick>) -> Tick {
    before.unwrap_or(Tick(u32::MAX))
}

/// Reads a varint and advances `bytes` past it.
fn read_varint(bytes: &mut &[u8], at_bit: u64) -> Result<u32, DecodeError> {
    let mut value = 0;
    for (nth, &byte) in bytes.iter().enumerate().take(MAX_VARINT) {
        value |= u64::from(byte & 0x7F) << (7 * nth);
        if byte >> 7 == 0 {
            *bytes = &bytes[nth + 1..];
            let is_shortest = byte != 0 || nth == 0;
            let value = u32::try_from(value).ok().filter(|_| is_shortest);
            return value.ok_or(DecodeError::OutOfRange { at_bit: at_bit + 8 * (nth as u64 + 1) });
        }
    }
    Err(match bytes.len() {
        MAX_VARINT.. => DecodeError::OutOfRange { at_bit: at_bit + 8 * MAX_VARINT as u64 },
        len => DecodeError::EndOfData {
            at_bit,
            wanted_bits: 8 * (len as u32 + 1),
            left_bits: 8 * len as u32,
        },
    })
}
