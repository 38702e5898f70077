//! Writes an MCAP file: chunks with checksums and indexes, attachments, metadata, and a summary at
//! the end. MCAP's specification, version 0, defines the format. Capture files use this module, and
//! so do the replays of `kinepack-replay`.
//!
//! The crate `mcap` can write such files too. But it compresses with C code, and its writer does
//! not return an output that failed.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};

pub use mcap::MAGIC;
pub use mcap::records::op;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

/// The compression of chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Chunks are not compressed.
    None,
    /// Chunks are compressed with zstd at a fast setting.
    Zstd,
}

impl Packing {
    /// Returns the name of this compression in the file.
    fn name(self) -> &'static [u8] {
        match self {
            Self::None => b"",
            Self::Zstd => b"zstd",
        }
    }
}

/// A channel and its schema.
pub struct Channel<'a> {
    pub topic: &'a str,
    /// The encoding of the channel's messages.
    pub encoding: &'a str,
    pub metadata: &'a [(&'a str, &'a str)],
    pub schema_name: &'a str,
    pub schema_encoding: &'a str,
    pub schema: &'a [u8],
}

/// A message of one channel.
pub struct Message<'a> {
    pub channel: u16,
    pub sequence: u32,
    pub time_ns: u64,
    pub data: &'a [u8],
}

/// An MCAP file that is being written.
pub struct Container<W> {
    out: W,
    /// The number of bytes written so far, and their checksum.
    bytes: u64,
    checksum: crc32fast::Hasher,
    packing: Packing,
    chunk: Chunk,
    schemas: Vec<Vec<u8>>,
    channels: Vec<Vec<u8>>,
    chunk_indexes: Vec<Vec<u8>>,
    attachment_indexes: Vec<Vec<u8>>,
    metadata_indexes: Vec<Vec<u8>>,
    messages: BTreeMap<u16, u64>,
    times: Times,
    /// Scratch memory for a record's data.
    record: Vec<u8>,
}

/// The earliest and latest time of messages; `None` if there are no messages.
#[derive(Clone, Copy, Default)]
struct Times(Option<(u64, u64)>);

impl Times {
    fn add(&mut self, time_ns: u64) {
        let (first, last) = self.0.unwrap_or((time_ns, time_ns));
        self.0 = Some((first.min(time_ns), last.max(time_ns)));
    }

    fn put(self, record: &mut Vec<u8>) {
        let (first, last) = self.0.unwrap_or_default();
        record.extend(first.to_le_bytes());
        record.extend(last.to_le_bytes());
    }
}

/// The chunk that is being filled.
#[derive(Default)]
struct Chunk {
    records: Vec<u8>,
    times: Times,
    /// For each channel, the time of each message and its first byte in `records`.
    messages: BTreeMap<u16, Vec<(u64, u64)>>,
}

impl<W: Write> Container<W> {
    /// Writes the header of the file.
    pub fn new(out: W, profile: &str, library: &str, packing: Packing) -> io::Result<Self> {
        let mut container = Self {
            out,
            bytes: 0,
            checksum: crc32fast::Hasher::new(),
            packing,
            chunk: Chunk::default(),
            schemas: Vec::new(),
            channels: Vec::new(),
            chunk_indexes: Vec::new(),
            attachment_indexes: Vec::new(),
            metadata_indexes: Vec::new(),
            messages: BTreeMap::new(),
            times: Times::default(),
            record: Vec::new(),
        };
        container.write(MAGIC)?;
        let mut header = Vec::new();
        put_text(&mut header, profile.as_bytes());
        put_text(&mut header, library.as_bytes());
        container.write_record(op::HEADER, &header)?;
        Ok(container)
    }

    /// Adds a channel with its own schema. Returns the channel's number.
    pub fn add_channel(&mut self, channel: &Channel<'_>) -> u16 {
        let id = self.channels.len() as u16;
        // The schema's number is above 0, because 0 would mean that there is none.
        let number = id + 1;
        let mut record = number.to_le_bytes().to_vec();
        put_text(&mut record, channel.schema_name.as_bytes());
        put_text(&mut record, channel.schema_encoding.as_bytes());
        put_text(&mut record, channel.schema);
        put_record(&mut self.chunk.records, op::SCHEMA, &record);
        self.schemas.push(record);
        let mut record = [id.to_le_bytes(), number.to_le_bytes()].concat();
        put_text(&mut record, channel.topic.as_bytes());
        put_text(&mut record, channel.encoding.as_bytes());
        put_map(&mut record, channel.metadata);
        put_record(&mut self.chunk.records, op::CHANNEL, &record);
        self.channels.push(record);
        id
    }

