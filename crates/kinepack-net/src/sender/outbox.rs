//! The datagrams that wait to be sent.

use std::collections::VecDeque;
use std::ops::Range;

use super::receiver_id::ReceiverId;
use crate::Channel;

/// The datagrams that wait to be sent, in one buffer.
#[derive(Debug)]
pub(super) struct Outbox {
    channel: Channel,
    bytes: Vec<u8>,
    parts: VecDeque<(ReceiverId, Range<usize>)>,
}

impl Outbox {
    pub(super) fn new(channel: Channel) -> Self {
        Self { channel, bytes: Vec::new(), parts: VecDeque::new() }
    }

    /// Adds a datagram that `write` writes, and returns its length.
    pub(super) fn push(&mut self, to: ReceiverId, write: impl FnOnce(&mut Vec<u8>)) -> usize {
        if self.parts.is_empty() {
            self.bytes.clear();
        }
        let begin = self.bytes.len();
        self.channel.write(&mut self.bytes);
        write(&mut self.bytes);
        self.parts.push_back((to, begin..self.bytes.len()));
        self.bytes.len() - begin
    }

    pub(super) fn pop(&mut self) -> Option<(ReceiverId, &[u8])> {
        let (to, range) = self.parts.pop_front()?;
        Some((to, &self.bytes[range]))
    }

    pub(super) fn forget(&mut self, receiver: ReceiverId) {
        self.parts.retain(|(to, _)| *to != receiver);
    }
}
