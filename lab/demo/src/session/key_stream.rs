//! The player's keys, which are sent to the world as one record per tick, over the links of the
//! snapshots and their acknowledgements. See `spec/NET.md`, sections 8 and 9.
//!
//! This file contains both ends, so it can compare the received keys with the sent ones.

use std::collections::VecDeque;
use std::time::Duration;

use cubes::Input;
use kinepack_net::{HEADER_BYTES, Sequence, StreamConfig, StreamReceiver, StreamSender};

use crate::inputs::{key_codec, key_config};
use crate::keys::Keys;
use crate::session_report::{InputReport, PacketBits};
use crate::world::Played;

/// The longest round trip of the stream. It exceeds the round trips of almost all links that the
/// page can select. A longer ring costs no bits.
const LONGEST_ROUND_TRIP: Duration = Duration::from_secs(3);

/// The source of the first player's keys, and whether they are sent over the link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Controller {
    /// The script plays, on the side of the world. Its keys are not sent.
    #[default]
    Script,
    /// The script plays, on the side of the world. Its keys are sent only to measure their
    /// bandwidth and to check that they arrive unchanged.
    SentScript,
    /// A person plays at the first receiver and holds these keys. They reach the world over the
    /// receiver's link.
    Person(Input),
}

impl Controller {
    /// Returns the keys to send for the step that the world has just made.
    pub(super) fn keys(self, world: &Played) -> Option<Keys> {
        let keys = match self {
            Self::Script => None,
            Self::SentScript => world.pressed(),
            Self::Person(held) => Some(held),
        };
        keys.map(Keys::from)
    }
}

/// Both ends of the stream of the player's keys.
pub(super) struct KeyStream {
    /// The viewer's end of the stream.
    source: StreamSender,
    /// The world's end of the stream.
    sink: StreamReceiver,
    /// The records that were pushed recently, for comparison with the received ones.
    pushed: VecDeque<(Sequence, Keys)>,
    /// The first record of the current player. The value is `None` if there is no player.
    plays_from: Option<Sequence>,
    /// Whether a packet has arrived that is not acknowledged yet.
    acknowledges: bool,
    /// The total bytes of full packets.
    full_bytes: u64,
    /// The number of records that arrived changed.
    wrong: u64,
}

impl Default for KeyStream {
    fn default() -> Self {
        let config = StreamConfig { longest_round_trip: LONGEST_ROUND_TRIP, ..key_config() };
        let codec = key_codec();
        Self {
            source: StreamSender::new(&codec, config).expect("a valid configuration"),
            sink: StreamReceiver::new(&codec, config).expect("a valid configuration"),
            pushed: VecDeque::new(),
            plays_from: None,
            acknowledges: false,
            full_bytes: 0,
            wrong: 0,
        }
    }
}

impl KeyStream {
    /// Adds the keys of a tick, and writes their packet into `out`. If `plays` is true, the world
    /// uses the received keys.
    pub(super) fn push(&mut self, keys: Keys, plays: bool, out: &mut Vec<u8>) {
        let number = self.source.push(&keys).expect("bits are never out of range");
        self.plays_from = plays.then(|| self.plays_from.unwrap_or(number));
        if self.pushed.len() == self.source.config().ring_packets() {
            self.pushed.pop_front();
        }
        self.pushed.push_back((number, keys));
        let full_before = self.source.stats().full;
        let packet = self.source.poll_transmit().expect("a record was pushed");
        let bytes = packet.len() as u64;
        out.extend_from_slice(packet);
        if self.source.stats().full > full_before {
            self.full_bytes += bytes;
        }
    }

    /// Notes that no keys are sent in this tick.
    pub(super) fn pause(&mut self) {
        self.plays_from = None;
    }

    /// Takes a packet at the world's end. The sink counts refused packets.
    pub(super) fn take(&mut self, now: Duration, packet: &[u8]) {
        let Ok(handled) = self.sink.handle(now, packet) else { return };
        self.acknowledges = true;
        for record in handled.records() {
            let pushed = self.pushed.iter().rev().find(|(number, _)| *number == record.number);
            let is_same = pushed.is_some_and(|(_, keys)| record.read() == Ok(*keys));
            self.wrong += u64::from(!is_same);
        }
    }

    /// Returns the acknowledgement to put in front of the next datagram to the viewer, or `None` if
    /// no packet arrived since the last one.
    pub(super) fn poll_acknowledgement(&mut self) -> Option<Vec<u8>> {
        let is_due = std::mem::take(&mut self.acknowledges);
        self.sink.acknowledgement().filter(|_| is_due).map(|newest| newest.to_bytes())
    }

    /// Takes an acknowledgement at the viewer's end.
    pub(super) fn acknowledge(&mut self, acknowledgement: &[u8]) {
        // An acknowledgement older than the ring changes nothing.
        let _ = self.source.handle(acknowledgement);
    }

    /// Returns the newest received keys of the person who plays.
    pub(super) fn held(&self) -> Option<Input> {
        let newest = self
            .sink
            .newest()
            .filter(|newest| self.plays_from.is_some_and(|from| newest.since(from) >= 0))?;
        let keys: Keys = self.sink.read(newest).ok()??;
        Some(keys.into())
    }

    /// Returns the number of packets that were sent, and their bytes.
    pub(super) fn sent(&self) -> (u64, u64) {
        let stats = self.source.stats();
        (stats.packets, stats.bytes)
    }

