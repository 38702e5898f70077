//! The names of human bones in VRM files, by node. Source: the specifications of VRM 0.0, VRM 1.0
//! and VRM Animation 1.0 by the VRM Consortium.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::ImportError;
use super::json::Root;
use crate::import::budget::Budget;

/// An upper bound on the memory of a bone besides its name, in bytes.
const MOST_OF_BONE_BYTES: u64 = 256;

/// The part of the extensions of VRM 1.0 that maps each bone's name to a node.
#[derive(Deserialize)]
struct Vrm1 {
    humanoid: Humanoid1,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Humanoid1 {
    human_bones: BTreeMap<String, Bone1>,
}

#[derive(Deserialize)]
struct Bone1 {
    node: i64,
}

/// The part of the extension of VRM 0.0 that lists the bones.
#[derive(Deserialize)]
struct Vrm0 {
    humanoid: Humanoid0,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Humanoid0 {
    human_bones: Vec<Bone0>,
}

#[derive(Deserialize)]
struct Bone0 {
    bone: String,
    node: i64,
}

/// Returns the bones of the file, with the names of VRM 1.0. Returns `None` if the file has no
/// readable list of bones.
pub(super) fn names(
    root: &Root,
    budget: &mut Budget,
) -> Result<Option<BTreeMap<usize, String>>, ImportError> {
    let Some(extensions) = &root.extensions else { return Ok(None) };
    let newer = extensions.vrm_1.as_deref().or(extensions.vrm_animation.as_deref());
    let bones = match (newer.map(RawValue::get), extensions.vrm_0.as_deref().map(RawValue::get)) {
        (Some(newer), _) => serde_json::from_str::<Vrm1>(newer).ok().map(|vrm| {
            let bones = vrm.humanoid.human_bones.into_iter();
            bones.map(|(name, bone)| (name, bone.node)).collect::<Vec<_>>()
        }),
        (None, Some(older)) => serde_json::from_str::<Vrm0>(older).ok().map(|vrm| {
            let bones = vrm.humanoid.human_bones.into_iter();
            bones.map(|bone| (renamed(bone.bone), bone.node)).collect()
        }),
        (None, None) => None,
    };
    let Some(bones) = bones else { return Ok(None) };
    let mut names = BTreeMap::new();
    for (name, node) in bones {
        budget.take(name.len() as u64 + MOST_OF_BONE_BYTES)?;
        // Some programs write −1 for a bone that the model lacks.
        if let Ok(node) = usize::try_from(node) {
            names.entry(node).or_insert(name);
        }
    }
    Ok(Some(names))
}

/// Converts a bone's name from VRM 0.0 to VRM 1.0. Only the joints of the thumb differ.
fn renamed(bone: String) -> String {
    for side in ["left", "right"] {
        match bone.strip_prefix(side) {
            Some("ThumbProximal") => return format!("{side}ThumbMetacarpal"),
            Some("ThumbIntermediate") => return format!("{side}ThumbProximal"),
            _ => {}
        }
    }
    bone
}
