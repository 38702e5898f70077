//! A group while it is written, for files and kill cams.

use std::sync::Arc;

use kinepack::group::{GroupWriter, Heads};
use kinepack::{Codec, Pack, Snapshot, Tick, View};
use kinepack_capture::schema_document::tick_time_ns;

use crate::events::EventLog;
use crate::{ReplayError, ReplayOptions};

/// The most frames of a group.
pub(crate) const MOST_FRAMES: usize = 1 << 16;
/// The most bytes of a group that a reader accepts.
pub(crate) const MOST_BYTES: usize = 1 << 26;
/// The most ticks between two frames of a group, or from the key group to another. Fewer than
/// GROUP.md allows.
const LONGEST_GAP: u32 = 1 << 30;
/// A group of more bytes ends.
const ENDS_AT_BYTES: usize = 1 << 25;

/// A group with its events, as bytes.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// The first tick of its key group; its own if it is one.
    pub(crate) key: Tick,
    pub(crate) first: Tick,
    pub(crate) last: Tick,
    pub(crate) frames: usize,
    /// A group (`spec/GROUP.md`).
    pub(crate) bytes: Vec<u8>,
    /// `spec/REPLAY.md`, section 5; empty if there are none.
    pub(crate) events: Vec<u8>,
}

impl Group {
    /// True if it needs no other group.
    pub(crate) fn is_key(&self) -> bool {
        self.key == self.first
    }

    /// The tick of the view that its frames are relative to.
    pub(crate) fn given(&self) -> Option<Tick> {
        (!self.is_key()).then_some(self.key)
    }

    /// The group with its first frame alone; `None` if it is empty.
    pub(crate) fn first_frame(&self) -> Option<Self> {
        let (first, end) = Heads::new(&self.bytes, self.given()).next()?.ok()?;
        let bytes = self.bytes[..end].to_vec();
        Some(Self { key: self.key, first, last: first, frames: 1, bytes, events: Vec::new() })
    }

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
    key_every: u32,
    /// The last tick of all groups.
    last: Option<Tick>,
    /// The first tick of the group; `None` if it has no frame.
    first: Option<Tick>,
    /// The first view of the key group, and the number of groups since then.
    key: Option<View>,
    since_key: u32,
    frames: usize,
    bytes: Vec<u8>,
    ended: Option<Group>,
}

impl GroupBuilder {
    pub(crate) fn new(codec: &Codec, options: &ReplayOptions) -> Self {
        let ReplayOptions { rate_hz, group, key_every, .. } = options;
        Self {
            writer: GroupWriter::new(codec),
            events: options.events.as_ref().map(EventLog::new),
            rate_hz: *rate_hz,
            group_ticks: group.as_secs_f64() * rate_hz,
            key_every: *key_every,
            last: None,
            first: None,
            key: None,
            since_key: 0,
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
        let is_far = |before: Tick| tick.0 - before.0 > LONGEST_GAP;
        let is_full = self.frames == MOST_FRAMES
            || self.last.is_some_and(is_far)
            || self.bytes.len() > ENDS_AT_BYTES
            || self.events.as_ref().is_some_and(EventLog::is_full)
            || self.first.is_some_and(|first| f64::from(tick.0 - first.0) >= self.group_ticks);
        if is_full {
            self.end()?;
        }
        if self.first.is_none() {
            let is_due = self.since_key >= self.key_every;
            if is_due || self.key.as_ref().is_some_and(|key| is_far(key.tick)) {
                (self.key, self.since_key) = (None, 0);
            }
            self.writer.begin(self.key.clone());
        }
        let view = self.writer.write(world, &mut self.bytes)?;
        if self.key.is_none() {
            // What was learned would help the first frame of a group by a tenth of a percent.
            self.key = Some(View::from(Arc::clone(view.snapshot())));
        }
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

    /// Adds an event of the next frame that is a row of a snapshot.
    pub(crate) fn emit_row(&mut self, rows: &Snapshot, index: usize) -> Result<(), ReplayError> {
        self.events.as_mut().ok_or(ReplayError::NoEvents)?.emit_row(rows, index)
    }

    /// Adds an event of the last frame, which is quantized already.
    pub(crate) fn add_event(&mut self, tick: Tick, rows: &Snapshot, index: usize) {
        if let Some(events) = &mut self.events {
            events.add(tick, rows, index);
        }
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
        let Some(mut group) = self.describe()? else { return Ok(()) };
        group.bytes = std::mem::take(&mut self.bytes);
        // A kill cam keeps many groups.
        group.bytes.shrink_to_fit();
        self.ended = Some(group);
        self.since_key += 1;
        (self.first, self.frames) = (None, 0);
        if let Some(events) = &mut self.events {
            events.clear();
        }
        Ok(())
    }

    /// A copy of the group that has not ended.
    pub(crate) fn unfinished(&mut self) -> Result<Option<Group>, ReplayError> {
        Ok(self.describe()?.map(|group| Group { bytes: self.bytes.clone(), ..group }))
    }

    /// The group that has not ended, without its frames.
    fn describe(&mut self) -> Result<Option<Group>, ReplayError> {
        let Some((first, last)) = self.first.zip(self.last) else { return Ok(None) };
        let events = match &mut self.events {
            Some(events) => events.encode(first)?,
            None => Vec::new(),
        };
        let key = self.key.as_ref().map_or(first, |key| key.tick);
        let frames = self.frames;
        Ok(Some(Group { key, first, last, frames, bytes: Vec::new(), events }))
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
