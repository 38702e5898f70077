//! 901 cubes or drones, replicated by `bevy_replicon` alone and with Kinepack's motion beside it: bytes on
//! the wire, and the server's time for a tick.
//!
//! `cargo run --release -p kinepack-bevy --features replicon --example beside_replicon`
//!
//! `alone.rs` is a game with replicon, and `beside.rs` is the same game with both. `diff` shows
//! what changes. `by_hand.rs` is `alone.rs` with transforms that the game quantizes itself.
//!
//! Options: `--seconds 20`, of the recorded motion; `--clients 1`.

mod alone;
mod beside;
mod by_hand;
mod network;
mod recording;

use std::error::Error;
use std::marker::PhantomData;
use std::time::{Duration, Instant};

use bevy_app::{App, FixedUpdate, Startup};
use bevy_math::Vec3;
use bevy_time::{Fixed, Time, TimePlugin, TimeUpdateStrategy};
use bevy_transform::components::Transform;
use kinepack::profile::Bodies;
use kinepack::training::Training;
use kinepack::{EncodeError, EntityId, Level, Profile, Schema, Snapshot, Tick};
use kinepack_bevy::{MotionClientPlugin, MotionServerPlugin, MotionSettings, Part, Pose};
use kinepack_net::HubConfig;
use network::{Connection, PACKET_BYTES, Traffic};
use recording::{Numbered, Recording, TICK_HZ, move_cubes, spawn_cubes};

/// Ticks for the first states, which are not measured.
const WARM_UP_TICKS: u32 = 120;
/// Ticks after the recording, in which the clients catch up.
const CATCH_UP_TICKS: u32 = 90;

/// A server and its clients.
struct Game<C> {
    server: App,
    clients: Vec<(App, Connection)>,
    cube: PhantomData<C>,
}

/// Longer messages than a packet: the backend slices them, and a lost slice loses the message.
const SLICED_BYTES: usize = 16_000;

/// What a run took.
#[derive(Clone, Copy)]
struct Measured {
    down: Traffic,
    up: Traffic,
    /// The median of the server's frames.
    frame: Duration,
}

impl<C: Numbered> Game<C> {
    fn new(mut server: App, clients: Vec<App>) -> Result<Self, Box<dyn Error>> {
        prepare(&mut server);
        let connect = |(seed, mut client): (u64, App)| {
            prepare(&mut client);
            let connection = Connection::new(&mut server, &mut client, seed)?;
            Ok((client, connection))
        };
        let clients = (0..).zip(clients).map(connect).collect::<Result<_, Box<dyn Error>>>()?;
        Ok(Self { server, clients, cube: PhantomData })
    }

    /// One frame of all apps. Returns the time that the server took.
    fn step(&mut self, tick: u32) -> Duration {
        let now = Duration::from_secs(1) * tick / TICK_HZ;
        let start = Instant::now();
        self.server.update();
        let frame = start.elapsed();
        for (client, connection) in &mut self.clients {
            connection.exchange_down(now, &mut self.server);
            client.update();
            connection.exchange_up(now, client);
        }
        frame
    }

    /// What the first client received and sent so far.
    fn traffic(&self) -> [Traffic; 2] {
        self.clients.first().map_or_else(Default::default, |(_, first)| first.traffic())
    }

    /// Runs through `ticks` ticks of the recording. `tolerance_m` is how far a client's cube may be
    /// from the server's at the end.
    fn measure(mut self, ticks: u32, tolerance_m: f32) -> Result<Measured, Box<dyn Error>> {
        (0..WARM_UP_TICKS).for_each(|tick| _ = self.step(tick));
        let before = self.traffic();
        let mut frames: Vec<Duration> =
            (WARM_UP_TICKS..ticks).map(|tick| self.step(tick)).collect();
        let after = self.traffic();
        (ticks..ticks + CATCH_UP_TICKS).for_each(|tick| _ = self.step(tick));
        let cubes = cubes_of::<C>(&mut self.server);
        for (client, _) in &mut self.clients {
            let shown = cubes_of::<C>(client);
            let are_same = |(a, b): (&(u32, Vec3), &(u32, Vec3))| {
                a.0 == b.0 && a.1.distance(b.1) <= tolerance_m
            };
            if shown.len() != cubes.len() || !shown.iter().zip(&cubes).all(are_same) {
                return Err("a client does not show what the server has".into());
            }
        }
        frames.sort_unstable();
        let [down, up] = [0, 1].map(|direction| after[direction] - before[direction]);
        Ok(Measured { down, up, frame: frames[frames.len() / 2] })
    }
}

fn prepare(app: &mut App) {
    app.insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
    app.finish();
    app.cleanup();
}

/// The positions of all cubes, by their numbers.
fn cubes_of<C: Numbered>(app: &mut App) -> Vec<(u32, Vec3)> {
    let world = app.world_mut();
    let mut cubes = world.query::<(&C, &Transform)>();
    let cubes = cubes.iter(world).map(|(cube, transform)| (cube.number(), transform.translation));
    let mut cubes: Vec<_> = cubes.collect();
    cubes.sort_unstable_by_key(|(number, _)| *number);
    cubes
}

/// The value of an option such as `--clients`.
fn option(name: &str, default: u32) -> Result<u32, Box<dyn Error>> {
    let given = std::env::args().skip_while(|argument| argument != name).nth(1);
    Ok(given.map(|value| value.parse()).transpose()?.unwrap_or(default))
}

/// A server that sends nothing.
fn silent(recording: Recording) -> App {
    let mut app = App::new();
    app.add_plugins(TimePlugin)
        .insert_resource(Time::<Fixed>::from_hz(TICK_HZ.into()))
        .insert_resource(recording)
        .add_systems(Startup, spawn_cubes::<alone::Cube>)
        .add_systems(FixedUpdate, move_cubes::<alone::Cube>);
    app
}

