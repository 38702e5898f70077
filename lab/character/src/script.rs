//! A scripted player that behaves like a person, so that streams of any length need no person.
//!
//! The player does one activity for some seconds, and then another. A table has the chance and the
//! duration of each activity:
//!
//! | activity | chosen | lasts | view | what it does |
//! |---|---|---|---|---|
//! | stand | 27 % | 0.5 to 6.5 s | still | nothing: only the time changes, once the last turn and step have ended |
//! | look around | 25 % | 1 to 5 s | around | turns the view on the spot |
//! | walk | 26 % | 2 to 8 s | the way | up to 600 cm/s by keys, one time in five by an analog stick; jumps |
//! | sprint | 13 % | 2 to 6 s | the way | up to 900 cm/s, forward; jumps |
//! | crouch | 9 % | 1 to 5 s | the way | up to 300 cm/s; no jumps |
//!
//! With this table, the player stands for a quarter of the time, looks around for a fifth, and
//! moves for the rest. It jumps every 2 to 8 s of walking and sprinting, and holds the key for 60
//! to 220 ms. The habits of the hands are in `mouse` and `stick`, and the habits in fights are in
//! `gear`.

use core::ops::RangeInclusive;

use crate::body::{Body, Gait, Order};
use crate::clock::Clock;
use crate::gear::Gear;
use crate::mouse::{Gaze, Mouse};
use crate::random::Random;
use crate::record::{Flags, Move};
use crate::stick::{Device, Stick};

/// The player's activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Activity {
    /// The player holds no keys.
    Stand,
    /// The player turns the view on the spot.
    Look,
    /// The player walks.
    Walk,
    /// The player runs forward.
    Sprint,
    /// The player walks crouched.
    Crouch,
}

impl Activity {
    /// Every activity, in the order of the table.
    pub const ALL: [Activity; 5] =
        [Activity::Stand, Activity::Look, Activity::Walk, Activity::Sprint, Activity::Crouch];

    /// Returns whether the left hand moves the character.
    pub const fn is_moving(self) -> bool {
        matches!(self, Activity::Walk | Activity::Sprint | Activity::Crouch)
    }

    /// Returns the chance that the activity is chosen, in percent.
    const fn percent(self) -> u32 {
        match self {
            Activity::Stand => 27,
            Activity::Look => 25,
            Activity::Walk => 26,
            Activity::Sprint => 13,
            Activity::Crouch => 9,
        }
    }

    /// Returns the shortest and longest duration of the activity, in milliseconds.
    const fn ms(self) -> RangeInclusive<u32> {
        match self {
            Activity::Stand => 500..=6500,
            Activity::Look | Activity::Crouch => 1000..=5000,
            Activity::Walk => 2000..=8000,
            Activity::Sprint => 2000..=6000,
        }
    }

    const fn gaze(self) -> Gaze {
        match self {
            Activity::Stand => Gaze::Still,
            Activity::Look => Gaze::Around,
            Activity::Walk | Activity::Sprint | Activity::Crouch => Gaze::Way,
        }
    }

    const fn gait(self) -> Gait {
        match self {
            Activity::Stand | Activity::Look | Activity::Walk => Gait::Walk,
            Activity::Sprint => Gait::Sprint,
            Activity::Crouch => Gait::Crouch,
        }
    }
}

/// The chance that the player uses the stick for a spell of walking.
const STICK_PERCENT: u32 = 20;
/// The time from one jump to the next. It counts only while the player walks and sprints.
const JUMP_MS: RangeInclusive<u32> = 2000..=8000;
/// The time for which the jump key is held.
const JUMP_HELD_MS: RangeInclusive<u32> = 60..=220;
/// The middle of the positions at which the character may start, in cm.
const START_CM: [f64; 2] = [1_234_567.0, -987_654.0];
/// The largest offset of the start from that middle in x and in y, which is 1 km.
const START_SPREAD_CM: f64 = 100_000.0;

/// A player that follows habits and chance, with its character. It is an endless iterator of its
/// moves.
pub struct Script {
    random: Random,
    clock: Clock,
    activity: Activity,
    left_ms: u32,
    mouse: Mouse,
    stick: Stick,
    until_jump_ms: u32,
    /// The remaining time in which the jump key is held.
    jump_held_ms: u32,
    body: Body,
    gear: Gear,
}

