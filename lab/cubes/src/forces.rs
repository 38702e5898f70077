//! Turns a player's keys into impulses on its cube and on the cubes of the grid around it.
//!
//! This follows the article's demo. Strafing is a force a little above the centre, so the cube tips
//! over its edge and rolls. *Push* makes the player hover and blows the cubes around it away.
//! *Pull* draws cubes in and drags them along, like a katamari ball. The constants are
//! accelerations rather than forces, so masses do not matter. Players do not push or pull each
//! other: a pulling player would hold all players nearby with more than their own strength.
//!
//! An engine force would stay on until it is reset, so this module uses impulses. It touches, and
//! so wakes, only bodies within reach. While push or pull is held, the module computes one distance
//! for every cube.

use rapier3d::prelude::*;

use crate::input::Input;
use crate::players::Part;

/// Acceleration of the player in the held direction. It must overcome friction and tipping.
const STRAFE_M_PER_S2: f32 = 26.0;
/// Speed in the held direction at which strafing no longer accelerates.
const STRAFE_LIMIT_M_PER_S: f32 = 10.0;
/// Height above the centre at which strafing acts. It is high enough to tip the cube over its edge.
const STRAFE_HEIGHT_M: f32 = 0.5;

/// The distance from the player's centre within which a push acts.
const PUSH_REACH_M: f32 = 5.0;
/// Acceleration of a push at the player's centre. It falls linearly to zero at a distance of
/// `PUSH_REACH_M`.
const PUSH_M_PER_S2: f32 = 100.0;
/// The upward share of a push.
const PUSH_LIFT_RATIO: f32 = 0.25;
/// Height at which the player's centre hovers while pushing.
const HOVER_HEIGHT_M: f32 = 2.0;
const HOVER_STIFFNESS_PER_S2: f32 = 60.0;
const HOVER_DAMPING_PER_S: f32 = 8.0;

/// The distance from the player's centre within which a pull acts.
const PULL_REACH_M: f32 = 3.5;
/// Acceleration of a pull. With friction it must outweigh gravity, so that cubes can hang on below.
const PULL_M_PER_S2: f32 = 60.0;
/// The rate at which a pulled cube takes on the player's motion at the cube's position.
const PULL_DRAG_PER_S: f32 = 4.0;

/// Applies one tick of a player's `input` to its body and to the cubes.
///
/// Calls `touched` for every cube that a push or pull reaches, with its number from 0.
pub(crate) fn apply(
    input: Input,
    tick_s: f32,
    bodies: &mut RigidBodySet,
    player_handle: RigidBodyHandle,
    cubes: &[Part],
    mut touched: impl FnMut(usize),
) {
    strafe(input, tick_s, &mut bodies[player_handle]);
    if input.push {
        hover(tick_s, &mut bodies[player_handle]);
    }
    if !input.push && !input.pull {
        return;
    }

    let player = Player::of(&bodies[player_handle]);
    let mut reaction = Vector::ZERO;
    for (cube, &Part { body: handle, .. }) in cubes.iter().enumerate() {
        // The position is read first, because a mutable borrow marks the body as changed, which
        // costs time in the engine's next step.
        let offset = bodies[handle].translation() - player.position;
        let distance_m = offset.length();
        let mut acceleration = Vector::ZERO;
        if input.push && distance_m < PUSH_REACH_M {
            acceleration += push(offset, distance_m);
        }
        if input.pull && distance_m < PULL_REACH_M {
            let pulled = player.pull(offset, distance_m, bodies[handle].linvel());
            // The player gets the reaction. Otherwise a load on one side would push the player and
            // lift it off the floor.
            reaction -= pulled * bodies[handle].mass() * tick_s;
            acceleration += pulled;
        }
        if acceleration != Vector::ZERO {
            let body = &mut bodies[handle];
            body.apply_impulse(acceleration * body.mass() * tick_s, true);
            touched(cube);
        }
    }
    if reaction != Vector::ZERO {
        bodies[player_handle].apply_impulse(reaction, true);
    }
}

/// The part of the player's motion that pulled cubes follow.
struct Player {
    position: Vector,
    velocity: Vector,
    spin: AngVector,
}

impl Player {
    fn of(body: &RigidBody) -> Self {
        Self { position: body.translation(), velocity: body.linvel(), spin: body.angvel() }
    }

