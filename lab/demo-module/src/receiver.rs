//! A receiver of the program's world that counts what each entity costs.

use std::time::Duration;

use kinepack::{Codec, EntityId, Snapshot};
use kinepack_net::{EventKinds, Received, Receiver, ReceiverConfig};
use kinepack_web::{Shown, codec, described, failed, places, time};
use wasm_bindgen::prelude::*;

use crate::costs::Costs;

/// Receives the program's world.
#[wasm_bindgen]
pub struct CountingReceiver {
    pub(crate) receiver: Receiver,
    pub(crate) costs: Costs,
    /// The world at the moment of playback.
    pub(crate) shown: Shown,
    places: Vec<u32>,
}

#[wasm_bindgen]
impl CountingReceiver {
    /// Returns a receiver without any state. An empty profile is the untrained one.
    ///
    /// # Errors
    /// Returns an error if the files do not fit together, or if the level is unknown.
    #[wasm_bindgen(constructor)]
    pub fn new(schema: &[u8], level: &str, profile: &[u8], tick_hz: u32) -> Result<Self, JsError> {
        Self::of(&codec(schema, level, profile)?, tick_hz)
    }

    /// Returns the same receiver, for a hub that also sends events. It accepts them, but does not
    /// show them.
    ///
    /// # Errors
    /// Returns an error if `schema` is not a schema file, or if the level is unknown.
    pub fn with_events(mut self, schema: &[u8], level: &str) -> Result<Self, JsError> {
        let kinds = EventKinds::new(&codec(schema, level, &[])?);
        self.receiver = self.receiver.with_events(&kinds);
        Ok(self)
    }

    /// Returns the world's schema as JSON.
    pub fn schema(&self) -> String {
        described(self.shown.values.schema())
    }

    /// Takes a datagram. Returns false if the datagram is refused, in which case only counters have
    /// changed.
    pub fn handle(&mut self, now_ms: f64, datagram: &[u8]) -> bool {
        let Ok(received) = self.receiver.handle(time(now_ms), datagram) else { return false };
        if let (Received::Snapshot { tick, .. }, Some(cost)) = (received, self.receiver.cost()) {
            self.costs.add(tick, cost);
        }
        true
    }

    /// Returns the next datagram for the server, if one is due.
    pub fn poll_transmit(&mut self, now_ms: f64) -> Option<Vec<u8>> {
        self.receiver.poll_transmit(time(now_ms)).map(<[u8]>::to_vec)
    }

    /// Computes what to show at `now_ms`. Returns false before the first state.
    pub fn play(&mut self, now_ms: f64) -> Result<bool, JsError> {
        let Some(playback) = self.receiver.playback(time(now_ms)) else { return Ok(false) };
        self.shown.play(&playback)?;
        Ok(true)
    }

    /// Returns the tick that is shown.
    pub fn tick(&self) -> f64 {
        self.shown.tick
    }

    /// Returns the address of a list that describes where the shown world is in memory. For each
    /// kind, the list has the number of entities, the address of their ids, and the address of each
    /// field.
    pub fn places(&mut self) -> usize {
        self.places.clear();
        places(&self.shown.values, &mut self.places);
        self.places.as_ptr() as usize
    }

    /// Sets the bounds of the playout delay.
    ///
    /// # Errors
    /// Returns an error if the bounds contradict each other.
    pub fn set_delays(&mut self, min_ms: f64, max_ms: f64) -> Result<(), JsError> {
        self.receiver.set_playout_delays(time(min_ms), time(max_ms)).map_err(failed)
    }

    /// Returns the address of the recent bits of each id, from 0 on.
    pub fn heat_address(&self) -> usize {
        self.costs.heat.as_ptr() as usize
    }

    /// Returns the number of ids with recent bits.
    pub fn heat_count(&self) -> usize {
        self.costs.heat.len()
    }

    /// Numbers about one entity in the newest tick, in the order of
    /// [`look_names`](Self::look_names). A value that does not exist is NaN.
    pub fn look(&self, id: u32) -> Vec<f64> {
        self.named_look(id).map(|(_, number)| number).to_vec()
    }

    /// Returns the names of the numbers of a [`look`](Self::look), with spaces between them.
    pub fn look_names(&self) -> String {
        self.named_look(0).map(|(name, _)| name).join(" ")
    }

    /// Returns the lanes of an entity in the newest state.
    pub fn known_lanes(&self, id: u32) -> Option<Vec<u32>> {
        lanes(self.receiver.newest()?, EntityId(id))
    }

    /// Returns the lanes of an entity in the baseline of the newest tick.
    pub fn baseline_lanes(&self, id: u32) -> Option<Vec<u32>> {
        let id = EntityId(id);
        lanes(&self.costs.of(id)?.1.baseline, id)
    }

    /// Measurements, in the order of [`stat_names`](Self::stat_names). A value that is not known
    /// yet is NaN.
    pub fn stats(&self, now_ms: f64) -> Vec<f64> {
        self.named_stats(now_ms).map(|(_, number)| number).to_vec()
    }

    /// Returns the names of the [`stats`](Self::stats), with spaces between them.
    pub fn stat_names(&self) -> String {
        self.named_stats(0.0).map(|(name, _)| name).join(" ")
    }
}

impl CountingReceiver {
    /// Returns a receiver without any state.
    pub(crate) fn of(codec: &Codec, tick_hz: u32) -> Result<Self, JsError> {
        let receiver = Receiver::new(codec, ReceiverConfig::at_hz(tick_hz)).map_err(failed)?;
        Ok(Self {
            receiver: receiver.with_costs(),
            costs: Costs::default(),
            shown: Shown::new(codec.schema()),
            places: Vec::new(),
        })
    }

    fn named_look(&self, id: u32) -> [(&'static str, f64); 4] {
        let (bits, cost) = self.costs.of(EntityId(id)).unzip();
        [
            ("bits", bits.map_or(0.0, f64::from)),
            ("packet_bits", self.costs.bits() as f64),
            ("tick", f64::from(self.costs.tick.0)),
            ("baseline_tick", cost.map_or(f64::NAN, |cost| f64::from(cost.baseline_tick.0))),
        ]
    }

    fn named_stats(&self, now_ms: f64) -> [(&'static str, f64); 3] {
        let status = self.receiver.status(time(now_ms));
        [
            ("round_trip_ms", status.round_trip.map_or(f64::NAN, ms)),
            ("playout_ms", ms(self.receiver.playout_stats().delay)),
            ("baseline_ticks", self.costs.baseline_ticks()),
        ]
    }
}

/// Returns the lanes of an entity in a state.
fn lanes(state: &Snapshot, id: EntityId) -> Option<Vec<u32>> {
    Some(state.lanes_at(state.position(id)?).collect())
}

/// Converts a time to milliseconds, as a page counts it.
pub(crate) fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
