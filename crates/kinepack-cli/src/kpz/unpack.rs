//! `kinepack unpack`: writes a replay as a capture, a challenge file, a table or transforms.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use command_kit::output::{Force, Output};
use command_kit::{counted, progress, say};
use cube_data::{BinFrames, ConvertError};
use kinepack::schema::EntityKind;
use kinepack_capture::{CaptureLimits, Recorder};
use kinepack_replay::ReplayReader;

use super::{KpzError, open, read_error, transforms, write_error};
use crate::captured::{Captured, Ending};
use crate::convert::write_csv;
use crate::format::Format;

/// Unpack a replay to the format that the extension of the output selects.
///
/// .mcap is a capture with the quantized states, for all other commands. .bin is a challenge file,
/// the same as the one that was packed. .csv is a table of the numbers, one row for each entity and
/// frame.
#[derive(Args)]
pub struct Arguments {
    /// The replay.
    file: PathBuf,
    /// The file to write: .mcap, .bin or .csv.
    out: PathBuf,
    /// Write only the entities of this kind, given by name. For .csv.
    #[arg(long)]
    kind: Option<String>,
    /// Write an MCAP of Foxglove's frame transforms instead of a capture, with the position and
    /// rotation of each entity, for tools that show such files. For .mcap.
    #[arg(long)]
    transforms: bool,
    #[command(flatten)]
    force: Force,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), KpzError> {
    let Arguments { file, out, kind, transforms, force } = arguments;
    let cannot = |reason: &str| KpzError::CannotUnpack { path: out.clone(), reason: reason.into() };
    let format = match (Format::of_name(out), kind.is_some(), *transforms) {
        (Some(format @ Format::Table), _, false)
        | (Some(format @ Format::Quantized), false, false)
        | (Some(format @ Format::Capture), false, _) => format,
        (Some(Format::Table | Format::Quantized), _, true) => {
            return Err(cannot("--transforms needs a name that ends in .mcap"));
        }
        (Some(Format::Quantized | Format::Capture), true, _) => {
            return Err(cannot("--kind needs a name that ends in .csv"));
        }
        _ => return Err(cannot("the name must end in .mcap, .bin or .csv")),
    };
    let target = force.reading([file]).target(out)?;
    let mut replay = open(file)?;
    let output = target.create()?;
    let (frames, read) = if format == Format::Table {
        unpack_csv(file, out, kind.as_deref(), &output)?
    } else {
        let frames = match format {
            Format::Quantized => unpack_bin(file, out, &mut replay, &output)?,
            _ if *transforms => transforms::write(file, out, &mut replay, &output)?,
            _ => unpack_capture(file, out, &mut replay, &output)?,
        };
        (frames, Ending::of_places(file, replay.damage(), (0, None), frames)?)
    };
    output.commit()?;
    say(format_args!("{}: {}", out.display(), counted(frames, "frame")));
    Ok(read.result()?)
}

/// Calls `take` with each frame, and shows the progress. Returns the number of frames.
pub(super) fn for_each(
    file: &Path,
    replay: &mut ReplayReader,
    mut take: impl FnMut(&kinepack::Snapshot) -> Result<(), KpzError>,
) -> Result<u64, KpzError> {
    let failed = |error| read_error(file, error);
    let ticks = replay.ticks().map_err(failed)?;
    let bar = progress(ticks.map(|(first, last)| u64::from(last.0 - first.0) + 1));
    let (mut frames, mut next) = (0, replay.first_frame().map_err(failed)?);
    while let Some(frame) = next {
        take(&frame)?;
        frames += 1;
        bar.inc(1);
        next = replay.frame_after(frame.tick).map_err(failed)?;
    }
    bar.finish_and_clear();
    replay.check_end().map_err(failed)?;
    Ok(frames)
}

fn unpack_capture(
    file: &Path,
    out: &Path,
    replay: &mut ReplayReader,
    output: &Output,
) -> Result<u64, KpzError> {
    let mut recorder = Recorder::to_writer(out, output.file()?)?;
    let (name, rate_hz) = (replay.name().to_owned(), replay.rate_hz());
    let stream = recorder.stream_of_lanes(&name, replay.schema(), rate_hz)?;
    let frames = for_each(file, replay, |frame| Ok(recorder.record_snapshot(&stream, frame)?))?;
    recorder.finish()?;
    Ok(frames)
}

fn unpack_bin(
    file: &Path,
    out: &Path,
    replay: &mut ReplayReader,
    output: &Output,
) -> Result<u64, KpzError> {
    let failed = |error: ConvertError| KpzError::Convert { path: file.to_owned(), error };
    let mut writer = BufWriter::new(output.file()?);
    let (mut bin, mut bytes, rate_hz) = (BinFrames::default(), Vec::new(), replay.rate_hz());
    let frames = for_each(file, replay, |frame| {
        bytes.clear();
        bin.write(frame, rate_hz, &mut bytes).map_err(failed)?;
        writer.write_all(&bytes).map_err(|error| write_error(out, error))
    })?;
    writer.flush().map_err(|error| write_error(out, error))?;
    Ok(frames)
}

fn unpack_csv(
    file: &Path,
    out: &Path,
    kind: Option<&str>,
    output: &Output,
) -> Result<(u64, Ending), KpzError> {
    let mut captured = Captured::open(file, CaptureLimits::default())?;
    let kinds = captured.streams()[0].schema.kinds();
    let number = |name: &str| {
        let names: Vec<&str> = kinds.iter().map(EntityKind::name).collect();
        names.iter().position(|of| *of == name).ok_or_else(|| KpzError::CannotUnpack {
            path: file.to_owned(),
            reason: match &names[..] {
                [""] => format!("no kind {name:?}: its only kind has no name, so leave out --kind"),
                _ => format!("no kind {name:?}; there are {}", names.join(", ")),
            },
        })
    };
    let kind = kind.map(number).transpose()?;
    let mut writer = BufWriter::new(output.file()?);
    let unwritten = |error| write_error(out, error);
    let frames = write_csv(&mut captured, 0, kind, &mut writer, unwritten)?;
    writer.flush().map_err(unwritten)?;
    Ok((frames, captured.end(None, frames)?))
}
