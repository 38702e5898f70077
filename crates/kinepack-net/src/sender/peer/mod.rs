//! The sender's state for one receiver. A [`Peer`] decides whether a snapshot is due in a tick, and
//! which baseline it is coded against. [`turn`] codes and sends the snapshot.

mod events;
mod lost;
mod status;
mod turn;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use kinepack::{Snapshot, Tick};

use super::allowance::Allowance;
use super::checks::Checks;
use super::chosen_baseline::ChosenBaseline;
use super::config::{Budget, HubConfig, ReceiverOptions};
use super::freshness::Freshness;
use super::full_state::{ANSWERED, OutgoingFullState};
use super::history::{Content, History, Outcome, Sent};
use super::moment::Moment;
use super::offered::{OfferedCodec, Target};
use super::outbox::Outbox;
use super::receiver_id::ReceiverId;
use super::rewind::LastSeen;
use super::rings::Eye;
use super::sending::Sending;
use super::view::SentView;
use super::visibility::KnownVisibility;
use crate::events::{Carried, Outgoing};
use crate::packet::{
    Baseline, CHECK_BYTES, FRAGMENT_HEADER_BYTES, OlderViews, SnapshotHeader, Stride, Time,
};
use crate::trace::event;
use crate::{Acknowledgement, Cost, NetError, Refused, Sequence};

use lost::note_lost;
pub use status::PeerStatus;

/// If the budget has no room for a snapshot of this size, the snapshot waits for the next tick.
const LEAST_BYTES: usize = 48;
/// For this long after a full state arrived, changes that do not fit are sent in parts and not as
/// another full state.
const FULL_STATE_IS_RECENT: Duration = Duration::from_secs(5);

/// How many full states are kept to tell what the receiver shows of them.
const MOST_FULL_STATES: usize = 2;

/// A hub's state for one receiver.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) id: ReceiverId,
    /// Index of the codec that the receiver chose; `None` before the receiver's hello.
    pub(super) codec: Option<usize>,
    pub(super) history: History,
    reference: Reference,
    full_state: Option<OutgoingFullState>,
    newest_full_state: u8,
    /// The last full states that were begun, each with its number.
    full_states: VecDeque<(u8, Arc<SentView>)>,
    /// `None` before the first stamp.
    pub(super) last_seen: Option<LastSeen>,
    pub(super) allowance: Allowance,
    /// What the receiver has saved of the uplink that all receivers share.
    pub(super) saved_bytes: usize,
    pub(super) visibility: KnownVisibility,
    pub(super) eye: Eye,
    freshness: Freshness,
    expects_part: bool,
    /// Whether the last snapshot took several datagrams.
    expects_split: bool,
    /// The number of the last complete state that was sent, and the last tick in which this state
    /// was still current. `None` if the last snapshot was partial.
    shown: Option<(u64, Tick)>,
    pub(super) last_sent: Option<Duration>,
    /// When the receiver last sent a hello or an acknowledgement.
    heard_at: Duration,
    outcomes: Vec<Outcome>,
    bytes: u64,
    waiting: usize,
    /// Whether some entities did not fit into the budget, in the last tick in which something was
    /// sent.
    is_starved: bool,
    bad_priorities: u64,
    postponed: u64,
    waited_ticks: u32,
    checks: Checks,
    pub(super) events: Outgoing,
    /// The number of consecutive snapshots for which the budget had no room for a due event.
    pub(super) events_waited: u32,
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
    /// The snapshot's baseline.
    pub(super) base: ChosenBaseline,
    /// Whether the receiver has acknowledged nothing for a long time.
    silent: bool,
    /// Whether nothing was sent for the keep-alive time, so that a snapshot is due even without
    /// changes.
    keeps_alive: bool,
    /// Whether there is no view to use as a baseline. If true, a state that does not fit into a
    /// datagram becomes a full state.
    is_first: bool,
}

