//! WebSockets, for networks that block UDP. Each message is one datagram. An axum server has the
//! route for them, for example the server that serves the page.

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
use tokio::sync::oneshot;
use tokio::time::{Instant, MissedTickBehavior, sleep_until};

use crate::clients::{Clients, Pending, Refusal, Seat, Way, socket_queue};
use crate::{MAX_PAYLOAD_BYTES, PATH};

/// The address that the server uses for requests without a known address.
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
    let turn = hold(pending, clients.limits.time);
    limited.on_upgrade(move |socket| async move {
        if turn.is_closed() {
            return clients.note_abandoned();
        }
        let (queue, outgoing) = socket_queue();
        let seat = clients.seat(client, address, Way::Messages(queue));
        drop(turn);
        if let Some(seat) = seat {
            let timeout = clients.options.timeout;
            exchange(socket, seat, outgoing, &clients, timeout).await;
        }
    })
}

/// Counts a handshake until the returned sender is dropped, or until a time-out, because a visitor
/// may never read the answer to its request.
fn hold(pending: Pending, handshake_time: Duration) -> oneshot::Sender<()> {
    let (turn, ended) = oneshot::channel();
    tokio::spawn(async move {
        let _ = tokio::time::timeout(handshake_time, ended).await;
        drop(pending);
    });
    turn
}

/// Moves datagrams until the connection ends.
///
/// Browsers answer pings by themselves, even for a hidden page whose timers run once a minute. Such
/// a page stays connected, as it does over WebTransport.
async fn exchange(
    mut socket: WebSocket,
    mut seat: Seat,
    mut outgoing: Receiver<Vec<u8>>,
    clients: &Clients,
    timeout: Duration,
) {
    let mut ping = tokio::time::interval(timeout / 3);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut silent_until = Instant::now() + timeout;
    loop {
        let message = tokio::select! {
            message = socket.recv() => {
                let is_taken = match message {
                    Some(Ok(Message::Binary(datagram))) => clients.take(seat.client, &datagram),
                    // axum answers pings itself.
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => clients.take_ping(seat.client),
                    // A text message ends the connection.
                    _ => false,
                };
                if !is_taken {
                    break;
                }
                silent_until = Instant::now() + timeout;
                continue;
            }
            datagram = outgoing.recv() => match datagram {
                Some(datagram) => Message::Binary(datagram.into()),
                // The queue ends when the game disconnects the client.
                None => break,
            },
            _ = ping.tick() => Message::Ping(Bytes::new()),
            () = sleep_until(silent_until) => {
                seat.reason = DisconnectReason::TimedOut;
                break;
            }
        };
        if !matches!(tokio::time::timeout(timeout, socket.send(message)).await, Ok(Ok(()))) {
            seat.reason = DisconnectReason::TimedOut;
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use kinepack_udp::Secret;

    use super::*;
    use crate::WebOptions;
    use crate::handshakes::Limits;
    use crate::token::Checker;

    #[tokio::test(start_paused = true)]
    async fn a_web_socket_that_takes_no_answer_frees_its_handshake() {
        let secret = Secret::parse(&"5a".repeat(32)).expect("64 digits");
        let limits = Limits::default();
        let clients = Clients::new(Checker::new(&secret), WebOptions::default(), limits);
        let from = IpAddr::from([10, 0, 0, 1]);
        let knock = || clients.knock(from).expect("there is room");
        // One of the two handshakes is upgraded, and the other never is.
        let (first, _) = knock();
        let turn = hold(first, limits.time);
        let (second, count) = knock();
        assert_eq!(count, 2);
        let late = hold(second, limits.time);
        drop(turn);
        tokio::time::sleep(limits.time / 2).await;
        assert!(!late.is_closed());
        assert_eq!(knock().1, 2);
        tokio::time::sleep(limits.time).await;
        assert!(late.is_closed());
        assert_eq!(knock().1, 1);
    }
}
