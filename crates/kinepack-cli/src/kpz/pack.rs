//! `kinepack pack`: writes a capture or a challenge file as a replay.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use command_kit::cube_precision::Precision;
use command_kit::output::Force;
use command_kit::table::write_json;
use command_kit::{counted, print, progress, say};
use kinepack::{Codec, Level};
use kinepack_replay::{ReplayOptions, ReplaySummary, ReplayWriter};
use serde::Serialize;

use super::KpzError;
use crate::captured::{
    CaptureArguments, Captured, Snapshots, StreamArguments, is_cubes, profile, refuse_once,
};
use crate::ladder::Parameters;
use crate::steps::StepArguments;

/// Make a replay of a capture: quantized, compressed, and playable from any moment.
///
/// The snapshots come back exactly as they are quantized: `unpack` makes the same challenge file
/// again, byte for byte.
#[derive(Args)]
pub struct Arguments {
    /// A capture (.mcap), or a challenge file (.bin or .f32). Each may be compressed as .zst. A
    /// replay is packed again, with its notes and markers and without its events.
    file: PathBuf,
    /// The replay to write: NAME.kpz.
    out: PathBuf,
    #[command(flatten)]
    stream: StreamArguments,
    /// The level, by name or number. "adaptive" takes 5 % more space than "learning", and less time.
    #[arg(long, default_value = "learning")]
    level: String,
    /// The profile: a file that `tune` or `train` wrote, `untrained` or `built-in`. `built-in` is
    /// trained for the cubes of the challenge files; for other data it is untrained. The replay
    /// stores the profile.
    #[arg(long, default_value = "built-in")]
    profile: Parameters,
    #[command(flatten)]
    steps: StepArguments,
    #[command(flatten)]
    precision: Precision,
    /// The length of a group. To show a moment, a reader decodes at most one group. Longer groups
    /// take less space.
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = parse_group)]
    group: Duration,
    /// A note about the replay, such as the name of its map.
    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_note)]
    note: Vec<(String, String)>,
    #[command(flatten)]
    capture: CaptureArguments,
    /// Print one JSON document instead of a sentence.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    force: Force,
}

fn parse_group(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    if (0.0..=3_600.0).contains(&seconds) {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err("give 0 to 3600 seconds".to_owned())
    }
}

fn parse_note(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("give KEY=VALUE, as in map=harbour")?;
    Ok((key.to_owned(), value.to_owned()))
}

/// The report of a packed replay.
#[derive(Serialize)]
struct Report {
    file: String,
    stream: String,
    level: &'static str,
    frames: u64,
    groups: u64,
    bytes: u64,
    bytes_per_frame: f64,
    /// The size of the captured file in bytes.
    captured_bytes: u64,
    /// The time to quantize, encode and write a frame, in microseconds.
    us_per_frame: f64,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), KpzError> {
    let Arguments { file, out, stream, level, steps, precision, group, note, force, .. } =
        arguments;
    let level =
        Level::named(level).ok_or_else(|| KpzError::UnknownLevel { name: level.clone() })?;
    check_notes(note)?;
    refuse_once(file)?;
    // A replay may be packed in place: the old one stays until the new one is complete.
    let other = Some(file.as_path()).filter(|file| !kinepack_replay::is_replay(file));
    let inputs = other.into_iter().chain(arguments.profile.file());
    let target = force.reading(inputs).target(out)?;
    let captured = Captured::open(file, arguments.capture.limits())?;
    let captured_bytes = file.metadata().map_or(0, |file| file.len());
    let packed = captured.replay();
    let (notes, markers) =
        packed.map(|replay| (replay.info().clone(), replay.markers().to_vec())).unwrap_or_default();
    let loses_events = packed.is_some_and(|replay| replay.events().is_some());
    let parameters = std::slice::from_ref(&arguments.profile);
    let mut snapshots = Snapshots::new(captured, stream, &steps.max_error, parameters)?;
    let schema = snapshots.schema().clone();
    let profile = match (&arguments.profile, is_cubes(&schema)) {
        (Parameters::BuiltIn, true) => precision.profile(),
        (parameters, _) => profile(parameters, &schema)?,
    };
    let codec = Codec::new(precision.apply_to(schema), level, profile)?;
    let options = ReplayOptions {
        name: snapshots.stream().name.clone(),
        group: *group,
        ..ReplayOptions::at_hz(snapshots.stream().rate_hz)
    };
    let output = target.create()?;
    let failed = |error| super::replay_error(out, error);
    let mut writer = ReplayWriter::to_writer(output.file()?, &codec, &options).map_err(failed)?;
    let notes = notes.iter().chain(note.iter().map(|(key, value)| (key, value)));
    for (key, value) in notes {
        writer.note(key, value).map_err(failed)?;
    }
    for marker in &markers {
        writer.mark(marker.tick, &marker.name).map_err(failed)?;
    }
    let bar = progress(snapshots.stream().frames);
    let begin = Instant::now();
    while let Some(snapshot) = snapshots.next_snapshot()? {
        writer.write(&snapshot).map_err(failed)?;
        bar.inc(1);
    }
    let ReplaySummary { frames, groups, bytes } = writer.finish().map_err(failed)?;
    let us = begin.elapsed().as_secs_f64() * 1e6;
    bar.finish_and_clear();
    let ending = snapshots.end()?;
    output.commit()?;
    if loses_events {
        say(format_args!("the events of {} are not packed; `cut` keeps them", file.display()));
    }
    let report = Report {
        file: out.display().to_string(),
        stream: options.name,
        level: level.name(),
        frames,
        groups,
        bytes,
        bytes_per_frame: bytes as f64 / frames.max(1) as f64,
        captured_bytes,
        us_per_frame: us / frames.max(1) as f64,
    };
    print(|out| if arguments.json { write_json(&report, out) } else { report.write_line(out) })?;
    Ok(ending.result()?)
}

/// Refuses two notes with the same key.
fn check_notes(notes: &[(String, String)]) -> Result<(), KpzError> {
    let mut keys: Vec<&str> = notes.iter().map(|(key, _)| &**key).collect();
    keys.sort_unstable();
    match keys.windows(2).find(|two| two[0] == two[1]) {
        Some(twice) => Err(KpzError::NoteTwice { key: twice[0].to_owned() }),
        None => Ok(()),
    }
}

impl Report {
    fn write_line(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { file, frames, groups, bytes, bytes_per_frame, captured_bytes, .. } = self;
        writeln!(
            out,
            "{file}: {} in {}, {}, {bytes_per_frame:.1} a frame; the capture has \
             {captured_bytes}. {:.0} µs a frame",
            counted(frames, "frame"),
            counted(groups, "group"),
            counted(bytes, "byte"),
            self.us_per_frame
        )
    }
}
