//! Schemas: an entity's fields, the quantizer of each, and the integer lanes that the fields
//! become.
//!
//! A *field* is a number, a vector, a rotation, an integer, a flag or a choice. A *lane* is one of
//! the integers, of up to 32 bits, that a field becomes. A vector has one lane per axis. A rotation
//! has four lanes (the dropped component and the other three), and an integer of more than 32 bits
//! has two. Snapshots, codecs and captures work on lanes only. `spec/CODEC.md`, section 5, defines
//! schemas.

mod check;
mod coarser;
pub(crate) mod columns;
mod components;
mod condition;
pub(crate) mod derived;
mod displace;
mod field;
mod file;
mod frame;
mod kinds;
mod lane;
#[cfg(feature = "arrayvec")]
mod list;
mod optional;
mod outline;
mod pack;
mod part;
mod plain;
mod precision;
mod raw;
mod raw_state;
mod resolve;

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

pub(crate) use check::{CoarseRule, LaneRules, TypeCheck};
pub(crate) use coarser::Coarseness;
pub use coarser::Coarser;
pub use columns::Columns;
pub(crate) use columns::with_row;
pub use components::Components;
pub use condition::Condition;
pub(crate) use condition::{Conditions, Presence};
pub use displace::Share;
pub use field::{Field, FieldKind, Role, any_element};
pub(crate) use frame::Placement;
pub(crate) use kinds::Kinds;
pub use kinds::{EntityKind, SchemaBuilder};
pub use lane::{Lane, LaneArithmetic};
pub use pack::{Pack, PackWith};
pub use part::OptionalPart;
pub use precision::TimePrecision;

use crate::SetupError;
use crate::coarse::coarsened;
pub use crate::limits::MAX_KINDS;

/// Holds the kinds of entities, their fields and lanes in order, and a hash that distinguishes
/// schemas. Most schemas are made from one struct; [`builder`](Self::builder) makes a schema from
/// several.
///
/// ```
/// use kinepack::{Pack, Schema};
///
/// #[derive(Pack)]
/// struct Door {
///     #[pack(range = 0.0..=90.0, precision = 1.0)]
///     angle_deg: f32,
///     locked: bool,
/// }
///
/// let schema = Schema::of::<Door>();
/// assert_eq!(schema.fields()[0].name, "angle_deg");
/// assert_eq!(schema.lanes()[0].max, 90);
/// assert_eq!(schema.bits_per_entity(), 7 + 1);
/// ```
#[derive(Clone, Debug)]
pub struct Schema {
    fields: Vec<Field>,
    lanes: Vec<Lane>,
    /// The kinds of entities, and the hash.
    kinds: Arc<Kinds>,
}

impl Schema {
    /// Makes the schema of a type that implements [`Pack`].
    pub fn of<T: Pack>() -> Self {
        let mut fields = Vec::new();
        T::fields("", &mut fields);
        let made = Self::new(fields);
        // Because of this, even the first check of `T` is cheap.
        made.types().remember::<T>();
        made
    }

    /// Begins a schema of several kinds of entities, each with its own fields.
    pub fn builder() -> SchemaBuilder {
        SchemaBuilder::default()
    }

    /// Makes a schema of one kind of entities with these fields, in this order.
    ///
    /// # Panics
    /// If the [`Condition`] of a field names no earlier field that can be its selector. Use
    /// [`try_new`](Self::try_new) for fields from outside the program.
    #[track_caller]
    pub fn new(fields: Vec<Field>) -> Self {
        match Self::try_new(fields) {
            Ok(schema) => schema,
            Err(error) => panic!("{error}"),
        }
    }

    /// Makes a schema of one kind of entities with these fields, in this order.
    ///
    /// # Errors
    /// [`SetupError::BadCondition`] if the [`Condition`] of a field names no earlier field that can
    /// be its selector: a flag, a choice, or an integer of one lane. [`SetupError::BadCoarseness`]
    /// in the same way for [`Coarser`]. [`SetupError::BadFrame`] if a field names no
    /// [frame](Role::Frame) of the schema, or cannot be relative to one.
    pub fn try_new(fields: Vec<Field>) -> Result<Self, SetupError> {
        kinds::make(vec![(String::new(), None, fields)])
    }

    /// The kinds of entities, of which there is at least one. The kinds' fields and lanes follow
    /// one another.
    pub fn kinds(&self) -> &[EntityKind] {
        &self.kinds.list
    }

    /// Makes a schema of the entities of one kind alone, without the kind's name. Its lanes are the
    /// ones that [`Snapshot::push_lanes_of`](crate::Snapshot::push_lanes_of) takes.
    ///
    /// # Panics
    /// If there is no kind with the index `kind`.
    pub fn of_kind(&self, kind: usize) -> Self {
        Self::new(self.fields[self.kinds.list[kind].fields()].to_vec())
    }

