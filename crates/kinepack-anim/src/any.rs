//! A compressed clip of whatever scheme, and its playback: for who takes files as they come. Which
//! scheme it is, its first four bytes say.

use std::sync::Arc;

use crate::keyed::{self, Cursor, KeyedClip};
use crate::{Clip, ClipError, Rig, Sampler, Transform, block, disk};

/// A compressed clip.
#[derive(Clone, Debug)]
pub enum AnyClip {
    /// Of blocks.
    Block(Clip),
    /// Of keys and rows.
    Keyed(KeyedClip),
}

impl AnyClip {
    /// The clip that `bytes` hold, checked once and for all. A disk file is unpacked.
    ///
    /// # Errors
    /// [`ClipError`], with the reason, for anything that the specification does not allow;
    /// [`ClipError::Rig`] for a clip of a rig. Memory is bounded by the bytes' length.
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Result<Self, ClipError> {
        Self::read(bytes.into(), None)
    }

    /// The same, of a clip that may be of this rig.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes); [`ClipError::Rig`] for a clip of another rig.
    pub fn with_rig(bytes: impl Into<Vec<u8>>, rig: &Arc<Rig>) -> Result<Self, ClipError> {
        Self::read(bytes.into(), Some(rig))
    }

    pub(crate) fn read(bytes: Vec<u8>, rig: Option<&Arc<Rig>>) -> Result<Self, ClipError> {
        match bytes.first_chunk() {
            Some(&block::MAGIC) => Clip::read(bytes, rig).map(Self::Block),
            Some(&disk::MAGIC) => Clip::read(disk::unpack(&bytes)?, rig).map(Self::Block),
            Some(&keyed::MAGIC) => KeyedClip::from_bytes(bytes).map(Self::Keyed),
            _ => Err(ClipError::NoClip),
        }
    }

    /// The clip as it stands in its file.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Block(clip) => clip.as_bytes(),
            Self::Keyed(clip) => clip.as_bytes(),
        }
    }

    /// The clip, where it is of blocks.
    pub fn as_block(&self) -> Option<&Clip> {
        match self {
            Self::Block(clip) => Some(clip),
            Self::Keyed(_) => None,
        }
    }

    /// The clip, where it is of keys and rows.
    pub fn as_keyed(&self) -> Option<&KeyedClip> {
        match self {
            Self::Block(_) => None,
            Self::Keyed(clip) => Some(clip),
        }
    }

    /// Number of joints.
    pub fn joints(&self) -> usize {
        match self {
            Self::Block(clip) => clip.joints(),
            Self::Keyed(clip) => clip.joints(),
        }
    }

    /// Number of sample times of the clip that it was made from.
    pub fn samples(&self) -> usize {
        match self {
            Self::Block(clip) => clip.samples(),
            Self::Keyed(clip) => clip.samples(),
        }
    }

    /// Samples a second.
    pub fn rate_hz(&self) -> f32 {
        match self {
            Self::Block(clip) => clip.rate_hz(),
            Self::Keyed(clip) => clip.rate_hz(),
        }
    }

    /// Seconds from the first sample to the last.
    pub fn duration_s(&self) -> f32 {
        match self {
            Self::Block(clip) => clip.duration_s(),
            Self::Keyed(clip) => clip.duration_s(),
        }
    }

    /// [`Skeleton::hash`](crate::Skeleton::hash) of the joints that it moves.
    pub fn skeleton_hash(&self) -> u64 {
        match self {
            Self::Block(clip) => clip.skeleton_hash(),
            Self::Keyed(clip) => clip.header().skeleton,
        }
    }

    /// Bytes by what they are for, in the order of the file; they sum to the file's length.
    pub fn bytes_by_part(&self) -> Vec<(&'static str, usize)> {
        match self {
            Self::Block(clip) => clip.bytes_by_part(),
            Self::Keyed(clip) => clip.bytes_by_part().to_vec(),
        }
    }

    /// A player at the beginning of the clip. `bind` is the pose of what the clip says nothing
    /// about.
    ///
    /// # Panics
    /// Where `bind` is not of as many joints as the clip.
    pub fn player(&self, bind: &[Transform]) -> AnyPlayer<'_> {
        match self {
            Self::Block(clip) => AnyPlayer::Block(Sampler::new(clip, bind)),
            Self::Keyed(clip) => AnyPlayer::Keyed(Cursor::new(clip, bind)),
        }
    }
}

impl From<Clip> for AnyClip {
    fn from(clip: Clip) -> Self {
        Self::Block(clip)
    }
}

impl From<KeyedClip> for AnyClip {
    fn from(clip: KeyedClip) -> Self {
        Self::Keyed(clip)
    }
}

/// The state of one playback of an [`AnyClip`]: whole poses, at any time, without allocating.
#[derive(Clone, Debug)]
pub enum AnyPlayer<'a> {
    /// Of blocks.
    Block(Sampler<'a>),
    /// Of keys and rows.
    Keyed(Cursor<'a>),
}

impl AnyPlayer<'_> {
    /// The pose at `time_s` seconds from the first sample; before it and behind the last one it
    /// stands still.
    ///
    /// # Panics
    /// Where `pose` is not of as many joints as the clip.
    pub fn sample(&mut self, time_s: f32, pose: &mut [Transform]) {
        match self {
            Self::Block(sampler) => sampler.sample(time_s, pose),
            Self::Keyed(cursor) => cursor.sample(time_s, pose),
        }
    }

    /// The pose at `position` samples from the first: whole numbers are the sample times.
    ///
    /// # Panics
    /// Where `pose` is not of as many joints as the clip.
    pub fn sample_at(&mut self, position: f64, pose: &mut [Transform]) {
        match self {
            Self::Block(sampler) => sampler.sample_at(position, pose),
            Self::Keyed(cursor) => cursor.sample_at(position, pose),
        }
    }
}
