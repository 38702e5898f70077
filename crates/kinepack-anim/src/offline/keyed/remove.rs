//! Removes keys. The module tries to remove each key, the least needed first, and fits the keys
//! around it again by least squares. It keeps the removal if the whole clip remains within its
//! limits in object space. No margin of a single track allows this, because errors of several
//! tracks may cancel out.

use super::curve::{Curve, KeyValue, Value};
use super::scene::Scene;

/// The number of keys on each side of the removed key that the widest fit moves.
const REFIT_KEYS: usize = 2;

/// A key is not tried if its removal alone would cause an error of at least this multiple of the
/// limit.
const HOPELESS: f64 = 4.0;

/// The number of keys on each side of a removed key that are tried again.
const NEAR_KEYS: usize = 3;

/// The keys that a pass tries to remove.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Tried {
    All,
    /// The keys near the keys that the last pass removed.
    NearRemoved,
}

/// Removes as many keys as possible. `refits` allows the neighbours of a key to move. Returns the
/// number of removed keys.
pub(super) fn remove(scene: &mut Scene, curves: &mut [Curve], tried: Tried, refits: bool) -> usize {
    let mut tries = Vec::new();
    let mut attempt = Attempt::default();
    for (index, curve) in curves.iter_mut().enumerate() {
        let joint = usize::from(curve.id.joint);
        let reach_cm = if curve.id.channel == crate::Channel::Translation {
            1.0
        } else {
            scene.reach_cm[joint]
        };
        let mut removed = std::mem::take(&mut curve.removed);
        removed.sort_unstable();
        for key in 1..curve.keys.len() - 1 {
            let sample = curve.keys[key];
            let last = curve.keys.len() - 1;
            let around =
                curve.keys[key.saturating_sub(NEAR_KEYS)]..=curve.keys[(key + NEAR_KEYS).min(last)];
            let next_removed =
                removed.get(removed.partition_point(|sample| sample < around.start()));
            if tried == Tried::NearRemoved
                && next_removed.is_none_or(|sample| sample > around.end())
            {
                continue;
            }
            let key = attempt.begin(curve, key);
            curve.remove(key);
            let segments = curve.segments_around(key..key);
            let samples = curve.keys[segments.start]..=curve.keys[segments.end];
            curve.evaluate(segments);
            let harms = samples.map(|sample| {
                (reach_cm * curve.error(sample) / scene.limit_below_cm(sample, joint), sample)
            });
            let (harm, worst) = harms
                .fold((0.0, sample), |worst, harm| if harm.0 > worst.0 { harm } else { worst });
            attempt.undo(curve);
            attempt.end(curve);
            if harm < HOPELESS {
                tries.push(Try { harm, curve: index, sample, worst });
            }
        }
    }
    tries.sort_by(|a, b| a.harm.total_cmp(&b.harm));
    tries.retain(|tried| {
        let curve = &mut curves[tried.curve];
        let key = curve.keys.binary_search(&tried.sample).unwrap_or(0);
        if key == 0 {
            return false;
        }
        let key = attempt.begin(curve, key);
        attempt.suspect = tried.worst;
        let is_removed = is_removed(scene, curve, key, refits, &mut attempt);
        attempt.end(curve);
        if is_removed {
            curve.removed.push(tried.sample);
        }
        is_removed
    });
    tries.len()
}

/// A key that may be removed.
struct Try {
    /// The error without the key if nothing else moved, relative to the limit.
    harm: f64,
    /// The index of the key's curve.
    curve: usize,
    /// The sample at which the key is.
    sample: usize,
    /// The sample with the largest error.
    worst: usize,
}

fn is_removed(
    scene: &mut Scene,
    curve: &mut Curve,
    key: usize,
    refits: bool,
    attempt: &mut Attempt,
) -> bool {
    for width in 0..=if refits { REFIT_KEYS } else { 0 } {
        curve.remove(key);
        let moved = key.saturating_sub(width)..(key + width).min(curve.keys.len());
        if width > 0 {
            curve.refit(moved.clone());
        }
        if is_played(scene, curve, moved, attempt) {
            return true;
        }
        attempt.undo(curve);
    }
    refits && is_merged(scene, curve, key, attempt)
}

