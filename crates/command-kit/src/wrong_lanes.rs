//! Compares a received state with the sent state.

use kinepack::Snapshot;

/// Returns the number of lanes in which two snapshots differ. If the snapshots have different
/// entities, the result is the number of lanes of the entities that only one snapshot has.
pub fn wrong_lanes(expected: &Snapshot, state: &Snapshot) -> u64 {
    if !expected.entities().eq(state.entities()) {
        let missing = |a: &Snapshot, b: &Snapshot| {
            a.entities().filter(|(kind, id)| b.position_of(*kind, *id).is_none()).count()
        };
        return ((missing(expected, state) + missing(state, expected)) * state.lane_count()) as u64;
    }
    let differing = |lane: usize| {
        expected.lane(lane).iter().zip(state.lane(lane)).filter(|(a, b)| a != b).count() as u64
    };
    (0..state.lane_count()).map(differing).sum()
}
