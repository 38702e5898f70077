//! Tests the world through its public API. Several checks share a long run, because a debug build
//! is slow.

use cubes::{Body, Config, Input, Script, Style, World};

fn world(cubes: u32) -> World {
    World::new(&Config { cubes }).expect("a valid number of cubes")
}

/// Runs a script and calls `check` after each step.
fn play(world: &mut World, style: Style, seed: u64, ticks: u32, mut check: impl FnMut(&World)) {
    let mut script = Script::new(style, seed);
    for _ in 0..ticks {
        let input = script.next_input(world);
        world.step(input);
        check(world);
    }
}

fn snapshot(world: &World) -> Vec<Body> {
    world.bodies().map(|(_, body)| body).collect()
}

/// Returns the position of a body in 1/512 m, as the article quantizes it.
fn cell(body: &Body) -> [i32; 3] {
    body.position.map(|metres| (metres * 512.0).round_ties_even() as i32)
}

fn assert_sound(world: &World) {
    let bound_m = world.half_width_m();
    for (number, body) in world.bodies() {
        let [x, y, z] = body.position;
        let place = format!("body {number} at tick {}: {body:?}", world.tick());
        assert!(x.abs() <= bound_m && y.abs() <= bound_m, "{place}");
        // A cube that falls fast may sink into the floor for a tick or two, but never to its
        // centre.
        let lowest_m = if cubes::is_player(number) { 0.5 } else { 0.0 };
        assert!((lowest_m..32.0).contains(&z), "{place}");
        let length_squared: f32 = body.orientation.iter().map(|part| part * part).sum();
        assert!((length_squared - 1.0).abs() < 1e-4, "{place}");
        assert!(body.velocity.iter().all(|part| part.abs() <= 31.9), "{place}");
    }
}

#[test]
fn a_typical_run_is_sound_lively_and_repeatable() {
    const TICKS: u32 = 600;
    let mut first = world(900);
    let mut history = vec![snapshot(&first)];
    let mut changed = 0;
    play(&mut first, Style::Typical, 3, TICKS, |world| {
        assert_sound(world);
        history.push(snapshot(world));
        if let Some(baseline) = history.len().checked_sub(7) {
            let now = &history[history.len() - 1];
            let pairs = now.iter().zip(&history[baseline]);
            changed += pairs.filter(|(now, then)| cell(now) != cell(then)).count() as u32;
        }
        // A resting cube does not change by a bit. A cube that moves visibly does so because of the
        // player.
        for ((_, now), before) in world.bodies().zip(&history[history.len() - 2]) {
            if now.velocity == [0.0; 3] && before.velocity == [0.0; 3] {
                assert_eq!((now.position, now.orientation), (before.position, before.orientation));
            }
            assert!(now.interacting || now.velocity.iter().all(|part| part.abs() < 1.0));
        }
    });
    assert_eq!((first.tick(), first.len()), (TICKS, 901));
    let mean = changed / TICKS;
    assert!((20..300).contains(&mean), "{mean} cubes changed a frame on average");

    let mut again = world(900);
    play(&mut again, Style::Typical, 3, TICKS, |_| {});
    assert!(snapshot(&again) == history[TICKS as usize], "same seed, same world");

    let mut other = world(900);
    play(&mut other, Style::Typical, 4, 120, |_| {});
    assert!(snapshot(&other) != history[120], "another seed, another world");
}

#[test]
fn at_rest_nothing_changes() {
    let mut world = world(900);
    let start = snapshot(&world);
    assert!(start.iter().all(|body| body.velocity == [0.0; 3]));
    play(&mut world, Style::Rest, 1, 120, |world| {
        assert!(snapshot(world) == start);
    });
    let interacting: Vec<bool> = start.iter().map(|body| body.interacting).collect();
    assert!(interacting[0] && !interacting[1..].contains(&true));
}

#[test]
fn every_style_stays_inside_and_comes_to_rest() {
    for style in [Style::Push, Style::Pull] {
        let mut world = world(225);
        play(&mut world, style, 9, 600, assert_sound);
        assert!(world.bodies().skip(1).any(|(_, body)| body.interacting));
        play(&mut world, Style::Rest, 0, 600, |_| {});
        let settled = snapshot(&world);
        for (index, body) in settled.iter().enumerate() {
            assert_eq!(body.velocity, [0.0; 3], "{style}: body {index}");
        }
        play(&mut world, Style::Rest, 0, 60, |_| {});
        assert!(snapshot(&world) == settled, "{style}");
    }
}

