//! `kinepack train`: a profile from captures, or from the built-in world.

#[cfg(feature = "demo")]
pub(crate) mod world;

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use command_kit::cube_precision::Precision;
use command_kit::interrupt::{Interrupt, Interrupted};
use command_kit::output::Force;
use command_kit::{Failure, OutputError, counted, in_background, progress, say};
use cube_data::cube::{self, Quantized};
#[cfg(feature = "demo")]
use demo::SessionError;
use kinepack::profile::Context;
use kinepack::training::{FeatureGroup, ProfileSearch, TrainError, Training};
use kinepack::{Profile, Schema, Snapshot};

use crate::bodies::{BodyArguments, BodyError};
use crate::captured::{
    CaptureArguments, Captured, CapturedError, Ending, Snapshots, StreamArguments, is_cubes, lag_of,
};
use crate::ladder::LadderError;
use crate::steps::StepArguments;

/// Train a profile on all frames of one or more captures, and measure nothing.
///
/// A profile tells the levels from 9 on which values are frequent. Use `tune` to find out how much
/// a profile saves: it keeps a part of one capture for measuring. Use `train` for the profile that
/// you ship, made from everything you have captured. Without captures, it trains the profile of the
/// built-in world again.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Captures (.mcap), replays (.kpz), or files of the 2015 physics data compression challenge
    /// (.bin or .f32, plain or as .zst). All must have the same schema. Without any, the built-in
    /// world: four minutes in each style but rest, with the seeds 1000 to 1003, which no
    /// measurement uses.
    #[arg(id = "file", value_name = "FILES")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    stream: StreamArguments,
    /// The file to write the profile to.
    #[arg(long, value_name = "PROFILE")]
    out: PathBuf,
    #[command(flatten)]
    force: Force,
    /// The first frame of each capture to train on.
    #[arg(long, value_name = "FRAME", default_value_t = 0)]
    from: u32,
    /// The frame of each capture to stop before [default: train to the end]
    #[arg(long, value_name = "FRAME")]
    to: Option<u32>,
    /// Search for classes and contexts too. This is always done for data other than cubes, which
    /// have built-in ones.
    #[arg(long)]
    search: bool,
    /// Passes over the data that improve the weights of the adaptive level.
    #[arg(long, default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..=1000))]
    passes: u32,
    /// Snapshots that a pass uses for each range of lags.
    #[arg(long, default_value_t = 3000, value_parser = clap::value_parser!(u32).range(1..))]
    snapshots: u32,
    /// Leave out a group of the features that predict rigid bodies, to find out what it is worth.
    /// Can be repeated.
    #[arg(long, value_name = "GROUP", value_parser = feature_group())]
    without: Vec<FeatureGroup>,
    #[command(flatten)]
    steps: StepArguments,
    #[command(flatten)]
    bodies: BodyArguments,
    #[command(flatten)]
    precision: Precision,
    #[command(flatten)]
    capture: CaptureArguments,
}

/// Reads the name of a group.
fn feature_group() -> impl TypedValueParser<Value = FeatureGroup> {
    PossibleValuesParser::new(FeatureGroup::ALL.map(FeatureGroup::name)).map(|name| {
        let is_named = |group: &FeatureGroup| group.name() == name;
        FeatureGroup::ALL.into_iter().find(is_named).expect("the parser knows all names")
    })
}

/// Why a profile cannot be trained.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TrainingError {
    #[error(transparent)]
    Captured(#[from] CapturedError),
    #[cfg(feature = "demo")]
    #[error(transparent)]
    World(#[from] SessionError),
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error(transparent)]
    Ladder(#[from] LadderError),
    #[error(transparent)]
    Bodies(#[from] BodyError),
    #[error(transparent)]
    Training(#[from] TrainError),
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    #[error(
        "{}: its stream {stream} has another schema than that of {}; train them apart",
        path.display(),
        first.display()
    )]
    OtherSchema { path: PathBuf, stream: String, first: PathBuf },
    #[error(
        "{}: it has no frame from {from} on{}",
        path.display(),
        to.map_or(String::new(), |to| format!(" and before {to}"))
    )]
    NoFrame { path: PathBuf, from: u32, to: Option<u32> },
    #[cfg(not(feature = "demo"))]
    #[error("give captures to train on: this program is built without the built-in world")]
    NoWorld,
}

impl Failure for TrainingError {
    fn exit_code(&self) -> u8 {
        match self {
            Self::Captured(error) => error.exit_code(),
            #[cfg(feature = "demo")]
            Self::World(error) => error.exit_code(),
            Self::Output(error) => error.exit_code(),
            Self::Interrupted(error) => error.exit_code(),
            _ => 2,
        }
    }
}

