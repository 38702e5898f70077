//! Tests with datagrams that this crate's endpoints would never send, written by hand from
//! `spec/NET.md`. Other tests run long or unlucky sessions, in which the endpoints could come to
//! hold different views.

use std::time::Duration;

use kinepack::{Encoder, EntityId, Snapshot, Tick};
use kinepack_net::{
    Acknowledgement, Handled, Hub, HubConfig, Received, Receiver, ReceiverConfig, ReceiverId,
    ReceiverOptions, Refused, Sequence,
};

use crate::support::{Random, TICK_HZ, Thing, codec};

const ID: ReceiverId = ReceiverId(1);
const LEFT_OUT: u8 = 1 << 3;
const MERGE: u8 = 1 << 4;

fn at(tick: u32) -> Duration {
    Duration::from_secs(1) * tick / TICK_HZ
}

/// A world of `count` entities that differs from tick to tick.
fn world(tick: u32, count: u32) -> Snapshot {
    let mut world = Snapshot::new(codec().schema(), Tick(tick));
    for id in 1..=count {
        let position = [(tick % 400) as f32 * 0.5 - 100.0, id as f32, 1.0];
        world
            .push(
                EntityId(id),
                &Thing { position, orientation: [0.0, 0.0, 0.0, 1.0], kind: 3, awake: true },
            )
            .unwrap();
    }
    world
}

fn empty() -> Snapshot {
    Snapshot::new(codec().schema(), Tick(0))
}

fn encoded(base: &Snapshot, snapshot: &Snapshot) -> Vec<u8> {
    let mut bytes = Vec::new();
    Encoder::new(&codec()).encode(&base.clone().into(), snapshot, &mut bytes).unwrap();
    bytes
}

/// A snapshot datagram coded against a reference state.
fn from_reference(
    sequence: u16,
    number: u8,
    flags: u8,
    base: &Snapshot,
    snapshot: &Snapshot,
) -> Vec<u8> {
    let mut bytes = vec![flags];
    bytes.extend(sequence.to_le_bytes());
    bytes.extend([0, number]);
    bytes.extend(snapshot.tick.0.to_le_bytes());
    bytes.push(1);
    bytes.extend(encoded(base, snapshot));
    bytes
}

/// A snapshot datagram coded against the view `back` sequences before. `flags` contains the stride,
/// or 0 for a stride of 1.
fn from_view(sequence: u16, back: u8, flags: u8, merge: Option<u32>, payload: &[u8]) -> Vec<u8> {
    let stride = if flags >> 5 == 0 { 1 << 5 } else { 0 };
    let mut bytes = vec![flags | stride | if merge.is_some() { MERGE } else { 0 }];
    bytes.extend(sequence.to_le_bytes());
    bytes.push(back);
    bytes.extend(merge.map(u32::to_le_bytes).into_iter().flatten());
    bytes.extend(payload);
    bytes
}

fn fragment(sequence: u16, number: u8, index: u16, count: u16, part: &[u8]) -> Vec<u8> {
    let mut bytes = vec![1];
    bytes.extend(sequence.to_le_bytes());
    bytes.push(number);
    bytes.extend(index.to_le_bytes());
    bytes.extend(count.to_le_bytes());
    bytes.extend(part);
    bytes
}

/// The bytes of a full state with `snapshot`, coded against `base`, the reference state
/// `reference`.
fn full_state(reference: u8, base: &Snapshot, snapshot: &Snapshot) -> Vec<u8> {
    let mut bytes = snapshot.tick.0.to_le_bytes().to_vec();
    bytes.push(reference);
    bytes.extend(encoded(base, snapshot));
    bytes
}

fn acknowledgement(latest: u16, before: u32) -> Vec<u8> {
    let mut bytes = vec![5];
    bytes.extend(Acknowledgement { latest: Sequence(latest), before }.to_bytes());
    bytes
}

fn receiver() -> Receiver {
    let config = ReceiverConfig { max_full_state_bytes: 10_000, ..ReceiverConfig::at_hz(60) };
    Receiver::new(&codec(), config).unwrap()
}