impl Script {
    /// Makes a player at the beginning of its first move. The seed determines everything that
    /// follows.
    pub fn new(seed: u64) -> Script {
        let mut random = Random::new(seed);
        Script {
            clock: Clock::new(&mut random),
            activity: Activity::Stand,
            left_ms: 0,
            mouse: Mouse::new(&mut random),
            stick: Stick::new(Device::Keys, false),
            until_jump_ms: random.within(JUMP_MS),
            jump_held_ms: 0,
            body: Body::new(START_CM.map(|cm| cm + START_SPREAD_CM * random.between(-1.0, 1.0))),
            gear: Gear::new(&mut random),
            random,
        }
    }

    /// Plays for a frame and returns the move that the client would send.
    pub fn step(&mut self) -> Move {
        let frame_ms = self.clock.next_frame_ms(&mut self.random);
        self.choose_activity(frame_ms);
        self.mouse.step(self.activity.gaze(), frame_ms, &mut self.random);
        let is_moving = self.activity.is_moving();
        let input = if is_moving { self.stick.step(frame_ms, &mut self.random) } else { [0.0; 2] };
        let jumps = self.press_jump(frame_ms);
        let rotation_deg = self.mouse.rotation_deg();
        let before = self.body.location;
        let order = Order { gait: self.activity.gait(), input, yaw_deg: rotation_deg[1], jumps };
        self.body.step(&order, f64::from(frame_ms) / 1000.0);
        let [x, y] = [0, 1].map(|axis| self.body.location[axis] - before[axis]);
        let hands_are_on = self.activity != Activity::Stand;
        self.gear.step(hands_are_on, (x * x + y * y).sqrt(), frame_ms, &mut self.random);
        Move {
            time_ms: self.clock.now_ms(),
            acceleration: self.body.acceleration,
            location: self.body.location,
            velocity: self.body.velocity,
            control_rotation: rotation_deg.map(|degrees| degrees as f32),
            flags: self.flags(),
            movement_mode: self.body.movement_mode(),
            payload: self.gear.bytes(),
        }
    }

    /// Returns the player's activity in the last move.
    pub fn activity(&self) -> Activity {
        self.activity
    }

    /// Chooses the next activity when the time of the last one is over.
    fn choose_activity(&mut self, frame_ms: u32) {
        self.left_ms = self.left_ms.saturating_sub(frame_ms);
        if self.left_ms > 0 {
            return;
        }
        self.activity = Activity::ALL[self.random.choose(Activity::ALL.map(Activity::percent))];
        self.left_ms = self.random.within(self.activity.ms());
        let by_stick = self.activity == Activity::Walk && self.random.chance(STICK_PERCENT);
        let device = if by_stick { Device::Stick } else { Device::Keys };
        self.stick = Stick::new(device, self.activity == Activity::Sprint);
    }

    /// Presses and releases the jump key. Returns true when it is pressed.
    fn press_jump(&mut self, frame_ms: u32) -> bool {
        self.jump_held_ms = self.jump_held_ms.saturating_sub(frame_ms);
        if !matches!(self.activity, Activity::Walk | Activity::Sprint) {
            return false;
        }
        self.until_jump_ms = self.until_jump_ms.saturating_sub(frame_ms);
        if self.until_jump_ms > 0 {
            return false;
        }
        self.until_jump_ms = self.random.within(JUMP_MS);
        self.jump_held_ms = self.random.within(JUMP_HELD_MS);
        self.gear.count_action();
        true
    }

    fn flags(&self) -> u8 {
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        flag(self.jump_held_ms > 0, Flags::JUMP)
            | flag(self.activity == Activity::Crouch, Flags::CROUCH)
            | flag(self.activity == Activity::Sprint, Flags::SPRINT)
            | flag(self.gear.is_fighting(), Flags::AIM)
    }
}

impl Iterator for Script {
    type Item = Move;

    /// Returns the next move. The result is always `Some`.
    fn next(&mut self) -> Option<Move> {
        Some(self.step())
    }
}

/// Returns the first `count` moves of a [`Script`].
pub fn moves(seed: u64, count: usize) -> Vec<Move> {
    Script::new(seed).take(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_add_up_to_100() {
        assert_eq!(Activity::ALL.map(Activity::percent).iter().sum::<u32>(), 100);
    }
}
