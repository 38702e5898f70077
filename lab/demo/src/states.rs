//! The true states of all bodies at a tick, by id.

use cube_data::cube::Measured;
use kinepack::EntityId;

/// The bodies' ids and their states.
#[derive(Clone, Debug, Default)]
pub struct States {
    /// The ids in ascending order, one for each entry of `measured`.
    ids: Vec<EntityId>,
    measured: Vec<Measured>,
}

impl States {
    pub fn clear(&mut self) {
        self.ids.clear();
        self.measured.clear();
    }

    /// Adds a body whose id is above all others.
    pub fn push(&mut self, id: EntityId, state: Measured) {
        debug_assert!(self.ids.last().is_none_or(|last| *last < id));
        self.ids.push(id);
        self.measured.push(state);
    }

    /// Copies other states into the memory that these states already have.
    pub fn copy_from(&mut self, other: &Self) {
        self.ids.clone_from(&other.ids);
        self.measured.clone_from(&other.measured);
    }

    pub fn count(&self) -> usize {
        self.ids.len()
    }

    /// Returns all bodies, by increasing id.
    pub fn iter(&self) -> impl Iterator<Item = (EntityId, &Measured)> {
        self.ids.iter().copied().zip(&self.measured)
    }

    /// Returns the states without ids, by increasing id.
    pub fn measured(&self) -> &[Measured] {
        &self.measured
    }

    /// Returns the state of one body, or `None` if there is no such body.
    pub fn find(&self, id: EntityId) -> Option<&Measured> {
        // For most bodies, the index equals the id.
        let index = id.0 as usize;
        let index = if self.ids.get(index) == Some(&id) {
            index
        } else {
            self.ids.binary_search(&id).ok()?
        };
        self.measured.get(index)
    }
}

impl Extend<Measured> for States {
    /// Adds bodies with consecutive ids after the last one, or from 0 if there are none.
    fn extend<T: IntoIterator<Item = Measured>>(&mut self, states: T) {
        let first = self.ids.last().map_or(0, |last| last.0 + 1);
        (first..).zip(states).for_each(|(id, state)| self.push(EntityId(id), state));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_found_by_id() {
        let state = |x| Measured {
            position: [x, 0.0, 0.0],
            orientation: [0.0, 0.0, 0.0, 1.0],
            velocity: [0.0; 3],
            interacting: false,
        };
        let mut states = States::default();
        states.extend([state(0.0), state(1.0)]);
        states.push(EntityId(70), state(2.0));
        states.extend([state(3.0)]);
        let found = |id| states.find(EntityId(id)).map(|state| state.position[0]);
        assert_eq!(
            [0, 1, 2, 70, 71, 72].map(found),
            [Some(0.0), Some(1.0), None, Some(2.0), Some(3.0), None]
        );
        let mut copy = States::default();
        copy.copy_from(&states);
        assert!(copy.iter().eq(states.iter()) && copy.count() == 4);
        assert_eq!(copy.measured(), states.measured());
    }
}
