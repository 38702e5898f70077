//! Tests of turns (spec/NET.md, section 4.7) against a second reader, which follows the
//! specification's text.

use std::time::Duration;

use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
use kinepack_net::{
    Hub, HubConfig, Link, LinkConfig, Loss, Received, Receiver, ReceiverConfig, ReceiverId,
    ReceiverOptions, Refused, Ring, Rings,
};

use crate::naive::{NaiveReceiver, entities};
use crate::rings::{Ship, at_places, codec, join, rings, with_turns};
use crate::support::{Random, TICK_HZ, is_snapshot, near_and_far, sequence_of, unchecked};

#[derive(Pack, Clone, Debug, PartialEq)]
struct Walker {
    #[pack(range = -512.0..512.0, precision = 1.0 / 16.0, clamp)]
    place: [f32; 2],
    #[pack(max = 3)]
    pose: u8,
}

const ID: ReceiverId = ReceiverId(4);

/// What a session's datagrams were like.
#[derive(Debug, Default)]
struct Outcome {
    whole: u32,
    turns: u32,
    parts: u32,
    bytes: usize,
    refused: u32,
}

struct Session {
    level: Level,
    every: u32,
    loss: Loss,
    walkers: u32,
    budget: Option<u32>,
    damages: bool,
}

impl Session {
    fn new(level: Level, every: u32, loss: Loss) -> Self {
        Self { level, every, loss, walkers: 40, budget: None, damages: false }
    }

    fn run(&self, seed: u64) -> Outcome {
        let schema = Schema::of::<Walker>();
        let codec = Codec::new(schema.clone(), self.level, Profile::untrained(&schema)).unwrap();
        let config = HubConfig { check_every_bytes: Some(200), ..HubConfig::default() };
        let mut hub = Hub::new(&codec, config).unwrap();
        hub.set_rings(Some(&near_and_far(&["place"], 60.0, 400.0, self.every))).unwrap();
        let options = ReceiverOptions { budget: self.budget.into(), ..ReceiverOptions::default() };
        hub.add(ID, &options, Duration::ZERO).unwrap();
        let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(TICK_HZ)).unwrap();
        let mut naive = NaiveReceiver::new(&codec, &Snapshot::new(&schema, Tick(0)));
        let link = LinkConfig {
            latency: Duration::from_millis(30),
            jitter: Duration::from_millis(20),
            loss: self.loss,
            ..LinkConfig::default()
        };
        let [mut down, mut up] = [0, 1].map(|way| Link::new(link, 2 * seed + way).unwrap());
        let mut random = Random::new(seed);
        let mut walkers: Vec<(u32, Walker)> = (1..=self.walkers)
            .map(|id| {
                let place = [random.unit() * 420.0, random.unit() * 420.0];
                (id, Walker { place, pose: 0 })
            })
            .collect();
        let mut outcome = Outcome::default();
        let mut eye = [0.0; 3];
        for tick in 1..=500u32 {
            let now = Duration::from_secs(1) * tick / TICK_HZ;
            while let Some(datagram) = down.poll(now) {
                if self.damages && random.chance(20) {
                    let damaged = damaged(&datagram, &mut random);
                    compare(&mut receiver, &mut naive, now, &damaged, &mut outcome);
                }
                compare(&mut receiver, &mut naive, now, &datagram, &mut outcome);
            }
            while let Some(datagram) = receiver.poll_transmit(now) {
                up.send(now, datagram);
            }
            while let Some(datagram) = up.poll(now) {
                let _ = hub.handle(ID, now, &datagram);
            }
            for (_, walker) in &mut walkers {
                for along in &mut walker.place {
                    *along = (*along + random.unit() * 3.0).clamp(-500.0, 500.0);
                }
                walker.pose ^= u8::from(random.chance(300));
            }
            if random.chance(15) {
                let gone = random.below(walkers.len() as u64) as usize;
                let (id, _) = walkers.remove(gone);
                let id = if random.chance(2) { id } else { 1_000 + tick };
                let at = walkers.partition_point(|(other, _)| *other < id);
                walkers.insert(at, (id, Walker { place: [random.unit() * 400.0; 2], pose: 1 }));
            }
            eye =
                eye.map(|along: f64| (along + f64::from(random.unit()) * 4.0).clamp(-200.0, 200.0));
            hub.set_viewpoint(ID, Some(eye)).unwrap();
            let mut world = Snapshot::new(&schema, Tick(tick));
            world
                .extend(walkers.iter().map(|(id, walker)| (EntityId(*id), walker.clone())))
                .unwrap();
            hub.tick(now, &world).unwrap();
            while let Some((_, datagram)) = hub.poll_transmit() {
                outcome.bytes += datagram.len();
                down.send(now, datagram);
            }
        }
        outcome
    }
}

