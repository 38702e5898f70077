//! Whether the tick of a received state is exact, as `Predicted` promises, for each way to send.

use std::collections::HashMap;
use std::time::Duration;

use kinepack::schema::TimePrecision;
use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
use kinepack_net::{
    Budget, Hub, HubConfig, KindOptions, Link, LinkConfig, Loss, Outcome, Own, PredictConfig,
    PredictStats, Predicted, Receiver, ReceiverConfig, ReceiverId, ReceiverOptions, Rings,
};

use super::ID;
use crate::support::{Random, TICK_HZ, near_and_far};

const CLIENT: ReceiverId = ReceiverId(1);

#[derive(Pack, Clone, Copy, Debug, PartialEq)]
struct Unit {
    #[pack(range = -512.0..512.0, precision = 1.0 / 512.0)]
    place: [f32; 2],
}

/// Others are of another kind, which the hub sends in each tick.
#[derive(Pack, Clone, Copy, Debug, PartialEq)]
struct Other {
    #[pack(range = -512.0..512.0, precision = 1.0 / 512.0)]
    place: [f32; 2],
}

#[derive(Pack, Clone, Copy, Debug, PartialEq)]
struct Go {
    #[pack(range = -1.0..=1.0, precision = 0.25)]
    east: f32,
}

fn walk(own: &mut [Own<Unit>], input: &Go, _: Tick) {
    own[0].state.place[0] += input.east * 0.1;
}

/// How the hub sends.
#[derive(Clone, Default)]
struct Way {
    bytes_per_s: Option<u32>,
    every: u32,
    rings: Option<Rings>,
    /// How far the viewpoint is from the own entity, in metres.
    away: f64,
    precision: bool,
}

/// What a client found in the own entity's states.
#[derive(Debug, Default)]
struct Found {
    states: u32,
    /// Those that the server did not have at the tick of `Receiver::fresh`.
    wrong: u32,
    /// Those that it did not have at the newest tick, although the entity seems to rest.
    wrong_at_rest: u32,
    /// The largest age of a state, in ticks.
    oldest: u32,
}

/// The own entity moves and rests in turns, among others that move. A tenth of all datagrams is
/// lost in pairs.
fn play(way: &Way) -> Found {
    let precision = TimePrecision::new(4.0, f64::from(TICK_HZ));
    let schema = Schema::builder().kind::<Unit>("unit").kind::<Other>("other").build().unwrap();
    let schema = schema.with_time_precision(|_| way.precision.then_some(precision));
    let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema)).unwrap();
    let mut hub = Hub::new(&codec, HubConfig::default()).unwrap();
    let budget = Budget::from(way.bytes_per_s);
    hub.add(CLIENT, &ReceiverOptions { budget, ..Default::default() }, Duration::ZERO).unwrap();
    hub.set_kind("unit", KindOptions { every: way.every.max(1), priority: 1.0 }).unwrap();
    hub.set_rings(way.rings.as_ref()).unwrap();
    hub.set_viewpoint(CLIENT, Some([-way.away, 0.0, 0.0])).unwrap();
    let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(TICK_HZ)).unwrap();
    let loss = Loss::bursts(0.1, 2.0);
    let link = LinkConfig { latency: Duration::from_millis(30), loss, ..LinkConfig::default() };
    let [mut down, mut up] = [1, 2].map(|seed| Link::new(link, seed).unwrap());
    let (mut random, mut found) = (Random::new(3), Found::default());
    let (mut truth, mut others) = (HashMap::new(), [[0.0_f32; 2]; 60]);
    let mut own = Unit { place: [0.0; 2] };
    for tick in 1..=900 {
        let now = Duration::from_secs(1) * tick / TICK_HZ;
        while let Some(datagram) = down.poll(now) {
            let _ = receiver.handle(now, &datagram);
            let Some(world) = receiver.newest() else { continue };
            let Some(index) = world.position(ID) else { continue };
            let state: Unit = world.get_at_index(index).unwrap();
            let fresh = receiver.fresh(index);
            let age = world.tick.0 - fresh.0;
            found.states += 1;
            found.wrong += u32::from(truth[&fresh.0] != state);
            found.oldest = found.oldest.max(age);
            let rests = age >= PredictConfig::at_hz(TICK_HZ).rest_ticks;
            found.wrong_at_rest += u32::from(rests && truth[&world.tick.0] != state);
        }
        while let Some(datagram) = receiver.poll_transmit(now) {
            up.send(now, datagram);
        }
        while let Some(datagram) = up.poll(now) {
            let _ = hub.handle(CLIENT, now, &datagram);
        }
        if tick % 100 < 50 {
            own.place[0] += [0.1, -0.1][(tick / 100 % 2) as usize];
            own = own.rounded().unwrap();
        }
        truth.insert(tick, own);
        let mut world = Snapshot::new(&schema, Tick(tick));
        world.push(ID, &own).unwrap();
        for (nth, place) in (100..).zip(&mut others) {
            *place = place.map(|at| (at + random.unit()).clamp(-20.0, 20.0));
            world.push(EntityId(nth), &Other { place: *place }).unwrap();
        }
        let priority = |_: ReceiverId, id: EntityId| if id == ID { 1e6 } else { 1.0 };
        hub.tick_with(now, &world, Some(&priority)).unwrap();
        while let Some((_, datagram)) = hub.poll_transmit() {
            down.send(now, datagram);
        }
    }
    found
}

