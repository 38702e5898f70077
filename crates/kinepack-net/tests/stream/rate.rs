//! Tests of the rate limit under virtual time.

use std::time::Duration;

use kinepack_net::{LinkConfig, StreamConfig, StreamReceiver, StreamRefused, StreamSender};

use super::world::{Player, Session, at, codec};

const LINK: LinkConfig = LinkConfig { latency: Duration::from_millis(40), ..LinkConfig::PERFECT };

#[test]
fn a_client_at_twice_the_rate_loses_the_excess() {
    for repeats in [0, 3] {
        let mut session =
            Session::new(StreamConfig { repeats, ..StreamConfig::at_hz(60) }, LINK, 1);
        session.hz = 120;
        session.run(120 * 30);
        let stats = session.receiver.stats();
        let most = 30.0 * 60.0 * 9.0 / 8.0 + 64.0;
        assert!(stats.records as f64 <= most && stats.records as f64 > 0.95 * most, "{stats:?}");
        assert!(stats.limited > 1000, "{stats:?}");
        assert_eq!(stats.refused(), stats.limited, "{stats:?}");
        // At the right rate, nothing is lost any more.
        session.hz = 60;
        session.steps /= 2;
        session.run(60);
        let limited = session.receiver.stats().limited;
        session.run(600);
        assert_eq!(session.receiver.stats().limited, limited);
    }
}

#[test]
fn fast_clocks_stalls_and_jitter_stay_within_the_limit() {
    let jitter = LinkConfig { jitter: Duration::from_millis(250), duplicate_ratio: 0.05, ..LINK };
    for (hz, link) in [(60, jitter), (62, jitter), (66, LINK)] {
        let mut session = Session::new(StreamConfig::at_hz(60), link, 2);
        session.hz = hz;
        session.run(60 * 60);
        assert_eq!(session.receiver.stats().limited, 0, "{hz} Hz");
    }
    // The network repeatedly holds all packets back for half a second.
    let config = StreamConfig::at_hz(60);
    let mut sender = StreamSender::new(&codec(), config).unwrap();
    let mut receiver = StreamReceiver::new(&codec(), config).unwrap();
    let (mut player, mut held) = (Player::new(2), Vec::new());
    for step in 1..3600 {
        sender.push(player.step()).unwrap();
        held.push(sender.poll_transmit().unwrap().to_vec());
        if step % 30 == 0 {
            for datagram in held.drain(..) {
                receiver.handle(at(step, 60), &datagram).unwrap();
            }
            sender.handle(&receiver.acknowledgement().unwrap().to_bytes()).unwrap();
        }
    }
}

/// With sixteen records in each packet, the same number of packets would carry sixteen times as
/// many inputs.
#[test]
fn the_limit_counts_records() {
    let config = StreamConfig { repeats: 15, ..StreamConfig::at_hz(60) };
    let mut sender = StreamSender::new(&codec(), config).unwrap();
    let mut receiver = StreamReceiver::new(&codec(), config).unwrap();
    let mut player = Player::new(3);
    for step in 0..600 {
        for _ in 0..16 {
            sender.push(player.step()).unwrap();
        }
        let datagram = sender.poll_transmit().unwrap().to_vec();
        let taken = receiver.handle(at(step, 60), &datagram);
        // Refused records leave a gap that soon becomes wider than any honest gap.
        assert!(
            matches!(
                taken,
                Ok(_) | Err(StreamRefused::Limited | StreamRefused::TooFarAhead { .. })
            ),
            "{taken:?}"
        );
        if let Some(acknowledgement) = receiver.acknowledgement() {
            let _ = sender.handle(&acknowledgement.to_bytes());
        }
    }
    let records = receiver.stats().records;
    assert!((64..=64 + 675).contains(&records), "{records} records in ten seconds");
}

#[test]
fn undecodable_packets_cost_credit_before_they_cost_time() {
    let config = StreamConfig::at_hz(60);
    let mut sender = StreamSender::new(&codec(), config).unwrap();
    let mut receiver = StreamReceiver::new(&codec(), config).unwrap();
    sender.push(Player::new(4).step()).unwrap();
    let datagram = sender.poll_transmit().unwrap();
    let longer = [datagram, &[0]].concat();
    let refused: Vec<_> =
        (0..1000).map(|_| receiver.handle(Duration::ZERO, &longer).unwrap_err()).collect();
    assert!(refused[..64].iter().all(|refused| matches!(refused, StreamRefused::Malformed(_))));
    assert!(refused[64..].iter().all(|refused| *refused == StreamRefused::Limited));
    assert_eq!(
        receiver
            .handle(Duration::from_millis(15), datagram)
            .map(|handled| handled.records().count()),
        Ok(1)
    );
    let stats = receiver.stats();
    assert_eq!((stats.malformed, stats.limited, stats.packets), (64, 936, 1));
}
