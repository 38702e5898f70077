//! Imports handmade FBX files with known poses.

use glam::{DQuat, DVec3, EulerRot};
use kinepack_anim::import::fbx::from_bytes;
use kinepack_anim::import::{Import, ImportError, ImportOptions, Note, read};
use kinepack_anim::{RawClip, Transform};

use crate::support::fbx::{Keys, Property, Scene};

const VECTOR: &str = "Vector3D";

/// Reads a scene as text and in binary form, and checks that both results are equal.
fn import_with(scene: &Scene, options: &ImportOptions) -> Result<Import, ImportError> {
    let import = from_bytes("a.fbx", scene.text().as_bytes(), options);
    let binary = from_bytes("a.fbx", &scene.binary(), options);
    assert_eq!(format!("{import:?}"), format!("{binary:?}"));
    import
}

pub(crate) fn import(scene: &Scene) -> Import {
    import_with(scene, &ImportOptions::default()).unwrap()
}

fn one(scene: &Scene) -> RawClip {
    let mut clips = import(scene).clips;
    assert_eq!(clips.len(), 1);
    clips.remove(0)
}

fn translation(numbers: &[f64]) -> Property<'_> {
    ("Lcl Translation", "Lcl Translation", "A", numbers)
}

fn names(clip: &RawClip) -> Vec<&str> {
    clip.skeleton().joints().iter().map(|joint| &*joint.name).collect()
}

fn assert_near(found: [f32; 3], expected: impl Into<DVec3>) {
    let (found, expected) = (DVec3::from_array(found.map(f64::from)), expected.into());
    assert!((found - expected).length() < 1e-4, "{found} is not {expected}");
}

fn assert_turned(found: &Transform, expected: DQuat) {
    let found = DQuat::from_array(found.rotation.map(f64::from));
    assert!(found.dot(expected).abs() > 1.0 - 1e-6, "{found} is not {expected}");
}

fn turn(axis: DVec3, degrees: f64) -> DQuat {
    DQuat::from_axis_angle(axis, degrees.to_radians())
}

