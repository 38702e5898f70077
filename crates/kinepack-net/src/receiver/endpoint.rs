//! Receives one world: routes between views, blocks and the jitter buffer.

use std::sync::Arc;
use std::time::Duration;

use kinepack::codec::Difference;
use kinepack::{Codec, DecodeError, DecodeLimits, Decoder, EntityId, Snapshot, Tick, View};

use super::assembly::{Added, Assembly};
use super::connection::{Connection, ReceiverStatus};
use super::playback::Playback;
use super::presence::Presence;
use super::shown::Shown;
use super::views::{HeldView, Resolved, Views};
use super::window::Window;
use crate::cost::Recount;
use crate::events::{Event, EventKinds, EventsAlone, Incoming, Played, Taken};
use crate::handshake::{check_initial, hello, reference_zero};
use crate::packet::{
    Baseline, Downstream, FragmentHeader, Hello, Mismatch, SnapshotHeader, outline, write_anew,
};
use crate::sequence::SAME_SESSION;
use crate::trace::event;
use crate::{
    Acknowledgement, Channel, Cost, JitterBuffer, NetError, PlayoutConfig, PlayoutStats, Pushed,
    Refused, Sequence,
};

/// A block that is older than the newest state by more ticks than this belongs to another session.
/// Within one session, the difference is small, because a hub sends no snapshots while a block is
/// on its way. Only the few that were sent before it can arrive first.
const OLDEST_BLOCK: u32 = 1024;

/// Limits of a receiver's memory, and how it plays.
///
/// ```
/// use std::time::Duration;
/// use kinepack_net::{PlayoutConfig, ReceiverConfig};
///
/// // A simulation of 30 ticks a second, and 16 MiB for views.
/// let config = ReceiverConfig { max_memory_bytes: 16 << 20, ..ReceiverConfig::at_hz(30) };
/// assert_eq!(config.playout, PlayoutConfig::at_hz(30));
/// assert_eq!(config.hello_every, Duration::from_millis(250));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ReceiverConfig {
    /// The most entities of a view. [`max_memory_bytes`](Self::max_memory_bytes) may allow fewer.
    pub limits: DecodeLimits,
    /// The most memory for views and states to show. One view may take 1/32 of it, at four bytes
    /// for each lane of an entity and four for its id. A snapshot with more entities is refused:
    /// [`ReceiverStats::too_large`]. The last quarter is for states to show that are not views. The
    /// decoder's own memory (a few views) and an incomplete block come on top.
    ///
    /// A receiver usually holds about 70 views, and up to 255 on long round trips. If they exceed
    /// three quarters of this memory, it drops the oldest. Views of 1/96 of the memory are small
    /// enough for the receiver to hold all that the sender may use. Larger ones need short round
    /// trips: at 1/32, the receiver holds 24, which last for a round trip of about 0.15 s at 60
    /// datagrams a second. Beyond that, the receiver asks for the state anew when the sender uses a
    /// view that it dropped. Watch [`ReceiverStats::dropped_views`], and raise this memory.
    pub max_memory_bytes: usize,
    /// The largest block, in bytes.
    pub max_block_bytes: usize,
    /// The channel of the hub, which tells several hubs on one connection apart.
    pub channel: Channel,
    /// Time between two hellos while no datagram arrives.
    pub hello_every: Duration,
    /// A receiver that has taken no datagram for this long says hello again. If the sender has
    /// forgotten it, a new session begins. If not, this changes nothing. It should be several times
    /// the sender's [`HubConfig::keep_alive`](crate::HubConfig::keep_alive).
    pub silence: Duration,
    /// The longest time over which an entity's motion is blended. If an entity was not refreshed
    /// for longer, its motion ends in the newest state and takes this long.
    pub longest_blend: Duration,
    /// The jitter buffer. It must know the sender's ticks a second.
    pub playout: PlayoutConfig,
}

impl ReceiverConfig {
    /// For a sender of `tick_hz` ticks a second.
    ///
    /// 128 MiB have room for worlds of 65,536 entities of 15 lanes, and for all views of 34,952
    /// entities of nine. Blocks of 4 MiB hold 65,536 entities of 64 bytes. A hello every 250 ms
    /// finds a server soon. A silence of one second is four keep-alives. A blend of a quarter of a
    /// second is the time between two snapshots at the slowest sensible rate if one is lost.
    pub fn at_hz(tick_hz: u32) -> Self {
        Self {
            limits: DecodeLimits::default(),
            max_memory_bytes: 128 << 20,
            max_block_bytes: 4 << 20,
            channel: Channel::default(),
            hello_every: Duration::from_millis(250),
            silence: Duration::from_secs(1),
            longest_blend: Duration::from_millis(250),
            playout: PlayoutConfig::at_hz(tick_hz),
        }
    }
}

