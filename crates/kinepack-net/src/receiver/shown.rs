//! The newest known state of each entity. With partial snapshots, no single view contains all of
//! these states. Until the sender knows that a datagram arrived, later views do not contain what
//! that datagram sent. See `spec/NET.md`, section 12.2.

use std::sync::Arc;

use kinepack::codec::Difference;
use kinepack::{EncodeError, EntityId, Snapshot, Tick};

use crate::Sequence;
use crate::seen::{Version, WINDOW, blends_from};

/// A state to show, and when each of its entities got its lanes.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    pub(super) state: Arc<Snapshot>,
    /// The newest datagram that the state contains. `None` for a state that came in fragments, and
    /// for one that did not come over a network.
    pub(super) sequence: Option<Sequence>,
    /// How many ticks before the state's tick the previous state was still valid; 0 if unknown.
    pub(super) interval_ticks: u8,
    /// Where each entity's lanes are from; `None` if all are from the newest datagram.
    fresh: Option<Vec<Fresh>>,
    /// An entity whose lanes are older than this many ticks rests: they are also those of the
    /// state's tick. `None` if older lanes may be wrong.
    turns: Option<u8>,
}

/// Where an entity's lanes are from.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Fresh {
    tick: u32,
    /// The datagram that brought the lanes; `None` if they are from a view or a full state.
    by: Option<Sequence>,
}

/// An entity's kind and id.
type Entity = (usize, EntityId);

/// What a partial snapshot says.
#[derive(Clone, Copy, Debug)]
pub(super) struct PartSaid<'a> {
    /// The entities that the baseline has and the view does not, by id.
    pub(super) removed: &'a [EntityId],
    /// The entities that the snapshot sent.
    pub(super) sent: &'a Snapshot,
}

impl Shown {
    /// A complete state, from the datagram `sequence` unless it came in fragments.
    pub(super) fn whole(state: Arc<Snapshot>, sequence: Option<Sequence>) -> Self {
        Self { state, sequence, interval_ticks: 0, fresh: None, turns: None }
    }

    /// Whether the state contains a later datagram than `sequence`.
    pub(super) fn is_after(&self, sequence: Sequence) -> bool {
        self.sequence.is_some_and(|newest| newest.since(sequence) > 0)
    }

    /// The tick of the entity at `index`.
    pub(super) fn fresh(&self, index: usize) -> Tick {
        blends_from(Tick(self.version(index).tick), self.state.tick, self.turns)
    }

    /// The tick from which the entity at `index` blends to its next state: that of its lanes, or 0
    /// if it got them longer ago than both sides remember.
    pub(super) fn since(&self, index: usize) -> Tick {
        let fresh = self.version(index);
        let is_recent =
            self.fresh.is_none() || self.sequence.is_some_and(|newest| is_recent(newest, fresh));
        let tick = if is_recent { fresh.tick } else { 0 };
        blends_from(Tick(tick), self.state.tick, self.turns)
    }

    fn newest(&self) -> Fresh {
        Fresh { tick: self.state.tick.0, by: self.sequence }
    }

    fn version(&self, index: usize) -> Fresh {
        self.fresh.as_ref().map_or(self.newest(), |fresh| fresh[index])
    }

    pub(super) fn is_complete(&self) -> bool {
        self.fresh.is_none()
    }

