//! Block clips. Each component of a track is cut into segments of a few samples. A segment stores
//! the coefficients of a discrete cosine transform, packed into as few bits as they need. Every
//! time costs the same to sample, and a sampler keeps no state between two times. Sources: JPEG's
//! transform coding, ACL's packed samples. `spec/ANIM.md`, sections 10 to 13.
//!
//! [`build`](crate::offline::build) makes block clips, and a [`Sampler`] plays them.

mod basis;
mod contents;
mod far;
mod group;
mod joint;
#[allow(unsafe_code)]
mod kernel;
mod labels;
mod layout;
mod parameters;
mod play;
#[cfg(feature = "offline")]
pub(crate) mod played;
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

use far::Far;
use group::{Codes, GroupHead, Groups};
use kernel::Segment;
use parameters::VectorTracks;
use play::{Segments, Source};

use crate::{Channel, ClipError, ClipInfo, TrackId};

pub(crate) use basis::MAX_LENGTH;
#[cfg(feature = "offline")]
pub(crate) use basis::row as basis_row;
pub(crate) use far::Anchors;
pub use kernel::Instructions;
#[cfg(feature = "offline")]
pub(crate) use kernel::{own_scale, segment_scale};
#[cfg(feature = "offline")]
pub(crate) use labels::write as label_bytes;
pub use labels::{MAX_CURVES, MAX_MARKERS, MAX_NAME_BYTES, MarkerRef};
pub(crate) use layout::{
    CURVES_OF_TRACK, END_BYTES, MAGIC, MAX_NUMBER, animated, kinds_from_byte, kinds_to_byte,
    tracks_of,
};
use layout::{Counts, SKIP_BYTES, skip_points};
pub use layout::{Header, Interpolation, Kind};
#[cfg(feature = "offline")]
pub(crate) use parameters::number_of;
pub use pose::{JointMask, PoseWriter, SoaPose};
pub(crate) use read::checksum;
pub(crate) use rig::MAGIC as RIG_MAGIC;
pub use rig::Rig;
pub use sampler::{Sampler, sample_batch};
pub(crate) use tracks::Track;
pub use widths::BlockLength;
#[cfg(feature = "offline")]
pub(crate) use widths::{MAX_FOUR_BITS, PIECE, PROFILES, Widths, max_width, piece_range, width_of};
pub(crate) use write::{Constant, Contents, LiveComponents, SegmentContents};

/// A block clip, in the bytes of its file: owned, borrowed, or mapped into memory.
///
/// Besides the bytes it keeps 3 bytes for each animated track. A clip of a rig also keeps the
/// parameters of its tracks, about 15 bytes each.
///
/// A slice of embedded bytes, `&include_bytes!("walk.kpa")[..]`, gives a `Clip<&'static [u8]>`.
/// Without `[..]` the type would contain the file's length, so each file would have a type of its
/// own.
///
/// ```
/// # use std::sync::Arc;
/// # use kinepack_anim::offline::{BuildOptions, build};
/// # use kinepack_anim::{Clip, Joint, RawClip, Skeleton, Transform};
/// # let joint = Joint { name: "root".into(), parent: None, bind: Transform::IDENTITY };
/// # let skeleton = Arc::new(Skeleton::new(vec![joint])?);
/// # let sample = |i: i32| Transform { translation: [i as f32, 0.0, 0.0], ..Transform::IDENTITY };
/// # let samples = (0..31).map(sample).collect();
/// # let raw = RawClip::new("slide", skeleton, 30.0, samples)?;
/// # let built = build(&raw, &BuildOptions::default())?;
/// # let file = built.clip.as_block().expect("block clips are the default").as_bytes().to_vec();
/// let clip = Clip::from_bytes(file)?;
/// assert_eq!((clip.joints(), clip.samples(), clip.rate_hz()), (1, 31, 30.0));
/// assert_eq!(clip.duration_s(), 1.0);
/// assert_eq!(clip.animated_tracks().len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Clip<B = Vec<u8>> {
    bytes: B,
    header: Header,
    skeleton: u64,
    rig: Option<Arc<Rig>>,
    parts: Parts,
    /// The joints of the animated tracks, in the order of the groups, and then the numbers of the
    /// curve tracks, from 0 on.
    joints: Box<[u16]>,
    /// Number of animated tracks that are rotations; they are the first ones.
    rotations: usize,
    /// Number of animated tracks that are translations; they follow.
    translations: usize,
    /// The numbers of the far tracks among the translations.
    far: Box<[u16]>,
    /// Number of live components of all tracks, curve tracks included.
    components: usize,
    /// Number of segments.
    segments: usize,
    /// A head for each group, and one for the end.
    heads: Box<[GroupHead]>,
    /// The groups of a clip of a rig, with the shared numbers filled in. Empty for others.
    filled: Box<[u8]>,
}

