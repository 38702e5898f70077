//! Tests of WebTransport and WebSocket clients and a server, over loopback.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use kinepack_udp::{DisconnectReason, RateLimit, Secret, SendError, ServerEvent};
use kinepack_webtransport::{Certificate, MAX_PAYLOAD_BYTES, Token, WebOptions, WebServer};
use wtransport::endpoint::ConnectOptions;
use wtransport::error::ConnectingError;
use wtransport::tls::Sha256Digest;
use wtransport::{ClientConfig, Connection, Endpoint};

const ORIGIN: &str = "http://127.0.0.1:8080";
const PATIENCE: Duration = Duration::from_secs(10);

fn secret() -> Secret {
    Secret::parse("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef").unwrap()
}

fn local() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

fn server(options: WebOptions) -> WebServer {
    WebServer::bind(local(), &secret(), options).unwrap()
}

fn token(client: u64) -> String {
    Token::new(&secret(), client, Duration::from_secs(60)).as_str().to_owned()
}

async fn connect(
    server: &WebServer,
    path: &str,
    origin: Option<&str>,
) -> Result<(Endpoint<wtransport::endpoint::endpoint_side::Client>, Connection), ConnectingError> {
    let config = ClientConfig::builder()
        .with_bind_default()
        .with_server_certificate_hashes([Sha256Digest::new(server.certificate_hash())])
        .build();
    let endpoint = Endpoint::client(config).unwrap();
    let url = format!("https://{}{path}", server.local_addr());
    let options = ConnectOptions::builder(url);
    let options = match origin {
        Some(origin) => options.add_header("origin", origin),
        None => options,
    };
    let connection = endpoint.connect(options.build()).await?;
    Ok((endpoint, connection))
}

