//! `kinepack train`: a profile from captures, or from the built-in world.

#[cfg(feature = "demo")]
pub(crate) mod world;

use std::path::{Path, PathBuf};

use clap::Args;
use command_kit::cube_precision::Precision;
use command_kit::output::Force;
use command_kit::{Failure, OutputError, progress};
use cube_data::cube::{Measured, Quantized};
use cube_data::{ChallengeError, Frame, cube};
#[cfg(feature = "demo")]
use demo::SessionError;
use indicatif::{ProgressBar, ProgressStyle};
use kinepack::training::{ProfileSearch, TrainError, Training};
use kinepack::{EncodeError, EntityId, Profile, Schema, Snapshot, Tick};
use kinepack_capture::CaptureLimits;

use crate::captured::{CaptureArguments, CapturedError, challenge};

/// Train a profile on captures: what the levels from 9 on expect of the data.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Captures: .bin or .f32 of the data compression challenge, or one of them as .zst. Without
    /// any, the built-in world: four minutes in each style but rest, seeds 1000 to 1003, which no
    /// measurement uses.
    files: Vec<PathBuf>,
    /// Where to put the profile.
    #[arg(long, value_name = "PROFILE")]
    out: PathBuf,
    #[command(flatten)]
    force: Force,
    /// The first frame of each capture to train on.
    #[arg(long, default_value_t = 0)]
    from: u32,
    /// The first frame of each capture not to train on; all to the end when not given.
    #[arg(long)]
    to: Option<u32>,
    /// Look for the classes and contexts too, instead of training the built-in ones.
    #[arg(long)]
    search: bool,
    /// Passes over the data that improve the weights.
    #[arg(long, default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..=1000))]
    passes: u32,
    /// Snapshots that a pass looks at, for each range of lags.
    #[arg(long, default_value_t = 3000, value_parser = clap::value_parser!(u32).range(1..))]
    snapshots: u32,
    #[command(flatten)]
    precision: Precision,
    #[command(flatten)]
    capture: CaptureArguments,
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
    Training(TrainError),
    #[cfg(not(feature = "demo"))]
    #[error("give captures to train on: this program is built without the built-in world")]
    NoWorld,
}

impl Failure for TrainingError {
    fn exit_code(&self) -> u8 {
        match self {
            #[cfg(feature = "demo")]
            Self::World(error) => error.exit_code(),
            Self::Output(error) => error.exit_code(),
            _ => 2,
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), TrainingError> {
    let target = arguments.force.target(&arguments.out)?;
    let runs = if arguments.files.is_empty() { world::runs()? } else { capture_runs(arguments)? };
    let schema = arguments.precision.of(cube::schema(Quantized::Everything));
    let structure = if arguments.search { searched(&schema, &runs)? } else { cube::structure() };
    let mut training = Training::new(structure, Some(cube::bodies()));
    training.passes = arguments.passes;
    training.snapshots_per_pass = arguments.snapshots as usize;
    let profile = with_shares("trained", |told| training.run(&schema, &runs, told));
    let profile = profile.map_err(TrainingError::Training)?;
    let bytes = profile.to_bytes();
    target.write(&bytes)?;
    let frames: usize = runs.iter().map(Vec::len).sum();
    eprintln!("{}: {} bytes, trained on {frames} frames", arguments.out.display(), bytes.len());
    Ok(())
}

/// The classes and contexts that take the fewest bits for `runs`.
fn searched(schema: &Schema, runs: &[Vec<Snapshot>]) -> Result<Profile, TrainingError> {
    let structure =
        with_shares("searched", |told| ProfileSearch::default().run(schema, runs, told));
    let structure = structure.map_err(TrainingError::Training)?;
    for (field, code) in schema.fields().iter().zip(&structure.fields) {
        eprintln!("{}: {} classes, {:?}", field.name, code.classes.len(), code.context);
    }
    Ok(structure)
}

/// Does what tells the share that is done, with a bar for it.
pub(crate) fn with_shares<R>(done: &str, work: impl FnOnce(&mut dyn FnMut(f64)) -> R) -> R {
    let style =
        ProgressStyle::with_template(&format!("{{bar:40}} {{percent}} % {done}, {{eta}} left"));
    let bar =
        ProgressBar::new(1000).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let result = work(&mut |share| bar.set_position((share * 1000.0) as u64));
    bar.finish_and_clear();
    result
}

fn capture_runs(arguments: &Arguments) -> Result<Vec<Vec<Snapshot>>, TrainingError> {
    let to = arguments.to.unwrap_or(u32::MAX);
    let limits = arguments.capture.limits();
    arguments.files.iter().map(|path| read_run(path, arguments.from, to, limits)).collect()
}

/// The frames `from` to `to` of a capture.
fn read_run(
    path: &Path,
    from: u32,
    to: u32,
    limits: CaptureLimits,
) -> Result<Vec<Snapshot>, TrainingError> {
    let mut capture = challenge(path, limits)?;
    let mut run = Vec::new();
    let mut states = Vec::new();
    let bar = progress(capture.frames().map(|frames| frames.min(to)));
    for tick in 0..to {
        let Some(frame) = capture.next_frame()? else { break };
        bar.inc(1);
        if tick < from {
            continue;
        }
        run.push(match frame {
            Frame::Quantized(frame) => {
                let mut snapshot = Snapshot::new(&cube::schema(Quantized::Everything), Tick(tick));
                frame.push_into(&mut snapshot)?;
                snapshot
            }
            Frame::Floats(frame) => {
                states.clear();
                states.extend(frame.states());
                quantized(&states, tick)
                    .map_err(|(object, error)| capture.bad_value(object, error.to_string()))?
            }
        });
    }
    bar.finish_and_clear();
    Ok(run)
}

/// A frame of floats as it is sent, or which object is out of range.
fn quantized(states: &[Measured], tick: u32) -> Result<Snapshot, (u32, EncodeError)> {
    let mut snapshot = Snapshot::new(&cube::schema(Quantized::Everything), Tick(tick));
    for (object, state) in (0..).zip(states) {
        let pushed = cube::push(&mut snapshot, Quantized::Everything, EntityId(object), *state);
        pushed.map_err(|error| (object, error))?;
    }
    Ok(snapshot)
}

impl From<ChallengeError> for TrainingError {
    fn from(error: ChallengeError) -> Self {
        Self::Captured(error.into())
    }
}

#[cfg(not(feature = "demo"))]
mod world {
    use super::TrainingError;

    pub(super) fn runs() -> Result<Vec<Vec<kinepack::Snapshot>>, TrainingError> {
        Err(TrainingError::NoWorld)
    }
}
