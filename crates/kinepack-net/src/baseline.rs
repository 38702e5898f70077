//! The views that a snapshot is coded against: a baseline, with partial views merged into it, and
//! older views. Sender and receiver build these views by the same rules. See `spec/NET.md`,
//! sections 4.1 and 4.3.

use std::collections::VecDeque;
use std::sync::Arc;

use kinepack::{Baselines, BaselinesError, EncodeError, EntityId, Schema, Snapshot, Tick, View};

use crate::Refused;

/// The longest distance, in sequences, from a baseline back to a view that is merged into it.
pub(crate) const MERGED: usize = 32;

/// The views that a snapshot is coded against.
#[derive(Clone, Debug)]
pub(crate) struct BaselineViews {
    /// The baseline, including the views that were merged into it.
    pub(crate) baseline: View,
    /// The older views, newest first.
    pub(crate) older: Vec<View>,
}

impl BaselineViews {
    /// A baseline without older views.
    pub(crate) fn alone(baseline: View) -> Self {
        Self { baseline, older: Vec::new() }
    }

    /// Converts the views to the form that the codec takes.
    ///
    /// # Errors
    /// Returns [`BaselinesError`] if the ticks do not decrease.
    pub(crate) fn baselines(&self) -> Result<Baselines<'_>, BaselinesError> {
        Baselines::new(std::iter::once(&self.baseline).chain(&self.older))
    }
}

/// The number of preceding views that the rule for merge 0 merges into a view. `own_back` is the
/// *back* byte of the view's own header. The baseline of that view already contains everything
/// before itself, so only the views between that baseline and the view need merging.
fn by_rule(own_back: u8) -> usize {
    MERGED.min(usize::from(own_back).saturating_sub(1))
}

/// A sender's knowledge of a view that precedes the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Before<T> {
    /// A partial view that the receiver has.
    Acknowledged(T),
    /// A partial view that the receiver may or may not have.
    Unknown,
    /// A complete view, or no view at all: there is nothing to merge.
    Nothing,
}

/// The views that a sender merges into a partial baseline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Merge<T> {
    /// The views to merge, newest first.
    pub(crate) views: Vec<T>,
    /// The merge field; `None` if the rule for merge 0 names the same views.
    pub(crate) field: Option<u32>,
    /// How many sequences before the baseline the receiver looks for views to merge.
    pub(crate) depth: usize,
}

/// Chooses the views to merge into a baseline: every mergeable view that the receiver has.
/// `own_back` is the *back* byte of the baseline's own header. `at` takes a distance and returns
/// what the sender knows about the view that many sequences before the baseline. The window reaches
/// `reach` sequences back.
pub(crate) fn choose_merge<T>(
    own_back: u8,
    reach: usize,
    at: impl Fn(usize) -> Before<T>,
) -> Merge<T> {
    let by_rule = by_rule(own_back);
    let range = if own_back == 0 { MERGED } else { by_rule };
    let (mut views, mut field, mut all) = (Vec::new(), 0u32, by_rule <= reach);
    for distance in 1..=range.min(reach) {
        match at(distance) {
            Before::Acknowledged(view) => {
                views.push(view);
                field |= 1 << (distance - 1);
            }
            Before::Unknown => all = false,
            Before::Nothing => {}
        }
    }
    let follows_rule = if own_back == 0 { field == 0 } else { all };
    let field = (!follows_rule).then_some(field);
    let depth = field.map_or(by_rule, |field| (u32::BITS - field.leading_zeros()) as usize);
    Merge { views, field, depth }
}

/// The merge field that names all of the `others` views just before a baseline. `None` if the rule
/// for merge 0 names the same views. `own_back` is the *back* byte of the baseline's own header.
pub(crate) fn field_of_all(own_back: u8, others: usize) -> Option<u32> {
    (by_rule(own_back) != others).then_some((1 << others) - 1)
}

/// What a receiver holds for a sequence before the baseline.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Held<T> {
    /// The receiver holds a partial view.
    Part(T),
    /// The receiver holds a complete view.
    Whole,
    /// The view is too old to be held, whether or not it arrived.
    Dropped,
    /// The datagram did not arrive, or is a fragment.
    Nothing,
}

/// The views that a datagram merges into a baseline, newest first. `own_back` is the *back* byte of
/// the baseline's own header. `at` takes a distance and returns what the receiver holds that many
/// sequences before the baseline.
///
/// # Errors
/// Returns [`Refused::BadMerge`], and [`Refused::NoBaseline`] if the receiver dropped a view that
/// the datagram may name.
pub(crate) fn merged<T>(
    field: Option<u32>,
    own_back: u8,
    at: impl Fn(u16) -> Held<T>,
) -> Result<Vec<T>, Refused> {
    let mut parts = Vec::new();
    let named = field.unwrap_or(((1u64 << by_rule(own_back)) - 1) as u32);
    for bit in (0..MERGED as u16).filter(|bit| named >> bit & 1 == 1) {
        match at(bit + 1) {
            Held::Part(part) => parts.push(part),
            Held::Dropped => return Err(Refused::NoBaseline),
            Held::Whole | Held::Nothing if field.is_none() => {}
            Held::Whole | Held::Nothing => return Err(Refused::BadMerge),
        }
    }
    Ok(parts)
}

