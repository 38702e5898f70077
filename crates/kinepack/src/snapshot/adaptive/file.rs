//! Reads and writes a model as bytes. See `spec/CODEC.md`, section 13.2.

use alloc::vec::Vec;

use super::bodies::{Bodies, BodyKind, MAX_BANDS, MAX_BODY_KINDS, MAX_ID_RANGES};
use super::counters::{EVEN, START};
use super::model::{MAX_RANGES, Model};
use super::numbers::{Energies, FEATURES, Row, rounded};
use super::plan::Plan;
use crate::entropy::Counter;
use crate::file_numbers::{Reader, Writer};
use crate::{Schema, SetupError};

/// The version in which alike fields share counters. Models without shared counters use earlier
/// versions.
pub(in crate::snapshot) const VERSION_4: u8 = 4;
/// The version in which a model has counters of added entities.
const VERSION_3: u8 = 3;
/// The version in which a model has the energies of its features.
const VERSION_2: u8 = 2;
/// The first version of the format. A profile without a model has this version.
pub(in crate::snapshot) const VERSION_1: u8 = 1;

/// The number by which a weight is multiplied before it is stored as an integer.
const STORED_PER_ONE: f32 = 4096.0;

/// The largest weight that a file can store.
const MAX_WEIGHT: f32 = 64.0;

/// Rounds and limits a weight to what a file can store.
pub(super) fn storable(weight: f32) -> f32 {
    let stored = weight.clamp(-MAX_WEIGHT, MAX_WEIGHT) * STORED_PER_ONE;
    rounded(f64::from(stored)) as f32 / STORED_PER_ONE
}

/// Converts an optional number to the form in files: 0 if it is absent, otherwise the number plus
/// 1.
fn plus_one(value: Option<u64>) -> u64 {
    value.map_or(0, |value| value + 1)
}

impl Model {
    /// Returns the oldest version of a plain file that can hold the model.
    pub(in crate::snapshot) fn file_version(&self) -> u8 {
        if self.is_shared {
            VERSION_4
        } else if self.counters[self.newcomers..].iter().any(|counter| *counter != START) {
            VERSION_3
        } else if self.energies.is_empty() {
            VERSION_1
        } else {
            VERSION_2
        }
    }

    pub(in crate::snapshot) fn write(&self, writer: &mut Writer<'_>) {
        let version = self.file_version();
        writer.number(u64::from(self.bodies.is_some()));
        if let Some(bodies) = &self.bodies {
            bodies.write(writer);
        }
        writer.number(self.max_lags_ticks.len() as u64);
        self.max_lags_ticks.iter().for_each(|max| writer.number(u64::from(*max)));
        for row in self.sets.iter().flatten() {
            let used = FEATURES - row.iter().rev().take_while(|weight| **weight == 0.0).count();
            writer.number(used as u64);
            row[..used].iter().for_each(|weight| writer.signed((weight * STORED_PER_ONE) as i32));
        }
        // A run of counters without observations is stored as the run's length.
        let mut fresh = 0u64;
        let counters = if version < VERSION_3 { self.newcomers } else { self.counters.len() };
        for (index, counter) in self.counters[..counters].iter().enumerate() {
            if *counter == untrained(index, self.newcomers) {
                fresh += 1;
                continue;
            }
            writer.number(fresh);
            writer.number(u64::from(counter.probability()));
            writer.number(u64::from(counter.count()));
            fresh = 0;
        }
        writer.number(fresh);
        for energies in self.energies.iter().flatten() {
            let used = FEATURES - energies.iter().rev().take_while(|energy| **energy == 0).count();
            writer.list(&energies[..used]);
        }
    }

