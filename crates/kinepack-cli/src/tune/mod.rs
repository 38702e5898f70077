//! `kinepack tune`: the best profile for a capture, and what it gains on a part that it has not
//! seen.

mod measure;
mod order;
mod report;
mod steps;

use std::borrow::Cow;
use std::path::PathBuf;

use clap::Args;
use command_kit::output::{Batch, Force};
#[cfg(feature = "demo")]
use command_kit::progress;
use command_kit::table::write_json;
use command_kit::{Failure, OutputError, print};
use cube_data::cube;
#[cfg(feature = "demo")]
use demo::SessionError;
use kinepack::profile::Bodies;
use kinepack::schema::{FieldKind, Role};
use kinepack::training::{ProfileSearch, TrainError, Training};
use kinepack::{Profile, Schema, Snapshot};
use report::{Report, constant};
use steps::{MaxError, Steps};

use crate::captured::{CaptureArguments, Captured, CapturedError, lag_of, profile, profile_name};
use crate::ladder::{Parameters, ProfileError, TooShort};
use crate::train::with_shares;
#[cfg(feature = "demo")]
use crate::train::world::{self, STYLES};

/// Of what the built-in profile was trained on, so that it is not forgotten.
#[cfg(feature = "demo")]
const WORLD_FRAMES: u32 = 900;

/// Find the best profile for a capture, and say what it gains on frames that it was not made from.
#[derive(Args)]
pub(crate) struct Arguments {
    /// A capture: .mcap as a game, `kinepack record` or `kinepack convert` wrote it; or .bin or
    /// .f32 of the data compression challenge, or one of them as .zst.
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
    #[command(flatten)]
    force: Force,
    /// How many frames back the baseline is [default: 100 ms]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=60))]
    lag: Option<u32>,
    /// The last part of the capture, in percent, that is only measured.
    #[arg(long, default_value_t = 25, value_name = "PERCENT", value_parser = clap::value_parser!(u32).range(1..=90))]
    hold_out: u32,
    /// Passes over the data that improve the weights of the adaptive level.
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=1000))]
    passes: u32,
    /// How far a field may be off, in its unit, of a rotation in degrees: the coarsest steps within
    /// that are found, and the profile is for them.
    #[arg(long, value_name = "FIELD=ERROR", value_delimiter = ',')]
    max_error: Vec<MaxError>,
    /// The edge of a typical body, in the unit of the position, where the schema has a rigid body:
    /// neighbours then predict each other.
    #[arg(long, value_name = "LENGTH", value_parser = parse_length)]
    body_size: Option<f64>,
    /// Which axis points up.
    #[arg(long, value_name = "AXIS", default_value = "z", requires = "body_size", value_parser = ["x", "y", "z"])]
    body_up: String,
    /// How high the floor is on that axis, where there is one.
    #[arg(long, value_name = "HEIGHT", requires = "body_size", allow_negative_numbers = true)]
    body_floor: Option<f64>,
    #[command(flatten)]
    capture: CaptureArguments,
    /// Print one JSON document instead of a table.
    #[arg(long)]
    json: bool,
}

fn parse_length(text: &str) -> Result<f64, String> {
    let length = text.parse().ok().filter(|length: &f64| length.is_finite() && *length > 0.0);
    length.ok_or_else(|| format!("{text} is no length"))
}

/// Why a capture cannot be tuned for.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TuneError {
    #[error(transparent)]
    Captured(#[from] CapturedError),
    #[error(transparent)]
    Profile(#[from] ProfileError),
    #[error(transparent)]
    TooShort(#[from] TooShort),
    #[cfg(feature = "demo")]
    #[error(transparent)]
    World(#[from] SessionError),
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error(transparent)]
    Training(TrainError),
    #[error(
        "--body-size: the schema marks no position of three axes and rotation with #[pack(body)]; \
         leave it out"
    )]
    NoBody,
    #[error("--max-error {field}: {reason}")]
    MaxError { field: String, reason: String },
}

