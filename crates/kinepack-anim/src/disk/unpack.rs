//! Unpacks a disk file to the bytes of the clip, either at once or while the file arrives.

use kinepack::DecodeError;
use kinepack::bits::BitReader;
use kinepack::entropy::RangeDecoder;

use super::{Coding, FIXED_BYTES, START, UnpackLimits, VERSION};
use crate::block::{
    BlockLength, Contents, END_BYTES, Header, Interpolation, LiveComponents, SegmentContents,
    checksum,
};
use crate::file_kind::magic;
use crate::{Clip, ClipError};

/// The maximum size of a varint, in bytes.
const VARINT_BYTES: usize = 5;

/// Unpacks a file to exactly the bytes that it was packed from, for [`Clip::from_bytes`].
///
/// # Errors
/// Returns [`ClipError`], with the reason, if the file is not valid. Returns [`ClipError::TooLong`]
/// if the clip is longer than [`UnpackLimits::default`] allows: 4 MiB, plus 256 bytes for each byte
/// of the file. The memory grows with the decoded data, up to three times that limit.
pub fn unpack(file: &[u8]) -> Result<Vec<u8>, ClipError> {
    unpack_with(file, UnpackLimits::default())
}

/// Unpacks a file like [`unpack`], but with the limits `limits`.
///
/// # Errors
/// Fails as [`unpack`] does.
pub fn unpack_with(file: &[u8], limits: UnpackLimits) -> Result<Vec<u8>, ClipError> {
    let mut unpacker = Unpacker::with_limits(limits);
    let (fixed, rest) = file.split_at(file.len().min(FIXED_BYTES + VARINT_BYTES));
    unpacker.push(fixed)?;
    if let Some(length) = unpacker.length {
        limits.check(length, 0, file.len() as u64)?;
    }
    unpacker.push(rest)?;
    unpacker.finish()
}

/// Unpacks a file while its bytes arrive: first the head, then segment after segment.
///
/// ```
/// # use std::sync::Arc;
/// # use kinepack_anim::offline::{BuildOptions, build};
/// # use kinepack_anim::{Joint, RawClip, Skeleton, Transform, disk};
/// use kinepack_anim::disk::Unpacker;
/// # let joint = Joint { name: "root".into(), parent: None, bind: Transform::IDENTITY };
/// # let skeleton = Arc::new(Skeleton::new(vec![joint])?);
/// # let sample = |i: i32| Transform { translation: [i as f32, 0.0, 0.0], ..Transform::IDENTITY };
/// # let samples = (0..31).map(sample).collect();
/// # let raw = RawClip::new("slide", skeleton, 30.0, samples)?;
/// # let built = build(&raw, &BuildOptions::default())?;
/// # let file = disk::pack(built.clip.as_block().expect("block clips are the default"))?;
///
/// let mut unpacker = Unpacker::new();
/// for bytes in file.chunks(10) {
///     unpacker.push(bytes)?;
/// }
/// assert!(unpacker.is_complete());
/// let clip = unpacker.finish_clip()?;
/// assert_eq!(clip.samples(), 31);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Unpacker {
    limits: UnpackLimits,
    /// The bytes that have arrived but are not decoded yet.
    file: Vec<u8>,
    /// Number of bytes that were decoded and removed from `file`.
    decoded_bytes: u64,
    /// The clip's length in bytes, once the file has stated it.
    length: Option<usize>,
    contents: Contents,
    coding: Coding<()>,
    clip: ClipBytes,
}

/// The bytes of the clip that are decoded so far.
#[derive(Debug, Default)]
struct ClipBytes {
    bytes: Vec<u8>,
    /// The offset at which the segments' offsets begin.
    offsets: usize,
    /// The offset at which the first segment begins.
    first_segment: usize,
    /// Number of decoded segments.
    count: usize,
    /// The live components, in the order in which a segment stores them.
    live: LiveComponents,
    /// Scratch memory for a segment's bytes.
    segment: Vec<u8>,
}

/// The limits on the clip's length at the end of a packet.
#[derive(Clone, Copy)]
struct Allowance {
    /// The length that the file states.
    length: usize,
    limits: UnpackLimits,
    /// Size of the file up to the end of the packet, in bytes.
    file_bytes: u64,
}

impl Default for Unpacker {
    fn default() -> Self {
        Self::new()
    }
}

impl Unpacker {
    /// Returns an unpacker with [`UnpackLimits::default`].
    pub fn new() -> Self {
        Self::with_limits(UnpackLimits::default())
    }

