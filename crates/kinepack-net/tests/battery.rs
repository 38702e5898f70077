//! Gives damaged datagrams of recorded sessions to an endpoint in the state that each datagram was
//! meant for. The datagrams are cut, extended, have flipped bits or another kind, or are noise. The
//! endpoint never panics, and a refusal changes nothing: after any number of refused datagrams, it
//! continues exactly as its twin that never saw them.

use std::time::Duration;

use kinepack::{Level, Snapshot, Tick};
use kinepack_net::{
    Hub, HubConfig, Link, LinkConfig, Loss, Receiver, ReceiverConfig, ReceiverId, ReceiverOptions,
    Refused, Sequence,
};

use crate::support::{
    Random, TICK_HZ, World, codec, codec_at, emit_some, event_kinds, number_of, unchecked,
};

const ID: ReceiverId = ReceiverId(1);
/// The number of bytes at the front in which the test flips every bit. This range includes all
/// headers and some bytes after the headers.
const ALL_FLIPS_BYTES: usize = 20;
/// The number of flipped bits after those bytes.
const OTHER_FLIPS: usize = 30;
/// The number of damaged datagrams of a session.
const MUTATED: usize = 20;

/// An input of a hub.
#[derive(Clone)]
enum Event {
    Datagram(Duration, Vec<u8>),
    Tick(Duration, Box<Snapshot>),
}

/// A session, with the inputs of the hub and of the receiver.
struct Recorded {
    config: HubConfig,
    options: ReceiverOptions,
    /// The mean number of events of the game in a tick.
    happenings: u64,
    events: Vec<Event>,
    /// The datagrams that the receiver got, with their arrival times.
    datagrams: Vec<(Duration, Vec<u8>)>,
}

fn record(
    entities: usize,
    config: HubConfig,
    options: ReceiverOptions,
    happenings: u64,
    seed: u64,
    ticks: u32,
) -> Recorded {
    let link = LinkConfig {
        latency: Duration::from_millis(40),
        loss: Loss::Independent { ratio: 0.15 },
        duplicate_ratio: 0.1,
        reorder_ratio: 0.1,
        reorder_delay: Duration::from_millis(50),
        ..LinkConfig::default()
    };
    let (mut down, mut up) = (Link::new(link, seed).unwrap(), Link::new(link, seed + 1).unwrap());
    let mut world = World::new(entities, seed);
    world.moving_one_in = 1;
    let mut hub = Hub::new(&codec(), config.clone()).unwrap().with_events(&event_kinds());
    hub.add(ID, &options, Duration::ZERO).unwrap();
    let receiver = Receiver::new(&codec(), ReceiverConfig::at_hz(60)).unwrap();
    let mut receiver = receiver.with_events(&event_kinds());
    let (mut events, mut datagrams) = (Vec::new(), Vec::new());
    for tick in 1..=ticks {
        let now = Duration::from_secs(1) * tick / TICK_HZ;
        while let Some(datagram) = down.poll(now) {
            let _ = receiver.handle(now, &datagram);
            datagrams.push((now, datagram));
        }
        while let Some(datagram) = receiver.poll_transmit(now) {
            up.send(now, datagram);
        }
        while let Some(datagram) = up.poll(now) {
            let _ = hub.handle(ID, now, &datagram);
            events.push(Event::Datagram(now, datagram));
        }
        world.step(Tick(tick));
        emit_some(&mut hub, tick, happenings, &mut Random::new(tick.into()));
        hub.tick(now, &world.snapshot).unwrap();
        events.push(Event::Tick(now, Box::new(world.snapshot.clone())));
        while let Some((_, datagram)) = hub.poll_transmit() {
            down.send(now, datagram);
        }
    }
    Recorded { config, options, happenings, events, datagrams }
}

fn small_datagrams() -> HubConfig {
    HubConfig { datagram_bytes: 128, ..HubConfig::default() }
}

/// Five sessions. The first has complete snapshots, and the second has partial snapshots and merge
/// fields after a full state. The third has full states of many fragments under a budget, while the
/// sequence wraps. The last two have older views, and events.
fn sessions() -> [Recorded; 5] {
    let options = ReceiverOptions::default();
    let late = ReceiverOptions { first_sequence: Sequence(65_520), budget: Some(6_000).into() };
    [
        record(4, HubConfig::default(), options, 0, 1, 45),
        record(40, small_datagrams(), options, 0, 2, 110),
        record(60, small_datagrams(), late, 0, 3, 60),
        record(4, HubConfig { older_views: Some(3), ..HubConfig::default() }, options, 0, 4, 60),
        record(4, small_datagrams(), options, 6, 5, 60),
    ]
}

