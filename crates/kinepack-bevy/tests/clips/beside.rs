//! Tests with Bevy's own animation in the same world, of another character and of other joints.

use bevy_animation::animated_field;
use bevy_animation::graph::{AnimationGraph, AnimationGraphHandle};
use bevy_animation::prelude::*;
use bevy_animation::{AnimatedBy, AnimationClip, AnimationTargetId};
use bevy_app::App;
use bevy_asset::Assets;
use bevy_ecs::prelude::*;
use bevy_math::Vec3;
use bevy_math::curve::{FunctionCurve, Interval};
use bevy_transform::components::Transform;
use kinepack_bevy::clips::{ClipLayer, ClipPlayer};

use super::support::*;

/// Lets Bevy move an entity along x by one metre a second.
fn animate(app: &mut App, player: Entity, joint: Entity) {
    let target = AnimationTargetId::from_name(&Name::new("leg"));
    let along = |time_s: f32| Vec3::new(time_s, 0.0, 0.0);
    let curve = FunctionCurve::new(Interval::new(0.0, 10.0).unwrap(), along);
    let mut clip = AnimationClip::default();
    clip.add_curve_to_target(
        target,
        AnimatableCurve::new(animated_field!(Transform::translation), curve),
    );
    let clip = app.world_mut().resource_mut::<Assets<AnimationClip>>().add(clip);
    let (graph, node) = AnimationGraph::from_clip(clip);
    let graph = app.world_mut().resource_mut::<Assets<AnimationGraph>>().add(graph);
    let mut animation = AnimationPlayer::default();
    animation.play(node);
    app.world_mut().entity_mut(player).insert((animation, AnimationGraphHandle(graph)));
    app.world_mut().entity_mut(joint).insert((target, AnimatedBy(player)));
}

#[test]
fn both_move_their_own_joints() {
    let (mut app, skeleton) = (app(), skeleton());
    let clip = block(&raw(&skeleton, 1.0));
    let handle = add(&mut app, clip.clone(), &skeleton);
    // One character has clips on its upper body, and Bevy moves its leg.
    let upper = ClipLayer::new(handle.clone()).on(["spine"]);
    let (root, joints) = spawn(&mut app, ClipPlayer::new(upper));
    animate(&mut app, root, joints[5]);
    // The second character has Bevy's animation alone.
    let other = app.world_mut().spawn(Transform::default()).id();
    let of_other = spawn_joints(&mut app, other);
    animate(&mut app, other, of_other[5]);
    // A third character has only clips.
    let (third, of_third) = spawn(&mut app, ClipPlayer::new(handle));
    update(&mut app, 10);

    let pose = expected(&clip, &skeleton, current(&app, root).time_s);
    for joint in 1..5 {
        assert_eq!(transform(&app, joints[joint]), pose[joint]);
    }
    assert_eq!(transform(&app, joints[0]), Transform::default());
    let leg = transform(&app, joints[5]);
    assert!((0.13..0.17).contains(&leg.translation.x), "{leg:?}");
    assert_eq!(transform(&app, of_other[5]), leg);
    assert_eq!(transform(&app, of_other[1]), Transform::default());
    let pose = expected(&clip, &skeleton, current(&app, third).time_s);
    assert_eq!(transforms(&app, of_third), pose);
}
