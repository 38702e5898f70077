//! `ltk_anim` and our player play the `r3d2canm` files that we write, from any time.

use std::io::Cursor;

use kinepack_anim::keyed::quantize::{VectorRange, rotation_48};
use kinepack_anim::keyed::{Key, Parametrization};
use kinepack_anim::{Channel, Transform};
use kinepack_anm::{Anm, AnmHead, AnmPlayer, AnmTrack, elf_hash, fill_missing, order};
use ltk_anim::Compressed;
use proptest::prelude::*;

use crate::random::Random;
use crate::runner::for_all;
use crate::support::{
    SCALE, TRANSLATION, assert_same, file_of, hashes, head, naive_pose, pose_at, smooth_tracks,
};

const BOTH: [Parametrization; 2] = [Parametrization::Uniform, Parametrization::Times];

/// Returns the largest difference between two poses: of the components of rotations, and of the
/// components of vectors as a share of their range.
fn difference<'a>(pairs: impl Iterator<Item = (&'a Transform, Transform)>) -> [f32; 2] {
    let mut largest = [0.0_f32; 2];
    for (ours, theirs) in pairs {
        let dot: f32 = ours.rotation.iter().zip(theirs.rotation).map(|(a, b)| a * b).sum();
        for (a, b) in ours.rotation.iter().zip(theirs.rotation) {
            largest[0] = largest[0].max((a - b * dot.signum()).abs());
        }
        let vectors = [
            (TRANSLATION, ours.translation, theirs.translation),
            (SCALE, ours.scale, theirs.scale),
        ];
        for (range, a, b) in vectors {
            for axis in 0..3 {
                largest[1] =
                    largest[1].max((a[axis] - b[axis]).abs() / (range.max[axis] - range.min[axis]));
            }
        }
    }
    largest
}

/// Returns the difference between `ltk_anim` and our player at the times `times_s`, one after
/// another.
fn compare_with_ltk(anm: &Anm, times_s: impl Iterator<Item = f32>) -> [f32; 2] {
    let animation = Compressed::from_reader(&mut Cursor::new(anm.to_bytes())).unwrap();
    let (mut evaluator, mut player) = (animation.evaluator(), AnmPlayer::new(anm));
    let mut pose = vec![Transform::IDENTITY; anm.joints().len()];
    let mut largest = [0.0_f32; 2];
    for time_s in times_s {
        player.sample(time_s, &mut pose);
        for theirs in [evaluator.evaluate(time_s), animation.evaluate(time_s)] {
            let theirs = anm.joints().iter().map(|hash| {
                let (rotation, translation, scale) = theirs[hash];
                Transform {
                    rotation: rotation.to_array(),
                    translation: translation.to_array(),
                    scale: scale.to_array(),
                }
            });
            let one = difference(pose.iter().zip(theirs));
            largest = [0, 1].map(|kind| largest[kind].max(one[kind]));
        }
    }
    largest
}

/// The bounds are a quarter of a step of a rotation of 15 bits, and of a vector of 16 bits.
const BOUNDS: [f32; 2] = [0.000_01, 0.000_004];

fn assert_close(difference: [f32; 2]) {
    assert!(difference[0] < BOUNDS[0] && difference[1] < BOUNDS[1], "{difference:?}");
}

#[test]
fn ltk_anim_plays_the_same_poses() {
    let mut largest = [0.0_f32; 2];
    for seed in 0..24 {
        for parametrization in BOTH {
            let duration_s = [0.7, 2.0, 13.3][seed as usize % 3];
            let anm = file_of(head(parametrization, duration_s), 12, &smooth_tracks(seed, 12, 60));
            let one = compare_with_ltk(
                &anm,
                (0..=300_u16).map(|step| duration_s * f32::from(step) / 300.0),
            );
            largest = [0, 1].map(|kind| largest[kind].max(one[kind]));
        }
    }
    assert_close(largest);
}

