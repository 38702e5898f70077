//! The fields of one kind of entities, with the lanes and the conditions that follow from their
//! order. A type's hash and raw words need lanes and conditions too, without a whole schema.

use alloc::vec;
use alloc::vec::Vec;

use super::coarser::Coarseness;
use super::condition::Conditions;
use super::field::{Field, FieldKind};
use super::frame::Placement;
use super::lane::Lane;
use crate::SetupError;
use crate::hash::Fnv1a;

/// The fields and lanes of one kind. Lanes are counted from the kind's first lane.
pub(super) struct ResolvedFields {
    pub(super) fields: Vec<Field>,
    pub(super) lanes: Vec<Lane>,
    pub(super) placement: Placement,
}

impl ResolvedFields {
    /// Finds the lanes and the conditions of each field. `first` is the index of the first field in
    /// the schema, which errors report.
    ///
    /// # Errors
    /// [`SetupError::BadCondition`] if a condition names no earlier field that can be its selector.
    /// [`SetupError::BadCoarseness`] in the same way for a field's coarseness, and
    /// [`SetupError::BadFrame`] for its frame.
    pub(super) fn new(mut fields: Vec<Field>, first: usize) -> Result<Self, SetupError> {
        let mut lanes = Vec::new();
        for index in 0..fields.len() {
            let conditions = conditions(&fields, index)
                .ok_or(SetupError::BadCondition { field: first + index })?;
            let coarseness = Coarseness::find(&fields, index)
                .ok_or(SetupError::BadCoarseness { field: first + index })?;
            let field = &mut fields[index];
            field.conditions = conditions;
            field.coarseness = coarseness;
            field.first_lane = lanes.len();
            field.kind.append_lanes(&mut lanes);
            field.lane_count = lanes.len() - field.first_lane;
        }
        let mut are_coarsenesses = vec![false; lanes.len()];
        for coarseness in fields.iter().filter_map(Field::coarseness) {
            are_coarsenesses[coarseness.lane] = true;
        }
        // What is present must not depend on how coarse it is.
        let depends =
            |field: &Field| field.conditions.selector_lane().is_some_and(|at| are_coarsenesses[at]);
        if let Some(index) = fields.iter().position(depends) {
            return Err(SetupError::BadCoarseness { field: first + index });
        }
        let placement = Placement::new(&fields)
            .map_err(|index| SetupError::BadFrame { field: first + index })?;
        Ok(Self { fields, lanes, placement })
    }

    /// Like [`new`](Self::new), for the fields of a type.
    ///
    /// # Panics
    /// In the cases in which [`new`](Self::new) returns an error.
    #[track_caller]
    pub(super) fn valid(fields: Vec<Field>) -> Self {
        match Self::new(fields, 0) {
            Ok(resolved) => resolved,
            Err(error) => panic!("{error}"),
        }
    }

    /// Computes the hash of a schema of these fields.
    pub(super) fn hash(&self) -> u64 {
        let mut hasher = Fnv1a::new();
        self.fields.iter().for_each(|field| field.hash_into(&mut |bytes| hasher.add(bytes)));
        hasher.finish()
    }
}

/// Finds the conditions of the field at `index` among a kind's fields. The conditions of all
/// earlier fields must be resolved already. Returns `None` if no earlier field can be the selector,
/// if the range of values is empty, or if the chain of selectors is too long.
fn conditions(fields: &[Field], index: usize) -> Option<Conditions> {
    let Some(condition) = &fields[index].condition else { return Some(Conditions::default()) };
    let place = fields[..index].iter().rposition(|field| field.name == condition.selector)?;
    let selector = &fields[place];
    let is_selective =
        matches!(selector.kind, FieldKind::Bool | FieldKind::Choice { .. } | FieldKind::Integer(_))
            && selector.lane_count == 1;
    // The selector of a spawn field must be a spawn field too, because neither of them may change
    // during the entity's life.
    let is_lasting = selector.is_spawn || !fields[index].is_spawn;
    if !is_selective || !is_lasting || condition.values.is_empty() {
        return None;
    }
    Conditions::on(place, selector.first_lane, &selector.conditions, condition.values.clone())
}