impl Failure for TuneError {
    fn exit_code(&self) -> u8 {
        match self {
            #[cfg(feature = "demo")]
            Self::World(error) => error.exit_code(),
            Self::Output(error) => error.exit_code(),
            _ => 2,
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), TuneError> {
    let [out, rust] =
        arguments.force.targets([arguments.out.as_deref(), arguments.rust.as_deref()])?;
    let mut captured = Captured::open(&arguments.file, arguments.capture.limits())?;
    let wanted = captured.find(arguments.stream.as_deref())?;
    let stream = captured.streams()[wanted].clone();
    let mut steps = Steps::new(&stream.schema, &arguments.max_error)?;
    let bodies = bodies(arguments, &stream.schema, &steps.schema)?;
    let frames = measure::read(&mut captured, wanted, &mut Steps::new(&stream.schema, &[])?)?;
    let training = frames.len() - frames.len() * arguments.hold_out as usize / 100;
    let lag_ticks = lag_of(arguments.lag, stream.rate_hz);
    let lag = lag_ticks as usize;
    if training <= 2 * lag || frames.len() - training == 0 {
        return Err(TooShort { frames: frames.len() as u32, lag: 3 * lag_ticks }.into());
    }
    let built_in = profile(&Parameters::BuiltIn, &stream.schema)?;
    let built_in = measure::parts(&stream.schema, &built_in, &frames, training, lag)?;
    let frames = if arguments.max_error.is_empty() {
        frames
    } else {
        drop(frames);
        measure::read(
            &mut Captured::open(&arguments.file, arguments.capture.limits())?,
            wanted,
            &mut steps,
        )?
    };
    let schema = &steps.schema;
    let tuned = tune(schema, bodies.as_ref(), &frames[..training], lag_ticks, arguments.passes)?;
    let field_order = with_shares("of the orders tried", |told| {
        order::best(schema, bodies.as_ref(), &frames[..training], lag, told)
    })?;
    let bytes = tuned.to_bytes();
    let report = Report {
        file: arguments.file.display().to_string(),
        stream: stream.name,
        lag: lag_ticks,
        training_frames: training,
        held_out_frames: frames.len() - training,
        profile_bytes: bytes.len(),
        untuned: profile_name(&Parameters::BuiltIn, &stream.schema),
        schema_hash: format!("{:016x}", schema.hash()),
        built_in,
        tuned: measure::parts(schema, &tuned, &frames, training, lag)?,
        steps: steps.report(&stream.schema),
        field_order,
    };
    let mut batch = Batch::default();
    if let Some(out) = out {
        batch.write(&out, &bytes)?;
    }
    if let Some(rust) = rust {
        batch.write(&rust, constant(schema, &bytes).as_bytes())?;
    }
    batch.commit()?;
    print(|out| if arguments.json { write_json(&report, out) } else { report.write_table(out) })?;
    Ok(())
}

/// What is known of the stream's rigid bodies, in the steps of `schema`.
fn bodies(
    arguments: &Arguments,
    stream: &Schema,
    schema: &Schema,
) -> Result<Option<Bodies>, TuneError> {
    if let Some(size) = arguments.body_size {
        let up = ["x", "y", "z"].iter().position(|axis| *axis == arguments.body_up).unwrap_or(2);
        let bodies = Bodies::of(schema, up as u8, [size / 2.0; 3], arguments.body_floor);
        return bodies.map(Some).ok_or(TuneError::NoBody);
    }
    if is_cubes(stream) {
        let step = |schema: &Schema| match &schema.fields()[0].kind {
            FieldKind::Floats(axes) => axes[0].step(),
            _ => 1.0,
        };
        return Ok(Some(cube::bodies().in_longer_steps(step(schema) / step(stream))));
    }
    if schema.fields().iter().any(|field| field.role == Role::Body) {
        eprintln!(
            "the schema has a rigid body: with --body-size its neighbours predict it, which takes fewer bits"
        );
    }
    Ok(None)
}

fn is_cubes(schema: &Schema) -> bool {
    cube::profile().schema_hash == schema.hash()
}

fn tune(
    schema: &Schema,
    bodies: Option<&Bodies>,
    frames: &[Snapshot],
    lag_ticks: u32,
    passes: u32,
) -> Result<Profile, TuneError> {
    let search = ProfileSearch { lag_ticks, ..ProfileSearch::default() };
    let structure = with_shares("searched", |told| search.run(schema, &[frames], told));
    let mut training = Training::new(structure.map_err(TuneError::Training)?, bodies.cloned());
    training.packed_lag_ticks = lag_ticks;
    training.passes = passes;
    // The word lengths are the capture's alone; the model keeps to what it knows of the world, too.
    let lengths = training.lengths(schema, &[frames]).map_err(TuneError::Training)?;
    #[cfg_attr(not(feature = "demo"), expect(unused_mut, reason = "only the world adds runs"))]
    let mut runs = vec![Cow::Borrowed(frames)];
    #[cfg(feature = "demo")]
    if is_cubes(schema) {
        let bar = progress(Some(WORLD_FRAMES * STYLES.len() as u32));
        for style in STYLES {
            runs.push(Cow::Owned(world::run(style, 1000, WORLD_FRAMES, &bar)?));
        }
        bar.finish_and_clear();
    }
    let model = with_shares("trained", |told| training.model(schema, &runs, told));
    Ok(Profile { model: Some(model.map_err(TuneError::Training)?), ..lengths })
}
