//! Block clips. Each component of a track is cut into segments of a few samples. A segment stores
//! the coefficients of a discrete cosine transform, packed into as few bits as they need. Sampling
//! costs the same at every time, and a sampler keeps no state between calls. Sources: JPEG's
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
mod tables;
#[cfg(test)]
mod tests;
mod tracks;
mod widths;
mod write;

use std::sync::Arc;

use far::Far;
use group::{Codes, Groups};
use kernel::Segment;
use parameters::VectorTracks;
use play::{Segments, Source};
use tables::Tables;

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
/// In addition to the file's bytes, it takes about 100 bytes, plus 2.5 bytes for each animated
/// track. A clip of a rig also keeps the parameters of its tracks, about 15 bytes each.
///
/// A slice of embedded bytes, `&include_bytes!("walk.kpa")[..]`, gives a `Clip<&'static [u8]>`.
/// Without `[..]`, the type would include the file's length, so each file would have its own type.
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
    lengths: Lengths,
    tables: Tables,
    /// The rig and the data that the clip takes from it, if it has a rig.
    shared: Option<Box<Shared>>,
}

/// A clip's rig, and the data that the clip takes from it.
#[derive(Clone, Debug)]
struct Shared {
    rig: Arc<Rig>,
    /// The clip's groups with the shared numbers filled in.
    groups: Box<[u8]>,
}

/// The lengths that determine where a clip's parts begin. Those in bytes fit into 32 bits, because
/// the numbers of joints, samples, curves and markers are limited.
#[derive(Clone, Copy, Debug, Default)]
struct Lengths {
    /// Bytes of the constants.
    constants: u32,
    /// Bytes of the groups.
    groups: u32,
    /// Number of segments.
    segments: u32,
    /// Bytes of the names of curves.
    names: u32,
    /// Bytes of the markers, including their count.
    markers: u32,
}

