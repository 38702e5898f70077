//! Counts where the bits of a snapshot went, for tools. Only if the hub counts costs.

use kinepack::{EncodeError, Encoder, EntityId, Size, Snapshot, Tick};

/// Where the bits of a snapshot went, for tools.
#[derive(Clone, Debug, PartialEq)]
pub struct Cost {
    /// The snapshot's bytes, without any header.
    pub bytes: usize,
    /// The bits by part.
    pub size: Size,
    /// The bits of each sent entity, by id, as [`Encoder::entity_bits`] counts them.
    pub entities: Vec<(EntityId, u32)>,
    /// The tick of the baseline.
    pub baseline_tick: Tick,
    /// The sent entities as they are in the baseline; added ones are not in it.
    pub baseline: Snapshot,
}

impl Cost {
    /// The cost of the last encoding of `encoder`: `encoded` against `base`, in this many bytes.
    pub(super) fn new(
        encoder: &Encoder,
        base: &Snapshot,
        encoded: &Snapshot,
        bytes: usize,
    ) -> Result<Self, EncodeError> {
        let ids = encoded.ids();
        let entities: Vec<_> = encoder
            .entity_bits()
            .iter()
            .map(|(index, bits)| (ids[*index as usize], *bits))
            .collect();
        let places: Vec<u32> = entities
            .iter()
            .filter_map(|(id, _)| base.position(*id))
            .map(|place| place as u32)
            .collect();
        let mut baseline = Snapshot::new_like(base);
        baseline.gather(base, &places)?;
        Ok(Self {
            bytes,
            size: encoder.size().clone(),
            entities,
            baseline_tick: base.tick,
            baseline,
        })
    }
}
