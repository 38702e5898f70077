//! Kinds of entities: the players, crates and doors of a world each have their own fields.
//! `spec/CODEC.md`, section 5.6, defines them.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::any::TypeId;
use core::ops::Range;

use super::check::{LaneRules, TypeCheck, hash_of_type};
use super::frame::Placement;
use super::resolve::ResolvedFields;
use super::{Field, Pack, Role, Schema};
use crate::SetupError;
use crate::hash::Fnv1a;
use crate::limits::MAX_KINDS;

/// One kind of entity of a schema.
///
/// ```
/// use kinepack::{Pack, Schema};
///
/// #[derive(Pack)]
/// struct Door {
///     open: bool,
/// }
///
/// #[derive(Pack)]
/// struct Lamp {
///     lit: bool,
///     #[pack(max = 7)]
///     colour: u8,
/// }
///
/// let world = Schema::builder().kind::<Door>("door").kind::<Lamp>("lamp").build()?;
/// let [door, lamp] = world.kinds() else { return Ok(()) };
/// assert_eq!((door.name(), lamp.name()), ("door", "lamp"));
/// assert_eq!(lamp.fields(), 1..3);
/// assert_eq!(world.fields()[2].name, "colour");
/// // A schema of one struct has one kind, without a name.
/// assert_eq!(Schema::of::<Door>().kinds()[0].name(), "");
/// # Ok::<(), kinepack::SetupError>(())
/// ```
#[derive(Debug)]
pub struct EntityKind {
    name: String,
    fields: Range<usize>,
    lanes: Range<usize>,
    /// The hash of the kind's fields alone, and the types that were found to have these fields.
    types: TypeCheck,
    /// The type that the kind was made from, if it was made from a type.
    made_from: Option<TypeId>,
    rules: LaneRules,
    /// The indices of the lanes of the kind's spawn fields among the schema's.
    spawn_lanes: Vec<usize>,
    /// The indices of the lanes of the kind's cut fields among the schema's.
    cut_lanes: Vec<usize>,
    /// The same for fields whose change breaks the motion: cuts and frames.
    break_lanes: Vec<usize>,
    placement: Placement,
}

impl EntityKind {
    /// The kind's name; empty if the schema was not [built](Schema::builder) from kinds.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The indices of the kind's fields among the schema's.
    pub fn fields(&self) -> Range<usize> {
        self.fields.clone()
    }

    /// The indices of the kind's lanes among the schema's.
    pub fn lanes(&self) -> Range<usize> {
        self.lanes.clone()
    }

    /// The values that the kind's lanes may have. The rules count lanes from the first lane of the
    /// kind.
    #[inline]
    pub(crate) fn rules(&self) -> &LaneRules {
        &self.rules
    }

    /// The indices of the lanes of the kind's spawn fields among the schema's.
    #[inline]
    pub(crate) fn spawn_lanes(&self) -> &[usize] {
        &self.spawn_lanes
    }

    /// The indices among the schema's of the lanes of the kind's fields that mark
    /// [cuts](super::Role::Cut).
    #[inline]
    pub fn cut_lanes(&self) -> &[usize] {
        &self.cut_lanes
    }

    /// The indices among the schema's of the lanes of the kind's fields whose change breaks the
    /// motion: those that mark cuts, and those that name a [frame](super::Role::Frame).
    #[inline]
    pub fn break_lanes(&self) -> &[usize] {
        &self.break_lanes
    }

    /// Returns whether fields of the kind are relative to a [frame](super::Role::Frame).
    pub fn has_frame(&self) -> bool {
        self.placement.has_frame()
    }

    pub(crate) fn placement(&self) -> &Placement {
        &self.placement
    }

    pub(crate) fn types(&self) -> &TypeCheck {
        &self.types
    }
}

/// Kinds are equal if their names and the positions of their fields and lanes are equal.
impl PartialEq for EntityKind {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.fields, &self.lanes) == (&other.name, &other.fields, &other.lanes)
    }
}

/// The kinds of a schema, shared by the schema's snapshots.
#[derive(Debug)]
pub(crate) struct Kinds {
    /// The hash of the schema.
    pub(crate) schema_hash: u64,
    pub(crate) list: Vec<EntityKind>,
    /// Whether any kind has spawn fields.
    pub(crate) have_spawn_lanes: bool,
}

impl Kinds {
    /// Returns the kind of the entities that `T` describes.
    ///
    /// # Errors
    /// The hash of `T`'s schema, if not exactly one kind has the fields of `T`.
    #[inline]
    pub(crate) fn of_type<T: Pack>(&self) -> Result<usize, u64> {
        match &self.list[..] {
            [only] => only.types.check::<T>().map(|()| 0),
            list => {
                let made_from = Some(TypeId::of::<T>());
                let is_of_type = |kind: &EntityKind| match kind.made_from {
                    Some(_) => kind.made_from == made_from,
                    None => kind.types.knows::<T>(),
                };
                list.iter().position(is_of_type).map_or_else(|| self.find::<T>(), Ok)
            }
        }
    }

    /// Like [`of_type`](Self::of_type) for a type that is not known yet: compares the type's fields
    /// with those of each kind.
    #[cold]
    fn find<T: Pack>(&self) -> Result<usize, u64> {
        let hash = hash_of_type::<T>();
        let mut found = (0..).zip(&self.list).filter(|(_, kind)| kind.types.schema_hash() == hash);
        match (found.next(), found.next()) {
            (Some((kind, found)), None) => {
                found.types.remember::<T>();
                Ok(kind)
            }
            _ => Err(hash),
        }
    }

