//! A spectator of a broadcast, with the shown entities and its measurements.

use std::sync::Arc;
use std::time::Duration;

use command_kit::bodies::Bodies;
use command_kit::{Distribution, Summary};
use kinepack::EntityId;
use kinepack_crowd::moq::{Address, Connector, Link, Watching};
use kinepack_crowd::{Catalogue, ViewerConfig};
use serde::Serialize;

use super::terminal::{link_status, why_not_connected};

/// The length of the history to which a spectator can go back.
const HISTORY: Duration = Duration::from_secs(60);

/// A report of the data that a spectator received.
#[derive(Clone, Debug, Serialize)]
pub(super) struct SpectatorReport {
    pub(super) tier: String,
    pub(super) seconds: f64,
    /// The number of snapshots that were decoded.
    pub(super) snapshots: u64,
    /// The number of objects and datagrams that were refused.
    pub(super) refused: u64,
    /// The number of snapshots that were too late to be shown.
    pub(super) late: u64,
    /// The number of bytes received until a moment after the first world was shown. Most of these
    /// bytes are the profile.
    pub(super) joining_bytes: u64,
    /// The bandwidth after that moment, with all headers.
    pub(super) kbps: f64,
    /// The delay of playback behind the fastest recent snapshot.
    pub(super) playout_delay_ms: Summary,
}

/// The moment that is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Moment {
    Present,
    /// A tick of the history.
    Past {
        tick: f64,
        is_paused: bool,
    },
}

impl Moment {
    fn paused(self, shown_tick: f64) -> Self {
        match self {
            Self::Present => Self::Past { tick: shown_tick, is_paused: true },
            Self::Past { tick, is_paused } => Self::Past { tick, is_paused: !is_paused },
        }
    }

    /// Returns the moment after a jump to a tick. A jump to the end of the history or beyond shows
    /// the present.
    fn jumped(self, tick: f64, (first, last): (f64, f64)) -> Self {
        let is_paused = matches!(self, Self::Past { is_paused: true, .. });
        if tick >= last { Self::Present } else { Self::Past { tick: tick.max(first), is_paused } }
    }

    /// Returns the moment `ticks` ticks later. A paused moment moves forward when the history no
    /// longer contains it.
    fn advanced(self, ticks: f64, history: Option<(f64, f64)>) -> Self {
        match (self, history) {
            (Self::Past { tick, is_paused }, Some((first, last))) => {
                let tick = if is_paused { tick } else { tick + ticks };
                let is_past = tick < last;
                if is_past {
                    Self::Past { tick: tick.max(first), is_paused }
                } else {
                    Self::Present
                }
            }
            _ => Self::Present,
        }
    }
}

pub(super) struct Spectator {
    watching: Watching,
    catalogue: Option<Arc<Catalogue>>,
    bodies: Option<Bodies>,
    link: Link,
    delay_ms: Distribution,
    last_delay_ms: f64,
    moment: Moment,
    /// The time at which the last frame was played.
    played: Duration,
    shown_tick: f64,
    /// The entities as they were shown last.
    pub(super) shown: Vec<(EntityId, [f32; 3])>,
    /// The bytes received until the last measurement of the rate, and its time.
    measured: (u64, Duration),
    kbps: f64,
    seconds_shown: u32,
    /// The bytes received until the spectator had joined, and the time at which it had.
    joined: Option<(u64, Duration)>,
}

impl Spectator {
    /// Begins to watch. The caller must be within a runtime.
    pub(super) fn new(connector: &Connector, address: &Address, tiers: &[String]) -> Self {
        let tiers: Vec<&str> = tiers.iter().map(String::as_str).collect();
        Self {
            watching: Watching::start(connector, address, &tiers),
            catalogue: None,
            bodies: None,
            link: Link::Connecting { because: None },
            delay_ms: Distribution::default(),
            last_delay_ms: 0.0,
            moment: Moment::Present,
            played: Duration::ZERO,
            shown_tick: 0.0,
            shown: Vec::new(),
            measured: (0, Duration::ZERO),
            kbps: 0.0,
            seconds_shown: 0,
            joined: None,
        }
    }

