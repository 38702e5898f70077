//! Tests of the values that a client learns besides the state: the round trip, the share of lost
//! datagrams, the server's time, and which entities were added and removed between two frames.

use std::collections::BTreeSet;
use std::time::Duration;

use kinepack::EntityId;
use kinepack_net::{HubConfig, LinkConfig, Loss, PRESETS, ReceiverOptions};

use crate::support::{Net, TICK_HZ, World};

fn net(link: LinkConfig, seed: u64, options: ReceiverOptions) -> Net {
    let mut world = World::new(60, seed);
    world.change_one_in = 2;
    let mut net = Net::new(world, HubConfig::default());
    net.add(link, seed, options).unwrap();
    net
}

fn latency(millis: u64) -> LinkConfig {
    LinkConfig { latency: Duration::from_millis(millis), ..LinkConfig::PERFECT }
}

/// The duration of one tick.
const TICK: Duration = Duration::from_nanos(1_000_000_000 / TICK_HZ as u64);

#[test]
fn the_round_trip_is_the_one_that_the_hub_measures() {
    for millis in [0, 20, 40, 150] {
        let mut net = net(latency(millis), millis + 1, ReceiverOptions::default());
        (0..600).for_each(|_| net.step(None));
        let theirs = net.hub.status(net.clients[0].id).unwrap().round_trip.unwrap();
        let ours = net.clients[0].receiver.status(net.now()).round_trip.unwrap();
        // Each direction takes a whole number of the harness's ticks. The direction from server to
        // client takes at least one tick.
        assert!(ours.abs_diff(theirs) <= TICK, "{millis} ms: {ours:?} and {theirs:?}");
        assert!(ours >= Duration::from_millis(2 * millis));
        assert!(ours <= Duration::from_millis(2 * millis) + 3 * TICK, "{millis} ms: {ours:?}");
    }
}

#[test]
fn the_server_tick_is_estimated_to_within_two_ticks() {
    for preset in PRESETS {
        let mut net = net(preset.config, 7, ReceiverOptions::default());
        let mut worst = 0.0f64;
        for tick in 0..1_800 {
            net.step(None);
            let status = net.clients[0].receiver.status(net.now());
            if tick > 300 {
                worst = worst.max((status.server_tick.unwrap() - f64::from(net.tick)).abs());
                let time = status.server_time.unwrap().as_secs_f64();
                let ticks = time * f64::from(TICK_HZ);
                assert!((ticks - status.server_tick.unwrap()).abs() < 1e-3);
            }
        }
        // The harness rounds each direction to ticks, and jitter from client to server adds to that
        // error.
        let jitter_ticks = preset.config.jitter.as_secs_f64() * f64::from(TICK_HZ);
        assert!(worst <= 2.0 + jitter_ticks / 2.0, "{}: {worst} ticks", preset.name);
    }
}

#[test]
fn a_receiver_that_knows_nothing_says_so() {
    let mut net = net(latency(40), 3, ReceiverOptions::default());
    let status = net.clients[0].receiver.status(Duration::ZERO);
    assert_eq!(status, kinepack_net::ReceiverStatus::default());
    while !net.clients[0].receiver.status(net.now()).joined {
        net.step(None);
    }
    let status = net.clients[0].receiver.status(net.now());
    assert!(status.round_trip.is_some(), "the hello was answered");
    assert_eq!((status.sent, status.acknowledged, status.lost), (1, 1, 0));
}

#[test]
fn both_sides_count_the_same_losses() {
    for (seed, loss) in [
        (1, Loss::None),
        (2, Loss::Independent { ratio: 0.1 }),
        (3, Loss::bursts(0.1, 5.0)),
        (4, Loss::Independent { ratio: 0.4 }),
    ] {
        let link = LinkConfig { loss, ..latency(20) };
        let mut net = net(link, seed, ReceiverOptions::default());
        (0..3_600).for_each(|_| net.step(None));
        let theirs = net.hub.status(net.clients[0].id).unwrap();
        let ours = net.clients[0].receiver.status(net.now());
        let down = net.clients[0].down.stats();
        assert!(theirs.sent.abs_diff(ours.sent) < 20, "{theirs:?} and {ours:?}");
        // Both sides should count the datagrams that the link lost. Datagrams before the first
        // arrival, and datagrams not yet overtaken, do not count. A datagram whose baseline was
        // lost counts as lost too.
        let share = down.lost.count as f64 / down.sent.count as f64;
        assert!((ours.lost_ratio() - share).abs() < 0.02, "{share}: {ours:?}");
        assert!((theirs.lost_ratio() - share).abs() < 0.02, "{share}: {theirs:?}");
    }
}

