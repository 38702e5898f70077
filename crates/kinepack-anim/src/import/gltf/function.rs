//! A channel as a function of time, with the three interpolations of glTF. Source: the
//! specification of glTF 2.0, appendix C.

use glam::{DQuat, DVec4};

use super::ImportError;
use super::accessor::Numbers;
use super::buffers::Buffers;
use super::channels::Channel;
use super::json::Interpolation;
use crate::import::nodes::unit;

/// The largest cosine of the angle between two quaternions for spherical interpolation. Above it
/// the interpolation is linear, because the sine is too small to divide by.
const STRAIGHT_COSINE: f64 = 0.999_999_5;

/// Returns the key times of a channel. The function checks that they increase.
pub(super) fn key_times(
    buffers: &mut Buffers<'_>,
    channel: &Channel,
) -> Result<Vec<f64>, ImportError> {
    let times = Numbers::find(buffers, channel.times)?.times(buffers)?;
    if times.is_empty() {
        return Err(channel.bad(buffers.document, "it has no keys"));
    }
    let is_after = |key: usize| key == 0 || times[key] > times[key - 1];
    match (0..times.len()).find(|key| !times[*key].is_finite() || !is_after(*key)) {
        None => Ok(times),
        Some(key) => {
            let (file, (animation, channel)) = (buffers.document.file.to_owned(), channel.place);
            Err(ImportError::BadKeyTime { file, animation, channel, key })
        }
    }
}

/// Values over time with `N` components: 1 for weights, 3 for vectors, 4 for rotations. Rotations
/// are returned as unit quaternions.
pub(super) struct Function<const N: usize> {
    interpolation: Interpolation,
    times: Vec<f64>,
    /// The values, one per key. Splines have three per key: the tangent before the key, the value,
    /// and the tangent after it.
    values: Vec<[f64; N]>,
    /// The index of the last key at or before the time that was requested last.
    key: usize,
}

impl<const N: usize> Function<N> {
    /// Reads a channel's keys. Checks that all numbers are finite and that no rotation has length
    /// zero.
    pub(super) fn read(buffers: &mut Buffers<'_>, channel: &Channel) -> Result<Self, ImportError> {
        Self::read_each(buffers, channel, 1)
    }

    /// Reads keys with `each` values each. All values of a key, or of its tangent, are consecutive.
    fn read_each(
        buffers: &mut Buffers<'_>,
        channel: &Channel,
        each: usize,
    ) -> Result<Self, ImportError> {
        let times = key_times(buffers, channel)?;
        let values = Numbers::find(buffers, channel.values)?;
        let interpolation = channel.interpolation;
        let per_key = if interpolation == Interpolation::CubicSpline { 3 } else { 1 };
        let expected = (times.len() as u64).saturating_mul((per_key * each) as u64);
        let file = buffers.document.file;
        let (animation, index) = channel.place;
        if values.count() != expected {
            let (file, values) = (file.to_owned(), values.count());
            return Err(ImportError::WrongKeyCount {
                file,
                animation,
                channel: index,
                values,
                expected,
            });
        }
        let mut values = values.vectors::<N>(buffers)?;
        for (index_of, value) in values.iter_mut().enumerate() {
            let is_tangent = per_key == 3 && index_of / each % 3 != 1;
            let is_rotation = N == 4 && !is_tangent;
            let is_good = value.iter().all(|c| c.is_finite())
                && (!is_rotation || value.iter().any(|c| *c != 0.0));
            if !is_good {
                let (file, key) = (file.to_owned(), index_of / (per_key * each));
                return Err(ImportError::BadKeyValue { file, animation, channel: index, key });
            }
            // Splines use the values exactly as stored in the file.
            if is_rotation && per_key == 1 {
                *value = normalized(*value).unwrap_or(*value);
            }
        }
        Ok(Self { interpolation, times, values, key: 0 })
    }

    /// Returns to the first key.
    pub(super) fn rewind(&mut self) {
        self.key = 0;
    }