/// Tries to replace a key and one of its neighbours with a single key near the two. Returns whether
/// that succeeded.
fn is_merged(scene: &mut Scene, curve: &mut Curve, key: usize, attempt: &mut Attempt) -> bool {
    for other in [key - 1, key + 1] {
        if other == 0 || other + 1 >= curve.keys.len() {
            continue;
        }
        let first = key.min(other);
        let (begin, end) = (curve.keys[first], curve.keys[first + 1]);
        let (low, high) = (curve.keys[first - 1], curve.keys[first + 2]);
        for place in
            [(begin + end) / 2, (begin + end).div_ceil(2), (low + begin) / 2, (end + high) / 2]
        {
            if place == begin || place == end || place == low || place == high {
                continue;
            }
            curve.remove(first);
            curve.remove(first);
            curve.insert(&[place]);
            let at = curve.keys.binary_search(&place).unwrap_or(0);
            let moved = at.saturating_sub(1)..(at + 2).min(curve.keys.len());
            curve.refit(moved.clone());
            if is_played(scene, curve, moved, attempt) {
                return true;
            }
            attempt.undo(curve);
        }
    }
    false
}

/// Plays a curve with some changed keys if the scene then stays within its limits. Returns whether
/// it does.
fn is_played(
    scene: &mut Scene,
    curve: &mut Curve,
    changed: std::ops::Range<usize>,
    attempt: &mut Attempt,
) -> bool {
    let segments = curve.segments_around(changed);
    let samples = curve.keys[segments.start]..=curve.keys[segments.end];
    if samples.contains(&attempt.suspect) {
        curve.evaluate_at(attempt.suspect);
        if !scene.holds(curve, attempt.suspect) {
            return false;
        }
    }
    curve.evaluate(segments);
    if let Some(sample) = breaks_at(scene, curve, samples.clone()) {
        attempt.suspect = sample;
        return false;
    }
    scene.play(curve, samples);
    true
}

/// Returns a sample at which a curve's decoded value breaks the limits of the scene. The search
/// first tries the sample with the curve's largest error.
pub(super) fn breaks_at(
    scene: &mut Scene,
    curve: &Curve,
    mut samples: std::ops::RangeInclusive<usize>,
) -> Option<usize> {
    let worst = samples.clone().max_by(|a, b| curve.error(*a).total_cmp(&curve.error(*b)))?;
    if scene.holds(curve, worst) {
        samples.find(|sample| !scene.holds(curve, *sample))
    } else {
        Some(worst)
    }
}

/// A change of the keys around one key of a curve. Until the attempt ends, the curve holds only
/// these keys, so the cost of an attempt does not depend on the curve's length.
#[derive(Default)]
struct Attempt {
    /// All keys of the curve. `around` is the range of keys that the curve still holds.
    keys: Vec<usize>,
    values: Vec<KeyValue>,
    around: std::ops::Range<usize>,
    /// The first sample of the decoded values around the key.
    first_sample: usize,
    decoded: Vec<Value>,
    /// The sample that made the last change fail. The next change is likely to fail there too.
    suspect: usize,
}

impl Attempt {
    /// Removes all keys from the curve except the keys around one key. The kept keys are those that
    /// matter if the key or its neighbours change. Returns the key's index among the kept keys.
    fn begin(&mut self, curve: &mut Curve, key: usize) -> usize {
        let first = key.saturating_sub(2 * REFIT_KEYS + 2);
        self.around = first..(key + 2 * REFIT_KEYS + 3).min(curve.keys.len());
        std::mem::swap(&mut curve.keys, &mut self.keys);
        std::mem::swap(&mut curve.values, &mut self.values);
        let samples = self.keys[first]..=self.keys[self.around.end - 1];
        self.first_sample = *samples.start();
        self.decoded.clear();
        self.decoded.extend_from_slice(&curve.decoded[samples]);
        self.take_keys(curve);
        key - first
    }

    /// Restores the keys around the attempt's key.
    fn undo(&self, curve: &mut Curve) {
        curve.decoded[self.first_sample..][..self.decoded.len()].copy_from_slice(&self.decoded);
        self.take_keys(curve);
    }

    fn take_keys(&self, curve: &mut Curve) {
        curve.keys.clear();
        curve.keys.extend_from_slice(&self.keys[self.around.clone()]);
        curve.values.clear();
        curve.values.extend_from_slice(&self.values[self.around.clone()]);
    }

    /// Restores all keys of the curve. The keys around the attempt's key keep their current state.
    fn end(&mut self, curve: &mut Curve) {
        if curve.keys != self.keys[self.around.clone()] {
            self.keys.splice(self.around.clone(), curve.keys.iter().copied());
            self.values.splice(self.around.clone(), curve.values.iter().copied());
        }
        std::mem::swap(&mut curve.keys, &mut self.keys);
        std::mem::swap(&mut curve.values, &mut self.values);
    }
}
