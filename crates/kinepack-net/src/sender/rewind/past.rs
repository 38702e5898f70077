//! The world as a receiver showed it at a moment.

use std::sync::Arc;

use kinepack::frame::{Moment, Motion};
use kinepack::{EncodeError, EntityId, Pack, Tick};

use super::RewindError;
use super::frames::Seconds;
use crate::extrapolation::Extrapolations;
use crate::receiver::{Before, Next, Pace};
use crate::seen::{Arrived, Row, Said, Version, WINDOW, blends_from, is_same, version};
use crate::sender::view::SentView;
use crate::{Extrapolation, Sample, Sequence};

/// A snapshot that had arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step<'a> {
    /// `None` for a full state.
    pub(super) sequence: Option<Sequence>,
    pub(super) view: &'a Arc<SentView>,
    pub(super) tick: Tick,
    /// In how many ticks each entity has a turn; 1 without turns.
    pub(super) turns: u8,
    /// How many ticks before the snapshot the state before it was still valid; 0 if unknown.
    pub(super) interval_ticks: u8,
}

impl Step<'_> {
    fn says(&self, id: EntityId) -> bool {
        !matches!(self.said(id), Said::Nothing)
    }

    fn is_complete(&self) -> bool {
        self.turns == 1 && self.view.is_complete()
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
        self.turns > 1
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
    /// An entity that got its state longer ago than this is at rest, whenever it came.
    rest_ticks: u32,
    /// The snapshots that had arrived, from the newest to the oldest.
    steps: Vec<Step<'a>>,
    /// The snapshots that had not arrived although they were sent longer ago than the limit, from
    /// the newest to the oldest.
    missed: Vec<Step<'a>>,
    /// The oldest snapshot that the hub still has, if it has given up older ones.
    oldest: Option<Sequence>,
    /// The newest snapshot that was sent as long ago as the limit, whether or not it arrived.
    at_limit: Option<Step<'a>>,
    limit: Limit,
    /// The index of the newest snapshot that is not after the moment.
    from: usize,
    /// What the receiver shows of entities that wait for a state. `None` if it holds all.
    extrapolations: Option<&'a Extrapolations>,
}

impl<'a> Past<'a> {
    /// The past at a moment of playback. `sent` are the snapshots up to the newest that had arrived,
    /// from the newest to the oldest, each with whether it had arrived. `None` if all that had
    /// arrived is later.
    pub(super) fn new(
        pace: Pace,
        sent: impl Iterator<Item = (Step<'a>, bool)>,
        full_state: Option<&'a Arc<SentView>>,
        oldest: Option<Sequence>,
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
            steps.insert(
                at,
                Step { sequence: None, view, tick: view.tick(), turns: 1, interval_ticks: 0 },
            );
        }
        let from = steps.iter().position(|step| f64::from(step.tick().0) <= pace.tick)?;
        let turns = steps.iter().map(|step| step.turns.into()).max().unwrap_or(1);
        let rest_ticks = turns.max(pace.longest_blend_ticks.ceil() as u32);
        Some(Self {
            tick: pace.tick,
            pace,
            rest_ticks,
            steps,
            from,
            missed,
            oldest,
            at_limit,
            limit,
            extrapolations: None,
        })
    }

