//! `kinepack convert`: challenge files to captures and back.

use std::ffi::OsStr;
use std::io::BufWriter;
use std::path::PathBuf;

use clap::Args;
use kinepack_capture::{
    Capture, Challenge, ConvertError, Recorder, capture_to_challenge, challenge_to_capture,
};

use crate::captured::CaptureArguments;
use crate::failure::Failure;
use crate::output::{Force, Problem};

/// Make a capture of a challenge file, or a challenge file of a capture of cubes; bit for bit, both
/// ways.
#[derive(Args)]
pub(crate) struct Arguments {
    /// A .bin or .f32 of the data compression challenge, or one of them as .zst; or a .mcap that
    /// was made of one.
    from: PathBuf,
    /// Where to put the other: .mcap; or .bin or .f32, as the capture holds lanes or floats.
    to: PathBuf,
    #[command(flatten)]
    capture: CaptureArguments,
    #[command(flatten)]
    force: Force,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { from, to, capture, force } = arguments;
    let limits = capture.limits();
    let failed = |error| match error {
        ConvertError::Write(error) => {
            Failure::Target { path: to.clone(), problem: Problem::System(error) }
        }
        error => Failure::Convert { path: from.clone(), error },
    };
    let ending = to.extension().and_then(OsStr::to_str);
    if !matches!(ending, Some("mcap" | "bin" | "f32")) {
        return Err(Failure::ConvertTo { path: to.clone() });
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
            return Err(Failure::ConvertTo { path: to.clone() });
        }
        let output =
            out.into_inner().map_err(|error| failed(ConvertError::Write(error.into_error())))?;
        (converted.frames, output)
    };
    output.commit()?;
    eprintln!("{}: {frames} frames", to.display());
    Ok(())
}
