//! Where the entities of a world are.

use kinepack::quantize::FloatLimits;
use kinepack::schema::{Field, FieldKind};
use kinepack::{Schema, Snapshot};

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
}

/// A field that holds a position.
#[derive(Clone, Debug)]
struct Position {
    field: Field,
    axes: Vec<FloatLimits>,
}

impl Places {
    /// Finds the fields with these names.
    pub(super) fn new(schema: &Schema, names: &[String]) -> Result<Self, NetError> {
        let mut fields = vec![None; schema.kinds().len()];
        let mut most_axes = 0;
        for name in names {
            let unknown = || NetError::NoSuchPosition { field: name.clone() };
            let found = schema.kinds().iter().enumerate().find_map(|(kind, of)| {
                let mut fields = of.fields().map(|index| &schema.fields()[index]);
                let field = fields.find(|field| {
                    !field.lanes().is_empty() && schema.lane_name(field.lanes().start) == *name
                });
                field.map(|field| (kind, field))
            });
            let (kind, field) = found.ok_or_else(unknown)?;
            let FieldKind::Floats(axes) = &field.kind else { return Err(unknown()) };
            if !matches!(axes.len(), 2 | 3) || axes.iter().any(FloatLimits::wraps) {
                return Err(unknown());
            }
            most_axes = most_axes.max(axes.len());
            fields[kind] = Some(Position { field: field.clone(), axes: axes.clone() });
        }
        Ok(Self { fields, axes: most_axes, of_world: Vec::new() })
    }

    /// Reads the positions of all entities of a world.
    pub(super) fn read(&mut self, world: &Snapshot) {
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
    }

    /// Returns the squared distance of each entity from a box. `None` for an entity without a
    /// position.
    pub(super) fn squared_distances<'a>(
        &'a self,
        (low, high): ([f64; 3], [f64; 3]),
    ) -> impl Iterator<Item = Option<f64>> + 'a {
        self.of_world.iter().map(move |place| {
            if place[0].is_nan() {
                return None;
            }
            let off = |axis: usize| match place[axis] {
                place if place.is_infinite() => 0.0,
                place => (low[axis] - place).max(place - high[axis]).max(0.0),
            };
            let [x, y, z] = [off(0), off(1), off(2)];
            Some(x * x + y * y + z * z)
        })
    }
}
