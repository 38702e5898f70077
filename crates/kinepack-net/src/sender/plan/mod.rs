//! Chooses the contents of one snapshot: everything, or the most important entities that fit. See
//! `spec/NET.md`, section 4.
//!
//! The codec writes field by field, so an entity has no separate place in the bytes and no exact
//! price. The planner ranks the entities that differ, guesses from earlier plans how many fit,
//! encodes, and corrects the guess. A few rounds fill the datagram to 94 % or more. Cost: a
//! comparison of all entities, a sort of the differing entities, and two or three encodings of the
//! chosen ones. If entities were added or removed, each encoding covers all entities.

mod turn;

use std::sync::Arc;

use kinepack::codec::{Chosen, Difference, Learned};
use kinepack::{Codec, EncodeError, Encoder, EntityId, Snapshot, Tick};

use super::rates::Rates;
use super::view::{Held, LearnedModels, Rows, SentView, Skipped};
use crate::Cost;
use crate::baseline::BaselineViews;

use turn::TurnSets;

/// An encoded snapshot. The hub can send it to every receiver with the same baseline and target.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) view: Arc<SentView>,
    pub(super) coded: Coded,
}

/// Which of the entities that differ from a baseline are due in a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    All,
    /// Some entities are due. The others belong to kinds that rest.
    Some,
    Nothing,
}

/// The result of an encoding.
#[derive(Debug)]
pub(super) struct Coded {
    pub(super) bytes: Vec<u8>,
    /// The learned models, if the codec learns.
    pub(super) models: Option<LearnedModels>,
    /// The cost of the encoding, if the hub counts costs.
    pub(super) cost: Option<Arc<Cost>>,
}

impl Coded {
    /// Returns the same encoding, but its learned models have the number `id`.
    pub(super) fn with_id(mut self, id: u64) -> Self {
        self.models.iter_mut().for_each(|models| models.id = id);
        self
    }
}

/// Makes plans, and reuses memory.
#[derive(Debug)]
pub(super) struct Planner {
    codec: Codec,
    encoder: Encoder,
    difference: Difference,
    /// What changed since each of the last two datagrams.
    since: [Difference; 2],
    sets: TurnSets,
    /// Whether the two compared states have the same entities, so that no entity was added or
    /// removed.
    same_entities: bool,
    items: Vec<Item>,
    chosen: Vec<u32>,
    removed: Vec<EntityId>,
    rows: Snapshot,
    target: Snapshot,
    bytes: Vec<u8>,
    counts_costs: bool,
    /// The models that the codec had learned after `bytes`.
    learned: Option<Learned>,
    /// The cost of `bytes`.
    cost: Option<Arc<Cost>>,
    /// The average number of bits of an entity in recent encodings, from which the planner guesses
    /// how many entities fit.
    bits_per_item: f64,
    /// How many times the encoder has run.
    runs: u64,
    /// The number of entities in the last part.
    items_coded: usize,
}

/// An entity that differs from the baseline.
#[derive(Clone, Copy, Debug)]
struct Item {
    score: f32,
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Removed(EntityId),
    /// The entity was added or changed, and has this index in the visible state.
    Present(u32),
}

/// The room for a part of the differing entities.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) limit_bytes: usize,
    /// How many entities to try first, if other datagrams follow. Then any entities may be those
    /// that do not fit. Without this number, the planner guesses it from earlier plans.
    pub(super) first: Option<usize>,
}

/// The maximum number of rounds in which the planner corrects its guess.
const ROUNDS: u32 = 6;
/// Up to one in this many chosen entities may be dropped for lack of room. A full packet drops the
/// last entities in coding order, whatever their score.
const MOST_UNSENT: usize = 16;
/// The planner stops improving a plan that fills this share of the datagram.
const FULL: f64 = 0.94;

