//! Memory for the visible states of a tick, which later ticks reuse. In a large world, a hub builds
//! a state for each place with viewpoints in each tick. Without reuse, allocating and freeing them
//! takes as long as filling them.

use std::collections::VecDeque;
use std::sync::Arc;

use kinepack::Snapshot;

/// How many states in use a tick examines in vain before it no longer looks for surplus memory.
const IN_USE: usize = 32;
/// A spare state may have this many times the memory that is needed.
const LARGER: usize = 2;
/// A spare state may have this much memory in any case.
const SMALL_BYTES: usize = 4096;

/// The states that were built, with those that no view refers to any more.
#[derive(Debug, Default)]
pub(super) struct Spare {
    /// All states that were built and not found free yet, about in the order of their ticks.
    built: VecDeque<Arc<Snapshot>>,
    /// Free states, from the smallest memory to the largest, with its bytes.
    free: Vec<(usize, Arc<Snapshot>)>,
    /// The number of states that were taken since the tick began.
    taken: usize,
}

impl Spare {
    /// Begins a tick: looks for as many free states as the last tick took, and frees the memory of
    /// others.
    ///
    /// Cost: a look at each state that is found free, and at a few others.
    pub(super) fn begin(&mut self) {
        let wanted = std::mem::take(&mut self.taken);
        // States that had the wrong size in the last tick make room for others.
        self.free.truncate(wanted / 4);
        let mut in_use = 0;
        for _ in 0..self.built.len().min(4 * wanted + IN_USE) {
            if self.free.len() >= wanted && in_use >= IN_USE {
                break;
            }
            let Some(snapshot) = self.built.pop_front() else { break };
            if Arc::strong_count(&snapshot) > 1 {
                in_use += 1;
                self.built.push_back(snapshot);
            } else if self.free.len() < wanted {
                self.free.push((snapshot.memory_bytes(), snapshot));
            }
        }
        self.free.sort_unstable_by_key(|(bytes, _)| *bytes);
    }

    /// Takes a free state with any contents, or makes an empty one. It gets `count` entities of
    /// `world`, and has no other owner until it is [added](Self::add).
    pub(super) fn take(&mut self, world: &Snapshot, count: usize) -> Arc<Snapshot> {
        self.taken += 1;
        let numbers = world.value_count() + world.len();
        let needed_bytes = numbers * size_of::<u32>() / world.len().max(1) * count;
        let at = self.free.partition_point(|(bytes, _)| *bytes < needed_bytes);
        let fits = |(bytes, _): &(usize, _)| *bytes <= SMALL_BYTES + LARGER * needed_bytes;
        if self.free.get(at).is_some_and(fits) {
            return self.free.remove(at).1;
        }
        Arc::new(Snapshot::new_like(world))
    }

    /// Adds a state that was built. Its memory is reused when no view refers to it any more.
    pub(super) fn add(&mut self, snapshot: &Arc<Snapshot>) {
        self.built.push_back(Arc::clone(snapshot));
    }
}

#[cfg(test)]
mod tests {
    use kinepack::schema::{Field, FieldKind};
    use kinepack::{EntityId, Schema, Tick};

    use super::*;

    fn world(count: u32) -> Snapshot {
        let schema = Schema::new(vec![Field::new("value", FieldKind::Raw { lanes: 4 })]);
        let mut world = Snapshot::new(&schema, Tick(0));
        (0..count).for_each(|id| world.push_lanes(EntityId(id), &[id; 4]).unwrap());
        world
    }

    /// Builds `count` states of `len` entities.
    fn build(spare: &mut Spare, world: &Snapshot, count: usize, len: u32) -> Vec<Arc<Snapshot>> {
        let indices: Vec<u32> = (0..len).collect();
        spare.begin();
        let build = |_| {
            let mut state = spare.take(world, indices.len());
            assert_eq!(Arc::strong_count(&state), 1);
            Arc::make_mut(&mut state).gather(world, &indices).unwrap();
            spare.add(&state);
            state
        };
        (0..count).map(build).collect()
    }

    #[test]
    fn the_memory_of_states_that_no_view_needs_is_reused() {
        let (world, mut spare) = (world(100), Spare::default());
        let mut views = VecDeque::new();
        let mut seen = std::collections::HashSet::new();
        for tick in 0..200 {
            let states = build(&mut spare, &world, 10, 50);
            seen.extend(states.iter().map(Arc::as_ptr));
            views.push_back(states);
            if tick >= 20 {
                views.pop_front();
            }
        }
        assert!(seen.len() <= 300, "{}", seen.len());
    }

    #[test]
    fn surplus_memory_is_freed() {
        let (world, mut spare) = (world(100), Spare::default());
        let held = build(&mut spare, &world, 50, 50);
        drop(build(&mut spare, &world, 1_000, 50));
        for _ in 0..100 {
            build(&mut spare, &world, 1, 50);
        }
        assert!(spare.built.len() + spare.free.len() <= held.len() + 4, "{spare:?}");
    }

    #[test]
    fn a_state_that_is_much_too_large_is_not_reused() {
        let (world, mut spare) = (world(4_000), Spare::default());
        let large = build(&mut spare, &world, 1, 4_000)[0].memory_bytes();
        let small = build(&mut spare, &world, 1, 10)[0].memory_bytes();
        assert!(small * 10 < large, "{small} {large}");
    }
}
