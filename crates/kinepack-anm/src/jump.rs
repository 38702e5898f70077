//! Jump caches, which let playback start at other times than the beginning. Each cache lists the
//! four keys that each track holds at the start of a slice of the duration. `spec/ANM.md`, section
//! 6. Cost: one pass through the keys, and 24 or 48 bytes per joint and slice.
//!
//! A cache holds the state one time step before its slice begins. Playback reads forward from that
//! state, so a state slightly too early works too. The margin of one time step exists because of
//! rounding: a player that computes its slice with floats may choose a slice just before that slice
//! begins.

use crate::layout::{INDICES_PER_JOINT, WIDE_FROM_KEYS};
use crate::{Anm, AnmError};

/// The 32-bit index that means "no key". Its lower half is the 16-bit index with the same meaning.
const NONE: u32 = u32::MAX;

impl Anm {
    /// Returns the same file with `count` jump caches instead of its current ones. A count of 0
    /// removes them.
    ///
    /// A track may have read fewer than four keys at the start of a slice. The track's empty places
    /// then get an index with all bits set, which means "no key".
    ///
    /// # Errors
    /// Returns [`AnmError`] if there would be more than 65,535 caches or the file would reach 2
    /// GiB. The call also fails if the file has exactly 65,536 keys and a track has fewer than four
    /// of them. Every 16-bit index then belongs to a key, so no index can mean "no key".
    pub fn with_jump_caches(self, count: u32) -> Result<Self, AnmError> {
        if count > u32::from(u16::MAX) {
            return Err(AnmError::TooManyCaches { count });
        }
        self.validate_size(count)?;
        let mut indices =
            Vec::with_capacity(count as usize * self.joints.len() * INDICES_PER_JOINT);
        let mut state = vec![[[NONE; 4]; 3]; self.joints.len()];
        let mut cursor = 0;
        for slice in 0..count {
            let begin = (u32::from(u16::MAX) * slice / count) as u16;
            self.advance(&mut state, &mut cursor, begin.saturating_sub(1));
            indices.extend(state.iter().flatten().flatten());
        }
        if self.keys.len() < WIDE_FROM_KEYS {
            if self.keys.len() == WIDE_FROM_KEYS - 1 && indices.contains(&NONE) {
                return Err(AnmError::NoIndexLeft);
            }
            indices.iter_mut().for_each(|index| *index &= 0xffff);
        }
        Ok(Self { jump_cache_count: count, jump_indices: indices, ..self })
    }

    /// Reads keys up to a time, like playback, but keeps indices instead of values.
    fn advance(&self, state: &mut [[[u32; 4]; 3]], cursor: &mut usize, time: u16) {
        while let Some(key) = self.keys.get(*cursor) {
            let places = &mut state[usize::from(key.joint)][key.channel as usize];
            let needed = self.keys.get(places[2] as usize).map_or(0, |key| key.time);
            if time < needed {
                break;
            }
            *places = [places[1], places[2], places[3], *cursor as u32];
            *cursor += 1;
        }
    }

    /// Returns the indices of a cache, by joint. Within a joint, the indices of the rotation come
    /// first.
    pub(crate) fn jump_cache(&self, slice: usize) -> impl Iterator<Item = &[u32]> {
        let cache_indices = self.joints.len() * INDICES_PER_JOINT;
        let begin = slice.saturating_mul(cache_indices);
        self.jump_indices
            .get(begin..)
            .unwrap_or_default()
            .chunks_exact(INDICES_PER_JOINT)
            .take(self.joints.len())
    }

    /// Returns the slice that contains `time`. There must be at least one cache.
    pub(crate) fn slice_of(&self, time: u16) -> usize {
        let count = u64::from(self.jump_cache_count);
        (u64::from(time) * count / u64::from(u16::MAX)).min(count.saturating_sub(1)) as usize
    }
}
