//! Tests that the client's joints are where the server's are.

use std::collections::BTreeMap;

use bevy_ecs::prelude::*;
use bevy_math::{Quat, Vec3};
use bevy_transform::components::Transform;
use kinepack_bevy::figure::{FigureBody, FigureJoints, skeleton_of};
use kinepack_bevy::{MotionEntities, MotionId, Predicted};
use kinepack_net::LinkConfig;

use super::support::*;
use crate::support::{LOSSY, Session};

#[test]
fn shown_joints_are_within_the_precision_whatever_is_lost() {
    let (mut session, avatar) = session(LOSSY);
    session.run(3);
    set_turning(session.server.world_mut(), avatar, true);
    let mut truth: BTreeMap<u32, Vec<Transform>> = BTreeMap::new();
    let mut compared = 0;
    for _ in 0..600 {
        session.step();
        session.check_states();
        truth.insert(session.server().state().tick.0, locals(session.server.world(), avatar));
        let motion = session.clients[0].motion();
        let Some(tick) = motion.tick().filter(|_| !motion.is_starved()) else { continue };
        let ends = [tick.floor(), tick.ceil()].map(|tick| truth.get(&(tick as u32)));
        let [Some(from), Some(to)] = ends else { continue };
        let between = |(from, to): (&Transform, &Transform)| Transform {
            translation: from.translation.lerp(to.translation, tick.fract() as f32),
            rotation: from.rotation.slerp(to.rotation, tick.fract() as f32),
            scale: from.scale,
        };
        let exact: Vec<Transform> = from.iter().zip(to).map(between).collect();
        let client = session.clients[0].app.world();
        let off_m = distance_m(&locals(client, shown(&session)), &exact);
        assert!(off_m <= PRECISION_M, "tick {tick}: {off_m} m");
        compared += 1;
    }
    assert!(compared > 500, "{compared}");
    assert!(distance_m(&truth[&10], &truth[&500]) > 0.5, "the body moves");
    set_turning(session.server.world_mut(), avatar, false);
    session.run(60);
    let exact = locals(session.server.world(), avatar);
    let own = locals(session.clients[0].app.world(), shown(&session));
    assert!(distance_m(&own, &exact) <= PRECISION_M);
    // The other components of the kind travel with the body.
    let avatars = session.clients[0].entities::<Avatar>();
    assert_eq!(avatars, [(0, Avatar { health: 70 })].into());
    let place = session.clients[0].entities::<Transform>()[&0];
    assert!(place.translation.distance(Vec3::new(3.0, 0.0, -1.0)) < 0.01);
    assert_eq!(session.server().stats().refused_values, 0);
}

#[derive(Resource, Default)]
struct Touched(usize);

fn count_touched(bodies: Query<(), Changed<FigureBody>>, mut touched: ResMut<Touched>) {
    touched.0 += bodies.iter().count();
}

#[test]
fn a_body_at_rest_costs_nothing() {
    let (mut session, _) = session(LinkConfig::PERFECT);
    let client = &mut session.clients[0].app;
    client.init_resource::<Touched>().add_systems(bevy_app::Update, count_touched);
    session.run(60);
    assert_eq!(session.server().stats().quantized, 1);
    assert_eq!(session.clients[0].app.world().resource::<Touched>().0, 1, "when it appeared");
}

#[test]
fn a_pose_without_entities() {
    let (mut session, _) = session(LinkConfig::PERFECT);
    session.run(3);
    let second = spawn_avatar(session.server.world_mut());
    let mut body = session.server.world_mut().get_mut::<FigureBody>(second).unwrap();
    body.joints_mut()[2].rotation = [0.6, 0.0, 0.0, 0.8];
    session.run(60);
    let world = session.clients[0].app.world();
    let shown = world.resource::<MotionEntities>().get(MotionId(1)).unwrap();
    let body = super::support::body(world, shown);
    let [shown, exact] = [body.joints()[2].rotation, [0.6, 0.0, 0.0, 0.8]].map(Quat::from_array);
    assert!(shown.angle_between(exact) < 0.2, "half a centimetre at three");
    assert!(shown.angle_between(Quat::IDENTITY) > 1.0);
}

