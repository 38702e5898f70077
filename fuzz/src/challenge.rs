//! The driver of the target `challenge`. It takes any bytes as a challenge file.

use std::io::Cursor;

use cube_data::cube::Quantized;
use cube_data::{Challenge, Frame, cube};
use kinepack::{Snapshot, Tick};

/// File names with the extensions of the four formats. The first byte of the data selects one.
const NAMES: [&str; 4] = ["any.bin", "any.f32", "any.bin.zst", "any.f32.zst"];

/// The maximum number of frames that are read, because a few packed bytes can hold many frames.
const MOST_FRAMES: usize = 64;

/// Reads the file to its end or its first error. Each frame must have the declared number of
/// objects, and can be pushed or is refused.
pub fn challenge(data: &[u8]) {
    let Some((&pick, file)) = data.split_first() else { return };
    let name = NAMES[usize::from(pick) % NAMES.len()];
    let Ok(mut capture) = Challenge::from_reader(name, Cursor::new(file.to_vec())) else { return };
    let objects = capture.objects() as usize;
    let schema = cube::schema(Quantized::Everything);
    for tick in 0..MOST_FRAMES {
        let mut snapshot = Snapshot::new(&schema, Tick(tick as u32));
        match capture.next_frame() {
            Ok(Some(Frame::Quantized(frame))) => {
                if frame.push_into(&mut snapshot).is_ok() {
                    assert_eq!(snapshot.len(), objects);
                }
            }
            Ok(Some(Frame::Floats(frame))) => {
                assert_eq!(frame.states().count(), objects);
                for (object, state) in (0..).zip(frame.states()) {
                    let _ = cube::push(
                        &mut snapshot,
                        Quantized::Everything,
                        kinepack::EntityId(object),
                        state,
                    );
                }
                assert!(snapshot.len() <= objects);
            }
            Ok(None) | Err(_) => return,
        }
    }
}
