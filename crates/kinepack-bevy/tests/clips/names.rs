//! Tests that joints are found by their names, whatever else is in the hierarchy.

use bevy_ecs::prelude::*;
use bevy_transform::components::Transform;
use kinepack_anim::{Joint, RawClip, Skeleton};
use kinepack_bevy::clips::{ClipJoint, ClipJoints, ClipPlayer};

use super::support::*;

/// An app, its clip and a character without joints.
fn setting() -> (bevy_app::App, kinepack_anim::AnyClip, Entity) {
    let (mut app, skeleton) = (app(), skeleton());
    let clip = block(&raw(&skeleton, 1.0));
    let handle = add(&mut app, clip.clone(), &skeleton);
    let root = app.world_mut().spawn((ClipPlayer::new(handle), Transform::default())).id();
    (app, clip, root)
}

fn pose(app: &bevy_app::App, clip: &kinepack_anim::AnyClip, root: Entity) -> Vec<Transform> {
    expected(clip, &skeleton(), current(app, root).time_s)
}

fn found(app: &bevy_app::App, root: Entity) -> &ClipJoints {
    app.world().get::<ClipJoints>(root).unwrap()
}

#[test]
fn joints_that_appear_later_and_other_entities() {
    let (mut app, clip, root) = setting();
    update(&mut app, 3);
    assert_eq!(found(&app, root).missing().count(), FIGURE.len());
    let joints = spawn_joints(&mut app, root);
    let hat = app.world_mut().spawn((Name::new("hat"), Transform::default())).id();
    app.world_mut().entity_mut(hat).insert(ChildOf(joints[2]));
    app.update();
    assert_eq!(found(&app, root).missing().count(), 0);
    assert_eq!(found(&app, root).entity(2), Some(joints[2]));
    assert_eq!(transforms(&app, joints), pose(&app, &clip, root));
    assert_eq!(transform(&app, hat), Transform::default());
    let marker = app.world().get::<ClipJoint>(joints[4]).unwrap();
    assert_eq!((marker.player(), marker.joint()), (root, 4));
}

#[test]
fn missing_joints_are_left_out_until_they_are_there() {
    let (mut app, clip, root) = setting();
    let joints = spawn_joints(&mut app, root);
    app.world_mut().entity_mut(joints[2]).insert(Name::new("skull"));
    update(&mut app, 3);
    assert_eq!(found(&app, root).missing().collect::<Vec<_>>(), ["head"]);
    assert_eq!(transform(&app, joints[2]), Transform::default());
    assert_eq!(transform(&app, joints[4]), pose(&app, &clip, root)[4]);
    app.world_mut().entity_mut(joints[2]).insert(Name::new("head"));
    app.update();
    assert_eq!(transforms(&app, joints), pose(&app, &clip, root));
}

#[test]
fn despawned_and_moved_joints() {
    let (mut app, clip, root) = setting();
    let joints = spawn_joints(&mut app, root);
    update(&mut app, 2);
    // The arm is removed together with its hand.
    app.world_mut().entity_mut(joints[3]).despawn();
    update(&mut app, 2);
    assert_eq!(found(&app, root).missing().collect::<Vec<_>>(), ["left arm", "left hand"]);
    assert_eq!(transform(&app, joints[5]), pose(&app, &clip, root)[5]);
    // The leg is detached.
    app.world_mut().entity_mut(joints[5]).remove::<ChildOf>();
    update(&mut app, 2);
    let thrown = transform(&app, joints[5]);
    update(&mut app, 2);
    assert_eq!(transform(&app, joints[5]), thrown);
    assert!(app.world().get::<ClipJoint>(joints[5]).is_none());
    // The leg is attached again.
    app.world_mut().entity_mut(joints[5]).insert(ChildOf(joints[0]));
    update(&mut app, 2);
    assert_eq!(transform(&app, joints[5]), pose(&app, &clip, root)[5]);
    app.world_mut().entity_mut(root).despawn();
    update(&mut app, 2);
}