/// A receiver's memory has room for this many views of the largest size, or states to show.
const VIEWS_IN_MEMORY: usize = 32;
/// One byte in this many is for states to show that are not views. That leaves room for 24 views of
/// the largest size. A receiver should hold 64 views before the newest baseline, and all after it.
/// That many have room if each is at most a third of the largest size.
const STATES_SHARE: usize = 4;

impl ReceiverConfig {
    fn longest_blend_ticks(&self) -> f64 {
        self.longest_blend.as_secs_f64() * f64::from(self.playout.tick_hz)
    }
}

/// What a datagram contained.
///
/// ```
/// use std::time::Duration;
/// use kinepack_net::Received;
/// # use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
/// # use kinepack_net::{Hub, HubConfig, Receiver, ReceiverConfig, ReceiverId, ReceiverOptions};
/// # #[derive(Pack)]
/// # struct Unit {
/// #     health: u8,
/// # }
/// # let schema = Schema::of::<Unit>();
/// # let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema))?;
/// # let mut hub = Hub::new(&codec, HubConfig::default())?;
/// # let (client, now) = (ReceiverId(7), Duration::ZERO);
/// # hub.add(client, &ReceiverOptions::default(), now)?;
/// # let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(60))?;
/// # hub.handle(client, now, receiver.poll_transmit(now).ok_or("no hello")?)?;
/// # let mut world = Snapshot::new(&schema, Tick(1));
/// # world.push(EntityId(3), &Unit { health: 80 })?;
/// # hub.tick(now, &world)?;
/// # let (_, datagram) = hub.poll_transmit().ok_or("no snapshot")?;
///
/// match receiver.handle(now, datagram)? {
///     Received::Snapshot { tick, left_out, late } => {
///         assert_eq!((tick, left_out, late), (Tick(1), false, false));
///     }
///     Received::Block { tick } => println!("the whole world at tick {}", tick.0),
///     Received::Fragment => {
///         if let Some((received, all)) = receiver.block_progress() {
///             println!("loading: {received} of {all} fragments");
///         }
///     }
///     _ => {}
/// }
/// assert_eq!(receiver.newest(), Some(&world));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Received {
    /// A state of the world.
    Snapshot {
        /// The tick of the state.
        tick: Tick,
        /// True if the sender left something out.
        left_out: bool,
        /// True if a newer snapshot had already arrived.
        late: bool,
    },
    /// Events without a snapshot.
    Events {
        /// The tick in which they were sent.
        tick: Tick,
    },
    /// A fragment of an incomplete block.
    Fragment,
    /// The last missing fragment of a block: a complete state.
    Block {
        /// The tick of the state.
        tick: Tick,
    },
}

/// Counters of a receiver.
///
/// ```
/// use std::time::Duration;
/// # use kinepack::schema::{Field, FieldKind};
/// # use kinepack::{Codec, Level, Profile, Schema};
/// # use kinepack_net::{Receiver, ReceiverConfig};
/// # let schema = Schema::new(vec![Field::new("health", FieldKind::Raw { lanes: 1 })]);
/// # let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema))?;
/// # let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(60))?;
/// let before = receiver.stats();
/// let _ = receiver.handle(Duration::ZERO, b"noise"); // and other datagrams, for a second
/// let stats = receiver.stats();
/// assert_eq!(stats.bytes - before.bytes, 5); // for a graph of bytes a second
/// assert_eq!(stats.refused - before.refused, 1);
/// assert!(stats.mismatches == 0 && stats.unmerged == 0); // worth a line in the log if not
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverStats {
    /// Datagrams taken.
    pub received: u64,
    /// Datagrams refused, including duplicates.
    pub refused: u64,
    /// Datagrams that arrived twice.
    pub duplicates: u64,
    /// Bytes of all datagrams.
    pub bytes: u64,
    /// Snapshots too late to be shown.
    pub late: u64,
    /// Blocks completed.
    pub blocks: u64,
    /// Views that were dropped although they could still be baselines, because of
    /// [`ReceiverConfig::max_memory_bytes`].
    pub dropped_views: u64,
    /// Snapshots and fragments that were refused because the state exceeds this side's limits. The
    /// sender cannot know that, so it sends them again. [`Receiver::too_large`] has the limit.
    pub too_large: u64,
    /// Sessions that began anew because the sender had forgotten this receiver. Reliable events of
    /// the session before may have been lost.
    pub begun_anew: u64,
    /// States that were dropped before they were shown, because of
    /// [`ReceiverConfig::max_memory_bytes`].
    pub dropped_states: u64,
    /// Snapshots that were accepted as baselines but could not be merged into the shown state.
    /// Always 0, unless this library has a bug.
    pub unmerged: u64,
    /// Snapshots that came with a state check.
    pub checked: u64,
    /// Of those checked, how many showed that the two sides hold different states: the checks of
    /// the view differed, or the snapshot could not be decoded. The receiver then drops its views
    /// and asks for the state anew. Until the new state arrives, [`Receiver::newest`] stays as it
    /// is.
    pub mismatches: u64,
    /// Views held as baselines.
    pub views: usize,
    /// Events that playback has reached.
    pub events: u64,
    /// Of those, how many arrived after playback had passed their tick.
    pub late_events: u64,
}

