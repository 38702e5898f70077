//! The plans of a tick, which all receivers of a hub share.

use std::collections::HashMap;
use std::sync::Arc;

use kinepack::{Codec, EncodeError, Schema, Snapshot, Tick};

use super::baselines::BaselineCache;
use super::chosen_baseline::ChosenBaseline;
use super::encodings::{EncodeAhead, Encoding};
use super::offered::{OfferedCodec, Target};
use super::outbox::Outbox;
use super::parts::Parts;
use super::plan::{Due, Plan, Planner, Room};
use super::rates::Rates;
use super::receiver_id::ReceiverId;
use super::view::SentView;
use super::visible::VisibleStates;
use crate::Channel;
use crate::events::EventWriter;

/// The part of a hub's state that all receivers share.
#[derive(Debug)]
pub(super) struct Sending {
    pub(super) visible: VisibleStates,
    pub(super) outbox: Outbox,
    /// Which kinds are due.
    pub(super) rates: Rates,
    /// Writes the lists of events. `None` without events.
    pub(super) events: Option<EventWriter>,
    /// Scratch memory: a view while its state check is computed.
    checked: Arc<Snapshot>,
    /// The codecs that receivers may choose, at least one.
    pub(super) offers: Vec<OfferedCodec>,
    pub(super) schema: Schema,
    /// Builds baselines.
    pub(super) baselines: BaselineCache,
    /// Memory for making encodings ahead.
    pub(super) ahead: EncodeAhead,
    /// This tick's work. Each entry is for one baseline and target, in the order of first use.
    pub(super) shared: Vec<Shared>,
    /// The index in `shared` of each baseline and target, as [`write_key`] writes them.
    shared_index: HashMap<Vec<u64>, usize>,
    /// Scratch memory: a key of `shared_index`.
    key: Vec<u64>,
    /// The number of snapshots encoded in this tick.
    pub(super) encoded: usize,
}

/// A baseline and a target, with the index of the work that their receivers share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Against<'b> {
    pub(super) base: &'b ChosenBaseline,
    pub(super) target: Target,
    /// The index in [`Sending::shared`].
    pub(super) shared: usize,
}

/// This tick's work for one baseline and target. The first receiver that needs a part of the work
/// makes that part, and the others share it.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// The encoding of everything, or its parts, if one of the caller's threads has made it.
    pub(super) ahead: Option<Encoding>,
    /// The visible state, made coarser if the codec has a time precision.
    coarse: Option<Arc<SentView>>,
    /// The plan for everything in one datagram.
    whole: Option<Arc<Plan>>,
    /// Which entities are due, if some kinds rest.
    due: Option<Due>,
    /// The plan for everything that is due in one datagram, if some kinds rest.
    whole_due: Option<Arc<Plan>>,
    /// The plans for everything in several datagrams. `Some(None)` if there would be too many
    /// datagrams.
    pub(super) split: Option<Option<Parts>>,
    /// The plans for what changed since the last two datagrams, by the ids of their complete views.
    /// `None` if such a plan is not possible.
    pub(super) turns: HashMap<[u64; 2], Option<Arc<Plan>>>,
    /// The plans for a part of the changes.
    parts: HashMap<PartKey, Arc<Plan>>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct PartKey {
    /// The ids of the partial views in flight, whose entities need not be sent again immediately.
    in_flight: Vec<u64>,
    limit_bytes: usize,
    /// The receiver, if the caller gave priorities. Priorities apply to this receiver alone, so no
    /// other receiver can share the plan.
    only_for: Option<ReceiverId>,
}

/// A request for a plan.
pub(super) struct PlanRequest<'b> {
    pub(super) against: Against<'b>,
    pub(super) limit_bytes: usize,
    /// Whether the last plan for this receiver skipped something. Then the planner does not try to
    /// send everything first.
    pub(super) expects_part: bool,
    /// Whether this is not the first datagram of the tick. A later datagram does not repeat the
    /// entities of the first one, so its snapshot is partial.
    pub(super) is_later_datagram: bool,
    /// The receiver, if the caller gave priorities. Priorities apply to this receiver alone, so no
    /// other receiver can share the plan.
    pub(super) only_for: Option<ReceiverId>,
}

