//! The layout of a block clip: its header, its kinds of tracks, and the samples of each segment.
//! See `spec/ANIM.md`, section 10.

use kinepack::hash::Fnv1a;

use super::widths::BlockLength;
use crate::file_kind::magic;
use crate::{Channel, ClipError, MAX_CURVES, MAX_JOINTS, MAX_SAMPLES, TrackId};

pub(crate) const VERSION: u8 = 2;
pub(crate) const HEADER_BYTES: usize = 16;
/// The size of the header's extension in bytes. Clips with curves, markers or cubic interpolation
/// have it after the header.
pub(crate) const EXTENSION_BYTES: usize = 4;
/// The bit of the joint count that signals that the extension follows.
const EXTENDED: u16 = 1 << 15;
/// The number of curves in a curve track: one for each component.
pub(crate) const CURVES_OF_TRACK: usize = 3;
/// The size in bytes of the two hashes at a clip's end. The first is the hash of the skeleton or
/// rig. The second covers all bytes before it.
pub(crate) const END_BYTES: usize = 12;
/// The size of a constant in bytes, by channel.
pub(crate) const CONSTANT_BYTES: [usize; 3] = [8, 12, 12];
/// The number of tracks in a group. The widest kernel computes this number of tracks at once.
pub(crate) const GROUP: usize = 8;
/// The number of groups from one skip point to the next.
pub(crate) const SKIP_GROUPS: usize = 8;
/// The size of a skip point in bytes.
pub(crate) const SKIP_BYTES: usize = 4;
/// The largest magnitude of a constant or a middle.
pub(crate) const MAX_NUMBER: f32 = 1e18;

/// How a clip moves between two samples.
///
/// ```
/// use kinepack_anim::block::Interpolation;
///
/// assert_eq!(Interpolation::default(), Interpolation::Linear);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Interpolation {
    /// Between two samples, values change linearly.
    #[default]
    Linear,
    /// Between two samples, values follow cubic splines (Catmull and Rom), so that velocities do
    /// not jump at the samples. This is closer to motion captured at a higher rate. Sampling a pose
    /// costs the same as with straight lines.
    Cubic,
}

/// The header of a clip: its first 16 bytes, and the 4 bytes after them if the clip has curves,
/// markers or cubic interpolation.
///
/// ```
/// use kinepack_anim::block::{BlockLength, Header, Interpolation};
///
/// let header = Header {
///     block: BlockLength::N16,
///     loops: true,
///     is_fine: false,
///     blends: false,
///     is_of_rig: false,
///     offset_bytes: 2,
///     joints: 60,
///     samples: 31,
///     rate_hz: 30.0,
///     curves: 0,
///     is_labelled: false,
///     interpolation: Interpolation::Linear,
/// };
/// // The last sample of a loop repeats the first.
/// assert_eq!(header.coded_samples(), 30);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Header {
    /// The maximum number of samples that a segment has.
    pub block: BlockLength,
    /// Whether the clip loops: its last sample equals the first and is not coded.
    pub loops: bool,
    /// Whether each number of references and axes has 16 bits instead of 8 bits.
    pub is_fine: bool,
    /// Whether some segments blend. Between two samples, such a segment interpolates the rotations
    /// of both samples instead of their coefficients. A joint that turns far between two samples
    /// needs this, because interpolated coefficients would turn it along another path.
    pub blends: bool,
    /// Whether the clip takes some parameters or constants from a [`Rig`](super::Rig).
    pub is_of_rig: bool,
    /// The size of a segment's offset in bytes, from 1 to 4.
    pub offset_bytes: u8,
    /// Number of joints.
    pub joints: u16,
    /// Number of samples of the raw clip.
    pub samples: u32,
    /// Samples per second.
    pub rate_hz: f32,
    /// Number of curves.
    pub curves: u16,
    /// Whether the clip has the part that stores the names of the curves, and the markers.
    pub is_labelled: bool,
    /// How the clip moves between two samples.
    pub interpolation: Interpolation,
}

impl Interpolation {
    /// Decodes the header's flag for cubic interpolation.
    pub(crate) fn from_bit(is_cubic: bool) -> Self {
        if is_cubic { Self::Cubic } else { Self::Linear }
    }
}

