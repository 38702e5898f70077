//! Receives one world: routes datagrams to the module [`take`], and returns the datagrams to send
//! back.

mod config;
mod report;
mod session;
mod show;
mod take;

use std::sync::Arc;
use std::time::Duration;

use kinepack::codec::Difference;
use kinepack::{Codec, Decoder, EntityId, Snapshot, Tick};

pub use self::config::ReceiverConfig;
use self::config::VIEWS_IN_MEMORY;
pub use self::report::{Received, ReceiverStats};
use super::assembly::Assembly;
use super::connection::{Connection, ReceiverStatus};
use super::playback::Playback;
use super::playout_point::PlayoutPoint;
use super::shown::Shown;
use super::spawns::Spawns;
use super::views::Views;
use super::window::Window;
use crate::cost::Recount;
use crate::events::{Event, EventKinds, Incoming, Played};
use crate::extrapolation::Extrapolations;
use crate::handshake::{check_initial, hello, reference_zero};
use crate::packet::{Downstream, Hello, Mismatch, outline, write_anew};
use crate::seen::{Arrivals, STEPS, Seen};
use crate::trace::event;
use crate::{
    Acknowledgement, Cost, Extrapolation, JitterBuffer, NetError, PlayoutStats, Refused, Sequence,
};

/// Receives one world.
///
/// Call [`handle`](Self::handle) for each datagram, then [`poll_transmit`](Self::poll_transmit)
/// until it returns `None`, at least a few times per second. Call [`playback`](Self::playback) for
/// each drawn frame. The caller supplies the time.
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
    /// The outline of the schema. With it, a sender with another schema can report where the two
    /// schemas differ.
    outline: Vec<u32>,
    /// When to send the next hello. Each accepted datagram postpones the hello.
    next_hello: Duration,
    /// Whether a datagram was accepted.
    joined: bool,
    /// Whether the receiver sends hellos again, because it accepted no datagram for a while.
    seeks: bool,
    /// The tick of the newest state at the time when a fragment ended a silence, in which the
    /// receiver sent hellos again. `None` once a state has arrived.
    sought: Option<Tick>,
    /// Whether a new session has begun and none of its states was shown yet.
    is_new_session: bool,
    mismatch: Option<Mismatch>,
    /// Why the newest state was refused, if it exceeds the limits and no datagram was accepted
    /// since.
    too_large: Option<Refused>,
    acknowledges: bool,
    window: Window,
    /// Which datagrams arrived in time to be shown.
    arrivals: Arrivals,
    /// What the last playback call showed; `None` before the first.
    seen: Option<Seen>,
    /// The newest full state that was shown in this session.
    full_state: Option<Arc<Snapshot>>,
    views: Views,
    assembly: Assembly,
    decoder: Decoder,
    difference: Difference,
    /// The newest known state of each entity.
    newest_shown: Option<Shown>,
    newest: Option<Sequence>,
    buffer: JitterBuffer<Shown>,
    extrapolations: Extrapolations,
    /// The memory of the largest state that was ever in `buffer`.
    largest_state_bytes: usize,
    /// Whether the receiver dropped views that the sender may still use as baselines, after a
    /// failed state check or for a new session.
    has_lost_views: bool,
    /// Whether the next state to show does not build on `newest_shown`.
    shows_anew: bool,
    /// The newest refused datagram that made the receiver ask for the state anew. `None` if there
    /// is nothing to ask for.
    anew: Option<Sequence>,
    connection: Connection,
    spawns: Spawns,
    /// `None` if the receiver has no events.
    events: Option<Incoming>,
    /// The latest `now` of any call.
    now: Duration,
    stats: ReceiverStats,
    /// `None` if costs are not counted.
    recount: Option<Box<Recount>>,
    out: Vec<u8>,
}

impl Receiver {
    /// Makes a receiver that has no state yet.
    ///
    /// # Errors
    /// Returns [`NetError`] for an invalid configuration.
    pub fn new(codec: &Codec, config: ReceiverConfig) -> Result<Self, NetError> {
        Self::with_initial(codec, config, &Snapshot::new(codec.schema(), Tick(0)))
    }