impl Sending {
    /// The shared part of a hub that does not offer any codec yet.
    pub(super) fn new(schema: &Schema, channel: Channel) -> Self {
        Self {
            visible: VisibleStates::default(),
            outbox: Outbox::new(channel),
            rates: Rates::new(schema),
            events: None,
            checked: Arc::new(Snapshot::new(schema, Tick(0))),
            offers: Vec::new(),
            schema: schema.clone(),
            baselines: BaselineCache::new(schema),
            ahead: EncodeAhead::default(),
            shared: Vec::new(),
            shared_index: HashMap::new(),
            key: Vec::new(),
            encoded: 0,
        }
    }

    /// Offers `codec`, which must not be offered yet.
    pub(super) fn offer(&mut self, codec: &Codec, older_views: u8, counts_costs: bool) {
        self.offers.push(OfferedCodec {
            hash: codec.hash(),
            level: *codec.level(),
            older_views,
            has_precision: codec.has_precision(),
            planner: Planner::new(codec, counts_costs),
            compared: None,
        });
    }

    /// The index of the offered codec with the hash `hash`, if any.
    pub(super) fn offered(&self, hash: u64) -> Option<usize> {
        self.offers.iter().position(|offer| offer.hash == hash)
    }

    pub(super) fn begin(&mut self, world: &Snapshot) {
        self.shared.clear();
        self.shared_index.clear();
        if let Some(events) = &mut self.events {
            events.begin();
        }
        self.offers.iter_mut().for_each(|offer| offer.compared = None);
        self.encoded = 0;
        self.rates.begin();
        self.visible.begin(world);
    }

    /// How many times encoders have run in total, including attempts that did not fit.
    pub(super) fn runs(&self) -> u64 {
        self.offers.iter().map(|offer| offer.planner.runs()).sum()
    }

