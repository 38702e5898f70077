//! The scene at tick 0: the floor, invisible walls and ceiling, the grid of cubes, and the player
//! next to it.
//!
//! Positions must fit a codec's ranges, so the room is closed. In the article's scene, |x|, |y| <
//! 32 m and z < 32 m. For larger grids, the room is wider. Bodies under load or at high speed sink
//! into the walls a little, so [`Arena::confine`] enforces a hard bound.

use rapier3d::prelude::*;

/// The edge length of a small cube.
pub const CUBE_EDGE_M: f32 = 0.4;
/// The edge length of the player's cube.
pub const PLAYER_EDGE_M: f32 = 1.5;

/// The distance between neighbouring cubes in the grid, from centre to centre.
const GRID_SPACING_M: f32 = 1.0;
/// Half the width of the room for up to 30 × 30 cubes. It is below 32 m, the range of 15 bits at
/// 1/512 m.
const MIN_HALF_WIDTH_M: f32 = 31.5;
/// The width of the free floor between a large grid and the walls.
const MARGIN_M: f32 = 16.0;
/// The height of the ceiling. It is below 32 m, the range of 14 bits at 1/512 m.
const HEIGHT_M: f32 = 31.5;
/// Half the thickness of floor, walls and ceiling. It is much more than the 0.5 m that a body can
/// move in a tick.
const HALF_THICKNESS_M: f32 = 4.0;
/// The gap between the grid's first row of cubes and the player's cube at tick 0.
const PLAYER_GAP_M: f32 = 1.0;
const FRICTION: f32 = 0.7;

/// The measures of the room and the grid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arena {
    cubes: u32,
    columns: u32,
    rows: u32,
    /// The distance of the walls' inner faces from the origin in x and y. It is below 128 m for
    /// every valid number of cubes.
    pub(crate) half_width_m: f32,
    /// Half the longer side of the grid, from the centre to the middle of its outermost cubes.
    pub(crate) grid_half_width_m: f32,
}

impl Arena {
    /// Lays out `cubes` cubes on a near-square grid that is centred on the origin.
    pub(crate) fn new(cubes: u32) -> Self {
        let root = cubes.isqrt();
        let columns = if root * root == cubes { root } else { root + 1 };
        let rows = cubes.div_ceil(columns.max(1));
        let grid_half_width_m = half_extent_m(columns);
        Self {
            cubes,
            columns,
            rows,
            half_width_m: MIN_HALF_WIDTH_M.max(grid_half_width_m + MARGIN_M),
            grid_half_width_m,
        }
    }

    /// Returns the cubes' centres in the order of their entity numbers, row by row.
    pub(crate) fn cube_positions(self) -> impl Iterator<Item = Vector> {
        (0..self.cubes).map(move |cube| {
            let column = cube % self.columns;
            let row = cube / self.columns;
            Vector::new(
                column as f32 * GRID_SPACING_M - half_extent_m(self.columns),
                row as f32 * GRID_SPACING_M - half_extent_m(self.rows),
                CUBE_EDGE_M / 2.0,
            )
        })
    }

    /// Returns the first player's centre at tick 0, on the floor in front of the grid's first row.
    pub(crate) fn player_position(self) -> Vector {
        let first_row_y_m = -half_extent_m(self.rows) - CUBE_EDGE_M / 2.0;
        let half_edge_m = PLAYER_EDGE_M / 2.0;
        Vector::new(0.0, first_row_y_m - PLAYER_GAP_M - half_edge_m, half_edge_m)
    }

    /// Returns the distance in x and in y from the origin to a player's centre next to the grid.
    pub(crate) fn first_ring_m(self) -> [f32; 2] {
        let beside_m = CUBE_EDGE_M / 2.0 + PLAYER_GAP_M + PLAYER_EDGE_M / 2.0;
        [self.columns, self.rows].map(|count| half_extent_m(count) + beside_m)
    }

