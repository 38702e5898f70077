//! Encoding a snapshot relative to a baseline. `spec/CODEC.md`, sections 6 to 9 and 12.

use alloc::vec::Vec;

use super::adaptive::{Adaptive, Learned, Packet, State};
use super::baselines::Baselines;
use super::changed::find_changed;
use super::codec::{Codec, Tables};
use super::known::Known;
use super::packed::{Contents, Packer, Spent};
use super::precision::differs;
use super::sets::SetCoding;
use super::store::Snapshot;
use super::tally::Tally;
use crate::{BitSink, BitWriter, EncodeError};

/// Writes snapshots. Keeps its scratch memory: in steady state it allocates nothing, but for what was [learned](Self::learned) at a level
/// that learns.
#[derive(Debug)]
pub struct Encoder {
    codec: Codec,
    /// The entities that the packet at hand is about, increasing: [`find_changed`](Self::find_changed). Empty at levels
    /// that send every entity.
    pub(super) changed: Vec<u32>,
    pub(super) packer: Packer,
    spent: Spent,
    /// Of the packet at hand; with a history for a time precision and at levels that predict.
    pub(super) known: Known,
    /// The adaptive level's memory, and the packet that it must not be longer than.
    adaptive: Option<State>,
    packed: Vec<u8>,
    /// What the last packet left.
    learned: Option<Learned>,
    /// For whom it had no room.
    unsent: Vec<u32>,
}

/// Where the bits of a snapshot went. The parts add up to all bits but the padding of the last byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Which entities came, left and changed, and which fields of theirs did.
    pub sets_bits: u64,
    /// The values of each field, in the schema's order.
    pub fields_bits: Vec<u64>,
    /// Entities that were sent.
    pub changed_entities: usize,
}

impl Encoder {
    /// An encoder for `codec`.
    pub fn new(codec: &Codec) -> Self {
        let tables = codec.tables();
        Self {
            changed: Vec::new(),
            packer: Packer::default(),
            spent: Spent::new(tables.fields.len()),
            known: Known::default(),
            adaptive: tables.adaptive.as_ref().map(Adaptive::state),
            packed: Vec::new(),
            learned: None,
            unsent: Vec::new(),
            codec: codec.clone(),
        }
    }

