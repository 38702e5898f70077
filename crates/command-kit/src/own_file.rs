//! Limits for files that a person opens.

use kinepack::{DecodeLimits, Schema};

/// The maximum size of a snapshot's lanes, in bytes.
const SNAPSHOT_BYTES: usize = 256 << 20;

/// Returns the limits of snapshots in a person's own file. The memory is limited, but not the
/// number of entities.
pub fn own_file_limits(schema: &Schema) -> DecodeLimits {
    DecodeLimits { max_entities: u32::MAX }.within(schema, SNAPSHOT_BYTES)
}
