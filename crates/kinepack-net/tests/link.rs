//! Tests of the simulated link: it behaves as configured, and its results are reproducible.

use std::time::Duration;

use kinepack_net::{HEADER_BYTES, Link, LinkConfig, LinkError, LinkStats, Loss, PRESETS};
use proptest::prelude::*;

const MS: Duration = Duration::from_millis(1);

/// The arrival of a datagram: the time and the datagram's number.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Arrival {
    at: Duration,
    index: u32,
}

/// Sends `count` datagrams of `len_bytes`, one every `interval`, and receives each when it is due.
fn run(link: &mut Link, count: u32, interval: Duration, len_bytes: usize) -> Vec<Arrival> {
    let mut arrivals = Vec::new();
    let mut datagram = vec![0; len_bytes.max(4)];
    for index in 0..count {
        let now = interval * index;
        take_due(link, Some(now), &mut arrivals);
        datagram[..4].copy_from_slice(&index.to_le_bytes());
        link.send(now, &datagram);
    }
    take_due(link, None, &mut arrivals);
    arrivals
}

/// Receives the datagrams that are due by `until`, or all datagrams.
fn take_due(link: &mut Link, until: Option<Duration>, arrivals: &mut Vec<Arrival>) {
    while let Some(due) = link.next_due().filter(|due| until.is_none_or(|until| *due <= until)) {
        let datagram = link.poll(due).expect("something is due");
        arrivals.push(Arrival {
            at: due,
            index: u32::from_le_bytes(datagram[..4].try_into().unwrap()),
        });
    }
}

fn assert_balanced(link: &Link, in_flight_bytes: u64) {
    let LinkStats { sent, delivered, lost, duplicated, queue_dropped, too_large, .. } =
        *link.stats();
    let left = delivered.count
        + lost.count
        + queue_dropped.count
        + too_large.count
        + link.in_flight() as u64;
    assert_eq!(sent.count + duplicated.count, left);
    let left_bytes =
        delivered.bytes + lost.bytes + queue_dropped.bytes + too_large.bytes + in_flight_bytes;
    assert_eq!(sent.bytes + duplicated.bytes, left_bytes);
}

fn removed_bytes(stats: &LinkStats) -> u64 {
    [stats.lost, stats.queue_dropped, stats.too_large].iter().map(|tally| tally.bytes).sum()
}

fn assert_near(value: f64, expected: f64, tolerance_ratio: f64, what: &str) {
    assert!(
        (value - expected).abs() <= expected * tolerance_ratio,
        "{what}: {value}, expected {expected}"
    );
}

#[test]
fn a_perfect_link_is_transparent() {
    let mut link = Link::new(LinkConfig::default(), 5).unwrap();
    for (index, len_bytes) in [0, 1, 1472, 65_507].into_iter().enumerate() {
        let now = MS * index as u32;
        let datagram = vec![index as u8; len_bytes];
        assert_eq!(link.poll(now), None);
        link.send(now, &datagram);
        assert_eq!(link.next_due(), Some(now));
        assert_eq!(link.poll(now), Some(datagram));
        assert_eq!((link.poll(now), link.next_due(), link.in_flight()), (None, None, 0));
    }
    assert_balanced(&link, 0);
    assert_eq!((link.stats().delivered.count, link.stats().delivered.bytes), (4, 66_980));
}

#[test]
fn independent_loss_has_its_ratio() {
    for (seed, ratio) in [(1, 0.01), (2, 0.1), (3, 0.5)] {
        let loss = Loss::Independent { ratio };
        let mut link = Link::new(LinkConfig { loss, ..LinkConfig::PERFECT }, seed).unwrap();
        run(&mut link, 100_000, MS, 4);
        // Allow three standard deviations.
        let deviation = ((1.0 - f64::from(ratio)) / (f64::from(ratio) * 1e5)).sqrt();
        assert_near(
            link.stats().lost.count as f64 / 1e5,
            f64::from(ratio),
            3.0 * deviation,
            "loss",
        );
        assert_balanced(&link, 0);
    }
}

#[test]
fn all_or_nothing_is_exact() {
    for (ratio, lost) in [(0.0, 0), (1.0, 1000)] {
        for loss in [
            Loss::Independent { ratio },
            Loss::GilbertElliott {
                to_bad_ratio: 0.1,
                to_good_ratio: 0.1,
                good_loss_ratio: ratio,
                bad_loss_ratio: ratio,
            },
        ] {
            let mut link = Link::new(LinkConfig { loss, ..LinkConfig::PERFECT }, 9).unwrap();
            run(&mut link, 1000, MS, 4);
            assert_eq!(link.stats().lost.count, lost);
        }
    }
}

