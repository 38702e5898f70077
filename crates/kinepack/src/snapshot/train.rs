//! Trains the word lengths of a profile: counts how many times captured snapshots need each class,
//! and computes the best length for each class's word. `spec/CODEC.md` does not depend on training,
//! because any complete prefix code is valid.

use alloc::vec;
use alloc::vec::Vec;

use super::baselines::Baselines;
use super::changed::set_of_flagged;
use super::codec::Codec;
use super::encode::{Chosen, Encoder};
use super::level::Level;
use super::profile::Profile;
use super::sets::{GapTable, for_each_listed};
use super::store::Snapshot;
use crate::{EncodeError, Schema, SetupError, prefix};

/// Trains the word lengths of a profile on snapshots and their baselines.
///
/// ```
/// use kinepack::quantize::{IntegerLimits};
/// use kinepack::schema::{Field, FieldKind};
/// use kinepack::training::{Trainer};
/// use kinepack::{EntityId, Profile, Schema, Snapshot, Tick};
///
/// let height = FieldKind::Integer(IntegerLimits::new(0, 255, 1)?);
/// let schema = Schema::new(vec![Field::new("height", height)]);
/// let mut run = Vec::new();
/// for tick in 0..100 {
///     let mut snapshot = Snapshot::new(&schema, Tick(tick));
///     snapshot.push_lanes(EntityId(0), &[tick])?;
///     run.push(snapshot);
/// }
/// let mut trainer = Trainer::new(schema.clone(), Profile::magnitudes(&schema))?;
/// for pair in run.windows(2) {
///     trainer.observe(&pair[0], &[], &pair[1])?;
/// }
/// let profile = trainer.finish();
/// // Every change is by 1, so the first class that holds a difference of 1 gets the shortest word.
/// let lengths = &profile.fields[0].lengths_bits[0];
/// assert_eq!(lengths.iter().min(), Some(&lengths[2]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Trainer {
    profile: Profile,
    encoder: Encoder,
    codec: Codec,
    packet: Vec<u8>,
    /// For each field and each state of its context, the number of times that each class was
    /// needed.
    fields: Vec<Vec<Vec<u64>>>,
    entities: Vec<u64>,
    flags: Vec<u64>,
}

impl Trainer {
    /// Makes a trainer that keeps the classes and contexts of `profile` and trains the word
    /// lengths.
    ///
    /// # Errors
    /// [`SetupError`] if the profile is malformed or made for another schema.
    pub fn new(schema: Schema, profile: Profile) -> Result<Self, SetupError> {
        let codec = Codec::new(schema, Level::PACKED, profile.clone())?;
        let counts = |code: &super::FieldCode| {
            code.lengths_bits.iter().map(|lengths| vec![0; lengths.len()]).collect()
        };
        Ok(Self {
            encoder: Encoder::new(&codec),
            codec,
            packet: Vec::new(),
            fields: profile.fields.iter().map(counts).collect(),
            entities: vec![0; profile.entities.lengths_bits.len()],
            flags: vec![0; profile.flags.lengths_bits.len()],
            profile,
        })
    }

    /// Counts the classes that `snapshot` needs relative to a baseline and older snapshots, the
    /// newest first. If the schema has a time precision, the snapshot is first made as coarse as an
    /// encoder would send it. The call uses older snapshots only with a time precision, and then
    /// only the first of them.
    ///
    /// # Errors
    /// The errors of [`Encoder::encode`].
    pub fn observe(
        &mut self,
        baseline: &Snapshot,
        older: &[&Snapshot],
        snapshot: &Snapshot,
    ) -> Result<(), EncodeError> {
        self.count(Baselines::from_run(baseline, older), snapshot)
    }

    pub(super) fn count(
        &mut self,
        baselines: Baselines<'_>,
        snapshot: &Snapshot,
    ) -> Result<(), EncodeError> {
        self.packet.clear();
        self.encoder.write(baselines, snapshot, Chosen::All, &mut self.packet)?;
        let tables = self.codec.tables();
        let changed = &self.encoder.changed;
        count_gaps(&mut self.entities, &tables.entities, snapshot.len(), changed);
        for (nth, kind) in tables.schema.kinds().iter().enumerate() {
            let rows = self.encoder.changed_rows(&snapshot.entities, nth);
            for index in kind.fields() {
                let field = &tables.fields[index];
                let contexts = &self.encoder.packer.contexts;
                let classes = contexts.field_classes(index);
                let flagged = (0..).zip(classes).filter(|(_, class)| **class > 0);
                let flagged: Vec<u32> = flagged.map(|(nth, _)| nth).collect();
                if !field.is_category() {
                    let is_added = |row| self.encoder.lineup.is_added(nth, row);
                    let columns = &snapshot.columns;
                    let (count, members) =
                        set_of_flagged(field, columns, &rows, is_added, &flagged);
                    count_gaps(&mut self.flags, &tables.flags, count, &members);
                }
                let mut previous = 0;
                for nth in flagged {
                    let state = contexts.state(field.context, nth as usize, previous);
                    previous = usize::from(classes[nth as usize]);
                    self.fields[index][state][previous - 1] += 1;
                }
            }
        }
        Ok(())
    }

    /// Returns the trained profile. If a state of a context occurred rarely, its counts are mixed
    /// with those of the field's other states.
    pub fn finish(self) -> Profile {
        let mut profile = self.profile;
        profile.entities = profile.entities.trained(&self.entities);
        profile.flags = profile.flags.trained(&self.flags);
        for (code, states) in profile.fields.iter_mut().zip(self.fields) {
            let classes = code.classes.len() + 1;
            let pooled: Vec<u64> =
                (0..classes).map(|class| states.iter().map(|counts| counts[class]).sum()).collect();
            let all = pooled.iter().sum::<u64>().max(1);
            let smoothed = |counts: &Vec<u64>| {
                // Each state counts as if it had seen 64 further values, distributed like those of
                // the whole field. The counts are in 1/16 of a value.
                let prior = |class: usize| pooled[class] * 64 * 16 / all;
                let counts: Vec<u64> =
                    (0..classes).map(|class| counts[class] * 16 + prior(class)).collect();
                prefix::lengths_bits(&counts)
            };
            code.lengths_bits = states.iter().map(smoothed).collect();
        }
        profile
    }
}

fn count_gaps(counts: &mut [u64], table: &GapTable, count: usize, members: &[u32]) {
    let complement = members.len() > count / 2;
    for_each_listed(count, members, complement, |distance| counts[table.class(distance)] += 1);
}
