//! The events and datagrams since the last poll. The memory is bounded: datagrams that do not fit
//! are dropped, as a network would drop them.

use std::ops::Range;

use kinepack_udp::ServerEvent;

/// The maximum number of bytes of all waiting datagrams. The inputs of 300 players at 60 Hz take
/// more than a second to reach this limit.
const MOST_BYTES: usize = 4 << 20;
const MOST_DATAGRAMS: usize = 64 << 10;

/// The events in order, and the bytes of the datagrams.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    pub(crate) events: Vec<ServerEvent>,
    pub(crate) bytes: Vec<u8>,
    datagrams: usize,
}

impl Inbox {
    /// Adds a datagram. Returns false if there is no room.
    pub(crate) fn push(&mut self, client: u64, datagram: &[u8]) -> bool {
        if self.bytes.len() + datagram.len() > MOST_BYTES || self.datagrams >= MOST_DATAGRAMS {
            return false;
        }
        let first = self.bytes.len();
        self.bytes.extend_from_slice(datagram);
        let payload: Range<usize> = first..self.bytes.len();
        self.events.push(ServerEvent::Datagram { client, payload });
        self.datagrams += 1;
        true
    }

    /// Empties the inbox, and keeps its memory.
    pub(crate) fn clear(&mut self) {
        self.events.clear();
        self.bytes.clear();
        self.datagrams = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_finds_no_room() {
        let mut inbox = Inbox::default();
        let taken = (0..10_000).filter(|_| inbox.push(1, &[0; 1_200])).count();
        assert_eq!(taken, MOST_BYTES / 1_200);
        inbox.clear();
        let taken = (0..100_000).filter(|_| inbox.push(1, &[0])).count();
        assert_eq!(taken, MOST_DATAGRAMS);
    }
}
