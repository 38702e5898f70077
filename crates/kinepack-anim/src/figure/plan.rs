//! The tables of a figure. They state what each joint sends, and in which steps.

use glam::{DQuat, DVec3};
use kinepack::hash::Fnv1a;
use kinepack::quantize::FloatLimits;
use kinepack::schema::{Field, FieldKind};

use super::rotation::{self, RotationLanes};
use super::steps::{self, Lever, Steps};
use super::{FigureError, FigureOptions, Motion};
use crate::measure::by_joint;
use crate::{Skeleton, Transform};

/// The maximum distance of a root from its bind pose, in cm.
const ROOT_RANGE_CM: f64 = 10_000.0;

/// The error of a rotation whose four numbers are rounded to `f32`. It is twice the distance
/// between two quaternions if each number is off by half a unit in the last place.
const ROUNDING_RAD: f64 = 2.4e-7;

/// Half a unit in the last place of an `f32`, relative to the number.
const ROUNDING: f64 = 6.0e-8;

/// How much of their errors the steps use. The rest is for the rounding of `f64`, and for that of
/// a decoded translation, which may be larger than the exact one.
const SLACK: f64 = 1.0 - 1e-7;

/// The properties that all poses of a figure share.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) joints: Vec<PlannedJoint>,
    /// The names and limits of the curves. The first curve has the lane `first_curve_lane`.
    pub(super) curves: Vec<(String, FloatLimits)>,
    pub(super) first_curve_lane: usize,
    pub(super) shell_cm: f64,
    /// What the fields' limits do not show: the skeleton and the axes of hinges.
    digest: u64,
}

/// A joint with its parent, its bind pose and its lanes.
#[derive(Clone, Debug)]
pub(super) struct PlannedJoint {
    name: String,
    pub(super) parent: Option<usize>,
    pub(super) bind: Transform,
    bind_rotation: DQuat,
    /// The first lane, the limits of each axis, and the range around the bind pose, in cm.
    translation: Option<(usize, [FloatLimits; 3], f64)>,
    rotation: Option<(usize, RotationLanes)>,
    pub(super) precision_cm: f64,
    pub(super) max_error_cm: f64,
}

impl Plan {
    pub(super) fn new(skeleton: &Skeleton, options: &FigureOptions) -> Result<Self, FigureError> {
        let levers = levers(skeleton, options)?;
        let steps = steps::choose(&levers)
            .map_err(|(joint, finest_cm)| FigureError::TooFine { joint, finest_cm })?;
        let motions = motions(skeleton, options);
        let mut lane = 0;
        let mut joints = Vec::with_capacity(skeleton.len());
        for (index, joint) in skeleton.joints().iter().enumerate() {
            let too_many = |error| FigureError::JointLimits { joint: index, error };
            let Steps { turn_rad, move_cm } = steps[index];
            let mut take = |count: usize| {
                lane += count;
                lane - count
            };
            // Each of the three components is off by at most half a step.
            let per_component = 2.0 / 3.0_f64.sqrt() * SLACK;
            let translation = match range_cm(motions[index]) {
                None => None,
                Some(range_cm) => {
                    let step = move_cm * per_component;
                    let half = (range_cm / step).ceil() * step;
                    let mut limits = Vec::new();
                    for middle in joint.bind.translation.map(f64::from) {
                        limits.push(
                            FloatLimits::new(middle - half, middle + half, step)
                                .map_err(too_many)?,
                        );
                    }
                    Some((take(3), [limits[0], limits[1], limits[2]], range_cm))
                }
            };
            let lanes = match motions[index] {
                Motion::Still => None,
                Motion::Hinge(axis) => {
                    let axis = DVec3::from_array(axis.map(f64::from)).normalize();
                    let limits =
                        rotation::limits(turn_rad * 2.0 * SLACK, true).map_err(too_many)?;
                    Some(RotationLanes::Angle(axis, limits))
                }
                Motion::Turns | Motion::Moves { .. } => Some(RotationLanes::Vector(
                    rotation::limits(turn_rad * per_component, false).map_err(too_many)?,
                )),
            };
            joints.push(PlannedJoint {
                name: joint.name.clone(),
                parent: skeleton.parent(index),
                bind: joint.bind,
                bind_rotation: joint.bind.rotation64(),
                translation,
                rotation: lanes.map(|lanes| (take(lanes.count()), lanes)),
                precision_cm: levers[index].precision_cm,
                max_error_cm: 0.0,
            });
        }
        let mut own = steps.iter();
        let errors = steps::errors(&levers, |lever| {
            let steps = own.next().copied().unwrap_or_default();
            Steps {
                turn_rad: steps.turn_rad * SLACK + lever.rounding_rad,
                move_cm: steps.move_cm * SLACK + lever.rounding_cm,
            }
        });
        for (joint, error) in joints.iter_mut().zip(errors) {
            joint.max_error_cm = error;
        }
        let mut curves = Vec::with_capacity(options.curves.len());
        for (index, curve) in options.curves.iter().enumerate() {
            let [min, max, precision] = [curve.min, curve.max, curve.precision].map(f64::from);
            let limits = FloatLimits::new(min, max, 2.0 * precision)
                .map_err(|error| FigureError::CurveLimits { curve: index, error })?;
            curves.push((curve.name.clone(), limits));
        }
        let digest = digest(skeleton, &motions);
        Ok(Self { joints, curves, first_curve_lane: lane, shell_cm: options.shell_cm, digest })
    }

