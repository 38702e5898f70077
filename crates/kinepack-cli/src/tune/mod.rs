//! `kinepack tune`: the best profile for a capture, and what it gains on a part that it has not seen.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use kinepack::{Codec, Encoder, Level, Profile, ProfileSearch, Schema, Snapshot, Tick, TrainError, Trainer, Training};
use kinepack_capture::analysis::Past;
use kinepack_capture::cube;
use serde::Serialize;

use crate::captured::{Captured, profile};
use crate::failure::Failure;
use crate::ladder::Parameters;
use crate::measure::progress;
use crate::report::print;
use crate::table::{table, write_json};
use crate::train::{STYLES, shares, world_run};

/// Frames that are kept at most: four minutes at 60 Hz.
const MAX_FRAMES: usize = 14_400;
/// Of what the built-in profile was trained on, so that it is not forgotten.
const WORLD_FRAMES: u32 = 900;

/// Find the best profile for a capture, and say what it gains on frames that it was not made from.
#[derive(Args)]
pub(crate) struct Arguments {
    /// A capture: .mcap as a game, `kinepack record` or `kinepack convert` wrote it; or .bin or .f32 of the data compression challenge, or one of them as .zst.
    file: PathBuf,
    /// The stream; the first where there are several and none is named.
    #[arg(long, value_name = "NAME")]
    stream: Option<String>,
    /// Where to put the profile.
    #[arg(long, value_name = "PROFILE")]
    out: Option<PathBuf>,
    /// Where to put the same as a constant in Rust.
    #[arg(long, value_name = "FILE.rs")]
    rust: Option<PathBuf>,
    /// How many frames back the baseline is.
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=60))]
    lag: u32,
    /// The last part of the capture, in percent, that is only measured.
    #[arg(long, default_value_t = 25, value_name = "PERCENT", value_parser = clap::value_parser!(u32).range(1..=90))]
    hold_out: u32,
    /// Passes over the data that improve the weights of the adaptive level.
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=1000))]
    passes: u32,
    /// Print one JSON document instead of a table.
    #[arg(long)]
    json: bool,
}

/// Bytes of a frame, without headers.
#[derive(Clone, Copy, Debug, Serialize)]
struct Bytes {
    packed: f64,
    adaptive: f64,
}

/// On the frames that the tuned profile was made from, and on the others.
#[derive(Clone, Copy, Debug, Serialize)]
struct Parts {
    training: Bytes,
    held_out: Bytes,
}

#[derive(Serialize)]
struct Report {
    file: String,
    stream: String,
    lag: u32,
    training_frames: usize,
    held_out_frames: usize,
    profile_bytes: usize,
    /// With the profile that is there without tuning: the one trained for cubes where the stream has them, else one that knows nothing.
    built_in: Parts,
    tuned: Parts,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut captured = Captured::open(&arguments.file)?;
    let wanted = captured.find(arguments.stream.as_deref())?;
    let stream = captured.streams()[wanted].clone();
    let frames = read(&mut captured, wanted, &stream.schema, arguments)?;
    let training = frames.len() - frames.len() * arguments.hold_out as usize / 100;
    let lag = arguments.lag as usize;
    if training <= 2 * lag || frames.len() - training == 0 {
        return Err(Failure::TooShort { frames: frames.len() as u32, lag: 3 * arguments.lag });
    }
    let built_in = profile(&Parameters::BuiltIn, &stream.schema)?;
    let tuned = tune(&stream.schema, &frames[..training], arguments)?;
    let bytes = tuned.to_bytes();
    let parts = |profile: &Profile| {
        let of = |level| measure(&stream.schema, profile, level, &frames, training, lag);
        let ([packed, packed_held], [adaptive, adaptive_held]) = (of(Level::PACKED)?, of(Level::ADAPTIVE)?);
        Ok::<_, Failure>(Parts {
            training: Bytes { packed, adaptive },
            held_out: Bytes { packed: packed_held, adaptive: adaptive_held },
        })
    };
    let report = Report {
        file: arguments.file.display().to_string(),
        stream: stream.name,
        lag: arguments.lag,
        training_frames: training,
        held_out_frames: frames.len() - training,
        profile_bytes: bytes.len(),
        built_in: parts(&built_in)?,
        tuned: parts(&tuned)?,
    };
    let write = |path: &PathBuf, contents: &[u8]| {
        let written = std::fs::write(path, contents);
        written.map_err(|error| Failure::Profile { path: path.clone(), reason: error.to_string() })
    };
    if let Some(path) = &arguments.out {
        write(path, &bytes)?;
    }
    if let Some(path) = &arguments.rust {
        write(path, constant(&stream.schema, &bytes).as_bytes())?;
    }
    print(|out| if arguments.json { write_json(&report, out) } else { report.write_table(out) })
}

