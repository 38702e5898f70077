//! Clips of rigs take shared parameters from the rig, as sections 10.3 and 15 of `spec/ANIM.md`
//! specify. Invalid rigs are refused.

use std::path::PathBuf;
use std::sync::Arc;

use kinepack_anim::block::Kind;
use kinepack_anim::disk::{pack, unpack};
use kinepack_anim::offline::{
    BlockOptions, BuildError, BuildOptions, Effort, RigTrainer, Scheme, build,
};
use kinepack_anim::{
    AnyClip, Channel, Clip, ClipError, FileKind, RawClip, Rig, Sampler, TrackId, Transform,
};

use super::motions::{Motion, USUAL};
use super::naive::{Naive, NaiveRig};
use super::play::{EFFORTS, assert_bits, compare_naive, options};
use super::vectors::bytes_of;
use super::write::{
    ANIMATED, Parts, RigParts, SHARED, Track, any_parts_of, any_parts_with_curves, any_rig, kinds,
    sealed,
};
use crate::clip_support::{hex, pose_floats, pose_hex};
use crate::random::Random;

/// Reads a rig with both readers.
fn agree_rig(bytes: &[u8]) -> Result<Rig, ClipError> {
    match (Rig::from_bytes(bytes), NaiveRig::read(bytes)) {
        (Ok(rig), Ok(naive)) => {
            assert!(rig.to_bytes() == bytes);
            assert_eq!(rig.skeleton_hash(), naive.skeleton);
            Ok(rig)
        }
        (Err(error), Err(_)) => Err(error),
        (rig, naive) => panic!("ours: {:?}, naive: {:?}", rig.err(), naive.err()),
    }
}

/// Reads a clip of a rig with both readers.
fn agree(bytes: &[u8], rig: &[u8]) -> Result<Clip, ClipError> {
    let (ours, theirs) = (Arc::new(Rig::from_bytes(rig).unwrap()), NaiveRig::read(rig).unwrap());
    match (Clip::with_rig(bytes.to_vec(), &ours), Naive::read_with(bytes, Some(&theirs))) {
        (Ok(clip), Ok(naive)) => {
            compare_naive(&clip, &naive, &vec![Transform::IDENTITY; clip.joints()], "of a rig");
            Ok(clip)
        }
        (Err(error), Err(_)) => Err(error),
        (clip, naive) => panic!("ours: {:?}, naive: {:?}", clip.err(), naive.err()),
    }
}

/// Returns a rig of two joints, and a clip of it. The first rotation shares all parameters except
/// its reference, the second shares all parameters, and a translation shares its middle.
fn small() -> (RigParts, Parts) {
    let of_rig = |code| Track {
        codes: [code; 6],
        middle: [1.0, 2.0, 3.0],
        steps: [160, 170, 165],
        shares: [false; 2],
    };
    let rig = RigParts {
        joints: 2,
        skeleton: 0x1122_3344_5566_7788,
        constants: vec![(0, 2, [1.0_f32, 2.0, 0.5].map(f32::to_le_bytes).concat())],
        tracks: vec![(0, 0, of_rig(33_000)), (1, 0, of_rig(30_000)), (1, 1, of_rig(0))],
    };
    let mut clip = Parts::new(8, 9, vec![kinds(ANIMATED, 0, SHARED), kinds(ANIMATED, ANIMATED, 0)]);
    (clip.is_of_rig, clip.owner) = (true, rig.hash());
    let track = |shares, steps| Track {
        codes: [140, 120, 128, 128, 128, 128],
        middle: [9.0; 3],
        steps,
        shares,
    };
    clip.rotations = vec![track([false, true], [1, 0, 1]), track([true, true], [1, 1, 1])];
    clip.vectors = vec![track([true, false], [0, 180, 0])];
    clip.segments =
        clip.lengths().into_iter().map(|length| clip.any_segment(&mut Random(4), length)).collect();
    clip.fit_offsets();
    (rig, clip)
}

