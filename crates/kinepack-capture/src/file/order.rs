//! Finds chunks that overlap in time before the first frame is read, and sorts them by time.

use std::fs::File;

use mcap::records::op;

use super::chunk::{self, unpack};
use super::columns::Table;
use super::damage::{Damages, Refused};
use super::reader::{Capture, declare, take, values_of};
use super::source::{Broken, Checksummed, Chunks, HIDES, Linear, Source, hides_a_chunk};
use super::stream::Streams;
use super::summary::{self, ChunkAt};
use super::window::split_message;

/// The result of reading all records in the order of the file.
struct Survey {
    chunks: Vec<ChunkAt>,
    streams: Streams,
    damage: Damages,
    /// The place of a checksum that differs, and the records that it covers.
    differs: Option<(u64, Checksummed)>,
    is_summary_wrong: bool,
}

impl Capture {
    /// Sorts the chunks before the summary by time, if they overlap. In most files they do not
    /// overlap, and then only the headers of the records are read here. A late chunk whose times
    /// are 0 also causes a survey.
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

    /// Reads all records in the order of the file, and takes the declarations of streams outside of
    /// chunks. If the summary has no declarations, the survey also takes the declarations within
    /// chunks, because a later chunk may be read first. If a chunk's times are 0, the survey looks
    /// into the chunk, because the chunk may be empty. Returns `None` if a frame is outside of
    /// chunks, or if the file cannot be read.
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
                let mut chunk = found.place_of(source.data(), (at_byte, end));
                if !is_declared || chunk.is_some_and(ChunkAt::may_be_empty) {
                    let within = found.look_within(source.data(), at_byte, !is_declared);
                    unpacked.add(within.values, 0, end).ok()?;
                    if within.is_without_messages {
                        chunk = chunk.map(ChunkAt::without_messages);
                    }
                }
                found.chunks.extend(chunk);
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

/// The contents of a chunk.
struct Within {
    /// The number of values that the chunk counts as, for the limits.
    values: usize,
    is_without_messages: bool,
}

impl Survey {
    /// Returns the place of a chunk. Notes a chunk that is too short to have times.
    fn place_of(&mut self, data: &[u8], (at_byte, end): (u64, u64)) -> Option<ChunkAt> {
        let chunk = ChunkAt::from_chunk(data, at_byte, end - at_byte);
        if chunk.is_none() {
            self.damage.note(at_byte, "a chunk ends within its header".to_owned().into());
        }
        chunk
    }

    /// Looks for messages within a chunk, and takes the chunk's declarations if they are `wanted`.
    fn look_within(&mut self, data: &[u8], at_byte: u64, wanted: bool) -> Within {
        let mut records = Vec::new();
        if unpack(data, &mut records).is_err() {
            return Within { values: values_of(0, records.len()), is_without_messages: false };
        }
        let (mut count, mut is_without_messages) = (0, true);
        for (_, opcode, place) in chunk::records(&records).flatten() {
            count += 1;
            is_without_messages &= opcode != op::MESSAGE;
            if !wanted || !matches!(opcode, op::SCHEMA | op::CHANNEL) {
                continue;
            }
            // Any other refusal occurs again, and is noted, when the chunk is read.
            if let Err(refused) = declare(&mut self.streams, opcode, &records[place])
                && refused.is_remembered
            {
                self.damage.note(at_byte, refused);
            }
        }
        Within { values: values_of(count, records.len()), is_without_messages }
    }

    /// Takes a record outside of chunks, or returns the reason why it is refused. Returns `None`
    /// for a frame.
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
