//! Block clips on disk: the same clip, entropy-coded, in 6 to 14 % fewer bytes. Decoded when it is
//! loaded, into exactly the bytes that it was packed from; as its bytes come, where they come
//! slowly. `spec/ANIM.md`, section 14.
//!
//! Each decision is coded at a probability mixed from several contexts: the same coefficient in the
//! segments before, its neighbours, the other axes, the track before. The first segment profits
//! from what was learned from other clips, once and for all. After Matt Mahoney's PAQ.
//!
//! ```
//! use std::sync::Arc;
//! use kinepack_anim::offline::{BuildOptions, build};
//! use kinepack_anim::{Clip, Joint, RawClip, Skeleton, Transform, disk};
//!
//! let skeleton = Arc::new(Skeleton::new(vec![Joint { name: "wheel".into(), parent: None, bind: Transform::IDENTITY }])?);
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
use crate::{Clip, ClipError};
use coding::{code_head, code_segment_step, live};
use model::{Model, START_BYTES, Watch};
use segment::History;

pub use limits::UnpackLimits;
pub use unpack::{Unpacker, unpack, unpack_with};

pub(crate) const MAGIC: [u8; 4] = *b"KPAD";
const VERSION: u8 = 1;
const FIXED_BYTES: usize = 5;
/// A packet ends behind the segment in which it has this many bytes.
const PACKET_BYTES: u64 = 4096;
/// Probability in 1/65536 that a packet ends behind a segment.
const PACKET_END: u16 = 1024;

static START: &[u8; START_BYTES] = include_bytes!("start.bin");

/// A clip as a disk file.
///
/// # Errors
/// [`ClipError::BadSegment`] for a clip with a segment which
/// [`offline::build`](crate::offline::build) would have written in other words: with other profiles
/// than those with the fewest bits. A file would not give it back as it was. [`ClipError::TooLong`]
/// for a clip that hardly moves: its file would be so small that readers refuse it
/// ([`UnpackLimits::default`]).
pub fn pack<B: AsRef<[u8]>>(clip: &Clip<B>) -> Result<Vec<u8>, ClipError> {
    let mut contents = Contents::from_clip(clip);
    check(clip, &contents)?;
    let mut file = [&MAGIC[..], &[VERSION]].concat();
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
        let there = clip.segment_at(coding.segments) + END_BYTES;
        UnpackLimits::default().check(there, coding.live.len(), file.len() as u64)?;
    }
    file.extend(&clip.as_bytes()[clip.as_bytes().len() - 4..]);
    Ok(file)
}

/// That a clip is in the words that its contents are given back in.
fn check<B: AsRef<[u8]>>(clip: &Clip<B>, contents: &Contents) -> Result<(), ClipError> {
    let mut bytes = Vec::new();
    for (segment, of_segment) in contents.segments.iter().enumerate() {
        bytes.clear();
        contents.write_segment(of_segment, &mut bytes);
        if bytes != clip.segment_bytes(segment) {
            let reason = "it has other profiles than those with the fewest bits";
            return Err(ClipError::BadSegment { segment, reason });
        }
    }
    Ok(())
}

/// A clip on its way, packet by packet.
#[derive(Debug)]
struct Coding<W> {
    model: Model<W>,
    history: Option<History>,
    live: Vec<segment::LiveComponent>,
    /// Segments that were coded.
    segments: usize,
    step: Option<u8>,
    is_done: bool,
}

impl<W: Watch> Coding<W> {
    fn new(start: &[u8; START_BYTES], watch: W) -> Self {
        let model = Model::new(start, watch);
        Self { model, history: None, live: Vec::new(), segments: 0, step: None, is_done: false }
    }

    /// Codes a packet: in the first one what the clip says once, then segments. An encoder has them
    /// in `contents`; of a decoder, `contents` gets the head, and `take` each segment.
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
        let told = std::mem::take(&mut contents.segments);
        let mut segment = SegmentContents { step: 0, length: 0, coefficients: Vec::new() };
        while self.segments < count {
            let length = contents.header.segment_length(self.segments);
            match told.get(self.segments) {
                Some(told) => segment.clone_from(told),
                None => {
                    segment.length = length;
                    // Not cleared: those of live components are all decoded, and no others are
                    // read.
                    segment.coefficients.resize(3 * contents.tracks.len() * length, 0);
                }
            }
            self.code_segment(coder, &mut segment)?;
            take(contents, Some(&segment))?;
            self.segments += 1;
            let is_full = coder.spent() - begin >= PACKET_BYTES << 11;
            if self.segments < count && coder.code(is_full, PACKET_END) {
                break;
            }
        }
        contents.segments = told;
        self.is_done = self.segments == count;
        Ok(())
    }

    fn code_segment<C: Coder>(
        &mut self,
        coder: &mut C,
        segment: &mut SegmentContents,
    ) -> Result<(), ClipError> {
        let bad = |reason| ClipError::BadSegment { segment: self.segments, reason };
        let step = code_segment_step(coder, &mut self.model, segment.step, self.step);
        segment.step = step.ok_or(bad("its step is none"))?;
        self.step = step;
        let history = self.history.as_mut().ok_or(bad("nothing is before it"))?;
        let SegmentContents { step, length, coefficients } = segment;
        if !history.code(coder, &mut self.model, &self.live, (*step, *length), coefficients) {
            return Err(bad("a coefficient of more than 24 bits, or the data end"));
        }
        Ok(())
    }
}

/// Seven bits a byte, the lowest first; the highest bit of all but the last is set.
fn write_varint(mut number: u64, bytes: &mut Vec<u8>) {
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}
