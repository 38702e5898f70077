//! Builds a group while snapshots are added, for files and kill cams.

use std::sync::Arc;

use kinepack::group::{FrameHeaders, GroupWriter};
use kinepack::{Codec, Pack, Snapshot, Tick, View};
use kinepack_capture::schema_document::tick_time_ns;

use crate::ReplayError;
use crate::events::EventLog;
use crate::limits::{MOST_FRAMES, MOST_GROUP_BYTES};
use crate::options::ReplayOptions;

/// The maximum number of ticks between two frames of a group, or from the key group to another
/// group. `spec/GROUP.md` allows more.
const LONGEST_GAP: u32 = 1 << 30;
/// The size in bytes above which a group ends.
const ENDS_AT_BYTES: usize = 1 << 25;

/// A group with its events, as bytes.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// The first tick of the key group that this group depends on. In a key group, this is its own
    /// first tick.
    pub(crate) key: Tick,
    pub(crate) first: Tick,
    pub(crate) last: Tick,
    pub(crate) frames: usize,
    /// The bytes of the group, as `spec/GROUP.md` defines them.
    pub(crate) bytes: Vec<u8>,
    /// The bytes of the events, as `spec/REPLAY.md`, section 5, defines them; empty if there are no
    /// events.
    pub(crate) events: Vec<u8>,
}

impl Group {
    /// Returns true if the group can be decoded without another group.
    pub(crate) fn is_key(&self) -> bool {
        self.key == self.first
    }

    /// Returns the tick of the view that the group's first frame is coded against, if there is such
    /// a view.
    pub(crate) fn given(&self) -> Option<Tick> {
        (!self.is_key()).then_some(self.key)
    }

    /// Returns the group with only its first frame; `None` if the group is empty.
    pub(crate) fn first_frame(&self) -> Option<Self> {
        let (first, end) = FrameHeaders::new(&self.bytes, self.given()).next()?.ok()?;
        let bytes = self.bytes[..end].to_vec();
        Some(Self { key: self.key, first, last: first, frames: 1, bytes, events: Vec::new() })
    }

    /// Returns the size on the heap, in bytes.
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
    /// The tick of the last frame of all groups.
    last: Option<Tick>,
    /// The tick of the group's first frame; `None` if the group has no frame.
    first: Option<Tick>,
    /// The first view of the last key group, and the number of groups since then.
    key: Option<View>,
    since_key: u32,
    frames: usize,
    bytes: Vec<u8>,
    /// The maximum number of bytes of a group.
    most_bytes: usize,
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
            most_bytes: MOST_GROUP_BYTES,
            ended: None,
        }
    }

    /// Adds a frame. If the frame begins a new group, the previous group has then
    /// [ended](Self::take_ended).
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
        let before = self.bytes.len();
        let mut key = self.encode(world)?;
        if self.bytes.len() > self.most_bytes && before > 0 {
            // The frame may fit into a new group.
            self.bytes.truncate(before);
            self.end()?;
            key = self.encode(world)?;
        }
        if self.bytes.len() > self.most_bytes {
            let bytes = std::mem::take(&mut self.bytes).len();
            return Err(ReplayError::FrameTooLarge { bytes, most: self.most_bytes });
        }
        self.key = Some(key);
        self.first.get_or_insert(tick);
        self.last = Some(tick);
        self.frames += 1;
        if let Some(events) = &mut self.events {
            events.advance(tick);
        }
        Ok(())
    }

    /// Appends a frame to the bytes of the group. If there is no group, the frame begins one.
    /// Returns the first view of the last key group.
    fn encode(&mut self, world: &Snapshot) -> Result<View, ReplayError> {
        if self.first.is_none() {
            let is_far = |key: &View| world.tick.0 - key.tick.0 > LONGEST_GAP;
            if self.since_key >= self.key_every || self.key.as_ref().is_some_and(is_far) {
                (self.key, self.since_key) = (None, 0);
            }
            self.writer.begin(self.key.clone());
        }
        let view = self.writer.write(world, &mut self.bytes)?;
        // Learned models would make the first frames of groups smaller by only a tenth of a
        // percent.
        let first = || View::from(Arc::clone(view.snapshot()));
        Ok(self.key.clone().unwrap_or_else(first))
    }

    /// Adds an event of the next frame.
    pub(crate) fn emit<T: Pack>(&mut self, event: &T) -> Result<(), ReplayError> {
        self.events.as_mut().ok_or(ReplayError::NoEvents)?.emit(event)
    }

    /// Adds an event of the next frame, given as a row of a snapshot.
    pub(crate) fn emit_row(&mut self, rows: &Snapshot, index: usize) -> Result<(), ReplayError> {
        self.events.as_mut().ok_or(ReplayError::NoEvents)?.emit_row(rows, index)
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
        // Frees the unused capacity, because a kill cam keeps many groups.
        group.bytes.shrink_to_fit();
        self.ended = Some(group);
        self.since_key += 1;
        (self.first, self.frames) = (None, 0);
        if let Some(events) = &mut self.events {
            events.clear();
        }
        Ok(())
    }

    /// Returns a copy of the group that has not ended.
    pub(crate) fn unfinished(&mut self) -> Result<Option<Group>, ReplayError> {
        Ok(self.describe()?.map(|group| Group { bytes: self.bytes.clone(), ..group }))
    }

    /// Returns the group that has not ended, without its frames.
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

    /// Takes the group that ended, if there is one.
    pub(crate) fn take_ended(&mut self) -> Option<Group> {
        self.ended.take()
    }

    /// Returns the heap size of the group that has not ended, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.bytes.capacity()
    }
}