/// A profile for the cubes, trained on another recording.
fn train(recording: &Recording) -> Result<Vec<u8>, Box<dyn Error>> {
    let schema = Schema::builder().kind::<beside::CubeKind>("cube").build()?;
    let snapshot = |(tick, cubes): (u32, &Vec<Transform>)| {
        let mut snapshot = Snapshot::new(&schema, Tick(tick));
        let poses = cubes.iter().map(|transform| (Pose::read(transform),));
        snapshot.extend::<beside::CubeKind>((0..).map(EntityId).zip(poses))?;
        Ok(snapshot)
    };
    let run: Vec<Snapshot> =
        (0..).zip(recording.ticks.iter()).map(snapshot).collect::<Result<_, EncodeError>>()?;
    let structure = Profile::untrained(&schema);
    let training = Training {
        passes: 4,
        snapshots_per_pass: 400,
        ..Training::new(
            Profile { model: None, ..structure },
            Bodies::of(&schema, 2, [0.5; 3], Some(0.0)),
        )
    };
    Ok(training.run(&schema, &[run], |_| ())?.to_bytes())
}

/// Measures all ways to replicate a world, and prints a table.
fn compare(
    [recording, another]: [Recording; 2],
    ticks: u32,
    count: u32,
) -> Result<(), Box<dyn Error>> {
    let profile = train(&another)?;
    let of = |client: &dyn Fn() -> App| (0..count).map(|_| client()).collect::<Vec<App>>();
    let silent = Game::<alone::Cube>::new(silent(recording.clone()), Vec::new())?;
    let silent = silent.measure(ticks, 0.0)?;
    let alone = Game::<alone::Cube>::new(alone::server(recording.clone()), of(&alone::client))?;
    let alone = alone.measure(ticks, 0.0)?;
    let by_hand = by_hand::server(recording.clone());
    let by_hand = Game::<by_hand::Cube>::new(by_hand, of(&by_hand::client))?;
    let by_hand = by_hand.measure(ticks, 0.01)?;
    let beside = |settings: MotionSettings, datagram_bytes| {
        let of_client = MotionClientPlugin::new(settings.clone());
        let clients = of(&|| beside::client(of_client.clone()));
        // All drones at once take more than the four datagrams of the default.
        let hub = HubConfig { datagram_bytes, datagrams_per_tick: 16, ..HubConfig::default() };
        let of_server = MotionServerPlugin { hub, ..MotionServerPlugin::new(settings) };
        let server = beside::server(recording.clone(), of_server);
        Game::<beside::Cube>::new(server, clients)?.measure(ticks, 0.01)
    };
    let at = |level| MotionSettings { level, ..MotionSettings::at_hz(TICK_HZ) };
    let trained =
        || MotionSettings { profile: Some(profile.clone().into()), ..at(Level::LEARNING) };
    let late = || MotionSettings { time_precision_ms: Some(2.0), ..trained() };
    let rows = [
        ("`bevy_replicon` alone", alone),
        ("alone, transforms quantized by hand", by_hand),
        ("with Kinepack, `PACKED`", beside(at(Level::PACKED), PACKET_BYTES)?),
        ("with Kinepack, `ADAPTIVE`, the default", beside(at(Level::ADAPTIVE), PACKET_BYTES)?),
        ("with Kinepack, `LEARNING`", beside(at(Level::LEARNING), PACKET_BYTES)?),
        ("`LEARNING`, trained", beside(trained(), PACKET_BYTES)?),
        ("`LEARNING`, trained, 2 ms", beside(late(), PACKET_BYTES)?),
        ("`LEARNING`, trained, in slices", beside(trained(), SLICED_BYTES)?),
        ("`LEARNING`, trained, 2 ms, in slices", beside(late(), SLICED_BYTES)?),
    ];
    println!("| | kB/s | of alone | with headers | kB/s up, with headers | ms a tick |");
    println!("|---|--:|--:|--:|--:|--:|");
    let seconds = f64::from(ticks - WARM_UP_TICKS) / f64::from(TICK_HZ);
    let kb_per_s = |bytes: u64| bytes as f64 / 1_000.0 / seconds;
    let percent = |part: u64, all: u64| part as f64 / all as f64 * 100.0;
    for (name, Measured { down, up, frame }) in rows {
        println!(
            "| {name} | {:.1} | {:.1} % | {:.1} % | {:.1} | {:.2} |",
            kb_per_s(down.bytes),
            percent(down.bytes, alone.down.bytes),
            percent(down.bytes_with_headers(), alone.down.bytes_with_headers()),
            kb_per_s(up.bytes_with_headers()),
            frame.saturating_sub(silent.frame).as_secs_f64() * 1_000.0,
        );
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let (seconds, clients) = (option("--seconds", 20)?, option("--clients", 1)?);
    let ticks = WARM_UP_TICKS + seconds * TICK_HZ;
    println!(
        "{TICK_HZ} Hz for {seconds} s, {clients} clients, 100 ms round trip, 1 % loss. Bytes are \
         those of the first client.\nThe time is the server's, for all clients, without the game \
         itself."
    );
    let worlds = [
        ("cubes", [Recording::cubes(ticks, 1)?, Recording::cubes(ticks, 2)?]),
        ("drones", [Recording::drones(ticks, 1), Recording::drones(ticks, 2)]),
    ];
    for (name, recordings) in worlds {
        let [first, _] = &recordings;
        let moving = first.moving_ratio() * 100.0;
        println!("\n{} {name}, {moving:.0} % of them moving:\n", first.ticks[0].len());
        compare(recordings, ticks, clients)?;
    }
    Ok(())
}
