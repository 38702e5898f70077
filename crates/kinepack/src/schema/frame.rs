//! Frames of reference: which fields are relative to another entity, and where an entity is.
//! `spec/CODEC.md`, section 5.10, defines them.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::columns::with_row;
use super::{Field, FieldKind, Role};
use crate::frame::{Motion, Place};
use crate::quantize::{FloatLimits, IntegerLimits};
use crate::{Between, EntityId};

/// Where the entities of a kind are.
#[derive(Debug, Default)]
pub(crate) struct Placement {
    /// Its lanes count from the kind's first lane.
    frame: Option<FrameLanes>,
    /// The lanes of the following fields, counted from the kind's first lane.
    lanes: Vec<usize>,
    /// The lanes of these fields count from the first of `lanes`.
    position: Option<Field>,
    /// The velocity of the position.
    velocity: Option<Field>,
    rotation: Option<Field>,
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

/// Finds a field that is the velocity of another one, if only one of the two is relative.
fn find_parted(fields: &[Field]) -> Option<usize> {
    // The first field with a name counts. A search through all fields for each of them would be
    // slow for the longest schemas.
    let by_name: BTreeMap<&str, &Field> =
        fields.iter().rev().map(|field| (field.name.as_str(), field)).collect();
    fields.iter().position(|field| {
        let moved = field.velocity_of.as_deref().and_then(|of| by_name.get(of));
        moved.is_some_and(|moved| moved.frame != field.frame)
    })
}

impl Placement {
    /// Finds the placement of a kind among its fields, whose lanes and conditions are known.
    ///
    /// # Errors
    /// The index of the first field that cannot be relative to its frame.
    pub(super) fn new(fields: &[Field]) -> Result<Self, usize> {
        let mut frame: Option<(&str, FrameLanes)> = None;
        for (index, field) in fields.iter().enumerate() {
            let Some(name) = &field.frame else { continue };
            let found = match frame {
                // All relative fields of a kind have the same frame.
                Some(found) => Some(found).filter(|(known, _)| known == name),
                None => FrameLanes::find(fields, name).map(|found| (name.as_str(), found)),
            };
            frame = Some(found.filter(|_| field.can_be_relative()).ok_or(index)?);
        }
        let frame = frame.map(|(_, frame)| frame);
        if let Some(index) = frame.and_then(|_| find_parted(fields)) {
            return Err(index);
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
        let velocity = fields.iter().find(is_velocity).cloned();
        let mut lanes = Vec::new();
        let [position, velocity, rotation] =
            [position, velocity, first(Field::is_rotation)].map(|field| {
                let mut field = field?;
                let first_lane = lanes.len();
                lanes.extend(field.lanes());
                field.first_lane = first_lane;
                Some(field)
            });
        Ok(Self { frame, lanes, position, velocity, rotation })
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
    /// to its frame if they are. `None` if the kind has no position. `from` and `to` return the
    /// lanes of the two states.
    pub(crate) fn motion(
        &self,
        from: impl Fn(usize) -> u32,
        to: impl Fn(usize) -> u32,
        at: Between,
    ) -> Option<Motion> {
        let position = self.position.as_ref()?;
        // Three numbers, their velocity and a rotation are few lanes, so this does not allocate.
        with_row(2 * self.lanes.len(), |rows| {
            let (before, after) = rows.split_at_mut(self.lanes.len());
            for ((before, after), lane) in before.iter_mut().zip(&mut *after).zip(&self.lanes) {
                (*before, *after) = (from(*lane), to(*lane));
            }
            let (from, to) = (&*before, &*after);
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
            let end = |ratio: f32| {
                let at = Between { ratio, seconds: 0.0 };
                Place { position: vector(position, None, at), rotation: rotation(at) }
            };
            let along = match at.seconds {
                // A single state is the most frequent case, and needs no ends.
                0.0 => Motion { place, ..Motion::ORIGIN },
                seconds => Motion::along(place, [end(0.0), end(1.0)], seconds),
            };
            Some(match &self.velocity {
                Some(velocity) => Motion { velocity: vector(velocity, None, at), ..along },
                None => along,
            })
        })
    }
}
