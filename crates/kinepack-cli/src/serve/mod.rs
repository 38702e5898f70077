//! `kinepack serve`: the built-in world in real time, over UDP, for everybody who knows the secret.
//!
//! One thread ticks 60 times a second: step of the world, snapshots for all receivers, sending. Between ticks it takes what has arrived,
//! about once a millisecond, so that acknowledgements tell the round trip. Another thread reads the socket and drops junk, see [`udp`](crate::udp).

mod guests;
mod report;
mod timing;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use clap::Args;
use guests::Guests;
use indicatif::{ProgressBar, ProgressStyle};
use kinepack_net::{Handled, HubConfig, ReceiverId, Refused};
use report::ServeReport;
use timing::{Span, Spans, Watch};

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::report::print;
use crate::sender::{SendOptions, Sender, due};
use crate::udp::{
    MAX_OVERHEAD_BYTES, PROTOCOL_ID, SecretArguments, ServerEvent, ServerOptions, UdpServer, UdpStats, header_bytes,
};
use crate::world::WorldArguments;

/// The largest payload of UDP: passes every path of the Internet in one piece (RFC 9000, section 14).
const UDP_PAYLOAD_BYTES: usize = 1_200;
/// How long to sleep between two looks at what has arrived.
const NAP: Duration = Duration::from_millis(1);
/// A machine that is further behind stops the world for a moment, rather than hurry after.
const HURRY: Duration = Duration::from_millis(250);

/// Simulate a physics world in real time and send it to everybody who joins.
#[derive(Args)]
#[command(mut_arg("seconds", |argument| argument
    .help("Seconds to run [default: until Ctrl-C]")
    .value_parser(clap::value_parser!(u32).range(1..))))]
#[command(mut_arg("level", |argument| argument
    .help("How snapshots are coded: packed takes the least work, adaptive the fewest bits. Of several, separated by commas, each joiner takes one")
    .value_delimiter(',')))]
pub(crate) struct Arguments {
    /// Address and port to receive at; port 0 takes any that is free. 0.0.0.0 is every address of this machine.
    #[arg(long, default_value = "127.0.0.1:40000", value_name = "ADDRESS")]
    listen: SocketAddr,
    #[command(flatten, next_help_heading = "Connections")]
    secret: SecretArguments,
    /// How many may join.
    #[arg(long, default_value_t = 64, help_heading = "Connections", value_name = "COUNT")]
    max_clients: usize,
    /// Seconds of silence after which a receiver is gone.
    #[arg(long, default_value_t = 5, help_heading = "Connections", value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3_600))]
    time_out: u64,
    #[command(flatten, next_help_heading = "Built-in world")]
    world: WorldArguments,
    #[command(flatten, next_help_heading = "Sending")]
    send: SendOptions,
    /// Print the summary as one JSON document.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let secret = arguments.secret.resolve()?;
    let mut options = ServerOptions::new(PROTOCOL_ID);
    options.max_clients = arguments.max_clients;
    options.timeout = Duration::from_secs(arguments.time_out);
    let interrupt = Interrupt::listen()?;
    let overhead_bytes = MAX_OVERHEAD_BYTES + header_bytes(arguments.listen);
    let datagram_bytes = UDP_PAYLOAD_BYTES - MAX_OVERHEAD_BYTES;
    let config = HubConfig { datagram_bytes, overhead_bytes, ..HubConfig::default() };
    let sender = Sender::new(arguments.world.play()?, &arguments.send, config)?;
    let server = UdpServer::bind(arguments.listen, &secret, options)?;
    let mut serving = Serving::new(server, sender, arguments.send.clone(), options.timeout);
    serving.say(&format!("listening on {}", serving.server.local_addr()));
    serving.run(&interrupt, arguments.world.seconds)?;
    let report = serving.report(arguments);
    serving.status.finish_and_clear();
    serving.server.close();
    print(|out| if arguments.json { report.write_json(out) } else { report.write_table(out) })
}

