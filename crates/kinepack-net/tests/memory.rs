//! Tests the limits of a receiver's memory with hostile and huge worlds. Huge worlds must still
//! arrive.

#![allow(clippy::unwrap_used)]

mod support;

use std::time::Duration;

use allocation_counter::measure;
use kinepack::{
    Codec, DecodeError, DecodeLimits, Encoder, EntityId, Level, Pack, Profile, Schema, Snapshot,
    Tick, View,
};
use kinepack_net::{
    Handled, Hub, HubConfig, Link, LinkConfig, Loss, NetError, Received, Receiver, ReceiverConfig,
    ReceiverId, ReceiverOptions, Refused,
};
use support::{Client, Net, TICK_HZ, World, codec};

const STRIDE_1: u8 = 1 << 5;
const LEFT_OUT: u8 = 1 << 3;

fn at(tick: u32) -> Duration {
    Duration::from_secs(1) * tick / TICK_HZ
}

/// The large world that is cheapest to code: every lane is 0.
fn zeros(tick: u32, count: u32) -> Snapshot {
    let mut world = Snapshot::new(codec().schema(), Tick(tick));
    let lanes = vec![0; world.lane_count()];
    (0..count).for_each(|id| world.push_lanes(EntityId(id), &lanes).unwrap());
    world
}

/// A first snapshot of `count` entities, then datagrams of a few bytes that change nothing. If
/// `of_first`, these are coded against the first snapshot, otherwise each against the previous one.
fn cheap_datagrams(count: u32, left_out: bool, of_first: bool) -> Vec<Vec<u8>> {
    let (codec, flags) = (codec(), if left_out { LEFT_OUT } else { 0 });
    let mut encoder = Encoder::new(&codec);
    let mut world = zeros(1, count);
    let mut first = vec![flags, 0, 0, 0, 0, 1, 0, 0, 0, 1];
    let view = encoder.encode(&View::empty(codec.schema()), &world, &mut first).unwrap();
    let mut datagrams = vec![first];
    for sequence in 1..=250u8 {
        world.tick = Tick(1 + u32::from(sequence));
        let mut datagram = vec![flags | STRIDE_1, sequence, 0, if of_first { sequence } else { 1 }];
        encoder.encode(&view, &world, &mut datagram).unwrap();
        datagrams.push(datagram);
    }
    datagrams
}

#[test]
fn small_datagrams_take_no_more_memory_than_configured() {
    for max_memory_bytes in [ReceiverConfig::at_hz(60).max_memory_bytes, 8 << 20] {
        let config = ReceiverConfig { max_memory_bytes, ..ReceiverConfig::at_hz(60) };
        let entity_bytes = 4 * (codec().schema().lanes().len() + 1);
        // At first, all views that a sender may use fit. Then the largest world is sent.
        let most = (max_memory_bytes / 96 / entity_bytes) as u32;
        for (left_out, of_first) in [(false, false), (false, true), (true, false), (true, true)] {
            let datagrams = cheap_datagrams(most, left_out, of_first);
            assert!(datagrams.iter().map(Vec::len).sum::<usize>() < 12_000);
            let measured = measure(|| {
                let mut receiver = Receiver::new(&codec(), config.clone()).unwrap();
                for (tick, datagram) in (1..).zip(&datagrams) {
                    let received = receiver.handle(at(tick), datagram);
                    let is_dropped = of_first && tick > 64 && received == Err(Refused::NoBaseline);
                    assert!(
                        is_dropped || matches!(received, Ok(Received::Snapshot { .. })),
                        "{received:?}"
                    );
                }
                let stats = receiver.stats();
                assert!(stats.views >= 60, "{} views", stats.views);
                let dropped = stats.dropped_views + stats.dropped_states;
                assert!(dropped > 0 && stats.unmerged == 0, "{stats:?}");
            });
            // A tenth more is allowed for the decoder's own memory.
            let limit_bytes = max_memory_bytes as u64 * 11 / 10;
            assert!(
                measured.bytes_max <= limit_bytes,
                "{} of {limit_bytes} bytes",
                measured.bytes_max
            );
        }
        let most = (max_memory_bytes / 32 / entity_bytes).min(65_536) as u32;
        let too_many = &cheap_datagrams(most + 1, false, false)[0];
        let mut receiver = Receiver::new(&codec(), config).unwrap();
        let refused = receiver.handle(at(1), too_many);
        let error = DecodeError::TooManyEntities { count: u64::from(most) + 1, limit: most };
        assert_eq!(refused, Err(Refused::Snapshot(error)));
        assert_eq!(receiver.too_large(), refused.err());
        assert_eq!(receiver.stats().too_large, 1);
    }
}