    /// Writes an attachment.
    pub fn attach(&mut self, name: &str, media_type: &str, data: &[u8]) -> io::Result<()> {
        // The times of the log and of the creation are not known, so they are 0.
        let mut record = vec![0; 16];
        let mut names = Vec::new();
        put_text(&mut names, name.as_bytes());
        put_text(&mut names, media_type.as_bytes());
        record.extend_from_slice(&names);
        record.extend((data.len() as u64).to_le_bytes());
        record.extend_from_slice(data);
        record.extend(crc32fast::hash(&record).to_le_bytes());
        let begin = self.bytes;
        self.write_record(op::ATTACHMENT, &record)?;
        let mut index = begin.to_le_bytes().to_vec();
        index.extend((self.bytes - begin).to_le_bytes());
        index.extend([0; 16]);
        index.extend((data.len() as u64).to_le_bytes());
        index.extend(names);
        self.attachment_indexes.push(index);
        Ok(())
    }

    /// Writes a metadata record with keys and values.
    pub fn add_metadata(&mut self, name: &str, pairs: &[(&str, &str)]) -> io::Result<()> {
        let mut record = Vec::new();
        put_text(&mut record, name.as_bytes());
        put_map(&mut record, pairs);
        let begin = self.bytes;
        self.write_record(op::METADATA, &record)?;
        let mut index = begin.to_le_bytes().to_vec();
        index.extend((self.bytes - begin).to_le_bytes());
        put_text(&mut index, name.as_bytes());
        self.metadata_indexes.push(index);
        self.out.flush()
    }

    /// Adds a message to the chunk.
    pub fn add_message(&mut self, message: &Message<'_>) {
        let Message { channel, sequence, time_ns, data } = message;
        let begin = self.chunk.records.len() as u64;
        self.chunk.messages.entry(*channel).or_default().push((*time_ns, begin));
        self.chunk.times.add(*time_ns);
        self.times.add(*time_ns);
        *self.messages.entry(*channel).or_default() += 1;
        self.record.clear();
        self.record.extend(channel.to_le_bytes());
        self.record.extend(sequence.to_le_bytes());
        self.record.extend(time_ns.to_le_bytes());
        self.record.extend(time_ns.to_le_bytes());
        self.record.extend_from_slice(data);
        put_record(&mut self.chunk.records, op::MESSAGE, &self.record);
    }

    /// Writes the chunk and its index, if the chunk has records.
    pub fn end_chunk(&mut self) -> io::Result<()> {
        if self.chunk.records.is_empty() {
            return self.out.flush();
        }
        let chunk = std::mem::take(&mut self.chunk);
        let size = chunk.records.len() as u64;
        let packed = match self.packing {
            Packing::None => Cow::Borrowed(&chunk.records[..]),
            Packing::Zstd => {
                Cow::Owned(compress_to_vec(&chunk.records[..], CompressionLevel::Fastest))
            }
        };
        let packed_bytes = packed.len() as u64;
        let mut record = Vec::with_capacity(packed.len() + 64);
        chunk.times.put(&mut record);
        record.extend(size.to_le_bytes());
        record.extend(crc32fast::hash(&chunk.records).to_le_bytes());
        put_text(&mut record, self.packing.name());
        record.extend(packed_bytes.to_le_bytes());
        record.extend_from_slice(&packed);
        let begin = self.bytes;
        self.write_record(op::CHUNK, &record)?;

        let indexes = self.bytes;
        let mut offsets = Vec::new();
        for (channel, messages) in &chunk.messages {
            offsets.extend(channel.to_le_bytes());
            offsets.extend(self.bytes.to_le_bytes());
            let mut record = channel.to_le_bytes().to_vec();
            record.extend((16 * messages.len() as u32).to_le_bytes());
            for (time_ns, at) in messages {
                record.extend(time_ns.to_le_bytes());
                record.extend(at.to_le_bytes());
            }
            self.write_record(op::MESSAGE_INDEX, &record)?;
        }

        let mut record = Vec::new();
        chunk.times.put(&mut record);
        record.extend(begin.to_le_bytes());
        record.extend((indexes - begin).to_le_bytes());
        put_text(&mut record, &offsets);
        record.extend((self.bytes - indexes).to_le_bytes());
        put_text(&mut record, self.packing.name());
        record.extend(packed_bytes.to_le_bytes());
        record.extend(size.to_le_bytes());
        self.chunk_indexes.push(record);
        // The next chunk reuses the memory of the records.
        self.chunk.records = chunk.records;
        self.chunk.records.clear();
        self.out.flush()
    }

