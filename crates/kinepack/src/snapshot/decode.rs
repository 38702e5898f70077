//! Decoding a snapshot relative to a baseline, from bytes that may come from anyone. `spec/CODEC.md`, sections 6 to 9 and 12.

use alloc::vec::Vec;

use super::adaptive::{Adaptive, Learned, Packet, State};
use super::baselines::Baselines;
use super::codec::{Codec, Tables};
use super::contexts::Contexts;
use super::entities::Alignment;
use super::fields::Work;
use super::known::Known;
use super::sets::{SetCoding, read_set};
use super::store::{Snapshot, Tick};
use crate::{BitReader, DecodeError};

/// What a decoder is willing to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeLimits {
    /// The most entities of a snapshot. A decoder's memory is this many times the lanes of the schema, times 4 bytes,
    /// plus 16 bytes and one a field; at the adaptive level up to four times the lanes, and up to 512 bytes for each that changed; with a time
    /// precision up to four times the lanes too, and a byte more a lane.
    /// There a packet of a few hundred bytes may say that all of them changed: the work of a packet is bounded by this number.
    pub max_entities: u32,
}

impl Default for DecodeLimits {
    /// 65,536 entities: six times the largest world that this library is measured with.
    fn default() -> Self {
        Self { max_entities: 65_536 }
    }
}

/// Reads snapshots. Keeps its scratch memory: in steady state it allocates nothing, but for what was [learned](Self::learned) at a level
/// that learns.
#[derive(Debug)]
pub struct Decoder {
    codec: Codec,
    limits: DecodeLimits,
    alignment: Alignment,
    changed: Vec<u32>,
    flagged: Vec<u32>,
    scratch: Vec<u32>,
    contexts: Contexts,
    work: Work,
    adaptive: Option<State>,
    /// What the last packet left.
    learned: Option<Learned>,
    /// Prepared for a time precision and at the adaptive level.
    known: Known,
    /// The snapshot at work; swapped with the caller's when it is whole.
    next: Snapshot,
}

impl Decoder {
    /// A decoder for `codec` with the default limits.
    pub fn new(codec: &Codec) -> Self {
        Self::with_limits(codec, DecodeLimits::default())
    }

    /// A decoder for `codec`.
    pub fn with_limits(codec: &Codec, limits: DecodeLimits) -> Self {
        Self {
            limits,
            alignment: Alignment::default(),
            changed: Vec::new(),
            flagged: Vec::new(),
            scratch: Vec::new(),
            contexts: Contexts::default(),
            work: Work::default(),
            adaptive: codec.tables().adaptive.as_ref().map(Adaptive::state),
            learned: None,
            known: Known::default(),
            next: Snapshot::new(codec.schema(), Tick(0)),
            codec: codec.clone(),
        }
    }

