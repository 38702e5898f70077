//! Characters whose root scales them to a size of 100 m and more keep the precision, although `f32`
//! hardly has enough bits for their rotations.

use std::sync::Arc;

use kinepack_anim::offline::Effort;
use kinepack_anim::{RawClip, Transform};

use super::motions::{Motion, USUAL};
use super::play::{built, compare};

/// Returns the motion with the scale `scale` of the root. If `grows` is true, the scale changes
/// over time.
fn scaled(motion: Motion, seed: u64, scale: f32, grows: bool) -> RawClip {
    let raw = motion.clip(seed);
    let mut poses: Vec<Transform> = raw.poses().flatten().copied().collect();
    for (sample, pose) in poses.chunks_mut(raw.joints()).enumerate() {
        let growth = if grows { 1.0 + 0.1 * (0.05 * sample as f32).sin() } else { 1.0 };
        pose[0].scale = [scale * growth; 3];
    }
    RawClip::new("large", Arc::clone(raw.skeleton()), raw.rate_hz(), poses).unwrap()
}

#[test]
fn roots_of_any_scale_hold_the_precision() {
    let chain = Motion { joints: 24, chain: true, samples: 60, way_cm: 0.0, still: 4, ..USUAL };
    let jumpy = Motion { swing: 9.0, ..chain };
    let tree = Motion { chain: false, ..jumpy };
    for (seed, motion, scale, grows) in [
        (0, Motion { swing: 1.0, turns: 2.0, ..chain }, 300.0, false),
        (1, jumpy, 300.0, false),
        (1, jumpy, 100.0, true),
        (6, tree, 100.0, true),
        (2, USUAL, 0.01, false),
    ] {
        let raw = scaled(motion, seed, scale, grows);
        for effort in [Effort::Fast, Effort::Default] {
            let (built, clip) = built(&raw, 0.01, effort);
            let max_cm = built.errors.all.max_cm;
            assert!(max_cm <= 0.01, "{seed} {scale} {effort:?}: {max_cm} cm");
            compare(&clip, &raw.skeleton().bind_pose(), "large");
        }
    }
}

/// With a precision far below what floats can represent, the builder must make the nearest clip
/// possible, and not a coarser one. In an earlier version, joints were off by half a metre at
/// precisions below 1e-12 cm.
#[test]
fn no_precision_is_too_small() {
    let raw = USUAL.clip(3);
    let max_cm = |raw: &RawClip, precision_cm: f64| {
        built(raw, precision_cm, Effort::Default).0.errors.all.max_cm
    };
    let nearest = max_cm(&raw, 1e-5);
    for precision_cm in [1e-8, 1e-10, 1e-11, 1e-14, 1e-300] {
        let found = max_cm(&raw, precision_cm);
        assert!(found <= 2.0 * nearest, "{precision_cm} cm: {found} instead of {nearest} cm");
    }
}
