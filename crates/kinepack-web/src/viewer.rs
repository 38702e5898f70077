//! A viewer of a broadcast, and the states that it shows.

use kinepack::Tick;
use kinepack_crowd::{Catalogue, Track, Viewer, ViewerConfig};
use wasm_bindgen::prelude::*;

use crate::schema::quoted;
use crate::{Shown, described, failed, time};

/// Views one broadcast. JavaScript identifies a track by a number: twice the number of its tier,
/// plus one for key snapshots.
#[wasm_bindgen]
pub struct BroadcastViewer {
    catalogue: Catalogue,
    viewer: Viewer,
    shown: Shown,
}

fn number_of(track: Track) -> u32 {
    2 * track.tier() as u32 + u32::from(matches!(track, Track::Keys(_)))
}

fn track_of(number: u32) -> Track {
    let tier = number as usize / 2;
    if number.is_multiple_of(2) { Track::Snapshots(tier) } else { Track::Keys(tier) }
}

#[wasm_bindgen]
impl BroadcastViewer {
    /// Makes a viewer that does not watch any tier yet.
    ///
    /// # Errors
    /// Fails if the bytes are not a catalogue, or if the bounds of the delay contradict each other.
    #[wasm_bindgen(constructor)]
    pub fn new(
        catalogue: &[u8],
        history_ms: f64,
        max_memory_bytes: Option<usize>,
        min_delay_ms: Option<f64>,
        max_delay_ms: Option<f64>,
    ) -> Result<Self, JsError> {
        let catalogue = match max_memory_bytes {
            Some(most) => Catalogue::from_bytes_within(catalogue, most),
            None => Catalogue::from_bytes(catalogue),
        };
        let catalogue = catalogue.map_err(failed)?;
        let mut config = ViewerConfig::at_hz(catalogue.tick_hz().into());
        config.history = time(history_ms);
        config.max_memory_bytes = max_memory_bytes.unwrap_or(config.max_memory_bytes);
        config.playout.min_delay = min_delay_ms.map_or(config.playout.min_delay, time);
        config.playout.max_delay = max_delay_ms.map_or(config.playout.max_delay, time);
        let viewer = Viewer::new(&catalogue, config).map_err(failed)?;
        let shown = Shown::new(catalogue.tiers()[0].codec.schema());
        Ok(Self { catalogue, viewer, shown })
    }

    /// The world's schema as JSON. All tiers have the same kinds and fields.
    pub fn schema(&self) -> String {
        described(self.shown.values.schema())
    }

    /// The number of ticks per second.
    pub fn tick_hz(&self) -> u32 {
        self.catalogue.tick_hz().into()
    }

    /// The names of the tiers as a JSON list.
    pub fn tiers(&self) -> String {
        let names: Vec<String> =
            self.catalogue.tiers().iter().map(|tier| quoted(&tier.name)).collect();
        format!("[{}]", names.join(","))
    }

    /// Watches the tiers with these numbers from now on.
    pub fn watch(&mut self, tiers: &[usize]) -> Result<(), JsError> {
        self.viewer.watch_all(tiers).map_err(failed)
    }

    /// Reads all tracks anew, for example after a connection was lost.
    pub fn rejoin(&mut self) {
        self.viewer.rejoin();
    }

    /// The numbers of the tracks that the viewer needs now.
    pub fn wanted(&self) -> Vec<u32> {
        self.viewer.wanted().map(number_of).collect()
    }

    /// The name of a track; an empty text if there is no such track.
    pub fn track_name(&self, track: u32) -> String {
        self.catalogue.name_of(track_of(track)).unwrap_or_default()
    }

    /// Takes an object. Returns true if a snapshot could be read with it.
    ///
    /// # Errors
    /// Fails if the viewer refuses the object. Then only counters have changed.
    pub fn object(
        &mut self,
        now_ms: f64,
        track: u32,
        group: u64,
        number: u64,
        bytes: &[u8],
    ) -> Result<bool, JsError> {
        let taken = self.viewer.object(time(now_ms), track_of(track), group, number, bytes);
        Ok(taken.map_err(failed)?.is_some())
    }

