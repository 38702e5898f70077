//! What was recorded: frame by frame as it is sent, and of late, as what a receiver's picture is
//! compared with.

use std::collections::VecDeque;
use std::sync::Arc;

use kinepack::{EncodeError, EntityId, Schema, Snapshot, Tick};
use kinepack_capture::analysis::Columns;

/// Frames that are kept: longer than any playout delay and round trip at 60 Hz.
const KEPT: usize = 240;

/// A recorded frame.
#[derive(Debug)]
pub(super) struct Moment {
    /// As it is sent.
    pub(super) snapshot: Snapshot,
    /// Raw words, entity by entity.
    words: Vec<u64>,
    lanes: Vec<u32>,
}

impl Moment {
    /// The next frame after `last`; the first has tick 1.
    pub(super) fn next(
        last: Option<&Self>,
        schema: &Schema,
        ids: &[EntityId],
        columns: Columns<'_>,
    ) -> Result<Self, EncodeError> {
        let count = schema.lanes().len();
        let mut snapshot =
            Snapshot::new(schema, Tick(last.map_or(1, |last| last.snapshot.tick.0 + 1)));
        let (mut words, mut lanes) = (vec![0; ids.len() * count], vec![0; ids.len() * count]);
        for (index, id) in ids.iter().enumerate() {
            let row = index * count..(index + 1) * count;
            let (raw, lanes) = (&mut words[row.clone()], &mut lanes[row.clone()]);
            let same = last.filter(|last| match columns {
                Columns::Raw(columns) => {
                    let known = last.words.get(row.clone());
                    known.is_some_and(|known| {
                        known.iter().zip(columns).all(|(word, column)| *word == column[index])
                    })
                }
                Columns::Lanes(_) => false,
            });
            match same {
                // Most are what they were.
                Some(last) => {
                    raw.copy_from_slice(&last.words[row.clone()]);
                    lanes.copy_from_slice(&last.lanes[row]);
                }
                None => columns.entity(index, schema, raw, lanes)?,
            }
            snapshot.push_lanes(*id, lanes)?;
        }
        Ok(Self { snapshot, words, lanes })
    }
}

/// The last frames of a stream.
#[derive(Default)]
pub(super) struct Truth {
    moments: VecDeque<Arc<Moment>>,
}

impl Truth {
    /// Takes in the next frame.
    pub(super) fn push(&mut self, moment: Arc<Moment>) {
        if self.moments.len() == KEPT {
            self.moments.pop_front();
        }
        self.moments.push_back(moment);
    }

    /// The raw words of an entity before and after a moment, a frame with its fraction; `None`
    /// where they are not known.
    pub(super) fn around(&self, frame: f64, id: EntityId, guess: usize) -> Option<[&[u64]; 2]> {
        let of = |frame: f64| {
            let first = self.moments.front()?.snapshot.tick.0;
            let moment = self.moments.get((frame as u32).checked_sub(first)? as usize)?;
            let ids = moment.snapshot.ids();
            let at = match ids.get(guess) {
                Some(there) if *there == id => guess,
                _ => ids.binary_search(&id).ok()?,
            };
            let lanes = moment.snapshot.lane_count();
            moment.words.get(at * lanes..(at + 1) * lanes)
        };
        let before = of(frame.floor())?;
        Some([before, of(frame.ceil()).unwrap_or(before)])
    }
}
