//! How far two poses are apart, whatever plays them.

use crate::{Skeleton, Transform};

use super::{ErrorOptions, Frame, object_space};

/// The largest distance between two poses of a skeleton over all its joints, in object space, in
/// cm. Allocates.
///
/// # Panics
/// Where one of the poses has fewer joints than the skeleton.
pub fn pose_distance_cm(
    skeleton: &Skeleton,
    one: &[Transform],
    other: &[Transform],
    options: &ErrorOptions,
) -> f64 {
    let object = |pose: &[Transform]| {
        let local: Vec<_> = pose[..skeleton.len()].iter().map(Frame::from).collect();
        let mut object = local.clone();
        object_space(skeleton, &local, &mut object);
        object
    };
    let pairs = object(one).into_iter().zip(object(other)).zip(options.shells_cm(skeleton.len()));
    pairs.map(|((one, other), shell_cm)| one.shell_error_cm(&other, shell_cm)).fold(0.0, f64::max)
}
