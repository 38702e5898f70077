//! The world as a receiver showed it at a moment.

use std::sync::Arc;

use kinepack::frame::{Moment, Motion};
use kinepack::{EntityId, Pack, Tick};

use super::RewindError;
use crate::receiver::{Next, Pace};
use crate::seen::{Arrived, Row, Said, Version, WINDOW, is_same, version};
use crate::sender::view::SentView;
use crate::{Sample, Sequence};

/// A snapshot that had arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step<'a> {
    /// `None` for a full state.
    pub(super) sequence: Option<Sequence>,
    pub(super) view: &'a Arc<SentView>,
    pub(super) tick: Tick,
    /// How many ticks before the snapshot the state before it was still valid; 0 if unknown.
    pub(super) interval_ticks: u8,
}

impl Step<'_> {
    fn is_complete(&self) -> bool {
        self.view.is_complete() && self.view.turns == 1
    }
}

impl<'a> Arrived<'a> for Step<'a> {
    fn sequence(&self) -> Sequence {
        self.sequence.unwrap_or_default()
    }

    fn tick(&self) -> Tick {
        self.tick
    }

    fn is_full_state(&self) -> bool {
        self.sequence.is_none()
    }

    fn takes_turns(&self) -> bool {
        self.view.turns > 1
    }

    fn said(&self, id: EntityId) -> Said<'a> {
        self.view.said(id)
    }

    fn held(&self, id: EntityId) -> Option<Row<'a>> {
        self.view.held(id)
    }
}

/// How far back a player may reach.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    /// The newest tick.
    pub(super) now: Tick,
    pub(super) longest_ticks: f64,
}

impl Limit {
    fn ticks_ago(&self, tick: Tick) -> f64 {
        f64::from(self.now.0) - f64::from(tick.0)
    }
}

/// The world as a receiver showed it at a moment. [`Hub::rewind`](crate::Hub::rewind) has an
/// example.
#[derive(Debug)]
pub struct Past<'a> {
    /// The moment, as a tick with its fraction: the [`Playback::tick`](crate::Playback::tick) of
    /// the receiver.
    pub tick: f64,
    pace: Pace,
    /// The snapshots that had arrived, from the newest to the oldest.
    steps: Vec<Step<'a>>,
    /// The snapshots that had not arrived although they were sent longer ago than the limit, from
    /// the newest to the oldest.
    missed: Vec<Step<'a>>,
    /// The newest snapshot that was sent as long ago as the limit, whether or not it arrived.
    at_limit: Option<Step<'a>>,
    limit: Limit,
    /// The index of the newest snapshot that is not after the moment.
    from: usize,
}