impl Planner {
    pub(super) fn new(codec: &Codec, counts_costs: bool) -> Self {
        let empty = Snapshot::new(codec.schema(), Tick(0));
        let mut encoder = Encoder::new(codec);
        encoder.count_entity_bits(counts_costs);
        Self {
            codec: codec.clone(),
            encoder,
            difference: Difference::default(),
            since: Default::default(),
            sets: TurnSets::default(),
            same_entities: false,
            items: Vec::new(),
            chosen: Vec::new(),
            removed: Vec::new(),
            rows: empty.clone(),
            target: empty,
            bytes: Vec::new(),
            counts_costs,
            learned: None,
            cost: None,
            bits_per_item: 80.0,
            runs: 0,
            items_coded: 0,
        }
    }

    /// A new planner for the same codec.
    pub(super) fn another(&self) -> Self {
        Self::new(&self.codec, self.counts_costs)
    }

    /// Whether the encoder ended the last part because the datagram was full.
    pub(super) fn has_stopped(&self) -> bool {
        !self.encoder.unsent().is_empty()
    }

    /// The number of entities in the last part.
    pub(super) fn items_coded(&self) -> usize {
        self.items_coded
    }

    /// How many times the encoder has run.
    pub(super) fn runs(&self) -> u64 {
        self.runs
    }

    /// The coarser state that a receiver holds after it got all of `visible` coded against `known`.
    pub(super) fn coarse(
        &mut self,
        known: &BaselineViews,
        visible: &Arc<Snapshot>,
    ) -> Result<Arc<Snapshot>, EncodeError> {
        self.encoder.coarse(known.baselines()?, visible)
    }

    /// Encodes all entities that differ between `known` and `visible`. Returns the number of these
    /// entities.
    pub(super) fn whole(
        &mut self,
        known: &BaselineViews,
        visible: &Snapshot,
    ) -> Result<usize, EncodeError> {
        self.bytes.clear();
        self.runs += 1;
        let encoded =
            self.encoder.write(known.baselines()?, visible, Chosen::All, &mut self.bytes)?;
        self.learned = encoded.learned().cloned();
        let items = encoded.size().changed_entities;
        self.note_whole(self.bytes.len(), items);
        self.cost = self.count(&known.baseline, visible)?;
        Ok(items)
    }

    /// Takes over an encoding of everything that another planner of the same codec made. From then
    /// on, this planner behaves as if it had made the encoding itself.
    pub(super) fn adopt_whole(&mut self, coded: &Coded, items: usize) {
        self.runs += 1;
        self.note_whole(coded.bytes.len(), items);
    }

    /// Takes over a part of `items` entities, for which the encoder of another planner of the same
    /// codec ran `runs` times. See [`adopt_whole`](Self::adopt_whole).
    pub(super) fn adopt_part(&mut self, coded: &Coded, items: usize, runs: u64) {
        self.runs += runs;
        self.note_part(coded.bytes.len(), items);
    }

    fn note_whole(&mut self, bytes: usize, items: usize) {
        if items > 0 {
            // If not everything fits, this average is a good first guess for the entities of a
            // part.
            self.bits_per_item = bytes as f64 * 8.0 / items as f64;
        }
    }

    /// Finds the entities that differ. Call this before [`is_hopeless`](Self::is_hopeless) and
    /// [`part`](Self::part), with the same arguments.
    pub(super) fn compare(&mut self, base: &Snapshot, visible: &Snapshot) {
        self.difference.find(base, visible);
        self.same_entities = base.has_same_entities(visible);
    }

    /// Returns whether an encoding of all differing entities cannot fit, because they are too many.
    pub(super) fn is_hopeless(&self, limit_bytes: usize) -> bool {
        self.difference.sent.len() as f64 * self.bits_per_item > 1.5 * 8.0 * limit_bytes as f64
    }

    /// Which of the differing entities are due. Call [`compare`](Self::compare) first.
    pub(super) fn due(&self, base: &Snapshot, visible: &Snapshot, rates: &Rates) -> Due {
        let Difference { removed, sent, .. } = &self.difference;
        let resting = sent.iter().filter(|index| self.rests(base, visible, rates, **index)).count();
        match resting {
            0 => Due::All,
            _ if resting == sent.len() && removed.is_empty() => Due::Nothing,
            _ => Due::Some,
        }
    }

