//! Cuts an interval out of groups. From the first key group on, groups are copied. Those before it
//! are encoded again.

use std::io::Write;
use std::sync::Arc;

use kinepack::group::{GroupReader, Heads};
use kinepack::{Codec, DecodeError, DecodeLimits, Tick, View};
use kinepack_net::EventKinds;

use crate::events::{EventLog, Events};
use crate::group::Group;
use crate::{Marker, ReplayError, ReplayOptions, ReplaySummary, ReplayWriter};

/// The first view of a key group, without what was learned.
pub(crate) fn first_view(
    codec: &Codec,
    limits: DecodeLimits,
    mut group: &[u8],
) -> Result<Option<View>, DecodeError> {
    let mut reader = GroupReader::with_limits(codec, limits);
    Ok(reader.read(&mut group)?.map(|view| View::from(Arc::clone(view.snapshot()))))
}

/// The part of a replay from one tick to another, both included, while it is written.
pub(crate) struct Cut<W: Write> {
    codec: Codec,
    kinds: Option<EventKinds>,
    from: Tick,
    to: Tick,
    writer: ReplayWriter<W>,
    /// Whether a key group was copied, so that the groups after it can be.
    is_copying: bool,
}

impl<W: Write> Cut<W> {
    /// Begins the new file, with the markers of the interval and these notes.
    pub(crate) fn begin<'i>(
        out: W,
        codec: &Codec,
        options: &ReplayOptions,
        [from, to]: [Tick; 2],
        markers: impl IntoIterator<Item = &'i Marker>,
        info: impl IntoIterator<Item = (&'i String, &'i String)>,
    ) -> Result<Self, ReplayError> {
        let mut writer = ReplayWriter::to_writer(out, codec, options)?;
        for (key, value) in info {
            writer.note(key, value)?;
        }
        for marker in markers.into_iter().filter(|marker| (from..=to).contains(&marker.tick)) {
            writer.mark(marker.tick, &marker.name)?;
        }
        let (codec, kinds) = (codec.clone(), options.events.clone());
        Ok(Self { codec, kinds, from, to, writer, is_copying: false })
    }

    /// Writes the part of a group that is in the interval. `given` is the view that the group is
    /// given. Groups come in order. If the codec has a time precision, they begin with a key group:
    /// to encode coarse values again would make them coarser.
    pub(crate) fn write(&mut self, group: &Group, given: Option<View>) -> Result<(), ReplayError> {
        if group.is_key() && (group.first >= self.from || self.codec.has_precision()) {
            self.writer.flush()?;
            self.is_copying = true;
        }
        if !self.is_copying {
            return self.encode_again(group, given);
        }
        if group.last <= self.to {
            return self.writer.write_group(group);
        }
        let heads: Vec<_> = Heads::new(&group.bytes, group.given()).map_while(Result::ok).collect();
        let frames = heads.partition_point(|(tick, _)| *tick <= self.to);
        let Some((last, end)) = frames.checked_sub(1).map(|last| heads[last]) else {
            return Ok(());
        };
        let bytes = group.bytes[..end].to_vec();
        let mut events = Vec::new();
        if let Some((kinds, all)) = self.kinds.as_ref().zip(self.events_of(group)) {
            let mut log = EventLog::new(kinds);
            for (tick, rows, index) in all.between(f64::from(group.first.0) - 1.0, last.0.into()) {
                log.add(tick, &rows, index);
            }
            events = log.encode(group.first)?;
        }
        self.writer.write_group(&Group { last, frames, bytes, events, ..*group })
    }

    fn encode_again(&mut self, group: &Group, given: Option<View>) -> Result<(), ReplayError> {
        let events = self.events_of(group);
        let mut reader = GroupReader::new(&self.codec);
        reader.begin(given);
        let mut rest = &group.bytes[..];
        while let Ok(Some(view)) = reader.read(&mut rest) {
            if !(self.from..=self.to).contains(&view.tick) {
                continue;
            }
            self.writer.write(view)?;
            let tick = f64::from(view.tick.0);
            let of_tick = events.iter().flat_map(|events| events.between(tick - 1.0, tick));
            of_tick.for_each(|(tick, rows, index)| self.writer.add_event(tick, &rows, index));
        }
        Ok(())
    }

    fn events_of(&self, group: &Group) -> Option<Events> {
        let kinds = self.kinds.as_ref().filter(|_| !group.events.is_empty())?;
        let ticks = [group.first, group.last];
        Events::read(kinds.codec(), DecodeLimits::default(), ticks, &group.events).ok()
    }

    /// Ends the new file.
    pub(crate) fn finish(self) -> Result<ReplaySummary, ReplayError> {
        let summary = self.writer.finish()?;
        if summary.frames == 0 { Err(ReplayError::NothingToCut) } else { Ok(summary) }
    }
}
