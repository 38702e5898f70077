//! Measures the stages before and after the codec: filling a snapshot from structs, and reading it
//! back.

use std::hint::black_box;
use std::time::Instant;

use cube_data::cube::Cube;
use kinepack::{EncodeError, EntityId, Schema, Snapshot, Tick};

/// The time to convert structs of floats to snapshots, and snapshots to structs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StagesNs {
    pub(crate) fill: u64,
    pub(crate) read: u64,
}

/// Fills and reads snapshots as a game does, with typed structs.
pub(crate) struct Stages {
    cubes: Vec<(EntityId, Cube)>,
    snapshot: Snapshot,
}

impl Stages {
    pub(crate) fn new(schema: &Schema) -> Self {
        Self { cubes: Vec::new(), snapshot: Snapshot::new(schema, Tick(0)) }
    }

    /// Measures the time to fill a snapshot with the values of a frame, and the time to read it.
    pub(crate) fn time(&mut self, exact: &Snapshot) -> Result<StagesNs, EncodeError> {
        self.cubes.clear();
        self.cubes.extend(exact.iter::<Cube>()?);
        let begin = Instant::now();
        self.snapshot.clear(exact.tick);
        self.snapshot.extend::<Cube>(self.cubes.iter().map(|(id, cube)| (*id, cube)))?;
        let fill = begin.elapsed().as_nanos() as u64;
        let begin = Instant::now();
        for cube in self.snapshot.iter::<Cube>()? {
            black_box(cube);
        }
        Ok(StagesNs { fill, read: begin.elapsed().as_nanos() as u64 })
    }
}
