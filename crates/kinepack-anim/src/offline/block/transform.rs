//! Transforms the samples of a component to coefficients, and back.

use crate::block::{BlockLength, MAX_LENGTH, basis_row};

use super::pieces;

/// The largest coefficient that fits into 24 bits.
pub(super) const LARGEST: f64 = 8_388_607.0;
/// The number of bits that a squared step of error is worth.
const ERROR_BITS: f64 = 12.0;

/// How the transform rounds coefficients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rounding {
    /// Rounds to the nearest integer.
    Nearest,
    /// Rounds to a smaller magnitude if the saved bits are worth the error.
    RateDistortion,
}

/// Computes the coefficients of a component, and replaces `samples` with the values that they
/// decode to.
pub(super) fn transform(
    block: BlockLength,
    (step, largest): (f64, f64),
    rounding: Rounding,
    samples: &mut [f64],
    coefficients: &mut [i32],
) {
    let length = samples.len();
    let mut sums = [0.0; MAX_LENGTH];
    for (sample, &value) in samples.iter().enumerate() {
        for (sum, &basis) in sums.iter_mut().zip(basis_row(length, sample)) {
            *sum += f64::from(basis) * value;
        }
    }
    for (coefficient, sum) in coefficients.iter_mut().zip(&mut sums) {
        *sum /= step;
        *coefficient = sum.round().clamp(-largest, largest) as i32;
    }
    if rounding == Rounding::RateDistortion {
        pieces::shrink(block, &sums[..length], coefficients, ERROR_BITS);
    }
    inverse(step, coefficients, samples);
}

/// Computes the samples to which the coefficients of a component decode.
pub(super) fn inverse(step: f64, coefficients: &[i32], samples: &mut [f64]) {
    let length = samples.len();
    let count =
        coefficients.iter().rposition(|coefficient| *coefficient != 0).map_or(0, |last| last + 1);
    for (sample, value) in samples.iter_mut().enumerate() {
        let row = &basis_row(length, sample)[..count];
        let sum: f64 =
            row.iter().zip(coefficients).map(|(basis, c)| f64::from(*basis) * f64::from(*c)).sum();
        *value = sum * step;
    }
}
