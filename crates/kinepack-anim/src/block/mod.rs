//! Block clips: of each component of a track a few samples at a time, as the coefficients of a
//! discrete cosine transform, packed with just the bits that they need. Any time is as near as any
//! other, and nothing is kept from one to the next. Sources: JPEG's transform coding, ACL's packed
//! samples. `spec/ANIM.md`, sections 10 to 13.
//!
//! Made by [`build`](crate::offline::build), played by a [`Sampler`].

mod basis;
mod contents;
mod group;
#[allow(unsafe_code)]
mod kernel;
mod layout;
mod play;
mod pose;
mod read;
mod rig;
mod sampler;
#[cfg(test)]
mod tests;
mod tracks;
mod widths;
mod write;

use std::sync::Arc;

use kernel::Segment;

use crate::{Channel, ClipError, ClipInfo, TrackId};

pub(crate) use basis::MAX_LENGTH;
#[cfg(feature = "offline")]
pub(crate) use basis::row as basis_row;
pub use kernel::Instructions;
#[cfg(feature = "offline")]
pub(crate) use kernel::{own_scale, segment_scale};
pub(crate) use layout::{
    END_BYTES, MAGIC, MAX_NUMBER, animated, kinds_from_byte, kinds_to_byte, tracks_of,
};
pub use layout::{Header, Kind};
pub use pose::{JointMask, PoseWriter, SoaPose};
pub(crate) use read::checksum;
pub use rig::Rig;
pub use sampler::{Sampler, sample_batch};
pub(crate) use tracks::Track;
pub use widths::BlockLength;
#[cfg(feature = "offline")]
pub(crate) use widths::{MAX_FOUR_BITS, PIECE, PROFILES, Widths, max_width, of_piece, width_of};
pub(crate) use write::{Constant, Contents, SegmentContents};

/// A block clip, in the bytes of its file: owned, borrowed, or mapped into memory.
///
/// Beside the bytes it keeps 4 bytes for each animated track.
#[derive(Clone, Debug)]
pub struct Clip<B = Vec<u8>> {
    bytes: B,
    header: Header,
    skeleton: u64,
    rig: Option<Arc<Rig>>,
    parts: Parts,
    /// The animated tracks in the order of the groups.
    tracks: Vec<TrackId>,
    /// How many of them are rotations.
    rotations: usize,
    /// Live components of all tracks.
    components: usize,
    /// Number of segments.
    segments: usize,
}

/// Where a segment begins.
#[derive(Clone, Copy, Debug)]
struct Span {
    /// Its first sample.
    start: u32,
    /// Its first byte.
    at: usize,
    /// Whether it blends.
    blends: bool,
}

/// Where the parts begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Parts {
    constants: usize,
    rotations: usize,
    blends: usize,
    offsets: usize,
    segments: usize,
    end: usize,
}

impl<B: AsRef<[u8]>> Clip<B> {
    /// The clip that `bytes` hold, checked once and for all; they are read where they are.
    ///
    /// # Errors
    /// [`ClipError`], with the reason, for anything that `spec/ANIM.md` does not allow;
    /// [`ClipError::Rig`] for a clip of a rig. Memory is bounded by the bytes' length.
    pub fn from_bytes(bytes: B) -> Result<Self, ClipError> {
        Self::read(bytes, None)
    }

    /// The same, of a clip that may be of this rig.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes); [`ClipError::Rig`] for a clip of another rig.
    pub fn with_rig(bytes: B, rig: &Arc<Rig>) -> Result<Self, ClipError> {
        Self::read(bytes, Some(rig))
    }

    pub(crate) fn read(bytes: B, rig: Option<&Arc<Rig>>) -> Result<Self, ClipError> {
        read::read(bytes, rig)
    }

    /// The clip as it stands in its file.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }

    /// What its first bytes say.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Joints, times and skeleton.
    pub fn info(&self) -> ClipInfo {
        ClipInfo {
            joints: self.joints(),
            samples: self.samples(),
            rate_hz: self.rate_hz(),
            skeleton_hash: self.skeleton,
        }
    }

    /// [`Skeleton::hash`](crate::Skeleton::hash) of the joints that it moves.
    pub fn skeleton_hash(&self) -> u64 {
        self.skeleton
    }

    /// The rig that it is of.
    pub fn rig(&self) -> Option<&Arc<Rig>> {
        self.rig.as_ref()
    }

    /// Number of joints.
    pub fn joints(&self) -> usize {
        usize::from(self.header.joints)
    }

    /// Number of sample times of the clip that it was made from.
    pub fn samples(&self) -> usize {
        self.header.samples as usize
    }

    /// Samples a second.
    pub fn rate_hz(&self) -> f32 {
        self.header.rate_hz
    }

    /// Seconds from the first sample to the last.
    pub fn duration_s(&self) -> f32 {
        self.info().duration_s()
    }

    /// What becomes of a channel of a joint.
    pub fn kind(&self, track: TrackId) -> Kind {
        let byte = self.as_bytes()[layout::HEADER_BYTES + usize::from(track.joint)];
        kinds_from_byte(byte).unwrap_or([Kind::Default; 3])[track.channel as usize]
    }

