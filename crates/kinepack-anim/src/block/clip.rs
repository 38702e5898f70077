//! A block clip in memory: its file's bytes, and the tables that playback needs in addition.

use std::sync::Arc;

use super::constant::Constant;
use super::group::{Codes, Groups};
use super::kernel::Segment;
use super::layout::{
    self, Counts, END_BYTES, GROUP, Header, Kind, curve_track, kinds_from_byte, skip_points,
    tracks_of,
};
use super::parameters::VectorTracks;
use super::rig::Rig;
use super::source::{Segments, Source};
use super::tables::Tables;
use super::tracks::{Track, bits_to_byte, read_group, write_group};
use crate::rest::Rest;
use crate::{Channel, ClipInfo, TrackId};

/// A block clip, in the bytes of its file: owned, borrowed, or mapped into memory.
///
/// Besides the file's bytes, a clip takes about 100 bytes, plus 2.5 bytes for each animated track.
/// A clip of a rig also keeps the parameters of its tracks, about 15 bytes for each.
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
    pub(super) bytes: B,
    pub(super) header: Header,
    pub(super) lengths: Lengths,
    pub(super) tables: Tables,
    /// The rig and the data that the clip takes from it, if it has a rig.
    pub(super) shared: Option<Box<Shared>>,
}

/// A clip's rig, and the data that the clip takes from it.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    pub(super) rig: Arc<Rig>,
    /// The clip's groups with the shared numbers filled in.
    pub(super) groups: Box<[u8]>,
}

/// The lengths that determine where a clip's parts begin. Each fits into 32 bits, because the
/// numbers of joints, samples, curves and markers are limited.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lengths {
    /// Size of the constants in bytes.
    pub(super) constants: u32,
    /// Size of the groups in bytes.
    pub(super) groups: u32,
    /// Number of segments.
    pub(super) segments: u32,
    /// Size of the names of curves in bytes.
    pub(super) names: u32,
    /// Size of the markers in bytes, including their count.
    pub(super) markers: u32,
}

/// The byte offsets at which the parts of a clip begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    pub(super) constants: usize,
    pub(super) groups: usize,
    pub(super) blends: usize,
    pub(super) offsets: usize,
    pub(super) segments: usize,
    /// The end of the segments, after which names and markers follow.
    pub(super) labels: usize,
    /// The offset of the markers, which begin with their count. It equals `end` in a clip without
    /// names and markers.
    pub(super) markers: usize,
    pub(super) end: usize,
}

