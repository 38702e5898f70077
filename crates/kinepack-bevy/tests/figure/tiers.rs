//! Tests that far bodies arrive in coarser tiers, and keep the promise of their tier.

use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_transform::components::Transform;
use kinepack::{EntityId, Pack};
use kinepack_bevy::figure::{FigureBody, FigureKind};
use kinepack_bevy::{
    CoarserPose, MotionAppExt, MotionEntities, MotionId, MotionServer, Moving, Pose, Viewpoint,
};
use kinepack_net::{LinkConfig, ReceiverId, Ring, Rings};

use super::support::*;
use crate::support::{LOSSY, Session};

/// How many times coarser than tier 0 the tiers are.
const COARSER: [f64; 2] = [4.0, 16.0];

/// A body with two tiers, where avatars have three.
#[derive(Component, Pack, Clone, Copy, Debug, Default, PartialEq)]
#[require(Moving, Transform)]
struct Robot;

#[derive(Resource, Clone)]
struct RobotKind(FigureKind);

/// A thing without joints.
#[derive(Component, Pack, Clone, Copy, Debug, Default, PartialEq)]
#[require(Moving, Transform)]
struct Ball {
    #[pack(spawn, max = 7)]
    colour: u8,
    #[pack(max = 100)]
    air: u8,
}

fn register_tiers(app: &mut App) {
    let kind = kind_of(skeleton(), &COARSER);
    let robot = kind_of(skeleton(), &COARSER[..1]);
    app.add_motion_kind::<(Ball, Pose<100, 100, 11>)>("ball")
        .add_motion_figure::<(Avatar, CoarserPose<100, 100, 11, 3>)>("avatar", &kind)
        .add_motion_figure::<(Robot, Pose<100, 100, 11>)>("robot", &robot)
        .insert_resource(kind)
        .insert_resource(RobotKind(robot));
}

/// Tier 1 begins at 20 m, and tier 2 at 50 m.
fn rings() -> Rings {
    Rings {
        positions: ["avatar", "robot", "ball"].map(|kind| format!("{kind}.1.position")).to_vec(),
        urgent: vec![],
        rings: vec![
            Ring { within: 20.0, leave: 22.0, every: 1, tier: 0, coarser: 0 },
            Ring { within: 50.0, leave: 55.0, every: 1, tier: 1, coarser: 0 },
        ],
        beyond: Some(2),
        cell: 2.0,
        exact_after: None,
    }
}

fn set_rings(session: &mut Session, rings: Option<&Rings>) {
    let mut server = session.server.world_mut().resource_mut::<MotionServer>();
    server.set_rings(rings).unwrap();
}

/// Bodies at these distances from the viewpoint of the first of two clients.
fn session_of(link: LinkConfig, places: &[f32]) -> (Session, Vec<Entity>) {
    let mut session = Session::of(register_tiers, link, 2, setup);
    session.server.world_mut().spawn(Viewpoint { client: ReceiverId(0) });
    let avatars = places.iter().map(|x| spawn_at(session.server.world_mut(), *x)).collect();
    (session, avatars)
}

fn spawn_at(world: &mut World, x: f32) -> Entity {
    let avatar = spawn_avatar(world);
    *world.get_mut::<Transform>(avatar).unwrap() = Transform::from_xyz(x, 0.0, 0.0);
    spawn_joints(world, avatar);
    avatar
}

/// The tier in which a client has a body of a kind.
fn tier(session: &Session, client: usize, kind: usize, id: u32) -> u32 {
    value(session, client, kind, id, "[tier]")
}

/// The value that a client has of a body of a kind, in the first lane whose name ends like this.
fn value(session: &Session, client: usize, kind: usize, id: u32, ending: &str) -> u32 {
    let newest = session.clients[client].motion().newest().unwrap();
    let schema = session.server().codec().schema();
    let lane = newest.lanes_of(kind).find(|lane| schema.lane_name(*lane).ends_with(ending));
    let row = newest.position_of(kind, EntityId(id)).unwrap() - newest.of_kind(kind).start;
    newest.lane(lane.unwrap())[row]
}

