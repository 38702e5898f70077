//! A receiver of one world, and the states that it shows.

use std::time::Duration;

use kinepack::values::ValueTable;
use kinepack::{Codec, Pack, Schema};
use kinepack_net::{
    Channel, EventKinds, Extrapolation, Received, ReceiverConfig, ReceiverStatus, Seen,
};
use wasm_bindgen::prelude::*;

use crate::{Shown, codec, described, failed, time};

/// Receives one world.
#[wasm_bindgen]
pub struct WorldReceiver {
    receiver: kinepack_net::Receiver,
    /// The world at the moment of playback, or the newest world.
    shown: Shown,
    events: Option<ValueTable>,
    /// Three numbers for each event: its kind, its tick, and 1 if it was late.
    event_list: Vec<u32>,
}

/// The parameters from which a receiver is made.
#[wasm_bindgen]
pub struct ReceiverSetup {
    codec: Codec,
    config: ReceiverConfig,
    events: Option<EventKinds>,
}

#[wasm_bindgen]
impl ReceiverSetup {
    /// Makes a setup with default settings. An empty profile stands for the untrained profile.
    #[wasm_bindgen(constructor)]
    pub fn new(schema: &[u8], level: &str, profile: &[u8], tick_hz: u32) -> Result<Self, JsError> {
        let codec = codec(schema, level, profile)?;
        Ok(Self { codec, config: ReceiverConfig::at_hz(tick_hz), events: None })
    }

    /// Sets the kinds of events that the server sends.
    pub fn with_events(
        &mut self,
        schema: &[u8],
        level: &str,
        profile: &[u8],
    ) -> Result<(), JsError> {
        self.events = Some(EventKinds::new(&codec(schema, level, profile)?));
        Ok(())
    }

    /// Sets the limits of the memory and of the playout delay.
    pub fn limit(
        &mut self,
        max_memory_bytes: Option<usize>,
        min_delay_ms: Option<f64>,
        max_delay_ms: Option<f64>,
    ) {
        let config = &mut self.config;
        config.max_memory_bytes = max_memory_bytes.unwrap_or(config.max_memory_bytes);
        config.playout.min_delay = min_delay_ms.map_or(config.playout.min_delay, time);
        config.playout.max_delay = max_delay_ms.map_or(config.playout.max_delay, time);
    }

    /// Sets the channel of the hub, which distinguishes hubs on one connection.
    pub fn on_channel(&mut self, number: u8) -> Result<(), JsError> {
        self.config.channel = channel(number)?;
        Ok(())
    }

    /// Makes the receiver.
    pub fn build(self) -> Result<WorldReceiver, JsError> {
        let Self { codec, config, events } = self;
        let mut receiver = kinepack_net::Receiver::new(&codec, config).map_err(failed)?;
        if let Some(kinds) = &events {
            receiver = receiver.with_events(kinds);
        }
        Ok(WorldReceiver {
            receiver,
            shown: Shown::new(codec.schema()),
            events: events.map(|kinds| ValueTable::new(kinds.codec().schema())),
            event_list: Vec::new(),
        })
    }
}

#[wasm_bindgen]
impl WorldReceiver {
    /// The world's schema as JSON.
    pub fn schema(&self) -> String {
        described(self.shown.values.schema())
    }

    /// The schema of the events as JSON. An empty text if there are no events.
    pub fn event_schema(&self) -> String {
        self.events.as_ref().map_or_else(String::new, |events| described(events.schema()))
    }

    /// Takes a datagram. Returns 0 for a state of the world, 1 for events alone, 2 for a fragment,
    /// and 3 for the last fragment of a block.
    ///
    /// # Errors
    /// Fails if the receiver refuses the datagram. Then only counters have changed.
    pub fn handle(&mut self, now_ms: f64, datagram: &[u8]) -> Result<u8, JsError> {
        match self.receiver.handle(time(now_ms), datagram).map_err(failed)? {
            Received::Events { .. } => Ok(1),
            Received::Fragment => Ok(2),
            Received::FullState { .. } => Ok(3),
            _ => Ok(0),
        }
    }

    /// The next datagram for the server, if there is one now.
    pub fn poll_transmit(&mut self, now_ms: f64) -> Option<Vec<u8>> {
        self.receiver.poll_transmit(time(now_ms)).map(<[u8]>::to_vec)
    }

    /// Computes the world to show now. Returns false before the first state.
    pub fn play(&mut self, now_ms: f64) -> Result<bool, JsError> {
        let Some(playback) = self.receiver.playback(time(now_ms)) else { return Ok(false) };
        self.shown.play(&playback)?;
        self.event_list.clear();
        if let Some(events) = &mut self.events {
            events.clear();
            let at = kinepack::Between { ratio: 0.0, seconds: 0.0 };
            for event in playback.events() {
                let state = event.state();
                events.push(state, state, at).map_err(failed)?;
                let numbers = [event.kind() as u32, event.tick.0, u32::from(event.late)];
                self.event_list.extend(numbers);
            }
        }
        Ok(true)
    }

    /// Takes the newest state instead of the state at the moment of playback. Returns false before
    /// the first state.
    pub fn take_newest(&mut self) -> Result<bool, JsError> {
        let Some(newest) = self.receiver.newest() else { return Ok(false) };
        self.shown.take(newest)?;
        Ok(true)
    }

    /// The tick of the last [`play`](Self::play) or [`take_newest`](Self::take_newest).
    pub fn tick(&self) -> f64 {
        self.shown.tick
    }