#[test]
fn a_world_of_the_largest_size_is_received_over_a_long_round_trip() -> Result<(), NetError> {
    let world = World::new(300, 1);
    let config = ReceiverConfig { max_memory_bytes: 96 * 320 * 44, ..ReceiverConfig::at_hz(60) };
    let mut net = Net::new(world, HubConfig::default());
    let link = LinkConfig { latency: Duration::from_millis(400), ..LinkConfig::PERFECT };
    let client = net.add(link, 1, ReceiverOptions::default())?;
    net.clients[client].receiver = Receiver::new(&codec(), config)?;
    (0..900).for_each(|_| net.step(None));
    let Client { snapshots, refused, receiver, .. } = &net.clients[client];
    assert!(*snapshots > 700 && refused.is_empty(), "{snapshots} {refused:?}");
    // 48 views are in flight. Without the limit, the receiver would hold 64 more.
    assert!((50..100).contains(&receiver.stats().views), "{} views", receiver.stats().views);
    Ok(())
}

#[derive(Pack)]
struct Stone {
    #[pack(max = 65_535)]
    place: u16,
}

/// Sends a world of stones until the receiver has it. 100 of the stones move. Both sides run at 60
/// Hz.
struct Stones {
    hub: Hub,
    receiver: Receiver,
    world: Snapshot,
    count: u32,
    tick: u32,
    link: Link,
    up: Link,
    refused: Vec<Refused>,
    errors: Vec<NetError>,
}

impl Stones {
    fn new(count: u32, hub: HubConfig, receiver: ReceiverConfig, link: LinkConfig) -> Self {
        let schema = Schema::of::<Stone>();
        let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema)).unwrap();
        let mut hub = Hub::new(&codec, hub).unwrap();
        hub.add(ReceiverId(1), &ReceiverOptions::default(), Duration::ZERO).unwrap();
        let receiver = Receiver::new(&codec, receiver).unwrap();
        let mut world = Snapshot::new(&schema, Tick(0));
        let place = |id: u32| (id.wrapping_mul(0x9E37_79B9) >> 16) as u16;
        (0..count).for_each(|id| world.push(EntityId(id), &Stone { place: place(id) }).unwrap());
        Self {
            hub,
            receiver,
            world,
            count,
            tick: 0,
            link: Link::new(link, 1).unwrap(),
            up: Link::new(link, 2).unwrap(),
            refused: Vec::new(),
            errors: Vec::new(),
        }
    }

    fn step(&mut self) {
        self.tick += 1;
        let now = at(self.tick);
        let mut rows = Snapshot::new_like(&self.world);
        for nth in 0..100 {
            let place = (self.tick * 7 + nth) as u16;
            rows.push(EntityId(nth * (self.count / 100)), &Stone { place }).unwrap();
        }
        self.world.patch(&[], &rows).unwrap();
        self.world.tick = Tick(self.tick);
        while let Some(datagram) = self.up.poll(now) {
            let _: Result<Handled, Refused> = self.hub.handle(ReceiverId(1), now, &datagram);
        }
        self.errors.extend(self.hub.tick(now, &self.world).err());
        while let Some((_, datagram)) = self.hub.poll_transmit() {
            self.link.send(now, datagram);
        }
        while let Some(datagram) = self.link.poll(now) {
            self.refused.extend(self.receiver.handle(now, &datagram).err());
        }
        while let Some(datagram) = self.receiver.poll_transmit(now) {
            self.up.send(now, datagram);
        }
    }

    fn age(&self) -> u32 {
        self.tick - self.receiver.newest().map_or(0, |newest| newest.tick.0)
    }
}

