//! Tests of inputs for ticks: the client's clock leads the server, and the server gets each input
//! in its tick.

use std::time::Duration;

use bevy_app::{App, FixedUpdate};
use bevy_ecs::prelude::*;
use bevy_time::{Fixed, Time};
use kinepack::Tick;
use kinepack_bevy::{
    Input, InputTick, MotionAppExt, MotionClient, MotionInputClock, MotionInputs, MotionServer,
    MotionSettings,
};
use kinepack_net::{LinkConfig, ReceiverId, Sequence, StreamReceiverStats};

use crate::support::{Bullet, Chat, LOSSY, Session, Steer, TICK_HZ, register};

fn register_for_ticks(app: &mut App) {
    app.add_motion_kind::<(Bullet,)>("bullet")
        .add_motion_tick_input::<Steer>()
        .add_motion_input::<Chat>();
}

/// What the server read in its ticks, and the ticks that a client simulated.
#[derive(Resource, Default)]
struct Noted {
    steers: Vec<(Tick, ReceiverId, u16)>,
    chats: usize,
    simulated: Vec<Tick>,
}

fn read(
    server: Option<Res<MotionServer>>,
    mut steers: MessageReader<Input<Steer>>,
    mut chats: MessageReader<Input<Chat>>,
    mut bullets: Query<&mut Bullet>,
    mut noted: ResMut<Noted>,
) {
    let Some(server) = server else { return };
    let tick = Tick(server.state().tick.0 + 1);
    for Input { client, number, late, input } in steers.read() {
        assert!(*number == Sequence::from(tick) && !late);
        noted.steers.push((tick, *client, input.count));
    }
    noted.chats += chats.read().count();
    for mut bullet in &mut bullets {
        bullet.position[0] += 0.1;
    }
}

fn steer(
    clock: Res<MotionInputClock>,
    time: Res<Time>,
    fixed: Res<Time<Fixed>>,
    mut steers: ResMut<MotionInputs<Steer>>,
    mut noted: ResMut<Noted>,
) -> Result {
    assert_eq!(time.delta(), fixed.timestep());
    assert_eq!(time.elapsed(), time.delta() * clock.tick().0);
    noted.simulated.push(clock.tick());
    steers.push_for_tick(clock.tick(), &Steer { x: 0.5, count: clock.tick().0 as u16 })?;
    Ok(())
}

fn chat(chats: Option<ResMut<MotionInputs<Chat>>>) -> Result {
    if let Some(mut chats) = chats {
        chats.push(&Chat { line: 7 })?;
    }
    Ok(())
}

fn noting(app: &mut App) {
    app.init_resource::<Noted>()
        .add_systems(FixedUpdate, (read, chat))
        .add_systems(InputTick, steer);
}

fn noted(app: &App) -> &Noted {
    app.world().resource::<Noted>()
}

fn clock(session: &Session, client: usize) -> &MotionInputClock {
    session.clients[client].app.world().resource::<MotionInputClock>()
}

fn stats(session: &Session, client: u64) -> StreamReceiverStats {
    session.server().input_stats::<Steer>(ReceiverId(client)).expect("inputs have arrived")
}

/// How many of the ticks from `before` to `after` had an input.
fn in_time_ratio(before: StreamReceiverStats, after: StreamReceiverStats) -> f64 {
    let in_time = (after.in_time - before.in_time) as f64;
    in_time / (in_time + (after.missed - before.missed) as f64)
}

