//! The left hand steers the character, by keys or by an analog stick.
//!
//! Keys give one of eight directions at full strength, or none, for 0.15 to 2 s each. A stick gives
//! any direction and any strength. The thumb takes a moment to move the stick to a new place, and
//! never holds it completely still.

use core::ops::RangeInclusive;

use crate::random::Random;

/// The keys for forward and right. Opposite keys cancel out, so each number is −1, 0 or 1.
type Keys = [i8; 2];

/// The chance that each pair of keys is held while walking. The direction is mostly forward,
/// because the view steers too.
const WALK_KEYS: [(Keys, u32); 8] = [
    ([1, 0], 52),
    ([1, 1], 12),
    ([1, -1], 12),
    ([0, 1], 8),
    ([0, -1], 8),
    ([-1, 0], 4),
    ([-1, 1], 2),
    ([-1, -1], 2),
];
/// The chance of each pair of keys while sprinting, which is always forward.
const SPRINT_KEYS: [(Keys, u32); 3] = [([1, 0], 76), ([1, 1], 12), ([1, -1], 12)];
/// The time for which keys are held.
const KEYS_MS: RangeInclusive<u32> = 150..=2000;
/// The chance that no key is held between two pairs. The next constant is the length of such a
/// pause.
const PAUSE_PERCENT: u32 = 8;
const PAUSE_MS: RangeInclusive<u32> = 60..=300;

/// The time for which the thumb stays near one place.
const THUMB_MS: RangeInclusive<u32> = 200..=1800;
/// The time in which the thumb covers two thirds of its distance to a new place.
const THUMB_DELAY_MS: f64 = 60.0;
/// The tremor of the thumb, as a share of the stick's range.
const THUMB_TREMOR_RATIO: f64 = 0.012;
/// The resolution of a stick: 127 steps to each side.
const STICK_STEPS: f64 = 127.0;
/// If the stick is deflected less than this, it counts as released.
const DEAD_ZONE_RATIO: f64 = 0.12;

/// The device that the left hand uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Device {
    Keys,
    Stick,
}

/// The left hand in one spell of moving.
pub(crate) struct Stick {
    device: Device,
    is_sprinting: bool,
    /// The goal of the keys or of the thumb, as forward and right.
    goal: [f64; 2],
    /// The current position of the thumb.
    thumb: [f64; 2],
    left_ms: u32,
}

impl Stick {
    pub(crate) fn new(device: Device, is_sprinting: bool) -> Self {
        Self { device, is_sprinting, goal: [0.0; 2], thumb: [0.0; 2], left_ms: 0 }
    }

    /// Returns the requested direction in a frame of `frame_ms` milliseconds, as forward and right.
    /// Its length is at most 1.
    pub(crate) fn step(&mut self, frame_ms: u32, random: &mut Random) -> [f64; 2] {
        self.left_ms = self.left_ms.saturating_sub(frame_ms);
        match self.device {
            Device::Keys => {
                if self.left_ms == 0 {
                    self.press(random);
                }
                self.goal
            }
            Device::Stick => {
                if self.left_ms == 0 {
                    self.left_ms = random.within(THUMB_MS);
                    self.goal = thumb_goal(self.is_sprinting, random);
                }
                let ratio = (f64::from(frame_ms) / THUMB_DELAY_MS).min(1.0);
                for (thumb, goal) in self.thumb.iter_mut().zip(self.goal) {
                    *thumb += (goal - *thumb) * ratio + THUMB_TREMOR_RATIO * random.noise();
                }
                let told = self.thumb.map(|part| (part * STICK_STEPS).round() / STICK_STEPS);
                if length(told) < DEAD_ZONE_RATIO { [0.0; 2] } else { shortened(told) }
            }
        }
    }

    /// Holds other keys than before, or no keys for a moment.
    fn press(&mut self, random: &mut Random) {
        if self.goal != [0.0; 2] && random.chance(PAUSE_PERCENT) {
            self.left_ms = random.within(PAUSE_MS);
            self.goal = [0.0; 2];
            return;
        }
        self.left_ms = random.within(KEYS_MS);
        let keys = if self.is_sprinting {
            SPRINT_KEYS[random.choose(SPRINT_KEYS.map(|(_, percent)| percent))].0
        } else {
            WALK_KEYS[random.choose(WALK_KEYS.map(|(_, percent)| percent))].0
        };
        self.goal = shortened(keys.map(f64::from));
    }
}

/// Chooses the thumb's next goal. It is mostly forward, and half the time at the full range.
fn thumb_goal(is_sprinting: bool, random: &mut Random) -> [f64; 2] {
    let side = if is_sprinting { 0.3 } else { 1.0 } * random.noise();
    let forward = if is_sprinting || random.chance(85) { 1.0 } else { -1.0 };
    let strength = if is_sprinting || random.chance(50) { 1.1 } else { random.between(0.35, 1.0) };
    let scale = strength / length([forward, side]);
    [forward * scale, side * scale]
}

fn length([forward, right]: [f64; 2]) -> f64 {
    (forward * forward + right * right).sqrt()
}

/// Returns the same direction, shortened to a length of at most 1.
fn shortened(input: [f64; 2]) -> [f64; 2] {
    let scale = 1.0 / length(input).max(1.0);
    input.map(|part| part * scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_add_up_to_100() {
        assert_eq!(WALK_KEYS.iter().map(|(_, percent)| percent).sum::<u32>(), 100);
        assert_eq!(SPRINT_KEYS.iter().map(|(_, percent)| percent).sum::<u32>(), 100);
    }

    #[test]
    fn no_device_requests_more_than_full_strength() {
        let mut random = Random::new(9);
        for device in [Device::Keys, Device::Stick] {
            for is_sprinting in [false, true] {
                let mut stick = Stick::new(device, is_sprinting);
                for _ in 0..5000 {
                    let input = stick.step(16, &mut random);
                    assert!(length(input) <= 1.0 + 1e-12, "{device:?}: {input:?}");
                    assert!(!is_sprinting || input[0] >= 0.0, "{device:?}: {input:?}");
                }
            }
        }
    }
}
