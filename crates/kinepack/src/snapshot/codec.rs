//! A codec: a schema, a level and a profile, checked once and turned into tables that all encoders
//! and decoders share.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::adaptive::{Adaptive, Model};
use super::fields::FieldTable;
use super::level::{Changed, Level};
use super::precision::Precision;
use super::profile::Profile;
use super::sets::{GapTable, SetCoding};
use crate::hash::Fnv1a;
use crate::schema::Role;
use crate::{Schema, SetupError};

/// The version of the adaptive levels' packets. See `spec/CODEC.md`, section 12.
const ADAPTIVE_VERSION: u8 = 4;
/// The version of these packets if alike fields share counters.
const SHARED_VERSION: u8 = 5;

/// The parameters on which an [`Encoder`](super::Encoder) and a [`Decoder`](super::Decoder) agree:
/// a schema, a level and a profile. A clone shares the tables, so cloning is cheap.
///
/// ```
/// use kinepack::schema::{Field, FieldKind};
/// use kinepack::{Codec, Level, Profile, Schema};
///
/// let schema = Schema::new(vec![Field::new("lit", FieldKind::Bool)]);
/// let profile = Profile::untrained(&schema);
/// let packed = Codec::new(schema.clone(), Level::PACKED, profile.clone())?;
/// let adaptive = Codec::new(schema, Level::ADAPTIVE, profile)?;
/// // A handshake compares hashes: these two codecs cannot read each other's packets.
/// assert_ne!(packed.hash(), adaptive.hash());
/// assert_eq!((packed.older_views(), adaptive.older_views()), (0, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Codec(Arc<Tables>);

#[derive(Debug)]
pub(super) struct Tables {
    pub(super) schema: Schema,
    pub(super) level: Level,
    profile: Profile,
    hash: u64,
    memory_bytes: usize,
    pub(super) entities: GapTable,
    pub(super) flags: GapTable,
    pub(super) fields: Vec<FieldTable>,
    /// For each velocity field at level 4, the lanes of a zero velocity, which that level codes in
    /// one bit. The element is `None` for all other fields and levels.
    pub(super) rest_lanes: Vec<Option<Vec<u32>>>,
    /// The prepared model, if the level is adaptive.
    pub(super) adaptive: Option<Adaptive>,
    /// The prepared time precision, if a field has one that has an effect at this level.
    pub(super) precision: Option<Precision>,
    /// Whether a field may be coarser in some entities.
    pub(super) has_coarse: bool,
}

impl Codec {
    /// Makes a codec for snapshots of `schema` at `level` with the parameters of `profile`.
    ///
    /// # Errors
    /// [`SetupError`] if the profile is malformed or made for another schema, or if a field cannot
    /// have its time precision.
    pub fn new(schema: Schema, level: Level, profile: Profile) -> Result<Self, SetupError> {
        Self::within(schema, level, profile, usize::MAX)
    }

    /// Like [`new`](Self::new), for a schema and a profile from a file or a peer. Refuses both if
    /// the codec's [memory](Self::memory_bytes) would exceed `max_memory_bytes`.
    ///
    /// # Errors
    /// [`SetupError::CodecTooLarge`], before anything is allocated, and the errors of
    /// [`new`](Self::new).
    pub fn within(
        schema: Schema,
        level: Level,
        profile: Profile,
        max_memory_bytes: usize,
    ) -> Result<Self, SetupError> {
        profile.validate(&schema)?;
        let memory_bytes = memory_bytes(&schema, &level, &profile)?;
        if memory_bytes > max_memory_bytes {
            return Err(SetupError::CodecTooLarge { memory_bytes, max_memory_bytes });
        }
        let adaptive = if level.adaptive() {
            let model = profile.model.clone().map_or_else(|| Model::untrained(&schema), Ok)?;
            Some(Adaptive::new(&schema, model, level.learning())?)
        } else {
            None
        };
        let mut hasher = Fnv1a::new();
        hasher.add(&schema.hash().to_le_bytes());
        hasher.add(&[level.row()]);
        profile.hash_into(&mut hasher);
        if level.adaptive() {
            let is_shared = adaptive.as_ref().is_some_and(Adaptive::is_shared);
            hasher.add(&[if is_shared { SHARED_VERSION } else { ADAPTIVE_VERSION }]);
            hasher.add(&profile.to_plain_bytes());
        }
        let precision = Precision::new(&schema, &level)?;
        if let Some(precision) = &precision {
            precision.hash_into(&mut hasher);
        }
        let fields =
            (0..schema.fields().len()).map(|index| FieldTable::new(&schema, &profile, index));
        let at_rest = |role| level.at_rest() && role == Role::Velocity;
        Ok(Self(Arc::new(Tables {
            fields: fields.collect::<Result<_, _>>()?,
            entities: GapTable::new(&profile.entities)?,
            flags: GapTable::new(&profile.flags)?,
            rest_lanes: schema
                .fields()
                .iter()
                .map(|f| if at_rest(f.role) { f.kind.zero_lanes() } else { None })
                .collect(),
            hash: hasher.finish(),
            memory_bytes,
            adaptive,
            precision,
            has_coarse: schema.fields().iter().any(|field| field.coarser.is_some()),
            profile,
            level,
            schema,
        })))
    }

