//! Tests of rewinding: the server finds the components that a client showed when its player made an
//! input, bit for bit.

#![cfg(feature = "transform")]

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::Duration;

use bevy_app::{App, FixedUpdate};
use bevy_ecs::prelude::*;
use bevy_transform::components::Transform;
use kinepack::{EncodeError, Pack, Tick};
use kinepack_bevy::{
    InputTick, MotionAppExt, MotionClient, MotionEntities, MotionId, MotionInputClock,
    MotionInputs, MotionKind, MotionPast, MotionRewind, MotionServerPlugin, MotionSettings, Moving,
    PastError, RewoundInputs, SeenInput,
};
use kinepack_net::{
    Extrapolation, LinkConfig, Loss, ReceiverId, RewindConfig, RewindError, Seen, Sequence,
};

use crate::support::{Bullet, LOSSY, Session, Ship, ShipPose, TICK_HZ};

/// A member of a ship's crew.
#[derive(Component, Pack, Clone, Copy, Debug, PartialEq)]
#[require(Moving)]
struct Sailor {
    #[pack(frame = ship, range = -1_000.0..1_000.0, precision = 0.001)]
    position: [f32; 3],
    ship: Option<u32>,
}

#[derive(Pack, Clone, Copy, Debug, PartialEq)]
struct Look {
    seen: Option<Seen>,
}

impl SeenInput for Look {
    fn seen(&self) -> Option<Seen> {
        self.seen
    }
}

type ShipKind = (Ship, ShipPose);
type SailorKind = (Sailor,);
type BulletKind = (Bullet,);

fn register_held(app: &mut App) {
    app.add_motion_kind::<ShipKind>("ship")
        .add_motion_kind::<SailorKind>("sailor")
        .add_motion_kind::<BulletKind>("bullet")
        .add_motion_tick_input::<Look>();
}

fn register_late(app: &mut App) {
    let at_most = Duration::from_millis(100);
    register_held(app);
    app.extrapolate_motion::<ShipKind>(Extrapolation::Straight { at_most })
        .continue_motion::<BulletKind>(at_most, |(bullet,), starved_for| {
            bullet.position[0] += 30.0 * starved_for.as_secs_f32();
        });
}

/// What was shown at an input's tick: the ships, the sailors and the bullets.
#[derive(Clone, Debug, Default, PartialEq)]
struct Scene {
    ships: BTreeMap<u32, Transform>,
    sailors: BTreeMap<u32, Sailor>,
    bullets: BTreeMap<u32, Bullet>,
}

/// The scenes of a client by tick, and whether states were late; or those that the server found.
#[derive(Resource, Default)]
struct Noted {
    drawn: BTreeMap<u16, (Scene, bool)>,
    found: Vec<(ReceiverId, u16, Result<Scene, RewindError>)>,
}

fn number(number: Sequence) -> u16 {
    number.since(Sequence::from(Tick(0))) as u16
}

/// Notes what a client shows, and sends the stamp.
fn look(
    client: Res<MotionClient>,
    clock: Res<MotionInputClock>,
    mut looks: ResMut<MotionInputs<Look>>,
    ships: Query<(&MotionId, &Transform), With<Ship>>,
    sailors: Query<(&MotionId, &Sailor)>,
    bullets: Query<(&MotionId, &Bullet)>,
    mut noted: ResMut<Noted>,
) -> Result {
    looks.push_for_tick(clock.tick(), &Look { seen: client.seen() })?;
    let scene = Scene {
        ships: ships.iter().map(|(id, transform)| (id.0, *transform)).collect(),
        sailors: sailors.iter().map(|(id, sailor)| (id.0, *sailor)).collect(),
        bullets: bullets.iter().map(|(id, bullet)| (id.0, *bullet)).collect(),
    };
    noted.drawn.insert(clock.tick().0 as u16, (scene, client.is_starved()));
    Ok(())
}

