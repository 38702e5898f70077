//! Carries a model to another schema that has some of the same kinds of entities.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::bodies::Bodies;
use super::counters::body_group;
use super::model::Model;
use super::newcomers::kind_counters;
use super::numbers::FEATURES;
use super::plan::{FieldCoding, Plan};
use super::rows::BodyRows;
use crate::{Schema, SetupError};

/// The schema of a model, the schema to which the model is carried, and the kinds that both have.
/// For each kind of `to`, `same` has the kind of `from` with the same fields.
pub(in crate::snapshot) struct Kinds<'a> {
    pub(in crate::snapshot) from: &'a Schema,
    pub(in crate::snapshot) to: &'a Schema,
    pub(in crate::snapshot) same: &'a [Option<usize>],
}

impl Kinds<'_> {
    /// Returns the kinds whose parameters can be carried, as pairs of the kind of `to` and that of
    /// `from`.
    pub(in crate::snapshot) fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        self.same.iter().enumerate().filter_map(|(kind, same)| same.map(|same| (kind, same)))
    }

    /// Returns the index of a field in `to`, given the kinds and the field's index in `from`.
    pub(in crate::snapshot) fn field(&self, (kind, same): (usize, usize), field: usize) -> usize {
        field - self.from.kinds()[same].fields().start + self.to.kinds()[kind].fields().start
    }

    /// Returns the same bodies with the field indices of `to`. Returns `None` if no kind of `to`
    /// has the bodies' fields.
    fn bodies(&self, bodies: &Bodies) -> Option<Bodies> {
        let has_body = |same: usize| self.from.kinds()[same].fields().contains(&bodies.position);
        let pair = self.pairs().find(|(_, same)| has_body(*same))?;
        let moved = |field: usize| self.field(pair, field);
        Some(Bodies {
            position: moved(bodies.position),
            rotation: moved(bodies.rotation),
            touched: bodies.touched.map(moved),
            mover: bodies.mover.map(moved),
            ..bodies.clone()
        })
    }
}

/// Pairs of ranges of rows or counters: the same part in the carried model and in the new one.
type Parts = Vec<(Range<usize>, Range<usize>)>;

impl Model {
    /// Makes the model for another schema. Kinds that only the new schema has are untrained.
    pub(in crate::snapshot) fn carried(&self, kinds: &Kinds<'_>) -> Result<Self, SetupError> {
        let could_share = Plan::new(kinds.from, self.bodies.as_ref(), true)?.is_shared;
        let from = Plan::new(kinds.from, self.bodies.as_ref(), self.is_shared)?;
        self.validate(&from)?;
        let bodies = self.bodies.as_ref().and_then(|bodies| kinds.bodies(bodies));
        // A model whose alike fields do not share counters has no shared counters to carry.
        let to = Plan::new(kinds.to, bodies.as_ref(), self.is_shared || !could_share)?;
        let mut model = Self::new(bodies, &to, &self.max_lags_ticks);

        let (rows, counters) = parts(kinds, &from, &to, model.bodies.as_ref());
        if !self.energies.is_empty() {
            model.energies = vec![vec![[0; FEATURES]; to.rows]; self.sets.len()];
        }
        for (old, new) in rows {
            for (of_set, in_set) in model.sets.iter_mut().zip(&self.sets) {
                of_set[new.clone()].copy_from_slice(&in_set[old.clone()]);
            }
            for (of_set, in_set) in model.energies.iter_mut().zip(&self.energies) {
                of_set[new.clone()].copy_from_slice(&in_set[old.clone()]);
            }
        }
        for (old, new) in counters {
            model.counters[new].copy_from_slice(&self.counters[old]);
        }
        Ok(model)
    }
}

/// Returns the rows and the counters that two plans have in common. `bodies` are those of the model
/// for `to`.
fn parts(kinds: &Kinds<'_>, from: &Plan, to: &Plan, bodies: Option<&Bodies>) -> (Parts, Parts) {
    let (mut rows, mut counters) = (Parts::new(), Parts::new());
    counters.extend(from.layout.common().into_iter().zip(to.layout.common()));
    if let Some(bodies) = bodies {
        let of_bodies = 0..bodies.classes() * BodyRows::COUNT;
        rows.push((of_bodies.clone(), of_bodies));
        let groups = 0..body_group::COUNT;
        counters.push((from.layout.residuals_of(groups.clone()), to.layout.residuals_of(groups)));
    }
    for (kind, same) in kinds.pairs() {
        counters.extend(from.layout.kind(same).into_iter().zip(to.layout.kind(kind)));
        counters
            .push((from.newcomers_at(kind_counters(same)), to.newcomers_at(kind_counters(kind))));
        for field in kinds.from.kinds()[same].fields() {
            let index = kinds.field((kind, same), field);
            // The number of a field's newcomer counters depends on whether any kind has a heading.
            let (old, new) =
                (from.newcomers.field_counters(field), to.newcomers.field_counters(index));
            if old.len() == new.len() {
                counters.push((from.newcomers_at(old), to.newcomers_at(new)));
            }
            let find =
                |plan: &Plan, index| plan.fields.iter().position(|field| field.index == index);
            let (Some(old), Some(new)) = (find(from, field), find(to, index)) else { continue };
            counters.push((from.layout.field_flags(old), to.layout.field_flags(new)));
            match (&from.fields[old].coding, &to.fields[new].coding) {
                (
                    FieldCoding::Choice { tree: old, bits },
                    FieldCoding::Choice { tree: new, .. },
                ) => {
                    counters.push((from.layout.tree(*old, *bits), to.layout.tree(*new, *bits)));
                }
                (old, new) => {
                    let (old, new) = (old.numbers(), new.numbers());
                    rows.push((old.rows, new.rows));
                    let [old, new] = [(from, old.groups), (to, new.groups)]
                        .map(|(plan, groups)| plan.layout.residuals_of(groups));
                    counters.push((old, new));
                }
            }
        }
    }
    (rows, counters)
}
