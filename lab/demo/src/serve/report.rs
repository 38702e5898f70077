//! The report of a server: a table for the terminal, and a JSON document for programs.

use std::collections::BTreeMap;
use std::io::{self, Write};

use command_kit::table::write_rows;
use serde::Serialize;

use super::players::{KeyCounts, Players};
use super::timing::TimesUs;

/// The report of one run of `serve`.
#[derive(Debug, Default, Serialize)]
pub(super) struct ServeReport {
    /// The options for the world and for sending.
    pub(super) world: String,
    pub(super) sending: String,
    pub(super) seconds: f64,
    pub(super) ticks: u32,
    /// The number of seconds for which the world paused because the machine was too slow.
    pub(super) skipped_s: f64,
    /// The time of the work for a tick, including the polls before it: stepping the world,
    /// encoding, sending and reading. Only ticks with receivers count.
    pub(super) tick_us: TimesUs,
    /// The same work in processor time of the thread. The value is null if the system does not
    /// report it.
    pub(super) tick_cpu_us: Option<TimesUs>,
    /// The time that the hub takes in a tick to make the datagrams for all receivers.
    pub(super) encode_us: TimesUs,
    pub(super) encode_cpu_us: Option<TimesUs>,
    /// The number of snapshots that are encoded in each sent tick, for all receivers together.
    pub(super) encoded_per_tick: f64,
    pub(super) receivers_peak: usize,
    pub(super) joined: u64,
    /// The number of clients that joined at each level, by the level's name.
    pub(super) joined_at: BTreeMap<&'static str, u64>,
    pub(super) left: u64,
    pub(super) timed_out: u64,
    /// The number of clients that were refused because their schema, codec or version differs from
    /// the server's.
    pub(super) refused: u64,
    /// The number of clients that were disconnected because the hub could not serve them, for
    /// example because they did not answer.
    pub(super) failed: u64,
    pub(super) datagrams_in: u64,
    pub(super) bytes_in: u64,
    pub(super) datagrams_out: u64,
    pub(super) bytes_out: u64,
    /// The number of datagrams that the reader dropped because they were not packets, or were
    /// packets that their sender may not send.
    pub(super) junk: u64,
    /// The number of datagrams that the reader dropped because one sender sent too many.
    pub(super) limited: u64,
    /// The number of datagrams that the reader dropped because they arrived faster than the ticks
    /// took them.
    pub(super) overflowed: u64,
    /// The number of times that a sender of junk was ignored for a second. No other number counts
    /// the sender's datagrams of that second.
    pub(super) silenced: u64,
    /// The number of datagrams that could not be decrypted, were replayed, or came from a client
    /// that may not connect.
    pub(super) undeciphered: u64,
    /// The number of datagrams of receivers that were decrypted, but that the hub refused.
    pub(super) wrong_datagrams: u64,
    /// The number of datagrams that the system or a full queue refused to send.
    pub(super) unsent: u64,
    /// The number of visitors in browsers that were refused, because of a wrong origin or token, a
    /// lack of places, or an incomplete handshake.
    pub(super) web_refused: u64,
    pub(super) keys: KeysReport,
    /// The bandwidth to one receiver, with IP and UDP headers, encryption and keep-alives.
    pub(super) kbps_per_receiver: f64,
}

/// The players and their keys. The bytes of packets do not include those of the transport.
#[derive(Debug, Default, Serialize)]
pub(super) struct KeysReport {
    /// The number of clients with a cube at the end. The next field is the largest number at once.
    players: usize,
    players_peak: usize,
    packets: u64,
    /// The number of packets that were full, so that they need no earlier packet.
    full_packets: u64,
    bytes: u64,
    bits_per_packet: f64,
    records: u64,
    /// The number of records that arrived as repeats in later packets.
    recovered: u64,
    /// The number of packets that were refused because their base never arrived.
    lost_bases: u64,
    /// The number of packets that were refused because they exceed the rate.
    limited: u64,
    /// The number of packets that were refused because their number is a duplicate, too old, or too
    /// far ahead.
    out_of_place: u64,
    /// The number of packets that were refused because they are invalid or of another codec.
    malformed: u64,
}