fn hello() -> Vec<u8> {
    receiver().poll_transmit(Duration::ZERO).unwrap().to_vec()
}

/// Handles a datagram, and then plays and answers as a program would.
fn take(receiver: &mut Receiver, now: Duration, datagram: &[u8]) -> Result<Received, Refused> {
    let result = receiver.handle(now, datagram);
    let _ = receiver.playback(now).map(|playback| playback.samples().count());
    while receiver.poll_transmit(now).is_some() {}
    result
}

#[test]
fn a_sequence_half_of_all_numbers_away_is_neither_newer_nor_older() {
    let mut receiver = receiver();
    let datagram = |sequence| from_reference(sequence, 0, 0, &empty(), &world(5, 1));
    take(&mut receiver, at(1), &datagram(100)).unwrap();
    assert_eq!(take(&mut receiver, at(2), &datagram(100 + 0x8000)), Err(Refused::TooOld));
    take(&mut receiver, at(2), &datagram(100 + 0x7FFF)).unwrap();
}

#[test]
fn leaps_of_the_sequence_leave_no_views_behind() {
    let mut receiver = receiver();
    let still = world(5, 1);
    let first = from_reference(0, 0, 0, &empty(), &still);
    take(&mut receiver, at(1), &first).unwrap();
    let payload = encoded(&still, &still);
    let mut sequence = 0u16;
    for leap in 0..20u16 {
        for _ in 0..250 {
            sequence = sequence.wrapping_add(1);
            take(&mut receiver, at(2), &from_view(sequence, 1, 0, None, &payload)).unwrap();
        }
        sequence = sequence.wrapping_add(0x7FFF - leap);
        take(&mut receiver, at(2), &from_reference(sequence, 0, 0, &empty(), &still)).unwrap();
        assert!(receiver.stats().views <= 256, "{} views are held", receiver.stats().views);
    }
}

#[test]
fn a_block_that_does_not_decode_changes_nothing() {
    let mut receiver = receiver();
    let state = world(9, 30);
    let bytes = full_state(0, &empty(), &state);
    let (first, last) = bytes.split_at(bytes.len() / 2);
    take(&mut receiver, at(1), &fragment(0, 1, 0, 2, first)).unwrap();
    let cut = fragment(1, 1, 1, 2, &last[..last.len() - 1]);
    assert!(matches!(take(&mut receiver, at(2), &cut), Err(Refused::Snapshot(_))));
    assert_eq!(receiver.full_state_progress(), Some((1, 2)));
    assert_eq!(
        take(&mut receiver, at(3), &fragment(1, 1, 1, 2, last)),
        Ok(Received::FullState { tick: Tick(9) })
    );
    assert_eq!(receiver.newest(), Some(&state));
}

#[test]
fn a_block_that_was_given_up_long_ago_does_not_hide_a_new_one() {
    let mut receiver = receiver();
    let state = world(9, 30);
    let still = world(5, 1);
    take(&mut receiver, at(1), &fragment(0, 1, 0, 2, &[7; 100])).unwrap();
    take(&mut receiver, at(1), &from_reference(1, 0, 0, &empty(), &still)).unwrap();
    let payload = encoded(&still, &still);
    for sequence in 2..40_000 {
        take(&mut receiver, at(2), &from_view(sequence, 1, 0, None, &payload)).unwrap();
    }
    let bytes = full_state(0, &empty(), &state);
    let (first, last) = bytes.split_at(bytes.len() / 2);
    assert_eq!(
        take(&mut receiver, at(3), &fragment(40_000, 2, 0, 2, first)),
        Ok(Received::Fragment)
    );
    assert_eq!(
        take(&mut receiver, at(3), &fragment(40_001, 2, 1, 2, last)),
        Ok(Received::FullState { tick: Tick(9) })
    );
}