    pub(super) fn with_extrapolations(mut self, extrapolations: &'a Extrapolations) -> Self {
        let reach_ticks = extrapolations.reach().as_secs_f64() * self.pace.tick_hz;
        self.rest_ticks += reach_ticks.ceil() as u32;
        self.extrapolations = Some(extrapolations);
        self
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
    /// Returns the errors of [`sample`](Self::sample), and [`RewindError::Frame`].
    pub fn in_world<T: Pack>(&self, id: EntityId) -> Result<T, RewindError> {
        let seconds = Seconds::of(self, id)?;
        let look = |id| seconds.moment(self, id);
        Ok(look(id).ok_or(RewindError::NotShown { id })?.in_world(look)?)
    }

    /// Like [`in_world`](Self::in_world), for a type that describes some of the entity's fields
    /// only: [`Playback::in_world_with`](crate::Playback::in_world_with).
    ///
    /// # Errors
    /// As for [`in_world`](Self::in_world).
    pub fn in_world_with<T: Pack>(
        &self,
        id: EntityId,
        state: impl FnMut(&Moment<'_>) -> Result<T, EncodeError>,
    ) -> Result<T, RewindError> {
        let seconds = Seconds::of(self, id)?;
        let look = |id| seconds.moment(self, id);
        Ok(look(id).ok_or(RewindError::NotShown { id })?.in_world_with(state, look)?)
    }

    /// Where the entity was in the world, and how it moved, as
    /// [`Playback::motion`](crate::Playback::motion) returned it to the receiver.
    ///
    /// # Errors
    /// Returns the errors of [`sample`](Self::sample), and [`RewindError::Frame`].
    pub fn motion(&self, id: EntityId) -> Result<Motion, RewindError> {
        let seconds = Seconds::of(self, id)?;
        let look = |id| seconds.moment(self, id);
        Ok(look(id).ok_or(RewindError::NotShown { id })?.motion(look)?)
    }

    /// The entity's sample in the receiver's playback, for what the other methods do not read, such
    /// as a figure.
    ///
    /// # Errors
    /// Returns [`RewindError::NotShown`], and [`RewindError::TooOld`] if the receiver should have
    /// got a newer state of the entity so long ago.
    pub fn sample(&self, id: EntityId) -> Result<Sample<'a>, RewindError> {
        Ok(self.sample_and_step(id)?.0)
    }

    /// The entity's sample, and the index of the step of its second state. The errors are those of
    /// [`sample`](Self::sample).
    pub(super) fn sample_and_step(&self, id: EntityId) -> Result<(Sample<'a>, usize), RewindError> {
        let known = self.known(id, self.from)?;
        let (version, since) = known.ok_or(RewindError::NotShown { id })?;
        let next = self.next(id, version.row, since);
        let since = f64::from(since.0);
        let next = next.filter(|(_, next)| next.until > since);
        let step = next.map_or(self.from, |(step, _)| step);
        let next = next.map(|(_, next)| next);
        let extrapolation = self.extrapolation(version.row);
        let sample = match self.pace.sample(id, version.row, since, next, extrapolation) {
            Some(sample) => sample,
            None => self.beyond(id, version.row, since)?,
        };
        Ok((sample, step))
    }

    fn extrapolation(&self, row: Row<'_>) -> Extrapolation {
        let kind = row.0.kind_at(row.1);
        let of_kind = self.extrapolations.zip(kind).map(|(all, kind)| all.of(kind));
        of_kind.unwrap_or_default()
    }

    /// The sample of an entity whose newest known state is `row`, since the tick `since`.
    fn beyond(&self, id: EntityId, row: Row<'a>, since: f64) -> Result<Sample<'a>, RewindError> {
        let (kind, extrapolation) = (row.0.kind_at(row.1), self.extrapolation(row));
        let newest = self.steps[self.from].tick;
        let is_before = |step: &Step<'_>| step.tick != newest;
        let index = self.steps[self.from..].iter().position(is_before);
        let is_new = since == f64::from(newest.0);
        let before = match index.filter(|_| is_new && extrapolation != Extrapolation::Hold) {
            Some(index) => self.known(id, self.from + index)?,
            None => None,
        };
        let spawn = row.0.spawn_hash(row.1);
        let is_it = |(of, at): Row<'a>| of.kind_at(at) == kind && of.spawn_hash(at) == spawn;
        let before = before.map(|(version, since)| (version.row, f64::from(since.0)));
        let before = before.filter(|(row, _)| is_it(*row));
        let before = || before.map(|(row, since)| Before { row, since });
        let unchanged_until = f64::from(self.unchanged_until(self.from).0);
        Ok(self.pace.beyond(id, row, [since, unchanged_until], extrapolation, before))
    }

    pub(super) fn is_shown(&self, id: EntityId) -> bool {
        self.at(id, self.from).is_some()
    }

    /// An entity after the step at `index`; `None` if it was not known then. Returns
    /// [`RewindError::TooOld`] as [`sample`](Self::sample) does.
    pub(super) fn row(&self, id: EntityId, index: usize) -> Result<Option<Row<'a>>, RewindError> {
        Ok(self.known(id, index)?.map(|(version, _)| version.row))
    }

    /// Like [`at`](Self::at), but with the errors of [`sample`](Self::sample).
    fn known(
        &self,
        id: EntityId,
        index: usize,
    ) -> Result<Option<(Version<'a>, Tick)>, RewindError> {
        let longest_ticks = self.limit.longest_ticks;
        let too_old =
            |tick| Err(RewindError::TooOld { ticks: self.limit.ticks_ago(tick), longest_ticks });
        let known = self.at(id, index);
        if known.is_none_or(|(version, _)| version.said_by.is_none())
            && self.is_cut(index)
            && !self.steps[index..].iter().any(|step| step.says(id))
        {
            // What said it was given up already.
            return too_old(self.steps[self.steps.len() - 1].tick());
        }
        match known.and_then(|(version, _)| self.missed(id, &version)) {
            Some(missed) => too_old(missed),
            None => Ok(known),
        }
    }

    /// Whether the hub has given up a snapshot that may say something for the state after the step
    /// at `index`.
    fn is_cut(&self, index: usize) -> bool {
        let newest = self.steps[index].sequence;
        let behind = newest.zip(self.oldest).map(|(newest, oldest)| newest.since(oldest));
        behind.is_some_and(|behind| behind < i32::from(WINDOW) - 1)
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
        ids.into_iter().filter(|id| self.is_shown(*id))
    }

    /// The tick of a snapshot that sent a newer state of an entity longer ago than the limit, and did
    /// not arrive. `None` if the entity has been in the same state again since.
    fn missed(&self, id: EntityId, version: &Version<'_>) -> Option<Tick> {
        let newest = &self.steps[self.from];
        // Without a datagram that brought it, the state is older than the window.
        let since = newest.sequence.map(|of| version.said_by.unwrap_or(of.before(WINDOW)));
        let is_newer = |step: &&Step<'_>| match since {
            Some(since) => step.sequence().since(since) > 0,
            None => step.tick() > newest.tick(),
        };
        let missed = self.missed.iter().take_while(is_newer).find(|step| step.says(id));
        // Snapshots after a full state that the hub has given up may have said anything.
        let given_up = self.at_limit.as_ref().filter(|limit| {
            since.is_none() && self.oldest.is_some() && limit.tick() > newest.tick()
        });
        let missed = missed.or(given_up)?.tick();
        let at_limit = self
            .at_limit
            .and_then(|step| Some((&**step.view.whole.snapshot(), step.view.whole.position(id)?)));
        let is_same = at_limit.is_some_and(|at_limit| is_same(at_limit, version.row));
        (!is_same).then_some(missed)
    }

