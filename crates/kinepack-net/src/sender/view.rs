//! The view that a receiver holds after one snapshot. Views of one tick share the world's memory,
//! because each view stores only how it differs from the world. If a time precision made the world
//! coarser, receivers that got equal values share the coarse state.

use std::sync::{Arc, OnceLock};

use kinepack::codec::Learned;
use kinepack::{EncodeError, EntityId, Snapshot, Tick, View};

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
    /// The indices of the entities that take turns, increasing. Known in visible states only.
    pub(super) far: Arc<[u32]>,
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

/// How a partial view differs from its visible state, and what its snapshot sent.
#[derive(Debug)]
pub(super) struct Skipped {
    /// Entities that have since changed or been removed, with the values that the receiver still
    /// holds.
    pub(super) old: Snapshot,
    /// Entities that the receiver does not have yet.
    pub(super) unknown: Vec<EntityId>,
    /// Entities that the snapshot sent.
    pub(super) sent: Snapshot,
    /// The number of entities that should have been sent but did not fit.
    pub(super) waiting: usize,
    /// The set of parts, if this is one of several parts that together are the complete state.
    pub(super) split: Option<Arc<PartSet>>,
    /// The complete state, if the skipped entities were sent since the baseline. A receiver that
    /// has all datagrams since the baseline has this state.
    pub(super) turn: Option<Arc<SentView>>,
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
            far: Arc::default(),
            whole,
            skipped,
            check: OnceLock::new(),
        }
    }

    /// The view, in which values may be older than the tick, as the `far` entities take turns.
    pub(super) fn with_turns(self, turns: u8, far: Arc<[u32]>) -> Self {
        Self { turns, far, ..self }
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

    /// Writes the view as one snapshot into `out`.
    pub(super) fn write_to(&self, out: &mut Snapshot) -> Result<(), EncodeError> {
        out.copy_from(&self.whole);
        match &self.skipped {
            Some(skipped) => out.patch(&skipped.unknown, &skipped.old),
            None => Ok(()),
        }
    }
}
