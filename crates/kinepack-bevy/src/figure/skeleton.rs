//! Makes a skeleton from entities that Bevy loaded.

use bevy_ecs::prelude::*;
use bevy_transform::components::Transform;
use kinepack_anim::{Joint, Skeleton, SkeletonError};

use crate::joints::{Spaces, in_cm};

/// Makes a skeleton of the entities of joints, such as Bevy's `SkinnedMesh::joints`, which have the
/// transforms of the bind pose. Call it when a scene has just appeared, before anything moves it.
///
/// `character` is an entity above the joints, and the skeleton's model space is that of its
/// children. Entities between two joints become joints too. The order of the joints is that of
/// `joints`, except that parents come first.
///
/// Kinds are registered before the app runs, when no scene is loaded yet. So let a tool or the
/// first start of the game write [`Skeleton::to_bytes`] to a file, or let `kinepack anim build`
/// write it from the model's file.
///
/// ```
/// use bevy_ecs::prelude::*;
/// use bevy_transform::components::Transform;
/// use kinepack_bevy::figure::skeleton_of;
///
/// let mut world = World::new();
/// let character = world.spawn_empty().id();
/// let hips = (Name::new("hips"), Transform::from_xyz(0.0, 0.9, 0.0), ChildOf(character));
/// let hips = world.spawn(hips).id();
/// let leg = (Name::new("leg"), Transform::from_xyz(0.1, -0.4, 0.0), ChildOf(hips));
/// let leg = world.spawn(leg).id();
/// let skeleton = skeleton_of(&world, character, &[hips, leg], 1.0)?;
/// assert_eq!(skeleton.parent(1), Some(0));
/// assert_eq!(skeleton.joints()[1].bind.translation, [10.0, -40.0, 0.0]);
/// # Ok::<(), kinepack_anim::SkeletonError>(())
/// ```
///
/// # Errors
/// Returns [`SkeletonError`] for too many joints, or a transform that is not finite.
pub fn skeleton_of(
    world: &World,
    character: Entity,
    joints: &[Entity],
    units_per_m: f32,
) -> Result<Skeleton, SkeletonError> {
    let entities = with_ancestors(world, character, joints);
    let local = |entity: Entity| world.get::<Transform>(entity).copied().unwrap_or_default();
    let joint = |entity: &Entity| {
        let above = world.get::<ChildOf>(*entity).map(ChildOf::parent);
        let parent = above.and_then(|above| entities.iter().position(|other| *other == above));
        Joint {
            name: world.get::<Name>(*entity).map(|name| name.as_str().into()).unwrap_or_default(),
            // More joints than fit are refused below.
            parent: parent.map(|parent| u16::try_from(parent).unwrap_or(u16::MAX)),
            bind: kinepack_anim::Transform::IDENTITY,
        }
    };
    let mut joints: Vec<Joint> = entities.iter().map(joint).collect();
    // The nodes above a root are a part of its transform, as in imported skeletons.
    let plain = Skeleton::new(joints.clone())?;
    let mut spaces = Spaces::default();
    for (root, entity) in entities.iter().enumerate().filter(|(at, _)| plain.parent(*at).is_none())
    {
        let above = ancestors(world, character, *entity);
        let above = above.fold(Transform::IDENTITY, |product, above| local(above) * product);
        spaces.put(root, above, &plain);
    }
    for (index, (joint, entity)) in joints.iter_mut().zip(&entities).enumerate() {
        joint.bind = in_cm(&spaces.model(index, local(*entity)), units_per_m);
    }
    Skeleton::new(joints)
}

/// The entities between an entity and the character, the nearest first.
fn ancestors(world: &World, character: Entity, entity: Entity) -> impl Iterator<Item = Entity> {
    let above = |entity: &Entity| world.get::<ChildOf>(*entity).map(ChildOf::parent);
    std::iter::successors(above(&entity), above).take_while(move |above| *above != character)
}

/// The joints and the entities between two of them, parents first.
fn with_ancestors(world: &World, character: Entity, joints: &[Entity]) -> Vec<Entity> {
    let mut ordered: Vec<Entity> = Vec::with_capacity(joints.len());
    for joint in joints {
        let mut chain = vec![*joint];
        chain.extend(ancestors(world, character, *joint));
        // The nodes above the uppermost joint are no joints.
        let upper = chain.iter().rposition(|entity| joints.contains(entity)).unwrap_or_default();
        for entity in chain[..=upper].iter().rev() {
            if !ordered.contains(entity) {
                ordered.push(*entity);
            }
        }
    }
    ordered
}