/// The server's model has an armature that scales it, and the client's has none.
#[test]
fn nodes_above_the_joints() {
    let (mut session, first) = session(LinkConfig::PERFECT);
    let world = session.server.world_mut();
    world.despawn(first);
    let avatar = spawn_avatar(world);
    let armature = Transform {
        translation: Vec3::new(0.0, 0.5, 0.0),
        rotation: Quat::from_rotation_x(-1.5),
        scale: Vec3::splat(0.01),
    };
    let node = world.spawn((Name::new("Armature"), armature, ChildOf(avatar))).id();
    let joints = spawn_joints(world, node);
    for (joint, entity) in joints.iter().enumerate() {
        let mut rest = bind(joint);
        if joint == 0 {
            let inverse = armature.rotation.inverse();
            rest.translation = inverse * (rest.translation - armature.translation);
            rest.rotation = inverse;
        }
        rest.translation /= 0.01;
        *world.get_mut::<Transform>(*entity).unwrap() = rest;
    }
    // A skeleton of these entities equals that of the figure, up to rounding.
    let made = skeleton_of(world, avatar, &joints, 1.0).unwrap();
    for (made, joint) in made.joints().iter().zip(skeleton().joints()) {
        assert_eq!((&made.name, made.parent), (&joint.name, joint.parent));
        let [made, bind] = [made.bind, joint.bind].map(|bind| Vec3::from(bind.translation));
        assert!(made.distance(bind) < 1e-3, "{made} {bind}");
    }
    session.run(3);
    let world = session.server.world_mut();
    for joint in [0, 3] {
        let mut transform = world.get_mut::<Transform>(joints[joint]).unwrap();
        transform.rotation *= Quat::from_rotation_z(0.4);
        if joint == 0 {
            // Ten centimetres, in the space of the armature.
            transform.translation.x += 10.0;
        }
    }
    session.run(60);
    let mut exact: Vec<Transform> = (0..JOINTS.len()).map(bind).collect();
    exact[0].translation.x += 0.1;
    exact[0].rotation = Quat::from_rotation_z(0.4);
    exact[3].rotation = Quat::from_rotation_z(0.4);
    let off_m = distance_m(&locals(session.clients[0].app.world(), shown(&session)), &exact);
    assert!(off_m <= PRECISION_M, "{off_m}");
}

#[test]
fn joints_that_appear_disappear_and_change_names() {
    let (mut session, avatar) = session(LinkConfig::PERFECT);
    session.run(30);
    let server = session.server.world_mut();
    let head = joint_of(server, avatar, 2);
    server.entity_mut(head).insert(Name::new("skull"));
    session.run(2);
    let joints = session.server.world().get::<FigureJoints>(avatar).unwrap();
    assert_eq!(joints.missing().collect::<Vec<_>>(), ["head"]);
    let turned = Quat::from_rotation_y(0.5);
    session.server.world_mut().get_mut::<Transform>(head).unwrap().rotation = turned;
    session.run(30);
    let shown = shown(&session);
    let head_shown = joint_of(session.clients[0].app.world(), shown, 2);
    let rotation = |session: &Session| {
        session.clients[0].app.world().get::<Transform>(head_shown).unwrap().rotation
    };
    assert!(rotation(&session).angle_between(Quat::IDENTITY) < 1e-3, "its last pose");
    session.server.world_mut().entity_mut(head).insert(Name::new("head"));
    session.run(30);
    assert!(rotation(&session).angle_between(turned) < 0.2);
    // The client's model loses its head, and shows the rest.
    session.clients[0].app.world_mut().despawn(head_shown);
    session.run(3);
    let joints = session.clients[0].app.world().get::<FigureJoints>(shown).unwrap();
    assert_eq!(joints.missing().collect::<Vec<_>>(), ["head"]);
    session.server.world_mut().despawn(avatar);
    session.run(30);
    assert!(session.clients[0].entities::<Avatar>().is_empty());
}

#[test]
fn a_predicted_body_keeps_its_joints() {
    let (mut session, avatar) = session(LinkConfig::PERFECT);
    session.run(30);
    let shown = shown(&session);
    let client = session.clients[0].app.world_mut();
    client.entity_mut(shown).insert(Predicted);
    let own = locals(client, shown);
    set_turning(session.server.world_mut(), avatar, true);
    session.run(60);
    assert_eq!(locals(session.clients[0].app.world(), shown), own);
    session.clients[0].app.world_mut().entity_mut(shown).remove::<Predicted>();
    session.run(2);
    assert!(distance_m(&locals(session.clients[0].app.world(), shown), &own) > 0.2);
}
