//! Tests that a hub finds where a receiver showed entities in the world, if they are relative to
//! others that come and go: a passenger may change to a ship that is not shown yet.

use std::collections::VecDeque;
use std::time::Duration;

use kinepack::frame::Motion;
use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
use kinepack_net::{
    Hub, HubConfig, Link, LinkConfig, Loss, Playback, Receiver, ReceiverConfig, ReceiverId,
    ReceiverOptions, RewindConfig, Seen,
};

use crate::support::{Random, TICK_HZ};

const ID: ReceiverId = ReceiverId(5);
const SHIPS: u32 = 6;
const BOATS: u32 = 6;
const SAILORS: u32 = 24;

#[derive(Pack, Clone, Debug, PartialEq)]
struct Ship {
    #[pack(body, range = -512.0..512.0, precision = 1.0 / 256.0)]
    position: [f64; 3],
    #[pack(body, rotation, bits = 12)]
    rotation: [f32; 4],
}

/// A boat may be on a ship.
#[derive(Pack, Clone, Debug, PartialEq)]
struct Boat {
    #[pack(frame = ship, range = -512.0..512.0, precision = 1.0 / 256.0)]
    position: [f64; 3],
    ship: Option<EntityId>,
}

/// A sailor may be on a boat.
#[derive(Pack, Clone, Debug, PartialEq)]
struct Sailor {
    #[pack(frame = boat, range = -512.0..512.0, precision = 1.0 / 256.0)]
    position: [f64; 3],
    boat: Option<EntityId>,
}

/// A place in the world, to the bit: the position, the rotation and the velocity. `None` if it is
/// not known.
type Drawn = (EntityId, Option<[u64; 10]>);

fn bits(motion: Option<Motion>) -> Option<[u64; 10]> {
    let Motion { place, velocity, .. } = motion?;
    let mut all = place.position.into_iter().chain(place.rotation).chain(velocity);
    Some(std::array::from_fn(|_| all.next().unwrap().to_bits()))
}

fn drawn(playback: &Playback<'_>) -> Vec<Drawn> {
    let samples = playback.samples();
    samples.map(|sample| (sample.id, bits(playback.motion(&sample).ok()))).collect()
}

/// Ships and boats are away for two thirds of a second of each three seconds.
fn is_away(tick: u32, nth: u32) -> bool {
    (tick + 37 * nth) % 180 < 40
}

fn world(schema: &Schema, random: &mut Random, tick: u32) -> Snapshot {
    let at = |nth: u32, speed: f64| {
        let angle = speed * f64::from(nth + 1) * f64::from(tick);
        ([f64::from(20 * nth) + 30.0 * angle.cos(), 30.0 * angle.sin(), 1.0], angle / 2.0)
    };
    let mut world = Snapshot::new(schema, Tick(tick));
    for nth in (0..SHIPS).filter(|nth| !is_away(tick, *nth)) {
        let (position, half) = at(nth, 0.004);
        let rotation = [0.0, 0.0, half.sin() as f32, half.cos() as f32];
        world.push(EntityId(1 + nth), &Ship { position, rotation }).unwrap();
    }
    for nth in (0..BOATS).filter(|nth| !is_away(tick, nth + 10)) {
        let ship = (tick / 50 + nth) % (SHIPS + 2);
        let ship = (ship < SHIPS).then_some(EntityId(1 + ship));
        world.push(EntityId(101 + nth), &Boat { position: at(nth, 0.002).0, ship }).unwrap();
    }
    for nth in 0..SAILORS {
        let boat = (tick / 30 + nth) % (BOATS + 2);
        let boat = (boat < BOATS).then_some(EntityId(101 + boat));
        let position = [3.0 + f64::from(random.unit()), f64::from(nth), 0.5];
        world.push(EntityId(201 + nth), &Sailor { position, boat }).unwrap();
    }
    world
}

/// Returns how many places were compared, and how many of them were known.
fn run(budget: Option<u32>, seed: u64) -> [usize; 2] {
    let schema = Schema::builder().kind::<Ship>("ship").kind::<Boat>("boat");
    let schema = schema.kind::<Sailor>("sailor").build().unwrap();
    let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema)).unwrap();
    let mut hub = Hub::new(&codec, HubConfig::default()).unwrap();
    let config = RewindConfig { longest: Duration::from_secs(3), ..RewindConfig::at_hz(TICK_HZ) };
    hub.set_rewind(Some(config)).unwrap();
    let options = ReceiverOptions { budget: budget.into(), ..ReceiverOptions::default() };
    hub.add(ID, &options, Duration::ZERO).unwrap();
    let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(TICK_HZ)).unwrap();
    let link = LinkConfig {
        latency: Duration::from_millis(40),
        jitter: Duration::from_millis(30),
        loss: Loss::Independent { ratio: 0.08 },
        ..LinkConfig::default()
    };
    let [mut down, mut up] = [0, 1].map(|way| Link::new(link, 2 * seed + way).unwrap());
    let mut random = Random::new(seed);
    let mut stamps: VecDeque<(u32, Seen, Vec<Drawn>)> = VecDeque::new();
    let mut compared = [0; 2];
    for tick in 1..=600 {
        let begin = Duration::from_secs(1) * tick / TICK_HZ;
        let now = begin + Duration::from_micros(random.below(8_000));
        while let Some(datagram) = down.poll(now) {
            let _ = receiver.handle(now, &datagram);
        }
        if let Some(frame) = receiver.playback(now).map(|playback| drawn(&playback)) {
            stamps.push_back((tick + 5, receiver.seen().unwrap(), frame));
        }
        let now = begin + Duration::from_micros(16_000);
        while let Some(datagram) = receiver.poll_transmit(now) {
            up.send(now, datagram);
        }
        while let Some(datagram) = up.poll(now) {
            let _ = hub.handle(ID, now, &datagram);
        }
        while let Some((_, seen, frame)) = stamps.pop_front_if(|(at, ..)| *at <= tick) {
            let past = hub.rewind(ID, seen).unwrap();
            for (id, place) in frame {
                let found = bits(past.motion(id).ok());
                assert_eq!(found, place, "seed {seed}, tick {tick}, entity {}", id.0);
                let sailor = past.in_world::<Sailor>(id).map(|sailor| sailor.position);
                let position = place.filter(|_| id.0 > 200).map(|place| [place[0], place[1]]);
                let found = sailor.ok().map(|[x, y, _]| [x.to_bits(), y.to_bits()]);
                assert_eq!(found, position, "seed {seed}, tick {tick}, entity {}", id.0);
                compared[0] += 1;
                compared[1] += usize::from(place.is_some());
            }
        }
        hub.tick(now, &world(&schema, &mut random, tick)).unwrap();
        while let Some((_, datagram)) = hub.poll_transmit() {
            down.send(now, datagram);
        }
    }
    compared
}

#[test]
fn places_on_ships_that_come_and_go_are_found() {
    for (budget, seed) in [(None, 0), (Some(6_000), 1), (Some(3_000), 2), (Some(3_000), 3)] {
        let [compared, known] = run(budget, seed);
        assert!(compared > 10_000 && known > compared / 2, "{known} of {compared}");
        // Some are on a ship that has not arrived.
        assert!(known < compared, "{known} of {compared}");
    }
}
