//! Selects the nodes that are joints: the nodes of skins or, without a skin, the animated nodes.

use std::collections::BTreeMap;

use super::channels::Property;
use super::nodes::{local, tree};
use super::{Document, ImportError};
use crate::import::nodes::{Local, Tree};
use crate::import::rig::{Nodes, Rig, extent};

const METRE_CM: f64 = 100.0;

/// A skeleton larger than this in metres is taken as cm. Files in cm are common, and animals of 20
/// m are not.
const LARGEST_M: f64 = 20.0;

/// The nodes of a document, with names that replace their own.
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

/// The joints of a document, or `None` if it has no joints. `names` replaces names of nodes. Also
/// the skeleton's size in metres, if the file was taken as cm without an option.
pub(super) fn of(
    document: Document<'_>,
    unit_cm: Option<f64>,
    names: &BTreeMap<usize, String>,
) -> Result<Option<(Rig, Option<f64>)>, ImportError> {
    let tree = tree(document)?;
    let is_joint = select(document, &tree)?;
    if !is_joint.contains(&true) {
        return Ok(None);
    }
    let mut taken_as_cm = None;
    let rig = Rig::new(&Named { document, names }, tree, &is_joint, |joints| {
        unit_cm.unwrap_or_else(|| {
            taken_as_cm = Some(extent(joints)).filter(|extent_m| *extent_m > LARGEST_M);
            if taken_as_cm.is_some() { 1.0 } else { METRE_CM }
        })
    })?;
    Ok(Some((rig, taken_as_cm)))
}

/// Selects the joints: the nodes of skins or, without a skin, the animated nodes. If weights alone
/// are animated, their nodes are the joints, because a clip needs one.
fn select(document: Document<'_>, tree: &Tree) -> Result<Vec<bool>, ImportError> {
    let (is_animated, has_weights) = animated(document)?;
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
    if !is_joint.contains(&true) {
        is_joint.clone_from(&has_weights);
    }
    Ok(tree.joints(is_joint, &is_animated))
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
