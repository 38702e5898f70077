//! Where entities are in the world, as columns in the module's memory. Only kinds with fields that
//! are relative to another entity have these columns. Those of other kinds are in the world anyway.

use kinepack::Schema;
use kinepack::frame::{FrameError, Motion};

/// Where a kind's entities are in the world, and how they move. All numbers of an entity are NaN
/// while this is not known.
#[derive(Default)]
pub(crate) struct InWorld {
    /// Three numbers for each entity.
    position: Vec<f64>,
    /// Four numbers for each entity: x, y, z, w.
    rotation: Vec<f64>,
    /// Three numbers for each entity, in units per second.
    velocity: Vec<f64>,
}

impl InWorld {
    /// Empty columns for each kind that needs them.
    pub(crate) fn of_kinds(schema: &Schema) -> Vec<Option<Self>> {
        schema.kinds().iter().map(|kind| kind.has_frame().then(Self::default)).collect()
    }

    pub(crate) fn clear(&mut self) {
        let Self { position, rotation, velocity } = self;
        [position, rotation, velocity].into_iter().for_each(Vec::clear);
    }

    /// Adds an entity. The reason why its place is not known does not matter to a page that draws.
    pub(crate) fn push(&mut self, motion: Result<Motion, FrameError>) {
        let (position, rotation, velocity) = motion.map_or(
            ([f64::NAN; 3], [f64::NAN; 4], [f64::NAN; 3]),
            |Motion { place, velocity, .. }| (place.position, place.rotation, velocity),
        );
        self.position.extend(position);
        self.rotation.extend(rotation);
        self.velocity.extend(velocity);
    }

    /// The addresses of the three columns.
    pub(crate) fn addresses(&self) -> [u32; 3] {
        [&self.position, &self.rotation, &self.velocity].map(|list| list.as_ptr() as usize as u32)
    }
}
