//! The players' cubes and their numbers.
//!
//! The first player is body 0 and always present. Further players join and leave. They are numbered
//! from [`FIRST_GUEST`] on, a fixed number above all cubes of all worlds. A receiver therefore
//! recognizes a player by the body's number alone, before it knows the number of cubes. No cube's
//! number depends on the players.

use core::fmt;

use rapier3d::prelude::*;

/// The maximum number of players in a world, including the first one.
pub const MAX_PLAYERS: usize = 64;

/// The number of the first further player's body. It is far above [`MAX_CUBES`](crate::MAX_CUBES).
pub const FIRST_GUEST: u32 = 1 << 16;

const _: () = assert!(FIRST_GUEST > crate::MAX_CUBES);

/// Returns whether `number` is the number of a player's body: of the first player, or of a possible
/// further player.
pub const fn is_player(number: u32) -> bool {
    number == 0 || (number >= FIRST_GUEST && number - FIRST_GUEST < MAX_PLAYERS as u32 - 1)
}

/// A body in the engine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) body: RigidBodyHandle,
    pub(crate) collider: ColliderHandle,
}

/// The players that are present.
#[derive(Debug)]
pub(crate) struct Players {
    first: Part,
    /// The further players, indexed by their number minus [`FIRST_GUEST`].
    guests: [Option<Part>; MAX_PLAYERS - 1],
    /// The index after the last assigned one. The search for a free number starts here. A freed
    /// number is therefore reused last, and a new player is not mistaken for one who has just left.
    next: usize,
}

impl Players {
    pub(crate) fn new(first: Part) -> Self {
        Self { first, guests: [None; MAX_PLAYERS - 1], next: 0 }
    }

    /// Returns all players, by ascending number.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, Part)> + '_ {
        let guests = (FIRST_GUEST..)
            .zip(&self.guests)
            .filter_map(|(number, guest)| Some((number, (*guest)?)));
        core::iter::once((0, self.first)).chain(guests)
    }

    pub(crate) fn find(&self, number: u32) -> Option<Part> {
        if number == 0 {
            return Some(self.first);
        }
        let guest = number.checked_sub(FIRST_GUEST)?;
        *self.guests.get(guest as usize)?
    }

    /// Returns a free number for another player.
    pub(crate) fn free_number(&self) -> Option<u32> {
        let places = self.guests.len();
        let free = (0..places)
            .map(|ahead| (self.next + ahead) % places)
            .find(|&guest| self.guests[guest].is_none())?;
        Some(FIRST_GUEST + free as u32)
    }

    /// Adds a player under `number`, which must be free.
    pub(crate) fn insert(&mut self, number: u32, part: Part) {
        let guest = (number - FIRST_GUEST) as usize;
        debug_assert!(self.guests[guest].is_none());
        self.guests[guest] = Some(part);
        self.next = (guest + 1) % self.guests.len();
    }

    /// Removes the further player with this number. Returns `None` if there is no such player.
    pub(crate) fn remove(&mut self, number: u32) -> Option<Part> {
        let guest = number.checked_sub(FIRST_GUEST)?;
        self.guests.get_mut(guest as usize)?.take()
    }
}

/// The reason why a player cannot be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AddPlayerError {
    /// The world already has [`MAX_PLAYERS`] players.
    Full,
    /// No place on the floor around the grid is free.
    NoRoom,
}

impl fmt::Display for AddPlayerError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => write!(formatter, "there are {MAX_PLAYERS} players, and no more fit"),
            Self::NoRoom => formatter.write_str("no free place on the floor for one more player"),
        }
    }
}

impl core::error::Error for AddPlayerError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_freed_number_is_reused_last() {
        let part = Part { body: RigidBodyHandle::invalid(), collider: ColliderHandle::invalid() };
        let mut players = Players::new(part);
        for expected in FIRST_GUEST..FIRST_GUEST + 63 {
            let number = players.free_number().expect("a free number");
            assert_eq!(number, expected);
            players.insert(number, part);
            if expected == FIRST_GUEST {
                assert!(players.remove(number).is_some() && players.remove(number).is_none());
            }
        }
        assert_eq!(players.free_number(), Some(FIRST_GUEST));
        players.insert(FIRST_GUEST, part);
        assert_eq!(players.free_number(), None);
        assert_eq!(players.iter().count(), MAX_PLAYERS);
        assert!(
            players.iter().all(|(number, _)| is_player(number) && players.find(number).is_some())
        );
        for number in [1, FIRST_GUEST - 1, FIRST_GUEST + 63, u32::MAX] {
            assert!(
                !is_player(number)
                    && players.find(number).is_none()
                    && players.remove(number).is_none()
            );
        }
        assert!(players.remove(0).is_none(), "the first player cannot be removed");
    }
}
