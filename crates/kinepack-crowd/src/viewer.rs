//! Decodes objects and datagrams, and plays the world for one viewer.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use kinepack::{Codec, DecodeLimits, SetupError, Snapshot, Tick, View};
use kinepack_net::{FramePlayer, JitterBuffer, Playback, PlayoutConfig, PlayoutStats, Pushed};

use crate::catalogue::MAX_MEMORY_BYTES;
use crate::history::History;
use crate::watched::{CHAIN_STATES, RECENT, Watched};
use crate::{Catalogue, CrowdError, Refused, Tier, Track};

/// The longest time from when a tier has caught up until the viewer shows it.
const PATIENCE: Duration = Duration::from_secs(2);
/// Tiers that are shown together wait for the slowest tier. If that tier lags by more than the sum
/// of this time and the span of an object, the other tiers wait for it, but not longer than this
/// time.
const TIER_PATIENCE: Duration = Duration::from_millis(300);
/// If the first current snapshot after [`Viewer::rejoin`] is older than the newest one by more than
/// this time, the publisher has restarted its ticks.
const RESTART: Duration = Duration::from_secs(1);

/// The limits of a viewer, and the settings of its playback.
///
/// ```
/// use kinepack_crowd::ViewerConfig;
///
/// let config = ViewerConfig::at_hz(60);
/// assert_eq!(config.playout.tick_hz, 60);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ViewerConfig {
    /// The maximum number of entities in a snapshot. The memory limit may allow fewer: see
    /// [`max_memory_bytes`](Self::max_memory_bytes).
    pub limits: DecodeLimits,
    /// The memory limit for the catalogue's codecs and for snapshots, in bytes; 256 MiB by default.
    /// The number of entities in a snapshot is limited so that all snapshots that the viewer may
    /// hold at once fit, including their learned state.
    pub max_memory_bytes: usize,
    /// The settings of playback, such as its delay.
    pub playout: PlayoutConfig,
    /// How far the viewer can go back in time. For this, it keeps 20 states per second. With zero,
    /// it keeps no states. The maximum is 2³⁰ ticks, and all states must fit into the memory limit.
    pub history: Duration,
}

impl ViewerConfig {
    /// Makes the default settings, for a simulation of `tick_hz` ticks per second.
    pub fn at_hz(tick_hz: u32) -> Self {
        Self {
            limits: DecodeLimits::default(),
            max_memory_bytes: MAX_MEMORY_BYTES,
            playout: PlayoutConfig::at_hz(tick_hz),
            history: Duration::ZERO,
        }
    }

    /// Returns the limits of a snapshot of `codec`, if `tiers` tiers together may take
    /// `memory_bytes` of memory.
    fn limits_of(&self, codec: &Codec, tiers: usize, memory_bytes: usize) -> DecodeLimits {
        let kept = History::max_states(self.history);
        let recent = if tiers > 1 { RECENT } else { 0 };
        let states = (self.playout.max_states + CHAIN_STATES + recent).saturating_add(kept);
        let learned_bytes = CHAIN_STATES * codec.learned_bytes();
        let tier_bytes = (memory_bytes / tiers).saturating_sub(learned_bytes);
        self.limits.within(codec.schema(), tier_bytes / states)
    }
}

/// Counters and measurements of a viewer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ViewerStats {
    /// The number of decoded snapshots.
    pub snapshots: u64,
    /// How many of these snapshots were decoded only to catch up, and not shown.
    pub caught_up: u64,
    /// The number of snapshots that were too late to be shown.
    pub late: u64,
    /// The number of refused objects and datagrams.
    pub refused: u64,
    /// The number of bytes of all objects and datagrams.
    pub bytes: u64,
    /// The delay and the jitter of playback.
    pub playout: PlayoutStats,
}

