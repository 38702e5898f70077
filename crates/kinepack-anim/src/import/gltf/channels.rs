//! The channels of an animation with their samplers: those that move joints, by joint, and those
//! that change the weights of morph targets.

use std::collections::BTreeMap;

use super::json::{self, Animation, Interpolation};
use super::left_out::Collector;
use super::{Document, ImportError, LeftOutKind};
use crate::import::rig::Rig;

/// A channel that is sampled.
#[derive(Clone, Copy)]
pub(super) struct Channel {
    /// Index of the animation, and of the channel within it, for errors.
    pub(super) place: (usize, usize),
    pub(super) interpolation: Interpolation,
    /// Accessors of key times and values.
    pub(super) times: usize,
    pub(super) values: usize,
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

/// A channel of the weights of a node's morph targets.
#[derive(Clone, Copy)]
pub(super) struct Weights {
    pub(super) channel: Channel,
    /// The number of targets, at least one.
    pub(super) targets: usize,
}

/// The channels of an animation that are read.
#[derive(Default)]
pub(super) struct Channels {
    pub(super) joints: BTreeMap<usize, JointChannels>,
    /// By node.
    pub(super) weights: BTreeMap<usize, Weights>,
}

impl Channels {
    pub(super) fn is_empty(&self) -> bool {
        self.joints.is_empty() && self.weights.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Channel> {
        self.joints
            .values()
            .flat_map(|joint| joint.rotation.iter().chain(&joint.translation).chain(&joint.scale))
            .chain(self.weights.values().map(|weights| &weights.channel))
    }
}

/// What a channel moves.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Property {
    Rotation,
    Translation,
    Scale,
    Weights,
}

impl Property {
    /// `None` for an unknown path.
    pub(super) fn of(target: &json::Target) -> Option<Self> {
        Some(match &*target.path {
            "rotation" => Self::Rotation,
            "translation" => Self::Translation,
            "scale" => Self::Scale,
            "weights" => Self::Weights,
            _ => return None,
        })
    }
}

/// The channels of an animation that are read. Tells the collector of all others.
pub(super) fn of<'a>(
    document: Document<'a>,
    animation_index: usize,
    animation: &'a Animation,
    rig: &Rig,
    left_out: &mut Collector<'a>,
) -> Result<Channels, ImportError> {
    let mut channels = Channels::default();
    for (index, channel) in animation.channels.iter().enumerate() {
        let place = (animation_index, index);
        let Some((node, property)) = target(&channel.target, left_out) else { continue };
        let joint = rig.joint_of(node);
        let targets = document.morph_targets(node);
        match (property, joint) {
            (Property::Weights, _) if targets == 0 => {
                left_out.node(LeftOutKind::NoMorphTargets, node);
                continue;
            }
            (Property::Weights, _) | (_, Some(_)) => {}
            (_, None) => {
                left_out.node(LeftOutKind::OtherNode, node);
                continue;
            }
        }
        let Some(sampler) = animation.samplers.get(channel.sampler) else {
            return Err(bad(document, place, "its sampler does not exist"));
        };
        let interpolation = sampler.interpolation;
        if interpolation == Interpolation::Other {
            return Err(bad(document, place, "its interpolation does not exist in glTF"));
        }
        let new = Channel { place, interpolation, times: sampler.input, values: sampler.output };
        let is_second = match (property, joint) {
            (Property::Weights, _) => {
                channels.weights.insert(node, Weights { channel: new, targets }).is_some()
            }
            (_, joint) => {
                let own = channels.joints.entry(joint.unwrap_or_default()).or_default();
                let own = match property {
                    Property::Rotation => &mut own.rotation,
                    Property::Scale => &mut own.scale,
                    _ => &mut own.translation,
                };
                own.replace(new).is_some()
            }
        };
        if is_second {
            return Err(bad(document, place, "another channel moves the same property"));
        }
    }
    Ok(channels)
}

/// The node and the property that a channel moves, or `None` if it moves something unknown.
pub(super) fn target<'a>(
    target: &'a json::Target,
    left_out: &mut Collector<'a>,
) -> Option<(usize, Property)> {
    let pointer = target.extensions.as_ref().and_then(|extensions| extensions.pointer.as_ref());
    if let Some(pointer) = pointer {
        let pointer = pointer.pointer.as_deref().unwrap_or_default();
        left_out.text(LeftOutKind::AnimationPointer, pointer);
        return None;
    }
    let Some(property) = Property::of(target) else {
        left_out.text(LeftOutKind::UnknownPath, &target.path);
        return None;
    };
    if target.node.is_none() {
        left_out.text(LeftOutKind::NoNode, "");
    }
    Some((target.node?, property))
}

fn bad(
    document: Document<'_>,
    (animation, channel): (usize, usize),
    reason: &'static str,
) -> ImportError {
    ImportError::BadChannel { file: document.file.to_owned(), animation, channel, reason }
}
