//! Measures the time of a hub's tick in three settings. The first has 1 to 1,000 receivers of the
//! 901-cube world with round trips of 10 to 200 ms, without and with older views. The second has
//! one receiver with a budget, in a world of 10,000 objects. The third has receivers that each see
//! another part of the world. The benchmark also measures the work of a receiver in a tick.
//!
//! Run `cargo bench -p kinepack-net --bench hub`. The cost of a receiver is the time divided by the
//! number of receivers. This cost falls as the number of receivers grows, because each distinct
//! baseline is encoded once. Encryption and sockets are not included.

use std::collections::VecDeque;
use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use cube_data::cube::{Cube, profile};
use cubes::{Body, Config, Script, Style, World};
use kinepack::{Codec, EntityId, Level, Schema, Snapshot, Tick};
use kinepack_net::{
    Acknowledgement, Hub, HubConfig, Receiver, ReceiverConfig, ReceiverId, ReceiverOptions,
    Sequence, datagram_sequence,
};

const TICK: Duration = Duration::from_nanos(16_666_667);
/// The number of frames of the world, which are played repeatedly.
const FRAMES: usize = 600;

fn codec(level: Level) -> Codec {
    Codec::new(Schema::of::<Cube>(), level, profile()).expect("the built-in profile fits")
}

/// Frames of the cube world, from some seconds after its start.
fn cube_frames() -> Vec<Snapshot> {
    let mut world = World::new(&Config::default()).expect("the default is valid");
    let mut script = Script::new(Style::Typical, 7);
    let mut frame = || {
        let mut snapshot = Snapshot::new(&Schema::of::<Cube>(), Tick(0));
        for (id, Body { position, orientation, interacting, .. }) in world.bodies() {
            snapshot
                .push(EntityId(id), &Cube { position, orientation, interacting })
                .expect("within the range");
        }
        let input = script.next_input(&world);
        world.step(input);
        snapshot
    };
    (0..300).for_each(|_| drop(frame()));
    (0..FRAMES).map(|_| frame()).collect()
}

/// Returns frames of 10,000 objects. Every tenth object walks in a circle.
fn crowd_frames() -> Vec<Snapshot> {
    let frame = |tick: usize| {
        let mut snapshot = Snapshot::new(&Schema::of::<Cube>(), Tick(0));
        for id in 0..10_000u32 {
            let turn = if id % 10 == 0 {
                tick as f32 * std::f32::consts::TAU / FRAMES as f32 + id as f32
            } else {
                0.0
            };
            let (sin, cos) = (turn.sin(), turn.cos());
            let position = [
                (id % 100) as f32 * 4.0 - 200.0 + cos * 3.0,
                (id / 100) as f32 * 4.0 - 200.0 + sin * 3.0,
                1.0,
            ];
            let orientation = [0.0, 0.0, (turn / 2.0).sin(), (turn / 2.0).cos()];
            let cube = Cube { position, orientation, interacting: false };
            snapshot.push(EntityId(id), &cube).expect("within the range");
        }
        snapshot
    };
    (0..120).map(frame).collect()
}

/// A hub whose receivers acknowledge everything after their round trip, except those that
/// acknowledge at random.
struct Crowd {
    hub: Hub,
    frames: Vec<Snapshot>,
    tick: u32,
    /// The number of receivers, at the end of the list, that acknowledge at random to cause work.
    hostile: usize,
    /// The state of a xorshift64 generator.
    random: u64,
    /// For each receiver: its round trip in ticks, and its datagrams in flight, each with the tick
    /// in which it is acknowledged.
    receivers: Vec<(u32, VecDeque<(u32, Sequence)>)>,
}

impl Crowd {
    fn new(
        frames: Vec<Snapshot>,
        receivers: u32,
        budget_bytes_per_s: Option<u32>,
        older_views: u8,
    ) -> Self {
        Self::of_level(Level::PACKED, frames, receivers, budget_bytes_per_s, Some(older_views), 0)
    }

