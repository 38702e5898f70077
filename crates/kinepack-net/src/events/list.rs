//! Writes and reads the list of events in a datagram. See `spec/NET.md`, sections 10.1 and 10.2.

use std::collections::HashMap;
use std::sync::Arc;

use kinepack::bits::{BitReader, BitSink, BitWriter};
use kinepack::{DecodeLimits, Decoder, EncodeError, Encoder, EntityId, Snapshot, Tick, View};

use super::{Emitted, EventKinds};
use crate::packet::EventsAlone;
use crate::{NetError, Refused, Sequence};

/// The maximum number of events in a list.
pub(super) const MOST_EVENTS: usize = 256;
/// The receiver accepts an event number only if it is less than `WINDOW` after the first number
/// that the receiver still waits for.
pub(super) const WINDOW: i32 = 1024;
/// The maximum number of bytes that a list of one event takes besides the event itself: the first
/// number, and three gamma codes.
const LONGEST_BEFORE_ONE_BYTES: usize = 2 + 13;

/// Encodes lists of events. Receivers of the same events share one encoding.
#[derive(Debug)]
pub(crate) struct EventWriter {
    encoder: Encoder,
    /// The empty view, against which every list is coded.
    empty: View,
    snapshot: Snapshot,
    /// The lists coded in this tick. The map's key contains, for each event, its key and the
    /// distance of its number from the list's first number.
    coded: HashMap<Vec<(u64, u16)>, Arc<[u8]>>,
}

impl EventWriter {
    pub(crate) fn new(kinds: &EventKinds) -> Self {
        let schema = kinds.codec().schema();
        Self {
            encoder: Encoder::new(kinds.codec()),
            empty: View::empty(schema),
            snapshot: Snapshot::new(schema, Tick(1)),
            coded: HashMap::new(),
        }
    }

    /// Forgets the lists of the previous tick.
    pub(crate) fn begin(&mut self) {
        self.coded.clear();
    }

    /// Appends a list to `out`. `events` contains each event with the distance of its number from
    /// `first`. The distances increase from 0.
    ///
    /// # Errors
    /// Returns [`EncodeError`] for events of another schema.
    pub(super) fn write(
        &mut self,
        tick: Tick,
        first: Sequence,
        floor: Sequence,
        events: &[(u16, &Emitted)],
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        out.extend(first.0.to_le_bytes());
        let mut writer = BitWriter::append(out);
        writer.write_gamma(1 + u64::from(first.0.wrapping_sub(floor.0)));
        writer.write_gamma(1 + events.len() as u64);
        let mut before = None;
        for (_, event) in events {
            let ticks = match before {
                None => tick.0.saturating_sub(event.tick.0),
                Some(Tick(before)) => event.tick.0.saturating_sub(before),
            };
            writer.write_gamma(1 + u64::from(ticks));
            before = Some(event.tick);
        }
        writer.finish()?;
        if !events.is_empty() {
            let coded = self.coded(events)?;
            out.extend_from_slice(&coded);
        }
        Ok(())
    }

    /// Checks that a datagram has room for an event. Encodes it only if it is large.
    pub(crate) fn check_size(
        &mut self,
        kind: usize,
        lanes: &[u32],
        datagram_bytes: usize,
    ) -> Result<(), NetError> {
        if 8 * size_of_val(lanes) <= datagram_bytes {
            return Ok(());
        }
        // No emitted event has this key, because keys count up from 0.
        let (key, tick) = (u64::MAX, Tick(0));
        let event = Emitted { key, tick, kind, lanes: lanes.into(), last_tick: None };
        let coded = self.coded(&[(0, &event)]).map_err(NetError::Event)?;
        self.coded.remove(&[(key, 0)][..]);
        let limit_bytes = datagram_bytes - EventsAlone::BYTES - LONGEST_BEFORE_ONE_BYTES;
        if coded.len() > limit_bytes {
            return Err(NetError::EventTooLarge { bytes: coded.len(), limit_bytes });
        }
        Ok(())
    }

