//! Finds the entities of joints by name, and detects when the search must be repeated.
//!
//! Observers mark the player above each entity that is moved, removed or named. So a frame without
//! such changes costs one check for each player.

use bevy_asset::Assets;
use bevy_ecs::lifecycle::{Add, Discard, Insert, Remove};
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bevy_transform::components::Transform;

use super::spaces::{Above, Rest};
use super::{ClipAsset, ClipJoint, ClipJoints, ClipPlayer};

/// The hierarchy of entities.
#[derive(SystemParam)]
pub(super) struct Tree<'w, 's> {
    children: Query<'w, 's, &'static Children>,
    parents: Query<'w, 's, &'static ChildOf>,
    names: Query<'w, 's, &'static Name>,
    transforms: Query<'w, 's, &'static Transform>,
    joints: Query<'w, 's, &'static ClipJoint>,
    above: Query<'w, 's, &'static Above>,
    is_player: Query<'w, 's, (), With<ClipPlayer>>,
}

/// Finds the joints of players that are new, or whose hierarchy or skeleton changed.
pub(super) fn bind(
    mut commands: Commands,
    mut players: Query<(Entity, &ClipPlayer, &mut ClipJoints)>,
    clips: Res<Assets<ClipAsset>>,
    tree: Tree,
    mut queue: Local<Vec<Entity>>,
    mut markers: Local<Vec<(Entity, ClipJoint)>>,
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
        tree.place(&mut commands, &mut joints, layers.units_per_m);
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
                markers.push((entity, marker));
            }
        }
    }
    // The markers are inserted last, because a joint may have moved here from another player in
    // this frame.
    if !markers.is_empty() {
        commands.try_insert_batch(std::mem::take(&mut *markers));
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
    /// Finds the joints below a player, the upper ones first, and returns the number of names. The
    /// search does not enter the hierarchy below other players.
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
        named
    }

    /// Finds the spaces of the root joints.
    fn place(&self, commands: &mut Commands, joints: &mut ClipJoints, units_per_m: f32) {
        let Some(skeleton) = joints.skeleton().cloned() else { return };
        let rest = |entity: &Option<Entity>| self.transforms.get((*entity)?).ok().copied();
        let rest = joints.entities.iter().map(rest).collect();
        let rest = Rest { skeleton: &skeleton, units_per_m, joints: rest };
        for root in (0..skeleton.len()).filter(|joint| skeleton.parent(*joint).is_none()) {
            let Some(entity) = joints.entity(root) else { continue };
            let known = self.above.get(entity).ok().map(|above| above.0);
            let ancestors = self.parents.iter_ancestors(entity);
            let ancestors = ancestors
                .map(|ancestor| self.transforms.get(ancestor).copied().unwrap_or_default());
            if let Some(above) = known.or_else(|| rest.above(root, ancestors)) {
                joints.spaces.put(root, above, &skeleton);
                if known.is_none() {
                    commands.entity(entity).try_insert(Above(above));
                }
            }
        }
    }
}

type Parents<'w, 's> = Query<'w, 's, &'static ChildOf>;
type Joints<'w, 's> = Query<'w, 's, &'static mut ClipJoints>;

/// Marks the nearest player above an entity.
fn mark_above(entity: Entity, parents: &Parents, joints: &mut Joints) {
    for ancestor in parents.iter_ancestors(entity) {
        if let Ok(mut joints) = joints.get_mut(ancestor) {
            joints.is_current = false;
            return;
        }
    }
}

pub(super) fn on_insert(insert: On<Insert, (ChildOf, Name)>, parents: Parents, mut joints: Joints) {
    mark_above(insert.entity, &parents, &mut joints);
}

pub(super) fn on_discard(
    discard: On<Discard, (ChildOf, Name)>,
    parents: Parents,
    mut joints: Joints,
) {
    mark_above(discard.entity, &parents, &mut joints);
}

/// Marks the player above a new player, because the new one owns its part of the hierarchy.
pub(super) fn on_add_player(add: On<Add, ClipPlayer>, parents: Parents, mut joints: Joints) {
    mark_above(add.entity, &parents, &mut joints);
}

pub(super) fn on_remove_player(
    remove: On<Remove, ClipPlayer>,
    mut commands: Commands,
    parents: Parents,
    mut joints: Joints,
) {
    mark_above(remove.entity, &parents, &mut joints);
    let Ok(own) = joints.get(remove.entity) else { return };
    for entity in own.entities.iter().flatten() {
        commands.entity(*entity).try_remove::<ClipJoint>();
    }
    commands.entity(remove.entity).try_remove::<ClipJoints>();
}
