//! The reasons why a clip database cannot be read, or refuses a clip.

use std::fmt;

use crate::{ClipError, FileKind, SkeletonFileError};

/// The reason why bytes are not a valid clip database, or why a database cannot return or accept a
/// clip.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum DatabaseError {
    /// The bytes do not begin with `KPDB`, nor with the magic of another known file.
    NoDatabase,
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
    EndOfData {
        /// The part of the file that is cut off.
        part: &'static str,
    },
    /// There are more bytes than the clips in the index account for.
    TrailingData {
        /// Number of extra bytes.
        bytes: u64,
    },
    /// Reserved bytes of the header are not 0.
    BadHeader,
    /// The hash does not match the bytes from the header to the index.
    BadHash,
    /// The skeleton is not valid.
    Skeleton(SkeletonFileError),
    /// The rig is not valid.
    Rig(ClipError),
    /// The rig was built for another skeleton.
    OtherRig,
    /// An entry of the index is invalid.
    BadEntry {
        /// Number of the entry.
        entry: usize,
        /// The reason why the entry is invalid.
        reason: &'static str,
    },
    /// There is no clip of this name.
    NoSuchClip {
        /// The name that was requested.
        name: String,
    },
    /// A clip is not valid, or is not a block clip.
    Clip {
        /// Name of the clip.
        name: String,
        /// The reason why the clip is refused.
        error: ClipError,
    },
    /// A clip was built for another skeleton.
    OtherSkeleton {
        /// Name of the clip.
        name: String,
        /// The [hash](crate::Skeleton::hash) of the clip's skeleton.
        clip: u64,
        /// The hash of the database's skeleton.
        skeleton: u64,
    },
    /// A clip differs from its entry in the index.
    OtherClip {
        /// Name of the clip.
        name: String,
    },
    /// Another clip of the database has this name.
    SameName {
        /// The name that both clips have.
        name: String,
    },
    /// A name is longer than [`MAX_NAME_BYTES`](crate::MAX_NAME_BYTES), or all names together
    /// exceed 4 GiB.
    LongName,
}

impl fmt::Display for DatabaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDatabase => write!(f, "not a clip database: it does not begin with KPDB"),
            Self::OtherFile { found } => found.fmt_refused(f),
            Self::Version { version, newest } => {
                write!(f, "version {version} of the format, at most {newest} can be read")
            }
            Self::EndOfData { part } => write!(f, "truncated: it ends within its {part}"),
            Self::TrailingData { bytes } => write!(f, "{bytes} bytes follow its last clip"),
            Self::BadHeader => write!(f, "damaged header"),
            Self::BadHash => write!(f, "damaged: its index does not have the hash that it stores"),
            Self::Skeleton(error) => write!(f, "its skeleton: {error}"),
            Self::Rig(error) => write!(f, "its rig: {error}"),
            Self::OtherRig => write!(f, "the rig is of another skeleton"),
            Self::BadEntry { entry, reason } => write!(f, "damaged: clip {entry}: {reason}"),
            Self::NoSuchClip { name } => write!(f, "no clip is named {name}"),
            Self::Clip { name, error: ClipError::OtherFile { found } } => {
                write!(f, "{name}: this is {found}: a database has block clips")
            }
            Self::Clip { name, error } => write!(f, "{name}: {error}"),
            Self::OtherSkeleton { name, clip, skeleton } => write!(
                f,
                "{name}: the clip is of skeleton {clip:016x}, and the database of \
                 {skeleton:016x}: make a database for each skeleton"
            ),
            Self::OtherClip { name } => write!(f, "damaged: {name} differs from the index"),
            Self::SameName { name } => write!(f, "two clips are named {name}"),
            Self::LongName => write!(
                f,
                "a name has more than 65,535 bytes, or all names together more than 4 GiB"
            ),
        }
    }
}

impl std::error::Error for DatabaseError {}
