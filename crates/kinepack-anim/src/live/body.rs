//! Turns the frames of VMC into poses of a skeleton.
//!
//! VMC sends rotations relative to the T-pose of a normalized VRM model, in which no bone is
//! rotated. It sends them in Unity's left-handed space, with y up, in metres. A mirror makes it
//! right-handed. VRM 1.0 faces +z and mirrors x, as does a body without a model. VRM 0.x faces −z
//! and mirrors z. The side of the left arm shows which of the two a model is.
//!
//! The root of the model and the hips become one joint, because only their product is visible.

use std::fmt;

use glam::{DQuat, DVec3};

use super::bones::{BONE_COUNT, BONES};
use super::vmc::{BonePose, VmcFrame};
use crate::figure::{FigureCurve, FigureOptions, Motion};
use crate::measure::Frame;
use crate::{CM_PER_M, Joint, Skeleton, SkeletonError, Transform};

/// How far the hips may be from their rest, in cm.
const HIPS_RANGE_CM: f32 = 10_000.0;
/// The index of the hips.
const HIPS: usize = 0;

/// The reason why a frame of VMC gives no body.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum VmcBodyError {
    /// The sender does not send bones that every human has.
    BonesNotSent {
        /// The names of the bones.
        bones: Vec<&'static str>,
    },
    /// The given skeleton lacks joints that every human has.
    JointsMissing {
        /// The names of the joints, as in VRM 1.0.
        joints: Vec<String>,
    },
    /// All bones are at the place of their parents: the sender sends rotations alone. Give the
    /// skeleton of its model.
    NoPositions,
    /// The bones make no skeleton.
    Skeleton(SkeletonError),
}

impl fmt::Display for VmcBodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BonesNotSent { bones } => {
                write!(f, "the sender does not send the bones {}", bones.join(", "))
            }
            Self::JointsMissing { joints } => {
                write!(f, "the skeleton lacks the joints {}", joints.join(", "))
            }
            Self::NoPositions => {
                write!(f, "the sender sends rotations alone, without the lengths of the bones")
            }
            Self::Skeleton(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for VmcBodyError {}

/// The axis that is mirrored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mirror {
    X,
    Z,
}

impl Mirror {
    fn position_cm(self, [x, y, z]: [f32; 3]) -> DVec3 {
        let [x, y, z] = [x, y, z].map(|m| f64::from(m * CM_PER_M));
        match self {
            Self::X => DVec3::new(-x, y, z),
            Self::Z => DVec3::new(x, y, -z),
        }
    }

    fn rotation(self, rotation: [f32; 4]) -> DQuat {
        let [x, y, z, w] = rotation.map(f64::from);
        match self {
            Self::X => DQuat::from_xyzw(x, -y, -z, w),
            Self::Z => DQuat::from_xyzw(-x, -y, z, w),
        }
        .normalize()
    }
}

/// A skeleton with the joints of the bones that a sender moves.
#[derive(Clone, Debug)]
pub struct VmcBody {
    skeleton: Skeleton,
    mirror: Mirror,
    /// The joint of each bone.
    joints: [Option<usize>; BONE_COUNT],
    /// The joints at rest, in model space.
    rest: Vec<Frame>,
    /// The names of the blend shapes, sorted.
    curves: Vec<String>,
}

impl VmcBody {
    /// Makes the body of a frame without a model. The positions of the bones become the skeleton,
    /// and the blend shapes of the frame its curves. Positions other than those of the hips must
    /// not change later: they are not read again.
    ///
    /// # Errors
    /// Returns [`VmcBodyError`] if the frame lacks a required bone, or has no positions.
    pub fn from_frame(frame: &VmcFrame) -> Result<Self, VmcBodyError> {
        check_sent(frame)?;
        let others = frame.bones.iter().skip(1).flatten();
        if others.clone().all(|bone| bone.position_m == [0.0; 3]) {
            return Err(VmcBodyError::NoPositions);
        }
        let mut list: Vec<Joint> = Vec::new();
        let mut joints = [None; BONE_COUNT];
        for (index, bone) in BONES.iter().enumerate() {
            let Some(pose) = &frame.bones[index] else { continue };
            let mut above = bone.parent;
            while let Some(missing) = above.filter(|above| joints[*above].is_none()) {
                above = BONES[missing].parent;
            }
            let parent = above.and_then(|above| joints[above]).map(|joint| joint as u16);
            let translation = Mirror::X.position_cm(pose.position_m).to_array().map(|c| c as f32);
            joints[index] = Some(list.len());
            let bind = Transform { translation, ..Transform::IDENTITY };
            list.push(Joint { name: bone.vrm_name(), parent, bind });
        }
        let skeleton = Skeleton::new(list).map_err(VmcBodyError::Skeleton)?;
        Ok(Self::new(skeleton, Mirror::X, joints, frame))
    }

    /// Makes the body of a frame with the skeleton of the sender's model, whose joints of humans
    /// have the names of VRM 1.0 (see
    /// [`humanoid_names`](crate::import::ImportOptions::humanoid_names)). Joints of other names
    /// stay at rest.
    ///
    /// # Errors
    /// Returns [`VmcBodyError::JointsMissing`] if the skeleton lacks a joint that every human has.
    pub fn from_skeleton(skeleton: Skeleton, frame: &VmcFrame) -> Result<Self, VmcBodyError> {
        let joints: [Option<usize>; BONE_COUNT] =
            std::array::from_fn(|bone| skeleton.find(&BONES[bone].vrm_name()));
        let missing: Vec<String> = BONES
            .iter()
            .zip(&joints)
            .filter(|(bone, joint)| bone.is_required && joint.is_none())
            .map(|(bone, _)| bone.vrm_name())
            .collect();
        if !missing.is_empty() {
            return Err(VmcBodyError::JointsMissing { joints: missing });
        }
        let mut body = Self::new(skeleton, Mirror::X, joints, frame);
        let side = |name: &str| {
            let joint = body.skeleton.find(name);
            joint.map_or(0.0, |joint| body.rest[joint].translation.x)
        };
        if side("leftUpperArm") < side("rightUpperArm") {
            body.mirror = Mirror::Z;
        }
        Ok(body)
    }

