//! The reasons why a challenge file cannot be read.

use std::path::PathBuf;
use std::{fmt, io};

/// The reason why a challenge file cannot be read. Each variant names the file, and the place in
/// it.
#[derive(Debug)]
#[non_exhaustive]
pub enum ChallengeError {
    /// The file cannot be opened or read, or its compression is damaged.
    Io {
        /// Path of the file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file does not begin as a `.f32` file, and its name does not end in `.bin` or `.bin.zst`.
    UnknownFormat {
        /// Path of the file.
        path: PathBuf,
    },
    /// The header is not valid.
    BadHeader {
        /// Path of the file.
        path: PathBuf,
        /// The fault of the header.
        reason: &'static str,
    },
    /// The file has no frame.
    Empty {
        /// Path of the file.
        path: PathBuf,
    },
    /// The file ends within a frame, because it is cut off or of another format.
    PartOfFrame {
        /// Path of the file.
        path: PathBuf,
        /// Number of the frame, counted from 0.
        frame: u32,
        /// The number of bytes of this frame in the file.
        bytes: usize,
        /// The size of a whole frame in bytes.
        frame_bytes: usize,
    },
    /// The file has more frames than its header announces.
    TooLong {
        /// Path of the file.
        path: PathBuf,
        /// The number of frames that the header states.
        frames: u32,
    },
    /// A value is out of its range.
    BadValue {
        /// Path of the file.
        path: PathBuf,
        /// Number of the frame, counted from 0.
        frame: u32,
        /// Number of the entity, counted from 0.
        object: u32,
        /// The fault of the value.
        reason: String,
    },
    /// The file has more values than a file of its size may have.
    TooManyValues {
        /// Path of the file.
        path: PathBuf,
        /// The number of values up to the first frame above the limit.
        values: u64,
        /// The limit for the number of file bytes up to that frame: see
        /// [`CaptureLimits`](kinepack_capture::CaptureLimits).
        limit: u64,
    },
}

impl fmt::Display for ChallengeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, source } => write!(f, "{}: {source}", path.display()),
            Self::UnknownFormat { path } => write!(
                f,
                "{}: neither a capture (.mcap) nor a .f32 file by its first bytes; the name of any \
                 other file must end in .bin or .bin.zst",
                path.display()
            ),
            Self::BadHeader { path, reason } => {
                write!(f, "{}: not a capture: {reason}", path.display())
            }
            Self::Empty { path } => write!(f, "{}: the file holds no frame", path.display()),
            Self::PartOfFrame { path, frame, bytes, frame_bytes } => write!(
                f,
                "{}: frame {frame} has {bytes} of {frame_bytes} bytes: the file is cut off or of \
                 another format",
                path.display()
            ),
            Self::TooLong { path, frames } => {
                write!(f, "{}: more data than the {frames} frames of the header", path.display())
            }
            Self::BadValue { path, frame, object, reason } => {
                write!(f, "{}: frame {frame}, entity {object}: {reason}", path.display())
            }
            Self::TooManyValues { path, values, limit } => write!(
                f,
                "{}: {values} values up to here; the limit for their bytes is {limit}",
                path.display()
            ),
        }
    }
}

impl std::error::Error for ChallengeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        if let Self::Io { source, .. } = self { Some(source) } else { None }
    }
}
