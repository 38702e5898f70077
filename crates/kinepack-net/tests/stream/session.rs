//! Tests of whole sessions. The records handed on equal the pushed records, lane for lane, and no
//! packet is coded against a packet that may be lost.

use std::time::Duration;

use kinepack::stream::{StreamCodec, StreamLevel};
use kinepack::{Bytes, Pack};
use kinepack_net::{
    LinkConfig, Loss, PRESETS, Sequence, StreamConfig, StreamReceiver, StreamRefused, StreamSender,
};

use super::world::{Player, Session, codec, header, lanes};
use crate::support::Random;

fn bad_link(loss_ratio: f32) -> LinkConfig {
    LinkConfig {
        latency: Duration::from_millis(60),
        jitter: Duration::from_millis(30),
        loss: Loss::Independent { ratio: loss_ratio },
        duplicate_ratio: 0.03,
        reorder_ratio: 0.05,
        reorder_delay: Duration::from_millis(50),
        ..LinkConfig::PERFECT
    }
}

#[test]
fn repeats_restore_records_of_lost_packets() {
    for (loss_ratio, repeats, least) in [
        (0.0, 0, 1.0),
        (0.0, 1, 1.0),
        (0.0, 3, 1.0),
        (0.05, 0, 0.93),
        (0.05, 1, 0.99),
        (0.05, 3, 0.9998),
        (0.2, 0, 0.77),
        (0.2, 1, 0.945),
        (0.2, 3, 0.997),
    ] {
        for seed in 1..4 {
            let config =
                StreamConfig { repeats, first_number: Sequence(64_000), ..StreamConfig::at_hz(60) };
            let mut session = Session::new(config, bad_link(loss_ratio), seed);
            session.run(3600);
            let ratio = session.delivered_ratio();
            assert!(ratio >= least, "{loss_ratio} lost, {repeats} repeats: {ratio}");
            assert!(repeats > 0 || ratio <= 1.015 - f64::from(loss_ratio));
            let stats = session.receiver.stats();
            assert_eq!(stats.records, session.given.len() as u64);
            // The receiver refuses only copies, and packets overtaken by a whole ring.
            assert_eq!(stats.refused(), stats.duplicates, "{stats:?}");
            assert!(stats.late > 50 && (repeats > 0) == (stats.recovered > 0), "{stats:?}");
            // Only the packets before the first acknowledgement are full.
            assert!(session.sender.stats().full < 60, "{:?}", session.sender.stats());
        }
    }
}

#[test]
fn every_preset() {
    for preset in PRESETS {
        for seed in 1..4 {
            let config = StreamConfig { repeats: 3, ..StreamConfig::at_hz(60) };
            let mut session = Session::new(config, preset.config, seed);
            session.run(1800);
            let ratio = session.delivered_ratio();
            let stats = session.receiver.stats();
            // The worst preset loses up to 18 % in bursts of five.
            assert!(ratio > 0.88, "{}: {ratio} {stats:?}", preset.name);
            assert_eq!(
                [stats.limited, stats.too_far_ahead, stats.malformed, stats.mismatched],
                [0; 4],
                "{stats:?}"
            );
        }
    }
}

#[test]
fn a_stream_begins_anew_after_a_silence_of_half_of_all_numbers() {
    let link = LinkConfig { latency: Duration::from_millis(50), ..LinkConfig::PERFECT };
    // After these outages, the numbers seem newer than the last accepted one, half of all numbers
    // away, or older. After the last outage, almost all numbers have passed.
    for outage_s in [400, 545, 547, 560, 900, 1090] {
        for repeats in [0, 3] {
            let config =
                StreamConfig { first_number: Sequence(60_000), repeats, ..StreamConfig::at_hz(60) };
            let mut session = Session::new(config, link, outage_s.into());
            session.run(600);
            session.cut = [true; 2];
            session.run(outage_s * 60);
            session.cut = [false; 2];
            let before = session.receiver.stats();
            session.run(180);
            let stats = session.receiver.stats();
            let taken = stats.records - before.records;
            // Three seconds of records arrive, except the records of the latency and at most two
            // records whose number is too far ahead.
            assert!(taken >= 160, "{outage_s} s: {taken} records of 180, {stats:?}");
            assert_eq!(stats.restarts, u64::from(outage_s >= 547), "{outage_s} s: {stats:?}");
        }
    }
}