    /// Whether no newer state had arrived when one was needed.
    pub fn is_starved(&self) -> bool {
        self.shown.is_starved
    }

    /// The address of the list of places of the world and of the events.
    pub fn places(&mut self) -> usize {
        self.shown.places(&self.event_list, self.events.as_ref())
    }

    /// The hash of some neighbouring fields of a kind. Empty if the kind has no such fields.
    pub fn fields_hash(&self, kind: usize, first: usize, count: usize) -> String {
        self.shown.fields_hash(kind, first, count)
    }

    /// Keeps the lanes of a kind from the next moment on.
    pub fn keep_lanes(&mut self, kind: usize) {
        self.shown.keep_lanes(kind);
    }

    /// The address of the lanes that were kept of a kind.
    pub fn lanes_at(&self, kind: usize) -> usize {
        self.shown.kept_lanes(kind).as_ptr() as usize
    }

    /// The length of the list at [`lanes_at`](Self::lanes_at).
    pub fn lanes_len(&self, kind: usize) -> usize {
        self.shown.kept_lanes(kind).len()
    }

    /// The newest state as integers. For each entity, they include the tick of its newest values.
    pub fn newest_lanes(&self) -> Vec<u32> {
        self.receiver.newest().map_or_else(Vec::new, |state| {
            self.shown.lanes(state, |index| Some(self.receiver.fresh(index).0))
        })
    }

    /// Changes the bounds of the playout delay.
    pub fn set_delays(&mut self, min_ms: f64, max_ms: f64) -> Result<(), JsError> {
        self.receiver.set_playout_delays(time(min_ms), time(max_ms)).map_err(failed)
    }

    /// What the last [`play`](Self::play) showed, as the integers of a stamp. `None` before the first
    /// state.
    pub fn seen(&self) -> Option<Vec<u32>> {
        let mut lanes = vec![0; Seen::LANES];
        // A stamp always fits its own lanes.
        self.receiver.seen()?.quantize(&mut lanes).ok().map(|()| lanes)
    }

    /// Sets for how long the entities of a kind continue straight on if their next state is late. 0
    /// holds them.
    ///
    /// # Errors
    /// Fails if there is no such kind, or the time is not 0 to 1,000 ms. Then nothing has changed.
    pub fn extrapolate(&mut self, kind: &str, at_most_ms: f64) -> Result<(), JsError> {
        if !(0.0..=1_000.0).contains(&at_most_ms) {
            return Err(failed(format_args!("{at_most_ms} ms; 0 to 1000 ms are possible")));
        }
        let extrapolation = match time(at_most_ms) {
            Duration::ZERO => Extrapolation::Hold,
            at_most => Extrapolation::Straight { at_most },
        };
        self.receiver.set_extrapolation(kind, extrapolation).map_err(failed)
    }

    /// Why the server refuses this receiver. An empty text if there is no such reason.
    pub fn mismatch(&self) -> String {
        self.receiver.mismatch().map_or_else(String::new, |mismatch| mismatch.to_string())
    }

    /// Counters and measurements, in the order of [`stat_names`](Self::stat_names).
    pub fn stats(&self, now_ms: f64) -> Vec<f64> {
        self.named_stats(now_ms).map(|(_, number)| number).to_vec()
    }

    /// The names of the [`stats`](Self::stats), with spaces between them.
    pub fn stat_names(&self) -> String {
        self.named_stats(0.0).map(|(name, _)| name).join(" ")
    }
}

impl WorldReceiver {
    /// What the receiver knows of its connection.
    pub(crate) fn status(&self, now_ms: f64) -> ReceiverStatus {
        self.receiver.status(time(now_ms))
    }

    fn named_stats(&self, now_ms: f64) -> [(&'static str, f64); 19] {
        let (stats, status) = (self.receiver.stats(), self.status(now_ms));
        let playout = self.receiver.playout_stats();
        let (fragments, of_block) = self.receiver.full_state_progress().unwrap_or_default();
        let count = |number: u64| number as f64;
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        [
            ("joined", f64::from(u8::from(status.joined))),
            ("roundTripMs", status.round_trip.map_or(f64::NAN, ms)),
            ("lostRatio", status.lost_ratio()),
            ("serverTick", status.server_tick.unwrap_or(f64::NAN)),
            ("delayMs", ms(playout.delay)),
            ("jitterMs", ms(playout.jitter)),
            ("starvedRatio", playout.starved_ratio),
            ("received", count(stats.received)),
            ("refused", count(stats.refused)),
            ("duplicates", count(stats.duplicates)),
            ("bytes", count(stats.bytes)),
            ("late", count(stats.late)),
            ("blocks", count(stats.full_states)),
            ("mismatches", count(stats.mismatches)),
            ("views", stats.views as f64),
            ("events", count(stats.events)),
            ("lateEvents", count(stats.late_events)),
            ("fragments", fragments as f64),
            ("fragmentsOfBlock", of_block as f64),
        ]
    }
}

pub(crate) fn channel(number: u8) -> Result<Channel, JsError> {
    Channel::new(number).ok_or_else(|| {
        failed(format_args!("no channel has the number {number}; it is at most {}", Channel::MAX))
    })
}

/// The contents of a schema file as JSON.
///
/// # Errors
/// Fails if the bytes are not a schema file.
#[wasm_bindgen]
pub fn describe_schema(bytes: &[u8]) -> Result<String, JsError> {
    Ok(described(&Schema::from_bytes(bytes).map_err(failed)?))
}
