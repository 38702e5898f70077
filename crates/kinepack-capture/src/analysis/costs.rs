//! Counts the bits of a stream at each level, by field and by entity.

use std::collections::HashMap;
use std::sync::Arc;

use kinepack::codec::Chosen;
use kinepack::{Codec, EncodeError, Encoder, Level, Profile, Schema, SetupError, Snapshot, View};
use serde::Serialize;

use super::past::Past;
use crate::levels;

/// The number of entities whose bits are reported.
const ENTITIES: usize = 10;
/// The number of entities whose bits are summed up. If there are more than twice as many, the
/// cheapest entities are dropped.
const KEPT_ENTITIES: usize = 200_000;

/// The cost of a level at the lag of the analysis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LevelCost {
    /// The name of the level.
    pub level: String,
    /// The stage that the level adds to the level above it in the table.
    pub adds: &'static str,
    /// The number of the level's row in the table.
    pub row: u8,
    /// The mean number of bytes of a frame, without headers.
    pub bytes_per_frame: f64,
    /// The kilobits per second, without headers.
    pub kbps: f64,
    /// The bits per frame of the sets: changed entities and fields, added and removed entities.
    pub sets_bits_per_frame: f64,
    /// The bits per frame of the values of entities that the baseline does not have. The bits of
    /// the fields include these bits.
    pub added_bits_per_frame: f64,
}

/// The cost of two levels at a lag.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LagCost {
    /// The minimum age of the baseline, in ticks.
    pub lag: u32,
    /// The kilobits per second of `packed`, without headers.
    pub packed_kbps: f64,
    /// The kilobits per second of `adaptive`, without headers.
    pub adaptive_kbps: f64,
}

/// The bits of an entity at the level `packed`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EntityCost {
    /// The entity's id.
    pub id: u32,
    /// The entity's kilobits per second over the whole stream.
    pub kbps: f64,
    /// The entity's share of the bits of all entities.
    pub share: f64,
}

/// Returns the levels that send differences from a baseline, and before them the level that only
/// quantizes.
fn levels() -> impl Iterator<Item = Level> {
    Level::TABLE.into_iter().filter(|level| level.row() >= levels::FIRST_QUANTIZED_ROW)
}

/// Encodes every frame at every level.
pub(super) struct Costs {
    runs: Vec<Run>,
    /// The number of frames that had a baseline.
    compared: u64,
    entities_bits: HashMap<u32, u64>,
    lag: u32,
}

struct Run {
    level: Level,
    has_precision: bool,
    encoder: Encoder,
    bytes: u64,
    sets_bits: u64,
    added_bits: u64,
    fields_bits: Vec<u64>,
    lanes_bits: Vec<u64>,
    /// The receiver's views of the last frames.
    past: Past,
}

impl Costs {
    pub(super) fn new(schema: &Schema, profile: &Profile, lag: u32) -> Result<Self, SetupError> {
        let run = |level: Level| {
            let codec = Codec::new(schema.clone(), level, profile.clone())?;
            let mut encoder = Encoder::new(&codec);
            encoder.count_entity_bits(true);
            let [fields_bits, lanes_bits] =
                [schema.fields().len(), schema.lanes().len()].map(|count| vec![0; count]);
            let has_precision = codec.has_precision();
            let past = Past::new(3 * lag as usize);
            Ok(Run {
                level,
                has_precision,
                encoder,
                bytes: 0,
                sets_bits: 0,
                added_bits: 0,
                fields_bits,
                lanes_bits,
                past,
            })
        };
        let runs = levels().map(run).collect::<Result<_, _>>()?;
        Ok(Self { runs, compared: 0, entities_bits: HashMap::new(), lag })
    }

    /// Adds the next frame, both exact and as the receivers view it.
    pub(super) fn add(
        &mut self,
        [exact, received]: [&Arc<Snapshot>; 2],
        packet: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        let tick = exact.tick;
        for (index, run) in self.runs.iter_mut().enumerate() {
            let newest = if run.has_precision { received } else { exact };
            let mut view = View::from(Arc::clone(newest));
            if let Some(known) = run.past.baselines(tick, self.lag) {
                self.compared += u64::from(index == 0);
                packet.clear();
                let encoded = run.encoder.write(known, newest, Chosen::All, packet)?;
                view = view.with_learned(encoded.learned().cloned());
                let size = run.encoder.size();
                run.bytes += packet.len() as u64;
                run.sets_bits += size.sets_bits;
                add(&mut run.fields_bits, &size.fields_bits);
                add(&mut run.lanes_bits, run.encoder.lane_bits());
                let baseline = run.past.before(tick, self.lag);
                for &(index, bits) in run.encoder.entity_bits() {
                    let id = newest.ids()[index as usize];
                    let kind = newest.kind_at(index as usize);
                    let is_new = |baseline: &View| {
                        baseline.position(id).and_then(|at| baseline.kind_at(at)) != kind
                    };
                    if baseline.is_some_and(is_new) {
                        run.added_bits += u64::from(bits);
                    }
                    if run.level == Level::PACKED {
                        *self.entities_bits.entry(id.0).or_default() += u64::from(bits);
                    }
                }
            }
            run.past.push(view);
        }
        if self.entities_bits.len() > 2 * KEPT_ENTITIES {
            let mut costly: Vec<(u32, u64)> = self.entities_bits.drain().collect();
            costly.sort_unstable_by_key(|(id, bits)| (std::cmp::Reverse(*bits), *id));
            costly.truncate(KEPT_ENTITIES);
            self.entities_bits.extend(costly);
        }
        Ok(())
    }

