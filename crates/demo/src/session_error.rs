//! Why a session cannot begin or go on.

use std::io;

use command_kit::{Failure, LinkOptionsError};
use kinepack_net::{LinkError, NetError, StreamError};

use crate::world::WorldError;

/// Why a session cannot begin, cannot continue, or did not deliver what it should.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error(transparent)]
    World(#[from] WorldError),
    #[error(transparent)]
    Net(#[from] NetError),
    #[error(transparent)]
    Stream(#[from] StreamError),
    #[error(transparent)]
    Link(#[from] LinkOptionsError),
    /// The schema does not hold a state of the built-in world.
    #[error("object {object} of the built-in world: {reason}")]
    OutOfRange { object: u32, reason: String },
    /// The sockets on this machine failed.
    #[error("UDP on this machine: {0}")]
    Loopback(io::Error),
    /// A defect of this program.
    #[error("{wrong_lanes} lanes did not arrive as they were sent: please report this")]
    Drifted { wrong_lanes: u64 },
    /// A defect of this program.
    #[error("the keys of {records} ticks did not arrive as they were sent: please report this")]
    WrongKeys { records: u64 },
}

impl Failure for SessionError {
    fn exit_code(&self) -> u8 {
        match self {
            Self::OutOfRange { .. } | Self::Drifted { .. } | Self::WrongKeys { .. } => 1,
            _ => 2,
        }
    }
}

impl From<LinkError> for SessionError {
    fn from(error: LinkError) -> Self {
        Self::Link(error.into())
    }
}
