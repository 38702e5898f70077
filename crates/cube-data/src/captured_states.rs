//! Capture files of cubes as states before quantization, for a world to show.

use std::path::Path;

use kinepack::Schema;
use kinepack_capture::{Capture, CaptureError, CaptureFrame};

use crate::convert::CubeVelocity;
use crate::cube::{Cube, Measured};

/// The states of a capture.
#[derive(Clone, Debug, Default)]
pub struct CapturedStates {
    /// The cubes of each frame, in the order of their ids.
    pub frames: Vec<Vec<Measured>>,
    /// The place where the file stops being readable, if it does, and the reason.
    pub damage: Option<String>,
}

impl CapturedStates {
    /// Reads the first stream of cubes before quantization. If no stream has their velocities, the
    /// differences between frames give them. `None` if the capture has no such stream. Keeps all
    /// frames in memory.
    ///
    /// # Errors
    /// [`CaptureError`] for a file that is not a capture, cannot be read or is too large.
    pub fn open(path: &Path) -> Result<Option<Self>, CaptureError> {
        let [cubes, velocities] = [Schema::of::<Cube>(), Schema::of::<CubeVelocity>()];
        let mut capture = Capture::open(path)?;
        let mut read = Self::default();
        let (mut name, mut rate_hz, mut has_velocities) = (None, 0.0, false);
        while let Some((_, frame)) = capture.next_frame()? {
            let stream = frame.stream();
            let is_of =
                |schema: &Schema| stream.is_raw() && stream.schema().hash() == schema.hash();
            if is_of(&cubes) {
                if *name.get_or_insert_with(|| stream.name().to_owned()) == stream.name() {
                    rate_hz = stream.rate_hz();
                    read.frames.push(states(&frame));
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
            read.add_velocities(rate_hz as f32);
        }
        read.damage = capture.damage().map(ToString::to_string);
        Ok((!read.frames.is_empty()).then_some(read))
    }

    /// Velocities from the differences between frames.
    fn add_velocities(&mut self, rate_hz: f32) {
        for index in 1..self.frames.len() {
            let (before, after) = self.frames.split_at_mut(index);
            for (before, after) in before[index - 1].iter().zip(&mut after[0]) {
                let moved = |axis: usize| after.position[axis] - before.position[axis];
                after.velocity = std::array::from_fn(|axis| moved(axis) * rate_hz);
            }
        }
    }
}

/// The cubes of a frame, at rest.
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
