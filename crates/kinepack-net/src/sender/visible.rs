//! Visible states, which contain what receivers may see in a tick. A visible state is the whole
//! world, or a part of it. A part contains the entities that are relevant to its receivers, without
//! the groups of fields that these receivers may not see.
//!
//! Receivers with equal visibilities share one visible state. The memory of a past tick lives as
//! long as a view refers to it. Cost of a visibility or a sight: a search for its entities in the
//! world and a copy of their rows. A sight that sees the same entities as in the last tick costs a
//! copy of the last state. A visibility that only hides fields costs a copy of the world.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use kinepack::codec::Difference;
use kinepack::{EncodeError, Snapshot, View};

use super::rings::{Riders, Sight, Sources};
use super::spare::Spare;
use super::view::{Changes, SentView};
use super::visibility::{FieldGroup, KnownVisibility, Visibility, contains};

/// How many worlds of the pool a tick examines for reuse.
const LOOKED_AT: usize = 32;
/// How many of the examined worlds may be unused: one for this tick, the others for later ticks.
/// Further unused worlds are freed.
const SPARE: usize = 4;

/// The state that a receiver may see in this tick.
#[derive(Debug)]
struct VisibleState {
    view: Arc<SentView>,
    /// The distinct coarser views that a time precision makes of this state for receivers.
    coarse: Vec<Arc<SentView>>,
    /// What a sight sees, if the state has just this.
    seen: Option<Arc<[(u32, u8)]>>,
}

impl VisibleState {
    /// Whether the state has just what a sight sees, whose list is `seen`.
    fn sees(&self, seen: &Arc<[(u32, u8)]>) -> bool {
        self.seen.as_ref().is_some_and(|own| Arc::ptr_eq(own, seen))
    }
}

/// The visible states of one tick.
#[derive(Debug, Default)]
struct TickStates {
    /// The visible states. The first one is the whole world.
    states: Vec<VisibleState>,
    /// The index in `states` of each visibility and sight, by their ids. Without a sight, its id is
    /// 0.
    of_visibility: HashMap<(u64, u64), usize>,
}

/// The visible states of this tick and of the previous one.
#[derive(Debug, Default)]
pub(super) struct VisibleStates {
    now: TickStates,
    before: TickStates,
    pub(super) groups: Vec<FieldGroup>,
    /// The visibilities in use, with their ids.
    visibilities: HashMap<Arc<Visibility>, u64>,
    /// Worlds of earlier ticks. Worlds that no view refers to are reused.
    pool: VecDeque<Arc<Snapshot>>,
    /// The memory of parts of the world.
    spare: Spare,
    /// The entities that are relative to others, if [`knows_riders`](Self::knows_riders).
    riders: Riders,
    /// Whether `riders` are those of this tick. Only sets of entities need them.
    knows_riders: bool,
    /// Scratch memory: the indices of a set's entities in the world.
    places: Vec<u32>,
    /// Scratch memory: how a visible state differs from that of the previous tick.
    difference: Difference,
    next_id: u64,
    next_state: u64,
    next_visibility: u64,
}

impl VisibleStates {
    /// Begins a tick. The whole world is visible state 0.
    pub(super) fn begin(&mut self, world: &Snapshot) {
        self.visibilities.retain(|visibility, _| Arc::strong_count(visibility) > 1);
        std::mem::swap(&mut self.now, &mut self.before);
        self.pool.extend(
            self.now.states.first().map(|visible| Arc::clone(visible.view.whole.snapshot())),
        );
        self.now.states.clear();
        self.now.of_visibility.clear();
        self.spare.begin();
        self.knows_riders = false;
        let mut snapshot = self.unused().unwrap_or_else(|| Arc::new(Snapshot::new_like(world)));
        // `unused` and `new` return a snapshot without other references, so this does not copy
        // twice.
        Arc::make_mut(&mut snapshot).copy_from(world);
        let before = self.before.states.first().map(|visible| Arc::clone(&visible.view));
        self.add(snapshot, (1, Arc::default()), before, None);
    }

    /// The world of the last tick, if there was one.
    pub(super) fn world(&self) -> Option<&Snapshot> {
        self.now.states.first().map(|visible| &**visible.view.whole.snapshot())
    }

    /// Registers a visibility. Equal visibilities get the same id.
    pub(super) fn register(&mut self, visibility: Visibility) -> KnownVisibility {
        if let Some((visibility, id)) = self.visibilities.get_key_value(&visibility) {
            return KnownVisibility { id: *id, visibility: Arc::clone(visibility) };
        }
        let id = if visibility.is_default() { 0 } else { self.next_visibility + 1 };
        self.next_visibility = self.next_visibility.max(id);
        let visibility = Arc::new(visibility);
        self.visibilities.insert(Arc::clone(&visibility), id);
        KnownVisibility { id, visibility }
    }

