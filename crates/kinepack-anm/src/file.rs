//! A file in memory, and the rules that its contents must satisfy. The same rules apply to bytes
//! that were read and to content that a program made. See `spec/ANM.md`, sections 3 and 7. Checking
//! them takes one pass through the keys.

use kinepack_anim::keyed::Key;
use kinepack_anim::{Channel, MAX_JOINTS};

use crate::layout::{HEAD_BYTES, INDICES_PER_JOINT, index_bytes};
use crate::{AnmError, AnmHead};

/// The largest magnitude of a range whose channel has keys. This limit keeps the values between
/// keys finite.
const MAX_MAGNITUDE: f32 = 1e30;

/// A file: a header, the hashes of the joints' names, keys in playback order, and jump caches.
///
/// Every key's joint exists, and the keys of each track are sorted by time. A track without keys
/// plays no rotation, no translation or a scale of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Anm {
    pub(crate) head: AnmHead,
    pub(crate) joints: Vec<u32>,
    pub(crate) keys: Vec<Key>,
    pub(crate) jump_cache_count: u32,
    /// Four indices of keys for each cache, joint and channel. An index that does not belong to a
    /// key of the track means "no key". The counts of caches and joints determine the length.
    pub(crate) jump_indices: Vec<u32>,
}

impl Anm {
    /// Creates a file without jump caches from keys in playback order, as [`order`](crate::order())
    /// returns them.
    ///
    /// # Errors
    /// Returns [`AnmError`] if a field of the header is unknown or not finite, there are too many
    /// joints, or the file would reach 2 GiB. The call also fails if a key's joint does not exist,
    /// or if a key is earlier than the previous key of its track.
    pub fn new(head: AnmHead, joints: Vec<u32>, keys: Vec<Key>) -> Result<Self, AnmError> {
        head.validate()?;
        let anm = Self { head, joints, keys, jump_cache_count: 0, jump_indices: Vec::new() };
        if anm.joints.len() > MAX_JOINTS {
            return Err(AnmError::TooManyJoints { joints: anm.joints.len() as u64 });
        }
        anm.validate_keys()?;
        anm.validate_size(0)?;
        Ok(anm)
    }

    /// Returns the fields of the header.
    pub fn head(&self) -> &AnmHead {
        &self.head
    }

    /// Hashes of the joints' names ([`elf_hash`](crate::elf_hash)), in the order of the joints.
    pub fn joints(&self) -> &[u32] {
        &self.joints
    }

    /// Returns the keys of all tracks in the order of the file.
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// Returns the number of equal slices of the duration to which playback can jump. If the number
    /// is 0, playback can only jump to the start.
    pub fn jump_cache_count(&self) -> u32 {
        self.jump_cache_count
    }

    fn validate_keys(&self) -> Result<(), AnmError> {
        let mut times = vec![[0; 3]; self.joints.len()];
        let mut is_used = [false; 3];
        for (index, key) in self.keys.iter().enumerate() {
            let Some(times) = times.get_mut(usize::from(key.joint)) else {
                return Err(AnmError::KeyOfNoJoint { key: index, joint: key.joint });
            };
            let channel = key.channel as usize;
            if key.time < times[channel] {
                return Err(AnmError::TimeDecreases { key: index });
            }
            times[channel] = key.time;
            is_used[channel] = true;
        }
        for (channel, range) in
            [(Channel::Translation, &self.head.translation), (Channel::Scale, &self.head.scale)]
        {
            let ends = range.min.iter().chain(&range.max);
            let is_sane = range.is_valid() && ends.clone().all(|end| end.abs() <= MAX_MAGNITUDE);
            // If a channel has no keys, the minimum of its range may be above the maximum. An
            // exporter that computes the bounds of an empty set writes such a range.
            if !ends.clone().all(|end| end.is_finite()) || is_used[channel as usize] && !is_sane {
                return Err(AnmError::BadRange { channel });
            }
        }
        Ok(())
    }

    /// Checks that the offsets, which are signed 32-bit numbers, can address the whole file.
    pub(crate) fn validate_size(&self, jump_cache_count: u32) -> Result<(), AnmError> {
        let cache_bytes = self.joints.len() * INDICES_PER_JOINT * self.index_bytes();
        let others = HEAD_BYTES as u128
            + Key::BYTES as u128 * self.keys.len() as u128
            + 4 * self.joints.len() as u128;
        let bytes = others + u128::from(jump_cache_count) * cache_bytes as u128;
        if bytes > i32::MAX as u128 { Err(AnmError::TooLarge { bytes }) } else { Ok(()) }
    }

    /// Returns the size of an index in a jump cache, in bytes.
    pub(crate) fn index_bytes(&self) -> usize {
        index_bytes(self.keys.len())
    }
}