    /// Reads a model that [`write`](Self::write) wrote, in this or an older version.
    pub(in crate::snapshot) fn read(
        reader: &mut Reader<'_>,
        schema: &Schema,
        version: u8,
    ) -> Result<Self, SetupError> {
        let bodies = match reader.number()? {
            0 => None,
            1 => Some(Bodies::read(reader)?),
            _ => return Err(SetupError::BadProfileFile),
        };
        let plan = Plan::new(schema, bodies.as_ref(), version == VERSION_4)?;
        let max_lags_ticks = reader.many(MAX_RANGES, Reader::number)?;
        let set = |reader: &mut Reader<'_>| (0..plan.rows).map(|_| read_row(reader)).collect();
        let sets: Vec<_> =
            (0..2 * max_lags_ticks.len()).map(|_| set(reader)).collect::<Result<_, _>>()?;
        // Older versions of files have no counters of added entities.
        let len = if version < VERSION_3 { plan.layout.newcomers } else { plan.layout.len };
        let mut counters = Vec::new();
        loop {
            let fresh = reader.number()? as usize;
            if fresh > len - counters.len() {
                return Err(SetupError::BadProfileFile);
            }
            let first = counters.len();
            let untrained = |index| untrained(index, plan.layout.newcomers);
            counters.extend((first..first + fresh).map(untrained));
            if counters.len() == len {
                break;
            }
            let [probability, count] = [reader.number()?, reader.number()?];
            let counter = u16::try_from(probability).ok().zip(u8::try_from(count).ok());
            let (probability, count) = counter.ok_or(SetupError::BadProfileFile)?;
            counters.push(Counter::new(probability, count));
        }
        counters.resize(plan.layout.len, START);
        let mut energies = Vec::new();
        if version > VERSION_1 {
            let set =
                |reader: &mut Reader<'_>| (0..plan.rows).map(|_| read_energies(reader)).collect();
            energies = (0..sets.len()).map(|_| set(reader)).collect::<Result<_, _>>()?;
        }
        let newcomers = plan.layout.newcomers;
        let is_shared = plan.is_shared;
        Ok(Self { bodies, max_lags_ticks, sets, energies, counters, newcomers, is_shared })
    }
}

/// Returns the counter at this index before training.
fn untrained(index: usize, newcomers: usize) -> Counter {
    if index < newcomers { EVEN } else { START }
}

fn read_row(reader: &mut Reader<'_>) -> Result<Row, SetupError> {
    let mut row = [0.0; FEATURES];
    let used = reader.number()? as usize;
    for weight in row.get_mut(..used).ok_or(SetupError::BadProfileFile)? {
        *weight = reader.signed()? as f32 / STORED_PER_ONE;
        if weight.abs() > MAX_WEIGHT {
            return Err(SetupError::BadProfileFile);
        }
    }
    Ok(row)
}

fn read_energies(reader: &mut Reader<'_>) -> Result<Energies, SetupError> {
    let mut energies = [0; FEATURES];
    let used = reader.list()?;
    energies.get_mut(..used.len()).ok_or(SetupError::BadProfileFile)?.copy_from_slice(used);
    Ok(energies)
}

impl Bodies {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.number(self.position as u64);
        writer.number(self.rotation as u64);
        writer.number(plus_one(self.touched.map(|field| field as u64)));
        writer.number(plus_one(self.mover.map(|field| field as u64)));
        writer.number(u64::from(self.up));
        writer.number(plus_one(self.floor.map(u64::from)));
        writer.number(self.kinds.len() as u64);
        for kind in &self.kinds {
            kind.half_extents.iter().for_each(|extent| writer.number(u64::from(*extent)));
            writer.number(u64::from(kind.mover));
        }
        writer.number(self.kind_of_ids.len() as u64);
        for (first, kind) in &self.kind_of_ids {
            writer.number(u64::from(*first));
            writer.number(u64::from(*kind));
        }
        writer.number(u64::from(self.size));
        writer.number(u64::from(self.reach));
        writer.number(self.bands.len() as u64);
        self.bands.iter().for_each(|edge| writer.number(u64::from(*edge)));
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, SetupError> {
        let byte = |value: u32| u8::try_from(value).map_err(|_| SetupError::BadProfileFile);
        let less_one = |value: u32| value.checked_sub(1);
        Ok(Self {
            position: reader.number()? as usize,
            rotation: reader.number()? as usize,
            touched: less_one(reader.number()?).map(|field| field as usize),
            mover: less_one(reader.number()?).map(|field| field as usize),
            up: byte(reader.number()?)?,
            floor: less_one(reader.number()?),
            kinds: reader.many(MAX_BODY_KINDS, |reader| {
                let half_extents = [reader.number()?, reader.number()?, reader.number()?];
                let mover = match reader.number()? {
                    0 => false,
                    1 => true,
                    _ => return Err(SetupError::BadProfileFile),
                };
                Ok(BodyKind { half_extents, mover })
            })?,
            kind_of_ids: reader
                .many(MAX_ID_RANGES, |reader| Ok((reader.number()?, byte(reader.number()?)?)))?,
            size: reader.number()?,
            reach: reader.number()?,
            bands: reader.many(MAX_BANDS, Reader::number)?,
        })
    }
}
