//! Tests of links that follow a trace: text in Mahimahi's form, its accounting, generated traces.

use std::time::Duration;

use kinepack_net::{HEADER_BYTES, Link, LinkConfig, LinkStats, LinkTrace, LinkTraceError};
use proptest::prelude::*;

const MS: Duration = Duration::from_millis(1);

fn trace(text: &str) -> LinkTrace {
    text.parse().unwrap()
}

fn following(trace: LinkTrace, queue_bytes: u32) -> Link {
    let config = LinkConfig { queue_bytes, ..LinkConfig::PERFECT };
    let mut link = Link::new(config, 1).unwrap();
    link.follow(Duration::ZERO, Some(trace));
    link
}

/// Sends a packet of this size with its header.
fn send(link: &mut Link, now: Duration, packet_bytes: u32) {
    link.send(now, &vec![7; (packet_bytes - HEADER_BYTES) as usize]);
}

/// Returns the milliseconds at which all datagrams in flight arrive.
fn arrivals_ms(link: &mut Link) -> Vec<u128> {
    let mut arrivals = Vec::new();
    while let Some(due) = link.next_due() {
        assert!(link.poll(due).is_some());
        arrivals.push(due.as_millis());
    }
    arrivals
}

#[test]
fn bytes_are_accounted_as_in_mahimahi() {
    let mut link = following(trace("10\n20\n30\n40\n"), 100_000);
    // Three small packets share an opportunity, and the third also needs the next one.
    for packet_bytes in [500, 700, 400] {
        send(&mut link, 2 * MS, packet_bytes);
    }
    // What the third leaves of its opportunity serves a packet that waits in time.
    send(&mut link, 15 * MS, 1_400);
    assert_eq!(arrivals_ms(&mut link), [10, 10, 20, 20]);
    // The trace repeats after 40 ms. An opportunity is over for packets that arrive at its time.
    send(&mut link, 40 * MS, 28);
    assert_eq!(arrivals_ms(&mut link), [50]);
    // Unused bytes are lost: the rest of the opportunity at 50 ms does not serve this packet.
    send(&mut link, 55 * MS, 1_501);
    send(&mut link, 55 * MS, 4_499);
    assert_eq!(arrivals_ms(&mut link), [70, 90]);
    // Several opportunities at one time let one large packet pass at once.
    let mut link = following(trace("5\n5\n5\n9\n"), 100_000);
    send(&mut link, Duration::ZERO, 4_500);
    assert_eq!(arrivals_ms(&mut link), [5]);
}

#[test]
fn a_full_queue_drops_and_an_idle_one_takes_any_packet() {
    let mut link = following(trace("100\n"), 3_000);
    send(&mut link, MS, 5_000);
    send(&mut link, 2 * MS, 28);
    assert_eq!(link.stats().queue_dropped.count, 1);
    // At 200 ms, 3,000 bytes have been sent and 2,000 wait.
    send(&mut link, 200 * MS, 1_000);
    assert_eq!((link.in_flight(), link.queueing(200 * MS)), (2, 200 * MS));
    send(&mut link, 200 * MS, 28);
    assert_eq!(link.stats().queue_dropped.count, 2);
    assert_eq!(arrivals_ms(&mut link), [400, 400]);
    assert_eq!(link.queueing(400 * MS), Duration::ZERO);
}

#[test]
fn a_trace_can_begin_and_end_later() {
    let config = LinkConfig { bandwidth_bps: Some(80_000), ..LinkConfig::PERFECT };
    let mut link = Link::new(config, 1).unwrap();
    send(&mut link, Duration::ZERO, 1_000); // takes 100 ms at 10 bytes/ms
    link.follow(30 * MS, Some(trace("25\n50\n75\n")));
    // What waits stays first: the opportunities at 55 and 80 ms are over before it has departed.
    send(&mut link, 30 * MS, 500);
    assert_eq!(link.queueing(30 * MS), 75 * MS);
    link.follow(40 * MS, None);
    send(&mut link, 40 * MS, 100);
    assert_eq!(arrivals_ms(&mut link), [100, 105, 115]);
    // Time may end.
    link.follow(200 * MS, Some(trace("25\n50\n75\n")));
    send(&mut link, Duration::MAX, 1_000);
    assert_eq!(link.poll(Duration::MAX).map(|datagram| datagram.len()), Some(972));
    assert_eq!(link.queueing(Duration::ZERO), Duration::ZERO);
}

