//! Captured runs of cubes.

use std::error::Error;

use cube_data::cube::Quantized;
use cube_data::{Challenge, Frame, cube};
use kinepack::{Snapshot, Tick};

/// The frames of a quantized file of the data compression challenge.
pub fn read(path: &str) -> Result<Vec<Snapshot>, Box<dyn Error>> {
    let schema = cube::schema(Quantized::Everything);
    let mut capture = Challenge::open(path)?;
    let mut run = Vec::new();
    while let Some(frame) = capture.next_frame()? {
        let mut snapshot = Snapshot::new(&schema, Tick(run.len() as u32));
        let Frame::Quantized(frame) = frame else {
            return Err("give quantized captures (.bin)".into());
        };
        frame.push_into(&mut snapshot)?;
        run.push(snapshot);
    }
    Ok(run)
}
