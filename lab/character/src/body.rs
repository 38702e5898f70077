//! The character walks, brakes, jumps and falls as in Unreal's character movement with default
//! settings.
//!
//! This is `UCharacterMovementComponent::CalcVelocity`, simplified for open ground. Friction turns
//! the velocity into the requested direction. Braking ends at exactly zero. In the air, the player
//! has little control. To give the same bits on every platform, the module uses `f64` with only + −
//! × ÷ √ in a fixed order, and `libm`'s sine and cosine.

use crate::record::{FALLING, WALKING};
use crate::terrain;

/// The maximum speed on the ground while the player walks. The next constants are the maximum
/// speeds of other gaits.
const WALK_CM_PER_S: f64 = 600.0;
const SPRINT_CM_PER_S: f64 = 900.0;
const CROUCH_CM_PER_S: f64 = 300.0;
/// The acceleration that the player requests by fully held keys.
const ACCELERATION_CM_PER_S2: f64 = 2048.0;
/// The rate at which the velocity turns into the requested direction.
const FRICTION_PER_S: f64 = 8.0;
/// The braking of a character while the player requests no motion. It is a share of the velocity,
/// plus a constant.
const BRAKING_FRICTION_PER_S: f64 = 16.0;
const BRAKING_CM_PER_S2: f64 = 2048.0;
/// A braking character stops if the square of its speed is below this: √10 cm/s.
const STOP_SQUARED: f64 = 10.0;
/// A speed counts as above its limit if it exceeds this multiple of the limit, which is 1 % more.
const ABOVE_LIMIT_RATIO: f64 = 1.01;

const JUMP_CM_PER_S: f64 = 420.0;
const GRAVITY_CM_PER_S2: f64 = -980.0;
/// The share of the acceleration that acts in the air.
const AIR_CONTROL_RATIO: f64 = 0.05;

/// The distance from the ground to the middle of the capsule, which floats a little above the
/// ground.
const HALF_HEIGHT_CM: f64 = 88.0 + 2.15;
const CROUCHED_HALF_HEIGHT_CM: f64 = 40.0 + 2.15;

/// The speed at which the player wants to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gait {
    Walk,
    Sprint,
    Crouch,
}

/// The orders to the body for one frame.
pub(crate) struct Order {
    pub(crate) gait: Gait,
    /// The requested direction, forward and right. Its length is at most 1.
    pub(crate) input: [f64; 2],
    /// The yaw of the direction that counts as forward.
    pub(crate) yaw_deg: f64,
    /// Whether the player pressed the jump key.
    pub(crate) jumps: bool,
}

/// The position and the motion of the character, in cm and seconds.
pub(crate) struct Body {
    pub(crate) location: [f64; 3],
    pub(crate) velocity: [f64; 3],
    /// The requested acceleration, whose z is 0.
    pub(crate) acceleration: [f64; 3],
    is_falling: bool,
    is_crouched: bool,
}

impl Body {
    /// Returns a character that stands on the ground at the position `x`, `y`.
    pub(crate) fn new([x, y]: [f64; 2]) -> Self {
        let location = [x, y, terrain::height_cm(x, y) + HALF_HEIGHT_CM];
        Self {
            location,
            velocity: [0.0; 3],
            acceleration: [0.0; 3],
            is_falling: false,
            is_crouched: false,
        }
    }

    pub(crate) fn movement_mode(&self) -> u8 {
        if self.is_falling { FALLING } else { WALKING }
    }

    /// Moves the character for `frame_s` seconds.
    pub(crate) fn step(&mut self, order: &Order, frame_s: f64) {
        let [x, y] =
            in_the_world(order.input, order.yaw_deg).map(|part| part * ACCELERATION_CM_PER_S2);
        self.acceleration = [x, y, 0.0];
        if order.jumps && !self.is_falling {
            self.is_falling = true;
            self.velocity[2] = JUMP_CM_PER_S;
        }
        let strength = length(order.input);
        if self.is_falling {
            self.fall(limit_cm_per_s(order.gait) * strength, frame_s);
        } else {
            self.is_crouched = order.gait == Gait::Crouch;
            self.walk(limit_cm_per_s(order.gait) * strength, frame_s);
        }
    }

    fn walk(&mut self, limit: f64, frame_s: f64) {
        let [ax, ay, _] = self.acceleration;
        let old = [self.velocity[0], self.velocity[1]];
        let speed = length(old);
        let asks = [ax, ay] != [0.0; 2];
        let mut velocity;
        if !asks || speed > limit * ABOVE_LIMIT_RATIO {
            velocity = braked(old, frame_s);
            // A character above the limit brakes down to the limit, not below it.
            if asks && length(velocity) < limit && ax * old[0] + ay * old[1] > 0.0 {
                velocity = old.map(|part| part * (limit / speed));
            }
        } else {
            let size = length([ax, ay]);
            let ratio = (frame_s * FRICTION_PER_S).min(1.0);
            velocity = [ax, ay].map(|part| part / size * speed);
            velocity = [0, 1].map(|axis| old[axis] - (old[axis] - velocity[axis]) * ratio);
        }
        if asks {
            velocity = accelerated(velocity, [ax, ay], limit, frame_s);
        }
        self.velocity = [velocity[0], velocity[1], 0.0];
        self.location[0] += velocity[0] * frame_s;
        self.location[1] += velocity[1] * frame_s;
        self.location[2] = self.lowest_z();
    }

