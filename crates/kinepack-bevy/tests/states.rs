//! Tests that clients show the server's state, whatever the network does.

use std::collections::BTreeMap;

use bevy_app::{App, FixedUpdate};
use bevy_ecs::prelude::*;
use bevy_transform::components::Transform;
use kinepack::{EntityId, Pack, Tick};
use kinepack_bevy::{
    MotionAppExt, MotionClient, MotionClientPlugin, MotionEntities, MotionId, MotionServer,
    MotionServerPlugin, MotionSettings, Moving, Part, Predicted, ScaledPose,
};
use kinepack_net::{LinkConfig, Mismatch, ReceiverId, ReceiverOptions};

use crate::support::{Bullet, LOSSY, Session, Shield, Ship, ShipPose, Velocity, of_all};

/// Spawns ships on straight lines. One of ten ships rests.
fn spawn_ships(world: &mut World, count: u32) {
    for number in 0..count {
        let offset = number as f32;
        let speed = 0.01 * (number % 10) as f32;
        world.spawn((
            Ship,
            Transform::from_xyz(offset, 2.0 * offset, 0.0),
            Shield(50),
            Velocity([speed, -speed, 0.5 * speed]),
        ));
    }
}

fn fly(mut ships: Query<(&mut Transform, &Velocity)>) {
    for (mut transform, Velocity(velocity)) in &mut ships {
        if *velocity != [0.0; 3] {
            let translation = transform.translation.to_array();
            transform.translation = [0, 1, 2].map(|axis| translation[axis] + velocity[axis]).into();
        }
    }
}

fn flying(app: &mut App) {
    app.add_systems(FixedUpdate, fly);
}

/// The exact positions of the server's ships in each tick.
#[derive(Default)]
struct Truth(BTreeMap<u32, BTreeMap<u32, Transform>>);

impl Truth {
    fn note(&mut self, session: &mut Session) {
        let tick = session.server().state().tick.0;
        self.0.insert(tick, of_all::<Transform>(&mut session.server));
    }

    /// The position of the ship `id` at the fractional tick `tick`.
    fn at(&self, id: u32, tick: f64) -> Option<[f32; 3]> {
        let from = self.0.get(&(tick.floor() as u32))?.get(&id)?.translation;
        let to = self.0.get(&(tick.ceil() as u32))?.get(&id)?.translation;
        Some(from.lerp(to, tick.fract() as f32).to_array())
    }
}

#[test]
fn entities_are_equal_lane_for_lane_and_move_within_half_a_step() {
    let mut session = Session::new(LOSSY, 2, flying);
    spawn_ships(session.server.world_mut(), 50);
    let (mut truth, mut compared, mut starved) = (Truth::default(), 0, 0);
    for step in 0..600 {
        // Ships and bullets are added and removed.
        let world = session.server.world_mut();
        if step % 40 == 0 {
            spawn_ships(world, 3);
            world.spawn(Bullet { owner: (step / 40 % 8) as u8, position: [1.0, 2.0] });
        }
        if step % 60 == 30 {
            let ship = world.query_filtered::<Entity, With<Ship>>().iter(world).next();
            world.despawn(ship.expect("a ship"));
        }
        session.step();
        session.check_states();
        truth.note(&mut session);
        for client in &mut session.clients {
            let motion = client.motion();
            let Some(tick) = motion.tick() else { continue };
            if motion.is_starved() {
                starved += 1;
                continue;
            }
            for (id, transform) in client.entities::<Transform>() {
                // A ship that is about to disappear may have no later position.
                let newest = client.motion().newest().expect("a state is shown");
                let Some(exact) = truth.at(id, tick) else { continue };
                if newest.position(EntityId(id)).is_none() {
                    continue;
                }
                for (shown, exact) in transform.translation.to_array().into_iter().zip(exact) {
                    assert!(
                        (shown - exact).abs() <= 0.005 + 0.000_2,
                        "step {step}, tick {tick}, {id}: {shown} {exact}"
                    );
                }
                compared += 1;
            }
        }
    }
    assert!(compared > 40_000, "{compared}");
    assert!(starved < 40, "{starved}");
    // When everything rests, the clients catch up with the newest state.
    let world = session.server.world_mut();
    world.query::<&mut Velocity>().iter_mut(world).for_each(|mut v| v.0 = [0.0; 3]);
    session.run(90);
    let ships = of_all::<Transform>(&mut session.server);
    let bullets = of_all::<Bullet>(&mut session.server);
    for client in &mut session.clients {
        let shown = client.entities::<Transform>();
        assert!(shown.keys().eq(ships.keys()), "the same ships");
        assert_eq!(client.entities::<Bullet>(), bullets);
        let stats = client.motion().stats();
        assert_eq!((stats.receiver.mismatches, stats.receiver.unmerged, stats.refused), (0, 0, 0));
    }
}

