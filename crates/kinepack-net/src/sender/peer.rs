//! The sender's state for one receiver: decides what to send it in a tick.

use std::sync::Arc;
use std::time::Duration;

use kinepack::{EncodeError, Level, Snapshot, Tick};

use super::block::{ANSWERED, BlockOut, block_bytes};
use super::budget::Budget;
use super::checks::Checks;
use super::freshness::Freshness;
use super::history::{ChosenBaseline, Content, History, Outcome, Sent};
use super::hub::{HubConfig, ReceiverId, ReceiverOptions, Weight};
use super::plan::Plan;
use super::sending::{OfferedCodec, Outbox, PlanRequest, Sending, Target};
use super::sight::KnownSight;
use super::view::SentView;
use crate::baseline::MERGED;
use crate::events::{Carried, EventList, LONGEST_IN_FRONT_BYTES, Outgoing, write_in_front};
use crate::packet::{
    Baseline, CHECK_BYTES, FRAGMENT_HEADER_BYTES, LONGEST_HEADER_BYTES, OLDER_VIEW_BYTES,
    OlderViews, SnapshotHeader, Stride, Time,
};
use crate::receiver::lost_ratio;
use crate::trace::event;
use crate::{Acknowledgement, Cost, NetError, Refused, Sequence};

/// If the budget has no room for a snapshot of this size, the snapshot waits for the next tick.
const LEAST_BYTES: usize = 48;
/// After this many snapshots in a row without room for a due event, snapshots wait until the event
/// is sent. This is half a second at 60 Hz.
const EVENTS_WAIT: u32 = 30;
/// For this long after a block arrived, changes are sent in parts and not as another block.
const BLOCK_IS_RECENT: Duration = Duration::from_secs(5);

/// The state of one receiver's connection.
///
/// ```
/// use std::time::Duration;
/// use kinepack::{Codec, Level, Pack, Profile, Schema};
/// use kinepack_net::{Hub, HubConfig, ReceiverId, ReceiverOptions};
///
/// #[derive(Pack)]
/// struct Unit {
///     #[pack(max = 100)]
///     health: u8,
/// }
///
/// let schema = Schema::of::<Unit>();
/// let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema))?;
/// let mut hub = Hub::new(&codec, HubConfig::default())?;
/// hub.add(ReceiverId(1), &ReceiverOptions::default(), Duration::ZERO)?;
/// let status = hub.status(ReceiverId(1)).ok_or("no such receiver")?;
/// assert!(!status.joined && status.round_trip.is_none());
/// assert_eq!((status.waiting, status.lost_ratio()), (0, 0.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeerStatus {
    /// True once the receiver's hello was accepted.
    pub joined: bool,
    /// The level of the codec that the receiver chose by its hello.
    pub level: Option<Level>,
    /// The [`hash`](kinepack::Codec::hash) of that codec.
    pub codec_hash: Option<u64>,
    /// The smoothed time from sending a datagram to its acknowledgement.
    pub round_trip: Option<Duration>,
    /// How many datagrams ago the current baseline was sent.
    pub baseline_age: Option<u16>,
    /// Datagrams sent.
    pub sent: u64,
    /// Of those sent, how many were acknowledged.
    pub acknowledged: u64,
    /// Of those sent, how many were still missing when one more than six sequences newer was
    /// acknowledged, or were not acknowledged in time. Some may still have arrived.
    pub lost: u64,
    /// Payload bytes sent, including this protocol's headers.
    pub bytes: u64,
    /// While a block is being sent: how many of its fragments were acknowledged, and how many it
    /// has.
    pub block: Option<(usize, usize)>,
    /// Entities that should have been sent in the last tick but did not fit.
    pub waiting: usize,
    /// How often a weight that is not a number was used as 0.
    pub bad_weights: u64,
    /// Ticks in which the receiver got nothing because the hub had reached
    /// [`HubConfig::encodings_per_tick`].
    pub postponed: u64,
    /// How often the state was sent anew. This happens if a state check failed at the receiver, or
    /// if the receiver lacked the memory for a view that the hub used.
    pub sent_anew: u64,
    /// Events that are not known to have arrived.
    pub unfinished_events: usize,
    /// Events that were given up because they became too old, or because too many waited. Only
    /// [droppable](crate::EventKinds::droppable) events are given up.
    pub dropped_events: u64,
    /// Of the unfinished events, how many were never sent. The hub keeps at most 4,096.
    pub waiting_events: usize,
    /// Events that had to arrive but never will, because too many were waiting. If there are any,
    /// the receiver has missed something for good: remove it.
    pub refused_events: u64,
}

