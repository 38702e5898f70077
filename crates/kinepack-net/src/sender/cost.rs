//! Where the bits of a snapshot went: for tools, and only where the hub counts it.

use kinepack::{EncodeError, Encoder, EntityId, Size, Snapshot, Tick};

/// Where the bits of a snapshot went: for tools.
#[derive(Clone, Debug, PartialEq)]
pub struct Cost {
    /// Of the snapshot, without any header.
    pub bytes: usize,
    /// By part.
    pub size: Size,
    /// Bits of each entity that was sent, by id, as [`Encoder::entity_bits`] counts them.
    pub entities: Vec<(EntityId, u32)>,
    /// The tick of the baseline.
    pub baseline_tick: Tick,
    /// The entities that were sent, as they are in the baseline; those that came are not in it.
    pub baseline: Snapshot,
}

impl Cost {
    /// Of what `encoder` made last: `encoded` relative to `base`, in so many bytes.
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
