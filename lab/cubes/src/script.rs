//! A scripted player that presses keys as a person does, so that runs of any length need no person.
//!
//! Keys are held in spells: a direction for 0.2 to 2 s, then another one or none. The push and pull
//! buttons have separate spells. Like a person, the script mostly heads for cubes, and turns back
//! when it is far from them. A table holds the habits of each style. The habits are tuned so that
//! about as many cubes move as in known runs of the article's scene (`examples/statistics.rs`
//! counts them).
//!
//! The script sees a [`View`] of the world, as a person does, and is random otherwise. The same
//! style, seed and views give the same keys. A view may be the world itself, or the part that was
//! received over a network.

use core::ops::RangeInclusive;

use crate::arena::Arena;
use crate::input::Input;
use crate::random::Random;
use crate::style::Style;
use crate::world::{TICK_HZ, World};

/// The time for which a direction is held, 0.2 to 2 s.
const DIRECTION_TICKS: RangeInclusive<u32> = 12..=120;
/// The time for which no direction is held between two directions.
const PAUSE_TICKS: RangeInclusive<u32> = 12..=60;
/// The chance that a new direction leads to a cube instead of a random direction.
const HEAD_FOR_CUBE_PERCENT: u32 = 85;
/// The speed with which the player estimates the time to a cube.
const CRUISE_M_PER_S: f32 = 8.0;

/// A player's view of a world.
pub trait View {
    /// Returns the centre of the player's own cube, in metres.
    fn own_position(&self) -> [f32; 3];

    /// Returns the number of cubes in the grid. The sizes of grid and room follow from it.
    fn cubes(&self) -> u32;

    /// Returns the centre of a cube, in metres. `cube` is below [`View::cubes`].
    fn cube_position(&self, cube: u32) -> [f32; 3];
}

/// The first player's view.
impl View for World {
    fn own_position(&self) -> [f32; 3] {
        self.body(0).position
    }

    fn cubes(&self) -> u32 {
        self.cubes()
    }

    fn cube_position(&self, cube: u32) -> [f32; 3] {
        self.body(1 + cube).position
    }
}

/// How a style uses the keys.
struct Habits {
    /// The chance that a spell without a direction follows a spell with a direction.
    pause_percent: u32,
    push: Option<ButtonHabit>,
    pull: Option<ButtonHabit>,
}

/// The number of ticks for which a button is held, and then not held.
struct ButtonHabit {
    held: RangeInclusive<u32>,
    free: RangeInclusive<u32>,
}

impl Habits {
    fn of(style: Style) -> Option<Habits> {
        let button = |held, free| Some(ButtonHabit { held, free });
        match style {
            Style::Typical => Some(Habits {
                pause_percent: 20,
                push: button(6..=30, 90..=360),
                pull: button(90..=300, 30..=90),
            }),
            Style::Push => {
                Some(Habits { pause_percent: 10, push: button(20..=90, 15..=45), pull: None })
            }
            Style::Pull => {
                Some(Habits { pause_percent: 15, push: None, pull: button(240..=720, 12..=60) })
            }
            Style::Rest => None,
        }
    }
}

/// A player that follows habits and chance.
pub struct Script {
    /// The habits of the style. The value is `None` for a player that never presses a key.
    habits: Option<Habits>,
    random: Random,
    direction: [i8; 2],
    /// The number of ticks until the next direction is chosen.
    direction_ticks: u32,
    push: Button,
    pull: Button,
}

/// A button that alternates between held and not held.
struct Button {
    is_held: bool,
    /// The number of ticks until the button changes.
    ticks: u32,
}

impl Script {
    /// Returns a player of the style `style`. Everything else follows from the seed and the views.
    pub fn new(style: Style, seed: u64) -> Script {
        Script {
            habits: Habits::of(style),
            random: Random::new(seed),
            direction: [0, 0],
            direction_ticks: 0,
            push: Button::new(),
            pull: Button::new(),
        }
    }