    /// Makes a receiver that knows the same `initial` state as the hub. The tick of `initial` does
    /// not matter.
    ///
    /// # Errors
    /// Returns [`NetError`] for an invalid configuration, and for a state of another schema.
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
            arrivals: Arrivals::default(),
            seen: None,
            full_state: None,
            views: Views::new(reference_zero(initial), codec, limits.max_entities),
            assembly: Assembly::default(),
            decoder: Decoder::with_limits(codec, limits),
            difference: Difference::default(),
            newest_shown: None,
            newest: None,
            buffer: JitterBuffer::new(config.playout).map_err(NetError::Playout)?,
            extrapolations: Extrapolations::default(),
            largest_state_bytes: 0,
            has_lost_views: false,
            shows_anew: false,
            anew: None,
            connection: Connection::new(),
            spawns: Spawns::default(),
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

    /// Makes the receiver count the bits of each snapshot by part and by entity, for tools: see
    /// [`cost`](Self::cost). Counting takes time, because the receiver encodes each snapshot once
    /// more.
    #[must_use]
    pub fn with_costs(mut self) -> Self {
        self.recount = Some(Box::new(Recount::new(self.decoder.codec())));
        self
    }

    /// The bits of the last accepted snapshot by part and by entity. `None` without
    /// [costs](Self::with_costs), and before the first snapshot.
    ///
    /// If the snapshot is complete, the costs of its fields are those that the sender counted. The
    /// costs of its entities differ from the sender's counts by at most a bit. If the snapshot left
    /// something out, the costs are those of a complete snapshot with the same changes, which may
    /// be coded differently.
    pub fn cost(&self) -> Option<&Cost> {
        self.recount.as_ref()?.newest()
    }

    /// Takes a datagram from the sender.
    ///
    /// # Errors
    /// Returns [`Refused`]; then no view, event or shown state has changed. The receiver counts the
    /// refusal, may store a reason for [`mismatch`](Self::mismatch) or
    /// [`too_large`](Self::too_large), and may ask for the state anew. The exception is a snapshot
    /// whose state check fails: the receiver then drops its views. See
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
                    Received::Snapshot { .. } | Received::FullState { .. } => None,
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

    /// The next datagram to send, valid until the next call. The receiver sends hellos until a
    /// datagram arrives and after a [silence](ReceiverConfig::silence), otherwise acknowledgements.
    /// After a failed state check, or for lack of memory, the receiver also asks for the state
    /// anew.
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

    /// The acknowledgement, if datagrams were accepted since the last call. Use this to send
    /// acknowledgements in messages of your own.
    pub fn poll_acknowledgement(&mut self) -> Option<Acknowledgement> {
        if !std::mem::take(&mut self.acknowledges) {
            return None;
        }
        let acknowledgement = self.window.acknowledgement()?;
        self.connection.note_acknowledged(self.now, acknowledgement.latest);
        Some(acknowledgement)
    }

    /// Why the sender refuses this receiver; `None` if it does not refuse. [`Mismatch::describe`]
    /// explains the reason in words.
    pub fn mismatch(&self) -> Option<Mismatch> {
        self.mismatch
    }

    /// Why the newest state was refused, if it exceeds this side's limits:
    /// [`Refused::FullStateTooLarge`] or
    /// [`DecodeError::TooManyEntities`](kinepack::DecodeError::TooManyEntities). Raise
    /// [`max_memory_bytes`](ReceiverConfig::max_memory_bytes), [`limits`](ReceiverConfig::limits)
    /// or [`max_full_state_bytes`](ReceiverConfig::max_full_state_bytes), or make fewer entities
    /// relevant.
    pub fn too_large(&self) -> Option<Refused> {
        self.too_large
    }

    /// The newest known state of each entity; `None` before the first state.
    pub fn newest(&self) -> Option<&Snapshot> {
        self.newest_shown.as_ref().map(|shown| &*shown.state)
    }

    /// The tick of the values of the entity at `index` in [`newest`](Self::newest). It is the
    /// newest state's tick, or an earlier one if later snapshots skipped the entity.
    ///
    /// # Panics
    /// Panics if `index` is not below the number of entities.
    pub fn fresh(&self, index: usize) -> Tick {
        self.newest_shown.as_ref().map_or(Tick(0), |shown| shown.fresh(index))
    }

