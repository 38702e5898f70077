//! Every reason for which this crate says no: one flat enum for each thing that may be refused.

use std::fmt;

#[cfg(feature = "raw")]
use crate::MAX_SAMPLES;
use crate::{Channel, MAX_JOINTS, TrackId};

/// Why joints are no skeleton.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SkeletonError {
    /// More joints than a key can name.
    TooManyJoints {
        /// How many.
        joints: usize,
    },
    /// A parent that does not come before its child; so is a cycle.
    ParentAfterChild {
        /// Index of the child.
        joint: usize,
    },
    /// A bind transform with a number that is not finite, or a rotation of length zero.
    BadBindPose {
        /// Index of the joint.
        joint: usize,
    },
}

impl fmt::Display for SkeletonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyJoints { joints } => {
                write!(f, "{joints} joints, at most {MAX_JOINTS} are possible")
            }
            Self::ParentAfterChild { joint } => {
                write!(f, "the parent of joint {joint} does not come before it")
            }
            Self::BadBindPose { joint } => {
                write!(
                    f,
                    "the bind pose of joint {joint} has a number that is not finite or a rotation of length zero"
                )
            }
        }
    }
}

impl std::error::Error for SkeletonError {}

#[cfg(feature = "raw")]
/// Why samples are no clip.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RawClipError {
    /// A rate that is not positive and finite.
    BadRate {
        /// The rate.
        rate_hz: f32,
    },
    /// No joint, no sample, or samples of a part of the joints.
    WrongCount {
        /// Joints of the skeleton.
        joints: usize,
        /// Transforms that were given.
        transforms: usize,
    },
    /// More samples than a clip can have.
    TooManySamples {
        /// How many.
        samples: usize,
    },
    /// A transform with a number that is not finite, or a rotation of length zero.
    BadTransform {
        /// Index of the sample.
        sample: usize,
        /// Index of the joint.
        joint: usize,
    },
}

#[cfg(feature = "raw")]
impl fmt::Display for RawClipError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadRate { rate_hz } => write!(f, "a rate of {rate_hz} Hz: it must be positive"),
            Self::WrongCount { joints, transforms } => write!(
                f,
                "{transforms} transforms for {joints} joints: there must be as many for each sample, and at least one sample"
            ),
            Self::TooManySamples { samples } => {
                write!(f, "{samples} samples, at most {MAX_SAMPLES} are possible")
            }
            Self::BadTransform { sample, joint } => write!(
                f,
                "joint {joint} in sample {sample} has a number that is not finite or a rotation of length zero"
            ),
        }
    }
}

#[cfg(feature = "raw")]
impl std::error::Error for RawClipError {}

#[cfg(feature = "raw")]
/// Why bytes are no `.clip` file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ExchangeError {
    /// The first four bytes are not `CLIP`.
    NoClipFile,
    /// Shorter or longer than the header says.
    WrongLength {
        /// Length of the file.
        bytes: usize,
        /// Length by its header.
        expected: u64,
    },
    /// A parent that no joint has.
    BadParent {
        /// Index of the child.
        joint: usize,
        /// The parent's index as it stands.
        parent: i32,
    },
    /// What it holds is no skeleton.
    Skeleton(SkeletonError),
    /// What it holds is no clip.
    Clip(RawClipError),
}

#[cfg(feature = "raw")]
impl fmt::Display for ExchangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoClipFile => write!(f, "no .clip file: it does not begin with CLIP"),
            Self::WrongLength { bytes, expected } => {
                write!(
                    f,
                    "{bytes} bytes where its header asks for {expected}: truncated or damaged"
                )
            }
            Self::BadParent { joint, parent } => {
                write!(f, "joint {joint} has parent {parent}, which is no joint")
            }
            Self::Skeleton(error) => error.fmt(f),
            Self::Clip(error) => error.fmt(f),
        }
    }
}

#[cfg(feature = "raw")]
impl std::error::Error for ExchangeError {}

#[cfg(feature = "raw")]
impl From<SkeletonError> for ExchangeError {
    fn from(error: SkeletonError) -> Self {
        Self::Skeleton(error)
    }
}

#[cfg(feature = "raw")]
impl From<RawClipError> for ExchangeError {
    fn from(error: RawClipError) -> Self {
        Self::Clip(error)
    }
}

