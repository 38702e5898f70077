//! Sends only what changed since the last datagrams. This is worth it while entities take turns, as
//! they do in far [rings](super::rings): most values rest from one tick to the next, and a receiver
//! that gets all datagrams need not get them again and again until they are acknowledged. See
//! `spec/NET.md`, section 4.7.
//!
//! A change of a near entity is sent twice, in this tick and the next one, so that a single loss
//! delays it by a tick. A turn of a far entity is sent once. If everything was lost, everything is
//! sent again once the hub knows of the loss.

use std::sync::Arc;

use kinepack::EncodeError;

use super::plan::Plan;
use super::sending::{Against, Sending};
use super::view::{SentView, Skipped};

impl Sending {
    /// A plan for what changed since the last two datagrams, whose complete views are `last`.
    /// `None` if the plan for everything has to take its place.
    pub(super) fn turn(
        &mut self,
        against: Against<'_>,
        last: [&Arc<SentView>; 2],
    ) -> Result<Option<Arc<Plan>>, EncodeError> {
        let Against { base, target, shared } = against;
        let is_possible = base.merged.is_empty()
            && base.view.is_complete()
            && self.rates.are_all_due()
            && !self.offers[target.codec].is_coarse(base);
        let whole = Arc::clone(self.visible.view(target.visible));
        if whole.turns == 1 || !is_possible {
            return Ok(None);
        }
        let key = last.map(|view| view.id);
        if let Some(plan) = self.shared[shared].turns.get(&key) {
            return Ok(plan.clone());
        }
        let id = self.visible.new_id();
        self.compare(against, &whole)?;
        let known = self.baselines.known(base)?;
        let planner = &mut self.offers[target.codec].planner;
        let skipped = planner.turn(&known, &whole, last.map(|view| &**view))?;
        let coded = planner.coded(id);
        let plan = skipped.map(|skipped| {
            let skipped = Skipped { turn: Some(Arc::clone(&whole)), ..skipped };
            let view = SentView::new(id, None, false, whole.whole.clone(), Some(skipped));
            Arc::new(Plan { view: Arc::new(view.with_turns(whole.turns, Arc::default())), coded })
        });
        self.encoded += usize::from(plan.is_some());
        self.shared[shared].turns.insert(key, plan.clone());
        Ok(plan)
    }
}
