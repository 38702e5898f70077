//! Adapts the models from packet to packet. A view holds the state of the models after its packet,
//! and a packet resumes from the learned state of its baseline. Both sides follow these rules, so a
//! lost packet cannot make their models differ. See `spec/CODEC.md`, section 12.10.

use super::features::BIAS;
use super::mixing::Mixed;
use super::numbers::{Energies, FEATURES, LOG_BITS, Row, STEP_BITS, dot, mean_of, size_log2};
use super::predictor::{Predictor, held};

/// The factor by which the square of an error, in steps, lowers the error's weight in learning and
/// in training. Such a weight keeps chaotic motion from dominating. See `spec/CODEC.md`, section
/// 12.10.
pub(super) const MISS_SQUARED: f32 = 0.3;

/// The largest gain of a weight.
const MAX_GAIN: f32 = 8.0;
/// The share of an error that one step of learning corrects, if every feature is as large as in
/// training.
const RATE: f32 = 0.006;
/// The amount that one step of learning adds to the gain of a scale's bias for each 1/256 octave of
/// the scale's error. Because the bias is 256, a step corrects 2 % of that error.
const SCALE_RATE: f32 = 1300.0 / (1 << 24) as f32;
/// The share of a row's loss that each new value removes, as a right shift.
const LOSS_DECAY: u32 = 6;
/// The largest energy of a feature that learns. The inverse of this energy is still a normal float.
const MAX_ENERGY: u8 = 160;
/// log₂ of the inverse of an energy of 0.
const INVERSE_LOG2: u32 = 40;

/// A predictor whose weights adapt to the coded values.
pub(super) struct Learner<'a> {
    /// The rows of the model in the packet's set.
    pub(super) rows: &'a [Row],
    /// For each row of means, the inverse of the mean square of each feature in training; 0 if the
    /// mean square is unknown. The list is empty if no row has such inverses.
    pub(super) inverses: &'a [Row],
    /// The amounts that learning added to the weights.
    pub(super) gains: &'a mut [Row],
    /// The loss that the gains cause in each row of means.
    pub(super) losses: &'a mut [Loss],
}

/// The amount by which recent errors of a row were larger with its gains than without them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Loss {
    /// The sum of the differences between the logarithms of the two errors' sizes, in 1/256 octave.
    /// Older differences decay with each new one.
    sum: i32,
    /// The errors of the last value with the gains and without them, in sixteenths.
    last: [i32; 2],
}

impl Loss {
    /// Returns whether the row predicts better without its gains.
    #[inline]
    pub(super) fn is_loss(&self) -> bool {
        self.sum > 0
    }

    /// Adds a value's errors with the gains and without them. An error that repeats the last one
    /// costs almost nothing, because counters learn it. So each error counts as the smaller of the
    /// error and its change since the last one.
    fn add(&mut self, errors: [i64; 2]) {
        let [with, without] = [0, 1].map(|at| {
            let change = errors[at] - i64::from(self.last[at]);
            size_log2(errors[at].abs().min(change.abs()))
        });
        self.sum += with - without - (self.sum >> LOSS_DECAY);
        self.last = errors.map(|error| error.clamp(i32::MIN.into(), i32::MAX.into()) as i32);
    }
}

impl Learner<'_> {
    /// Returns the sum of the row's features times their weights with the gains.
    #[inline]
    fn learned_sum(&self, row: usize, features: &Row) -> f32 {
        let mut weights = self.rows[row];
        weights.iter_mut().zip(&self.gains[row]).for_each(|(weight, gain)| *weight += gain);
        dot(&weights, features)
    }
}

/// Computes the inverses of the energies of a row.
pub(super) fn inverses(energies: &Energies) -> Row {
    energies.map(|energy| match energy {
        1..=MAX_ENERGY => power_of_two(INVERSE_LOG2 as i32 - i32::from(energy)),
        _ => 0.0,
    })
}

/// Returns 2^`exponent` for an exponent from −126 to 127.
fn power_of_two(exponent: i32) -> f32 {
    f32::from_bits(((127 + exponent) as u32) << 23)
}

impl Predictor for Learner<'_> {
    type Decision = Mixed;

    #[inline]
    fn sum(&self, row: usize, features: &Row) -> f32 {
        if self.losses[row].is_loss() {
            dot(&self.rows[row], features)
        } else {
            self.learned_sum(row, features)
        }
    }

    /// Takes a step of normalized least mean squares, with each feature in units of its own size in
    /// training.
    fn observe_mean(&mut self, row: usize, features: &Row, target: i64, scale_log2: i32) {
        let Some(inverses) = self.inverses.get(row) else { return };
        let miss = |sum: f32| target - held(mean_of(sum));
        let error = miss(self.learned_sum(row, features));
        self.losses[row].add([error, miss(dot(&self.rows[row], features))]);
        let error = error as f32 / (1 << STEP_BITS) as f32;
        // The weight is the same as in training, so that chaotic motion does not dominate. The
        // square of the scale is rounded down to a power of two.
        let weight =
            1.0 / (1.0 + power_of_two(scale_log2 >> (LOG_BITS - 1)) + MISS_SQUARED * error * error);
        let mut normalized = *inverses;
        normalized.iter_mut().zip(features).for_each(|(value, feature)| *value *= feature);
        let rate = RATE * weight;
        let step = rate * error / (1.0 + rate * dot(&normalized, features));
        let gains: &mut [f32; FEATURES] = &mut self.gains[row];
        for (gain, normalized) in gains.iter_mut().zip(&normalized) {
            *gain = (*gain + step * normalized).clamp(-MAX_GAIN, MAX_GAIN);
        }
    }

    fn observe_scale(&mut self, row: usize, _features: &Row, expected: i32, target: i32) {
        let gain = &mut self.gains[row][BIAS];
        let step = SCALE_RATE * (target - expected) as f32;
        *gain = (*gain + step).clamp(-MAX_GAIN, MAX_GAIN);
    }
}
