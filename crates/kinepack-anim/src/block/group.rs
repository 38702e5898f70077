//! Groups of up to eight tracks, as a clip stores them. Playback reads the tracks' parameters from
//! the clip's bytes for each pose, so that a player needs no tables of its own. See `spec/ANIM.md`,
//! section 10.3.

use std::ops::Range;

use super::kernel::{self, Live};
use super::layout::GROUP;

/// How a clip stores the numbers of references and axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Codes {
    /// Each number has 8 bits.
    Coarse,
    /// Each number has 16 bits.
    Fine,
    /// Each number has 16 bits, although some tracks use only 8. Clips of a rig have this form once
    /// their shared numbers are filled in. Two bytes precede each group of rotations. If the
    /// reference of track i is coarse, bit i of the first byte is set. If the axes of track i are
    /// coarse, bit i of the second byte is set.
    Mixed,
}

impl Codes {
    /// Returns the number of bytes before the numbers of a group of rotations.
    fn head_bytes(self) -> usize {
        if self == Self::Mixed { 2 } else { 0 }
    }

    /// Returns the size of a number in bytes.
    fn bytes(self) -> usize {
        if self == Self::Coarse { 1 } else { 2 }
    }

    /// Returns the number of bytes before the steps of a group of `count` tracks.
    #[inline(always)]
    pub(super) fn numbers_bytes(self, count: usize) -> usize {
        self.head_bytes() + 6 * self.bytes() * count
    }
}

/// The size of a track's steps in bytes. The steps follow the track's other numbers and scale its
/// components.
const STEPS_BYTES: usize = 3;

/// A list of groups in stored form: either the rotations, or the translations, scales and curves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Groups<'a> {
    /// The bytes starting at the first group.
    bytes: &'a [u8],
    /// The joint of each track. For a curve track, the track's number instead.
    joints: &'a [u16],
    /// The live components of each group, in their stored form.
    lives: &'a [[u16; 2]],
    /// The number of bytes before the numbers of each group.
    head_bytes: usize,
    /// The size of a track's numbers in bytes, without `head_bytes` and the track's steps.
    number_bytes: usize,
}

impl<'a> Groups<'a> {
    /// Returns the groups of rotations.
    #[inline(always)]
    pub(super) fn rotations(
        bytes: &'a [u8],
        joints: &'a [u16],
        lives: &'a [[u16; 2]],
        codes: Codes,
    ) -> Self {
        Self {
            bytes,
            joints,
            lives,
            head_bytes: codes.head_bytes(),
            number_bytes: 6 * codes.bytes(),
        }
    }

    /// Returns the groups of translations, scales and curves.
    #[inline(always)]
    pub(super) fn vectors(bytes: &'a [u8], joints: &'a [u16], lives: &'a [[u16; 2]]) -> Self {
        Self { bytes, joints, lives, head_bytes: 0, number_bytes: 12 }
    }

    /// Returns the size of all groups in bytes.
    pub(super) fn len(&self) -> usize {
        self.groups() * self.head_bytes + self.joints.len() * (self.number_bytes + STEPS_BYTES)
    }

    /// Returns the number of groups.
    #[inline(always)]
    pub(super) fn groups(&self) -> usize {
        self.joints.len().div_ceil(GROUP)
    }

    /// Returns the number of live components in the groups `groups`. The range may extend beyond
    /// the last group.
    #[inline(always)]
    pub(super) fn components(&self, groups: Range<usize>) -> usize {
        let end = groups.end.min(self.groups());
        live_components(self.lives.get(groups.start..end).unwrap_or_default())
    }

    /// Returns the number of tracks.
    #[inline(always)]
    pub(super) fn tracks(&self) -> usize {
        self.joints.len()
    }

    /// Searches the tracks `tracks`, all of one channel, for the track of `joint`, and returns its
    /// index.
    #[inline(always)]
    pub(super) fn track_of(&self, joint: usize, tracks: Range<usize>) -> Option<usize> {
        let first = tracks.start;
        let joints = self.joints.get(tracks)?;
        let index = joints.binary_search(&u16::try_from(joint).ok()?).ok()?;
        Some(first + index)
    }

