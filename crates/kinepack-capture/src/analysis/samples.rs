//! Keeps samples of a stream's frames before quantization, with their baselines. The analysis tries
//! changes of the schema on these samples.

use std::collections::VecDeque;
use std::sync::Arc;

use kinepack::codec::Chosen;
use kinepack::training::{TrainError, Trainer};
use kinepack::{
    Codec, EncodeError, Encoder, EntityId, Level, Profile, Schema, Snapshot, Tick, View,
};

use super::past::falling;

/// The maximum number of bytes of a stream's samples.
const MAX_BYTES: usize = 96 << 20;

/// A frame of raw words.
#[derive(Clone, Debug, Default)]
pub(super) struct RawFrame {
    tick: Tick,
    /// The ids of the entities, kind by kind.
    ids: Vec<EntityId>,
    /// For each kind, the index after its last entity.
    ends: Vec<usize>,
    /// The raw words, entity by entity.
    words: Vec<u64>,
}

impl RawFrame {
    pub(super) fn new(tick: Tick, lanes: usize, entities: usize) -> Self {
        Self {
            tick,
            ids: Vec::with_capacity(entities),
            ends: Vec::new(),
            words: Vec::with_capacity(entities * lanes),
        }
    }

    pub(super) fn push(&mut self, id: EntityId, words: &[u64]) {
        self.ids.push(id);
        self.words.extend_from_slice(words);
    }

    /// Ends a kind. All entities pushed since the end of the previous kind belong to this kind.
    pub(super) fn finish_kind(&mut self) {
        self.ends.push(self.ids.len());
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.words[..]) + size_of_val(&self.ids[..])
    }

    /// Returns the frame as a snapshot of a changed schema, which is made from the stream's fields.
    fn snapshot(&self, changed: &Changed) -> Result<Snapshot, EncodeError> {
        let mut snapshot = Snapshot::new(&changed.schema, self.tick);
        let (mut words, mut first) = (&self.words[..], 0);
        for (index, (kind, &end)) in changed.kinds.iter().zip(&self.ends).enumerate() {
            let mut lanes = vec![0; kind.schema.lanes().len()];
            for id in &self.ids[first..end] {
                let (of_entity, after) = words.split_at(kind.words);
                words = after;
                kind.quantize(of_entity, &mut lanes);
                snapshot.push_lanes_of(index, *id, &lanes)?;
            }
            first = end;
        }
        Ok(snapshot)
    }
}

/// A changed schema to try.
pub(super) struct Changed {
    pub(super) schema: Schema,
    pub(super) kinds: Vec<ChangedKind>,
}

/// One kind of a changed schema, and the positions of its fields' raw words.
pub(super) struct ChangedKind {
    /// A schema of the kind alone.
    pub(super) schema: Schema,
    /// The number of raw words of an entity.
    pub(super) words: usize,
    pub(super) from: Vec<std::ops::Range<usize>>,
    /// For each field, whether it was a bare `f32` and becomes numbers with limits.
    pub(super) is_bare: Vec<bool>,
}

impl ChangedKind {
    /// Quantizes the raw words of an entity. Fields whose values are not numbers become zero.
    fn quantize(&self, words: &[u64], lanes: &mut [u32]) {
        for ((field, from), is_bare) in
            self.schema.fields().iter().zip(&self.from).zip(&self.is_bare)
        {
            let lanes = &mut lanes[field.lanes()];
            let words = &words[from.clone()];
            let numbers: Vec<u64>;
            let words = if *is_bare {
                numbers = words
                    .iter()
                    .map(|word| f64::from(f32::from_bits(*word as u32)).to_bits())
                    .collect();
                &numbers
            } else {
                words
            };
            if field.quantize_raw(words, lanes).is_err() {
                lanes.fill(0);
            }
        }
        self.schema.clear_absent(lanes);
        // Other limits make other multiples of the steps.
        self.schema.round_coarse(lanes);
    }
}

/// All samples of a stream.
pub(super) struct Samples {
    lag: u32,
    last: VecDeque<Arc<RawFrame>>,
    /// For each sample, its frame, the baseline, and an older frame.
    taken: Vec<[Arc<RawFrame>; 3]>,
    bytes: usize,
}

impl Samples {
    pub(super) fn new(lag: u32) -> Self {
        Self { lag, last: VecDeque::new(), taken: Vec::new(), bytes: 0 }
    }

    /// Adds the next frame of the stream. If `is_wanted` is true, the frame becomes a sample as
    /// long as there is room.
    pub(super) fn add(&mut self, frame: RawFrame, is_wanted: bool) {
        if self.last.len() > 2 * self.lag as usize {
            self.last.pop_front();
        }
        self.last.push_back(Arc::new(frame));
        // Finds the newest frame that is at least a lag older.
        let before = |frame: &RawFrame| {
            let newest = frame.tick.0.checked_sub(self.lag)?;
            let after = self.last.partition_point(|frame| frame.tick.0 <= newest);
            Some(Arc::clone(&self.last[after.checked_sub(1)?]))
        };
        let newest = self.last.back().map(Arc::clone);
        let baseline = newest.as_deref().and_then(before);
        let older = baseline.as_deref().and_then(before);
        let found = newest.zip(baseline).zip(older);
        if let Some(((newest, baseline), older)) =
            found.filter(|_| is_wanted && self.bytes < MAX_BYTES)
        {
            self.bytes += newest.bytes() + baseline.bytes() + older.bytes();
            self.taken.push([newest, baseline, older]);
        }
    }

    /// Returns the number of words of all samples.
    pub(super) fn words(&self) -> u64 {
        self.taken.iter().flatten().map(|frame| frame.words.len() as u64).sum()
    }

    /// Keeps samples at equal distances: as many as fit into `most_words`, but at least one.
    pub(super) fn thin(&mut self, most_words: u64) {
        let stride = self.words().div_ceil(most_words.max(1)).max(1) as usize;
        let mut index = 0;
        self.taken.retain(|_| {
            index += 1;
            (index - 1) % stride == 0
        });
    }

    /// Returns the mean number of bytes of a frame. The samples are coded with the changed schema
    /// at the level `packed`, with word lengths trained on the samples.
    pub(super) fn bytes_per_frame(&self, changed: &Changed) -> Result<f64, TrainError> {
        let schema = &changed.schema;
        if self.taken.is_empty() || schema.lanes().is_empty() {
            return Ok(0.0);
        }
        let snapshots = |sample: &[Arc<RawFrame>; 3]| -> Result<[Snapshot; 3], EncodeError> {
            let [newest, baseline, older] = sample;
            Ok([newest.snapshot(changed)?, baseline.snapshot(changed)?, older.snapshot(changed)?])
        };
        let mut trainer = Trainer::new(schema.clone(), Profile::magnitudes(schema))?;
        for sample in &self.taken {
            let [newest, baseline, older] = snapshots(sample)?;
            trainer.observe(&baseline, &[&older], &newest)?;
        }
        let codec = Codec::new(schema.clone(), Level::PACKED, trainer.finish())?;
        let mut encoder = Encoder::new(&codec);
        let (mut packet, mut bytes) = (Vec::new(), 0);
        for sample in &self.taken {
            let [newest, baseline, older] = snapshots(sample)?;
            let views = [baseline, older].map(View::from);
            let Some(known) = falling(views.iter()) else { continue };
            packet.clear();
            encoder.write(known, &newest, Chosen::All, &mut packet)?;
            bytes += packet.len();
        }
        Ok(bytes as f64 / self.taken.len() as f64)
    }
}
