//! Tests of frames: a sailor, whose position is relative to a ship, is in world coordinates on the
//! client.

#![cfg(feature = "transform")]

use bevy_ecs::prelude::*;
use bevy_math::Vec3;
use bevy_transform::components::Transform;
use kinepack::Pack;
use kinepack_bevy::{MotionAppExt, MotionId, Moving};

use crate::support::{LOSSY, Session, Ship, ShipPose};

#[derive(Component, Pack, Clone, Copy, Debug, PartialEq)]
#[require(Moving)]
struct Sailor {
    #[pack(frame = ship, range = -1_000.0..1_000.0, precision = 0.001)]
    position: [f32; 3],
    /// The id of the ship.
    ship: Option<u32>,
}

const DECK: Vec3 = Vec3::new(12.0, 0.0, 3.0);

#[test]
fn a_sailor_stands_still_on_a_ship_that_turns() {
    let register = |app: &mut bevy_app::App| {
        app.add_motion_kind::<(Ship, ShipPose)>("ship").add_motion_kind::<(Sailor,)>("sailor");
    };
    let mut session = Session::of(register, LOSSY, 1, |_| {});
    let world = session.server.world_mut();
    let ship = world.spawn((Ship, Transform::from_xyz(-50.0, 20.0, 0.0))).id();
    // A ship has an id from its first tick on.
    session.run(3);
    let world = session.server.world_mut();
    let id = world.get::<MotionId>(ship).unwrap().0;
    world.spawn(Sailor { position: DECK.to_array(), ship: Some(id) });
    let (mut seen, mut farthest_m) = (0, 0.0_f32);
    for _ in 0..300 {
        let world = session.server.world_mut();
        let mut transform = world.get_mut::<Transform>(ship).unwrap();
        transform.translation.x += 0.2;
        transform.rotate_z(0.013);
        session.step();
        let client = &mut session.clients[0];
        let sailors = client.entities::<Sailor>();
        let Some(sailor) = sailors.values().next() else { continue };
        let transform = client.entities::<Transform>()[&id];
        let on_deck = transform.transform_point(DECK);
        farthest_m = farthest_m.max(on_deck.distance(Vec3::from_array(sailor.position)));
        assert_eq!(sailor.ship, Some(id));
        seen += 1;
    }
    assert!(seen > 200, "{seen}");
    assert!(farthest_m < 0.002, "{farthest_m} m from the place on the deck");
}
