//! The skeleton of all people, with z up and the face towards y.

use kinepack_anim::{Joint, Skeleton, SkeletonError, Transform};

pub(crate) const JOINTS: usize = 20;
// The indices of some joints, among them the first joint of each arm and leg.
pub(crate) const HIPS: usize = 0;
pub(crate) const HEAD: usize = 4;
pub(crate) const JAW: usize = 5;
pub(crate) const ARMS: [usize; 2] = [6, 10];
pub(crate) const LEGS: [usize; 2] = [14, 17];
pub(crate) const SHINS: [usize; 2] = [LEGS[0] + 1, LEGS[1] + 1];

/// Each joint with its parent, and its place relative to the parent in cm.
const BONES: [(&str, Option<u16>, [f32; 3]); JOINTS] = [
    ("hips", None, [0.0, 0.0, 95.0]),
    ("spine", Some(0), [0.0, 0.0, 12.0]),
    ("chest", Some(1), [0.0, 0.0, 18.0]),
    ("neck", Some(2), [0.0, 0.0, 24.0]),
    ("head", Some(3), [0.0, 0.0, 10.0]),
    ("jaw", Some(4), [0.0, 3.0, 4.0]),
    ("left shoulder", Some(2), [-4.0, 0.0, 18.0]),
    ("left upper arm", Some(6), [-14.0, 0.0, 0.0]),
    ("left forearm", Some(7), [0.0, 0.0, -28.0]),
    ("left hand", Some(8), [0.0, 0.0, -26.0]),
    ("right shoulder", Some(2), [4.0, 0.0, 18.0]),
    ("right upper arm", Some(10), [14.0, 0.0, 0.0]),
    ("right forearm", Some(11), [0.0, 0.0, -28.0]),
    ("right hand", Some(12), [0.0, 0.0, -26.0]),
    ("left thigh", Some(0), [-10.0, 0.0, -4.0]),
    ("left shin", Some(14), [0.0, 0.0, -43.0]),
    ("left foot", Some(15), [0.0, 0.0, -42.0]),
    ("right thigh", Some(0), [10.0, 0.0, -4.0]),
    ("right shin", Some(17), [0.0, 0.0, -43.0]),
    ("right foot", Some(18), [0.0, 0.0, -42.0]),
];

pub(crate) fn skeleton() -> Result<Skeleton, SkeletonError> {
    let joint = |((name, parent, _), bind): (&(&str, _, _), _)| Joint {
        name: (*name).to_owned(),
        parent: *parent,
        bind,
    };
    Skeleton::new(BONES.iter().zip(bind_pose()).map(joint).collect())
}

/// Returns the pose of somebody who stands upright with hanging arms.
pub(crate) fn bind_pose() -> [Transform; JOINTS] {
    BONES.map(|(_, _, translation)| Transform { translation, ..Transform::IDENTITY })
}