    /// Looks up the work for a baseline and target in this tick, or adds an entry for it. Cost: a
    /// hash of the ids of all views that the snapshot is coded against.
    pub(super) fn against<'b>(&mut self, base: &'b ChosenBaseline, target: Target) -> Against<'b> {
        write_key(base, target, &mut self.key);
        let shared = self.shared_index.get(&self.key[..]).copied().unwrap_or_else(|| {
            self.shared_index.insert(self.key.clone(), self.shared.len());
            self.shared.push(Shared::default());
            self.shared.len() - 1
        });
        Against { base, target, shared }
    }

    /// The view of a receiver after it gets everything: the visible state, made coarser if the
    /// codec has a time precision.
    pub(super) fn seen(&mut self, against: Against<'_>) -> Result<Arc<SentView>, EncodeError> {
        let Against { base, target, shared } = against;
        let exact = self.visible.view(target.visible);
        if !self.offers[target.codec].is_coarse(base) {
            return Ok(Arc::clone(exact));
        }
        let shared = &mut self.shared[shared];
        if let Some(view) = &shared.coarse {
            return Ok(Arc::clone(view));
        }
        let coarse = match &shared.ahead {
            Some(Encoding { coarse: Some(coarse), .. }) => Arc::clone(coarse),
            _ => {
                let known = self.baselines.known(base)?;
                self.offers[target.codec].planner.coarse(&known, exact.whole.snapshot())?
            }
        };
        let view = self.visible.coarse_view(target.visible, coarse);
        shared.coarse = Some(Arc::clone(&view));
        Ok(view)
    }

    /// A plan for everything, whatever its length.
    pub(super) fn whole(&mut self, against: Against<'_>) -> Result<Arc<Plan>, EncodeError> {
        if let Some(plan) = &self.shared[against.shared].whole {
            return Ok(Arc::clone(plan));
        }
        let id = self.visible.new_id();
        let view = self.seen(against)?;
        let planner = &mut self.offers[against.target.codec].planner;
        let ahead = self.shared[against.shared].ahead.as_mut();
        let coded = match ahead.and_then(|ahead| ahead.whole.take()) {
            Some((coded, items)) => {
                planner.adopt_whole(&coded, items);
                coded.with_id(id)
            }
            None => {
                planner.whole(&self.baselines.known(against.base)?, &view.whole)?;
                planner.coded(id)
            }
        };
        let plan = Arc::new(Plan { view, coded });
        self.encoded += 1;
        self.shared[against.shared].whole = Some(Arc::clone(&plan));
        Ok(plan)
    }

    /// Whether a snapshot would contain anything that is due.
    pub(super) fn is_anything_due(&mut self, against: Against<'_>) -> Result<bool, EncodeError> {
        Ok(self.due(against)? != Due::Nothing)
    }

    /// A plan for everything that is due, whatever its length.
    pub(super) fn whole_due(&mut self, against: Against<'_>) -> Result<Arc<Plan>, EncodeError> {
        if self.due(against)? == Due::All {
            return self.whole(against);
        }
        if let Some(plan) = &self.shared[against.shared].whole_due {
            return Ok(Arc::clone(plan));
        }
        let plan = self.part(against, usize::MAX, &mut |_, _| 1.0)?;
        self.shared[against.shared].whole_due = Some(Arc::clone(&plan));
        Ok(plan)
    }

    fn due(&mut self, against: Against<'_>) -> Result<Due, EncodeError> {
        if self.rates.are_all_due() {
            return Ok(Due::All);
        }
        if let Some(due) = self.shared[against.shared].due {
            return Ok(due);
        }
        let whole = self.seen(against)?;
        self.compare(against, &whole)?;
        let baseline = self.baselines.baseline(against.base)?;
        let planner = &self.offers[against.target.codec].planner;
        let due = planner.due(&baseline, &whole.whole, &self.rates);
        self.shared[against.shared].due = Some(due);
        Ok(due)
    }

    /// A plan for the most important entities whose kinds are due, in at most `limit_bytes`.
    fn part(
        &mut self,
        against: Against<'_>,
        limit_bytes: usize,
        score: &mut dyn FnMut(usize, u32) -> f32,
    ) -> Result<Arc<Plan>, EncodeError> {
        let id = self.visible.new_id();
        let whole = self.seen(against)?;
        self.compare(against, &whole)?;
        let known = self.baselines.known(against.base)?;
        let planner = &mut self.offers[against.target.codec].planner;
        let room = Room { limit_bytes, first: None };
        let skipped = planner.part(&known, whole.whole.snapshot(), &self.rates, room, score)?;
        let view = SentView::new(id, None, whole.coarse, whole.whole.clone(), Some(skipped));
        self.encoded += 1;
        Ok(Arc::new(Plan { view: Arc::new(view), coded: planner.coded(id) }))
    }

    /// Plans everything that is due, or the most important entities if not everything fits.
    pub(super) fn plan<'v>(
        &mut self,
        request: &PlanRequest<'_>,
        in_flight: impl Iterator<Item = &'v Arc<SentView>>,
        score: &mut dyn FnMut(usize, u32) -> f32,
    ) -> Result<Arc<Plan>, EncodeError> {
        let &PlanRequest { against, limit_bytes, expects_part, is_later_datagram, only_for } =
            request;
        let whole = self.seen(against)?;
        if expects_part {
            self.compare(against, &whole)?;
        }
        let planner = &self.offers[against.target.codec].planner;
        let hopeless = expects_part && planner.is_hopeless(limit_bytes);
        if !is_later_datagram && !hopeless {
            let plan = self.whole_due(against)?;
            if plan.coded.bytes.len() <= limit_bytes {
                return Ok(plan);
            }
        }
        let in_flight = in_flight.filter(|view| !view.is_complete()).map(|view| view.id).collect();
        let key = PartKey { in_flight, limit_bytes, only_for };
        if let Some(plan) = self.shared[against.shared].parts.get(&key) {
            return Ok(Arc::clone(plan));
        }
        let plan = self.part(against, limit_bytes, score)?;
        self.shared[against.shared].parts.insert(key, Arc::clone(&plan));
        Ok(plan)
    }

    /// The state check of a view.
    pub(super) fn check(&mut self, view: &SentView) -> Result<u16, EncodeError> {
        view.check(&mut self.checked)
    }

    /// Makes the codec's planner compute how `whole` differs from the baseline. `whole` is a
    /// visible state or its coarser form. Does nothing if the planner's last comparison was of the
    /// same two states.
    pub(super) fn compare(
        &mut self,
        against: Against<'_>,
        whole: &SentView,
    ) -> Result<(), EncodeError> {
        let offer = &mut self.offers[against.target.codec];
        let key = Some((against.base.view_ids().collect(), whole.id));
        if offer.compared != key {
            let baseline = self.baselines.baseline(against.base)?;
            offer.planner.compare(&baseline, &whole.whole);
            offer.compared = key;
        }
        Ok(())
    }
}

/// Writes the key of shared work: the target, the ids of the views that make up the baseline, and
/// the ids of the older views and learned models.
fn write_key(base: &ChosenBaseline, target: Target, key: &mut Vec<u64>) {
    /// An id that no view has.
    const SEPARATOR: u64 = u64::MAX;
    key.clear();
    key.extend([target.codec as u64, target.visible as u64]);
    key.extend(base.view_ids());
    key.push(SEPARATOR);
    key.extend(base.history_ids());
}
