//! The server's loop, which takes datagrams, ticks, sends, and prints notices.
//! [`run`](Serving::run) measures the time.

use std::net::SocketAddr;
use std::ops::Range;
use std::time::{Duration, Instant};

use command_kit::interrupt::Interrupt;
use kinepack_net::{
    Audience, DatagramKind, Handled, NetError, ReceiverId, Refused, datagram_kind, split_datagram,
};
use kinepack_udp::ServerEvent;

use super::Arguments;
use super::doors::{Door, Doors};
use super::guests::Guests;
use super::players::{KeyCounts, Players};
use super::report::{KeysReport, ServeReport};
use super::rings;
use super::timing::{Span, Spans, Watch};
use crate::broadcast::{Outgoing, Published, REST_FOLLOWS};
use crate::game_events::GameEvent;
use crate::lines::Lines;
use crate::recording::Recording;
use crate::sender::{SendOptions, Sender, due};
use crate::serve::ServeError;
use crate::session_error::SessionError;

/// The time for which the loop sleeps between two polls of the socket.
const NAP: Duration = Duration::from_millis(1);
/// If a server lags by more than this, it stops the world for a moment instead of catching up.
const MAX_LAG: Duration = Duration::from_millis(250);

/// The world, its connections, and statistics about them.
pub struct Serving {
    doors: Doors,
    sender: Sender,
    /// Publishes the world to spectators. The value is `None` if the user did not request it.
    pub outgoing: Option<Outgoing>,
    options: SendOptions,
    timeout: Duration,
    guests: Guests,
    players: Players,
    events: Vec<ServerEvent>,
    begin: Instant,
    /// The total time for which the world was paused.
    skipped: Duration,
    /// The work that was done since the last tick.
    work: Span,
    ticks: Spans,
    encodings: Spans,
    encoded: u64,
    wrong_datagrams: u64,
    /// Scratch memory for a snapshot with an acknowledgement in front.
    out: Vec<u8>,
    /// The sum of the times for which receivers were connected.
    receiver_time: Duration,
    status: Lines,
    second: Second,
}

/// The counts of the current second, for the status line.
#[derive(Default)]
struct Second {
    spans: Spans,
    ticks: u32,
    encoded: u64,
    bytes_before: u64,
    keys_before: KeyCounts,
}

impl Serving {
    pub fn new(
        doors: Doors,
        sender: Sender,
        options: SendOptions,
        timeout: Duration,
        max_players: usize,
    ) -> Self {
        Self {
            doors,
            sender,
            outgoing: None,
            options,
            timeout,
            guests: Guests::default(),
            players: Players::new(max_players),
            events: Vec::new(),
            begin: Instant::now(),
            skipped: Duration::ZERO,
            work: Span::default(),
            ticks: Spans::default(),
            encodings: Spans::default(),
            encoded: 0,
            wrong_datagrams: 0,
            out: Vec::new(),
            receiver_time: Duration::ZERO,
            status: Lines::new(3),
            second: Second::default(),
        }
    }

    pub fn run(&mut self, interrupt: &Interrupt, seconds: Option<u32>) -> Result<(), ServeError> {
        let end = seconds.map(|seconds| Duration::from_secs(u64::from(seconds)));
        while !interrupt.is_raised() && end.is_none_or(|end| self.begin.elapsed() < end) {
            let watch = Watch::start();
            self.poll(self.begin.elapsed())?;
            self.work.add(watch.elapsed());
            let (due, now) = (due(self.sender.tick() + 1) + self.skipped, self.begin.elapsed());
            if now < due {
                std::thread::sleep(NAP.min(due - now));
                continue;
            }
            if now > due + MAX_LAG {
                self.skipped += now - due;
            }
            self.tick(now)?;
        }
        Ok(())
    }

    /// Takes the datagrams and events that have arrived.
    pub fn poll(&mut self, now: Duration) -> Result<(), ServeError> {
        let mut events = std::mem::take(&mut self.events);
        for door in Door::ALL {
            self.doors.poll(door, &mut events);
            self.handle(now, door, &mut events)?;
        }
        self.events = events;
        self.transmit(now);
        while let Some(client) = self.guests.pop_farewell(now) {
            self.sender.hub.remove(ReceiverId(client));
            self.players.remove(client, &mut self.sender.world);
            self.doors.disconnect(client);
        }
        Ok(())
    }

