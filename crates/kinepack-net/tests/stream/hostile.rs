//! Tests with packets and acknowledgements that no honest end sends. An endpoint refuses and counts
//! each of them, and changes nothing else. After any number of such packets, a receiver continues
//! exactly as its twin, which never got such a packet.

use std::time::Duration;

use kinepack::stream::{StreamCodec, StreamLevel};
use kinepack_net::{
    Sequence, StreamAcknowledgement, StreamConfig, StreamReceiver, StreamReceiverStats,
    StreamRefused, StreamSender,
};

use super::world::{Player, at, codec};
use crate::support::{Random, Thing};

const RING: u16 = 64;
/// The number of packets in the recorded session. The first packet has the number [`FIRST`].
const PACKETS: usize = 120;
const FIRST: u16 = 65_480;

fn config() -> StreamConfig {
    StreamConfig { repeats: 2, first_number: Sequence(FIRST), ..StreamConfig::at_hz(60) }
}

fn receiver() -> StreamReceiver {
    StreamReceiver::new(&codec(), config()).unwrap()
}

/// Packets of a session with a round trip of ten packets and no losses.
fn recorded() -> Vec<Vec<u8>> {
    let mut sender = StreamSender::new(&codec(), config()).unwrap();
    let mut player = Player::new(1);
    (0..PACKETS)
        .map(|step| {
            let number = sender.push(player.step()).unwrap();
            if step > 10 {
                sender.handle(&acknowledgement(number.before(10))).unwrap();
            }
            sender.poll_transmit().unwrap().to_vec()
        })
        .collect()
}

/// The number of the packet at `index`.
fn number(index: usize) -> Sequence {
    Sequence(FIRST).after(index as u16)
}

fn now(index: usize) -> Duration {
    at(index as u32, 60)
}

/// The observable state of a receiver, except its counters.
type Seen = (Option<Sequence>, Vec<Option<Vec<u32>>>, usize);

fn seen(receiver: &StreamReceiver) -> Seen {
    let newest = receiver.newest().unwrap_or_default();
    let records = (0..300)
        .map(|behind| receiver.record(newest.after(20).before(behind)).map(<[u32]>::to_vec))
        .collect();
    (receiver.newest(), records, receiver.memory_bytes())
}

/// A receiver in the middle of a session, and its twin.
struct Attacked {
    packets: Vec<Vec<u8>>,
    receiver: StreamReceiver,
    twin: StreamReceiver,
    taken: usize,
}

impl Attacked {
    fn after(count: usize) -> Self {
        let mut attacked =
            Self { packets: recorded(), receiver: receiver(), twin: receiver(), taken: 0 };
        attacked.go_on(count);
        attacked
    }

    fn now(&self) -> Duration {
        now(self.taken)
    }

    /// Gives `count` packets of the session to the receiver and to its twin.
    fn go_on(&mut self, count: usize) {
        for _ in 0..count {
            let (now, packet) = (now(self.taken), &self.packets[self.taken]);
            let [taken, expected] = [&mut self.receiver, &mut self.twin].map(|receiver| {
                receiver.handle(now, packet).map(|handled| {
                    let lanes = handled.records().map(|record| record.lanes.to_vec());
                    (handled.number, handled.late, lanes.collect::<Vec<_>>())
                })
            });
            assert_eq!(taken, expected);
            assert!(taken.is_ok(), "{taken:?}");
            self.taken += 1;
        }
    }

    /// Sends a packet that must be refused and counted by `counter`.
    #[track_caller]
    fn refuses(
        &mut self,
        datagram: &[u8],
        counter: fn(&StreamReceiverStats) -> u64,
    ) -> StreamRefused {
        let (before, stats) = (seen(&self.receiver), self.receiver.stats());
        let refused = self.receiver.handle(self.now(), datagram).expect_err("an attack was taken");
        assert_eq!(seen(&self.receiver), before, "{refused:?} changed something");
        let after = self.receiver.stats();
        assert_eq!(
            (counter(&after), after.refused()),
            (counter(&stats) + 1, stats.refused() + 1),
            "{refused:?}"
        );
        assert_eq!(
            (after.packets, after.records, after.bytes),
            (stats.packets, stats.records, stats.bytes)
        );
        refused
    }

