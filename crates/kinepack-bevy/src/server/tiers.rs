//! The coarser worlds of a server, in which far bodies are sent.
//!
//! A world has the same entities as the server's state, and differs only in the lanes of bodies.
//! There are as many coarser worlds as the rings name and the figures have: none without rings.
//! Cost: for each world, a quantization of each changed body, and a copy of all other changed rows.

use kinepack::{EntityId, Snapshot, Tick};
use kinepack_net::Rings;

use crate::settings::expect;

/// The worlds of the tiers above 0.
pub(super) struct Tiers {
    /// The number of tiers above 0 of the figure that has the most.
    most: usize,
    /// The number of tiers above 0 that are sent.
    wanted: usize,
    /// The newest state in each tier.
    states: Vec<Snapshot>,
    /// Scratch memory: the changes of a tick in each tier.
    rows: Vec<Snapshot>,
}

impl Tiers {
    pub(super) fn new(most: usize) -> Self {
        Self { most, wanted: 0, states: Vec::new(), rows: Vec::new() }
    }

    /// Takes the number of tiers from the rings.
    pub(super) fn follow(&mut self, rings: Option<&Rings>) {
        let named = rings
            .and_then(|rings| rings.rings.iter().map(|ring| ring.tier).chain(rings.beyond).max());
        self.wanted = named.unwrap_or(0).min(self.most);
    }

    /// Begins a tick after the state `finest`. Returns true if there are new tiers. These have the
    /// finest lanes of all bodies, until the bodies are pushed again.
    pub(super) fn begin(&mut self, tick: Tick, finest: &Snapshot) -> bool {
        let has_new = self.wanted > self.states.len();
        self.states.resize_with(self.wanted, || finest.clone());
        self.rows.resize_with(self.wanted, || Snapshot::new_like(finest));
        self.rows.iter_mut().for_each(|rows| rows.clear(tick));
        has_new
    }

    /// The changes of the tick, from tier 1 on.
    pub(super) fn rows(&mut self) -> &mut [Snapshot] {
        &mut self.rows
    }

    /// Applies the changes of the tick.
    pub(super) fn patch(&mut self, removed: &[EntityId], tick: Tick) {
        for (state, rows) in self.states.iter_mut().zip(&self.rows) {
            expect(state.patch(removed, rows), "the rows of another schema");
            state.tick = tick;
        }
    }

    /// Removes an entity.
    pub(super) fn remove(&mut self, id: EntityId, tick: Tick) {
        self.rows.iter_mut().for_each(|rows| rows.clear(tick));
        self.patch(&[id], tick);
    }

    /// The newest states, from tier 1 on. This allocates if there are any.
    pub(super) fn states(&self) -> Vec<&Snapshot> {
        self.states.iter().collect()
    }
}