impl Peer {
    pub(super) fn new(
        id: ReceiverId,
        options: &ReceiverOptions,
        config: &HubConfig,
        initial: &Arc<SentView>,
        visibility: KnownVisibility,
        now: Duration,
    ) -> Self {
        let datagram_bytes = config.datagram_bytes + config.paid_overhead_bytes();
        Self {
            id,
            codec: None,
            history: History::new(options.first_sequence),
            reference: Reference { number: 0, view: Arc::clone(initial), since: now },
            full_state: None,
            newest_full_state: 0,
            full_states: VecDeque::new(),
            last_seen: None,
            allowance: Allowance::new(options.budget, datagram_bytes, now),
            saved_bytes: 0,
            visibility,
            eye: Eye::default(),
            freshness: Freshness::default(),
            expects_part: false,
            expects_split: false,
            shown: None,
            last_sent: None,
            heard_at: now,
            outcomes: Vec::new(),
            bytes: 0,
            waiting: 0,
            is_starved: false,
            bad_priorities: 0,
            postponed: 0,
            waited_ticks: 0,
            checks: Checks::new(),
            events: Outgoing::default(),
            events_waited: 0,
        }
    }

    /// The full state with the number `number`, as long as the receiver may show it.
    pub(super) fn full_state_shown(&self, number: u8) -> Option<&Arc<SentView>> {
        self.full_states.iter().find(|(other, _)| *other == number).map(|(_, view)| view)
    }

    /// The sequence of the next datagram.
    pub(super) fn next_sequence(&self) -> Sequence {
        self.history.next()
    }

    /// Changes the budget while the receiver plays.
    pub(super) fn set_budget(&mut self, budget: Budget, now: Duration) {
        self.allowance.set_budget(budget, now);
    }

    /// Begins to send with the codec at index `codec`. Returns false if the receiver had joined
    /// before.
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

    pub(super) fn status(&self, offers: &[OfferedCodec], now: Duration) -> PeerStatus {
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
            full_state: self.full_state.as_ref().map(OutgoingFullState::progress),
            waiting: self.waiting,
            bad_priorities: self.bad_priorities,
            postponed: self.postponed,
            sent_anew: self.checks.sent_anew,
            unfinished_events: self.events.unfinished(),
            dropped_events: self.events.dropped,
            waiting_events: self.events.waiting(),
            refused_events: self.events.refused,
            link: self.allowance.link(now),
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
        self.allowance.note_feedback(now);
        self.history.forget();
        Ok(())
    }

