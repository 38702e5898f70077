//! What all receivers of a hub share in a tick: finished plans, and datagrams that wait to go out.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use kinepack::{Codec, EncodeError, EntityId, Level, Schema, Snapshot, Tick, View};

use super::encodings::{Ahead, Made};
use super::history::ChosenBaseline;
use super::hub::ReceiverId;
use super::plan::{Coded, Due, Plan, Planner};
use super::rates::Rates;
use super::subjects::Subjects;
use super::view::{PartSet, SentView, Skipped};
use crate::Channel;
use crate::baseline::{BaselineViews, MergeKey, Merger};
use crate::events::EventWriter;

/// The shared part of a hub.
#[derive(Debug)]
pub(super) struct Sending {
    pub(super) subjects: Subjects,
    pub(super) outbox: Outbox,
    /// Which kinds are due.
    pub(super) rates: Rates,
    /// `None` without events.
    pub(super) events: Option<EventWriter>,
    /// Scratch: a view while its state check is computed.
    checked: Arc<Snapshot>,
    /// The codecs that receivers may choose, at least one.
    pub(super) offers: Vec<OfferedCodec>,
    pub(super) schema: Schema,
    /// Builds baselines.
    baselines: BaselineCache,
    /// The encodings that the caller's threads have already made.
    pub(super) ahead: Ahead,
    /// This tick's views, as coarse as a time precision makes them, by baseline and target.
    seen: HashMap<(CodedKey, Target), Arc<SentView>>,
    /// This tick's plans for everything in one datagram, by baseline and target.
    whole: HashMap<(CodedKey, Target), Arc<Plan>>,
    /// While some kinds rest: what is due, by baseline and target.
    due: HashMap<(CodedKey, Target), Due>,
    /// While some kinds rest: plans for what is due, in one datagram.
    due_plans: HashMap<(CodedKey, Target), Arc<Plan>>,
    /// This tick's plans for everything in several datagrams; `None` if there would be too many.
    splits: HashMap<(CodedKey, Target), Option<Parts>>,
    /// This tick's plans for a part.
    parts: HashMap<PartKey, Arc<Plan>>,
    /// The number of snapshots encoded in this tick.
    pub(super) encoded: usize,
}

/// A codec that receivers may choose.
#[derive(Debug)]
pub(super) struct OfferedCodec {
    pub(super) hash: u64,
    pub(super) level: Level,
    /// How many older views its snapshots may use.
    pub(super) older_views: u8,
    /// The codec has a time precision: moving entities are sent with coarser values.
    has_precision: bool,
    pub(super) planner: Planner,
    /// The baseline and the view that the planner compared last.
    compared: Option<(BaseKey, u64)>,
}

impl OfferedCodec {
    /// Whether a time precision applies to snapshots coded against a baseline. It computes speeds
    /// from older views, so it needs some.
    pub(super) fn is_coarse(&self, base: &ChosenBaseline) -> bool {
        self.has_precision && !base.older.is_empty()
    }
}

/// What a receiver should get in a tick. Receivers with the same target and baseline share work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Target {
    /// Index in [`Sending::offers`].
    pub(super) codec: usize,
    /// Index in [`Sending::subjects`].
    pub(super) subject: usize,
}

/// The ids of the views that make up a baseline.
type BaseKey = MergeKey;

/// Identifies all that a plan is coded against: the baseline's key, then a [`SEPARATOR`] and the
/// ids of the older views and the learned models.
pub(super) type CodedKey = Vec<u64>;

/// An id that no view has.
const SEPARATOR: u64 = u64::MAX;

/// The datagrams of one state, for all receivers with the same baseline and codec.
type Parts = Arc<[Arc<Plan>]>;

#[derive(Debug, PartialEq, Eq, Hash)]
struct PartKey {
    coded: CodedKey,
    /// Ids of the partial views in flight, whose entities need not be sent again at once.
    in_flight: Vec<u64>,
    target: Target,
    limit_bytes: usize,
    /// The receiver, if the caller gave weights. They apply to this receiver alone, so no other one
    /// can share the plan.
    only_for: Option<ReceiverId>,
}

/// Datagrams that wait to go out, in one buffer.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    channel: Channel,
    bytes: Vec<u8>,
    parts: VecDeque<(ReceiverId, Range<usize>)>,
}

impl Outbox {
    /// Adds a datagram that `write` writes, and returns its length.
    pub(super) fn push(&mut self, to: ReceiverId, write: impl FnOnce(&mut Vec<u8>)) -> usize {
        if self.parts.is_empty() {
            self.bytes.clear();
        }
        let begin = self.bytes.len();
        self.channel.write(&mut self.bytes);
        write(&mut self.bytes);
        self.parts.push_back((to, begin..self.bytes.len()));
        self.bytes.len() - begin
    }

