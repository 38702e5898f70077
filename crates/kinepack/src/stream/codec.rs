//! A codec of a stream: a schema and a level, checked once.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::adaptive::{self, Given, Outside, Read};
use super::learned::{Learned, State};
use super::packed;
use super::plan::Plan;
use crate::bits::{BitReader, BitWriter};
use crate::entropy::{RangeDecoder, RangeEncoder};
use crate::hash::Fnv1a;
use crate::{DecodeError, EncodeError, Pack, Schema, SetupError};

/// The method by which records are coded.
///
/// ```
/// use kinepack::Pack;
/// use kinepack::stream::{StreamCodec, StreamLevel};
///
/// #[derive(Pack)]
/// struct Input {
///     #[pack(range = 0.0..360.0, bits = 16, wrap)]
///     view_deg: f32,
/// }
///
/// let mut bytes = Vec::new();
/// for level in [StreamLevel::Packed, StreamLevel::Adaptive] {
///     let codec = StreamCodec::of::<Input>(level)?;
///     let mut records = [0; 60]; // of one lane each; a turn at constant speed
///     for (step, record) in (0u8..).zip(records.chunks_exact_mut(1)) {
///         codec.quantize(&Input { view_deg: f32::from(step) * 2.0 }, record)?;
///     }
///     let mut packet = Vec::new();
///     codec.encode(None, &records, &mut codec.nothing_learned(), &mut packet)?;
///     bytes.push(packet.len());
/// }
/// assert!(bytes[1] < bytes[0], "the adaptive level predicts the turn");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StreamLevel {
    /// Records are packed into plain bits. This level takes the least time, and keeps no memory
    /// besides the records.
    #[default]
    Packed,
    /// Records are predicted and range coded. This level takes the fewest bits.
    Adaptive,
}

impl StreamLevel {
    /// The level's name, as programs show and read it: `packed` or `adaptive`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Packed => "packed",
            Self::Adaptive => "adaptive",
        }
    }

    /// Finds the level with this name.
    pub fn named(text: &str) -> Option<Self> {
        [Self::Packed, Self::Adaptive].into_iter().find(|level| level.name() == text)
    }
}

/// The schema and level that both ends of a stream agree on. A clone is cheap, because clones share
/// memory.
///
/// ```
/// use kinepack::Pack;
/// use kinepack::stream::{StreamCodec, StreamLevel};
///
/// #[derive(Pack, Debug, PartialEq)]
/// struct Input {
///     left: bool,
///     right: bool,
///     #[pack(max = 3)]
///     weapon: u8,
/// }
///
/// let codec = StreamCodec::of::<Input>(StreamLevel::Packed)?;
/// let mut record = vec![0; codec.lanes()];
/// codec.quantize(&Input { left: true, right: false, weapon: 2 }, &mut record)?;
///
/// // If there is no base, a packet has the record in full.
/// let (mut packet, mut learned) = (Vec::new(), codec.nothing_learned());
/// codec.encode(None, &record, &mut learned, &mut packet)?;
/// let mut received = vec![0; codec.lanes()];
/// codec.decode(None, &mut received, &mut learned, &packet)?;
/// let input: Input = codec.reconstruct(&received)?;
/// assert_eq!(input, Input { left: true, right: false, weapon: 2 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct StreamCodec(Arc<Tables>);

#[derive(Debug)]
pub(super) struct Tables {
    schema: Schema,
    level: StreamLevel,
    hash: u64,
    plan: Plan,
    /// The learned state before the first record.
    nothing: Learned,
}

/// A record that both sides hold, with the learned state that belongs to it.
#[derive(Clone, Copy, Debug)]
pub struct StreamBase<'a> {
    /// The lanes of a record that was encoded or decoded.
    pub lanes: &'a [u32],
    /// The learned state that was returned with that record.
    pub learned: &'a Learned,
    /// The number of records from the base to the packet's first record: 1 if the first record
    /// directly follows the base. A lag of 0 counts as 1.
    pub lag: u16,
}