#[test]
fn the_server_reads_each_input_in_its_tick() {
    let mut session = Session::of(register_for_ticks, LOSSY, 2, noting);
    session.server.world_mut().spawn(Bullet::default());
    session.run(150);
    let before = [0, 1].map(|client| stats(&session, client));
    session.run(300);
    for client in [0, 1] {
        let after = stats(&session, client);
        // The link loses one input in 100, although each packet repeats one.
        let ratio = in_time_ratio(before[client as usize], after);
        assert!(ratio > 0.97, "{ratio}");
        let steers = &noted(&session.server).steers;
        let read = steers.iter().filter(|(_, from, _)| *from == ReceiverId(client));
        assert_eq!(read.clone().count() as u64, after.in_time);
        assert!(read.clone().is_sorted_by(|a, b| a.0 < b.0), "one for each tick");
        assert!(read.clone().all(|(tick, _, count)| *count == tick.0 as u16));
        assert_eq!(session.clients[client as usize].motion().stats().refused, 0);
    }
    for client in [0, 1] {
        let clock = clock(&session, client);
        assert!(clock.clock().stats().reports > 100, "{:?}", clock.clock().stats());
        // The way to the server takes 40 to 55 ms, and 30 ms more for the few overtaken packets.
        let lead_ticks = clock.clock().tick() - f64::from(session.server().state().tick.0);
        assert!((2.0..7.0).contains(&lead_ticks), "{lead_ticks}");
        let simulated = &noted(&session.clients[client].app).simulated;
        assert!(simulated.is_sorted_by(|a, b| a < b), "each tick once");
        assert_eq!(simulated.last(), Some(&clock.tick()));
    }
    // Inputs that are not for ticks arrive as before.
    assert!(noted(&session.server).chats > 800, "{}", noted(&session.server).chats);
    let of_chats = session.server().input_stats::<Chat>(ReceiverId(0)).expect("chats");
    assert_eq!((of_chats.in_time, of_chats.missed), (0, 0));
}

#[test]
fn more_repeats_lose_fewer_inputs() {
    let in_time = |input_repeats| {
        let settings = MotionSettings { input_repeats, ..MotionSettings::at_hz(TICK_HZ) };
        let mut session = Session::with(settings, register_for_ticks, LOSSY, 1, noting);
        session.run(100);
        let before = stats(&session, 0);
        session.run(300);
        in_time_ratio(before, stats(&session, 0))
    };
    let [without, with] = [0, 7].map(in_time);
    assert!(without < 0.97 && with > 0.98, "{without}, {with}");
}

#[test]
fn the_clock_learns_while_the_world_rests() {
    let mut session = Session::of(register_for_ticks, LOSSY, 1, noting);
    session.run(300);
    assert!(session.states.values().all(kinepack::Snapshot::is_empty));
    // The hub itself sends four datagrams a second, and the link delivers some packets together.
    let reports = clock(&session, 0).clock().stats().reports;
    assert!(reports > 120, "{reports}");
    let stats = stats(&session, 0);
    assert!(in_time_ratio(StreamReceiverStats::default(), stats) > 0.9, "{stats:?}");
}

#[test]
fn a_new_connection_starts_the_clock_again() {
    let delayed = LinkConfig { latency: Duration::from_millis(30), ..LinkConfig::PERFECT };
    let mut session = Session::of(register_for_ticks, delayed, 1, noting);
    session.server.world_mut().spawn(Bullet::default());
    session.run(120);
    assert!(clock(&session, 0).clock().is_started());
    session.clients[0].app.world_mut().resource_mut::<MotionClient>().disconnect();
    session.run(2);
    assert!(!clock(&session, 0).clock().is_started());
    session.run(30);
    session.reconnect(0);
    session.run(60);
    let before = stats(&session, 1);
    session.run(120);
    let after = stats(&session, 1);
    assert_eq!((after.missed - before.missed, after.in_time - before.in_time), (0, 120));
    assert!(session.server().input_stats::<Steer>(ReceiverId(0)).is_none(), "it is gone");
}

#[test]
fn without_inputs_for_ticks_there_is_no_clock() {
    let setup = |app: &mut App| {
        app.add_systems(InputTick, || panic!("no tick to simulate"));
    };
    let mut session = Session::of(register, LinkConfig::PERFECT, 1, setup);
    session.run(60);
    let client = &session.clients[0];
    assert!(client.motion().stats().status.server_tick.is_some());
    assert!(!client.app.world().contains_resource::<MotionInputClock>());
    assert!(session.server().input_stats::<Bullet>(ReceiverId(0)).is_none(), "no input");
}
