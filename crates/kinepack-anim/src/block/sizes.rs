//! The sizes of a clip's parts and tracks.

use super::clip::{Clip, Parts};
use super::layout::{END_BYTES, SKIP_BYTES};
use crate::TrackId;

impl<B: AsRef<[u8]>> Clip<B> {
    /// Returns the size of each part in bytes, in the order of the file. The sizes sum to the
    /// file's length.
    pub fn bytes_by_part(&self) -> Vec<(&'static str, usize)> {
        let Parts { constants, groups, blends, segments, labels, end, .. } = self.parts();
        let header = self.header.bytes();
        let profiles = self.segments() * self.live_components() * self.header.block.pieces();
        let anchors = |number| self.segment_reader(number).anchors().len();
        let segment_starts = self.segments() * (1 + SKIP_BYTES * self.counts().skip_points)
            + (0..self.segments()).map(anchors).sum::<usize>();
        vec![
            ("header and hashes", header + END_BYTES),
            ("kinds", constants - header),
            ("constants", groups - constants),
            ("references, axes, steps", blends - groups),
            ("offsets, steps, anchors of segments", segments - blends + segment_starts),
            ("widths", profiles),
            ("coefficients", labels - segments - profiles - segment_starts),
            ("names and markers", end - labels),
        ]
    }

    /// Returns the size of each animated track in bits: its parameters, plus its widths and
    /// coefficients in all segments. The list excludes curve tracks.
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

    /// Returns the track index of each live component, in the order in which segments store them.
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
}