#[test]
fn ltk_anim_plays_the_same_poses_after_jumps() {
    let mut random = Random(5);
    for seed in 0..12 {
        for caches in [1, 2, 5, 7, 30, 1000] {
            let anm = file_of(head(Parametrization::Times, 3.0), 6, &smooth_tracks(seed, 6, 40));
            let anm = anm.with_jump_caches(caches).unwrap();
            let slices = (0..=30_u16).map(|slice| 3.0 * f32::from(slice) / 30.0);
            let any = (0..60).map(|_| 3.0 * random.below(1 << 16) as f32 / 65535.0);
            assert_close(compare_with_ltk(&anm, slices.chain(any)));
        }
    }
}

#[test]
fn ltk_anim_computes_the_same_hashes_of_joints() {
    let anm = file_of(head(Parametrization::Times, 1.0), 3, &smooth_tracks(1, 3, 9));
    let animation = Compressed::from_reader(&mut Cursor::new(anm.to_bytes())).unwrap();
    assert_eq!(animation.joints(), hashes(3));
    assert_eq!((animation.duration(), animation.fps()), (1.0, 30.0));
}

#[test]
fn a_hash_ignores_case() {
    assert_eq!(elf_hash(""), 0);
    assert_eq!(elf_hash("L_Hand"), elf_hash("l_hand"));
    // This is the ELF hash of "printf", from the tables of the generic ABI.
    assert_eq!(elf_hash("printf"), 0x077905a6);
    assert!(elf_hash(&"zyxwv".repeat(40)) < 1 << 28);
}

#[test]
fn still_tracks_play_their_key_and_missing_tracks_the_identity() {
    let track =
        AnmTrack { joint: 1, channel: Channel::Translation, keys: vec![(40_000, [1, 2, 3])] };
    let anm = file_of(head(Parametrization::Times, 2.0), 2, std::slice::from_ref(&track));
    assert_eq!(anm.keys().len(), 4);
    for time_s in [f32::NEG_INFINITY, f32::NAN, 0.0, 1.3, 2.0, 9.0] {
        let still =
            Transform { translation: TRANSLATION.reconstruct([1, 2, 3]), ..Transform::IDENTITY };
        assert_same(&pose_at(&anm, time_s), &[Transform::IDENTITY, still], "one key");
    }
    let mut tracks = vec![track];
    fill_missing(&mut tracks, 2, |joint, channel| [joint, channel as u16, 7]);
    let mut filled: Vec<_> = tracks.iter().map(|track| (track.joint, track.channel)).collect();
    filled.sort_unstable();
    let all = [0, 1].into_iter().flat_map(|joint| Channel::ALL.map(|channel| (joint, channel)));
    assert_eq!(filled, all.collect::<Vec<_>>());
    assert_eq!(tracks[0].keys, [(40_000, [1, 2, 3])]);
    assert!(order(2, &tracks).unwrap().len() == 24);
}

/// The form of constant tracks in shipped files: a single key, to which all four indices of the
/// cache point.
#[test]
fn a_single_key_is_played_by_its_cache() {
    let key = Key {
        time: 0,
        joint: 0,
        channel: Channel::Rotation,
        value: rotation_48([0.0, 0.6, 0.0, 0.8]),
    };
    let anm = Anm::new(head(Parametrization::Times, 1.0), hashes(1), vec![key])
        .unwrap()
        .with_jump_caches(1)
        .unwrap();
    let mut bytes = anm.to_bytes();
    // Our writer puts the key into the last place only. Shipped files have it in all places.
    let none = [0xff_u8; 2];
    assert_eq!(bytes[138..146], [none, none, none, [0, 0]].concat());
    bytes[138..146].fill(0);
    let anm = Anm::from_bytes(&bytes).unwrap();
    assert!((pose_at(&anm, 0.5)[0].rotation[1] - 0.6).abs() < 0.000_05);
    assert_close(compare_with_ltk(&anm, [0.0, 0.5, 1.0, 0.2].into_iter()));
}

