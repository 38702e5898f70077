//! The view that a receiver holds after one snapshot. Views of one tick share the world's memory,
//! because each view stores only how it differs from the world. If a time precision made the world
//! coarser, receivers that got equal values share the coarse state.

use std::sync::{Arc, OnceLock};

use kinepack::codec::Learned;
use kinepack::{EncodeError, EntityId, Snapshot, Tick, View};

use crate::seen::{Row, Said};

/// A view that a receiver holds, or will hold once the snapshot arrives.
#[derive(Debug)]
pub(super) struct SentView {
    /// Identifies the view. Views with the same id share memory.
    pub(super) id: u64,
    /// Identifies the state. Complete views of a state that did not change have the same number.
    /// `None` in a partial view.
    pub(super) state: Option<u64>,
    /// Whether a time precision made values in `whole` coarser. Such values must be refined even if
    /// nothing changes any more.
    pub(super) coarse: bool,
    /// In how many ticks each entity has a turn at least once; 1 if all values in `whole` are those
    /// of the tick. Of partial views, only those of a [`turn`](Self::turn) say so.
    pub(super) turns: u8,
    /// The indices of the entities that do not take turns, increasing. Known in visible states in
    /// which others take turns.
    pub(super) near: Arc<[u32]>,
    /// How the view differs from that of the same visibility and sight in the previous tick. Known
    /// in visible states in which entities take turns.
    pub(super) changes: Option<Changes>,
    /// The visible state, as coarse as the codec made it.
    pub(super) whole: View,
    /// How the view differs from `whole`; `None` in a complete view.
    pub(super) skipped: Option<Skipped>,
    /// The view's state check, computed on first use.
    check: OnceLock<u16>,
}

/// The models that a codec had learned after it coded a snapshot.
#[derive(Clone, Debug)]
pub(super) struct LearnedModels {
    /// Unique among the ids of all learned models and views.
    pub(super) id: u64,
    pub(super) learned: Learned,
}

/// How a visible state differs from an earlier one.
#[derive(Debug)]
pub(super) struct Changes {
    /// The id of the earlier state's view.
    pub(super) since: u64,
    /// The ids of the entities that were removed, increasing.
    pub(super) removed: Box<[EntityId]>,
    /// The indices of the entities that were added or changed, increasing.
    pub(super) sent: Box<[u32]>,
}

/// How a partial view differs from its visible state, and what its snapshot sent.
#[derive(Debug)]
pub(super) struct Skipped {
    pub(super) held: Held,
    /// Entities that the snapshot sent.
    pub(super) sent: Rows,
    /// Entities of the baseline that the snapshot removed, by id.
    pub(super) removed: Box<[EntityId]>,
    /// The number of entities that should have been sent but did not fit.
    pub(super) waiting: usize,
    /// The set of parts, if this is one of several parts that together are the complete state.
    pub(super) split: Option<Arc<PartSet>>,
    /// The complete state, if the skipped entities were sent since the baseline. A receiver that
    /// has all datagrams since the baseline has this state.
    pub(super) turn: Option<Arc<SentView>>,
}

/// What a receiver still holds after a snapshot that skipped something.
#[derive(Debug)]
pub(super) enum Held {
    /// The visible state, except for these entities.
    Except {
        /// Entities that have since changed or been removed, with the values that the receiver
        /// still holds.
        old: Snapshot,
        /// Entities that the receiver does not have yet.
        unknown: Vec<EntityId>,
    },
    /// This baseline, except for the entities that the snapshot sent, and without those that are
    /// not in the visible state.
    Baseline(Arc<Snapshot>),
}

/// Entities of a snapshot, which share its memory.
#[derive(Debug)]
pub(super) struct Rows {
    of: Arc<Snapshot>,
    indices: Box<[u32]>,
    filter: Filter,
}

/// A set of ids that is a little too large: most searches for an entity among rows find here that it
/// is not one of them.
#[derive(Clone, Copy, Debug)]
struct Filter([u64; 4]);

impl Filter {
    fn new(ids: impl Iterator<Item = EntityId>) -> Self {
        let mut filter = Self([0; 4]);
        for id in ids {
            let bit = Self::bit(id);
            filter.0[bit / 64] |= 1 << (bit % 64);
        }
        filter
    }

    fn may_have(&self, id: EntityId) -> bool {
        let bit = Self::bit(id);
        self.0[bit / 64] >> (bit % 64) & 1 == 1
    }

    fn bit(id: EntityId) -> usize {
        (id.0.wrapping_mul(0x9E37_79B1) >> 24) as usize
    }
}

/// A complete state in several datagrams.
#[derive(Debug)]
pub(super) struct PartSet {
    /// The view of a receiver that has all parts.
    pub(super) whole: Arc<SentView>,
    /// The ids of the parts' views.
    pub(super) parts: Vec<u64>,
}

impl SentView {
    /// A view that equals `whole`, except for the entities in `skipped`.
    pub(super) fn new(
        id: u64,
        state: Option<u64>,
        coarse: bool,
        whole: View,
        skipped: Option<Skipped>,
    ) -> Self {
        Self {
            id,
            state,
            coarse,
            turns: 1,
            near: Arc::default(),
            changes: None,
            whole,
            skipped,
            check: OnceLock::new(),
        }
    }

    /// The view, in which values may be older than the tick, as all entities but those that are
    /// `near` take turns.
    pub(super) fn with_turns(self, turns: u8, near: Arc<[u32]>) -> Self {
        Self { turns, near, ..self }
    }

    /// The view, which differs from an earlier one by `changes`.
    pub(super) fn with_changes(self, changes: Option<Changes>) -> Self {
        Self { changes, ..self }
    }

    pub(super) fn is_complete(&self) -> bool {
        self.skipped.is_none()
    }

