//! Chooses the margin of each track, which is the largest error that it may have. Errors of tracks
//! add up along the hierarchy, but a viewer sees the error in object space. If all joints have the
//! same margin, the margin must be as tight as the longest chain needs. The article tightens
//! margins towards the root, depending on the chain below each joint. In this module, margins can
//! also follow the measured error. They begin loose. Wherever the error in object space is too
//! large, the margin of the track that contributes most is tightened at that sample.

use glam::DVec3;

use crate::{Channel, Skeleton};

use super::curve::Curve;
use super::insert::{KeyPosition, insert};
use super::scene::Scene;
use super::{KeyedOptions, Margins};

/// When the error in object space is too large, the track that contributes most gets a new margin:
/// this share of the track's own error.
const TIGHTEN: f64 = 0.95;

/// The maximum number of rounds of tightening. Usually about ten are enough.
const ROUNDS: usize = 60;

/// The number of steps of the binary search for the widest margins that keep the precision.
const SEARCH_STEPS: usize = 10;

/// Adds keys to curves that have two keys, until the scene is within its limits.
pub(super) fn fit(scene: &mut Scene, curves: &mut [Curve], options: &KeyedOptions) {
    if options.margins == Margins::Measured {
        begin_wide(scene, curves);
        measured(scene, curves, options.position);
    } else {
        searched(scene, curves, options);
    }
    scene.play_all(curves);
}

/// Searches for the widest margin that keeps the precision everywhere. All joints share one margin,
/// or each has a share of it that depends on the chain below it.
fn searched(scene: &mut Scene, curves: &mut [Curve], options: &KeyedOptions) {
    let begun = curves.to_vec();
    let skeleton = scene.raw.skeleton().clone();
    let heights = heights(&skeleton);
    let try_margin = |scene: &mut Scene, curves: &mut [Curve], margin_cm: f64| {
        for (curve, begun) in curves.iter_mut().zip(&begun) {
            curve.clone_from(begun);
            let joint = usize::from(curve.id.joint);
            let share = if options.margins == Margins::Hierarchy {
                1.0 / (1 + heights[joint]) as f64
            } else {
                1.0
            };
            let margin = match curve.id.channel {
                Channel::Rotation => share * margin_cm * options.rotation_margin_rad_per_cm,
                Channel::Translation => share * margin_cm,
                Channel::Scale => share * margin_cm * options.scale_margin_per_cm,
            };
            curve.tolerance.fill(margin);
            insert(curve, options.position);
        }
        scene.play_all(curves);
        scene.worst_ratio() <= 1.0
    };
    // The search runs between two margins: one that keeps the precision or is practically zero, and
    // one that does not keep it.
    let (mut kept, mut lost) = (1e-4, 10.0);
    for _ in 0..SEARCH_STEPS {
        let middle = f64::sqrt(kept * lost);
        if try_margin(scene, curves, middle) {
            kept = middle;
        } else {
            lost = middle;
        }
    }
    try_margin(scene, curves, kept);
}

/// Returns the number of joints in the longest chain below each joint.
fn heights(skeleton: &Skeleton) -> Vec<usize> {
    let mut heights = vec![0; skeleton.len()];
    for joint in (0..skeleton.len()).rev() {
        if let Some(parent) = skeleton.parent(joint) {
            heights[parent] = heights[parent].max(heights[joint] + 1);
        }
    }
    heights
}

/// Adds keys to finished curves wherever the scene exceeds its limits.
pub(super) fn repair(scene: &mut Scene, curves: &mut [Curve], position: KeyPosition) {
    for curve in &mut *curves {
        for sample in 0..curve.tolerance.len() {
            curve.tolerance[sample] = 1.001 * curve.error(sample).max(1e-9);
        }
    }
    measured(scene, curves, position);
}

/// Sets margins that would suffice for a joint if its ancestors and children had no error.
fn begin_wide(scene: &Scene, curves: &mut [Curve]) {
    for curve in curves {
        let joint = usize::from(curve.id.joint);
        let reach_cm = match curve.id.channel {
            Channel::Translation => 1.0,
            _ => scene.near_reach_cm[joint],
        };
        for sample in 0..curve.tolerance.len() {
            curve.tolerance[sample] = scene.limit_below_cm(sample, joint) / reach_cm;
        }
    }
}

