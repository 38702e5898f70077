//! `kinepack measure`: each level's size and speed on a capture or on the built-in world.

use std::path::{Path, PathBuf};

use clap::Args;
use command_kit::cube_precision::Precision;
#[cfg(feature = "demo")]
use command_kit::table::write_json;
use command_kit::{Failure, OutputError, print, progress};
use cube_data::cube::Quantized;
use cube_data::{ChallengeError, Frame};
#[cfg(feature = "demo")]
use demo::SessionError;
#[cfg(feature = "demo")]
use demo::States;
#[cfg(feature = "demo")]
use demo::WorldArguments;
#[cfg(feature = "demo")]
use demo::stream_measure::{self, Row, StreamRun};
use kinepack::Level;
use kinepack_capture::levels;

use crate::captured::{CaptureArguments, CapturedError, challenge};
use crate::ladder::{BadFrame, History, Ladder, Parameters, ProfileError, TooShort};
use crate::report::Report;

/// Measure each level on a capture, or on the built-in world: every frame is encoded, decoded and
/// compared.
#[derive(Args)]
pub(crate) struct Arguments {
    /// A capture: .bin or .f32 of the data compression challenge, or one of them as .zst. Without
    /// it, the built-in world.
    #[cfg_attr(feature = "demo", arg(conflicts_with_all = ["seconds", "seed", "style", "cubes"]))]
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
    #[cfg(feature = "demo")]
    /// Instead of snapshots: a character's moves as an input stream, over links that lose 0, 5 and
    /// 20 %. Levels are full, packed and adaptive; --seconds are 60 where not given.
    #[arg(long, help_heading = "Input stream", conflicts_with_all = ["file", "lag", "spacing", "from", "profile", "style", "cubes"])]
    stream: bool,
    #[cfg(feature = "demo")]
    /// Clients, each with a seed of its own.
    #[arg(long, help_heading = "Input stream", requires = "stream", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    clients: u32,
    #[cfg(feature = "demo")]
    /// Moves that are repeated in each packet.
    #[arg(long, help_heading = "Input stream", requires = "stream", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=15))]
    repeats: u8,
    #[cfg(feature = "demo")]
    #[command(flatten, next_help_heading = "Built-in world")]
    world: WorldArguments,
}

/// Why nothing could be measured.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MeasureError {
    #[error(transparent)]
    Captured(#[from] CapturedError),
    #[error(transparent)]
    Profile(#[from] ProfileError),
    #[error(transparent)]
    TooShort(#[from] TooShort),
    #[error(transparent)]
    Frame(#[from] BadFrame),
    #[cfg(feature = "demo")]
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error("--level {name}: no such level; there are {}", level_names())]
    UnknownLevel { name: String },
    #[cfg(feature = "demo")]
    #[error("--level {name}: no such level of a stream; there are {}", Row::ALL.map(Row::name).join(", "))]
    UnknownStreamLevel { name: String },
    #[error("{what} needs floats, which a quantized capture does not have; use a .f32 file")]
    NeedsFloats { what: String },
    #[cfg(not(feature = "demo"))]
    #[error("give a capture to measure: this program is built without the built-in world")]
    NoWorld,
}

impl Failure for MeasureError {
    fn exit_code(&self) -> u8 {
        match self {
            Self::Frame(error) => error.exit_code(),
            #[cfg(feature = "demo")]
            Self::Session(error) => error.exit_code(),
            Self::Output(error) => error.exit_code(),
            _ => 2,
        }
    }
}

fn level_names() -> String {
    let names: Vec<String> = Level::TABLE
        .iter()
        .map(|level| format!("{} {}", level.row(), levels::name(*level)))
        .collect();
    names.join(", ")
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), MeasureError> {
    #[cfg(feature = "demo")]
    if arguments.stream {
        return measure_stream(arguments);
    }
    let report = match &arguments.file {
        Some(path) => measure_capture(arguments, path)?,
        #[cfg(feature = "demo")]
        None => measure_world(arguments)?,
        #[cfg(not(feature = "demo"))]
        None => return Err(MeasureError::NoWorld),
    };
    print(|out| if arguments.json { report.write_json(out) } else { report.write_table(out) })?;
    Ok(())
}

#[cfg(feature = "demo")]
/// Seconds of a stream, where nothing else is asked for.
const STREAM_SECONDS: u32 = 60;

#[cfg(feature = "demo")]
fn measure_stream(arguments: &Arguments) -> Result<(), MeasureError> {
    let named = |name: &String| {
        let row = Row::ALL.into_iter().find(|row| row.name() == name);
        row.ok_or_else(|| MeasureError::UnknownStreamLevel { name: name.clone() })
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
            return write_json(&measured, out);
        }
        stream_measure::write_table(run, &measured, out)
    })?;
    Ok(())
}

