//! Tests of bodies of VMC: the places of the joints must be those that Unity would compute.

use kinepack_anim::figure::Figure;
use kinepack_anim::live::{BONE_COUNT, BONES, BonePose, VmcBody, VmcBodyError, VmcFrame};
use kinepack_anim::{Joint, Skeleton, Transform};

use super::packets::t_pose;
use crate::random::Random;

type Quaternion = [f64; 4];
type Vector = [f64; 3];

fn product([ax, ay, az, aw]: Quaternion, [bx, by, bz, bw]: Quaternion) -> Quaternion {
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}

fn inverse([x, y, z, w]: Quaternion) -> Quaternion {
    [-x, -y, -z, w]
}

fn rotated(rotation: Quaternion, [x, y, z]: Vector) -> Vector {
    let [x, y, z, _] = product(product(rotation, [x, y, z, 0.0]), inverse(rotation));
    [x, y, z]
}

fn plus(a: Vector, b: Vector) -> Vector {
    std::array::from_fn(|axis| a[axis] + b[axis])
}

fn random_rotation(random: &mut Random) -> Quaternion {
    let numbers: Quaternion =
        std::array::from_fn(|_| f64::from(random.below(2_001)) / 1_000.0 - 1.0 + 1e-3);
    let length = numbers.iter().map(|c| c * c).sum::<f64>().sqrt();
    numbers.map(|c| c / length)
}

/// Returns a frame in which every bone is turned and the body has moved.
fn turned_frame(random: &mut Random) -> VmcFrame {
    let mut frame = VmcFrame::default();
    for (index, mut pose) in t_pose() {
        pose.rotation = random_rotation(random).map(|c| c as f32);
        frame.bones[index] = Some(pose);
    }
    frame.root = BonePose {
        position_m: [1.0, 0.25, -2.0],
        rotation: random_rotation(random).map(|c| c as f32),
    };
    frame
}

/// Returns the places of the bones as Unity computes them, in metres in its space.
fn unity(frame: &VmcFrame) -> [Option<Vector>; BONE_COUNT] {
    let mut all: [Option<(Vector, Quaternion)>; BONE_COUNT] = [None; BONE_COUNT];
    let wide = |pose: &BonePose| (pose.position_m.map(f64::from), pose.rotation.map(f64::from));
    for (index, bone) in BONES.iter().enumerate() {
        let Some(pose) = &frame.bones[index] else { continue };
        let mut above = bone.parent;
        while let Some(missing) = above.filter(|above| all[*above].is_none()) {
            above = BONES[missing].parent;
        }
        let (at, turn) = above.map_or(wide(&frame.root), |above| all[above].unwrap());
        let (position, rotation) = wide(pose);
        all[index] = Some((plus(at, rotated(turn, position)), product(turn, rotation)));
    }
    all.map(|bone| bone.map(|(at, _)| at))
}

/// Checks that a body's joints are where Unity has them, mirrored by `mirror`.
fn check(body: &VmcBody, frame: &VmcFrame, mirror: fn(Vector) -> Vector) {
    let (mut pose, mut curves) = (Vec::new(), Vec::new());
    body.pose(frame, &mut pose, &mut curves);
    let mut model = pose.clone();
    body.skeleton().model_pose(&pose, &mut model);
    for (index, place_m) in unity(frame).into_iter().enumerate() {
        let Some(place_m) = place_m else { continue };
        let joint = body.skeleton().find(&vrm_name(index)).unwrap();
        let expected_cm = mirror(place_m).map(|m| 100.0 * m);
        for (own, expected) in model[joint].translation.iter().zip(expected_cm) {
            let off_cm = (f64::from(*own) - expected).abs();
            assert!(off_cm < 1e-2, "{}: {off_cm} cm", BONES[index].name);
        }
    }
}

fn vrm_name(bone: usize) -> String {
    let name = BONES[bone].name;
    let lower = name[..1].to_lowercase() + &name[1..];
    if lower.ends_with("ThumbProximal") {
        return lower.replace("ThumbProximal", "ThumbMetacarpal");
    }
    lower.replace("ThumbIntermediate", "ThumbProximal")
}

/// Returns the model of the T-pose in file space, with joints that are rotated at rest if `random`
/// is given, below a joint that is no bone.
fn model(mirror: fn(Vector) -> Vector, random: Option<&mut Random>) -> Skeleton {
    let mut frame = VmcFrame::default();
    t_pose().into_iter().for_each(|(index, pose)| frame.bones[index] = Some(pose));
    let places = unity(&frame).map(|place| mirror(place.unwrap()).map(|m| 100.0 * m));
    let identity = [0.0, 0.0, 0.0, 1.0];
    let mut rests = [identity; BONE_COUNT];
    if let Some(random) = random {
        rests = std::array::from_fn(|_| random_rotation(random));
    }
    let armature = Transform { translation: [0.0, 10.0, 0.0], ..Transform::IDENTITY };
    let mut joints = vec![Joint { name: "armature".into(), parent: None, bind: armature }];
    for (index, bone) in BONES.iter().enumerate() {
        let (at, turn) =
            bone.parent.map_or(([0.0, 10.0, 0.0], identity), |above| (places[above], rests[above]));
        let local = rotated(inverse(turn), plus(places[index], at.map(|c| -c)));
        let bind = Transform {
            rotation: product(inverse(turn), rests[index]).map(|c| c as f32),
            translation: local.map(|c| c as f32),
            ..Transform::IDENTITY
        };
        let parent = Some(bone.parent.map_or(0, |above| above as u16 + 1));
        joints.push(Joint { name: vrm_name(index), parent, bind });
    }
    Skeleton::new(joints).unwrap()
}

