//! What there is to see in a tick: the world, or a part of it for receivers to whom only that is relevant. Receivers with the same set
//! share it, and the memory of past ticks lives as long as a view refers to it.

use std::sync::Arc;

use kinepack::{EntityId, Snapshot};

use super::view::View;

/// What a receiver is to see in this tick.
#[derive(Debug)]
struct Subject {
    /// Which entities; `None` for all.
    set: Option<Arc<[EntityId]>>,
    view: Arc<View>,
    /// The different views of receivers to whom it was made coarse.
    coarse: Vec<Arc<View>>,
}

/// The subjects of this tick and of the one before.
#[derive(Debug, Default)]
pub(super) struct Subjects {
    now: Vec<Subject>,
    before: Vec<Subject>,
    /// Snapshots of earlier ticks; those that no view refers to are used again.
    pool: Vec<Arc<Snapshot>>,
    next_id: u64,
    next_state: u64,
}

impl Subjects {
    /// Begins a tick. The whole world is subject 0.
    pub(super) fn begin(&mut self, world: &Snapshot) {
        std::mem::swap(&mut self.now, &mut self.before);
        self.pool.extend(self.now.drain(..).map(|subject| Arc::clone(&subject.view.subject)));
        self.add(world, None);
    }

    /// The subject of a set, by index.
    pub(super) fn of(&mut self, set: Option<&Arc<[EntityId]>>) -> usize {
        let Some(set) = set else { return 0 };
        let is_same = |subject: &Subject| subject.set.as_ref().is_some_and(|other| Arc::ptr_eq(other, set));
        if let Some(index) = self.now.iter().position(is_same) {
            return index;
        }
        let world = Arc::clone(&self.now[0].view.subject);
        self.add(&world, Some(set));
        self.now.len() - 1
    }

    /// The view of a receiver from whom nothing is left out.
    pub(super) fn view(&self, index: usize) -> &Arc<View> {
        &self.now[index].view
    }

    /// The view of a receiver that gets `coarse` instead: the same for all that get equal values, whatever these are relative to.
    ///
    /// Cost: a comparison with each different one, up to the first difference; a copy of one that is new.
    pub(super) fn coarse_view(&mut self, index: usize, coarse: &Snapshot) -> Arc<View> {
        let Subject { view: exact, coarse: others, .. } = &self.now[index];
        let same = std::iter::once(exact).chain(others).find(|view| view.subject.holds_same(coarse));
        if let Some(same) = same {
            return Arc::clone(same);
        }
        let (state, subject) = (exact.state, Arc::new(coarse.clone()));
        let view = Arc::new(View { id: self.new_id(), state, coarse: true, subject, behind: None });
        self.now[index].coarse.push(Arc::clone(&view));
        view
    }

    /// A number for a new view.
    pub(super) fn new_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    fn add(&mut self, world: &Snapshot, set: Option<&Arc<[EntityId]>>) {
        let mut snapshot = self.unused().unwrap_or_else(|| Arc::new(world.clone()));
        // Nobody else has it: `unused` and `new` see to that.
        let state = Arc::make_mut(&mut snapshot);
        state.copy_from(world);
        if let Some(set) = set {
            state.retain(set);
        }
        let same_set = |subject: &&Subject| match (&subject.set, set) {
            (None, None) => true,
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            _ => false,
        };
        let before = self.before.iter().find(same_set).map(|subject| &subject.view);
        let unchanged = before.filter(|before| before.subject.holds_same(&snapshot));
        let state = unchanged.and_then(|before| before.state).unwrap_or_else(|| {
            self.next_state += 1;
            self.next_state
        });
        let view = View { id: self.new_id(), state: Some(state), coarse: false, subject: snapshot, behind: None };
        self.now.push(Subject { set: set.cloned(), view: Arc::new(view), coarse: Vec::new() });
    }

    /// A snapshot that no view refers to any more; all but a few others of those are freed.
    fn unused(&mut self) -> Option<Arc<Snapshot>> {
        let mut kept = 0;
        self.pool.retain(|snapshot| {
            let is_free = Arc::strong_count(snapshot) == 1;
            kept += usize::from(is_free);
            !is_free || kept <= 4
        });
        let index = self.pool.iter().position(|snapshot| Arc::strong_count(snapshot) == 1)?;
        Some(self.pool.swap_remove(index))
    }
}
