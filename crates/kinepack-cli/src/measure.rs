//! `kinepack measure`: each level's size and speed on a capture or on the built-in world.

use std::path::{Path, PathBuf};

use clap::Args;
use command_kit::cube_precision::Precision;
use command_kit::interrupt::{Interrupt, Interrupted};
#[cfg(feature = "demo")]
use command_kit::table::write_json;
use command_kit::{Failure, OutputError, print, progress};
use cube_data::cube::Quantized;
use cube_data::{Challenge, ChallengeError, Frame};
#[cfg(feature = "demo")]
use demo::SessionError;
#[cfg(feature = "demo")]
use demo::States;
#[cfg(feature = "demo")]
use demo::WorldArguments;
#[cfg(feature = "demo")]
use demo::stream_measure::{self, Measured as StreamMeasured, Row, StreamRun};
use kinepack::Level;

use crate::captured::{
    CaptureArguments, Captured, CapturedError, Ending, Snapshots, StreamArguments, lag_of,
};
use crate::ladder::{BadFrame, CubeKinds, History, Ladder, LadderError, Parameters, TooShort};
use crate::report::Report;
use crate::steps::StepArguments;

/// Measure the size and speed of each level on a capture or the built-in world.
///
/// Every frame is encoded, decoded and compared. This uses the codec alone: `replay` adds a
/// network, and `analyze` shows where the bits go.
#[derive(Args)]
pub(crate) struct Arguments {
    /// A capture (.mcap), a replay (.kpz), or a file of the 2015 physics data compression challenge
    /// (.bin or .f32, plain or as .zst). Without it, the built-in world is measured. Levels 1 to 5
    /// need floats: a .f32 file or the built-in world.
    #[cfg_attr(feature = "demo", arg(conflicts_with_all = ["seconds", "seed", "style", "cubes"]))]
    file: Option<PathBuf>,
    #[command(flatten)]
    stream: StreamArguments,
    /// Levels by name or number [default: all that the data allow]
    #[arg(long = "level", value_name = "LEVEL", value_delimiter = ',')]
    levels: Vec<String>,
    /// How many ticks older the baseline is: the newest frame of that age [default: 100 ms, which is
    /// 6 at 60 Hz, but at most 60]
    #[arg(long, value_name = "TICKS", value_parser = clap::value_parser!(u32).range(1..=600))]
    lag: Option<u32>,
    /// Ticks between the baseline and the older views that the adaptive level looks at [default: as
    /// --lag]
    #[arg(long, value_name = "TICKS", value_parser = clap::value_parser!(u32).range(1..=600))]
    spacing: Option<u32>,
    /// The first frame that counts. Earlier frames serve as baselines only.
    #[arg(long, value_name = "FRAME", default_value_t = 0)]
    from: u32,
    /// The profile, which levels 9 to 14 (relative-indices to learning) use: a file that `tune` or
    /// `train` wrote, untrained, built-in or article. Built-in is the profile trained for the cubes
    /// of the built-in world; for other data it is untrained. Article has the word lengths of the
    /// article "Snapshot Compression".
    #[arg(long, default_value = "built-in")]
    profile: Parameters,
    #[command(flatten)]
    steps: StepArguments,
    #[command(flatten)]
    precision: Precision,
    /// Measure the cubes as several kinds of entities. "player" makes a kind of the cube with the
    /// id 0, which moves the others, and another of these. The profile is carried to the kinds.
    #[arg(long, value_name = "KINDS")]
    kinds: Option<CubeKinds>,
    #[command(flatten)]
    capture: CaptureArguments,
    /// Print one JSON document instead of a table.
    #[arg(long)]
    json: bool,
    #[cfg(feature = "demo")]
    /// Measure an input stream instead of snapshots: the moves of characters, over links that lose
    /// 0, 5 and 20 %. The levels are full, packed and adaptive. The default of --seconds is 60.
    #[arg(
        long,
        help_heading = "Input stream",
        conflicts_with_all = ["file", "lag", "spacing", "from", "profile", "kinds", "max_error", "style", "cubes"]
    )]
    input_stream: bool,
    #[cfg(feature = "demo")]
    /// Number of clients. Each one has its own seed.
    #[arg(
        long,
        help_heading = "Input stream",
        requires = "input_stream",
        default_value_t = 32,
        value_parser = clap::value_parser!(u32).range(1..=10_000)
    )]
    clients: u32,
    #[cfg(feature = "demo")]
    /// How many earlier moves each packet repeats.
    #[arg(
        long,
        help_heading = "Input stream",
        requires = "input_stream",
        default_value_t = 0,
        value_parser = clap::value_parser!(u8).range(0..=15)
    )]
    repeats: u8,
    #[cfg(feature = "demo")]
    #[command(flatten, next_help_heading = "Built-in world")]
    world: WorldArguments,
}

