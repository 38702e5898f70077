//! Encodes a snapshot relative to a baseline. See `spec/CODEC.md`, sections 6 to 9 and 12.

mod chosen;
mod encoded;
mod packet;

use alloc::sync::Arc;
use alloc::vec::Vec;

pub use chosen::Chosen;
pub use encoded::Encoded;

use super::adaptive::{Adaptive, Learned, State};
use super::baselines::Baselines;
use super::codec::{Codec, Tables};
#[cfg(feature = "training")]
use super::entities::Entities;
use super::lineup::Lineup;
use super::packed::{Packer, Size, Spent};
use super::store::Snapshot;
use super::tally::Tally;
use super::view::{Spare, View};
use crate::EncodeError;

/// Writes snapshots, each relative to views that the receiver holds.
///
/// ```
/// use kinepack::schema::{Field, FieldKind};
/// use kinepack::{Codec, Encoder, EntityId, Level, Profile, Schema, Snapshot, Tick, View};
///
/// let schema = Schema::new(vec![Field::new("value", FieldKind::Raw { lanes: 1 })]);
/// let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema))?;
/// let mut encoder = Encoder::new(&codec);
/// let mut world = Snapshot::new(&schema, Tick(1));
/// world.push_lanes(EntityId(7), &[500])?;
///
/// let (mut first, mut second) = (Vec::new(), Vec::new());
/// let held = encoder.encode(&View::empty(&schema), &world, &mut first)?;
/// assert_eq!(**held.snapshot(), world);
/// // Relative to the new view, no entity has changed, so the packet takes three bits.
/// encoder.encode(&held, &world, &mut second)?;
/// assert_eq!(second.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Contract
/// 1. Compare the [`Codec::hash`] of both sides once. Packets do not carry this hash.
/// 2. Begin with a view that both sides hold: see [`View`].
/// 3. For each packet, call [`encode`](Self::encode) with views that the receiver is known to hold.
///    Keep the view that `encode` returns.
/// 4. With the packet, send its tick and the ticks of the views that it was coded against: the
///    decoder needs both. A protocol such as `kinepack-net` does this.
/// 5. After an acknowledgement, use the acknowledged view as the baseline. [Recycle](Self::recycle)
///    views that no further packet will be coded against.
///
/// Between packets an encoder keeps only scratch memory. One encoder can serve many receivers, in
/// any order. A packet that is lost or never sent needs no call. If the caller recycles views,
/// encoding allocates nothing in steady state.
///
/// | mistake | what happens |
/// |---|---|
/// | a view or a snapshot of another schema | [`EncodeError::SchemaMismatch`]; `out` is as before |
/// | views that are not in order, or too many | [`BaselinesError`](crate::BaselinesError), by [`Baselines::new`] |
/// | a view that the receiver does not hold | no error here; see [`Decoder`](super::Decoder) |
/// | a baseline with another codec's learned state | no error: the packet starts from the profile |
/// | a snapshot instead of a view as baseline | does not compile: see [`View`] |
/// | the next packet while an [`Encoded`] is in use | does not compile |
///
/// ```compile_fail,E0499
/// # use kinepack::codec::Chosen;
/// # use kinepack::{EncodeError, Encoder, Snapshot, View};
/// # fn two(mut encoder: Encoder, held: &View, world: &Snapshot) -> Result<(), EncodeError> {
/// # let mut out = Vec::new();
/// let first = encoder.write(held, world, Chosen::All, &mut out)?;
/// let second = encoder.write(held, world, Chosen::All, &mut out)?;
/// let view = first.view();
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Encoder {
    codec: Codec,
    /// The indices of the entities that the current packet sends, increasing: see
    /// [`find_changed`](Self::find_changed). The list is empty at levels that send every entity.
    pub(super) changed: Vec<u32>,
    pub(super) packer: Packer,
    spent: Spent,
    /// The views, lined up with the current packet's entities. The history in it is prepared only
    /// for a time precision and at levels that predict.
    pub(super) lineup: Lineup,
    /// The snapshot that is encoded, if it is coarser than the caller's snapshot.
    coarse: Option<Snapshot>,
    /// The adaptive level's memory.
    adaptive: Option<State>,
    packed: Vec<u8>,
    /// The state that the last packet learned, until a view takes it.
    learned: Option<Learned>,
    /// The indices of the entities that did not fit into the last packet.
    unsent: Vec<u32>,
    spare: Spare,
}

