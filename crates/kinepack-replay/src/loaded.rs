//! Holds a group in memory, decoded as far as needed.

use std::collections::VecDeque;
use std::sync::Arc;

use kinepack::group::{FrameHeaders, GroupReader};
use kinepack::{Codec, DecodeLimits, Snapshot, Tick, View};
use kinepack_net::EventKinds;

use crate::ReplayError;
use crate::events::Events;
use crate::limits::{MOST_FRAMES, MOST_GROUP_BYTES};
use crate::options::ReplayLimits;

/// A loaded group, whose frames can be read in any order.
///
/// Decoded frames stay in memory, up to a limit, so a step back usually costs nothing. A step back
/// to a frame that did not fit into this limit decodes the group again from its beginning.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// The index of the group in the file.
    pub(crate) place: usize,
    bytes: Vec<u8>,
    /// The tick of each valid frame, and the byte at which the frame ends.
    headers: Vec<(Tick, usize)>,
    /// Whether later headers were removed, because their frames cannot be decoded.
    ends_early: bool,
    reader: GroupReader,
    /// The view that the group's first frame is coded against.
    given: Option<View>,
    /// The index of the first kept frame, and the decoded frames that are kept from there on.
    kept_from: usize,
    frames: VecDeque<Arc<Snapshot>>,
    pub(crate) events: Option<Events>,
    event_bytes: Vec<u8>,
    most_bytes: usize,
}

impl Loaded {
    /// Makes a `Loaded` that holds no group yet. The memory is reused for each group that is loaded
    /// later.
    pub(crate) fn new(codec: &Codec, limits: &ReplayLimits) -> Self {
        Self {
            place: usize::MAX,
            bytes: Vec::new(),
            headers: Vec::new(),
            ends_early: false,
            reader: GroupReader::with_limits(codec, limits.decode),
            given: None,
            kept_from: 0,
            frames: VecDeque::new(),
            events: None,
            event_bytes: Vec::new(),
            most_bytes: limits.frame_bytes,
        }
    }

    /// Drops the group.
    pub(crate) fn clear(&mut self) {
        self.place = usize::MAX;
        self.bytes.clear();
        self.headers.clear();
        self.ends_early = false;
        self.given = None;
        self.events = None;
        self.event_bytes.clear();
        self.rewind();
    }

    /// Loads the bytes of a group, and the view that its first frame is coded against. If the
    /// group's frames end early, the reason is returned.
    pub(crate) fn load(
        &mut self,
        place: usize,
        first: Tick,
        given: Option<View>,
        bytes: &[u8],
    ) -> Option<String> {
        self.clear();
        self.place = place;
        self.given = given;
        self.rewind();
        if bytes.len() > MOST_GROUP_BYTES {
            return Some(format!("a group of {} bytes, above {MOST_GROUP_BYTES}", bytes.len()));
        }
        let given = self.given.as_ref().map(|view| view.tick);
        self.bytes.extend_from_slice(bytes);
        let mut broken = None;
        for (nth, header) in FrameHeaders::new(bytes, given).enumerate() {
            let before = self.headers.last().map(|(tick, _)| *tick);
            match header {
                Ok((tick, _)) if nth == 0 && tick != first => {
                    broken = Some(format!("the first tick is {}, not {}", tick.0, first.0));
                }
                Ok((tick, _)) if before.is_some_and(|before| before >= tick) => {
                    broken = Some(format!("tick {} is not in order", tick.0));
                }
                Ok(_) if nth == MOST_FRAMES => {
                    broken = Some(format!("it has more than {MOST_FRAMES} frames"));
                }
                Ok(header) => self.headers.push(header),
                Err(error) => broken = Some(format!("frame {nth}: {error}")),
            }
            if broken.is_some() {
                break;
            }
        }
        broken
    }

    /// Loads the group's events.
    pub(crate) fn load_events(
        &mut self,
        codec: &Codec,
        limits: DecodeLimits,
        bytes: Option<&[u8]>,
    ) -> Result<(), String> {
        let ticks = self.headers.first().zip(self.headers.last());
        let Some((first, last)) = ticks.map(|(first, last)| (first.0, last.0)) else {
            return Ok(());
        };
        if let Some(bytes) = bytes {
            let read = Events::read(codec, limits, [first, last], bytes);
            self.events = Some(read.map_err(|error| format!("the events: {error}"))?);
            self.event_bytes.extend_from_slice(bytes);
        }
        Ok(())
    }

    /// Returns the bytes of the group's events up to the last valid frame. Returns no bytes if the
    /// events are not valid.
    pub(crate) fn event_bytes(&self, kinds: &EventKinds) -> Result<Vec<u8>, ReplayError> {
        let ticks = self.headers.first().zip(self.headers.last());
        match (&self.events, ticks) {
            (Some(events), Some(((first, _), (last, _)))) if self.ends_early => {
                events.encode_until(kinds, [*first, *last])
            }
            _ => Ok(self.event_bytes.clone()),
        }
    }

    /// The view that the group's first frame is coded against.
    pub(crate) fn given_view(&self) -> Option<View> {
        self.given.clone()
    }

    /// The tick of the view that the group's first frame is coded against.
    pub(crate) fn given(&self) -> Option<Tick> {
        self.given.as_ref().map(|view| view.tick)
    }

    /// The number of valid frames.
    pub(crate) fn len(&self) -> usize {
        self.headers.len()
    }

    /// The tick of the frame at index `frame`.
    pub(crate) fn tick(&self, frame: usize) -> Option<Tick> {
        self.headers.get(frame).map(|(tick, _)| *tick)
    }

    /// The number of frames that are not after a moment.
    pub(crate) fn frames_until(&self, moment: f64) -> usize {
        self.headers.partition_point(|(tick, _)| f64::from(tick.0) <= moment)
    }

    /// The bytes of the frames before `frame`.
    pub(crate) fn bytes_before(&self, frame: usize) -> &[u8] {
        let end = frame
            .checked_sub(1)
            .and_then(|last| self.headers.get(last))
            .map_or(0, |header| header.1);
        &self.bytes[..end]
    }

    fn rewind(&mut self) {
        self.frames.clear();
        self.kept_from = 0;
        self.reader.begin(self.given.clone());
    }

    /// Decodes the frame at index `frame`. If that frame cannot be decoded, the group ends before
    /// it, and the reason is returned.
    pub(crate) fn frame(&mut self, frame: usize) -> Result<Option<Arc<Snapshot>>, String> {
        if frame >= self.len() {
            return Ok(None);
        }
        if frame < self.kept_from {
            self.rewind();
        }
        while self.kept_from + self.frames.len() <= frame {
            let next = self.kept_from + self.frames.len();
            let begin = self.bytes_before(next).len();
            let mut bytes = &self.bytes[begin..self.headers[next].1];
            match self.reader.read(&mut bytes) {
                Ok(Some(view)) => self.frames.push_back(Arc::clone(view.snapshot())),
                read => {
                    self.headers.truncate(next);
                    self.ends_early = true;
                    let reason = read.err().map_or("it is empty".to_owned(), |e| e.to_string());
                    return Err(format!("frame {next}: {reason}"));
                }
            }
            let frame_bytes = self.frames.back().map_or(0, |frame| frame.memory_bytes());
            if self.frames.len() > 1 && self.frames.len() * frame_bytes > self.most_bytes {
                self.frames.pop_front();
                self.kept_from += 1;
            }
        }
        Ok(self.frames.get(frame - self.kept_from).cloned())
    }
}
