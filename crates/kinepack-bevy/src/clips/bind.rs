//! Finds the joints of players, and marks their entities.

use bevy_asset::Assets;
use bevy_ecs::lifecycle::Remove;
use bevy_ecs::prelude::*;

use super::{ClipAsset, ClipJoint, ClipJoints, ClipPlayer};
use crate::joints::{Parents, Target, Tree, mark_above};

/// Finds the joints of players that are new, or whose hierarchy or skeleton changed.
pub(super) fn bind(
    mut commands: Commands,
    mut players: Query<(Entity, &ClipPlayer, &mut ClipJoints)>,
    clips: Res<Assets<ClipAsset>>,
    mut tree: Tree<ClipPlayer>,
    marked: Query<&ClipJoint>,
    mut markers: Local<Vec<(Entity, ClipJoint)>>,
) {
    for (player, layers, mut joints) in &mut players {
        let Some(clip) = layers.base().find_map(|layer| clips.get(&layer.clip)) else { continue };
        if joints.are_of(clip) {
            continue;
        }
        let old = std::mem::take(&mut joints.found.entities);
        let target = Target {
            skeleton: clip.skeleton(),
            names: clip.names(),
            units_per_m: layers.units_per_m,
            advice: "play clips that were built from the model's file",
        };
        tree.bind(&mut commands, player, &target, &mut joints.found);
        joints.set_hashes(clip);
        let entities = &joints.found.entities;
        for entity in old.into_iter().flatten().filter(|old| !entities.contains(&Some(*old))) {
            if marked.get(entity).is_ok_and(|joint| joint.player == player) {
                commands.entity(entity).try_remove::<ClipJoint>();
            }
        }
        for (joint, entity) in entities.iter().enumerate() {
            let marker = ClipJoint { player, joint: joint as u16 };
            if let Some(entity) = *entity
                && marked.get(entity) != Ok(&marker)
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

pub(super) fn on_remove_player(
    remove: On<Remove, ClipPlayer>,
    mut commands: Commands,
    parents: Parents,
    mut joints: Query<&mut ClipJoints>,
) {
    mark_above(remove.entity, &parents, &mut joints);
    let Ok(own) = joints.get(remove.entity) else { return };
    for entity in own.found.entities.iter().flatten() {
        commands.entity(*entity).try_remove::<ClipJoint>();
    }
    commands.entity(remove.entity).try_remove::<ClipJoints>();
}
