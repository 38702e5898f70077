//! Where the entities of a world are.

use kinepack::frame::MOST_FRAMES;
use kinepack::quantize::FloatLimits;
use kinepack::schema::{Field, FieldKind};
use kinepack::{Schema, Snapshot};

use super::grid::{Grid, squared_distance};
use super::{Riders, SLACK};
use crate::NetError;

/// The fields that hold positions, and the positions of a world's entities.
#[derive(Debug)]
pub(in crate::sender) struct Places {
    /// For each kind, its position, if it has one.
    fields: Vec<Option<Position>>,
    /// The largest number of axes of a position.
    pub(super) axes: usize,
    /// The position of each entity, by index in the world; not numbers if it has none.
    of_world: Vec<[f64; 3]>,
    /// The same for the last world.
    before: Vec<[f64; 3]>,
    grid: Grid,
    /// The largest ring's reach.
    reach: f64,
    /// The square of the largest distance that is asked for, which is a little longer.
    farthest: f64,
    /// The largest number of a position.
    pub(super) extent: f64,
}

/// A field that holds a position.
#[derive(Clone, Debug)]
struct Position {
    field: Field,
    axes: Vec<FloatLimits>,
}

/// Finds a field by its name, which follows the name of its kind if the kind has one. Returns the
/// index of the kind too.
pub(super) fn find_field<'s>(schema: &'s Schema, name: &str) -> Option<(usize, &'s Field)> {
    schema.kinds().iter().enumerate().find_map(|(kind, of)| {
        let mut fields = of.fields().map(|index| &schema.fields()[index]);
        let field = fields.find(|field| {
            !field.lanes().is_empty() && schema.lane_name(field.lanes().start) == name
        });
        field.map(|field| (kind, field))
    })
}

impl Places {
    /// Finds the fields with these names. `reach` is that of the largest ring.
    pub(super) fn new(schema: &Schema, names: &[String], reach: f64) -> Result<Self, NetError> {
        let mut fields = vec![None; schema.kinds().len()];
        let mut most_axes = 0;
        for name in names {
            let unknown = || NetError::NoSuchPosition { field: name.clone() };
            let (kind, field) = find_field(schema, name).ok_or_else(unknown)?;
            let FieldKind::Floats(axes) = &field.kind else { return Err(unknown()) };
            if !matches!(axes.len(), 2 | 3) || axes.iter().any(FloatLimits::wraps) {
                return Err(unknown());
            }
            most_axes = most_axes.max(axes.len());
            fields[kind] = Some(Position { field: field.clone(), axes: axes.clone() });
        }
        let mut bounds = [(f64::INFINITY, f64::NEG_INFINITY); 3];
        for position in fields.iter().flatten() {
            for (bound, axis) in bounds.iter_mut().zip(&position.axes) {
                *bound = (bound.0.min(axis.min()), bound.1.max(axis.max()));
            }
        }
        let extent = bounds.iter().flat_map(|(low, high)| [low.abs(), high.abs()]);
        let extent = extent.filter(|extent| extent.is_finite()).fold(0.0, f64::max);
        // In the world, a relative position is as far as all frames together.
        let is_relative = fields.iter().flatten().any(|position| position.field.frame.is_some());
        let extent = if is_relative { extent * 2.0 * MOST_FRAMES as f64 } else { extent };
        let longest = reach * (1.0 + SLACK);
        let (grid, farthest) = (Grid::new(bounds, longest), longest * longest);
        let (of_world, before) = (Vec::new(), Vec::new());
        Ok(Self { fields, axes: most_axes, of_world, before, grid, reach, farthest, extent })
    }

