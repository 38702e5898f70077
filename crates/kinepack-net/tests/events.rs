//! Tests of events alongside snapshots over bad links. Each event arrives once, in order, with its
//! tick, whatever is lost.

use std::collections::HashMap;
use std::time::Duration;

use kinepack::schema::{Field, FieldKind};
use kinepack::{ArrayString, Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
use kinepack_net::{
    Audience, EventKinds, Hub, HubConfig, Link, LinkConfig, Loss, Mismatch, NetError, Received,
    Receiver, ReceiverConfig, ReceiverId, ReceiverOptions, Refused, datagram_sequence,
};

use crate::support::{self, Random, TICK_HZ, World, codec};

const ID: ReceiverId = ReceiverId(1);
/// The number of ticks that a noise may be late.
const NOISE_TICKS: u32 = 6;

/// An event that must arrive.
#[derive(Pack, Clone, Debug, PartialEq)]
struct Shot {
    serial: u32,
    tick: u32,
    #[pack(range = -64.0..64.0, precision = 1.0 / 64.0)]
    position: [f32; 3],
}

/// An event that must arrive.
#[derive(Pack, Clone, Debug, PartialEq)]
struct Said {
    serial: u32,
    tick: u32,
    text: ArrayString<40>,
}

/// An event that may be dropped.
#[derive(Pack, Clone, Debug, PartialEq)]
struct Noise {
    serial: u32,
    tick: u32,
}

fn kinds(level: Level) -> EventKinds {
    let schema = Schema::builder()
        .kind::<Shot>("shot")
        .kind::<Said>("said")
        .kind::<Noise>("noise")
        .build()
        .unwrap();
    let codec = Codec::new(schema.clone(), level, Profile::untrained(&schema)).unwrap();
    EventKinds::new(&codec).droppable::<Noise>(NOISE_TICKS).unwrap()
}

/// The parameters of a session.
struct Session {
    level: Level,
    seed: u64,
    entities: usize,
    ticks: u32,
    /// The mean number of events in a tick.
    per_tick: f32,
    with_noises: bool,
    budget: Option<u32>,
    datagram_bytes: usize,
    loss: Loss,
}

impl Default for Session {
    fn default() -> Self {
        Self {
            level: Level::PACKED,
            seed: 1,
            entities: 30,
            ticks: 600,
            per_tick: 2.0,
            with_noises: false,
            budget: None,
            datagram_bytes: 1_200,
            loss: Loss::bursts(0.2, 4.0),
        }
    }
}

/// The result of a session.
#[derive(Debug, Default)]
struct Outcome {
    /// Serials of the sent events that must arrive.
    reliable: Vec<u32>,
    /// Serials of the events that the receiver delivered.
    received: Vec<u32>,
    late: u64,
    alone: u64,
    full_states: u64,
    bytes: u64,
    dropped: u64,
}

impl Session {
    /// Runs the session, and then lets it rest until everything has had time to arrive. Checks the
    /// views, and that no event is handed on twice, out of order, too early, or with another tick.
    fn run(&self) -> Outcome {
        let kinds = kinds(self.level);
        let config = HubConfig { datagram_bytes: self.datagram_bytes, ..HubConfig::default() };
        let mut hub = Hub::new(&codec(), config).unwrap().with_events(&kinds);
        let options = ReceiverOptions { budget: self.budget.into(), ..ReceiverOptions::default() };
        hub.add(ID, &options, Duration::ZERO).unwrap();
        let mut receiver =
            Receiver::new(&codec(), ReceiverConfig::at_hz(TICK_HZ)).unwrap().with_events(&kinds);
        let link = LinkConfig {
            latency: Duration::from_millis(40),
            jitter: Duration::from_millis(15),
            loss: self.loss,
            duplicate_ratio: 0.02,
            reorder_ratio: 0.02,
            reorder_delay: Duration::from_millis(30),
            ..LinkConfig::default()
        };
        let [mut down, mut up] = [0, 1].map(|way| Link::new(link, 2 * self.seed + way).unwrap());
        let mut world = World::new(self.entities, self.seed);
        let mut random = Random::new(self.seed);
        let (mut outcome, mut sent) = (Outcome::default(), HashMap::new());
        let (mut serial, mut owed, mut shown) = (0, 0.0, 0.0);
        for tick in 1..=self.ticks + 300 {
            let now = Duration::from_secs(1) * tick / TICK_HZ;
            while let Some(datagram) = down.poll(now) {
                outcome.bytes += datagram.len() as u64;
                match receiver.handle(now, &datagram) {
                    Ok(Received::Snapshot { .. }) => {
                        let sequence = datagram_sequence(&datagram).unwrap();
                        let view = receiver.view(sequence).unwrap();
                        assert!(*view == sent[&sequence.0], "the views differ");
                    }
                    Ok(Received::Events { .. }) => outcome.alone += 1,
                    Ok(Received::FullState { .. }) => outcome.full_states += 1,
                    Ok(_) | Err(Refused::Duplicate | Refused::TooOld | Refused::NoBaseline) => {}
                    Err(refused) => panic!("{refused}"),
                }
            }
            if let Some(playback) = receiver.playback(now) {
                for event in playback.events() {
                    let (serial, happened) = if let Some(shot) = event.get::<Shot>().unwrap() {
                        (shot.serial, shot.tick)
                    } else if let Some(said) = event.get::<Said>().unwrap() {
                        assert_eq!(said.text.as_str(), text(said.serial).as_str());
                        (said.serial, said.tick)
                    } else {
                        let noise = event.get::<Noise>().unwrap().unwrap();
                        (noise.serial, noise.tick)
                    };
                    assert_eq!(event.tick, Tick(happened));
                    assert!(playback.tick >= f64::from(happened), "early");
                    assert_eq!(event.late, shown >= f64::from(happened));
                    assert!(outcome.received.last().is_none_or(|last| *last < serial));
                    outcome.received.push(serial);
                    outcome.late += u64::from(event.late);
                }
                shown = playback.tick;
            }
            while let Some(datagram) = receiver.poll_transmit(now) {
                up.send(now, datagram);
            }
            while let Some(datagram) = up.poll(now) {
                let handled = hub.handle(ID, now, &datagram);
                assert!(matches!(handled, Ok(_) | Err(Refused::LongAgo)), "{handled:?}");
            }
            if tick <= self.ticks {
                world.step(Tick(tick));
                owed += 2.0 * self.per_tick * (0.5 + 0.5 * random.unit());
            } else {
                world.snapshot.tick = Tick(tick);
            }
            // No receiver gets an event that was emitted before its hello.
            while owed >= 1.0 && hub.status(ID).unwrap().joined {
                owed -= 1.0;
                self.emit(&mut hub, &mut random, serial, tick, &mut outcome);
                serial += 1;
            }
            hub.tick(now, &world.snapshot).unwrap();
            while let Some((to, datagram)) = hub.poll_transmit() {
                assert!(datagram.len() <= self.datagram_bytes);
                let (datagram, sequence) =
                    (datagram.to_vec(), datagram_sequence(datagram).unwrap());
                sent.remove(&sequence.0);
                sent.extend(hub.view(to, sequence).map(|view| (sequence.0, view)));
                down.send(now, &datagram);
            }
        }
        assert!(receiver.newest().unwrap().holds_same(&world.snapshot));
        let status = hub.status(ID).unwrap();
        assert_eq!(status.unfinished_events, 0);
        assert_eq!(receiver.stats().events, outcome.received.len() as u64);
        assert_eq!(receiver.stats().late_events, outcome.late);
        outcome.dropped = status.dropped_events;
        let received = &outcome.received;
        let is_missing = |serial: &&u32| received.binary_search(serial).is_err();
        assert_eq!(outcome.reliable.iter().filter(is_missing).count(), 0, "lost");
        outcome
    }

    fn emit(
        &self,
        hub: &mut Hub,
        random: &mut Random,
        serial: u32,
        tick: u32,
        outcome: &mut Outcome,
    ) {
        let emitted = match random.below(8) {
            0 => hub.emit(&Said { serial, tick, text: text(serial) }, Audience::All),
            1..=4 if self.with_noises => {
                return hub.emit(&Noise { serial, tick }, Audience::All).unwrap();
            }
            _ => {
                let position = [0; 3].map(|_| random.unit() * 60.0);
                hub.emit(&Shot { serial, tick, position }, Audience::Only(&[ID]))
            }
        };
        emitted.unwrap();
        outcome.reliable.push(serial);
    }
}

fn text(serial: u32) -> ArrayString<40> {
    ArrayString::from(&"well played, number ".repeat(2)[..(serial % 41) as usize]).unwrap()
}

#[test]
fn ten_thousand_events_over_bursts_of_loss() {
    for (seed, level) in [(1, Level::PACKED), (2, Level::ADAPTIVE)] {
        let session = Session { level, seed, ticks: 5_000, ..Session::default() };
        let outcome = session.run();
        assert!(outcome.reliable.len() >= 9_900, "{}", outcome.reliable.len());
        assert_eq!(outcome.received, outcome.reliable, "each once, and in order");
        assert!(outcome.late > 100 && outcome.dropped == 0, "{outcome:?}");
    }
}

#[test]
fn without_loss_no_event_is_late() {
    for seed in 1..4 {
        let outcome = Session { seed, loss: Loss::None, ..Session::default() }.run();
        assert_eq!(outcome.received, outcome.reliable);
        // A datagram that takes longer than all earlier ones may raise the delay.
        assert!(outcome.late < 20, "{}", outcome.late);
    }
}

#[test]
fn numbers_wrap() {
    let outcome = Session { ticks: 2_400, per_tick: 30.0, ..Session::default() }.run();
    assert!(outcome.received.len() > 70_000, "{}", outcome.received.len());
    assert_eq!(outcome.received, outcome.reliable);
    assert!(outcome.alone > 100, "what does not fit in front of a snapshot goes alone");
}

#[test]
fn large_worlds_and_small_budgets_leave_room_for_events() {
    for (seed, budget) in [(1, None), (2, Some(6_000)), (3, Some(3_000))] {
        let (entities, per_tick) = (400, 0.5);
        let session = Session { seed, budget, entities, per_tick, ..Session::default() };
        let outcome = Session { datagram_bytes: 400, ..session }.run();
        assert_eq!(outcome.received, outcome.reliable);
        assert!(outcome.full_states > 0);
        if let Some(budget) = budget {
            let most = u64::from(budget) * 900 / u64::from(TICK_HZ);
            assert!(outcome.bytes <= most, "{} of {most} bytes", outcome.bytes);
        }
    }
}

#[test]
fn droppable_events_go_missing_and_hold_nothing_up() {
    for seed in 1..5 {
        let session = Session { seed, with_noises: true, ..Session::default() };
        let outcome = session.run();
        let noises = outcome.received.len() - outcome.reliable.len();
        assert!(noises > 200 && outcome.dropped > 20, "{noises} {}", outcome.dropped);
        let starved = Session { budget: Some(3_500), per_tick: 1.0, ..session }.run();
        assert!(starved.dropped > 50, "{}", starved.dropped);
    }
}

/// A receiver with the id `id` that has joined `hub`, without a network between them.
fn joined(hub: &mut Hub, kinds: &EventKinds, id: u64) -> Receiver {
    hub.add(ReceiverId(id), &ReceiverOptions::default(), Duration::ZERO).unwrap();
    let receiver = Receiver::new(&codec(), ReceiverConfig::at_hz(TICK_HZ)).unwrap();
    let mut receiver = receiver.with_events(kinds);
    let hello = receiver.poll_transmit(Duration::ZERO).unwrap().to_vec();
    hub.handle(ReceiverId(id), Duration::ZERO, &hello).unwrap();
    receiver
}

fn noise(serial: u32) -> Noise {
    Noise { serial, tick: 0 }
}

#[test]
fn an_event_goes_to_its_audience_once() {
    let kinds = kinds(Level::PACKED);
    let mut hub = Hub::new(&codec(), HubConfig::default()).unwrap().with_events(&kinds);
    let mut receivers = [1, 2, 3].map(|id| joined(&mut hub, &kinds, id));
    let mut world = World::new(20, 1);
    let ids = world.snapshot.ids().to_vec();
    hub.set_relevant(ReceiverId(2), Some(ids[..5].into())).unwrap();
    hub.emit(&noise(1), Audience::Seeing(ids[3])).unwrap();
    hub.emit(&noise(2), Audience::Seeing(ids[9])).unwrap();
    hub.emit(&noise(3), Audience::Only(&[ReceiverId(3), ReceiverId(99)])).unwrap();
    hub.emit(&noise(4), Audience::All).unwrap();
    world.step(Tick(1));
    hub.tick(Duration::ZERO, &world.snapshot).unwrap();
    let encoded = hub.encoded();
    while let Some((ReceiverId(id), datagram)) = hub.poll_transmit() {
        receivers[id as usize - 1].handle(Duration::ZERO, datagram).unwrap();
    }
    assert_eq!(encoded, 2, "receivers share snapshots although their events differ");
    let heard = receivers.each_mut().map(|receiver| {
        let events = receiver.take_events();
        events.map(|event| event.get::<Noise>().unwrap().unwrap().serial).collect::<Vec<_>>()
    });
    assert_eq!(heard, [vec![1, 2, 4], vec![1, 4], vec![1, 2, 3, 4]]);
    assert_eq!(receivers[0].take_events().count(), 0);
}

#[test]
fn both_sides_need_the_same_events() {
    let kinds = kinds(Level::PACKED);
    let other = self::kinds(Level::ADAPTIVE);
    let refused = |hub_kinds: Option<&EventKinds>, receiver_kinds: Option<&EventKinds>| {
        let hub = Hub::new(&codec(), HubConfig::default()).unwrap();
        let mut hub = match hub_kinds {
            Some(kinds) => hub.with_events(kinds),
            None => hub,
        };
        hub.add(ID, &ReceiverOptions::default(), Duration::ZERO).unwrap();
        let receiver = Receiver::new(&codec(), ReceiverConfig::at_hz(TICK_HZ)).unwrap();
        let mut receiver = match receiver_kinds {
            Some(kinds) => receiver.with_events(kinds),
            None => receiver,
        };
        let hello = receiver.poll_transmit(Duration::ZERO).unwrap().to_vec();
        let refused = hub.handle(ID, Duration::ZERO, &hello).err();
        if let Some((_, refusal)) = hub.poll_transmit() {
            let refusal = receiver.handle(Duration::ZERO, refusal).err();
            assert_eq!(refusal, refused, "the receiver hears why");
        }
        refused
    };
    assert_eq!(refused(Some(&kinds), Some(&kinds)), None);
    assert_eq!(refused(None, None), None);
    let hash = kinds.codec().hash();
    let mismatch = |hash| Some(Refused::Mismatch(Mismatch::Events { hash }));
    assert_eq!(refused(Some(&kinds), Some(&other)), mismatch(hash));
    assert_eq!(refused(Some(&kinds), None), mismatch(hash));
    assert_eq!(refused(None, Some(&kinds)), mismatch(0));
}

#[test]
fn an_event_that_cannot_be_sent_is_refused_and_changes_nothing() {
    #[derive(Pack)]
    struct Other {
        value: u64,
    }

    #[derive(Pack)]
    struct Page {
        text: ArrayString<2_000>,
    }

    let mut hub = Hub::new(&codec(), HubConfig::default()).unwrap();
    assert_eq!(hub.emit(&noise(1), Audience::All), Err(NetError::NoEvents));
    let mut hub = hub.with_events(&kinds(Level::PACKED));
    let refused = hub.emit(&Other { value: 1 }, Audience::All);
    assert!(matches!(refused, Err(NetError::Event(_))), "{refused:?}");
    let shot = Shot { serial: 1, tick: 1, position: [f32::NAN; 3] };
    assert!(matches!(hub.emit(&shot, Audience::All), Err(NetError::Event(_))));

    let schema = Schema::builder().kind::<Page>("page").build().unwrap();
    let codec_of_pages =
        Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema)).unwrap();
    let kinds = EventKinds::new(&codec_of_pages);
    let mut hub = Hub::new(&codec(), HubConfig::default()).unwrap().with_events(&kinds);
    let mut receiver = joined(&mut hub, &kinds, 1);
    let page = |len: usize| Page { text: ArrayString::from(&"x".repeat(len)).unwrap() };
    let refused = hub.emit(&page(1_900), Audience::All);
    let Err(NetError::EventTooLarge { bytes, limit_bytes }) = refused else {
        panic!("{refused:?}")
    };
    assert!(bytes > 1_900 && limit_bytes < 1_200);
    hub.emit(&page(1_000), Audience::All).unwrap();
    hub.tick(Duration::ZERO, &Snapshot::new(&Schema::of::<support::Thing>(), Tick(1))).unwrap();
    while let Some((_, datagram)) = hub.poll_transmit() {
        receiver.handle(Duration::ZERO, datagram).unwrap();
    }
    let lengths: Vec<usize> =
        receiver.take_events().map(|e| e.get::<Page>().unwrap().unwrap().text.len()).collect();
    assert_eq!(lengths, [1_000]);
}

