//! The joints of a BVH file, from `HIERARCHY` to `MOTION`. Joints may nest to any depth. The reader
//! uses an explicit stack, which never holds more joints than a skeleton can have.

use glam::{DQuat, DVec3};

use super::ImportError;
use super::tokens::Tokens;
use crate::import::budget::Budget;
use crate::{Joint, MAX_JOINTS, SkeletonError, Transform};

/// The property that one number of a frame animates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BvhChannel {
    /// The translation along an axis, which replaces that component of the joint's offset.
    Position(usize),
    /// A turn around an axis, in degrees.
    Rotation(usize),
}

impl BvhChannel {
    const ALL: [(&'static str, Self); 6] = [
        ("Xposition", Self::Position(0)),
        ("Yposition", Self::Position(1)),
        ("Zposition", Self::Position(2)),
        ("Xrotation", Self::Rotation(0)),
        ("Yrotation", Self::Rotation(1)),
        ("Zrotation", Self::Rotation(2)),
    ];
}

pub(super) struct BvhJoint {
    /// The joint's name: bytes of the file at first, and UTF-8 after
    /// [`decode`](super::names::decode).
    pub(super) name: Vec<u8>,
    /// Index of the parent, which precedes the joint.
    pub(super) parent: Option<usize>,
    /// The joint's offset from its parent, in the file's unit.
    offset: DVec3,
    pub(super) channels: Vec<BvhChannel>,
}

impl BvhJoint {
    /// Returns the joint's transform, if its channels have the numbers `numbers`.
    pub(super) fn pose(&self, numbers: &[f64], unit_cm: f64) -> Transform {
        let (mut rotation, mut translation) = (DQuat::IDENTITY, self.offset);
        for (channel, number) in self.channels.iter().zip(numbers) {
            match *channel {
                BvhChannel::Position(axis) => translation[axis] = *number,
                BvhChannel::Rotation(axis) => {
                    rotation *= DQuat::from_axis_angle(DVec3::AXES[axis], number.to_radians());
                }
            }
        }
        Transform {
            rotation: rotation.to_array().map(|c| c as f32),
            translation: (translation * unit_cm).to_array().map(|c| c as f32),
            ..Transform::IDENTITY
        }
    }

    pub(super) fn into_joint(self, unit_cm: f64) -> Joint {
        // Without the numbers of a frame, the pose is the joint's offset alone.
        let bind = self.pose(&[], unit_cm);
        let name = String::from_utf8(self.name).unwrap_or_default();
        // Parents are joints of the file, so there are at most `MAX_JOINTS` of them.
        Joint { name, parent: self.parent.map(|parent| parent as u16), bind }
    }
}

/// An upper bound on the memory that a joint takes here and in the skeleton, without its name. A
/// growing list may have up to three times the capacity that it needs.
const JOINT_BYTES: usize = 1024;
const _: () = assert!(
    3 * (size_of::<BvhJoint>() + size_of::<Open>() + 8 * size_of::<BvhChannel>())
        + 2 * size_of::<Joint>()
        + 100
        < JOINT_BYTES
);

/// The element that the next closing brace ends.
enum Open {
    Joint { index: usize, has_offset: bool, has_channels: bool },
    EndSite,
}

/// Reads all joints and the word `MOTION`. Parents come before their children. The joints are in
/// the order of the file, which is also the order of the channels.
pub(super) fn read(
    tokens: &mut Tokens<'_>,
    budget: &mut Budget,
) -> Result<Vec<BvhJoint>, ImportError> {
    tokens.expect("HIERARCHY")?;
    let mut joints: Vec<BvhJoint> = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    loop {
        match open.last_mut() {
            None => {
                if tokens.take("ROOT") {
                    open.push(begin(tokens, &mut joints, None, budget)?);
                } else if !joints.is_empty() && tokens.take("MOTION") {
                    return Ok(joints);
                } else {
                    return Err(tokens.unexpected(if joints.is_empty() {
                        "ROOT"
                    } else {
                        "MOTION or ROOT"
                    }));
                }
            }
            Some(Open::EndSite) => {
                // The end of a bone has no motion, so its offset is skipped.
                tokens.expect("OFFSET")?;
                offset(tokens)?;
                tokens.expect("}")?;
                open.pop();
            }
            Some(Open::Joint { index, has_offset, has_channels }) => {
                if !*has_offset && tokens.take("OFFSET") {
                    joints[*index].offset = offset(tokens)?;
                    *has_offset = true;
                } else if !*has_offset {
                    return Err(tokens.unexpected("OFFSET"));
                } else if !*has_channels && tokens.take("CHANNELS") {
                    joints[*index].channels = channels(tokens)?;
                    *has_channels = true;
                } else if tokens.take("JOINT") {
                    let parent = Some(*index);
                    open.push(begin(tokens, &mut joints, parent, budget)?);
                } else if tokens.take("End") {
                    tokens.expect("Site")?;
                    // Some files name the end site.
                    tokens.skip_name();
                    tokens.expect("{")?;
                    open.push(Open::EndSite);
                } else if tokens.take("}") {
                    open.pop();
                } else {
                    let first = if *has_channels { "" } else { "CHANNELS, " };
                    return Err(tokens.unexpected(&format!("{first}JOINT, End Site or }}")));
                }
            }
        }
    }
}

fn begin(
    tokens: &mut Tokens<'_>,
    joints: &mut Vec<BvhJoint>,
    parent: Option<usize>,
    budget: &mut Budget,
) -> Result<Open, ImportError> {
    if joints.len() == MAX_JOINTS {
        let error = SkeletonError::TooManyJoints { joints: MAX_JOINTS + 1 };
        return Err(ImportError::Skeleton { file: tokens.file().to_owned(), error });
    }
    budget.take((JOINT_BYTES + tokens.name_bytes()) as u64)?;
    let name = tokens.name();
    tokens.expect("{")?;
    let index = joints.len();
    joints.push(BvhJoint { name, parent, offset: DVec3::ZERO, channels: Vec::new() });
    Ok(Open::Joint { index, has_offset: false, has_channels: false })
}

fn offset(tokens: &mut Tokens<'_>) -> Result<DVec3, ImportError> {
    let mut offset = DVec3::ZERO;
    for axis in 0..3 {
        offset[axis] = tokens.number(|| "a number of an offset".to_owned())?;
    }
    Ok(offset)
}

fn channels(tokens: &mut Tokens<'_>) -> Result<Vec<BvhChannel>, ImportError> {
    let count = tokens.count("a number of channels from 0 to 6", 6)?;
    let mut channels = Vec::new();
    for _ in 0..count {
        let found = BvhChannel::ALL.iter().find(|(name, _)| tokens.take(name));
        let Some(&(_, channel)) = found else {
            return Err(tokens.unexpected("a channel: Xposition, Yrotation and so on"));
        };
        channels.push(channel);
    }
    Ok(channels)
}
