//! Fixed point: features, weights and logarithms as integers. `spec/CODEC.md`, section 12.3.

/// Features and predictions are in 1/16 of a step.
pub(super) const STEP_BITS: u32 = 4;

/// Weights are in 1/65536.
pub(super) const WEIGHT_BITS: u32 = 16;

/// Logarithms are in 1/256.
pub(super) const LOG_BITS: u32 = 8;

/// The largest number of features of a linear predictor. Unused features are 0.
pub(crate) const FEATURES: usize = 16;

/// The values of a predictor's features, or their weights.
pub(crate) type Row = [i32; FEATURES];

/// The energy of each feature of a row in training: log₂ of the weighted mean of its square, plus
/// [`ENERGY_BIAS`]; 0 if the feature was always 0.
pub(crate) type Energies = [u8; FEATURES];

/// Keeps the energies of small features above 0.
pub(super) const ENERGY_BIAS: i32 = 32;

/// The limit of a feature, in sixteenths: 2²⁶ steps.
const MAX_FEATURE: f64 = (1u32 << 30) as f64;

/// log₂(1 + i/256) in 1/256, rounded, computed by repeated squaring.
const MANTISSA_LOG2: [u8; 256] = {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        // In 2^-31, between 1 and 2.
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

/// log₂ of a value in 1/256. The value must not be 0.
#[inline]
pub(super) fn log2(value: u64) -> i32 {
    let exponent = value.ilog2();
    let mantissa = if exponent >= 8 { value >> (exponent - 8) } else { value << (8 - exponent) };
    ((exponent as i32) << LOG_BITS) + i32::from(MANTISSA_LOG2[(mantissa & 255) as usize])
}

/// log₂(|x| + ½) of a difference in sixteenths, in 1/256.
#[inline]
pub(super) fn size_log2(sixteenths: i64) -> i32 {
    log2(sixteenths.unsigned_abs() + 8) - ((STEP_BITS as i32) << LOG_BITS)
}

/// log₂(|v| + ½) in 1/256, for a vector whose squares, in sixteenths squared, sum up to `squares`.
/// With `mean` 1, |v| is the length of the vector; with 3, the root of its mean square.
#[inline]
pub(super) fn length_log2(squares: u64, mean: u64) -> i32 {
    (log2(squares / mean + 64) >> 1) - ((STEP_BITS as i32) << LOG_BITS)
}

/// A value in sixteenths, rounded towards zero.
#[inline]
pub(super) fn sixteenths(value: f64) -> i32 {
    (value * f64::from(1 << STEP_BITS)).clamp(-MAX_FEATURE, MAX_FEATURE) as i32
}

/// Converts sixteenths to steps.
#[inline]
pub(super) fn steps(sixteenths: i64) -> f64 {
    sixteenths as f64 / f64::from(1 << STEP_BITS)
}

/// The sum of features times weights, rounded, in the features' unit.
#[inline]
pub(super) fn dot(weights: &Row, features: &Row) -> i64 {
    let sum: i64 = weights
        .iter()
        .zip(features)
        .map(|(weight, feature)| i64::from(*weight) * i64::from(*feature))
        .sum();
    (sum + (1 << (WEIGHT_BITS - 1))) >> WEIGHT_BITS
}
