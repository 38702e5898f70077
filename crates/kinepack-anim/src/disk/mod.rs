//! Block clips on disk: a disk file contains the same clip, entropy-coded. At a precision of 0.01
//! cm, the file takes 11 to 16 % fewer bytes, depending on the set of clips (`docs/src/clips.md`).
//! Unpacking gives exactly the bytes that were packed. An [`Unpacker`] decodes a file while it
//! arrives. See `spec/ANIM.md`, section 14.
//!
//! Each decision is coded at a probability that is mixed from several contexts. The contexts are
//! the same coefficient in earlier segments, neighbouring coefficients, the other axes, and the
//! previous track. The model begins with parameters trained on other clips, so that it predicts
//! even the first segment well. Source: Matt Mahoney's PAQ.
//!
//! ```
//! use std::sync::Arc;
//! use kinepack_anim::offline::{BuildOptions, build};
//! use kinepack_anim::{Clip, Joint, RawClip, Skeleton, Transform, disk};
//!
//! let wheel = Joint { name: "wheel".into(), parent: None, bind: Transform::IDENTITY };
//! let skeleton = Arc::new(Skeleton::new(vec![wheel])?);
//! let samples = (0..300).map(|sample| {
//!     let half = (0.02 * sample as f32).sin();
//!     Transform { rotation: [0.0, 0.0, half.sin(), half.cos()], ..Transform::IDENTITY }
//! });
//! let raw = RawClip::new("turn", skeleton, 30.0, samples.collect())?;
//! let built = build(&raw, &BuildOptions::default())?;
//! let clip = built.clip.as_block().unwrap();
//!
//! let file = disk::pack(clip)?;
//! assert!(file.len() < clip.as_bytes().len());
//! let loaded = Clip::from_bytes(disk::unpack(&file)?)?;
//! assert!(loaded.as_bytes() == clip.as_bytes());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod coding;
mod limits;
mod logistic;
mod model;
mod segment;
#[doc(hidden)]
pub mod train;
mod unpack;

use kinepack::bits::BitWriter;
use kinepack::entropy::{Coder, RangeEncoder};

use crate::block::{Contents, END_BYTES, SegmentContents};
use crate::file_kind::magic;
use crate::{Clip, ClipError};
use coding::{code_anchors, code_head, code_segment_step, live};
use model::{Model, START_BYTES, Watch};
use segment::History;

pub use limits::UnpackLimits;
pub use unpack::{Unpacker, unpack, unpack_with};

const VERSION: u8 = 2;
const FIXED_BYTES: usize = 5;
/// A packet ends after the segment that brings it to this number of bytes.
const PACKET_BYTES: u64 = 4096;
/// The probability that a packet ends after a segment, in units of 1/65536.
const PACKET_END: u16 = 1024;

static START: &[u8; START_BYTES] = include_bytes!("start.bin");

/// Packs a clip into a disk file.
///
/// # Errors
/// Returns [`ClipError::BadSegment`] if a segment does not use the profiles with the fewest bits,
/// because unpacking would not reproduce its bytes. Clips from
/// [`offline::build`](crate::offline::build) always use them. Returns [`ClipError::TooLong`] for a
/// clip that hardly moves, if its file would be so small that readers would refuse it.
/// [`UnpackLimits`] describes the limit.
pub fn pack<B: AsRef<[u8]>>(clip: &Clip<B>) -> Result<Vec<u8>, ClipError> {
    let mut contents = Contents::from_clip(clip);
    check(clip, &contents)?;
    let mut file = [&magic::DISK_CLIP[..], &[VERSION]].concat();
    write_varint(clip.as_bytes().len() as u64, &mut file);
    let mut coding = Coding::new(START, ());
    while !coding.is_done {
        let mut packet = Vec::new();
        let mut writer = BitWriter::append(&mut packet);
        let mut encoder = RangeEncoder::new(&mut writer);
        coding.code_packet(&mut encoder, &mut contents, |_, _| Ok(()))?;
        encoder.finish();
        if writer.finish().is_err() {
            return Err(ClipError::EndOfData { part: "packets" });
        }
        write_varint(packet.len() as u64, &mut file);
        file.extend(packet);
        let unpacked_bytes = clip.segment_at(coding.segments) + END_BYTES;
        UnpackLimits::default().check(unpacked_bytes, coding.live.len(), file.len() as u64)?;
    }
    file.extend(&clip.as_bytes()[clip.as_bytes().len() - 4..]);
    Ok(file)
}