impl<B: AsRef<[u8]>> Clip<B> {
    /// Returns the memory that the clip takes, in bytes: its file, its tables and its copies of the
    /// rig's parameters.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>()
            + self.as_bytes().len()
            + self.tables.heap_bytes()
            + self.shared.as_deref().map_or(0, |own| size_of_val(own) + own.groups.len())
    }

    /// Returns the bytes of the clip's file.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }

    /// Returns the header, which the clip's first bytes store.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the numbers of joints and samples, the sample rate, and the skeleton's hash.
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

    /// Returns the stored hash: the rig's hash if the clip has a rig, otherwise the skeleton's.
    pub(super) fn owner(&self) -> u64 {
        let stored = self.as_bytes()[self.parts().end..].first_chunk().copied();
        u64::from_le_bytes(stored.unwrap_or_default())
    }

    /// Returns the rig that the clip uses, if any.
    pub fn rig(&self) -> Option<&Arc<Rig>> {
        self.shared.as_deref().map(|own| &own.rig)
    }

    /// Returns the number of joints.
    pub fn joints(&self) -> usize {
        usize::from(self.header.joints)
    }

    /// Returns the number of samples of the raw clip that this one was built from.
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

    /// Returns how the clip stores a track of one of its joints.
    pub fn kind(&self, track: TrackId) -> Kind {
        let byte = self.as_bytes()[self.header.bytes() + usize::from(track.joint)];
        kinds_from_byte(byte).unwrap_or([Kind::Default; 3])[track.channel as usize]
    }

    /// Returns whether a joint's translation is *far*: each segment stores anchors for it, so that
    /// the precision holds at any distance from the origin.
    pub fn is_far(&self, joint: usize) -> bool {
        let kinds = &self.as_bytes()[self.header.bytes()..][..self.joints()];
        kinds.get(joint).is_some_and(|kinds| kinds & layout::FAR != 0)
    }

    /// Returns the animated tracks: rotations, then translations, then scales, and within each
    /// channel by joint.
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

    /// Returns the number of animated tracks of joints.
    fn joint_tracks(&self) -> usize {
        self.tables.joints().len() - self.header.curve_tracks()
    }

    /// Returns the tracks whose value is constant and differs from the bind pose's, with their
    /// values.
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

    pub(super) fn kinds(&self) -> Vec<[Kind; 3]> {
        let bytes = &self.as_bytes()[self.header.bytes()..][..self.joints()];
        bytes.iter().map(|byte| kinds_from_byte(*byte).unwrap_or([Kind::Default; 3])).collect()
    }

    /// Returns the number of segments.
    pub fn segments(&self) -> usize {
        self.lengths.segments as usize
    }

    /// Computes where each part begins.
    #[inline]
    pub(super) fn parts(&self) -> Parts {
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

    /// Returns the clip's bytes, split into the parts that playback reads.
    #[inline]
    pub(super) fn source(&self) -> Source<'_> {
        let bytes = self.as_bytes();
        let Parts { constants, groups, blends, offsets, segments, labels, .. } = self.parts();
        let (own_groups, codes) = match &self.shared {
            None if self.header.is_fine => (&bytes[groups..], Codes::Fine),
            None => (&bytes[groups..], Codes::Coarse),
            Some(own) => (&own.groups[..], Codes::Mixed),
        };
        let heads = self.tables.heads();
        let (of_rotations, of_vectors) = self.tables.joints().split_at(self.tables.rotations());
        let first_vectors = of_rotations.len().div_ceil(GROUP);
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
            far: self.tables.far(),
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
    pub(super) fn counts(&self) -> Counts {
        Counts {
            components: self.tables.components(),
            skip_points: skip_points(self.tables.groups()),
            far: self.tables.far().len(),
        }
    }

    /// Returns the bytes of segment `segment`.
    pub(crate) fn segment_bytes(&self, segment: usize) -> &[u8] {
        &self.as_bytes()[self.segment_at(segment)..self.segment_at(segment + 1)]
    }

    /// Returns whether the segment blends: between two samples, it interpolates the decoded values
    /// instead of the coefficients.
    pub(crate) fn blends(&self, segment: usize) -> bool {
        self.source().segments.blends(segment)
    }

    /// Returns the offset of a segment's first byte. If `segment` equals the number of segments,
    /// the result is the end of the last segment.
    pub(crate) fn segment_at(&self, segment: usize) -> usize {
        self.parts().segments + self.source().segments.at(segment, &self.header)
    }

    /// Returns a reader at the beginning of segment `number`.
    pub(super) fn segment_reader(&self, number: usize) -> Segment<'_> {
        let bytes = self.as_bytes().get(self.segment_at(number)..).unwrap_or_default();
        Segment::new(bytes, self.counts(), self.header.block, self.header.segment_length(number))
    }

    /// Returns the number of live components: those that have coefficients. All other components
    /// are 0 at all times.
    pub fn live_components(&self) -> usize {
        self.tables.components()
    }

    /// Returns the number of joints whose `channel` has this `kind`.
    pub fn count_of(&self, channel: Channel, kind: Kind) -> usize {
        self.kinds().iter().filter(|kinds| kinds[channel as usize] == kind).count()
    }

    /// Returns the tracks with their parameters, group by group, including parameters from the rig.
    /// Curve tracks follow all others and count as scales.
    pub(super) fn groups(&self) -> impl Iterator<Item = (Vec<TrackId>, Vec<Track>)> {
        let mut rest = Rest::new(self.as_bytes(), self.parts().groups);
        let curve_tracks = (0..self.header.curve_tracks()).map(curve_track);
        let ids: Vec<TrackId> = self.animated_tracks().chain(curve_tracks).collect();
        let (rotations, vectors) = ids.split_at(self.tables.rotations());
        let groups: Vec<Vec<TrackId>> =
            rotations.chunks(GROUP).chain(vectors.chunks(GROUP)).map(<[_]>::to_vec).collect();
        groups.into_iter().map_while(move |ids| {
            // Reading cannot fail here, because loading the clip has read the same bytes.
            let mut tracks = read_group(&mut rest, &ids, self.header.group_format()).ok()?;
            for (track, id) in tracks.iter_mut().zip(&ids) {
                track.is_far =
                    id.channel == Channel::Translation && self.is_far(usize::from(id.joint));
            }
            if let Some(rig) = self.rig() {
                tracks
                    .iter_mut()
                    .zip(&ids)
                    .for_each(|(track, id)| *track = fill_shared(*track, *id, rig));
            }
            Some((ids, tracks))
        })
    }

    /// Returns the groups of a clip of a rig in the form that playback reads, which is
    /// [`Codes::Mixed`].
    pub(super) fn filled_groups(&self) -> Box<[u8]> {
        let mut bytes = Vec::new();
        for (ids, tracks) in self.groups() {
            if ids[0].channel == Channel::Rotation {
                let is_coarse =
                    |part: usize| move |track: &Track| !(self.header.is_fine || track.shares[part]);
                bytes.extend([0, 1].map(|part| bits_to_byte(tracks.iter().map(is_coarse(part)))));
            }
            write_group(
                &tracks.iter().map(|track| track.owned()).collect::<Vec<_>>(),
                (true, false),
                &mut bytes,
            );
        }
        bytes.into()
    }
}

fn fill_shared(track: Track, id: TrackId, rig: &Rig) -> Track {
    rig.track(id).map_or(track, |shared| track.with_shared(shared))
}