    /// The state's bytes on the heap, including those shared with a view.
    pub(super) fn all_bytes(&self) -> usize {
        self.state.memory_bytes()
            + self.fresh.as_ref().map_or(0, |fresh| fresh.capacity() * size_of::<Fresh>())
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
        sent: impl Iterator<Item = Entity>,
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

    /// Advances by the partial snapshot with the sequence `sequence`, whose view is `view`. Recent
    /// lanes stay, because the view may not have them yet. The view may also have an entity that a
    /// datagram since its baseline removed: `is_gone` tells. If entities take `turns`, one that was
    /// sent with the lanes that are known already keeps its tick, because a sender repeats lanes
    /// until they are acknowledged. `scratch` is memory to work in.
    ///
    /// Cost: a comparison with the view, and a copy of the state.
    pub(super) fn advance(
        &mut self,
        sequence: Sequence,
        view: &Arc<Snapshot>,
        PartSaid { removed, sent }: PartSaid<'_>,
        turns: u8,
        scratch: &mut Difference,
        is_gone: impl Fn(EntityId) -> bool,
    ) -> Result<(), EncodeError> {
        let is_new = |(index, (kind, id)): &(usize, Entity)| {
            let known = self.state.position_of(*kind, *id).filter(|_| turns > 1);
            known.is_none_or(|known| !self.state.lanes_at(known).eq(sent.lanes_at(*index)))
        };
        let new: Vec<Entity> =
            sent.entities().enumerate().filter(is_new).map(|(_, entity)| entity).collect();
        let mut state = Arc::clone(&self.state);
        let is_same_place = self.state.has_same_entities(view);
        let are_recent = |fresh: &Vec<Fresh>| fresh.iter().all(|of| is_recent(sequence, *of));
        if is_same_place && self.fresh.as_ref().is_some_and(are_recent) {
            Arc::make_mut(&mut state).patch(&[], sent)?;
        } else {
            self.compare(sequence, view, PartSaid { removed, sent }, scratch, is_gone);
            let mut rows = Snapshot::new_like(view);
            rows.gather(view, &scratch.sent)?;
            Arc::make_mut(&mut state).patch(&scratch.removed, &rows)?;
        }
        Arc::make_mut(&mut state).tick = view.tick;
        let by = Fresh { tick: view.tick.0, by: Some(sequence) };
        self.follow(sequence, state, new.into_iter(), by);
        self.turns = None;
        Ok(())
    }

    /// Finds what a partial snapshot changes: the entities to remove, and those to take from the
    /// view. These are the ones that it sent, and those without recent lanes.
    fn compare(
        &self,
        sequence: Sequence,
        view: &Snapshot,
        PartSaid { removed, sent }: PartSaid<'_>,
        found: &mut Difference,
        is_gone: impl Fn(EntityId) -> bool,
    ) {
        found.find(&self.state, view);
        let is_same_place = self.state.has_same_entities(view);
        let is_old = |known: usize| !is_recent(sequence, self.version(known));
        let mut said = sent.entities().peekable();
        let mut is_taken = |index: usize| {
            let Some(kind) = view.kind_at(index) else { return false };
            let entity @ (_, id) = (kind, view.ids()[index]);
            while said.next_if(|other| *other < entity).is_some() {}
            if said.peek() == Some(&entity) {
                return true;
            }
            let known = if is_same_place { Some(index) } else { self.state.position(id) };
            known.map_or_else(|| !is_gone(id), is_old)
        };
        found.sent.retain(|index| is_taken(*index as usize));
        found.removed.retain(|id| {
            removed.binary_search(id).is_ok() || self.state.position(*id).is_some_and(is_old)
        });
    }

    /// Advances to a whole state in which entities take `turns`. The entities `changed` differ from
    /// those that were shown.
    pub(super) fn take_turns(
        &mut self,
        sequence: Sequence,
        state: &Arc<Snapshot>,
        changed: impl Iterator<Item = Entity>,
        turns: u8,
    ) {
        let by = Fresh { tick: state.tick.0, by: Some(sequence) };
        self.follow(sequence, Arc::clone(state), changed, by);
        self.turns = Some(turns);
    }

    /// Takes a newer state, in which the lanes of the `new` entities are from `by`.
    fn follow(
        &mut self,
        sequence: Sequence,
        state: Arc<Snapshot>,
        new: impl Iterator<Item = Entity>,
        by: Fresh,
    ) {
        if self.state.has_same_entities(&state) {
            let newest = self.newest();
            let mut fresh = self.fresh.take().unwrap_or_else(|| vec![newest; self.state.len()]);
            let (mut at, ids) = (0, state.ids());
            for (kind, id) in new {
                let range = state.of_kind(kind);
                at = range.start.max(at);
                at += ids[at..range.end].iter().take_while(|other| **other < id).count();
                if at < range.end && ids[at] == id {
                    fresh[at] = by;
                }
            }
            self.fresh = Some(fresh);
        } else {
            self.fresh = Some(versions_of(&state, &self.versions(), new, by));
        }
        (self.state, self.sequence) = (state, Some(sequence));
    }

    /// Where each entity's lanes are from, even if the entity rests.
    fn versions(&self) -> Vec<(Entity, Fresh)> {
        let entities = self.state.entities().enumerate();
        entities.map(|(index, entity)| (entity, self.version(index))).collect()
    }

    /// Corrects the entities `ids` of a late datagram: gives them the states that `version` returns.
    pub(super) fn correct<'v>(
        &mut self,
        ids: &[EntityId],
        version: impl Fn(EntityId) -> Option<Version<'v>>,
    ) -> Result<(), EncodeError> {
        let Some(fresh) = &mut self.fresh else { return Ok(()) };
        let (mut removed, mut rows) = (Vec::new(), Vec::new());
        for id in ids {
            let known = self.state.position(*id);
            let Some(Version { row: (of, at), since, .. }) = version(*id) else {
                removed.extend(known.map(|_| *id));
                continue;
            };
            let old = Fresh { tick: of.tick.0, by: None };
            let now = since.map_or(old, |(by, tick)| Fresh { tick: tick.0, by: Some(by) });
            let kind = of.kind_at(at);
            let is_known = |known: &usize| {
                self.state.kind_at(*known) == kind
                    && self.state.lanes_at(*known).eq(of.lanes_at(at))
            };
            match known.filter(is_known) {
                Some(known) => fresh[known] = now,
                None => rows.push(((kind.unwrap_or(0), *id), (of, at), now)),
            }
        }
        if removed.is_empty() && rows.is_empty() {
            return Ok(());
        }
        rows.sort_unstable_by_key(|(entity, ..)| *entity);
        let mut patch = Snapshot::new_like(&self.state);
        rows.iter().try_for_each(|(_, (of, at), _)| patch.push_row(of, *at))?;
        removed.sort_unstable();
        let mut before = self.versions();
        Arc::make_mut(&mut self.state).patch(&removed, &patch)?;
        before.retain(|(entity, _)| rows.binary_search_by_key(entity, |(row, ..)| *row).is_err());
        before.extend(rows.iter().map(|(entity, _, now)| (*entity, *now)));
        before.sort_unstable_by_key(|(entity, _)| *entity);
        let by = Fresh { tick: self.state.tick.0, by: None };
        self.fresh = Some(versions_of(&self.state, &before, std::iter::empty(), by));
        Ok(())
    }
}

/// Whether a datagram within the window before `newest` brought the lanes.
fn is_recent(newest: Sequence, fresh: Fresh) -> bool {
    fresh.by.is_some_and(|by| newest.since(by) < WINDOW.into())
}

/// Where the lanes of each entity of `state` are from: from `by` if the entity is among the `new`
/// ones, otherwise as `before`. Everything is in the order of kinds and ids.
fn versions_of(
    state: &Snapshot,
    before: &[(Entity, Fresh)],
    new: impl Iterator<Item = Entity>,
    by: Fresh,
) -> Vec<Fresh> {
    let (mut before, mut new) = (before.iter().peekable(), new.peekable());
    let version = |entity| {
        while before.next_if(|(other, _)| *other < entity).is_some() {}
        if new.next_if_eq(&entity).is_some() {
            return by;
        }
        let known = before.peek().filter(|(other, _)| *other == entity);
        known.map_or(Fresh { by: None, ..by }, |(_, fresh)| *fresh)
    };
    state.entities().map(version).collect()
}
