//! Tests how endpoints treat a caller's mistakes and changes. The mistakes are levels that cannot
//! work, ticks and times that do not increase, priorities that are not numbers, and worlds that are
//! too large. The changes are relevant sets that are set again, new budgets, and receivers that are
//! removed and added again.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use kinepack::schema::{Field, FieldKind};
use kinepack::{ArrayString, Codec, EntityId, Level, Profile, Schema, Snapshot, Tick};
use kinepack_net::{
    Audience, Handled, Hub, HubConfig, Mismatch, NetError, Received, Receiver, ReceiverConfig,
    ReceiverId, ReceiverOptions, Refused, Sequence,
};

use crate::support::{Said, TICK_HZ, Thing, World, codec, codec_at, event_kinds, number_of};

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
            &ReceiverOptions { budget: budget_bytes_per_s.into(), ..ReceiverOptions::default() },
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

    /// Lets the receiver answer, runs a tick of the hub, and gives its datagrams to the receiver.
    fn step(
        &mut self,
        world: &Snapshot,
        priority: Option<kinepack_net::Priority<'_>>,
    ) -> Result<(), NetError> {
        let now = at(world.tick.0);
        while let Some(datagram) = self.receiver.poll_transmit(now) {
            self.hub.handle(ID, now, datagram).unwrap();
        }
        let ticked = self.hub.tick_with(now, world, priority);
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
    assert!(status.bad_priorities > 1_000, "{}", status.bad_priorities);
    let newest = pair.receiver.newest().unwrap();
    let fresh = |rest: u32| {
        let ids = newest.ids().iter().enumerate().filter(|(_, id)| id.0 % 4 == rest);
        ids.map(|(index, _)| pair.receiver.fresh(index).0).max().unwrap()
    };
    assert!(fresh(1) > 280, "infinite priorities go first: tick {}", fresh(1));
    assert_eq!(
        fresh(0),
        fresh(3),
        "a priority that is not a number counts as 0: only the first state has these entities"
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
        matches!(error, Err(NetError::FullStateTooLarge { id: ID, bytes: 7_864_321.. })),
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
    // The state takes two full fragments and a short one.
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
    // The bucket begins with the budget of a tenth of a second.
    let needed_s = (pair.bytes + 28 * pair.datagrams - 25) as f64 / 256.0;
    assert!(pair.datagrams == 3 && pair.bytes < 2_600, "{} bytes", pair.bytes);
    assert!(
        f64::from(ticks) / f64::from(TICK_HZ) < needed_s + 0.5,
        "{ticks} ticks for {needed_s} s of budget"
    );
}

/// A hub and a receiver with a delay of `LATENCY` in each direction.
struct Far {
    hub: Hub,
    receiver: Receiver,
    world: World,
    tick: u32,
    /// The datagrams on their way, with their arrival times.
    up: VecDeque<(Duration, Vec<u8>)>,
    down: VecDeque<(Duration, Vec<u8>)>,
    /// The time when each datagram was sent, and its length in bytes with headers.
    sent: Vec<(Duration, usize)>,
    events: Vec<(u32, u32)>,
    refused: Vec<Refused>,
    joined: u32,
}

const LATENCY: Duration = Duration::from_millis(40);

impl Far {
    fn new(world: World, options: ReceiverOptions) -> Self {
        let kinds = event_kinds();
        let mut hub = Hub::new(&codec(), HubConfig::default()).unwrap().with_events(&kinds);
        hub.add(ID, &options, Duration::ZERO).unwrap();
        let receiver = Receiver::new(&codec(), ReceiverConfig::at_hz(60)).unwrap();
        Self {
            hub,
            receiver: receiver.with_events(&kinds),
            world,
            tick: 0,
            up: VecDeque::new(),
            down: VecDeque::new(),
            sent: Vec::new(),
            events: Vec::new(),
            refused: Vec::new(),
            joined: 0,
        }
    }

    fn now(&self) -> Duration {
        at(self.tick)
    }

    fn run(&mut self, ticks: u32) {
        for _ in 0..ticks {
            self.tick += 1;
            let now = self.now();
            while let Some((_, datagram)) = self.up.pop_front_if(|(due, _)| *due <= now) {
                let handled = self.hub.handle(ID, now, &datagram);
                self.joined += u32::from(handled == Ok(Handled::Joined));
            }
            let said = Said { tick: self.tick, nth: 0, text: ArrayString::default() };
            self.hub.emit(&said, Audience::All).unwrap();
            self.world.step(Tick(self.tick));
            self.hub.tick(now, &self.world.snapshot).unwrap();
            while let Some((_, datagram)) = self.hub.poll_transmit() {
                self.sent.push((now, datagram.len() + 28));
                self.down.push_back((now + LATENCY, datagram.to_vec()));
            }
            while let Some((_, datagram)) = self.down.pop_front_if(|(due, _)| *due <= now) {
                self.refused.extend(self.receiver.handle(now, &datagram).err());
            }
            while let Some(datagram) = self.receiver.poll_transmit(now) {
                self.up.push_back((now + LATENCY, datagram.to_vec()));
            }
            if let Some(playback) = self.receiver.playback(now) {
                self.events.extend(playback.events().map(|event| number_of(&event)));
            }
        }
    }

    /// The age of the newest state in ticks.
    fn age(&self) -> u32 {
        self.tick - self.receiver.newest().map_or(0, |newest| newest.tick.0)
    }
}

#[test]
fn a_receiver_that_is_removed_and_added_again_begins_anew() {
    // The hub removes the receiver after few or many datagrams. The first state of the receiver
    // takes one or several datagrams.
    for (ticks, entities, first_sequence) in
        [(20, 30, 0), (400, 30, 0), (400, 400, 0), (400, 30, 65_500), (9, 30, 7), (5_000, 5, 0)]
    {
        let first_sequence = Sequence(first_sequence);
        let options = ReceiverOptions { first_sequence, ..ReceiverOptions::default() };
        let mut far = Far::new(World::new(entities, 1), options);
        far.run(ticks);
        assert!(far.age() <= 8 && far.refused.is_empty() && !far.receiver.status(far.now()).silent);
        assert!(far.hub.remove(ID));
        far.hub.add(ID, &ReceiverOptions::default(), far.now()).unwrap();
        let removed_at = far.tick;
        far.run(65);
        assert!(far.age() > 60, "nothing arrives");
        assert!(far.receiver.status(far.now()).silent, "and it notices");
        far.run(65);
        let what = format!("{ticks} ticks, {entities} entities: {:?}", far.refused);
        assert!(far.age() <= 8, "{what}: {} ticks old", far.age());
        let stats = far.receiver.stats();
        assert_eq!((far.joined, stats.begun_anew), (2, 1), "{what}");
        assert_eq!(stats.full_states, if entities == 400 { 2 } else { 0 }, "{what}");
        let status = far.receiver.status(far.now());
        assert!(status.joined && !status.silent && status.lost_ratio() < 0.01, "{status:?}");
        assert_eq!(far.hub.status(ID).map(|status| status.refused_events), Some(0));
        // Each event since the receiver joined again was shown once and in order.
        far.run(30);
        assert!(far.events.is_sorted_by(|one, next| one < next));
        let of_session: Vec<u32> = far
            .events
            .iter()
            .map(|(tick, _)| *tick)
            .filter(|tick| *tick > removed_at + 70)
            .collect();
        assert!(of_session.len() > 50, "{what}: {of_session:?}");
        assert!(of_session.windows(2).all(|pair| pair[1] == pair[0] + 1), "{of_session:?}");
        // Now the receiver is removed a second time.
        far.hub.remove(ID);
        far.hub.add(ID, &ReceiverOptions::default(), far.now()).unwrap();
        far.run(150);
        assert!(far.age() <= 8 && far.receiver.stats().begun_anew == 2, "{what}");
    }
}

#[test]
fn events_of_a_new_session_wait_for_its_first_state() {
    let mut far = Far::new(World::new(60, 1), ReceiverOptions::default());
    far.run(400);
    far.hub.remove(ID);
    // The first state waits for the budget, and events are sent before it.
    let options = ReceiverOptions { budget: Some(8_000).into(), ..ReceiverOptions::default() };
    far.hub.add(ID, &options, far.now()).unwrap();
    let removed_at = far.tick;
    far.run(400);
    assert_eq!((far.joined, far.receiver.stats().begun_anew), (2, 1), "{:?}", far.refused);
    let of_session: Vec<u32> =
        far.events.iter().map(|(tick, _)| *tick).filter(|tick| *tick > removed_at).collect();
    assert!(of_session.len() > 200, "{of_session:?}");
    assert!(of_session.windows(2).all(|pair| pair[1] == pair[0] + 1), "{of_session:?}");
    // The first received event is the first one after the receiver joined again.
    assert!(of_session[0] < removed_at + 75, "{of_session:?}");
}

#[test]
fn a_new_world_on_an_old_connection_is_shown_from_its_begin() {
    // From 57,344 on, the sequences of the new session seem to follow the sequences of the old one.
    for (entities, first_sequence) in [(30, 0), (30, 60_000), (400, 60_000), (400, 65_000)] {
        new_world_on_an_old_connection(entities, Sequence(first_sequence));
    }
}

fn new_world_on_an_old_connection(entities: usize, first_sequence: Sequence) {
    let options = ReceiverOptions { first_sequence, ..ReceiverOptions::default() };
    let mut far = Far::new(World::new(30, 1), options);
    far.run(1400);
    let shown = far.receiver.playback(far.now()).unwrap().tick;
    // The server restarts on the same connection, with the same ids and with ticks from 1 on.
    let kinds = event_kinds();
    let began = far.tick;
    far.hub = Hub::new(&codec(), HubConfig::default()).unwrap().with_events(&kinds);
    far.hub.add(ID, &ReceiverOptions::default(), far.now()).unwrap();
    far.world = World::new(entities + 10, 2);
    let mut far_tick = 0;
    let (mut last, mut events) = (0.0, Vec::new());
    for _ in 0..300 {
        // The clock continues, but the ticks start again from 1.
        far_tick += 1;
        let now = at(began + far_tick);
        while let Some((_, datagram)) = far.up.pop_front_if(|(due, _)| *due <= now) {
            let _: Result<Handled, Refused> = far.hub.handle(ID, now, &datagram);
        }
        let said = Said { tick: far_tick, nth: 0, text: ArrayString::default() };
        far.hub.emit(&said, Audience::All).unwrap();
        far.world.step(Tick(far_tick));
        far.hub.tick(now, &far.world.snapshot).unwrap();
        // The first fragments are lost, so datagrams of events alone arrive first.
        while let Some((_, datagram)) = far.hub.poll_transmit() {
            if far_tick % 50 > 5 || datagram[0] == 0x2A {
                let _: Result<Received, Refused> = far.receiver.handle(now, datagram);
            }
        }
        while let Some(datagram) = far.receiver.poll_transmit(now) {
            far.up.push_back((now + LATENCY, datagram.to_vec()));
        }
        let playback = far.receiver.playback(now).unwrap();
        last = playback.tick;
        events.extend(playback.events().map(|event| number_of(&event).0));
    }
    let what = format!("{entities} entities after {first_sequence:?}");
    assert!(shown > 1390.0 && (290.0..=300.0).contains(&last), "{what}: {shown} {last}");
    let stats = far.receiver.stats();
    assert_eq!((stats.begun_anew, stats.full_states > 0), (1, entities == 400), "{what}");
    // Each event since the receiver joined was shown once and in order.
    let from = events.iter().rposition(|tick| *tick > 1000).map_or(0, |last| last + 1);
    let events = &events[from..];
    assert!(events.len() > 100, "{what}: {events:?}");
    assert!(events.windows(2).all(|pair| pair[1] == pair[0] + 1), "{what}: {events:?}");
}

#[test]
fn a_silent_receiver_hears_why_it_is_refused() {
    let mut far = Far::new(World::new(30, 1), ReceiverOptions::default());
    far.run(100);
    assert_eq!(far.receiver.mismatch(), None);
    // The server restarts without events.
    far.hub = Hub::new(&codec(), HubConfig::default()).unwrap();
    far.hub.add(ID, &ReceiverOptions::default(), far.now()).unwrap();
    for tick in 101..200 {
        let now = at(tick);
        while let Some(datagram) = far.receiver.poll_transmit(now) {
            let _: Result<Handled, Refused> = far.hub.handle(ID, now, datagram);
        }
        while let Some((_, datagram)) = far.hub.poll_transmit() {
            let _: Result<Received, Refused> = far.receiver.handle(now, datagram);
        }
    }
    assert_eq!(far.receiver.mismatch(), Some(Mismatch::Events { hash: 0 }));
    assert!(far.receiver.status(at(200)).silent);
}

#[test]
fn hellos_of_a_silent_receiver_change_nothing_for_a_hub_that_knows_it() {
    let mut far = Far::new(World::new(30, 1), ReceiverOptions::default());
    far.run(200);
    // Nothing arrives for five seconds.
    for _ in 0..300 {
        far.run(1);
        far.down.clear();
    }
    assert!(far.receiver.status(far.now()).silent);
    far.run(60);
    let (status, stats) = (far.receiver.status(far.now()), far.receiver.stats());
    assert!(!status.silent && far.age() <= 8 && far.refused.is_empty(), "{:?}", far.refused);
    assert_eq!((far.joined, stats.begun_anew), (1, 0));
    far.run(60);
    let ticks: Vec<u32> = far.events.iter().map(|(tick, _)| *tick).collect();
    assert!(ticks.windows(2).all(|pair| pair[1] == pair[0] + 1), "each event once, in order");
}

#[test]
fn options_change_while_a_receiver_plays() {
    let mut world = World::new(200, 4);
    world.moving_one_in = 1;
    let mut far = Far::new(world, ReceiverOptions::default());
    let options = |budget_bytes_per_s: Option<u32>| ReceiverOptions {
        budget: budget_bytes_per_s.into(),
        ..ReceiverOptions::default()
    };
    let refused = far.hub.set_options(ReceiverId(9), &options(None), Duration::ZERO);
    assert_eq!(refused, Err(NetError::UnknownReceiver));
    let refused = far.hub.set_options(ID, &options(Some(255)), Duration::ZERO);
    assert_eq!(refused, Err(NetError::BudgetTooSmall { bytes_per_s: 255 }));
    for budget in [None, Some(8_000), Some(3_000), Some(20_000), None, Some(3_000)] {
        let now = far.now();
        far.hub.set_options(ID, &options(budget), now).unwrap();
        far.sent.clear();
        far.run(600);
        let bytes: usize = far.sent.iter().map(|(_, bytes)| bytes).sum();
        match budget {
            None => assert!(bytes > 300_000, "{bytes}"),
            // The bucket contained at most one datagram before.
            Some(budget) => {
                let budget = budget as usize;
                let most = 10 * budget + 1_228.max(budget / 10);
                assert!((9 * budget..=most).contains(&bytes), "{bytes} of {most}");
            }
        }
    }
    assert!(far.refused.is_empty() && far.joined == 1);
}

#[test]
fn a_budget_bounds_every_span() {
    for (budget, entities) in [(256, 20), (1_000, 20), (1_000, 400), (12_000, 400), (64_000, 400)] {
        let mut world = World::new(entities, 5);
        world.moving_one_in = 1;
        let options = ReceiverOptions { budget: Some(budget).into(), ..ReceiverOptions::default() };
        let mut far = Far::new(world, options);
        far.run(40 * TICK_HZ);
        let budget = budget as usize;
        let mut sum = 0;
        for (nth, (begin, bytes)) in far.sent.iter().enumerate() {
            sum += bytes;
            // The bucket begins with a tenth of a second of the budget.
            let most = budget as f64 * (begin.as_secs_f64() + 0.1);
            assert!(sum as f64 <= most + 1.0, "{budget}: {sum} bytes until {begin:?}");
            let mut in_span = 0;
            for (end, bytes) in &far.sent[nth..] {
                in_span += bytes;
                let span_s = (*end - *begin).as_secs_f64();
                let most = budget as f64 * span_s + 1_228f64.max(budget as f64 / 10.0);
                assert!(in_span as f64 <= most + 1.0, "{budget}: {in_span} bytes in {span_s} s");
            }
        }
        assert!(sum >= 39 * budget * 8 / 10, "{budget}: {sum} bytes");
        assert!(far.receiver.newest().is_some(), "{budget}");
    }
}
