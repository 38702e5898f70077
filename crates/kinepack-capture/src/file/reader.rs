//! Reads capture files frame by frame.

use std::fs::File;
use std::io::{Cursor, Read};
use std::path::PathBuf;

use kinepack::Tick;
use mcap::MAGIC;
use mcap::records::{Record, op};

use super::chunk::{self, record_at, unpack};
use super::columns::{self, Table};
use super::damage::{Damage, Damages, Refused};
use super::frame::CaptureFrame;
use super::schema::tick_time_ns;
use super::source::{self, Broken, Checksummed, Chunks, HIDES, Linear, Source, hides_a_chunk};
use super::stream::{Stream, Streams};
use super::summary::{self, ChunkAt};
use super::window::{Window, split_message};
use crate::limits::{TooManyValues, ValueCount};
use crate::{CaptureError, CaptureLimits};

/// A capture file that is read frame by frame.
///
/// The reader leaves out a damaged chunk or message, and [`damage`](Self::damage) lists it. The
/// frames before and after it are read. Messages that are not in the order of their ticks are
/// sorted within each chunk. If the file was [opened](Self::open) and has a summary, they are also
/// sorted across chunks. If a file holds more values than [`CaptureLimits`] allow for its size, it
/// is refused at the first frame above the limit.
///
/// A reader holds one chunk, of at most 64 MB. If chunks overlap in time, it holds up to 480 MB.
///
/// ```
/// use std::io::Cursor;
/// use kinepack_capture::{Capture, Recorder};
///
/// // This file has no frames. [`CaptureFrame::components`] shows how to read frames.
/// let path = std::env::temp_dir().join(format!("empty-{}.mcap", std::process::id()));
/// Recorder::create(&path)?.finish()?;
/// let mut capture = Capture::open(&path)?;
/// assert!(capture.next_frame()?.is_none() && capture.damage().is_empty());
///
/// // A file that was cut off is read up to the cut.
/// let bytes = std::fs::read(&path)?;
/// let mut cut = Capture::from_reader("cut.mcap", Cursor::new(bytes[..20].to_vec()))?;
/// assert!(cut.next_frame()?.is_none() && cut.damage().len() == 1);
/// # std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Capture {
    pub(super) path: PathBuf,
    pub(super) source: Source,
    /// The chunks in the order of the file, to find the next chunk after a damaged record.
    pub(super) chunks: Vec<ChunkAt>,
    /// The byte at which the summary begins. This field becomes `None` when the chunks before the
    /// summary are sorted, which happens before the first frame.
    unsorted_before: Option<u64>,
    window: Window,
    pub(super) streams: Streams,
    /// For each stream, the tick of its last frame and the number of its frames.
    taken: Vec<(Option<Tick>, u64)>,
    table: Table,
    pub(super) damage: Damages,
    /// A checksum that differs, which is noted at the end.
    pub(super) differs: Option<(u64, Checksummed)>,
    has_ended: bool,
    values: ValueCount,
    /// Counts the contents of unpacked chunks, including those that are not frames.
    pub(super) unpacked: ValueCount,
}

impl Capture {
    /// The first bytes of a capture file, which is MCAP.
    pub const MAGIC: &'static [u8] = MAGIC;