    /// Returns an unpacker with the limits `limits`.
    pub fn with_limits(limits: UnpackLimits) -> Self {
        let header = Header {
            block: BlockLength::N8,
            loops: false,
            is_fine: false,
            blends: false,
            is_of_rig: false,
            offset_bytes: 1,
            joints: 0,
            samples: 0,
            rate_hz: 0.0,
            curves: 0,
            is_labelled: false,
            interpolation: Interpolation::Linear,
        };
        let contents = Contents {
            header,
            kinds: Vec::new(),
            constants: Vec::new(),
            tracks: Vec::new(),
            blends: Vec::new(),
            segments: Vec::new(),
            labels: Vec::new(),
            owner: 0,
        };
        let (file, coding, clip) = (Vec::new(), Coding::new(START, ()), ClipBytes::default());
        Self { limits, file, decoded_bytes: 0, length: None, contents, coding, clip }
    }

    /// Takes the next bytes of the file, and decodes each packet that is now complete. A packet has
    /// about 4 kB.
    ///
    /// # Errors
    /// Fails as [`unpack`] does. The result does not depend on how the file is cut into pieces.
    /// After an error, do not push more bytes.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), ClipError> {
        self.file.extend(bytes);
        let mut rest = &self.file[..];
        if self.length.is_none() {
            let Some(magic) = rest.first_chunk() else { return Ok(()) };
            if *magic != magic::DISK_CLIP {
                return Err(ClipError::of_other_file(rest));
            }
            if rest.get(4).is_some_and(|version| *version != VERSION) {
                return Err(ClipError::Version { version: rest[4], newest: VERSION });
            }
            let Some((length, after)) = rest.get(FIXED_BYTES..).map(varint).transpose()?.flatten()
            else {
                return Ok(());
            };
            self.length = Some(length);
            rest = after;
        }
        let length = self.length.unwrap_or_default();
        while !self.coding.is_done {
            let Some((packet_bytes, after)) = varint(rest)? else { break };
            let Some((packet, after)) = after.split_at_checked(packet_bytes) else { break };
            let mut reader = BitReader::new(packet);
            let mut decoder = RangeDecoder::new(&mut reader);
            let file_bytes = self.decoded_bytes + (self.file.len() - after.len()) as u64;
            let allowance = Allowance { length, limits: self.limits, file_bytes };
            let clip = &mut self.clip;
            self.coding.code_packet(&mut decoder, &mut self.contents, |contents, segment| {
                match segment {
                    Some(segment) => clip.add(contents, segment, allowance),
                    None => clip.begin(contents, allowance),
                }
            })?;
            decoder.finish().map_err(bad_packet)?;
            rest = after;
        }
        let decoded = self.file.len() - rest.len();
        self.file.drain(..decoded);
        self.decoded_bytes += decoded as u64;
        Ok(())
    }

    /// Returns the clip's header, or `None` if it is not decoded yet.
    pub fn header(&self) -> Option<&Header> {
        (!self.clip.bytes.is_empty()).then_some(&self.contents.header)
    }

    /// Returns the bytes of the clip up to the last decoded segment. Offsets of later segments are
    /// 0.
    pub fn as_bytes(&self) -> &[u8] {
        &self.clip.bytes
    }

    /// Returns the number of decoded segments.
    pub fn segments(&self) -> usize {
        self.clip.count
    }

    /// Returns whether all segments are decoded. [`finish`](Self::finish) may still refuse the file
    /// because of the bytes after the last segment.
    pub fn is_complete(&self) -> bool {
        self.header().is_some() && self.clip.count == self.contents.segment_count()
    }

    /// Returns the bytes of the clip. Call this method after pushing the last byte of the file.
    ///
    /// # Errors
    /// Fails as [`unpack`] does.
    pub fn finish(self) -> Result<Vec<u8>, ClipError> {
        if !self.coding.is_done {
            return Err(if self.length.is_none() && self.file.len() < magic::DISK_CLIP.len() {
                ClipError::NoClip
            } else {
                ClipError::EndOfData { part: "packets" }
            });
        }
        let Some((hash, rest)) = self.file.split_first_chunk() else {
            return Err(ClipError::EndOfData { part: "hashes" });
        };
        if !rest.is_empty() {
            return Err(ClipError::TrailingData { bytes: rest.len() });
        }
        let mut bytes = self.clip.bytes;
        bytes.extend(&self.contents.labels);
        bytes.extend(self.contents.owner.to_le_bytes());
        if self.length != Some(bytes.len() + hash.len()) {
            return Err(ClipError::BadHeader { field: "length" });
        }
        if u32::from_le_bytes(*hash) != checksum(&bytes) {
            return Err(ClipError::BadHash);
        }
        bytes.extend(hash);
        Ok(bytes)
    }

    /// Returns the clip. Call this method after pushing the last byte of the file. A clip of a rig
    /// needs [`finish`](Self::finish) and [`Clip::with_rig`] instead.
    ///
    /// # Errors
    /// Fails as [`unpack`] does.
    pub fn finish_clip(self) -> Result<Clip, ClipError> {
        Clip::from_bytes(self.finish()?)
    }
}

