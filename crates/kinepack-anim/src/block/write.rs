//! The contents of a block clip, and their encoding as bytes. See `spec/ANIM.md`, section 10.

use kinepack::bits::{BitSink, BitWriter};

use super::anchors::Anchors;
use super::constant::Constant;
#[cfg(feature = "offline")]
use super::layout::checksum;
use super::layout::{
    FAR, GROUP, Header, Kind, SKIP_BYTES, SKIP_GROUPS, animated, kinds_to_byte, skip_points,
};
use super::tracks::{Track, bits_to_byte, write_group};
use super::widths::{ESCAPE_WIDTH_BITS, piece_range, width_of};
use crate::Channel;

/// The contents of a clip, decoded into plain values.
#[derive(Clone, Debug)]
pub(crate) struct Contents {
    /// The clip's header. Writing ignores `offset_bytes` and uses the smallest number that
    /// suffices.
    pub(crate) header: Header,
    /// The kinds of all tracks, by joint, then by channel.
    pub(crate) kinds: Vec<[Kind; 3]>,
    /// The values of constant tracks, by joint, then by channel.
    pub(crate) constants: Vec<Constant>,
    /// The animated tracks: rotations, translations and scales, within each channel by joint. The
    /// curve tracks follow, as scales.
    pub(crate) tracks: Vec<Track>,
    /// Whether each segment blends. The list is empty if the header's `blends` is false.
    pub(crate) blends: Vec<bool>,
    pub(crate) segments: Vec<SegmentContents>,
    /// The names of the curves and the markers, as the clip stores them. The bytes are empty if the
    /// clip has neither.
    pub(crate) labels: Vec<u8>,
    /// The hash of the rig if the clip has one, otherwise of the skeleton.
    pub(crate) owner: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct SegmentContents {
    pub(crate) step: u8,
    pub(crate) length: usize,
    /// The anchors, with an entry for each far track.
    pub(crate) anchors: Vec<Anchors>,
    /// The coefficients by track, then by component, then by frequency. Dead components have zeros.
    pub(crate) coefficients: Vec<i32>,
}

/// The components that segments store.
#[derive(Clone, Debug, Default)]
pub(crate) struct LiveComponents {
    /// The numbers of the components, in the order in which segments store them.
    pub(crate) numbers: Vec<usize>,
    /// The number of live components before each skip point.
    skips: Vec<usize>,
}

impl Contents {
    #[cfg(feature = "offline")]
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut segments = Vec::new();
        let mut offsets = Vec::new();
        for segment in &self.segments {
            offsets.push(segments.len() as u32);
            self.write_segment(segment, &mut segments);
        }
        let largest = offsets.last().copied().unwrap_or_default();
        let offset_bytes = (1..4).find(|bytes| u64::from(largest) < 1 << (8 * bytes)).unwrap_or(4);
        let mut bytes = self.head_bytes(offset_bytes);
        for offset in offsets {
            bytes.extend(&offset.to_le_bytes()[..usize::from(offset_bytes)]);
        }
        bytes.extend(segments);
        bytes.extend(&self.labels);
        bytes.extend(self.owner.to_le_bytes());
        bytes.extend(checksum(&bytes).to_le_bytes());
        bytes
    }

    /// Returns the bytes of all parts before the offsets.
    pub(crate) fn head_bytes(&self, offset_bytes: u8) -> Vec<u8> {
        let header = Header { offset_bytes, ..self.header };
        let mut bytes = header.to_bytes();
        let kinds = bytes.len();
        bytes.extend(self.kinds.iter().map(|kinds| kinds_to_byte(*kinds)));
        for (id, _) in
            animated(&self.kinds).into_iter().zip(&self.tracks).filter(|(_, track)| track.is_far)
        {
            bytes[kinds + usize::from(id.joint)] |= FAR;
        }
        self.constants.iter().for_each(|constant| constant.write(&mut bytes));
        for tracks in self.groups() {
            write_group(tracks, header.group_format(), &mut bytes);
        }
        bytes.extend(self.blends.chunks(8).map(|blends| bits_to_byte(blends.iter().copied())));
        bytes
    }