impl<'a> Past<'a> {
    /// The past at a moment of playback. `sent` are the snapshots up to the newest that had arrived,
    /// from the newest to the oldest, each with whether it had arrived. `None` if all that had
    /// arrived is later.
    pub(super) fn new(
        pace: Pace,
        sent: impl Iterator<Item = (Step<'a>, bool)>,
        full_state: Option<&'a Arc<SentView>>,
        limit: Limit,
    ) -> Option<Self> {
        let (mut steps, mut missed, mut at_limit) = (Vec::new(), Vec::new(), None);
        for (step, has_arrived) in sent {
            let is_old = limit.ticks_ago(step.tick()) >= limit.longest_ticks;
            if is_old {
                at_limit.get_or_insert(step);
            }
            if has_arrived {
                steps.push(step);
            } else if is_old {
                missed.push(step);
            }
        }
        if let Some(view) = full_state {
            let at = steps.partition_point(|step: &Step<'_>| step.tick() > view.tick());
            steps.insert(at, Step { sequence: None, view, tick: view.tick(), interval_ticks: 0 });
        }
        let from = steps.iter().position(|step| f64::from(step.tick().0) <= pace.tick)?;
        Some(Self { tick: pace.tick, pace, steps, from, missed, at_limit, limit })
    }

    /// The entity's state as the receiver showed it, bit for bit. Fields that are relative to a
    /// [frame](kinepack::frame) remain so: [`in_world`](Self::in_world) returns world coordinates.
    ///
    /// # Errors
    /// Returns [`RewindError::NotShown`], and [`RewindError::State`] for another type than the
    /// entity's.
    pub fn state<T: Pack>(&self, id: EntityId) -> Result<T, RewindError> {
        Ok(self.sample(id)?.state()?)
    }

    /// The entity's state in world coordinates, as
    /// [`Playback::in_world`](crate::Playback::in_world) returned it to the receiver.
    ///
    /// # Errors
    /// Returns [`RewindError::NotShown`] and [`RewindError::Frame`].
    pub fn in_world<T: Pack>(&self, id: EntityId) -> Result<T, RewindError> {
        Ok(self.sample(id)?.moment().in_world(|id| self.moment(id))?)
    }

    /// Where the entity was in the world, and how it moved, as
    /// [`Playback::motion`](crate::Playback::motion) returned it to the receiver.
    ///
    /// # Errors
    /// Returns [`RewindError::NotShown`] and [`RewindError::Frame`].
    pub fn motion(&self, id: EntityId) -> Result<Motion, RewindError> {
        Ok(self.sample(id)?.moment().motion(|id| self.moment(id))?)
    }

    /// The entity's sample in the receiver's playback, for what the other methods do not read, such
    /// as a figure.
    ///
    /// # Errors
    /// Returns [`RewindError::NotShown`], and [`RewindError::TooOld`] if the receiver should have
    /// got a newer state of the entity so long ago.
    pub fn sample(&self, id: EntityId) -> Result<Sample<'a>, RewindError> {
        let (version, since) = self.at(id, self.from).ok_or(RewindError::NotShown { id })?;
        if let Some(missed) = self.missed(id, &version) {
            let Limit { longest_ticks, .. } = self.limit;
            let ticks = self.limit.ticks_ago(missed.tick());
            return Err(RewindError::TooOld { ticks, longest_ticks });
        }
        let next = self.next(id, version.row, since);
        Ok(self.pace.sample(id, version.row, f64::from(since.0), next))
    }

    /// The ids of the entities that the receiver showed, in increasing order. Cost: a search for
    /// each entity that the receiver got in the last 128 snapshots.
    pub fn ids(&self) -> impl Iterator<Item = EntityId> {
        let mut ids: Vec<EntityId> = self.steps[self.from].view.ids().collect();
        for step in &self.steps[self.from..] {
            match &step.view.skipped {
                Some(part) => ids.extend(part.sent.ids()),
                None => ids.extend(step.view.ids()),
            }
            if step.is_complete() {
                break;
            }
        }
        ids.sort_unstable();
        ids.dedup();
        ids.into_iter().filter(|id| self.at(*id, self.from).is_some())
    }

    /// A snapshot that sent a newer state of an entity longer ago than the limit, and did not
    /// arrive. `None` if the entity has been in the same state again since.
    fn missed(&self, id: EntityId, version: &Version<'_>) -> Option<&Step<'a>> {
        // Without a datagram that brought it, the state is older than the window.
        let newest = self.steps[self.from].sequence;
        let since = version.said_by.or_else(|| newest.map(|newest| newest.before(WINDOW)))?;
        let is_newer = |step: &&Step<'_>| step.sequence().since(since) > 0;
        let says = |step: &&Step<'_>| !matches!(step.said(id), Said::Nothing);
        let missed = self.missed.iter().take_while(is_newer).find(says)?;
        let at_limit = self
            .at_limit
            .and_then(|step| Some((&**step.view.whole.snapshot(), step.view.whole.position(id)?)));
        let is_same = at_limit.is_some_and(|at_limit| is_same(at_limit, version.row));
        (!is_same).then_some(missed)
    }

    fn moment(&self, id: EntityId) -> Option<Moment<'a>> {
        Some(self.sample(id).ok()?.moment())
    }

    /// The entity after the step at `index`, and the tick from which it blends to its next state.
    fn at(&self, id: EntityId, index: usize) -> Option<(Version<'a>, Tick)> {
        let newest = &self.steps[index];
        // A state that came before this is at rest, whenever it came.
        let blend_ticks = self.pace.longest_blend_ticks.ceil() as u32;
        let long_ago = newest.tick().0.saturating_sub(blend_ticks.max(newest.view.turns.into()));
        let version = version(id, Tick(long_ago), self.steps[index..].iter().copied())?;
        let since = version.since.map_or(Tick(0), |(_, tick)| tick);
        // In a complete view, lanes that are older than a turn are also those of the view's tick.
        let turns = newest.view.turns;
        let age = newest.tick().0.saturating_sub(since.0);
        let rests = newest.view.is_complete() && turns > 1 && age >= turns.into();
        Some((version, if rests { newest.tick() } else { since }))
    }

    /// The next state of an entity that is at `row` since the tick `since`.
    fn next(&self, id: EntityId, row: Row<'a>, since: Tick) -> Option<Next<'a>> {
        let spawn = row.0.spawn_hash(row.1);
        let is_same = |(of, at): Row<'a>| {
            of.kind_at(at) == row.0.kind_at(row.1) && of.spawn_hash(at) == spawn
        };
        let mut end = self.from;
        while end > 0 {
            // Receivers show the datagrams of one tick together.
            let tick = self.steps[end - 1].tick();
            let begin = self.steps[..end].iter().rposition(|step| step.tick() != tick);
            let begin = begin.map_or(0, |before| before + 1);
            let says = |step: &Step<'_>| !matches!(step.said(id), Said::Nothing);
            let newest = self.steps[begin];
            if newest.is_complete() || self.steps[begin..end].iter().any(says) {
                let next = self.at(id, begin).map(|(version, until)| (version.row, until));
                let next = next.filter(|(row, _)| is_same(*row));
                if let Some((row, until)) =
                    next.filter(|(_, until)| *until > since || newest.is_complete())
                {
                    let unchanged_until = self.unchanged_until(begin);
                    return Some(Next { row, until: f64::from(until.0), unchanged_until });
                }
            }
            end = begin;
        }
        None
    }

    /// Until when the state before that of the step at `index` was valid, as far as the receiver
    /// knew.
    fn unchanged_until(&self, index: usize) -> Tick {
        let Step { sequence, tick, interval_ticks, .. } = self.steps[index];
        let before = self.steps.get(index + 1).filter(|before| {
            before.view.is_complete()
                && before.sequence.is_some()
                && before.sequence == sequence.map(|sequence| sequence.before(1))
        });
        if !self.steps[index].is_complete() || before.is_none() || interval_ticks == 0 {
            return Tick(0);
        }
        Tick(tick.0.saturating_sub(interval_ticks.into()))
    }
}
