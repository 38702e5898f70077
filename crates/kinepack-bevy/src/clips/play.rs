//! The systems of each frame: one samples the poses of all players, and the other writes them to
//! the joints. Both run in parallel, and allocate nothing once all joints are found. There are two
//! systems because the joints of a player are entities of their own, which only another query may
//! change.

use bevy_asset::Assets;
use bevy_ecs::prelude::*;
use bevy_time::Time;
use bevy_transform::components::Transform;

use super::{ClipAsset, ClipJoint, ClipJoints, ClipPlayer};

/// Advances all players, and samples their poses.
pub(super) fn sample(
    mut players: Query<(&mut ClipPlayer, &mut ClipJoints)>,
    clips: Res<Assets<ClipAsset>>,
    time: Res<Time>,
) {
    let delta_s = time.delta_secs();
    players.par_iter_mut().for_each(|(mut player, mut joints)| {
        // Change detection is bypassed, because other systems do not react to the passing of time.
        let (player, joints) = (player.bypass_change_detection(), joints.bypass_change_detection());
        player.advance(delta_s, &clips);
        if let Some(hashes) = joints.hashes() {
            joints.units_per_m = player.units_per_m;
            joints.pose.sample(player, &clips, hashes);
        }
    });
}

/// Writes the poses to the joints. A transform that keeps its value does not count as changed.
pub(super) fn write(mut joints: Query<(&ClipJoint, &mut Transform)>, players: Query<&ClipJoints>) {
    // Neighbours in memory are usually joints of the same player.
    let first: Option<(Entity, Option<&ClipJoints>)> = None;
    joints.par_iter_mut().for_each_init(
        || first,
        |last, (joint, mut transform)| {
            let pose = match *last {
                Some((player, pose)) if player == joint.player => pose,
                _ => players.get(joint.player).ok(),
            };
            *last = Some((joint.player, pose));
            if let Some(new) = pose.and_then(|pose| pose.transform(joint.joint())) {
                transform.set_if_neq(new);
            }
        },
    );
}
