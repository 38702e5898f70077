//! How endpoints treat a caller's mistakes: levels that cannot work, ticks and times that do not
//! increase, weights that are not numbers, worlds that are too large, and sets that are set
//! repeatedly.

use std::sync::Arc;
use std::time::Duration;

use kinepack::schema::{Field, FieldKind};
use kinepack::{Codec, EntityId, Level, Profile, Schema, Snapshot, Tick};
use kinepack_net::{
    Hub, HubConfig, NetError, Receiver, ReceiverConfig, ReceiverId, ReceiverOptions,
};

use crate::support::{TICK_HZ, Thing, World, codec, codec_at};

const ID: ReceiverId = ReceiverId(7);

fn at(tick: u32) -> Duration {
    Duration::from_secs(1) * tick / TICK_HZ
}

/// A hub and a receiver on a perfect link without delay.
struct Pair {
    hub: Hub,
    receiver: Receiver,
    datagrams: usize,
    bytes: usize,
}

impl Pair {
    fn new(codec: &Codec, config: HubConfig, budget_bytes_per_s: Option<u32>) -> Self {
        let mut hub = Hub::new(codec, config).unwrap();
        hub.add(
            ID,
            &ReceiverOptions { budget_bytes_per_s, ..ReceiverOptions::default() },
            Duration::ZERO,
        )
        .unwrap();
        Self {
            hub,
            receiver: Receiver::new(codec, ReceiverConfig::at_hz(60)).unwrap(),
            datagrams: 0,
            bytes: 0,
        }
    }

    /// The receiver answers; then comes a tick, whose datagrams it gets.
    fn step(
        &mut self,
        world: &Snapshot,
        weight: Option<kinepack_net::Weight<'_>>,
    ) -> Result<(), NetError> {
        let now = at(world.tick.0);
        while let Some(datagram) = self.receiver.poll_transmit(now) {
            self.hub.handle(ID, now, datagram).unwrap();
        }
        let ticked = self.hub.tick_with(now, world, weight);
        while let Some((_, datagram)) = self.hub.poll_transmit() {
            self.datagrams += 1;
            self.bytes += datagram.len();
            self.receiver.handle(now, datagram).unwrap();
        }
        ticked
    }
}

#[test]
fn levels_that_send_every_entity_each_time_are_refused() {
    for level in Level::TABLE {
        let codec = codec_at(level);
        let is_relative = level.row() >= 7;
        let refused = Err(NetError::LevelWithoutBaseline { row: level.row() });
        let made = Hub::new(&codec, HubConfig::default()).map(drop);
        assert_eq!(made, if is_relative { Ok(()) } else { refused.clone() });
        let mut hub = Hub::new(&codec_at(Level::PACKED), HubConfig::default()).unwrap();
        assert_eq!(hub.offer(&codec), if is_relative { Ok(()) } else { refused });
    }
}

#[test]
fn ticks_and_times_that_do_not_increase_are_refused_and_change_nothing() {
    let mut pair = Pair::new(&codec(), HubConfig::default(), None);
    let mut world = World::new(20, 1);
    for tick in 10..40 {
        world.step(Tick(tick));
        pair.step(&world.snapshot, None).unwrap();
    }
    let mut stale = world.snapshot.clone();
    for tick in [39, 38, 1, 0] {
        stale.tick = Tick(tick);
        let refused = pair.hub.tick(at(40), &stale);
        assert_eq!(refused, Err(NetError::TickNotRising { last: Tick(39), tick: Tick(tick) }));
    }
    world.step(Tick(40));
    let refused = pair.hub.tick(at(38), &world.snapshot);
    assert_eq!(refused, Err(NetError::TimeRanBack { last: at(39), now: at(38) }));
    assert!(pair.hub.poll_transmit().is_none());
    pair.step(&world.snapshot, None).unwrap();
    assert_eq!(pair.receiver.newest(), Some(&world.snapshot));
    world.step(Tick(41));
    assert_eq!(pair.hub.tick(at(40), &world.snapshot), Ok(()), "two ticks at one time");
}

