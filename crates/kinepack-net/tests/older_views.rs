//! Tests of older views (`spec/NET.md`, section 4.3): each reason to refuse them, and how a hub
//! uses them.

use std::time::Duration;

use kinepack::{Baselines, Codec, Encoder, EntityId, Level, Snapshot, Tick, View};
use kinepack_net::{
    Hub, HubConfig, LinkConfig, NetError, Received, Receiver, ReceiverConfig, ReceiverId,
    ReceiverOptions, Refused, Sequence,
};

use crate::support::{Net, Thing, World, codec_at, is_snapshot, unchecked};

const LEFT_OUT: u8 = 1 << 3;
const OLDER: u8 = 3;

/// A codec that predicts from older views.
fn codec() -> Codec {
    codec_at(Level::ADAPTIVE)
}

/// Three entities that differ from tick to tick.
fn world(tick: u32) -> Snapshot {
    world_of([1, 2, 3], |_| tick, tick)
}

/// A world with the entities `ids`. Each is at its position of the tick that `at` returns.
fn world_of(ids: impl IntoIterator<Item = u32>, at: impl Fn(u32) -> u32, tick: u32) -> Snapshot {
    let mut world = Snapshot::new(codec().schema(), Tick(tick));
    for id in ids {
        let position = [at(id) as f32, id as f32, 1.0];
        world
            .push(
                EntityId(id),
                &Thing { position, orientation: [0.0, 0.0, 0.0, 1.0], kind: 3, awake: true },
            )
            .unwrap();
    }
    world
}

/// A snapshot datagram with an explicit tick, coded against `bases`: the view `back` sequences
/// before, followed by the older views.
fn datagram(
    flags: u8,
    sequence: u8,
    back: u8,
    older: &[u8],
    bases: &[View],
    snapshot: &Snapshot,
) -> Vec<u8> {
    let mut bytes = vec![flags, sequence, 0, back];
    if back == 0 {
        bytes.push(0);
    }
    bytes.extend(snapshot.tick.0.to_le_bytes());
    bytes.push(0);
    bytes.extend(older);
    let bases = Baselines::new(bases).unwrap();
    Encoder::new(&codec()).encode(bases, snapshot, &mut bytes).unwrap();
    bytes
}

/// A receiver with the views 1 to 5 of the ticks 1, 3, 3, 4 and 5. View 4 is partial.
fn receiver() -> Receiver {
    receiver_of(&[(1, 1, 0), (2, 3, 0), (3, 3, 0), (4, 4, LEFT_OUT), (5, 5, 0)])
}

/// A receiver with views of the given sequences, ticks and flags.
fn receiver_of(views: &[(u8, u32, u8)]) -> Receiver {
    let mut receiver = Receiver::new(&codec(), ReceiverConfig::at_hz(60)).unwrap();
    let empty = View::empty(codec().schema());
    for &(sequence, tick, flags) in views {
        let bytes = datagram(flags, sequence, 0, &[], std::slice::from_ref(&empty), &world(tick));
        receiver.handle(Duration::ZERO, &bytes).unwrap();
    }
    receiver
}

/// The result of a snapshot of tick `tick` with sequence 6, coded against view 5 of tick 5.
fn taken(tick: u32, older: &[u8]) -> Result<Received, Refused> {
    let mut receiver = receiver();
    let before = receiver.stats();
    let kind = if older.is_empty() { 0 } else { OLDER };
    let bases = match older {
        [distance] | [distance, _] if (1..5).contains(&(distance & 0x7F)) && tick > 5 => {
            let ticks = older.iter().scan(4, |at: &mut usize, distance| {
                *at = at.checked_sub(usize::from(distance & 0x7F))?;
                Some([1, 3, 3, 4, 5][*at])
            });
            let ticks: Vec<u32> = std::iter::once(5).chain(ticks).collect();
            if ticks.is_sorted_by(|a, b| a > b) { ticks } else { vec![5] }
        }
        _ => vec![5],
    };
    let bases: Vec<View> = bases.into_iter().map(|tick| world(tick).into()).collect();
    let bytes = datagram(kind, 6, 1, older, &bases, &world(tick));
    let taken = receiver.handle(Duration::ZERO, &bytes);
    if taken.is_err() {
        assert_eq!(
            (receiver.stats().received, receiver.stats().views),
            (before.received, before.views)
        );
        assert_eq!(receiver.newest_sequence(), Some(Sequence(5)));
        let bytes = datagram(0, 6, 1, &[], &[world(5).into()], &world(9));
        receiver.handle(Duration::ZERO, &bytes).unwrap();
    }
    assert!(receiver.view(Sequence(6)) == Some(&world(if taken.is_ok() { tick } else { 9 })));
    taken
}

