//! The reasons why a stream cannot be analyzed.

use kinepack::training::TrainError;
use kinepack::{EncodeError, SetupError};
use thiserror::Error;

/// The reason why a stream cannot be analyzed.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum AnalysisError {
    /// The profile does not fit the schema.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// A frame does not fit the schema, or its ids do not increase.
    #[error("the frame of tick {tick}: {error}")]
    Frame {
        /// The frame's tick.
        tick: u32,
        /// What is wrong with the frame.
        error: EncodeError,
    },
    /// A frame is so large that the kept frames would take more than
    /// [`AnalysisOptions::max_bytes`](super::AnalysisOptions::max_bytes).
    #[error(
        "frames as large as that of tick {tick} would take {needed_bytes} bytes for the comparison; \
         the limit is {limit_bytes}"
    )]
    TooLarge {
        /// The frame's tick.
        tick: u32,
        /// The number of bytes that the kept frames would take.
        needed_bytes: u64,
        /// The limit, in bytes.
        limit_bytes: u64,
    },
}

impl From<TrainError> for AnalysisError {
    /// Converts the error of a tried change.
    fn from(error: TrainError) -> Self {
        match error {
            TrainError::Setup(error) => Self::Setup(error),
            TrainError::Snapshot(error) => Self::Frame { tick: 0, error },
            _ => Self::Setup(SetupError::ProfileMismatch),
        }
    }
}
