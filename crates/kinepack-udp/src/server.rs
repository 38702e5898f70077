//! The server's end, which has many connections on one socket.
//!
//! `renetcode` searches all connections to find one, and updates a connection only when asked.
//! Therefore, this module keeps a short record of each client, and calls `renetcode` only when
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
use super::protocol::{GOODBYES, KEEP_ALIVE, TOKEN_ADDRESS};
use super::reader::{Inbox, READ_TIMEOUT, Reader, Received};
use super::screen::{Header, Kind};
use super::secret::Secret;
use super::socket::{open_socket, receive_buffer_bytes};
use super::{SendError, SetupError};

/// The size of the socket's buffers: a tenth of a second of datagrams from 1,024 clients. Linux
/// counts this as 8 MiB, and grants it only if `net.core.rmem_max` allows.
const BUFFER_BYTES: usize = 4 << 20;
/// The time between two checks for silent clients.
const ROUND: Duration = Duration::from_millis(25);
/// The pause between two goodbyes, so that a moment of congestion does not lose all of them.
const GOODBYE_PAUSE: Duration = Duration::from_millis(3);

/// A server's limits.
///
/// ```
/// use std::time::Duration;
/// use kinepack_udp::{Secret, ServerOptions, UdpServer};
///
/// let options = ServerOptions {
///     max_clients: 16,
///     timeout: Duration::from_secs(10),
///     ..ServerOptions::new(u64::from_le_bytes(*b"my game "))
/// };
/// assert_eq!(options.per_client.per_second, 500);
/// let server = UdpServer::bind("127.0.0.1:0".parse()?, &Secret::insecure(), options)?;
/// assert_ne!(server.local_addr().port(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ServerOptions {
    /// The maximum number of clients, 1 to [`ServerOptions::MAX_CLIENTS`].
    pub max_clients: usize,
    /// The number of your program. The server does not answer clients with another number.
    pub protocol_id: u64,
    /// The server drops a client that is silent for longer than this.
    pub timeout: Duration,
    /// The rate at which one client may send datagrams. The server drops datagrams above this rate.
    pub per_client: RateLimit,
}

/// Something that happened on the network, as [`UdpServer::poll`] reports it.
///
/// ```
/// use std::collections::BTreeMap;
/// # use std::time::Duration;
/// # use kinepack_udp::{ClientOptions, Secret, ServerOptions, UdpClient, UdpServer};
/// use kinepack_udp::ServerEvent;
///
/// # let secret = Secret::insecure();
/// # let mut server = UdpServer::bind("127.0.0.1:0".parse()?, &secret, ServerOptions::new(1))?;
/// # let mut client = UdpClient::connect(server.local_addr(), &secret, ClientOptions::new(1))?;
/// # let mut inputs = 0;
/// let mut players = BTreeMap::new();
/// let mut events = Vec::new();
/// # while inputs == 0 {
/// # client.poll(&mut |_| {});
/// # let _ = client.send(b"jump");
/// server.poll(&mut events);
/// for event in events.drain(..) {
///     match event {
///         ServerEvent::Connected { client, address } => {
///             players.insert(client, address);
///             server.send(client, b"welcome")?;
///         }
///         ServerEvent::Datagram { payload, .. } => {
///             assert_eq!(server.payload(&payload), b"jump");
/// #           inputs += 1;
///         }
///         ServerEvent::Disconnected { client, .. } => drop(players.remove(&client)),
///     }
/// }
/// # client.wait(Duration::from_millis(1));
/// # }
/// assert_eq!(players.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerEvent {
    /// A client has connected, and both sides know it.
    Connected {
        /// The client's id.
        client: u64,
        /// The client's address.
        address: SocketAddr,
    },
    /// A payload has arrived. [`UdpServer::payload`] returns its bytes until the next poll.
    Datagram {
        /// The client's id.
        client: u64,
        /// The range to pass to [`UdpServer::payload`].
        payload: Range<usize>,
    },
    /// A client is gone.
    Disconnected {
        /// The client's id.
        client: u64,
        /// Why the client is gone.
        reason: DisconnectReason,
    },
}

/// Why a client is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DisconnectReason {
    /// The client closed the connection.
    Left,
    /// The client was silent for too long.
    TimedOut,
}

/// Counters of a server since it was bound. The counters of bytes count the bytes of UDP payloads.
///
/// ```
/// use kinepack_udp::{Secret, ServerOptions, UdpServer};
/// # use std::time::Duration;
///
/// let address = "127.0.0.1:0".parse()?;
/// let server = UdpServer::bind(address, &Secret::insecure(), ServerOptions::new(1))?;
/// # std::net::UdpSocket::bind(address)?.send_to(b"junk", server.local_addr())?;
/// # while server.stats().datagrams_in == 0 || server.stats().junk == 0 {
/// #     std::thread::sleep(Duration::from_millis(1));
/// # }
/// let stats = server.stats(); // after somebody sent a datagram of 4 bytes of junk
/// assert_eq!((stats.datagrams_in, stats.bytes_in, stats.junk), (1, 4, 1));
/// assert_eq!(stats.overflowed, 0, "if not, poll more often");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UdpStats {
    /// The number of datagrams that the server received, of any content.
    pub datagrams_in: u64,
    /// The number of bytes that the server received.
    pub bytes_in: u64,
    /// The number of datagrams that the server sent.
    pub datagrams_out: u64,
    /// The number of bytes that the server sent.
    pub bytes_out: u64,
    /// The number of datagrams that the server dropped because they cannot be a packet, or are a
    /// packet that their sender may not send.
    pub junk: u64,
    /// The number of datagrams that the server dropped because their sender sent more than its
    /// limit.
    pub limited: u64,
    /// The number of datagrams that the server dropped because the inbox was full.
    pub overflowed: u64,
    /// How many times the server silenced a sender of junk for a second. The datagrams of that
    /// second are not counted anywhere.
    pub silenced: u64,
    /// The number of datagrams that the server refused because they were altered, repeated, or made
    /// with another secret.
    pub refused: u64,
    /// The number of datagrams that the system refused to send.
    pub unsent: u64,
}

