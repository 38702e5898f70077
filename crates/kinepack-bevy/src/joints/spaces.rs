//! Computes the spaces of root joints.
//!
//! A skeleton's root joints are relative to the model. The importer folds the static nodes above
//! them, such as Blender's `Armature`, into the skeleton and its clips, but Bevy spawns an entity
//! for each of these nodes. So root joints must be transformed into the space of their parent
//! entity, and all lengths divided by that space's scale.
//!
//! Entities above the model must not be mistaken for such nodes. The file's transforms distinguish
//! them: when the joints appear, they have the transforms that the bind pose was made from.

use bevy_ecs::prelude::*;
use bevy_math::{Quat, Vec3};
use bevy_transform::components::Transform;
use kinepack_anim::Skeleton;

/// The largest difference between transforms of the file and the bind pose, relative to lengths.
const TOLERANCE: f32 = 1e-3;

/// The product of the model's nodes above a root joint. This component stays on the joint's entity,
/// because the joints have other transforms later.
#[derive(Component, Clone, Copy, Debug)]
pub(super) struct Above(pub(super) Transform);

/// The data from which the spaces of a character's joints are computed.
pub(super) struct Rest<'a> {
    pub(super) skeleton: &'a Skeleton,
    pub(super) units_per_m: f32,
    /// The transform of each joint's entity, if it has one.
    pub(super) joints: Vec<Option<Transform>>,
}

impl Rest<'_> {
    /// Tries the products of the nearest 0, 1, 2 … ancestors and returns the first that fits the
    /// bind pose, or `None`.
    pub(super) fn above(
        &self,
        root: usize,
        ancestors: impl Iterator<Item = Transform>,
    ) -> Option<Transform> {
        let mut product = Transform::IDENTITY;
        let products = std::iter::once(product).chain(ancestors.map(|above| {
            product = above * product;
            product
        }));
        let scale = self.scale(root);
        products.into_iter().find(|above| self.fits(root, above, scale))
    }

    /// Whether a joint's entity below `above` has the same place as in the bind pose.
    fn fits(&self, root: usize, above: &Transform, scale: Option<f32>) -> bool {
        let Some(rest) = self.joints[root] else { return false };
        let bind = self.bind(root);
        let rotation = above.rotation * rest.rotation;
        let translation = above.transform_point(rest.translation);
        let is_close = |one: f32, other: f32| (one - other).abs() <= TOLERANCE * other.abs();
        rotation.dot(bind.rotation).abs() > 1.0 - TOLERANCE * TOLERANCE
            && translation.distance(bind.translation) <= TOLERANCE * (1.0 + translation.length())
            && scale.is_none_or(|scale| is_close(above.scale.x, scale))
            && above.is_finite()
            && above.scale.x != 0.0
    }

    fn bind(&self, joint: usize) -> Transform {
        in_units(&self.skeleton.joints()[joint].bind, self.units_per_m)
    }

    /// The scale above a root joint: the ratio between the bind pose's lengths and the file's.
    /// `None` if no joint below the root has a length.
    fn scale(&self, root: usize) -> Option<f32> {
        let (mut of_bind, mut of_file) = (0.0, 0.0);
        for (joint, of) in roots(self.skeleton).into_iter().enumerate() {
            if let Some(rest) = self.joints[joint].filter(|_| of == root && joint != root) {
                of_bind += self.bind(joint).translation.length();
                of_file += rest.translation.length();
            }
        }
        (of_file > 0.0).then_some(of_bind / of_file)
    }
}

/// The root of each joint.
fn roots(skeleton: &Skeleton) -> Vec<usize> {
    let mut roots: Vec<usize> = Vec::with_capacity(skeleton.len());
    for joint in 0..skeleton.len() {
        // Parents come before their children.
        roots.push(skeleton.parent(joint).map_or(joint, |parent| roots[parent]));
    }
    roots
}

/// A joint's transform in Bevy's type and in the model's unit.
pub(crate) fn in_units(joint: &kinepack_anim::Transform, units_per_m: f32) -> Transform {
    Transform {
        translation: Vec3::from(joint.translation_m()) * units_per_m,
        rotation: Quat::from_array(joint.rotation),
        scale: joint.scale.into(),
    }
}

/// The reverse of [`in_units`].
#[cfg(feature = "figure")]
pub(crate) fn in_cm(joint: &Transform, units_per_m: f32) -> kinepack_anim::Transform {
    let transform = kinepack_anim::Transform {
        rotation: joint.rotation.to_array(),
        scale: joint.scale.to_array(),
        ..kinepack_anim::Transform::IDENTITY
    };
    transform.with_translation_m((joint.translation / units_per_m).to_array())
}

/// The spaces of a character's joints.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spaces {
    /// The root joints whose upper nodes have another product than the identity, each with that
    /// product.
    above: Vec<(usize, Transform)>,
    /// For each joint, the scale above its root. The list is empty if `above` is empty.
    scales: Vec<f32>,
}

impl Spaces {
    pub(super) fn clear(&mut self) {
        self.above.clear();
        self.scales.clear();
    }

    /// Notes that the nodes above a root joint have the product `above`.
    pub(crate) fn put(&mut self, root: usize, above: Transform, skeleton: &Skeleton) {
        if above == Transform::IDENTITY {
            return;
        }
        self.above.push((root, above));
        self.scales.resize(skeleton.len(), 1.0);
        for (scale, of) in self.scales.iter_mut().zip(roots(skeleton)) {
            if of == root {
                *scale = above.scale.x;
            }
        }
    }

    /// Transforms a joint's transform into the space of its parent entity.
    pub(crate) fn local(&self, joint: usize, mut transform: Transform) -> Transform {
        if self.above.is_empty() {
            return transform;
        }
        if let Some((_, above)) = self.above.iter().find(|(root, _)| *root == joint) {
            let inverse = above.rotation.inverse();
            transform.translation = inverse * (transform.translation - above.translation);
            transform.rotation = inverse * transform.rotation;
        }
        transform.translation /= self.scales[joint];
        transform
    }

    /// The reverse of [`local`](Self::local).
    #[cfg(feature = "figure")]
    pub(crate) fn model(&self, joint: usize, mut transform: Transform) -> Transform {
        if self.above.is_empty() {
            return transform;
        }
        transform.translation *= self.scales[joint];
        if let Some((_, above)) = self.above.iter().find(|(root, _)| *root == joint) {
            transform.translation = above.rotation * transform.translation + above.translation;
            transform.rotation = above.rotation * transform.rotation;
        }
        transform
    }
}