/// Damages a datagram in every way.
fn mutants(datagram: &[u8], random: &mut Random) -> Vec<Vec<u8>> {
    let mut mutants: Vec<Vec<u8>> =
        (0..datagram.len()).map(|len| datagram[..len].to_vec()).collect();
    for tail in [&[0][..], &[0xFF, 0], &[0xA5; 3]] {
        mutants.push([datagram, tail].concat());
    }
    for first in 0..=255 {
        mutants.push([&[first], &datagram[1..]].concat());
    }
    let bits = 8 * datagram.len();
    let others = (0..OTHER_FLIPS).map(|_| random.below(bits as u64) as usize);
    for bit in (0..bits.min(8 * ALL_FLIPS_BYTES)).chain(others) {
        let mut flipped = datagram.to_vec();
        flipped[bit / 8] ^= 1 << (bit % 8);
        mutants.push(flipped);
    }
    for len in (0..12).chain([26, 34, 64, 257]) {
        let noise: Vec<u8> = (0..len).map(|_| random.next() as u8).collect();
        mutants.push([&datagram[..datagram.len().min(4)], &noise].concat());
        mutants.push(noise);
    }
    mutants.retain(|mutant| mutant != datagram);
    mutants
}

/// A receiver that has accepted the first `count` datagrams.
fn receiver_after(datagrams: &[(Duration, Vec<u8>)]) -> Receiver {
    let config = ReceiverConfig { max_full_state_bytes: 4_000, ..ReceiverConfig::at_hz(60) };
    let mut receiver = Receiver::new(&codec(), config).unwrap().with_events(&event_kinds());
    for (now, datagram) in datagrams {
        observe(&mut receiver, *now);
        let _ = receiver.handle(*now, datagram);
        observe(&mut receiver, *now);
    }
    receiver
}

/// The answers of a receiver, its shown state, and its counters of accepted datagrams.
#[derive(Debug, PartialEq)]
struct Observed {
    sent: Vec<Vec<u8>>,
    newest: Option<(Tick, u64)>,
    newest_sequence: Option<Sequence>,
    shown: Option<(u64, Vec<u32>)>,
    happened: Vec<(u32, u32)>,
    full_state: Option<(usize, usize)>,
    counts: [u64; 4],
}

fn observe(receiver: &mut Receiver, now: Duration) -> Observed {
    let mut sent = Vec::new();
    while let Some(datagram) = receiver.poll_transmit(now) {
        sent.push(datagram.to_vec());
    }
    let mut happened = Vec::new();
    let shown = receiver.playback(now).map(|playback| {
        happened.extend(playback.events().map(|event| number_of(&event)));
        let ids = playback.samples().map(|sample| sample.id.0).collect();
        (playback.tick.to_bits(), ids)
    });
    let stats = receiver.stats();
    Observed {
        sent,
        newest: receiver.newest().map(|newest| (newest.tick, newest.state_hash())),
        newest_sequence: receiver.newest_sequence(),
        shown,
        happened,
        full_state: receiver.full_state_progress(),
        counts: [stats.received, stats.late, stats.full_states, stats.views as u64],
    }
}

/// The state of a receiver that can be read without changing it.
type Held = (Option<(Tick, u64)>, Option<Sequence>, Option<(usize, usize)>, [u64; 4]);

fn held(receiver: &Receiver) -> Held {
    let stats = receiver.stats();
    (
        receiver.newest().map(|newest| (newest.tick, newest.state_hash())),
        receiver.newest_sequence(),
        receiver.full_state_progress(),
        [stats.received, stats.late, stats.full_states, stats.views as u64],
    )
}

fn assert_same_views(disturbed: &Receiver, twin: &Receiver) {
    let newest = twin.newest_sequence().unwrap_or_default();
    for behind in 0..300 {
        let sequence = newest.before(behind);
        assert_eq!(disturbed.view(sequence), twin.view(sequence), "{sequence:?}");
    }
}

