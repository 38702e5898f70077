//! Clips of random scenes keep their precision. The disk form returns their bytes, the naive player
//! plays the same poses, and loading, playing and unpacking take little memory.

mod scenes;

use std::cell::Cell;
use std::sync::Arc;

use allocation_counter::measure;
use kinepack_anim::disk::{Unpacker, pack, unpack};
use kinepack_anim::offline::{BlockOptions, BuildOptions, Effort, RigTrainer, Scheme, build};
use kinepack_anim::{AnyClip, Clip, RawClip, Rig, Sampler, Transform};
use proptest::prelude::*;
use proptest::sample::select;
use scenes::{Scene, scenes};

use crate::block::naive::{Naive, NaiveRig};
use crate::clip_support::{pose_floats, position};
use crate::object_space::{ROUNDING, errors_cm};
use crate::random::Random;
use crate::runner::for_all;

/// The number of scenes that a usual run draws.
const CASES: u32 = 120;

/// The options of a build.
#[derive(Clone, Copy, Debug)]
struct Choice {
    precision_cm: f64,
    effort: Effort,
    /// Whether the clip shares parameters with a rig.
    is_of_rig: bool,
}

fn choices() -> impl Strategy<Value = Choice> {
    let precision_cm = (-3.0f64..0.0).prop_map(|exponent| 10.0_f64.powf(exponent));
    let effort = select(vec![Effort::Fast, Effort::Default]);
    (precision_cm, effort, prop::bool::weighted(0.15))
        .prop_map(|(precision_cm, effort, is_of_rig)| Choice { precision_cm, effort, is_of_rig })
}

/// Returns the largest distance of a point from the root in any sample, in cm.
fn size_cm(raw: &RawClip) -> f64 {
    let mut largest = 0.0_f64;
    let mut reaches = vec![[0.0_f64; 2]; raw.joints()];
    for pose in raw.poses() {
        for (joint, transform) in pose.iter().enumerate() {
            let length = |numbers: [f32; 3]| {
                numbers.map(f64::from).iter().fold(0.0, |sum: f64, c| sum.hypot(*c))
            };
            let scale =
                transform.scale.iter().fold(0.0, |most: f64, c| most.max(f64::from(c.abs())));
            reaches[joint] = match raw.skeleton().parent(joint) {
                Some(parent) => {
                    let [cm, above] = reaches[parent];
                    [cm + above * length(transform.translation), above * scale]
                }
                None => [0.0, scale],
            };
            largest = largest.max(reaches[joint][0] + 3.0 * reaches[joint][1]);
        }
    }
    largest
}

/// Checks a clip of a scene. Returns whether the clip had to keep its precision without room for
/// the rounding of `f32`.
fn check(scene: &Scene, choice: Choice) -> bool {
    let Choice { precision_cm, effort, is_of_rig } = choice;
    let raw = scene.clip(0);
    let mut block = BlockOptions { effort, ..BlockOptions::default() };
    let mut options = BuildOptions { precision_cm, ..BuildOptions::default() };
    if is_of_rig {
        let mut trainer = RigTrainer::new(raw.skeleton());
        for clip in [&raw, &scene.clip(1)] {
            trainer.add(clip, &options).unwrap();
        }
        block.rig = Some(Arc::new(trainer.finish()));
    }
    let rig = block.rig.clone();
    options.scheme = Scheme::Block(block);
    let built = build(&raw, &options).unwrap();
    let clip = built.clip.as_block().unwrap();

    let size_cm = size_cm(&raw);
    let max_cm = built.errors.all.max_cm;
    let rounding_cm = ROUNDING * size_cm;
    let allowed_cm = precision_cm.max(rounding_cm);
    assert!(max_cm <= allowed_cm, "{max_cm} of {precision_cm} cm, size {size_cm} cm");
    let curve = built.errors.farthest_curve(&raw);
    assert!(curve.is_none_or(|(_, share)| share <= 1.0), "{curve:?}");
    if scene.seed.is_multiple_of(3) {
        let player = built.clip.player_with_bind_pose(&raw.skeleton().bind_pose()).unwrap();
        let measured = errors_cm(&raw, player, &vec![3.0; raw.joints()]);
        let largest = measured.into_iter().fold(0.0, f64::max);
        assert!(
            (largest - max_cm).abs() <= 1e-6 * (1e-6 + largest) + 1e-12 * size_cm.max(1e6),
            "{largest}, reported {max_cm}"
        );
    }
    check_disk(clip);
    check_poses(clip, rig.as_deref(), &raw, scene.seed);
    rounding_cm <= precision_cm
}