/// Gives a datagram to both readers, which must accept or refuse it alike, and hold the same view.
fn compare(
    receiver: &mut Receiver,
    naive: &mut NaiveReceiver,
    now: Duration,
    datagram: &[u8],
    outcome: &mut Outcome,
) {
    let is_choice = naive.is_choice(datagram);
    naive.now = now;
    let (theirs, ours) = (naive.handle(datagram), receiver.handle(now, datagram));
    assert!(is_choice || theirs.is_ok() == ours.is_ok(), "{theirs:?}, {ours:?}: {datagram:02x?}");
    match ours {
        Ok(Received::Snapshot { left_out, .. }) => match (left_out, datagram[0] == 0x4A) {
            (false, _) => outcome.whole += 1,
            (true, true) => outcome.turns += 1,
            (true, false) => outcome.parts += 1,
        },
        Ok(_) | Err(Refused::Duplicate | Refused::TooOld | Refused::NoBaseline) => {}
        Err(_) => outcome.refused += 1,
    }
    if theirs.is_ok() && ours.is_ok() && is_snapshot(datagram) {
        let sequence = sequence_of(datagram);
        let view = receiver.view(sequence).map(entities);
        assert_eq!(view.as_ref(), naive.view(sequence.0).map(|view| &view.entities));
    }
}

/// Damages what comes after the sequence, or what is in front of the snapshot.
fn damaged(datagram: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bad = datagram.to_vec();
    let header = datagram.len() - unchecked(datagram).len();
    match random.below(4) {
        0 => bad.truncate(random.below(bad.len() as u64) as usize),
        1 if datagram[0] == 0x4A => bad[1] = random.below(4) as u8,
        2 if bad.len() > header + 4 => bad[header + 3] = random.below(12) as u8,
        _ => {
            let at = header + 3 + random.below((bad.len() - header) as u64) as usize;
            if let Some(byte) = bad.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
        }
    }
    bad
}

#[test]
fn two_readers_hold_the_same_views() {
    // The second reader does not keep learned models.
    for (seed, level) in (1..).zip([Level::PACKED, Level::ADAPTIVE]) {
        for loss in [Loss::None, Loss::Independent { ratio: 0.05 }, Loss::bursts(0.15, 4.0)] {
            let outcome = Session::new(level, 8, loss).run(seed);
            assert!(outcome.turns > 100 && outcome.refused == 0, "{level:?}: {outcome:?}");
            if loss == Loss::None {
                assert!(outcome.whole < 60, "{level:?}: {outcome:?}");
            }
        }
    }
}

#[test]
fn two_readers_agree_on_damaged_datagrams() {
    for seed in 10..14 {
        let session = Session {
            damages: true,
            ..Session::new(Level::PACKED, 4, Loss::Independent { ratio: 0.02 })
        };
        let outcome = session.run(seed);
        assert!(outcome.turns > 50 && outcome.refused > 5, "{outcome:?}");
    }
}

#[test]
fn budgets_and_states_in_several_datagrams_go_along_with_turns() {
    let with_budget = Session {
        budget: Some(6_000),
        ..Session::new(Level::ADAPTIVE, 6, Loss::Independent { ratio: 0.05 })
    };
    let outcome = with_budget.run(20);
    assert!(outcome.parts > 100 && outcome.refused == 0, "{outcome:?}");
    let many = Session {
        walkers: 600,
        ..Session::new(Level::PACKED, 6, Loss::Independent { ratio: 0.05 })
    };
    let outcome = many.run(21);
    assert!(outcome.parts > 20 && outcome.turns > 100 && outcome.refused == 0, "{outcome:?}");
}

#[test]
fn turns_save_what_would_be_repeated() {
    let [each_tick, turns] =
        [1, 8].map(|every| Session::new(Level::PACKED, every, Loss::None).run(30).bytes);
    assert!(turns < each_tick / 2, "{turns} of {each_tick}");
}

