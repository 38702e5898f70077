//! What to show: of each entity the two states around the playout point, and how far between them.
//! The schema interpolates.

use kinepack::{Between, EncodeError, EntityId, Pack, Snapshot};

use super::presence::Presence;
use super::shown::Shown;
use crate::playout::Playout;

/// A moment of playback.
#[derive(Debug)]
pub struct Playback<'a> {
    playout: Playout<'a, Shown>,
    tick_hz: f64,
    longest_blend_ticks: f64,
    presence: &'a Presence,
}

/// One entity at a moment of playback.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// Which entity.
    pub id: EntityId,
    /// The state before the moment, and where the entity is in it.
    pub from: (&'a Snapshot, usize),
    /// The state after the moment, and where the entity is in it; the one before where none is
    /// known.
    pub to: (&'a Snapshot, usize),
    /// How far between them, and the time from one to the other.
    pub between: Between,
}

impl Sample<'_> {
    /// The entity's state at the moment, interpolated by its schema.
    ///
    /// # Errors
    /// [`EncodeError::TypeMismatch`] for a type of another schema.
    pub fn state<T: Pack>(&self) -> Result<T, EncodeError> {
        let (from, index) = self.from;
        let (to, to_index) = self.to;
        from.interpolate(index, to, to_index, self.between)
    }
}

impl<'a> Playback<'a> {
    pub(super) fn new(
        playout: Playout<'a, Shown>,
        tick_hz: u32,
        longest_blend_ticks: f64,
        presence: &'a Presence,
    ) -> Self {
        Self { playout, tick_hz: f64::from(tick_hz), longest_blend_ticks, presence }
    }

    /// The moment, as a tick with its fraction. It never goes backwards, but where the stream was
    /// lost for long and jumps.
    pub fn tick(&self) -> f64 {
        self.playout.tick
    }

    /// True where no newer state was there when it was needed: the newest is shown.
    pub fn is_starved(&self) -> bool {
        self.playout.starved
    }

    /// The entities, by id. One that comes is shown from its first state on, one that leaves until
    /// its last.
    ///
    /// Cost: constant an entity, but where snapshots left things out, a look at the states that are
    /// buffered.
    pub fn samples(&self) -> impl Iterator<Item = Sample<'a>> + use<'_, 'a> {
        let ids = self.playout.from.state.state.ids();
        ids.iter().enumerate().map(|(index, id)| self.sample(index, *id))
    }

    /// The entities in [`samples`](Self::samples) that the playback call before did not have, by
    /// id; in the first call all of them.
    ///
    /// Together with [`removed`](Self::removed) this is the exact difference of two calls, whatever
    /// was lost or skipped in between: each entity is added once before it is removed, and the
    /// other way round. An entity that was removed and added again between two calls is in neither
    /// list. So is a new entity that was given the id of one that was shown until now: do not give
    /// an id to another entity while receivers may still show the first one.
    pub fn added(&self) -> &'a [EntityId] {
        self.presence.added()
    }

    /// The entities that the playback call before had and that [`samples`](Self::samples) does not
    /// have any more, by id.
    pub fn removed(&self) -> &'a [EntityId] {
        self.presence.removed()
    }

    fn sample(&self, index: usize, id: EntityId) -> Sample<'a> {
        let Self { playout, .. } = self;
        let shown = &playout.from.state;
        let since = f64::from(shown.fresh(index).0);
        let held = (&*shown.state, index);
        let next = std::iter::once(playout.to).chain(playout.later()).find_map(|entry| {
            let at = place(&entry.state, id, index)?;
            let fresh = f64::from(entry.state.fresh(at).0);
            // Of states in which nothing was left out, the next one is always it.
            (fresh > since || entry.state.is_whole()).then_some((entry, at, fresh))
        });
        let Some((entry, at, until)) = next.filter(|(.., until)| *until > since) else {
            return Sample {
                id,
                from: held,
                to: held,
                between: Between { ratio: 0.0, seconds: 0.0 },
            };
        };
        let unchanged_until =
            if entry.state.is_whole() { f64::from(entry.unchanged_until.0) } else { 0.0 };
        let begin = since.max(until - self.longest_blend_ticks).max(unchanged_until);
        let (passed, span) = (playout.tick - begin, until - begin);
        let ratio = if span > 0.0 { (passed / span).clamp(0.0, 1.0) } else { 1.0 };
        let between = Between { ratio: ratio as f32, seconds: (span / self.tick_hz) as f32 };
        Sample { id, from: held, to: (&entry.state.state, at), between }
    }
}

/// Where an entity is; most often where it was in the state before.
fn place(shown: &Shown, id: EntityId, guess: usize) -> Option<usize> {
    if shown.state.ids().get(guess) == Some(&id) { Some(guess) } else { shown.state.position(id) }
}