fn mirror_x([x, y, z]: Vector) -> Vector {
    [-x, y, z]
}

fn mirror_z([x, y, z]: Vector) -> Vector {
    [x, y, -z]
}

#[test]
fn a_body_without_a_model_is_where_unity_has_it() {
    let mut random = Random(5);
    let mut first = turned_frame(&mut random);
    let body = VmcBody::from_frame(&first).unwrap();
    check(&body, &first, mirror_x);
    check(&body, &turned_frame(&mut random), mirror_x);
    // Optional bones may be missing. Their children hang on the next bone above.
    for bone in ["UpperChest", "Neck", "LeftShoulder", "LeftEye"] {
        first.bones[BONES.iter().position(|own| own.name == bone).unwrap()] = None;
    }
    let body = VmcBody::from_frame(&first).unwrap();
    assert_eq!(body.skeleton().len(), BONE_COUNT - 4);
    check(&body, &first, mirror_x);
}

#[test]
fn a_body_with_a_model_is_where_unity_has_it() {
    let mut random = Random(6);
    for mirror in [mirror_x as fn(Vector) -> Vector, mirror_z] {
        for is_rotated in [false, true] {
            let skeleton = model(mirror, is_rotated.then_some(&mut random));
            let frame = turned_frame(&mut random);
            let body = VmcBody::from_skeleton(skeleton, &frame).unwrap();
            check(&body, &frame, mirror);
        }
    }
}

#[test]
fn rotations_alone_need_a_model_whose_hips_stay_at_rest() {
    let mut frame = turned_frame(&mut Random(7));
    frame.root = BonePose::IDENTITY;
    let whole = frame.clone();
    for bone in frame.bones.iter_mut().flatten() {
        bone.position_m = [0.0; 3];
    }
    assert_eq!(VmcBody::from_frame(&frame).unwrap_err(), VmcBodyError::NoPositions);
    let body = VmcBody::from_skeleton(model(mirror_x, None), &frame).unwrap();
    let (mut pose, mut expected, mut curves) = (Vec::new(), Vec::new(), Vec::new());
    body.pose(&frame, &mut pose, &mut curves);
    body.pose(&whole, &mut expected, &mut curves);
    for (own, expected) in pose.iter().zip(&expected) {
        for (own, expected) in own.translation.iter().zip(expected.translation) {
            assert!((own - expected).abs() < 1e-3, "{own} and {expected}");
        }
        assert_eq!(own.rotation, expected.rotation);
    }
}

#[test]
fn missing_bones_are_named() {
    let mut frame = turned_frame(&mut Random(8));
    for bone in ["Head", "LeftHand", "Neck"] {
        frame.bones[BONES.iter().position(|own| own.name == bone).unwrap()] = None;
    }
    let error = VmcBody::from_frame(&frame).unwrap_err();
    assert_eq!(error, VmcBodyError::BonesNotSent { bones: vec!["Head", "LeftHand"] });
    let joints = model(mirror_x, None).joints()[..4].to_vec();
    let skeleton = Skeleton::new(joints).unwrap();
    let error = VmcBody::from_skeleton(skeleton, &frame).unwrap_err().to_string();
    assert!(error.contains("lacks the joints head, leftUpperLeg"), "{error}");
}

#[test]
fn a_figure_of_a_body_keeps_its_precision() {
    let mut frame = turned_frame(&mut Random(9));
    frame.curves.extend([("Joy".to_owned(), 1.5), ("Blink".to_owned(), 0.25)]);
    let bodies = [
        VmcBody::from_frame(&frame).unwrap(),
        VmcBody::from_skeleton(model(mirror_z, None), &frame).unwrap(),
    ];
    for body in bodies {
        let figure = Figure::new(body.skeleton(), &body.options()).unwrap();
        for joint in 0..body.skeleton().len() {
            assert!(figure.max_error_cm(joint) <= 0.5);
        }
        let (mut pose, mut curves) = (Vec::new(), Vec::new());
        body.pose(&frame, &mut pose, &mut curves);
        assert_eq!(curves, [0.25, 1.0], "by name, and limited");
    }
}

#[test]
fn bones_and_shapes_that_begin_later_are_missing() {
    let mut frame = VmcFrame::default();
    for (index, pose) in t_pose() {
        frame.bones[index] = Some(pose).filter(|_| !BONES[index].name.contains("Thumb"));
    }
    frame.curves.insert("Joy".into(), 0.5);
    let body = VmcBody::from_frame(&frame).unwrap();
    assert_eq!(body.missing(&frame).count(), 0);
    let thumb = BONES.iter().position(|bone| bone.name == "LeftThumbProximal").unwrap();
    frame.bones[thumb] = Some(BonePose::IDENTITY);
    frame.curves.insert("A".into(), 0.5);
    frame.curves.insert("Sorrow".into(), 0.5);
    let missing: Vec<&str> = body.missing(&frame).collect();
    assert_eq!(missing, ["LeftThumbProximal", "A", "Sorrow"]);
}
