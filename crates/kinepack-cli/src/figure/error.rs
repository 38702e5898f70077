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
use kinepack_anim::import::ImportError;
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
    #[error(
        "{given}: not an address: write HOST:PORT, or PORT for this machine; ports are 0 to 65535"
    )]
    BadAddress { given: String },
    #[error("{given}: no machine of this name was found: {reason}")]
    Unresolved { given: String, reason: String },
    #[error(
        "no port for UDP at {address}: {error}; if another `kinepack figure watch` runs, choose \
         another port"
    )]
    Bind { address: SocketAddr, error: io::Error },
    #[error("the network failed: {error}")]
    Network { error: io::Error },
    #[error("{error}{}", advice(error))]
    Body { error: VmcBodyError },
    #[error("no body arrived at {address} within {} s{seen}", patience.as_secs())]
    NoTracker { address: SocketAddr, patience: Duration, seen: String },
    #[error("{to} did not answer within {} s: {why}", patience.as_secs())]
    NoAnswer { to: SocketAddr, patience: Duration, why: String },
    #[error("{to} is busy: for {} s, it has shown the body of another sender", patience.as_secs())]
    Busy { to: SocketAddr, patience: Duration },
    #[error("{to} stopped answering {:.0} s ago", silence.as_secs_f64())]
    Silent { to: SocketAddr, silence: Duration },
    #[error("{to} refused the body: its terminal and its page say why")]
    Refused { to: SocketAddr },
    #[error("{error}{}", figure_advice(error))]
    Figure { error: FigureError },
    #[error("the body cannot be sent: {0}")]
    Setup(#[from] SetupError),
    #[error("the body cannot be sent: {0}")]
    Net(#[from] NetError),
    #[error("the body's description takes {bytes} bytes, and at most {most} can be sent")]
    TooLarge { bytes: usize, most: usize },
    #[error("the body has {count} {what}, and at most {most} can be sent")]
    TooMany { what: &'static str, count: usize, most: usize },
    #[error("{}: the file has more than {} MiB", path.display(), most >> 20)]
    LargeFile { path: PathBuf, most: u64 },
    #[error("{error}; shorten the clip, or make a file with fewer joints")]
    LargeClip { error: Box<ImportError> },
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    #[error(transparent)]
    Page(#[from] PageError),
    #[error(transparent)]
    Output(#[from] OutputError),
}

impl From<AnimError> for FigureFailure {
    fn from(error: AnimError) -> Self {
        match error {
            // The advice of other commands names an option that these do not have.
            AnimError::Import {
                error:
                    error @ (ImportError::TooMuchMemory { .. }
                    | ImportError::TooManyTransforms { .. }
                    | ImportError::TooManyBytes { .. }),
            } => Self::LargeClip { error: Box::new(error) },
            error => Self::File(Box::new(error)),
        }
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
            | Self::Busy { .. }
            | Self::Refused { .. }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clip_beyond_a_limit_names_no_option_of_other_commands() {
        let large = || ImportError::TooManyBytes { file: "a.bvh".into(), limit_bytes: 9 };
        let other = AnimError::from(large());
        assert!(other.to_string().contains("--max-memory"), "{other}");
        let own = FigureFailure::from(AnimError::from(large()));
        assert_eq!(
            own.to_string(),
            "a.bvh: larger than the limit of 9 bytes; shorten the clip, or make a file with fewer \
             joints"
        );
        assert_eq!(own.exit_code(), 2);
    }
}