/// The byte offsets at which the parts of a clip begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Parts {
    constants: usize,
    groups: usize,
    blends: usize,
    offsets: usize,
    segments: usize,
    /// The end of the segments: names and markers follow.
    labels: usize,
    /// The number of markers. It equals `end` in a clip without names and markers.
    markers: usize,
    end: usize,
}

impl<B: AsRef<[u8]>> Clip<B> {
    /// Reads the clip in `bytes` and checks all of it, so that playback needs no further checks.
    /// The bytes are not copied.
    ///
    /// # Errors
    /// [`ClipError`], with the reason, for anything that `spec/ANIM.md` does not allow;
    /// [`ClipError::Rig`] for a clip of a rig. The length of `bytes` bounds the memory.
    pub fn from_bytes(bytes: B) -> Result<Self, ClipError> {
        Self::read(bytes, None)
    }

    /// Like [`from_bytes`](Self::from_bytes), but the clip may use `rig`.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes); [`ClipError::Rig`] for a clip of another rig.
    pub fn with_rig(bytes: B, rig: &Arc<Rig>) -> Result<Self, ClipError> {
        Self::read(bytes, Some(rig))
    }

    pub(crate) fn read(bytes: B, rig: Option<&Arc<Rig>>) -> Result<Self, ClipError> {
        read::read(bytes, rig)
    }

