//! The viewing side: objects and datagrams in, states to show out.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use kinepack::group::GroupReader;
use kinepack::{Codec, DecodeLimits, Decoder, Snapshot, Tick, View};
use kinepack_net::{FramePlayer, JitterBuffer, Playback, PlayoutConfig, PlayoutStats, Pushed};

use crate::datagram::{Head, Parts, is_group};
use crate::{Carry, Catalogue, CrowdError, Refused, Tier};

/// Groups of one tier that are read at the same time.
const GROUPS: usize = 2;
/// The snapshots that the groups of two tiers hold, with one that is being read.
const CHAIN_STATES: usize = 2 * GROUPS * 3 + 1;
/// A snapshot that comes in less than this share of its time after the one before it came from what
/// a relay has kept. The viewer has not caught up then.
const CAUGHT_UP: f64 = 0.5;
/// A tier is shown at the latest this long after it has caught up.
const PATIENCE: Duration = Duration::from_secs(2);

/// Limits of a viewer, and how it plays.
///
/// ```
/// use kinepack_crowd::ViewerConfig;
///
/// let config = ViewerConfig::at_hz(60);
/// assert_eq!(config.playout.tick_hz, 60);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ViewerConfig {
    /// The most entities of a snapshot. [`max_memory_bytes`](Self::max_memory_bytes) may allow
    /// fewer.
    pub limits: DecodeLimits,
    /// The memory for snapshots, 256 MiB: their number of entities is limited so that all that the
    /// viewer may hold at once fit.
    pub max_memory_bytes: usize,
    /// The delay of playback.
    pub playout: PlayoutConfig,
}

impl ViewerConfig {
    /// The defaults, for a simulation of this many ticks a second.
    pub fn at_hz(tick_hz: u32) -> Self {
        Self {
            limits: DecodeLimits::default(),
            max_memory_bytes: 256 << 20,
            playout: PlayoutConfig::at_hz(tick_hz),
        }
    }

    /// The limits of a snapshot of this codec.
    fn limits_of(&self, codec: &Codec) -> DecodeLimits {
        let states = self.playout.max_states + CHAIN_STATES;
        self.limits.within(codec.schema(), self.max_memory_bytes / states)
    }
}

/// Counters and measurements of a viewer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ViewerStats {
    /// Snapshots decoded.
    pub snapshots: u64,
    /// Those that were only read to catch up, and not shown.
    pub caught_up: u64,
    /// Those too late to be shown.
    pub late: u64,
    /// Objects and datagrams refused.
    pub refused: u64,
    /// Bytes of all objects and datagrams.
    pub bytes: u64,
    /// Playback's delay and jitter.
    pub playout: PlayoutStats,
}

/// Shows one world that many watch.
///
/// Order of calls: [`watch`](Self::watch) chooses a tier. Subscribe to the tracks of
/// [`wanted`](Self::wanted), and pass what they bring to [`object`](Self::object) and
/// [`datagram`](Self::datagram). Call [`playback`](Self::playback) for each drawn frame. The caller
/// supplies the time.
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
///         if let Carried::Object(number) = piece.carried {
///             viewer.object(now, piece.tier, piece.group, number, &piece.bytes)?;
///         }
///     }
///     if let Some(playback) = viewer.playback(now) {
///         let ship: Ship = playback.samples().next().ok_or("no ship")?.state()?;
///         assert!((ship.position[0] - 0.1 * playback.tick() as f32).abs() < 0.02);
///     }
/// }
/// assert_eq!(viewer.newest().ok_or("nothing")?.tick, Tick(89));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Viewer {
    tiers: Vec<Tier>,
    config: ViewerConfig,
    /// The tier that is shown.
    shown: Option<Watched>,
    /// The tier that will be shown once it has caught up and the delay suffices for it.
    next: Option<Watched>,
    needed_delay: Duration,
    buffer: JitterBuffer<Arc<Snapshot>>,
    newest: Option<Arc<Snapshot>>,
    player: FramePlayer,
    stats: ViewerStats,
}

