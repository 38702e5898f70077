//! Reads the records of an MCAP file, in the order of the file or chunk by chunk, with bounded
//! memory for any file.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

use mcap::records::{Record, op};
use mcap::sans_io::linear_reader::{LinearReadEvent, LinearReader, LinearReaderOptions};
use mcap::{MAGIC, McapError};

use super::summary::ChunkAt;
use crate::limits::TooManyValues;

/// The maximum size of a record and of an unpacked chunk, in bytes.
pub(crate) const MAX_RECORD_BYTES: usize = 64 << 20;
/// The number of bytes per read.
pub(super) const READ_BYTES: usize = 64 << 10;
/// The number of bytes of a record before its data, for the opcode and the length.
pub(super) const RECORD_HEADER_BYTES: usize = 9;

/// The reason why there is no further record, unless the file ended properly.
pub(super) enum Broken {
    /// The file cannot be read.
    Io(io::Error),
    /// The place of the next record is unknown.
    Lost(String),
    /// A checksum differs from the data. All records that the checksum covers were read.
    Checksum(Checksummed),
    /// The file holds more values than the limits allow.
    TooMany(TooManyValues),
}

/// The records that a checksum covers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Checksummed {
    Data,
    Summary,
}

impl Checksummed {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Summary => "summary",
        }
    }
}

impl From<TooManyValues> for Broken {
    fn from(values: TooManyValues) -> Self {
        Self::TooMany(values)
    }
}

/// Reads the records of a file.
pub(super) enum Source {
    /// Reads all records in the order of the file.
    Linear(Box<Linear>),
    /// Reads some chunks of the file.
    Chunks(Chunks),
}

impl Source {
    /// The first byte of the last record, even if that record could not be read.
    pub(super) fn at_byte(&self) -> u64 {
        match self {
            Self::Linear(linear) => linear.at_byte,
            Self::Chunks(chunks) => chunks.at_byte,
        }
    }

    /// The number of bytes of the file that were read, up to the end of the last record.
    pub(super) fn read_bytes(&self) -> u64 {
        match self {
            Self::Linear(linear) => linear.next_byte,
            Self::Chunks(chunks) => chunks.read_bytes,
        }
    }

    /// The data of the last record.
    pub(super) fn data(&self) -> &[u8] {
        match self {
            Self::Linear(linear) => &linear.record,
            Self::Chunks(chunks) => &chunks.record,
        }
    }

    /// Advances to the next record and returns its opcode; `None` at the end of the file.
    pub(super) fn advance(&mut self) -> Result<Option<u8>, Broken> {
        match self {
            Self::Linear(linear) => linear.advance(),
            Self::Chunks(chunks) => chunks.advance(),
        }
    }

    /// The time of the next chunk's first message, if it is known.
    pub(super) fn next_start_ns(&self) -> Option<u64> {
        match self {
            Self::Linear(_) => None,
            Self::Chunks(chunks) => chunks.left.front().map(|chunk| chunk.start_ns),
        }
    }
}

/// Reads records in the order of the file.
pub(super) struct Linear {
    file: Box<dyn Read>,
    reader: LinearReader,
    /// The first byte of the last record, and the byte after it.
    at_byte: u64,
    next_byte: u64,
    /// The checksum of the data until now, or of the summary. `mcap` could check it too, but stops
    /// reading if the checksum differs.
    checksum: crc32fast::Hasher,
    /// The data of the last record.
    record: Vec<u8>,
}

impl Linear {
    /// Makes a reader of the records from `at_byte` to the end of the file, or of the whole file if
    /// `at_byte` is 0.
    pub(super) fn new(file: Box<dyn Read>, at_byte: u64) -> Self {
        // This crate's own code unpacks chunks, because `mcap`'s reader trusts the lengths within
        // them.
        let options = LinearReaderOptions::default()
            .with_skip_start_magic(at_byte > 0)
            .with_emit_chunks(true)
            .with_check_finishes_after_end_magic(true)
            .with_record_length_limit(MAX_RECORD_BYTES);
        let next_byte = if at_byte == 0 { MAGIC.len() as u64 } else { at_byte };
        let mut checksum = crc32fast::Hasher::new();
        checksum.update(if at_byte == 0 { MAGIC } else { &[] });
        Self {
            file,
            reader: LinearReader::new_with_options(options),
            at_byte: next_byte,
            next_byte,
            checksum,
            record: Vec::new(),
        }
    }

    fn advance(&mut self) -> Result<Option<u8>, Broken> {
        self.at_byte = self.next_byte;
        loop {
            match self.reader.next_event() {
                None => return Ok(None),
                Some(Ok(LinearReadEvent::ReadRequest(_))) => {}
                Some(Ok(LinearReadEvent::Record { data, opcode })) => {
                    self.record.clear();
                    self.record.extend_from_slice(data);
                    self.next_byte += (RECORD_HEADER_BYTES + data.len()) as u64;
                    return self.check(opcode).map(|()| Some(opcode));
                }
                Some(Err(error)) => return Err(Broken::Lost(reason(&error))),
            }
            // Reads less at a time than `mcap` requests, so that a length alone cannot cause an
            // allocation.
            let room = self.reader.insert(READ_BYTES);
            let read = loop {
                match self.file.read(room) {
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    read => break read.map_err(Broken::Io)?,
                }
            };
            self.reader.notify_read(read);
        }
    }
}

