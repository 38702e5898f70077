//! The recorder, which a game calls once per tick, and its writer thread.

mod error;
mod fill;
mod frame;
mod handles;
mod queue;
mod spawn;
mod writer;

use std::borrow::Borrow;
use std::fs::File;
use std::io::{self, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;

pub use error::RecordError;
use fill::{Refusal, fill};
use frame::Kinds;
pub use frame::RecordedFrame;
use handles::Handle;
pub use handles::{RecordSummary, RecordedKinds, RecordedLanes, RecordedStream};
use kinepack::{EncodeError, EntityId, Pack, Schema, Snapshot, Tick};
use queue::{Frame, Job, Queue};
use spawn::SpawnFields;
use writer::{NewStream, Writer, Written};

use crate::file::columns::{MAX_ENTITIES, MAX_WORDS, shared_id};
use crate::file::{LANES, MAX_STREAMS, RAW, schema};

/// Records streams of states into a capture file. A stream has the states of one type, or of
/// [several kinds](Self::stream_of_kinds).
///
/// The calling thread copies numbers into a reused buffer, which takes about a microsecond for 100
/// entities of eight numbers. The call neither allocates nor waits, unless the disk is more than 64
/// frames behind. The recorder's thread compresses and writes chunks of about 1 MB, at least once a
/// second, so a crash loses a second or two. If a recorder is dropped, the file is finished, but
/// errors are hidden; [`finish`](Self::finish) reports them.
///
/// ```
/// use kinepack::{EntityId, Pack, Tick};
/// use kinepack_capture::{Capture, Recorder};
///
/// #[derive(Pack)]
/// struct Ball {
///     #[pack(range = -100.0..=100.0, precision = 0.001)] // metres
///     position: [f32; 3],
/// }
///
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("run.mcap");
/// let mut recorder = Recorder::create(&path)?;
/// let balls = recorder.stream::<Ball>("balls", 60.0)?;
/// for tick in 0..100 {
///     let ball = Ball { position: [0.0, 0.0, tick as f32] };
///     recorder.record(&balls, Tick(tick), [(EntityId(7), ball)])?;
/// }
/// assert_eq!(recorder.finish()?.frames, 100);
///
/// let mut capture = Capture::open(&path)?;
/// let (_, frame) = capture.next_frame()?.expect("the first of 100");
/// assert_eq!((frame.tick(), frame.ids()), (Tick(0), &[EntityId(7)][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Recorder {
    path: PathBuf,
    queue: Arc<Queue>,
    thread: Option<JoinHandle<io::Result<Written>>>,
    streams: Vec<Recording>,
    totals: schema::Totals,
    /// The memory for the next frame.
    words: Vec<u64>,
    /// Scratch memory for finding an id that occurs twice.
    sorted: Vec<EntityId>,
    number: u32,
}

/// A stream that is being recorded.
struct Recording {
    name: String,
    schema_hash: u64,
    /// The number of columns of an entity of each kind, including its id.
    columns: Vec<usize>,
    last_tick: Option<Tick>,
    /// The entities of the next frame, if the game pushes them one by one.
    kinds: Kinds,
    spawn: SpawnFields,
}

impl Recorder {
    /// Creates the file, or empties an existing file, and starts the thread that writes it.
    ///
    /// # Errors
    /// [`RecordError::Create`] if the file cannot be created.
    pub fn create(path: impl Into<PathBuf>) -> Result<Self, RecordError> {
        Self::open(path.into(), |path| File::create(path))
    }

    /// Creates the file like [`create`](Self::create), but never empties an existing file.
    ///
    /// ```
    /// use kinepack_capture::{RecordError, Recorder};
    ///
    /// let path = std::env::temp_dir().join("kinepack-create-new.mcap");
    /// std::fs::write(&path, "a capture of yesterday")?;
    /// assert!(matches!(Recorder::create_new(&path), Err(RecordError::Create { .. })));
    /// assert_eq!(std::fs::read(&path)?, b"a capture of yesterday");
    /// # std::fs::remove_file(path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`RecordError::Create`] if the file cannot be created, or exists already.
    pub fn create_new(path: impl Into<PathBuf>) -> Result<Self, RecordError> {
        Self::open(path.into(), |path| File::create_new(path))
    }