    /// Decodes `bytes`, which must be one whole snapshot relative to the same `baselines` as it was encoded, into `out`, as the state at `tick`, which the
    /// adaptive level needs to be the encoded snapshot's: with another one it decodes other values.
    /// `out` may have held anything of the same schema; its memory is used again.
    ///
    /// The transport must guarantee that the packet is unaltered: there is no checksum, and many altered packets decode
    /// without an error. They give wrong values and entities, here and in each snapshot that is decoded against this one,
    /// until the affected entities are sent again from a newer baseline without the error. They never cause a panic, nor
    /// memory beyond the [limits](DecodeLimits).
    ///
    /// # Errors
    /// [`DecodeError`] where the bytes are no such snapshot. `out` is then as before.
    pub fn decode<'a>(
        &mut self,
        baselines: impl Into<Baselines<'a>>,
        bytes: &[u8],
        tick: Tick,
        out: &mut Snapshot,
    ) -> Result<(), DecodeError> {
        let codec = self.codec.clone();
        let tables = codec.tables();
        let expected_hash = tables.schema.hash();
        let baselines = baselines.into();
        let baseline = baselines.baseline;
        for hash in baselines.iter().chain([&*out]).map(Snapshot::schema_hash) {
            if hash != expected_hash {
                return Err(DecodeError::SchemaMismatch { expected_hash, hash });
            }
        }
        let mut reader = BitReader::new(bytes);
        let adaptive =
            if let Some(adaptive) = &tables.adaptive { (!reader.read_bool()?).then_some(adaptive) } else { None };
        let learned = baselines.learned.filter(|learned| learned.is_of(&codec));
        let goes_on = tables.level.learning() && adaptive.is_some() && reader.read_bool()?;
        if goes_on && learned.is_none() {
            return Err(DecodeError::NothingLearned);
        }
        let Self { alignment, next, limits, .. } = self;
        let same = alignment.read(&mut reader, &baseline.ids, &mut next.ids, &tables.entities, limits)?;
        if same {
            for (column, base) in next.columns.iter_mut().zip(&baseline.columns) {
                column.clear();
                column.extend_from_slice(base);
            }
        } else {
            alignment.line_up(baseline, &mut next.columns);
        }
        if tables.precision.is_some() || adaptive.is_some() {
            self.known.prepare(tables.precision.as_ref(), &baselines, &next.ids, tick.0);
        }
        match (adaptive, &mut self.adaptive, tables.changed_coding()) {
            (Some(adaptive), Some(state), _) => {
                let next = &mut self.next;
                let packet = Packet { baselines, ids: &next.ids, known: &self.known, goes_on, most_bits: u64::MAX };
                adaptive.decode(state, &packet, &mut next.columns, &mut reader)?;
            }
            (.., None) => self.read_all(&mut reader, tables)?,
            (.., Some(coding)) => self.read_changed(&mut reader, tables, coding)?,
        }
        reader.finish()?;
        self.learned = match (adaptive, &self.adaptive) {
            (Some(adaptive), Some(state)) => adaptive.learned(state, codec.hash()),
            _ => learned.cloned(),
        };
        self.next.tick = tick;
        core::mem::swap(&mut self.next, out);
        Ok(())
    }

    /// What was learned up to the snapshot that was decoded last, at a level that learns: what the encoder's
    /// [`learned`](super::Encoder::learned) was, where both were given the same.
    pub fn learned(&self) -> Option<&Learned> {
        self.learned.as_ref()
    }

    fn read_all(&mut self, reader: &mut BitReader<'_>, tables: &Tables) -> Result<(), DecodeError> {
        let count = self.next.len();
        for (field, rest) in tables.fields.iter().zip(&tables.rest) {
            let columns = &mut self.next.columns[field.lanes.clone()];
            self.work.reset(columns.len(), false);
            for index in 0..count {
                match rest {
                    Some(rest) if reader.read_bool()? => self.work.put(rest),
                    _ => field.read_full(reader, &mut self.work)?,
                }
                self.work.store_new(columns, index);
            }
        }
        Ok(())
    }

    fn read_changed(
        &mut self,
        reader: &mut BitReader<'_>,
        tables: &Tables,
        coding: SetCoding<'_>,
    ) -> Result<(), DecodeError> {
        read_set(reader, self.next.len(), coding, &mut self.changed, &mut self.scratch)?;
        self.contexts.reset(tables.fields.len(), self.changed.len());
        for index in 0..tables.fields.len() {
            if tables.level.field_flags() {
                let flags = SetCoding::BitsOrGaps(&tables.flags);
                read_set(reader, self.changed.len(), flags, &mut self.flagged, &mut self.scratch)?;
            } else {
                self.flagged.clear();
                self.flagged.extend(0..self.changed.len() as u32);
            }
            self.read_field(reader, tables, index)?;
        }
        Ok(())
    }

    fn read_field(&mut self, reader: &mut BitReader<'_>, tables: &Tables, index: usize) -> Result<(), DecodeError> {
        let field = &tables.fields[index];
        let level = &tables.level;
        let columns = &mut self.next.columns[field.lanes.clone()];
        let relative = field.is_relative(level.relative_numbers(), level.relative_rotations());
        let other = level.field_flags() && field.is_category();
        let mut previous = 0;
        let shifts = self.known.shifts.of(field.differenced()).filter(|_| relative);
        self.work.reset(field.lanes.len(), shifts.is_some());
        for &nth in &self.flagged {
            let entity = self.changed[nth as usize] as usize;
            self.work.load_base(columns, entity);
            if let Some(shifts) = shifts {
                self.work.load_shifts(shifts, entity);
            }
            if relative {
                let state = self.contexts.state(field.context, nth as usize, previous);
                let class = field.read(reader, state, &mut self.work)?;
                self.contexts.record(index, nth as usize, class);
                previous = class + 1;
            } else if other {
                field.read_other(reader, &mut self.work)?;
            } else {
                field.read_full(reader, &mut self.work)?;
            }
            self.work.store_new(columns, entity);
        }
        Ok(())
    }
}
