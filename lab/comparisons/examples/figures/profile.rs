//! Trains the profile that is built into the library, and measures it beside an untrained one.
//!
//! The profile has to suit any skeleton, precision and rate. So one training takes every clip at
//! several of each, as `kinepack figure send` would send it: with the file's own bind pose.

use command_kit::table::{Table, table};
use kinepack::training::{Pooled, Training};
use kinepack::{Codec, EntityId, Level, Profile, Schema, Snapshot, Tick};
use kinepack_anim::RawClip;
use kinepack_anim::figure::profile::{for_figures, typical_field, typical_schema};
use kinepack_anim::figure::{Figure, FigureError, FigurePose};
use kinepack_anim::live::ClipSource;
use serde::Serialize;

use crate::Outcome;
use crate::figures::{FIRST_TICK, Older, lag_ticks, lengths, mean};

/// The rates and precisions of the training. Each clip has all pairs.
const RATES_HZ: [u32; 3] = [20, 30, 60];
const PRECISIONS_CM: [f64; 4] = [0.1, 0.3, 1.0, 4.0];
/// The precisions that are measured. None of them trains.
const MEASURED_CM: [f64; 4] = [0.12, 0.5, 2.0, 5.0];
/// Short clips train only these, because files of hand-made clips have many of them.
const SHORT_CLIP_S: f32 = 10.0;
const OF_SHORT_CLIPS: [(u32, f64); 3] = [(20, 0.1), (30, 0.5), (60, 2.0)];
/// Clips shorter than this do not show how baselines age.
const LEAST_FRAMES: usize = 40;
const MAX_S: u32 = 60;
/// The upper ends of the ranges of baselines' ages, in ticks.
const MAX_LAGS_TICKS: [u32; 3] = [2, 6, 16];
const PASSES: u32 = 6;
/// The snapshots of each clip, rate and precision that a pass takes.
const SNAPSHOTS_PER_PASS: usize = 40;

/// A clip as a live source sends it.
struct Run {
    schema: Schema,
    worlds: Vec<Snapshot>,
}

impl Run {
    /// Returns `None` if the clip moves in a way that figures do not send, such as by scales.
    fn new(clip: &RawClip, hz: u32, precision_cm: f64) -> Outcome<Option<Self>> {
        let source = ClipSource::new(clip.clone(), false);
        let options = kinepack_anim::figure::FigureOptions { precision_cm, ..source.options() };
        let mut figure = Figure::new(source.skeleton(), &options)?;
        let schema = Schema::new(figure.fields());
        let (mut pose, mut curves, mut worlds) = (Vec::new(), Vec::new(), Vec::new());
        for frame in 0..MAX_S * hz {
            let plays = source.sample(f64::from(frame) / f64::from(hz), &mut pose, &mut curves);
            let mut world = Snapshot::new(&schema, Tick(FIRST_TICK + frame));
            let pose = FigurePose { curves: &curves, ..FigurePose::new(&pose) };
            match figure.push(&mut world, 0, EntityId(1), &pose) {
                Ok(()) => worlds.push(world),
                Err(FigureError::Unsent { .. }) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
            if !plays {
                break;
            }
        }
        Ok((worlds.len() >= LEAST_FRAMES).then_some(Self { schema, worlds }))
    }
}

/// Trains a profile of the typical fields on these clips.
pub(crate) fn train<'a>(clips: impl Iterator<Item = &'a RawClip>) -> Outcome<Profile> {
    let mut runs = Vec::new();
    for clip in clips {
        let all = RATES_HZ.iter().flat_map(|hz| PRECISIONS_CM.map(|cm| (*hz, cm))).collect();
        let is_short = clip.duration_s() < SHORT_CLIP_S;
        let variants: Vec<_> = if is_short { OF_SHORT_CLIPS.to_vec() } else { all };
        for (hz, precision_cm) in variants {
            runs.extend(Run::new(clip, hz, precision_cm)?);
        }
    }
    let schema = typical_schema()?;
    let training = Training {
        max_lags_ticks: MAX_LAGS_TICKS.to_vec(),
        passes: PASSES,
        snapshots_per_pass: SNAPSHOTS_PER_PASS,
        ..Training::new(Profile::untrained(&schema), None)
    };
    let sources = |run: &Run| run.schema.fields().iter().map(typical_field).collect();
    let sources: Vec<Vec<Option<usize>>> = runs.iter().map(sources).collect();
    let worlds: Vec<[&[Snapshot]; 1]> = runs.iter().map(|run| [&run.worlds[..]]).collect();
    let data = runs.iter().zip(&sources).zip(&worlds);
    let data: Vec<_> =
        data.map(|((run, sources), runs)| Pooled { schema: &run.schema, sources, runs }).collect();
    Ok(training.pooled(&schema, &data, |_| ())?)
}

