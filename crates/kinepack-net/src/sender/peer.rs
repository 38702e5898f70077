//! One receiver as the sender sees it: what to send it in a tick.

use std::sync::Arc;
use std::time::Duration;

use kinepack::{EncodeError, Level, Snapshot, Tick};

use super::block::{BlockOut, block_bytes};
use super::budget::Budget;
use super::checks::Checks;
use super::cost::Cost;
use super::freshness::Freshness;
use super::history::{Base, Content, Fate, History};
use super::hub::{HubConfig, ReceiverId, ReceiverOptions, Weight};
use super::plan::Plan;
use super::sending::{Offer, Order, Outbox, Sending, Wanted};
use super::subjects::Relevant;
use super::view::SentView;
use crate::packet::{
    Baseline, CHECK_BYTES, FRAGMENT_HEADER_BYTES, LONGEST_HEADER_BYTES, OLDER_VIEW_BYTES,
    OlderViews, SnapshotHeader, Stride, Time,
};
use crate::receiver::lost_ratio;
use crate::trace::event;
use crate::{Acknowledgement, NetError, Refused, Sequence};

/// A budget that does not pay for a snapshot of this size waits for the next tick.
const LEAST_BYTES: usize = 48;
/// So long after a block arrived, what changed since is brought up to date in parts, not with
/// another block.
const BLOCK_IS_RECENT: Duration = Duration::from_secs(5);

/// How things stand with one receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeerStatus {
    /// True once its hello was taken.
    pub joined: bool,
    /// The level of the codec that it chose by its hello.
    pub level: Option<Level>,
    /// The [`hash`](kinepack::Codec::hash) of that codec.
    pub codec_hash: Option<u64>,
    /// The smoothed time from sending to the answer.
    pub round_trip: Option<Duration>,
    /// How many datagrams ago the view was sent that is the baseline now.
    pub baseline_age: Option<u16>,
    /// Datagrams sent, acknowledged, and found lost.
    pub sent: u64,
    /// Of those sent, how many were acknowledged.
    pub acknowledged: u64,
    /// Of those sent, how many were overtaken by others or never answered. Some may still have
    /// arrived.
    pub lost: u64,
    /// Payload bytes sent, this protocol's headers included.
    pub bytes: u64,
    /// Fragments of a block on its way that arrived, and all of them.
    pub block: Option<(usize, usize)>,
    /// Entities that were to be sent in the last tick and found no room.
    pub waiting: usize,
    /// Weights that were not a number and counted as 0; each time that one was asked for counts.
    pub bad_weights: u64,
    /// Ticks in which it got nothing, so that the hub made no more different encodings than
    /// [`HubConfig::encodings_per_tick`].
    pub postponed: u64,
    /// How often the state was sent anew, because the receiver found by a state check that it did
    /// not hold what it should.
    pub sent_anew: u64,
}

impl PeerStatus {
    /// The share of datagrams lost, from 0 to 1: `lost` of `lost` and `acknowledged`. For a recent
    /// share, take the differences of the counts of two calls.
    pub fn lost_ratio(&self) -> f64 {
        lost_ratio(self.lost, self.acknowledged)
    }
}

/// What a hub knows of one receiver.
#[derive(Debug)]
pub(super) struct Peer {
    id: ReceiverId,
    /// Which of the hub's codecs it chose; `None` before its hello.
    pub(super) codec: Option<usize>,
    history: History,
    reference: Reference,
    block: Option<BlockOut>,
    newest_block: u8,
    budget: Option<Budget>,
    pub(super) relevant: Option<Relevant>,
    freshness: Freshness,
    expects_part: bool,
    /// The state that was sent last, where nothing was left out of it, and the last tick in which
    /// it still was the state.
    shown: Option<(u64, Tick)>,
    last_sent: Option<Duration>,
    fates: Vec<Fate>,
    bytes: u64,
    waiting: usize,
    /// The budget had no room for all entities in the last tick that sent any.
    is_starved: bool,
    bad_weights: u64,
    postponed: u64,
    waited_ticks: u32,
    checks: Checks,
}

/// Why a receiver gets nothing in a tick.
#[derive(Debug)]
enum Failed {
    Codec(EncodeError),
    /// In more fragments than a block has numbers for.
    BlockTooLarge {
        bytes: usize,
    },
}

