//! Why a capture cannot be read.

use std::path::PathBuf;
use std::{fmt, io};

/// Why a capture cannot be read, with the file and the place.
#[derive(Debug)]
#[non_exhaustive]
pub enum CaptureError {
    /// The file cannot be opened or read, or its compression is damaged.
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Not a capture file: it does not begin as MCAP does.
    NotMcap {
        /// The file.
        path: PathBuf,
    },
    /// More values than a file of its size may hold.
    TooManyValues {
        /// The file.
        path: PathBuf,
        /// Values up to and including the frame that exceeds the limit.
        values: u64,
        /// The limit for the bytes of the file up to that frame:
        /// [`CaptureLimits`](crate::CaptureLimits).
        limit: u64,
    },
    /// A state of a capture file that cannot be quantized, or a snapshot that cannot take it.
    BadState {
        /// The file.
        path: PathBuf,
        /// The stream's name.
        stream: String,
        /// The tick.
        tick: u32,
        /// The entity's id.
        entity: u32,
        /// What is wrong with it.
        reason: String,
    },
}

impl fmt::Display for CaptureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, source } => write!(f, "{}: {source}", path.display()),
            Self::NotMcap { path } => {
                write!(
                    f,
                    "{}: not a capture file: it does not begin like an MCAP file",
                    path.display()
                )
            }
            Self::TooManyValues { path, values, limit } => write!(
                f,
                "{}: {values} values up to here; the limit for their bytes is {limit}",
                path.display()
            ),
            Self::BadState { path, stream, tick, entity, reason } => {
                write!(
                    f,
                    "{}: stream {stream:?}, tick {tick}, entity {entity}: {reason}",
                    path.display()
                )
            }
        }
    }
}

impl std::error::Error for CaptureError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        if let Self::Io { source, .. } = self { Some(source) } else { None }
    }
}
