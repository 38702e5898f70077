//! The recorded frames. Each frame is sent, and the most recent frames are kept for comparison with
//! the receiver's picture.

use std::collections::VecDeque;
use std::sync::Arc;

use kinepack::{EncodeError, EntityId, Snapshot, Tick};
use kinepack_capture::Columns;

use crate::captured::Stream;
use crate::steps::Steps;

/// The number of kept frames. At 60 Hz, this is longer than any playout delay plus round trip.
const KEPT: usize = 240;

/// A recorded frame.
#[derive(Debug)]
pub(super) struct Moment {
    /// The frame, quantized with the steps in which it is sent.
    pub(super) snapshot: Snapshot,
    kinds: Vec<KindWords>,
}

/// The entities of one kind, in the stream's own quantization steps, entity by entity.
#[derive(Debug)]
struct KindWords {
    words: Vec<u64>,
    lanes: Vec<u32>,
}

impl Moment {
    /// Returns the next frame after `last`. The sender sends this frame with the tick `tick`.
    pub(super) fn next(
        tick: Tick,
        last: Option<&Self>,
        stream: &Stream,
        steps: &mut Steps,
        ids: &[&[EntityId]],
        columns: Columns<'_>,
    ) -> Result<Self, Refusal> {
        let mut snapshot = Snapshot::new(&steps.schema, tick);
        let mut kinds = Vec::new();
        for (kind, (ids, schema)) in ids.iter().zip(&stream.of_kinds).enumerate() {
            let columns = columns.of_lanes(stream.schema.kinds()[kind].lanes());
            let last = last.map(|last| &last.kinds[kind]);
            let count = schema.lanes().len();
            let mut sent = vec![0; steps.of_kinds[kind].lanes().len()];
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
                    // In most cases the entity did not change.
                    Some(last) => {
                        raw.copy_from_slice(&last.words[row.clone()]);
                        lanes.copy_from_slice(&last.lanes[row]);
                    }
                    None => {
                        columns
                            .entity(index, schema, raw, lanes)
                            .map_err(|error| Refusal::new((kind, *id), raw, error))?;
                    }
                }
                steps
                    .quantize((kind, schema), raw, lanes, &mut sent)
                    .and_then(|()| snapshot.push_lanes_of(kind, *id, &sent))
                    .map_err(|error| Refusal::new((kind, *id), raw, error))?;
            }
            kinds.push(KindWords { words, lanes });
        }
        Ok(Self { snapshot, kinds })
    }
}

/// An entity that the schema cannot hold, with its kind, id and raw words, and the reason.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) entity: (usize, EntityId),
    pub(super) raw: Vec<u64>,
    pub(super) error: EncodeError,
}

impl Refusal {
    fn new(entity: (usize, EntityId), raw: &[u64], error: EncodeError) -> Self {
        Self { entity, raw: raw.to_vec(), error }
    }
}

/// The most recent frames of a stream.
#[derive(Default)]
pub(super) struct Truth {
    moments: VecDeque<Arc<Moment>>,
}

impl Truth {
    /// Adds the next frame.
    pub(super) fn push(&mut self, moment: Arc<Moment>) {
        if self.moments.len() == KEPT {
            self.moments.pop_front();
        }
        self.moments.push_back(moment);
    }

    /// Returns the raw words of an entity of a kind in the frames before and after `tick`. Also
    /// returns the position of `tick`, which has a fraction, between the two frames. Returns `None`
    /// if the words are not known.
    pub(super) fn around(
        &self,
        tick: f64,
        (kind, id): (usize, EntityId),
        guess: usize,
    ) -> Option<([&[u64]; 2], f64)> {
        let ticks = |moment: &Moment| f64::from(moment.snapshot.tick.0);
        let after = self.moments.partition_point(|moment| ticks(moment) <= tick);
        let before = self.moments.get(after.checked_sub(1)?)?;
        let words = |moment: &Moment| {
            let ids = &moment.snapshot.ids()[moment.snapshot.of_kind(kind)];
            let at = match ids.get(guess) {
                Some(there) if *there == id => guess,
                _ => ids.binary_search(&id).ok()?,
            };
            let count = moment.kinds[kind].words.len() / ids.len();
            Some(at * count..(at + 1) * count)
        };
        let start = &before.kinds[kind].words[words(before)?];
        let next = self.moments.get(after).filter(|_| ticks(before) < tick);
        let Some((next, end)) = next.and_then(|next| Some((next, words(next)?))) else {
            return Some(([start, start], 0.0));
        };
        let ratio = (tick - ticks(before)) / (ticks(next) - ticks(before));
        Some(([start, &next.kinds[kind].words[end]], ratio))
    }
}
