//! The channels of an animation with their samplers. Channels that move joints are grouped by
//! joint. Other channels change the weights of morph targets.

use std::collections::BTreeMap;

use super::buffers::Buffers;
use super::document::Document;
use super::json::{self, Animation, Interpolation};
use super::left_out::Collector;
use super::skips::Skips;
use super::{ImportError, LeftOutKind};
use crate::import::joints::JointNodes;

/// A channel that is sampled.
#[derive(Clone, Copy)]
pub(super) struct Channel {
    /// Indices of the animation, and of the channel within it, for errors.
    pub(super) place: (usize, usize),
    pub(super) interpolation: Interpolation,
    /// The accessor of the key times.
    pub(super) times: usize,
    /// The accessor of the values.
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

impl JointChannels {
    fn all(&mut self) -> [&mut Option<Channel>; 3] {
        [&mut self.rotation, &mut self.translation, &mut self.scale]
    }
}

/// A channel of the weights of a node's morph targets.
#[derive(Clone, Copy)]
pub(super) struct Weights {
    pub(super) channel: Channel,
    /// The number of morph targets, at least one.
    pub(super) targets: usize,
}

/// The channels of an animation that the importer reads.
#[derive(Default)]
pub(super) struct Channels {
    pub(super) joints: BTreeMap<usize, JointChannels>,
    /// The channels of weights, by node.
    pub(super) weights: BTreeMap<usize, Weights>,
}

impl Channels {
    pub(super) fn is_empty(&self) -> bool {
        self.joints.is_empty() && self.weights.is_empty()
    }

    /// Drops the channels for which `keep` returns false.
    pub(super) fn retain(
        &mut self,
        mut keep: impl FnMut(&Channel) -> Result<bool, ImportError>,
    ) -> Result<(), ImportError> {
        for own in self.joints.values_mut().flat_map(JointChannels::all) {
            if let Some(channel) = own
                && !keep(channel)?
            {
                *own = None;
            }
        }
        self.joints.retain(|_, joint| joint.all().iter().any(|own| own.is_some()));
        let mut dropped = Vec::new();
        for (node, weights) in &self.weights {
            if !keep(&weights.channel)? {
                dropped.push(*node);
            }
        }
        for node in dropped {
            self.weights.remove(&node);
        }
        Ok(())
    }
}

/// The property that a channel animates.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Property {
    Rotation,
    Translation,
    Scale,
    Weights,
}

impl Property {
    /// Returns the property for a path, or `None` for an unknown path.
    fn from_path(path: &str) -> Option<Self> {
        Some(match path {
            "rotation" => Self::Rotation,
            "translation" => Self::Translation,
            "scale" => Self::Scale,
            "weights" => Self::Weights,
            _ => return None,
        })
    }
}

/// The target of a channel.
pub(super) enum Aim<'a> {
    /// The target is a property of a node, addressed by node and path or by a pointer. The node may
    /// not exist.
    Node(usize, Property),
    /// The target is something else that a pointer of `KHR_animation_pointer` addresses.
    Pointer(&'a str),
    /// The target is a path that glTF does not define.
    Path(&'a str),
    /// The channel has no node.
    Nothing,
}

impl<'a> Aim<'a> {
    pub(super) fn from_target(target: &'a json::Target) -> Self {
        let pointer = target.extensions.as_ref().and_then(|extensions| extensions.pointer.as_ref());
        if let Some(pointer) = pointer {
            let pointer = pointer.pointer.as_deref().unwrap_or_default();
            let own = Self::node_of_pointer(pointer);
            return own.map_or(Self::Pointer(pointer), |(node, own)| Self::Node(node, own));
        }
        match (Property::from_path(&target.path), target.node) {
            (Some(property), Some(node)) => Self::Node(node, property),
            (None, _) => Self::Path(&target.path),
            (_, None) => Self::Nothing,
        }
    }

    /// Returns the node and its property in a pointer like `/nodes/3/rotation`.
    fn node_of_pointer(pointer: &str) -> Option<(usize, Property)> {
        let (node, path) = pointer.strip_prefix("/nodes/")?.split_once('/')?;
        let node = Some(node).filter(|node| node.bytes().all(|byte| byte.is_ascii_digit()))?;
        Some((node.parse().ok()?, Property::from_path(path)?))
    }
}

/// Reads the channels of an animation. Reports channels that no clip represents to the collector,
/// and skips bad channels.
pub(super) fn read<'a>(
    buffers: &mut Buffers<'a>,
    animation_index: usize,
    animation: &'a Animation,
    joint_nodes: Option<&JointNodes>,
    left_out: &mut Collector<'a>,
    skips: &mut Skips,
) -> Result<Channels, ImportError> {
    let document = buffers.document;
    let mut channels = Channels::default();
    for (index, channel) in animation.channels.iter().enumerate() {
        let place = (animation_index, index);
        let Some((node, property)) = property_of(&channel.target, left_out) else { continue };
        let mut skip = |reason| {
            skips.channel(&mut buffers.budget, document, place, bad(document, place, reason))
        };
        if node >= document.root.nodes.len() {
            skip("its node does not exist")?;
            continue;
        }
        let joint = joint_nodes.and_then(|joint_nodes| joint_nodes.joint_of(node));
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
            skip("its sampler does not exist")?;
            continue;
        };
        let interpolation = sampler.interpolation;
        if interpolation == Interpolation::Other {
            skip("its interpolation does not exist in glTF")?;
            continue;
        }
        let new = Channel { place, interpolation, times: sampler.input, values: sampler.output };
        let is_second = match (property, joint) {
            (Property::Weights, _) => {
                let is_second = channels.weights.contains_key(&node);
                channels.weights.entry(node).or_insert(Weights { channel: new, targets });
                is_second
            }
            (_, joint) => {
                let own = channels.joints.entry(joint.unwrap_or_default()).or_default();
                let own = match property {
                    Property::Rotation => &mut own.rotation,
                    Property::Scale => &mut own.scale,
                    _ => &mut own.translation,
                };
                let is_second = own.is_some();
                own.get_or_insert(new);
                is_second
            }
        };
        if is_second {
            skip("another channel moves the same property")?;
        }
    }
    Ok(channels)
}

/// Returns the node and property that a channel animates. Reports any other target to the
/// collector.
fn property_of<'a>(
    target: &'a json::Target,
    left_out: &mut Collector<'a>,
) -> Option<(usize, Property)> {
    match Aim::from_target(target) {
        Aim::Node(node, property) => return Some((node, property)),
        Aim::Pointer(pointer) => left_out.text(LeftOutKind::AnimationPointer, pointer),
        Aim::Path(path) => left_out.text(LeftOutKind::UnknownPath, path),
        Aim::Nothing => left_out.text(LeftOutKind::NoNode, ""),
    }
    None
}

fn bad(
    document: Document<'_>,
    (animation, channel): (usize, usize),
    reason: &'static str,
) -> ImportError {
    ImportError::BadChannel { file: document.file.to_owned(), animation, channel, reason }
}