    /// The entity after the step at `index`, and the tick from which it blends to its next state.
    fn at(&self, id: EntityId, index: usize) -> Option<(Version<'a>, Tick)> {
        let newest = &self.steps[index];
        let long_ago = newest.tick().0.saturating_sub(self.rest_ticks);
        let version = version(id, Tick(long_ago), self.steps[index..].iter().copied())?;
        let since = version.since.map_or(Tick(0), |(_, tick)| tick);
        let turns = Some(newest.turns).filter(|turns| *turns > 1 && newest.view.is_complete());
        Some((version, blends_from(since, newest.tick(), turns)))
    }

    /// The next state of an entity that is at `row` since the tick `since`, and the index of its
    /// step.
    fn next(&self, id: EntityId, row: Row<'a>, since: Tick) -> Option<(usize, Next<'a>)> {
        let spawn = row.0.spawn_hash(row.1);
        let is_it = |(of, at): Row<'a>| {
            of.kind_at(at) == row.0.kind_at(row.1) && of.spawn_hash(at) == spawn
        };
        let mut end = self.from;
        while end > 0 {
            // Receivers show the datagrams of one tick together.
            let tick = self.steps[end - 1].tick();
            let begin = self.steps[..end].iter().rposition(|step| step.tick() != tick);
            let begin = begin.map_or(0, |before| before + 1);
            let newest = self.steps[begin];
            let is_said = self.steps[begin..end].iter().any(|step| step.says(id));
            if newest.is_complete() || is_said {
                let next = self.at(id, begin).map(|(version, until)| (version.row, until));
                let next = next.filter(|(row, _)| is_it(*row));
                if let Some((row, until)) =
                    next.filter(|(_, until)| *until > since || newest.is_complete())
                {
                    let unchanged_until = self.unchanged_until(begin);
                    let next = Next { row, until: f64::from(until.0), unchanged_until };
                    return Some((begin, next));
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
