//! Learning from packet to packet. A view holds what the models had learned at the end of its
//! packet, and a packet resumes from the learned state of its baseline. Both sides do the same, so
//! a lost packet cannot make their models differ. `spec/CODEC.md`, section 12.10.

use alloc::vec::Vec;

use super::coding::Predictor;
use super::features::BIAS;
use super::fixed::{ENERGY_BIAS, Energies, FEATURES, LOG_BITS, Row, STEP_BITS, WEIGHT_BITS};
use super::learned::Learned;
use super::model::Model;
use crate::entropy::Counter;

/// The state of learning within a packet.
#[derive(Debug, Default)]
pub(super) struct Learning {
    /// The weights in use: those of the packet's set plus the gains.
    rows: Vec<Row>,
    /// What learning adds to the weights, in 2^-24.
    gains: Vec<Row>,
}

/// How strongly the square of an error, in steps, lowers its weight in learning and in training, so
/// that chaotic motion does not dominate. Section 12.10.
pub(super) const MISS_SQUARED: f64 = 0.3;

/// Fraction bits of gains beyond those of weights, so that small steps add up.
pub(super) const GAIN_BITS: u32 = 24 - WEIGHT_BITS;
/// The largest gain: a weight changes by at most 8.
const MAX_GAIN: i32 = 1 << 27;
/// The share of an error that a step corrects, if every feature is as large as in training.
const RATE: f64 = 0.006;
/// The share of a scale's error that a step of its bias corrects, 2 %: in 2^-24 per 1/256 octave
/// and 256.
const SCALE_RATE: i32 = 1300;

impl Learning {
    /// The learned state for the packet's view, with the counters at the end of the packet. Reuses
    /// the memory of `reused` if it has no other owner.
    pub(super) fn learned(
        &self,
        codec_hash: u64,
        counters: &[Counter],
        reused: Option<Learned>,
    ) -> Learned {
        Learned::new(codec_hash, counters, &self.gains, reused)
    }

    /// Resumes from the baseline's learned state, or starts from the model.
    pub(super) fn resume(
        &mut self,
        learned: Option<&Learned>,
        model: &Model,
        set: usize,
        counters: &mut Vec<Counter>,
    ) {
        let rows = &model.sets[set];
        match learned {
            Some(learned) => {
                let state = learned.state();
                counters.clone_from(&state.counters);
                self.gains.clone_from(&state.gains);
            }
            None => {
                self.gains.clear();
                self.gains.resize(rows.len(), [0; FEATURES]);
            }
        }
        self.rows.clone_from(rows);
        for (row, gains) in self.rows.iter_mut().zip(&self.gains) {
            row.iter_mut().zip(gains).for_each(|(weight, gain)| *weight += gain >> GAIN_BITS);
        }
    }
}

/// A predictor whose weights adapt to the coded values.
pub(super) struct Learner<'a> {
    pub(super) learning: &'a mut Learning,
    /// The model's rows of the packet's set.
    pub(super) model_rows: &'a [Row],
    pub(super) energies: &'a [Energies],
}

impl Learner<'_> {
    fn set_gain(&mut self, row: usize, feature: usize, gain: i32) {
        let gain = gain.clamp(-MAX_GAIN, MAX_GAIN);
        self.learning.gains[row][feature] = gain;
        self.learning.rows[row][feature] = self.model_rows[row][feature] + (gain >> GAIN_BITS);
    }
}

/// 2^`exponent`, from −1022 to 1023.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

impl Predictor for Learner<'_> {
    #[inline]
    fn row(&self, row: usize) -> &Row {
        &self.learning.rows[row]
    }

    /// A step of normalized least mean squares, each feature in units of its own size in training.
    fn observe_mean(&mut self, row: usize, features: &Row, target: i64, scale_log2: i32) {
        let error = (target - self.predict_mean(row, features)) as f64;
        let steps = error / f64::from(1 << STEP_BITS);
        // The same weight as in training, so that chaotic motion does not dominate. The square of
        // the scale is rounded down to a power of two.
        let weight =
            1.0 / (1.0 + power_of_two(scale_log2 >> (LOG_BITS - 1)) + MISS_SQUARED * steps * steps);
        let Some(energies) = self.energies.get(row) else { return };
        let mut normalized = [0.0; FEATURES];
        let mut sum = 0.0;
        for ((normalized, &feature), &energy) in normalized.iter_mut().zip(features).zip(energies) {
            if energy != 0 {
                *normalized = f64::from(feature) * power_of_two(ENERGY_BIAS - i32::from(energy));
                sum += *normalized * f64::from(feature);
            }
        }
        let step = RATE * weight * error / (1.0 + RATE * weight * sum) * f64::from(1 << 24);
        for (feature, normalized) in normalized.into_iter().enumerate() {
            if normalized != 0.0 {
                let gain =
                    self.learning.gains[row][feature].saturating_add((step * normalized) as i32);
                self.set_gain(row, feature, gain);
            }
        }
    }

    fn observe_scale(&mut self, row: usize, features: &Row, target: i32) {
        let error = target - self.predict_scale(row, features);
        let gain = self.learning.gains[row][BIAS].saturating_add(error.saturating_mul(SCALE_RATE));
        self.set_gain(row, BIAS, gain);
    }
}
