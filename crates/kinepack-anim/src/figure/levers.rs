//! What the steps of a figure follow from: how each joint moves, and how far it moves what depends on
//! it. See `spec/FIGURE.md`, sections 1 and 2.

use glam::DVec3;
use kinepack::hash::Fnv1a;

use super::steps::{Lever, Steps};
use super::{FigureError, FigureOptions, Motion};
use crate::Skeleton;
use crate::measure::by_joint;

/// The maximum distance of a root from its bind pose, in cm.
const ROOT_RANGE_CM: f32 = 10_000.0;

/// The error of a rotation whose four numbers are rounded to `f32`. It is twice the distance
/// between two quaternions if each number is off by half a unit in the last place.
const ROUNDING_RAD: f64 = 2.4e-7;

/// Half a unit in the last place of an `f32`, relative to the number.
pub(super) const ROUNDING: f64 = 6.0e-8;

/// Returns how each joint moves.
pub(super) fn motions(
    skeleton: &Skeleton,
    options: &FigureOptions,
) -> Result<Vec<Motion>, FigureError> {
    let named = options.motions.iter().map(|(joint, _)| *joint);
    let mut named = named.chain(options.joint_precisions_cm.iter().map(|(joint, _)| *joint));
    if let Some(joint) = named.find(|joint| *joint >= skeleton.len()) {
        return Err(FigureError::NoJoint { joint });
    }
    let usual = |joint: usize| match skeleton.parent(joint) {
        None => Motion::Moves { range_cm: ROOT_RANGE_CM },
        Some(_) => Motion::Turns,
    };
    let mut motions: Vec<Motion> = (0..skeleton.len()).map(usual).collect();
    for (joint, motion) in &options.motions {
        motions[*joint] = *motion;
    }
    Ok(motions)
}

/// The FNV-1a hash of the skeleton's hash, of the index and the axis of each hinge, and of the clips'
/// names.
pub(super) fn digest(skeleton: &Skeleton, motions: &[Motion], clips: &[String]) -> u64 {
    let mut hash = Fnv1a::new();
    hash.add(&skeleton.hash().to_le_bytes());
    for (joint, motion) in (0u32..).zip(motions) {
        if let Motion::Hinge(axis) = motion {
            hash.add(&joint.to_le_bytes());
            axis.iter().for_each(|component| hash.add(&component.to_le_bytes()));
        }
    }
    for name in clips {
        hash.add(&(name.len() as u32).to_le_bytes());
        hash.add(name.as_bytes());
    }
    hash.finish()
}

/// Returns the lengths by which steps are multiplied, for precisions that are `coarser` times those
/// of the options.
pub(super) fn levers(
    skeleton: &Skeleton,
    options: &FigureOptions,
    motions: &[Motion],
    coarser: f64,
) -> Result<Vec<Lever>, FigureError> {
    let bad = |option, joint| Err(FigureError::BadOption { option, joint });
    if !(options.shell_cm >= 0.0 && options.shell_cm.is_finite()) {
        return bad("shell_cm", None);
    }
    if !is_positive(options.precision_cm) {
        return bad("precision_cm", None);
    }
    let precisions_cm =
        by_joint(options.precision_cm, &options.joint_precisions_cm, skeleton.len());
    let mut scales: Vec<f64> = Vec::with_capacity(skeleton.len());
    let mut levers = Vec::with_capacity(skeleton.len());
    for (index, joint) in skeleton.joints().iter().enumerate() {
        let (motion, precision_cm) = (motions[index], precisions_cm[index] * coarser);
        if !is_positive(precision_cm) {
            return bad("precision", Some(index));
        }
        let (turning, range_cm) = match motion {
            Motion::Still => (0, 0.0),
            Motion::Hinge(axis) => {
                let length: f64 = axis.iter().map(|c| f64::from(*c) * f64::from(*c)).sum();
                if !is_positive(length) {
                    return bad("hinge's axis", Some(index));
                }
                (1, 0.0)
            }
            Motion::Turns => (3, 0.0),
            Motion::Moves { range_cm } if !is_positive(f64::from(range_cm)) => {
                return bad("range", Some(index));
            }
            Motion::Moves { range_cm } => (3, f64::from(range_cm)),
        };
        let parent = skeleton.parent(index);
        let scale = parent.map_or(1.0, |parent| scales[parent]);
        let own_scale = joint.bind.scale.iter().fold(0.0_f64, |l, s| l.max(f64::from(s.abs())));
        scales.push(scale * own_scale);
        let farthest = joint.bind.translation.map(|c| f64::from(c).abs() + range_cm);
        let distance_cm = DVec3::from_array(farthest).length();
        let is_rounded = range_cm > 0.0 || parent.is_none();
        levers.push(Lever {
            parent,
            bone_cm: if parent.is_some() { scale * distance_cm } else { 0.0 },
            scale,
            turning,
            moving: if range_cm > 0.0 { 3 } else { 0 },
            rounding: Steps {
                turn_rad: if turning > 0 { ROUNDING_RAD } else { 0.0 },
                move_cm: if is_rounded { ROUNDING * distance_cm } else { 0.0 },
            },
            shell_cm: options.shell_cm * scales[index],
            precision_cm,
        });
    }
    Ok(levers)
}

fn is_positive(number: f64) -> bool {
    number > 0.0 && number.is_finite()
}