    /// Plays the session to its end, and checks that the attacks had no effect.
    fn finish(mut self) {
        self.go_on(PACKETS - self.taken);
        assert_eq!(seen(&self.receiver), seen(&self.twin));
        assert_eq!(self.receiver.acknowledgement(), self.twin.acknowledgement());
    }
}

fn acknowledgement(newest: Sequence) -> Vec<u8> {
    StreamAcknowledgement { newest, timing: None }.to_bytes()
}

fn renumbered(packet: &[u8], number: Sequence) -> Vec<u8> {
    let mut packet = packet.to_vec();
    packet[1..3].copy_from_slice(&number.0.to_le_bytes());
    packet
}

#[test]
fn replays() {
    let mut attacked = Attacked::after(100);
    for index in 0..100 {
        let packet = attacked.packets[index].clone();
        if 99 - index < usize::from(RING) {
            assert_eq!(
                attacked.refuses(&packet, |stats| stats.duplicates),
                StreamRefused::Duplicate
            );
        } else {
            assert_eq!(attacked.refuses(&packet, |stats| stats.too_old), StreamRefused::TooOld);
        }
    }
    attacked.finish();
}

#[test]
fn numbers_far_behind_and_half_of_all_away() {
    let mut attacked = Attacked::after(100);
    let full = attacked.packets[0].clone();
    for behind in [RING, RING + 1, 1000, 0x7FFF, 0x8000] {
        let old = renumbered(&full, number(99).before(behind));
        assert_eq!(
            attacked.refuses(&old, |stats| stats.too_old),
            StreamRefused::TooOld,
            "{behind}"
        );
    }
    attacked.finish();
}

#[test]
fn numbers_far_ahead() {
    let mut attacked = Attacked::after(100);
    let full = attacked.packets[0].clone();
    // Since the newest packet, 1/60 s has passed, so two more packets may have been sent.
    for ahead in [RING + 3, RING + 4, 1000, 0x7FFF] {
        let early = renumbered(&full, number(99).after(ahead));
        let refused = attacked.refuses(&early, |stats| stats.too_far_ahead);
        assert!(
            matches!(refused, StreamRefused::TooFarAhead { limit } if (RING..=RING + 2).contains(&limit))
        );
    }
    let mut relative = attacked.packets[50].clone();
    attacked.finish();
    // Later, these numbers become possible. But only a full packet, which begins the stream anew,
    // may be ahead by half of all numbers.
    let mut receiver = receiver();
    receiver.handle(Duration::ZERO, &full).unwrap();
    let later = Duration::from_secs(10);
    assert!(
        receiver.clone().handle(later, &renumbered(&full, number(RING.into()).after(1200))).is_ok()
    );
    assert!(
        receiver
            .clone()
            .handle(later, &renumbered(&full, number(RING.into()).after(1201)))
            .is_err()
    );
    assert!(receiver.clone().handle(Duration::MAX, &renumbered(&full, number(0x7FFF))).is_ok());
    let half = renumbered(&full, number(0x8000));
    let half_of_the_time = Duration::from_secs(0x8000) / 60;
    assert!(receiver.clone().handle(half_of_the_time, &half).is_err());
    relative[1..3].copy_from_slice(&half[1..3]);
    assert!(receiver.clone().handle(Duration::MAX, &relative).is_err());
    let mut cut_off = receiver.clone();
    assert!(cut_off.handle(Duration::MAX, &half[..half.len() - 1]).is_err());
    assert_eq!(
        (cut_off.newest(), cut_off.stats().restarts),
        (receiver.newest(), 0),
        "a refused packet changed something"
    );
    assert!(receiver.handle(Duration::MAX, &half).is_ok());
    assert_eq!((receiver.newest(), receiver.stats().restarts), (Some(number(0x8000)), 1));
}

