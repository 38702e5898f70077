//! Why a capture cannot be read.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a capture cannot be read, with the file and the place.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// The file cannot be opened or read, or its compression is damaged.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file is not a capture: it does not begin like an MCAP file.
    #[error("{}: not a capture file: it does not begin like an MCAP file", path.display())]
    NotMcap {
        /// The file.
        path: PathBuf,
    },
    /// The file has more values than a file of its size may hold.
    #[error("{}: {values} values up to here; the limit for their bytes is {limit}", path.display())]
    TooManyValues {
        /// The file.
        path: PathBuf,
        /// Values up to and including the frame that exceeds the limit.
        values: u64,
        /// The limit for the bytes of the file up to that frame:
        /// [`CaptureLimits`](crate::CaptureLimits).
        limit: u64,
    },
    /// A state of a capture file cannot be quantized, or a snapshot cannot hold it.
    #[error("{}: stream {stream:?}, tick {tick}, entity {entity}: {reason}", path.display())]
    BadState {
        /// The file.
        path: PathBuf,
        /// The stream's name.
        stream: String,
        /// The tick.
        tick: u32,
        /// The entity's id.
        entity: u32,
        /// What is wrong with the entity.
        reason: String,
    },
}
