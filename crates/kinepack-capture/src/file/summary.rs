//! Reads a file's summary: where it begins, and the chunks that it lists.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use mcap::MAGIC;
use mcap::records::op;

use super::source::RECORD_HEADER_BYTES;

/// The number of bytes of the times at the front of a chunk's data.
const TIMES_BYTES: usize = 16;

/// The place of a chunk, and the times at which it begins and ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChunkAt {
    pub(super) at_byte: u64,
    /// The number of bytes of the chunk's record.
    pub(super) bytes: u64,
    pub(super) start_ns: u64,
    end_ns: u64,
    /// Whether the chunk is known to hold no message. The chunk's times then have no meaning.
    is_empty: bool,
}

impl ChunkAt {
    /// Reads the front of an index record, and ignores its other parts.
    pub(super) fn from_index(data: &[u8]) -> Option<Self> {
        let (numbers, _) = data.first_chunk::<32>()?.as_chunks::<8>();
        let [start_ns, end_ns, at_byte, bytes] =
            std::array::from_fn(|index| u64::from_le_bytes(numbers[index]));
        Some(Self { at_byte, bytes, start_ns, end_ns, is_empty: false })
    }

    /// Takes the times from the front of a chunk's data.
    pub(super) fn from_chunk(data: &[u8], at_byte: u64, bytes: u64) -> Option<Self> {
        let (times, _) = data.first_chunk::<TIMES_BYTES>()?.as_chunks::<8>();
        let [start_ns, end_ns] = std::array::from_fn(|index| u64::from_le_bytes(times[index]));
        Some(Self { at_byte, bytes, start_ns, end_ns, is_empty: false })
    }

    /// Returns whether the chunk may hold no message. A chunk without messages has the time 0, and
    /// so has a chunk that holds only messages of tick 0. The records of the chunk show which of
    /// the two it is.
    pub(super) fn may_be_empty(self) -> bool {
        self.end_ns == 0
    }

    /// Returns the same chunk, marked as having no messages.
    pub(super) fn without_messages(self) -> Self {
        Self { is_empty: true, ..self }
    }

    /// Returns the number of bytes of the chunk's record after the opcode and the length.
    pub(super) fn data_bytes(self) -> u64 {
        self.bytes.saturating_sub(RECORD_HEADER_BYTES as u64)
    }
}

/// Finds the byte where a file's summary begins, if the file has one. Moves the file's position to
/// that byte.
pub(super) fn begin(file: &mut File) -> io::Result<Option<u64>> {
    // The number of bytes of the footer: its opcode and length, the positions of the summary and of
    // the offsets, and a checksum. The magic bytes follow the footer.
    const FOOTER: usize = 9 + 20;
    let end = file.seek(SeekFrom::End(-((FOOTER + MAGIC.len()) as i64)))?;
    let mut footer = [0; FOOTER];
    file.read_exact(&mut footer)?;
    let begin = u64::from_le_bytes(std::array::from_fn(|index| footer[9 + index]));
    if footer[0] != op::FOOTER || begin == 0 || begin > end {
        return Ok(None);
    }
    file.seek(SeekFrom::Start(begin))?;
    Ok(Some(begin))
}

/// Returns the chunks in the order of the file, each once. Returns an empty list if the chunks'
/// places are impossible, so that the reader does not use the index.
pub(super) fn checked(mut chunks: Vec<ChunkAt>, summary_byte: u64) -> Vec<ChunkAt> {
    chunks.sort_by_key(|chunk| chunk.at_byte);
    let mut free = MAGIC.len() as u64;
    let is_sound = chunks.iter().all(|chunk| {
        let is_after = chunk.at_byte >= free;
        free = chunk.at_byte.saturating_add(chunk.bytes);
        is_after && free <= summary_byte
    });
    if is_sound { chunks } else { Vec::new() }
}

/// Returns whether chunks before a file's summary overlap in time, according to their own headers.
/// An index is not used, because it may list wrong places, wrong times, or only some of the chunks.
/// Reads only the headers of records, up to the first message outside of chunks.
pub(super) fn overlaps(file: &mut File, summary_byte: u64) -> io::Result<bool> {
    let mut order = Order::default();
    let mut at_byte = MAGIC.len() as u64;
    while at_byte < summary_byte {
        file.seek(SeekFrom::Start(at_byte))?;
        let mut header = Vec::with_capacity(RECORD_HEADER_BYTES + TIMES_BYTES);
        file.by_ref().take((RECORD_HEADER_BYTES + TIMES_BYTES) as u64).read_to_end(&mut header)?;
        let Some((record, times)) = header.split_first_chunk::<RECORD_HEADER_BYTES>() else {
            break;
        };
        let [opcode, length @ ..] = *record;
        let bytes = u64::from_le_bytes(length).saturating_add(RECORD_HEADER_BYTES as u64);
        match opcode {
            op::MESSAGE => break,
            op::CHUNK if bytes >= (RECORD_HEADER_BYTES + TIMES_BYTES) as u64 => {
                let chunk = ChunkAt::from_chunk(times, at_byte, bytes);
                if chunk.is_some_and(|chunk| !order.is_kept_by(chunk)) {
                    return Ok(true);
                }
            }
            _ => {}
        }
        at_byte = at_byte.saturating_add(bytes);
    }
    Ok(false)
}

/// Returns true if no chunk begins before an earlier one ends.
pub(super) fn is_in_order(chunks: &[ChunkAt]) -> bool {
    let mut order = Order::default();
    chunks.iter().all(|chunk| order.is_kept_by(*chunk))
}

/// Checks the order of chunks that follow one another.
#[derive(Default)]
struct Order {
    last_ns: u64,
}

impl Order {
    /// Adds the next chunk, and returns false if it begins before an earlier one ends. A chunk that
    /// is known to be without messages is ignored.
    fn is_kept_by(&mut self, next: ChunkAt) -> bool {
        if next.is_empty {
            return true;
        }
        let is_after = next.start_ns >= self.last_ns;
        self.last_ns = next.end_ns;
        is_after
    }
}
