//! Properties of whole sessions over generated links, budgets, worlds, initial states, relevance
//! and outages. The generator has a fixed seed, so every run is the same. A session that failed
//! becomes a named test.
//!
//! For a long run, use `PROPTEST_CASES=20000 cargo test -p kinepack-net --release properties::`.

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use kinepack::{Codec, EntityId, Level, Snapshot, Tick};
use kinepack_net::{
    Budget, CongestionControl, Hub, HubConfig, Link, LinkConfig, Loss, Received, Receiver,
    ReceiverConfig, ReceiverId, ReceiverOptions, Refused, Sequence,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::support::{
    Random, TICK_HZ, World, coarse_codec, codec, codec_at, emit_some, event_kinds, is_snapshot,
    lanes, most_off, number_of, older_sequences, sequence_of, unchecked,
};

const ID: ReceiverId = ReceiverId(1);
const OVERHEAD_BYTES: usize = 28;

/// The parameters of one session.
#[derive(Clone, Debug)]
struct Case {
    seed: u64,
    link: LinkConfig,
    budget: Budget,
    datagram_bytes: usize,
    first_sequence: u16,
    entities: usize,
    /// Whether both sides start from the first state of the world.
    knows_initial: bool,
    moving_one_in: u64,
    change_one_in: u64,
    ticks_per_snapshot: u32,
    /// The ticks in which the links deliver nothing: first from hub to receiver, then from receiver
    /// to hub.
    outages: [(u32, u32); 2],
    /// The number of ticks between changes of the relevant set; 0 if everything is relevant.
    relevance_every: u32,
    /// The mean number of events in a tick; 0 for a session without events.
    events: u64,
    has_priorities: bool,
    older_views: u8,
    /// The level of the codec that the receiver chooses.
    level: Level,
    /// Whether the receiver's codec has a time precision.
    coarse: bool,
    ticks: u32,
}

impl Case {
    /// The most bytes per second that the budget ever allows.
    fn most_bytes_per_s(&self) -> Option<u32> {
        match self.budget {
            Budget::Unlimited => None,
            Budget::Fixed { bytes_per_s } | Budget::Auto { at_most: bytes_per_s } => {
                Some(bytes_per_s)
            }
        }
    }

    /// The least bytes per second that the budget allows on any link.
    fn least_bytes_per_s(&self) -> u32 {
        match self.budget {
            Budget::Unlimited => u32::MAX,
            Budget::Fixed { bytes_per_s } => bytes_per_s,
            Budget::Auto { at_most } => at_most.min(CongestionControl::LEAST_BYTES_PER_S),
        }
    }

    fn codec(&self) -> Codec {
        if self.coarse { coarse_codec(self.level) } else { codec_at(self.level) }
    }

    /// Whether some values may be coarse, because there are older views and a precision.
    fn may_be_coarse(&self) -> bool {
        self.coarse && self.older_views > 0
    }
}

fn any_link() -> impl Strategy<Value = LinkConfig> {
    let loss = prop_oneof![
        1 => Just(Loss::None),
        3 => (0.0f32..0.5).prop_map(|ratio| Loss::Independent { ratio }),
        2 => (0.01f32..0.3, 2.0f32..30.0).prop_map(|(ratio, burst)| Loss::bursts(ratio, burst)),
    ];
    let ratio = || prop_oneof![Just(0.0f32), 0.0f32..0.3];
    (
        loss,
        ratio(),
        ratio(),
        0u64..1000,
        0u64..150,
        0u64..80,
        prop_oneof![3 => Just(65_535u32), 1 => Just(700u32)],
    )
        .prop_map(
            |(loss, duplicate_ratio, reorder_ratio, reorder, latency, jitter, mtu_bytes)| {
                LinkConfig {
                    latency: Duration::from_millis(latency),
                    jitter: Duration::from_millis(jitter),
                    loss,
                    duplicate_ratio,
                    reorder_ratio,
                    reorder_delay: Duration::from_millis(reorder),
                    mtu_bytes,
                    ..LinkConfig::default()
                }
            },
        )
}

fn any_case() -> impl Strategy<Value = Case> {
    let budget = prop_oneof![
        1 => Just(Budget::Unlimited),
        2 => (3_000u32..100_000).prop_map(|bytes_per_s| Budget::Fixed { bytes_per_s }),
        1 => (3_000u32..100_000).prop_map(|at_most| Budget::Auto { at_most }),
    ];
    let datagram_bytes = prop_oneof![2 => Just(1200usize), 1 => 128usize..600];
    let first_sequence =
        prop_oneof![1 => Just(0u16), 2 => 65_000u16..=65_535, 1 => 32_000u16..33_000];
    // Long outages leave the whole window unanswered. Early outages affect the first state.
    let outage = || {
        let long = (20u32..80, 300u32..540);
        prop_oneof![2 => Just((0u32, 0u32)), 1 => (100u32..300, 60u32..300), 1 => long]
            .prop_map(|(at, len)| (at, at + len))
    };
    let entities = prop_oneof![4 => 1usize..120, 1 => 120usize..500];
    let world = (entities, any::<bool>(), 1u64..5, prop_oneof![Just(2u64), Just(20), Just(1000)]);
    let hub = (budget, datagram_bytes, first_sequence, prop_oneof![2 => Just(1u32), 1 => Just(6)]);
    let relevance_every = prop_oneof![2 => Just(0u32), 1 => 5u32..100];
    let any_level = prop_oneof![
        2 => Just(Level::PACKED),
        2 => Just(Level::ADAPTIVE),
        2 => Just(Level::LEARNING),
        1 => (6usize..11).prop_map(|row| Level::TABLE[row]),
    ];
    let events = prop_oneof![2 => Just(0u64), 1 => 1u64..4];
    let seen = (relevance_every, events, any::<bool>());
    let rest = ([outage(), outage()], seen, 0u8..=3, any_level, any::<bool>());
    (1u64..1 << 40, any_link(), world, hub, rest).prop_map(|(seed, link, world, hub, rest)| {
        let (entities, knows_initial, moving_one_in, change_one_in) = world;
        let (budget, datagram_bytes, first_sequence, ticks_per_snapshot) = hub;
        // The hub must not send datagrams that are too large for the path.
        let datagram_bytes = datagram_bytes.min(link.mtu_bytes as usize - OVERHEAD_BYTES);
        let (outages, (relevance_every, events, has_priorities), older_views, level, coarse) = rest;
        Case {
            seed,
            link,
            budget,
            datagram_bytes,
            first_sequence,
            entities,
            knows_initial,
            moving_one_in,
            change_one_in,
            ticks_per_snapshot,
            outages,
            relevance_every,
            events,
            has_priorities,
            older_views,
            level,
            coarse,
            ticks: 600,
        }
    })
}

/// The number of cases in the environment variable `PROPTEST_CASES`, or else `short`.
fn cases(short: u32) -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(short)
}

