//! The time of a pose of a block clip: one character forwards and at random times, many clips that
//! are not in a near cache, some joints, a crowd, and each set of instructions that this machine
//! has.
//!
//! `cargo bench -p kinepack-anim --bench sampling`. An element is a joint.

#[path = "../examples/walks/mod.rs"]
mod walks;

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use kinepack_anim::block::Interpolation;
use kinepack_anim::offline::{BlockOptions, BuildOptions, Scheme, build};
use kinepack_anim::{Clip, Instructions, JointMask, Sampler, Transform, sample_batch};
use walks::Random;

const CHARACTERS: usize = 1000;
/// The number of clips, each with its own memory. What a pose of each reads, with its sampler, is
/// more than a second-level cache holds.
const COPIES: usize = 2000;
/// The length of a tick in seconds.
const TICK_S: f32 = 1.0 / 60.0;
/// The number of random times, which are drawn before the measurement.
const TIMES: usize = 4096;

/// Loaded clips of one skeleton.
struct Clips {
    clips: Vec<Clip>,
    bind: Vec<Transform>,
}

impl Clips {
    fn new() -> Self {
        let raw = walks::clips(1).expect("the figure is one");
        let options = BuildOptions { precision_cm: 0.01, ..BuildOptions::default() };
        let load = |raw| {
            let built = build(raw, &options).expect("numbers of a person's size").clip;
            Clip::from_bytes(built.as_bytes().to_vec()).expect("it was built")
        };
        Self { clips: raw.iter().map(load).collect(), bind: raw[0].skeleton().bind_pose() }
    }

    /// The clip of two seconds.
    fn walk(&self) -> &Clip {
        &self.clips[2]
    }

    fn sampler(&self, clip: &Clip) -> Sampler {
        Sampler::with_bind_pose(clip.clone(), &self.bind).expect("clips of one skeleton")
    }

    /// The same walk, cubic between samples.
    fn cubic_walk(&self) -> Sampler {
        let raw = &walks::clips(1).expect("the figure is one")[2];
        let block = BlockOptions { interpolation: Interpolation::Cubic, ..BlockOptions::default() };
        let scheme = Scheme::Block(block);
        let options = BuildOptions { precision_cm: 0.01, scheme, ..BuildOptions::default() };
        let built = build(raw, &options).expect("numbers of a person's size").clip;
        self.sampler(built.as_block().expect("a block clip"))
    }

    fn joints(&self) -> u64 {
        self.bind.len() as u64
    }
}

fn drawn(duration_s: f32) -> Vec<f32> {
    let mut random = Random(7);
    (0..TIMES).map(|_| random.between(0.0, duration_s)).collect()
}

/// Whole poses: of one clip forwards and at random times, and of many clips, one after another.
fn poses(criterion: &mut Criterion) {
    let all = Clips::new();
    let (clip, mut pose) = (all.walk(), all.bind.clone());
    let sampler = all.sampler(clip);
    let duration_s = clip.duration_s();
    let mut group = criterion.benchmark_group("pose");
    group.throughput(Throughput::Elements(all.joints()));
    group.bench_function("forwards", |bencher| {
        let mut time_s = 0.0;
        bencher.iter(|| {
            time_s = (time_s + TICK_S) % duration_s;
            sampler.sample(time_s, black_box(&mut pose));
        });
    });
    let times = drawn(duration_s);
    group.bench_function("seek", |bencher| {
        let mut times = times.iter().cycle();
        bencher.iter(|| times.next().map(|time_s| sampler.sample(*time_s, black_box(&mut pose))));
    });
    let cubic = all.cubic_walk();
    for (name, step_s) in [("cubic/forwards", Some(TICK_S)), ("cubic/seek", None)] {
        group.bench_function(name, |bencher| {
            let (mut time_s, mut drawn) = (0.0, times.iter().cycle());
            bencher.iter(|| {
                time_s = match step_s {
                    Some(step_s) => (time_s + step_s) % duration_s,
                    None => drawn.next().copied().unwrap_or_default(),
                };
                cubic.sample(time_s, black_box(&mut pose));
            });
        });
    }
    // Each sampler owns a copy of the clip.
    let samplers: Vec<_> = (0..COPIES).map(|_| all.sampler(clip)).collect();
    group.bench_function("cold", |bencher| {
        let mut times = times.iter().cycle();
        let mut at = 0;
        bencher.iter(|| {
            // Far from the previous clip. All clips are played before the first is played again,
            // because the step and their number have no common divisor.
            at = (at + 1237) % COPIES;
            times.next().map(|time_s| samplers[at].sample(*time_s, black_box(&mut pose)))
        });
    });
    group.finish();
}

