//! Trains the start of the model from clips. Packing and unpacking do not need this module. The
//! same clips in the same order always give the same bytes.

use kinepack::entropy::Cost;

use super::logistic::INPUTS;
use super::model::{
    AGES, CLASSES, COUNTERS, FEATURES, MIXERS, Model, PREDICTED, PREDICTORS, START_BYTES, Watch,
};
use super::{Coding, START};
use crate::Clip;
use crate::block::Contents;

/// Number of rounds that fit the predictions.
const FITS: usize = 6;
/// Number of rounds that fit the weights of expected sizes.
const SIZE_FITS: usize = 60;
/// Number of rounds that fit the mixers.
const MIXER_FITS: usize = 3;
/// The maximum number of decisions that a single clip adds to a counter's statistics.
const MAX_DECISIONS: f64 = 40.0;
/// A difference of at most this size, in sixteenths, costs hardly more bits than 0 does.
const SMALL: f64 = 16.0;

const MAPS: usize = 3 * PREDICTED;
const SCALES: usize = 3 * AGES * CLASSES;

/// Returns the number of bits that a clip's head and coefficients take with the trained start
/// `start`. The rest of the file is not counted.
pub fn bits(clip: &Clip, start: &[u8]) -> f64 {
    let mut cost = Cost::default();
    let start = start.first_chunk().unwrap_or(START);
    run(Coding::new(start, ()), &Contents::from_clip(clip), &mut cost);
    cost.bits()
}

/// Trains a start from these clips.
pub fn train(clips: &[Clip]) -> Vec<u8> {
    let clips: Vec<Contents> = clips.iter().map(Contents::from_clip).collect();
    let mut start = Start::default();
    for _ in 0..FITS {
        let mut fit =
            Predictions { start: start.clone(), equations: vec![Equations::default(); MAPS] };
        for clip in &clips {
            fit = run(Coding::new(&start.to_bytes(), fit), clip, &mut Cost::default()).watch;
        }
        for (map, equations) in start.maps.iter_mut().zip(&mut fit.equations) {
            *map = equations.solve();
        }
    }
    let mut sizes = Sizes(vec![Vec::new(); SCALES]);
    for clip in &clips {
        sizes = run(Coding::new(&start.to_bytes(), sizes), clip, &mut Cost::default()).watch;
    }
    for (scale, data) in start.scales.iter_mut().zip(&sizes.0) {
        *scale = fit_scale(data, *scale);
    }
    let mut counters = Decisions { all: vec![[0.4; 2]; COUNTERS], of_clip: vec![[0; 2]; COUNTERS] };
    for clip in &clips {
        counters = run(Coding::new(&start.to_bytes(), counters), clip, &mut Cost::default()).watch;
        counters.end_clip();
    }
    for (counter, [no, yes]) in start.counters.iter_mut().zip(&counters.all) {
        *counter = (16.0 * (yes / no).ln()).clamp(-127.0, 127.0);
    }
    for _ in 0..MIXER_FITS {
        let mut sums = vec![[0.0; INPUTS]; MIXERS];
        let mut weights = start.mixers.clone();
        let mut carried = None;
        for clip in &clips {
            let mut coding = Coding::new(&start.to_bytes(), ());
            if let Some(mixers) = carried.take() {
                coding.model.mixers = mixers;
            }
            let model = run(coding, clip, &mut Cost::default());
            for (sum, mixer) in sums.iter_mut().zip(&model.mixers) {
                sum.iter_mut()
                    .zip(mixer.weights)
                    .for_each(|(sum, weight)| *sum += f64::from(weight) / 1024.0);
            }
            carried = Some(model.mixers);
        }
        for (weights, sums) in weights.iter_mut().zip(&sums) {
            *weights = sums.map(|sum| sum / clips.len() as f64);
        }
        start.mixers = weights;
    }
    start.to_bytes().to_vec()
}

/// Codes `clip`, and returns the model after it has learned from the clip.
fn run<W: Watch>(mut coding: Coding<W>, clip: &Contents, cost: &mut Cost) -> Model<W> {
    let mut contents = clip.clone();
    while !coding.is_done {
        let coded = coding.code_packet(cost, &mut contents, |_, _| Ok(()));
        debug_assert!(coded.is_ok());
    }
    coding.model
}

/// The parameters of a trained start, as numbers.
#[derive(Clone, Debug)]
struct Start {
    maps: Vec<[f64; PREDICTORS]>,
    scales: Vec<[f64; FEATURES]>,
    mixers: Vec<[f64; INPUTS]>,
    counters: Vec<f64>,
}

impl Default for Start {
    fn default() -> Self {
        Self {
            maps: vec![[0.0; PREDICTORS]; MAPS],
            scales: vec![[10.0; FEATURES]; SCALES],
            mixers: vec![[22.0; INPUTS]; MIXERS],
            counters: vec![0.0; COUNTERS],
        }
    }
}