    /// Returns the number of lanes.
    pub(super) fn lanes(&self) -> usize {
        self.first_curve_lane + self.curves.len()
    }

    /// The fields: each joint's translation and rotation, then the curves. The brackets of the first
    /// one also have the digest, so that the schema's hash covers it.
    pub(super) fn fields(&self) -> Vec<Field> {
        let mut fields: Vec<Field> = Vec::new();
        for (index, joint) in self.joints.iter().enumerate() {
            let name = |part: &str| format!("joints[{index} {}].{part}", plain(&joint.name));
            if let Some((_, limits, _)) = &joint.translation {
                fields.push(Field::new(name("translation"), FieldKind::Floats(limits.to_vec())));
            }
            if let Some((_, lanes)) = &joint.rotation {
                fields.push(Field::new(name("rotation"), lanes.kind()));
            }
        }
        fields.extend(self.curves.iter().map(|(name, limits)| {
            Field::new(format!("curves[{}]", plain(name)), FieldKind::Floats(vec![*limits]))
        }));
        if let Some(first) = fields.first_mut() {
            first.name = first.name.replacen(']', &format!(" {:016x}]", self.digest), 1);
        }
        fields
    }
}

impl PlannedJoint {
    /// Quantizes the joint's transform relative to the parent as the receiver has it.
    pub(super) fn quantize(
        &self,
        translation: [f32; 3],
        wanted: DQuat,
        lanes: &mut [u32],
    ) -> Result<(), f64> {
        if let Some((first, limits, range_cm)) = &self.translation {
            for (axis, limits) in limits.iter().enumerate() {
                let value = f64::from(translation[axis]);
                // The limits may reach beyond the range by a step, but the errors rely on the range.
                let moved = (value - f64::from(self.bind.translation[axis])).abs();
                if moved > range_cm + ROUNDING * value.abs() {
                    return Err(value);
                }
                lanes[first + axis] = limits.quantize_clamped(value).map_err(|_| value)?;
            }
        }
        if let Some((first, rotation)) = &self.rotation {
            rotation.quantize(self.bind_rotation.conjugate() * wanted, &mut lanes[*first..]);
        }
        Ok(())
    }

    /// Returns the joint's transform relative to its parent, in the numbers of a pose.
    pub(super) fn transform(&self, lanes: &[u32]) -> Transform {
        let mut transform = self.bind;
        if let Some((first, limits, _)) = &self.translation {
            transform.translation =
                std::array::from_fn(|axis| limits[axis].reconstruct(lanes[first + axis]) as f32);
        }
        if let Some((first, rotation)) = &self.rotation {
            let turned = rotation.reconstruct(&lanes[*first..]);
            let rotation = self.bind_rotation * turned;
            transform.rotation = rotation.to_array().map(|component| component as f32);
        }
        transform
    }
}

