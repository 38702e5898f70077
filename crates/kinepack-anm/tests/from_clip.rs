//! Converts clips to `r3d2canm` files. At the sample times, our player and `ltk_anim` play the file
//! as the clip plays.

use std::io::Cursor as Reader;
use std::sync::Arc;

use kinepack_anim::keyed::quantize::{VectorRange, rotation_48};
use kinepack_anim::keyed::{Cursor, KeyedClip, Kind, Parametrization, RotationBits};
use kinepack_anim::measure::{ErrorOptions, pose_distance_cm};
use kinepack_anim::offline::{BuildOptions, KeyedOptions, Scheme, build};
use kinepack_anim::{Channel, Joint, RawClip, Skeleton, Transform};
use kinepack_anm::{Anm, AnmError, AnmPlayer, elf_hash};
use ltk_anim::Compressed;

use crate::random::Random;

/// Returns a chain of joints with the names `names`, each 10 cm from its parent.
fn chain(names: &[&str]) -> Arc<Skeleton> {
    let joint = |(index, name): (usize, &&str)| Joint {
        name: (*name).to_owned(),
        parent: index.checked_sub(1).map(|parent| parent as u16),
        bind: Transform { translation: [0.0, 10.0, 0.0], ..Transform::IDENTITY },
    };
    Arc::new(Skeleton::new(names.iter().enumerate().map(joint).collect()).unwrap())
}

/// Returns a chain that has a joint for each kind of track, and two joints that turn.
fn rig() -> Arc<Skeleton> {
    chain(&["Root", "Turned", "Still", "Grown", "Moved", "Tip"])
}

fn around_z(angle_rad: f32) -> [f32; 4] {
    [0.0, 0.0, (angle_rad / 2.0).sin(), (angle_rad / 2.0).cos()]
}

/// Returns a clip of waves. The root walks and joints turn. One joint stays in a pose that is not
/// its bind pose, one grows, one is moved, and the last is at rest.
fn smooth_clip(seed: u64, samples: u16, rate_hz: f32) -> RawClip {
    let mut random = Random(seed);
    let waves: Vec<[f32; 3]> = (0..24)
        .map(|_| [(); 3].map(|()| random.between(0.2, 1.0)))
        .map(|[a, b, c]| [a, 4.0 * b, 6.0 * c])
        .collect();
    let pose = |time_s: f32| {
        let wave = |index: usize| {
            let [size, speed, phase] = waves[index];
            size * (speed * time_s + phase).sin()
        };
        let mut pose = rig().bind_pose();
        pose[0].translation = [90.0 * time_s, 95.0 + 4.0 * wave(0), 30.0 * wave(1)];
        for joint in [0, 1, 3, 4] {
            let [x, y, z] = [2, 3, 4].map(|index| wave(3 * joint + index));
            pose[joint].rotation = [x, y, z, 1.6];
        }
        pose[2] = Transform {
            rotation: [0.3, -0.4, 0.1, 0.8],
            translation: [-3.0, 8.5, 0.0],
            scale: [1.1; 3],
        };
        pose[3].scale = [1.0 + 0.4 * wave(20), 1.2, 1.0 + 0.2 * wave(21)];
        pose[4].translation = [wave(22), 9.0, 5.0 * wave(23)];
        pose
    };
    let samples = (0..samples).flat_map(|sample| pose(f32::from(sample) / rate_hz)).collect();
    RawClip::new("waves", rig(), rate_hz, samples).unwrap()
}

fn built(raw: &RawClip, scheme: Scheme) -> KeyedClip {
    let built = build(raw, &BuildOptions { scheme, ..BuildOptions::default() }).unwrap();
    KeyedClip::clone(built.clip.as_keyed().unwrap())
}

fn keys(parametrization: Parametrization) -> Scheme {
    Scheme::Keyed(KeyedOptions { parametrization, ..KeyedOptions::default() })
}

fn distance_cm(skeleton: &Skeleton, one: &[Transform], other: &[Transform]) -> f64 {
    pose_distance_cm(skeleton, one, other, &ErrorOptions::default())
}

fn length_cm(range: &VectorRange) -> f64 {
    let squares = (0..3)
        .map(|axis| f64::from(range.max[axis]) - f64::from(range.min[axis]))
        .map(|extent| extent * extent);
    squares.sum::<f64>().sqrt()
}

