//! Nodes between the character and its joints: those of the model are folded into its clips, others
//! are the game's.

use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_math::{Quat, Vec3};
use bevy_transform::components::{GlobalTransform, Transform};
use kinepack_bevy::clips::ClipPlayer;

use crate::support::*;

/// As exporters write it: the armature turns and scales the model.
fn armature() -> Transform {
    Transform {
        translation: Vec3::new(0.0, 0.5, 0.0),
        rotation: Quat::from_rotation_x(-1.5),
        scale: Vec3::splat(0.01),
    }
}

/// Gives joints the transforms of a file whose armature has this transform.
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

/// Checks that joints are where `model` puts the clip's pose.
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
    // A scene that Bevy's loader turns to its own forward direction, below a node of the game.
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

        // The nodes are known when the joints are found again, though they have moved.
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
