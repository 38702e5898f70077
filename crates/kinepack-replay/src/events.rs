//! Codes the events of a group as bytes. See `spec/REPLAY.md`, section 5.

use std::sync::Arc;

use kinepack::bits::{BitReader, BitSink, BitWriter};
use kinepack::{
    Codec, DecodeError, DecodeLimits, Decoder, EncodeError, Encoder, EntityId, Pack, Snapshot,
    Tick, View,
};
use kinepack_net::EventKinds;

use crate::ReplayError;
use crate::limits::MOST_BYTES;

/// The maximum number of events in a group.
pub(crate) const MOST_EVENTS: usize = 1 << 16;
/// The maximum number of lanes in a group's events, so that their message is not larger than
/// readers accept.
const MOST_LANES: usize = MOST_BYTES / 8;

/// The tick of the packet that codes the events.
const PACKET_TICK: Tick = Tick(1);

/// Collects the events of a group, and encodes them.
#[derive(Debug)]
pub(crate) struct EventLog {
    kinds: EventKinds,
    encoder: Encoder,
    empty: View,
    scratch: Snapshot,
    /// The events of the tick that is not written yet, each as kind and lanes, and the number of
    /// their lanes.
    pending: Vec<(usize, Box<[u32]>)>,
    pending_lanes: usize,
    /// The group's events, each as tick, kind and lanes, and the total number of their lanes.
    events: Vec<(Tick, usize, Box<[u32]>)>,
    lanes: usize,
}

impl EventLog {
    pub(crate) fn new(kinds: &EventKinds) -> Self {
        let codec = kinds.codec();
        Self {
            kinds: kinds.clone(),
            encoder: Encoder::new(codec),
            empty: View::empty(codec.schema()),
            scratch: Snapshot::new(codec.schema(), PACKET_TICK),
            pending: Vec::new(),
            pending_lanes: 0,
            events: Vec::new(),
            lanes: 0,
        }
    }

    /// Adds an event of the next tick.
    pub(crate) fn emit<T: Pack>(&mut self, event: &T) -> Result<(), ReplayError> {
        let event = self.kinds.quantize(event, &mut self.scratch)?;
        self.add(event)
    }

    /// Adds an event of the next tick, given as a row of a snapshot.
    pub(crate) fn emit_row(&mut self, rows: &Snapshot, index: usize) -> Result<(), ReplayError> {
        self.add(self.kinds.row(rows, index)?)
    }

    fn add(&mut self, event: (usize, Box<[u32]>)) -> Result<(), ReplayError> {
        let lanes = self.pending_lanes + event.1.len();
        if self.pending.len() == MOST_EVENTS || lanes > MOST_LANES {
            return Err(ReplayError::TooManyEvents { most: self.pending.len() });
        }
        self.pending_lanes = lanes;
        self.pending.push(event);
        Ok(())
    }

    /// Returns whether the group has no room for the events of the next tick.
    pub(crate) fn is_full(&self) -> bool {
        self.events.len() + self.pending.len() > MOST_EVENTS
            || self.lanes + self.pending_lanes > MOST_LANES
    }

    /// Moves the pending events to the group; call this when their tick is written.
    pub(crate) fn advance(&mut self, tick: Tick) {
        self.events.extend(self.pending.drain(..).map(|(kind, lanes)| (tick, kind, lanes)));
        self.lanes += std::mem::take(&mut self.pending_lanes);
    }

    /// Removes all events of the group.
    pub(crate) fn clear(&mut self) {
        self.events.clear();
        self.lanes = 0;
    }

