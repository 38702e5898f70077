//! The writer thread: words become columns, columns become messages, and messages become chunks of
//! a file.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, BufWriter, Write};
use std::time::{Duration, Instant};

use mcap::records::MessageHeader;
use mcap::write::NoSeek;
use mcap::{McapError, WriteOptions, Writer as McapWriter};

use super::queue::{Frame, Job, Queue};
use crate::file::columns::{self, Words};
use crate::file::{PROFILE, SCHEMA};

/// The bytes of messages in a full chunk.
const CHUNK_BYTES: usize = 1 << 20;
/// The time after which pending messages become a chunk and go to the file.
const CHUNK_TIME: Duration = Duration::from_secs(1);

/// The contents of a stream's schema and channel records.
pub(super) struct NewStream {
    pub(super) name: String,
    pub(super) type_name: String,
    pub(super) encoding: &'static str,
    pub(super) json: Vec<u8>,
    /// The columns of an entity, including its id.
    pub(super) columns: usize,
    pub(super) rate_hz: f64,
}

/// The size of the written file.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Written {
    pub(super) frames: u64,
    pub(super) entities: u64,
    pub(super) bytes: u64,
}

/// Counts the bytes that go into the file.
struct Counted<W> {
    inner: W,
    bytes: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(buffer)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

type Out<W> = NoSeek<BufWriter<Counted<W>>>;

/// A capture file while it is written.
pub(super) struct Writer<W: Write> {
    mcap: McapWriter<Out<W>>,
    streams: Vec<(u16, NewStream)>,
    written: Written,
    /// Bytes of messages since the end of the last chunk, and the time of that end.
    pending_bytes: usize,
    flushed: Instant,
    column: Vec<u64>,
    message: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Writes the head of the file.
    pub(super) fn new(out: W) -> io::Result<Self> {
        let options = WriteOptions::new()
            .profile(PROFILE)
            .library(concat!("kinepack ", env!("CARGO_PKG_VERSION")))
            // This writer ends chunks and keeps them in memory until then, so a file never ends
            // within one.
            .chunk_size(None)
            .disable_seeking(true)
            .compression_threads(0);
        let out = BufWriter::with_capacity(1 << 16, Counted { inner: out, bytes: 0 });
        Ok(Self {
            mcap: options.create(NoSeek::new(out)).map_err(io_error)?,
            streams: Vec::new(),
            written: Written::default(),
            pending_bytes: 0,
            flushed: Instant::now(),
            column: Vec::new(),
            message: Vec::new(),
        })
    }

    /// Writes all jobs from the queue until it is closed, and then the end of the file.
    pub(super) fn run(mut self, queue: &Queue) -> io::Result<Written> {
        let _guard = Guard(queue);
        let (mut jobs, mut emptied) = (VecDeque::new(), Vec::new());
        let result = loop {
            let work = queue.take(&mut jobs, &mut emptied);
            let written = self.write_all(&mut jobs, &mut emptied, work.wants_flush);
            if written.is_err() || work.is_closed {
                break written;
            }
        };
        let result = result.and_then(|()| self.mcap.finish().map_err(io_error).map(drop));
        // Take it apart instead of dropping it: on drop, `mcap` would try to write its end after a
        // failed write.
        let buffered = self.mcap.into_inner().into_inner();
        let result = result.and_then(|()| {
            let counted = buffered.into_inner().map_err(io::IntoInnerError::into_error)?;
            Ok(Written { bytes: counted.bytes, ..self.written })
        });
        if let Err(error) = &result {
            queue.fail(super::queue::copied(error));
        }
        result
    }

    fn write_all(
        &mut self,
        jobs: &mut VecDeque<Job>,
        emptied: &mut Vec<Vec<u64>>,
        wants_flush: bool,
    ) -> io::Result<()> {
        for job in jobs.drain(..) {
            match job {
                Job::Stream(stream) => self.add_stream(*stream)?,
                Job::Frame(frame) => {
                    self.write_frame(&frame)?;
                    emptied.push(frame.words);
                }
            }
        }
        let is_due = self.pending_bytes > 0 && self.flushed.elapsed() >= CHUNK_TIME;
        if is_due || wants_flush { self.end_chunk() } else { Ok(()) }
    }

    fn add_stream(&mut self, stream: NewStream) -> io::Result<()> {
        let schema =
            self.mcap.add_schema(&stream.type_name, SCHEMA, &stream.json).map_err(io_error)?;
        let channel =
            self.mcap.add_channel(schema, &stream.name, stream.encoding, &BTreeMap::new());
        self.streams.push((channel.map_err(io_error)?, stream));
        self.pending_bytes += 1;
        Ok(())
    }

    fn write_frame(&mut self, frame: &Frame) -> io::Result<()> {
        let (channel_id, stream) = &self.streams[frame.stream];
        let words = Words {
            words: &frame.words[..frame.used],
            entities: frame.entities,
            columns: stream.columns,
            by_entity: frame.by_entity,
        };
        columns::write(words, &mut self.column, &mut self.message);
        let time_ns = time_ns(frame.tick, stream.rate_hz);
        let header = MessageHeader {
            channel_id: *channel_id,
            sequence: frame.tick,
            log_time: time_ns,
            publish_time: time_ns,
        };
        // A large message gets its own chunk, because readers limit the size of chunks.
        if self.pending_bytes > 0 && self.pending_bytes + self.message.len() > CHUNK_BYTES {
            self.end_chunk()?;
        }
        self.mcap.write_to_known_channel(&header, &self.message).map_err(io_error)?;
        self.pending_bytes += self.message.len();
        self.written.frames += 1;
        self.written.entities += frame.entities as u64;
        Ok(())
    }

    /// Writes the chunk to the file, so that a later crash cannot lose it.
    fn end_chunk(&mut self) -> io::Result<()> {
        self.mcap.flush().map_err(io_error)?;
        self.pending_bytes = 0;
        self.flushed = Instant::now();
        Ok(())
    }
}

/// Reports a panic to a recorder that waits for room, since the writer will not make any.
struct Guard<'a>(&'a Queue);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fail(io::Error::other("the writer thread ended by a panic"));
        }
    }
}

/// The time of a tick, in nanoseconds from tick 0. `spec/CAPTURE.md`, section 5.
fn time_ns(tick: u32, rate_hz: f64) -> u64 {
    // The cast saturates.
    (f64::from(tick) * 1e9 / rate_hz + 0.5) as u64
}

fn io_error(error: McapError) -> io::Error {
    match error {
        McapError::Io(error) => error,
        other => io::Error::other(other.to_string()),
    }
}
