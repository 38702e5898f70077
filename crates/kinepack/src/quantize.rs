//! Quantizers turn numbers into integer codes and back.
//!
//! Only a quantizer loses precision. A quantizer divides a range into steps, and a code is the
//! number of the nearest step. So the reconstructed value is within half a step of the original.
//! All later stages work on codes and are exact. `spec/CODEC.md`, section 2, defines the
//! arithmetic. All of it is `f64` or integer and gives the same result on every platform.

use crate::bits::{BitReader, BitSink, bits_for};
pub use crate::rotation::SmallestThree;
pub use crate::vector::VectorLimits;
use crate::{DecodeError, EncodeError, SetupError};

/// Limits of a real number: minimum, maximum and step. Codes run from 0 at the minimum to
/// [`max_code`](Self::max_code).
///
/// With [`wrapping`](Self::wrapping) limits the number is an angle or another value that wraps
/// around at the end of its range. Such limits accept every finite value, and differences take the
/// short way round.
///
/// The reconstructed value differs from the original by at most half a step. If the value is read
/// as `f32`, half the spacing of `f32` at that value is added: 2⁻²⁴ of its magnitude.
///
/// ```
/// use kinepack::quantize::FloatLimits;
///
/// let limits = FloatLimits::new(0.0, 100.0, 0.1)?;
/// assert_eq!(limits.bits(), 10);
/// assert_eq!(limits.quantize(1.0)?, 10);
/// assert_eq!(limits.reconstruct(10) as f32, 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FloatLimits {
    min: f64,
    max: f64,
    /// The largest value that has a code: `max`, or the value half a step before the end if the
    /// range excludes its end.
    highest: f64,
    step: f64,
    max_code: u32,
    wraps: bool,
    /// True if the values are `f32`: the ends, rounded to `f32`, then also count as in range.
    single: bool,
}

/// The parts of [`FloatLimits`], as plain numbers for files.
///
/// ```
/// use kinepack::quantize::FloatLimits;
///
/// let parts = FloatLimits::new(0.0, 100.0, 0.5)?.parts();
/// assert_eq!((parts.step, parts.max_code), (0.5, 200));
/// assert_eq!(FloatLimits::from_parts(parts)?.bits(), 8);
/// # Ok::<(), kinepack::SetupError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FloatParts {
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
    /// The largest value that has a code.
    pub highest: f64,
    /// The distance between two neighbouring values.
    pub step: f64,
    /// The largest code.
    pub max_code: u32,
    /// Whether values wrap around to `min`.
    pub wraps: bool,
    /// Whether values are `f32`.
    pub single: bool,
}

/// The maximum number of steps that a range of floats can have.
const MAX_STEPS: f64 = u32::MAX as f64;

impl FloatLimits {
    /// Makes limits from `min` to `max`, both included, in steps of `precision`. If `min` equals
    /// `max`, any positive precision is valid, and a value costs no bits.
    ///
    /// # Errors
    /// [`SetupError`] if the range is empty, the precision is not positive or wider than the range,
    /// or there are more than 2³² steps.
    pub const fn new(min: f64, max: f64, precision: f64) -> Result<Self, SetupError> {
        if !(min.is_finite() && max.is_finite() && min <= max) {
            return Err(SetupError::EmptyRange);
        }
        if !(precision.is_finite() && precision > 0.0) || (max > min && precision > max - min) {
            return Err(SetupError::BadPrecision);
        }
        let steps = (max - min) / precision + 0.5;
        if steps >= MAX_STEPS + 1.0 {
            return Err(SetupError::TooManySteps);
        }
        Ok(Self {
            min,
            max,
            highest: max,
            step: precision,
            max_code: steps as u32,
            wraps: false,
            single: false,
        })
    }

    /// Makes limits from `min` to `max`, both included, in 2^`bits` − 1 steps, with `bits` from 1
    /// to 32.
    ///
    /// # Errors
    /// [`SetupError`] if the range is empty or `bits` is not from 1 to 32.
    pub const fn with_bits(min: f64, max: f64, bits: u32) -> Result<Self, SetupError> {
        if bits == 0 || bits > 32 {
            return Err(SetupError::BitCount { bits, max_bits: 32 });
        }
        if max > min {
            Self::new(min, max, (max - min) / ((1u64 << bits) - 1) as f64)
        } else {
            Self::new(min, max, 1.0)
        }
    }