/// Receives one world.
///
/// Order of calls: [`handle`](Self::handle) for each datagram, then
/// [`poll_transmit`](Self::poll_transmit) until it returns `None`, at least a few times a second;
/// [`playback`](Self::playback) for each drawn frame. The caller supplies the time.
///
/// If several hubs share one connection, set [`ReceiverConfig::channel`] to the hub's channel: see
/// [`Hub`](crate::Hub).
///
/// ```
/// use std::time::Duration;
/// use kinepack::{Codec, Level, Pack, Profile, Schema};
/// use kinepack_net::{DatagramKind, Receiver, ReceiverConfig, datagram_kind};
///
/// #[derive(Pack)]
/// struct Unit {
///     #[pack(max = 100)]
///     health: u8,
/// }
///
/// let schema = Schema::of::<Unit>();
/// let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema))?;
/// let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(60))?;
/// let hello = receiver.poll_transmit(Duration::ZERO).ok_or("no hello")?;
/// assert_eq!(datagram_kind(hello), Some(DatagramKind::ToHub)); // for the hub
/// assert!(receiver.poll_transmit(Duration::ZERO).is_none());
/// assert!(receiver.handle(Duration::ZERO, b"noise").is_err());
/// assert_eq!(receiver.stats().refused, 1);
/// assert!(receiver.playback(Duration::ZERO).is_none(), "no state has arrived yet");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Receiver {
    config: ReceiverConfig,
    hello: Hello,
    /// The outline of the schema, so that a sender with another schema can report where the two
    /// differ.
    outline: Vec<u32>,
    /// When to say hello. Each datagram that is taken postpones it.
    next_hello: Duration,
    /// A datagram was taken.
    joined: bool,
    /// It has said hello again, because nothing was taken for a while.
    seeks: bool,
    /// The tick of the newest state when a fragment ended such a silence. `None` once a state has
    /// arrived.
    sought: Option<Tick>,
    /// A new session has begun, and no state of it was shown yet.
    is_new_session: bool,
    mismatch: Option<Mismatch>,
    /// Why the newest state was refused, if it is above the limits and no datagram was taken since.
    too_large: Option<Refused>,
    acknowledges: bool,
    window: Window,
    views: Views,
    assembly: Assembly,
    decoder: Decoder,
    difference: Difference,
    /// The newest known state of each entity.
    newest_shown: Option<Shown>,
    newest: Option<Sequence>,
    buffer: JitterBuffer<Shown>,
    /// The most memory that a state in `buffer` has taken.
    largest_state_bytes: usize,
    /// Views were dropped after a failed state check or for a new session, so the sender may code
    /// against them.
    has_lost_views: bool,
    /// The next state to show does not build on `newest_shown`.
    shows_anew: bool,
    /// The newest refused datagram for which to ask for the state anew.
    anew: Option<Sequence>,
    connection: Connection,
    presence: Presence,
    /// `None` without events.
    events: Option<Incoming>,
    /// The latest time that a call passed.
    now: Duration,
    stats: ReceiverStats,
    /// `None` if costs are not counted.
    recount: Option<Box<Recount>>,
    out: Vec<u8>,
}

impl Receiver {
    /// A receiver without any state.
    ///
    /// # Errors
    /// [`NetError`] for an invalid configuration.
    pub fn new(codec: &Codec, config: ReceiverConfig) -> Result<Self, NetError> {
        Self::with_initial(codec, config, &Snapshot::new(codec.schema(), Tick(0)))
    }

    /// A receiver that knows the same `initial` state as the hub. Its tick does not matter.
    ///
    /// # Errors
    /// [`NetError`] for an invalid configuration, and for a state of another schema.
    pub fn with_initial(
        codec: &Codec,
        config: ReceiverConfig,
        initial: &Snapshot,
    ) -> Result<Self, NetError> {
        check_initial(codec, initial)?;
        if config.hello_every.is_zero() || config.silence.is_zero() {
            return Err(NetError::NoTime);
        }
        let view_bytes = config.max_memory_bytes / VIEWS_IN_MEMORY;
        let limits = config.limits.within(codec.schema(), view_bytes);
        Ok(Self {
            hello: hello(codec, initial),
            outline: outline(codec.schema()),
            next_hello: Duration::ZERO,
            joined: false,
            seeks: false,
            sought: None,
            is_new_session: false,
            mismatch: None,
            too_large: None,
            acknowledges: false,
            window: Window::default(),
            views: Views::new(reference_zero(initial), codec, limits.max_entities),
            assembly: Assembly::default(),
            decoder: Decoder::with_limits(codec, limits),
            difference: Difference::default(),
            newest_shown: None,
            newest: None,
            buffer: JitterBuffer::new(config.playout).map_err(NetError::Playout)?,
            largest_state_bytes: 0,
            has_lost_views: false,
            shows_anew: false,
            anew: None,
            connection: Connection::new(),
            presence: Presence::default(),
            events: None,
            now: Duration::ZERO,
            stats: ReceiverStats::default(),
            recount: None,
            out: Vec::new(),
            config,
        })
    }