    fn handle(
        &mut self,
        now: Duration,
        door: Door,
        events: &mut Vec<ServerEvent>,
    ) -> Result<(), ServeError> {
        for event in events.drain(..) {
            match event {
                ServerEvent::Connected { client, address } => {
                    self.guests.connect(client, address);
                    self.sender.add(ReceiverId(client), &self.options, now)?;
                }
                ServerEvent::Datagram { client, payload } => {
                    self.take(client, now, (door, &payload))?;
                }
                ServerEvent::Disconnected { client, reason } => {
                    self.sender.hub.remove(ReceiverId(client));
                    self.players.remove(client, &mut self.sender.world);
                    if let Some(line) = self.guests.remove(client, reason, self.timeout) {
                        self.say(&line);
                    }
                }
            }
        }
        Ok(())
    }

    /// Takes a client's datagram.
    fn take(
        &mut self,
        client: u64,
        now: Duration,
        (door, payload): (Door, &Range<usize>),
    ) -> Result<(), NetError> {
        let Self { doors, sender, guests, players, wrong_datagrams, .. } = self;
        let Ok(parts) = split_datagram(doors.payload(door, payload)) else {
            *wrong_datagrams += 1;
            return Ok(());
        };
        // Few datagrams cause a notice, so this vector seldom allocates.
        let mut lines = Vec::new();
        for part in parts {
            match datagram_kind(part) {
                Some(DatagramKind::StreamPacket) if guests.is_receiving(client) => {
                    if let Some(seat) = players.handle(client, now, part, &mut sender.world) {
                        let audience = Audience::Only(&[ReceiverId(client)]);
                        GameEvent::Seated(seat.cube).emit(&mut sender.hub, audience)?;
                        lines.extend(guests.line(client, &seat.notice));
                    }
                }
                Some(DatagramKind::ToHub) => {
                    match sender.hub.handle(ReceiverId(client), now, part) {
                        Ok(Handled::Joined) => {
                            let level = sender
                                .hub
                                .status(ReceiverId(client))
                                .and_then(|status| status.level);
                            lines.extend(level.and_then(|level| guests.join(client, level)));
                        }
                        Ok(_) => {}
                        Err(Refused::Mismatch(mismatch)) => {
                            lines.extend(guests.refuse(client, &mismatch, now));
                        }
                        Err(_) => *wrong_datagrams += 1,
                    }
                }
                _ => *wrong_datagrams += 1,
            }
        }
        lines.iter().for_each(|line| self.say(line));
        Ok(())
    }

