//! The clock that tells a page which ticks to simulate, so that its inputs arrive in time.

use kinepack::Tick;
use kinepack_net::InputClockConfig;
use wasm_bindgen::prelude::*;

use crate::receiver::WorldReceiver;
use crate::{failed, time};

/// The clock of a page that simulates its own inputs ahead of the server.
#[wasm_bindgen]
pub struct InputClock {
    pub(crate) clock: kinepack_net::InputClock,
    first: Tick,
}

/// The settings of a clock.
#[wasm_bindgen]
pub struct InputClockSetup {
    config: InputClockConfig,
}

#[wasm_bindgen]
impl InputClockSetup {
    /// Makes a setup with default settings.
    #[wasm_bindgen(constructor)]
    pub fn new(tick_hz: u32) -> Self {
        Self { config: InputClockConfig::at_hz(tick_hz) }
    }

    /// Sets which inputs should arrive in time.
    pub fn aim(&mut self, in_time_ratio: Option<f32>, margin_ms: Option<f64>) {
        let config = &mut self.config;
        config.in_time_ratio = in_time_ratio.unwrap_or(config.in_time_ratio);
        config.margin = margin_ms.map_or(config.margin, time);
    }

    /// Sets how the clock corrects itself.
    pub fn correct(
        &mut self,
        slew_ratio: Option<f32>,
        jump_forward_ms: Option<f64>,
        jump_back_ms: Option<f64>,
    ) {
        let config = &mut self.config;
        config.slew_ratio = slew_ratio.unwrap_or(config.slew_ratio);
        config.jump_forward = jump_forward_ms.map_or(config.jump_forward, time);
        config.jump_back = jump_back_ms.map_or(config.jump_back, time);
    }

    /// Sets what the clock learns from.
    pub fn learn(&mut self, window_ms: Option<f64>, longest_frame_ms: Option<f64>) {
        let config = &mut self.config;
        config.window = window_ms.map_or(config.window, time);
        config.longest_frame = longest_frame_ms.map_or(config.longest_frame, time);
    }

    /// Makes the clock, which waits for its start.
    ///
    /// # Errors
    /// Fails if a setting is not valid.
    pub fn build(self) -> Result<InputClock, JsError> {
        let clock = kinepack_net::InputClock::new(self.config).map_err(failed)?;
        Ok(InputClock { clock, first: Tick(0) })
    }
}

#[wasm_bindgen]
impl InputClock {
    /// Starts the clock at a tick, which may have a fraction.
    pub fn start(&mut self, now_ms: f64, tick: f64) {
        self.clock.start(time(now_ms), tick);
    }

    /// Starts the clock from what a receiver of the same server knows. Returns false, and does
    /// nothing, as long as the receiver does not know the server's tick.
    pub fn start_from(&mut self, now_ms: f64, receiver: &WorldReceiver) -> bool {
        self.clock.start_from(time(now_ms), &receiver.status(now_ms))
    }

    /// Whether the clock was started.
    pub fn is_started(&self) -> bool {
        self.clock.is_started()
    }

    /// How many ticks are due, from [`first`](Self::first) on.
    pub fn ticks(&mut self, now_ms: f64) -> u32 {
        let mut ticks = self.clock.ticks(time(now_ms));
        let count = ticks.len() as u32;
        self.first = ticks.next().unwrap_or(self.first);
        count
    }

    /// The first tick of the last call of [`ticks`](Self::ticks) that had any.
    pub fn first(&self) -> u32 {
        self.first.0
    }

    /// The tick at the last call of [`ticks`](Self::ticks), with its fraction.
    pub fn tick(&self) -> f64 {
        self.clock.tick()
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

impl InputClock {
    fn named_stats(&self) -> [(&'static str, f64); 6] {
        let stats = self.clock.stats();
        [
            ("ticks", stats.ticks as f64),
            ("skipped", stats.skipped as f64),
            ("jumps", stats.jumps as f64),
            ("reports", stats.reports as f64),
            ("earlyTicks", stats.early_ticks),
            ("errorMs", stats.error_s * 1e3),
        ]
    }
}
