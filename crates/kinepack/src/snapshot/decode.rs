//! Decodes a snapshot relative to a baseline, from untrusted bytes. See `spec/CODEC.md`, sections 6
//! to 9 and 12.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::adaptive::{Adaptive, Learned, Packet, State};
use super::baselines::Baselines;
use super::changed::{find_candidates, take_rows};
use super::codec::{Codec, Tables};
use super::contexts::Contexts;
use super::fields::{FieldTable, FieldValues};
use super::ids::Tick;
use super::lineup::Lineup;
use super::sets::{SetCoding, read_set};
use super::store::Snapshot;
use super::view::{Spare, View};
use crate::bits::BitReader;
use crate::{DecodeError, Schema};

/// Limits on what a decoder accepts.
///
/// ```
/// use kinepack::schema::{Field, FieldKind};
/// use kinepack::{
///     Codec, DecodeError, DecodeLimits, Decoder, Encoder, EntityId, Level, Profile, Schema,
///     Snapshot, Tick, View,
/// };
///
/// let schema = Schema::new(vec![Field::new("lit", FieldKind::Bool)]);
/// let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema))?;
/// let mut world = Snapshot::new(&schema, Tick(1));
/// (0..200).try_for_each(|id| world.push_lanes(EntityId(id), &[1]))?;
/// let (empty, mut packet) = (View::empty(&schema), Vec::new());
/// Encoder::new(&codec).encode(&empty, &world, &mut packet)?;
///
/// let mut decoder = Decoder::with_limits(&codec, DecodeLimits { max_entities: 100 });
/// let refused = decoder.decode(&empty, &packet, Tick(1));
/// assert_eq!(refused, Err(DecodeError::TooManyEntities { count: 200, limit: 100 }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeLimits {
    /// The maximum number of entities in a snapshot.
    ///
    /// This limit bounds a decoder's memory. Each entity takes 16 bytes, one byte per field, and 4
    /// bytes per lane of the schema. At the adaptive level and with a time precision, a decoder
    /// holds up to four times as many lanes. The adaptive level also takes up to 512 bytes for each
    /// changed entity. A time precision takes one further byte per lane.
    ///
    /// The limit also bounds the work: at the adaptive level, a packet of a few hundred bytes can
    /// mark all entities as changed.
    pub max_entities: u32,
}

impl DecodeLimits {
    /// Returns these limits, lowered until the ids and lanes of any snapshot fit into
    /// `snapshot_bytes`.
    #[must_use]
    pub fn within(self, schema: &Schema, snapshot_bytes: usize) -> Self {
        let lanes = schema.kinds().iter().map(|kind| kind.lanes().len()).max().unwrap_or(0);
        let most = snapshot_bytes / ((lanes + 1) * size_of::<u32>());
        Self { max_entities: self.max_entities.min(u32::try_from(most).unwrap_or(u32::MAX)) }
    }
}

impl Default for DecodeLimits {
    /// The default limit is 65,536 entities: six times the number in the largest world that this
    /// library was measured with.
    fn default() -> Self {
        Self { max_entities: 65_536 }
    }
}

