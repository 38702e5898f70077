//! Holds a written packet, and makes the view that the packet's receiver will have.

use alloc::sync::Arc;

use super::Encoder;
use crate::snapshot::adaptive::Learned;
use crate::snapshot::packed::Size;
use crate::snapshot::store::Snapshot;
use crate::snapshot::view::View;

/// A packet that was written, before its [`View`] is made.
///
/// ```
/// use kinepack::codec::Chosen;
/// use kinepack::schema::{Field, FieldKind};
/// use kinepack::{
///     Baselines, Codec, Encoder, EntityId, Level, Profile, Schema, Snapshot, Tick, View,
/// };
///
/// let schema = Schema::new(vec![Field::new("lit", FieldKind::Bool)]);
/// let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema))?;
/// let mut world = Snapshot::new(&schema, Tick(1));
/// world.push_lanes(EntityId(3), &[1])?;
/// let (known, mut packet) = (View::empty(&schema), Vec::new());
/// let mut encoder = Encoder::new(&codec);
/// let encoded =
///     encoder.write(Baselines::new([&known])?, &world, Chosen::All, &mut packet)?;
/// assert_eq!(encoded.size().changed_entities, 1);
/// assert!(encoded.unsent().is_empty() && encoded.learned().is_none());
/// assert_eq!(**encoded.view().snapshot(), world);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Encoded<'a> {
    pub(super) encoder: &'a mut Encoder,
    pub(super) baseline: &'a Snapshot,
    /// True if the packet codes the encoder's coarse copy instead of `world`.
    pub(super) is_coarse: bool,
    pub(super) world: &'a Snapshot,
    pub(super) is_partial: bool,
}

impl Encoded<'_> {
    /// The sizes of the packet's parts, in bits.
    pub fn size(&self) -> &Size {
        self.encoder.size()
    }

    /// The indices of the entities that did not fit into the packet, increasing.
    pub fn unsent(&self) -> &[u32] {
        self.encoder.unsent()
    }

    /// The state that the models learned from this packet; `None` at levels that do not learn.
    pub fn learned(&self) -> Option<&Learned> {
        self.encoder.learned.as_ref()
    }

    /// Makes the view that a receiver of the packet will have. The cost is a copy of the snapshot.
    pub fn view(self) -> View {
        let Self { encoder, baseline, is_coarse, world, is_partial } = self;
        let encoded = encoder.coarse.as_ref().filter(|_| is_coarse).unwrap_or(world);
        let mut snapshot = encoder.spare.snapshot(encoder.codec.schema());
        let copy = Arc::make_mut(&mut snapshot);
        if is_partial {
            copy.copy_from(baseline);
            copy.tick = encoded.tick;
            let unsent = &encoder.unsent;
            for &index in
                encoder.changed.iter().filter(|index| unsent.binary_search(index).is_err())
            {
                let (kind, row) = encoded.entities.place(index as usize);
                let lanes = encoded.kinds.list[kind].lanes();
                let columns = copy.columns[lanes.clone()].iter_mut();
                for (to, from) in columns.zip(&encoded.columns[lanes]) {
                    to[row] = from[row];
                }
            }
        } else {
            copy.copy_from(encoded);
        }
        View::from(snapshot).with_learned(encoder.learned.take())
    }
}