    /// Asks the processor to load the groups into its cache.
    #[inline(always)]
    pub(super) fn prefetch(&self) {
        kernel::prefetch(self.bytes.get(..self.len()).unwrap_or_default());
        kernel::prefetch(self.joints);
    }

    /// Takes the next group.
    #[inline(always)]
    pub(super) fn take(&mut self) -> Group<'a> {
        let count = self.joints.len().min(GROUP);
        let (joints, rest) = self.joints.split_at(count);
        let (live, lives) =
            self.lives.split_first().map_or(([0; 2], self.lives), |(live, rest)| (*live, rest));
        let group = Group { bytes: self.bytes, count, joints, live: Live::from_words(live) };
        (self.joints, self.lives) = (rest, lives);
        let bytes = self.head_bytes + count * (self.number_bytes + STEPS_BYTES);
        self.bytes = self.bytes.get(bytes..).unwrap_or_default();
        group
    }

    /// Returns the groups from number `group` on.
    #[inline(always)]
    pub(super) fn from(mut self, group: usize) -> Self {
        let tracks = (GROUP * group).min(self.joints.len());
        let at = group * self.head_bytes + tracks * (self.number_bytes + STEPS_BYTES);
        self.bytes = self.bytes.get(at..).unwrap_or_default();
        self.joints = &self.joints[tracks..];
        self.lives = self.lives.get(group..).unwrap_or_default();
        self
    }
}

/// Returns the number of live components of the groups whose live components are `lives`.
#[inline(always)]
pub(super) fn live_components(lives: &[[u16; 2]]) -> usize {
    let mut count = 0;
    for live in lives {
        count += usize::from(Live::from_words(*live).count);
    }
    count
}

/// A group of tracks in stored form.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group<'a> {
    /// The clip's bytes, starting at the group.
    pub(super) bytes: &'a [u8],
    /// Number of tracks.
    pub(super) count: usize,
    pub(super) joints: &'a [u16],
    pub(super) live: Live,
}

impl Group<'_> {
    /// Returns a mask with a bit for each lane that has a track.
    #[inline(always)]
    pub(super) fn lanes(&self) -> u32 {
        (1 << self.count) - 1
    }

    /// `ROWS` rows of the group's numbers, starting at byte `at`. In a group of fewer than eight
    /// tracks, the numbers after the last track are arbitrary.
    #[inline(always)]
    pub(super) fn rows<const ROW: usize, const ROWS: usize>(&self, at: usize) -> [[u8; ROW]; ROWS] {
        let bytes = self.bytes.get(at..).unwrap_or_default();
        // In the usual case of a full group, all offsets are compile-time constants.
        if self.count == GROUP { rows(bytes, ROW) } else { rows(bytes, ROW / GROUP * self.count) }
    }
}

/// `ROWS` rows of eight numbers each, whose starts are `row_bytes` apart. If a row has fewer than
/// eight tracks, its last numbers are arbitrary.
#[inline(always)]
fn rows<const ROW: usize, const ROWS: usize>(bytes: &[u8], row_bytes: usize) -> [[u8; ROW]; ROWS] {
    let mut rows = [[0; ROW]; ROWS];
    match bytes.get(..row_bytes * (ROWS - 1) + ROW) {
        Some(all) => {
            for (row, stored) in rows.iter_mut().enumerate() {
                stored.copy_from_slice(&all[row * row_bytes..][..ROW]);
            }
        }
        None => {
            for (row, stored) in rows.iter_mut().enumerate() {
                *stored = padded(bytes.get(row * row_bytes..).unwrap_or_default());
            }
        }
    }
    rows
}

/// Returns the bytes, padded with zeros.
#[cold]
#[inline(never)]
fn padded<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut padded = [0; N];
    padded.iter_mut().zip(bytes).for_each(|(padded, byte)| *padded = *byte);
    padded
}