    /// A crowd of `receivers` honest receivers, followed by `hostile` ones.
    fn of_level(
        level: Level,
        frames: Vec<Snapshot>,
        receivers: u32,
        budget_bytes_per_s: Option<u32>,
        older_views: Option<u8>,
        hostile: u32,
    ) -> Self {
        let codec = codec(level);
        let config = HubConfig { older_views, ..HubConfig::default() };
        let mut hub = Hub::new(&codec, config).expect("the default is valid");
        let mut receiver =
            Receiver::new(&codec, ReceiverConfig::at_hz(60)).expect("the default is valid");
        let hello = receiver.poll_transmit(Duration::ZERO).expect("hello comes first");
        let options =
            ReceiverOptions { budget: budget_bytes_per_s.into(), ..ReceiverOptions::default() };
        for id in (0..u64::from(receivers + hostile)).map(ReceiverId) {
            hub.add(id, &options, Duration::ZERO).expect("the ids are distinct");
            hub.handle(id, Duration::ZERO, hello).expect("both sides are alike");
        }
        let ticks = |index: u32| 1 + index * 11 / receivers.max(2).saturating_sub(1);
        let honest = (0..receivers).map(|index| (ticks(index), VecDeque::new()));
        let receivers = honest.chain((0..hostile).map(|_| (1, VecDeque::new()))).collect();
        let mut crowd = Self {
            hub,
            frames,
            tick: 0,
            hostile: hostile as usize,
            random: 0x9E37_79B9,
            receivers,
        };
        // After 200 steps, the full states have arrived.
        for _ in 0..200 {
            crowd.step();
        }
        crowd
    }

    /// Runs a tick, and returns the time that the hub took for it.
    fn step(&mut self) -> Duration {
        self.tick += 1;
        let now = TICK * self.tick;
        let first_hostile = self.receivers.len() - self.hostile;
        for (index, (_, under_way)) in self.receivers.iter_mut().enumerate() {
            // In the first ticks, every receiver acknowledges everything, so that it gets
            // snapshots.
            if index >= first_hostile && self.tick > 100 {
                under_way.drain(..under_way.len().saturating_sub(200));
                let mut next = || {
                    self.random ^= self.random << 13;
                    self.random ^= self.random >> 7;
                    self.random ^= self.random << 17;
                    self.random
                };
                if let Some((_, latest)) = under_way.get(next() as usize % under_way.len().max(1)) {
                    let acknowledgement =
                        Acknowledgement { latest: *latest, before: next() as u32 };
                    let _ = self.hub.acknowledge(ReceiverId(index as u64), now, acknowledgement);
                }
                continue;
            }
            while let Some((_, sequence)) = under_way.pop_front_if(|(due, _)| *due <= self.tick) {
                // The mask also acknowledges the 32 datagrams before this one, except those that
                // were never sent.
                let before = u32::MAX.checked_shr(32 - u32::from(sequence.0.min(32))).unwrap_or(0);
                let acknowledgement = Acknowledgement { latest: sequence, before };
                let _ = self.hub.acknowledge(ReceiverId(index as u64), now, acknowledgement);
            }
        }
        let count = self.frames.len();
        let frame = &mut self.frames[self.tick as usize % count];
        frame.tick = Tick(self.tick);
        let begin = Instant::now();
        self.hub.tick(now, frame).expect("one schema");
        let took = begin.elapsed();
        while let Some((to, datagram)) = self.hub.poll_transmit() {
            let Some(sequence) = datagram_sequence(datagram) else { continue };
            let (round_trip, under_way) = &mut self.receivers[to.0 as usize];
            under_way.push_back((self.tick + *round_trip, sequence));
        }
        took
    }
}

fn receivers(c: &mut Criterion) {
    let mut group = c.benchmark_group("hub_tick_901_cubes");
    group.sample_size(20);
    let frames = cube_frames();
    for (name, older_views) in [("receivers", 0), ("receivers_two_older_views", 2)] {
        for receivers in [1, 10, 100, 1000] {
            let mut crowd = Crowd::new(frames.clone(), receivers, None, older_views);
            group.throughput(Throughput::Elements(u64::from(receivers)));
            group.bench_function(BenchmarkId::new(name, receivers), |b| {
                b.iter_custom(|ticks| (0..ticks).map(|_| crowd.step()).sum());
            });
        }
    }
    group.finish();
}

fn budget(c: &mut Criterion) {
    let mut group = c.benchmark_group("hub_tick_10000_objects");
    group.sample_size(20);
    let frames = crowd_frames();
    for receivers in [1, 10] {
        let mut crowd = Crowd::new(frames.clone(), receivers, Some(64_000), 0);
        group.throughput(Throughput::Elements(u64::from(receivers)));
        group.bench_function(BenchmarkId::new("512_kbps_receivers", receivers), |b| {
            b.iter_custom(|ticks| (0..ticks).map(|_| crowd.step()).sum());
        });
    }
    group.finish();
}

