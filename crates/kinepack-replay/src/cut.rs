//! Cuts an interval of ticks out of groups. The groups before the first key group of the interval
//! are encoded again. From that key group on, all groups are copied.

use std::io::Write;
use std::sync::Arc;

use kinepack::group::{FrameHeaders, GroupReader};
use kinepack::{Codec, DecodeError, DecodeLimits, Tick, View};
use kinepack_net::EventKinds;

use crate::events::Events;
use crate::group::Group;
use crate::options::ReplayOptions;
use crate::{Marker, ReplayError, ReplaySummary, ReplayWriter};

/// Decodes the first view of a key group, without learned models.
pub(crate) fn first_view(
    codec: &Codec,
    limits: DecodeLimits,
    mut group: &[u8],
) -> Result<Option<View>, DecodeError> {
    let mut reader = GroupReader::with_limits(codec, limits);
    Ok(reader.read(&mut group)?.map(|view| View::from(Arc::clone(view.snapshot()))))
}

/// The part of a replay from one tick to another, both included, while it is being written.
pub(crate) struct Cut<W: Write> {
    codec: Codec,
    kinds: Option<EventKinds>,
    limits: DecodeLimits,
    from: Tick,
    to: Tick,
    writer: ReplayWriter<W>,
    /// The first tick of the first key group that was copied, if there is one. A group that depends
    /// on this key group or on a later one can be copied too.
    copied_from: Option<Tick>,
}

impl<W: Write> Cut<W> {
    /// Begins the new file, with the markers of the interval and the given notes. `limits` apply
    /// when groups are decoded.
    pub(crate) fn begin<'i>(
        out: W,
        codec: &Codec,
        limits: DecodeLimits,
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
        Ok(Self { codec, kinds, limits, from, to, writer, copied_from: None })
    }

    /// Writes the part of a group that lies within the interval. `given` is the view that the
    /// group's first frame is coded against. The caller must pass the groups in order. If the codec
    /// has a time precision, the first group must be a key group, because encoding coarse values
    /// again would make them coarser. If a part of the group cannot be read, the new file lacks
    /// that part, and the error is returned.
    pub(crate) fn write(
        &mut self,
        group: &Group,
        given: Option<View>,
    ) -> Result<Option<DecodeError>, ReplayError> {
        if group.is_key() && (group.first >= self.from || self.codec.has_precision()) {
            self.copied_from.get_or_insert(group.first);
        }
        // A group may depend on an earlier key group than the last one, so its key group must have
        // been copied.
        if self.copied_from.is_none_or(|first| group.key < first) {
            return self.encode_again(group, given);
        }
        self.writer.flush()?;
        if group.last <= self.to {
            self.writer.write_group(group)?;
            return Ok(None);
        }
        let headers: Vec<_> = FrameHeaders::new(&group.bytes, group.given())
            .take_while(|header| !matches!(header, Ok((tick, _)) if *tick > self.to))
            .collect::<Result<_, _>>()?;
        let Some((last, end)) = headers.last().copied() else { return Ok(None) };
        let bytes = group.bytes[..end].to_vec();
        let (events, damage) = self.events_of(group);
        let events = match self.kinds.as_ref().zip(events) {
            Some((kinds, events)) => events.encode_until(kinds, [group.first, last])?,
            None => Vec::new(),
        };
        self.writer.write_group(&Group { last, frames: headers.len(), bytes, events, ..*group })?;
        Ok(damage)
    }

    fn encode_again(
        &mut self,
        group: &Group,
        given: Option<View>,
    ) -> Result<Option<DecodeError>, ReplayError> {
        let (events, damage) = self.events_of(group);
        let mut reader = GroupReader::with_limits(&self.codec, self.limits);
        reader.begin(given);
        let mut rest = &group.bytes[..];
        let mut before = f64::from(self.from.0) - 1.0;
        loop {
            let view = match reader.read(&mut rest) {
                Ok(Some(view)) if view.tick <= self.to => view,
                Ok(_) => return Ok(damage),
                Err(error) => return Ok(Some(error)),
            };
            if view.tick < self.from {
                continue;
            }
            let tick = f64::from(view.tick.0);
            for (_, rows, index) in events.iter().flat_map(|events| events.between(before, tick)) {
                self.writer.emit_row(&rows, index)?;
            }
            self.writer.write(view)?;
            before = tick;
        }
    }

    /// Returns the group's events, or the reason why they cannot be read.
    fn events_of(&self, group: &Group) -> (Option<Events>, Option<DecodeError>) {
        let Some(kinds) = self.kinds.as_ref().filter(|_| !group.events.is_empty()) else {
            return (None, None);
        };
        let ticks = [group.first, group.last];
        match Events::read(kinds.codec(), self.limits, ticks, &group.events) {
            Ok(events) => (Some(events), None),
            Err(error) => (None, Some(error)),
        }
    }

    /// Ends the new file.
    pub(crate) fn finish(self) -> Result<ReplaySummary, ReplayError> {
        let summary = self.writer.finish()?;
        if summary.frames == 0 { Err(ReplayError::NothingToCut) } else { Ok(summary) }
    }
}
