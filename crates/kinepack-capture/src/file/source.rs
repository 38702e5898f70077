//! Reads the records of an MCAP file in order, including those within chunks, with bounded memory
//! for any file.

use std::io::{self, ErrorKind, Read};

use mcap::records::{Record, op};
use mcap::sans_io::linear_reader::{LinearReadEvent, LinearReader, LinearReaderOptions};
use mcap::{MAGIC, McapError};

use crate::limits::TooManyValues;
use crate::zstd::ZstdReader;

/// The most bytes of a record, and of an unpacked chunk.
pub(crate) const MAX_RECORD_BYTES: usize = 64 << 20;
/// Bytes per read.
const READ_BYTES: usize = 64 << 10;
/// The bytes of a record before its data: opcode and length.
const HEAD_BYTES: usize = 9;

/// Why there is no further record, unless the file ended properly.
pub(super) enum Broken {
    /// The file cannot be read.
    Io(io::Error),
    /// The data do not follow the format.
    Damaged(String),
    /// It is more than the limits allow.
    TooMany(TooManyValues),
}

impl From<TooManyValues> for Broken {
    fn from(values: TooManyValues) -> Self {
        Self::TooMany(values)
    }
}

impl From<String> for Broken {
    fn from(reason: String) -> Self {
        Self::Damaged(reason)
    }
}

/// Reads records.
pub(super) struct Source {
    file: Box<dyn Read>,
    reader: LinearReader,
    /// Where the file's last record begins, and where it ends.
    at_byte: u64,
    next_byte: u64,
    /// The data of the file's last record.
    record: Vec<u8>,
    /// The records of the last chunk.
    chunk: Vec<u8>,
    /// The bytes of `chunk` that were handed out.
    taken: usize,
    /// The last record's data in `chunk`; `None` if the data are in `record`.
    in_chunk: Option<std::ops::Range<usize>>,
}

impl Source {
    /// Reads a file from its beginning, or from the records that begin at `at_byte`, to its end.
    pub(super) fn new(file: Box<dyn Read>, at_byte: u64) -> Self {
        // This module unpacks chunks, because `mcap`'s reader trusts the lengths within them.
        let options = LinearReaderOptions::default()
            .with_skip_start_magic(at_byte > 0)
            .with_emit_chunks(true)
            .with_validate_data_section_crc(at_byte == 0)
            .with_validate_summary_section_crc(at_byte == 0)
            .with_check_finishes_after_end_magic(true)
            .with_record_length_limit(MAX_RECORD_BYTES);
        let next_byte = if at_byte == 0 { MAGIC.len() as u64 } else { at_byte };
        Self {
            file,
            reader: LinearReader::new_with_options(options),
            at_byte: next_byte,
            next_byte,
            record: Vec::new(),
            chunk: Vec::new(),
            taken: 0,
            in_chunk: None,
        }
    }

    /// Where the file's last record begins, even if it could not be read. For a record within a
    /// chunk, it is the chunk.
    pub(super) fn at_byte(&self) -> u64 {
        self.at_byte
    }

    /// Where the file's last record ends. For a record within a chunk, it is the chunk's end.
    pub(super) fn next_byte(&self) -> u64 {
        self.next_byte
    }

    /// The data of the last record.
    pub(super) fn data(&self) -> &[u8] {
        match &self.in_chunk {
            Some(range) => &self.chunk[range.clone()],
            None => &self.record,
        }
    }

    /// Advances to the next record and returns its opcode; `None` at the end.
    pub(super) fn advance(&mut self) -> Result<Option<u8>, Broken> {
        loop {
            if self.taken < self.chunk.len() {
                return self.advance_in_chunk().map(Some).map_err(Broken::Damaged);
            }
            self.in_chunk = None;
            self.at_byte = self.next_byte;
            match self.advance_in_file()? {
                Some(op::CHUNK) => self.unpack().map_err(Broken::Damaged)?,
                other => return Ok(other),
            }
        }
    }

    fn advance_in_chunk(&mut self) -> Result<u8, String> {
        let rest = &self.chunk[self.taken..];
        let Some((head, data)) = rest.split_first_chunk::<HEAD_BYTES>() else {
            return Err("a chunk ends within the head of a record".into());
        };
        let length = u64::from_le_bytes([
            head[1], head[2], head[3], head[4], head[5], head[6], head[7], head[8],
        ]);
        let Some(length) = usize::try_from(length).ok().filter(|length| *length <= data.len())
        else {
            return Err(format!(
                "a record has {length} bytes, but the chunk has only {}",
                data.len()
            ));
        };
        let opcode = head[0];
        let begin = self.taken + HEAD_BYTES;
        self.in_chunk = Some(begin..begin + length);
        self.taken = begin + length;
        Ok(opcode)
    }