    pub(super) fn pop(&mut self) -> Option<(ReceiverId, &[u8])> {
        let (to, range) = self.parts.pop_front()?;
        Some((to, &self.bytes[range]))
    }

    pub(super) fn forget(&mut self, receiver: ReceiverId) {
        self.parts.retain(|(to, _)| *to != receiver);
    }
}

/// A request for a plan.
pub(super) struct PlanRequest<'a> {
    pub(super) base: &'a ChosenBaseline,
    pub(super) target: Target,
    pub(super) limit_bytes: usize,
    /// The last plan for this receiver skipped something, so do not first try to send everything.
    pub(super) expects_part: bool,
    /// This is not the first datagram of the tick. It does not repeat what the first one had, so it
    /// cannot be complete.
    pub(super) is_later_datagram: bool,
    /// The receiver, if the caller gave weights. They apply to this receiver alone, so no other one
    /// can share the plan.
    pub(super) only_for: Option<ReceiverId>,
}

impl Sending {
    /// The shared part of a hub that does not offer any codec yet.
    pub(super) fn new(schema: &Schema, channel: Channel) -> Self {
        Self {
            subjects: Subjects::default(),
            outbox: Outbox { channel, ..Outbox::default() },
            rates: Rates::new(schema),
            events: None,
            checked: Arc::new(Snapshot::new(schema, Tick(0))),
            offers: Vec::new(),
            schema: schema.clone(),
            baselines: BaselineCache::new(schema),
            ahead: Ahead::default(),
            seen: HashMap::new(),
            whole: HashMap::new(),
            due: HashMap::new(),
            due_plans: HashMap::new(),
            splits: HashMap::new(),
            parts: HashMap::new(),
            encoded: 0,
        }
    }

    /// Offers a codec that is not offered yet.
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

    /// The index of the codec with this hash, if it is offered.
    pub(super) fn offered(&self, hash: u64) -> Option<usize> {
        self.offers.iter().position(|offer| offer.hash == hash)
    }

    pub(super) fn begin(&mut self, world: &Snapshot) {
        self.seen.clear();
        self.whole.clear();
        self.due.clear();
        self.due_plans.clear();
        self.splits.clear();
        self.parts.clear();
        self.ahead.made.clear();
        if let Some(events) = &mut self.events {
            events.begin();
        }
        self.offers.iter_mut().for_each(|offer| offer.compared = None);
        self.encoded = 0;
        self.rates.begin();
        self.subjects.begin(world);
    }

    /// How often encoders have run in total, including attempts that did not fit.
    pub(super) fn runs(&self) -> u64 {
        self.offers.iter().map(|offer| offer.planner.runs()).sum()
    }

    /// The view of a receiver that gets everything coded against a baseline: the subject, made
    /// coarser if the codec has a time precision.
    fn seen(
        &mut self,
        base: &ChosenBaseline,
        target: Target,
    ) -> Result<Arc<SentView>, EncodeError> {
        let exact = self.subjects.view(target.subject);
        if !self.offers[target.codec].is_coarse(base) {
            return Ok(Arc::clone(exact));
        }
        let key = (coded_key(base), target);
        if let Some(view) = self.seen.get(&key) {
            return Ok(Arc::clone(view));
        }
        let coarse = match self.ahead.made.get(&key) {
            Some(Made { coarse: Some(coarse), .. }) => Arc::clone(coarse),
            _ => {
                let known = self.baselines.known(base)?;
                self.offers[target.codec].planner.coarse(&known, exact.whole.snapshot())?
            }
        };
        let view = self.subjects.coarse_view(target.subject, coarse);
        self.seen.insert(key, Arc::clone(&view));
        Ok(view)
    }

    /// A plan for everything, coded against a baseline, whatever its length.
    pub(super) fn whole(
        &mut self,
        base: &ChosenBaseline,
        target: Target,
    ) -> Result<Arc<Plan>, EncodeError> {
        let key = (coded_key(base), target);
        if let Some(plan) = self.whole.get(&key) {
            return Ok(Arc::clone(plan));
        }
        let id = self.subjects.new_id();
        let view = self.seen(base, target)?;
        let planner = &mut self.offers[target.codec].planner;
        let coded = match self.ahead.made.remove(&key) {
            Some(Made { coded, items, .. }) => {
                planner.adopt_whole(&coded, items);
                coded.with_id(id)
            }
            None => {
                planner.whole(&self.baselines.known(base)?, &view.whole)?;
                planner.coded(id)
            }
        };
        let plan = Arc::new(Plan { view, coded });
        self.encoded += 1;
        self.whole.insert(key, Arc::clone(&plan));
        Ok(plan)
    }