    /// Enables events. The hub must enable them too, with the same codec:
    /// [`Hub::with_events`](crate::Hub::with_events).
    #[must_use]
    pub fn with_events(mut self, kinds: &EventKinds) -> Self {
        self.hello.events_hash = kinds.codec().hash();
        self.events = Some(Incoming::new(kinds));
        self
    }

    /// Makes the receiver count where the bits of each snapshot went, for tools: see
    /// [`cost`](Self::cost). Takes time: the receiver encodes each snapshot once more.
    #[must_use]
    pub fn with_costs(mut self) -> Self {
        self.recount = Some(Box::new(Recount::new(self.decoder.codec())));
        self
    }

    /// Where the bits of the last snapshot that was taken went. `None` without
    /// [costs](Self::with_costs), and before the first snapshot.
    ///
    /// For a complete snapshot, the costs of fields are those that the sender counted. The costs of
    /// entities are too, to within a bit. For a snapshot that left something out, the costs are
    /// those of a complete one with the same changes, which may be coded differently.
    pub fn cost(&self) -> Option<&Cost> {
        self.recount.as_ref()?.newest()
    }

    /// Takes a datagram from the sender.
    ///
    /// # Errors
    /// [`Refused`]; only a counter has changed then. There is one exception: a snapshot whose state
    /// check shows that the two sides hold different states, such as [`Refused::WrongState`]. See
    /// [`ReceiverStats::mismatches`].
    pub fn handle(&mut self, now: Duration, datagram: &[u8]) -> Result<Received, Refused> {
        self.now = self.now.max(now);
        self.stats.bytes += datagram.len() as u64;
        let rest = self.config.channel.strip(datagram);
        let parsed = rest.ok_or_else(|| Refused::channel(datagram)).and_then(Downstream::parse);
        let sought = self.newest_shown.as_ref().filter(|_| self.seeks).map(|last| last.state.tick);
        let taken = parsed.and_then(|parsed| match parsed {
            Downstream::Snapshot(header, snapshot, events) => {
                let taken = self.take_snapshot(now, &header, snapshot, events);
                self.asking_anew(header.sequence, taken)
            }
            Downstream::Events(header, list) => self.take_events_alone(&header, list),
            Downstream::Fragment(header, part) => {
                let taken = self.take_fragment(now, &header, part);
                self.asking_anew(header.sequence, taken)
            }
            // Once states arrive, a refusal cannot be meant for this receiver.
            Downstream::Refusal(_) if self.joined && !self.seeks => {
                Err(Refused::Kind { first_byte: datagram[0] })
            }
            Downstream::Refusal(mismatch) => {
                self.mismatch = Some(mismatch);
                Err(Refused::Mismatch(mismatch))
            }
        });
        match taken {
            Ok(received) => {
                self.sought = match received {
                    Received::Fragment => sought.or(self.sought),
                    Received::Snapshot { .. } | Received::Block { .. } => None,
                    Received::Events { .. } => self.sought,
                };
                if let Some(newest) = self.window.newest() {
                    self.assembly.tidy(newest);
                }
                self.stats.received += 1;
                self.acknowledges = true;
                self.next_hello = self.now.saturating_add(self.config.silence);
                (self.seeks, self.mismatch, self.too_large) = (false, None, None);
                if !std::mem::replace(&mut self.joined, true) {
                    self.connection.note_first(now);
                    event!(info, "connected to the sender");
                }
            }
            Err(refused) => {
                event!(debug, reason = %refused, bytes = datagram.len(), "datagram refused");
                if refused.is_limit() {
                    self.too_large = Some(refused);
                    self.stats.too_large += 1;
                }
                self.stats.refused += 1;
                self.stats.duplicates += u64::from(refused == Refused::Duplicate);
            }
        }
        taken
    }

