//! `kinepack convert`: from challenge files to captures and back.

use std::ffi::OsStr;
use std::io::BufWriter;
use std::path::PathBuf;

use clap::Args;
use command_kit::output::{Force, Problem};
use command_kit::{Failure, OutputError, counted, say};
use cube_data::{
    Challenge, ChallengeError, ConvertError, capture_to_challenge, challenge_to_capture, is_capture,
};
use kinepack_capture::{Capture, CaptureError, RecordError, Recorder};

use crate::captured::{CaptureArguments, CapturedError};

/// Convert a challenge file to a capture, or a capture of cubes to a challenge file.
///
/// Both ways keep every bit. Other commands read both formats, so this is needed only for other
/// tools. Challenge files are those of the 2015 networked physics data compression challenge.
#[derive(Args)]
pub(crate) struct Arguments {
    /// A challenge file (.bin or .f32, plain or as .zst), or a capture (.mcap) that was made from
    /// one.
    from: PathBuf,
    /// The file to write. The name of a capture must end in .mcap. That of a challenge file must
    /// end in .bin if the capture holds lanes, and in .f32 if it holds floats.
    to: PathBuf,
    #[command(flatten)]
    capture: CaptureArguments,
    #[command(flatten)]
    force: Force,
}

/// Why a file cannot be converted.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConversionError {
    #[error(transparent)]
    Captured(#[from] CapturedError),
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error("{}: {error}", path.display())]
    Convert { path: PathBuf, error: ConvertError },
    #[error("{}: this is {kind}; give the other file a name that ends in {endings}", path.display())]
    Same { path: PathBuf, kind: &'static str, endings: &'static str },
    #[error(
        "{}: the name must end in .mcap, or in .bin if the capture holds lanes, or in .f32 if it \
         holds floats",
        path.display()
    )]
    Name { path: PathBuf },
}

impl Failure for ConversionError {
    fn exit_code(&self) -> u8 {
        match self {
            Self::Output(error) => error.exit_code(),
            _ => 2,
        }
    }
}

impl From<ChallengeError> for ConversionError {
    fn from(error: ChallengeError) -> Self {
        Self::Captured(error.into())
    }
}

impl From<CaptureError> for ConversionError {
    fn from(error: CaptureError) -> Self {
        Self::Captured(error.into())
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), ConversionError> {
    let Arguments { from, to, capture, force } = arguments;
    let limits = capture.limits();
    let failed = |error| match error {
        ConvertError::Write(error) => {
            OutputError::File { path: to.clone(), problem: Problem::System(error) }.into()
        }
        ConvertError::Read(error @ CaptureError::TooManyValues { .. }) => error.into(),
        ConvertError::Challenge(error @ ChallengeError::TooManyValues { .. }) => error.into(),
        error => ConversionError::Convert { path: from.clone(), error },
    };
    let ending = to.extension().and_then(OsStr::to_str);
    if !matches!(ending, Some("mcap" | "bin" | "f32")) {
        return Err(ConversionError::Name { path: to.clone() });
    }
    let path = || from.clone();
    match (is_capture(from), ending) {
        (true, Some("mcap")) => {
            let (kind, endings) = ("a capture already", ".bin or .f32");
            return Err(ConversionError::Same { path: path(), kind, endings });
        }
        (false, Some("bin" | "f32")) if from.exists() => {
            let (kind, endings) = ("not a capture", ".mcap");
            return Err(ConversionError::Same { path: path(), kind, endings });
        }
        _ => {}
    }
    let target = force.target(to)?;
    let (frames, output) = if ending == Some("mcap") {
        let mut challenge = Challenge::open(from)?.with_limits(limits);
        let output = target.create()?;
        let mut recorder = Recorder::to_writer(to, output.file()?)?;
        let converted = challenge_to_capture(&mut challenge, &mut recorder).map_err(failed)?;
        recorder.finish()?;
        (converted.frames, output)
    } else {
        let mut capture = Capture::open(from)?.with_limits(limits);
        let mut out = BufWriter::new(target.create()?);
        let converted = capture_to_challenge(&mut capture, &mut out).map_err(failed)?;
        if converted.is_quantized != (ending == Some("bin")) {
            return Err(ConversionError::Name { path: to.clone() });
        }
        let output =
            out.into_inner().map_err(|error| failed(ConvertError::Write(error.into_error())))?;
        (converted.frames, output)
    };
    output.commit()?;
    say(format_args!("{}: {}", to.display(), counted(frames, "frame")));
    Ok(())
}
