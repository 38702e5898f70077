//! Selects the nodes that are joints: the nodes of skins or, without a skin, the animated nodes.

use std::collections::BTreeMap;

use super::channels::{Aim, Property};
use super::document::Document;
use super::nodes::{local, tree};
use super::{ImportError, ImportOptions};
use crate::import::joints::{JointNodes, Nodes, extent};
use crate::import::nodes::{Local, Tree};

const METRE_CM: f64 = 100.0;

/// If a skeleton would be larger than this in metres, its unit is taken as cm. Files in cm are
/// common, and animals of 20 m are not.
const LARGEST_M: f64 = 20.0;

/// The nodes of a document, with some names replaced.
struct Named<'a> {
    document: Document<'a>,
    names: &'a BTreeMap<usize, String>,
}

impl Nodes for Named<'_> {
    fn file(&self) -> &str {
        self.document.file
    }

    fn name(&self, node: usize) -> String {
        self.names.get(&node).cloned().unwrap_or_else(|| self.document.node_name(node))
    }

    fn local(&self, node: usize) -> Result<Local, ImportError> {
        local(self.document, node)
    }

    fn not_uniform(&self, node: usize, scale: [f64; 3]) -> ImportError {
        ImportError::NonUniformScale { file: self.document.file.to_owned(), node, scale }
    }
}

/// Returns the joints of a document, or `None` if it has no joints. `names` replaces names of
/// nodes. Also returns the skeleton's size in metres if the unit was taken as cm without an option.
pub(super) fn find(
    document: Document<'_>,
    options: &ImportOptions,
    names: &BTreeMap<usize, String>,
) -> Result<Option<(JointNodes, Option<f64>)>, ImportError> {
    let tree = tree(document)?;
    let mut is_joint = select(document, &tree, names)?;
    if !is_joint.contains(&true) {
        return Ok(None);
    }
    if options.all_nodes {
        is_joint = tree.whole_trees(&is_joint, None);
    }
    let mut taken_as_cm = None;
    let joint_nodes = JointNodes::new(&Named { document, names }, tree, &is_joint, |joints| {
        options.unit_cm.unwrap_or_else(|| {
            taken_as_cm = Some(extent(joints)).filter(|extent_m| *extent_m > LARGEST_M);
            if taken_as_cm.is_some() { 1.0 } else { METRE_CM }
        })
    })?;
    Ok(Some((joint_nodes, taken_as_cm)))
}

/// Selects the joints: the nodes of skins or, without a skin, the animated nodes. Human bones that
/// have names are joints too. If only weights are animated, the nodes with these weights are the
/// joints, because a clip needs at least one joint.
fn select(
    document: Document<'_>,
    tree: &Tree,
    names: &BTreeMap<usize, String>,
) -> Result<Vec<bool>, ImportError> {
    let (is_animated, has_weights) = animated(document);
    let mut is_joint = vec![false; document.root.nodes.len()];
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
    for node in names.keys() {
        // A list of bones may name nodes that do not exist.
        if let Some(is_joint) = is_joint.get_mut(*node) {
            *is_joint = true;
        }
    }
    if !is_joint.contains(&true) {
        is_joint.clone_from(&has_weights);
    }
    Ok(tree.joints(is_joint, &is_animated))
}

/// For each node, whether any animation moves it, and whether any animation changes its weights.
/// This function ignores channels of nodes that do not exist, which are skipped later.
fn animated(document: Document<'_>) -> (Vec<bool>, Vec<bool>) {
    let mut is_animated = vec![false; document.root.nodes.len()];
    let mut has_weights = is_animated.clone();
    let channels = document.root.animations.iter().flat_map(|animation| &animation.channels);
    for channel in channels {
        match Aim::from_target(&channel.target) {
            Aim::Node(node, _) if node >= is_animated.len() => {}
            Aim::Node(node, Property::Weights) => {
                has_weights[node] |= document.morph_targets(node) > 0;
            }
            Aim::Node(node, _) => is_animated[node] = true,
            _ => {}
        }
    }
    (is_animated, has_weights)
}
