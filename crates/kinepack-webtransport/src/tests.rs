//! Tests of visitors that misbehave during the handshake. They speak QUIC and HTTP/3 themselves.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use kinepack_udp::Secret;
use tokio::task::JoinSet;
use wtransport::config::QuicTransportConfig;
use wtransport::endpoint::ConnectOptions;
use wtransport::proto::frame::Frame;
use wtransport::proto::session::SessionRequest;
use wtransport::proto::settings::Settings;
use wtransport::quinn;
use wtransport::tls::Sha256Digest;
use wtransport::{ClientConfig, VarInt};

use crate::handshakes::Limits;
use crate::{PATH, Token, WebOptions, WebServer};

const ORIGIN: &str = "http://127.0.0.1:8080";
/// How long the tests wait. This is enough for a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_secs(30);

/// The default limits, except for `time`.
fn within(time: Duration) -> Limits {
    Limits { time, ..Limits::default() }
}

fn secret() -> Secret {
    Secret::parse(&"5a".repeat(32)).expect("64 digits")
}

fn server(limits: Limits) -> WebServer {
    let (local, options) = (([127, 0, 0, 1], 0).into(), WebOptions::new([ORIGIN]));
    WebServer::bind_within(local, &secret(), options, limits).expect("a free port")
}

/// The bytes of a frame.
fn bytes(frame: &Frame<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    frame.write(&mut bytes).expect("memory");
    bytes
}

/// The bytes that begin a control stream, with the settings of a side that speaks WebTransport.
fn control_stream() -> Vec<u8> {
    let zero = VarInt::from_u32(0);
    let settings = Settings::builder()
        .qpack_max_table_capacity(zero)
        .qpack_blocked_streams(zero)
        .enable_connect_protocol()
        .enable_webtransport()
        .enable_h3_datagrams()
        .webtransport_max_sessions(VarInt::from_u32(1))
        .build();
    [vec![0], bytes(&settings.generate_frame())].concat()
}

/// The TLS and QUIC settings of a client.
fn config(server: &WebServer, transport: QuicTransportConfig) -> quinn::ClientConfig {
    let config = ClientConfig::builder()
        .with_bind_default()
        .with_server_certificate_hashes([Sha256Digest::new(server.certificate_hash())])
        .build();
    let mut config = config.quic_config().clone();
    config.transport_config(Arc::new(transport));
    config
}

/// The settings of a visitor that never falls silent.
fn pinging() -> QuicTransportConfig {
    let mut transport = QuicTransportConfig::default();
    transport.keep_alive_interval(Some(Duration::from_millis(50)));
    transport
}

/// The settings of a visitor that accepts as many bytes as the server's settings have, but no
/// answer.
fn taking_no_answer() -> QuicTransportConfig {
    let mut transport = pinging();
    transport.receive_window((control_stream().len() as u32).into());
    transport
}

fn endpoint(last: u8) -> quinn::Endpoint {
    quinn::Endpoint::client((Ipv4Addr::new(127, 0, 0, last), 0).into()).expect("a free port")
}

/// A visitor without a token that has sent its request. It keeps its streams open.
struct Visitor {
    connection: quinn::Connection,
    _control: quinn::SendStream,
    _request: (quinn::SendStream, quinn::RecvStream),
}

async fn visit(
    endpoint: quinn::Endpoint,
    config: quinn::ClientConfig,
    server: SocketAddr,
) -> Result<Visitor, Box<dyn std::error::Error + Send + Sync>> {
    let connection = endpoint.connect_with(config, server, "localhost")?.await?;
    let mut control = connection.open_uni().await?;
    control.write_all(&control_stream()).await?;
    let mut request = connection.open_bi().await?;
    let headers = SessionRequest::new(format!("https://{server}{PATH}")).expect("an address");
    request.0.write_all(&bytes(&headers.headers().generate_frame())).await?;
    Ok(Visitor { connection, _control: control, _request: request })
}

async fn until(what: &str, mut is_met: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_met() {
        assert!(begin.elapsed() < PATIENCE, "never: {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

async fn is_ended(connection: &quinn::Connection) {
    tokio::time::timeout(PATIENCE, connection.closed()).await.expect("the server ends it");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn visitors_that_take_no_answer_leave_room_for_another_address() {
    // No handshake ends within this test.
    let server = server(Limits { most: 32, time: 4 * PATIENCE });
    let config = config(&server, taking_no_answer());
    let mut visits = JoinSet::new();
    for last in 2..=4 {
        let endpoint = endpoint(last);
        for _ in 0..16 {
            visits.spawn(visit(endpoint.clone(), config.clone(), server.local_addr()));
        }
    }
    until("the handshakes of three addresses", || {
        let stats = server.stats();
        stats.refused >= 12 && stats.limited >= 30
    })
    .await;
    let held = server.handshakes();
    assert!((12..=20).contains(&held), "{held} handshakes are held");

    let token = Token::new(&secret(), 7, Duration::from_secs(60));
    let url = format!("https://{}{PATH}?token={}", server.local_addr(), token.as_str());
    let config = ClientConfig::builder()
        .with_bind_address((Ipv4Addr::new(127, 0, 0, 9), 0).into())
        .with_server_certificate_hashes([Sha256Digest::new(server.certificate_hash())])
        .build();
    let client = wtransport::Endpoint::client(config).expect("a free port");
    let options = ConnectOptions::builder(url).add_header("origin", ORIGIN).build();
    let connected = tokio::time::timeout(PATIENCE, client.connect(options)).await;
    connected.expect("an answer").expect("a session");
    assert!(server.has(7));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_visitor_that_takes_no_answer_is_cut_off_in_time() {
    let server = server(within(Duration::from_millis(300)));
    let config = config(&server, taking_no_answer());
    let visitor = visit(endpoint(1), config, server.local_addr()).await.expect("a connection");
    is_ended(&visitor.connection).await;
    until("no handshake is left", || server.handshakes() == 0).await;
    let stats = server.stats();
    assert_eq!((stats.refused, stats.abandoned), (1, 1), "it was refused, and took no answer");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_visitor_that_grants_no_stream_is_cut_off_in_time() {
    let server = server(within(Duration::from_millis(300)));
    let mut transport = pinging();
    transport.max_concurrent_uni_streams(0u32.into());
    let config = config(&server, transport);
    let connecting = endpoint(1).connect_with(config, server.local_addr(), "localhost");
    let connection = connecting.expect("an attempt").await.expect("a connection");
    is_ended(&connection).await;
    until("no handshake is left", || server.handshakes() == 0).await;
    assert_eq!(server.stats().abandoned, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_visitor_with_a_stream_that_says_nothing_is_cut_off() {
    let server = server(within(PATIENCE));
    let endpoint = endpoint(1);
    let connecting = endpoint.connect_with(config(&server, pinging()), server.local_addr(), "a");
    let connection = connecting.expect("an attempt").await.expect("a connection");
    let mut unfinished = connection.open_uni().await.expect("a stream");
    // A stream's type has two bytes. This byte is the first.
    unfinished.write_all(&[0x40]).await.expect("a byte");
    let mut control = connection.open_uni().await.expect("a stream");
    control.write_all(&control_stream()).await.expect("the settings");
    let mut request = connection.open_bi().await.expect("a stream");
    let headers = SessionRequest::new("https://localhost/elsewhere").expect("an address");
    let frame = bytes(&headers.headers().generate_frame());
    request.0.write_all(&frame).await.expect("the request");
    is_ended(&connection).await;
    let stats = server.stats();
    assert_eq!((stats.refused, stats.abandoned, server.handshakes()), (1, 0, 0));
}