/// Returns a scene of a bone whose rotation about X goes from 0 to 90 degrees in a second.
fn turning(properties: &[Property<'_>]) -> Scene {
    let mut scene = Scene::default();
    let bone = scene.bone("hip", 0, properties);
    let layer = scene.stack("turn", [0.0, 1.0]);
    scene.curve(layer, (bone, "Lcl Rotation"), "d|X", Keys::Linear, &[(0.0, 0.0), (1.0, 90.0)]);
    scene
}

#[test]
fn a_chain_with_rotations_before_and_after_the_animated_one() {
    let before: Property<'_> = ("PreRotation", VECTOR, "", &[0.0, 0.0, 90.0]);
    let after: Property<'_> = ("PostRotation", VECTOR, "", &[0.0, 30.0, 0.0]);
    let mut scene = turning(&[before, after, translation(&[1.0, 2.0, 3.0])]);
    scene.bone("knee", 1, &[translation(&[0.0, -40.0, 0.0])]);
    let clip = one(&scene);
    assert_eq!((clip.name(), clip.samples(), clip.rate_hz()), ("a__turn", 25, 24.0));
    assert_eq!(names(&clip), ["hip", "knee"]);
    assert_eq!(clip.skeleton().parent(1), Some(0));
    for (sample, pose) in clip.poses().enumerate() {
        let own = turn(DVec3::X, 90.0 * sample as f64 / 24.0);
        assert_turned(&pose[0], turn(DVec3::Z, 90.0) * own * turn(DVec3::Y, -30.0));
        assert_near(pose[0].translation, [1.0, 2.0, 3.0]);
        assert_eq!(pose[1].translation, [0.0, -40.0, 0.0]);
    }
    assert_turned(&clip.skeleton().joints()[0].bind, turn(DVec3::Z, 90.0) * turn(DVec3::Y, -30.0));
}

#[test]
fn rotations_are_in_the_order_of_the_node() {
    // FBX names the rotations in the order in which they are applied.
    let orders =
        [EulerRot::ZYX, EulerRot::YZX, EulerRot::XZY, EulerRot::ZXY, EulerRot::YXZ, EulerRot::XYZ];
    for (number, order) in orders.into_iter().enumerate() {
        let is_active: Property<'_> = ("RotationActive", "bool", "", &[1.0]);
        let angles: Property<'_> = ("Lcl Rotation", "Lcl Rotation", "A", &[0.0, 20.0, 50.0]);
        let mut scene = Scene::default();
        let numbers = [number as f64];
        let bone =
            scene.bone("hip", 0, &[is_active, ("RotationOrder", "enum", "", &numbers), angles]);
        let layer = scene.stack("turn", [0.0, 0.0]);
        for (axis, degrees) in [("d|X", 70.0), ("d|Y", 20.0), ("d|Z", 50.0)] {
            scene.curve(layer, (bone, "Lcl Rotation"), axis, Keys::Linear, &[(0.0, degrees)]);
        }
        let angle = |axis: char| {
            match axis {
                'X' => 70f64,
                'Y' => 20.0,
                _ => 50.0,
            }
            .to_radians()
        };
        let axes: Vec<char> = format!("{order:?}").chars().collect();
        let expected = DQuat::from_euler(order, angle(axes[0]), angle(axes[1]), angle(axes[2]));
        assert_turned(&one(&scene).pose(0)[0], expected);
    }
}

#[test]
fn a_joint_turns_about_its_pivot() {
    let pivot: Property<'_> = ("RotationPivot", VECTOR, "", &[0.0, 10.0, 0.0]);
    let offset: Property<'_> = ("RotationOffset", VECTOR, "", &[0.0, 0.0, 1.0]);
    let clip = one(&turning(&[pivot, offset]));
    assert_near(clip.pose(0)[0].translation, [0.0, 0.0, 1.0]);
    assert_near(clip.pose(24)[0].translation, [0.0, 10.0, 1.0 - 10.0]);
}

#[test]
fn the_file_states_its_unit() {
    for (unit_cm, option, expected) in [
        (None, None, 1.0),
        (Some(1.0), None, 1.0),
        (Some(100.0), None, 100.0),
        (Some(2.54), None, 2.54),
        (Some(2.54), Some(5.0), 5.0),
    ] {
        let mut scene = turning(&[translation(&[2.0, 0.0, 0.0])]);
        if let Some(unit_cm) = unit_cm {
            scene.setting("UnitScaleFactor", "double", unit_cm);
        }
        let options = ImportOptions { unit_cm: option, ..ImportOptions::default() };
        let clip = &import_with(&scene, &options).unwrap().clips[0];
        assert_near(clip.pose(3)[0].translation, [2.0 * expected, 0.0, 0.0]);
        assert_eq!(clip.pose(3)[0].scale, [1.0; 3]);
    }
    let mut scene = turning(&[]);
    scene.setting("UnitScaleFactor", "double", 0.0);
    let error = import_with(&scene, &ImportOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "a.fbx: FBX: its unit is 0 cm");
}

fn set_axes(scene: &mut Scene, [up, front, right]: [(f64, f64); 3]) {
    for (name, (axis, sign)) in [("UpAxis", up), ("FrontAxis", front), ("CoordAxis", right)] {
        scene.setting(name, "int", axis);
        scene.setting(&format!("{name}Sign"), "int", sign);
    }
}

#[test]
fn y_is_upwards() {
    let mut scene = turning(&[translation(&[1.0, 2.0, 3.0])]);
    scene.bone("knee", 1, &[translation(&[0.0, 0.0, -40.0])]);
    // In this scene, Z points upwards and Y away from the viewer, as in Blender.
    set_axes(&mut scene, [(2.0, 1.0), (1.0, -1.0), (0.0, 1.0)]);
    let clip = one(&scene);
    let pose = clip.pose(24);
    assert_near(pose[0].translation, [1.0, 3.0, -2.0]);
    assert_turned(&pose[0], turn(DVec3::X, -90.0) * turn(DVec3::X, 90.0));
    // The conversion turns only roots.
    assert_eq!(pose[1].translation, [0.0, 0.0, -40.0]);
    let mut other = turning(&[translation(&[1.0, 2.0, 3.0])]);
    // This scene is left-handed, with X to the left.
    set_axes(&mut other, [(1.0, 1.0), (2.0, 1.0), (0.0, -1.0)]);
    let clip = one(&other);
    assert_near(clip.pose(24)[0].translation, [-1.0, 2.0, 3.0]);
    assert_turned(&clip.pose(24)[0], turn(DVec3::X, 90.0));
}

#[test]
fn values_follow_the_keys() {
    let at = |keys, time_s: f64| {
        let mut scene = Scene::default();
        let bone = scene.bone("hip", 0, &[]);
        let layer = scene.stack("move", [0.0, 2.0]);
        let values = [(0.0, 0.0), (1.0, 10.0), (2.0, 4.0)];
        scene.curve(layer, (bone, "Lcl Translation"), "d|Y", keys, &values);
        let options = ImportOptions { rate_hz: Some(8.0), ..ImportOptions::default() };
        let clip = import_with(&scene, &options).unwrap().clips.remove(0);
        assert_eq!(clip.samples(), 17);
        clip.pose((time_s * 8.0) as usize)[0].translation[1]
    };
    assert_eq!(
        [0.0, 0.875, 1.0, 2.0].map(|time_s| at(Keys::Constant, time_s)),
        [0.0, 0.0, 10.0, 4.0]
    );
    assert_eq!([0.0, 0.25, 1.5, 2.0].map(|time_s| at(Keys::Linear, time_s)), [0.0, 2.5, 7.0, 4.0]);
    // The spline is Hermite's, from 0 to 10 with slopes of 8, at a quarter and at the half.
    let spline = |t: f64| {
        let (square, cube) = (t * t, t * t * t);
        10.0 * (3.0 * square - 2.0 * cube) + 8.0 * (cube - 2.0 * square + t + cube - square)
    };
    for t in [0.25, 0.5] {
        assert!((f64::from(at(Keys::Cubic(8.0), t)) - spline(t)).abs() < 1e-4);
    }
}

#[test]
fn each_stack_is_a_clip_at_the_rate_of_the_file() {
    let mut scene = turning(&[]);
    let layer = scene.stack("Armature|a jump", [2.0, 2.5]);
    scene.curve(layer, (1, "Lcl Translation"), "d|Y", Keys::Linear, &[(2.0, 0.0), (3.0, 100.0)]);
    // A stack that states no interval lasts from the first key to the last.
    let layer = scene.stack("", [0.0, 0.0]);
    scene.curve(layer, (1, "Lcl Translation"), "d|Z", Keys::Linear, &[(1.0, 0.0), (1.5, 1.0)]);
    scene.stack("none", [0.0, 9.0]);
    for (mode, own_hz, rate_hz) in
        [(6.0, 0.0, 30.0), (3.0, 0.0, 60.0), (14.0, 12.5, 12.5), (14.0, -1.0, 30.0)]
    {
        let mut scene = scene.clone();
        scene.setting("TimeMode", "enum", mode);
        scene.setting("CustomFrameRate", "double", own_hz);
        let import = import(&scene);
        let of = |clip: &RawClip| (clip.name().to_owned(), clip.samples(), clip.rate_hz());
        let count = |duration_s: f32| (duration_s * rate_hz).round_ties_even() as usize + 1;
        let expected =
            [("a__turn", count(1.0)), ("a__Armature-a_jump", count(0.5)), ("a__2", count(0.5))];
        let expected = expected.map(|(name, samples)| (name.to_owned(), samples, rate_hz));
        assert_eq!(import.clips.iter().map(of).collect::<Vec<_>>(), expected);
        assert!(import.clips[1].pose(0)[0].translation[1].abs() < 1e-4);
        assert_near(
            import.clips[1].pose(count(0.5) - 1)[0].translation,
            [0.0, 100.0 * f64::from((count(0.5) - 1) as f32 / rate_hz), 0.0],
        );
        let left_out: Vec<String> = import.left_out.iter().map(ToString::to_string).collect();
        assert_eq!(left_out, ["animation without channels that can be read: none"]);
    }
    let options = ImportOptions { rate_hz: Some(10.0), ..ImportOptions::default() };
    assert_eq!(import_with(&scene, &options).unwrap().clips[0].samples(), 11);
}

#[test]
fn layers_are_added_up_and_muted_ones_left_out() {
    let mut scene = Scene::default();
    let bone = scene.bone("hip", 0, &[]);
    let base = scene.stack("move", [0.0, 1.0]);
    scene.curve(base, (bone, "Lcl Translation"), "d|X", Keys::Linear, &[(0.0, 0.0), (1.0, 10.0)]);
    let weight: Property<'_> = ("Weight", "Number", "A", &[50.0]);
    let blend_mode: Property<'_> = ("BlendMode", "enum", "", &[0.0]);
    let more = scene.layer("more", base - 1, &[weight, blend_mode]);
    scene.curve(more, (bone, "Lcl Translation"), "d|X", Keys::Linear, &[(0.0, 4.0), (1.0, 4.0)]);
    let muted = scene.layer("draft", base - 1, &[("Mute", "bool", "", &[1.0])]);
    scene.curve(muted, (bone, "Lcl Translation"), "d|X", Keys::Linear, &[(0.0, 99.0), (1.0, 99.0)]);
    let import = import(&scene);
    assert_near(import.clips[0].pose(0)[0].translation, [2.0, 0.0, 0.0]);
    assert_near(import.clips[0].pose(24)[0].translation, [12.0, 0.0, 0.0]);
    assert_eq!(import.left_out[0].to_string(), "muted layer: draft");
    assert_eq!(import.left_out.len(), 1);
}

#[test]
fn a_scale_that_is_not_inherited_is_divided_out() {
    let mut scene = Scene::default();
    let apart: Property<'_> = ("InheritType", "enum", "", &[2.0]);
    let upper = scene.bone("upper", 0, &[]);
    scene.bone("lower", upper, &[apart, translation(&[0.0, 10.0, 0.0])]);
    let layer = scene.stack("squash", [0.0, 1.0]);
    for axis in ["d|X", "d|Y"] {
        scene.curve(layer, (upper, "Lcl Scaling"), axis, Keys::Linear, &[(0.0, 1.0), (1.0, 4.0)]);
    }
    let import = import(&scene);
    let clip = &import.clips[0];
    assert_eq!(names(clip), ["upper", "lower"]);
    assert_near(clip.pose(24)[0].scale, [4.0, 4.0, 1.0]);
    assert_near(clip.pose(24)[1].scale, [0.25, 0.25, 1.0]);
    assert_eq!(clip.pose(24)[1].translation, [0.0, 10.0, 0.0]);
    assert!(import.left_out.is_empty());
    // A scale of zero cannot be divided out.
    scene.curve(layer, (upper, "Lcl Scaling"), "d|Z", Keys::Linear, &[(0.0, 1.0), (1.0, 0.0)]);
    let import = self::import(&scene);
    assert_near(import.clips[0].pose(24)[1].scale, [0.25, 0.25, 1.0]);
    assert_eq!(import.left_out[0].to_string(), "scale of a joint below a scale of zero: lower");
}

#[test]
fn static_nodes_above_the_joints_become_part_of_the_roots() {
    // Blender writes a scene in metres in this way.
    let big: Property<'_> = ("Lcl Scaling", "Lcl Scaling", "A", &[100.0, 100.0, 100.0]);
    let turned: Property<'_> = ("Lcl Rotation", "Lcl Rotation", "A", &[-90.00000933, 0.0, 0.0]);
    let mut scene = Scene::default();
    let armature = scene.node(("Armature", "Null"), 0, &[big, turned]);
    let hip = scene.bone("hip", armature, &[translation(&[0.0, 0.0, 1.0])]);
    scene.bone("knee", hip, &[translation(&[0.0, -0.4, 0.0])]);
    let layer = scene.stack("walk", [0.0, 1.0]);
    scene.curve(layer, (hip, "Lcl Rotation"), "d|Z", Keys::Linear, &[(0.0, 0.0), (1.0, 10.0)]);
    let moving = scene.clone();
    // These keys repeat the node's own value.
    let constant = |value| [(0.0, value), (1.0, value)];
    scene.curve(layer, (armature, "Lcl Rotation"), "d|X", Keys::Cubic(0.0), &constant(-90.000_01));
    let import_of = import(&scene);
    let clip = &import_of.clips[0];
    assert_eq!(names(clip), ["hip", "knee"]);
    assert_near(clip.pose(0)[0].translation, [0.0, 100.0, 0.0]);
    assert_near(clip.pose(0)[1].translation, [0.0, -40.0, 0.0]);
    assert_turned(&clip.pose(0)[0], turn(DVec3::X, -90.0));
    assert!(import_of.left_out.is_empty());
    // Other keys make the node a joint.
    let mut scene = moving;
    scene.curve(layer, (armature, "Lcl Translation"), "d|X", Keys::Linear, &constant(5.0));
    assert_eq!(names(&one(&scene)), ["Armature", "hip", "knee"]);
    assert_near(one(&scene).pose(0)[0].translation, [5.0, 0.0, 0.0]);
}

#[test]
fn files_are_read_by_their_ending() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a walk.FBX");
    std::fs::write(&path, turning(&[]).binary()).unwrap();
    assert_eq!(read(&path, &ImportOptions::default()).unwrap().clips[0].name(), "a_walk__turn");
    let small = ImportOptions { max_bytes: 100, ..ImportOptions::default() };
    assert!(matches!(read(&path, &small).unwrap_err(), ImportError::TooManyBytes { .. }));
    let error = ImportError::NeedsFbx { file: "walk.fbx".to_owned() };
    assert_eq!(
        error.to_string(),
        "walk.fbx: this build cannot read FBX: \
         turn on the feature `fbx`, or convert the file to glTF"
    );
}

