//! Divides the cubes into two kinds of entities: the player's cube, and the others.

use kinepack::{EncodeError, EntityId, Schema, SetupError, Snapshot};

/// The id of the player's cube.
const PLAYER: EntityId = EntityId(0);

/// Returns a schema of cubes with the kinds "player" and "cube", which have the same fields.
///
/// # Errors
/// Returns [`SetupError`] if the schema cannot be used as a kind.
pub fn with_player(cubes: &Schema) -> Result<Schema, SetupError> {
    let fields = || cubes.fields().to_vec();
    Schema::builder().kind_of_fields("player", fields()).kind_of_fields("cube", fields()).build()
}

/// Returns the same cubes in the schema that [`with_player`] made. The cube with the id 0 becomes
/// the player's.
///
/// # Errors
/// Returns [`EncodeError`] if `schema` was not made by [`with_player`].
pub fn split(cubes: &Snapshot, schema: &Schema) -> Result<Snapshot, EncodeError> {
    let mut split = Snapshot::new(schema, cubes.tick);
    let mut lanes = vec![0; cubes.lane_count()];
    for (index, &id) in cubes.ids().iter().enumerate() {
        lanes.iter_mut().enumerate().for_each(|(lane, value)| *value = cubes.lane(lane)[index]);
        split.push_lanes_of(usize::from(id != PLAYER), id, &lanes)?;
    }
    Ok(split)
}
