//! What a session over a link was like, as a table for people and as one JSON document for
//! machines.

use std::io::{self, Write};

use command_kit::Summary;
use command_kit::table::write_rows;
use serde::Serialize;

use crate::session::FaultReport;

/// One world on its way to one viewer.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SessionReport {
    /// The options that make this run again.
    pub world: String,
    pub link: String,
    pub sending: String,
    pub seconds: f64,
    /// Datagrams with snapshots or parts of blocks.
    pub frames_sent: u64,
    /// Snapshots that arrived and were decoded.
    pub frames_received: u64,
    /// Of those, how many had to leave something out.
    pub frames_with_left_out: u64,
    /// Blocks that arrived: at the beginning, and where nothing common was left.
    pub blocks: u64,
    /// Snapshots that came with a state check.
    pub state_checks: u64,
    /// Of those, how many showed that the two sides did not hold the same.
    pub failed_checks: u64,
    /// Frames that were drawn.
    pub states_shown: u64,
    /// Lanes of all snapshots that arrived that differ from what was sent.
    pub wrong_lanes: u64,
    /// Share of the datagrams that the link lost, for whatever reason.
    pub loss_ratio: f64,
    /// From the sender, without IP and UDP headers.
    pub kbps_payload: f64,
    /// With them.
    pub kbps_total: f64,
    /// From the viewer, with headers.
    pub kbps_upstream: f64,
    pub round_trip_ms: f64,
    /// How many datagrams before the one encoded its baseline was sent, on average.
    pub baseline_age: f64,
    pub playout_delay_ms: f64,
    /// Share of the time in which the next state was needed and not there.
    pub starved_ratio: f64,
    pub shown_error_mm: Summary,
    pub shown_error_deg: Summary,
    /// Where keys were sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<InputReport>,
    /// Where the receiver was made wrong on purpose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faults: Option<FaultReport>,
}

/// The keys of who plays, on their way to the world: a record a tick.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct InputReport {
    pub records: u64,
    pub packets: u64,
    pub bits_per_packet: PacketBits,
    /// While they flowed.
    pub kbps_payload: f64,
    /// With headers of IP and UDP of their own, which they share with acknowledgements.
    pub kbps_with_headers: f64,
    /// Records that came.
    pub received: u64,
    /// Of those, how many came as repeats: the packet of their own tick was lost, or overtaken.
    pub recovered: u64,
    /// Records that did not come, up to the newest that did.
    pub lost: u64,
    /// Records that came out otherwise than they went in.
    pub wrong: u64,
}

/// Bits of packets, without the headers of IP and UDP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PacketBits {
    /// Of all packets.
    pub mean: f64,
    /// Of full ones, which need nothing that came before.
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
        let summary = |of: &Summary, unit: &str| {
            format!("{:.2} / {:.2} / {:.2} {unit}", of.p50, of.p99, of.max)
        };
        let rows = [
            ("bandwidth, payload", format!("{:.1} kbit/s", self.kbps_payload)),
            ("with IP and UDP headers", format!("{:.1} kbit/s", self.kbps_total)),
            ("the way back, with headers", format!("{:.1} kbit/s", self.kbps_upstream)),
            ("snapshots sent / arrived / partial", {
                format!(
                    "{} / {} / {}",
                    self.frames_sent, self.frames_received, self.frames_with_left_out
                )
            }),
            ("blocks, one at the beginning", self.blocks.to_string()),
            (
                "state checks that arrived / failed",
                format!("{} / {}", self.state_checks, self.failed_checks),
            ),
            ("lost by the link", format!("{:.2} %", self.loss_ratio * 100.0)),
            ("round trip", format!("{:.1} ms", self.round_trip_ms)),
            ("age of the baseline", format!("{:.1} snapshots", self.baseline_age)),
            ("playout delay", format!("{:.1} ms", self.playout_delay_ms)),
            ("states shown", self.states_shown.to_string()),
            ("starved", format!("{:.2} % of the time", self.starved_ratio * 100.0)),
            (
                "shown error of what moves, median / 99 % / largest",
                summary(&self.shown_error_mm, "mm"),
            ),
            ("and of its rotation", summary(&self.shown_error_deg, "°")),
            ("lanes that differ from what was sent", self.wrong_lanes.to_string()),
        ];
        let input = self.input.iter().flat_map(InputReport::rows);
        let faults = self.faults.iter().flat_map(|faults| {
            let of = |ms: &Summary| summary(ms, "ms");
            [
                (
                    "faults injected / found by a check",
                    format!("{} / {}", faults.injected, faults.noticed),
                ),
                ("healed / of these within three round trips of the check", {
                    format!("{} / {}", faults.healed, faults.healed_within_three_round_trips)
                }),
                (
                    "from the failed check to the state anew, median / 99 % / largest",
                    of(&faults.heal_ms),
                ),
                ("from the fault to the state anew", of(&faults.fault_to_heal_ms)),
                ("lanes that differ between a fault and its end", faults.wrong_lanes.to_string()),
            ]
        });
        let (before, last) = rows.split_at(rows.len() - 1);
        write_rows(
            out,
            before.iter().cloned().chain(input).chain(faults).chain(last.iter().cloned()),
        )
    }
}

impl InputReport {
    fn rows(&self) -> [(&'static str, String); 3] {
        let Self { bits_per_packet: bits, .. } = self;
        [
            ("input: bits a packet / a full one", format!("{:.1} / {:.0}", bits.mean, bits.full)),
            ("with IP and UDP headers", format!("{:.1} kbit/s", self.kbps_with_headers)),
            ("keys sent / recovered by repeats / lost / wrong", {
                format!("{} / {} / {} / {}", self.records, self.recovered, self.lost, self.wrong)
            }),
        ]
    }
}
