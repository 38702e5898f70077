//! The server's end: many connections on one socket.
//!
//! `renetcode` finds a connection by walking through all of them, and looks after each only when
//! told to, so this keeps its own short record of each client and asks `renetcode` only when
//! something is due.

use std::collections::HashMap;
use std::net::{SocketAddr, UdpSocket};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use renetcode::{NetcodeServer, ServerAuthentication, ServerConfig, ServerResult};

use super::gate::{Gate, News};
use super::limit::RateLimit;
use super::reader::{Inbox, READ_TIMEOUT, Reader, Received};
use super::screen::{Header, Kind};
use super::secret::Secret;
use super::{GOODBYES, KEEP_ALIVE, SendError, TOKEN_ADDRESS, socket};
use crate::failure::Failure;

/// A tenth of a second of 1024 clients; Linux grants up to `net.core.rmem_max`.
const BUFFER_BYTES: usize = 4 << 20;
/// How often the clients are looked through for silence.
const ROUND: Duration = Duration::from_millis(25);
/// Between two goodbyes, so that one moment's congestion does not swallow all of them.
const GOODBYE_PAUSE: Duration = Duration::from_millis(3);

/// How a server behaves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServerOptions {
    /// Up to [`ServerOptions::MAX_CLIENTS`].
    pub(crate) max_clients: usize,
    /// What the program speaks; clients of another one get no answer.
    pub(crate) protocol_id: u64,
    /// A client that is silent for longer is gone.
    pub(crate) timeout: Duration,
    /// What one client may send; more is dropped.
    pub(crate) per_client: RateLimit,
}

/// What happened on the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ServerEvent {
    /// A client is there and knows it.
    Connected {
        client: u64,
        address: SocketAddr,
    },
    /// A payload stands at `payload`, to be read with [`UdpServer::payload`] before the next poll.
    Datagram {
        client: u64,
        payload: Range<usize>,
    },
    Disconnected {
        client: u64,
        reason: DisconnectReason,
    },
}

/// Why a client is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DisconnectReason {
    /// It said goodbye.
    Left,
    /// It was silent for too long.
    TimedOut,
}

/// What a server has received, dropped and sent since it was bound. Bytes are those of UDP's
/// payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct UdpStats {
    pub(crate) datagrams_in: u64,
    pub(crate) bytes_in: u64,
    pub(crate) datagrams_out: u64,
    pub(crate) bytes_out: u64,
    /// What could be no packet, or none that its sender may send.
    pub(crate) junk: u64,
    /// What its sender sent too often.
    pub(crate) limited: u64,
    /// What arrived while the inbox was full.
    pub(crate) overflowed: u64,
    /// How often a sender of junk was silenced for a second: what it sent then is in no other
    /// number.
    pub(crate) silenced: u64,
    /// What did not decipher, was replayed, or came from somebody who may not connect.
    pub(crate) refused: u64,
    /// What the system did not take for sending.
    pub(crate) unsent: u64,
}

/// A bound server.
pub(crate) struct UdpServer {
    netcode: NetcodeServer,
    timeout: Duration,
    local_address: SocketAddr,
    peers: HashMap<u64, Peer>,
    link: Link,
    reader: Reader,
    inbox: Inbox,
    /// Scratch for the ids of clients with something due.
    due: Vec<u64>,
    refused: u64,
    now: Instant,
    last_round: Instant,
}

struct Peer {
    address: SocketAddr,
    /// It has sent a payload, so it knows that it is connected. Before that, only keep-alives go to
    /// it: one of them is what tells it, and `renetcode` sends none to a client that it sends
    /// payloads to.
    is_confirmed: bool,
    heard: Instant,
    sent: Instant,
}

/// The sending side of the socket.
struct Link {
    socket: Arc<UdpSocket>,
    datagrams: u64,
    bytes: u64,
    unsent: u64,
}

impl ServerOptions {
    pub(crate) const MAX_CLIENTS: usize = 1024;

    /// 64 clients that send up to 500 datagrams a second: four streams of 120 Hz.
    pub(crate) fn new(protocol_id: u64) -> Self {
        let per_client = RateLimit { per_second: 500, burst: 200 };
        Self { max_clients: 64, protocol_id, timeout: Duration::from_secs(5), per_client }
    }
}

