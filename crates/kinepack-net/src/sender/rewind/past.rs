//! The world as a receiver showed it at a moment.

use std::sync::Arc;

use kinepack::frame::{Moment, Motion};
use kinepack::{EntityId, Pack, Tick};

use super::RewindError;
use crate::receiver::{Next, Pace};
use crate::seen::{Arrived, Row, Said, Version, version};
use crate::sender::view::SentView;
use crate::{Sample, Sequence};

/// A snapshot that had arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step<'a> {
    /// `None` for a full state.
    pub(super) sequence: Option<Sequence>,
    pub(super) view: &'a Arc<SentView>,
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
        self.view.tick()
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
    /// The index of the newest snapshot that is not after the moment.
    from: usize,
}

impl<'a> Past<'a> {
    /// The past at a moment that is not before all `steps`. The steps are from the newest to the
    /// oldest.
    pub(super) fn new(pace: Pace, steps: Vec<Step<'a>>) -> Option<Self> {
        let from = steps.iter().position(|step| f64::from(step.tick().0) <= pace.tick)?;
        Some(Self { tick: pace.tick, pace, steps, from })
    }

    /// The entity's state as the receiver showed it, bit for bit. Fields that are relative to a
    /// [frame](kinepack::frame) remain so: [`in_world`](Self::in_world) returns world coordinates.
    ///
    /// # Errors
    /// Returns [`RewindError::NotShown`], and [`RewindError::State`] for another type than the
    /// entity's.
    pub fn state<T: Pack>(&self, id: EntityId) -> Result<T, RewindError> {
        Ok(self.shown(id)?.state()?)
    }

    /// The entity's state in world coordinates, as
    /// [`Playback::in_world`](crate::Playback::in_world) returned it to the receiver.
    ///
    /// # Errors
    /// Returns [`RewindError::NotShown`] and [`RewindError::Frame`].
    pub fn in_world<T: Pack>(&self, id: EntityId) -> Result<T, RewindError> {
        Ok(self.shown(id)?.moment().in_world(|id| self.moment(id))?)
    }

    /// Where the entity was in the world, and how it moved, as
    /// [`Playback::motion`](crate::Playback::motion) returned it to the receiver.
    ///
    /// # Errors
    /// Returns [`RewindError::NotShown`] and [`RewindError::Frame`].
    pub fn motion(&self, id: EntityId) -> Result<Motion, RewindError> {
        Ok(self.shown(id)?.moment().motion(|id| self.moment(id))?)
    }

    /// The entity's sample in the receiver's playback; `None` if it was not shown.
    pub fn sample(&self, id: EntityId) -> Option<Sample<'a>> {
        let (row, since) = self.at(id, self.from)?;
        let next = self.next(id, row, since);
        Some(self.pace.sample(id, row, f64::from(since.0), next))
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

    fn shown(&self, id: EntityId) -> Result<Sample<'a>, RewindError> {
        self.sample(id).ok_or(RewindError::NotShown { id })
    }

    fn moment(&self, id: EntityId) -> Option<Moment<'a>> {
        Some(self.sample(id)?.moment())
    }

    /// The entity after the step at `index`, and the tick from which it blends to its next state.
    fn at(&self, id: EntityId, index: usize) -> Option<(Row<'a>, Tick)> {
        let newest = &self.steps[index];
        // Rules look no farther back than a full state, which has all that came before it.
        let older = self.steps[index + 1..].iter().copied();
        let older = older.take_while(|step| step.sequence.is_some());
        let Version { row, since } = version(id, std::iter::once(*newest).chain(older))?;
        let since = since.map_or(Tick(0), |(_, tick)| tick);
        // In a complete view, lanes that are older than a turn are also those of the view's tick.
        let turns = newest.view.turns;
        let age = newest.tick().0.saturating_sub(since.0);
        let rests = newest.view.is_complete() && turns > 1 && age >= turns.into();
        Some((row, if rests { newest.tick() } else { since }))
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
                let next = self.at(id, begin).filter(|(row, _)| is_same(*row));
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
        let Step { sequence, view, interval_ticks } = self.steps[index];
        let before = self.steps.get(index + 1).filter(|before| {
            before.view.is_complete()
                && before.sequence.is_some()
                && before.sequence == sequence.map(|sequence| sequence.before(1))
        });
        if !self.steps[index].is_complete() || before.is_none() || interval_ticks == 0 {
            return Tick(0);
        }
        Tick(view.tick().0.saturating_sub(interval_ticks.into()))
    }
}
