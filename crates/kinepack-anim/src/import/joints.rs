//! Converts the joints of a scene to a skeleton. The static nodes above the joints are folded into
//! the roots.

use std::sync::Arc;

use glam::{DQuat, DVec3};

use super::ImportError;
use super::nodes::{Local, Tree};
use crate::{Joint, MAX_JOINTS, Skeleton, SkeletonError, Transform};

/// A scale counts as uniform if the relative difference between its axes is at most this.
const UNIFORM_RATIO: f64 = 1e-3;

/// Access to the nodes of a scene, by index.
pub(super) trait Nodes {
    /// Returns the name of the file, for errors.
    fn file(&self) -> &str;
    /// Returns the name of a node that is a joint.
    fn name(&self, node: usize) -> String;
    /// Returns the transform of a node while nothing animates it, in the file's unit.
    fn local(&self, node: usize) -> Result<Local, ImportError>;
    /// Returns the error for a static scale above the joints that is not uniform.
    fn not_uniform(&self, node: usize, scale: [f64; 3]) -> ImportError;
}

/// The nodes of a scene that are joints, and their skeleton.
pub(super) struct JointNodes {
    pub(super) skeleton: Arc<Skeleton>,
    joints: Vec<JointNode>,
    /// For each node, the index of its joint. The value is `None` if the node is not a joint.
    by_node: Vec<Option<u16>>,
    /// For each node, its parent.
    parents: Vec<Option<usize>>,
    unit_cm: f64,
}

/// A node that is a joint.
pub(super) struct JointNode {
    node: usize,
    parent: Option<usize>,
    /// The transform of the node while nothing animates it.
    rest: Local,
    /// The combined transform of the static nodes above a root. The value is `None` if the joint is
    /// not a root.
    above: Option<Local>,
    /// The combined scale of the static nodes above this joint's root.
    scale: f64,
}

impl JointNodes {
    /// Builds the skeleton of the nodes that are joints. `unit_cm` returns the file's unit in cm.
    pub(super) fn new(
        nodes: &impl Nodes,
        tree: Tree,
        is_joint: &[bool],
        unit_cm: impl FnOnce(&[JointNode]) -> f64,
    ) -> Result<Self, ImportError> {
        let skeleton_error = |error| ImportError::Skeleton { file: nodes.file().to_owned(), error };
        let count = is_joint.iter().filter(|is_joint| **is_joint).count();
        if count > MAX_JOINTS {
            return Err(skeleton_error(SkeletonError::TooManyJoints { joints: count }));
        }
        let (joints, by_node) = fold(nodes, &tree, is_joint)?;
        let unit_cm = unit_cm(&joints);
        let list = joints.iter().map(|joint| Joint {
            name: nodes.name(joint.node),
            parent: joint.parent.map(|parent| parent as u16),
            bind: joint.transform(joint.rest, unit_cm),
        });
        let skeleton = Arc::new(Skeleton::new(list.collect()).map_err(skeleton_error)?);
        Ok(Self { skeleton, joints, by_node, parents: tree.parents, unit_cm })
    }

    /// Returns the size of the file's unit in cm.
    pub(super) fn unit_cm(&self) -> f64 {
        self.unit_cm
    }

    /// Returns the joint of `node`, or `None` if the node is not a joint.
    pub(super) fn joint_of(&self, node: usize) -> Option<usize> {
        self.by_node.get(node).copied().flatten().map(usize::from)
    }

    /// Returns the nodes that are joints, in the order of the joints.
    #[cfg(feature = "fbx")]
    pub(super) fn nodes(&self) -> impl Iterator<Item = usize> {
        self.joints.iter().map(|joint| joint.node)
    }

    /// Returns the parent of a node.
    pub(super) fn parent_of(&self, node: usize) -> Option<usize> {
        self.parents.get(node).copied().flatten()
    }

    /// Returns the transform of a joint while nothing animates it, as in the file.
    pub(super) fn rest(&self, joint: usize) -> Local {
        self.joints[joint].rest
    }

    /// Converts a joint's transform from the file to the clip.
    pub(super) fn transform(&self, joint: usize, local: Local) -> Transform {
        self.joints[joint].transform(local, self.unit_cm)
    }
}

impl JointNode {
    fn transform(&self, local: Local, unit_cm: f64) -> Transform {
        let placed = self.place(local);
        Transform {
            rotation: placed.rotation.to_array().map(|c| c as f32),
            translation: (placed.translation * unit_cm).to_array().map(|c| c as f32),
            scale: placed.scale.to_array().map(|c| c as f32),
        }
    }

    /// Applies the static nodes above the joint's root to the joint's transform.
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

/// Lists the joints, parents first, and folds the static nodes above them into the roots. Also
/// returns the joint of each node.
fn fold(
    nodes: &impl Nodes,
    tree: &Tree,
    is_joint: &[bool],
) -> Result<(Vec<JointNode>, Vec<Option<u16>>), ImportError> {
    let has_joints_below = tree.above(is_joint);
    // An entry is `Some` only for a static node above a root.
    let mut still: Vec<Option<Local>> = vec![None; is_joint.len()];
    let mut by_node = vec![None; is_joint.len()];
    let mut joints: Vec<JointNode> = Vec::new();
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
            joints.push(JointNode { node, parent, rest: nodes.local(node)?, above, scale });
        } else if has_joints_below[node] {
            let own = nodes.local(node)?;
            if !is_uniform(own.scale) {
                return Err(nodes.not_uniform(node, own.scale.to_array()));
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

/// Returns the largest distance between two joints in the bind pose, in the file's unit.
pub(super) fn extent(joints: &[JointNode]) -> f64 {
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
    // Infinite and NaN distances need no check here, because the check of the bind pose refuses
    // them.
    distances.fold(0.0, f64::max).sqrt()
}
