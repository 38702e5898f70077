//! Key removal: each key is tried to be left out, the least needed first, and the values of the keys around it fitted anew by least squares;
//! what keeps the whole clip within what is allowed in object space stays. Errors that happen to cancel are room that no margin of a single
//! track can know of.

use super::curve::{Curve, KeyValue, Value};
use super::scene::Scene;

/// The widest fit: so many keys on each side of the one that is left out.
const REFIT_KEYS: usize = 2;

/// A key is not tried where the clip would be off by more than so many times what is allowed, if nothing else moved.
const HOPELESS: f64 = 4.0;

/// Keys on each side of one that was taken away that are worth another try.
const NEAR_KEYS: usize = 3;

/// Which keys are tried.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Tried {
    All,
    /// Those near which a key was taken away in the last pass.
    NearRemoved,
}

/// Takes away what keys it can; `refits` says whether their neighbours may move. Says how many it took.
pub(super) fn remove(scene: &mut Scene, curves: &mut [Curve], tried: Tried, refits: bool) -> usize {
    let mut tries = Vec::new();
    for (index, curve) in curves.iter_mut().enumerate() {
        let joint = usize::from(curve.id.joint);
        let reach_cm = if curve.id.channel == crate::Channel::Translation { 1.0 } else { scene.reach_cm[joint] };
        let mut attempt = Attempt::default();
        let mut removed = std::mem::take(&mut curve.removed);
        removed.sort_unstable();
        for key in 1..curve.keys.len() - 1 {
            let sample = curve.keys[key];
            let last = curve.keys.len() - 1;
            let around = curve.keys[key.saturating_sub(NEAR_KEYS)]..=curve.keys[(key + NEAR_KEYS).min(last)];
            let next_removed = removed.get(removed.partition_point(|sample| sample < around.start()));
            if tried == Tried::NearRemoved && next_removed.is_none_or(|sample| sample > around.end()) {
                continue;
            }
            attempt.begin(curve, key);
            curve.remove(key);
            let segments = curve.segments_around(key..key);
            let samples = curve.keys[segments.start]..=curve.keys[segments.end];
            curve.evaluate(segments);
            let harm = samples.map(|sample| curve.error(sample) / scene.limit_cm(sample, joint)).fold(0.0, f64::max)
                * reach_cm;
            attempt.undo(curve);
            if harm < HOPELESS {
                tries.push((harm, index, sample));
            }
        }
    }
    tries.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut attempt = Attempt::default();
    tries.retain(|&(_, index, sample)| {
        let curve = &mut curves[index];
        let key = curve.keys.binary_search(&sample).unwrap_or(0);
        let is_removed = key > 0 && is_removed(scene, curve, key, refits, &mut attempt);
        if is_removed {
            curve.removed.push(sample);
        }
        is_removed
    });
    tries.len()
}

fn is_removed(scene: &mut Scene, curve: &mut Curve, key: usize, refits: bool, attempt: &mut Attempt) -> bool {
    attempt.begin(curve, key);
    for width in 0..=if refits { REFIT_KEYS } else { 0 } {
        if width > 0 {
            attempt.undo(curve);
        }
        curve.remove(key);
        let moved = key.saturating_sub(width)..(key + width).min(curve.keys.len());
        if width > 0 {
            curve.refit(moved.clone());
        }
        if is_played(scene, curve, moved) {
            return true;
        }
    }
    attempt.undo(curve);
    refits && is_merged(scene, curve, key, attempt)
}

/// Replaces a key and one of its neighbours by one key near the two.
fn is_merged(scene: &mut Scene, curve: &mut Curve, key: usize, attempt: &Attempt) -> bool {
    for other in [key - 1, key + 1] {
        if other == 0 || other + 1 >= curve.keys.len() {
            continue;
        }
        let first = key.min(other);
        let (begin, end) = (curve.keys[first], curve.keys[first + 1]);
        let (low, high) = (curve.keys[first - 1], curve.keys[first + 2]);
        for place in [(begin + end) / 2, (begin + end).div_ceil(2), (low + begin) / 2, (end + high) / 2] {
            if place == begin || place == end || place == low || place == high {
                continue;
            }
            curve.remove(first);
            curve.remove(first);
            curve.insert(&[place]);
            let at = curve.keys.binary_search(&place).unwrap_or(0);
            let moved = at.saturating_sub(1)..(at + 2).min(curve.keys.len());
            curve.refit(moved.clone());
            if is_played(scene, curve, moved) {
                return true;
            }
            attempt.undo(curve);
        }
    }
    false
}

/// Plays a curve some of whose keys changed, if the scene holds with it.
fn is_played(scene: &mut Scene, curve: &mut Curve, changed: std::ops::Range<usize>) -> bool {
    let segments = curve.segments_around(changed);
    let samples = curve.keys[segments.start]..=curve.keys[segments.end];
    curve.evaluate(segments);
    let holds = holds(scene, curve, samples.clone());
    if holds {
        scene.play(curve, samples);
    }
    holds
}

/// Whether the scene holds with what a curve has decoded at some samples. The one at which it is farthest off says no most often.
pub(super) fn holds(scene: &mut Scene, curve: &Curve, samples: std::ops::RangeInclusive<usize>) -> bool {
    let worst = samples.clone().max_by(|a, b| curve.error(*a).total_cmp(&curve.error(*b)));
    worst.is_none_or(|worst| scene.holds(curve, worst)) && samples.into_iter().all(|sample| scene.holds(curve, sample))
}

/// What a curve was before keys around one of them were changed.
#[derive(Default)]
pub(super) struct Attempt {
    first_key: usize,
    kept_behind: usize,
    keys: Vec<usize>,
    values: Vec<KeyValue>,
    first_sample: usize,
    decoded: Vec<Value>,
}

impl Attempt {
    /// Remembers the keys around `key`, and all samples that depend on them.
    pub(super) fn begin(&mut self, curve: &Curve, key: usize) {
        let last = curve.keys.len() - 1;
        let (first, end) = (key.saturating_sub(2 * REFIT_KEYS + 2), (key + 2 * REFIT_KEYS + 2).min(last));
        self.first_key = first;
        self.kept_behind = last - end;
        self.keys.clear();
        self.keys.extend_from_slice(&curve.keys[first..=end]);
        self.values.clear();
        self.values.extend_from_slice(&curve.values[first..=end]);
        self.first_sample = curve.keys[first];
        self.decoded.clear();
        self.decoded.extend_from_slice(&curve.decoded[curve.keys[first]..=curve.keys[end]]);
    }

    /// Makes the curve what it was.
    pub(super) fn undo(&self, curve: &mut Curve) {
        let end = curve.keys.len() - self.kept_behind;
        curve.keys.splice(self.first_key..end, self.keys.iter().copied());
        curve.values.splice(self.first_key..end, self.values.iter().copied());
        curve.decoded[self.first_sample..][..self.decoded.len()].copy_from_slice(&self.decoded);
    }
}
