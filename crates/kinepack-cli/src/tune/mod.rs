//! `kinepack tune`: finds the best profile for a capture, and measures its savings on a part of the
//! capture that it was not trained on.

mod measure;
mod order;
mod report;

use std::iter;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use command_kit::interrupt::{Interrupt, Interrupted};
use command_kit::output::{Batch, Force, Target};
use command_kit::table::write_json;
use command_kit::{Failure, OutputError, in_background, print};
use cube_data::cube;
use kinepack::profile::Bodies;
use kinepack::training::{ProfileSearch, TrainError, Training};
use kinepack::{Profile, Schema, Snapshot};
use report::{FurtherFile, Parts, Report, constant};

use crate::bodies::{BodyArguments, BodyError};
use crate::captured::{
    CaptureArguments, CapturedError, Snapshots, StreamArguments, is_cubes, lag_of, profile,
    profile_name,
};
use crate::ladder::{Parameters, ProfileError, Shortage, TooShort};
use crate::runs::{First, FrameReader, Opening, RunError};
use crate::steps::MaxError;

/// Search for the best profile for one capture, and measure its savings on held-out frames.
///
/// The first part of the capture trains the profile, and the rest only measures it. `tune` also
/// tries other orders of the fields, and with --max-error coarser steps. Use it to decide whether a
/// profile is worth it. `train` makes a profile from all frames of many captures, without
/// measuring.
///
/// Ctrl-C stops the search, writes the best profile found by then, and measures that one.
#[derive(Args)]
pub struct Arguments {
    /// A capture (.mcap), a replay (.kpz), or a file of the 2015 physics data compression challenge
    /// (.bin or .f32, plain or as .zst).
    file: PathBuf,
    /// More captures of the same schema. The model of the adaptive level also trains on their
    /// frames, so that it fits other data than the first capture too. Nothing else depends on these
    /// captures. Without --stream, each further capture is read from the stream that has the same
    /// name as the first capture's stream. If there is none, the only stream of the same schema is
    /// read. A capture with a different rate is trained on too, and the report then has both rates.
    /// At most 14,400 frames of each capture are read, and at most 1 GiB of all further captures
    /// together.
    #[arg(value_name = "FURTHER")]
    further: Vec<PathBuf>,
    #[command(flatten)]
    stream: StreamArguments,
    /// The file to write the profile to.
    #[arg(long, value_name = "PROFILE")]
    out: Option<PathBuf>,
    /// A file to write the profile to as a constant in Rust.
    #[arg(long, value_name = "FILE.rs")]
    rust: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    /// How many ticks older the baseline is: the newest frame of that age [default: 100 ms, which is
    /// 6 at 60 Hz, but at most 60]
    #[arg(long, value_name = "TICKS", value_parser = clap::value_parser!(u32).range(1..=60))]
    lag: Option<u32>,
    /// The share of the capture, at its end, that is only measured.
    #[arg(
        long,
        default_value_t = 25,
        value_name = "PERCENT",
        value_parser = clap::value_parser!(u32).range(1..=90)
    )]
    hold_out: u32,
    /// Passes over the data that improve the weights of the adaptive level.
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=1000))]
    passes: u32,
    /// Then let the profile learn from the training part, as the learning level does: up to 4 %
    /// fewer bytes at this lag, but up to 8 % more at others.
    #[arg(long)]
    learn: bool,
    /// The largest allowed error of a field, in the field's unit, or in degrees for a rotation. The
    /// report lists the coarsest steps within this error, and the profile is for these steps. To
    /// try that profile, give `measure` or `replay` the same option.
    #[arg(long, value_name = "FIELD=ERROR", value_delimiter = ',')]
    max_error: Vec<MaxError>,
    #[command(flatten)]
    bodies: BodyArguments,
    #[command(flatten)]
    capture: CaptureArguments,
    /// Print one JSON document instead of a table.
    #[arg(long)]
    json: bool,
}