/// Shows a world that many viewers watch, to one of these viewers.
///
/// First call [`watch`](Self::watch) to choose a tier. Then subscribe to the tracks of
/// [`wanted`](Self::wanted), and pass their objects and datagrams to [`object`](Self::object) and
/// [`datagram`](Self::datagram). Call [`playback`](Self::playback) for each drawn frame. The caller
/// passes the time to these methods.
///
/// ```
/// use std::time::Duration;
/// use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
/// use kinepack_crowd::{Carried, Catalogue, Publisher, Tier, Viewer, ViewerConfig};
///
/// #[derive(Pack)]
/// struct Ship {
///     #[pack(range = -512.0..512.0, precision = 0.01)] // metres
///     position: [f32; 3],
/// }
///
/// let schema = Schema::of::<Ship>();
/// let codec = Codec::new(schema.clone(), Level::LEARNING, Profile::untrained(&schema))?;
/// let catalogue = Catalogue::new(60, vec![Tier::new("full", &codec, 60)])?;
/// let mut publisher = Publisher::new(&catalogue);
/// let mut viewer = Viewer::new(&catalogue, ViewerConfig::at_hz(60))?;
/// viewer.watch(0)?;
/// let mut world = Snapshot::new(&schema, Tick(0));
/// for tick in 0..90 {
///     let now = Duration::from_secs(1) * tick / 60;
///     world.clear(Tick(tick));
///     world.push(EntityId(7), &Ship { position: [0.1 * tick as f32, 0.0, 0.0] })?;
///     for piece in publisher.publish(&world)? {
///         if let Carried::Object(number) = piece.carried
///             && viewer.wanted().any(|track| track == piece.track)
///         {
///             viewer.object(now, piece.track, piece.group, number, &piece.bytes)?;
///         }
///     }
///     if let Some(playback) = viewer.playback(now) {
///         let ship: Ship = playback.samples().next().ok_or("no ship")?.state()?;
///         assert!((ship.position[0] - 0.1 * playback.tick as f32).abs() < 0.02);
///     }
/// }
/// assert_eq!(viewer.newest().ok_or("nothing")?.tick, Tick(89));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Viewer {
    tiers: Vec<Tier>,
    config: ViewerConfig,
    /// The part of the memory limit that remains for snapshots after the codecs, in bytes.
    snapshots_bytes: usize,
    /// The tiers that the viewer shows.
    shown: Vec<Watched>,
    /// The tiers that the viewer will show once all of them have caught up and the playout delay
    /// suffices.
    next: Vec<Watched>,
    needed_delay: Duration,
    buffer: JitterBuffer<Arc<Snapshot>>,
    newest: Option<Arc<Snapshot>>,
    player: FramePlayer,
    history: History,
    /// The player of the history.
    past_player: FramePlayer,
    /// Whether no current snapshot has arrived since the last [`rejoin`](Self::rejoin).
    is_rejoining: bool,
    /// The tick that was shown last, with its fraction.
    played: Option<f64>,
    stats: ViewerStats,
}

impl Viewer {
    /// Makes a viewer that does not watch any tier yet.
    ///
    /// # Errors
    /// [`CrowdError::Playout`] or [`CrowdError::History`] if `config` is not possible.
    /// [`CrowdError::Codec`] if the codecs alone exceed the [memory
    /// limit](ViewerConfig::max_memory_bytes).
    pub fn new(catalogue: &Catalogue, config: ViewerConfig) -> Result<Self, CrowdError> {
        let (memory_bytes, max_memory_bytes) = (catalogue.memory_bytes(), config.max_memory_bytes);
        let snapshots_bytes = max_memory_bytes
            .checked_sub(memory_bytes)
            .ok_or(SetupError::CodecTooLarge { memory_bytes, max_memory_bytes })?;
        let holds_none =
            |tier: &Tier| config.limits_of(&tier.codec, 1, snapshots_bytes).max_entities == 0;
        let is_too_long = !History::can_span(config.history, config.playout.tick_hz)
            || catalogue.tiers().iter().any(holds_none);
        if config.history > Duration::ZERO && is_too_long {
            return Err(CrowdError::History);
        }
        Ok(Self {
            tiers: catalogue.tiers().to_vec(),
            snapshots_bytes,
            shown: Vec::new(),
            next: Vec::new(),
            needed_delay: Duration::ZERO,
            buffer: JitterBuffer::new(config.playout).map_err(CrowdError::Playout)?,
            newest: None,
            player: FramePlayer::new(catalogue.tick_hz().into()),
            history: History::new(config.history, config.playout.tick_hz),
            past_player: FramePlayer::new(catalogue.tick_hz().into()),
            is_rejoining: false,
            played: None,
            stats: ViewerStats::default(),
            config,
        })
    }