#[test]
fn a_late_block_does_not_revert_the_newest_state() {
    let mut receiver = receiver();
    let old = world(9, 30);
    let bytes = full_state(0, &empty(), &old);
    let (first, last) = bytes.split_at(bytes.len() / 2);
    take(&mut receiver, at(1), &fragment(0, 1, 0, 2, first)).unwrap();
    let new = world(12, 3);
    take(&mut receiver, at(2), &from_reference(2, 0, LEFT_OUT, &empty(), &new)).unwrap();
    assert_eq!(
        take(&mut receiver, at(3), &fragment(1, 1, 1, 2, last)),
        Ok(Received::FullState { tick: Tick(9) })
    );
    let newest = receiver.newest().unwrap();
    assert_eq!(newest.tick, Tick(12));
    let lane = |snapshot: &Snapshot| snapshot.lane(0)[snapshot.position(EntityId(2)).unwrap()];
    assert_eq!(lane(newest), lane(&new), "the newer snapshot's value was forgotten");
}

#[test]
fn endless_fragments_use_bounded_memory() {
    let mut receiver = receiver();
    let mut random = Random::new(1);
    let mut sequence = 0u16;
    for _ in 0..20_000 {
        sequence = sequence.wrapping_add(random.below(40) as u16);
        let number = 1 + random.below(3) as u8;
        let part = vec![sequence as u8; 1 + random.below(1200) as usize];
        let result = take(
            &mut receiver,
            at(1),
            &fragment(sequence, number, random.below(65_535) as u16, 65_535, &part),
        );
        assert!(matches!(result, Ok(Received::Fragment) | Err(_)), "{result:?}");
        let (parts, all) = receiver.full_state_progress().unwrap_or_default();
        assert!(parts <= 10_000 && (all == 0 || all == 65_535));
    }
    let mut receiver = self::receiver();
    for index in 0..8 {
        take(&mut receiver, at(1), &fragment(index, 9, index, 65_535, &[1; 1200])).unwrap();
    }
    let refused = take(&mut receiver, at(1), &fragment(8, 9, 8, 65_535, &[1; 1200]));
    assert_eq!(refused, Err(Refused::FullStateTooLarge { limit_bytes: 10_000 }));
    let refused = take(&mut receiver, at(1), &fragment(8, 10, 8, 65_535, &[1; 10_001]));
    assert_eq!(refused, Err(Refused::FullStateTooLarge { limit_bytes: 10_000 }));
    assert_eq!(
        receiver.full_state_progress(),
        Some((8, 65_535)),
        "refused fragments changed something"
    );
    // The next fragments are the shortest parts of a full state. The complete state is not a
    // snapshot.
    for index in 0..6 {
        let result = take(&mut receiver, at(1), &fragment(20 + index, 11, index, 6, &[0xFF]));
        assert_eq!(result.is_ok(), index < 5, "{result:?}");
    }
    for part in [&[0; 3][..], &[0; 5], &[0, 0, 0, 0, 77, 1, 2, 3]] {
        assert!(take(&mut receiver, at(1), &fragment(30, 12, 0, 1, part)).is_err());
    }
    take(&mut receiver, at(2), &from_reference(30, 0, 0, &empty(), &world(3, 1))).unwrap();
}

#[test]
fn ticks_at_both_ends_and_backwards_are_harmless() {
    let mut receiver = receiver();
    let ticks = [5, 0, u32::MAX, u32::MAX - 1, 1, 1 << 31, 7, 7, u32::MAX, 100];
    for (sequence, tick) in (0..).zip(ticks) {
        for flags in [0, LEFT_OUT] {
            let datagram = from_reference(
                2 * sequence + u16::from(flags != 0),
                0,
                flags,
                &empty(),
                &world(tick, 3),
            );
            take(&mut receiver, at(u32::from(sequence)), &datagram).unwrap();
            assert_eq!(receiver.view(Sequence(2 * sequence)).unwrap().tick, Tick(tick));
        }
    }
    // The tick of a snapshot cannot exceed the last tick.
    take(&mut receiver, at(50), &from_reference(100, 0, 0, &empty(), &world(u32::MAX - 1, 3)))
        .unwrap();
    let still = encoded(&world(u32::MAX - 1, 3), &world(u32::MAX - 1, 3));
    let beyond = from_view(102, 2, 0, None, &still);
    assert!(take(&mut receiver, at(50), &beyond).is_err());
    take(&mut receiver, at(51), &from_view(101, 1, 0, None, &still)).unwrap();
    assert_eq!(receiver.view(Sequence(101)).unwrap().tick, Tick(u32::MAX));
}