/// The byte offsets at which the parts of a clip begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Parts {
    constants: usize,
    groups: usize,
    blends: usize,
    offsets: usize,
    segments: usize,
    /// The end of the segments: names and markers follow.
    labels: usize,
    /// The markers, which begin with their count. Equals `end` in a clip without names and markers.
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

    /// The memory that the clip takes, in bytes: its file, and everything that it keeps in
    /// addition.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>()
            + self.as_bytes().len()
            + self.tables.heap_bytes()
            + self.shared.as_deref().map_or(0, |own| size_of_val(own) + own.groups.len())
    }

    /// The bytes of the clip's file.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }

    /// The header, stored in the clip's first bytes.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The numbers of joints and samples, the sample rate, and the skeleton's hash.
    pub fn info(&self) -> ClipInfo {
        ClipInfo {
            joints: self.joints(),
            samples: self.samples(),
            rate_hz: self.rate_hz(),
            skeleton_hash: self.skeleton_hash(),
        }
    }

    /// [`Skeleton::hash`](crate::Skeleton::hash) of the skeleton that the clip animates.
    pub fn skeleton_hash(&self) -> u64 {
        self.rig().map_or_else(|| self.owner(), |rig| rig.skeleton_hash())
    }

    /// The stored hash of the skeleton, or of the rig if the clip has one.
    fn owner(&self) -> u64 {
        let stored = self.as_bytes()[self.parts().end..].first_chunk().copied();
        u64::from_le_bytes(stored.unwrap_or_default())
    }

    /// The rig that the clip uses, if any.
    pub fn rig(&self) -> Option<&Arc<Rig>> {
        self.shared.as_deref().map(|own| &own.rig)
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
        let (rotations, translations) = (self.tables.rotations(), self.tables.translations());
        let channel = move |index| match index {
            index if index < rotations => Channel::Rotation,
            index if index < rotations + translations => Channel::Translation,
            _ => Channel::Scale,
        };
        let joints = self.tables.joints()[..self.joint_tracks()].iter().enumerate();
        joints.map(move |(index, joint)| TrackId { joint: *joint, channel: channel(index) })
    }

    /// Number of animated tracks of joints.
    fn joint_tracks(&self) -> usize {
        self.tables.joints().len() - self.header.curve_tracks()
    }

    /// The tracks that keep a constant value other than the bind pose's, with those values.
    pub fn constants(&self) -> Vec<(TrackId, [f32; 4])> {
        let kinds = self.kinds();
        let mut bytes = &self.as_bytes()[self.parts().constants..];
        let own = tracks_of(&kinds, Kind::Constant);
        let mut constants: Vec<_> =
            own.map(|track| (track, Constant::read(track.channel, &mut bytes).value())).collect();
        if let Some(rig) = self.rig() {
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
        self.lengths.segments as usize
    }

    /// Computes where each part begins.
    #[inline]
    fn parts(&self) -> Parts {
        let Lengths { constants, groups, names, markers, .. } = self.lengths;
        let constants_at = self.header.bytes() + self.joints();
        let groups_at = constants_at + constants as usize;
        let blends = groups_at + groups as usize;
        let offsets = blends + self.header.blend_bytes(self.segments());
        let end = self.as_bytes().len() - END_BYTES;
        let markers = end - markers as usize;
        Parts {
            constants: constants_at,
            groups: groups_at,
            blends,
            offsets,
            segments: offsets + usize::from(self.header.offset_bytes) * self.segments(),
            labels: markers - names as usize,
            markers,
            end,
        }
    }

    /// The clip's bytes, split into the parts that playback reads.
    #[inline]
    fn source(&self) -> Source<'_> {
        let bytes = self.as_bytes();
        let Parts { constants, groups, blends, offsets, segments, labels, .. } = self.parts();
        let (own_groups, codes) = match &self.shared {
            None if self.header.is_fine => (&bytes[groups..], Codes::Fine),
            None => (&bytes[groups..], Codes::Coarse),
            Some(own) => (&own.groups[..], Codes::Mixed),
        };
        let heads = self.tables.heads();
        let (of_rotations, of_vectors) = self.tables.joints().split_at(self.tables.rotations());
        let first_vectors = of_rotations.len().div_ceil(layout::GROUP);
        let rotations = Groups::rotations(own_groups, of_rotations, heads.lives(), codes);
        let own_groups = own_groups.get(rotations.len()..).unwrap_or_default();
        Source {
            header: self.header,
            kinds: &bytes[self.header.bytes()..][..self.joints()],
            constants: &bytes[constants..],
            rotations,
            codes,
            vectors: Groups::vectors(own_groups, of_vectors, &heads.lives()[first_vectors..]),
            heads,
            stored: VectorTracks {
                translations: self.tables.translations(),
                joints: of_vectors.len() - self.header.curve_tracks(),
            },
            far: Far { tracks: self.tables.far() },
            counts: self.counts(),
            segments: Segments {
                count: self.segments(),
                blends: &bytes[blends..offsets],
                offsets: &bytes[offsets..segments],
                bytes: &bytes[segments..],
                end: labels - segments,
            },
            rig: self.rig().map(|rig| &**rig),
        }
    }

    /// The counts that are the same for all segments.
    #[inline]
    fn counts(&self) -> Counts {
        Counts {
            components: self.tables.components(),
            skip_points: skip_points(self.tables.groups()),
            far: self.tables.far().len(),
        }
    }

    /// The bytes of a segment.
    pub(crate) fn segment_bytes(&self, segment: usize) -> &[u8] {
        &self.as_bytes()[self.segment_at(segment)..self.segment_at(segment + 1)]
    }

    /// Whether the segment blends: between two samples, it interpolates the decoded values instead
    /// of the coefficients.
    pub(crate) fn blends(&self, segment: usize) -> bool {
        self.source().segments.blends(segment)
    }

    /// The offset of a segment's first byte. If `segment` is the number of segments, the end of the
    /// last one.
    pub(crate) fn segment_at(&self, segment: usize) -> usize {
        self.parts().segments + self.source().segments.at(segment, &self.header)
    }

    /// A reader at the beginning of segment `number`.
    fn segment_reader(&self, number: usize) -> Segment<'_> {
        let bytes = self.as_bytes().get(self.segment_at(number)..).unwrap_or_default();
        Segment::new(bytes, self.counts(), self.header.block, self.header.segment_length(number))
    }

    /// The size of each part in bytes, in the order of the file. The sizes sum to the file's
    /// length.
    pub fn bytes_by_part(&self) -> Vec<(&'static str, usize)> {
        let Parts { constants, groups, blends, segments, labels, end, .. } = self.parts();
        let header = self.header.bytes();
        let profiles = self.segments() * self.live_components() * self.header.block.pieces();
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
    /// all segments. The list excludes curve tracks.
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
        self.tables.components()
    }

    /// The track index of each live component, in the order in which segments store them.
    fn component_tracks(&self) -> Vec<usize> {
        let mut components = Vec::with_capacity(self.live_components());
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
