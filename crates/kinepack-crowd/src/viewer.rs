//! The viewing side: objects and datagrams in, states to show out.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use kinepack::group::GroupReader;
use kinepack::{Codec, DecodeLimits, Decoder, Snapshot, Tick, View};
use kinepack_net::{FramePlayer, JitterBuffer, Playback, PlayoutConfig, PlayoutStats, Pushed};

use crate::catalogue::MAX_FRAMES;
use crate::datagram::{Head, Parts, is_group};
use crate::history::History;
use crate::{Carry, Catalogue, CrowdError, Refused, Tier, Track};

/// Groups of one tier that are read at the same time.
const GROUPS: usize = 2;
/// Key snapshots of one tier that are kept.
const KEYS: usize = 2;
/// After this time a group that waits needs a key snapshot: the group before it does not come.
const KEY_PATIENCE: Duration = Duration::from_millis(250);
/// The bytes of a tick.
const TICK_BYTES: usize = 4;
/// What may wait of a group.
const MAX_WAITING_OBJECTS: usize = 1024;
const MAX_WAITING_BYTES: usize = 1 << 20;
/// The snapshots that the groups and keys of two tiers hold, with an object that is being read.
const CHAIN_STATES: usize = 2 * (GROUPS * 3 + KEYS) + MAX_FRAMES as usize;
/// A snapshot that comes in less than this share of its time after the one before it came from what
/// a relay has kept. The viewer has not caught up then.
const CAUGHT_UP: f64 = 0.5;
/// A tier is shown at the latest this long after it has caught up.
const PATIENCE: Duration = Duration::from_secs(2);
/// If the first current snapshot after [`Viewer::rejoin`] is older than what was seen by more than
/// this, the publisher's ticks have begun again.
const RESTART: Duration = Duration::from_secs(1);

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
    /// For how long it keeps states to go back to, 20 a second. Zero keeps none.
    pub history: Duration,
}

impl ViewerConfig {
    /// The defaults, for a simulation of this many ticks a second.
    pub fn at_hz(tick_hz: u32) -> Self {
        Self {
            limits: DecodeLimits::default(),
            max_memory_bytes: 256 << 20,
            playout: PlayoutConfig::at_hz(tick_hz),
            history: Duration::ZERO,
        }
    }