#[test]
fn random_clips_of_random_rigs_play_as_the_spec_says() {
    let rounds = if cfg!(miri) { 3 } else { 300 };
    let (mut shared, mut parts_of) = (0, 0);
    for round in 0..rounds {
        let mut random = Random(7000 + u64::from(round));
        let joints = 1 + random.below([2, 5, 12][round as usize % 3]) as usize;
        let rig = any_rig(&mut random, joints);
        let parts = any_parts_with_curves(&mut random, joints, 1 + round % 70, Some(&rig));
        let clip = agree(&parts.to_bytes(), &rig.to_bytes())
            .unwrap_or_else(|error| panic!("{round}: {error}"));
        assert_eq!(clip.skeleton_hash(), rig.skeleton);
        shared +=
            Channel::ALL.map(|channel| clip.count_of(channel, Kind::Shared)).iter().sum::<usize>();
        parts_of += parts
            .rotations
            .iter()
            .chain(&parts.vectors)
            .filter(|track| track.shares[0] != track.shares[1])
            .count();
        let parts = clip.bytes_by_part();
        assert_eq!(parts.iter().map(|(_, bytes)| bytes).sum::<usize>(), clip.as_bytes().len());
        let bits = clip.bits_by_track().iter().map(|(_, bits)| bits).sum::<usize>();
        let per_track = parts
            .iter()
            .filter(|(part, _)| !["constants", "kinds", "header and hashes"].contains(part));
        assert!(bits / 8 <= per_track.map(|(_, bytes)| bytes).sum());
    }
    assert!(cfg!(miri) || shared > 100 && parts_of > 100, "{shared} {parts_of}");
}

#[test]
fn invalid_rigs_are_refused() {
    let good = small().0.to_bytes();
    agree_rig(&good).unwrap();
    for end in 0..good.len() {
        let error = agree_rig(&good[..end]).unwrap_err();
        let is_right = if end < 4 {
            error == ClipError::NoRig
        } else {
            matches!(error, ClipError::EndOfData { .. })
        };
        assert!(is_right, "{end}: {error}");
    }
    assert_eq!(
        agree_rig(&[&good[..], &[0]].concat()).unwrap_err(),
        ClipError::TrailingData { bytes: 1 }
    );
    for bit in 0..8 * good.len() {
        let mut turned = good.clone();
        turned[bit / 8] ^= 1 << (bit % 8);
        assert!(agree_rig(&turned).is_err(), "{bit}");
    }
    let refused = |at: usize, other: &[u8]| {
        let mut changed = good.clone();
        changed[at..at + other.len()].copy_from_slice(other);
        agree_rig(&sealed_rig(changed)).unwrap_err()
    };
    assert_eq!(refused(0, b"KPAX"), ClipError::NoRig);
    assert_eq!(refused(0, b"KPAB"), ClipError::OtherFile { found: FileKind::BlockClip });
    assert_eq!(refused(4, &[2]), ClipError::Version { version: 2, newest: 1 });
    assert_eq!(refused(5, &[1]), ClipError::BadHeader { field: "reserved bits" });
    assert_eq!(refused(6, &[0, 0]), ClipError::BadHeader { field: "joints" });
    assert_eq!(refused(6, &[1, 0x40]), ClipError::BadHeader { field: "joints" });
    assert_eq!(refused(16, &[0x41]), ClipError::BadKind { joint: 0, byte: 0x41 });
    let bad = |joint, channel| ClipError::BadConstant { track: TrackId { joint, channel } };
    assert_eq!(refused(18, &f32::NAN.to_le_bytes()), bad(0, Channel::Scale));
    // Three tracks of 15 bytes follow the constant.
    assert_eq!(refused(30 + 12, &[0]), bad(0, Channel::Rotation));
    assert_eq!(refused(30 + 30, &f32::INFINITY.to_le_bytes()), bad(1, Channel::Translation));
    assert_eq!(refused(30 + 30 + 14, &[0]), bad(1, Channel::Translation));
}

/// Returns the bytes, with the hash at their end corrected.
fn sealed_rig(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.len() - 8;
    let hash = super::write::fnv(&bytes[..end]);
    bytes[end..].copy_from_slice(&hash.to_le_bytes());
    bytes
}

#[test]
fn clips_of_a_rig_cannot_be_read_without_it() {
    let (rig, parts) = small();
    let (rig_bytes, bytes) = (rig.to_bytes(), parts.to_bytes());
    agree(&bytes, &rig_bytes).unwrap();
    let needed = ClipError::Rig { hash: rig.hash() };
    assert_eq!(Clip::from_bytes(&bytes[..]).unwrap_err(), needed);
    assert_eq!(AnyClip::from_bytes(&bytes[..]).unwrap_err(), needed);
    let message = needed.to_string();
    let file = format!("*-{:016x}.kpr", rig.hash());
    assert!(message.contains(&file) && message.contains("with_rig"), "{message}");
    assert!(Naive::read(&bytes).is_err());
    let mut other = rig.clone();
    other.skeleton += 1;
    assert_eq!(agree(&bytes, &other.to_bytes()).unwrap_err(), needed);
    // This rig has the right hash and number of joints, but lacks a shared track.
    for lacks in [0, 1, 2] {
        let (mut other, mut parts) = (rig.clone(), parts.clone());
        other.tracks.remove(lacks);
        parts.owner = other.hash();
        let (joint, channel) =
            [(0, Channel::Rotation), (1, Channel::Rotation), (1, Channel::Translation)][lacks];
        let missing = ClipError::NotInRig { track: TrackId { joint, channel } };
        assert_eq!(agree(&parts.to_bytes(), &other.to_bytes()).unwrap_err(), missing);
    }
    let (mut other, mut parts) = (rig.clone(), parts);
    other.constants.clear();
    parts.owner = other.hash();
    let missing = ClipError::NotInRig { track: TrackId { joint: 0, channel: Channel::Scale } };
    assert_eq!(agree(&parts.to_bytes(), &other.to_bytes()).unwrap_err(), missing);
    assert_eq!(missing.to_string(), "damaged: its rig does not have the scale of joint 0");
    // This rig has more joints.
    other = RigParts { joints: 3, ..rig };
    parts.owner = other.hash();
    assert_eq!(
        agree(&parts.to_bytes(), &other.to_bytes()).unwrap_err(),
        ClipError::Rig { hash: other.hash() }
    );
}