/// Returns the allowed error of a file at the sample times, in cm. The bound is a sum. Each joint
/// adds half a step of its translation, and half a step of rotation and of scale at the distance of
/// the chain's end. The sum also has three times the largest movement of any joint in a 65535th of
/// the duration.
///
/// The error of a rotation of 15 bits is less than 0.00015 rad. It consists of half a step of
/// 0.0000432 in three components and the effect on the fourth, and is doubled because it is an
/// angle. A value between two keys depends on its time and on four key times. Each of these times
/// is rounded down by less than one tick, which moves the value by at most the length of a tangent.
fn bound_cm(clip: &KeyedClip, skeleton: &Skeleton, anm: &Anm) -> f64 {
    let half_step = |range| length_cm(range) / 65535.0 / 2.0;
    let tick = (clip.samples() - 1) as f64 / 65535.0;
    let mut cursor = Cursor::with_bind_pose(clip.clone(), &skeleton.bind_pose()).unwrap();
    let (mut pose, mut later) = (skeleton.bind_pose(), skeleton.bind_pose());
    let (mut moved_cm, mut reach_cm, mut size) = (0.0_f64, 0.0_f64, 1.0_f64);
    for sample in 0..clip.samples() {
        cursor.sample_at(sample as f64, &mut pose);
        cursor.sample_at(sample as f64 + tick, &mut later);
        moved_cm = moved_cm.max(distance_cm(skeleton, &pose, &later));
        let lengths = pose[1..]
            .iter()
            .map(|t| t.translation.map(f64::from).into_iter().map(f64::abs).sum::<f64>());
        reach_cm = reach_cm.max(lengths.sum::<f64>() + 3.0);
        let sizes = pose.iter().map(|t| t.scale.map(f64::from).into_iter().fold(0.0, f64::max));
        size = size.max(sizes.fold(1.0, |all, one| all * one.max(1.0)));
    }
    let head = anm.head();
    let joint_cm = half_step(&head.translation) + (0.000_15 + half_step(&head.scale)) * reach_cm;
    skeleton.len() as f64 * joint_cm * size + 3.0 * moved_cm
}

/// Returns the poses of `ltk_anim` at the times `times_s`, one after another.
fn ltk_poses(anm: &Anm, times_s: impl Iterator<Item = f32>) -> Vec<Vec<Transform>> {
    let animation = Compressed::from_reader(&mut Reader::new(anm.to_bytes())).unwrap();
    let mut evaluator = animation.evaluator();
    let pose = |time_s| {
        let played = evaluator.evaluate(time_s);
        let transform = |hash| {
            let (rotation, translation, scale) = played[hash];
            Transform {
                rotation: rotation.to_array(),
                translation: translation.to_array(),
                scale: scale.to_array(),
            }
        };
        anm.joints().iter().map(transform).collect()
    };
    times_s.map(pose).collect()
}

/// Returns the clip's poses at the positions `positions`, in samples.
fn clip_poses(
    clip: &KeyedClip,
    skeleton: &Skeleton,
    positions: impl Iterator<Item = f64>,
) -> Vec<Vec<Transform>> {
    let mut cursor = Cursor::with_bind_pose(clip.clone(), &skeleton.bind_pose()).unwrap();
    let mut pose = skeleton.bind_pose();
    let at = |position| {
        cursor.sample_at(position, &mut pose);
        pose.clone()
    };
    positions.map(at).collect()
}

fn anm_poses(anm: &Anm, times_s: impl Iterator<Item = f32>) -> Vec<Vec<Transform>> {
    let mut player = AnmPlayer::new(anm);
    let mut pose = vec![Transform::IDENTITY; anm.joints().len()];
    let at = |time_s| {
        player.sample(time_s, &mut pose);
        pose.clone()
    };
    times_s.map(at).collect()
}

fn max_distance_cm(skeleton: &Skeleton, one: &[Vec<Transform>], other: &[Vec<Transform>]) -> f64 {
    assert_eq!(one.len(), other.len());
    one.iter().zip(other).map(|(one, other)| distance_cm(skeleton, one, other)).fold(0.0, f64::max)
}

