//! The client's end: one connection on a socket of its own, driven by polls, so that one thread can
//! drive hundreds.

use std::cell::Cell;
use std::fmt;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use renetcode::{
    ClientAuthentication, ConnectToken, DisconnectReason, NetcodeClient, generate_random_bytes,
};

use super::screen::{Header, Kind};
use super::secret::Secret;
use super::{GOODBYES, SendError, TOKEN_ADDRESS, socket};
use crate::failure::Failure;

/// How long a token can be used, and so by how much the server's clock may be ahead of ours.
const TOKEN_SECONDS: u64 = 60;
/// 200 clients in one process would take more than a machine's share with the server's buffers.
const BUFFER_BYTES: usize = 512 << 10;
/// What one poll reads; the rest waits for the next.
const MAX_DATAGRAMS_PER_POLL: usize = 256;
/// How often a new client tells the server that it knows of its connection.
const HELLO: Duration = Duration::from_millis(100);

/// Who connects, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClientOptions {
    /// Must be nobody else's on that server.
    pub(crate) client_id: u64,
    /// That of the server.
    pub(crate) protocol_id: u64,
    /// A server that is silent for longer is lost.
    pub(crate) timeout: Duration,
}

/// How a connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClientState {
    Connecting,
    Connected,
    Lost { reason: LostReason },
}

/// Why there is no connection any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LostReason {
    /// Nobody answered.
    NoAnswer,
    /// The server has no place left.
    Full,
    /// The server fell silent.
    TimedOut,
    /// The server said goodbye.
    Dropped,
}

/// What a client has received and sent. Bytes are those of UDP's payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClientStats {
    pub(crate) datagrams_in: u64,
    pub(crate) bytes_in: u64,
    pub(crate) datagrams_out: u64,
    pub(crate) bytes_out: u64,
}

/// A connection to a server, or the attempt at one.
pub(crate) struct UdpClient {
    netcode: Box<NetcodeClient>,
    socket: UdpSocket,
    options: ClientOptions,
    state: ClientState,
    /// The server has sent a payload, so it knows that we know.
    is_confirmed: bool,
    now: Instant,
    last_hello: Option<Instant>,
    /// The read time-out that the socket has, to save the call that sets it again.
    read_timeout: Cell<Duration>,
    stats: ClientStats,
    buffer: Box<[u8; 2048]>,
}

impl ClientOptions {
    /// A client with an id that nobody else has, and five seconds of patience.
    pub(crate) fn new(protocol_id: u64) -> Self {
        let client_id = u64::from_le_bytes(generate_random_bytes());
        Self { client_id, protocol_id, timeout: Duration::from_secs(5) }
    }
}

impl UdpClient {
    /// Begins to connect to `server`; polls do the rest.
    pub(crate) fn connect(
        server: SocketAddr,
        secret: &Secret,
        options: ClientOptions,
    ) -> Result<Self, Failure> {
        let any = match server {
            SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
            SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
        };
        let failed = |error| Failure::Socket { address: server, error };
        let socket = socket::open(any, BUFFER_BYTES)?;
        // The system drops what others send.
        socket.connect(server).map_err(failed)?;
        socket.set_nonblocking(true).map_err(failed)?;

        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        // Who knows the secret makes tokens. Time-outs are 0, "none": renetcode's are whole
        // seconds, and a server must not let its clients choose; both ends keep their own.
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
        let connect_token = token.map_err(|error| Failure::Connection(error.into()))?;
        let netcode = NetcodeClient::new(unix, ClientAuthentication::Secure { connect_token })
            .map_err(Failure::Connection)?;
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

    pub(crate) fn state(&self) -> ClientState {
        self.state
    }

    pub(crate) fn stats(&self) -> ClientStats {
        self.stats
    }

    /// Hands every payload that has arrived to `on_datagram` and sends what the connection needs.
    /// Never waits.
    pub(crate) fn poll(&mut self, on_datagram: &mut dyn FnMut(&[u8])) {
        if matches!(self.state, ClientState::Lost { .. }) {
            return;
        }
        let now = Instant::now();
        let elapsed = now - self.now;
        self.now = now;
        // The clock first: after a pause of this process, what has arrived meanwhile counts as
        // heard now.
        self.advance(elapsed);
        for _ in 0..MAX_DATAGRAMS_PER_POLL {
            match self.socket.recv(&mut self.buffer[..]) {
                Ok(bytes) => self.handle(bytes, on_datagram),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                // Somebody says that nobody listens there. Anybody may say so; the time-out
                // decides.
                Err(_) => {}
            }
        }
        self.update_state();
        self.say_hello();
    }

    /// Sends `payload` once. Costs up to 25 bytes and, like every datagram, may be lost.
    pub(crate) fn send(&mut self, payload: &[u8]) -> Result<(), SendError> {
        SendError::check(payload)?;
        if self.state != ClientState::Connected {
            return Err(SendError::NotConnected);
        }
        self.send_payload(payload)
    }

    /// Sleeps until a datagram is there or `duration` is over, whichever is first.
    pub(crate) fn wait(&self, duration: Duration) {
        if duration.is_zero() || self.socket.set_nonblocking(false).is_err() {
            return;
        }
        if self.read_timeout.get() == duration
            || self.socket.set_read_timeout(Some(duration)).is_ok()
        {
            self.read_timeout.set(duration);
            // Nothing there, and errors, end the wait like a datagram.
            let _ = self.socket.peek(&mut [0]);
        }
        // Were it to fail, polls would wait as long as this one did.
        let _ = self.socket.set_nonblocking(true);
    }

    /// Tells the server goodbye.
    pub(crate) fn close(mut self) {
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
        // Only clients send these.
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
            // Answers at once.
            self.advance(Duration::ZERO);
        }
    }

    /// Moves the connection's clock and sends what is due: a request, a response, or a keep-alive.
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

    /// Until the server has sent a payload, empty ones tell it that we know that we are connected.
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
    if let Ok(bytes) = socket.send(packet) {
        stats.datagrams_out += 1;
        stats.bytes_out += bytes as u64;
    }
}

impl fmt::Display for LostReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoAnswer => {
                "the server does not answer: no server at that address, another secret, another version of this \
                 program, or clocks that differ by a minute"
            }
            Self::Full => "the server has no place left",
            Self::TimedOut => "the server fell silent",
            Self::Dropped => "the server ended the connection",
        })
    }
}

#[cfg(test)]
impl UdpClient {
    pub(super) fn client_id(&self) -> u64 {
        self.options.client_id
    }

    /// Sends what no client would.
    pub(super) fn send_raw(&self, datagram: &[u8]) {
        let _ = self.socket.send(datagram);
    }
}