#[test]
fn baselines_are_held_as_far_back_as_specified() {
    let mut receiver = receiver();
    let first = world(5, 2);
    take(&mut receiver, at(1), &from_reference(65_500, 0, 0, &empty(), &first)).unwrap();
    let still = encoded(&first, &first);
    let mut sequence = 65_500u16;
    // A sender that gets no answers uses the same view for as long as one byte can name it.
    for back in 1..=255 {
        sequence = sequence.wrapping_add(1);
        take(&mut receiver, at(2), &from_view(sequence, back, 0, None, &still)).unwrap();
    }
    assert_eq!(receiver.stats().views, 256);
    // The newest baseline decides which views are held: those up to 64 before it. Older views may
    // be dropped.
    sequence = sequence.wrapping_add(1);
    take(&mut receiver, at(2), &from_view(sequence, 10, 0, None, &still)).unwrap();
    sequence = sequence.wrapping_add(1);
    take(&mut receiver, at(2), &from_view(sequence, 11 + 64, 0, None, &still)).unwrap();
    assert!(receiver.stats().views <= 256);
    sequence = sequence.wrapping_add(1);
    assert_eq!(
        take(&mut receiver, at(2), &from_view(sequence, 255, 0, None, &still)),
        Err(Refused::NoBaseline)
    );
    assert_eq!(
        take(&mut receiver, at(2), &from_reference(sequence, 9, 0, &empty(), &first)),
        Err(Refused::NoBaseline)
    );
}

#[test]
fn merges_of_missing_views_are_refused() {
    let mut receiver = receiver();
    let first = world(5, 2);
    let still = encoded(&first, &first);
    take(&mut receiver, at(1), &from_reference(10, 0, 0, &empty(), &first)).unwrap();
    take(&mut receiver, at(1), &from_view(11, 1, LEFT_OUT, None, &still)).unwrap();
    take(&mut receiver, at(1), &from_view(13, 3, LEFT_OUT, None, &still)).unwrap();
    let views = receiver.stats().views;
    // The baseline is view 13. Before it, 12 did not arrive, 11 is partial, and 10 is complete.
    for field in [1, 1 << 2, 1 << 3, 1 << 31, u32::MAX] {
        let datagram = from_view(14, 1, LEFT_OUT, Some(field), &still);
        assert_eq!(take(&mut receiver, at(1), &datagram), Err(Refused::BadMerge), "{field:b}");
    }
    let of_whole = from_view(14, 4, 0, Some(0), &still);
    assert_eq!(take(&mut receiver, at(1), &of_whole), Err(Refused::BadMerge));
    assert_eq!(receiver.stats().views, views);
    take(&mut receiver, at(1), &from_view(14, 1, LEFT_OUT, Some(1 << 1), &still)).unwrap();
}

