//! The tables of a figure's tier. They state what each joint sends, and in which steps.

use glam::{DQuat, DVec3};
use kinepack::SetupError;
use kinepack::quantize::FloatLimits;
use kinepack::schema::{Condition, Field, FieldKind};

use super::levers::{self, ROUNDING};
use super::parts::Parts;
use super::rotation::{self, RotationLanes};
use super::steps::{self, Lever, Steps};
use super::unsent::{self, Unsent};
use super::{FigureError, FigureOptions, Motion};
use crate::{Joint, Skeleton, Transform};

/// How much of their errors the steps use. The rest is for the rounding of `f64`, and for that of
/// a decoded translation, which may be larger than the exact one.
const SLACK: f64 = 1.0 - 1e-7;

/// The properties that all poses of a tier share. Lanes are counted from the tier's first lane.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) joints: Vec<PlannedJoint>,
    pub(super) curves: Vec<PlannedCurve>,
    /// The names of the parts' flags. A part's index is also that of its flag's lane.
    flags: Vec<String>,
    /// The number of lanes.
    pub(super) lanes: usize,
    pub(super) shell_cm: f64,
}

/// A joint with its parent, its bind pose and its lanes.
#[derive(Clone, Debug)]
pub(super) struct PlannedJoint {
    pub(super) name: String,
    /// The index of the part that the joint belongs to.
    pub(super) part: Option<usize>,
    pub(super) parent: Option<usize>,
    pub(super) bind: Transform,
    bind_rotation: DQuat,
    /// The first lane, the limits of each axis, and the range around the bind pose, in cm.
    translation: Option<(usize, [FloatLimits; 3], f64)>,
    rotation: Option<(usize, RotationLanes)>,
    pub(super) precision_cm: f64,
    pub(super) max_error_cm: f64,
}

/// A curve with its lane.
#[derive(Clone, Debug)]
pub(super) struct PlannedCurve {
    name: String,
    /// The index of the part that the curve belongs to.
    pub(super) part: Option<usize>,
    pub(super) lane: usize,
    pub(super) limits: FloatLimits,
}

impl Plan {
    /// Makes the plan of a tier whose precisions are `coarser` times those of the options.
    pub(super) fn new(
        skeleton: &Skeleton,
        options: &FigureOptions,
        coarser: f64,
    ) -> Result<Self, FigureError> {
        let motions = levers::motions(skeleton, options)?;
        let parts = Parts::new(skeleton, options)?;
        let levers = levers::levers(skeleton, options, &motions, coarser)?;
        let steps = steps::choose(&levers)
            .map_err(|(joint, finest_cm)| FigureError::TooFine { joint, finest_cm })?;
        let own: Vec<Steps> = steps
            .iter()
            .zip(&levers)
            .map(|(step, Lever { rounding, .. })| Steps {
                turn_rad: step.turn_rad * SLACK + rounding.turn_rad,
                move_cm: step.move_cm * SLACK + rounding.move_cm,
            })
            .collect();
        let max_errors_cm = steps::errors(&levers, &own);
        let mut lane = options.parts.len();
        let mut joints = Vec::with_capacity(skeleton.len());
        for (index, joint) in skeleton.joints().iter().enumerate() {
            let too_many = |error| FigureError::JointLimits { joint: index, error };
            let translation = translation(joint, motions[index], steps[index]).map_err(too_many)?;
            let rotation = rotation(motions[index], steps[index]).map_err(too_many)?;
            let mut take = |count: usize| {
                lane += count;
                lane - count
            };
            joints.push(PlannedJoint {
                name: joint.name.clone(),
                part: parts.joints[index],
                parent: skeleton.parent(index),
                bind: joint.bind,
                bind_rotation: joint.bind.rotation64(),
                translation: translation.map(|(limits, range_cm)| (take(3), limits, range_cm)),
                rotation: rotation.map(|lanes| (take(lanes.count()), lanes)),
                precision_cm: levers[index].precision_cm,
                max_error_cm: max_errors_cm[index],
            });
        }
        let mut curves = Vec::with_capacity(options.curves.len());
        for (index, curve) in options.curves.iter().enumerate() {
            let [min, max, precision] = [curve.min, curve.max, curve.precision].map(f64::from);
            let step = 2.0 * precision;
            // In a coarse tier, the smallest and the largest value may be the only ones.
            let is_coarser = coarser > 1.0 && max > min;
            let step = if is_coarser { (step * coarser).min(max - min) } else { step };
            let limits = FloatLimits::new(min, max, step)
                .map_err(|error| FigureError::CurveLimits { curve: index, error })?;
            let name = curve.name.clone();
            let part = parts.curves[index];
            curves.push(PlannedCurve { name, part, lane: lane + index, limits });
        }
        let parts = options.parts.iter().enumerate();
        let flags = parts.map(|(index, part)| format!("parts[{index} {}]?", plain(&part.name)));
        let (flags, shell_cm) = (flags.collect(), options.shell_cm);
        let lanes = lane + curves.len();
        Ok(Self { joints, curves, flags, lanes, shell_cm })
    }

