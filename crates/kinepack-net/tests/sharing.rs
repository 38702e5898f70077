//! Tests of the limit on the number of different encodings in a tick. The hub moves receivers that
//! share little to encodings that others share, or makes them wait. No receiver drifts or waits
//! forever, and receivers that acknowledge at random cost no more than the limit.

use std::collections::VecDeque;
use std::time::Duration;

use kinepack::{Level, Tick};
use kinepack_net::{
    Acknowledgement, Hub, HubConfig, LinkConfig, Loss, Receiver, ReceiverConfig, ReceiverId,
    ReceiverOptions, Sequence,
};

use crate::support::{Net, Random, TICK_HZ, World, codec_at, is_snapshot, sequence_of};

const LEVELS: [Level; 3] = [Level::PACKED, Level::ADAPTIVE, Level::LEARNING];

fn at(tick: u32) -> Duration {
    Duration::from_secs(1) * tick / TICK_HZ
}

#[test]
fn receivers_on_bad_links_stay_exact_and_come_to_rest_with_few_encodings() {
    for level in LEVELS {
        let mut world = World::new(60, 5);
        world.moving_one_in = 2;
        let mut net = Net::new(world, HubConfig { encodings_per_tick: 3, ..HubConfig::default() });
        net.hub.offer(&codec_at(level)).unwrap();
        for seed in 1..=16 {
            let link = LinkConfig {
                latency: Duration::from_millis(20 + 10 * (seed % 4)),
                jitter: Duration::from_millis(15),
                loss: Loss::Independent { ratio: 0.2 },
                ..LinkConfig::PERFECT
            };
            net.add_with(&codec_at(level), link, seed, ReceiverOptions::default()).unwrap();
        }
        let mut most = 0;
        for tick in 0..900 {
            net.step(None);
            if tick > 60 {
                most = most.max(net.hub.encoded());
            }
        }
        // The last encoding for the outliers may be of a state that takes several datagrams.
        assert!(most <= 3 + 4, "{most} encodings in a tick");
        let shown = net.clients.iter().map(|client| client.snapshots).collect::<Vec<_>>();
        assert!(
            shown.iter().all(|count| *count > 250),
            "{}: {shown:?} snapshots of 900 ticks",
            level.row()
        );
        let postponed = net
            .clients
            .iter()
            .map(|client| net.hub.status(client.id).unwrap().postponed)
            .sum::<u64>();
        assert!(postponed > 0, "the limit was never reached");
        (net.world.moving_one_in, net.world.change_one_in) = (u64::MAX, u64::MAX);
        (0..5 * TICK_HZ).for_each(|_| net.step(None));
        for client in &net.clients {
            assert!(
                client.receiver.newest().unwrap().holds_same(&net.world.snapshot),
                "{:?}",
                client.id
            );
        }
    }
}

/// A receiver that acknowledges after a fixed time, or at random.
struct Acknowledging {
    lag_ticks: Option<u32>,
    on_the_way: VecDeque<(u32, Sequence)>,
    snapshots: u32,
    longest_wait: u32,
    last: u32,
}

/// The number of ticks until all receivers have the complete first state and counting begins.
const FIRST_TICKS: u32 = 60;
const LAST_TICK: u32 = 900;