#[test]
fn a_flood_is_bounded_and_reported() {
    let kinds = kinds(Level::PACKED);
    let mut hub = Hub::new(&codec(), HubConfig::default()).unwrap().with_events(&kinds);
    let _silent = joined(&mut hub, &kinds, 1);
    let mut world = World::new(3, 1);
    let (mut errors, mut all_refused) = (0, 0);
    for tick in 1..=600 {
        for serial in 0..20 {
            hub.emit(&noise(serial), Audience::All).unwrap();
            let text = text(serial);
            hub.emit(&Said { serial, tick, text }, Audience::All).unwrap();
        }
        world.step(Tick(tick));
        let now = Duration::from_secs(1) * tick / TICK_HZ;
        match hub.tick(now, &world.snapshot) {
            Ok(()) => {}
            Err(NetError::EventsWaiting { id: ID, refused }) => {
                errors += 1;
                all_refused += refused;
            }
            Err(error) => panic!("{error}"),
        }
        while hub.poll_transmit().is_some() {}
    }
    let status = hub.status(ID).unwrap();
    assert!(errors > 100 && status.unfinished_events <= 4_096 + 1_024, "{errors} {status:?}");
    assert_eq!((status.waiting_events, status.refused_events), (4_096, all_refused));
    assert!(status.bytes < 200_000, "nothing but keep-alives to who does not answer");
}

