//! The joints of a character as entities with names, as Bevy's glTF loader spawns them.

use bevy_ecs::prelude::*;
use bevy_transform::components::Transform;
use kinepack_anim::Skeleton;

/// Spawns an entity for each joint, below `root`.
pub(crate) fn spawn_joints(world: &mut World, root: Entity, skeleton: &Skeleton) -> Vec<Entity> {
    let mut joints: Vec<Entity> = Vec::with_capacity(skeleton.len());
    for joint in skeleton.joints() {
        let parent = joint.parent.map_or(root, |parent| joints[usize::from(parent)]);
        let bind = Transform::from_translation(joint.bind.translation_m().into());
        let name = Name::new(joint.name.clone());
        joints.push(world.spawn((name, bind, ChildOf(parent))).id());
    }
    joints
}