/// Tries a property on `cases` values.
fn for_all(cases: u32, property: impl Fn(Case)) {
    let config =
        Config { cases, failure_persistence: None, max_shrink_iters: 60, ..Config::default() };
    let mut runner =
        TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let outcome = runner.run(&any_case(), |case| {
        property(case);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

/// The view that the hub reports for the receiver after a datagram.
struct Sent {
    view: Snapshot,
    /// The state that the receiver may see.
    visible: Snapshot,
    left_out: bool,
    older: Vec<Snapshot>,
}

/// A running session, with all its checks.
struct Session {
    case: Case,
    hub: Hub,
    receiver: Receiver,
    down: Link,
    up: Link,
    world: World,
    tick: u32,
    relevant: Option<Arc<[EntityId]>>,
    sent: HashMap<u16, Sent>,
    /// For each entity, the lanes that it has had, or that a coarse snapshot gave it.
    had: HashMap<EntityId, HashSet<Vec<u32>>>,
    before: Snapshot,
    /// The maximum number of bytes that the budget would allow now.
    bucket: f64,
    newest_baseline: Option<u16>,
    newest_tick: u32,
    shown_tick: f64,
    jumps: u64,
    random: Random,
    /// The number of datagrams sent.
    datagrams: u64,
    snapshots: u64,
    /// The least priority of an entity. Entities of priority 0 are never sent if not everything
    /// fits.
    least_priority: f32,
    /// The number of values of views that are coarser than in the visible state.
    off: u64,
    /// Events that must arrive and have not been handed on.
    owed: BTreeSet<(u32, u32)>,
    /// The last event that was handed on.
    last_event: Option<(u32, u32)>,
    handed_on: u64,
}

impl Session {
    fn new(case: Case) -> Self {
        let Case { datagram_bytes, older_views, .. } = case;
        let config = HubConfig {
            datagram_bytes,
            overhead_bytes: OVERHEAD_BYTES,
            older_views: Some(older_views),
            ..HubConfig::default()
        };
        let mut world = World::new(case.entities, case.seed);
        (world.moving_one_in, world.change_one_in) = (case.moving_one_in, case.change_one_in);
        let nothing = Snapshot::new(codec().schema(), Tick(0));
        let initial = if case.knows_initial { &world.snapshot } else { &nothing };
        let mut hub = Hub::with_initial(&codec(), config, initial).unwrap();
        hub.offer(&codec_at(Level::ADAPTIVE)).unwrap();
        hub.offer(&codec_at(Level::LEARNING)).unwrap();
        hub.offer(&case.codec()).unwrap();
        let first_sequence = Sequence(case.first_sequence);
        let options = ReceiverOptions { budget: case.budget, first_sequence };
        hub.add(ID, &options, Duration::ZERO).unwrap();
        let mut receiver =
            Receiver::with_initial(&case.codec(), ReceiverConfig::at_hz(60), initial).unwrap();
        if case.events > 0 {
            hub = hub.with_events(&event_kinds());
            receiver = receiver.with_events(&event_kinds());
        }
        let mut session = Self {
            hub,
            receiver,
            down: Link::new(case.link, case.seed).unwrap(),
            up: Link::new(case.link, case.seed + 1).unwrap(),
            before: nothing,
            world,
            tick: 0,
            relevant: None,
            sent: HashMap::new(),
            had: HashMap::new(),
            bucket: 0.0,
            newest_baseline: None,
            newest_tick: 0,
            shown_tick: f64::MIN,
            jumps: 0,
            random: Random::new(case.seed),
            datagrams: 0,
            snapshots: 0,
            least_priority: 0.0,
            off: 0,
            owed: BTreeSet::new(),
            last_event: None,
            handed_on: 0,
            case,
        };
        session.remember();
        session
    }

    fn step(&mut self) {
        self.tick += 1;
        let now = Duration::from_secs(1) * self.tick / TICK_HZ;
        for (outage, link) in self.case.outages.into_iter().zip([&mut self.down, &mut self.up]) {
            let is_out = (outage.0..outage.1).contains(&self.tick);
            let loss = if is_out { Loss::Independent { ratio: 1.0 } } else { self.case.link.loss };
            link.reconfigure(LinkConfig { loss, ..self.case.link }).unwrap();
        }
        while let Some(datagram) = self.down.poll(now) {
            self.receive(now, &datagram);
        }
        self.check_receiver(now);
        while let Some(datagram) = self.receiver.poll_transmit(now) {
            self.up.send(now, datagram);
        }
        while let Some(datagram) = self.up.poll(now) {
            let result = self.hub.handle(ID, now, &datagram);
            assert!(
                matches!(result, Ok(_) | Err(Refused::LongAgo | Refused::NoHello)),
                "{result:?}"
            );
        }
        self.world.step(Tick(self.tick));
        self.remember();
        if self.tick.is_multiple_of(self.case.ticks_per_snapshot) {
            self.send(now);
        }
    }

    fn remember(&mut self) {
        let world = &self.world.snapshot;
        for (index, id) in world.ids().iter().enumerate() {
            let now = lanes(world, index);
            let same =
                self.before.position(*id).is_some_and(|before| lanes(&self.before, before) == now);
            if !same {
                self.had.entry(*id).or_default().insert(now);
            }
        }
        self.before.copy_from(world);
    }

    fn send(&mut self, now: Duration) {
        if self.case.relevance_every > 0 && self.tick.is_multiple_of(self.case.relevance_every) {
            let random = &mut self.random;
            let ids = self.world.snapshot.ids().iter().copied();
            let some: Vec<EntityId> = ids.filter(|_| random.chance(2)).collect();
            self.relevant = (!self.random.chance(4)).then(|| some.into());
            self.hub.set_relevant(ID, self.relevant.clone()).unwrap();
        }
        // A world at rest has no events. More events than the budget carries would wait forever.
        let is_at_rest = self.world.moving_one_in == u64::MAX;
        let is_rich = self.case.least_bytes_per_s() > 20_000;
        let is_time = is_rich || self.tick.is_multiple_of(12);
        if self.case.events > 0 && !is_at_rest && is_time && self.hub.status(ID).unwrap().joined {
            let mean = self.case.events;
            self.owed.extend(emit_some(&mut self.hub, self.tick, mean, &mut self.random));
        }
        let least_priority = self.least_priority;
        let priority = |_: ReceiverId, id: EntityId| ((id.0 % 5) as f32).max(least_priority);
        self.hub
            .tick_with(now, &self.world.snapshot, self.case.has_priorities.then_some(&priority))
            .unwrap();
        let mut datagrams = Vec::new();
        while let Some((to, datagram)) = self.hub.poll_transmit() {
            assert_eq!(to, ID);
            datagrams.push(datagram.to_vec());
        }
        if let Some(bytes_per_s) = self.case.most_bytes_per_s() {
            let full = (f64::from(bytes_per_s) / 10.0)
                .max(2.0 * (self.case.datagram_bytes + OVERHEAD_BYTES) as f64);
            let passed_s = f64::from(self.case.ticks_per_snapshot) / f64::from(TICK_HZ);
            self.bucket = if self.datagrams == 0 {
                full
            } else {
                (self.bucket + f64::from(bytes_per_s) * passed_s).min(full)
            };
        }
        for datagram in datagrams {
            self.datagrams += 1;
            assert!(datagram.len() <= self.case.datagram_bytes, "{} bytes", datagram.len());
            self.bucket -= (datagram.len() + OVERHEAD_BYTES) as f64;
            assert!(
                self.case.most_bytes_per_s().is_none() || self.bucket > -2.0,
                "above the budget by {}",
                -self.bucket
            );
            self.note_sent(&datagram);
            self.down.send(now, &datagram);
        }
    }

    fn note_sent(&mut self, datagram: &[u8]) {
        let Sequence(sequence) = sequence_of(datagram);
        self.sent.remove(&sequence);
        if !is_snapshot(datagram) {
            return;
        }
        let datagram = unchecked(datagram);
        if datagram[3] != 0 {
            let baseline = sequence.wrapping_sub(u16::from(datagram[3]));
            if let Some(newest) =
                self.newest_baseline.filter(|newest| sequence.wrapping_sub(*newest) < 300)
            {
                assert!(
                    baseline.wrapping_sub(newest) < 0x8000,
                    "the baseline went back from {newest} to {baseline}"
                );
            }
            self.newest_baseline = Some(baseline);
        }
        let view = self.hub.view(ID, Sequence(sequence)).unwrap();
        let visible = self.visible();
        let left_out = datagram[0] & 8 != 0;
        if self.case.may_be_coarse() {
            self.check_coarse(&view, &visible, left_out);
        } else {
            assert!(left_out || view.holds_same(&visible), "a complete view is the visible state");
        }
        let older = older_sequences(datagram);
        assert!(older.len() <= usize::from(self.case.older_views));
        let older = older.into_iter().map(|older| self.sent[&older.0].view.clone()).collect();
        self.sent.insert(sequence, Sent { view, visible, left_out, older });
    }

    /// Checks that each entity of a view is as in the world, or coarser. In a partial view, the
    /// entity may also be as the receiver knew it.
    fn check_coarse(&mut self, view: &Snapshot, visible: &Snapshot, left_out: bool) {
        assert!(left_out || view.ids() == visible.ids(), "an entity is missing");
        for (index, id) in view.ids().iter().enumerate() {
            let had = lanes(view, index);
            let now = visible.position(*id).map(|now| lanes(visible, now));
            let is_near = |now: Vec<u32>| {
                let off = now.iter().zip(&had).map(|(now, had)| now.abs_diff(*had));
                off.zip(most_off()).all(|(off, most)| off <= most).then_some(now != had)
            };
            let had_of = self.had.entry(*id).or_default();
            match now.and_then(is_near) {
                Some(is_off) => {
                    self.off += u64::from(is_off);
                    had_of.insert(had);
                }
                None => assert!(left_out && had_of.contains(&had), "{id:?} is not like this"),
            }
        }
    }

    /// The entities and fields that the receiver may see.
    fn visible(&self) -> Snapshot {
        let mut visible = self.world.snapshot.clone();
        if let Some(relevant) = &self.relevant {
            visible.retain(relevant);
        }
        visible
    }

    fn receive(&mut self, now: Duration, datagram: &[u8]) {
        let Sequence(sequence) = sequence_of(datagram);
        let older = older_sequences(datagram).into_iter();
        let older: Vec<Option<Snapshot>> =
            older.map(|older| self.receiver.view(older).cloned()).collect();
        match self.receiver.handle(now, datagram) {
            Ok(Received::Snapshot { tick, left_out, .. }) => {
                self.snapshots += 1;
                let sent = &self.sent[&sequence];
                assert!(
                    older.into_iter().eq(sent.older.iter().cloned().map(Some)),
                    "sequence {sequence}: older views"
                );
                let view =
                    self.receiver.view(Sequence(sequence)).expect("the newest views are held");
                assert!(*view == sent.view, "sequence {sequence}: the views of both sides differ");
                assert_eq!((view.tick, sent.left_out), (tick, left_out));
                assert!(left_out || self.case.may_be_coarse() || *view == sent.visible);
            }
            Ok(_) => {}
            Err(refused) => assert!(
                matches!(refused, Refused::Duplicate | Refused::TooOld | Refused::NoBaseline),
                "sequence {sequence}: {refused:?}"
            ),
        }
    }

    fn check_receiver(&mut self, now: Duration) {
        let deep = self.tick.is_multiple_of(5);
        if let Some(newest) = self.receiver.newest() {
            assert!(
                newest.tick.0 >= self.newest_tick,
                "the newest state went back to tick {}",
                newest.tick.0
            );
            self.newest_tick = newest.tick.0;
            if deep {
                for (index, id) in newest.ids().iter().enumerate() {
                    assert!(
                        self.had[id].contains(&lanes(newest, index)),
                        "{id:?} never was like this"
                    );
                }
            }
        }
        let jumps = self.receiver.playout_stats().jumps;
        let Some(playback) = self.receiver.playback(now) else { return };
        assert!(playback.tick >= self.shown_tick || jumps > self.jumps, "playback went backwards");
        for event in playback.events() {
            let number = number_of(&event);
            assert_eq!(event.tick, Tick(number.0));
            assert!(playback.tick >= f64::from(number.0), "early");
            assert!(self.last_event.is_none_or(|last| last < number), "out of order, or again");
            self.last_event = Some(number);
            self.owed.remove(&number);
            self.handed_on += 1;
        }
        (self.shown_tick, self.jumps) = (playback.tick, jumps);
        if deep {
            for sample in playback.samples() {
                for (state, index) in [sample.from, sample.to] {
                    assert_eq!(state.ids()[index], sample.id);
                    assert!(self.had[&sample.id].contains(&lanes(state, index)), "{:?}", sample.id);
                }
                assert!(
                    (0.0..=1.0).contains(&sample.between.ratio) && sample.between.seconds >= 0.0
                );
            }
        }
    }

    /// Stops the world. The receiver must end up with exactly its visible state, and little may be
    /// sent.
    fn settle(&mut self) {
        // A burst lasts for a number of datagrams, so at four datagrams per second it could take
        // minutes.
        if matches!(self.case.link.loss, Loss::GilbertElliott { .. }) {
            self.case.link.loss = Loss::None;
        }
        self.rest(60 * TICK_HZ);
        // Runs until the hub knows that the receiver has everything.
        (0..10 * TICK_HZ).for_each(|_| self.step());
        let (before, seconds) = (self.datagrams, 10);
        (0..seconds * TICK_HZ).for_each(|_| self.step());
        let sent = self.datagrams - before;
        assert!(
            sent <= u64::from(5 * seconds),
            "{sent} datagrams in {seconds} s in which nothing changed"
        );
        assert!(self.receiver.newest().unwrap().holds_same(&self.visible()));
        assert_eq!(self.hub.status(ID).unwrap().unfinished_events, 0);
    }

    /// Stops the world and makes the link perfect. The time until the receiver holds exactly its
    /// visible state follows from the size of the world and the budget.
    fn settle_on_a_perfect_link(&mut self) {
        let mtu_bytes = self.case.link.mtu_bytes;
        self.case.link = LinkConfig { mtu_bytes, ..LinkConfig::PERFECT };
        self.case.outages = [(0, 0); 2];
        // `world_bytes` is an upper bound, with headers. It counts the complete state twice: once
        // as a full state and once as snapshots.
        let datagrams_per_s = 4 * TICK_HZ / self.case.ticks_per_snapshot;
        let link_bytes_per_s = datagrams_per_s * self.case.datagram_bytes as u32;
        let bytes_per_s = self.case.least_bytes_per_s().min(link_bytes_per_s);
        let share =
            self.case.datagram_bytes as f64 / (self.case.datagram_bytes + OVERHEAD_BYTES) as f64;
        let entity_bytes = codec().schema().bits_per_entity().div_ceil(8) as usize + 5;
        let world_bytes = 2 * entity_bytes * self.world.snapshot.len();
        let transfer_s = world_bytes as f64 / (f64::from(bytes_per_s) * share);
        // The overhead covers late datagrams of the old link, a keep-alive, a round trip, and
        // losses that are noticed late.
        let overhead_s = 4.0;
        self.rest(((overhead_s + transfer_s) * f64::from(TICK_HZ)) as u32);
    }

    /// Stops the world, and waits at most `limit_ticks` until the receiver holds its visible state.
    fn rest(&mut self, limit_ticks: u32) {
        (self.world.moving_one_in, self.world.change_one_in) = (u64::MAX, u64::MAX);
        self.case.relevance_every = 0;
        self.least_priority = 0.5;
        let visible = self.visible();
        let mut waited = 0;
        let is_there = |session: &Self| {
            let acknowledged = session.hub.status(ID).unwrap().waiting == 0;
            acknowledged
                && session.owed.is_empty()
                && session.receiver.newest().is_some_and(|newest| newest.holds_same(&visible))
        };
        while !is_there(self) {
            self.step();
            waited += 1;
            assert!(
                waited < limit_ticks,
                "not settled after {limit_ticks} ticks: {:?} {:?}",
                self.hub.status(ID),
                self.receiver.stats()
            );
        }
    }
}

fn play(case: Case) -> Session {
    let mut session = Session::new(case);
    for _ in 0..session.case.ticks {
        session.step();
    }
    session
}

fn run(case: Case) -> Session {
    let mut session = play(case);
    session.settle();
    assert!(session.snapshots > 0);
    session
}

#[test]
fn sessions_stay_exact_and_come_to_rest() {
    let (off, events) = (Cell::new(0), Cell::new(0));
    for_all(cases(200), |case| {
        let session = run(case);
        off.set(off.get() + session.off);
        events.set(events.get() + session.handed_on);
    });
    assert!(off.get() > 10_000, "only {} values were coarse", off.get());
    assert!(events.get() > 10_000, "only {} events", events.get());
}

#[test]
fn receivers_soon_hold_their_visible_state_once_the_link_is_perfect() {
    for_all(cases(100), |case| play(case).settle_on_a_perfect_link());
}

/// A session on a perfect link, from which named tests of failed sessions start.
const EASY: Case = Case {
    seed: 1,
    link: LinkConfig::PERFECT,
    budget: Budget::Unlimited,
    datagram_bytes: 1200,
    first_sequence: 0,
    entities: 40,
    knows_initial: false,
    moving_one_in: 1,
    change_one_in: 20,
    ticks_per_snapshot: 1,
    outages: [(0, 0); 2],
    relevance_every: 0,
    events: 0,
    has_priorities: false,
    older_views: 0,
    level: Level::PACKED,
    coarse: false,
    ticks: 600,
};

#[test]
fn a_late_answer_for_a_complete_view_does_not_take_the_baseline_back() {
    run(Case {
        seed: 70_018_776_472,
        link: LinkConfig {
            latency: Duration::from_millis(99),
            jitter: Duration::from_millis(18),
            loss: Loss::Independent { ratio: 0.476_426_84 },
            reorder_ratio: 0.180_538_76,
            reorder_delay: Duration::from_millis(556),
            ..LinkConfig::PERFECT
        },
        budget: Budget::Fixed { bytes_per_s: 10_405 },
        datagram_bytes: 328,
        first_sequence: 32_983,
        entities: 37,
        moving_one_in: 3,
        change_one_in: 2,
        ticks_per_snapshot: 6,
        has_priorities: true,
        ..EASY
    });
}

#[test]
fn a_snapshot_that_a_block_overtook_is_late() {
    let session = run(Case {
        seed: 262_187_800_765,
        link: LinkConfig {
            latency: Duration::from_millis(104),
            jitter: Duration::from_millis(37),
            loss: Loss::GilbertElliott {
                to_bad_ratio: 0.000_346_996_2,
                to_good_ratio: 0.034_352_627,
                good_loss_ratio: 0.0,
                bad_loss_ratio: 1.0,
            },
            duplicate_ratio: 0.228_523_57,
            reorder_ratio: 0.045_099_277,
            reorder_delay: Duration::from_millis(818),
            ..LinkConfig::PERFECT
        },
        datagram_bytes: 246,
        entities: 50,
        outages: [(0, 0), (24, 471)],
        level: Level::ADAPTIVE,
        coarse: false,
        ..EASY
    });
    assert!(session.receiver.stats().full_states > 1);
}

#[test]
fn a_state_in_many_parts_comes_to_rest() {
    run(Case {
        seed: 73_108_234_790,
        link: LinkConfig { jitter: Duration::from_millis(1), ..LinkConfig::PERFECT },
        datagram_bytes: 130,
        first_sequence: 32_392,
        entities: 115,
        relevance_every: 49,
        has_priorities: true,
        ..EASY
    });
}

#[test]
fn a_baseline_255_back_is_out_of_reach_for_the_next_datagram() {
    run(Case {
        seed: 466_835_322_909,
        link: LinkConfig {
            latency: Duration::from_millis(23),
            jitter: Duration::from_millis(7),
            loss: Loss::Independent { ratio: 0.236_156_17 },
            ..LinkConfig::PERFECT
        },
        budget: Budget::Fixed { bytes_per_s: 99_141 },
        datagram_bytes: 131,
        first_sequence: 32_337,
        entities: 22,
        change_one_in: 2,
        outages: [(225, 445), (0, 0)],
        ..EASY
    });
}

#[test]
fn a_window_of_unanswered_datagrams_does_not_silence_the_hub() {
    run(Case {
        seed: 667_151_850_335,
        link: LinkConfig {
            latency: Duration::from_millis(62),
            jitter: Duration::from_millis(34),
            loss: Loss::GilbertElliott {
                to_bad_ratio: 0.022_130_834,
                to_good_ratio: 0.063_952_506,
                good_loss_ratio: 0.0,
                bad_loss_ratio: 1.0,
            },
            ..LinkConfig::PERFECT
        },
        budget: Budget::Fixed { bytes_per_s: 73_945 },
        datagram_bytes: 151,
        first_sequence: 32_771,
        entities: 98,
        moving_one_in: 3,
        change_one_in: 2,
        outages: [(58, 510), (36, 457)],
        has_priorities: true,
        older_views: 3,
        level: Level::ADAPTIVE,
        ..EASY
    });
}
