//! Holds the messages of loaded chunks that were not taken yet.
//!
//! Usually the window holds one chunk, whose messages are taken in the file's order. If the ticks
//! of a chunk are not in that order, its messages are taken by time. If chunks of the file overlap
//! in time, the window holds several chunks.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Range;

use kinepack::Tick;

use super::source::MAX_RECORD_BYTES;

/// The maximum number of bytes of chunks that are loaded to sort their messages; one more chunk may
/// be loaded.
const MOST_BYTES: usize = 4 * MAX_RECORD_BYTES;

/// The memory of a waiting message, in bytes: its entry, in a list whose capacity may be twice its
/// length.
const MESSAGE_BYTES: usize = 2 * size_of::<Waiting>();

/// A message that was not taken yet. Messages are ordered by time, by tick, and by place in the
/// file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Waiting {
    /// The time of the message. If the chunk is taken in the file's order, `due_ns` and `tick` are
    /// 0 in all of its messages.
    pub(super) due_ns: u64,
    /// The tick, which orders messages with equal times: every time beyond the range of `due_ns`
    /// has the same value.
    tick: Tick,
    chunk: u32,
    /// The byte in the chunk where the record begins.
    pub(super) at: u32,
}

/// A chunk with messages that were not taken yet.
pub(super) struct Loaded {
    pub(super) records: Vec<u8>,
    /// The byte in the file where the chunk begins.
    pub(super) at_byte: u64,
    /// The number of bytes of the file that were read up to the end of the chunk.
    pub(super) read_bytes: u64,
    /// The memory of the chunk's records and of its waiting messages, in bytes.
    bytes: usize,
    left: usize,
}

/// The loaded chunks and the order of their messages.
#[derive(Default)]
pub(super) struct Window {
    waiting: BinaryHeap<Reverse<Waiting>>,
    chunks: BTreeMap<u32, Loaded>,
    next_chunk: u32,
    bytes: usize,
    /// The memory of a chunk whose messages were all taken.
    spare: Vec<u8>,
}

impl Window {
    /// Returns memory for the next chunk.
    pub(super) fn spare(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.spare)
    }

    /// Adds a chunk with its messages, each given by its time, its tick and its byte in the chunk.
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

    /// Returns whether a chunk that begins at `start_ns` should be added before the next message is
    /// taken, because the chunk may have earlier messages. Also returns false if there is no memory
    /// for the chunk.
    pub(super) fn wants(&self, start_ns: u64) -> bool {
        let is_later = |Reverse(first): &Reverse<Waiting>| start_ns < first.due_ns;
        self.bytes < MOST_BYTES && self.waiting.peek().is_none_or(is_later)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Takes the first message in the order.
    pub(super) fn pop(&mut self) -> Option<Waiting> {
        self.waiting.pop().map(|Reverse(first)| first)
    }

    /// Returns the chunk of a message that was taken but not released.
    pub(super) fn chunk_of(&self, message: Waiting) -> Option<&Loaded> {
        self.chunks.get(&message.chunk)
    }

    /// Ends the use of a message that was taken, and of its chunk if it was the last message.
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

/// Splits a message's data: the channel, the sequence, and the range of the rest.
pub(super) fn split_message(data: &[u8]) -> Result<(u16, u32, Range<usize>), String> {
    /// The number of bytes before the rest: channel, sequence, and two timestamps.
    const BEFORE: usize = 2 + 4 + 8 + 8;
    let Some(before) = data.first_chunk::<BEFORE>() else {
        return Err("a message ends within its header".into());
    };
    let channel = u16::from_le_bytes([before[0], before[1]]);
    let sequence = u32::from_le_bytes([before[2], before[3], before[4], before[5]]);
    Ok((channel, sequence, BEFORE..data.len()))
}
