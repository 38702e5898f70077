//! Replicates 901 cubes or drones by `bevy_replicon` alone, and with Kinepack for the motion.
//! Measures the bytes on the wire, and the server's time for a tick.
//!
//! `cargo run --release -p bevy-comparisons --example beside_replicon`
//!
//! `alone.rs` is a game with replicon, and `beside.rs` is the same game with both libraries. `diff`
//! shows the differences. `by_hand.rs` is `alone.rs` with transforms that the game quantizes
//! itself.
//!
//! The program has three options. `--seconds 20` sets the length of the recorded motion, and
//! `--clients 1` the number of clients. `--precision-ms 2` sets the time precision of the last row.

mod alone;
mod beside;
mod by_hand;
mod network;
mod recording;
mod session;

use std::error::Error;

use bevy_app::{App, FixedUpdate, Startup};
use bevy_math::Vec3;
use bevy_time::{Fixed, Time, TimePlugin};
use bevy_transform::components::Transform;
use kinepack::profile::Bodies;
use kinepack::training::Training;
use kinepack::{EncodeError, EntityId, Level, Profile, Schema, Snapshot, Tick};
use kinepack_bevy::{MotionClientPlugin, MotionServerPlugin, MotionSettings, Part, Pose};
use kinepack_net::HubConfig;
use recording::{Numbered, Recording, TICK_HZ, move_cubes, spawn_cubes};
use session::{Session, option};

/// The number of ticks for the first states, which are not measured.
const WARM_UP_TICKS: u32 = 120;

/// Returns the positions of all cubes, by their numbers.
fn cubes_of<C: Numbered>(app: &mut App) -> Vec<(u64, Vec3)> {
    let world = app.world_mut();
    let mut cubes = world.query::<(&C, &Transform)>();
    let cubes =
        cubes.iter(world).map(|(cube, transform)| (cube.number().into(), transform.translation));
    let mut cubes: Vec<_> = cubes.collect();
    cubes.sort_unstable_by_key(|(number, _)| *number);
    cubes
}

/// Returns a server that sends nothing.
fn silent(recording: Recording) -> App {
    let mut app = App::new();
    app.add_plugins(TimePlugin)
        .insert_resource(Time::<Fixed>::from_hz(TICK_HZ.into()))
        .insert_resource(recording)
        .add_systems(Startup, spawn_cubes::<alone::Cube>)
        .add_systems(FixedUpdate, move_cubes::<alone::Cube>);
    app
}

/// Returns a profile for the cubes, trained on another recording.
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
            Bodies::from_schema(&schema, 2, [0.5; 3], Some(0.0)),
        )
    };
    Ok(training.run(&schema, &[run], |_| ())?.to_bytes())
}

/// Measures all ways to replicate a world, and prints a table.
fn compare(
    [recording, another]: [Recording; 2],
    ticks: u32,
    count: u32,
    precision_ms: u32,
) -> Result<(), Box<dyn Error>> {
    let profile = train(&another)?;
    let of = |client: &dyn Fn() -> App| (0..count).map(|_| client()).collect::<Vec<App>>();
    let measured = WARM_UP_TICKS..ticks;
    let silent = Session::new(silent(recording.clone()), Vec::new(), TICK_HZ, |_| Vec::new())?
        .measure(measured.clone(), 0.0)?;
    let alone = alone::server(recording.clone());
    let alone = Session::new(alone, of(&alone::client), TICK_HZ, cubes_of::<alone::Cube>)?
        .measure(measured.clone(), 0.0)?;
    let by_hand = by_hand::server(recording.clone());
    let by_hand = Session::new(by_hand, of(&by_hand::client), TICK_HZ, cubes_of::<by_hand::Cube>)?
        .measure(measured.clone(), 0.01)?;
    let beside = |settings: MotionSettings| {
        let of_client = MotionClientPlugin::new(settings.clone());
        let clients = of(&|| beside::client(of_client.clone()));
        // All drones together take more than the four datagrams of the default.
        let hub = HubConfig { datagrams_per_tick: 16, ..HubConfig::default() };
        let of_server = MotionServerPlugin { hub, ..MotionServerPlugin::new(settings) };
        let server = beside::server(recording.clone(), of_server);
        Session::new(server, clients, TICK_HZ, cubes_of::<beside::Cube>)?
            .measure(measured.clone(), 0.01)
    };
    let at = |level| MotionSettings { level, ..MotionSettings::at_hz(TICK_HZ) };
    let trained =
        || MotionSettings { profile: Some(profile.clone().into()), ..at(Level::LEARNING) };
    let late = || MotionSettings { time_precision_ms: Some(precision_ms.into()), ..trained() };
    let coarse = format!("`LEARNING`, trained, {precision_ms} ms");
    let rows = [
        ("`bevy_replicon` alone", alone),
        ("alone, transforms quantized by hand", by_hand),
        ("with Kinepack, `PACKED`", beside(at(Level::PACKED))?),
        ("with Kinepack, `ADAPTIVE`, the default", beside(at(Level::ADAPTIVE))?),
        ("with Kinepack, `LEARNING`", beside(at(Level::LEARNING))?),
        ("`LEARNING`, trained", beside(trained())?),
        (&coarse, beside(late())?),
    ];
    let seconds = f64::from(ticks - WARM_UP_TICKS) / f64::from(TICK_HZ);
    session::print(&rows, silent, seconds);
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let (seconds, clients) = (option("--seconds", 20)?, option("--clients", 1)?);
    let precision_ms = option("--precision-ms", 2)?;
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
        compare(recordings, ticks, clients, precision_ms)?;
    }
    Ok(())
}
