//! `kinepack measure --input-stream`: the moves of players' characters as input streams over bad links,
//! under virtual time.
//!
//! Each client plays the script of its own seed and sends a packet each tick. The server returns an
//! acknowledgement each tick. The received lanes are compared with the sent ones. All clients are
//! coded one after another, as on a server. So the clock is read only twice a tick, and the caches
//! hold the memory of many streams.

mod speed;
mod world;

use std::io::{self, Write};

use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};
use indicatif::ProgressBar;
use kinepack::stream::StreamLevel;
use serde::Serialize;
use world::World;

use crate::session_error::SessionError;

/// The losses to measure at each level.
const LOSS_RATIOS: [f32; 3] = [0.0, 0.05, 0.2];

/// The size of a measurement.
#[derive(Clone, Copy, Debug)]
pub struct StreamRun {
    pub clients: u32,
    pub ticks: u32,
    pub seed: u64,
    pub repeats: u8,
}

/// How packets are coded: each in full, or against an acknowledged packet at a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    Full,
    Level(StreamLevel),
}

impl Row {
    pub const ALL: [Self; 3] =
        [Self::Full, Self::Level(StreamLevel::Packed), Self::Level(StreamLevel::Adaptive)];

    pub fn name(self) -> &'static str {
        match self {
            Self::Level(StreamLevel::Packed) => "packed",
            Self::Level(_) => "adaptive",
            Self::Full => "full",
        }
    }

    fn level(self) -> StreamLevel {
        match self {
            Self::Full => StreamLevel::Packed,
            Self::Level(level) => level,
        }
    }
}

/// The results at a level and a loss.
#[derive(Serialize)]
pub struct Measured {
    level: &'static str,
    loss_ratio: f32,
    packets: u64,
    bits_per_packet: Bits,
    kbps_with_headers: f64,
    /// Moves that arrived, in their own packets or as repeats.
    restored: u64,
    /// Lanes that arrived changed.
    wrong_values: u64,
    /// Packets sent in full because there was no base.
    full_packets: u64,
    /// Packets lost because the receiver lacked their base.
    lost_bases: u64,
    /// The codec alone, for one client: a record's lanes to bytes and back.
    encode_ns: f64,
    decode_ns: f64,
    /// The whole protocol, for all clients in turn: lanes to a datagram and back.
    send_ns: f64,
    receive_ns: f64,
    /// Memory of an end of the stream for one client.
    sender_bytes: usize,
    receiver_bytes: usize,
}

/// Bits of a packet: `full` is the record alone, the others are whole packets with their headers.
#[derive(Serialize)]
struct Bits {
    full: u32,
    mean: f64,
    p95: u32,
}

/// Measures each row at each loss.
pub fn measure(
    run: StreamRun,
    rows: &[Row],
    progress: &ProgressBar,
) -> Result<Vec<Measured>, SessionError> {
    progress.set_length(rows.len() as u64 * LOSS_RATIOS.len() as u64 * u64::from(run.ticks));
    let each = rows.iter().flat_map(|row| LOSS_RATIOS.map(|loss_ratio| (*row, loss_ratio)));
    each.map(|(row, loss_ratio)| World::new(run, row, loss_ratio)?.run(progress)).collect()
}

/// Writes the results as a table for people.
pub fn write_table(run: StreamRun, measured: &[Measured], out: &mut impl Write) -> io::Result<()> {
    let StreamRun { clients, ticks, seed, repeats } = run;
    writeln!(
        out,
        "moves of {clients} characters from seed {seed}, {ticks} each at {} Hz, \
         {repeats} repeated in each packet; round trip 100 ms, decoded and compared",
        cubes::TICK_HZ
    )?;
    let mut table = Table::new();
    table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')));
    table.set_header([
        "\nlevel",
        "loss\n%",
        "bits a packet\nmean",
        "\np95",
        "kbit/s\n+headers",
        "moves\n% restored",
        "values\nwrong",
        "packets\n% in full",
        "codec, ns\nencode",
        "\ndecode",
        "protocol, ns\nsend",
        "\nreceive",
        "bytes a client\nsender",
        "\nreceiver",
    ]);
    for row in measured {
        let packets = row.packets.max(1) as f64;
        table.add_row([
            row.level.to_owned(),
            format!("{:.0}", row.loss_ratio * 100.0),
            format!("{:.1}", row.bits_per_packet.mean),
            row.bits_per_packet.p95.to_string(),
            format!("{:.1}", row.kbps_with_headers),
            format!("{:.2}", row.restored as f64 / packets * 100.0),
            row.wrong_values.to_string(),
            format!("{:.2}", row.full_packets as f64 / packets * 100.0),
            format!("{:.0}", row.encode_ns),
            format!("{:.0}", row.decode_ns),
            format!("{:.0}", row.send_ns),
            format!("{:.0}", row.receive_ns),
            row.sender_bytes.to_string(),
            row.receiver_bytes.to_string(),
        ]);
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 1));
        if index > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let full = measured.first().map_or(0, |row| row.bits_per_packet.full);
    writeln!(
        out,
        "{}\na move in full has {full} bits; packets are counted with their headers, \
         {} bits against a base",
        table.trim_fmt(),
        8 * 4
    )
}