    /// Reads the positions of all entities of a world. `riders` are those that are relative to
    /// others.
    pub(super) fn read(&mut self, world: &Snapshot, riders: &Riders) {
        std::mem::swap(&mut self.of_world, &mut self.before);
        self.of_world.clear();
        self.of_world.resize(world.len(), [f64::NAN; 3]);
        for (kind, position) in self.fields.iter().enumerate() {
            let Some(Position { field, axes }) = position else { continue };
            let places = &mut self.of_world[world.of_kind(kind)];
            for (row, place) in places.iter_mut().enumerate() {
                if !field.is_present_in(|lane| world.lane(lane)[row]) {
                    continue;
                }
                // Along an axis that the position does not have, all distances are 0.
                *place = [f64::INFINITY; 3];
                for (axis, limits) in axes.iter().enumerate() {
                    let column = world.lane(field.lanes().start + axis);
                    place[axis] = limits.reconstruct(column[row]);
                }
            }
        }
        self.place_riders(world, riders);
        self.grid.fill(&self.of_world);
    }

    /// Moves the positions that are relative to others to where they are in the world. An entity
    /// whose frame is not there has no position.
    fn place_riders(&mut self, world: &Snapshot, riders: &Riders) {
        let is_relative = |position: &Position| position.field.frame.is_some();
        if !self.fields.iter().flatten().any(is_relative) {
            return;
        }
        // Most neighbours have the same frame.
        let mut last = None;
        for (index, _) in world.frames() {
            let kind = world.kind_at(index).and_then(|kind| self.fields[kind].as_ref());
            let frame = riders.frame(index);
            if !kind.is_some_and(is_relative) {
                continue;
            }
            let place = match last.filter(|(known, _)| *known == frame) {
                Some((_, place)) => place,
                None => frame.and_then(|frame| world.place_at(frame as usize).ok()),
            };
            last = Some((frame, place));
            let position = &mut self.of_world[index];
            *position = place.map_or([f64::NAN; 3], |place| place.point(*position));
        }
    }

    /// Returns whether the entity at `index` is farther than `distance`, along any axis, from its
    /// place in the last world, where its index was `before`.
    pub(super) fn has_jumped(&self, index: usize, before: usize, distance: f64) -> bool {
        let Some(before) = self.before.get(before) else { return false };
        // Differences of infinite numbers are not numbers, which are not above any distance.
        self.of_world[index].iter().zip(before).any(|(now, then)| (now - then).abs() > distance)
    }

    /// Returns how far the entity at `index` moved since the last world, where its index was
    /// `before`, squared and as a share of the largest ring. `None` if it has a position in one of
    /// the two worlds only.
    pub(super) fn moved(&self, index: usize, before: usize) -> Option<f64> {
        let (now, then) = (self.of_world[index], self.before.get(before)?);
        if now[0].is_nan() || then[0].is_nan() {
            return (now[0].is_nan() && then[0].is_nan()).then_some(0.0);
        }
        let moved = |(now, then): (&f64, &f64)| match now.is_infinite() {
            true => 0.0,
            false => (now - then) / self.reach,
        };
        Some(now.iter().zip(then).map(moved).fold(0.0, |squared, moved| squared + moved * moved))
    }

    /// The squared distance of an entity from a box. `None` for an entity without a position.
    pub(super) fn squared_distance(
        &self,
        index: usize,
        (low, high): ([f64; 3], [f64; 3]),
    ) -> Option<f64> {
        squared_distance(self.of_world[index], low, high)
    }

    /// Whether [`near`](Self::near) finds an entity at this squared distance.
    pub(super) fn is_near(&self, squared: f64) -> bool {
        squared <= self.farthest
    }

    /// Calls `each` for all entities that are within the reach of a box and a little farther, in the
    /// order of their indices, with the squared distance of each. The distance is `None` for an
    /// entity without a position.
    pub(super) fn near(
        &mut self,
        (low, high): ([f64; 3], [f64; 3]),
        each: impl FnMut(usize, Option<f64>),
    ) {
        self.grid.near(low, high, self.farthest, each);
    }

    /// Calls `each` for all entities, as [`near`](Self::near) does.
    pub(super) fn all(
        &self,
        (low, high): ([f64; 3], [f64; 3]),
        mut each: impl FnMut(usize, Option<f64>),
    ) {
        for (index, place) in self.of_world.iter().enumerate() {
            each(index, squared_distance(*place, low, high));
        }
    }
}
