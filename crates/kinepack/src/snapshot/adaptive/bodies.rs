//! The rigid bodies of a model: their fields, sizes and kinds, and the world in which they move.

use alloc::vec;
use alloc::vec::Vec;

use crate::schema::{EntityKind, Field, FieldKind, Role};
use crate::{Schema, SetupError};

/// The largest length of an extent, a size or a reach, in steps.
const MAX_LENGTH: u32 = 1 << 24;

/// The largest number of bands.
pub(super) const MAX_BANDS: usize = 32;
/// The largest number of kinds of bodies, because an id range stores its kind in one byte.
pub(super) const MAX_BODY_KINDS: usize = 256;
/// The largest number of ranges of ids.
pub(super) const MAX_ID_RANGES: usize = 1 << 16;

/// The default bands, in quarters of half a body's smallest edge.
const DEFAULT_BANDS: [u32; 10] = [20, 22, 25, 28, 31, 35, 41, 47, 57, 71];

/// The default reach, in halves of a body's smallest edge.
const DEFAULT_REACH: u32 = 7;

/// The parameters of rigid bodies: a field of positions and a field of rotations that move
/// together, and the world in which they move. Lengths are in steps of the position's first axis.
///
/// ```
/// use kinepack::profile::{Bodies};
/// use kinepack::quantize::{FloatLimits, SmallestThree};
/// use kinepack::schema::{Field, FieldKind, Role};
/// use kinepack::{Schema};
///
/// let axis = FloatLimits::new(0.0, 64.0, 1.0 / 256.0)?;
/// let position = FieldKind::Floats(vec![axis; 3]);
/// let rotation = FieldKind::Rotation(SmallestThree::new(9)?);
/// let schema = Schema::new(vec![
///     Field::new("position", position).with_role(Role::Body),
///     Field::new("rotation", rotation).with_role(Role::Body),
/// ]);
/// // The boxes have 1 × 1 × 0.5 m, the floor is at height 0, and the third axis points up.
/// let bodies = Bodies::from_schema(&schema, 2, [0.5, 0.5, 0.25], Some(0.0)).ok_or("not marked")?;
/// assert_eq!((bodies.position, bodies.rotation), (0, 1));
/// assert_eq!(bodies.kinds[0].half_extents, [128, 128, 64]);
/// assert_eq!(bodies.floor, Some(0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Bodies {
    /// The index of the field of positions, which has three floats.
    pub position: usize,
    /// The index of the field of rotations.
    pub rotation: usize,
    /// The index of a flag that marks bodies that are being moved, if the schema has one.
    pub touched: Option<usize>,
    /// The index of a flag that marks bodies that move others, if the schema has one.
    pub mover: Option<usize>,
    /// The position's axis that points up: 0, 1 or 2.
    pub up: u8,
    /// The height of the floor, as a value of the up axis' lane. If there is no floor, no body is
    /// predicted to rest on one.
    pub floor: Option<u32>,
    /// The kinds of bodies, each with its size and whether it moves others. There are 1 to 256
    /// kinds.
    pub kinds: Vec<BodyKind>,
    /// The kind of each range of ids, as pairs of the range's first id and its kind, by increasing
    /// id. Ids below the first range have kind 0. There are at most 65,536 ranges.
    pub kind_of_ids: Vec<(u32, u8)>,
    /// Half the size of a typical body: the unit of the distances at which bodies touch or are
    /// neighbours.
    pub size: u32,
    /// The distance over which a mover influences others.
    pub reach: u32,
    /// The distances from the nearest mover that separate the classes of bodies, increasing. There
    /// are at most 32 bands.
    pub bands: Vec<u32>,
}