    /// The limits of a snapshot of this codec.
    fn limits_of(&self, codec: &Codec) -> DecodeLimits {
        let kept = History::max_states(self.history);
        let states = self.playout.max_states + CHAIN_STATES + kept;
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
///         if let Carried::Object(number) = piece.carried
///             && viewer.wanted().any(|track| track == piece.track)
///         {
///             viewer.object(now, piece.track, piece.group, number, &piece.bytes)?;
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
    history: History,
    /// Plays the history.
    past_player: FramePlayer,
    /// No current snapshot has come since [`rejoin`](Self::rejoin).
    is_rejoining: bool,
    stats: ViewerStats,
}

/// What is read of a tier.
#[derive(Debug)]
struct Watched {
    tier: usize,
    codec: Codec,
    limits: DecodeLimits,
    /// The most frames of an object.
    most_frames: usize,
    /// The groups that are being read, by number.
    groups: VecDeque<Group>,
    /// The newest key snapshots.
    keys: VecDeque<View>,
    needs_key: bool,
    /// For a tier in datagrams.
    datagrams: Option<(Box<Decoder>, Parts)>,
    /// The newest snapshot and when it came.
    last: Option<(Duration, Tick)>,
    /// When it had read what the relay had kept.
    caught_up_at: Option<Duration>,
}

/// A group that is being read.
#[derive(Debug)]
struct Group {
    number: u64,
    reading: Reading,
}

#[derive(Debug)]
enum Reading {
    /// The snapshot of the tick `given` is not there yet.
    Waiting { since: Duration, given: Tick, objects: Vec<Vec<u8>> },
    /// `next` is the number of the next object.
    Open { reader: Box<GroupReader>, next: u64 },
    /// An object was missed or refused.
    Broken,
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
            history: History::new(config.history, config.playout.tick_hz),
            past_player: FramePlayer::new(catalogue.tick_hz().into()),
            is_rejoining: false,
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
                let before = self.tiers[shown.tier].ticks_per_object();
                let ticks = of.ticks_per_object().saturating_sub(before);
                let longer = Duration::from_secs(1) * ticks / self.config.playout.tick_hz;
                let PlayoutConfig { max_delay, .. } = self.config.playout;
                self.needed_delay = (self.buffer.stats().target_delay + longer).min(max_delay);
                self.next = Some(watched);
            }
        }
        self.bound_delay();
        Ok(())
    }

    /// Begins to read all tracks anew, as after a connection was lost, or after the publisher started
    /// again. What is shown stays until newer snapshots come, or snapshots of a simulation that has
    /// begun again.
    pub fn rejoin(&mut self) {
        [&mut self.shown, &mut self.next].into_iter().flatten().for_each(Watched::rejoin);
        self.is_rejoining = true;
    }

    /// Forgets what was seen of a simulation that has begun again.
    fn restart(&mut self) {
        self.buffer.reset();
        self.newest = None;
        self.history = History::new(self.config.history, self.config.playout.tick_hz);
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

    /// The tracks that the viewer needs now: those of at most two tiers, while it changes from one
    /// to the other. It needs a tier's key snapshots only until it has begun to read.
    pub fn wanted(&self) -> impl Iterator<Item = Track> {
        let watched = [&self.shown, &self.next].into_iter().flatten();
        watched.flat_map(|watched| {
            let keys = watched.needs_key.then_some(Track::Keys(watched.tier));
            [Some(Track::Snapshots(watched.tier)), keys].into_iter().flatten()
        })
    }

    /// Takes an object: its track, its group, and its number in the group. Returns the tick of the
    /// newest snapshot that could be read with it. `None` if the object waits for the snapshot that
    /// it stands on.
    ///
    /// # Errors
    /// [`Refused`]. Only counters have changed, and the rest of the group will be refused too.
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
        views.iter().for_each(|view| self.take(now, tier, view));
        taken.inspect_err(|_| self.stats.refused += 1)?;
        Ok(views.last().map(|view| view.tick))
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
        let view = taken.inspect_err(|_| self.stats.refused += 1)?;
        Ok(view.map(|view| {
            self.take(now, tier, &view);
            view.tick
        }))
    }

    /// What to show at `now`. `None` before the first state.
    pub fn playback(&mut self, now: Duration) -> Option<Playback<'_>> {
        [&mut self.shown, &mut self.next].into_iter().flatten().for_each(|tier| tier.wait(now));
        let playout = self.buffer.at(now)?;
        Some(self.player.show(playout.tick, &playout.from.state, &playout.to.state, []))
    }

    /// The first and the last tick that [`playback_at`](Self::playback_at) can show. `None` before
    /// the first state, and without a history.
    pub fn history(&self) -> Option<(Tick, Tick)> {
        self.history.range()
    }

    /// The world at a moment of the [history](ViewerConfig::history), to pause and to go back. A
    /// tick outside of it shows the nearest state.
    pub fn playback_at(&mut self, tick: f64) -> Option<Playback<'_>> {
        let [from, to] = self.history.around(tick)?;
        Some(self.past_player.show(tick, from, to, []))
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

    /// Counts a snapshot of a tier, and shows it if it is current.
    fn take(&mut self, now: Duration, tier: usize, view: &View) {
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
            return;
        }
        if std::mem::take(&mut self.is_rejoining)
            && let Some(newest) = &self.newest
            && f64::from(newest.tick.0) > f64::from(tick.0) + RESTART.as_secs_f64() * tick_hz
        {
            self.restart();
        }
        let state = Arc::clone(view.snapshot());
        if self.newest.as_ref().is_none_or(|newest| newest.tick <= tick) {
            self.newest = Some(Arc::clone(&state));
        }
        self.history.push(&state);
        let pushed = self.buffer.push(now, tick, Tick(0), state);
        self.stats.late += u64::from(pushed == Pushed::Late);
    }
}

impl Watched {
    fn new(tier: usize, of: &Tier, limits: DecodeLimits) -> Self {
        let datagrams = (of.carry == Carry::Datagrams)
            .then(|| (Box::new(Decoder::with_limits(&of.codec, limits)), Parts::default()));
        Self {
            tier,
            codec: of.codec.clone(),
            limits,
            most_frames: of.frames_per_object.into(),
            groups: VecDeque::new(),
            keys: VecDeque::new(),
            needs_key: true,
            datagrams,
            last: None,
            caught_up_at: None,
        }
    }

    fn rejoin(&mut self) {
        self.groups.clear();
        self.keys.clear();
        self.needs_key = true;
        (self.last, self.caught_up_at) = (None, None);
    }

    /// Takes an object of the track of key snapshots. What it makes readable goes to `views`.
    fn key(&mut self, number: u64, bytes: &[u8], views: &mut Vec<View>) -> Result<(), Refused> {
        if number > 0 {
            return Err(Refused::Broken);
        }
        let mut reader = GroupReader::with_limits(&self.codec, self.limits);
        let key = read(&mut reader, bytes, 1)?.remove(0).with_learned(None);
        self.keys.push_back(key);
        if self.keys.len() > KEYS {
            self.keys.pop_front();
        }
        self.settle(views);
        Ok(())
    }