/// Checks that writing the segments reproduces the clip's bytes.
fn check<B: AsRef<[u8]>>(clip: &Clip<B>, contents: &Contents) -> Result<(), ClipError> {
    let mut bytes = Vec::new();
    for (segment, of_segment) in contents.segments.iter().enumerate() {
        bytes.clear();
        contents.write_segment(of_segment, &mut bytes);
        if bytes != clip.segment_bytes(segment) {
            let reason = "it does not use the profiles with the fewest bits";
            return Err(ClipError::BadSegment { segment, reason });
        }
    }
    Ok(())
}

/// The state of coding a clip packet by packet, in either direction.
#[derive(Debug)]
struct Coding<W> {
    model: Model<W>,
    history: Option<History>,
    live: Vec<segment::LiveComponent>,
    /// Number of segments coded so far.
    segments: usize,
    step: Option<u8>,
    is_done: bool,
}

impl<W: Watch> Coding<W> {
    fn new(start: &[u8; START_BYTES], watch: W) -> Self {
        let model = Model::new(start, watch);
        Self { model, history: None, live: Vec::new(), segments: 0, step: None, is_done: false }
    }

    /// Codes a packet. The first packet begins with the head, and segments follow. An encoder takes
    /// the head and the segments from `contents`. A decoder writes the head to `contents`. The
    /// function calls `take` once after the head, without a segment, and then for each segment.
    fn code_packet<C: Coder>(
        &mut self,
        coder: &mut C,
        contents: &mut Contents,
        mut take: impl FnMut(&Contents, Option<&SegmentContents>) -> Result<(), ClipError>,
    ) -> Result<(), ClipError> {
        let begin = coder.spent();
        if self.history.is_none() {
            code_head(coder, &mut self.model, contents)?;
            self.live = live(contents);
            self.history = Some(History::new(contents.header.block));
            take(contents, None)?;
        }
        let count = contents.segment_count();
        let far = contents.tracks.iter().filter(|track| track.is_far).count();
        let given = std::mem::take(&mut contents.segments);
        let mut segment =
            SegmentContents { step: 0, length: 0, anchors: Vec::new(), coefficients: Vec::new() };
        while self.segments < count {
            let length = contents.header.segment_length(self.segments);
            match given.get(self.segments) {
                Some(given) => segment.clone_from(given),
                None => {
                    segment.length = length;
                    // The coefficients are not cleared. Decoding overwrites the coefficients of all
                    // live components, and no code reads the others.
                    segment.coefficients.resize(3 * contents.tracks.len() * length, 0);
                }
            }
            self.code_segment(coder, far, &mut segment)?;
            take(contents, Some(&segment))?;
            self.segments += 1;
            let is_full = coder.spent() - begin >= PACKET_BYTES << 11;
            if self.segments < count && coder.code(is_full, PACKET_END) {
                break;
            }
        }
        contents.segments = given;
        self.is_done = self.segments == count;
        Ok(())
    }

    fn code_segment<C: Coder>(
        &mut self,
        coder: &mut C,
        far: usize,
        segment: &mut SegmentContents,
    ) -> Result<(), ClipError> {
        let bad = |reason| ClipError::BadSegment { segment: self.segments, reason };
        let step = code_segment_step(coder, &mut self.model, segment.step, self.step);
        segment.step = step.ok_or(bad("its step is out of range"))?;
        self.step = step;
        if far > 0 {
            code_anchors(coder, &mut self.model, (far, segment.length), &mut segment.anchors)
                .ok_or(bad("an anchor is out of range, or the data end"))?;
        }
        let history = self.history.as_mut().ok_or(bad("it comes before the head"))?;
        let SegmentContents { step, length, coefficients, .. } = segment;
        if !history.code(coder, &mut self.model, &self.live, (*step, *length), coefficients) {
            return Err(bad("a coefficient has more than 24 bits, or the data end"));
        }
        Ok(())
    }
}

/// Appends a number as a varint: seven bits per byte, the lowest first. The highest bit is set in
/// all bytes but the last.
fn write_varint(mut number: u64, bytes: &mut Vec<u8>) {
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}
