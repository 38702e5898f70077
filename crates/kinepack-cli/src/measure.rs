//! `kinepack measure`: each level's size and speed on a capture or on the built-in world.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use kinepack::Level;
use kinepack_capture::Frame;
use kinepack_capture::cube::Quantized;
use kinepack_capture::levels;

use crate::captured::{CaptureArguments, challenge};
use crate::failure::Failure;
use crate::ladder::{BadFrame, History, Ladder, Parameters};
use crate::precision::Precision;
use crate::report::{Report, print};
use crate::states::States;
use crate::stream_measure::{self, Row, StreamRun};
use crate::world::WorldArguments;

/// Measure each level on a capture, or on the built-in world: every frame is encoded, decoded and
/// compared.
#[derive(Args)]
pub(crate) struct Arguments {
    /// A capture: .bin or .f32 of the data compression challenge, or one of them as .zst. Without
    /// it, the built-in world.
    #[arg(conflicts_with_all = ["seconds", "seed", "style", "cubes"])]
    file: Option<PathBuf>,
    /// Levels by name or number; all that the data allow when not given.
    #[arg(long = "level", value_name = "LEVEL", value_delimiter = ',')]
    levels: Vec<String>,
    /// How many frames back the baseline is.
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=600))]
    lag: u32,
    /// How many frames lie between the baseline and the older views that the adaptive level looks
    /// at; as many as --lag when not given.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=600))]
    spacing: Option<u32>,
    /// The first frame that counts; those before are only looked back at.
    #[arg(long, default_value_t = 0)]
    from: u32,
    /// The parameters of the levels from 9 on: built-in, article, untrained, or a file that
    /// `kinepack train` wrote.
    #[arg(long, default_value = "built-in")]
    profile: Parameters,
    #[command(flatten)]
    precision: Precision,
    #[command(flatten)]
    capture: CaptureArguments,
    /// Print one JSON document instead of a table.
    #[arg(long)]
    json: bool,
    /// Instead of snapshots: a character's moves as an input stream, over links that lose 0, 5 and
    /// 20 %. Levels are full, packed and adaptive; --seconds are 60 where not given.
    #[arg(long, help_heading = "Input stream", conflicts_with_all = ["file", "lag", "spacing", "from", "profile", "style", "cubes"])]
    stream: bool,
    /// Clients, each with a seed of its own.
    #[arg(long, help_heading = "Input stream", requires = "stream", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    clients: u32,
    /// Moves that are repeated in each packet.
    #[arg(long, help_heading = "Input stream", requires = "stream", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=15))]
    repeats: u8,
    #[command(flatten, next_help_heading = "Built-in world")]
    world: WorldArguments,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.stream {
        return measure_stream(arguments);
    }
    let report = match &arguments.file {
        Some(path) => measure_capture(arguments, path)?,
        None => measure_world(arguments)?,
    };
    print(|out| if arguments.json { report.write_json(out) } else { report.write_table(out) })
}

/// Seconds of a stream, where nothing else is asked for.
const STREAM_SECONDS: u32 = 60;

fn measure_stream(arguments: &Arguments) -> Result<(), Failure> {
    let named = |name: &String| {
        let row = Row::ALL.into_iter().find(|row| row.name() == name);
        row.ok_or_else(|| Failure::UnknownStreamLevel { name: name.clone() })
    };
    let rows = match &arguments.levels[..] {
        [] => Row::ALL.to_vec(),
        names => names.iter().map(named).collect::<Result<_, _>>()?,
    };
    let run = StreamRun {
        clients: arguments.clients,
        ticks: arguments.world.asked_frames().unwrap_or(STREAM_SECONDS * cubes::TICK_HZ),
        seed: arguments.world.seed,
        repeats: arguments.repeats,
    };
    let progress = progress(Some(run.ticks));
    let measured = stream_measure::measure(run, &rows, &progress)?;
    progress.finish_and_clear();
    print(|out| {
        if arguments.json {
            serde_json::to_writer_pretty(&mut *out, &measured)?;
            return writeln!(out);
        }
        stream_measure::write_table(run, &measured, out)
    })
}