#[test]
fn numbers_wrap() {
    let config = StreamConfig { first_number: Sequence(65_500), ..StreamConfig::at_hz(60) };
    let mut session = Session::new(
        config,
        LinkConfig { latency: Duration::from_millis(50), ..LinkConfig::PERFECT },
        1,
    );
    session.run(140_000);
    let stats = session.receiver.stats();
    assert_eq!((stats.refused(), stats.recovered), (0, 0));
    assert!(stats.records >= 139_990);
    assert!(session.sender.stats().full < 10);
}

#[test]
fn packets_are_full_after_an_outage_and_then_as_before() {
    for seconds in [1, 5, 120] {
        let mut session = Session::new(StreamConfig::at_hz(60), bad_link(0.0), 5);
        session.run(300);
        session.cut = [true, true];
        session.run(60 * seconds);
        assert_eq!(session.sender.acknowledged(), None);
        session.cut = [false, false];
        let full = session.sender.stats().full;
        let records = session.receiver.stats().records;
        session.run(300);
        assert_eq!(session.receiver.stats().refused(), session.receiver.stats().duplicates);
        assert!(session.receiver.stats().records > records + 280);
        let full = session.sender.stats().full - full;
        assert!((5..25).contains(&full), "{full} full packets, about a round trip's");
    }
}

#[test]
fn without_acknowledgements_packets_become_full_and_all_arrive() {
    let link = LinkConfig { latency: Duration::from_millis(50), ..LinkConfig::PERFECT };
    let mut session = Session::new(StreamConfig::at_hz(60), link, 6);
    session.run(120);
    let full = session.sender.stats().full;
    session.cut = [false, true];
    session.run(600);
    let ring = session.sender.config().ring_packets() as u64;
    let without = session.sender.stats().full - full;
    assert!(without > 600 - ring - 10 && without < 600, "{without} full packets");
    session.cut = [false, false];
    session.run(60);
    assert!(session.sender.acknowledged().is_some());
    assert_eq!(session.delivered_ratio(), 1.0);
    assert_eq!(session.receiver.stats().refused(), 0);
}

#[test]
fn a_server_that_forgot_everything_recovers() {
    let link = LinkConfig { latency: Duration::from_millis(50), ..LinkConfig::PERFECT };
    let mut session = Session::new(StreamConfig::at_hz(60), link, 7);
    session.run(120);
    session.receiver = StreamReceiver::new(&codec(), StreamConfig::at_hz(60)).unwrap();
    let steps = session.sender.config().ring_packets() as u32 + 20;
    session.run(steps);
    let lost = session.receiver.stats().lost_bases;
    assert!(lost > 40 && lost <= 64, "{lost}: until the base has left the sender's ring");
    assert!(session.refused.iter().all(|refused| matches!(refused, StreamRefused::NoBase { .. })));
    session.run(100);
    assert_eq!(session.receiver.stats().lost_bases, lost);
}

/// Records pushed since the last packet are sent in several packets, or as several inputs in one
/// packet.
#[test]
fn records_pushed_since_the_last_packet_are_sent_together() {
    let config = StreamConfig { repeats: 0, ..StreamConfig::at_hz(60) };
    let mut sender = StreamSender::new(&codec(), config).unwrap();
    let mut receiver = StreamReceiver::new(&codec(), config).unwrap();
    let (mut player, mut pushed) = (Player::new(3), 0u16);
    for (step, count) in (0..).zip([1, 5, 16, 2, 20, 1]) {
        for _ in 0..count {
            assert_eq!(sender.push(player.step()), Ok(Sequence(pushed)));
            pushed += 1;
        }
        let datagram = sender.poll_transmit().unwrap();
        let handled = receiver.handle(Duration::from_secs(step), datagram).unwrap();
        let number = handled.number;
        assert_eq!((number, handled.records().count()), (Sequence(pushed - 1), count.min(16)));
        let last = handled.records().last().unwrap();
        assert_eq!((last.number, last.repeated, last.late), (number, false, false));
        let read = last.read::<super::world::Input>().unwrap();
        assert_eq!(receiver.read(number), Ok(Some(read)));
        sender.handle(&receiver.acknowledgement().unwrap().to_bytes()).unwrap();
        assert_eq!(sender.acknowledged(), Some(number));
    }
}

