//! Sends a state in several datagrams, which receivers share. [`parts`](super::parts) divides it.

use std::sync::Arc;

use kinepack::EncodeError;

use super::moment::Moment;
use super::offered::Target;
use super::parts::{Division, MANY, Part, Parts};
use super::plan::Plan;
use super::sending::{Against, Sending};
use super::view::{PartSet, SentView, Skipped};
use crate::baseline::MERGED;
use crate::packet::{LONGEST_HEADER_BYTES, OLDER_VIEW_BYTES};

impl Sending {
    /// The limits of the parts for a target. They assume the longest header, so that all receivers
    /// with this codec share the parts, whatever their headers.
    pub(super) fn division(&self, target: Target, moment: &Moment<'_>) -> Division {
        let older_views = usize::from(self.offers[target.codec].older_views);
        let longest_header_bytes = LONGEST_HEADER_BYTES + OLDER_VIEW_BYTES * older_views;
        Division {
            limit_bytes: moment.config.datagram_bytes - longest_header_bytes,
            most: MERGED.min(moment.config.datagrams_per_tick as usize),
        }
    }

    /// Whether a state is large enough that an attempt to code it whole should be saved, if the
    /// state needed several datagrams before.
    pub(super) fn saves_attempts(&self, against: Against<'_>) -> bool {
        self.visible.view(against.target.visible).whole.len() >= MANY
    }

    /// Plans for everything in as few datagrams as possible. If one datagram suffices, it is the
    /// whole state. Returns `None` if that needs more datagrams than the division allows, or if
    /// some kinds rest.
    pub(super) fn split(
        &mut self,
        against: Against<'_>,
        division: Division,
    ) -> Result<Option<Parts>, EncodeError> {
        if !self.rates.are_all_due() {
            // Without the entities that rest, the parts would not be the complete state.
            return Ok(None);
        }
        if let Some(parts) = &self.shared[against.shared].split {
            return Ok(parts.clone());
        }
        let whole = self.seen(against)?;
        let ahead = self.shared[against.shared].ahead.as_mut();
        let parts = match ahead.and_then(|ahead| ahead.parts.take()) {
            Some(parts) => {
                let planner = &mut self.offers[against.target.codec].planner;
                parts
                    .iter()
                    .flatten()
                    .for_each(|part| planner.adopt_part(&part.coded, part.items, part.runs));
                parts
            }
            None => {
                self.compare(against, &whole)?;
                let known = self.baselines.known(against.base)?;
                let planner = &mut self.offers[against.target.codec].planner;
                planner.divide(&known, whole.whole.snapshot(), &self.rates, division)?
            }
        };
        let parts = parts.map(|parts| self.plans(&whole, parts));
        self.shared[against.shared].split = Some(parts.clone());
        Ok(parts)
    }

    /// Makes the plans of the parts of `whole`.
    fn plans(&mut self, whole: &Arc<SentView>, parts: Vec<Part>) -> Parts {
        self.encoded += parts.len();
        let ids: Vec<u64> = parts.iter().map(|_| self.visible.new_id()).collect();
        if parts.len() == 1 {
            let plan = |part: Part| {
                Arc::new(Plan { view: Arc::clone(whole), coded: part.coded.with_id(ids[0]) })
            };
            return parts.into_iter().map(plan).collect();
        }
        let split = Arc::new(PartSet { whole: Arc::clone(whole), parts: ids.clone() });
        let plan = |(part, id): (Part, u64)| {
            let split = Some(Arc::clone(&split));
            let skipped = Some(Skipped { waiting: 0, split, ..part.skipped });
            let view = SentView::new(id, None, whole.coarse, whole.whole.clone(), skipped);
            Arc::new(Plan { view: Arc::new(view), coded: part.coded.with_id(id) })
        };
        parts.into_iter().zip(ids).map(plan).collect()
    }
}
