//! Tests of prediction: a client's own entity follows its inputs at once, equals the server's later
//! states bit for bit, and returns smoothly if others push it.

#![cfg(feature = "transform")]

use std::collections::BTreeMap;
use std::time::Duration;

use bevy_app::{App, FixedUpdate, Update};
use bevy_ecs::prelude::*;
use bevy_math::Quat;
use bevy_transform::components::Transform;
use kinepack::{Pack, Tick};
use kinepack_bevy::{
    ClientJoined, ClientLeft, Corrected, Input, InputTick, MotionAppExt, MotionClient, MotionId,
    MotionInputClock, MotionInputs, MotionPrediction, MotionServer, Moving, Part, Pose, Predicted,
    Rounded,
};
use kinepack_net::{LinkConfig, Own, PredictConfig, PredictStats, ReceiverId};

use crate::support::{Bullet, LOSSY, Session, Steer, TICK_HZ};

#[derive(Component, Pack, Clone, Copy, Debug, Default, PartialEq)]
#[require(Moving, Rounded, Transform)]
struct Walker {
    owner: u32,
    /// Counts the ticks in which it walked to the right.
    steps: u16,
}

type WalkerPose = Pose<1_000, 512, 11>;
type WalkerKind = (Walker, WalkerPose);

#[derive(Pack, Clone, Copy, Debug, Default, PartialEq)]
struct Stick {
    #[pack(range = -1.0..=1.0, precision = 0.01)]
    at: [f32; 2],
}

/// A tick of the game, on both sides.
fn walk(walker: &mut Walker, transform: &mut Transform, stick: &Stick) {
    walker.steps = walker.steps.wrapping_add(u16::from(stick.at[0] > 0.0));
    transform.translation.x += stick.at[0] * 0.1;
    transform.translation.z += stick.at[1] * 0.1;
    transform.rotation *= Quat::from_rotation_y(0.07 * stick.at[1]);
}

fn step(own: &mut [Own<WalkerKind>], stick: &Stick, _: Tick) {
    for Own { state: (walker, pose), .. } in own {
        let mut transform = pose.into_component();
        walk(walker, &mut transform, stick);
        *pose = WalkerPose::read(&transform);
    }
}

fn register(app: &mut App) {
    app.add_motion_kind::<WalkerKind>("walker")
        // Its coarse rounding does not apply to walkers.
        .add_motion_kind::<(Pose<1_000, 4, 4>,)>("thing")
        .add_motion_tick_input::<Stick>()
        .add_motion_prediction(PredictConfig::at_hz(TICK_HZ), step);
}

/// The client that owns a walker, and its last input.
#[derive(Component)]
struct Player(ReceiverId, Stick);

/// In which ticks the server pushes all walkers, and where it had them.
#[derive(Resource, Default)]
struct World {
    push_every: Option<u32>,
    walkers: BTreeMap<(u32, Tick), (Walker, Transform)>,
}

fn join(
    mut commands: Commands,
    mut joined: MessageReader<ClientJoined>,
    mut left: MessageReader<ClientLeft>,
    players: Query<(Entity, &Player)>,
) {
    for ClientJoined { client } in joined.read() {
        let walker = Walker { owner: client.0 as u32, ..Walker::default() };
        commands.spawn((walker, Player(*client, Stick::default())));
    }
    for ClientLeft { client } in left.read() {
        for (entity, _) in players.iter().filter(|(_, player)| player.0 == *client) {
            commands.entity(entity).despawn();
        }
    }
}

fn walk_all(
    server: Res<MotionServer>,
    mut inputs: MessageReader<Input<Stick>>,
    mut players: Query<(&mut Player, &mut Walker, &mut Transform)>,
    world: Res<World>,
) {
    for input in inputs.read() {
        let mut players = players.iter_mut().map(|(player, ..)| player);
        if let Some(mut player) = players.find(|player| player.0 == input.client) {
            player.1 = input.input;
        }
    }
    let tick = server.state().tick.0 + 1;
    for (player, mut walker, mut transform) in &mut players {
        walk(&mut walker, &mut transform, &player.1);
        if world.push_every.is_some_and(|ticks| tick.is_multiple_of(ticks)) {
            transform.translation.y += 0.5;
        }
    }
}

/// What a client does: the number of its walker, whether it changes its stick, and what it showed.
#[derive(Resource, Default)]
struct Me {
    owner: u32,
    changes: bool,
    /// The ticks of the frames, with the heights.
    heights: Vec<f32>,
    corrected: usize,
}

fn push(
    clock: Res<MotionInputClock>,
    mut sticks: ResMut<MotionInputs<Stick>>,
    me: Res<Me>,
) -> Result {
    let turn = if me.changes { clock.tick().0 / 7 % 5 } else { 4 };
    let stick = Stick { at: [0.25 * turn as f32, 0.5 - 0.25 * turn as f32] };
    sticks.push_for_tick(clock.tick(), &stick)?;
    Ok(())
}

