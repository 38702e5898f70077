//! Weights by joint, for layers that animate a part of the body. A joint's name and a blend depth
//! specify them, as in the bone filters of Unreal Engine's "Layered blend per bone".

use std::fmt;

use crate::{JointMask, Skeleton};

/// A weight for each joint of a skeleton, usually from 0 to 1.
///
/// ```
/// use kinepack_anim::pose::JointWeights;
/// use kinepack_anim::{Joint, Skeleton, Transform};
///
/// let bind = Transform::IDENTITY;
/// let joint = |name: &str, parent| Joint { name: name.into(), parent, bind };
/// let skeleton = Skeleton::new(vec![
///     joint("hips", None),
///     joint("spine", Some(0)),
///     joint("chest", Some(1)),
///     joint("arm", Some(2)),
///     joint("leg", Some(0)),
/// ])?;
/// // The upper body. The weight rises along two joints, so that the back does not break.
/// let upper = JointWeights::none(&skeleton).with_subtree(&skeleton, "spine", 1.0, 2)?;
/// assert_eq!(upper.as_slice(), [0.0, 0.5, 1.0, 1.0, 0.0]);
/// // Except for the arm.
/// let upper = upper.with_joint(&skeleton, "arm", 0.0)?;
/// assert_eq!(upper.weight(3), 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JointWeights {
    weights: Vec<f32>,
}

impl JointWeights {
    /// Calls `weight` for each of `joints` joints, in order. Blends treat weights that are NaN or
    /// below 0 as 0.
    pub fn new(joints: usize, weight: impl FnMut(usize) -> f32) -> Self {
        Self { weights: (0..joints).map(weight).collect() }
    }

    /// Weights of 0 for all joints of a skeleton.
    pub fn none(skeleton: &Skeleton) -> Self {
        Self::new(skeleton.len(), |_| 0.0)
    }

    /// Weights of 1 for all joints of a skeleton.
    pub fn all(skeleton: &Skeleton) -> Self {
        Self::new(skeleton.len(), |_| 1.0)
    }

    /// Weights of 1 for the joints of a mask, and of 0 for the others.
    pub fn from_mask(joints: usize, mask: &JointMask) -> Self {
        Self::new(joints, |joint| if mask.contains(joint) { 1.0 } else { 0.0 })
    }

    /// Sets the weight of one joint.
    ///
    /// # Errors
    /// Returns [`WeightsError`] if the skeleton has no joint of this name, or these weights are for
    /// a different number of joints.
    pub fn with_joint(
        mut self,
        skeleton: &Skeleton,
        name: &str,
        weight: f32,
    ) -> Result<Self, WeightsError> {
        let joint = self.find(skeleton, name)?;
        self.weights[joint] = weight;
        Ok(self)
    }

    /// Sets the weights of a joint and its descendants. They rise in `steps` equal steps: the joint
    /// gets `weight / steps`, its children twice that, and so on up to `weight`. With 0 or 1 steps,
    /// all these joints get `weight`.
    ///
    /// # Errors
    /// Returns [`WeightsError`] if the skeleton has no joint of this name, or these weights are for
    /// a different number of joints.
    pub fn with_subtree(
        mut self,
        skeleton: &Skeleton,
        name: &str,
        weight: f32,
        steps: u16,
    ) -> Result<Self, WeightsError> {
        let root = self.find(skeleton, name)?;
        let steps = u32::from(steps.max(1));
        // `levels` holds the level of each joint within the subtree: 1 for its root, and `None` for
        // joints outside. One pass is enough, because parents precede their children.
        let mut levels: Vec<Option<u32>> = vec![None; skeleton.len()];
        levels[root] = Some(1);
        for joint in root..skeleton.len() {
            if let Some(above) = skeleton.parent(joint).and_then(|parent| levels[parent]) {
                levels[joint] = Some(above + 1);
            }
            if let Some(level) = levels[joint] {
                self.weights[joint] = weight * (level.min(steps) as f32 / steps as f32);
            }
        }
        Ok(self)
    }

    /// Returns the weights by joint.
    pub fn as_slice(&self) -> &[f32] {
        &self.weights
    }

    /// Returns the weights by joint, so that the caller can change them.
    pub fn as_mut_slice(&mut self) -> &mut [f32] {
        &mut self.weights
    }

    /// Returns the weight of a joint, or 0 if the index is out of range.
    #[inline]
    pub fn weight(&self, joint: usize) -> f32 {
        self.weights.get(joint).copied().unwrap_or(0.0)
    }

    fn find(&self, skeleton: &Skeleton, name: &str) -> Result<usize, WeightsError> {
        if self.weights.len() != skeleton.len() {
            let (weights, skeleton) = (self.weights.len(), skeleton.len());
            return Err(WeightsError::OtherJoints { weights, skeleton });
        }
        skeleton.find(name).ok_or_else(|| WeightsError::NoJoint { name: name.to_owned() })
    }
}

/// The reason why weights could not be set.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WeightsError {
    /// The skeleton has no joint of this name.
    NoJoint {
        /// The name that was requested.
        name: String,
    },
    /// The weights are for a skeleton with a different number of joints.
    OtherJoints {
        /// Number of weights.
        weights: usize,
        /// Number of joints of the skeleton.
        skeleton: usize,
    },
}

impl fmt::Display for WeightsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoJoint { name } => write!(f, "the skeleton has no joint named {name:?}"),
            Self::OtherJoints { weights, skeleton } => {
                write!(f, "there are {weights} weights and the skeleton has {skeleton} joints")
            }
        }
    }
}

impl std::error::Error for WeightsError {}
