//! A server, a bad network and a receiver in one page, for the demo that needs no server. The
//! module sends a recorded world through a simulated link, and receives it.

use std::time::Duration;

use kinepack::group::GroupReader;
use kinepack::values::ValueTable;
use kinepack::{Codec, Level, Profile, Schema, Snapshot, Tick};
use kinepack_net::{
    HEADER_BYTES, Hub, HubConfig, Link, LinkConfig, Loss, ReceiverId, ReceiverOptions,
};
use kinepack_web::{described, failed, level_named, places, time};
use wasm_bindgen::prelude::*;

use crate::receiver::{CountingReceiver, ms};

const PAGE: ReceiverId = ReceiverId(1);
/// The longest pause after which the world catches up. A longer pause, such as that of a hidden
/// tab, is skipped.
const MAX_LAG: Duration = Duration::from_millis(250);
const LEVEL_OF_FILE: Level = Level::LEARNING;

/// A recorded world that is sent and received.
#[wasm_bindgen]
pub struct Simulation {
    world: World,
    schema: Schema,
    profile: Profile,
    tick_hz: u32,
    hub: Hub,
    receiver: CountingReceiver,
    down: Link,
    up: Link,
    /// The total time for which the world was paused.
    skipped: Duration,
    tick: u32,
    sent: ValueTable,
    places: Vec<u32>,
    datagrams: u64,
    wrong_lanes: u64,
}

/// The frames of a file, played repeatedly. The file has groups, each preceded by its length (u32,
/// little-endian).
struct World {
    reader: GroupReader,
    file: Vec<u8>,
    at: usize,
    frames: std::vec::IntoIter<Snapshot>,
}

impl World {
    fn new(file: Vec<u8>, codec: &Codec) -> Self {
        Self { reader: GroupReader::new(codec), file, at: 0, frames: Vec::new().into_iter() }
    }

    fn next(&mut self) -> Result<Snapshot, JsError> {
        if let Some(frame) = self.frames.next() {
            return Ok(frame);
        }
        if self.at >= self.file.len() {
            self.at = 0;
        }
        let rest = &self.file[self.at..];
        let (head, rest) =
            rest.split_first_chunk().ok_or_else(|| failed("the world is cut off"))?;
        let length = u32::from_le_bytes(*head) as usize;
        let mut group = rest.get(..length).ok_or_else(|| failed("the world is cut off"))?;
        self.at += 4 + length;
        self.reader.begin(None);
        let mut frames = Vec::new();
        while let Some(view) = self.reader.read(&mut group).map_err(failed)? {
            frames.push(Snapshot::clone(view));
        }
        self.frames = frames.into_iter();
        self.frames.next().ok_or_else(|| failed("a group of the world is empty"))
    }
}

#[wasm_bindgen]
impl Simulation {
    /// Returns a simulation of the world in a file, at a level, over a perfect link.
    ///
    /// # Errors
    /// Returns an error if the files do not fit together.
    #[wasm_bindgen(constructor)]
    pub fn new(
        world: Vec<u8>,
        schema: &[u8],
        profile: &[u8],
        level: &str,
        tick_hz: u32,
    ) -> Result<Self, JsError> {
        let schema = Schema::from_bytes(schema).map_err(failed)?;
        let profile = Profile::from_bytes(profile, &schema).map_err(failed)?;
        let codec = Codec::new(schema.clone(), LEVEL_OF_FILE, profile.clone()).map_err(failed)?;
        let world = World::new(world, &codec);
        let link = || Link::new(LinkConfig::PERFECT, 1).map_err(failed);
        let (down, up) = (link()?, link()?);
        let (hub, receiver) = ends(&schema, &profile, level, tick_hz)?;
        Ok(Self {
            world,
            sent: ValueTable::new(&schema),
            schema,
            profile,
            tick_hz,
            hub,
            receiver,
            down,
            up,
            skipped: Duration::ZERO,
            tick: 0,
            places: Vec::new(),
            datagrams: 0,
            wrong_lanes: 0,
        })
    }

    /// Restarts the session at another level.
    ///
    /// # Errors
    /// Returns an error if the level is unknown.
    pub fn set_level(&mut self, level: &str) -> Result<(), JsError> {
        (self.hub, self.receiver) = ends(&self.schema, &self.profile, level, self.tick_hz)?;
        self.datagrams = 0;
        // The links are replaced, because datagrams in flight belong to the previous level.
        for link in [&mut self.down, &mut self.up] {
            *link = Link::new(*link.config(), 1).map_err(failed)?;
        }
        Ok(())
    }

    /// Changes both directions of the link. Each direction gets half of the round trip.
    ///
    /// # Errors
    /// Returns an error if the settings are not possible.
    pub fn set_link(
        &mut self,
        round_trip_ms: f64,
        jitter_ms: f64,
        loss_ratio: f32,
    ) -> Result<(), JsError> {
        let config = LinkConfig {
            latency: time(round_trip_ms / 2.0),
            jitter: time(jitter_ms),
            loss: Loss::Independent { ratio: loss_ratio },
            ..LinkConfig::PERFECT
        };
        self.down.reconfigure(config).map_err(failed)?;
        self.up.reconfigure(config).map_err(failed)
    }

    /// Bounds the playout delay.
    ///
    /// # Errors
    /// Returns an error if the bounds contradict each other.
    pub fn set_delays(&mut self, min_ms: f64, max_ms: f64) -> Result<(), JsError> {
        self.receiver.set_delays(min_ms, max_ms)
    }