    /// Returns the keys for the next step of the world that `view` shows. Call it once before each
    /// step.
    pub fn next_input(&mut self, view: &impl View) -> Input {
        let Some(habits) = &self.habits else {
            return Input::default();
        };
        if self.direction_ticks == 0 {
            let moved = self.direction != [0, 0];
            if moved && self.random.chance(habits.pause_percent) {
                self.direction = [0, 0];
                self.direction_ticks = self.random.within(PAUSE_TICKS);
            } else {
                let (direction, ticks) = new_direction(self.direction, &mut self.random, view);
                self.direction = direction;
                self.direction_ticks = ticks;
            }
        }
        self.direction_ticks -= 1;
        let push = self.push.next(habits.push.as_ref(), &mut self.random);
        // A person would not push and pull the same cubes at once.
        let pull = self.pull.next(habits.pull.as_ref(), &mut self.random) && !push;
        Input { push, pull, ..Input::default() }.with_direction(self.direction)
    }
}

impl Button {
    /// Returns a button whose first spell is not held. The button starts as held with no ticks
    /// left, so it changes at once.
    fn new() -> Self {
        Self { is_held: true, ticks: 0 }
    }

    /// Returns whether the button is held in this tick. A style without a habit for the button
    /// never presses it.
    fn next(&mut self, habit: Option<&ButtonHabit>, random: &mut Random) -> bool {
        let Some(habit) = habit else {
            return false;
        };
        if self.ticks == 0 {
            self.is_held = !self.is_held;
            let spell = if self.is_held { habit.held.clone() } else { habit.free.clone() };
            self.ticks = random.within(spell);
        }
        self.ticks -= 1;
        self.is_held
    }
}

/// Chooses a direction and the time to hold it. The direction leads back to the grid if the player
/// is far from the grid. Otherwise it often leads to a cube.
///
/// The direction differs from `old`, unless `old` still leads back to the grid.
fn new_direction(old: [i8; 2], random: &mut Random, view: &impl View) -> ([i8; 2], u32) {
    let (player, cubes) = (view.own_position(), view.cubes());
    let offset_to = |[x, y]: [f32; 2]| [x - player[0], y - player[1]];
    let ticks = random.within(DIRECTION_TICKS);
    // Cubes that were blown out of the grid lie around it, but there are none along the walls.
    let Arena { grid_half_width_m, half_width_m, .. } = Arena::new(cubes);
    let turn_back_m = f32::midpoint(grid_half_width_m, half_width_m);
    if player[0].abs().max(player[1].abs()) > turn_back_m {
        let home = towards(offset_to([0.0, 0.0]));
        return (home, ticks);
    }
    if cubes > 0 && random.chance(HEAD_FOR_CUBE_PERCENT) {
        let [x, y, _] = view.cube_position(random.below(cubes));
        let offset = offset_to([x, y]);
        let direction = towards(offset);
        if direction != [0, 0] && direction != old {
            // The player does not run past its goal.
            let distance_m = offset[0].hypot(offset[1]);
            let way_ticks = (distance_m / CRUISE_M_PER_S * TICK_HZ as f32) as u32;
            let ticks = way_ticks.clamp(*DIRECTION_TICKS.start(), *DIRECTION_TICKS.end());
            return (direction, ticks);
        }
    }
    loop {
        let any = [random.below(3) as i8 - 1, random.below(3) as i8 - 1];
        if any != [0, 0] && any != old {
            return (any, ticks);
        }
    }
}

/// Returns the one of eight directions that is closest to an offset in x and y. The result is [0,
/// 0] for a zero offset.
fn towards([x_m, y_m]: [f32; 2]) -> [i8; 2] {
    // The directions meet at 22.5°: a component below tan 22.5° of the other counts as 0.
    const TAN_EIGHTH_TURN: f32 = 0.414_213_56;
    let sign = |along_m: f32, across_m: f32| {
        if along_m.abs() <= across_m.abs() * TAN_EIGHTH_TURN {
            0
        } else if along_m > 0.0 {
            1
        } else {
            -1
        }
    };
    [sign(x_m, y_m), sign(y_m, x_m)]
}