fn tiers(session: &Session, client: usize) -> Vec<u32> {
    let newest = session.clients[client].motion().newest().unwrap();
    let ids = &newest.ids()[newest.of_kind(1)];
    ids.iter().map(|id| tier(session, client, 1, id.0)).collect()
}

/// How far off a client's joints are from those of the server, in multiples of the precision.
fn off(session: &Session, client: usize, id: u32) -> f64 {
    let of = |world: &World| {
        let entity = world.resource::<MotionEntities>().get(MotionId(id)).unwrap();
        locals(world, entity)
    };
    let off_m = distance_m(&of(session.clients[client].app.world()), &of(session.server.world()));
    f64::from(off_m / PRECISION_M)
}

fn assert_clean(session: &Session) {
    let stats = session.server().stats();
    assert_eq!((stats.failed_ticks, stats.unseen), (0, 0));
    for client in &session.clients {
        let stats = client.motion().stats();
        assert_eq!((stats.receiver.mismatches, stats.receiver.unmerged, stats.refused), (0, 0, 0));
    }
}

#[test]
fn bodies_arrive_in_the_tiers_of_their_rings() {
    let (mut session, avatars) = session_of(LOSSY, &[5.0, 35.0, 80.0]);
    set_rings(&mut session, Some(&rings()));
    let robot = session.server.world().resource::<RobotKind>().0.clone();
    let robot = (Robot, FigureBody::new(&robot), Transform::from_xyz(90.0, 0.0, 0.0));
    session.server.world_mut().spawn(robot);
    let ball = (Ball { colour: 1, air: 3 }, Transform::from_xyz(90.0, 0.0, 0.0));
    let ball = session.server.world_mut().spawn(ball).id();
    session.run(3);
    for avatar in &avatars {
        set_turning(session.server.world_mut(), *avatar, true);
    }
    session.run(100);
    for avatar in &avatars {
        set_turning(session.server.world_mut(), *avatar, false);
    }
    let far = &mut session.server.world_mut().get_mut::<Avatar>(avatars[2]).unwrap();
    far.health = 20;
    session.run(90);
    assert_eq!(tiers(&session, 0), [0, 1, 2]);
    assert_eq!(tiers(&session, 1), [0, 0, 0], "without a viewpoint");
    assert_eq!([0, 1].map(|client| tier(&session, client, 2, 4)), [1, 0], "its coarsest one");
    // The ball has the first id, and the avatars follow.
    for (id, largest) in [(1, 1.0), (2, COARSER[0]), (3, COARSER[1])] {
        assert!(off(&session, 1, id) <= 1.0);
        let off = off(&session, 0, id);
        assert!(off <= largest && (off > 1.0) == (id > 1), "{id}: {off}");
    }
    let client = &mut session.clients[0];
    let health = client.entities::<Avatar>().into_values().map(|avatar| avatar.health);
    assert_eq!(health.collect::<Vec<_>>(), [70, 70, 20]);
    assert_eq!(client.entities::<Ball>(), [(0, Ball { colour: 1, air: 3 })].into());
    // A body that comes near is sent in the finest tier, although its joints rest.
    session.server.world_mut().get_mut::<Transform>(avatars[2]).unwrap().translation.x = 6.0;
    session.run(60);
    assert_eq!(tiers(&session, 0), [0, 1, 0]);
    assert!(off(&session, 0, 3) <= 1.0);
    // Entities are added, removed and replaced in all tiers.
    session.server.world_mut().despawn(avatars[1]);
    session.server.world_mut().get_mut::<Ball>(ball).unwrap().colour = 2;
    spawn_at(session.server.world_mut(), 40.0);
    session.run(60);
    assert_eq!(tiers(&session, 0), [0, 0, 1]);
    assert_eq!(session.server().stats().replaced, 1);
    let balls = session.clients[0].entities::<Ball>().into_values();
    assert_eq!(balls.collect::<Vec<_>>(), [Ball { colour: 2, air: 3 }]);
    assert_clean(&session);
}

