//! The entities that are the joints of a character.

use std::sync::Arc;

use bevy_ecs::component::Component;
use bevy_ecs::entity::Entity;
use bevy_transform::components::Transform;
use kinepack_anim::Skeleton;

use super::ClipAsset;
use super::pose::Pose;
use super::spaces::{Spaces, in_units};

/// The entities that a [`ClipPlayer`](super::ClipPlayer) moves. The plugin fills this component,
/// and renews it when entities below the player are added, removed, moved or named.
#[derive(Component, Clone, Debug, Default)]
pub struct ClipJoints {
    /// Whether `entities` matches the hierarchy.
    pub(super) is_current: bool,
    /// The skeleton. `None` until a clip is loaded.
    skeleton: Option<Arc<Skeleton>>,
    /// The hash of the skeleton, and the hash of the skeleton of its additive clips.
    hashes: (u64, u64),
    /// The entity of each joint, if there is one.
    pub(super) entities: Vec<Option<Entity>>,
    pub(super) spaces: Spaces,
    pub(super) pose: Pose,
    pub(super) units_per_m: f32,
}

/// Marks an entity that is a joint of a character.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClipJoint {
    pub(super) player: Entity,
    pub(super) joint: u16,
}

impl ClipJoint {
    /// The entity with the [`ClipPlayer`](super::ClipPlayer).
    pub fn player(&self) -> Entity {
        self.player
    }

    /// The index of the joint in the skeleton.
    pub fn joint(&self) -> usize {
        usize::from(self.joint)
    }
}

impl ClipJoints {
    /// The skeleton of the clips; `None` until the first clip is loaded.
    pub fn skeleton(&self) -> Option<&Arc<Skeleton>> {
        self.skeleton.as_ref()
    }

    /// The entity of the joint with the index `joint` in the skeleton.
    pub fn entity(&self, joint: usize) -> Option<Entity> {
        self.entities.get(joint).copied().flatten()
    }

    /// The names of the skeleton's joints that no entity has.
    pub fn missing(&self) -> impl Iterator<Item = &str> {
        let joints = self.skeleton.iter().flat_map(|skeleton| skeleton.joints());
        let is_missing = |entity: &Option<Entity>| entity.is_none();
        joints
            .zip(&self.entities)
            .filter(move |(_, entity)| is_missing(entity))
            .map(|(joint, _)| joint.name.as_str())
    }

    /// Whether the entities are the joints of the skeleton of `clip`.
    pub(super) fn are_of(&self, clip: &ClipAsset) -> bool {
        self.is_current && self.skeleton.is_some() && self.hashes.0 == clip.skeleton_hash()
    }

    /// Forgets the entities, and starts again with the skeleton of `clip`.
    pub(super) fn reset(&mut self, clip: &ClipAsset) {
        self.is_current = true;
        self.skeleton = Some(Arc::clone(clip.skeleton()));
        self.hashes = (clip.skeleton_hash(), clip.additive_hash());
        self.entities.clear();
        self.entities.resize(clip.skeleton().len(), None);
        self.spaces.clear();
    }

    pub(super) fn hashes(&self) -> Option<(u64, u64)> {
        self.skeleton.is_some().then_some(self.hashes)
    }

    /// The transform of a joint in this frame. `None` if no layer moves the joint.
    pub(super) fn transform(&self, joint: usize) -> Option<Transform> {
        let pose = self.pose.get(joint)?;
        Some(self.spaces.local(joint, in_units(pose, self.units_per_m)))
    }
}