    /// Takes an object of the tier. What it makes readable goes to `views`.
    fn object(
        &mut self,
        now: Duration,
        number: u64,
        object: u64,
        bytes: &[u8],
        views: &mut Vec<View>,
    ) -> Result<(), Refused> {
        if object > 0 && self.datagrams.is_some() {
            return Err(Refused::Broken);
        }
        if let Some(group) = self.groups.iter_mut().find(|group| group.number == number) {
            views.extend(group.object(object, bytes, self.most_frames)?);
            self.settle(views);
            return Ok(());
        }
        if self.groups.back().is_some_and(|newest| number < newest.number) {
            return Err(Refused::Late);
        }
        if object > 0 {
            return Err(Refused::Broken);
        }
        let (given, _) = bytes.split_first_chunk().ok_or(Refused::Length)?;
        let given = Tick(u32::from_le_bytes(*given));
        let reading = Reading::Waiting { since: now, given, objects: vec![bytes.to_vec()] };
        self.groups.push_back(Group { number, reading });
        if self.groups.len() > GROUPS {
            self.groups.pop_front();
        }
        let place = self.groups.len() - 1;
        self.open(place, views)?;
        let reading = &mut self.groups[place].reading;
        if matches!(reading, Reading::Waiting { .. }) && bytes.len() > MAX_WAITING_BYTES {
            *reading = Reading::Broken;
            return Err(Refused::Waiting);
        }
        Ok(())
    }

    /// Reads all groups whose given snapshot is there now.
    fn settle(&mut self, views: &mut Vec<View>) {
        for place in 0..self.groups.len() {
            // A refused object of a group that has waited ends that group only.
            let _ = self.open(place, views);
        }
    }

    /// Begins to read a group if its given snapshot is there.
    fn open(&mut self, place: usize, views: &mut Vec<View>) -> Result<(), Refused> {
        let Reading::Waiting { given, .. } = &self.groups[place].reading else { return Ok(()) };
        let tick = *given;
        let chains = self.groups.iter().filter_map(|group| match &group.reading {
            Reading::Open { reader, .. } => reader.last(),
            _ => None,
        });
        let Some(given) = self.keys.iter().chain(chains).find(|view| view.tick == tick) else {
            return Ok(());
        };
        let mut reader = Box::new(GroupReader::with_limits(&self.codec, self.limits));
        reader.begin(Some(given.clone().with_learned(None)));
        self.needs_key = false;
        let group = &mut self.groups[place];
        let waited = std::mem::replace(&mut group.reading, Reading::Open { reader, next: 0 });
        let Reading::Waiting { objects, .. } = waited else { return Ok(()) };
        // Nobody needs older groups that still wait.
        for older in self.groups.iter_mut().take(place) {
            if matches!(older.reading, Reading::Waiting { .. }) {
                older.reading = Reading::Broken;
            }
        }
        let group = &mut self.groups[place];
        for (number, object) in objects.iter().enumerate() {
            let frames = if number == 0 { &object[TICK_BYTES..] } else { object };
            views.extend(group.object(number as u64, frames, self.most_frames)?);
        }
        Ok(())
    }

    /// Asks for a key snapshot if a group has waited too long.
    fn wait(&mut self, now: Duration) {
        self.needs_key |= self.groups.iter().any(|group| match &group.reading {
            Reading::Waiting { since, .. } => now.saturating_sub(*since) > KEY_PATIENCE,
            _ => false,
        });
    }

    fn datagram(&mut self, datagram: &[u8]) -> Result<Option<View>, Refused> {
        let Some((decoder, parts)) = &mut self.datagrams else { return Err(Refused::NotWatched) };
        let (head, part) = Head::read(datagram)?;
        let found = self.groups.iter().rev().find(|group| is_group(group.number, head.group));
        let base = match found.map(|group| &group.reading) {
            Some(Reading::Open { reader, .. }) => reader.last().ok_or(Refused::NoHead)?,
            _ => return Err(Refused::NoHead),
        };
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

impl Group {
    /// Takes an object, which may have to wait. Without the bytes of the given tick.
    fn object(&mut self, number: u64, bytes: &[u8], most: usize) -> Result<Vec<View>, Refused> {
        match &mut self.reading {
            Reading::Broken => Err(Refused::Broken),
            Reading::Waiting { objects, .. } => {
                let waiting_bytes: usize = objects.iter().map(Vec::len).sum();
                let refused = if number != objects.len() as u64 {
                    Refused::Broken
                } else if objects.len() >= MAX_WAITING_OBJECTS
                    || waiting_bytes + bytes.len() > MAX_WAITING_BYTES
                {
                    Refused::Waiting
                } else {
                    objects.push(bytes.to_vec());
                    return Ok(Vec::new());
                };
                self.reading = Reading::Broken;
                Err(refused)
            }
            Reading::Open { reader, next } => {
                let views = if *next == number {
                    *next += 1;
                    read(reader, bytes, most)
                } else {
                    Err(Refused::Broken)
                };
                if views.is_err() {
                    self.reading = Reading::Broken;
                }
                views
            }
        }
    }
}

/// Reads an object, which has 1 to `most` frames.
fn read(reader: &mut GroupReader, mut bytes: &[u8], most: usize) -> Result<Vec<View>, Refused> {
    let mut views = Vec::new();
    while views.len() < most
        && let Some(view) = reader.read(&mut bytes)?
    {
        views.push(view.clone());
    }
    if bytes.is_empty() && !views.is_empty() { Ok(views) } else { Err(Refused::Length) }
}
