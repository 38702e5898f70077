//! What a receiver holds after one snapshot. Views of one tick share the world's memory: each
//! stores only what was left out of it. Where a time precision made the world coarser, those that
//! got the same share that.

use std::sync::{Arc, OnceLock};

use kinepack::codec::Learned;
use kinepack::{EncodeError, EntityId, Snapshot, Tick, View};

/// A view that a receiver has, or will have when the snapshot reaches it.
#[derive(Debug)]
pub(super) struct SentView {
    /// Tells views apart; equal ones have the same memory.
    pub(super) id: u64,
    /// Tells states apart: views of the whole of a state that did not change have the same. `None`
    /// where something was left out.
    pub(super) state: Option<u64>,
    /// A time precision made values in `whole` coarser: though nothing changes any more, they are
    /// to be refined.
    pub(super) coarse: bool,
    /// What there was to see, as coarse as the codec made it.
    pub(super) whole: View,
    /// What was left out; `None` in a whole view.
    pub(super) left_out: Option<LeftOut>,
    /// Its state check, once one was asked for.
    check: OnceLock<u16>,
}

/// What a codec had learned when a snapshot was coded.
#[derive(Clone, Debug)]
pub(super) struct Lesson {
    /// Tells lessons apart, and from views.
    pub(super) id: u64,
    pub(super) learned: Learned,
}

/// How a view differs from what there was to see, and what was sent.
#[derive(Debug)]
pub(super) struct LeftOut {
    /// Entities as the receiver still has them: changed since, or left.
    pub(super) old: Snapshot,
    /// Entities that it does not know of.
    pub(super) unknown: Vec<EntityId>,
    /// Entities that were sent.
    pub(super) sent: Snapshot,
    /// Entities that were to be sent and found no room.
    pub(super) waiting: usize,
    /// Where this is one of several parts that together are everything.
    pub(super) split: Option<Arc<Split>>,
}

/// A whole state in several datagrams.
#[derive(Debug)]
pub(super) struct Split {
    /// What a receiver has that has all of them.
    pub(super) whole: Arc<SentView>,
    /// The ids of the parts' views.
    pub(super) parts: Vec<u64>,
}

impl SentView {
    /// A view of `whole`, but for what was left out.
    pub(super) fn new(
        id: u64,
        state: Option<u64>,
        coarse: bool,
        whole: View,
        left_out: Option<LeftOut>,
    ) -> Self {
        Self { id, state, coarse, whole, left_out, check: OnceLock::new() }
    }

    pub(super) fn is_whole(&self) -> bool {
        self.left_out.is_none()
    }

    pub(super) fn split(&self) -> Option<&Arc<Split>> {
        self.left_out.as_ref()?.split.as_ref()
    }

    pub(super) fn tick(&self) -> Tick {
        self.whole.tick
    }

    /// The [state check](View::check) of the view. Costs a run over it, the first time; where
    /// something was left out, a copy into `scratch` too.
    pub(super) fn check(&self, scratch: &mut Arc<Snapshot>) -> Result<u16, EncodeError> {
        if let Some(check) = self.check.get() {
            return Ok(*check);
        }
        let check = if self.is_whole() {
            self.whole.check()
        } else {
            // Nobody else holds it: this copies nothing twice.
            self.write_to(Arc::make_mut(scratch))?;
            View::from(Arc::clone(scratch)).check()
        };
        Ok(*self.check.get_or_init(|| check))
    }

    /// The view as one snapshot.
    pub(super) fn write_to(&self, out: &mut Snapshot) -> Result<(), EncodeError> {
        out.copy_from(&self.whole);
        match &self.left_out {
            Some(left_out) => out.patch(&left_out.unknown, &left_out.old),
            None => Ok(()),
        }
    }
}