#[test]
fn a_receiver_that_shows_nothing_refuses_more_than_it_keeps() {
    let kinds = kinds(Level::PACKED);
    let mut hub = Hub::new(&codec(), HubConfig::default()).unwrap().with_events(&kinds);
    let mut receiver = joined(&mut hub, &kinds, 1);
    let mut world = World::new(3, 1);
    let (mut taken, mut full, mut sent) = (Vec::new(), 0, 0);
    for tick in 1..=600 {
        let now = Duration::from_secs(1) * tick / TICK_HZ;
        if tick <= 300 {
            for _ in 0..20 {
                hub.emit(&Shot { serial: sent, tick, position: [0.0; 3] }, Audience::All).unwrap();
                sent += 1;
            }
        } else {
            let events = receiver.take_events();
            taken.extend(events.map(|event| event.get::<Shot>().unwrap().unwrap().serial));
        }
        world.step(Tick(tick));
        hub.tick(now, &world.snapshot).unwrap();
        while let Some((_, datagram)) = hub.poll_transmit() {
            match receiver.handle(now, datagram) {
                Ok(_) => {}
                Err(Refused::EventsFull) => full += 1,
                Err(refused) => panic!("{refused}"),
            }
        }
        while let Some(datagram) = receiver.poll_transmit(now) {
            hub.handle(ID, now, datagram).unwrap();
        }
    }
    assert!(full > 10, "{full}");
    assert!(taken.into_iter().eq(0..sent), "all arrive once there is room");
}

