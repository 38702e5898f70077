//! The newest known state of each entity. With partial snapshots, no single view contains all of
//! these states. Until the sender knows that a datagram arrived, later views do not contain what
//! that datagram sent.

use std::sync::Arc;

use kinepack::{EncodeError, EntityId, Snapshot, Tick};

/// A state to show, and the tick of each of its entities.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    pub(super) state: Arc<Snapshot>,
    /// The tick of each entity's lanes; `None` if all entities have the state's tick.
    fresh: Option<Vec<u32>>,
    /// An entity whose lanes are older than this many ticks rests: they are also those of the
    /// state's tick. `None` if older lanes may be wrong.
    turns: Option<u8>,
    /// The tick of the newest whole state that this state contains.
    complete: Tick,
}

impl Shown {
    /// A complete state.
    pub(super) fn whole(state: Arc<Snapshot>) -> Self {
        let complete = state.tick;
        Self { state, fresh: None, turns: None, complete }
    }

    /// The tick of the entity at `index`.
    pub(super) fn fresh(&self, index: usize) -> Tick {
        let newest = self.state.tick;
        let fresh = self.fresh.as_ref().map_or(newest, |fresh| Tick(fresh[index]));
        let age = newest.0.saturating_sub(fresh.0);
        // `is_some_and` would compare the number even if there is none. Valgrind reports that as a
        // jump that depends on an uninitialised value.
        let rests_after = self.turns.map_or(u32::MAX, u32::from);
        if age >= rests_after { newest } else { fresh }
    }

    pub(super) fn is_complete(&self) -> bool {
        self.fresh.is_none()
    }

    /// The state's bytes on the heap, including those shared with a view.
    pub(super) fn all_bytes(&self) -> usize {
        self.state.memory_bytes()
            + self.fresh.as_ref().map_or(0, |fresh| fresh.capacity() * size_of::<u32>())
    }

    /// The state's bytes on the heap that are not shared with a view.
    pub(super) fn own_bytes(&self) -> usize {
        let shared = if Arc::strong_count(&self.state) > 1 { self.state.memory_bytes() } else { 0 };
        self.all_bytes() - shared
    }

    /// The tick up to which 90 % of the entities sent for `tick` were known before. Does not count
    /// entities that rested for longer than playback blends.
    pub(super) fn reach(
        &self,
        tick: Tick,
        sent: impl Iterator<Item = (usize, EntityId)>,
        longest_blend_ticks: f64,
    ) -> Tick {
        let oldest = tick.0.saturating_sub(longest_blend_ticks as u32);
        let index = |(kind, id)| self.state.position_of(kind, id);
        let fresh = sent.filter_map(|entity| Some(self.fresh(index(entity)?).0));
        let mut fresh: Vec<u32> = fresh.filter(|fresh| *fresh > oldest).collect();
        let tenth = fresh.len() / 10;
        let reach = fresh.get(tenth).is_some().then(|| *fresh.select_nth_unstable(tenth).1);
        Tick(reach.unwrap_or(self.state.tick.0))
    }

    /// Advances to `tick`: removes the `removed` entities, and adds or updates the `sent` ones. If
    /// entities take `turns`, one that was sent with the lanes that are known already keeps its
    /// tick, because a sender repeats lanes until they are acknowledged.
    pub(super) fn advance(
        &mut self,
        tick: Tick,
        removed: &[EntityId],
        sent: &Snapshot,
        turns: u8,
    ) -> Result<(), EncodeError> {
        let before = self.lanes_ticks();
        let is_new = |(index, (kind, id)): (usize, (usize, EntityId))| {
            let known = self.state.position_of(kind, id).filter(|_| turns > 1);
            known.is_none_or(|known| !self.state.lanes_at(known).eq(sent.lanes_at(index)))
        };
        let new: Vec<bool> = sent.entities().enumerate().map(is_new).collect();
        let state = Arc::make_mut(&mut self.state);
        state.patch(removed, sent)?;
        state.tick = tick;
        let new = sent.entities().zip(new).filter(|(_, is_new)| *is_new);
        let new = new.map(|(entity, _)| entity);
        self.fresh = Some(ticks_of(&self.state, &before, new));
        self.turns = None;
        Ok(())
    }

    /// Advances to a whole state in which entities take `turns`. The entities `changed` differ from
    /// those that were shown.
    pub(super) fn take_turns(
        &mut self,
        state: &Arc<Snapshot>,
        changed: impl Iterator<Item = (usize, EntityId)>,
        turns: u8,
    ) {
        let before = self.lanes_ticks();
        self.state = Arc::clone(state);
        self.fresh = Some(ticks_of(state, &before, changed));
        self.turns = Some(turns);
        self.complete = state.tick;
    }

    /// The tick of each entity's lanes, even if the entity rests.
    fn lanes_ticks(&self) -> Vec<((usize, EntityId), u32)> {
        let tick =
            |index: usize| self.fresh.as_ref().map_or(self.state.tick.0, |ticks| ticks[index]);
        let entities = self.state.entities().enumerate();
        entities.map(|(index, entity)| (entity, tick(index))).collect()
    }

    /// Adds the entities of a late snapshot of tick `tick` that are newer than the known values.
    pub(super) fn add_late(&mut self, tick: Tick, sent: &Snapshot) -> Result<(), EncodeError> {
        let Some(fresh) = self.fresh.as_mut().filter(|_| tick > self.complete) else {
            return Ok(());
        };
        let mut newer = sent.clone();
        newer.clear(tick);
        for (nth, (kind, id)) in sent.entities().enumerate() {
            let index = self.state.position_of(kind, id);
            if let Some(index) = index.filter(|index| fresh[*index] < tick.0) {
                fresh[index] = tick.0;
                newer.push_row(sent, nth)?;
            }
        }
        Arc::make_mut(&mut self.state).patch(&[], &newer)
    }
}

/// The tick of the lanes of each entity of `state`: the state's tick if the entity is among the
/// `new` ones or was not there `before`. Everything is in the order of kinds and ids.
fn ticks_of(
    state: &Snapshot,
    before: &[((usize, EntityId), u32)],
    new: impl Iterator<Item = (usize, EntityId)>,
) -> Vec<u32> {
    let (mut before, mut new) = (before.iter().peekable(), new.peekable());
    let tick = |entity| {
        while before.next_if(|(other, _)| *other < entity).is_some() {}
        let is_new = new.next_if_eq(&entity).is_some();
        let before = before.peek().filter(|(other, _)| *other == entity && !is_new);
        before.map_or(state.tick.0, |(_, tick)| *tick)
    };
    state.entities().map(tick).collect()
}
