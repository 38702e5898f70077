//! The messages of loaded chunks that were not taken yet.
//!
//! Usually the window holds one chunk, whose messages are taken in the file's order. If the ticks
//! are not in that order, the messages are taken by time. For a file whose chunks overlap in time,
//! the window holds several chunks.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Range;

use kinepack::Tick;

use super::source::MAX_RECORD_BYTES;

/// The maximum number of bytes of chunks that are loaded to sort their messages, and one more
/// chunk.
const MOST_BYTES: usize = 4 * MAX_RECORD_BYTES;

/// The memory of a message that waits: its entry, in a list whose capacity may be twice its length.
const MESSAGE_BYTES: usize = 2 * size_of::<Waiting>();

/// A message that waits. Orders by time, by tick, and by place in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Waiting {
    /// For a chunk that is taken in the file's order, `due_ns` and `tick` are 0 in all messages.
    pub(super) due_ns: u64,
    /// Orders messages with equal times: every time beyond the range of `due_ns` has the same
    /// value.
    tick: Tick,
    chunk: u32,
    /// Where the record begins in the chunk.
    pub(super) at: u32,
}

/// A chunk that has messages left.
pub(super) struct Loaded {
    pub(super) records: Vec<u8>,
    /// Where it begins in the file.
    pub(super) at_byte: u64,
    /// The bytes of the file that were read up to its end.
    pub(super) read_bytes: u64,
    /// The memory of the records and of its messages that wait.
    bytes: usize,
    left: usize,
}

/// Loaded chunks and the order of their messages.
#[derive(Default)]
pub(super) struct Window {
    waiting: BinaryHeap<Reverse<Waiting>>,
    chunks: BTreeMap<u32, Loaded>,
    next_chunk: u32,
    bytes: usize,
    /// Memory of a chunk whose messages were all taken.
    spare: Vec<u8>,
}

impl Window {
    /// Memory for the next chunk.
    pub(super) fn spare(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.spare)
    }

    /// Adds a chunk with its messages: for each the time, the tick and the byte in the chunk.
    pub(super) fn add(
        &mut self,
        records: Vec<u8>,
        (at_byte, read_bytes): (u64, u64),
        messages: impl ExactSizeIterator<Item = (u64, Tick, u32)>,
    ) {
        let (chunk, left) = (self.next_chunk, messages.len());
        if left == 0 {
            self.spare = records;
            return;
        }
        self.next_chunk += 1;
        let bytes = records.len() + left * MESSAGE_BYTES;
        self.bytes += bytes;
        let waiting = |(due_ns, tick, at)| Reverse(Waiting { due_ns, tick, chunk, at });
        self.waiting.extend(messages.map(waiting));
        self.chunks.insert(chunk, Loaded { records, at_byte, read_bytes, bytes, left });
    }

    /// Whether a chunk that begins at this time should be added before the next message is taken,
    /// because it may have earlier messages. Also false if there is no memory for the chunk.
    pub(super) fn wants(&self, start_ns: u64) -> bool {
        let is_later = |Reverse(first): &Reverse<Waiting>| start_ns < first.due_ns;
        self.bytes < MOST_BYTES && self.waiting.peek().is_none_or(is_later)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Takes the first message.
    pub(super) fn pop(&mut self) -> Option<Waiting> {
        self.waiting.pop().map(|Reverse(first)| first)
    }

    /// The chunk of a message that was taken and not released.
    pub(super) fn chunk_of(&self, message: Waiting) -> Option<&Loaded> {
        self.chunks.get(&message.chunk)
    }

    /// Ends the use of a message that was taken.
    pub(super) fn release(&mut self, message: Waiting) {
        let Some(loaded) = self.chunks.get_mut(&message.chunk) else { return };
        loaded.left -= 1;
        if loaded.left == 0
            && let Some(loaded) = self.chunks.remove(&message.chunk)
        {
            self.bytes -= loaded.bytes;
            self.spare = loaded.records;
        }
    }
}

/// The parts of a message's data: channel, sequence, and where the rest begins.
pub(super) fn split_message(data: &[u8]) -> Result<(u16, u32, Range<usize>), String> {
    /// The bytes before the rest: channel, sequence, two times.
    const BEFORE: usize = 2 + 4 + 8 + 8;
    let Some(before) = data.first_chunk::<BEFORE>() else {
        return Err("a message ends within its header".into());
    };
    let channel = u16::from_le_bytes([before[0], before[1]]);
    let sequence = u32::from_le_bytes([before[2], before[3], before[4], before[5]]);
    Ok((channel, sequence, BEFORE..data.len()))
}
