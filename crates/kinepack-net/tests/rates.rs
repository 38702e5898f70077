//! Tests of kinds that are not sent in each tick. Such kinds take fewer bytes, play smoothly, and
//! share encodings.

use std::time::Duration;

use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
use kinepack_net::{
    Hub, HubConfig, KindOptions, NetError, Receiver, ReceiverConfig, ReceiverId, ReceiverOptions,
};

use crate::support::TICK_HZ;

/// The quantization step of the positions, in metres.
const STEP_M: f32 = 0.01;

#[derive(Pack, Clone, Debug)]
struct Runner {
    #[pack(range = -200.0..200.0, precision = 0.01, clamp)]
    position: [f32; 3],
}

#[derive(Pack, Clone, Debug)]
struct Debris {
    #[pack(range = -200.0..200.0, precision = 0.01, clamp)]
    position: [f32; 3],
}

fn schema() -> Schema {
    Schema::builder().kind::<Runner>("runner").kind::<Debris>("debris").build().unwrap()
}

/// The position of an entity at the fractional tick `tick`.
fn position(id: u32, tick: f32) -> [f32; 3] {
    [id as f32, tick * 0.05, (tick * 0.03).sin()]
}

fn world(tick: u32, runners: u32) -> Snapshot {
    let mut world = Snapshot::new(&schema(), Tick(tick));
    for id in 0..runners {
        world.push(EntityId(id), &Runner { position: position(id, tick as f32) }).unwrap();
    }
    for id in 100..140 {
        world.push(EntityId(id), &Debris { position: position(id, tick as f32) }).unwrap();
    }
    world
}

/// A hub and its receivers, which answer immediately.
struct Session {
    hub: Hub,
    receivers: Vec<Receiver>,
    datagrams: u64,
    bytes: u64,
}

impl Session {
    fn new(level: Level, every: u32, receivers: u64) -> Self {
        let codec = Codec::new(schema(), level, Profile::untrained(&schema())).unwrap();
        let mut hub = Hub::new(&codec, HubConfig::default()).unwrap();
        hub.set_kind("debris", KindOptions { every, ..KindOptions::default() }).unwrap();
        let receivers = (0..receivers).map(|id| {
            hub.add(ReceiverId(id), &ReceiverOptions::default(), Duration::ZERO).unwrap();
            Receiver::new(&codec, ReceiverConfig::at_hz(TICK_HZ)).unwrap()
        });
        let receivers = receivers.collect();
        Self { hub, receivers, datagrams: 0, bytes: 0 }
    }

    fn step(&mut self, world: &Snapshot) -> Duration {
        let now = Duration::from_secs(1) * world.tick.0 / TICK_HZ;
        for (id, receiver) in (0..).zip(&mut self.receivers) {
            while let Some(datagram) = receiver.poll_transmit(now) {
                self.hub.handle(ReceiverId(id), now, datagram).unwrap();
            }
        }
        self.hub.tick(now, world).unwrap();
        while let Some((to, datagram)) = self.hub.poll_transmit() {
            self.datagrams += 1;
            self.bytes += datagram.len() as u64;
            self.receivers[to.0 as usize].handle(now, datagram).unwrap();
        }
        now
    }
}

#[test]
fn playback_of_a_slower_kind_is_smooth() {
    for level in [Level::PACKED, Level::ADAPTIVE] {
        let mut session = Session::new(level, 4, 1);
        let mut shown = 0;
        for tick in 1..=600 {
            let now = session.step(&world(tick, 10));
            let Some(playback) = session.receivers[0].playback(now) else { continue };
            // The first ticks do not count, because the delay adapts.
            if tick < 120 {
                continue;
            }
            assert!(f64::from(tick) - playback.tick < 8.0, "{} {tick}", playback.tick);
            for sample in playback.samples_of::<Debris>().unwrap() {
                let is = sample.state::<Debris>().unwrap().position;
                let moment = position(sample.id.0, playback.tick as f32);
                for (is, should_be) in is.into_iter().zip(moment) {
                    assert!((is - should_be).abs() < 1.5 * STEP_M, "{level:?} {tick}: {is}");
                }
                shown += 1;
            }
        }
        assert!(shown > 40 * 400);
    }
}

#[test]
fn a_slower_kind_takes_fewer_bytes_and_receivers_share_its_encodings() {
    let bytes = [1, 4].map(|every| {
        let mut session = Session::new(Level::PACKED, every, 6);
        for tick in 1..=300 {
            session.step(&world(tick, 10));
            assert!(tick < 3 || session.hub.encoded() <= 1, "{}", session.hub.encoded());
        }
        session.bytes
    });
    assert!(bytes[1] * 2 < bytes[0], "{bytes:?}");
}

#[test]
fn ticks_in_which_all_that_moves_rests_send_nothing() {
    let mut session = Session::new(Level::PACKED, 4, 1);
    for tick in 1..=240 {
        session.step(&world(tick, 0));
    }
    assert!((58..64).contains(&session.datagrams), "{}", session.datagrams);
    // Added and removed entities do not wait, although only one of these ticks is due.
    for tick in 241..245 {
        let mut world = Snapshot::new(&schema(), Tick(tick));
        for id in 100 + tick - 240..140 + tick - 240 {
            world.push(EntityId(id), &Debris { position: position(id, tick as f32) }).unwrap();
        }
        session.step(&world);
        assert_eq!(session.receivers[0].newest().unwrap().ids(), world.ids(), "{tick}");
    }
}

#[test]
fn unknown_kinds_and_bad_options_are_refused() {
    let codec = Codec::new(schema(), Level::PACKED, Profile::untrained(&schema())).unwrap();
    let mut hub = Hub::new(&codec, HubConfig::default()).unwrap();
    let missing = NetError::NoSuchKind { name: "crate".into() };
    assert_eq!(hub.set_kind("crate", KindOptions::default()), Err(missing.clone()));
    assert_eq!(missing.to_string(), "the schema has no kind `crate`");
    for (every, priority) in
        [(0, 1.0), (3, 1.0), (16, 1.0), (1, -0.1), (1, f32::NAN), (1, f32::INFINITY)]
    {
        let options = KindOptions { every, priority };
        let refused = hub.set_kind("debris", options).unwrap_err();
        assert!(matches!(refused, NetError::KindOptions { .. }), "{refused}");
    }
    hub.set_kind("runner", KindOptions { every: 8, priority: 0.0 }).unwrap();
}
