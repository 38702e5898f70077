//! Codes a single value against a baseline, without a schema or snapshot.
//!
//! Both sides hold the baseline value. A value that quantizes to the baseline's code costs one bit.
//! If the difference lies in a small range, the value costs two bits and the difference. Any other
//! value costs one or two bits and the bits of its code. This is the method of the article "Delta
//! compression and object quantization in C#". See `spec/CODEC.md`, section 4.
//!
//! In the article's example, a transform of 20 bytes takes 3 bytes if it moved by half a unit on
//! each axis.
//!
//! ```
//! use kinepack::value::{Difference, write_difference, write_if_changed};
//! use kinepack::bits::BitWriter;
//! use kinepack::quantize::FloatLimits;
//!
//! let [xz, y] = [FloatLimits::new(-100.0, 100.0, 0.1)?, FloatLimits::new(-10.0, 10.0, 0.1)?];
//! let angle = FloatLimits::new(0.0, 360.0, 0.1)?;
//! let mut bytes = Vec::new();
//! let mut writer = BitWriter::append(&mut bytes);
//! for (limits, before, after) in [(&xz, 10.0, 10.5), (&y, 5.0, 5.5), (&xz, 10.0, 10.5)] {
//!     write_difference(&mut writer, limits, &Difference::new(limits, -1.0, 1.0)?, before, after)?;
//! }
//! for degrees in [60.0, 30.0] {
//!     write_if_changed(&mut writer, &angle, degrees, degrees)?;
//! }
//! assert_eq!(writer.finish()?, 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::bits::{BitReader, BitSink, bits_for};
use crate::quantize::{FloatLimits, IntegerLimits, read_up_to};
use crate::{DecodeError, EncodeError, SetupError};

/// A quantizer for the functions of this module: [`FloatLimits`] take `f32`, [`IntegerLimits`] take
/// `i128`.
pub trait Limits {
    /// The type of the values.
    type Value: Copy;

    /// The largest code.
    fn largest_code(&self) -> u64;

    /// Returns true if the codes are cyclic: code 0 follows the largest code.
    fn is_cyclic(&self) -> bool;

    /// Returns the code of `value`.
    ///
    /// # Errors
    /// [`EncodeError`] if `value` is not a number or out of range.
    fn code_of(&self, value: Self::Value) -> Result<u64, EncodeError>;

    /// Returns the value of `code`.
    fn value_of(&self, code: u64) -> Self::Value;
}

impl Limits for FloatLimits {
    type Value = f32;

    fn largest_code(&self) -> u64 {
        u64::from(self.max_code())
    }

    fn is_cyclic(&self) -> bool {
        self.wraps()
    }

    fn code_of(&self, value: f32) -> Result<u64, EncodeError> {
        Ok(u64::from(self.as_single().quantize(f64::from(value))?))
    }

    fn value_of(&self, code: u64) -> f32 {
        self.reconstruct(code as u32) as f32
    }
}

impl Limits for IntegerLimits {
    type Value = i128;

    fn largest_code(&self) -> u64 {
        self.max_code()
    }

    fn is_cyclic(&self) -> bool {
        false
    }

    fn code_of(&self, value: i128) -> Result<u64, EncodeError> {
        self.quantize(value)
    }

    fn value_of(&self, code: u64) -> i128 {
        self.reconstruct(code)
    }
}

/// The range of differences that [`write_difference`] codes in few bits, in steps of the limits.
///
/// ```
/// use kinepack::quantize::FloatLimits;
/// use kinepack::value::Difference;
///
/// let height = FloatLimits::new(-10.0, 10.0, 0.1)?;
/// assert_eq!(Difference::new(&height, -0.5, 0.5)?, Difference::from_steps(-5, 5)?);
/// # Ok::<(), kinepack::SetupError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    min_steps: i64,
    max_steps: i64,
}

impl Difference {
    /// Makes a range of differences from `min` to `max`, in the unit of the values that `limits`
    /// quantize.
    ///
    /// # Errors
    /// [`SetupError::EmptyRange`] if the range is empty, and [`SetupError::TooManySteps`] if it has
    /// more than 2³² steps.
    pub const fn new(limits: &FloatLimits, min: f64, max: f64) -> Result<Self, SetupError> {
        if !(min.is_finite() && max.is_finite() && min <= max) {
            return Err(SetupError::EmptyRange);
        }
        let [low, high] = [min / limits.step(), max / limits.step()];
        if low < -(u32::MAX as f64) || high > u32::MAX as f64 {
            return Err(SetupError::TooManySteps);
        }
        Ok(Self { min_steps: nearest(low), max_steps: nearest(high) })
    }