    /// Steps the world and sends it to all receivers.
    pub fn tick(&mut self, now: Duration) -> Result<(), ServeError> {
        let watch = Watch::start();
        self.players.release_silent(now, &mut self.sender.world);
        let is_sent = self.sender.step()?;
        let receivers = self.guests.counts.receivers;
        if is_sent {
            let encoding = Watch::start();
            rings::look(&self.players, &mut self.sender)?;
            match self.sender.send(now) {
                Err(SessionError::Net(error)) if error.receiver().is_some() => {
                    self.drop_failed(&error, now);
                }
                Err(SessionError::Net(NetError::Several(errors))) => {
                    errors.iter().for_each(|error| self.drop_failed(error, now));
                }
                sent => sent?,
            }
            if receivers > 0 {
                self.encodings.add(encoding.elapsed());
                let encoded = self.sender.hub.encoded() as u64;
                self.encoded += encoded;
                self.second.encoded += encoded;
            }
            self.transmit(now);
            if let Some(outgoing) = &mut self.outgoing
                && let Some(notice) = outgoing.write(&self.sender.snapshot)?
            {
                self.say(&notice);
            }
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

    /// Disconnects the client that an error of the hub names. The tick has reached all other
    /// clients.
    fn drop_failed(&mut self, error: &NetError, now: Duration) {
        let Some(ReceiverId(client)) = error.receiver() else { return };
        if let Some(line) = self.guests.fail(client, error, now) {
            self.say(&line);
        }
    }

    /// Sends the datagrams that wait. Ignores clients that have disconnected in the meantime.
    fn transmit(&mut self, now: Duration) {
        let Self { doors, sender, players, out, .. } = self;
        while let Some((ReceiverId(to), datagram)) = sender.hub.poll_transmit() {
            match players.front(to, now) {
                Some(front) => {
                    out.clear();
                    out.extend(front);
                    out.extend(datagram);
                    doors.send(to, out);
                }
                None => doors.send(to, datagram),
            }
        }
        while let Some((to, acknowledgement)) = players.poll_transmit(now) {
            doors.send(to, &acknowledgement);
        }
    }

    pub fn local_addr(&self) -> SocketAddr {
        self.doors.udp_addr()
    }

    /// The counts of all packets of keys.
    #[cfg(test)]
    pub fn counts(&self) -> KeyCounts {
        self.players.counts()
    }

    /// Disconnects all clients, and completes the recording. Then publishes the frames that a delay
    /// holds back, unless a signal arrives. Returns the counts of published frames.
    pub fn close(mut self, interrupt: &Interrupt) -> Result<Option<Published>, ServeError> {
        self.status.finish();
        self.doors.close();
        let recorded = self.sender.recording.take().map_or(Ok(()), Recording::finish);
        if self.outgoing.as_ref().is_some_and(|outgoing| outgoing.holds_back(interrupt)) {
            self.status.say(REST_FOLLOWS);
        }
        // Even if the disk is full, the spectators get what the delay holds back.
        let published = self.outgoing.take().map(|outgoing| outgoing.finish(interrupt));
        recorded?;
        Ok(published.transpose()?)
    }

    /// Prints a line on standard error, above the status.
    pub fn say(&self, line: &str) {
        self.status.say(line);
    }

    fn show_status(&mut self) {
        let stats = self.doors.udp_stats();
        let bytes = self.doors.bytes_out();
        let keys = self.players.counts();
        let second = std::mem::take(&mut self.second);
        (self.second.bytes_before, self.second.keys_before) = (bytes, keys);
        if self.status.is_hidden() {
            return;
        }
        let receivers = self.guests.counts.receivers;
        let kbps = (bytes - second.bytes_before) as f64 * 8.0 / 1000.0 / receivers.max(1) as f64;
        let tick_us = second.spans.wall_us();
        let junk = stats.junk + stats.limited + stats.overflowed + stats.refused;
        self.status.show(
            0,
            [
                format!(
                    "receivers: {receivers}, {kbps:.1} kbit/s each; {:.1} snapshots encoded a tick",
                    second.encoded as f64 / f64::from(self.options.send_hz)
                ),
                format!(
                    "players: {}, {:.1} bits a packet of keys; junk dropped: {junk}",
                    self.players.playing(),
                    keys.since(&second.keys_before).bits_a_packet()
                ),
                format!("work a tick: {:.0} µs, at most {:.0} µs", tick_us.mean, tick_us.max),
            ],
        );
    }

    pub(super) fn report(&self, arguments: &Arguments) -> ServeReport {
        let (stats, counts) = (self.doors.udp_stats(), self.guests.counts);
        let web = self.doors.web_stats();
        let receiver_seconds = self.receiver_time.as_secs_f64().max(1e-3);
        ServeReport {
            world: arguments.world.name(),
            sending: arguments.send.name() + &arguments.rings.name(),
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
            failed: counts.failed,
            datagrams_in: stats.datagrams_in + web.datagrams_in,
            bytes_in: stats.bytes_in + web.bytes_in,
            datagrams_out: stats.datagrams_out + web.datagrams_out,
            bytes_out: stats.bytes_out + web.bytes_out,
            junk: stats.junk,
            limited: stats.limited + web.limited,
            overflowed: stats.overflowed + web.overflowed,
            silenced: stats.silenced,
            undeciphered: stats.refused,
            wrong_datagrams: self.wrong_datagrams,
            unsent: stats.unsent + web.unsent,
            web_refused: web.refused + web.abandoned,
            keys: KeysReport::new(&self.players),
            kbps_per_receiver: self.doors.bytes_out() as f64 * 8.0 / 1000.0 / receiver_seconds,
        }
    }
}