    /// Like [`new`](Self::new), but the range excludes its end: −256 to 256 in steps of 1/512 have
    /// 2¹⁸ codes. Values within half a step of the end have no code.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new).
    pub const fn until(min: f64, end: f64, precision: f64) -> Result<Self, SetupError> {
        if !(precision.is_finite() && precision > 0.0) {
            return Err(SetupError::BadPrecision);
        }
        match Self::new(min, end - precision, precision) {
            Ok(limits) => Ok(Self { highest: end - precision / 2.0, ..limits }),
            Err(error) => Err(error),
        }
    }

    /// Like [`with_bits`](Self::with_bits), but the range excludes its end: the step is the range
    /// divided by 2^`bits`.
    ///
    /// # Errors
    /// The errors of [`with_bits`](Self::with_bits).
    pub const fn until_with_bits(min: f64, end: f64, bits: u32) -> Result<Self, SetupError> {
        if bits == 0 || bits > 32 {
            return Err(SetupError::BitCount { bits, max_bits: 32 });
        }
        Self::until(min, end, (end - min) / (1u64 << bits) as f64)
    }

    /// Returns limits with the same steps, for a value that wraps around to `min` when it reaches
    /// the end. The range is then as long as all steps together: `(max_code + 1) × step`.
    #[must_use]
    pub const fn wrapping(mut self) -> Self {
        self.wraps = true;
        self
    }

    /// Returns the same limits for `f32` values: a reconstructed value, rounded to `f32`, quantizes
    /// to the same code again, also at the ends. The call fails if neighbouring values would be
    /// equal in `f32`.
    ///
    /// # Errors
    /// [`SetupError::FinerThanFloat`] if the spacing of `f32` at the far end of the range is not
    /// below the step. A reconstructed `f32` would then not always quantize to the same code.
    pub const fn for_f32(self) -> Result<Self, SetupError> {
        let far = if -self.min > self.max { -self.min } else { self.max } as f32;
        let spacing = f32::from_bits(far.to_bits() + 1) as f64 - far as f64;
        // If an end is beyond the range of `f32`, the spacing is NaN.
        if self.max_code == 0 || spacing < self.step {
            Ok(Self { single: true, ..self })
        } else {
            Err(SetupError::FinerThanFloat)
        }
    }

    /// Returns the same limits for `f32`, without checking the spacing.
    pub(crate) fn as_single(&self) -> Self {
        Self { single: true, ..*self }
    }

    /// Returns the same range in steps of `step`. If the range wraps, its step is the next smaller
    /// one that divides it evenly.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new), and those of [`for_f32`](Self::for_f32) if these limits
    /// are for `f32`.
    pub fn with_step(&self, step: f64) -> Result<Self, SetupError> {
        let end = self.end();
        let other = if self.wraps {
            let steps = libm::ceil((end - self.min) / step);
            Self::until(self.min, end, if steps > 1.0 { (end - self.min) / steps } else { step })?
                .wrapping()
        } else if self.highest > self.max {
            Self::until(self.min, end, step)?
        } else {
            Self::new(self.min, self.max, step)?
        };
        if self.single { other.for_f32() } else { Ok(other) }
    }

    /// Returns the end that the caller gave for a range that excludes its end. Sums of floats are
    /// not exact, so several ends are possible. The function chooses a round end, which is the most
    /// likely.
    fn end(&self) -> f64 {
        use core::f64::consts::{PI, TAU};
        let sum = self.max + self.step;
        let round = libm::round(sum * 1e9) / 1e9;
        [round, PI, TAU].into_iter().find(|end| end - self.step == self.max).unwrap_or(sum)
    }

    /// Returns the limits as plain numbers, for files.
    pub const fn parts(&self) -> FloatParts {
        let Self { min, max, highest, step, max_code, wraps, single } = *self;
        FloatParts { min, max, highest, step, max_code, wraps, single }
    }

    /// Makes the limits with these [`parts`](Self::parts).
    ///
    /// # Errors
    /// The errors of [`new`](Self::new), and [`SetupError::PartsDiffer`] if the largest code or the
    /// highest value does not follow from the range and the step.
    pub fn from_parts(parts: FloatParts) -> Result<Self, SetupError> {
        let FloatParts { min, max, highest, step, max_code, wraps, single } = parts;
        let limits = Self::new(min, max, step)?;
        // A schema's hash covers only the range and the step. The largest code must follow from the
        // range and the step. Otherwise two sides with equal hashes would decode different values.
        // A range that excludes its end extends half a step beyond the largest code.
        if max_code != limits.max_code || !(max <= highest && highest <= max + step) {
            return Err(SetupError::PartsDiffer);
        }
        Ok(Self { highest, wraps, single, ..limits })
    }

