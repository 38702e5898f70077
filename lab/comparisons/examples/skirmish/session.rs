//! Sends the game through hubs and receivers over a link that loses datagrams.

use std::error::Error;
use std::time::Duration;

use command_kit::wrong_lanes;
use kinepack::{Codec, Snapshot, Tick};
use kinepack_net::{
    Channel, EventKinds, Hub, HubConfig, KindOptions, Link, LinkConfig, Loss, Received, Receiver,
    ReceiverConfig, ReceiverId, ReceiverOptions, Refused,
};

use crate::game::RATE_HZ;
use crate::kinds::Happening;

const RECEIVER: ReceiverId = ReceiverId(1);
/// The size of the headers of IPv4 and UDP in bytes.
const HEADER_BYTES: u64 = 28;

/// The traffic of a session, and the numbers of lanes and events that arrived wrong, late or not at
/// all.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) datagrams: u64,
    pub(crate) bytes: u64,
    pub(crate) snapshots: u64,
    /// The number of lanes in which received snapshots differed from the game's.
    pub(crate) wrong_lanes: u64,
    /// The number of events that the receiver delivered to the game.
    pub(crate) events: u64,
    /// The number of events that the receiver delivered after playback had already shown their
    /// tick.
    pub(crate) late_events: u64,
    /// The number of events that the hub gave up.
    pub(crate) dropped_events: u64,
}

impl Outcome {
    pub(crate) fn bytes_with_headers(&self) -> u64 {
        self.bytes + HEADER_BYTES * self.datagrams
    }
}

/// The number of ticks without motion after the last tick, in which all events can arrive.
const REST_TICKS: usize = 120;

/// Plays worlds over one link. Each world has a hub and a receiver, on a channel of its own.
/// `worlds` holds their codecs and frames. The first hub sends the events of each tick.
/// `crates_every` is the [`KindOptions::every`] of crates.
///
/// # Errors
/// Returns an error if an event that must arrive did not, or arrived twice, out of order, or with
/// another tick.
pub(crate) fn play(
    worlds: &[(Codec, &[Snapshot])],
    events: Option<(&EventKinds, &[Vec<Happening>])>,
    crates_every: u32,
    loss: f32,
) -> Result<Outcome, Box<dyn Error>> {
    let kinds = events.map(|(kinds, _)| kinds);
    let mut session = Session::new(worlds, kinds, crates_every, loss)?;
    let ticks = worlds.iter().map(|(_, frames)| frames.len()).min().unwrap_or(0);
    for tick in 0..ticks + REST_TICKS {
        let is_rest = tick >= ticks;
        let now = Duration::from_secs(1) * tick as u32 / RATE_HZ;
        session.receive(now, is_rest)?;
        if let Some((_, happened)) = events.filter(|_| !is_rest) {
            session.emit(worlds[0].1[tick].tick, &happened[tick])?;
        }
        session.send(now, tick, ticks)?;
    }
    session.finish()
}

/// The hubs and receivers of the worlds, and the link between them.
struct Session<'a> {
    worlds: &'a [(Codec, &'a [Snapshot])],
    ends: Vec<(Hub, Receiver)>,
    down: Link,
    up: Link,
    /// The events that the first hub sent. The next field has the events that its receiver
    /// delivered.
    emitted: Vec<(Tick, Happening)>,
    played: Vec<(Tick, Happening)>,
    outcome: Outcome,
}