impl PeerStatus {
    /// The share of datagrams lost, from 0 to 1. Datagrams that arrived after they were counted in
    /// `lost` do not count.
    pub fn lost_ratio(&self) -> f64 {
        lost_ratio(self.sent, self.acknowledged, self.lost)
    }
}

/// What a hub knows about one receiver.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) id: ReceiverId,
    /// Index of the codec that the receiver chose; `None` before its hello.
    pub(super) codec: Option<usize>,
    pub(super) history: History,
    reference: Reference,
    block: Option<BlockOut>,
    newest_block: u8,
    pub(super) budget: Option<Budget>,
    pub(super) sight: KnownSight,
    freshness: Freshness,
    expects_part: bool,
    /// The last complete state that was sent, and the last tick in which it was still current.
    /// `None` if the last snapshot was partial.
    shown: Option<(u64, Tick)>,
    pub(super) last_sent: Option<Duration>,
    /// When the receiver last sent a hello or an acknowledgement.
    heard_at: Duration,
    outcomes: Vec<Outcome>,
    bytes: u64,
    waiting: usize,
    /// In the last tick that sent anything, the budget had no room for all entities.
    is_starved: bool,
    bad_weights: u64,
    postponed: u64,
    waited_ticks: u32,
    checks: Checks,
    pub(super) events: Outgoing,
    /// How many snapshots in a row were sent while an event was due but the budget had no room for
    /// it.
    pub(super) events_waited: u32,
    /// The events to send in front of the next snapshot of this tick.
    front: Option<EventList>,
}

/// Why a receiver gets nothing in a tick.
#[derive(Debug)]
enum Failed {
    Codec(EncodeError),
    /// The state needs more fragments than a block can have.
    BlockTooLarge {
        bytes: usize,
    },
}

impl From<EncodeError> for Failed {
    fn from(error: EncodeError) -> Self {
        Self::Codec(error)
    }
}

/// A reference state, which both sides hold.
#[derive(Debug)]
struct Reference {
    number: u8,
    view: Arc<SentView>,
    since: Duration,
}

/// A snapshot that one receiver should get in a tick.
#[derive(Debug)]
pub(super) struct DueSnapshot {
    pub(super) target: Target,
    /// What the snapshot is coded against.
    pub(super) base: ChosenBaseline,
    /// The receiver has not acknowledged anything for a long time.
    silent: bool,
    /// Nothing was sent for the keep-alive time, so a snapshot is due even without changes.
    keeps_alive: bool,
    /// There is no view to use as baseline: if the state does not fit into a datagram, it becomes a
    /// block.
    is_first: bool,
}

/// What the peers need to know about a tick.
pub(super) struct Moment<'a> {
    pub(super) now: Duration,
    pub(super) tick: Tick,
    pub(super) interval_ticks: u8,
    pub(super) config: &'a HubConfig,
    pub(super) weight: Option<Weight<'a>>,
}

impl Peer {
    pub(super) fn new(
        id: ReceiverId,
        options: &ReceiverOptions,
        config: &HubConfig,
        initial: &Arc<SentView>,
        sight: KnownSight,
        now: Duration,
    ) -> Self {
        let datagram_bytes = config.datagram_bytes + overhead_bytes(config);
        Self {
            id,
            codec: None,
            history: History::new(options.first_sequence),
            reference: Reference { number: 0, view: Arc::clone(initial), since: now },
            block: None,
            newest_block: 0,
            budget: options
                .budget_bytes_per_s
                .map(|bytes_per_s| Budget::new(bytes_per_s, datagram_bytes, now)),
            sight,
            freshness: Freshness::default(),
            expects_part: false,
            shown: None,
            last_sent: None,
            heard_at: now,
            outcomes: Vec::new(),
            bytes: 0,
            waiting: 0,
            is_starved: false,
            bad_weights: 0,
            postponed: 0,
            waited_ticks: 0,
            checks: Checks::new(),
            events: Outgoing::default(),
            events_waited: 0,
            front: None,
        }
    }

    /// The sequence of the next datagram.
    pub(super) fn next_sequence(&self) -> Sequence {
        self.history.next()
    }