#[test]
fn rings_that_change_also_concern_bodies_at_rest() {
    let (mut session, avatars) = session_of(LinkConfig::PERFECT, &[5.0, 80.0, 85.0]);
    session.run(3);
    for avatar in &avatars {
        set_turning(session.server.world_mut(), *avatar, true);
    }
    session.run(50);
    for avatar in &avatars {
        set_turning(session.server.world_mut(), *avatar, false);
    }
    session.run(30);
    assert_eq!(tiers(&session, 0), [0, 0, 0]);
    // The last body has a pose that cannot be sent, when the tiers begin.
    let world = session.server.world_mut();
    let spine = joint_of(world, avatars[2], 1);
    let valid = *world.get::<Transform>(spine).unwrap();
    world.get_mut::<Transform>(spine).unwrap().translation *= 2.0;
    set_rings(&mut session, Some(&rings()));
    session.run(30);
    assert_eq!(tiers(&session, 0), [0, 2, 0], "the last pose in its only form");
    let off_in_tier = off(&session, 0, 1);
    assert!(off_in_tier > 1.0 && off_in_tier <= COARSER[1], "{off_in_tier}");
    *session.server.world_mut().get_mut::<Transform>(spine).unwrap() = valid;
    session.run(30);
    assert_eq!(tiers(&session, 0), [0, 2, 2]);
    // Fewer tiers, no rings, and all tiers again.
    set_rings(&mut session, Some(&Rings { beyond: Some(1), ..rings() }));
    session.run(30);
    assert_eq!(tiers(&session, 0), [0, 1, 1]);
    set_rings(&mut session, None);
    session.run(30);
    assert_eq!(tiers(&session, 0), [0, 0, 0]);
    assert!(off(&session, 0, 1) <= 1.0);
    set_rings(&mut session, Some(&rings()));
    session.run(30);
    assert_eq!(tiers(&session, 0), [0, 2, 2]);
    assert_clean(&session);
}

#[test]
fn far_bodies_in_a_tier_may_be_coarser_too() {
    let (mut session, avatars) = session_of(LinkConfig::PERFECT, &[5.0, 35.0]);
    let mut rings = Rings { exact_after: Some(10), ..rings() };
    rings.rings[1].coarser = 2;
    set_rings(&mut session, Some(&rings));
    session.run(3);
    let world = session.server.world_mut();
    avatars.iter().for_each(|avatar| set_turning(world, *avatar, true));
    for _ in 0..60 {
        for avatar in &avatars {
            let world = session.server.world_mut();
            world.get_mut::<Transform>(*avatar).unwrap().translation.y += 0.013;
        }
        session.step();
    }
    let coarser = |session: &Session| [0, 1].map(|id| value(session, 0, 1, id, "coarser~"));
    assert_eq!((tiers(&session, 0), coarser(&session)), (vec![0, 1], [0, 2]));
    // The place rests, and the joints still turn.
    session.run(30);
    assert_eq!((tiers(&session, 0), coarser(&session)), (vec![0, 1], [0, 0]));
    let world = session.server.world_mut();
    avatars.iter().for_each(|avatar| set_turning(world, *avatar, false));
    session.run(30);
    let shown = session.clients[0].entities::<Transform>();
    for (id, largest) in [(0, 1.0), (1, COARSER[0])] {
        let off = off(&session, 0, id);
        assert!(off <= largest && (off > 1.0) == (id > 0), "{id}: {off}");
        let y = shown[&id].translation.y;
        assert!((y - 0.78).abs() < 1e-3, "{id}: {y}");
    }
    assert_clean(&session);
}
