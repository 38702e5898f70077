//! Tests of what clients see by distance from their viewpoints.

#![cfg(feature = "transform")]

use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_transform::components::Transform;
use kinepack_bevy::{AlwaysSeen, MotionServer, MotionServerPlugin, MotionSettings, Viewpoint};
use kinepack_net::{LinkConfig, NetError, ReceiverId, ReceiverOptions, Ring, Rings};

use crate::support::{Bullet, Session, Ship, TICK_HZ, app, register};

/// Ships within 50 m are seen, and no others.
fn rings() -> Rings {
    Rings {
        positions: vec!["ship.1.position".into(), "bullet.0.position".into()],
        urgent: vec![],
        rings: vec![Ring { within: 50.0, leave: 60.0, every: 1, tier: 0, coarser: 0 }],
        beyond: None,
        cell: 5.0,
        exact_after: None,
    }
}

/// A session with rings, and a viewpoint of the first client at the origin.
fn session(clients: usize) -> (Session, Entity) {
    let mut session = Session::new(LinkConfig::PERFECT, clients, |app| {
        if let Some(mut server) = app.world_mut().get_resource_mut::<MotionServer>() {
            server.set_rings(Some(&rings())).unwrap();
        }
    });
    let eye = session.server.world_mut().spawn(viewpoint(0)).id();
    (session, eye)
}

fn viewpoint(client: u64) -> Viewpoint {
    Viewpoint { client: ReceiverId(client) }
}

fn spawn_ship(session: &mut Session, x: f32) -> Entity {
    session.server.world_mut().spawn((Ship, Transform::from_xyz(x, 0.0, 0.0))).id()
}

fn move_to(session: &mut Session, entity: Entity, x: f32) {
    session.server.world_mut().get_mut::<Transform>(entity).unwrap().translation.x = x;
}

/// The ids of the ships that a client shows, after all has arrived.
fn seen(session: &mut Session, client: usize) -> Vec<u32> {
    session.run(40);
    session.clients[client].entities::<Ship>().into_keys().collect()
}

#[test]
fn ships_appear_when_they_come_near_and_disappear_when_they_leave() {
    let (mut session, eye) = session(2);
    let [near, far] = [10.0, 200.0].map(|x| spawn_ship(&mut session, x));
    let bullet = Bullet { owner: 1, position: [-300.0, 0.0] };
    session.server.world_mut().spawn(bullet);
    assert_eq!(seen(&mut session, 0), [0]);
    assert!(session.clients[0].entities::<Bullet>().is_empty());
    let without_viewpoint = &mut session.clients[1];
    assert_eq!(without_viewpoint.entities::<Ship>().len(), 2);
    assert_eq!(without_viewpoint.entities::<Bullet>(), [(2, bullet)].into());

    move_to(&mut session, far, 40.0);
    assert_eq!(seen(&mut session, 0), [0, 1]);
    let place = session.clients[0].entities::<Transform>()[&1].translation;
    assert!((place.x - 40.0).abs() < 0.01, "{place}");
    move_to(&mut session, near, -90.0);
    assert_eq!(seen(&mut session, 0), [1]);
    // The viewpoint moves instead of the ships.
    move_to(&mut session, eye, -100.0);
    assert_eq!(seen(&mut session, 0), [0]);
    assert_eq!(seen(&mut session, 1), [0, 1]);
    let stats = session.server().stats();
    assert_eq!((stats.failed_ticks, stats.unused_viewpoints), (0, 0));
}

/// There is no plugin that propagates transforms, and so all `GlobalTransform`s are at the origin.
#[test]
fn a_viewpoint_below_another_entity_has_the_place_of_this_tick() {
    let (mut session, eye) = session(1);
    let far = spawn_ship(&mut session, 200.0);
    let holder = spawn_ship(&mut session, 0.0);
    let world = session.server.world_mut();
    let arm = world.spawn((Transform::from_xyz(0.0, 2.0, 0.0), ChildOf(holder))).id();
    world.entity_mut(eye).insert(ChildOf(arm));
    assert_eq!(seen(&mut session, 0), [1]);
    move_to(&mut session, holder, 195.0);
    session.step();
    let server = session.server().state();
    let newest = session.clients[0].motion().newest().unwrap();
    assert_eq!((newest.tick, newest.ids()), (server.tick, server.ids()), "in the same tick");
    // A place that cannot be computed keeps the last one.
    session.server.world_mut().entity_mut(arm).remove::<Transform>();
    move_to(&mut session, far, 400.0);
    assert_eq!(seen(&mut session, 0), [1]);
    assert_eq!(session.server().stats().unused_viewpoints, 1);
    session.server.world_mut().entity_mut(arm).insert(Transform::from_xyz(f32::NAN, 0.0, 0.0));
    assert_eq!(seen(&mut session, 0), [1]);
    assert_eq!(session.server().stats().unused_viewpoints, 1);
    move_to(&mut session, arm, 200.0);
    assert_eq!(seen(&mut session, 0), [0]);
    assert_eq!(session.server().stats().unused_viewpoints, 0);
}