/// A ship that flies evenly along x, far away from a receiver whose far ring has turns of 4 ticks,
/// among ships near the receiver.
/// Returns the largest difference between its shown place and its place at the shown moment.
fn largest_error_of_far_ship(loss: Loss) -> f64 {
    const SPEED: f32 = 0.25;
    let codec = codec(Level::PACKED);
    let mut hub = Hub::new(&codec, HubConfig::default()).unwrap();
    hub.set_rings(Some(&with_turns([4, 4], rings(None)))).unwrap();
    let mut receiver = join(&mut hub, 0, Some([0.0; 3]));
    let config = LinkConfig { latency: Duration::from_millis(20), loss, ..LinkConfig::default() };
    let [mut down, mut up] = [1, 2].map(|seed| Link::new(config, seed).unwrap());
    let mut largest = 0.0_f64;
    for tick in 1..=240u32 {
        let now = Duration::from_secs(1) * tick / TICK_HZ;
        let mut world = Snapshot::new(codec.schema(), Tick(tick));
        let x = 60.0 + SPEED * tick as f32;
        let still = Ship {
            position: [70.0, 20.0, 0.0],
            model: 0,
            heading: 0.0,
            heat: None,
            alarm: tick % 16 < 8,
        };
        world.push(EntityId(100), &Ship { position: [x, 0.0, 0.0], ..still.clone() }).unwrap();
        world.push(EntityId(101), &still).unwrap();
        for id in 0..40 {
            let at = [(tick % 30) as f32, id as f32, 0.0];
            world.push(EntityId(200 + id), &Ship { position: at, ..still.clone() }).unwrap();
        }
        hub.tick(now, &world).unwrap();
        while let Some((_, datagram)) = hub.poll_transmit() {
            down.send(now, datagram);
        }
        while let Some(datagram) = down.poll(now) {
            let _ = receiver.handle(now, &datagram);
        }
        while let Some(datagram) = receiver.poll_transmit(now) {
            up.send(now, datagram);
        }
        while let Some(datagram) = up.poll(now) {
            let _ = hub.handle(ReceiverId(0), now, &datagram);
        }
        // In the first seconds, the delay grows to the length of a turn.
        let Some(playback) = receiver.playback(now).filter(|_| tick > 120) else { continue };
        let places = playback.samples().map(|sample| sample.state::<Ship>().unwrap().position);
        let places: Vec<[f32; 3]> = places.collect();
        let expected = 60.0 + f64::from(SPEED) * playback.tick;
        largest = largest.max((f64::from(places[0][0]) - expected).abs());
        assert_eq!(places[1], still.position);
    }
    largest
}

#[test]
fn playback_blends_from_turn_to_turn() {
    let step = 1.0 / 64.0;
    assert!(largest_error_of_far_ship(Loss::None) <= step);
    // After a loss, values may count as those of the tick whose packet arrived.
    let largest = largest_error_of_far_ship(Loss::bursts(0.1, 2.0));
    assert!(largest < 1.0, "{largest}");
}

#[test]
fn a_value_that_returns_within_a_round_trip_is_shown_at_once() {
    let (mut hub, [mut world, _]) = at_places(&[60.0]);
    hub.set_rings(Some(&with_turns([4, 4], rings(None)))).unwrap();
    let mut receiver = join(&mut hub, 0, Some([0.0; 3]));
    for tick in 1..20 {
        let now = Duration::from_millis(16) * tick;
        let alarm = (5..7).contains(&tick);
        let ship = Ship { position: [60.0, 0.0, 0.0], model: 0, heading: 0.0, heat: None, alarm };
        world.clear(Tick(tick));
        world.push(EntityId(100), &ship).unwrap();
        hub.tick(now, &world).unwrap();
        while let Some((_, datagram)) = hub.poll_transmit() {
            receiver.handle(now, datagram).unwrap();
        }
        // Only the first state is acknowledged, so all others are coded against it.
        while let Some(datagram) = receiver.poll_transmit(now).filter(|_| tick < 3) {
            hub.handle(ReceiverId(0), now, datagram).unwrap();
        }
        let shown = receiver.newest().unwrap().get::<Ship>(EntityId(100)).unwrap().unwrap();
        assert_eq!(shown.alarm, alarm, "{tick}");
    }
}

