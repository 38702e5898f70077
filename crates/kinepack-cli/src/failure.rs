//! Why a command failed, and the exit code that says so: 2 for what was given to it, 1 for what it did itself.

use std::fmt;
use std::process::ExitCode;

use cubes::ConfigError;
use kinepack::Level;
use kinepack_capture::CaptureError;

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The capture cannot be read.
    Capture(CaptureError),
    /// The world cannot be built as asked.
    World(ConfigError),
    /// A level of the command line that is none.
    UnknownLevel { name: String },
    /// A level of the command line that measures floats, on a capture that has none.
    NeedsFloats { level: Level },
    /// The capture or run is not longer than the lag.
    TooShort { frames: u32, lag: u32 },
    /// A state of the built-in world that its schema does not hold.
    OutOfRange { object: u32, reason: String },
    /// A frame did not come back as it was: a defect of this program.
    NotVerified { level: Level, frame: u32, reason: String },
    /// The report could not be written.
    Output(std::io::Error),
}

impl Failure {
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::NotVerified { .. } | Self::OutOfRange { .. } | Self::Output(_) => ExitCode::from(1),
            _ => ExitCode::from(2),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Capture(error) => error.fmt(f),
            Self::World(error) => error.fmt(f),
            Self::UnknownLevel { name } => {
                let names: Vec<String> =
                    Level::TABLE.iter().map(|level| format!("{} {}", level.row, level.name)).collect();
                write!(f, "--level {name}: no such level; there are {}", names.join(", "))
            }
            Self::NeedsFloats { level } => {
                write!(
                    f,
                    "level {} ({}) needs floats, which a quantized capture has not; use a .f32 file",
                    level.row, level.name
                )
            }
            Self::TooShort { frames, lag } => {
                write!(f, "{frames} frames are too few for a baseline {lag} frames back; give a shorter --lag")
            }
            Self::OutOfRange { object, reason } => write!(f, "object {object} of the built-in world: {reason}"),
            Self::NotVerified { level, frame, reason } => {
                write!(f, "level {}: frame {frame} did not come back as it was: {reason}", level.name)
            }
            Self::Output(error) => write!(f, "cannot write the report: {error}"),
        }
    }
}

impl From<CaptureError> for Failure {
    fn from(error: CaptureError) -> Self {
        Self::Capture(error)
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::World(error)
    }
}