    /// Returns the largest number of lanes of a kind.
    pub(crate) fn most_lanes(&self) -> usize {
        self.list.iter().map(|kind| kind.lanes.len()).max().unwrap_or(0)
    }
}

/// Builds a schema of several kinds of entities, kind by kind.
///
/// ```
/// use kinepack::{EntityId, Pack, Schema, Snapshot, Tick};
///
/// #[derive(Pack)]
/// struct Door {
///     open: bool,
/// }
///
/// #[derive(Pack)]
/// struct Lamp {
///     lit: bool,
/// }
///
/// let schema = Schema::builder().kind::<Door>("door").kind::<Lamp>("lamp").build()?;
/// let mut world = Snapshot::new(&schema, Tick(60));
/// // The type of a state determines the entity's kind. All kinds share one range of ids.
/// world.push(EntityId(1), &Door { open: true })?;
/// world.push(EntityId(4), &Door { open: false })?;
/// world.push(EntityId(2), &Lamp { lit: true })?;
/// assert_eq!(world.iter::<Lamp>()?.len(), 1);
/// assert!(world.get::<Door>(EntityId(1))?.is_some_and(|door| door.open));
/// assert!(world.get::<Door>(EntityId(2))?.is_none(), "that is a lamp");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct SchemaBuilder {
    kinds: Vec<(String, Option<TypeId>, Vec<Field>)>,
}

impl SchemaBuilder {
    /// Adds the kind of entities that `T` describes. `name` distinguishes kinds with the same
    /// fields. Both sides must add the same names, in the same order.
    #[must_use]
    pub fn kind<T: Pack>(mut self, name: impl Into<String>) -> Self {
        let mut fields = Vec::new();
        T::fields("", &mut fields);
        self.kinds.push((name.into(), Some(TypeId::of::<T>()), fields));
        self
    }

    /// Adds a kind of entities with these fields, for schemas that are not known when the program
    /// is compiled.
    #[must_use]
    pub fn kind_of_fields(mut self, name: impl Into<String>, fields: Vec<Field>) -> Self {
        self.kinds.push((name.into(), None, fields));
        self
    }

    /// Makes the schema.
    ///
    /// # Errors
    /// [`SetupError::KindCount`] if there are no kinds or too many. [`SetupError::BadKind`] if a
    /// kind has no name, or has the name or the type of an earlier one.
    /// [`SetupError::BadCondition`], [`SetupError::BadCoarseness`] and [`SetupError::BadFrame`] in
    /// the same cases as for [`Schema::try_new`].
    pub fn build(self) -> Result<Schema, SetupError> {
        if self.kinds.is_empty() || self.kinds.len() > MAX_KINDS {
            return Err(SetupError::KindCount { kinds: self.kinds.len() });
        }
        for (index, (name, made_from, _)) in self.kinds.iter().enumerate() {
            let is_same = |(other_name, other, _): &(String, Option<TypeId>, _)| {
                other_name == name || made_from.is_some() && other == made_from
            };
            if name.is_empty() || self.kinds[..index].iter().any(is_same) {
                return Err(SetupError::BadKind { kind: index });
            }
        }
        make(self.kinds)
    }
}

/// Makes a schema of `kinds`, each given by its name, type and fields.
pub(super) fn make(kinds: Vec<(String, Option<TypeId>, Vec<Field>)>) -> Result<Schema, SetupError> {
    let (mut fields, mut lanes, mut list) = (Vec::new(), Vec::new(), Vec::new());
    let mut schema_hash = Fnv1a::new();
    for (name, made_from, own) in kinds {
        let (first_field, first_lane) = (fields.len(), lanes.len());
        let kind = ResolvedFields::new(own, first_field)?;
        if !name.is_empty() {
            // A field first adds the length of its name to the hash, and no name is as long as
            // `u32::MAX`. So kinds and fields cannot give the same bytes.
            schema_hash.add(&u32::MAX.to_le_bytes());
            schema_hash.add(&(name.len() as u32).to_le_bytes());
            schema_hash.add(name.as_bytes());
            schema_hash.add(&(kind.fields.len() as u32).to_le_bytes());
        }
        let own_hash = kind.hash();
        kind.fields.iter().for_each(|field| field.hash_into(&mut |bytes| schema_hash.add(bytes)));
        let rules = LaneRules::new(&kind.fields, &kind.lanes);
        let lanes_of = |is_meant: fn(&Field) -> bool| -> Vec<usize> {
            let fields = kind.fields.iter().filter(|field| is_meant(field));
            fields.flat_map(Field::lanes).map(|lane| first_lane + lane).collect()
        };
        let spawn_lanes = lanes_of(|field| field.is_spawn);
        let cut_lanes = lanes_of(|field| field.role == Role::Cut);
        let break_lanes = lanes_of(|field| matches!(field.role, Role::Cut | Role::Frame));
        lanes.extend(kind.lanes);
        fields.extend(kind.fields.into_iter().map(|field| Field {
            first_lane: field.first_lane + first_lane,
            conditions: field.conditions.after(first_lane),
            coarseness: field.coarseness.map(|coarseness| coarseness.after(first_lane)),
            ..field
        }));
        list.push(EntityKind {
            name,
            fields: first_field..fields.len(),
            lanes: first_lane..lanes.len(),
            types: TypeCheck::new(own_hash),
            made_from,
            rules,
            spawn_lanes,
            cut_lanes,
            break_lanes,
            placement: kind.placement,
        });
    }
    let have_spawn_lanes = list.iter().any(|kind| !kind.spawn_lanes.is_empty());
    let kinds = Arc::new(Kinds { schema_hash: schema_hash.finish(), list, have_spawn_lanes });
    Ok(Schema { fields, lanes, kinds })
}
