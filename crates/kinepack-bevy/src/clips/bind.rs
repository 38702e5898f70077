//! Finds the entities of joints by name, and finds out when they must be found again.
//!
//! Observers mark the player above each entity that is moved, removed or named. So a frame in which
//! nothing happens costs a check for each player.

use bevy_asset::Assets;
use bevy_ecs::lifecycle::{Add, Discard, Insert, Remove};
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bevy_transform::components::Transform;

use super::{ClipAsset, ClipJoint, ClipJoints, ClipPlayer};

/// The hierarchy of entities.
#[derive(SystemParam)]
pub(super) struct Tree<'w, 's> {
    children: Query<'w, 's, &'static Children>,
    parents: Query<'w, 's, &'static ChildOf>,
    names: Query<'w, 's, &'static Name>,
    transforms: Query<'w, 's, &'static Transform>,
    joints: Query<'w, 's, &'static ClipJoint>,
    is_player: Query<'w, 's, (), With<ClipPlayer>>,
}

/// Finds the joints of players that are new, or whose hierarchy or skeleton changed.
pub(super) fn bind(
    mut commands: Commands,
    mut players: Query<(Entity, &ClipPlayer, &mut ClipJoints)>,
    clips: Res<Assets<ClipAsset>>,
    tree: Tree,
    mut queue: Local<Vec<Entity>>,
) {
    for (player, layers, mut joints) in &mut players {
        let Some(clip) = layers.base().find_map(|layer| clips.get(&layer.clip)) else { continue };
        if joints.are_of(clip) {
            continue;
        }
        let old = std::mem::take(&mut joints.entities);
        joints.reset(clip);
        let named = tree.find(player, clip, &mut joints, &mut queue);
        report(&joints, named, player);
        for entity in old.into_iter().flatten().filter(|old| !joints.entities.contains(&Some(*old)))
        {
            if tree.joints.get(entity).is_ok_and(|joint| joint.player == player) {
                commands.entity(entity).try_remove::<ClipJoint>();
            }
        }
        for (joint, entity) in joints.entities.iter().enumerate() {
            let marker = ClipJoint { player, joint: joint as u16 };
            if let Some(entity) = *entity
                && tree.joints.get(entity) != Ok(&marker)
            {
                commands.entity(entity).try_insert(marker);
            }
        }
    }
}

fn report(joints: &ClipJoints, named: usize, player: Entity) {
    let missing = joints.missing().count();
    if named > 0 && missing == joints.entities.len() {
        log::warn!(
            "kinepack-bevy: none of the {named} named entities below {player} is a joint of its \
             clip: play clips that were built from the model's file"
        );
    } else if missing > 0 {
        let names: Vec<&str> = joints.missing().take(5).collect();
        log::debug!("kinepack-bevy: {missing} joints are not below {player}: {names:?}");
    }
}

impl Tree<'_, '_> {
    /// Finds the joints below a player, the upper ones first, and returns the number of names. It
    /// does not look below other players.
    fn find(
        &self,
        player: Entity,
        clip: &ClipAsset,
        joints: &mut ClipJoints,
        queue: &mut Vec<Entity>,
    ) -> usize {
        let mut named = 0;
        queue.clear();
        queue.extend(self.children.get(player).into_iter().flatten());
        let mut next = 0;
        while let Some(&entity) = queue.get(next) {
            next += 1;
            if self.is_player.contains(entity) {
                continue;
            }
            queue.extend(self.children.get(entity).into_iter().flatten());
            let Ok(name) = self.names.get(entity) else { continue };
            named += 1;
            if let Some(joint) = clip.find(name)
                && joints.entities[joint].is_none()
            {
                joints.entities[joint] = Some(entity);
            }
        }
        let skeleton = clip.skeleton();
        for root in (0..skeleton.len()).filter(|joint| skeleton.parent(*joint).is_none()) {
            if let Some(above) = joints.entity(root).and_then(|root| self.between(player, root)) {
                joints.spaces.put_above(root, above, skeleton);
            }
        }
        named
    }

    /// The product of the transforms between a player and an entity.
    fn between(&self, player: Entity, entity: Entity) -> Option<Transform> {
        let mut product = Transform::IDENTITY;
        for above in self.parents.iter_ancestors(entity).take_while(|above| *above != player) {
            product = self.transforms.get(above).copied().unwrap_or_default() * product;
        }
        Some(product)
    }
}

type Above<'w, 's> = Query<'w, 's, &'static ChildOf>;
type Joints<'w, 's> = Query<'w, 's, &'static mut ClipJoints>;

/// Marks the nearest player above an entity.
fn mark_above(entity: Entity, above: &Above, joints: &mut Joints) {
    for ancestor in above.iter_ancestors(entity) {
        if let Ok(mut joints) = joints.get_mut(ancestor) {
            joints.is_current = false;
            return;
        }
    }
}

pub(super) fn on_insert(insert: On<Insert, (ChildOf, Name)>, above: Above, mut joints: Joints) {
    mark_above(insert.entity, &above, &mut joints);
}

pub(super) fn on_discard(discard: On<Discard, (ChildOf, Name)>, above: Above, mut joints: Joints) {
    mark_above(discard.entity, &above, &mut joints);
}

/// A player below another takes its part of the hierarchy.
pub(super) fn on_add_player(add: On<Add, ClipPlayer>, above: Above, mut joints: Joints) {
    mark_above(add.entity, &above, &mut joints);
}

pub(super) fn on_remove_player(
    remove: On<Remove, ClipPlayer>,
    mut commands: Commands,
    above: Above,
    mut joints: Joints,
) {
    mark_above(remove.entity, &above, &mut joints);
    let Ok(own) = joints.get(remove.entity) else { return };
    for entity in own.entities.iter().flatten() {
        commands.entity(*entity).try_remove::<ClipJoint>();
    }
    commands.entity(remove.entity).try_remove::<ClipJoints>();
}