    /// The smallest value.
    pub const fn min(&self) -> f64 {
        self.min
    }

    /// The largest value.
    pub const fn max(&self) -> f64 {
        self.max
    }

    /// The distance between two neighbouring values.
    pub const fn step(&self) -> f64 {
        self.step
    }

    /// The largest code.
    pub const fn max_code(&self) -> u32 {
        self.max_code
    }

    /// Returns true if the values wrap around, as angles do.
    pub const fn wraps(&self) -> bool {
        self.wraps
    }

    /// Returns the number of bits that hold every code.
    pub const fn bits(&self) -> u32 {
        bits_for(self.max_code as u64)
    }

    /// Returns the code of the step nearest to `value`. A value halfway between two steps takes the
    /// upper one.
    ///
    /// # Errors
    /// [`EncodeError::NotANumber`] for NaN, and for infinities if the limits wrap.
    /// [`EncodeError::OutOfRange`] for a value below the minimum or above the maximum.
    #[inline]
    pub fn quantize(&self, value: f64) -> Result<u32, EncodeError> {
        if let Some(code) = self.inner_code(value) {
            return Ok(code);
        }
        if !self.wraps && !self.contains(value) && !value.is_nan() {
            return Err(EncodeError::OutOfRange { id: None, field: "", value });
        }
        self.quantize_clamped(value)
    }

    /// Returns the code of a value that is inside the range and more than a step below the maximum.
    /// Such a value needs no further checks. Returns `None` for any other value.
    #[inline]
    pub(crate) fn inner_code(&self, value: f64) -> Option<u32> {
        let is_inside = !self.wraps && value >= self.min && value < self.max - self.step;
        is_inside.then(|| ((value - self.min) / self.step + 0.5) as u32)
    }

    /// Returns whether a value is at least the minimum and at most the highest value.
    #[inline]
    fn contains(&self, value: f64) -> bool {
        let within_single = || (self.min as f32..=self.highest as f32).contains(&(value as f32));
        (self.min..=self.highest).contains(&value) || (self.single && within_single())
    }

    /// Like [`quantize`](Self::quantize), but clamps a value outside the range to the nearest end.
    ///
    /// # Errors
    /// [`EncodeError::NotANumber`] for NaN, and for infinities if the limits wrap.
    #[inline]
    pub fn quantize_clamped(&self, value: f64) -> Result<u32, EncodeError> {
        if let Some(code) = self.inner_code(value) {
            return Ok(code);
        }
        if value.is_nan() || (self.wraps && value.is_infinite()) {
            return Err(EncodeError::NotANumber { id: None, field: "" });
        }
        if self.wraps {
            return Ok(self.quantize_wrapped(value));
        }
        // The last step may be shorter than the others. The end of the range has the last code even
        // if `f32` rounded the value down.
        if self.single && value as f32 >= self.max as f32 {
            return Ok(self.max_code);
        }
        // The cast saturates at both ends.
        let code = ((value - self.min) / self.step + 0.5) as u32;
        Ok(code.min(self.max_code))
    }

    fn quantize_wrapped(&self, value: f64) -> u32 {
        let codes = u64::from(self.max_code) + 1;
        let period = self.step * codes as f64;
        // The first remainder is exact, so many turns cost no precision.
        let mut offset = (value % period - self.min) % period;
        if offset < 0.0 {
            offset += period;
        }
        // Within half a step of the period's end, the rounded quotient equals `codes`; the
        // remainder makes it 0.
        ((offset / self.step + 0.5) as u64 % codes) as u32
    }

    /// Returns the value of `code`. A code above [`max_code`](Self::max_code) gives the largest
    /// value.
    #[inline]
    pub fn reconstruct(&self, code: u32) -> f64 {
        let value = self.min + f64::from(code.min(self.max_code)) * self.step;
        if value < self.max || self.wraps { value } else { self.max }
    }

    /// Reads a code.
    ///
    /// # Errors
    /// [`DecodeError`] at the end of the data, and for codes above the maximum.
    #[inline]
    pub fn read_code(&self, reader: &mut BitReader<'_>) -> Result<u32, DecodeError> {
        Ok(read_up_to(reader, u64::from(self.max_code))? as u32)
    }

