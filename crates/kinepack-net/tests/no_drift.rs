//! Checks under virtual time that there is no drift: whatever the link does, each view that a
//! receiver decodes equals the sender's.

use std::time::Duration;

use kinepack_net::{HubConfig, LinkConfig, Loss, PRESETS, ReceiverOptions, Sequence};

use crate::support::{Net, World};

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A configuration with zero to three older views, depending on the seed.
fn hub_config(seed: u64) -> HubConfig {
    HubConfig { older_views: Some((seed % 4) as u8), ..HubConfig::default() }
}

fn run(link: LinkConfig, seed: u64, options: ReceiverOptions, entities: usize, ticks: u32) -> Net {
    let config = hub_config(seed);
    let mut net = Net::new(World::new(entities, seed), config.clone());
    net.add(link, seed, options).unwrap();
    for _ in 0..ticks {
        net.step(None);
    }
    let client = &net.clients[0];
    let share = if config.older_views > Some(0) { 2 } else { u64::MAX };
    assert!(
        client.with_older >= client.snapshots / share,
        "{} of {}",
        client.with_older,
        client.snapshots
    );
    net
}

#[test]
fn a_perfect_link_shows_every_tick() {
    let mut net = Net::new(World::new(50, 1), HubConfig::default());
    net.add(LinkConfig::default(), 1, ReceiverOptions::default()).unwrap();
    for tick in 0..300 {
        let before = net.world.snapshot.clone();
        net.step(None);
        let newest = net.clients[0].receiver.newest();
        assert!(tick < 3 || newest.is_some_and(|newest| newest.holds_same(&before)), "tick {tick}");
    }
    assert_eq!(net.clients[0].left_out, 0);
    assert!(net.clients[0].refused.is_empty());
}

#[test]
fn every_preset() {
    for preset in PRESETS {
        for seed in 1..5 {
            let net = run(preset.config, seed, ReceiverOptions::default(), 60, 900);
            let client = &net.clients[0];
            assert!(
                client.snapshots > 400,
                "{}: {} {:?}",
                preset.name,
                client.snapshots,
                client.refused
            );
        }
    }
}

#[test]
fn half_of_everything_lost_and_reordered_by_a_second() {
    let link = LinkConfig {
        latency: millis(80),
        jitter: millis(40),
        loss: Loss::Independent { ratio: 0.5 },
        duplicate_ratio: 0.1,
        reorder_ratio: 0.2,
        reorder_delay: millis(1000),
        ..LinkConfig::default()
    };
    for seed in 1..6 {
        let options =
            ReceiverOptions { first_sequence: Sequence(65_300), ..ReceiverOptions::default() };
        let net = run(link, seed, options, 40, 1800);
        let client = &net.clients[0];
        assert!(client.snapshots > 500, "{} {:?}", client.snapshots, client.refused);
    }
}

#[test]
fn budgets_skip_entities_and_stay_exact() {
    let link = LinkConfig {
        latency: millis(50),
        loss: Loss::Independent { ratio: 0.05 },
        ..LinkConfig::default()
    };
    for seed in 1..4 {
        let mut world = World::new(1500, seed);
        world.moving_one_in = 2;
        let mut net = Net::new(world, hub_config(seed));
        let options =
            ReceiverOptions { budget: Some(20_000).into(), first_sequence: Sequence(65_400) };
        net.add(link, seed, options).unwrap();
        for _ in 0..900 {
            net.step(None);
        }
        let client = &net.clients[0];
        assert!(
            client.left_out > 300,
            "{} of {} {:?}",
            client.left_out,
            client.snapshots,
            client.refused
        );
        let rate = (client.bytes + 28 * client.snapshots) as f64 / 15.0;
        assert!(rate < 20_300.0, "{rate} bytes a second");
        assert!(client.largest <= 1200);
        assert!(client.full_states >= 1);
    }
}

#[test]
fn a_late_join_in_a_large_world_delays_no_other_receiver() {
    let link = LinkConfig { latency: millis(20), ..LinkConfig::default() };
    let mut world = World::new(10_000, 3);
    (world.moving_one_in, world.change_one_in) = (200, 20);
    let mut net = Net::new(world, HubConfig::default());
    net.add(link, 1, ReceiverOptions::default()).unwrap();
    for _ in 0..90 {
        net.step(None);
    }
    let options = ReceiverOptions { budget: Some(64_000).into(), ..ReceiverOptions::default() };
    net.add(link, 2, options).unwrap();
    let mut shown_after_ticks = None;
    for tick in 0..240 {
        let before = [net.clients[0].snapshots, net.clients[1].bytes];
        net.step(None);
        assert!(net.clients[0].snapshots > before[0], "tick {tick}: the first receiver waits");
        // A budget may save the bytes of a tenth of a second.
        assert!(net.clients[1].bytes - before[1] <= 6_400, "tick {tick}: more than the budget");
        if shown_after_ticks.is_none() && net.clients[1].receiver.newest().is_some() {
            shown_after_ticks = Some(tick);
        }
    }
    let late = &net.clients[1];
    assert!(
        late.full_states == 1 && late.snapshots > 60,
        "{} full states, {} snapshots",
        late.full_states,
        late.snapshots
    );
    assert!(
        shown_after_ticks.is_some_and(|ticks| ticks > 30),
        "spread over time: {shown_after_ticks:?}"
    );
    let [first, late] =
        [&net.clients[0], late].map(|client| client.receiver.newest().map(kinepack::Snapshot::len));
    assert!(
        first.is_some_and(|first| late.is_some_and(|late| first.abs_diff(late) < 5)),
        "{first:?} {late:?}"
    );
}
