//! Collects the parts that the importer omits. Each name is copied once, at the end.

use std::collections::BTreeMap;

use super::document::Document;
use crate::import::{LeftOut, LeftOutKind};

/// The extensions that the importer understands, or that change only how numbers are stored.
const KNOWN: [&str; 4] = [
    "EXT_meshopt_compression",
    "KHR_meshopt_compression",
    "KHR_mesh_quantization",
    // The channels of this extension are listed one by one instead.
    "KHR_animation_pointer",
];
/// The extensions that name the bones of humans.
const OF_HUMANS: [&str; 3] = ["VRM", "VRMC_vrm", "VRMC_vrm_animation"];

/// Counts parts by kind and name.
pub(super) struct Collector<'a> {
    document: Document<'a>,
    nodes: BTreeMap<(LeftOutKind, usize), usize>,
    texts: BTreeMap<(LeftOutKind, &'a str), usize>,
    /// The kind of each part, and the index of its animation.
    animations: Vec<(LeftOutKind, usize)>,
}

impl<'a> Collector<'a> {
    pub(super) fn new(document: Document<'a>) -> Self {
        Self { document, nodes: BTreeMap::new(), texts: BTreeMap::new(), animations: Vec::new() }
    }

    /// Counts a part that is named after a node.
    pub(super) fn node(&mut self, kind: LeftOutKind, node: usize) {
        *self.nodes.entry((kind, node)).or_default() += 1;
    }

    /// Counts a part with its own name.
    pub(super) fn text(&mut self, kind: LeftOutKind, name: &'a str) {
        *self.texts.entry((kind, name)).or_default() += 1;
    }

    /// Adds a part that is named after an animation.
    pub(super) fn animation(&mut self, kind: LeftOutKind, animation: usize) {
        self.animations.push((kind, animation));
    }

    /// Returns all parts, including the extensions and cameras of the document.
    pub(super) fn finish(mut self, reads_humans: bool) -> Vec<LeftOut> {
        let root = self.document.root;
        let is_known =
            |name: &str| KNOWN.contains(&name) || (reads_humans && OF_HUMANS.contains(&name));
        let required = root.extensions_required.iter().map(String::as_str);
        for name in required.clone().filter(|name| !is_known(name)) {
            self.texts.insert((LeftOutKind::RequiredExtension, name), 1);
        }
        for name in root.extensions_used.iter().filter(|name| !is_known(name)) {
            if !self.texts.contains_key(&(LeftOutKind::RequiredExtension, name)) {
                self.texts.insert((LeftOutKind::Extension, name), 1);
            }
        }
        let document = self.document;
        let nodes = self.nodes.into_iter().map(|((kind, node), count)| LeftOut {
            kind,
            name: document.node_name(node),
            count,
        });
        let texts = self.texts.into_iter().map(|((kind, name), count)| LeftOut {
            kind,
            name: name.to_owned(),
            count,
        });
        let animations = self.animations.into_iter().map(|(kind, animation)| LeftOut {
            kind,
            name: document.animation_name(animation),
            count: 1,
        });
        let mut all: Vec<LeftOut> = nodes.chain(texts).chain(animations).collect();
        if !root.cameras.is_empty() {
            let (kind, count) = (LeftOutKind::Cameras, root.cameras.len());
            all.push(LeftOut { kind, name: String::new(), count });
        }
        all.sort_by_key(|part| part.kind);
        all
    }
}