    /// Keeps a history of received frames, so that the spectator can go back.
    pub(super) fn with_history(mut self) -> Self {
        let configure = |hz| ViewerConfig { history: HISTORY, ..ViewerConfig::at_hz(hz) };
        self.watching = self.watching.with_config(configure);
        self
    }

    /// Pauses, or continues from the paused moment.
    pub(super) fn pause(&mut self) {
        self.moment = self.moment.paused(self.shown_tick);
    }

    /// Jumps forward by `seconds`, or back if they are negative.
    pub(super) fn jump(&mut self, seconds: f64) {
        if let Some(history) = self.history() {
            let tick = self.shown_tick + seconds * self.tick_hz();
            self.moment = self.moment.jumped(tick, history);
        }
    }

    /// Shows the present again.
    pub(super) fn go_live(&mut self) {
        self.moment = Moment::Present;
    }

    /// Watches the next tier of the catalogue.
    pub(super) fn next_tier(&mut self) {
        if let Some((names, shown)) = self.tiers() {
            let place = names.iter().position(|name| *name == shown).unwrap_or(0);
            self.watching.watch(&[&names[(place + 1) % names.len()]]);
        }
    }

    /// Moves the shown moment of the past, until it reaches the present.
    fn advance(&mut self, now: Duration) {
        let since_s = now.saturating_sub(self.played).as_secs_f64();
        self.played = now;
        let (ticks, history) = (since_s * self.tick_hz(), self.history());
        self.moment = self.moment.advanced(ticks, history);
    }

    fn tick_hz(&self) -> f64 {
        self.watching.catalogue().map_or(60.0, |catalogue| catalogue.tick_hz().into())
    }

    fn history(&mut self) -> Option<(f64, f64)> {
        let (first, last) = self.watching.viewer()?.history()?;
        Some((first.0.into(), last.0.into()))
    }

    /// Takes the received bytes and plays them. Returns a line if the state of the relay's link
    /// changed.
    pub(super) fn frame(&mut self) -> Option<String> {
        self.watching.update();
        let now = self.watching.now();
        let (bytes_then, then) = self.measured;
        if now >= then + Duration::from_secs(1) {
            let bytes = self.watching.received_bytes();
            let grown = bytes.saturating_sub(bytes_then) as f64;
            self.kbps = grown * 8e-3 / (now - then).as_secs_f64();
            self.measured = (bytes, now);
            if !self.shown.is_empty() {
                self.seconds_shown += 1;
            }
            // The count of bytes is up to a second old.
            if self.seconds_shown == 2 {
                self.joined = Some(self.measured);
            }
        }
        if let Some(catalogue) = self.watching.catalogue()
            && !self.catalogue.as_ref().is_some_and(|before| Arc::ptr_eq(before, catalogue))
        {
            // All tiers have the same kinds and fields.
            self.bodies = Some(Bodies::new(catalogue.tiers()[0].codec.schema()));
            self.catalogue = Some(Arc::clone(catalogue));
            self.moment = Moment::Present;
        }
        self.advance(now);
        if let (Some(viewer), Some(bodies)) = (self.watching.viewer(), &mut self.bodies) {
            let playback = match self.moment {
                Moment::Present => viewer.playback(now),
                Moment::Past { tick, .. } => {
                    // Playback of the present continues, so that the spectator can return to it.
                    let _ = viewer.playback(now);
                    viewer.playback_at(tick)
                }
            };
            if let Some(playback) = playback {
                self.shown_tick = playback.tick;
                self.shown.clear();
                for sample in playback.samples() {
                    let (state, index) = sample.from;
                    let kind = &mut bodies.kinds[state.kind_at(index).unwrap_or(0)];
                    if let Ok(pose) = kind.pose((state, index), sample.to, sample.between) {
                        self.shown.push((sample.id, pose.position.map(|number| number as f32)));
                    }
                }
            }
            if viewer.newest().is_some() {
                self.last_delay_ms = viewer.stats().playout.delay.as_secs_f64() * 1e3;
                self.delay_ms.add(self.last_delay_ms);
            }
        }
        self.link_change()
    }

