//! The thread of the connections, which accepts sessions of WebTransport and reads their datagrams.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kinepack_udp::DisconnectReason;
use tokio::sync::oneshot;
use wtransport::config::QuicTransportConfig;
use wtransport::endpoint::IncomingSessionFuture;
use wtransport::error::ConnectionError;
use wtransport::quinn::{Endpoint, EndpointConfig, Incoming, ServerConfig, TokioRuntime};
use wtransport::{Connection, Identity};

use crate::clients::{Clients, Pending, RETRY_ABOVE, Refusal, Way, lock};
use crate::leash::Leash;
use crate::window::Windows;

/// The number of bytes of datagrams that may wait in either direction, for each client.
const DATAGRAM_BUFFER_BYTES: usize = 64 << 10;
/// The maximum number of streams. HTTP/3 has three streams for itself and one for the request, and
/// a client needs no others.
const MOST_STREAMS: u8 = 8;
const STREAM_BYTES: u32 = 16 << 10;

/// The socket, and the settings for connections that begin from now on.
pub(crate) struct Listener {
    endpoint: Endpoint,
    config: Mutex<ServerConfig>,
}

impl Listener {
    /// Starts to listen. Call it within a tokio runtime.
    pub(crate) fn new(socket: UdpSocket, config: ServerConfig) -> io::Result<Self> {
        let (of_endpoint, runtime) = (EndpointConfig::default(), Arc::new(TokioRuntime));
        let endpoint = Endpoint::new(of_endpoint, Some(config.clone()), socket, runtime)?;
        Ok(Self { endpoint, config: Mutex::new(config) })
    }

    pub(crate) fn local_addr(&self) -> io::Result<SocketAddr> {
        self.endpoint.local_addr()
    }

    /// Changes the settings for connections that begin from now on.
    pub(crate) fn reload(&self, config: ServerConfig) {
        self.endpoint.set_server_config(Some(config.clone()));
        *lock(&self.config) = config;
    }

    /// Accepts connections until `end`.
    pub(crate) async fn accept(&self, clients: &Arc<Clients>, mut end: oneshot::Receiver<()>) {
        loop {
            let incoming = tokio::select! {
                incoming = self.endpoint.accept() => incoming,
                _ = &mut end => break,
            };
            let Some(incoming) = incoming else { break };
            match clients.knock(incoming.remote_address().ip()) {
                // An address above its limit gets no answer. The address may be forged, so an
                // answer could flood its owner.
                None => incoming.ignore(),
                Some((_, pending))
                    if pending > RETRY_ABOVE && !incoming.remote_address_validated() =>
                {
                    // `retry` fails only for validated addresses.
                    let _ = incoming.retry();
                }
                Some((pending, _)) => {
                    let leash = Leash::default();
                    let config = leash.hold(&lock(&self.config));
                    let clients = Arc::clone(clients);
                    tokio::spawn(session(incoming, config, leash, clients, pending));
                }
            }
        }
        clients.dismiss_all();
        self.endpoint.close(0u32.into(), b"");
        // Waits until the endpoint has sent the last packets, but at most 200 ms if a client does
        // not answer.
        let idle = self.endpoint.wait_idle();
        let _ = tokio::time::timeout(Duration::from_millis(200), idle).await;
    }
}

/// The settings of connections.
pub(crate) fn config(address: SocketAddr, identity: Identity, timeout: Duration) -> ServerConfig {
    let mut transport = QuicTransportConfig::default();
    transport
        .max_concurrent_bidi_streams(MOST_STREAMS.into())
        .max_concurrent_uni_streams(MOST_STREAMS.into())
        .stream_receive_window(STREAM_BYTES.into())
        .receive_window((u32::from(MOST_STREAMS) * STREAM_BYTES).into())
        .datagram_receive_buffer_size(Some(DATAGRAM_BUFFER_BYTES))
        .datagram_send_buffer_size(DATAGRAM_BUFFER_BYTES)
        .keep_alive_interval(Some(timeout / 3))
        .max_idle_timeout(timeout.try_into().ok())
        .congestion_controller_factory(Arc::new(Windows));
    let config = wtransport::ServerConfig::builder()
        .with_bind_address(address)
        .with_custom_transport(identity, transport)
        .build();
    config.quic_config().clone()
}

/// Handles one connection, from its first packet to its end.
async fn session(
    incoming: Incoming,
    config: Arc<ServerConfig>,
    leash: Leash,
    clients: Arc<Clients>,
    pending: Pending,
) {
    // One deadline applies to everything that waits for the visitor, even to the answer to a
    // refused request, because the visitor may never read the answer.
    let handshake = handshake(incoming, config, &clients);
    let shaken = tokio::time::timeout(clients.limits.time, handshake).await;
    let (client, connection) = match shaken {
        Ok(Ok(accepted)) => accepted,
        ended => {
            leash.cut();
            if !matches!(ended, Ok(Err(NoClient::Refused))) {
                clients.note_abandoned();
            }
            return;
        }
    };
    let (address, connection) = (connection.remote_address(), Arc::new(connection));
    let way = Way::Datagrams(Arc::clone(&connection));
    let Some(mut seat) = clients.seat(client, address, way) else {
        return connection.close(1u32.into(), b"full");
    };
    drop(pending);
    let mut taken = 0;
    loop {
        match connection.receive_datagram().await {
            Ok(datagram) => {
                taken += 1;
                if !clients.take(client, &datagram) {
                    break;
                }
            }
            Err(error) => {
                if matches!(error, ConnectionError::TimedOut) {
                    seat.reason = DisconnectReason::TimedOut;
                }
                break;
            }
        }
    }
    drop(seat);
    connection.close(0u32.into(), b"");
    // quinn drops datagrams that arrive faster than they are read.
    let arrived = connection.quic_connection().stats().frame_rx.datagram;
    clients.note_limited(arrived.saturating_sub(taken));
}

/// Why a handshake did not produce a client.
enum NoClient {
    /// The visitor was refused, and has read the answer.
    Refused,
    /// The connection broke before the visitor became a client.
    Broken,
}

/// Reads a visitor's request and answers it. Returns the client's id and its session.
async fn handshake(
    incoming: Incoming,
    config: Arc<ServerConfig>,
    clients: &Clients,
) -> Result<(u64, Connection), NoClient> {
    let connecting = incoming.accept_with(config).map_err(|_| NoClient::Broken)?;
    let request = IncomingSessionFuture::with_quic_connecting(connecting).await;
    let request = request.map_err(|_| NoClient::Broken)?;
    match clients.admit(request.origin(), request.authority(), request.path()) {
        Ok(client) => {
            let connection = request.accept().await.map_err(|_| NoClient::Broken)?;
            return Ok((client, connection));
        }
        Err(Refusal::Forbidden) => request.forbidden().await,
        Err(Refusal::NotThere) => request.not_found().await,
        Err(Refusal::Full) => request.too_many_requests().await,
    }
    Err(NoClient::Refused)
}
