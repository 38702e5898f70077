//! Chunks that overlap in time: found before the first frame, and then read by time.

use std::fs::File;
use std::path::Path;

use mcap::records::op;

use super::chunk::{record_at, unpack};
use super::damage::{Damages, Refused};
use super::reader::{Capture, declare, values_of};
use super::source::{self, Broken, Checksummed, Chunks, Linear, Source};
use super::stream::Streams;
use super::summary::{self, ChunkAt};

/// What reading all records of a file in their order finds.
#[derive(Default)]
struct Survey {
    chunks: Vec<ChunkAt>,
    damage: Vec<(u64, Refused)>,
    /// The place of a checksum that differs, and what it covers.
    differs: Option<(u64, Checksummed)>,
}

impl Capture {
    /// Reads the chunks before the summary by time, if they overlap. In most files they do not:
    /// then only the heads of their records are read here.
    pub(super) fn sort_chunks(&mut self, summary_byte: u64) {
        let Ok(mut file) = File::open(&self.path) else { return };
        let Ok(heads) = summary::heads(&mut file, summary_byte) else { return };
        if summary::is_in_order(&heads) && summary::is_in_order(&self.chunks) {
            return;
        }
        let Some(Survey { mut chunks, damage, differs }) = self.survey() else { return };
        if summary::is_in_order(&chunks) {
            return;
        }
        damage.into_iter().for_each(|(at_byte, refused)| self.damage.note(at_byte, refused));
        if let Some((_, Checksummed::Summary)) = differs {
            self.streams.forget_counts();
        }
        self.differs = differs;
        chunks.sort_by_key(|chunk| chunk.start_ns);
        self.source = Source::Chunks(Chunks::new(file, chunks, 0));
    }

    /// Reads all records in the order of the file. Takes the declarations outside of chunks; also
    /// those within chunks if the summary has none, because a later chunk may be read first. `None`
    /// if a message is outside of chunks, or if the file cannot be read.
    fn survey(&mut self) -> Option<Survey> {
        let file = File::open(&self.path).ok()?;
        let mut source = Source::Linear(Box::new(Linear::new(Box::new(file), 0)));
        let is_declared = !self.streams.list.is_empty();
        let mut found = Survey::default();
        let mut unpacked = self.unpacked;
        let lost = loop {
            let opcode = match source.advance() {
                Ok(Some(opcode)) => opcode,
                Ok(None) => break None,
                Err(Broken::Checksum(of)) => {
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
            match opcode {
                op::MESSAGE => return None,
                op::CHUNK => {
                    found.chunks.extend(ChunkAt::of_chunk(source.data(), at_byte, end - at_byte));
                    if !is_declared {
                        let values = declare_within(&mut self.streams, source.data());
                        unpacked.add(values, 0, end).ok()?;
                    }
                }
                _ => {
                    if let Err(refused) = declare(&mut self.streams, opcode, source.data()) {
                        found.damage.push((at_byte, refused));
                    }
                }
            }
        };
        if let Some(reason) = lost {
            let at_byte = source.at_byte();
            found.damage.push((at_byte, reason.into()));
            let later = self.chunks.iter().filter(|chunk| chunk.at_byte > at_byte);
            found.chunks.extend(later);
        }
        Some(found)
    }

    /// Notes a checksum that differs, if nothing else is damaged: that of all data also covers each
    /// damaged chunk.
    pub(super) fn note_checksum(damage: &mut Damages, at_byte: u64, of: Checksummed) {
        if damage.count == 0 {
            damage.note(at_byte, format!("the checksum of the {} differs", of.name()).into());
        }
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

/// Takes the declarations within a chunk. What is wrong with it is noted when its frames are read.
/// Returns the values that it counts.
fn declare_within(streams: &mut Streams, chunk: &[u8]) -> usize {
    let mut records = Vec::new();
    if unpack(chunk, &mut records).is_err() {
        return 0;
    }
    let (mut at, mut count) = (0, 0);
    while let Some((opcode, place)) =
        (at < records.len()).then(|| record_at(&records, at).ok()).flatten()
    {
        (at, count) = (place.end, count + 1);
        if matches!(opcode, op::SCHEMA | op::CHANNEL) {
            let _ = declare(streams, opcode, &records[place]);
        }
    }
    values_of(count, records.len())
}