#[test]
fn weights_that_are_not_numbers_are_counted() {
    let config = HubConfig { datagram_bytes: 300, ..HubConfig::default() };
    let mut pair = Pair::new(&codec(), config, Some(6_000));
    let mut world = World::new(300, 2);
    world.moving_one_in = 1;
    let odd = |_: ReceiverId, id: EntityId| match id.0 % 4 {
        0 => f32::NAN,
        1 => f32::INFINITY,
        2 => 1.0,
        _ => f32::NEG_INFINITY,
    };
    for tick in 1..300 {
        world.step(Tick(tick));
        pair.step(&world.snapshot, Some(&odd)).unwrap();
    }
    let status = pair.hub.status(ID).unwrap();
    assert!(status.bad_weights > 1_000, "{}", status.bad_weights);
    let newest = pair.receiver.newest().unwrap();
    let fresh = |rest: u32| {
        let ids = newest.ids().iter().enumerate().filter(|(_, id)| id.0 % 4 == rest);
        ids.map(|(index, _)| pair.receiver.fresh(index).0).max().unwrap()
    };
    assert!(fresh(1) > 280, "infinite weights go first: tick {}", fresh(1));
    assert_eq!(
        fresh(0),
        fresh(3),
        "a weight that is not a number counts as 0: only the first state has these entities"
    );
}

#[test]
fn a_first_state_too_large_for_a_block_is_an_error_that_names_the_receiver() {
    let schema = Schema::new(vec![Field::new("raw", FieldKind::Raw { lanes: 64 })]);
    let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema)).unwrap();
    let config = HubConfig { datagram_bytes: 128, ..HubConfig::default() };
    let mut pair = Pair::new(&codec, config, None);
    let mut world = Snapshot::new(&schema, Tick(1));
    for id in 0..32_000u32 {
        world.push_lanes(EntityId(id), &[id.wrapping_mul(0x9E37_79B9) | 1; 64]).unwrap();
    }
    let error = pair.step(&world, None);
    assert!(
        matches!(error, Err(NetError::BlockTooLarge { id: ID, bytes: 7_864_321.. })),
        "{error:?}"
    );
    let few: Arc<[EntityId]> = world.ids()[..10].into();
    pair.hub.set_relevant(ID, Some(few)).unwrap();
    for tick in 2..9 {
        world.tick = Tick(tick);
        pair.step(&world, None).unwrap();
    }
    assert_eq!(pair.receiver.newest().map(Snapshot::len), Some(10));
}

#[test]
fn setting_the_same_relevant_set_again_sends_nothing() {
    let mut pair = Pair::new(&codec(), HubConfig::default(), None);
    let mut world = World::new(60, 3);
    (world.moving_one_in, world.change_one_in) = (u64::MAX, u64::MAX);
    for tick in 1..=11 * TICK_HZ {
        world.step(Tick(tick));
        let half = world.snapshot.ids().iter().copied().filter(|id| id.0 % 2 == 0);
        pair.hub.set_relevant(ID, Some(half.collect())).unwrap();
        pair.step(&world.snapshot, None).unwrap();
        if tick == TICK_HZ {
            pair.datagrams = 0;
        }
    }
    assert!(pair.datagrams <= 41, "{} datagrams in 10 s in which nothing changed", pair.datagrams);
}

#[test]
fn a_hello_may_be_sent_only_once() {
    let config = ReceiverConfig { hello_every: Duration::MAX, ..ReceiverConfig::at_hz(60) };
    let mut receiver = Receiver::new(&codec(), config).unwrap();
    assert!(receiver.poll_transmit(at(1)).is_some());
    assert!(receiver.poll_transmit(at(1000)).is_none());
}

#[test]
fn the_last_fragment_needs_a_budget_for_its_own_size_only() {
    // Two full fragments empty the bucket; the third is short.
    let config = HubConfig { datagram_bytes: 1_200, ..HubConfig::default() };
    let mut pair = Pair::new(&codec(), config, Some(256));
    let mut world = Snapshot::new(codec().schema(), Tick(1));
    let mut ticks = 0;
    for id in 0..245 {
        let thing = Thing {
            position: [id as f32, 1.0, 2.0],
            orientation: [0.0, 0.0, 0.0, 1.0],
            kind: 1,
            awake: true,
        };
        world.push(EntityId(id), &thing).unwrap();
    }
    while pair.receiver.newest().is_none() {
        ticks += 1;
        world.tick = Tick(ticks);
        pair.step(&world, None).unwrap();
        assert!(ticks < 100 * TICK_HZ);
    }
    // The bucket begins with two datagrams of 1,228 bytes and gains 256 bytes a second.
    let needed_s = (pair.bytes + 28 * pair.datagrams).saturating_sub(2 * 1_228) as f64 / 256.0;
    assert!(pair.datagrams == 3 && pair.bytes < 2_600, "{} bytes", pair.bytes);
    assert!(
        f64::from(ticks) / f64::from(TICK_HZ) < needed_s + 0.5,
        "{ticks} ticks for {needed_s} s of budget"
    );
}