    /// Changes the budget while the receiver plays.
    pub(super) fn set_budget(
        &mut self,
        bytes_per_s: Option<u32>,
        config: &HubConfig,
        now: Duration,
    ) {
        let datagram_bytes = config.datagram_bytes + overhead_bytes(config);
        self.budget = bytes_per_s.map(|bytes_per_s| match self.budget {
            Some(budget) => budget.changed(bytes_per_s, datagram_bytes, now),
            None => Budget::new(bytes_per_s, datagram_bytes, now),
        });
    }

    /// Begins to send with the codec at this index. False if it had begun before.
    pub(super) fn join(&mut self, now: Duration, codec: usize, offer: &OfferedCodec) -> bool {
        self.heard_at = self.heard_at.max(now);
        if self.codec.is_some() {
            return false;
        }
        self.codec = Some(codec);
        if offer.older_views > 0 {
            self.history.keep_older();
        }
        true
    }

    pub(super) fn status(&self, offers: &[OfferedCodec]) -> PeerStatus {
        let offer = self.codec.map(|codec| &offers[codec]);
        PeerStatus {
            joined: offer.is_some(),
            level: offer.map(|offer| offer.level),
            codec_hash: offer.map(|offer| offer.hash),
            round_trip: self.history.round_trip.smoothed(),
            baseline_age: self.history.baseline_age(),
            sent: self.history.sent_count(),
            acknowledged: self.history.acknowledged_count,
            lost: self.history.lost_count,
            bytes: self.bytes,
            block: self.block.as_ref().map(BlockOut::progress),
            waiting: self.waiting,
            bad_weights: self.bad_weights,
            postponed: self.postponed,
            sent_anew: self.checks.sent_anew,
            unfinished_events: self.events.unfinished(),
            dropped_events: self.events.dropped,
            waiting_events: self.events.waiting(),
            refused_events: self.events.refused,
        }
    }

    pub(super) fn view(&self, sequence: Sequence) -> Option<Snapshot> {
        let view = self.history.view(sequence)?;
        let mut snapshot = Snapshot::new_like(&view.whole);
        view.write_to(&mut snapshot).ok()?;
        Some(snapshot)
    }

    pub(super) fn cost(&self, sequence: Sequence) -> Option<&Arc<Cost>> {
        self.history.cost(sequence)
    }

    pub(super) fn acknowledge(
        &mut self,
        now: Duration,
        acknowledgement: Acknowledgement,
    ) -> Result<(), Refused> {
        if self.codec.is_none() {
            return Err(Refused::NoHello);
        }
        self.history.acknowledge(now, acknowledgement, &mut self.outcomes)?;
        self.heard_at = self.heard_at.max(now);
        self.settle(now);
        self.history.forget();
        Ok(())
    }

    /// Restarts from the initial state, because the receiver dropped all its views and refused the
    /// datagram with this sequence.
    pub(super) fn begin_anew(
        &mut self,
        now: Duration,
        refused: Sequence,
        initial: &Arc<SentView>,
        config: &HubConfig,
    ) -> Result<(), Refused> {
        if self.codec.is_none() {
            return Err(Refused::NoHello);
        }
        if self.history.is_stale(refused)? || !self.checks.begin_anew(now, config.keep_alive) {
            return Ok(());
        }
        event!(warn, receiver = self.id.0, "the receiver lacks views: the state is sent anew");
        self.history.begin_anew();
        self.reference = Reference { number: 0, view: Arc::clone(initial), since: now };
        self.block = None;
        self.freshness = Freshness::default();
        Ok(())
    }

    /// Applies the outcomes of datagrams.
    fn settle(&mut self, now: Duration) {
        let mut outcomes = std::mem::take(&mut self.outcomes);
        for outcome in outcomes.drain(..) {
            match outcome {
                Outcome::Acknowledged(index) => {
                    if let Some(events) = &self.history.entry(index).events {
                        self.events.arrive(events);
                    }
                    let Content::Fragment { block, index } = self.history.entry(index).content
                    else {
                        continue;
                    };
                    let whole = self
                        .block
                        .as_mut()
                        .filter(|out| out.number == block)
                        .map(|out| out.acknowledge(index, now));
                    if whole == Some(true)
                        && let Some(block) = self.block.take()
                    {
                        self.reference =
                            Reference { number: block.number, view: block.view, since: now };
                        event!(debug, receiver = self.id.0, block = block.number, "block finished");
                        self.freshness.note_complete(self.reference.view.tick());
                        self.history.begin_anew();
                    }
                }
                Outcome::Lost(index) => {
                    let Self { history, events, block, freshness, reference, .. } = self;
                    let reference_tick = reference.view.tick();
                    note_lost(history.entry(index), events, block, freshness, reference_tick);
                }
            }
        }
        self.outcomes = outcomes;
    }

