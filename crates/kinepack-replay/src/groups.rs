//! Manages the groups of a file. Groups are loaded when they are needed, and frames are looked up
//! in them. Damaged groups are noted and skipped.

use std::collections::BTreeSet;
use std::io::SeekFrom;
use std::ops::Range;
use std::sync::Arc;

use kinepack::{Codec, Snapshot, Tick, View};
use kinepack_net::EventKinds;

use crate::ReplayError;
use crate::cut::first_view;
use crate::group::Group;
use crate::index::{Chunk, Index, Place};
use crate::loaded::Loaded;
use crate::options::ReplayLimits;
use crate::records::{Broken, ReadSeek};

/// The groups of a file; the two that were used last are loaded.
pub(crate) struct Groups {
    file: Box<dyn ReadSeek>,
    pub(crate) index: Index,
    pub(crate) codec: Codec,
    pub(crate) events: Option<EventKinds>,
    pub(crate) limits: ReplayLimits,
    /// The groups that were used last, the most recent one first.
    loaded: [Loaded; 2],
    /// The first view of the key group that was used last.
    key: Option<View>,
    /// The groups whose damage is noted.
    noted: BTreeSet<usize>,
    /// The groups without a readable frame. These groups are not loaded again.
    unreadable: BTreeSet<usize>,
}

impl Groups {
    pub(crate) fn new(
        file: Box<dyn ReadSeek>,
        index: Index,
        codec: Codec,
        events: Option<EventKinds>,
    ) -> Self {
        let limits = ReplayLimits::default();
        let loaded = [(); 2].map(|()| Loaded::new(&codec, &limits));
        let (noted, unreadable) = Default::default();
        Self { file, index, codec, events, limits, loaded, key: None, noted, unreadable }
    }

    pub(crate) fn set_limits(&mut self, limits: ReplayLimits) {
        self.limits = limits;
        self.key = None;
        // The new limits may allow groups that the old limits did not.
        self.unreadable.clear();
        self.loaded = [(); 2].map(|()| Loaded::new(&self.codec, &limits));
    }

    /// Returns the number of groups.
    pub(crate) fn len(&self) -> usize {
        self.index.groups.len()
    }

    /// Looks for groups that were written to the file since the last call.
    pub(crate) fn refresh(&mut self) -> Result<bool, ReplayError> {
        self.index.scan(&mut *self.file)
    }

    /// Returns the size of the file, in bytes.
    pub(crate) fn file_bytes(&mut self) -> Result<u64, ReplayError> {
        Ok(self.file.seek(SeekFrom::End(0))?)
    }

    /// If the file has no end, notes the bytes after its last complete record as damage.
    pub(crate) fn note_end(&mut self) -> Result<(), ReplayError> {
        if let Some(at_byte) = self.index.unread_byte(&mut *self.file)?
            && self.index.damage.iter().all(|damage| damage.at_byte != at_byte)
        {
            let reason = "the file ends here without a complete record".to_owned();
            self.index.add_damage(at_byte, reason);
        }
        Ok(())
    }

    /// Returns the group that contains a moment.
    pub(crate) fn group_of(&self, moment: f64) -> Option<usize> {
        let begun = |place: &Place| f64::from(place.first.0) <= moment;
        self.index.groups.partition_point(begun).checked_sub(1)
    }

    /// Returns the newest frame that is not after a moment.
    pub(crate) fn at_or_before(
        &mut self,
        moment: f64,
    ) -> Result<Option<Arc<Snapshot>>, ReplayError> {
        let Some(group) = self.group_of(moment) else { return Ok(None) };
        // Loading a group that is known to be unreadable would only replace a loaded group that is
        // in use.
        while !self.unreadable.contains(&group) {
            let frames = self.load(group)?.frames_until(moment);
            let Some(last) = frames.checked_sub(1) else { break };
            if let Some(frame) = self.frame_of(group, last)? {
                return Ok(Some(frame));
            }
        }
        self.find_back(group)
    }