    /// Whether a snapshot coded against a baseline would have anything that is due.
    pub(super) fn is_anything_due(
        &mut self,
        base: &ChosenBaseline,
        target: Target,
    ) -> Result<bool, EncodeError> {
        Ok(self.due(base, target)? != Due::Nothing)
    }

    /// A plan for everything that is due, coded against a baseline, whatever its length.
    pub(super) fn whole_due(
        &mut self,
        base: &ChosenBaseline,
        target: Target,
    ) -> Result<Arc<Plan>, EncodeError> {
        if self.due(base, target)? == Due::All {
            return self.whole(base, target);
        }
        let key = (coded_key(base), target);
        if let Some(plan) = self.due_plans.get(&key) {
            return Ok(Arc::clone(plan));
        }
        let plan = self.part(base, target, usize::MAX, &mut |_, _| 1.0)?;
        self.due_plans.insert(key, Arc::clone(&plan));
        Ok(plan)
    }

    fn due(&mut self, base: &ChosenBaseline, target: Target) -> Result<Due, EncodeError> {
        if self.rates.are_all_due() {
            return Ok(Due::All);
        }
        let key = (coded_key(base), target);
        if let Some(due) = self.due.get(&key) {
            return Ok(*due);
        }
        let whole = self.seen(base, target)?;
        self.compare(base, target, &whole)?;
        let baseline = self.baselines.baseline(base)?;
        let due = self.offers[target.codec].planner.due(&baseline, &whole.whole, &self.rates);
        self.due.insert(key, due);
        Ok(due)
    }

    /// A plan for the most important entities whose kinds are due, in at most `limit_bytes`.
    fn part(
        &mut self,
        base: &ChosenBaseline,
        target: Target,
        limit_bytes: usize,
        score: &mut dyn FnMut(usize, EntityId) -> f32,
    ) -> Result<Arc<Plan>, EncodeError> {
        let id = self.subjects.new_id();
        let whole = self.seen(base, target)?;
        self.compare(base, target, &whole)?;
        let known = self.baselines.known(base)?;
        let planner = &mut self.offers[target.codec].planner;
        let skipped = planner.part(&known, &whole.whole, &self.rates, limit_bytes, score)?;
        let view = SentView::new(id, None, whole.coarse, whole.whole.clone(), Some(skipped));
        self.encoded += 1;
        Ok(Arc::new(Plan { view: Arc::new(view), coded: planner.coded(id) }))
    }

    /// Plans for everything in several datagrams of at most `limit_bytes`, for all receivers with
    /// this baseline and codec; `None` if that needs more than `most` datagrams, or if some kinds
    /// rest.
    pub(super) fn split(
        &mut self,
        base: &ChosenBaseline,
        target: Target,
        limit_bytes: usize,
        most: usize,
    ) -> Result<Option<Parts>, EncodeError> {
        if !self.rates.are_all_due() {
            // Parts without the entities that rest would not be the complete state.
            return Ok(None);
        }
        let key = (coded_key(base), target);
        if let Some(parts) = self.splits.get(&key) {
            return Ok(parts.clone());
        }
        let whole = self.seen(base, target)?;
        self.compare(base, target, &whole)?;
        let known = self.baselines.known(base)?;
        let planner = &mut self.offers[target.codec].planner;
        let mut parts: Vec<(u64, Skipped, Coded)> = Vec::new();
        let mut waiting = usize::MAX;
        while waiting > 0 && parts.len() < most {
            let mut score = |_: usize, id| {
                let is_sent =
                    parts.iter().any(|(_, skipped, ..)| skipped.sent.position(id).is_some());
                if is_sent { 0.0 } else { 1.0 }
            };
            let skipped =
                planner.part(&known, &whole.whole, &self.rates, limit_bytes, &mut score)?;
            waiting = skipped.waiting;
            let id = self.subjects.new_id();
            parts.push((id, skipped, planner.coded(id)));
            self.encoded += 1;
        }
        let split = Arc::new(PartSet {
            whole: Arc::clone(&whole),
            parts: parts.iter().map(|(id, ..)| *id).collect(),
        });
        let plan = |(id, skipped, coded): (u64, Skipped, Coded)| {
            let skipped = Some(Skipped { waiting: 0, split: Some(Arc::clone(&split)), ..skipped });
            let view = SentView::new(id, None, whole.coarse, whole.whole.clone(), skipped);
            Arc::new(Plan { view: Arc::new(view), coded })
        };
        let parts = (waiting == 0).then(|| parts.into_iter().map(plan).collect());
        self.splits.insert(key, parts.clone());
        Ok(parts)
    }