/// The mean bytes per frame of a clip: untrained, and with the built-in profile.
#[derive(Serialize)]
pub(crate) struct Row {
    hz: u32,
    precision_cm: f64,
    /// At the adaptive level, without the frames that have no baseline.
    adaptive: [f64; 2],
    /// At the level that learns, in the first second, which begins with the whole state.
    first_second: [f64; 2],
    /// From then to the tenth second.
    ten_seconds: [f64; 2],
    later: [f64; 2],
}

/// Measures a clip with the profile that the library has built in, and with an untrained one.
/// Baselines are 100 ms old. Returns no rows for clips that are too short or not sent.
pub(crate) fn measure(clip: &RawClip) -> Outcome<Vec<Row>> {
    let mut rows = Vec::new();
    for hz in RATES_HZ {
        for precision_cm in MEASURED_CM {
            let Some(run) = Run::new(clip, hz, precision_cm)? else { continue };
            let profiles = [Profile::untrained(&run.schema), Figure::profile(&run.schema)];
            let [adaptive, learning] = [Level::ADAPTIVE, Level::LEARNING].map(|level| {
                profiles.each_ref().map(|profile| -> Outcome<Vec<usize>> {
                    let codec = Codec::new(run.schema.clone(), level, profile.clone())?;
                    lengths(&codec, &run.worlds, lag_ticks(hz), Older::AsInSessions)
                })
            });
            let both = |of: [Outcome<Vec<usize>>; 2]| -> Outcome<[Vec<usize>; 2]> {
                let [untrained, built_in] = of;
                Ok([untrained?, built_in?])
            };
            let (adaptive, learning) = (both(adaptive)?, both(learning)?);
            let second = hz as usize;
            let part = |from: usize, to: usize| {
                learning.each_ref().map(|lengths| {
                    let to = to.min(lengths.len());
                    mean(lengths[from.min(to)..to].iter().copied())
                })
            };
            rows.push(Row {
                hz,
                precision_cm,
                adaptive: adaptive.map(|lengths| {
                    let first = lag_ticks(hz) as usize + 2;
                    mean(lengths.into_iter().skip(first))
                }),
                first_second: part(0, second),
                ten_seconds: part(second, 10 * second),
                later: part(10 * second, usize::MAX),
            });
        }
    }
    Ok(rows)
}

/// Returns the mean bytes per frame at the adaptive level with a profile of the typical fields.
pub(crate) fn bytes(
    typical: &Profile,
    schema: &Schema,
    worlds: &[Snapshot],
    lag_ticks: u32,
) -> Outcome<f64> {
    let codec = Codec::new(schema.clone(), Level::ADAPTIVE, for_figures(typical, schema)?)?;
    crate::figures::bytes(&codec, worlds, lag_ticks)
}

/// Returns the table of a clip.
pub(crate) fn profile_table(rows: &[Row]) -> Table {
    let header = [
        "poses\na second",
        "precision, cm",
        "adaptive:\nuntrained",
        "\nbuilt in",
        "learning, 1st s:\nuntrained",
        "\nbuilt in",
        "1 to 10 s:\nuntrained",
        "\nbuilt in",
        "after 10 s:\nuntrained",
        "\nbuilt in",
    ];
    let cells = rows.iter().map(|row| {
        let pairs = [row.adaptive, row.first_second, row.ten_seconds, row.later];
        let mut cells = vec![row.hz.to_string(), row.precision_cm.to_string()];
        cells.extend(pairs.iter().flatten().map(|bytes| format!("{bytes:.1}")));
        <[String; 10]>::try_from(cells).unwrap_or_default()
    });
    table(header, 0, cells)
}
