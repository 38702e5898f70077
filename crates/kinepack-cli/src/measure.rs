//! `kinepack measure`: measures the size and speed of each level on a capture.

use std::path::PathBuf;

use clap::Args;
use command_kit::cube_precision::Precision;
use command_kit::interrupt::{Interrupt, Interrupted};
use command_kit::{Failure, OutputError, print, progress};
use cube_data::cube::Quantized;
use cube_data::{Challenge, ChallengeError, Frame};
use kinepack::Level;

use crate::captured::{
    CaptureArguments, Captured, CapturedError, Ending, Snapshots, StreamArguments, lag_of,
};
use crate::ladder::{
    BadFrame, CubeKinds, History, Ladder, LadderError, Parameters, Shortage, TooShort,
};
use crate::report::Report;
use crate::steps::StepArguments;

/// Measure the size and speed of each level on a capture.
///
/// Every frame is encoded, decoded and compared. This uses the codec alone: `replay` adds a
/// network, and `analyze` shows where the bits go.
#[derive(Args)]
pub struct Arguments {
    /// A capture (.mcap), a replay (.kpz), or a file of the 2015 physics data compression challenge
    /// (.bin or .f32, plain or as .zst). Levels 1 to 5 need the floats of a .f32 file.
    file: PathBuf,
    #[command(flatten)]
    stream: StreamArguments,
    /// Levels by name or number [default: all that the data allow]
    #[arg(long = "level", value_name = "LEVEL", value_delimiter = ',')]
    levels: Vec<String>,
    /// Code each frame against the newest frame that is at least this many ticks older [default:
    /// 100 ms, which is 6 at 60 Hz, but at most 60]
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
    /// `train` wrote, `untrained`, `built-in` or `article`. `built-in` is trained for the cubes of
    /// the challenge files; for other data it is untrained. `article` uses the word lengths of the
    /// article "Snapshot Compression".
    #[arg(long, default_value = "built-in")]
    profile: Parameters,
    #[command(flatten)]
    steps: StepArguments,
    #[command(flatten)]
    precision: Precision,
    /// Measure the cubes as several kinds of entities. "player" makes one kind of the cube with the
    /// id 0, which moves the others, and a second kind of all other cubes. Both kinds use the same
    /// profile.
    #[arg(long, value_name = "KINDS")]
    kinds: Option<CubeKinds>,
    #[command(flatten)]
    capture: CaptureArguments,
    /// Print one JSON document instead of a table.
    #[arg(long)]
    json: bool,
}

/// The reason why a measurement failed.
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
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    #[error("--level {name}: no such level; there are {}", level_names())]
    UnknownLevel { name: String },
    #[error("{}: {} needs floats, which only .f32 files have", path.display(), numbered(level))]
    NeedsFloats { path: PathBuf, level: Level },
    #[error(
        "--max-error gives quantized fields other steps, and {} sends floats: give levels from 6 \
         (position) on; a file with floats can be measured without --max-error",
        numbered(level)
    )]
    StepsOfFloats { level: Level },
}

impl Failure for MeasureError {
    fn exit_code(&self) -> u8 {
        match self {
            Self::Captured(error) => error.exit_code(),
            Self::Frame(error) => error.exit_code(),
            Self::Output(error) => error.exit_code(),
            Self::Interrupted(error) => error.exit_code(),
            _ => 2,
        }
    }
}

/// Returns a level with its number and its name.
fn numbered(level: &Level) -> String {
    format!("level {} ({})", level.row(), level.name())
}

fn level_names() -> String {
    let names: Vec<String> =
        Level::TABLE.iter().map(|level| format!("{} {}", level.row(), level.name())).collect();
    names.join(", ")
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), MeasureError> {
    let interrupt = Interrupt::listen().map_err(OutputError::Signals)?;
    let Measured { report, done, all, ending } = measure(arguments, &interrupt)?;
    print(|out| if arguments.json { report.write_json(out) } else { report.write_table(out) })?;
    if interrupt.is_raised() {
        let then = "the table is of these";
        return Err(Interrupted::after_frames(done, all, then).into());
    }
    Ok(ending.result()?)
}

/// A report, the number of frames in it, and the number of all frames.
struct Measured {
    report: Report,
    done: u64,
    all: Option<u64>,
    /// Whether the file was read completely.
    ending: Ending,
}

/// Returns the requested levels, or all levels that the data allow, in the order of the table.
fn levels(arguments: &Arguments, quantized: bool) -> Result<Vec<Level>, MeasureError> {
    let measurable = |level: &Level| !quantized || Quantized::at(*level) == Quantized::Everything;
    if arguments.levels.is_empty() {
        return Ok(Level::TABLE.into_iter().filter(measurable).collect());
    }
    let named = |name: &String| {
        Level::named(name).ok_or_else(|| MeasureError::UnknownLevel { name: name.clone() })
    };
    let asked = arguments.levels.iter().map(named).collect::<Result<Vec<Level>, _>>()?;
    if let Some(level) = asked.iter().copied().find(|level| !measurable(level)) {
        return Err(if arguments.steps.max_error.is_empty() {
            MeasureError::NeedsFloats { path: arguments.file.clone(), level }
        } else {
            MeasureError::StepsOfFloats { level }
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
    /// Passes all frames to a ladder. A signal ends the measurement early. `next` adds one frame
    /// and returns its number of entities, or how the file ended.
    fn measure(
        self,
        history: History,
        mut ladder: Ladder,
        mut next: impl FnMut(&mut Ladder) -> Result<Result<usize, Ending>, MeasureError>,
    ) -> Result<Measured, MeasureError> {
        let bar = progress(self.all);
        let mut entities = 0;
        let mut ending = Ending::default();
        while !self.interrupt.is_raised() {
            match next(&mut ladder)? {
                Ok(count) => entities = entities.max(count),
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
                Shortage::BeforeFrom { frames, from: history.from }.of(self.name).into()
            } else {
                Shortage::for_baselines(frames, history.lag).of(self.name).into()
            });
        }
        let measurements = ladder.measurements();
        let pace = ladder.pace(self.rate_hz);
        let report = Report::new(self.name, history.lag, pace, entities, measurements);
        Ok(Measured { report, done, all, ending })
    }
}

fn measure(arguments: &Arguments, interrupt: &Interrupt) -> Result<Measured, MeasureError> {
    let mut captured = Captured::open(&arguments.file, arguments.capture.limits())?;
    let name = arguments.file.display().to_string();
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
        let entities = snapshot.len();
        ladder.add_snapshot(snapshot)?;
        Ok(Ok(entities))
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
    let Arguments { profile, precision, kinds, .. } = arguments;
    let ladder = Ladder::new(&levels(arguments, false)?, history, profile, *precision, *kinds)?;
    let source = Source { name, rate_hz, all: challenge.frames().map(u64::from), interrupt };
    let mut states = Vec::new();
    source.measure(history, ladder, |ladder| {
        let Some(Frame::Floats(frame)) = challenge.next_frame()? else {
            return Ok(Err(Ending::default()));
        };
        states.clear();
        states.extend(frame.states());
        ladder.add(&states).map_err(|bad| match bad {
            BadFrame::Value { entity, reason } => challenge.bad_value(entity, reason).into(),
            bad => MeasureError::from(bad),
        })?;
        Ok(Ok(states.len()))
    })
}

impl From<ChallengeError> for MeasureError {
    fn from(error: ChallengeError) -> Self {
        Self::Captured(error.into())
    }
}