/// Sends a world in which `entities` move to receivers with the lags `lags` in ticks. A lag of
/// `None` stands for a receiver that acknowledges at random. Returns the receivers, and the largest
/// number of encodings in a tick.
fn acknowledging(
    level: Level,
    entities: usize,
    lags: &[Option<u32>],
) -> (Vec<Acknowledging>, usize) {
    let codec = codec_at(level);
    let mut world = World::new(entities, 9);
    (world.moving_one_in, world.change_one_in) = (1, u64::MAX);
    let config = HubConfig { encodings_per_tick: 12, ..HubConfig::default() };
    let mut hub = Hub::new(&codec, config).unwrap();
    let mut hello = Receiver::new(&codec, ReceiverConfig::at_hz(60)).unwrap();
    let hello = hello.poll_transmit(Duration::ZERO).unwrap();
    let mut receivers = Vec::new();
    for (id, lag_ticks) in (0..).map(ReceiverId).zip(lags) {
        hub.add(id, &ReceiverOptions::default(), Duration::ZERO).unwrap();
        hub.handle(id, Duration::ZERO, hello).unwrap();
        let (lag_ticks, on_the_way) = (*lag_ticks, VecDeque::new());
        receivers.push(Acknowledging {
            lag_ticks,
            on_the_way,
            snapshots: 0,
            longest_wait: 0,
            last: 0,
        });
    }
    let mut random = Random::new(7);
    let mut most = 0;
    for tick in 1..=LAST_TICK {
        for (id, receiver) in (0..).map(ReceiverId).zip(&mut receivers) {
            match receiver.lag_ticks {
                Some(lag) => {
                    while let Some((_, latest)) =
                        receiver.on_the_way.pop_front_if(|(sent, _)| *sent + lag <= tick)
                    {
                        let acknowledgement = Acknowledgement { latest, before: 0 };
                        hub.acknowledge(id, at(tick), acknowledgement).unwrap();
                    }
                }
                None => {
                    let count = receiver.on_the_way.len();
                    receiver.on_the_way.drain(..count.saturating_sub(60));
                    let nth = random.below(60) as usize % count.max(1);
                    if let Some((_, latest)) = receiver.on_the_way.get(nth) {
                        let before = if tick > FIRST_TICKS { random.next() as u32 } else { 0 };
                        let acknowledgement = Acknowledgement { latest: *latest, before };
                        let _ = hub.acknowledge(id, at(tick), acknowledgement);
                    }
                }
            }
        }
        world.step(Tick(tick));
        hub.tick(at(tick), &world.snapshot).unwrap();
        if tick > FIRST_TICKS {
            most = most.max(hub.encoded());
        }
        while let Some((to, datagram)) = hub.poll_transmit() {
            let receiver = &mut receivers[to.0 as usize];
            let sequence = sequence_of(datagram);
            receiver.on_the_way.push_back((tick, sequence));
            receiver.snapshots += u32::from(is_snapshot(datagram));
            if tick > FIRST_TICKS {
                receiver.longest_wait = receiver.longest_wait.max(tick - receiver.last);
            }
            receiver.last = tick;
        }
    }
    for receiver in &mut receivers {
        receiver.longest_wait = receiver.longest_wait.max(LAST_TICK - receiver.last);
    }
    (receivers, most)
}

#[test]
fn random_acknowledgements_cost_no_more_than_the_limit_and_starve_no_receiver() {
    for level in LEVELS {
        let lags: Vec<_> = (0..80).map(|id| (id < 48).then_some(2 + id % 6)).collect();
        let (receivers, most) = acknowledging(level, 40, &lags);
        assert!(most <= 12 + 4, "level {}: {most} encodings in a tick", level.row());
        for (id, receiver) in receivers.iter().enumerate() {
            let Acknowledging { lag_ticks, snapshots, longest_wait, .. } = receiver;
            match lag_ticks {
                Some(_) => assert!(
                    *longest_wait == 1,
                    "receiver {id} is honest, and waited for {longest_wait} ticks"
                ),
                None => assert!(
                    *longest_wait < 90 && *snapshots > 40,
                    "receiver {id}: {snapshots} snapshots, {longest_wait} ticks"
                ),
            }
        }
    }
}

/// With 32 random receivers, the honest receiver would get only every 33rd encoding of the
/// outliers. It gets more encodings because the hub finds views that the honest receiver shares
/// with many random receivers.
#[test]
fn an_honest_receiver_with_a_unique_round_trip_is_served_beside_random_ones() {
    for level in LEVELS {
        let lags = (0..48).map(|id| Some(2 + id % 6)).chain([Some(12)]).chain([None; 32]);
        let (receivers, _) = acknowledging(level, 120, &lags.collect::<Vec<_>>());
        let Acknowledging { snapshots, longest_wait, .. } = receivers[48];
        let level = level.row();
        assert!(
            longest_wait < 15 && snapshots > 250,
            "level {level}: {snapshots} snapshots, {longest_wait} ticks"
        );
    }
}
