//! Why a stream cannot be analyzed.

use std::error::Error;
use std::fmt;

use kinepack::training::TrainError;
use kinepack::{EncodeError, SetupError};

/// Why a stream cannot be analyzed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AnalysisError {
    /// The profile does not fit the schema.
    Setup(SetupError),
    /// A frame that does not fit the schema, or whose ids do not increase.
    Frame {
        /// Its tick.
        tick: u32,
        /// What is wrong with it.
        error: EncodeError,
    },
    /// A frame so large that the kept frames would take more than [`AnalysisOptions::max_bytes`](super::AnalysisOptions::max_bytes).
    TooLarge {
        /// Its tick.
        tick: u32,
        /// The bytes that they would take.
        needed_bytes: u64,
        /// The limit.
        limit_bytes: u64,
    },
}

impl fmt::Display for AnalysisError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setup(error) => error.fmt(f),
            Self::Frame { tick, error } => write!(f, "the frame of tick {tick}: {error}"),
            Self::TooLarge { tick, needed_bytes, limit_bytes } => write!(
                f,
                "frames as large as that of tick {tick} would take {needed_bytes} bytes for the \
                 comparison; the limit is {limit_bytes}"
            ),
        }
    }
}

impl Error for AnalysisError {}

impl From<TrainError> for AnalysisError {
    /// The error of a tried change.
    fn from(error: TrainError) -> Self {
        match error {
            TrainError::Setup(error) => Self::Setup(error),
            TrainError::Snapshot(error) => Self::Frame { tick: 0, error },
            _ => Self::Setup(SetupError::ProfileMismatch),
        }
    }
}

impl From<SetupError> for AnalysisError {
    fn from(error: SetupError) -> Self {
        Self::Setup(error)
    }
}
