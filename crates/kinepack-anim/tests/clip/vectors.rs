//! The frozen clips and skeletons of `spec/vectors/clip.txt` and their poses. Every later decoder
//! must read these bytes, even if the builder changes.
//!
//! `KINEPACK_WRITE_VECTORS=1 cargo test -p kinepack-anim clip::vectors` writes the file again.

use std::path::PathBuf;

use kinepack_anim::keyed::{Cursor, KeyedClip};
use kinepack_anim::{Joint, Skeleton, Transform};

use super::naive::{Naive, NaiveTrack};
use super::write::{Parts, any_track};
use crate::clip_support::{assert_same, dumped, hex, pose_floats, pose_hex};
use crate::random::Random;

const POSITIONS: [f64; 7] = [-1.0, 0.0, 0.4, 1.0, 1.75, 2.5, 9.0];

/// Returns the clip whose bytes are in `spec/ANIM.md`.
fn worked() -> Parts {
    let keys = vec![
        (0, [0; 3]),
        (21_845, [0, 65_535, 0]),
        (43_690, [0, 32_768, 0]),
        (65_535, [0, 49_152, 0]),
    ];
    let mut parts = Parts::keyed(1, 2, 4, vec![NaiveTrack { joint: 0, channel: 1, keys }]);
    parts.kinds = vec![0b00_10_01];
    parts.ranges[0] = [[0.0; 3], [0.0, 8.0, 0.0]];
    parts.constants = vec![0, 0xc0, 0x26, 0x3b, 0, 0x70];
    parts
}

/// Three joints with constants, keys of all channels, and rows.
fn mixed(parametrization: u8, seed: u64) -> Parts {
    let mut random = Random(seed);
    let tracks = [(0, 0), (0, 1), (1, 0), (2, 2)];
    let tracks = tracks.map(|(joint, channel)| any_track(&mut random, joint, channel, 4, 6));
    let mut parts = Parts::keyed(parametrization, 3, 4, tracks.to_vec());
    parts.kinds = vec![0b01_10_10, 0b00_11_10, 0b10_01_11];
    let vectors = [1.25_f32, 0.75, 1.0, -3.5, 0.1, 1e-3];
    parts.constants = vectors.iter().flat_map(|c| c.to_le_bytes()).collect();
    parts.rows = (0..4 * 12).map(|_| random.below(256) as u8).collect();
    parts
}

/// Returns a clip with only rows: rotations of 48 or 32 bits, and both vectors.
fn rows(is_coarse: bool) -> Parts {
    let mut random = Random(11);
    let mut parts = Parts::keyed(0, 1, 3, Vec::new());
    parts.kinds = vec![0b00_00_11 | u8::from(is_coarse) << 6, 0b11_11_00];
    parts.rows =
        (0..3 * (if is_coarse { 4 } else { 6 } + 12)).map(|_| random.below(256) as u8).collect();
    parts
}

fn clips() -> Vec<(&'static str, Parts)> {
    vec![
        ("worked", worked()),
        ("uniform", mixed(0, 1)),
        ("times", mixed(1, 2)),
        ("chordal", mixed(2, 3)),
        ("centripetal", mixed(3, 4)),
        ("rows48", rows(false)),
        ("rows32", rows(true)),
    ]
}

/// Returns the skeleton of the vectors' clips.
fn skeleton(joints: u16) -> Skeleton {
    let joint = |index: u16| Joint {
        name: ["root", "Hüfte", ""][usize::from(index)].into(),
        parent: index.checked_sub(1),
        bind: Transform {
            rotation: [0.0, -0.6, 0.0, 0.8],
            translation: [f32::from(index), -2.5, 0.0],
            scale: [1.0, 1.0, 0.5],
        },
    };
    Skeleton::new((0..joints).map(joint).collect()).unwrap()
}

#[test]
fn every_vector_is_read_and_played() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors/clip.txt");
    let mut written = String::from("# name clip; name position pose; skeleton hash bytes\n");
    for (name, parts) in clips() {
        let bytes = parts.to_bytes();
        written += &format!("{name} {}\n", hex(&bytes));
        let clip = KeyedClip::from_bytes(&bytes[..]).unwrap();
        let bind = skeleton(clip.header().joints).bind_pose();
        let mut cursor = Cursor::with_bind_pose(clip.clone(), &bind).unwrap();
        let mut pose = bind.clone();
        for position in POSITIONS {
            cursor.sample_at(position, &mut pose);
            assert_same(&pose, &Naive::read(&bytes).pose(position, &pose_floats(&bind)), name);
            written += &format!("{name} {position} {}\n", pose_hex(&pose));
        }
    }
    for joints in 0..4 {
        let skeleton = skeleton(joints);
        let bytes = skeleton.to_bytes();
        assert_eq!(Skeleton::from_bytes(&bytes).unwrap(), skeleton);
        written += &format!("skeleton {:016x} {}\n", skeleton.hash(), hex(&bytes));
    }
    if std::env::var_os("KINEPACK_WRITE_VECTORS").is_some() {
        std::fs::write(&path, &written).unwrap();
        return;
    }
    let frozen = include_str!("../../../../spec/vectors/clip.txt");
    assert!(written == frozen, "the clips differ from spec/vectors/clip.txt");
}

#[test]
fn the_bytes_in_the_spec_match_the_vectors() {
    let spec = include_str!("../../../../spec/ANIM.md");
    let section = spec.split("## 8. Worked bytes").nth(1).unwrap().split("## 9.").next().unwrap();
    let (clip, root) = section.split_once("A skeleton").unwrap();
    assert!(dumped(clip) == worked().to_bytes());
    assert!(dumped(root) == skeleton(1).to_bytes());
    assert!(root.contains(&format!("{:016x}", skeleton(1).hash())));
}
