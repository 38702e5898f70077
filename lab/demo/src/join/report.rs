//! The report of joiners: a table for the terminal, and a JSON document for programs.

use std::io::{self, Write};
use std::net::SocketAddr;

use command_kit::table::write_rows;
use kinepack_net::StreamSenderStats;
use serde::Serialize;

use super::tally::Tally;

/// The names of the numbers that only the server knows.
const NOT_KNOWN: [&str; 3] = ["round trip", "age of the baseline", "error of what is shown"];

/// One run of `join`. Rates are means over the time for which joiners were connected.
#[derive(Debug, Serialize)]
pub(super) struct JoinReport {
    server: SocketAddr,
    seconds: f64,
    joiners: usize,
    /// The number of joiners that received at least one state.
    joined: usize,
    connections: u64,
    /// The number of connections that were lost.
    dropped: u64,
    /// The number of attempts to connect that got no answer.
    no_answer: u64,
    /// The number of attempts to connect that failed because the server was full.
    full: u64,
    /// The number of snapshots that all joiners together received.
    frames_received: u64,
    frames_received_min: u64,
    frames_received_mean: f64,
    /// The number of received snapshots that were partial, because the sender skipped entities.
    frames_with_left_out: u64,
    duplicates: u64,
    /// The number of snapshots that arrived too late to be shown.
    late: u64,
    /// The number of events that reached playback, or would have reached it if the joiner showed
    /// anything.
    events: u64,
    /// The number of events that arrived after playback had shown their tick.
    late_events: u64,
    /// The number of refused datagrams, except duplicates and late ones.
    wrong_datagrams: u64,
    /// The number of datagrams that the system refused to send.
    unsent: u64,
    loss_ratio: f64,
    /// The bandwidth to one joiner, with IP and UDP headers, encryption and keep-alives.
    kbps_total: f64,
    /// The bandwidth from one joiner, counted in the same way.
    kbps_upstream: f64,
    /// The playout delay at the end, as a mean over the joiners.
    playout_delay_ms: f64,
    /// The share of the time in which playback lacked the next state.
    starved_ratio: f64,
    /// The longest time between two polls of a joiner's socket. If it is long, the machine is too
    /// slow for this many joiners.
    slowest_look_ms: f64,
    keys: KeysReport,
    not_known_here: [&'static str; 3],
    /// The likely cause if no joiner received a state.
    #[serde(skip)]
    pub(super) why_nothing_received: Option<String>,
}

/// The keys that all joiners sent. The bytes of packets do not include those of the transport.
#[derive(Debug, Serialize)]
struct KeysReport {
    /// The cube that each joiner steered last, by its number in the world.
    entities: Vec<u32>,
    records: u64,
    packets: u64,
    /// The number of packets that were full, so that they need no earlier packet.
    full_packets: u64,
    bytes: u64,
    bits_per_packet: f64,
}

impl KeysReport {
    fn new(all: &Tally, tallies: &[Tally]) -> Self {
        let StreamSenderStats { records, packets, full, bytes, .. } = all.keys;
        Self {
            entities: tallies
                .iter()
                .filter_map(|tally| tally.entity)
                .map(|entity| entity.0)
                .collect(),
            records,
            packets,
            full_packets: full,
            bytes,
            bits_per_packet: bytes as f64 * 8.0 / packets.max(1) as f64,
        }
    }