#[test]
fn only_what_changed_is_quantized() {
    let mut session = Session::new(LinkConfig::PERFECT, 1, flying);
    spawn_ships(session.server.world_mut(), 100);
    // The first frame takes no time.
    session.run(2);
    let stats = session.server().stats();
    assert_eq!((stats.ticks, stats.quantized), (1, 100));
    session.run(10);
    // Of the hundred ships, ten rest.
    assert_eq!(session.server().stats().quantized, 100 + 10 * 90);
}

#[derive(Resource, Default)]
struct Touched(usize);

fn count_touched(ships: Query<(), Changed<Transform>>, mut touched: ResMut<Touched>) {
    touched.0 += ships.iter().count();
}

#[test]
fn components_of_resting_entities_are_not_touched_on_the_client() {
    let mut session = Session::new(LinkConfig::PERFECT, 1, |app| {
        app.init_resource::<Touched>().add_systems(bevy_app::Update, count_touched);
    });
    spawn_ships(session.server.world_mut(), 20);
    session.run(100);
    let client = &session.clients[0];
    assert_eq!(client.app.world().resource::<Touched>().0, 20, "once, when they appeared");
}

#[test]
fn an_entity_appears_and_disappears_with_its_marker_and_its_components() {
    let mut session = Session::new(LinkConfig::PERFECT, 1, |_| {});
    let world = session.server.world_mut();
    let ships: Vec<Entity> = (0..4).map(|_| world.spawn(Ship).id()).collect();
    world.spawn(Moving); // of no kind
    session.run(30);
    assert_eq!(session.server().stats().unseen, 1);
    assert!(session.clients[0].entities::<Shield>().keys().eq(&[0, 1, 2, 3]));
    let world = session.server.world_mut();
    world.despawn(ships[0]);
    world.entity_mut(ships[1]).remove::<Moving>();
    // The third ship becomes a bullet, with another id.
    world.entity_mut(ships[2]).remove::<Ship>().insert(Bullet { owner: 3, position: [1.0; 2] });
    session.run(30);
    let client = &mut session.clients[0];
    assert!(client.entities::<Ship>().keys().eq(&[3]));
    let bullets = client.entities::<Bullet>();
    assert_eq!(bullets, [(4, Bullet { owner: 3, position: [1.0; 2] })].into());
    assert_eq!(session.server.world().get::<MotionId>(ships[1]), None);
    // The first ship returns too, as another entity.
    session.server.world_mut().entity_mut(ships[1]).insert(Moving);
    session.run(30);
    assert!(session.clients[0].entities::<Ship>().keys().eq(&[3, 5]));
}

#[test]
fn a_refused_value_harms_no_other_entity() {
    let mut session = Session::new(LinkConfig::PERFECT, 1, |_| {});
    let world = session.server.world_mut();
    let bullet = |x| Bullet { owner: 1, position: [x, 0.0] };
    let bullets = [1.0, f32::NAN, 3.0].map(|x| world.spawn(bullet(x)).id());
    session.run(30);
    assert!(session.clients[0].entities::<Bullet>().keys().eq(&[0, 2]));
    assert!(session.server().stats().refused_values > 0);
    let world = session.server.world_mut();
    // This value is out of range, so the client keeps the last state.
    world.get_mut::<Bullet>(bullets[0]).expect("it lives").position = [5_000.0, 0.0];
    world.get_mut::<Bullet>(bullets[1]).expect("it lives").position = [2.0, 0.0];
    session.run(30);
    let shown = session.clients[0].entities::<Bullet>();
    assert_eq!(shown, [(0, bullet(1.0)), (1, bullet(2.0)), (2, bullet(3.0))].into());
}