    /// Restarts from the initial state, because the receiver dropped all its views and refused the
    /// datagram with the sequence `refused`.
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
        self.full_state = None;
        self.freshness = Freshness::default();
        Ok(())
    }

    /// Applies the outcomes of datagrams that were acknowledged or lost.
    fn settle(&mut self, now: Duration) {
        let mut outcomes = std::mem::take(&mut self.outcomes);
        for outcome in outcomes.drain(..) {
            match outcome {
                Outcome::Acknowledged(index) => {
                    let Sent { at, paid_bytes, .. } = *self.history.entry(index);
                    self.allowance.note_acknowledged(now, at, paid_bytes as usize);
                    if let Some(events) = &self.history.entry(index).events {
                        self.events.arrive(events);
                    }
                    let Content::Fragment { full_state, index } = self.history.entry(index).content
                    else {
                        continue;
                    };
                    let whole = self
                        .full_state
                        .as_mut()
                        .filter(|out| out.number == full_state)
                        .map(|out| out.acknowledge(index, now));
                    if whole == Some(true)
                        && let Some(full_state) = self.full_state.take()
                    {
                        self.reference = Reference {
                            number: full_state.number,
                            view: full_state.view,
                            since: now,
                        };
                        event!(
                            debug,
                            receiver = self.id.0,
                            full_state = full_state.number,
                            "full state finished"
                        );
                        self.freshness.note_complete(self.reference.view.tick());
                        self.history.begin_anew();
                    }
                }
                Outcome::Lost(index) => {
                    let paid_bytes = self.history.entry(index).paid_bytes;
                    self.allowance.note_lost(now, paid_bytes as usize);
                    let Self { history, events, full_state, freshness, reference, .. } = self;
                    let reference_tick = reference.view.tick();
                    note_lost(history.entry(index), events, full_state, freshness, reference_tick);
                }
            }
        }
        self.outcomes = outcomes;
    }

    /// Begins a tick: finds lost datagrams, and returns the snapshot that is due. `None` if no
    /// snapshot needs to be coded. Sends everything else that is due, such as fragments.
    ///
    /// # Errors
    /// Returns [`NetError::Receiver`] or [`NetError::FullStateRefused`].
    pub(super) fn begin(
        &mut self,
        moment: &Moment<'_>,
        sending: &mut Sending,
    ) -> Result<Option<DueSnapshot>, NetError> {
        let Some(codec) = self.codec else { return Ok(None) };
        let sight = self.eye.sight.as_deref();
        let visible = sending.visible.index_for(&self.visibility, sight, moment.sources);
        let visible = visible.map_err(|error| NetError::Receiver { id: self.id, error })?;
        let target = Target { codec, visible };
        self.history.find_lost(moment.now, &mut self.outcomes);
        self.settle(moment.now);
        self.allowance.refill(moment.now);
        self.events.expire(moment.tick);
        let due = self.due(moment, sending, target);
        if due.is_none() {
            self.end(moment, sending, target)?;
        }
        let answers =
            moment.now.saturating_sub(self.heard_at) < moment.config.silence.min(ANSWERED);
        if !answers && let Some(full_state) = &mut self.full_state {
            full_state.begin_counting(moment.now);
        }
        if let Some(full_state) =
            self.full_state.take_if(|full_state| full_state.is_refused(moment.now))
        {
            // The hub gives up the full state. The caller may make fewer entities relevant before
            // the next full state begins.
            let (arrived, fragments) = full_state.progress();
            return Err(NetError::FullStateRefused { id: self.id, arrived, fragments });
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
            // The receiver answers again, so its full state is no longer needed.
            self.full_state = None;
            let is_known =
                !base.view.coarse && base.view.state == sending.visible.view(target.visible).state;
            return (!is_known || rested || self.events.is_due()).then_some(DueSnapshot {
                target,
                base,
                silent,
                keeps_alive: rested,
                is_first: false,
            });
        }
        if self.full_state.is_none() {
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

    /// Makes the receiver wait for a later tick, because this tick may make no more encodings.
    ///
    /// # Errors
    /// Returns [`NetError::Receiver`].
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

    /// Ends a tick: sends the events that were not sent with a snapshot, and notes whether the
    /// state that was sent last is still current.
    ///
    /// # Errors
    /// Returns [`NetError::Receiver`].
    fn end(
        &mut self,
        moment: &Moment<'_>,
        sending: &mut Sending,
        target: Target,
    ) -> Result<(), NetError> {
        let state = sending.visible.view(target.visible).state;
        if let Some((shown, held_until)) = &mut self.shown
            && Some(*shown) == state
        {
            *held_until = moment.tick;
        }
        self.send_events_alone(moment, sending)
    }

    /// How much the receiver counts when the hub decides which waiting receivers to serve. The
    /// weight grows each time that the receiver is [postponed](Self::postpone).
    pub(super) fn weight(&self) -> u64 {
        1 + u64::from(self.waited_ticks)
    }

    /// Whether no other receiver can share the encoding of `due`, because its baseline is partial
    /// for lack of budget.
    pub(super) fn is_always_alone(&self, due: &DueSnapshot) -> bool {
        self.allowance.is_limited() && !due.base.view.is_complete()
    }

    /// The datagrams sent, each with its outcome.
    pub(super) fn history(&self) -> &History {
        &self.history
    }

    /// The baseline of the next snapshot: an acknowledged view, or a full state that has just
    /// arrived.
    fn base(&self, moment: &Moment<'_>, older_views: u8) -> Option<ChosenBaseline> {
        let Moment { now, tick, config, .. } = *moment;
        let is_recent = self.reference.number != 0
            && now.saturating_sub(self.reference.since) < FULL_STATE_IS_RECENT;
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

    /// Predicts whether [`send_due`](Self::send_due) will ask for everything in one datagram.
    pub(super) fn asks_for_whole(
        &self,
        due: &DueSnapshot,
        moment: &Moment<'_>,
        are_all_due: bool,
    ) -> bool {
        let is_tried = !self.allowance.is_limited() || !self.expects_part;
        (due.is_first || are_all_due && is_tried)
            && self.sendable_bytes(moment.config) >= LEAST_BYTES
            && self.header(moment, &due.base, 1).is_some()
    }

    /// Predicts whether [`send_due`](Self::send_due) will ask for everything in parts first.
    pub(super) fn expects_split(&self, due: &DueSnapshot) -> bool {
        self.expects_split && !self.allowance.is_thrifty() && !due.is_first
    }

    /// The header of the next snapshot. Its flag *left out* is clear, so the caller must set it for
    /// partial snapshots. `None` if the baseline or an older view is too far back for a header to
    /// name it.
    fn header(
        &self,
        moment: &Moment<'_>,
        base: &ChosenBaseline,
        turns: u8,
    ) -> Option<SnapshotHeader> {
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
            turns,
        })
    }

    /// How many ticks ago the last sent state was still current; 0 if unknown.
    fn interval_ticks(&self, moment: &Moment<'_>) -> u8 {
        let Some((_, held_until)) = self.shown else { return moment.interval_ticks };
        u8::try_from(moment.tick.0.saturating_sub(held_until.0)).unwrap_or(0)
    }

    /// The maximum number of bytes that a snapshot with the header `header` may take now. The limit
    /// is the same with and without a state check, so that receivers share encodings although they
    /// are not checked at the same time.
    fn limit_bytes(&self, config: &HubConfig, header: &SnapshotHeader) -> usize {
        self.sendable_bytes(config).saturating_sub(header_bytes(config, header))
    }

    /// The maximum size of the next datagram, in bytes.
    pub(super) fn sendable_bytes(&self, config: &HubConfig) -> usize {
        let affordable = self.allowance.bytes();
        affordable.saturating_sub(config.paid_overhead_bytes()).min(config.datagram_bytes)
    }

    /// Sends as many fragments of the full state as the budget, the tick and the window allow, but
    /// at most one fragment if the receiver is silent.
    fn send_fragments(&mut self, moment: &Moment<'_>, outbox: &mut Outbox, silent: bool) {
        let most = if silent { 1 } else { moment.config.datagrams_per_tick };
        for _ in 0..most {
            if !self.history.has_room() {
                // A fragment that is pushed out of the window can no longer be acknowledged. On a
                // long round trip, this would happen to every fragment.
                return;
            }
            let sequence = self.history.next();
            let Some(full_state) = &mut self.full_state else { return };
            let Some(index) = full_state.next_index() else { return };
            let datagram_bytes = FRAGMENT_HEADER_BYTES
                + full_state.part(index).len()
                + moment.config.paid_overhead_bytes();
            if self.allowance.bytes() < datagram_bytes {
                self.allowance.note_short(moment.now);
                return;
            }
            full_state.note_sent();
            let number = full_state.number;
            let bytes = outbox.push(self.id, |out| {
                full_state.header(index, sequence).write(out);
                out.extend_from_slice(full_state.part(index));
            });
            self.note_sent(moment, bytes, Content::Fragment { full_state: number, index }, None);
        }
    }

    pub(super) fn note_sent(
        &mut self,
        moment: &Moment<'_>,
        bytes: usize,
        content: Content,
        events: Option<Carried>,
    ) {
        let paid_bytes = bytes + moment.config.overhead_bytes;
        let events = events.map(Box::new);
        if let Some(lost) = self.history.push(moment.now, paid_bytes, content, events) {
            self.allowance.note_lost(moment.now, lost.paid_bytes as usize);
            let Self { events, full_state, freshness, reference, .. } = self;
            note_lost(&lost, events, full_state, freshness, reference.view.tick());
        }
        self.last_sent = Some(moment.now);
        self.bytes += bytes as u64;
        self.checks.note_sent(bytes);
        self.allowance.note_sent(moment.now, paid_bytes);
    }
}

/// The bytes of a snapshot's header, including a state check if the hub makes such checks.
fn header_bytes(config: &HubConfig, header: &SnapshotHeader) -> usize {
    header.bytes() + if config.check_every_bytes.is_some() { CHECK_BYTES } else { 0 }
}