impl Linear {
    /// Adds the last record to the checksum, and compares the checksum with the one that the record
    /// holds.
    fn check(&mut self, opcode: u8) -> Result<(), Broken> {
        /// The number of bytes of a footer that the checksum of the summary covers.
        const COVERED: usize = 16;
        let (covered, of) = match opcode {
            op::DATA_END => (None, Some(Checksummed::Data)),
            op::FOOTER => (self.record.get(..COVERED), Some(Checksummed::Summary)),
            _ => (Some(&self.record[..]), None),
        };
        if let Some(covered) = covered {
            self.checksum.update(&[opcode]);
            self.checksum.update(&(self.record.len() as u64).to_le_bytes());
            self.checksum.update(covered);
        }
        let Some(of) = of else { return Ok(()) };
        let read = std::mem::take(&mut self.checksum).finalize();
        let saved = self.record[covered.map_or(0, <[u8]>::len)..].first_chunk();
        // The checksum is 0 if the writer made none.
        match saved.map(|saved| u32::from_le_bytes(*saved)) {
            Some(saved) if saved != 0 && saved != read => Err(Broken::Checksum(of)),
            _ => Ok(()),
        }
    }
}

/// Reads chunks, and no other records.
pub(super) struct Chunks {
    file: File,
    left: VecDeque<ChunkAt>,
    at_byte: u64,
    read_bytes: u64,
    record: Vec<u8>,
}

impl Chunks {
    /// Makes a reader of these chunks, in this order. `read_bytes` is the number of bytes of the
    /// file that were read before.
    pub(super) fn new(
        file: File,
        chunks: impl IntoIterator<Item = ChunkAt>,
        read_bytes: u64,
    ) -> Self {
        let left = chunks.into_iter().collect();
        Self { file, left, at_byte: 0, read_bytes, record: Vec::new() }
    }

    /// Advances to the next chunk. If there is no chunk at the place, the record is empty, and the
    /// caller refuses it.
    fn advance(&mut self) -> Result<Option<u8>, Broken> {
        self.record.clear();
        let Some(chunk) = self.left.pop_front() else { return Ok(None) };
        self.at_byte = chunk.at_byte;
        self.read_bytes = self.read_bytes.saturating_add(chunk.bytes);
        if is_chunk(&mut self.file, chunk).map_err(Broken::Io)?
            && chunk.bytes <= MAX_RECORD_BYTES as u64
        {
            let mut data = self.file.by_ref().take(chunk.data_bytes());
            data.read_to_end(&mut self.record).map_err(Broken::Io)?;
        }
        Ok(Some(op::CHUNK))
    }
}

/// Returns whether a file has a chunk at the place that the index names. The file's position is
/// then at the chunk's data.
fn is_chunk(file: &mut File, chunk: ChunkAt) -> io::Result<bool> {
    file.seek(SeekFrom::Start(chunk.at_byte))?;
    let mut header = Vec::with_capacity(RECORD_HEADER_BYTES);
    file.by_ref().take(RECORD_HEADER_BYTES as u64).read_to_end(&mut header)?;
    let length = chunk.data_bytes().to_le_bytes();
    Ok(header.split_first().is_some_and(|(opcode, rest)| *opcode == op::CHUNK && rest == length))
}

/// The reason why the length of a record is not trusted.
pub(super) const HIDES: &str = "a record's length goes beyond the start of the next chunk";

/// Returns whether the next chunk of the index begins within the record between two bytes, which
/// means that the record's length is wrong. The index may be wrong too, so this checks that the
/// file has a chunk there.
pub(super) fn hides_a_chunk(
    path: &Path,
    chunks: &[ChunkAt],
    at_byte: u64,
    end: u64,
) -> Result<bool, Broken> {
    let next = chunks.partition_point(|chunk| chunk.at_byte <= at_byte);
    let Some(chunk) = chunks.get(next).filter(|chunk| chunk.at_byte < end) else {
        return Ok(false);
    };
    let mut file = File::open(path).map_err(Broken::Io)?;
    is_chunk(&mut file, *chunk).map_err(Broken::Io)
}

/// Parses a record. Checks the lengths first, because `mcap` reserves the memory that a length
/// declares, up to four billion bytes.
pub(super) fn parse(opcode: u8, data: &[u8]) -> Result<Record<'_>, String> {
    if !lengths_fit(opcode, data) {
        return Err("a length within a record goes beyond its end".to_owned());
    }
    mcap::parse_record(opcode, data).map_err(|error| reason(&error))
}

/// Returns whether a record's texts, bytes and maps end within the record.
fn lengths_fit(opcode: u8, data: &[u8]) -> bool {
    // The offset of the record's first part with a length, and the number of such parts.
    let (first, count) = match opcode {
        op::SCHEMA => (2, 3),
        op::CHANNEL => (4, 3),
        op::CHUNK => (28, 1),
        op::STATISTICS => (42, 1),
        _ => return true,
    };
    let mut rest = data.get(first..).unwrap_or_default();
    for nth in 1..=count {
        let Some((mut part, after)) = split_part(rest) else { return false };
        rest = after;
        // The last part of a channel is a map from text to text.
        while opcode == op::CHANNEL && nth == count && !part.is_empty() {
            let Some((_, after)) = split_part(part) else { return false };
            part = after;
        }
    }
    true
}

/// Reads a length, and splits off the part that follows. Returns this part and the rest.
fn split_part(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = data.split_first_chunk()?;
    rest.split_at_checked(u32::from_le_bytes(*length) as usize)
}

pub(super) fn reason(error: &McapError) -> String {
    match error {
        McapError::UnexpectedEof => {
            "the file ends here without the end of a finished recording".into()
        }
        McapError::Parse(_) => "a record does not have the form of its kind".into(),
        other => other.to_string(),
    }
}