impl<'a> Session<'a> {
    fn new(
        worlds: &'a [(Codec, &'a [Snapshot])],
        events: Option<&EventKinds>,
        crates_every: u32,
        loss: f32,
    ) -> Result<Self, Box<dyn Error>> {
        let link = LinkConfig {
            latency: Duration::from_millis(40),
            jitter: Duration::from_millis(10),
            loss: Loss::Independent { ratio: loss },
            ..LinkConfig::default()
        };
        let mut ends = Vec::new();
        for (number, (codec, _)) in (0..).zip(worlds) {
            let channel = Channel::new(number).ok_or("too many worlds")?;
            let mut hub = Hub::new(codec, HubConfig { channel, ..HubConfig::default() })?;
            let config = ReceiverConfig { channel, ..ReceiverConfig::at_hz(RATE_HZ) };
            let mut receiver = Receiver::new(codec, config)?;
            if codec.schema().kinds().iter().any(|kind| kind.name() == "crate") {
                let options = KindOptions { every: crates_every, ..KindOptions::default() };
                hub.set_kind("crate", options)?;
            }
            if let Some(kinds) = events {
                hub = hub.with_events(kinds);
                receiver = receiver.with_events(kinds);
            }
            hub.add(RECEIVER, &ReceiverOptions::default(), Duration::ZERO)?;
            ends.push((hub, receiver));
        }
        Ok(Self {
            worlds,
            ends,
            down: Link::new(link, 1)?,
            up: Link::new(link, 2)?,
            emitted: Vec::new(),
            played: Vec::new(),
            outcome: Outcome::default(),
        })
    }

    /// Delivers the datagrams that arrived in both directions.
    fn receive(&mut self, now: Duration, is_rest: bool) -> Result<(), Box<dyn Error>> {
        while let Some(datagram) = self.down.poll(now) {
            let channel = usize::from(Channel::from_datagram(&datagram).number());
            let (_, receiver) = &mut self.ends[channel];
            match receiver.handle(now, &datagram) {
                // The first snapshots omit the entities that do not fit into the datagrams of a
                // tick.
                Ok(Received::Snapshot { tick, late: false, left_out: false }) if !is_rest => {
                    let frames = self.worlds[channel].1;
                    let sent = frames.iter().rev().find(|frame| frame.tick == tick);
                    let newest = receiver.newest().ok_or("nothing was received")?;
                    self.outcome.snapshots += 1;
                    self.outcome.wrong_lanes += wrong_lanes(sent.ok_or("an unknown tick")?, newest);
                }
                Ok(_) | Err(Refused::Duplicate | Refused::TooOld | Refused::NoBaseline) => {}
                Err(refused) => return Err(refused.into()),
            }
        }
        if let Some(playback) = self.ends[0].1.playback(now) {
            for event in playback.events() {
                self.played.push((event.tick, Happening::of(&event)?));
            }
        }
        while let Some(datagram) = self.up.poll(now) {
            let channel = Channel::from_datagram(&datagram).number();
            match self.ends[usize::from(channel)].0.handle(RECEIVER, now, &datagram) {
                Ok(_) | Err(Refused::LongAgo) => {}
                Err(refused) => return Err(refused.into()),
            }
        }
        Ok(())
    }

    /// Sends the events of a tick, once the receiver has joined.
    fn emit(&mut self, tick: Tick, happened: &[Happening]) -> Result<(), Box<dyn Error>> {
        let (hub, _) = &mut self.ends[0];
        if hub.status(RECEIVER).is_some_and(|status| status.joined) {
            for happening in happened {
                happening.emit(hub)?;
                self.emitted.push((tick, happening.clone()));
            }
        }
        Ok(())
    }

    /// Sends acknowledgements, and the worlds at a tick. After the last of `ticks` ticks, nothing
    /// moves.
    fn send(&mut self, now: Duration, tick: usize, ticks: usize) -> Result<(), Box<dyn Error>> {
        let is_rest = tick >= ticks;
        for ((hub, receiver), (_, frames)) in self.ends.iter_mut().zip(self.worlds) {
            while let Some(datagram) = receiver.poll_transmit(now) {
                self.up.send(now, datagram);
            }
            let rested = tick.saturating_sub(ticks - 1) as u32;
            let mut frame = frames[tick.min(ticks - 1)].clone();
            frame.tick = Tick(frame.tick.0 + rested);
            hub.tick(now, &frame)?;
            while let Some((_, datagram)) = hub.poll_transmit() {
                self.outcome.datagrams += u64::from(!is_rest);
                self.outcome.bytes += if is_rest { 0 } else { datagram.len() as u64 };
                self.down.send(now, datagram);
            }
        }
        Ok(())
    }

    /// Compares the events that were sent with those that arrived.
    fn finish(mut self) -> Result<Outcome, Box<dyn Error>> {
        let (hub, receiver) = &self.ends[0];
        let stats = receiver.stats();
        let outcome = &mut self.outcome;
        (outcome.events, outcome.late_events) = (stats.events, stats.late_events);
        outcome.dropped_events = hub.status(RECEIVER).map_or(0, |status| status.dropped_events);
        let of_reliable = |all: &[(Tick, Happening)]| -> Vec<(Tick, Happening)> {
            all.iter().filter(|(_, event)| event.must_arrive()).cloned().collect()
        };
        let is_exact = of_reliable(&self.emitted) == of_reliable(&self.played)
            && self.emitted.len() as u64 == outcome.events + outcome.dropped_events;
        if is_exact { Ok(self.outcome) } else { Err("an event is missing, or came twice".into()) }
    }
}
