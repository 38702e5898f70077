//! Reads, writes and plays `r3d2canm` files, the compressed animations of League of Legends. One
//! block holds the keys of all tracks in the order in which playback needs them, so playback only
//! reads forward through it.
//!
//! [`order`](order()) makes a file from tracks of quantized keys, and [`Anm::from_clip`] from a
//! whole [`KeyedClip`](crate::keyed::KeyedClip). An [`Anm`] is the file, and an [`AnmPlayer`]
//! samples it. A clip in this crate's own format is smaller; use this format for other programs.
//! `spec/ANM.md`. Source: the article on these animations, and the public reader `ltk_anim`. Cost:
//! 10 bytes per key, and 24 or 48 bytes per joint in each jump cache.

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

/// The first bytes of a file.
const MAGIC: [u8; 8] = *b"r3d2canm";

/// Bytes of the magic and all fields.
const HEAD_BYTES: usize = 128;

/// Offsets count from the end of the version field.
const OFFSET_BASE: usize = 12;

/// Indices per joint in a jump cache: four per channel.
const INDICES_PER_JOINT: usize = 12;

/// With at least this many keys, an index takes four bytes.
const WIDE_FROM_KEYS: usize = 0x1_0001;

/// The largest magnitude of a range whose channel has keys. This limit keeps the values between
/// keys finite.
const MAX_MAGNITUDE: f32 = 1e30;

/// The exporter's note on its error in one channel; playback does not need it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorMargin {
    /// The allowed deviation.
    pub margin: f32,
    /// The smallest change between two keys that counts as a jump.
    pub discontinuity: f32,
}

impl Default for ErrorMargin {
    /// 2 and 10, the usual values in files.
    fn default() -> Self {
        Self { margin: 2.0, discontinuity: 10.0 }
    }
}

/// The fields of a file other than counts and offsets.
#[derive(Clone, Debug, PartialEq)]
pub struct AnmHead {
    /// 1, 2 or 3. The three versions have no known differences.
    pub version: u32,
    /// Meaning unknown; usually 0.
    pub format_token: u32,
    /// [`AnmHead::TIMES`], and other bits that only exporters use.
    pub flags: u32,
    /// The duration that key times span, in seconds; not negative.
    pub duration_s: f32,
    /// Sample rate of the source in Hz; playback does not need it.
    pub rate_hz: f32,
    /// In the order of the channels' codes.
    pub errors: [ErrorMargin; 3],
    /// The quantization range of translations, in cm.
    pub translation: VectorRange,
    /// The quantization range of scales.
    pub scale: VectorRange,
}

impl AnmHead {
    /// The flag of [`Parametrization::Times`]; without it keys are [`Parametrization::Uniform`].
    pub const TIMES: u32 = 1 << 2;

    /// A header of version 3, parametrized by times, with default error margins.
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

    /// The parametrization of tangents that the flags select.
    pub fn parametrization(&self) -> Parametrization {
        if self.flags & Self::TIMES == 0 {
            Parametrization::Uniform
        } else {
            Parametrization::Times
        }
    }

    /// Converts seconds to a key time: a 65535th of the duration, truncated to an integer. Times
    /// outside of the clip give the time of the nearer end.
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

/// A file: a header, the hashes of the joints' names, keys in playback order, and the jump caches.
///
/// Every key's joint exists, and the keys of each track are sorted by time. A track may have no
/// keys. It then plays no rotation, no translation or a scale of one.
///
/// ```
/// # use std::sync::Arc;
/// # use kinepack_anim::{Joint, RawClip, Skeleton, Transform};
/// # use kinepack_anim::offline::{BuildOptions, KeyedOptions, Scheme, build};
/// use kinepack_anim::anm::{Anm, elf_hash};
///
/// # let joint = Joint { name: "root".into(), parent: None, bind: Transform::IDENTITY };
/// # let skeleton = Arc::new(Skeleton::new(vec![joint])?);
/// # let sample = |i: i32| Transform { translation: [i as f32, 0.0, 0.0], ..Transform::IDENTITY };
/// # let raw = RawClip::new("slide", Arc::clone(&skeleton), 30.0, (0..31).map(sample).collect())?;
/// # let scheme = Scheme::Keyed(KeyedOptions::default());
/// # let built = build(&raw, &BuildOptions { scheme, ..BuildOptions::default() })?;
/// // A keyed clip of one second, as a file with four jump caches.
/// let clip = built.clip.as_keyed().ok_or("a block clip")?;
/// let file = Anm::from_clip(clip, &skeleton, 4)?.to_bytes();
///
/// let anm = Anm::from_bytes(&file)?;
/// assert_eq!((anm.head().duration_s, anm.jump_cache_count()), (1.0, 4));
/// assert_eq!(anm.joints(), [elf_hash("root")]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Anm {
    head: AnmHead,
    joints: Vec<u32>,
    keys: Vec<Key>,
    jump_cache_count: u32,
    /// Four indices of keys for each cache, joint and channel. An index that does not belong to a
    /// key of the track means "no key". The counts of caches and joints determine the length.
    jump_indices: Vec<u32>,
}

impl Anm {
    /// Creates a file without jump caches from keys in playback order, as [`order`](order())
    /// returns them.
    ///
    /// # Errors
    /// [`AnmError`] if a field of the header is unknown or not finite, there are too many joints,
    /// or the file would reach 2 GiB. Also if a key's joint does not exist, or a key is earlier
    /// than the previous key of its track.
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

    /// The fields of the header.
    pub fn head(&self) -> &AnmHead {
        &self.head
    }

    /// Hashes of the joints' names ([`elf_hash`]), in the order of the joints.
    pub fn joints(&self) -> &[u32] {
        &self.joints
    }

    /// The keys of all tracks in the order of the file.
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// The number of equal slices of the duration that playback can jump to. With 0, playback can
    /// only jump to the start.
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
            // In a range without keys, the minimum may be above the maximum: an exporter that
            // computes the bounds of an empty set writes such a range.
            if !ends.clone().all(|end| end.is_finite()) || is_used[channel as usize] && !is_sane {
                return Err(AnmError::BadRange { channel });
            }
        }
        Ok(())
    }

    /// Checks that the size fits the offsets, which are signed 32-bit numbers.
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
