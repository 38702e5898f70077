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

/// The schema of a model, the schema to which the model is carried, and the source of each
/// parameter.
pub(in crate::snapshot) struct Sources<'a> {
    pub(in crate::snapshot) from: &'a Schema,
    pub(in crate::snapshot) to: &'a Schema,
    /// For each kind of `to`, the kind of `from` whose parameters it takes.
    pub(in crate::snapshot) kinds: &'a [Option<usize>],
    /// For each field of `to`, the field of `from` whose parameters it takes.
    pub(in crate::snapshot) fields: &'a [Option<usize>],
}

/// The pairs of an index in the new schema and its source.
fn pairs(sources: &[Option<usize>]) -> impl Iterator<Item = (usize, usize)> {
    sources.iter().enumerate().filter_map(|(index, source)| source.map(|source| (index, source)))
}

impl Sources<'_> {
    /// Returns the same bodies with the field indices of `to`. Returns `None` if no kind of `to`
    /// has the bodies' fields.
    fn bodies(&self, bodies: &Bodies) -> Option<Bodies> {
        let is_of_kind = |kind: usize| {
            let fields = self.to.kinds()[kind].fields();
            fields.into_iter().find(|field| self.fields[*field] == Some(bodies.position))
        };
        let position = (0..self.kinds.len()).find_map(is_of_kind)?;
        // The fields of a kind keep their order.
        let moved = |field: usize| field + position - bodies.position;
        Some(Bodies {
            position,
            rotation: moved(bodies.rotation),
            touched: bodies.touched.map(moved),
            mover: bodies.mover.map(moved),
            ..bodies.clone()
        })
    }
}

/// Pairs of ranges: the same part in the carried model and in the new one.
type Ranges = Vec<(Range<usize>, Range<usize>)>;

/// The rows and the counters that two models have in common.
pub(super) struct Parts {
    pub(super) rows: Ranges,
    pub(super) counters: Ranges,
}

impl Model {
    /// Makes the model for another schema. Kinds that only the new schema has are untrained.
    pub(in crate::snapshot) fn carried(&self, sources: &Sources<'_>) -> Result<Self, SetupError> {
        let could_share = Plan::new(sources.from, self.bodies.as_ref(), true)?.is_shared;
        let from = Plan::new(sources.from, self.bodies.as_ref(), self.is_shared)?;
        self.validate(&from)?;
        let bodies = self.bodies.as_ref().and_then(|bodies| sources.bodies(bodies));
        // A model whose alike fields do not share counters has no shared counters to carry.
        let to = Plan::new(sources.to, bodies.as_ref(), self.is_shared || !could_share)?;
        let mut model = Self::new(bodies, &to, &self.max_lags_ticks);

        let parts = parts(sources, &from, &to, model.bodies.as_ref());
        if !self.energies.is_empty() {
            model.energies = vec![vec![[0; FEATURES]; to.rows]; self.sets.len()];
        }
        for (old, new) in parts.rows {
            for (of_set, in_set) in model.sets.iter_mut().zip(&self.sets) {
                of_set[new.clone()].copy_from_slice(&in_set[old.clone()]);
            }
            for (of_set, in_set) in model.energies.iter_mut().zip(&self.energies) {
                of_set[new.clone()].copy_from_slice(&in_set[old.clone()]);
            }
        }
        for (old, new) in parts.counters {
            model.counters[new].copy_from_slice(&self.counters[old]);
        }
        Ok(model)
    }
}

/// Returns the rows and the counters that two plans have in common. `bodies` are those of the model
/// for `to`.
pub(super) fn parts(
    sources: &Sources<'_>,
    from: &Plan,
    to: &Plan,
    bodies: Option<&Bodies>,
) -> Parts {
    let (mut rows, mut counters) = (Ranges::new(), Ranges::new());
    counters.extend(from.layout.common().into_iter().zip(to.layout.common()));
    if let Some(bodies) = bodies {
        let of_bodies = 0..bodies.classes() * BodyRows::COUNT;
        rows.push((of_bodies.clone(), of_bodies));
        let groups = 0..body_group::COUNT;
        counters.push((from.layout.residuals_of(groups.clone()), to.layout.residuals_of(groups)));
    }
    for (kind, source) in pairs(sources.kinds) {
        counters.extend(from.layout.kind(source).into_iter().zip(to.layout.kind(kind)));
        counters
            .push((from.newcomers_at(kind_counters(source)), to.newcomers_at(kind_counters(kind))));
    }
    for (index, source) in pairs(sources.fields) {
        // The number of a field's newcomer counters depends on whether any kind has a heading.
        let (old, new) =
            (from.newcomers.field_counters(source), to.newcomers.field_counters(index));
        if old.len() == new.len() {
            counters.push((from.newcomers_at(old), to.newcomers_at(new)));
        }
        let find = |plan: &Plan, index| plan.fields.iter().position(|field| field.index == index);
        let (Some(old), Some(new)) = (find(from, source), find(to, index)) else { continue };
        let flags = (from.layout.field_flags(old), to.layout.field_flags(new));
        let (old, new) = (&from.fields[old].coding, &to.fields[new].coding);
        match (old, new) {
            (
                FieldCoding::Choice { tree: old, bits },
                FieldCoding::Choice { tree: new, bits: new_bits },
            ) if bits == new_bits => {
                counters.push((from.layout.tree(*old, *bits), to.layout.tree(*new, *bits)));
            }
            (FieldCoding::Numbers { rows: old, .. }, FieldCoding::Numbers { rows: new, .. }) => {
                rows.extend(old.pairs(*new));
            }
            (FieldCoding::Rotation { rows: old, .. }, FieldCoding::Rotation { rows: new, .. }) => {
                rows.push((old.all(), new.all()));
            }
            _ => continue,
        }
        let [residuals, new_residuals] = [(from, old), (to, new)]
            .map(|(plan, coding)| plan.layout.residuals_of(coding.numbers().groups));
        counters.extend([flags, (residuals, new_residuals)]);
    }
    Parts { rows, counters }
}
