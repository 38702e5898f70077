//! One frame of a capture file.

use std::ops::Range;
use std::path::Path;

use kinepack::{EntityId, Snapshot, Tick};

use super::columns::Table;
use super::stream::Stream;
use crate::kinds::refusal;
use crate::{CaptureError, Columns};

/// One frame of a [`Capture`](super::Capture): the entities of a stream at one tick.
#[derive(Clone, Copy, Debug)]
pub struct CaptureFrame<'a> {
    pub(super) path: &'a Path,
    pub(super) stream: &'a Stream,
    pub(super) tick: Tick,
    pub(super) table: &'a Table,
}

impl<'a> CaptureFrame<'a> {
    /// The frame's stream.
    pub fn stream(&self) -> &'a Stream {
        self.stream
    }

    /// The frame's tick, which is above that of the stream's previous frame.
    pub fn tick(&self) -> Tick {
        self.tick
    }

    /// The ids of the entities, at most 65,536. The ids increase. If the schema has several kinds,
    /// the ids of each kind increase, one kind after another.
    pub fn ids(&self) -> &'a [EntityId] {
        &self.table.ids
    }

    /// The indices of the entities of a kind among [`ids`](Self::ids). The range is empty if there
    /// is no such kind.
    pub fn of_kind(&self, kind: usize) -> Range<usize> {
        self.table.of_kind(kind)
    }

    /// The ids of the entities of a kind, increasing.
    pub fn ids_of(&self, kind: usize) -> &'a [EntityId] {
        &self.table.ids[self.of_kind(kind)]
    }

    /// The words of the entities, in one column for each lane of the schema. A column has a word
    /// for each entity of the lane's kind, in the order of [`ids`](Self::ids). The words are raw
    /// words or lanes, depending on the stream's encoding. To get numbers instead of words, see
    /// [`components`](Self::components).
    pub fn columns(&self) -> &'a [Vec<u64>] {
        &self.table.columns
    }

    /// The [`columns`](Self::columns), marked as either raw words or lanes.
    pub fn values(&self) -> Columns<'a> {
        let columns = self.columns();
        if self.stream.is_raw() { Columns::Raw(columns) } else { Columns::Lanes(columns) }
    }

    /// The [`values`](Self::values) of the entities of one kind.
    ///
    /// # Panics
    /// If the schema has no kind with this index.
    pub fn values_of(&self, kind: usize) -> Columns<'a> {
        self.values().of_lanes(self.stream.schema().kinds()[kind].lanes())
    }

    /// Iterates over the entities with their numbers, one for each name in
    /// [`Stream::component_names`](Stream::component_names). If the schema has several kinds, an
    /// entity has only the numbers of its own kind. A stream of raw words gives the recorded
    /// numbers, which are not quantized; a stream of lanes gives reconstructed numbers.
    /// [`components`](crate::components) documents the numbers of each kind of field. The iterator
    /// allocates a row for each entity.
    ///
    /// ```
    /// use kinepack::{EntityId, Pack, Tick};
    /// use kinepack_capture::{Capture, Recorder};
    ///
    /// #[derive(Pack)]
    /// struct Car {
    ///     #[pack(range = -100.0..=100.0, precision = 0.5)] // metres
    ///     position: [f32; 2],
    /// }
    ///
    /// let path = std::env::temp_dir().join("kinepack-components.mcap");
    /// let mut recorder = Recorder::create(&path)?;
    /// let cars = recorder.stream::<Car>("cars", 60.0)?;
    /// recorder.record(&cars, Tick(0), [(EntityId(3), Car { position: [0.125, -7.0] })])?;
    /// recorder.finish()?;
    ///
    /// let mut capture = Capture::open(&path)?;
    /// while let Some((_, frame)) = capture.next_frame()? {
    ///     assert_eq!(frame.stream().component_names(), ["position.x", "position.y"]);
    ///     let cars: Vec<_> = frame.components().collect();
    ///     assert_eq!(cars, [(EntityId(3), vec![0.125, -7.0])]);
    /// }
    /// # std::fs::remove_file(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn components(&self) -> impl Iterator<Item = (EntityId, Vec<f64>)> + 'a {
        let frame = *self;
        (0..self.stream.declared.lanes.len()).flat_map(move |kind| {
            let (schema, columns) = (frame.stream.schema_of(kind), frame.values_of(kind));
            let ids = frame.ids_of(kind).iter().enumerate();
            ids.map(move |(row, id)| (*id, columns.components(row, schema)))
        })
    }

    /// Appends the entities to a snapshot of the stream's schema, whose [`iter`](Snapshot::iter)
    /// returns them as values of the type. Raw words are quantized, and a value outside of its
    /// limits is clamped to the nearest end. Returns the number of entities with a value outside of
    /// its limits. The call allocates a row of words for each kind.
    ///
    /// # Errors
    /// [`CaptureError::BadState`] for a NaN, a rotation of length 0, or a snapshot of another
    /// schema. Also for a snapshot that already has entities with the same or higher ids. After an
    /// error, the snapshot has the entities before the refused one.
    pub fn push_into(&self, snapshot: &mut Snapshot) -> Result<usize, CaptureError> {
        let mut clamped = 0;
        for kind in 0..self.stream.declared.lanes.len() {
            clamped += self.push_kind_into(kind, snapshot)?;
        }
        Ok(clamped)
    }

    fn push_kind_into(&self, kind: usize, snapshot: &mut Snapshot) -> Result<usize, CaptureError> {
        let (schema, columns) = (self.stream.schema_of(kind), self.values_of(kind));
        let lanes = schema.lanes().len();
        let (mut row, mut words) = (vec![0; lanes], vec![0; lanes]);
        let mut clamped = 0;
        for (index, id) in self.ids_of(kind).iter().enumerate() {
            let bad = |reason: String| CaptureError::BadState {
                path: self.path.to_path_buf(),
                stream: self.stream.name().to_owned(),
                tick: self.tick.0,
                entity: id.0,
                reason,
            };
            if snapshot.schema_hash() != self.stream.schema().hash() {
                return Err(bad("the snapshot is of another schema".into()));
            }
            match columns {
                Columns::Raw(columns) => {
                    words.iter_mut().zip(columns).for_each(|(word, column)| *word = column[index]);
                    let is_within = schema.quantize_raw(&words, &mut row).map_err(|error| {
                        bad(refusal(self.stream.schema(), kind, &words, &error))
                    })?;
                    clamped += usize::from(!is_within);
                }
                // The reader has checked that these lanes are valid.
                Columns::Lanes(columns) => row
                    .iter_mut()
                    .zip(columns)
                    .for_each(|(lane, column)| *lane = column[index] as u32),
            }
            snapshot.push_lanes_of(kind, *id, &row).map_err(|error| bad(error.to_string()))?;
        }
        Ok(clamped)
    }
}