/// The common properties of bodies of one kind.
///
/// ```
/// use kinepack::profile::{Bodies, BodyKind};
/// # use kinepack::Schema;
/// # use kinepack::quantize::{FloatLimits, SmallestThree};
/// # use kinepack::schema::{Field, FieldKind, Role};
/// # let axis = FloatLimits::new(0.0, 64.0, 1.0 / 256.0)?;
/// # let position = FieldKind::Floats(vec![axis; 3]);
/// # let rotation = FieldKind::Rotation(SmallestThree::new(9)?);
/// # let schema = Schema::new(vec![
/// #     Field::new("position", position).with_role(Role::Body),
/// #     Field::new("rotation", rotation).with_role(Role::Body),
/// # ]);
///
/// // The crates have edges of 1 m, and ids from 1000 on are players. Steps are 1/256 m.
/// let mut bodies = Bodies::from_schema(&schema, 2, [0.5; 3], Some(0.0)).ok_or("not marked")?;
/// bodies.kinds.push(BodyKind { half_extents: [96, 96, 230], mover: true });
/// bodies.kind_of_ids = vec![(1000, 1)];
/// assert_eq!(bodies.kinds[0], BodyKind { half_extents: [128; 3], mover: false });
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyKind {
    /// Half the edges of a box around the centre, along the body's own axes x, y, z; all zero for a
    /// body without a size.
    pub half_extents: [u32; 3],
    /// True if a body of this kind moves others, so that bodies near it are predicted from its
    /// motion.
    pub mover: bool,
}

impl BodyKind {
    /// Returns whether all extents are above zero, or all are zero.
    fn is_solid_or_point(&self) -> bool {
        self.half_extents == [0; 3] || self.half_extents.iter().all(|extent| *extent > 0)
    }
}

/// Returns whether every entity has the field, and may change it.
pub(super) fn can_be_part(field: &Field) -> bool {
    field.condition.is_none() && !field.is_spawn
}

/// The indices in the schema of the fields that a kind marks as parts of its body.
struct Marked {
    position: usize,
    rotation: usize,
    touched: Option<usize>,
    mover: Option<usize>,
}

impl Marked {
    /// Returns `None` if the kind marks no position or no rotation.
    fn new(schema: &Schema, kind: &EntityKind) -> Option<Self> {
        let marked = |role, is: fn(&FieldKind) -> bool| {
            let is_part =
                |field: &Field| field.role == role && can_be_part(field) && is(&field.kind);
            kind.fields().find(|index| is_part(&schema.fields()[*index]))
        };
        Some(Self {
            position: marked(
                Role::Body,
                |kind| matches!(kind, FieldKind::Floats(axes) if axes.len() == 3),
            )?,
            rotation: marked(Role::Body, |kind| matches!(kind, FieldKind::Rotation(_)))?,
            touched: marked(Role::Touched, |kind| *kind == FieldKind::Bool),
            mover: marked(Role::Mover, |kind| *kind == FieldKind::Bool),
        })
    }
}

impl Bodies {
    /// Checks the limits and the orders that coding relies on.
    pub(super) fn validate(&self) -> Result<(), SetupError> {
        let lengths =
            self.kinds.iter().flat_map(|kind| kind.half_extents).chain([self.size, self.reach]);
        let well_formed = self.up < 3
            && lengths.into_iter().all(|length| length <= MAX_LENGTH)
            && self.kinds.iter().all(BodyKind::is_solid_or_point)
            && self.floor.is_none_or(|floor| floor < u32::MAX)
            && self.size > 0
            && self.reach > 0
            && self.bands.len() <= MAX_BANDS
            && self.bands.is_sorted_by(|a, b| a < b)
            && (1..=MAX_BODY_KINDS).contains(&self.kinds.len())
            && self.kind_of_ids.len() <= MAX_ID_RANGES
            && self.kind_of_ids.iter().all(|(_, kind)| usize::from(*kind) < self.kinds.len())
            && self.kind_of_ids.is_sorted_by(|a, b| a.0 < b.0);
        if well_formed { Ok(()) } else { Err(SetupError::BadModel) }
    }