#[derive(Pack)]
struct Large {
    #[pack(with = Bytes)]
    call: [u8; 100],
}

#[test]
fn repeats_that_do_not_fit_are_left_out() {
    let codec = StreamCodec::of::<Large>(StreamLevel::Packed).unwrap();
    let config = StreamConfig { repeats: 15, datagram_bytes: 450, ..StreamConfig::at_hz(60) };
    let mut sender = StreamSender::new(&codec, config).unwrap();
    let mut receiver = StreamReceiver::new(&codec, config).unwrap();
    let mut random = Random::new(1);
    for step in 0..40 {
        let large = Large { call: [(); 100].map(|()| random.next() as u8) };
        sender.push(&large).unwrap();
        let datagram = sender.poll_transmit().unwrap();
        assert!(datagram.len() <= 450 && (step < 4 || datagram.len() > 200), "{}", datagram.len());
        receiver.handle(Duration::from_millis(16 * step), datagram).unwrap();
        assert_eq!(
            receiver.read::<Large>(Sequence(step as u16)).unwrap().unwrap().call,
            large.call
        );
    }
    // A single record is sent, whatever its size.
    let config = StreamConfig { repeats: 1, datagram_bytes: 128, ..StreamConfig::at_hz(60) };
    let mut sender = StreamSender::new(&codec, config).unwrap();
    sender.push(&Large { call: [0xA5; 100] }).unwrap();
    assert!(sender.poll_transmit().is_some());
}

#[test]
fn values_of_another_type_are_refused() {
    let mut sender = StreamSender::new(&codec(), StreamConfig::at_hz(60)).unwrap();
    assert!(sender.push(&Large { call: [0; 100] }).is_err());
    let mut too_large = lanes(Player::new(1).step());
    too_large[0] = u32::MAX;
    assert!(sender.push_lanes(&too_large).is_err() && sender.push_lanes(&too_large[1..]).is_err());
    assert_eq!((sender.newest(), sender.poll_transmit()), (None, None));
    sender.push_lanes(&lanes(Player::new(1).step())).unwrap();
    let datagram = sender.poll_transmit().unwrap();
    assert_eq!(header(datagram), (Sequence(0), None));
    let mut receiver = StreamReceiver::new(&codec(), StreamConfig::at_hz(60)).unwrap();
    receiver.handle(Duration::ZERO, datagram).unwrap();
    assert!(receiver.read::<Large>(Sequence(0)).is_err());
}

#[test]
fn invalid_configurations_are_refused() {
    let good = StreamConfig::at_hz(60);
    good.validate().unwrap();
    for bad in [
        StreamConfig { rate_hz: 0, ..good },
        StreamConfig { rate_hz: 10_001, ..good },
        StreamConfig { longest_round_trip: Duration::ZERO, ..good },
        StreamConfig { longest_round_trip: Duration::from_secs(61), ..good },
        StreamConfig { repeats: 16, ..good },
        StreamConfig { burst_records: 15, ..good },
        StreamConfig { datagram_bytes: 127, ..good },
    ] {
        assert!(bad.validate().is_err() && StreamSender::new(&codec(), bad).is_err(), "{bad:?}");
        assert!(StreamReceiver::new(&codec(), bad).is_err());
    }
    let memory = StreamReceiver::new(&codec(), good).unwrap().memory_bytes();
    assert!((64 + 16) * 4 * 19 < memory && memory < (64 + 16) * 4 * 19 + 1000, "{memory} bytes");
}