    fn take_snapshot(
        &mut self,
        now: Duration,
        header: &SnapshotHeader,
        bytes: &[u8],
        events: Option<&[u8]>,
    ) -> Result<Received, Refused> {
        let sequence = header.sequence;
        let begins_session =
            header.baseline == Baseline::Reference(0) && self.is_other_session(sequence);
        if !begins_session {
            self.window.check(sequence)?;
        }
        let Resolved { known, tick, interval_ticks } = self.views.resolve(header)?;
        let begins_session = begins_session
            || (header.baseline == Baseline::Reference(0) && self.runs_back(sequence, tick));
        let baselines = known.baselines().map_err(|_| Refused::BadOlder)?;
        let events =
            events.map(|list| self.check_events(tick, list, begins_session)).transpose()?;
        let view = match (self.decoder.decode(baselines, bytes, tick), header.check) {
            (Ok(view), None) => view,
            (Ok(view), Some(theirs)) => {
                self.stats.checked += 1;
                let ours = view.check();
                if ours != theirs {
                    self.lose_views(sequence, begins_session);
                    return Err(Refused::WrongState { theirs, ours });
                }
                view
            }
            // A state above the limits is no sign that the two sides differ.
            (Err(error @ DecodeError::TooManyEntities { .. }), _) | (Err(error), None) => {
                return Err(error.into());
            }
            (Err(error), Some(_)) => {
                self.stats.checked += 1;
                self.lose_views(sequence, begins_session);
                return Err(error.into());
            }
        };
        let mut sent = None;
        if header.left_out {
            self.difference.find(&known.baseline, &view);
            let sent = sent.insert(Snapshot::new_like(&view));
            sent.gather(&view, &self.difference.sent).map_err(|_| Refused::BadMerge)?;
        }

        // Nothing fails from here on.
        if begins_session {
            self.begin_session();
        }
        self.window.note(sequence);
        if let Some(recount) = &mut self.recount {
            recount.take(&known, &view, bytes.len());
        }
        if let (Some(incoming), Some(list)) = (&mut self.events, events) {
            incoming.take(list);
        }
        if let Baseline::Back(back) = header.baseline {
            self.connection.note_baseline(now, sequence.before(u16::from(back)));
        }
        self.forget_shown(tick);
        let is_newest = self.newest.is_none_or(|newest| sequence.since(newest) > 0);
        // The shown state may come from a block that is newer than this snapshot.
        let is_behind = self.newest_shown.as_ref().is_some_and(|shown| shown.state.tick > tick);
        let late = !is_newest || is_behind;
        self.show(now, sequence, &view, sent.as_ref(), interval_ticks, late);
        let own_back = header.baseline.back();
        let newest = self.window.newest().unwrap_or(sequence);
        let taken = HeldView { sequence, view, own_back, sent };
        if let Some(dropped) = self.views.add(taken, header.baseline, newest) {
            self.decoder.recycle(dropped);
        }
        self.shed_memory();
        if is_newest {
            self.newest = Some(sequence);
        }
        Ok(Received::Snapshot { tick, left_out: header.left_out, late })
    }

    fn take_events_alone(
        &mut self,
        header: &EventsAlone,
        list: &[u8],
    ) -> Result<Received, Refused> {
        let EventsAlone { sequence, tick } = *header;
        if self.is_other_session(sequence) || self.runs_back(sequence, tick) {
            // The sender repeats the events after the new session's first state.
            return Err(Refused::TooOld);
        }
        self.window.check(sequence)?;
        let list = self.check_events(tick, list, false)?;
        self.window.note(sequence);
        if let Some(incoming) = &mut self.events {
            incoming.take(list);
        }
        Ok(Received::Events { tick })
    }

    fn check_events(
        &mut self,
        tick: Tick,
        list: &[u8],
        begins_session: bool,
    ) -> Result<Taken, Refused> {
        self.events.as_mut().ok_or(Refused::BadEvents)?.check(tick, list, begins_session)
    }

    /// Whether a sequence belongs to another session, so the sender has begun a new one. A sequence
    /// that is far ahead always does. One that is far behind may just be late, so it counts only
    /// while the receiver says hello again.
    fn is_other_session(&self, sequence: Sequence) -> bool {
        let Some(newest) = self.window.newest() else { return false };
        let since = sequence.since(newest);
        since > *SAME_SESSION.end() || (self.seeks && since < *SAME_SESSION.start())
    }

    /// Whether a tick shows that another session has begun, whatever the sequence: within a
    /// session, a state that was sent later is never older.
    fn runs_back(&self, sequence: Sequence, tick: Tick) -> bool {
        !self.is_new_session
            && self.window.newest().is_some_and(|newest| sequence.since(newest) > 0)
            && self.newest_shown.as_ref().is_some_and(|shown| shown.state.tick > tick)
    }

    /// Forgets everything of the previous session except what is shown.
    fn begin_session(&mut self) {
        event!(info, "the sender has begun a new session");
        self.stats.begun_anew += 1;
        self.window.begin_anew();
        self.connection.begin_anew();
        self.views.begin_anew();
        self.assembly = Assembly::default();
        (self.newest, self.anew) = (None, None);
        // The sender may take an old acknowledgement for one of the new session, and code against a
        // view that this side no longer holds.
        self.has_lost_views = true;
        (self.shows_anew, self.is_new_session) = (true, true);
        if let Some(incoming) = &mut self.events {
            incoming.begin_session();
        }
    }