#[cfg(test)]
mod tests {
    use kinepack::schema::{Field, FieldKind};
    use kinepack::{EntityId, Level, Profile, Schema};

    use super::*;

    #[test]
    fn a_frame_that_no_reader_takes_is_refused_and_one_that_needs_a_group_gets_it() {
        let schema = Schema::new(vec![Field::new("word", FieldKind::Raw { lanes: 1 })]);
        let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema)).unwrap();
        let mut builder = GroupBuilder::new(&codec, &ReplayOptions::at_hz(60.0));
        builder.most_bytes = 1_000;
        // The words are coded in full, with about four bytes for each entity.
        let world = |tick: u32, entities: u32| {
            let mut world = Snapshot::new(&schema, Tick(tick));
            for id in 0..entities {
                let word = (id + 1).wrapping_mul(2_654_435_761).wrapping_add(tick << 20);
                world.push_lanes(EntityId(id), &[word]).unwrap();
            }
            world
        };
        let mut groups = Vec::new();
        for (tick, entities, fits) in
            [(1, 20, true), (2, 400, false), (3, 180, true), (4, 180, true), (5, 400, false)]
        {
            let written = builder.write(&world(tick, entities));
            groups.extend(builder.take_ended());
            assert_eq!(written.is_ok(), fits, "tick {tick}");
            if let Err(error) = written {
                let is_reason = matches!(error, ReplayError::FrameTooLarge { most: 1_000, .. });
                assert!(is_reason, "{error}");
            }
        }
        builder.end().unwrap();
        groups.extend(builder.take_ended());
        let mut ticks = Vec::new();
        let mut key = None;
        for group in &groups {
            assert!(group.bytes.len() <= 1_000);
            let mut reader = kinepack::group::GroupReader::new(&codec);
            reader.begin(key.clone().filter(|_| !group.is_key()));
            let mut bytes = &group.bytes[..];
            while let Some(view) = reader.read(&mut bytes).unwrap() {
                let expected = world(view.tick.0, view.len() as u32);
                assert_eq!(**view.snapshot(), expected);
                key.get_or_insert_with(|| View::from(Arc::clone(view.snapshot())));
                ticks.push(view.tick.0);
            }
        }
        assert_eq!(ticks, [1, 3, 4]);
    }
}
