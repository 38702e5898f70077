//! Tests clips that follow cubics between samples.

use std::sync::Arc;

use kinepack_anim::block::Interpolation;
use kinepack_anim::disk::{pack, unpack};
use kinepack_anim::offline::{BlockOptions, BuildOptions, Built, Scheme, build};
use kinepack_anim::{Clip, Joint, RawClip, Sampler, Skeleton, Transform};

use super::motions::{Motion, USUAL};
use super::play::compare;

fn built(raw: &RawClip, precision_cm: f64, interpolation: Interpolation) -> (Built, Arc<Clip>) {
    let scheme = Scheme::Block(BlockOptions { interpolation, ..BlockOptions::default() });
    let options = BuildOptions { precision_cm, scheme, ..BuildOptions::default() };
    let built = build(raw, &options).unwrap();
    let clip = built.clip.as_block().unwrap().clone();
    (built, clip)
}

/// Returns a clip of a joint that follows a path, sampled at 30 Hz.
fn path(samples: usize, place: impl Fn(f32) -> [f32; 3]) -> RawClip {
    let joint = Joint { name: "root".into(), parent: None, bind: Transform::IDENTITY };
    let skeleton = Arc::new(Skeleton::new(vec![joint]).unwrap());
    let at = |sample: usize| Transform {
        translation: place(sample as f32 / 30.0),
        ..Transform::IDENTITY
    };
    RawClip::new("path", skeleton, 30.0, (0..samples).map(at).collect()).unwrap()
}

#[test]
fn samples_are_those_of_a_linear_clip() {
    let raw = Motion { growth: 0.1, ..USUAL }.clip(3);
    let [linear, cubic] = [Interpolation::Linear, Interpolation::Cubic]
        .map(|interpolation| built(&raw, 0.05, interpolation));
    assert_eq!(cubic.1.header().interpolation, Interpolation::Cubic);
    assert_eq!(cubic.0.errors.all, linear.0.errors.all);
    assert_eq!(cubic.1.as_bytes().len(), linear.1.as_bytes().len() + 4);
    let bind = raw.skeleton().bind_pose();
    let poses = [linear.1, cubic.1].map(|clip| {
        let sampler = Sampler::with_bind_pose(clip, &bind).unwrap();
        let pose = |sample: usize| {
            let mut pose = bind.clone();
            sampler.sample_at(sample as f64, &mut pose);
            pose
        };
        (0..raw.samples()).map(pose).collect::<Vec<_>>()
    });
    assert!(poses[0] == poses[1]);
}

#[test]
fn smooth_motion_is_nearer_than_with_straight_lines() {
    // One turn of the helix takes 15 samples, so straight lines between them are up to 1 cm off.
    let place = |time_s: f32| {
        let angle = std::f32::consts::TAU * 2.0 * time_s;
        [50.0 * angle.cos(), 50.0 * angle.sin(), 20.0 * time_s]
    };
    let raw = path(130, place);
    let largest_cm = |interpolation| {
        let clip = built(&raw, 0.01, interpolation).1;
        compare(&clip, &raw.skeleton().bind_pose(), "path");
        let sampler = Sampler::new(clip, raw.skeleton()).unwrap();
        let distance_cm = |step: i32| {
            let time_s = step as f32 / 240.0;
            let [x, y, z] = place(time_s);
            let [a, b, c] = sampler.joint(time_s, 0).translation;
            (a - x).hypot(b - y).hypot(c - z)
        };
        (0..129 * 8).map(distance_cm).fold(0.0, f32::max)
    };
    let [linear, cubic] = [Interpolation::Linear, Interpolation::Cubic].map(largest_cm);
    assert!(linear > 1.0 && cubic < 0.3, "{linear} {cubic}");
}

#[test]
fn segments_that_join_do_not_jump() {
    let raw = path(100, |time_s| [30.0 * (3.0 * time_s).sin(), 100.0 * time_s, 0.0]);
    let clip = built(&raw, 0.01, Interpolation::Cubic).1;
    let sampler = Sampler::new(clip.clone(), raw.skeleton()).unwrap();
    let velocity = |position: f32| {
        let [from, to] = [position - 0.01, position + 0.01]
            .map(|position| sampler.joint(position / 30.0, 0).translation[0]);
        (to - from) * 50.0
    };
    for sample in 1..99 {
        let [before, after] = [-0.02, 0.02].map(|off| velocity(sample as f32 + off));
        assert!((before - after).abs() < 0.12, "{sample}: {before} {after}");
    }
}

#[test]
fn far_roots_and_loops_follow_cubics() {
    // The path begins 10 km from the origin, and advances by 3 m per sample.
    let raw = path(120, |time_s| [1e6 + 9000.0 * time_s, (2.0 * time_s).sin() * 100.0, 0.0]);
    let (own, clip) = built(&raw, 0.05, Interpolation::Cubic);
    assert!(clip.is_far(0));
    assert!(own.errors.between.max_cm < 0.4, "{:?}", own.errors.between);
    compare(&clip, &raw.skeleton().bind_pose(), "far");
    let turn = |time_s: f32| (std::f32::consts::TAU * time_s).sin() * 40.0;
    let raw = path(31, |time_s| [turn(time_s), turn(time_s + 0.25), 0.0]);
    let (own, clip) = built(&raw, 0.01, Interpolation::Cubic);
    assert!(clip.header().loops);
    assert!(own.errors.between.max_cm < 0.1, "{:?}", own.errors.between);
    compare(&clip, &raw.skeleton().bind_pose(), "loop");
}

#[test]
fn fast_spins_blend() {
    let raw = Motion { joints: 3, samples: 40, still: 0, turns: 7.0, ..USUAL }.clip(12);
    let (own, clip) = built(&raw, 0.02, Interpolation::Cubic);
    assert!(clip.header().blends);
    assert!(own.errors.all.max_cm <= 0.02 && own.errors.between.max_cm < 1.5, "{:?}", own.errors);
    compare(&clip, &raw.skeleton().bind_pose(), "spin");
}

#[test]
fn disk_files_keep_the_choice() {
    let clip = built(&USUAL.clip(4), 0.1, Interpolation::Cubic).1;
    assert_eq!(unpack(&pack(&clip).unwrap()).unwrap(), clip.as_bytes());
}