    /// Writes a code in [`bits`](Self::bits) bits.
    #[inline]
    pub fn write_code(&self, sink: &mut impl BitSink, code: u32) {
        debug_assert!(code <= self.max_code);
        sink.write(u64::from(code), self.bits());
    }
}

/// Limits of an integer of up to 64 bits, signed or unsigned: minimum, maximum and step.
///
/// ```
/// use kinepack::quantize::IntegerLimits;
///
/// let health = IntegerLimits::new(-20, 100, 1)?;
/// assert_eq!(health.bits(), 7);
/// assert_eq!(health.quantize(100)?, 120);
/// assert_eq!(health.reconstruct(120), 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntegerLimits {
    min: i128,
    max: i128,
    step: u64,
    max_code: u64,
}

impl IntegerLimits {
    /// Makes limits from `min` to `max`, both included, in steps of `step`. Both ends must fit in
    /// `i64`, or both must fit in `u64`.
    ///
    /// # Errors
    /// [`SetupError`] if the range is empty, the step is 0 or wider than the range, or the range
    /// has more than 64 bits.
    pub const fn new(min: i128, max: i128, step: u64) -> Result<Self, SetupError> {
        if min > max {
            return Err(SetupError::EmptyRange);
        }
        if min < i64::MIN as i128 || max > u64::MAX as i128 || max - min > u64::MAX as i128 {
            return Err(SetupError::TooManySteps);
        }
        let span = (max - min) as u64;
        if step == 0 || (span > 0 && step > span) {
            return Err(SetupError::BadPrecision);
        }
        let remainder = span % step;
        let max_code = span / step + (remainder > step / 2) as u64;
        Ok(Self { min, max, step, max_code })
    }

    /// The smallest value.
    pub const fn min(&self) -> i128 {
        self.min
    }

    /// The largest value.
    pub const fn max(&self) -> i128 {
        self.max
    }

    /// The distance between two neighbouring values.
    pub const fn step(&self) -> u64 {
        self.step
    }

    /// The largest code.
    pub const fn max_code(&self) -> u64 {
        self.max_code
    }

    /// Returns the number of bits that hold every code.
    pub const fn bits(&self) -> u32 {
        bits_for(self.max_code)
    }

    /// Returns the code of the step nearest to `value`.
    ///
    /// # Errors
    /// [`EncodeError::OutOfRange`] for a value below the minimum or above the maximum.
    #[inline]
    pub fn quantize(&self, value: impl Into<i128>) -> Result<u64, EncodeError> {
        let value = value.into();
        if value < self.min || value > self.max {
            return Err(EncodeError::OutOfRange { id: None, field: "", value: value as f64 });
        }
        Ok(self.quantize_clamped(value))
    }

    /// Like [`quantize`](Self::quantize), but clamps a value outside the range to the nearest end.
    #[inline]
    pub fn quantize_clamped(&self, value: impl Into<i128>) -> u64 {
        let offset = (value.into().clamp(self.min, self.max) - self.min) as u64;
        if self.step == 1 {
            return offset;
        }
        let code = offset / self.step + u64::from(offset % self.step > (self.step - 1) / 2);
        code.min(self.max_code)
    }

    /// Returns the value of `code`. A code above [`max_code`](Self::max_code) gives the largest
    /// value.
    #[inline]
    pub fn reconstruct(&self, code: u64) -> i128 {
        let value = self.min + i128::from(code.min(self.max_code)) * i128::from(self.step);
        value.min(self.max)
    }

    /// Reads a code.
    ///
    /// # Errors
    /// [`DecodeError`] at the end of the data, and for codes above the maximum.
    #[inline]
    pub fn read_code(&self, reader: &mut BitReader<'_>) -> Result<u64, DecodeError> {
        read_up_to(reader, self.max_code)
    }

    /// Writes a code in [`bits`](Self::bits) bits.
    #[inline]
    pub fn write_code(&self, sink: &mut impl BitSink, code: u64) {
        debug_assert!(code <= self.max_code);
        sink.write(code, self.bits());
    }
}

/// Reads a value from 0 to `max`, in the number of bits that hold `max`.
#[inline]
pub(crate) fn read_up_to(reader: &mut BitReader<'_>, max: u64) -> Result<u64, DecodeError> {
    let value = reader.read(bits_for(max))?;
    if value > max {
        Err(DecodeError::OutOfRange { at_bit: reader.position_bits() })
    } else {
        Ok(value)
    }
}
