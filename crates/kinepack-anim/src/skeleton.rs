//! The joints that a clip animates: names, parents and the bind pose. The bind pose gives each
//! track's default value.

use std::sync::Arc;

use crate::transform::check_pose;
use crate::{MAX_JOINTS, SkeletonError, Transform};

/// One joint of a [`Skeleton`].
///
/// ```
/// use kinepack_anim::{Joint, Transform};
///
/// // A hand 25 cm from the elbow, which is joint 2 of the skeleton.
/// let bind = Transform { translation: [25.0, 0.0, 0.0], ..Transform::IDENTITY };
/// let hand = Joint { name: "hand".into(), parent: Some(2), bind };
/// assert_eq!(hand.bind.translation_m(), [0.25, 0.0, 0.0]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// The name in the file. It may be empty and need not be unique.
    pub name: String,
    /// Index of the parent, which is lower than the joint's own index. The value is `None` for a
    /// root.
    pub parent: Option<u16>,
    /// The transform in the bind pose. A track that keeps this value throughout costs only the bits
    /// that flag it as a default.
    pub bind: Transform,
}

/// The joints of a character. Every parent precedes its children.
///
/// ```
/// use kinepack_anim::{Joint, Skeleton, Transform};
///
/// let joint = |name: &str, parent| Joint { name: name.into(), parent, bind: Transform::IDENTITY };
/// let skeleton = Skeleton::new(vec![joint("hips", None), joint("chest", Some(0))])?;
/// assert_eq!(skeleton.find("chest"), Some(1));
/// assert_eq!(skeleton.parent(1), Some(0));
///
/// // A clip stores only the skeleton's hash. The game loads the skeleton from a file of its own.
/// let loaded = Skeleton::from_bytes(&skeleton.to_bytes())?;
/// assert_eq!(loaded.hash(), skeleton.hash());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Skeleton {
    joints: Vec<Joint>,
    bind: Arc<[Transform]>,
}

impl Skeleton {
    /// Returns a skeleton of `joints`.
    ///
    /// # Errors
    /// Returns [`SkeletonError`] if there are more than [`MAX_JOINTS`] joints, a parent does not
    /// come before its child, or a bind transform is not finite.
    pub fn new(joints: Vec<Joint>) -> Result<Self, SkeletonError> {
        if joints.len() > MAX_JOINTS {
            return Err(SkeletonError::TooManyJoints { joints: joints.len() });
        }
        for (index, joint) in joints.iter().enumerate() {
            if joint.parent.is_some_and(|parent| usize::from(parent) >= index) {
                return Err(SkeletonError::ParentAfterChild { joint: index });
            }
            if !joint.bind.is_valid() {
                return Err(SkeletonError::BadBindPose { joint: index });
            }
        }
        let bind = joints.iter().map(|joint| joint.bind).collect();
        Ok(Self { joints, bind })
    }

    /// Returns the joints, parents first.
    pub fn joints(&self) -> &[Joint] {
        &self.joints
    }

    /// Returns the number of joints.
    pub fn len(&self) -> usize {
        self.joints.len()
    }

    /// Returns whether there are no joints.
    pub fn is_empty(&self) -> bool {
        self.joints.is_empty()
    }

    /// Returns the parent of a joint.
    pub fn parent(&self, joint: usize) -> Option<usize> {
        self.joints[joint].parent.map(usize::from)
    }

    /// Returns the first joint whose name is `name`.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.joints.iter().position(|joint| joint.name == name)
    }

    #[cfg(feature = "offline")]
    /// For each joint, the joint itself and all its descendants, parents first.
    pub(crate) fn below(&self) -> Vec<Vec<usize>> {
        let mut below: Vec<Vec<usize>> = (0..self.len()).map(|joint| vec![joint]).collect();
        for joint in 0..self.len() {
            let mut above = self.parent(joint);
            while let Some(ancestor) = above {
                below[ancestor].push(joint);
                above = self.parent(ancestor);
            }
        }
        below
    }

    /// Returns the bind pose: one transform per joint.
    pub fn bind_pose(&self) -> Vec<Transform> {
        self.bind.to_vec()
    }

    /// Returns the bind pose in memory that the skeleton and its players share.
    pub fn shared_bind_pose(&self) -> Arc<[Transform]> {
        Arc::clone(&self.bind)
    }

    /// Converts a pose to model space. `pose` has transforms relative to the parent, and `model`
    /// gets transforms relative to the origin. Scales multiply component by component, as
    /// [`Transform`] describes. Units do not change. The function allocates nothing and does not
    /// normalize rotations.
    ///
    /// ```
    /// use kinepack_anim::{Joint, Skeleton, Transform};
    ///
    /// let bind = Transform::IDENTITY;
    /// let joint = |name: &str, parent| Joint { name: name.into(), parent, bind };
    /// let skeleton = Skeleton::new(vec![joint("wheel", None), joint("lamp", Some(0))])?;
    /// let mut pose = skeleton.bind_pose();
    /// pose[0].rotation = [0.0, 0.0, 1.0, 0.0]; // half a turn
    /// pose[1].translation = [30.0, 0.0, 0.0];
    /// let mut model = skeleton.bind_pose();
    /// skeleton.model_pose(&pose, &mut model);
    /// assert_eq!(model[1].translation, [-30.0, 0.0, 0.0]);
    /// # Ok::<(), kinepack_anim::SkeletonError>(())
    /// ```
    ///
    /// # Panics
    /// Panics if `pose` or `model` and the skeleton have different numbers of joints.
    #[track_caller]
    pub fn model_pose(&self, pose: &[Transform], model: &mut [Transform]) {
        check_pose("the pose", pose.len(), "the skeleton", self.len());
        check_pose("the model pose", model.len(), "the skeleton", self.len());
        for (joint, local) in pose.iter().enumerate() {
            model[joint] = self.parent(joint).map_or(*local, |parent| model[parent].child(local));
        }
    }
}
