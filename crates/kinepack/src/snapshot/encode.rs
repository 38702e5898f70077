//! Encoding a snapshot relative to a baseline. `spec/CODEC.md`, sections 6 to 9 and 12.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::adaptive::{Adaptive, Learned, Packet, State};
use super::baselines::Baselines;
use super::changed::find_changed;
use super::codec::{Codec, Tables};
use super::lineup::Lineup;
use super::packed::{Contents, Packer, Size, Spent};
use super::precision::differs;
use super::store::Snapshot;
use super::tally::Tally;
use super::view::{Spare, View};
use crate::EncodeError;
use crate::bits::{BitSink, BitWriter};

/// Writes snapshots, each relative to views that the receiver holds.
///
/// # Contract
/// 1. Compare [`Codec::hash`] on both sides once. Packets do not carry it.
/// 2. Begin with a view that both sides have: see [`View`].
/// 3. For each packet, call [`encode`](Self::encode) with views that the receiver is known to
///    hold. Keep the view that it returns.
/// 4. Send with the packet its tick, and which views it is against: the decoder needs both. A
///    protocol does this, such as `kinepack-net`.
/// 5. After an acknowledgement, use the acknowledged view as the baseline. Give
///    [back](Self::recycle) views that no packet will be against any more.
///
/// An encoder remembers nothing from one packet to the next but scratch memory. One encoder can
/// serve many receivers, in any order. A packet that is lost or never sent needs no call. If views
/// are given back, it allocates nothing in steady state.
///
/// | wrong | what happens |
/// |---|---|
/// | a view or a snapshot of another schema | [`EncodeError::SchemaMismatch`]; `out` is as before |
/// | views that are not in order, or too many | [`BaselinesError`](crate::BaselinesError), by [`Baselines::new`] |
/// | a view that the receiver does not hold | no error here; see [`Decoder`](super::Decoder) |
/// | a baseline that another codec learned with | no error: the packet starts from the profile |
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
    /// The entities that the packet at hand is about, increasing:
    /// [`find_changed`](Self::find_changed). Empty at levels that send every entity.
    pub(super) changed: Vec<u32>,
    pub(super) packer: Packer,
    spent: Spent,
    /// Of the packet at hand; with a history for a time precision and at levels that predict.
    pub(super) lineup: Lineup,
    /// What is encoded, where that is coarser than what was given.
    coarse: Option<Snapshot>,
    /// The adaptive level's memory, and the packet that it must not be longer than.
    adaptive: Option<State>,
    packed: Vec<u8>,
    /// What the last packet left, until a view takes it.
    learned: Option<Learned>,
    /// For whom it had no room.
    unsent: Vec<u32>,
    spare: Spare,
}

/// What a packet is to tell of what changed.
#[derive(Clone, Copy, Debug)]
pub enum Chosen<'a> {
    /// Everything.
    All,
    /// Some entities. Everything else that changed is left out.
    Some {
        /// Their indices in the snapshot, increasing.
        indices: &'a [u32],
        /// Where this many bytes are near, a level that predicts ends the packet, as the coder
        /// knows its size on the way. Those for which there was no room are then
        /// [`unsent`](Encoder::unsent), as if they had not been chosen. The packet may still be
        /// longer: at levels that pack bits it has all of them, and the last entity may take more
        /// than those before it. `usize::MAX` for no limit.
        limit_bytes: usize,
    },
}

impl<'a> Chosen<'a> {
    /// Entities without a limit of bytes.
    pub const fn entities(indices: &'a [u32]) -> Self {
        Self::Some { indices, limit_bytes: usize::MAX }
    }

    fn indices(self) -> Option<&'a [u32]> {
        match self {
            Self::All => None,
            Self::Some { indices, .. } => Some(indices),
        }
    }
}

/// A packet that was written, of which no [`View`] was made yet.
#[derive(Debug)]
pub struct Encoded<'a> {
    encoder: &'a mut Encoder,
    baseline: &'a Snapshot,
    /// As coarse as it was encoded.
    is_coarse: bool,
    world: &'a Snapshot,
    is_part: bool,
}

