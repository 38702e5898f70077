//! The tree of a document's nodes, and the transforms of nodes. The module checks that the nodes
//! form a tree.

use glam::{DMat3, DQuat, DVec3};

use super::ImportError;
use super::document::Document;
use crate::import::nodes::{Local, Tree, unit};

/// Builds the tree of a document's nodes. Refuses a node that has two parents or is its own
/// ancestor.
pub(super) fn tree(document: Document<'_>) -> Result<Tree, ImportError> {
    let nodes = &document.root.nodes;
    let mut parents = vec![None; nodes.len()];
    for (node, children) in
        nodes.iter().enumerate().filter_map(|(index, node)| Some((index, node.children.as_ref()?)))
    {
        for child in children.iter().copied() {
            match parents.get_mut(child) {
                None => {
                    return Err(document.bad_node(node, "it has a child that does not exist"));
                }
                Some(Some(_)) => {
                    return Err(document
                        .bad_node(child, "it is a child of two nodes, or twice a child of one"));
                }
                Some(parent) => *parent = Some(node),
            }
        }
    }
    Tree::new(parents, |node| nodes[node].children.iter().flatten().copied())
        .map_err(|node| document.bad_node(node, "it is its own descendant"))
}

/// Returns the transform of a node, from its three parts or from a matrix.
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

/// Two columns of a matrix count as orthogonal if the cosine of the angle between them is below
/// this value.
const SHEAR: f64 = 1e-3;

fn parts(columns: [DVec3; 3], translation: DVec3) -> Option<Local> {
    let mut scale = DVec3::from_array(columns.map(DVec3::length));
    if DMat3::from_cols_array_2d(&columns.map(|column| column.to_array())).determinant() < 0.0 {
        scale.x = -scale.x;
    }
    let [x, y, z] = [columns[0] / scale.x, columns[1] / scale.y, columns[2] / scale.z];
    // A matrix with NaN is refused too, because NaN fails this check.
    let is_orthogonal = [x.dot(y), y.dot(z), z.dot(x)].iter().all(|cosine| cosine.abs() < SHEAR);
    let rotation = unit(DQuat::from_mat3(&DMat3::from_cols(x, y, z)).to_array())?;
    is_orthogonal.then_some(Local { rotation, translation, scale })
}