#[test]
fn a_joint_may_go_to_another_character() {
    let (mut app, clip, root) = setting();
    let player = app.world().get::<ClipPlayer>(root).unwrap().clone();
    let (other, of_other) = spawn(&mut app, player);
    let joints = spawn_joints(&mut app, root);
    update(&mut app, 2);
    for (from, leg, to) in
        [(of_other[5], joints[5], of_other[0]), (joints[5], joints[5], joints[0])]
    {
        // The leg of one character replaces the leg of the other.
        if from != leg {
            app.world_mut().entity_mut(from).despawn();
        }
        app.world_mut().entity_mut(leg).insert(ChildOf(to));
        update(&mut app, 2);
        let owner = if to == joints[0] { root } else { other };
        assert_eq!(app.world().get::<ClipJoint>(leg).unwrap().player(), owner);
        assert_eq!(transform(&app, leg), pose(&app, &clip, owner)[5]);
    }
}

#[test]
fn a_player_below_another_keeps_its_joints() {
    let (mut app, clip, root) = setting();
    let joints = spawn_joints(&mut app, root);
    update(&mut app, 2);
    let player = app.world().get::<ClipPlayer>(root).unwrap().clone();
    let rider = app.world_mut().spawn((Transform::default(), ChildOf(joints[0]))).id();
    let of_rider = spawn_joints(&mut app, rider);
    app.update();
    // As long as the rider has no player of its own, the mount's player takes the upper joints with
    // the same names.
    assert!(app.world().get::<ClipJoint>(of_rider[0]).is_none());
    app.world_mut().entity_mut(rider).insert(player);
    super::support::player(&mut app, rider).current_mut().time_s = 1.0;
    update(&mut app, 2);
    assert_eq!(transforms(&app, joints), pose(&app, &clip, root));
    assert_eq!(transforms(&app, of_rider), pose(&app, &clip, rider));
    // Without players, joints keep their poses.
    app.world_mut().entity_mut(rider).remove::<ClipPlayer>();
    app.world_mut().entity_mut(root).remove::<ClipPlayer>();
    update(&mut app, 2);
    let mut markers = app.world_mut().query::<&ClipJoint>();
    assert_eq!(markers.iter(app.world()).count(), 0);
}

#[test]
fn the_first_of_equal_names_is_the_joint() {
    let (mut app, clip, root) = setting();
    let joints = spawn_joints(&mut app, root);
    let twin = (Name::new("head"), Transform::default(), ChildOf(joints[4]));
    let twin = app.world_mut().spawn(twin).id();
    update(&mut app, 2);
    assert_eq!(transform(&app, joints[2]), pose(&app, &clip, root)[2]);
    assert_eq!(transform(&app, twin), Transform::default());
}

#[test]
fn a_clip_of_another_skeleton_takes_its_own_joints() {
    let (mut app, _, root) = setting();
    let joints = spawn_joints(&mut app, root);
    update(&mut app, 2);
    let bind = kinepack_anim::Transform::IDENTITY;
    let box_joint = Joint { name: "hips".into(), parent: None, bind };
    let skeleton = std::sync::Arc::new(Skeleton::new(vec![box_joint]).unwrap());
    let moved = |at: i32| kinepack_anim::Transform { translation: [at as f32, 0.0, 0.0], ..bind };
    let samples = (0..61).map(moved).collect();
    let slide = block(&RawClip::new("slide", skeleton.clone(), 30.0, samples).unwrap());
    let handle = add(&mut app, slide.clone(), &skeleton);
    player(&mut app, root).play(handle);
    update(&mut app, 2);
    let time_s = current(&app, root).time_s;
    assert_eq!(transform(&app, joints[0]), expected(&slide, &skeleton, time_s)[0]);
    let kept = transform(&app, joints[5]);
    update(&mut app, 2);
    assert_eq!(transform(&app, joints[5]), kept);
    assert!(app.world().get::<ClipJoint>(joints[5]).is_none());
}