    /// Appends `snapshot` to `out`, relative to `baselines`, which the decoder must hold too: a `&Snapshot`, or [`Baselines`] with
    /// older states. Without a common state, both sides use an empty snapshot. Returns where the bits went.
    ///
    /// # Errors
    /// [`EncodeError::SchemaMismatch`] where a snapshot is of another schema, [`EncodeError::NotCoarsened`] where
    /// [`coarsen`](Self::coarsen) would change it, [`EncodeError::ForeignLearned`] where what was learned is of another codec. `out` is then as
    /// before.
    pub fn encode<'a>(
        &mut self,
        baselines: impl Into<Baselines<'a>>,
        snapshot: &Snapshot,
        out: &mut Vec<u8>,
    ) -> Result<&Size, EncodeError> {
        self.encode_some(baselines.into(), snapshot, None, usize::MAX, out)
    }

    /// What was learned up to the snapshot that was encoded last, at a level that learns: to be kept with it, and given again with it as
    /// [`Baselines::learned`]. `None` at other levels, and where the packet had no use for it and nothing was learned before.
    pub fn learned(&self) -> Option<&Learned> {
        self.learned.as_ref()
    }

    /// Makes `snapshot` the one that a receiver will have: as coarse as the time precision of the codec's fields makes it relative to
    /// `baselines`. It is what has to be encoded relative to them, and to be kept as a baseline of later ones. Changes nothing where no
    /// field has a time precision, or the level sends no differences.
    ///
    /// # Errors
    /// [`EncodeError::SchemaMismatch`] where a snapshot is of another schema.
    pub fn coarsen<'a>(
        &mut self,
        baselines: impl Into<Baselines<'a>>,
        snapshot: &mut Snapshot,
    ) -> Result<(), EncodeError> {
        let (baselines, tables) = (baselines.into(), self.codec.tables());
        check_schema(tables, baselines.iter().chain([&*snapshot]))?;
        if let Some(precision) = &tables.precision {
            self.known.prepare(Some(precision), &baselines, &snapshot.ids, snapshot.tick.0);
            self.known.coarsen(precision, baselines.baseline, &mut snapshot.columns);
        }
        Ok(())
    }

    /// Appends what [`encode`](Self::encode) would for the baseline with the entities at `indices` as in `snapshot`: everything else that
    /// changed is left out. `indices` are increasing, and both have the same entities. Cost: that of the entities chosen, and a look
    /// at the ids.
    ///
    /// # Errors
    /// As [`encode`](Self::encode), of the entities chosen; [`EncodeError::EntitiesDiffer`] if the ids are
    /// not the same or the level sends every entity; and [`EncodeError::BadIndices`].
    pub fn encode_part<'a>(
        &mut self,
        baselines: impl Into<Baselines<'a>>,
        snapshot: &Snapshot,
        indices: &[u32],
        out: &mut Vec<u8>,
    ) -> Result<&Size, EncodeError> {
        self.encode_part_within(baselines, snapshot, indices, usize::MAX, out)
    }

    /// As [`encode_part`](Self::encode_part), but where `limit_bytes` are near, a level that predicts ends the packet, as the coder knows its size on
    /// the way: those for which there was no room are then [`unsent`](Self::unsent), as if they had not been chosen. The packet may still be
    /// longer: at levels that pack bits it has all of them, and the last entity may take more than those before it.
    ///
    /// # Errors
    /// As [`encode_part`](Self::encode_part).
    pub fn encode_part_within<'a>(
        &mut self,
        baselines: impl Into<Baselines<'a>>,
        snapshot: &Snapshot,
        indices: &[u32],
        limit_bytes: usize,
        out: &mut Vec<u8>,
    ) -> Result<&Size, EncodeError> {
        snapshot.check_indices(indices)?;
        self.encode_some(baselines.into(), snapshot, Some(indices), limit_bytes, out)
    }

    /// The entities for which the last packet had no room, by index, increasing.
    pub fn unsent(&self) -> &[u32] {
        &self.unsent
    }

    /// Where the bits of the last packet went.
    pub fn size(&self) -> &Size {
        &self.spent.size
    }

    /// Whether [`entity_bits`](Self::entity_bits) says what each entity takes, and [`lane_bits`](Self::lane_bits) what each lane does, from the next
    /// packet on. Off at first: it is for tools, and takes a little time.
    pub fn count_entity_bits(&mut self, is_wanted: bool) {
        self.spent.tally = Tally::new(is_wanted);
        if let Some(state) = &mut self.adaptive {
            state.count_entities(is_wanted);
        }
    }

    /// What each entity in the last packet took: its index in the encoded snapshot, increasing, and whole bits. Empty where that was not
    /// [asked for](Self::count_entity_bits).
    ///
    /// At levels that pack bits these are the values of its fields, so that all add up to [`Size::fields_bits`]; an entity that came with zero in
    /// every lane has none, and is not there. At levels that predict it is all that is told of it once it is known to have changed: also which
    /// of its fields did, and the whole of one that came, which [`Size`] counts among the sets. Each is then off by less than a bit, and
    /// all together by half a bit, or by up to a byte where the end of the code is shorter than it is worth. Where such a level falls back on
    /// packed bits, it is as with those. What the sets took belongs to nobody.
    pub fn entity_bits(&self) -> &[(u32, u32)] {
        self.spent.tally.bits()
    }

    /// What the values of each lane took in the last packet, of all entities, by the schema's lanes. Empty where that was not
    /// [asked for](Self::count_entity_bits).
    ///
    /// In a packed field a class says how wide all lanes are together; that word is part of [`Size::fields_bits`], and of no lane. So is, at levels
    /// that predict, whether a field changed at all, and all of a flag or a choice; who came is among the sets there.
    pub fn lane_bits(&self) -> &[u64] {
        self.spent.tally.lanes_bits()
    }

    /// All entities, or those at `indices`, in the form of the level.
    fn encode_some(
        &mut self,
        baselines: Baselines<'_>,
        snapshot: &Snapshot,
        indices: Option<&[u32]>,
        limit_bytes: usize,
        out: &mut Vec<u8>,
    ) -> Result<&Size, EncodeError> {
        let codec = self.codec.clone();
        let tables = codec.tables();
        let baseline = baselines.baseline;
        check_schema(tables, baselines.iter().chain([snapshot]))?;
        let part = match (indices, tables.changed_coding()) {
            (None, _) => None,
            (Some(_), Some(coding)) if baseline.ids == snapshot.ids => Some(coding),
            _ => return Err(EncodeError::EntitiesDiffer),
        };
        if baselines.learned.is_some_and(|learned| !learned.is_of(&codec)) {
            return Err(EncodeError::ForeignLearned);
        }
        if tables.precision.is_some() || tables.adaptive.is_some() {
            self.known.prepare(tables.precision.as_ref(), &baselines, &snapshot.ids, snapshot.tick.0);
        } else {
            self.known.line_up(baseline, &snapshot.ids);
        }
        if let Some(precision) = &tables.precision {
            let base = self.known.base(baseline);
            precision.check(&self.known.shifts, base, snapshot, indices)?;
        }
        self.find_changed(tables, [baseline, snapshot], indices);
        match &tables.adaptive {
            Some(adaptive) => self.encode_adaptive(&codec, adaptive, baselines, snapshot, part, limit_bytes, out)?,
            None => {
                let mut writer = BitWriter::append(out);
                self.pack(&mut writer, tables, [baseline, snapshot], part);
                writer.finish()?;
            }
        }
        Ok(&self.spent.size)
    }

    /// Finds what the packet at hand is about, once for all of its forms: all entities that differ from the baseline, or
    /// those at `indices`.
    fn find_changed(&mut self, tables: &Tables, [baseline, snapshot]: [&Snapshot; 2], indices: Option<&[u32]>) {
        let Self { changed, known, .. } = self;
        changed.clear();
        match indices {
            Some(indices) => {
                changed.extend_from_slice(indices);
                if tables.precision.is_some() {
                    // What is as in the baseline may be finer than what can be told.
                    changed.retain(|entity| differs(&baseline.columns, &snapshot.columns, *entity as usize));
                }
            }
            None if tables.adaptive.is_some() || tables.changed_coding().is_some() => {
                find_changed(known.base(baseline), &snapshot.columns, snapshot.len(), changed);
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
        part: Option<SetCoding<'_>>,
    ) {
        let contents = Contents { tables, known: &self.known, baseline, snapshot, changed: &self.changed, part };
        self.packer.write(writer, &contents, &mut self.spent);
    }

    /// The adaptive level, or the stages that pack bits where those take fewer, or have room for all: one bit says which.
    #[expect(clippy::too_many_arguments, reason = "what is known of one packet")]
    fn encode_adaptive(
        &mut self,
        codec: &Codec,
        adaptive: &Adaptive,
        baselines: Baselines<'_>,
        snapshot: &Snapshot,
        part: Option<SetCoding<'_>>,
        limit_bytes: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        let tables = codec.tables();
        let baseline = baselines.baseline;
        let mut packed = core::mem::take(&mut self.packed);
        packed.clear();
        let mut writer = BitWriter::append(&mut packed);
        writer.write_bool(true);
        self.pack(&mut writer, tables, [baseline, snapshot], part);
        writer.finish()?;
        let begin = out.len();
        let mut writer = BitWriter::append(out);
        writer.write_bool(false);
        if tables.level.learning() {
            writer.write_bool(baselines.learned.is_some());
        }
        self.known.write_entities(&mut writer, baseline, &tables.entities);
        let most_bits = (limit_bytes as u64).saturating_mul(8).saturating_sub(writer.len_bits());
        self.unsent.clear();
        if let Some(state) = &mut self.adaptive {
            let packet = Packet { baselines, ids: &snapshot.ids, known: &self.known, goes_on: true, most_bits };
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
            self.learned = baselines.learned.cloned();
        } else if let Some(state) = &self.adaptive {
            self.spent.size.changed_entities -= self.unsent.len();
            self.learned = adaptive.learned(state, codec.hash());
            // The end of the code may be shorter than what its decisions are worth: the parts must not exceed the whole.
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

fn check_schema<'a>(tables: &Tables, snapshots: impl Iterator<Item = &'a Snapshot>) -> Result<(), EncodeError> {
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
    use crate::{Changed, Decoder, EntityId, Field, FieldKind, Level, Profile, Schema, Tick};

    /// No row of the table predicts and sends every entity. The stage that predicts must not depend on what the stages
    /// that pack bits left behind: it once took the changed entities of the packet before.
    #[test]
    fn what_changed_is_found_for_each_packet_whatever_packs_its_bits() {
        let level = Level::ADAPTIVE.with_changed(Changed::All);
        let schema = Schema::new(vec![Field::new("value", FieldKind::Raw { lanes: 1 })]);
        let codec = Codec::new(schema.clone(), level, Profile::untrained(&schema)).unwrap();
        let snapshot = |changed: u32| {
            let mut snapshot = Snapshot::new(&schema, Tick(changed));
            (0..100).for_each(|id| snapshot.push_lanes(EntityId(id), &[u32::from(id == changed) * 7]).unwrap());
            snapshot
        };
        let (mut encoder, mut decoder) = (Encoder::new(&codec), Decoder::new(&codec));
        let mut held = snapshot(1000);
        for changed in [3, 50, 99] {
            let next = snapshot(changed);
            let (mut packet, mut read) = (Vec::new(), Snapshot::new(&schema, Tick(0)));
            encoder.encode(&held, &next, &mut packet).unwrap();
            decoder.decode(&held, &packet, next.tick, &mut read).unwrap();
            assert!(read == next, "entity {changed}");
            held = next;
        }
    }
}
