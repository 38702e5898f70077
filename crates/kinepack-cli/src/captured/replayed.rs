//! Reads replay files as a stream of lanes.

use std::path::Path;

use kinepack::{EntityId, Tick};
use kinepack_capture::{Columns, kinds};
use kinepack_replay::{ReplayDamage, ReplayError, ReplayReader};

use super::{CapturedFrame, Stream};
use crate::kpz::open_replay;

/// A replay that is read frame by frame.
pub(super) struct Replayed {
    replay: ReplayReader,
    last: Option<Tick>,
    ids: Vec<Vec<EntityId>>,
    columns: Vec<Vec<u64>>,
}

impl Replayed {
    /// Opens a file. Returns the reader and its stream.
    pub(super) fn open(path: &Path) -> Result<(Self, Stream), ReplayError> {
        let replay = open_replay(path)?;
        let schema = replay.schema().clone();
        let stream = Stream {
            name: replay.name().to_owned(),
            of_kinds: kinds::schemas(&schema),
            rate_hz: replay.rate_hz(),
            frames: None,
            schema,
        };
        let ids = vec![Vec::new(); stream.of_kinds.len()];
        let columns = vec![Vec::new(); stream.schema.lanes().len()];
        Ok((Self { replay, last: None, ids, columns }, stream))
    }

    pub(super) fn next_frame(&mut self) -> Result<Option<CapturedFrame<'_>>, ReplayError> {
        let frame = match self.last {
            Some(last) => self.replay.frame_after(last)?,
            None => self.replay.first_frame()?,
        };
        let Some(frame) = frame else {
            self.replay.check_end()?;
            return Ok(None);
        };
        self.last = Some(frame.tick);
        for (kind, ids) in self.ids.iter_mut().enumerate() {
            ids.clear();
            ids.extend_from_slice(&frame.ids()[frame.of_kind(kind)]);
        }
        for (lane, column) in self.columns.iter_mut().enumerate() {
            column.clear();
            column.extend(frame.lane(lane).iter().map(|value| u64::from(*value)));
        }
        Ok(Some(CapturedFrame {
            stream: 0,
            tick: frame.tick,
            ids: self.ids.iter().map(Vec::as_slice).collect(),
            columns: Columns::Lanes(&self.columns),
        }))
    }

    pub(super) fn replay(&self) -> &ReplayReader {
        &self.replay
    }

    pub(super) fn damage(&self) -> &[ReplayDamage] {
        self.replay.damage()
    }
}
