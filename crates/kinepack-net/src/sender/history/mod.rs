//! The datagrams sent to one receiver, each with its outcome: acknowledged or lost. The outcomes
//! determine the round trip, and which view can be the next baseline. See `spec/NET.md`, sections
//! 4.2 and 6.
//!
//! Cost: an acknowledgement looks at 33 entries. Memory: at most [`WINDOW`] entries, and the memory
//! that their views share.

mod candidates;
mod older;
mod turns;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use kinepack::{EntityId, Tick};

use super::view::{LearnedModels, SentView};
use crate::baseline::MERGED;
use crate::events::Carried;
use crate::round_trip::RoundTrip;
use crate::sequence::REORDERED;
use crate::{Acknowledgement, Cost, Refused, Sequence};

/// How many sequences before a snapshot its baseline may be: the range of the header's *back* byte.
pub(super) const WINDOW: usize = 255;
/// A complete view is preferred as the baseline over a partial view that is newer by at most this
/// many sequences.
pub(super) const WHOLE_PREFERRED: usize = 8;

/// A receiver refuses a datagram that is more than this many sequences before the newest one.
const LATEST: i32 = 32;

/// The receiver may drop views that are more than this many sequences before the newest baseline.
const REACH: usize = 64;

/// One sent datagram.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) sequence: Sequence,
    pub(super) at: Duration,
    /// The bytes of the datagram with its headers.
    pub(super) paid_bytes: u32,
    pub(super) content: Content,
    /// The events in the datagram.
    pub(super) events: Option<Box<Carried>>,
    state: State,
}

#[derive(Debug)]
pub(super) enum Content {
    Snapshot {
        view: Arc<SentView>,
        /// The view's tick, which is needed more often than the view.
        tick: Tick,
        /// In how many ticks each entity has a turn, as the view says.
        turns: u8,
        /// The *back* byte of the snapshot's header; 0 for a reference state.
        own_back: u8,
        /// How many ticks before the snapshot the state before it was still valid; 0 if unknown.
        interval_ticks: u8,
        /// For each sent entity, the tick at which it had been sent before. If this datagram is
        /// lost, the entity's score is computed from that tick again.
        sent_before: Vec<(EntityId, u32)>,
        /// The models after the snapshot, if the codec learns and this view may still be a
        /// baseline.
        models: Option<LearnedModels>,
        /// The snapshot's cost, if the hub counts costs.
        cost: Option<Arc<Cost>>,
    },
    Fragment {
        full_state: u8,
        index: u16,
    },
    /// The datagram had events without a snapshot.
    Events,
}

impl Content {
    fn forget_models(&mut self) {
        if let Self::Snapshot { models, .. } = self {
            *models = None;
        }
    }
}

/// A snapshot that a receiver may have shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shown<'a> {
    pub(super) sequence: Sequence,
    pub(super) view: &'a Arc<SentView>,
    pub(super) tick: Tick,
    pub(super) turns: u8,
    pub(super) interval_ticks: u8,
    pub(super) is_acknowledged: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    InFlight,
    Acknowledged,
    Lost,
}

/// The index of an entry that an acknowledgement or a time-out changed.
#[derive(Debug)]
pub(super) enum Outcome {
    Acknowledged(usize),
    Lost(usize),
}

/// The datagrams of the window in order of their sequences, which have no gaps.
#[derive(Debug)]
pub(super) struct History {
    entries: VecDeque<Sent>,
    /// The number of entries at the front that are all acknowledged or lost.
    settled: usize,
    next: Sequence,
    sent_count: u64,
    newest_acknowledged: Option<Sequence>,
    newest_view: Option<Sequence>,
    /// The newest view that was used as a baseline. The receiver may have dropped older views.
    newest_used: Option<Sequence>,
    /// Views before this sequence are no longer baselines, because a reference state has replaced
    /// them.
    floor: Sequence,
    /// Entries up to this many sequences before the newest acknowledged view are still needed.
    kept: usize,
    /// The number of ticks for which entries are kept, so that the hub can rewind. 0 if it does not.
    rewinds_ticks: u32,
    /// The number of entries at the front whose partial views have only what they sent.
    slimmed: usize,
    pub(super) round_trip: RoundTrip,
    pub(super) acknowledged_count: u64,
    pub(super) lost_count: u64,
}