/// The reason why no profile can be tuned for a capture.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TuneError {
    #[error(transparent)]
    Captured(#[from] CapturedError),
    #[error(transparent)]
    Profile(#[from] ProfileError),
    #[error(transparent)]
    TooShort(#[from] TooShort),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(
        "{}: a further capture is trained on whole, but this file's end is only measured: give it \
         once",
        path.display()
    )]
    Twice { path: PathBuf },
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error(transparent)]
    Training(#[from] TrainError),
    #[error("{}: {error}", path.display())]
    Bodies { path: PathBuf, error: BodyError },
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

impl Failure for TuneError {
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

pub(crate) fn run(arguments: &Arguments) -> Result<(), TuneError> {
    let inputs = iter::once(&arguments.file).chain(&arguments.further);
    let outputs = arguments.force.reading(inputs);
    let targets = outputs.targets([arguments.out.as_deref(), arguments.rust.as_deref()])?;
    arguments.check_further()?;
    // Files and options that do not fit are refused before any frame is read.
    let opening = arguments.opening();
    let mut stepped = opening.first(&arguments.file)?;
    let same = StreamArguments { stream: Some(stepped.stream().name.clone()) };
    let mut snapshots =
        Opening { stream: &same, max_error: &[], limits: opening.limits }.first(&arguments.file)?;
    let (stream, schema) = (snapshots.stream().clone(), stepped.schema().clone());
    let bodies = arguments.bodies.bodies(&stream.schema, &schema);
    let bodies =
        bodies.map_err(|error| TuneError::Bodies { path: arguments.file.clone(), error })?;
    let first = First { path: &arguments.file, stream: &stream };
    let further = opening.check(first, &arguments.further)?;
    let interrupt = Interrupt::listen().map_err(OutputError::Signals)?;
    let file = arguments.file.display().to_string();
    let (frames, ending) = reader(&interrupt).read(&arguments.file, &mut snapshots)?;
    see_that_reading_is_complete(&interrupt)?;
    let lag_ticks = lag_of(arguments.lag, stream.rate_hz);
    let training = training_frames(&frames, arguments.hold_out, lag_ticks)
        .map_err(|shortage| shortage.of(&file))?;
    let frames: Arc<[Snapshot]> = frames.into();
    // The first capture has enough frames. The others are read before the long search, so that a
    // bad state in one of them is reported early.
    let (runs, further_ending) = reader(&interrupt).read_further(opening, &further)?;
    see_that_reading_is_complete(&interrupt)?;
    let built_in = untuned(&stream.schema, &frames, training, lag_ticks, &interrupt)?;
    let frames = arguments.with_steps(frames, &mut stepped, &interrupt)?;
    see_that_reading_is_complete(&interrupt)?;
    let against = snapshots.pace().against(lag_ticks);
    let steps = stepped.steps().report(&stream.schema);
    drop((snapshots, stepped));
    let further_files = further.iter().zip(&runs);
    let further_files =
        further_files.map(|(further, run)| FurtherFile::new(further, run.len(), first)).collect();
    let tuning = Tuning {
        schema: schema.clone(),
        bodies,
        frames: Arc::clone(&frames),
        training,
        further: runs.into(),
        lag_ticks,
        passes: arguments.passes,
    };
    let found = tuning.search(arguments.learn, &interrupt)?;
    let bytes = found.profile.as_ref().map(Profile::to_bytes);
    if let Some(bytes) = &bytes {
        write(&targets, &schema, bytes)?;
    }
    let field_order = if interrupt.is_raised() { None } else { tuning.order(&interrupt)? };
    let tuned = found
        .profile
        .map(|profile| measure::parts(&schema, &profile, &frames, training, lag_ticks));
    let report = Report {
        file,
        stream: stream.name.clone(),
        rate_hz: stream.rate_hz,
        lag: lag_ticks,
        against,
        training_frames: training,
        held_out_frames: frames.len() - training,
        further: further_files,
        profile_bytes: bytes.as_ref().map(Vec::len),
        untuned: profile_name(&Parameters::BuiltIn, &stream.schema),
        schema_hash: format!("{:016x}", schema.hash()),
        built_in,
        tuned: tuned.transpose()?,
        steps,
        field_order,
    };
    print(|out| if arguments.json { write_json(&report, out) } else { report.write_table(out) })?;
    if !interrupt.is_raised() {
        return Ok(ending.and(further_ending).result()?);
    }
    let written = targets[0].as_ref().filter(|_| bytes.is_some());
    Err(stopped_later(found.stopped, written).into())
}

impl Arguments {
    /// Returns the frames with the steps that `--max-error` allows. Reads them again if there are
    /// such steps.
    fn with_steps(
        &self,
        frames: Arc<[Snapshot]>,
        stepped: &mut Snapshots,
        interrupt: &Interrupt,
    ) -> Result<Arc<[Snapshot]>, CapturedError> {
        if self.max_error.is_empty() {
            return Ok(frames);
        }
        // Two copies of a long capture may not fit into the memory.
        drop(frames);
        Ok(reader(interrupt).read(&self.file, stepped)?.0.into())
    }

    fn opening(&self) -> Opening<'_> {
        let limits = self.capture.limits();
        Opening { stream: &self.stream, max_error: &self.max_error, limits }
    }

    /// Refuses to train on the frames that are only measured.
    fn check_further(&self) -> Result<(), TuneError> {
        let Ok(file) = self.file.canonicalize() else { return Ok(()) };
        let is_file = |path: &&PathBuf| path.canonicalize().is_ok_and(|path| path == file);
        match self.further.iter().find(is_file) {
            Some(path) => Err(TuneError::Twice { path: path.clone() }),
            None => Ok(()),
        }
    }
}

/// The maximum number of frames that are kept of a capture, which is four minutes at 60 Hz.
const MAX_FRAMES: usize = 14_400;
/// The maximum memory of the first capture's frames, in bytes. The frames of all further captures
/// together have the same limit.
const MAX_BYTES: usize = 1 << 30;

fn reader(interrupt: &Interrupt) -> FrameReader<'_> {
    let all = FrameReader::of_range(0..u32::MAX, interrupt);
    FrameReader { most_frames: MAX_FRAMES, room_bytes: MAX_BYTES, ..all }
}

