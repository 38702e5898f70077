//! Converts states of derived types to lanes, and to the state that the other side reconstructs.

use kinepack::{EncodeError, EntityId, Pack, Schema, Snapshot, Tick};

/// Returns the lanes of a state. Checks that a snapshot accepts them, and that they equal those of
/// the state's raw words.
pub(crate) fn lanes<T: Pack>(state: &T) -> Vec<u32> {
    let schema = Schema::of::<T>();
    let mut lanes = vec![7; T::LANES];
    state.quantize(&mut lanes).unwrap();
    for (lane, limits) in lanes.iter().zip(schema.lanes()) {
        assert!(*lane <= limits.max);
    }
    let mut snapshot = Snapshot::new(&schema, Tick(1));
    snapshot.push(EntityId(3), state).unwrap();
    let (mut raw, mut again) = (vec![7; T::LANES], vec![7; T::LANES]);
    state.store_raw(&mut raw).unwrap();
    schema.quantize_raw(&raw, &mut again).unwrap();
    assert_eq!(again, lanes, "raw words");
    lanes
}

/// Returns the state that the other side reconstructs.
pub(crate) fn round_trip<T: Pack>(state: &T) -> T {
    let codes = lanes(state);
    let back = T::reconstruct(&codes);
    assert_eq!(lanes(&back), codes, "a reconstructed state has the same lanes");
    back
}

pub(crate) fn error<T: Pack>(state: &T) -> EncodeError {
    state.quantize(&mut vec![0; T::LANES]).unwrap_err()
}