#[test]
fn without_a_viewpoint_everything_is_seen() {
    let (mut session, eye) = session(1);
    spawn_ship(&mut session, 10.0);
    spawn_ship(&mut session, 200.0);
    assert_eq!(seen(&mut session, 0), [0]);
    session.server.world_mut().entity_mut(eye).remove::<Viewpoint>();
    assert_eq!(seen(&mut session, 0), [0, 1]);
    session.server.world_mut().entity_mut(eye).insert(viewpoint(0));
    assert_eq!(seen(&mut session, 0), [0]);
    session.server.world_mut().despawn(eye);
    assert_eq!(seen(&mut session, 0), [0, 1]);
    session.server.world_mut().spawn(viewpoint(0));
    assert_eq!(seen(&mut session, 0), [0]);
    let mut server = session.server.world_mut().resource_mut::<MotionServer>();
    server.set_rings(None).unwrap();
    assert_eq!(seen(&mut session, 0), [0, 1]);
}

#[test]
fn the_first_of_several_viewpoints_counts() {
    let (mut session, eye) = session(1);
    spawn_ship(&mut session, 10.0);
    spawn_ship(&mut session, 200.0);
    let world = session.server.world_mut();
    let there = Transform::from_xyz(200.0, 0.0, 0.0);
    let mut all = [eye, world.spawn(there).id(), world.spawn(there).id()];
    all[1..].iter().for_each(|other| _ = world.entity_mut(*other).insert(viewpoint(0)));
    all.sort_unstable();
    let from = |entity: Entity| [u32::from(entity != eye)];
    assert_eq!(seen(&mut session, 0), from(all[0]));
    assert_eq!(session.server().stats().unused_viewpoints, 2);
    session.server.world_mut().despawn(all[0]);
    assert_eq!(seen(&mut session, 0), from(all[1]));
    assert_eq!(session.server().stats().unused_viewpoints, 1);
    // Another one has a client that is not connected.
    session.server.world_mut().despawn(all[1]);
    let mut third = session.server.world_mut().get_mut::<Viewpoint>(all[2]).unwrap();
    *third = viewpoint(77);
    assert_eq!(seen(&mut session, 0), [0, 1]);
    assert_eq!(session.server().stats().unused_viewpoints, 1);
}

#[test]
fn a_team_is_seen_at_any_distance() {
    let (mut session, eye) = session(1);
    let [_, mate, _] = [10.0, 200.0, 300.0].map(|x| spawn_ship(&mut session, x));
    let team = AlwaysSeen(vec![mate, mate, eye]);
    session.server.world_mut().entity_mut(eye).insert(team.clone());
    assert_eq!(seen(&mut session, 0), [0, 1]);
    // A client that connects again with the same id has the same team.
    let mut server = session.server.world_mut().resource_mut::<MotionServer>();
    assert!(server.disconnect(ReceiverId(0)));
    server.connect(ReceiverId(0), &ReceiverOptions::default()).unwrap();
    session.run(120);
    assert_eq!(seen(&mut session, 0), [0, 1]);
    // A new member is seen from its first tick on.
    let new = spawn_ship(&mut session, 400.0);
    session.server.world_mut().get_mut::<AlwaysSeen>(eye).unwrap().0.push(new);
    session.step();
    let newest = session.clients[0].motion().newest().unwrap();
    assert_eq!(newest.tick, session.server().state().tick);
    assert_eq!(newest.ids().len(), 3);
    session.server.world_mut().entity_mut(eye).remove::<AlwaysSeen>();
    assert_eq!(seen(&mut session, 0), [0]);
    session.server.world_mut().entity_mut(eye).insert(team).remove::<Viewpoint>();
    assert_eq!(seen(&mut session, 0).len(), 4);
}

#[test]
fn wrong_rings_change_nothing() {
    let (mut session, _) = session(1);
    spawn_ship(&mut session, 10.0);
    spawn_ship(&mut session, 200.0);
    let wrong = Rings { positions: vec!["ship.position".into()], ..rings() };
    let mut server = session.server.world_mut().resource_mut::<MotionServer>();
    let refused = server.set_rings(Some(&wrong));
    assert!(matches!(refused, Err(NetError::NoSuchPosition { .. })), "{refused:?}");
    assert_eq!(seen(&mut session, 0), [0]);
}

fn with_plugin(rings: Rings) -> App {
    let mut app = app();
    register(&mut app);
    let plugin = MotionServerPlugin::new(MotionSettings::at_hz(TICK_HZ));
    app.add_plugins(MotionServerPlugin { rings: Some(rings), ..plugin });
    app.finish();
    app
}

#[test]
#[should_panic(expected = "kinepack-bevy: the rings")]
fn a_plugin_with_wrong_rings() {
    let _ = with_plugin(Rings { cell: 0.0, ..rings() });
}

#[test]
fn rings_of_the_plugin() {
    let (mut session, _) = session(1);
    session.server = with_plugin(rings());
    session.server.world_mut().spawn(viewpoint(0));
    let mut server = session.server.world_mut().resource_mut::<MotionServer>();
    server.connect(ReceiverId(0), &ReceiverOptions::default()).unwrap();
    spawn_ship(&mut session, 10.0);
    spawn_ship(&mut session, 200.0);
    assert_eq!(seen(&mut session, 0), [0]);
}
