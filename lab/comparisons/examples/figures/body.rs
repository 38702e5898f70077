//! Finds a body in recordings. A body has a rest pose, and the set of joints that move.
//!
//! Both sides of every codec here know the body before the first packet. The body comes from the
//! recordings that train the profile, never from the recording that is measured.

use kinepack_anim::figure::{Figure, FigureOptions, Motion};
use kinepack_anim::{Skeleton, Transform};

use crate::Outcome;
use crate::recordings::Recording;

/// A joint that turns by less than this angle, in radians, stays still.
const STILL_RAD: f64 = 1e-3;

/// A body's rest pose, and how the body moves.
pub(crate) struct Body {
    /// The rest pose is the mean of the recordings.
    pub(crate) skeleton: Skeleton,
    /// The root and the joints that turn, in their order.
    pub(crate) moving: Vec<usize>,
}

impl Body {
    /// Makes the body that these recordings have in common.
    pub(crate) fn of(recordings: &[&Recording]) -> Outcome<Self> {
        let first = recordings.first().ok_or("a body needs another recording")?;
        let mut joints = first.skeleton().joints().to_vec();
        for (index, joint) in joints.iter_mut().enumerate() {
            joint.bind.rotation = mean_rotation(all_poses(recordings).map(|pose| &pose[index]));
        }
        let skeleton = Skeleton::new(joints)?;
        let moves = |joint: &usize| {
            let rest = skeleton.joints()[*joint].bind.rotation;
            skeleton.parent(*joint).is_none()
                || all_poses(recordings).any(|pose| turns(rest, pose[*joint].rotation))
        };
        let moving = (0..skeleton.len()).filter(moves).collect();
        Ok(Self { skeleton, moving })
    }

    /// Checks that the recording moves no other joints.
    pub(crate) fn check(&self, recording: &Recording) -> Outcome<()> {
        for (index, joint) in self.skeleton.joints().iter().enumerate() {
            let is_still = !self.moving.contains(&index);
            if is_still && recording.poses().any(|p| turns(joint.bind.rotation, p[index].rotation))
            {
                let (recording, joint) = (recording.name(), &joint.name);
                return Err(format!("{joint} moves in {recording}, but in no other one").into());
            }
        }
        Ok(())
    }

    /// Makes the figure of this body with the precision `precision_cm`.
    pub(crate) fn figure(&self, precision_cm: f64) -> Outcome<Figure> {
        self.figure_of_tiers(precision_cm, &[])
    }

    /// Makes the figure of this body with further tiers that are `coarser`.
    pub(crate) fn figure_of_tiers(&self, precision_cm: f64, coarser: &[f64]) -> Outcome<Figure> {
        let still = (0..self.skeleton.len()).filter(|joint| !self.moving.contains(joint));
        let motions = still.map(|joint| (joint, Motion::Still)).collect();
        let coarser = coarser.to_vec();
        let options = FigureOptions { precision_cm, motions, coarser, ..FigureOptions::default() };
        Ok(Figure::new(&self.skeleton, &options)?)
    }
}

fn all_poses<'a>(recordings: &'a [&Recording]) -> impl Iterator<Item = &'a [Transform]> {
    recordings.iter().flat_map(|recording| recording.poses())
}

/// Returns whether two rotations differ. The chord of the quaternions is half of the angle between
/// them, to within the square of so small an angle.
fn turns(rest: [f32; 4], rotation: [f32; 4]) -> bool {
    let chord = |sign: f64| {
        let pairs = rest.iter().zip(rotation).map(|(a, b)| f64::from(*a) - sign * f64::from(b));
        pairs.map(|difference| difference * difference).sum::<f64>().sqrt()
    };
    2.0 * chord(1.0).min(chord(-1.0)) > STILL_RAD
}

/// Returns the normalized sum of quaternions. Each quaternion gets the sign that is nearer to the
/// first one.
fn mean_rotation<'a>(mut transforms: impl Iterator<Item = &'a Transform>) -> [f32; 4] {
    let Some(first) = transforms.next() else { return Transform::IDENTITY.rotation };
    let mut sum = first.rotation.map(f64::from);
    for transform in transforms {
        let rotation = transform.rotation.map(f64::from);
        let dot: f64 = rotation.iter().zip(first.rotation).map(|(a, b)| a * f64::from(b)).sum();
        sum.iter_mut().zip(rotation).for_each(|(sum, number)| *sum += number * dot.signum());
    }
    let length = sum.iter().map(|number| number * number).sum::<f64>().sqrt();
    sum.map(|number| (number / length) as f32)
}