    /// Watches a tier from now on. The previous tier is shown until the new tier has caught up.
    ///
    /// # Errors
    /// [`CrowdError::NoTier`] if there is no tier with this number.
    pub fn watch(&mut self, tier: usize) -> Result<(), CrowdError> {
        self.watch_all(&[tier])
    }

    /// Watches several tiers from now on, such as regions of the world, and shows the entities of
    /// all these tiers. If an entity is in two tiers, its newer state is shown.
    ///
    /// A moment is shown after all tiers have reached it, so the delay follows the slowest tier. If
    /// a tier lags by more than 0.3 s, the other tiers wait 0.3 s for it, and no longer.
    ///
    /// Tiers that were already watched before continue without a break. If there are no such tiers,
    /// the previous ones are shown until all new ones have caught up. Each tier gets an equal part
    /// of the [memory limit](ViewerConfig::max_memory_bytes).
    ///
    /// # Errors
    /// [`CrowdError::NoTier`] if there is no tier with one of these numbers, or if `tiers` is
    /// empty.
    pub fn watch_all(&mut self, tiers: &[usize]) -> Result<(), CrowdError> {
        let mut tiers = tiers.to_vec();
        tiers.sort_unstable();
        tiers.dedup();
        let missing = tiers.iter().find(|tier| **tier >= self.tiers.len());
        if let Some(number) = missing.copied().or(tiers.is_empty().then_some(0)) {
            return Err(CrowdError::NoTier { number });
        }
        if self.next.iter().map(|next| next.tier).eq(tiers.iter().copied()) {
            return Ok(());
        }
        let continues = self.shown.iter().any(|shown| tiers.contains(&shown.tier));
        let mut before = std::mem::take(&mut self.next);
        if continues {
            before.append(&mut self.shown);
        }
        let (all, config, snapshots_bytes) = (&self.tiers, &self.config, self.snapshots_bytes);
        // Tiers that are already being read continue.
        let watched = tiers.iter().map(|tier| {
            let limits = config.limits_of(&all[*tier].codec, tiers.len(), snapshots_bytes);
            match before.iter().position(|watched| watched.tier == *tier) {
                Some(place) => before.swap_remove(place).with_limits(limits),
                None => Watched::new(*tier, &all[*tier], limits),
            }
        });
        let watched: Vec<Watched> = watched.collect();
        self.needed_delay = Duration::ZERO;
        if self.shown.is_empty() {
            self.shown = watched;
        } else {
            self.next = watched;
            let ticks_of = |watched: &[Watched]| {
                let ticks = watched.iter().map(|of| all[of.tier].ticks_per_object());
                ticks.max().unwrap_or_default()
            };
            let ticks = ticks_of(&self.next).saturating_sub(ticks_of(&self.shown));
            let longer = Duration::from_secs(1) * ticks / config.playout.tick_hz;
            let needed = self.buffer.stats().target_delay + longer;
            self.needed_delay = needed.min(config.playout.max_delay);
        }
        self.bound_delay();
        Ok(())
    }

    /// Starts to read all tracks again. Call it after the connection was lost, or after the
    /// publisher was restarted. The viewer shows the old state until newer snapshots arrive, or
    /// snapshots of a restarted simulation.
    pub fn rejoin(&mut self) {
        self.all_watched().for_each(Watched::rejoin);
        self.is_rejoining = true;
    }

    /// Drops the states of the previous simulation, after the simulation has restarted.
    fn restart(&mut self) {
        self.buffer.reset();
        (self.newest, self.played) = (None, None);
        self.history = History::new(self.config.history, self.config.playout.tick_hz);
    }

