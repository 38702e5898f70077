//! Writes an MCAP file: chunks packed with zstd, with checksums and indexes, and a summary at the
//! end. MCAP's specification, version 0.
//!
//! The crate `mcap` writes such files too, but it packs with C code.

use std::collections::BTreeMap;
use std::io::{self, Write};

use mcap::MAGIC;
use mcap::records::op;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

/// The packing of a chunk.
const ZSTD: &str = "zstd";

/// A message of one channel.
pub(super) struct Message<'a> {
    pub(super) channel: u16,
    pub(super) sequence: u32,
    pub(super) time_ns: u64,
    pub(super) data: &'a [u8],
}

/// An MCAP file while it is written.
pub(super) struct Container<W> {
    out: W,
    /// The bytes written so far, and their checksum.
    bytes: u64,
    checksum: crc32fast::Hasher,
    chunk: Chunk,
    schemas: Vec<Vec<u8>>,
    channels: Vec<Vec<u8>>,
    chunk_indexes: Vec<Vec<u8>>,
    messages: BTreeMap<u16, u64>,
    times: Times,
    /// Scratch: a record's data.
    record: Vec<u8>,
}

/// The earliest and latest time of messages; `None` without messages.
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
    /// For each channel the times of its messages and where they begin in `records`.
    messages: BTreeMap<u16, Vec<(u64, u64)>>,
}

impl<W: Write> Container<W> {
    /// Writes the head of the file.
    pub(super) fn new(out: W, profile: &str, library: &str) -> io::Result<Self> {
        let mut container = Self {
            out,
            bytes: 0,
            checksum: crc32fast::Hasher::new(),
            chunk: Chunk::default(),
            schemas: Vec::new(),
            channels: Vec::new(),
            chunk_indexes: Vec::new(),
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

    /// Adds a channel with a schema of its own. Returns its number.
    pub(super) fn add_channel(
        &mut self,
        topic: &str,
        encoding: &str,
        schema_name: &str,
        schema_encoding: &str,
        schema: &[u8],
    ) -> u16 {
        let channel = self.channels.len() as u16;
        // The schema's number; 0 would mean none.
        let number = channel + 1;
        let mut record = number.to_le_bytes().to_vec();
        put_text(&mut record, schema_name.as_bytes());
        put_text(&mut record, schema_encoding.as_bytes());
        put_text(&mut record, schema);
        put_record(&mut self.chunk.records, op::SCHEMA, &record);
        self.schemas.push(record);
        let mut record = [channel.to_le_bytes(), number.to_le_bytes()].concat();
        put_text(&mut record, topic.as_bytes());
        put_text(&mut record, encoding.as_bytes());
        put_text(&mut record, &[]);
        put_record(&mut self.chunk.records, op::CHANNEL, &record);
        self.channels.push(record);
        channel
    }

    /// Adds a message to the chunk.
    pub(super) fn add_message(&mut self, message: &Message<'_>) {
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

    /// Writes the chunk and its index, if there is anything in it.
    pub(super) fn end_chunk(&mut self) -> io::Result<()> {
        if self.chunk.records.is_empty() {
            return self.out.flush();
        }
        let chunk = std::mem::take(&mut self.chunk);
        let size = chunk.records.len() as u64;
        let packed = compress_to_vec(&chunk.records[..], CompressionLevel::Fastest);
        let mut record = Vec::with_capacity(packed.len() + 64);
        chunk.times.put(&mut record);
        record.extend(size.to_le_bytes());
        record.extend(crc32fast::hash(&chunk.records).to_le_bytes());
        put_text(&mut record, ZSTD.as_bytes());
        record.extend((packed.len() as u64).to_le_bytes());
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
        put_text(&mut record, ZSTD.as_bytes());
        record.extend((packed.len() as u64).to_le_bytes());
        record.extend(size.to_le_bytes());
        self.chunk_indexes.push(record);
        // The memory of the records serves the next chunk.
        self.chunk.records = chunk.records;
        self.chunk.records.clear();
        self.out.flush()
    }

    /// Writes the last chunk and the summary. Returns the size of the file.
    pub(super) fn finish(mut self) -> io::Result<u64> {
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
        // No attachments and no metadata.
        record.extend([0; 8]);
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

/// Texts, maps and schemas follow their length.
fn put_text(record: &mut Vec<u8>, text: &[u8]) {
    record.extend((text.len() as u32).to_le_bytes());
    record.extend_from_slice(text);
}