    /// Returns the oldest frame after a moment.
    pub(crate) fn after(&mut self, moment: f64) -> Result<Option<Arc<Snapshot>>, ReplayError> {
        let group = self.group_of(moment).unwrap_or(0);
        if group >= self.len() {
            return Ok(None);
        }
        let frames = match self.unreadable.contains(&group) {
            true => 0,
            false => self.load(group)?.frames_until(moment),
        };
        self.find_forward(group, frames)
    }

    /// Returns the first readable frame, from the frame with index `frame` in a group on.
    pub(crate) fn find_forward(
        &mut self,
        group: usize,
        frame: usize,
    ) -> Result<Option<Arc<Snapshot>>, ReplayError> {
        let mut frame = frame;
        for group in group..self.len() {
            if self.unreadable.contains(&group) {
                continue;
            }
            if let Some(found) = self.frame_of(group, frame)? {
                return Ok(Some(found));
            }
            frame = 0;
        }
        Ok(None)
    }

    /// Returns the last readable frame of the groups before this one.
    pub(crate) fn find_back(&mut self, group: usize) -> Result<Option<Arc<Snapshot>>, ReplayError> {
        for group in (0..group).rev() {
            if self.unreadable.contains(&group) {
                continue;
            }
            while let Some(last) = self.load(group)?.len().checked_sub(1) {
                if let Some(found) = self.frame_of(group, last)? {
                    return Ok(Some(found));
                }
            }
        }
        Ok(None)
    }

    /// Returns a frame of a group; `None` if there is no such frame, or if it cannot be decoded.
    fn frame_of(
        &mut self,
        group: usize,
        frame: usize,
    ) -> Result<Option<Arc<Snapshot>>, ReplayError> {
        match self.load(group)?.frame(frame) {
            Ok(found) => Ok(found),
            Err(reason) => {
                self.note(group, reason);
                Ok(None)
            }
        }
    }

    /// Loads a group, unless it is one of the two loaded groups.
    pub(crate) fn load(&mut self, group: usize) -> Result<&mut Loaded, ReplayError> {
        if self.loaded[0].place != group {
            self.loaded.swap(0, 1);
        }
        if self.loaded[0].place != group {
            self.loaded[0].clear();
            self.loaded[0].place = group;
            let place = self.index.groups[group];
            match Chunk::read(&mut *self.file, place).and_then(|chunk| self.take(group, &chunk)) {
                Ok(Some(reason)) => self.note(group, reason),
                Ok(None) => {}
                Err(Broken::Damaged(reason)) => self.note(group, reason),
                Err(Broken::Refused(error)) => {
                    // A later call may succeed, so the group must not count as loaded.
                    self.loaded[0].clear();
                    return Err(error);
                }
            }
            if self.loaded[0].len() == 0 {
                self.unreadable.insert(group);
            }
        }
        Ok(&mut self.loaded[0])
    }

    /// Takes the messages of a group's chunk. Returns a description of the chunk's damage, if there
    /// is any.
    fn take(&mut self, group: usize, chunk: &Chunk) -> Result<Option<String>, Broken> {
        let world = self.index.world.as_ref().ok_or("there is no channel")?.id;
        let message = chunk.message(world)?.ok_or("it has no group")?;
        let place = self.index.groups[group];
        if message.first != place.first {
            return Err("its tick is not that of the index".into());
        }
        let (key, bytes) = message.group()?;
        let given = if key == place.first { None } else { Some(self.key_view(group, key)?) };
        let loaded = &mut self.loaded[0];
        let mut broken = loaded.load(group, message.first, given, bytes);
        if let Some((kinds, channel)) = self.events.as_ref().zip(self.index.events.as_ref()) {
            let data = chunk.message(channel.id)?.map(|message| message.data);
            let read = loaded.load_events(kinds.codec(), self.limits.decode, data);
            broken = broken.or(read.err());
        }
        Ok(broken)
    }