    pub(super) fn report(&self) -> InputReport {
        let (source, sink) = (self.source.stats(), self.sink.stats());
        let seconds = (source.records as f64 / f64::from(cubes::TICK_HZ)).max(1e-3);
        let kbps = |header: u32| {
            (source.bytes + source.packets * u64::from(header)) as f64 * 8.0 / 1e3 / seconds
        };
        let bits = |bytes: u64, packets: u64| bytes as f64 * 8.0 / packets.max(1) as f64;
        let newest = self.sink.newest().zip(self.source.newest());
        let in_flight =
            newest.map_or(source.records, |(received, sent)| sent.since(received).max(0) as u64);
        InputReport {
            records: source.records,
            packets: source.packets,
            bits_per_packet: PacketBits {
                mean: bits(source.bytes, source.packets),
                full: bits(self.full_bytes, source.full),
            },
            kbps_payload: kbps(0),
            kbps_with_headers: kbps(HEADER_BYTES),
            received: sink.records,
            recovered: sink.recovered,
            lost: source.records.saturating_sub(in_flight + sink.records),
            wrong: self.wrong,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use command_kit::LinkOptions;
    use cubes::{Config, Style};
    use kinepack_net::HubConfig;

    use super::*;
    use crate::inputs::with_keys;
    use crate::sender::{SendOptions, due};
    use crate::session::{Direct, Session};

    #[derive(Parser)]
    struct Options {
        #[command(flatten)]
        send: SendOptions,
        #[command(flatten)]
        link: LinkOptions,
    }

    fn session(options: &str, style: Style) -> Session {
        let Options { send, link } =
            Options::parse_from(["test"].into_iter().chain(options.split_whitespace()));
        let world =
            Played::cubes(&Config { cubes: 24 }, style, 1).expect("a valid number of cubes");
        let mut session =
            Session::new(world, &send, with_keys(HubConfig::default())).expect("valid options");
        session.outage = link.outage();
        session.add(&send, link.config().expect("a valid link"), 1, true).expect("a valid link");
        session
    }

    fn run(session: &mut Session, ticks: std::ops::RangeInclusive<u32>) {
        ticks.for_each(|tick| session.run_until(due(tick), &mut Direct).expect("nothing to fail"));
    }

    fn input(session: &Session) -> InputReport {
        session.peers[0].input_report().expect("keys were sent")
    }

    #[test]
    fn keys_arrive_unchanged_over_bad_links() {
        for (options, least, recovers) in [
            ("--link lan", 1.0, false),
            ("--link wifi", 0.99, true),
            ("--link terrible", 0.85, true),
            ("--link mobile --loss 30 --burst 5 --level adaptive", 0.7, true),
            ("--link cable --send-hz 10 --outage 3..5", 0.75, true),
            ("--link cable --round-trip-ms 2000 --jitter-ms 1000 --loss 0", 0.8, false),
        ] {
            let mut session = session(options, Style::Typical);
            session.controller = Controller::SentScript;
            run(&mut session, 1..=600);
            let InputReport { records, packets, received, recovered, lost, wrong, .. } =
                input(&session);
            assert_eq!(
                (records, packets, wrong, session.peers[0].wrong_lanes),
                (600, 600, 0, 0),
                "{options}"
            );
            assert!(received as f64 > least * 600.0 - 8.0, "{options}: {received}");
            assert!(received + lost <= 600, "{options}: {received} and {lost}");
            assert_eq!(recovered > 0, recovers, "{options}: {recovered}");
        }
    }

    #[test]
    fn the_script_plays_the_same_world_whether_its_keys_are_sent_or_not() {
        let [mut sent, mut plain] = [(); 2].map(|()| session("--link wifi", Style::Typical));
        sent.controller = Controller::SentScript;
        for tick in 1..=300 {
            run(&mut sent, tick..=tick);
            run(&mut plain, tick..=tick);
            assert!(sent.sender.snapshot == plain.sender.snapshot, "tick {tick}");
        }
        assert_eq!(plain.peers[0].input_report(), None);
        assert!(input(&sent).bits_per_packet.mean < input(&sent).bits_per_packet.full / 2.0);
    }

    #[test]
    fn a_persons_keys_reach_the_world_after_the_link_delay_and_only_while_the_person_plays() {
        let mut session = session("--link lan --round-trip-ms 200 --jitter-ms 0", Style::Rest);
        run(&mut session, 1..=10);
        let right = Input { right: true, ..Input::default() };
        session.controller = Controller::Person(right);
        // The keys are sent with tick 11, and are in flight for 100 ms, which are six ticks.
        run(&mut session, 11..=17);
        assert_eq!(session.sender.world.pressed(), Some(Input::default()));
        run(&mut session, 18..=18);
        assert_eq!(session.sender.world.pressed(), Some(right));
        session.controller = Controller::Script;
        run(&mut session, 19..=19);
        assert_eq!(
            session.sender.world.pressed(),
            Some(Input::default()),
            "the script holds no keys"
        );
        // Keys that were in flight at the change do not count for the next person.
        session.controller = Controller::Person(Input::default());
        for tick in 20..=60 {
            run(&mut session, tick..=tick);
            assert_eq!(session.sender.world.pressed(), Some(Input::default()), "tick {tick}");
        }
        assert_eq!(input(&session).wrong, 0);
    }

    #[test]
    fn keys_and_acknowledgements_share_datagrams() {
        let mut session = session("--link cable --loss 0", Style::Typical);
        session.controller = Controller::SentScript;
        run(&mut session, 1..=300);
        let sent = session.peers[0].up.stats().sent;
        assert!(
            (300..305).contains(&sent.count),
            "one datagram a tick, and one or two hellos: {sent:?}"
        );
        let keys_bytes = session.peers[0].keys_sent().1;
        assert!(
            sent.bytes > keys_bytes + 280 * 7,
            "no acknowledgements in them: {sent:?}, keys {keys_bytes}"
        );
    }
}