#[test]
fn each_receiver_that_misses_events_is_reported() {
    let kinds = kinds(Level::PACKED);
    let mut hub = Hub::new(&codec(), HubConfig::default()).unwrap().with_events(&kinds);
    let ids: Vec<ReceiverId> = (1..=7).map(ReceiverId).collect();
    let receivers: Vec<Receiver> =
        ids.iter().map(|ReceiverId(id)| joined(&mut hub, &kinds, *id)).collect();
    let mut world = World::new(3, 1);
    let mut tick = |hub: &mut Hub, tick| {
        world.step(Tick(tick));
        hub.tick(Duration::from_secs(1) * tick / TICK_HZ, &world.snapshot)
    };
    let emit = |hub: &mut Hub, serial, audience: Audience<'_>| {
        hub.emit(&Said { serial, tick: 1, text: text(serial) }, audience).unwrap();
    };
    // The first three receivers get 5,000 events, the others get some of them.
    for serial in 0..5_000 {
        emit(&mut hub, serial, Audience::Only(&ids[..3]));
        if serial < 1_000 {
            emit(&mut hub, serial, Audience::Only(&ids[3..]));
        }
    }
    let refused = 5_000 - 4_096;
    let error = tick(&mut hub, 1).unwrap_err();
    let waiting = |id: &ReceiverId, refused| NetError::EventsWaiting { id: *id, refused };
    let expected: Vec<NetError> = ids[..3].iter().map(|id| waiting(id, refused)).collect();
    assert_eq!(error.each(), expected);
    assert_eq!(error, NetError::Several(expected));
    assert!(error.each().iter().map(NetError::receiver).eq(ids[..3].iter().copied().map(Some)));
    assert!(error.to_string().contains("receiver 3: too many events"), "{error}");
    for (nth, id) in ids.iter().enumerate() {
        let status = hub.status(*id).unwrap();
        assert_eq!(status.refused_events, if nth < 3 { refused } else { 0 });
        assert!(status.waiting_events <= status.unfinished_events);
        assert_eq!(status.unfinished_events, if nth < 3 { 4_096 } else { 1_000 });
    }
    while hub.poll_transmit().is_some() {}

    // A single error is not in a list, and a message names only a few of many errors.
    (0..4_096).for_each(|serial| emit(&mut hub, serial, Audience::Only(&ids[..1])));
    let error = tick(&mut hub, 2).unwrap_err();
    assert!(matches!(&error, NetError::EventsWaiting { id: ReceiverId(1), .. }), "{error}");
    assert_eq!(error.each(), std::slice::from_ref(&error));
    while hub.poll_transmit().is_some() {}
    (0..5_000).for_each(|serial| emit(&mut hub, serial, Audience::All));
    let error = tick(&mut hub, 3).unwrap_err();
    assert_eq!(error.each().len(), 7);
    assert!(error.to_string().ends_with("; and 3 more"), "{error}");
    drop(receivers);
}