#[test]
fn a_scene_that_does_not_move_has_no_clip() {
    let mut scene = Scene::default();
    scene.bone("hip", 0, &[]);
    let import = import(&scene);
    assert_eq!(import.notes, [Note::NoClip { file: "a.fbx".to_owned(), animations: 0 }]);
    assert_eq!((import.clips.len(), import.left_out.len(), import.skipped.len()), (0, 0, 0));
}

#[test]
fn all_nodes_of_a_tree_are_joints_if_asked() {
    let mut scene = Scene::default();
    let rig = scene.node(("rig", "Null"), 0, &[]);
    let hip = scene.node(("hip", "Null"), rig, &[]);
    scene.node(("knee", "Null"), hip, &[]);
    scene.node(("lamp", "Null"), 0, &[]);
    let layer = scene.stack("turn", [0.0, 1.0]);
    scene.curve(layer, (hip, "Lcl Rotation"), "d|X", Keys::Linear, &[(0.0, 0.0), (1.0, 90.0)]);
    assert_eq!(names(&one(&scene)), ["hip"]);
    let options = ImportOptions { all_nodes: true, ..ImportOptions::default() };
    let import = import_with(&scene, &options).unwrap();
    assert_eq!(names(&import.clips[0]), ["rig", "hip", "knee"]);
}