/// Plays frames at irregular times. Checks that the added and removed entities lead from the
/// entities of each frame to the entities of the next. Returns how many entities were added and
/// removed.
fn follow(mut net: Net, ticks: u32, frame_every: impl Fn(u32) -> bool) -> (u64, u64) {
    let mut present = BTreeSet::new();
    let (mut added, mut removed) = (0, 0);
    for tick in 0..ticks {
        net.step(None);
        if !frame_every(tick) {
            continue;
        }
        let now = net.now() + Duration::from_millis(u64::from(tick % 16));
        let Some(playback) = net.clients[0].receiver.playback(now) else { continue };
        for id in playback.removed() {
            assert!(present.remove(id), "{id:?} was not shown");
            removed += 1;
        }
        for id in playback.added() {
            assert!(present.insert(*id), "{id:?} was shown already");
            added += 1;
        }
        let shown: Vec<EntityId> = playback.samples().map(|sample| sample.id).collect();
        assert!(present.iter().eq(&shown), "tick {tick}");
        assert!(playback.added().is_sorted() && playback.removed().is_sorted());
    }
    (added, removed)
}

#[test]
fn added_and_removed_entities_lead_to_what_is_shown() {
    for preset in PRESETS {
        for seed in 1..4 {
            let options = ReceiverOptions {
                budget: (seed == 3).then_some(4_000).into(),
                ..ReceiverOptions::default()
            };
            let net = net(preset.config, seed, options);
            let (added, removed) = follow(net, 900, |tick| tick % 7 != 3 && tick % 40 < 30);
            assert!(added > 100 && removed > 40, "{added} added, {removed} removed");
        }
    }
}

/// Under heavy loss and reordering, with a budget that skips entities, views lack entities that
/// later views have, and the other way round.
#[test]
fn entities_that_flicker_under_loss_are_added_and_removed_in_turn() {
    let link = LinkConfig {
        loss: Loss::bursts(0.3, 4.0),
        jitter: Duration::from_millis(60),
        reorder_ratio: 0.2,
        reorder_delay: Duration::from_millis(80),
        duplicate_ratio: 0.1,
        ..latency(60)
    };
    for seed in 1..6 {
        let options = ReceiverOptions { budget: Some(2_500).into(), ..ReceiverOptions::default() };
        let mut net = net(link, seed, options);
        net.world.change_one_in = 1;
        let (added, removed) = follow(net, 1_200, |tick| tick % 3 != 0);
        assert!(added > 100 && removed > 100, "{added} added, {removed} removed");
    }
}

#[test]
fn one_entity_that_comes_and_goes_is_reported_each_time() {
    let mut net = net(latency(20), 9, ReceiverOptions::default());
    net.world.change_one_in = u64::MAX;
    let all = net.world.snapshot.ids().to_vec();
    let few = [&all[..20], &all[21..]].concat();
    let (mut added, mut removed) = (0, 0);
    for tick in 0..1_200 {
        let relevant = if tick / 60 % 2 == 0 { &all } else { &few };
        net.hub.set_relevant(net.clients[0].id, Some(relevant[..].into())).unwrap();
        net.step(None);
        let now = net.now();
        let Some(playback) = net.clients[0].receiver.playback(now) else { continue };
        added += u32::from(playback.added().contains(&all[20]));
        removed += u32::from(playback.removed().contains(&all[20]));
        assert!(tick < 60 || playback.added().len() + playback.removed().len() <= 1);
    }
    assert_eq!((added, removed), (10, 10));
}

#[test]
fn frames_allocate_nothing() {
    let mut net = net(latency(20), 5, ReceiverOptions::default());
    (0..600).for_each(|_| net.step(None));
    let now = net.now();
    net.clients[0].receiver.playback(now);
    let (mut allocated, mut seen) = (0, 0);
    for _ in 0..600 {
        net.step(None);
        let now = net.now();
        let receiver = &mut net.clients[0].receiver;
        let info = allocation_counter::measure(|| {
            let playback = receiver.playback(now).unwrap();
            seen += playback.added().len() + playback.removed().len();
            assert!(receiver.status(now).joined);
        });
        allocated += info.count_total;
    }
    assert!(seen > 100, "{seen}");
    assert!(allocated <= 6, "lists grow a few times at most: {allocated} allocations");
}