    /// Takes a datagram of a tier. Returns true if it completed a snapshot.
    ///
    /// # Errors
    /// Fails if the viewer refuses the datagram. Then only counters have changed.
    pub fn datagram(&mut self, now_ms: f64, tier: usize, bytes: &[u8]) -> Result<bool, JsError> {
        Ok(self.viewer.datagram(time(now_ms), tier, bytes).map_err(failed)?.is_some())
    }

    /// Computes the world to show now. Returns false before the first state.
    pub fn play(&mut self, now_ms: f64) -> Result<bool, JsError> {
        let Some(playback) = self.viewer.playback(time(now_ms)) else { return Ok(false) };
        self.shown.play(&playback)?;
        Ok(true)
    }

    /// Computes the world at a tick of the history. Live playback continues meanwhile. Returns
    /// false if there is no history.
    pub fn play_at(&mut self, now_ms: f64, tick: f64) -> Result<bool, JsError> {
        let _ = self.viewer.playback(time(now_ms));
        let Some(playback) = self.viewer.playback_at(tick) else { return Ok(false) };
        self.shown.play(&playback)?;
        Ok(true)
    }

    /// The first and the last tick of the history. The list is empty if there is no history.
    pub fn history(&self) -> Vec<u32> {
        let ticks = self.viewer.history();
        ticks.map_or_else(Vec::new, |(Tick(first), Tick(last))| vec![first, last])
    }

    /// Takes the newest state instead of the state at the moment of playback. Returns false before
    /// the first state.
    pub fn take_newest(&mut self) -> Result<bool, JsError> {
        let Some(newest) = self.viewer.newest() else { return Ok(false) };
        self.shown.take(newest)?;
        Ok(true)
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

    /// The newest state as integers.
    pub fn newest_lanes(&self) -> Vec<u32> {
        let newest = self.viewer.newest();
        newest.map_or_else(Vec::new, |state| self.shown.lanes(state, |_| None))
    }

    /// The numbers of the shown tiers.
    pub fn shown_tiers(&self) -> Vec<u32> {
        self.viewer.shown_tiers().map(|tier| tier as u32).collect()
    }

    /// The shown tick, with its fraction.
    pub fn tick(&self) -> f64 {
        self.shown.tick
    }

    /// Whether no newer state had arrived when one was needed.
    pub fn is_starved(&self) -> bool {
        self.shown.is_starved
    }

    /// The address of the list of places of the world.
    pub fn places(&mut self) -> usize {
        self.shown.places(&[], None)
    }

    /// Changes the bounds of the playout delay.
    pub fn set_delays(&mut self, min_ms: f64, max_ms: f64) -> Result<(), JsError> {
        self.viewer.set_delays(time(min_ms), time(max_ms)).map_err(failed)
    }

    /// Counters and measurements, in the order of [`stat_names`](Self::stat_names).
    pub fn stats(&self) -> Vec<f64> {
        self.named_stats().map(|(_, number)| number).to_vec()
    }

    /// The names of the [`stats`](Self::stats), with spaces between them.
    pub fn stat_names(&self) -> String {
        self.named_stats().map(|(name, _)| name).join(" ")
    }
}

impl BroadcastViewer {
    fn named_stats(&self) -> [(&'static str, f64); 8] {
        let stats = self.viewer.stats();
        let playout = stats.playout;
        [
            ("snapshots", stats.snapshots as f64),
            ("caughtUp", stats.caught_up as f64),
            ("late", stats.late as f64),
            ("refused", stats.refused as f64),
            ("bytes", stats.bytes as f64),
            ("delayMs", playout.delay.as_secs_f64() * 1e3),
            ("jitterMs", playout.jitter.as_secs_f64() * 1e3),
            ("starvedRatio", playout.starved_ratio),
        ]
    }
}