    /// Opens a capture file. Reads the summary at the end of the file, if there is one, which takes
    /// microseconds. The streams are then known.
    ///
    /// # Errors
    /// [`CaptureError::Io`] if the file cannot be read, and [`CaptureError::NotMcap`] if it has
    /// another format.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, CaptureError> {
        let path = path.into();
        match File::open(&path) {
            Ok(file) => {
                let mut capture = Self::from_reader(path, file)?;
                capture.read_summary();
                Ok(capture)
            }
            Err(source) => Err(CaptureError::Io { path, source }),
        }
    }

    /// Reads a capture from any reader; error messages show `name`. The capture reads 64 kB at a
    /// time, so the reader need not buffer.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open).
    pub fn from_reader(
        name: impl Into<PathBuf>,
        mut reader: impl Read + 'static,
    ) -> Result<Self, CaptureError> {
        let path = name.into();
        let mut magic = Vec::new();
        match reader.by_ref().take(MAGIC.len() as u64).read_to_end(&mut magic) {
            Ok(_) if magic == MAGIC => {}
            Ok(_) => return Err(CaptureError::NotMcap { path }),
            Err(source) => return Err(CaptureError::Io { path, source }),
        }
        let file = Box::new(Cursor::new(magic).chain(reader));
        Ok(Self {
            path,
            source: Source::Linear(Box::new(Linear::new(file, 0))),
            chunks: Vec::new(),
            unsorted_before: None,
            window: Window::default(),
            streams: Streams::default(),
            taken: Vec::new(),
            table: Table::default(),
            damage: Damages::default(),
            differs: None,
            has_ended: false,
            values: ValueCount::default(),
            unpacked: ValueCount::default(),
        })
    }

    /// Takes streams and chunks from the summary, if the file has a correct one. Otherwise the file
    /// is read without the summary, and the damage is found later.
    fn read_summary(&mut self) {
        let Ok(mut file) = File::open(&self.path) else { return };
        let Ok(Some(begin)) = summary::begin(&mut file) else { return };
        let mut summary = Source::Linear(Box::new(Linear::new(Box::new(file), begin)));
        let (mut chunks, mut streams) = (Vec::new(), Streams::default());
        // If one stream cannot be read, the others can still use the index.
        let mut refused = Vec::new();
        loop {
            match summary.advance() {
                Ok(None) => break,
                Ok(Some(op::CHUNK_INDEX)) => chunks.extend(ChunkAt::from_index(summary.data())),
                Ok(Some(opcode)) => match declare(&mut streams, opcode, summary.data()) {
                    Ok(()) => {}
                    Err(of) if of.stream.is_some() => refused.push((summary.at_byte(), of)),
                    Err(_) => return,
                },
                Err(_) => return,
            }
        }
        self.streams = streams;
        refused.into_iter().for_each(|(at_byte, of)| self.damage.note(at_byte, of));
        self.chunks = summary::checked(chunks, begin);
        self.unsorted_before = Some(begin);
    }

    /// Returns the same capture with `limits` instead of [`CaptureLimits::default`].
    pub fn with_limits(mut self, limits: CaptureLimits) -> Self {
        self.values.limits = limits;
        self.unpacked.limits = limits;
        self
    }

    /// Returns the streams of a file. The summary at the end of the file lists them, which takes
    /// microseconds. If there is no summary, the whole file is read.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open) and [`next_frame`](Self::next_frame).
    pub fn streams_of(path: impl Into<PathBuf>) -> Result<Vec<Stream>, CaptureError> {
        Self::streams_with_limits(path, CaptureLimits::default())
    }

    /// Like [`streams_of`](Self::streams_of), with other limits.
    ///
    /// # Errors
    /// The errors of [`streams_of`](Self::streams_of).
    pub fn streams_with_limits(
        path: impl Into<PathBuf>,
        limits: CaptureLimits,
    ) -> Result<Vec<Stream>, CaptureError> {
        let mut capture = Self::open(path)?.with_limits(limits);
        // A summary without channels is valid, but does not list the streams.
        if capture.streams.list.is_empty() {
            while capture.advance()?.is_some() {}
        }
        Ok(capture.streams.list)
    }

    /// The streams found until now, in an order that never changes. After [`open`](Self::open),
    /// they are the streams of the file's summary. If there is no summary, they are the streams
    /// declared before the last frame that was read. If chunks overlap in time and the summary has
    /// no channels, the first frame adds the streams declared in any chunk.
    pub fn streams(&self) -> &[Stream] {
        &self.streams.list
    }

    /// The first 100 places that could not be read until now, in the order in which they were
    /// found. The frames of these places are missing.
    pub fn damage(&self) -> &[Damage] {
        &self.damage.list
    }

    /// The number of all places that could not be read until now.
    pub fn damaged_places(&self) -> u64 {
        self.damage.count
    }

    /// The number of a stream's frames that the file's summary counts, but that were not read. The
    /// number is known after the last frame. It is `None` before that, and for a file without a
    /// summary.
    ///
    /// # Panics
    /// If there is no stream with the index `stream`.
    pub fn lost_frames(&self, stream: usize) -> Option<u64> {
        let frames = self.streams.list[stream].frames()?;
        let read = self.taken.get(stream).map_or(0, |(_, frames)| *frames);
        self.has_ended.then(|| frames.saturating_sub(read))
    }

    /// Returns the next frame and the index of its stream. Returns `None` at the end of the file.
    /// Checks checksums, leaves out [damaged](Self::damage) places, and ignores channels of other
    /// programs.
    ///
    /// # Errors
    /// [`CaptureError::Io`] if the file cannot be read, and [`CaptureError::TooManyValues`] if it
    /// holds more values than the limits allow. After either error there is no further frame.
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
        if let Some(before_byte) = self.unsorted_before.take() {
            self.sort_chunks(before_byte);
        }
        while !self.has_ended {
            match self.step() {
                Ok(Step::Frame(index, tick)) => return Ok(Some((index, tick))),
                Ok(Step::Other) => {}
                Ok(Step::End) => self.end(),
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
                Err(Broken::Lost(reason)) => {
                    self.damage.note(self.source.at_byte(), reason.into());
                    self.resume();
                }
                Err(Broken::Checksum(of)) => {
                    if of == Checksummed::Summary {
                        self.streams.forget_counts();
                    }
                    self.damage.note_checksum(self.source.at_byte(), of);
                }
            }
        }
        Ok(None)
    }

    /// Continues with the next chunk of the index, if the place of the next record is not known.
    fn resume(&mut self) {
        let at_byte = self.source.at_byte();
        let later = self.chunks.iter().copied().filter(|chunk| chunk.at_byte > at_byte);
        match (&self.source, File::open(&self.path)) {
            (Source::Linear(_), Ok(file)) if !self.chunks.is_empty() => {
                self.source = Source::Chunks(Chunks::new(file, later, self.source.read_bytes()));
            }
            _ => self.end(),
        }
    }

    /// Ends reading the file. The number of lost frames reveals damage that turned a frame into
    /// another record.
    fn end(&mut self) {
        self.has_ended = true;
        if let Some((at_byte, of)) = self.differs.take() {
            self.damage.note_checksum(at_byte, of);
        }
        let streams = 0..self.streams.list.len();
        let lost: u64 = streams.filter_map(|stream| self.lost_frames(stream)).sum();
        if self.damage.count == 0 && lost > 0 {
            let reason = format!("{lost} of the frames that the file counts are not in it");
            self.damage.note(self.source.at_byte(), reason.into());
        }
    }

    fn step(&mut self) -> Result<Step, Broken> {
        // The words of a refused frame also count, so the previous frame's words must not remain in
        // the table.
        self.table.clear();
        let is_next = match self.source.next_start_ns() {
            Some(start_ns) => self.window.wants(start_ns),
            None => self.window.is_empty(),
        };
        if is_next { self.read_record() } else { self.take_waiting() }
    }

    /// Reads a record of the file. The messages of a chunk are added to the window.
    fn read_record(&mut self) -> Result<Step, Broken> {
        let Some(opcode) = self.source.advance()? else { return Ok(Step::End) };
        let at_byte = self.source.at_byte();
        let end = self.source.read_bytes();
        if let Source::Linear(_) = self.source
            && hides_a_chunk(&self.path, &self.chunks, at_byte, end)?
        {
            return Err(Broken::Lost(HIDES.to_owned()));
        }
        let taken = match opcode {
            op::CHUNK => {
                self.load_chunk()?;
                return Ok(Step::Other);
            }
            op::MESSAGE => split_message(self.source.data()).map_err(Refused::from).and_then(
                |(channel, sequence, rest)| {
                    let Self { streams, table, taken, source, .. } = self;
                    take(streams, table, taken, channel, sequence, &source.data()[rest])
                },
            ),
            _ => {
                let Self { streams, source, .. } = self;
                declare(streams, opcode, source.data()).map(|()| None)
            }
        };
        self.count(taken, at_byte, self.source.read_bytes())
    }

    /// Takes the first message out of the window.
    fn take_waiting(&mut self) -> Result<Step, Broken> {
        let Self { window, streams, table, taken, .. } = self;
        let Some(message) = window.pop() else { return Ok(Step::Other) };
        let Some(chunk) = window.chunk_of(message) else { return Ok(Step::Other) };
        let (at_byte, read_bytes) = (chunk.at_byte, chunk.read_bytes);
        let frame = record_at(&chunk.records, message.at as usize)
            .and_then(|(_, data)| {
                let data = &chunk.records[data];
                split_message(data)
                    .map(|(channel, sequence, rest)| (channel, sequence, &data[rest]))
            })
            .map_err(Refused::from)
            .and_then(|(channel, sequence, data)| {
                take(streams, table, taken, channel, sequence, data)
            });
        window.release(message);
        self.count(frame, at_byte, read_bytes)
    }

    /// Counts a frame, or notes the reason why it is refused. The values of a refused frame also
    /// count toward the limits, because reading them took as much time.
    fn count(
        &mut self,
        taken: Result<Option<(usize, Tick)>, Refused>,
        at_byte: u64,
        read_bytes: u64,
    ) -> Result<Step, Broken> {
        match taken {
            Ok(None) => Ok(Step::Other),
            Ok(Some((index, tick))) => {
                let entities = (0..).map(|kind| self.table.of_kind(kind).len());
                let kinds = entities.zip(self.streams.list[index].declared.lanes.iter().copied());
                self.values.add_kinds(kinds, read_bytes)?;
                self.taken[index].1 += 1;
                Ok(Step::Frame(index, tick))
            }
            Err(refused) => {
                self.damage.note(at_byte, refused);
                self.values.add(self.table.words(), 0, read_bytes)?;
                Ok(Step::Other)
            }
        }
    }

    /// Unpacks the chunk that was read, takes its declarations, and adds its messages to the
    /// window.
    fn load_chunk(&mut self) -> Result<(), Broken> {
        let at_byte = self.source.at_byte();
        let mut records = self.window.spare();
        match unpack(self.source.data(), &mut records) {
            Ok(0) => {}
            Ok(extra) => {
                let reason = format!("{extra} bytes follow the data of a chunk");
                self.damage.note(at_byte, reason.into());
            }
            Err(refused) => {
                self.damage.note(at_byte, refused);
                let values = values_of(0, records.len());
                return Ok(self.unpacked.add(values, 0, self.source.read_bytes())?);
            }
        }
        // The messages of known streams: the stream, the tick, and the first byte of the record.
        let mut messages: Vec<(usize, Tick, u32)> = Vec::new();
        let mut count = 0;
        for record in chunk::records(&records) {
            count += 1;
            let (at, opcode, data) = match record {
                Ok((at, opcode, place)) => (at, opcode, &records[place]),
                Err(reason) => {
                    self.damage.note(at_byte, reason.into());
                    break;
                }
            };
            let noted = match opcode {
                op::MESSAGE => {
                    split_message(data).map_err(Refused::from).and_then(|(channel, sequence, _)| {
                        let stream = self.streams.channel_stream(channel)?;
                        // The largest chunk has fewer bytes than a `u32` can count.
                        messages.extend(stream.map(|stream| (stream, Tick(sequence), at as u32)));
                        Ok(())
                    })
                }
                op::CHUNK => Err("a chunk holds another chunk".to_owned().into()),
                _ => declare(&mut self.streams, opcode, data),
            };
            if let Err(refused) = noted {
                self.damage.note(at_byte, refused);
            }
        }
        // A few bytes may unpack to any number of records, or to a single large record.
        let values = values_of(count, records.len());
        self.unpacked.add(values, 0, self.source.read_bytes())?;
        let by_time = matches!(self.source, Source::Chunks(_)) || !are_increasing(&messages);
        let streams = &self.streams.list;
        let messages = messages.into_iter().map(|(stream, tick, at)| {
            if by_time {
                (tick_time_ns(tick, streams[stream].rate_hz()), tick, at)
            } else {
                (0, Tick(0), at)
            }
        });
        self.window.add(records, (at_byte, self.source.read_bytes()), messages);
        Ok(())
    }
}

