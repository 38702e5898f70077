//! Tests of state checks. A receiver with wrong memory or arithmetic detects the fault, and the
//! session recovers.

use std::time::Duration;

use kinepack::{Codec, EntityId, Level};
use kinepack_net::{
    Handled, Hub, HubConfig, Link, LinkConfig, Loss, NetError, PRESETS, Receiver, ReceiverConfig,
    ReceiverId, ReceiverOptions, Refused, Sequence,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::support::{Random, TICK_HZ, World, coarse_codec, codec_at, is_snapshot, sequence_of};

const ID: ReceiverId = ReceiverId(1);
const LEVELS: [Level; 3] = [Level::PACKED, Level::ADAPTIVE, Level::LEARNING];

fn at(tick: u32) -> Duration {
    Duration::from_secs(1) * tick / TICK_HZ
}

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A receiver with faults.
struct Session {
    hub: Hub,
    receiver: Receiver,
    down: Link,
    up: Link,
    world: World,
    random: Random,
    tick: u32,
    bytes: u64,
    /// The time of the last accepted datagram.
    taken_at: Duration,
    /// Whether there is a fault that no check has found yet.
    is_faulty: bool,
    noticed_at: Option<Duration>,
    /// The time from the first failed check until the receiver accepted a state.
    healed_after: Vec<Duration>,
}

impl Session {
    fn new(
        codec: &Codec,
        config: HubConfig,
        options: &ReceiverOptions,
        link: LinkConfig,
        seed: u64,
    ) -> Self {
        let mut hub = Hub::new(codec, config).unwrap();
        hub.add(ID, options, Duration::ZERO).unwrap();
        Self {
            hub,
            receiver: Receiver::new(codec, ReceiverConfig::at_hz(60)).unwrap(),
            down: Link::new(link, seed * 2).unwrap(),
            up: Link::new(link, seed * 2 + 1).unwrap(),
            world: World::new(50, seed),
            random: Random::new(seed),
            tick: 0,
            bytes: 0,
            taken_at: Duration::ZERO,
            is_faulty: false,
            noticed_at: None,
            healed_after: Vec::new(),
        }
    }

    /// Runs a tick. The receiver's view equals the hub's, except between a fault and the check that
    /// finds it.
    fn step(&mut self) {
        self.tick += 1;
        let now = at(self.tick);
        while let Some(datagram) = self.down.poll(now) {
            let mismatches = self.receiver.stats().mismatches;
            let taken = self.receiver.handle(now, &datagram);
            if self.receiver.stats().mismatches > mismatches {
                assert!(
                    taken.is_err() && std::mem::take(&mut self.is_faulty),
                    "a mismatch without a fault: {taken:?}"
                );
                self.noticed_at = self.noticed_at.or(Some(now));
            } else if taken.is_ok() {
                self.taken_at = now;
                self.healed_after.extend(self.noticed_at.take().map(|noticed| now - noticed));
            }
            let sequence = sequence_of(&datagram);
            if taken.is_ok() && is_snapshot(&datagram) && !self.is_faulty {
                let meant = self.hub.view(ID, sequence);
                assert!(
                    meant.is_none() || self.receiver.view(sequence) == meant.as_ref(),
                    "{sequence:?} differs"
                );
            }
        }
        while let Some(datagram) = self.receiver.poll_transmit(now) {
            self.up.send(now, datagram);
        }
        while let Some(datagram) = self.up.poll(now) {
            let handled = self.hub.handle(ID, now, &datagram);
            assert!(
                matches!(handled, Ok(_) | Err(Refused::LongAgo | Refused::NoHello)),
                "{handled:?}"
            );
        }
        self.world.step(kinepack::Tick(self.tick));
        self.hub.tick(now, &self.world.snapshot).unwrap();
        while let Some((_, datagram)) = self.hub.poll_transmit() {
            self.bytes += datagram.len() as u64;
            self.down.send(now, datagram);
        }
    }

    /// Changes a lane of the receiver's newest view by one.
    fn inject_fault(&mut self) {
        let Some(view) =
            self.receiver.newest_sequence().and_then(|sequence| self.receiver.view(sequence))
        else {
            return;
        };
        if view.is_empty() {
            return;
        }
        let id = view.ids()[self.random.below(view.len() as u64) as usize];
        let lane = self.random.below(view.lane_count() as u64) as usize;
        self.is_faulty |= self.receiver.inject_fault(id, lane);
    }

    /// Whether any of the receiver's views differs from the hub's.
    fn holds_other_views(&self) -> bool {
        let newest = self.receiver.newest_sequence().unwrap();
        let differs = |sequence| {
            let (held, meant) = (self.receiver.view(sequence), self.hub.view(ID, sequence));
            held.zip(meant.as_ref()).is_some_and(|(held, meant)| held != meant)
        };
        (0..256).any(|before| differs(newest.before(before)))
    }

    /// Runs without motion or losses until the receiver holds everything.
    fn settle(&mut self) {
        self.world.moving_one_in = u64::MAX;
        self.world.change_one_in = u64::MAX;
        self.down.reconfigure(LinkConfig::default()).unwrap();
        self.up.reconfigure(LinkConfig::default()).unwrap();
        for _ in 0..40 * TICK_HZ {
            self.step();
            let is_same = self
                .receiver
                .newest()
                .is_some_and(|newest| newest.holds_same(&self.world.snapshot));
            if is_same && self.tick.is_multiple_of(30) && !self.holds_other_views() {
                return;
            }
        }
        panic!("never settled: {:?} {:?}", self.hub.status(ID), self.receiver.stats());
    }
}

fn checking(check_every_bytes: u32) -> HubConfig {
    HubConfig { check_every_bytes: Some(check_every_bytes), ..HubConfig::default() }
}

#[test]
fn a_fault_heals_within_three_round_trips_of_the_check_that_finds_it() {
    for level in LEVELS {
        for (seed, latency) in [(1, millis(20)), (2, millis(90)), (3, millis(200))] {
            let link = LinkConfig { latency, ..LinkConfig::default() };
            let options = ReceiverOptions::default();
            let mut session = Session::new(&codec_at(level), checking(0), &options, link, seed);
            for tick in 1..120 * TICK_HZ {
                session.step();
                if tick.is_multiple_of(5 * TICK_HZ) {
                    session.inject_fault();
                }
            }
            let healed = &session.healed_after;
            assert!(healed.len() >= 10, "{level:?}: {healed:?}");
            let longest = healed.iter().max().unwrap();
            assert!(*longest <= 3 * 2 * latency, "{level:?}: {longest:?}");
            let stats = session.receiver.stats();
            assert_eq!(stats.mismatches, healed.len() as u64);
            assert_eq!(session.hub.status(ID).unwrap().sent_anew, stats.mismatches);
        }
    }
}

/// A receiver's decoder computes other values than the sender's encoder, although the receiver's
/// hello claims the same arithmetic.
#[test]
fn a_receiver_with_other_arithmetic_notices_it_and_harms_no_other() {
    let exact = codec_at(Level::ADAPTIVE);
    let options = ReceiverOptions::default();
    let mut session =
        Session::new(&exact, HubConfig::default(), &options, LinkConfig::default(), 5);
    session.receiver =
        Receiver::new(&coarse_codec(Level::ADAPTIVE), ReceiverConfig::at_hz(60)).unwrap();
    let hello = Receiver::new(&exact, ReceiverConfig::at_hz(60))
        .unwrap()
        .poll_transmit(Duration::ZERO)
        .unwrap()
        .to_vec();
    assert_eq!(session.hub.handle(ID, Duration::ZERO, &hello), Ok(Handled::Joined));
    let mut receiver = Receiver::new(&exact, ReceiverConfig::at_hz(60)).unwrap();
    session.hub.add(ReceiverId(2), &options, Duration::ZERO).unwrap();
    session
        .hub
        .handle(ReceiverId(2), Duration::ZERO, receiver.poll_transmit(Duration::ZERO).unwrap())
        .unwrap();
    for tick in 1..20 * TICK_HZ {
        let now = at(tick);
        session.world.step(kinepack::Tick(tick));
        session.hub.tick(now, &session.world.snapshot).unwrap();
        let mut sent = Vec::new();
        while let Some((to, datagram)) = session.hub.poll_transmit() {
            sent.push((to, datagram.to_vec()));
        }
        for (to, datagram) in sent {
            let receiver = if to == ID { &mut session.receiver } else { &mut receiver };
            let _ = receiver.handle(now, &datagram);
        }
        for (id, receiver) in [(ID, &mut session.receiver), (ReceiverId(2), &mut receiver)] {
            while let Some(datagram) = receiver.poll_transmit(now) {
                // From now on, the receiver's hello matches its state.
                let _ = session.hub.handle(id, now, datagram);
            }
        }
        assert!(
            receiver.newest() == Some(&session.world.snapshot),
            "the other receiver always has everything"
        );
    }
    let stats = session.receiver.stats();
    assert!(stats.mismatches > 10, "{stats:?}");
    let sent_anew = session.hub.status(ID).unwrap().sent_anew;
    assert!((10..=80).contains(&sent_anew), "at most four a second: {sent_anew}");
    assert_eq!(receiver.stats().mismatches, 0);
}

#[test]
fn checks_cost_less_than_a_fifth_of_a_percent() {
    for level in LEVELS {
        let link = LinkConfig { latency: millis(40), ..LinkConfig::default() };
        let bytes = |check_every_bytes| {
            let config = HubConfig { check_every_bytes, ..HubConfig::default() };
            let mut session =
                Session::new(&codec_at(level), config, &ReceiverOptions::default(), link, 9);
            (0..120 * TICK_HZ).for_each(|_| session.step());
            (session.bytes, session.receiver.stats().checked)
        };
        let ((with, checked), (without, none)) =
            (bytes(HubConfig::default().check_every_bytes), bytes(None));
        assert!(none == 0 && checked > 30, "{level:?}: {checked} checks");
        // The last snapshot may still be in flight.
        assert!((3 * checked..=3 * checked + 3).contains(&(with - without)), "{level:?}");
        assert!((with - without) * 1000 < with * 2, "{level:?}: {without} bytes became {with}");
    }
}

/// A hub whose receiver sent a hello and then nothing for `ticks` ticks, and the hub's world.
fn hub_after(ticks: u32) -> (Hub, World) {
    let (mut hub, mut world) =
        (Hub::new(&codec_at(Level::PACKED), HubConfig::default()).unwrap(), World::new(9, 3));
    hub.add(ID, &ReceiverOptions::default(), Duration::ZERO).unwrap();
    let mut receiver = Receiver::new(&codec_at(Level::PACKED), ReceiverConfig::at_hz(60)).unwrap();
    hub.handle(ID, Duration::ZERO, receiver.poll_transmit(Duration::ZERO).unwrap()).unwrap();
    for tick in 1..=ticks {
        world.step(kinepack::Tick(tick));
        hub.tick(at(tick), &world.snapshot).unwrap();
    }
    (hub, world)
}

fn anew(sequence: u16) -> Vec<u8> {
    [&[12], &sequence.to_le_bytes()[..]].concat()
}

#[test]
fn an_anew_must_name_a_sent_sequence_and_is_accepted_once() {
    let mut hub = Hub::new(&codec_at(Level::PACKED), HubConfig::default()).unwrap();
    assert_eq!(hub.handle(ID, Duration::ZERO, &anew(0)), Err(Refused::UnknownReceiver));
    hub.add(ID, &ReceiverOptions::default(), Duration::ZERO).unwrap();
    assert_eq!(hub.handle(ID, Duration::ZERO, &anew(0)), Err(Refused::NoHello));
    let (mut hub, mut world) = hub_after(10);
    let sent_anew = |hub: &Hub| hub.status(ID).unwrap().sent_anew;
    for sequence in [10, 11, 0x7000, 0x8009, 0xFFFF] {
        assert_eq!(hub.handle(ID, at(10), &anew(sequence)), Err(Refused::NeverSent), "{sequence}");
    }
    // A request is accepted once, however many times it is repeated. It is not accepted for
    // datagrams that were sent before it.
    for sequence in [5, 5, 3, 9] {
        assert_eq!(hub.handle(ID, at(10), &anew(sequence)), Ok(Handled::Anew));
        assert_eq!(sent_anew(&hub), 1);
    }
    // No further request is accepted within 250 ms.
    world.step(kinepack::Tick(11));
    hub.tick(at(11), &world.snapshot).unwrap();
    for (tick, count) in [(11, 1), (24, 1), (25, 2)] {
        assert_eq!(hub.handle(ID, at(tick), &anew(10)), Ok(Handled::Anew));
        assert_eq!(sent_anew(&hub), count, "tick {tick}");
    }
    let (mut hub, _) = hub_after(30 * TICK_HZ);
    assert_eq!(
        hub.handle(ID, at(30 * TICK_HZ), &anew(0)),
        Ok(Handled::Anew),
        "a silent receiver gets few datagrams"
    );
    let (mut hub, _) = hub_after(90 * TICK_HZ);
    assert_eq!(hub.handle(ID, at(90 * TICK_HZ), &anew(0)), Err(Refused::LongAgo));
}

#[test]
fn no_fault_without_a_view() -> Result<(), NetError> {
    let mut receiver = Receiver::new(&codec_at(Level::PACKED), ReceiverConfig::at_hz(60))?;
    assert!(!receiver.inject_fault(EntityId(1), 0));
    Ok(())
}

/// On any link, at any level, budget and time between checks, faults happen and the session
/// recovers.
#[test]
fn sessions_with_faults_recover() {
    let cases =
        std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(24);
    let config =
        Config { cases, failure_persistence: None, max_shrink_iters: 60, ..Config::default() };
    let mut runner =
        TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let link = (0..PRESETS.len(), 0.0f32..0.3).prop_map(|(preset, loss)| match preset {
        0 => LinkConfig {
            latency: millis(30),
            loss: Loss::bursts(loss, 3.0),
            ..LinkConfig::default()
        },
        _ => PRESETS[preset].config,
    });
    let budget = prop_oneof![Just(None), (3_000u32..40_000).prop_map(Some)];
    let hub =
        (prop_oneof![Just(0u32), 1u32..3_000], prop_oneof![Just(1_200usize), Just(200)], budget);
    let any = (1u64..1 << 40, link, hub, 0usize..3, any::<bool>(), 20u32..200);
    let outcome = runner.run(&any, |(seed, link, hub, level, is_coarse, fault_every)| {
        let (check_every_bytes, datagram_bytes, budget_bytes_per_s) = hub;
        let datagram_bytes = datagram_bytes.min(link.mtu_bytes as usize - 28);
        let config = HubConfig { datagram_bytes, ..checking(check_every_bytes) };
        let options =
            ReceiverOptions { budget: budget_bytes_per_s.into(), first_sequence: Sequence(65_400) };
        let codec = if is_coarse { coarse_codec(LEVELS[level]) } else { codec_at(LEVELS[level]) };
        let mut session = Session::new(&codec, config, &options, link, seed);
        for tick in 1u32..600 {
            session.step();
            if tick.is_multiple_of(fault_every) {
                session.inject_fault();
            }
        }
        session.settle();
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}
