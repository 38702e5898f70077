//! The rigid bodies of a model: which fields they are, their sizes and kinds, and the world that
//! they move in.

use alloc::vec;
use alloc::vec::Vec;

use crate::schema::{FieldKind, Role};
use crate::{Schema, SetupError};

/// No length of a world is longer, in steps.
const MAX_LENGTH: u32 = 1 << 24;

/// The most distances that divide the classes.
const MAX_DISTANCES: usize = 32;

/// The bands of bodies that nobody measured: quarters of half a body's least edge.
const USUAL_BANDS: [u32; 10] = [20, 22, 25, 28, 31, 35, 41, 47, 57, 71];

/// Their reach: half least edges.
const USUAL_REACH: u32 = 7;

/// A position and a rotation that move together, and what is known of the world. Lengths are in
/// steps of the position's first axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Bodies {
    /// The field of positions: three real numbers.
    pub position: usize,
    /// The field of rotations.
    pub rotation: usize,
    /// A flag that says of a body that it is being moved, where the schema has one.
    pub touched: Option<usize>,
    /// A flag that says of a body that it moves others, where the schema has one.
    pub mover: Option<usize>,
    /// Which of the position's axes points up.
    pub up: u8,
    /// Where the floor is, as a value of that axis' lane; without it nothing rests on anything.
    pub floor: Option<u32>,
    /// Sizes, and which bodies move others.
    pub kinds: Vec<BodyKind>,
    /// Ids and their kinds: from each first id on, by rising id. Below the first, kind 0.
    pub kind_of_ids: Vec<(u32, u8)>,
    /// Half the size of a typical body: how soon things touch.
    pub size: u32,
    /// How far a mover's reach goes.
    pub reach: u32,
    /// Distances from the nearest mover that divide the classes, rising.
    pub bands: Vec<u32>,
}

/// What bodies of one kind have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyKind {
    /// Half the extents of a box around its centre, along the body's own axes x, y, z; all zero for
    /// what has no size.
    pub half_extents: [u32; 3],
    /// Moves others: those near it are predicted from its motion.
    pub mover: bool,
}

impl BodyKind {
    /// All extents are above zero, or none is.
    fn is_solid_or_point(&self) -> bool {
        self.half_extents == [0; 3] || self.half_extents.iter().all(|extent| *extent > 0)
    }
}

impl Bodies {
    /// Checks what coding takes for granted.
    pub(super) fn validate(&self) -> Result<(), SetupError> {
        let lengths =
            self.kinds.iter().flat_map(|kind| kind.half_extents).chain([self.size, self.reach]);
        let well_formed = self.up < 3
            && lengths.into_iter().all(|length| length <= MAX_LENGTH)
            && self.kinds.iter().all(BodyKind::is_solid_or_point)
            && self.floor.is_none_or(|floor| floor < u32::MAX)
            && self.size > 0
            && self.reach > 0
            && self.bands.len() <= MAX_DISTANCES
            && self.bands.is_sorted_by(|a, b| a < b)
            && !self.kinds.is_empty()
            && self.kind_of_ids.iter().all(|(_, kind)| usize::from(*kind) < self.kinds.len())
            && self.kind_of_ids.is_sorted_by(|a, b| a.0 < b.0);
        if well_formed { Ok(()) } else { Err(SetupError::BadModel) }
    }

    /// Bodies of one size where a schema marks a position and a rotation with [`Role::Body`];
    /// `None` where it does not, or has no such axis as `up`. `half_extents_m` are half the edges
    /// of a typical body along its own axes, in the position's unit; `floor_m` is the height of the
    /// floor, where there is one. Flags that the schema marks as [`Role::Touched`] and
    /// [`Role::Mover`] are taken for that.
    pub fn of(
        schema: &Schema,
        up: u8,
        half_extents_m: [f64; 3],
        floor_m: Option<f64>,
    ) -> Option<Self> {
        let marked = |role, is: fn(&FieldKind) -> bool| {
            schema.fields().iter().position(|field| field.role == role && is(&field.kind))
        };
        let position =
            marked(Role::Body, |kind| matches!(kind, FieldKind::Floats(axes) if axes.len() == 3))?;
        let rotation = marked(Role::Body, |kind| matches!(kind, FieldKind::Rotation(_)))?;
        let FieldKind::Floats(axes) = &schema.fields()[position].kind else { return None };
        let vertical = axes.get(usize::from(up))?;
        // The casts saturate.
        let steps = |length: f64| ((length / axes[0].step() + 0.5) as u32).min(MAX_LENGTH);
        let half_extents = half_extents_m.map(|length| steps(length).max(1));
        let size = half_extents.into_iter().min().unwrap_or(1);
        let mut bands = USUAL_BANDS.map(|quarters| quarters * size / 4).to_vec();
        bands.dedup();
        let floor = floor_m.map(|floor| (floor - vertical.min()) / vertical.step());
        Some(Self {
            position,
            rotation,
            touched: marked(Role::Touched, |kind| *kind == FieldKind::Bool),
            mover: marked(Role::Mover, |kind| *kind == FieldKind::Bool),
            up,
            floor: floor.filter(|steps| *steps >= 0.0).map(|steps| (steps + 0.5) as u32),
            kinds: vec![BodyKind { half_extents, mover: false }],
            kind_of_ids: Vec::new(),
            size,
            reach: (USUAL_REACH * size).min(MAX_LENGTH),
            bands,
        })
    }

    /// The same bodies where the position's steps are `ratio` times as long.
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

    /// Classes of bodies: movers, without history, at rest, far, and by distance; each in the air
    /// or touching the floor.
    pub(super) fn classes(&self) -> usize {
        2 * (class::NEAR + self.bands.len())
    }

    /// Ids of movers: the first, and the first behind.
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

    /// The kind of an entity.
    pub(super) fn kind(&self, id: u32) -> BodyKind {
        let place = self.kind_of_ids.partition_point(|(first, _)| *first <= id);
        let kind = place.checked_sub(1).map_or(0, |place| self.kind_of_ids[place].1);
        self.kinds[usize::from(kind)]
    }
}

/// Numbers of the classes of bodies. `spec/CODEC.md`, section 12.6, "Class".
pub(super) mod class {
    pub(crate) const MOVER: usize = 0;
    pub(crate) const NEW: usize = 1;
    pub(crate) const RESTED: usize = 2;
    pub(crate) const FAR: usize = 3;
    pub(crate) const NEAR: usize = 4;
}
