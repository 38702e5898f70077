//! Tests of frames over a network: passengers of a ship, in playback and in rings.

use std::sync::Arc;
use std::time::Duration;

use kinepack::frame::FrameError;
use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
use kinepack_net::{
    Hub, HubConfig, Link, LinkConfig, Loss, Playback, Receiver, ReceiverConfig, ReceiverId,
    ReceiverOptions, Ring, Rings,
};

use crate::support::{TICK_HZ, exchange};

#[derive(Pack, Clone, Debug, PartialEq)]
struct Ship {
    #[pack(body, range = -1024.0..1024.0, precision = 1.0 / 512.0)]
    position: [f64; 3],
    #[pack(body, rotation, bits = 12)]
    rotation: [f32; 4],
}

#[derive(Pack, Clone, Debug, PartialEq)]
struct Passenger {
    #[pack(frame = ship, range = -1024.0..1024.0, precision = 1.0 / 512.0)]
    position: [f64; 3],
    ship: Option<EntityId>,
}

const ID: ReceiverId = ReceiverId(1);
const SHIP: EntityId = EntityId(1);
const QUAY: [f64; 3] = [100.0, 0.0, 0.0];

fn schema() -> Schema {
    Schema::builder().kind::<Ship>("ship").kind::<Passenger>("passenger").build().unwrap()
}

/// A ship that turns at 45°/s and sails at 10 m/s.
fn ship(tick: u32) -> Ship {
    let seconds = f64::from(tick) / f64::from(TICK_HZ);
    let (sine, cosine) = (seconds * 45_f64.to_radians() / 2.0).sin_cos();
    let x = (seconds * 10.0 + 512.0) % 1024.0 - 512.0;
    Ship { position: [x, 20.0, 1.0], rotation: [0.0, 0.0, sine as f32, cosine as f32] }
}

/// Where a passenger stands on the deck.
fn deck(passenger: u32) -> [f64; 3] {
    [f64::from(passenger) * 3.0, -2.0, 4.0]
}

/// A ship with two passengers, of whom the second one walks on the quay in every other second.
fn world(tick: u32) -> Snapshot {
    let mut world = Snapshot::new(&schema(), Tick(tick));
    world.push(SHIP, &ship(tick)).unwrap();
    world.push(EntityId(10), &Passenger { position: deck(10), ship: Some(SHIP) }).unwrap();
    let is_ashore = tick / TICK_HZ % 2 == 1;
    let (position, ship) = if is_ashore { (QUAY, None) } else { (deck(11), Some(SHIP)) };
    world.push(EntityId(11), &Passenger { position, ship }).unwrap();
    world
}

struct Session {
    hub: Hub,
    receiver: Receiver,
    links: [Link; 2],
}

impl Session {
    fn new(loss: Loss) -> Self {
        let schema = schema();
        let profile = Profile::untrained(&schema);
        let codec = Codec::new(schema, Level::ADAPTIVE, profile).unwrap();
        let mut hub = Hub::new(&codec, HubConfig::default()).unwrap();
        hub.add(ID, &ReceiverOptions::default(), Duration::ZERO).unwrap();
        let receiver = Receiver::new(&codec, ReceiverConfig::at_hz(TICK_HZ)).unwrap();
        let jitter = Duration::from_millis(12);
        let latency = Duration::from_millis(20);
        let link = LinkConfig { latency, jitter, loss, ..LinkConfig::default() };
        Self { hub, receiver, links: [0, 1].map(|way| Link::new(link, 40 + way).unwrap()) }
    }