#[test]
fn bases_that_do_not_exist() {
    let mut attacked = Attacked::after(99);
    // Packet 100 overtakes packet 99, whose record is only held as a repeat.
    let overtaking = attacked.packets[100].clone();
    attacked.receiver.handle(attacked.now(), &overtaking).unwrap();
    attacked.twin.handle(attacked.now(), &overtaking).unwrap();
    assert!(attacked.receiver.record(number(99)).is_some());
    let mut packet = attacked.packets[101].clone();
    packet[0] &= 0x0F;
    for back in [2, RING as u8 + 1, 200, 255] {
        packet[3] = back;
        let base = number(101).before(back.into());
        assert_eq!(
            attacked.refuses(&packet, |stats| stats.lost_bases),
            StreamRefused::NoBase { base },
            "{back}"
        );
    }
    // The receiver has no base for these packets: one comes before the first packet, and one comes
    // in a session with other numbers.
    let packets = attacked.packets.clone();
    assert!(matches!(
        receiver().handle(Duration::ZERO, &packets[50]),
        Err(StreamRefused::NoBase { .. })
    ));
    let mut later = receiver();
    later.handle(Duration::ZERO, &renumbered(&packets[0], Sequence(20_000))).unwrap();
    let ahead = renumbered(&packets[50], Sequence(20_001));
    assert!(matches!(later.handle(Duration::ZERO, &ahead), Err(StreamRefused::NoBase { .. })));
    // Packet 99 arrives late, and is a base from then on.
    attacked.go_on(1);
    assert!(attacked.receiver.stats().late == 1);
    packet[3] = 2;
    assert!(!matches!(
        attacked.receiver.handle(attacked.now(), &packet),
        Err(StreamRefused::NoBase { .. })
    ));
}

#[test]
fn bases_among_the_packets_own_records() {
    let mut attacked = Attacked::after(100);
    let mut packet = attacked.packets[100].clone();
    for (count, back) in [(1, 0), (3, 2), (16, 0), (16, 15)] {
        packet[0] = 6 | (count - 1) << 4;
        packet[3] = back;
        let refused = attacked.refuses(&packet, |stats| stats.bad_headers);
        assert_eq!(refused, StreamRefused::BadBack { back, count });
    }
    attacked.finish();
}

#[test]
fn payloads_that_are_cut_too_long_or_of_other_counts() {
    let mut attacked = Attacked::after(100);
    // A packet with a base and a full packet, each with the number of the next packet.
    for index in [100, 0] {
        let packet = renumbered(&attacked.packets[index], number(100));
        for len in 0..packet.len() {
            let header_bytes = if packet[0] & 8 == 0 { 4 } else { 11 };
            if len < header_bytes {
                attacked.refuses(&packet[..len], |stats| stats.bad_headers);
            } else {
                attacked.refuses(&packet[..len], |stats| stats.malformed + stats.limited);
            }
        }
        for extra in [1, 100, 60_000] {
            let long = [&packet[..], &vec![0xFF; extra]].concat();
            attacked.refuses(&long, |stats| stats.malformed + stats.limited);
        }
        // The packet claims more records than its bytes hold. With fewer records, bytes would
        // remain.
        for count in (1..16).filter(|count| *count > packet[0] >> 4 || packet[0] & 8 == 0) {
            let mut other = packet.clone();
            other[0] = packet[0] & 0x0F | count << 4;
            if attacked.receiver.clone().handle(attacked.now(), &other).is_err() {
                attacked
                    .refuses(&other, |stats| stats.malformed + stats.limited + stats.bad_headers);
            } else {
                // Padding may be a record that equals the previous one.
                assert!(count == (packet[0] >> 4) + 1 || other == packet, "{count} records");
            }
        }
    }
    // The session resumes with the credit that returned meanwhile.
    let Attacked { packets, mut receiver, mut twin, .. } = attacked;
    for packet in &packets[100..] {
        let [taken, expected] = [&mut receiver, &mut twin].map(|end| {
            end.handle(Duration::from_secs(10), packet).map(|handled| handled.records().count())
        });
        assert_eq!(taken, expected);
    }
    assert_eq!(seen(&receiver), seen(&twin));
}

#[test]
fn another_codec() {
    let mut attacked = Attacked::after(100);
    let other = StreamCodec::of::<Thing>(StreamLevel::Packed).unwrap();
    let mut sender = StreamSender::new(&other, config()).unwrap();
    sender.push_lanes(&vec![0; other.lanes()]).unwrap();
    let packet = sender.poll_transmit().unwrap().to_vec();
    let expected = StreamRefused::Mismatch { ours: codec().hash(), theirs: other.hash() };
    assert_eq!(attacked.refuses(&packet, |stats| stats.mismatched), expected);
    assert_eq!(receiver().handle(Duration::ZERO, &packet).unwrap_err(), expected);
    attacked.finish();
}

