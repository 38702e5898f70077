//! Converts the states of entities to columns of numbers, for programs that lack the Rust types of
//! a schema, such as pages in a browser.

mod column;

use alloc::vec::Vec;

pub use column::{Column, ColumnsError, Number, Quantizer};

use crate::schema::{Field, FieldKind};
use crate::{Between, EncodeError, EntityId, Schema, Snapshot};

/// The largest number of codes of an axis whose values do not lose precision as `f32`.
const F32_CODES: u32 = 1 << 24;

/// Holds the states of entities, kind by kind, and field by field within a kind.
///
/// Adding an entity costs as much as [`Schema::interpolate_raw`]. A cleared table keeps its
/// columns' memory.
///
/// ```
/// use kinepack::values::{Values, ValueTable};
/// use kinepack::{Between, EntityId, Pack, Schema, Snapshot, Tick};
///
/// #[derive(Pack)]
/// struct Ball {
///     #[pack(range = -8.0..8.0, precision = 0.125)]
///     position: [f32; 2],
///     bounces: u8,
/// }
///
/// let schema = Schema::of::<Ball>();
/// let mut worlds = [0, 1].map(|tick| Snapshot::new(&schema, Tick(tick)));
/// worlds[0].push(EntityId(7), &Ball { position: [0.0, 2.0], bounces: 1 })?;
/// worlds[1].push(EntityId(7), &Ball { position: [1.0, 4.0], bounces: 2 })?;
///
/// let mut table = ValueTable::new(&schema);
/// let half = Between { ratio: 0.5, seconds: 0.1 };
/// table.push((&worlds[0], 0), (&worlds[1], 0), half)?;
/// let balls = &table.kinds()[0];
/// assert_eq!(balls.ids(), [7]);
/// assert_eq!(balls.fields()[0], Values::F32(vec![0.5, 3.0]));
/// assert_eq!(balls.fields()[1], Values::I32(vec![1]));
/// # Ok::<(), kinepack::EncodeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ValueTable {
    schema: Schema,
    kinds: Vec<KindValues>,
}

/// The values of the entities of one kind.
#[derive(Clone, Debug)]
pub struct KindValues {
    /// The schema of this kind alone.
    schema: Schema,
    ids: Vec<u32>,
    fields: Vec<Values>,
    /// For each field, the index of the field that is its velocity, if there is one.
    velocities: Vec<Option<usize>>,
    /// Buffers for the lanes of an entity in both states, and for its raw words.
    lanes: [Vec<u32>; 2],
    raw: Vec<u64>,
}

/// The numbers of a field, entity by entity, with [`per_entity`](Self::per_entity) numbers for each
/// entity. The numbers of an absent field are 0.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Values {
    /// Numbers whose axes have up to 2^24 codes, and rotations (x, y, z, w).
    F32(Vec<f32>),
    /// Numbers that have an axis with more than 2^24 codes.
    F64(Vec<f64>),
    /// Integers within the range of `i32`.
    I32(Vec<i32>),
    /// Other integers within the range of `u32`, large choices, and opaque lanes.
    U32(Vec<u32>),
    /// Other integers within the range of `i64`.
    I64(Vec<i64>),
    /// All other integers.
    U64(Vec<u64>),
    /// Flags, choices of up to 256 values, and opaque bytes.
    U8(Vec<u8>),
}

impl Values {
    /// Makes an empty column for a field.
    pub fn new(field: &Field) -> Self {
        match &field.kind {
            FieldKind::Floats(axes) if axes.iter().any(|axis| axis.max_code() >= F32_CODES) => {
                Self::F64(Vec::new())
            }
            FieldKind::Floats(_) | FieldKind::Rotation(_) => Self::F32(Vec::new()),
            FieldKind::Integer(limits) => {
                let within =
                    |least: i128, most: i128| limits.min() >= least && limits.max() <= most;
                if within(i32::MIN.into(), i32::MAX.into()) {
                    Self::I32(Vec::new())
                } else if within(0, u32::MAX.into()) {
                    Self::U32(Vec::new())
                } else if within(i64::MIN.into(), i64::MAX.into()) {
                    Self::I64(Vec::new())
                } else {
                    Self::U64(Vec::new())
                }
            }
            FieldKind::Choice { max } if *max > u8::MAX.into() => Self::U32(Vec::new()),
            FieldKind::Raw { .. } => Self::U32(Vec::new()),
            FieldKind::Bool | FieldKind::Choice { .. } | FieldKind::Bytes { .. } => {
                Self::U8(Vec::new())
            }
        }
    }

    /// Returns the number of numbers that a field has for one entity. A vector has one number for
    /// each axis, a rotation has four numbers, and an integer of any size has one.
    pub fn per_entity(field: &Field) -> usize {
        match field.kind {
            FieldKind::Integer(_) => 1,
            _ => field.lanes().len(),
        }
    }