#[test]
fn a_constant_trace_is_a_constant_bandwidth() {
    // 1,500 bytes every 6 ms are 2 Mbit/s. Packets of 1,500 bytes depart at the same times.
    let constant =
        LinkConfig { bandwidth_bps: Some(2_000_000), queue_bytes: 20_000, ..LinkConfig::PERFECT };
    let mut of_rate = Link::new(constant, 1).unwrap();
    let mut of_trace = following(trace("6\n"), 20_000);
    for index in 0..2_000u32 {
        // More than the link carries for a second, then less.
        let now = if index < 500 { 2 * MS * index } else { 1_000 * MS + 7 * MS * (index - 500) };
        // An idle link sends at once, and a trace at its next opportunity.
        let now = Duration::from_millis(now.as_millis().div_ceil(6) as u64 * 6);
        for link in [&mut of_rate, &mut of_trace] {
            send(link, now, 1_500);
        }
        assert_eq!(of_rate.queueing(now), of_trace.queueing(now), "{index}");
    }
    assert_eq!(of_rate.stats(), of_trace.stats());
    assert!(of_rate.stats().queue_dropped.count > 100);
    assert_eq!(arrivals_ms(&mut of_rate), arrivals_ms(&mut of_trace));
}

#[test]
fn wrong_text_is_refused_with_its_line() {
    let refused = |text: &str| text.parse::<LinkTrace>().unwrap_err();
    assert_eq!(refused(""), LinkTraceError::Empty);
    let falls = LinkTraceError::Falls { line: 3, at_ms: 6, before_ms: 7 };
    assert_eq!(refused("5\n7\n6\n"), falls);
    assert_eq!(refused("0\n0\n"), LinkTraceError::NoLength { line: 2 });
    for wrong in ["", "-1", "+1", "1.5", " 1", "x", "4294967296", "1 2", "\u{661}"] {
        let error = refused(&format!("0\n{wrong}\n5\n"));
        assert_eq!(error, LinkTraceError::NotATime { line: 2 }, "{wrong:?}");
        assert!(error.to_string().starts_with("line 2 is not a time; give an integer"), "{error}");
    }
    let long = "7\n".repeat(10_000_001);
    assert_eq!(refused(&long), LinkTraceError::TooLong { max_lines: 10_000_000 });
    assert_eq!(trace("0\r\n4294967295").length().as_millis(), 4_294_967_295);
    assert_eq!(trace(&long[..20_000_000]).mean_bps(), 10_000_000 * 12_000_000 / 7);
}

#[test]
fn generated_traces_have_their_lengths_and_rates() {
    let frozen = [
        ("step", 30, 2_085_600, 0x4AE7_BC04_6975_3761),
        ("cell-edge", 60, 991_400, 0x3FA8_45E0_7520_9533),
        ("train", 120, 3_940_900, 0x6C93_71A6_E1BD_4ACD),
        ("crowded-wifi", 60, 3_458_200, 0x42C4_80A8_653B_6A03),
    ];
    for ((name, seconds, mean_bps, expected), listed) in frozen.into_iter().zip(LinkTrace::NAMES) {
        let trace = LinkTrace::named(name).unwrap();
        assert_eq!((name, trace.length()), (listed, Duration::from_secs(seconds)));
        assert_eq!(trace.mean_bps(), mean_bps, "{name}");
        let hash = (0..=seconds as u32 * 1_000).fold(0xCBF2_9CE4_8422_2325_u64, |hash, ms| {
            let bytes = trace.bytes_until(MS * ms);
            (hash ^ bytes).wrapping_mul(0x0000_0100_0000_01B3).rotate_left(29)
        });
        assert_eq!(hash, expected, "{name}: {hash:#018X}");
    }
    assert_eq!(LinkTrace::named("carrier pigeon"), None);
    let step = LinkTrace::named("step").unwrap();
    for (second, bps) in [(5, 4_000_000), (15, 256_000), (25, 2_000_000), (35, 4_000_000)] {
        let [from, to] = [second, second + 3].map(|at| step.bytes_until(Duration::from_secs(at)));
        let off_bits = ((to - from) * 8).abs_diff(bps * 3);
        assert!(off_bits <= 12_000, "{second} s: {off_bits}");
    }
}

