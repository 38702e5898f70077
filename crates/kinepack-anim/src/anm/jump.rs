//! Jump caches: which four keys each track holds at the beginning of a slice of the duration, so
//! that playback need not begin at the start. `spec/ANM.md`, section 6. Cost: one pass through the
//! keys, 24 or 48 bytes a joint and slice.
//!
//! A cache is made one time step before its slice begins. Playback reads on from there, so an
//! earlier state serves as well, and a player that finds its slice in floats may land in a slice by
//! rounding just before it begins.

use super::{Anm, AnmError, INDICES_PER_JOINT, WIDE_FROM_KEYS};

/// The index of no key where indices have 32 bits; its lower half is that where they have 16.
const NONE: u32 = u32::MAX;

impl Anm {
    /// The same file with `count` jump caches, in place of those that it has. 0: without.
    ///
    /// Where a track has not got four keys yet, its places have an index that is none, all bits
    /// one.
    ///
    /// # Errors
    /// [`AnmError`] where there would be more than 65,535 caches or the file would have 2 GiB, or
    /// where a place has no key and each index of 16 bits is one: at exactly 65,536 keys, of which
    /// a track has fewer than four.
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

    /// What playback does up to a time, with indices instead of values.
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

    /// The indices of a cache: those of each joint, rotation first.
    pub(super) fn jump_cache(&self, slice: usize) -> impl Iterator<Item = &[u32]> {
        let cache_indices = self.joints.len() * INDICES_PER_JOINT;
        let begin = slice.saturating_mul(cache_indices);
        self.jump_indices
            .get(begin..)
            .unwrap_or_default()
            .chunks_exact(INDICES_PER_JOINT)
            .take(self.joints.len())
    }

    /// In which slice a time is; there must be a cache.
    pub(super) fn slice_of(&self, time: u16) -> usize {
        let count = u64::from(self.jump_cache_count);
        (u64::from(time) * count / u64::from(u16::MAX)).min(count.saturating_sub(1)) as usize
    }
}
