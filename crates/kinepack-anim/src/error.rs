//! The errors of this crate: one flat enum for each kind of input that it may refuse.

use std::fmt;

#[cfg(feature = "raw")]
use crate::RawClipError;
use crate::{Channel, FileKind, MAX_JOINTS, TrackId};

/// The reason why joints do not make a skeleton.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SkeletonError {
    /// There are more joints than a key can address.
    TooManyJoints {
        /// Number of joints.
        joints: usize,
    },
    /// A parent does not precede its child. This also catches cycles.
    ParentAfterChild {
        /// Index of the child.
        joint: usize,
    },
    /// A bind transform has a number that is not finite, or a rotation of length zero.
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
                    "the bind pose of joint {joint} has a number that is not finite \
                     or a rotation of length zero"
                )
            }
        }
    }
}

impl std::error::Error for SkeletonError {}

#[cfg(feature = "raw")]
/// The reason why bytes are not a valid `.clip` file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ExchangeError {
    /// The first four bytes are not `CLIP`.
    NoClipFile,
    /// The file is shorter or longer than its header implies.
    WrongLength {
        /// Length of the file in bytes.
        bytes: usize,
        /// Length in bytes that the header implies.
        expected: u64,
    },
    /// A parent index is out of range.
    BadParent {
        /// Index of the child.
        joint: usize,
        /// The index that the file states for the parent.
        parent: i32,
    },
    /// The joints are not a valid skeleton.
    Skeleton(SkeletonError),
    /// The samples are not a valid clip.
    Clip(RawClipError),
}

#[cfg(feature = "raw")]
impl fmt::Display for ExchangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoClipFile => write!(f, "not a .clip file: it does not begin with CLIP"),
            Self::WrongLength { bytes, expected } => {
                write!(
                    f,
                    "{bytes} bytes instead of the {expected} of its header: truncated or damaged"
                )
            }
            Self::BadParent { joint, parent } => {
                write!(f, "joint {joint} has the parent {parent}, which does not exist")
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

/// The reason why bytes are not a valid compressed clip, or not a valid rig.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ClipError {
    /// The bytes do not begin with `KPAB`, `KPAC` or `KPAD`, nor with the magic of another known
    /// file.
    NoClip,
    /// The bytes do not begin with `KPAR`, nor with the magic of another known file.
    NoRig,
    /// The bytes are a file of another kind.
    OtherFile {
        /// The kind of the file.
        found: FileKind,
    },
    /// The clip needs a rig, and the caller gave none or a different one.
    Rig {
        /// [`Rig::hash`](crate::block::Rig::hash) of the rig that the clip needs.
        hash: u64,
    },
    /// The clip has a track that its rig lacks.
    NotInRig {
        /// The track that is missing from the rig.
        track: TrackId,
    },
    /// The version of the format is unknown.
    Version {
        /// The version that the file states.
        version: u8,
        /// The newest version that this crate can read.
        newest: u8,
    },
    /// The bytes end inside a part.
    EndOfData {
        /// The part that is cut off.
        part: &'static str,
    },
    /// There are more bytes than the header accounts for.
    TrailingData {
        /// Number of extra bytes.
        bytes: usize,
    },
    /// A field of the header is out of range.
    BadHeader {
        /// The field that is out of range.
        field: &'static str,
    },
    /// A joint's byte of track kinds has invalid bits.
    BadKind {
        /// Index of the joint.
        joint: usize,
        /// The value of that byte.
        byte: u8,
    },
    /// The minimum of a range is above its maximum, or the range goes beyond ±10¹⁸.
    BadRange {
        /// The channel whose range is invalid.
        channel: Channel,
    },
    /// A constant, or the middle of a track, is not finite or goes beyond ±10¹⁸.
    BadConstant {
        /// The track with the invalid number.
        track: TrackId,
    },
    /// The middle of a curve is not finite or goes beyond ±10¹⁸, or there are parameters of a curve
    /// that the clip does not have.
    BadCurve {
        /// Index of the curve.
        curve: usize,
    },
    /// Curve names or markers are invalid.
    BadLabel {
        /// The reason why the label is invalid.
        reason: &'static str,
    },
    /// A clip with keys has more samples than key times can distinguish.
    TooManySamples {
        /// Number of samples.
        samples: u32,
    },
    /// A key is invalid, or out of the order that playback needs.
    BadKey {
        /// Index of the key in the block of keys.
        index: usize,
        /// The reason why the key is invalid.
        reason: &'static str,
    },
    /// A disk file would unpack to more than its limit: see
    /// [`UnpackLimits`](crate::disk::UnpackLimits).
    TooLong {
        /// Lower bound on the unpacked size: the clip, plus memory for its components.
        bytes: u64,
        /// The limit that applies to the number of file bytes read so far.
        limit: u64,
    },
    /// A segment is invalid.
    BadSegment {
        /// Index of the segment.
        segment: usize,
        /// The reason why the segment is invalid.
        reason: &'static str,
    },
    /// The hash at the end does not match the bytes.
    BadHash,
    /// An entry of the jump table does not match the keys.
    BadJump {
        /// Index of the slice of the clip.
        slice: usize,
        /// The track whose entry is wrong.
        track: TrackId,
    },
}

