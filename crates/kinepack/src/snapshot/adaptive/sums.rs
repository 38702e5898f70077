//! Finds weights by least squares, from the normal equations of each predictor. Alike fields share
//! weights if separate weights would gain little.

use alloc::vec::Vec;

use super::file::storable;
use super::numbers::{ENERGY_BIAS, Energies, FEATURES, LOG_BITS, Row, STEP_BITS};

/// The strength with which a fit is drawn towards the weights of the previous pass: this share of
/// each feature's sum of squares, plus a constant.
const RIDGE: f64 = 1e-4;
const RIDGE_STRENGTH: f64 = 3.0 * 256.0;

/// The smallest divisor in the solution of the equations.
const MIN_PIVOT: f64 = 1e-6;

/// The largest absolute value of a fitted weight.
const MAX_FITTED: f64 = 32.0;

/// A field keeps separate weights if they save this number of bits over all data. This number is
/// about the size of the weights in a compressed file.
const MIN_GAIN_BITS: f64 = 64.0;

/// An error, in steps, below which a better prediction saves no bits.
const LEAST_ERROR: f64 = 0.5;

/// The number of bits that an error of one octave in a scale costs: the divergence of two
/// exponential distributions, ln(2)² / 2 nats.
const BITS_PER_OCTAVE_SQUARED: f64 = 0.35;

/// The normal equations of one predictor.
#[derive(Clone, Debug, Default)]
pub(super) struct Sums {
    /// The sums of products of two features. Only the lower triangle of this matrix is used.
    products: [[f64; FEATURES]; FEATURES],
    /// The sums of products of a feature and the target.
    targets: [f64; FEATURES],
    /// The sum of the target's squares.
    squares: f64,
    weights: f64,
    samples: f64,
    /// True if the predictor predicts a value, not a scale.
    is_mean: bool,
}

impl Sums {
    /// Adds an observation for a mean. The target is in sixteenths of a step; the features are in
    /// steps and converted to sixteenths.
    pub(super) fn add_mean(&mut self, features: &Row, target: i64, weight: f64) {
        self.is_mean = true;
        let features = features.map(|feature| f64::from(feature) * f64::from(1 << STEP_BITS));
        self.add(&features, target as f64, weight);
    }

    /// Adds an observation for a scale: the logarithm of an error.
    pub(super) fn add_scale(&mut self, features: &Row, target: i32) {
        self.add(&features.map(f64::from), f64::from(target), 1.0);
    }

    fn add(&mut self, features: &[f64; FEATURES], target: f64, weight: f64) {
        for (index, &feature) in features.iter().enumerate() {
            if feature != 0.0 {
                let weighted = feature * weight;
                for (product, &other) in self.products[index].iter_mut().zip(&features[..=index]) {
                    *product += weighted * other;
                }
                self.targets[index] += weighted * target;
            }
        }
        self.squares += weight * target * target;
        self.weights += weight;
        self.samples += 1.0;
    }

    /// Adds the sums of another field.
    pub(super) fn add_all(&mut self, other: &Self) {
        for (products, others) in self.products.iter_mut().zip(&other.products) {
            products.iter_mut().zip(others).for_each(|(product, other)| *product += other);
        }
        self.targets.iter_mut().zip(&other.targets).for_each(|(target, other)| *target += other);
        self.squares += other.squares;
        self.weights += other.weights;
        self.samples += other.samples;
        self.is_mean |= other.is_mean;
    }

    /// Returns the weighted sum of the squared errors with these weights.
    fn loss(&self, row: &Row) -> f64 {
        let row = row.map(f64::from);
        let mut loss = self.squares;
        for (i, weight) in row.iter().enumerate() {
            let others: f64 = self.products[i][..i].iter().zip(&row).map(|(p, w)| p * w).sum();
            loss += weight * (2.0 * (others - self.targets[i]) + self.products[i][i] * weight);
        }
        loss.max(0.0)
    }

    /// Estimates the number of bits that the weights `own` save against `shared`.
    fn gain_bits(&self, own: &Row, shared: &Row) -> f64 {
        let (own, shared) = (self.loss(own), self.loss(shared));
        if self.is_mean {
            let least_error = LEAST_ERROR * f64::from(1 << STEP_BITS);
            let least = self.weights * least_error * least_error;
            self.samples * 0.5 * libm::log2((shared + least) / (own + least))
        } else {
            let octave = f64::from(1 << LOG_BITS);
            BITS_PER_OCTAVE_SQUARED * (shared - own) / (octave * octave)
        }
    }

    /// Returns the energy of each feature; 0 in a row for a scale.
    fn energies(&self) -> Energies {
        core::array::from_fn(|feature| {
            let mean = self.products[feature][feature] / self.samples;
            if self.is_mean && mean > 0.0 {
                (libm::log2(mean) + (f64::from(ENERGY_BIAS) + 0.5)).clamp(1.0, 255.0) as u8
            } else {
                0
            }
        })
    }