/// A trace of any rises, and the queue's size.
fn traces() -> impl Strategy<Value = (LinkTrace, u32)> {
    let rises = prop::collection::vec(prop_oneof![Just(0u32), 0..20u32, 0..500u32], 0..40);
    (rises, 1u32..300, 0u32..20_000).prop_map(|(rises, last, queue_bytes)| {
        let mut at_ms = 0;
        let mut text = String::new();
        for rise in rises.into_iter().chain([last]) {
            at_ms += rise;
            text.push_str(&format!("{at_ms}\n"));
        }
        (text.parse().unwrap(), queue_bytes)
    })
}

proptest! {
    /// For any trace and any packets: what passes in a span fits into its opportunities, the order
    /// is kept, the queue keeps its size, and the counters balance.
    #[test]
    fn what_passes_fits_into_the_opportunities(
        (trace, queue_bytes) in traces(),
        calls in prop::collection::vec((0u64..60_000, 28u32..4_000), 1..150),
    ) {
        let mut link = following(trace.clone(), queue_bytes);
        let mut now = Duration::ZERO;
        let mut sent = Vec::new();
        for (step_us, packet_bytes) in calls {
            now += Duration::from_micros(step_us);
            let dropped = link.stats().queue_dropped.count;
            let wait = link.queueing(now);
            send(&mut link, now, packet_bytes);
            let queued: u64 = sent.iter().filter(|(_, end, _)| *end > now).map(|(_, _, bytes)| bytes).sum();
            if link.stats().queue_dropped.count > dropped {
                prop_assert!(queued + u64::from(packet_bytes) > u64::from(queue_bytes));
                prop_assert!(!wait.is_zero() && link.queueing(now) == wait);
            } else {
                let end = now + link.queueing(now);
                prop_assert!(end > now && link.queueing(now) >= wait);
                sent.push((now, end, u64::from(packet_bytes)));
            }
        }
        // Datagrams arrive in order, when the queue said, and the first byte not before it was sent.
        let arrivals: Vec<u128> = sent.iter().map(|(_, end, _)| end.as_millis()).collect();
        prop_assert!(arrivals.is_sorted());
        prop_assert_eq!(link.in_flight(), arrivals.len());
        let LinkStats { sent: all, queue_dropped, .. } = *link.stats();
        prop_assert_eq!(all.count, queue_dropped.count + arrivals.len() as u64);
        prop_assert_eq!(arrivals_ms(&mut link), arrivals);
        prop_assert_eq!(link.stats().delivered.bytes + queue_dropped.bytes, all.bytes);
        // What is sent and passes within a span has had that many opportunities. So has what passes
        // after a datagram, with the opportunities at the time of that datagram.
        for (first, (from, first_end, first_bytes)) in sent.iter().enumerate() {
            let mut passed = 0;
            for (_, end, bytes) in &sent[first..] {
                passed += bytes;
                let offered = |from| trace.bytes_until(*end) - trace.bytes_until(from);
                prop_assert!(passed <= offered(*from), "{passed} from {from:?} to {end:?}");
                prop_assert!(passed - first_bytes <= offered(*first_end - MS), "{passed} to {end:?}");
            }
        }
    }

    /// Text of any bytes is a trace or is refused, and a trace is never without length.
    #[test]
    fn any_text_is_a_trace_or_refused(text in "[0-9\n\r -]{0,60}|\\PC{0,40}") {
        if let Ok(trace) = text.parse::<LinkTrace>() {
            prop_assert!(trace.length() >= MS && trace.mean_bps() > 0);
        }
    }
}
