//! Selects the nodes that are joints, and folds the static nodes above them into the roots.

use std::collections::BTreeMap;
use std::sync::Arc;

use glam::{DQuat, DVec3};

use super::channels::Property;
use super::nodes::{Local, Tree, local};
use super::{Document, ImportError};
use crate::{Joint, MAX_JOINTS, Skeleton, SkeletonError, Transform};

const METRE_CM: f64 = 100.0;

/// A skeleton larger than this in metres is taken as cm. Files in cm are common, and animals of 20
/// m are not.
const LARGEST_M: f64 = 20.0;

/// The largest relative difference between the axes of a scale that counts as uniform.
const UNIFORM_RATIO: f64 = 1e-3;

/// The joints of a document.
pub(super) struct Rig {
    pub(super) skeleton: Arc<Skeleton>,
    joints: Vec<RigJoint>,
    /// The joint of each node that is a joint.
    by_node: Vec<Option<u16>>,
    /// The parents of all nodes.
    parents: Vec<Option<usize>>,
    unit_cm: f64,
    /// The size in metres, if the rig was taken as cm without an option.
    taken_as_cm: Option<f64>,
}

struct RigJoint {
    node: usize,
    parent: Option<usize>,
    /// The node's own transform.
    rest: Local,
    /// The static transform above a root; `None` for other joints.
    above: Option<Local>,
    /// The static scale above this joint's root.
    scale: f64,
}

impl Rig {
    /// The joints of a document, or `None` if it has no joints. `names` replaces names of nodes.
    pub(super) fn new(
        document: Document<'_>,
        unit_cm: Option<f64>,
        names: &BTreeMap<usize, String>,
    ) -> Result<Option<Self>, ImportError> {
        let tree = Tree::new(document)?;
        let is_joint = select(document, &tree)?;
        let count = is_joint.iter().filter(|is_joint| **is_joint).count();
        if count == 0 {
            return Ok(None);
        }
        let skeleton_error =
            |error| ImportError::Skeleton { file: document.file.to_owned(), error };
        if count > MAX_JOINTS {
            return Err(skeleton_error(SkeletonError::TooManyJoints { joints: count }));
        }
        let (joints, by_node) = fold(document, &tree, &is_joint)?;
        let extent_m = extent(&joints);
        let is_cm = unit_cm.is_none() && extent_m > LARGEST_M;
        let unit_cm = unit_cm.unwrap_or(if is_cm { 1.0 } else { METRE_CM });
        let list = joints.iter().map(|joint| Joint {
            name: match names.get(&joint.node) {
                Some(name) => name.clone(),
                None => document.node_name(joint.node),
            },
            parent: joint.parent.map(|parent| parent as u16),
            bind: joint.transform(joint.rest, unit_cm),
        });
        let skeleton = Arc::new(Skeleton::new(list.collect()).map_err(skeleton_error)?);
        Ok(Some(Self {
            skeleton,
            joints,
            by_node,
            parents: tree.parents,
            unit_cm,
            taken_as_cm: is_cm.then_some(extent_m),
        }))
    }

    pub(super) fn taken_as_cm(&self) -> Option<f64> {
        self.taken_as_cm
    }

    /// The joint of a node.
    pub(super) fn joint_of(&self, node: usize) -> Option<usize> {
        self.by_node.get(node).copied().flatten().map(usize::from)
    }

    /// The parent of a node.
    pub(super) fn parent_of(&self, node: usize) -> Option<usize> {
        self.parents.get(node).copied().flatten()
    }

    /// The transform of a joint without animation, as in the file.
    pub(super) fn rest(&self, joint: usize) -> Local {
        self.joints[joint].rest
    }

    /// Converts a joint's transform from the file to the clip.
    pub(super) fn transform(&self, joint: usize, local: Local) -> Transform {
        self.joints[joint].transform(local, self.unit_cm)
    }
}

impl RigJoint {
    fn transform(&self, local: Local, unit_cm: f64) -> Transform {
        let placed = self.place(local);
        Transform {
            rotation: placed.rotation.to_array().map(|c| c as f32),
            translation: (placed.translation * unit_cm).to_array().map(|c| c as f32),
            scale: placed.scale.to_array().map(|c| c as f32),
        }
    }

    fn place(&self, local: Local) -> Local {
        match &self.above {
            Some(above) => Local {
                rotation: above.rotation * local.rotation,
                translation: above.translation
                    + above.rotation * (local.translation * above.scale.x),
                scale: local.scale,
            },
            None => Local { translation: local.translation * self.scale, ..local },
        }
    }
}

