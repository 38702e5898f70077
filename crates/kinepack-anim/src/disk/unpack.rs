//! From the bytes of a file, as they come, to those of the clip.

use kinepack::entropy::RangeDecoder;
use kinepack::{BitReader, DecodeError};

use super::{Coding, FIXED_BYTES, MAGIC, MAX_RATIO, START, VERSION};
use crate::block::{BlockLength, Contents, END_BYTES, Header, SegmentContents, checksum};
use crate::{Clip, ClipError};

/// Bytes of a number, at most.
const LENGTH_BYTES: usize = 5;

/// The bytes of the clip that a file was packed from, to the bit: for [`Clip::from_bytes`].
///
/// # Errors
/// [`ClipError`], with the reason, for anything that is no file. Memory is bounded by a multiple of what is really decoded.
pub fn unpack(file: &[u8]) -> Result<Vec<u8>, ClipError> {
    let mut unpacker = Unpacker::new();
    let (fixed, rest) = file.split_at(file.len().min(FIXED_BYTES + LENGTH_BYTES));
    unpacker.push(fixed)?;
    if unpacker.length.is_some_and(|length| length as u64 > MAX_RATIO * file.len() as u64) {
        return Err(ClipError::BadHeader { field: "length" });
    }
    unpacker.push(rest)?;
    unpacker.finish()
}

/// Unpacks a file as its bytes come: first what the clip says once, then segment after segment.
#[derive(Debug)]
pub struct Unpacker {
    /// What came and is not decoded yet.
    file: Vec<u8>,
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
}

impl Default for Unpacker {
    fn default() -> Self {
        Self::new()
    }
}

impl Unpacker {
    /// Of a file of which nothing came yet.
    pub fn new() -> Self {
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
        Self { file: Vec::new(), length: None, contents, coding: Coding::new(START, ()), clip: ClipBytes::default() }
    }

    /// Takes the next bytes of the file, and decodes all segments that are complete with them: a packet of about 4 kB at a time.
    ///
    /// # Errors
    /// As [`unpack`]. No more bytes are to be given then.
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
            let Some((length, after)) = rest.get(FIXED_BYTES..).map(varint).transpose()?.flatten() else {
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
            let clip = &mut self.clip;
            self.coding.code_packet(&mut decoder, &mut self.contents, |contents, segment| match segment {
                Some(segment) => clip.add(contents, segment, length),
                None => clip.begin(contents, length),
            })?;
            decoder.finish().map_err(bad_packet)?;
            rest = after;
        }
        let taken = self.file.len() - rest.len();
        self.file.drain(..taken);
        Ok(())
    }

    /// What the clip's first bytes say, once that is known.
    pub fn header(&self) -> Option<&Header> {
        (!self.clip.bytes.is_empty()).then_some(&self.contents.header)
    }

    /// The bytes of the clip so far, up to the last segment that is complete. Offsets of segments that are not there yet are 0.
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

    /// The clip, when the bytes of the file have come. What is of a rig is read by [`Clip::with_rig`] from the bytes that [`finish`](Self::finish) gives.
    ///
    /// # Errors
    /// As [`unpack`].
    pub fn finish_clip(self) -> Result<Clip, ClipError> {
        Clip::from_bytes(self.finish()?)
    }
}

impl ClipBytes {
    /// Puts down what is in front of the segments, unless the rest cannot fit into `length` bytes.
    fn begin(&mut self, contents: &Contents, length: usize) -> Result<(), ClipError> {
        let header = &contents.header;
        let mut bytes = contents.head_bytes(header.offset_bytes);
        let count = contents.segment_count();
        let first_segment = bytes.len() + count * usize::from(header.offset_bytes);
        let live = (0..3 * contents.tracks.len()).filter(|component| contents.is_live(*component)).count();
        // At least a byte for each profile.
        let least = count as u64 * (1 + live as u64 * header.block.pieces() as u64);
        if (first_segment + END_BYTES) as u64 + least > length as u64 {
            return Err(ClipError::BadHeader { field: "length" });
        }
        self.offsets = bytes.len();
        self.first_segment = first_segment;
        bytes.resize(first_segment, 0);
        self.bytes = bytes;
        Ok(())
    }

    fn add(&mut self, contents: &Contents, segment: &SegmentContents, length: usize) -> Result<(), ClipError> {
        let at = self.bytes.len();
        let offset = ((at - self.first_segment) as u64).to_le_bytes();
        let (offset, above) = offset.split_at(usize::from(contents.header.offset_bytes));
        contents.write_segment(segment, &mut self.bytes);
        if above.iter().any(|byte| *byte != 0) || self.bytes.len() + END_BYTES > length {
            self.bytes.truncate(at);
            return Err(ClipError::BadSegment { segment: self.count, reason: "it ends behind the clip" });
        }
        self.bytes[self.offsets + self.count * offset.len()..][..offset.len()].copy_from_slice(offset);
        self.count += 1;
        Ok(())
    }
}

fn bad_packet(error: DecodeError) -> ClipError {
    match error {
        DecodeError::TrailingData { left_bits } => ClipError::TrailingData { bytes: left_bits.div_ceil(8) as usize },
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
    if bytes.len() < LENGTH_BYTES { Ok(None) } else { Err(ClipError::BadHeader { field: "length" }) }
}