    /// Returns the value at `time_s`, or `None` if a spline of rotations passes through zero.
    /// `time_s` must not be before the time that was requested last.
    pub(super) fn at(&mut self, time_s: f64) -> Option<[f64; N]> {
        let last = self.times.len() - 1;
        while self.key < last && self.times[self.key + 1] <= time_s {
            self.key += 1;
        }
        let key = self.key;
        let next = (key + 1).min(last);
        let span_s = (self.times[next] - self.times[key]).max(1e-12);
        let share =
            if next == key { 0.0 } else { ((time_s - self.times[key]) / span_s).clamp(0.0, 1.0) };
        match self.interpolation {
            Interpolation::Step => Some(self.values[key]),
            Interpolation::Linear if N == 4 => slerp(self.values[key], self.values[next], share),
            // Channels with another interpolation have already been refused.
            Interpolation::Linear | Interpolation::Other => {
                Some(blend([1.0 - share, share], [self.values[key], self.values[next]]))
            }
            Interpolation::CubicSpline => {
                let (square, cube) = (share * share, share * share * share);
                let weights = [
                    2.0 * cube - 3.0 * square + 1.0,
                    (cube - 2.0 * square + share) * span_s,
                    3.0 * square - 2.0 * cube,
                    (cube - square) * span_s,
                ];
                let [value, out] = [self.values[3 * key + 1], self.values[3 * key + 2]];
                let [before, next] = [self.values[3 * next], self.values[3 * next + 1]];
                let value = blend(weights, [value, out, next, before]);
                if N == 4 { normalized(value) } else { Some(value) }
            }
        }
    }
}

/// The weights of several morph targets over time, with common key times.
pub(super) struct Targets {
    /// The keys of all targets, in the order of the file.
    keys: Vec<[f64; 1]>,
    targets: usize,
    function: Function<1>,
}

impl Targets {
    /// Reads the keys of a channel that has `targets` morph targets.
    pub(super) fn read(
        buffers: &mut Buffers<'_>,
        channel: &Channel,
        targets: usize,
    ) -> Result<Self, ImportError> {
        let mut function = Function::read_each(buffers, channel, targets)?;
        let keys = std::mem::take(&mut function.values);
        buffers.budget.take_for_now((keys.len() / targets * size_of::<f64>()) as u64)?;
        function.values.reserve_exact(keys.len() / targets);
        Ok(Self { keys, targets, function })
    }

    /// Returns the weight of one target over time, rewound to the first key.
    pub(super) fn function_of(&mut self, target: usize) -> &mut Function<1> {
        self.function.rewind();
        self.function.values.clear();
        self.function.values.extend(self.keys.iter().skip(target).step_by(self.targets));
        &mut self.function
    }
}

fn blend<const N: usize, const K: usize>(weights: [f64; K], values: [[f64; N]; K]) -> [f64; N] {
    let mut sum = [0.0; N];
    for (weight, value) in weights.iter().zip(&values) {
        for (sum, component) in sum.iter_mut().zip(value) {
            *sum += weight * component;
        }
    }
    sum
}

/// Returns the four components of a rotation, as a quaternion. The generic `N` is always 4 here.
fn quaternion<const N: usize>(value: [f64; N]) -> DQuat {
    let component = |index: usize| value.get(index).copied().unwrap_or_default();
    DQuat::from_xyzw(component(0), component(1), component(2), component(3))
}

fn components<const N: usize>(rotation: DQuat) -> [f64; N] {
    let mut value = [0.0; N];
    value.iter_mut().zip(rotation.to_array()).for_each(|(c, component)| *c = component);
    value
}

fn normalized<const N: usize>(value: [f64; N]) -> Option<[f64; N]> {
    unit(quaternion(value).to_array()).map(components)
}

/// Interpolates between two unit quaternions along the shorter path.
fn slerp<const N: usize>(from: [f64; N], to: [f64; N], share: f64) -> Option<[f64; N]> {
    let (from, mut to) = (DVec4::from(quaternion(from)), DVec4::from(quaternion(to)));
    let mut cosine = from.dot(to);
    if cosine < 0.0 {
        (to, cosine) = (-to, -cosine);
    }
    let blended = if cosine > STRAIGHT_COSINE {
        from.lerp(to, share)
    } else {
        let angle = cosine.acos();
        (from * ((1.0 - share) * angle).sin() + to * (share * angle).sin()) / angle.sin()
    };
    unit(blended.to_array()).map(components)
}