/// One joint, and the joints of a level of detail.
fn joints(criterion: &mut Criterion) {
    let all = Clips::new();
    let (clip, mut pose) = (all.walk(), all.bind.clone());
    let sampler = all.sampler(clip);
    let times = drawn(clip.duration_s());
    let mut group = criterion.benchmark_group("joints");
    for (name, joint) in [("first", 0), ("last", all.bind.len() - 1)] {
        group.throughput(Throughput::Elements(1));
        group.bench_function(format!("one/{name}"), |bencher| {
            let mut times = times.iter().cycle();
            bencher.iter(|| times.next().map(|time_s| sampler.joint(*time_s, black_box(joint))));
        });
    }
    let half = all.bind.len() / 2;
    // The body without face and fingers, and as many joints that are spread over all groups.
    let masks = [
        ("body", JointMask::new(all.bind.len(), |joint| joint < half)),
        ("every-second", JointMask::new(all.bind.len(), |joint| joint % 2 == 1)),
    ];
    for (name, mask) in &masks {
        group.throughput(Throughput::Elements(half as u64));
        group.bench_function(format!("mask/{name}"), |bencher| {
            let mut times = times.iter().cycle();
            bencher.iter(|| {
                times
                    .next()
                    .map(|time_s| sampler.sample_joints(*time_s, mask, black_box(&mut pose)))
            });
        });
    }
    group.finish();
}

/// A tick of a crowd. Each character is at another time in one of the clips.
fn crowd(criterion: &mut Criterion) {
    let all = Clips::new();
    let samplers: Vec<_> = all.clips.iter().map(|clip| all.sampler(clip)).collect();
    let mut random = Random(7);
    let mut requests: Vec<_> = (0..CHARACTERS)
        .map(|index| {
            let kind = index % samplers.len();
            (&samplers[kind], random.between(0.0, all.clips[kind].duration_s()))
        })
        .collect();
    let mut poses = vec![Transform::IDENTITY; CHARACTERS * all.bind.len()];
    let mut group = criterion.benchmark_group("batch");
    group.throughput(Throughput::Elements(CHARACTERS as u64 * all.joints()));
    group.bench_function(BenchmarkId::from_parameter(CHARACTERS), |bencher| {
        bencher.iter(|| {
            for (index, (_, time_s)) in requests.iter_mut().enumerate() {
                *time_s = (*time_s + TICK_S) % all.clips[index % all.clips.len()].duration_s();
            }
            sample_batch(&requests, black_box(&mut poses));
        });
    });
    group.finish();
}

/// The same poses with the basic instructions of every machine, and with better ones.
fn instructions(criterion: &mut Criterion) {
    let all = Clips::new();
    let (clip, mut pose) = (all.walk(), all.bind.clone());
    let times = drawn(clip.duration_s());
    let mut group = criterion.benchmark_group("instructions");
    group.throughput(Throughput::Elements(all.joints()));
    for instructions in
        Instructions::ALL.into_iter().filter(|instructions| instructions.is_available())
    {
        let sampler = all.sampler(clip).with_instructions(instructions);
        group.bench_function(format!("{instructions:?}").to_lowercase(), |bencher| {
            let mut times = times.iter().cycle();
            bencher
                .iter(|| times.next().map(|time_s| sampler.sample(*time_s, black_box(&mut pose))));
        });
    }
    group.finish();
}

criterion_group!(benches, poses, joints, crowd, instructions);
criterion_main!(benches);