impl Start {
    fn to_bytes(&self) -> [u8; START_BYTES] {
        let maps = self.maps.iter().flatten().flat_map(|weight| (*weight as i16).to_le_bytes());
        let scales = self.scales.iter().flatten().map(|weight| weight.round() as u8);
        let signed = self.mixers.iter().flatten().chain(&self.counters);
        let signed = signed.map(|number| (number.round() as i8).cast_unsigned());
        let bytes: Vec<u8> = maps.chain(scales).chain(signed).collect();
        *bytes.first_chunk().unwrap_or(START)
    }
}

/// The normal equations of weighted least squares.
#[derive(Clone, Debug)]
struct Equations {
    products: [[f64; PREDICTORS]; PREDICTORS],
    targets: [f64; PREDICTORS],
}

impl Default for Equations {
    fn default() -> Self {
        Self { products: [[0.0; PREDICTORS]; PREDICTORS], targets: [0.0; PREDICTORS] }
    }
}

impl Equations {
    /// Solves the equations for the weights, in units of 1/4096.
    fn solve(&mut self) -> [f64; PREDICTORS] {
        let (a, b) = (&mut self.products, &mut self.targets);
        for (index, row) in a.iter_mut().enumerate() {
            row[index] = row[index] * 1.001 + 1e-3;
        }
        for pivot in 0..PREDICTORS {
            let (row, target) = (a[pivot], b[pivot]);
            for other in (0..PREDICTORS).filter(|other| *other != pivot) {
                let factor = a[other][pivot] / row[pivot];
                a[other].iter_mut().zip(row).for_each(|(number, from)| *number -= factor * from);
                b[other] -= factor * target;
            }
        }
        std::array::from_fn(|index| {
            (4096.0 * b[index] / a[index][index]).round().clamp(-32_767.0, 32_767.0)
        })
    }
}

/// Collects the equations for fitting predictions. The fit minimizes the logarithm of the
/// difference, because the logarithm determines the number of bits.
struct Predictions {
    start: Start,
    equations: Vec<Equations>,
}

impl Watch for Predictions {
    fn predicted(&mut self, row: usize, from: &[i64; PREDICTORS], target: i64) {
        let from = from.map(|number| number as f64);
        let predicted: f64 = self.start.maps[row]
            .iter()
            .zip(from)
            .map(|(weight, from)| weight * from / 4096.0)
            .sum();
        let difference = target as f64 - predicted;
        let weight = 1.0 / (SMALL * SMALL + difference * difference);
        let equations = &mut self.equations[row];
        for (index, number) in from.into_iter().enumerate() {
            equations.targets[index] += weight * number * target as f64;
            equations.products[index]
                .iter_mut()
                .zip(from)
                .for_each(|(sum, other)| *sum += weight * number * other);
        }
    }
}

/// Collects each size together with its features.
struct Sizes(Vec<Vec<([u32; FEATURES], u32)>>);

impl Watch for Sizes {
    fn expected(&mut self, row: usize, from: &[u32; FEATURES], target: u32) {
        self.0[row].push((*from, target));
    }
}

/// Fits the weights of expected sizes by maximum likelihood. The fit assumes that a size has an
/// exponential distribution whose mean is the expected size. The steps are multiplicative, so that
/// no weight falls below 0.
fn fit_scale(data: &[([u32; FEATURES], u32)], from: [f64; FEATURES]) -> [f64; FEATURES] {
    let mut weights = from;
    if data.is_empty() {
        return weights;
    }
    for _ in 0..SIZE_FITS {
        let (mut up, mut down) = ([1e-9; FEATURES], [1e-9; FEATURES]);
        for (features, target) in data {
            let features = features.map(f64::from);
            let expected: f64 =
                weights.iter().zip(features).map(|(weight, size)| weight * size / 128.0).sum();
            let expected = expected + 0.5;
            for (index, size) in features.into_iter().enumerate() {
                up[index] += size * (f64::from(*target) + 0.5) / (expected * expected);
                down[index] += size / expected;
            }
        }
        for (index, weight) in weights.iter_mut().enumerate() {
            *weight = (*weight * (up[index] / down[index]).sqrt()).clamp(0.01, 255.0);
        }
    }
    weights
}

/// For each counter, the number of decisions that were 0, and the number of decisions that were 1.
struct Decisions {
    all: Vec<[f64; 2]>,
    of_clip: Vec<[u32; 2]>,
}

impl Decisions {
    fn end_clip(&mut self) {
        for (all, own) in self.all.iter_mut().zip(&mut self.of_clip) {
            let count = f64::from(own[0] + own[1]);
            if count > 0.0 {
                let weight = (MAX_DECISIONS / count).min(1.0);
                all.iter_mut().zip(*own).for_each(|(all, own)| *all += weight * f64::from(own));
                *own = [0; 2];
            }
        }
    }
}

impl Watch for Decisions {
    fn decided(&mut self, counter: usize, bit: bool) {
        self.of_clip[counter][usize::from(bit)] += 1;
    }
}