    /// The codec's schema.
    pub fn schema(&self) -> &Schema {
        &self.0.schema
    }

    /// The codec's level.
    pub fn level(&self) -> &Level {
        &self.0.level
    }

    /// The codec's profile.
    pub fn profile(&self) -> &Profile {
        &self.0.profile
    }

    /// Returns the number of views older than the baseline that the codec can use. The adaptive
    /// level predicts from them, and a time precision needs one at any level.
    pub fn older_views(&self) -> usize {
        self.0.level.older_views().max(self.has_precision().into())
    }

    /// Returns true if a field has a time precision that has an effect at this level. Views are
    /// then coarser than the snapshots that they were made from.
    pub fn has_precision(&self) -> bool {
        self.0.precision.is_some()
    }

    /// A hash over the schema, level, profile and time precision. Two sides can read each other's
    /// packets only if their hashes are equal. See `spec/CODEC.md`, section 11.
    pub fn hash(&self) -> u64 {
        self.0.hash
    }

    /// The codec's size on the heap in bytes, to within about a third, not counting 1 or 2 kB that
    /// every codec takes. All clones share this memory.
    ///
    /// At the adaptive levels, each field takes about 10 kB, and each lane takes 1 kB for each
    /// range of lags of the profile.
    pub fn memory_bytes(&self) -> usize {
        self.0.memory_bytes
    }

    /// The size of the learned state that each [`View`](crate::View) holds, in bytes; 0 at a level
    /// that does not learn.
    pub fn learned_bytes(&self) -> usize {
        self.0.adaptive.as_ref().map_or(0, Adaptive::learned_bytes)
    }

    pub(super) fn tables(&self) -> &Tables {
        &self.0
    }
}

/// The number of bytes that a field takes for its description in the schema and in the plans,
/// besides its tables.
const FIELD_BYTES: usize = 1024;

/// Computes a codec's size on the heap from its parts, in bytes. `profile` must be valid.
fn memory_bytes(schema: &Schema, level: &Level, profile: &Profile) -> Result<usize, SetupError> {
    let (fields, kinds) = (schema.fields().len(), schema.kinds().len());
    let model = profile.model.as_ref().map_or(0, Model::memory_bytes);
    let adaptive = match &profile.model {
        _ if !level.adaptive() => 0,
        Some(of) => model + if level.learning() { of.inverses_bytes() } else { 0 },
        None => Model::untrained_bytes(schema)?,
    };
    let tables: usize = profile.fields.iter().map(FieldTable::memory_bytes).sum();
    Ok(model + adaptive + tables + fields * (FIELD_BYTES + kinds * size_of::<Option<usize>>()))
}

impl Tables {
    /// Returns the coding of the set of changed entities; `None` if every entity is sent.
    pub(super) fn changed_coding(&self) -> Option<SetCoding<'_>> {
        match self.level.changed() {
            Changed::All => None,
            Changed::Bits => Some(SetCoding::Bits),
            Changed::BitsOrIndices => Some(SetCoding::BitsOrIndices),
            Changed::BitsOrGaps => Some(SetCoding::BitsOrGaps(&self.entities)),
        }
    }
}
