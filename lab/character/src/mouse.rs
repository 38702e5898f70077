//! The right hand turns the view with a mouse.
//!
//! A hand moves from one aim to the next, slowly at both ends. It follows the minimum-jerk profile
//! of Flash and Hogan ("The coordination of arm movements", 1985). On the way, the hand is never
//! exactly on its path, and the error grows with its speed. The mouse counts whole steps, and does
//! not count while the hand rests.

use core::ops::RangeInclusive;

use crate::random::Random;

/// The mouse's counts per degree. A full turn is 18,000 counts, or 29 cm on a mouse of 1600 dpi.
const COUNTS_PER_DEGREE: f64 = 50.0;
const COUNTS_PER_TURN: i64 = 18_000;
/// The view's limit upwards and downwards.
const MAX_PITCH_DEG: f64 = 89.0;

/// The maximum tremor of the hand that a frame adds, in degrees.
const TREMOR_DEG: f64 = 0.03;
/// The share of a frame's movement that is added to the tremor.
const TREMOR_RATIO: f64 = 0.02;
/// The share of the tremor that remains a frame later.
const TREMOR_KEPT: f64 = 0.8;

/// The target of the player's gaze.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gaze {
    /// The gaze has no target, so the mouse rests after the current turn.
    Still,
    /// The gaze follows the direction in which the character moves.
    Way,
    /// The gaze looks at the surroundings.
    Around,
}

/// A kind of turn, with the chance that each gaze chooses it, and its bounds.
struct Habit {
    way_percent: u32,
    around_percent: u32,
    yaw_deg: (f64, f64),
    ms: RangeInclusive<u32>,
}

const CORRECTION: Habit =
    Habit { way_percent: 48, around_percent: 25, yaw_deg: (0.3, 6.0), ms: 120..=350 };
const FLICK: Habit =
    Habit { way_percent: 6, around_percent: 14, yaw_deg: (40.0, 170.0), ms: 90..=180 };
const HABITS: [Habit; 4] = [
    CORRECTION,
    // This habit is a turn of the head.
    Habit { way_percent: 32, around_percent: 36, yaw_deg: (10.0, 70.0), ms: 250..=800 },
    // This habit is a slow sweep.
    Habit { way_percent: 14, around_percent: 25, yaw_deg: (20.0, 150.0), ms: 900..=2600 },
    FLICK,
];

/// The time for which the hand rests between two turns.
const WAY_REST_MS: RangeInclusive<u32> = 40..=1100;
const AROUND_REST_MS: RangeInclusive<u32> = 40..=500;
/// The time before a flick is corrected.
const REACTION_MS: RangeInclusive<u32> = 60..=140;
/// The chance that a turn looks up or down instead of ahead.
const UP_OR_DOWN_PERCENT: u32 = 15;

/// The hand on the mouse.
pub(crate) struct Mouse {
    /// The pitch and yaw at which the hand aims. The pitch is bounded, and the yaw is not.
    aim_deg: [f64; 2],
    tremor_deg: [f64; 2],
    doing: Doing,
    is_correction_due: bool,
    /// The mouse's counts for pitch and yaw.
    counts: [i64; 2],
}

enum Doing {
    Rest { left_ms: u32 },
    Turn { from_deg: [f64; 2], by_deg: [f64; 2], elapsed_ms: u32, ms: u32 },
}

impl Mouse {
    /// Returns a mouse with a level view in a random direction.
    pub(crate) fn new(random: &mut Random) -> Self {
        let aim_deg = [0.0, random.between(0.0, 360.0)];
        let doing = Doing::Rest { left_ms: 0 };
        let counts = aim_deg.map(to_counts);
        Self { aim_deg, tremor_deg: [0.0; 2], doing, is_correction_due: false, counts }
    }

    /// Moves the hand for a frame of `frame_ms` milliseconds.
    pub(crate) fn step(&mut self, gaze: Gaze, frame_ms: u32, random: &mut Random) {
        match &mut self.doing {
            Doing::Rest { left_ms } => {
                *left_ms = left_ms.saturating_sub(frame_ms);
                if *left_ms == 0 && gaze != Gaze::Still {
                    self.doing = self.turn(gaze, random);
                }
            }
            Doing::Turn { from_deg, by_deg, elapsed_ms, ms } => {
                *elapsed_ms = (*elapsed_ms + frame_ms).min(*ms);
                let ratio = eased(f64::from(*elapsed_ms) / f64::from(*ms));
                for axis in 0..2 {
                    let aim_deg = from_deg[axis] + by_deg[axis] * ratio;
                    let way_deg = (aim_deg - self.aim_deg[axis]).abs();
                    self.aim_deg[axis] = aim_deg;
                    let added_deg = (TREMOR_DEG + TREMOR_RATIO * way_deg) * random.noise();
                    self.tremor_deg[axis] = self.tremor_deg[axis] * TREMOR_KEPT + added_deg;
                }
                if elapsed_ms == ms {
                    self.doing = self.rest(gaze, random);
                }
                self.aim_deg[0] = self.aim_deg[0].clamp(-MAX_PITCH_DEG, MAX_PITCH_DEG);
                self.counts =
                    [0, 1].map(|axis| to_counts(self.aim_deg[axis] + self.tremor_deg[axis]));
                let max_pitch = to_counts(MAX_PITCH_DEG);
                self.counts[0] = self.counts[0].clamp(-max_pitch, max_pitch);
            }
        }
    }

