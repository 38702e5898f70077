//! Where what stands in a block clip. `spec/ANIM.md`, section 10.

use super::widths::BlockLength;
use crate::MAX_SAMPLES;
use crate::skeleton::MAX_JOINTS;
use crate::{Channel, ClipError, TrackId};

pub(crate) const MAGIC: [u8; 4] = *b"KPAB";
pub(crate) const VERSION: u8 = 1;
pub(crate) const HEADER_BYTES: usize = 16;
/// Hash of the skeleton, hash of the bytes.
pub(crate) const END_BYTES: usize = 12;
/// Bytes of a constant, by channel.
pub(crate) const CONSTANT_BYTES: [usize; 3] = [8, 12, 12];
/// Tracks of a group: as many as the widest kernel computes at once.
pub(crate) const GROUP: usize = 8;
/// The largest constants and middles.
pub(crate) const MAX_NUMBER: f32 = 1e18;

/// The first 16 bytes of a clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Header {
    /// The most samples of a segment.
    pub block: BlockLength,
    /// Whether the last sample is the first, and not coded.
    pub loops: bool,
    /// Whether references and axes have 16 bits a number instead of 8.
    pub is_fine: bool,
    /// Whether it says which segments blend: in those, what is between two samples is made of both,
    /// like what is between segments, for joints that turn so far from one to the next that the way
    /// between their parameters is another.
    pub blends: bool,
    /// Whether some of what is said once is that of a [`Rig`](super::Rig).
    pub is_of_rig: bool,
    /// Bytes of the offset of a segment, 1 to 4.
    pub offset_bytes: u8,
    /// Number of joints.
    pub joints: u16,
    /// Number of sample times of the raw clip.
    pub samples: u32,
    /// Samples a second.
    pub rate_hz: f32,
}

impl Header {
    pub(crate) fn to_bytes(self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4] = VERSION;
        let flags = u8::from(self.loops) << 2
            | u8::from(self.is_fine) << 3
            | u8::from(self.blends) << 6
            | u8::from(self.is_of_rig) << 7;
        bytes[5] = self.block as u8 | flags | (self.offset_bytes - 1) << 4;
        bytes[6..8].copy_from_slice(&self.joints.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.samples.to_le_bytes());
        bytes[12..].copy_from_slice(&self.rate_hz.to_le_bytes());
        bytes
    }

    /// That each number is one that a clip may have.
    pub(crate) fn check(&self) -> Result<(), ClipError> {
        let fewest = if self.loops { 2 } else { 1 };
        let checks = [
            ((1..=MAX_JOINTS).contains(&usize::from(self.joints)), "joints"),
            ((fewest..=MAX_SAMPLES as u32).contains(&self.samples), "samples"),
            (self.rate_hz.is_finite() && self.rate_hz > 0.0, "rate"),
        ];
        match checks.into_iter().find(|(is_right, _)| !is_right) {
            Some((_, field)) => Err(ClipError::BadHeader { field }),
            None => Ok(()),
        }
    }

    /// Samples that are coded.
    #[inline]
    pub fn coded_samples(&self) -> usize {
        self.samples as usize - usize::from(self.loops)
    }

    /// Segments of a clip of which anything moves.
    #[inline]
    pub(crate) fn segments(&self) -> usize {
        self.coded_samples().div_ceil(self.block.samples())
    }

    /// The first sample of a segment, of as many segments as there are.
    #[inline]
    pub(crate) fn segment_start(&self, segment: usize, segments: usize) -> usize {
        // At most 2^22 · 2^19.
        (self.coded_samples() as u64 * segment as u64 / segments as u64) as usize
    }

    /// Samples, and coefficients, of a segment.
    #[inline]
    pub(crate) fn segment_length(&self, segment: usize) -> usize {
        let segments = self.segments();
        self.segment_start(segment + 1, segments) - self.segment_start(segment, segments)
    }

    #[cfg(feature = "offline")]
    /// The segment of a sample.
    pub(crate) fn segment_of(&self, sample: usize, segments: usize) -> usize {
        (((sample as u64 + 1) * segments as u64 - 1) / self.coded_samples() as u64) as usize
    }

    /// Bytes of a number of a reference or of axes.
    #[inline]
    pub(crate) fn code_bytes(&self) -> usize {
        1 + usize::from(self.is_fine)
    }

    /// What of groups depends on the clip: whether numbers have 16 bits, and whether tracks may
    /// share them.
    pub(crate) fn group_format(&self) -> (bool, bool) {
        (self.is_fine, self.is_of_rig)
    }

    /// Whether a joint may be of these kinds.
    pub(crate) fn allows(&self, kinds: [Kind; 3]) -> bool {
        self.is_of_rig || !kinds.contains(&Kind::Shared)
    }
}

/// What becomes of a channel of a joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The bind pose's value, all the time.
    Default = 0,
    /// One value, all the time.
    Constant = 1,
    /// Segments of coefficients.
    Animated = 2,
    /// The rig's value, all the time.
    Shared = 3,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] = [Self::Default, Self::Constant, Self::Animated, Self::Shared];
}

/// Two bits a channel.
pub(crate) fn kinds_to_byte(kinds: [Kind; 3]) -> u8 {
    kinds[0] as u8 | (kinds[1] as u8) << 2 | (kinds[2] as u8) << 4
}

/// `None` for bits that mean nothing.
pub(crate) fn kinds_from_byte(byte: u8) -> Option<[Kind; 3]> {
    let kinds = [0, 2, 4].map(|bit| Kind::ALL[usize::from(byte >> bit & 3)]);
    (byte >> 6 == 0).then_some(kinds)
}

/// The tracks of one kind: by joint, then by channel.
pub(crate) fn tracks_of(kinds: &[[Kind; 3]], kind: Kind) -> impl Iterator<Item = TrackId> {
    kinds.iter().enumerate().flat_map(move |(joint, kinds)| {
        let is_kind = move |channel: &Channel| kinds[*channel as usize] == kind;
        let id = move |channel| TrackId { joint: joint as u16, channel };
        Channel::ALL.into_iter().filter(is_kind).map(id)
    })
}

/// The animated tracks in the order of the groups: rotations, translations, scales, each by joint.
pub(crate) fn animated(kinds: &[[Kind; 3]]) -> Vec<TrackId> {
    let mut tracks: Vec<_> = tracks_of(kinds, Kind::Animated).collect();
    tracks.sort_by_key(|track| (track.channel, track.joint));
    tracks
}
