//! The thread of the connections: accepts sessions of WebTransport, and reads their datagrams.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use kinepack_udp::DisconnectReason;
use tokio::sync::oneshot;
use wtransport::config::QuicTransportConfig;
use wtransport::endpoint::IncomingSession;
use wtransport::endpoint::endpoint_side::Server;
use wtransport::error::ConnectionError;
use wtransport::{Endpoint, Identity, ServerConfig};

use crate::clients::{Clients, Pending, RETRY_ABOVE, Refusal, Way};
use crate::window::Windows;

/// The longest time from the first packet of a connection until its request is there.
const HANDSHAKE: Duration = Duration::from_secs(5);
/// Bytes of datagrams that wait in either direction, for each client.
const DATAGRAM_BUFFER_BYTES: usize = 64 << 10;
/// HTTP/3 has three streams for itself and one for the request. A client needs no others.
const MOST_STREAMS: u8 = 8;
const STREAM_BYTES: u32 = 16 << 10;

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
    ServerConfig::builder()
        .with_bind_address(address)
        .with_custom_transport(identity, transport)
        .build()
}

/// Accepts connections until `end`.
pub(crate) async fn accept(
    endpoint: Arc<Endpoint<Server>>,
    clients: Arc<Clients>,
    mut end: oneshot::Receiver<()>,
) {
    loop {
        let incoming = tokio::select! {
            incoming = endpoint.accept() => incoming,
            _ = &mut end => break,
        };
        match clients.knock(incoming.remote_address().ip()) {
            // An address that floods gets no answer that could flood somebody else.
            None => incoming.ignore(),
            Some((_, pending)) if pending > RETRY_ABOVE && !incoming.remote_address_validated() => {
                incoming.retry();
            }
            Some((pending, _)) => {
                tokio::spawn(session(incoming, Arc::clone(&clients), pending));
            }
        }
    }
    clients.dismiss_all();
    endpoint.close(0u32.into(), b"");
    // Time for the last packets; a client that does not answer gets no more of it.
    let _ = tokio::time::timeout(Duration::from_millis(200), endpoint.wait_idle()).await;
}

async fn session(incoming: IncomingSession, clients: Arc<Clients>, pending: Pending) {
    let Ok(Ok(request)) = tokio::time::timeout(HANDSHAKE, incoming).await else { return };
    let client = match clients.admit(request.origin(), request.authority(), request.path()) {
        Ok(client) => client,
        Err(Refusal::Forbidden) => return request.forbidden().await,
        Err(Refusal::NotThere) => return request.not_found().await,
        Err(Refusal::Full) => return request.too_many_requests().await,
    };
    let address = request.remote_address();
    let Ok(Ok(connection)) = tokio::time::timeout(HANDSHAKE, request.accept()).await else {
        return;
    };
    let connection = Arc::new(connection);
    let way = Way::Datagrams(Arc::clone(&connection));
    let Some(mut seat) = clients.seat(client, address, way) else {
        return connection.close(1u32.into(), b"full");
    };
    drop(pending);
    loop {
        match connection.receive_datagram().await {
            Ok(datagram) if clients.take(client, &datagram) => {}
            Ok(_) => break,
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
}
