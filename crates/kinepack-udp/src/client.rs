//! The client's end, which is one connection on its own socket, driven by polls. One thread can
//! drive hundreds of clients.

use std::cell::Cell;
use std::fmt;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use renetcode::{
    ClientAuthentication, ConnectToken, DisconnectReason, NetcodeClient, generate_random_bytes,
};

use super::protocol::{GOODBYES, TOKEN_ADDRESS};
use super::screen::{Header, Kind};
use super::secret::Secret;
use super::socket::open_socket;
use super::{SendError, SetupError};

/// How long a token is valid. The server's clock may be ahead of the client's by this much.
const TOKEN_SECONDS: u64 = 60;
/// The size of a client socket's buffers. A server has larger buffers, but one process must be able
/// to hold hundreds of clients.
const BUFFER_BYTES: usize = 512 << 10;
/// The maximum number of datagrams that one poll reads. The next poll reads the rest.
const MAX_DATAGRAMS_PER_POLL: usize = 256;
/// How often a client sends an empty payload, until the server knows that the client is connected.
const HELLO: Duration = Duration::from_millis(100);

/// How a client identifies itself, and how long it waits.
///
/// ```
/// use std::time::Duration;
/// use kinepack_udp::ClientOptions;
///
/// let protocol_id = u64::from_le_bytes(*b"my game ");
/// let defaults = ClientOptions::new(protocol_id);
/// let options = ClientOptions { timeout: Duration::from_secs(10), ..defaults };
/// assert_eq!(options.client_id, defaults.client_id, "random; or choose your own");
/// assert_eq!(defaults.timeout, Duration::from_secs(5));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ClientOptions {
    /// The client's id, unique on the server. Anyone who knows the secret can connect under any id.
    pub client_id: u64,
    /// The server's [`ServerOptions::protocol_id`](crate::ServerOptions::protocol_id).
    pub protocol_id: u64,
    /// The connection is lost if the server is silent for longer than this.
    pub timeout: Duration,
}

/// The state of a connection.
///
/// ```
/// use std::time::Duration;
/// use kinepack_udp::{ClientOptions, ClientState, LostReason, Secret, UdpClient};
///
/// # let secret = Secret::insecure();
/// # let silent = std::net::UdpSocket::bind("127.0.0.1:0")?; // no server answers here
/// # let server = silent.local_addr()?;
/// let options = ClientOptions { timeout: Duration::from_millis(20), ..ClientOptions::new(1) };
/// let mut client = UdpClient::connect(server, &secret, options)?;
/// let reason = loop {
///     client.poll(&mut |_| {});
///     match client.state() {
///         ClientState::Connecting => {} // show a spinner
///         ClientState::Connected => client.send(b"hello")?,
///         ClientState::Lost { reason } => break reason,
///     }
///     client.wait(Duration::from_millis(1));
/// };
/// assert_eq!(reason, LostReason::NoAnswer);
/// println!("{reason}"); // a sentence for the user
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientState {
    /// The server has not accepted the client yet.
    Connecting,
    /// Both sides can send.
    Connected,
    /// The connection has ended, or never began. It cannot be resumed, so make a new client.
    Lost {
        /// Why the connection ended.
        reason: LostReason,
    },
}

/// Why a connection ended, or never began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostReason {
    /// The server never answered. A wrong secret has the same effect, because the server does not
    /// answer clients with another secret.
    NoAnswer,
    /// The server has no free place.
    Full,
    /// The server sent nothing for longer than the time-out.
    TimedOut,
    /// The server closed the connection.
    Dropped,
}

/// Counters of a client. The counters of bytes count the bytes of UDP payloads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientStats {
    /// The number of datagrams that the client received, of any content.
    pub datagrams_in: u64,
    /// The number of bytes that the client received.
    pub bytes_in: u64,
    /// The number of datagrams that the client sent.
    pub datagrams_out: u64,
    /// The number of bytes that the client sent.
    pub bytes_out: u64,
    /// The number of datagrams that the system refused to send.
    pub unsent: u64,
}

/// A connection to a server, or an attempt to connect. The documentation of [the crate](crate) has
/// an example with a server.
///
/// ```
/// use kinepack_udp::{ClientOptions, ClientState, Secret, UdpClient};
///
/// let secret = Secret::parse("a passphrase of your own")?;
/// let options = ClientOptions::new(u64::from_le_bytes(*b"my game "));
/// let mut client = UdpClient::connect("127.0.0.1:40999".parse()?, &secret, options)?;
/// client.poll(&mut |payload| println!("{} bytes", payload.len()));
/// assert_eq!(client.state(), ClientState::Connecting);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct UdpClient {
    netcode: Box<NetcodeClient>,
    socket: UdpSocket,
    options: ClientOptions,
    state: ClientState,
    /// Whether the server has sent a payload. A payload shows that the server knows that this
    /// client is connected.
    is_confirmed: bool,
    now: Instant,
    last_hello: Option<Instant>,
    /// The socket's current read time-out. If it does not change, the call that sets it is skipped.
    read_timeout: Cell<Duration>,
    stats: ClientStats,
    buffer: Box<[u8; 2048]>,
}