    /// A plan for everything that is due if it fits, else for the most important entities.
    pub(super) fn plan<'v>(
        &mut self,
        order: &PlanRequest<'_>,
        in_flight: impl Iterator<Item = &'v Arc<SentView>>,
        score: &mut dyn FnMut(usize, EntityId) -> f32,
    ) -> Result<Arc<Plan>, EncodeError> {
        let &PlanRequest { base, target, limit_bytes, expects_part, is_later_datagram, only_for } =
            order;
        let whole = self.seen(base, target)?;
        if expects_part {
            self.compare(base, target, &whole)?;
        }
        let hopeless = expects_part && self.offers[target.codec].planner.is_hopeless(limit_bytes);
        if !is_later_datagram && !hopeless {
            let plan = self.whole_due(base, target)?;
            if plan.coded.bytes.len() <= limit_bytes {
                return Ok(plan);
            }
        }
        let in_flight = in_flight.filter(|view| !view.is_complete()).map(|view| view.id).collect();
        let key = PartKey { coded: coded_key(base), in_flight, target, limit_bytes, only_for };
        if let Some(plan) = self.parts.get(&key) {
            return Ok(Arc::clone(plan));
        }
        let plan = self.part(base, target, limit_bytes, score)?;
        self.parts.insert(key, Arc::clone(&plan));
        Ok(plan)
    }

    /// The state check of a view.
    pub(super) fn check(&mut self, view: &SentView) -> Result<u16, EncodeError> {
        view.check(&mut self.checked)
    }

    /// Makes the codec's planner compute how `whole`, a subject or its coarser form, differs from
    /// `base`. Does nothing if the planner compared the same two last.
    fn compare(
        &mut self,
        base: &ChosenBaseline,
        target: Target,
        whole: &SentView,
    ) -> Result<(), EncodeError> {
        let offer = &mut self.offers[target.codec];
        let key = Some((base_key(base), whole.id));
        if offer.compared != key {
            let baseline = self.baselines.baseline(base)?;
            offer.planner.compare(&baseline, &whole.whole);
            offer.compared = key;
        }
        Ok(())
    }
}

fn base_key(base: &ChosenBaseline) -> BaseKey {
    std::iter::once(&base.view).chain(&base.merged).map(|view| view.id).collect()
}

pub(super) fn coded_key(base: &ChosenBaseline) -> CodedKey {
    if base.older.is_empty() && base.models.is_none() {
        return base_key(base);
    }
    let mut key = Vec::with_capacity(1 + base.merged.len() + 1 + base.older.len() + 1);
    key.extend(std::iter::once(&base.view).chain(&base.merged).map(|view| view.id));
    key.push(SEPARATOR);
    key.extend(base.older.iter().map(|(_, view)| view.id));
    key.extend(base.models.iter().map(|models| models.id));
    key
}

/// Builds the views that snapshots are coded against.
#[derive(Debug)]
pub(super) struct BaselineCache {
    merger: Merger,
}

impl BaselineCache {
    pub(super) fn new(schema: &Schema) -> Self {
        Self { merger: Merger::new(schema) }
    }

    /// All views that a plan is coded against.
    pub(super) fn known(&mut self, base: &ChosenBaseline) -> Result<BaselineViews, EncodeError> {
        let learned = base.models.as_ref().map(|models| models.learned.clone());
        let baseline = self.baseline(base)?.with_learned(learned);
        // Older views are complete, so they need no merging.
        Ok(BaselineViews {
            baseline,
            older: base.older.iter().map(|(_, view)| view.whole.clone()).collect(),
        })
    }

    /// The baseline: an earlier subject, or a merged view.
    fn baseline(&mut self, base: &ChosenBaseline) -> Result<View, EncodeError> {
        let view = &base.view;
        let Some(Skipped { sent, .. }) = &view.skipped else { return Ok(view.whole.clone()) };
        let key = base_key(base);
        if let Some(made) = self.merger.made(&key) {
            return Ok(made);
        }
        let others = base.merged.iter().filter_map(|view| view.skipped.as_ref());
        let sent: Vec<&Snapshot> =
            std::iter::once(sent).chain(others.map(|skipped| &skipped.sent)).collect();
        self.merger.merge(key, |out| view.write_to(out), &sent)
    }
}