/// Why a measurement failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MeasureError {
    #[error(transparent)]
    Captured(#[from] CapturedError),
    #[error(transparent)]
    Ladder(#[from] LadderError),
    #[error(transparent)]
    TooShort(#[from] TooShort),
    #[error(transparent)]
    Frame(#[from] BadFrame),
    #[cfg(feature = "demo")]
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    #[error("--level {name}: no such level; there are {}", level_names())]
    UnknownLevel { name: String },
    #[cfg(feature = "demo")]
    #[error(
        "--level {name}: no such level of a stream; there are {}",
        Row::ALL.map(Row::name).join(", ")
    )]
    UnknownStreamLevel { name: String },
    #[error("{what} needs floats, which only .f32 files and the built-in world have")]
    NeedsFloats { what: String },
    #[cfg(not(feature = "demo"))]
    #[error("give a capture to measure: this program is built without the built-in world")]
    NoWorld,
}

impl Failure for MeasureError {
    fn exit_code(&self) -> u8 {
        match self {
            Self::Captured(error) => error.exit_code(),
            Self::Frame(error) => error.exit_code(),
            #[cfg(feature = "demo")]
            Self::Session(error) => error.exit_code(),
            Self::Output(error) => error.exit_code(),
            Self::Interrupted(error) => error.exit_code(),
            _ => 2,
        }
    }
}

fn level_names() -> String {
    let names: Vec<String> =
        Level::TABLE.iter().map(|level| format!("{} {}", level.row(), level.name())).collect();
    names.join(", ")
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), MeasureError> {
    let interrupt = Interrupt::listen().map_err(OutputError::Signals)?;
    #[cfg(feature = "demo")]
    if arguments.input_stream {
        return measure_stream(arguments, &interrupt);
    }
    let Measured { report, done, all, ending } = match &arguments.file {
        Some(path) => measure_capture(arguments, path, &interrupt)?,
        #[cfg(feature = "demo")]
        None => measure_world(arguments, &interrupt)?,
        #[cfg(not(feature = "demo"))]
        None => return Err(MeasureError::NoWorld),
    };
    print(|out| if arguments.json { report.write_json(out) } else { report.write_table(out) })?;
    if interrupt.is_raised() {
        let then = "the table is of these";
        return Err(Interrupted::after_frames(done, all, then).into());
    }
    Ok(ending.result()?)
}

/// A report, the number of its frames, and that of all frames.
struct Measured {
    report: Report,
    done: u64,
    all: Option<u64>,
    /// Whether the file was read completely.
    ending: Ending,
}

#[cfg(feature = "demo")]
/// Seconds of an input stream without `--seconds`.
const STREAM_SECONDS: u32 = 60;

#[cfg(feature = "demo")]
fn measure_stream(arguments: &Arguments, interrupt: &Interrupt) -> Result<(), MeasureError> {
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
    let measured = stream_measure::measure(run, &rows, &progress, interrupt)?;
    progress.finish_and_clear();
    let packets: u64 = measured.iter().map(StreamMeasured::packets).sum();
    let (done, all) = (packets / u64::from(run.clients), run.all_ticks(&rows));
    if done == 0 {
        return Err(Interrupted::after_frames(done, Some(all), "none of them was measured").into());
    }
    print(|out| {
        if arguments.json {
            return write_json(&measured, out);
        }
        stream_measure::write_table(run, &measured, out)
    })?;
    if done < all {
        let then = "the table is of these, and its last row may be of fewer moves";
        return Err(Interrupted::after_frames(done, Some(all), then).into());
    }
    Ok(())
}

/// The levels asked for, or all that the data allow, in the order of the table.
fn levels(arguments: &Arguments, quantized: bool) -> Result<Vec<Level>, MeasureError> {
    let measurable = |level: &Level| !quantized || Quantized::at(*level) == Quantized::Everything;
    if arguments.levels.is_empty() {
        return Ok(Level::TABLE.into_iter().filter(measurable).collect());
    }
    let named = |name: &String| {
        Level::named(name).ok_or_else(|| MeasureError::UnknownLevel { name: name.clone() })
    };
    let asked = arguments.levels.iter().map(named).collect::<Result<Vec<Level>, _>>()?;
    if let Some(level) = asked.iter().find(|level| !measurable(level)) {
        return Err(MeasureError::NeedsFloats {
            what: format!("level {} ({})", level.row(), level.name()),
        });
    }
    Ok(Level::TABLE.into_iter().filter(|level| asked.contains(level)).collect())
}

fn history(arguments: &Arguments, rate_hz: f64) -> History {
    let lag = lag_of(arguments.lag, rate_hz);
    History { lag, spacing: arguments.spacing.unwrap_or(lag), from: arguments.from }
}

/// The frames to measure.
struct Source<'a> {
    name: String,
    rate_hz: f64,
    all: Option<u64>,
    interrupt: &'a Interrupt,
}

