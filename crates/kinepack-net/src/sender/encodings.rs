//! Makes a tick's encodings ahead of time, on the caller's threads.
//!
//! Without threads, the first receiver that needs an encoding makes it ([`Sending::whole`]). With
//! threads, the hub first lists the distinct encodings that the tick's receivers will ask for, and
//! the threads make them. [`EncodeAhead`] keeps each encoding until the first receiver asks for it.
//! An encoding is a function of the baseline and the visible state. Everything that depends on an
//! order, such as the ids of views, happens when a receiver takes the encoding. So the bytes do not
//! depend on the threads, and a missing encoding is made as without threads.
//!
//! Only encodings of everything that changed are made ahead. A part for a budget depends on the
//! caller's priorities and on the sizes of earlier parts, so it is made only when its receiver's
//! turn comes.
//!
//! Cost: a hash for each receiver. Each thread keeps an encoder for each codec that it has used.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use kinepack::{EncodeError, Schema, Snapshot};

use super::baselines::BaselineCache;
use super::history::ChosenBaseline;
use super::peer::Moment;
use super::plan::{Coded, Planner};
use super::sending::{OfferedCodec, Sending, Target};
use super::sharing::{Ready, fingerprint};
use super::view::SentView;
use super::work::{Threads, share};

/// An encoding to make.
struct Job<'a> {
    base: &'a ChosenBaseline,
    target: Target,
    exact: Arc<SentView>,
    made: OnceLock<Encoding>,
}

/// An encoding that was made ahead.
#[derive(Debug)]
pub(super) struct Encoding {
    /// The visible state, if a time precision made it coarser.
    pub(super) coarse: Option<Arc<Snapshot>>,
    pub(super) coded: Coded,
    /// How many entities differ.
    pub(super) items: usize,
}

/// What a thread needs to encode.
#[derive(Debug)]
struct Workshop {
    baselines: BaselineCache,
    /// By codec. `None` before the first encoding with it.
    planners: Vec<Option<Planner>>,
}

impl Workshop {
    fn make(&mut self, job: &Job<'_>, offer: &OfferedCodec) -> Result<Encoding, EncodeError> {
        let index = job.target.codec;
        if self.planners.len() <= index {
            self.planners.resize_with(index + 1, || None);
        }
        let planner = self.planners[index].get_or_insert_with(|| offer.planner.another());
        let known = self.baselines.known(job.base)?;
        let exact = job.exact.whole.snapshot();
        let coarse = match offer.is_coarse(job.base) {
            true => Some(planner.coarse(&known, exact)?),
            false => None,
        };
        let items = planner.whole(&known, coarse.as_ref().unwrap_or(exact))?;
        // The learned models get their id when a receiver takes the encoding.
        Ok(Encoding { coarse, coded: planner.coded(0), items })
    }
}

/// The encodings that were made ahead in this tick, and the memory for making them.
#[derive(Debug, Default)]
pub(super) struct EncodeAhead {
    /// Scratch: a hash of each encoding in the list. If the hashes of two encodings are equal, only
    /// one of them is made ahead.
    listed: HashSet<(u64, Target)>,
    spare: Mutex<Vec<Workshop>>,
}

impl EncodeAhead {
    fn workshop(&self, schema: &Schema) -> Workshop {
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        spare.unwrap_or_else(|| Workshop {
            baselines: BaselineCache::new(schema),
            planners: Vec::new(),
        })
    }

    fn put_back(&self, workshop: Workshop) {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).push(workshop);
    }
}

impl Sending {
    /// Lets `threads` make the encodings of everything that the `served` receivers will ask for.
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
            if !self.ahead.listed.contains(&key) && peer.asks_for_whole(due, moment, are_all_due) {
                self.ahead.listed.insert(key);
                let exact = Arc::clone(self.visible.view(due.target.visible));
                let made = OnceLock::new();
                jobs.push(Job { base: &due.base, target: due.target, exact, made });
            }
        }
        if jobs.len() < 2 {
            return;
        }
        let Self { ahead, offers, schema, .. } = self;
        let make = |index: usize| {
            let job: &Job<'_> = &jobs[index];
            let mut workshop = ahead.workshop(schema);
            // An encoding that fails is made again for the receiver that needs it, which then
            // reports the error.
            if let Ok(made) = workshop.make(job, &offers[job.target.codec]) {
                // No other thread has this job, so this does not fail.
                let _ = job.made.set(made);
            }
            ahead.put_back(workshop);
        };
        share(jobs.len(), threads, &make);
        for Job { base, target, made, .. } in jobs {
            let shared = self.against(base, target).shared;
            self.shared[shared].ahead = made.into_inner();
        }
    }
}