#[test]
fn bursts_have_their_ratio_and_length() {
    for (seed, ratio, burst_datagrams) in [(1, 0.02, 4.0), (2, 0.1, 5.0), (3, 0.01, 1.0)] {
        let loss = Loss::bursts(ratio, burst_datagrams);
        assert!((loss.mean_ratio() - ratio).abs() < 1e-6);
        let mut link = Link::new(LinkConfig { loss, ..LinkConfig::PERFECT }, seed).unwrap();
        let count = 400_000;
        let arrivals = run(&mut link, count, MS, 4);
        let bursts = arrivals.windows(2).filter(|pair| pair[1].index - pair[0].index > 1).count();
        let lost = link.stats().lost.count as f64;
        assert_near(lost / f64::from(count), f64::from(ratio), 0.06, "loss");
        assert_near(lost / bursts as f64, f64::from(burst_datagrams), 0.06, "burst");
    }
}

#[test]
fn a_chain_with_partial_loss_has_its_mean() {
    let loss = Loss::GilbertElliott {
        to_bad_ratio: 0.05,
        to_good_ratio: 0.2,
        good_loss_ratio: 0.01,
        bad_loss_ratio: 0.6,
    };
    assert!((loss.mean_ratio() - 0.128).abs() < 1e-6);
    let mut link = Link::new(LinkConfig { loss, ..LinkConfig::PERFECT }, 4).unwrap();
    run(&mut link, 200_000, MS, 4);
    assert_near(link.stats().lost.count as f64 / 2e5, 0.128, 0.04, "loss");
}

#[test]
fn jitter_alone_keeps_the_order_and_its_bounds() {
    let config = LinkConfig { latency: 20 * MS, jitter: 30 * MS, ..LinkConfig::PERFECT };
    let mut link = Link::new(config, 11).unwrap();
    let interval = 50 * MS; // Longer than the jitter, so no datagram waits for another.
    let arrivals = run(&mut link, 50_000, interval, 4);
    let delays: Vec<Duration> =
        arrivals.iter().map(|arrival| arrival.at - interval * arrival.index).collect();
    assert!(delays.iter().all(|delay| (20 * MS..=50 * MS).contains(delay)));
    let mean_ms = delays.iter().map(Duration::as_secs_f64).sum::<f64>() / 50.0;
    assert_near(mean_ms, 30.0, 0.01, "the latency and a third of the jitter");

    let mut link = Link::new(config, 12).unwrap();
    let arrivals = run(&mut link, 50_000, MS, 4);
    assert!(
        arrivals.windows(2).all(|pair| pair[0].index < pair[1].index && pair[0].at <= pair[1].at)
    );
    assert!(
        arrivals
            .iter()
            .all(|arrival| (20 * MS..=50 * MS).contains(&(arrival.at - MS * arrival.index)))
    );
    assert_eq!(link.stats().reordered.count, 0);
}

#[test]
fn reordering_is_as_frequent_and_as_deep_as_configured() {
    let config = LinkConfig {
        latency: 20 * MS,
        jitter: 30 * MS,
        reorder_ratio: 0.05,
        reorder_delay: 40 * MS,
        ..LinkConfig::PERFECT
    };
    let mut link = Link::new(config, 3).unwrap();
    let arrivals = run(&mut link, 100_000, MS, 4);
    assert_eq!(arrivals.len(), 100_000);
    let mut newest = arrivals[0];
    let mut reordered = 0;
    let mut earliest_of_newer = vec![Duration::MAX; 100_001];
    let mut by_index = arrivals.clone();
    by_index.sort_by_key(|arrival| arrival.index);
    for arrival in by_index.iter().rev() {
        let newer = earliest_of_newer[arrival.index as usize + 1];
        assert!(arrival.at <= newer.saturating_add(40 * MS), "{arrival:?} fell behind {newer:?}");
        earliest_of_newer[arrival.index as usize] = newer.min(arrival.at);
    }
    for arrival in arrivals {
        reordered += u64::from(arrival.index < newest.index);
        newest = if arrival.index > newest.index { arrival } else { newest };
    }
    assert_eq!(link.stats().reordered.count, reordered);
    // Datagrams delayed by less than the gap to the next datagram stay in place.
    assert!((4_000..=5_100).contains(&reordered), "{reordered}");
}