    /// Returns the first view of the key group that begins at `key`. The key group must precede
    /// `group`.
    fn key_view(&mut self, group: usize, key: Tick) -> Result<View, Broken> {
        if let Some(view) = self.key.as_ref().filter(|view| view.tick == key) {
            return Ok(view.clone());
        }
        let earlier = &self.index.groups[..group];
        let found = earlier.binary_search_by_key(&key, |place| place.first);
        let place = earlier[found.map_err(|_| "its key group is not in the file")?];
        let key_reason = |reason: String| format!("its key group, of tick {}: {reason}", key.0);
        let read = |broken: Broken| match broken {
            Broken::Damaged(reason) => Broken::Damaged(key_reason(reason)),
            refused => refused,
        };
        let chunk = Chunk::read(&mut *self.file, place).map_err(read)?;
        let world = self.index.world.as_ref().ok_or("there is no channel")?.id;
        let message = chunk.message(world)?.ok_or("its key group is missing")?;
        let (own, bytes) = message.group()?;
        if own != key || message.first != key {
            return Err("its key group is not one".into());
        }
        let view = first_view(&self.codec, self.limits.decode, bytes);
        let view = view.map_err(|error| key_reason(error.to_string()))?;
        let view = view.filter(|view| view.tick == key).ok_or("its key group has no frame")?;
        self.key = Some(view.clone());
        Ok(view)
    }

    /// Notes the damage of a group, but only once.
    pub(crate) fn note(&mut self, group: usize, reason: String) {
        if self.noted.insert(group) {
            let Place { first, at_byte, .. } = self.index.groups[group];
            let reason = format!("the group of tick {}: {reason}", first.0);
            self.index.add_damage(at_byte, reason);
        }
    }

    /// Returns the events after one moment and up to another.
    pub(crate) fn events_between(
        &mut self,
        after: f64,
        until: f64,
        events: &mut Vec<(Tick, Arc<Snapshot>, usize)>,
    ) -> Result<(), ReplayError> {
        let begin = self.group_of(after).unwrap_or(0);
        for group in begin..self.len() {
            if f64::from(self.index.groups[group].first.0) > until {
                break;
            }
            if self.unreadable.contains(&group) {
                continue;
            }
            let loaded = self.load(group)?;
            events.extend(loaded.events.iter().flat_map(|of| of.between(after, until)));
        }
        Ok(())
    }

    /// Returns a group as it is stored in the file, and the view that its first frame is coded
    /// against. Returns `None` if the group is damaged.
    pub(crate) fn copy(
        &mut self,
        group: usize,
    ) -> Result<Option<(Group, Option<View>)>, ReplayError> {
        let kinds = self.events.clone();
        let loaded = self.load(group)?;
        let frames = loaded.len();
        let ticks = loaded.tick(0).zip(frames.checked_sub(1).and_then(|last| loaded.tick(last)));
        let Some((first, last)) = ticks else { return Ok(None) };
        let (key, bytes) = (loaded.given().unwrap_or(first), loaded.bytes_before(frames).to_vec());
        let events = kinds.map_or(Ok(Vec::new()), |kinds| loaded.event_bytes(&kinds))?;
        let group = Group { key, first, last, frames, bytes, events };
        Ok(Some((group, loaded.given_view())))
    }

    /// Returns the first group that these groups need, including the key groups that they depend
    /// on.
    pub(crate) fn first_needed(&mut self, groups: Range<usize>) -> Result<usize, ReplayError> {
        let Range { start: mut first, end: mut next } = groups;
        while next > first {
            next -= 1;
            let key = self.load(next)?.given();
            let needed = key.and_then(|key| self.group_of(key.0.into()));
            first = first.min(needed.unwrap_or(first));
        }
        Ok(first)
    }
}