/// Checks that the disk form returns the same bytes, whether it is unpacked at once or in pieces.
fn check_disk(clip: &Clip) {
    let bytes = clip.as_bytes();
    let file = pack(clip).unwrap();
    let mut unpacked = Vec::new();
    let measured = measure(|| unpacked = unpack(&file).unwrap());
    assert!(unpacked == bytes);
    // Each component counts as 1024 bytes, as in `UnpackLimits`.
    let components = 9 * clip.joints() + clip.curves();
    let most = (1 << 18) + 3 * (bytes.len() + 1024 * components) as u64;
    assert!(measured.bytes_max < most, "{measured:?}");
    let mut unpacker = Unpacker::new();
    file.chunks(file.len().div_ceil(3)).for_each(|piece| unpacker.push(piece).unwrap());
    assert!(unpacker.finish().unwrap() == bytes);
}

/// Checks that poses, joints and curves equal those of the naive player. Loading must take memory
/// in proportion to the length of the bytes, and playing must take none.
fn check_poses(clip: &Clip, rig: Option<&Rig>, raw: &RawClip, seed: u64) {
    let bytes = clip.as_bytes();
    let naive_rig = rig.map(|rig| NaiveRig::read(&rig.to_bytes()).unwrap());
    let naive = Naive::read_with(bytes, naive_rig.as_ref()).unwrap();
    if rig.is_none() {
        let measured = measure(|| drop(AnyClip::from_bytes(bytes).unwrap()));
        assert!(measured.bytes_total < 1000 + 12 * bytes.len() as u64, "{measured:?}");
    }
    let bind = raw.skeleton().bind_pose();
    let sampler = Sampler::new(clip.clone(), raw.skeleton()).unwrap();
    let mut random = Random(seed);
    let last = (raw.samples() - 1) as f64;
    let mut times: Vec<f32> =
        (0..4).map(|_| clip.duration_s() * random.between(0.0, 1.0)).collect();
    times.extend([0.0, clip.duration_s(), (0.5 * last) as f32 / clip.rate_hz()]);
    let mut pose = bind.clone();
    let mut curves = vec![0.0; clip.curves()];
    let mut joint = Transform::IDENTITY;
    for time_s in times {
        let measured = measure(|| sampler.sample_with_curves(time_s, &mut pose, &mut curves));
        assert_eq!(measured.count_total, 0);
        let at = position(time_s, clip.rate_hz());
        let bits =
            |numbers: &[f32]| numbers.iter().map(|c| (c + 0.0).to_bits()).collect::<Vec<_>>();
        let ours = pose_floats(&pose);
        let theirs = naive.pose(at, &pose_floats(&bind));
        for (joint, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
            assert!(
                bits(ours) == bits(theirs),
                "joint {joint} at {time_s} s: {ours:?}, naive {theirs:?}"
            );
        }
        assert_eq!(bits(&curves), bits(&naive.curve_values(at)));
        for _ in 0..4 {
            let index = random.below(raw.joints() as u32) as usize;
            let measured = measure(|| joint = sampler.joint(time_s, index));
            assert_eq!((measured.count_total, joint), (0, pose[index]));
        }
    }
}

#[test]
fn clips_of_scenes_hold_the_precision() {
    let [exact, coarse] = [Cell::new(0), Cell::new(0)];
    for_all(CASES, (scenes(), choices()), |(scene, choice)| {
        let count = if check(&scene, choice) { &exact } else { &coarse };
        count.set(count.get() + 1);
    });
    assert!(exact.get() > 5 * coarse.get(), "{exact:?} held to their precision, {coarse:?} not");
}

#[test]
fn clips_of_1033_joints_hold_the_precision() {
    let scene = Scene::of_1033_joints();
    assert_eq!(scene.clip(0).joints(), 1033);
    for effort in [Effort::Fast, Effort::Default] {
        assert!(check(&scene, Choice { precision_cm: 0.01, effort, is_of_rig: false }));
    }
}

#[test]
fn ropes_with_large_coefficients_hold_the_precision() {
    for (scene, precision_cm) in Scene::ropes() {
        assert!(check(&scene, Choice { precision_cm, effort: Effort::Fast, is_of_rig: false }));
    }
}
