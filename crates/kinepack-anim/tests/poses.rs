//! Tests the operations of engines on poses: model space, blends, and metres. It also tests the
//! errors for poses and files that do not fit.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use kinepack_anim::keyed::KeyedClip;
use kinepack_anim::measure::{
    ErrorOptions, Errors, Follower, measure, pose_distance_cm, pose_errors_cm,
};
use kinepack_anim::offline::{BuildOptions, KeyedOptions, Scheme, build};
use kinepack_anim::{
    AnyClip, Clip, ClipError, FileKind, Joint, Metres, PlayError, RawClip, Rig, Skeleton,
    SkeletonFileError, SoaPose, Transform, additive, blend, disk, sample_batch,
};

use crate::random::Random;

const JOINTS: usize = 9;

/// Transforms with turns of all sizes and with scales that differ between axes.
fn pose(random: &mut Random) -> Vec<Transform> {
    let mut vector = |min, max| [0; 3].map(|_| random.between(min, max));
    let transform = |_| {
        let [x, y, z] = vector(-1.0, 1.0);
        let w = vector(-1.0, 1.0)[0];
        let length = (x * x + y * y + z * z + w * w).sqrt();
        Transform {
            rotation: [x, y, z, w].map(|c| c / length),
            translation: vector(-50.0, 50.0),
            scale: vector(0.5, 2.0),
        }
    };
    (0..JOINTS).map(transform).collect()
}

/// Returns a clip of two chains below a root, and of a second root.
fn raw_clip(samples: usize) -> RawClip {
    let mut random = Random(3);
    let joint = |(index, bind): (usize, Transform)| Joint {
        name: format!("joint {index}"),
        parent: (index % 8 > 0).then(|| index.saturating_sub(2) as u16),
        bind,
    };
    let joints = pose(&mut random).into_iter().enumerate().map(joint);
    let skeleton = Arc::new(Skeleton::new(joints.collect()).unwrap());
    let samples = (0..samples).flat_map(|_| pose(&mut random)).collect();
    RawClip::new("jumps", skeleton, 30.0, samples).unwrap()
}

fn built(raw: &RawClip) -> [AnyClip; 2] {
    let keyed = Scheme::Keyed(KeyedOptions::default());
    [Scheme::default(), keyed]
        .map(|scheme| build(raw, &BuildOptions { scheme, ..BuildOptions::default() }).unwrap().clip)
}

#[test]
fn model_space_is_where_errors_are_measured() {
    let raw = raw_clip(5);
    let [clip, _] = built(&raw);
    let mut follower = Follower::new(&raw, &clip, &ErrorOptions::default());
    let mut model = vec![Transform::IDENTITY; JOINTS];
    for sample in 0..raw.samples() {
        raw.skeleton().model_pose(raw.pose(sample), &mut model);
        follower.go_to(2 * sample);
        for (joint, expected) in model.iter().zip(follower.raw_positions_cm()) {
            for (a, b) in joint.translation.into_iter().zip(expected) {
                assert!((f64::from(a) - b).abs() < 0.01, "{a} {b}");
            }
        }
    }
}

#[test]
fn errors_of_single_poses_are_those_of_the_report() {
    let raw = raw_clip(20);
    let options = ErrorOptions { joint_shells_cm: vec![(3, 40.0)], ..ErrorOptions::default() };
    for clip in built(&raw) {
        let mut player = clip.player(raw.skeleton()).unwrap();
        let mut played = raw.skeleton().bind_pose();
        let mut all = Vec::new();
        for (sample, pose) in raw.poses().enumerate() {
            player.sample_at(sample as f64, &mut played);
            let errors: Vec<f64> =
                pose_errors_cm(raw.skeleton(), pose, &played, &options).collect();
            assert_eq!(errors.len(), JOINTS);
            let largest = errors.iter().copied().fold(0.0, f64::max);
            assert_eq!(pose_distance_cm(raw.skeleton(), pose, &played, &options), largest);
            all.extend(errors.into_iter().map(|error| error as f32));
        }
        let report = measure(&raw, &clip, &options).all;
        assert!(report.max_cm > 0.0);
        let summary = Errors::summarize(all);
        assert_eq!((summary.max_cm, summary.p99_cm), (report.max_cm, report.p99_cm));
        // The mean is over the same errors in a different order.
        assert!((summary.mean_cm - report.mean_cm).abs() < 1e-12);
    }
    assert_eq!(Errors::summarize(Vec::new()), Errors::default());
}