impl KeysReport {
    pub(super) fn new(players: &Players) -> Self {
        let counts = players.counts();
        let KeyCounts {
            packets,
            full,
            bytes,
            records,
            recovered,
            lost_bases,
            limited,
            out_of_place,
            malformed,
        } = counts;
        Self {
            players: players.playing(),
            players_peak: players.peak(),
            packets,
            full_packets: full,
            bytes,
            bits_per_packet: counts.bits_a_packet(),
            records,
            recovered,
            lost_bases,
            limited,
            out_of_place,
            malformed,
        }
    }
}

impl ServeReport {
    pub(super) fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        writeln!(out)
    }

    pub(super) fn write_table(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{}\n{}", self.world, self.sending)?;
        let times = |of: &TimesUs| {
            format!("{:.0} / {:.0} / {:.0} / {:.0}", of.mean, of.p50, of.p99, of.max)
        };
        let cpu = |of: &Option<TimesUs>| {
            of.as_ref().map_or_else(|| "unknown on this system".to_owned(), times)
        };
        let counts =
            |counts: &[u64]| counts.iter().map(u64::to_string).collect::<Vec<_>>().join(" / ");
        let keys = &self.keys;
        let mut rows = vec![
            ("ticks", self.ticks.to_string()),
            ("run / stopped to catch up", format!("{:.1} / {:.1} s", self.seconds, self.skipped_s)),
            ("most receivers at once", self.receivers_peak.to_string()),
            ("joined / left", counts(&[self.joined, self.left])),
            ("timed out / refused", counts(&[self.timed_out, self.refused])),
        ];
        if self.failed > 0 {
            rows.push(("disconnected as not servable", self.failed.to_string()));
        }
        // Only ticks with receivers are measured.
        if self.receivers_peak > 0 {
            rows.extend([
                ("µs of a tick, mean/p50/p99/max", times(&self.tick_us)),
                ("in processor time", cpu(&self.tick_cpu_us)),
                ("of it, encoding for everybody", times(&self.encode_us)),
                ("in processor time", cpu(&self.encode_cpu_us)),
                ("snapshots encoded a tick", format!("{:.2}", self.encoded_per_tick)),
            ]);
        }
        let joined_at = self.joined_at.iter();
        rows.extend(joined_at.map(|(level, count)| ("joined at", format!("{level}: {count}"))));
        rows.extend([
            ("players now / most at once", format!("{} / {}", keys.players, keys.players_peak)),
            ("packets of keys / full ones", counts(&[keys.packets, keys.full_packets])),
            ("bytes of keys / bits a packet", {
                format!("{} / {:.1}", keys.bytes, keys.bits_per_packet)
            }),
            ("keys taken / from repeats", counts(&[keys.records, keys.recovered])),
            ("refused: base lost / too many", counts(&[keys.lost_bases, keys.limited])),
            ("refused: out of place / invalid", counts(&[keys.out_of_place, keys.malformed])),
            ("to a receiver, all included", format!("{:.1} kbit/s", self.kbps_per_receiver)),
            ("datagrams in / out", counts(&[self.datagrams_in, self.datagrams_out])),
            ("not sent", self.unsent.to_string()),
            ("dropped: junk / too many / fast", {
                counts(&[self.junk, self.limited, self.overflowed])
            }),
            ("senders of junk ignored for 1 s", self.silenced.to_string()),
            ("not deciphered / not understood", counts(&[self.undeciphered, self.wrong_datagrams])),
        ]);
        write_rows(out, rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session_report::assert_narrow;

    #[test]
    fn a_table_with_long_numbers_fits_60_columns() {
        let times = TimesUs { mean: 1_234.0, p50: 1_234.0, p99: 12_345.0, max: 12_345.0 };
        let report = ServeReport {
            ticks: 5_184_000,
            seconds: 86_400.0,
            receivers_peak: 1_000,
            tick_us: times,
            joined_at: BTreeMap::from([("adaptive", 1_000), ("packed", 1_000)]),
            datagrams_in: 51_840_000,
            datagrams_out: 51_840_000,
            junk: 51_840,
            limited: 51_840,
            overflowed: 51_840,
            ..ServeReport::default()
        };
        assert_narrow(|out| report.write_table(out));
    }
}
