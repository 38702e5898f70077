//! A pose of a clip in metres, by the Rust library and through the C interface: into three arrays, forwards
//! at 60 poses a second, and at random times. `cargo bench -p kinepack-c --bench clip_through_c`.

#![allow(clippy::unwrap_used, reason = "a benchmark may panic")]

#[path = "../../kinepack-anim/examples/walks/mod.rs"]
mod walks;

use std::ptr::null;

use criterion::{Criterion, criterion_group, criterion_main};
use kinepack_anim::offline::{BuildOptions, build};
use kinepack_anim::{Metres, PoseWriter};
use kinepack_c::KpStatus;
use kinepack_c::clip::{KpClip, KpPlayer, kp_clip_from_bytes, kp_player_new, kp_player_sample};
use kinepack_c::columns::KpNumber;
use kinepack_c::pose::KpPose;
use kinepack_c::skeleton::{KpRig, KpSkeleton, kp_skeleton_from_bytes};
use walks::Random;

fn compare(c: &mut Criterion) {
    let raw = &walks::clips(1).unwrap()[2];
    let skeleton = raw.skeleton();
    let options = BuildOptions { precision_cm: 0.01, ..BuildOptions::default() };
    let clip = build(raw, &options).unwrap().clip;
    let mut random = Random(7);
    let forwards: Vec<f32> =
        (0..4096).map(|frame| frame as f32 / 60.0 % clip.duration_s()).collect();
    let drawn: Vec<f32> = forwards.iter().map(|_| random.between(0.0, clip.duration_s())).collect();
    for (name, times) in [("forwards", forwards), ("random", drawn)] {
        let mut group = c.benchmark_group(name);
        let mut pose = Arrays::new(skeleton.len());
        group.bench_function("rust", |b| {
            let mut player = clip.player(skeleton).unwrap();
            let mut times = times.iter().cycle();
            b.iter(|| player.write(*times.next().unwrap(), &mut Metres(&mut pose)));
        });
        group.bench_function("c", |b| {
            let player = player(&skeleton.to_bytes(), clip.as_bytes());
            let layout = KpPose {
                translations: pose.translations.as_mut_ptr().cast(),
                translation_stride: size_of::<[f32; 3]>(),
                rotations: pose.rotations.as_mut_ptr().cast(),
                rotation_stride: size_of::<[f32; 4]>(),
                scales: pose.scales.as_mut_ptr().cast(),
                scale_stride: size_of::<[f32; 3]>(),
                bones: skeleton.len(),
                bone_of_joint: null(),
                joints: 0,
                number: KpNumber::F32 as i32,
                w_first: 0,
                units_per_m: 1.0,
            };
            let mut times = times.iter().cycle();
            // SAFETY: `layout` describes `pose`, which lives longer.
            b.iter(|| unsafe {
                ok(kp_player_sample(player, *times.next().unwrap(), &raw const layout));
            });
        });
        group.finish();
    }
}

/// A pose as three arrays.
struct Arrays {
    translations: Vec<[f32; 3]>,
    rotations: Vec<[f32; 4]>,
    scales: Vec<[f32; 3]>,
}

impl Arrays {
    fn new(joints: usize) -> Self {
        Self {
            translations: vec![[0.0; 3]; joints],
            rotations: vec![[0.0; 4]; joints],
            scales: vec![[0.0; 3]; joints],
        }
    }
}

impl PoseWriter for Arrays {
    #[inline(always)]
    fn rotation(&mut self, joint: usize, rotation: [f32; 4]) {
        self.rotations[joint] = rotation;
    }

    #[inline(always)]
    fn translation(&mut self, joint: usize, translation: [f32; 3]) {
        self.translations[joint] = translation;
    }

    #[inline(always)]
    fn scale(&mut self, joint: usize, scale: [f32; 3]) {
        self.scales[joint] = scale;
    }
}

fn player(skeleton: &[u8], clip: &[u8]) -> KpPlayer {
    let mut of = (KpSkeleton { id: 0 }, KpClip { id: 0 }, KpPlayer { id: 0 });
    // SAFETY: all pointers point to live values.
    unsafe {
        ok(kp_skeleton_from_bytes(skeleton.as_ptr(), skeleton.len(), &raw mut of.0));
        ok(kp_clip_from_bytes(clip.as_ptr(), clip.len(), KpRig { id: 0 }, &raw mut of.1));
        ok(kp_player_new(of.1, of.0, &raw mut of.2));
    }
    of.2
}

fn ok(status: KpStatus) {
    assert_eq!(status, KpStatus::Ok);
}

criterion_group!(benches, compare);
criterion_main!(benches);
