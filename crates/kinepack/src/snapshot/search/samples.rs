//! Collects the search's input: for each field, the sizes of the differences of each entity that
//! was sent, in the order of the packets.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use super::super::baselines::Baselines;
use super::super::changed::set_of_flagged;
use super::super::codec::Codec;
use super::super::encode::{Chosen, Encoder};
use super::super::fields::Measured;
use super::super::level::Level;
use super::super::profile::{Class, Context, FieldCode, LaneWidth, Profile, Reference};
use super::super::store::Snapshot;
use super::super::training::{Sample, TrainError, as_received};
use super::super::widths::size;
use super::gaps::GapCounts;
use crate::{EncodeError, Schema};

/// The samples of all fields and distances.
pub(super) struct Samples {
    /// The samples of each field of the schema; those of a field without differences have no lanes.
    pub(super) fields: Vec<FieldSamples>,
    pub(super) entities: GapCounts,
    pub(super) flags: GapCounts,
}

/// The sampled values of a field. Values with the same sizes are of the same kind.
#[derive(Default)]
pub(super) struct FieldSamples {
    /// The number of bits of each differenced lane.
    pub(super) lanes_bits: Vec<u8>,
    /// The number of bits of the field in full.
    pub(super) full_bits: u64,
    pub(super) is_rotation: bool,
    /// For each kind, the size of each lane's difference from the baseline. Unless the field is a
    /// rotation, the sizes of the differences from the carried baseline follow.
    pub(super) sizes: Vec<u8>,
    /// For each kind, whether the rotation drops another component than in the baseline.
    pub(super) turned: Vec<bool>,
    /// The kind of each value.
    pub(super) kinds: Vec<u32>,
    /// The number of each value's entity. The entities of a kind are numbered across all packets,
    /// so these numbers increase.
    pub(super) entities: Vec<u32>,
    /// Whether each value is the first of its packet.
    pub(super) first: Vec<bool>,
    /// The number of values in the first half of the packets.
    pub(super) middle: usize,
    /// The kinds, looked up by their sizes.
    known: BTreeMap<Box<[u8]>, u32>,
}

impl FieldSamples {
    /// Returns the number of sizes that a kind has.
    pub(super) fn stride(&self) -> usize {
        self.lanes_bits.len() * if self.is_rotation { 1 } else { 2 }
    }

    /// Returns the index of a kind, which is added if it is new.
    pub(super) fn kind(&mut self, sizes: &[u8], turned: bool) -> u32 {
        let mut key = Vec::with_capacity(sizes.len() + 1);
        key.push(turned.into());
        key.extend_from_slice(sizes);
        if let Some(kind) = self.known.get(&key[..]) {
            return *kind;
        }
        let kind = self.turned.len() as u32;
        self.sizes.extend_from_slice(sizes);
        self.turned.push(turned);
        self.known.insert(key.into_boxed_slice(), kind);
        kind
    }

    pub(super) fn kind_sizes(&self, kind: usize) -> &[u8] {
        &self.sizes[kind * self.stride()..][..self.stride()]
    }
}

/// Encodes packets and samples their differences.
struct Observer {
    codec: Codec,
    encoder: Encoder,
    packet: Vec<u8>,
    coarse: Option<Snapshot>,
    measured: Measured,
    flagged: Vec<u32>,
    entities: Vec<u32>,
    sizes: Vec<u8>,
}

impl Observer {
    fn new(schema: &Schema) -> Result<Self, TrainError> {
        let codec = Codec::new(schema.clone(), Level::PACKED, widest(schema))?;
        Ok(Self {
            encoder: Encoder::new(&codec),
            codec,
            packet: Vec::new(),
            coarse: None,
            measured: Measured::default(),
            flagged: Vec::new(),
            entities: Vec::new(),
            sizes: Vec::new(),
        })
    }

    fn encode(&mut self, baselines: Baselines<'_>, snapshot: &Snapshot) -> Result<(), EncodeError> {
        self.packet.clear();
        self.coarse = None;
        if self.codec.has_precision() {
            let mut coarse = snapshot.clone();
            self.encoder.coarsen(&baselines, &mut coarse)?;
            self.encoder.write(baselines, &coarse, Chosen::All, &mut self.packet)?;
            self.coarse = Some(coarse);
        } else {
            self.encoder.write(baselines, snapshot, Chosen::All, &mut self.packet)?;
        }
        Ok(())
    }

    fn count_gaps(&mut self, samples: &mut Samples, half: usize, snapshot: &Snapshot) {
        let codec = self.codec.clone();
        samples.entities.add(half, snapshot.len(), &self.encoder.changed);
        for (nth, kind) in codec.schema().kinds().iter().enumerate() {
            let rows = self.encoder.changed_rows(&snapshot.entities, nth);
            for index in kind.fields() {
                let field = &codec.tables().fields[index];
                if !field.is_category() {
                    let columns = &snapshot.columns;
                    let is_added = |row| self.encoder.lineup.is_added(nth, row);
                    let flagged: Vec<u32> = flagged(&self.encoder, index).collect();
                    let (count, members) =
                        set_of_flagged(field, columns, &rows, is_added, &flagged);
                    samples.flags.add(half, count, &members);
                }
            }
        }
    }

    /// Adds the values of the packet that was just encoded, whose entities are numbered from
    /// `begin` on.
    fn add_values(
        &mut self,
        fields: &mut [FieldSamples],
        baseline: &Snapshot,
        snapshot: &Snapshot,
        begin: u32,
    ) {
        let codec = self.codec.clone();
        for (nth, kind) in codec.schema().kinds().iter().enumerate() {
            let rows = self.encoder.changed_rows(&snapshot.entities, nth);
            for index in kind.fields() {
                let field = &mut fields[index];
                if !field.lanes_bits.is_empty() {
                    self.add_values_of(index, field, [baseline, snapshot], &rows, begin);
                }
            }
        }
    }