/// Reads snapshots, each relative to views that both sides hold.
///
/// ```
/// use kinepack::schema::{Field, FieldKind};
/// use kinepack::{
///     Codec, DecodeError, Decoder, Encoder, EntityId, Level, Profile, Schema, Snapshot, Tick,
///     View,
/// };
///
/// let schema = Schema::new(vec![Field::new("value", FieldKind::Raw { lanes: 1 })]);
/// let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema))?;
/// let state = |values: [u32; 2]| -> Result<Snapshot, kinepack::EncodeError> {
///     let mut snapshot = Snapshot::new(&schema, Tick(1));
///     snapshot.push_lanes(EntityId(0), &values[..1])?;
///     snapshot.push_lanes(EntityId(1), &values[1..])?;
///     Ok(snapshot)
/// };
/// let (held, mut packet) = (View::from(state([1, 2])?), Vec::new());
/// let sent = Encoder::new(&codec).encode_checked(&held, &state([1, 5])?, &mut packet)?;
///
/// let mut decoder = Decoder::new(&codec);
/// assert_eq!(decoder.decode_checked(&held, &packet, Tick(1))?, sent);
/// // The state check detects that a receiver holds another view than the sender assumed.
/// let wrong = View::from(state([9, 2])?);
/// let refused = decoder.decode_checked(&wrong, &packet, Tick(1));
/// assert!(matches!(refused, Err(DecodeError::WrongState { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Contract
/// 1. Compare the [`Codec::hash`] of both sides once. Packets do not carry this hash.
/// 2. Begin with the view that the sender begins with: see [`View`].
/// 3. For each packet, call [`decode`](Self::decode) with the tick and the views that the sender
///    passed to [`Encoder::encode`](super::Encoder::encode), in the same order.
/// 4. Acknowledge the packet. Keep the view that `decode` returns as long as a packet coded against
///    it can arrive. Do not acknowledge a packet that `decode` refused.
/// 5. [Recycle](Self::recycle) views that no further packet can be coded against.
///
/// Between packets a decoder keeps only scratch memory. Packets may arrive late, twice, in any
/// order, or not at all. An error changes no state, so the decoder can read the next packet. If the
/// caller recycles views, decoding allocates nothing in steady state.
///
/// | mistake | what happens |
/// |---|---|
/// | a view of another schema | [`DecodeError::SchemaMismatch`] |
/// | views that are not in order, or too many | [`BaselinesError`](crate::BaselinesError), by [`Baselines::new`] |
/// | a baseline without this codec's learned state, for a packet that needs it | [`DecodeError::NothingLearned`] |
/// | other views | wrong values, or any [`DecodeError`] |
/// | another tick, if the level predicts or the codec [has a precision](Codec::has_precision) | wrong values, or any [`DecodeError`] |
/// | another tick otherwise | a view of that tick |
/// | another codec of the same schema | wrong values, or any [`DecodeError`] |
///
/// In the last four rows, [`decode_checked`](Self::decode_checked) returns
/// [`DecodeError::WrongState`] if a view is wrong, in all but one of 65,536 cases. The state check
/// does not cover learned state: a difference there shows only when it makes a value wrong.
#[derive(Debug)]
pub struct Decoder {
    codec: Codec,
    limits: DecodeLimits,
    changed: Vec<u32>,
    /// The rows of the changed entities of the current kind.
    rows: Vec<u32>,
    /// The positions in `rows` of the entities that may have changed the current field. The list is
    /// used only if that field is selective.
    candidates: Vec<u32>,
    flagged: Vec<u32>,
    scratch: Vec<u32>,
    contexts: Contexts,
    values: FieldValues,
    adaptive: Option<State>,
    /// The baseline, lined up with the packet's entities. The motion is computed only with a time
    /// precision or at the adaptive level.
    lineup: Lineup,
    spare: Spare,
}

impl Decoder {
    /// Makes a decoder for `codec` with the default limits.
    pub fn new(codec: &Codec) -> Self {
        Self::with_limits(codec, DecodeLimits::default())
    }

    /// Makes a decoder for `codec` with these limits.
    pub fn with_limits(codec: &Codec, limits: DecodeLimits) -> Self {
        Self {
            limits,
            changed: Vec::new(),
            rows: Vec::new(),
            candidates: Vec::new(),
            flagged: Vec::new(),
            scratch: Vec::new(),
            contexts: Contexts::default(),
            values: FieldValues::default(),
            adaptive: codec.tables().adaptive.as_ref().map(Adaptive::state),
            lineup: Lineup::with_capacity(codec.schema().kinds().len()),
            spare: Spare::default(),
            codec: codec.clone(),
        }
    }

    /// The codec that the decoder was made for.
    pub fn codec(&self) -> &Codec {
        &self.codec
    }