#[test]
fn damaged_clips_of_a_rig_are_refused_or_played() {
    let (rig, parts) = small();
    let (rig, good) = (rig.to_bytes(), parts.to_bytes());
    for end in 0..good.len() {
        assert!(agree(&good[..end], &rig).is_err(), "{end}");
    }
    let mut played = 0;
    for bit in (0..8 * (good.len() - 4)).step_by(if cfg!(miri) { 97 } else { 1 }) {
        let mut turned = good.clone();
        turned[bit / 8] ^= 1 << (bit % 8);
        played += usize::from(agree(&sealed(turned), &rig).is_ok());
    }
    assert!(cfg!(miri) || played > good.len(), "{played}");
    // The bytes after the kinds state which parameters the two rotations share, and which shared
    // components are live.
    let groups = 18;
    for (at, byte) in [(0, 4), (1, 0x80), (2, 4), (3, 0x10), (4, 0xff)] {
        let mut turned = good.clone();
        turned[groups + at] |= byte;
        let error = agree(&sealed(turned), &rig).unwrap_err();
        assert_eq!(error, ClipError::BadHeader { field: "shared tracks" }, "{at}");
    }
    // This is the live bit of a track that has steps of its own.
    let mut turned = good.clone();
    turned[groups + 1] = 1;
    assert_eq!(
        agree(&sealed(turned), &rig).unwrap_err(),
        ClipError::BadHeader { field: "shared tracks" }
    );
}

/// Clips of one skeleton that turn about the same axes.
fn family(count: u64) -> Vec<RawClip> {
    let raw = |seed| Motion { joints: 12, samples: 20, still: 3, ..USUAL }.clip(seed);
    let first = raw(1);
    let as_first = |clip: RawClip| {
        let poses = clip.poses().flatten().copied().collect();
        RawClip::new(clip.name(), Arc::clone(first.skeleton()), clip.rate_hz(), poses).unwrap()
    };
    (1..=count).map(|seed| as_first(raw(seed))).collect()
}

fn with_rig(rig: &Arc<Rig>, effort: Effort) -> BuildOptions {
    let block = BlockOptions { effort, rig: Some(Arc::clone(rig)), ..BlockOptions::default() };
    BuildOptions { scheme: Scheme::Block(block), ..options(0.01, effort) }
}

#[test]
fn built_clips_of_a_rig_are_within_the_precision_and_smaller() {
    let clips = family(5);
    let mut trainer = RigTrainer::new(clips[0].skeleton());
    for half in clips.chunks(3) {
        let mut own = RigTrainer::new(clips[0].skeleton());
        half.iter().for_each(|clip| own.add(clip, &options(0.01, Effort::Default)).unwrap());
        trainer.merge(own);
    }
    assert_eq!(trainer.clips(), 5);
    let rig = Arc::new(trainer.finish());
    assert_eq!(rig.skeleton_hash(), clips[0].skeleton().hash());
    agree_rig(&rig.to_bytes()).unwrap();
    let mut of_rig = 0;
    for effort in EFFORTS {
        let (mut alone, mut shared) = (0, 0);
        for clip in &clips {
            let own = build(clip, &options(0.01, effort)).unwrap();
            let built = build(clip, &with_rig(&rig, effort)).unwrap();
            assert!(built.errors.all.max_cm <= 0.01, "{}", built.errors.all.max_cm);
            alone += own.clip.as_bytes().len();
            shared += built.clip.as_bytes().len();
            let block = built.clip.as_block().unwrap();
            assert_eq!(block.skeleton_hash(), clip.skeleton().hash());
            if block.rig().is_some() {
                agree(block.as_bytes(), &rig.to_bytes()).unwrap();
                let file = pack(block).unwrap();
                assert!(unpack(&file).unwrap() == block.as_bytes());
                assert_eq!(
                    AnyClip::from_bytes(&file[..]).unwrap_err(),
                    ClipError::Rig { hash: rig.hash() }
                );
                assert!(AnyClip::with_rig(file, &rig).unwrap().as_bytes() == block.as_bytes());
                of_rig += 1;
            }
        }
        assert!(shared < alone, "{effort:?}: {shared} instead of {alone}");
    }
    assert!(of_rig > 5, "{of_rig}");
}

