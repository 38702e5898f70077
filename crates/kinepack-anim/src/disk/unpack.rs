//! From the bytes of a file, as they come, to those of the clip.

use kinepack::DecodeError;
use kinepack::bits::BitReader;
use kinepack::entropy::RangeDecoder;

use super::{Coding, FIXED_BYTES, MAGIC, START, UnpackLimits, VERSION};
use crate::block::{BlockLength, Contents, END_BYTES, Header, SegmentContents, checksum};
use crate::{Clip, ClipError};

/// Bytes of a number, at most.
const LENGTH_BYTES: usize = 5;

/// The bytes of the clip that a file was packed from, to the bit: for [`Clip::from_bytes`].
///
/// # Errors
/// [`ClipError`], with the reason, for anything that is no file; [`ClipError::TooLong`] for one
/// that becomes more than [`UnpackLimits::default`] allows: 4 MiB and 256 bytes for each byte of
/// the file. Memory is at most three times that, and grows with what is really decoded.
pub fn unpack(file: &[u8]) -> Result<Vec<u8>, ClipError> {
    unpack_with(file, UnpackLimits::default())
}

/// The same with other limits.
///
/// # Errors
/// As [`unpack`].
pub fn unpack_with(file: &[u8], limits: UnpackLimits) -> Result<Vec<u8>, ClipError> {
    let mut unpacker = Unpacker::with_limits(limits);
    let (fixed, rest) = file.split_at(file.len().min(FIXED_BYTES + LENGTH_BYTES));
    unpacker.push(fixed)?;
    if let Some(length) = unpacker.length {
        limits.check(length, 0, file.len() as u64)?;
    }
    unpacker.push(rest)?;
    unpacker.finish()
}

/// Unpacks a file as its bytes come: first what the clip says once, then segment after segment.
#[derive(Debug)]
pub struct Unpacker {
    limits: UnpackLimits,
    /// What came and is not decoded yet.
    file: Vec<u8>,
    /// Bytes before those.
    taken: u64,
    /// The length of the clip, as soon as that is known.
    length: Option<usize>,
    contents: Contents,
    coding: Coding<()>,
    clip: ClipBytes,
}

/// What of the clip is there.
#[derive(Debug, Default)]
struct ClipBytes {
    bytes: Vec<u8>,
    /// Where its offsets and its first segment begin.
    offsets: usize,
    first_segment: usize,
    /// Segments that are there.
    count: usize,
    /// The components that have coefficients, in the order of a segment.
    live: Vec<usize>,
    segment: Vec<u8>,
}

/// How far a clip may come with the packet that is decoded.
#[derive(Clone, Copy)]
struct Most {
    /// As the file says.
    length: usize,
    limits: UnpackLimits,
    /// Bytes of the file up to the packet's end.
    file_bytes: u64,
}

impl Default for Unpacker {
    fn default() -> Self {
        Self::new()
    }
}

impl Unpacker {
    /// Of a file of which nothing came yet.
    pub fn new() -> Self {
        Self::with_limits(UnpackLimits::default())
    }