    /// Sends a world, and receives what has arrived. Returns the time.
    fn step(&mut self, world: &Snapshot) -> Duration {
        exchange(&mut self.hub, ID, &mut self.receiver, &mut self.links, world)
    }
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

/// The places of both passengers in the world, and where the deck has them.
fn places(playback: &Playback<'_>) -> Vec<([f64; 3], [f64; 3])> {
    let ship = playback.samples_of::<Ship>().unwrap().next().unwrap();
    let ship = playback.motion(&ship).unwrap().place;
    let passengers = playback.samples_of::<Passenger>().unwrap();
    let place = |sample| {
        let seen: Passenger = playback.in_world(&sample).unwrap();
        (seen.position, ship.point(deck(sample.id.0)))
    };
    passengers.map(place).collect()
}

#[test]
fn a_passenger_stands_still_on_the_deck_over_a_bad_link() {
    for loss in [Loss::None, Loss::bursts(0.15, 5.0)] {
        let mut session = Session::new(loss);
        let (mut farthest_m, mut frames, mut boarding) = (0.0_f64, 0, 0);
        let mut last: Option<[f64; 3]> = None;
        for tick in 1..=900 {
            let now = session.step(&world(tick));
            for part in 0..3 {
                let now = now + Duration::from_millis(5) * part;
                let Some(playback) = session.receiver.playback(now) else { continue };
                let [standing, boards] = places(&playback)[..] else { panic!("two passengers") };
                farthest_m = farthest_m.max(distance(standing.0, standing.1));
                // Who steps on board is on the ship, on the quay, or between the two.
                let [x, y, z] = boards.0;
                let (ship, ashore) = (distance(boards.0, boards.1), distance(boards.0, QUAY));
                let is_between = ship > 0.01 && ashore > 0.01;
                boarding += u32::from(is_between);
                let way = distance(boards.1, QUAY);
                assert!(ship + ashore < way + 0.5, "{x} {y} {z} is not between ship and quay");
                frames += 1;
                last = Some(boards.0);
            }
        }
        assert!(last.is_some() && frames > 2_000 && boarding > 10, "{frames}, {boarding}");
        assert!(farthest_m < 0.002, "{loss:?}: {farthest_m} m from the place on the deck");
    }
}

#[test]
fn without_frames_in_common_states_hold_until_the_next() {
    let mut session = Session::new(Loss::None);
    let mut held = 0;
    for tick in 1..=300 {
        let now = session.step(&world(tick));
        let Some(playback) = session.receiver.playback(now + Duration::from_millis(7)) else {
            continue;
        };
        for sample in playback.samples_of::<Passenger>().unwrap() {
            let state: Passenger = sample.state().unwrap();
            let expected = if state.ship.is_some() { deck(sample.id.0) } else { QUAY };
            assert!(distance(state.position, expected) < 0.01, "{state:?}");
            held += u32::from(
                sample.from.0.frame_at(sample.from.1) != sample.to.0.frame_at(sample.to.1),
            );
            assert!(!sample.is_cut);
        }
    }
    assert!(held > 0, "the frame changed between two states");
}

fn rings() -> Rings {
    let ring = |within, every| Ring { within, leave: within + 5.0, every, tier: 0, coarser: 0 };
    Rings {
        positions: vec!["ship.position".into(), "passenger.position".into()],
        urgent: vec![],
        rings: vec![ring(30.0, 1), ring(200.0, 4)],
        beyond: None,
        cell: 4.0,
        exact_after: None,
    }
}

/// The ids that a receiver has after some ticks of a world that does not change.
fn ids(world: impl Fn(u32) -> Snapshot, set_up: impl FnOnce(&mut Hub)) -> Vec<u32> {
    let mut session = Session::new(Loss::None);
    set_up(&mut session.hub);
    for tick in 1..=30 {
        session.step(&world(tick));
    }
    let newest = session.receiver.newest().unwrap();
    newest.ids().iter().map(|id| id.0).collect()
}

/// A long ship with a passenger at its end, and a passenger without a ship.
fn long_ship(tick: u32) -> Snapshot {
    let mut world = Snapshot::new(&schema(), Tick(tick));
    let rotation = [0.0, 0.0, 0.0, 1.0];
    world.push(SHIP, &Ship { position: [300.0, 0.0, 0.0], rotation }).unwrap();
    let position = [-290.0, 0.0, 0.0];
    world.push(EntityId(10), &Passenger { position, ship: Some(SHIP) }).unwrap();
    let lost = Passenger { position: [900.0, 0.0, 0.0], ship: Some(EntityId(77)) };
    world.push(EntityId(11), &lost).unwrap();
    world
}

#[test]
fn who_is_seen_brings_the_ship() {
    let at = |x: f64| {
        move |hub: &mut Hub| {
            hub.set_rings(Some(&rings())).unwrap();
            hub.set_viewpoint(ID, Some([x, 0.0, 0.0])).unwrap();
        }
    };
    // The passenger is at 10 m, and the middle of the ship beyond all rings.
    assert_eq!(ids(long_ship, at(0.0)), [1, 10, 11]);
    // The ship is seen, and the passenger at its end is not.
    assert_eq!(ids(long_ship, at(400.0)), [1, 11]);
    // Nothing is near. Whose frame is not there has no place, so it is seen from everywhere.
    assert_eq!(ids(long_ship, at(-900.0)), [11]);
    let relevant = |ids: &[u32]| {
        let ids: Arc<[EntityId]> = ids.iter().map(|id| EntityId(*id)).collect();
        move |hub: &mut Hub| hub.set_relevant(ID, Some(ids)).unwrap()
    };
    assert_eq!(ids(long_ship, relevant(&[10])), [1, 10]);
    assert_eq!(ids(long_ship, relevant(&[1, 11])), [1, 11]);
    let always = |hub: &mut Hub| {
        at(-900.0)(hub);
        hub.set_always_seen(ID, Arc::from([EntityId(10)])).unwrap();
    };
    assert_eq!(ids(long_ship, always), [1, 10, 11]);
}

#[test]
fn a_ship_comes_and_goes_with_its_passenger() {
    // Every 40 ticks, the passenger steps on board of a ship that is too far to be seen.
    let world = |tick: u32| {
        let mut world = Snapshot::new(&schema(), Tick(tick));
        let rotation = [0.0, 0.0, 0.0, 1.0];
        world.push(SHIP, &Ship { position: [300.0, 0.0, 0.0], rotation }).unwrap();
        let on_board = tick / 40 % 2 == 1;
        let (x, ship) = if on_board { (-290.0, Some(SHIP)) } else { (10.0, None) };
        world.push(EntityId(10), &Passenger { position: [x, 0.0, 0.0], ship }).unwrap();
        world
    };
    let mut session = Session::new(Loss::None);
    session.hub.set_rings(Some(&rings())).unwrap();
    session.hub.set_viewpoint(ID, Some([0.0; 3])).unwrap();
    let mut seen = [0, 0];
    for tick in 1..=400 {
        session.step(&world(tick));
        let Some(newest) = session.receiver.newest() else { continue };
        let index = newest.position(EntityId(10)).unwrap();
        let is_on_board = newest.frame_at(index).is_some();
        assert_eq!(newest.position(SHIP).is_some(), is_on_board, "tick {tick}");
        seen[usize::from(is_on_board)] += 1;
        assert!((newest.place_at(index).unwrap().position[0] - 10.0).abs() < 0.01);
    }
    assert!(seen.iter().all(|seen| *seen > 100), "{seen:?}");
}

#[test]
fn an_unknown_frame_is_an_error() {
    let mut session = Session::new(Loss::None);
    for tick in 1..=30 {
        session.step(&long_ship(tick));
    }
    let playback = session.receiver.playback(Duration::from_millis(600)).unwrap();
    let lost = playback.samples().find(|sample| sample.id == EntityId(11)).unwrap();
    let error = playback.in_world::<Passenger>(&lost).unwrap_err();
    assert_eq!(error, FrameError::UnknownFrame { entity: 11, frame: 77 });
}

/// A ship, and passengers who stand on its deck.
fn crowded(tick: u32, passengers: u32) -> Snapshot {
    let mut world = Snapshot::new(&schema(), Tick(tick));
    world.push(SHIP, &ship(tick)).unwrap();
    for id in 10..10 + passengers {
        // Now and then one of them walks.
        let [x, y, z] = deck(id % 40);
        let steps = (tick + id) / 90;
        let position = [x, y + f64::from(steps % 7), z];
        world.push(EntityId(id), &Passenger { position, ship: Some(SHIP) }).unwrap();
    }
    world
}

/// Plays what a receiver holds. Returns how many passengers are shown, and how many are not,
/// because the ship has not arrived.
fn count_shown(session: &mut Session, now: Duration) -> [usize; 2] {
    let Some(playback) = session.receiver.playback(now) else { return [0; 2] };
    let ship = playback.samples_of::<Ship>().unwrap().next();
    let ship = ship.map(|ship| playback.motion(&ship).unwrap().place);
    let mut counts = [0, 0];
    for sample in playback.samples_of::<Passenger>().unwrap() {
        let relative: Passenger = sample.state().unwrap();
        match playback.in_world::<Passenger>(&sample) {
            Ok(seen) => {
                let expected = ship.unwrap().point(relative.position);
                assert!(distance(seen.position, expected) < 0.002, "{:?}", sample.id);
                counts[0] += 1;
            }
            Err(FrameError::UnknownFrame { frame: 1, .. }) => counts[1] += 1,
            Err(error) => panic!("{error}"),
        }
    }
    counts
}

#[test]
fn passengers_stand_on_the_deck_in_full_states_of_several_fragments() {
    const PASSENGERS: u32 = 900;
    let mut session = Session::new(Loss::Independent { ratio: 0.05 });
    let mut shown = 0;
    for tick in 1..=150 {
        let now = session.step(&crowded(tick, PASSENGERS));
        let counts = count_shown(&mut session, now + Duration::from_millis(5));
        // A full state has all or nothing.
        assert!(counts == [0, 0] || counts == [PASSENGERS as usize, 0], "{counts:?}");
        shown += counts[0];
    }
    assert!(shown > 50 * PASSENGERS as usize, "{shown}");
}

#[test]
fn passengers_stand_on_the_deck_in_merged_views() {
    const PASSENGERS: u32 = 300;
    let mut session = Session::new(Loss::bursts(0.1, 4.0));
    let options = ReceiverOptions { budget: Some(6_000).into(), ..ReceiverOptions::default() };
    session.hub.set_options(ID, &options, Duration::ZERO).unwrap();
    let mut last = [0, 0];
    for tick in 1..=400 {
        let now = session.step(&crowded(tick, PASSENGERS));
        last = count_shown(&mut session, now + Duration::from_millis(5));
    }
    assert_eq!(last, [PASSENGERS as usize, 0]);
}

#[test]
fn a_receiver_that_starts_again_shows_passengers_on_the_deck() {
    let mut session = Session::new(Loss::None);
    for tick in 1..=100 {
        session.step(&world(tick));
    }
    // The receiver is lost with everything that it held, in the middle of a change of frames.
    session.receiver = Session::new(Loss::None).receiver;
    session.hub.remove(ID);
    let now = Duration::from_secs(1) * 100 / TICK_HZ;
    session.hub.add(ID, &ReceiverOptions::default(), now).unwrap();
    session.links = Session::new(Loss::None).links;
    let mut shown = 0;
    for tick in 101..=300 {
        let now = session.step(&world(tick));
        let Some(playback) = session.receiver.playback(now) else { continue };
        let [standing, _] = places(&playback)[..] else { panic!("two passengers") };
        assert!(distance(standing.0, standing.1) < 0.002);
        shown += 1;
    }
    assert!(shown > 150, "{shown}");
}
