//! Makes a tick's encodings ahead of time, on the caller's threads.
//!
//! Without threads, the first receiver that needs an encoding makes it. With threads, the hub first
//! lists the distinct encodings that the tick's receivers will ask for, and the threads make them.
//! [`EncodeAhead`] keeps each encoding until the first receiver asks for it. An encoding is a
//! function of the baseline and the visible state. Everything that depends on an order, such as the
//! ids of views, happens when a receiver takes the encoding. So the bytes do not depend on the
//! threads. If an encoding is missing, the first receiver that needs it makes it.
//!
//! Only encodings of all changes are made ahead. A part for a budget depends on the caller's
//! priorities and on the sizes of earlier parts. So it is made only when its receiver's turn comes.
//!
//! Cost: a hash for each receiver. Each thread keeps one encoder for each codec that it has used.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use kinepack::{EncodeError, Schema, Snapshot};

use super::baselines::BaselineCache;
use super::chosen_baseline::ChosenBaseline;
use super::offered::{OfferedCodec, Target};
use super::parts::{Division, Part};
use super::plan::{Coded, Planner};
use super::rates::Rates;
use super::view::SentView;
use super::work::{Threads, share};

/// An encoding to make.
pub(super) struct Job<'a> {
    base: &'a ChosenBaseline,
    target: Target,
    exact: Arc<SentView>,
    /// The limits of the parts, if the state will hardly fit in one datagram.
    division: Option<Division>,
    made: OnceLock<Encoding>,
}

impl<'a> Job<'a> {
    /// A job for `target`, whose visible state is `exact`.
    pub(super) fn new(
        base: &'a ChosenBaseline,
        target: Target,
        exact: &Arc<SentView>,
        division: Option<Division>,
    ) -> Self {
        Self { base, target, exact: Arc::clone(exact), division, made: OnceLock::new() }
    }

    /// The baseline, the target and the encoding. `None` if the encoding failed.
    pub(super) fn finish(self) -> (&'a ChosenBaseline, Target, Option<Encoding>) {
        (self.base, self.target, self.made.into_inner())
    }
}

/// An encoding that was made ahead.
#[derive(Debug)]
pub(super) struct Encoding {
    /// The visible state, if a time precision made it coarser.
    pub(super) coarse: Option<Arc<Snapshot>>,
    /// Everything in one datagram, and how many entities differ between the baseline and the
    /// visible state.
    pub(super) whole: Option<(Coded, usize)>,
    /// Everything in parts, as [`Planner::divide`] returns it.
    pub(super) parts: Option<Option<Vec<Part>>>,
}

/// The encoders and baselines of one thread.
#[derive(Debug)]
struct Workshop {
    baselines: BaselineCache,
    /// The encoder of each codec. `None` before the first encoding with that codec.
    planners: Vec<Option<Planner>>,
}

impl Workshop {
    fn make(
        &mut self,
        job: &Job<'_>,
        offer: &OfferedCodec,
        rates: &Rates,
    ) -> Result<Encoding, EncodeError> {
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
        let visible = coarse.as_ref().unwrap_or(exact);
        let (mut whole, mut parts) = (None, None);
        if let Some(division) = job.division {
            planner.compare(&known.baseline, visible);
            parts = Some(planner.divide(&known, visible, rates, division)?);
        } else {
            let items = planner.whole(&known, visible)?;
            // The learned models get their id when a receiver takes the encoding.
            whole = Some((planner.coded(0), items));
        }
        Ok(Encoding { coarse, whole, parts })
    }
}

/// Makes the encodings of a tick ahead, and keeps the memory for this.
#[derive(Debug, Default)]
pub(super) struct EncodeAhead {
    /// Scratch memory: a hash of each listed encoding. If the hashes of two encodings are equal,
    /// only one of them is made ahead.
    pub(super) listed: HashSet<(u64, Target)>,
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

    /// Lets `threads` make the encodings that `jobs` lists.
    pub(super) fn make(
        &self,
        jobs: &[Job<'_>],
        offers: &[OfferedCodec],
        schema: &Schema,
        rates: &Rates,
        threads: Threads<'_>,
    ) {
        let make = |index: usize| {
            let job = &jobs[index];
            let mut workshop = self.workshop(schema);
            // An encoding that fails is made again for the receiver that needs it, which then
            // reports the error.
            if let Ok(made) = workshop.make(job, &offers[job.target.codec], rates) {
                // Only this thread has this job, so `set` does not fail.
                let _ = job.made.set(made);
            }
            self.put_back(workshop);
        };
        share(jobs.len(), threads, &make);
    }
}