impl Encoder {
    /// Makes an encoder for `codec`.
    pub fn new(codec: &Codec) -> Self {
        let tables = codec.tables();
        Self {
            changed: Vec::new(),
            packer: Packer::default(),
            spent: Spent::new(tables.fields.len()),
            lineup: Lineup::default(),
            coarse: None,
            adaptive: tables.adaptive.as_ref().map(Adaptive::state),
            packed: Vec::new(),
            learned: None,
            unsent: Vec::new(),
            spare: Spare::default(),
            codec: codec.clone(),
        }
    }

    /// Encodes `world` relative to views that the receiver holds, and appends the packet to `out`.
    /// `baselines` is a `&View`, or [`Baselines`] with older views. Returns the view that a
    /// receiver of the packet will have. In that view, moving entities are as coarse as the
    /// schema's time precision makes them. At a level that learns, the view also holds the learned
    /// state. [`size`](Self::size) then returns the sizes of the packet's parts.
    ///
    /// The cost is coding the packet, and a copy of the snapshot.
    ///
    /// # Errors
    /// [`EncodeError::SchemaMismatch`] if a view or `world` has another schema, and
    /// [`EncodeError::SharedId`] if an id of `world` is in two kinds. After an error, `out` is
    /// unchanged.
    pub fn encode<'a>(
        &mut self,
        baselines: impl Into<Baselines<'a>>,
        world: &Snapshot,
        out: &mut Vec<u8>,
    ) -> Result<View, EncodeError> {
        let (baselines, codec) = (baselines.into(), self.codec.clone());
        let tables = codec.tables();
        check_schema(tables, baselines.iter().chain([world]))?;
        let mut snapshot = self.spare.snapshot(codec.schema());
        let copy = Arc::make_mut(&mut snapshot);
        copy.copy_from(world);
        self.line_up(tables, &baselines, world)?;
        if let Some(precision) = &tables.precision {
            self.lineup.coarsen(precision, baselines.baseline, &mut copy.columns);
        }
        self.write_packet(&codec, &baselines, copy, Chosen::All, out)?;
        Ok(View::from(snapshot).with_learned(self.learned.take()))
    }

    /// Like [`encode`](Self::encode), then appends the view's [state check](View::check) in two
    /// bytes. [`Decoder::decode_checked`](super::Decoder::decode_checked) reads the packet and the
    /// check.
    ///
    /// # Errors
    /// The errors of [`encode`](Self::encode).
    pub fn encode_checked<'a>(
        &mut self,
        baselines: impl Into<Baselines<'a>>,
        world: &Snapshot,
        out: &mut Vec<u8>,
    ) -> Result<View, EncodeError> {
        let view = self.encode(baselines, world, out)?;
        out.extend(view.check().to_le_bytes());
        Ok(view)
    }

    /// Like [`encode`](Self::encode), but sends only what the caller chose, and makes a view only
    /// on [request](Encoded::view). Use this method to select entities, or to store views in a
    /// different form.
    ///
    /// With [`Chosen::Some`], the snapshot must have the same entities as the baseline. Entities
    /// that are not chosen keep the baseline's values. Encoding then compares all ids and codes the
    /// chosen entities.
    ///
    /// # Errors
    /// The errors of [`encode`](Self::encode). With [`Chosen::Some`] also
    /// [`EncodeError::BadIndices`]. [`EncodeError::EntitiesDiffer`] if the ids are not the
    /// baseline's or the level sends every entity.
    pub fn write<'a>(
        &'a mut self,
        baselines: impl Into<Baselines<'a>>,
        world: &'a Snapshot,
        chosen: Chosen<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Encoded<'a>, EncodeError> {
        let (baselines, codec) = (baselines.into(), self.codec.clone());
        let (tables, baseline) = (codec.tables(), baselines.baseline);
        check_schema(tables, baselines.iter().chain([world]))?;
        let is_partial = chosen.indices().is_some();
        if let Some(indices) = chosen.indices() {
            world.check_indices(indices)?;
            if tables.changed_coding().is_none() || !baseline.has_same_entities(world) {
                return Err(EncodeError::EntitiesDiffer);
            }
        }
        self.line_up(tables, &baselines, world)?;
        let mut is_coarse = false;
        if let Some(precision) = &tables.precision {
            is_coarse = self.lineup.is_too_fine(precision, baseline, &world.columns);
        }
        let mut coarse = self.coarse.take();
        let encoded = match (&tables.precision, &mut coarse) {
            (Some(precision), coarse) if is_coarse => {
                let copy = coarse.get_or_insert_with(|| Snapshot::new_like(world));
                copy.copy_from(world);
                self.lineup.coarsen(precision, baseline, &mut copy.columns);
                &*copy
            }
            _ => world,
        };
        let written = self.write_packet(&codec, &baselines, encoded, chosen, out);
        self.coarse = coarse;
        written?;
        Ok(Encoded { encoder: self, baseline, is_coarse, world, is_partial })
    }

    /// Returns the state that a receiver will hold if all of `world` is sent relative to
    /// `baselines`. This is `world` itself, or a coarser copy if the time precision changes a
    /// value. Use this method to compare states before choosing what to send.
    ///
    /// # Errors
    /// The errors of [`encode`](Self::encode).
    pub fn coarse<'a>(
        &mut self,
        baselines: impl Into<Baselines<'a>>,
        world: &Arc<Snapshot>,
    ) -> Result<Arc<Snapshot>, EncodeError> {
        let (baselines, codec) = (baselines.into(), self.codec.clone());
        let (tables, baseline) = (codec.tables(), baselines.baseline);
        check_schema(tables, baselines.iter().chain([&**world]))?;
        let Some(precision) = &tables.precision else { return Ok(Arc::clone(world)) };
        self.line_up(tables, &baselines, world)?;
        if !self.lineup.is_too_fine(precision, baseline, &world.columns) {
            return Ok(Arc::clone(world));
        }
        let mut snapshot = self.spare.snapshot(codec.schema());
        let copy = Arc::make_mut(&mut snapshot);
        copy.copy_from(world);
        self.lineup.coarsen(precision, baseline, &mut copy.columns);
        Ok(snapshot)
    }

    /// Gives back a view that is not needed any more. If the view has no other owner, the next view
    /// reuses its memory.
    pub fn recycle(&mut self, view: View) {
        self.spare.keep(view);
    }

    /// The indices of the entities that did not fit into the last packet, increasing.
    pub fn unsent(&self) -> &[u32] {
        &self.unsent
    }

    /// The sizes of the last packet's parts, in bits.
    pub fn size(&self) -> &Size {
        &self.spent.size
    }

    /// Starts or stops the counting for [`entity_bits`](Self::entity_bits) and
    /// [`lane_bits`](Self::lane_bits), from the next packet on. Counting is off by default, because
    /// it takes a little time and only tools need it.
    pub fn count_entity_bits(&mut self, is_wanted: bool) {
        self.spent.tally = Tally::new(is_wanted);
        if let Some(state) = &mut self.adaptive {
            state.count_entities(is_wanted);
        }
    }

    /// The number of bits that each entity took in the last packet, as pairs of the entity's index
    /// and its bits. The indices are those of the encoded snapshot, increasing. The list is empty
    /// unless [counting is on](Self::count_entity_bits).
    ///
    /// At levels that pack bits, and in packets that fall back to packed bits, only the bits of an
    /// entity's field values count. The sum over all entities then equals the sum of
    /// [`Size::fields_bits`]. An entity that was added with zero in every lane has no coded values,
    /// so it is not listed.
    ///
    /// At levels that predict, everything coded after an entity's changed flag counts. That is the
    /// flags of its fields, its values, and the origin of an added entity. [`Size`] counts the
    /// flags of bodies and these origins as bits of the sets. Each of these counts is off by less
    /// than a bit, and the sum of the counts by half a bit. The sum may also be off by up to a
    /// byte, if the end of the code takes fewer bits than its decisions cost.
    ///
    /// The bits of the sets are not attributed to entities.
    pub fn entity_bits(&self) -> &[(u32, u32)] {
        self.spent.tally.bits()
    }

    /// The number of bits that the values of each lane took in the last packet, summed over all
    /// entities. The list is in the order of the schema's lanes. It is empty unless [counting is
    /// on](Self::count_entity_bits).
    ///
    /// The sum over all lanes is below the sum of [`Size::fields_bits`], because some bits belong
    /// to a field but to no lane. In packed bits, this is the word that selects a class, because a
    /// class has the widths of all lanes. At levels that predict, these are a field's changed flag,
    /// all bits of a flag or choice, and all bits of an added entity.
    pub fn lane_bits(&self) -> &[u64] {
        self.spent.tally.lanes_bits()
    }

    /// Returns the rows of the entities of a kind that the last packet sent. `entities` are those
    /// of the packet's snapshot.
    #[cfg(feature = "training")]
    pub(super) fn changed_rows(&self, entities: &Entities, kind: usize) -> Vec<u32> {
        let range = entities.range(kind);
        let is_of_kind = |index: &&u32| range.contains(&(**index as usize));
        self.changed.iter().filter(is_of_kind).map(|index| index - range.start as u32).collect()
    }

    /// Coarsens the values of `snapshot` to those that a receiver will hold.
    #[cfg(feature = "training")]
    pub(super) fn coarsen(
        &mut self,
        baselines: &Baselines<'_>,
        snapshot: &mut Snapshot,
    ) -> Result<(), EncodeError> {
        let codec = self.codec.clone();
        let tables = codec.tables();
        check_schema(tables, baselines.iter().chain([&*snapshot]))?;
        if let Some(precision) = &tables.precision {
            self.line_up(tables, baselines, snapshot)?;
            self.lineup.coarsen(precision, baselines.baseline, &mut snapshot.columns);
        }
        Ok(())
    }

    /// Lines up the receiver's views with the entities of `world`.
    ///
    /// # Errors
    /// [`EncodeError::SharedId`] if an id of `world` is in two kinds.
    fn line_up(
        &mut self,
        tables: &Tables,
        baselines: &Baselines<'_>,
        world: &Snapshot,
    ) -> Result<(), EncodeError> {
        self.lineup.line_up(baselines.baseline, world);
        if tables.precision.is_some() || tables.adaptive.is_some() {
            let precision = tables.precision.as_ref();
            self.lineup.find_motion(precision, baselines, &world.entities, world.tick.0);
        }
        for (nth, kind) in tables.schema.kinds().iter().enumerate().filter(|_| tables.has_coarse) {
            for field in &tables.fields[kind.fields()] {
                self.lineup.find_coarse((nth, field), baselines.baseline, &world.columns);
            }
        }
        // A receiver holds the baseline, so the baseline's ids are distinct.
        match world.entities.shared_id().filter(|_| self.lineup.is_aligned()) {
            Some(id) => Err(EncodeError::SharedId { id: id.0 }),
            None => Ok(()),
        }
    }
}