    /// Returns the tracks in groups of eight: first those of rotations, then those of vectors.
    fn groups(&self) -> impl Iterator<Item = &[Track]> {
        let rotations =
            self.tracks.iter().take_while(|track| track.channel == Channel::Rotation).count();
        let (rotations, vectors) = self.tracks.split_at(rotations);
        rotations.chunks(GROUP).chain(vectors.chunks(GROUP))
    }

    /// Appends a segment.
    pub(crate) fn write_segment(&self, segment: &SegmentContents, bytes: &mut Vec<u8>) {
        self.write_live(&self.live(), segment, bytes);
    }

    /// Returns the live components, in the order in which segments store them.
    pub(crate) fn live(&self) -> LiveComponents {
        let numbers: Vec<usize> =
            self.components().filter(|component| self.is_live(*component)).collect();
        let mut ends = self.groups().map(|tracks| {
            tracks.iter().flat_map(|track| track.steps).filter(|step| *step != 0).count()
        });
        let mut skipped = 0;
        let points = skip_points(self.groups().count());
        let skips = (0..points).map(|_| {
            skipped += ends.by_ref().take(SKIP_GROUPS).sum::<usize>();
            skipped
        });
        LiveComponents { skips: skips.collect(), numbers }
    }

    /// Appends a segment. `live` must be the result of [`live`](Self::live). A caller that writes
    /// many segments computes it only once.
    pub(crate) fn write_live(
        &self,
        live: &LiveComponents,
        segment: &SegmentContents,
        bytes: &mut Vec<u8>,
    ) {
        let mut coefficients_bytes = Vec::new();
        let mut bits = BitWriter::append(&mut coefficients_bytes);
        let pieces = live.numbers.len() * self.header.block.pieces();
        let mut skips = live.skips.iter().peekable();
        bytes.push(segment.step);
        let at_skips = bytes.len();
        bytes.resize(at_skips + SKIP_BYTES * live.skips.len(), 0);
        let begin = at_skips - 1;
        segment.anchors.iter().for_each(|anchors| anchors.write(bytes));
        let first_bit = 8 * (bytes.len() - begin + pieces) as u64;
        let mut passed = at_skips;
        let mut pass = |bytes: &mut Vec<u8>, written: usize, bit: u64| {
            while skips.next_if(|skip| **skip == written).is_some() {
                // The position fits into 32 bits, because a clip has at most 2^14 joints with nine
                // components of 928 bits each.
                let point = (first_bit + bit) as u32;
                bytes[passed..][..SKIP_BYTES].copy_from_slice(&point.to_le_bytes());
                passed += SKIP_BYTES;
            }
        };
        for (written, component) in live.numbers.iter().enumerate() {
            pass(bytes, written, bits.len_bits());
            let coefficients =
                &segment.coefficients[component * segment.length..][..segment.length];
            for piece in 0..self.header.block.pieces() {
                let own = &coefficients[piece_range(piece, segment.length)];
                bytes.push(self.write_piece(piece, own, &mut bits));
            }
        }
        pass(bytes, live.numbers.len(), bits.len_bits());
        // `finish` cannot fail, because the writer appends to a vector, which can grow.
        let _ = bits.finish();
        bytes.extend(coefficients_bytes);
    }

    /// Writes the coefficients of a piece, and returns the number of the profile that they use.
    fn write_piece(&self, piece: usize, coefficients: &[i32], bits: &mut BitWriter<'_>) -> u8 {
        let number = self.header.block.choose(piece, coefficients).profile;
        let profile = self.header.block.profiles(piece).get(usize::from(number));
        if profile.is_none() {
            coefficients
                .iter()
                .for_each(|value| bits.write(u64::from(width_of(*value)), ESCAPE_WIDTH_BITS));
        }
        for (k, &coefficient) in coefficients.iter().enumerate() {
            let width = profile.map_or_else(|| width_of(coefficient), |profile| profile.widths[k]);
            bits.write(coefficient as u64, u32::from(width));
        }
        number
    }
}
