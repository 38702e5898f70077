//! The codec of a stream: schema and level, checked once.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::packed;
use super::plan::{Part, parts};
use crate::hash::Fnv1a;
use crate::{BitReader, BitWriter, DecodeError, EncodeError, Pack, Schema, SetupError};

/// How records are coded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StreamLevel {
    /// Bit-packed: the least work, and nothing is kept beside the records.
    #[default]
    Packed,
    /// Predicted and range coded: the fewest bits.
    Adaptive,
}

/// What both ends of a stream agree on. Cheap to clone: what it holds is shared.
#[derive(Clone, Debug)]
pub struct StreamCodec(Arc<Tables>);

#[derive(Debug)]
pub(super) struct Tables {
    schema: Schema,
    level: StreamLevel,
    hash: u64,
    parts: Vec<Part>,
}

/// What was learned along the records up to one of them. Of the same size for all records of a codec; nothing at level `Packed`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Learned {}

/// A record that both sides hold, and what was learned up to it.
#[derive(Clone, Copy, Debug)]
pub struct StreamBase<'a> {
    /// Its lanes.
    pub lanes: &'a [u32],
    /// What was learned with it.
    pub learned: &'a Learned,
    /// How many records later the first one of the packet is: 1 for the next.
    pub lag: u16,
}

impl StreamCodec {
    /// A codec for records of `schema`.
    ///
    /// # Errors
    /// [`SetupError::NoLanes`] where there is nothing to send.
    pub fn new(schema: Schema, level: StreamLevel) -> Result<Self, SetupError> {
        if schema.lanes().is_empty() {
            return Err(SetupError::NoLanes);
        }
        let mut hasher = Fnv1a::new();
        hasher.add(&schema.hash().to_le_bytes());
        hasher.add(&[level as u8]);
        let parts = parts(&schema);
        Ok(Self(Arc::new(Tables { hash: hasher.finish(), parts, level, schema })))
    }

    /// A codec for values of a type that derives [`Pack`].
    ///
    /// # Errors
    /// [`SetupError::NoLanes`] where there is nothing to send.
    pub fn of<T: Pack>(level: StreamLevel) -> Result<Self, SetupError> {
        Self::new(Schema::of::<T>(), level)
    }

    /// The schema.
    pub fn schema(&self) -> &Schema {
        &self.0.schema
    }

    /// The level.
    pub fn level(&self) -> StreamLevel {
        self.0.level
    }

    /// A hash over schema and level: equal on both sides, or they cannot read each other.
    pub fn hash(&self) -> u64 {
        self.0.hash
    }

    /// Lanes of a record.
    pub fn lanes(&self) -> usize {
        self.0.schema.lanes().len()
    }

    /// What is known before the first record; memory for what will be learned, also.
    pub fn nothing_learned(&self) -> Learned {
        Learned {}
    }

    /// Appends to `out` a packet of `records`, lane after lane, record after record, the oldest first: the first one against `base`, each
    /// further one against the one before it. `learned` becomes what was learned up to the last of them.
    ///
    /// Allocates only where the vector's capacity runs out.
    ///
    /// # Errors
    /// [`EncodeError::LaneCount`] where `records` are no whole number of records, at least one, or the base is none. `out` is then as it was.
    pub fn encode(
        &self,
        base: Option<StreamBase<'_>>,
        records: &[u32],
        learned: &mut Learned,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        self.check(base, records.len())
            .map_err(|lanes| EncodeError::LaneCount { expected_lanes: self.lanes(), lanes })?;
        let _ = learned;
        let all = self.0.schema.lanes();
        let mut writer = BitWriter::append(out);
        let mut before = base.map(|base| base.lanes);
        for record in records.chunks_exact(self.lanes()) {
            match before {
                Some(base) => packed::write(&mut writer, &self.0.parts, all, base, record),
                None => packed::write_full(&mut writer, all, record),
            }
            before = Some(record);
        }
        writer.finish().map(|_| ())
    }

    /// Reads a packet of as many records as `records` have room for, all of `bytes`, written against the same base. `learned`
    /// becomes what was learned up to the last of them.
    ///
    /// Never panics; allocates nothing; `records` and `learned` hold anything where the packet is refused.
    ///
    /// # Errors
    /// [`DecodeError`] for what no encoder wrote. [`DecodeError::LaneCount`] where `records` are no whole number of records, at least one, or the base is none.
    pub fn decode(
        &self,
        base: Option<StreamBase<'_>>,
        records: &mut [u32],
        learned: &mut Learned,
        bytes: &[u8],
    ) -> Result<(), DecodeError> {
        self.check(base, records.len())
            .map_err(|lanes| DecodeError::LaneCount { expected_lanes: self.lanes(), lanes })?;
        let _ = learned;
        let all = self.0.schema.lanes();
        let mut reader = BitReader::new(bytes);
        let lanes = self.lanes();
        for start in (0..records.len()).step_by(lanes) {
            let (before, record) = records.split_at_mut(start);
            let before = if start > 0 { Some(&before[start - lanes..]) } else { base.map(|base| base.lanes) };
            match before {
                Some(base) => packed::read(&mut reader, &self.0.parts, all, base, &mut record[..lanes])?,
                None => packed::read_full(&mut reader, all, &mut record[..lanes])?,
            }
        }
        reader.finish()
    }

    /// An error with the number of lanes that there should not be.
    fn check(&self, base: Option<StreamBase<'_>>, given: usize) -> Result<(), usize> {
        let lanes = self.lanes();
        let of_base = base.map_or(lanes, |base| base.lanes.len());
        if of_base != lanes {
            return Err(of_base);
        }
        if given == 0 || !given.is_multiple_of(lanes) { Err(given) } else { Ok(()) }
    }
}
