//! Codes the curves of a segment. If rounding moves a curve beyond its limit, repairs the curve.

use crate::block::{CURVES_OF_TRACK, MAX_LENGTH, basis_row};

use super::curves::PlannedCurve;
use super::pieces;
use super::segment::Coder;
use super::transform::{LARGEST, Rounding, transform};

/// The maximum number of changes of coefficients for bringing a curve back within its limit.
const TRIES: usize = 40;

impl Coder<'_> {
    /// Codes the curves of the segment, and returns the largest error as a multiple of the limit.
    /// Stops early if that error is above `enough`.
    pub(super) fn code_curves(&mut self, rounding: Rounding, enough: f64) -> f64 {
        let mut worst: f64 = 0.0;
        for curve in 0..self.plan.curves.len() {
            worst = worst.max(self.code_curve(curve, rounding));
            if worst > enough {
                break;
            }
        }
        worst
    }

    /// Codes a curve of the segment. If rounding to fewer bits takes the curve out of its limit,
    /// the function spends more bits.
    fn code_curve(&mut self, curve: usize, rounding: Rounding) -> f64 {
        let (block, length) = (self.plan.choices.block, self.span.length);
        let PlannedCurve { middle, step } = self.plan.curves[curve];
        let raw = &self.target.raw.curves()[curve].values[self.span.first..][..length];
        let mut wanted = [0.0; MAX_LENGTH];
        for (wanted, value) in wanted.iter_mut().zip(raw) {
            *wanted = f64::from(*value) - f64::from(middle);
        }
        let limit = self.target.curve_limit[curve];
        let wanted = &wanted[..length];
        if step == 0 {
            return worst(wanted, &[0.0; MAX_LENGTH], limit).1;
        }
        let component = CURVES_OF_TRACK * self.plan.tracks.len() + curve;
        let (size, largest) = (self.step_size(component), self.largest);
        let own = &mut self.coefficients[component * length..][..length];
        let code = |rounding: Rounding, own: &mut [i32]| {
            let mut values = [0.0; MAX_LENGTH];
            values[..length].copy_from_slice(wanted);
            transform(block, (size, largest), rounding, &mut values[..length], own);
            values
        };
        let mut values = code(rounding, own);
        let off = worst(wanted, &values, limit).1;
        if off <= 1.0 || rounding == Rounding::Nearest {
            return off;
        }
        // There are two ways back within the limit. The first is to repair these coefficients. The
        // second is to round all coefficients to the nearest integers, and to repair the result.
        let repaired = repair(size, limit, wanted, &mut values, own);
        let mut nearest = [0; MAX_LENGTH];
        let nearest = &mut nearest[..length];
        let mut nearest_values = code(Rounding::Nearest, nearest);
        let nearest_off = repair(size, limit, wanted, &mut nearest_values, nearest);
        let takes_nearest = match (repaired <= 1.0, nearest_off <= 1.0) {
            (true, true) => pieces::bits(block, nearest) < pieces::bits(block, own),
            (false, false) => nearest_off < repaired,
            (_, is_near) => is_near,
        };
        if takes_nearest {
            own.copy_from_slice(nearest);
            return nearest_off;
        }
        repaired
    }
}

/// Returns the sample with the largest error, and that error as a multiple of the limit.
fn worst(wanted: &[f64], values: &[f64; MAX_LENGTH], limit: f64) -> (usize, f64) {
    let errors = wanted.iter().zip(values).map(|(wanted, value)| (value - wanted).abs() / limit);
    errors.enumerate().fold((0, 0.0), |worst, own| if own.1 > worst.1 { own } else { worst })
}

/// Returns the sum of the 16th powers of all errors, as multiples of the limit.
fn norm(wanted: &[f64], values: &[f64; MAX_LENGTH], limit: f64) -> f64 {
    wanted.iter().zip(values).map(|(wanted, value)| ((value - wanted) / limit).powi(16)).sum()
}

/// Changes single coefficients by one until all errors are within the limit, or no change helps.
/// Returns the largest error as a multiple of the limit.
fn repair(
    size: f64,
    limit: f64,
    wanted: &[f64],
    values: &mut [f64; MAX_LENGTH],
    coefficients: &mut [i32],
) -> f64 {
    let length = wanted.len();
    let mut before = norm(wanted, values, limit);
    for _ in 0..TRIES {
        let (sample, off) = worst(wanted, values, limit);
        if off <= 1.0 {
            return off;
        }
        let error = values[sample] - wanted[sample];
        let mut best: Option<(f64, usize, i32)> = None;
        for (k, basis) in basis_row(length, sample)[..length].iter().enumerate() {
            let by = if error * f64::from(*basis) > 0.0 { -1 } else { 1 };
            if f64::from(coefficients[k] + by).abs() > LARGEST {
                continue;
            }
            let changed = added(values, length, k, f64::from(by) * size);
            let norm = norm(wanted, &changed, limit);
            if norm < best.map_or(before, |(least, ..)| least) {
                best = Some((norm, k, by));
            }
        }
        let Some((norm, k, by)) = best else { break };
        coefficients[k] += by;
        *values = added(values, length, k, f64::from(by) * size);
        before = norm;
    }
    worst(wanted, values, limit).1
}

/// Returns the values after coefficient `k` changes by `change`.
fn added(values: &[f64; MAX_LENGTH], length: usize, k: usize, change: f64) -> [f64; MAX_LENGTH] {
    let mut added = *values;
    for (sample, value) in added[..length].iter_mut().enumerate() {
        *value += change * f64::from(basis_row(length, sample)[k]);
    }
    added
}
