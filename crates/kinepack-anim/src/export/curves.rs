//! Exports curves as weights of morph targets, because glTF has no curves of its own.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::data::{ARRAY_BUFFER, Data};
use crate::{Curve, RawClip};

/// The maximum number of bytes of text that a curve or a marker takes besides its name. The file
/// contains the name up to twice, and JSON escapes take up to six bytes for each byte of the name.
const MOST_BYTES_OF_TEXT: u64 = 256;

/// Returns an upper bound on the number of bytes that a clip's curves and markers take in a file.
pub(super) fn most_bytes(clip: &RawClip) -> u64 {
    let curves = clip.curves().iter();
    let names = curves.map(|curve| &curve.name).chain(clip.markers().iter().map(|own| &own.name));
    let text: u64 = names.map(|name| 12 * name.len() as u64 + MOST_BYTES_OF_TEXT).sum();
    text + 4 * clip.samples() as u64 * clip.curves().len() as u64
}

/// The curves of a clip, grouped by the names of their nodes.
pub(super) struct Animated<'a> {
    nodes: BTreeMap<&'a str, Vec<(&'a str, &'a Curve)>>,
    samples: usize,
}

impl<'a> Animated<'a> {
    /// Splits names at their last dot into node and target. A name without a node part becomes a
    /// target of a node with an empty name.
    pub(super) fn new(clip: &'a RawClip) -> Self {
        let mut nodes: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for curve in clip.curves() {
            let parts = curve.name.rsplit_once('.').filter(|(node, _)| !node.is_empty());
            let (node, target) = parts.unwrap_or(("", &curve.name));
            nodes.entry(node).or_default().push((target, curve));
        }
        Self { nodes, samples: clip.samples() }
    }

    /// Returns the animation channels of the nodes, each with its node, path and values. `first` is
    /// the index of the first node.
    pub(super) fn channels(
        &self,
        first: usize,
        data: &mut Data,
    ) -> Vec<(usize, &'static str, usize)> {
        let channel = |(node, curves): (usize, &Vec<(&str, &Curve)>)| {
            let values = (0..self.samples)
                .flat_map(|sample| curves.iter().map(move |(_, curve)| [curve.values[sample]]));
            (node, "weights", data.floats(values, None))
        };
        (first..).zip(self.nodes.values()).map(channel).collect()
    }

    /// Adds a node with a mesh for each group of curves. All meshes and targets share the same zero
    /// vertices.
    pub(super) fn add_nodes(
        &self,
        nodes: &mut Vec<Value>,
        meshes: &mut Vec<Value>,
        data: &mut Data,
    ) {
        if self.nodes.is_empty() {
            return;
        }
        let zeros = data.floats([[0.0; 3]; 3].into_iter(), Some(ARRAY_BUFFER));
        for (node, curves) in &self.nodes {
            let names: Vec<&str> = curves.iter().map(|(target, _)| *target).collect();
            let targets = vec![json!({ "POSITION": zeros }); curves.len()];
            let primitive = json!({ "attributes": { "POSITION": zeros }, "targets": targets });
            nodes.push(json!({ "name": node, "mesh": meshes.len() }));
            meshes.push(json!({ "extras": { "targetNames": names }, "primitives": [primitive] }));
        }
    }
}
