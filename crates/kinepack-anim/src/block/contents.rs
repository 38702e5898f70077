//! Reads the contents of a clip from its bytes.

use super::clip::Clip;
use super::constant::Constant;
use super::layout::{self, GROUP, Kind};
use super::widths::piece_range;
use super::write::{Contents, SegmentContents};
use crate::Channel;

impl Contents {
    /// Reads the contents of a clip. [`to_bytes`](Self::to_bytes) reproduces the clip's bytes,
    /// unless the clip's writer chose wider widths or longer offsets than necessary.
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

    /// Returns the number of segments.
    pub(crate) fn segment_count(&self) -> usize {
        if self.tracks.is_empty() { 0 } else { self.header.segments() }
    }

    /// Returns whether component `component` has coefficients. Components are numbered by track,
    /// then by axis.
    #[inline]
    pub(crate) fn is_live(&self, component: usize) -> bool {
        self.tracks[component / 3].steps[component % 3] != 0
    }

    /// Returns the components in the order in which segments store them: by group, then by axis,
    /// then by track.
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