/// Selects the joints: the nodes of skins or, without a skin, the animated nodes. If weights alone
/// are animated, their nodes are the joints, because a clip needs one. Adds animated nodes above or
/// below these, and all nodes between two joints.
fn select(document: Document<'_>, tree: &Tree) -> Result<Vec<bool>, ImportError> {
    let nodes = document.root.nodes.len();
    let (is_animated, has_weights) = animated(document)?;
    let mut is_joint = vec![false; nodes];
    for (skin, joints) in document.root.skins.iter().map(|skin| &skin.joints).enumerate() {
        for node in joints.iter().copied() {
            let file = || document.file.to_owned();
            *is_joint.get_mut(node).ok_or_else(|| ImportError::BadSkin {
                file: file(),
                skin,
                node,
            })? = true;
        }
    }
    if !is_joint.contains(&true) {
        is_joint.clone_from(&is_animated);
    }
    if !is_joint.contains(&true) {
        is_joint.clone_from(&has_weights);
    }
    let bases: Vec<bool> =
        is_joint.iter().zip(&is_animated).map(|(joint, animated)| joint | animated).collect();
    include_ancestors(tree, &mut is_joint, &bases);
    let below = tree.below(&is_joint);
    for node in 0..nodes {
        is_joint[node] |= is_animated[node] && below[node];
    }
    let bases = is_joint.clone();
    include_ancestors(tree, &mut is_joint, &bases);
    Ok(is_joint)
}

/// Adds the nodes above joints, from the topmost node of `bases` down.
fn include_ancestors(tree: &Tree, is_joint: &mut [bool], bases: &[bool]) {
    let (above, below) = (tree.above(is_joint), tree.below(bases));
    for node in 0..is_joint.len() {
        is_joint[node] |= above[node] && (bases[node] || below[node]);
    }
}

/// Whether any animation moves each node, and whether any changes its weights.
fn animated(document: Document<'_>) -> Result<(Vec<bool>, Vec<bool>), ImportError> {
    let mut is_animated = vec![false; document.root.nodes.len()];
    let mut has_weights = is_animated.clone();
    for (animation, channels) in
        document.root.animations.iter().map(|animation| &animation.channels).enumerate()
    {
        for (channel, target) in channels.iter().map(|channel| &channel.target).enumerate() {
            let (Some(node), Some(property)) = (target.node, Property::of(target)) else {
                continue;
            };
            if node >= is_animated.len() {
                let (file, reason) = (document.file.to_owned(), "its node does not exist");
                return Err(ImportError::BadChannel { file, animation, channel, reason });
            }
            match property {
                Property::Weights => has_weights[node] |= document.morph_targets(node) > 0,
                _ => is_animated[node] = true,
            }
        }
    }
    Ok((is_animated, has_weights))
}

fn fold(
    document: Document<'_>,
    tree: &Tree,
    is_joint: &[bool],
) -> Result<(Vec<RigJoint>, Vec<Option<u16>>), ImportError> {
    let has_joints_below = tree.above(is_joint);
    // Set only for static nodes above a root.
    let mut still: Vec<Option<Local>> = vec![None; is_joint.len()];
    let mut by_node = vec![None; is_joint.len()];
    let mut joints: Vec<RigJoint> = Vec::new();
    for &node in &tree.order {
        let parent_node = tree.parents[node];
        if is_joint[node] {
            let parent = parent_node.and_then(|parent| by_node[parent]).map(usize::from);
            let above = match parent {
                Some(_) => None,
                None => {
                    Some(parent_node.and_then(|parent| still[parent]).unwrap_or(Local::IDENTITY))
                }
            };
            let scale = match (&above, parent) {
                (Some(above), _) => above.scale.x,
                (None, Some(parent)) => joints[parent].scale,
                (None, None) => 1.0,
            };
            by_node[node] = Some(joints.len() as u16);
            joints.push(RigJoint { node, parent, rest: local(document, node)?, above, scale });
        } else if has_joints_below[node] {
            let own = local(document, node)?;
            if !is_uniform(own.scale) {
                let (file, scale) = (document.file.to_owned(), own.scale.to_array());
                return Err(ImportError::NonUniformScale { file, node, scale });
            }
            let above = parent_node.and_then(|parent| still[parent]).unwrap_or(Local::IDENTITY);
            still[node] = Some(Local {
                rotation: above.rotation * own.rotation,
                translation: above.translation + above.rotation * (own.translation * above.scale.x),
                scale: DVec3::splat(above.scale.x * own.scale.x),
            });
        }
    }
    Ok((joints, by_node))
}

fn is_uniform(scale: DVec3) -> bool {
    scale.max_element() - scale.min_element() < UNIFORM_RATIO * scale.abs().max_element()
}

/// The largest distance between two joints in the bind pose, in the file's unit.
fn extent(joints: &[RigJoint]) -> f64 {
    let mut poses: Vec<(DQuat, DVec3, DVec3)> = Vec::with_capacity(joints.len());
    for joint in joints {
        let Local { rotation, translation, scale } = joint.place(joint.rest);
        poses.push(match joint.parent.map(|parent| poses[parent]) {
            Some((turned, moved, scaled)) => {
                (turned * rotation, moved + turned * (translation * scaled), scale * scaled)
            }
            None => (rotation, translation, scale),
        });
    }
    let places: Vec<DVec3> = poses.into_iter().map(|(_, place, _)| place).collect();
    let distances = places.iter().enumerate().flat_map(|(index, place)| {
        places[..index].iter().map(move |other| place.distance_squared(*other))
    });
    // The bind pose check refuses distances that are not finite.
    distances.fold(0.0, f64::max).sqrt()
}
