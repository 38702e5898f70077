//! Tests the module's classes as the pages call them.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::collections::HashMap;
use std::time::Duration;

use demo_module::{CountingReceiver, Simulation};
use kinepack::group::GroupWriter;
use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
use kinepack_net::{Hub, HubConfig, ReceiverId, ReceiverOptions};

const TICK_HZ: u32 = 60;
const BODIES: u32 = 5;
const PAGE: ReceiverId = ReceiverId(1);

#[derive(Pack)]
struct Body {
    #[pack(range = -64.0..64.0, precision = 0.01)]
    position: [f32; 3],
    #[pack(max = 100)]
    health: u8,
}

/// Returns a world of bodies, of which only the first one moves.
fn world(schema: &Schema, tick: u32) -> Snapshot {
    let mut world = Snapshot::new(schema, Tick(tick));
    for id in 0..BODIES {
        let time = if id == 0 { tick as f32 / TICK_HZ as f32 } else { 0.0 };
        let position = [id as f32 + time.sin(), 2.0 * time.cos(), 0.25];
        world.push(EntityId(id), &Body { position, health: id as u8 }).unwrap();
    }
    world
}

fn codec(level: Level) -> Codec {
    let schema = Schema::of::<Body>();
    Codec::new(schema.clone(), level, Profile::untrained(&schema)).unwrap()
}

fn named(names: &str, numbers: Vec<f64>) -> HashMap<&str, f64> {
    assert_eq!(names.split(' ').count(), numbers.len());
    names.split(' ').zip(numbers).collect()
}

/// Two seconds of the world as the file of `demo --export`.
fn recorded() -> Vec<u8> {
    let codec = codec(Level::LEARNING);
    let mut writer = GroupWriter::new(&codec);
    let mut file = Vec::new();
    for second in 0..2 {
        let mut group = Vec::new();
        writer.begin(None);
        for tick in 0..TICK_HZ {
            let world = world(codec.schema(), second * TICK_HZ + tick);
            writer.write(&world, &mut group).unwrap();
        }
        file.extend((group.len() as u32).to_le_bytes());
        file.append(&mut group);
    }
    file
}

#[test]
fn a_simulated_world_arrives_at_each_level_again_and_again() {
    let schema = Schema::of::<Body>();
    let profile = Profile::untrained(&schema).to_bytes();
    let mut simulation =
        Simulation::new(recorded(), &schema.to_bytes(), &profile, "learning", TICK_HZ).unwrap();
    simulation.set_link(80.0, 10.0, 0.1).unwrap();
    let names = simulation.stat_names();
    let mut frame = 0;
    for level in ["learning", "adaptive", "packed"] {
        simulation.set_level(level).unwrap();
        simulation.set_delays(50.0, 1000.0).unwrap();
        let mut stats = HashMap::new();
        for _ in 0..5 * TICK_HZ {
            frame += 1;
            simulation.advance(f64::from(frame) * 1e3 / f64::from(TICK_HZ)).unwrap();
            stats = named(&names, simulation.stats());
            assert_eq!(stats["wrong_lanes"], 0.0);
        }
        let behind = stats["tick"] - stats["shown_tick"];
        assert!((1.0..30.0).contains(&behind), "{stats:?}");
        assert!(stats["baseline_ticks"] >= 4.0, "{stats:?}");
        assert!(stats["round_trip_ms"] >= 80.0, "{stats:?}");
        assert!(stats["playout_ms"] >= 50.0, "{stats:?}");
        assert!((0.01..0.3).contains(&stats["lost_ratio"]), "{stats:?}");
        assert!(stats["payload_bytes"] > 0.0 && stats["header_bytes"] > 0.0, "{stats:?}");
        assert_eq!(simulation.heat_count(), BODIES as usize);
    }
}

#[test]
fn the_costs_of_an_entity() {
    let codec = codec(Level::ADAPTIVE);
    let (schema, profile) = (codec.schema().to_bytes(), codec.profile().to_bytes());
    let mut hub = Hub::new(&codec, HubConfig::default()).unwrap();
    hub.add(PAGE, &ReceiverOptions::default(), Duration::ZERO).unwrap();
    let mut receiver = CountingReceiver::new(&schema, "adaptive", &profile, TICK_HZ).unwrap();
    assert!(!receiver.handle(0.0, b"noise"));
    let names = receiver.look_names();
    assert_eq!(named(&names, receiver.look(0))["bits"], 0.0);
    assert_eq!((receiver.known_lanes(0), receiver.baseline_lanes(0)), (None, None));
    let stat_names = receiver.stat_names();
    assert!(named(&stat_names, receiver.stats(0.0))["baseline_ticks"].is_nan());

    let mut last = 0.0;
    for tick in 1..=20 {
        let now = Duration::from_secs(1) * tick / TICK_HZ;
        let now_ms = now.as_secs_f64() * 1e3;
        while let Some(datagram) = receiver.poll_transmit(now_ms) {
            hub.handle(PAGE, now, &datagram).unwrap();
        }
        hub.tick(now, &world(codec.schema(), tick)).unwrap();
        while let Some((_, datagram)) = hub.poll_transmit() {
            assert!(receiver.handle(now_ms, datagram));
        }
        last = now_ms;
    }
    let newest = world(codec.schema(), 20);
    let lanes = |world: &Snapshot| world.lanes_at(0).collect::<Vec<u32>>();
    let moved = named(&names, receiver.look(0));
    assert!(moved["bits"] > 0.0 && moved["bits"] <= moved["packet_bits"], "{moved:?}");
    assert_eq!((moved["tick"], moved["baseline_tick"]), (20.0, 19.0));
    assert_eq!(receiver.known_lanes(0), Some(lanes(&newest)));
    assert_eq!(receiver.baseline_lanes(0), Some(lanes(&world(codec.schema(), 19))));
    let still = named(&names, receiver.look(1));
    assert_eq!(still["bits"], 0.0);
    assert!(still["baseline_tick"].is_nan());
    assert!(receiver.known_lanes(1).is_some());
    assert_eq!(receiver.baseline_lanes(1), None);
    assert_eq!(receiver.known_lanes(BODIES), None);
    assert_eq!(named(&stat_names, receiver.stats(last))["baseline_ticks"], 1.0);
    assert_eq!(receiver.heat_count(), BODIES as usize);
    assert!(receiver.play(last).unwrap());
}