#[test]
fn more_keys_than_16_bits_can_index_take_wide_caches() {
    let keys =
        |count: u16| (0..count).map(|n| (n, [n, n, 0])).chain([(u16::MAX, [9; 3])]).collect();
    for (count, width) in [(32_763, 2), (32_764, 4)] {
        let tracks = [Channel::Translation, Channel::Scale].map(|channel| AnmTrack {
            joint: 0,
            channel,
            keys: keys(count),
        });
        let still = AnmTrack::constant(0, Channel::Rotation, rotation_48([0.1, 0.2, 0.3, 0.4]));
        let [translation, scale] = tracks;
        let anm = file_of(head(Parametrization::Uniform, 5.0), 1, &[translation, scale, still]);
        let keys = anm.keys().len();
        let straight = [0.5, 2.4, 2.6, 5.0].map(|time_s| pose_at(&anm, time_s));
        let bytes_without = anm.to_bytes().len();
        let anm = anm.with_jump_caches(10).unwrap();
        let bytes = anm.to_bytes();
        assert_eq!((bytes.len() - bytes_without, keys >= 65_537), (120 * width, width == 4));
        let anm = Anm::from_bytes(&bytes).unwrap();
        for (time_s, pose) in [0.5, 2.4, 2.6, 5.0].into_iter().zip(&straight) {
            assert_same(&pose_at(&anm, time_s), pose, "wide");
        }
        assert_close(compare_with_ltk(&anm, [0.3, 2.6, 2.7, 1.0, 4.99].into_iter()));
    }
}

#[test]
fn a_clip_without_duration_plays_its_first_pose() {
    let anm = file_of(head(Parametrization::Times, 0.0), 4, &smooth_tracks(3, 4, 9));
    let first =
        pose_at(&file_of(head(Parametrization::Times, 1.0), 4, &smooth_tracks(3, 4, 9)), 0.0);
    for anm in [anm.clone(), anm.with_jump_caches(3).unwrap()] {
        assert_same(&pose_at(&anm, 0.0), &first, "no duration");
        assert_same(&pose_at(&anm, 1.0), &first, "no duration");
    }
}

#[test]
fn a_pose_may_have_fewer_or_more_joints_than_the_file() {
    let anm = file_of(head(Parametrization::Times, 1.0), 3, &smooth_tracks(3, 3, 9));
    let whole = pose_at(&anm, 0.3);
    let far = Transform { translation: [7.0; 3], ..Transform::IDENTITY };
    for length in [0, 2, 5] {
        let mut pose = vec![far; length];
        AnmPlayer::new(&anm).sample(0.3, &mut pose);
        let expected: Vec<_> = (0..length).map(|joint| *whole.get(joint).unwrap_or(&far)).collect();
        assert_same(&pose, &expected, "length");
    }
}

/// Tracks with any times and values, for channels and joints in any order.
fn any_tracks() -> impl Strategy<Value = Vec<AnmTrack>> {
    let time = prop_oneof![any::<u16>(), 0_u16..6, 65530..=65535_u16];
    let between = prop::collection::btree_map(time, any::<[u16; 3]>(), 0..12);
    let keys = (between, any::<[[u16; 3]; 2]>(), any::<bool>()).prop_map(
        |(mut keys, [first, last], is_single)| {
            if is_single {
                return vec![(0, first)];
            }
            keys.insert(0, first);
            keys.insert(u16::MAX, last);
            keys.into_iter().collect()
        },
    );
    let place = (0..5_u16, 0..3_usize);
    prop::collection::btree_map(place, keys, 0..12)
        .prop_map(|tracks| tracks.into_iter().collect::<Vec<_>>())
        .prop_shuffle()
        .prop_map(|tracks| {
            let track =
                |((joint, channel), keys)| AnmTrack { joint, channel: Channel::ALL[channel], keys };
            tracks.into_iter().map(track).collect()
        })
}

fn any_head() -> impl Strategy<Value = AnmHead> {
    (0..2_usize, 0.1_f32..20.0).prop_map(|(which, duration_s)| head(BOTH[which], duration_s))
}