impl StreamCodec {
    /// Makes a codec for records of `schema`.
    ///
    /// # Errors
    /// [`SetupError::NoLanes`] if the schema has no lanes, and [`SetupError::SeveralKinds`] if it
    /// has several kinds of entities.
    pub fn new(schema: Schema, level: StreamLevel) -> Result<Self, SetupError> {
        if schema.lanes().is_empty() {
            return Err(SetupError::NoLanes);
        }
        if schema.kinds().len() > 1 {
            return Err(SetupError::SeveralKinds);
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

    /// Makes a codec for values of a type that implements [`Pack`].
    ///
    /// # Errors
    /// [`SetupError::NoLanes`] if the schema has no lanes.
    pub fn of<T: Pack>(level: StreamLevel) -> Result<Self, SetupError> {
        Self::new(Schema::of::<T>(), level)
    }

    /// The codec's schema.
    pub fn schema(&self) -> &Schema {
        &self.0.schema
    }

    /// The codec's level.
    pub fn level(&self) -> StreamLevel {
        self.0.level
    }

    /// A hash over the schema and the level. If the level uses velocities, the hash also covers the
    /// pairs of fields and velocities. Sides with different hashes cannot read each other's
    /// packets.
    pub fn hash(&self) -> u64 {
        self.0.hash
    }

    /// The number of lanes of a record.
    pub fn lanes(&self) -> usize {
        self.0.schema.lanes().len()
    }

    /// Quantizes a value into `record`, which must have [`lanes`](Self::lanes) lanes.
    /// [`Snapshot::push`](crate::Snapshot::push) documents the cost of the type check.
    ///
    /// # Errors
    /// [`EncodeError::TypeMismatch`] if `T` has another schema, [`EncodeError::LaneCount`] if
    /// `record` has a different length, and errors of [`Pack::quantize`] for values that are not
    /// numbers or out of range. [`EncodeError::LaneOutOfRange`] if a hand-written `Pack`
    /// contradicts its own schema. After an error the content of `record` is arbitrary.
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
        self.check_lanes(record)
    }

    /// Checks that `records` holds a whole number of records, that no lane is above its maximum,
    /// and that the lanes of absent fields are 0.
    ///
    /// # Errors
    /// [`EncodeError::LaneCount`] if the number of lanes is wrong, and
    /// [`EncodeError::LaneOutOfRange`] if the value of a lane is above the lane's maximum or not 0
    /// in an absent field.
    pub fn check_lanes(&self, records: &[u32]) -> Result<(), EncodeError> {
        let expected_lanes = self.lanes();
        self.check(None, records.len())
            .map_err(|lanes| EncodeError::LaneCount { expected_lanes, lanes })?;
        match self.wrong(records) {
            Some((lane, value)) => Err(EncodeError::LaneOutOfRange { id: None, lane, value }),
            None => Ok(()),
        }
    }

    /// Reconstructs the value of a record.
    ///
    /// # Errors
    /// [`DecodeError::TypeMismatch`] if `T` has another schema, [`DecodeError::LaneCount`] if
    /// `record` has a different length, and [`DecodeError::LaneOutOfRange`].
    pub fn reconstruct<T: Pack>(&self, record: &[u32]) -> Result<T, DecodeError> {
        let expected_hash = self.0.schema.hash();
        let types = self.0.schema.types();
        types.check::<T>().map_err(|hash| DecodeError::TypeMismatch { expected_hash, hash })?;
        self.check_count::<T>(record.len())
            .map_err(|[expected_lanes, lanes]| DecodeError::LaneCount { expected_lanes, lanes })?;
        match self.wrong(record) {
            Some((lane, value)) => Err(DecodeError::LaneOutOfRange { lane, value }),
            None => Ok(T::reconstruct(record)),
        }
    }

    /// Checks that a type and a record both have the schema's number of lanes. The error holds the
    /// expected number and the wrong one.
    fn check_count<T: Pack>(&self, given: usize) -> Result<(), [usize; 2]> {
        let lanes = self.lanes();
        [T::LANES, given]
            .into_iter()
            .find(|other| *other != lanes)
            .map_or(Ok(()), |other| Err([lanes, other]))
    }

    /// Returns the learned state before the first record. This value can also be used as a buffer
    /// for later states.
    pub fn nothing_learned(&self) -> Learned {
        self.0.nothing.clone()
    }

    /// Appends a packet of `records` to `out`. `records` holds lane after lane, record after
    /// record, the oldest first. The first record is coded against `base`, and each later record
    /// against the previous one. `learned` is set to the learned state at the last record.
    ///
    /// Memory is allocated only when the vector's capacity runs out.
    ///
    /// # Errors
    /// [`EncodeError::LaneCount`] if `records` is empty or not a whole number of records, or if the
    /// base is not one record. [`EncodeError::LaneOutOfRange`] if a lane is above its maximum, or
    /// is not 0 although its field is absent. [`EncodeError::ForeignLearned`] if the base's learned
    /// state belongs to another codec, at a level that learns. After an error, `out` is unchanged.
    pub fn encode(
        &self,
        base: Option<StreamBase<'_>>,
        records: &[u32],
        learned: &mut Learned,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        if let Some(base) = base {
            self.check(Some(base), self.lanes())
                .map_err(|lanes| EncodeError::LaneCount { expected_lanes: self.lanes(), lanes })?;
            self.check_lanes(base.lanes)?;
        }
        self.check_lanes(records)?;
        let mut writer = BitWriter::append(out);
        let mut before = base.map(|base| base.lanes);
        let records = records.chunks_exact(self.lanes());
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
                        Given(record),
                    );
                    debug_assert!(coded.is_ok(), "values are within their lanes");
                    (before, lag) = (Some(record), 1);
                });
                coder.finish();
            }
        }
        writer.finish().map(|_| ())
    }

    /// Decodes the packet `bytes` into `records`. `base` must be the record that the packet was
    /// encoded against. The packet must fill `records` and use all of `bytes`. `learned` is set to
    /// the learned state at the last record.
    ///
    /// The call never panics and never allocates. After an error, the contents of `records` and
    /// `learned` are arbitrary.
    ///
    /// # Errors
    /// [`DecodeError`] if no encoder writes these bytes. [`DecodeError::LaneCount`] if `records` is
    /// empty or not a whole number of records, or if the base is not one record.
    /// [`DecodeError::LaneOutOfRange`] if a lane of the base is above its maximum, or is not 0
    /// although its field is absent. [`DecodeError::NothingLearned`] if the base's learned state
    /// belongs to another codec, at a level that learns.
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
        if let Some((lane, value)) = base.and_then(|base| self.wrong(base.lanes)) {
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

    /// Checks the number of lanes of the base and of the records. The error holds the wrong number.
    fn check(&self, base: Option<StreamBase<'_>>, given: usize) -> Result<(), usize> {
        let lanes = self.lanes();
        let of_base = base.map_or(lanes, |base| base.lanes.len());
        if of_base != lanes {
            return Err(of_base);
        }
        if given == 0 || !given.is_multiple_of(lanes) { Err(given) } else { Ok(()) }
    }

    /// Returns the index of the first lane in `records` with an invalid value, and that value.
    fn wrong(&self, records: &[u32]) -> Option<(usize, u32)> {
        let rules = self.0.plan.rules();
        records.chunks_exact(rules.len()).find_map(|record| rules.first_wrong(record))
    }

    /// Returns the learned state to resume from, at a level that learns; `None` if the base's state
    /// belongs to another codec.
    fn learned_with<'a>(&'a self, base: Option<StreamBase<'a>>) -> Option<&'a State> {
        base.map_or(&self.0.nothing, |base| base.learned).state(self.0.hash)
    }
}