    /// The bytes of memory that the clip takes: its file, and what it keeps besides.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>()
            + self.as_bytes().len()
            + size_of_val(&*self.joints)
            + size_of_val(&*self.far)
            + size_of_val(&*self.heads)
            + size_of_val(&*self.filled)
    }

    /// The bytes of the clip's file.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }

    /// The header, which the first bytes store.
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

    /// [`Skeleton::hash`](crate::Skeleton::hash) of the skeleton that the clip moves.
    pub fn skeleton_hash(&self) -> u64 {
        self.skeleton
    }

    /// The rig that the clip uses, if any.
    pub fn rig(&self) -> Option<&Arc<Rig>> {
        self.rig.as_ref()
    }

    /// Number of joints.
    pub fn joints(&self) -> usize {
        usize::from(self.header.joints)
    }

    /// Number of samples of the raw clip that this one was built from.
    pub fn samples(&self) -> usize {
        self.header.samples as usize
    }

    /// Samples per second.
    pub fn rate_hz(&self) -> f32 {
        self.header.rate_hz
    }

    /// Seconds from the first sample to the last.
    pub fn duration_s(&self) -> f32 {
        self.info().duration_s()
    }

    /// How the clip stores a track of one of its joints.
    pub fn kind(&self, track: TrackId) -> Kind {
        let byte = self.as_bytes()[self.header.bytes() + usize::from(track.joint)];
        kinds_from_byte(byte).unwrap_or([Kind::Default; 3])[track.channel as usize]
    }

    /// Whether a joint's translation is *far*: each segment stores anchors for it, so that the
    /// precision holds at any distance from the origin.
    pub fn is_far(&self, joint: usize) -> bool {
        let kinds = &self.as_bytes()[self.header.bytes()..][..self.joints()];
        kinds.get(joint).is_some_and(|kinds| kinds & layout::FAR != 0)
    }

    /// The animated tracks: rotations, then translations, then scales, each by joint.
    pub fn animated_tracks(&self) -> impl ExactSizeIterator<Item = TrackId> + '_ {
        let channel = |index| match index {
            index if index < self.rotations => Channel::Rotation,
            index if index < self.rotations + self.translations => Channel::Translation,
            _ => Channel::Scale,
        };
        let joints = self.joints[..self.joint_tracks()].iter().enumerate();
        joints.map(move |(index, joint)| TrackId { joint: *joint, channel: channel(index) })
    }

    /// Number of animated tracks of joints.
    fn joint_tracks(&self) -> usize {
        self.joints.len() - self.header.curve_tracks()
    }

    /// The tracks that keep a constant value other than the bind pose's, with those values.
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
        let bytes = &self.as_bytes()[self.header.bytes()..][..self.joints()];
        bytes.iter().map(|byte| kinds_from_byte(*byte).unwrap_or([Kind::Default; 3])).collect()
    }

    /// Number of segments.
    pub fn segments(&self) -> usize {
        self.segments
    }

    /// What playback needs.
    #[inline]
    fn source(&self) -> Source<'_> {
        let bytes = self.as_bytes();
        let Parts { constants, groups, blends, offsets, segments, labels, .. } = self.parts;
        let (own_groups, codes) = match self.filled.len() {
            0 if self.header.is_fine => (&bytes[groups..], Codes::Fine),
            0 => (&bytes[groups..], Codes::Coarse),
            _ => (&self.filled[..], Codes::Mixed),
        };
        let (of_rotations, of_vectors) = self.joints.split_at(self.rotations);
        let first_vectors = self.rotations.div_ceil(layout::GROUP);
        let rotations = Groups::rotations(own_groups, of_rotations, &self.heads, codes);
        let own_groups = own_groups.get(rotations.len()..).unwrap_or_default();
        Source {
            header: self.header,
            kinds: &bytes[self.header.bytes()..][..self.joints()],
            constants: &bytes[constants..],
            rotations,
            codes,
            vectors: Groups::vectors(own_groups, of_vectors, &self.heads[first_vectors..]),
            stored: VectorTracks {
                translations: self.translations,
                joints: self.joint_tracks() - self.rotations,
            },
            far: Far { tracks: &self.far },
            counts: self.counts(),
            segments: Segments {
                count: self.segments,
                blends: &bytes[blends..offsets],
                offsets: &bytes[offsets..segments],
                bytes: &bytes[segments..],
                end: labels - segments,
            },
            rig: self.rig.as_deref(),
        }
    }

    /// What all segments have the same number of.
    #[inline]
    fn counts(&self) -> Counts {
        Counts {
            components: self.components,
            skip_points: skip_points(self.heads.len() - 1),
            far: self.far.len(),
        }
    }

    /// The bytes of a segment.
    pub(crate) fn segment_bytes(&self, segment: usize) -> &[u8] {
        &self.as_bytes()[self.segment_at(segment)..self.segment_at(segment + 1)]
    }

    /// Whether times between two samples of the segment blend the poses of both.
    pub(crate) fn blends(&self, segment: usize) -> bool {
        self.source().segments.blends(segment)
    }

    /// The first byte of a segment. For the number of segments it is the byte after the last one.
    pub(crate) fn segment_at(&self, segment: usize) -> usize {
        self.parts.segments + self.source().segments.at(segment, &self.header)
    }

    /// A reader at the beginning of segment `number`.
    fn segment_reader(&self, number: usize) -> Segment<'_> {
        let bytes = self.as_bytes().get(self.segment_at(number)..).unwrap_or_default();
        Segment::new(bytes, self.counts(), self.header.block, self.header.segment_length(number))
    }

    /// The size of each part in bytes, in the order of the file. The sizes sum to the file's
    /// length.
    pub fn bytes_by_part(&self) -> Vec<(&'static str, usize)> {
        let Parts { constants, groups, blends, segments, labels, end, .. } = self.parts;
        let header = self.header.bytes();
        let profiles = self.segments() * self.components * self.header.block.pieces();
        let anchors = |number| self.segment_reader(number).anchors().len();
        let places = self.segments() * (1 + SKIP_BYTES * self.counts().skip_points)
            + (0..self.segments()).map(anchors).sum::<usize>();
        vec![
            ("header and hashes", header + END_BYTES),
            ("kinds", constants - header),
            ("constants", groups - constants),
            ("references, axes, steps", blends - groups),
            ("offsets, steps, anchors of segments", segments - blends + places),
            ("widths", profiles),
            ("coefficients", labels - segments - profiles - places),
            ("names and markers", end - labels),
        ]
    }

    /// The size of each animated track in bits: its parameters, and its widths and coefficients in
    /// all segments. The list does not have curve tracks.
    pub fn bits_by_track(&self) -> Vec<(TrackId, usize)> {
        let block = self.header.block;
        let components = self.component_tracks();
        let parameter_bits =
            self.groups().flat_map(|(_, tracks)| tracks).map(|track| track.bits(&self.header));
        let mut bits: Vec<_> = self.animated_tracks().zip(parameter_bits).collect();
        for number in 0..self.segments() {
            let mut segment = self.segment_reader(number);
            for &index in &components {
                let before = segment.bit();
                segment.skip(1);
                if let Some((_, bits)) = bits.get_mut(index) {
                    *bits += 8 * block.pieces() + segment.bit() - before;
                }
            }
        }
        bits
    }

    /// Number of live components: those that have coefficients. All others are 0 at all times.
    pub fn live_components(&self) -> usize {
        self.components
    }

    /// The track index of each live component, in the order in which segments store them.
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

    /// Number of joints whose `channel` has this `kind`.
    pub fn count_of(&self, channel: Channel, kind: Kind) -> usize {
        self.kinds().iter().filter(|kinds| kinds[channel as usize] == kind).count()
    }
}