/// The levels asked for, or all that the data allow, in the order of the table.
fn levels(arguments: &Arguments, quantized: bool) -> Result<Vec<Level>, Failure> {
    let measurable = |level: &Level| !quantized || Quantized::at(*level) == Quantized::Everything;
    if arguments.levels.is_empty() {
        return Ok(Level::TABLE.into_iter().filter(measurable).collect());
    }
    let named = |name: &String| {
        levels::named(name).ok_or_else(|| Failure::UnknownLevel { name: name.clone() })
    };
    let asked = arguments.levels.iter().map(named).collect::<Result<Vec<Level>, _>>()?;
    if let Some(level) = asked.iter().find(|level| !measurable(level)) {
        return Err(Failure::NeedsFloats {
            what: format!("level {} ({})", level.row(), levels::name(*level)),
        });
    }
    Ok(Level::TABLE.into_iter().filter(|level| asked.contains(level)).collect())
}

fn ladder(arguments: &Arguments, quantized: bool) -> Result<Ladder, Failure> {
    let Arguments { lag, spacing, from, precision, .. } = *arguments;
    let history = History { lag, spacing: spacing.unwrap_or(lag), from };
    Ladder::new(&levels(arguments, quantized)?, history, &arguments.profile, precision)
}

fn measure_capture(arguments: &Arguments, path: &Path) -> Result<Report, Failure> {
    let mut capture = challenge(path, arguments.capture.limits())?;
    let mut ladder = ladder(arguments, capture.is_quantized())?;
    let progress = progress(capture.frames());
    let mut states = Vec::new();
    loop {
        match capture.next_frame()? {
            None => break,
            Some(Frame::Quantized(frame)) => {
                ladder.add_with(|_, snapshot| frame.push_into(snapshot).map_err(Failure::from))?;
            }
            Some(Frame::Floats(frame)) => {
                states.clear();
                states.extend(frame.states());
                ladder.add(&states).map_err(|bad| match bad {
                    BadFrame::Value { object, reason } => {
                        Failure::Capture(capture.bad_value(object, reason))
                    }
                    BadFrame::NotVerified(failure) => failure,
                })?;
            }
        }
        progress.inc(1);
    }
    progress.finish_and_clear();
    report(
        arguments,
        &ladder,
        path.display().to_string(),
        capture.rate_hz(),
        capture.objects() as usize,
    )
}

fn measure_world(arguments: &Arguments) -> Result<Report, Failure> {
    let mut world = arguments.world.play()?;
    let mut ladder = ladder(arguments, false)?;
    let progress = progress(Some(arguments.world.frames()));
    let mut states = States::default();
    for _ in 0..arguments.world.frames() {
        world.next_frame(&mut states);
        ladder.add(states.measured())?;
        progress.inc(1);
    }
    progress.finish_and_clear();
    report(arguments, &ladder, arguments.world.name(), cubes::TICK_HZ, states.len())
}

fn report(
    arguments: &Arguments,
    ladder: &Ladder,
    name: String,
    rate_hz: u32,
    objects: usize,
) -> Result<Report, Failure> {
    let first = arguments.lag.max(arguments.from);
    if ladder.frames() <= first {
        return Err(Failure::TooShort { frames: ladder.frames(), lag: first });
    }
    Ok(Report::new(name, arguments.lag, rate_hz, objects, ladder.measurements()))
}

/// A bar on standard error; nothing where that is no terminal.
pub(crate) fn progress(frames: Option<impl Into<u64>>) -> ProgressBar {
    let style = "{bar:40} frame {pos} of {len}, {per_sec}, {eta} left";
    match frames {
        Some(frames) => ProgressBar::new(frames.into()).with_style(
            ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()),
        ),
        None => ProgressBar::new_spinner(),
    }
}

impl From<BadFrame> for Failure {
    /// For frames of the built-in world.
    fn from(bad: BadFrame) -> Self {
        match bad {
            BadFrame::Value { object, reason } => Self::OutOfRange { object, reason },
            BadFrame::NotVerified(failure) => failure,
        }
    }
}