fn mark(mut commands: Commands, new: Query<(Entity, &Walker), Added<Walker>>, me: Res<Me>) {
    for (entity, _) in new.iter().filter(|(_, walker)| walker.owner == me.owner) {
        commands.entity(entity).insert(Predicted);
    }
}

fn watch(
    own: Query<&Transform, With<Predicted>>,
    mut corrected: MessageReader<Corrected<WalkerKind>>,
    mut me: ResMut<Me>,
) {
    me.heights.extend(own.iter().map(|transform| transform.translation.y));
    me.corrected +=
        corrected.read().inspect(|of| assert!(of.correction.repeated_ticks > 0)).count();
}

fn playing(app: &mut App) {
    if app.world().contains_resource::<MotionServer>() {
        app.init_resource::<World>().add_systems(FixedUpdate, (join, walk_all).chain());
    } else {
        app.init_resource::<Me>()
            .add_systems(InputTick, push)
            .add_systems(Update, (mark, watch).chain());
    }
}

type Prediction = MotionPrediction<WalkerKind, Stick>;

fn session(config: LinkConfig, clients: usize, changes: bool) -> Session {
    let mut session = Session::of(register, config, clients, playing);
    for (owner, client) in (0..).zip(&mut session.clients) {
        client.app.insert_resource(Me { owner, changes, ..Me::default() });
    }
    session
}

/// Runs steps, and notes where the server has the walkers.
fn run(session: &mut Session, steps: usize) {
    for _ in 0..steps {
        session.step();
        let tick = session.server().state().tick;
        let world = session.server.world_mut();
        let mut query = world.query::<(&MotionId, &Walker, &Transform)>();
        let walkers = query.iter(world).map(|(id, walker, pose)| ((id.0, tick), (*walker, *pose)));
        let walkers: Vec<_> = walkers.collect();
        world.resource_mut::<World>().walkers.extend(walkers);
    }
}

fn prediction(session: &Session, client: usize) -> &Prediction {
    session.clients[client].app.world().resource::<Prediction>()
}

fn me(session: &Session, client: usize) -> &Me {
    session.clients[client].app.world().resource::<Me>()
}

/// What a client's prediction counted while the session ran.
fn counted(session: &mut Session, steps: usize) -> PredictStats {
    let before = prediction(session, 0).stats();
    run(session, steps);
    let mut stats = prediction(session, 0).stats();
    stats.confirmed -= before.confirmed;
    stats.corrected -= before.corrected;
    stats
}

/// Checks that a prediction had the walker where the server has it now.
fn check_equal(session: &Session, client: usize) {
    let prediction = prediction(session, client);
    let id = prediction.ids().next().unwrap();
    let tick = session.server().state().tick;
    let (walker, pose) = prediction.state_at(id, tick).unwrap();
    let world = session.server.world().resource::<World>();
    let (of_server, transform) = world.walkers[&(id.0, tick)];
    assert_eq!((walker, pose.into_component()), (of_server, transform));
}

/// Checks that nothing is corrected after the first seconds.
fn check_alone(config: LinkConfig, changes: bool) -> Session {
    let mut session = session(config, 2, changes);
    run(&mut session, 150);
    let missed = |session: &Session| {
        session.server().input_stats::<Stick>(ReceiverId(0)).map(|stats| stats.missed)
    };
    let before = missed(&session);
    let stats = counted(&mut session, 250);
    assert!(!changes || missed(&session) == before);
    assert!(stats.corrected == 0 && stats.confirmed > 150, "{stats:?}");
    (0..2).for_each(|client| check_equal(&session, client));
    assert_eq!(prediction(&session, 0).failed(), 0);
    session
}

#[test]
fn alone_nothing_is_corrected() {
    let jitter = Duration::from_millis(20);
    let lossless = LinkConfig { latency: Duration::from_millis(50), jitter, ..LinkConfig::PERFECT };
    check_alone(lossless, true);
}

#[test]
fn a_repeated_input_corrects_nothing_if_it_is_the_same() {
    // This link loses inputs.
    let mut session = check_alone(LOSSY, false);
    // The own walker is ahead of the server's, and the other one behind it.
    let walkers = session.clients[0].entities::<Walker>();
    let steps = |owner: u32| walkers.values().find(|of| of.owner == owner).unwrap().steps;
    assert!(walkers.len() == 2 && steps(0) > steps(1) + 3, "{walkers:?}");
}

#[test]
fn a_server_that_does_not_round_corrects_all_the_time() {
    let mut session = session(LOSSY, 1, false);
    session.server.add_systems(
        FixedUpdate,
        |mut commands: Commands, new: Query<Entity, Added<Rounded>>| {
            new.iter().for_each(|entity| _ = commands.entity(entity).remove::<Rounded>());
        },
    );
    run(&mut session, 180);
    let stats = counted(&mut session, 200);
    assert!(stats.corrected > 50, "{stats:?}");
}