/// Measures 200 honest receivers, alone and with 50 more that acknowledge random views, so that no
/// two of those 50 share an encoding.
fn hostile(c: &mut Criterion) {
    let mut group = c.benchmark_group("hub_tick_901_cubes_200_receivers");
    group.sample_size(20);
    let frames = cube_frames();
    for level in [Level::PACKED, Level::ADAPTIVE, Level::LEARNING] {
        for hostile in [0, 50] {
            let mut crowd = None;
            group.bench_function(
                BenchmarkId::new(format!("{}_and_hostile", level.name()), hostile),
                |b| {
                    let crowd = crowd.get_or_insert_with(|| {
                        let mut crowd =
                            Crowd::of_level(level, frames.clone(), 200, None, None, hostile);
                        (0..300).for_each(|_| _ = crowd.step());
                        crowd
                    });
                    b.iter_custom(|ticks| (0..ticks).map(|_| crowd.step()).sum());
                },
            );
        }
    }
    group.finish();
}

/// Measures receivers that each see their own set of 20 of 1,000 objects, and receivers that all
/// see the same set.
fn relevance(c: &mut Criterion) {
    let mut group = c.benchmark_group("hub_tick_20_of_1000_objects");
    group.sample_size(20);
    let few: Vec<EntityId> = (0..1_000).map(EntityId).collect();
    let mut frames = crowd_frames();
    frames.iter_mut().for_each(|frame| frame.retain(&few));
    for (name, own_sets) in [("own_sets", true), ("one_set", false)] {
        for receivers in [100, 1000] {
            let mut crowd = Crowd::new(frames.clone(), receivers, None, 0);
            for receiver in 0..receivers {
                let first = if own_sets { receiver % 950 } else { 0 };
                let step = 1 + if own_sets { receiver / 950 } else { 0 };
                let set = (0..20).map(|nth| EntityId(first + nth * step)).collect();
                crowd
                    .hub
                    .set_relevant(ReceiverId(u64::from(receiver)), Some(set))
                    .expect("it was added");
            }
            (0..200).for_each(|_| _ = crowd.step());
            group.throughput(Throughput::Elements(u64::from(receivers)));
            group.bench_function(BenchmarkId::new(name, receivers), |b| {
                b.iter_custom(|ticks| (0..ticks).map(|_| crowd.step()).sum());
            });
        }
    }
    group.finish();
}

/// Measures decoding, and interpolating all cubes for a frame.
fn receiver(c: &mut Criterion) {
    let mut group = c.benchmark_group("receiver_901_cubes");
    let codec = codec(Level::PACKED);
    let mut frames = cube_frames();
    let mut tick = 0;
    let mut hub = Hub::new(&codec, HubConfig::default()).expect("the default is valid");
    let mut receiver =
        Receiver::new(&codec, ReceiverConfig::at_hz(60)).expect("the default is valid");
    hub.add(ReceiverId(0), &ReceiverOptions::default(), Duration::ZERO).expect("the first");
    let mut step = |hub: &mut Hub, receiver: &mut Receiver| {
        tick += 1;
        let now = TICK * tick;
        while let Some(datagram) = receiver.poll_transmit(now) {
            let _ = hub.handle(ReceiverId(0), now, datagram);
        }
        let frame = &mut frames[tick as usize % FRAMES];
        frame.tick = Tick(tick);
        hub.tick(now, frame).expect("one schema");
        let mut took = Duration::ZERO;
        while let Some((_, datagram)) = hub.poll_transmit() {
            let begin = Instant::now();
            let _ = black_box(receiver.handle(now, datagram));
            took += begin.elapsed();
        }
        (now, took)
    };
    group.bench_function("datagrams_of_a_tick", |b| {
        b.iter_custom(|ticks| (0..ticks).map(|_| step(&mut hub, &mut receiver).1).sum());
    });
    group.bench_function("playback_of_a_frame", |b| {
        b.iter_custom(|ticks| {
            let mut took = Duration::ZERO;
            for _ in 0..ticks {
                let (now, _) = step(&mut hub, &mut receiver);
                let begin = Instant::now();
                if let Some(playback) = receiver.playback(now) {
                    playback.samples().for_each(|sample| drop(black_box(sample.state::<Cube>())));
                }
                took += begin.elapsed();
            }
            took
        });
    });
    group.finish();
}

criterion_group!(benches, receivers, budget, relevance, hostile, receiver);
criterion_main!(benches);
