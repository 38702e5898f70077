//! Writes `.f32` files, whose format the beginning of `challenge.rs` describes.

use std::io::{self, ErrorKind, Seek, SeekFrom, Write};

use crate::challenge::F32_RECORD_BYTES;
use crate::cube::Measured;

/// The offset in the header at which the number of frames is stored.
const FRAMES_AT: u64 = 12;

/// Writes the frames of a `.f32` file from states. States have no angular velocities, so these are
/// zero in the file.
pub struct F32Frames<W> {
    out: W,
    objects: usize,
    frames: u32,
    /// The records of a frame.
    records: Vec<u8>,
}

impl<W: Write + Seek> F32Frames<W> {
    /// Begins a file for frames of `objects` objects.
    ///
    /// # Errors
    /// Returns the errors of writing to `out`.
    pub fn new(mut out: W, objects: u32, rate_hz: u32) -> io::Result<Self> {
        out.write_all(&header(objects, rate_hz))?;
        Ok(Self { out, objects: objects as usize, frames: 0, records: Vec::new() })
    }

    /// Appends a frame.
    ///
    /// # Errors
    /// Returns [`ErrorKind::InvalidInput`] if the number of objects is different, and the errors of
    /// writing.
    pub fn write(&mut self, states: &[Measured]) -> io::Result<()> {
        if states.len() != self.objects {
            let reason = format!("{} entities instead of {}", states.len(), self.objects);
            return Err(io::Error::new(ErrorKind::InvalidInput, reason));
        }
        self.records.clear();
        for Measured { position, orientation, velocity, interacting } in states {
            let floats = position.iter().chain(orientation).chain(velocity).chain(&[0.0; 3]);
            self.records.extend(floats.flat_map(|float| float.to_le_bytes()));
            self.records.push(u8::from(*interacting));
        }
        self.out.write_all(&self.records)?;
        self.frames += 1;
        Ok(())
    }

    /// Completes the header. Returns the output and the number of frames.
    ///
    /// # Errors
    /// Returns the errors of writing, and an error for a pipe, whose header cannot be completed.
    pub fn finish(mut self) -> io::Result<(W, u32)> {
        write_count(&mut self.out, self.frames)?;
        Ok((self.out, self.frames))
    }
}

/// Returns the header of a file without frames.
pub(crate) fn header(objects: u32, rate_hz: u32) -> Vec<u8> {
    let words = [u32::from_le_bytes(*b"CF32"), 1, objects, 0];
    let rest = [rate_hz, F32_RECORD_BYTES as u32, 0, 0];
    words.iter().chain(&rest).flat_map(|word| word.to_le_bytes()).collect()
}

/// Writes the number of frames into the header, and flushes the file.
pub(crate) fn write_count(out: &mut (impl Write + Seek), frames: u32) -> io::Result<()> {
    out.seek(SeekFrom::Start(FRAMES_AT))?;
    out.write_all(&frames.to_le_bytes())?;
    out.seek(SeekFrom::End(0))?;
    out.flush()
}