/// Exports a clip without and with caches, and compares the poses at the sample times: forwards,
/// and with caches also backwards. Returns the file without caches and the largest distance.
fn exported(clip: &KeyedClip, skeleton: &Skeleton) -> (Anm, f64) {
    let expected = clip_poses(clip, skeleton, (0..clip.samples()).map(|sample| sample as f64));
    let backwards: Vec<_> = expected.iter().rev().cloned().collect();
    let times_s = (0..clip.samples()).map(|sample| sample as f32 / clip.rate_hz());
    let mut largest = 0.0_f64;
    for caches in [0, 1, 7] {
        let anm = Anm::from_clip(clip, skeleton, caches).unwrap();
        assert_eq!(anm.jump_cache_count(), caches);
        assert_eq!(
            (anm.head().duration_s, anm.head().rate_hz),
            (clip.duration_s(), clip.rate_hz())
        );
        let anm = Anm::from_bytes(&anm.to_bytes()).unwrap();
        let mut played = vec![
            (anm_poses(&anm, times_s.clone()), &expected),
            (ltk_poses(&anm, times_s.clone()), &expected),
            (anm_poses(&anm, times_s.clone().rev()), &backwards),
        ];
        if caches > 0 {
            played.push((ltk_poses(&anm, times_s.clone().rev()), &backwards));
        }
        for (played, expected) in played {
            largest = largest.max(max_distance_cm(skeleton, &played, expected));
        }
    }
    let anm = Anm::from_clip(clip, skeleton, 0).unwrap();
    let bound = bound_cm(clip, skeleton, &anm);
    assert!(largest <= bound, "{largest} cm, allowed are {bound}");
    (anm, largest)
}

/// Returns the keys of a track in a file, without the doubled ends.
fn track_of(anm: &Anm, joint: u16, channel: Channel) -> Vec<(u16, [u16; 3])> {
    let keys = anm.keys().iter().filter(|key| (key.joint, key.channel) == (joint, channel));
    let mut keys: Vec<_> = keys.map(|key| (key.time, key.value)).collect();
    keys.dedup();
    keys
}

#[test]
fn files_of_every_scheme_play_like_the_clip() {
    let pinned = KeyedOptions { pins: vec![5], ..KeyedOptions::default() };
    let schemes = [
        keys(Parametrization::Times),
        keys(Parametrization::Uniform),
        Scheme::Keyed(KeyedOptions { rows: false, ..KeyedOptions::default() }),
        Scheme::Keyed(KeyedOptions::plain()),
        Scheme::Keyed(pinned),
        Scheme::Quantized(RotationBits::Bits48),
        Scheme::Quantized(RotationBits::Bits32),
    ];
    for scheme in &schemes {
        for (seed, samples, rate_hz) in [(1, 60, 30.0), (2, 18, 24.0), (3, 121, 60.0)] {
            let raw = smooth_clip(seed, samples, rate_hz);
            let clip = built(&raw, scheme.clone());
            let (anm, distance) = exported(&clip, raw.skeleton());
            assert_eq!(anm.head().parametrization(), clip.parametrization());
            // In the worst case, the sum of the steps is ten times this error.
            assert!(distance < 0.01, "{scheme:?}: {distance} cm");
        }
    }
}

/// Rows are more exact than the bound. If no range is widened, the file has the codes of the rows,
/// at the times that players compute.
#[test]
fn rows_are_played_to_the_bit() {
    let skeleton = chain(&["Root"]);
    // With 16, 18, 52 and 256 samples, each sample is at a whole time.
    for samples in [2, 7, 16, 18, 52, 100, 256, 1000] {
        let pose = |sample: u16| Transform {
            rotation: around_z(f32::from(sample % 90) / 60.0),
            translation: [f32::from(sample), 0.0, -f32::from(sample)],
            scale: [1.0, 1.0 + f32::from(sample), 1.0],
        };
        let raw =
            RawClip::new("rows", Arc::clone(&skeleton), 30.0, (0..samples).map(pose).collect())
                .unwrap();
        let clip = built(&raw, Scheme::Quantized(RotationBits::Bits48));
        let (anm, _) = exported(&clip, &skeleton);
        assert_eq!(anm.keys().len(), 3 * (usize::from(samples) + 2));
        let played = anm_poses(&anm, (0..samples).map(|sample| f32::from(sample) / 30.0));
        let expected = clip_poses(&clip, &skeleton, (0..samples).map(f64::from));
        for (played, expected) in played.iter().zip(&expected) {
            assert_eq!(
                (played[0].translation, played[0].scale),
                (expected[0].translation, expected[0].scale)
            );
            assert_eq!(rotation_48(played[0].rotation), rotation_48(expected[0].rotation));
        }
    }
}