#[test]
fn duplicates_have_their_ratio() {
    let config =
        LinkConfig { latency: MS, jitter: 5 * MS, duplicate_ratio: 0.2, ..LinkConfig::PERFECT };
    let mut link = Link::new(config, 6).unwrap();
    let arrivals = run(&mut link, 50_000, MS, 7);
    assert_eq!(arrivals.len() as u64, 50_000 + link.stats().duplicated.count);
    assert_near(link.stats().duplicated.count as f64 / 5e4, 0.2, 0.03, "duplicates");
    assert_eq!(link.stats().duplicated.bytes, 7 * link.stats().duplicated.count);
    assert_eq!(link.stats().reordered.count, 0);
    assert_balanced(&link, 0);
}

#[test]
fn mechanisms_do_not_disturb_each_other() {
    let loss = Loss::bursts(0.05, 3.0);
    let plain = LinkConfig { loss, ..LinkConfig::PERFECT };
    let busy = LinkConfig {
        jitter: 5 * MS,
        duplicate_ratio: 0.3,
        reorder_ratio: 0.1,
        reorder_delay: MS,
        ..plain
    };
    let lost = |config| {
        let mut link = Link::new(config, 77).unwrap();
        let mut arrived = vec![false; 5000];
        run(&mut link, 5000, MS, 4)
            .iter()
            .for_each(|arrival| arrived[arrival.index as usize] = true);
        arrived
    };
    assert_eq!(lost(plain), lost(busy));
}

#[test]
fn bandwidth_is_shared_out_to_the_byte() {
    // At this bandwidth, 1000 bytes and their header take 8.224 ms.
    let config =
        LinkConfig { bandwidth_bps: Some(1_000_000), queue_bytes: 10_280, ..LinkConfig::PERFECT };
    let packet = Duration::from_micros(8224);
    let mut link = Link::new(config, 1).unwrap();
    for _ in 0..30 {
        link.send(Duration::ZERO, &[7; 1000]);
    }
    // The datagram being sent counts as queued: ten datagrams fit, and no more.
    assert_eq!(link.stats().queue_dropped.count, 20);
    for index in 1..=10 {
        assert_eq!(link.next_due(), Some(packet * index));
        assert!(link.poll(packet * index).is_some());
    }
    // The queue is empty again.
    link.send(packet * 10, &[7; 1000]);
    assert_eq!(link.next_due(), Some(packet * 11));
    assert_balanced(&link, 1000);

    // For a minute, the sender offers ten times what the link carries.
    let mut link = Link::new(config, 1).unwrap();
    let mut arrivals = run(&mut link, 73_000, MS * 82 / 100, 1000);
    let end = MS * 59_860;
    arrivals.retain(|arrival| arrival.at <= end);
    let carried_bps =
        arrivals.len() as f64 * f64::from(1000 + HEADER_BYTES) * 8.0 / end.as_secs_f64();
    assert_near(carried_bps, 1e6, 0.001, "throughput");
    assert!(
        arrivals.iter().all(|arrival| arrival.at - MS * 82 / 100 * arrival.index <= packet * 10)
    );
    assert!(link.stats().queue_dropped.count > 60_000);
    assert_balanced(&link, 0);
}

#[test]
fn an_idle_link_needs_no_queue() {
    let config = LinkConfig { bandwidth_bps: Some(8_000), queue_bytes: 0, ..LinkConfig::PERFECT };
    let mut link = Link::new(config, 1).unwrap();
    link.send(Duration::ZERO, &[0; 72]);
    link.send(99 * MS, &[0; 72]);
    link.send(100 * MS, &[0; 72]);
    assert_eq!(link.stats().queue_dropped.count, 1);
    assert_eq!(link.in_flight(), 2);
}

#[test]
fn the_mtu_counts_the_header() {
    let mut link = Link::new(LinkConfig { mtu_bytes: 1500, ..LinkConfig::PERFECT }, 1).unwrap();
    link.send(Duration::ZERO, &[1; 1472]);
    link.send(Duration::ZERO, &[2; 1473]);
    assert_eq!(link.poll(Duration::ZERO).map(|datagram| datagram.len()), Some(1472));
    assert_eq!(link.poll(Duration::ZERO), None);
    assert_eq!((link.stats().too_large.count, link.stats().too_large.bytes), (1, 1473));
}

