//! Tests of poses that are coarser far away while their entities move.

#![cfg(feature = "transform")]

use bevy_ecs::prelude::*;
use bevy_transform::components::Transform;
use kinepack::{EntityId, Snapshot, Tick};
use kinepack_bevy::{CoarserPose, MotionAppExt, MotionServer, MotionSettings, Viewpoint};
use kinepack_net::{LinkConfig, ReceiverId, Ring, Rings};

use crate::support::{Bullet, Session, Ship, TICK_HZ};

/// The steps are those of `ShipPose`, and up to 4 bits coarser.
type FarPose = CoarserPose<1_000, 100, 11, 4>;

/// By how many bits far ships are coarser: their steps are 8 cm.
const COARSER: u8 = 3;
/// After how many ticks at rest a far ship is exact.
const EXACT_AFTER: u32 = 20;
/// The ids of two ships.
const NEAR: u32 = 0;
const FAR: u32 = 1;

/// Ships within 50 m are exact. Farther ones change in every n-th tick, and are coarser.
fn rings(every: u32, coarser: u8) -> Rings {
    Rings {
        positions: vec!["ship.1.position".into()],
        urgent: vec![],
        rings: vec![
            Ring { within: 50.0, leave: 60.0, every: 1, tier: 0, coarser: 0 },
            Ring { within: 500.0, leave: 550.0, every, tier: 0, coarser },
        ],
        beyond: None,
        cell: 5.0,
        exact_after: Some(EXACT_AFTER),
    }
}

/// A session with ships at these places along x, a bullet, and a client that looks from the origin.
fn session(
    time_precision_ms: Option<f64>,
    rings: &Rings,
    places: impl IntoIterator<Item = f32>,
) -> (Session, Vec<Entity>) {
    let settings = MotionSettings { time_precision_ms, ..MotionSettings::at_hz(TICK_HZ) };
    let register = |app: &mut bevy_app::App| {
        app.add_motion_kind::<(Ship, FarPose)>("ship").add_motion_kind::<(Bullet,)>("bullet");
    };
    let mut session = Session::with(settings, register, LinkConfig::PERFECT, 1, |_| {});
    let world = session.server.world_mut();
    world.resource_mut::<MotionServer>().set_rings(Some(rings)).unwrap();
    world.spawn(Viewpoint { client: ReceiverId(0) });
    let ships = places.into_iter().map(|x| {
        let transform = Transform::from_xyz(x, 0.0, 0.0);
        world.spawn((Ship, transform)).id()
    });
    let ships = ships.collect();
    world.spawn(Bullet::default());
    (session, ships)
}

/// Moves and turns all ships by one tick, and the bullet.
fn fly(session: &mut Session, ships: &[Entity]) {
    let world = session.server.world_mut();
    for ship in ships {
        let mut transform = world.get_mut::<Transform>(*ship).unwrap();
        transform.translation.y += 0.053;
        transform.rotate_z(0.013);
    }
    world.query::<&mut Bullet>().single_mut(world).unwrap().position[0] += 0.3;
    session.step();
}

fn pose(state: &Snapshot, ship: u32) -> FarPose {
    state.get::<(Ship, FarPose)>(EntityId(ship)).unwrap().unwrap().1
}

/// Whether the client's newest state has a ship as the server had it in that tick.
fn is_exact(session: &Session, ship: u32) -> bool {
    let newest = session.clients[0].motion().newest().unwrap();
    pose(newest, ship) == pose(&session.states[&newest.tick], ship)
}

/// Whether the client's newest state has a ship as the server had it in one of the last `every`
/// ticks, but coarser.
fn is_coarser(session: &Session, ship: u32, every: u32) -> bool {
    let newest = session.clients[0].motion().newest().unwrap();
    let ticks = newest.tick.0 + 1 - every..=newest.tick.0;
    let states = ticks.map(|tick| session.states[&Tick(tick)].coarser(COARSER));
    states.into_iter().any(|state| pose(&state, ship) == pose(newest, ship))
}

/// How far the client shows a ship from where the server had it at the shown moment, in metres and
/// radians.
fn off(session: &mut Session, ship: u32) -> [f32; 2] {
    let tick = session.clients[0].motion().tick().unwrap();
    let [from, to] = [tick.floor(), tick.ceil()].map(|tick| {
        let pose = pose(&session.states[&Tick(tick as u32)], ship);
        Transform::from_translation(pose.position.into())
            .with_rotation(bevy_math::Quat::from_array(pose.rotation))
    });
    let shown = session.clients[0].entities::<Transform>()[&ship];
    let place = from.translation.lerp(to.translation, tick.fract() as f32);
    let rotation = from.rotation.slerp(to.rotation, tick.fract() as f32);
    [shown.translation.distance(place), shown.rotation.angle_between(rotation)]
}