/// The components of all entities of a kind that the client showed.
fn of_kind<K: MotionKind, C: Copy + Debug>(
    past: &MotionPast<'_>,
    entities: impl Iterator<Item = (Entity, u32)>,
    read: impl Fn(K::Components) -> C,
) -> BTreeMap<u32, C> {
    let shown = entities.filter_map(|(entity, id)| match past.components::<K>(entity) {
        Ok(components) => Some((id, read(components))),
        Err(PastError::Rewind(RewindError::NotShown { .. } | RewindError::Frame(_))) => None,
        Err(error) => panic!("{error}"),
    });
    shown.collect()
}

/// Finds what the client showed, for each input.
fn find(
    mut looks: RewoundInputs<Look>,
    ships: Query<(Entity, &MotionId), With<Ship>>,
    sailors: Query<(Entity, &MotionId), With<Sailor>>,
    bullets: Query<(Entity, &MotionId), With<Bullet>>,
    mut noted: ResMut<Noted>,
) {
    while let Some((look, past)) = looks.read_next() {
        let ids = |(entity, id): (Entity, &MotionId)| (entity, id.0);
        let scene = past.map(|past| Scene {
            ships: of_kind::<ShipKind, _>(&past, ships.iter().map(ids), |(_, transform)| transform),
            sailors: of_kind::<SailorKind, _>(&past, sailors.iter().map(ids), |(sailor,)| sailor),
            bullets: of_kind::<BulletKind, _>(&past, bullets.iter().map(ids), |(bullet,)| bullet),
        });
        noted.found.push((look.client, number(look.number), scene));
    }
}

fn move_all(
    mut ships: Query<&mut Transform, With<Ship>>,
    mut sailors: Query<&mut Sailor>,
    mut bullets: Query<&mut Bullet>,
    mut tick: Local<u32>,
) {
    *tick += 1;
    for mut ship in &mut ships {
        ship.translation.x += 0.2;
        ship.rotate_z(0.013);
    }
    for mut sailor in sailors.iter_mut().filter(|_| (*tick / 64).is_multiple_of(2)) {
        sailor.position[1] += 0.05;
    }
    for mut bullet in &mut bullets {
        bullet.position[0] += 0.5;
        bullet.position[1] = ((*tick % 97) as f32).min(40.0);
    }
}

fn noting(app: &mut App) {
    app.init_resource::<Noted>().add_systems(InputTick, look);
    if app.world().contains_resource::<kinepack_bevy::MotionServer>() {
        app.add_systems(FixedUpdate, (find, move_all).chain());
    }
}

fn session(register: fn(&mut App), config: LinkConfig, rewind: Option<RewindConfig>) -> Session {
    let plugin = MotionServerPlugin::new(MotionSettings::at_hz(TICK_HZ));
    let plugin = MotionServerPlugin { rewind, ..plugin };
    let mut session = Session::by(plugin, register, config, 2, noting);
    let world = session.server.world_mut();
    let ship = world.spawn((Ship, Transform::from_xyz(-50.0, 20.0, 0.0))).id();
    world.spawn(Bullet { position: [-200.0, 0.0], ..Bullet::default() });
    session.run(3);
    let world = session.server.world_mut();
    let ship = world.get::<MotionId>(ship).map(|id| id.0);
    world.spawn(Sailor { position: [12.0, 0.0, 3.0], ship });
    session
}

/// Checks that each scene that the server found is the one that the client drew. Returns how many
/// there are, and in how many of these states were late.
fn compare(session: &Session) -> (usize, usize) {
    let noted = session.server.world().resource::<Noted>();
    let (mut equal, mut late) = (0, 0);
    for (client, number, found) in &noted.found {
        let client = &session.clients[client.0 as usize].app;
        let (drawn, is_starved) = &client.world().resource::<Noted>().drawn[number];
        match found {
            Ok(found) => {
                assert_eq!(found, drawn, "tick {number}");
                (equal, late) = (equal + 1, late + usize::from(*is_starved));
            }
            Err(RewindError::NothingShown) => assert_eq!(*drawn, Default::default()),
            Err(error) => panic!("{error}"),
        }
    }
    (equal, late)
}

