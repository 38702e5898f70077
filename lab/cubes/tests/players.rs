//! Tests worlds with several players, who join and leave.

use cubes::{
    AddPlayerError, Body, Config, FIRST_GUEST, Input, MAX_PLAYERS, PLAYER_EDGE_M, Script, Style,
    View, World, is_player,
};

fn world(cubes: u32) -> World {
    World::new(&Config { cubes }).expect("a valid number of cubes")
}

/// The world as one of its players sees it.
struct Seen<'a>(&'a World, u32);

impl View for Seen<'_> {
    fn own_position(&self) -> [f32; 3] {
        self.0.body(self.1).position
    }

    fn cubes(&self) -> u32 {
        self.0.cubes()
    }

    fn cube_position(&self, cube: u32) -> [f32; 3] {
        self.0.body(1 + cube).position
    }
}

fn step_all(world: &mut World, input: Input) {
    let players: Vec<u32> =
        world.bodies().map(|(number, _)| number).filter(|number| is_player(*number)).collect();
    let inputs: Vec<(u32, Input)> = players.into_iter().map(|number| (number, input)).collect();
    world.step_players(&inputs);
}

#[test]
fn a_new_player_stands_at_the_grid_and_comes_to_rest() {
    let mut world = world(100);
    let before: Vec<(u32, Body)> = world.bodies().collect();
    let number = world.add_player().expect("a free place");
    assert_eq!((number, world.len()), (FIRST_GUEST, 102));
    let place = world.body(number).position;
    assert!(place[0].abs().max(place[1].abs()) < world.grid_half_width_m() + 2.0, "{place:?}");
    for _ in 0..240 {
        world.step(Input::default());
        let [x, y, z] = world.body(number).position;
        assert!(
            (x - place[0]).hypot(y - place[1]) < 0.01 && (z - PLAYER_EDGE_M / 2.0).abs() < 0.02,
            "{x} {y} {z}"
        );
    }
    assert!(world.body(number).interacting);
    assert_eq!(world.body(number).velocity, [0.0; 3]);
    let numbers: Vec<u32> = world.bodies().map(|(number, _)| number).collect();
    assert_eq!(numbers, (0..=100).chain([FIRST_GUEST]).collect::<Vec<_>>());
    // The other bodies do not change, neither when the player arrives nor when it leaves.
    assert!(world.bodies().take(101).eq(before.iter().copied()));
    assert!(world.remove_player(number) && !world.remove_player(number));
    world.step(Input::default());
    assert!(world.bodies().eq(before));
}

#[test]
fn the_number_of_players_is_limited_and_the_first_stays() {
    let mut world = world(900);
    for _ in 1..MAX_PLAYERS {
        world.add_player().expect("a free place");
    }
    assert_eq!(world.add_player(), Err(AddPlayerError::Full));
    assert_eq!(world.len(), 900 + MAX_PLAYERS);
    step_all(&mut world, Input::default());
    for number in [0, 1, 900, 901, FIRST_GUEST + 63, u32::MAX] {
        assert!(!world.remove_player(number), "{number}");
    }
    assert!(world.remove_player(FIRST_GUEST + 7));
    assert_eq!(world.add_player(), Ok(FIRST_GUEST + 7));
}

#[test]
fn each_player_moves_only_by_its_own_keys() {
    let mut world = world(0);
    let guests = [(); 2].map(|()| world.add_player().expect("a free place"));
    let at = |world: &World, number| world.body(number).position;
    let before = [0, guests[0], guests[1]].map(|number| at(&world, number));
    let right = Input { right: true, ..Input::default() };
    let unknown = (FIRST_GUEST + 40, right);
    for _ in 0..60 {
        // If a player has two inputs, the last one counts.
        world.step_players(&[
            unknown,
            (guests[1], Input::default()),
            (guests[1], right),
            (1, right),
        ]);
    }
    let moved_m = |number, before: [f32; 3]| at(&world, number)[0] - before[0];
    assert!(moved_m(guests[1], before[2]) > 2.0);
    assert!(moved_m(0, before[0]).abs() < 0.01 && moved_m(guests[0], before[1]).abs() < 0.01);
}