    /// Makes a range of differences from `min` to `max`, counted in steps.
    ///
    /// # Errors
    /// [`SetupError::EmptyRange`] if the range is empty, and [`SetupError::TooManySteps`] if it has
    /// more than 2³² steps.
    pub const fn from_steps(min: i64, max: i64) -> Result<Self, SetupError> {
        if min > max {
            return Err(SetupError::EmptyRange);
        }
        if min < -(u32::MAX as i64) || max > u32::MAX as i64 {
            return Err(SetupError::TooManySteps);
        }
        Ok(Self { min_steps: min, max_steps: max })
    }

    fn span(&self) -> u64 {
        self.max_steps.abs_diff(self.min_steps)
    }
}

const fn nearest(value: f64) -> i64 {
    (if value < 0.0 { value - 0.5 } else { value + 0.5 }) as i64
}

/// Writes one bit for "unchanged", or one bit and the code.
///
/// # Errors
/// [`EncodeError`] if `value` or `baseline` is not a number or out of range. In that case nothing
/// is written.
pub fn write_if_changed<L: Limits>(
    sink: &mut impl BitSink,
    limits: &L,
    baseline: L::Value,
    value: L::Value,
) -> Result<(), EncodeError> {
    let [base, code] = [limits.code_of(baseline)?, limits.code_of(value)?];
    sink.write_bool(code != base);
    if code != base {
        sink.write(code, bits_for(limits.largest_code()));
    }
    Ok(())
}

/// Reads a value that [`write_if_changed`] wrote. `Ok(None)` means "unchanged": the caller keeps
/// its baseline value.
///
/// # Errors
/// [`DecodeError`] at the end of the data, and for codes out of range.
pub fn read_if_changed<L: Limits>(
    reader: &mut BitReader<'_>,
    limits: &L,
) -> Result<Option<L::Value>, DecodeError> {
    if !reader.read_bool()? {
        return Ok(None);
    }
    Ok(Some(limits.value_of(read_up_to(reader, limits.largest_code())?)))
}

/// Writes one bit for "unchanged", two bits and the difference if it lies in `difference`, or
/// otherwise two bits and the code.
///
/// # Errors
/// The errors of [`write_if_changed`].
pub fn write_difference<L: Limits>(
    sink: &mut impl BitSink,
    limits: &L,
    difference: &Difference,
    baseline: L::Value,
    value: L::Value,
) -> Result<(), EncodeError> {
    let [base, code] = [limits.code_of(baseline)?, limits.code_of(value)?];
    sink.write_bool(code != base);
    if code == base {
        return Ok(());
    }
    let steps = steps_between(limits, base, code);
    let fits =
        i128::from(difference.min_steps) <= steps && steps <= i128::from(difference.max_steps);
    sink.write_bool(!fits);
    if fits {
        sink.write((steps - i128::from(difference.min_steps)) as u64, bits_for(difference.span()));
    } else {
        sink.write(code, bits_for(limits.largest_code()));
    }
    Ok(())
}

/// Reads a value that [`write_difference`] wrote. `Ok(None)` means "unchanged": the caller keeps
/// its baseline value.
///
/// # Errors
/// [`DecodeError`] at the end of the data, for codes out of range, for differences whose result is
/// out of the limits, and if `baseline` has no code.
pub fn read_difference<L: Limits>(
    reader: &mut BitReader<'_>,
    limits: &L,
    difference: &Difference,
    baseline: L::Value,
) -> Result<Option<L::Value>, DecodeError> {
    if !reader.read_bool()? {
        return Ok(None);
    }
    if reader.read_bool()? {
        return Ok(Some(limits.value_of(read_up_to(reader, limits.largest_code())?)));
    }
    let steps = read_up_to(reader, difference.span())? as i128 + i128::from(difference.min_steps);
    let out_of_range = DecodeError::OutOfRange { at_bit: reader.position_bits() };
    let base = limits.code_of(baseline).map_err(|_| out_of_range)?;
    let code = code_after(limits, base, steps).ok_or(out_of_range)?;
    Ok(Some(limits.value_of(code)))
}

/// Returns the difference from `base` to `code`, the short way round if the limits are cyclic.
pub(crate) fn steps_between<L: Limits>(limits: &L, base: u64, code: u64) -> i128 {
    let codes = i128::from(limits.largest_code()) + 1;
    let steps = i128::from(code) - i128::from(base);
    match limits.is_cyclic() {
        true if 2 * steps > codes => steps - codes,
        true if 2 * steps < -codes => steps + codes,
        _ => steps,
    }
}

/// Returns the code `steps` after `base`. Cyclic limits wrap around; with other limits, the
/// function returns `None` if the result is outside of them.
pub(crate) fn code_after<L: Limits>(limits: &L, base: u64, steps: i128) -> Option<u64> {
    let codes = i128::from(limits.largest_code()) + 1;
    let code = i128::from(base) + steps;
    let code = if limits.is_cyclic() { code.rem_euclid(codes) } else { code };
    if (0..codes).contains(&code) { Some(code as u64) } else { None }
}
