//! WebSockets, for networks that block UDP: each message is one datagram. They are a route of a
//! server on axum, for example of the one that serves the page.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{ConnectInfo, State};
use axum::http::{Extensions, HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use kinepack_udp::DisconnectReason;
use tokio::sync::mpsc::Receiver;

use crate::clients::{Clients, Refusal, Seat, Way, socket_queue};
use crate::{MAX_PAYLOAD_BYTES, PATH};

/// An address that a request from an unknown one counts as.
const UNKNOWN: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED), 0);

pub(crate) fn routes(clients: Arc<Clients>) -> Router {
    Router::new().route(PATH, get(upgrade)).with_state(clients)
}

async fn upgrade(
    State(clients): State<Arc<Clients>>,
    extensions: Extensions,
    uri: Uri,
    headers: HeaderMap,
    socket: WebSocketUpgrade,
) -> Response {
    let from = extensions.get::<ConnectInfo<SocketAddr>>();
    let address = from.map_or(UNKNOWN, |ConnectInfo(address)| *address);
    let Some((pending, _)) = clients.knock(address.ip()) else {
        return StatusCode::TOO_MANY_REQUESTS.into_response();
    };
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let (origin, host) = (text(header::ORIGIN), text(header::HOST).unwrap_or_default());
    let path = uri.path_and_query().map_or("", |path| path.as_str());
    let client = match clients.admit(origin, host, path) {
        Ok(client) => client,
        Err(Refusal::Forbidden) => return StatusCode::FORBIDDEN.into_response(),
        Err(Refusal::NotThere) => return StatusCode::NOT_FOUND.into_response(),
        Err(Refusal::Full) => return StatusCode::TOO_MANY_REQUESTS.into_response(),
    };
    let limited = socket
        .max_message_size(MAX_PAYLOAD_BYTES)
        .max_frame_size(MAX_PAYLOAD_BYTES)
        .max_write_buffer_size(256 << 10);
    limited.on_upgrade(move |socket| async move {
        let (queue, outgoing) = socket_queue();
        let seat = clients.seat(client, address, Way::Messages(queue));
        drop(pending);
        if let Some(seat) = seat {
            let timeout = clients.options.timeout;
            exchange(socket, seat, outgoing, &clients, timeout).await;
        }
    })
}

async fn exchange(
    mut socket: WebSocket,
    mut seat: Seat,
    mut outgoing: Receiver<Vec<u8>>,
    clients: &Clients,
    timeout: Duration,
) {
    let mut silent_until = tokio::time::Instant::now() + timeout;
    loop {
        tokio::select! {
            message = socket.recv() => match message {
                Some(Ok(Message::Binary(datagram))) => {
                    silent_until = tokio::time::Instant::now() + timeout;
                    if !clients.take(seat.client, &datagram) {
                        break;
                    }
                }
                // axum answers pings itself. A message of text ends the connection.
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                _ => break,
            },
            datagram = outgoing.recv() => {
                // The queue ends when the game disconnects the client.
                let Some(datagram) = datagram else { break };
                let sent = socket.send(Message::Binary(Bytes::from(datagram)));
                if !matches!(tokio::time::timeout(timeout, sent).await, Ok(Ok(()))) {
                    seat.reason = DisconnectReason::TimedOut;
                    break;
                }
            }
            () = tokio::time::sleep_until(silent_until) => {
                seat.reason = DisconnectReason::TimedOut;
                break;
            }
        }
    }
}
