//! Reads capture files frame by frame.

use std::fmt;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use kinepack::{EntityId, Snapshot, Tick};
use mcap::MAGIC;
use mcap::records::{Record, op};

use super::columns::{self, Table};
use super::source::{self, Broken, Source};
use super::stream::{Stream, Streams};
use crate::Columns;
use crate::limits::{TooManyValues, ValueCount};
use crate::{CaptureError, CaptureLimits};

/// A capture file that is read frame by frame. It keeps one chunk in memory, at most 64 MB.
///
/// A file that is damaged, or cut off by a crash, is read up to that place, and
/// [`damage`](Self::damage) reports it. A file that holds more values than [`CaptureLimits`] allow
/// for its size is refused at the first frame above the limit.
///
/// ```
/// use std::io::Cursor;
/// use kinepack_capture::{Capture, Recorder};
///
/// // A file without frames. [`CaptureFrame::components`] shows how frames are read.
/// let path = std::env::temp_dir().join(format!("empty-{}.mcap", std::process::id()));
/// Recorder::create(&path)?.finish()?;
/// let mut capture = Capture::open(&path)?;
/// assert!(capture.next_frame()?.is_none() && capture.damage().is_none());
///
/// // One that was cut off is read up to that place.
/// let bytes = std::fs::read(&path)?;
/// let mut cut = Capture::from_reader("cut.mcap", Cursor::new(bytes[..20].to_vec()))?;
/// assert!(cut.next_frame()?.is_none() && cut.damage().is_some());
/// # std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Capture {
    path: PathBuf,
    source: Source,
    streams: Streams,
    /// The tick of the last frame of each stream.
    last_ticks: Vec<Option<Tick>>,
    table: Table,
    damage: Option<Damage>,
    has_ended: bool,
    values: ValueCount,
}

/// The place where a file stops being readable, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The byte in the file where the damaged record begins. For damage within a chunk it is the
    /// chunk's byte.
    pub at_byte: u64,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "damaged at byte {}: {}", self.at_byte, self.reason)
    }
}

/// One frame of a [`Capture`]: a stream's entities at one tick.
#[derive(Clone, Copy, Debug)]
pub struct CaptureFrame<'a> {
    path: &'a Path,
    stream: &'a Stream,
    tick: Tick,
    table: &'a Table,
}

impl Capture {
    /// The first bytes of a capture file, which is MCAP.
    pub const MAGIC: &'static [u8] = MAGIC;