    fn new(
        skeleton: Skeleton,
        mirror: Mirror,
        joints: [Option<usize>; BONE_COUNT],
        frame: &VmcFrame,
    ) -> Self {
        let mut rest: Vec<Frame> = Vec::with_capacity(skeleton.len());
        for (index, joint) in skeleton.joints().iter().enumerate() {
            let local = Frame::from(&joint.bind);
            rest.push(skeleton.parent(index).map_or(local, |parent| rest[parent].child(&local)));
        }
        Self { skeleton, mirror, joints, rest, curves: frame.curves.keys().cloned().collect() }
    }

    /// The skeleton, for both sides.
    pub fn skeleton(&self) -> &Skeleton {
        &self.skeleton
    }

    /// Returns the options of the body's figure: the hips move within 100 m, the bones turn, and
    /// joints that are no bones stay still. Blend shapes are curves from 0 to 1, exact to 0.01.
    pub fn options(&self) -> FigureOptions {
        let hips = self.joints[HIPS];
        let motion = |joint: usize| match self.joints.contains(&Some(joint)) {
            _ if hips == Some(joint) => Some(Motion::Moves { range_cm: HIPS_RANGE_CM }),
            true => None,
            false => Some(Motion::Still),
        };
        let motions = (0..self.skeleton.len()).filter_map(|joint| Some((joint, motion(joint)?)));
        let curve =
            |name: &String| FigureCurve { name: name.clone(), min: 0.0, max: 1.0, precision: 0.01 };
        FigureOptions {
            motions: motions.collect(),
            curves: self.curves.iter().map(curve).collect(),
            ..FigureOptions::default()
        }
    }

    /// Returns the names of the bones and the blend shapes of a frame that the body does not have.
    /// A body without a model has only those of the frame that it was made from.
    pub fn missing<'a>(&'a self, frame: &'a VmcFrame) -> impl Iterator<Item = &'a str> {
        let bones = BONES.iter().zip(&frame.bones).zip(&self.joints);
        let bones = bones.filter(|((_, sent), joint)| sent.is_some() && joint.is_none());
        let own = &self.curves;
        let is_missing = |name: &&str| own.binary_search_by(|own| own.as_str().cmp(name)).is_err();
        let curves = frame.curves.keys().map(String::as_str).filter(is_missing);
        bones.map(|((bone, _), _)| bone.name).chain(curves)
    }

    /// Writes the pose of a frame, relative to the parents, and the values of the curves. Bones
    /// that the frame lacks stay at rest. Curves are limited to their range.
    pub fn pose(&self, frame: &VmcFrame, pose: &mut Vec<Transform>, curves: &mut Vec<f32>) {
        pose.clear();
        pose.extend(self.skeleton.joints().iter().map(|joint| joint.bind));
        for (bone, joint) in self.joints.iter().enumerate() {
            let (Some(sent), Some(joint)) = (&frame.bones[bone], *joint) else { continue };
            let own = &mut pose[joint];
            let mut turn = self.mirror.rotation(sent.rotation);
            let above = self.skeleton.parent(joint).map(|parent| self.rest[parent]);
            let above = above.unwrap_or(Frame::IDENTITY);
            if bone == HIPS {
                let root = self.mirror.rotation(frame.root.rotation);
                turn = root * turn;
                let at = self.hips_cm(frame, sent, root) - above.translation;
                let local = above.rotation.conjugate() * at / above.scale;
                own.translation = local.to_array().map(|c| c as f32);
            }
            // The turn is about the axes of the model, and the joint may be rotated at rest.
            let local = above.rotation.conjugate() * turn * self.rest[joint].rotation;
            own.rotation = local.normalize().to_array().map(|c| c as f32);
        }
        curves.clear();
        curves.extend(
            self.curves
                .iter()
                .map(|name| frame.curves.get(name).map_or(0.0, |value| value.clamp(0.0, 1.0))),
        );
    }

    /// The place of the hips in model space. A sender of rotations alone leaves them at zero; then
    /// they are at rest.
    fn hips_cm(&self, frame: &VmcFrame, sent: &BonePose, root: DQuat) -> DVec3 {
        let own = match sent.position_m {
            [0.0, 0.0, 0.0] => {
                self.joints[HIPS].map_or(DVec3::ZERO, |hips| self.rest[hips].translation)
            }
            position_m => self.mirror.position_cm(position_m),
        };
        self.mirror.position_cm(frame.root.position_m) + root * own
    }
}

fn check_sent(frame: &VmcFrame) -> Result<(), VmcBodyError> {
    let bones: Vec<&str> = BONES
        .iter()
        .zip(&frame.bones)
        .filter(|(bone, pose)| bone.is_required && pose.is_none())
        .map(|(bone, _)| bone.name)
        .collect();
    if bones.is_empty() { Ok(()) } else { Err(VmcBodyError::BonesNotSent { bones }) }
}
