//! The keys that a player holds in a tick. They have names, and one bit each on the wire.

use cubes::Input;
use kinepack::Pack;
use serde::Deserialize;

/// A key of the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Key {
    Left,
    Right,
    Up,
    Down,
    Push,
    Pull,
}

/// Builds an input from a predicate that is called for each key.
pub fn input(is_held: impl Fn(Key) -> bool) -> Input {
    Input {
        left: is_held(Key::Left),
        right: is_held(Key::Right),
        up: is_held(Key::Up),
        down: is_held(Key::Down),
        push: is_held(Key::Push),
        pull: is_held(Key::Pull),
    }
}

/// The six keys, in the order of [`Input`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pack)]
pub struct Keys {
    pub left: bool,
    pub right: bool,
    pub up: bool,
    pub down: bool,
    pub push: bool,
    pub pull: bool,
}

impl From<Input> for Keys {
    fn from(Input { left, right, up, down, push, pull }: Input) -> Self {
        Self { left, right, up, down, push, pull }
    }
}

impl From<Keys> for Input {
    fn from(Keys { left, right, up, down, push, pull }: Keys) -> Self {
        Self { left, right, up, down, push, pull }
    }
}

#[cfg(test)]
mod tests {
    use kinepack::{EntityId, Schema, Snapshot, Tick};

    use super::*;

    #[test]
    fn every_input_takes_six_bits_and_round_trips() {
        let schema = Schema::of::<Keys>();
        assert_eq!(schema.lanes().iter().map(kinepack::schema::Lane::bits).sum::<u32>(), 6);
        let mut snapshot = Snapshot::new(&schema, Tick(0));
        for bits in 0..64 {
            let [left, right, up, down, push, pull] =
                [0, 1, 2, 3, 4, 5].map(|key| bits >> key & 1 != 0);
            let input = Input { left, right, up, down, push, pull };
            snapshot.push(EntityId(bits), &Keys::from(input)).expect("bits are never out of range");
            let lanes: Vec<u32> = (0..6).map(|lane| snapshot.lane(lane)[bits as usize]).collect();
            assert_eq!(lanes, [left, right, up, down, push, pull].map(u32::from));
            let keys: Keys = snapshot.get_at_index(bits as usize).expect("of this schema");
            assert_eq!(Input::from(keys), input);
        }
    }
}