    /// Makes the default parameters for bodies of one size. The position and the rotation are the
    /// fields that the schema marks with [`Role::Body`]. The flags are those marked with
    /// [`Role::Touched`] and [`Role::Mover`]. `half_extents_m` are half the edges of a typical body
    /// along its own axes, in the position's unit. `floor_m` is the height of the floor, if there
    /// is one.
    ///
    /// A field that may be absent, or a spawn field, cannot be part of a body. If the schema has
    /// several kinds, the fields are those of the first kind that marks a position and a rotation.
    /// The bodies of the other kinds that mark these two are in the same world.
    ///
    /// Returns `None` if the schema does not mark a position and a rotation, or has no axis `up`.
    pub fn from_schema(
        schema: &Schema,
        up: u8,
        half_extents_m: [f64; 3],
        floor_m: Option<f64>,
    ) -> Option<Self> {
        let marked = schema.kinds().iter().find_map(|kind| Marked::new(schema, kind))?;
        let Marked { position, rotation, touched, mover } = marked;
        let FieldKind::Floats(axes) = &schema.fields()[position].kind else { return None };
        let vertical = axes.get(usize::from(up))?;
        // The casts saturate.
        let steps = |length: f64| ((length / axes[0].step() + 0.5) as u32).min(MAX_LENGTH);
        let half_extents = half_extents_m.map(|length| steps(length).max(1));
        let size = half_extents.into_iter().min().unwrap_or(1);
        let mut bands = DEFAULT_BANDS.map(|quarters| quarters * size / 4).to_vec();
        bands.dedup();
        let floor = floor_m.map(|floor| (floor - vertical.min()) / vertical.step());
        Some(Self {
            position,
            rotation,
            touched,
            mover,
            up,
            floor: floor.filter(|steps| *steps >= 0.0).map(|steps| (steps + 0.5) as u32),
            kinds: vec![BodyKind { half_extents, mover: false }],
            kind_of_ids: Vec::new(),
            size,
            reach: (DEFAULT_REACH * size).min(MAX_LENGTH),
            bands,
        })
    }

    /// Makes the parameters of the bodies of another kind of the schema, in the same world. Returns
    /// `None` if the kind does not mark a position and a rotation.
    pub(super) fn for_kind(&self, schema: &Schema, kind: &EntityKind) -> Option<Self> {
        let Marked { position, rotation, touched, mover } = Marked::new(schema, kind)?;
        Some(Self { position, rotation, touched, mover, ..self.clone() })
    }

    /// Returns the same bodies for a position whose steps are `ratio` times as long.
    #[must_use]
    pub fn in_longer_steps(&self, ratio: f64) -> Self {
        let shorter = |length: u32| ((f64::from(length) / ratio + 0.5) as u32).min(MAX_LENGTH);
        let edge = |length: u32| shorter(length).max(u32::from(length > 0));
        let mut bands: Vec<u32> = self.bands.iter().copied().map(shorter).collect();
        bands.dedup();
        let kinds = self
            .kinds
            .iter()
            .map(|kind| BodyKind { half_extents: kind.half_extents.map(edge), ..*kind });
        Self {
            floor: self.floor.map(|floor| (f64::from(floor) / ratio + 0.5) as u32),
            kinds: kinds.collect(),
            size: edge(self.size),
            reach: edge(self.reach),
            bands,
            ..self.clone()
        }
    }

    /// Returns the number of classes of bodies: mover, new, at rest, far, and one per band. Each
    /// class exists twice, for bodies in the air and for bodies that touch the floor.
    pub(super) fn classes(&self) -> usize {
        2 * (class::NEAR + self.bands.len())
    }

    /// Returns the id ranges of movers, as pairs of the first id and the first id after the range.
    pub(super) fn mover_ranges(&self) -> impl Iterator<Item = (u64, u64)> {
        let firsts = core::iter::once((0, 0))
            .chain(self.kind_of_ids.iter().map(|(first, kind)| (u64::from(*first), *kind)));
        let ends = self.kind_of_ids.iter().map(|(first, _)| u64::from(*first)).chain([1 << 32]);
        let is_mover = |kind: u8| self.kinds[usize::from(kind)].mover;
        firsts
            .zip(ends)
            .filter(move |((_, kind), _)| is_mover(*kind))
            .map(|((first, _), end)| (first, end))
    }

    /// Returns the kind of the entity with this id.
    pub(super) fn kind(&self, id: u32) -> BodyKind {
        let place = self.kind_of_ids.partition_point(|(first, _)| *first <= id);
        let kind = place.checked_sub(1).map_or(0, |place| self.kind_of_ids[place].1);
        self.kinds[usize::from(kind)]
    }
}

/// The numbers of the classes of bodies. `spec/CODEC.md`, section 12.6, "Class", defines them.
pub(super) mod class {
    pub(crate) const MOVER: usize = 0;
    pub(crate) const NEW: usize = 1;
    pub(crate) const RESTED: usize = 2;
    pub(crate) const FAR: usize = 3;
    pub(crate) const NEAR: usize = 4;
}
