//! `kinepack train`: trains a profile on captures.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use command_kit::cube_precision::Precision;
use command_kit::interrupt::{Interrupt, Interrupted};
use command_kit::output::Force;
use command_kit::{Failure, OutputError, counted, in_background, say};
use cube_data::cube;
use kinepack::profile::Context;
use kinepack::training::{FeatureGroup, ProfileSearch, TrainError, Training};
use kinepack::{Profile, Schema, Snapshot};

use crate::bodies::{BodyArguments, BodyError};
use crate::captured::{
    CaptureArguments, CapturedError, Ending, Snapshots, StreamArguments, is_cubes, lag_of,
};
use crate::ladder::LadderError;
use crate::runs::{First, FrameReader, Further, Opening, RunError, Runs};
use crate::steps::StepArguments;

/// Train a profile on all frames of one or more captures, without measuring it.
///
/// A profile states which values are frequent. The levels from 9 on use it. To find out how much a
/// profile saves, use `tune`, which keeps a part of one capture for measuring. Use `train` for the
/// profile that you ship, made from everything you have captured.
#[derive(Args)]
pub struct Arguments {
    /// Captures (.mcap), replays (.kpz), or files of the 2015 physics data compression challenge
    /// (.bin or .f32, plain or as .zst). All must have the same schema. Without --stream, each
    /// further file is read from the stream that has the same name as the first file's stream, else
    /// from its only stream with that schema. Files with a different rate are trained on too, with
    /// a note.
    #[arg(value_name = "FILES", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    stream: StreamArguments,
    /// The file to write the profile to.
    #[arg(long, value_name = "PROFILE")]
    out: PathBuf,
    #[command(flatten)]
    force: Force,
    /// Start at this frame of each capture.
    #[arg(long, value_name = "FRAME", default_value_t = 0)]
    from: u32,
    /// Stop before this frame of each capture [default: train to the end]
    #[arg(long, value_name = "FRAME")]
    to: Option<u32>,
    /// Search for classes and contexts too. For data other than cubes, the search is always done;
    /// cubes have built-in classes and contexts.
    #[arg(long)]
    search: bool,
    /// Passes over the data that improve the weights of the adaptive level.
    #[arg(long, default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..=1000))]
    passes: u32,
    /// Snapshots that a pass uses for each range of lags.
    #[arg(long, default_value_t = 3000, value_parser = clap::value_parser!(u32).range(1..))]
    snapshots: u32,
    /// Leave out a group of the features that predict rigid bodies, to find out how much the group
    /// saves. Can be repeated.
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

/// The reason why a profile cannot be trained.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TrainingError {
    #[error(transparent)]
    Captured(#[from] CapturedError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error("{}: {error}", path.display())]
    Ladder { path: PathBuf, error: LadderError },
    #[error("{}: {error}", path.display())]
    Bodies { path: PathBuf, error: BodyError },
    #[error(transparent)]
    Training(#[from] TrainError),
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

impl Failure for TrainingError {
    fn exit_code(&self) -> u8 {
        match self {
            Self::Captured(error) => error.exit_code(),
            Self::Run(error) => error.exit_code(),
            Self::Output(error) => error.exit_code(),
            Self::Interrupted(error) => error.exit_code(),
            _ => 2,
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), TrainingError> {
    let target = arguments.force.reading(&arguments.files).target(&arguments.out)?;
    let opening = Opening {
        stream: &arguments.stream,
        max_error: &arguments.steps.max_error,
        limits: arguments.capture.limits(),
    };
    // Files and options that do not fit are refused before any frame is read.
    let (file, others) = arguments.files.split_first().ok_or(TrainError::TooShort)?;
    let snapshots = opening.first(file)?;
    let (stream, schema) = (snapshots.stream().clone(), snapshots.schema().clone());
    let first = First { path: file, stream: &stream };
    let further = opening.check(first, others)?;
    let bodies = arguments.bodies.bodies(&stream.schema, &schema);
    let bodies = bodies.map_err(|error| TrainingError::Bodies { path: file.clone(), error })?;
    let is_built_in = is_cubes(&schema);
    if !is_built_in && !arguments.precision.is_exact() {
        let error = LadderError::PrecisionOfCubes;
        return Err(TrainingError::Ladder { path: file.clone(), error });
    }
    further.iter().filter_map(|further| further.rate_note(first)).for_each(say);
    let interrupt = Interrupt::listen().map_err(OutputError::Signals)?;
    let range = arguments.from..arguments.to.unwrap_or(u32::MAX);
    let (runs, ending) = read(range, &interrupt, (file, snapshots), (opening, &further))?;
    let frames: usize = runs.iter().map(Vec::len).sum();
    let stopped = |stage: &str| {
        let frames = counted(frames, "frame");
        Interrupted::new(format!("while {stage} on {frames}; no profile was written"))
    };
    if interrupt.is_raised() {
        return Err(stopped("reading, before training").into());
    }
    let schema = arguments.precision.apply_to(schema);
    let runs: Arc<[Vec<Snapshot>]> = runs.into();
    let lag_ticks = lag_of(None, stream.rate_hz);
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

/// Prints the classes and contexts that a search found.
fn say_structure(schema: &Schema, structure: &Profile) {
    for (field, code) in schema.fields().iter().zip(&structure.fields) {
        let context = match code.context {
            Context::None => "each value by itself".to_owned(),
            Context::Previous => "depending on the class of the entity before".to_owned(),
            Context::Field(other) => {
                format!("depending on the class of {}", schema.fields()[other].name)
            }
        };
        // "Class" has no regular plural.
        let classes = match code.classes.len() {
            1 => "1 class".to_owned(),
            count => format!("{count} classes"),
        };
        say(format_args!("{}: {classes}, {context}", field.name));
    }
}

/// Reads the frames of all captures. Also returns whether all were read completely.
fn read(
    range: Range<u32>,
    interrupt: &Interrupt,
    (file, mut snapshots): (&Path, Snapshots),
    (opening, further): (Opening<'_>, &[Further]),
) -> Result<(Vec<Vec<Snapshot>>, Ending), RunError> {
    let (mut reader, mut runs) = (FrameReader::of_range(range, interrupt), Runs::default());
    reader.add(&mut runs, file, &mut snapshots)?;
    drop(snapshots);
    reader.add_further(&mut runs, opening, further)?;
    runs.finish()
}