/// Polls the server until there are `count` events.
async fn events(server: &mut WebServer, count: usize) -> Vec<ServerEvent> {
    let (mut all, begin) = (Vec::new(), Instant::now());
    while all.len() < count {
        assert!(begin.elapsed() < PATIENCE, "only {all:?}");
        server.poll(&mut all);
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn datagrams_go_both_ways_until_the_client_leaves() {
    let mut server = server(WebOptions::new([ORIGIN]));
    let path = format!("/kinepack?token={}", token(7));
    let (endpoint, connection) = connect(&server, &path, Some(ORIGIN)).await.unwrap();
    let found = events(&mut server, 1).await;
    assert!(matches!(found[..], [ServerEvent::Connected { client: 7, .. }]), "{found:?}");
    assert!(server.has(7) && !server.has(8));
    connection.send_datagram(b"hello").unwrap();
    let [ServerEvent::Datagram { client: 7, payload }] = &events(&mut server, 1).await[..] else {
        panic!("another event");
    };
    assert_eq!(server.payload(payload), b"hello");
    server.send(7, &[5; 1_100]).unwrap();
    assert_eq!(&*connection.receive_datagram().await.unwrap(), &[5; 1_100]);
    assert_eq!(server.send(7, b""), Err(SendError::Empty));
    let bytes = MAX_PAYLOAD_BYTES + 1;
    assert_eq!(server.send(7, &vec![0; bytes]), Err(SendError::TooLong { bytes }));
    assert_eq!(server.send(8, b"x"), Err(SendError::NotConnected));
    connection.close(0u32.into(), b"");
    let left = ServerEvent::Disconnected { client: 7, reason: DisconnectReason::Left };
    assert_eq!(events(&mut server, 1).await, [left]);
    assert_eq!(server.send(7, b"x"), Err(SendError::NotConnected));
    let stats = server.stats();
    assert_eq!((stats.clients, stats.datagrams_in, stats.datagrams_out), (0, 1, 1));
    endpoint.close(0u32.into(), b"");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_pages_with_a_token_of_their_own_connect() {
    let server = server(WebOptions { max_clients: 1, ..WebOptions::new([ORIGIN]) });
    let good = format!("/kinepack?token={}", token(1));
    for (path, origin) in [
        ("/".to_owned(), Some(ORIGIN)),
        ("/kinepack".to_owned(), Some(ORIGIN)),
        ("/kinepack?token=".to_owned(), Some(ORIGIN)),
        (format!("/kinepack?token={}", "0".repeat(64)), Some(ORIGIN)),
        (format!("/kinepack?token={}", "é".repeat(32)), Some(ORIGIN)),
        (good.clone(), None),
        (good.clone(), Some("null")),
        (good.clone(), Some("http://127.0.0.1:8081")),
        (good.clone(), Some("https://evil.example")),
    ] {
        assert!(connect(&server, &path, origin).await.is_err(), "{path} {origin:?}");
    }
    assert_eq!(server.stats().refused, 9);
    let first = connect(&server, &good, Some(ORIGIN)).await.unwrap();
    // The server refuses the token that was used before. It also refuses a new token, because it
    // has no free place.
    assert!(connect(&server, &good, Some(ORIGIN)).await.is_err());
    let other = format!("/kinepack?token={}", token(2));
    assert!(connect(&server, &other, Some(ORIGIN)).await.is_err());
    assert_eq!(server.stats().clients, 1);
    drop(first);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_is_cut_to_the_limit() {
    let per_client = RateLimit { per_second: 100, burst: 20 };
    let mut server = server(WebOptions { per_client, ..WebOptions::new([ORIGIN]) });
    let path = format!("/kinepack?token={}", token(3));
    let (_endpoint, connection) = connect(&server, &path, Some(ORIGIN)).await.unwrap();
    let begin = Instant::now();
    for _ in 0..2_000 {
        connection.send_datagram(b"flood").unwrap();
        tokio::task::yield_now().await;
    }
    connection.send_datagram([0; 1_000]).unwrap();
    while server.stats().limited < 100 {
        assert!(begin.elapsed() < PATIENCE, "{:?}", server.stats());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let mut all = Vec::new();
    server.poll(&mut all);
    let most = 21 + (begin.elapsed().as_secs_f64() * 100.0) as usize + 2;
    assert!(all.len() <= most, "{} of at most {most}", all.len());
    // Now the game ends the session.
    server.disconnect(3);
    assert!(!server.has(3));
    connection.closed().await;
    all.clear();
    server.poll(&mut all);
    assert!(!all.iter().any(|event| matches!(event, ServerEvent::Disconnected { .. })));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_vanishes_times_out_and_frees_its_place() {
    let timeout = Duration::from_millis(600);
    let mut server = server(WebOptions { timeout, max_clients: 1, ..WebOptions::new([ORIGIN]) });
    let path = format!("/kinepack?token={}", token(4));
    // The client's runtime stops without a goodbye.
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (endpoint, connection) = {
        let _inside = runtime.enter();
        connect(&server, &path, Some(ORIGIN)).await.unwrap()
    };
    std::mem::forget((endpoint, connection));
    runtime.shutdown_background();
    let found = events(&mut server, 2).await;
    let lost = ServerEvent::Disconnected { client: 4, reason: DisconnectReason::TimedOut };
    assert_eq!(found[1], lost);
    let path = format!("/kinepack?token={}", token(5));
    assert!(connect(&server, &path, Some(ORIGIN)).await.is_ok());
}

#[test]
fn bad_settings_are_named() {
    let none = WebOptions { max_clients: 0, ..WebOptions::new([ORIGIN]) };
    let text = WebServer::bind(local(), &secret(), none).err().unwrap().to_string();
    assert!(text.contains("at least 1"), "{text}");
    let missing = Certificate::Files { chain: "no-chain.pem".into(), key: "no-key.pem".into() };
    let options = WebOptions { certificate: missing, ..WebOptions::new([ORIGIN]) };
    let text = WebServer::bind(local(), &secret(), options).err().unwrap().to_string();
    assert!(text.contains("no-chain.pem"), "{text}");
    let taken = server(WebOptions::new([ORIGIN]));
    let again = WebServer::bind(taken.local_addr(), &secret(), WebOptions::new([ORIGIN]));
    assert!(again.err().unwrap().to_string().contains("WebTransport at UDP"));
}

/// Linux grants twice the requested size, and no more than twice its limit.
#[cfg(target_os = "linux")]
#[test]
fn the_socket_has_the_buffer_that_the_system_allows() {
    let limit = std::fs::read_to_string("/proc/sys/net/core/rmem_max").unwrap();
    let granted = 2 * limit.trim().parse::<usize>().unwrap().min(4 << 20);
    assert_eq!(server(WebOptions::new([ORIGIN])).receive_buffer_bytes(), granted);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_time_out_that_never_ends_is_no_reason_to_panic() {
    let options = WebOptions { timeout: Duration::MAX, ..WebOptions::new([ORIGIN]) };
    let mut server = server(options);
    let path = format!("/kinepack?token={}", token(1));
    let _client = connect(&server, &path, Some(ORIGIN)).await.unwrap();
    assert_eq!(events(&mut server, 1).await.len(), 1);
}

#[cfg(feature = "websocket")]
mod sockets {
    use futures_util::SinkExt;
    use tokio_tungstenite::tungstenite::client::IntoClientRequest;
    use tokio_tungstenite::tungstenite::protocol::Message;

    use super::*;

    type Socket = tokio_tungstenite::WebSocketStream<
        tokio_tungstenite::MaybeTlsStream<tokio::net::TcpStream>,
    >;

    async fn next(socket: &mut Socket) -> Option<Message> {
        let next = std::future::poll_fn(|context| {
            futures_util::Stream::poll_next(std::pin::Pin::new(&mut *socket), context)
        });
        next.await?.ok()
    }

    /// The next message that is not a ping.
    async fn next_datagram(socket: &mut Socket) -> Option<Message> {
        loop {
            match next(socket).await {
                Some(Message::Ping(_)) => {}
                other => return other,
            }
        }
    }

    async fn page(server: &WebServer) -> SocketAddr {
        let listener = tokio::net::TcpListener::bind(local()).await.unwrap();
        let address = listener.local_addr().unwrap();
        let routes = server.door().routes().into_make_service_with_connect_info::<SocketAddr>();
        tokio::spawn(async move { axum::serve(listener, routes).await });
        address
    }

    async fn open(address: SocketAddr, token: &str, origin: &str) -> Option<Socket> {
        let url = format!("ws://{address}/kinepack?token={token}");
        let mut request = url.into_client_request().unwrap();
        request.headers_mut().insert("origin", origin.parse().unwrap());
        tokio_tungstenite::connect_async(request).await.ok().map(|(socket, _)| socket)
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_socket_carries_datagrams_within_the_same_limits() {
        let mut server = server(WebOptions::new([ORIGIN]));
        let address = page(&server).await;
        assert!(open(address, &token(1), "https://evil.example").await.is_none());
        assert!(open(address, "7", ORIGIN).await.is_none());
        let mut socket = open(address, &token(1), ORIGIN).await.unwrap();
        assert!(open(address, &token(1), ORIGIN).await.is_none(), "the token was used");
        socket.send(Message::binary(&b"hello"[..])).await.unwrap();
        let found = events(&mut server, 2).await;
        let [ServerEvent::Connected { client: 1, .. }, ServerEvent::Datagram { payload, .. }] =
            &found[..]
        else {
            panic!("{found:?}");
        };
        assert_eq!(server.payload(payload), b"hello");
        server.send(1, b"world").unwrap();
        assert_eq!(next_datagram(&mut socket).await, Some(Message::binary(&b"world"[..])));
        // This message is longer than a datagram.
        let _ = socket.send(Message::binary(vec![0; 5_000])).await;
        let left = ServerEvent::Disconnected { client: 1, reason: DisconnectReason::Left };
        assert_eq!(events(&mut server, 1).await, [left]);
    }

    /// A hidden page behaves like this: the browser answers pings, but no timer of the page runs.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_page_that_only_answers_pings_stays() {
        let timeout = Duration::from_millis(300);
        let mut server = server(WebOptions { timeout, ..WebOptions::new([ORIGIN]) });
        let address = page(&server).await;
        let mut socket = open(address, &token(1), ORIGIN).await.unwrap();
        // Three pings arrive within the time-out.
        for nth in 0..10 {
            let message = next(&mut socket).await;
            assert!(matches!(message, Some(Message::Ping(_))), "{nth}: {message:?}");
        }
        let mut found = Vec::new();
        server.poll(&mut found);
        assert!(matches!(found[..], [ServerEvent::Connected { client: 1, .. }]), "{found:?}");
        let stats = server.stats();
        assert_eq!((stats.clients, stats.datagrams_in, stats.limited), (1, 0, 0));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_flood_of_pings_ends_the_connection() {
        let per_client = RateLimit { per_second: 10, burst: 20 };
        let mut server = server(WebOptions { per_client, ..WebOptions::new([ORIGIN]) });
        let address = page(&server).await;
        let mut socket = open(address, &token(1), ORIGIN).await.unwrap();
        for _ in 0..1_000 {
            if socket.send(Message::Ping(Default::default())).await.is_err() {
                break;
            }
        }
        let left = ServerEvent::Disconnected { client: 1, reason: DisconnectReason::Left };
        assert_eq!(events(&mut server, 2).await[1], left);
        assert_eq!(server.stats().limited, 1);
    }

    /// Refused WebSockets that read nothing must not keep other visitors out.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn web_sockets_that_are_refused_hold_no_handshake() {
        let server = server(WebOptions::new([ORIGIN]));
        let address = page(&server).await;
        let request = format!(
            "GET /kinepack?token=7 HTTP/1.1\r\nHost: {address}\r\nOrigin: {ORIGIN}\r\n\
             Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
        );
        let mut refused = Vec::new();
        for nth in 0..300u16 {
            let socket = tokio::net::TcpSocket::new_v4().unwrap();
            let last = 2 + (nth / 100) as u8;
            socket.bind(([127, 0, 0, last], 0).into()).unwrap();
            let stream = socket.connect(address).await.unwrap();
            stream.writable().await.unwrap();
            stream.try_write(request.as_bytes()).unwrap();
            refused.push(stream);
        }
        let begin = Instant::now();
        while server.stats().refused < 300 {
            assert!(begin.elapsed() < PATIENCE, "{:?}", server.stats());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert!(open(address, &token(1), ORIGIN).await.is_some());
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_silent_socket_times_out() {
        let timeout = Duration::from_millis(200);
        let mut server = server(WebOptions { timeout, ..WebOptions::new([ORIGIN]) });
        let address = page(&server).await;
        let _socket = open(address, &token(1), ORIGIN).await.unwrap();
        let lost = ServerEvent::Disconnected { client: 1, reason: DisconnectReason::TimedOut };
        assert_eq!(events(&mut server, 2).await[1], lost);
    }
}