    /// Opens a file.
    ///
    /// # Errors
    /// [`CaptureError::Io`] for a file that cannot be read, [`CaptureError::NotMcap`] for one of
    /// another format.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, CaptureError> {
        let path = path.into();
        match File::open(&path) {
            Ok(file) => Self::from_reader(path, file),
            Err(source) => Err(CaptureError::Io { path, source }),
        }
    }

    /// Reads a capture from any reader; `name` is for messages. It reads 64 kB at a time, so the
    /// reader does not have to buffer.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn from_reader(
        name: impl Into<PathBuf>,
        mut reader: impl Read + 'static,
    ) -> Result<Self, CaptureError> {
        let path = name.into();
        let mut magic = Vec::new();
        match reader.by_ref().take(MAGIC.len() as u64).read_to_end(&mut magic) {
            Ok(_) if magic == MAGIC => {
                Ok(Self::with_source(path, Cursor::new(magic).chain(reader), 0))
            }
            Ok(_) => Err(CaptureError::NotMcap { path }),
            Err(source) => Err(CaptureError::Io { path, source }),
        }
    }

    fn with_source(path: PathBuf, reader: impl Read + 'static, at_byte: u64) -> Self {
        Self {
            path,
            source: Source::new(Box::new(reader), at_byte),
            streams: Streams::default(),
            last_ticks: Vec::new(),
            table: Table::default(),
            damage: None,
            has_ended: false,
            values: ValueCount::default(),
        }
    }

    /// The same capture with other limits than [`CaptureLimits::default`].
    pub fn with_limits(mut self, limits: CaptureLimits) -> Self {
        self.values.limits = limits;
        self
    }

    /// The streams of a file. They come from the summary at its end, in microseconds; without a
    /// summary the whole file is read.
    ///
    /// # Errors
    /// As [`open`](Self::open) and [`next_frame`](Self::next_frame).
    pub fn streams_of(path: impl Into<PathBuf>) -> Result<Vec<Stream>, CaptureError> {
        Self::streams_with_limits(path, CaptureLimits::default())
    }

    /// The same with other limits.
    ///
    /// # Errors
    /// As [`streams_of`](Self::streams_of).
    pub fn streams_with_limits(
        path: impl Into<PathBuf>,
        limits: CaptureLimits,
    ) -> Result<Vec<Stream>, CaptureError> {
        let path = path.into();
        let mut capture = Self::open(path.clone())?.with_limits(limits);
        let at_byte =
            File::open(&path).and_then(|file| summary_byte(file).map(|(file, byte)| (byte, file)));
        if let Ok((Some(byte), file)) = at_byte {
            let mut summary = Self::with_source(path, file, byte).with_limits(limits);
            // A summary without channels is allowed, but does not list the streams.
            if summary.skip_all().is_ok()
                && summary.damage.is_none()
                && !summary.streams.list.is_empty()
            {
                return Ok(summary.streams.list);
            }
        }
        capture.skip_all()?;
        Ok(capture.streams.list)
    }

    fn skip_all(&mut self) -> Result<(), CaptureError> {
        while self.advance()?.is_some() {}
        Ok(())
    }

    /// The streams found until now: those that had a frame, or were declared before such a frame.
    /// Their order never changes.
    pub fn streams(&self) -> &[Stream] {
        &self.streams.list
    }

    /// Why the frames ended before the file's end. `None` before that.
    pub fn damage(&self) -> Option<&Damage> {
        self.damage.as_ref()
    }

    /// The next frame and the index of its stream. `None` at the end of the file, or if it is
    /// [damaged](Self::damage). Checks checksums and ignores channels of other programs.
    ///
    /// # Errors
    /// [`CaptureError::Io`] if the file cannot be read, [`CaptureError::TooManyValues`] if it holds
    /// more values than the limits allow. After either there is no further frame.
    pub fn next_frame(&mut self) -> Result<Option<(usize, CaptureFrame<'_>)>, CaptureError> {
        let Some((index, tick)) = self.advance()? else { return Ok(None) };
        let frame = CaptureFrame {
            path: &self.path,
            stream: &self.streams.list[index],
            tick,
            table: &self.table,
        };
        Ok(Some((index, frame)))
    }

    fn advance(&mut self) -> Result<Option<(usize, Tick)>, CaptureError> {
        if self.has_ended {
            return Ok(None);
        }
        loop {
            match self.step() {
                Ok(Step::Frame(index, tick)) => return Ok(Some((index, tick))),
                Ok(Step::Other) => {}
                Ok(Step::End) => break,
                Err(Broken::Io(source)) => {
                    self.has_ended = true;
                    return Err(CaptureError::Io { path: self.path.clone(), source });
                }
                Err(Broken::TooMany(TooManyValues { values, limit })) => {
                    self.has_ended = true;
                    return Err(CaptureError::TooManyValues {
                        path: self.path.clone(),
                        values,
                        limit,
                    });
                }
                Err(Broken::Damaged(reason)) => {
                    self.damage = Some(Damage { at_byte: self.source.at_byte(), reason });
                    break;
                }
            }
        }
        self.has_ended = true;
        Ok(None)
    }

    fn step(&mut self) -> Result<Step, Broken> {
        let Some(opcode) = self.source.advance()? else { return Ok(Step::End) };
        if !matches!(opcode, op::SCHEMA | op::CHANNEL | op::MESSAGE | op::STATISTICS) {
            return Ok(Step::Other);
        }
        match source::parse(opcode, self.source.data())? {
            Record::Schema { header, data } => {
                self.streams.add_schema(header.id, header.name, &header.encoding, &data)?;
            }
            Record::Channel(channel) => self.streams.add_channel(channel)?,
            Record::Statistics(statistics) => {
                self.streams.count(&statistics.channel_message_counts);
            }
            Record::Message { header, data } => {
                let Some(index) = self.streams.of_channel(header.channel_id)? else {
                    return Ok(Step::Other);
                };
                let (stream, tick) = (&self.streams.list[index], Tick(header.sequence));
                let broken = |reason: String| {
                    format!("stream {:?}, tick {}: {reason}", stream.name(), tick.0)
                };
                self.last_ticks.resize(self.streams.list.len(), None);
                if let Some(last) = self.last_ticks[index].filter(|last| *last >= tick) {
                    return Err(broken(format!("it comes after tick {}", last.0)).into());
                }
                let maxima = (!stream.is_raw()).then_some(&stream.maxima[..]);
                columns::read(&data, &stream.lanes, maxima, &mut self.table)
                    .and_then(|()| match maxima {
                        Some(_) => columns::check_absent(stream.schema(), &self.table),
                        None => Ok(()),
                    })
                    .map_err(|error| broken(error.to_string()))?;
                let entities = (0..).map(|kind| self.table.of_kind(kind).len());
                let kinds = entities.zip(stream.lanes.iter().copied());
                self.values.add_kinds(kinds, self.source.next_byte())?;
                self.last_ticks[index] = Some(tick);
                return Ok(Step::Frame(index, tick));
            }
            _ => {}
        }
        Ok(Step::Other)
    }
}