impl Header {
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        let mut bytes = vec![0; self.bytes()];
        bytes[..4].copy_from_slice(&magic::BLOCK_CLIP);
        bytes[4] = VERSION;
        let flags = u8::from(self.loops) << 2
            | u8::from(self.is_fine) << 3
            | u8::from(self.blends) << 6
            | u8::from(self.is_of_rig) << 7;
        bytes[5] = self.block as u8 | flags | (self.offset_bytes - 1) << 4;
        let extended = if self.is_extended() { EXTENDED } else { 0 };
        bytes[6..8].copy_from_slice(&(self.joints | extended).to_le_bytes());
        bytes[8..12].copy_from_slice(&self.samples.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.rate_hz.to_le_bytes());
        if let [first, second, flags, _] = &mut bytes[HEADER_BYTES..] {
            [*first, *second] = self.curves.to_le_bytes();
            *flags = u8::from(self.is_labelled) | u8::from(self.is_cubic()) << 1;
        }
        bytes
    }

    /// Splits the stored joint count into the number of joints and whether the extension follows.
    pub(crate) fn split_joints(stored: u16) -> (u16, bool) {
        (stored & !EXTENDED, stored & EXTENDED != 0)
    }

    /// Returns whether the clip has the header's extension.
    pub(crate) fn is_extended(&self) -> bool {
        self.curves > 0 || self.is_labelled || self.is_cubic()
    }

    /// Returns whether the clip interpolates with cubic splines between samples.
    #[inline]
    pub(crate) fn is_cubic(&self) -> bool {
        self.interpolation == Interpolation::Cubic
    }

    /// Returns the size of the header in bytes, with the extension if the clip has one.
    pub(crate) fn bytes(&self) -> usize {
        HEADER_BYTES + if self.is_extended() { EXTENSION_BYTES } else { 0 }
    }

    /// Returns the size in bytes of the bit set that marks the segments that blend, in a clip with
    /// `segments` segments.
    #[inline]
    pub(crate) fn blend_bytes(&self, segments: usize) -> usize {
        if self.blends { segments.div_ceil(8) } else { 0 }
    }

    /// Returns the number of curve tracks.
    pub(crate) fn curve_tracks(&self) -> usize {
        usize::from(self.curves).div_ceil(CURVES_OF_TRACK)
    }

    /// Checks that each number is within the format's limits.
    pub(crate) fn check(&self) -> Result<(), ClipError> {
        let fewest = if self.loops { 2 } else { 1 };
        let checks = [
            ((1..=MAX_JOINTS).contains(&usize::from(self.joints)), "joints"),
            ((fewest..=MAX_SAMPLES as u32).contains(&self.samples), "samples"),
            (self.rate_hz.is_finite() && self.rate_hz > 0.0, "rate"),
            (usize::from(self.curves) <= MAX_CURVES, "curves"),
        ];
        match checks.into_iter().find(|(is_right, _)| !is_right) {
            Some((_, field)) => Err(ClipError::BadHeader { field }),
            None => Ok(()),
        }
    }

    /// Returns the number of coded samples: all, or all but the last if the clip loops.
    #[inline]
    pub fn coded_samples(&self) -> usize {
        self.samples as usize - usize::from(self.loops)
    }

    /// Returns the number of segments of a clip that has animated tracks or curves.
    #[inline]
    pub(crate) fn segments(&self) -> usize {
        self.coded_samples().div_ceil(self.block.samples())
    }

    /// Returns the first sample of segment `segment`, in a clip with `segments` segments.
    #[inline]
    pub(crate) fn segment_start(&self, segment: usize, segments: usize) -> usize {
        divided(self.coded_samples() as u64 * segment as u64, segments as u64)
    }

    /// Returns the first sample of segment `segment`, and the first sample after that segment.
    #[inline]
    pub(crate) fn segment_bounds(&self, segment: usize, segments: usize) -> [usize; 2] {
        [segment, segment + 1].map(|segment| self.segment_start(segment, segments))
    }

    /// Returns the number of samples in a segment, and of a component's coefficients in it.
    #[inline]
    pub(crate) fn segment_length(&self, segment: usize) -> usize {
        let [start, end] = self.segment_bounds(segment, self.segments());
        end - start
    }

    /// Returns the segment that contains sample `sample`, in a clip with `segments` segments.
    #[inline]
    pub(crate) fn segment_of(&self, sample: usize, segments: usize) -> usize {
        divided((sample as u64 + 1) * segments as u64 - 1, self.coded_samples() as u64)
    }

    /// Returns the size in bytes of each code of references and axes.
    #[inline]
    pub(crate) fn code_bytes(&self) -> usize {
        1 + usize::from(self.is_fine)
    }

    /// Returns the format of groups in the clip: whether codes have 16 bits, and whether tracks may
    /// share parameters with a rig.
    pub(crate) fn group_format(&self) -> (bool, bool) {
        (self.is_fine, self.is_of_rig)
    }

    /// Returns whether a joint of this clip may have the kinds `kinds`. Only a clip of a rig may
    /// have shared tracks.
    pub(crate) fn allows(&self, kinds: [Kind; 3]) -> bool {
        self.is_of_rig || !kinds.contains(&Kind::Shared)
    }
}