    /// Begins a tick: finds lost datagrams and the snapshot that is due. `None` if no snapshot
    /// needs to be coded; anything else that is due, such as fragments, is sent.
    ///
    /// # Errors
    /// [`NetError::Receiver`] and [`NetError::BlockRefused`].
    pub(super) fn begin(
        &mut self,
        moment: &Moment<'_>,
        sending: &mut Sending,
    ) -> Result<Option<DueSnapshot>, NetError> {
        let Some(codec) = self.codec else { return Ok(None) };
        let subject = sending.subjects.of(&self.sight);
        let subject = subject.map_err(|error| NetError::Receiver { id: self.id, error })?;
        let target = Target { codec, subject };
        self.history.find_lost(moment.now, &mut self.outcomes);
        self.settle(moment.now);
        if let Some(budget) = &mut self.budget {
            budget.fill(moment.now);
        }
        self.events.expire(moment.tick);
        let due = self.due(moment, sending, target);
        if due.is_none() {
            self.end(moment, sending, target)?;
        }
        let answers =
            moment.now.saturating_sub(self.heard_at) < moment.config.silence.min(ANSWERED);
        if !answers && let Some(block) = &mut self.block {
            block.begin_counting(moment.now);
        }
        if let Some(block) = self.block.take_if(|block| block.is_refused(moment.now)) {
            // The block is given up. The caller may make fewer entities relevant before the next
            // one begins.
            let (arrived, fragments) = block.progress();
            return Err(NetError::BlockRefused { id: self.id, arrived, fragments });
        }
        Ok(due)
    }

    fn due(
        &mut self,
        moment: &Moment<'_>,
        sending: &mut Sending,
        target: Target,
    ) -> Option<DueSnapshot> {
        let Moment { now, config, .. } = *moment;
        let rested =
            self.last_sent.is_none_or(|last| now.saturating_sub(last) >= config.keep_alive);
        let silent = self.history.is_silent(now, config.silence);
        if silent && !rested {
            return None;
        }
        if let Some(base) = self.base(moment, sending.offers[target.codec].older_views) {
            // The receiver answers again, so its block is no longer needed.
            self.block = None;
            let is_known =
                !base.view.coarse && base.view.state == sending.subjects.view(target.subject).state;
            return (!is_known || rested || self.events.is_due()).then_some(DueSnapshot {
                target,
                base,
                silent,
                keeps_alive: rested,
                is_first: false,
            });
        }
        if self.block.is_none() {
            return Some(DueSnapshot {
                target,
                base: self.reference_base(),
                silent,
                keeps_alive: rested,
                is_first: true,
            });
        }
        self.send_fragments(moment, &mut sending.outbox, silent);
        None
    }

    /// Codes and sends the snapshot that [`begin`](Self::begin) found due.
    ///
    /// # Errors
    /// [`NetError::Receiver`] and [`NetError::BlockTooLarge`].
    pub(super) fn send_due(
        &mut self,
        due: &DueSnapshot,
        moment: &Moment<'_>,
        sending: &mut Sending,
    ) -> Result<(), NetError> {
        let DueSnapshot { target, silent, is_first, .. } = *due;
        self.waited_ticks = 0;
        if silent {
            self.checks.ask();
        }
        let limit_bytes = self.sendable_bytes(moment.config) / 2;
        let limit_bytes = limit_bytes.saturating_sub(LONGEST_IN_FRONT_BYTES);
        let copies = moment.config.event_copies;
        self.front =
            self.event_list(moment, sending, copies, limit_bytes, LONGEST_IN_FRONT_BYTES)?;
        let waits = self.front.is_none() && self.budget.is_some() && self.events.is_due();
        self.events_waited = if waits { self.events_waited.saturating_add(1) } else { 0 };
        let may_save = self.events_waited > EVENTS_WAIT && !is_first && !silent;
        if may_save && self.saves_for_events(moment, sending)? {
            return self.end(moment, sending, target);
        }
        let taken = match is_first {
            false => {
                let taken = self.step_from(due, moment, sending).map_err(Failed::Codec);
                self.note_starved();
                taken
            }
            true => self.begin_block(moment, sending, target).map(|has_begun| {
                if has_begun {
                    self.send_fragments(moment, &mut sending.outbox, silent);
                }
            }),
        };
        let ended = self.end(moment, sending, target);
        let id = self.id;
        let taken = taken.map_err(|failed| match failed {
            Failed::Codec(error) => NetError::Receiver { id, error },
            Failed::BlockTooLarge { bytes } => NetError::BlockTooLarge { id, bytes },
        });
        taken.and(ended)
    }

