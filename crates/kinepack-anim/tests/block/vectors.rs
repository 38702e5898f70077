//! The frozen block clips of `spec/vectors/clip_block.txt`, and the poses that they play. The file
//! stores the bytes of every clip, so later readers are tested on them even if later builders write
//! other bytes. An earlier builder wrote the clips whose names begin with `built`.
//!
//! `KINEPACK_WRITE_VECTORS=1 cargo test -p kinepack-anim block::vectors` writes the file again.

use std::path::PathBuf;

use kinepack_anim::offline::Effort;
use kinepack_anim::{Clip, Sampler, Transform};

use super::motions::{Motion, USUAL};
use super::naive::Naive;
use super::play::{assert_bits, assert_curves, assert_labels, built};
use super::write::{ANIMATED, CONSTANT, DEFAULT, FAR, Parts, Track, escaped, kinds};
use crate::clip_support::{dumped, hex, pose_floats, pose_hex};
use crate::random::Random;

const POSITIONS: [f64; 10] = [-1.0, 0.0, 0.4, 1.0, 1.75, 5.5, 9.0, 15.25, 31.5, 1000.0];

/// Returns the clip whose bytes `spec/ANIM.md` shows in section 13.1.
fn worked() -> Parts {
    let mut parts = Parts::new(8, 3, vec![kinds(DEFAULT, ANIMATED, DEFAULT)]);
    parts.vectors = vec![Track { middle: [0.0, 4.0, 0.0], steps: [0, 192, 0], ..Track::default() }];
    parts.segments = vec![escaped(8, 96, &[vec![(18, 6), (-68, 8), (-65, 8)]])];
    parts
}

/// Returns a clip with tracks of all kinds.
fn mixed(n: usize, samples: u32, loops: bool, is_fine: bool, joints: usize) -> Parts {
    let all = [
        kinds(ANIMATED, ANIMATED, CONSTANT),
        kinds(CONSTANT, DEFAULT, ANIMATED),
        kinds(ANIMATED, CONSTANT, DEFAULT),
    ];
    let mut parts = Parts::new(n, samples, (0..joints).map(|joint| all[joint % 3]).collect());
    (parts.loops, parts.is_fine) = (loops, is_fine);
    parts.filled(&mut Random(n as u64 + u64::from(samples)))
}

/// Returns a clip with escaped widths up to the largest, in both pieces.
fn escape() -> Parts {
    let mut parts = Parts::new(32, 30, vec![kinds(DEFAULT, ANIMATED, DEFAULT)]);
    parts.vectors =
        vec![Track { middle: [1.0, 2.0, 3.0], steps: [150, 160, 140], ..Track::default() }];
    let widths =
        |axis: usize| move |k: usize| [(k * 5 % 25) as u8, if k < 16 { 0 } else { 7 }, 24][axis];
    let number = |k: usize, width: u8| {
        if width == 0 { 0 } else { (k as i32 * 7_654_321) % (1 << (width - 1)) }
    };
    let component =
        |axis: usize| (0..30).map(|k| (number(k, widths(axis)(k)), widths(axis)(k))).collect();
    parts.segments = vec![escaped(32, 90, &[component(0), component(1), component(2)])];
    parts
}

/// Returns a clip with a far translation and other tracks. Some segments have an anchor for each
/// sample.
fn far() -> Parts {
    let own = vec![kinds(ANIMATED, ANIMATED, DEFAULT) | FAR, kinds(ANIMATED, ANIMATED, DEFAULT)];
    Parts::new(8, 30, own).filled(&mut Random(6))
}

/// Returns a clip with curves and markers. A clip of one joint that does not move loops.
fn curves(n: usize, samples: u32, kinds: Vec<u8>, curves: usize) -> Parts {
    let loops = kinds == [DEFAULT];
    let parts =
        Parts { curves, loops, labels: Some(labels(curves)), ..Parts::new(n, samples, kinds) };
    parts.filled(&mut Random(curves as u64))
}

/// Names of curves, and three markers.
fn labels(curves: usize) -> Vec<u8> {
    let name = |name: &str| [&(name.len() as u16).to_le_bytes()[..], name.as_bytes()].concat();
    let mut bytes: Vec<u8> = (0..curves).flat_map(|curve| name(&format!("c{curve}"))).collect();
    bytes.extend(3_u16.to_le_bytes());
    for (position, own) in [(0.0_f32, "begin"), (4.5, "müde"), (4.5, "")] {
        bytes.extend([&position.to_le_bytes()[..], &name(own)].concat());
    }
    bytes
}