    fn per_frame(&self, sum: u64) -> f64 {
        sum as f64 / self.compared.max(1) as f64
    }

    /// Returns the costs of the levels, in the order of the table.
    pub(super) fn levels(&self, frames_per_s: f64) -> Vec<LevelCost> {
        let cost = |run: &Run| {
            let bytes_per_frame = self.per_frame(run.bytes);
            LevelCost {
                level: run.level.name().to_owned(),
                adds: levels::summary(run.level),
                row: run.level.row(),
                bytes_per_frame,
                kbps: kbps(bytes_per_frame, frames_per_s),
                sets_bits_per_frame: self.per_frame(run.sets_bits),
                added_bits_per_frame: self.per_frame(run.added_bits),
            }
        };
        self.runs.iter().map(cost).collect()
    }

    /// Returns a field's bits per frame at each level.
    pub(super) fn field_bits_per_frame(&self, field: usize) -> Vec<f64> {
        self.runs.iter().map(|run| self.per_frame(run.fields_bits[field])).collect()
    }

    /// Returns the bits per frame of a lane's values at each level.
    pub(super) fn lane_bits_per_frame(&self, lane: usize) -> Vec<f64> {
        self.runs.iter().map(|run| self.per_frame(run.lanes_bits[lane])).collect()
    }

    /// Returns the entities that took the most bits.
    pub(super) fn entities(&self, frames_per_s: f64) -> Vec<EntityCost> {
        let all: u64 = self.entities_bits.values().sum();
        let mut costly: Vec<(u32, u64)> =
            self.entities_bits.iter().map(|(id, bits)| (*id, *bits)).collect();
        costly.sort_unstable_by_key(|(id, bits)| (std::cmp::Reverse(*bits), *id));
        costly.truncate(ENTITIES);
        let cost = |(id, bits): (u32, u64)| EntityCost {
            id,
            kbps: kbps(self.per_frame(bits) / 8.0, frames_per_s),
            share: bits as f64 / all.max(1) as f64,
        };
        costly.into_iter().map(cost).collect()
    }
}

fn add(sums: &mut [u64], bits: &[u64]) {
    sums.iter_mut().zip(bits).for_each(|(sum, bits)| *sum += bits);
}

/// Encodes some frames against baselines of several ages.
pub(super) struct Sweep {
    lags: Vec<u32>,
    encoders: [Encoder; 2],
    /// The numbers of bytes and of frames for each level and lag.
    sums: Vec<[u64; 2]>,
    counts: Vec<u64>,
}

impl Sweep {
    pub(super) fn new(
        schema: &Schema,
        profile: &Profile,
        lags: &[u32],
    ) -> Result<Self, SetupError> {
        let codec = |level| Codec::new(schema.clone(), level, profile.clone());
        let codecs = [codec(Level::PACKED)?, codec(Level::ADAPTIVE)?];
        Ok(Self {
            encoders: codecs.each_ref().map(Encoder::new),
            sums: vec![[0; 2]; lags.len()],
            counts: vec![0; lags.len()],
            lags: lags.to_vec(),
        })
    }

    /// Adds the next frame. `received` holds the receivers' views before that frame.
    pub(super) fn add(
        &mut self,
        newest: &Snapshot,
        received: &Past,
        packet: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        for (index, lag) in self.lags.iter().enumerate() {
            let Some(known) = received.baselines(newest.tick, *lag) else { continue };
            for (level, encoder) in self.encoders.iter_mut().enumerate() {
                packet.clear();
                encoder.write(known, newest, Chosen::All, packet)?;
                self.sums[index][level] += packet.len() as u64;
            }
            self.counts[index] += 1;
        }
        Ok(())
    }

    pub(super) fn finish(&self, frames_per_s: f64) -> Vec<LagCost> {
        let cost = |index: usize| {
            let of = |level: usize| {
                kbps(self.sums[index][level] as f64 / self.counts[index] as f64, frames_per_s)
            };
            LagCost { lag: self.lags[index], packed_kbps: of(0), adaptive_kbps: of(1) }
        };
        (0..self.lags.len()).filter(|index| self.counts[*index] > 0).map(cost).collect()
    }
}

/// Converts bytes per frame to kilobits per second.
pub(super) fn kbps(bytes_per_frame: f64, frames_per_s: f64) -> f64 {
    bytes_per_frame * 8.0 * frames_per_s / 1000.0
}
