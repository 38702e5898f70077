//! A track while its keys are chosen: its target at each sample, its current keys, and the spline
//! through them. Values have four components, and the last one of a vector is zero. The splines are
//! those of [`crate::keyed::spline`], so the values decoded here are exactly those of a cursor.

use crate::keyed::quantize::{VectorRange, rotation_48, rotation_from_48};
use crate::keyed::{Parametrization, pad, spline};
use crate::{Channel, TrackId};

pub(super) type Value = [f64; 4];

/// The maximum number of keys that are fitted together.
const MAX_REFIT: usize = 8;

/// The value of a key, with its code. The code is kept because coding the decoded value again may
/// give another code, if two components are nearly equally large.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyValue {
    pub(super) code: [u16; 3],
    decoded: Value,
}

#[derive(Clone, Debug)]
pub(super) struct Curve {
    pub(super) id: TrackId,
    /// The parametrization of the splines.
    pub(super) parametrization: Parametrization,
    /// The target values, one per sample.
    pub(super) target: Vec<Value>,
    /// The decoded values of the spline, one per sample.
    pub(super) decoded: Vec<Value>,
    /// The largest error that is allowed at each sample. The unit is radians, cm, or a factor of
    /// scale.
    pub(super) tolerance: Vec<f64>,
    /// The samples that have keys, in increasing order. The first and the last sample always have
    /// one.
    pub(super) keys: Vec<usize>,
    /// The values of the keys. Each rotation has the sign that is nearer to its target.
    pub(super) values: Vec<KeyValue>,
    /// The samples whose keys were removed by the last pass over all keys.
    pub(super) removed: Vec<usize>,
    range: VectorRange,
}

impl Curve {
    /// Returns a track with one key at each end.
    pub(super) fn new(
        id: TrackId,
        parametrization: Parametrization,
        target: Vec<Value>,
        range: VectorRange,
    ) -> Self {
        let last = target.len() - 1;
        let coded = |value: Value| coded(id.channel, &range, &value);
        let mut curve = Self {
            id,
            parametrization,
            decoded: target.clone(),
            tolerance: vec![0.0; target.len()],
            keys: vec![0, last],
            values: vec![coded(target[0]), coded(target[last])],
            target,
            removed: Vec::new(),
            range,
        };
        curve.evaluate_all();
        curve
    }

    /// Returns the error of the decoded value at a sample. For rotations it is in radians.
    #[inline]
    pub(super) fn error(&self, sample: usize) -> f64 {
        self.distance(&self.decoded[sample], &self.target[sample])
    }