    fn fall(&mut self, limit: f64, frame_s: f64) {
        let control =
            [self.acceleration[0], self.acceleration[1]].map(|part| part * AIR_CONTROL_RATIO);
        let [x, y] = accelerated([self.velocity[0], self.velocity[1]], control, limit, frame_s);
        let z = self.velocity[2] + GRAVITY_CM_PER_S2 * frame_s;
        let rise = (self.velocity[2] + z) / 2.0;
        self.velocity = [x, y, z];
        for (location, rate) in self.location.iter_mut().zip([x, y, rise]) {
            *location += rate * frame_s;
        }
        let lowest_z = self.lowest_z();
        if self.location[2] <= lowest_z {
            self.location[2] = lowest_z;
            self.velocity[2] = 0.0;
            self.is_falling = false;
        }
    }

    /// The height of the capsule's middle while the feet are on the ground.
    fn lowest_z(&self) -> f64 {
        let half_height_cm =
            if self.is_crouched { CROUCHED_HALF_HEIGHT_CM } else { HALF_HEIGHT_CM };
        terrain::height_cm(self.location[0], self.location[1]) + half_height_cm
    }
}

fn limit_cm_per_s(gait: Gait) -> f64 {
    match gait {
        Gait::Walk => WALK_CM_PER_S,
        Gait::Sprint => SPRINT_CM_PER_S,
        Gait::Crouch => CROUCH_CM_PER_S,
    }
}

/// Accelerates up to the limit, or up to the current speed if that is above the limit.
fn accelerated(velocity: [f64; 2], acceleration: [f64; 2], limit: f64, frame_s: f64) -> [f64; 2] {
    let before = length(velocity);
    let most = if before > limit * ABOVE_LIMIT_RATIO { before } else { limit };
    let faster = [0, 1].map(|axis| velocity[axis] + acceleration[axis] * frame_s);
    let speed = length(faster);
    if speed > most { faster.map(|part| part * (most / speed)) } else { faster }
}

/// Slows the character down until it rests.
fn braked(velocity: [f64; 2], frame_s: f64) -> [f64; 2] {
    let speed = length(velocity);
    if speed == 0.0 {
        return [0.0; 2];
    }
    let slower = velocity.map(|part| {
        part - (part * BRAKING_FRICTION_PER_S + part / speed * BRAKING_CM_PER_S2) * frame_s
    });
    let along = slower[0] * velocity[0] + slower[1] * velocity[1];
    let squared = slower[0] * slower[0] + slower[1] * slower[1];
    if along <= 0.0 || squared < STOP_SQUARED { [0.0; 2] } else { slower }
}

/// Converts a direction from the view's forward and right to the x and y of the world.
fn in_the_world([forward, right]: [f64; 2], yaw_deg: f64) -> [f64; 2] {
    if [forward, right] == [0.0; 2] {
        return [0.0; 2];
    }
    let yaw_rad = yaw_deg * (core::f64::consts::PI / 180.0);
    let (sine, cosine) = (libm::sin(yaw_rad), libm::cos(yaw_rad));
    [forward * cosine - right * sine, forward * sine + right * cosine]
}

fn length([x, y]: [f64; 2]) -> f64 {
    (x * x + y * y).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(gait: Gait, input: [f64; 2]) -> Order {
        Order { gait, input, yaw_deg: 90.0, jumps: false }
    }

    fn run(body: &mut Body, order: &Order, frames: u32) {
        (0..frames).for_each(|_| body.step(order, 1.0 / 60.0));
    }

    #[test]
    fn gaits_have_their_speeds_and_standing_is_exact() {
        let mut body = Body::new([0.0, 0.0]);
        for (gait, speed) in [(Gait::Walk, 600.0), (Gait::Sprint, 900.0), (Gait::Crouch, 300.0)] {
            run(&mut body, &order(gait, [1.0, 0.0]), 60);
            assert!((body.velocity[1] - speed).abs() < 1e-6, "{gait:?}: {:?}", body.velocity);
        }
        run(&mut body, &order(Gait::Walk, [0.0, 0.5]), 60);
        assert!((body.velocity[0] + 300.0).abs() < 1e-6, "right of y is −x: {:?}", body.velocity);
        run(&mut body, &order(Gait::Walk, [0.0; 2]), 20);
        let rest = body.location;
        run(&mut body, &order(Gait::Walk, [0.0; 2]), 20);
        assert_eq!((body.location, body.velocity, body.acceleration), (rest, [0.0; 3], [0.0; 3]));
    }

    #[test]
    fn a_jump_goes_up_90_cm_and_comes_down() {
        let mut body = Body::new([0.0, 0.0]);
        let ground = body.location[2];
        let jump = Order { jumps: true, ..order(Gait::Walk, [0.0; 2]) };
        body.step(&jump, 1.0 / 60.0);
        assert_eq!(body.movement_mode(), FALLING);
        let mut highest = 0.0_f64;
        for _ in 0..60 {
            highest = highest.max(body.location[2] - ground);
            body.step(&order(Gait::Walk, [0.0; 2]), 1.0 / 60.0);
        }
        assert!((89.0..90.1).contains(&highest), "{highest}");
        assert_eq!(
            (body.location[2], body.velocity, body.movement_mode()),
            (ground, [0.0; 3], WALKING)
        );
    }
}
