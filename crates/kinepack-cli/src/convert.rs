//! `kinepack convert`: challenge files to captures and back.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;

use clap::Args;
use kinepack_capture::{Capture, Challenge, Recorder, capture_to_challenge, challenge_to_capture};

use crate::captured::CaptureArguments;
use crate::failure::Failure;

/// Make a capture of a challenge file, or a challenge file of a capture of cubes; bit for bit, both ways.
#[derive(Args)]
pub(crate) struct Arguments {
    /// A .bin or .f32 of the data compression challenge, or one of them as .zst; or a .mcap that was made of one.
    from: PathBuf,
    /// Where to put the other: .mcap; or .bin or .f32, as the capture holds lanes or floats.
    to: PathBuf,
    #[command(flatten)]
    capture: CaptureArguments,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { from, to, capture } = arguments;
    let limits = capture.limits();
    let failed = |error| Failure::Convert { path: from.clone(), error };
    let frames = if to.extension().is_some_and(|ending| ending == "mcap") {
        let mut challenge = Challenge::open(from)?.with_limits(limits);
        let mut recorder = Recorder::create(to)?;
        let converted = challenge_to_capture(&mut challenge, &mut recorder).map_err(failed)?;
        recorder.finish()?;
        converted.frames
    } else {
        let mut capture = Capture::open(from)?.with_limits(limits);
        let lanes = to.extension().is_some_and(|ending| ending == "bin");
        if !lanes && to.extension().is_none_or(|ending| ending != "f32") {
            return Err(Failure::ConvertTo { path: to.clone() });
        }
        let file = File::create(to).map_err(|error| Failure::ReportFile { path: to.clone(), error })?;
        let mut out = BufWriter::new(file);
        let converted = capture_to_challenge(&mut capture, &mut out).map_err(failed)?;
        if converted.is_quantized != lanes {
            return Err(Failure::ConvertTo { path: to.clone() });
        }
        converted.frames
    };
    eprintln!("{}: {frames} frames", to.display());
    Ok(())
}