#[test]
fn each_rule_refuses() {
    for older in [&[][..], &[1], &[2], &[3], &[4], &[0x82, 2], &[0x83, 1]] {
        assert!(taken(6, older).is_ok(), "{older:?}");
    }
    let refused = [
        (&[5][..], Refused::NoBaseline),
        (&[0x82, 3], Refused::NoBaseline),
        (&[127], Refused::NoBaseline),
        // The two views of this case have the same tick.
        (&[0x82, 1], Refused::BadOlder),
        (&[0], Refused::BadOlder),
        (&[0x82, 0], Refused::BadOlder),
        (&[0x81, 0x81, 0x81, 1], Refused::BadOlder),
    ];
    for (older, reason) in refused {
        assert_eq!(taken(6, older), Err(reason), "{older:?}");
    }
    // Without older views, ticks need not increase.
    for tick in [4, 5] {
        assert!(taken(tick, &[]).is_ok());
        assert_eq!(taken(tick, &[2]), Err(Refused::BadOlder));
    }
    let empty = View::empty(codec().schema());
    let from_reference = datagram(OLDER, 6, 0, &[2], &[empty], &world(6));
    assert_eq!(receiver().handle(Duration::ZERO, &from_reference), Err(Refused::BadOlder));
}

#[test]
fn a_partial_view_is_merged_with_the_other_parts_of_its_tick() {
    // The receiver knows tick 1. Views 2 to 4 each have another entity at tick 3, and so on.
    let mut receiver = receiver_of(&[(1, 1, 0)]);
    let first = View::from(world(1));
    for (sequence, moved) in [(2, 1), (3, 2), (4, 3)] {
        let part = world_of([1, 2, 3], |id| if id == moved { 3 } else { 1 }, 3);
        let bytes =
            datagram(LEFT_OUT, sequence, sequence - 1, &[], std::slice::from_ref(&first), &part);
        receiver.handle(Duration::ZERO, &bytes).unwrap();
    }
    receiver
        .handle(Duration::ZERO, &datagram(0, 5, 4, &[], std::slice::from_ref(&first), &world(5)))
        .unwrap();
    let bases = |older| [world(5).into(), View::from(older)];
    let whole = datagram(OLDER, 6, 1, &[1], &bases(world(3)), &world(7));
    let alone = world_of([1, 2, 3], |id| if id == 3 { 3 } else { 1 }, 3);
    let alone = datagram(OLDER, 6, 1, &[1], &bases(alone), &world(7));
    assert_ne!(whole, alone);
    receiver.handle(Duration::ZERO, &whole).unwrap();
    assert!(receiver.newest() == Some(&world(7)));
}

#[test]
fn parts_may_not_reach_into_what_the_receiver_dropped() {
    let views: Vec<(u8, u32, u8)> = (1..=67)
        .map(|nth: u8| match nth {
            2 | 3 => (nth, 2, LEFT_OUT),
            _ => (nth, nth.into(), 0),
        })
        .collect();
    // Each case names the baseline of snapshot 68, and whether snapshot 69 may then use views 2 and
    // 3.
    for (base, expected) in [(65, true), (66, false), (67, false)] {
        let mut receiver = receiver_of(&views);
        let next = datagram(0, 68, 68 - base, &[], &[world(base.into()).into()], &world(68));
        receiver.handle(Duration::ZERO, &next).unwrap();
        let bases = [world(65).into(), world(2).into()];
        let bytes = datagram(OLDER, 69, 4, &[62], &bases, &world(69));
        let taken = receiver.handle(Duration::ZERO, &bytes);
        assert_eq!(taken.is_ok(), expected, "{base}: {taken:?}");
        assert!(expected || taken == Err(Refused::NoBaseline));
    }
}

#[test]
fn receivers_with_one_baseline_share_the_encoding() {
    let link = LinkConfig { latency: Duration::from_millis(40), ..LinkConfig::default() };
    let mut net =
        Net::new(World::new(30, 5), HubConfig { older_views: Some(2), ..HubConfig::default() });
    for seed in 1..=8 {
        net.add(link, seed, ReceiverOptions::default()).unwrap();
    }
    for tick in 0..200 {
        net.step(None);
        assert!(tick < 20 || net.hub.encoded() <= 1, "tick {tick}: {} encoded", net.hub.encoded());
    }
    for client in &net.clients {
        assert!(client.with_older > 150, "{} of {}", client.with_older, client.snapshots);
    }
}

#[test]
fn an_initial_state_has_tick_0_whatever_it_was_given_with() {
    let id = ReceiverId(1);
    let mut hub = Hub::with_initial(&codec(), HubConfig::default(), &world(1)).unwrap();
    let mut initial = world(1);
    initial.tick = Tick(700);
    let mut receiver =
        Receiver::with_initial(&codec(), ReceiverConfig::at_hz(60), &initial).unwrap();
    hub.add(id, &ReceiverOptions::default(), Duration::ZERO).unwrap();
    hub.handle(id, Duration::ZERO, receiver.poll_transmit(Duration::ZERO).unwrap()).unwrap();
    hub.tick(Duration::ZERO, &world(2)).unwrap();
    let (_, datagram) = hub.poll_transmit().unwrap();
    assert!(is_snapshot(datagram) && unchecked(datagram)[3] == 0);
    receiver.handle(Duration::ZERO, datagram).unwrap();
    assert!(receiver.newest() == Some(&world(2)));
}

#[test]
fn a_hub_allows_no_more_older_views_than_codecs_use() {
    let config = HubConfig { older_views: Some(4), ..HubConfig::default() };
    assert_eq!(config.validate(), Err(NetError::OlderViews { count: 4 }));
    assert_eq!(HubConfig { older_views: Some(3), ..config }.validate(), Ok(()));
}
