//! Generates synthetic motions, and measures the sizes of their packets at both levels that
//! predict.

use std::error::Error;
use std::f32::consts::TAU;

use kinepack::hash::Fnv1a;
use kinepack::training::Training;
use kinepack::{
    Baselines, Codec, Encoder, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick, View,
};
use kinepack_capture::analysis::Past;

/// An object that moves and turns.
#[derive(Clone, Copy, Pack)]
struct Mover {
    #[pack(range = -64.0..=64.0, precision = 0.01)]
    position: [f32; 3],
    #[pack(range = 0.0..TAU, bits = 9, wrap)]
    yaw: f32,
}

/// A function that sets the mover with a number to its state at a time in seconds.
type Motion = fn(&mut Mover, u32, f32);

const MOTIONS: [(&str, Motion); 9] = [
    ("circles", circle),
    ("one circle", one_circle),
    ("formation", formation),
    ("oscillators", oscillate),
    ("straight lines", straight),
    ("random walks", walk),
    ("bouncing", bounce),
    ("stop and go", stop_and_go),
    ("teleports", teleport),
];

/// The indices of the motions whose profiles are tried on all motions.
const TRAINED: [usize; 3] = [0, 3, 5];

const TICKS_PER_S: f32 = 30.0;
/// The distances in ticks from a packet to its baseline, from the baseline to an older view, and
/// from that view to another one.
const LAGS: [u32; 3] = [LAG, 1, LAG];
const LAG: u32 = 3;

/// Returns a number from 0 to 1 that is fixed for each `number`. The results are spread evenly.
fn share(number: u32) -> f32 {
    number as f32 * 0.618_034 % 1.0
}

/// Returns a number from 0 to 1 that looks random, but is fixed for a mover, a time and a place.
fn chance(number: u32, time: f32, place: u32) -> f32 {
    let mut hash = Fnv1a::new();
    [number, time.to_bits(), place].iter().for_each(|word| hash.add(&word.to_le_bytes()));
    (hash.finish() >> 40) as f32 / (1 << 24) as f32
}

fn circle(mover: &mut Mover, number: u32, time: f32) {
    let (radius, turn) = (2.0 + 8.0 * share(number), TAU * (share(number * 7) + time * 0.2));
    mover.position = [radius * turn.cos() + 3.0, 0.0, radius * turn.sin() - 5.0];
    mover.yaw = turn % TAU;
}

fn one_circle(mover: &mut Mover, number: u32, time: f32) {
    let turn = TAU * (time * 0.1 + number as f32 / 200.0);
    mover.position = [10.0 * turn.cos(), 0.0, 10.0 * turn.sin()];
    mover.yaw = turn % TAU;
}

/// Moves all movers in step.
fn formation(mover: &mut Mover, number: u32, time: f32) {
    let turn = TAU * time * 0.1;
    mover.position = [10.0 * turn.cos() + number as f32 * 0.2, 0.0, 10.0 * turn.sin()];
    mover.yaw = turn % TAU;
}

fn oscillate(mover: &mut Mover, number: u32, time: f32) {
    let turn = TAU * (share(number) + time * (0.5 + share(number * 3)));
    mover.position = [10.0 * share(number * 5), 2.0 * turn.sin(), 4.0];
    mover.yaw = 1.0 + 0.3 * turn.cos();
}

fn straight(mover: &mut Mover, number: u32, time: f32) {
    let speed = 4.0 * share(number) - 2.0;
    mover.position = [speed * time, 1.0, -0.5 * speed * time];
    mover.yaw = share(number) * TAU;
}

fn walk(mover: &mut Mover, number: u32, time: f32) {
    let step = |place| 0.2 * chance(number, time, place) - 0.1;
    mover.position = [0, 1, 2].map(|axis| mover.position[axis] + step(axis as u32));
    mover.yaw = (mover.yaw + step(3)).rem_euclid(TAU);
}

fn bounce(mover: &mut Mover, number: u32, time: f32) {
    let fall = (time * (0.6 + 0.4 * share(number)) + share(number * 3)) % 1.0;
    mover.position = [share(number) * 30.0 + time, 20.0 * fall * (1.0 - fall), 2.0];
}