    /// Makes the receiver wait for a later tick, because this tick may make no more encodings.
    ///
    /// # Errors
    /// [`NetError::Receiver`].
    pub(super) fn postpone(
        &mut self,
        due: &DueSnapshot,
        moment: &Moment<'_>,
        sending: &mut Sending,
    ) -> Result<(), NetError> {
        self.waited_ticks = self.waited_ticks.saturating_add(1);
        self.postponed += 1;
        self.end(moment, sending, due.target)
    }

    /// Ends a tick: sends the events that did not go with a snapshot, and notes whether the state
    /// that was sent last is still current.
    ///
    /// # Errors
    /// [`NetError::Receiver`].
    fn end(
        &mut self,
        moment: &Moment<'_>,
        sending: &mut Sending,
        target: Target,
    ) -> Result<(), NetError> {
        self.front = None;
        let state = sending.subjects.view(target.subject).state;
        if let Some((shown, held_until)) = &mut self.shown
            && Some(*shown) == state
        {
            *held_until = moment.tick;
        }
        self.send_events_alone(moment, sending)
    }

    /// The receiver's weight among those that wait. It grows each time that the receiver is
    /// [postponed](Self::postpone).
    pub(super) fn weight(&self) -> u64 {
        1 + u64::from(self.waited_ticks)
    }

    /// Whether no other receiver can share the encoding, because the baseline is partial for lack
    /// of budget.
    pub(super) fn is_always_alone(&self, due: &DueSnapshot) -> bool {
        self.budget.is_some() && !due.base.view.is_complete()
    }

    /// The datagrams sent, and their outcomes.
    pub(super) fn history(&self) -> &History {
        &self.history
    }

    /// What the next snapshot can be coded against: a view, or a block that has just arrived.
    fn base(&self, moment: &Moment<'_>, older_views: u8) -> Option<ChosenBaseline> {
        let Moment { now, tick, config, .. } = *moment;
        let is_recent = self.reference.number != 0
            && now.saturating_sub(self.reference.since) < BLOCK_IS_RECENT;
        let mut base = self.history.base().or_else(|| is_recent.then(|| self.reference_base()))?;
        if older_views > 0 {
            base.older = self.history.older(&base, tick, older_views, config.datagrams_per_tick);
        }
        base.models = base.sequence.and_then(|sequence| self.history.models(sequence)).cloned();
        Some(base)
    }

    fn reference_base(&self) -> ChosenBaseline {
        ChosenBaseline::new(None, &self.reference.view)
    }

