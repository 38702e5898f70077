//! Counts which fields change together.

use std::collections::HashMap;

use kinepack::{Schema, Snapshot};
use serde::Serialize;

use super::fields::row;
use crate::kinds::field_names;

/// The maximum number of fields of a kind that are compared, because a mask of them is one word.
const FIELDS: usize = 64;

/// The maximum number of combinations that are counted, because the time to compare each pair of
/// fields grows with the number of combinations. Only captures of noise have more combinations.
const COMBINATIONS: usize = 1 << 14;

/// Two fields, and how often they change together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Together {
    /// The names of the two fields.
    pub fields: [String; 2],
    /// The share of cases in which both fields changed, among those in which at least one did: 1 if
    /// they always change together.
    pub both_share: f64,
    /// The number of times that at least one of the two changed.
    pub either: u64,
}

/// Counts the number of times that each set of fields changed together.
#[derive(Clone, Debug)]
pub(super) struct Masks {
    schema: Schema,
    /// The number of times that exactly this set of fields changed, by the kind and the set as a
    /// bit mask.
    counts: HashMap<(usize, u64), u64>,
}

impl Masks {
    pub(super) fn new(schema: &Schema) -> Self {
        Self { schema: schema.clone(), counts: HashMap::new() }
    }

    pub(super) fn compare(&mut self, newest: &Snapshot, baseline: &Snapshot) {
        for (index, kind) in self.schema.kinds().iter().enumerate() {
            let fields = &self.schema.fields()[kind.fields()];
            for (at, id) in newest.ids()[newest.of_kind(index)].iter().enumerate() {
                let Some(base) = row(baseline, index, *id, at) else { continue };
                let mut mask = 0_u64;
                for (bit, field) in fields.iter().take(FIELDS).enumerate() {
                    let is_changed = field
                        .lanes()
                        .any(|lane| newest.lane(lane)[at] != baseline.lane(lane)[base]);
                    mask |= u64::from(is_changed) << bit;
                }
                let key = (index, mask);
                if mask != 0 && (self.counts.len() < COMBINATIONS || self.counts.contains_key(&key))
                {
                    *self.counts.entry(key).or_default() += 1;
                }
            }
        }
    }

    /// Returns all pairs, the most frequent first.
    pub(super) fn finish(self) -> Vec<Together> {
        let names = field_names(&self.schema);
        let pairs = self.schema.kinds().iter().enumerate().flat_map(|(index, kind)| {
            let count = kind.fields().len().min(FIELDS);
            (0..count).flat_map(move |a| (a + 1..count).map(move |b| (index, a, b)))
        });
        let mut all: Vec<Together> = pairs
            .map(|(index, a, b)| {
                let with = |wanted: &dyn Fn(bool, bool) -> bool| {
                    let found = self.counts.iter().filter(|((kind, mask), _)| {
                        *kind == index && wanted(*mask >> a & 1 == 1, *mask >> b & 1 == 1)
                    });
                    found.map(|(_, count)| count).sum::<u64>()
                };
                let either = with(&|a, b| a || b);
                let first = self.schema.kinds()[index].fields().start;
                let name = |field: usize| names[first + field].clone();
                let both_share = with(&|a, b| a && b) as f64 / either.max(1) as f64;
                Together { fields: [name(a), name(b)], both_share, either }
            })
            .filter(|together| together.either > 0)
            .collect();
        all.sort_by(|a, b| b.both_share.total_cmp(&a.both_share).then(b.either.cmp(&a.either)));
        all
    }
}