    /// Acceleration of a pulled cube: towards the player, and towards the motion of a point of the
    /// player's body.
    fn pull(&self, offset: Vector, distance_m: f32, cube_velocity: Vector) -> Vector {
        let carried = self.velocity + self.spin.cross(offset);
        let inwards = -offset / distance_m.max(f32::EPSILON);
        inwards * PULL_M_PER_S2 + (carried - cube_velocity) * PULL_DRAG_PER_S
    }
}

fn strafe(input: Input, tick_s: f32, player: &mut RigidBody) {
    let [x, y] = input.direction();
    if (x, y) == (0, 0) {
        return;
    }
    let direction = Vector::new(f32::from(x), f32::from(y), 0.0).normalize();
    let speed_ratio = player.linvel().dot(direction) / STRAFE_LIMIT_M_PER_S;
    // The clamp also limits the force against the motion to the full force. Otherwise the player
    // would turn around with a jerk.
    let acceleration = STRAFE_M_PER_S2 * (1.0 - speed_ratio).clamp(0.0, 1.0);
    let hold = player.translation() + Vector::Z * STRAFE_HEIGHT_M;
    player.apply_impulse_at_point(direction * acceleration * player.mass() * tick_s, hold, true);
}

/// Holds the player up with a damped spring that only pushes upwards.
fn hover(tick_s: f32, player: &mut RigidBody) {
    let rise_m = HOVER_HEIGHT_M - player.translation().z;
    let weight_m_per_s2 = -crate::world::GRAVITY_M_PER_S2;
    let acceleration =
        weight_m_per_s2 + rise_m * HOVER_STIFFNESS_PER_S2 - player.linvel().z * HOVER_DAMPING_PER_S;
    player.apply_impulse(Vector::Z * acceleration.max(0.0) * player.mass() * tick_s, true);
}

/// Acceleration of a cube at `offset` from a pushing player.
fn push(offset: Vector, distance_m: f32) -> Vector {
    // The hovering player is above the cubes, and a push downwards would pin them to the floor. So
    // only x and y count.
    let outwards = Vector::new(offset.x, offset.y, 0.0).normalize_or_zero();
    let strength = PUSH_M_PER_S2 * (1.0 - distance_m / PUSH_REACH_M);
    (outwards + Vector::Z * PUSH_LIFT_RATIO) * strength
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK_S: f32 = 1.0 / 60.0;

    fn player_and_cube(cube_x_m: f32) -> (RigidBodySet, RigidBodyHandle, [Part; 1]) {
        let mut bodies = RigidBodySet::new();
        let [player, cube] = [0.0, cube_x_m].map(|x_m| {
            bodies.insert(
                RigidBodyBuilder::dynamic()
                    .translation(Vector::new(x_m, 0.0, 2.0))
                    .additional_mass(1.0),
            )
        });
        (bodies, player, [Part { body: cube, collider: ColliderHandle::invalid() }])
    }

    fn cubes_touched(input: Input, cube_x_m: f32) -> Vec<usize> {
        let (mut bodies, player, cubes) = player_and_cube(cube_x_m);
        let mut touched = Vec::new();
        apply(input, TICK_S, &mut bodies, player, &cubes, |cube| {
            touched.push(cube);
        });
        touched
    }

    #[test]
    fn push_and_pull_have_a_limited_reach() {
        let push = Input { push: true, ..Input::default() };
        let pull = Input { pull: true, ..Input::default() };
        assert_eq!(cubes_touched(push, PUSH_REACH_M - 0.1), [0]);
        assert_eq!(cubes_touched(push, PUSH_REACH_M + 0.1), [0; 0]);
        assert_eq!(cubes_touched(pull, PULL_REACH_M - 0.1), [0]);
        assert_eq!(cubes_touched(pull, PULL_REACH_M + 0.1), [0; 0]);
        assert_eq!(cubes_touched(Input::default(), 1.0), [0; 0]);
    }

    #[test]
    fn push_goes_outwards_and_up_and_pull_inwards() {
        let pushed = push(Vector::new(2.0, 0.0, -1.0), 5.0_f32.sqrt());
        assert!(pushed.x > 0.0 && pushed.z > 0.0 && pushed.y == 0.0);
        let player =
            Player { position: Vector::ZERO, velocity: Vector::ZERO, spin: AngVector::ZERO };
        let pulled = player.pull(Vector::new(2.0, 0.0, 0.0), 2.0, Vector::ZERO);
        assert_eq!(pulled, Vector::new(-PULL_M_PER_S2, 0.0, 0.0));
        assert!(push(Vector::ZERO, 0.0).is_finite());
        assert!(player.pull(Vector::ZERO, 0.0, Vector::ZERO).is_finite());
    }
}
