//! Frames of reference: which fields are relative to another entity, and where an entity is.
//! `spec/CODEC.md`, section 5.10, defines them.

use super::columns::with_row;
use super::{Field, FieldKind, Role};
use crate::frame::{Motion, Place};
use crate::quantize::{FloatLimits, IntegerLimits};
use crate::{Between, EntityId};

/// Where the entities of a kind are. All lanes count from the kind's first lane.
#[derive(Debug, Default)]
pub(crate) struct Placement {
    frame: Option<FrameLanes>,
    position: Option<Field>,
    /// The velocity of the position.
    velocity: Option<Field>,
    rotation: Option<Field>,
    /// The number of lanes of the kind.
    lanes: usize,
}

/// The lanes that name the entity that fields are relative to.
#[derive(Clone, Copy, Debug, PartialEq)]
struct FrameLanes {
    /// If the id is optional, the lane that is 0 if there is none.
    flag: Option<usize>,
    id: usize,
    limits: IntegerLimits,
}

impl FrameLanes {
    /// Finds the lanes of the frame with the name `name` among a kind's fields. Returns `None` if
    /// there is none.
    fn find(fields: &[Field], name: &str) -> Option<Self> {
        let is_id = |field: &&Field| {
            let is_integer = matches!(field.kind, FieldKind::Integer(_));
            is_integer && field.role == Role::Frame && field.name == *name
        };
        let field = fields.iter().find(is_id)?;
        let FieldKind::Integer(limits) = field.kind else { return None };
        let ids = 0..=i128::from(u32::MAX);
        let are_ids =
            limits.step() == 1 && ids.contains(&limits.min()) && ids.contains(&limits.max());
        let flag = match field.conditions().only()? {
            None => None,
            Some((lane, values)) => {
                let is_flag = |field: &&Field| {
                    field.first_lane == *lane
                        && field.role == Role::Frame
                        && field.kind == FieldKind::Bool
                        && *values == (1..=1)
                };
                Some(fields.iter().find(is_flag)?.first_lane)
            }
        };
        are_ids.then_some(Self { flag, id: field.first_lane, limits })
    }
}

impl Field {
    /// Returns whether the field can be relative to an entity: it is always present, and a rotation
    /// or three numbers that do not wrap.
    fn can_be_relative(&self) -> bool {
        self.is_vector() || self.is_rotation()
    }

    fn is_vector(&self) -> bool {
        let is_right =
            |axes: &[FloatLimits]| axes.len() == 3 && !axes.iter().any(FloatLimits::wraps);
        self.conditions().is_empty()
            && matches!(&self.kind, FieldKind::Floats(axes) if is_right(axes))
    }

    fn is_rotation(&self) -> bool {
        self.conditions().is_empty() && matches!(self.kind, FieldKind::Rotation(_))
    }
}

impl Placement {
    /// Finds the placement of a kind among its fields, whose lanes and conditions are known.
    ///
    /// # Errors
    /// The index of the first field that cannot be relative to its frame.
    pub(super) fn new(fields: &[Field], lanes: usize) -> Result<Self, usize> {
        let mut frame: Option<FrameLanes> = None;
        for (index, field) in fields.iter().enumerate() {
            let Some(name) = &field.frame else { continue };
            let found = FrameLanes::find(fields, name).filter(|_| field.can_be_relative());
            let found = found.ok_or(index)?;
            if frame.replace(found).is_some_and(|other| other != found) {
                return Err(index);
            }
        }
        // A rigid body's position comes before others.
        let first = |is_right: fn(&Field) -> bool| {
            let mut all = fields.iter().filter(|field| is_right(field));
            let of_body = all.clone().find(|field| field.role == Role::Body);
            of_body.or_else(|| all.find(|field| field.role != Role::Velocity)).cloned()
        };
        let position = first(Field::is_vector);
        let is_velocity = |field: &&Field| {
            let owner = position.as_ref().map(|position| &position.name);
            owner.is_some() && field.velocity_of.as_ref() == owner && field.is_vector()
        };
        Ok(Self {
            frame,
            velocity: fields.iter().find(is_velocity).cloned(),
            rotation: first(Field::is_rotation),
            position,
            lanes,
        })
    }

    /// Returns whether fields of the kind are relative to another entity.
    #[inline]
    pub(crate) fn has_frame(&self) -> bool {
        self.frame.is_some()
    }

    /// Returns the entity that an entity is relative to, or `None` for the world. `lane` returns
    /// the entity's lanes.
    #[inline]
    pub(crate) fn frame(&self, lane: impl Fn(usize) -> u32) -> Option<EntityId> {
        let FrameLanes { flag, id, limits } = self.frame?;
        let is_there = flag.is_none_or(|flag| lane(flag) != 0);
        // The limits are within those of ids.
        is_there.then(|| EntityId(limits.reconstruct(lane(id).into()) as u32))
    }

    /// Returns whether the position and the rotation are relative to the frame.
    pub(crate) fn are_relative(&self) -> [bool; 2] {
        let is_relative =
            |field: &Option<Field>| field.as_ref().is_some_and(|field| field.frame.is_some());
        [is_relative(&self.position), is_relative(&self.rotation)]
    }

    /// Returns where an entity is and how it moves between two states, as its fields say: relative
    /// to its frame if they are. `None` if the kind has no position.
    pub(crate) fn motion(
        &self,
        from: impl Iterator<Item = u32>,
        to: impl Iterator<Item = u32>,
        at: Between,
    ) -> Option<Motion> {
        let position = self.position.as_ref()?;
        with_row(2 * self.lanes, |rows| {
            rows.iter_mut().zip(from.chain(to)).for_each(|(lane, value)| *lane = value);
            let (from, to) = rows.split_at(self.lanes);
            let vector = |field: &Field, velocity: Option<&Field>, at: Between| {
                let mut raw = [0; 3];
                field.interpolate_raw(velocity, from, to, at, &mut raw);
                raw.map(f64::from_bits)
            };
            let rotation = |at: Between| {
                let Some(field) = &self.rotation else { return Place::ORIGIN.rotation };
                let mut raw = [0; 4];
                field.interpolate_raw(None, from, to, at, &mut raw);
                raw.map(f64::from_bits)
            };
            let place = Place {
                position: vector(position, self.velocity.as_ref(), at),
                rotation: rotation(at),
            };
            let ends = [0.0, 1.0].map(|ratio| Between { ratio, seconds: 0.0 });
            let [before, after] = ends
                .map(|at| Place { position: vector(position, None, at), rotation: rotation(at) });
            let along = Motion::along(place, [before, after], at.seconds);
            Some(match &self.velocity {
                Some(velocity) => Motion { velocity: vector(velocity, None, at), ..along },
                None => along,
            })
        })
    }
}
