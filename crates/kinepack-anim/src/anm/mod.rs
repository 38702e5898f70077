//! `r3d2canm` files: the compressed animations of League of Legends, read, written and played. One
//! block holds the keys of all tracks in the order in which playback needs them, so that playing
//! reads forward through it and nothing else.
//!
//! Where it stands: tracks of quantized keys go in through [`order`](order()), or a whole
//! [`KeyedClip`](crate::keyed::KeyedClip) through [`Anm::from_clip`]; an [`Anm`] is the file, an
//! [`AnmPlayer`] samples it. The clip is the smaller form of this crate's own; this one is for what
//! other programs read. `spec/ANM.md`. Source: the article on these animations, and the public
//! reader `ltk_anim`. Cost: 10 bytes a key, and 24 or 48 a joint in each jump cache.

mod error;
mod from_clip;
mod jump;
mod order;
mod player;
mod read;
mod window;
mod write;

pub use error::{AnmBlock, AnmError};
pub use order::{AnmTrack, fill_missing, order};
pub use player::AnmPlayer;
pub use write::elf_hash;

use crate::keyed::{Key, Parametrization, VectorRange};
use crate::{Channel, MAX_JOINTS};

/// What a file begins with.
const MAGIC: [u8; 8] = *b"r3d2canm";

/// Bytes of the magic and all fields.
const HEAD_BYTES: usize = 128;

/// What an offset counts from: the end of the version.
const OFFSET_BASE: usize = 12;

/// Indices of a joint in a jump cache: four a channel.
const INDICES_PER_JOINT: usize = 12;

/// From so many keys on an index takes four bytes.
const WIDE_FROM_KEYS: usize = 0x1_0001;

/// The largest magnitude of a range whose channel has keys, so that what is between keys is finite
/// too.
const MAX_MAGNITUDE: f32 = 1e30;

/// What an exporter noted of its error in one channel; playing does not need it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorMargin {
    /// The deviation that was allowed.
    pub margin: f32,
    /// From which change between two keys the motion counts as a jump.
    pub discontinuity: f32,
}

impl Default for ErrorMargin {
    /// 2 and 10, as files usually have it.
    fn default() -> Self {
        Self { margin: 2.0, discontinuity: 10.0 }
    }
}

/// The fields of a file that are no counts and no offsets.
#[derive(Clone, Debug, PartialEq)]
pub struct AnmHead {
    /// 1, 2 or 3; the three differ in nothing that is known.
    pub version: u32,
    /// Of unknown meaning, mostly 0.
    pub format_token: u32,
    /// [`AnmHead::TIMES`], and bits that only exporters know.
    pub flags: u32,
    /// Seconds over which the keys' times run; not negative.
    pub duration_s: f32,
    /// Sample rate of the source in Hz; playing does not need it.
    pub rate_hz: f32,
    /// In the order of the channels' codes.
    pub errors: [ErrorMargin; 3],
    /// Between which translations are quantized, in cm.
    pub translation: VectorRange,
    /// Between which scales are quantized.
    pub scale: VectorRange,
}

impl AnmHead {
    /// The flag of [`Parametrization::Times`]; without it keys are [`Parametrization::Uniform`].
    pub const TIMES: u32 = 1 << 2;

    /// Version 3, parametrized by times, with default error margins.
    pub fn new(
        duration_s: f32,
        rate_hz: f32,
        translation: VectorRange,
        scale: VectorRange,
    ) -> Self {
        Self {
            version: 3,
            format_token: 0,
            flags: Self::TIMES,
            duration_s,
            rate_hz,
            errors: [ErrorMargin::default(); 3],
            translation,
            scale,
        }
    }

    /// By what the flags say that tangents are weighted.
    pub fn parametrization(&self) -> Parametrization {
        if self.flags & Self::TIMES == 0 {
            Parametrization::Uniform
        } else {
            Parametrization::Times
        }
    }

    /// The time of keys at some seconds, cut to a whole one: a 65535th of the duration. Times
    /// outside of the clip are those of its ends.
    pub fn key_time(&self, time_s: f32) -> u16 {
        if self.duration_s > 0.0 { ((time_s / self.duration_s) * 65535.0) as u16 } else { 0 }
    }

    fn validate(&self) -> Result<(), AnmError> {
        if !(1..=3).contains(&self.version) {
            return Err(AnmError::UnknownVersion { version: self.version });
        }
        if !(self.duration_s >= 0.0 && self.duration_s.is_finite()) {
            return Err(AnmError::BadDuration { duration_s: self.duration_s });
        }
        if !(self.rate_hz >= 0.0 && self.rate_hz.is_finite()) {
            return Err(AnmError::BadRate { rate_hz: self.rate_hz });
        }
        for (channel, error) in Channel::ALL.into_iter().zip(&self.errors) {
            if !(error.margin.is_finite() && error.discontinuity.is_finite()) {
                return Err(AnmError::BadErrorMargin { channel });
            }
        }
        Ok(())
    }
}

/// A file: a head, joints by the hashes of their names, keys in the order of playback, and the jump
/// caches.
///
/// All keys are of joints that exist, and those of each track are in the order of their times. A
/// track may have no key: it then stays at no rotation, no translation or a scale of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Anm {
    head: AnmHead,
    joints: Vec<u32>,
    keys: Vec<Key>,
    jump_cache_count: u32,
    /// For each cache, joint and channel four indices of keys; what is no index of a key of that
    /// track stands for none. So many as the counts of caches and joints say.
    jump_indices: Vec<u32>,
}

impl Anm {
    /// A file without jump caches, of keys in the order of playback ([`order`](order()) makes it).
    ///
    /// # Errors
    /// [`AnmError`] where a field of the head is unknown or not finite, there are too many joints,
    /// a key is of no joint, or comes after a later key of its track, or the file would have 2 GiB.
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

    /// The fields.
    pub fn head(&self) -> &AnmHead {
        &self.head
    }

    /// Hashes of the joints' names ([`elf_hash`]), in the order of the joints.
    pub fn joints(&self) -> &[u32] {
        &self.joints
    }

    /// The keys of all tracks as they stand in the file.
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// Into how many equal slices of the duration playback can jump; 0: only to the start.
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
            // What no key uses may stand the wrong way round, as from looking for the ends among
            // nothing.
            if !ends.clone().all(|end| end.is_finite()) || is_used[channel as usize] && !is_sane {
                return Err(AnmError::BadRange { channel });
            }
        }
        Ok(())
    }

    /// Offsets are signed numbers of 32 bits.
    fn validate_size(&self, jump_cache_count: u32) -> Result<(), AnmError> {
        let cache_bytes = self.joints.len() * INDICES_PER_JOINT * self.index_bytes();
        let others = HEAD_BYTES as u128
            + Key::BYTES as u128 * self.keys.len() as u128
            + 4 * self.joints.len() as u128;
        let bytes = others + u128::from(jump_cache_count) * cache_bytes as u128;
        if bytes > i32::MAX as u128 { Err(AnmError::TooLarge { bytes }) } else { Ok(()) }
    }

    /// Bytes of an index in a jump cache.
    fn index_bytes(&self) -> usize {
        index_bytes(self.keys.len())
    }
}

fn index_bytes(keys: usize) -> usize {
    if keys < WIDE_FROM_KEYS { 2 } else { 4 }
}