    /// The index of the visible state of a visibility, as far as `sight` sees it. `sources` are the
    /// worlds that the sight takes values from. The first call for a visibility and a sight in a
    /// tick builds the visible state.
    pub(super) fn index_for(
        &mut self,
        known: &KnownVisibility,
        sight: Option<&Sight>,
        sources: &Sources<'_>,
    ) -> Result<usize, EncodeError> {
        let Visibility { relevant, groups, always: always_seen } = &*known.visibility;
        let hides_nothing = relevant.is_none() && groups.iter().all(Option::is_none);
        if sight.is_none() && hides_nothing {
            return Ok(0);
        }
        let key = (known.id, sight.map_or(0, |sight| sight.id));
        if let Some(index) = self.now.of_visibility.get(&key) {
            return Ok(*index);
        }
        let before = self.before.of_visibility.get(&key).map(|at| &self.before.states[*at]);
        let seen = sight.filter(|_| known.id == 0).map(|sight| &sight.seen);
        let same = before.zip(seen).filter(|(before, seen)| before.sees(seen));
        if let Some((before, seen)) = same.filter(|_| sources.is_steady) {
            let before = Arc::clone(&before.view);
            return self.continued(key, &before, seen, sources);
        }
        let before = before.map(|before| Arc::clone(&before.view));
        let world = &self.now.states[0].view.whole;
        let brings_frames = relevant.is_some() || !always_seen.is_empty();
        if brings_frames && !self.knows_riders {
            self.riders.find(world);
            self.knows_riders = true;
        }
        if let Some(relevant) = relevant {
            world.positions(relevant, &mut self.places);
            if sight.is_none() && !self.riders.is_empty() {
                let mut rows: Vec<(u32, u8)> = self.places.iter().map(|row| (*row, 0)).collect();
                self.riders.add_frames(&mut rows);
                self.places.clear();
                self.places.extend(rows.iter().map(|(row, _)| *row));
            }
        }
        let (mut turns, mut near) = (1, Arc::default());
        let mut shared = match (sight, relevant) {
            (Some(sight), _) => self.spare.take(world, sight.seen.len()),
            (None, Some(_)) => self.spare.take(world, self.places.len()),
            (None, None) => self.spare.take(world, world.len()),
        };
        // `take` returns a snapshot without other references, so this copies nothing.
        let snapshot = Arc::make_mut(&mut shared);
        match (sight, relevant) {
            (None, None) => snapshot.copy_from(world),
            (None, Some(_)) => snapshot.gather(world, &self.places)?,
            (Some(sight), _) => {
                let mut always = Vec::new();
                world.positions(always_seen, &mut always);
                let mut rows = Cow::Borrowed(&sight.seen[..]);
                turns = sight.turns;
                if !always.is_empty() {
                    rows = joined(&rows, &always, sight.farthest.0).into();
                    turns = turns.max(sight.farthest.1);
                }
                if relevant.is_some() {
                    rows = common(&rows, &self.places).into();
                }
                // The sight itself already has the frames of what it sees.
                if brings_frames && !self.riders.is_empty() {
                    self.riders.add_frames(rows.to_mut());
                }
                snapshot.gather_from(&sources.worlds, &rows)?;
                let is_near =
                    |(_, (_, source)): &(u32, &(u32, u8))| !sight.slow[usize::from(*source)];
                if turns > 1 {
                    near = (0..).zip(&*rows).filter(is_near).map(|(row, _)| row).collect();
                }
            }
        }
        for (group, visible) in self.groups.iter().zip(groups) {
            for part in group.parts.iter().filter(|_| visible.is_some()) {
                snapshot.clear_part(part, |id| contains(visible, id))?;
            }
        }
        self.now.of_visibility.insert(key, self.now.states.len());
        self.spare.add(&shared);
        self.add(shared, (turns, near), before, seen.cloned());
        Ok(self.now.states.len() - 1)
    }

    /// Adds the visible state of a sight that sees the same entities, from the same sources, as in
    /// the last tick, whose view is `before`. Only what the sources sampled is copied.
    fn continued(
        &mut self,
        key: (u64, u64),
        before: &SentView,
        seen: &Arc<[(u32, u8)]>,
        sources: &Sources<'_>,
    ) -> Result<usize, EncodeError> {
        let Self { spare, difference, .. } = self;
        let mut shared = spare.take(&before.whole, before.whole.len());
        // `take` returns a snapshot without other references, so this copies nothing.
        let snapshot = Arc::make_mut(&mut shared);
        snapshot.copy_from(&before.whole);
        let may_differ = |index, source| sources.may_differ(index, source);
        difference.update(snapshot, &sources.worlds, seen, may_differ)?;
        let state = before.state.filter(|_| difference.is_empty());
        let changes = (before.turns > 1).then(|| Changes {
            since: before.id,
            removed: Box::default(),
            sent: difference.sent[..].into(),
        });
        spare.add(&shared);
        self.now.of_visibility.insert(key, self.now.states.len());
        let turns = (before.turns, Arc::clone(&before.near));
        self.push(shared, state, turns, changes, Some(Arc::clone(seen)));
        Ok(self.now.states.len() - 1)
    }

