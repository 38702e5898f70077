//! Compares trainings for the levels that predict. Each profile is measured on frames that it was
//! not trained on.
//!
//! Run it with `cargo run --release -p comparisons --example evaluate -- TYPICAL PUSH`, where the
//! files are two captures of the data compression challenge (.bin). The program trains six
//! profiles, so it takes some minutes. With `--lags`, it instead compares one profile for all lags
//! with a profile for each lag.

use std::error::Error;

use cube_data::cube::{self, Quantized};
use kinepack::profile::Bodies;
use kinepack::schema::{Role, TimePrecision};
use kinepack::training::Training;
use kinepack::{Baselines, Codec, Decoder, Encoder, Level, Profile, Schema, Snapshot, View};
use kinepack_capture::analysis::Past;

/// If a run serves for both training and measuring, measuring begins with this frame. The earlier
/// frames are for training.
const SPLIT: usize = 1400;
/// The lags that `--lags` compares, in ticks.
const LAGS: [usize; 6] = [1, 3, 6, 9, 14, 20];
/// The lag of the baseline, and the distance from the baseline to the first older state, in frames.
/// The next constant has the same numbers for the second measured form.
const FAR: [usize; 2] = [6, 6];
const NEAR: [usize; 2] = [6, 3];

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let by_lag = arguments
        .iter()
        .position(|argument| argument == "--lags")
        .map(|at| arguments.remove(at))
        .is_some();
    let [typical, push] = &arguments[..] else {
        return Err("give two captures: TYPICAL PUSH".into());
    };
    let [typical, push] = [comparisons::runs::read(typical)?, comparisons::runs::read(push)?];
    let first = [&typical[..SPLIT], &push[..SPLIT]];
    if by_lag {
        return compare_lags(&first, [&typical, &push]);
    }
    println!(
        "| profile trained on | measured on | adaptive, older views 6 apart | 3 apart | learning, \
         6 apart | 3 apart |"
    );
    println!("|---|---|--:|--:|--:|--:|");
    let row = |trained: &str, measured: &str, profile: &Profile, run: &[Snapshot], from: usize| {
        let mut line = format!("| {trained} | {measured} |");
        for level in [Level::ADAPTIVE, Level::LEARNING] {
            for distances in [FAR, NEAR] {
                line += &format!(" {:.1} |", send(level, 0.0, profile, run, from, distances).bytes);
            }
        }
        println!("{line}");
    };
    let both = |trained: &str, profile: &Profile| {
        row(trained, "typical, from 1400 on", profile, &typical, SPLIT);
        row(trained, "push, from 1400 on", profile, &push, SPLIT);
    };
    both("both, up to 1400", &train(0.0, &first, Some(cube::bodies()), None)?);
    row("typical", "push", &train(0.0, &[&typical[..]], Some(cube::bodies()), None)?, &push, 6);
    row("push", "typical", &train(0.0, &[&push[..]], Some(cube::bodies()), None)?, &typical, 6);
    both("the built-in world", &cube::profile());
    row("the built-in world", "push", &cube::profile(), &push, 6);
    both("both, up to 1400, fields alone", &train(0.0, &first, None, None)?);
    both("nothing", &cube::structure());

    println!(
        "\n| time precision | measured on | adaptive, 6 apart | 3 apart | learning, 3 apart | off \
         by mm: mean | 99 % | most | degrees: mean | 99 % | most |"
    );
    println!("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for ms in [2.0, 4.0] {
        let profile = train(ms, &first, Some(cube::bodies()), None)?;
        for (name, run) in [("typical", &typical), ("push", &push)] {
            let far = send(Level::ADAPTIVE, ms, &profile, run, SPLIT, FAR).bytes;
            let near = send(Level::ADAPTIVE, ms, &profile, run, SPLIT, NEAR);
            let learning = send(Level::LEARNING, ms, &profile, run, SPLIT, NEAR).bytes;
            print!(
                "| ±{ms} ms | {name}, from 1400 on | {far:.1} | {:.1} | {learning:.1} |",
                near.bytes
            );
            let [[a, b, c], [d, e, f]] = [summary(near.off_mm), summary(near.off_deg)];
            println!(" {a:.1} | {b:.1} | {c:.1} | {d:.2} | {e:.2} | {f:.2} |");
        }
    }
    Ok(())
}

