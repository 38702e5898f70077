//! What all receivers of a hub share in a tick: plans already made, and the datagrams that wait to
//! go out.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use kinepack::{Codec, EncodeError, EntityId, Level, Schema, Snapshot, Tick, View};

use super::history::Base;
use super::hub::ReceiverId;
use super::plan::{Coded, Plan, Planner};
use super::subjects::Subjects;
use super::view::{LeftOut, SentView, Split};
use crate::baseline::{Known, Merger};

/// The shared part of a hub.
#[derive(Debug)]
pub(super) struct Sending {
    pub(super) subjects: Subjects,
    pub(super) outbox: Outbox,
    /// Scratch: a view whose state check is made.
    checked: Arc<Snapshot>,
    /// The codecs from which receivers choose, at least one.
    pub(super) offers: Vec<Offer>,
    /// The baseline at hand.
    composed: Composed,
    /// Views of this tick as a time precision makes them, by baseline and what is wanted.
    seen: HashMap<(CodedKey, Wanted), Arc<SentView>>,
    /// Plans of this tick for everything, by baseline and what is wanted.
    whole: HashMap<(CodedKey, Wanted), Arc<Plan>>,
    /// Plans of this tick for everything in several datagrams; `None` where those would be too
    /// many.
    splits: HashMap<(CodedKey, Wanted), Option<Parts>>,
    /// Plans of this tick for a part.
    parts: HashMap<PartKey, Arc<Plan>>,
    /// Snapshots encoded in this tick.
    pub(super) encoded: usize,
}

/// A codec that receivers may choose.
#[derive(Debug)]
pub(super) struct Offer {
    pub(super) hash: u64,
    pub(super) level: Level,
    /// How many views older than the baseline its snapshots may be coded against too.
    pub(super) older_views: u8,
    /// What moves is sent coarser.
    has_precision: bool,
    planner: Planner,
    /// What the planner has compared last, with which view.
    compared: Option<(BaseKey, u64)>,
}

/// What a receiver is to get in a tick. Those that want the same relative to the same share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Wanted {
    /// By which codec, as an index of [`Sending::offers`].
    pub(super) codec: usize,
    /// What there is to see, as an index of [`Sending::subjects`].
    pub(super) subject: usize,
}

/// The ids of the views that make a baseline.
type BaseKey = Vec<u64>;

/// What a plan is coded against: the baseline's key, and after a [`SEPARATOR`] the ids of the older
/// views, and of what was learned.
type CodedKey = Vec<u64>;

/// No view's id.
const SEPARATOR: u64 = u64::MAX;

/// The datagrams of one state, for all receivers with the same baseline and codec.
type Parts = Arc<[Arc<Plan>]>;

#[derive(Debug, PartialEq, Eq, Hash)]
struct PartKey {
    coded: CodedKey,
    /// Views on their way in which something was left out: what is in them need not be sent at once
    /// again.
    in_flight: Vec<u64>,
    wanted: Wanted,
    limit_bytes: usize,
    /// Whose weights are its own.
    of: Option<ReceiverId>,
}

/// Datagrams that wait to go out, one behind the other.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    bytes: Vec<u8>,
    parts: VecDeque<(ReceiverId, Range<usize>)>,
}

impl Outbox {
    /// Adds what `write` writes; returns its length.
    pub(super) fn push(&mut self, to: ReceiverId, write: impl FnOnce(&mut Vec<u8>)) -> usize {
        if self.parts.is_empty() {
            self.bytes.clear();
        }
        let begin = self.bytes.len();
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

/// What a plan is made for.
pub(super) struct Order<'a> {
    pub(super) base: &'a Base,
    pub(super) wanted: Wanted,
    pub(super) limit_bytes: usize,
    /// Where the last plan for this receiver had to leave something out, it is not tried to send
    /// everything first.
    pub(super) expects_part: bool,
    /// It is not the first datagram of this tick: what the first had is not sent again, so it
    /// cannot be everything.
    pub(super) goes_on: bool,
    /// Whose weights are its own.
    pub(super) of: Option<ReceiverId>,
}

impl Sending {
    /// Nothing is offered yet.
    pub(super) fn new(schema: &Schema) -> Self {
        Self {
            subjects: Subjects::default(),
            outbox: Outbox::default(),
            checked: Arc::new(Snapshot::new(schema, Tick(0))),
            offers: Vec::new(),
            composed: Composed { last: None, merger: Merger::new(schema) },
            seen: HashMap::new(),
            whole: HashMap::new(),
            splits: HashMap::new(),
            parts: HashMap::new(),
            encoded: 0,
        }
    }

