//! What a snapshot is coded against, alike on both sides: a baseline, into which views with
//! something left out are merged, and older views. `spec/NET.md`, sections 4.1 and 4.3.

use std::sync::Arc;

use kinepack::{Baselines, BaselinesError, EncodeError, EntityId, Schema, Snapshot, Tick, View};

use crate::Refused;

/// Views this far before a baseline may still be merged into it.
pub(crate) const MERGED: usize = 32;

/// The views that a snapshot is coded against.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    /// With what is merged into it.
    pub(crate) baseline: View,
    /// Newest first.
    pub(crate) older: Vec<View>,
}

impl Known {
    /// A baseline alone.
    pub(crate) fn alone(baseline: View) -> Self {
        Self { baseline, older: Vec::new() }
    }

    /// As the codec takes them.
    ///
    /// # Errors
    /// [`BaselinesError`] where the ticks do not fall.
    pub(crate) fn baselines(&self) -> Result<Baselines<'_>, BaselinesError> {
        Baselines::new(std::iter::once(&self.baseline).chain(&self.older))
    }
}

/// How many views before one of this own back the rule for merge 0 names. What was sent before its
/// own baseline is in that.
fn by_rule(own_back: u8) -> usize {
    MERGED.min(usize::from(own_back).saturating_sub(1))
}

/// What a sender knows of a view before the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Before<T> {
    /// Something was left out in it, and the receiver has it.
    Acknowledged(T),
    /// Something was left out in it, and nobody knows whether the receiver has it.
    Unknown,
    /// Nothing was left out, or it is no view: there is nothing to merge.
    Nothing,
}

/// What a sender merges into a baseline with something left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Merge<T> {
    /// Newest first.
    pub(crate) views: Vec<T>,
    /// The merge field; `None` where the rule for merge 0 says the same.
    pub(crate) field: Option<u32>,
    /// How many sequences before the baseline a receiver looks.
    pub(crate) depth: usize,
}

/// Chooses all views that the receiver has and that can be merged into a baseline of this own back.
/// `at` takes a number of sequences and tells of the view that far before; the window has `reach`
/// of them.
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

/// The merge field that names all of `others` views just before a baseline of this own back.
pub(crate) fn field_of_all(own_back: u8, others: usize) -> Option<u32> {
    (by_rule(own_back) != others).then_some((1 << others) - 1)
}

/// What a receiver has of a sequence before the baseline.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Held<'a> {
    /// What was sent with a view in which something was left out.
    Part(&'a Snapshot),
    /// A view in which nothing was left out.
    Whole,
    /// If it ever came, it is too old to be held.
    Dropped,
    /// It did not come, or is a fragment.
    Nothing,
}

/// The lists *sent* of the views that a datagram merges into a baseline of this own back, newest
/// first. `at` takes a number of sequences and tells of the view that far before.
///
/// # Errors
/// [`Refused::BadMerge`]; and [`Refused::NoBaseline`] where a view that may be meant was dropped.
pub(crate) fn merged<'a>(
    field: Option<u32>,
    own_back: u8,
    at: impl Fn(u16) -> Held<'a>,
) -> Result<Vec<&'a Snapshot>, Refused> {
    let mut sent = Vec::new();
    let named = field.unwrap_or(((1u64 << by_rule(own_back)) - 1) as u32);
    for bit in (0..MERGED as u16).filter(|bit| named >> bit & 1 == 1) {
        match at(bit + 1) {
            Held::Part(rows) => sent.push(rows),
            Held::Dropped => return Err(Refused::NoBaseline),
            Held::Whole | Held::Nothing if field.is_none() => {}
            Held::Whole | Held::Nothing => return Err(Refused::BadMerge),
        }
    }
    Ok(sent)
}

/// Makes one view of several. Keeps its memory.
#[derive(Debug)]
pub(crate) struct Merger {
    /// The entities that views have sent: id, how many views back, and where.
    rows: Vec<(EntityId, usize, usize)>,
    patch: Snapshot,
    state: Arc<Snapshot>,
}

impl Merger {
    pub(crate) fn new(schema: &Schema) -> Self {
        let empty = Snapshot::new(schema, Tick(0));
        Self { rows: Vec::new(), patch: empty.clone(), state: Arc::new(empty) }
    }

    /// A baseline brought up to date: `write` writes the view by itself, `sent` are what it and the
    /// views before it have sent, its own first, then from the newest to the oldest. The newest row
    /// of an entity counts.
    ///
    /// Cost: a copy of the view, and a sort of all that was sent.
    pub(crate) fn merge(
        &mut self,
        write: impl FnOnce(&mut Snapshot) -> Result<(), EncodeError>,
        sent: &[&Snapshot],
    ) -> Result<View, EncodeError> {
        let Self { rows, patch, state } = self;
        // Nobody keeps what is merged beyond a datagram: this copies nothing.
        let out = Arc::make_mut(state);
        write(out)?;
        if sent.len() > 1 {
            rows.clear();
            for (age, sent) in sent.iter().enumerate() {
                rows.extend(sent.ids().iter().enumerate().map(|(index, id)| (*id, age, index)));
            }
            rows.sort_unstable();
            rows.dedup_by_key(|(id, ..)| *id);
            patch.clear(out.tick);
            for &(_, age, index) in &*rows {
                // The baseline has its own already.
                if age > 0 {
                    patch.push_row(sent[age], index)?;
                }
            }
            out.patch(&[], patch)?;
        }
        Ok(View::from(Arc::clone(state)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a sender merges is what its receiver finds named, whatever else that holds.
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
            // What nobody knows of did not come.
            let held = |distance: u16| match at(distance.into()) {
                Before::Acknowledged(distance) => Held::Part(&parts[distance]),
                Before::Unknown | Before::Nothing => Held::Nothing,
            };
            let sent = merged(field, own_back, held).unwrap();
            assert!(sent.iter().map(|rows| rows.tick.0 as usize).eq(views));
        }
    }
}