/// The receiver holds the baseline of a snapshot that came too late, but has already dropped some
/// views to merge into it.
#[test]
fn a_late_snapshot_with_dropped_merged_views_is_refused_or_right() {
    let [first, second, third] = [5, 6, 7].map(|tick| world(tick, 2));
    let with_row = |of: &Snapshot, row: usize| {
        let mut rows = Snapshot::new_like(of);
        rows.push_row(&second, row).unwrap();
        let mut view = of.clone();
        view.patch(&[], &rows).unwrap();
        view
    };
    // Both parts are coded against the first world. One has entity 1 of tick 6, the other entity 2.
    // Merged, they equal the second world.
    let parts = [with_row(&first, 0), with_row(&first, 1)];
    let still = encoded(&second, &second);
    for newest in 40..140 {
        let mut receiver = receiver();
        let late = newest - 5;
        take(&mut receiver, at(1), &from_reference(0, 0, LEFT_OUT, &empty(), &first)).unwrap();
        for (sequence, part) in (1..).zip(&parts) {
            let datagram =
                from_view(sequence, sequence as u8, LEFT_OUT, None, &encoded(&first, part));
            take(&mut receiver, at(1), &datagram).unwrap();
        }
        for sequence in (3..=newest).filter(|sequence| *sequence != late) {
            let back = if sequence == late + 1 { 2 } else { 1 };
            take(&mut receiver, at(2), &from_view(sequence, back, 0, None, &still)).unwrap();
        }
        let datagram = from_view(late, (late - 2) as u8, 0, None, &encoded(&second, &third));
        if take(&mut receiver, at(3), &datagram).is_ok() {
            let view = receiver.view(Sequence(late)).unwrap();
            assert!(
                view.holds_same(&third),
                "the newest is {newest}: a view that the sender did not mean"
            );
        }
    }
}

/// A hub with a joined receiver, after `ticks` ticks. The first datagram has the sequence `first`.
fn hub(first: u16, ticks: u32) -> Hub {
    let mut hub = Hub::new(&codec(), HubConfig::default()).unwrap();
    let options = ReceiverOptions { first_sequence: Sequence(first), ..ReceiverOptions::default() };
    hub.add(ID, &options, Duration::ZERO).unwrap();
    assert_eq!(hub.handle(ID, Duration::ZERO, &hello()), Ok(Handled::Joined));
    for tick in 1..=ticks {
        hub.tick(at(tick), &world(tick, 2)).unwrap();
    }
    while hub.poll_transmit().is_some() {}
    hub
}

#[test]
fn answers_to_datagrams_never_sent_or_sent_long_ago_are_refused() {
    // Ten datagrams were sent across the wrap of the sequence, so the last sequence is 4.
    let first = 65_531;
    let cases = [
        (acknowledgement(5, 0), Refused::NeverSent),
        (acknowledgement(100, 0), Refused::NeverSent),
        (acknowledgement(4 + 0x8000, 0), Refused::NeverSent),
        (acknowledgement(0x8005, 0), Refused::NeverSent),
        (acknowledgement(first - 1, 0), Refused::NeverSent),
        (acknowledgement(first, 1), Refused::NeverSent),
        (acknowledgement(4, 1 << 9), Refused::NeverSent),
        (acknowledgement(4, 1 << 31), Refused::NeverSent),
    ];
    let (mut disturbed, mut twin) = (hub(first, 10), hub(first, 10));
    for (datagram, refusal) in &cases {
        assert_eq!(disturbed.handle(ID, at(11), datagram), Err(*refusal), "{datagram:?}");
    }
    assert_eq!(
        disturbed.handle(ReceiverId(2), at(11), &acknowledgement(4, 0)),
        Err(Refused::UnknownReceiver)
    );
    assert_eq!(disturbed.status(ID), twin.status(ID));
    for (tick, good) in [
        (11, acknowledgement(4, 1 << 8)),
        (12, acknowledgement(4, 1 << 8)),
        (13, acknowledgement(65_535, 0b1111)),
    ] {
        for hub in [&mut disturbed, &mut twin] {
            assert_eq!(hub.handle(ID, at(tick), &good), Ok(Handled::Acknowledged));
            hub.tick(at(tick), &world(tick, 2)).unwrap();
        }
        let sent = disturbed.poll_transmit().map(|(_, datagram)| datagram.to_vec());
        assert_eq!(
            sent.as_deref(),
            twin.poll_transmit().map(|(_, datagram)| datagram),
            "tick {tick}"
        );
        for (datagram, refusal) in &cases[1..] {
            // By now, the sequences 5, 6 and 7 have been sent.
            assert_eq!(disturbed.handle(ID, at(tick), datagram), Err(*refusal), "{datagram:?}");
        }
        assert_eq!(disturbed.status(ID), twin.status(ID));
    }
}