#[test]
fn a_whole_state_that_arrives_late_still_counts() {
    let (mut hub, [mut world, _]) = at_places(&[60.0]);
    hub.set_rings(Some(&with_turns([4, 4], rings(None)))).unwrap();
    let mut receiver = join(&mut hub, 0, Some([0.0; 3]));
    let (mut held, mut lost, mut last, mut up) = (None, 0, 0, Vec::new());
    for tick in 1..80 {
        let now = Duration::from_millis(16) * tick;
        world.clear(Tick(tick));
        for id in 100..140 {
            // The ships from 120 on move once, in the tick whose packet is lost.
            let moved = if id < 120 { tick as f32 / 8.0 } else { f32::from(u8::from(tick >= 30)) };
            let ship = Ship {
                position: [100.0 + moved, id as f32 / 8.0, 0.0],
                model: 0,
                heading: 0.0,
                heat: None,
                alarm: id >= 120 && tick >= 30,
            };
            world.push(EntityId(id), &ship).unwrap();
        }
        hub.tick(now, &world).unwrap();
        while let Some((_, datagram)) = hub.poll_transmit() {
            if tick == 30 {
                lost += 1;
                continue;
            }
            let is_whole = unchecked(datagram)[0] & 8 == 0;
            if tick > 30 && is_whole && held.is_none() {
                held = Some((tick, datagram.to_vec()));
                continue;
            }
            receiver.handle(now, datagram).unwrap();
            if let Some((at, whole)) = held.take_if(|(at, _)| *at < tick && last == 0) {
                receiver.handle(now, &whole).unwrap();
                last = at;
                held = Some((at, Vec::new()));
            }
        }
        while let Some(datagram) = receiver.poll_transmit(now) {
            up.push((tick + 3, datagram.to_vec()));
        }
        for (_, datagram) in up.extract_if(.., |(due, _): &mut (u32, Vec<u8>)| *due <= tick) {
            hub.handle(ReceiverId(0), now, &datagram).unwrap();
        }
        if last > 0 {
            let shown = receiver.newest().unwrap();
            let alarm = |id| shown.get::<Ship>(EntityId(id)).unwrap().unwrap().alarm;
            assert!((120..140).all(alarm), "{tick}");
        }
    }
    assert!(lost > 0 && last > 0, "{lost} {last}");
}

/// With turns, the header of a snapshot is longer than that of a fragment, so a state may be too
/// long for a snapshot, but not for one fragment.
#[test]
fn a_state_that_hardly_exceeds_a_datagram_reaches_a_receiver_of_another_session() {
    let schema = Schema::of::<Walker>();
    let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema)).unwrap();
    let rings = Rings {
        positions: vec!["place".into()],
        urgent: vec![],
        rings: vec![Ring { within: 900.0, leave: 900.0, every: 2, tier: 0, coarser: 0 }],
        beyond: None,
        cell: 100.0,
        exact_after: None,
    };
    for datagram_bytes in 220..340 {
        let config = HubConfig { datagram_bytes, ..HubConfig::default() };
        let mut hub = Hub::new(&codec, config).unwrap();
        hub.set_rings(Some(&rings)).unwrap();
        let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(TICK_HZ)).unwrap();
        for tick in 1..=240u32 {
            let now = Duration::from_secs(1) * tick / TICK_HZ;
            if tick == 1 || tick == 60 {
                hub.remove(ID);
                hub.add(ID, &ReceiverOptions::default(), now).unwrap();
                hub.set_viewpoint(ID, Some([0.0; 3])).unwrap();
            }
            while let Some(datagram) = receiver.poll_transmit(now) {
                let datagram = datagram.to_vec();
                let _ = hub.handle(ID, now, &datagram);
            }
            let mut world = Snapshot::new(&schema, Tick(tick));
            for id in 0..60u32 {
                let place = [id as f32 * 3.0, (id * id % 97) as f32];
                world.push(EntityId(id), &Walker { place, pose: (id % 4) as u8 }).unwrap();
            }
            hub.tick(now, &world).unwrap();
            while let Some((_, datagram)) = hub.poll_transmit() {
                let _ = receiver.handle(now, datagram);
            }
        }
        let newest = receiver.newest().map(|newest| newest.tick);
        assert!(newest > Some(Tick(200)), "datagrams of {datagram_bytes} bytes: {newest:?}");
    }
}