#[test]
fn playing_forwards_matches_the_naive_player() {
    for_all(300, (any_head(), any_tracks()), |(head, tracks)| {
        let anm = file_of(head.clone(), 5, &tracks);
        let mut player = AnmPlayer::new(&anm);
        let mut pose = vec![Transform::IDENTITY; 5];
        let around = |time: u16| {
            [-0.5, 0.2, 0.5].map(|off| head.duration_s * (f32::from(time) + off) / 65535.0)
        };
        let keys = tracks.iter().flat_map(|track| &track.keys);
        let mut times: Vec<f32> = keys.flat_map(|(time, _)| around(*time)).collect();
        times.extend((0..=8_u8).map(|eighth| head.duration_s * f32::from(eighth) / 8.0));
        times.sort_by(f32::total_cmp);
        for time_s in times {
            player.sample(time_s, &mut pose);
            assert_same(&pose, &naive_pose(&head, 5, &tracks, time_s), "at a time");
        }
    });
}

#[test]
fn keys_are_sorted_by_need_and_by_time_within_a_track() {
    for_all(300, any_tracks(), |tracks| {
        let mut seen = vec![Vec::new(); 15];
        let mut last = 0;
        for key in order(5, &tracks).unwrap() {
            let times = &mut seen[usize::from(key.joint) * 3 + key.channel as usize];
            let need = times.len().checked_sub(2).map_or(0, |before: usize| times[before]);
            assert!(need >= last);
            last = need;
            times.push(key.time);
        }
        assert!(seen.iter().all(|times| times.is_sorted()));
    });
}

#[test]
fn seeks_in_any_order_are_linear_playback() {
    let count = prop_oneof![0..9_u32, 9..3000_u32];
    let times = prop::collection::vec(any::<u16>(), 1..30);
    for_all(300, (any_head(), any_tracks(), count, times), |(head, tracks, count, times)| {
        let anm = file_of(head.clone(), 5, &tracks).with_jump_caches(count).unwrap();
        assert_eq!(anm.jump_cache_count(), count);
        let mut player = AnmPlayer::new(&anm);
        let mut pose = vec![Transform::IDENTITY; 5];
        for time in times {
            let time_s = head.duration_s * f32::from(time) / 65535.0;
            player.sample(time_s, &mut pose);
            assert_same(&pose, &naive_pose(&head, 5, &tracks, time_s), "after a seek");
        }
    });
}

#[test]
fn written_files_are_read_back() {
    let fields = (any::<u32>(), any::<u32>(), 1..=3_u32);
    for_all(300, (any_head(), fields, any_tracks(), 0..5_u32), |(head, fields, tracks, count)| {
        let (format_token, flags, version) = fields;
        let head = AnmHead { version, flags, format_token, ..head };
        let anm = file_of(head, 5, &tracks).with_jump_caches(count).unwrap();
        let bytes = anm.to_bytes();
        let back = Anm::from_bytes(&bytes).unwrap();
        assert!(back == anm && back.to_bytes() == bytes);
        assert_eq!(
            u32::from_le_bytes(*bytes[12..].first_chunk().unwrap()) as usize,
            bytes.len() - 16
        );
    });
}

/// The test uses only rotation codes that a writer makes, because the two players differ for other
/// codes.
#[test]
fn ltk_anim_plays_random_tracks_the_same() {
    for_all(300, (any_head(), any_tracks(), 0..4_u32), |(head, mut tracks, caches)| {
        for track in tracks.iter_mut().filter(|track| track.channel == Channel::Rotation) {
            for (_, value) in &mut track.keys {
                let [x, y, z] = value.map(|c| f32::from(c) / 65535.0 - 0.5);
                *value = rotation_48([x, y, z, 1.0]);
            }
        }
        let times_s = (0..40_u8).map(|step| head.duration_s * f32::from(step) / 39.0);
        assert_close(compare_with_ltk(
            &file_of(head.clone(), 5, &tracks).with_jump_caches(caches).unwrap(),
            times_s,
        ));
    });
}

#[test]
fn a_range_without_keys_may_be_reversed() {
    let inside_out = VectorRange { min: [f32::MAX; 3], max: [f32::MIN; 3] };
    let head = AnmHead { scale: inside_out, ..head(Parametrization::Times, 1.0) };
    let anm = file_of(head, 1, &[AnmTrack::constant(0, Channel::Rotation, [1; 3])]);
    assert!(Anm::from_bytes(&anm.to_bytes()).unwrap() == anm);
}
