//! The cube world and its players. A script or a person steers the first player, and guests may
//! join.
//!
//! A guest's cube appears in the first state after [`admit`](PlayedCubes::admit). The guest's last
//! keys are held until new keys arrive, even if the connection is lost. The caller must detect
//! silence and release the keys. The cube is removed together with its guest.

use std::collections::BTreeMap;
use std::fmt;

use cube_data::cube::Measured;
use cubes::{AddPlayerError, Body, Input, Script, World};
use kinepack::EntityId;
use kinepack_net::ReceiverId;

use crate::game_events::GameEvent;
use crate::states::States;

/// The cube world with its players. The [module](self) describes their rules.
pub struct PlayedCubes {
    world: World,
    script: Script,
    /// The keys that a person holds for the first player. The value is `None` while the script
    /// plays.
    held: Option<Input>,
    guests: BTreeMap<ReceiverId, Guest>,
    /// The inputs of the current step, by player.
    inputs: Vec<(u32, Input)>,
    /// The inputs of the previous step, by player.
    inputs_before: Vec<(u32, Input)>,
    /// The events since the last call of [`take_events`](Self::take_events).
    events: Vec<GameEvent>,
}

/// A player who joined.
#[derive(Clone, Copy, Debug)]
struct Guest {
    /// The number of the guest's cube in the world.
    number: u32,
    held: Input,
}

impl PlayedCubes {
    pub fn new(world: World, script: Script) -> Self {
        Self {
            world,
            script,
            held: None,
            guests: BTreeMap::new(),
            inputs: Vec::new(),
            inputs_before: Vec::new(),
            events: Vec::new(),
        }
    }

    pub fn world(&self) -> &World {
        &self.world
    }

    /// Holds the keys `keys` for the first player until the next call. If `keys` is `None`, the
    /// script plays.
    pub fn hold(&mut self, keys: Option<Input>) {
        self.held = keys;
    }

    /// Returns the first player's keys in the last step.
    pub fn pressed(&self) -> Option<Input> {
        self.inputs.first().map(|(_, input)| *input)
    }

    /// Writes the current state into `states`, then steps the world.
    pub fn next_frame(&mut self, states: &mut States) {
        states.clear();
        for (number, Body { position, orientation, velocity, interacting }) in self.world.bodies() {
            states
                .push(EntityId(number), Measured { position, orientation, velocity, interacting });
        }
        let scripted = self.script.next_input(&self.world);
        std::mem::swap(&mut self.inputs, &mut self.inputs_before);
        self.inputs.clear();
        self.inputs.push((0, self.held.unwrap_or(scripted)));
        self.inputs.extend(self.guests.values().map(|guest| (guest.number, guest.held)));
        let began = |(player, input): &&(u32, Input)| {
            let mut before = self.inputs_before.iter();
            input.push && !before.any(|(other, before)| other == player && before.push)
        };
        let began = self.inputs.iter().filter(began);
        self.events.extend(began.map(|(player, _)| GameEvent::Pushed(EntityId(*player))));
        self.world.step_players(&self.inputs);
    }

    /// Gives a guest a cube with no keys held. A guest that has a cube keeps it.
    pub fn admit(&mut self, guest: ReceiverId) -> Result<EntityId, CannotPlay> {
        if let Some(guest) = self.guests.get(&guest) {
            return Ok(EntityId(guest.number));
        }
        let number = self.world.add_player().map_err(CannotPlay::World)?;
        self.guests.insert(guest, Guest { number, held: Input::default() });
        self.events.push(GameEvent::Joined(EntityId(number)));
        Ok(EntityId(number))
    }

    /// Holds the keys `keys` for a guest until the next call. Returns false if the guest has no
    /// cube.
    pub fn hold_for(&mut self, guest: ReceiverId, keys: Input) -> bool {
        let guest = self.guests.get_mut(&guest);
        guest.map(|guest| guest.held = keys).is_some()
    }

    /// Removes a guest's cube from the world. Returns false if the guest has none.
    pub fn dismiss(&mut self, guest: ReceiverId) -> bool {
        let Some(guest) = self.guests.remove(&guest) else { return false };
        self.events.push(GameEvent::Left(EntityId(guest.number)));
        self.world.remove_player(guest.number)
    }

    /// Takes the events since the last call.
    pub fn take_events(&mut self) -> impl Iterator<Item = GameEvent> {
        self.events.drain(..)
    }
}

/// The reason why a guest gets no cube.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CannotPlay {
    /// The world cannot take another player.
    World(AddPlayerError),
    /// This world has no cubes to steer.
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

    /// Steps the world `ticks` times. Returns the states before the last step.
    fn run(played: &mut Played, ticks: u32) -> States {
        let mut states = States::default();
        (0..ticks).for_each(|_| played.next_frame(&mut states));
        states
    }

    #[test]
    fn keys_are_held_until_new_ones_arrive_and_a_cube_is_removed_with_its_player() {
        let mut played = played(0);
        let [first, second] =
            [5, 9].map(|guest| (ReceiverId(guest), played.admit(ReceiverId(guest)).unwrap()));
        assert_eq!(second.1, EntityId(FIRST_GUEST + 1));
        assert_eq!(played.admit(second.0), Ok(second.1), "it keeps its cube");
        assert_eq!(played.extent().0, 3);

        let before = run(&mut played, 60);
        assert!(played.hold_for(second.0, Input { right: true, ..Input::default() }));
        let after = run(&mut played, 61);
        let moved_m = |a: &States, b: &States, id| {
            b.find(id).unwrap().position[0] - a.find(id).unwrap().position[0]
        };
        assert!(moved_m(&before, &after, second.1) > 2.0, "held without another call");
        assert!(moved_m(&before, &after, first.1).abs() < 0.01);
        assert!(played.hold_for(second.0, Input::default()));
        let rest = run(&mut played, 240);
        assert_eq!(rest.find(second.1).unwrap().velocity, [0.0; 3], "released");

        assert!(played.dismiss(first.0) && !played.dismiss(first.0));
        assert!(!played.hold_for(first.0, Input::default()));
        let ids: Vec<EntityId> = run(&mut played, 1).iter().map(|(id, _)| id).collect();
        assert_eq!(ids, [EntityId(0), second.1]);
        let again = played.admit(first.0).unwrap();
        assert!(![first.1, second.1].contains(&again), "a number is not reused at once");
    }

    #[test]
    fn a_guest_without_a_cube_learns_why() {
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