#[test]
fn model_space_keeps_scales_on_their_axes() {
    let joint = |parent| Joint { name: String::new(), parent, bind: Transform::IDENTITY };
    let skeleton = Skeleton::new(vec![joint(None), joint(Some(0)), joint(Some(1))]).unwrap();
    let quarter = 0.5_f32.sqrt();
    let moved = |translation| Transform { translation, ..Transform::IDENTITY };
    let pose = [
        Transform { scale: [2.0, 1.0, 1.0], ..moved([1.0, 0.0, 0.0]) },
        Transform { rotation: [0.0, 0.0, quarter, quarter], ..moved([1.0, 0.0, 0.0]) },
        moved([1.0, 0.0, 0.0]),
    ];
    let mut model = [Transform::IDENTITY; 3];
    skeleton.model_pose(&pose, &mut model);
    assert_eq!(model[1].translation, [3.0, 0.0, 0.0]);
    // The scale still belongs to the joint's x axis, which now points up.
    assert_eq!(model[2].scale, [2.0, 1.0, 1.0]);
    let [x, y, _] = model[2].translation;
    assert!((x - 3.0).abs() < 1e-6 && (y - 2.0).abs() < 1e-6, "{x} {y}");
}

#[test]
fn a_blend_leads_from_one_pose_to_the_other() {
    let mut random = Random(5);
    let (from, to) = (pose(&mut random), pose(&mut random));
    let blended = |weight| {
        let mut pose = from.clone();
        blend(&mut pose, &to, weight);
        pose
    };
    for (weight, expected) in [(0.0, &from), (1.0, &to)] {
        for (own, expected) in blended(weight).iter().zip(expected) {
            assert_eq!((own.translation, own.scale), (expected.translation, expected.scale));
            let cosine = dot(own.rotation, expected.rotation);
            assert!((cosine.abs() - 1.0).abs() < 1e-6, "{cosine}");
        }
    }
    let mut flips = 0;
    for ((half, from), to) in blended(0.5).iter().zip(&from).zip(&to) {
        let away = [dot(half.rotation, from.rotation), dot(half.rotation, to.rotation)];
        // The shorter way is at most a half turn, so each half is at most a quarter of a turn.
        assert!((away[0] - away[1].abs()).abs() < 1e-5 && away[0] > 0.707, "{away:?}");
        assert!((dot(half.rotation, half.rotation) - 1.0).abs() < 1e-6);
        flips += usize::from(away[1] < 0.0);
    }
    assert!((1..JOINTS).contains(&flips), "both ways round are tested");
}