    /// Returns the same schema, but each field has the time precision that `precision` returns for
    /// it instead of its old one. The hash does not change.
    #[must_use]
    pub fn with_time_precision(
        mut self,
        mut precision: impl FnMut(&Field) -> Option<TimePrecision>,
    ) -> Self {
        for field in &mut self.fields {
            field.time_precision = precision(field);
        }
        self
    }

    /// The fields in order.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The lanes in order, field by field.
    pub fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    /// Returns the name of the field that a lane belongs to, after the kind's name if the kind has
    /// one: `player.health`. Error messages use this name.
    ///
    /// # Panics
    /// If the schema has no lane with this index.
    pub fn lane_name(&self, lane: usize) -> String {
        assert!(lane < self.lanes.len(), "no lane of the schema");
        let field = self.fields.iter().find(|field| field.lanes().contains(&lane));
        let kind = self.kinds.list.iter().find(|kind| kind.lanes().contains(&lane));
        let field = field.map_or("", |field| &field.name);
        derived::join(kind.map_or("", EntityKind::name), field)
    }

    /// A hash over the names, kinds, ranges, steps and order of the fields, which must be equal on
    /// both sides. Time precision is excluded, so snapshots and profiles are compatible with and
    /// without it. The hash is FNV-1a over the bytes that `spec/CODEC.md`, sections 5.3 and 5.6
    /// list.
    pub fn hash(&self) -> u64 {
        self.kinds.schema_hash
    }

    /// Sets the lanes of absent fields to 0, as snapshots and streams require. The code that
    /// `#[derive(Pack)]` makes does this already.
    ///
    /// # Panics
    /// If the schema has several kinds, or if the number of `lanes` is not the schema's.
    pub fn clear_absent(&self, lanes: &mut [u32]) {
        assert!(self.kinds.list.len() == 1, "a schema of several kinds: use that of one kind");
        assert!(lanes.len() == self.lanes.len(), "the lanes of another schema");
        for (range, conditions) in self.rules().fields() {
            if !conditions.hold(|lane| lanes[lane]) {
                lanes[range.clone()].fill(0);
            }
        }
    }

    /// Rounds the lanes of each field that is [`Coarser`] to multiples of its steps, as snapshots
    /// require.
    ///
    /// # Panics
    /// If the schema has several kinds, or if the number of `lanes` is not the schema's.
    pub fn round_coarse(&self, lanes: &mut [u32]) {
        assert!(self.kinds.list.len() == 1, "a schema of several kinds: use that of one kind");
        assert!(lanes.len() == self.lanes.len(), "the lanes of another schema");
        let rules = self.rules();
        for rule in rules.coarse() {
            let shift = rule.coarseness.shift(lanes[rule.coarseness.lane]);
            for lane in rule.lanes.clone() {
                lanes[lane] = coarsened(lanes[lane], shift, rules.maxima()[lane]);
            }
        }
    }

    pub(crate) fn kinds_arc(&self) -> &Arc<Kinds> {
        &self.kinds
    }

    /// The rules of the schema's only kind.
    pub(crate) fn rules(&self) -> &LaneRules {
        self.kinds.list[0].rules()
    }

    /// The types of the schema's only kind.
    pub(crate) fn types(&self) -> &TypeCheck {
        self.kinds.list[0].types()
    }

    /// Returns the lanes of a field that are coded as differences, and whether these lanes are a
    /// rotation's components.
    pub(crate) fn differenced(&self, field: &Field) -> (&[Lane], bool) {
        let lanes = &self.lanes[field.lanes()];
        match field.kind {
            FieldKind::Rotation(_) => (&lanes[1..], true),
            _ if lanes.iter().any(|lane| lane.arithmetic == LaneArithmetic::Category) => {
                (&[], false)
            }
            _ => (lanes, false),
        }
    }

    /// Returns whether a field holds how much coarser other fields are.
    pub(crate) fn is_coarseness(&self, field: &Field) -> bool {
        let lane = field.lanes().start;
        let mut coarse = self.fields.iter().filter_map(Field::coarseness);
        coarse.any(|coarseness| coarseness.lane == lane)
    }

    /// Returns the number of bits of one entity whose lanes are all written in full. If there are
    /// several kinds, this is the number for the largest kind.
    pub fn bits_per_entity(&self) -> u32 {
        let bits = |kind: &EntityKind| self.lanes[kind.lanes()].iter().map(Lane::bits).sum();
        self.kinds.list.iter().map(bits).max().unwrap_or(0)
    }
}

/// Schemas are equal if all of their fields and kinds are equal.
impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.fields == other.fields && self.kinds.list == other.kinds.list
    }
}