/// What a profile is trained on.
struct Data {
    /// The schema of the streams as they were captured.
    stream: Schema,
    /// The schema of the runs.
    schema: Schema,
    rate_hz: f64,
    runs: Vec<Vec<Snapshot>>,
    /// Whether all files were read completely.
    ending: Ending,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), TrainingError> {
    let target = arguments.force.target(&arguments.out)?;
    let interrupt = Interrupt::listen().map_err(OutputError::Signals)?;
    let data = if arguments.files.is_empty() {
        let schema = cube::schema(Quantized::Everything);
        let runs = world::runs(&interrupt)?;
        Data { stream: schema.clone(), schema, rate_hz: 60.0, runs, ending: Ending::default() }
    } else {
        captured(arguments, &interrupt)?
    };
    let Data { stream, schema, rate_hz, runs, ending } = data;
    let frames: usize = runs.iter().map(Vec::len).sum();
    let stopped = |stage: &str| {
        let frames = counted(frames, "frame");
        Interrupted::new(format!("while {stage} on {frames}; no profile was written"))
    };
    if interrupt.is_raised() {
        return Err(stopped("reading, before training").into());
    }
    let bodies = arguments.bodies.bodies(&stream, &schema)?;
    let is_built_in = is_cubes(&schema);
    if !is_built_in && !arguments.precision.is_exact() {
        return Err(LadderError::PrecisionOfCubes.into());
    }
    let schema = arguments.precision.apply_to(schema);
    let runs: Arc<[Vec<Snapshot>]> = runs.into();
    let lag_ticks = lag_of(None, rate_hz);
    let structure = if is_built_in && !arguments.search {
        cube::structure()
    } else {
        let search = ProfileSearch { lag_ticks, ..ProfileSearch::default() };
        let (of, runs) = (schema.clone(), Arc::clone(&runs));
        let found = in_background("searched", &interrupt, move |done| search.run(&of, &runs, done));
        let structure = found.ok_or_else(|| stopped("searching for classes"))??;
        if arguments.search {
            say_structure(&schema, &structure);
        }
        structure
    };
    let mut training = Training::new(structure, bodies);
    training.packed_lag_ticks = lag_ticks;
    training.passes = arguments.passes;
    training.snapshots_per_pass = arguments.snapshots as usize;
    training.without.clone_from(&arguments.without);
    let trained =
        in_background("trained", &interrupt, move |done| training.run(&schema, &runs, done));
    let profile = trained.ok_or_else(|| stopped("training"))??;
    let bytes = profile.to_bytes();
    target.write(&bytes)?;
    say(format_args!(
        "{}: {}, trained on {}",
        arguments.out.display(),
        counted(bytes.len(), "byte"),
        counted(frames, "frame")
    ));
    Ok(ending.result()?)
}

/// Says which classes and contexts a search found.
fn say_structure(schema: &Schema, structure: &Profile) {
    for (field, code) in schema.fields().iter().zip(&structure.fields) {
        let context = match code.context {
            Context::None => "each value by itself".to_owned(),
            Context::Previous => "depending on the class of the entity before".to_owned(),
            Context::Field(other) => {
                format!("depending on the class of {}", schema.fields()[other].name)
            }
        };
        // A class has no regular plural.
        let classes = match code.classes.len() {
            1 => "1 class".to_owned(),
            count => format!("{count} classes"),
        };
        say(format_args!("{}: {classes}, {context}", field.name));
    }
}

/// The frames of all captures.
fn captured(arguments: &Arguments, interrupt: &Interrupt) -> Result<Data, TrainingError> {
    let mut all: Option<Data> = None;
    let mut empty = Vec::new();
    for path in &arguments.files {
        let captured = Captured::open(path, arguments.capture.limits())?;
        let mut snapshots =
            Snapshots::new(captured, &arguments.stream, &arguments.steps.max_error, &[])?;
        let data = all.get_or_insert_with(|| Data {
            stream: snapshots.stream().schema.clone(),
            schema: snapshots.schema().clone(),
            rate_hz: snapshots.stream().rate_hz,
            runs: Vec::new(),
            ending: Ending::default(),
        });
        if data.stream.hash() != snapshots.stream().schema.hash() {
            return Err(TrainingError::OtherSchema {
                path: path.clone(),
                stream: snapshots.stream().name.clone(),
                first: arguments.files[0].clone(),
            });
        }
        let (run, ending) = read_run(&mut snapshots, arguments, interrupt)?;
        if run.is_empty() && !interrupt.is_raised() {
            let Arguments { from, to, .. } = *arguments;
            empty.push(TrainingError::NoFrame { path: path.clone(), from, to });
        }
        data.runs.push(run);
        data.ending = std::mem::take(&mut data.ending).and(ending);
    }
    let are_all_empty = empty.len() == arguments.files.len();
    for error in empty {
        if are_all_empty {
            return Err(error);
        }
        say(format_args!("{error}; it is left out"));
    }
    Ok(all.ok_or(TrainError::TooShort)?)
}

/// The frames of a capture that were asked for, or those before a signal, and whether others were
/// lost.
fn read_run(
    snapshots: &mut Snapshots,
    arguments: &Arguments,
    interrupt: &Interrupt,
) -> Result<(Vec<Snapshot>, Ending), TrainingError> {
    let to = arguments.to.unwrap_or(u32::MAX);
    let bar = progress(snapshots.stream().frames.map(|frames| frames.min(u64::from(to))));
    let mut run = Vec::new();
    for frame in 0..to {
        if interrupt.is_raised() {
            break;
        }
        let Some(snapshot) = snapshots.next_snapshot()? else { break };
        bar.inc(1);
        if frame >= arguments.from {
            run.push(snapshot);
        }
    }
    bar.finish_and_clear();
    Ok((run, snapshots.end()?))
}

#[cfg(not(feature = "demo"))]
mod world {
    use command_kit::interrupt::Interrupt;

    use super::TrainingError;

    pub(super) fn runs(_: &Interrupt) -> Result<Vec<Vec<kinepack::Snapshot>>, TrainingError> {
        Err(TrainingError::NoWorld)
    }
}
