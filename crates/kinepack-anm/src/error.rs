//! The reasons to refuse bytes as an `r3d2canm` file, or to refuse to create one.

use std::fmt;

use kinepack_anim::keyed::Parametrization;
use kinepack_anim::{Channel, MAX_JOINTS};

/// One of the three parts of a file to which the header stores offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnmBlock {
    /// The block of keys, with ten bytes per key.
    Keys,
    /// The jump caches, which consist of indices of keys.
    JumpCaches,
    /// The joints, as hashes of their names.
    Joints,
}

impl AnmBlock {
    /// Returns the block's name for reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Keys => "keys",
            Self::JumpCaches => "jump caches",
            Self::Joints => "joints",
        }
    }
}

/// The reason why bytes are not a valid file, or why fields, keys or tracks cannot make one.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AnmError {
    /// The first eight bytes are not `r3d2canm`.
    NoAnmFile,
    /// The file ends within its header.
    TruncatedHead {
        /// Length of the file in bytes.
        bytes: usize,
    },
    /// The version is not 1, 2 or 3.
    UnknownVersion {
        /// The version that the file states.
        version: u32,
    },
    /// The duration is negative or not finite.
    BadDuration {
        /// The duration that the file states.
        duration_s: f32,
    },
    /// The rate is negative or not finite.
    BadRate {
        /// The rate that the file states.
        rate_hz: f32,
    },
    /// An error margin is not finite.
    BadErrorMargin {
        /// The channel with the invalid margin.
        channel: Channel,
    },
    /// A range is not finite. For a channel with keys, a range that is too large or whose minimum
    /// is above its maximum is also refused.
    BadRange {
        /// The channel with the invalid range.
        channel: Channel,
    },
    /// There are more joints than a key can address.
    TooManyJoints {
        /// Number of joints.
        joints: u64,
    },
    /// The count of jump caches is below zero.
    NegativeCacheCount {
        /// The count that the file states.
        count: i32,
    },
    /// An offset is not positive, or points into the header.
    BadOffset {
        /// The block to which the offset leads.
        block: AnmBlock,
        /// The offset that the file states, counted from byte 12.
        offset: i32,
    },
    /// A block extends beyond the end of the file.
    PastEnd {
        /// The block that is cut off.
        block: AnmBlock,
        /// The byte at which the block starts.
        begin: usize,
        /// The length that the block would have in bytes.
        block_bytes: u128,
        /// Length of the file in bytes.
        bytes: usize,
    },
    /// Two blocks overlap.
    Overlap {
        /// The block that starts first.
        first: AnmBlock,
        /// The block that starts inside the first one.
        second: AnmBlock,
    },
    /// A key has channel code 3, which is invalid.
    BadChannel {
        /// Index of the key.
        key: usize,
    },
    /// The joint of a key does not exist.
    KeyOfNoJoint {
        /// Index of the key.
        key: usize,
        /// The joint of the key.
        joint: u16,
    },
    /// The time of a key is before that of the previous key of its track.
    TimeDecreases {
        /// Index of the key.
        key: usize,
    },
    /// The file is too long for its offsets.
    TooLarge {
        /// The length that the file would have in bytes.
        bytes: u128,
    },
    /// There are more jump caches than key times.
    TooManyCaches {
        /// The number of caches requested.
        count: u32,
    },
    /// The file has exactly 65,536 keys, and therefore uses every 16-bit index for a key. No index
    /// is available for tracks that have fewer than four keys.
    NoIndexLeft,
    /// A track has no keys.
    EmptyTrack {
        /// Index of the track.
        track: usize,
    },
    /// The joint of a track does not exist.
    TrackOfNoJoint {
        /// Index of the track.
        track: usize,
        /// The joint of the track.
        joint: u16,
    },
    /// A second track has the same channel and joint as an earlier one.
    TrackTwice {
        /// Index of the second track.
        track: usize,
    },
    /// A track has several keys, and their times do not increase from 0 to 65535.
    BadTrackTimes {
        /// Index of the track.
        track: usize,
    },
    /// The skeleton is not the clip's skeleton.
    OtherSkeleton,
    /// The splines of the clip have a parametrization that files do not support.
    BadParametrization {
        /// The parametrization of the clip.
        parametrization: Parametrization,
    },
    /// The clip has more rows of samples than a file has key times.
    TooManyRows {
        /// Number of rows of the clip.
        samples: usize,
    },
    /// The names of two joints of the skeleton have the same hash.
    SameHash {
        /// Indices of the two joints.
        joints: [usize; 2],
        /// Names of the two joints.
        names: [String; 2],
    },
}