impl Encoded<'_> {
    /// Where its bits went.
    pub fn size(&self) -> &Size {
        self.encoder.size()
    }

    /// The entities for which it had no room, by index, increasing.
    pub fn unsent(&self) -> &[u32] {
        self.encoder.unsent()
    }

    /// What was learned up to its end, at a level that learns.
    pub fn learned(&self) -> Option<&Learned> {
        self.encoder.learned.as_ref()
    }

    /// The view that a receiver of the packet will have. Cost: a copy of the snapshot.
    pub fn view(self) -> View {
        let Self { encoder, baseline, is_coarse, world, is_part } = self;
        let encoded = encoder.coarse.as_ref().filter(|_| is_coarse).unwrap_or(world);
        let mut snapshot = encoder.spare.snapshot(encoder.codec.schema());
        let copy = Arc::make_mut(&mut snapshot);
        if is_part {
            copy.copy_from(baseline);
            copy.tick = encoded.tick;
            let unsent = &encoder.unsent;
            for &index in
                encoder.changed.iter().filter(|index| unsent.binary_search(index).is_err())
            {
                for (to, from) in copy.columns.iter_mut().zip(&encoded.columns) {
                    to[index as usize] = from[index as usize];
                }
            }
        } else {
            copy.copy_from(encoded);
        }
        View::from(snapshot).with_learned(encoder.learned.take())
    }
}

impl Encoder {
    /// An encoder for `codec`.
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