#[test]
fn errors_of_encoding_name_each_receiver_too() {
    // From here on, every world is too large for a full state, for two of three receivers.
    let schema = Schema::new(vec![Field::new("raw", FieldKind::Raw { lanes: 64 })]);
    let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema)).unwrap();
    let config = HubConfig { datagram_bytes: 128, ..HubConfig::default() };
    let mut hub = Hub::new(&codec, config).unwrap();
    for id in 1..=3 {
        hub.add(ReceiverId(id), &ReceiverOptions::default(), Duration::ZERO).unwrap();
        let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(TICK_HZ)).unwrap();
        let hello = receiver.poll_transmit(Duration::ZERO).unwrap();
        hub.handle(ReceiverId(id), Duration::ZERO, hello).unwrap();
    }
    let mut world = Snapshot::new(&schema, Tick(1));
    for id in 0..32_000u32 {
        world.push_lanes(EntityId(id), &[id.wrapping_mul(0x9E37_79B9) | 1; 64]).unwrap();
    }
    hub.set_relevant(ReceiverId(2), Some(world.ids()[..10].into())).unwrap();
    let error = hub.tick(Duration::ZERO, &world).unwrap_err();
    let failed: Vec<Option<ReceiverId>> = error.each().iter().map(NetError::receiver).collect();
    assert_eq!(failed, [Some(ReceiverId(1)), Some(ReceiverId(3))]);
    let is_too_large = |error: &NetError| matches!(error, NetError::FullStateTooLarge { .. });
    assert!(error.each().iter().all(is_too_large), "{error}");
    let (to, _) = hub.poll_transmit().unwrap();
    assert_eq!(to, ReceiverId(2), "the others get their datagrams");
}