    /// Returns a short description of the cubes that were steered.
    fn cubes(&self) -> String {
        match self.entities[..] {
            [] => "none".to_owned(),
            [entity] => format!("number {entity}"),
            _ => self.entities.len().to_string(),
        }
    }
}

impl JoinReport {
    pub(super) fn new(server: SocketAddr, seconds: f64, tallies: &[Tally]) -> Self {
        let mut all = Tally::default();
        tallies.iter().for_each(|tally| all.add(tally));
        let joiners = tallies.len();
        let mean = |sum: f64| sum / joiners.max(1) as f64;
        let connected_s = all.connected.as_secs_f64().max(1e-3);
        let kbps = |bytes: u64| bytes as f64 * 8.0 / 1000.0 / connected_s;
        let (bytes_in, bytes_out) = all.bytes();
        Self {
            server,
            seconds,
            joiners,
            joined: tallies.iter().filter(|tally| tally.received > 0).count(),
            connections: all.connections,
            dropped: all.dropped,
            no_answer: all.no_answer,
            full: all.full,
            frames_received: all.snapshots,
            frames_received_min: tallies.iter().map(|tally| tally.snapshots).min().unwrap_or(0),
            frames_received_mean: mean(all.snapshots as f64),
            frames_with_left_out: all.left_out,
            duplicates: all.duplicates,
            late: all.late,
            events: all.events,
            late_events: all.late_events,
            wrong_datagrams: all.wrong,
            unsent: all.sockets.unsent,
            loss_ratio: all.loss_ratio(),
            kbps_total: kbps(bytes_in),
            kbps_upstream: kbps(bytes_out),
            playout_delay_ms: mean(
                tallies.iter().map(|tally| tally.delay.as_secs_f64() * 1e3).sum(),
            ),
            starved_ratio: all.starved.as_secs_f64() / connected_s,
            slowest_look_ms: all.slowest_look.as_secs_f64() * 1e3,
            keys: KeysReport::new(&all, tallies),
            not_known_here: NOT_KNOWN,
            why_nothing_received: all.why_nothing_received(),
        }
    }

    pub(super) fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        writeln!(out)
    }

    pub(super) fn write_table(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{} for {:.1} s", self.server, self.seconds)?;
        let rows = [
            ("joiners / with a state", format!("{} / {}", self.joiners, self.joined)),
            ("connections / lost", format!("{} / {}", self.connections, self.dropped)),
            ("no answer / server full", format!("{} / {}", self.no_answer, self.full)),
            ("snapshots / partial", {
                format!("{} / {}", self.frames_received, self.frames_with_left_out)
            }),
            ("snapshots a joiner, least / mean", {
                format!("{} / {:.1}", self.frames_received_min, self.frames_received_mean)
            }),
            ("datagrams twice / late / wrong", {
                format!("{} / {} / {}", self.duplicates, self.late, self.wrong_datagrams)
            }),
            ("events / late", format!("{} / {}", self.events, self.late_events)),
            ("not sent", self.unsent.to_string()),
            ("lost on the way", format!("{:.2} %", self.loss_ratio * 100.0)),
            ("to a joiner, all included", format!("{:.1} kbit/s", self.kbps_total)),
            ("from a joiner, all included", format!("{:.1} kbit/s", self.kbps_upstream)),
            ("playout delay", format!("{:.1} ms", self.playout_delay_ms)),
            ("starved", format!("{:.2} % of the time", self.starved_ratio * 100.0)),
            ("longest pause between reads", format!("{:.1} ms", self.slowest_look_ms)),
            ("cubes steered", self.keys.cubes()),
            ("keys sent", self.keys.records.to_string()),
            ("packets of keys / full ones", {
                format!("{} / {}", self.keys.packets, self.keys.full_packets)
            }),
            ("bytes of keys / bits a packet", {
                format!("{} / {:.1}", self.keys.bytes, self.keys.bits_per_packet)
            }),
        ];
        write_rows(out, rows)?;
        writeln!(out, "not known on this side:\n  {}", self.not_known_here.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session_report::assert_narrow;

    #[test]
    fn a_table_with_long_numbers_fits_60_columns() {
        let keys = StreamSenderStats {
            records: 5_184_000,
            packets: 5_184_000,
            bytes: 51_840_000,
            ..StreamSenderStats::default()
        };
        let tally = Tally {
            snapshots: 5_184_000,
            left_out: 5_184_000,
            duplicates: 51_840,
            late: 51_840,
            keys,
            ..Tally::default()
        };
        let report = JoinReport::new(SocketAddr::from(([127, 0, 0, 1], 9)), 3_600.0, &[tally]);
        assert_narrow(|out| report.write_table(out));
    }
}