    /// Returns the number of parts.
    pub(super) fn parts(&self) -> usize {
        self.flags.len()
    }

    /// Returns the fields: the parts' flags, each joint's translation and rotation, then the curves.
    /// Their names begin with `prefix`. Those that belong to no part have the condition `present`.
    pub(super) fn fields(&self, prefix: &str, present: Option<&Condition>) -> Vec<Field> {
        let field = |name: String, kind, condition: Option<Condition>| {
            let field = Field::new(name, kind);
            match condition {
                Some(condition) => field.with_condition(condition),
                None => field,
            }
        };
        let flag = |part: usize| format!("{prefix}{}", self.flags[part]);
        let mut fields: Vec<Field> = (0..self.parts())
            .map(|part| field(flag(part), FieldKind::Bool, present.cloned()))
            .collect();
        let mut add = |name: String, kind, part: Option<usize>| {
            let of_part = part.map(|part| Condition::new(flag(part), 1..=1));
            let condition = of_part.or_else(|| present.cloned());
            fields.push(field(format!("{prefix}{name}"), kind, condition));
        };
        for (index, joint) in self.joints.iter().enumerate() {
            let name = |part: &str| format!("joints[{index} {}].{part}", plain(&joint.name));
            if let Some((_, limits, _)) = &joint.translation {
                add(name("translation"), FieldKind::Floats(limits.to_vec()), joint.part);
            }
            if let Some((_, lanes)) = &joint.rotation {
                add(name("rotation"), lanes.kind(), joint.part);
            }
        }
        for PlannedCurve { name, part, limits, .. } in &self.curves {
            let name = format!("curves[{}]", plain(name));
            add(name, FieldKind::Floats(vec![*limits]), *part);
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

    /// Returns what the figure does not send of a transform relative to the parent.
    pub(super) fn unsent(&self, transform: &Transform) -> Unsent {
        let moved = transform.translation64() - self.bind.translation64();
        let turned = self.bind_rotation.conjugate() * transform.rotation64();
        let turned_rad = match &self.rotation {
            None => rotation::vector(turned).length(),
            Some((_, RotationLanes::Angle(axis, _))) => {
                2.0 * turned.xyz().reject_from_normalized(*axis).length()
            }
            Some((_, RotationLanes::Vector(_))) => 0.0,
        };
        Unsent {
            moved_cm: if self.translation.is_some() { 0.0 } else { moved.length() },
            scaled_ratio: unsent::scaled_ratio(transform, &self.bind),
            turned_rad,
        }
    }
}

/// Returns the limits of a joint's translation, axis by axis, and the range around its bind pose.
fn translation(
    joint: &Joint,
    motion: Motion,
    steps: Steps,
) -> Result<Option<([FloatLimits; 3], f64)>, SetupError> {
    let Motion::Moves { range_cm } = motion else { return Ok(None) };
    let range_cm = f64::from(range_cm);
    let step = steps.move_cm * per_component();
    let half = (range_cm / step).ceil() * step;
    let [x, y, z] = joint
        .bind
        .translation
        .map(f64::from)
        .map(|middle| FloatLimits::new(middle - half, middle + half, step));
    Ok(Some(([x?, y?, z?], range_cm)))
}

/// Returns the lanes of a joint's rotation.
fn rotation(motion: Motion, steps: Steps) -> Result<Option<RotationLanes>, SetupError> {
    Ok(match motion {
        Motion::Still => None,
        Motion::Hinge(axis) => {
            let axis = DVec3::from_array(axis.map(f64::from)).normalize();
            let limits = rotation::limits(steps.turn_rad * 2.0 * SLACK, true)?;
            Some(RotationLanes::Angle(axis, limits))
        }
        Motion::Turns | Motion::Moves { .. } => {
            let limits = rotation::limits(steps.turn_rad * per_component(), false)?;
            Some(RotationLanes::Vector(limits))
        }
    })
}

/// The step of a component, relative to the error of three: each is off by at most half a step.
fn per_component() -> f64 {
    2.0 / 3.0_f64.sqrt() * SLACK
}

/// A name without the brackets that have a meaning in the names of fields.
fn plain(name: &str) -> String {
    name.replace(['[', ']', '.'], "_")
}