    /// Adds the values of one field in the packet. `rows` are the rows of the changed entities of
    /// the field's kind.
    fn add_values_of(
        &mut self,
        index: usize,
        field: &mut FieldSamples,
        [baseline, snapshot]: [&Snapshot; 2],
        rows: &[u32],
        begin: u32,
    ) {
        let table = &self.codec.tables().fields[index];
        let lanes = field.lanes_bits.len();
        self.flagged.clear();
        self.flagged.extend(flagged(&self.encoder, index));
        self.entities.clear();
        self.entities.extend(self.flagged.iter().map(|nth| rows[*nth as usize]));
        let snapshot = self.coarse.as_ref().unwrap_or(snapshot);
        let lineup = &self.encoder.lineup;
        let [base, new] =
            [lineup.base(baseline), &snapshot.columns].map(|columns| &columns[table.lanes.clone()]);
        let shifts = lineup.shifts.columns(table.differenced());
        table.measure(base, new, shifts, &self.entities, &mut self.measured);
        for (place, nth) in self.flagged.iter().enumerate() {
            let (differences, turned) = self.measured.differences(place, lanes);
            self.sizes.clear();
            for reference in 0..field.stride() / lanes {
                self.sizes
                    .extend(differences.iter().map(|difference| size(difference[reference]) as u8));
            }
            let kind = field.kind(&self.sizes, turned);
            field.kinds.push(kind);
            field.entities.push(begin + nth);
            field.first.push(place == 0);
        }
    }
}

/// Returns the positions of the entities that changed a field, counted among the changed entities
/// of the field's kind.
fn flagged(encoder: &Encoder, field: usize) -> impl Iterator<Item = u32> {
    let classes = encoder.packer.contexts.field_classes(field);
    (0..).zip(classes).filter(|(_, class)| **class > 0).map(|(nth, _)| nth)
}

/// Makes a profile with a class of full width for each reference, so that an encoder computes all
/// differences.
fn widest(schema: &Schema) -> Profile {
    let mut profile = Profile::untrained(schema);
    for (code, field) in profile.fields.iter_mut().zip(schema.fields()) {
        let (lanes, is_rotation) = schema.differenced(field);
        if lanes.is_empty() {
            continue;
        }
        let other = if is_rotation { Reference::Turned } else { Reference::Carried };
        let class = |reference| Class {
            reference,
            lanes: vec![LaneWidth { bits: 32, beyond_bits: 0 }; lanes.len()],
        };
        let classes = [Reference::Baseline, other].map(class).to_vec();
        *code = FieldCode { context: Context::None, classes, lengths_bits: vec![vec![1, 2, 2]] };
    }
    profile
}

/// Samples `runs` at a lag: the sizes of all sets, and about `max_values` values of each field.
/// Some packets are skipped to keep this limit.
///
/// # Errors
/// [`TrainError`] if a snapshot does not fit the schema, or no run is longer than the lag.
pub(super) fn collect<R: AsRef<[Snapshot]>>(
    schema: &Schema,
    runs: &[R],
    lag_ticks: u32,
    max_values: usize,
) -> Result<Samples, TrainError> {
    let held = as_received(schema, runs, lag_ticks)?;
    let mut observer = Observer::new(schema)?;
    let fields = schema.fields().iter().map(|field| {
        let (lanes, is_rotation) = schema.differenced(field);
        FieldSamples {
            lanes_bits: lanes.iter().map(|lane| lane.bits() as u8).collect(),
            full_bits: schema.lanes()[field.lanes()]
                .iter()
                .map(|lane| u64::from(lane.bits()))
                .sum(),
            is_rotation,
            ..FieldSamples::default()
        }
    });
    let mut samples =
        Samples { fields: fields.collect(), entities: GapCounts::new(), flags: GapCounts::new() };
    let packets = |run: &R| {
        let run = run.as_ref();
        (0..run.len()).filter(|frame| Sample::at_lag(run, *frame, lag_ticks).is_some()).count()
    };
    let packets: usize = runs.iter().map(packets).sum();
    if packets == 0 {
        return Err(TrainError::TooShort);
    }
    let (mut changed, mut stride, mut begin) = (0usize, 1, 0u32);
    for is_counted in [false, true] {
        let mut packet = 0usize;
        for (nth, run) in runs.iter().enumerate() {
            let run = run.as_ref();
            let held = held.as_ref().map_or(run, |held| &held[nth]);
            for (frame, snapshot) in run.iter().enumerate() {
                let Some(sample) = Sample::at_lag(run, frame, lag_ticks) else { continue };
                packet += 1;
                if is_counted && (packet - 1) * 2 < packets {
                    samples.fields.iter_mut().for_each(|field| field.middle = field.kinds.len());
                }
                if is_counted && !(packet - 1).is_multiple_of(stride) {
                    continue;
                }
                sample.with(held, |baselines| observer.encode(baselines, snapshot))?;
                let entities = observer.encoder.changed.len();
                if is_counted {
                    observer.add_values(
                        &mut samples.fields,
                        sample.baseline(held),
                        snapshot,
                        begin,
                    );
                    begin += entities as u32;
                } else {
                    observer.count_gaps(&mut samples, usize::from(packet * 2 > packets), snapshot);
                    changed += entities;
                }
            }
        }
        stride = changed.div_ceil(max_values.max(1)).max(1);
    }
    Ok(samples)
}
