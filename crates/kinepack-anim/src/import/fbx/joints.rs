//! Selects the nodes that are joints, and provides their transforms.

use glam::DVec3;
use ufbx::{InheritMode, Node, Scene, Transform};

use super::motion::{Channels, Motion, Part};
use super::scene::bad;
use super::{ImportError, ImportOptions};
use crate::import::budget::Budget;
use crate::import::joints::{JointNodes, Nodes};
use crate::import::nodes::{Local, Tree, unit};

/// An upper bound on the memory of a node during the selection, and of a joint afterwards, in
/// bytes.
const NODE_BYTES: usize = 512;

/// Returns the joints of a scene, or `None` if it has none.
pub(super) fn find(
    file: &str,
    scene: &Scene,
    channels: &Channels<'_>,
    motions: &[Motion<'_>],
    options: &ImportOptions,
    budget: &mut Budget,
) -> Result<Option<JointNodes>, ImportError> {
    let nodes = &scene.nodes;
    let name_bytes: usize = nodes.iter().map(|node| node.element.name.len()).sum();
    budget.take((nodes.len() * NODE_BYTES + name_bytes) as u64)?;
    let index = |node: &Node| node.element.typed_id as usize;
    let parents = nodes.iter().map(|node| node.parent.as_ref().map(|parent| index(parent)));
    let tree = Tree::new(parents.collect(), |node| {
        nodes[node].children.as_ref().iter().map(move |child| index(child))
    })
    .map_err(|node| bad(file, format!("{:?} is its own descendant", &*nodes[node].element.name)))?;
    let mut is_joint = select(scene, channels, motions, &tree);
    if !is_joint.contains(&true) {
        return Ok(None);
    }
    if options.all_nodes {
        is_joint = tree.whole_trees(&is_joint, nodes.iter().position(|node| node.is_root));
    }
    let unit_cm = options.unit_cm.unwrap_or(100.0 * scene.settings.unit_meters);
    if !(unit_cm > 0.0 && unit_cm.is_finite()) {
        return Err(bad(file, format!("its unit is {unit_cm} cm")));
    }
    JointNodes::new(&InFile { file, scene }, tree, &is_joint, |_| unit_cm).map(Some)
}

/// Selects the joints: the bones or, if there are none, the animated nodes. If only curves are
/// animated, the nodes of the curves are the joints, because a clip needs at least one joint.
fn select(
    scene: &Scene,
    channels: &Channels<'_>,
    motions: &[Motion<'_>],
    tree: &Tree,
) -> Vec<bool> {
    let mut is_joint: Vec<bool> = scene.nodes.iter().map(|node| node.bone.is_some()).collect();
    let of_skins = scene.skin_clusters.iter().filter_map(|cluster| cluster.bone_node.as_ref());
    of_skins.for_each(|node| is_joint[node.element.typed_id as usize] = true);
    let mut is_animated = vec![false; is_joint.len()];
    let (mut moving, mut has_curves) = (is_animated.clone(), is_animated.clone());
    for part in motions.iter().flat_map(|motion| &motion.parts) {
        match *part {
            Part::Transform { node, moves, .. } => {
                is_animated[node] = true;
                moving[node] |= moves;
            }
            Part::Custom { node, .. } => has_curves[node] = true,
            Part::Weight { channel, .. } => {
                if let Some(node) = channels.node_of(channel) {
                    has_curves[node] = true;
                }
            }
            Part::Other { .. } => {}
        }
    }
    for others in [is_animated, has_curves] {
        if !is_joint.contains(&true) {
            is_joint = others;
        }
    }
    tree.joints(is_joint, &moving)
}

struct InFile<'a> {
    file: &'a str,
    scene: &'a Scene,
}

impl Nodes for InFile<'_> {
    fn file(&self) -> &str {
        self.file
    }

    fn name(&self, node: usize) -> String {
        self.scene.nodes[node].element.name.to_string()
    }

    fn local(&self, node: usize) -> Result<Local, ImportError> {
        let node = &self.scene.nodes[node];
        let above = above(node).map(|parent| scale(&parent.local_transform));
        Ok(local(&node.local_transform, above).0)
    }

    fn not_uniform(&self, node: usize, [x, y, z]: [f64; 3]) -> ImportError {
        let name = &*self.scene.nodes[node].element.name;
        bad(
            self.file,
            format!(
                "{name:?} is above the joints and has a scale of {x} {y} {z}; this cannot become \
                 part of their translations, because it differs between axes or is zero: apply it \
                 before saving"
            ),
        )
    }
}

/// Returns the parent whose scale a node does not inherit.
pub(super) fn above(node: &Node) -> Option<&Node> {
    let is_apart = node.inherit_mode == InheritMode::IgnoreParentScale;
    node.parent.as_deref().filter(|parent| is_apart && !parent.is_root)
}

pub(super) fn scale(transform: &Transform) -> DVec3 {
    DVec3::new(transform.scale.x, transform.scale.y, transform.scale.z)
}

/// Converts a transform of ufbx, and divides its scale by `above`, the parent's scale, if given.
/// Also returns whether that scale is zero along an axis, so that it cannot be divided out.
pub(super) fn local(transform: &Transform, above: Option<DVec3>) -> (Local, bool) {
    let Transform { rotation: r, translation: t, .. } = transform;
    let above = above.unwrap_or(DVec3::ONE);
    let is_zero = above.cmpeq(DVec3::ZERO);
    let local = Local {
        // The later check of the whole transform refuses a rotation that is NaN.
        rotation: unit([r.x, r.y, r.z, r.w]).unwrap_or(glam::DQuat::NAN),
        translation: DVec3::new(t.x, t.y, t.z),
        scale: scale(transform) / DVec3::select(is_zero, DVec3::ONE, above),
    };
    (local, is_zero.any())
}
