//! The world of cubes, with all who play in it: the script or a person for the first player, and
//! whoever joined.
//!
//! Who joined has a cube from the world's next state on. The keys that came last are held until
//! new ones arrive, also while the joiner is silent: the caller that measures the silence handles
//! lost connections. A joiner's cube leaves with the joiner.

use std::collections::BTreeMap;
use std::fmt;

use cube_data::cube::Measured;
use cubes::{AddPlayerError, Body, Input, Script, World};
use kinepack::EntityId;
use kinepack_net::ReceiverId;

use crate::states::States;

/// See the head of this file.
pub struct PlayedCubes {
    world: World,
    script: Script,
    /// Keys held for the first player, in the script's place.
    held: Option<Input>,
    guests: BTreeMap<ReceiverId, Guest>,
    /// Of the step at hand.
    inputs: Vec<(u32, Input)>,
}

/// One who joined.
#[derive(Clone, Copy, Debug)]
struct Guest {
    /// Of its cube, in the world.
    number: u32,
    held: Input,
}

impl PlayedCubes {
    pub fn new(world: World, script: Script) -> Self {
        Self { world, script, held: None, guests: BTreeMap::new(), inputs: Vec::new() }
    }

    pub fn world(&self) -> &World {
        &self.world
    }

    /// The first player plays with these keys from now on; with `None` the script plays.
    pub fn hold(&mut self, keys: Option<Input>) {
        self.held = keys;
    }

    /// What the first player held in the last step.
    pub fn pressed(&self) -> Option<Input> {
        self.inputs.first().map(|(_, input)| *input)
    }

    /// The current state into `states`, and a step of the world after it.
    pub fn next_frame(&mut self, states: &mut States) {
        states.clear();
        for (number, Body { position, orientation, velocity, interacting }) in self.world.bodies() {
            states
                .push(EntityId(number), Measured { position, orientation, velocity, interacting });
        }
        let scripted = self.script.next_input(&self.world);
        self.inputs.clear();
        self.inputs.push((0, self.held.unwrap_or(scripted)));
        self.inputs.extend(self.guests.values().map(|guest| (guest.number, guest.held)));
        self.world.step_players(&self.inputs);
    }

    /// Gives one who joined a cube, which holds no key yet. Who has one keeps it.
    pub fn admit(&mut self, guest: ReceiverId) -> Result<EntityId, CannotPlay> {
        if let Some(guest) = self.guests.get(&guest) {
            return Ok(EntityId(guest.number));
        }
        let number = self.world.add_player().map_err(CannotPlay::World)?;
        self.guests.insert(guest, Guest { number, held: Input::default() });
        Ok(EntityId(number))
    }

    /// Plays with these keys from now on. False for who has no cube.
    pub fn hold_for(&mut self, guest: ReceiverId, keys: Input) -> bool {
        let guest = self.guests.get_mut(&guest);
        guest.map(|guest| guest.held = keys).is_some()
    }

    /// Takes the cube of one who left out of the world. False for who has none.
    pub fn dismiss(&mut self, guest: ReceiverId) -> bool {
        let guest = self.guests.remove(&guest);
        guest.is_some_and(|guest| self.world.remove_player(guest.number))
    }
}

/// Why one who joined only watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CannotPlay {
    /// The world takes no more players.
    World(AddPlayerError),
    /// There are no cubes to steer in this world.
    NoCubes,
}

impl fmt::Display for CannotPlay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::World(error) => error.fmt(f),
            Self::NoCubes => f.write_str("this world has no cubes to steer"),
        }
    }
}

#[cfg(test)]
mod tests {
    use cubes::{Config, FIRST_GUEST, Style};

    use super::*;
    use crate::world::Played;

    fn played(cubes: u32) -> Played {
        Played::cubes(&Config { cubes }, Style::Rest, 1).expect("a valid number of cubes")
    }

    /// Steps of the world; the states before the last one.
    fn run(played: &mut Played, ticks: u32) -> States {
        let mut states = States::default();
        (0..ticks).for_each(|_| played.next_frame(&mut states));
        states
    }

    #[test]
    fn keys_are_held_until_others_come_and_cubes_go_with_their_players() {
        let mut played = played(0);
        let [first, second] =
            [5, 9].map(|guest| (ReceiverId(guest), played.admit(ReceiverId(guest)).unwrap()));
        assert_eq!(second.1, EntityId(FIRST_GUEST + 1));
        assert_eq!(played.admit(second.0), Ok(second.1), "it has one");
        assert_eq!(played.extent().0, 3);

        let before = run(&mut played, 60);
        assert!(played.hold_for(second.0, Input { right: true, ..Input::default() }));
        let after = run(&mut played, 61);
        let moved_m = |a: &States, b: &States, id| {
            b.find(id).unwrap().position[0] - a.find(id).unwrap().position[0]
        };
        assert!(moved_m(&before, &after, second.1) > 2.0, "held without another word");
        assert!(moved_m(&before, &after, first.1).abs() < 0.01);
        assert!(played.hold_for(second.0, Input::default()));
        let rest = run(&mut played, 240);
        assert_eq!(rest.find(second.1).unwrap().velocity, [0.0; 3], "let go of");

        assert!(played.dismiss(first.0) && !played.dismiss(first.0));
        assert!(!played.hold_for(first.0, Input::default()));
        let ids: Vec<EntityId> = run(&mut played, 1).iter().map(|(id, _)| id).collect();
        assert_eq!(ids, [EntityId(0), second.1]);
        let again = played.admit(first.0).unwrap();
        assert!(![first.1, second.1].contains(&again), "not at once the number of one who left");
    }

    #[test]
    fn who_finds_no_place_hears_why() {
        let mut played = played(4);
        let refused = (0..64).map(|guest| played.admit(ReceiverId(guest))).find_map(Result::err);
        assert_eq!(refused, Some(CannotPlay::World(AddPlayerError::Full)));
        assert!(
            !played.hold_for(ReceiverId(63), Input::default()) && !played.dismiss(ReceiverId(63))
        );
        assert_eq!(played.extent().0, 4 + 64);
        let mut crowd = Played::Crowd(crate::crowd::Crowd::new(3, 1, 1));
        assert_eq!(
            crowd.admit(ReceiverId(0)).unwrap_err().to_string(),
            "this world has no cubes to steer"
        );
        assert!(!crowd.hold_for(ReceiverId(0), Input::default()) && !crowd.dismiss(ReceiverId(0)));
    }
}