    fn coded(&mut self, events: &[(u16, &Emitted)]) -> Result<Arc<[u8]>, EncodeError> {
        let key: Vec<_> = events.iter().map(|(at, event)| (event.key, *at)).collect();
        if let Some(coded) = self.coded.get(&key) {
            return Ok(Arc::clone(coded));
        }
        self.snapshot.clear(Tick(1));
        let mut by_kind = events.to_vec();
        // The sort is stable, so the numbers within each kind still increase.
        by_kind.sort_by_key(|(_, event)| event.kind);
        for (at, event) in by_kind {
            self.snapshot.push_lanes_of(event.kind, EntityId(at.into()), &event.lanes)?;
        }
        let mut bytes = Vec::new();
        let view = self.encoder.encode(&self.empty, &self.snapshot, &mut bytes)?;
        self.encoder.recycle(view);
        let coded = Arc::from(bytes);
        self.coded.insert(key, Arc::clone(&coded));
        Ok(coded)
    }
}

/// A decoded list of events.
#[derive(Debug)]
pub(super) struct List {
    pub(super) first: Sequence,
    pub(super) floor: Sequence,
    /// For each event, in the order of numbers: the distance of its number from `first`, its tick,
    /// and its index in `events`.
    pub(super) order: Vec<(u16, Tick, u32)>,
    pub(super) events: View,
}

/// Decodes lists of events.
#[derive(Debug)]
pub(super) struct ListReader {
    decoder: Decoder,
    empty: View,
}

impl ListReader {
    pub(super) fn new(kinds: &EventKinds) -> Self {
        let limits = DecodeLimits { max_entities: MOST_EVENTS as u32 };
        Self {
            decoder: Decoder::with_limits(kinds.codec(), limits),
            empty: View::empty(kinds.codec().schema()),
        }
    }

    /// Reads `bytes`, the list of a datagram of tick `tick`.
    pub(super) fn read(&mut self, tick: Tick, bytes: &[u8]) -> Result<List, Refused> {
        let wrong_length = Refused::Length { bytes: bytes.len() };
        let (first, rest) = bytes.split_first_chunk().ok_or(wrong_length)?;
        let first = u16::from_le_bytes(*first);
        let mut reader = BitReader::new(rest);
        let before = u16::try_from(reader.read_gamma()? - 1).map_err(|_| Refused::BadEvents)?;
        let count = reader.read_gamma()? - 1;
        if count > MOST_EVENTS as u64 {
            return Err(Refused::BadEvents);
        }
        let mut order = Vec::with_capacity(count as usize);
        let mut at = u64::from(tick.0);
        for index in 0..count {
            let ticks = reader.read_gamma()? - 1;
            let moved = if index == 0 { at.checked_sub(ticks) } else { Some(at + ticks) };
            at = moved.filter(|at| *at <= u64::from(tick.0)).ok_or(Refused::BadEvents)?;
            order.push((0, Tick(at as u32), 0));
        }
        reader.align()?;
        let (first, floor) = (Sequence(first), Sequence(first.wrapping_sub(before)));
        let coded = &rest[(reader.position_bits() / 8) as usize..];
        if count == 0 {
            let events = self.empty.clone();
            let list = List { first, floor, order, events };
            return if coded.is_empty() { Ok(list) } else { Err(wrong_length) };
        }
        let events = self.decoder.decode(&self.empty, coded, Tick(1))?;
        let mut places: Vec<(u32, u32)> = events.ids().iter().map(|id| id.0).zip(0..).collect();
        places.sort_unstable();
        let is_valid = places.len() as u64 == count
            && places[0].0 == 0
            && places.windows(2).all(|pair| pair[0].0 < pair[1].0)
            && places.iter().all(|(id, _)| *id < WINDOW as u32);
        if !is_valid {
            return Err(Refused::BadEvents);
        }
        for (event, (id, index)) in order.iter_mut().zip(places) {
            (event.0, event.2) = (id as u16, index);
        }
        Ok(List { first, floor, order, events })
    }

    /// Takes back the memory of a list.
    pub(super) fn recycle(&mut self, list: List) {
        self.decoder.recycle(list.events);
    }
}
