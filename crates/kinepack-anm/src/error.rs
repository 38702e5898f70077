//! Reasons to refuse bytes as an `r3d2canm` file, or to refuse to create one.

use std::fmt;

use kinepack_anim::keyed::Parametrization;
use kinepack_anim::{Channel, MAX_JOINTS};

/// One of the three parts of a file to which the header stores offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnmBlock {
    /// Ten bytes per key.
    Keys,
    /// Indices of keys.
    JumpCaches,
    /// Hashes of names.
    Joints,
}

impl AnmBlock {
    /// The name for reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Keys => "keys",
            Self::JumpCaches => "jump caches",
            Self::Joints => "joints",
        }
    }
}

/// Why bytes are not a valid file, or why fields, keys or tracks cannot make one.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AnmError {
    /// The first eight bytes are not `r3d2canm`.
    NoAnmFile,
    /// The file ends within its header.
    TruncatedHead {
        /// Length of the file.
        bytes: usize,
    },
    /// A version that is not 1, 2 or 3.
    UnknownVersion {
        /// The version.
        version: u32,
    },
    /// A duration that is negative or not finite.
    BadDuration {
        /// The duration in the file.
        duration_s: f32,
    },
    /// A rate that is negative or not finite.
    BadRate {
        /// The rate in the file.
        rate_hz: f32,
    },
    /// An error margin that is not finite.
    BadErrorMargin {
        /// The channel with the bad margin.
        channel: Channel,
    },
    /// A range that is not finite. For a channel with keys, also a range that is too large or whose
    /// minimum is above its maximum.
    BadRange {
        /// The channel with the bad range.
        channel: Channel,
    },
    /// More joints than a key can address.
    TooManyJoints {
        /// Number of joints.
        joints: u64,
    },
    /// A count of jump caches below zero.
    NegativeCacheCount {
        /// The count in the file.
        count: i32,
    },
    /// An offset that is not positive or points into the header.
    BadOffset {
        /// The part that the offset is for.
        block: AnmBlock,
        /// The offset in the file, counted from byte 12.
        offset: i32,
    },
    /// A block that extends beyond the end of the file.
    PastEnd {
        /// The part.
        block: AnmBlock,
        /// The byte at which it starts.
        begin: usize,
        /// The length that it would have.
        block_bytes: u128,
        /// Length of the file.
        bytes: usize,
    },
    /// Two blocks that overlap.
    Overlap {
        /// The part that starts first.
        first: AnmBlock,
        /// The part that starts inside the first one.
        second: AnmBlock,
    },
    /// A key with channel code 3, which is invalid.
    BadChannel {
        /// Index of the key.
        key: usize,
    },
    /// A key whose joint does not exist.
    KeyOfNoJoint {
        /// Index of the key.
        key: usize,
        /// Its joint.
        joint: u16,
    },
    /// A key whose time is before that of the previous key of its track.
    TimeDecreases {
        /// Index of the key.
        key: usize,
    },
    /// A file too long for its offsets.
    TooLarge {
        /// The length that the file would have.
        bytes: u128,
    },
    /// More jump caches than there are key times.
    TooManyCaches {
        /// The number of caches requested.
        count: u32,
    },
    /// A file of exactly 65,536 keys uses every 16-bit index for a key. No index is available for
    /// tracks that have fewer than four keys.
    NoIndexLeft,
    /// A track without keys.
    EmptyTrack {
        /// Its index.
        track: usize,
    },
    /// A track whose joint does not exist.
    TrackOfNoJoint {
        /// Its index.
        track: usize,
        /// Its joint.
        joint: u16,
    },
    /// A second track for the same channel of a joint.
    TrackTwice {
        /// Its index.
        track: usize,
    },
    /// A track of several keys whose times do not increase from 0 to 65535.
    BadTrackTimes {
        /// Its index.
        track: usize,
    },
    /// The skeleton is not the clip's.
    OtherSkeleton,
    /// A clip whose splines have a parametrization that files do not support.
    BadParametrization {
        /// The clip's parametrization.
        parametrization: Parametrization,
    },
    /// A clip with more rows of samples than a file has key times.
    TooManyRows {
        /// Number of rows.
        samples: usize,
    },
    /// Two joints of a skeleton whose names have the same hash.
    SameHash {
        /// Their indices.
        joints: [usize; 2],
        /// Their names.
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