/// Jitter and losses that the playout delay does not cover at once.
const BAD: LinkConfig = LinkConfig { loss: Loss::bursts(0.1, 6.0), ..LOSSY };

#[test]
fn the_server_finds_what_each_client_drew() {
    let mut session = session(register_held, LOSSY, Some(RewindConfig::at_hz(TICK_HZ)));
    session.run(400);
    let (equal, _) = compare(&session);
    assert!(equal > 650, "{equal}");
    let noted = session.clients[0].app.world().resource::<Noted>();
    let (scene, _) = &noted.drawn.values().next_back().unwrap();
    assert_eq!([scene.ships.len(), scene.sailors.len(), scene.bullets.len()], [1; 3]);
}

#[test]
fn the_server_finds_extrapolated_and_continued_entities() {
    let mut session = session(register_late, BAD, Some(RewindConfig::at_hz(TICK_HZ)));
    session.run(400);
    let (equal, late) = compare(&session);
    assert!(equal > 500 && late > 20, "{equal}, {late}");
}

/// What [`provoke`] gets for its requests.
#[derive(Resource, Default)]
struct Refused(Vec<Result<(), PastError>>);

fn provoke(
    mut rewind: MotionRewind,
    mut looks: MessageReader<kinepack_bevy::Input<Look>>,
    entities: Res<MotionEntities>,
    mut last: Local<Option<Seen>>,
    mut commands: Commands,
    mut refused: ResMut<Refused>,
) {
    let Some(look) = looks.read().next() else { return };
    let Some(seen) = look.input.seen else { return };
    let past = rewind.rewind(look.client, seen).unwrap();
    let ship = entities.get(MotionId(0)).unwrap();
    let unknown = commands.spawn_empty().id();
    let mut results = vec![
        past.components::<ShipKind>(ship).map(|_| ()),
        past.components::<BulletKind>(ship).map(|_| ()),
        past.state::<ShipKind>(unknown).map(|_| ()),
    ];
    // Two inputs of one frame have the same stamp.
    if let Some(last) = last.replace(seen).filter(|last| *last != seen) {
        let again = rewind.rewind(look.client, last);
        results.push(again.map(|_| ()).map_err(PastError::Rewind));
        refused.0 = results;
    }
}

#[test]
fn refusals_reach_the_game() {
    let provoking = |app: &mut App| {
        app.init_resource::<Noted>().init_resource::<Refused>().add_systems(InputTick, look);
        if app.world().contains_resource::<kinepack_bevy::MotionServer>() {
            app.add_systems(FixedUpdate, provoke);
        }
    };
    let plugin = MotionServerPlugin::new(MotionSettings::at_hz(TICK_HZ));
    let rewind = Some(RewindConfig::at_hz(TICK_HZ));
    let plugin = MotionServerPlugin { rewind, ..plugin };
    let mut session = Session::by(plugin, register_held, LinkConfig::PERFECT, 1, provoking);
    session.server.world_mut().spawn(Ship);
    session.run(60);
    let refused = &session.server.world().resource::<Refused>().0;
    let [shown, of_another_kind, unknown, again] = &refused[..] else { panic!("{refused:?}") };
    assert_eq!(*shown, Ok(()));
    let another = RewindError::State(EncodeError::AnotherKind { id: 0 });
    assert_eq!(*of_another_kind, Err(PastError::Rewind(another)));
    assert!(matches!(unknown, Err(PastError::NoId { .. })));
    assert_eq!(*again, Err(PastError::Rewind(RewindError::RunsBack)));
}

#[test]
fn a_server_without_rewinding_says_so() {
    let mut session = session(register_held, LinkConfig::PERFECT, None);
    session.run(60);
    let found = &session.server.world().resource::<Noted>().found;
    assert_eq!(found.last().unwrap().2, Err(RewindError::Disabled));
}