    fn link_change(&mut self) -> Option<String> {
        let link = self.watching.link();
        if *link == self.link {
            return None;
        }
        self.link = link.clone();
        Some(link_status(link))
    }

    /// Returns the likely reason if no world arrives.
    pub(super) fn reason(&self) -> String {
        why_not_connected(self.watching.link())
            .unwrap_or_else(|| "the relay has no such broadcast".to_owned())
    }

    /// Returns the names of the tiers, and the one that is shown.
    pub(super) fn tiers(&mut self) -> Option<(Vec<String>, String)> {
        let catalogue = self.watching.catalogue()?.clone();
        let shown: Vec<usize> = self.watching.viewer()?.shown_tiers().collect();
        let names: Vec<String> = catalogue.tiers().iter().map(|tier| tier.name.clone()).collect();
        let shown: Vec<&str> = shown.iter().map(|tier| names[*tier].as_str()).collect();
        let shown = shown.join(", ");
        Some((names, shown))
    }

    /// Returns a line of text about the shown moment.
    pub(super) fn status(&mut self) -> String {
        let Some((names, shown)) = self.tiers() else { return self.reason() };
        let moment = match self.moment {
            Moment::Present => String::new(),
            Moment::Past { tick, is_paused } => {
                let last = self.history().map_or(tick, |(_, last)| last);
                let paused = if is_paused { ", paused" } else { "" };
                format!("{:.1} s ago{paused}; ", (last - tick) / self.tick_hz())
            }
        };
        let snapshots = self.watching.viewer().map_or(0, |viewer| viewer.stats().snapshots);
        format!(
            "{moment}{shown} of {}: {:.1} kbit/s, delay {:.0} ms, {snapshots} snapshots",
            names.join(", "),
            self.kbps,
            self.last_delay_ms,
        )
    }

    /// Returns the report, or `None` if no world arrived.
    pub(super) fn report(mut self) -> Option<SpectatorReport> {
        let (_, tier) = self.tiers()?;
        let seconds = self.watching.now().as_secs_f64();
        let (joining_bytes, joined) = self.joined.unwrap_or_default();
        let (bytes, measured) = self.measured;
        let since_s = measured.saturating_sub(joined).as_secs_f64();
        let stats = self.watching.viewer()?.stats();
        Some(SpectatorReport {
            tier,
            seconds,
            snapshots: stats.snapshots,
            refused: stats.refused,
            late: stats.late,
            joining_bytes,
            kbps: (bytes - joining_bytes) as f64 * 8e-3 / since_s.max(1.0),
            playout_delay_ms: self.delay_ms.summary(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HISTORY_TICKS: (f64, f64) = (100.0, 700.0);

    #[test]
    fn a_spectator_pauses_goes_back_and_comes_to_the_present_again() {
        let past = |tick, is_paused| Moment::Past { tick, is_paused };
        let paused = Moment::Present.paused(650.0);
        assert_eq!(paused, past(650.0, true));
        assert_eq!(paused.advanced(60.0, Some(HISTORY_TICKS)), paused);
        let back = paused.jumped(500.0, HISTORY_TICKS);
        assert_eq!(back, past(500.0, true));
        let on = back.paused(500.0).advanced(60.0, Some(HISTORY_TICKS));
        assert_eq!(on, past(560.0, false));
        assert_eq!(on.advanced(140.0, Some(HISTORY_TICKS)), Moment::Present);
        assert_eq!(on.jumped(10.0, HISTORY_TICKS), past(100.0, false), "the oldest");
        assert_eq!(on.jumped(800.0, HISTORY_TICKS), Moment::Present);
        assert_eq!(paused.advanced(0.0, Some((680.0, 900.0))), past(680.0, true), "moved on");
        assert_eq!(on.advanced(1.0, None), Moment::Present, "another broadcast");
    }
}