/// The levels asked for, or all that the data allow, in the order of the table.
fn levels(arguments: &Arguments, quantized: bool) -> Result<Vec<Level>, MeasureError> {
    let measurable = |level: &Level| !quantized || Quantized::at(*level) == Quantized::Everything;
    if arguments.levels.is_empty() {
        return Ok(Level::TABLE.into_iter().filter(measurable).collect());
    }
    let named = |name: &String| {
        levels::named(name).ok_or_else(|| MeasureError::UnknownLevel { name: name.clone() })
    };
    let asked = arguments.levels.iter().map(named).collect::<Result<Vec<Level>, _>>()?;
    if let Some(level) = asked.iter().find(|level| !measurable(level)) {
        return Err(MeasureError::NeedsFloats {
            what: format!("level {} ({})", level.row(), levels::name(*level)),
        });
    }
    Ok(Level::TABLE.into_iter().filter(|level| asked.contains(level)).collect())
}

fn ladder(arguments: &Arguments, quantized: bool) -> Result<Ladder, MeasureError> {
    let Arguments { lag, spacing, from, precision, .. } = *arguments;
    let history = History { lag, spacing: spacing.unwrap_or(lag), from };
    Ok(Ladder::new(&levels(arguments, quantized)?, history, &arguments.profile, precision)?)
}

fn measure_capture(arguments: &Arguments, path: &Path) -> Result<Report, MeasureError> {
    let mut capture = challenge(path, arguments.capture.limits())?;
    let mut ladder = ladder(arguments, capture.is_quantized())?;
    let progress = progress(capture.frames());
    let mut states = Vec::new();
    loop {
        match capture.next_frame()? {
            None => break,
            Some(Frame::Quantized(frame)) => {
                ladder.add_with(|_, snapshot| {
                    frame.push_into(snapshot).map_err(MeasureError::from)
                })?;
            }
            Some(Frame::Floats(frame)) => {
                states.clear();
                states.extend(frame.states());
                ladder.add(&states).map_err(|bad| match bad {
                    BadFrame::Value { object, reason } => capture.bad_value(object, reason).into(),
                    bad => MeasureError::from(bad),
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

#[cfg(feature = "demo")]
fn measure_world(arguments: &Arguments) -> Result<Report, MeasureError> {
    let mut world = arguments.world.play().map_err(SessionError::from)?;
    let mut ladder = ladder(arguments, false)?;
    let progress = progress(Some(arguments.world.frames()));
    let mut states = States::default();
    for _ in 0..arguments.world.frames() {
        world.next_frame(&mut states);
        ladder.add(states.measured())?;
        progress.inc(1);
    }
    progress.finish_and_clear();
    report(arguments, &ladder, arguments.world.name(), cubes::TICK_HZ, states.count())
}

fn report(
    arguments: &Arguments,
    ladder: &Ladder,
    name: String,
    rate_hz: u32,
    objects: usize,
) -> Result<Report, MeasureError> {
    let first = arguments.lag.max(arguments.from);
    if ladder.frames() <= first {
        return Err(TooShort { frames: ladder.frames(), lag: first }.into());
    }
    Ok(Report::new(name, arguments.lag, rate_hz, objects, ladder.measurements()))
}

impl From<ChallengeError> for MeasureError {
    fn from(error: ChallengeError) -> Self {
        Self::Captured(error.into())
    }
}
