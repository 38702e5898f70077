//! The reasons why a broadcast fails.

use std::io;

use command_kit::page::PageError;
use command_kit::{Failure, OutputError};
#[cfg(feature = "broadcast")]
use kinepack_crowd::{CrowdError, moq::MoqError};

use crate::session_error::SessionError;
use crate::world::WorldError;

/// The reason why a world cannot be broadcast, or why a broadcast cannot be watched.
#[derive(Debug, thiserror::Error)]
pub enum BroadcastError {
    #[error(transparent)]
    Session(#[from] SessionError),
    #[cfg(feature = "broadcast")]
    #[error(transparent)]
    Crowd(#[from] CrowdError),
    #[cfg(feature = "broadcast")]
    #[error(transparent)]
    Moq(#[from] MoqError),
    #[error("the threads of the connection cannot be started: {0}")]
    Threads(io::Error),
    #[error(transparent)]
    Page(#[from] PageError),
    #[error("the terminal does not report keys: {0}")]
    Terminal(io::Error),
    #[error(transparent)]
    Output(#[from] OutputError),
    /// This program was built without the feature.
    #[error(
        "this program was built without broadcasts; build it again with `--features broadcast`, as \
         in `cargo run --release --features broadcast -- broadcast`"
    )]
    Absent,
    /// Frames were due, and no relay took any of them.
    #[error(
        "nothing was published to {address}: {reason}; check that a relay listens there and that \
         the token allows this broadcast, and give the hash of a certificate of its own with \
         --relay-certificate"
    )]
    NothingPublished { address: String, reason: String },
    /// The run ended before a world had arrived.
    #[error("nothing was received from {address}: {reason}")]
    NothingReceived { address: String, reason: String },
}

impl Failure for BroadcastError {
    fn exit_code(&self) -> u8 {
        match self {
            Self::Session(error) => error.exit_code(),
            Self::Output(error) => error.exit_code(),
            Self::Page(error) => error.exit_code(),
            Self::NothingPublished { .. }
            | Self::NothingReceived { .. }
            | Self::Terminal(_)
            | Self::Threads(_) => 1,
            Self::Absent => 2,
            #[cfg(feature = "broadcast")]
            Self::Crowd(_) | Self::Moq(_) => 2,
        }
    }
}

impl From<WorldError> for BroadcastError {
    fn from(error: WorldError) -> Self {
        Self::Session(error.into())
    }
}