/// Checks that the client shows the near ship exactly, and the far one within half a coarser step.
/// Returns how far the far one is off.
fn check_shown(session: &mut Session) -> [f32; 2] {
    let near = off(session, NEAR);
    assert!(near[0] < 1e-3 && near[1] < 2e-3, "{near:?}");
    let far = off(session, FAR);
    // Half a step of the rotation is 0.0028 in each of three components.
    assert!(far[0] < 0.05 && far[1] < 0.012, "{far:?}");
    far
}

#[test]
fn far_ships_are_coarser_while_they_move_and_exact_at_rest() {
    for (every, time_precision_ms) in [(1, None), (4, None), (1, Some(2.0))] {
        let rings = rings(every, COARSER);
        let (mut session, ships) = session(time_precision_ms, &rings, [10.0, 200.0]);
        for _ in 0..80 {
            fly(&mut session, &ships);
        }
        let mut off = [0.0_f32; 2];
        for _ in 0..40 {
            fly(&mut session, &ships);
            assert!(is_exact(&session, NEAR) && is_coarser(&session, FAR, every));
            let far = check_shown(&mut session);
            off = [0, 1].map(|part| off[part].max(far[part]));
        }
        assert!(off[0] > 0.02 && off[1] > 2e-3, "{off:?}");
        // All ships rest.
        for _ in 0..EXACT_AFTER - every {
            session.step();
            // A ship that takes turns stops between two of them, and is shown to stop later.
            if every == 1 {
                check_shown(&mut session);
            }
            assert!(!is_exact(&session, FAR) && is_coarser(&session, FAR, every));
        }
        session.run(40);
        assert!(is_exact(&session, NEAR) && is_exact(&session, FAR));
        let far = check_shown(&mut session);
        assert!(far[0] < 1e-3 && far[1] < 2e-3, "{far:?}");
        // The far ship moves again, and then comes near.
        (0..10).for_each(|_| fly(&mut session, &ships));
        assert!(is_exact(&session, NEAR) && !is_exact(&session, FAR));
        session.server.world_mut().get_mut::<Transform>(ships[1]).unwrap().translation.x = 20.0;
        (0..10).for_each(|_| fly(&mut session, &ships));
        assert!(is_exact(&session, NEAR) && is_exact(&session, FAR));
        assert_eq!(session.server().stats().failed_ticks, 0);
        let stats = session.clients[0].motion().stats().receiver;
        assert_eq!((stats.mismatches, stats.unmerged), (0, 0));
    }
}

#[test]
fn coarser_ships_take_fewer_bytes() {
    let bytes = |coarser: u8| {
        let places = (0..20).map(|nth| 100.0 + 20.0 * nth as f32);
        let (mut session, ships) = session(None, &rings(1, coarser), places);
        let mut before = 0;
        for tick in 0..100 {
            if tick == 20 {
                before = session.server().stats().sent_bytes;
            }
            for (nth, ship) in ships.iter().enumerate() {
                let mut transform = session.server.world_mut().get_mut::<Transform>(*ship).unwrap();
                let angle = (tick * (nth + 5)) as f32 * 0.01;
                transform.translation.y = 3.0 * angle.sin();
                transform.translation.z = 3.0 * angle.cos();
                transform.rotate_y(0.05 * angle.cos());
            }
            session.step();
        }
        session.server().stats().sent_bytes - before
    };
    let [exact, coarser] = [0, COARSER].map(bytes);
    assert!(10 * coarser < 7 * exact, "{coarser} instead of {exact}");
}

#[test]
fn coarser_poses_have_no_time_precision() {
    let (session, _) = session(Some(2.0), &rings(1, COARSER), []);
    let schema = session.server().codec().schema();
    let of_kinds = schema.kinds().iter().map(|kind| {
        let fields = schema.fields()[kind.fields()].iter();
        let has_one = fields.filter(|field| field.time_precision.is_some());
        has_one.map(|field| field.name.as_str()).collect::<Vec<_>>()
    });
    assert_eq!(of_kinds.collect::<Vec<_>>(), [vec![], vec!["0.position"]]);
}