fn see_that_reading_is_complete(interrupt: &Interrupt) -> Result<(), Interrupted> {
    if interrupt.is_raised() { Err(stopped_early("reading")) } else { Ok(()) }
}

/// The error for a signal before anything was tuned.
fn stopped_early(stage: &str) -> Interrupted {
    Interrupted::new(format!("while {stage}; nothing was tuned"))
}

/// Returns the error for a signal during the search or after it. `stopped` is the stage that the
/// search had reached, and `written` is the file with the profile.
fn stopped_later(stopped: Option<&str>, written: Option<&Target>) -> Interrupted {
    let mut how_far =
        stopped.unwrap_or("after the profile was complete, while measuring it").to_owned();
    if let Some(out) = written {
        how_far.push_str(&format!("; it was written to {}", out.name().display()));
    }
    Interrupted::new(how_far)
}

/// Returns the number of frames to train on. Refuses captures with too few frames to train on, or
/// with too few held-out frames.
fn training_frames(frames: &[Snapshot], hold_out: u32, lag_ticks: u32) -> Result<usize, Shortage> {
    let training = frames.len() - frames.len() * hold_out as usize / 100;
    // For training, at least one frame needs both a baseline and an older state.
    let has_history = |(first, last): (&Snapshot, &Snapshot)| {
        u64::from(last.tick.0 - first.tick.0) >= 2 * u64::from(lag_ticks)
    };
    let suffice = |few: &[Snapshot]| few.first().zip(few.last()).is_some_and(has_history);
    let count = frames.len() as u32;
    if frames.is_empty() {
        return Err(Shortage::Empty);
    }
    if !suffice(&frames[..training]) {
        return Err(Shortage::ForTraining {
            frames: count,
            training: training as u32,
            hold_out,
            lag: lag_ticks,
            all_suffice: suffice(frames),
        });
    }
    if training == frames.len() {
        return Err(Shortage::ToHoldOut { frames: count, hold_out });
    }
    Ok(training)
}

/// Measures a stream as it is, without tuning.
fn untuned(
    schema: &Schema,
    frames: &Arc<[Snapshot]>,
    training: usize,
    lag_ticks: u32,
    interrupt: &Interrupt,
) -> Result<Parts, TuneError> {
    let built_in = profile(&Parameters::BuiltIn, schema)?;
    let parts = in_background("measured without tuning", interrupt, {
        let (schema, frames) = (schema.clone(), Arc::clone(frames));
        move |_| measure::parts(&schema, &built_in, &frames, training, lag_ticks)
    });
    parts.ok_or_else(|| stopped_early("measuring without tuning"))?
}

/// Writes a profile to the files that the options name.
fn write(
    [out, rust]: &[Option<Target>; 2],
    schema: &Schema,
    bytes: &[u8],
) -> Result<(), OutputError> {
    let mut batch = Batch::default();
    if let Some(out) = out {
        batch.write(out, bytes)?;
    }
    if let Some(rust) = rust {
        batch.write(rust, constant(schema, bytes).as_bytes())?;
    }
    batch.commit()
}

