//! The report of a session over a link: a table for the terminal, and a JSON document for programs.

use std::io::{self, Write};

use command_kit::table::write_rows;
use command_kit::{LinkUse, Summary, Waits};
use serde::Serialize;

use crate::session::FaultReport;

/// The report of one world that was sent to one viewer.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SessionReport {
    /// The options with which this run can be repeated.
    pub world: String,
    pub link: String,
    pub sending: String,
    pub seconds: f64,
    /// The number of datagrams with snapshots or parts of full states.
    pub frames_sent: u64,
    /// The number of snapshots that arrived and were decoded.
    pub frames_received: u64,
    /// The number of received snapshots that were partial, because the sender skipped entities.
    pub frames_with_left_out: u64,
    /// The number of full states that arrived. There is one at the beginning, and one whenever the
    /// two sides had no common baseline.
    pub blocks: u64,
    /// The number of snapshots that arrived with a state check.
    pub state_checks: u64,
    /// The number of state checks that showed a difference between the two sides' views.
    pub failed_checks: u64,
    /// The number of frames that were drawn.
    pub states_shown: u64,
    /// The number of game events that playback reached.
    pub events: u64,
    /// The number of events that arrived after playback had shown their tick.
    pub late_events: u64,
    /// The number of lanes that differ from the sent ones, over all received snapshots.
    pub wrong_lanes: u64,
    /// The share of the datagrams that the link lost, for any reason.
    pub loss_ratio: f64,
    /// The bandwidth from the sender, without IP and UDP headers.
    pub kbps_payload: f64,
    /// The bandwidth from the sender, with IP and UDP headers.
    pub kbps_total: f64,
    /// The bandwidth from the viewer, with headers.
    pub kbps_upstream: f64,
    pub round_trip_ms: f64,
    /// The mean age of the baselines, in datagrams.
    pub baseline_age: f64,
    pub playout_delay_ms: f64,
    /// The share of the time in which playback lacked the next state.
    pub starved_ratio: f64,
    pub shown_error_mm: Summary,
    pub shown_error_deg: Summary,
    /// The use of the link to the receiver. The value is `None` if no option limits the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_use: Option<LinkUse>,
    /// The report on the player's keys. The value is `None` if no keys were sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<InputReport>,
    /// The report on faults. The value is `None` if no faults were injected into the receiver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faults: Option<FaultReport>,
}

/// The report on the player's keys, which are sent to the world as one record per tick.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct InputReport {
    pub records: u64,
    pub packets: u64,
    pub bits_per_packet: PacketBits,
    /// The bandwidth while keys were sent, without headers.
    pub kbps_payload: f64,
    /// The bandwidth while keys were sent, with IP and UDP headers. It counts the headers in full,
    /// although acknowledgements share them.
    pub kbps_with_headers: f64,
    /// The number of records that arrived.
    pub received: u64,
    /// The number of records that arrived as repeats, because their own packet was lost or
    /// overtaken.
    pub recovered: u64,
    /// The number of records that did not arrive although a newer record did.
    pub lost: u64,
    /// The number of records that arrived changed.
    pub wrong: u64,
}

/// The bits of a packet, without the headers of IP and UDP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PacketBits {
    /// The mean of all packets.
    pub mean: f64,
    /// The mean of full packets, which need no earlier packet.
    pub full: f64,
}

impl SessionReport {
    pub fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        writeln!(out)
    }

    pub fn write_table(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { world, link, sending, .. } = self;
        writeln!(out, "{world}\n{link}\n{sending}")?;
        let mut rows = vec![
            ("bandwidth, payload", format!("{:.1} kbit/s", self.kbps_payload)),
            ("with IP and UDP headers", format!("{:.1} kbit/s", self.kbps_total)),
            ("upstream, with headers", format!("{:.1} kbit/s", self.kbps_upstream)),
            (
                "snapshots sent / arrived",
                format!("{} / {}", self.frames_sent, self.frames_received),
            ),
            ("partial snapshots", self.frames_with_left_out.to_string()),
            ("blocks, one at the beginning", self.blocks.to_string()),
            (
                "state checks arrived / failed",
                format!("{} / {}", self.state_checks, self.failed_checks),
            ),
            ("lost by the link", format!("{:.2} %", self.loss_ratio * 100.0)),
            ("round trip", format!("{:.1} ms", self.round_trip_ms)),
            ("age of the baseline", format!("{:.1} snapshots", self.baseline_age)),
            ("playout delay", format!("{:.1} ms", self.playout_delay_ms)),
            ("states shown", self.states_shown.to_string()),
            ("events / late", format!("{} / {}", self.events, self.late_events)),
            ("starved", format!("{:.2} % of the time", self.starved_ratio * 100.0)),
            ("position error, p50 / p99 / max", summary(&self.shown_error_mm, 2, "mm")),
            ("rotation error, p50 / p99 / max", summary(&self.shown_error_deg, 2, "°")),
        ];
        rows.extend(self.link_use.iter().flat_map(link_rows));
        rows.extend(self.input.iter().flat_map(InputReport::rows));
        rows.extend(self.faults.iter().flat_map(fault_rows));
        rows.push(("lanes that arrived wrong", self.wrong_lanes.to_string()));
        write_rows(out, rows)
    }
}

