//! Finds the place at which a further player appears, which is on free floor at the edge of the
//! grid.
//!
//! Places are on rings around the grid. The innermost ring is as far from the grid as the first
//! player's start. In the first ring that has a free place, the module takes the free place that is
//! farthest from all players. A place is free if no other body, in any orientation, can reach into
//! the new cube.
//!
//! The search computes a distance for each body and each place of the searched rings. Most often,
//! this is one ring.

use rapier3d::prelude::*;

use crate::arena::{Arena, CUBE_EDGE_M, PLAYER_EDGE_M};

/// The distance between neighbouring places and between rings, from centre to centre.
const STEP_M: f32 = 2.0;
/// The minimum distance between a new player's cube and all other cubes.
const CLEARANCE_M: f32 = 0.05;

/// Returns the centre of a free place for another player's cube, or `None` if no place up to the
/// walls is free.
pub(crate) fn free_place(arena: Arena, cubes: &[Vector], players: &[Vector]) -> Option<Vector> {
    let farness_m2 = |place: Vector| {
        players
            .iter()
            .map(|player| (*player - place).length_squared())
            .fold(f32::INFINITY, f32::min)
    };
    let is_free = |place: &Vector| {
        let is_clear = |centres: &[Vector], edge_m| {
            centres.iter().all(|centre| !reaches(*centre, edge_m, *place))
        };
        is_clear(players, PLAYER_EDGE_M) && is_clear(cubes, CUBE_EDGE_M)
    };
    rings(arena).find_map(|ring| {
        let free = ring.into_iter().filter(is_free);
        free.max_by(|a, b| farness_m2(*a).total_cmp(&farness_m2(*b)))
    })
}

/// Returns whether a cube at `centre` may reach into a player's cube that stands upright at
/// `place`.
fn reaches(centre: Vector, edge_m: f32, place: Vector) -> bool {
    let half_diagonal_m = edge_m / 2.0 * 3.0_f32.sqrt();
    let outside = ((centre - place).abs() - Vector::splat(PLAYER_EDGE_M / 2.0)).max(Vector::ZERO);
    outside.length() < half_diagonal_m + CLEARANCE_M
}

/// Returns the places inside the walls, ring by ring.
fn rings(arena: Arena) -> impl Iterator<Item = Vec<Vector>> {
    let limit_m = arena.half_width_m - PLAYER_EDGE_M / 2.0 - CLEARANCE_M;
    let [first_x_m, first_y_m] = arena.first_ring_m();
    (0..)
        .map(move |ring: u16| {
            [first_x_m, first_y_m].map(|first_m| first_m + f32::from(ring) * STEP_M)
        })
        .take_while(move |[x_m, y_m]| x_m.min(*y_m) <= limit_m)
        .map(move |[x_m, y_m]| {
            let along_x = line(x_m).flat_map(|along_m| [[along_m, -y_m], [along_m, y_m]]);
            let along_y = line(y_m).flat_map(|along_m| [[-x_m, along_m], [x_m, along_m]]);
            let inside = |[x_m, y_m]: &[f32; 2]| x_m.abs().max(y_m.abs()) <= limit_m;
            let stand = |[x_m, y_m]: [f32; 2]| Vector::new(x_m, y_m, PLAYER_EDGE_M / 2.0);
            // The corners are on both lines, so they occur twice, which is harmless.
            along_x.chain(along_y).filter(inside).map(stand).collect()
        })
}

/// Evenly spaced places from −half to half.
fn line(half_m: f32) -> impl Iterator<Item = f32> {
    let steps = (2.0 * half_m / STEP_M) as u16;
    (0..=steps).map(move |step| half_m * (2.0 * f32::from(step) / f32::from(steps) - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(cubes: u32, players: usize) -> Vec<Vector> {
        let arena = Arena::new(cubes);
        let grid: Vec<Vector> = arena.cube_positions().collect();
        let mut places = vec![arena.player_position()];
        while places.len() < players {
            let place = free_place(arena, &grid, &places).expect("a free place");
            assert!(arena.contains(place));
            assert!(
                places.iter().all(|other| !reaches(*other, PLAYER_EDGE_M, place)),
                "{cubes} cubes: {place}"
            );
            assert!(
                grid.iter().all(|cube| !reaches(*cube, CUBE_EDGE_M, place)),
                "{cubes} cubes: {place}"
            );
            places.push(place);
        }
        places
    }

    #[test]
    fn there_is_room_around_every_grid() {
        for cubes in [0, 1, 2, 10, 900, crate::MAX_CUBES] {
            let places = fill(cubes, crate::MAX_PLAYERS);
            // All players start near the grid.
            let arena = Arena::new(cubes);
            let far_m =
                places.iter().map(|place| place.x.abs().max(place.y.abs())).fold(0.0, f32::max);
            assert!(far_m < arena.grid_half_width_m + 14.0, "{cubes} cubes: {far_m} m");
        }
        // The second player starts on the other side of the grid.
        assert!(fill(900, 2)[1].y > 14.0);
    }

    #[test]
    fn no_place_is_an_answer() {
        let arena = Arena::new(4);
        let everywhere: Vec<Vector> = (0..80)
            .flat_map(|x| {
                (0..80)
                    .map(move |y| Vector::new(x as f32 - 40.0, y as f32 - 40.0, CUBE_EDGE_M / 2.0))
            })
            .collect();
        assert_eq!(free_place(arena, &everywhere, &[]), None);
        assert!(free_place(arena, &[], &[]).is_some());
    }
}