/// Returns the number of values that a chunk counts as, given its records and its unpacked bytes.
pub(super) fn values_of(records: usize, bytes: usize) -> usize {
    records.max(bytes / 64)
}

enum Step {
    Frame(usize, Tick),
    Other,
    End,
}

/// Returns whether the ticks of each stream increase.
fn are_increasing(messages: &[(usize, Tick, u32)]) -> bool {
    let mut last: Vec<Option<Tick>> = Vec::new();
    messages.iter().all(|(stream, tick, _)| {
        last.resize(last.len().max(stream + 1), None);
        last[*stream].replace(*tick).is_none_or(|last| last.0 < tick.0)
    })
}

/// Takes the declaration of a stream from a record. All other records are ignored.
pub(super) fn declare(streams: &mut Streams, opcode: u8, data: &[u8]) -> Result<(), Refused> {
    if !matches!(opcode, op::SCHEMA | op::CHANNEL | op::STATISTICS) {
        return Ok(());
    }
    match source::parse(opcode, data)? {
        Record::Schema { header, data } => {
            streams.add_schema(header.id, header.name, &header.encoding, &data)
        }
        Record::Channel(channel) => streams.add_channel(channel),
        Record::Statistics(statistics) => {
            streams.count(&statistics.channel_message_counts);
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Reads the frame in a message into the table. Returns `None` for a channel of another program, or
/// of a stream that was refused.
pub(super) fn take(
    streams: &Streams,
    table: &mut Table,
    taken: &mut Vec<(Option<Tick>, u64)>,
    channel: u16,
    sequence: u32,
    data: &[u8],
) -> Result<Option<(usize, Tick)>, Refused> {
    let Some(index) = streams.channel_stream(channel)? else { return Ok(None) };
    let (stream, tick) = (&streams.list[index], Tick(sequence));
    let refused =
        |reason: String| Refused::stream(stream.name(), format!("tick {}: {reason}", tick.0));
    taken.resize(streams.list.len(), (None, 0));
    if let Some(last) = taken[index].0.filter(|last| *last >= tick) {
        return Err(refused(format!("it comes after tick {}", last.0)));
    }
    let maxima = (!stream.is_raw()).then_some(&stream.declared.maxima[..]);
    columns::read(data, &stream.declared.lanes, maxima, table)
        .and_then(|()| match maxima {
            Some(_) => columns::check_absent(stream.schema(), table),
            None => Ok(()),
        })
        .map_err(|error| refused(error.to_string()))?;
    taken[index].0 = Some(tick);
    Ok(Some((index, tick)))
}