    /// Writes the last chunk and the summary. Returns the size of the file.
    pub fn finish(mut self) -> io::Result<u64> {
        self.end_chunk()?;
        let checksum = self.checksum.clone().finalize();
        self.write_record(op::DATA_END, &checksum.to_le_bytes())?;

        let summary = self.bytes;
        self.checksum = crc32fast::Hasher::new();
        let statistics = self.statistics();
        let groups = [
            (op::SCHEMA, std::mem::take(&mut self.schemas)),
            (op::CHANNEL, std::mem::take(&mut self.channels)),
            (op::STATISTICS, vec![statistics]),
            (op::CHUNK_INDEX, std::mem::take(&mut self.chunk_indexes)),
            (op::ATTACHMENT_INDEX, std::mem::take(&mut self.attachment_indexes)),
            (op::METADATA_INDEX, std::mem::take(&mut self.metadata_indexes)),
        ];
        let mut offsets = Vec::new();
        for (opcode, records) in groups {
            let begin = self.bytes;
            for record in &records {
                self.write_record(opcode, record)?;
            }
            if self.bytes > begin {
                let mut offset = vec![opcode];
                offset.extend(begin.to_le_bytes());
                offset.extend((self.bytes - begin).to_le_bytes());
                offsets.push(offset);
            }
        }
        let summary_offsets = self.bytes;
        for record in &offsets {
            self.write_record(op::SUMMARY_OFFSET, record)?;
        }

        // The checksum of the summary covers the footer up to the checksum.
        let mut footer = vec![op::FOOTER];
        footer.extend(20u64.to_le_bytes());
        footer.extend(summary.to_le_bytes());
        footer.extend(summary_offsets.to_le_bytes());
        self.write(&footer)?;
        let checksum = self.checksum.clone().finalize();
        self.write(&checksum.to_le_bytes())?;
        self.write(MAGIC)?;
        self.out.flush()?;
        Ok(self.bytes)
    }

    fn statistics(&self) -> Vec<u8> {
        let mut record = self.messages.values().sum::<u64>().to_le_bytes().to_vec();
        record.extend((self.schemas.len() as u16).to_le_bytes());
        record.extend((self.channels.len() as u32).to_le_bytes());
        record.extend((self.attachment_indexes.len() as u32).to_le_bytes());
        record.extend((self.metadata_indexes.len() as u32).to_le_bytes());
        record.extend((self.chunk_indexes.len() as u32).to_le_bytes());
        self.times.put(&mut record);
        let mut counts = Vec::new();
        for (channel, messages) in &self.messages {
            counts.extend(channel.to_le_bytes());
            counts.extend(messages.to_le_bytes());
        }
        put_text(&mut record, &counts);
        record
    }

    fn write_record(&mut self, opcode: u8, data: &[u8]) -> io::Result<()> {
        self.write(&[opcode])?;
        self.write(&(data.len() as u64).to_le_bytes())?;
        self.write(data)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.checksum.update(bytes);
        self.bytes += bytes.len() as u64;
        Ok(())
    }
}

fn put_record(out: &mut Vec<u8>, opcode: u8, data: &[u8]) {
    out.push(opcode);
    out.extend((data.len() as u64).to_le_bytes());
    out.extend_from_slice(data);
}

/// Writes the length of a text, a map or a schema, then its bytes.
fn put_text(record: &mut Vec<u8>, text: &[u8]) {
    record.extend((text.len() as u32).to_le_bytes());
    record.extend_from_slice(text);
}

fn put_map(record: &mut Vec<u8>, pairs: &[(&str, &str)]) {
    let mut map = Vec::new();
    for (key, value) in pairs {
        put_text(&mut map, key.as_bytes());
        put_text(&mut map, value.as_bytes());
    }
    put_text(record, &map);
}
