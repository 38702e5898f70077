//! The entities that are the joints of a character.

use std::sync::Arc;

use bevy_ecs::component::Component;
use bevy_ecs::entity::Entity;
use bevy_transform::components::Transform;
use kinepack_anim::Skeleton;

use super::ClipAsset;
use super::pose::Pose;
use crate::joints::{FoundJoints, HasJoints, in_units};

/// The entities that a [`ClipPlayer`](super::ClipPlayer) moves. The plugin fills this component,
/// and renews it when entities below the player are added, removed, moved or named.
#[derive(Component, Clone, Debug, Default)]
pub struct ClipJoints {
    pub(super) found: FoundJoints,
    /// The hash of the skeleton, and the hash of the skeleton of its additive clips.
    hashes: (u64, u64),
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
        self.found.skeleton()
    }

    /// The entity of the joint with the index `joint` in the skeleton.
    pub fn entity(&self, joint: usize) -> Option<Entity> {
        self.found.entity(joint)
    }

    /// The names of the skeleton's joints that no entity has.
    pub fn missing(&self) -> impl Iterator<Item = &str> {
        self.found.missing()
    }

    /// Whether the entities are the joints of the skeleton of `clip`.
    pub(super) fn are_of(&self, clip: &ClipAsset) -> bool {
        self.found.is_current
            && self.found.skeleton().is_some()
            && self.hashes.0 == clip.skeleton_hash()
    }

    /// Notes that the entities are the joints of the skeleton of `clip`.
    pub(super) fn set_hashes(&mut self, clip: &ClipAsset) {
        self.hashes = (clip.skeleton_hash(), clip.additive_hash());
    }

    pub(super) fn hashes(&self) -> Option<(u64, u64)> {
        self.found.skeleton().map(|_| self.hashes)
    }

    /// The transform of a joint in this frame. `None` if no layer moves the joint.
    pub(super) fn transform(&self, joint: usize) -> Option<Transform> {
        let pose = self.pose.get(joint)?;
        Some(self.found.spaces.local(joint, in_units(pose, self.units_per_m)))
    }
}

impl HasJoints for ClipJoints {
    fn found(&mut self) -> &mut FoundJoints {
        &mut self.found
    }
}