/// What is read of a tier.
#[derive(Debug)]
struct Watched {
    tier: usize,
    codec: Codec,
    limits: DecodeLimits,
    reading: Reading,
    /// The newest snapshot and when it came.
    last: Option<(Duration, Tick)>,
    /// When it had read what the relay had kept.
    caught_up_at: Option<Duration>,
}

#[derive(Debug)]
enum Reading {
    Groups(VecDeque<Chain>),
    Datagrams { heads: VecDeque<(u64, GroupReader)>, decoder: Box<Decoder>, parts: Parts },
}

/// A group that is being read.
#[derive(Debug)]
struct Chain {
    group: u64,
    reader: GroupReader,
    /// The number of the next object; `None` after one was missed or refused.
    next: Option<u64>,
}

impl Viewer {
    /// A viewer that watches nothing yet.
    ///
    /// # Errors
    /// [`CrowdError::Playout`].
    pub fn new(catalogue: &Catalogue, config: ViewerConfig) -> Result<Self, CrowdError> {
        Ok(Self {
            tiers: catalogue.tiers().to_vec(),
            shown: None,
            next: None,
            needed_delay: Duration::ZERO,
            buffer: JitterBuffer::new(config.playout).map_err(CrowdError::Playout)?,
            newest: None,
            player: FramePlayer::new(catalogue.tick_hz().into()),
            stats: ViewerStats::default(),
            config,
        })
    }

    /// Watches a tier from now on. The one before stays in view until the new one has caught up.
    ///
    /// # Errors
    /// [`CrowdError::NoTier`].
    pub fn watch(&mut self, tier: usize) -> Result<(), CrowdError> {
        let of = self.tiers.get(tier).ok_or(CrowdError::NoTier { number: tier })?;
        self.next = None;
        self.needed_delay = Duration::ZERO;
        let watched = Watched::new(tier, of, self.config.limits_of(&of.codec));
        match &self.shown {
            None => self.shown = Some(watched),
            Some(shown) if shown.tier == tier => {}
            Some(shown) => {
                let ticks =
                    of.ticks_per_frame.saturating_sub(self.tiers[shown.tier].ticks_per_frame);
                let longer = Duration::from_secs(1) * ticks.into() / self.config.playout.tick_hz;
                let PlayoutConfig { max_delay, .. } = self.config.playout;
                self.needed_delay = (self.buffer.stats().target_delay + longer).min(max_delay);
                self.next = Some(watched);
            }
        }
        self.bound_delay();
        Ok(())
    }

    /// Lets the delay grow to what the next tier needs.
    fn bound_delay(&mut self) {
        let PlayoutConfig { min_delay, max_delay, .. } = self.config.playout;
        // The least delay does not exceed the largest, so this cannot fail.
        let _ = self.buffer.set_delays(min_delay.max(self.needed_delay), max_delay);
    }

    /// Shows the next tier, if that is possible without a break.
    fn change(&mut self, now: Duration) {
        let Some(caught_up_at) = self.next.as_ref().and_then(|next| next.caught_up_at) else {
            return;
        };
        let tick = Duration::from_secs(1) / self.config.playout.tick_hz;
        if self.buffer.stats().delay + tick / 2 >= self.needed_delay
            || now.saturating_sub(caught_up_at) > PATIENCE
        {
            self.shown = self.next.take();
            self.needed_delay = Duration::ZERO;
            self.bound_delay();
        }
    }

    /// The tiers whose tracks the viewer needs: at most two, while it changes from one to the
    /// other.
    pub fn wanted(&self) -> impl Iterator<Item = usize> {
        [&self.shown, &self.next].into_iter().flatten().map(|watched| watched.tier)
    }