impl Source<'_> {
    /// Gives all frames to a ladder, or those before a signal. `next` adds one and returns the
    /// number of its objects, or how the file ended.
    fn measure(
        self,
        history: History,
        mut ladder: Ladder,
        mut next: impl FnMut(&mut Ladder) -> Result<Result<usize, Ending>, MeasureError>,
    ) -> Result<Measured, MeasureError> {
        let bar = progress(self.all);
        let mut objects = 0;
        let mut ending = Ending::default();
        while !self.interrupt.is_raised() {
            match next(&mut ladder)? {
                Ok(count) => objects = objects.max(count),
                Err(ended) => {
                    ending = ended;
                    break;
                }
            }
            bar.inc(1);
        }
        bar.finish_and_clear();
        let frames = ladder.frames();
        let (done, all) = (u64::from(frames), self.all);
        if ladder.measured() == 0 {
            let nothing = "none of them was measured";
            return Err(if self.interrupt.is_raised() {
                Interrupted::after_frames(done, all, nothing).into()
            } else if frames > 0 && frames <= history.from {
                TooShort::BeforeFrom { frames, from: history.from }.into()
            } else {
                TooShort::for_baselines(frames, history.lag).into()
            });
        }
        let measurements = ladder.measurements();
        let pace = ladder.pace(self.rate_hz);
        let report = Report::new(self.name, history.lag, pace, objects, measurements);
        Ok(Measured { report, done, all, ending })
    }
}

fn measure_capture(
    arguments: &Arguments,
    path: &Path,
    interrupt: &Interrupt,
) -> Result<Measured, MeasureError> {
    let mut captured = Captured::open(path, arguments.capture.limits())?;
    let name = path.display().to_string();
    if arguments.steps.max_error.is_empty() {
        if let Some(stream) = &arguments.stream.stream {
            captured.named(stream)?;
        }
        // Only .f32 files have the floats that levels 1 to 5 send.
        if let Some(challenge) = captured.floats() {
            return measure_floats(arguments, challenge, name, interrupt);
        }
    }
    let mut snapshots = Snapshots::new(
        captured,
        &arguments.stream,
        &arguments.steps.max_error,
        std::slice::from_ref(&arguments.profile),
    )?;
    let (rate_hz, all) = (snapshots.stream().rate_hz, snapshots.stream().frames);
    let history = history(arguments, rate_hz);
    let ladder = Ladder::of_stream(
        &levels(arguments, true)?,
        history,
        &arguments.profile,
        arguments.precision,
        arguments.kinds,
        snapshots.schema(),
    )?;
    let source = Source { name, rate_hz, all, interrupt };
    source.measure(history, ladder, |ladder| {
        let Some(snapshot) = snapshots.next_snapshot()? else { return Ok(Err(snapshots.end()?)) };
        let objects = snapshot.len();
        ladder.add_snapshot(snapshot)?;
        Ok(Ok(objects))
    })
}

fn measure_floats(
    arguments: &Arguments,
    challenge: &mut Challenge,
    name: String,
    interrupt: &Interrupt,
) -> Result<Measured, MeasureError> {
    let rate_hz = f64::from(challenge.rate_hz());
    let history = history(arguments, rate_hz);
    let ladder = cubes_ladder(arguments, history)?;
    let source = Source { name, rate_hz, all: challenge.frames().map(u64::from), interrupt };
    let mut states = Vec::new();
    source.measure(history, ladder, |ladder| {
        let Some(Frame::Floats(frame)) = challenge.next_frame()? else {
            return Ok(Err(Ending::default()));
        };
        states.clear();
        states.extend(frame.states());
        ladder.add(&states).map_err(|bad| match bad {
            BadFrame::Value { object, reason } => challenge.bad_value(object, reason).into(),
            bad => MeasureError::from(bad),
        })?;
        Ok(Ok(states.len()))
    })
}

fn cubes_ladder(arguments: &Arguments, history: History) -> Result<Ladder, MeasureError> {
    let levels = levels(arguments, false)?;
    let Arguments { profile, precision, kinds, .. } = arguments;
    Ok(Ladder::new(&levels, history, profile, *precision, *kinds)?)
}

#[cfg(feature = "demo")]
fn measure_world(arguments: &Arguments, interrupt: &Interrupt) -> Result<Measured, MeasureError> {
    let mut world = arguments.world.play().map_err(SessionError::from)?;
    let (rate_hz, frames) = (f64::from(cubes::TICK_HZ), arguments.world.frames());
    let history = history(arguments, rate_hz);
    let ladder = cubes_ladder(arguments, history)?;
    let mut states = States::default();
    let all = Some(u64::from(frames));
    let source = Source { name: arguments.world.name(), rate_hz, all, interrupt };
    source.measure(history, ladder, |ladder| {
        if ladder.frames() == frames {
            return Ok(Err(Ending::default()));
        }
        world.next_frame(&mut states);
        ladder.add(states.measured())?;
        Ok(Ok(states.count()))
    })
}

impl From<ChallengeError> for MeasureError {
    fn from(error: ChallengeError) -> Self {
        Self::Captured(error.into())
    }
}