    /// Whether the entity at `index` was changed and belongs to a kind that is not due. Added
    /// entities are always due.
    fn rests(&self, base: &Snapshot, visible: &Snapshot, rates: &Rates, index: u32) -> bool {
        let Some(kind) = visible.kind_at(index as usize) else { return false };
        if rates.is_due(kind) {
            return false;
        }
        let id = visible.ids()[index as usize];
        self.same_entities
            || base.position_of(kind, id).is_some()
                && self.difference.removed.binary_search(&id).is_err()
    }

    /// Encodes the entities that are due and fit in `limit_bytes`. Removed entities come first,
    /// then the others in falling order of `score`, which takes a kind and the index of an entity. Entities with a
    /// score of 0 or below are not sent. Returns what was skipped.
    pub(super) fn part(
        &mut self,
        known: &BaselineViews,
        visible: &Arc<Snapshot>,
        rates: &Rates,
        room: Room,
        score: &mut dyn FnMut(usize, u32) -> f32,
    ) -> Result<Skipped, EncodeError> {
        self.items.clear();
        let removed_items = self
            .difference
            .removed
            .iter()
            .map(|id| Item { score: f32::INFINITY, what: What::Removed(*id) });
        self.items.extend(removed_items);
        let ids = visible.ids();
        for &index in &self.difference.sent {
            let what = What::Present(index);
            let score = match visible.kind_at(index as usize) {
                Some(_) if self.rests(&known.baseline, visible, rates, index) => 0.0,
                Some(kind) => score(kind, index),
                None => 0.0,
            };
            self.items.push(Item { score, what });
        }
        // The sort is stable, so entities with equal scores stay in the order of their ids.
        self.items.sort_by(|a, b| b.score.total_cmp(&a.score));

        let wanted = self.items.partition_point(|item| item.score > 0.0);
        let count = self.fit(known, visible, wanted, room)?;
        self.cost =
            self.count(&known.baseline, if self.same_entities { visible } else { &self.target })?;
        let mut old = Snapshot::new_like(&known.baseline);
        let mut unknown = Vec::new();
        let mut skipped = Vec::new();
        for item in &self.items[count..] {
            let (id, place) = match item.what {
                What::Present(index) if self.same_entities => {
                    skipped.push(index);
                    continue;
                }
                // If the receiver has another entity with this id, that entity has its own item,
                // among the removed ones.
                What::Present(index) => {
                    let id = ids[index as usize];
                    let is_another = self.difference.removed.binary_search(&id).is_ok();
                    (id, known.baseline.position(id).filter(|_| !is_another))
                }
                What::Removed(id) => (id, known.baseline.position(id)),
            };
            match place {
                Some(place) => skipped.push(place as u32),
                None => unknown.push(id),
            }
        }
        skipped.extend_from_slice(self.encoder.unsent());
        skipped.sort_unstable();
        unknown.sort_unstable();
        old.gather(&known.baseline, &skipped)?;
        Ok(Skipped {
            held: Held::Except { old, unknown },
            sent: Rows::new(visible, &self.chosen),
            removed: self.removed.as_slice().into(),
            waiting: wanted - count + self.encoder.unsent().len(),
            split: None,
            turn: None,
        })
    }

    /// Returns the last encoding. The models that it learned get the number `id`.
    pub(super) fn coded(&self, id: u64) -> Coded {
        let models =
            self.learned.as_ref().map(|learned| LearnedModels { id, learned: learned.clone() });
        Coded { bytes: self.bytes.clone(), models, cost: self.cost.clone() }
    }

    /// The cost of the last encoding.
    fn count(&self, base: &Snapshot, encoded: &Snapshot) -> Result<Option<Arc<Cost>>, EncodeError> {
        if !self.counts_costs {
            return Ok(None);
        }
        Ok(Some(Arc::new(Cost::new(&self.encoder, base, encoded, self.bytes.len())?)))
    }

