//! The handshake: checks that sender and receiver agree before the first snapshot. See
//! `spec/NET.md`, section 3.

use kinepack::{Codec, Snapshot, Tick, View};

use crate::NetError;
use crate::packet::{Hello, VERSION};

/// The hello of a side that uses `codec`, starts from the `initial` state, and has no events.
pub(crate) fn hello(codec: &Codec, initial: &Snapshot) -> Hello {
    Hello {
        version: VERSION,
        schema_hash: codec.schema().hash(),
        codec_hash: codec.hash(),
        initial_hash: initial.state_hash(),
        events_hash: 0,
    }
}

/// Reference state 0: `initial` with tick 0. Both sides set this tick, because hellos do not
/// compare the ticks of initial states.
pub(crate) fn reference_zero(initial: &Snapshot) -> View {
    let mut state = initial.clone();
    state.tick = Tick(0);
    View::from(state)
}

/// Checks that a codec or a snapshot has the expected schema.
pub(crate) fn check_schema(expected_hash: u64, hash: u64) -> Result<(), NetError> {
    if hash == expected_hash {
        Ok(())
    } else {
        Err(NetError::SchemaMismatch { expected_hash, hash })
    }
}

/// Checks an initial state: its schema, and that its ids are distinct.
pub(crate) fn check_initial(codec: &Codec, initial: &Snapshot) -> Result<(), NetError> {
    check_schema(codec.schema().hash(), initial.schema_hash())?;
    initial.shared_id().map_or(Ok(()), |id| Err(NetError::SharedId { id }))
}

#[cfg(test)]
mod tests {
    use kinepack::Schema;

    use super::*;

    #[test]
    fn the_reference_state_of_number_0_is_of_tick_0() {
        let initial = Snapshot::new(&Schema::new(Vec::new()), Tick(700));
        assert_eq!(reference_zero(&initial).tick, Tick(0));
    }
}
