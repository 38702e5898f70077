//! `kinepack measure --stream`: the moves of players' characters as input streams over bad links, under virtual time.
//!
//! Every client plays another seed's script and sends a packet each tick; the server answers each tick with an acknowledgement. What comes out is compared
//! lane for lane with what went in. All clients are coded one after another, as a server has them, so that the clock is read twice a
//! tick and the memory of many streams is what the caches see.

use std::io::{self, Write};
use std::ops::Range;
use std::time::{Duration, Instant};

use character::{Move, Script};
use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};
use indicatif::ProgressBar;
use kinepack::stream::{StreamCodec, StreamLevel};
use kinepack::{EncodeError, Pack, Schema};
use kinepack_net::{Link, LinkConfig, Loss, StreamConfig, StreamReceiver, StreamSender};
use serde::Serialize;

use crate::failure::Failure;
use crate::sender::due;

/// What is measured at each level.
const LOSS_RATIOS: [f32; 3] = [0.0, 0.05, 0.2];
/// Of a round trip of 100 ms, and what it varies by.
const LATENCY: Duration = Duration::from_millis(50);
const JITTER: Duration = Duration::from_millis(5);
/// Time for the last packets to arrive.
const AFTER_TICKS: u32 = cubes::TICK_HZ;
/// More than a packet is ever on its way; a power of two, since numbers wrap.
const TOLD_TICKS: usize = 64;

/// What is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamRun {
    pub(crate) clients: u32,
    pub(crate) ticks: u32,
    pub(crate) seed: u64,
    pub(crate) repeats: u8,
}

/// How packets are coded: against what was acknowledged, or each in full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Row {
    Full,
    Level(StreamLevel),
}

impl Row {
    pub(crate) const ALL: [Self; 3] =
        [Self::Full, Self::Level(StreamLevel::Packed), Self::Level(StreamLevel::Adaptive)];

    pub(crate) fn name(self) -> &'static str {
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

/// What came out at a level and a loss.
#[derive(Serialize)]
pub(crate) struct Measured {
    level: &'static str,
    loss_ratio: f32,
    packets: u64,
    bits_per_packet: Bits,
    kbps_with_headers: f64,
    /// Moves that arrived, in packets or in repeats.
    restored: u64,
    /// Lanes that are not what they were.
    wrong_values: u64,
    /// Sent in full, for want of a base.
    full_packets: u64,
    /// Lost for want of a base.
    lost_bases: u64,
    /// A record's lanes to a datagram, and a datagram to lanes: all that the protocol does.
    encode_ns: f64,
    decode_ns: f64,
    /// What an end of the stream holds for a client.
    sender_bytes: usize,
    receiver_bytes: usize,
}

/// Bits of a packet: `full` of the record alone, the others of the whole packet with its header.
#[derive(Serialize)]
struct Bits {
    full: u32,
    mean: f64,
    p95: u32,
}

/// Measures each row at each loss.
pub(crate) fn measure(run: StreamRun, rows: &[Row], progress: &ProgressBar) -> Result<Vec<Measured>, Failure> {
    progress.set_length(rows.len() as u64 * LOSS_RATIOS.len() as u64 * u64::from(run.ticks));
    let each = rows.iter().flat_map(|row| LOSS_RATIOS.map(|loss_ratio| (*row, loss_ratio)));
    each.map(|(row, loss_ratio)| World::new(run, row, loss_ratio)?.run(progress)).collect()
}

/// All clients, their links, and the server's ends.
struct World {
    ticks: u32,
    row: Row,
    loss_ratio: f32,
    clients: Vec<Client>,
    bits: Vec<u32>,
    restored: u64,
    wrong_values: u64,
    encoding: Duration,
    decoding: Duration,
    handled: u64,
}

struct Client {
    script: Script,
    /// The lanes of the last moves, each at the place of its tick.
    told: Vec<u32>,
    sender: StreamSender,
    receiver: StreamReceiver,
    up: Link,
    down: Link,
    out: Vec<u8>,
    arrived: Option<Vec<u8>>,
}

impl World {
    fn new(run: StreamRun, row: Row, loss_ratio: f32) -> Result<Self, Failure> {
        let codec = StreamCodec::of::<Move>(row.level()).expect("a move has lanes");
        let config = StreamConfig { rate_hz: cubes::TICK_HZ, repeats: run.repeats, ..StreamConfig::default() };
        let link = LinkConfig {
            latency: LATENCY,
            jitter: JITTER,
            loss: Loss::Independent { ratio: loss_ratio },
            ..LinkConfig::PERFECT
        };
        let client = |number: u64| {
            Ok(Client {
                script: Script::new(run.seed + number),
                told: vec![0; TOLD_TICKS * Move::LANES],
                sender: StreamSender::new(&codec, config)?,
                receiver: StreamReceiver::new(&codec, config)?,
                up: Link::new(link, 2 * (run.seed + number))?,
                down: Link::new(link, 2 * (run.seed + number) + 1)?,
                out: Vec::new(),
                arrived: None,
            })
        };
        Ok(Self {
            ticks: run.ticks,
            row,
            loss_ratio,
            clients: (0..u64::from(run.clients)).map(client).collect::<Result<_, Failure>>()?,
            bits: Vec::new(),
            restored: 0,
            wrong_values: 0,
            encoding: Duration::ZERO,
            decoding: Duration::ZERO,
            handled: 0,
        })
    }