/// The parts of a partial older view: the partial views of the same tick just before it, newest
/// first. `at` takes a distance and returns what the receiver holds that many sequences before the
/// view, with its tick.
///
/// # Errors
/// Returns [`Refused::NoBaseline`] if the receiver dropped a view that may be one of the parts.
pub(crate) fn parts_before<T>(
    tick: Tick,
    at: impl Fn(u16) -> Held<(Tick, T)>,
) -> Result<Vec<T>, Refused> {
    let mut parts = Vec::new();
    for distance in 1..=MERGED as u16 {
        match at(distance) {
            Held::Part((of, part)) if of == tick => parts.push(part),
            Held::Dropped => return Err(Refused::NoBaseline),
            Held::Part(_) | Held::Whole | Held::Nothing => break,
        }
    }
    Ok(parts)
}

/// Merges views into one and reuses memory. A merger keeps the last merged views, because the
/// datagrams of one tick are coded against the same views.
#[derive(Debug)]
pub(crate) struct Merger {
    /// For each sent entity, the [`row_key`] of its id and of its view's age, and its row in that
    /// view.
    rows: Vec<(u64, u32)>,
    patch: Snapshot,
    /// The last merged views, oldest first, each with its key.
    recent: VecDeque<(MergeKey, View)>,
}

/// Identifies the views that a merged view is made of, by numbers that the caller chooses.
pub(crate) type MergeKey = Vec<u64>;

/// The number of merged views that a merger keeps. One snapshot uses a baseline and up to three
/// older views.
const KEPT: usize = 4;

impl Merger {
    pub(crate) fn new(schema: &Schema) -> Self {
        let patch = Snapshot::new(schema, Tick(0));
        Self { rows: Vec::new(), patch, recent: VecDeque::new() }
    }

    /// The merged view with this key, if the merger still keeps it.
    pub(crate) fn made(&self, key: &[u64]) -> Option<View> {
        let made = self.recent.iter().find(|(of, _)| of == key);
        made.map(|(_, view)| view.clone())
    }

    /// Forgets the merged views whose key contains `number`.
    pub(crate) fn forget(&mut self, number: u64) {
        self.recent.retain(|(key, _)| !key.contains(&number));
    }

    /// Merges the entities that earlier views sent into a view. `write` writes the view without
    /// these entities. `sent` lists the rows that the view itself and the views before it sent,
    /// newest view first. If an entity has several rows, the newest counts. If entities take turns
    /// (section 4.7), rows of entities that the view does not have do not count.
    ///
    /// Cost: a copy of the view, and a sort of all sent rows.
    pub(crate) fn merge(
        &mut self,
        key: MergeKey,
        takes_turns: bool,
        write: impl FnOnce(&mut Snapshot) -> Result<(), EncodeError>,
        sent: &[&Snapshot],
    ) -> Result<View, EncodeError> {
        let Self { rows, patch, recent } = self;
        let oldest = if recent.len() == KEPT { recent.pop_front() } else { None };
        // Callers drop a merged view after one datagram, so the view has no other owner and
        // `make_mut` copies nothing.
        let mut state = oldest.map_or_else(
            || Arc::new(Snapshot::new_like(patch)),
            |(_, view)| Arc::clone(view.snapshot()),
        );
        let out = Arc::make_mut(&mut state);
        write(out)?;
        if sent.len() > 1 {
            rows.clear();
            for (age, sent) in sent.iter().enumerate() {
                rows.extend((0..).zip(sent.ids()).map(|(index, id)| (row_key(*id, age), index)));
            }
            rows.sort_unstable_by_key(|(key, _)| *key);
            rows.dedup_by_key(|(key, _)| *key / AGES);
            patch.clear(out.tick);
            for &(key, index) in &*rows {
                let (age, index) = ((key % AGES) as usize, index as usize);
                let is_there = |from: &Snapshot| {
                    let place = |kind| out.position_of(kind, from.ids()[index]);
                    from.kind_at(index).and_then(place).is_some()
                };
                // The view already has its own rows.
                if age > 0 && (!takes_turns || is_there(sent[age])) {
                    patch.push_row(sent[age], index)?;
                }
            }
            out.patch(&[], patch)?;
        }
        let view = View::from(state);
        recent.push_back((key, view.clone()));
        Ok(view)
    }
}

/// More than the number of views in one merge: the view itself, and up to [`MERGED`] views before
/// it.
const AGES: u64 = 64;

/// Returns a key that orders rows by id, then from the newest view to the oldest. The key is one
/// integer, because integers sort faster than tuples.
fn row_key(id: EntityId, age: usize) -> u64 {
    u64::from(id.0) * AGES + age as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The receiver merges exactly the views that the sender chose, whatever else it holds.
    #[test]
    fn both_sides_merge_the_same() {
        let schema = Schema::new(Vec::new());
        let part = |distance: usize| Snapshot::new(&schema, Tick(distance as u32));
        let parts: Vec<Snapshot> = (0..=MERGED).map(part).collect();
        let mut random = 1u64;
        for _ in 0..20_000 {
            let mut next = |below: u64| {
                random = random.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
                (random >> 33) % below
            };
            let (own_back, reach, unknown) = (next(40) as u8, next(40) as usize, next(4));
            let kinds: Vec<u64> = (0..=MERGED).map(|_| next(4)).collect();
            let at = |distance: usize| match kinds[distance] {
                0 => Before::Nothing,
                kind if kind == unknown => Before::Unknown,
                _ => Before::Acknowledged(distance),
            };
            let Merge { views, field, depth } = choose_merge(own_back, reach, at);
            assert!(depth <= reach, "{own_back} {reach} {depth}");
            // This receiver did not get the views whose arrival the sender does not know.
            let held = |distance: u16| match at(distance.into()) {
                Before::Acknowledged(distance) => Held::Part(&parts[distance]),
                Before::Unknown | Before::Nothing => Held::Nothing,
            };
            let sent = merged(field, own_back, held).unwrap();
            assert!(sent.iter().map(|rows| rows.tick.0 as usize).eq(views));
        }
    }
}