#[test]
fn ticks_are_exact_however_the_hub_sends() {
    let near = near_and_far(&["unit.place", "other.place"], 80.0, 500.0, 8);
    for (way, oldest) in [
        (Way::default(), 0..=0),
        (Way { bytes_per_s: Some(3_000), ..Way::default() }, 40..=60),
        (Way { every: 8, ..Way::default() }, 1..=60),
        (Way { rings: Some(near), ..Way::default() }, 0..=8),
    ] {
        let found = play(&way);
        assert!(found.states > 400, "{found:?}");
        assert_eq!((found.wrong, found.wrong_at_rest), (0, 0), "{found:?}");
        assert!(oldest.contains(&found.oldest), "{found:?}");
    }
}

#[test]
fn far_turns_and_coarse_values_are_not_exact() {
    let far = near_and_far(&["unit.place", "other.place"], 80.0, 500.0, 8);
    let far = play(&Way { rings: Some(far), away: 300.0, ..Way::default() });
    let coarse = play(&Way { precision: true, ..Way::default() });
    for found in [far, coarse] {
        assert!(found.states > 400 && found.wrong > 0, "{found:?}");
    }
}

/// A client predicted a walk that the server never saw, so there the entity rests, and is not sent
/// within the budget. The client learns of it nevertheless.
fn walk_unseen(rest_ticks: u32) -> (Option<Unit>, PredictStats) {
    let schema = Schema::builder().kind::<Unit>("unit").kind::<Other>("other").build().unwrap();
    let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema)).unwrap();
    let mut hub = Hub::new(&codec, HubConfig::default()).unwrap();
    let budget = Budget::Fixed { bytes_per_s: 3_000 };
    hub.add(CLIENT, &ReceiverOptions { budget, ..Default::default() }, Duration::ZERO).unwrap();
    let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(TICK_HZ)).unwrap();
    let config = PredictConfig { rest_ticks, ..PredictConfig::at_hz(TICK_HZ) };
    let mut predicted = Predicted::<Unit, Go>::new(&schema, config).unwrap();
    let rest = Unit { place: [0.0; 2] };
    let mut random = Random::new(3);
    for tick in 1..=200 {
        let now = Duration::from_secs(1) * tick / TICK_HZ;
        while let Some(datagram) = receiver.poll_transmit(now) {
            hub.handle(CLIENT, now, datagram).unwrap();
        }
        let mut world = Snapshot::new(&schema, Tick(tick));
        world.push(ID, &rest).unwrap();
        for id in 100..160 {
            world.push(EntityId(id), &Other { place: [random.unit(), random.unit()] }).unwrap();
        }
        hub.tick(now, &world).unwrap();
        while let Some((_, datagram)) = hub.poll_transmit() {
            receiver.handle(now, datagram).unwrap();
        }
        let Some(newest) = receiver.newest() else { continue };
        if predicted.newest().is_none() {
            predicted.add(ID, newest.tick, &rest, walk).unwrap();
        }
        let next = predicted.newest().map_or(tick, |newest| newest.0 + 1);
        for next in next..=tick + 4 {
            let east = if (100..105).contains(&next) { 1.0 } else { 0.0 };
            predicted.push(Tick(next), &Go { east }, walk).unwrap();
        }
        let correction = predicted.correct_from(&receiver, walk).unwrap();
        if correction.outcome == Outcome::Corrected {
            assert!((100..140).contains(&tick), "{correction:?} at {tick}");
            assert!((0.05..0.6).contains(&correction.distance), "{correction:?}");
        }
    }
    (predicted.state(ID), predicted.stats())
}

#[test]
fn an_entity_at_rest_is_corrected_though_it_is_not_sent() {
    let rest = Unit { place: [0.0; 2] };
    let (state, stats) = walk_unseen(PredictConfig::at_hz(TICK_HZ).rest_ticks);
    assert_eq!(state, Some(rest));
    assert!(stats.corrected > 0 && stats.confirmed > 10 && stats.too_old == 0, "{stats:?}");
    let (state, stats) = walk_unseen(u32::MAX);
    assert_ne!(state, Some(rest), "{stats:?}");
}