/// Tightens the margins of tracks where the measured error is too large, and adds the keys that
/// this requires.
fn measured(scene: &mut Scene, curves: &mut [Curve], position: KeyPosition) {
    let mut curve_of = vec![[None; 3]; scene.joints()];
    for (index, curve) in curves.iter().enumerate() {
        curve_of[usize::from(curve.id.joint)][curve.id.channel as usize] = Some(index);
    }
    let mut is_stale = vec![true; curves.len()];
    for _ in 0..ROUNDS {
        for (curve, is_stale) in curves.iter_mut().zip(&mut is_stale) {
            if std::mem::take(is_stale) {
                insert(curve, position);
            }
        }
        scene.play_all(curves);
        for sample in 0..scene.samples() {
            for joint in 0..scene.joints() {
                if scene.is_within(sample, joint) {
                    continue;
                }
                if let Some(blamed) = blame(scene, curves, &curve_of, sample, joint) {
                    let curve = &mut curves[blamed];
                    let tightened = TIGHTEN * curve.error(sample);
                    if let Ok(key) = curve.keys.binary_search(&sample) {
                        curve.reset(key);
                        is_stale[blamed] = true;
                    } else if tightened < curve.tolerance[sample] {
                        curve.tolerance[sample] = tightened;
                        is_stale[blamed] = true;
                    }
                }
            }
        }
        if !is_stale.contains(&true) {
            return;
        }
    }
}

/// Among the tracks that could be closer to their targets, returns the one that moves the worst
/// point of a joint's shell most.
fn blame(
    scene: &Scene,
    curves: &[Curve],
    curve_of: &[[Option<usize>; 3]],
    sample: usize,
    joint: usize,
) -> Option<usize> {
    let first = sample * scene.joints();
    let (raw, played) = (&scene.raw_object[first + joint], &scene.object[first + joint]);
    let shell_cm = scene.shell_cm[joint];
    let points = raw.shell(shell_cm).into_iter().zip(played.shell(shell_cm));
    let (point, offset) = points
        .map(|(raw, played)| (raw, played - raw))
        .max_by(|a, b| a.1.length().total_cmp(&b.1.length()))?;
    let mut worst = (0.0, None);
    let mut above = Some(joint);
    while let Some(ancestor) = above {
        for channel in Channel::ALL {
            let Some(index) = curve_of[ancestor][channel as usize] else { continue };
            let moved = moved_by(scene, sample, ancestor, channel, point).dot(offset);
            if moved > worst.0 && curves[index].could_be_nearer(sample) {
                worst = (moved, Some(index));
            }
        }
        above = scene.raw.skeleton().parent(ancestor);
    }
    worst.1
}

/// Returns the approximate motion of a point in object space that the error of one channel of a
/// joint causes.
fn moved_by(scene: &Scene, sample: usize, joint: usize, channel: Channel, point: DVec3) -> DVec3 {
    let at = |joint: usize| sample * scene.joints() + joint;
    let (raw, local) = (&scene.raw_local[at(joint)], &scene.local[at(joint)]);
    let object = &scene.raw_object[at(joint)];
    let arm = point - object.translation;
    match channel {
        Channel::Rotation => {
            let turned = raw.rotation.inverse() * local.rotation;
            let axis = DVec3::new(turned.x, turned.y, turned.z) * (2.0 * turned.w.signum());
            (object.rotation * axis).cross(arm)
        }
        Channel::Translation => {
            let moved = local.translation - raw.translation;
            match scene.raw.skeleton().parent(joint) {
                Some(parent) => {
                    scene.raw_object[at(parent)].rotation
                        * (moved * scene.raw_object[at(parent)].scale)
                }
                None => moved,
            }
        }
        Channel::Scale => {
            let inside = object.rotation.inverse() * arm;
            let grown = (local.scale - raw.scale) / raw.scale;
            object.rotation * (inside * if grown.is_finite() { grown } else { DVec3::ZERO })
        }
    }
}