#[test]
fn time_may_stand_still_jump_or_go_back() {
    let mut link = Link::new(LinkConfig { latency: 10 * MS, ..LinkConfig::PERFECT }, 1).unwrap();
    for index in 0..100u8 {
        link.send(1000 * MS, &[index]);
    }
    assert_eq!(link.poll(1000 * MS), None);
    // Datagrams due at the same time arrive in the order of sending.
    for index in 0..50u8 {
        assert_eq!(link.poll(1010 * MS), Some(vec![index]));
    }
    // If time goes back, the link's time stands still.
    assert_eq!(link.poll(MS), Some(vec![50]));
    link.send(MS, &[100]);
    assert_eq!(link.poll(Duration::MAX).as_deref(), Some(&[51][..]));
    for index in 52..=100u8 {
        assert_eq!(link.next_due(), Some(if index == 100 { 1020 * MS } else { 1010 * MS }));
        assert_eq!(link.poll(Duration::ZERO), Some(vec![index]));
    }
    link.send(Duration::ZERO, &[101]);
    assert_eq!(link.poll(Duration::MAX), Some(vec![101]));
    assert_eq!(link.next_due(), None);
}

#[test]
fn a_link_can_get_worse_and_better() {
    let good = LinkConfig { latency: 10 * MS, ..LinkConfig::PERFECT };
    let mut link = Link::new(good, 1).unwrap();
    link.reconfigure(LinkConfig { latency: 100 * MS, ..good }).unwrap();
    link.send(Duration::ZERO, &[1]);
    assert_eq!(
        link.reconfigure(LinkConfig { mtu_bytes: 1, ..good }),
        Err(LinkError::BadMtu { mtu_bytes: 1 })
    );
    assert_eq!(link.config().latency, 100 * MS);
    link.reconfigure(good).unwrap();
    link.send(MS, &[2]);
    assert_eq!(link.poll(99 * MS), None);
    assert_eq!(link.poll(100 * MS), Some(vec![1]));
    assert_eq!(link.poll(100 * MS), Some(vec![2]));
}

#[test]
fn a_seed_gives_the_same_result_forever() {
    let digest = |name, seed| {
        let mut link = Link::new(LinkConfig::named(name).unwrap(), seed).unwrap();
        let arrivals = run(&mut link, 5000, Duration::from_micros(3_333), 1200);
        arrivals.iter().fold(0xCBF2_9CE4_8422_2325_u64, |hash, arrival| {
            let words = [arrival.at.as_nanos() as u64, u64::from(arrival.index)];
            words.into_iter().fold(hash, |hash, word| {
                (hash ^ word).wrapping_mul(0x0000_0100_0000_01B3).rotate_left(29)
            })
        })
    };
    assert_eq!(digest("terrible", 1), digest("terrible", 1));
    assert_ne!(digest("terrible", 1), digest("terrible", 2));
    let frozen = [
        ("lan", 0xDA45_CE0E_7F58_AEAE),
        ("cable", 0x7D7D_CE02_4717_6CFB),
        ("wifi", 0x2953_ECE3_FA4F_2568),
        ("mobile", 0x6E7E_B67D_87C0_0891),
        ("terrible", 0x3C88_8AB5_16EE_CF99),
    ];
    for (name, expected) in frozen {
        assert_eq!(digest(name, 1), expected, "{name}: {:#018X}", digest(name, 1));
    }
}

#[test]
fn presets_are_valid_and_have_their_round_trips() {
    let round_trips_ms = [(0.8, 1.3), (28.0, 33.0), (30.0, 60.0), (90.0, 125.0), (300.0, 450.0)];
    for (preset, (least_ms, most_ms)) in PRESETS.iter().zip(round_trips_ms) {
        assert_eq!(LinkConfig::named(preset.name), Some(preset.config));
        let mut link = Link::new(preset.config, 8).unwrap();
        let interval = MS * 100 / 6;
        let arrivals = run(&mut link, 10_000, interval, 300);
        let sum: f64 = arrivals
            .iter()
            .map(|arrival| (arrival.at - interval * arrival.index).as_secs_f64())
            .sum();
        let round_trip_ms = 2e3 * sum / arrivals.len() as f64;
        assert!(
            (least_ms..=most_ms).contains(&round_trip_ms),
            "{}: {round_trip_ms} ms",
            preset.name
        );
        let lost_ratio = link.stats().lost.count as f64 / 1e4;
        assert!(
            (lost_ratio - f64::from(preset.config.loss.mean_ratio())).abs() <= 0.02,
            "{}",
            preset.name
        );
    }
    assert_eq!(LinkConfig::named("carrier pigeon"), None);
}

