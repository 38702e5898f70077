//! Cuts an interval out of groups. Whole groups are copied. Only the first one is encoded again, if
//! the interval begins within it.

use std::io::Write;

use kinepack::group::{GroupReader, GroupWriter, Heads};
use kinepack::{Codec, DecodeLimits, Tick};
use kinepack_net::EventKinds;

use crate::events::{EventLog, Events};
use crate::group::Group;
use crate::{Marker, ReplayError, ReplayOptions, ReplaySummary, ReplayWriter};

/// Writes the part of a replay from one tick to another, both included.
///
/// If the codec has a time precision, the part begins with the group of its first tick: to encode
/// coarse values again would make them coarser.
pub(crate) struct Cut<'a> {
    pub(crate) codec: &'a Codec,
    pub(crate) options: &'a ReplayOptions,
    pub(crate) from: Tick,
    pub(crate) to: Tick,
}

impl Cut<'_> {
    /// Begins the new file, with the markers of the interval and these notes.
    pub(crate) fn begin<'i, W: Write>(
        &self,
        out: W,
        markers: &[Marker],
        info: impl IntoIterator<Item = (&'i String, &'i String)>,
    ) -> Result<ReplayWriter<W>, ReplayError> {
        let mut writer = ReplayWriter::to_writer(out, self.codec, self.options)?;
        for (key, value) in info {
            writer.note(key, value)?;
        }
        for marker in markers.iter().filter(|marker| (self.from..=self.to).contains(&marker.tick)) {
            writer.mark(marker.tick, &marker.name)?;
        }
        Ok(writer)
    }

    /// Writes the part of a group that is in the interval.
    pub(crate) fn write<W: Write>(
        &self,
        writer: &mut ReplayWriter<W>,
        group: &Group,
    ) -> Result<(), ReplayError> {
        match self.part(group)? {
            Some(part) => writer.write_group(&part),
            None => Ok(()),
        }
    }

    /// Ends the new file.
    pub(crate) fn finish<W: Write>(writer: ReplayWriter<W>) -> Result<ReplaySummary, ReplayError> {
        let summary = writer.finish()?;
        if summary.frames == 0 { Err(ReplayError::NothingToCut) } else { Ok(summary) }
    }

    fn part(&self, group: &Group) -> Result<Option<Group>, ReplayError> {
        let Self { codec, from, to, .. } = *self;
        if group.first >= from && group.last <= to {
            return Ok(Some(group.clone()));
        }
        let heads: Vec<_> = Heads::new(&group.bytes).map_while(Result::ok).collect();
        let end = heads.partition_point(|(tick, _)| *tick <= to);
        let begin = heads.partition_point(|(tick, _)| *tick < from);
        if begin >= end {
            return Ok(None);
        }
        let begin = if codec.has_precision() { 0 } else { begin };
        let old = &group.bytes[..heads[end - 1].1];
        let bytes = if begin == 0 { old.to_vec() } else { encode_again(codec, old, from)? };
        if bytes.is_empty() {
            return Ok(None);
        }
        let (first, last) = (heads[begin].0, heads[end - 1].0);
        let events = match &self.options.events {
            Some(kinds) if !group.events.is_empty() => events_between(kinds, group, first, last)?,
            _ => Vec::new(),
        };
        Ok(Some(Group { first, last, frames: end - begin, bytes, events }))
    }
}

/// The frames of a group from a tick on, as a group.
fn encode_again(codec: &Codec, group: &[u8], from: Tick) -> Result<Vec<u8>, ReplayError> {
    let (mut reader, mut writer) = (GroupReader::new(codec), GroupWriter::new(codec));
    let (mut rest, mut bytes) = (group, Vec::new());
    while let Ok(Some(view)) = reader.read(&mut rest) {
        if view.tick >= from {
            writer.write(view, &mut bytes)?;
        }
    }
    Ok(bytes)
}

/// The events of a group from one tick to another, as the events of a group.
fn events_between(
    kinds: &EventKinds,
    group: &Group,
    first: Tick,
    last: Tick,
) -> Result<Vec<u8>, ReplayError> {
    let ticks = [group.first, group.last];
    let limits = DecodeLimits::default();
    let Ok(events) = Events::read(kinds.codec(), limits, ticks, &group.events) else {
        return Ok(Vec::new());
    };
    let mut log = EventLog::new(kinds);
    for (tick, rows, index) in events.between(f64::from(first.0) - 1.0, last.0.into()) {
        log.add(tick, &rows, index);
    }
    Ok(log.encode(first)?)
}