#[test]
fn answers_before_anything_was_sent_are_refused() {
    let mut hub = Hub::new(&codec(), HubConfig::default()).unwrap();
    hub.add(ID, &ReceiverOptions::default(), Duration::ZERO).unwrap();
    hub.tick(at(1), &world(1, 2)).unwrap();
    assert!(hub.poll_transmit().is_none(), "nothing before hello");
    assert_eq!(hub.handle(ID, at(1), &acknowledgement(0, 0)), Err(Refused::NoHello));
    assert_eq!(hub.handle(ID, at(1), &hello()), Ok(Handled::Joined));
    for (latest, before) in [(0, 0), (65_535, 0), (1, 1), (0x8000, 0), (0x7FFF, u32::MAX)] {
        assert_eq!(
            hub.handle(ID, at(1), &acknowledgement(latest, before)),
            Err(Refused::NeverSent)
        );
    }
    assert_eq!(hub.handle(ReceiverId(9), at(1), &hello()), Err(Refused::UnknownReceiver));
    assert_eq!(hub.handle(ID, at(1), &hello()), Ok(Handled::HelloAgain));
    hub.tick(at(2), &world(2, 2)).unwrap();
    assert!(hub.poll_transmit().is_some());
}

#[test]
fn answers_may_name_the_255_before_the_newest() {
    // A hub that gets no answers sends at most four datagrams per second.
    let mut hub = Hub::new(&codec(), HubConfig::default()).unwrap();
    hub.add(ID, &ReceiverOptions::default(), Duration::ZERO).unwrap();
    hub.handle(ID, Duration::ZERO, &hello()).unwrap();
    let mut sent = 0u16;
    let mut tick = 0;
    while sent < 300 {
        tick += 1;
        hub.tick(at(15 * tick), &world(tick, 2)).unwrap();
        while hub.poll_transmit().is_some() {
            sent += 1;
        }
    }
    let newest = sent - 1;
    let status = hub.status(ID);
    assert_eq!(
        hub.handle(ID, at(15 * tick), &acknowledgement(newest - 256, 0)),
        Err(Refused::LongAgo)
    );
    assert_eq!(hub.handle(ID, at(15 * tick), &acknowledgement(0, 0)), Err(Refused::LongAgo));
    assert_eq!(hub.status(ID), status);
    assert_eq!(
        hub.handle(ID, at(15 * tick), &acknowledgement(newest - 255, u32::MAX)),
        Ok(Handled::Acknowledged)
    );
    assert_eq!(
        hub.handle(ID, at(15 * tick), &acknowledgement(newest - 254, u32::MAX)),
        Ok(Handled::Acknowledged)
    );
}

#[test]
fn a_wrong_hello_gets_one_refusal_that_is_shorter_and_changes_nothing() {
    let (mut disturbed, mut twin) = (hub(0, 5), hub(0, 5));
    for (reason, byte) in [(0, 1), (1, 2), (1, 9), (2, 10), (2, 17), (3, 18), (3, 25)] {
        let mut wrong = hello();
        wrong[byte] ^= 0x80;
        assert!(matches!(disturbed.handle(ID, at(5), &wrong), Err(Refused::Mismatch(_))));
        let (to, refusal) = disturbed.poll_transmit().unwrap();
        assert_eq!((to, refusal[0], refusal[1], refusal.len()), (ID, 2, reason, 10));
        assert!(refusal.len() <= wrong.len());
        assert!(disturbed.poll_transmit().is_none());
        // Once a state has arrived, the receiver ignores refusals, because anyone could send one.
        let refusal = [2, reason, 1, 2, 3, 4, 5, 6, 7, 8];
        let mut receiver = receiver();
        assert!(matches!(receiver.handle(at(1), &refusal), Err(Refused::Mismatch(_))));
        take(&mut receiver, at(1), &from_reference(0, 0, 0, &empty(), &world(1, 1))).unwrap();
        assert_eq!(receiver.handle(at(1), &refusal), Err(Refused::Kind { first_byte: 2 }));
    }
    assert_eq!(disturbed.handle(ID, at(5), &hello()), Ok(Handled::HelloAgain));
    assert_eq!(disturbed.status(ID), twin.status(ID));
    for hub in [&mut disturbed, &mut twin] {
        hub.tick(at(6), &world(6, 2)).unwrap();
    }
    let sent = disturbed.poll_transmit().unwrap().1.to_vec();
    assert_eq!(sent, twin.poll_transmit().unwrap().1);
}