impl ClientOptions {
    /// Options with a random client id, and a time-out of five seconds.
    pub fn new(protocol_id: u64) -> Self {
        let client_id = u64::from_le_bytes(generate_random_bytes());
        Self { client_id, protocol_id, timeout: Duration::from_secs(5) }
    }
}

impl UdpClient {
    /// Begins to connect to `server`. Calls of [`poll`](Self::poll) complete the connection.
    ///
    /// # Errors
    /// Returns [`SetupError::Socket`] if the system refuses a socket, and
    /// [`SetupError::Connection`] if `renetcode` refuses the token.
    pub fn connect(
        server: SocketAddr,
        secret: &Secret,
        options: ClientOptions,
    ) -> Result<Self, SetupError> {
        let any = match server {
            SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
            SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
        };
        let failed = |error| SetupError::Socket { address: server, error };
        let socket = open_socket(any, BUFFER_BYTES).map_err(failed)?;
        // From now on, the system drops datagrams from other addresses.
        socket.connect(server).map_err(failed)?;
        socket.set_nonblocking(true).map_err(failed)?;

        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        // The client makes its own token from the secret. A time-out of 0 means "none": renetcode
        // counts whole seconds, and clients must not choose the server's time-out. Each end keeps
        // its own time-out.
        let (id, addresses) = (options.client_id, vec![TOKEN_ADDRESS]);
        let token = ConnectToken::generate(
            unix,
            options.protocol_id,
            TOKEN_SECONDS,
            id,
            0,
            addresses,
            None,
            secret.key(),
        );
        let connect_token =
            token.map_err(|error| SetupError::Connection { reason: error.to_string() })?;
        let netcode = NetcodeClient::new(unix, ClientAuthentication::Secure { connect_token })
            .map_err(|error| SetupError::Connection { reason: error.to_string() })?;
        let mut client = Self {
            netcode: Box::new(netcode),
            socket,
            options,
            state: ClientState::Connecting,
            is_confirmed: false,
            now: Instant::now(),
            last_hello: None,
            read_timeout: Cell::new(Duration::ZERO),
            stats: ClientStats::default(),
            buffer: Box::new([0; 2048]),
        };
        client.advance(Duration::ZERO);
        Ok(client)
    }

    /// The state of the connection, as of the last poll.
    pub fn state(&self) -> ClientState {
        self.state
    }

    /// The client's counters.
    pub fn stats(&self) -> ClientStats {
        self.stats
    }

    /// Passes each payload that has arrived to `on_datagram`, and sends the datagrams that the
    /// connection needs. Reads at most 256 datagrams. Never blocks.
    pub fn poll(&mut self, on_datagram: &mut dyn FnMut(&[u8])) {
        if matches!(self.state, ClientState::Lost { .. }) {
            return;
        }
        let now = Instant::now();
        let elapsed = now - self.now;
        self.now = now;
        // Advance the clock first. After a pause of this process, the datagrams that arrived
        // meanwhile then count as received now.
        self.advance(elapsed);
        for _ in 0..MAX_DATAGRAMS_PER_POLL {
            match self.socket.recv(&mut self.buffer[..]) {
                Ok(bytes) => self.handle(bytes, on_datagram),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                // The error is an ICMP message about a closed port. Anyone can forge such a
                // message, so only the time-out ends the connection.
                Err(_) => {}
            }
        }
        self.update_state();
        self.say_hello();
    }

    /// Sends `payload` once. The connection adds up to
    /// [`MAX_OVERHEAD_BYTES`](crate::MAX_OVERHEAD_BYTES). The network may lose the payload.
    ///
    /// # Errors
    /// Returns [`SendError`] if `payload` is empty or too long, or if the client is not connected.
    pub fn send(&mut self, payload: &[u8]) -> Result<(), SendError> {
        SendError::check(payload)?;
        if self.state != ClientState::Connected {
            return Err(SendError::NotConnected);
        }
        self.send_payload(payload)
    }