#[test]
fn other_kinds_of_datagrams() {
    let mut attacked = Attacked::after(100);
    for first_byte in (0..=255).filter(|byte| byte & 7 != 6) {
        let refused = attacked.refuses(&[first_byte; 30], |stats| stats.bad_headers);
        let number = first_byte >> 4;
        let expected = match first_byte & 15 {
            2 if number > 0 => StreamRefused::Channel { number },
            _ => StreamRefused::Kind { first_byte },
        };
        assert_eq!(refused, expected);
    }
    assert_eq!(
        attacked.refuses(&[], |stats| stats.bad_headers),
        StreamRefused::Length { bytes: 0 }
    );
    attacked.finish();
}

/// With every bit of every packet flipped, and with noise, a refusal changes nothing.
#[test]
fn damaged_packets_change_nothing() {
    let packets = recorded();
    let mut random = Random::new(3);
    let mut receiver = receiver();
    for (index, packet) in packets.iter().enumerate() {
        let now = Duration::from_secs(index as u64);
        for bit in 0..8 * packet.len() + 40 {
            let mut mutant = packet.clone();
            match mutant.get_mut(bit / 8) {
                Some(byte) => *byte ^= 1 << (bit % 8),
                None => mutant = (0..random.below(40)).map(|_| random.next() as u8).collect(),
            }
            let mut disturbed = receiver.clone();
            if disturbed.handle(now, &mutant).is_err() {
                assert_eq!(seen(&disturbed), seen(&receiver));
                assert_eq!(
                    disturbed.handle(now, packet).is_ok(),
                    receiver.clone().handle(now, packet).is_ok()
                );
            }
        }
        receiver.handle(now, packet).unwrap();
    }
}

#[test]
fn acknowledgements_of_packets_never_sent_or_sent_long_ago() {
    let mut sender = StreamSender::new(&codec(), config()).unwrap();
    let mut player = Player::new(2);
    assert_eq!(sender.handle(&acknowledgement(Sequence(FIRST))), Err(StreamRefused::NeverSent));
    let mut newest = Sequence(FIRST);
    for step in 0..200 {
        newest = sender.push(player.step()).unwrap();
        // Every third record is sent with the next one.
        if step % 3 != 0 {
            sender.poll_transmit().unwrap();
        }
    }
    let mut twin = sender.clone();
    for ahead in [1, 2, 1000, 0x7FFF] {
        assert_eq!(
            sender.handle(&acknowledgement(newest.after(ahead))),
            Err(StreamRefused::NeverSent),
            "{ahead}"
        );
    }
    assert_eq!(
        sender.handle(&acknowledgement(newest.before(0x8000))),
        Err(StreamRefused::NeverSent)
    );
    for behind in [RING, 100, 150, 0x7FFF] {
        assert_eq!(
            sender.handle(&acknowledgement(newest.before(behind))),
            Err(StreamRefused::LongAgo),
            "{behind}"
        );
    }
    // Record 198 was pushed, but is not the newest record of any packet.
    assert_eq!(sender.handle(&acknowledgement(newest.before(1))), Err(StreamRefused::NeverSent));
    for datagram in
        [&[][..], &[7], &[7, 0], &[7, 0, 0, 0], &[15, 0, 0], &[5, 0, 0], &[0; 3], &[255; 60]]
    {
        assert!(sender.handle(datagram).is_err(), "{datagram:?}");
    }
    assert_eq!((sender.acknowledged(), sender.stats().refused), (None, twin.stats().refused + 18));
    // An acknowledgement older than the base is ignored.
    for sender in [&mut sender, &mut twin] {
        sender.handle(&acknowledgement(newest.before(3))).unwrap();
    }
    sender.handle(&acknowledgement(newest.before(6))).unwrap();
    assert_eq!(sender.acknowledged(), Some(newest.before(3)));
    assert_eq!(sender.stats().acknowledged, 1);
    for _ in 0..100 {
        let input = player.step();
        let [ours, expected] = [&mut sender, &mut twin].map(|sender| {
            sender.push(input).unwrap();
            sender.poll_transmit().unwrap().to_vec()
        });
        assert_eq!(ours, expected);
    }
}
