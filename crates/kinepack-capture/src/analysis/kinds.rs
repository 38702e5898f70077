//! Counts the entities of each kind, and their bits.

use kinepack::schema::Lane;
use kinepack::{EntityId, Schema, Snapshot};
use serde::Serialize;

use super::fields::FieldAnalysis;

/// The analysis of one kind of entities of a stream.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KindAnalysis {
    /// The name of the kind.
    pub name: String,
    /// The mean and the maximum number of entities per frame.
    pub entities: [f64; 2],
    /// The mean number of entities of a frame that differ from the baseline or are not in it.
    pub changed_per_frame: f64,
    /// The mean number of entities of a frame that the baseline does not have in this kind.
    pub added_per_frame: f64,
    /// The mean number of entities of the baseline that a frame does not have in this kind.
    pub removed_per_frame: f64,
    /// The number of bits of an entity in full.
    pub bits_per_entity: u32,
    /// The bits per frame of the kind's fields at each level, in the order of `levels`.
    pub level_bits_per_frame: Vec<f64>,
}

/// Collects the statistics of a [`KindAnalysis`].
pub(super) struct KindStatistics {
    kind: usize,
    entities: u64,
    most: usize,
    changed: u64,
    added: u64,
    removed: u64,
}

impl KindStatistics {
    pub(super) fn for_schema(schema: &Schema) -> Vec<Self> {
        let of_kind = |kind| Self { kind, entities: 0, most: 0, changed: 0, added: 0, removed: 0 };
        (0..schema.kinds().len()).map(of_kind).collect()
    }

    /// Counts the entities of a frame.
    pub(super) fn count(&mut self, entities: usize) {
        self.entities += entities as u64;
        self.most = self.most.max(entities);
    }

    /// Adds a snapshot and its baseline. `sent` holds the indices of the entities that differ.
    pub(super) fn compare(&mut self, newest: &Snapshot, baseline: &Snapshot, sent: &[u32]) {
        let indices = newest.of_kind(self.kind);
        let is_of_kind = |index: &&u32| indices.contains(&(**index as usize));
        self.changed += sent.iter().filter(is_of_kind).count() as u64;
        let [now, before] = [newest, baseline].map(|state| &state.ids()[state.of_kind(self.kind)]);
        let common = common(now, before);
        self.added += (now.len() - common) as u64;
        self.removed += (before.len() - common) as u64;
    }

    /// Returns the analysis. `frames` are the numbers of all frames and of the compared frames.
    pub(super) fn finish(
        self,
        [frames, compared]: [u64; 2],
        name: &str,
        lanes: &[Lane],
        fields: &[FieldAnalysis],
    ) -> KindAnalysis {
        let per_frame = |count: u64| count as f64 / compared.max(1) as f64;
        let mut level_bits_per_frame = Vec::new();
        for field in fields {
            let bits = &field.level_bits_per_frame;
            level_bits_per_frame.resize(bits.len(), 0.0);
            level_bits_per_frame.iter_mut().zip(bits).for_each(|(sum, bits)| *sum += bits);
        }
        KindAnalysis {
            name: name.to_owned(),
            entities: [self.entities as f64 / frames.max(1) as f64, self.most as f64],
            changed_per_frame: per_frame(self.changed),
            added_per_frame: per_frame(self.added),
            removed_per_frame: per_frame(self.removed),
            bits_per_entity: lanes.iter().map(Lane::bits).sum(),
            level_bits_per_frame,
        }
    }
}

/// Returns the number of ids that are in both of two increasing lists.
fn common(a: &[EntityId], b: &[EntityId]) -> usize {
    if a == b {
        return a.len();
    }
    let mut b = b.iter().peekable();
    let is_in_b = |id: &&EntityId| {
        while b.next_if(|other| other < id).is_some() {}
        b.next_if_eq(id).is_some()
    };
    a.iter().filter(is_in_b).count()
}