#[test]
fn a_small_budget_sends_large_events_beside_a_moving_world() {
    // If snapshots did not wait for events, they would take every byte of the budget as soon as it
    // is available.
    #[derive(Pack)]
    struct Page {
        text: ArrayString<1_000>,
    }

    let schema = Schema::builder().kind::<Page>("page").build().unwrap();
    let codec_of_pages =
        Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema)).unwrap();
    let kinds = EventKinds::new(&codec_of_pages);
    for budget in [1_000, 6_000] {
        let mut hub = Hub::new(&codec(), HubConfig::default()).unwrap().with_events(&kinds);
        let mut receiver = joined(&mut hub, &kinds, 1);
        let options = ReceiverOptions { budget: Some(budget).into(), ..ReceiverOptions::default() };
        hub.set_options(ID, &options, Duration::ZERO).unwrap();
        let mut world = World::new(200, 1);
        world.moving_one_in = 1;
        let (mut arrived, mut snapshots, mut bytes) = (0, 0, 0);
        let ticks = 60 * TICK_HZ;
        for tick in 1..=ticks {
            let now = Duration::from_secs(1) * tick / TICK_HZ;
            // The event takes a quarter of the budget.
            if tick.is_multiple_of(4_800 * TICK_HZ / budget) && tick < ticks - 20 * TICK_HZ {
                let text = ArrayString::from(&"x".repeat(1_000)).unwrap();
                hub.emit(&Page { text }, Audience::All).unwrap();
            }
            world.step(Tick(tick));
            hub.tick(now, &world.snapshot).unwrap();
            while let Some((_, datagram)) = hub.poll_transmit() {
                bytes += datagram.len() + 28;
                let taken = receiver.handle(now, datagram).unwrap();
                snapshots += u32::from(matches!(taken, Received::Snapshot { .. }));
            }
            arrived += receiver.take_events().count();
            while let Some(datagram) = receiver.poll_transmit(now) {
                hub.handle(ID, now, datagram).unwrap();
            }
        }
        let status = hub.status(ID).unwrap();
        let emitted = 40 * budget as usize / 4_800;
        assert!(arrived.abs_diff(emitted) <= 1 && status.unfinished_events == 0, "{arrived}");
        assert!(snapshots > 60, "{budget}: {snapshots} snapshots");
        assert!(bytes <= 61 * budget as usize + 1_228, "{budget}: {bytes} bytes");
    }
}