    fn open(
        path: PathBuf,
        open: impl FnOnce(&Path) -> io::Result<File>,
    ) -> Result<Self, RecordError> {
        match open(&path) {
            Ok(file) => Self::to_writer(path, file),
            Err(source) => Err(RecordError::Create { path, source }),
        }
    }

    /// Records to any writer; error messages show `name`. The writer need not buffer: if there is
    /// enough data, at least 64 kB are written at a time.
    ///
    /// # Errors
    /// [`RecordError::Create`] if the thread cannot be started or the file's header cannot be
    /// written.
    pub fn to_writer(
        name: impl Into<PathBuf>,
        out: impl Write + Send + 'static,
    ) -> Result<Self, RecordError> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let path = name.into();
        let queue = Arc::new(Queue::new());
        let thread_queue = Arc::clone(&queue);
        let writer = Writer::new(out);
        let thread = writer.and_then(|writer| {
            std::thread::Builder::new()
                .name("kinepack-recorder".into())
                .spawn(move || writer.run(&thread_queue))
        });
        match thread {
            Ok(thread) => Ok(Self {
                path,
                queue,
                thread: Some(thread),
                streams: Vec::new(),
                totals: schema::Totals::default(),
                words: Vec::new(),
                sorted: Vec::new(),
                number: NUMBER.fetch_add(1, Ordering::Relaxed),
            }),
            Err(source) => Err(RecordError::Create { path, source }),
        }
    }

    /// Begins a stream of states of `T` before quantization, with `rate_hz` (0.001 to 1,000,000)
    /// ticks per second.
    ///
    /// # Errors
    /// [`RecordError::BadStream`] if the name is taken or too long, the rate is out of range, or
    /// there are too many lanes or streams. A stream has at most 4096 lanes, and a file at most 256
    /// streams with 65,536 lanes. [`RecordError::Write`] if the file could not be written before.
    pub fn stream<T: Pack>(
        &mut self,
        name: &str,
        rate_hz: f64,
    ) -> Result<RecordedStream<T>, RecordError> {
        let handle = self.add(name, short_name::<T>(), RAW, &Schema::of::<T>(), rate_hz)?;
        Ok(RecordedStream { handle, state: PhantomData })
    }

    /// Begins a stream of states of several kinds before quantization, which are the kinds of
    /// `schema`. The entities are pushed one by one to a [frame](Self::frame) for each tick.
    ///
    /// ```
    /// use kinepack::{EntityId, Pack, Schema, Tick};
    /// use kinepack_capture::{Capture, Recorder};
    ///
    /// #[derive(Pack)]
    /// struct Player {
    ///     #[pack(range = -100.0..=100.0, precision = 0.001)] // metres
    ///     position: [f32; 3],
    /// }
    ///
    /// #[derive(Pack)]
    /// struct Door {
    ///     open: bool,
    /// }
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("run.mcap");
    /// let schema = Schema::builder().kind::<Player>("player").kind::<Door>("door").build()?;
    /// let mut recorder = Recorder::create(&path)?;
    /// let world = recorder.stream_of_kinds("world", &schema, 60.0)?;
    /// for tick in 0..100 {
    ///     let mut frame = recorder.frame(&world, Tick(tick))?;
    ///     frame.push(EntityId(1), &Player { position: [0.0, 0.0, tick as f32] })?;
    ///     frame.push(EntityId(2), &Door { open: tick > 50 })?;
    ///     frame.finish()?;
    /// }
    /// assert_eq!(recorder.finish()?.entities, 200);
    ///
    /// let mut capture = Capture::open(&path)?;
    /// let (_, frame) = capture.next_frame()?.expect("the first of 100");
    /// assert_eq!(frame.stream().schema().kinds()[1].name(), "door");
    /// assert_eq!((frame.ids_of(0), frame.ids_of(1)), (&[EntityId(1)][..], &[EntityId(2)][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`stream`](Self::stream).
    pub fn stream_of_kinds(
        &mut self,
        name: &str,
        schema: &Schema,
        rate_hz: f64,
    ) -> Result<RecordedKinds, RecordError> {
        let handle = self.add(name, name, RAW, schema, rate_hz)?;
        self.streams[handle.stream].kinds = Kinds::new(schema);
        Ok(RecordedKinds { handle })
    }

    /// Begins a stream of snapshots of this schema, which are already quantized.
    ///
    /// # Errors
    /// The errors of [`stream`](Self::stream).
    pub fn stream_of_lanes(
        &mut self,
        name: &str,
        schema: &Schema,
        rate_hz: f64,
    ) -> Result<RecordedLanes, RecordError> {
        Ok(RecordedLanes { handle: self.add(name, name, LANES, schema, rate_hz)? })
    }

    fn add(
        &mut self,
        name: &str,
        type_name: &str,
        encoding: &'static str,
        schema: &Schema,
        rate_hz: f64,
    ) -> Result<Handle, RecordError> {
        let bad = |reason: String| RecordError::BadStream { stream: name.to_owned(), reason };
        if self.streams.iter().any(|stream| stream.name == name) {
            return Err(bad("the name is taken".into()));
        }
        if self.streams.len() == MAX_STREAMS {
            return Err(bad(format!("there are already {MAX_STREAMS} streams")));
        }
        if name.len().max(type_name.len()) > schema::MAX_NAME_BYTES {
            return Err(bad(format!("its name has more than {} bytes", schema::MAX_NAME_BYTES)));
        }
        let json = schema::to_json(schema, rate_hz).map_err(|error| bad(error.to_string()))?;
        self.totals
            .add_bytes(json.len())
            .and_then(|()| self.totals.add_lanes(schema))
            .map_err(bad)?;
        let columns: Vec<usize> =
            schema.kinds().iter().map(|kind| kind.lanes().len() + 1).collect();
        let own = name.to_owned();
        let stream = NewStream {
            name: own,
            type_name: type_name.to_owned(),
            encoding,
            json,
            columns: columns.clone(),
            rate_hz,
        };
        self.push(Job::Stream(Box::new(stream)))?;
        let handle = Handle { recorder: self.number, stream: self.streams.len() };
        self.streams.push(Recording {
            name: name.to_owned(),
            schema_hash: schema.hash(),
            columns,
            last_tick: None,
            kinds: Kinds::default(),
            spawn: SpawnFields::new(schema),
        });
        Ok(handle)
    }

    /// Records the entities of a tick, which must be in the order of their ids. The states may be
    /// given by value or by reference. An empty frame records that there were no entities. The type
    /// of its states must be given, as in `[(EntityId, &Ball); 0]`.
    ///
    /// The call copies the numbers of the states. It does not allocate if a frame of this size was
    /// recorded before. The call waits if the disk is far behind.
    ///
    /// # Errors
    /// [`RecordError`] if the tick is not above the stream's previous one, ids do not increase, a
    /// spawn field changed, or there are more than 65,536 entities. Also if the file cannot be
    /// written, or could not be written before. No part of a refused frame is recorded.
    pub fn record<T: Pack, B: Borrow<T>>(
        &mut self,
        stream: &RecordedStream<T>,
        tick: Tick,
        entities: impl IntoIterator<Item = (EntityId, B)>,
    ) -> Result<(), RecordError> {
        self.record_with(stream, tick, entities, |state, raw| state.borrow().store_raw(raw))
    }

    /// Records entities whose raw words the function `store` writes, as [`Pack::store_raw`] would.
    /// Use this method for states that are not values of `T`, such as the records of another file.
    ///
    /// # Errors
    /// The errors of [`record`](Self::record), and those of `store`.
    #[inline]
    pub fn record_with<T, S>(
        &mut self,
        stream: &RecordedStream<T>,
        tick: Tick,
        entities: impl IntoIterator<Item = (EntityId, S)>,
        store: impl Fn(S, &mut [u64]) -> Result<(), EncodeError>,
    ) -> Result<(), RecordError> {
        let handle = stream.handle;
        let of = self.check(handle, tick)?;
        let (columns, most) = (of.columns[0], of.most());
        match fill(&mut self.words, columns, most, entities, store) {
            Ok(count) => self.hand_over(handle, tick, count, count * columns, true),
            Err(refusal) => Err(refusal.into_error(&self.streams[handle.stream].name, tick, most)),
        }
    }

    /// Begins the frame of a tick, to which the caller pushes the entities.
    /// [`RecordedFrame::finish`] records the frame; if the frame is dropped instead, it is not
    /// recorded.
    ///
    /// # Errors
    /// [`RecordError`] if the tick is not above the stream's previous one, or the handle belongs to
    /// another recorder.
    pub fn frame(
        &mut self,
        stream: &RecordedKinds,
        tick: Tick,
    ) -> Result<RecordedFrame<'_>, RecordError> {
        self.check(stream.handle, tick)?;
        self.streams[stream.handle.stream].kinds.clear();
        Ok(RecordedFrame::new(self, stream.handle, tick))
    }

    /// Records the entities that were pushed to a stream of kinds.
    fn record_pushed(&mut self, handle: Handle, tick: Tick) -> Result<(), RecordError> {
        let Recording { name, kinds, .. } = &self.streams[handle.stream];
        if let Some(id) = kinds.shared_id(&mut self.sorted) {
            return Err(RecordError::SharedId { stream: name.clone(), tick: tick.0, id: id.0 });
        }
        let (count, used) = kinds.copy_to(&mut self.words);
        self.hand_over(handle, tick, count, used, true)
    }

    /// Records a snapshot. The snapshot's tick must be above the stream's previous one.
    ///
    /// # Errors
    /// The errors of [`record`](Self::record), [`RecordError::SharedId`], and
    /// [`RecordError::OtherStream`] if the snapshot has another schema.
    pub fn record_snapshot(
        &mut self,
        stream: &RecordedLanes,
        snapshot: &Snapshot,
    ) -> Result<(), RecordError> {
        let tick = snapshot.tick;
        self.check(stream.handle, tick)?;
        let of = &self.streams[stream.handle.stream];
        if of.schema_hash != snapshot.schema_hash() {
            return Err(RecordError::OtherStream { stream: of.name.clone() });
        }
        let kinds = || (0..of.columns.len()).map(|kind| snapshot.of_kind(kind));
        let all = kinds().zip(&of.columns);
        let words: usize = all.clone().map(|(ids, columns)| ids.len() * (columns - 1)).sum();
        let count = snapshot.len();
        if count > MAX_ENTITIES || words > MAX_WORDS {
            let (stream, most) = (of.name.clone(), of.most());
            return Err(RecordError::TooManyEntities { stream, tick: tick.0, most });
        }
        let has_several = of.columns.len() > 1;
        let ids = snapshot.ids().iter().copied();
        if has_several && let Some(id) = shared_id(ids, &mut self.sorted) {
            return Err(RecordError::SharedId { stream: of.name.clone(), tick: tick.0, id: id.0 });
        }
        let counts = if has_several { of.columns.len() } else { 0 };
        let used = counts + words + count;
        if self.words.len() < used {
            self.words.resize(used, 0);
        }
        let (in_front, mut rest) = self.words.split_at_mut(counts);
        in_front.iter_mut().zip(kinds()).for_each(|(word, ids)| *word = ids.len() as u64);
        // Returns the next column.
        let mut next = |count: usize| {
            let (column, after) = std::mem::take(&mut rest).split_at_mut(count);
            rest = after;
            column.iter_mut()
        };
        let mut first_lane = 0;
        for (ids, columns) in all {
            let lanes = first_lane..first_lane + columns - 1;
            first_lane = lanes.end;
            next(ids.len())
                .zip(&snapshot.ids()[ids.clone()])
                .for_each(|(word, id)| *word = id.0.into());
            for lane in lanes {
                next(ids.len())
                    .zip(snapshot.lane(lane))
                    .for_each(|(word, lane)| *word = u64::from(*lane));
            }
        }
        self.hand_over(stream.handle, tick, count, used, false)
    }

    /// Returns the stream of a handle. Checks that the handle belongs to this recorder, and that
    /// the tick is above the stream's last one.
    fn check(&self, handle: Handle, tick: Tick) -> Result<&Recording, RecordError> {
        let Some(stream) =
            self.streams.get(handle.stream).filter(|_| handle.recorder == self.number)
        else {
            let name = self.streams.get(handle.stream).map(|stream| stream.name.clone());
            return Err(RecordError::OtherStream { stream: name.unwrap_or_default() });
        };
        match stream.last_tick {
            Some(Tick(last)) if last >= tick.0 => Err(RecordError::TicksNotIncreasing {
                stream: stream.name.clone(),
                tick: tick.0,
                last,
            }),
            _ => Ok(stream),
        }
    }

    fn hand_over(
        &mut self,
        handle: Handle,
        tick: Tick,
        entities: usize,
        used: usize,
        by_entity: bool,
    ) -> Result<(), RecordError> {
        let Recording { name, spawn, .. } = &mut self.streams[handle.stream];
        let changed = spawn.find_changed(&self.words[..used], entities, !by_entity);
        if let Some((id, field)) = changed {
            let (stream, field) = (name.clone(), field.to_owned());
            return Err(RecordError::SpawnChanged { stream, tick: tick.0, id: id.0, field });
        }
        let words = std::mem::take(&mut self.words);
        let frame = Frame { stream: handle.stream, tick: tick.0, entities, by_entity, words, used };
        self.push(Job::Frame(frame))?;
        self.streams[handle.stream].last_tick = Some(tick);
        Ok(())
    }

    fn push(&mut self, job: Job) -> Result<(), RecordError> {
        self.queue.push(job, &mut self.words).map_err(|source| self.write_error(source))
    }

    fn write_error(&self, source: io::Error) -> RecordError {
        RecordError::Write { path: self.path.clone(), source }
    }

    /// Waits until all recorded frames are in the file. Call `flush`, for example, before an
    /// operation that may crash. The call takes as long as the disk does.
    ///
    /// # Errors
    /// [`RecordError::Write`] if the file cannot be written, or could not be written before.
    pub fn flush(&mut self) -> Result<(), RecordError> {
        self.queue.flush().map_err(|source| self.write_error(source))
    }

    /// Writes the remaining frames and the end of the file.
    ///
    /// # Errors
    /// [`RecordError::Write`] if the file cannot be written, or could not be written before. All
    /// frames recorded before the error can be read.
    pub fn finish(mut self) -> Result<RecordSummary, RecordError> {
        self.end()
    }

    fn end(&mut self) -> Result<RecordSummary, RecordError> {
        self.queue.close();
        let waits = self.queue.waits();
        let result = self.thread.take().map(JoinHandle::join);
        let Some(Ok(result)) = result else {
            return Err(self.write_error(io::Error::other("the writer thread ended by a panic")));
        };
        let Written { frames, entities, bytes } =
            result.map_err(|source| self.write_error(source))?;
        Ok(RecordSummary { frames, entities, bytes, waits })
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        if self.thread.is_some() {
            // Callers that need this error call `finish` instead.
            let _ = self.end();
        }
    }
}

impl Recording {
    /// Returns the maximum number of entities in a frame, if all are of the kind with the most
    /// lanes.
    fn most(&self) -> usize {
        let lanes = self.columns.iter().map(|columns| columns - 1).max().unwrap_or(0);
        MAX_ENTITIES.min(MAX_WORDS / lanes.max(1))
    }
}

/// Returns the name of a type without its modules.
fn short_name<T>() -> &'static str {
    let name = std::any::type_name::<T>();
    let end = name.find('<').unwrap_or(name.len());
    let begin = name[..end].rfind("::").map_or(0, |at| at + 2);
    &name[begin..]
}
