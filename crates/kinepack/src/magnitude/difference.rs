//! Codes a vector within limits against a baseline: the difference of each component's codes, as
//! steps. `spec/CODEC.md`, section 16.3, defines the format.
//!
//! The format resembles that of [`value`](crate::value), but the cost grows gradually with the
//! difference, instead of being low in one range only. With limits that wrap, differences go the
//! short way round, so Euler angles are an ordinary vector.

use super::Components;
use super::steps::{Read, read, read_steps, write_raw, write_steps};
use crate::bits::{BitReader, BitSink};
use crate::quantize::VectorLimits;
use crate::value::{Limits, code_after, steps_between};
use crate::{DecodeError, EncodeError};

/// Writes `value`, a vector of 1 to 4 components, as the difference of its codes from those of
/// `baseline`.
///
/// ```
/// use kinepack::magnitude::{read_difference, write_difference};
/// use kinepack::bits::{BitReader, BitSink, BitWriter};
/// use kinepack::quantize::{FloatLimits, VectorLimits};
///
/// // The angles are pitch, yaw and roll. From 359.5° to 1° are 3 steps, not 717.
/// let angles = VectorLimits::new([FloatLimits::until(0.0, 360.0, 0.5)?.wrapping(); 3]);
/// let [before, after] = [[10.0, 359.5, 0.0], [9.5, 1.0, 0.0]];
/// let mut bytes = Vec::new();
/// let mut writer = BitWriter::append(&mut bytes);
/// write_difference(&mut writer, &angles, before, after)?;
/// assert_eq!(writer.len_bits(), 13);
/// writer.finish()?;
/// assert_eq!(read_difference(&mut BitReader::new(&bytes), &angles, before)?, after);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`EncodeError`] if a component of `value` or `baseline` is not a number or is out of its limits.
/// In that case nothing is written.
pub fn write_difference<const N: usize>(
    sink: &mut impl BitSink,
    limits: &VectorLimits<N>,
    baseline: [f32; N],
    value: [f32; N],
) -> Result<(), EncodeError> {
    let steps = steps(limits, baseline, value)?;
    write_steps(sink, steps)
}

/// Reads a vector that [`write_difference`] wrote against the same baseline.
///
/// # Errors
/// [`DecodeError`] if the data end early, or if [`write_any`] wrote the values without codes. Also
/// if `baseline` is NaN, or if `baseline` or the result is out of the limits.
pub fn read_difference<const N: usize>(
    reader: &mut BitReader<'_>,
    limits: &VectorLimits<N>,
    baseline: [f32; N],
) -> Result<[f32; N], DecodeError> {
    let steps = read_steps(reader)?;
    value_after(limits, baseline, steps)
        .ok_or(DecodeError::OutOfRange { at_bit: reader.position_bits() })
}

/// Like [`write_difference`], for any value and baseline. If `value` or `baseline` is NaN or out of
/// the limits, it has no code. In that case the value is written bit for bit, in 7 + 32 · N bits.
pub fn write_any<const N: usize>(
    sink: &mut impl BitSink,
    limits: &VectorLimits<N>,
    baseline: [f32; N],
    value: [f32; N],
) {
    const { Components::<N>::CHECK };
    // Codes have 32 bits, so the steps between them are never out of range.
    let written = write_difference(sink, limits, baseline, value);
    if written.is_err() {
        write_raw(sink, value);
    }
}

/// Reads a vector that [`write_any`] wrote against the same baseline.
///
/// # Errors
/// [`DecodeError`] if the data end early. For a vector that was written as a difference, also if
/// `baseline` is NaN, or if `baseline` or the result is out of the limits. Values without a code
/// are returned unchanged, including NaN.
pub fn read_any<const N: usize>(
    reader: &mut BitReader<'_>,
    limits: &VectorLimits<N>,
    baseline: [f32; N],
) -> Result<[f32; N], DecodeError> {
    match read(reader)? {
        Read::Raw(values) => Ok(values),
        Read::Steps(steps) => value_after(limits, baseline, steps)
            .ok_or(DecodeError::OutOfRange { at_bit: reader.position_bits() }),
    }
}

fn steps<const N: usize>(
    limits: &VectorLimits<N>,
    baseline: [f32; N],
    value: [f32; N],
) -> Result<[i64; N], EncodeError> {
    let mut steps = [0; N];
    for (index, axis) in limits.axes().iter().enumerate() {
        let [base, code] = [axis.code_of(baseline[index])?, axis.code_of(value[index])?];
        steps[index] = steps_between(axis, base, code) as i64;
    }
    Ok(steps)
}

/// Returns the value `steps` after `baseline`, if both are within the limits.
fn value_after<const N: usize>(
    limits: &VectorLimits<N>,
    baseline: [f32; N],
    steps: [i64; N],
) -> Option<[f32; N]> {
    let mut value = [0.0; N];
    for (index, axis) in limits.axes().iter().enumerate() {
        let base = axis.code_of(baseline[index]).ok()?;
        value[index] = axis.value_of(code_after(axis, base, i128::from(steps[index]))?);
    }
    Some(value)
}