/// Returns the clips by name. `None` marks a clip that is built when the vectors are written.
fn clips() -> Vec<(&'static str, Option<Vec<u8>>)> {
    let mut constants = Parts::new(
        16,
        9,
        vec![kinds(CONSTANT, CONSTANT, CONSTANT), kinds(CONSTANT, DEFAULT, CONSTANT)],
    );
    constants = constants.clone().filled(&mut Random(4));
    let parts = [
        ("worked", worked()),
        ("n8", mixed(8, 20, false, false, 3)),
        ("n16", mixed(16, 40, false, true, 3)),
        ("n32", mixed(32, 45, false, false, 3)),
        ("loop8", mixed(8, 17, true, true, 3)),
        ("loop16", mixed(16, 12, true, false, 3)),
        ("loop32", mixed(32, 70, true, true, 2)),
        ("groups", mixed(16, 5, false, false, 14)),
        ("skip_points", mixed(8, 10, false, false, 55)),
        ("far", far()),
        ("blends", Parts { blends: true, ..mixed(16, 21, false, false, 3) }),
        ("one", mixed(8, 1, false, true, 3)),
        ("escape", escape()),
        ("constants", constants),
        ("curves", curves(16, 20, vec![kinds(ANIMATED, CONSTANT, ANIMATED); 3], 7)),
        ("curves_loop", curves(8, 12, vec![DEFAULT], 1)),
        ("curves_skip_points", curves(32, 9, vec![kinds(ANIMATED, ANIMATED, DEFAULT)], 240)),
        ("cubic8", Parts { is_cubic: true, ..mixed(8, 21, false, false, 3) }),
        ("cubic16", Parts { is_cubic: true, blends: true, ..mixed(16, 75, false, true, 2) }),
        ("cubic32", Parts { is_cubic: true, ..mixed(32, 66, true, false, 3) }),
        ("cubic_two", Parts { is_cubic: true, ..mixed(8, 3, true, false, 3) }),
        ("cubic_one", Parts { is_cubic: true, ..mixed(16, 2, true, false, 3) }),
        ("cubic_far", Parts { is_cubic: true, ..far() }),
        ("markers", Parts { labels: Some(labels(0)), ..Parts::new(8, 9, vec![DEFAULT]) }),
    ];
    let written = parts.into_iter().map(|(name, parts)| (name, Some(parts.to_bytes())));
    written.chain(["built_walk", "built_loop", "built_spin"].map(|name| (name, None))).collect()
}

fn build(name: &str) -> Vec<u8> {
    let motion = match name {
        "built_walk" => Motion { joints: 3, samples: 36, growth: 0.1, ..USUAL },
        "built_loop" => Motion { joints: 2, samples: 25, loops: true, ..USUAL },
        _ => Motion { joints: 1, samples: 40, still: 0, turns: 7.0, ..USUAL },
    };
    built(&motion.clip(12), 0.02, Effort::Best).1.as_bytes().to_vec()
}

/// Returns the bind pose over which the clips of the vectors are played.
fn bind_pose(joints: usize) -> Vec<Transform> {
    let bind = |joint: usize| Transform {
        rotation: [0.0, -0.6, 0.0, 0.8],
        translation: [joint as f32, -2.5, 0.0],
        scale: [1.0, 1.0, 0.5],
    };
    (0..joints).map(bind).collect()
}

pub(crate) fn bytes_of(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

#[test]
fn every_vector_is_read_and_played() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors/clip_block.txt");
    let writes = std::env::var_os("KINEPACK_WRITE_VECTORS").is_some();
    let frozen = include_str!("../../../../spec/vectors/clip_block.txt");
    let stored = if writes { "" } else { frozen };
    let stored_clip = |name: &str| {
        let mut words = stored.lines().map(|line| line.split(' ').collect::<Vec<_>>());
        bytes_of(words.find(|words| words.len() == 2 && words[0] == name).unwrap()[1])
    };
    let mut written =
        String::from("# name clip; name position pose; name curves position values\n");
    let mut seen = std::collections::BTreeSet::new();
    for (name, bytes) in clips() {
        let bytes = bytes.unwrap_or_else(|| if writes { build(name) } else { stored_clip(name) });
        written += &format!("{name} {}\n", hex(&bytes));
        let owned = Clip::from_bytes(bytes.clone());
        let owned = owned.unwrap_or_else(|error| panic!("{name}: {error}"));
        let clip = owned.clone();
        seen.insert((clip.header().block, clip.header().loops, clip.header().is_fine));
        let bind = bind_pose(clip.joints());
        let (sampler, naive) =
            (Sampler::with_bind_pose(owned, &bind).unwrap(), Naive::read(&bytes).unwrap());
        assert_labels(sampler.clip(), &naive, name);
        let mut pose = bind.clone();
        let last = (clip.samples() - 1) as f64;
        for position in POSITIONS.into_iter().chain([last - 0.5]) {
            sampler.sample_at(position, &mut pose);
            assert_bits(&pose, &naive.pose(position, &pose_floats(&bind)), name);
            written += &format!("{name} {position} {}\n", pose_hex(&pose));
            assert_curves(&sampler, &naive, position, name);
            if clip.curves() > 0 {
                let mut curves = vec![0.0; clip.curves()];
                sampler.curves_at(position, &mut curves);
                let bytes: Vec<u8> =
                    curves.iter().flat_map(|value| value.to_bits().to_be_bytes()).collect();
                written += &format!("{name} curves {position} {}\n", hex(&bytes));
            }
        }
    }
    assert!(seen.len() > 5, "{seen:?}");
    if writes {
        std::fs::write(&path, &written).unwrap();
    } else {
        assert!(written == stored, "the clips differ from spec/vectors/clip_block.txt");
    }
}

#[test]
fn the_bytes_in_the_spec_match_the_vectors() {
    let spec = include_str!("../../../../spec/ANIM.md");
    let section = spec.split("### 13.1 Worked bytes").nth(1).unwrap().split("\n#").next().unwrap();
    let bytes = worked().to_bytes();
    assert_eq!(hex(&dumped(section)), hex(&bytes));
    let (clip, bind) = (Clip::from_bytes(bytes).unwrap(), bind_pose(1));
    let mut pose = bind.clone();
    let mut values = 0;
    for (before, after) in section.match_indices("` at ").map(|(at, _)| section.split_at(at)) {
        let bits = u32::from_str_radix(before.rsplit('`').next().unwrap(), 16).unwrap();
        let words = after[5..].split_whitespace().next().unwrap();
        let position: f64 = words.trim_end_matches([',', '.']).parse().unwrap();
        Sampler::with_bind_pose(clip.clone(), &bind).unwrap().sample_at(position, &mut pose);
        assert_eq!(
            format!("{:08x}", pose[0].translation[1].to_bits()),
            format!("{bits:08x}"),
            "{position}"
        );
        values += 1;
    }
    assert!(values >= 5);
}