fn receiver_survives(datagrams: &[(Duration, Vec<u8>)]) {
    let mut random = Random::new(7);
    let (mut disturbed, mut twin) = (receiver_after(&[]), receiver_after(&[]));
    for (index, (now, datagram)) in datagrams.iter().enumerate() {
        assert_eq!(
            observe(&mut disturbed, *now),
            observe(&mut twin, *now),
            "before datagram {index}"
        );
        let before = held(&disturbed);
        let is_chosen = index % (1 + datagrams.len() / MUTATED) == 0;
        for mutant in is_chosen.then(|| mutants(datagram, &mut random)).into_iter().flatten() {
            let mismatches = disturbed.stats().mismatches;
            let refused = disturbed.handle(*now, &mutant).is_err();
            if disturbed.stats().mismatches > mismatches {
                // After a failed check, the receiver knows that the two sides differ, so it keeps
                // only the state that it shows.
                let (newest, sequence, full_state, [received, late, full_states, _]) = before;
                assert!(refused && unchecked(&mutant).len() < mutant.len());
                assert_eq!(
                    held(&disturbed),
                    (newest, sequence, full_state, [received, late, full_states, 0])
                );
                let anew = observe(&mut disturbed, *now).sent;
                assert_eq!(
                    anew.first().map(|anew| (anew[0], anew.len())),
                    Some((12, 3)),
                    "datagram {index}"
                );
                disturbed = receiver_after(&datagrams[..index]);
                observe(&mut disturbed, *now);
            } else if refused {
                assert_eq!(
                    held(&disturbed),
                    before,
                    "datagram {index}: refused, but it had an effect"
                );
            } else {
                // The mutant is a valid datagram with another meaning. The disturbed receiver shows
                // it and answers, and then starts over.
                observe(&mut disturbed, *now);
                let _ = disturbed.handle(*now, datagram);
                disturbed = receiver_after(&datagrams[..index]);
                observe(&mut disturbed, *now);
            }
        }
        assert_eq!(
            disturbed.handle(*now, datagram),
            twin.handle(*now, datagram),
            "datagram {index}"
        );
        assert_eq!(
            observe(&mut disturbed, *now),
            observe(&mut twin, *now),
            "after datagram {index}"
        );
    }
    assert_same_views(&disturbed, &twin);
}

/// Whether each form of header reached the receiver: those of section 4, fragments, and older
/// views.
fn forms(datagrams: &[(Duration, Vec<u8>)]) -> [bool; 7] {
    let any = |is: fn(&[u8]) -> bool| datagrams.iter().any(|(_, datagram)| is(unchecked(datagram)));
    [
        any(|d| d[0] & 7 == 0 && d[3] == 0),
        any(|d| d[0] & 7 == 0 && d[3] != 0 && d[0] >> 5 == 0),
        any(|d| d[0] & 7 == 0 && d[0] >> 5 == 1),
        any(|d| d[0] & 0b1_1111 == 0b0_1000),
        any(|d| d[0] & 0b1_0111 == 0b1_0000),
        any(|d| d[0] == 1),
        any(|d| d[0] & 7 == 3),
    ]
}

#[test]
fn receivers_survive_damaged_complete_snapshots() {
    let [session, ..] = sessions();
    assert!(forms(&session.datagrams)[0] && forms(&session.datagrams)[2]);
    receiver_survives(&session.datagrams);
}

#[test]
fn receivers_survive_damaged_partial_snapshots() {
    let [_, session, ..] = sessions();
    let [.., left_out, merge, fragment, _] = forms(&session.datagrams);
    assert!(left_out && merge && fragment);
    receiver_survives(&session.datagrams);
}

#[test]
fn receivers_survive_damaged_blocks() {
    let [_, _, session, ..] = sessions();
    let [reference, explicit, .., fragment, _] = forms(&session.datagrams);
    assert!((reference || explicit) && fragment);
    receiver_survives(&session.datagrams);
}

#[test]
fn receivers_survive_damaged_older_views() {
    let [.., session, _] = sessions();
    assert!(forms(&session.datagrams)[6]);
    receiver_survives(&session.datagrams);
}

#[test]
fn receivers_survive_damaged_events() {
    let [.., session] = sessions();
    for first_byte in [0x1A, 0x2A] {
        assert!(session.datagrams.iter().any(|(_, datagram)| datagram[0] == first_byte));
    }
    receiver_survives(&session.datagrams);
}