/// The data that the threads of a search share.
struct Tuning {
    schema: Schema,
    bodies: Option<Bodies>,
    frames: Arc<[Snapshot]>,
    /// The number of frames to train on.
    training: usize,
    /// The frames of further captures, which the model trains on as well.
    further: Arc<[Vec<Snapshot>]>,
    lag_ticks: u32,
    passes: u32,
}

/// The best profile that was found.
struct Found {
    /// The profile. The value is `None` if a signal arrived before one was found.
    profile: Option<Profile>,
    /// The stage that the search had reached when a signal ended it, worded to follow
    /// "interrupted". The value is `None` if no signal arrived.
    stopped: Option<&'static str>,
}

impl Tuning {
    fn search(&self, learns: bool, interrupt: &Interrupt) -> Result<Found, TuneError> {
        let mut found = self.profile(interrupt)?;
        if learns && found.stopped.is_none() {
            self.learn(&mut found, interrupt)?;
        }
        Ok(found)
    }

    fn profile(&self, interrupt: &Interrupt) -> Result<Found, TuneError> {
        let Self { schema, bodies, training, lag_ticks, passes, .. } = self;
        let (training, lag_ticks) = (*training, *lag_ticks);
        let structure = in_background("searched", interrupt, {
            let (schema, frames) = (schema.clone(), Arc::clone(&self.frames));
            let search = ProfileSearch { lag_ticks, ..ProfileSearch::default() };
            move |done| search.run(&schema, &[&frames[..training]], done)
        });
        let Some(structure) = structure.transpose()? else {
            let stopped = "while searching for classes; no profile was found yet, and none was \
                           written";
            return Ok(Found { profile: None, stopped: Some(stopped) });
        };
        let mut trainer = Training::new(structure, bodies.clone());
        trainer.packed_lag_ticks = lag_ticks;
        trainer.passes = *passes;
        // The word lengths are computed for the first capture alone.
        let lengths = trainer.lengths(schema, &[&self.frames[..training]])?;
        let model = in_background("trained", interrupt, {
            let (schema, frames) = (schema.clone(), Arc::clone(&self.frames));
            let further = Arc::clone(&self.further);
            move |done| {
                let further = further.iter().map(Vec::as_slice);
                let runs: Vec<&[Snapshot]> =
                    iter::once(&frames[..training]).chain(further).collect();
                trainer.model(&schema, &runs, done)
            }
        });
        Ok(match model.filter(|_| !interrupt.is_raised()).transpose()? {
            Some(model) => {
                Found { profile: Some(Profile { model: Some(model), ..lengths }), stopped: None }
            }
            None => {
                let model = if is_cubes(schema) { cube::profile().model } else { None };
                let stopped = "while training the model of the adaptive level; the profile holds \
                               the best word lengths and no new model";
                Found { profile: Some(Profile { model, ..lengths }), stopped: Some(stopped) }
            }
        })
    }

    /// Lets the profile that was found learn from the frames to train on.
    fn learn(&self, found: &mut Found, interrupt: &Interrupt) -> Result<(), TuneError> {
        let Some(profile) = found.profile.take() else { return Ok(()) };
        let learned = in_background("learned", interrupt, {
            let (schema, frames) = (self.schema.clone(), Arc::clone(&self.frames));
            let (profile, training) = (profile.clone(), self.training);
            let trainer = Training {
                packed_lag_ticks: self.lag_ticks,
                ..Training::new(Profile::untrained(&schema), None)
            };
            move |done| trainer.learn(&schema, &profile, &[&frames[..training]], done)
        });
        match learned.transpose()? {
            Some(learned) => found.profile = Some(learned),
            None => {
                found.profile = Some(profile);
                found.stopped = Some("while learning; the profile is that of training alone");
            }
        }
        Ok(())
    }

    /// Finds the best order of fields. Returns `None` after a signal.
    fn order(&self, interrupt: &Interrupt) -> Result<Option<order::FieldOrder>, TuneError> {
        let Self { schema, bodies, training, lag_ticks, .. } = self;
        let (training, lag) = (*training, *lag_ticks);
        let found = in_background("of the orders tried", interrupt, {
            let (schema, bodies, frames) =
                (schema.clone(), bodies.clone(), Arc::clone(&self.frames));
            move |done| order::best(&schema, bodies.as_ref(), &frames[..training], lag, done)
        });
        found.transpose().map(Option::flatten)
    }
}