/// A hub and a receiver over a path. A datagram takes `latency_ticks` in each direction, and the
/// caller chooses which datagrams are dropped.
struct Path {
    hub: Hub,
    receiver: Receiver,
    down: Vec<(u32, Vec<u8>)>,
    up: Vec<(u32, Vec<u8>)>,
    latency_ticks: u32,
    no_baseline: u64,
}

impl Path {
    fn new(config: HubConfig, latency_ticks: u32) -> Self {
        let mut hub = Hub::new(&codec(), config).unwrap();
        hub.add(ID, &ReceiverOptions::default(), Duration::ZERO).unwrap();
        Self {
            hub,
            receiver: receiver(),
            down: Vec::new(),
            up: Vec::new(),
            latency_ticks,
            no_baseline: 0,
        }
    }

    fn step(&mut self, world: &Snapshot, passes: bool) {
        let tick = world.tick.0;
        let now = at(tick);
        let due: Vec<_> = self.down.extract_if(.., |(due, _)| *due <= tick).collect();
        for (_, datagram) in due {
            let refused = self.receiver.handle(now, &datagram);
            self.no_baseline += u64::from(refused == Err(Refused::NoBaseline));
        }
        while let Some(datagram) = self.receiver.poll_transmit(now) {
            if passes {
                self.up.push((tick + self.latency_ticks, datagram.to_vec()));
            }
        }
        let due: Vec<_> = self.up.extract_if(.., |(due, _)| *due <= tick).collect();
        for (_, datagram) in due {
            let _ = self.hub.handle(ID, now, &datagram);
        }
        self.hub.tick(now, world).unwrap();
        while let Some((_, datagram)) = self.hub.poll_transmit() {
            if passes {
                self.down.push((tick + self.latency_ticks, datagram.to_vec()));
            }
        }
    }
}

/// Runs a small world for twenty minutes. The sequence wraps, and no distance may be counted from
/// an old datagram.
#[test]
fn a_long_session_keeps_its_baselines() {
    let mut path = Path::new(HubConfig::default(), 2);
    let mut oldest = 0;
    for tick in 1..72_000 {
        path.step(&world(tick, 1), true);
        let age = path.hub.status(ID).unwrap().baseline_age;
        assert!(tick < 10 || age.is_some(), "no baseline at tick {tick}");
        oldest = oldest.max(age.unwrap_or(0));
    }
    assert!(oldest < 10, "a baseline {oldest} datagrams old on a path of four ticks");
    assert_eq!(path.no_baseline, 0);
}

/// A receiver completes two full states that the sender gave up, because the sender first learned
/// that older views had arrived. The state that both are coded against is still the sender's
/// reference.
#[test]
fn abandoned_blocks_do_not_replace_the_reference() {
    let mut path = Path::new(HubConfig { datagram_bytes: 256, ..HubConfig::default() }, 24);
    let mut tick = 0;
    let mut step = |path: &mut Path, ticks: u32, count: u32, passes: bool| {
        for _ in 0..ticks {
            tick += 1;
            path.step(&world(tick, count), passes);
        }
    };
    // The receiver's hello takes as long as any datagram.
    step(&mut path, 24, 0, true);
    for _ in 0..3 {
        // The world is empty until the receiver's baselines have left the sender's window. Then it
        // fills.
        step(&mut path, 75 * TICK_HZ, 0, false);
        step(&mut path, 16, 1, true);
        step(&mut path, 120, 40, true);
        step(&mut path, 240, 3, true);
        assert!(
            path.receiver.newest().is_some_and(|newest| newest.len() == 3),
            "{} without baseline",
            path.no_baseline
        );
    }
    assert_eq!(path.no_baseline, 0);
}
