//! Simulates many clients and one server in virtual time.

use std::ops::Range;
use std::time::{Duration, Instant};

use character::{Move, Script};
use command_kit::both_ways;
use command_kit::interrupt::Interrupt;
use indicatif::ProgressBar;
use kinepack::stream::StreamCodec;
use kinepack::{EncodeError, Pack, Schema};
use kinepack_net::{Link, LinkConfig, Loss, Sequence, StreamConfig, StreamReceiver, StreamSender};

use super::{Bits, Measured, Row, StreamRun, speed};
use crate::sender::due;
use crate::session_error::SessionError;

/// The latency of one direction, which is half of a round trip of 100 ms. The next constant is the
/// jitter of one direction.
const LATENCY: Duration = Duration::from_millis(50);
const JITTER: Duration = Duration::from_millis(5);
/// The number of extra ticks in which the last packets arrive.
const AFTER_TICKS: u32 = cubes::TICK_HZ;
/// The number of ticks in the ring. The ring is longer than the flight of any packet. Its length is
/// a power of two, because record numbers wrap.
const RING_TICKS: usize = 64;

/// All clients, their links, and the server's ends.
pub(super) struct World {
    codec: StreamCodec,
    run: StreamRun,
    row: Row,
    loss_ratio: f32,
    clients: Vec<Client>,
    bits: Vec<u32>,
    /// The distance from each of the first client's packets to its base.
    backs: Vec<Option<u16>>,
    restored: u64,
    wrong_values: u64,
    sending: Duration,
    receiving: Duration,
    handled: u64,
}

struct Client {
    script: Script,
    /// The lanes of the most recent moves, in a ring by tick.
    pushed: Vec<u32>,
    sender: StreamSender,
    receiver: StreamReceiver,
    up: Link,
    down: Link,
    out: Vec<u8>,
    arrived: Option<Vec<u8>>,
    /// The numbers of the new records in `arrived`.
    taken: Vec<Sequence>,
}

impl World {
    pub(super) fn new(run: StreamRun, row: Row, loss_ratio: f32) -> Result<Self, SessionError> {
        let codec = StreamCodec::of::<Move>(row.level()).expect("a move has lanes");
        let config = StreamConfig { repeats: run.repeats, ..StreamConfig::at_hz(cubes::TICK_HZ) };
        let link = LinkConfig {
            latency: LATENCY,
            jitter: JITTER,
            loss: Loss::Independent { ratio: loss_ratio },
            ..LinkConfig::PERFECT
        };
        let client = |number: u64| {
            let seed = run.seed.wrapping_add(number);
            let [up, down] = both_ways(link, seed)?;
            Ok(Client {
                script: Script::new(seed),
                pushed: vec![0; RING_TICKS * Move::LANES],
                sender: StreamSender::new(&codec, config)?,
                receiver: StreamReceiver::new(&codec, config)?,
                up,
                down,
                out: Vec::new(),
                arrived: None,
                taken: Vec::new(),
            })
        };
        let clients =
            (0..u64::from(run.clients)).map(client).collect::<Result<_, SessionError>>()?;
        Ok(Self {
            codec,
            run,
            row,
            loss_ratio,
            clients,
            bits: Vec::with_capacity(run.clients as usize * run.ticks as usize),
            backs: Vec::new(),
            restored: 0,
            wrong_values: 0,
            sending: Duration::ZERO,
            receiving: Duration::ZERO,
            handled: 0,
        })
    }

    /// Runs all ticks, or only those before a signal. Returns `None` if no tick ran.
    pub(super) fn run(
        mut self,
        progress: &ProgressBar,
        interrupt: &Interrupt,
    ) -> Result<Option<Measured>, SessionError> {
        let mut tick = 0;
        while tick < self.run.ticks && !interrupt.is_raised() {
            self.send(due(tick), tick)?;
            self.exchange(due(tick));
            progress.inc(1);
            tick += 1;
        }
        for after in tick..tick + AFTER_TICKS {
            self.exchange(due(after));
        }
        Ok((tick > 0).then(|| self.measured()))
    }

    fn exchange(&mut self, now: Duration) {
        self.receive(now);
        self.acknowledge(now);
    }

    /// Sends a packet from every client.
    fn send(&mut self, now: Duration, tick: u32) -> Result<(), SessionError> {
        let place = place_of(tick as u16);
        for (object, client) in (0..).zip(&mut self.clients) {
            let out_of_range =
                |error: EncodeError| SessionError::OutOfRange { object, reason: error.to_string() };
            client
                .script
                .step()
                .quantize(&mut client.pushed[place.clone()])
                .map_err(out_of_range)?;
        }
        let begin = Instant::now();
        for client in &mut self.clients {
            client.sender.push_lanes(&client.pushed[place.clone()]).expect("lanes of a move");
            client.out.clear();
            client.out.extend_from_slice(client.sender.poll_transmit().unwrap_or_default());
        }
        self.sending += begin.elapsed();
        let first = &self.clients[0].sender;
        let back = |base| first.newest().map(|newest| newest.since(base) as u16);
        self.backs.push(first.acknowledged().and_then(back));
        for client in &mut self.clients {
            self.bits.push(8 * client.out.len() as u32);
            client.up.send(now, &client.out);
        }
        Ok(())
    }

    /// Takes the packets that have arrived. It takes one packet of each client in turn, until there
    /// are none.
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
                client.taken.clear();
                let Some(datagram) = &client.arrived else { continue };
                // The receiver counts refused packets.
                if let Ok(handled) = client.receiver.handle(now, datagram) {
                    client.taken.extend(handled.records().map(|record| record.number));
                }
            }
            self.receiving += begin.elapsed();
            for client in &self.clients {
                for number in &client.taken {
                    let pushed = &client.pushed[place_of(number.0)];
                    let lanes = client.receiver.record(*number).expect("just taken");
                    self.restored += 1;
                    self.wrong_values +=
                        lanes.iter().zip(pushed).filter(|(lane, pushed)| lane != pushed).count()
                            as u64;
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
        let mean =
            self.bits.iter().map(|bits| f64::from(*bits)).sum::<f64>() / packets.max(1) as f64;
        let speed = speed::measure(&self.codec, self.run.seed, &self.backs);
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
            kbps_with_headers: (mean + 8.0 * f64::from(kinepack_net::HEADER_BYTES))
                * f64::from(cubes::TICK_HZ)
                / 1e3,
            restored: self.restored,
            wrong_values: self.wrong_values,
            full_packets: sum(|client| client.sender.stats().full),
            lost_bases: sum(|client| client.receiver.stats().lost_bases),
            encode_ns: speed.encode_ns,
            decode_ns: speed.decode_ns,
            send_ns: self.sending.as_nanos() as f64 / packets.max(1) as f64,
            receive_ns: self.receiving.as_nanos() as f64 / self.handled.max(1) as f64,
            sender_bytes: self.clients[0].sender.memory_bytes(),
            receiver_bytes: self.clients[0].receiver.memory_bytes(),
        }
    }
}

/// Returns the range of a record's lanes in the ring. Record numbers are ticks, counted from 0.
fn place_of(number: u16) -> Range<usize> {
    let first = usize::from(number) % RING_TICKS * Move::LANES;
    first..first + Move::LANES
}