    fn clear(&mut self) {
        match self {
            Self::F32(list) => list.clear(),
            Self::F64(list) => list.clear(),
            Self::I32(list) => list.clear(),
            Self::U32(list) => list.clear(),
            Self::I64(list) => list.clear(),
            Self::U64(list) => list.clear(),
            Self::U8(list) => list.clear(),
        }
    }

    /// Appends the raw words of an entity, converted to the column's type.
    fn extend(&mut self, raw: &[u64]) {
        match self {
            Self::F32(list) => list.extend(raw.iter().map(|word| f64::from_bits(*word) as f32)),
            Self::F64(list) => list.extend(raw.iter().map(|word| f64::from_bits(*word))),
            Self::I32(list) => list.extend(raw.iter().map(|word| *word as i32)),
            Self::U32(list) => list.extend(raw.iter().map(|word| *word as u32)),
            Self::I64(list) => list.extend(raw.iter().map(|word| *word as i64)),
            Self::U64(list) => list.extend(raw),
            Self::U8(list) => list.extend(raw.iter().map(|word| *word as u8)),
        }
    }
}

impl ValueTable {
    /// Makes a table without entities.
    pub fn new(schema: &Schema) -> Self {
        let kinds = (0..schema.kinds().len()).map(|kind| KindValues::new(schema.of_kind(kind)));
        Self { kinds: kinds.collect(), schema: schema.clone() }
    }

    /// The schema of the table.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The kinds, in the order of the schema.
    pub fn kinds(&self) -> &[KindValues] {
        &self.kinds
    }

    /// Removes all entities.
    pub fn clear(&mut self) {
        for kind in &mut self.kinds {
            kind.ids.clear();
            kind.fields.iter_mut().for_each(Values::clear);
        }
    }

    /// Adds an entity, interpolated between two states. `ends` are the two states, each with the
    /// entity's index in it.
    ///
    /// # Errors
    /// [`EncodeError::TypeMismatch`] if a state has another schema, and
    /// [`EncodeError::AnotherKind`] if the two entities are of different kinds. After an error the
    /// table is unchanged.
    ///
    /// # Panics
    /// If a state has no entity at the given index.
    pub fn push(
        &mut self,
        (from, index): (&Snapshot, usize),
        (to, to_index): (&Snapshot, usize),
        at: Between,
    ) -> Result<(), EncodeError> {
        let expected_hash = self.schema.hash();
        if let Some(other) = [from, to].into_iter().find(|of| of.schema_hash() != expected_hash) {
            let hash = other.schema_hash();
            return Err(EncodeError::TypeMismatch { id: None, expected_hash, hash });
        }
        let kind = from.kind_at(index).expect("an index below the number of entities");
        if to.kind_at(to_index) != Some(kind) {
            return Err(EncodeError::AnotherKind { id: to.ids()[to_index].0 });
        }
        self.kinds[kind].push(from.ids()[index], [(from, index), (to, to_index)], at);
        Ok(())
    }

    /// Adds all entities of a state.
    ///
    /// # Errors
    /// [`EncodeError::TypeMismatch`] if the state has another schema.
    pub fn extend(&mut self, state: &Snapshot) -> Result<(), EncodeError> {
        let at = Between { ratio: 0.0, seconds: 0.0 };
        (0..state.len()).try_for_each(|index| self.push((state, index), (state, index), at))
    }
}

impl KindValues {
    fn new(schema: Schema) -> Self {
        let lanes = schema.lanes().len();
        Self {
            ids: Vec::new(),
            fields: schema.fields().iter().map(Values::new).collect(),
            velocities: schema.fields().iter().map(|field| schema.velocity_of(field)).collect(),
            lanes: [alloc::vec![0; lanes], alloc::vec![0; lanes]],
            raw: alloc::vec![0; lanes],
            schema,
        }
    }

    /// The kind's fields, and the lanes of one entity.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The ids of the entities.
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// The numbers of each field.
    pub fn fields(&self) -> &[Values] {
        &self.fields
    }

    fn push(&mut self, id: EntityId, ends: [(&Snapshot, usize); 2], at: Between) {
        for ((state, index), lanes) in ends.into_iter().zip(&mut self.lanes) {
            lanes.iter_mut().zip(state.lanes_at(index)).for_each(|(place, lane)| *place = lane);
        }
        let [from, to] = &self.lanes;
        let fields = self.schema.fields();
        for ((field, velocity), values) in fields.iter().zip(&self.velocities).zip(&mut self.fields)
        {
            let velocity = velocity.map(|index| &fields[index]);
            let raw = &mut self.raw[field.lanes()];
            field.interpolate_raw(velocity, from, to, at, raw);
            values.extend(&raw[..Values::per_entity(field)]);
        }
        self.ids.push(id.0);
    }
}
