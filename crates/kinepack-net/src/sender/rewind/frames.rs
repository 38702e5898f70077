//! Where a receiver showed entities in the world, if they are relative to others: their frames.
//!
//! A frame that is not shown yet is where the entity's second state has it, as
//! [`Moment::in_world`] says. At a receiver, the second state is a snapshot of all that it knew
//! then. A past has single rows of many snapshots, in which other entities may be newer or older.
//! So [`Seconds`] makes a small snapshot of what the receiver knew then: the entity and its frames.

use kinepack::frame::Moment;
use kinepack::{EncodeError, EntityId, Snapshot};

use super::RewindError;
use super::past::Past;
use crate::seen::Row;

/// Kinepack follows at most this many frames, so it needs no more entities.
const MOST_FOLLOWED: usize = 32;

/// The second states of entities with a frame that is not shown at the moment.
#[derive(Debug, Default)]
pub(super) struct Seconds {
    list: Vec<(EntityId, Snapshot)>,
}

impl Seconds {
    /// The second states that the place of an entity depends on: its own, and those of its frames
    /// up to the world.
    ///
    /// # Errors
    /// Returns [`RewindError::TooOld`] if the receiver should have got a newer state of one of
    /// these.
    pub(super) fn of(past: &Past<'_>, id: EntityId) -> Result<Self, RewindError> {
        let mut seconds = Self::default();
        let (mut waiting, mut followed) = (vec![id], Vec::new());
        while let Some(id) = waiting.pop() {
            let is_known = followed.len() > MOST_FOLLOWED || followed.contains(&id);
            if is_known || !past.is_shown(id) {
                continue;
            }
            followed.push(id);
            let (sample, step) = past.sample_and_step(id)?;
            let frames = [sample.from, sample.to].map(|(state, at)| state.frame_at(at));
            let (mut hidden, mut is_hidden) = (Vec::new(), false);
            for mut frame in frames.into_iter().flatten() {
                while !past.is_shown(frame) {
                    is_hidden = true;
                    let is_known = hidden.iter().any(|(known, _)| *known == frame);
                    let row = if is_known { None } else { past.row(frame, step)? };
                    let Some((state, at)) = row else { break };
                    hidden.push((frame, (state, at)));
                    let Some(next) = state.frame_at(at) else { break };
                    frame = next;
                }
                waiting.push(frame);
            }
            if is_hidden {
                hidden.push((id, sample.to));
                seconds.list.push((id, snapshot_of(hidden, sample.to.0)?));
            }
        }
        Ok(seconds)
    }

    /// An entity at the moment. `None` if it is not shown.
    pub(super) fn moment<'s>(&'s self, past: &Past<'s>, id: EntityId) -> Option<Moment<'s>> {
        let mut moment = past.sample(id).ok()?.moment();
        if let Some((_, second)) = self.list.iter().find(|(of, _)| *of == id) {
            moment.to = (second, second.position(id)?);
        }
        Some(moment)
    }
}

/// A snapshot of these rows, with the schema of `like`.
fn snapshot_of(
    mut rows: Vec<(EntityId, Row<'_>)>,
    like: &Snapshot,
) -> Result<Snapshot, EncodeError> {
    let mut all = Snapshot::new_like(like);
    rows.sort_unstable_by_key(|(id, (state, at))| (state.kind_at(*at), *id));
    rows.iter().try_for_each(|(_, (state, at))| all.push_row(state, *at))?;
    Ok(all)
}