    /// Takes an object: its tier, its group, and its number in the group. Returns the tick of the
    /// snapshot.
    ///
    /// # Errors
    /// [`Refused`]. Only counters have changed, and the rest of the group will be refused too.
    pub fn object(
        &mut self,
        now: Duration,
        tier: usize,
        group: u64,
        number: u64,
        bytes: &[u8],
    ) -> Result<Tick, Refused> {
        self.stats.bytes += bytes.len() as u64;
        let taken = match self.watched(tier) {
            Some(watched) => watched.object(group, number, bytes),
            None => Err(Refused::NotWatched),
        };
        self.finish(now, tier, taken.map(Some)).map(Option::unwrap_or_default)
    }

    /// Takes a datagram of a tier. Returns the tick of the snapshot, if this was its last part.
    ///
    /// # Errors
    /// [`Refused`]. Only counters have changed.
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
        self.finish(now, tier, taken)
    }

    /// What to show at `now`. `None` before the first state.
    pub fn playback(&mut self, now: Duration) -> Option<Playback<'_>> {
        let playout = self.buffer.at(now)?;
        Some(self.player.show(playout.tick, &playout.from.state, &playout.to.state, []))
    }

    /// The newest state of the tier that is shown.
    pub fn newest(&self) -> Option<&Arc<Snapshot>> {
        self.newest.as_ref()
    }

    /// The tier that is shown.
    pub fn shown_tier(&self) -> Option<usize> {
        self.shown.as_ref().map(|shown| shown.tier)
    }

    /// Changes the bounds of the playout delay.
    ///
    /// # Errors
    /// [`CrowdError::Playout`].
    pub fn set_delays(&mut self, min: Duration, max: Duration) -> Result<(), CrowdError> {
        self.buffer.set_delays(min, max).map_err(CrowdError::Playout)?;
        self.config.playout =
            PlayoutConfig { min_delay: min, max_delay: max, ..self.config.playout };
        self.needed_delay = self.needed_delay.min(max);
        self.bound_delay();
        Ok(())
    }

    /// Counters and measurements.
    pub fn stats(&self) -> ViewerStats {
        ViewerStats { playout: self.buffer.stats(), ..self.stats }
    }

    fn watched(&mut self, tier: usize) -> Option<&mut Watched> {
        let watched = [&mut self.shown, &mut self.next].into_iter().flatten();
        watched.into_iter().find(|watched| watched.tier == tier)
    }

    /// Counts what was read of a tier, and shows it if it is current.
    fn finish(
        &mut self,
        now: Duration,
        tier: usize,
        taken: Result<Option<View>, Refused>,
    ) -> Result<Option<Tick>, Refused> {
        let view = match taken {
            Ok(Some(view)) => view,
            Ok(None) => return Ok(None),
            Err(refused) => {
                self.stats.refused += 1;
                return Err(refused);
            }
        };
        let tick = view.tick;
        self.stats.snapshots += 1;
        let tick_hz = f64::from(self.config.playout.tick_hz);
        let current = self.watched(tier).is_some_and(|watched| watched.advance(now, tick, tick_hz));
        if self.next.as_ref().is_some_and(|next| next.tier == tier) {
            self.change(now);
        }
        let is_shown = self.shown.as_ref().is_some_and(|shown| shown.tier == tier);
        if !is_shown || !current {
            self.stats.caught_up += u64::from(!current);
            return Ok(Some(tick));
        }
        let state = Arc::clone(view.snapshot());
        if self.newest.as_ref().is_none_or(|newest| newest.tick <= tick) {
            self.newest = Some(Arc::clone(&state));
        }
        let pushed = self.buffer.push(now, tick, Tick(0), state);
        self.stats.late += u64::from(pushed == Pushed::Late);
        Ok(Some(tick))
    }
}