/// The frames of a stream, quantized.
fn read(
    captured: &mut Captured,
    wanted: usize,
    schema: &Schema,
    arguments: &Arguments,
) -> Result<Vec<Snapshot>, Failure> {
    let mut frames = Vec::new();
    let bar = progress(captured.streams()[wanted].frames.and_then(|frames| u32::try_from(frames).ok()));
    while let Some(frame) = captured.next_frame()? {
        if frame.stream != wanted {
            continue;
        }
        let mut snapshot = Snapshot::new(schema, Tick(frames.len() as u32));
        let failed = |reason: String| Failure::BadFrame { path: arguments.file.clone(), tick: frame.tick.0, reason };
        frame.push_into(schema, &mut snapshot).map_err(|error| failed(error.to_string()))?;
        frames.push(snapshot);
        bar.inc(1);
        if frames.len() == MAX_FRAMES {
            break;
        }
    }
    bar.finish_and_clear();
    captured.warn_of_damage();
    if frames.len() == MAX_FRAMES {
        eprintln!("{}: the first {MAX_FRAMES} frames are used", arguments.file.display());
    }
    Ok(frames)
}

fn tune(schema: &Schema, frames: &[Snapshot], arguments: &Arguments) -> Result<Profile, Failure> {
    let bar = shares("searched");
    let search = ProfileSearch { lag_ticks: arguments.lag, ..ProfileSearch::default() };
    let structure = search.run(schema, &[frames], |share| bar.set_position((share * 1000.0) as u64));
    bar.finish_and_clear();
    let is_cubes = cube::profile().schema_hash == schema.hash();
    // Of others it is not known how large they are, nor where the floor is.
    let bodies = is_cubes.then(cube::bodies);
    let mut training = Training::new(structure.map_err(Failure::Training)?, bodies);
    training.packed_lag_ticks = arguments.lag;
    training.passes = arguments.passes;
    let mut runs = vec![frames.to_vec()];
    if is_cubes {
        let bar = progress(Some(WORLD_FRAMES * STYLES.len() as u32));
        for style in STYLES {
            runs.push(world_run(style, 1000, WORLD_FRAMES, &bar)?);
        }
        bar.finish_and_clear();
    }
    let bar = shares("trained");
    let trained = training.run(schema, &runs, |share| bar.set_position((share * 1000.0) as u64));
    bar.finish_and_clear();
    let Profile { model, .. } = trained.map_err(Failure::Training)?;
    // The word lengths are the capture's alone.
    let failed = |error: TrainError| Failure::Training(error);
    let mut trainer = Trainer::new(schema.clone(), training.structure).map_err(|error| failed(error.into()))?;
    for pair in frames.windows(arguments.lag as usize + 1) {
        trainer.observe(&pair[0], &pair[pair.len() - 1]).map_err(|error| failed(error.into()))?;
    }
    Ok(Profile { model, ..trainer.finish() })
}

/// Mean bytes of a frame, of those before `training` and of the others.
fn measure(
    schema: &Schema,
    profile: &Profile,
    level: Level,
    frames: &[Snapshot],
    training: usize,
    lag: usize,
) -> Result<[f64; 2], Failure> {
    let codec = Codec::new(schema.clone(), level, profile.clone()).map_err(|error| Failure::Training(error.into()))?;
    let mut encoder = Encoder::new(&codec);
    let mut past = Past::new(schema, 3 * lag);
    let mut packet = Vec::new();
    let mut sums = [(0, 0); 2];
    for (index, frame) in frames.iter().enumerate() {
        past.advance().clone_from(frame);
        packet.clear();
        let encoded = past.with_baselines(lag, |newest, known| encoder.encode(known, newest, &mut packet).map(|_| ()));
        if let Some(encoded) = encoded {
            encoded.map_err(|error| Failure::Training(error.into()))?;
            let (bytes, count) = &mut sums[usize::from(index >= training)];
            (*bytes, *count) = (*bytes + packet.len(), *count + 1);
        }
    }
    Ok(sums.map(|(bytes, count): (usize, usize)| bytes as f64 / count.max(1) as f64))
}

/// The profile as Rust.
fn constant(schema: &Schema, bytes: &[u8]) -> String {
    let mut text = format!(
        "/// A profile that `kinepack tune` found, for `kinepack::Profile::from_bytes` with the schema of hash {:016x}.\n#[rustfmt::skip]\npub const PROFILE: [u8; {}] = [\n",
        schema.hash(),
        bytes.len()
    );
    for line in bytes.chunks(32) {
        text.push_str("   ");
        for byte in line {
            // Writing to a string does not fail.
            let _ = write!(text, " {byte},");
        }
        text.push('\n');
    }
    text + "];\n"
}

impl Report {
    fn write_table(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { file, stream, lag, training_frames, held_out_frames, profile_bytes, built_in, tuned } = self;
        writeln!(
            out,
            "{file}: {stream}\nbytes a frame, each against the one {lag} before; the profile takes {profile_bytes} bytes"
        )?;
        let rows = [
            ("training", training_frames, built_in.training, tuned.training),
            ("held out", held_out_frames, built_in.held_out, tuned.held_out),
        ];
        let rows = rows.map(|(part, frames, before, after)| {
            let cell = |bytes: f64| format!("{bytes:.1}");
            [
                part.to_owned(),
                frames.to_string(),
                cell(before.packed),
                cell(after.packed),
                cell(before.adaptive),
                cell(after.adaptive),
            ]
        });
        let header = ["", "frames", "packed: built-in", "tuned", "adaptive: built-in", "tuned"];
        writeln!(out, "{}", table(header, 1, rows).trim_fmt())
    }
}