/// The world, its connections, and what is to be said about them.
struct Serving {
    server: UdpServer,
    sender: Sender,
    options: SendOptions,
    timeout: Duration,
    guests: Guests,
    events: Vec<ServerEvent>,
    begin: Instant,
    /// How long the world was stopped.
    skipped: Duration,
    /// Work since the last tick.
    work: Span,
    ticks: Spans,
    encodings: Spans,
    encoded: u64,
    wrong_datagrams: u64,
    /// Sum of the time that each receiver was there.
    receiver_time: Duration,
    /// Only seen on a terminal.
    status: ProgressBar,
    second: Second,
}

/// The second at hand, for the status line.
#[derive(Default)]
struct Second {
    spans: Spans,
    ticks: u32,
    encoded: u64,
    bytes_before: u64,
}

impl Serving {
    fn new(server: UdpServer, sender: Sender, options: SendOptions, timeout: Duration) -> Self {
        let style = ProgressStyle::with_template("{wide_msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
        Self {
            server,
            sender,
            options,
            timeout,
            guests: Guests::default(),
            events: Vec::new(),
            begin: Instant::now(),
            skipped: Duration::ZERO,
            work: Span::default(),
            ticks: Spans::default(),
            encodings: Spans::default(),
            encoded: 0,
            wrong_datagrams: 0,
            receiver_time: Duration::ZERO,
            status: ProgressBar::new(1).with_style(style),
            second: Second::default(),
        }
    }

    fn run(&mut self, interrupt: &Interrupt, seconds: Option<u32>) -> Result<(), Failure> {
        let end = seconds.map(|seconds| Duration::from_secs(u64::from(seconds)));
        while !interrupt.is_raised() && end.is_none_or(|end| self.begin.elapsed() < end) {
            let watch = Watch::start();
            self.poll()?;
            self.work.add(watch.elapsed());
            let (due, now) = (due(self.sender.tick() + 1) + self.skipped, self.begin.elapsed());
            if now < due {
                std::thread::sleep(NAP.min(due - now));
                continue;
            }
            if now > due + HURRY {
                self.skipped += now - due;
            }
            self.tick()?;
        }
        Ok(())
    }

    /// Takes what has arrived.
    fn poll(&mut self) -> Result<(), Failure> {
        let now = self.begin.elapsed();
        let mut events = std::mem::take(&mut self.events);
        self.server.poll(&mut events);
        for event in events.drain(..) {
            let said = match event {
                ServerEvent::Connected { client, address } => {
                    self.guests.connect(client, address);
                    self.sender.add(ReceiverId(client), &self.options, now)?;
                    None
                }
                ServerEvent::Datagram { client, payload } => {
                    let datagram = self.server.payload(&payload);
                    match self.sender.hub.handle(ReceiverId(client), now, datagram) {
                        Ok(Handled::Joined) => {
                            let status = self.sender.hub.status(ReceiverId(client));
                            status.and_then(|status| status.level).and_then(|level| self.guests.join(client, level))
                        }
                        Ok(_) => None,
                        Err(Refused::Mismatch(mismatch)) => self.guests.refuse(client, &mismatch, now),
                        Err(_) => {
                            self.wrong_datagrams += 1;
                            None
                        }
                    }
                }
                ServerEvent::Disconnected { client, reason } => {
                    self.sender.hub.remove(ReceiverId(client));
                    self.guests.leave(client, reason, self.timeout)
                }
            };
            if let Some(said) = said {
                self.say(&said);
            }
        }
        self.events = events;
        self.transmit();
        while let Some(client) = self.guests.pop_farewell(now) {
            self.sender.hub.remove(ReceiverId(client));
            self.server.disconnect(client);
        }
        Ok(())
    }

    /// The world's next step, to all receivers.
    fn tick(&mut self) -> Result<(), Failure> {
        let watch = Watch::start();
        let is_sent = self.sender.step()?;
        let receivers = self.guests.counts.receivers;
        if is_sent {
            let encoding = Watch::start();
            self.sender.send(self.begin.elapsed())?;
            if receivers > 0 {
                self.encodings.add(encoding.elapsed());
                let encoded = self.sender.hub.encoded() as u64;
                self.encoded += encoded;
                self.second.encoded += encoded;
            }
            self.transmit();
        }
        self.work.add(watch.elapsed());
        let work = std::mem::take(&mut self.work);
        if receivers > 0 {
            self.ticks.add(work);
        }
        self.receiver_time += due(1) * receivers as u32;
        self.second.spans.add(work);
        self.second.ticks += 1;
        if self.second.ticks == cubes::TICK_HZ {
            self.show_status();
        }
        Ok(())
    }

    fn transmit(&mut self) {
        while let Some((to, datagram)) = self.sender.hub.poll_transmit() {
            // One that is gone by now needs it no more.
            let _ = self.server.send(to.0, datagram);
        }
    }

    /// A line on standard error, above the status.
    fn say(&self, line: &str) {
        self.status.suspend(|| eprintln!("kinepack: {line}"));
    }

    fn show_status(&mut self) {
        let stats = self.server.stats();
        let bytes = self.bytes_out(&stats);
        let second = std::mem::take(&mut self.second);
        self.second.bytes_before = bytes;
        if self.status.is_hidden() {
            return;
        }
        let receivers = self.guests.counts.receivers;
        let kbps = (bytes - second.bytes_before) as f64 * 8.0 / 1000.0 / receivers.max(1) as f64;
        let tick_us = second.spans.wall_us();
        self.status.set_message(format!(
            "receivers: {receivers}; {kbps:.1} kbit/s each with headers; tick {:.0} µs, at most {:.0}; \
             {:.1} snapshots encoded a tick; {} datagrams of junk dropped",
            tick_us.mean,
            tick_us.max,
            second.encoded as f64 / f64::from(self.options.send_hz),
            stats.junk + stats.limited + stats.overflowed + stats.refused,
        ));
    }

    /// All that was sent, with the headers of IP and UDP.
    fn bytes_out(&self, stats: &UdpStats) -> u64 {
        stats.bytes_out + stats.datagrams_out * header_bytes(self.server.local_addr()) as u64
    }

    fn report(&self, arguments: &Arguments) -> ServeReport {
        let (stats, counts) = (self.server.stats(), self.guests.counts);
        let receiver_seconds = self.receiver_time.as_secs_f64().max(1e-3);
        ServeReport {
            world: arguments.world.name(),
            sending: arguments.send.name(),
            seconds: self.begin.elapsed().as_secs_f64(),
            ticks: self.sender.tick(),
            skipped_s: self.skipped.as_secs_f64(),
            tick_us: self.ticks.wall_us(),
            tick_cpu_us: self.ticks.cpu_us(),
            encode_us: self.encodings.wall_us(),
            encode_cpu_us: self.encodings.cpu_us(),
            encoded_per_tick: self.encoded as f64 / f64::from(self.encodings.count().max(1)),
            receivers_peak: counts.peak,
            joined: counts.joined,
            joined_at: self.guests.joined_at.clone(),
            left: counts.left,
            timed_out: counts.timed_out,
            refused: counts.refused,
            datagrams_in: stats.datagrams_in,
            bytes_in: stats.bytes_in,
            datagrams_out: stats.datagrams_out,
            bytes_out: stats.bytes_out,
            junk: stats.junk,
            limited: stats.limited,
            overflowed: stats.overflowed,
            silenced: stats.silenced,
            undeciphered: stats.refused,
            wrong_datagrams: self.wrong_datagrams,
            unsent: stats.unsent,
            kbps_per_receiver: self.bytes_out(&stats) as f64 * 8.0 / 1000.0 / receiver_seconds,
        }
    }
}