#[test]
fn a_changed_spawn_field_makes_another_entity() {
    let mut session = Session::new(LOSSY, 1, |_| {});
    let world = session.server.world_mut();
    let bullets = [1, 2].map(|owner| world.spawn(Bullet { owner, position: [1.0; 2] }).id());
    session.run(60);
    session.server.world_mut().get_mut::<Bullet>(bullets[0]).expect("it lives").owner = 5;
    session.run(60);
    let owners = session.clients[0].entities::<Bullet>();
    let owners: Vec<(u32, u8)> = owners.iter().map(|(id, bullet)| (*id, bullet.owner)).collect();
    assert_eq!(owners, [(1, 2), (2, 5)]);
    let stats = session.server().stats();
    assert_eq!((stats.replaced, stats.failed_ticks), (1, 0));
}

#[test]
fn clients_join_late_and_reconnect() {
    let mut session = Session::new(LOSSY, 1, flying);
    spawn_ships(session.server.world_mut(), 400);
    session.run(120);
    session.join();
    session.run(60);
    session.reconnect(0);
    session.step();
    assert!(session.clients[0].entities::<Ship>().is_empty(), "until the first state");
    session.run(120);
    for client in &mut session.clients {
        assert_eq!(client.entities::<Ship>().len(), 400);
        assert!(client.motion().newest().is_some_and(|state| state.tick > Tick(280)));
    }
    session.check_states();
    let mut server = session.server.world_mut().resource_mut::<MotionServer>();
    let clients: Vec<_> = server.clients().collect();
    assert_eq!(clients.len(), 2);
    clients.iter().for_each(|client| assert!(server.disconnect(*client)));
    session.run(2);
    assert_eq!(session.server().hub().receivers().count(), 0);
}

/// A component of another crate.
#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct Door {
    angle_deg: f32,
    creaks: bool,
}

#[derive(Pack, Clone)]
struct Angle {
    #[pack(range = 0.0..=90.0, precision = 0.5)]
    angle_deg: f32,
}

impl Part for Angle {
    type Component = Door;

    fn read(door: &Door) -> Self {
        Self { angle_deg: door.angle_deg }
    }

    fn write(self, mut door: Mut<'_, Door>) {
        if door.angle_deg != self.angle_deg {
            door.angle_deg = self.angle_deg;
        }
    }

    fn into_component(self) -> Door {
        Door { angle_deg: self.angle_deg, creaks: false }
    }
}

#[test]
fn parts_write_only_what_they_are_made_of() {
    let settings = MotionSettings { time_precision_ms: Some(2.0), ..MotionSettings::at_hz(60) };
    let mut pair = [(); 2].map(|()| {
        let mut app = crate::support::app();
        app.add_motion_kind::<(Angle, ScaledPose<100, 256, 12, 4>)>("door");
        app
    });
    let [server, client] = &mut pair;
    server.add_plugins(MotionServerPlugin::new(settings.clone()));
    client.add_plugins(MotionClientPlugin::new(settings));
    pair.iter_mut().for_each(App::finish);
    let [server, client] = &mut pair;
    let transform = Transform::from_xyz(1.5, -2.25, 3.0).with_scale([0.5, 1.0, 2.0].into());
    let door = Door { angle_deg: 45.0, creaks: true };
    let entity = server.world_mut().spawn((Moving, door, transform)).id();
    let id = ReceiverId(1);
    let mut motion = server.world_mut().resource_mut::<MotionServer>();
    motion.connect(id, &ReceiverOptions::default()).expect("a new client");
    client.world_mut().resource_mut::<MotionClient>().connect();
    let mut shown = Vec::new();
    for step in 0..120 {
        if step == 60 {
            // The client keeps its own change.
            let world = client.world_mut();
            world.query::<&mut Door>().single_mut(world).expect("a door").creaks = true;
            let mut door = server.world_mut().get_mut::<Door>(entity).expect("it exists");
            door.angle_deg = 60.0;
        }
        server.update();
        client.update();
        let mut of_server = server.world_mut().resource_mut::<MotionServer>();
        let mut of_client = client.world_mut().resource_mut::<MotionClient>();
        of_client.outgoing.iter().for_each(|((), bytes)| of_server.incoming.push(id, bytes));
        of_server.outgoing.iter().for_each(|(_, bytes)| of_client.incoming.push((), bytes));
        of_client.outgoing.clear();
        of_server.outgoing.clear();
        let world = client.world_mut();
        let doors = world.query::<(&Door, &Transform)>().iter(world).map(|(a, b)| (*a, *b)).next();
        shown.extend(doors);
    }
    let [(first, _), .., (last, pose)] = shown[..] else { panic!("the door never appeared") };
    assert_eq!(first, Door { angle_deg: 45.0, creaks: false });
    assert_eq!(last, Door { angle_deg: 60.0, creaks: true });
    assert_eq!((pose.translation, pose.scale), (transform.translation, transform.scale));
    // Even the identity may be off by half a step.
    assert!(pose.rotation.angle_between(transform.rotation) < 0.001);
}