impl History {
    pub(super) fn new(first: Sequence) -> Self {
        Self {
            entries: VecDeque::new(),
            settled: 0,
            next: first,
            sent_count: 0,
            newest_acknowledged: None,
            newest_view: None,
            newest_used: None,
            floor: first,
            kept: WHOLE_PREFERRED + MERGED,
            rewinds_ticks: 0,
            slimmed: 0,
            round_trip: RoundTrip::default(),
            acknowledged_count: 0,
            lost_count: 0,
        }
    }

    /// Keeps views from now on for as long as they can be older views.
    pub(super) fn keep_older(&mut self) {
        self.kept = WHOLE_PREFERRED + REACH;
    }

    /// Keeps what the receiver may show in the `ticks` after it was sent. With 0, keeps only what
    /// can be a baseline.
    pub(super) fn keep_shown(&mut self, ticks: u32) {
        self.rewinds_ticks = ticks;
    }

    /// The sequence of the next datagram.
    pub(super) fn next(&self) -> Sequence {
        self.next
    }

    pub(super) fn sent_count(&self) -> u64 {
        self.sent_count
    }

    pub(super) fn view(&self, sequence: Sequence) -> Option<&Arc<SentView>> {
        match &self.entries[self.index(sequence)?].content {
            Content::Snapshot { view, .. } => Some(view),
            Content::Fragment { .. } | Content::Events => None,
        }
    }

    /// The models that the codec had learned after the snapshot with the sequence `sequence`.
    pub(super) fn models(&self, sequence: Sequence) -> Option<&LearnedModels> {
        match &self.entries[self.index(sequence)?].content {
            Content::Snapshot { models, .. } => models.as_ref(),
            Content::Fragment { .. } | Content::Events => None,
        }
    }

    /// The cost of the snapshot with the sequence `sequence`.
    pub(super) fn cost(&self, sequence: Sequence) -> Option<&Arc<Cost>> {
        match &self.entries[self.index(sequence)?].content {
            Content::Snapshot { cost, .. } => cost.as_ref(),
            Content::Fragment { .. } | Content::Events => None,
        }
    }

    pub(super) fn entry(&self, index: usize) -> &Sent {
        &self.entries[index]
    }

    /// Whether the window has room for another datagram. A full window has no room while its oldest
    /// datagram may still be acknowledged.
    pub(super) fn has_room(&self) -> bool {
        let oldest = self.entries.front().filter(|_| self.entries.len() == WINDOW);
        oldest.is_none_or(|oldest| oldest.state != State::InFlight)
    }

    /// Notes that the next datagram was sent. If this pushes a datagram without an outcome out of
    /// the window, returns that datagram, which counts as lost.
    pub(super) fn push(
        &mut self,
        at: Duration,
        paid_bytes: usize,
        content: Content,
        events: Option<Box<Carried>>,
    ) -> Option<Sent> {
        let mut unsettled = None;
        if self.entries.len() == WINDOW
            && let Some(oldest) = self.entries.pop_front()
        {
            self.settled = self.settled.saturating_sub(1);
            self.slimmed = self.slimmed.saturating_sub(1);
            // This sequence has left the window, and will be reused for another datagram.
            let other = |sequence: &Sequence| *sequence != oldest.sequence;
            self.newest_view = self.newest_view.filter(other);
            self.newest_acknowledged = self.newest_acknowledged.filter(other);
            if oldest.state == State::InFlight {
                self.lost_count += 1;
                unsettled = Some(oldest);
            }
        }
        if let Content::Snapshot { own_back: back @ 1.., .. } = content {
            let used = self.next.before(u16::from(back));
            // Views before `used` can no longer be baselines, so their models are dropped. The
            // views before the previously used baseline have already dropped their models.
            let last = self.newest_used.replace(used);
            let begin = last.and_then(|last| self.index(last)).unwrap_or(0);
            let end = self.index(used).unwrap_or(0);
            let before = self.entries.range_mut(begin.min(end)..end);
            before.for_each(|entry| entry.content.forget_models());
        }
        let (sequence, state) = (self.next, State::InFlight);
        let paid_bytes = u32::try_from(paid_bytes).unwrap_or(u32::MAX);
        self.entries.push_back(Sent { sequence, at, paid_bytes, content, events, state });
        // A floor too far back would seem to be ahead once sequences wrap. Raising the floor to the
        // oldest entry changes nothing, because no view outside of the window can be a baseline.
        if let Some(oldest) =
            self.entries.front().filter(|oldest| oldest.sequence.since(self.floor) > 0)
        {
            self.floor = oldest.sequence;
        }
        self.next = self.next.after(1);
        self.sent_count += 1;
        unsettled
    }

