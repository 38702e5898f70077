//! Why a capture cannot be read.

use std::fmt;
use std::io;
use std::path::PathBuf;

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
    /// The name does not have a known format's ending.
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// The header does not match the format.
    BadHeader {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The file has no frame.
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The file ends within a frame: it is truncated, or its length is not a whole number of
    /// frames.
    PartOfFrame {
        /// The file.
        path: PathBuf,
        /// The frame, from 0.
        frame: u32,
        /// The frame's bytes that are present.
        bytes: usize,
        /// Bytes of a frame.
        frame_bytes: usize,
    },
    /// More data than the header announces.
    TooLong {
        /// The file.
        path: PathBuf,
        /// Frames that the header announces.
        frames: u32,
    },
    /// A value out of its range.
    BadValue {
        /// The file.
        path: PathBuf,
        /// The frame, from 0.
        frame: u32,
        /// The object, from 0.
        object: u32,
        /// What is wrong with it.
        reason: String,
    },
    /// Not a capture file: it does not begin like an MCAP file.
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
            Self::UnknownFormat { path } => {
                write!(
                    f,
                    "{}: not a capture: the name must end in .bin, .f32, .bin.zst or .f32.zst, or \
                     in .mcap for commands that read capture files",
                    path.display()
                )
            }
            Self::BadHeader { path, reason } => {
                write!(f, "{}: not a capture: {reason}", path.display())
            }
            Self::Empty { path } => write!(f, "{}: the file holds no frame", path.display()),
            Self::PartOfFrame { path, frame, bytes, frame_bytes } => {
                let path = path.display();
                write!(
                    f,
                    "{path}: frame {frame} has {bytes} of {frame_bytes} bytes: the file is cut \
                     off or of another format"
                )
            }
            Self::TooLong { path, frames } => {
                write!(f, "{}: more data than the {frames} frames of the header", path.display())
            }
            Self::BadValue { path, frame, object, reason } => {
                write!(f, "{}: frame {frame}, object {object}: {reason}", path.display())
            }
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
