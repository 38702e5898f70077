//! Multiples of a precision, in exactly the bits of Unreal's `FVector_NetQuantize`.
//! `spec/CODEC.md`, section 16.1, defines the format.
//!
//! The class takes 4 or 5 bits, and each component takes 2 bits more than its class. Three
//! components take 11 bits in all for up to 1 step, and 80 bits for the largest numbers. The source
//! is Unreal's `WritePackedVector`, for 24 bits per component. Unreal computes in `f32`, so this
//! module does too.

use super::Components;
use crate::bits::{BitReader, BitSink, bits_for};
use crate::{DecodeError, EncodeError};

/// The largest class, which has numbers of 25 bits.
const MAX_CLASS: u32 = 23;
/// Numbers are clamped to ±`MAX_NUMBER` before their class is computed, so that they fit in an
/// `i32`.
const MAX_NUMBER: f32 = (1 << 30) as f32;

/// The unit of the multiples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Precision {
    /// Whole numbers, as in `FVector_NetQuantize`.
    Whole,
    /// Multiples of 0.1, as in `FVector_NetQuantize10`.
    Tenth,
    /// Multiples of 0.01, as in `FVector_NetQuantize100`.
    Hundredth,
}

impl Precision {
    /// Returns 1, 10 or 100.
    pub const fn steps_per_unit(self) -> f32 {
        match self {
            Self::Whole => 1.0,
            Self::Tenth => 10.0,
            Self::Hundredth => 100.0,
        }
    }
}

/// Writes a vector of 1 to 4 components, each rounded to the nearest multiple of `precision`,
/// halves up.
///
/// Components saturate at −2²⁴ and 2²⁴ − 1 steps. Below 2²² steps, writing a value that was read
/// gives the same bits again. Beyond 2²² steps, the steps are as fine as `f32` itself.
///
/// ```
/// use kinepack::magnitude::{Precision, read_multiples, write_multiples};
/// use kinepack::bits::{BitReader, BitSink, BitWriter};
///
/// let mut bytes = Vec::new();
/// let mut writer = BitWriter::append(&mut bytes);
/// write_multiples(&mut writer, Precision::Tenth, [1.0, -0.5, 0.25])?;
/// assert_eq!(writer.len_bits(), 20);
/// writer.finish()?;
/// assert_eq!(read_multiples(&mut BitReader::new(&bytes), Precision::Tenth)?, [1.0, -0.5, 0.3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`EncodeError::NotANumber`] if a component is NaN or infinite. In that case nothing is written.
pub fn write_multiples<const N: usize>(
    sink: &mut impl BitSink,
    precision: Precision,
    vector: [f32; N],
) -> Result<(), EncodeError> {
    const { Components::<N>::CHECK };
    if !vector.iter().all(|component| component.is_finite()) {
        return Err(EncodeError::NotANumber { id: None, field: "" });
    }
    let numbers = vector.map(|component| nearest(component * precision.steps_per_unit()));
    let largest = numbers.iter().fold(0, |largest, number| largest.max(number.unsigned_abs()));
    let class = bits_for(u64::from(largest)).saturating_sub(1).min(MAX_CLASS);
    // A class whose lowest 4 bits are 8 or more has no fifth bit, because with that bit it would
    // exceed the largest class.
    sink.write(u64::from(class), if class & 8 == 0 { 5 } else { 4 });
    let bias = bias(class);
    for number in numbers {
        sink.write((number.clamp(-bias, bias - 1) + bias) as u64, class + 2);
    }
    Ok(())
}

/// Reads a vector that [`write_multiples`] wrote with the same precision.
///
/// # Errors
/// [`DecodeError::EndOfData`] if the data end within the vector. All other data are a valid vector.
pub fn read_multiples<const N: usize>(
    reader: &mut BitReader<'_>,
    precision: Precision,
) -> Result<[f32; N], DecodeError> {
    const { Components::<N>::CHECK };
    let low = reader.read(4)?;
    let class = (if low < 8 { low | reader.read(1)? << 4 } else { low }) as u32;
    let mut vector = [0.0; N];
    for component in &mut vector {
        let number = reader.read(class + 2)? as i32 - bias(class);
        *component = number as f32 / precision.steps_per_unit();
    }
    Ok(vector)
}

/// Returns the offset that makes the numbers of a class positive.
fn bias(class: u32) -> i32 {
    2 << class
}

/// Returns the nearest whole number, halves up: the floor of the value plus a half.
fn nearest(scaled: f32) -> i32 {
    // In `f64` the sum is exact, except for values far below a half, whose floor is the same. The
    // clamp also handles infinities, which a large value times the steps per unit may give.
    let above = f64::from(scaled.clamp(-MAX_NUMBER, MAX_NUMBER)) + 0.5;
    let towards_zero = above as i32;
    towards_zero - i32::from(f64::from(towards_zero) > above)
}
