//! The reasons why a capture cannot be read.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// The reason why a capture cannot be read, with the file and the place.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// The file cannot be opened or read, or its compression is damaged.
    #[error("{}: {source}", path.display())]
    Io {
        /// The path of the file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file is not a capture: it does not begin like an MCAP file.
    #[error("{}: not a capture file: it does not begin like an MCAP file", path.display())]
    NotMcap {
        /// The path of the file.
        path: PathBuf,
    },
    /// The file has more values than a file of its size may hold.
    #[error("{}: {values} values up to here; the limit for their bytes is {limit}", path.display())]
    TooManyValues {
        /// The path of the file.
        path: PathBuf,
        /// The number of values up to and including the frame that exceeds the limit.
        values: u64,
        /// The limit for the bytes of the file up to that frame, which
        /// [`CaptureLimits`](crate::CaptureLimits) determine.
        limit: u64,
    },
    /// A state of a capture file cannot be quantized, or a snapshot cannot hold it.
    #[error("{}: stream {stream:?}, tick {tick}, entity {entity}: {reason}", path.display())]
    BadState {
        /// The path of the file.
        path: PathBuf,
        /// The name of the stream.
        stream: String,
        /// The tick of the state.
        tick: u32,
        /// The entity's id.
        entity: u32,
        /// What is wrong with the entity.
        reason: String,
    },
}
