//! The writer thread: converts words to columns, columns to messages, and messages to chunks of a
//! file.

use std::collections::VecDeque;
use std::io::{self, BufWriter, Write};
use std::time::{Duration, Instant};

use kinepack::Tick;

use super::queue::{Frame, Job, Queue};
use crate::container::{Channel, Container, Message, Packing};
use crate::file::PROFILE;
use crate::file::columns::{self, Words};
use crate::file::schema::{ENCODING, tick_time_ns};

/// The number of bytes of messages in a full chunk.
const CHUNK_BYTES: usize = 1 << 20;
/// The time after which pending messages are written to the file as a chunk.
const CHUNK_TIME: Duration = Duration::from_secs(1);

/// The contents of a stream's schema and channel records.
pub(super) struct NewStream {
    pub(super) name: String,
    pub(super) type_name: String,
    pub(super) encoding: &'static str,
    pub(super) json: Vec<u8>,
    /// The number of columns of an entity of each kind, including its id.
    pub(super) columns: Vec<usize>,
    pub(super) rate_hz: f64,
}

/// The size of the file that was written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Written {
    pub(super) frames: u64,
    pub(super) entities: u64,
    pub(super) bytes: u64,
}

/// A capture file that is being written.
pub(super) struct Writer<W: Write> {
    container: Container<BufWriter<W>>,
    streams: Vec<(u16, NewStream)>,
    written: Written,
    /// The number of bytes of messages since the end of the last chunk, and the time of that end.
    pending_bytes: usize,
    flushed: Instant,
    column: Vec<u64>,
    message: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Writes the header of the file.
    pub(super) fn new(out: W) -> io::Result<Self> {
        let out = BufWriter::with_capacity(1 << 16, out);
        let library = concat!("kinepack ", env!("CARGO_PKG_VERSION"));
        Ok(Self {
            container: Container::new(out, PROFILE, library, Packing::Zstd)?,
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
        let result = result.and_then(|()| {
            let bytes = self.container.finish()?;
            Ok(Written { bytes, ..self.written })
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
                Job::Stream(stream) => self.add_stream(*stream),
                Job::Frame(frame) => {
                    self.write_frame(&frame)?;
                    emptied.push(frame.words);
                }
            }
        }
        let is_due = self.pending_bytes > 0 && self.flushed.elapsed() >= CHUNK_TIME;
        if is_due || wants_flush { self.end_chunk() } else { Ok(()) }
    }

    fn add_stream(&mut self, stream: NewStream) {
        let NewStream { name, type_name, encoding, json, .. } = &stream;
        let channel = self.container.add_channel(&Channel {
            topic: name,
            encoding,
            metadata: &[],
            schema_name: type_name,
            schema_encoding: ENCODING,
            schema: json,
        });
        self.streams.push((channel, stream));
        self.pending_bytes += 1;
    }

    fn write_frame(&mut self, frame: &Frame) -> io::Result<()> {
        let (channel, stream) = &self.streams[frame.stream];
        let kinds = stream.columns.len();
        // A stream of one kind has no numbers of entities before the words.
        let all_entities = [frame.entities as u64];
        let (counts, mut words) = match kinds {
            1 => (&all_entities[..], &frame.words[..frame.used]),
            _ => frame.words[..frame.used].split_at(kinds),
        };
        self.message.clear();
        for (&columns, &entities) in stream.columns.iter().zip(counts) {
            let entities = entities as usize;
            let (kind_words, after) = words.split_at(entities * columns);
            words = after;
            let table = Words { words: kind_words, entities, columns, by_entity: frame.by_entity };
            columns::write(table, &mut self.column, &mut self.message);
        }
        let (channel, time_ns) = (*channel, tick_time_ns(Tick(frame.tick), stream.rate_hz));
        // A large message gets its own chunk, because readers limit the size of chunks.
        if self.pending_bytes > 0 && self.pending_bytes + self.message.len() > CHUNK_BYTES {
            self.end_chunk()?;
        }
        let data = &self.message;
        self.container.add_message(&Message { channel, sequence: frame.tick, time_ns, data });
        self.pending_bytes += self.message.len();
        self.written.frames += 1;
        self.written.entities += frame.entities as u64;
        Ok(())
    }

    /// Writes the chunk and flushes it to the file, so that a later crash cannot lose it.
    fn end_chunk(&mut self) -> io::Result<()> {
        self.container.end_chunk()?;
        self.pending_bytes = 0;
        self.flushed = Instant::now();
        Ok(())
    }
}

/// Reports a panic of the writer to the recorder, which would otherwise wait forever for room in
/// the queue.
struct Guard<'a>(&'a Queue);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fail(io::Error::other("the writer thread ended by a panic"));
        }
    }
}
