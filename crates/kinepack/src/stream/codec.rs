//! The codec of a stream: schema and level, checked once.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::adaptive::{self, Outside, Read, Told};
use super::learned::{Learned, State};
use super::packed;
use super::plan::Plan;
use crate::bits::{BitReader, BitWriter};
use crate::entropy::{RangeDecoder, RangeEncoder};
use crate::hash::Fnv1a;
use crate::schema::first_beyond;
use crate::{DecodeError, EncodeError, Pack, Schema, SetupError};

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
    plan: Plan,
    /// What is known before the first record.
    nothing: Learned,
}

/// A record that both sides hold, and what was learned up to it.
#[derive(Clone, Copy, Debug)]
pub struct StreamBase<'a> {
    /// Its lanes: those of a record that was encoded or decoded.
    pub lanes: &'a [u32],
    /// What was learned with it.
    pub learned: &'a Learned,
    /// How many records later the first one of the packet is: 1 for the next; 0 is taken as 1.
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
        let plan = Plan::new(&schema, level == StreamLevel::Adaptive);
        let mut hasher = Fnv1a::new();
        hasher.add(&schema.hash().to_le_bytes());
        hasher.add(&[level as u8]);
        let nothing = match level {
            StreamLevel::Packed => Learned::default(),
            StreamLevel::Adaptive => {
                plan.hash_into(&schema, &mut hasher);
                Learned::nothing(&plan, hasher.finish())
            }
        };
        Ok(Self(Arc::new(Tables { hash: hasher.finish(), plan, nothing, level, schema })))
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

    /// A hash over schema and level, and what is the velocity of what where that counts: equal on
    /// both sides, or they cannot read each other.
    pub fn hash(&self) -> u64 {
        self.0.hash
    }

    /// Lanes of a record.
    pub fn lanes(&self) -> usize {
        self.0.schema.lanes().len()
    }

    /// Quantizes a value into `record`, which has room for one. What the check of the type costs,
    /// [`Snapshot::push`](crate::Snapshot::push) says.
    ///
    /// # Errors
    /// [`EncodeError::TypeMismatch`] if the type has another schema, [`EncodeError::LaneCount`] if
    /// `record` has another length, and what [`Pack::quantize`] says of values that are not numbers
    /// or out of range. [`EncodeError::LaneOutOfRange`] means that the type's `Pack`, written by
    /// hand, contradicts its own schema. `record` then holds anything.
    pub fn quantize<T: Pack>(&self, value: &T, record: &mut [u32]) -> Result<(), EncodeError> {
        let expected_hash = self.0.schema.hash();
        let types = self.0.schema.types();
        types.check::<T>().map_err(|hash| EncodeError::TypeMismatch {
            id: None,
            expected_hash,
            hash,
        })?;
        self.check_count::<T>(record.len())
            .map_err(|[expected_lanes, lanes]| EncodeError::LaneCount { expected_lanes, lanes })?;
        value.quantize(record)?;
        match self.beyond(record) {
            Some((lane, value)) => Err(EncodeError::LaneOutOfRange { id: None, lane, value }),
            None => Ok(()),
        }
    }

    /// The value of a record.
    ///
    /// # Errors
    /// [`DecodeError::TypeMismatch`] if the type has another schema, [`DecodeError::LaneCount`] if
    /// `record` is no record, and [`DecodeError::LaneOutOfRange`].
    pub fn reconstruct<T: Pack>(&self, record: &[u32]) -> Result<T, DecodeError> {
        let expected_hash = self.0.schema.hash();
        let types = self.0.schema.types();
        types.check::<T>().map_err(|hash| DecodeError::TypeMismatch { expected_hash, hash })?;
        self.check_count::<T>(record.len())
            .map_err(|[expected_lanes, lanes]| DecodeError::LaneCount { expected_lanes, lanes })?;
        match self.beyond(record) {
            Some((lane, value)) => Err(DecodeError::LaneOutOfRange { lane, value }),
            None => Ok(T::reconstruct(record)),
        }
    }

    /// The lanes that there should be, and another number that is there.
    fn check_count<T: Pack>(&self, given: usize) -> Result<(), [usize; 2]> {
        let lanes = self.lanes();
        [T::LANES, given]
            .into_iter()
            .find(|other| *other != lanes)
            .map_or(Ok(()), |other| Err([lanes, other]))
    }

    /// What is known before the first record; memory for what will be learned, also.
    pub fn nothing_learned(&self) -> Learned {
        self.0.nothing.clone()
    }

    /// Appends to `out` a packet of `records`, lane after lane, record after record, the oldest
    /// first: the first one against `base`, each further one against the one before it. `learned`
    /// becomes what was learned up to the last of them.
    ///
    /// Allocates only where the vector's capacity runs out.
    ///
    /// # Errors
    /// [`EncodeError::LaneCount`] where `records` are no whole number of records, at least one, or
    /// the base is none, [`EncodeError::LaneOutOfRange`] where a lane of them or of the base is
    /// above its largest value, [`EncodeError::ForeignLearned`] where what was learned with the
    /// base is of another codec, at a level that learns. `out` is then as it was.
    pub fn encode(
        &self,
        base: Option<StreamBase<'_>>,
        records: &[u32],
        learned: &mut Learned,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        let expected_lanes = self.lanes();
        self.check(base, records.len())
            .map_err(|lanes| EncodeError::LaneCount { expected_lanes, lanes })?;
        let beyond = base.and_then(|base| self.beyond(base.lanes)).or_else(|| self.beyond(records));
        if let Some((lane, value)) = beyond {
            return Err(EncodeError::LaneOutOfRange { id: None, lane, value });
        }
        let mut writer = BitWriter::append(out);
        let mut before = base.map(|base| base.lanes);
        let records = records.chunks_exact(expected_lanes);
        match self.0.level {
            StreamLevel::Packed => records.for_each(|record| {
                packed::write(&mut writer, &self.0.plan, before, record);
                before = Some(record);
            }),
            StreamLevel::Adaptive => {
                let learned =
                    learned.copy_from(self.learned_with(base).ok_or(EncodeError::ForeignLearned)?);
                let mut lag = base.map_or(1, |base| base.lag);
                let mut coder = RangeEncoder::new(&mut writer);
                records.for_each(|record| {
                    let coded = adaptive::code(
                        &mut coder,
                        &self.0.plan,
                        learned,
                        before,
                        lag,
                        Told(record),
                    );
                    debug_assert!(coded.is_ok(), "values are within their lanes");
                    (before, lag) = (Some(record), 1);
                });
                coder.finish();
            }
        }
        writer.finish().map(|_| ())
    }

    /// Reads a packet of as many records as `records` have room for, all of `bytes`, written
    /// against the same base. `learned` becomes what was learned up to the last of them.
    ///
    /// Never panics; allocates nothing; `records` and `learned` hold anything where the packet is
    /// refused.
    ///
    /// # Errors
    /// [`DecodeError`] for what no encoder wrote. [`DecodeError::LaneCount`] where `records` are no
    /// whole number of records, at least one, or the base is none, [`DecodeError::LaneOutOfRange`]
    /// where a lane of the base is above its largest value, [`DecodeError::NothingLearned`] where
    /// what was learned with it is of another codec, at a level that learns.
    pub fn decode(
        &self,
        base: Option<StreamBase<'_>>,
        records: &mut [u32],
        learned: &mut Learned,
        bytes: &[u8],
    ) -> Result<(), DecodeError> {
        let expected_lanes = self.lanes();
        self.check(base, records.len())
            .map_err(|lanes| DecodeError::LaneCount { expected_lanes, lanes })?;
        if let Some((lane, value)) = base.and_then(|base| self.beyond(base.lanes)) {
            return Err(DecodeError::LaneOutOfRange { lane, value });
        }
        let mut reader = BitReader::new(bytes);
        let mut before = base.map(|base| base.lanes);
        let records = records.chunks_exact_mut(expected_lanes);
        match self.0.level {
            StreamLevel::Packed => {
                for record in records {
                    packed::read(&mut reader, &self.0.plan, before, record)?;
                    before = Some(record);
                }
                reader.finish()
            }
            StreamLevel::Adaptive => {
                let learned =
                    learned.copy_from(self.learned_with(base).ok_or(DecodeError::NothingLearned)?);
                let mut lag = base.map_or(1, |base| base.lag);
                let mut coder = RangeDecoder::new(&mut reader);
                for record in records {
                    let coded = adaptive::code(
                        &mut coder,
                        &self.0.plan,
                        learned,
                        before,
                        lag,
                        Read(record),
                    );
                    coded.map_err(|Outside| DecodeError::OutOfRange {
                        at_bit: 8 * bytes.len() as u64,
                    })?;
                    before = Some(record);
                    lag = 1;
                }
                coder.finish()
            }
        }
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

    /// The first value of records that is above the largest of its lane, with the lane.
    fn beyond(&self, records: &[u32]) -> Option<(usize, u32)> {
        let maxima = &self.0.plan.maxima;
        records.chunks_exact(maxima.len()).find_map(|record| first_beyond(record, maxima))
    }

    /// What to go on from, at a level that learns; `None` where it is of another codec.
    fn learned_with<'a>(&'a self, base: Option<StreamBase<'a>>) -> Option<&'a State> {
        base.map_or(&self.0.nothing, |base| base.learned).of(self.0.hash)
    }
}
