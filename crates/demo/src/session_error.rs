//! Why a session cannot begin, cannot continue, or did not deliver what it should.

use std::io;

use command_kit::{Failure, LinkOptionsError};
use kinepack_net::{LinkError, NetError, StreamError};

use crate::world::WorldError;

/// The exit code of a run that a signal ended, as a shell reports SIGINT.
const INTERRUPTED: u8 = 130;

/// See the head of this file.
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
    /// No link loses this share of its datagrams in bursts this short.
    #[error(
        "--burst {burst} is too short for --loss {percent}: bursts must have at least {least:.1} \
         datagrams"
    )]
    ShortBurst { percent: f32, burst: f32, least: f32 },
    /// The schema cannot represent a state of the built-in world.
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
    /// A signal ended the run early. Its report was printed before.
    #[error("interrupted after {done}; the report covers only this part")]
    Interrupted { done: String },
}

impl SessionError {
    /// The run was interrupted after this many ticks.
    pub fn interrupted_at(tick: u32) -> Self {
        let seconds = f64::from(tick) / f64::from(cubes::TICK_HZ);
        Self::Interrupted { done: format!("{seconds:.1} s of virtual time") }
    }
}

impl Failure for SessionError {
    fn exit_code(&self) -> u8 {
        match self {
            Self::OutOfRange { .. } | Self::Drifted { .. } | Self::WrongKeys { .. } => 1,
            Self::Interrupted { .. } => INTERRUPTED,
            _ => 2,
        }
    }
}

impl From<LinkError> for SessionError {
    fn from(error: LinkError) -> Self {
        Self::Link(error.into())
    }
}
