//! What goes into one snapshot: everything, or what matters most of what fits. `spec/NET.md`,
//! section 4.
//!
//! The codec writes field by field, so an entity has no place of its own in the bytes and no exact
//! price. The planner ranks what differs, guesses from earlier plans how many fit, encodes, and
//! corrects the guess; a few rounds fill the datagram to 94 % or more. Cost: a comparison of all
//! entities, a sort of those that differ, and two or three encodings of those chosen; where
//! entities come or go, of all.

use std::sync::Arc;

use kinepack::codec::{Chosen, Difference, Learned};
use kinepack::{Codec, EncodeError, Encoder, EntityId, Snapshot, Tick};

use super::cost::Cost;
use super::view::{LeftOut, Lesson, SentView};
use crate::baseline::Known;

/// A snapshot ready to be sent to every receiver that has the same baseline.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) view: Arc<SentView>,
    pub(super) coded: Coded,
}

/// What a planner made.
#[derive(Debug)]
pub(super) struct Coded {
    pub(super) bytes: Vec<u8>,
    /// Where the codec learns.
    pub(super) lesson: Option<Lesson>,
    /// Where the hub counts costs.
    pub(super) cost: Option<Arc<Cost>>,
}

/// Makes plans. Keeps its memory.
#[derive(Debug)]
pub(super) struct Planner {
    encoder: Encoder,
    difference: Difference,
    /// Nobody came or left.
    same_entities: bool,
    items: Vec<Item>,
    chosen: Vec<u32>,
    gone: Vec<EntityId>,
    rows: Snapshot,
    target: Snapshot,
    bytes: Vec<u8>,
    counts_costs: bool,
    /// What the codec had learned at the end of `bytes`.
    learned: Option<Learned>,
    /// Of `bytes`.
    cost: Option<Arc<Cost>>,
    /// What an entity cost lately.
    bits_per_item: f64,
    /// How often the encoder has run.
    runs: u64,
}

/// Something that differs from the baseline.
#[derive(Clone, Copy, Debug)]
struct Item {
    score: f32,
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Left(EntityId),
    /// Came or changed; where the subject has it.
    Present(u32),
}

/// Rounds of correcting the guess.
const ROUNDS: u32 = 6;
/// One in so many of those chosen may find no room: where the coder ends a packet on the way, it is
/// not by score who is left out.
const MOST_UNSENT: usize = 16;
/// A datagram filled to this share is full.
const FULL: f64 = 0.94;

impl Planner {
    pub(super) fn new(codec: &Codec, counts_costs: bool) -> Self {
        let empty = Snapshot::new(codec.schema(), Tick(0));
        let mut encoder = Encoder::new(codec);
        encoder.count_entity_bits(counts_costs);
        Self {
            encoder,
            difference: Difference::default(),
            same_entities: false,
            items: Vec::new(),
            chosen: Vec::new(),
            gone: Vec::new(),
            rows: empty.clone(),
            target: empty,
            bytes: Vec::new(),
            counts_costs,
            learned: None,
            cost: None,
            bits_per_item: 80.0,
            runs: 0,
        }
    }

    /// How often the encoder has run.
    pub(super) fn runs(&self) -> u64 {
        self.runs
    }

    /// What a receiver has that gets all of `subject` relative to `known`.
    pub(super) fn coarse(
        &mut self,
        known: &Known,
        subject: &Arc<Snapshot>,
    ) -> Result<Arc<Snapshot>, EncodeError> {
        self.encoder.coarse(known.baselines()?, subject)
    }

    /// Everything that differs.
    pub(super) fn whole(&mut self, known: &Known, subject: &Snapshot) -> Result<(), EncodeError> {
        self.bytes.clear();
        self.runs += 1;
        let encoded =
            self.encoder.write(known.baselines()?, subject, Chosen::All, &mut self.bytes)?;
        self.learned = encoded.learned().cloned();
        let items = encoded.size().changed_entities;
        if items > 0 {
            // Should it not fit, the first guess is good.
            self.bits_per_item = self.bytes.len() as f64 * 8.0 / items as f64;
        }
        self.cost = self.count(&known.baseline, subject)?;
        Ok(())
    }

    /// Finds what differs: to be called before [`is_hopeless`](Self::is_hopeless) and
    /// [`part`](Self::part) with the same two.
    pub(super) fn compare(&mut self, base: &Snapshot, subject: &Snapshot) {
        self.difference.find(base, subject);
        self.same_entities = base.ids() == subject.ids();
    }

    /// True where everything that differs is so much that trying to send it all would be a waste.
    pub(super) fn is_hopeless(&self, limit_bytes: usize) -> bool {
        self.difference.sent.len() as f64 * self.bits_per_item > 1.5 * 8.0 * limit_bytes as f64
    }