#[test]
fn rotations_of_keys_keep_their_bits() {
    let raw = smooth_clip(4, 90, 30.0);
    let clip = built(&raw, Scheme::Keyed(KeyedOptions { rows: false, ..KeyedOptions::default() }));
    let (anm, _) = exported(&clip, raw.skeleton());
    // Each track ends with the clip.
    let end = (0..clip.key_count()).map(|index| u32::from(clip.key(index).time)).max().unwrap();
    let mut rotations = 0;
    for track in clip.keyed_tracks().iter().filter(|track| track.channel == Channel::Rotation) {
        let theirs = track_of(&anm, track.joint, track.channel);
        let keys = (0..clip.key_count()).map(|index| clip.key(index));
        let ours: Vec<_> =
            keys.filter(|key| (key.joint, key.channel) == (track.joint, track.channel)).collect();
        assert_eq!(theirs.len(), ours.len());
        for (key, (time, value)) in ours.iter().zip(theirs) {
            assert_eq!(value, key.value);
            let exact = u32::from(key.time) * 65535 / end;
            assert!(u32::from(time).abs_diff(exact) <= 1, "{time}, {exact}");
        }
        rotations += 1;
    }
    assert!(rotations >= 4);
}

#[test]
fn a_file_has_all_channels_of_all_joints() {
    let raw = smooth_clip(5, 40, 30.0);
    let clip = built(&raw, Scheme::Keyed(KeyedOptions::default()));
    let (anm, _) = exported(&clip, raw.skeleton());
    let names: Vec<_> = raw.skeleton().joints().iter().map(|joint| elf_hash(&joint.name)).collect();
    assert_eq!(anm.joints(), names);
    let mut seen = [false; 4];
    for joint in 0..6 {
        for channel in Channel::ALL {
            let kind = clip.kind(kinepack_anim::TrackId { joint, channel });
            seen[kind as usize] = true;
            let keys = track_of(&anm, joint, channel);
            let is_single = keys.len() == 1 && keys[0].0 == 0;
            assert_eq!(is_single, !kind.is_animated(), "joint {joint}, {}", channel.name());
        }
    }
    assert!(
        seen[Kind::Default as usize] && seen[Kind::Constant as usize] && (seen[2] || seen[3]),
        "{seen:?}"
    );
}

#[test]
fn a_clip_of_one_sample_is_a_pose() {
    let raw = smooth_clip(6, 1, 30.0);
    for scheme in [Scheme::Keyed(KeyedOptions::default()), Scheme::Quantized(RotationBits::Bits32)]
    {
        let clip = built(&raw, scheme);
        let (anm, _) = exported(&clip, raw.skeleton());
        assert_eq!((anm.head().duration_s, anm.keys().len()), (0.0, 6 * 3 * 4));
    }
}

#[test]
fn a_long_clip_that_does_not_move_is_exported() {
    let skeleton = chain(&["Root"]);
    let still = Transform { translation: [1e6, 3.0, -7.0], ..Transform::IDENTITY };
    let raw = RawClip::new("still", Arc::clone(&skeleton), 120.0, vec![still; 70_000]).unwrap();
    let clip = built(&raw, Scheme::Keyed(KeyedOptions::default()));
    let anm = Anm::from_clip(&clip, &skeleton, 3).unwrap();
    let pose = &anm_poses(&anm, [300.0].into_iter())[0];
    assert_eq!((pose[0].translation, pose[0].scale), (still.translation, still.scale));
}

#[test]
fn a_file_has_at_most_65536_rows() {
    let skeleton = chain(&["Root"]);
    let clip = |samples: u32| {
        let pose = |sample: u32| Transform {
            translation: [sample as f32, 0.0, 0.0],
            ..Transform::IDENTITY
        };
        let raw =
            RawClip::new("long", Arc::clone(&skeleton), 120.0, (0..samples).map(pose).collect())
                .unwrap();
        built(&raw, Scheme::Quantized(RotationBits::Bits48))
    };
    let anm = Anm::from_clip(&clip(65_536), &skeleton, 1).unwrap();
    let times: Vec<_> =
        track_of(&anm, 0, Channel::Translation).iter().map(|(time, _)| *time).collect();
    assert!(times.into_iter().eq(0..=u16::MAX));
    let refused = Anm::from_clip(&clip(65_537), &skeleton, 1).unwrap_err();
    assert_eq!(refused, AnmError::TooManyRows { samples: 65_537 });
    assert!(refused.to_string().contains("65537 rows of samples: a file has only 65536"));
}

