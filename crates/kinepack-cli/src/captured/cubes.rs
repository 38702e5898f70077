//! Reads challenge files as a stream.

use cube_data::cube::{self, Cube, Quantized};
use cube_data::{Challenge, Frame};
use kinepack::{EntityId, Pack, Schema, Snapshot, Tick};
use kinepack_capture::{Columns, kinds};

use super::{CapturedError, CapturedFrame, Stream};

/// A challenge file.
pub(super) struct Cubes {
    pub(super) challenge: Challenge,
    schema: Schema,
    next_tick: u32,
    ids: Vec<EntityId>,
    columns: Vec<Vec<u64>>,
}

impl Cubes {
    /// Opens the challenge file as a stream.
    pub(super) fn new(challenge: Challenge) -> (Self, Stream) {
        let schema = cube::schema(Quantized::Everything);
        let stream = Stream {
            name: "cubes".to_owned(),
            of_kinds: kinds::schemas(&schema),
            schema: schema.clone(),
            rate_hz: f64::from(challenge.rate_hz()),
            frames: challenge.frames().map(u64::from),
        };
        let columns = vec![Vec::new(); Cube::LANES];
        (Self { challenge, schema, next_tick: 0, ids: Vec::new(), columns }, stream)
    }

    pub(super) fn next_frame(&mut self) -> Result<Option<CapturedFrame<'_>>, CapturedError> {
        let is_exact = !self.challenge.is_quantized();
        let Some(frame) = self.challenge.next_frame()? else { return Ok(None) };
        let tick = Tick(self.next_tick);
        self.next_tick += 1;
        self.ids.clear();
        self.columns.iter_mut().for_each(Vec::clear);
        let mut bad = None;
        match frame {
            Frame::Quantized(frame) => {
                let mut snapshot = Snapshot::new(&self.schema, tick);
                frame.push_into(&mut snapshot)?;
                self.ids.extend_from_slice(snapshot.ids());
                for (lane, column) in self.columns.iter_mut().enumerate() {
                    column.extend(snapshot.lane(lane).iter().map(|value| u64::from(*value)));
                }
            }
            Frame::Floats(frame) => {
                for (object, state) in (0..).zip(frame.states()) {
                    let mut raw = [0; Cube::LANES];
                    let stored = Cube::from(state).store_raw(&mut raw);
                    if let Err(error) = stored {
                        bad = Some((object, error));
                        break;
                    }
                    self.ids.push(EntityId(object));
                    self.columns.iter_mut().zip(raw).for_each(|(column, word)| column.push(word));
                }
            }
        }
        if let Some((object, error)) = bad {
            return Err(self.challenge.bad_value(object, error.to_string()).into());
        }
        let columns =
            if is_exact { Columns::Raw(&self.columns) } else { Columns::Lanes(&self.columns) };
        Ok(Some(CapturedFrame { stream: 0, tick, ids: vec![&self.ids], columns }))
    }
}