/// Returns the number of skip points in each segment of a clip with `groups` groups.
#[inline]
pub(crate) fn skip_points(groups: usize) -> usize {
    groups.div_ceil(SKIP_GROUPS).saturating_sub(1)
}

/// The counts that are the same for all segments of a clip.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counts {
    /// Number of live components.
    pub(crate) components: usize,
    pub(crate) skip_points: usize,
    /// Number of far tracks.
    pub(crate) far: usize,
}

/// How a clip stores a track.
///
/// ```
/// use kinepack_anim::block::Kind;
/// # use std::sync::Arc;
/// # use kinepack_anim::offline::{BuildOptions, build};
/// # use kinepack_anim::{Channel, Joint, RawClip, Skeleton, TrackId, Transform};
/// # let joint = Joint { name: "root".into(), parent: None, bind: Transform::IDENTITY };
/// # let skeleton = Arc::new(Skeleton::new(vec![joint])?);
/// # let sample = |i: i32| Transform { translation: [i as f32, 0.0, 0.0], ..Transform::IDENTITY };
/// # let samples = (0..31).map(sample).collect();
/// # let raw = RawClip::new("slide", skeleton, 30.0, samples)?;
/// # let built = build(&raw, &BuildOptions::default())?;
/// # let clip = built.clip.as_block().expect("block clips are the default");
/// // A joint that slides, and does not turn.
/// let kind = |channel| clip.kind(TrackId { joint: 0, channel });
/// assert_eq!(kind(Channel::Translation), Kind::Animated);
/// assert_eq!(kind(Channel::Rotation), Kind::Default);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The track keeps the bind pose's value.
    Default = 0,
    /// The track keeps a value that the clip stores.
    Constant = 1,
    /// The track changes: segments store its coefficients.
    Animated = 2,
    /// The track keeps a value that the rig stores.
    Shared = 3,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] = [Self::Default, Self::Constant, Self::Animated, Self::Shared];
}

/// Encodes a joint's kinds in a byte: two bits for each channel.
pub(crate) fn kinds_to_byte(kinds: [Kind; 3]) -> u8 {
    kinds[0] as u8 | (kinds[1] as u8) << 2 | (kinds[2] as u8) << 4
}

/// A bit in the byte of a joint's kinds. It marks the joint's translation as far.
pub(crate) const FAR: u8 = 1 << 6;

/// Decodes the kinds of a joint. Returns `None` if bit 7 is set, or if a translation is marked as
/// far but is not animated.
pub(crate) fn kinds_from_byte(byte: u8) -> Option<[Kind; 3]> {
    let kinds = [0, 2, 4].map(|bit| Kind::ALL[usize::from(byte >> bit & 3)]);
    (byte >> 7 == 0 && (byte & FAR == 0 || kinds[1] == Kind::Animated)).then_some(kinds)
}

/// Returns the tracks of kind `kind`, by joint, then by channel.
pub(crate) fn tracks_of(kinds: &[[Kind; 3]], kind: Kind) -> impl Iterator<Item = TrackId> {
    kinds.iter().enumerate().flat_map(move |(joint, kinds)| {
        let is_kind = move |channel: &Channel| kinds[*channel as usize] == kind;
        let id = move |channel| TrackId { joint: joint as u16, channel };
        Channel::ALL.into_iter().filter(is_kind).map(id)
    })
}

/// Returns the animated tracks in the order of the groups: rotations, then translations, then
/// scales, and within each channel by joint.
pub(crate) fn animated(kinds: &[[Kind; 3]]) -> Vec<TrackId> {
    let mut tracks: Vec<_> = tracks_of(kinds, Kind::Animated).collect();
    tracks.sort_by_key(|track| (track.channel, track.joint));
    tracks
}

/// Returns the id of a curve track in the list of all tracks, where curve tracks count as scales.
pub(super) fn curve_track(index: usize) -> TrackId {
    TrackId { joint: index as u16, channel: Channel::Scale }
}

/// Returns whether the format allows `number` in a clip.
pub(super) fn is_number(number: f32) -> bool {
    number.abs() <= MAX_NUMBER
}

/// Returns the hash of `bytes` that is stored at the end of a clip.
pub(crate) fn checksum(bytes: &[u8]) -> u32 {
    hash(bytes) as u32
}

pub(super) fn hash(bytes: &[u8]) -> u64 {
    let mut hash = Fnv1a::new();
    hash.add(bytes);
    hash.finish()
}

/// Divides, rounding down. The numbers are at most 2^22 · 2^19, but they rarely exceed 32 bits, and
/// division is faster in 32 bits.
#[inline]
fn divided(number: u64, by: u64) -> usize {
    match (u32::try_from(number), u32::try_from(by)) {
        (Ok(number), Ok(by)) => (number / by) as usize,
        _ => (number / by) as usize,
    }
}