    #[inline]
    fn distance(&self, a: &Value, b: &Value) -> f64 {
        let [x, y, z, w] = [a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3]];
        let distance = (x * x + y * y + z * z + w * w).sqrt();
        if self.id.channel == Channel::Rotation { 2.0 * distance } else { distance }
    }

    /// Adds keys at samples without keys, with the target as their value.
    pub(super) fn insert(&mut self, samples: &[usize]) {
        for &sample in samples {
            let at = self.keys.partition_point(|key| *key < sample);
            self.keys.insert(at, sample);
            self.values.insert(at, coded(self.id.channel, &self.range, &self.target[sample]));
        }
    }

    /// Sets the value of a key to its target.
    pub(super) fn reset(&mut self, key: usize) {
        self.values[key] = coded(self.id.channel, &self.range, &self.target[self.keys[key]]);
        let segments = self.segments_around(key..key + 1);
        self.evaluate(segments);
    }

    /// Returns whether a new key at a sample, or another value of its current key, would reduce the
    /// error at that sample.
    pub(super) fn could_be_nearer(&self, sample: usize) -> bool {
        self.keys.binary_search(&sample).is_err() || {
            let best = coded(self.id.channel, &self.range, &self.target[sample]).decoded;
            self.error(sample) > 1e-9 + 1.01 * self.distance(&best, &self.target[sample])
        }
    }

    /// Removes a key.
    pub(super) fn remove(&mut self, key: usize) {
        self.keys.remove(key);
        self.values.remove(key);
    }

    /// Evaluates all segments.
    pub(super) fn evaluate_all(&mut self) {
        self.evaluate(0..self.keys.len() - 1);
    }

    /// Evaluates the segments `segments`. Segment n runs from key n to key n + 1.
    pub(super) fn evaluate(&mut self, segments: std::ops::Range<usize>) {
        for segment in segments {
            let (_, values, tangents) = self.segment(segment);
            for sample in self.keys[segment]..=self.keys[segment + 1] {
                self.decoded[sample] = self.value(segment, sample, &values, tangents);
            }
        }
    }

    /// Evaluates one sample.
    pub(super) fn evaluate_at(&mut self, sample: usize) {
        let segment =
            self.keys.partition_point(|key| *key <= sample).clamp(1, self.keys.len() - 1) - 1;
        let (_, values, tangents) = self.segment(segment);
        self.decoded[sample] = self.value(segment, sample, &values, tangents);
    }

    /// Returns the value of the spline through four keys at a sample of their segment.
    #[inline]
    fn value(
        &self,
        segment: usize,
        sample: usize,
        values: &[Value; 4],
        tangents: [f32; 2],
    ) -> Value {
        let weights = spline::weights(self.share(segment, sample), tangents);
        let mut value = [0.0; 4];
        for (weight, key) in weights.into_iter().zip(values) {
            add_scaled(&mut value, f64::from(weight), key);
        }
        if self.id.channel == Channel::Rotation {
            normalize(&mut value);
        }
        value
    }

    /// Returns the segments that change if the keys `keys` change.
    pub(super) fn segments_around(&self, keys: std::ops::Range<usize>) -> std::ops::Range<usize> {
        keys.start.saturating_sub(2)..(keys.end + 1).min(self.keys.len() - 1)
    }

    /// Moves the values of the keys `keys` so that the sum of the squared errors around them is
    /// minimal. The other keys stay unchanged.
    pub(super) fn refit(&mut self, keys: std::ops::Range<usize>) {
        let count = keys.len();
        if count == 0 || count > MAX_REFIT {
            return;
        }
        let mut matrix = [[0.0; MAX_REFIT]; MAX_REFIT];
        let mut right = [[0.0; 4]; MAX_REFIT];
        let segments = self.segments_around(keys.clone());
        for segment in segments.clone() {
            let (around, values, tangents) = self.segment(segment);
            let end = self.keys[segment + 1] + usize::from(segment + 1 == segments.end);
            // These are sums over the segment's samples: the products of the weights, and the
            // weights times the targets.
            let (mut products, mut wanted) = ([[0.0; 4]; 4], [[0.0; 4]; 4]);
            for sample in self.keys[segment]..end {
                let [a, b, c, d] = spline::weights(self.share(segment, sample), tangents);
                let weights = [f64::from(a), f64::from(b), f64::from(c), f64::from(d)];
                let target = &self.target[sample];
                for row in 0..4 {
                    add_scaled(&mut products[row], weights[row], &weights);
                    add_scaled(&mut wanted[row], weights[row], target);
                }
            }
            for row in (0..4).filter(|row| keys.contains(&around[*row])) {
                let into = around[row] - keys.start;
                add_scaled(&mut right[into], 1.0, &wanted[row]);
                for column in 0..4 {
                    let product = products[row][column];
                    if keys.contains(&around[column]) {
                        matrix[into][around[column] - keys.start] += product;
                    } else {
                        add_scaled(&mut right[into], -product, &values[column]);
                    }
                }
            }
        }
        solve(&mut matrix, &mut right, count);
        for (value, mut found) in self.values[keys].iter_mut().zip(right) {
            if self.id.channel == Channel::Rotation {
                normalize(&mut found);
            }
            *value = coded(self.id.channel, &self.range, &found);
        }
    }

    /// Returns the four keys of a segment, their values with the signs that a player gives them,
    /// and the tangents.
    fn segment(&self, segment: usize) -> ([usize; 4], [Value; 4], [f32; 2]) {
        let last = self.keys.len() - 1;
        let keys = [segment.saturating_sub(1), segment, segment + 1, (segment + 2).min(last)];
        let mut values = keys.map(|key| self.values[key].decoded);
        if self.id.channel == Channel::Rotation {
            for (index, before) in [(0, 1), (2, 1), (3, 2)] {
                let dot: f64 = (0..4).map(|c| values[index][c] * values[before][c]).sum();
                if dot < 0.0 {
                    values[index] = values[index].map(|c| -c);
                }
            }
        }
        let times = keys.map(|key| self.keys[key] as f32);
        let tangents = match self.parametrization {
            // Uniform and timed tangents do not depend on the values.
            by @ (Parametrization::Uniform | Parametrization::Times) => by.shares(times, &[[]; 4]),
            by => by.shares(times, &values.map(|value| value.map(|c| c as f32))),
        };
        (keys, values, tangents)
    }

    fn share(&self, segment: usize, sample: usize) -> f32 {
        let (begin, end) = (self.keys[segment], self.keys[segment + 1]);
        (sample - begin) as f32 / (end - begin) as f32
    }
}

/// Codes a value in 48 bits, and decodes it again. A decoded rotation gets the sign that is nearer
/// to `value`.
fn coded(channel: Channel, range: &VectorRange, value: &Value) -> KeyValue {
    let [x, y, z, w] = value.map(|c| c as f32);
    if channel != Channel::Rotation {
        let code = range.quantize([x, y, z]);
        return KeyValue { code, decoded: pad(range.reconstruct(code)).map(f64::from) };
    }
    let code = rotation_48([x, y, z, w]);
    let decoded = rotation_from_48(code).map(f64::from);
    let dot: f64 = decoded.iter().zip(value).map(|(a, b)| a * b).sum();
    KeyValue { code, decoded: if dot < 0.0 { decoded.map(|c| -c) } else { decoded } }
}

/// Normalizes a quaternion. A quaternion without length becomes the identity.
pub(super) fn normalize(value: &mut Value) {
    let length = value.iter().map(|c| c * c).sum::<f64>().sqrt();
    if length > 0.0 {
        *value = value.map(|c| c / length);
    } else {
        *value = [0.0, 0.0, 0.0, 1.0];
    }
}

#[inline]
fn add_scaled(sum: &mut Value, factor: f64, value: &Value) {
    for (sum, c) in sum.iter_mut().zip(value) {
        *sum += factor * c;
    }
}

/// Gaussian elimination for a symmetric matrix that is nearly always positive definite. The small
/// term added to its diagonal covers the other cases.
fn solve(matrix: &mut [[f64; MAX_REFIT]; MAX_REFIT], right: &mut [Value; MAX_REFIT], count: usize) {
    for row in 0..count {
        matrix[row][row] += 1e-9;
        let (of_row, right_of_row) = (matrix[row], right[row]);
        for below in row + 1..count {
            let factor = matrix[below][row] / of_row[row];
            for column in row..count {
                matrix[below][column] -= factor * of_row[column];
            }
            add_scaled(&mut right[below], -factor, &right_of_row);
        }
    }
    for row in (0..count).rev() {
        let mut found = right[row];
        for column in row + 1..count {
            add_scaled(&mut found, -matrix[row][column], &right[column]);
        }
        right[row] = found.map(|c| c / matrix[row][row]);
    }
}