    /// Returns the least-squares weights, drawn slightly towards `prior`.
    fn solve(&self, prior: &Row) -> Row {
        let mut lower = [[0.0; FEATURES]; FEATURES];
        let mut diagonal = [0.0f64; FEATURES];
        let mut solution = [0.0; FEATURES];
        for i in 0..FEATURES {
            let ridge = self.products[i][i] * RIDGE + RIDGE_STRENGTH;
            solution[i] = self.targets[i] + ridge * f64::from(prior[i]);
            for j in 0..=i {
                let mut sum = self.products[i][j] + if i == j { ridge } else { 0.0 };
                for k in 0..j {
                    sum -= lower[i][k] * lower[j][k] * diagonal[k];
                }
                if i == j {
                    diagonal[i] = sum.max(MIN_PIVOT);
                } else {
                    lower[i][j] = sum / diagonal[j];
                }
            }
        }
        for i in 0..FEATURES {
            for k in 0..i {
                solution[i] -= lower[i][k] * solution[k];
            }
        }
        for i in 0..FEATURES {
            solution[i] /= diagonal[i];
        }
        for i in (0..FEATURES).rev() {
            for k in i + 1..FEATURES {
                solution[i] -= lower[k][i] * solution[k];
            }
        }
        solution.map(|weight| storable(weight.clamp(-MAX_FITTED, MAX_FITTED) as f32))
    }
}

/// Fits the weights of a set, and the energies of their features. `alike` holds lists of rows that
/// have the same task in alike fields.
pub(super) fn fit(
    sums: &[Sums],
    alike: &[Vec<usize>],
    rows: &mut [Row],
    energies: &mut [Energies],
) {
    let priors = rows.to_vec();
    for (index, sums) in sums.iter().enumerate().filter(|(_, sums)| sums.samples > 0.0) {
        rows[index] = sums.solve(&priors[index]);
        energies[index] = sums.energies();
    }
    for alike in alike {
        let mut all = Sums::default();
        alike.iter().for_each(|index| all.add_all(&sums[*index]));
        if all.samples > 0.0 {
            let (shared, seen) = (all.solve(&priors[alike[0]]), all.energies());
            for &index in alike {
                if sums[index].gain_bits(&rows[index], &shared) < MIN_GAIN_BITS {
                    rows[index] = shared;
                    energies[index] = seen;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes the sums of a mean that is `weight` times its only feature, plus noise of up to a
    /// step.
    fn sums(samples: u32, weight: f64) -> Sums {
        let mut sums = Sums::default();
        for sample in 0..samples {
            let (mut features, feature) = ([0.0; FEATURES], 160 + (sample * 37 % 400) as i32);
            features[0] = feature as f32 / 16.0;
            let off = (sample * 11 % 33) as i64 - 16;
            sums.add_mean(&features, (f64::from(feature) * weight) as i64 + off, 1.0);
        }
        sums
    }

    fn fitted(sums: &[Sums]) -> Vec<f64> {
        let (mut rows, mut energies) = ([[0.0; FEATURES]; 4], [[0; FEATURES]; 4]);
        fit(sums, &[(0..sums.len()).collect()], &mut rows[..sums.len()], &mut energies);
        rows[..sums.len()].iter().map(|row| f64::from(row[0])).collect()
    }

    #[test]
    fn alike_fields_share_weights_unless_their_own_save_enough() {
        // Fields that move alike get the same weights, and so does a field with few samples.
        let same = fitted(&[sums(500, 0.9), sums(300, 0.9), sums(5, 0.7)]);
        assert!(same.iter().all(|weight| *weight == same[0]), "{same:?}");
        assert!((same[0] - 0.9).abs() < 0.02, "{same:?}");
        // Five samples are too few for a field to keep separate weights, but five hundred are
        // enough.
        let other = fitted(&[sums(500, 0.9), sums(300, 0.9), sums(500, 0.5)]);
        assert!((other[0] - 0.9).abs() < 0.02 && (other[2] - 0.5).abs() < 0.02, "{other:?}");
    }

    #[test]
    fn a_field_without_samples_takes_the_weights_of_the_others() {
        let [seen, unseen] = fitted(&[sums(500, 0.9), Sums::default()])[..] else { panic!() };
        assert_eq!(seen, unseen);
    }

    #[test]
    fn the_loss_is_that_of_the_samples() {
        let sums = sums(40, 0.9);
        let mut row = [0.0; FEATURES];
        row[0] = 0.5;
        let mut loss = 0.0;
        for sample in 0..40u32 {
            let feature = 160 + (sample * 37 % 400) as i32;
            let target = (f64::from(feature) * 0.9) as i64 + (sample * 11 % 33) as i64 - 16;
            let error = target as f64 - f64::from(feature) * 0.5;
            loss += error * error;
        }
        assert!((sums.loss(&row) - loss).abs() < 1e-6 * loss);
    }
}
