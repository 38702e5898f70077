//! The tree of a document's nodes, and the transforms of nodes. It checks that the nodes are a
//! tree. Nodes may nest to any depth, because the order is found with an explicit stack.

use glam::{DMat3, DQuat, DVec3};

use super::{Document, ImportError};

/// Rotation, translation and scale in the file's unit, either of a node or of all static nodes
/// above it.
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
    /// `None` for a root.
    pub(super) parents: Vec<Option<usize>>,
    /// All nodes, parents first: depth first, children in the order of the file.
    pub(super) order: Vec<usize>,
}

impl Tree {
    /// Refuses nodes that have two parents or are their own ancestors.
    pub(super) fn new(document: Document<'_>) -> Result<Self, ImportError> {
        let nodes = &document.root.nodes;
        let mut parents = vec![None; nodes.len()];
        for (node, children) in nodes
            .iter()
            .enumerate()
            .filter_map(|(index, node)| Some((index, node.children.as_ref()?)))
        {
            for child in children.iter().copied() {
                match parents.get_mut(child) {
                    None => {
                        return Err(document.bad_node(node, "it has a child that does not exist"));
                    }
                    Some(Some(_)) => {
                        return Err(document.bad_node(
                            child,
                            "it is a child of two nodes, or twice a child of one",
                        ));
                    }
                    Some(parent) => *parent = Some(node),
                }
            }
        }
        let mut order = Vec::with_capacity(nodes.len());
        let mut stack: Vec<usize> =
            (0..nodes.len()).rev().filter(|node| parents[*node].is_none()).collect();
        while let Some(node) = stack.pop() {
            order.push(node);
            let children = nodes[node].children.iter().flatten().rev();
            stack.extend(children.copied());
        }
        if order.len() < nodes.len() {
            let mut is_reached = vec![false; nodes.len()];
            order.iter().for_each(|node| is_reached[*node] = true);
            let node = is_reached.iter().position(|is_reached| !is_reached).unwrap_or_default();
            return Err(document.bad_node(node, "it is its own descendant"));
        }
        Ok(Self { parents, order })
    }

    /// Whether each node has a node of the set above it.
    pub(super) fn below(&self, set: &[bool]) -> Vec<bool> {
        let mut below = vec![false; set.len()];
        for &node in &self.order {
            below[node] = self.parents[node].is_some_and(|parent| set[parent] || below[parent]);
        }
        below
    }

    /// Whether each node has a node of the set below it.
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

/// The transform of a node, from its three parts or from a matrix.
pub(super) fn local(document: Document<'_>, index: usize) -> Result<Local, ImportError> {
    let node = &document.root.nodes[index];
    let bad = |reason| document.bad_node(index, reason);
    let vector = |vector: [f32; 3]| DVec3::from_array(vector.map(f64::from));
    let local = match node.matrix {
        Some(matrix) => {
            let column = |column: usize| {
                vector([matrix[4 * column], matrix[4 * column + 1], matrix[4 * column + 2]])
            };
            parts([column(0), column(1), column(2)], column(3)).ok_or_else(|| {
                bad("its matrix has a number that is not finite, or is not a rotation with a scale")
            })?
        }
        None => {
            let rotation = node.rotation.unwrap_or([0.0, 0.0, 0.0, 1.0]).map(f64::from);
            let rotation = unit(rotation)
                .ok_or_else(|| bad("its rotation is not finite or has length zero"))?;
            let translation = vector(node.translation.unwrap_or_default());
            Local { rotation, translation, scale: vector(node.scale.unwrap_or([1.0; 3])) }
        }
    };
    if local.translation.is_finite() && local.scale.is_finite() {
        Ok(local)
    } else {
        Err(bad("its transform has a number that is not finite"))
    }
}

/// Normalizes a quaternion. `None` if its length is zero or not finite.
pub(super) fn unit(xyzw: [f64; 4]) -> Option<DQuat> {
    let quaternion = DQuat::from_array(xyzw);
    let length = quaternion.length();
    (length > 0.0 && length.is_finite()).then(|| quaternion / length)
}

/// The largest cosine between columns of a matrix that count as orthogonal.
const SHEAR: f64 = 1e-3;

fn parts(columns: [DVec3; 3], translation: DVec3) -> Option<Local> {
    let mut scale = DVec3::from_array(columns.map(DVec3::length));
    if DMat3::from_cols_array_2d(&columns.map(|column| column.to_array())).determinant() < 0.0 {
        scale.x = -scale.x;
    }
    let [x, y, z] = [columns[0] / scale.x, columns[1] / scale.y, columns[2] / scale.z];
    // NaN fails this check.
    let is_orthogonal = [x.dot(y), y.dot(z), z.dot(x)].iter().all(|cosine| cosine.abs() < SHEAR);
    let rotation = unit(DQuat::from_mat3(&DMat3::from_cols(x, y, z)).to_array())?;
    is_orthogonal.then_some(Local { rotation, translation, scale })
}