#[test]
fn worlds_of_fifty_and_of_two_hundred_thousand_objects_arrive() {
    let lossy = LinkConfig {
        latency: Duration::from_millis(50),
        loss: Loss::Independent { ratio: 0.1 },
        ..LinkConfig::PERFECT
    };
    let near = LinkConfig { latency: Duration::from_millis(2), ..LinkConfig::PERFECT };
    // The full states take more datagrams than the window has in a round trip.
    let far = LinkConfig { latency: Duration::from_millis(250), ..LinkConfig::PERFECT };
    let few = HubConfig::default();
    let many = HubConfig { datagrams_per_tick: 64, ..HubConfig::default() };
    for (count, link, hub) in [
        (50_000, near, &few),
        (50_000, lossy, &few),
        (50_000, far, &many),
        (200_000, near, &few),
        (200_000, lossy, &few),
        (200_000, far, &many),
    ] {
        let limits = DecodeLimits { max_entities: 200_000 };
        let config = ReceiverConfig { limits, ..ReceiverConfig::at_hz(TICK_HZ) };
        let mut stones = Stones::new(count, hub.clone(), config, link);
        let mut ticks = 0;
        while stones.age() > 60 || stones.receiver.stats().full_states == 0 {
            stones.step();
            ticks += 1;
            assert!(ticks < 20 * TICK_HZ, "{count}: {:?}", stones.hub.status(ReceiverId(1)));
        }
        // From here on, snapshots update the state.
        let before = stones.receiver.stats();
        (0..120).for_each(|_| stones.step());
        let stats = stones.receiver.stats();
        let what = format!("{count} over {link:?}: {stats:?} {:?}", stones.refused);
        assert!(stones.age() <= 40 && stones.errors.is_empty(), "{what}");
        assert!(stats.received > before.received + 60 && stats.full_states == 1, "{what}");
        assert_eq!((stats.unmerged, stats.too_large, stats.mismatches), (0, 0, 0), "{what}");
        let newest = stones.receiver.newest().unwrap();
        assert_eq!(newest.len(), count as usize);
    }
}

#[test]
fn a_world_above_the_receivers_limits_is_refused_with_a_reason_on_both_sides() {
    let near = LinkConfig { latency: Duration::from_millis(2), ..LinkConfig::PERFECT };
    let count = 70_000;
    let config = ReceiverConfig::at_hz(TICK_HZ);
    let mut stones = Stones::new(count, HubConfig::default(), config, near);
    (0..15 * TICK_HZ).for_each(|_| stones.step());
    let error = DecodeError::TooManyEntities { count: count.into(), limit: 65_536 };
    assert_eq!(stones.receiver.too_large(), Some(Refused::Snapshot(error)));
    assert!(stones.receiver.stats().too_large > 10 && stones.receiver.newest().is_none());
    let id = ReceiverId(1);
    let [NetError::FullStateRefused { id: refused_by, arrived, fragments }] = stones.errors[..]
    else {
        panic!("once: {:?}", stones.errors)
    };
    assert_eq!((refused_by, arrived), (id, fragments - 1), "all but the one that completes it");
    // With fewer relevant entities, the full state fits.
    let relevant = stones.world.ids()[..60_000].into();
    stones.hub.set_relevant(id, Some(relevant)).unwrap();
    stones.errors.clear();
    let mut ticks = 0;
    while stones.receiver.newest().is_none() {
        stones.step();
        ticks += 1;
        assert!(ticks < 60 * TICK_HZ, "{:?}", stones.hub.status(id));
    }
    assert_eq!(stones.receiver.newest().map(Snapshot::len), Some(60_000));
    assert_eq!(stones.receiver.too_large(), None);
}

#[test]
fn a_receiver_without_memory_for_the_round_trip_asks_for_the_state_anew() {
    // The memory has room for 24 views of the largest size, but half a second takes 30.
    let far = LinkConfig { latency: Duration::from_millis(250), ..LinkConfig::PERFECT };
    let count = 10_000;
    let config =
        ReceiverConfig { max_memory_bytes: 32 * 8 * count as usize, ..ReceiverConfig::at_hz(60) };
    let mut stones = Stones::new(count, HubConfig::default(), config, far);
    let (mut newest, mut longest) = (0, 0);
    for _ in 0..60 * TICK_HZ {
        stones.step();
        if stones.receiver.newest().is_some() {
            longest = longest.max(stones.age());
            newest = stones.tick - stones.age();
        }
    }
    let stats = stones.receiver.stats();
    assert!(stats.dropped_views > 0 && stats.full_states > 2, "{stats:?}");
    // The pause is shorter than 255 keep-alives.
    assert!(newest > 50 * TICK_HZ && longest < 6 * TICK_HZ, "{newest} {longest} {stats:?}");
}
