//! Checks that the caller's threads change no byte. Hubs that get the same calls send the same
//! datagrams to each receiver, with and without threads, whatever the threads do.

#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use kinepack::{Codec, EntityId, Level, Tick};
use kinepack_net::{
    Hub, HubConfig, Link, LinkConfig, Loss, Receiver, ReceiverConfig, ReceiverId, ReceiverOptions,
    Work,
};
use support::{Random, TICK_HZ, World, coarse_codec, codec_at, emit_some, event_kinds};

/// The number of receivers, enough for more than two parts of work.
const RECEIVERS: u64 = 100;

/// How many times a hub had work for threads.
static CALLS: AtomicUsize = AtomicUsize::new(0);

/// Runs a hub's work, well or badly.
type Run = fn(&Work<'_>);

const RUNS: [Run; 4] = [
    // Several threads take parts at the same time.
    |work| {
        assert!(work.parts() > 1, "a single part needs no threads");
        CALLS.fetch_add(1, Ordering::Relaxed);
        thread::scope(|scope| (0..3).for_each(|_| drop(scope.spawn(|| work.run()))));
    },
    // Another thread does all work, so the caller's own call finds no part.
    |work| thread::scope(|scope| drop((scope.spawn(|| work.run()).join(), work.run()))),
    // No thread does any work, so the hub must do all of it.
    |_| {},
    // The threads start late, or never.
    |work| {
        if work.parts() % 2 == 0 {
            thread::scope(|scope| {
                scope.spawn(|| {
                    thread::yield_now();
                    work.run();
                });
                work.run();
            });
        }
    },
];

/// The parameters of a session.
struct Session {
    level: Level,
    codec: Codec,
    world: World,
    config: HubConfig,
    /// The budget of every fourth receiver, in bytes per second.
    budget_bytes_per_s: Option<u32>,
    with_sights: bool,
    with_priorities: bool,
    with_events: bool,
}

impl Session {
    fn new(level: Level, entities: usize) -> Self {
        let mut world = World::new(entities, 5);
        world.moving_one_in = 2;
        Self {
            level,
            codec: codec_at(level),
            world,
            config: HubConfig::default(),
            budget_bytes_per_s: None,
            with_sights: false,
            with_priorities: false,
            with_events: false,
        }
    }

    /// Runs the session with a hub without threads, and with one hub for each of [`RUNS`].
    fn compare(mut self, ticks: u32) {
        let hub = || {
            let hub = Hub::new(&self.codec, self.config.clone()).unwrap();
            if self.with_events { hub.with_events(&event_kinds()) } else { hub }
        };
        let mut hubs: Vec<Hub> = (0..=RUNS.len()).map(|_| hub()).collect();
        let mut receivers = Vec::new();
        for id in 0..RECEIVERS {
            let budget_bytes_per_s = self.budget_bytes_per_s.filter(|_| id % 4 == 0);
            let options =
                ReceiverOptions { budget: budget_bytes_per_s.into(), ..ReceiverOptions::default() };
            for hub in &mut hubs {
                hub.add(ReceiverId(id), &options, Duration::ZERO).unwrap();
                if self.with_sights && id % 3 > 0 {
                    let near: Arc<[EntityId]> =
                        (0..200).filter(|near| near % 3 != id as u32 % 3).map(EntityId).collect();
                    hub.set_relevant(ReceiverId(id), Some(near)).unwrap();
                }
            }
            let receiver = Receiver::new(&self.codec, ReceiverConfig::at_hz(60)).unwrap();
            let receiver =
                if self.with_events { receiver.with_events(&event_kinds()) } else { receiver };
            let link = LinkConfig {
                latency: Duration::from_millis(10 + 7 * (id % 8)),
                jitter: Duration::from_millis(if id % 5 == 0 { 20 } else { 0 }),
                loss: Loss::Independent { ratio: if id % 6 == 0 { 0.1 } else { 0.0 } },
                ..LinkConfig::PERFECT
            };
            let link = |seed| Link::new(link, seed).unwrap();
            receivers.push((receiver, link(2 * id), link(2 * id + 1)));
        }
        let priority = |to: ReceiverId, id: EntityId| (to.0 + u64::from(id.0)) as f32 % 5.0;
        let mut arrived = 0;
        for tick in 1..=ticks {
            let now = Duration::from_secs(1) * tick / TICK_HZ;
            for (id, (receiver, down, up)) in (0..).map(ReceiverId).zip(&mut receivers) {
                while let Some(datagram) = down.poll(now) {
                    arrived += u64::from(receiver.handle(now, &datagram).is_ok());
                }
                while let Some(datagram) = receiver.poll_transmit(now) {
                    up.send(now, datagram);
                }
                while let Some(datagram) = up.poll(now) {
                    for hub in &mut hubs {
                        let _ = hub.handle(id, now, &datagram);
                    }
                }
            }
            self.world.step(Tick(tick));
            let world = &self.world.snapshot;
            let mut expected = None;
            for (index, hub) in hubs.iter_mut().enumerate() {
                if self.with_events {
                    emit_some(hub, tick, 1, &mut Random::new(u64::from(tick)));
                }
                let priority =
                    self.with_priorities.then_some(&priority as kinepack_net::Priority<'_>);
                match index.checked_sub(1) {
                    Some(run) => hub.tick_on(now, world, priority, RUNS[run]).unwrap(),
                    None => hub.tick_with(now, world, priority).unwrap(),
                }
                let mut sent = BTreeMap::<_, Vec<Vec<u8>>>::new();
                while let Some((to, datagram)) = hub.poll_transmit() {
                    sent.entry(to).or_default().push(datagram.to_vec());
                }
                let status: Vec<_> = (0..RECEIVERS).map(|id| hub.status(ReceiverId(id))).collect();
                let result = (sent, hub.encoded(), status);
                let row = self.level.row();
                match &expected {
                    Some(expected) => assert!(*expected == result, "{row}, {index}: tick {tick}"),
                    None => expected = Some(result),
                }
            }
            for (to, datagrams) in expected.unwrap().0 {
                let (_, down, _) = &mut receivers[to.0 as usize];
                datagrams.iter().for_each(|datagram| down.send(now, datagram));
            }
        }
        assert!(arrived > u64::from(ticks) * RECEIVERS / 3, "{arrived} datagrams arrived");
    }
}

const LEVELS: [Level; 3] = [Level::PACKED, Level::ADAPTIVE, Level::LEARNING];

#[test]
fn receivers_without_budgets() {
    for level in LEVELS {
        Session::new(level, 30).compare(240);
    }
    assert!(CALLS.load(Ordering::Relaxed) > 500, "each tick should have two stages");
}

/// Each state takes several datagrams, and the first one is a full state.
#[test]
fn large_worlds() {
    for level in LEVELS {
        Session { with_events: true, ..Session::new(level, 400) }.compare(90);
    }
}

#[test]
fn budgets_weights_and_events() {
    for level in LEVELS {
        let session = Session::new(level, 120);
        let (with_priorities, with_events) = (true, true);
        let budget_bytes_per_s = Some(6_000);
        Session { budget_bytes_per_s, with_priorities, with_events, ..session }.compare(120);
    }
}

#[test]
fn sights_and_few_encodings() {
    for level in LEVELS {
        let session = Session::new(level, 60);
        let config = HubConfig { encodings_per_tick: 4, ..session.config.clone() };
        Session { config, with_sights: true, ..session }.compare(180);
    }
}

#[test]
fn a_time_precision() {
    for level in [Level::PACKED, Level::ADAPTIVE] {
        let session = Session::new(level, 60);
        Session { codec: coarse_codec(level), with_sights: true, ..session }.compare(120);
    }
}