    /// Returns the view's pitch, yaw and roll in degrees, each from 0 to below 360.
    pub(crate) fn rotation_deg(&self) -> [f64; 3] {
        let [pitch, yaw] =
            self.counts.map(|counts| counts.rem_euclid(COUNTS_PER_TURN) as f64 / COUNTS_PER_DEGREE);
        [pitch, yaw, 0.0]
    }

    /// Chooses the hand's next turn.
    fn turn(&mut self, gaze: Gaze, random: &mut Random) -> Doing {
        let habit = if self.is_correction_due { &CORRECTION } else { choose(gaze, random) };
        // A flick never ends exactly at its aim.
        self.is_correction_due = habit.ms == FLICK.ms;
        let side = if random.chance(50) { 1.0 } else { -1.0 };
        let yaw_deg = side * random.between(habit.yaw_deg.0, habit.yaw_deg.1);
        let pitch_deg = if habit.ms == CORRECTION.ms {
            2.0 * random.noise()
        } else if random.chance(UP_OR_DOWN_PERCENT) {
            // The aim is sometimes beyond the limit. The view then stops at the limit, but the hand
            // does not.
            random.between(-95.0, 95.0) - self.aim_deg[0]
        } else {
            random.between(-12.0, 5.0) - self.aim_deg[0]
        };
        Doing::Turn {
            from_deg: self.aim_deg,
            by_deg: [pitch_deg, yaw_deg],
            elapsed_ms: 0,
            ms: random.within(habit.ms.clone()),
        }
    }

    fn rest(&self, gaze: Gaze, random: &mut Random) -> Doing {
        let ms = if self.is_correction_due {
            REACTION_MS
        } else if gaze == Gaze::Way {
            WAY_REST_MS
        } else {
            AROUND_REST_MS
        };
        Doing::Rest { left_ms: random.within(ms) }
    }
}

fn choose(gaze: Gaze, random: &mut Random) -> &'static Habit {
    let percent_of =
        |habit: &Habit| if gaze == Gaze::Way { habit.way_percent } else { habit.around_percent };
    &HABITS[random.choose(HABITS.each_ref().map(percent_of))]
}

/// Returns the completed share of a minimum-jerk movement, after a share of its time.
fn eased(ratio: f64) -> f64 {
    ratio * ratio * ratio * (10.0 - 15.0 * ratio + 6.0 * ratio * ratio)
}

fn to_counts(degrees: f64) -> i64 {
    (degrees * COUNTS_PER_DEGREE).round() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_add_up_to_100() {
        let sum = |percent: fn(&Habit) -> u32| HABITS.iter().map(percent).sum::<u32>();
        assert_eq!((sum(|habit| habit.way_percent), sum(|habit| habit.around_percent)), (100, 100));
    }

    #[test]
    fn movements_begin_and_end_slowly() {
        assert_eq!([0.0, 0.5, 1.0].map(eased), [0.0, 0.5, 1.0]);
        assert!(eased(0.1) < 0.01 && eased(0.9) > 0.99);
    }

    #[test]
    fn the_view_keeps_its_limits_and_the_mouse_can_rest() {
        let mut random = Random::new(3);
        let mut mouse = Mouse::new(&mut random);
        let mut highest_deg = 0.0_f64;
        for _ in 0..60_000 {
            mouse.step(Gaze::Around, 16, &mut random);
            let [pitch, yaw, _] = mouse.rotation_deg();
            assert!(pitch <= 89.0 || (271.0..360.0).contains(&pitch), "{pitch}");
            assert!((0.0..360.0).contains(&yaw), "{yaw}");
            highest_deg = highest_deg.max(if pitch > 180.0 { 360.0 - pitch } else { pitch });
        }
        assert_eq!(highest_deg, 89.0);
        (0..200).for_each(|_| mouse.step(Gaze::Still, 16, &mut random));
        let still = mouse.rotation_deg();
        (0..200).for_each(|_| mouse.step(Gaze::Still, 16, &mut random));
        assert_eq!(mouse.rotation_deg(), still);
    }
}
