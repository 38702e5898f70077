//! How much of a receiver's memory hostile or huge worlds may use.

#![allow(clippy::unwrap_used)]

mod support;

use std::time::Duration;

use allocation_counter::measure;
use kinepack::{DecodeError, Encoder, EntityId, Snapshot, Tick, View};
use kinepack_net::{
    HubConfig, LinkConfig, NetError, Received, Receiver, ReceiverConfig, ReceiverOptions, Refused,
};
use support::{Client, Net, TICK_HZ, World, codec};

const STRIDE_1: u8 = 1 << 5;
const LEFT_OUT: u8 = 1 << 3;

fn at(tick: u32) -> Duration {
    Duration::from_secs(1) * tick / TICK_HZ
}

/// The cheapest large world: every lane is 0.
fn zeros(tick: u32, count: u32) -> Snapshot {
    let mut world = Snapshot::new(codec().schema(), Tick(tick));
    let lanes = vec![0; world.lane_count()];
    (0..count).for_each(|id| world.push_lanes(EntityId(id), &lanes).unwrap());
    world
}

/// A first snapshot of `count` entities, then datagrams of a few bytes that change nothing, each
/// coded against the first, or against the previous one.
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
        let most = (max_memory_bytes / 96 / (4 * (codec().schema().lanes().len() + 1))) as u32;
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
            // A tenth is for the decoder's own memory.
            let limit_bytes = max_memory_bytes as u64 * 11 / 10;
            assert!(
                measured.bytes_max <= limit_bytes,
                "{} of {limit_bytes} bytes",
                measured.bytes_max
            );
        }
        let too_many = &cheap_datagrams(most + 1, false, false)[0];
        let mut receiver = Receiver::new(&codec(), config).unwrap();
        let refused = receiver.handle(at(1), too_many);
        let error = DecodeError::TooManyEntities { count: u64::from(most) + 1, limit: most };
        assert_eq!(refused, Err(Refused::Snapshot(error)));
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
    // 48 are in flight; without the limit it would hold 64 more.
    assert!((50..100).contains(&receiver.stats().views), "{} views", receiver.stats().views);
    Ok(())
}