/// A server on one socket. The documentation of [the crate](crate) has an example with a client.
///
/// ```
/// use kinepack_udp::{Secret, ServerOptions, UdpServer};
///
/// let secret = Secret::parse("a passphrase of your own")?;
/// let options = ServerOptions::new(u64::from_le_bytes(*b"my game "));
/// let mut server = UdpServer::bind("127.0.0.1:0".parse()?, &secret, options)?;
/// let mut events = Vec::new();
/// server.poll(&mut events);
/// assert!(events.is_empty(), "no client has connected");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct UdpServer {
    netcode: NetcodeServer,
    timeout: Duration,
    local_address: SocketAddr,
    peers: HashMap<u64, Peer>,
    link: Link,
    reader: Reader,
    inbox: Inbox,
    /// Scratch memory: the ids of clients for which something is due.
    due: Vec<u64>,
    refused: u64,
    now: Instant,
    last_round: Instant,
}

struct Peer {
    address: SocketAddr,
    /// Whether the client has sent a payload. A payload shows that the client knows that it is
    /// connected. Before that, the server sends it only keep-alives. A keep-alive tells the client
    /// that it is connected, and `renetcode` sends none to a client that gets payloads.
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
    /// The maximum number of clients that a server can have.
    pub const MAX_CLIENTS: usize = 1024;

    /// Options for 64 clients, each with up to 500 datagrams per second (four streams of 120 Hz),
    /// and a time-out of five seconds.
    pub fn new(protocol_id: u64) -> Self {
        let per_client = RateLimit { per_second: 500, burst: 200 };
        Self { max_clients: 64, protocol_id, timeout: Duration::from_secs(5), per_client }
    }
}

impl UdpServer {
    /// Opens a socket at `address` and starts the thread that reads it. Port 0 takes any free port.
    ///
    /// # Errors
    /// Returns [`SetupError::MaxClients`], or [`SetupError::Socket`] if the system refuses the
    /// address.
    pub fn bind(
        address: SocketAddr,
        secret: &Secret,
        options: ServerOptions,
    ) -> Result<Self, SetupError> {
        if !(1..=ServerOptions::MAX_CLIENTS).contains(&options.max_clients) {
            return Err(SetupError::MaxClients { given: options.max_clients });
        }
        let failed = |error| SetupError::Socket { address, error };
        let socket = Arc::new(open_socket(address, BUFFER_BYTES).map_err(failed)?);
        socket.set_read_timeout(Some(READ_TIMEOUT)).map_err(failed)?;
        // A network that accepts no datagrams must not block the tick.
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

    /// The socket's address, with its actual port.
    pub fn local_addr(&self) -> SocketAddr {
        self.local_address
    }

    /// The bytes that the system keeps for datagrams that wait to be read, as the system counts
    /// them. A server of 1,000 players should have 8 MiB. The chapter *Show your server's world in
    /// a browser* of the book explains how to set this.
    pub fn receive_buffer_bytes(&self) -> usize {
        receive_buffer_bytes(&self.link.socket)
    }

    /// Appends what has happened since the last call to `events`. Never blocks. Call it in each
    /// tick, and also between ticks if you need exact round trips.
    ///
    /// Handles at most 4,096 datagrams, of which at most 64 are connection requests. In steady
    /// state, it allocates nothing.
    pub fn poll(&mut self, events: &mut Vec<ServerEvent>) {
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

    /// The payload of a [`ServerEvent::Datagram`] from the last poll.
    pub fn payload(&self, range: &Range<usize>) -> &[u8] {
        self.inbox.bytes.get(range.clone()).unwrap_or_default()
    }

    /// Sends `payload` once to a connected client. The connection adds up to
    /// [`MAX_OVERHEAD_BYTES`](crate::MAX_OVERHEAD_BYTES). The network may lose the payload.
    ///
    /// # Errors
    /// Returns [`SendError`] if the payload is empty or too long, or the client is not connected.
    pub fn send(&mut self, client: u64, payload: &[u8]) -> Result<(), SendError> {
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

    /// Disconnects a client, and notifies it. The server reports no event for this.
    pub fn disconnect(&mut self, client: u64) {
        self.drop_client(client);
    }

    /// The server's counters.
    pub fn stats(&self) -> UdpStats {
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

    /// Disconnects all clients, notifies them, and frees the port.
    pub fn close(mut self) {
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
            // renetcode returns the same result for valid and invalid keep-alives.
            ServerResult::None => self.refused += u64::from(header.kind != Kind::KeepAlive),
        }
    }

    /// Sends keep-alives, and drops silent clients.
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
            // Only renetcode counts received keep-alives.
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

    /// Drops a client. Returns whether the client had been reported as connected.
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
    /// The number of clients that have been reported as connected, and not as disconnected.
    pub(crate) fn clients(&self) -> usize {
        self.peers.values().filter(|peer| peer.is_confirmed).count()
    }
}