enum Step {
    Frame(usize, Tick),
    Other,
    End,
}

/// The byte where a file's summary begins. The file's position is then there.
fn summary_byte(mut file: File) -> io::Result<(File, Option<u64>)> {
    // The footer and the magic: its opcode and length, the positions of summary and offsets, a
    // checksum.
    const FOOTER: usize = 9 + 20;
    let end = file.seek(SeekFrom::End(-((FOOTER + MAGIC.len()) as i64)))?;
    let mut footer = [0; FOOTER];
    file.read_exact(&mut footer)?;
    let begin = u64::from_le_bytes(std::array::from_fn(|index| footer[9 + index]));
    if footer[0] != op::FOOTER || begin == 0 || begin > end {
        return Ok((file, None));
    }
    file.seek(SeekFrom::Start(begin))?;
    Ok((file, Some(begin)))
}

impl<'a> CaptureFrame<'a> {
    /// The frame's stream.
    pub fn stream(&self) -> &'a Stream {
        self.stream
    }

    /// The frame's tick. A stream's ticks increase.
    pub fn tick(&self) -> Tick {
        self.tick
    }

    /// The entities' ids, at most 65,536. They increase; in a schema of several kinds, those of one
    /// kind after another do.
    pub fn ids(&self) -> &'a [EntityId] {
        &self.table.ids
    }

    /// The indices of the entities of a kind among [`ids`](Self::ids). Empty if there is no such
    /// kind.
    pub fn of_kind(&self, kind: usize) -> Range<usize> {
        self.table.of_kind(kind)
    }

    /// The ids of the entities of a kind, increasing.
    pub fn ids_of(&self, kind: usize) -> &'a [EntityId] {
        &self.table.ids[self.of_kind(kind)]
    }

    /// The words of the entities: one column for each lane of the schema, with a word for each
    /// entity of the lane's kind, in the order of [`ids`](Self::ids). They are raw words or lanes,
    /// depending on the stream's encoding. For numbers, see [`components`](Self::components).
    pub fn columns(&self) -> &'a [Vec<u64>] {
        &self.table.columns
    }

    /// The [`columns`](Self::columns) with what they are: raw words or lanes.
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

    /// The entities with their numbers: one for each name in
    /// [`Stream::component_names`](Stream::component_names), or for each of the entity's kind if
    /// there are several. In a stream of raw words they are the
    /// recorded numbers, which are not quantized; in a stream of lanes they are reconstructed.
    /// [`components`](crate::components) lists the numbers of each kind of field. Allocates a row
    /// for each entity.
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
        (0..self.stream.lanes.len()).flat_map(move |kind| {
            let (schema, columns) = (frame.stream.schema_of(kind), frame.values_of(kind));
            let ids = frame.ids_of(kind).iter().enumerate();
            ids.map(move |(row, id)| (*id, columns.components(row, schema)))
        })
    }

    /// Appends the entities to a snapshot of the stream's schema, whose [`iter`](Snapshot::iter)
    /// gives them back as values of the type. Raw words are quantized, and a value outside of its
    /// limits takes the nearest end. Returns the number of entities with such a value. Allocates a
    /// row of words for each kind.
    ///
    /// # Errors
    /// [`CaptureError::BadState`] for a NaN, a rotation of length 0, a snapshot of another schema,
    /// or one that already has entities with the same or higher ids. The snapshot then has the
    /// entities before the refused one.
    pub fn push_into(&self, snapshot: &mut Snapshot) -> Result<usize, CaptureError> {
        let mut clamped = 0;
        for kind in 0..self.stream.lanes.len() {
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
                    let is_within = schema
                        .quantize_raw(&words, &mut row)
                        .map_err(|error| bad(error.to_string()))?;
                    clamped += usize::from(!is_within);
                }
                // The reader checked that the lanes are possible.
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