fn check_schema<'a>(
    tables: &Tables,
    snapshots: impl Iterator<Item = &'a Snapshot>,
) -> Result<(), EncodeError> {
    let expected_hash = tables.schema.hash();
    match snapshots.map(Snapshot::schema_hash).find(|hash| *hash != expected_hash) {
        Some(hash) => Err(EncodeError::SchemaMismatch { expected_hash, hash }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::level::Changed;
    use crate::schema::{Field, FieldKind};
    use crate::{Decoder, EntityId, Level, Profile, Schema, Tick};

    /// No level of the table both predicts and sends every entity, so the test makes such a level.
    /// The predicting stage must not depend on the scratch memory of the packing stages: an earlier
    /// version used the changed entities of the previous packet.
    #[test]
    fn each_packet_finds_its_own_changed_entities() {
        let level = Level::ADAPTIVE.with_changed(Changed::All);
        let schema = Schema::new(vec![Field::new("value", FieldKind::Raw { lanes: 1 })]);
        let codec = Codec::new(schema.clone(), level, Profile::untrained(&schema)).unwrap();
        let snapshot = |changed: u32| {
            let mut snapshot = Snapshot::new(&schema, Tick(changed));
            (0..100).for_each(|id| {
                snapshot.push_lanes(EntityId(id), &[u32::from(id == changed) * 7]).unwrap();
            });
            snapshot
        };
        let (mut encoder, mut decoder) = (Encoder::new(&codec), Decoder::new(&codec));
        let mut held = View::from(snapshot(1000));
        for changed in [3, 50, 99] {
            let mut packet = Vec::new();
            let sent = encoder.encode(&held, &snapshot(changed), &mut packet).unwrap();
            held = decoder.decode(&held, &packet, Tick(changed)).unwrap();
            assert!(held == sent && *held == snapshot(changed), "entity {changed}");
        }
    }
}