impl InputReport {
    fn rows(&self) -> [(&'static str, String); 4] {
        let Self { bits_per_packet: bits, .. } = self;
        [
            ("input: bits a packet / full one", format!("{:.1} / {:.0}", bits.mean, bits.full)),
            ("with IP and UDP headers", format!("{:.1} kbit/s", self.kbps_with_headers)),
            ("keys sent / recovered by repeats", format!("{} / {}", self.records, self.recovered)),
            ("keys lost / wrong", format!("{} / {}", self.lost, self.wrong)),
        ]
    }
}

fn link_rows(link_use: &LinkUse) -> [(&'static str, String); 4] {
    let [offered, used, ..] = link_use.cells();
    let Waits { mean, p95, max } = link_use.queueing_ms;
    let [mean, p95, max] = [mean, p95, max].map(|ms| format!("{ms:.0$}", usize::from(ms < 100.0)));
    [
        ("the link carries, on average", format!("{offered} kbit/s")),
        ("of which were used", used),
        ("queueing, mean / p95 / max", format!("{mean} / {p95} / {max} ms")),
        ("dropped, as the queue was full", link_use.dropped.to_string()),
    ]
}

fn fault_rows(faults: &FaultReport) -> [(&'static str, String); 5] {
    [
        ("faults injected / found", format!("{} / {}", faults.injected, faults.noticed)),
        ("healed / within 3 round trips", {
            format!("{} / {}", faults.healed, faults.healed_within_three_round_trips)
        }),
        ("check to new state, p50/p99/max", summary(&faults.heal_ms, 1, "ms")),
        ("fault to new state, p50/p99/max", summary(&faults.fault_to_heal_ms, 1, "ms")),
        ("lanes wrong because of faults", faults.wrong_lanes.to_string()),
    ]
}

/// Returns the median, the 99th percentile and the largest, as text. Numbers from 100 on have fewer
/// than the requested digits.
pub fn summary(of: &Summary, digits: usize, unit: &str) -> String {
    let [p50, p99, max] = [of.p50, of.p99, of.max].map(|number| {
        let most_digits = if number < 100.0 {
            digits
        } else if number < 1_000.0 {
            1
        } else {
            0
        };
        format!("{number:.0$}", digits.min(most_digits))
    });
    format!("{p50} / {p99} / {max} {unit}")
}

/// Checks that a table fits a narrow terminal. Lines that repeat the options may be longer.
#[cfg(test)]
pub fn assert_narrow(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) {
    let mut text = Vec::new();
    write(&mut text).expect("memory takes everything");
    let text = String::from_utf8(text).expect("a table is text");
    for line in text.lines().filter(|line| !line.contains("--")) {
        assert!(line.chars().count() <= 60, "{} columns: {line}", line.chars().count());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_with_long_numbers_fits_60_columns() {
        let long = Summary { p50: 123.45, p99: 1234.5, max: 1234.5 };
        let report = SessionReport {
            frames_sent: 5_184_000,
            frames_received: 5_184_000,
            kbps_total: 12_345.6,
            shown_error_mm: long,
            shown_error_deg: long,
            input: Some(InputReport {
                records: 5_184_000,
                recovered: 5_184_000,
                ..InputReport::default()
            }),
            faults: Some(FaultReport { heal_ms: long, ..FaultReport::default() }),
            link_use: Some(LinkUse {
                offered_kbps: Some(1e6),
                used_ratio: Some(1.0),
                queueing_ms: Waits { mean: 12_345.6, p95: 12_345.6, max: 12_345.6 },
                dropped: 5_184_000,
                lost: 0,
                slot_ms: 100,
                series: Vec::new(),
            }),
            ..SessionReport::default()
        };
        assert_narrow(|out| report.write_table(out));
    }
}
