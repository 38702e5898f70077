//! Reads capture files of cubes as states before quantization, for a world to show.

use std::path::Path;

use kinepack::{EntityId, Schema, Tick};
use kinepack_capture::{Capture, CaptureError, CaptureFrame};

use crate::convert::CubeVelocity;
use crate::cube::{Cube, Measured};

/// The states of a capture.
#[derive(Clone, Debug, Default)]
pub struct CapturedStates {
    /// The name of the stream.
    pub stream: String,
    /// The cubes of each frame, in the order of their ids.
    pub frames: Vec<Vec<Measured>>,
    /// The ids of the cubes of each frame, in the same order.
    pub ids: Vec<Vec<EntityId>>,
    /// The tick of each frame. Ticks increase, and some may be missing.
    pub ticks: Vec<Tick>,
    /// Ticks per second.
    pub rate_hz: f64,
    /// The places of the file that cannot be read, and the reasons.
    pub damage: Vec<String>,
}

impl CapturedStates {
    /// Reads the first stream of cubes before quantization. If no stream has the cubes' velocities,
    /// they are computed from the differences between frames. If there is no stream of cubes, the
    /// result has no frames. The method keeps all frames in memory.
    ///
    /// # Errors
    /// Returns [`CaptureError`] for a file that is not a capture, cannot be read or is too large.
    pub fn open(path: &Path) -> Result<Self, CaptureError> {
        let [cubes, velocities] = [Schema::of::<Cube>(), Schema::of::<CubeVelocity>()];
        let mut capture = Capture::open(path)?;
        let mut read = Self::default();
        let (mut name, mut has_velocities) = (None, false);
        while let Some((_, frame)) = capture.next_frame()? {
            let stream = frame.stream();
            let is_of =
                |schema: &Schema| stream.is_raw() && stream.schema().hash() == schema.hash();
            if is_of(&cubes) {
                if *name.get_or_insert_with(|| stream.name().to_owned()) == stream.name() {
                    read.rate_hz = stream.rate_hz();
                    read.ticks.push(frame.tick());
                    read.frames.push(states(&frame));
                    read.ids.push(frame.ids().to_vec());
                }
            } else if is_of(&velocities)
                && let Some(states) = read.frames.last_mut()
            {
                has_velocities = true;
                for (index, state) in states.iter_mut().enumerate().take(frame.ids().len()) {
                    state.velocity = std::array::from_fn(|axis| {
                        f32::from_bits(frame.columns()[axis][index] as u32)
                    });
                }
            }
        }
        if !has_velocities {
            read.add_velocities();
        }
        read.stream = name.unwrap_or_default();
        read.damage = capture.damage().iter().map(ToString::to_string).collect();
        Ok(read)
    }

    /// Computes velocities from the differences between frames.
    fn add_velocities(&mut self) {
        for index in 1..self.frames.len() {
            let ticks = self.ticks[index].0 - self.ticks[index - 1].0;
            let per_s = (self.rate_hz / f64::from(ticks)) as f32;
            let (before, after) = self.frames.split_at_mut(index);
            for (before, after) in before[index - 1].iter().zip(&mut after[0]) {
                let moved = |axis: usize| after.position[axis] - before.position[axis];
                after.velocity = std::array::from_fn(|axis| moved(axis) * per_s);
            }
        }
    }
}

/// Returns the cubes of a frame, at rest.
fn states(frame: &CaptureFrame<'_>) -> Vec<Measured> {
    let columns = frame.columns();
    let state = |index: usize| {
        let float = |column: usize| f64::from_bits(columns[column][index]) as f32;
        Measured {
            position: std::array::from_fn(float),
            orientation: std::array::from_fn(|axis| float(3 + axis)),
            velocity: [0.0; 3],
            interacting: columns[7][index] != 0,
        }
    };
    (0..frame.ids().len()).map(state).collect()
}
