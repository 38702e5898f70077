//! Measures the operations of players on poses: blends, inertia, root motion, retargeting.
//!
//! Run it with `cargo bench -p kinepack-anim --bench poses`. An element of the results is a joint.

#[allow(dead_code)]
#[path = "../examples/walks/mod.rs"]
mod walks;

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use kinepack_anim::pose::{
    Axis, Blend, Frames, Inertia, JointWeights, Layer, Passed, Retarget, RootMotion, blend,
};
use kinepack_anim::{Skeleton, Transform};

const DT_S: f32 = 1.0 / 60.0;

/// Poses of the generated walks, and their skeleton.
fn poses() -> (Vec<Vec<Transform>>, Skeleton) {
    let raw = walks::clips(1).expect("the figure is one");
    let poses = raw.iter().map(|raw| raw.pose(raw.samples() / 2).to_vec()).collect();
    (poses, Skeleton::clone(raw[0].skeleton()))
}

fn blends(criterion: &mut Criterion) {
    let (poses, skeleton) = poses();
    let (bind, mut own) = (skeleton.bind_pose(), skeleton.bind_pose());
    let weights = JointWeights::none(&skeleton).with_subtree(&skeleton, "spine", 1.0, 3);
    let weights = weights.expect("the figure has a spine");
    let layers: Vec<_> = poses.iter().take(4).map(|pose| Layer::new(pose, 0.25)).collect();
    let upper: Vec<_> = layers.iter().map(|layer| layer.with_weights(&weights)).collect();
    let mut group = criterion.benchmark_group("blend");
    group.throughput(Throughput::Elements(bind.len() as u64));
    group.bench_function("pair", |bencher| {
        bencher.iter(|| blend(black_box(&mut own), &poses[0], 0.5));
    });
    let mut measure = |name: &str, blend: Blend<'_>| {
        group.bench_function(name, |bencher| {
            bencher.iter(|| black_box(&blend).write(black_box(&mut own)));
        });
    };
    let whole = Blend::new(&bind);
    measure("2", Blend { layers: &layers[..2], ..whole });
    measure("4", Blend { layers: &layers, ..whole });
    measure("4/weights", Blend { layers: &upper, ..whole });
    measure("2/additive", Blend { layers: &layers[..2], additives: &layers[2..3], ..whole });
    group.finish();
}

fn transitions(criterion: &mut Criterion) {
    let (poses, skeleton) = poses();
    let mut own = skeleton.bind_pose();
    let mut inertia = Inertia::new();
    let shown = Frames { now: &poses[0], before: &poses[1] };
    let new = Frames { now: &poses[2], before: &poses[3] };
    let mut group = criterion.benchmark_group("inertia");
    group.throughput(Throughput::Elements(own.len() as u64));
    group.bench_function("start", |bencher| {
        bencher.iter(|| black_box(&mut inertia).start(black_box(shown), new, DT_S, 0.3));
    });
    group.bench_function("apply", |bencher| {
        bencher.iter(|| {
            own.copy_from_slice(black_box(&poses[2]));
            // A step of 0 seconds keeps the transition from ending while it is measured.
            inertia.apply(&mut own, 0.0);
        });
    });
    group.finish();
}

fn rigs(criterion: &mut Criterion) {
    let (poses, skeleton) = poses();
    let mut own = skeleton.bind_pose();
    let mut retarget = Retarget::new(&skeleton, &skeleton, &[]);
    let mut group = criterion.benchmark_group("rig");
    group.throughput(Throughput::Elements(own.len() as u64));
    group.bench_function("retarget", |bencher| {
        bencher.iter(|| retarget.apply(black_box(&poses[0]), black_box(&mut own)));
    });
    group.throughput(Throughput::Elements(1));
    let motion = RootMotion::on_ground(Axis::Y);
    let passed = Passed::looped(1.0, 0.9, 1.1);
    group.bench_function("root_motion", |bencher| {
        bencher
            .iter(|| motion.delta(|time_s| poses[(4.0 * time_s) as usize][0], black_box(&passed)));
    });
    group.finish();
}

criterion_group!(benches, blends, transitions, rigs);
criterion_main!(benches);
