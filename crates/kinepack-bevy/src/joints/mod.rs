//! The joints of a skeleton as entities: how they are found below a character by their names, and
//! the spaces that they are in. Clips and figures share this module.

mod bind;
mod spaces;

use std::sync::Arc;

use bevy_ecs::entity::Entity;
use kinepack_anim::Skeleton;

pub(crate) use bind::{
    HasJoints, Parents, Target, Tree, mark_above, on_add_owner, on_discard, on_insert,
};
#[cfg(feature = "figure")]
pub(crate) use spaces::in_cm;
pub(crate) use spaces::{Spaces, in_units};

/// The entities that are the joints of a character.
#[derive(Clone, Debug, Default)]
pub(crate) struct FoundJoints {
    /// Whether `entities` matches the hierarchy.
    pub(crate) is_current: bool,
    /// The skeleton. `None` until a search.
    skeleton: Option<Arc<Skeleton>>,
    /// The entity of each joint, if there is one.
    pub(crate) entities: Vec<Option<Entity>>,
    pub(crate) spaces: Spaces,
}

impl FoundJoints {
    pub(crate) fn skeleton(&self) -> Option<&Arc<Skeleton>> {
        self.skeleton.as_ref()
    }

    /// The entity of the joint with the index `joint` in the skeleton.
    pub(crate) fn entity(&self, joint: usize) -> Option<Entity> {
        self.entities.get(joint).copied().flatten()
    }

    /// The names of the skeleton's joints that no entity has.
    pub(crate) fn missing(&self) -> impl Iterator<Item = &str> {
        let joints = self.skeleton.iter().flat_map(|skeleton| skeleton.joints());
        let is_missing = |entity: &Option<Entity>| entity.is_none();
        joints
            .zip(&self.entities)
            .filter(move |(_, entity)| is_missing(entity))
            .map(|(joint, _)| joint.name.as_str())
    }

    /// Forgets the entities, and starts again with the joints of `skeleton`.
    fn reset(&mut self, skeleton: &Arc<Skeleton>) {
        self.is_current = true;
        self.skeleton = Some(Arc::clone(skeleton));
        self.entities.clear();
        self.entities.resize(skeleton.len(), None);
        self.spaces.clear();
    }
}

/// The joints of a skeleton, sorted by name. Of joints with the same name, it contains only the
/// first.
#[derive(Clone, Debug)]
pub(crate) struct JointNames(Vec<u16>);

impl JointNames {
    pub(crate) fn new(skeleton: &Skeleton) -> Self {
        let mut by_name: Vec<u16> = (0..skeleton.len() as u16).collect();
        let name = |joint: &u16| skeleton.joints()[usize::from(*joint)].name.as_str();
        by_name.sort_by(|one, other| name(one).cmp(name(other)));
        by_name.dedup_by(|one, other| name(one) == name(other));
        Self(by_name)
    }

    /// The first joint with the name `name`. `skeleton` is the one that the names are from.
    pub(crate) fn find(&self, skeleton: &Skeleton, name: &str) -> Option<usize> {
        let joints = skeleton.joints();
        let found =
            self.0.binary_search_by(|joint| joints[usize::from(*joint)].name.as_str().cmp(name));
        found.ok().map(|index| usize::from(self.0[index]))
    }
}
