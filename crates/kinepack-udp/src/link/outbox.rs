//! The datagrams that wait for the socket, in order per client.
//!
//! Each waiting datagram has a turn, and turns are taken in the order of sending, so the clients
//! share the socket fairly. The datagrams of one client keep their order: `renetcode` refuses a
//! packet that is more than 256 packets late. They wait encrypted, so the outbox has no secrets.
//!
//! The memory of sent datagrams is reused, so that a steady state allocates nothing.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::time::Instant;

/// The maximum number of unused buffers that are kept. A buffer has up to about 1,300 bytes.
const MAX_SPARE: usize = 4096;

/// A datagram that waits.
pub(crate) struct Waiting {
    pub(crate) address: SocketAddr,
    pub(crate) since: Instant,
    pub(crate) packet: Vec<u8>,
}

/// The waiting datagrams of all clients.
pub(crate) struct Outbox {
    /// The maximum number of bytes that wait for one client.
    limit_bytes: usize,
    lanes: HashMap<u64, Lane>,
    /// The clients in the order of sending, one entry for each waiting datagram.
    turns: VecDeque<u64>,
    /// The sum of the bytes of all lanes.
    bytes: usize,
    /// The time of the last call of [`push`](Self::push).
    newest: Option<Instant>,
    /// The memory of datagrams that no longer wait.
    spare: Vec<Vec<u8>>,
}

/// The waiting datagrams of one client, oldest first.
#[derive(Default)]
struct Lane {
    datagrams: VecDeque<Waiting>,
    bytes: usize,
}

impl Outbox {
    pub(crate) fn new(limit_bytes: usize) -> Self {
        Self {
            limit_bytes,
            lanes: HashMap::new(),
            turns: VecDeque::new(),
            bytes: 0,
            newest: None,
            spare: Vec::new(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// The number of bytes that wait.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The time at which the last datagram was added.
    pub(crate) fn newest(&self) -> Option<Instant> {
        self.newest
    }

    /// Adds a datagram. Returns how many datagrams of the same client were dropped to make room,
    /// oldest first, or 1 if this datagram alone exceeds the limit.
    pub(crate) fn push(
        &mut self,
        client: u64,
        address: SocketAddr,
        packet: &[u8],
        now: Instant,
    ) -> u64 {
        if packet.len() > self.limit_bytes {
            return 1;
        }
        let mut memory = self.spare.pop().unwrap_or_default();
        memory.clear();
        memory.extend_from_slice(packet);
        let lane = self.lanes.entry(client).or_default();
        let mut dropped = 0;
        while lane.bytes + packet.len() > self.limit_bytes {
            let Some(oldest) = lane.pop() else { break };
            self.bytes -= oldest.packet.len();
            keep(&mut self.spare, oldest.packet);
            dropped += 1;
        }
        lane.bytes += packet.len();
        lane.datagrams.push_back(Waiting { address, since: now, packet: memory });
        self.bytes += packet.len();
        self.newest = Some(now);
        // The new datagram inherits the turn of the first one that was dropped.
        match dropped {
            0 => self.turns.push_back(client),
            _ => (1..dropped).for_each(|_| self.remove_turn(client)),
        }
        dropped
    }

    /// The datagram whose turn it is.
    pub(crate) fn front(&self) -> Option<&Waiting> {
        self.lanes.get(self.turns.front()?)?.datagrams.front()
    }

    /// Removes the datagram whose turn it is.
    pub(crate) fn pop(&mut self) {
        let lane = self.turns.pop_front().and_then(|client| self.lanes.get_mut(&client));
        if let Some(sent) = lane.and_then(Lane::pop) {
            self.bytes -= sent.packet.len();
            keep(&mut self.spare, sent.packet);
        }
    }

    /// Removes all datagrams of a client, and returns them, oldest first.
    pub(crate) fn remove(&mut self, client: u64) -> VecDeque<Waiting> {
        let Some(lane) = self.lanes.remove(&client) else { return VecDeque::new() };
        if !lane.datagrams.is_empty() {
            self.turns.retain(|turn| *turn != client);
        }
        self.bytes -= lane.bytes;
        lane.datagrams
    }

    fn remove_turn(&mut self, client: u64) {
        if let Some(index) = self.turns.iter().position(|turn| *turn == client) {
            self.turns.remove(index);
        }
    }
}

impl Lane {
    fn pop(&mut self) -> Option<Waiting> {
        let oldest = self.datagrams.pop_front()?;
        self.bytes -= oldest.packet.len();
        Some(oldest)
    }
}

fn keep(spare: &mut Vec<Vec<u8>>, memory: Vec<u8>) {
    if spare.len() < MAX_SPARE {
        spare.push(memory);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESS: SocketAddr =
        SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 9);

    /// Takes everything that waits, as (bytes, first byte) of each datagram.
    fn rest(outbox: &mut Outbox) -> Vec<(usize, u8)> {
        let mut rest = Vec::new();
        while let Some(waiting) = outbox.front() {
            rest.push((waiting.packet.len(), waiting.packet[0]));
            outbox.pop();
        }
        assert!(outbox.is_empty() && outbox.bytes() == 0 && outbox.turns.is_empty());
        rest
    }

    #[test]
    fn beyond_its_limit_a_client_loses_its_oldest_datagrams_and_the_others_lose_none() {
        let (mut outbox, now) = (Outbox::new(100), Instant::now());
        assert_eq!(outbox.push(1, ADDRESS, &[10; 40], now), 0);
        assert_eq!(outbox.push(2, ADDRESS, &[20; 90], now), 0);
        assert_eq!(outbox.push(1, ADDRESS, &[11; 40], now), 0);
        assert_eq!(outbox.push(1, ADDRESS, &[12; 20], now), 0, "the limit may be reached");
        assert_eq!(outbox.push(1, ADDRESS, &[13; 30], now), 1);
        assert_eq!(outbox.push(1, ADDRESS, &[14; 90], now), 3);
        assert_eq!(outbox.push(2, ADDRESS, &[21; 101], now), 1, "it never fits");
        assert_eq!(outbox.bytes(), 180);
        assert_eq!(rest(&mut outbox).len(), 2);

        assert_eq!(outbox.push(1, ADDRESS, &[10; 40], now), 0);
        assert_eq!(outbox.push(2, ADDRESS, &[20; 90], now), 0);
        assert_eq!(outbox.push(1, ADDRESS, &[11; 70], now), 1);
        let order = rest(&mut outbox);
        assert_eq!(order, [(70, 11), (90, 20)], "the new datagram has the turn of the old one");
    }

    #[test]
    fn a_removed_client_leaves_no_turns() {
        let (mut outbox, now) = (Outbox::new(100), Instant::now());
        for byte in 0..5 {
            outbox.push(u64::from(byte % 2), ADDRESS, &[byte; 10], now);
        }
        let removed: Vec<u8> = outbox.remove(0).iter().map(|waiting| waiting.packet[0]).collect();
        assert_eq!(removed, [0, 2, 4]);
        assert!(outbox.remove(0).is_empty());
        assert_eq!(rest(&mut outbox), [(10, 1), (10, 3)]);
    }

    #[test]
    fn the_memory_of_sent_datagrams_is_reused() {
        let (mut outbox, now) = (Outbox::new(10_000), Instant::now());
        for _ in 0..100 {
            (0..5).for_each(|client| _ = outbox.push(client, ADDRESS, &[1; 1200], now));
            assert_eq!(rest(&mut outbox).len(), 5);
        }
        assert_eq!(outbox.spare.len(), 5);
    }
}