impl fmt::Display for ClipError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name =
            |track: &TrackId| format!("the {} of joint {}", track.channel.name(), track.joint);
        match self {
            Self::NoClip => {
                write!(f, "not a compressed clip: it does not begin with KPAB, KPAC or KPAD")
            }
            Self::NoRig => write!(f, "not a rig: it does not begin with KPAR"),
            Self::OtherFile { found } => found.fmt_refused(f),
            Self::Rig { hash } => write!(
                f,
                "it needs its rig: read the file *-{hash:016x}.kpr with Rig::from_bytes, and the \
                 clip with Clip::with_rig or AnyClip::with_rig"
            ),
            Self::NotInRig { track } => write!(f, "damaged: its rig does not have {}", name(track)),
            Self::Version { version, newest } => {
                write!(f, "version {version} of the format, at most {newest} can be read")
            }
            Self::EndOfData { part } => write!(f, "truncated: it ends within its {part}"),
            Self::TrailingData { bytes } => {
                write!(f, "{bytes} bytes follow the clip that its header describes")
            }
            Self::BadHeader { field } => write!(f, "damaged header: {field}"),
            Self::BadKind { joint, byte } => {
                write!(f, "damaged: joint {joint} has the kind {byte:#04x}")
            }
            Self::BadRange { channel } => write!(f, "damaged: the range of {}s", channel.name()),
            Self::BadConstant { track } => {
                write!(f, "damaged: {} is not a number within ±10¹⁸", name(track))
            }
            Self::BadCurve { curve } => {
                write!(f, "damaged: curve {curve} does not exist, or is not a number within ±10¹⁸")
            }
            Self::BadLabel { reason } => write!(f, "damaged: names and markers: {reason}"),
            Self::TooManySamples { samples } => {
                write!(f, "{samples} samples are too many for keys")
            }
            Self::BadKey { index, reason } => write!(f, "damaged: key {index}: {reason}"),
            Self::TooLong { bytes, limit } => write!(
                f,
                "it unpacks to at least {bytes} bytes, and {limit} are allowed for a file of its \
                 size; keep clips that hardly move in their memory form, or raise the limit for \
                 files that you trust"
            ),
            Self::BadSegment { segment, reason } => {
                write!(f, "damaged: segment {segment}: {reason}")
            }
            Self::BadHash => write!(f, "damaged: its bytes do not have the hash that it stores"),
            Self::BadJump { slice, track } => {
                write!(f, "damaged: the jump table, slice {slice}, {}", name(track))
            }
        }
    }
}

impl std::error::Error for ClipError {}

impl ClipError {
    /// Returns the error for a file that does not begin as expected.
    pub(crate) fn of_other_file(bytes: &[u8]) -> Self {
        FileKind::detect(bytes).map_or(Self::NoClip, |found| Self::OtherFile { found })
    }
}

/// The reason why a clip cannot play on a skeleton or a bind pose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlayError {
    /// The clip has a different number of joints.
    OtherJoints {
        /// Number of joints of the clip.
        clip: usize,
        /// Number of joints of the skeleton or the bind pose.
        skeleton: usize,
    },
    /// The clip was built for another skeleton with the same number of joints.
    OtherSkeleton {
        /// The [hash](crate::Skeleton::hash) of the clip's skeleton.
        clip: u64,
        /// The [hash](crate::Skeleton::hash) of the skeleton that the caller gave.
        skeleton: u64,
    },
}

impl fmt::Display for PlayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherJoints { clip, skeleton } => write!(
                f,
                "other joints: {clip} in the clip and {skeleton} in the skeleton; \
                 play the clip on the skeleton that it was built for"
            ),
            Self::OtherSkeleton { clip, skeleton } => write!(
                f,
                "the clip was built for skeleton {clip:016x} and this is {skeleton:016x}: \
                 names, parents or bind poses of joints differ; an additive clip plays on \
                 additive::skeleton"
            ),
        }
    }
}

impl std::error::Error for PlayError {}

/// The reason why bytes are not a valid skeleton file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SkeletonFileError {
    /// The bytes do not begin with `KPSK`, nor with the magic of another known file.
    NoSkeleton,
    /// The bytes are a file of another kind.
    OtherFile {
        /// The kind of the file.
        found: FileKind,
    },
    /// The version of the format is unknown.
    Version {
        /// The version that the file states.
        version: u8,
        /// The newest version that this crate can read.
        newest: u8,
    },
    /// The bytes end too early.
    EndOfData,
    /// There are more bytes than the joints account for.
    TrailingData {
        /// Number of extra bytes.
        bytes: usize,
    },
    /// A name is not UTF-8.
    BadName,
    /// The joints are not a valid skeleton.
    Skeleton(SkeletonError),
}

impl fmt::Display for SkeletonFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSkeleton => write!(f, "not a skeleton: it does not begin with KPSK"),
            Self::OtherFile { found } => found.fmt_refused(f),
            Self::Version { version, newest } => {
                write!(f, "version {version} of the format, at most {newest} can be read")
            }
            Self::EndOfData => write!(f, "truncated"),
            Self::TrailingData { bytes } => write!(f, "{bytes} bytes follow its joints"),
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