    /// Decodes `packet`, which holds the whole state at `tick`. `baselines` are the views that it
    /// was encoded against: a `&View`, or [`Baselines`] with older ones. Returns the view that
    /// [`Encoder::encode`](super::Encoder::encode) returned.
    ///
    /// **Wrong views or a wrong tick** give wrong values without an error at levels that predict.
    /// The [state check](View::check) of [`decode_checked`](Self::decode_checked) detects most of
    /// these cases.
    ///
    /// The transport must guarantee that the packet is unaltered, because many altered packets
    /// decode without an error. Such packets give wrong values and entities, here and in each
    /// snapshot that is decoded against this one. The errors last until the affected entities are
    /// sent again from a newer baseline without the errors. Altered packets never cause a panic or
    /// use memory beyond the [limits](DecodeLimits).
    ///
    /// # Errors
    /// [`DecodeError`] if the bytes are not a valid snapshot relative to these views.
    pub fn decode<'a>(
        &mut self,
        baselines: impl Into<Baselines<'a>>,
        packet: &[u8],
        tick: Tick,
    ) -> Result<View, DecodeError> {
        let mut snapshot = self.spare.snapshot(self.codec.schema());
        let read = self.read(&baselines.into(), packet, tick, Arc::make_mut(&mut snapshot));
        let view = View::from(snapshot);
        match read {
            Ok(learned) => Ok(view.with_learned(learned)),
            Err(error) => {
                self.spare.keep(view);
                Err(error)
            }
        }
    }

    /// Like [`decode`](Self::decode), for a packet followed by the view's state check, as
    /// [`Encoder::encode_checked`](super::Encoder::encode_checked) writes it.
    ///
    /// # Errors
    /// The errors of [`decode`](Self::decode), and [`DecodeError::WrongState`] if the two sides do
    /// not hold the same state. In that case, ask the sender for the whole state, relative to the
    /// view that both sides began with.
    pub fn decode_checked<'a>(
        &mut self,
        baselines: impl Into<Baselines<'a>>,
        packet: &[u8],
        tick: Tick,
    ) -> Result<View, DecodeError> {
        let none = DecodeError::EndOfData {
            at_bit: 0,
            wanted_bits: 16,
            left_bits: 8 * packet.len() as u32,
        };
        let (packet, check) = packet.split_last_chunk().ok_or(none)?;
        let view = self.decode(baselines, packet, tick)?;
        let (theirs, ours) = (u16::from_le_bytes(*check), view.check());
        if ours != theirs {
            self.recycle(view);
            return Err(DecodeError::WrongState { theirs, ours });
        }
        Ok(view)
    }

    /// Gives back a view that is not needed any more. If the view has no other owner, the next view
    /// reuses its memory.
    pub fn recycle(&mut self, view: View) {
        self.spare.keep(view);
    }

    /// Reads a packet into `next`, a snapshot of the schema whose content does not matter. Returns
    /// the learned state that the packet resumes from.
    fn read(
        &mut self,
        baselines: &Baselines<'_>,
        packet: &[u8],
        tick: Tick,
        next: &mut Snapshot,
    ) -> Result<Option<Learned>, DecodeError> {
        let codec = self.codec.clone();
        let (tables, baseline) = (codec.tables(), baselines.baseline);
        let expected_hash = tables.schema.hash();
        if let Some(hash) =
            baselines.iter().map(Snapshot::schema_hash).find(|hash| *hash != expected_hash)
        {
            return Err(DecodeError::SchemaMismatch { expected_hash, hash });
        }
        let mut reader = BitReader::new(packet);
        let mut has_other_entities = reader.read_bool()?;
        let mut adaptive = tables.adaptive.as_ref();
        if adaptive.is_some() && has_other_entities && reader.read_bool()? {
            adaptive = None;
            has_other_entities = reader.read_bool()?;
        }
        let learned = baselines.learned.filter(|learned| learned.is_from_codec(codec.hash()));
        let Self { limits, lineup, .. } = self;
        let (gaps, max) = (&tables.entities, limits.max_entities);
        if has_other_entities {
            lineup.read_entities(&mut reader, baseline, next, gaps, max)?;
        } else {
            lineup.keep_entities(baseline, next, max)?;
        }
        let needs_motion = tables.precision.is_some() || adaptive.is_some();
        if needs_motion || tables.has_coarse {
            lineup.keep_base(&next.columns);
        }
        if needs_motion {
            lineup.find_motion(tables.precision.as_ref(), baselines, &next.entities, tick.0);
        }
        match (adaptive, &mut self.adaptive, tables.changed_coding()) {
            (Some(adaptive), Some(state), _) => {
                let packet = Packet {
                    baselines: *baselines,
                    entities: &next.entities,
                    lineup,
                    learned,
                    max_bits: u64::MAX,
                };
                adaptive.decode(state, &packet, &mut next.columns, &mut reader)?;
            }
            (.., None) => self.read_all(&mut reader, tables, next)?,
            (.., Some(coding)) => {
                self.read_changed(&mut reader, tables, coding, baseline, next)?;
            }
        }
        reader.finish()?;
        if tables.has_coarse && !next.is_coarse_enough() {
            return Err(DecodeError::OutOfRange { at_bit: 8 * packet.len() as u64 });
        }
        next.tick = tick;
        Ok(match (adaptive, &mut self.adaptive) {
            (Some(adaptive), Some(state)) => {
                adaptive.learned(state, codec.hash(), self.spare.learned())
            }
            _ => learned.cloned(),
        })
    }

    fn read_all(
        &mut self,
        reader: &mut BitReader<'_>,
        tables: &Tables,
        next: &mut Snapshot,
    ) -> Result<(), DecodeError> {
        for (nth, kind) in tables.schema.kinds().iter().enumerate() {
            let count = next.entities.range(nth).len();
            for index in kind.fields() {
                let (field, rest) = (&tables.fields[index], &tables.rest_lanes[index]);
                self.values.reset(field.lanes.len(), false);
                for row in 0..count {
                    if !field.conditions.hold_at(&next.columns, row) {
                        self.values.put_absent();
                    } else if let Some(rest) = rest
                        && reader.read_bool()?
                    {
                        self.values.put(rest);
                    } else {
                        field.read_full(reader, &mut self.values)?;
                    }
                    self.values.store_new(&mut next.columns[field.lanes.clone()], row);
                }
            }
        }
        Ok(())
    }

    fn read_changed(
        &mut self,
        reader: &mut BitReader<'_>,
        tables: &Tables,
        coding: SetCoding<'_>,
        baseline: &Snapshot,
        next: &mut Snapshot,
    ) -> Result<(), DecodeError> {
        read_set(reader, next.len(), coding, &mut self.changed, &mut self.scratch)?;
        let mut first = 0;
        for (nth, kind) in tables.schema.kinds().iter().enumerate() {
            let mut rest = &self.changed[first..];
            take_rows(&mut rest, next.entities.range(nth), &mut self.rows);
            first += self.rows.len();
            self.contexts.reset(kind.fields(), self.rows.len());
            for index in kind.fields() {
                let field = &tables.fields[index];
                self.read_flags(reader, tables, (nth, field), next)?;
                self.lineup.find_coarse((nth, field), baseline, &next.columns);
                self.read_field(reader, tables, index, next)?;
            }
        }
        Ok(())
    }

    /// Reads the set of changed entities that changed a field. Also sets the field to 0 in the
    /// entities in which it is absent.
    fn read_flags(
        &mut self,
        reader: &mut BitReader<'_>,
        tables: &Tables,
        (kind, field): (usize, &FieldTable),
        next: &mut Snapshot,
    ) -> Result<(), DecodeError> {
        let mut candidates = self.rows.len();
        if field.is_selective() {
            let is_added = |row| self.lineup.is_added(kind, row);
            let Self { rows, candidates: found, .. } = self;
            find_candidates(field, &next.columns, rows, is_added, found);
            candidates = found.len();
        }
        if tables.level.field_flags() {
            let flags = SetCoding::BitsOrGaps(&tables.flags);
            read_set(reader, candidates, flags, &mut self.flagged, &mut self.scratch)?;
        } else {
            self.flagged.clear();
            self.flagged.extend(0..candidates as u32);
        }
        if field.is_selective() {
            self.flagged.iter_mut().for_each(|nth| *nth = self.candidates[*nth as usize]);
            self.clear_absent(field, next);
        }
        Ok(())
    }

    /// Sets a field to 0 in those changed entities in which it is absent.
    fn clear_absent(&mut self, field: &FieldTable, next: &mut Snapshot) {
        for &row in &self.rows {
            if !field.conditions.hold_at(&next.columns, row as usize) {
                for column in &mut next.columns[field.lanes.clone()] {
                    column[row as usize] = 0;
                }
            }
        }
    }

    fn read_field(
        &mut self,
        reader: &mut BitReader<'_>,
        tables: &Tables,
        index: usize,
        next: &mut Snapshot,
    ) -> Result<(), DecodeError> {
        let field = &tables.fields[index];
        let level = &tables.level;
        let columns = &mut next.columns[field.lanes.clone()];
        let relative = field.is_relative(level.relative_numbers(), level.relative_rotations());
        let is_category = level.field_flags() && field.is_category();
        let mut previous = 0;
        let shifts = self.lineup.shifts.columns(field.differenced()).filter(|_| relative);
        self.values.reset(field.lanes.len(), shifts.is_some());
        for &nth in &self.flagged {
            let entity = self.rows[nth as usize] as usize;
            self.values.load_base(columns, entity);
            if let Some(shifts) = shifts {
                self.values.load_shifts(shifts, entity);
            }
            if relative {
                let state = self.contexts.state(field.context, nth as usize, previous);
                let class = field.read(reader, state, &mut self.values)?;
                self.contexts.record(index, nth as usize, class);
                previous = class + 1;
            } else if is_category {
                field.read_category(reader, &mut self.values)?;
            } else {
                field.read_full(reader, &mut self.values)?;
            }
            self.values.store_new(columns, entity);
        }
        Ok(())
    }
}
