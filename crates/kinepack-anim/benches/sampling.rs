//! Measures the time of a pose of a block clip. The cases include one clip played forwards and at
//! random times, many clips that exceed a second-level cache, single joints, and masks of joints.
//! Further cases are a crowd, fast spins, and each instruction set that this machine has. The
//! benchmark also measures the time of a build with and without fast spins.
//!
//! Run it with `cargo bench -p kinepack-anim --bench sampling`. An element of the results is a
//! joint.

#[path = "../examples/walks/mod.rs"]
mod walks;

use std::f32::consts::TAU;
use std::hint::black_box;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use kinepack_anim::block::Interpolation;
use kinepack_anim::offline::{BlockOptions, BuildOptions, Scheme, build};
use kinepack_anim::{
    Clip, Instructions, Joint, JointMask, RawClip, Sampler, Skeleton, Transform, sample_batch,
};
use walks::Random;

const CHARACTERS: usize = 1000;
/// The number of clips, each with its own memory. One pose of each clip, with its sampler, reads
/// more than a second-level cache holds.
const COPIES: usize = 2000;
/// The length of a tick in seconds.
const TICK_S: f32 = 1.0 / 60.0;
/// The number of random times, which are drawn before the measurement.
const TIMES: usize = 4096;

/// The number of copies of the figure, below one root, in the rig of 1,033 joints.
const FIGURES: usize = 24;
/// The angle by which the spinning joints turn from one sample to the next.
const SPIN_DEGREES: f32 = 166.0;
/// One of every `SPINS` joints spins.
const SPINS: usize = 10;

/// Returns the raw clips of the figure.
fn raw_clips() -> Vec<RawClip> {
    walks::clips(1).expect("the figure is one")
}

fn options() -> BuildOptions {
    BuildOptions { precision_cm: 0.01, ..BuildOptions::default() }
}

/// Builds a clip and loads it.
fn load(raw: &RawClip) -> Clip {
    let built = build(raw, &options()).expect("numbers of a person's size").clip;
    Clip::from_bytes(built.as_bytes().to_vec()).expect("it was built")
}

/// Loaded clips of one skeleton.
struct Clips {
    clips: Vec<Clip>,
    bind: Vec<Transform>,
}

impl Clips {
    fn new() -> Self {
        let raw = raw_clips();
        Self { clips: raw.iter().map(load).collect(), bind: raw[0].skeleton().bind_pose() }
    }

    /// Returns the clip whose length is two seconds.
    fn walk(&self) -> &Clip {
        &self.clips[2]
    }

    fn sampler(&self, clip: &Clip) -> Sampler {
        Sampler::with_bind_pose(clip.clone(), &self.bind).expect("clips of one skeleton")
    }

    /// Returns the same walk, but with cubic interpolation between samples.
    fn cubic_walk(&self) -> Sampler {
        let raw = &raw_clips()[2];
        let block = BlockOptions { interpolation: Interpolation::Cubic, ..BlockOptions::default() };
        let scheme = Scheme::Block(block);
        let built = build(raw, &BuildOptions { scheme, ..options() })
            .expect("numbers of a person's size")
            .clip;
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

/// Measures whole poses of one clip, forwards and at random times, and of many clips, one after
/// another.
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
            // The next clip is far from the previous one in memory. All clips are played before the
            // first is played again, because the step and their number have no common divisor.
            at = (at + 1237) % COPIES;
            times.next().map(|time_s| samplers[at].sample(*time_s, black_box(&mut pose)))
        });
    });
    group.finish();
}

/// Measures one joint, and the joints of a level of detail.
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
    let many = of_1033_joints();
    let sampler = Sampler::new(load(&many), many.skeleton()).expect("the clip's skeleton");
    let last = many.joints() - 1;
    // The root is not measured, because it stays in the bind pose.
    for (name, joint) in [("first", 1), ("middle", last / 2), ("last", last)] {
        group.bench_function(format!("one-of-{}/{name}", last + 1), |bencher| {
            let mut times = times.iter().cycle();
            bencher.iter(|| times.next().map(|time_s| sampler.joint(*time_s, black_box(joint))));
        });
    }
    let sampler = all.sampler(clip);
    let half = all.bind.len() / 2;
    // The masks are the body without face and fingers, and the same number of joints spread over
    // all groups.
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

/// Measures a tick of a crowd. Each character is at another time in one of the clips.
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

/// Returns the clip of two seconds, for many figures in one skeleton.
fn of_1033_joints() -> RawClip {
    let raw = &raw_clips()[2];
    let root = Joint { name: "root".into(), parent: None, bind: Transform::IDENTITY };
    let mut joints = vec![root];
    for figure in 0..FIGURES {
        let first = joints.len() as u16;
        joints.extend(raw.skeleton().joints().iter().map(|joint| Joint {
            name: format!("{} {figure}", joint.name),
            parent: Some(joint.parent.map_or(0, |parent| first + parent)),
            bind: joint.bind,
        }));
    }
    let skeleton = Arc::new(Skeleton::new(joints).expect("parents come first"));
    let mut samples = Vec::new();
    for pose in raw.poses() {
        samples.push(Transform::IDENTITY);
        (0..FIGURES).for_each(|_| samples.extend_from_slice(pose));
    }
    RawClip::new("many", skeleton, raw.rate_hz(), samples).expect("valid poses")
}

/// Returns the same clip, but with some joints that turn fast about an axis.
fn spinning(raw: &RawClip) -> RawClip {
    let mut samples: Vec<Transform> = raw.poses().flatten().copied().collect();
    for (index, transform) in samples.iter_mut().enumerate() {
        let (sample, joint) = (index / raw.joints(), index % raw.joints());
        if joint % SPINS == SPINS - 1 {
            let angle = (SPIN_DEGREES / 360.0 * sample as f32).fract() * TAU;
            transform.rotation = [0.0, (0.5 * angle).sin(), 0.0, (0.5 * angle).cos()];
        }
    }
    RawClip::new("spins", Arc::clone(raw.skeleton()), raw.rate_hz(), samples).expect("valid poses")
}

/// Measures poses at random times, and builds, for a clip without and with joints that spin fast.
fn spins(criterion: &mut Criterion) {
    let walk = &raw_clips()[2];
    let mut group = criterion.benchmark_group("spins");
    for (name, raw) in [("none", walk), ("some", &spinning(walk))] {
        let sampler = Sampler::new(load(raw), raw.skeleton()).expect("the clip's skeleton");
        let (mut pose, times) = (raw.skeleton().bind_pose(), drawn(sampler.clip().duration_s()));
        group.throughput(Throughput::Elements(raw.joints() as u64));
        group.bench_function(format!("seek/{name}"), |bencher| {
            let mut times = times.iter().cycle();
            bencher
                .iter(|| times.next().map(|time_s| sampler.sample(*time_s, black_box(&mut pose))));
        });
        group.throughput(Throughput::Bytes(raw.raw_bytes() as u64));
        group.bench_function(format!("build/{name}"), |bencher| {
            bencher.iter(|| build(black_box(raw), &options()));
        });
    }
    group.finish();
}

/// Measures the same poses with the basic instructions of every machine, and with better ones.
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

criterion_group!(benches, poses, joints, crowd, spins, instructions);
criterion_main!(benches);