    /// The index of the entry with the sequence `sequence`.
    fn index(&self, sequence: Sequence) -> Option<usize> {
        let index = sequence.since(self.entries.front()?.sequence);
        usize::try_from(index).ok().filter(|index| *index < self.entries.len())
    }

    /// Applies an acknowledgement. Adds the indices of the changed entries to `outcomes`. These
    /// indices are valid for [`entry`](Self::entry) until [`forget`](Self::forget) is called.
    pub(super) fn acknowledge(
        &mut self,
        now: Duration,
        acknowledgement: Acknowledgement,
        outcomes: &mut Vec<Outcome>,
    ) -> Result<(), Refused> {
        let Acknowledgement { latest, before } = acknowledgement;
        self.check_sent(latest, u32::BITS - before.leading_zeros())?;
        let newest_before = self.newest_acknowledged;
        if newest_before.is_none_or(|newest| latest.since(newest) > 0) {
            self.newest_acknowledged = Some(latest);
            if let Some(index) = self.index(latest) {
                self.round_trip.sample(now.saturating_sub(self.entries[index].at));
            }
        }
        for bit in (0..u32::BITS).rev().filter(|bit| before >> bit & 1 == 1) {
            self.mark_acknowledged(latest.before(bit as u16 + 1), outcomes);
        }
        self.mark_acknowledged(latest, outcomes);
        self.find_lost(now, outcomes);
        Ok(())
    }

    /// Checks that `sequence` is in the window, and that `sequence` and the sequence `before` steps
    /// earlier were sent.
    fn check_sent(&self, sequence: Sequence, before: u32) -> Result<(), Refused> {
        let age = self.next.since(sequence) - 1;
        if age < 0 || age as u64 + u64::from(before) >= self.sent_count {
            return Err(Refused::NeverSent);
        }
        if age as usize > WINDOW { Err(Refused::LongAgo) } else { Ok(()) }
    }

    /// Whether all possible baselines were sent after `sequence`.
    pub(super) fn is_stale(&self, sequence: Sequence) -> Result<bool, Refused> {
        self.check_sent(sequence, 0)?;
        Ok(sequence.since(self.floor) < 0)
    }

    fn mark_acknowledged(&mut self, sequence: Sequence, outcomes: &mut Vec<Outcome>) {
        let Some(index) = self.index(sequence) else { return };
        let entry = &mut self.entries[index];
        if entry.state == State::Acknowledged {
            return;
        }
        entry.state = State::Acknowledged;
        self.acknowledged_count += 1;
        if matches!(entry.content, Content::Snapshot { .. })
            && sequence.since(self.floor) >= 0
            && self.newest_view.is_none_or(|newest| sequence.since(newest) > 0)
        {
            self.newest_view = Some(sequence);
        }
        outcomes.push(Outcome::Acknowledged(index));
    }

    /// Marks two sorts of datagrams as lost: those that were not acknowledged in time, and those
    /// that are more than [`REORDERED`] sequences before an acknowledged datagram.
    pub(super) fn find_lost(&mut self, now: Duration, outcomes: &mut Vec<Outcome>) {
        let patience = self.round_trip.patience();
        let newest = self.newest_acknowledged;
        for (index, entry) in self.entries.iter_mut().enumerate().skip(self.settled) {
            if entry.state == State::InFlight {
                let overtaken =
                    newest.is_some_and(|newest| newest.since(entry.sequence) > REORDERED);
                if !overtaken && now.saturating_sub(entry.at) <= patience {
                    // Later entries were sent even more recently.
                    break;
                }
                entry.state = State::Lost;
                self.lost_count += 1;
                outcomes.push(Outcome::Lost(index));
            }
            self.settled = index + 1;
        }
    }

    /// Drops entries that can no longer be baselines, and that are too old to be shown.
    pub(super) fn forget(&mut self) {
        let Some(newest) = self.newest_view else { return };
        let kept = self.kept as i32;
        let is_needless = |entry: &&Sent| newest.since(entry.sequence) > kept;
        let mut needless = self.entries.iter().take_while(is_needless).count();
        if self.rewinds_ticks > 0 {
            needless = needless.min(self.forget_shown(needless));
        }
        self.entries.drain(..needless);
        self.settled = self.settled.saturating_sub(needless);
        self.slimmed = self.slimmed.saturating_sub(needless);
    }