#[test]
fn a_predicted_entity_keeps_what_the_client_writes() {
    let mut session = Session::new(LinkConfig::PERFECT, 1, flying);
    spawn_ships(session.server.world_mut(), 3);
    session.run(30);
    let world = session.clients[0].app.world_mut();
    let own = world.resource::<MotionEntities>().get(MotionId(1)).expect("it is shown");
    let mine = Transform::from_xyz(7.0, 8.0, 9.0);
    world.entity_mut(own).insert((Predicted, mine));
    session.run(30);
    let transforms = session.clients[0].entities::<Transform>();
    assert_eq!(transforms[&1], mine);
    assert!(transforms[&2].translation.x > 2.5);
    let newest = session.clients[0].motion().newest().expect("states arrive");
    let (Ship, pose, Shield(50)) =
        newest.get::<(Ship, ShipPose, Shield)>(EntityId(1)).unwrap().unwrap()
    else {
        panic!("another shield")
    };
    assert!(pose.position[0] < 2.0);
    let ship = session.entity(1).expect("it exists");
    session.server.world_mut().despawn(ship);
    session.run(30);
    assert_eq!(session.clients[0].entities::<Transform>().len(), 2);
}

#[test]
fn a_client_with_other_kinds_is_refused() {
    let mut session = Session::new(LinkConfig::PERFECT, 1, |_| {});
    let mut other = crate::support::app();
    other.add_motion_kind::<(Bullet,)>("bullet");
    other.add_plugins(MotionClientPlugin::new(MotionSettings::at_hz(60)));
    other.finish();
    let id = ReceiverId(50);
    let mut server = session.server.world_mut().resource_mut::<MotionServer>();
    server.connect(id, &ReceiverOptions::default()).expect("a new client");
    other.world_mut().resource_mut::<MotionClient>().connect();
    other.update();
    let client = other.world().resource::<MotionClient>();
    let mut server = session.server.world_mut().resource_mut::<MotionServer>();
    client.outgoing.iter().for_each(|((), datagram)| server.incoming.push(id, datagram));
    // The first frame takes no time, so it makes no tick.
    (0..2).for_each(|_| session.server.update());
    let server = session.server.world().resource::<MotionServer>();
    let mut client = other.world_mut().resource_mut::<MotionClient>();
    let refusals = server.outgoing.iter().filter(|(to, _)| *to == id);
    refusals.for_each(|(_, datagram)| client.incoming.push((), datagram));
    other.update();
    let mismatch = other.world().resource::<MotionClient>().mismatch();
    assert!(matches!(mismatch, Some(Mismatch::Schema { .. })), "{mismatch:?}");
    assert_eq!(server.stats().refused, 1);
}

#[test]
#[should_panic(expected = "before the app runs")]
fn registering_while_the_app_runs_panics() {
    let mut session = Session::new(LinkConfig::PERFECT, 0, |_| {});
    session.server.add_motion_kind::<(Shield,)>("shield");
}
