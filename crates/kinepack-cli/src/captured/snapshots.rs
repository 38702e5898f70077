//! Reads a stream of a file as snapshots.

use command_kit::{counted, say};
use kinepack::{Schema, Snapshot, Tick};
use kinepack_capture::analysis::frames_per_s;

use super::{Captured, CapturedError, Ending, Pace, Stream, StreamArguments};
use crate::ladder::Parameters;
use crate::steps::{MaxError, Steps};

/// One stream of a file, read as snapshots that are quantized with the capture's steps or with
/// other steps.
pub struct Snapshots {
    captured: Captured,
    index: usize,
    stream: Stream,
    steps: Steps,
    read: u64,
    /// The ticks of the first and the newest frame that were read.
    ticks: Option<(Tick, Tick)>,
    /// The number of entities with a value out of range.
    clamped: u64,
    raw: Vec<u64>,
    lanes: Vec<u32>,
    to: Vec<u32>,
}

impl Snapshots {
    pub fn new(
        captured: Captured,
        stream: &StreamArguments,
        max_error: &[MaxError],
        profiles: &[Parameters],
    ) -> Result<Self, CapturedError> {
        let index = captured.find(stream, max_error, profiles)?;
        let stream = captured.streams()[index].clone();
        let steps = captured.steps(index, max_error)?;
        let count = stream.schema.lanes().len();
        Ok(Self {
            captured,
            index,
            read: 0,
            ticks: None,
            clamped: 0,
            raw: vec![0; count],
            lanes: vec![0; count],
            to: vec![0; steps.schema.lanes().len()],
            steps,
            stream,
        })
    }

    /// The stream as it was captured.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Returns the schema of the snapshots.
    pub fn schema(&self) -> &Schema {
        &self.steps.schema
    }

    pub(crate) fn steps(&self) -> &Steps {
        &self.steps
    }

    /// Returns the next snapshot, with its tick in the file, or `None` at the end.
    pub fn next_snapshot(&mut self) -> Result<Option<Snapshot>, CapturedError> {
        let path = self.captured.path().to_owned();
        while let Some(frame) = self.captured.next_frame()? {
            if frame.stream != self.index {
                continue;
            }
            let mut snapshot = Snapshot::new(&self.steps.schema, frame.tick);
            for (kind, (ids, schema)) in frame.ids.iter().zip(&self.stream.of_kinds).enumerate() {
                let columns = frame.columns.of_lanes(self.stream.schema.kinds()[kind].lanes());
                let lanes = schema.lanes().len();
                let (raw, lanes) = (&mut self.raw[..lanes], &mut self.lanes[..lanes]);
                let to = &mut self.to[..self.steps.of_kinds[kind].lanes().len()];
                for (row, id) in ids.iter().enumerate() {
                    let is_within = columns.entity(row, schema, raw, lanes).map_err(|error| {
                        frame.refused(&path, &self.stream, (kind, *id), raw, &error)
                    })?;
                    self.clamped += u64::from(!is_within);
                    self.steps
                        .quantize((kind, schema), raw, lanes, to)
                        .and_then(|()| snapshot.push_lanes_of(kind, *id, to))
                        .map_err(|error| {
                            frame.refused(&path, &self.stream, (kind, *id), raw, &error)
                        })?;
                }
            }
            self.read += 1;
            self.ticks = Some((self.ticks.map_or(frame.tick, |(first, _)| first), frame.tick));
            return Ok(Some(snapshot));
        }
        Ok(None)
    }

    /// Returns the stream's ticks per second, and the frames per second that were read.
    pub(crate) fn pace(&self) -> Pace {
        let rate_hz = self.stream.rate_hz;
        Pace { rate_hz, frames_per_s: frames_per_s(rate_hz, self.read, self.ticks) }
    }

    /// Describes how the reading ended. Prints on standard error which places could not be read,
    /// and how many values were out of range.
    pub fn end(&self) -> Result<Ending, CapturedError> {
        let ending = self.captured.end(Some(self.index), self.read)?;
        if self.clamped > 0 {
            say(format_args!(
                "{}: {} had a value out of its range, which took the nearest end",
                self.captured.path().display(),
                counted(self.clamped, "state")
            ));
        }
        Ok(ending)
    }
}
