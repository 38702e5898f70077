//! A group while it is written, for files and kill cams.

use kinepack::group::GroupWriter;
use kinepack::{Codec, Pack, Snapshot, Tick};
use kinepack_capture::schema_document::tick_time_ns;

use crate::events::EventLog;
use crate::{ReplayError, ReplayOptions};

/// The most frames of a group.
pub(crate) const MOST_FRAMES: usize = 1 << 16;
/// The most bytes of a group that a reader accepts.
pub(crate) const MOST_BYTES: usize = 1 << 26;
/// A group of more bytes ends.
const ENDS_AT_BYTES: usize = 1 << 25;

/// A group with its events, as bytes.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) first: Tick,
    pub(crate) last: Tick,
    pub(crate) frames: usize,
    /// A group (`spec/GROUP.md`).
    pub(crate) bytes: Vec<u8>,
    /// `spec/REPLAY.md`, section 5; empty if there are none.
    pub(crate) events: Vec<u8>,
}

impl Group {
    /// Bytes on the heap.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.bytes.capacity() + self.events.capacity()
    }
}

/// Makes groups of snapshots.
#[derive(Debug)]
pub(crate) struct GroupBuilder {
    writer: GroupWriter,
    events: Option<EventLog>,
    rate_hz: f64,
    group_ticks: f64,
    /// The last tick of all groups.
    last: Option<Tick>,
    /// The first tick of the group; `None` if it has no frame.
    first: Option<Tick>,
    frames: usize,
    bytes: Vec<u8>,
    ended: Option<Group>,
}

impl GroupBuilder {
    pub(crate) fn new(codec: &Codec, options: &ReplayOptions) -> Self {
        let ReplayOptions { rate_hz, group, .. } = options;
        Self {
            writer: GroupWriter::new(codec),
            events: options.events.as_ref().map(EventLog::new),
            rate_hz: *rate_hz,
            group_ticks: group.as_secs_f64() * rate_hz,
            last: None,
            first: None,
            frames: 0,
            bytes: Vec::new(),
            ended: None,
        }
    }

    /// Adds a frame. If it begins a group, the one before is then [`ended`](Self::take_ended).
    pub(crate) fn write(&mut self, world: &Snapshot) -> Result<(), ReplayError> {
        let tick = world.tick;
        if let Some(last) = self.last.filter(|last| *last >= tick) {
            return Err(ReplayError::TicksNotIncreasing { tick: tick.0, last: last.0 });
        }
        if tick_time_ns(tick, self.rate_hz) == u64::MAX {
            return Err(ReplayError::TickTooLate { tick: tick.0 });
        }
        let is_full = self.frames == MOST_FRAMES
            || self.bytes.len() > ENDS_AT_BYTES
            || self.events.as_ref().is_some_and(EventLog::is_full)
            || self.first.is_some_and(|first| f64::from(tick.0 - first.0) >= self.group_ticks);
        if is_full {
            self.end()?;
        }
        self.writer.write(world, &mut self.bytes)?;
        self.first.get_or_insert(tick);
        self.last = Some(tick);
        self.frames += 1;
        if let Some(events) = &mut self.events {
            events.advance(tick);
        }
        Ok(())
    }

    /// Adds an event of the next frame.
    pub(crate) fn emit<T: Pack>(&mut self, event: &T) -> Result<(), ReplayError> {
        self.events.as_mut().ok_or(ReplayError::NoEvents)?.emit(event)
    }

    /// The tick of the last frame.
    pub(crate) fn last(&self) -> Option<Tick> {
        self.last
    }

    /// The tick of the group's first frame.
    pub(crate) fn first(&self) -> Option<Tick> {
        self.first
    }

    /// Ends the group, if it has a frame.
    pub(crate) fn end(&mut self) -> Result<(), ReplayError> {
        self.ended = self.unfinished()?.or(self.ended.take());
        self.writer.begin(None);
        (self.first, self.frames) = (None, 0);
        self.bytes.clear();
        if let Some(events) = &mut self.events {
            events.clear();
        }
        Ok(())
    }

    /// A copy of the group that has not ended.
    pub(crate) fn unfinished(&mut self) -> Result<Option<Group>, ReplayError> {
        let Some((first, last)) = self.first.zip(self.last) else { return Ok(None) };
        let events = match &mut self.events {
            Some(events) => events.encode(first)?,
            None => Vec::new(),
        };
        Ok(Some(Group { first, last, frames: self.frames, bytes: self.bytes.clone(), events }))
    }

    /// The group that ended.
    pub(crate) fn take_ended(&mut self) -> Option<Group> {
        self.ended.take()
    }

    /// Bytes on the heap of the group that has not ended.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.bytes.capacity()
    }
}
