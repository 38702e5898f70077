//! A document, with the names and errors that its readers share.

use std::borrow::Cow;

use super::ImportError;
use super::json::{self, Root};

/// The JSON of a document, and the name of its file for errors.
#[derive(Clone, Copy)]
pub(super) struct Document<'a> {
    pub(super) file: &'a str,
    pub(super) root: &'a Root,
}

impl<'a> Document<'a> {
    /// Returns the name of a node.
    pub(super) fn node_name(self, node: usize) -> String {
        let name = self.root.nodes.get(node).and_then(|node| node.name.clone());
        name.unwrap_or_else(|| format!("node{node}"))
    }

    /// Returns the name for a node with a mesh. It is the node's name, or else the mesh's, or else
    /// the name of the node's parent. The parent helps because programs that compress meshes put
    /// each mesh into a new node.
    pub(super) fn morphed_name(self, node: usize, parent: Option<usize>) -> Cow<'a, str> {
        let own = |node: usize| self.root.nodes.get(node)?.name.as_deref();
        let name = own(node).or_else(|| self.mesh_of(node)?.name.as_deref());
        let name = name.or_else(|| own(parent?));
        name.map_or_else(|| format!("node{node}").into(), Cow::Borrowed)
    }

    fn mesh_of(self, node: usize) -> Option<&'a json::Mesh> {
        self.root.meshes.get(self.root.nodes.get(node)?.mesh?)
    }

    /// Returns the number of morph targets of a node's mesh. All primitives of a mesh have the same
    /// number.
    pub(super) fn morph_targets(self, node: usize) -> usize {
        let primitive = self.mesh_of(node).and_then(|mesh| mesh.primitives.first());
        primitive.map_or(0, |primitive| primitive.targets.len())
    }

    /// Returns the name of an animation, or its index if it has no name.
    pub(super) fn animation_name(self, animation: usize) -> String {
        let name = self.root.animations.get(animation).and_then(|own| own.name.clone());
        name.unwrap_or_else(|| animation.to_string())
    }

    pub(super) fn bad_node(self, node: usize, reason: &'static str) -> ImportError {
        ImportError::BadNode { file: self.file.to_owned(), node, reason }
    }

    pub(super) fn bad_accessor(self, accessor: usize, reason: &'static str) -> ImportError {
        ImportError::BadAccessor { file: self.file.to_owned(), accessor, reason }
    }

    pub(super) fn bad_buffer(self, buffer: usize, reason: &'static str) -> ImportError {
        ImportError::BadBuffer { file: self.file.to_owned(), buffer, reason }
    }
}