    /// The view of `sequence`, or `None` if the receiver does not hold it. This view must equal the
    /// view that the sender holds for `sequence`.
    pub fn view(&self, sequence: Sequence) -> Option<&Snapshot> {
        self.views.find(sequence).map(|held| &*held.view)
    }

    /// Injects a fault into this side: changes the lane `lane` of the entity `id` by one in the
    /// newest view, as a memory fault would. Use this method only in tests and tools. Returns false
    /// if there is no such view, entity or lane, or if the lane has only one value.
    pub fn inject_fault(&mut self, id: EntityId, lane: usize) -> bool {
        self.newest.is_some_and(|newest| self.views.inject_fault(newest, id, lane))
    }

    /// The sequence of the newest snapshot.
    pub fn newest_sequence(&self) -> Option<Sequence> {
        self.newest
    }

    /// The world to show at `now`; `None` before the first state.
    pub fn playback(&mut self, now: Duration) -> Option<Playback<'_>> {
        let tick_hz = f64::from(self.config.playout.tick_hz);
        let longest_blend_ticks = self.config.longest_blend_ticks();
        let (moment, playout) = self.buffer.at_step(now, STEPS)?;
        self.seen = Some(self.arrivals.seen(moment));
        let point = PlayoutPoint::new(playout, tick_hz, longest_blend_ticks, &self.extrapolations);
        self.spawns.update(&point);
        if let Some(events) = &mut self.events {
            events.play(point.tick());
        }
        let events = self.events.as_ref().map_or(&[][..], Incoming::played);
        Some(Playback::new(point, &self.spawns, events))
    }

    /// What the last [`playback`](Self::playback) call showed, as a field for the inputs that the
    /// player makes in view of it: see [`Hub::rewind`](crate::Hub::rewind). `None` before the first
    /// state.
    pub fn seen(&self) -> Option<Seen> {
        self.seen
    }

    /// Takes the events that are in order and that playback has not reached yet. Later calls of
    /// [`playback`](Self::playback) no longer return these events, so this method is for receivers
    /// that show nothing.
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

    /// Sets what playback shows of a kind of entities whose next state has not arrived. At first,
    /// all kinds are [held](Extrapolation::Hold).
    ///
    /// If any kind is not held, playback runs on while it starves. The next state then may be in
    /// the past already, and the shown place differs from the true one.
    /// [`Smoother`](crate::Smoother) fades out this difference. Kinds that are held need it too:
    /// they stop, and later are as far on as the others.
    ///
    /// A hub that [rewinds](crate::Hub::rewind) needs the same choices:
    /// [`Hub::set_extrapolation`](crate::Hub::set_extrapolation).
    ///
    /// # Errors
    /// Returns [`NetError::NoSuchKind`] and [`NetError::ExtrapolationTooLong`]; then nothing has
    /// changed.
    pub fn set_extrapolation(
        &mut self,
        kind: &str,
        extrapolation: Extrapolation,
    ) -> Result<(), NetError> {
        let schema = self.decoder.codec().schema();
        self.extrapolations.set(schema, kind, extrapolation)?;
        self.buffer.run_on(self.extrapolations.reach());
        Ok(())
    }

    /// Changes the bounds of the playout delay; see [`JitterBuffer::set_delays`].
    ///
    /// # Errors
    /// Returns [`NetError::Playout`] if [`PlayoutConfig::validate`](crate::PlayoutConfig::validate)
    /// refuses the bounds; then nothing has changed.
    pub fn set_playout_delays(&mut self, min: Duration, max: Duration) -> Result<(), NetError> {
        self.buffer.set_delays(min, max).map_err(NetError::Playout)?;
        self.config.playout = *self.buffer.config();
        Ok(())
    }

    /// The receiver's counters.
    pub fn stats(&self) -> ReceiverStats {
        let events = self.events.as_ref().map_or([0, 0], |events| [events.count, events.late]);
        let [events, late_events] = events;
        ReceiverStats { views: self.views.len(), events, late_events, ..self.stats }
    }

    /// Measurements of playback.
    pub fn playout_stats(&self) -> PlayoutStats {
        self.buffer.stats()
    }

    /// If a full state is incomplete, how many of its fragments have arrived, and how many
    /// fragments it has.
    pub fn full_state_progress(&self) -> Option<(usize, usize)> {
        self.assembly.progress()
    }
}