impl ClipBytes {
    /// Writes the parts that precede the segments. Fails if the segments cannot fit into the clip's
    /// length.
    fn begin(&mut self, contents: &Contents, allowance: Allowance) -> Result<(), ClipError> {
        let header = &contents.header;
        let mut bytes = contents.head_bytes(header.offset_bytes);
        let count = contents.segment_count();
        let first_segment = bytes.len() + count * usize::from(header.offset_bytes);
        let live = contents.live();
        // A segment has at least a byte for its step and a byte for each profile.
        let least = count as u64 * (1 + live.numbers.len() as u64 * header.block.pieces() as u64);
        if (first_segment + END_BYTES) as u64 + least > allowance.length as u64 {
            return Err(ClipError::BadHeader { field: "length" });
        }
        allowance.check(first_segment, &live)?;
        self.live = live;
        self.offsets = bytes.len();
        self.first_segment = first_segment;
        bytes.resize(first_segment, 0);
        self.bytes = bytes;
        Ok(())
    }

    fn add(
        &mut self,
        contents: &Contents,
        segment: &SegmentContents,
        allowance: Allowance,
    ) -> Result<(), ClipError> {
        let at = self.bytes.len();
        let offset = ((at - self.first_segment) as u64).to_le_bytes();
        let (offset, above) = offset.split_at(usize::from(contents.header.offset_bytes));
        self.segment.clear();
        contents.write_live(&self.live, segment, &mut self.segment);
        let end = at + self.segment.len();
        if above.iter().any(|byte| *byte != 0) || end + END_BYTES > allowance.length {
            return Err(ClipError::BadSegment {
                segment: self.count,
                reason: "it ends after the end of the clip",
            });
        }
        allowance.check(end, &self.live)?;
        if end > self.bytes.capacity() {
            // The capacity doubles, up to the length of the whole clip.
            let wanted = (2 * end).min(allowance.length);
            self.bytes.reserve_exact(wanted - at);
        }
        self.bytes.extend(&self.segment);
        self.bytes[self.offsets + self.count * offset.len()..][..offset.len()]
            .copy_from_slice(offset);
        self.count += 1;
        Ok(())
    }
}

impl Allowance {
    /// Checks that a clip of `bytes` bytes without its end is within the limits.
    fn check(&self, bytes: usize, live: &LiveComponents) -> Result<(), ClipError> {
        self.limits.check(bytes + END_BYTES, live.numbers.len(), self.file_bytes)
    }
}

fn bad_packet(error: DecodeError) -> ClipError {
    match error {
        DecodeError::TrailingData { left_bits } => {
            ClipError::TrailingData { bytes: left_bits.div_ceil(8) as usize }
        }
        DecodeError::EndOfData { .. } => ClipError::EndOfData { part: "packets" },
        _ => ClipError::BadHash,
    }
}

/// Decodes a varint. Returns the number and the bytes after it, or `None` if the varint's last byte
/// has not arrived yet.
fn varint(bytes: &[u8]) -> Result<Option<(usize, &[u8])>, ClipError> {
    let mut number = 0;
    for (index, byte) in bytes.iter().enumerate().take(VARINT_BYTES) {
        number |= u64::from(byte & 0x7f) << (7 * index);
        if byte >> 7 == 0 {
            let is_shortest = index == 0 || *byte != 0;
            let number = u32::try_from(number).ok().filter(|_| is_shortest);
            let number = number.ok_or(ClipError::BadHeader { field: "length" })?;
            return Ok(Some((number as usize, &bytes[index + 1..])));
        }
    }
    if bytes.len() < VARINT_BYTES {
        Ok(None)
    } else {
        Err(ClipError::BadHeader { field: "length" })
    }
}
