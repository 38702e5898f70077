//! Extracts positions and rotations of entities of any schema, for pages and for other tools.

use std::ops::Range;

use kinepack::schema::{Field, FieldKind, Role};
use kinepack::{Between, EncodeError, Schema, Snapshot};
use kinepack_capture::kinds;

/// The kinds of a schema. Each kind has its position and rotation, if the schema has them.
pub struct Bodies {
    pub kinds: Vec<BodyKind>,
}

/// A kind, with the places of its position and rotation.
pub struct BodyKind {
    /// The kind's name. It is empty if the schema has only one kind.
    pub name: String,
    schema: Schema,
    /// The range of the position in the raw words of an entity.
    position: Option<Range<usize>>,
    rotation: Option<Range<usize>>,
    /// The range of the flag that marks bodies which a player has touched.
    touched: Option<Range<usize>>,
    lanes: [Vec<u32>; 2],
    raw: Vec<u64>,
}

/// A body at a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    pub position: [f64; 3],
    /// The rotation as x, y, z, w.
    pub rotation: [f64; 4],
    pub is_touched: bool,
}

impl Bodies {
    /// Finds the position and rotation of each kind. The position is the field that is marked as a
    /// body. Without such a field, it is the first vector of one to three axes that is not a
    /// velocity. The rotation is the first rotation.
    pub fn new(schema: &Schema) -> Self {
        let kinds = schema.kinds().iter().zip(kinds::schemas(schema));
        Self { kinds: kinds.map(|(kind, schema)| BodyKind::new(kind.name(), schema)).collect() }
    }

    /// Returns half the width of the square around the origin that contains all entities of a
    /// state, but at least a metre.
    pub fn half_width_m(&mut self, state: &Snapshot) -> f64 {
        self.poses(state).flatten().fold(1.0, |half_width_m, Pose { position: [x, y, _], .. }| {
            half_width_m.max(x.abs()).max(y.abs())
        })
    }

    /// Returns the entities of a state, in the state's order.
    pub fn poses(&mut self, state: &Snapshot) -> impl Iterator<Item = Result<Pose, EncodeError>> {
        let still = Between { ratio: 0.0, seconds: 0.0 };
        state.entities().enumerate().map(move |(index, (kind, _))| {
            self.kinds[kind].pose((state, index), (state, index), still)
        })
    }

    /// True if no kind has a position or a rotation.
    pub fn is_empty(&self) -> bool {
        self.kinds.iter().all(|kind| kind.position.is_none() && kind.rotation.is_none())
    }
}

impl BodyKind {
    fn new(name: &str, schema: Schema) -> Self {
        let of = |can: &dyn Fn(&Field) -> bool| {
            schema.fields().iter().find(|field| can(field)).map(Field::lanes)
        };
        let is_vector = |field: &Field| match &field.kind {
            FieldKind::Floats(axes) => (1..=3).contains(&axes.len()),
            _ => false,
        };
        let position = of(&|field| is_vector(field) && field.role == Role::Body)
            .or_else(|| of(&|field| is_vector(field) && field.role != Role::Velocity));
        let rotation = of(&|field| matches!(field.kind, FieldKind::Rotation(_)));
        let lanes = schema.lanes().len();
        Self {
            name: name.to_owned(),
            position,
            rotation,
            touched: of(&|field| field.role == Role::Touched),
            lanes: [vec![0; lanes], vec![0; lanes]],
            raw: vec![0; lanes],
            schema,
        }
    }

    /// Returns the pose of an entity between two states, given the entity's index in each of them.
    pub fn pose(
        &mut self,
        (from, index): (&Snapshot, usize),
        (to, to_index): (&Snapshot, usize),
        between: Between,
    ) -> Result<Pose, EncodeError> {
        let [first, second] = &mut self.lanes;
        for (state, index, lanes) in [(from, index, &mut *first), (to, to_index, &mut *second)] {
            lanes.iter_mut().zip(state.lanes_at(index)).for_each(|(place, lane)| *place = lane);
        }
        self.schema.interpolate_raw(first, second, between, &mut self.raw)?;
        let number = |range: &Option<Range<usize>>, axis: usize, otherwise: f64| {
            let word = range.clone().and_then(|mut words| words.nth(axis));
            word.map_or(otherwise, |word| f64::from_bits(self.raw[word]))
        };
        let position = [0, 1, 2].map(|axis| number(&self.position, axis, 0.0));
        let rotation = [0, 1, 2, 3]
            .map(|axis| number(&self.rotation, axis, if axis == 3 { 1.0 } else { 0.0 }));
        let is_touched = self.touched.clone().is_some_and(|words| self.raw[words] == [1]);
        Ok(Pose { position, rotation, is_touched })
    }
}