    /// The complete view of a receiver that has this view and all datagrams since its baseline, if
    /// the view skips only what these datagrams sent.
    pub(super) fn turn(&self) -> Option<&Arc<SentView>> {
        self.skipped.as_ref()?.turn.as_ref()
    }

    pub(super) fn split(&self) -> Option<&Arc<PartSet>> {
        self.skipped.as_ref()?.split.as_ref()
    }

    pub(super) fn tick(&self) -> Tick {
        self.whole.tick
    }

    /// The [state check](View::check) of the view. The first call costs a pass over the view. For a
    /// partial view, it also costs a copy into `scratch`.
    pub(super) fn check(&self, scratch: &mut Arc<Snapshot>) -> Result<u16, EncodeError> {
        if let Some(check) = self.check.get() {
            return Ok(*check);
        }
        let check = if self.is_complete() {
            self.whole.check()
        } else {
            // `scratch` has no other owner, so `make_mut` does not copy it.
            self.write_to(Arc::make_mut(scratch))?;
            View::from(Arc::clone(scratch)).check()
        };
        Ok(*self.check.get_or_init(|| check))
    }

    /// A partial view with only what its snapshot said, which takes little memory. `None` if the view
    /// is complete.
    pub(super) fn slim(&self) -> Option<Self> {
        let Skipped { sent, removed, .. } = self.skipped.as_ref()?;
        let rows = Arc::new(sent.gathered().ok()?);
        let indices: Vec<u32> = (0..rows.len() as u32).collect();
        let skipped = Skipped {
            held: Held::Baseline(Arc::clone(&rows)),
            sent: Rows::new(&rows, &indices),
            removed: removed.clone(),
            waiting: 0,
            split: None,
            turn: None,
        };
        let view = Self::new(self.id, None, self.coarse, View::from(rows), Some(skipped));
        Some(view.with_turns(self.turns, Arc::default()))
    }

    /// What the view's snapshot says about an entity.
    pub(super) fn said(&self, id: EntityId) -> Said<'_> {
        let Some(Skipped { sent, removed, .. }) = &self.skipped else {
            return self.held(id).map_or(Said::Absent, Said::Row);
        };
        match sent.row(id) {
            Some(row) => Said::Row(row),
            None if removed.binary_search(&id).is_ok() => Said::Absent,
            None => Said::Nothing,
        }
    }

    /// An entity in the view.
    pub(super) fn held(&self, id: EntityId) -> Option<Row<'_>> {
        let whole = self.whole.position(id).map(|at| (&**self.whole.snapshot(), at));
        let Some(Skipped { held, sent, .. }) = &self.skipped else { return whole };
        match held {
            // An entity whose kind has changed is unknown in the new kind, and old in the other.
            Held::Except { old, unknown } => {
                let is_known = unknown.binary_search(&id).is_err();
                old.position(id).map(|at| (old, at)).or(whole.filter(|_| is_known))
            }
            Held::Baseline(baseline) => sent.row(id).or_else(|| {
                let at = baseline.position(id)?;
                self.whole.position_of(baseline.kind_at(at)?, id)?;
                Some((&**baseline, at))
            }),
        }
    }

    /// The ids of all entities in the view, and perhaps others.
    pub(super) fn ids(&self) -> impl Iterator<Item = EntityId> {
        let old = self.skipped.as_ref().map(|skipped| match &skipped.held {
            Held::Except { old, .. } => old.ids(),
            Held::Baseline(baseline) => baseline.ids(),
        });
        self.whole.ids().iter().chain(old.unwrap_or_default()).copied()
    }

    /// Writes the view as one snapshot into `out`.
    pub(super) fn write_to(&self, out: &mut Snapshot) -> Result<(), EncodeError> {
        let Some(Skipped { held, sent, .. }) = &self.skipped else {
            out.copy_from(&self.whole);
            return Ok(());
        };
        match held {
            Held::Except { old, unknown } => {
                out.copy_from(&self.whole);
                out.patch(unknown, old)
            }
            Held::Baseline(baseline) => {
                let is_removed =
                    |(kind, id): &(usize, EntityId)| self.whole.position_of(*kind, *id).is_none();
                let removed = baseline.entities().filter(is_removed).map(|(_, id)| id);
                let mut removed: Vec<EntityId> = removed.collect();
                removed.sort_unstable();
                out.copy_from(baseline);
                out.tick = self.tick();
                out.patch(&removed, &sent.gathered()?)
            }
        }
    }
}

impl Rows {
    /// The entities of `of` at `indices`, which must increase.
    pub(super) fn new(of: &Arc<Snapshot>, indices: &[u32]) -> Self {
        let filter = Filter::new(indices.iter().map(|index| of.ids()[*index as usize]));
        Self { of: Arc::clone(of), indices: indices.into(), filter }
    }

    pub(super) fn tick(&self) -> Tick {
        self.of.tick
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = EntityId> {
        self.indices.iter().map(|index| self.of.ids()[*index as usize])
    }

    /// An entity, if it is one of these.
    fn row(&self, id: EntityId) -> Option<Row<'_>> {
        if !self.filter.may_have(id) {
            return None;
        }
        let at = self.of.position(id)?;
        self.indices.binary_search(&(at as u32)).ok()?;
        Some((&*self.of, at))
    }

    /// The indices of the entities in their snapshot, increasing.
    pub(super) fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// A copy of the entities.
    ///
    /// # Errors
    /// [`EncodeError::BadIndices`] if the indices do not increase.
    pub(super) fn gathered(&self) -> Result<Snapshot, EncodeError> {
        let mut rows = Snapshot::new_like(&self.of);
        rows.gather(&self.of, &self.indices)?;
        Ok(rows)
    }
}