#[test]
fn impossible_configurations_are_refused() {
    let perfect = LinkConfig::PERFECT;
    let refused = |config: LinkConfig| Link::new(config, 0).map(|_| ()).unwrap_err();
    for ratio in [-0.1, 1.1, f32::INFINITY] {
        let error = LinkError::BadRatio { ratio };
        assert_eq!(refused(LinkConfig { duplicate_ratio: ratio, ..perfect }), error);
        assert_eq!(refused(LinkConfig { reorder_ratio: ratio, ..perfect }), error);
        assert_eq!(refused(LinkConfig { loss: Loss::Independent { ratio }, ..perfect }), error);
    }
    // The link refuses bursts shorter than one datagram, and 90 % loss in bursts shorter than nine
    // datagrams.
    for loss in [
        Loss::bursts(0.1, 0.5),
        Loss::bursts(0.9, 8.0),
        Loss::bursts(1.0, 5.0),
        Loss::bursts(f32::NAN, 2.0),
    ] {
        assert!(
            matches!(refused(LinkConfig { loss, ..perfect }), LinkError::BadRatio { .. }),
            "{loss:?}"
        );
    }
    assert_eq!(LinkConfig { loss: Loss::bursts(0.9, 10.0), ..perfect }.validate(), Ok(()));
    let hours = 2 * Duration::from_secs(3600);
    assert!(matches!(
        refused(LinkConfig { latency: hours, ..perfect }),
        LinkError::DelayTooLong { .. }
    ));
    assert!(matches!(
        refused(LinkConfig { jitter: Duration::MAX, ..perfect }),
        LinkError::DelayTooLong { .. }
    ));
    assert_eq!(refused(LinkConfig { bandwidth_bps: Some(0), ..perfect }), LinkError::NoBandwidth);
    assert_eq!(
        refused(LinkConfig { mtu_bytes: 27, ..perfect }).to_string(),
        "an MTU of 27 bytes is not from 28 to 65535"
    );
}

proptest! {
    /// For any link and any calls, nothing panics, the counters balance, and each arriving datagram
    /// equals the one that was sent.
    #[test]
    fn the_books_balance(
        seed: u64,
        [latency_ms, jitter_ms, reorder_ms] in [0u64..300, 0u64..200, 0u64..200],
        [loss, burst, duplicates, reorders] in [0.0f32..0.9, 10.0f32..20.0, 0.0f32..1.0, 0.0f32..1.0],
        bandwidth_bps in proptest::option::of(1u32..),
        queue_bytes in 0u32..20_000,
        calls in prop::collection::vec((0u64..50, 0usize..2000, any::<bool>()), 1..200),
    ) {
        let config = LinkConfig {
            latency: Duration::from_millis(latency_ms),
            jitter: Duration::from_millis(jitter_ms),
            loss: Loss::bursts(loss, burst),
            duplicate_ratio: duplicates,
            reorder_ratio: reorders,
            reorder_delay: Duration::from_millis(reorder_ms),
            bandwidth_bps,
            queue_bytes,
            mtu_bytes: 1500,
        };
        let mut link = Link::new(config, seed).unwrap();
        let mut now = Duration::ZERO;
        let mut in_flight_bytes = 0;
        for (step_ms, len_bytes, polls) in calls {
            now += Duration::from_millis(step_ms);
            let before = *link.stats();
            link.send(now, &vec![len_bytes as u8; len_bytes]);
            let kept = link.in_flight() as u64 + link.stats().delivered.count;
            prop_assert!(kept >= before.delivered.count);
            let after = *link.stats();
            let removed = removed_bytes(&after) - removed_bytes(&before);
            in_flight_bytes += len_bytes as u64 + after.duplicated.bytes - before.duplicated.bytes;
            in_flight_bytes -= removed;
            while polls && let Some(datagram) = link.poll(now) {
                prop_assert!(datagram.iter().all(|byte| *byte == datagram.len() as u8));
                in_flight_bytes -= datagram.len() as u64;
            }
            prop_assert!(!polls || link.next_due().is_none_or(|due| due > now));
            assert_balanced(&link, in_flight_bytes);
        }
    }
}
