//! Runs the driver of the fuzz target `clip` over its stored corpus, and over every prefix of each
//! file.
//!
//! `KINEPACK_WRITE_CORPUS=1 cargo test -p kinepack-anim clip_corpus` writes the corpus again.

use std::sync::Arc;

use kinepack_anim::{AnyClip, Rig, Skeleton, exchange};

use crate::block::write::{
    ANIMATED, DEFAULT, FAR, Parts as BlockParts, any_parts, any_parts_of, any_rig, kinds,
};
use crate::clip::write::{Parts, any_track};
use crate::clip_support::{skeleton, smooth_clip};
use crate::corpora;
use crate::drivers::clip as driver;
use crate::random::Random;

/// Keyed clips with each parametrization, with and without slices, with rows of both widths, with
/// constants, and with one sample. The list also has skeletons and exchange files, block clips of
/// each block length with and without a loop, rigs, and clips of rigs.
fn files() -> Vec<Vec<u8>> {
    let mut random = Random(3);
    let mut clips = Vec::new();
    for (parametrization, slices, samples) in [(0, 1, 2), (1, 3, 9), (2, 5, 70), (3, 2, 65_536)] {
        let places = (0..2).flat_map(|joint| [0, 1, 2].map(|channel| (joint, channel)));
        let tracks = places
            .map(|(joint, channel)| any_track(&mut random, joint, channel, samples, 7))
            .collect();
        clips.push(Parts::keyed(parametrization, slices, samples, tracks));
    }
    for (kinds, row_bytes, samples) in
        [(vec![0x3f], 18, 1), (vec![0x7f, 3], 22, 4), (vec![0x0c, 0x43, 0], 10, 3)]
    {
        let mut parts = Parts::keyed(0, 1, samples, Vec::new());
        parts.kinds = kinds;
        parts.rows = (0..samples * row_bytes).map(|_| random.below(256) as u8).collect();
        clips.push(parts);
    }
    let mut parts = Parts::keyed(1, 2, 6, vec![any_track(&mut random, 0, 0, 6, 6)]);
    (parts.kinds, parts.constants) =
        (vec![0b01_01_10, 1], [&1_f32.to_le_bytes().repeat(6)[..], &[9; 6]].concat());
    clips.push(parts);

    let mut files: Vec<Vec<u8>> =
        clips.iter().map(|parts| [&[0], &parts.to_bytes()[..]].concat()).collect();
    for joints in [0, 1, 4] {
        files.push([&[1], &skeleton(&mut random, joints).to_bytes()[..]].concat());
    }
    let head = |joints: u32| {
        [&b"\x02CLIP"[..], &joints.to_le_bytes(), &2_u32.to_le_bytes(), &30_f32.to_le_bytes()]
            .concat()
    };
    for joints in 1..3 {
        let parents =
            [-1_i32, 0][..joints as usize].iter().flat_map(|parent| parent.to_le_bytes()).collect();
        let samples = 0.5_f32.to_le_bytes().repeat(30 * joints as usize);
        files.push([head(joints), parents, samples].concat());
    }
    // The driver corrects the hashes of all these clips except the first.
    for (index, n) in [8, 16, 32, 8, 16, 32, 16].into_iter().enumerate() {
        let mut parts =
            any_parts(&mut random, [2, 4, 1][index % 3], [19, 1, 40, 33, 12][index % 5]);
        while parts.n != n
            || parts.loops != (index % 2 == 1) && parts.samples > 1
            || parts.live() == 0
        {
            parts = any_parts(&mut random, parts.kinds.len(), parts.samples);
        }
        files.push([&[if index == 0 { 0 } else { 3 }], &parts.to_bytes()[..]].concat());
    }
    // A rig, and clips of rigs. The length of the rig is stored in units of eight bytes.
    files.push([&[4], &any_rig(&mut random, 5).to_bytes()[..]].concat());
    for joints in [1, 3, 9] {
        let mut rig = any_rig(&mut random, joints);
        while !rig.to_bytes().len().is_multiple_of(8) {
            rig = any_rig(&mut random, joints);
        }
        let (bytes, parts) = (rig.to_bytes(), any_parts_of(&mut random, joints, 12, Some(&rig)));
        files.push([&[5, (bytes.len() / 8) as u8], &bytes[..], &parts.to_bytes()].concat());
    }
    files.extend(
        block_scenes(&mut random).iter().map(|parts| [&[3], &parts.to_bytes()[..]].concat()),
    );
    files
}

/// Returns a rope with enough groups for skip points, wheels in segments that blend, a face of 52
/// curves, and jumps over a kilometre.
fn block_scenes(random: &mut Random) -> [BlockParts; 4] {
    let turns = kinds(ANIMATED, DEFAULT, DEFAULT);
    let jumps = kinds(DEFAULT, ANIMATED, DEFAULT) | FAR;
    let wheels = BlockParts::new(8, 21, vec![turns; 3]);
    let face = BlockParts::new(16, 30, vec![turns, DEFAULT]);
    let scenes = [
        BlockParts::new(8, 3, vec![turns; 66]),
        BlockParts { blends: true, loops: true, ..wheels },
        BlockParts { curves: 52, ..face },
        BlockParts::new(32, 40, vec![jumps, turns, jumps]),
    ];
    scenes.map(|parts| parts.filled(random))
}

#[test]
fn the_stored_corpus_is_up_to_date() {
    let files = files();
    corpora::compare("clip", &files);
    for (index, data) in files.iter().enumerate() {
        match data[0] {
            0 | 3 => assert!(AnyClip::from_bytes(&data[1..]).is_ok(), "{index}"),
            1 => assert!(Skeleton::from_bytes(&data[1..]).is_ok(), "{index}"),
            2 => assert!(exchange::read("", &data[1..]).is_ok(), "{index}"),
            4 => assert!(Rig::from_bytes(&data[1..]).is_ok(), "{index}"),
            _ => {
                let (rig, clip) = data[2..].split_at(8 * usize::from(data[1]));
                let rig = Arc::new(Rig::from_bytes(rig).unwrap());
                assert!(AnyClip::with_rig(clip, &rig).is_ok(), "{index}");
            }
        }
    }
}

#[test]
fn stored_files_and_their_prefixes_are_played_or_refused() {
    corpora::drive_beginnings("clip", driver::clip);
}

#[test]
fn the_driver_takes_exchange_files() {
    let mut data = vec![2];
    exchange::write(&smooth_clip(1, 3, 20), &mut data).unwrap();
    driver::clip(&data);
}
