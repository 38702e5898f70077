//! Where a shot ends: at the first player or wall in its way.

use kinepack::EntityId;

use crate::map::{HALF_M, RADIUS_M, WALLS, Wall, length};

/// A target: a player and his place in the world.
pub type Target = (EntityId, [f64; 2]);

/// A shot goes this far.
pub const RANGE_M: f64 = 40.0;

/// Follows a shot from a place into a direction. Returns whom it hits, if anybody, and how far it
/// goes. Players behind walls are not hit.
pub fn follow(
    from: [f64; 2],
    aim: [f64; 2],
    targets: impl IntoIterator<Item = Target>,
) -> (Option<EntityId>, f64) {
    let reach = length(aim);
    if reach == 0.0 {
        return (None, 0.0);
    }
    let aim = aim.map(|component| component / reach);
    let walls = WALLS.iter().filter_map(|wall| distance_to_wall(from, aim, wall));
    let end = walls.fold(distance_to_edge(from, aim).min(RANGE_M), f64::min);
    let hits = targets.into_iter().filter_map(|(id, place)| {
        let distance = distance_to_disc(from, aim, place)?;
        (distance < end).then_some((id, distance))
    });
    // Of two at the same distance, the one with the lower id, in whatever order they come.
    let first =
        hits.min_by(|(id, distance), (other, its)| distance.total_cmp(its).then(id.cmp(other)));
    first.map_or((None, end), |(id, distance)| (Some(id), distance))
}

/// How far it is along the direction `aim` to a player at `place`.
fn distance_to_disc(from: [f64; 2], aim: [f64; 2], place: [f64; 2]) -> Option<f64> {
    let to = [0, 1].map(|axis| place[axis] - from[axis]);
    let along = to[0] * aim[0] + to[1] * aim[1];
    let beside = to[0] * aim[1] - to[1] * aim[0];
    let half = RADIUS_M * RADIUS_M - beside * beside;
    (along > 0.0 && half >= 0.0).then(|| (along - half.sqrt()).max(0.0))
}

/// How far it is along the direction `aim` to a wall.
fn distance_to_wall(from: [f64; 2], aim: [f64; 2], wall: &Wall) -> Option<f64> {
    let (mut enters, mut leaves) = (0.0f64, f64::INFINITY);
    for axis in 0..2 {
        let [low, high] =
            [-1.0, 1.0].map(|side| wall.at[axis] + side * wall.half[axis] - from[axis]);
        if aim[axis] == 0.0 {
            if low > 0.0 || high < 0.0 {
                return None;
            }
            continue;
        }
        let [first, second] = [low, high].map(|edge| edge / aim[axis]);
        enters = enters.max(first.min(second));
        leaves = leaves.min(first.max(second));
    }
    (enters <= leaves).then_some(enters)
}

/// How far it is along the direction `aim` to the end of the arena.
fn distance_to_edge(from: [f64; 2], aim: [f64; 2]) -> f64 {
    (0..2).fold(f64::INFINITY, |end, axis| {
        let edge = HALF_M[axis].copysign(aim[axis]) - from[axis];
        if aim[axis] == 0.0 { end } else { end.min((edge / aim[axis]).max(0.0)) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEAR: Target = (EntityId(17), [-20.0, 8.0]);
    const FAR: Target = (EntityId(16), [-16.0, 8.0]);

    #[test]
    fn the_first_player_in_the_way_is_hit() {
        let from = [-26.0, 8.0];
        let (hit, distance) = follow(from, [2.0, 0.0], [FAR, NEAR]);
        assert_eq!(hit, Some(NEAR.0));
        assert!((distance - 5.6).abs() < 1e-9, "{distance}");
        assert_eq!(follow(from, [1.0, 0.07], [NEAR]).0, None, "0.42 m beside him");
        assert_eq!(follow(from, [-1.0, 0.0], [NEAR, FAR]), (None, 2.0), "behind the shooter");
        assert_eq!(follow(from, [0.0, 0.0], [NEAR]), (None, 0.0), "aims at nothing");
    }

    #[test]
    fn a_wall_protects() {
        // The wall at x = -14.5 to -13.5.
        let target = (EntityId(20), [-12.0, -6.0]);
        assert_eq!(follow([-18.0, -6.0], [1.0, 0.0], [target]), (None, 3.5));
        assert_eq!(follow([-18.0, -1.0], [6.0, -5.0], [target]).0, None);
        assert_eq!(follow([-13.0, -1.0], [1.0, -5.0], [target]).0, Some(target.0));
        assert_eq!(follow([0.0, 0.0], [0.0, 3.0], []), (None, HALF_M[1]));
    }
}