    /// Floor, ceiling and four walls, as fixed colliders.
    pub(crate) fn boundaries(self) -> [Collider; 6] {
        // Each slab overlaps the ends of its neighbours, so the corners are closed.
        let thickness_m = HALF_THICKNESS_M;
        let reach_m = self.half_width_m + 2.0 * thickness_m;
        let middle_m = HEIGHT_M / 2.0;
        let half_height_m = middle_m + 2.0 * thickness_m;
        let wall_m = self.half_width_m + thickness_m;
        let slab = |half_extents: [f32; 3], centre: [f32; 3]| {
            ColliderBuilder::cuboid(half_extents[0], half_extents[1], half_extents[2])
                .translation(Vector::from_array(centre))
                .friction(FRICTION)
                .user_data(NOT_A_CUBE)
                .build()
        };
        let across = [reach_m, reach_m, thickness_m];
        let along_x = [thickness_m, reach_m, half_height_m];
        let along_y = [reach_m, thickness_m, half_height_m];
        [
            slab(across, [0.0, 0.0, -thickness_m]),
            slab(across, [0.0, 0.0, HEIGHT_M + thickness_m]),
            slab(along_x, [-wall_m, 0.0, middle_m]),
            slab(along_x, [wall_m, 0.0, middle_m]),
            slab(along_y, [0.0, -wall_m, middle_m]),
            slab(along_y, [0.0, wall_m, middle_m]),
        ]
    }

    /// Returns whether a body's centre is inside the room.
    pub(crate) fn contains(self, position: Vector) -> bool {
        self.nearest_inside(position) == position
    }

    /// Moves a body back if its centre is outside of the room, and removes its outward velocity.
    pub(crate) fn confine(self, body: &mut RigidBody) {
        let position = body.translation();
        let confined = self.nearest_inside(position);
        let kept = Vector::select(confined.cmpeq(position), body.linvel(), Vector::ZERO);
        body.set_translation(confined, true);
        body.set_linvel(kept, true);
    }

    fn nearest_inside(self, position: Vector) -> Vector {
        let low = Vector::new(-self.half_width_m, -self.half_width_m, 0.0);
        let high = Vector::new(self.half_width_m, self.half_width_m, HEIGHT_M);
        position.clamp(low, high)
    }
}

/// The `user_data` of all colliders except those of the grid's cubes: the colliders of the room and
/// of the players. The collider of a cube has the cube's index instead, counted from 0.
pub(crate) const NOT_A_CUBE: u128 = u128::MAX;

/// Returns the collider of a cube whose edge length is `edge_m`. Its density is 1, so a player
/// weighs as much as 53 cubes.
pub(crate) fn cube_collider(edge_m: f32, user_data: u128) -> Collider {
    let half_edge_m = edge_m / 2.0;
    ColliderBuilder::cuboid(half_edge_m, half_edge_m, half_edge_m)
        .friction(FRICTION)
        .user_data(user_data)
        .build()
}

/// Returns half the distance between the first and the last of `count` cubes in a line.
fn half_extent_m(count: u32) -> f32 {
    count.saturating_sub(1) as f32 * GRID_SPACING_M / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_are_near_square_centred_and_inside() {
        for (cubes, columns, rows) in [(0, 0, 0), (1, 1, 1), (2, 2, 1), (3, 2, 2), (7, 3, 3)]
            .into_iter()
            .chain([(900, 30, 30), (901, 31, 30), (10_000, 100, 100)])
        {
            let arena = Arena::new(cubes);
            assert_eq!((arena.columns, arena.rows), (columns, rows), "{cubes} cubes");
            assert!(arena.half_width_m < 128.0);
            let positions: Vec<Vector> = arena.cube_positions().collect();
            assert_eq!(positions.len(), cubes as usize);
            for position in positions {
                assert!(position.x.abs() <= arena.grid_half_width_m);
                assert!(position.y.abs() <= arena.grid_half_width_m);
            }
            assert!(arena.player_position().y > 1.0 - arena.half_width_m);
        }
        assert_eq!(Arena::new(900).half_width_m, MIN_HALF_WIDTH_M);
    }

    #[test]
    fn a_body_outside_is_put_back_at_the_wall() {
        let arena = Arena::new(900);
        let mut body = RigidBodyBuilder::dynamic()
            .translation(Vector::new(40.0, 0.0, -1.0))
            .linvel(Vector::new(5.0, 6.0, -7.0))
            .build();
        assert!(!arena.contains(body.translation()));
        arena.confine(&mut body);
        assert!(arena.contains(body.translation()));
        assert_eq!(body.translation(), Vector::new(31.5, 0.0, 0.0));
        assert_eq!(body.linvel(), Vector::new(0.0, 6.0, 0.0));
    }
}