/// Why bytes are no compressed clip, or no rig of some.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ClipError {
    /// They do not begin with `KPAB`, `KPAC` or `KPAD`.
    NoClip,
    /// They do not begin with `KPAR`.
    NoRig,
    /// The clip is of a rig that was not given.
    Rig {
        /// [`Rig::hash`](crate::block::Rig::hash) of the rig.
        hash: u64,
    },
    /// The clip's rig does not have this track.
    NotInRig {
        /// The track.
        track: TrackId,
    },
    /// A later version of the format.
    Version {
        /// The file's.
        version: u8,
        /// The newest that can be read.
        newest: u8,
    },
    /// They end within a part.
    EndOfData {
        /// The part.
        part: &'static str,
    },
    /// There are more than the header asks for.
    TrailingData {
        /// How many too many.
        bytes: usize,
    },
    /// A field of the header that is out of its range.
    BadHeader {
        /// The field.
        field: &'static str,
    },
    /// A joint's byte of kinds with bits that mean nothing.
    BadKind {
        /// Index of the joint.
        joint: usize,
        /// The byte.
        byte: u8,
    },
    /// A range that ends before it begins, or beyond ±10¹⁸.
    BadRange {
        /// The channel.
        channel: Channel,
    },
    /// A constant, or the middle of a track, that is no number or beyond ±10¹⁸.
    BadConstant {
        /// Its track.
        track: TrackId,
    },
    /// Keys where there are more samples than a key's time can tell apart.
    TooManySamples {
        /// How many.
        samples: u32,
    },
    /// A key that is none, or does not stand where it is needed.
    BadKey {
        /// Its place in the block of keys.
        index: usize,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A file on disk becomes more than it may: see [`UnpackLimits`](crate::disk::UnpackLimits).
    TooLong {
        /// What it becomes at least, of a clip and of memory for its components.
        bytes: u64,
        /// The limit for the bytes of the file so far.
        limit: u64,
    },
    /// A segment that is none.
    BadSegment {
        /// Its index.
        segment: usize,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The hash at the end is not that of the bytes.
    BadHash,
    /// An entry of the jump table that does not fit the keys.
    BadJump {
        /// The slice.
        slice: usize,
        /// The track.
        track: TrackId,
    },
}

impl fmt::Display for ClipError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name =
            |track: &TrackId| format!("the {} of joint {}", track.channel.name(), track.joint);
        match self {
            Self::NoClip => {
                write!(f, "no compressed clip: it begins with none of KPAB, KPAC and KPAD")
            }
            Self::NoRig => write!(f, "no rig: it does not begin with KPAR"),
            Self::Rig { hash } => write!(f, "it needs its rig, {hash:016x}"),
            Self::NotInRig { track } => write!(f, "damaged: its rig does not have {}", name(track)),
            Self::Version { version, newest } => {
                write!(f, "version {version} of the format, at most {newest} can be read")
            }
            Self::EndOfData { part } => write!(f, "truncated: it ends within its {part}"),
            Self::TrailingData { bytes } => {
                write!(f, "{bytes} bytes more than its header asks for")
            }
            Self::BadHeader { field } => write!(f, "damaged header: {field}"),
            Self::BadKind { joint, byte } => {
                write!(f, "damaged: joint {joint} is of kind {byte:#04x}")
            }
            Self::BadRange { channel } => write!(f, "damaged: the range of {}s", channel.name()),
            Self::BadConstant { track } => {
                write!(f, "damaged: {} is no number within ±10¹⁸", name(track))
            }
            Self::TooManySamples { samples } => {
                write!(f, "{samples} samples, which is too many for keys")
            }
            Self::BadKey { index, reason } => write!(f, "damaged: key {index}: {reason}"),
            Self::TooLong { bytes, limit } => write!(
                f,
                "it becomes at least {bytes} bytes, and {limit} are allowed for a file of its size; keep clips that hardly move in their memory form, or raise the limit for files that you trust"
            ),
            Self::BadSegment { segment, reason } => {
                write!(f, "damaged: segment {segment}: {reason}")
            }
            Self::BadHash => write!(f, "damaged: its bytes have another hash than it says"),
            Self::BadJump { slice, track } => {
                write!(f, "damaged: the jump table, slice {slice}, {}", name(track))
            }
        }
    }
}

impl std::error::Error for ClipError {}

/// Why a clip cannot be played on a skeleton or a bind pose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlayError {
    /// The clip has another number of joints.
    OtherJoints {
        /// Joints of the clip.
        clip: usize,
        /// Joints of the skeleton or the bind pose.
        skeleton: usize,
    },
    /// The clip was built for another skeleton with the same number of joints.
    OtherSkeleton {
        /// The [hash](crate::Skeleton::hash) of the clip's skeleton.
        clip: u64,
        /// The hash of the skeleton.
        skeleton: u64,
    },
}

impl fmt::Display for PlayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherJoints { clip, skeleton } => write!(
                f,
                "the clip moves {clip} joints and the skeleton has {skeleton}: \
                 play the clip on the skeleton that it was built for"
            ),
            Self::OtherSkeleton { clip, skeleton } => write!(
                f,
                "the clip was built for skeleton {clip:016x} and this is {skeleton:016x}: \
                 names, parents or bind poses of joints differ"
            ),
        }
    }
}

impl std::error::Error for PlayError {}

/// Why bytes are no skeleton.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SkeletonFileError {
    /// They do not begin with `KPSK`.
    NoSkeleton,
    /// A later version of the format.
    Version {
        /// The file's.
        version: u8,
        /// The newest that can be read.
        newest: u8,
    },
    /// They end too early.
    EndOfData,
    /// There are more than the joints ask for.
    TrailingData {
        /// How many too many.
        bytes: usize,
    },
    /// A name that is not UTF-8.
    BadName,
    /// The joints are none of a skeleton.
    Skeleton(SkeletonError),
}

impl fmt::Display for SkeletonFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSkeleton => write!(f, "no skeleton: it does not begin with KPSK"),
            Self::Version { version, newest } => {
                write!(f, "version {version} of the format, at most {newest} can be read")
            }
            Self::EndOfData => write!(f, "truncated"),
            Self::TrailingData { bytes } => write!(f, "{bytes} bytes more than its joints ask for"),
            Self::BadName => write!(f, "damaged: a joint's name is not UTF-8"),
            Self::Skeleton(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SkeletonFileError {}

impl From<SkeletonError> for SkeletonFileError {
    fn from(error: SkeletonError) -> Self {
        Self::Skeleton(error)
    }
}