impl fmt::Display for AnmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoAnmFile => {
                write!(f, "not a compressed animation: it does not begin with r3d2canm")
            }
            Self::TruncatedHead { bytes } => {
                write!(f, "truncated: {bytes} bytes are less than the head")
            }
            Self::UnknownVersion { version } => {
                write!(f, "version {version}: only 1, 2 and 3 can be read")
            }
            Self::BadDuration { duration_s } => write!(f, "damaged: a duration of {duration_s} s"),
            Self::BadRate { rate_hz } => write!(f, "damaged: a rate of {rate_hz} Hz"),
            Self::BadErrorMargin { channel } => {
                write!(f, "the error margin of the {} is not finite", channel.name())
            }
            Self::BadRange { channel } => {
                write!(f, "the range of the {} is not valid", channel.name())
            }
            Self::TooManyJoints { joints } => {
                write!(f, "{joints} joints, at most {MAX_JOINTS} are possible")
            }
            Self::NegativeCacheCount { count } => write!(f, "damaged: {count} jump caches"),
            Self::BadOffset { block, offset } => {
                write!(f, "the {} have the impossible offset {offset}", block.name())
            }
            Self::PastEnd { block, begin, block_bytes, bytes } => {
                write!(
                    f,
                    "the {} reach past the end: \
                     {block_bytes} bytes from byte {begin} on, of {bytes}",
                    block.name()
                )
            }
            Self::Overlap { first, second } => {
                write!(f, "the {} begin inside the {}", second.name(), first.name())
            }
            Self::BadChannel { key } => write!(f, "the channel of key {key} does not exist"),
            Self::KeyOfNoJoint { key, joint } => {
                write!(f, "key {key} belongs to joint {joint}, which does not exist")
            }
            Self::TimeDecreases { key } => {
                write!(f, "key {key} is earlier than the previous key of its track")
            }
            Self::TooLarge { bytes } => {
                write!(f, "{bytes} bytes, at most {} are possible", i32::MAX)
            }
            Self::TooManyCaches { count } => {
                write!(f, "{count} jump caches, at most 65535 are possible")
            }
            Self::NoIndexLeft => {
                write!(f, "65536 keys use all indices, and none is left for tracks without keys")
            }
            Self::EmptyTrack { track } => write!(f, "track {track} has no key"),
            Self::TrackOfNoJoint { track, joint } => {
                write!(f, "track {track} belongs to joint {joint}, which does not exist")
            }
            Self::TrackTwice { track } => write!(f, "track {track} is the same as an earlier one"),
            Self::BadTrackTimes { track } => {
                write!(f, "the times of track {track} do not increase from 0 to 65535")
            }
            Self::OtherSkeleton => write!(f, "the clip belongs to another skeleton"),
            Self::BadParametrization { parametrization } => {
                let name = parametrization.name();
                write!(
                    f,
                    "these files have no {name} splines: build the clip with times or uniform"
                )
            }
            Self::TooManyRows { samples } => {
                write!(f, "{samples} rows of samples: a file has only 65536 different times")
            }
            Self::SameHash { joints: [a, b], names: [first, second] } => {
                write!(
                    f,
                    "joints {a} and {b}, {first:?} and {second:?}, have the same hash: rename one"
                )
            }
        }
    }
}

impl std::error::Error for AnmError {}
