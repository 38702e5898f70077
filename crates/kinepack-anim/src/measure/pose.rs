//! The distance between two poses, from any clip or codec.

use crate::{Skeleton, Transform};

use super::{ErrorOptions, Frame, object_space};

/// Returns the largest distance between two poses of a skeleton in object space, over all joints,
/// in cm. The result is the largest of [`pose_errors_cm`]. The function allocates.
///
/// ```
/// use kinepack_anim::measure::{ErrorOptions, pose_distance_cm};
/// use kinepack_anim::{Joint, Skeleton, Transform};
///
/// let joint = Joint { name: "root".into(), parent: None, bind: Transform::IDENTITY };
/// let skeleton = Skeleton::new(vec![joint])?;
/// let mut pose = skeleton.bind_pose();
/// pose[0].translation = [3.0, 4.0, 0.0];
/// let (bind, options) = (skeleton.bind_pose(), ErrorOptions::default());
/// let distance = pose_distance_cm(&skeleton, &pose, &bind, &options);
/// assert!((distance - 5.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
/// Panics if one of the poses has fewer joints than the skeleton.
pub fn pose_distance_cm(
    skeleton: &Skeleton,
    one: &[Transform],
    other: &[Transform],
    options: &ErrorOptions,
) -> f64 {
    pose_errors_cm(skeleton, one, other, options).fold(0.0, f64::max)
}

/// Returns the distance between two poses of a skeleton at each joint, in cm. These are the errors
/// that [`measure`](super::measure()) summarizes. With
/// [`Errors::summarize`](super::Errors::summarize), the function can also measure another codec's
/// clips. The function ignores the base of additive clips, and it allocates.
///
/// # Panics
/// Panics if one of the poses has fewer joints than the skeleton.
pub fn pose_errors_cm(
    skeleton: &Skeleton,
    one: &[Transform],
    other: &[Transform],
    options: &ErrorOptions,
) -> impl Iterator<Item = f64> + use<> {
    let object = |pose: &[Transform]| {
        let local: Vec<_> = pose[..skeleton.len()].iter().map(Frame::from).collect();
        let mut object = local.clone();
        object_space(skeleton, &local, &mut object);
        object
    };
    let pairs = object(one).into_iter().zip(object(other)).zip(options.shells_cm(skeleton.len()));
    pairs.map(|((one, other), shell_cm)| one.shell_error_cm(&other, shell_cm))
}