    /// Raises the minimum delay to the delay that the next tiers need.
    fn bound_delay(&mut self) {
        let PlayoutConfig { min_delay, max_delay, .. } = self.config.playout;
        // The minimum delay does not exceed the maximum, so this cannot fail.
        let _ = self.buffer.set_delays(min_delay.max(self.needed_delay), max_delay);
    }

    /// Shows the next tiers, if that is possible without a break.
    fn change(&mut self, now: Duration) {
        let caught_up_at = self.next.iter().map(|next| next.caught_up_at);
        // The time at which the last of these tiers caught up. If one of the tiers has not caught
        // up, nothing changes yet.
        let Some(Some(caught_up_at)) = caught_up_at.reduce(|a, b| Some(a?.max(b?))) else { return };
        let tick = Duration::from_secs(1) / self.config.playout.tick_hz;
        if self.buffer.stats().delay + tick / 2 >= self.needed_delay
            || now.saturating_sub(caught_up_at) > PATIENCE
        {
            self.shown = std::mem::take(&mut self.next);
            self.needed_delay = Duration::ZERO;
            self.bound_delay();
        }
    }

    /// Iterates over the tracks of all tiers that the viewer shows or will show next. The list has
    /// a tier's track of key snapshots only until the viewer has begun to read the tier.
    pub fn wanted(&self) -> impl Iterator<Item = Track> {
        let watched = self.shown.iter().chain(&self.next);
        watched.flat_map(|watched| {
            let keys = watched.needs_key.then_some(Track::Keys(watched.tier));
            [Some(Track::Snapshots(watched.tier)), keys].into_iter().flatten()
        })
    }

    /// Handles an object, given its track, its group, and its number in the group. Returns the tick
    /// of the newest snapshot that can be decoded with this object. Returns `None` if the object
    /// waits for the snapshot that its group is coded against.
    ///
    /// # Errors
    /// [`Refused`] if the object cannot be used. In that case only counters have changed. The
    /// viewer then also refuses the rest of the group.
    pub fn object(
        &mut self,
        now: Duration,
        track: Track,
        group: u64,
        number: u64,
        bytes: &[u8],
    ) -> Result<Option<Tick>, Refused> {
        self.stats.bytes += bytes.len() as u64;
        let (mut views, tier) = (Vec::new(), track.tier());
        let taken = match (track, self.watched(tier)) {
            (_, None) => Err(Refused::NotWatched),
            (Track::Snapshots(_), Some(watched)) => {
                watched.object(now, group, number, bytes, &mut views)
            }
            (Track::Keys(_), Some(watched)) => watched.key(number, bytes, &mut views),
        };
        let of_waiting = self.watched(tier).map_or(0, |of| std::mem::take(&mut of.refused));
        self.stats.refused += of_waiting + u64::from(taken.is_err());
        views.iter().for_each(|view| self.take(now, tier, view));
        taken?;
        Ok(views.last().map(|view| view.tick))
    }

    /// Handles a datagram of a tier. Returns the tick of the snapshot, if this datagram completes
    /// it.
    ///
    /// # Errors
    /// [`Refused`] if the datagram cannot be used. In that case only counters have changed.
    pub fn datagram(
        &mut self,
        now: Duration,
        tier: usize,
        datagram: &[u8],
    ) -> Result<Option<Tick>, Refused> {
        self.stats.bytes += datagram.len() as u64;
        let taken = match self.watched(tier) {
            Some(watched) => watched.datagram(datagram),
            None => Err(Refused::NotWatched),
        };
        let view = taken.inspect_err(|_| self.stats.refused += 1)?;
        Ok(view.map(|view| {
            self.take(now, tier, &view);
            view.tick
        }))
    }