    /// The tracks that move: rotations, translations, scales, each by joint.
    pub fn animated_tracks(&self) -> &[TrackId] {
        &self.tracks
    }

    /// The tracks that keep one value which is not the bind pose's, and those values.
    pub fn constants(&self) -> Vec<(TrackId, [f32; 4])> {
        let kinds = self.kinds();
        let mut bytes = &self.as_bytes()[self.parts.constants..];
        let own = tracks_of(&kinds, Kind::Constant);
        let mut constants: Vec<_> =
            own.map(|track| (track, Constant::read(track.channel, &mut bytes).value())).collect();
        if let Some(rig) = &self.rig {
            let shared = tracks_of(&kinds, Kind::Shared);
            constants
                .extend(shared.filter_map(|track| Some((track, rig.constant(track)?.value()))));
        }
        constants
    }

    fn kinds(&self) -> Vec<[Kind; 3]> {
        let bytes = &self.as_bytes()[layout::HEADER_BYTES..][..self.joints()];
        bytes.iter().map(|byte| kinds_from_byte(*byte).unwrap_or([Kind::Default; 3])).collect()
    }

    /// Number of segments.
    pub fn segments(&self) -> usize {
        self.segments
    }

    /// Where each segment is, and behind them the end.
    fn spans(&self) -> Vec<Span> {
        let span = |segment| Span {
            start: self.header.segment_start(segment, self.segments) as u32,
            at: self.segment_at(segment),
            blends: self.blends(segment),
        };
        if self.segments == 0 { Vec::new() } else { (0..=self.segments).map(span).collect() }
    }

    /// The bytes of a segment.
    pub(crate) fn segment_bytes(&self, segment: usize) -> &[u8] {
        &self.as_bytes()[self.segment_at(segment)..self.segment_at(segment + 1)]
    }

    /// Whether what is between two samples of a segment is made of both.
    pub(crate) fn blends(&self, segment: usize) -> bool {
        let bits = &self.as_bytes()[self.parts.blends..self.parts.offsets];
        bits.get(segment / 8).is_some_and(|byte| byte >> (segment % 8) & 1 != 0)
    }

    /// The first byte of a segment; of the one behind the last, that behind them.
    pub(crate) fn segment_at(&self, segment: usize) -> usize {
        if segment == self.segments {
            return self.parts.end;
        }
        let offsets = &self.as_bytes()[self.parts.offsets..self.parts.segments];
        self.parts.segments + read::offset(offsets, segment, self.header.offset_bytes)
    }

    /// The beginning of a segment, by its number.
    fn segment_reader(&self, number: usize) -> Segment<'_> {
        let bytes = self.as_bytes().get(self.segment_at(number)..).unwrap_or_default();
        Segment::new(bytes, self.components, self.header.block, self.header.segment_length(number))
    }

    /// Bytes by what they are for, in the order of the file; they sum to the file's length.
    pub fn bytes_by_part(&self) -> Vec<(&'static str, usize)> {
        let Parts { constants, rotations, blends, segments, end, .. } = self.parts;
        let profiles = self.segments() * self.components * self.header.block.pieces();
        vec![
            ("header and hashes", layout::HEADER_BYTES + END_BYTES),
            ("kinds", constants - layout::HEADER_BYTES),
            ("constants", rotations - constants),
            ("references, axes, steps", blends - rotations),
            ("offsets and steps of segments", segments - blends + self.segments()),
            ("widths", profiles),
            ("coefficients", end - segments - profiles - self.segments()),
        ]
    }

    /// Bits of each animated track: what is said of it once, and its widths and coefficients in all
    /// segments.
    pub fn bits_by_track(&self) -> Vec<(TrackId, usize)> {
        let block = self.header.block;
        let components = self.component_tracks();
        let once =
            self.groups().flat_map(|(_, tracks)| tracks).map(|track| track.bits(&self.header));
        let mut bits: Vec<_> = self.tracks.iter().copied().zip(once).collect();
        for number in 0..self.segments() {
            let mut segment = self.segment_reader(number);
            for &index in &components {
                let before = segment.bit();
                segment.skip(1);
                bits[index].1 += 8 * block.pieces() + segment.bit() - before;
            }
        }
        bits
    }

    /// Components that are not 0 all the time.
    pub fn live_components(&self) -> usize {
        self.components
    }

    /// By live component, in the order of the segments, the index of its track.
    fn component_tracks(&self) -> Vec<usize> {
        let mut components = Vec::with_capacity(self.components);
        let mut first = 0;
        for (ids, tracks) in self.groups() {
            for axis in 0..3 {
                let is_live = |lane: &usize| tracks[*lane].steps[axis] != 0;
                components.extend((0..ids.len()).filter(is_live).map(|lane| first + lane));
            }
            first += ids.len();
        }
        components
    }

    /// How many channels have which kind.
    pub fn count_of(&self, channel: Channel, kind: Kind) -> usize {
        self.kinds().iter().filter(|kinds| kinds[channel as usize] == kind).count()
    }
}
