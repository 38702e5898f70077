//! Codes small numbers in few bits: differences, velocities and inputs, alone or as vectors of up
//! to 4 components.
//!
//! The size of the largest component, its *class*, comes first, then each component in the class's
//! bits. All components share one class, because a value that moves along one axis mostly moves
//! along the others. `spec/CODEC.md`, section 16, defines the formats.
//!
//! | functions | take | errors of values |
//! |---|---|---|
//! | [`write_multiples`], [`read_multiples`] | `f32`, rounded to multiples of 1, 0.1 or 0.01: the sizes of Unreal's `FVector_NetQuantize`, `10`, `100` | half a step; saturates at ±2²⁴ steps |
//! | [`write_steps`], [`read_steps`] | integers from −2³² to 2³² − 1 | none |
//! | [`write_difference`], [`read_difference`] | `f32` within limits against a baseline; Euler angles with limits that wrap | half a step of the limits |
//! | [`write_any`], [`read_any`] | the same, and `f32` beyond the limits unchanged | half a step, or none |
//!
//! No function allocates. Each function takes a few nanoseconds per component. Limits that wrap add
//! a few tens of nanoseconds.
//!
//! ```
//! use kinepack::magnitude::{read_steps, write_steps};
//! use kinepack::bits::{BitReader, BitSink, BitWriter};
//!
//! let mut bytes = Vec::new();
//! let mut writer = BitWriter::append(&mut bytes);
//! write_steps(&mut writer, [3i64, -1, 0])?;
//! assert_eq!(writer.len_bits(), 13);
//! write_steps(&mut writer, [0i64; 3])?;
//! assert_eq!(writer.len_bits(), 15);
//! writer.finish()?;
//!
//! let mut reader = BitReader::new(&bytes);
//! assert_eq!(read_steps(&mut reader)?, [3, -1, 0]);
//! assert_eq!(read_steps(&mut reader)?, [0; 3]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod class;
mod difference;
mod multiples;
mod steps;

pub use difference::{read_any, read_difference, write_any, write_difference};
pub use multiples::{Precision, read_multiples, write_multiples};
pub use steps::{read_steps, write_steps};

/// Checks that a vector has 1 to 4 components, because one class would fit the components of longer
/// vectors badly. The check happens at compile time.
struct Components<const N: usize>;

impl<const N: usize> Components<N> {
    const CHECK: () = assert!(N >= 1 && N <= 4, "a vector has 1 to 4 components");
}