    /// Sleeps until a datagram arrives or `duration` has passed.
    pub fn wait(&self, duration: Duration) {
        if duration.is_zero() || self.socket.set_nonblocking(false).is_err() {
            return;
        }
        if self.read_timeout.get() == duration
            || self.socket.set_read_timeout(Some(duration)).is_ok()
        {
            self.read_timeout.set(duration);
            // A time-out or an error ends the wait, as a datagram does.
            let _ = self.socket.peek(&mut [0]);
        }
        // If this failed, polls would block as long as this call did.
        let _ = self.socket.set_nonblocking(true);
    }

    /// Closes the connection, and notifies the server.
    pub fn close(mut self) {
        if matches!(self.state, ClientState::Lost { .. }) {
            return;
        }
        if let Ok((_, packet)) = self.netcode.disconnect() {
            for _ in 0..GOODBYES {
                let _ = self.socket.send(packet);
            }
        }
    }

    fn handle(&mut self, bytes: usize, on_datagram: &mut dyn FnMut(&[u8])) {
        self.stats.datagrams_in += 1;
        self.stats.bytes_in += bytes as u64;
        let datagram = &mut self.buffer[..bytes];
        let Some(header) = Header::read(datagram) else { return };
        // Only clients send these two kinds of packets.
        if matches!(header.kind, Kind::Request | Kind::Response) {
            return;
        }
        if let Some(payload) = self.netcode.process_packet(datagram) {
            self.is_confirmed = true;
            if !payload.is_empty() {
                on_datagram(payload);
            }
        }
        if header.kind == Kind::Challenge {
            // The client answers immediately.
            self.advance(Duration::ZERO);
        }
    }

    /// Advances the connection's clock, and sends a request, a response or a keep-alive if one is
    /// due.
    fn advance(&mut self, elapsed: Duration) {
        if let Some((packet, _)) = self.netcode.update(elapsed) {
            send(&self.socket, packet, &mut self.stats);
        }
    }

    fn update_state(&mut self) {
        let lost = if let Some(reason) = self.netcode.disconnect_reason() {
            Some(match reason {
                DisconnectReason::ConnectionDenied => LostReason::Full,
                DisconnectReason::DisconnectedByServer | DisconnectReason::DisconnectedByClient => {
                    LostReason::Dropped
                }
                DisconnectReason::ConnectionTimedOut => LostReason::TimedOut,
                DisconnectReason::ConnectTokenExpired
                | DisconnectReason::ConnectionResponseTimedOut
                | DisconnectReason::ConnectionRequestTimedOut => LostReason::NoAnswer,
            })
        } else if self.netcode.time_since_last_received_packet() >= self.options.timeout {
            Some(if self.netcode.is_connected() {
                LostReason::TimedOut
            } else {
                LostReason::NoAnswer
            })
        } else {
            None
        };
        self.state = match lost {
            Some(reason) => ClientState::Lost { reason },
            None if self.netcode.is_connected() => ClientState::Connected,
            None => ClientState::Connecting,
        };
    }

    /// Sends empty payloads, which confirm that this client is connected, until the server has sent
    /// a payload.
    fn say_hello(&mut self) {
        let is_due = self.last_hello.is_none_or(|last| self.now - last >= HELLO);
        if self.state == ClientState::Connected && !self.is_confirmed && is_due {
            self.last_hello = Some(self.now);
            let _ = self.send_payload(&[]);
        }
    }

    fn send_payload(&mut self, payload: &[u8]) -> Result<(), SendError> {
        let (_, packet) =
            self.netcode.generate_payload_packet(payload).map_err(|_| SendError::NotConnected)?;
        send(&self.socket, packet, &mut self.stats);
        Ok(())
    }
}

fn send(socket: &UdpSocket, packet: &[u8], stats: &mut ClientStats) {
    match socket.send(packet) {
        Ok(bytes) => {
            stats.datagrams_out += 1;
            stats.bytes_out += bytes as u64;
        }
        Err(_) => stats.unsent += 1,
    }
}

impl fmt::Display for LostReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoAnswer => {
                "the server does not answer. Either no server runs at that address, or the secrets \
                 differ, or the two sides run different versions, or their clocks differ by more \
                 than a minute"
            }
            Self::Full => "the server is full",
            Self::TimedOut => "the server fell silent",
            Self::Dropped => "the server closed the connection",
        })
    }
}

#[cfg(test)]
impl UdpClient {
    pub(crate) fn client_id(&self) -> u64 {
        self.options.client_id
    }

    /// Sends a datagram that no client would send.
    pub(crate) fn send_raw(&self, datagram: &[u8]) {
        let _ = self.socket.send(datagram);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_that_the_system_refuses_is_counted() {
        // An unconnected socket has no destination, so the system refuses the datagram.
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let mut stats = ClientStats::default();
        send(&socket, b"nowhere", &mut stats);
        assert_eq!(stats, ClientStats { unsent: 1, ..ClientStats::default() });
    }
}
