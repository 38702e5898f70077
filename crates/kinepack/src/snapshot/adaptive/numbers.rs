//! Computes features, weights and their sums in `f32`, and predictions and logarithms as integers.
//! See `spec/CODEC.md`, section 12.3.

use crate::geometry::Vector;

/// log₂ of the number of units in a step: predictions are in 1/16 of a step.
pub(super) const STEP_BITS: u32 = 4;

/// log₂ of the number of units in an octave: logarithms are in 1/256.
pub(super) const LOG_BITS: u32 = 8;

/// The maximum number of features of a linear predictor. The weights and values of unused features
/// are 0.
pub(crate) const FEATURES: usize = 16;

/// One number for each feature of a predictor: the features' values, or their weights.
pub(crate) type Row = [f32; FEATURES];

/// The energies of a row's features, which show how large each feature was in training. An energy
/// is log₂ of the weighted mean of the feature's square, plus [`ENERGY_BIAS`]. The energy is 0 if
/// the feature was always 0.
pub(crate) type Energies = [u8; FEATURES];

/// Added to every energy, so that the energies of small features stay above 0.
#[cfg(feature = "training")]
pub(super) const ENERGY_BIAS: i32 = 32;

/// The largest absolute value of a feature, in steps.
const MAX_FEATURE: f32 = (1u32 << 26) as f32;

/// log₂(1 + i/256) in 1/256, rounded, computed by repeated squaring.
const MANTISSA_LOG2: [u8; 256] = {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        // The value is from 1 to 2, in units of 2^-31.
        let mut value = (256 + index as u64) << 23;
        let mut log = 0u32;
        let mut bit = 0;
        while bit < 16 {
            value = (value * value) >> 31;
            log <<= 1;
            if value >= 1 << 32 {
                value >>= 1;
                log |= 1;
            }
            bit += 1;
        }
        let rounded = (log + 128) >> 8;
        table[index] = if rounded > 255 { 255 } else { rounded as u8 };
        index += 1;
    }
    table
};

/// Computes log₂ of a value, in 1/256. The value must not be 0.
#[inline]
pub(super) const fn log2(value: u64) -> i32 {
    let exponent = value.ilog2();
    let mantissa = if exponent >= 8 { value >> (exponent - 8) } else { value << (8 - exponent) };
    ((exponent as i32) << LOG_BITS) + MANTISSA_LOG2[(mantissa & 255) as usize] as i32
}

/// Computes log₂(|x| + ½) of a difference x, in 1/256.
#[inline]
pub(super) fn size_log2(sixteenths: i64) -> i32 {
    log2(sixteenths.unsigned_abs() + 8) - ((STEP_BITS as i32) << LOG_BITS)
}

/// Computes log₂, in 1/256, of a vector's length if `mean` is 1, or of the root mean square of its
/// components if `mean` is 3. A quarter is added to the square, so that the logarithm of 0 is
/// finite.
#[inline]
pub(super) fn vector_log2(v: Vector, mean: f64) -> i32 {
    let square = (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) / mean;
    let square = if square < MAX_SQUARE { square } else { MAX_SQUARE };
    let bits = (square + 0.25).to_bits();
    let mantissa = MANTISSA_LOG2[(bits >> 44 & 255) as usize];
    (((bits >> 52) as i32 - 1023) * 256 + i32::from(mantissa)) >> 1
}

/// The limit of a square, which also replaces NaN.
const MAX_SQUARE: f64 = (1u64 << 53) as f64;

/// Converts a value to sixteenths, rounded to the nearest, ties to even, and limited to ±2^30.
#[inline]
pub(super) fn sixteenths(value: f64) -> i32 {
    let limit = f64::from(1 << 30);
    let held = (value * f64::from(1 << STEP_BITS)).clamp(-limit, limit);
    if held.is_nan() { 0 } else { rounded(held) as i32 }
}

/// Returns the nearest integer, ties to even, of a value up to ±2^50. Adding `SHIFT` leaves no bits
/// below 1, so the addition rounds.
#[inline]
pub(super) fn rounded(value: f64) -> i64 {
    const SHIFT: f64 = ((1u64 << 52) + (1u64 << 51)) as f64;
    (value + SHIFT).to_bits() as i64 - SHIFT.to_bits() as i64
}

/// Converts sixteenths to steps.
#[inline]
pub(super) fn steps(sixteenths: i64) -> f64 {
    sixteenths as f64 / f64::from(1 << STEP_BITS)
}

/// Converts a value in steps to a feature, limited to ±2^26. NaN becomes 0.
#[inline]
pub(super) fn feature(value: f64) -> f32 {
    let held = (value as f32).clamp(-MAX_FEATURE, MAX_FEATURE);
    if held.is_nan() { 0.0 } else { held }
}

/// Computes the sum of the products of weights and features. The order of the additions is part of
/// the format, because float sums depend on it. This order allows four additions at a time.
#[inline(always)]
pub(super) fn dot(weights: &Row, features: &Row) -> f32 {
    let mut sums = [0.0; 4];
    for (weights, features) in weights.chunks_exact(4).zip(features.chunks_exact(4)) {
        for (sum, (weight, feature)) in sums.iter_mut().zip(weights.iter().zip(features)) {
            *sum += weight * feature;
        }
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3])
}

/// Converts a sum in steps to sixteenths, rounded to the nearest, ties to even.
#[inline]
pub(super) fn mean_of(sum: f32) -> i64 {
    rounded(f64::from(sum) * f64::from(1 << STEP_BITS))
}

/// Rounds a sum in 1/256 octave to the nearest integer, ties to even.
#[inline]
pub(super) fn scale_of(sum: f32) -> i64 {
    rounded(f64::from(sum))
}
