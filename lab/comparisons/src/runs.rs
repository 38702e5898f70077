//! Reads runs of quantized cubes from files, and simulates runs of the built-in world.

use std::error::Error;

use cube_data::cube::{self, Measured, Quantized};
use cube_data::{Challenge, Frame};
use cubes::{Body, Config, Script, Style, World};
use kinepack::{EntityId, Snapshot, Tick};

/// Returns the frames of a file of the data compression challenge.
pub fn read(path: &str) -> Result<Vec<Snapshot>, Box<dyn Error>> {
    let schema = cube::schema(Quantized::Everything);
    let mut capture = Challenge::open(path)?;
    let mut run = Vec::new();
    while let Some(frame) = capture.next_frame()? {
        let mut snapshot = Snapshot::new(&schema, Tick(run.len() as u32));
        match frame {
            Frame::Quantized(frame) => frame.push_into(&mut snapshot)?,
            Frame::Floats(frame) => {
                for (id, state) in (0..).map(EntityId).zip(frame.states()) {
                    cube::push(&mut snapshot, Quantized::Everything, id, state)?;
                }
            }
        }
        run.push(snapshot);
    }
    Ok(run)
}

/// Simulates the built-in world, which a script plays. The first frame is the beginning of the
/// world, and then there is a frame for each tick. The iterator does not end.
pub fn simulated(
    style: Style,
) -> Result<impl Iterator<Item = Result<Snapshot, Box<dyn Error>>>, Box<dyn Error>> {
    let schema = cube::schema(Quantized::Everything);
    let mut world = World::new(&Config::default())?;
    let mut script = Script::new(style, 1);
    Ok((0..).map(move |tick| {
        let mut snapshot = Snapshot::new(&schema, Tick(tick));
        for (id, body) in world.bodies() {
            cube::push(&mut snapshot, Quantized::Everything, EntityId(id), measured(body))?;
        }
        let input = script.next_input(&world);
        world.step(input);
        Ok(snapshot)
    }))
}

/// Converts a body of the simulation to a cube.
pub(crate) fn measured(body: Body) -> Measured {
    let Body { position, orientation, velocity, interacting } = body;
    Measured { position, orientation, velocity, interacting }
}
