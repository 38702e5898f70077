//! Tests of a hub with codecs that have a time precision. Receivers hold coarser values of moving
//! entities, the same values as the sender, and exact values once the entities rest.

use std::time::Duration;

use kinepack::{Codec, Level, Snapshot};
use kinepack_net::{HubConfig, LinkConfig, Loss, ReceiverOptions};

use crate::support::{self, Net, World, coarse_codec, codec_at, most_off};

const LEVELS: [Level; 3] = [Level::PACKED, Level::ADAPTIVE, Level::LEARNING];
const BUDGETS: [Option<u32>; 2] = [None, Some(8_000)];

fn link(loss_ratio: f32) -> LinkConfig {
    LinkConfig {
        latency: Duration::from_millis(40),
        loss: Loss::Independent { ratio: loss_ratio },
        ..LinkConfig::default()
    }
}

/// A hub that offers each level with a time precision and without.
fn net(config: HubConfig, entities: usize) -> Net {
    let mut net = Net::new(World::new(entities, 5), config);
    for level in LEVELS {
        net.hub.offer(&codec_at(level)).unwrap();
        net.hub.offer(&coarse_codec(level)).unwrap();
    }
    net.world.moving_one_in = 1;
    net
}

/// Adds a receiver for each budget.
fn add_each(net: &mut Net, codec: &Codec, link: LinkConfig) {
    for budget_bytes_per_s in BUDGETS {
        let options =
            ReceiverOptions { budget: budget_bytes_per_s.into(), ..ReceiverOptions::default() };
        let seed = 1 + net.clients.len() as u64;
        net.add_with(codec, link, seed, options).unwrap();
    }
}

/// The number of lanes that differ, each by at most the allowed error. `None` if the entities
/// differ.
fn off(view: &Snapshot, world: &Snapshot) -> Option<usize> {
    let mut count = 0;
    for (lane, most) in most_off().into_iter().enumerate() {
        for (view, world) in view.lane(lane).iter().zip(world.lane(lane)) {
            assert!(
                view.abs_diff(*world) <= most,
                "lane {lane} is off by {}",
                view.abs_diff(*world)
            );
            count += usize::from(view != world);
        }
    }
    (view.ids() == world.ids()).then_some(count)
}

/// The complete views that the hub has made in this tick, by client.
fn views(net: &Net) -> impl Iterator<Item = (usize, &Snapshot)> {
    let views = net
        .clients
        .iter()
        .enumerate()
        .flat_map(|(nth, client)| client.expected.values().map(move |v| (nth, v)));
    views.filter(|(_, view)| view.tick == net.world.snapshot.tick)
}

#[test]
fn receivers_without_precision_stay_exact() {
    let mut net = net(HubConfig::default(), 40);
    net.world.change_one_in = 50;
    for level in LEVELS {
        for codec in [coarse_codec(level), codec_at(level)] {
            net.add_with(
                &codec,
                link(0.1),
                1 + net.clients.len() as u64,
                ReceiverOptions::default(),
            )
            .unwrap();
        }
    }
    let mut coarse = [0; 2 * LEVELS.len()];
    for _ in 0..300 {
        net.step(None);
        for (nth, view) in views(&net) {
            coarse[nth] += off(view, &net.world.snapshot).expect("nothing is left out");
        }
    }
    for (nth, (count, client)) in coarse.iter().zip(&net.clients).enumerate() {
        let has_precision = nth % 2 == 0;
        assert_eq!(*count > 1000, has_precision, "client {nth}: {coarse:?}");
        assert!(has_precision || *count == 0);
        let level = net.hub.status(client.id).unwrap().level.unwrap();
        assert!(
            client.snapshots > 200
                && (client.with_older > 200) == (has_precision || level.adaptive())
        );
    }
    // Coarser values take fewer bytes, although they need an older view.
    for pair in net.clients.chunks(2) {
        assert!(pair[0].bytes * 20 < pair[1].bytes * 19, "{} and {}", pair[0].bytes, pair[1].bytes);
    }
}

#[test]
fn without_older_views_everything_is_exact() {
    let mut net = net(HubConfig { older_views: Some(0), ..HubConfig::default() }, 40);
    net.world.change_one_in = 50;
    LEVELS.iter().for_each(|level| add_each(&mut net, &coarse_codec(*level), link(0.0)));
    for _ in 0..200 {
        net.step(None);
        assert!(
            views(&net).all(|(nth, view)| nth % 2 == 1 || view.holds_same(&net.world.snapshot))
        );
    }
    assert!(net.clients.iter().all(|client| client.snapshots > 100));
}