#[test]
fn rigs_of_other_skeletons_are_refused() {
    let [clip, other] = [3, 4].map(|joints| Motion { joints, ..USUAL }.clip(5));
    let mut trainer = RigTrainer::new(other.skeleton());
    assert_eq!(trainer.add(&clip, &options(0.1, Effort::Fast)), Err(BuildError::OtherRig));
    trainer.add(&other, &options(0.1, Effort::Fast)).unwrap();
    let rig = Arc::new(trainer.finish());
    assert_eq!(build(&clip, &with_rig(&rig, Effort::Fast)).unwrap_err(), BuildError::OtherRig);
    // A clip with an animated track that the rig does not have stores that track's parameters
    // itself.
    let still =
        RawClip::new("still", Arc::clone(other.skeleton()), 30.0, other.pose(0).to_vec()).unwrap();
    let mut trainer = RigTrainer::new(other.skeleton());
    trainer.add(&still, &options(0.1, Effort::Fast)).unwrap();
    let rig = Arc::new(trainer.finish());
    assert_eq!(rig.tracks().len(), 0);
    let built = build(&other, &with_rig(&rig, Effort::Default)).unwrap();
    assert!(built.errors.all.max_cm <= 0.01);
}

/// Returns a rig of two clips, and one of those clips.
fn built() -> (Vec<u8>, Vec<u8>) {
    let clips = family(2);
    let mut trainer = RigTrainer::new(clips[0].skeleton());
    clips.iter().for_each(|clip| trainer.add(clip, &options(0.01, Effort::Default)).unwrap());
    let rig = Arc::new(trainer.finish());
    let built = build(&clips[1], &with_rig(&rig, Effort::Default)).unwrap();
    (rig.to_bytes(), built.clip.as_bytes().to_vec())
}

/// `spec/vectors/rig.txt` contains rigs, their clips, a disk file for some of these clips, and the
/// poses that they play.
///
/// `KINEPACK_WRITE_VECTORS=1 cargo test -p kinepack-anim block::rigs` rewrites them.
#[test]
fn every_vector_is_read_and_played() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors/rig.txt");
    let writes = std::env::var_os("KINEPACK_WRITE_VECTORS").is_some();
    let frozen = include_str!("../../../../spec/vectors/rig.txt");
    let stored = if writes { "" } else { frozen };
    let stored_built = || {
        let words: Vec<&str> = stored
            .lines()
            .find_map(|line| line.strip_prefix("built "))
            .unwrap()
            .split(' ')
            .collect();
        (bytes_of(words[0]), bytes_of(words[1]))
    };
    let (rig, worked) = small();
    let mut random = Random(31);
    let wide = any_rig(&mut random, 11);
    let mut of_wide = |samples| any_parts_of(&mut random, 11, samples, Some(&wide)).to_bytes();
    let clips = [
        ("small", (rig.to_bytes(), worked.to_bytes())),
        ("wide", (wide.to_bytes(), of_wide(20))),
        ("wide_long", (wide.to_bytes(), of_wide(50))),
        ("built", if writes { built() } else { stored_built() }),
    ];
    let mut written = String::from("# name rig clip, or name rig clip file; name position pose\n");
    for (name, (rig, bytes)) in clips {
        let clip = agree(&bytes, &rig).unwrap();
        let file = (name == "built").then(|| pack(&clip).unwrap());
        assert!(file.iter().all(|file| unpack(file).unwrap() == bytes));
        let file = file.map_or_else(String::new, |file| format!(" {}", hex(&file)));
        written += &format!("{name} {} {}{file}\n", hex(&rig), hex(&bytes));
        let bind =
            vec![Transform { translation: [1.0, -2.5, 0.0], ..Transform::IDENTITY }; clip.joints()];
        let naive = Naive::read_with(&bytes, Some(&NaiveRig::read(&rig).unwrap())).unwrap();
        let mut pose = bind.clone();
        for position in [0.0, 0.4, 1.0, 7.5, 1000.0] {
            Sampler::with_bind_pose(clip.clone(), &bind).unwrap().sample_at(position, &mut pose);
            assert_bits(&pose, &naive.pose(position, &pose_floats(&bind)), name);
            written += &format!("{name} {position} {}\n", pose_hex(&pose));
        }
    }
    if writes {
        std::fs::write(&path, &written).unwrap();
    } else {
        assert!(written == stored, "the rigs differ from spec/vectors/rig.txt");
    }
}