    /// Encodes as many of the first `all` items as fit, and returns how many it encoded.
    fn fit(
        &mut self,
        known: &BaselineViews,
        visible: &Snapshot,
        all: usize,
        Room { limit_bytes, first }: Room,
    ) -> Result<usize, EncodeError> {
        let limit = limit_bytes as f64;
        // The first `fits` items are known to fit. The first `too_many` items do not fit, or there
        // are fewer items.
        let (mut fits, mut too_many) = (0, all + 1);
        let expected = (limit * 0.97 * 8.0 / self.bits_per_item) as usize;
        let mut guess = first.unwrap_or(expected).clamp(1, all.max(1)).min(all);
        let mut encoded = None;
        for _ in 0..ROUNDS {
            let bytes = self.encode(known, visible, guess, limit_bytes)?;
            encoded = Some(guess);
            let unsent = self.encoder.unsent().len();
            let may_drop = first.is_some() || unsent <= guess / MOST_UNSENT;
            if unsent > 0 && may_drop && bytes <= limit_bytes {
                fits = guess;
                break;
            }
            // If the encoder stopped early, estimate the size of all items.
            let share = limit / bytes as f64 * (guess - unsent) as f64 / guess.max(1) as f64;
            let bytes = if unsent > 0 { bytes.max(limit_bytes + 1) } else { bytes };
            if bytes <= limit_bytes {
                fits = guess;
                if guess == all || share * FULL <= 1.0 {
                    break;
                }
            } else {
                too_many = guess;
            }
            if too_many - fits <= 1 {
                break;
            }
            guess = ((guess as f64 * share * 0.98) as usize).clamp(fits + 1, too_many - 1);
        }
        while encoded != Some(fits) {
            // An empty snapshot takes a few bytes, so this loop ends.
            encoded = Some(fits);
            if self.encode(known, visible, fits, usize::MAX)? > limit_bytes {
                fits /= 2;
            }
        }
        // The few entities that had no room at the end are not those with the lowest scores.
        let unsent = self.encoder.unsent();
        self.chosen.retain(|index| unsent.binary_search(index).is_err());
        self.items_coded = fits - unsent.len();
        self.note_part(self.bytes.len(), self.items_coded);
        Ok(fits)
    }

    /// Takes the size of a part into account in later guesses.
    fn note_part(&mut self, bytes: usize, items: usize) {
        if items > 0 {
            let bits = bytes as f64 * 8.0 / items as f64;
            self.bits_per_item = (self.bits_per_item * 3.0 + bits) / 4.0;
        }
    }

    /// Encodes the first `count` items into `bytes`. If the codec can check the limit while it
    /// encodes, it stops when the packet is full. Returns the length of `bytes`.
    fn encode(
        &mut self,
        known: &BaselineViews,
        visible: &Snapshot,
        count: usize,
        limit_bytes: usize,
    ) -> Result<usize, EncodeError> {
        self.runs += 1;
        self.chosen.clear();
        self.removed.clear();
        for item in &self.items[..count] {
            match item.what {
                What::Removed(id) => self.removed.push(id),
                What::Present(index) => self.chosen.push(index),
            }
        }
        self.chosen.sort_unstable();
        self.bytes.clear();
        let baselines = known.baselines()?;
        let encoded = if self.same_entities {
            let chosen = Chosen::Some { indices: &self.chosen, limit_bytes };
            self.encoder.write(baselines, visible, chosen, &mut self.bytes)?
        } else {
            self.rows.gather(visible, &self.chosen)?;
            self.target.copy_from(&known.baseline);
            self.target.patch(&self.removed, &self.rows)?;
            // A codec may use the distance between the ticks of baseline and target.
            self.target.tick = visible.tick;
            self.encoder.write(baselines, &self.target, Chosen::All, &mut self.bytes)?
        };
        self.learned = encoded.learned().cloned();
        Ok(self.bytes.len())
    }
}
