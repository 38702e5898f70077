//! Counts the events of joiners.

use std::net::SocketAddr;
use std::time::Duration;

use kinepack::EntityId;
use kinepack_net::{Sequence, StreamSenderStats, datagram_sequence};
use kinepack_udp::{ClientStats, LostReason, header_bytes};

/// The counts of one connection, or the sums of many.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) server: Option<SocketAddr>,
    pub(super) connections: u64,
    /// The number of connections that were lost.
    pub(super) dropped: u64,
    /// The number of attempts that got no answer.
    pub(super) no_answer: u64,
    /// The number of attempts that failed because the server was full.
    pub(super) full: u64,
    pub(super) snapshots: u64,
    /// The number of received snapshots that were partial.
    pub(super) left_out: u64,
    /// The number of datagrams that were accepted: snapshots and fragments of full states.
    pub(super) received: u64,
    /// The number of datagrams that the server sent, judged by the received sequence numbers.
    pub(super) sequences: u64,
    pub(super) duplicates: u64,
    /// The number of snapshots that arrived too late to be shown.
    pub(super) late: u64,
    /// The number of events. The next field counts those that arrived too late for their moment.
    pub(super) events: u64,
    pub(super) late_events: u64,
    /// The number of refused datagrams, except duplicates and late ones.
    pub(super) wrong: u64,
    /// The counts of the keys that were sent.
    pub(super) keys: StreamSenderStats,
    /// The cube that the joiner steered last.
    pub(super) entity: Option<EntityId>,
    pub(super) sockets: ClientStats,
    pub(super) connected: Duration,
    /// The time in which playback lacked the next state.
    pub(super) starved: Duration,
    /// The longest time between two polls of the socket, which shows how slow this process was.
    pub(super) slowest_look: Duration,
    /// The playout delay of the newest connection.
    pub(super) delay: Duration,
}

impl Tally {
    pub(super) fn add(&mut self, other: &Self) {
        self.server = other.server.or(self.server);
        self.connections += other.connections;
        self.dropped += other.dropped;
        self.no_answer += other.no_answer;
        self.full += other.full;
        self.snapshots += other.snapshots;
        self.left_out += other.left_out;
        self.received += other.received;
        self.sequences += other.sequences;
        self.duplicates += other.duplicates;
        self.late += other.late;
        self.events += other.events;
        self.late_events += other.late_events;
        self.wrong += other.wrong;
        self.keys.records += other.keys.records;
        self.keys.packets += other.keys.packets;
        self.keys.full += other.keys.full;
        self.keys.bytes += other.keys.bytes;
        self.entity = other.entity.or(self.entity);
        self.sockets.datagrams_in += other.sockets.datagrams_in;
        self.sockets.bytes_in += other.sockets.bytes_in;
        self.sockets.datagrams_out += other.sockets.datagrams_out;
        self.sockets.bytes_out += other.sockets.bytes_out;
        self.sockets.unsent += other.sockets.unsent;
        self.connected += other.connected;
        self.starved += other.starved;
        self.slowest_look = self.slowest_look.max(other.slowest_look);
        if !other.connected.is_zero() {
            self.delay = other.delay;
        }
    }

    /// Counts the distance from the newest datagram to a later one.
    pub(super) fn note_sequence(&mut self, newest: &mut Option<Sequence>, datagram: &[u8]) {
        let Some(sequence) = datagram_sequence(datagram) else { return };
        let ahead = newest.map_or(1, |newest| sequence.since(newest));
        if ahead > 0 {
            *newest = Some(sequence);
            self.sequences += ahead as u64;
        }
    }

    /// Returns the likely cause if no state was received, or `None` if one was.
    pub(super) fn why_nothing_received(&self) -> Option<String> {
        match self {
            Self { received: 1.., .. } => None,
            Self { connections: 1.., .. } => {
                Some("the connection was made, but no state arrived".to_owned())
            }
            Self { full: 1.., no_answer: 0, .. } => Some(LostReason::Full.to_string()),
            // A server does not answer packets of another secret or version.
            _ => Some(LostReason::NoAnswer.to_string()),
        }
    }

    /// Returns the share of the sent datagrams that did not arrive.
    pub(super) fn loss_ratio(&self) -> f64 {
        self.sequences.saturating_sub(self.received) as f64 / self.sequences.max(1) as f64
    }

    /// Returns the bytes from the server and the bytes to it, with the headers of IP and UDP.
    pub(super) fn bytes(&self) -> (u64, u64) {
        let header = self.server.map_or(0, header_bytes) as u64;
        let ClientStats { datagrams_in, bytes_in, datagrams_out, bytes_out, .. } = self.sockets;
        (bytes_in + datagrams_in * header, bytes_out + datagrams_out * header)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_likely_cause_is_named_if_nothing_was_received() {
        let none = Tally::default();
        assert_eq!(Tally { connections: 1, received: 1, ..none }.why_nothing_received(), None);
        for (tally, cause) in [
            (none, "the secrets differ"),
            (Tally { no_answer: 3, ..none }, "the secrets differ"),
            (Tally { full: 2, ..none }, "the server is full"),
            (Tally { connections: 1, ..none }, "no state arrived"),
        ] {
            let why = tally.why_nothing_received();
            assert!(why.is_some_and(|why| why.contains(cause)), "{tally:?}");
        }
    }

    #[test]
    fn loss_counts_the_gaps_between_the_first_and_the_newest_sequence() {
        let (mut tally, mut newest) = (Tally::default(), None);
        for sequence in [65_534_u16, 65_535, 2, 1, 4] {
            let [a, b] = sequence.to_le_bytes();
            tally.note_sequence(&mut newest, &[0, a, b]);
            tally.received += 1;
        }
        assert_eq!((tally.sequences, newest), (7, Some(Sequence(4))));
        assert!((tally.loss_ratio() - 2.0 / 7.0).abs() < 1e-9);
    }
}