fn dot(a: [f32; 4], b: [f32; 4]) -> f32 {
    a.into_iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn players_of_both_schemes_write_the_poses_that_they_sample() {
    let raw = raw_clip(40);
    for clip in built(&raw) {
        let mut player = clip.player(raw.skeleton()).unwrap();
        let (mut sampled, mut written) = (pose(&mut Random(1)), pose(&mut Random(2)));
        let mut written_m = SoaPose::new(JOINTS);
        for time_s in [0.0, 0.51, 1.2, 0.3, 9.0, f32::NAN] {
            player.sample(time_s, &mut sampled);
            player.write(time_s, &mut written[..]);
            assert_eq!(sampled, written, "{time_s}");
            player.write(time_s, &mut Metres(&mut written_m));
            for (joint, transform) in sampled.iter().enumerate() {
                let written_m = [0, 1, 2].map(|axis| written_m.translations[axis][joint]);
                assert_eq!(transform.translation_m(), written_m);
            }
        }
    }
}

#[test]
fn poses_of_another_length_are_named() {
    let raw = raw_clip(3);
    let skeleton = raw.skeleton();
    let [clip, keyed] = built(&raw);
    let sampler = kinepack_anim::Sampler::new(Arc::clone(clip.as_block().unwrap()), skeleton);
    let sampler = sampler.unwrap();
    let mut players = [clip, keyed].map(|clip| clip.player(skeleton).unwrap());
    let message = |act: &mut dyn FnMut(&mut [Transform])| {
        let mut short = vec![Transform::IDENTITY; JOINTS - 1];
        let panic = catch_unwind(AssertUnwindSafe(|| act(&mut short))).unwrap_err();
        panic.downcast_ref::<String>().unwrap().clone()
    };
    for player in &mut players {
        let refused = message(&mut |pose| player.sample(0.0, pose));
        assert_eq!(refused, "the pose has 8 joints and the clip has 9");
    }
    let all = kinepack_anim::JointMask::new(JOINTS, |_| true);
    let refused = message(&mut |pose| sampler.sample_joints(0.0, &all, pose));
    assert_eq!(refused, "the pose has 8 joints and the clip has 9");
    let refused = message(&mut |pose| sample_batch(&[(&sampler, 0.0)], pose));
    assert_eq!(refused, "the samplers have 9 joints together and there is room for 8");
    let refused = message(&mut |_| {
        let _ = sampler.joint(0.0, 9);
    });
    assert_eq!(refused, "joint 9 of a clip of 9 joints");
    let refused = message(&mut |pose| skeleton.model_pose(&skeleton.bind_pose(), pose));
    assert_eq!(refused, "the model pose has 8 joints and the skeleton has 9");
    let refused = message(&mut |pose| blend(pose, &skeleton.bind_pose(), 0.5));
    assert_eq!(refused, "the other pose has 9 joints and the pose has 8");
    let refused = message(&mut |pose| additive::add(pose, &skeleton.bind_pose(), 0.5));
    assert_eq!(refused, "the delta has 9 joints and the pose has 8");
}

#[test]
fn a_reader_names_the_file_that_it_is_given() {
    let raw = raw_clip(3);
    let [clip, keyed] = built(&raw);
    let disk = disk::pack(clip.as_block().unwrap()).unwrap();
    let files = [
        (FileKind::BlockClip, clip.as_bytes().to_vec(), "AnyClip::from_bytes"),
        (FileKind::KeyedClip, keyed.as_bytes().to_vec(), "AnyClip::from_bytes"),
        (FileKind::DiskClip, disk, "disk::unpack"),
        (FileKind::Skeleton, raw.skeleton().to_bytes(), "Skeleton::from_bytes"),
        (FileKind::Rig, b"KPAR".to_vec(), "Rig::from_bytes"),
        (FileKind::RawClip, b"CLIP".to_vec(), "exchange::read"),
        (FileKind::Gltf, b"glTF\x02\0\0\0".to_vec(), "compress it first"),
        (FileKind::Fbx, b"Kaydara FBX Binary".to_vec(), "compress it first"),
        (FileKind::Fbx, b"; FBX 7.4.0 project file".to_vec(), "compress it first"),
        (FileKind::Bvh, b"HIERARCHY\nROOT".to_vec(), "compress it first"),
        (FileKind::Anm, b"r3d2canm".to_vec(), "kinepack_anm::Anm::from_bytes"),
    ];
    for (kind, bytes, advice) in files {
        assert_eq!(FileKind::detect(&bytes), Some(kind));
        let refusals = [
            (Clip::from_bytes(&bytes[..]).err(), &[FileKind::BlockClip][..]),
            (KeyedClip::from_bytes(&bytes[..]).err(), &[FileKind::KeyedClip]),
            (disk::unpack(&bytes).err(), &[FileKind::DiskClip]),
            (Rig::from_bytes(&bytes).err(), &[FileKind::Rig]),
            (
                AnyClip::from_bytes(&bytes[..]).err(),
                &[FileKind::BlockClip, FileKind::KeyedClip, FileKind::DiskClip],
            ),
        ];
        for (refusal, own) in refusals {
            if own.contains(&kind) {
                assert_ne!(refusal, Some(ClipError::OtherFile { found: kind }));
                continue;
            }
            assert_eq!(refusal, Some(ClipError::OtherFile { found: kind }), "{own:?}");
            let message = refusal.unwrap().to_string();
            assert!(message.starts_with(&format!("this is {kind}: ")), "{message}");
            assert!(message.contains(advice), "{message}");
        }
        let refusal = Skeleton::from_bytes(&bytes).err();
        let is_refused = refusal == Some(SkeletonFileError::OtherFile { found: kind });
        assert_eq!(is_refused, kind != FileKind::Skeleton);
    }
    for bytes in [&b"KPA"[..], b"{\"asset\"", b""] {
        assert_eq!(FileKind::detect(bytes), None);
        assert_eq!(AnyClip::from_bytes(bytes).err(), Some(ClipError::NoClip));
        assert_eq!(disk::unpack(bytes).err(), Some(ClipError::NoClip));
        assert_eq!(Rig::from_bytes(bytes).err(), Some(ClipError::NoRig));
        assert_eq!(Skeleton::from_bytes(bytes).err(), Some(SkeletonFileError::NoSkeleton));
    }
}

#[test]
fn another_skeleton_is_refused_with_what_may_be_meant() {
    let [clip, _] = built(&raw_clip(3));
    let other = additive::skeleton(raw_clip(3).skeleton());
    let refused = clip.player(&other).unwrap_err();
    assert!(matches!(refused, PlayError::OtherSkeleton { .. }));
    assert!(refused.to_string().contains("additive::skeleton"), "{refused}");
}