    /// Returns the group's events as bytes; empty if there are none.
    pub(crate) fn encode(&mut self, first: Tick) -> Result<Vec<u8>, EncodeError> {
        let mut bytes = Vec::new();
        if self.events.is_empty() {
            return Ok(bytes);
        }
        let mut writer = BitWriter::append(&mut bytes);
        writer.write_gamma(self.events.len() as u64);
        let mut before = first;
        for (tick, ..) in &self.events {
            writer.write_gamma(1 + u64::from(tick.0.saturating_sub(before.0)));
            before = *tick;
        }
        writer.finish()?;
        let mut order: Vec<usize> = (0..self.events.len()).collect();
        // The sort is stable, so the ids of each kind increase.
        order.sort_by_key(|event| self.events[*event].1);
        self.scratch.clear(PACKET_TICK);
        for event in order {
            let (_, kind, lanes) = &self.events[event];
            self.scratch.push_lanes_of(*kind, EntityId(event as u32), lanes)?;
        }
        let view = self.encoder.encode(&self.empty, &self.scratch, &mut bytes)?;
        self.encoder.recycle(view);
        Ok(bytes)
    }
}

/// The events that were read from a group.
#[derive(Clone, Debug)]
pub(crate) struct Events {
    /// The tick and the row of each event, in the order of the events.
    order: Vec<(Tick, u32)>,
    rows: Arc<Snapshot>,
}

impl Events {
    /// Reads the events of a group that has these first and last ticks.
    pub(crate) fn read(
        codec: &Codec,
        limits: DecodeLimits,
        ticks: [Tick; 2],
        bytes: &[u8],
    ) -> Result<Self, DecodeError> {
        let mut reader = BitReader::new(bytes);
        let refuse = |reader: &BitReader<'_>| {
            Err(DecodeError::OutOfRange { at_bit: reader.position_bits() })
        };
        let count = reader.read_gamma()?;
        if count > MOST_EVENTS as u64 {
            return refuse(&reader);
        }
        let mut order = Vec::new();
        let mut tick = u64::from(ticks[0].0);
        for _ in 0..count {
            tick += reader.read_gamma()? - 1;
            if tick > u64::from(ticks[1].0) {
                return refuse(&reader);
            }
            order.push((Tick(tick as u32), 0));
        }
        reader.align()?;
        let packet = &bytes[(reader.position_bits() / 8) as usize..];
        let empty = View::empty(codec.schema());
        let view = Decoder::with_limits(codec, limits).decode(&empty, packet, PACKET_TICK)?;
        let mut is_placed = vec![false; order.len()];
        for (index, id) in view.ids().iter().enumerate() {
            match (order.get_mut(id.0 as usize), is_placed.get_mut(id.0 as usize)) {
                (Some(event), Some(is_placed)) if !*is_placed => {
                    (event.1, *is_placed) = (index as u32, true);
                }
                _ => return refuse(&reader),
            }
        }
        if !is_placed.iter().all(|is_placed| *is_placed) {
            return refuse(&reader);
        }
        Ok(Self { order, rows: Arc::clone(view.snapshot()) })
    }

    /// Returns the bytes of the events up to a tick, for a group that begins at `first` and ends
    /// early.
    pub(crate) fn encode_until(
        &self,
        kinds: &EventKinds,
        [first, last]: [Tick; 2],
    ) -> Result<Vec<u8>, ReplayError> {
        let mut log = EventLog::new(kinds);
        for (tick, rows, index) in self.between(f64::from(first.0) - 1.0, last.0.into()) {
            log.emit_row(&rows, index)?;
            log.advance(tick);
        }
        Ok(log.encode(first)?)
    }

    /// Iterates over the events after one moment and up to another, in order: each event's tick,
    /// all rows, and the index of the event's row.
    pub(crate) fn between(
        &self,
        after: f64,
        until: f64,
    ) -> impl Iterator<Item = (Tick, Arc<Snapshot>, usize)> {
        let at = |moment: f64| self.order.partition_point(|(tick, _)| f64::from(tick.0) <= moment);
        let (begin, end) = (at(after), at(until));
        self.order[begin.min(end)..end]
            .iter()
            .map(|(tick, index)| (*tick, Arc::clone(&self.rows), *index as usize))
    }
}