    /// What fits in `limit_bytes` of what differs: who left, then by `score`, highest first, not
    /// those of 0 and below. Returns how the view is behind.
    pub(super) fn part(
        &mut self,
        known: &Known,
        subject: &Snapshot,
        limit_bytes: usize,
        score: &mut dyn FnMut(EntityId) -> f32,
    ) -> Result<LeftOut, EncodeError> {
        self.items.clear();
        let left = self
            .difference
            .left
            .iter()
            .map(|id| Item { score: f32::INFINITY, what: What::Left(*id) });
        self.items.extend(left);
        let ids = subject.ids();
        let sent = self.difference.sent.iter();
        self.items.extend(
            sent.map(|&index| Item {
                score: score(ids[index as usize]),
                what: What::Present(index),
            }),
        );
        // Stable: equals stay in the order of their ids.
        self.items.sort_by(|a, b| b.score.total_cmp(&a.score));

        let wanted = self.items.partition_point(|item| item.score > 0.0);
        let count = self.fit(known, subject, wanted, limit_bytes)?;
        self.cost =
            self.count(&known.baseline, if self.same_entities { subject } else { &self.target })?;
        let (mut sent, mut old) =
            (Snapshot::new_like(subject), Snapshot::new_like(&known.baseline));
        sent.gather(subject, &self.chosen)?;
        let mut unknown = Vec::new();
        let mut left_out = Vec::new();
        for item in &self.items[count..] {
            let id = match item.what {
                What::Present(index) if self.same_entities => {
                    left_out.push(index);
                    continue;
                }
                What::Present(index) => ids[index as usize],
                What::Left(id) => id,
            };
            match known.baseline.position(id) {
                Some(place) => left_out.push(place as u32),
                None => unknown.push(id),
            }
        }
        left_out.extend_from_slice(self.encoder.unsent());
        left_out.sort_unstable();
        unknown.sort_unstable();
        old.gather(&known.baseline, &left_out)?;
        Ok(LeftOut {
            old,
            unknown,
            sent,
            waiting: wanted - count + self.encoder.unsent().len(),
            split: None,
        })
    }

    /// The snapshot made last; what the codec had learned at its end goes by this number.
    pub(super) fn coded(&self, id: u64) -> Coded {
        let lesson = self.learned.as_ref().map(|learned| Lesson { id, learned: learned.clone() });
        Coded { bytes: self.bytes.clone(), lesson, cost: self.cost.clone() }
    }

    /// What the snapshot cost that was encoded last.
    fn count(&self, base: &Snapshot, encoded: &Snapshot) -> Result<Option<Arc<Cost>>, EncodeError> {
        if !self.counts_costs {
            return Ok(None);
        }
        Ok(Some(Arc::new(Cost::new(&self.encoder, base, encoded, self.bytes.len())?)))
    }

    /// Encodes as many of the first `all` items as fit; returns how many.
    fn fit(
        &mut self,
        known: &Known,
        subject: &Snapshot,
        all: usize,
        limit_bytes: usize,
    ) -> Result<usize, EncodeError> {
        let limit = limit_bytes as f64;
        // `fits` items are known to fit, `too_many` not to.
        let (mut fits, mut too_many) = (0, all + 1);
        let mut guess =
            ((limit * 0.97 * 8.0 / self.bits_per_item) as usize).clamp(1, all.max(1)).min(all);
        let mut encoded = None;
        for _ in 0..ROUNDS {
            let bytes = self.encode(known, subject, guess, limit_bytes)?;
            encoded = Some(guess);
            let unsent = self.encoder.unsent().len();
            if unsent > 0 && unsent <= guess / MOST_UNSENT && bytes <= limit_bytes {
                fits = guess;
                break;
            }
            // Of a packet that ended on the way, what all would take.
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
            // With nothing chosen a snapshot takes a few bytes: this ends.
            encoded = Some(fits);
            if self.encode(known, subject, fits, usize::MAX)? > limit_bytes {
                fits /= 2;
            }
        }
        // Those for which there was no room in the end are not the last ones by score, but few.
        let unsent = self.encoder.unsent();
        self.chosen.retain(|index| unsent.binary_search(index).is_err());
        let sent = fits - unsent.len();
        if sent > 0 {
            let bits = self.bytes.len() as f64 * 8.0 / sent as f64;
            self.bits_per_item = (self.bits_per_item * 3.0 + bits) / 4.0;
        }
        Ok(fits)
    }

    /// Encodes the first `count` items into `bytes`, or as many of them as there is room for where
    /// the codec can tell on the way; returns how many bytes those are.
    fn encode(
        &mut self,
        known: &Known,
        subject: &Snapshot,
        count: usize,
        limit_bytes: usize,
    ) -> Result<usize, EncodeError> {
        self.runs += 1;
        self.chosen.clear();
        self.gone.clear();
        for item in &self.items[..count] {
            match item.what {
                What::Left(id) => self.gone.push(id),
                What::Present(index) => self.chosen.push(index),
            }
        }
        self.chosen.sort_unstable();
        self.bytes.clear();
        let baselines = known.baselines()?;
        let encoded = if self.same_entities {
            let chosen = Chosen::Some { indices: &self.chosen, limit_bytes };
            self.encoder.write(baselines, subject, chosen, &mut self.bytes)?
        } else {
            self.rows.gather(subject, &self.chosen)?;
            self.target.copy_from(&known.baseline);
            self.target.patch(&self.gone, &self.rows)?;
            // A codec may look at how far the ticks are apart.
            self.target.tick = subject.tick;
            self.encoder.write(baselines, &self.target, Chosen::All, &mut self.bytes)?
        };
        self.learned = encoded.learned().cloned();
        Ok(self.bytes.len())
    }
}