    /// Drops all views, because they differ from the sender's. A state that begins another session
    /// uses none of the views, so it proves nothing about them.
    fn lose_views(&mut self, refused: Sequence, begins_session: bool) {
        if begins_session {
            return;
        }
        self.stats.mismatches += 1;
        event!(warn, sequence = refused.0, "state check failed: asking for the state anew");
        self.views.begin_anew();
        self.has_lost_views = true;
        self.shows_anew = true;
        self.ask_anew(refused);
    }

    /// Asks for the state anew once more, if the sender uses a view that was dropped.
    fn asking_anew(
        &mut self,
        sequence: Sequence,
        taken: Result<Received, Refused>,
    ) -> Result<Received, Refused> {
        // A late datagram may lack its baseline although the sender uses others by now.
        let is_newest = self.window.newest().is_none_or(|newest| sequence.since(newest) > 0);
        let lacks_memory = self.stats.dropped_views > 0 && is_newest;
        if taken == Err(Refused::NoBaseline) && (self.has_lost_views || lacks_memory) {
            self.ask_anew(sequence);
        }
        taken
    }

    fn ask_anew(&mut self, refused: Sequence) {
        let newest = self.anew.filter(|asked| asked.since(refused) > 0);
        self.anew = newest.or(Some(refused));
    }

    /// Forgets the shown state if it may be wrong. Called before a new state, of `tick`, is shown.
    fn forget_shown(&mut self, tick: Tick) {
        if std::mem::take(&mut self.shows_anew) {
            let before = self.newest_shown.take();
            event!(info, "the state came anew");
            let is_restart = before.is_some_and(|before| before.state.tick >= tick);
            if std::mem::take(&mut self.is_new_session) && is_restart {
                // The world itself has restarted, and its ticks with it.
                self.buffer.reset();
                if let Some(incoming) = &mut self.events {
                    incoming.restart(tick);
                }
            }
        }
    }

    /// Updates the newest known state and hands it to the jitter buffer.
    fn show(
        &mut self,
        now: Duration,
        sequence: Sequence,
        view: &View,
        sent: Option<&Snapshot>,
        interval_ticks: u8,
        late: bool,
    ) {
        let tick = view.tick;
        let Some(sent) = sent else {
            let whole = Shown::whole(Arc::clone(view.snapshot()));
            let before = self.newest_shown.as_ref().filter(|shown| !late && !shown.is_complete());
            // The state before was partial, so some entities may have had no update for longer than
            // since that state.
            let reach = before.map(|shown| {
                self.difference.find(&shown.state, view);
                let entity = |index: &u32| {
                    let index = *index as usize;
                    Some((view.kind_at(index)?, view.ids()[index]))
                };
                let sent = self.difference.sent.iter().filter_map(entity);
                shown.reach(tick, sent, self.config.longest_blend_ticks())
            });
            if !late {
                self.newest_shown = Some(whole.clone());
            }
            // This was a pause only if the snapshot before this one arrived.
            let before = self
                .views
                .find(sequence.before(1))
                .filter(|held| held.sent.is_none() && interval_ticks > 0);
            let unchanged_until =
                before.map_or(0, |_| tick.0.saturating_sub(u32::from(interval_ticks)));
            self.push(now, Tick(unchanged_until), reach, whole);
            return;
        };
        if late {
            let merged =
                self.newest_shown.as_mut().map_or(Ok(()), |shown| shown.add_late(tick, sent));
            self.stats.unmerged += u64::from(merged.is_err());
            return;
        }
        let mut shown =
            self.newest_shown.take().unwrap_or_else(|| Shown::whole(Arc::clone(view.snapshot())));
        let longest_blend_ticks = self.config.longest_blend_ticks();
        let reach = shown.reach(tick, sent.entities(), longest_blend_ticks);
        if shown.advance(tick, &self.difference.removed, sent).is_err() {
            self.stats.unmerged += 1;
            shown = Shown::whole(Arc::clone(view.snapshot()));
        }
        self.largest_state_bytes = self.largest_state_bytes.max(shown.all_bytes());
        self.newest_shown = Some(shown.clone());
        // Another datagram of the same tick.
        match self.buffer.state_mut(tick) {
            Some(state) => *state = shown,
            None => self.push(now, Tick(0), Some(reach), shown),
        }
    }

    fn push(&mut self, now: Duration, unchanged_until: Tick, reach: Option<Tick>, shown: Shown) {
        let tick = shown.state.tick;
        self.largest_state_bytes = self.largest_state_bytes.max(shown.all_bytes());
        let pushed = match reach {
            Some(reach) => self.buffer.push_part(now, tick, unchanged_until, reach, shown),
            None => self.buffer.push(now, tick, unchanged_until, shown),
        };
        if pushed == Pushed::Late {
            self.stats.late += 1;
        }
    }