    /// Sends what changed, in as many datagrams as it needs and the configuration allows.
    fn step_from(
        &mut self,
        due: &DueSnapshot,
        moment: &Moment<'_>,
        sending: &mut Sending,
    ) -> Result<(), EncodeError> {
        let DueSnapshot { target, ref base, keeps_alive, .. } = *due;
        if !keeps_alive && !sending.is_anything_due(base, target)? {
            return Ok(());
        }
        if self.budget.is_none() && self.step_whole(moment, sending, base, target)? {
            return Ok(());
        }
        for nth in 0..moment.config.datagrams_per_tick {
            if !self.history.reaches(base, 1) {
                return Ok(());
            }
            let Some(mut header) = self.header(moment, base) else { return Ok(()) };
            let mut limit_bytes = self.limit_bytes(moment.config, &header);
            if let Some(front) = &self.front {
                let front_bytes = front.bytes.len() + LONGEST_IN_FRONT_BYTES;
                limit_bytes = limit_bytes.saturating_sub(front_bytes);
            }
            if limit_bytes < LEAST_BYTES {
                return Ok(());
            }
            let plan = self.plan(moment, sending, base, target, limit_bytes, nth > 0)?;
            header.left_out = !plan.view.is_complete();
            self.send_snapshot(moment, sending, &header, &plan)?;
            if self.waiting == 0 {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Predicts whether [`send_due`](Self::send_due) will ask for everything in one datagram.
    pub(super) fn asks_for_whole(
        &self,
        due: &DueSnapshot,
        moment: &Moment<'_>,
        are_all_due: bool,
    ) -> bool {
        let is_tried = self.budget.is_none() || !self.expects_part;
        (due.is_first || are_all_due && is_tried)
            && self.sendable_bytes(moment.config) >= LEAST_BYTES
            && self.header(moment, &due.base).is_some()
    }

    /// Logs when a budget begins to skip entities.
    fn note_starved(&mut self) {
        let is_starved = self.budget.is_some() && self.waiting > 0;
        if is_starved && !self.is_starved {
            event!(debug, receiver = self.id.0, waiting = self.waiting, "budget too small");
        }
        self.is_starved = is_starved;
    }

    /// Sends everything that is due, in one or several datagrams; false if that is not possible.
    /// All receivers with this baseline and codec get the same bytes.
    fn step_whole(
        &mut self,
        moment: &Moment<'_>,
        sending: &mut Sending,
        base: &ChosenBaseline,
        target: Target,
    ) -> Result<bool, EncodeError> {
        let Some(header) = self.header(moment, base) else { return Ok(false) };
        let plan = sending.whole_due(base, target)?;
        if plan.coded.bytes.len() <= self.limit_bytes(moment.config, &header) {
            let header = SnapshotHeader { left_out: !plan.view.is_complete(), ..header };
            self.send_snapshot(moment, sending, &header, &plan)?;
            return Ok(true);
        }
        // The limit assumes the longest header, so that all receivers with this codec share the
        // parts, whatever their headers.
        let older_views = sending.offers[target.codec].older_views;
        let longest_header_bytes =
            LONGEST_HEADER_BYTES + OLDER_VIEW_BYTES * usize::from(older_views);
        let limit_bytes = moment.config.datagram_bytes - longest_header_bytes;
        let most = MERGED.min(moment.config.datagrams_per_tick as usize);
        let Some(parts) = sending.split(base, target, limit_bytes, most)? else { return Ok(false) };
        if !self.history.reaches(base, parts.len()) {
            return Ok(false);
        }
        for plan in &*parts {
            let Some(header) = self.header(moment, base) else { break };
            let header = SnapshotHeader { left_out: true, ..header };
            self.send_snapshot(moment, sending, &header, plan)?;
        }
        Ok(true)
    }

    /// Sends the complete state coded against the reference state. If that is too large for a
    /// datagram, begins a block and returns true.
    fn begin_block(
        &mut self,
        moment: &Moment<'_>,
        sending: &mut Sending,
        target: Target,
    ) -> Result<bool, Failed> {
        let base = self.reference_base();
        let Some(header) = self.header(moment, &base) else { return Ok(false) };
        let limit_bytes = self.limit_bytes(moment.config, &header);
        if limit_bytes < LEAST_BYTES {
            return Ok(false);
        }
        let plan = sending.whole(&base, target)?;
        if plan.coded.bytes.len() <= limit_bytes {
            self.send_snapshot(moment, sending, &header, &plan)?;
            return Ok(false);
        }
        let full_bytes = moment.config.datagram_bytes - header_bytes(moment.config, &header);
        if plan.coded.bytes.len() <= full_bytes {
            // The snapshot fits once the budget has filled up.
            return Ok(false);
        }
        let number = self.newest_block % 255 + 1;
        let bytes = block_bytes(moment.tick, self.reference.number, &plan.coded.bytes);
        let (block_bytes, datagram_bytes) = (bytes.len(), moment.config.datagram_bytes);
        let block =
            BlockOut::new(number, Arc::clone(&plan.view), bytes, datagram_bytes, moment.now);
        self.block = Some(block.ok_or(Failed::BlockTooLarge { bytes: block_bytes })?);
        self.newest_block = number;
        event!(debug, receiver = self.id.0, block = number, bytes = block_bytes, "block started");
        Ok(true)
    }

    fn plan(
        &mut self,
        moment: &Moment<'_>,
        sending: &mut Sending,
        base: &ChosenBaseline,
        target: Target,
        limit_bytes: usize,
        is_later_datagram: bool,
    ) -> Result<Arc<Plan>, EncodeError> {
        let only_for = moment.weight.map(|_| self.id);
        let mut bad_weights = 0;
        let kinds = Arc::clone(sending.rates.options());
        let mut score = |kind: usize, entity| {
            let weight = moment.weight.map_or(1.0, |weight| weight(self.id, entity));
            if weight.is_nan() {
                bad_weights += 1;
                return 0.0;
            }
            // An infinite weight times 0 would not be a number.
            let weight = weight.min(f32::MAX) * kinds[kind].weight;
            weight.min(f32::MAX) * self.freshness.age_ticks(entity, moment.tick) as f32
        };
        let order = PlanRequest {
            base,
            target,
            limit_bytes,
            expects_part: self.expects_part,
            is_later_datagram,
            only_for,
        };
        let plan = sending.plan(&order, self.history.in_flight(), &mut score);
        self.bad_weights += bad_weights;
        plan
    }

    /// The header of the next snapshot, without *left out*: the caller sets that for partial
    /// snapshots. `None` if the baseline or an older view is too far back for a header to name it.
    fn header(&self, moment: &Moment<'_>, base: &ChosenBaseline) -> Option<SnapshotHeader> {
        let (tick, interval_ticks) = (moment.tick, self.interval_ticks(moment));
        let sequence = self.history.next();
        let (baseline, older) = match base.sequence {
            Some(view) => {
                let back = u8::try_from(sequence.since(view)).ok().filter(|back| *back > 0)?;
                let older_sequences = base.older.iter().map(|(sequence, _)| *sequence);
                (Baseline::Back(back), OlderViews::new(view, older_sequences)?)
            }
            None => (Baseline::Reference(self.reference.number), OlderViews::default()),
        };
        let steady = u32::from(baseline.back()) * u32::from(interval_ticks);
        let is_steady = base.view.tick().0.checked_add(steady) == Some(tick.0);
        let time = match (Stride::new(interval_ticks), baseline) {
            (Some(stride), Baseline::Back(_)) if is_steady => Time::Stride(stride),
            _ => Time::Explicit { tick, interval_ticks },
        };
        Some(SnapshotHeader {
            sequence,
            baseline,
            left_out: false,
            time,
            merge: base.field,
            older,
            check: None,
        })
    }

    /// How many ticks ago the last state that was sent still held; 0 if unknown.
    fn interval_ticks(&self, moment: &Moment<'_>) -> u8 {
        let Some((_, held_until)) = self.shown else { return moment.interval_ticks };
        u8::try_from(moment.tick.0.saturating_sub(held_until.0)).unwrap_or(0)
    }

    /// The most bytes that a snapshot after this header may take now. The limit is the same with
    /// and without a state check, so that receivers share encodings although they are not checked
    /// at the same time.
    fn limit_bytes(&self, config: &HubConfig, header: &SnapshotHeader) -> usize {
        self.sendable_bytes(config).saturating_sub(header_bytes(config, header))
    }

    /// The most bytes of the next datagram.
    pub(super) fn sendable_bytes(&self, config: &HubConfig) -> usize {
        let affordable = self.budget.as_ref().map_or(usize::MAX, Budget::bytes);
        affordable.saturating_sub(overhead_bytes(config)).min(config.datagram_bytes)
    }

    fn send_snapshot(
        &mut self,
        moment: &Moment<'_>,
        sending: &mut Sending,
        header: &SnapshotHeader,
        plan: &Plan,
    ) -> Result<(), EncodeError> {
        let check_every =
            moment.config.check_every_bytes.filter(|_| self.checks.is_due(moment.tick));
        let check = if check_every.is_some() { Some(sending.check(&plan.view)?) } else { None };
        let header = SnapshotHeader { check, ..*header };
        let room = self
            .sendable_bytes(moment.config)
            .saturating_sub(header.bytes() + plan.coded.bytes.len() + LONGEST_IN_FRONT_BYTES);
        let front = self.front.take_if(|front| front.bytes.len() <= room);
        if let (Some(budget), Some(front)) = (&mut self.budget, &front) {
            budget.note_events(front.bytes.len() + LONGEST_IN_FRONT_BYTES);
        }
        let bytes = sending.outbox.push(self.id, |out| {
            if let Some(front) = &front {
                write_in_front(&front.bytes, out);
            }
            header.write(out);
            out.extend_from_slice(&plan.coded.bytes);
        });
        let (mut sent_before, mut waiting) = (Vec::new(), 0);
        match &plan.view.skipped {
            None => self.freshness.note_complete(moment.tick),
            // All parts together are the complete state.
            Some(part) if part.split.is_some() => self.freshness.note_complete(moment.tick),
            Some(part) => {
                sent_before = self.freshness.note(&part.sent);
                self.freshness.tidy(&plan.view.whole);
                waiting = part.waiting;
            }
        }
        self.shown = plan.view.state.map(|state| (state, moment.tick));
        self.waiting = waiting;
        self.expects_part = waiting > 0;
        let own_back = header.baseline.back();
        let carried = front.map(|front| self.events.note_sent(moment.tick, front));
        let view = Arc::clone(&plan.view);
        let (models, cost) = (plan.coded.models.clone(), plan.coded.cost.clone());
        self.note_sent(
            moment,
            bytes,
            Content::Snapshot { view, own_back, sent_before, models, cost },
            carried,
        );
        if let Some(every) = check_every {
            let whole = &plan.view.whole;
            self.checks.note_checked(every, whole.value_count());
        }
        Ok(())
    }

    /// Sends as many fragments of the block as the budget, the tick and the window allow; at most
    /// one if the receiver is silent.
    fn send_fragments(&mut self, moment: &Moment<'_>, outbox: &mut Outbox, silent: bool) {
        let most = if silent { 1 } else { moment.config.datagrams_per_tick };
        for _ in 0..most {
            if !self.history.has_room() {
                // A fragment that is pushed out of the window can no longer be acknowledged. On a
                // long round trip, no fragment ever would be.
                return;
            }
            let sequence = self.history.next();
            let Some(block) = &mut self.block else { return };
            let Some(index) = block.next_index() else { return };
            let datagram_bytes =
                FRAGMENT_HEADER_BYTES + block.part(index).len() + overhead_bytes(moment.config);
            if self.budget.as_ref().is_some_and(|budget| budget.bytes() < datagram_bytes) {
                return;
            }
            block.note_sent();
            let number = block.number;
            let bytes = outbox.push(self.id, |out| {
                block.header(index, sequence).write(out);
                out.extend_from_slice(block.part(index));
            });
            self.note_sent(moment, bytes, Content::Fragment { block: number, index }, None);
        }
    }

    pub(super) fn note_sent(
        &mut self,
        moment: &Moment<'_>,
        bytes: usize,
        content: Content,
        events: Option<Carried>,
    ) {
        if let Some(lost) = self.history.push(moment.now, content, events.map(Box::new)) {
            let Self { events, block, freshness, reference, .. } = self;
            note_lost(&lost, events, block, freshness, reference.view.tick());
        }
        self.last_sent = Some(moment.now);
        self.bytes += bytes as u64;
        self.checks.note_sent(bytes);
        if let Some(budget) = &mut self.budget {
            budget.spend(bytes + moment.config.overhead_bytes);
        }
    }
}

/// Applies the loss of a datagram. `reference_tick` is the tick of the newest reference state.
fn note_lost(
    sent: &Sent,
    events: &mut Outgoing,
    block: &mut Option<BlockOut>,
    freshness: &mut Freshness,
    reference_tick: Tick,
) {
    if let Some(carried) = &sent.events {
        events.lose(carried);
    }
    match &sent.content {
        Content::Fragment { block: number, index } => {
            if let Some(out) = block.as_mut().filter(|out| out.number == *number) {
                out.lose(*index);
            }
        }
        Content::Snapshot { view, .. } if view.is_complete() || view.split().is_some() => {
            freshness.lose_complete(reference_tick);
        }
        Content::Snapshot { view, sent_before, .. } => freshness.lose(view.tick(), sent_before),
        Content::Events => {}
    }
}

/// The bytes of a snapshot's header, with a state check if the hub makes any.
fn header_bytes(config: &HubConfig, header: &SnapshotHeader) -> usize {
    header.bytes() + if config.check_every_bytes.is_some() { CHECK_BYTES } else { 0 }
}

/// What a budget pays for each datagram in addition to the bytes that [`HubConfig::datagram_bytes`]
/// counts.
pub(super) fn overhead_bytes(config: &HubConfig) -> usize {
    config.overhead_bytes + config.channel.bytes()
}