    /// Offers a codec that is not offered yet.
    pub(super) fn offer(&mut self, codec: &Codec, older_views: u8, counts_costs: bool) {
        self.offers.push(Offer {
            hash: codec.hash(),
            level: *codec.level(),
            older_views,
            has_precision: codec.has_precision(),
            planner: Planner::new(codec, counts_costs),
            compared: None,
        });
    }

    /// The index of the codec with this hash, where one is offered.
    pub(super) fn offered(&self, hash: u64) -> Option<usize> {
        self.offers.iter().position(|offer| offer.hash == hash)
    }

    pub(super) fn begin(&mut self, world: &Snapshot) {
        self.seen.clear();
        self.whole.clear();
        self.splits.clear();
        self.parts.clear();
        self.offers.iter_mut().for_each(|offer| offer.compared = None);
        self.encoded = 0;
        self.subjects.begin(world);
    }

    /// How often encoders have run so far, attempts that did not fit included.
    pub(super) fn runs(&self) -> u64 {
        self.offers.iter().map(|offer| offer.planner.runs()).sum()
    }

    /// What a receiver has that gets everything relative to a baseline: what there is to see, where
    /// a codec with a time precision does not make it coarser.
    fn seen(&mut self, base: &Base, wanted: Wanted) -> Result<Arc<SentView>, EncodeError> {
        let exact = self.subjects.view(wanted.subject);
        // Speeds come from older views.
        if !self.offers[wanted.codec].has_precision || base.older.is_empty() {
            return Ok(Arc::clone(exact));
        }
        let key = (coded_key(base), wanted);
        if let Some(view) = self.seen.get(&key) {
            return Ok(Arc::clone(view));
        }
        let known = self.composed.known(base)?;
        let coarse = self.offers[wanted.codec].planner.coarse(&known, exact.whole.snapshot())?;
        let view = self.subjects.coarse_view(wanted.subject, coarse);
        self.seen.insert(key, Arc::clone(&view));
        Ok(view)
    }

    /// Everything, relative to a baseline, however long that is.
    pub(super) fn whole(&mut self, base: &Base, wanted: Wanted) -> Result<Arc<Plan>, EncodeError> {
        let key = (coded_key(base), wanted);
        if let Some(plan) = self.whole.get(&key) {
            return Ok(Arc::clone(plan));
        }
        let id = self.subjects.new_id();
        let view = self.seen(base, wanted)?;
        let planner = &mut self.offers[wanted.codec].planner;
        planner.whole(&self.composed.known(base)?, &view.whole)?;
        let plan = Arc::new(Plan { view, coded: planner.coded(id) });
        self.encoded += 1;
        self.whole.insert(key, Arc::clone(&plan));
        Ok(plan)
    }

    /// Everything in several datagrams of at most `limit_bytes`, for all receivers with this
    /// baseline and codec; `None` where more than `most` were needed.
    pub(super) fn split(
        &mut self,
        base: &Base,
        wanted: Wanted,
        limit_bytes: usize,
        most: usize,
    ) -> Result<Option<Parts>, EncodeError> {
        let key = (coded_key(base), wanted);
        if let Some(parts) = self.splits.get(&key) {
            return Ok(parts.clone());
        }
        let whole = self.seen(base, wanted)?;
        self.compare(base, wanted, &whole)?;
        let known = self.composed.known(base)?;
        let planner = &mut self.offers[wanted.codec].planner;
        let mut parts: Vec<(u64, LeftOut, Coded)> = Vec::new();
        let mut waiting = usize::MAX;
        while waiting > 0 && parts.len() < most {
            let mut score = |id| {
                let is_sent =
                    parts.iter().any(|(_, left_out, ..)| left_out.sent.position(id).is_some());
                if is_sent { 0.0 } else { 1.0 }
            };
            let left_out = planner.part(&known, &whole.whole, limit_bytes, &mut score)?;
            waiting = left_out.waiting;
            let id = self.subjects.new_id();
            parts.push((id, left_out, planner.coded(id)));
            self.encoded += 1;
        }
        let split = Arc::new(Split {
            whole: Arc::clone(&whole),
            parts: parts.iter().map(|(id, ..)| *id).collect(),
        });
        let plan = |(id, left_out, coded): (u64, LeftOut, Coded)| {
            let left_out =
                Some(LeftOut { waiting: 0, split: Some(Arc::clone(&split)), ..left_out });
            let view = SentView::new(id, None, whole.coarse, whole.whole.clone(), left_out);
            Arc::new(Plan { view: Arc::new(view), coded })
        };
        let parts = (waiting == 0).then(|| parts.into_iter().map(plan).collect());
        self.splits.insert(key, parts.clone());
        Ok(parts)
    }

