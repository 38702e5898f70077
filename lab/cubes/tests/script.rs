//! Checks that the scripted player holds keys as a person does.

use cubes::{Config, Input, Script, Style, World};

/// Returns the keys of a run of `ticks` ticks, and the world after it.
fn inputs(style: Style, seed: u64, ticks: u32) -> (Vec<Input>, World) {
    let mut world = World::new(&Config { cubes: 64 }).expect("a valid number of cubes");
    let mut script = Script::new(style, seed);
    let inputs = (0..ticks)
        .map(|_| {
            let input = script.next_input(&world);
            world.step(input);
            input
        })
        .collect();
    (inputs, world)
}

/// Returns each run of equal values with its length. The last run is omitted, because the end cuts
/// it short.
fn spells<T: PartialEq + Copy>(values: impl Iterator<Item = T>) -> Vec<(T, u32)> {
    let mut spells: Vec<(T, u32)> = Vec::new();
    for value in values {
        match spells.last_mut() {
            Some((last, ticks)) if *last == value => *ticks += 1,
            _ => spells.push((value, 1)),
        }
    }
    spells.pop();
    spells
}

#[test]
fn directions_are_held_for_a_fifth_of_a_second_to_two() {
    let (inputs, _) = inputs(Style::Typical, 5, 3000);
    let spells = spells(inputs.iter().map(|input| input.direction()));
    assert!(spells.len() > 30, "{} spells", spells.len());
    let mut pauses = 0;
    // A direction may be chosen again only on the way back to the grid, and never twice in a pause.
    for (direction, ticks) in spells {
        assert!(ticks >= 12, "{direction:?} for {ticks} ticks");
        assert!(ticks <= 240, "{direction:?} for {ticks} ticks");
        pauses += u32::from(direction == [0, 0]);
    }
    assert!(pauses > 3);
}

#[test]
fn styles_use_their_buttons() {
    for style in Style::ALL {
        let (inputs, _) = inputs(style, 2, 1500);
        let ratio = |held: fn(&Input) -> bool| {
            inputs.iter().filter(|&input| held(input)).count() as f32 / inputs.len() as f32
        };
        let push = ratio(|input| input.push);
        let pull = ratio(|input| input.pull);
        let (push_range, pull_range) = match style {
            Style::Typical => (0.01..0.3, 0.2..0.9),
            Style::Push => (0.3..0.9, 0.0..0.01),
            Style::Pull => (0.0..0.01, 0.7..1.0),
            Style::Rest => (0.0..0.01, 0.0..0.01),
        };
        assert!(push_range.contains(&push), "{style}: push {push}");
        assert!(pull_range.contains(&pull), "{style}: pull {pull}");
        let is_idle = inputs.iter().all(|&input| input == Input::default());
        assert_eq!(is_idle, style == Style::Rest);
    }
}

#[test]
fn the_seed_determines_the_keys() {
    let (first, _) = inputs(Style::Typical, 8, 300);
    assert_eq!(first, inputs(Style::Typical, 8, 300).0);
    assert_ne!(first, inputs(Style::Typical, 9, 300).0);
}

#[test]
fn the_player_stays_near_the_cubes() {
    let mut world = World::new(&Config { cubes: 64 }).expect("a valid number of cubes");
    let mut script = Script::new(Style::Push, 3);
    let mut far_ticks = 0;
    let turn_back_m = f32::midpoint(world.grid_half_width_m(), world.half_width_m());
    for _ in 0..1800 {
        let input = script.next_input(&world);
        world.step(input);
        let [x, y, _] = world.body(0).position;
        far_ticks += u32::from(x.abs().max(y.abs()) > turn_back_m);
    }
    assert!(far_ticks < 450, "far out for {far_ticks} of 1800 ticks");
}