    /// Frees memory of the oldest `needless` entries that no stamp needs any more. Returns how many of
    /// the oldest entries the hub does not need for rewinding.
    fn forget_shown(&mut self, needless: usize) -> usize {
        let tick = |entry: &Sent| match &entry.content {
            Content::Snapshot { tick, .. } => Some(tick.0),
            Content::Fragment { .. } | Content::Events => None,
        };
        let newest = self.entries.iter().rev().find_map(tick).unwrap_or(0);
        let oldest = newest.saturating_sub(self.rewinds_ticks);
        let is_old = |entry: &&Sent| tick(entry).is_none_or(|tick| tick < oldest);
        let old = self.entries.iter().take_while(is_old).count();
        // A valid stamp is not older than the first entry that is not old. A receiver refuses
        // datagrams that come too late, so what is far enough before that entry has arrived or never
        // will.
        let first = self.entries.get(old).map_or(self.next, |entry| entry.sequence);
        let has_arrived = |entry: &Sent| {
            entry.state == State::Acknowledged
                && tick(entry).is_some()
                && first.since(entry.sequence) > LATEST
        };
        let Some(shown) = self.entries.range(..old).rposition(has_arrived) else { return 0 };
        // No receiver draws from what is before `shown`. Only what that sent may matter.
        let end = shown.min(needless).max(self.slimmed);
        for entry in self.entries.range_mut(self.slimmed..end) {
            // A view that other receivers share takes no memory here.
            if let Content::Snapshot { view, .. } = &mut entry.content
                && Arc::strong_count(view) == 1
                && let Some(slim) = view.slim()
            {
                *view = Arc::new(slim);
            }
        }
        self.slimmed = end;
        // A complete snapshot that arrived says all that may be asked for of older ones.
        let is_complete = |entry: &Sent| match &entry.content {
            Content::Snapshot { view, turns: 1, .. } => has_arrived(entry) && view.is_complete(),
            _ => false,
        };
        self.entries.range(..=shown).rposition(is_complete).unwrap_or(0)
    }

    /// The oldest entry, if older ones were given up.
    pub(super) fn oldest_of_more(&self) -> Option<Sequence> {
        let has_more = self.sent_count > self.entries.len() as u64;
        self.entries.front().filter(|_| has_more).map(|entry| entry.sequence)
    }

    /// The snapshots sent up to the sequence `newest`, the newest first.
    pub(super) fn snapshots(&self, newest: Sequence) -> impl Iterator<Item = Shown<'_>> {
        let end = self.index(newest).map_or(0, |index| index + 1);
        self.entries.range(..end).rev().filter_map(|entry| match &entry.content {
            Content::Snapshot { view, tick, turns, interval_ticks, .. } => Some(Shown {
                sequence: entry.sequence,
                view,
                tick: *tick,
                turns: *turns,
                interval_ticks: *interval_ticks,
                is_acknowledged: entry.state == State::Acknowledged,
            }),
            Content::Fragment { .. } | Content::Events => None,
        })
    }

    /// From now on, only views of later datagrams can be baselines.
    pub(super) fn begin_anew(&mut self) {
        self.floor = self.next;
        self.newest_view = None;
    }

    /// The views in flight, partial or complete. The baseline of the next snapshot includes none of
    /// these views.
    pub(super) fn in_flight(&self) -> impl Iterator<Item = &Arc<SentView>> {
        self.entries.iter().filter_map(|entry| match &entry.content {
            Content::Snapshot { view, .. } if entry.state == State::InFlight => Some(view),
            _ => None,
        })
    }

    /// Whether no datagram was acknowledged for `silence` although some were sent.
    pub(super) fn is_silent(&self, now: Duration, silence: Duration) -> bool {
        let Some(oldest) = self.entries.front() else { return false };
        // Sequences have no gaps. The newest acknowledged sequence may be outside of the window.
        let after_newest =
            self.newest_acknowledged.map_or(0, |newest| newest.since(oldest.sequence) + 1);
        let first = self.entries.get(after_newest.max(0) as usize);
        first.is_some_and(|entry| now.saturating_sub(entry.at) > silence)
    }

    /// The number of sequences from the newest acknowledged view to the next datagram.
    pub(super) fn baseline_age(&self) -> Option<u16> {
        self.newest_view.map(|view| self.next.since(view).unsigned_abs() as u16)
    }
}