#[test]
fn the_player_follows_the_keys_and_walls_stop_it() {
    for direction in [[1, 0], [-1, 1], [0, -1]] {
        let mut world = world(0);
        let start = world.body(0).position;
        let input = Input::default().with_direction(direction);
        for _ in 0..600 {
            world.step(Input { push: world.tick() > 300, ..input });
        }
        assert_sound(&world);
        let end = world.body(0).position;
        for (axis, sign) in direction.into_iter().enumerate() {
            let moved_m = (end[axis] - start[axis]) * f32::from(sign);
            assert!(sign == 0 || moved_m > 5.0, "axis {axis}: {start:?} to {end:?}");
        }
        // The player is not stuck, because it can move back.
        let [x, y] = direction;
        for _ in 0..120 {
            world.step(Input::default().with_direction([-x, -y]));
        }
        let back = world.body(0).position;
        let way_m = (back[0] - end[0]).hypot(back[1] - end[1]);
        assert!(way_m > 5.0, "{end:?} to {back:?}");
    }
}

#[test]
fn the_player_rolls_rather_than_slides() {
    let mut world = world(0);
    let mut upright = 0;
    for _ in 0..120 {
        world.step(Input::default().with_direction([1, 0]));
        let [x, y, ..] = world.body(0).orientation;
        // This is the z component of the cube's own z axis.
        upright += u32::from((1.0 - 2.0 * (x * x + y * y)) > 0.9);
    }
    assert!(upright < 80, "upright in {upright} of 120 ticks");
}

#[test]
fn flags_are_set_by_touch_push_and_pull_and_time_out() {
    let buttons = [
        Input::default().with_direction([0, 1]),
        Input { push: true, ..Input::default() },
        Input { pull: true, ..Input::default() },
    ];
    for input in buttons {
        let mut world = world(100);
        assert!(!world.bodies().skip(1).any(|(_, body)| body.interacting));
        for _ in 0..60 {
            world.step(input);
        }
        let touched: Vec<u32> =
            (1..=world.cubes()).filter(|&number| world.body(number).interacting).collect();
        assert!(!touched.is_empty(), "{input:?}");
        assert!(touched.len() < 100, "not the far side of the grid");

        // The player moves away from the cubes, and then holds no keys.
        for _ in 0..240 {
            world.step(Input::default().with_direction([0, -1]));
        }
        for _ in 0..240 {
            world.step(Input::default());
        }
        assert!(!world.bodies().skip(1).any(|(_, body)| body.interacting), "{input:?}");
        assert!(world.body(0).interacting);
    }
}

#[test]
fn pulled_cubes_come_along() {
    let mut world = world(100);
    let near = |world: &World| {
        let [player_x, player_y, _] = world.body(0).position;
        let distances_m = world
            .bodies()
            .skip(1)
            .map(|(_, body)| (body.position[0] - player_x).hypot(body.position[1] - player_y));
        distances_m.filter(|&distance_m| distance_m < 2.5).count()
    };
    let pull = Input { pull: true, ..Input::default() };
    for _ in 0..120 {
        world.step(pull.with_direction([0, 1]));
    }
    // The player moves to the right, out of the grid, which ends at 5 m.
    for _ in 0..180 {
        world.step(pull.with_direction([1, 0]));
    }
    assert!(world.body(0).position[0] > 7.0);
    assert!(near(&world) > 10, "{} cubes hang on", near(&world));
}

#[test]
fn the_largest_world_fits_in_256_m() {
    let mut world = world(cubes::MAX_CUBES);
    assert_eq!(world.len(), 10_001);
    assert!(world.half_width_m() < 256.0);
    world.step(Input::default().with_direction([0, 1]));
    assert_sound(&world);
    assert!(World::new(&Config { cubes: 10_001 }).is_err());
}

#[test]
fn a_world_can_move_to_another_thread() {
    fn assert_send<T: Send>() {}
    assert_send::<World>();
    assert_send::<Script>();
}
