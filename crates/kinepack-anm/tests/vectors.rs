//! The frozen files of `spec/vectors/anm.txt` and their poses. This version writes these files, and
//! every later version must read them.
//!
//! `KINEPACK_WRITE_VECTORS=1 cargo test -p kinepack-anm vectors` writes the file again.

use std::path::PathBuf;

use kinepack_anim::keyed::Parametrization;
use kinepack_anim::keyed::quantize::{VectorRange, rotation_48};
use kinepack_anim::{Channel, Transform};
use kinepack_anm::{Anm, AnmHead, AnmTrack, elf_hash, order};

use crate::random::Random;
use crate::support::{file_of, head, pose_at};

const TIMES_S: [f32; 5] = [0.0, 0.25, 0.61, 1.5, 2.0];

/// Returns the file whose bytes are in `spec/ANM.md`.
fn worked() -> Anm {
    let up = VectorRange { min: [0.0; 3], max: [0.0, 8.0, 0.0] };
    let one = VectorRange { min: [1.0; 3], max: [1.0; 3] };
    let turned = AnmTrack::constant(0, Channel::Rotation, rotation_48([0.0, 0.6, 0.0, 0.8]));
    let keys = vec![(0, [0; 3]), (0x4000, [0, 0xffff, 0]), (0xffff, [0, 0x8000, 0])];
    let moved = AnmTrack { joint: 0, channel: Channel::Translation, keys };
    let keys = order(1, &[turned, moved]).unwrap();
    Anm::new(AnmHead::new(2.0, 30.0, up, one), vec![elf_hash("Root")], keys)
        .unwrap()
        .with_jump_caches(2)
        .unwrap()
}

fn files() -> Vec<(&'static str, Anm)> {
    let uniform = AnmHead { version: 1, ..head(Parametrization::Uniform, 2.0) };
    vec![
        ("worked", worked()),
        ("times", file_of(head(Parametrization::Times, 2.0), 3, &tracks(1))),
        ("uniform", file_of(uniform, 3, &tracks(2)).with_jump_caches(3).unwrap()),
    ]
}

/// Tracks of all lengths. Their values are codes, because the sine differs between platforms.
fn tracks(seed: u64) -> Vec<AnmTrack> {
    let mut random = Random(seed);
    let mut tracks = Vec::new();
    for joint in 0..3 {
        for channel in Channel::ALL {
            let count = random.below(7) as u16;
            let times = (0..count).map(|n| {
                if n + 1 == count { u16::MAX } else { n * 9000 + random.below(8000) as u16 }
            });
            let mut keys: Vec<_> = times
                .collect::<Vec<_>>()
                .into_iter()
                .map(|time| (time, code(&mut random, channel)))
                .collect();
            if let Some(first) = keys.first_mut() {
                first.0 = 0;
                tracks.push(AnmTrack { joint, channel, keys });
            }
        }
    }
    tracks
}

fn code(random: &mut Random, channel: Channel) -> [u16; 3] {
    let [x, y, z] = [(); 3].map(|()| random.below(1 << 16) as u16);
    match channel {
        Channel::Rotation => rotation_48([x, y, z, 40_000].map(|c| f32::from(c) - 32768.0)),
        _ => [x, y, z],
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn pose_hex(pose: &[Transform]) -> String {
    let floats =
        pose.iter().flat_map(|t| t.rotation.into_iter().chain(t.translation).chain(t.scale));
    floats.map(|float| format!("{:08x}", float.to_bits())).collect()
}

#[test]
fn every_vector_is_written_read_and_played() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors/anm.txt");
    let mut written = String::from("# name file; name seconds pose\n");
    for (name, anm) in files() {
        let bytes = anm.to_bytes();
        assert!(Anm::from_bytes(&bytes).unwrap() == anm);
        written += &format!("{name} {}\n", hex(&bytes));
        for time_s in TIMES_S {
            written += &format!("{name} {time_s} {}\n", pose_hex(&pose_at(&anm, time_s)));
        }
    }
    if std::env::var_os("KINEPACK_WRITE_VECTORS").is_some() {
        std::fs::write(&path, &written).unwrap();
        return;
    }
    let frozen = include_str!("../../../spec/vectors/anm.txt");
    assert!(written == frozen, "the files differ from spec/vectors/anm.txt");
}