#[test]
fn pushes_fade() {
    let mut session = session(LOSSY, 1, false);
    session.server.world_mut().resource_mut::<World>().push_every = Some(90);
    run(&mut session, 600);
    let stats = prediction(&session, 0).stats();
    assert!((5..20).contains(&stats.corrected) && stats.snapped == 0, "{stats:?}");
    let me = me(&session, 0);
    assert_eq!(me.corrected as u64, stats.corrected);
    let steps = me.heights.windows(2).map(|pair| (pair[1] - pair[0]).abs());
    let largest_m = steps.fold(0.0, f32::max);
    assert!(largest_m < 0.05, "{largest_m}");
    // Six pushes of half a metre, of which the last one still fades.
    let last = me.heights.last().unwrap();
    assert!((2.4..=3.0).contains(last), "{last}");
    run(&mut session, 40);
    check_equal(&session, 0);
}

#[test]
fn entities_are_added_and_removed() {
    let mut session = session(LOSSY, 2, false);
    run(&mut session, 120);
    let id = prediction(&session, 0).ids().next().unwrap();
    assert_eq!(prediction(&session, 0).ids().len(), 1);

    // Without the mark, playback writes the walker again.
    let own = |session: &mut Session| {
        let world = session.clients[0].app.world_mut();
        let own = world.query_filtered::<Entity, With<Predicted>>().single(world);
        own.ok()
    };
    let walker = own(&mut session).unwrap();
    session.clients[0].app.world_mut().entity_mut(walker).remove::<Predicted>();
    run(&mut session, 5);
    assert_eq!(prediction(&session, 0).ids().len(), 0);
    session.clients[0].app.world_mut().entity_mut(walker).insert(Predicted);
    run(&mut session, 60);
    check_equal(&session, 0);

    // The server removes it.
    let entity = session.entity(id.0).unwrap();
    session.server.world_mut().despawn(entity);
    run(&mut session, 60);
    assert_eq!(own(&mut session), None);
    assert_eq!(prediction(&session, 0).ids().len(), 0);
    assert_eq!(prediction(&session, 1).ids().len(), 1);
}

#[test]
fn a_new_connection_begins_anew() {
    let mut session = session(LOSSY, 1, false);
    run(&mut session, 120);
    check_equal(&session, 0);
    session.clients[0].app.world_mut().resource_mut::<MotionClient>().disconnect();
    run(&mut session, 1);
    let stopped = prediction(&session, 0);
    assert_eq!((stopped.ids().len(), stopped.newest()), (0, None));
    run(&mut session, 30);
    session.clients[0].app.world_mut().resource_mut::<Me>().owner = 1;
    session.reconnect(0);
    run(&mut session, 180);
    let stats = counted(&mut session, 120);
    assert!(stats.corrected == 0 && stats.confirmed > 80, "{stats:?}");
    check_equal(&session, 0);
    assert_eq!(prediction(&session, 0).failed(), 0);
}

/// Registers a second kind, which the same inputs move.
fn register_two(app: &mut App) {
    register(app);
    app.add_motion_kind::<(Bullet,)>("bullet").add_motion_prediction(
        PredictConfig::at_hz(TICK_HZ),
        |own: &mut [Own<(Bullet,)>], stick: &Stick, _| {
            own.iter_mut().for_each(|own| own.state.0.position[1] += stick.at[0] * 0.1);
        },
    );
}

#[test]
fn two_kinds_are_predicted_by_the_same_inputs() {
    let mut session = Session::of(register_two, LOSSY, 1, playing);
    let fly = |players: Query<&Player>, mut bullets: Query<&mut Bullet>| {
        for (mut bullet, Player(_, stick)) in bullets.iter_mut().zip(&players) {
            bullet.position[1] += stick.at[0] * 0.1;
        }
    };
    session.server.add_systems(FixedUpdate, fly.after(walk_all));
    session.server.world_mut().spawn((Bullet::default(), Rounded));
    let mark_all = |mut commands: Commands, new: Query<Entity, Added<Bullet>>| {
        new.iter().for_each(|bullet| _ = commands.entity(bullet).insert(Predicted));
    };
    session.clients[0].app.add_systems(Update, mark_all);
    run(&mut session, 150);
    let bullets = |session: &Session| {
        let world = session.clients[0].app.world();
        world.resource::<MotionPrediction<(Bullet,), Stick>>().stats()
    };
    let before = bullets(&session);
    let stats = counted(&mut session, 150);
    let after = bullets(&session);
    assert_eq!((stats.corrected, after.corrected), (0, before.corrected));
    assert!(stats.confirmed > 80 && after.confirmed > before.confirmed + 80, "{after:?}");
    check_equal(&session, 0);
}

#[test]
#[should_panic(expected = "is no input for ticks")]
fn only_inputs_for_ticks_predict() {
    let register = |app: &mut App| {
        app.add_motion_kind::<WalkerKind>("walker")
            .add_motion_input::<Steer>()
            .add_motion_prediction(
                PredictConfig::at_hz(TICK_HZ),
                |_: &mut [Own<WalkerKind>], _: &Steer, _| {},
            );
    };
    Session::of(register, LinkConfig::PERFECT, 1, |_| {});
}
