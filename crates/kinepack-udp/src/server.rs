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
use super::link::Link;
use super::options::ServerOptions;
use super::protocol::{GOODBYES, KEEP_ALIVE, TOKEN_ADDRESS};
use super::reader::{Inbox, READ_TIMEOUT, Reader, Received};
use super::screen::{Header, Kind};
use super::secret::Secret;
use super::socket::{ask_for_send_buffer, open_socket, receive_buffer_bytes, send_buffer_bytes};
use super::stats::UdpStats;
use super::{SendError, SetupError};

/// The size of the socket's receive buffer: a tenth of a second of datagrams from 1,024 clients.
/// Linux counts this as 8 MiB, and grants it only if `net.core.rmem_max` allows.
const BUFFER_BYTES: usize = 4 << 20;
/// The size of the socket's send buffer. Linux counts this as 2 MiB, and a datagram of 1,200 bytes
/// as 2,304, so 910 of them fit. That is less than the 1,000 datagrams of an interface's simplest
/// queue (`pfifo_fast`). A full queue drops datagrams, and the send reports success.
const SEND_BUFFER_BYTES: usize = 1 << 20;
/// How long a send may wait for the socket. The system may round this up to its clock's step.
const WRITE_TIMEOUT: Duration = Duration::from_millis(1);
/// The time between two checks for silent clients.
const ROUND: Duration = Duration::from_millis(25);
/// The pause between two goodbyes, so that a moment of congestion does not lose all of them.
const GOODBYE_PAUSE: Duration = Duration::from_millis(3);

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
    link: Link<Arc<UdpSocket>>,
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
        ask_for_send_buffer(&socket, SEND_BUFFER_BYTES);
        socket.set_read_timeout(Some(READ_TIMEOUT)).map_err(failed)?;
        // A network that accepts no datagrams must not block the tick.
        socket.set_write_timeout(Some(WRITE_TIMEOUT)).map_err(failed)?;

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
            link: Link::new(socket, &options, now),
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
        receive_buffer_bytes(self.link.wire())
    }

    /// The bytes that the system keeps for datagrams that wait to be sent, as the system counts
    /// them. Linux counts 2,304 for a datagram of 1,200 bytes, and grants at most twice
    /// `net.core.wmem_max`.
    pub fn send_buffer_bytes(&self) -> usize {
        send_buffer_bytes(self.link.wire())
    }

    /// Appends what has happened since the last call to `events`, and does the work of
    /// [`flush`](Self::flush). Never blocks. Call it in each tick, and also between ticks if you
    /// need exact round trips.
    ///
    /// Handles at most 4,096 datagrams, of which at most 64 are connection requests. In steady
    /// state, it allocates nothing.
    pub fn poll(&mut self, events: &mut Vec<ServerEvent>) {
        let now = Instant::now();
        self.netcode.update(now - self.now);
        self.now = now;
        self.link.flush(now);
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
    /// If the socket is full, waits for it, up to about 10 ms in a row and a quarter of the time
    /// overall. With a [`pace`](ServerOptions::pace), never waits. A payload for which there is no
    /// room then waits in memory, in order, for the next send, poll or [`flush`](Self::flush).
    /// [`ServerOptions::queue_bytes`] and [`max_wait`](ServerOptions::max_wait) limit this, and
    /// [`UdpStats::unsent`] counts what was dropped.
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
        self.link.send(client, address, packet, Instant::now());
        Ok(())
    }

    /// Sends the datagrams that wait and are due. Never blocks (on Windows, for a millisecond at
    /// most). Returns how long to sleep before the next call, or `None` if nothing waits.
    /// [`poll`](Self::poll) does the same work, so a loop that polls once a millisecond need not
    /// call this.
    ///
    /// ```
    /// use std::thread;
    /// use std::time::{Duration, Instant};
    /// use kinepack_udp::{Secret, ServerOptions, UdpServer};
    ///
    /// const TICK: Duration = Duration::from_micros(16_667);
    /// let options = ServerOptions { pace: Some(TICK / 2), ..ServerOptions::new(1) };
    /// let mut server = UdpServer::bind("127.0.0.1:0".parse()?, &Secret::insecure(), options)?;
    /// let mut events = Vec::new();
    /// let mut next = Instant::now();
    /// for _ in 0..3 {
    ///     server.poll(&mut events);
    ///     // Here, your game handles the events, and sends its state to all clients.
    ///     next += TICK;
    ///     while let Some(pause) = server.flush()
    ///         && Instant::now() + pause < next
    ///     {
    ///         thread::sleep(pause);
    ///     }
    ///     thread::sleep(next.saturating_duration_since(Instant::now()));
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn flush(&mut self) -> Option<Duration> {
        self.link.flush(Instant::now())
    }

    /// Disconnects a client, and notifies it. Before that, sends what still waits for it, as far as
    /// the socket takes it. The server reports no event for this.
    pub fn disconnect(&mut self, client: u64) {
        self.link.finish(client);
        self.drop_client(client, true);
    }

    /// The server's counters.
    pub fn stats(&self) -> UdpStats {
        let counters = self.reader.counters();
        UdpStats {
            datagrams_in: counters.datagrams.load(Ordering::Relaxed),
            bytes_in: counters.bytes.load(Ordering::Relaxed),
            datagrams_out: self.link.datagrams(),
            bytes_out: self.link.bytes(),
            junk: counters.junk.load(Ordering::Relaxed),
            limited: counters.limited.load(Ordering::Relaxed),
            overflowed: counters.overflowed.load(Ordering::Relaxed),
            silenced: counters.silenced.load(Ordering::Relaxed),
            refused: self.refused,
            unsent: self.link.unsent(),
        }
    }

    /// Disconnects all clients, notifies them, and frees the port. Before that, sends what still
    /// waits, as far as the socket takes it.
    pub fn close(mut self) {
        let mut goodbyes = Vec::with_capacity(self.peers.len());
        for client in std::mem::take(&mut self.peers).into_keys() {
            self.link.finish(client);
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
                self.link.send_at_once(*address, packet, true);
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
                self.link.send_at_once(addr, payload, false);
            }
            ServerResult::ClientConnected { client_id, addr, payload, .. } => {
                let peer =
                    Peer { address: addr, is_confirmed: false, heard: self.now, sent: self.now };
                self.peers.insert(client_id, peer);
                self.reader.tell(News::Connected(addr));
                self.link.send_from_poll(client_id, addr, payload, self.now);
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
                self.link.send_from_poll(client, addr, payload, now);
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
            } else if self.drop_client(client, false) {
                events
                    .push(ServerEvent::Disconnected { client, reason: DisconnectReason::TimedOut });
            }
        }
        self.due = due;
    }

    /// Drops a client. Returns whether the client had been reported as connected.
    fn drop_client(&mut self, client: u64, may_wait: bool) -> bool {
        if let ServerResult::ClientDisconnected { addr, payload: Some(packet), .. } =
            self.netcode.disconnect(client)
        {
            (0..GOODBYES).for_each(|_| self.link.send_at_once(addr, packet, may_wait));
        }
        self.forget(client)
    }

    fn forget(&mut self, client: u64) -> bool {
        self.link.forget(client);
        let Some(peer) = self.peers.remove(&client) else { return false };
        self.reader.tell(News::Gone(peer.address));
        peer.is_confirmed
    }
}

#[cfg(test)]
impl UdpServer {
    /// The number of clients that have been reported as connected, and not as disconnected.
    pub(crate) fn clients(&self) -> usize {
        self.peers.values().filter(|peer| peer.is_confirmed).count()
    }

    /// Lets all datagrams of connections wait for `time`, if there is a pace.
    pub(crate) fn hold(&mut self, time: Duration) {
        self.link.hold(Instant::now() + time);
    }
}
