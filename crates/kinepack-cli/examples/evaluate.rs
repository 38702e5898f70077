//! What the adaptive level reaches with which training: each profile is measured on frames that it has not seen.
//!
//! `cargo run --release -p kinepack-cli --example evaluate -- TYPICAL PUSH`: two captures of the data compression challenge (.bin). Trains
//! five profiles, so it takes some minutes. With `--lags` it asks instead what one profile for all lags loses against one trained for each
//! lag alone.

use std::collections::VecDeque;
use std::error::Error;

use kinepack::{
    Baselines, Bodies, Codec, Decoder, Encoder, Learned, Level, Profile, Quantized, Schema, Snapshot, Tick, Training,
};
use kinepack_capture::cube;
use kinepack_capture::{Challenge, Frame};

/// Frames up to this one are trained on where a run is both trained and measured on.
const SPLIT: usize = 1400;
/// Lags, in ticks, that `--lags` compares.
const LAGS: [usize; 6] = [1, 3, 6, 9, 14, 20];

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let by_lag = arguments.iter().position(|argument| argument == "--lags").map(|at| arguments.remove(at)).is_some();
    let [typical, push] = &arguments[..] else { return Err("give two captures: TYPICAL PUSH".into()) };
    let schema = cube::schema(Quantized::Everything);
    let [typical, push] = [read(typical, &schema)?, read(push, &schema)?];
    let first = [&typical[..SPLIT], &push[..SPLIT]];
    if by_lag {
        return compare_lags(&schema, &first, [&typical, &push]);
    }
    println!(
        "| profile trained on | measured on | adaptive, older states 6 apart | 3 apart | learning, 6 apart | 3 apart |"
    );
    println!("|---|---|--:|--:|--:|--:|");
    let split = train(&schema, &first, Some(cube::bodies()), None)?;
    let row = |trained: &str, measured: &str, profile: &Profile, run: &[Snapshot], from: usize| {
        let [far, near, far_learning, near_learning] =
            [(Level::ADAPTIVE, 6), (Level::ADAPTIVE, 3), (Level::LEARNING, 6), (Level::LEARNING, 3)]
                .map(|(level, spacing)| bytes_a_frame(level, profile, run, from, 6, spacing));
        println!("| {trained} | {measured} | {far:.1} | {near:.1} | {far_learning:.1} | {near_learning:.1} |");
    };
    row("typical and push, frames below 1400", "typical, the later frames", &split, &typical, SPLIT);
    row("typical and push, frames below 1400", "push, the later frames", &split, &push, SPLIT);
    let of_typical = train(&schema, &[&typical[..]], Some(cube::bodies()), None)?;
    row("typical", "push", &of_typical, &push, 6);
    let of_push = train(&schema, &[&push[..]], Some(cube::bodies()), None)?;
    row("push", "typical", &of_push, &typical, 6);
    let built_in = cube::profile();
    row("the built-in world", "typical, the later frames", &built_in, &typical, SPLIT);
    row("the built-in world", "push, the later frames", &built_in, &push, SPLIT);
    row("the built-in world", "push", &built_in, &push, 6);
    let fields = train(&schema, &first, None, None)?;
    row("typical and push, frames below 1400, fields alone", "typical, the later frames", &fields, &typical, SPLIT);
    row("typical and push, frames below 1400, fields alone", "push, the later frames", &fields, &push, SPLIT);
    let untrained = cube::structure();
    row("nothing", "typical, the later frames", &untrained, &typical, SPLIT);
    row("nothing", "push, the later frames", &untrained, &push, SPLIT);
    Ok(())
}

fn compare_lags(schema: &Schema, first: &[&[Snapshot]], runs: [&[Snapshot]; 2]) -> Result<(), Box<dyn Error>> {
    let general = train(schema, first, Some(cube::bodies()), None)?;
    println!("| lag | typical, one profile | its own | more | push, one profile | its own | more |");
    println!("|--:|--:|--:|--:|--:|--:|--:|");
    for lag in LAGS {
        // A range of one lag; the range before it is not used.
        let ranges = if lag > 1 { vec![lag as u32 - 1, lag as u32] } else { vec![1] };
        let own = train(schema, first, Some(cube::bodies()), Some(ranges))?;
        let mut line = format!("| {lag} ");
        for run in runs {
            let [all, one] =
                [&general, &own].map(|profile| bytes_a_frame(Level::ADAPTIVE, profile, run, SPLIT, lag, lag));
            line += &format!("| {all:.1} | {one:.1} | {:.1} % ", (all / one - 1.0) * 100.0);
        }
        println!("{line}|");
    }
    Ok(())
}

fn train(
    schema: &Schema,
    runs: &[&[Snapshot]],
    bodies: Option<Bodies>,
    max_lags_ticks: Option<Vec<u32>>,
) -> Result<Profile, Box<dyn Error>> {
    let mut training = Training::new(cube::structure(), bodies);
    if let Some(max_lags_ticks) = max_lags_ticks {
        training.max_lags_ticks = max_lags_ticks;
    }
    training.snapshots_per_pass = 3000;
    Ok(training.run(schema, runs, |_| {})?)
}

/// Payload bytes a frame; every frame is decoded and compared. At a level that learns, each packet goes on from its baseline's.
fn bytes_a_frame(level: Level, profile: &Profile, run: &[Snapshot], from: usize, lag: usize, spacing: usize) -> f64 {
    let schema = cube::schema(Quantized::Everything);
    let codec = Codec::new(schema.clone(), level, profile.clone()).expect("it was trained for the schema");
    let (mut encoder, mut decoder) = (Encoder::new(&codec), Decoder::new(&codec));
    let (mut packet, mut decoded) = (Vec::new(), Snapshot::new(&schema, Tick(0)));
    // Of the last frames, what each side learned.
    let mut learned: VecDeque<[Option<Learned>; 2]> = VecDeque::new();
    let mut bytes = 0;
    for frame in from.max(lag)..run.len() {
        let known = [lag, lag + spacing, 2 * lag + spacing].into_iter().filter_map(|back| frame.checked_sub(back));
        let known: Vec<&Snapshot> = known.map(|frame| &run[frame]).collect();
        let baselines = Baselines::new(known[0], &known[1..]);
        let [ours, theirs] = if learned.len() == lag { learned.pop_front().unwrap_or_default() } else { [None, None] };
        packet.clear();
        encoder
            .encode(baselines.with_learned(ours.as_ref()), &run[frame], &mut packet)
            .expect("the schema is the codec's");
        decoder
            .decode(baselines.with_learned(theirs.as_ref()), &packet, run[frame].tick, &mut decoded)
            .expect("it was just encoded");
        assert!(decoded == run[frame], "frame {frame} does not come back as it was");
        learned.push_back([encoder.learned().cloned(), decoder.learned().cloned()]);
        bytes += packet.len();
    }
    bytes as f64 / (run.len() - from.max(lag)) as f64
}

fn read(path: &str, schema: &Schema) -> Result<Vec<Snapshot>, Box<dyn Error>> {
    let mut capture = Challenge::open(path)?;
    let mut run = Vec::new();
    while let Some(frame) = capture.next_frame()? {
        let mut snapshot = Snapshot::new(schema, Tick(run.len() as u32));
        let Frame::Quantized(frame) = frame else { return Err("give quantized captures (.bin)".into()) };
        frame.push_into(&mut snapshot)?;
        run.push(snapshot);
    }
    Ok(run)
}
