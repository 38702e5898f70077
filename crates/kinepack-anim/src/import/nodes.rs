//! The tree of a scene's nodes, and the selection of the nodes that are joints. The readers of glTF
//! and FBX share this module.

use glam::{DQuat, DVec3};

/// Rotation, translation and scale in the file's unit, either of one node or of all static nodes
/// above a root together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Local {
    pub(super) rotation: DQuat,
    pub(super) translation: DVec3,
    pub(super) scale: DVec3,
}

impl Local {
    pub(super) const IDENTITY: Self =
        Self { rotation: DQuat::IDENTITY, translation: DVec3::ZERO, scale: DVec3::ONE };
}

/// The parents of all nodes.
pub(super) struct Tree {
    /// The parent of each node, or `None` for a root.
    pub(super) parents: Vec<Option<usize>>,
    /// All nodes, depth first. Parents precede their children, which are in the order of the file.
    pub(super) order: Vec<usize>,
}

impl Tree {
    /// Returns the tree of nodes that have at most one parent each, with the children of each node.
    /// Nodes may nest to any depth, because the traversal uses an explicit stack. The error is the
    /// index of a node that is its own ancestor, or that is below such a node.
    pub(super) fn new<C: DoubleEndedIterator<Item = usize>>(
        parents: Vec<Option<usize>>,
        children: impl Fn(usize) -> C,
    ) -> Result<Self, usize> {
        let nodes = parents.len();
        let mut order = Vec::with_capacity(nodes);
        let mut stack: Vec<usize> =
            (0..nodes).rev().filter(|node| parents[*node].is_none()).collect();
        while let Some(node) = stack.pop() {
            order.push(node);
            stack.extend(children(node).rev());
        }
        if order.len() < nodes {
            let mut is_reached = vec![false; nodes];
            order.iter().for_each(|node| is_reached[*node] = true);
            return Err(is_reached.iter().position(|is_reached| !is_reached).unwrap_or_default());
        }
        Ok(Self { parents, order })
    }

    /// Selects the joints: `bones`, the moving nodes above or below bones, and all nodes between
    /// two joints.
    pub(super) fn joints(&self, bones: Vec<bool>, moves: &[bool]) -> Vec<bool> {
        let mut is_joint = bones;
        let bases: Vec<bool> =
            is_joint.iter().zip(moves).map(|(joint, moves)| joint | moves).collect();
        self.include_ancestors(&mut is_joint, &bases);
        let below = self.below(&is_joint);
        for node in 0..is_joint.len() {
            is_joint[node] |= moves[node] && below[node];
        }
        let bases = is_joint.clone();
        self.include_ancestors(&mut is_joint, &bases);
        is_joint
    }

    /// Returns all nodes of the trees that contain a node of `set`. The roots of trees are the
    /// nodes below `scene`, which is the root of all nodes in FBX and belongs to no tree.
    pub(super) fn whole_trees(&self, set: &[bool], scene: Option<usize>) -> Vec<bool> {
        let mut root_of: Vec<usize> = (0..set.len()).collect();
        let mut has_one = vec![false; set.len()];
        for &node in &self.order {
            if let Some(parent) = self.parents[node].filter(|parent| Some(*parent) != scene) {
                root_of[node] = root_of[parent];
            }
            has_one[root_of[node]] |= set[node];
        }
        let is_whole = |node: usize| has_one[root_of[node]] && Some(node) != scene;
        (0..set.len()).map(is_whole).collect()
    }

    /// Adds the nodes above joints, from the topmost node of `bases` down.
    fn include_ancestors(&self, is_joint: &mut [bool], bases: &[bool]) {
        let (above, below) = (self.above(is_joint), self.below(bases));
        for node in 0..is_joint.len() {
            is_joint[node] |= above[node] && (bases[node] || below[node]);
        }
    }

    /// For each node, whether it is below a node of `set`.
    fn below(&self, set: &[bool]) -> Vec<bool> {
        let mut below = vec![false; set.len()];
        for &node in &self.order {
            below[node] = self.parents[node].is_some_and(|parent| set[parent] || below[parent]);
        }
        below
    }

    /// For each node, whether it is above a node of `set`.
    pub(super) fn above(&self, set: &[bool]) -> Vec<bool> {
        let mut above = vec![false; set.len()];
        for &node in self.order.iter().rev() {
            if let Some(parent) = self.parents[node] {
                above[parent] |= set[node] || above[node];
            }
        }
        above
    }
}

/// Normalizes a quaternion. Returns `None` if its length is zero or not finite.
pub(super) fn unit(xyzw: [f64; 4]) -> Option<DQuat> {
    let quaternion = DQuat::from_array(xyzw);
    let length = quaternion.length();
    (length > 0.0 && length.is_finite()).then(|| quaternion / length)
}
