//! Chooses the changes that a packet sends.

/// The changes to send in a packet.
///
/// ```
/// use kinepack::codec::{Chosen};
/// use kinepack::schema::{Field, FieldKind};
/// use kinepack::{Codec, Encoder, EntityId, Level, Profile, Schema, Snapshot, Tick, View};
///
/// let schema = Schema::new(vec![Field::new("value", FieldKind::Raw { lanes: 1 })]);
/// let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema))?;
/// let state = |values: [u32; 3]| -> Result<Snapshot, kinepack::EncodeError> {
///     let mut snapshot = Snapshot::new(&schema, Tick(1));
///     for (id, value) in (0..).zip(values) {
///         snapshot.push_lanes(EntityId(id), &[value])?;
///     }
///     Ok(snapshot)
/// };
/// let (held, world) = (View::from(state([1, 2, 3])?), state([1, 20, 30])?);
/// let (mut encoder, mut packet) = (Encoder::new(&codec), Vec::new());
/// // Two entities changed, but only the one at index 2 is sent.
/// let encoded = encoder.write(&held, &world, Chosen::entities(&[2]), &mut packet)?;
/// assert_eq!(encoded.size().changed_entities, 1);
/// assert_eq!(encoded.view().lane(0), [1, 2, 30]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Chosen<'a> {
    /// The packet holds all changes of all entities.
    All,
    /// The packet holds only the changes of the chosen entities.
    Some {
        /// The indices of the chosen entities in the snapshot, increasing.
        indices: &'a [u32],
        /// At a level that predicts, the packet ends near this number of bytes, because the coder
        /// knows the size while it codes. The entities that did not fit are then
        /// [`unsent`](crate::Encoder::unsent), as if they had not been chosen. The packet may still
        /// exceed the limit. Levels that pack bits always send all chosen entities, and the last
        /// entity may take more than those before it. `usize::MAX` means no limit.
        limit_bytes: usize,
    },
}

impl<'a> Chosen<'a> {
    /// Chooses entities without a size limit.
    pub const fn entities(indices: &'a [u32]) -> Self {
        Self::Some { indices, limit_bytes: usize::MAX }
    }

    pub(super) fn indices(self) -> Option<&'a [u32]> {
        match self {
            Self::All => None,
            Self::Some { indices, .. } => Some(indices),
        }
    }
}