fn stop_and_go(mover: &mut Mover, number: u32, time: f32) {
    let time = time + 3.0 * share(number);
    let (whole, part) = (time.floor(), time % 1.0);
    mover.position = [(whole + (part * 3.0).min(1.0)) * 0.8 - 20.0, 0.0, 20.0 * share(number)];
    mover.yaw = (whole + (part * 4.0 - 2.0).clamp(0.0, 1.0)) * 0.7 % TAU;
}

fn teleport(mover: &mut Mover, number: u32, time: f32) {
    if chance(number, time, 0) < 0.025 {
        mover.position = [1, 2, 3].map(|place| chance(number, time, place) * 100.0 - 50.0);
    } else {
        mover.position[0] = (mover.position[0] + 0.05).min(60.0);
    }
    mover.yaw = (time + share(number)) % TAU;
}

fn run(motion: Motion, movers: u32, frames: u32) -> Result<Vec<Snapshot>, Box<dyn Error>> {
    let schema = Schema::of::<Mover>();
    let mut states: Vec<Mover> = (0..movers)
        .map(|number| Mover { position: [share(number) * 9.0, 1.0, 0.0], yaw: 0.0 })
        .collect();
    let frame = |tick: u32| {
        let mut snapshot = Snapshot::new(&schema, Tick(tick));
        for (number, mover) in (0..).zip(&mut states) {
            motion(mover, number, tick as f32 / TICKS_PER_S);
            snapshot.push(EntityId(number), mover)?;
        }
        Ok(snapshot)
    };
    (0..frames).map(frame).collect()
}

/// Returns the mean size of a packet in bytes.
fn bytes(codec: &Codec, run: &[Snapshot]) -> Result<f64, Box<dyn Error>> {
    let mut encoder = Encoder::new(codec);
    let empty = View::empty(codec.schema());
    let mut past = Past::new(LAGS.iter().sum::<u32>() as usize);
    let (mut packet, mut sum) = (Vec::new(), 0);
    for snapshot in run {
        packet.clear();
        let known = match past.before(snapshot.tick, LAG) {
            Some(_) => Baselines::new(past.chain(snapshot.tick, LAGS))?,
            None => Baselines::from(&empty),
        };
        let view = encoder.encode(known, snapshot, &mut packet)?;
        sum += packet.len();
        past.push(view);
    }
    Ok(sum as f64 / run.len() as f64)
}

/// The mean size of a packet of one motion at each level.
pub(crate) struct Comparison {
    pub(crate) motion: &'static str,
    /// The motion on which the profile was trained.
    pub(crate) profile: &'static str,
    pub(crate) movers: u32,
    pub(crate) adaptive: f64,
    pub(crate) learning: f64,
}

/// Compares the levels on all motions, without a profile and with profiles of some motions. `sizes`
/// has the numbers of movers and frames.
pub(crate) fn compare(sizes: [(u32, u32); 2]) -> Result<Vec<Comparison>, Box<dyn Error>> {
    let schema = Schema::of::<Mover>();
    let mut profiles = vec![("none", Profile::untrained(&schema))];
    for (name, motion) in TRAINED.map(|nth| MOTIONS[nth]) {
        let training = Training {
            max_lags_ticks: vec![LAG],
            packed_lag_ticks: LAG,
            ..Training::new(Profile::magnitudes(&schema), None)
        };
        profiles.push((name, training.run(&schema, &[run(motion, 20, 300)?], |_| ())?));
    }
    let mut comparisons = Vec::new();
    for (name, motion) in MOTIONS {
        for (movers, frames) in sizes {
            let run = run(motion, movers, frames)?;
            for (of, profile) in &profiles {
                let of_level =
                    |level| bytes(&Codec::new(schema.clone(), level, profile.clone())?, &run);
                comparisons.push(Comparison {
                    motion: name,
                    profile: of,
                    movers,
                    adaptive: of_level(Level::ADAPTIVE)?,
                    learning: of_level(Level::LEARNING)?,
                });
            }
        }
    }
    Ok(comparisons)
}
