//! The channels of an animation that move joints, by joint, with their samplers.

use std::collections::BTreeMap;

use ::gltf::json::Index;
use ::gltf::json::accessor::Accessor;
use ::gltf::json::animation::{Animation, Interpolation, Property};
use ::gltf::json::validation::Checked;

use super::rig::Rig;
use super::{Document, ImportError};

/// A channel that moves a joint.
#[derive(Clone, Copy)]
pub(super) struct Channel {
    /// Index of the animation, and of the channel within it, for errors.
    pub(super) place: (usize, usize),
    pub(super) interpolation: Interpolation,
    /// Accessors of key times and values.
    pub(super) times: Index<Accessor>,
    pub(super) values: Index<Accessor>,
}

impl Channel {
    pub(super) fn bad(&self, document: Document<'_>, reason: &'static str) -> ImportError {
        bad(document, self.place, reason)
    }
}

/// The channels of one joint.
#[derive(Clone, Copy, Default)]
pub(super) struct JointChannels {
    pub(super) rotation: Option<Channel>,
    pub(super) translation: Option<Channel>,
    pub(super) scale: Option<Channel>,
}

impl JointChannels {
    pub(super) fn iter(&self) -> impl Iterator<Item = &Channel> {
        self.rotation.iter().chain(&self.translation).chain(&self.scale)
    }
}

/// The channels of an animation that move joints of the skeleton.
pub(super) fn of(
    document: Document<'_>,
    animation_index: usize,
    animation: &Animation,
    rig: &Rig,
) -> Result<BTreeMap<usize, JointChannels>, ImportError> {
    let mut by_joint: BTreeMap<usize, JointChannels> = BTreeMap::new();
    for (index, channel) in animation.channels.iter().enumerate() {
        let place = (animation_index, index);
        let Checked::Valid(property) = channel.target.path else {
            return Err(bad(document, place, "it moves something unknown"));
        };
        if property == Property::MorphTargetWeights {
            continue;
        }
        let Some(joint) = rig.joint_of(channel.target.node.value()) else { continue };
        let Some(sampler) = animation.samplers.get(channel.sampler.value()) else {
            return Err(bad(document, place, "its sampler does not exist"));
        };
        let Checked::Valid(interpolation) = sampler.interpolation else {
            return Err(bad(document, place, "its interpolation does not exist in glTF"));
        };
        let channels = by_joint.entry(joint).or_default();
        let own = match property {
            Property::Rotation => &mut channels.rotation,
            Property::Scale => &mut channels.scale,
            _ => &mut channels.translation,
        };
        let new = Channel { place, interpolation, times: sampler.input, values: sampler.output };
        if own.replace(new).is_some() {
            return Err(bad(document, place, "another channel moves the same property"));
        }
    }
    Ok(by_joint)
}

fn bad(
    document: Document<'_>,
    (animation, channel): (usize, usize),
    reason: &'static str,
) -> ImportError {
    ImportError::BadChannel { file: document.file.to_owned(), animation, channel, reason }
}