    fn run(mut self, progress: &ProgressBar) -> Result<Measured, Failure> {
        for tick in 0..self.ticks + AFTER_TICKS {
            let now = due(tick);
            if tick < self.ticks {
                self.send(now, tick)?;
                progress.inc(1);
            }
            self.receive(now);
            self.acknowledge(now);
        }
        Ok(self.measured())
    }

    /// A packet of every client.
    fn send(&mut self, now: Duration, tick: u32) -> Result<(), Failure> {
        let place = place_of(tick as u16);
        for (object, client) in (0..).zip(&mut self.clients) {
            let beyond = |error: EncodeError| Failure::OutOfRange { object, reason: error.to_string() };
            client.script.step().quantize(&mut client.told[place.clone()]).map_err(beyond)?;
        }
        let begin = Instant::now();
        for client in &mut self.clients {
            client.sender.push_lanes(&client.told[place.clone()]).expect("lanes of a move");
            client.out.clear();
            client.out.extend_from_slice(client.sender.poll_transmit().unwrap_or_default());
        }
        self.encoding += begin.elapsed();
        for client in &mut self.clients {
            self.bits.push(8 * client.out.len() as u32);
            client.up.send(now, &client.out);
        }
        Ok(())
    }

    /// What has arrived: the next packet of every client, until there is none.
    fn receive(&mut self, now: Duration) {
        loop {
            let mut count = 0;
            for client in &mut self.clients {
                client.arrived = client.up.poll(now);
                count += u64::from(client.arrived.is_some());
            }
            if count == 0 {
                return;
            }
            self.handled += count;
            let begin = Instant::now();
            for client in &mut self.clients {
                if let Some(datagram) = &client.arrived {
                    // What is refused is counted, and not restored.
                    let _ = client.receiver.handle(now, datagram);
                }
            }
            self.decoding += begin.elapsed();
            for client in self.clients.iter().filter(|client| client.arrived.is_some()) {
                for record in client.receiver.fresh() {
                    let told = &client.told[place_of(record.number.0)];
                    self.restored += 1;
                    self.wrong_values +=
                        record.lanes.iter().zip(told).filter(|(lane, told)| lane != told).count() as u64;
                }
            }
        }
    }

    fn acknowledge(&mut self, now: Duration) {
        for client in &mut self.clients {
            if let Some(acknowledgement) = client.receiver.acknowledgement() {
                client.down.send(now, &acknowledgement.to_bytes());
            }
            while let Some(datagram) = client.down.poll(now) {
                if self.row != Row::Full {
                    let _ = client.sender.handle(&datagram);
                }
            }
        }
    }

    fn measured(mut self) -> Measured {
        self.bits.sort_unstable();
        let packets = self.bits.len();
        let mean = self.bits.iter().map(|bits| f64::from(*bits)).sum::<f64>() / packets.max(1) as f64;
        let sum = |count: fn(&Client) -> u64| self.clients.iter().map(count).sum();
        Measured {
            level: self.row.name(),
            loss_ratio: self.loss_ratio,
            packets: packets as u64,
            bits_per_packet: Bits {
                full: Schema::of::<Move>().bits_per_entity(),
                mean,
                p95: self.bits[(packets * 95).div_ceil(100).max(1) - 1],
            },
            kbps_with_headers: (mean + 8.0 * f64::from(kinepack_net::HEADER_BYTES)) * f64::from(cubes::TICK_HZ) / 1e3,
            restored: self.restored,
            wrong_values: self.wrong_values,
            full_packets: sum(|client| client.sender.stats().full),
            lost_bases: sum(|client| client.receiver.stats().lost_bases),
            encode_ns: self.encoding.as_nanos() as f64 / packets.max(1) as f64,
            decode_ns: self.decoding.as_nanos() as f64 / self.handled.max(1) as f64,
            sender_bytes: self.clients[0].sender.memory_bytes(),
            receiver_bytes: self.clients[0].receiver.memory_bytes(),
        }
    }
}

/// Where the lanes of a record stand. Numbers are ticks, from 0.
fn place_of(number: u16) -> Range<usize> {
    let first = usize::from(number) % TOLD_TICKS * Move::LANES;
    first..first + Move::LANES
}

/// A table for people.
pub(crate) fn write_table(run: StreamRun, measured: &[Measured], out: &mut impl Write) -> io::Result<()> {
    let StreamRun { clients, ticks, seed, repeats } = run;
    writeln!(
        out,
        "moves of {clients} characters from seed {seed}, {ticks} each at {} Hz, {repeats} repeated in each packet; round trip 100 ms, decoded and compared",
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
        "encode\nns",
        "decode\nns",
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
        "{}\na move in full has {full} bits; packets are counted with their headers, {} bits against a base",
        table.trim_fmt(),
        8 * 4
    )
}
