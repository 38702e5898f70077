//! The tables that a clip keeps for its tracks and groups, in a single allocation.

use std::ops::Range;

use super::group::live_components;
use super::kernel::Live;
use super::layout::{GROUP, SKIP_GROUPS, skip_points};

/// The tables of a clip. No number exceeds its type: a clip has at most three tracks for each of
/// 16,384 joints, and 1,366 curve tracks.
#[derive(Clone, Debug)]
pub(super) struct Tables {
    /// Number of animated rotation tracks, the first tracks of a clip.
    rotations: u16,
    /// Number of animated translation tracks, which follow the rotations.
    translations: u16,
    /// Number of all tracks, curve tracks included.
    tracks: u16,
    /// Number of far tracks.
    far: u16,
    /// Number of live components of all tracks.
    components: u32,
    /// This slice contains four tables, one after another. The first table has the joints of the
    /// animated tracks in the order of the groups. The numbers of the curve tracks follow, counted
    /// from 0. The second has the indices of the far tracks among the translations. The third has
    /// two words for each skip point: the number of live components before that point. The fourth
    /// has two words for each group: its live components.
    words: Box<[u16]>,
}

impl Tables {
    /// Builds the tables. `lives` contains the live components of each group.
    pub(super) fn new(
        [rotations, translations, components]: [usize; 3],
        [joints, far]: [&[u16]; 2],
        lives: &[Live],
    ) -> Self {
        let mut words = [joints, far].concat();
        let mut before = 0_u32;
        for (group, live) in lives.iter().enumerate() {
            if group > 0 && group.is_multiple_of(SKIP_GROUPS) {
                words.extend([before as u16, (before >> 16) as u16]);
            }
            before += u32::from(live.count);
        }
        words.extend(lives.iter().flat_map(|live| live.words()));
        Self {
            rotations: rotations as u16,
            translations: translations as u16,
            tracks: joints.len() as u16,
            far: far.len() as u16,
            components: components as u32,
            words: words.into(),
        }
    }

    /// Returns the number of animated tracks that are rotations.
    #[inline]
    pub(super) fn rotations(&self) -> usize {
        usize::from(self.rotations)
    }

    /// Returns the number of animated tracks that are translations.
    #[inline]
    pub(super) fn translations(&self) -> usize {
        usize::from(self.translations)
    }

    /// Returns the joints of the animated tracks, followed by the numbers of the curve tracks.
    #[inline]
    pub(super) fn joints(&self) -> &[u16] {
        &self.words[..usize::from(self.tracks)]
    }

    /// Returns the indices of the far tracks among the translations.
    #[inline]
    pub(super) fn far(&self) -> &[u16] {
        &self.words[usize::from(self.tracks)..][..usize::from(self.far)]
    }

    /// Returns the number of live components of all tracks.
    #[inline]
    pub(super) fn components(&self) -> usize {
        self.components as usize
    }

    /// Returns the number of groups.
    #[inline]
    pub(super) fn groups(&self) -> usize {
        let vectors = usize::from(self.tracks) - self.rotations();
        self.rotations().div_ceil(GROUP) + vectors.div_ceil(GROUP)
    }

    /// Returns the live components of all groups.
    #[inline]
    pub(super) fn heads(&self) -> Heads<'_> {
        let (pairs, _) = self.words[usize::from(self.tracks) + usize::from(self.far)..].as_chunks();
        let (skips, lives) = pairs.split_at(skip_points(self.groups()));
        Heads { skips, lives }
    }

    /// Returns the number of bytes that the tables occupy on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        size_of_val(&*self.words)
    }
}

/// The live components of all groups.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heads<'a> {
    /// The number of live components before each skip point.
    skips: &'a [[u16; 2]],
    /// The live components of each group, in their stored form.
    lives: &'a [[u16; 2]],
}

impl<'a> Heads<'a> {
    /// Returns the live components of each group, in their stored form.
    #[inline(always)]
    pub(super) fn lives(&self) -> &'a [[u16; 2]] {
        self.lives
    }

    /// Returns the number of live components before skip point `point`. Point 0 is the beginning.
    #[inline(always)]
    pub(super) fn components_before(&self, point: usize) -> usize {
        let stored = point.checked_sub(1).and_then(|index| self.skips.get(index));
        stored.map_or(0, |[low, high]| usize::from(*low) | usize::from(*high) << 16)
    }

    /// Returns the number of live components of the groups `groups`.
    #[inline(always)]
    pub(super) fn components(&self, groups: Range<usize>) -> usize {
        live_components(self.lives.get(groups).unwrap_or_default())
    }
}