/// The FNV-1a hash of the skeleton's hash, and of the index and the axis of each hinge.
fn digest(skeleton: &Skeleton, motions: &[Motion]) -> u64 {
    let mut hash = Fnv1a::new();
    hash.add(&skeleton.hash().to_le_bytes());
    for (joint, motion) in (0u32..).zip(motions) {
        if let Motion::Hinge(axis) = motion {
            hash.add(&joint.to_le_bytes());
            axis.iter().for_each(|component| hash.add(&component.to_le_bytes()));
        }
    }
    hash.finish()
}

/// A name without the brackets that have a meaning in the names of fields.
fn plain(name: &str) -> String {
    name.replace(['[', ']', '.'], "_")
}

fn range_cm(motion: Motion) -> Option<f64> {
    match motion {
        Motion::Moves { range_cm } => Some(f64::from(range_cm)),
        _ => None,
    }
}

fn motions(skeleton: &Skeleton, options: &FigureOptions) -> Vec<Motion> {
    let usual = |joint: usize| match skeleton.parent(joint) {
        None => Motion::Moves { range_cm: ROOT_RANGE_CM as f32 },
        Some(_) => Motion::Turns,
    };
    let mut motions: Vec<Motion> = (0..skeleton.len()).map(usual).collect();
    for (joint, motion) in &options.motions {
        motions[*joint] = *motion;
    }
    motions
}

/// Returns the lengths by which steps are multiplied.
fn levers(skeleton: &Skeleton, options: &FigureOptions) -> Result<Vec<Lever>, FigureError> {
    let bad = |option, joint| Err(FigureError::BadOption { option, joint });
    let named = options.motions.iter().map(|(joint, _)| *joint);
    for joint in named.chain(options.joint_precisions_cm.iter().map(|(joint, _)| *joint)) {
        if joint >= skeleton.len() {
            return Err(FigureError::NoJoint { joint });
        }
    }
    let positive = |number: f64| number > 0.0 && number.is_finite();
    if !(options.shell_cm >= 0.0 && options.shell_cm.is_finite()) {
        return bad("shell_cm", None);
    }
    if !positive(options.precision_cm) {
        return bad("precision_cm", None);
    }
    let precisions_cm =
        by_joint(options.precision_cm, &options.joint_precisions_cm, skeleton.len());
    let motions = motions(skeleton, options);
    let mut scales: Vec<f64> = Vec::with_capacity(skeleton.len());
    let mut levers = Vec::with_capacity(skeleton.len());
    for (index, joint) in skeleton.joints().iter().enumerate() {
        if !positive(precisions_cm[index]) {
            return bad("precision", Some(index));
        }
        match motions[index] {
            Motion::Hinge(axis) => {
                let length: f64 = axis.iter().map(|c| f64::from(*c) * f64::from(*c)).sum();
                if !positive(length) {
                    return bad("hinge's axis", Some(index));
                }
            }
            Motion::Moves { range_cm } if !positive(f64::from(range_cm)) => {
                return bad("range", Some(index));
            }
            _ => {}
        }
        let parent = skeleton.parent(index);
        let largest =
            |scale: [f32; 3]| scale.iter().fold(0.0_f64, |l, s| l.max(f64::from(s.abs())));
        let scale = parent.map_or(1.0, |parent| scales[parent]);
        scales.push(scale * largest(joint.bind.scale));
        let range_cm = range_cm(motions[index]).unwrap_or(0.0);
        let farthest = joint.bind.translation.map(|c| f64::from(c).abs() + range_cm);
        let distance_cm = DVec3::from_array(farthest).length();
        levers.push(Lever {
            parent,
            bone_cm: if parent.is_some() { scale * distance_cm } else { 0.0 },
            scale,
            turning: match motions[index] {
                Motion::Still => 0,
                Motion::Hinge(_) => 1,
                Motion::Turns | Motion::Moves { .. } => 3,
            },
            moving: if range_cm > 0.0 { 3 } else { 0 },
            rounding_rad: if motions[index] == Motion::Still { 0.0 } else { ROUNDING_RAD },
            rounding_cm: if range_cm > 0.0 || parent.is_none() {
                ROUNDING * distance_cm
            } else {
                0.0
            },
            shell_cm: options.shell_cm * scales[index],
            precision_cm: precisions_cm[index],
        });
    }
    Ok(levers)
}