    /// Returns the world to show at `now`. Returns `None` before the first state.
    pub fn playback(&mut self, now: Duration) -> Option<Playback<'_>> {
        self.all_watched().for_each(|tier| tier.wait(now));
        let playout = self.buffer.at(now)?;
        self.played = Some(playout.tick);
        Some(self.player.show(playout.tick, &playout.from.state, &playout.to.state, []))
    }

    /// The first and the last tick that [`playback_at`](Self::playback_at) can show. The function
    /// returns `None` before the first state, and if there is no history.
    pub fn history(&self) -> Option<(Tick, Tick)> {
        self.history.range()
    }

    /// Returns the world at a moment of the [history](ViewerConfig::history), to pause and rewind.
    /// If the tick is outside of the history, the nearest state is shown.
    pub fn playback_at(&mut self, tick: f64) -> Option<Playback<'_>> {
        let [from, to] = self.history.around(tick)?;
        Some(self.past_player.show(tick, from, to, []))
    }

    /// The newest state of the tiers that are shown.
    pub fn newest(&self) -> Option<&Arc<Snapshot>> {
        self.newest.as_ref()
    }

    /// Iterates over the numbers of the tiers that are shown.
    pub fn shown_tiers(&self) -> impl Iterator<Item = usize> {
        self.shown.iter().map(|shown| shown.tier)
    }

    /// Changes the bounds of the playout delay.
    ///
    /// # Errors
    /// [`CrowdError::Playout`] if the bounds are not possible.
    pub fn set_delays(&mut self, min: Duration, max: Duration) -> Result<(), CrowdError> {
        self.buffer.set_delays(min, max).map_err(CrowdError::Playout)?;
        self.config.playout =
            PlayoutConfig { min_delay: min, max_delay: max, ..self.config.playout };
        self.needed_delay = self.needed_delay.min(max);
        self.bound_delay();
        Ok(())
    }

    /// The counters and measurements of the viewer.
    pub fn stats(&self) -> ViewerStats {
        ViewerStats { playout: self.buffer.stats(), ..self.stats }
    }

    fn watched(&mut self, tier: usize) -> Option<&mut Watched> {
        self.all_watched().find(|watched| watched.tier == tier)
    }

    fn all_watched(&mut self) -> impl Iterator<Item = &mut Watched> {
        self.shown.iter_mut().chain(&mut self.next)
    }

    /// Counts a snapshot of a tier, and shows it if it is current.
    fn take(&mut self, now: Duration, tier: usize, view: &View) {
        let tick = view.tick;
        self.stats.snapshots += 1;
        let tick_hz = f64::from(self.config.playout.tick_hz);
        let is_past = self.played.is_some_and(|played| f64::from(tick.0) <= played);
        let current =
            self.watched(tier).is_some_and(|watched| watched.advance(now, tick, tick_hz, is_past));
        let has = |tiers: &[Watched]| tiers.iter().any(|watched| watched.tier == tier);
        let is_of_many = |tiers: &[Watched]| tiers.len() > 1 && has(tiers);
        if current
            && (is_of_many(&self.shown) || is_of_many(&self.next))
            && let Some(watched) = self.watched(tier)
        {
            watched.remember(view.snapshot());
        }
        if has(&self.next) {
            self.change(now);
        }
        if !has(&self.shown) || !current {
            self.stats.caught_up += u64::from(!current);
            return;
        }
        if std::mem::take(&mut self.is_rejoining)
            && let Some(newest) = &self.newest
            && f64::from(newest.tick.0) > f64::from(tick.0) + RESTART.as_secs_f64() * tick_hz
        {
            self.restart();
        }
        if self.shown.len() == 1 {
            self.show(now, Arc::clone(view.snapshot()));
            return;
        }
        self.show_together(now, tick);
    }

    /// Returns the ticks at which all shown tiers have a state, from the first kept tick to the
    /// newest. This ignores tiers that have yet to catch up, and tiers that have lagged for too
    /// long. It also ignores tiers whose objects span more than half of the ticks that the viewer
    /// keeps of the fastest tier.
    fn reached(&mut self, now: Duration) -> Option<RangeInclusive<Tick>> {
        let newest = self.shown.iter().filter_map(Watched::current_tick).max()?;
        let (tiers, tick_hz) = (&self.tiers, self.config.playout.tick_hz);
        let steps = self.shown.iter().map(|shown| u32::from(tiers[shown.tier].ticks_per_frame));
        let most_ticks = steps.min()? * (RECENT as u32 - 2);
        let patience_ticks = (TIER_PATIENCE * tick_hz).as_secs() as u32;
        let mut reached: Option<RangeInclusive<Tick>> = None;
        for shown in &mut self.shown {
            let Some(tick) = shown.current_tick() else { continue };
            let object_ticks = tiers[shown.tier].ticks_per_object();
            let is_behind = newest.0 - tick.0 > (patience_ticks + object_ticks).min(most_ticks);
            let since = is_behind.then(|| shown.behind_since.unwrap_or(now));
            shown.behind_since = since;
            let waits = since.is_none_or(|since| now.saturating_sub(since) <= TIER_PATIENCE);
            if waits && object_ticks <= most_ticks / 2 {
                // A tier without a kept state cannot be shown at any tick.
                let first = shown.recent.front().map_or(Tick(u32::MAX), |state| state.tick);
                let (begin, end) = reached
                    .map_or((first, tick), |all| (first.max(*all.start()), tick.min(*all.end())));
                reached = Some(begin..=end);
            }
        }
        reached.or(Some(Tick(0)..=newest))
    }

    /// Shows the states of all tiers together, up to the tick that all of them have reached. The
    /// delay therefore suffices for the slowest tier. Call this after a state of `tick` has
    /// arrived.
    fn show_together(&mut self, now: Duration, tick: Tick) {
        let Some(reached) = self.reached(now) else { return };
        let newest = self.newest.as_ref().map(|newest| newest.tick);
        let was_shown = |tick: &Tick| newest.is_some_and(|newest| *tick <= newest);
        let is_due =
            |other: &Tick| if was_shown(other) { *other >= tick } else { reached.contains(other) };
        let recent = self.shown.iter().flat_map(|shown| shown.recent.iter());
        let mut ticks: Vec<Tick> = recent.map(|state| state.tick).filter(is_due).collect();
        ticks.sort_unstable();
        ticks.dedup();
        for shown in ticks {
            let state = self.together(shown);
            // A later state that was shown without this tier's new state now gets the new state.
            if shown == tick || !was_shown(&shown) {
                self.show(now, state);
            } else {
                self.replace(state);
            }
        }
    }

    /// Adds a state to the jitter buffer and the history.
    fn show(&mut self, now: Duration, state: Arc<Snapshot>) {
        if self.newest.as_ref().is_none_or(|newest| newest.tick < state.tick) {
            self.newest = Some(Arc::clone(&state));
        }
        self.history.push(&state);
        match self.buffer.push(now, state.tick, Tick(0), Arc::clone(&state)) {
            Pushed::Stored => {}
            Pushed::Late => self.stats.late += 1,
            Pushed::Duplicate => self.replace(state),
        }
    }

    /// Replaces the state that has the same tick, in the jitter buffer and in the history.
    fn replace(&mut self, state: Arc<Snapshot>) {
        if let Some(before) = self.buffer.state_mut(state.tick) {
            *before = Arc::clone(&state);
        }
        self.history.replace(&state);
        if let Some(newest) = self.newest.as_mut().filter(|newest| newest.tick == state.tick) {
            *newest = state;
        }
    }

    /// Returns the states of all shown tiers at a tick, as one snapshot.
    fn together(&self, tick: Tick) -> Arc<Snapshot> {
        let parts = self.shown.iter().filter_map(|shown| shown.recent_at(tick));
        let mut parts: Vec<&Arc<Snapshot>> = parts.collect();
        // The parts are sorted so that newer states replace older ones.
        parts.sort_by_key(|part| part.tick);
        let Some((first, rest)) = parts.split_first() else {
            return Arc::new(Snapshot::new(self.tiers[0].codec.schema(), tick));
        };
        let mut whole = Snapshot::clone(first);
        for part in rest {
            // All tiers have the same schema, so this cannot fail.
            let _ = whole.patch(&[], part);
        }
        whole.tick = tick;
        Arc::new(whole)
    }
}