    /// Runs the world and the link up to a time, and computes the state to show at that time.
    ///
    /// # Errors
    /// Returns an error if the file of the world is damaged.
    pub fn advance(&mut self, now_ms: f64) -> Result<(), JsError> {
        let now = time(now_ms).saturating_sub(self.skipped);
        let due = self.due();
        if now > due + MAX_LAG {
            self.skipped += now - due;
        }
        let now = time(now_ms).saturating_sub(self.skipped);
        loop {
            let due = self.due();
            let arrivals = [self.down.next_due(), self.up.next_due()];
            match arrivals.into_iter().flatten().min().filter(|at| *at <= due) {
                Some(at) if at <= now => self.deliver(at),
                None if due <= now => self.step(due)?,
                _ => break,
            }
        }
        self.acknowledge(now);
        self.receiver.play(ms(now))?;
        Ok(())
    }

    fn due(&self) -> Duration {
        Duration::from_secs(1) * (self.tick + 1) / self.tick_hz
    }

    fn step(&mut self, now: Duration) -> Result<(), JsError> {
        self.tick += 1;
        let mut world = self.world.next()?;
        world.tick = Tick(self.tick);
        self.sent.clear();
        self.sent.extend(&world).map_err(failed)?;
        self.hub.tick(now, &world).map_err(failed)?;
        while let Some((_, datagram)) = self.hub.poll_transmit() {
            self.datagrams += 1;
            self.down.send(now, datagram);
        }
        Ok(())
    }

    fn deliver(&mut self, now: Duration) {
        while let Some(datagram) = self.down.poll(now) {
            if self.receiver.handle(ms(now), &datagram) {
                self.compare();
            }
        }
        self.acknowledge(now);
        while let Some(datagram) = self.up.poll(now) {
            let _ = self.hub.handle(PAGE, now, &datagram);
        }
    }

    fn acknowledge(&mut self, now: Duration) {
        while let Some(datagram) = self.receiver.receiver.poll_transmit(now) {
            self.up.send(now, datagram);
        }
    }

    /// Compares the newest view of the receiver with that of the hub, integer by integer.
    fn compare(&mut self) {
        let receiver = &self.receiver.receiver;
        let Some(sequence) = receiver.newest_sequence() else { return };
        let sent = self.hub.view(PAGE, sequence);
        let (Some(view), Some(sent)) = (receiver.view(sequence), sent) else { return };
        let differ = |lane: usize| {
            let lanes = view.lane(lane).iter().zip(sent.lane(lane));
            lanes.filter(|(received, sent)| received != sent).count() as u64
        };
        self.wrong_lanes += (0..view.lane_count()).map(differ).sum::<u64>()
            + u64::from(!view.has_same_entities(&sent));
    }

    /// Returns the schema as JSON.
    pub fn schema(&self) -> String {
        described(&self.schema)
    }

    /// Returns the address of the list that describes the sent world, as in
    /// [`CountingReceiver::places`].
    pub fn sent_places(&mut self) -> usize {
        self.places.clear();
        places(&self.sent, &mut self.places);
        self.places.as_ptr() as usize
    }

    /// Returns the address of the list that describes the shown world, as in
    /// [`CountingReceiver::places`].
    pub fn shown_places(&mut self) -> usize {
        self.receiver.places()
    }

    /// Returns the address of the recent bits, as in [`CountingReceiver::heat_address`].
    pub fn heat_address(&self) -> usize {
        self.receiver.heat_address()
    }

    /// Returns the number of ids with recent bits, as in [`CountingReceiver::heat_count`].
    pub fn heat_count(&self) -> usize {
        self.receiver.heat_count()
    }

    /// Counters and measurements, in the order of [`stat_names`](Self::stat_names).
    pub fn stats(&self) -> Vec<f64> {
        self.named_stats().map(|(_, number)| number).to_vec()
    }

    /// Returns the names of the [`stats`](Self::stats), with spaces between them.
    pub fn stat_names(&self) -> String {
        self.named_stats().map(|(name, _)| name).join(" ")
    }
}

impl Simulation {
    fn named_stats(&self) -> [(&'static str, f64); 9] {
        let bytes = self.hub.status(PAGE).map_or(0, |status| status.bytes);
        let received = self.receiver.receiver.status(Duration::ZERO);
        [
            ("tick", f64::from(self.tick)),
            ("shown_tick", self.receiver.shown.tick),
            ("payload_bytes", bytes as f64),
            ("header_bytes", self.datagrams as f64 * HEADER_BYTES as f64),
            ("baseline_ticks", self.receiver.costs.baseline_ticks()),
            ("round_trip_ms", received.round_trip.map_or(f64::NAN, ms)),
            ("lost_ratio", received.lost_ratio()),
            ("playout_ms", ms(self.receiver.receiver.playout_stats().delay)),
            ("wrong_lanes", self.wrong_lanes as f64),
        ]
    }
}

/// Returns a hub and a receiver that have not exchanged anything yet.
fn ends(
    schema: &Schema,
    profile: &Profile,
    level: &str,
    tick_hz: u32,
) -> Result<(Hub, CountingReceiver), JsError> {
    let codec = Codec::new(schema.clone(), level_named(level)?, profile.clone()).map_err(failed)?;
    let mut hub = Hub::new(&codec, HubConfig::default()).map_err(failed)?;
    hub.add(PAGE, &ReceiverOptions::default(), Duration::ZERO).map_err(failed)?;
    Ok((hub, CountingReceiver::of(&codec, tick_hz)?))
}
