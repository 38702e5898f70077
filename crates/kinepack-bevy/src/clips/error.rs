//! Why a clip or a skeleton cannot be loaded. Bevy's log prints the asset's path before the reason.

use std::{fmt, io};

use kinepack_anim::{ClipError, PlayError, SkeletonFileError};

/// Why a clip or a skeleton cannot be loaded.
#[derive(Debug)]
#[non_exhaustive]
pub enum ClipFileError {
    /// The asset's file cannot be read.
    Read(io::Error),
    /// The clip is damaged, or is another file.
    Clip(ClipError),
    /// The clip's skeleton or rig is not in its folder.
    Missing {
        /// `skeleton` or `rig`.
        what: &'static str,
        /// The extension of the missing file's name.
        extension: &'static str,
        /// The hash that the clip stores.
        hash: u64,
        /// The clip's folder.
        folder: String,
    },
    /// A path in the [`ClipSettings`](super::ClipSettings) is not valid.
    Path {
        /// The path.
        path: String,
        /// Bevy's reason.
        reason: String,
    },
    /// The file that the [`ClipSettings`](super::ClipSettings) name cannot be read.
    Companion {
        /// The file's path.
        path: String,
        /// Bevy's reason.
        reason: String,
    },
    /// The skeleton is damaged, or is another file.
    Skeleton {
        /// The file's path.
        path: String,
        /// The reason.
        error: SkeletonFileError,
    },
    /// The rig is damaged, or is another file.
    Rig {
        /// The file's path.
        path: String,
        /// The reason.
        error: ClipError,
    },
    /// The skeleton is not the one that the clip was built for.
    Play(PlayError),
}

impl fmt::Display for ClipFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => write!(f, "the file cannot be read: {error}"),
            Self::Clip(ClipError::Rig { hash }) => write!(
                f,
                "it needs the rig with the hash {hash:016x}, and the file that was read as its rig \
                 is another one: copy the clip's .kpr file, or name it in ClipSettings::rig"
            ),
            Self::Clip(error) => error.fmt(f),
            Self::Missing { what, extension, hash, folder } => write!(
                f,
                "it needs its {what}, and no file *{hash:016x}.{extension} is in the folder \
                 '{folder}': copy it there, or name it in ClipSettings::{what}"
            ),
            Self::Path { path, reason } => write!(
                f,
                "'{path}' in its ClipSettings is no path of an asset: {reason}; write it from the \
                 clip's folder, with / between names"
            ),
            Self::Companion { path, reason } => write!(
                f,
                "its ClipSettings name the file '{path}', which cannot be read: {reason}; paths \
                 are from the clip's folder"
            ),
            Self::Skeleton { path, error } => write!(f, "the skeleton '{path}': {error}"),
            Self::Rig { path, error } => write!(f, "the rig '{path}': {error}"),
            Self::Play(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ClipFileError {}