    /// The view of a receiver that gets the whole visible state at `index`.
    pub(super) fn view(&self, index: usize) -> &Arc<SentView> {
        &self.now.states[index].view
    }

    /// The view of a receiver that gets `coarse`, a coarser form of the visible state at `index`.
    /// Receivers with equal values share this view, even if their baselines differ.
    ///
    /// Cost: a comparison with each distinct coarse view, up to the first difference.
    pub(super) fn coarse_view(&mut self, index: usize, coarse: Arc<Snapshot>) -> Arc<SentView> {
        let VisibleState { view: exact, coarse: others, .. } = &self.now.states[index];
        let is_same = |view: &Arc<SentView>| {
            Arc::ptr_eq(view.whole.snapshot(), &coarse) || view.whole.holds_same(&coarse)
        };
        let same = std::iter::once(exact).chain(others).find(|view| is_same(view));
        if let Some(same) = same {
            return Arc::clone(same);
        }
        let (state, turns, whole) = (exact.state, exact.turns, View::from(coarse));
        let near = Arc::clone(&exact.near);
        let view = SentView::new(self.new_id(), state, true, whole, None);
        let view = Arc::new(view.with_turns(turns, near));
        self.now.states[index].coarse.push(Arc::clone(&view));
        view
    }

    /// An id for a new view or for learned models.
    pub(super) fn new_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    /// Adds a visible state in which all entities but those that are `near` take turns of up to
    /// `turns` ticks. `before` is the view of the same visibility and sight in the previous tick.
    fn add(
        &mut self,
        snapshot: Arc<Snapshot>,
        (turns, near): (u8, Arc<[u32]>),
        before: Option<Arc<SentView>>,
        seen: Option<Arc<[(u32, u8)]>>,
    ) {
        let Self { difference, .. } = self;
        let mut changes = None;
        let is_unchanged = |before: &Arc<SentView>| {
            if turns == 1 {
                return before.whole.holds_same(&snapshot);
            }
            difference.find(&before.whole, &snapshot);
            let (removed, sent) = (difference.removed[..].into(), difference.sent[..].into());
            changes = Some(Changes { since: before.id, removed, sent });
            difference.is_empty()
        };
        let state = before.filter(is_unchanged).and_then(|before| before.state);
        self.push(snapshot, state, (turns, near), changes, seen);
    }

    /// Adds a visible state with the number `state`, or with a new one.
    fn push(
        &mut self,
        snapshot: Arc<Snapshot>,
        state: Option<u64>,
        (turns, near): (u8, Arc<[u32]>),
        changes: Option<Changes>,
        seen: Option<Arc<[(u32, u8)]>>,
    ) {
        let state = state.unwrap_or_else(|| {
            self.next_state += 1;
            self.next_state
        });
        let view = SentView::new(self.new_id(), Some(state), false, View::from(snapshot), None);
        let view = Arc::new(view.with_turns(turns, near).with_changes(changes));
        self.now.states.push(VisibleState { view, coarse: Vec::new(), seen });
    }

    /// Takes from the pool a world that no view refers to. Frees all but a few of the other
    /// unreferenced worlds.
    ///
    /// Each call examines only a part of the pool, because receivers may hold on to many worlds.
    fn unused(&mut self) -> Option<Arc<Snapshot>> {
        let (mut found, mut spare) = (None, 0);
        for _ in 0..self.pool.len().min(LOOKED_AT) {
            let snapshot = self.pool.pop_front()?;
            let is_free = Arc::strong_count(&snapshot) == 1;
            if is_free && found.is_none() {
                found = Some(snapshot);
                continue;
            }
            spare += usize::from(is_free);
            if !is_free || spare < SPARE {
                self.pool.push_back(snapshot);
            }
        }
        found
    }
}

/// The rows whose index is in `indices`. Both are sorted.
fn common(rows: &[(u32, u8)], indices: &[u32]) -> Vec<(u32, u8)> {
    let mut indices = indices.iter().peekable();
    let is_in = |(row, _): &&(u32, u8)| {
        while indices.next_if(|index| *index < row).is_some() {}
        indices.peek() == Some(&row)
    };
    rows.iter().filter(is_in).copied().collect()
}

/// The rows, and one with `source` for each of the `indices` that they do not have. All are sorted.
fn joined(rows: &[(u32, u8)], indices: &[u32], source: u8) -> Vec<(u32, u8)> {
    let mut joined = Vec::with_capacity(rows.len() + indices.len());
    let mut rows = rows.iter().copied().peekable();
    for index in indices {
        joined.extend(std::iter::from_fn(|| rows.next_if(|(row, _)| row < index)));
        joined.push(rows.next_if(|(row, _)| row == index).unwrap_or((*index, source)));
    }
    joined.extend(rows);
    joined
}
