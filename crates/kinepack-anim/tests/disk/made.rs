//! Makes clips for the tests. Some are built from smooth motion, and some are written byte by byte.

use std::sync::Arc;

use kinepack::hash::Fnv1a;
use kinepack_anim::block::Interpolation;
use kinepack_anim::offline::{BlockOptions, BuildOptions, Scheme, build};
use kinepack_anim::{Clip, Curve, Marker, RawClip};

use crate::clip_support::smooth_clip;

/// Returns the memory form of a built clip.
pub(crate) fn built(seed: u64, joints: usize, samples: usize, precision_cm: f64) -> Clip {
    let options = BuildOptions { precision_cm, ..BuildOptions::default() };
    let built = build(&smooth_clip(seed, joints, samples), &options).unwrap();
    Clip::clone(built.clip.as_block().unwrap())
}

/// Returns a small clip of more than one segment.
pub(crate) fn basic() -> Clip {
    (0..50).map(|seed| built(seed, 2, 40, 0.1)).find(|clip| clip.segments() > 1).unwrap()
}

/// Returns the memory form of a built clip with four curves and two markers.
pub(crate) fn with_curves(seed: u64, joints: usize, samples: usize) -> Clip {
    let curve = |index: usize| Curve {
        name: ["blink", "smile", "jaw", "gain"][index].into(),
        precision: [0.001, 0.01, 0.002, 0.1][index],
        values: (0..samples)
            .map(|sample| (sample as f32 * 0.07 * (1 + index) as f32).sin().max(-0.2))
            .collect(),
    };
    let marker = |time_s| Marker { name: "step".into(), time_s };
    let raw = smooth_clip(seed, joints, samples).with_curves((0..4).map(curve).collect()).unwrap();
    let raw = raw.with_markers(vec![marker(0.0), marker(0.25)]).unwrap();
    let built = build(&raw, &BuildOptions::default()).unwrap();
    Clip::clone(built.clip.as_block().unwrap())
}

/// Returns the memory form of a built clip that is cubic between samples.
pub(crate) fn cubic(seed: u64, joints: usize, samples: usize) -> Clip {
    let block = BlockOptions { interpolation: Interpolation::Cubic, ..BlockOptions::default() };
    let options = BuildOptions { scheme: Scheme::Block(block), ..BuildOptions::default() };
    let built = build(&smooth_clip(seed, joints, samples), &options).unwrap();
    Clip::clone(built.clip.as_block().unwrap())
}

/// Returns the memory form of a built clip whose root travels far and jumps once.
pub(crate) fn far(seed: u64, joints: usize, samples: usize) -> Clip {
    let raw = smooth_clip(seed, joints, samples);
    let mut poses: Vec<_> = raw.poses().flatten().copied().collect();
    for (sample, pose) in poses.chunks_mut(joints).enumerate() {
        pose[0].translation[0] += 200.0 * sample as f32 + if sample > 50 { 1e5 } else { 0.0 };
    }
    let raw = RawClip::new("far", Arc::clone(raw.skeleton()), raw.rate_hz(), poses).unwrap();
    let options = BuildOptions { precision_cm: 0.01, ..BuildOptions::default() };
    let clip = Clip::clone(build(&raw, &options).unwrap().clip.as_block().unwrap());
    assert!(clip.is_far(0));
    clip
}

/// Returns a clip made from the bytes of its segments. The clip has a single joint with one live
/// component of its rotation, and block length 8.
pub(crate) fn of_segments(samples: u32, segments: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes =
        [&b"KPAB\x02\x20\x01\0"[..], &samples.to_le_bytes(), &30_f32.to_le_bytes()].concat();
    bytes.extend([2, 128, 128, 128, 200, 1, 77, 90, 0, 0]);
    let mut at = 0_u32;
    for segment in segments {
        bytes.extend(&at.to_le_bytes()[..3]);
        at += segment.len() as u32;
    }
    bytes.extend(segments.iter().flatten());
    bytes.extend(0x1234_5678_9abc_def0_u64.to_le_bytes());
    let mut hash = Fnv1a::new();
    hash.add(&bytes);
    bytes.extend((hash.finish() as u32).to_le_bytes());
    bytes
}