    /// Everything where it fits, else what matters most.
    pub(super) fn plan<'v>(
        &mut self,
        order: &Order<'_>,
        in_flight: impl Iterator<Item = &'v Arc<SentView>>,
        score: &mut dyn FnMut(EntityId) -> f32,
    ) -> Result<Arc<Plan>, EncodeError> {
        let &Order { base, wanted, limit_bytes, expects_part, goes_on, of } = order;
        let whole = self.seen(base, wanted)?;
        if expects_part {
            self.compare(base, wanted, &whole)?;
        }
        let hopeless = expects_part && self.offers[wanted.codec].planner.is_hopeless(limit_bytes);
        if !goes_on && !hopeless {
            let plan = self.whole(base, wanted)?;
            if plan.coded.bytes.len() <= limit_bytes {
                return Ok(plan);
            }
        }
        let in_flight = in_flight.filter(|view| !view.is_whole()).map(|view| view.id).collect();
        let key = PartKey { coded: coded_key(base), in_flight, wanted, limit_bytes, of };
        if let Some(plan) = self.parts.get(&key) {
            return Ok(Arc::clone(plan));
        }
        let id = self.subjects.new_id();
        self.compare(base, wanted, &whole)?;
        let known = self.composed.known(base)?;
        let planner = &mut self.offers[wanted.codec].planner;
        let left_out = planner.part(&known, &whole.whole, limit_bytes, score)?;
        let view = SentView::new(id, None, whole.coarse, whole.whole.clone(), Some(left_out));
        let plan = Arc::new(Plan { view: Arc::new(view), coded: planner.coded(id) });
        self.encoded += 1;
        self.parts.insert(key, Arc::clone(&plan));
        Ok(plan)
    }

    /// The state check of a view.
    pub(super) fn check(&mut self, view: &SentView) -> Result<u16, EncodeError> {
        view.check(&mut self.checked)
    }

    /// Has the codec's planner find what of `whole`, what there is to see or coarser, differs.
    fn compare(
        &mut self,
        base: &Base,
        wanted: Wanted,
        whole: &SentView,
    ) -> Result<(), EncodeError> {
        let offer = &mut self.offers[wanted.codec];
        let key = Some((base_key(base), whole.id));
        if offer.compared != key {
            let baseline = self.composed.baseline(base)?;
            offer.planner.compare(&baseline, &whole.whole);
            offer.compared = key;
        }
        Ok(())
    }
}

fn base_key(base: &Base) -> BaseKey {
    std::iter::once(&base.view).chain(&base.merged).map(|view| view.id).collect()
}

fn coded_key(base: &Base) -> CodedKey {
    if base.older.is_empty() && base.lesson.is_none() {
        return base_key(base);
    }
    let mut key = Vec::with_capacity(1 + base.merged.len() + 1 + base.older.len() + 1);
    key.extend(std::iter::once(&base.view).chain(&base.merged).map(|view| view.id));
    key.push(SEPARATOR);
    key.extend(base.older.iter().map(|(_, view)| view.id));
    key.extend(base.lesson.iter().map(|lesson| lesson.id));
    key
}

/// Makes of bases what snapshots are coded against.
#[derive(Debug)]
struct Composed {
    /// The baseline that was put together last, and of which base.
    last: Option<(BaseKey, View)>,
    merger: Merger,
}

impl Composed {
    /// All that a plan is coded against.
    fn known(&mut self, base: &Base) -> Result<Known, EncodeError> {
        let learned = base.lesson.as_ref().map(|lesson| lesson.learned.clone());
        let baseline = self.baseline(base)?.with_learned(learned);
        // Nothing was left out in the older views.
        Ok(Known {
            baseline,
            older: base.older.iter().map(|(_, view)| view.whole.clone()).collect(),
        })
    }

    /// The baseline: what there was to see in an earlier tick, else put together once.
    fn baseline(&mut self, base: &Base) -> Result<View, EncodeError> {
        let view = &base.view;
        let Some(LeftOut { sent, .. }) = &view.left_out else { return Ok(view.whole.clone()) };
        let key = base_key(base);
        if let Some((of, baseline)) = &self.last
            && *of == key
        {
            return Ok(baseline.clone());
        }
        self.last = None;
        let others = base.merged.iter().filter_map(|view| view.left_out.as_ref());
        let sent: Vec<&Snapshot> =
            std::iter::once(sent).chain(others.map(|left_out| &left_out.sent)).collect();
        let baseline = self.merger.merge(|out| view.write_to(out), &sent)?;
        self.last = Some((key, baseline.clone()));
        Ok(baseline)
    }
}