/// A hub with a receiver for each pair of a codec number in `chosen` and a budget. Each receiver
/// first gets splits and partial snapshots, and then complete views.
fn crowd(chosen: &[usize]) -> Net {
    let mut net = net(HubConfig { datagram_bytes: 300, ..HubConfig::default() }, 100);
    let codecs: Vec<Codec> =
        LEVELS.iter().flat_map(|level| [coarse_codec(*level), codec_at(*level)]).collect();
    for nth in chosen {
        for (budget_bytes_per_s, seed) in BUDGETS.into_iter().zip(10 * *nth as u64 + 1..) {
            let options =
                ReceiverOptions { budget: budget_bytes_per_s.into(), ..ReceiverOptions::default() };
            net.add_with(&codecs[*nth], link(0.1), seed, options).unwrap();
        }
    }
    for moving_one_in in [1, 8] {
        net.world.moving_one_in = moving_one_in;
        (0..250).for_each(|_| net.step(None));
    }
    net
}

#[test]
fn other_receivers_change_nothing() {
    let all = [0, 1, 2, 3, 4, 5];
    let mixed = crowd(&all);
    let alone = all.map(|nth| crowd(&[nth]));
    for (client, single) in mixed.clients.iter().zip(alone.iter().flat_map(|net| &net.clients)) {
        let count =
            |client: &support::Client| (client.id, client.bytes, client.snapshots, client.left_out);
        assert_eq!(count(client), count(single));
        assert!(client.expected == single.expected && client.older == single.older);
        assert!(client.left_out > 0 && client.left_out < client.snapshots);
    }
}

/// The hub sends complete views, splits, partial snapshots and full states. Then the world stops.
#[test]
fn resting_entities_become_exact_and_then_the_hub_is_silent() {
    for (datagram_bytes, loss_ratio) in [(1200, 0.0), (1200, 0.2), (250, 0.0), (250, 0.2)] {
        let mut net = net(HubConfig { datagram_bytes, ..HubConfig::default() }, 60);
        LEVELS.iter().for_each(|level| add_each(&mut net, &coarse_codec(*level), link(loss_ratio)));
        (0..200).for_each(|_| net.step(None));
        (net.world.moving_one_in, net.world.change_one_in) = (u64::MAX, u64::MAX);
        let is_exact = |net: &Net, nth: usize| {
            net.clients[nth]
                .receiver
                .newest()
                .is_some_and(|newest| newest.holds_same(&net.world.snapshot))
        };
        let mut waited = vec![None; net.clients.len()];
        for tick in 0..600 {
            net.step(None);
            for (nth, waited) in waited.iter_mut().enumerate() {
                // Notes the tick from which on the view has been exact.
                *waited = if is_exact(&net, nth) { waited.or(Some(tick)) } else { None };
            }
        }
        for (nth, waited) in waited.iter().enumerate() {
            let few = if loss_ratio == 0.0 && nth % 2 == 0 { 30 } else { 300 };
            assert!(
                waited.is_some_and(|waited| waited < few),
                "client {nth}, {datagram_bytes}, {loss_ratio}: {waited:?}"
            );
        }
        // From now on, the hub sends only keep-alives.
        let sent = |net: &Net| {
            net.clients
                .iter()
                .map(|client| net.hub.status(client.id).unwrap().sent)
                .collect::<Vec<_>>()
        };
        let before = sent(&net);
        (0..5 * support::TICK_HZ).for_each(|_| net.step(None));
        for (nth, (before, after)) in before.iter().zip(sent(&net)).enumerate() {
            assert!(after - before <= 25, "client {nth}: {}", after - before);
            assert!(is_exact(&net, nth));
        }
    }
}

#[test]
fn receivers_with_the_same_baselines_share_the_encoding() {
    let mut net = net(HubConfig::default(), 30);
    for seed in 0..9 {
        let codec = coarse_codec(LEVELS[seed % LEVELS.len()]);
        net.add_with(&codec, link(0.0), 1 + seed as u64, ReceiverOptions::default()).unwrap();
    }
    for tick in 0..200 {
        net.step(None);
        assert!(
            tick < 20 || net.hub.encoded() <= LEVELS.len(),
            "tick {tick}: {} encoded",
            net.hub.encoded()
        );
    }
    assert_eq!(net.hub.encoded(), LEVELS.len());
}

/// Losses separate receivers, because coarse values depend on the baselines. When the world rests,
/// the receivers become equal again.
#[test]
fn rest_reunites_receivers_that_losses_separated() {
    let mut net = net(HubConfig::default(), 30);
    (0..8).for_each(|seed| {
        net.add_with(&coarse_codec(Level::PACKED), link(0.1), 1 + seed, ReceiverOptions::default())
            .unwrap();
    });
    (0..300).for_each(|_| net.step(None));
    let parted = net.hub.encoded();
    net.world.moving_one_in = u64::MAX;
    for client in &mut net.clients {
        client.down.reconfigure(link(0.0)).unwrap();
        client.up.reconfigure(link(0.0)).unwrap();
    }
    (0..120).for_each(|_| net.step(None));
    net.world.moving_one_in = 1;
    (0..30).for_each(|_| net.step(None));
    assert!(parted > 1 && net.hub.encoded() == 1, "{parted}, then {}", net.hub.encoded());
}