    /// The same with other limits than [`UnpackLimits::default`].
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
        };
        let contents = Contents {
            header,
            kinds: Vec::new(),
            constants: Vec::new(),
            tracks: Vec::new(),
            blends: Vec::new(),
            segments: Vec::new(),
            owner: 0,
        };
        let (file, coding, clip) = (Vec::new(), Coding::new(START, ()), ClipBytes::default());
        Self { limits, file, taken: 0, length: None, contents, coding, clip }
    }

    /// Takes the next bytes of the file, and decodes all segments that are complete with them: a
    /// packet of about 4 kB at a time.
    ///
    /// # Errors
    /// As [`unpack`], with the same limits whatever pieces the file comes in. No more bytes are to
    /// be given then.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), ClipError> {
        self.file.extend(bytes);
        let mut rest = &self.file[..];
        if self.length.is_none() {
            let known = rest.len().min(MAGIC.len());
            if rest[..known] != MAGIC[..known] {
                return Err(ClipError::NoClip);
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
            let file_bytes = self.taken + (self.file.len() - after.len()) as u64;
            let most = Most { length, limits: self.limits, file_bytes };
            let clip = &mut self.clip;
            self.coding.code_packet(&mut decoder, &mut self.contents, |contents, segment| {
                match segment {
                    Some(segment) => clip.add(contents, segment, most),
                    None => clip.begin(contents, most),
                }
            })?;
            decoder.finish().map_err(bad_packet)?;
            rest = after;
        }
        let taken = self.file.len() - rest.len();
        self.file.drain(..taken);
        self.taken += taken as u64;
        Ok(())
    }

    /// What the clip's first bytes say, once that is known.
    pub fn header(&self) -> Option<&Header> {
        (!self.clip.bytes.is_empty()).then_some(&self.contents.header)
    }

    /// The bytes of the clip so far, up to the last segment that is complete. Offsets of segments
    /// that are not there yet are 0.
    pub fn as_bytes(&self) -> &[u8] {
        &self.clip.bytes
    }

    /// Segments that are there.
    pub fn segments(&self) -> usize {
        self.clip.count
    }

    /// Whether all segments are there. The file may still be refused for what is behind them.
    pub fn is_complete(&self) -> bool {
        self.header().is_some() && self.clip.count == self.contents.segment_count()
    }

    /// The bytes of the clip, when those of the file have come.
    ///
    /// # Errors
    /// As [`unpack`].
    pub fn finish(self) -> Result<Vec<u8>, ClipError> {
        if !self.coding.is_done {
            return Err(if self.length.is_none() && self.file.len() < MAGIC.len() {
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

    /// The clip, when the bytes of the file have come. What is of a rig is read by
    /// [`Clip::with_rig`] from the bytes that [`finish`](Self::finish) gives.
    ///
    /// # Errors
    /// As [`unpack`].
    pub fn finish_clip(self) -> Result<Clip, ClipError> {
        Clip::from_bytes(self.finish()?)
    }
}

impl ClipBytes {
    /// Puts down what is in front of the segments, unless the rest cannot fit into `length` bytes.
    fn begin(&mut self, contents: &Contents, most: Most) -> Result<(), ClipError> {
        let header = &contents.header;
        let mut bytes = contents.head_bytes(header.offset_bytes);
        let count = contents.segment_count();
        let first_segment = bytes.len() + count * usize::from(header.offset_bytes);
        let live: Vec<usize> =
            contents.components().filter(|component| contents.is_live(*component)).collect();
        // At least a byte for each profile.
        let least = count as u64 * (1 + live.len() as u64 * header.block.pieces() as u64);
        if (first_segment + END_BYTES) as u64 + least > most.length as u64 {
            return Err(ClipError::BadHeader { field: "length" });
        }
        most.check(first_segment, &live)?;
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
        most: Most,
    ) -> Result<(), ClipError> {
        let at = self.bytes.len();
        let offset = ((at - self.first_segment) as u64).to_le_bytes();
        let (offset, above) = offset.split_at(usize::from(contents.header.offset_bytes));
        self.segment.clear();
        contents.write_live(&self.live, segment, &mut self.segment);
        let end = at + self.segment.len();
        if above.iter().any(|byte| *byte != 0) || end + END_BYTES > most.length {
            return Err(ClipError::BadSegment {
                segment: self.count,
                reason: "it ends behind the clip",
            });
        }
        most.check(end, &self.live)?;
        if end > self.bytes.capacity() {
            // Memory that doubles has no more than the clip needs, and the end of it.
            let wanted = (2 * end).min(most.length);
            self.bytes.reserve_exact(wanted - at);
        }
        self.bytes.extend(&self.segment);
        self.bytes[self.offsets + self.count * offset.len()..][..offset.len()]
            .copy_from_slice(offset);
        self.count += 1;
        Ok(())
    }
}

impl Most {
    /// Checks that a clip with this many bytes before its end is within the limits.
    fn check(&self, bytes: usize, live: &[usize]) -> Result<(), ClipError> {
        self.limits.check(bytes + END_BYTES, live.len(), self.file_bytes)
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

/// A number in seven bits a byte, and what is behind it; `None` where its end has not come.
fn varint(bytes: &[u8]) -> Result<Option<(usize, &[u8])>, ClipError> {
    let mut number = 0;
    for (index, byte) in bytes.iter().enumerate().take(LENGTH_BYTES) {
        number |= u64::from(byte & 0x7f) << (7 * index);
        if byte >> 7 == 0 {
            let is_shortest = index == 0 || *byte != 0;
            let number = u32::try_from(number).ok().filter(|_| is_shortest);
            let number = number.ok_or(ClipError::BadHeader { field: "length" })?;
            return Ok(Some((number as usize, &bytes[index + 1..])));
        }
    }
    if bytes.len() < LENGTH_BYTES {
        Ok(None)
    } else {
        Err(ClipError::BadHeader { field: "length" })
    }
}