/// Returns the schema of cubes, with a time precision for bodies if it is not 0.
fn schema(time_precision_ms: f64) -> Schema {
    let precision = (time_precision_ms > 0.0).then(|| TimePrecision::new(time_precision_ms, 60.0));
    cube::schema(Quantized::Everything)
        .with_time_precision(|field| precision.filter(|_| field.role == Role::Body))
}

fn compare_lags(first: &[&[Snapshot]], runs: [&[Snapshot]; 2]) -> Result<(), Box<dyn Error>> {
    let general = train(0.0, first, Some(cube::bodies()), None)?;
    println!(
        "| lag | typical, one profile | its own | more | push, one profile | its own | more |"
    );
    println!("|--:|--:|--:|--:|--:|--:|--:|");
    for lag in LAGS {
        // The last range has a single lag. The range before it is not used.
        let ranges = if lag > 1 { vec![lag as u32 - 1, lag as u32] } else { vec![1] };
        let own = train(0.0, first, Some(cube::bodies()), Some(ranges))?;
        let mut line = format!("| {lag} ");
        for run in runs {
            let [all, one] = [&general, &own]
                .map(|profile| send(Level::ADAPTIVE, 0.0, profile, run, SPLIT, [lag; 2]).bytes);
            line += &format!("| {all:.1} | {one:.1} | {:.1} % ", (all / one - 1.0) * 100.0);
        }
        println!("{line}|");
    }
    Ok(())
}

fn train(
    time_precision_ms: f64,
    runs: &[&[Snapshot]],
    bodies: Option<Bodies>,
    max_lags_ticks: Option<Vec<u32>>,
) -> Result<Profile, Box<dyn Error>> {
    let mut training = Training::new(cube::structure(), bodies);
    if let Some(max_lags_ticks) = max_lags_ticks {
        training.max_lags_ticks = max_lags_ticks;
    }
    training.snapshots_per_pass = 3000;
    Ok(training.run(&schema(time_precision_ms), runs, |_| {})?)
}

/// The sizes and errors of the sent frames.
struct Sent {
    /// The mean payload of a frame in bytes.
    bytes: f64,
    /// The errors of the cubes that are not exact.
    off_mm: Vec<f64>,
    off_deg: Vec<f64>,
}

/// Sends the frames from `from` on. Each frame is coded against the view `lag` frames earlier. The
/// first older view is `spacing` frames before that view. Decodes and compares every frame.
fn send(
    level: Level,
    time_precision_ms: f64,
    profile: &Profile,
    run: &[Snapshot],
    from: usize,
    [lag, spacing]: [usize; 2],
) -> Sent {
    let schema = schema(time_precision_ms);
    let codec = Codec::new(schema, level, profile.clone()).expect("it was trained for the schema");
    let (mut encoder, mut decoder) = (Encoder::new(&codec), Decoder::new(&codec));
    let mut packet = Vec::new();
    let first = from.max(lag);
    let lags = [lag, spacing, lag];
    let mut past = Past::new(lags.iter().sum());
    run[..first].iter().for_each(|exact| drop(past.push(View::from(exact.clone()))));
    let mut sent = Sent { bytes: 0.0, off_mm: Vec::new(), off_deg: Vec::new() };
    for exact in &run[first..] {
        let known = Baselines::new(past.chain(exact.tick, lags.map(|lag| lag as u32)))
            .expect("each is older");
        packet.clear();
        let view = encoder.encode(known, exact, &mut packet).expect("the schema is the codec's");
        let decoded = decoder.decode(known, &packet, exact.tick).expect("it was just encoded");
        assert!(decoded == view, "frame {} does not come back as it was", exact.tick.0);
        decoder.recycle(decoded);
        for off in cube::off(exact, &view) {
            sent.off_mm.extend((off.position_m > 0.0).then_some(off.position_m * 1000.0));
            sent.off_deg.extend((off.angle_rad > 0.0).then_some(off.angle_rad.to_degrees()));
        }
        sent.bytes += packet.len() as f64;
        if let Some(forgotten) = past.push(view) {
            encoder.recycle(forgotten);
        }
    }
    sent.bytes /= (run.len() - first) as f64;
    sent
}

/// Returns the mean, the 99th percentile and the largest of `numbers`.
fn summary(mut numbers: Vec<f64>) -> [f64; 3] {
    numbers.sort_by(f64::total_cmp);
    let count = numbers.len();
    let [p99, max] = [count * 99 / 100, count.saturating_sub(1)]
        .map(|at| numbers.get(at).copied().unwrap_or(0.0));
    [numbers.iter().sum::<f64>() / count.max(1) as f64, p99, max]
}