impl UdpServer {
    /// Opens a socket at `address` and starts to read it.
    pub(crate) fn bind(
        address: SocketAddr,
        secret: &Secret,
        options: ServerOptions,
    ) -> Result<Self, Failure> {
        if !(1..=ServerOptions::MAX_CLIENTS).contains(&options.max_clients) {
            return Err(Failure::MaxClients {
                given: options.max_clients,
                limit: ServerOptions::MAX_CLIENTS,
            });
        }
        let failed = |error| Failure::Socket { address, error };
        let socket = Arc::new(socket::open(address, BUFFER_BYTES)?);
        socket.set_read_timeout(Some(READ_TIMEOUT)).map_err(failed)?;
        // A network that takes nothing must not stop the tick.
        socket.set_write_timeout(Some(Duration::from_millis(1))).map_err(failed)?;

        let (now, unix) =
            (Instant::now(), SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default());
        let netcode = NetcodeServer::new(ServerConfig {
            current_time: unix,
            max_clients: options.max_clients,
            protocol_id: options.protocol_id,
            public_addresses: vec![TOKEN_ADDRESS],
            authentication: ServerAuthentication::Secure { private_key: *secret.key() },
        });
        let gate = Gate::new(options.protocol_id, options.per_client, unix.as_secs());
        Ok(Self {
            netcode,
            timeout: options.timeout,
            local_address: socket.local_addr().map_err(failed)?,
            peers: HashMap::new(),
            reader: Reader::start(Arc::clone(&socket), gate, now).map_err(failed)?,
            link: Link { socket, datagrams: 0, bytes: 0, unsent: 0 },
            inbox: Inbox::default(),
            due: Vec::new(),
            refused: 0,
            now,
            last_round: now,
        })
    }

    /// Where it is bound, with the port that it was given.
    pub(crate) fn local_addr(&self) -> SocketAddr {
        self.local_address
    }

    /// Appends what has happened to `events`. Never waits; call it in each tick and between ticks.
    ///
    /// Handles at most 4096 datagrams, 64 of them requests to connect. Allocates nothing in the
    /// steady state.
    pub(crate) fn poll(&mut self, events: &mut Vec<ServerEvent>) {
        let now = Instant::now();
        self.netcode.update(now - self.now);
        self.now = now;
        self.reader.take(&mut self.inbox);
        let datagrams = std::mem::take(&mut self.inbox.datagrams);
        for received in &datagrams {
            self.handle(received, events);
        }
        self.inbox.datagrams = datagrams;
        if now - self.last_round >= ROUND {
            self.last_round = now;
            self.look_after_clients(events);
        }
    }

    /// The payload of an event of the last poll.
    pub(crate) fn payload(&self, range: &Range<usize>) -> &[u8] {
        self.inbox.bytes.get(range.clone()).unwrap_or_default()
    }

    /// Sends `payload` once to a client that has been reported as connected. Costs up to 25 bytes
    /// and, like every datagram, may be lost.
    pub(crate) fn send(&mut self, client: u64, payload: &[u8]) -> Result<(), SendError> {
        SendError::check(payload)?;
        let peer = self
            .peers
            .get_mut(&client)
            .filter(|peer| peer.is_confirmed)
            .ok_or(SendError::NotConnected)?;
        let (address, packet) = self
            .netcode
            .generate_payload_packet(client, payload)
            .map_err(|_| SendError::NotConnected)?;
        peer.sent = self.now;
        self.link.send(address, packet);
        Ok(())
    }

    /// Drops a client and tells it so. No event follows.
    pub(crate) fn disconnect(&mut self, client: u64) {
        self.drop_client(client);
    }

    pub(crate) fn stats(&self) -> UdpStats {
        let counters = self.reader.counters();
        UdpStats {
            datagrams_in: counters.datagrams.load(Ordering::Relaxed),
            bytes_in: counters.bytes.load(Ordering::Relaxed),
            datagrams_out: self.link.datagrams,
            bytes_out: self.link.bytes,
            junk: counters.junk.load(Ordering::Relaxed),
            limited: counters.limited.load(Ordering::Relaxed),
            overflowed: counters.overflowed.load(Ordering::Relaxed),
            silenced: counters.silenced.load(Ordering::Relaxed),
            refused: self.refused,
            unsent: self.link.unsent,
        }
    }

