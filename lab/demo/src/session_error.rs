//! The reasons why a session cannot begin, cannot continue, or delivered a wrong result.

use std::io;
use std::path::PathBuf;

use command_kit::interrupt::Interrupted;
use command_kit::{Failure, LinkOptionsError, OutputError};
use kinepack_net::{LinkError, NetError, Refused, StreamError};
use kinepack_replay::ReplayError;

use crate::world::WorldError;

/// The reason why a session fails.
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
    /// The schema cannot represent a state of the built-in world.
    #[error("object {object} of the built-in world: {reason}")]
    OutOfRange { object: u32, reason: String },
    /// The sockets on this machine failed.
    #[error("UDP on this machine: {0}")]
    Loopback(io::Error),
    /// The world exceeds a receiver's limits.
    #[error("the receiver refuses the world: {0}")]
    TooLarge(Refused),
    /// Received lanes differ from the sent ones, which is a defect of this program.
    #[error("{wrong_lanes} lanes did not arrive as they were sent: please report this")]
    Drifted { wrong_lanes: u64 },
    /// Received keys differ from the sent ones, which is a defect of this program.
    #[error("the keys of {records} ticks did not arrive as they were sent: please report this")]
    WrongKeys { records: u64 },
    #[error("{}: {error}", path.display())]
    Recording { path: PathBuf, error: ReplayError },
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

impl SessionError {
    /// Returns the error of a run that was interrupted after `tick` ticks.
    pub fn interrupted_at(tick: u32) -> Self {
        let seconds = f64::from(tick) / f64::from(cubes::TICK_HZ);
        Self::interrupted_after(&format!("{seconds:.1} s of virtual time"))
    }

    /// Returns the error of a run that was interrupted after a part of its work, which `done`
    /// describes.
    pub fn interrupted_after(done: &str) -> Self {
        Interrupted::new(format!("after {done}; the report covers only this part")).into()
    }
}

impl Failure for SessionError {
    fn exit_code(&self) -> u8 {
        match self {
            Self::World(error) => error.exit_code(),
            Self::OutOfRange { .. } | Self::Drifted { .. } | Self::WrongKeys { .. } => 1,
            Self::Interrupted(interrupted) => interrupted.exit_code(),
            Self::Output(error) => error.exit_code(),
            _ => 2,
        }
    }
}

impl From<LinkError> for SessionError {
    fn from(error: LinkError) -> Self {
        Self::Link(error.into())
    }
}