/// A clip's player gives each rotation the sign that is nearer to the previous key. A file's player
/// gives it the sign that is nearer to the first of four keys.
#[test]
fn a_fast_spin_gets_keys_until_players_turn_the_same_way() {
    let skeleton = chain(&["Hub", "Blade"]);
    let schemes = [
        Scheme::Keyed(KeyedOptions { rows: false, ..KeyedOptions::default() }),
        Scheme::Keyed(KeyedOptions {
            rows: false,
            parametrization: Parametrization::Uniform,
            ..KeyedOptions::default()
        }),
        Scheme::Quantized(RotationBits::Bits48),
        Scheme::Quantized(RotationBits::Bits32),
    ];
    for degrees_a_sample in [40.0_f32, 59.0, 61.0, 90.0, 120.0, 170.0] {
        let pose = |sample: u16| {
            let mut pose = skeleton.bind_pose();
            pose[0].rotation = around_z(f32::from(sample) * degrees_a_sample.to_radians());
            pose
        };
        let raw =
            RawClip::new("spin", Arc::clone(&skeleton), 30.0, (0..50).flat_map(pose).collect())
                .unwrap();
        for scheme in &schemes {
            let clip = built(&raw, scheme.clone());
            let (anm, _) = exported(&clip, &skeleton);
            // Turned the other way, the tip would be 20 cm away.
            let positions = (0..49).map(|sample| f64::from(sample) + 0.5);
            let expected = clip_poses(&clip, &skeleton, positions.clone());
            let times_s = positions.map(|position| position as f32 / 30.0);
            for played in [anm_poses(&anm, times_s.clone()), ltk_poses(&anm, times_s)] {
                let distance = max_distance_cm(&skeleton, &played, &expected);
                assert!(distance < 3.0, "{degrees_a_sample}° a sample, {scheme:?}: {distance} cm");
            }
            let keys = track_of(&anm, 0, Channel::Rotation).len();
            assert!(keys >= 50, "{degrees_a_sample}° a sample: {keys} keys");
        }
    }
}

#[test]
fn half_a_turn_between_keys_goes_the_same_way_as_in_the_clip() {
    let skeleton = chain(&["Root", "Tip"]);
    let pose = |sample: u16| {
        let mut pose = skeleton.bind_pose();
        pose[0].rotation = around_z(f32::from(sample % 2) * std::f32::consts::PI);
        pose
    };
    let raw = RawClip::new("flip", Arc::clone(&skeleton), 30.0, (0..20).flat_map(pose).collect())
        .unwrap();
    for scheme in [Scheme::Keyed(KeyedOptions::default()), Scheme::Quantized(RotationBits::Bits48)]
    {
        let clip = built(&raw, scheme);
        let (anm, _) = exported(&clip, &skeleton);
        assert!(track_of(&anm, 0, Channel::Rotation).len() > 20);
    }
}

#[test]
fn clips_that_files_cannot_express_are_refused() {
    let raw = smooth_clip(7, 30, 30.0);
    for parametrization in [Parametrization::Chordal, Parametrization::Centripetal] {
        let refused =
            Anm::from_clip(&built(&raw, keys(parametrization)), raw.skeleton(), 1).unwrap_err();
        assert_eq!(refused, AnmError::BadParametrization { parametrization });
        assert!(refused.to_string().contains("build the clip with times or uniform"));
    }
    let clip = built(&raw, Scheme::Keyed(KeyedOptions::default()));
    let other = chain(&["Root", "Turned", "Still", "Grown", "Moved", "Other"]);
    assert_eq!(Anm::from_clip(&clip, &other, 1), Err(AnmError::OtherSkeleton));
    assert_eq!(Anm::from_clip(&clip, &chain(&["Root"]), 1), Err(AnmError::OtherSkeleton));
    assert_eq!(
        Anm::from_clip(&clip, raw.skeleton(), 65_536),
        Err(AnmError::TooManyCaches { count: 65_536 })
    );
}

#[test]
fn joints_with_the_same_hash_are_refused() {
    let still = |names: &[&str]| {
        let skeleton = chain(names);
        let raw = RawClip::new("still", Arc::clone(&skeleton), 30.0, skeleton.bind_pose()).unwrap();
        Anm::from_clip(&built(&raw, Scheme::Keyed(KeyedOptions::default())), &skeleton, 0)
    };
    let refused = still(&["Root", "Arm", "Leg", "arm"]).unwrap_err();
    let names = ["Arm".to_owned(), "arm".to_owned()];
    assert_eq!(refused, AnmError::SameHash { joints: [1, 3], names });
    assert_eq!(
        refused.to_string(),
        r#"joints 1 and 3, "Arm" and "arm", have the same hash: rename one"#
    );
    assert!(matches!(still(&["Root", "", ""]), Err(AnmError::SameHash { joints: [1, 2], .. })));
    let nameless = still(&["", "", ""]).unwrap();
    assert_eq!(nameless.joints(), ["0", "1", "2"].map(elf_hash));
}