impl From<EncodeError> for Failed {
    fn from(error: EncodeError) -> Self {
        Self::Codec(error)
    }
}

/// A state that both sides hold for good.
#[derive(Debug)]
struct Reference {
    number: u8,
    view: Arc<SentView>,
    since: Duration,
}

/// A snapshot that one receiver is to get in a tick.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) wanted: Wanted,
    /// What it is encoded relative to.
    pub(super) base: Base,
    /// Nothing was acknowledged for long.
    silent: bool,
    /// There is no view to build on: if it does not fit into a datagram, it becomes a block.
    is_first: bool,
}

/// A tick as a peer needs it.
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
        now: Duration,
    ) -> Self {
        let datagram_bytes = config.datagram_bytes + config.overhead_bytes;
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
            relevant: None,
            freshness: Freshness::default(),
            expects_part: false,
            shown: None,
            last_sent: None,
            fates: Vec::new(),
            bytes: 0,
            waiting: 0,
            is_starved: false,
            bad_weights: 0,
            postponed: 0,
            waited_ticks: 0,
            checks: Checks::new(),
        }
    }

    /// Begins to send with the codec at this index. False where it had begun.
    pub(super) fn join(&mut self, codec: usize, offer: &Offer) -> bool {
        if self.codec.is_some() {
            return false;
        }
        self.codec = Some(codec);
        if offer.older_views > 0 {
            self.history.keep_older();
        }
        true
    }

    pub(super) fn status(&self, offers: &[Offer]) -> PeerStatus {
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
        self.history.acknowledge(now, acknowledgement, &mut self.fates)?;
        self.settle(now);
        self.history.forget();
        Ok(())
    }

    /// The receiver dropped all that it held, and refused the datagram with this sequence: what
    /// comes next is relative to the initial state.
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
        event!(warn, receiver = self.id.0, "failed state check: the state is sent anew");
        self.history.begin_anew();
        self.reference = Reference { number: 0, view: Arc::clone(initial), since: now };
        self.block = None;
        self.freshness = Freshness::default();
        Ok(())
    }

    /// Draws the consequences of what arrived and what did not.
    fn settle(&mut self, now: Duration) {
        for fate in self.fates.drain(..) {
            match fate {
                Fate::Acknowledged(index) => {
                    let Content::Fragment { block, index } = self.history.entry(index).content
                    else {
                        continue;
                    };
                    let whole = self
                        .block
                        .as_mut()
                        .filter(|out| out.number == block)
                        .map(|out| out.acknowledge(index));
                    if whole == Some(true)
                        && let Some(block) = self.block.take()
                    {
                        self.reference =
                            Reference { number: block.number, view: block.view, since: now };
                        event!(debug, receiver = self.id.0, block = block.number, "block finished");
                        self.freshness.note_whole(self.reference.view.tick());
                        self.history.begin_anew();
                    }
                }
                Fate::Lost(index) => match &self.history.entry(index).content {
                    Content::Fragment { block, index } => {
                        if let Some(out) = self.block.as_mut().filter(|out| out.number == *block) {
                            out.lose(*index);
                        }
                    }
                    Content::Snapshot { view, .. } if view.is_whole() || view.split().is_some() => {
                        self.freshness.lose_whole(self.reference.view.tick());
                    }
                    Content::Snapshot { view, sent_before, .. } => {
                        self.freshness.lose(view.tick(), sent_before)
                    }
                },
            }
        }
    }

    /// Begins a tick: finds what was lost, and what a snapshot is to be encoded relative to. `None`
    /// if none is to be encoded; what can be sent without that is sent.
    ///
    /// # Errors
    /// [`NetError::Receiver`].
    pub(super) fn begin(
        &mut self,
        moment: &Moment<'_>,
        sending: &mut Sending,
    ) -> Result<Option<Turn>, NetError> {
        let Some(codec) = self.codec else { return Ok(None) };
        let subject = sending.subjects.of(self.relevant.as_ref());
        let subject = subject.map_err(|error| NetError::Receiver { id: self.id, error })?;
        let wanted = Wanted { codec, subject };
        self.history.find_lost(moment.now, &mut self.fates);
        self.settle(moment.now);
        if let Some(budget) = &mut self.budget {
            budget.fill(moment.now);
        }
        let turn = self.turn(moment, sending, wanted);
        if turn.is_none() {
            self.end(moment, sending, wanted);
        }
        Ok(turn)
    }

    fn turn(&mut self, moment: &Moment<'_>, sending: &mut Sending, wanted: Wanted) -> Option<Turn> {
        let Moment { now, config, .. } = *moment;
        let rested =
            self.last_sent.is_none_or(|last| now.saturating_sub(last) >= config.keep_alive);
        let silent = self.history.is_silent(now, config.silence);
        if silent && !rested {
            return None;
        }
        if let Some(base) = self.base(moment, sending.offers[wanted.codec].older_views) {
            // Contact is back: what a block was begun for is there.
            self.block = None;
            let is_known =
                !base.view.coarse && base.view.state == sending.subjects.view(wanted.subject).state;
            return (!is_known || rested).then_some(Turn { wanted, base, silent, is_first: false });
        }
        if self.block.is_none() {
            return Some(Turn { wanted, base: self.reference_base(), silent, is_first: true });
        }
        self.send_fragments(moment, &mut sending.outbox, silent);
        None
    }

    /// Encodes and sends what [`begin`](Self::begin) found to be sent.
    ///
    /// # Errors
    /// [`NetError::Receiver`] and [`NetError::BlockTooLarge`].
    pub(super) fn take_turn(
        &mut self,
        turn: &Turn,
        moment: &Moment<'_>,
        sending: &mut Sending,
    ) -> Result<(), NetError> {
        let Turn { wanted, ref base, silent, is_first } = *turn;
        self.waited_ticks = 0;
        if silent {
            self.checks.ask();
        }
        let taken = match is_first {
            false => {
                let taken = self.step_from(base, moment, sending, wanted).map_err(Failed::Codec);
                self.note_starved();
                taken
            }
            true => self.begin_block(moment, sending, wanted).map(|has_begun| {
                if has_begun {
                    self.send_fragments(moment, &mut sending.outbox, silent);
                }
            }),
        };
        self.end(moment, sending, wanted);
        let id = self.id;
        taken.map_err(|failed| match failed {
            Failed::Codec(error) => NetError::Receiver { id, error },
            Failed::BlockTooLarge { bytes } => NetError::BlockTooLarge { id, bytes },
        })
    }

    /// Leaves the turn to others: this tick may make no more encodings.
    pub(super) fn postpone(&mut self, turn: &Turn, moment: &Moment<'_>, sending: &Sending) {
        self.waited_ticks = self.waited_ticks.saturating_add(1);
        self.postponed += 1;
        self.end(moment, sending, turn.wanted);
    }

    /// Ends a tick: notes whether the state that was sent last still is the state.
    fn end(&mut self, moment: &Moment<'_>, sending: &Sending, wanted: Wanted) {
        let state = sending.subjects.view(wanted.subject).state;
        if let Some((shown, held_until)) = &mut self.shown
            && Some(*shown) == state
        {
            *held_until = moment.tick;
        }
    }

    /// How much it counts beside others that wait: the more, the longer it was
    /// [postponed](Self::postpone).
    pub(super) fn weight(&self) -> u64 {
        1 + u64::from(self.waited_ticks)
    }

    /// Whether nobody else can share the encoding: a budget left something out of the view that it
    /// is relative to.
    pub(super) fn is_always_alone(&self, turn: &Turn) -> bool {
        self.budget.is_some() && !turn.base.view.is_whole()
    }

    /// What was sent, and what became of it.
    pub(super) fn history(&self) -> &History {
        &self.history
    }

    /// What the next snapshot can build on: a view, or a block that has just arrived.
    fn base(&self, moment: &Moment<'_>, older_views: u8) -> Option<Base> {
        let Moment { now, tick, config, .. } = *moment;
        let is_recent = self.reference.number != 0
            && now.saturating_sub(self.reference.since) < BLOCK_IS_RECENT;
        let mut base = self.history.base().or_else(|| is_recent.then(|| self.reference_base()))?;
        if older_views > 0 {
            base.older = self.history.older(&base, tick, older_views, config.datagrams_per_tick);
        }
        base.lesson = base.sequence.and_then(|sequence| self.history.lesson(sequence)).cloned();
        Some(base)
    }

    fn reference_base(&self) -> Base {
        Base::new(None, &self.reference.view)
    }

    /// Sends what changed, in as many datagrams as it takes and may be.
    fn step_from(
        &mut self,
        base: &Base,
        moment: &Moment<'_>,
        sending: &mut Sending,
        wanted: Wanted,
    ) -> Result<(), EncodeError> {
        if self.budget.is_none() && self.step_whole(moment, sending, base, wanted)? {
            return Ok(());
        }
        for nth in 0..moment.config.datagrams_per_tick {
            if !self.history.reaches(base, 1) {
                return Ok(());
            }
            let Some(mut header) = self.header(moment, base) else { return Ok(()) };
            let limit_bytes = self.limit_bytes(moment.config, &header);
            if limit_bytes < LEAST_BYTES {
                return Ok(());
            }
            let plan = self.plan(moment, sending, base, wanted, limit_bytes, nth > 0)?;
            header.left_out = !plan.view.is_whole();
            self.send_snapshot(moment, sending, &header, &plan)?;
            if self.waiting == 0 {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Reports when a budget begins to leave entities out.
    fn note_starved(&mut self) {
        let is_starved = self.budget.is_some() && self.waiting > 0;
        if is_starved && !self.is_starved {
            event!(debug, receiver = self.id.0, waiting = self.waiting, "budget too small");
        }
        self.is_starved = is_starved;
    }

    /// Sends everything, in one datagram or several, where that is possible: then true. All
    /// receivers with this baseline and codec get the same.
    fn step_whole(
        &mut self,
        moment: &Moment<'_>,
        sending: &mut Sending,
        base: &Base,
        wanted: Wanted,
    ) -> Result<bool, EncodeError> {
        let Some(header) = self.header(moment, base) else { return Ok(false) };
        let plan = sending.whole(base, wanted)?;
        if plan.coded.bytes.len() <= self.limit_bytes(moment.config, &header) {
            self.send_snapshot(moment, sending, &header, &plan)?;
            return Ok(true);
        }
        // The same for all receivers with this codec, whatever their headers.
        let older_views = sending.offers[wanted.codec].older_views;
        let longest_header_bytes =
            LONGEST_HEADER_BYTES + OLDER_VIEW_BYTES * usize::from(older_views);
        let limit_bytes = moment.config.datagram_bytes - longest_header_bytes;
        let most = moment.config.datagrams_per_tick as usize;
        let Some(parts) = sending.split(base, wanted, limit_bytes, most)? else { return Ok(false) };
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

    /// Sends the whole state relative to the reference state, or begins a block where that is too
    /// large: then true.
    fn begin_block(
        &mut self,
        moment: &Moment<'_>,
        sending: &mut Sending,
        wanted: Wanted,
    ) -> Result<bool, Failed> {
        let base = self.reference_base();
        let Some(header) = self.header(moment, &base) else { return Ok(false) };
        let limit_bytes = self.limit_bytes(moment.config, &header);
        if limit_bytes < LEAST_BYTES {
            return Ok(false);
        }
        let plan = sending.whole(&base, wanted)?;
        if plan.coded.bytes.len() <= limit_bytes {
            self.send_snapshot(moment, sending, &header, &plan)?;
            return Ok(false);
        }
        let number = self.newest_block % 255 + 1;
        let bytes = block_bytes(moment.tick, self.reference.number, &plan.coded.bytes);
        let block_bytes = bytes.len();
        let block =
            BlockOut::new(number, Arc::clone(&plan.view), bytes, moment.config.datagram_bytes);
        self.block = Some(block.ok_or(Failed::BlockTooLarge { bytes: block_bytes })?);
        self.newest_block = number;
        event!(debug, receiver = self.id.0, block = number, bytes = block_bytes, "block started");
        Ok(true)
    }

    fn plan(
        &mut self,
        moment: &Moment<'_>,
        sending: &mut Sending,
        base: &Base,
        wanted: Wanted,
        limit_bytes: usize,
        goes_on: bool,
    ) -> Result<Arc<Plan>, EncodeError> {
        let of = moment.weight.map(|_| self.id);
        let mut bad_weights = 0;
        let mut score = |entity| {
            let weight = moment.weight.map_or(1.0, |weight| weight(self.id, entity));
            if weight.is_nan() {
                bad_weights += 1;
                return 0.0;
            }
            // An infinite weight times an age of 0 would not be a number.
            weight.min(f32::MAX) * self.freshness.age_ticks(entity, moment.tick) as f32
        };
        let order =
            Order { base, wanted, limit_bytes, expects_part: self.expects_part, goes_on, of };
        let plan = sending.plan(&order, self.history.in_flight(), &mut score);
        self.bad_weights += bad_weights;
        plan
    }

    /// The header of the next snapshot, as if nothing were left out. `None` where a header cannot
    /// name the base: its view or the older views are too far back.
    fn header(&self, moment: &Moment<'_>, base: &Base) -> Option<SnapshotHeader> {
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

    /// Until how long before this tick the state sent last held; 0 where that is unknown.
    fn interval_ticks(&self, moment: &Moment<'_>) -> u8 {
        let Some((_, held_until)) = self.shown else { return moment.interval_ticks };
        u8::try_from(moment.tick.0.saturating_sub(held_until.0)).unwrap_or(0)
    }

    /// The most bytes that a snapshot behind this header may take now. Whether it gets a state
    /// check or not, it is the same: receivers that are not checked at the same time share
    /// encodings.
    fn limit_bytes(&self, config: &HubConfig, header: &SnapshotHeader) -> usize {
        let affordable = self.budget.as_ref().map_or(usize::MAX, Budget::bytes);
        let header_bytes =
            header.bytes() + if config.check_every_bytes.is_some() { CHECK_BYTES } else { 0 };
        affordable
            .saturating_sub(config.overhead_bytes)
            .min(config.datagram_bytes)
            .saturating_sub(header_bytes)
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
        let bytes = sending.outbox.push(self.id, |out| {
            header.write(out);
            out.extend_from_slice(&plan.coded.bytes);
        });
        let (mut sent_before, mut waiting) = (Vec::new(), 0);
        match &plan.view.left_out {
            None => self.freshness.note_whole(moment.tick),
            // The parts of a split are everything together.
            Some(part) if part.split.is_some() => self.freshness.note_whole(moment.tick),
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
        let view = Arc::clone(&plan.view);
        let (lesson, cost) = (plan.coded.lesson.clone(), plan.coded.cost.clone());
        self.note_sent(
            moment,
            bytes,
            Content::Snapshot { view, own_back, sent_before, lesson, cost },
        );
        if let Some(every) = check_every {
            let whole = &plan.view.whole;
            self.checks.note_checked(every, whole.len() * whole.lane_count());
        }
        Ok(())
    }

    /// Sends fragments of the block as the budget and the tick allow; one where nobody answers.
    fn send_fragments(&mut self, moment: &Moment<'_>, outbox: &mut Outbox, silent: bool) {
        let most = if silent { 1 } else { moment.config.datagrams_per_tick };
        for _ in 0..most {
            let sequence = self.history.next();
            let Some(block) = &mut self.block else { return };
            let Some(index) = block.next_index() else { return };
            let datagram_bytes =
                FRAGMENT_HEADER_BYTES + block.part(index).len() + moment.config.overhead_bytes;
            if self.budget.as_ref().is_some_and(|budget| budget.bytes() < datagram_bytes) {
                return;
            }
            block.note_sent();
            let number = block.number;
            let bytes = outbox.push(self.id, |out| {
                block.header(index, sequence).write(out);
                out.extend_from_slice(block.part(index));
            });
            self.note_sent(moment, bytes, Content::Fragment { block: number, index });
        }
    }

    fn note_sent(&mut self, moment: &Moment<'_>, bytes: usize, content: Content) {
        self.history.push(moment.now, content);
        self.last_sent = Some(moment.now);
        self.bytes += bytes as u64;
        self.checks.note_sent(bytes);
        if let Some(budget) = &mut self.budget {
            budget.spend(bytes + moment.config.overhead_bytes);
        }
    }
}
