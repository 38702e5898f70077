//! The parts of a clip that playback reads. This module only holds the data. `moment.rs`, `play.rs`
//! and `joint.rs` play them. See `spec/ANIM.md`, section 10.

use super::constant::Constant;
use super::group::{Codes, Groups};
use super::kernel::Segment;
use super::layout::{Counts, Header, Kind, SKIP_GROUPS};
use super::parameters::VectorTracks;
use super::rig::Rig;
use super::tables::Heads;
use crate::{Channel, TrackId};

/// A clip's bytes, split into the parts that playback reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'a> {
    pub(super) header: Header,
    /// The kinds of tracks, a byte for each joint.
    pub(super) kinds: &'a [u8],
    /// The bytes starting at the first constant.
    pub(super) constants: &'a [u8],
    pub(super) rotations: Groups<'a>,
    pub(super) codes: Codes,
    pub(super) vectors: Groups<'a>,
    /// The live components of all groups.
    pub(super) heads: Heads<'a>,
    pub(super) stored: VectorTracks,
    /// The indices of the far tracks among the translation tracks.
    pub(super) far: &'a [u16],
    pub(super) counts: Counts,
    pub(super) segments: Segments<'a>,
    pub(super) rig: Option<&'a Rig>,
}

/// The segments of a clip.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segments<'a> {
    pub(super) count: usize,
    pub(super) blends: &'a [u8],
    pub(super) offsets: &'a [u8],
    /// The clip's bytes from the first segment to the end.
    pub(super) bytes: &'a [u8],
    /// The end of the last segment.
    pub(super) end: usize,
}

impl Segments<'_> {
    /// Returns whether the segment blends: between two samples, it interpolates the decoded values
    /// instead of the coefficients.
    #[inline(always)]
    pub(super) fn blends(&self, segment: usize) -> bool {
        self.blends.get(segment / 8).is_some_and(|byte| byte >> (segment % 8) & 1 != 0)
    }

    /// Returns the offset of a segment's first byte. If `segment` equals the number of segments,
    /// the result is the end of the last segment.
    #[inline(always)]
    pub(super) fn at(&self, segment: usize, header: &Header) -> usize {
        if segment == self.count {
            self.end
        } else {
            offset(self.offsets, segment, header.offset_bytes)
        }
    }
}

impl Source<'_> {
    /// Returns the start of a group. `group` counts all groups of the clip.
    #[inline(always)]
    pub(super) fn start_of(&self, group: usize) -> GroupStart {
        let skip_point = group / SKIP_GROUPS;
        GroupStart {
            skip_point,
            before: self.heads.components_before(skip_point),
            after: self.heads.components(skip_point * SKIP_GROUPS..group),
        }
    }

    /// Calls `take` with the clip's own constant tracks, then with the constant tracks of the rig.
    /// Both are ordered by joint, then by channel.
    #[inline(always)]
    pub(super) fn constants(&self, mut take: impl FnMut(TrackId, Constant)) {
        let mut rest = self.constants;
        for (first, kinds) in (0..).step_by(8).zip(self.kinds.chunks(8)) {
            let mut eight = [0; 8];
            eight[..kinds.len()].copy_from_slice(kinds);
            let kinds = u64::from_le_bytes(eight);
            // Kind 1 (constant) is the bit pair 01 of a channel.
            let mut constants = kinds & !(kinds >> 1) & (0x15 * (u64::MAX / 255));
            while constants != 0 {
                let bit = constants.trailing_zeros();
                constants &= constants - 1;
                let channel = Channel::ALL[(bit % 8 / 2) as usize];
                let track = TrackId { joint: first + (bit / 8) as u16, channel };
                take(track, Constant::read(channel, &mut rest));
            }
        }
        if let Some(rig) = self.rig {
            for (track, constant) in rig.all_constants() {
                let kinds = self.kinds.get(usize::from(track.joint)).copied().unwrap_or_default();
                if kinds >> (2 * track.channel as u8) & 3 == Kind::Shared as u8 {
                    take(*track, *constant);
                }
            }
        }
    }
}

/// The place where a group's components start. It is the same in all segments, because every
/// segment has the same components in the same order.
#[derive(Clone, Copy)]
pub(super) struct GroupStart {
    /// The number of the last skip point before the group. Point 0 is the beginning of the segment.
    skip_point: usize,
    /// Number of components before the skip point.
    before: usize,
    /// Number of components from the skip point to the group.
    after: usize,
}

impl GroupStart {
    /// Moves the reader from the beginning of a segment to the group.
    #[inline(always)]
    pub(super) fn seek(self, segment: &mut Segment<'_>) {
        segment.go_to(self.skip_point, self.before);
        segment.skip(self.after);
    }
}

/// Returns the stored offset of a segment, in bytes from the beginning of the first segment.
#[inline]
pub(super) fn offset(offsets: &[u8], segment: usize, bytes: u8) -> usize {
    let bytes = usize::from(bytes);
    let own = offsets.get(segment * bytes..).and_then(|rest| rest.get(..bytes)).unwrap_or_default();
    own.iter().rev().fold(0, |offset, byte| offset << 8 | usize::from(*byte))
}
