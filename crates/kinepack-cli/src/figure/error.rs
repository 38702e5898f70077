//! The reasons why a command on live bodies fails.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use command_kit::interrupt::Interrupted;
use command_kit::page::PageError;
use command_kit::{Failure, OutputError};
use kinepack::SetupError;
use kinepack_anim::figure::{FigureError, UnsentMotion};
use kinepack_anim::live::{FaceError, VmcBodyError};
use kinepack_net::NetError;

use crate::anim::AnimError;

/// The reason why a command on live bodies fails.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FigureFailure {
    /// A clip or the file of a skeleton cannot be read.
    #[error(transparent)]
    File(Box<AnimError>),
    /// The source is neither a known file nor a tracker.
    #[error("{error}; or the source must be vmc://PORT, for a tracker")]
    Source { error: Box<AnimError> },
    #[error("{}: {error}", path.display())]
    Face { path: PathBuf, error: FaceError },
    #[error("{}: it has {clips} clips: name one of them with --clip: {}", path.display(), names.join(", "))]
    SeveralClips { path: PathBuf, clips: usize, names: Vec<String> },
    #[error("{}: it has no clip {}", path.display(), name.as_deref().unwrap_or("at all"))]
    NoClip { path: PathBuf, name: Option<String> },
    #[error("{}: it has no joints", path.display())]
    NoJoints { path: PathBuf },
    /// An option does not fit the source.
    #[error("{option} is for {only}")]
    OtherSource { option: &'static str, only: &'static str },
    #[error("{given}: not an address: write HOST:PORT, or PORT for this machine")]
    BadAddress { given: String },
    #[error("no port for UDP at {address}: {error}")]
    Bind { address: SocketAddr, error: io::Error },
    #[error("the network failed: {error}")]
    Network { error: io::Error },
    #[error("{error}{}", advice(error))]
    Body { error: VmcBodyError },
    #[error("no body arrived at {address} within {} s{seen}", patience.as_secs())]
    NoTracker { address: SocketAddr, patience: Duration, seen: String },
    #[error(
        "{to} did not answer within {} s: start `kinepack figure watch` there first",
        patience.as_secs()
    )]
    NoAnswer { to: SocketAddr, patience: Duration },
    #[error("{to} stopped answering {} s ago", patience.as_secs())]
    Silent { to: SocketAddr, patience: Duration },
    #[error("{error}{}", figure_advice(error))]
    Figure { error: FigureError },
    #[error("the body cannot be sent: {0}")]
    Setup(#[from] SetupError),
    #[error("the body cannot be sent: {0}")]
    Net(#[from] NetError),
    #[error("the body's description takes {bytes} bytes, and at most {most} can be sent")]
    TooLarge { bytes: usize, most: usize },
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    #[error(transparent)]
    Page(#[from] PageError),
    #[error(transparent)]
    Output(#[from] OutputError),
}

impl From<AnimError> for FigureFailure {
    fn from(error: AnimError) -> Self {
        Self::File(Box::new(error))
    }
}

impl From<FigureError> for FigureFailure {
    fn from(error: FigureError) -> Self {
        Self::Figure { error }
    }
}

impl From<VmcBodyError> for FigureFailure {
    fn from(error: VmcBodyError) -> Self {
        Self::Body { error }
    }
}

impl Failure for FigureFailure {
    fn exit_code(&self) -> u8 {
        match self {
            Self::Page(error) => error.exit_code(),
            Self::Output(error) => error.exit_code(),
            Self::File(error) | Self::Source { error } => error.exit_code(),
            Self::Interrupted(error) => error.exit_code(),
            Self::Network { .. }
            | Self::NoTracker { .. }
            | Self::NoAnswer { .. }
            | Self::Silent { .. } => 1,
            _ => 2,
        }
    }
}

fn advice(error: &VmcBodyError) -> &'static str {
    match error {
        VmcBodyError::NoPositions => ": give its model with --skeleton model.vrm",
        VmcBodyError::BonesNotSent { .. } => {
            ": let it send the whole body, or give its model with --skeleton model.vrm"
        }
        VmcBodyError::JointsMissing { .. } => ": give the model that the sender shows",
        _ => "",
    }
}

fn figure_advice(error: &FigureError) -> &'static str {
    match error {
        FigureError::TooFine { .. } => ": raise --precision",
        FigureError::Unsent { motion: UnsentMotion::Scales, .. } => {
            "; export the clip without scales, or with one scale for all of its frames"
        }
        FigureError::Unsent { .. } => {
            "; raise --precision, or give the sender's model with --skeleton"
        }
        _ => "",
    }
}