    /// Tells all clients goodbye and frees the port.
    pub(crate) fn close(mut self) {
        let mut goodbyes = Vec::with_capacity(self.peers.len());
        for client in std::mem::take(&mut self.peers).into_keys() {
            if let ServerResult::ClientDisconnected { addr, payload: Some(packet), .. } =
                self.netcode.disconnect(client)
            {
                goodbyes.push((addr, packet.to_vec()));
            }
        }
        for round in 0..GOODBYES {
            if round > 0 && !goodbyes.is_empty() {
                thread::sleep(GOODBYE_PAUSE);
            }
            for (address, packet) in &goodbyes {
                self.link.send(*address, packet);
            }
        }
    }

    fn handle(&mut self, received: &Received, events: &mut Vec<ServerEvent>) {
        let Received { address, header, range } = received;
        let packet = &mut self.inbox.bytes[range.clone()];
        match self.netcode.process_packet(*address, packet) {
            ServerResult::Payload { client_id: client, .. } => {
                let Some(peer) = self.peers.get_mut(&client) else { return };
                peer.heard = self.now;
                if !peer.is_confirmed {
                    peer.is_confirmed = true;
                    events.push(ServerEvent::Connected { client, address: *address });
                }
                let payload = header.body(range);
                if !payload.is_empty() {
                    events.push(ServerEvent::Datagram { client, payload });
                }
            }
            ServerResult::PacketToSend { addr, payload } => {
                if Header::read(payload).is_some_and(|header| header.kind == Kind::Challenge) {
                    self.reader.tell(News::Challenged(addr));
                }
                self.link.send(addr, payload);
            }
            ServerResult::ClientConnected { client_id, addr, payload, .. } => {
                let peer =
                    Peer { address: addr, is_confirmed: false, heard: self.now, sent: self.now };
                self.peers.insert(client_id, peer);
                self.reader.tell(News::Connected(addr));
                self.link.send(addr, payload);
            }
            ServerResult::ClientDisconnected { client_id: client, .. } => {
                let reason = DisconnectReason::Left;
                if self.forget(client) {
                    events.push(ServerEvent::Disconnected { client, reason });
                }
            }
            // renetcode says the same of a keep-alive that is in order and of one that is not.
            ServerResult::None => self.refused += u64::from(header.kind != Kind::KeepAlive),
        }
    }

    /// Keeps quiet connections alive and drops those that are silent.
    fn look_after_clients(&mut self, events: &mut Vec<ServerEvent>) {
        let (now, timeout) = (self.now, self.timeout);
        let mut due = std::mem::take(&mut self.due);
        due.extend(
            self.peers
                .iter()
                .filter(|(_, peer)| now - peer.sent >= KEEP_ALIVE)
                .map(|(&client, _)| client),
        );
        for client in due.drain(..) {
            if let ServerResult::PacketToSend { addr, payload } = self.netcode.update_client(client)
            {
                self.link.send(addr, payload);
                self.peers.entry(client).and_modify(|peer| peer.sent = now);
            }
        }
        due.extend(
            self.peers
                .iter()
                .filter(|(_, peer)| now - peer.heard >= timeout)
                .map(|(&client, _)| client),
        );
        for client in due.drain(..) {
            // Only renetcode knows of the keep-alives that came.
            let silence =
                self.netcode.time_since_last_received_packet(client).unwrap_or(Duration::MAX);
            if silence < timeout {
                self.peers.entry(client).and_modify(|peer| peer.heard = now - silence);
            } else if self.drop_client(client) {
                events
                    .push(ServerEvent::Disconnected { client, reason: DisconnectReason::TimedOut });
            }
        }
        self.due = due;
    }

    /// Whether it was there for the user.
    fn drop_client(&mut self, client: u64) -> bool {
        if let ServerResult::ClientDisconnected { addr, payload: Some(packet), .. } =
            self.netcode.disconnect(client)
        {
            (0..GOODBYES).for_each(|_| self.link.send(addr, packet));
        }
        self.forget(client)
    }

    fn forget(&mut self, client: u64) -> bool {
        let Some(peer) = self.peers.remove(&client) else { return false };
        self.reader.tell(News::Gone(peer.address));
        peer.is_confirmed
    }
}

impl Link {
    fn send(&mut self, address: SocketAddr, packet: &[u8]) {
        match self.socket.send_to(packet, address) {
            Ok(bytes) => {
                self.datagrams += 1;
                self.bytes += bytes as u64;
            }
            Err(_) => self.unsent += 1,
        }
    }
}

#[cfg(test)]
impl UdpServer {
    /// How many clients have been reported as connected and not as gone.
    pub(super) fn clients(&self) -> usize {
        self.peers.values().filter(|peer| peer.is_confirmed).count()
    }
}
