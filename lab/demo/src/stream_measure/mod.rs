//! `kinepack-lab inputs`: sends the moves of players' characters as input streams over bad links,
//! in virtual time.
//!
//! Each client plays a script with its own seed, and sends a packet each tick. The server returns
//! an acknowledgement each tick. Every received lane must equal the sent one. All clients are coded
//! one after another, as on a server. The clock is therefore read only twice per tick, and many
//! streams compete for the caches.

mod command;
mod speed;
mod world;

use std::io::{self, Write};

pub use command::{Arguments, InputsError, run};
use command_kit::interrupt::Interrupt;
use command_kit::table::{table, write_text};
use indicatif::ProgressBar;
use kinepack::stream::StreamLevel;
use serde::Serialize;
use world::World;

use crate::session_error::SessionError;

/// The loss ratios of the links with which each level is measured.
const LOSS_RATIOS: [f32; 3] = [0.0, 0.05, 0.2];

/// The maximum number of moves of all clients together at a level and a loss, for example 60
/// clients that play for 15 hours. Their sizes take 4 bytes each.
const MAX_MOVES: u64 = 200_000_000;

/// The size of a measurement.
#[derive(Clone, Copy, Debug)]
struct StreamRun {
    clients: u32,
    ticks: u32,
    seed: u64,
    repeats: u8,
}

impl StreamRun {
    /// Refuses a measurement that would take too much memory.
    fn check(&self) -> Result<(), InputsError> {
        let Self { clients, ticks, .. } = *self;
        let moves = u64::from(clients) * u64::from(ticks);
        if moves > MAX_MOVES {
            let seconds = ticks / cubes::TICK_HZ;
            return Err(InputsError::TooManyMoves { clients, seconds, moves });
        }
        Ok(())
    }

    /// Returns the total ticks of all measurements.
    fn all_ticks(&self, rows: &[Row]) -> u64 {
        rows.len() as u64 * LOSS_RATIOS.len() as u64 * u64::from(self.ticks)
    }
}

/// The way in which packets are coded: each in full, or against an acknowledged packet at a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Row {
    Full,
    Level(StreamLevel),
}

impl Row {
    const ALL: [Self; 3] =
        [Self::Full, Self::Level(StreamLevel::Packed), Self::Level(StreamLevel::Adaptive)];

    fn name(self) -> &'static str {
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
struct Measured {
    level: &'static str,
    loss_ratio: f32,
    packets: u64,
    bits_per_packet: Bits,
    kbps_with_headers: f64,
    /// The number of moves that arrived, in their own packets or as repeats.
    restored: u64,
    /// The number of lanes that arrived changed.
    wrong_values: u64,
    /// The number of packets that were sent in full because there was no base.
    full_packets: u64,
    /// The number of packets that were lost because the receiver lacked their base.
    lost_bases: u64,
    /// The time of the codec alone, for one client. Encoding turns a record's lanes into bytes, and
    /// decoding does the reverse.
    encode_ns: f64,
    decode_ns: f64,
    /// The time of the whole protocol, for all clients in turn. Sending turns lanes into a
    /// datagram, and receiving does the reverse.
    send_ns: f64,
    receive_ns: f64,
    /// The memory of the sending end for one client, in bytes. The next field is that of the
    /// receiving end.
    sender_bytes: usize,
    receiver_bytes: usize,
}

/// The bits of a packet. `full` is the record alone, and the other fields are whole packets with
/// their headers.
#[derive(Serialize)]
struct Bits {
    full: u32,
    mean: f64,
    p95: u32,
}

impl Measured {
    /// Returns the number of moves that were measured.
    fn packets(&self) -> u64 {
        self.packets
    }

    fn cells(&self) -> [String; 14] {
        let packets = self.packets.max(1) as f64;
        [
            self.level.to_owned(),
            format!("{:.0}", self.loss_ratio * 100.0),
            format!("{:.1}", self.bits_per_packet.mean),
            self.bits_per_packet.p95.to_string(),
            format!("{:.1}", self.kbps_with_headers),
            format!("{:.2}", self.restored as f64 / packets * 100.0),
            self.wrong_values.to_string(),
            format!("{:.2}", self.full_packets as f64 / packets * 100.0),
            format!("{:.0}", self.encode_ns),
            format!("{:.0}", self.decode_ns),
            format!("{:.0}", self.send_ns),
            format!("{:.0}", self.receive_ns),
            self.sender_bytes.to_string(),
            self.receiver_bytes.to_string(),
        ]
    }
}

/// Measures each row at each loss. After a signal, the last row has only the moves before the
/// signal, and no further rows are measured.
fn measure(
    run: StreamRun,
    rows: &[Row],
    progress: &ProgressBar,
    interrupt: &Interrupt,
) -> Result<Vec<Measured>, SessionError> {
    progress.set_length(run.all_ticks(rows));
    let mut measured = Vec::new();
    for (row, loss_ratio) in
        rows.iter().flat_map(|row| LOSS_RATIOS.map(|loss_ratio| (*row, loss_ratio)))
    {
        measured.extend(World::new(run, row, loss_ratio)?.run(progress, interrupt)?);
        if interrupt.is_raised() {
            break;
        }
    }
    Ok(measured)
}

/// Writes the results as a table, for display in a terminal.
fn write_table(run: StreamRun, measured: &[Measured], out: &mut impl Write) -> io::Result<()> {
    let StreamRun { clients, ticks, seed, repeats } = run;
    let title = format!(
        "moves of {clients} characters from seed {seed}, {ticks} each at {} Hz, {repeats} repeated \
         in each packet; round trip 100 ms, decoded and compared",
        cubes::TICK_HZ
    );
    write_text(out, "", &title)?;
    let header = [
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
    ];
    writeln!(out, "{}", table(header, 2, measured.iter().map(Measured::cells)).trim_fmt())?;
    let full = measured.first().map_or(0, |row| row.bits_per_packet.full);
    let counts = format!(
        "a move in full has {full} bits; packets are counted with their headers, {} bits against a \
         base",
        8 * 4
    );
    write_text(out, "", &counts)
}
