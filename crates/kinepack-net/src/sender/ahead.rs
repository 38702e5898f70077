//! Chooses which of a tick's encodings to make ahead of time.

use super::encodings::Job;
use super::moment::Moment;
use super::sending::Sending;
use super::sharing::{Ready, fingerprint};
use super::work::Threads;

impl Sending {
    /// Lets `threads` make the encodings that the `served` receivers will ask for.
    pub(super) fn encode_ahead(
        &mut self,
        ready: &[Ready<'_>],
        served: &[usize],
        moment: &Moment<'_>,
        threads: Threads<'_>,
    ) {
        let are_all_due = self.rates.are_all_due();
        self.ahead.listed.clear();
        let mut jobs = Vec::new();
        for index in served {
            let (peer, due) = &ready[*index];
            let key = (fingerprint(&due.base), due.target);
            let exact = self.visible.view(due.target.visible);
            // What changed since the last datagrams takes the place of the whole state.
            let has_turn = exact.turns > 1 && peer.history().last_turns(&due.base).is_some();
            if !has_turn
                && !self.ahead.listed.contains(&key)
                && peer.asks_for_whole(due, moment, are_all_due)
            {
                self.ahead.listed.insert(key);
                let is_divided = are_all_due && peer.expects_split(due);
                let division = is_divided.then(|| self.division(due.target, moment));
                jobs.push(Job::new(&due.base, due.target, exact, division));
            }
        }
        if jobs.len() < 2 {
            return;
        }
        self.ahead.make(&jobs, &self.offers, &self.schema, &self.rates, threads);
        for job in jobs {
            let (base, target, made) = job.finish();
            let shared = self.against(base, target).shared;
            self.shared[shared].ahead = made;
        }
    }
}
