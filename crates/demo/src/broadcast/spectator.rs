//! A spectator of a broadcast: what it shows, and what it measures.

use std::time::Duration;

use command_kit::bodies::Bodies;
use command_kit::{Distribution, Summary};
use kinepack::EntityId;
use kinepack_crowd::moq::{Address, Connector, Link, Watching};
use serde::Serialize;

/// What a spectator received.
#[derive(Clone, Debug, Serialize)]
pub(super) struct SpectatorReport {
    pub(super) tier: String,
    pub(super) seconds: f64,
    /// Snapshots decoded.
    pub(super) snapshots: u64,
    /// Objects and datagrams refused.
    pub(super) refused: u64,
    /// Snapshots too late to be shown.
    pub(super) late: u64,
    /// What came until a moment after the first world was shown, above all the profile, in bytes.
    pub(super) joining_bytes: u64,
    /// What comes after that, with all headers.
    pub(super) kbps: f64,
    /// Playback lags by this, compared with the fastest recent snapshot.
    pub(super) playout_delay_ms: Summary,
}

pub(super) struct Spectator {
    watching: Watching,
    tier: Option<String>,
    bodies: Option<Bodies>,
    link: Link,
    delay_ms: Distribution,
    last_delay_ms: f64,
    /// The entities as they were shown last.
    pub(super) shown: Vec<(EntityId, [f32; 3])>,
    /// Bytes at the last measurement of the rate, and when that was.
    measured: (u64, Duration),
    kbps: f64,
    seconds_shown: u32,
    /// The bytes and the time when it had joined.
    joined: Option<(u64, Duration)>,
}

impl Spectator {
    /// Begins to watch. Call it within a runtime.
    pub(super) fn new(connector: &Connector, address: &Address, tier: Option<&str>) -> Self {
        Self {
            watching: Watching::start(connector, address, tier),
            tier: tier.map(str::to_owned),
            bodies: None,
            link: Link::Connecting { because: None },
            delay_ms: Distribution::default(),
            last_delay_ms: 0.0,
            shown: Vec::new(),
            measured: (0, Duration::ZERO),
            kbps: 0.0,
            seconds_shown: 0,
            joined: None,
        }
    }

    /// Takes what has come, and plays it. Returns a line of news about the relay, if there is one.
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
        if self.bodies.is_none()
            && let Some(catalogue) = self.watching.catalogue()
        {
            let tier = self.tier.as_deref().and_then(|name| catalogue.find(name)).unwrap_or(0);
            self.bodies = Some(Bodies::new(catalogue.tiers()[tier].codec.schema()));
        }
        if let (Some(viewer), Some(bodies)) = (self.watching.viewer(), &mut self.bodies) {
            if let Some(playback) = viewer.playback(now) {
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
        self.news()
    }

    fn news(&mut self) -> Option<String> {
        let link = self.watching.link();
        if *link == self.link {
            return None;
        }
        self.link = link.clone();
        Some(match link {
            Link::Connected => "the relay is connected".to_owned(),
            Link::Connecting { because: Some(error) } => format!("{error}; trying again"),
            Link::Connecting { because: None } => "connecting to the relay".to_owned(),
        })
    }

    /// Why nothing comes.
    pub(super) fn reason(&self) -> String {
        match self.watching.link() {
            Link::Connected => "the relay has no such broadcast".to_owned(),
            Link::Connecting { because: Some(error) } => error.to_string(),
            Link::Connecting { because: None } => "the relay has not answered yet".to_owned(),
        }
    }

    /// The names of the tiers, and the one that is shown.
    pub(super) fn tiers(&mut self) -> Option<(Vec<String>, String)> {
        let catalogue = self.watching.catalogue()?.clone();
        let shown = self.watching.viewer()?.shown_tier()?;
        let names: Vec<String> = catalogue.tiers().iter().map(|tier| tier.name.clone()).collect();
        let shown = names.get(shown)?.clone();
        Some((names, shown))
    }

    /// One line about this moment.
    pub(super) fn status(&mut self) -> String {
        let Some((names, shown)) = self.tiers() else { return self.reason() };
        let snapshots = self.watching.viewer().map_or(0, |viewer| viewer.stats().snapshots);
        format!(
            "{shown} of {}: {:.1} kbit/s with all headers, playout delay {:.0} ms, {snapshots} \
             snapshots",
            names.join(", "),
            self.kbps,
            self.last_delay_ms,
        )
    }

    /// `None` if no world came.
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