    fn take_fragment(
        &mut self,
        now: Duration,
        header: &FragmentHeader,
        part: &[u8],
    ) -> Result<Received, Refused> {
        if self.is_other_session(header.sequence) {
            let mut assembly = Assembly::default();
            return match assembly.add(header, part, self.config.max_block_bytes)? {
                Added::Part => {
                    self.begin_session();
                    self.assembly = assembly;
                    self.window.note(header.sequence);
                    Ok(Received::Fragment)
                }
                // A block of one fragment would have fitted into a snapshot, so no honest hub sends
                // one.
                Added::Whole(..) => Err(Refused::TooOld),
            };
        }
        self.window.check(header.sequence)?;
        let received = match self.assembly.add(header, part, self.config.max_block_bytes)? {
            Added::Part => Received::Fragment,
            Added::Whole(number, bytes) => {
                let (head, snapshot) = bytes.split_first_chunk().ok_or(Refused::BadFragment)?;
                let [a, b, c, d, reference] = *head;
                let tick = Tick(u32::from_le_bytes([a, b, c, d]));
                let base = self.views.reference(reference)?;
                let view = self.decoder.decode(base, snapshot, tick)?;
                let state = Arc::clone(view.snapshot());
                let is_of_other = |shown: Tick| shown.0.saturating_sub(tick.0) > OLDEST_BLOCK;
                if reference == 0 && !self.is_new_session && self.sought.is_some_and(is_of_other) {
                    self.begin_session();
                }
                self.assembly.finish(number, header.sequence);
                self.views.add_reference(number, reference, view);
                self.forget_shown(tick);
                match &mut self.newest_shown {
                    // Newer snapshots arrived first.
                    Some(shown) if shown.state.tick >= tick => {
                        self.stats.unmerged += u64::from(shown.add_late(tick, &state).is_err());
                    }
                    shown => *shown = Some(Shown::whole(Arc::clone(&state))),
                }
                self.push(now, Tick(0), None, Shown::whole(state));
                self.shed_memory();
                self.stats.blocks += 1;
                event!(debug, block = number, tick = tick.0, "block finished");
                Received::Block { tick }
            }
        };
        self.window.note(header.sequence);
        Ok(received)
    }

    /// Drops the oldest views and the oldest states to show until both fit their share of the
    /// memory.
    fn shed_memory(&mut self) {
        let states_bytes = self.config.max_memory_bytes / STATES_SHARE;
        let dropped_views = self.views.shed(self.config.max_memory_bytes - states_bytes);
        if dropped_views > 0 {
            self.stats.dropped_views += dropped_views;
            event!(debug, views = dropped_views, "views dropped for lack of memory");
        }
        // This upper bound is cheap to compute. The exact sum would take longer than decoding a
        // small snapshot.
        if (self.buffer.len() + 1) * self.largest_state_bytes <= states_bytes {
            return;
        }
        let mut own_bytes = self.buffer.states().map(Shown::own_bytes).sum::<usize>();
        while own_bytes > states_bytes
            && let Some(dropped) = self.buffer.drop_oldest()
        {
            own_bytes = own_bytes.saturating_sub(dropped.own_bytes());
            self.stats.dropped_states += 1;
        }
    }

    /// The next datagram to send. These are hellos until a datagram arrives and after a
    /// [silence](ReceiverConfig::silence), otherwise acknowledgements. After a failed state check,
    /// or for lack of memory, the receiver also asks for the state anew. Valid until the next call.
    pub fn poll_transmit(&mut self, now: Duration) -> Option<&[u8]> {
        self.now = self.now.max(now);
        self.out.clear();
        self.config.channel.write(&mut self.out);
        if let Some(refused) = self.anew.take() {
            write_anew(refused, &mut self.out);
        } else if now >= self.next_hello {
            self.next_hello = now.saturating_add(self.config.hello_every);
            self.seeks = self.joined;
            self.connection.note_hello(now);
            self.hello.write(&mut self.out);
            self.out.extend(self.outline.iter().flat_map(|part| part.to_le_bytes()));
        } else {
            self.poll_acknowledgement()?.write(&mut self.out);
        }
        Some(&self.out)
    }

    /// The acknowledgement, if datagrams were taken since the last call. For callers that put it
    /// into messages of their own.
    pub fn poll_acknowledgement(&mut self) -> Option<Acknowledgement> {
        if !std::mem::take(&mut self.acknowledges) {
            return None;
        }
        let acknowledgement = self.window.acknowledgement()?;
        self.connection.note_acknowledged(self.now, acknowledgement.latest);
        Some(acknowledgement)
    }

    /// Why the sender refuses this receiver, if it does. [`Mismatch::describe`] puts it into words.
    pub fn mismatch(&self) -> Option<Mismatch> {
        self.mismatch
    }

