//! Reduces keys as ozz's `AnimationOptimizer` does with its default settings. These settings allow
//! each track by itself an error of 1 mm at 10 cm from a joint.
//!
//! A track keeps the first and the last sample. It then also keeps the sample that is farthest from
//! the line between two kept samples, and repeats this until all others are within the tolerance
//! (Ramer, Douglas, Peucker). A rotation's error is the distance that a point at the far end of the
//! joint's longest chain moves.

use kinepack_anim::{RawClip, Transform};

/// The length of a metre in cm. ozz measures lengths in metres.
pub(crate) const METRE_CM: f64 = 100.0;

/// The allowed error of keys in metres, and the distance at which it is measured.
#[derive(Clone, Copy)]
pub(crate) struct Tolerance {
    pub(crate) error_m: f64,
    /// The distance from a joint at which the error is measured.
    pub(crate) distance_m: f64,
}

impl Default for Tolerance {
    fn default() -> Self {
        Self { error_m: 0.001, distance_m: 0.1 }
    }
}

/// A key of a track, which is the number of a sample and the sample's value.
pub(crate) type Key<const N: usize> = (usize, [f64; N]);

/// The keys of a joint.
pub(crate) struct JointKeys {
    /// The translation keys, in metres.
    pub(crate) translations: Vec<Key<3>>,
    pub(crate) rotations: Vec<Key<4>>,
    pub(crate) scales: Vec<Key<3>>,
}

/// Returns the reduced keys of all joints.
pub(crate) fn reduce(raw: &RawClip, tolerance: Tolerance) -> Vec<JointKeys> {
    let spans = Span::of_all(raw, tolerance.distance_m);
    (0..raw.joints())
        .map(|joint| {
            let parent = raw.skeleton().parent(joint);
            let parent_scale = parent.map_or(1.0, |parent| spans[parent].scale);
            let length_m = spans[joint].length_m;
            let most = tolerance.error_m;
            let [translations, scales] =
                [translation_m, scale].map(|part| values(raw, joint, part));
            let rotations = values(raw, joint, |own| own.rotation.map(f64::from));
            JointKeys {
                translations: keys(&translations, lerp, |a, b| distance(a, b) * parent_scale, most),
                rotations: near(keys(&rotations, nlerp, |a, b| chord(a, b) * length_m, most)),
                scales: keys(&scales, lerp, |a, b| distance(a, b) * length_m, most),
            }
        })
        .collect()
}

fn translation_m(transform: &Transform) -> [f64; 3] {
    transform.translation.map(|cm| f64::from(cm) / METRE_CM)
}

fn scale(transform: &Transform) -> [f64; 3] {
    transform.scale.map(f64::from)
}

/// Returns one part of a joint's transform at all samples.
fn values<const N: usize>(
    raw: &RawClip,
    joint: usize,
    part: impl Fn(&Transform) -> [f64; N],
) -> Vec<[f64; N]> {
    raw.poses().map(|pose| part(&pose[joint])).collect()
}

/// The scale and the reach with which a joint moves the points that depend on it.
#[derive(Clone, Copy)]
struct Span {
    /// The largest product of the joint's scale and its ancestors' scales.
    scale: f64,
    /// The distance from the joint to the farthest point that it moves.
    length_m: f64,
}

impl Span {
    fn of_all(raw: &RawClip, distance_m: f64) -> Vec<Self> {
        let largest = |joint: usize, part: &dyn Fn(&Transform) -> f64| {
            raw.poses().map(|pose| part(&pose[joint])).fold(0.0, f64::max)
        };
        let mut spans: Vec<Self> = Vec::with_capacity(raw.joints());
        for joint in 0..raw.joints() {
            let own = largest(joint, &|transform| {
                scale(transform).into_iter().map(f64::abs).fold(0.0, f64::max)
            });
            let parent = raw.skeleton().parent(joint);
            let scale = own * parent.map_or(1.0, |parent| spans[parent].scale);
            spans.push(Self { scale, length_m: distance_m * scale });
        }
        // Children come after their parents.
        for joint in (0..raw.joints()).rev() {
            let Some(parent) = raw.skeleton().parent(joint) else { continue };
            let reach_m = largest(joint, &|transform| {
                let [x, y, z] = translation_m(transform);
                (x * x + y * y + z * z).sqrt()
            });
            let length_m = spans[joint].length_m + reach_m * spans[parent].scale;
            spans[parent].length_m = spans[parent].length_m.max(length_m);
        }
        spans
    }
}

fn distance(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum::<f64>().sqrt()
}

/// Returns how far apart two rotations take a point at distance 1 from the axis between them.
fn chord(a: &[f64; 4], b: &[f64; 4]) -> f64 {
    let dot: f64 = (0..4).map(|part| a[part] * b[part]).sum();
    2.0 * (1.0 - dot * dot).max(0.0).sqrt()
}

fn lerp(from: &[f64; 3], to: &[f64; 3], at: f64) -> [f64; 3] {
    std::array::from_fn(|axis| from[axis] + (to[axis] - from[axis]) * at)
}

fn nlerp(from: &[f64; 4], to: &[f64; 4], at: f64) -> [f64; 4] {
    let dot: f64 = (0..4).map(|part| from[part] * to[part]).sum();
    let sign = if dot < 0.0 { -1.0 } else { 1.0 };
    let sum: [f64; 4] =
        std::array::from_fn(|part| from[part] + (sign * to[part] - from[part]) * at);
    let length = sum.iter().map(|part| part * part).sum::<f64>().sqrt();
    sum.map(|part| part / length)
}

/// Gives each rotation the sign that brings it near the previous rotation, and returns the keys.
/// Players rely on these signs.
fn near(mut keys: Vec<Key<4>>) -> Vec<Key<4>> {
    let mut before = [0.0, 0.0, 0.0, 1.0];
    for (_, rotation) in &mut keys {
        if (0..4).map(|part| before[part] * rotation[part]).sum::<f64>() < 0.0 {
            *rotation = rotation.map(|part| -part);
        }
        before = *rotation;
    }
    keys
}

/// Returns the keys that a track keeps.
fn keys<const N: usize>(
    values: &[[f64; N]],
    between: impl Fn(&[f64; N], &[f64; N], f64) -> [f64; N],
    error: impl Fn(&[f64; N], &[f64; N]) -> f64,
    most: f64,
) -> Vec<Key<N>> {
    let last = values.len() - 1;
    let mut kept = vec![false; values.len()];
    (kept[0], kept[last]) = (true, true);
    let mut open = vec![(0, last)];
    while let Some((from, to)) = open.pop() {
        let mut farthest = None;
        let mut largest = most;
        for sample in from + 1..to {
            let at = (sample - from) as f64 / (to - from) as f64;
            let off = error(&between(&values[from], &values[to], at), &values[sample]);
            if off > largest {
                (farthest, largest) = (Some(sample), off);
            }
        }
        if let Some(sample) = farthest {
            kept[sample] = true;
            open.extend([(from, sample), (sample, to)]);
        }
    }
    let mut keys: Vec<Key<N>> =
        (0..values.len()).filter(|sample| kept[*sample]).map(|at| (at, values[at])).collect();
    // A last key that repeats the previous key is not needed, because the builder holds the
    // previous key to the end.
    if let [.., (_, before), (_, last)] = &keys[..]
        && error(before, last) <= most
    {
        keys.pop();
    }
    keys
}