    /// Appends `world` to `out`, relative to views that the receiver holds: a `&View`, or
    /// [`Baselines`] with older ones. Returns the view that a receiver of the packet will have:
    /// as coarse as the schema's time precision allows for what moves, and with what the level
    /// learned. [`size`](Self::size) says where the bits went.
    ///
    /// Cost: that of the packet, and a copy of the snapshot.
    ///
    /// # Errors
    /// [`EncodeError::SchemaMismatch`] where a snapshot is of another schema. `out` is then as
    /// before.
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
        self.line_up(tables, &baselines, world);
        if let Some(precision) = &tables.precision {
            self.lineup.coarsen(precision, baselines.baseline, &mut copy.columns);
        }
        self.put(&codec, &baselines, copy, Chosen::All, out)?;
        Ok(View::from(snapshot).with_learned(self.learned.take()))
    }

    /// As [`encode`](Self::encode), with the view's [state check](View::check) behind the packet,
    /// in two bytes. [`Decoder::decode_checked`](super::Decoder::decode_checked) reads it.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
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

    /// As [`encode`](Self::encode), for those who choose what to send, or who keep views in a form
    /// of their own: makes a view only if [asked](Encoded::view).
    ///
    /// With [`Chosen::Some`] the snapshot has the entities of the baseline. What is not chosen
    /// stays as it is there. Cost then: that of the entities chosen, and a look at the ids.
    ///
    /// # Errors
    /// As [`encode`](Self::encode); [`EncodeError::BadIndices`]; [`EncodeError::EntitiesDiffer`]
    /// where only some were chosen and the ids are not the same, or the level sends every entity.
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
        let is_part = chosen.indices().is_some();
        if let Some(indices) = chosen.indices() {
            world.check_indices(indices)?;
            if tables.changed_coding().is_none() || baseline.ids != world.ids {
                return Err(EncodeError::EntitiesDiffer);
            }
        }
        self.line_up(tables, &baselines, world);
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
        let put = self.put(&codec, &baselines, encoded, chosen, out);
        self.coarse = coarse;
        put?;
        Ok(Encoded { encoder: self, baseline, is_coarse, world, is_part })
    }

    /// What a receiver will have of `world`, if all of it is sent relative to `baselines`: the
    /// same, or a coarser copy where the schema has a time precision. For those who choose what to
    /// send from what would change.
    ///
    /// # Errors
    /// [`EncodeError::SchemaMismatch`] where a snapshot is of another schema.
    pub fn coarse<'a>(
        &mut self,
        baselines: impl Into<Baselines<'a>>,
        world: &Arc<Snapshot>,
    ) -> Result<Arc<Snapshot>, EncodeError> {
        let (baselines, codec) = (baselines.into(), self.codec.clone());
        let (tables, baseline) = (codec.tables(), baselines.baseline);
        check_schema(tables, baselines.iter().chain([&**world]))?;
        let Some(precision) = &tables.precision else { return Ok(Arc::clone(world)) };
        self.line_up(tables, &baselines, world);
        if !self.lineup.is_too_fine(precision, baseline, &world.columns) {
            return Ok(Arc::clone(world));
        }
        let mut snapshot = self.spare.snapshot(codec.schema());
        let copy = Arc::make_mut(&mut snapshot);
        copy.copy_from(world);
        self.lineup.coarsen(precision, baseline, &mut copy.columns);
        Ok(snapshot)
    }

    /// Gives back a view that is not needed any more. If nobody else holds it, the next one takes
    /// its memory.
    pub fn recycle(&mut self, view: View) {
        self.spare.keep(view);
    }

    /// The entities for which the last packet had no room, by index, increasing.
    pub fn unsent(&self) -> &[u32] {
        &self.unsent
    }

    /// Where the bits of the last packet went.
    pub fn size(&self) -> &Size {
        &self.spent.size
    }

    /// Whether [`entity_bits`](Self::entity_bits) says what each entity takes, and
    /// [`lane_bits`](Self::lane_bits) what each lane does, from the next packet on. Off at first:
    /// it is for tools, and takes a little time.
    pub fn count_entity_bits(&mut self, is_wanted: bool) {
        self.spent.tally = Tally::new(is_wanted);
        if let Some(state) = &mut self.adaptive {
            state.count_entities(is_wanted);
        }
    }

    /// What each entity in the last packet took: its index in the encoded snapshot, increasing, and
    /// whole bits. Empty where that was not [asked for](Self::count_entity_bits).
    ///
    /// At levels that pack bits these are the values of its fields, so that all add up to
    /// [`Size::fields_bits`]; an entity that came with zero in every lane has none, and is not
    /// there. At levels that predict it is all that is told of it once it is known to have changed:
    /// also which of its fields did, and the whole of one that came, which [`Size`] counts among
    /// the sets. Each is then off by less than a bit, and all together by half a bit, or by up to a
    /// byte where the end of the code is shorter than it is worth. Where such a level falls back on
    /// packed bits, it is as with those. What the sets took belongs to nobody.
    pub fn entity_bits(&self) -> &[(u32, u32)] {
        self.spent.tally.bits()
    }

    /// What the values of each lane took in the last packet, of all entities, by the schema's
    /// lanes. Empty where that was not [asked for](Self::count_entity_bits).
    ///
    /// In a packed field a class says how wide all lanes are together; that word is part of
    /// [`Size::fields_bits`], and of no lane. So is, at levels that predict, whether a field
    /// changed at all, and all of a flag or a choice; who came is among the sets there.
    pub fn lane_bits(&self) -> &[u64] {
        self.spent.tally.lanes_bits()
    }

    /// Makes `snapshot` as coarse as a receiver will have it.
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
            self.line_up(tables, baselines, snapshot);
            self.lineup.coarsen(precision, baselines.baseline, &mut snapshot.columns);
        }
        Ok(())
    }

    /// Lines up what the receiver knows with the entities of `world`.
    fn line_up(&mut self, tables: &Tables, baselines: &Baselines<'_>, world: &Snapshot) {
        if tables.precision.is_some() || tables.adaptive.is_some() {
            self.lineup.prepare(tables.precision.as_ref(), baselines, &world.ids, world.tick.0);
        } else {
            self.lineup.line_up(baselines.baseline, &world.ids);
        }
    }

    /// Writes a snapshot that was lined up, and is coarse, in the form of the level.
    fn put(
        &mut self,
        codec: &Codec,
        baselines: &Baselines<'_>,
        snapshot: &Snapshot,
        chosen: Chosen<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        let (tables, baseline) = (codec.tables(), baselines.baseline);
        self.find_changed(tables, [baseline, snapshot], chosen.indices());
        self.unsent.clear();
        match &tables.adaptive {
            Some(adaptive) => self.put_adaptive(codec, adaptive, baselines, snapshot, chosen, out),
            None => {
                let mut writer = BitWriter::append(out);
                self.pack(&mut writer, tables, [baseline, snapshot], chosen);
                writer.finish().map(drop)
            }
        }
    }

    /// Finds what the packet at hand is about, once for all of its forms: all entities that differ
    /// from the baseline, or those at `indices`.
    fn find_changed(
        &mut self,
        tables: &Tables,
        [baseline, snapshot]: [&Snapshot; 2],
        indices: Option<&[u32]>,
    ) {
        let Self { changed, lineup, .. } = self;
        changed.clear();
        match indices {
            Some(indices) => {
                changed.extend_from_slice(indices);
                if tables.precision.is_some() {
                    // What is as in the baseline may be finer than what can be told.
                    changed.retain(|entity| {
                        differs(&baseline.columns, &snapshot.columns, *entity as usize)
                    });
                }
            }
            None if tables.adaptive.is_some() || tables.changed_coding().is_some() => {
                find_changed(lineup.base(baseline), &snapshot.columns, snapshot.len(), changed);
            }
            None => {}
        }
    }

    /// The stages that pack bits.
    fn pack(
        &mut self,
        writer: &mut BitWriter<'_>,
        tables: &Tables,
        [baseline, snapshot]: [&Snapshot; 2],
        chosen: Chosen<'_>,
    ) {
        let part = chosen.indices().and_then(|_| tables.changed_coding());
        let contents = Contents {
            tables,
            lineup: &self.lineup,
            baseline,
            snapshot,
            changed: &self.changed,
            part,
        };
        self.packer.write(writer, &contents, &mut self.spent);
    }

    /// The adaptive level, or the stages that pack bits where those take fewer, or have room for
    /// all: one bit says which.
    fn put_adaptive(
        &mut self,
        codec: &Codec,
        adaptive: &Adaptive,
        baselines: &Baselines<'_>,
        snapshot: &Snapshot,
        chosen: Chosen<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        let (tables, baseline) = (codec.tables(), baselines.baseline);
        let limit_bytes = match chosen {
            Chosen::All => usize::MAX,
            Chosen::Some { limit_bytes, .. } => limit_bytes,
        };
        // What another codec learned counts as nothing.
        let learned = baselines.learned.filter(|learned| learned.is_of(codec.hash()));
        // The last packet's, if nobody made a view of it.
        self.spare.keep_learned(self.learned.take());
        let mut packed = core::mem::take(&mut self.packed);
        packed.clear();
        let mut writer = BitWriter::append(&mut packed);
        writer.write_bool(true);
        self.pack(&mut writer, tables, [baseline, snapshot], chosen);
        writer.finish()?;
        let begin = out.len();
        let mut writer = BitWriter::append(out);
        writer.write_bool(false);
        if tables.level.learning() {
            writer.write_bool(learned.is_some());
        }
        self.lineup.write_entities(&mut writer, baseline, &tables.entities);
        let most_bits = (limit_bytes as u64).saturating_mul(8).saturating_sub(writer.len_bits());
        if let Some(state) = &mut self.adaptive {
            let (baselines, ids, lineup) = (*baselines, &snapshot.ids, &self.lineup);
            let packet = Packet { baselines, ids, lineup, learned, most_bits };
            adaptive.encode(state, &packet, &snapshot.columns, &self.changed, &mut writer);
            self.unsent.extend_from_slice(state.unsent());
            self.unsent.sort_unstable();
        }
        let bits = writer.len_bits();
        writer.finish()?;
        let has_room = !self.unsent.is_empty() && packed.len() <= limit_bytes;
        if has_room || out.len() - begin > packed.len() {
            self.unsent.clear();
            out.truncate(begin);
            out.extend_from_slice(&packed);
            self.spent.size.sets_bits += 1;
            self.learned = learned.cloned();
        } else if let Some(state) = &self.adaptive {
            self.spent.size.changed_entities -= self.unsent.len();
            self.learned = adaptive.learned(state, codec.hash(), self.spare.learned());
            // The end of the code may be shorter than what its decisions are worth: the parts must
            // not exceed the whole.
            self.spent.tally.replace(state.entities_spent(), bits);
            self.spent.tally.replace_lanes(&state.lanes_spent);
            let mut left_bits = bits;
            for (field_bits, spent) in self.spent.size.fields_bits.iter_mut().zip(&state.spent) {
                *field_bits = (spent >> 8).min(left_bits);
                left_bits -= *field_bits;
            }
            self.spent.size.sets_bits = left_bits;
        }
        self.packed = packed;
        Ok(())
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

    /// No row of the table predicts and sends every entity. The stage that predicts must not depend
    /// on what the stages that pack bits left behind: it once took the changed entities of the
    /// packet before.
    #[test]
    fn what_changed_is_found_for_each_packet_whatever_packs_its_bits() {
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
