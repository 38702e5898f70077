//! The recorded frames: each as it is sent, and the last ones to compare a receiver's picture with.

use std::collections::VecDeque;
use std::sync::Arc;

use kinepack::{EncodeError, EntityId, Schema, Snapshot, Tick};
use kinepack_capture::Columns;

use crate::steps::Steps;

/// Frames that are kept: longer than any playout delay and round trip at 60 Hz.
const KEPT: usize = 240;

/// A recorded frame.
#[derive(Debug)]
pub(super) struct Moment {
    /// In the steps in which it is sent.
    pub(super) snapshot: Snapshot,
    /// Raw words and lanes in the stream's own steps, entity by entity.
    words: Vec<u64>,
    lanes: Vec<u32>,
}

impl Moment {
    /// The next frame after `last`; the first has tick 1.
    pub(super) fn next(
        last: Option<&Self>,
        schema: &Schema,
        steps: &mut Steps,
        ids: &[EntityId],
        columns: Columns<'_>,
    ) -> Result<Self, EncodeError> {
        let count = schema.lanes().len();
        let mut snapshot =
            Snapshot::new(&steps.schema, Tick(last.map_or(1, |last| last.snapshot.tick.0 + 1)));
        let mut sent = vec![0; steps.schema.lanes().len()];
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
                // Most entities did not change.
                Some(last) => {
                    raw.copy_from_slice(&last.words[row.clone()]);
                    lanes.copy_from_slice(&last.lanes[row]);
                }
                None => columns.entity(index, schema, raw, lanes)?,
            }
            steps.quantize(schema, raw, lanes, &mut sent)?;
            snapshot.push_lanes(*id, &sent)?;
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

    /// The raw words of an entity in the frames before and after `frame`, which has a fraction.
    /// `None` if they are not known. `guess` is the entity's probable index.
    pub(super) fn around(&self, frame: f64, id: EntityId, guess: usize) -> Option<[&[u64]; 2]> {
        let of = |frame: f64| {
            let first = self.moments.front()?.snapshot.tick.0;
            let moment = self.moments.get((frame as u32).checked_sub(first)? as usize)?;
            let ids = moment.snapshot.ids();
            let at = match ids.get(guess) {
                Some(there) if *there == id => guess,
                _ => ids.binary_search(&id).ok()?,
            };
            let count = moment.words.len() / ids.len();
            moment.words.get(at * count..(at + 1) * count)
        };
        let before = of(frame.floor())?;
        Some([before, of(frame.ceil()).unwrap_or(before)])
    }
}