    /// Why the newest state was refused, if it is above this side's limits:
    /// [`Refused::BlockTooLarge`] or [`DecodeError::TooManyEntities`]. Raise
    /// [`max_memory_bytes`](ReceiverConfig::max_memory_bytes), [`limits`](ReceiverConfig::limits)
    /// or [`max_block_bytes`](ReceiverConfig::max_block_bytes), or make fewer entities relevant.
    pub fn too_large(&self) -> Option<Refused> {
        self.too_large
    }

    /// The newest known state of each entity; `None` before the first state.
    pub fn newest(&self) -> Option<&Snapshot> {
        self.newest_shown.as_ref().map(|shown| &*shown.state)
    }

    /// The tick of the entity at `index` in [`newest`](Self::newest): that of the newest state, or
    /// an earlier one if later snapshots skipped the entity.
    ///
    /// # Panics
    /// If `index` is not below the number of entities.
    pub fn fresh(&self, index: usize) -> Tick {
        self.newest_shown.as_ref().map_or(Tick(0), |shown| shown.fresh(index))
    }

    /// The view of a sequence while it is held. It must equal the sender's.
    pub fn view(&self, sequence: Sequence) -> Option<&Snapshot> {
        self.views.find(sequence).map(|held| &*held.view)
    }

    /// Injects a fault into this side: changes a lane of an entity by one in the newest view, as a
    /// memory fault would. For tests and tools. Returns false if there is no such view, entity or
    /// lane, or if the lane has only one value.
    pub fn inject_fault(&mut self, id: EntityId, lane: usize) -> bool {
        self.newest.is_some_and(|newest| self.views.inject_fault(newest, id, lane))
    }

    /// The sequence of the newest snapshot.
    pub fn newest_sequence(&self) -> Option<Sequence> {
        self.newest
    }

    /// What to show now; `None` before the first state.
    pub fn playback(&mut self, now: Duration) -> Option<Playback<'_>> {
        let tick_hz = self.config.playout.tick_hz;
        let longest_blend_ticks = self.config.longest_blend_ticks();
        let playout = self.buffer.at(now)?;
        self.presence.update(&playout.from.state.state);
        if let Some(events) = &mut self.events {
            events.play(playout.tick);
        }
        let events = self.events.as_ref().map_or(&[][..], Incoming::played);
        let (presence, tick_hz) = (&self.presence, f64::from(tick_hz));
        Some(Playback::new(playout, tick_hz, longest_blend_ticks, presence, events))
    }

    /// Takes the events that are in order and that playback has not reached yet. For receivers that
    /// show nothing, because later [`playback`](Self::playback) calls no longer return these
    /// events.
    pub fn take_events(&mut self) -> impl Iterator<Item = Event<'_>> {
        if let Some(events) = &mut self.events {
            events.take_ready();
        }
        self.events.iter().flat_map(Incoming::played).map(Played::event)
    }

    /// The round trip, the losses, and the server's time. The wire format has no fields for these
    /// values: they follow from acknowledgements and snapshot headers.
    pub fn status(&self, now: Duration) -> ReceiverStatus {
        let tick_hz = f64::from(self.config.playout.tick_hz);
        let live_tick = self.buffer.live_tick(now);
        let one_way = self.connection.shortest().map(|round_trip| round_trip.as_secs_f64() / 2.0);
        let server_tick =
            live_tick.zip(one_way).map(|(tick, one_way)| (tick + one_way * tick_hz).max(0.0));
        ReceiverStatus {
            joined: self.joined,
            silent: self.seeks,
            round_trip: self.connection.round_trip(),
            sent: self.window.sent(),
            acknowledged: self.stats.received,
            lost: self.window.lost(),
            server_tick,
            server_time: server_tick
                .and_then(|tick| Duration::try_from_secs_f64(tick / tick_hz).ok()),
        }
    }

    /// Changes the bounds of the playout delay; see [`JitterBuffer::set_delays`].
    ///
    /// # Errors
    /// [`NetError::Playout`] if [`PlayoutConfig::validate`] refuses them; nothing has changed then.
    pub fn set_playout_delays(&mut self, min: Duration, max: Duration) -> Result<(), NetError> {
        self.buffer.set_delays(min, max).map_err(NetError::Playout)?;
        self.config.playout = *self.buffer.config();
        Ok(())
    }

    /// The counters.
    pub fn stats(&self) -> ReceiverStats {
        let events = self.events.as_ref().map_or([0, 0], |events| [events.count, events.late]);
        let [events, late_events] = events;
        ReceiverStats { views: self.views.len(), events, late_events, ..self.stats }
    }

    /// Measurements of playback.
    pub fn playout_stats(&self) -> PlayoutStats {
        self.buffer.stats()
    }

    /// While a block is incomplete: how many of its fragments arrived, and how many it has.
    pub fn block_progress(&self) -> Option<(usize, usize)> {
        self.assembly.progress()
    }
}