#[test]
fn a_guest_touches_pushes_and_pulls_as_the_first_player_does() {
    let buttons = [
        Input::default(),
        Input { push: true, ..Input::default() },
        Input { pull: true, ..Input::default() },
    ];
    for input in buttons {
        let mut world = world(100);
        let guest = world.add_player().expect("a free place");
        let [x, y, _] = world.body(guest).position.map(|metres| -metres.signum() as i8);
        let input = input.with_direction([x, y]);
        let first_before = world.body(0).position;
        for _ in 0..60 {
            world.step_players(&[(guest, input)]);
        }
        let touched =
            world.bodies().filter(|(number, body)| !is_player(*number) && body.interacting).count();
        assert!((1..90).contains(&touched), "{input:?}: {touched}");
        assert_eq!(world.body(0).position, first_before, "{input:?}");
    }
}

#[test]
fn players_do_not_push_or_pull_each_other_but_collide() {
    let mut world = world(0);
    let guest = world.add_player().expect("a free place");
    let place = world.body(guest).position;
    let offset_m =
        |from: [f32; 3], to: [f32; 3]| [to[0] - from[0], to[1] - from[1], to[2] - from[2]];
    let distance_m = |[x, y, z]: [f32; 3]| x.hypot(y).hypot(z);
    let mut closest_m = f32::INFINITY;
    for _ in 0..120 {
        let offset = offset_m(world.body(0).position, world.body(guest).position);
        closest_m = closest_m.min(distance_m(offset));
        if closest_m > 2.5 {
            let moved_m = distance_m(offset_m(place, world.body(guest).position));
            assert!(moved_m < 0.01, "pulled or pushed from {closest_m} m away");
        }
        // The player moves towards the guest, first pushing and then pulling.
        let [x, y, _] =
            offset.map(|metres| if metres.abs() < 0.3 { 0 } else { metres.signum() as i8 });
        let push = world.tick() < 10;
        world.step(Input { push, pull: !push, ..Input::default() }.with_direction([x, y]));
    }
    assert!(closest_m > 1.3, "one cube is inside the other: {closest_m} m");
    assert!(
        distance_m(offset_m(place, world.body(guest).position)) > 0.5,
        "the first player did not run into the guest"
    );
}

/// Runs a world in which five players play while some leave and others join. Returns the last
/// states.
fn play(reversed: bool, check: impl Fn(&World)) -> Vec<(u32, Body)> {
    let mut world = world(225);
    let mut scripts = vec![(0, Script::new(Style::Typical, 1))];
    for tick in 0..900_u32 {
        if tick % 100 == 0 && scripts.len() < 5 {
            let number = world.add_player().expect("a free place");
            scripts
                .push((number, Script::new(Style::ALL[tick as usize / 100 % 3], u64::from(tick))));
        }
        if tick == 500 || tick == 650 {
            let (number, _) = scripts.remove(2);
            assert!(world.remove_player(number));
        }
        let mut inputs: Vec<(u32, Input)> = scripts
            .iter_mut()
            .map(|(number, script)| (*number, script.next_input(&Seen(&world, *number))))
            .collect();
        if reversed {
            inputs.reverse();
        }
        world.step_players(&inputs);
        check(&world);
    }
    assert_eq!(
        scripts.iter().map(|(number, _)| number - scripts[0].0).max(),
        Some(FIRST_GUEST + 5)
    );
    world.bodies().collect()
}

#[test]
fn worlds_with_several_players_are_sound_and_repeatable() {
    let end = play(false, |world| {
        for (number, body) in world.bodies() {
            let place = format!("body {number} at tick {}: {body:?}", world.tick());
            let [x, y, z] = body.position;
            assert!(x.abs().max(y.abs()) <= world.half_width_m(), "{place}");
            let lowest_m = if is_player(number) { 0.5 } else { 0.0 };
            assert!((lowest_m..32.0).contains(&z), "{place}");
            assert!(body.velocity.iter().all(|part| part.abs() <= 31.9), "{place}");
            // A body that moves visibly does so because of a player.
            assert!(
                body.interacting || body.velocity.iter().all(|part| part.abs() < 1.0),
                "{place}"
            );
        }
    });
    assert!(end == play(true, |_| {}), "the order of the inputs does not matter");
}
