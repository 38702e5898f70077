//! Chunks that overlap in time: found before the first frame, and then read by time.

use std::fs::File;
use std::path::Path;

use mcap::records::op;

use super::chunk::{self, unpack};
use super::columns::Table;
use super::damage::{Damages, Refused};
use super::reader::{Capture, declare, take, values_of};
use super::source::{self, Broken, Checksummed, Chunks, Linear, Source};
use super::stream::Streams;
use super::summary::{self, ChunkAt};
use super::window::split_message;

/// What reading all records of a file in their order finds.
struct Survey {
    chunks: Vec<ChunkAt>,
    streams: Streams,
    damage: Damages,
    /// The place of a checksum that differs, and what it covers.
    differs: Option<(u64, Checksummed)>,
    is_summary_wrong: bool,
}

impl Capture {
    /// Reads the chunks before the summary by time, if they overlap. In most files they do not:
    /// then only the heads of their records are read here.
    pub(super) fn sort_chunks(&mut self, summary_byte: u64) {
        let Ok(mut file) = File::open(&self.path) else { return };
        let Ok(overlaps) = summary::overlaps(&mut file, summary_byte) else { return };
        if !overlaps && summary::is_in_order(&self.chunks) {
            return;
        }
        let Some(found) = self.survey().filter(|found| !summary::is_in_order(&found.chunks)) else {
            return;
        };
        let Survey { mut chunks, streams, damage, differs, is_summary_wrong } = found;
        self.streams = streams;
        self.damage.extend(damage);
        self.differs = differs;
        if is_summary_wrong {
            self.streams.forget_counts();
        }
        chunks.sort_by_key(|chunk| chunk.start_ns);
        self.source = Source::Chunks(Chunks::new(file, chunks, 0));
    }

    /// Reads all records in the order of the file. Takes the declarations outside of chunks; also
    /// those within chunks if the summary has none, because a later chunk may be read first. `None`
    /// if a frame is outside of chunks, or if the file cannot be read.
    fn survey(&self) -> Option<Survey> {
        let file = File::open(&self.path).ok()?;
        let mut source = Source::Linear(Box::new(Linear::new(Box::new(file), 0)));
        let is_declared = !self.streams.list.is_empty();
        let mut unpacked = self.unpacked;
        let mut found = Survey {
            chunks: Vec::new(),
            streams: self.streams.clone(),
            damage: Damages::default(),
            differs: None,
            is_summary_wrong: false,
        };
        let lost = loop {
            let opcode = match source.advance() {
                Ok(Some(opcode)) => opcode,
                Ok(None) => break None,
                Err(Broken::Checksum(of)) => {
                    found.is_summary_wrong |= of == Checksummed::Summary;
                    found.differs = found.differs.or(Some((source.at_byte(), of)));
                    continue;
                }
                Err(Broken::Lost(reason)) => break Some(reason),
                Err(Broken::Io(_) | Broken::TooMany(_)) => return None,
            };
            let (at_byte, end) = (source.at_byte(), source.read_bytes());
            if hides_a_chunk(&self.path, &self.chunks, at_byte, end).ok()? {
                break Some(HIDES.to_owned());
            }
            if opcode == op::CHUNK {
                found.add_chunk(source.data(), (at_byte, end));
                if !is_declared {
                    let values = found.declare_within(source.data(), at_byte);
                    unpacked.add(values, 0, end).ok()?;
                }
                continue;
            }
            let listed = self.chunks.binary_search_by_key(&at_byte, |chunk| chunk.at_byte);
            if listed.is_ok() {
                let reason = "the index has a chunk here, and the file another record";
                found.damage.note(at_byte, reason.to_owned().into());
            } else if let Err(refused) = found.add_other(opcode, source.data())? {
                found.damage.note(at_byte, refused);
            }
        };
        if let Some(reason) = lost {
            let at_byte = source.at_byte();
            found.damage.note(at_byte, reason.into());
            found.chunks.extend(self.chunks.iter().filter(|chunk| chunk.at_byte > at_byte));
        }
        Some(found)
    }
}

/// Why the end of a record is not believed.
pub(super) const HIDES: &str = "a record's length goes beyond the start of the next chunk";

/// Whether the next chunk of the index begins within the record between two bytes, so that the
/// record's length is wrong. An index may be wrong too, so the file must have a chunk there.
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
    source::is_chunk(&mut file, *chunk).map_err(Broken::Io)
}

impl Survey {
    fn add_chunk(&mut self, data: &[u8], (at_byte, end): (u64, u64)) {
        match ChunkAt::of_chunk(data, at_byte, end - at_byte) {
            Some(chunk) => self.chunks.push(chunk),
            None => self.damage.note(at_byte, "a chunk ends within its head".to_owned().into()),
        }
    }

    /// Takes the declarations within a chunk. Returns the values that it counts.
    fn declare_within(&mut self, data: &[u8], at_byte: u64) -> usize {
        let mut records = Vec::new();
        if unpack(data, &mut records).is_err() {
            return values_of(0, records.len());
        }
        let mut count = 0;
        for (_, opcode, place) in chunk::records(&records).flatten() {
            count += 1;
            if !matches!(opcode, op::SCHEMA | op::CHANNEL) {
                continue;
            }
            let data = &records[place];
            // A channel is refused once. What is refused again is noted when the chunk is read.
            if let Err(refused) = declare(&mut self.streams, opcode, data)
                && declare(&mut self.streams, opcode, data).is_ok()
            {
                self.damage.note(at_byte, refused);
            }
        }
        values_of(count, records.len())
    }

    /// Takes a record outside of chunks, or says why it is refused. `None` for a frame.
    fn add_other(&mut self, opcode: u8, data: &[u8]) -> Option<Result<(), Refused>> {
        if opcode != op::MESSAGE {
            return Some(declare(&mut self.streams, opcode, data));
        }
        let frame =
            split_message(data).map_err(Refused::from).and_then(|(channel, sequence, rest)| {
                let (mut table, mut taken) = (Table::default(), Vec::new());
                take(&self.streams, &mut table, &mut taken, channel, sequence, &data[rest])
            });
        match frame {
            Ok(Some(_)) => None,
            Ok(None) => Some(Ok(())),
            Err(refused) => Some(Err(refused)),
        }
    }
}
