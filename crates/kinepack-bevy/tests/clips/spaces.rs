//! Tests of nodes between the character and its joints. The model's nodes are folded into its
//! clips, and the others belong to the game.

use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_math::{Quat, Vec3};
use bevy_transform::components::{GlobalTransform, Transform};
use kinepack_anim::import::ImportOptions;
use kinepack_anim::import::gltf::{from_bytes, no_files};
use kinepack_bevy::clips::{ClipLayer, ClipPlayer};
use serde_json::json;

use super::gltf_file::{Document, QUARTER};
use super::support::*;

/// The transform that exporters write: the armature turns and scales the model.
fn armature() -> Transform {
    Transform {
        translation: Vec3::new(0.0, 0.5, 0.0),
        rotation: Quat::from_rotation_x(-1.5),
        scale: Vec3::splat(0.01),
    }
}

/// Sets the joints to the bind pose, as a file stores it below a node with the transform
/// `armature`.
fn rest(app: &mut App, joints: Joints, armature: Transform) {
    let bind = in_metres(&skeleton().bind_pose());
    for (index, (joint, mut bind)) in joints.into_iter().zip(bind).enumerate() {
        if index == 0 {
            let inverse = armature.rotation.inverse();
            bind.translation = inverse * (bind.translation - armature.translation);
            bind.rotation = inverse * bind.rotation;
        }
        bind.translation /= armature.scale;
        *app.world_mut().get_mut::<Transform>(joint).unwrap() = bind;
    }
}

/// Checks that the joints have the places where `model` puts the clip's pose.
fn check(app: &App, joints: Joints, (root, model): (Entity, Transform), scale: f32) {
    let skeleton = skeleton();
    let clip = block(&raw(&skeleton, 1.0));
    let mut expected = skeleton.bind_pose();
    let pose = sampled(&clip, &skeleton, current(app, root).time_s);
    skeleton.model_pose(&pose, &mut expected);
    for (joint, expected) in joints.iter().zip(in_metres(&expected)) {
        let global = app.world().get::<GlobalTransform>(*joint).unwrap().compute_transform();
        let expected = model * expected;
        assert!(global.translation.distance(expected.translation) < 1e-4);
        assert!(global.rotation.angle_between(expected.rotation) < 2e-3);
        // The armature's scale remains in the joints, as skinning needs it.
        assert!((global.scale - scale).length() < 1e-5);
    }
}

fn setting() -> (App, ClipPlayer) {
    let (mut app, skeleton) = (app(), skeleton());
    let handle = add(&mut app, block(&raw(&skeleton, 1.0)), &skeleton);
    (app, ClipPlayer::new(handle))
}

#[test]
fn nodes_of_the_model_and_of_the_game() {
    // Bevy's loader turns the scene to its own forward direction, and the scene is below a node of
    // the game.
    let turned = Transform::from_rotation(Quat::from_rotation_y(3.0));
    let offset = Transform::from_xyz(0.0, -0.9, 2.0);
    for armature in [Transform::IDENTITY, armature(), Transform::from_scale(Vec3::splat(0.01))] {
        let (mut app, player) = setting();
        let root = app.world_mut().spawn((player, Transform::from_xyz(5.0, 0.0, 0.0))).id();
        let below = app.world_mut().spawn((offset, ChildOf(root))).id();
        let scene = (turned, Name::new("Scene"), ChildOf(below));
        let scene = app.world_mut().spawn(scene).id();
        let above = app.world_mut().spawn((armature, Name::new("Armature"), ChildOf(scene))).id();
        let joints = spawn_joints(&mut app, above);
        rest(&mut app, joints, armature);
        update(&mut app, 5);
        let model = Transform::from_xyz(5.0, 0.0, 0.0) * offset * turned;
        check(&app, joints, (root, model), armature.scale.x);
        assert_eq!(transform(&app, above), armature);

        // When the joints are found again, the nodes are still known, though the joints have moved.
        let hat = app.world_mut().spawn((Name::new("hat"), ChildOf(joints[2]))).id();
        update(&mut app, 5);
        check(&app, joints, (root, model), armature.scale.x);
        app.world_mut().entity_mut(hat).despawn();
        let player = app.world_mut().entity_mut(root).take::<ClipPlayer>().unwrap();
        update(&mut app, 2);
        app.world_mut().entity_mut(root).insert(player);
        update(&mut app, 2);
        check(&app, joints, (root, model), armature.scale.x);
    }
}

#[test]
fn a_player_on_the_armature() {
    let (mut app, player) = setting();
    let root = app.world_mut().spawn((player, armature())).id();
    let joints = spawn_joints(&mut app, root);
    rest(&mut app, joints, armature());
    update(&mut app, 5);
    check(&app, joints, (root, Transform::IDENTITY), 0.01);
}

/// Lets the importer and Bevy read the same file. At the end of the clip, the joints must have the
/// places where the file's nodes put them.
#[test]
fn an_imported_file() {
    let armature = armature();
    let [hips, knee] = [Vec3::new(10.0, 90.0, 0.0), Vec3::new(0.0, -45.0, 5.0)];
    let still = [0.0, 0.0, 0.0, 1.0];
    let mut file = Document::new(json!([
        {
            "name": "Armature", "children": [1], "translation": armature.translation.to_array(),
            "rotation": armature.rotation.to_array(), "scale": armature.scale.to_array(),
        },
        { "name": "hips", "children": [2], "translation": hips.to_array() },
        { "name": "knee", "translation": knee.to_array(), "rotation": QUARTER },
    ]));
    file.json["skins"] = json!([{ "joints": [1, 2] }]);
    let moved = hips + Vec3::new(0.0, 20.0, 30.0);
    file.channel(1, "translation", "LINEAR", &[0.0, 1.0], &[hips.to_array(), moved.to_array()]);
    file.channel(1, "rotation", "LINEAR", &[0.0, 1.0], &[still, QUARTER]);
    file.channel(2, "rotation", "LINEAR", &[0.0, 1.0], &[QUARTER, still]);
    let import = from_bytes("man.glb", &file.glb(), &ImportOptions::default(), no_files).unwrap();
    let raw = &import.clips[0];

    let mut app = app();
    let handle = add(&mut app, block(raw), raw.skeleton());
    let player = ClipPlayer::new(ClipLayer::new(handle).once());
    let root = app.world_mut().spawn((player, Transform::default())).id();
    let spawn = |app: &mut App, name: &'static str, transform: Transform, parent: Entity| {
        app.world_mut().spawn((Name::new(name), transform, ChildOf(parent))).id()
    };
    let scene = spawn(&mut app, "Scene", Transform::default(), root);
    let node = spawn(&mut app, "Armature", armature, scene);
    let quarter = Quat::from_array(QUARTER);
    let upper = spawn(&mut app, "hips", Transform::from_translation(hips), node);
    let rest = Transform::from_translation(knee).with_rotation(quarter);
    let lower = spawn(&mut app, "knee", rest, upper);
    update(&mut app, 80);
    assert!(current(&app, root).is_finished());

    let upper_end = armature * Transform::from_translation(moved).with_rotation(quarter);
    let lower_end = upper_end * Transform::from_translation(knee);
    for (joint, end) in [(upper, upper_end), (lower, lower_end)] {
        let global = app.world().get::<GlobalTransform>(joint).unwrap().compute_transform();
        // The clip has a precision of 0.1 mm.
        assert!(global.translation.distance(end.translation) < 2e-4, "{global:?} {end:?}");
        assert!(global.rotation.angle_between(end.rotation) < 1e-2);
        assert!((global.scale - end.scale).length() < 1e-5);
    }
}
