//! Datagrams that wait between a transport and an endpoint.

use core::ops::Range;

/// A queue of datagrams in one buffer, each with the peer that it comes from or goes to. The queue
/// allocates nothing once the buffer is large enough.
///
/// ```
/// use kinepack_bevy::Datagrams;
///
/// let mut datagrams = Datagrams::default();
/// datagrams.push(7, b"hello");
/// datagrams.push(8, b"world");
/// let list: Vec<(i32, &[u8])> = datagrams.iter().collect();
/// assert_eq!(list, [(7, &b"hello"[..]), (8, &b"world"[..])]);
/// datagrams.clear();
/// assert!(datagrams.is_empty());
/// ```
#[derive(Clone, Debug)]
pub struct Datagrams<Peer> {
    bytes: Vec<u8>,
    list: Vec<(Peer, Range<usize>)>,
}

impl<Peer> Default for Datagrams<Peer> {
    fn default() -> Self {
        Self { bytes: Vec::new(), list: Vec::new() }
    }
}

impl<Peer: Copy> Datagrams<Peer> {
    /// Appends a datagram.
    pub fn push(&mut self, peer: Peer, datagram: &[u8]) {
        self.push_with(peer, |bytes| bytes.extend_from_slice(datagram));
    }

    /// Appends the datagram that `write` writes to the buffer. An empty datagram is dropped.
    pub(crate) fn push_with(&mut self, peer: Peer, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.bytes.len();
        write(&mut self.bytes);
        if self.bytes.len() > start {
            self.list.push((peer, start..self.bytes.len()));
        }
    }

    /// The datagrams, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (Peer, &[u8])> {
        self.list.iter().map(|(peer, range)| (*peer, &self.bytes[range.clone()]))
    }

    /// Removes all datagrams, and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.list.clear();
    }

    /// The number of datagrams that wait.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The number of bytes of all datagrams together.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }
}
