//! Reads the contents of a clip from its bytes.

use super::kernel::Turn;
use super::layout::{self, GROUP, Kind};
use super::widths::piece_range;
use super::{Clip, Constant, Contents, PoseWriter, SegmentContents};
use crate::{Channel, TrackId};

impl Contents {
    /// Reads the contents of a clip. [`to_bytes`](Self::to_bytes) reproduces the clip's bytes,
    /// unless another writer chose other widths or longer offsets.
    pub(crate) fn from_clip<B: AsRef<[u8]>>(clip: &Clip<B>) -> Self {
        let kinds = clip.kinds();
        let mut bytes = &clip.as_bytes()[clip.parts().constants..];
        let constants = layout::tracks_of(&kinds, Kind::Constant)
            .map(|track| Constant::read(track.channel, &mut bytes))
            .collect();
        let mut contents = Self {
            header: *clip.header(),
            kinds,
            constants,
            tracks: Vec::with_capacity(clip.tables.joints().len()),
            blends: Vec::new(),
            segments: Vec::with_capacity(clip.segments()),
            labels: clip.as_bytes()[clip.parts().labels..clip.parts().end].to_vec(),
            owner: clip.owner(),
        };
        contents.tracks.extend(clip.groups().flat_map(|(_, tracks)| tracks));
        if clip.header.blends {
            contents.blends = (0..clip.segments()).map(|segment| clip.blends(segment)).collect();
        }
        for segment in 0..clip.segments() {
            let segment = contents.read_segment(clip, segment);
            contents.segments.push(segment);
        }
        contents
    }

    fn read_segment<B: AsRef<[u8]>>(&self, clip: &Clip<B>, index: usize) -> SegmentContents {
        let length = self.header.segment_length(index);
        let mut segment = clip.segment_reader(index);
        let mut coefficients = vec![0; 3 * self.tracks.len() * length];
        let step = segment.step();
        for component in self.components().filter(|component| self.is_live(*component)) {
            let own = &mut coefficients[component * length..][..length];
            for piece in 0..self.header.block.pieces() {
                let range = piece_range(piece, length);
                let count = range.len();
                own[range].copy_from_slice(&segment.coefficients(piece)[..count]);
            }
        }
        let anchors = segment.to_anchors(clip.tables.far().len());
        SegmentContents { step, length, anchors, coefficients }
    }

    /// Number of segments.
    pub(crate) fn segment_count(&self) -> usize {
        if self.tracks.is_empty() { 0 } else { self.header.segments() }
    }

    /// Whether a component has coefficients. Components are numbered by track, then by axis.
    #[inline]
    pub(crate) fn is_live(&self, component: usize) -> bool {
        self.tracks[component / 3].steps[component % 3] != 0
    }

    /// The components in the order in which segments store them: by group, then by axis, then by
    /// track.
    pub(crate) fn components(&self) -> impl Iterator<Item = usize> + use<> {
        let all = self.tracks.len();
        let rotations =
            self.tracks.iter().take_while(|track| track.channel == Channel::Rotation).count();
        let groups = [(0, rotations), (rotations, all)].into_iter().flat_map(|(from, to)| {
            (from..to).step_by(GROUP).map(move |first| first..to.min(first + GROUP))
        });
        groups.flat_map(|group| {
            (0..3).flat_map(move |axis| group.clone().map(move |track| 3 * track + axis))
        })
    }
}

impl Constant {
    /// Takes the first constant off the front of `bytes`.
    pub(super) fn read(channel: Channel, bytes: &mut &[u8]) -> Self {
        let (own, rest) = bytes.split_at(layout::CONSTANT_BYTES[channel as usize]);
        *bytes = rest;
        if channel == Channel::Rotation {
            let code = u64::from_le_bytes(own.first_chunk().copied().unwrap_or_default());
            Self::Rotation([0, 21, 42].map(|bit| (code >> bit) as u32 & 0x1f_ffff))
        } else {
            Self::Vector([0, 1, 2].map(|axis| float(own, axis)))
        }
    }

    /// Writes the constant as the value of a track.
    #[inline(always)]
    pub(super) fn write_to<W: PoseWriter + ?Sized>(self, track: TrackId, writer: &mut W) {
        let value @ [x, y, z, _] = self.value();
        let joint = usize::from(track.joint);
        match track.channel {
            Channel::Rotation => writer.rotation(joint, value),
            Channel::Translation => writer.translation(joint, [x, y, z]),
            Channel::Scale => writer.scale(joint, [x, y, z]),
        }
    }

    /// The value that playback uses: a unit quaternion, or a vector followed by 0.
    pub(crate) fn value(self) -> [f32; 4] {
        match self {
            Self::Rotation(codes) => {
                let number = |code: u32| (code as f32 - CONSTANT_MIDDLE) * CONSTANT_STEP;
                Turn::new(codes.map(|code| [number(code); GROUP]))
                    .normalized()
                    .map(|lanes| lanes[0])
            }
            Self::Vector([x, y, z]) => [x, y, z, 0.0],
        }
    }
}

/// The 21-bit code that means 0 in a constant rotation.
const CONSTANT_MIDDLE: f32 = 1_048_576.0;
/// The difference between the values of two neighbouring codes.
const CONSTANT_STEP: f32 = 1.0 / 1_048_575.0;

/// The float at `index` in a list of floats.
fn float(bytes: &[u8], index: usize) -> f32 {
    let bytes = bytes.get(4 * index..).and_then(<[u8]>::first_chunk).copied();
    f32::from_le_bytes(bytes.unwrap_or_default())
}
