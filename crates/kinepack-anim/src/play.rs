//! The basis of playback in both schemes: a clip's basic facts, and the base pose that the clip's
//! tracks overwrite.

use crate::{PlayError, Skeleton, TrackId, Transform};

/// The number of joints, the sample times and the skeleton of a compressed clip.
///
/// ```
/// use kinepack_anim::ClipInfo;
///
/// let info = ClipInfo { joints: 60, samples: 31, rate_hz: 30.0, skeleton_hash: 0 };
/// assert_eq!(info.duration_s(), 1.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClipInfo {
    /// Number of joints.
    pub joints: usize,
    /// Number of sample times of the raw clip that the clip was built from.
    pub samples: usize,
    /// Samples per second.
    pub rate_hz: f32,
    /// [`Skeleton::hash`] of the skeleton that the clip was built for.
    pub skeleton_hash: u64,
}

impl ClipInfo {
    /// Seconds from the first sample to the last.
    pub fn duration_s(&self) -> f32 {
        (self.samples - 1) as f32 / self.rate_hz
    }

    /// Checks that a clip was built for `skeleton`.
    pub(crate) fn check_skeleton(&self, skeleton: &Skeleton) -> Result<(), PlayError> {
        self.check_joints(skeleton.len())?;
        match skeleton.hash() {
            hash if hash == self.skeleton_hash => Ok(()),
            hash => Err(PlayError::OtherSkeleton { clip: self.skeleton_hash, skeleton: hash }),
        }
    }

    /// Returns the pose with which every sample starts: `bind`, with the clip's constant tracks
    /// applied.
    pub(crate) fn base_pose(
        &self,
        bind: &[Transform],
        constants: impl IntoIterator<Item = (TrackId, [f32; 4])>,
    ) -> Result<Vec<Transform>, PlayError> {
        self.check_joints(bind.len())?;
        let mut pose = bind.to_vec();
        for (TrackId { joint, channel }, value) in constants {
            pose[usize::from(joint)].set(channel, value);
        }
        Ok(pose)
    }

    pub(crate) fn check_joints(&self, joints: usize) -> Result<(), PlayError> {
        if joints == self.joints {
            Ok(())
        } else {
            Err(PlayError::OtherJoints { clip: self.joints, skeleton: joints })
        }
    }
}