#[test]
fn receivers_survive_damaged_refusals() {
    let hub = Hub::new(&codec(), HubConfig::default()).unwrap();
    let mut hub = hub.with_events(&event_kinds());
    hub.add(ID, &ReceiverOptions::default(), Duration::ZERO).unwrap();
    let mut datagrams = Vec::new();
    for byte in [1, 2, 10, 18, 26] {
        let mut hello = hello_at(Level::PACKED);
        hello[byte] ^= 0x40;
        assert!(matches!(hub.handle(ID, Duration::ZERO, &hello), Err(Refused::Mismatch(_))));
        datagrams.push((Duration::ZERO, hub.poll_transmit().unwrap().1.to_vec()));
    }
    let [session, ..] = sessions();
    datagrams.extend(session.datagrams.into_iter().take(3));
    receiver_survives(&datagrams);
}

fn hello_at(level: Level) -> Vec<u8> {
    let receiver = Receiver::new(&codec_at(level), ReceiverConfig::at_hz(60)).unwrap();
    let mut receiver = receiver.with_events(&event_kinds());
    receiver.poll_transmit(Duration::ZERO).unwrap().to_vec()
}

fn hub_after(session: &Recorded, count: usize) -> Hub {
    let hub = Hub::new(&codec(), session.config.clone()).unwrap();
    let mut hub = hub.with_events(&event_kinds());
    hub.offer(&codec_at(Level::ADAPTIVE)).unwrap();
    hub.add(ID, &session.options, Duration::ZERO).unwrap();
    for event in &session.events[..count] {
        drop(apply(&mut hub, event, session.happenings));
    }
    hub
}

/// Gives an event to the hub. Returns the result, and the datagrams that the hub then sends.
fn apply(hub: &mut Hub, event: &Event, happenings: u64) -> (Result<(), Refused>, Vec<Vec<u8>>) {
    let result = match event {
        Event::Datagram(now, datagram) => hub.handle(ID, *now, datagram).map(drop),
        Event::Tick(now, world) => {
            let Tick(tick) = world.tick;
            emit_some(hub, tick, happenings, &mut Random::new(tick.into()));
            hub.tick(*now, world).unwrap();
            Ok(())
        }
    };
    (result, drain(hub))
}

fn drain(hub: &mut Hub) -> Vec<Vec<u8>> {
    let mut sent = Vec::new();
    while let Some((_, datagram)) = hub.poll_transmit() {
        sent.push(datagram.to_vec());
    }
    sent
}

#[test]
fn hubs_survive_damaged_answers() {
    let mut random = Random::new(11);
    for session in sessions() {
        let (mut disturbed, mut twin) = (hub_after(&session, 0), hub_after(&session, 0));
        for (index, event) in session.events.iter().enumerate() {
            // In each tick, the test tries the ways in which the last answer could have been
            // damaged.
            let (now, datagram) = match event {
                Event::Datagram(now, datagram) => (*now, datagram.clone()),
                Event::Tick(..) if index % 3 != 0 => {
                    assert_eq!(
                        apply(&mut disturbed, event, session.happenings),
                        apply(&mut twin, event, session.happenings),
                        "event {index}"
                    );
                    assert_eq!(disturbed.status(ID), twin.status(ID), "event {index}");
                    continue;
                }
                Event::Tick(now, _) => (*now, hello_at(Level::PACKED)),
            };
            let other_codec = hello_at(Level::ADAPTIVE);
            // This request names the sequence that the acknowledgement names.
            let anew = vec![12, datagram[1], datagram[2]];
            for mutant in mutants(&datagram, &mut random).into_iter().chain([other_codec, anew]) {
                let result = disturbed.handle(ID, now, &mutant);
                let answer = drain(&mut disturbed);
                match result {
                    Ok(_) => {
                        apply(&mut disturbed, event, session.happenings).1.clear();
                        disturbed = hub_after(&session, index);
                    }
                    Err(Refused::Mismatch(_)) => {
                        assert!(answer.len() == 1 && answer[0].len() <= mutant.len());
                    }
                    Err(_) => assert!(answer.is_empty()),
                }
            }
            assert_eq!(
                apply(&mut disturbed, event, session.happenings),
                apply(&mut twin, event, session.happenings),
                "event {index}"
            );
            assert_eq!(disturbed.status(ID), twin.status(ID), "event {index}");
        }
    }
}
