//! Conventions of BVH files: the unit, and the frames that precede the actual motion.

use super::hierarchy::{BvhChannel, BvhJoint};

/// The convention that a BVH file follows. The CMU motion capture database exists in two
/// conversions by Bruce Hahne.
///
/// ```
/// use kinepack_anim::import::{BvhConvention, ImportOptions};
///
/// // The names look like CMU's, but the file is in cm and has no T-pose.
/// let convention = Some(BvhConvention::AsWritten);
/// let options = ImportOptions { convention, ..ImportOptions::default() };
/// assert_eq!(options.convention.map(BvhConvention::unit_cm), Some(1.0));
/// for convention in BvhConvention::ALL {
///     println!("{}: {} cm a unit", convention.name(), convention.unit_cm());
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BvhConvention {
    /// The file follows no known convention: its unit is a cm, and all frames belong to the motion.
    AsWritten,
    /// The CMU database for the figures of Daz, with joints `hip`, `abdomen` and `chest`. The unit
    /// is a cm, and the first 10 frames lead from a T-pose into the motion.
    CmuDaz,
    /// The CMU database for MotionBuilder, with joints `Hips` and `LHipJoint`. The unit is 5.64444
    /// cm (1 / 0.45 inches), and the first frame may be a T-pose.
    CmuMotionBuilder,
}

impl BvhConvention {
    /// All conventions.
    pub const ALL: [Self; 3] = [Self::AsWritten, Self::CmuDaz, Self::CmuMotionBuilder];

    /// Number of frames that lead from the T-pose into the motion.
    const DAZ_RAMP: usize = 10;

    /// Returns the convention's name for reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AsWritten => "BVH as it is written",
            Self::CmuDaz => "a capture of CMU for Daz",
            Self::CmuMotionBuilder => "a capture of CMU for MotionBuilder",
        }
    }

    /// Returns the size of the file's unit in cm.
    pub const fn unit_cm(self) -> f64 {
        match self {
            Self::AsWritten | Self::CmuDaz => 1.0,
            Self::CmuMotionBuilder => 5.64444,
        }
    }

    /// Returns the number of frames to drop before the motion.
    pub(super) fn drop_frames(self, begins_with_t_pose: bool) -> usize {
        match self {
            Self::AsWritten => 0,
            Self::CmuDaz => Self::DAZ_RAMP,
            Self::CmuMotionBuilder => usize::from(begins_with_t_pose),
        }
    }

    /// Detects the convention from joint names. For Daz, the first frame must also be a T-pose, and
    /// frames must follow the ramp.
    pub(super) fn detect(joints: &[BvhJoint], frames: u64, begins_with_t_pose: bool) -> Self {
        let is = |index: Option<usize>, name: &str| {
            index.is_some_and(|index| joints[index].name == name.as_bytes())
        };
        let has = |name: &str, parent: &str| {
            joints.iter().any(|joint| joint.name == name.as_bytes() && is(joint.parent, parent))
        };
        if is(Some(0), "hip")
            && has("abdomen", "hip")
            && has("chest", "abdomen")
            && begins_with_t_pose
            && frames > Self::DAZ_RAMP as u64
        {
            Self::CmuDaz
        } else if is(Some(0), "Hips") && has("LHipJoint", "Hips") {
            Self::CmuMotionBuilder
        } else {
            Self::AsWritten
        }
    }
}

/// Returns whether a frame does not rotate the first root at all. Captured frames always rotate it.
pub(super) fn is_t_pose(joints: &[BvhJoint], numbers: &[f64]) -> bool {
    let channels = joints.first().map_or([].as_slice(), |root| root.channels.as_slice());
    let mut turns = channels
        .iter()
        .zip(numbers)
        .filter(|(channel, _)| matches!(channel, BvhChannel::Rotation(_)));
    turns.all(|(_, degrees)| *degrees == 0.0)
}