impl Watched {
    fn new(tier: usize, of: &Tier, limits: DecodeLimits) -> Self {
        let reading = match of.carry {
            Carry::Groups => Reading::Groups(VecDeque::new()),
            Carry::Datagrams => Reading::Datagrams {
                heads: VecDeque::new(),
                decoder: Box::new(Decoder::with_limits(&of.codec, limits)),
                parts: Parts::default(),
            },
        };
        let codec = of.codec.clone();
        Self { tier, codec, limits, reading, last: None, caught_up_at: None }
    }

    fn object(&mut self, group: u64, number: u64, bytes: &[u8]) -> Result<View, Refused> {
        let reader = || GroupReader::with_limits(&self.codec, self.limits);
        match &mut self.reading {
            Reading::Groups(chains) => {
                let chain = place(chains, group, number, |group| Chain {
                    group,
                    reader: reader(),
                    next: Some(0),
                })?;
                // After a refusal it stays `None`.
                if chain.next.take() != Some(number) {
                    return Err(Refused::Broken);
                }
                let view = read(&mut chain.reader, bytes)?;
                chain.next = Some(number + 1);
                Ok(view)
            }
            Reading::Datagrams { heads, .. } => {
                if number > 0 {
                    return Err(Refused::Broken);
                }
                if heads.iter().any(|(other, _)| *other >= group) {
                    return Err(Refused::Late);
                }
                let mut head = reader();
                let view = read(&mut head, bytes)?;
                heads.push_back((group, head));
                if heads.len() > GROUPS {
                    heads.pop_front();
                }
                Ok(view)
            }
        }
    }

    fn datagram(&mut self, datagram: &[u8]) -> Result<Option<View>, Refused> {
        let Reading::Datagrams { heads, decoder, parts } = &mut self.reading else {
            return Err(Refused::NotWatched);
        };
        let (head, part) = Head::read(datagram)?;
        let found = heads.iter().rev().find(|(group, _)| is_group(*group, head.group));
        let base = found.and_then(|(_, reader)| reader.last()).ok_or(Refused::NoHead)?;
        let tick = Tick(base.tick.0.wrapping_add(head.ticks.into()));
        if head.part.1 == 1 {
            return Ok(Some(decoder.decode(base, part, tick)?));
        }
        let Some(packet) = parts.add(&head, part)? else { return Ok(None) };
        Ok(Some(decoder.decode(base, &packet, tick)?))
    }

    /// Notes a snapshot. Returns whether it is current: neither kept by a relay nor older than one
    /// before.
    fn advance(&mut self, now: Duration, tick: Tick, tick_hz: f64) -> bool {
        let Some((before, last)) = self.last else {
            self.last = Some((now, tick));
            return false;
        };
        let ticks = tick.0.wrapping_sub(last.0) as i32;
        if ticks > 0 {
            let since = now.saturating_sub(before).as_secs_f64() * tick_hz;
            if since >= CAUGHT_UP * f64::from(ticks) {
                self.caught_up_at.get_or_insert(now);
            }
            self.last = Some((now, tick));
        }
        self.caught_up_at.is_some()
    }
}

/// The chain of a group, which its first object begins.
fn place(
    chains: &mut VecDeque<Chain>,
    group: u64,
    number: u64,
    new: impl FnOnce(u64) -> Chain,
) -> Result<&mut Chain, Refused> {
    if let Some(at) = chains.iter().position(|chain| chain.group == group) {
        return Ok(&mut chains[at]);
    }
    if chains.back().is_some_and(|newest| group < newest.group) {
        return Err(Refused::Late);
    }
    if number > 0 {
        return Err(Refused::Broken);
    }
    if chains.len() == GROUPS {
        chains.pop_front();
    }
    chains.push_back(new(group));
    chains.back_mut().ok_or(Refused::Late)
}

/// Reads an object, which is exactly one frame.
fn read(reader: &mut GroupReader, mut bytes: &[u8]) -> Result<View, Refused> {
    let view = reader.read(&mut bytes)?.cloned();
    if bytes.is_empty() { view.ok_or(Refused::Length) } else { Err(Refused::Length) }
}