    fn advance_in_file(&mut self) -> Result<Option<u8>, Broken> {
        loop {
            match self.reader.next_event() {
                None => return Ok(None),
                Some(Ok(LinearReadEvent::ReadRequest(_))) => {}
                Some(Ok(LinearReadEvent::Record { data, opcode })) => {
                    self.record.clear();
                    self.record.extend_from_slice(data);
                    self.next_byte += (HEAD_BYTES + data.len()) as u64;
                    return Ok(Some(opcode));
                }
                Some(Err(error)) => return Err(Broken::Damaged(reason(&error))),
            }
            // Less at a time than the reader requests, so a length alone cannot cause an
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

    /// Unpacks the last chunk.
    fn unpack(&mut self) -> Result<(), String> {
        self.chunk.clear();
        self.taken = 0;
        let Record::Chunk { header, data } = parse(op::CHUNK, &self.record)? else {
            return Ok(());
        };
        let size =
            usize::try_from(header.uncompressed_size).ok().filter(|size| *size <= MAX_RECORD_BYTES);
        let Some(size) = size else {
            return Err(format!(
                "a chunk of {} bytes exceeds the limit of {MAX_RECORD_BYTES}",
                header.uncompressed_size
            ));
        };
        match header.compression.as_str() {
            "" => self.chunk.extend_from_slice(&data),
            "zstd" => unpack_zstd(&data, size, &mut self.chunk)?,
            other => {
                return Err(format!("a chunk is compressed by {other:?}; only zstd can be read"));
            }
        }
        if self.chunk.len() != size {
            return Err(format!("a chunk of {size} bytes has {}", self.chunk.len()));
        }
        let saved = header.uncompressed_crc;
        // 0 if the writer made no checksum.
        if saved != 0 && crc32fast::hash(&self.chunk) != saved {
            return Err("the checksum of a chunk differs".into());
        }
        Ok(())
    }
}

/// Unpacks in steps, so a declared size alone cannot cause an allocation.
fn unpack_zstd(data: &[u8], size: usize, out: &mut Vec<u8>) -> Result<(), String> {
    let damaged = |error: io::Error| format!("a chunk cannot be unpacked: {error}");
    // The window must not be larger than the largest chunk.
    let mut unpacked = ZstdReader::new(data, MAX_RECORD_BYTES as u64);
    // Memory grows in steps that end at the chunk's size. A vector's own growth would take up to
    // twice as much.
    let mut left = size + 1;
    while left > 0 {
        let step = left.min(out.len().max(READ_BYTES));
        out.reserve_exact(step);
        let read = unpacked.by_ref().take(step as u64).read_to_end(out).map_err(damaged)?;
        if read < step {
            break;
        }
        left -= step;
    }
    Ok(())
}

/// Parses a record. It checks the lengths first, because `mcap` reserves the memory that a length
/// declares, up to four billion bytes.
pub(super) fn parse(opcode: u8, data: &[u8]) -> Result<Record<'_>, String> {
    if !lengths_fit(opcode, data) {
        return Err("a length within a record goes beyond its end".to_owned());
    }
    mcap::parse_record(opcode, data).map_err(|error| reason(&error))
}

/// Whether a record's texts, bytes and maps end within it.
fn lengths_fit(opcode: u8, data: &[u8]) -> bool {
    // The offset of the first one, and their number.
    let (first, count) = match opcode {
        op::SCHEMA => (2, 3),
        op::CHANNEL => (4, 3),
        op::CHUNK => (28, 1),
        op::STATISTICS => (42, 1),
        _ => return true,
    };
    let mut rest = data.get(first..).unwrap_or_default();
    for nth in 1..=count {
        let Some((mut part, behind)) = split_part(rest) else { return false };
        rest = behind;
        // The last part of a channel is a map from text to text.
        while opcode == op::CHANNEL && nth == count && !part.is_empty() {
            let Some((_, behind)) = split_part(part) else { return false };
            part = behind;
        }
    }
    true
}

/// Splits off a part that follows its length. Returns it and the rest.
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
